"""Which grid and window an estimate of a corner's delta should use. Nothing here is trusted.

===========  ====================================================================================
theta        the tilt of the losses' cumulants, see `ggdp.calibration.sampled_loss`
h            step of the loss grid; a step of h adds about h^2/6 to the variance of each coordinate
===========  ====================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from ggdp.calibration.sampled_loss import clipped_at, ends_of, log_delta, log_moments, saddle, sample_of, summed
from ggdp.proofs.layouts import Window

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.calibration.sampled_loss import Sample
    from ggdp.proofs.corner import Corner
    from ggdp.proofs.noise_law import NoiseLaw

# Added variance relative to that of the sum: delta then rises by about 1e-4 of itself.
ADDED_VARIANCE = 6e-5
# How much more of it a rough layout adds; the scale is then about 1e-4 larger, at every order alike.
ROUGHER = 5.0
LARGEST_STEP = 0.02
# What is cut off at the ends of a grid, relative to delta.
NEGLIGIBLE = math.log(1e-8)
# A transform of more knots takes a second or more in balls.
MOST_KNOTS = 1 << 15
# Up to so many coordinates the grid is finer: the transform is short.
FEW = 16
# On the integers, below this scale, single losses carry much mass.
LUMPY_SCALE = 200.0
LUMPY_STEP = 2e-4
# Below this order the largest losses of a coordinate are almost one atom.
ATOMIC = 1.02
MOST_UNITS = 4096
# Knots far from 0 lie apart by a 150th of their loss where a grid is sparse.
SPARSENESS = 150
# From so many coordinates of one size on, blocks of them are added first.
STAGED = 1 << 14
# Tilts of Chernoff bounds that are tried, in units of the spread of the sum.
TILTS = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 13.0, 18.0, 30.0])
# Up to so many coordinates a far tail is made by few of them.
TAILED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeGrid:
    """How the coordinates of one size are laid on a grid.

    Attributes
    ----------
    size : float
        How far each of these coordinates moves.
    count, copies : int
        Blocks of `count` coordinates are added on the grid of this size, and `copies` such blocks on the common grid.
    halvings : int
        How often the common step is halved for the grid of this size.
    low, high : int
        First and last knot, in steps of this grid.
    sparse : bool
        Whether knots far from 0 lie apart by a 150th of the loss: nothing is lost where many coordinates add up.
    window : Window, optional
        The window of a block on the grid of this size; None where the coordinates are added on the common grid.
    """

    size: float
    count: int
    copies: int
    halvings: int
    low: int
    high: int
    sparse: bool
    window: Window | None

    def knots(self) -> list[int]:
        """Return the indices of the knots in use, from low to high."""
        if not self.sparse:
            return list(range(self.low, self.high + 1))
        below, above = ([*_sparse(end)] for end in (-self.low, self.high))
        return [-index for index in reversed(below)] + [0] + above


def _sparse(end: int) -> list[int]:
    """Return indices from 1 to `end` that lie apart by one, or by a 150th of their distance from 0."""
    index, side = 0, []
    while index < end:
        index = min(index + max(index // SPARSENESS, 1), end)
        side.append(index)
    return side


@dataclass(frozen=True, slots=True, kw_only=True)
class CornerGrid:
    """The common grid of a corner: its step, a grid for each size, the window of the sum, and its tilt."""

    step: float
    sizes: tuple[SizeGrid, ...]
    window: Window
    tilt: float


@dataclass(frozen=True, slots=True)
class _Losses:
    """Samples of the losses of each size, cut off where they do not matter, and what is known of their sum."""

    samples: tuple[Sample, ...]
    theta: float
    level: float

    @property
    def budget(self) -> float:
        """The logarithm of the mass that may be cut off."""
        return self.level + NEGLIGIBLE


def corner_grid(law: NoiseLaw, corner: Corner, epsilon: float, *, rough: bool = False) -> CornerGrid | None:
    """Choose grids and windows; None where no finite grid can show a delta below 1. A rough grid is a quick one."""
    losses = _losses(law, corner, epsilon)
    if losses is None:
        return None
    cumulants = [sample.cumulants(losses.theta) for sample in losses.samples]
    variance = sum(part[2] for part in cumulants)
    coordinates, groups = sum(count for _, count in corner), len(corner)
    # Very many coordinates of one size are added in blocks: two short transforms take the place of a long one.
    staged = groups == 1 and coordinates >= STAGED
    blocks = math.isqrt(coordinates) if staged else 1
    added = ADDED_VARIANCE * (1.0 if coordinates > FEW else 0.125) * (ROUGHER if rough else 1.0)
    share = added * variance / (1 if groups == 1 and not staged else 2 * groups)
    ends = [ends_of(sample, losses.budget) for sample in losses.samples]
    lumpy = law.support == "integer" and law.scale < LUMPY_SCALE
    base = _base_step(corner if not staged else ((corner[0][0], blocks + 1),), ends, share, epsilon, law.order)
    if not rough:
        base = _finer(base, losses, ends, corner, epsilon, variance, law.order, lumpy=lumpy)
    step = rounded_step(_aligned(base, corner, ends, law))
    sizes, highest = [], 0
    for sample, part, (low, high), (size, count) in zip(losses.samples, cumulants, ends, corner, strict=True):
        halvings = _halvings(step, part, count, high - low, share) if groups > 1 or staged else 0
        fine = step * 0.5**halvings
        first, last = min(math.floor(low / fine) - 1, 0), max(math.ceil(high / fine) + 1, 0)
        # What the blocks leave over is a smaller block.
        parted = [(count // blocks, blocks), (count % blocks, 1)] if staged and halvings else [(count, 1)]
        for many, copies in parted:
            if not many:
                continue
            block, centre = replace(sample, count=many), part[1] * many / count
            lost = losses.budget - math.log(copies)
            window = _window([block], fine, lost, 0.0, centre, many * last) if halvings else None
            highest += copies * (many * last if window is None else (window.top >> halvings) + 1)
            sizes.append(
                SizeGrid(
                    size=size,
                    count=many,
                    copies=copies,
                    halvings=halvings,
                    low=first,
                    high=last,
                    sparse=coordinates > TAILED and not lumpy,
                    window=window,
                )
            )
    window = _window(losses.samples, step, losses.budget, losses.theta, epsilon, highest)
    return CornerGrid(step=step, sizes=tuple(sizes), window=window, tilt=losses.theta)


def _losses(law: NoiseLaw, corner: Corner, epsilon: float) -> _Losses | None:
    """Sample the losses of each size, without those so large that they may as well be infinite."""
    samples = [sample_of(law, size, count) for size, count in corner]
    kept = [sample for sample in samples if sample is not None]
    if len(kept) < len(samples):
        return None
    coordinates = sum(count for _, count in corner)
    cap = epsilon + math.log(coordinates) - NEGLIGIBLE - log_delta(kept, saddle(kept, epsilon), epsilon)
    clipped, infinite = zip(*(clipped_at(sample, cap) for sample in kept), strict=True)
    if any(sample is None for sample in clipped):
        return None
    theta = saddle(clipped, epsilon)
    level = min(max(log_delta(clipped, theta, epsilon), math.log(sum(infinite) + 1e-300)), 0.0)
    return _Losses(clipped, theta, level)


def _finer(
    base: float,
    losses: _Losses,
    ends: Sequence[tuple[float, float]],
    corner: Corner,
    epsilon: float,
    variance: float,
    order: float,
    *,
    lumpy: bool,
) -> float:
    """Return a step that is fine enough for far tails made by few coordinates, and for single losses of much mass."""
    if losses.theta > 0.0 and sum(count for _, count in corner) <= TAILED and order >= ATOMIC:
        # A far tail that is made by few coordinates falls by e^(-theta h) from knot to knot.
        span = max(high - low for low, high in ends)
        base = min(base, max(math.sqrt(1e-4 * epsilon / losses.theta), span / MOST_KNOTS))
    if lumpy:
        # A loss next to epsilon shows how far the grid has spread it.
        reach = sum(count * (high - low) for (low, high), (_, count) in zip(ends, corner, strict=True))
        reach = min(reach, 16.0 * math.sqrt(variance) + epsilon)
        base = min(base, max(LUMPY_STEP * epsilon, reach / MOST_KNOTS))
    return base


def _halvings(step: float, cumulants: tuple[float, float, float], count: int, span: float, share: float) -> int:
    """Return how often a step is halved until what a size adds to the variance is within its share."""
    spread = math.sqrt(cumulants[2] / count) + abs(cumulants[1]) / count
    halvings = 0
    while (
        halvings < 40
        and count > FEW
        and span < MOST_KNOTS * step * 0.5**halvings
        and count * min((fine := step * 0.5**halvings) ** 2 / 6.0, fine * spread) > share * 1.0001
    ):
        halvings += 1
    return halvings


def _base_step(
    corner: Corner, ends: Sequence[tuple[float, float]], share: float, epsilon: float, order: float
) -> float:
    """The step whose added variance is `share`, within what a transform can bear."""
    # Sizes of many coordinates get a finer grid of their own where there are several sizes.
    spreads = corner[0][1] if len(corner) == 1 else max([1, *(count for _, count in corner if count <= FEW)])
    span = max(high - low for low, high in ends)
    # Losses that hardly vary need no finer grid than those that just reach epsilon; near order 1 they are almost atoms.
    near = 1e-4 if order < ATOMIC else 1e-3
    floor = max(span / MOST_KNOTS, near * epsilon / math.sqrt(spreads * len(corner)))
    return min(max(math.sqrt(6.0 * share / spreads), floor), LARGEST_STEP)


def _aligned(base: float, corner: Corner, ends: Sequence[tuple[float, float]], law: NoiseLaw) -> float:
    """The step, made smaller so that the atoms at the largest losses of order 1, or almost atoms near it, are on knots.

    A sum of atoms that are off the grid spreads above epsilon although none of it is there.
    """
    if law.order >= ATOMIC:
        return base
    largest, divisor = max(size for size, _ in corner), Fraction(1)
    for size, _ in corner:
        share = Fraction(size / largest).limit_denominator(MOST_UNITS)
        if not math.isclose(float(share), size / largest, rel_tol=1e-9):
            divisor = Fraction(1)
            break
        divisor = _common_divisor(share, divisor)
    # The largest loss of a coordinate is D/b at order 1, and nearly proportional to D near it.
    unit = float(divisor) * (largest / law.scale if law.order == 1.0 else max(high for _, high in ends))
    return unit / math.ceil(unit / base)


def _common_divisor(a: Fraction, b: Fraction) -> Fraction:
    while b:
        a, b = b, a % b
    return a


def _window(samples: Sequence[Sample], step: float, budget: float, theta: float, centre: float, highest: int) -> Window:
    """A window outside of which the sum has a mass of at most e^budget on either side; no knot is above `highest`."""
    spread = math.sqrt(summed(samples, theta)[2]) + 1e-300
    plain = math.sqrt(summed(samples, 0.0)[2]) + 1e-300
    least = sum(s.count * float(s.losses.min()) for s in samples)
    top, tilt, bottom = chernoff_ends(samples, theta, spread, plain, budget)
    last = min(math.ceil(max(top, centre) / step) + 2, max(highest, math.floor(centre / step) + 2))
    bottom = min(max(bottom, least), last * step)
    wanted = last - math.floor(bottom / step) + 3
    return Window(top=last, points=smooth_length(wanted), tilt=tilt)


def chernoff_ends(
    samples: Sequence[Sample], theta: float, spread: float, plain: float, budget: float
) -> tuple[float, float, float]:
    """Return the top above which a sum has a mass of at most e^budget, the tilt that shows it, and the bottom."""
    above, below = theta + TILTS / spread, TILTS / plain
    tops = (log_moments(samples, above) - budget) / above
    best = int(np.argmin(tops))
    bottom = ((budget - log_moments(samples, -below)) / below).max()
    return float(tops[best]), float(above[best]), float(bottom)


def smooth_length(wanted: int) -> int:
    """Return the least 2^a, 3 2^a or 5 2^a that is at least `wanted` and 16: lengths with a fast transform."""
    exponent = max((wanted - 1).bit_length(), 4)
    return min(n for n in (5 << exponent - 3, 3 << exponent - 2, 1 << exponent) if n >= wanted)


def rounded_step(step: float) -> float:
    """Return the step with 24 bits only, so that multiples of it by indices are exact floats."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.ceil(mantissa * 2.0**24), exponent - 24)
