"""The delta of a corner in floats, by a convolution that is tilted so that small deltas keep digits.

Nothing here is trusted in a proof; it makes the search for a scale fast.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ggdp.calibration.crossing_estimates import crossings, loss_estimates
from ggdp.calibration.sampled_loss import FAR, SMALL_SCALE, integer_tails_estimate, survival_estimate

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.calibration.corner_grid import CornerGrid, SizeGrid
    from ggdp.calibration.crossing_estimates import Floats
    from ggdp.proofs.noise_law import NoiseLaw

# A loss that is a level but for its rounding is not above it.
ROUNDING = 1e-14
# How many knots on either side of epsilon show the density.
NEAR = 8


class Estimate(NamedTuple):
    """Delta, and the density of the sum of all losses at epsilon."""

    delta: float
    density: float


def estimate(grid: CornerGrid, law: NoiseLaw, epsilon: float) -> Estimate:
    """Estimate delta at epsilon on a grid."""
    points, theta = grid.window.points, grid.tilt
    spectrum = np.ones(points // 2 + 1, dtype=np.complex128)
    level, infinite = -theta * epsilon, 0.0
    for size in grid.sizes:
        step = grid.step * 0.5**size.halvings
        masses, beyond = _masses(law, size, step)
        infinite += size.count * size.copies * math.log1p(-min(beyond, 1.0 - 1e-16))
        indices = np.arange(size.low, size.high + 1)
        with np.errstate(divide="ignore"):
            logs = np.log(masses) + theta * step * indices
        peak = float(logs.max())
        weights = np.exp(logs - peak)
        total = float(weights.sum())
        level += size.count * size.copies * (peak + math.log(total))
        weights /= total
        if size.window is None:
            spectrum *= spectrum_of(weights, size.low, points) ** size.count
            continue
        window = size.window
        block = np.fft.irfft(spectrum_of(weights, size.low, window.points) ** size.count, window.points)
        indices = np.arange(window.top - window.points + 1, window.top + 1, dtype=np.int64)
        block = np.maximum(block[indices % window.points], 0.0)
        weights, low = _coarsened(block, indices, size.halvings, step, theta)
        spectrum *= spectrum_of(weights, low, points) ** size.copies
    composed = np.fft.irfft(spectrum, points)
    first = math.floor(epsilon / grid.step) + 1
    indices = np.arange(first, grid.window.top + 1)
    above = indices * grid.step - epsilon
    terms = -np.expm1(-above) * composed[indices % points] * np.exp(-theta * above)
    height = math.exp(min(level, 0.0))
    near = composed[np.arange(first - NEAR, first + NEAR) % points].mean() / grid.step
    return Estimate(height * max(float(terms.sum()), 0.0) - math.expm1(infinite), height * max(float(near), 0.0))


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


def _masses(law: NoiseLaw, size: SizeGrid, step: float) -> tuple[Floats, float]:
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


def _coarsened(
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
