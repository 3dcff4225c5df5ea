"""Floats around the delta of a corner: which grid and window a proof should use, and what it will find.

Nothing here is trusted: a plan decides how tight a proof is, never whether it holds. Losses are summarised by their
cumulant functions, and the estimate is an exponentially tilted convolution, so small deltas keep their digits.

===========  ====================================================================================
L            loss of one coordinate, |x + d|^p - |x|^p with d = D/b and x standard noise
K(s)         log E e^(s L), summed over all coordinates
theta        the tilt: root of K'(theta) = epsilon, or 0 where the mean loss is above epsilon
h            step of the loss grid; a step of h adds about h^2/6 to the variance of each coordinate
===========  ====================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ggdp.loss.crossing import crossings, loss_estimate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ggdp.loss.crossing import Floats

__all__ = ["Corner", "Plan", "SizePlan", "Window", "estimate", "plan", "thresholds"]

Corner = tuple[tuple[float, int], ...]

ADDED_VARIANCE = 6e-5
LARGEST_STEP = 0.02
NEGLIGIBLE = math.log(1e-8)
# Noise beyond |x|^p = FAR has a probability below e^-FAR.
FAR = 220.0
SMALL_SCALE = 500.0
NODES = 1600
MOST_KNOTS = 1 << 15
FEW = 16
SPARSENESS = 150
LUMPY_SCALE = 200.0
LUMPY_STEP = 2e-4
TILTS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 13.0, 18.0, 30.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Grid indices top - points + 1 to top, kept in a circular convolution; `tilt` serves the Chernoff bound above."""

    top: int
    points: int
    tilt: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SizePlan:
    """How the coordinates of one size are laid on the grid: `halvings` of the step, knots low to high, own window.

    With `sparse`, knots far from 0 lie apart by a 150th of the loss: nothing is lost where many coordinates add up.
    """

    size: float
    count: int
    step: float
    halvings: int
    low: int
    high: int
    sparse: bool
    window: Window | None

    def knots(self) -> NDArray[np.int64]:
        """Indices of the knots in use, from low to high."""
        if not self.sparse:
            return np.arange(self.low, self.high + 1, dtype=np.int64)
        sides = []
        for end in (-self.low, self.high):
            index, side = 0, [0]
            while index < end:
                index = min(index + max(index // SPARSENESS, 1), end)
                side.append(index)
            sides.append(side)
        return np.array([-index for index in sides[0][:0:-1]] + sides[1], dtype=np.int64)


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """A grid for every size and the window for their sum."""

    step: float
    sizes: tuple[SizePlan, ...]
    window: Window
    precision: int
    tilt: float


@dataclass(frozen=True, slots=True)
class _Sample:
    """Losses of one coordinate with their log masses, and how many coordinates are like it."""

    losses: Floats
    logs: Floats
    count: int

    def cumulants(self, s: float) -> tuple[float, float, float]:
        """K, K' and K'' of all `count` coordinates at s."""
        tilted = self.logs + s * self.losses
        peak = float(tilted.max())
        weights = np.exp(tilted - peak)
        total = float(weights.sum())
        mean = float(weights @ self.losses) / total
        variance = float(weights @ (self.losses - mean) ** 2) / total
        return self.count * (peak + math.log(total)), self.count * mean, self.count * variance


def plan(
    *, order: float, scale: float, corner: Corner, epsilon: float, support: str, rough: bool = False
) -> Plan | None:
    """Choose grids and windows; None where no finite plan can show a delta below 1. A rough plan is a quick one."""
    samples = [_sample(order, scale, size, count, support) for size, count in corner]
    coordinates = sum(count for _, count in corner)
    if any(sample is None for sample in samples):
        return None
    kept = [sample for sample in samples if sample is not None]
    theta = _saddle(kept, epsilon)
    level = _log_delta(kept, theta, epsilon)
    cap = epsilon + math.log(coordinates) - NEGLIGIBLE - level
    clipped, infinite = zip(*(_clipped(sample, cap) for sample in kept), strict=True)
    if any(sample is None for sample in clipped):
        return None
    theta = _saddle(clipped, epsilon)
    level = min(max(_log_delta(clipped, theta, epsilon), math.log(sum(infinite) + 1e-300)), 0.0)
    budget = level + NEGLIGIBLE
    parts = [sample.cumulants(theta) for sample in clipped]
    variance = sum(part[2] for part in parts)
    groups = len(clipped)
    added = ADDED_VARIANCE if rough or coordinates > FEW else ADDED_VARIANCE / 8.0
    share = added * variance / (1 if groups == 1 else 2 * groups)
    ends = [_ends(sample, budget) for sample in clipped]
    span = max(high - low for low, high in ends)
    spreads = clipped[0].count if groups == 1 else 1
    # Losses that hardly vary need no finer grid than those that just reach epsilon.
    floor = max(span / MOST_KNOTS, 1e-3 * epsilon / math.sqrt(spreads * groups))
    base = min(max(math.sqrt(6.0 * share / spreads), floor), LARGEST_STEP)
    if theta > 0.0 and coordinates <= 100 and not rough:
        # A far tail that is made by few coordinates falls by e^(-theta h) from knot to knot.
        base = min(base, math.sqrt(1e-4 * epsilon / theta))
    lumpy = support == "integer" and scale < LUMPY_SCALE
    if lumpy and not rough:
        # Single losses carry much mass, and one next to epsilon shows how far the grid has spread it.
        reach = sum(count * (high - low) for (low, high), (_, count) in zip(ends, corner, strict=True))
        reach = min(reach, 16.0 * math.sqrt(variance) + epsilon)
        base = min(base, max(LUMPY_STEP * epsilon, reach / MOST_KNOTS))
    largest = max(size for size, _ in corner) / scale
    if order == 1.0:
        base = largest / math.ceil(largest / base)
    step = _rounded_up(base)
    sizes, highest = [], 0
    for sample, part, (low, high), (size, count) in zip(clipped, parts, ends, corner, strict=True):
        spread = math.sqrt(part[2] / count) + abs(part[1]) / count
        halvings = 0
        while (
            groups > 1
            and halvings < 40
            and count > 1
            and count * min((fine := step * 0.5**halvings) ** 2 / 6.0, fine * spread) > share * 1.0001
        ):
            halvings += 1
        fine = step * 0.5**halvings
        first, last = math.floor(low / fine) - 1, math.ceil(high / fine) + 1
        window = _window([sample], fine, budget, 0.0, part[1], count * last) if halvings else None
        highest += count * last if window is None else (window.top >> halvings) + 1
        sizes.append(
            SizePlan(
                size=size,
                count=count,
                step=fine,
                halvings=halvings,
                low=min(first, 0),
                high=max(last, 0),
                sparse=coordinates > 100 and not lumpy,
                window=window,
            )
        )
    window = _window(clipped, step, budget, theta, epsilon, highest)
    precision = max(128, 64 * math.ceil((64.0 - 2.0 * level / math.log(2.0)) / 64.0))
    return Plan(step=step, sizes=tuple(sizes), window=window, precision=precision, tilt=theta)


def estimate(chosen: Plan, *, order: float, scale: float, epsilon: float, support: str) -> float:
    """Estimate in floats the bound that a proof along this plan will give."""
    spectrum = np.ones(chosen.window.points // 2 + 1, dtype=np.complex128)
    theta, level, infinite = chosen.tilt, -chosen.tilt * epsilon, 0.0
    for size in chosen.sizes:
        masses, beyond = _masses(size, order, scale, support)
        infinite += size.count * math.log1p(-min(beyond, 1.0 - 1e-16))
        indices = np.arange(size.low, size.high + 1)
        with np.errstate(divide="ignore"):
            logs = np.log(masses) + theta * size.step * indices
        peak = float(logs.max())
        weights = np.exp(logs - peak)
        total = float(weights.sum())
        level += size.count * (peak + math.log(total))
        count = size.count
        weights /= total
        if size.window is not None:
            composed = np.fft.irfft(_spectrum(weights, size.low, size.window.points) ** count, size.window.points)
            indices = np.arange(size.window.top - size.window.points + 1, size.window.top + 1, dtype=np.int64)
            composed = np.maximum(composed[indices % size.window.points], 0.0)
            weights, low = _coarsened(composed, indices, size, theta)
            spectrum *= _spectrum(weights, low, chosen.window.points)
        else:
            spectrum *= _spectrum(weights, size.low, chosen.window.points) ** count
    composed = np.fft.irfft(spectrum, chosen.window.points)
    indices = np.arange(math.floor(epsilon / chosen.step) + 1, chosen.window.top + 1)
    above = indices * chosen.step - epsilon
    terms = -np.expm1(-above) * composed[indices % chosen.window.points] * np.exp(-theta * above)
    return math.exp(min(level, 0.0)) * max(float(terms.sum()), 0.0) - math.expm1(infinite)


def thresholds(size: SizePlan, *, order: float, scale: float) -> Floats:
    """Where the loss passes the knots, in units of the scale, in floats."""
    shift = size.size / scale
    levels = size.step * size.knots().astype(np.float64)
    z = crossings(order, shift, levels, largest=FAR ** (1.0 / order))
    if order == 1.0:
        # All noise from 0 upwards has the one loss d, so a knot within rounding of it belongs at 0.
        z = np.where(np.abs(levels / shift - 1.0) < 1e-12, 0.0, z)
    return z


def _sample(order: float, scale: float, size: float, count: int, support: str) -> _Sample | None:
    far = FAR ** (1.0 / order)
    with np.errstate(all="ignore"):
        if support == "integer" and scale < SMALL_SCALE:
            k = np.arange(-math.ceil(far * scale) - 1, math.ceil(far * scale) + 2, dtype=np.float64)
            logs = -((np.abs(k) / scale) ** order)
            z, logs = k / scale, logs - _log_sum(logs)
        else:
            u = np.linspace(-1.0, 1.0, NODES + 1)
            edges = far * (u if order > 3.0 else u * (0.2 + 0.8 * u * u))
            z = 0.5 * (edges[1:] + edges[:-1])
            tail = _survival(order, np.abs(edges))
            masses = np.where(z > 0, tail[:-1] - tail[1:], tail[1:] - tail[:-1])
            logs = np.log(np.maximum(masses, 1e-300))
        losses = loss_estimate(order, z, size / scale)
        losses = np.minimum(losses, 1e15)
    keep = losses > -1e15
    return _Sample(losses[keep], logs[keep], count) if keep.any() else None


def _clipped(sample: _Sample, cap: float) -> tuple[_Sample | None, float]:
    keep = (sample.losses <= cap) & (sample.losses >= -cap)
    beyond = float(np.exp(sample.logs[sample.losses > cap]).sum()) * sample.count
    return (_Sample(sample.losses[keep], sample.logs[keep], sample.count) if keep.any() else None), beyond


def _log_sum(logs: Floats) -> float:
    peak = float(logs.max())
    return peak + math.log(float(np.exp(logs - peak).sum()))


def _survival(order: float, z: Floats) -> Floats:
    from scipy import special

    with np.errstate(all="ignore"):
        tail = 0.5 * special.gammaincc(1.0 / order, np.abs(z) ** order)
    return np.asarray(np.where(z < 0, 1.0 - tail, tail))


def _sum(samples: Sequence[_Sample], s: float) -> tuple[float, float, float]:
    parts = [sample.cumulants(s) for sample in samples]
    return sum(q[0] for q in parts), sum(q[1] for q in parts), sum(q[2] for q in parts)


def _log_delta(samples: Sequence[_Sample], theta: float, epsilon: float) -> float:
    """The logarithm of delta as if the tilted sum were normal around epsilon, up to a small factor."""
    moment, _, variance = _sum(samples, theta)
    spread = math.sqrt(variance) + 1e-300
    a = theta + 1.0 / spread
    return min(moment - theta * epsilon + math.log(0.3) - math.log(spread * a) - math.log1p(a), 0.0)


def _saddle(samples: Sequence[_Sample], epsilon: float) -> float:
    low, high = 0.0, math.inf
    _, mean, variance = _sum(samples, 0.0)
    if mean >= epsilon or sum(s.count * float(s.losses.max()) for s in samples) <= epsilon:
        return 0.0
    s = 0.0
    for _ in range(80):
        if abs(mean - epsilon) <= 1e-3 * math.sqrt(variance):
            break
        low, high = (s, high) if mean < epsilon else (low, s)
        step = s + (epsilon - mean) / variance if variance > 0.0 else math.inf
        if not low < step < high or not math.isfinite(step):
            step = 0.5 * (low + high) if math.isfinite(high) else 2.0 * low + 1.0
        s = min(step, 3.0 * low + 1.0 + 1.0 / math.sqrt(variance + 1e-300)) if math.isinf(high) else step
        _, mean, variance = _sum(samples, s)
        if s > 1e12:
            break
    return s


def _ends(sample: _Sample, budget: float) -> tuple[float, float]:
    """The losses outside of which all coordinates of the sample together have a negligible mass."""
    rank = np.argsort(sample.losses, kind="stable")
    losses, masses = sample.losses[rank], np.exp(sample.logs[rank]) * sample.count
    enough = math.exp(max(budget, -700.0))
    below, above = np.cumsum(masses), np.cumsum(masses[::-1])[::-1]
    low = losses[max(int(np.searchsorted(below, enough)) - 1, 0)]
    over = np.nonzero(above > enough)[0]
    high = losses[min(int(over[-1]) + 1, len(losses) - 1)] if len(over) else losses[-1]
    return float(low), float(high)


def _window(
    samples: Sequence[_Sample], step: float, budget: float, theta: float, centre: float, highest: int
) -> Window:
    """A window outside of which the sum has a mass of at most e^budget on either side; no knot is above `highest`."""
    spread = math.sqrt(_sum(samples, theta)[2]) + 1e-300
    plain = math.sqrt(_sum(samples, 0.0)[2]) + 1e-300
    least = sum(s.count * float(s.losses.min()) for s in samples)
    tops = [((_sum(samples, s)[0] - budget) / s, s) for s in (theta + t / spread for t in TILTS)]
    top, tilt = min(tops)
    bottom = max((budget - _sum(samples, -s)[0]) / s for s in (t / plain for t in TILTS))
    last = min(math.ceil(max(top, centre) / step) + 2, max(highest, math.floor(centre / step) + 2))
    bottom = min(max(bottom, least), last * step)
    wanted = last - math.floor(bottom / step) + 3
    return Window(top=last, points=_smooth(wanted), tilt=tilt)


def _smooth(wanted: int) -> int:
    """The least 2^a, 3 2^a or 5 2^a that is at least `wanted` and 16: lengths with a fast transform."""
    exponent = max((wanted - 1).bit_length(), 4)
    return min(n for n in (5 << exponent - 3, 3 << exponent - 2, 1 << exponent) if n >= wanted)


def _rounded_up(step: float) -> float:
    """The step with 24 bits only, so that multiples of it by indices are exact floats."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.ceil(mantissa * 2.0**24), exponent - 24)


def _masses(size: SizePlan, order: float, scale: float, support: str) -> tuple[Floats, float]:
    """Masses on the knots by connecting the dots, and the mass above the highest knot, in floats."""
    shift, z = size.size / scale, thresholds(size, order=order, scale=scale)
    if support == "integer":
        k = np.floor(z * scale) + 1.0
        first, second = _integer_tails(order, scale, k), _integer_tails(order, scale, k + size.size)
    else:
        first, second = _survival(order, z), _survival(order, z + shift)
    knots = size.knots()
    levels = size.step * knots
    here, there = first[:-1] - first[1:], second[:-1] - second[1:]
    with np.errstate(all="ignore"):
        up = (here - np.exp(levels[:-1]) * there) / -np.expm1(-np.diff(levels))
    up = np.clip(np.nan_to_num(up), 0.0, here)
    masses = np.zeros(size.high - size.low + 1)
    masses[knots[:-1] - size.low] += here - up
    masses[knots[1:] - size.low] += up
    masses[0] += 1.0 - first[0]
    return np.maximum(masses, 0.0), float(first[-1])


def _integer_tails(order: float, scale: float, k: Floats) -> Floats:
    if scale >= SMALL_SCALE:
        return _survival(order, (k - 0.5) / scale)
    far = math.ceil(FAR ** (1.0 / order) * scale) + 1
    weights = np.exp(-((np.arange(0, far + 1) / scale) ** order))
    tails = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    total = 2.0 * tails[0] - weights[0]
    right = tails[np.clip(k, 0, far + 1).astype(np.int64)] / total
    left = 1.0 - tails[np.clip(1 - k, 0, far + 1).astype(np.int64)] / total
    return np.asarray(np.where(k > 0, right, left))


def _spectrum(weights: Floats, low: int, points: int) -> NDArray[np.complex128]:
    circular = np.zeros(points)
    np.add.at(circular, (low + np.arange(len(weights))) % points, weights)
    return np.fft.rfft(circular)


def _coarsened(weights: Floats, indices: NDArray[np.int64], size: SizePlan, theta: float) -> tuple[Floats, int]:
    """Split tilted masses on the fine grid between their neighbours on the coarse one."""
    factor = 1 << size.halvings
    coarse = indices // factor
    over = (indices - coarse * factor) * size.step
    step = size.step * factor
    up = np.expm1(-over) / math.expm1(-step)
    low = int(coarse[0])
    result = np.zeros(int(coarse[-1]) - low + 2)
    np.add.at(result, coarse - low, weights * (1.0 - up) * np.exp(-theta * over))
    np.add.at(result, coarse - low + 1, weights * up * np.exp(theta * (step - over)))
    return result, low
