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

Noisy sums of the cells of a table, and what is estimated from them.

A column has a public range [lo, hi], cut into N steps. A unit has a value a from 0 to N, clamped to the range and
rounded to a step, or none. In its cell it adds, to the sums of its column,

=======  =======================  ==================================================  ==========
kind     without a value          with the value a                                    unit U
=======  =======================  ==================================================  ==========
pair     (U, 0, 0)                (0, k (N - a), k a)                                 k N
triple   (U, 0, 0, 0)             (0, k (N - a)^2, 2 k a (N - a), k a^2)              k N^2
=======  =======================  ==================================================  ==========

Whatever its value, a unit adds U in all. Each sum has independent integer noise of the same law.

Where concave functions cross 0, from the outside: the ends of sets that a test does not reject.

From parts of a public range to the unit of the data.

Means of the values in a cell, from a pair or a triple of noisy sums, with exact intervals.

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

Variances of the values in a cell, from a triple of noisy sums, with intervals.

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

import math
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from attrs import field, frozen

from ggdp import _validate
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from numpy.typing import ArrayLike, NDArray

    from ggdp.noise.generalized_gaussian import Floats
    from ggdp.tables.statistics.weighted_noise import WeightedNoise


# Coordinates of a pair and of a triple, with the one for units without a value.
PAIR, TRIPLE = 3, 4


def _sums(sums: object) -> Floats:
    array = np.asarray(sums)
    if array.ndim == 0 or array.shape[-1] not in (PAIR, TRIPLE):
        raise ArgumentError("sums", f"of shape {array.shape}", "must have 3 or 4 coordinates along the last axis")
    return np.asarray(array.astype(np.float64))


def _unit(unit: int) -> int:
    return _validate.integer(unit=unit, at_least=1)


@frozen(kw_only=True, eq=False)
class ColumnSums:
    """The noisy sums of one column: a pair or a triple in each cell, after the sum for units without a value.

    Parameters
    ----------
    sums : array_like of int
        Noisy sums; the last axis has 3 coordinates (pair) or 4 (triple), any others are cells.
    unit : int
        U, what one unit adds to all coordinates together.

    Examples
    --------
    >>> ColumnSums(sums=[[0, 30, 10]], unit=10).coordinates
    3
    """

    sums: Floats = field(converter=_sums)
    unit: int = field(converter=_unit)

    @property
    def coordinates(self) -> int:
        """How many sums a cell has."""
        return int(self.sums.shape[-1])

    @property
    def weighed(self) -> Floats:
        """The sums of the units with a value, without the first coordinate."""
        return self.sums[..., 1:]

    @property
    def mean_weights(self) -> Floats:
        """What a unit of each of these sums adds to the sum of values, as parts of the range: 0 to 1 in even steps."""
        return np.linspace(0.0, 1.0, self.coordinates - 1)


@frozen(eq=False)
class Estimate:
    """Values with the ends of their intervals, an entry for each cell.

    `lower <= value <= upper` wherever there is a value. One that is NaN is null: the noisy sums say nothing about it,
    and the interval is all that is possible. Counts are int64 and never null.
    """

    value: NDArray[Any]
    lower: NDArray[Any]
    upper: NDArray[Any]


# One function for each entry: values at points, of the functions with these numbers.
ConcaveFunctions: TypeAlias = "Callable[[Floats, NDArray[np.intp]], Floats]"

# Chords and secants converge fast and halving is the guard; what is left is on the outside.
_STEPS = 16
# A step that is shorter than this part of the first distance is the last one, and so is one that leaves less.
_CLOSE = 1e-6
# Rounding must not put the end of a chord inside, from where the other end would come near by halving only.
_SHORT = 1.0 - 1e-7


class Points(NamedTuple):
    """A point for each function, and its value there."""

    x: Floats
    value: Floats


def outer_root(functions: ConcaveFunctions, outer: Points, inner: Points, guess: Floats | None = None) -> Floats:
    """Return points between `outer`, where the functions are above 0, and `inner`, where they are not, just outside.

    Claim: for a concave function no point from the outer one up to the result has a value of 0 or less, but the result
    itself may. Proof: concave functions lie above their chords, so the chord from an outer to an inner point reaches 0
    where the function is not below 0; and a concave function that is above 0 at two points is above 0 between them. It
    holds after every step, as a point becomes the outer one only if the function was found not to be below 0 there.

    A guess between them, one for each entry, saves steps. Beyond two outer points a concave function is below the line
    through them, so that the line reaches 0 at an inner point, near the root: the next chord ends there.

    All are arrays of one axis. Where the outer and the inner point are the same, it is the result.
    """
    result, at = outer.x.copy(), np.flatnonzero(outer.x != inner.x)
    outside, inside = outer.x[at], inner.x[at]
    at_outside, at_inside = outer.value[at], np.minimum(inner.value[at], 0.0)

    def narrowed(point: Floats, value: Floats, is_outer: NDArray[np.bool_]) -> None:
        nonlocal outside, inside, at_outside, at_inside
        outside, at_outside = np.where(is_outer, point, outside), np.where(is_outer, value, at_outside)
        inside, at_inside = np.where(is_outer, inside, point), np.where(is_outer, at_inside, np.minimum(value, 0.0))

    if guess is not None:
        value = functions(guess[at], at)
        narrowed(guess[at], value, value > 0.0)
    close = _CLOSE * np.abs(outside - inside)

    def without(done: NDArray[np.bool_], *more: Floats) -> list[Floats]:
        """Finish some, and return the rest of more arrays."""
        nonlocal at, close, outside, inside, at_outside, at_inside
        if not done.any():
            return list(more)
        result[at[done]] = outside[done]
        left = ~done
        at, close = at[left], close[left]
        outside, inside, at_outside, at_inside = (x[left] for x in (outside, inside, at_outside, at_inside))
        return [x[left] for x in more]

    for _ in range(_STEPS):
        if not at.size:
            break
        before, at_before = outside, at_outside
        moved = outside + _SHORT * _share(at_outside, at_outside - at_inside) * (inside - outside)
        value = functions(moved, at)
        narrowed(moved, value, value >= 0.0)
        done = (np.abs(inside - outside) <= close) | (np.abs(moved - before) <= close)
        before, at_before, moved, value = without(done, before, at_before, moved, value)
        secant = moved + _share(value, at_before - value) * (moved - before)
        usable = (value >= 0.0) & (at_before > value) & ((secant - inside) * (outside - inside) > 0.0)
        point = np.where(usable, secant, 0.5 * (outside + inside))
        value = functions(point, at)
        narrowed(point, value, value > 0.0)
        without(np.abs(inside - outside) <= close)
    result[at] = outside
    return result


def _share(part: Floats, whole: Floats) -> Floats:
    """Return part over whole; 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0.0)


def checked_range(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a public range, whose width is a float above 0."""
    lo, hi = _validate.finite(bounds=bounds[0]), _validate.finite(bounds=bounds[1])
    if not 0.0 < hi - lo < math.inf:
        raise ArgumentError("bounds", bounds, "must be a lower end below the upper one, with a finite distance")
    return lo, hi


def in_range(value: Floats, lower: Floats, upper: Floats, bounds: tuple[float, float]) -> Estimate:
    """Return lo + (hi - lo) t for parts t of a range, the ends rounded outwards and all of them within the range.

    Rounded sums and products are monotone, so the order of the three is kept.
    """
    lo, hi = checked_range(bounds)
    middle, low, high = (np.clip(lo + (hi - lo) * part, lo, hi) for part in (value, lower, upper))
    # One ulp of the larger of the numbers added.
    ulp = np.spacing(max(abs(lo), abs(hi)))
    return Estimate(middle, np.maximum(low - ulp, lo), np.minimum(high + ulp, hi))


def scaled(value: Floats, lower: Floats, upper: Floats, factor: float, most: float) -> Estimate:
    """Return parts times a factor above 0, the ends rounded outwards, from 0 to the factor times `most`."""
    top = most * factor
    middle, low, high = (np.minimum(part * factor, top) for part in (value, lower, upper))
    return Estimate(
        middle,
        np.where(low > 0.0, np.nextafter(low, 0.0), 0.0),
        np.minimum(np.nextafter(high, math.inf), top),
    )


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
