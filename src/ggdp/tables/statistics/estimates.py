"""Counts and sums from noisy sums: linear functions of them, with exact intervals.

=======  ==============================================================================================
g        a column with noisy sums x_g1, ..., x_gr; U_g its unit, r_g how many there are (r)
N_g      (x_g1 + ... + x_gr) / U_g, which is the number of units plus noise
s^2      variance of the noise in one sum
=======  ==============================================================================================

Claim. A linear function of the noisy sums, minus the same function of the true sums, is a weighted sum of noise with
known weights. So the interval of its half-width around it covers the true value with at least the level.

Counts. Every N_g estimates the same number, with the variance r_g s^2 / U_g^2. Weights in proportion to U_g^2 / r_g,
adding up to 1, give the least variance of all unbiased linear combinations.

Sums. The sum of the values is the function with the coefficients lo, ..., hi in even steps over U (0 for the units
without a value): for a pair (lo A + hi B)/U. Other columns know the number of units too. N' - N_g, with N' the count
from them, has mean 0, and adding it lambda times with lambda = cov(sum, N_g) / var(N' - N_g) gives the least variance
(the normal equation). The weights of the noise follow, and the interval with them.

Counts are whole numbers, so the ends of their intervals are the outermost whole numbers within; no true count is lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.tables.statistics.means import ROUNDING
from ggdp.tables.statistics.noisy_sums import Estimate
from ggdp.tables.statistics.ranges import checked_range

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from ggdp.distributions.generalized_gaussian import Floats
    from ggdp.tables.statistics.noisy_sums import ColumnSums
    from ggdp.tables.statistics.weighted_noise import WeightedNoise

# Far above every count, and far inside of int64.
_MOST = 2.0**62


def count_estimate(columns: Sequence[ColumnSums], noise: WeightedNoise, level: float = 0.95) -> Estimate:
    """Return the number of units in each cell, with or without a value.

    Parameters
    ----------
    columns : sequence of ColumnSums
        All columns whose units are the same.
    noise : WeightedNoise
        Law of the noise in each sum.
    level : float, default 0.95
        Of each interval on its own.

    Returns
    -------
    Estimate
        As int64. Negative numbers are not replaced by 0: ends and values may be, as no count is negative.

    Examples
    --------
    >>> from ggdp.tables.statistics import ColumnSums, WeightedNoise, count_estimate
    >>> ages = ColumnSums(sums=[[12_000, 3_000_000, 1_000_000]], unit=10_000)
    >>> count = count_estimate([ages], WeightedNoise(order=1, scale=10_000.0))
    >>> count.value.tolist(), count.lower.tolist(), count.upper.tolist()
    ([401], [397], [406])
    """
    _require_columns(columns)
    value, lower, upper = _linear(columns, count_weights([(x.unit, x.coordinates) for x in columns]), noise, level)
    middle = np.rint(np.clip(value, -_MOST, _MOST))
    low = np.minimum(np.ceil(np.clip(lower, -_MOST, _MOST)), middle)
    high = np.maximum(np.floor(np.clip(upper, -_MOST, _MOST)), middle)
    return Estimate(*(end.astype(np.int64) for end in (middle, low, high)))


def count_weights(kinds: Sequence[tuple[int, int]]) -> list[Floats]:
    """Return the coefficients of the best count, for columns of these units and numbers of coordinates."""
    precision = np.array([unit / coordinates * unit for unit, coordinates in kinds])
    shares = precision / precision.sum()
    return [
        np.full(coordinates, share / unit) for share, (unit, coordinates) in zip(shares.tolist(), kinds, strict=True)
    ]


def sum_estimate(
    column: ColumnSums,
    bounds: tuple[float, float],
    noise: WeightedNoise,
    level: float = 0.95,
    *,
    others: Sequence[ColumnSums] = (),
) -> Estimate:
    """Return the sum of the values in each cell.

    Parameters
    ----------
    column : ColumnSums
        Noisy sums of the column.
    bounds : tuple of (float, float)
        The public range (lo, hi).
    noise : WeightedNoise
        Law of the noise in each sum.
    level : float, default 0.95
        Of each interval on its own.
    others : sequence of ColumnSums, optional
        Other columns of the same units; their counts make the sum more precise.

    Examples
    --------
    >>> from ggdp.tables.statistics import ColumnSums, WeightedNoise, sum_estimate
    >>> ages = ColumnSums(sums=[[0, 3_000_000, 1_000_000]], unit=10_000)
    >>> total = sum_estimate(ages, (0.0, 100.0), WeightedNoise(order=1, scale=10_000.0))
    >>> [round(float(end[0]), 1) for end in (total.value, total.lower, total.upper)]
    [10000.0, 9700.4, 10299.6]
    """
    columns = [column, *others]
    _require_columns(columns)
    kinds = [(x.unit, x.coordinates) for x in columns]
    return Estimate(*_linear(columns, sum_weights(kinds, bounds), noise, level))


def sum_weights(kinds: Sequence[tuple[int, int]], bounds: tuple[float, float]) -> list[Floats]:
    """Return the coefficients of the best sum of the first column, for columns of these units and coordinates."""
    lo, hi = checked_range(bounds)
    (unit, coordinates), others = kinds[0], kinds[1:]
    values = np.linspace(lo, hi, coordinates - 1)
    weights = np.concatenate(([0.0], values)) / unit
    if not others:
        return [weights]
    rest = count_weights(others)
    spread = sum(float(np.square(part).sum()) for part in rest)
    share = float(weights.sum()) / unit / (coordinates / unit**2 + spread)
    return [weights - share / unit, *(share * part for part in rest)]


def single_sum_estimate(sums: ArrayLike, step: float, noise: WeightedNoise, level: float = 0.95) -> Estimate:
    """Return sums that have one noisy sum each.

    Parameters
    ----------
    sums : array_like of int
        Noisy sums.
    step : float
        What 1 in a noisy sum is worth in the unit of the column.
    noise : WeightedNoise
        Law of the noise in each sum.
    level : float, default 0.95
        Of each interval on its own.

    Examples
    --------
    >>> from ggdp.tables.statistics import WeightedNoise, single_sum_estimate
    >>> total = single_sum_estimate([2_000_000, -4_000], 0.01, WeightedNoise(order=1, scale=10_000.0))
    >>> total.value.tolist(), total.upper.round(2).tolist()
    ([20000.0, -40.0], [20299.58, 259.58])
    """
    step = _validate.positive(step=step)
    noisy = np.asarray(sums).astype(np.float64)
    reach = noise.half_widths([1.0], level)
    lower, upper = ((noisy + sign * (reach + ROUNDING * np.abs(noisy))) * step for sign in (-1.0, 1.0))
    return Estimate(noisy * step, lower, upper)


def _linear(
    columns: Sequence[ColumnSums], weights: Sequence[Floats], noise: WeightedNoise, level: float
) -> tuple[Floats, Floats, Floats]:
    """Return a linear function of noisy sums, and the ends of its intervals."""
    # Not by a matrix product, whose threads would wait busily afterwards.
    terms = np.concatenate([column.sums * part for column, part in zip(columns, weights, strict=True)], axis=-1)
    value, sizes = terms.sum(axis=-1), np.abs(terms).sum(axis=-1)
    reach = noise.half_widths(np.concatenate(weights), level) + ROUNDING * sizes
    return value, value - reach, value + reach


def _require_columns(columns: Sequence[ColumnSums]) -> None:
    shapes = {column.sums.shape[:-1] for column in columns}
    if len(shapes) != 1:
        raise ArgumentError("columns", f"of shapes {sorted(shapes)}", "must be one or more, with the same cells")
