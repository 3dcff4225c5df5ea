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
from flint import arb

from ggdp._balls import BALLS, working_precision
from ggdp.calibration.loss_layout import PER_SPREAD, _spread_out, _tilt
from ggdp.calibration.sampled_loss import log_delta, log_moments, summed
from ggdp.proofs.layouts import SumLayout
from ggdp.proofs.total_loss import CoordinateLoss
from ggdp.proofs.transform_decay import high_frequencies, is_smooth

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.calibration.crossing_estimates import Floats
    from ggdp.calibration.sampled_loss import Sample
    from ggdp.proofs.total_loss import CountedLoss

# Relative distance of the upper from the lower bound of delta that is aimed at.
DISTANCE = 2e-6
# What is left out at high frequencies, relative to delta; and where one loss is followed further than the others.
LEFT_OUT, LESS_LEFT_OUT = 2e-8, 1e-9
# Logarithms of the tilted mass outside of the grid, and of the mass above it relative to delta.
OUTSIDE, ABOVE = -30.0, -22.0
# Tilts for bounds of the tails, in parts of the deviation of the tilted sum.
TILTS = np.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 12.0, 16.0])
LEAST_POINTS, MOST_POINTS = 1 << 12, 1 << 14
# What the transform of one kind of loss, times itself for each of them, may be where the others are no longer used.
DECAYED = 1e-10
# The most frequencies of all losses, and of one alone.
MOST_FREQUENCIES, MOST_FURTHER = 1000, 8000
# Part of the reciprocal deviation of a loss at which its fourth moment is bounded.
WIDTH = 0.4
# Frequencies to choose from, in parts of the deviation of the tilted sum.
MULTIPLES = 5.0 * 1.06 ** np.arange(150)
# How many losses have the variation of their density bounded; the others are as good as not smooth at high frequencies.
MOST_DENSITIES = 12


def planned_sum(losses: Sequence[CountedLoss], samples: Sequence[Sample], epsilon: float) -> SumLayout | None:
    """Choose the grid for both bounds of delta at epsilon; None where the sum of the losses is not smooth enough."""
    if not any(is_smooth(counted.loss) for counted in losses):
        return None
    theta = _spread_out(samples, _tilt(samples, epsilon))
    # Errors are the same on all knots: a tilt makes those far above epsilon small.
    theta = _short(max(theta, 1.0 / math.sqrt(summed(samples, theta)[2])))
    moments = [_moments(sample, theta) for sample in samples]
    deviation = math.sqrt(sum(sample.count * moment[0] for sample, moment in zip(samples, moments, strict=True)))
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
    spacing = 2.0 * math.pi / (step * points)
    frequency = further = _frequency(losses, samples, moments, theta, step, LEFT_OUT)
    followed = _followed(losses)
    if not frequency <= MOST_FREQUENCIES * spacing:
        further = _frequency(losses, samples, moments, theta, step, LESS_LEFT_OUT)
        if not further <= MOST_FURTHER * spacing:
            return None
        choices = np.asarray(MULTIPLES / deviation, dtype=np.float64)
        frequency = _decayed(samples[followed], theta, choices[choices <= MOST_FREQUENCIES * spacing])
    if not frequency <= MOST_FREQUENCIES * spacing:
        return None
    return SumLayout(
        step=step,
        low=math.floor(low / step),
        points=points,
        tilt=theta,
        frequencies=math.ceil(frequency / spacing),
        further=math.ceil(further / spacing),
        followed=followed,
        below=below,
        above=above,
        widths=tuple(_short(WIDTH / math.sqrt(moment[0])) for moment in moments),
    )


def _short(x: float) -> float:
    """Round to 16 bits, so that sums of two such numbers are not rounded."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(round(math.ldexp(mantissa, 16)), exponent - 16)


def _moments(sample: Sample, theta: float) -> tuple[float, float]:
    """Return variance and fourth central moment of one tilted loss."""
    tilted = sample.logs + theta * sample.losses
    weights = np.exp(tilted - tilted.max())
    weights /= weights.sum()
    centred = sample.losses - weights @ sample.losses
    return float(weights @ centred**2), float(weights @ centred**4)


def _followed(losses: Sequence[CountedLoss]) -> int:
    """Return the loss whose transform takes little time and falls fast: with a density, and of the least order."""

    def order(i: int) -> float:
        loss = losses[i].loss
        return loss.law.order if isinstance(loss, CoordinateLoss) and is_smooth(loss) else math.inf

    return min(range(len(losses)), key=order)


def _decayed(sample: Sample, theta: float, choices: Floats) -> float:
    """Return a frequency from which on the transform of all losses of a kind is about as small as what is left out."""
    tilted = sample.logs + theta * sample.losses
    weights = np.exp(tilted - tilted.max())
    weights /= weights.sum()
    for frequency in choices:
        # Several frequencies, lest one is near a zero.
        nearby = np.outer(np.linspace(1.0, 1.3, 8), frequency * sample.losses)
        if float(np.abs(np.exp(1j * nearby) @ weights).max()) ** sample.count <= DECAYED:
            return float(frequency)
    return math.inf


def _frequency(
    losses: Sequence[CountedLoss],
    samples: Sequence[Sample],
    moments: Sequence[tuple[float, float]],
    theta: float,
    step: float,
    enough: float,
) -> float:
    """Return a frequency from which on the characteristic function is proved small, about; infinite where none is."""
    counts = np.array([sample.count for sample in samples], dtype=float)
    variances, fourths = (np.array(values) for values in zip(*moments, strict=True))
    deviation = math.sqrt(float(counts @ variances))
    frequencies = MULTIPLES / deviation
    squares = frequencies**2
    # The bounds of `ggdp.proofs.transform_decay`: at low frequencies for all losses, at high ones for some.
    ratios = 1.0 - np.outer(variances, squares) + np.outer((fourths + 3.0 * variances**2) / 12.0, squares**2)
    logs = 0.5 * np.log(np.clip(ratios, 1e-30, 1.0))
    for i in np.argsort(-counts * [is_smooth(counted.loss) for counted in losses])[:MOST_DENSITIES]:
        with BALLS, working_precision(64):
            whole = arb(math.exp(samples[i].cumulants(theta)[0] / samples[i].count))
            pairs, gaussian = high_frequencies(losses[i].loss, theta, whole)
            logs[i] = np.minimum(logs[i], -float(gaussian) * squares)
            for outside, variation in pairs:
                most = np.clip(float(outside) + float(variation) / frequencies, 1e-30, 1.0)
                logs[i] = np.minimum(logs[i], np.log(most))
    # The sum of what is left out, relative to the density of the sum of the losses.
    bounds = counts @ logs
    high = np.exp(np.maximum(bounds, np.append(bounds[1:], bounds[-1])))
    widths = np.append(np.diff(frequencies), frequencies[-1])
    left = np.cumsum((high * np.minimum(1.0, (2.0 / (step * frequencies)) ** 2) * widths)[::-1])[::-1]
    left *= 2.0 * deviation
    small = np.nonzero(left <= enough)[0]
    return float(frequencies[small[0]]) if len(small) else math.inf
