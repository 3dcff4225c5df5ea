"""Means of the values in a cell, from a pair or a triple of noisy sums, with exact intervals.

=======  ==============================================================================================
t        a value as a part of the range, from 0 to 1; m its mean over the n units with a value
S, W     noisy sums of t and of 1, times U: S = B, W = A + B for a pair; T1/2 + T2, T0 + T1 + T2
m-hat    S / W
c(m)     the quantile of the noise of S - m W, at the level
=======  ==============================================================================================

Claim. The interval covers m with a probability of at least the level, whatever n and the values are. Proof (Fieller
1954): without noise S - m W = U (n m - m n) = 0. So S - m W is a sum of noise with known weights, (-m, 1 - m) for a
pair and (-m, 1/2 - m, 1 - m) for a triple, and |S - m W| <= c(m) has at least the level. The interval contains every m
in [0, 1] with that property. It may contain more: the hull is taken, and where no m has it, or W <= 0, other m's; more
points never cover less. With n = 0 there is no mean, and nothing to cover.

Where W > 0, c is convex along the line of weights and, being the same for t and 1 - t, largest at 0 and 1. So m-hat
clipped to [0, 1] has the property, or no m has: if m-hat > 1, then S - m W >= S - W > c(1) >= c(m). And S - m W - c(m)
is concave in m, so the m below m-hat that are rejected are those up to one point.

A mean is null where W <= 0 or the interval is the whole range. The whole range is given for W <= 0, since no m says
that n is below 0. This, and the ends of the range, are where the cover exceeds the level: at n of a few c/U units, and
at means of 0 or 1, whose misses beyond the range leave no m at all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.tables.statistics.outer_roots import Points, outer_root
from ggdp.tables.statistics.ranges import in_range

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.distributions.generalized_gaussian import Floats
    from ggdp.tables.statistics.noisy_sums import ColumnSums, Estimate
    from ggdp.tables.statistics.weighted_noise import WeightedNoise

# Sums of floats of few terms are within this of their terms.
ROUNDING = 2.0**-49


def mean_estimate(
    column: ColumnSums, bounds: tuple[float, float], noise: WeightedNoise, level: float = 0.95
) -> Estimate:
    """Return the mean of the values in each cell.

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

    Returns
    -------
    Estimate
        In the unit of the column, of the values clamped to the range and rounded to its steps; NaN where the mean is
        null.

    Examples
    --------
    >>> from ggdp.tables.statistics import ColumnSums, WeightedNoise, mean_estimate
    >>> ages = ColumnSums(sums=[[0, 3_000_000, 1_000_000], [0, 900, -200]], unit=10_000)
    >>> mean = mean_estimate(ages, (0.0, 100.0), WeightedNoise(order=1, scale=10_000.0))
    >>> mean.value.tolist()
    [25.0, nan]
    >>> [ends.round(2).tolist() for ends in (mean.lower, mean.upper)]
    [[24.41, 0.0], [25.58, 100.0]]
    """
    value, lower, upper = mean_parts(column, noise, level)
    return in_range(value, lower, upper, bounds)


def mean_parts(column: ColumnSums, noise: WeightedNoise, level: float) -> tuple[Floats, Floats, Floats]:
    """Return means and the ends of their intervals as parts of the range; NaN for null means."""
    slopes, weighed = column.mean_weights, column.weighed.reshape(-1, column.coordinates - 1)
    total, first = weighed.sum(axis=-1), (weighed * slopes).sum(axis=-1)
    slack = ROUNDING * np.abs(weighed).sum(axis=-1)
    counted = total > 0.0
    # Cells without units are decided already; any sums do for them.
    total, first = np.where(counted, total, 1.0), np.where(counted, first, 0.5)
    value = np.clip(first / total, 0.0, 1.0)

    def half_width(m: Floats, at: NDArray[np.intp]) -> Floats:
        return np.asarray(noise.along(slopes, slopes - 1.0, m, level) + slack[at])

    def below(m: Floats, at: NDArray[np.intp]) -> Floats:
        return first[at] - m * total[at] - half_width(m, at)

    def above(m: Floats, at: NDArray[np.intp]) -> Floats:
        return m * total[at] - first[at] - half_width(m, at)

    every = np.arange(value.size)
    low, high = np.zeros_like(value), np.ones_like(value)
    at_value = half_width(value, every)
    off = first - value * total
    fits = np.abs(off) <= at_value
    # Twice the half-width away from the value is mostly outside, and much nearer than the end of the range.
    twice = 2.0 * at_value / total
    left = Points(low, below(low, every))
    inside = Points(np.where(left.value > 0.0, value, low), off - at_value)
    lower = outer_root(below, left, inside, np.maximum(value - twice, low))
    right = Points(high, above(high, every))
    inside = Points(np.where(right.value > 0.0, value, high), -off - at_value)
    upper = outer_root(above, right, inside, np.minimum(value + twice, high))
    # What no mean explains is near 0 or 1; the interval is as wide as the noise.
    reach = at_value / total
    lower = np.where(fits, lower, np.maximum(value - reach, 0.0))
    upper = np.where(fits, upper, np.minimum(value + reach, 1.0))
    lower, upper = np.minimum(lower, value), np.maximum(upper, value)
    null = ~counted | ((lower <= 0.0) & (upper >= 1.0))
    found = np.where(null, np.nan, value), np.where(null, 0.0, lower), np.where(null, 1.0, upper)
    value, lower, upper = (part.reshape(column.sums.shape[:-1]) for part in found)
    return value, lower, upper
