"""Counts, sums, means and variances of the cells of a table, with exact intervals, from noisy sums.

A column has a public range [lo, hi], cut into N steps. A unit has a value a from 0 to N, clamped to the range and
rounded to a step, or none. In its cell it adds, to the sums of its column,

=======  =======================  ==================================================  ==========
kind     without a value          with the value a                                    unit U
=======  =======================  ==================================================  ==========
count    (U)                      (U)                                                 U
pair     (U, 0, 0)                (0, k (N - a), k a)                                 k N
triple   (U, 0, 0, 0)             (0, k (N - a)^2, 2 k a (N - a), k a^2)              k N^2
=======  =======================  ==================================================  ==========

Whatever its value, a unit adds U in all. Each sum has independent integer noise of the same law.

=======  ==============================================================================================
g        a column with noisy sums x_g1, ..., x_gr; U_g its unit, r_g how many there are (r)
N_g      (x_g1 + ... + x_gr) / U_g, which is the number of units plus noise
s^2      variance of the noise in one sum
t        a value as a part of the range, from 0 to 1; m and v its mean and variance over the n units with a value
W, S, Q  noisy sums of 1, t and t^2, times U: A + B and B for a pair; T0 + T1 + T2, T1/2 + T2 and T2 for a triple
m-hat    S / W, and v-hat = Q / W - m-hat^2
c        quantile of the noise of a weighted sum, at the level: c(m) that of S - m W, c(m, v) that of V(m, v)
V(m, v)  Q - 2 m S + (m^2 - v) W = W (v-hat + (m - m-hat)^2 - v)
I        interval of m, missed with a probability of at most `MEAN_SHARE` of 1 - level
=======  ==============================================================================================

**Counts and sums.** Claim. A linear function of the noisy sums, minus the same function of the true sums, is a weighted
sum of noise with known weights. So the interval of its half-width around it covers the true value with at least the
level.

Every N_g estimates the same number, with the variance r_g s^2 / U_g^2. Weights in proportion to U_g^2 / r_g, adding up
to 1, give the least variance of all unbiased linear combinations. Counts are whole numbers, so the ends of their
intervals are the outermost whole numbers within; no true count is lost.

The sum of the values is the function with the coefficients lo, ..., hi in even steps over U (0 for the units without a
value): for a pair (lo A + hi B)/U. Other columns know the number of units too. N' - N_g, with N' the count from them,
has mean 0, and adding it lambda times with lambda = cov(sum, N_g) / var(N' - N_g) gives the least variance (the normal
equation). The weights of the noise follow, and the interval with them.

**Means.** Claim. The interval covers m with a probability of at least the level, whatever n and the values are. Proof
(Fieller 1954): without noise S - m W = U (n m - m n) = 0. So S - m W is a sum of noise with known weights, (-m, 1 - m)
for a pair and (-m, 1/2 - m, 1 - m) for a triple, and |S - m W| <= c(m) has at least the level. The interval contains
every m in [0, 1] with that property. It may contain more: the hull is taken, and where no m has it, or W <= 0, other
m's; more points never cover less. With n = 0 there is no mean, and nothing to cover.

Where W > 0, c is convex along the line of weights and, being the same for t and 1 - t, largest at 0 and 1. So m-hat
clipped to [0, 1] has the property, or no m has: if m-hat > 1, then S - m W >= S - W > c(1) >= c(m). And S - m W - c(m)
is concave in m, so the m below m-hat that are rejected are those up to one point.

A mean is null where W <= 0 or the interval is the whole range. The whole range is given for W <= 0, since no m says
that n is below 0. This, and the ends of the range, are where the cover exceeds the level: at n of a few c/U units, and
at means of 0 or 1, whose misses beyond the range leave no m at all.

**Variances.** v is the variance of the n values themselves, with n below the fraction, not an estimate for a larger
population. The weights of V(m, v) on T0, T1, T2 are (m^2 - v, m^2 - m - v, (1 - m)^2 - v).

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
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from attrs import field, frozen
from numpy.typing import ArrayLike, NDArray

from ggdp import _validate
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from ggdp.noise.generalized_gaussian import Floats
    from ggdp.tables.statistics.weighted_noise import SumNoise

    # The ends of a range, or of one for each cell.
    Bounds: TypeAlias = tuple[float, float] | tuple[Floats, Floats]

# Sums of a count, a pair and a triple, with the one for units without a value.
COUNT, PAIR, TRIPLE = 1, 3, 4
# Sums of floats of few terms are within this of their terms.
ROUNDING = 2.0**-49
# Far above every count, and far inside of int64.
_MOST_COUNT = 2.0**62
# The part of 1 - level with which the interval of the mean may miss, in an interval of the variance.
MEAN_SHARE = 0.06
# Largest variance of values in [0, 1].
MOST_VARIANCE = 0.25
# Into how many pieces I is cut where it is wider than _NARROW, as a part of the range.
_PIECES, _NARROW = 4, 0.02


def _sums(sums: object) -> Floats:
    array = np.asarray(sums)
    if array.ndim != 2 or array.shape[1] not in (COUNT, PAIR, TRIPLE):
        raise ArgumentError("sums", f"of shape {array.shape}", "must have a row for each cell, of 1, 3 or 4 sums")
    return np.asarray(array.astype(np.float64))


@frozen(kw_only=True, eq=False)
class ColumnSums:
    """The noisy sums of one column: a row for each cell, with a count, or with the sums of a pair or a triple."""

    sums: Floats = field(converter=_sums)
    unit: int  # U, what one unit adds to all sums of its cell together

    @property
    def coordinates(self) -> int:
        """How many sums a cell has."""
        return int(self.sums.shape[1])

    @property
    def of_values(self) -> Floats:
        """The sums of the units with a value, without the first one."""
        return self.sums[:, 1:]

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


def count_estimate(columns: Sequence[ColumnSums], noise: SumNoise, level: float = 0.95) -> Estimate:
    """Return the number of units in each cell, with or without a value, from all columns of the same units."""
    value, lower, upper = (
        np.clip(end, -_MOST_COUNT, _MOST_COUNT) for end in _linear(columns, count_weights(columns), noise, level)
    )
    value = np.rint(value)
    ends = (value, np.minimum(np.ceil(lower), value), np.maximum(np.floor(upper), value))
    return Estimate(*(end.astype(np.int64) for end in ends))


def count_weights(columns: Sequence[ColumnSums]) -> list[Floats]:
    """Return the coefficients of the sums of columns in the best count."""
    precision = np.array([column.unit / column.coordinates * column.unit for column in columns])
    shares = (precision / precision.sum()).tolist()
    return [np.full(column.coordinates, share / column.unit) for share, column in zip(shares, columns, strict=True)]


def sum_estimate(
    column: ColumnSums,
    bounds: Bounds,
    noise: SumNoise,
    level: float = 0.95,
    *,
    others: Sequence[ColumnSums] = (),
) -> Estimate:
    """Return the sum of the values in each cell; other columns of the same units make it more precise."""
    lo, hi = checked_range(bounds)
    unit, coordinates = column.unit, column.coordinates
    # The coordinates last, after the cells if each has a range of its own.
    slopes = np.moveaxis(np.linspace(lo, hi, coordinates - 1), 0, -1)
    weights = [np.concatenate((np.zeros_like(slopes[..., :1]), slopes), axis=-1) / unit]
    if others:
        rest = count_weights(others)
        spread = sum(float(np.square(part).sum()) for part in rest)
        share = weights[0].sum(axis=-1, keepdims=True) / unit / (coordinates / unit**2 + spread)
        weights = [weights[0] - share / unit, *(share * part for part in rest)]
    return Estimate(*_linear([column, *others], weights, noise, level))


def single_sum_estimate(sums: ArrayLike, step: float | Floats, noise: SumNoise, level: float = 0.95) -> Estimate:
    """Return sums of values that have one noisy sum each, a 1 of which is worth `step` in the unit of the column."""
    step = step if isinstance(step, np.ndarray) else _validate.positive(step=step)
    noisy = np.asarray(sums).astype(np.float64)
    reach = noise.half_widths([1.0], level)
    lower, upper = ((noisy + sign * (reach + ROUNDING * np.abs(noisy))) * step for sign in (-1.0, 1.0))
    return Estimate(noisy * step, lower, upper)


def _linear(
    columns: Sequence[ColumnSums], weights: Sequence[Floats], noise: SumNoise, level: float
) -> tuple[Floats, Floats, Floats]:
    """Return a linear function of noisy sums, and the ends of its intervals."""
    numbers = {len(column.sums) for column in columns}
    if len(numbers) != 1:
        raise ArgumentError("columns", f"of {sorted(numbers)} cells", "must be one or more, with the same cells")
    # Not by a matrix product, whose threads would wait busily afterwards.
    terms = np.concatenate([column.sums * part for column, part in zip(columns, weights, strict=True)], axis=-1)
    value, sizes = terms.sum(axis=-1), np.abs(terms).sum(axis=-1)
    reach = noise.half_widths(np.concatenate(weights, axis=-1), level) + ROUNDING * sizes
    return value, value - reach, value + reach


def mean_parts(column: ColumnSums, noise: SumNoise, level: float) -> tuple[Floats, Floats, Floats]:
    """Return means and the ends of their intervals as parts of the range; NaN for null means."""
    slopes, sums = column.mean_weights, column.of_values
    total, first = sums.sum(axis=-1), (sums * slopes).sum(axis=-1)
    slack = ROUNDING * np.abs(sums).sum(axis=-1)
    counted = total > 0.0
    # Cells without units are decided already; any sums do for them.
    total, first = np.where(counted, total, 1.0), np.where(counted, first, 0.5)
    value = np.clip(first / total, 0.0, 1.0)

    def half_width(m: Floats, at: NDArray[np.intp]) -> Floats:
        return np.asarray(noise.along(slopes, slopes - 1.0, m, level) + slack[at])

    every = np.arange(value.size)
    at_value, off = half_width(value, every), first - value * total
    fits = np.abs(off) <= at_value

    def end(sign: float, outermost: float) -> Floats:
        """Return the end of the means that are not rejected, from the end of the range: below (1) or above (-1)."""

        def rejected(m: Floats, at: NDArray[np.intp]) -> Floats:
            return sign * (first[at] - m * total[at]) - half_width(m, at)

        x = np.full_like(value, outermost)
        outer = Points(x, rejected(x, every))
        inner = Points(np.where(outer.value > 0.0, value, x), sign * off - at_value)
        # Twice the half-width away from the value is mostly outside, and much nearer than the end of the range.
        return outer_root(rejected, outer, inner, np.clip(value - sign * (2.0 * at_value / total), 0.0, 1.0))

    # What no mean explains is near 0 or 1; the interval is as wide as the noise.
    reach = at_value / total
    lower = np.where(fits, end(1.0, 0.0), np.maximum(value - reach, 0.0))
    upper = np.where(fits, end(-1.0, 1.0), np.minimum(value + reach, 1.0))
    lower, upper = np.minimum(lower, value), np.maximum(upper, value)
    null = ~counted | ((lower <= 0.0) & (upper >= 1.0))
    return np.where(null, np.nan, value), np.where(null, 0.0, lower), np.where(null, 1.0, upper)


def variance_parts(column: ColumnSums, noise: SumNoise, level: float) -> tuple[Floats, Floats, Floats]:
    """Return variances and the ends of their intervals in units of the squared range; NaN for null variances."""
    if column.coordinates != TRIPLE:
        raise ArgumentError("column", f"of {column.coordinates} coordinates", "must have triples of sums")
    _, least, most = mean_parts(column, noise, 1.0 - MEAN_SHARE * (1.0 - level))
    # Where the mean is known well, pieces of I would change next to nothing.
    pieces = np.where(most - least <= _NARROW, 1, _PIECES)
    found = np.empty((3, least.size))
    for number in np.unique(pieces):
        here = pieces == number
        part = ColumnSums(sums=column.sums[here], unit=column.unit)
        found[:, here] = _variances(part, least[here], most[here], int(number), noise, level)
    value, lower, upper = found
    return value, lower, upper


def _variances(
    column: ColumnSums, least: Floats, most: Floats, pieces: int, noise: SumNoise, level: float
) -> tuple[Floats, Floats, Floats]:
    """Return the same for means from `least` to `most`, cut into pieces."""
    sums = column.of_values
    # Not by a matrix product, whose threads would wait busily afterwards.
    total, first, second = sums.sum(axis=-1), (sums * column.mean_weights).sum(axis=-1), sums[:, 2]
    counted = total > 0.0
    total = np.where(counted, total, 1.0)
    mean = np.where(counted, first, 0.5) / total
    variance = np.where(counted, second, 0.5) / total - np.square(mean)
    # One entry for each piece of I, those of a cell next to each other.
    edges = least[:, None] + (most - least)[:, None] * np.linspace(0.0, 1.0, pieces + 1)
    left, right, every = edges[:, :-1].reshape(-1), edges[:, 1:].reshape(-1), np.arange(pieces * least.size)
    slack, means, variances, totals = (
        np.repeat(x, pieces) for x in (ROUNDING * np.abs(sums).sum(axis=-1), mean, variance, total)
    )
    middle = np.clip(0.5, left, right)
    # The largest m (1 - m) of a piece.
    top = middle * (1.0 - middle)
    near = variances + np.square(np.clip(means, left, right) - means)
    far = variances + np.square(np.maximum(np.abs(left - means), np.abs(right - means)))

    def half_widths(v: Floats, at: NDArray[np.intp]) -> Floats:
        """Return C(v) for some pieces: c at the largest absolute value of each weight."""
        a, b = left[at], right[at]
        outer = np.maximum(np.abs(np.square(a) - v), np.abs(np.square(b) - v))
        mirrored = np.maximum(np.abs(np.square(1.0 - a) - v), np.abs(np.square(1.0 - b) - v))
        # Each weight is contiguous, which is faster to compare.
        weights = np.stack([outer, top[at] + v, mirrored]).T
        found = noise.within(weights, 1.0 - (1.0 - MEAN_SHARE) * (1.0 - level), in_all=every.size)
        return np.asarray(found + slack[at])

    def ends(sign: float, centre: Floats, edge: Floats, kept: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the least (1) or largest (-1) variance that each piece does not reject, and which have one."""

        def rejected(v: Floats, at: NDArray[np.intp]) -> Floats:
            return sign * (totals[at] * (centre[at] - v)) - half_widths(v, at)

        inner = np.clip(centre, 0.0, top)
        reach = half_widths(inner, every)
        outer, at_inner = Points(edge, rejected(edge, every)), sign * (totals * (centre - inner)) - reach
        kept = kept & ((outer.value <= 0.0) | (at_inner <= 0.0))
        inside = Points(np.where((outer.value > 0.0) & kept, inner, edge), at_inner)
        guess = np.clip(inner - sign * (2.0 * reach / totals), 0.0, top)
        return outer_root(rejected, outer, inside, guess), kept

    high, kept = ends(-1.0, far, top, np.ones(every.size, dtype=np.bool_))
    low, kept = ends(1.0, near, np.zeros_like(left), kept)
    kept &= low <= high
    lower = np.where(kept, low, 1.0).reshape(-1, pieces).min(axis=1)
    upper = np.where(kept, high, 0.0).reshape(-1, pieces).max(axis=1)
    none = lower > upper
    value = np.clip(variance, np.where(none, 0.0, lower), np.where(none, MOST_VARIANCE, upper))
    # What no variance explains: the nearest one, and an interval as wide as the noise.
    at = np.flatnonzero(np.repeat(none, pieces))
    width = half_widths(np.repeat(value[none], pieces), at).reshape(-1, pieces).max(axis=1) / total[none]
    lower[none], upper[none] = np.maximum(value[none] - width, 0.0), np.minimum(value[none] + width, MOST_VARIANCE)
    null = ~counted | ((lower <= 0.0) & (upper >= MOST_VARIANCE))
    return np.where(null, np.nan, value), np.where(null, 0.0, lower), np.where(null, MOST_VARIANCE, upper)


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


def outer_root(
    functions: Callable[[Floats, NDArray[np.intp]], Floats], outer: Points, inner: Points, guess: Floats | None = None
) -> Floats:
    """Return points between `outer`, where the functions are above 0, and `inner`, where they are not, just outside.

    Claim: for a concave function no point from the outer one up to the result has a value of 0 or less, but the result
    itself may. Proof: concave functions lie above their chords, so the chord from an outer to an inner point reaches 0
    where the function is not below 0; and a concave function that is above 0 at two points is above 0 between them. It
    holds after every step, as a point becomes the outer one only if the function was found not to be below 0 there.

    A guess between them, one for each entry, saves steps. Beyond two outer points a concave function is below the line
    through them, so that the line reaches 0 at an inner point, near the root: the next chord ends there.

    All are arrays of one axis; `functions` takes points, and the numbers of the functions to evaluate there. Where the
    outer and the inner point are the same, it is the result.
    """
    result, at = outer.x.copy(), np.flatnonzero(outer.x != inner.x)
    outside, inside = outer.x[at], inner.x[at]
    at_outside, at_inside = outer.value[at], np.minimum(inner.value[at], 0.0)

    def narrow(point: Floats, value: Floats, is_outer: NDArray[np.bool_]) -> None:
        nonlocal outside, inside, at_outside, at_inside
        outside, at_outside = np.where(is_outer, point, outside), np.where(is_outer, value, at_outside)
        inside, at_inside = np.where(is_outer, inside, point), np.where(is_outer, at_inside, np.minimum(value, 0.0))

    if guess is not None:
        value = functions(guess[at], at)
        narrow(guess[at], value, value > 0.0)
    close = _CLOSE * np.abs(outside - inside)

    def finish(done: NDArray[np.bool_], *more: Floats) -> list[Floats]:
        """Put some into the result, and return the rest of more arrays."""
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
        narrow(moved, value, value >= 0.0)
        done = (np.abs(inside - outside) <= close) | (np.abs(moved - before) <= close)
        before, at_before, moved, value = finish(done, before, at_before, moved, value)
        secant = moved + _share(value, at_before - value) * (moved - before)
        usable = (value >= 0.0) & (at_before > value) & ((secant - inside) * (outside - inside) > 0.0)
        point = np.where(usable, secant, 0.5 * (outside + inside))
        value = functions(point, at)
        narrow(point, value, value > 0.0)
        finish(np.abs(inside - outside) <= close)
    result[at] = outside
    return result


def _share(part: Floats, whole: Floats) -> Floats:
    """Return part over whole; 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(whole), where=whole > 0.0)


def checked_range(bounds: Bounds) -> Bounds:
    """Return the ends of a public range, or of one for each cell, whose width is a float above 0."""
    lo, hi = (end if isinstance(end, np.ndarray) else _validate.finite(bounds=end) for end in bounds)
    if not np.all((hi - lo > 0.0) & (hi - lo < math.inf)):
        raise ArgumentError("bounds", bounds, "must be a lower end below the upper one, with a finite distance")
    return lo, hi  # type: ignore[return-value]


def place_in_range(value: Floats, lower: Floats, upper: Floats, bounds: Bounds) -> Estimate:
    """Return lo + (hi - lo) t for parts t of a range, the ends rounded outwards and all of them within the range.

    Rounded sums and products are monotone, so the order of the three is kept.
    """
    lo, hi = checked_range(bounds)
    middle, low, high = (np.clip(lo + (hi - lo) * part, lo, hi) for part in (value, lower, upper))
    # One ulp of the larger of the numbers added.
    ulp = np.spacing(np.maximum(np.abs(lo), np.abs(hi)))
    return Estimate(middle, np.maximum(low - ulp, lo), np.minimum(high + ulp, hi))


def scale_parts(value: Floats, lower: Floats, upper: Floats, factor: float | Floats, most: float) -> Estimate:
    """Return parts times a factor above 0, the ends rounded outwards, from 0 to the factor times `most`."""
    top = most * factor
    middle, low, high = (np.minimum(part * factor, top) for part in (value, lower, upper))
    below = np.where(low > 0.0, np.nextafter(low, 0.0), 0.0)
    return Estimate(middle, below, np.minimum(np.nextafter(high, math.inf), top))
