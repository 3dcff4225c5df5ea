"""What a proof along a plan will find, in floats, by a convolution that is tilted so that small deltas keep digits.

Nothing here is trusted in a proof; it makes the search for a scale fast.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ggdp.loss.corner_plan import thresholds
from ggdp.loss.sampled_loss import integer_tails_estimate, survival_estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.loss.corner_plan import Plan, SizePlan
    from ggdp.loss.crossing import Floats

__all__ = ["estimate", "spectrum_of"]


def estimate(chosen: Plan, *, order: float, scale: float, epsilon: float, support: str) -> float:
    """Estimate in floats the bound that a proof along this plan will give."""
    spectrum = np.ones(chosen.window.points // 2 + 1, dtype=np.complex128)
    theta, level, infinite = chosen.tilt, -chosen.tilt * epsilon, 0.0
    for size in chosen.sizes:
        masses, beyond = _masses(size, order, scale, support)
        infinite += size.count * size.copies * math.log1p(-min(beyond, 1.0 - 1e-16))
        indices = np.arange(size.low, size.high + 1)
        with np.errstate(divide="ignore"):
            logs = np.log(masses) + theta * size.step * indices
        peak = float(logs.max())
        weights = np.exp(logs - peak)
        total = float(weights.sum())
        level += size.count * size.copies * (peak + math.log(total))
        count = size.count
        weights /= total
        if size.window is not None:
            composed = np.fft.irfft(spectrum_of(weights, size.low, size.window.points) ** count, size.window.points)
            indices = np.arange(size.window.top - size.window.points + 1, size.window.top + 1, dtype=np.int64)
            composed = np.maximum(composed[indices % size.window.points], 0.0)
            weights, low = _coarsened(composed, indices, size, theta)
            spectrum *= spectrum_of(weights, low, chosen.window.points) ** size.copies
        else:
            spectrum *= spectrum_of(weights, size.low, chosen.window.points) ** count
    composed = np.fft.irfft(spectrum, chosen.window.points)
    indices = np.arange(math.floor(epsilon / chosen.step) + 1, chosen.window.top + 1)
    above = indices * chosen.step - epsilon
    terms = -np.expm1(-above) * composed[indices % chosen.window.points] * np.exp(-theta * above)
    return math.exp(min(level, 0.0)) * max(float(terms.sum()), 0.0) - math.expm1(infinite)


def _masses(size: SizePlan, order: float, scale: float, support: str) -> tuple[Floats, float]:
    """Masses on the knots by connecting the dots, and the mass above the highest knot, in floats."""
    shift, z = size.size / scale, thresholds(size, order=order, scale=scale)
    if support == "integer":
        k = np.floor(z * scale) + 1.0
        first, second = integer_tails_estimate(order, scale, k), integer_tails_estimate(order, scale, k + size.size)
    else:
        first, second = survival_estimate(order, z), survival_estimate(order, z + shift)
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


def spectrum_of(weights: Floats, low: int, points: int) -> NDArray[np.complex128]:
    """Return the transform of masses laid on a circle from the index `low` on."""
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
