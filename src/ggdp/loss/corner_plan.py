"""Which grid and window a proof of a corner's delta should use, chosen in floats.

Nothing here is trusted: a plan decides how tight a proof is, never whether it holds.

===========  ====================================================================================
theta        the tilt of the losses' cumulants, see `ggdp.loss.sampled_loss`
h            step of the loss grid; a step of h adds about h^2/6 to the variance of each coordinate
===========  ====================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.loss.crossing import crossings
from ggdp.loss.sampled_loss import FAR, Sample, clipped_at, ends_of, log_delta, saddle, sample_of, summed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ggdp.loss.crossing import Floats

__all__ = ["TILTS", "Corner", "Plan", "SizePlan", "Window", "checked_corner", "plan", "smooth_length", "thresholds"]

# Distinct sizes, and how many coordinates move by each.
Corner: TypeAlias = tuple[tuple[float, int], ...]

ADDED_VARIANCE = 6e-5
LARGEST_STEP = 0.02
NEGLIGIBLE = math.log(1e-8)
MOST_KNOTS = 1 << 15
FEW = 16
SPARSENESS = 150
LUMPY_SCALE = 200.0
LUMPY_STEP = 2e-4
# Below this order the largest losses of a coordinate are almost one atom.
ATOMIC = 1.02
MOST_UNITS = 4096
STAGED = 1 << 14
TILTS = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 10.0, 13.0, 18.0, 30.0)


def checked_corner(corner: Corner, support: str) -> Corner:
    """Return a corner with sizes above 0 and whole counts of at least 1; on the integers the sizes are whole too."""
    _validate.choice(among=("real", "integer"), support=support)
    _validate.non_empty(corner=corner)
    for size, count in corner:
        if not _validate.positive(corner=size).is_integer() and support == "integer":
            raise ArgumentError("corner", size, "on the integers sizes must be whole numbers")
        _validate.integer(corner=count, at_least=1)
    return corner


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Grid indices top - points + 1 to top, kept in a circular convolution; `tilt` serves the Chernoff bound above."""

    top: int
    points: int
    tilt: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SizePlan:
    """How the coordinates of one size are laid on the grid: `halvings` of the step, knots low to high, own window.

    With `copies`, blocks of `count` coordinates are added on the finer grid, and so many of them on the coarse one.

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
    copies: int = 1

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


def plan(
    *, order: float, scale: float, corner: Corner, epsilon: float, support: str, rough: bool = False
) -> Plan | None:
    """Choose grids and windows; None where no finite plan can show a delta below 1. A rough plan is a quick one."""
    samples = [sample_of(order, scale, size, count, support) for size, count in corner]
    coordinates = sum(count for _, count in corner)
    if any(sample is None for sample in samples):
        return None
    kept = [sample for sample in samples if sample is not None]
    theta = saddle(kept, epsilon)
    level = log_delta(kept, theta, epsilon)
    cap = epsilon + math.log(coordinates) - NEGLIGIBLE - level
    clipped, infinite = zip(*(clipped_at(sample, cap) for sample in kept), strict=True)
    if any(sample is None for sample in clipped):
        return None
    theta = saddle(clipped, epsilon)
    level = min(max(log_delta(clipped, theta, epsilon), math.log(sum(infinite) + 1e-300)), 0.0)
    budget = level + NEGLIGIBLE
    parts = [sample.cumulants(theta) for sample in clipped]
    variance = sum(part[2] for part in parts)
    groups = len(clipped)
    added = ADDED_VARIANCE if rough or coordinates > FEW else ADDED_VARIANCE / 8.0
    # Very many coordinates of one size are added in blocks: two short transforms take the place of a long one.
    staged = groups == 1 and coordinates >= STAGED
    share = added * variance / (1 if groups == 1 and not staged else 2 * groups)
    blocks = math.isqrt(coordinates) if staged else 1
    ends = [ends_of(sample, budget) for sample in clipped]
    lumpy = support == "integer" and scale < LUMPY_SCALE
    base = _base_step(corner if not staged else ((corner[0][0], blocks + 1),), ends, share, epsilon, order)
    if theta > 0.0 and coordinates <= 100 and order >= ATOMIC and not rough:
        # A far tail that is made by few coordinates falls by e^(-theta h) from knot to knot.
        span = max(high - low for low, high in ends)
        base = min(base, max(math.sqrt(1e-4 * epsilon / theta), span / MOST_KNOTS))
    if lumpy and not rough:
        # Single losses carry much mass, and one next to epsilon shows how far the grid has spread it.
        reach = sum(count * (high - low) for (low, high), (_, count) in zip(ends, corner, strict=True))
        reach = min(reach, 16.0 * math.sqrt(variance) + epsilon)
        base = min(base, max(LUMPY_STEP * epsilon, reach / MOST_KNOTS))
    step = _rounded_up(_aligned(base, corner, ends, order, scale))
    sizes, highest = [], 0
    for sample, part, (low, high), (size, count) in zip(clipped, parts, ends, corner, strict=True):
        spread = math.sqrt(part[2] / count) + abs(part[1]) / count
        halvings = 0
        while (
            (groups > 1 or staged)
            and halvings < 40
            and count > FEW
            and high - low < MOST_KNOTS * step * 0.5**halvings
            and count * min((fine := step * 0.5**halvings) ** 2 / 6.0, fine * spread) > share * 1.0001
        ):
            halvings += 1
        fine = step * 0.5**halvings
        first, last = math.floor(low / fine) - 1, math.ceil(high / fine) + 1
        # What the blocks leave over is a smaller block.
        parted = [(count // blocks, blocks), (count % blocks, 1)] if staged and halvings else [(count, 1)]
        for many, copies in parted:
            if not many:
                continue
            block, centre = replace(sample, count=many), part[1] * many / count
            lost = budget - math.log(copies)
            window = _window([block], fine, lost, 0.0, centre, many * last) if halvings else None
            highest += copies * (many * last if window is None else (window.top >> halvings) + 1)
            sizes.append(
                SizePlan(
                    size=size,
                    count=many,
                    step=fine,
                    halvings=halvings,
                    low=min(first, 0),
                    high=max(last, 0),
                    sparse=coordinates > 100 and not lumpy,
                    window=window,
                    copies=copies,
                )
            )
    window = _window(clipped, step, budget, theta, epsilon, highest)
    precision = max(128, 64 * math.ceil((64.0 - 2.0 * level / math.log(2.0)) / 64.0))
    return Plan(step=step, sizes=tuple(sizes), window=window, precision=precision, tilt=theta)


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


def _aligned(base: float, corner: Corner, ends: Sequence[tuple[float, float]], order: float, scale: float) -> float:
    """The step, made smaller so that the atoms at the largest losses of order 1, or almost atoms near it, are on knots.

    A sum of atoms that are off the grid spreads above epsilon although none of it is there.
    """
    if order >= ATOMIC:
        return base
    largest, divisor = max(size for size, _ in corner), Fraction(1)
    for size, _ in corner:
        share = Fraction(size / largest).limit_denominator(MOST_UNITS)
        if not math.isclose(float(share), size / largest, rel_tol=1e-9):
            divisor = Fraction(1)
            break
        divisor = _common_divisor(share, divisor)
    # The largest loss of a coordinate is D/b at order 1, and nearly proportional to D near it.
    unit = float(divisor) * (largest / scale if order == 1.0 else max(high for _, high in ends))
    return unit / math.ceil(unit / base)


def _common_divisor(a: Fraction, b: Fraction) -> Fraction:
    while b:
        a, b = b, a % b
    return a


def thresholds(size: SizePlan, *, order: float, scale: float) -> Floats:
    """Where the loss passes the knots, in units of the scale, in floats."""
    shift = size.size / scale
    levels = size.step * size.knots().astype(np.float64)
    z = crossings(order, shift, levels, largest=FAR ** (1.0 / order))
    if order == 1.0:
        # All noise from 0 upwards has the one loss d, so a knot within rounding of it belongs at 0.
        z = np.where(np.abs(levels / shift - 1.0) < 1e-12, 0.0, z)
    return z


def _window(samples: Sequence[Sample], step: float, budget: float, theta: float, centre: float, highest: int) -> Window:
    """A window outside of which the sum has a mass of at most e^budget on either side; no knot is above `highest`."""
    spread = math.sqrt(summed(samples, theta)[2]) + 1e-300
    plain = math.sqrt(summed(samples, 0.0)[2]) + 1e-300
    least = sum(s.count * float(s.losses.min()) for s in samples)
    tops = [((summed(samples, s)[0] - budget) / s, s) for s in (theta + t / spread for t in TILTS)]
    top, tilt = min(tops)
    bottom = max((budget - summed(samples, -s)[0]) / s for s in (t / plain for t in TILTS))
    last = min(math.ceil(max(top, centre) / step) + 2, max(highest, math.floor(centre / step) + 2))
    bottom = min(max(bottom, least), last * step)
    wanted = last - math.floor(bottom / step) + 3
    return Window(top=last, points=smooth_length(wanted), tilt=tilt)


def smooth_length(wanted: int) -> int:
    """The least 2^a, 3 2^a or 5 2^a that is at least `wanted` and 16: lengths with a fast transform."""
    exponent = max((wanted - 1).bit_length(), 4)
    return min(n for n in (5 << exponent - 3, 3 << exponent - 2, 1 << exponent) if n >= wanted)


def _rounded_up(step: float) -> float:
    """The step with 24 bits only, so that multiples of it by indices are exact floats."""
    mantissa, exponent = math.frexp(step)
    return math.ldexp(math.ceil(mantissa * 2.0**24), exponent - 24)
