"""Noise of ggdp: a worker that times draws of every kind, and says how often and how visibly a draw takes longer."""

from __future__ import annotations

import itertools
import math
import sys
import time
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import ggdp
from ggdp.noise import (
    Binomial,
    BoundaryInflatedIntegerNoise,
    ConditionalNoise,
    SeededSource,
    TruncatedIntegerNoise,
    integer_noise,
)
from ggdp.noise.entropy import SECURE, Source, fill
from ggdp.noise.integer_noise import sampler_of
from ggdp.noise.rejection import Envelope, _spares
from ggdp.noise.table import CHUNK, UNDECIDED, Table
from observer import observed
from timing import calls_time, median_time
from worker import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_ALWAYS_ONE_THREAD = 1 << 62


class InsecureSource:
    """NumPy's PCG64 as a source, to see what a secure one costs."""

    private = False

    def __init__(self) -> None:
        self._bits = np.random.PCG64()

    def fill(self, buffer: NDArray[np.uint8]) -> int:
        words = self._bits.random_raw(-(-buffer.size // 8))
        buffer[:] = words.view(np.uint8)[: buffer.size]
        return buffer.size


class FarSource:
    """A source that sends the first trial of an envelope to the slot of the values beyond its last block, and keeps it.

    The first request picks its slot and those of the spare trials, the second is what all are compared with.
    """

    private = False

    def __init__(self, slot: int) -> None:
        self._slot = slot
        self._requests = 0
        self.steered = False

    def fill(self, buffer: NDArray[np.uint8]) -> int:
        SECURE.fill(buffer)
        self._requests += 1
        if not self.steered and self._requests == 1:
            # Slots come last, that of the trial first among them.
            start = buffer.size - 2 * (1 + _spares(1))
            buffer[start : start + 2] = np.array([self._slot], dtype=np.uint16).view(np.uint8)
        if not self.steered and self._requests == 2:
            buffer[:8] = 0
            self.steered = True
        return buffer.size


SOURCES: dict[str, Callable[[], Source]] = {
    "secure": lambda: SECURE,
    "seeded": lambda: SeededSource(seed=1),
    "insecure": InsecureSource,
}


def draws(*, order: float, scale: float, size: int, calls: int = 1, source: str = "secure") -> float:
    noise, bits = ggdp.IntegerNoise(order=order, scale=scale), SOURCES[source]()
    return calls_time(lambda: noise.sample(size, rng=bits), calls)


def threads_used(*, order: float, scale: float, size: int) -> float:
    """Return how many cores a draw keeps busy: its time on all of them over its time on the wall."""
    noise = ggdp.IntegerNoise(order=order, scale=scale)
    noise.sample(size)
    wall, busy = time.perf_counter(), time.process_time()
    for _ in range(20):
        noise.sample(size)
    return (time.process_time() - busy) / (time.perf_counter() - wall)


def many(*, order: float, scale: float, size: int, threads: str) -> float:
    """Time one large draw, by one thread or by as many as ggdp takes."""
    usual = integer_noise._MANY
    if threads == "one":
        integer_noise._MANY = _ALWAYS_ONE_THREAD
    try:
        return draws(order=order, scale=scale, size=size)
    finally:
        integer_noise._MANY = usual


def first(*, order: float, scale: float) -> float:
    """Time the first draw of a law, with nothing kept from before."""
    for name, module in list(sys.modules.items()):
        if name.startswith("ggdp"):
            for kept in vars(module).values():
                if hasattr(kept, "cache_clear"):
                    kept.cache_clear()
    noise = ggdp.IntegerNoise(order=order, scale=scale)
    start = time.perf_counter()
    noise.sample(1)
    return time.perf_counter() - start


def few(*, order: float, scale: float, size: int) -> float:
    noise = ggdp.IntegerNoise(order=order, scale=scale)
    return median_time(lambda: noise.sample(size), seconds=0.03, most=1001)


def memory(*, order: float, scale: float, size: int) -> float:
    """Return the peak of memory during a draw over the array it returns; for a process that did nothing before."""
    noise = ggdp.IntegerNoise(order=order, scale=scale)
    noise.sample(1)
    before = _kilobytes("VmRSS")
    out = noise.sample(size)
    return (_kilobytes("VmHWM") - before) * 1024.0 / out.nbytes


def _kilobytes(what: str) -> int:
    """Return resident memory now (VmRSS) or at its peak (VmHWM)."""
    status = Path("/proc/self/status")
    if not status.exists():
        import resource

        # Only peaks are known here; macOS counts bytes.
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // 1024 if sys.platform == "darwin" else peak
    return next(int(line.split()[1]) for line in status.read_text().splitlines() if line.startswith(what))


def bytes_a_second(*, source: str, size: int) -> float:
    """Return the rate of a source that fills the same buffer again and again."""
    bits, buffer = SOURCES[source](), np.empty(size, dtype=np.uint8)
    return size / median_time(lambda: fill(buffer, bits), seconds=0.3, most=2001)


def looked_up_only(*, order: float, scale: float, size: int, calls: int, source: str = "secure") -> float | None:
    """Time a look-up by 16 bits that leaves undecided ones as they are, so is not exact; None without a table."""
    table, bits = sampler_of(order, scale), SOURCES[source]()
    if not isinstance(table, Table):
        return None
    guide = table.guide
    buffer = np.empty(2 * CHUNK, dtype=np.uint8)

    def call() -> None:
        out = np.empty(size, dtype=np.int64)
        for start in range(0, size, CHUNK):
            part = out[start : start + CHUNK]
            fill(buffer[: 2 * part.size], bits)
            np.take(guide, buffer.view(np.uint16)[: part.size], out=part, mode="clip")

    return calls_time(call, calls)


def others(*, size: int) -> list[list[Any]]:
    """Time the other laws: what, the first call, and one of `size` draws."""
    values = np.random.default_rng().integers(0, 101, size)
    wide_values = 10 * values
    truncated: dict[str, Any] = {"order": 3.0, "scale": 30.0, "lower": 0, "upper": 100}
    wide: dict[str, Any] = {"order": 3.0, "scale": 300.0, "lower": 0, "upper": 1000}
    binomial = Binomial(trials=10**18, probability=1e-12)
    cases: dict[str, tuple[Callable[[int], object], int]] = {
        "noise >= 30, order 1, scale 1 (probability 7e-14)": (
            ConditionalNoise(order=1.0, scale=1.0, threshold=30).sample,
            size,
        ),
        "noise >= 83, order 2, scale 10 (probability 1e-30)": (
            ConditionalNoise(order=2.0, scale=10.0, threshold=83).sample,
            size,
        ),
        "noise >= 830,000, order 2, scale 100,000 (probability 1e-30)": (
            ConditionalNoise(order=2.0, scale=1e5, threshold=830_000).sample,
            size,
        ),
        "noise >= -5, order 3, scale 10": (ConditionalNoise(order=3.0, scale=10.0, threshold=-5).sample, size),
        "truncated to {0..100}, order 3, scale 30": (
            lambda count: TruncatedIntegerNoise(**truncated).around(values[:count]),
            size,
        ),
        "truncated to {0..1,000}, order 3, scale 300": (
            lambda count: TruncatedIntegerNoise(**wide).around(wide_values[:count]),
            size,
        ),
        "boundary-inflated on {0..100}, order 3, scale 30": (
            lambda count: BoundaryInflatedIntegerNoise(**truncated).around(values[:count]),
            size,
        ),
        "Binomial, 10^18 trials, mean 10^6": (binomial.sample, size),
    }
    answers: list[list[Any]] = []
    for what, (call, count) in cases.items():
        start = time.perf_counter()
        call(1)
        answers.append([what, time.perf_counter() - start, calls_time(partial(call, count), 5)])
    return answers


def slow_paths(*, order: float, scale: float) -> dict[str, Any]:
    """Return how often a draw of a law takes its second step and its last, per draw."""
    sampler = sampler_of(order, scale)
    if isinstance(sampler, Table):
        unit = 2**sampler.word
        open_words = sum(int(high) - int(low) for low, high in zip(sampler.low, sampler.high, strict=True))
        beyond = int(sampler.high[0]) + unit - int(sampler.low[-1])
        return {
            "sampler": "table",
            "second": float(np.mean(sampler.guide == UNDECIDED)),
            "last": (open_words + beyond) / unit,
        }
    # The slots that draws fill, of 2^16: the sum of M f over all integers, in blocks.
    filled = sampler.height * math.ldexp(2.0 * scale * math.gamma(1.0 + 1.0 / order), -sampler.width_bits)
    cells = 2.0 * float(np.sum(2.0 * sampler.errors[:-1])) * math.ldexp(1.0, sampler.cell_bits - sampler.width_bits)
    return {
        "sampler": "envelope",
        "second": float(np.mean(sampler.quick == UNDECIDED)),
        "rejected": 1.0 - filled / 2**sampler.slot_bits,
        "last": cells / filled,
        "far": sampler.far_height / filled,
        "far_from": sampler.far_start / scale,
        # Both sides of where far values start, per unit of sensitivity over scale.
        "far_delta": 2.0 * scale * ggdp.IntegerNoise(order=order, scale=scale).pmf(sampler.far_start),
    }


def far_delay(*, order: float, scale: float, count: int) -> dict[str, float] | None:
    """Time single draws that are sent beyond the last block of an envelope, beside ordinary ones."""
    noise, sampler = ggdp.IntegerNoise(order=order, scale=scale), sampler_of(order, scale)
    if not isinstance(sampler, Envelope):
        return None
    usual: list[float] = []
    far: list[float] = []
    slot = sampler.far_slots.start
    for _ in range(count):
        for times, steered in ((usual, True), (far, False)):
            source = FarSource(slot)
            source.steered = steered
            start = time.perf_counter()
            drawn = noise.sample(1, rng=source)
            stop = time.perf_counter()
            if (abs(int(drawn[0])) >= sampler.far_start) != steered:
                times.append(stop - start)
    return {"usual": float(np.median(usual)), "far": float(np.median(far)), "largest_usual": float(np.max(usual))}


def watched(*, laws: list[tuple[float, float, str]], singles: int, batches: int) -> dict[str, dict[str, Any]]:
    """Return what an observer of ggdp's times learns, and of those of a loop over k = 0, 1, 2, ..."""
    calls: dict[str, tuple[Callable[[], Any], int]] = {}
    for order, scale, name in laws:
        noise = ggdp.IntegerNoise(order=order, scale=scale)
        calls[f"ggdp, {name}, one draw"] = (partial(noise.sample, 1), singles)
        calls[f"ggdp, {name}, 64 draws"] = (partial(noise.sample, 64), batches)
        calls[f"ggdp, {name}, 1,000 draws"] = (partial(noise.sample, 1000), batches)
    # Here the true value is what an observer is after: how near it is to a bound.
    bounds: dict[str, Any] = {"order": 3.0, "scale": 30.0, "lower": 0, "upper": 100}
    for kind, bounded, count in (
        ("truncated to {0..100}, order 3", TruncatedIntegerNoise(**bounds), singles),
        (
            "truncated to {0..10^6}, order 2",
            TruncatedIntegerNoise(order=2, scale=1e7, lower=0, upper=10**6),
            batches // 4,
        ),
        ("boundary-inflated on {0..100}, order 3", BoundaryInflatedIntegerNoise(**bounds), singles),
    ):
        calls[f"ggdp, {kind}, the true value"] = (around_random_values(bounded), count)
    order, scale, name = laws[0]
    loop = textbook(order, scale)
    calls[f"a loop over k = 0, 1, 2, ..., {name}, one draw"] = (loop, singles)
    return observed(calls)


def around_random_values(bounded: TruncatedIntegerNoise | BoundaryInflatedIntegerNoise) -> Callable[[], Any]:
    """Return a call that draws around a true value from the lower bound to the middle, and tells the value."""
    values = itertools.cycle(np.random.default_rng().integers(0, bounded.upper // 2 + 1, (1 << 14, 1)))

    def call() -> NDArray[np.int64]:
        value: NDArray[np.int64] = next(values)
        bounded.around(value)
        return value

    return call


def textbook(order: float, scale: float) -> Callable[[], int]:
    """Return a sampler that adds up probabilities from 0 on, so that the time grows with the draw; for contrast."""
    generator = np.random.default_rng()
    weights = [math.exp(-((k / scale) ** order)) for k in range(math.ceil(40 * scale))]
    total = 2.0 * sum(weights) - 1.0

    def call() -> int:
        left, k = generator.random() * total - 1.0, 0
        while left >= 0.0:
            k += 1
            left -= 2.0 * weights[k]
        return k if generator.random() < 0.5 else -k

    return call


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("ggdp", "cryptography", "python-flint", "numpy")}


if __name__ == "__main__":
    tasks = (
        draws, threads_used, many, first, few, memory, bytes_a_second, looked_up_only, others, slow_paths, far_delay,
        watched, versions,
    )  # fmt: skip
    serve({task.__name__: task for task in tasks})
