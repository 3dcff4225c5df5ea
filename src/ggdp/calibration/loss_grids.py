"""Where losses are discretized, chosen in floats, and delta estimated on such grids. Nothing here is trusted.

===========  ====================================================================================
theta        the tilt: root of K'(theta) = epsilon, see `ggdp.calibration.loss_samples`
V            variance of the tilted sum
W            spread of all splits, the sum of gap^2 / 8: it adds about 2 W to V, and upper and lower
             bound are about 6 theta (1 + theta) W apart, relative to delta
h            step of an estimate's grid; it adds about h^2/6 to the variance of each coordinate
===========  ====================================================================================

`plan_total` and `plan_upper` choose the grids of a proof, whose bounds are to be close to each other or to delta.
`estimate_delta` chooses a coarser one and convolves on it in floats, tilted so that small deltas keep their digits: it
makes the search for a scale fast.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ggdp._work import spend
from ggdp.calibration.loss_samples import (
    FAR,
    SMALL_SCALE,
    Sample,
    clip_losses,
    crossings,
    ends_of,
    integer_tails_estimate,
    log_delta,
    log_moments,
    loss_estimates,
    normalize,
    saddle,
    sample_of,
    survival_estimate,
    total_cumulants,
)
from ggdp.proofs.layouts import MOST_KNOTS, LossLayout, Window
from ggdp.proofs.losses import LaidLoss, ResponseLoss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ggdp.calibration.loss_samples import Floats
    from ggdp.proofs.losses import Loss
    from ggdp.proofs.noise_law import NoiseLaw
    from ggdp.proofs.several_coordinates import Corner

# Relative distance of the upper from the lower bound of delta that is aimed at.
DISTANCE = 2.2e-5
# Distance over theta (1 + theta) W.
PER_SPREAD = 6.0
# Losses so many times as large as those that are as good as infinite are counted as infinite.
FAR_ABOVE = 10.0
# The largest spread relative to the variance, where no loss near epsilon shows how much there may be.
COARSEST = 1e-5
# Few losses get steps as fine as this, at which accountants that round losses up are at their best; with so many knots
# at most. Atoms alone are discretized in less time than densities.
FINE, MOST_FINE = 5e-5, 1 << 17
FINE_ATOMS, MOST_FINE_ATOMS = 3.5e-5, 3 << 17
# The part of the spread that single losses may have; the rest is that of coarser grids for sums.
SINGLE = 0.6
# The window of a sum, in standard deviations.
WINDOW = 15.0
# Tilted mass outside of the inner part of a grid: for all coordinates together where a lower bound is wanted too, else
# for one, less by the square root of their number.
OUTSIDE, OUTSIDE_OF_ONE = 1e-8, 1e-2
# Tilted mass below the grid; mass above it, relative to delta.
BELOW, ABOVE, ABOVE_UPPER = 1e-11, 1e-9, 1e-7
LEAST_POINTS, MOST_POINTS = 1 << 12, 1 << 17
# The tilted variance is at least this part of the variance without a tilt.
LEAST_VARIANCE = 0.02
# Steps from 0 to the largest loss of a coordinate.
MOST_STEPS = 1 << 17
# The tilt times the largest loss: a steeper tilt cannot be needed.
MOST_TILTED = 1e5
# Below this order the largest losses of a coordinate are almost one atom, which belongs on a knot.
ATOMIC = 1.02
# Losses have a common unit if they are multiples of it up to this one.
MOST_UNITS = 4096
# How much finer than wanted a grid may be for the sake of a common unit, as a power of two; how much steps may differ.
FINER, FARTHEST = 3, 60

# Of estimates: added variance relative to that of the sum; delta then rises by about 1e-4 of itself.
ADDED_VARIANCE = 6e-5
# How much more of it a rough grid adds; the scale is then about 1e-4 larger, at every order alike.
ROUGHER = 5.0
LARGEST_STEP = 0.02
# What is cut off at the ends of a grid, relative to delta.
NEGLIGIBLE = math.log(1e-8)
# A transform of more knots takes long.
MOST_ESTIMATE_KNOTS = 1 << 15
# Up to so many coordinates the grid is finer: the transform is short.
FEW_COORDINATES = 16
# On the integers, below this scale, single losses carry much mass.
LUMPY_SCALE, LUMPY_STEP = 200.0, 2e-4
# Knots far from 0 lie apart by a 150th of their loss where a grid is sparse.
SPARSENESS = 150
# From so many coordinates of one size on, blocks of them are added first.
STAGED = 1 << 14
# Tilts of Chernoff bounds that are tried, in units of the spread of the sum.
TILTS = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 13.0, 18.0, 30.0])
# Up to so many coordinates a far tail is made by few of them.
TAILED = 100
# A loss that is a level but for its rounding is not above it.
ROUNDING = 1e-14
# How many knots on either side of epsilon show the density.
NEAR = 8
# Units of work of an estimate: for each size, and for each point.
GRID, POINT = 800, 0.15


@dataclass(frozen=True, slots=True)
class TotalPlan:
    """A layout for the sum of all losses."""

    parts: tuple[LaidLoss, ...]
    tilt: float
    tail: float
    points: int


def sample_losses(losses: Sequence[tuple[Loss, int]]) -> list[Sample] | None:
    """Return a sample of each loss; None where a loss is beyond the floats."""
    found: list[Sample] = []
    for loss, count in losses:
        if isinstance(loss, ResponseLoss):
            truth = -math.log1p(math.exp(-loss.epsilon))
            masses = np.array([truth - loss.epsilon, truth])
            found.append(Sample(np.array([-loss.epsilon, loss.epsilon]), masses, count))
        elif (sample := sample_of(loss.law, loss.size, count)) is not None:
            found.append(sample)
    return found if len(found) == len(losses) else None


def plan_total(
    losses: Sequence[tuple[Loss, int]],
    samples: Sequence[Sample],
    epsilon: float,
    *,
    finer: float = 1.0,
    ratio: float = 0.0,
) -> TotalPlan:
    """Choose tilt, steps and windows for both bounds of delta at epsilon.

    `ratio` is the density of the sum at epsilon over delta, where it is known.
    """
    samples = _without_largest(samples, epsilon, FAR_ABOVE)
    theta = spread_tilt(samples, saddle_tilt(samples, epsilon))
    variances = [sample.cumulants(theta)[2] / sample.count for sample in samples]
    slope = max(theta, 1.0 / math.sqrt(sum(sample.cumulants(theta)[2] for sample in samples)))
    spread = DISTANCE / (PER_SPREAD * max(slope * (1.0 + slope), ratio)) / finer**2
    # Fine steps where they take few knots.
    atoms = all(isinstance(loss, ResponseLoss) or loss.law.support == "integer" for loss, _ in losses)
    fine, most = (FINE_ATOMS, MOST_FINE_ATOMS) if atoms else (FINE, MOST_FINE)
    total = math.sqrt(sum(sample.count * variance for sample, variance in zip(samples, variances, strict=True)))
    number = sum(count for _, count in losses)
    if WINDOW * (sum(map(math.sqrt, variances)) + total) / fine <= most:
        spread = min(spread, number * fine**2 / 8.0 / finer**2)
    return _plan(losses, samples, epsilon, theta, spread, OUTSIDE / number, ABOVE)


def plan_upper(
    losses: Sequence[tuple[Loss, int]], samples: Sequence[Sample], epsilon: float, spread: float
) -> TotalPlan:
    """Choose tilt, steps and windows for the upper bound of delta at epsilon alone, with a given spread W.

    It is then above delta by about 2/3 W times the density of the sum at epsilon.
    """
    samples = _without_largest(samples, epsilon, 1.0)
    theta = saddle_tilt(samples, epsilon)
    outside = OUTSIDE_OF_ONE / math.sqrt(sum(sample.count for sample in samples))
    most = COARSEST * sum(sample.cumulants(theta)[2] for sample in samples)
    return _plan(losses, samples, epsilon, theta, min(spread, most), outside, ABOVE_UPPER)


def _without_largest(samples: Sequence[Sample], epsilon: float, farther: float) -> list[Sample]:
    """Return samples without losses so large that they may as well be infinite, for the upper bound at least."""
    number = sum(sample.count for sample in samples)
    cap = epsilon - math.log(ABOVE / number) - log_delta(samples, saddle(samples, epsilon), epsilon)
    return [clip_losses(sample, farther * cap)[0] or sample for sample in samples]


def saddle_tilt(samples: Sequence[Sample], epsilon: float) -> float:
    """Return the tilt for an epsilon."""
    return min(saddle(samples, epsilon), MOST_TILTED / max(float(np.abs(sample.losses).max()) for sample in samples))


def spread_tilt(samples: Sequence[Sample], theta: float) -> float:
    """Return a tilt that leaves some variance: near the largest possible sum the saddle point puts all mass on it."""
    least = LEAST_VARIANCE * total_cumulants(samples, 0.0)[2]
    if total_cumulants(samples, theta)[2] >= least:
        return theta
    low, high = 0.0, theta
    while high - low > 0.01 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if total_cumulants(samples, middle)[2] >= least else (low, middle)
    return low


def _plan(
    losses: Sequence[tuple[Loss, int]],
    samples: Sequence[Sample],
    epsilon: float,
    theta: float,
    spread: float,
    outside: float,
    cut: float,
) -> TotalPlan:
    """Choose steps and windows for a tilt and a spread.

    Each grid has so much tilted mass `outside` of its inner part, and a mass above it of the share `cut` of delta.
    """
    number = sum(count for _, count in losses)
    above = log_delta(samples, theta, epsilon) + math.log(cut / number)
    highs = [_highest(sample, above) for sample in samples]
    steps = _steps(losses, samples, theta, spread, [high / MOST_STEPS for high in highs])
    parts = tuple(
        LaidLoss(loss, count, _layout(sample, theta, step, outside, BELOW / number, high))
        for (loss, count), sample, step, high in zip(losses, samples, steps, highs, strict=True)
    )
    variance = sum(sample.cumulants(theta)[2] for sample in samples)
    levels = max(math.log(number, 4.0), 1.0)
    points = WINDOW * math.sqrt(variance * levels / (8.0 * (1.0 - SINGLE) * spread))
    points = min(max(math.ceil(points), LEAST_POINTS), MOST_POINTS)
    # What is cut off a sum is multiplied by the number of such sums in the total.
    return TotalPlan(parts, theta, above - math.log(4.0), points)


def _steps(
    losses: Sequence[tuple[Loss, int]],
    samples: Sequence[Sample],
    theta: float,
    spread: float,
    least: Sequence[float],
) -> list[float]:
    """Return steps that differ by powers of two, none far below the least, with few knots for the spread."""
    # With knots in proportion to deviation / step, and count * step^2 / 8 adding up to the spread.
    deviations = [math.sqrt(sample.cumulants(theta)[2] / sample.count) + 1e-300 for sample in samples]
    shares = [(deviation / sample.count) ** (1.0 / 3.0) for deviation, sample in zip(deviations, samples, strict=True)]
    added = sum(sample.count * share**2 for share, sample in zip(shares, samples, strict=True))
    height = math.sqrt(8.0 * SINGLE * spread / added)
    wanted = [max(height * share, floor) for share, floor in zip(shares, least, strict=True)]
    units = [_unit(loss, sample) for (loss, _), sample in zip(losses, samples, strict=True)]
    known = [unit for unit in units if unit is not None]
    values = {unit.value for unit in known}
    divisor = _common_divisor([unit.value for unit in known]) if len(known) == len(units) else None
    common = None if divisor is None else max(values) * float(divisor)
    if common is not None and (len(values) == 1 or common * 2.0**FINER >= min(wanted)):
        powers = [round(math.log2(step / common)) for step in wanted]
        # On the unit itself nothing is split; a grid a little coarser would be worse. Atoms want a part of it.
        exact = all(unit.lattice for unit in known)
        powers = [(0 if power <= FINER else power) if exact else min(power, 0) for power in powers]
    else:
        weight = {one.value: 0.0 for one in known}
        for one, sample in zip(units, samples, strict=True):
            if one is not None:
                weight[one.value] += sample.cumulants(theta)[2]
        common = max(weight, key=lambda value: weight[value], default=1.0)
        powers = [round(math.log2(step / common)) for step in wanted]
    return [math.ldexp(common, max(power, max(powers) - FARTHEST)) for power in powers]


class _Unit(NamedTuple):
    """A number of which all losses are multiples, or of which the largest loss, which is an atom, is one."""

    value: float
    lattice: bool


def _unit(loss: Loss, sample: Sample) -> _Unit | None:
    if isinstance(loss, ResponseLoss):
        return _Unit(loss.epsilon, lattice=True)
    order, scale, whole = loss.law.order, loss.law.scale, loss.law.support == "integer"
    if whole and order == 2.0:
        return _Unit(loss.size / scale**2, lattice=True)
    if whole and order == 1.0 and loss.size <= MOST_UNITS:
        return _Unit(1.0 / scale, lattice=True)
    if order < ATOMIC:
        return _Unit(loss.size / scale if order == 1.0 else float(sample.losses.max()), lattice=False)
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
    # Whether knots far from 0 lie apart by a 150th of the loss: nothing is lost where many coordinates add up.
    sparse: bool
    # The window of a block on the grid of this size; None where the coordinates are added on the common grid.
    window: Window | None

    def knots(self) -> list[int]:
        """Return the indices of the knots in use, from low to high."""
        if not self.sparse:
            return list(range(self.low, self.high + 1))
        sides = []
        for end in (-self.low, self.high):
            index, side = 0, []
            while index < end:
                index = min(index + max(index // SPARSENESS, 1), end)
                side.append(index)
            sides.append(side)
        return [-index for index in reversed(sides[0])] + [0] + sides[1]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grid:
    """The common grid of an estimate: its step, a grid for each size, the window of the sum, and its tilt."""

    step: float
    sizes: tuple[_SizeGrid, ...]
    window: Window
    tilt: float


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
    points, theta = grid.window.points, grid.tilt
    spend(POINT * (points + sum(size.high - size.low for size in grid.sizes)))
    spectrum = np.ones(points // 2 + 1, dtype=np.complex128)
    level, infinite = -theta * epsilon, 0.0
    for size in grid.sizes:
        step = grid.step * 0.5**size.halvings
        masses, beyond = _masses(law, size, step)
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
        weights, low = _coarsen(block, indices, size.halvings, step, theta)
        spectrum *= spectrum_of(weights, low, points) ** size.copies
    composed = np.fft.irfft(spectrum, points)
    first = math.floor(epsilon / grid.step) + 1
    indices = np.arange(first, grid.window.top + 1)
    above = indices * grid.step - epsilon
    terms = -np.expm1(-above) * composed[indices % points] * np.exp(-theta * above)
    height = math.exp(min(level, 0.0))
    near = composed[np.arange(first - NEAR, first + NEAR) % points].mean() / grid.step
    return Estimate(height * max(float(terms.sum()), 0.0) - math.expm1(infinite), height * max(float(near), 0.0))


def _estimate_grid(law: NoiseLaw, corner: Corner, epsilon: float, *, rough: bool) -> _Grid | None:
    """Choose grids and windows of an estimate; None where no finite grid can show a delta below 1."""
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
    staged = groups == 1 and coordinates >= STAGED
    blocks = math.isqrt(coordinates) if staged else 1
    added = ADDED_VARIANCE * (1.0 if coordinates > FEW_COORDINATES else 0.125) * (ROUGHER if rough else 1.0)
    share = added * variance / (1 if groups == 1 and not staged else 2 * groups)
    ends = [ends_of(sample, budget) for sample in samples]
    lumpy = law.support == "integer" and law.scale < LUMPY_SCALE
    base = _base_step(corner if not staged else ((corner[0][0], blocks + 1),), ends, share, epsilon, law.order)
    if not rough:
        if theta > 0.0 and coordinates <= TAILED and law.order >= ATOMIC:
            # A far tail that is made by few coordinates falls by e^(-theta h) from knot to knot.
            span = max(high - low for low, high in ends)
            base = min(base, max(math.sqrt(1e-4 * epsilon / theta), span / MOST_ESTIMATE_KNOTS))
        if lumpy:
            # A loss next to epsilon shows how far the grid has spread it.
            reach = sum(count * (high - low) for (low, high), (_, count) in zip(ends, corner, strict=True))
            reach = min(reach, 16.0 * math.sqrt(variance) + epsilon)
            base = min(base, max(LUMPY_STEP * epsilon, reach / MOST_ESTIMATE_KNOTS))
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
            sparse = coordinates > TAILED and not lumpy
            grids.append(
                _SizeGrid(
                    size=size,
                    count=many,
                    copies=copies,
                    halvings=halvings,
                    low=first,
                    high=last,
                    sparse=sparse,
                    window=window,
                )
            )
    window = _window(samples, step, budget, theta, epsilon, highest)
    return _Grid(step=step, sizes=tuple(grids), window=window, tilt=theta)


def _base_step(
    corner: Corner, ends: Sequence[tuple[float, float]], share: float, epsilon: float, order: float
) -> float:
    """Return the step whose added variance is `share`, within what a transform can bear."""
    # Sizes of many coordinates get a finer grid of their own where there are several sizes.
    spreads = corner[0][1] if len(corner) == 1 else max([1, *(n for _, n in corner if n <= FEW_COORDINATES)])
    span = max(high - low for low, high in ends)
    # Losses that hardly vary need no finer grid than those that just reach epsilon; near order 1 they are almost atoms.
    near = 1e-4 if order < ATOMIC else 1e-3
    floor = max(span / MOST_ESTIMATE_KNOTS, near * epsilon / math.sqrt(spreads * len(corner)))
    return min(max(math.sqrt(6.0 * share / spreads), floor), LARGEST_STEP)


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
    return np.asarray(
        noises[0] + np.searchsorted(np.maximum.accumulate(losses), levels * (1.0 + ROUNDING), side="right")
    )


def _masses(law: NoiseLaw, size: _SizeGrid, step: float) -> tuple[Floats, float]:
    """Return masses on the knots by connecting the dots, and the mass above the highest knot."""
    knots = np.array(size.knots(), dtype=np.int64)
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


def _coarsen(
    weights: Floats, indices: NDArray[np.int64], halvings: int, step: float, theta: float
) -> tuple[Floats, int]:
    """Split tilted masses on the fine grid between their neighbours on the coarse one."""
    factor = 1 << halvings
    coarse = indices // factor
    over = (indices - coarse * factor) * step
    wide = step * factor
    up = np.expm1(-over) / math.expm1(-wide)
    low = int(coarse[0])
    result = np.zeros(int(coarse[-1]) - low + 2)
    np.add.at(result, coarse - low, weights * (1.0 - up) * np.exp(-theta * over))
    np.add.at(result, coarse - low + 1, weights * up * np.exp(theta * (wide - over)))
    return result, low
