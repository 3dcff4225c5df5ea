"""Losses in floats: samples of them, the grids on which they are discretized, and delta estimated on such grids.

===========  ====================================================================================
p            order, at least 1
d            shift in units of the scale, D / b
L(z)         |z + d|^p - |z|^p, the privacy loss at standard noise z; it rises with z
K(s)         log E e^(s L), summed over all coordinates
theta        the tilt: root of K'(theta) = epsilon, or 0 where the mean loss is above epsilon
V            variance of the tilted sum
W            spread of all splits, the sum of gap^2 / 8: it adds about 2 W to V, and upper and lower
             bound are about 6 theta (1 + theta) W apart, relative to delta
h            step of an estimate's grid; it adds about h^2/6 to the variance of each coordinate
===========  ====================================================================================

`plan_total` and `plan_upper` choose the grids of a proof, whose bounds are to be close to each other or to delta.
`estimate_delta` chooses a coarser one and convolves on it in floats, tilted so that small deltas keep their digits: it
makes the search for a scale fast. Nothing here is trusted: a proof decides in balls (`ggdp.proofs.losses`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggdp._work import spend
from ggdp.proofs.layouts import MOST_KNOTS, CornerLayout, LossLayout, Window
from ggdp.proofs.losses import CountedLoss, Loss, ResponseLoss
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.several_coordinates import Corner

Floats: TypeAlias = "NDArray[np.float64]"

# Noise beyond |x|^p = FAR has a probability below e^-FAR.
FAR = 220.0
# From this scale on integers are as good as reals.
SMALL_SCALE = 500.0


def loss_estimates(order: float, z: Floats, shift: float) -> Floats:
    """Return L(z), without cancellation where z is much larger than the shift."""
    with np.errstate(all="ignore"):
        # Mirroring about -d/2 changes the sign of the loss only, and leaves z >= -d/2 to be dealt with.
        mirrored = z < -0.5 * shift
        x = np.where(mirrored, -shift - z, z)
        far = x**order * np.expm1(order * np.log1p(shift / x))
        near = (x + shift) ** order - np.abs(x) ** order
        value = np.where(x > shift, far, near)
    return np.where(mirrored, -value, value)


def crossings(order: float, shift: float, levels: Floats, *, largest: float) -> Floats:
    """Return the roots z of L(z) = level, for levels between L(-shift - largest) and L(largest)."""
    levels = np.asarray(levels, dtype=np.float64)
    if order == 2.0:
        return np.clip((levels / shift - shift) / 2.0, -shift - largest, largest)
    # Points from -shift - largest to largest, close together around 0 and -shift, where L bends.
    side = np.concatenate([[0.0], np.geomspace(1e-12 * (shift + largest), largest, 600)])
    between = 0.5 * shift * (side / largest)
    nodes: Floats = np.concatenate([-shift - side[:0:-1], -shift + between, -between[::-1], side[1:]])
    table = np.maximum.accumulate(loss_estimates(order, nodes, shift))
    above = np.clip(np.searchsorted(table, levels), 1, len(nodes) - 1)
    low, high = nodes[above - 1], nodes[above]
    with np.errstate(all="ignore"):
        share = (levels - table[above - 1]) / (table[above] - table[above - 1])
        z = low + np.where((share >= 0.0) & (share <= 1.0), share, 0.5) * (high - low)
        # Two or three steps are the rule; where L is flat, more halve the bracket.
        for _ in range(12):
            miss = loss_estimates(order, z, shift) - levels
            low, high = np.where(miss > 0.0, low, z), np.where(miss > 0.0, z, high)
            far, near = np.abs(z + shift), np.abs(z)
            slope = order * (np.sign(z + shift) * far ** (order - 1.0) - np.sign(z) * near ** (order - 1.0))
            step = z - miss / slope
            new = np.where((step >= low) & (step <= high), step, 0.5 * (low + high))
            settled = np.abs(new - z) <= 1e-8 * np.abs(new)
            z = new
            # The error of a step is about the square of the step.
            if settled.all():
                break
    return np.clip(z, -shift - largest, largest)


@dataclass(frozen=True, slots=True)
class Sample:
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

    def ranked(self) -> tuple[Floats, Floats]:
        """Losses in increasing order, with their log masses."""
        rank = np.argsort(self.losses, kind="stable")
        return self.losses[rank], self.logs[rank]


def sample_of(law: NoiseLaw, size: float, count: int) -> Sample | None:
    """Return a sample of the loss of one coordinate; None where every loss is beyond the floats."""
    order, scale = law.order, law.scale
    far = FAR ** (1.0 / order)
    with np.errstate(all="ignore"):
        # A narrow law on the integers is summed; a wide one is as good as continuous here.
        if law.support == "integer" and 2.0 * far * scale <= 2400.0:
            k = np.arange(-math.ceil(far * scale) - 1, math.ceil(far * scale) + 2, dtype=np.float64)
            logs = -((np.abs(k) / scale) ** order)
            z, logs = k / scale, logs - normalize(logs)[1]
        else:
            z, logs = _standard_sample(order)
        losses = loss_estimates(order, z, size / scale)
        losses = np.minimum(losses, 1e15)
    keep = losses > -1e15
    return Sample(losses[keep], logs[keep], count) if keep.any() else None


@lru_cache(maxsize=64)
def _standard_sample(order: float) -> tuple[Floats, Floats]:
    """Return standard noise on the reals with its log masses; a search tries many scales of it."""
    u = np.linspace(-1.0, 1.0, 1601)
    edges = FAR ** (1.0 / order) * (u if order > 3.0 else u * (0.2 + 0.8 * u * u))
    z = 0.5 * (edges[1:] + edges[:-1])
    tail = survival_estimate(order, np.abs(edges))
    masses = np.where(z > 0, tail[:-1] - tail[1:], tail[1:] - tail[:-1])
    logs = np.log(np.maximum(masses, 1e-300))
    for kept in (z, logs):
        kept.setflags(write=False)
    return z, logs


def clip_losses(sample: Sample, cap: float) -> tuple[Sample | None, float]:
    """Return the part of a sample with losses from -cap to cap, and the mass of all coordinates above it."""
    keep = (sample.losses <= cap) & (sample.losses >= -cap)
    beyond = float(np.exp(sample.logs[sample.losses > cap]).sum()) * sample.count
    return (Sample(sample.losses[keep], sample.logs[keep], sample.count) if keep.any() else None), beyond


def merge_losses(sample: Sample, nodes: int) -> Sample:
    """Return a sample with at most so many losses: neighboring ones are replaced by their mean."""
    each = -(-len(sample.losses) // nodes)
    if each == 1:
        return sample
    losses, logs = sample.ranked()
    starts = np.arange(0, len(logs), each)
    peaks = np.maximum.reduceat(logs, starts)
    weights = np.exp(logs - np.repeat(peaks, each)[: len(logs)])
    masses = np.add.reduceat(weights, starts)
    return Sample(np.add.reduceat(weights * losses, starts) / masses, peaks + np.log(masses), sample.count)


def normalize(logs: Floats) -> tuple[Floats, float]:
    """Return masses that are given by their logarithms with a sum of 1, and the logarithm of their sum."""
    peak = float(logs.max())
    weights = np.exp(logs - peak)
    total = float(weights.sum())
    return weights / total, peak + math.log(total)


def survival_estimate(order: float, z: Floats) -> Floats:
    """Return P(X > z) of the standard law."""
    with np.errstate(all="ignore"):
        if order == 1.0:
            tail = 0.5 * np.exp(-np.abs(z))
        else:
            # Takes a third of a second to load.
            from scipy import special

            tail = 0.5 * special.gammaincc(1.0 / order, np.abs(z) ** order)
    return np.asarray(np.where(z < 0, 1.0 - tail, tail))


def integer_tails_estimate(order: float, scale: float, k: Floats) -> Floats:
    """Return P(K >= k) of the law on the integers."""
    if scale >= SMALL_SCALE:
        return survival_estimate(order, (k - 0.5) / scale)
    far = math.ceil(FAR ** (1.0 / order) * scale) + 1
    weights = np.exp(-((np.arange(0, far + 1) / scale) ** order))
    tails = np.append(np.cumsum(weights[::-1])[::-1], 0.0)
    total = 2.0 * tails[0] - weights[0]
    right = tails[np.clip(k, 0, far + 1).astype(np.int64)] / total
    left = 1.0 - tails[np.clip(1 - k, 0, far + 1).astype(np.int64)] / total
    return np.asarray(np.where(k > 0, right, left))


def total_cumulants(samples: Sequence[Sample], s: float) -> tuple[float, float, float]:
    """Return K, K' and K'' of all coordinates together at s."""
    parts = [sample.cumulants(s) for sample in samples]
    return sum(q[0] for q in parts), sum(q[1] for q in parts), sum(q[2] for q in parts)


def log_moments(samples: Sequence[Sample], tilts: Floats) -> Floats:
    """Return K of all coordinates together at several tilts."""
    total = np.zeros(len(tilts))
    for sample in samples:
        tilted = sample.logs + tilts[:, None] * sample.losses
        peaks = tilted.max(axis=1)
        total += sample.count * (peaks + np.log(np.exp(tilted - peaks[:, None]).sum(axis=1)))
    return total


def log_delta(samples: Sequence[Sample], theta: float, epsilon: float) -> float:
    """The logarithm of delta as if the tilted sum were normal around epsilon, up to a small factor."""
    if _most(samples) <= epsilon:
        return -FAR
    moment, _, variance = total_cumulants(samples, theta)
    spread = math.sqrt(variance) + 1e-300
    a = theta + 1.0 / spread
    return min(moment - theta * epsilon + math.log(0.3) - math.log(spread * a) - math.log1p(a), 0.0)


def saddle(samples: Sequence[Sample], epsilon: float) -> float:
    """Return theta."""
    low, high = 0.0, math.inf
    _, mean, variance = total_cumulants(samples, 0.0)
    if mean >= epsilon or _most(samples) <= epsilon:
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
        _, mean, variance = total_cumulants(samples, s)
        if s > 1e12:
            break
    return s


def _most(samples: Sequence[Sample]) -> float:
    """Return the largest sum of losses in the samples."""
    return sum(sample.count * float(sample.losses.max()) for sample in samples)


def ends_of(sample: Sample, budget: float) -> tuple[float, float]:
    """The losses outside of which all coordinates of the sample together have a negligible mass."""
    losses, logs = sample.ranked()
    masses = np.exp(logs) * sample.count
    enough = math.exp(max(budget, -700.0))
    below, above = np.cumsum(masses), np.cumsum(masses[::-1])[::-1]
    low = losses[max(int(np.searchsorted(below, enough)) - 1, 0)]
    over = np.nonzero(above > enough)[0]
    high = losses[min(int(over[-1]) + 1, len(losses) - 1)] if len(over) else losses[-1]
    return float(low), float(high)


# Distance of the upper from the lower bound of delta, over theta (1 + theta) W and relative to delta.
PER_SPREAD = 6.0
# The part of the spread that single losses may have; the rest is that of coarser grids for sums.
SINGLE = 0.6
# The window of a sum, in standard deviations.
WINDOW = 15.0
# Mass above the grid, relative to delta.
ABOVE = 1e-9
# Below this order the largest losses of a coordinate are almost one atom, which belongs on a knot.
ATOMIC = 1.02
# Losses have a common unit if they are multiples of it up to this one.
MOST_UNITS = 4096
# How much finer than wanted a grid may be for the sake of a common unit, as a power of two.
FINER = 3
# Of estimates: what is cut off at the ends of a grid, relative to delta.
NEGLIGIBLE = math.log(1e-8)
# A transform of more knots takes long.
MOST_ESTIMATE_KNOTS = 1 << 15
# Up to so many coordinates the grid is finer: the transform is short.
FEW_COORDINATES = 16
# Tilts of Chernoff bounds that are tried, in units of the spread of the sum.
TILTS = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 13.0, 18.0, 30.0])
# Up to so many coordinates a far tail is made by few of them.
TAILED = 100
# How many knots on either side of epsilon show the density.
NEAR = 8
# Units of work of an estimate: for each size, and for each point.
GRID, POINT = 800, 0.15


def sample_losses(losses: Sequence[CountedLoss]) -> list[Sample] | None:
    """Return a sample of each loss; None where a loss is beyond the floats."""
    found: list[Sample] = []
    for counted in losses:
        loss = counted.loss
        if isinstance(loss, ResponseLoss):
            truth = -math.log1p(math.exp(-loss.epsilon))
            masses = np.array([truth - loss.epsilon, truth])
            found.append(Sample(np.array([-loss.epsilon, loss.epsilon]), masses, counted.count))
        elif (sample := sample_of(loss.law, loss.size, counted.count)) is not None:
            found.append(sample)
    return found if len(found) == len(losses) else None


def plan_total(
    losses: Sequence[CountedLoss], samples: Sequence[Sample], epsilon: float, *, finer: float = 1.0, ratio: float = 0.0
) -> CornerLayout:
    """Choose a layout for both bounds of delta; `ratio` is the density of the sum at epsilon over delta, if known."""
    # Losses ten times as large as those that are as good as infinite are counted as infinite.
    samples = _without_largest(samples, epsilon, 10.0)
    theta = spread_tilt(samples, saddle_tilt(samples, epsilon))
    variances = [sample.cumulants(theta)[2] / sample.count for sample in samples]
    slope = max(theta, 1.0 / math.sqrt(sum(sample.cumulants(theta)[2] for sample in samples)))
    # The bounds are to be about 2.2e-5 apart, relative to delta.
    spread = 2.2e-5 / (PER_SPREAD * max(slope * (1.0 + slope), ratio)) / finer**2
    # Where they take few knots, steps as fine as those at which accountants that round losses up are at their best.
    # Atoms alone are discretized in less time than densities.
    atoms = all(isinstance(one.loss, ResponseLoss) or one.loss.law.support == "integer" for one in losses)
    fine, most = (3.5e-5, 3 << 17) if atoms else (5e-5, 1 << 17)
    total = math.sqrt(sum(sample.count * variance for sample, variance in zip(samples, variances, strict=True)))
    number = sum(one.count for one in losses)
    if WINDOW * (sum(map(math.sqrt, variances)) + total) / fine <= most:
        spread = min(spread, number * fine**2 / 8.0 / finer**2)
    # A lower bound needs almost all tilted mass of all coordinates together inside of the inner parts.
    return _plan(losses, samples, epsilon, theta, spread, 1e-8 / number, ABOVE)


def plan_upper(losses: Sequence[CountedLoss], samples: Sequence[Sample], epsilon: float, spread: float) -> CornerLayout:
    """Choose a layout for the upper bound, which is then above delta by about 2/3 of the spread times the density."""
    samples = _without_largest(samples, epsilon, 1.0)
    theta = saddle_tilt(samples, epsilon)
    outside = 1e-2 / math.sqrt(sum(sample.count for sample in samples))
    # Where no loss near epsilon shows how much there may be.
    most = 1e-5 * sum(sample.cumulants(theta)[2] for sample in samples)
    return _plan(losses, samples, epsilon, theta, min(spread, most), outside, 1e-7)


def _without_largest(samples: Sequence[Sample], epsilon: float, farther: float) -> list[Sample]:
    """Return samples without losses so large that they may as well be infinite, for the upper bound at least."""
    number = sum(sample.count for sample in samples)
    cap = epsilon - math.log(ABOVE / number) - log_delta(samples, saddle(samples, epsilon), epsilon)
    return [clip_losses(sample, farther * cap)[0] or sample for sample in samples]


def saddle_tilt(samples: Sequence[Sample], epsilon: float) -> float:
    """Return the tilt for an epsilon; a steeper one than 1e5 over the largest loss cannot be needed."""
    return min(saddle(samples, epsilon), 1e5 / max(float(np.abs(sample.losses).max()) for sample in samples))


def spread_tilt(samples: Sequence[Sample], theta: float) -> float:
    """Return a tilt that leaves 2% of the variance: near the largest sum the saddle point puts all mass on it."""
    least = 0.02 * total_cumulants(samples, 0.0)[2]
    if total_cumulants(samples, theta)[2] >= least:
        return theta
    low, high = 0.0, theta
    while high - low > 0.01 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if total_cumulants(samples, middle)[2] >= least else (low, middle)
    return low


def _plan(
    losses: Sequence[CountedLoss],
    samples: Sequence[Sample],
    epsilon: float,
    theta: float,
    spread: float,
    outside: float,
    cut: float,
) -> CornerLayout:
    """Choose steps and windows for a tilt and a spread.

    Each grid has so much tilted mass `outside` of its inner part, and a mass above it of the share `cut` of delta; it
    has at most 2^17 steps from 0 to the largest loss.
    """
    number = sum(one.count for one in losses)
    above = log_delta(samples, theta, epsilon) + math.log(cut / number)
    highs = [_highest(sample, above) for sample in samples]
    steps = _steps(losses, samples, theta, spread, [high / 2.0**17 for high in highs])
    sizes = tuple(
        _layout(sample, theta, step, outside, 1e-11 / number, high)
        for sample, step, high in zip(samples, steps, highs, strict=True)
    )
    variance = sum(sample.cumulants(theta)[2] for sample in samples)
    levels = max(math.log(number, 4.0), 1.0)
    points = WINDOW * math.sqrt(variance * levels / (8.0 * (1.0 - SINGLE) * spread))
    points = min(max(math.ceil(points), 1 << 12), 1 << 17)
    # What is cut off a sum is multiplied by the number of such sums in the total.
    return CornerLayout(sizes=sizes, tilt=theta, tail=above - math.log(4.0), points=points)


def _steps(
    losses: Sequence[CountedLoss], samples: Sequence[Sample], theta: float, spread: float, least: Sequence[float]
) -> list[float]:
    """Return steps that differ by powers of two, none far below the least, with few knots for the spread."""
    # With knots in proportion to deviation / step, and count * step^2 / 8 adding up to the spread.
    deviations = [math.sqrt(sample.cumulants(theta)[2] / sample.count) + 1e-300 for sample in samples]
    shares = [(deviation / sample.count) ** (1.0 / 3.0) for deviation, sample in zip(deviations, samples, strict=True)]
    added = sum(sample.count * share**2 for share, sample in zip(shares, samples, strict=True))
    height = math.sqrt(8.0 * SINGLE * spread / added)
    wanted = [max(height * share, floor) for share, floor in zip(shares, least, strict=True)]
    units = [_unit(counted.loss, sample) for counted, sample in zip(losses, samples, strict=True)]
    known = [unit for unit in units if unit is not None]
    values = [value for value, _ in known]
    divisor = _common_divisor(values) if len(known) == len(units) else None
    common = None if divisor is None else max(values) * float(divisor)
    if common is not None and (len(set(values)) == 1 or common * 2.0**FINER >= min(wanted)):
        powers = [round(math.log2(step / common)) for step in wanted]
        # On the unit itself nothing is split; a grid a little coarser would be worse. Atoms want a part of it.
        exact = all(lattice for _, lattice in known)
        powers = [(0 if power <= FINER else power) if exact else min(power, 0) for power in powers]
    else:
        weight = dict.fromkeys(values, 0.0)
        for unit, sample in zip(units, samples, strict=True):
            if unit is not None:
                weight[unit[0]] += sample.cumulants(theta)[2]
        common = max(weight, key=lambda value: weight[value], default=1.0)
        powers = [round(math.log2(step / common)) for step in wanted]
    return [math.ldexp(common, max(power, max(powers) - 60)) for power in powers]


def _unit(loss: Loss, sample: Sample) -> tuple[float, bool] | None:
    """Return a number of which all losses are multiples, and True; or only the largest one, an atom, and False."""
    if isinstance(loss, ResponseLoss):
        return loss.epsilon, True
    order, scale, whole = loss.law.order, loss.law.scale, loss.law.support == "integer"
    if whole and order == 2.0:
        return loss.size / scale**2, True
    if whole and order == 1.0 and loss.size <= MOST_UNITS:
        return 1.0 / scale, True
    if order < ATOMIC:
        return loss.size / scale if order == 1.0 else float(sample.losses.max()), False
    return None


def _common_divisor(values: Sequence[float]) -> Fraction | None:
    """Return the largest share of the largest value of which all are multiples; None where none is of use."""
    largest, divisor = max(values), Fraction(1)
    for value in values:
        share = Fraction(value / largest).limit_denominator(MOST_UNITS)
        if not math.isclose(float(share), value / largest, rel_tol=1e-9):
            return None
        while share:
            divisor, share = share, divisor % share
    return divisor


def _highest(sample: Sample, level: float) -> float:
    """Return a loss above which there is a mass of at most e^level."""
    losses, logs = sample.ranked()
    mass = np.cumsum(np.exp(logs)[::-1])[::-1]
    last = min(int(np.searchsorted(-mass, -math.exp(max(level, -700.0)))) + 1, len(mass) - 1)
    return float(losses[last])


def _layout(sample: Sample, theta: float, step: float, outside: float, least: float, high: float) -> LossLayout:
    """Return a grid up to `high` with so much tilted mass outside of its inner part, or below it."""
    losses, logs = sample.ranked()
    with np.errstate(all="ignore"):
        weights, _ = normalize(logs + theta * losses)
    below, above = np.cumsum(weights), np.cumsum(weights[::-1])[::-1]
    inner_low = losses[max(int(np.searchsorted(below, outside)) - 1, 0)]
    low = losses[max(int(np.searchsorted(below, least)) - 1, 0)]
    inner_high = losses[min(int(np.searchsorted(-above, -outside)) + 1, len(losses) - 1)]
    ends = [math.floor(low / step) - 1, math.floor(inner_low / step) - 1, math.ceil(inner_high / step) + 1]
    ends.append(max(math.ceil(high / step) + 1, ends[2]))
    first, inner_first, inner_last, last = (min(max(end, -MOST_KNOTS), MOST_KNOTS) for end in ends)
    return LossLayout(step=step, low=first, inner_low=inner_first, inner_high=inner_last, high=last)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SizeGrid:
    """How the coordinates of one size are put on a grid."""

    size: float  # how far each of these coordinates moves
    # Blocks of `count` coordinates are added on the grid of this size, and `copies` such blocks on the common grid.
    count: int
    copies: int
    halvings: int  # how often the common step is halved for the grid of this size
    # First and last knot, in steps of this grid.
    low: int
    high: int
    # The window of a block on the grid of this size; None where the coordinates are added on the common grid.
    window: Window | None


class Estimate(NamedTuple):
    """Delta, and the density of the sum of all losses at epsilon."""

    delta: float
    density: float


@np.errstate(all="ignore")
def estimate_delta(law: NoiseLaw, corner: Corner, epsilon: float, *, rough: bool = False) -> Estimate:
    """Estimate delta at epsilon, of coordinates that all move at once; a rough estimate is a quick one."""
    spend(GRID * len(corner))
    grid = _estimate_grid(law, corner, epsilon, rough=rough)
    if grid is None:
        return Estimate(1.0, 1.0)
    common, sizes, whole, theta, sparse = grid
    points = whole.points
    spend(POINT * (points + sum(size.high - size.low for size in sizes)))
    spectrum = np.ones(points // 2 + 1, dtype=np.complex128)
    level, infinite = -theta * epsilon, 0.0
    for size in sizes:
        step = common * 0.5**size.halvings
        masses, beyond = _masses(law, size, step, sparse=sparse)
        infinite += size.count * size.copies * math.log1p(-min(beyond, 1.0 - 1e-16))
        weights, log_total = normalize(np.log(masses) + theta * step * np.arange(size.low, size.high + 1))
        level += size.count * size.copies * log_total
        if size.window is None:
            spectrum *= spectrum_of(weights, size.low, points) ** size.count
            continue
        window = size.window
        block = np.fft.irfft(spectrum_of(weights, size.low, window.points) ** size.count, window.points)
        indices = np.arange(window.top - window.points + 1, window.top + 1, dtype=np.int64)
        block = np.maximum(block[indices % window.points], 0.0)
        # Tilted masses on the fine grid are split between their neighbours on the common one.
        coarse = indices >> size.halvings
        over = (indices - (coarse << size.halvings)) * step
        up = np.expm1(-over) / math.expm1(-common)
        weights = np.zeros(int(coarse[-1] - coarse[0]) + 2)
        np.add.at(weights, coarse - coarse[0], block * (1.0 - up) * np.exp(-theta * over))
        np.add.at(weights, coarse - coarse[0] + 1, block * up * np.exp(theta * (common - over)))
        spectrum *= spectrum_of(weights, int(coarse[0]), points) ** size.copies
    composed = np.fft.irfft(spectrum, points)
    first = math.floor(epsilon / common) + 1
    indices = np.arange(first, whole.top + 1)
    above = indices * common - epsilon
    terms = -np.expm1(-above) * composed[indices % points] * np.exp(-theta * above)
    height = math.exp(min(level, 0.0))
    near = composed[np.arange(first - NEAR, first + NEAR) % points].mean() / common
    return Estimate(height * max(float(terms.sum()), 0.0) - math.expm1(infinite), height * max(float(near), 0.0))


def _estimate_grid(
    law: NoiseLaw, corner: Corner, epsilon: float, *, rough: bool
) -> tuple[float, list[_SizeGrid], Window, float, bool] | None:
    """Choose the common step, a grid for each size, the window of the sum, its tilt, and whether knots are sparse.

    None where no finite grid can show a delta below 1.
    """
    coordinates, groups = sum(count for _, count in corner), len(corner)
    found = [sample_of(law, size, count) for size, count in corner]
    kept = [sample for sample in found if sample is not None]
    if len(kept) < len(found):
        return None
    # Losses so large that they may as well be infinite are left out.
    cap = epsilon + math.log(coordinates) - NEGLIGIBLE - log_delta(kept, saddle(kept, epsilon), epsilon)
    clipped, infinite = zip(*(clip_losses(sample, cap) for sample in kept), strict=True)
    samples = [sample for sample in clipped if sample is not None]
    if len(samples) < len(clipped):
        return None
    theta = saddle(samples, epsilon)
    level = min(max(log_delta(samples, theta, epsilon), math.log(sum(infinite) + 1e-300)), 0.0)
    # The logarithm of the mass that may be cut off.
    budget = level + NEGLIGIBLE
    cumulants = [sample.cumulants(theta) for sample in samples]
    variance = sum(part[2] for part in cumulants)
    # Very many coordinates of one size are added in blocks: two short transforms take the place of a long one.
    staged = groups == 1 and coordinates >= 1 << 14
    blocks = math.isqrt(coordinates) if staged else 1
    # The variance that a grid adds, relative to that of the sum: delta rises by about 1e-4 of itself. On a rough grid
    # the scale is about 1e-4 larger, at every order alike.
    added = 6e-5 * (1.0 if coordinates > FEW_COORDINATES else 0.125) * (5.0 if rough else 1.0)
    share = added * variance / (1 if groups == 1 and not staged else 2 * groups)
    ends = [ends_of(sample, budget) for sample in samples]
    # On the integers, below this scale, single losses carry much mass.
    lumpy = law.support == "integer" and law.scale < 200.0
    # The step whose added variance is the share, within what a transform can bear. Sizes of many coordinates get a
    # finer grid of their own where there are several sizes.
    span = max(high - low for low, high in ends)
    spreads = max([1, *(count for _, count in corner if count <= FEW_COORDINATES)])
    if groups == 1:
        spreads = blocks + 1 if staged else coordinates
    # Losses that hardly vary need no finer grid than those that just reach epsilon; near order 1 they are almost atoms.
    near = 1e-4 if law.order < ATOMIC else 1e-3
    floor = max(span / MOST_ESTIMATE_KNOTS, near * epsilon / math.sqrt(spreads * groups))
    base = min(max(math.sqrt(6.0 * share / spreads), floor), 0.02)
    if not rough:
        if theta > 0.0 and coordinates <= TAILED and law.order >= ATOMIC:
            # A far tail that is made by few coordinates falls by e^(-theta h) from knot to knot.
            base = min(base, max(math.sqrt(1e-4 * epsilon / theta), span / MOST_ESTIMATE_KNOTS))
        if lumpy:
            # A loss next to epsilon shows how far the grid has spread it.
            reach = sum(count * (high - low) for (low, high), (_, count) in zip(ends, corner, strict=True))
            reach = min(reach, 16.0 * math.sqrt(variance) + epsilon)
            base = min(base, max(2e-4 * epsilon, reach / MOST_ESTIMATE_KNOTS))
    if law.order < ATOMIC:
        # The atoms at the largest losses, which are D/b at order 1 and nearly proportional to D near it, are put on
        # knots: a sum of atoms that are off the grid spreads above epsilon although none of it is there.
        sizes = [size for size, _ in corner]
        unit = max(sizes) / law.scale if law.order == 1.0 else max(high for _, high in ends)
        unit *= float(_common_divisor(sizes) or 1)
        base = unit / math.ceil(unit / base)
    step = round_step(base)
    grids, highest = [], 0
    for sample, part, (low, high), (size, count) in zip(samples, cumulants, ends, corner, strict=True):
        halvings = _halvings(step, part, count, high - low, share) if groups > 1 or staged else 0
        fine = step * 0.5**halvings
        first, last = min(math.floor(low / fine) - 1, 0), max(math.ceil(high / fine) + 1, 0)
        # What the blocks leave over is a smaller block.
        parted = [(count // blocks, blocks), (count % blocks, 1)] if staged and halvings else [(count, 1)]
        for many, copies in parted:
            if not many:
                continue
            block, centre = replace(sample, count=many), part[1] * many / count
            lost = budget - math.log(copies)
            window = _window([block], fine, lost, 0.0, centre, many * last) if halvings else None
            highest += copies * (many * last if window is None else (window.top >> halvings) + 1)
            grids.append(
                _SizeGrid(size=size, count=many, copies=copies, halvings=halvings, low=first, high=last, window=window)
            )
    window = _window(samples, step, budget, theta, epsilon, highest)
    # Where many coordinates add up, nothing is lost if knots far from 0 lie apart by a 150th of the loss.
    return step, grids, window, theta, coordinates > TAILED and not lumpy


def _halvings(step: float, cumulants: tuple[float, float, float], count: int, span: float, share: float) -> int:
    """Return how often a step is halved until what a size adds to the variance is within its share."""
    spread = math.sqrt(cumulants[2] / count) + abs(cumulants[1]) / count
    halvings = 0
    while (
        halvings < 40
        and count > FEW_COORDINATES
        and span < MOST_ESTIMATE_KNOTS * step * 0.5**halvings
        and count * min((fine := step * 0.5**halvings) ** 2 / 6.0, fine * spread) > share * 1.0001
    ):
        halvings += 1
    return halvings


def _window(samples: Sequence[Sample], step: float, budget: float, theta: float, centre: float, highest: int) -> Window:
    """Return a window outside of which the sum has at most e^budget on either side; no knot is above `highest`."""
    least = sum(s.count * float(s.losses.min()) for s in samples)
    top, tilt, bottom = chernoff_ends(samples, theta, budget)
    last = min(math.ceil(max(top, centre) / step) + 2, max(highest, math.floor(centre / step) + 2))
    bottom = min(max(bottom, least), last * step)
    wanted = last - math.floor(bottom / step) + 3
    return Window(top=last, points=smooth_length(wanted), tilt=tilt)


def chernoff_ends(samples: Sequence[Sample], theta: float, budget: float) -> tuple[float, float, float]:
    """Return the top above which a sum has a mass of at most e^budget, the tilt that shows it, and the bottom."""
    spread = math.sqrt(total_cumulants(samples, theta)[2]) + 1e-300
    plain = math.sqrt(total_cumulants(samples, 0.0)[2]) + 1e-300
    above, below = theta + TILTS / spread, TILTS / plain
    tops = (log_moments(samples, above) - budget) / above
    best = int(np.argmin(tops))
    bottom = ((budget - log_moments(samples, -below)) / below).max()
    return float(tops[best]), float(above[best]), float(bottom)


def smooth_length(wanted: int) -> int:
    """Return the least 2^a, 3 2^a or 5 2^a that is at least `wanted` and 16: lengths with a fast transform."""
    exponent = max((wanted - 1).bit_length(), 4)
    return min(n for n in (5 << exponent - 3, 3 << exponent - 2, 1 << exponent) if n >= wanted)


def round_step(step: float) -> float:
    """Return the step rounded up to 24 bits, so that multiples of it by indices are exact floats."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.ceil(mantissa * 2.0**24), exponent - 24)


def _thresholds(law: NoiseLaw, size: float, levels: Floats) -> Floats:
    """Return where the loss passes the levels, in units of the scale."""
    shift = size / law.scale
    z = crossings(law.order, shift, levels, largest=FAR ** (1.0 / law.order))
    if law.order == 1.0:
        # All noise from 0 upwards has the one loss d, so a knot within rounding of it belongs at 0.
        z = np.where(np.abs(levels / shift - 1.0) < 1e-12, 0.0, z)
    return z


def first_above(law: NoiseLaw, size: float, levels: Floats) -> Floats:
    """Return the least integer noise whose loss is above each level, about."""
    if law.scale >= SMALL_SCALE:
        return np.floor(_thresholds(law, size, levels) * law.scale) + 1.0
    reach = math.ceil(FAR ** (1.0 / law.order) * law.scale) + 1
    noises = np.arange(-reach - math.ceil(size), reach + 1.0)
    losses = loss_estimates(law.order, noises / law.scale, size / law.scale)
    # A loss that is a level but for its rounding is not above it.
    return np.asarray(noises[0] + np.searchsorted(np.maximum.accumulate(losses), levels * (1.0 + 1e-14), side="right"))


def _masses(law: NoiseLaw, size: _SizeGrid, step: float, *, sparse: bool) -> tuple[Floats, float]:
    """Return masses on the knots by connecting the dots, and the mass above the highest knot."""
    knots = np.arange(size.low, size.high + 1, dtype=np.int64)
    if sparse:
        sides = [0], [0]
        for side, end in zip(sides, (-size.low, size.high), strict=True):
            while side[-1] < end:
                side.append(min(side[-1] + max(side[-1] // 150, 1), end))
        knots = np.array([*(-index for index in reversed(sides[0])), *sides[1][1:]], dtype=np.int64)
    levels = step * knots.astype(np.float64)
    if law.support == "integer":
        k = first_above(law, size.size, levels)
        first, second = (integer_tails_estimate(law.order, law.scale, at) for at in (k, k + size.size))
    else:
        z = _thresholds(law, size.size, levels)
        first, second = (survival_estimate(law.order, at) for at in (z, z + size.size / law.scale))
    here, there = first[:-1] - first[1:], second[:-1] - second[1:]
    up = (here - np.exp(levels[:-1]) * there) / -np.expm1(-np.diff(levels))
    up = np.clip(np.nan_to_num(up), 0.0, here)
    masses = np.zeros(size.high - size.low + 1)
    masses[knots[:-1] - size.low] += here - up
    masses[knots[1:] - size.low] += up
    masses[0] += 1.0 - first[0]
    return np.maximum(masses, 0.0), float(first[-1])


def spectrum_of(weights: Floats, low: int, points: int) -> NDArray[np.complex128]:
    """Return the transform of masses that are put on a circle from the index `low` on."""
    circular = np.zeros(points)
    np.add.at(circular, (low + np.arange(len(weights))) % points, weights)
    return np.fft.rfft(circular)
