"""Releases of ggdp: a worker that times them, beside the sampling of their noise alone and beside a plain sum."""

from __future__ import annotations

import statistics
import time
from functools import lru_cache, partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

import ggdp
from ggdp.mechanisms.exponential_mechanism import ExponentialMechanism
from ggdp.noise.entropy import SECURE
from ggdp.releases import clip, drop, normalise, project, round_values
from ratios import extra, ratio, timed_in_turn
from timing import calls_time, median_time
from worker import serve

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ggdp.releases import Release

DELTA = 1e-6
BOUNDS = (0, 100)
GOALS: dict[str, Callable[[float], Any]] = {
    "pure": ggdp.PureDP,
    "aDP": lambda epsilon: ggdp.ApproxDP(epsilon, DELTA),
    "pDP": lambda epsilon: ggdp.ProbabilisticDP(epsilon, DELTA),
}


@lru_cache
def mechanism(
    *,
    notion: str,
    epsilon: float,
    order: float,
    support: Literal["real", "integer"],
    size: float = 1.0,
    bounding: Literal["truncated", "boundary-inflated"] | None = None,
) -> ggdp.Mechanism:
    """Return a mechanism for disjoint queries of a sensitivity, on {0..100} or [0, 100] if it is bounded."""
    return ggdp.Mechanism(
        ggdp.calibrate(
            GOALS[notion](epsilon),
            ggdp.Sensitivity.disjoint(size),
            order=order,
            support=support,
            bounds=[BOUNDS] if bounding else None,
            bounding=bounding,
        )
    )


@lru_cache
def true_values(support: str, count: int) -> NDArray[Any]:
    generator = np.random.default_rng()
    if support == "integer":
        return generator.integers(BOUNDS[0], BOUNDS[1] + 1, count)
    return generator.uniform(*BOUNDS, count)


def alone(made: ggdp.Mechanism, values: NDArray[Any]) -> Callable[[], NDArray[np.int64]]:
    """Return a call that draws the noise of a release and does nothing else; bounded noise is around true values."""
    if made.calibration.bounding is None:
        return lambda: made.noise.sample(values.size)
    grid = made.calibration.grid
    indices = (values if grid is None else grid.index(values)).reshape(-1, 1)
    return lambda: made.noise.around(indices, SECURE)


def plain_sum(made: ggdp.Mechanism, values: NDArray[Any]) -> Callable[[], object]:
    """Return a call that adds the same noise as anybody would: wrapping around, and float to float."""
    drawn, step = alone(made, values), made.step

    def call() -> object:
        noise = drawn()
        noisy = noise if step is None else noise * step
        noisy += values
        return noisy

    return call


def beside_sampling(*, query: dict[str, Any], count: int, rounds: int) -> dict[str, Any]:
    """Time a release and its noise alone in turn; then, where there are no bounds, a release and a plain sum."""
    made, values = mechanism(**query), true_values(query["support"], count)
    release = partial(made.release, values)
    times = timed_in_turn({"sampling": alone(made, values), "release": release}, rounds)
    found: dict[str, Any] = {name: statistics.median(each.clock) for name, each in times.items()}
    found["ratio"] = ratio(times["release"].clock, times["sampling"].clock)
    found["processor"] = ratio(times["release"].processor, times["sampling"].processor)
    if not query.get("bounding"):
        # In rounds of its own: for floats it takes more memory, which the system clears again for those who come next.
        times = timed_in_turn({"plain": plain_sum(made, values), "release": release}, rounds // 2)
        found["extra"] = extra(times["release"].processor, times["plain"].processor)
        found["share"] = found["extra"] / statistics.median(times["release"].processor)
    return {**found, "scale": made.scale}


def converted(*, support: Literal["real", "integer"], count: int, rounds: int) -> dict[str, Any]:
    """Time a release of a list of Python numbers, of an array, and NumPy's conversion of the list alone, in turn."""
    made = mechanism(notion="pure", epsilon=1.0, order=1.0, support=support)
    array = true_values(support, count)
    numbers = array.tolist()
    times = timed_in_turn(
        {
            "list": lambda: made.release(numbers),
            "array": lambda: made.release(array),
            "conversion": lambda: np.asarray(numbers),
        },
        rounds,
    )
    return {name: statistics.median(each.clock) for name, each in times.items()} | {
        "ratio": ratio(times["list"].clock, times["array"].clock)
    }


def released(*, query: dict[str, Any], count: int, form: str = "array", calls: int = 1) -> float:
    """Time releases of an array, or of a list."""
    made, array = mechanism(**query), true_values(query["support"], count)
    values = array.tolist() if form == "list" else array
    return calls_time(lambda: made.release(values), calls)


def few(*, support: Literal["real", "integer"], order: float) -> dict[str, float]:
    """Time a release of one Python number, and of an array of a thousand, and the sampling alone of as many."""
    made = mechanism(notion="aDP", epsilon=1.0, order=order, support=support)
    thousand = true_values(support, 1000)
    one = thousand[0].item()
    calls: dict[str, Callable[[], object]] = {
        "one": lambda: made.release(one),
        "thousand": lambda: made.release(thousand),
        "one alone": alone(made, thousand[:1]),
        "thousand alone": alone(made, thousand),
    }
    return {name: median_time(call, seconds=0.1, most=1001) for name, call in calls.items()}


def afterwards(*, count: int) -> list[list[Any]]:
    """Time what is done with a release of so many values: what, the first call, and later ones."""
    counts, reals = true_values("integer", count), true_values("real", count)
    usual: dict[str, Any] = {"notion": "aDP", "epsilon": 1.0, "order": 3.0}
    whole = mechanism(**usual, support="integer").release(counts)
    real = mechanism(**usual, support="real").release(reals)
    bounded: dict[str, Release] = {}
    for kind in ("boundary-inflated", "truncated"):
        asked: dict[str, Any] = {"notion": "pure", "epsilon": 1.0, "order": 3.0, "bounding": kind}
        bounded[f"{kind} on {{0..100}}"] = mechanism(**asked, support="integer").release(counts)
        bounded[f"{kind} on [0, 100]"] = mechanism(**asked, support="real").release(reals)
    query = ggdp.Sensitivity.histogram(neighbours="replace-one")
    swapped = ggdp.Mechanism(ggdp.calibrate(ggdp.ApproxDP(1.0, DELTA), query, order=3, support="integer")).release(
        counts
    )
    total = 50 * count
    other = np.arange(count) % 2 == 0
    cases: dict[str, Callable[[], object]] = {
        "intervals of integers": whole.interval,
        "intervals of floats": real.interval,
        **{f"intervals, {kind}": each.interval for kind, each in bounded.items()},
        "clip of integers": lambda: clip(whole, lower=0),
        "clip of floats": lambda: clip(real, lower=0),
        "round_values of floats": lambda: round_values(real),
        "normalise": lambda: normalise(swapped, total),
        "project": lambda: project(swapped, total),
        "drop of every other cell": lambda: drop(whole, other),
        "manifest of integers": lambda: whole.manifest,
        "manifest of floats": lambda: real.manifest,
        **{f"manifest, {kind}": lambda each=each: each.manifest for kind, each in bounded.items()},  # type: ignore[misc]
    }
    answers: list[list[Any]] = []
    for what, call in cases.items():
        start = time.perf_counter()
        call()
        answers.append([what, time.perf_counter() - start, median_time(call, seconds=0.5, most=15)])
    return answers


@lru_cache
def utilities(kind: str, count: int) -> Any:
    """Return scores of candidates: integers from 0 to 100."""
    scores = np.random.default_rng().integers(0, 101, count)
    return {"integers": scores, "floats": scores.astype(np.float64), "list": scores.tolist()}[kind]


def selection(*, kind: str, count: int, calls: int) -> float:
    """Time the choice of one candidate, at epsilon 1 and sensitivity 1."""
    made = ExponentialMechanism(ggdp.PureDP(1.0), sensitivity=1, candidates=range(count))
    scores = utilities(kind, count)
    return calls_time(lambda: made.release(scores), calls)


def versions() -> dict[str, str]:
    return {name: version(name) for name in ("ggdp", "cryptography", "python-flint", "numpy")}


if __name__ == "__main__":
    tasks = (beside_sampling, converted, released, few, afterwards, selection, versions)
    serve({task.__name__: task for task in tasks})
