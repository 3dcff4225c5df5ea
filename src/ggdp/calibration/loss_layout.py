"""Where a sum of losses is laid, chosen in floats. Nothing here is trusted.

===========  ====================================================================================
theta        the tilt: root of K'(theta) = epsilon, see `ggdp.calibration.sampled_loss`
V            variance of the tilted sum
W            spread of all splits, the sum of gap^2 / 8: it adds about 2 W to V, and upper and lower
             bound are about 6 theta (1 + theta) W apart, relative to delta
===========  ====================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ggdp.calibration.sampled_loss import Sample, clipped_at, log_delta, saddle, sample_of, summed
from ggdp.proofs.layouts import MOST_KNOTS, LossLayout
from ggdp.proofs.total_loss import LaidLoss, ResponseLoss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.proofs.total_loss import Loss

# Relative distance of the upper from the lower bound of delta that is aimed at.
DISTANCE = 2.2e-5
# Distance over theta (1 + theta) W.
PER_SPREAD = 6.0
# Losses so many times as large as those that are as good as infinite are counted as infinite.
FAR_ABOVE = 10.0
# The largest spread relative to the variance, where no loss near epsilon shows how much there may be.
COARSEST = 1e-5
# Few losses are laid on steps as fine as this, at which accountants that round losses up are at their best; with so
# many knots at most. Atoms alone are laid in less time than densities.
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


@dataclass(frozen=True, slots=True)
class PlannedTotal:
    """A layout for the sum of all losses."""

    parts: tuple[LaidLoss, ...]
    tilt: float
    tail: float
    points: int


def samples_of(losses: Sequence[tuple[Loss, int]]) -> list[Sample] | None:
    """Return a sample of each loss; None where a loss is beyond the floats."""
    samples = [_sample(loss, count) for loss, count in losses]
    found = [sample for sample in samples if sample is not None]
    return found if len(found) == len(samples) else None


def _sample(loss: Loss, count: int) -> Sample | None:
    if isinstance(loss, ResponseLoss):
        truth = -math.log1p(math.exp(-loss.epsilon))
        masses = np.array([truth - loss.epsilon, truth])
        return Sample(np.array([-loss.epsilon, loss.epsilon]), masses, count)
    return sample_of(loss.law, loss.size, count)


def planned_total(
    losses: Sequence[tuple[Loss, int]],
    samples: Sequence[Sample],
    epsilon: float,
    *,
    finer: float = 1.0,
    ratio: float = 0.0,
) -> PlannedTotal:
    """Choose tilt, steps and windows for both bounds of delta at epsilon.

    `ratio` is the density of the sum at epsilon over delta, where it is known.
    """
    samples = _clipped(samples, epsilon, FAR_ABOVE)
    theta = _spread_out(samples, _tilt(samples, epsilon))
    slope = max(theta, 1.0 / math.sqrt(sum(sample.cumulants(theta)[2] for sample in samples)))
    spread = DISTANCE / (PER_SPREAD * max(slope * (1.0 + slope), ratio)) / finer**2
    number = sum(count for _, count in losses)
    spread = min(spread, _affordable(losses, samples, theta) / finer**2)
    return _planned(losses, samples, epsilon, theta, spread, OUTSIDE / number, ABOVE)


def _affordable(losses: Sequence[tuple[Loss, int]], samples: Sequence[Sample], theta: float) -> float:
    """Return the spread of fine steps, where they take few knots; else infinity."""
    atoms = all(isinstance(loss, ResponseLoss) or loss.law.support == "integer" for loss, _ in losses)
    fine, most = (FINE_ATOMS, MOST_FINE_ATOMS) if atoms else (FINE, MOST_FINE)
    variances = [sample.cumulants(theta)[2] / sample.count for sample in samples]
    total = math.sqrt(sum(sample.count * variance for sample, variance in zip(samples, variances, strict=True)))
    knots = WINDOW * (sum(map(math.sqrt, variances)) + total) / fine
    return sum(sample.count for sample in samples) * fine**2 / 8.0 if knots <= most else math.inf


def planned_upper(
    losses: Sequence[tuple[Loss, int]], samples: Sequence[Sample], epsilon: float, spread: float
) -> PlannedTotal:
    """Choose tilt, steps and windows for the upper bound of delta at epsilon alone, with a given spread W.

    It is then above delta by about 2/3 W times the density of the sum at epsilon.
    """
    samples = _clipped(samples, epsilon, 1.0)
    theta = _tilt(samples, epsilon)
    outside = OUTSIDE_OF_ONE / math.sqrt(sum(sample.count for sample in samples))
    most = COARSEST * sum(sample.cumulants(theta)[2] for sample in samples)
    return _planned(losses, samples, epsilon, theta, min(spread, most), outside, ABOVE_UPPER)


def _clipped(samples: Sequence[Sample], epsilon: float, farther: float) -> list[Sample]:
    """Return samples without losses so large that they may as well be infinite, for the upper bound at least."""
    number = sum(sample.count for sample in samples)
    cap = epsilon - math.log(ABOVE / number) - log_delta(samples, saddle(samples, epsilon), epsilon)
    return [clipped_at(sample, farther * cap)[0] or sample for sample in samples]


def _tilt(samples: Sequence[Sample], epsilon: float) -> float:
    return min(saddle(samples, epsilon), MOST_TILTED / max(float(np.abs(sample.losses).max()) for sample in samples))


def _spread_out(samples: Sequence[Sample], theta: float) -> float:
    """Return a tilt that leaves some variance: near the largest possible sum the saddle point puts all mass on it."""
    least = LEAST_VARIANCE * summed(samples, 0.0)[2]
    if summed(samples, theta)[2] >= least:
        return theta
    low, high = 0.0, theta
    while high - low > 0.01 * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if summed(samples, middle)[2] >= least else (low, middle)
    return low


def _planned(
    losses: Sequence[tuple[Loss, int]],
    samples: Sequence[Sample],
    epsilon: float,
    theta: float,
    spread: float,
    outside: float,
    cut: float,
) -> PlannedTotal:
    level = log_delta(samples, theta, epsilon)
    number = sum(count for _, count in losses)
    above = level + math.log(cut / number)
    least = [_highest(sample, above) / MOST_STEPS for sample in samples]
    steps = _steps(losses, samples, theta, spread, least)
    laid = tuple(
        LaidLoss(loss, count, _layout(sample, theta, step, outside, BELOW / number, above))
        for (loss, count), sample, step in zip(losses, samples, steps, strict=True)
    )
    variance = sum(sample.cumulants(theta)[2] for sample in samples)
    levels = max(math.log(number, 4.0), 1.0)
    points = WINDOW * math.sqrt(variance * levels / (8.0 * (1.0 - SINGLE) * spread))
    points = min(max(math.ceil(points), LEAST_POINTS), MOST_POINTS)
    # What is cut off a sum is multiplied by the number of such sums in the total.
    return PlannedTotal(laid, theta, above - math.log(4.0), points)


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
    common = _common_unit([unit.value for unit in known]) if len(known) == len(units) else None
    if common is not None and (len({unit.value for unit in known}) == 1 or common * 2.0**FINER >= min(wanted)):
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


def _common_unit(units: Sequence[float]) -> float | None:
    """Return the largest number of which all units are multiples; None where there is none that is of use."""
    largest, divisor = max(units), Fraction(1)
    for unit in units:
        share = Fraction(unit / largest).limit_denominator(MOST_UNITS)
        if not math.isclose(float(share), unit / largest, rel_tol=1e-9):
            return None
        while share:
            divisor, share = share, divisor % share
    return largest * float(divisor)


def _highest(sample: Sample, level: float) -> float:
    """Return a loss above which there is a mass of at most e^level."""
    rank = np.argsort(sample.losses, kind="stable")
    mass = np.cumsum(np.exp(sample.logs[rank])[::-1])[::-1]
    last = min(int(np.searchsorted(-mass, -math.exp(max(level, -700.0)))) + 1, len(mass) - 1)
    return float(sample.losses[rank][last])


def _layout(sample: Sample, theta: float, step: float, outside: float, least: float, level: float) -> LossLayout:
    """Return a grid with so much tilted mass outside of its inner part, or below it, and a mass of e^level above."""
    rank = np.argsort(sample.losses, kind="stable")
    losses, logs = sample.losses[rank], sample.logs[rank]
    with np.errstate(all="ignore"):
        weights = np.exp(logs + theta * losses - np.max(logs + theta * losses))
    weights /= weights.sum()
    below, above = np.cumsum(weights), np.cumsum(weights[::-1])[::-1]
    inner_low = losses[max(int(np.searchsorted(below, outside)) - 1, 0)]
    low = losses[max(int(np.searchsorted(below, least)) - 1, 0)]
    inner_high = losses[min(int(np.searchsorted(-above, -outside)) + 1, len(losses) - 1)]
    high = _highest(sample, level)
    ends = [math.floor(low / step) - 1, math.floor(inner_low / step) - 1, math.ceil(inner_high / step) + 1]
    ends.append(max(math.ceil(high / step) + 1, ends[2]))
    first, inner_first, inner_last, last = (min(max(end, -MOST_KNOTS), MOST_KNOTS) for end in ends)
    return LossLayout(step=step, low=first, inner_low=inner_first, inner_high=inner_last, high=last)
