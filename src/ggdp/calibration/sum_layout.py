"""Where the sum of many losses is laid at once, chosen in floats. Nothing here is trusted.

===========  ====================================================================================
theta        the tilt: root of K'(theta) = epsilon, see `ggdp.calibration.sampled_loss`
K(s)         log E e^(s S) of the sum S of all losses
W            spread of the only split, step^2 / 8
===========  ====================================================================================
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ggdp.calibration.loss_layout import PER_SPREAD, _spread_out, _tilt
from ggdp.calibration.sampled_loss import log_delta, log_moments
from ggdp.proofs.layouts import SumLayout
from ggdp.proofs.total_loss import CoordinateLoss

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.calibration.sampled_loss import Sample
    from ggdp.proofs.total_loss import CountedLoss

__all__ = ["planned_sum"]

# Relative distance of the upper from the lower bound of delta that is aimed at.
DISTANCE = 2e-6
# Logarithms: of the characteristic function from where on it is left out; of the tilted mass outside of the grid, and
# of the mass above it relative to delta.
LEFT_OUT, OUTSIDE, ABOVE = -32.0, -30.0, -22.0
# Tilts for bounds of the tails, in parts of the deviation of the tilted sum.
TILTS = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 16.0])
LEAST_POINTS, MOST_POINTS = 1 << 12, 1 << 14
MOST_FREQUENCIES = 400
# Part of the reciprocal deviation of a loss at which its fourth moment is bounded.
WIDTH = 0.4
# So many losses with a smooth density are needed for a characteristic function that vanishes at high frequencies.
LEAST_SMOOTH = 24


def planned_sum(losses: Sequence[CountedLoss], samples: Sequence[Sample], epsilon: float) -> SumLayout | None:
    """Choose the grid for both bounds of delta at epsilon; None where the sum of the losses is not smooth enough."""
    smooth = sum(
        counted.count
        for counted in losses
        if isinstance(counted.loss, CoordinateLoss)
        and counted.loss.law.support == "real"
        and counted.loss.law.order > 1.0
    )
    if smooth < LEAST_SMOOTH:
        return None
    theta = _spread_out(samples, _tilt(samples, epsilon))
    moments = [_moments(sample, theta) for sample in samples]
    variance = sum(sample.count * moment[0] for sample, moment in zip(samples, moments, strict=True))
    deviation = math.sqrt(variance)
    theta = max(theta, 1e-3 / deviation)
    frequency = _frequency(samples, moments, deviation)
    if frequency is None:
        return None
    level, delta = float(log_moments(samples, np.array([theta]))[0]), log_delta(samples, theta, epsilon)
    # Below: K(t) - K(theta) + (theta - t) low <= OUTSIDE for a tilt t <= 0.
    tilts = np.minimum(theta - TILTS / deviation, 0.0)
    lows = (OUTSIDE + level - log_moments(samples, tilts)) / (theta - tilts)
    below, low = float(tilts[np.argmax(lows)]), float(lows.max())
    # Above: the same for t > theta, and K(t) - t high <= ABOVE + log(delta).
    tilts = theta + TILTS / deviation
    cumulants = log_moments(samples, tilts)
    highs = np.maximum((cumulants - level - OUTSIDE) / (tilts - theta), (cumulants - ABOVE - delta) / tilts)
    above, high = float(tilts[np.argmin(highs)]), float(highs.min())
    slope = max(theta, 1.0 / deviation)
    step = math.sqrt(8.0 * DISTANCE / (PER_SPREAD * slope * (1.0 + slope)))
    step = min(max(step, (high - low) / MOST_POINTS), (high - low) / LEAST_POINTS)
    # Where epsilon is a knot, the split costs nothing.
    step = epsilon / math.ceil(epsilon / step) if epsilon > step else step
    points = math.ceil((high - low) / step) + 2
    frequencies = math.ceil(frequency * step * points / (2.0 * math.pi))
    if not 1 <= frequencies <= MOST_FREQUENCIES:
        return None
    return SumLayout(
        step=step,
        low=math.floor(low / step),
        points=points,
        tilt=theta,
        frequencies=frequencies,
        below=below,
        above=above,
        widths=tuple(WIDTH / math.sqrt(moment[0]) for moment in moments),
    )


def _moments(sample: Sample, theta: float) -> tuple[float, float]:
    """Return variance and fourth central moment of one tilted loss."""
    tilted = sample.logs + theta * sample.losses
    weights = np.exp(tilted - tilted.max())
    weights /= weights.sum()
    centred = sample.losses - weights @ sample.losses
    return float(weights @ centred**2), float(weights @ centred**4)


def _frequency(samples: Sequence[Sample], moments: Sequence[tuple[float, float]], deviation: float) -> float | None:
    """Return a frequency from which on the characteristic function is proved small, about; None where there is none."""
    counts = np.array([sample.count for sample in samples], dtype=float)
    variances, fourths = (np.array(values) for values in zip(*moments, strict=True))
    for multiple in np.linspace(6.0, 24.0, 73):
        square = (multiple / deviation) ** 2
        most = 1.0 - variances * square + (fourths + 3.0 * variances**2) / 12.0 * square**2
        if float(counts @ np.log(np.clip(most, 1e-30, 1.0))) / 2.0 <= LEFT_OUT:
            return float(multiple / deviation)
    return None
