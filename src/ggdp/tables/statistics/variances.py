"""Variances of the values in a cell, from a triple of noisy sums, with intervals.

=======  ==============================================================================================
t        a value as a part of the range; m and v its mean and variance over the n units with a value
W, S, Q  noisy sums of 1, t and t^2, times U: T0 + T1 + T2, T1/2 + T2 and T2
m-hat    S / W, and v-hat = Q / W - m-hat^2
V(m, v)  Q - 2 m S + (m^2 - v) W = W (v-hat + (m - m-hat)^2 - v)
c(m, v)  quantile of the noise of V(m, v), with weights (m^2 - v, m^2 - m - v, (1 - m)^2 - v) on T0, T1, T2
I        interval of m, missed with a probability of at most `MEAN_SHARE` of 1 - level
=======  ==============================================================================================

v is the variance of the n values themselves, with n below the fraction, not an estimate for a larger population.

Claim. The interval covers v with a probability of at least the level, whatever n >= 1 and the values are. Proof:
without noise V(m, v) = U n ((v + m^2) - 2 m^2 + m^2 - v) = 0, so |V(m, v)| <= c(m, v) fails with a probability of at
most the rest of 1 - level. Where neither this nor I fails, v is among the v' with |V(m', v')| <= c(m', v') for some m'
in I, and v' <= m' (1 - m'), which holds for values in [0, 1]. The interval contains all of these: I is cut into pieces;
on each, (m' - m-hat)^2 is between its least and its largest value, and c is at most its value at the largest absolute
value of each weight, C(v'), since c does not fall where a weight grows. C is convex, as these weights are convex
functions of v' and c is convex and monotone, so `outer_root` finds the ends. Where nothing is left, or W <= 0, other
points are taken, which covers no less.

The sets of two tests are joined, so the level is exceeded where I is wide, that is in cells with few units; at many
units m - m-hat counts by its square only, and the cover falls to 1 - (1 - `MEAN_SHARE`) (1 - level), 95.3 %.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ggdp.errors import ArgumentError
from ggdp.tables.statistics.means import ROUNDING, mean_parts
from ggdp.tables.statistics.noisy_sums import TRIPLE, ColumnSums
from ggdp.tables.statistics.outer_roots import Points, outer_root
from ggdp.tables.statistics.ranges import checked_range, scaled

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.distributions.generalized_gaussian import Floats
    from ggdp.tables.statistics.noisy_sums import Estimate
    from ggdp.tables.statistics.outer_roots import ConcaveFunctions
    from ggdp.tables.statistics.weighted_noise import WeightedNoise

MEAN_SHARE = 0.06
# Largest variance of values in [0, 1].
MOST = 0.25

# Into how many pieces I is cut where it is wider than _NARROW, as a part of the range.
_PIECES, _NARROW = 4, 0.02


def variance_estimate(
    column: ColumnSums, bounds: tuple[float, float], noise: WeightedNoise, level: float = 0.95
) -> Estimate:
    """Return the variance of the values in each cell.

    Parameters
    ----------
    column : ColumnSums
        Noisy sums of the column, a triple.
    bounds : tuple of (float, float)
        The public range (lo, hi).
    noise : WeightedNoise
        Law of the noise in each sum.
    level : float, default 0.95
        Of each interval on its own.

    Returns
    -------
    Estimate
        The mean squared distance of a cell's values from their mean, in the squared unit of the column, of the values
        clamped to the range and rounded to its steps; from 0 to (hi - lo)^2 / 4; NaN where the variance is null.

    Examples
    --------
    >>> from ggdp.tables.statistics import ColumnSums, WeightedNoise, variance_estimate
    >>> ages = ColumnSums(sums=[[0, 2_500_000, 5_000_000, 2_500_000], [0, 900, 400, -200]], unit=10_000)
    >>> variance = variance_estimate(ages, (0.0, 10.0), WeightedNoise(order=2, scale=10_000.0))
    >>> variance.value.tolist()
    [0.0, nan]
    >>> [ends.round(2).tolist() for ends in (variance.lower, variance.upper)]
    [[0.0, 0.0], [0.06, 25.0]]
    """
    lo, hi = checked_range(bounds)
    if not 0.0 < (hi - lo) ** 2 < np.inf:
        raise ArgumentError("bounds", bounds, "must have a distance whose square fits in a 64-bit float")
    return scaled(*variance_parts(column, noise, level), (hi - lo) ** 2, MOST)


def variance_parts(column: ColumnSums, noise: WeightedNoise, level: float) -> tuple[Floats, Floats, Floats]:
    """Return variances and the ends of their intervals in units of the squared range; NaN for null variances."""
    if column.coordinates != TRIPLE:
        raise ArgumentError("column", f"of {column.coordinates} coordinates", "must have triples of sums")
    cells = ColumnSums(sums=column.sums.reshape(-1, TRIPLE), unit=column.unit)
    _, least, most = mean_parts(cells, noise, 1.0 - MEAN_SHARE * (1.0 - level))
    # Where the mean is known well, pieces of I would change next to nothing.
    pieces = np.where(most - least <= _NARROW, 1, _PIECES)
    found = np.empty((3, least.size))
    for number in np.unique(pieces):
        here = pieces == number
        part = ColumnSums(sums=cells.sums[here], unit=column.unit)
        found[:, here] = _parts(part, least[here], most[here], int(number), noise, level)
    value, lower, upper = found.reshape(3, *column.sums.shape[:-1])
    return value, lower, upper


def _parts(
    column: ColumnSums, least: Floats, most: Floats, pieces: int, noise: WeightedNoise, level: float
) -> tuple[Floats, Floats, Floats]:
    """Return the same for means from `least` to `most`, cut into pieces."""
    sums = column.weighed
    # Not by a matrix product, whose threads would wait busily afterwards.
    total, first, second = sums.sum(axis=-1), (sums * column.mean_weights).sum(axis=-1), sums[..., 2]
    counted = total > 0.0
    total = np.where(counted, total, 1.0)
    mean = np.where(counted, first, 0.5) / total
    variance = np.where(counted, second, 0.5) / total - np.square(mean)
    # One entry for each piece of I, those of a cell beside each other.
    edges = least[:, None] + (most - least)[:, None] * np.linspace(0.0, 1.0, pieces + 1)
    left, right = edges[:, :-1].reshape(-1), edges[:, 1:].reshape(-1)
    slack = np.repeat(ROUNDING * np.abs(sums).sum(axis=-1), pieces)

    def half_widths(v: Floats, at: NDArray[np.intp]) -> Floats:
        weights = _largest_weights(left[at], right[at], v)
        found = noise.half_widths(weights, 1.0 - (1.0 - MEAN_SHARE) * (1.0 - level), in_all=left.size)
        return np.asarray(found + slack[at])

    cells = _Pieces(left, right, *(np.repeat(x, pieces) for x in (mean, variance, total)))
    low, high = _hull(cells, half_widths)
    lower, upper = low.reshape(-1, pieces).min(axis=1), high.reshape(-1, pieces).max(axis=1)
    none = lower > upper
    value = np.clip(variance, np.where(none, 0.0, lower), np.where(none, MOST, upper))
    # What no variance explains: the nearest one, and an interval as wide as the noise.
    at = np.flatnonzero(np.repeat(none, pieces))
    width = half_widths(np.repeat(value[none], pieces), at).reshape(-1, pieces).max(axis=1) / total[none]
    lower[none], upper[none] = np.maximum(value[none] - width, 0.0), np.minimum(value[none] + width, MOST)
    null = ~counted | ((lower <= 0.0) & (upper >= MOST))
    return np.where(null, np.nan, value), np.where(null, 0.0, lower), np.where(null, MOST, upper)


def _largest_weights(left: Floats, right: Floats, v: Floats) -> Floats:
    """Return the largest absolute value of each weight of the noise, over the means from left to right."""
    outer = np.maximum(np.abs(np.square(left) - v), np.abs(np.square(right) - v))
    mirrored = np.maximum(np.abs(np.square(1.0 - left) - v), np.abs(np.square(1.0 - right) - v))
    # Each weight is contiguous, which is faster to compare.
    return np.stack([outer, _largest_variance(left, right) + v, mirrored]).T


def _largest_variance(left: Floats, right: Floats) -> Floats:
    """Return the largest m (1 - m) of the means from left to right."""
    middle = np.clip(0.5, left, right)
    return np.asarray(middle * (1.0 - middle))


class _Pieces(NamedTuple):
    """Pieces of I, from left to right, each with the noisy mean, variance and total of its cell."""

    left: Floats
    right: Floats
    mean: Floats
    variance: Floats
    total: Floats


def _hull(pieces: _Pieces, half_widths: ConcaveFunctions) -> tuple[Floats, Floats]:
    """Return the least and the largest variance that each piece does not reject; (1, 0) where it rejects all."""
    left, right, mean, variance, total = pieces
    top, zero, every = _largest_variance(left, right), np.zeros_like(left), np.arange(left.size)
    near = variance + np.square(np.clip(mean, left, right) - mean)
    far = variance + np.square(np.maximum(np.abs(left - mean), np.abs(right - mean)))

    def above(v: Floats, at: NDArray[np.intp]) -> Floats:
        return total[at] * (v - far[at]) - half_widths(v, at)

    def below(v: Floats, at: NDArray[np.intp]) -> Floats:
        return total[at] * (near[at] - v) - half_widths(v, at)

    inner = np.clip(far, zero, top)
    reach = half_widths(inner, every)
    end, at_inner = Points(top, above(top, every)), total * (inner - far) - reach
    kept = (end.value <= 0.0) | (at_inner <= 0.0)
    guess = np.minimum(inner + 2.0 * reach / total, top)
    upper = outer_root(above, end, Points(np.where((end.value > 0.0) & kept, inner, top), at_inner), guess)
    inner = np.clip(near, zero, top)
    reach = half_widths(inner, every)
    end, at_inner = Points(zero, below(zero, every)), total * (near - inner) - reach
    kept &= (end.value <= 0.0) | (at_inner <= 0.0)
    guess = np.maximum(inner - 2.0 * reach / total, zero)
    lower = outer_root(below, end, Points(np.where((end.value > 0.0) & kept, inner, zero), at_inner), guess)
    kept &= lower <= upper
    return np.where(kept, lower, 1.0), np.where(kept, upper, 0.0)
