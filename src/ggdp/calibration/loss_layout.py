"""Where a sum of losses is laid, chosen in floats. Nothing here is trusted.

===========  ====================================================================================
theta        the tilt: root of K'(theta) = epsilon, see `ggdp.calibration.sampled_loss`
V            variance of the tilted sum
W            spread of all splits, the sum of gap^2 / 8: upper and lower bound are about
             5 theta (1 + theta) W apart, relative to delta
===========  ====================================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ggdp.calibration.sampled_loss import Sample, log_delta, saddle, sample_of, summed
from ggdp.proofs.layouts import MOST_KNOTS, LossLayout
from ggdp.proofs.total_loss import LaidLoss, ResponseLoss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.proofs.total_loss import Loss

__all__ = ["PlannedTotal", "planned_total", "samples_of"]

# Relative distance of the upper from the lower bound of delta that is aimed at.
DISTANCE = 8e-5
# Distance over theta (1 + theta) W.
PER_SPREAD = 6.0
# The part of the spread that single losses may have; the rest is that of coarser grids for sums.
SINGLE = 0.6
# The window of a sum, in standard deviations.
WINDOW = 15.0
# Tilted mass outside of the inner part of a grid, and below the grid; mass above it, relative to delta.
OUTSIDE, BELOW, ABOVE = 1e-8, 1e-11, 1e-9
# Of the spread, all losses that hardly vary may have so much together.
LEAST_SHARE = 0.05
# The tilted variance is at least this part of the variance without a tilt.
LEAST_VARIANCE = 0.02
LEAST_POINTS, MOST_POINTS = 1 << 12, 1 << 17


@dataclass(frozen=True, slots=True)
class PlannedTotal:
    """A layout for the sum of all losses, and the smoothing length for its lower bound."""

    parts: tuple[LaidLoss, ...]
    tilt: float
    tail: float
    points: int


def samples_of(losses: Sequence[tuple[Loss, int]]) -> list[Sample]:
    """Return a sample of each loss."""
    return [_sample(loss, count) for loss, count in losses]


def _sample(loss: Loss, count: int) -> Sample:
    if isinstance(loss, ResponseLoss):
        masses = np.array([-math.log1p(math.exp(loss.epsilon)), -math.log1p(math.exp(-loss.epsilon))])
        return Sample(np.array([-loss.epsilon, loss.epsilon]), masses, count)
    return sample_of(loss.law, loss.size, count)


def planned_total(
    losses: Sequence[tuple[Loss, int]], samples: Sequence[Sample], epsilon: float, *, finer: float = 1.0
) -> PlannedTotal:
    """Choose tilt, steps and windows for delta at epsilon."""
    theta = _spread_out(samples, saddle(samples, epsilon))
    level = log_delta(samples, theta, epsilon)
    cumulants = [sample.cumulants(theta) for sample in samples]
    variance = sum(part[2] for part in cumulants)
    number = sum(count for _, count in losses)
    slope = max(theta, 1.0 / math.sqrt(variance))
    spread = DISTANCE / (PER_SPREAD * slope * (1.0 + slope)) / finer**2
    levels = max(math.log(number, 4.0), 1.0)
    points = WINDOW * math.sqrt(variance * levels / (8.0 * (1.0 - SINGLE) * spread))
    base = _base(losses, cumulants)
    lattice = all(_lattice(loss) == base for loss, _ in losses)
    # Shares of the spread by variance.
    laid = []
    for (loss, count), sample, (_, _, part) in zip(losses, samples, cumulants, strict=True):
        # A loss that hardly varies needs no grid as fine as that.
        share = max(part / count / variance, LEAST_SHARE / number)
        step = base if lattice else base * 2.0 ** round(math.log2(math.sqrt(8.0 * SINGLE * spread * share) / base))
        laid.append(LaidLoss(loss, count, _layout(sample, theta, step, number, level + math.log(ABOVE / number))))
    points = min(max(math.ceil(points), LEAST_POINTS), MOST_POINTS)
    return PlannedTotal(tuple(laid), theta, level + math.log(ABOVE / len(losses) / 20), points)


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


def _base(losses: Sequence[tuple[Loss, int]], cumulants: Sequence[tuple[float, float, float]]) -> float:
    """Return the unit of the lattice of losses that carries the most variance, or 1: nothing is split on it."""
    units: dict[float, float] = {}
    for (loss, _), (_, _, variance) in zip(losses, cumulants, strict=True):
        unit = _lattice(loss)
        if unit is not None:
            units[unit] = units.get(unit, 0.0) + variance
    return max(units, key=lambda unit: units[unit], default=1.0)


def _lattice(loss: Loss) -> float | None:
    """Return a number of which all losses are multiples; None where there is none."""
    if isinstance(loss, ResponseLoss):
        return loss.epsilon or None
    if loss.law.support == "integer" and loss.law.order in (1.0, 2.0):
        return loss.size / loss.law.scale**2 if loss.law.order == 2.0 else 1.0 / loss.law.scale
    return None


def _layout(sample: Sample, theta: float, step: float, number: int, tail: float) -> LossLayout:
    rank = np.argsort(sample.losses, kind="stable")
    losses, logs = sample.losses[rank], sample.logs[rank]
    with np.errstate(all="ignore"):
        weights = np.exp(logs + theta * losses - np.max(logs + theta * losses))
    weights /= weights.sum()
    below, above = np.cumsum(weights), np.cumsum(weights[::-1])[::-1]
    mass = np.cumsum(np.exp(logs)[::-1])[::-1]
    inner_low = losses[max(int(np.searchsorted(below, OUTSIDE / number)) - 1, 0)]
    low = losses[max(int(np.searchsorted(below, BELOW / number)) - 1, 0)]
    inner_high = losses[min(int(np.searchsorted(-above, -OUTSIDE / number)) + 1, len(losses) - 1)]
    high = losses[min(int(np.searchsorted(-mass, -math.exp(max(tail, -700.0)))) + 1, len(losses) - 1)]
    ends = [math.floor(low / step) - 1, math.floor(inner_low / step) - 1, math.ceil(inner_high / step) + 1]
    last = max(math.ceil(high / step) + 1, ends[2])
    return LossLayout(
        step=step,
        low=max(ends[0], -MOST_KNOTS),
        inner_low=max(ends[1], -MOST_KNOTS),
        inner_high=min(ends[2], MOST_KNOTS),
        high=min(last, MOST_KNOTS),
    )
