"""The law of a release around its true values: intervals, bias and error, from public parameters alone.

=======  ==========================================================================================
s        a true value; index(s) = floor(s/g + 1/2) on the grid, s itself on the integers
g        step of the grid, 1 on the integers
K        the integer noise
m        the noisy index: index(s) + K, saturated at the ends of int64, or a draw within the bounds
y        what is released: g m, rounded beyond 2^53 steps, and clipped to the bounds
h        half-width in steps, as below
i        index of a hypothetical true value s, clamped to the bounds in steps
e(m)     how far the float of m is moved when it is clipped to bounds that are off the grid
=======  ==========================================================================================

Intervals are functions of the released values, so they cost no privacy. They cover the true value before it was
rounded to the grid. With bounds they cover the true value clamped to them. Where true values are clamped to a size
before unbounded noise, an interval that reaches that size is open beyond it.

Claim (grid). If [i, j] covers index(s), then [(i - 1/2) g, (j + 1/2) g] covers s. Proof: index(s) = k exactly if
(k - 1/2) g <= s < (k + 1/2) g; an index at an end of int64 stands for everything beyond, so there the interval is
infinite. An output y from 2^53 steps on is a rounded g m, with m between the neighboring floats over g. A y at a bound
may be clipped from any m whose g m is beyond it. Where m is known only to be in a range, the union over the range is
taken, which is an interval since both ends rise with m.

Bias and errors are functions of a hypothetical true value, or the largest over all of them. A bias that is evaluated
at the real true value, and published, gives that value away: they are for studying a mechanism, and for stating its
worst case.

Bounds are kept coordinate by coordinate, in steps of the grid and in the unit of the data. A bound that is not a point
of the grid was rounded to one; released values are clipped to the bound itself. On the integers the two are the same,
and only the integers are used, since floats do not hold all of them beyond 2^53.

The deviation of a released value from s, in steps and with rounding and clipping, is (m - i) + e(m) + (i - s). The
first part has the moments of `ggdp.noise.bounded_law`, the second is 0 but at an output or two next to a bound,
the third is at most half a step and not random. On the integers only the first is there. These are floats: they
describe and prove nothing.

**Intervals for noisy integers** are the true values that an output does not reject, at a level:

=======  ====================================================================================
s, y     true value and output, integers; K the noise
a        1 - level
h        least integer with P(|K| <= h) >= level, for noise that does not depend on s
d(s)     least integer with P(|X - s| <= d | s) >= level, for truncated noise X around s
l, u     s - c0 and c1 - s, the distances of s to the bounds
f(k)     exp(-(|k| / b)^p), the weight of the noise k
Z(s)     sum of f(x - s) over the outputs x in the bounds
w        length of the blocks of integers that are summed together, a power of two; 1 if few
=======  ====================================================================================

Claim (clamped noise). Let y = clamp(s + K), to the ends of int64 or to bounds, with s inside. Then s is in
[y - h, y + h] with a probability of at least the level. Proof: s is its own clamp, and clamping moves no two numbers
apart, so |y - s| <= |K|.

Claim (truncated noise). The s with |y - s| <= d(s) are an interval around y, and cover the true value with a
probability of at least the level; with any smaller d(s) they would not, at that s. Proof: cover is the definition of
d. For the interval it is enough that d(s - 1) <= d(s) + 1, since then s + d(s) does not fall as s grows, and by
reflection neither does s - d(s). Write d for d(s). Outputs more than d + 1 away from s - 1 are those above s + d and
those below s - 2 - d. The first have no more probability at s - 1 than at s: the ratio f(x - s) / f(x - s + 1) rises
with x, since f is log-concave, so X grows stochastically with s. The others had N/Z at s, N the sum of f(k) over
d < k <= l. At s - 1 they have (N - f(d + 1) - f(l)) / (Z - f(l) + f(u + 1)), or 0 if l <= d + 1. That is at most N/Z,
for Z (f(d + 1) + f(l)) >= N f(l).

The interval always holds y. (The test with equal tails, inverted, would leave no true value at all for the outermost
a/2 of the outputs around a bound.)

Claim (largest d). d(s) is largest at a bound or in the middle. Proof: let d be the larger of these two. With n(x) the
sum of f(k) over d < k <= x and H(x) that over 1 <= k <= x, the probability of more than d around s is q = (n(l) + n(u))
/ (1 + H(l) + H(u)). If u <= d < l, it is at most n(l) / (1 + H(l)), which rises with l up to that at the bound. If both
distances exceed d, q = x / (1 + 2 H(d) + x) with x = n(l) + n(u), which is largest in the middle, since n is concave.

Rounding: outwards. P(|K| > h) is enclosed in balls. Sums of truncated noise are floats with a relative error below
1e-12, and an s is left out only where its probability is below a by 1e-11 of itself and of the sum it is a difference
of. Blocks of more than one integer are summed from above where they count against s, and from below in Z, f being
monotone on them: that costs a few w, each a millionth of the reach of the noise.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np
from attrs import evolve, field
from flint import arb
from numpy.typing import ArrayLike, NDArray

from ggdp import _validate
from ggdp._records import checked_field, frozen
from ggdp._rounding import rounded_up
from ggdp.errors import ArgumentError
from ggdp.noise.bounded_law import BoundedIntegerErrors, running_sums, weights
from ggdp.noise.common_total_noise import CommonTotalNoise
from ggdp.noise.entropy import Integers
from ggdp.noise.generalized_gaussian import Floats, checked_order, checked_scale
from ggdp.noise.integer_law import IntegerGeneralizedGaussian, least_with_tail
from ggdp.noise.norm_ball_noise import NormBallNoise, vector_noise
from ggdp.privacy.grid import LARGEST, LEAST, Grid, exact_numbers
from ggdp.proofs.noise_law import NoiseLaw, Norm

if TYPE_CHECKING:
    from ggdp.noise.minkowski_noise import MinkowskiNoise

Range: TypeAlias = "tuple[Integers, Integers]"

# What lies beyond e^-80 is below 1e-34 of Z, and a is above 1e-16.
_DEPTH = 80.0
_MOST_BLOCKS = 1 << 20
_MARGIN = 1e-11
_MANY = 16
# Floats hold every integer up to the first, and every half below the second.
_EXACT, _HALF_EXACT = 2.0**53, 2.0**52


@lru_cache(maxsize=64)
def noise_half_width(order: float, scale: float, level: float) -> int:
    """Return h, the least integer with P(|K| <= h) >= level; the next one where no precision tells."""
    return least_with_tail(order, scale, lambda: (1 - arb(level)) / 2, at_least=1) - 1


@lru_cache(maxsize=64)
def simultaneous_half_width(order: float, scale: float, level: float, cells: int) -> int:
    """Return the least integer h with P(|K| <= h)^cells >= level: the noise of all cells is within it at that level.

    The probability 1 - level^(1/cells) that a cell may go beyond h is made in balls, where it keeps its digits; as a
    float level^(1/cells) would have lost them with many cells.
    """
    return least_with_tail(order, scale, lambda: -(arb(level).log() / cells).expm1() / 2, at_least=1) - 1


def indices_behind(noisy: Floats, grid: Grid) -> Range:
    """Return the least and the largest noisy index behind floats that were not clipped.

    Below 2^53 steps there is one; beyond, the product of index and step was rounded, to a float whose neighbours are
    the products of indices on either side.
    """
    index = grid.index(noisy)
    with np.errstate(over="ignore"):
        far = np.abs(noisy) >= _EXACT * grid.step
    if not far.any():
        return index, index
    first, last = (grid.index(np.nextafter(noisy, towards)) for towards in (-math.inf, math.inf))
    return np.where(far, first, index), np.where(far, last, index)


def indices_within(noisy: Floats, grid: Grid, indices: tuple[int, int], bounds: tuple[float, float]) -> Range:
    """Return the same for floats that were clipped to bounds: one at a bound may come from any index beyond it."""
    index = grid.index(noisy)
    at_lower, at_upper = noisy <= bounds[0], noisy >= bounds[1]
    if not (at_lower.any() or at_upper.any()):
        return index, index
    (low, high), (lower, upper) = indices, (Fraction(end) / Fraction(grid.step) for end in bounds)
    first = np.where(at_lower, low, np.where(at_upper, min(math.ceil(upper), high), index))
    last = np.where(at_upper, high, np.where(at_lower, max(math.floor(lower), low), index))
    return first, last


def saturating_ends(first: Integers, last: Integers, h: int) -> Range:
    """Return first - h and last + h, with the ends of int64 where they lie beyond."""
    if h > LARGEST:
        return np.full_like(first, LEAST), np.full_like(last, LARGEST)
    return np.maximum(first, LEAST + h) - h, np.minimum(last, LARGEST - h) + h


def outward(index: Integers, step: float, sign: int) -> Floats:
    """Return (index + sign / 2) step, rounded away in the direction of the sign; infinite at the end of int64 there.

    An index at an end stands for all beyond it. Below 2^52 the half is exact; above, an index and the half are rounded
    by less than the ulp that is then added.
    """
    edge = index.astype(np.float64) + 0.5 * sign
    edge = np.where(np.abs(edge) >= _HALF_EXACT, np.nextafter(edge, sign * math.inf), edge)
    with np.errstate(over="ignore"):
        edge = edge * step
    return np.where(index == (LARGEST if sign > 0 else LEAST), sign * math.inf, edge)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TruncatedTest:
    """Sums of the weights of truncated noise over blocks of integers, and the test of a true value by an output."""

    shift: int  # the w of the module is 2^shift
    beyond: Floats  # at i, the sum of f from block i on, from above
    within: Floats  # at i, the sum of f over the blocks before i, from below

    def ends(self, first: Integers, last: Integers, bounds: tuple[int, int], level: float) -> Range:
        """Return the least true value that `first` does not reject, and the largest that `last` does not.

        The outputs come in increasing order.
        """
        (lower, upper), a = bounds, 1.0 - level
        # The mirror image of what is behind `first`: s to lower + upper - s.
        mirrored = self._first((lower + upper - last)[::-1], lower, upper, a)[::-1]
        return self._first(first, lower, upper, a), lower + upper - mirrored

    def half_width(self, width: int, level: float) -> int:
        """Return the largest d(s) over all true values, w - 1 more at most."""
        below = np.array([0, width // 2], dtype=np.int64)
        above = width - below
        farthest = np.maximum(below, above)
        bad = np.minimum(farthest >> self.shift, self.beyond.size) + 1
        bad = self._first_rejected(np.zeros_like(bad), bad, lambda t: self._rejects(t, below, above, 1.0 - level))
        return int(np.minimum((bad << self.shift) - 1, farthest).max())

    def _first(self, y: Integers, lower: int, upper: int, a: float) -> Integers:
        """Return the least s within the bounds that does not reject y, for outputs in increasing order."""
        reach = self.beyond.size << self.shift
        inner = (lower + 2 * reach, upper - reach)
        start, stop = np.searchsorted(y, inner).tolist() if inner[0] < inner[1] else (0, 0)
        if stop - start < _MANY:
            return self._least(y, lower, upper, a)
        # So far from both bounds, the law around every s in question is the same.
        some = np.concatenate((y[: start + 1], y[stop:]))
        found = self._least(some, lower, upper, a)
        shifted = y[start:stop] - (y[start] - found[start])
        return np.concatenate((found[:start], shifted, found[start + 1 :]))

    def _least(self, y: Integers, lower: int, upper: int, a: float) -> Integers:
        """Return the same by bisection over the distance in blocks.

        What an output rejects, all beyond it reject, so that many outputs are begun from the answers to a few.
        """
        good = np.zeros_like(y)
        bad = np.minimum((y - lower) >> self.shift, self.beyond.size) + 1
        if y.size > _MANY:
            few = self._least(np.append(y[::_MANY], y[-1]), lower, upper, a)
            place = np.arange(y.size) // _MANY
            bad = np.minimum(bad, ((y - few[place]) >> self.shift) + 1)
            good = np.clip(((y - few[place + 1]) >> self.shift) - 1, 0, bad - 1)
        bad = self._first_rejected(good, bad, lambda t: self._rejects(t, y - t - lower, upper - y + t, a))
        return np.asarray(np.maximum(y - (bad << self.shift) + 1, lower))

    def _first_rejected(
        self, good: Integers, bad: Integers, rejects: Callable[[Integers], NDArray[np.bool_]]
    ) -> Integers:
        """Return the least distances in blocks, above `good` and at most `bad`, that are rejected."""
        while np.any(bad - good > 1):
            middle = (good + bad) >> 1
            # Where the search has ended, the distance may be 0: there nothing is asked.
            found = rejects(middle << self.shift)
            good, bad = np.where(found, good, middle), np.where(found, middle, bad)
        return bad

    def _rejects(self, t: Integers, below: Integers, above: Integers, a: float) -> NDArray[np.bool_]:
        """Return whether P(|X - s| >= t) <= a is proved, for multiples t > 0 of w, at these distances to the bounds."""
        last = self.beyond.size - 1
        near = self.beyond[np.minimum(t >> self.shift, last)]
        outside = 2.0 * near
        total = np.full(t.shape, -1.0)
        for distance in (below, above):
            outside -= np.minimum(near, self.beyond[np.minimum((distance >> self.shift) + 1, last)])
            total += self.within[np.minimum((distance + 1) >> self.shift, last)]
        return np.asarray(outside + _MARGIN * near <= a * (1.0 - _MARGIN) * total)


@lru_cache(maxsize=2)
def truncated_test(order: float, scale: float, width: int) -> TruncatedTest:
    """Return the test for bounds of at most this width."""
    reach = int(min(width, scale * _DEPTH ** (1.0 / order) + 2.0))
    shift = ((reach - 1) // _MOST_BLOCKS).bit_length()
    blocks = (reach >> shift) + 2
    start = np.arange(blocks, dtype=np.float64) * 2.0**shift
    terms = weights(order, scale, start) * 2.0**shift
    # A block of several integers is at least its length times the weight of the next block's first.
    least = terms if shift == 0 else np.append(terms[1:], 0.0)
    return TruncatedTest(shift=shift, beyond=running_sums(terms[::-1])[::-1], within=running_sums(least))


_FARTHEST = 1 << 61
_HALF = Fraction(1, 2)


class Coordinate(NamedTuple):
    """Bounds of one coordinate."""

    indices: tuple[int, int]  # in steps
    bounds: tuple[float, float]  # of the output, in the unit of the data
    ends: tuple[float, float]  # of the output, in steps too but anywhere

    @property
    def width(self) -> int:
        """Width in steps."""
        return self.indices[1] - self.indices[0]


def _matches(indices: tuple[int, int], bounds: tuple[float, float], step: float | None) -> bool:
    """Return whether bounds may have been rounded to these indices.

    Rounding is by half a step at most; the upper index may be one more, to allow for the sensitivity.
    """
    if step is None:
        return bounds == indices
    lower, upper = (Fraction(end) / Fraction(step) - index for end, index in zip(bounds, indices, strict=True))
    return abs(lower) <= _HALF and -1 - _HALF <= upper <= _HALF


def _indices(pair: object) -> tuple[int, int]:
    ends = _validate.non_empty(index_bounds=pair)
    if len(ends) != 2:
        raise ArgumentError("index_bounds", pair, "must be pairs (lower, upper)")
    low, high = (_validate.integer(index_bounds=end, at_least=-_FARTHEST) for end in ends)
    if not low < high <= _FARTHEST:
        expected = "the lower end must be below the upper end, and both at most 2^61 in absolute value"
        raise ArgumentError("index_bounds", pair, expected)
    return low, high


def places(name: str, shape: tuple[int, ...], coordinates: list[Coordinate]) -> Iterator[tuple[Any, Coordinate]]:
    """Yield where in an array of this shape values with the same bounds are, by the last axis if several; and these."""
    if len(coordinates) == 1:
        yield ..., coordinates[0]
        return
    if shape[-1:] != (len(coordinates),):
        expected = f"there are bounds for {len(coordinates)} coordinates, by the last axis"
        raise ArgumentError(name, f"of shape {shape}", expected)
    columns: dict[Coordinate, list[int]] = {}
    for k, coordinate in enumerate(coordinates):
        columns.setdefault(coordinate, []).append(k)
    for coordinate, where in columns.items():
        yield (..., where), coordinate


# Of mean and standard deviation around i, and of the two ends of i - s.
Measure: TypeAlias = "Callable[[Floats, Floats, Floats, Floats], Floats]"


def _largest_bias(mean: Floats, _: Floats, least: Floats, most: Floats) -> Floats:
    return np.maximum(np.abs(mean + least), np.abs(mean + most))


def _moments_around(index: Integers, coordinate: Coordinate, errors: BoundedIntegerErrors) -> tuple[Floats, Floats]:
    """Return mean and standard deviation of the output less the index of the true value, within the bounds."""
    first, last = coordinate.indices
    below = index - first
    found = errors.moments(below)
    mean, variance = found.bias, found.variance
    # A bound lies within two steps of the one it was rounded to, so that other indices are not clipped.
    for m in sorted({first, first + 1, last - 1, last}):
        moved = min(max(float(m), coordinate.ends[0]), coordinate.ends[1]) - m
        if moved != 0.0:
            # Mean and variance of X + e, where e is `moved` at one value of X, of probability q.
            q = errors.mass(below, m - first)
            variance = variance + moved * q * (2.0 * (m - index - mean) + moved * (1.0 - q))
            mean = mean + moved * q
    return mean, np.sqrt(np.maximum(variance, 0.0))


Ends: TypeAlias = "tuple[NDArray[Any], NDArray[Any]]"

_RAW = "must be values as they were released"


@frozen(kw_only=True)
class ErrorLaw:
    """The law of a release around its true values.

    Parameters
    ----------
    order : float
        Order of the noise, at least 1.
    scale : float
        Scale of the integer noise that is drawn: in steps, if there is a grid.
    step : float, optional
        Step of the grid, a power of two; None on the integers.
    bounding : {"truncated", "boundary-inflated"}, optional
        How the output is kept in bounds.
    index_bounds : tuple of (int, int), optional
        The bounds in steps: one pair for all values, or one for each coordinate along the last axis.
    bounds : tuple of (float, float), optional
        The same in the unit of the data, as many pairs; outputs are clipped to them. By default `index_bounds` times
        the step.
    clamp : int, optional
        Largest absolute value of true values without bounds, in steps: larger ones are clamped before the noise.

    Examples
    --------
    >>> law = ErrorLaw(order=2, scale=3.0)
    >>> lower, upper = law.intervals(np.array([17, 0]))
    >>> lower.tolist(), upper.tolist()
    ([13, -4], [21, 4])
    >>> law.half_width(), round(law.standard_error(), 6), law.bias()
    (4.0, 2.12132, 0.0)
    """

    order: float = field(converter=checked_order)
    scale: float = field(converter=checked_scale)
    step: float | None = checked_field(lambda step: Grid(step=step).step, default=None)
    bounding: Literal["truncated", "boundary-inflated"] | None = None
    index_bounds: tuple[tuple[int, int], ...] | None = None
    bounds: tuple[tuple[float, float], ...] | None = None
    clamp: int | None = None

    def __attrs_post_init__(self) -> None:
        if self.bounding is None:
            for name, given in (("index_bounds", self.index_bounds), ("bounds", self.bounds)):
                if given is not None:
                    raise ArgumentError(name, given, "needs bounding = 'truncated' or 'boundary-inflated'")
            if self.clamp is not None:
                _validate.integer(clamp=self.clamp, at_least=1)
            return
        _validate.choice(bounding=self.bounding, among=("truncated", "boundary-inflated"))
        if self.clamp is not None:
            raise ArgumentError("clamp", self.clamp, "is for noise without bounds")
        unit, given = Fraction(self.step or 1), self.bounds
        indices = tuple(_indices(pair) for pair in _validate.non_empty(index_bounds=self.index_bounds))
        ends = tuple((float(low * unit), float(high * unit)) for low, high in indices)
        if given is not None:
            ends = tuple(_validate.interval(bounds=pair) for pair in _validate.non_empty(bounds=given))
            pairs = set(zip(indices, ends, strict=False))
            if len(ends) != len(indices) or not all(_matches(*pair, self.step) for pair in pairs):
                raise ArgumentError("bounds", given, "do not match index_bounds, in steps")
        # The default of the one depends on the other.
        object.__setattr__(self, "index_bounds", indices)
        object.__setattr__(self, "bounds", ends)

    def intervals(self, noisy: ArrayLike, level: float = 0.95) -> Ends:
        """Return intervals that cover each true value with a probability of at least the level.

        Parameters
        ----------
        noisy : array_like
            Values as they were released: integers on the integers, floats on a grid. Adjusted values, such as
            normalized ones, have another law: take the raw ones.
        level : float, default 0.95
            Above 0 and below 1, for each value on its own, not for all of them together.

        Returns
        -------
        lower, upper : ndarray
            In the shape of `noisy`: int64 on the integers, float64 on a grid.

        Notes
        -----
        Claim: before the noise is drawn, the interval will cover the true value with at least the level, whatever the
        true value is. The proofs are in this module. Rounding: outwards.

        Examples
        --------
        >>> law = ErrorLaw(order=1, scale=4.0, step=0.25, bounding="boundary-inflated", index_bounds=((0, 40),))
        >>> [ends.tolist() for ends in law.intervals([0.5, 10.0], level=0.9)]
        [[0.0, 7.625], [2.875, 10.0]]
        """
        level, values = checked_level(level), np.asarray(noisy)
        kinds, dtype = ("iu", np.int64) if self.step is None else ("iuf", np.float64)
        if values.size and (values.dtype.kind not in kinds or (dtype == np.int64 and values.max() > LARGEST)):
            raise ArgumentError("noisy", f"of type {values.dtype}", f"{_RAW}: {np.dtype(dtype)}")
        values = values.astype(dtype) if values.size else np.empty(values.shape, dtype)
        if dtype == np.float64 and np.isnan(values).any():
            raise ArgumentError("noisy", math.nan, _RAW)
        if self.bounding is None:
            first = last = values
            if self.step is not None:
                self._require_on_grid(values)
                first, last = indices_behind(values, self._grid())
            first, last = saturating_ends(first, last, noise_half_width(self.order, self.scale, level))
            if self.clamp is not None:
                # Infinite where an end reaches the value that true values were clamped to.
                first = np.where(first <= -self.clamp, LEAST, first)
                last = np.where(last >= self.clamp, LARGEST, last)
            return self._in_unit(first, last)
        lower, upper = np.empty_like(values), np.empty_like(values)
        coordinates = self._coordinates()
        widest = max(coordinate.width for coordinate in coordinates)
        for place, coordinate in places("noisy", values.shape, coordinates):
            outputs, back = np.unique(values[place], return_inverse=True)
            (least, most), indices = coordinate.bounds, coordinate.indices
            if outputs.size and (outputs[0] < least or outputs[-1] > most):
                raise ArgumentError("noisy", f"beyond the bounds {coordinate.bounds!r}", _RAW)
            first = last = outputs
            if self.step is not None:
                self._require_on_grid(outputs[(outputs > least) & (outputs < most)])
                first, last = indices_within(outputs, self._grid(), indices, coordinate.bounds)
            if self.bounding == "truncated":
                first, last = truncated_test(self.order, self.scale, widest).ends(first, last, indices, level)
            else:
                first, last = saturating_ends(first, last, noise_half_width(self.order, self.scale, level))
            ends = self._in_unit(np.clip(first, *indices), np.clip(last, *indices))
            shape = values[place].shape
            lower[place], upper[place] = (np.clip(end, *coordinate.bounds)[back].reshape(shape) for end in ends)
        return lower, upper

    def half_width(self, level: float = 0.95) -> float:
        """Return a distance that the noise stays within, with a probability of at least the level.

        It is the least h, in the unit of the data, with P(|noise| <= h) >= level, rounding to the grid not counted. For
        truncated noise, which depends on the true value, it is the h of the worst one, over all coordinates.

        Examples
        --------
        >>> ErrorLaw(order=2, scale=2.0**40, step=2.0**-40).half_width(1 - 1e-12)
        5.042...
        """
        level = checked_level(level)
        if self.bounding == "truncated":
            widths = {coordinate.width for coordinate in self._coordinates()}
            test = truncated_test(self.order, self.scale, max(widths))
            h = max(test.half_width(width, level) for width in widths)
        else:
            h = noise_half_width(self.order, self.scale, level)
        return rounded_up(h * Fraction(self.step or 1), of="half_width")

    def bias(self, true: ArrayLike | None = None) -> float | Floats:
        """Return the mean of the released value less the true one, at hypothetical true values.

        Parameters
        ----------
        true : array_like, optional
            Hypothetical true values. One outside the bounds is clamped, and its distance from them is part of the bias.
            Where it is not given, the largest absolute bias over all true values, within the bounds if there are any,
            is returned.

        Notes
        -----
        To evaluate it at the real true value, and to publish the result, is a leak. Rounding to the grid is counted,
        saturation of noise at the ends of int64 is not.

        Examples
        --------
        >>> ErrorLaw(order=2, scale=40.0, step=0.5).bias([3.0, 3.1, 3.2])
        array([ 0. , -0.1, -0.2])
        """
        if true is None:
            return self._largest(_largest_bias)
        return self._at(true, lambda mean, _, shift, __: mean + shift)

    def standard_error(self, true: ArrayLike | None = None) -> float | Floats:
        """Return the standard deviation of the released value, at hypothetical true values or the largest.

        The parameter and the warning are those of `bias`.

        Examples
        --------
        >>> law = ErrorLaw(order=2, scale=3.0, bounding="truncated", index_bounds=((0, 9),))
        >>> law.standard_error([0, 5]).round(6).tolist(), round(law.standard_error(), 6)
        ([1.353881, 1.983284], 1.983284)
        """
        return self._at(true, lambda _mean, deviation, _least, _most: deviation)

    def root_mean_square_error(self, true: ArrayLike | None = None) -> float | Floats:
        """Return the root mean square of the error, bias included, at hypothetical true values or the largest.

        The parameter and the warning are those of `bias`.

        Examples
        --------
        >>> law = ErrorLaw(order=2, scale=3.0, bounding="boundary-inflated", index_bounds=((0, 9),))
        >>> law.root_mean_square_error(20) > 11
        True
        """
        return self._at(
            true, lambda mean, deviation, *shift: np.hypot(deviation, _largest_bias(mean, deviation, *shift))
        )

    def _grid(self) -> Grid:
        return Grid(step=self.step or 1.0)

    def _coordinates(self) -> list[Coordinate]:
        assert self.index_bounds is not None
        assert self.bounds is not None
        bounds, step = self.index_bounds if self.step is None else self.bounds, self._grid().step
        pairs = zip(self.index_bounds, bounds, strict=True)
        return [Coordinate(indices, ends, (ends[0] / step, ends[1] / step)) for indices, ends in pairs]

    def _require_on_grid(self, values: Floats) -> None:
        with np.errstate(over="ignore", under="ignore"):
            steps = values / self._grid().step
        if np.any(np.rint(steps) != steps):
            raise ArgumentError("noisy", f"off the grid of step {self.step!r}", _RAW)

    def _in_unit(self, first: Integers, last: Integers) -> Ends:
        """Return the ends in the unit of the data, with the rounding to the grid that came before the noise."""
        if self.step is None:
            return first, last
        return outward(first, self.step, -1), outward(last, self.step, 1)

    def _at(self, true: ArrayLike | None, measure: Measure) -> float | Floats:
        """Return a measure at hypothetical true values, or the largest over all of them.

        Errors do not quote the values, since they might be real.
        """
        if true is None:
            return self._largest(measure)
        try:
            given = exact_numbers(true)
        except ArgumentError:
            raise ArgumentError("true", "not numbers", "must be numbers, or an array of them") from None
        if self.step is None and given.dtype.kind not in "iu":
            raise ArgumentError("true", f"of type {given.dtype}", "must be integers, as this noise is on the integers")
        if given.dtype.kind == "f" and not np.isfinite(given).all():
            raise ArgumentError("true", "not finite", "must be finite")
        try:
            numbers = given.astype(np.float64)
        except OverflowError:
            # Python's integers may be too large for one.
            raise ArgumentError("true", "beyond all floats", "must fit in a 64-bit float") from None
        grid = self._grid()
        index = grid.index(given)
        mean, deviation = np.zeros(given.shape), np.empty(given.shape)
        if self.bounding is None:
            deviation[...] = IntegerGeneralizedGaussian(order=self.order, scale=self.scale).std
            index = index if self.clamp is None else np.clip(index, -self.clamp, self.clamp)
        else:
            for place, coordinate in places("true", given.shape, self._coordinates()):
                index[place] = np.clip(index[place], *coordinate.indices)
                mean[place], deviation[place] = _moments_around(index[place], coordinate, self._errors(coordinate))
        with np.errstate(over="ignore", under="ignore"):
            shift = index - numbers / grid.step
            result = measure(mean, deviation, shift, shift) * grid.step
        return result if given.ndim else float(result)

    def _largest(self, measure: Measure) -> float:
        """Return the largest of a measure over all true values and coordinates."""
        step, rounding = self._grid().step, 0.0 if self.step is None else 0.5
        if self.bounding is None:
            deviation = IntegerGeneralizedGaussian(order=self.order, scale=self.scale).std
            return float(measure(*(np.array(moment) for moment in (0.0, deviation, -rounding, rounding)))) * step

        def largest(coordinate: Coordinate) -> float:
            errors = self._errors(coordinate)

            def at(below: Integers) -> Floats:
                index = below + coordinate.indices[0]
                # Of the values that are rounded to this index, those within the bounds.
                most = np.minimum(index - coordinate.ends[0], rounding)
                least = np.maximum(index - coordinate.ends[1], -rounding)
                mean, deviation = _moments_around(index, coordinate, errors)
                return np.where(most >= least, measure(mean, deviation, least, most), -math.inf)

            return errors.largest(at)

        return max(largest(coordinate) for coordinate in dict.fromkeys(self._coordinates())) * step

    def _errors(self, coordinate: Coordinate) -> BoundedIntegerErrors:
        assert self.bounding is not None
        return BoundedIntegerErrors(self.order, self.scale, coordinate.width, self.bounding)


@lru_cache(maxsize=64)
def _vector_half_widths(law: NoiseLaw | CommonTotalNoise, level: float, simultaneous: bool) -> ArrayLike:
    """Return half-widths of noise of a norm: of each group, of a coordinate of size 1, or one of all together."""
    noise = VectorErrorLaw(law=law).vectors
    if simultaneous:
        return noise.simultaneous_half_width(level)
    return noise.half_width(level) if isinstance(noise, NormBallNoise) else noise.half_widths(level)


@frozen(kw_only=True)
class VectorErrorLaw:
    """The law of a release with noise of a norm around its true values: what `ErrorLaw` is of independent noise.

    Parameters
    ----------
    law : NoiseLaw or CommonTotalNoise
        The noise: of an l_p norm in the unit of the data, of groups in steps, of tables with a common total in counts.
    step : float, optional
        Step of the grid that noisy values are on; None on the integers.
    places : tuple of int, optional
        Which values of the vector there are, where some were left out.
    group : int, optional
        The group that all values are of, however many these are; None if they are the vector.

    Notes
    -----
    Claim: on a grid the released y is within step / 2 of s + X, so with P(|X| <= h) >= level the interval
    [y - h - step / 2, y + h + step / 2] covers s at that level. Rounding: outwards. The bias that rounding leaves is
    stated as half a step, which it never exceeds.

    Examples
    --------
    >>> from ggdp.proofs.noise_law import NoiseLaw, Norm
    >>> noise = NoiseLaw(order=1, scale=2.0, support="integer", norm=Norm(kind="added", groups=(2, 2)))
    >>> [ends.tolist() for ends in VectorErrorLaw(law=noise).intervals(np.array([17, 0, 3, 4]))]
    [[9, -8, -5, -4], [25, 8, 11, 12]]
    """

    law: NoiseLaw | CommonTotalNoise
    step: float | None = checked_field(lambda step: Grid(step=step).step, default=None)
    places: tuple[int, ...] | None = None
    group: int | None = None
    # Those of independent noise that is kept in bounds, or of clamped values.
    bounding: None = field(init=False, default=None)
    bounds: None = field(init=False, default=None)
    index_bounds: None = field(init=False, default=None)
    clamp: None = field(init=False, default=None)

    @property
    def norm(self) -> Norm:
        """The norm of the noise."""
        if self.law.norm is None:
            raise ArgumentError("law", str(self.law), "must be of noise of a norm")
        return self.law.norm

    @property
    def order(self) -> float:
        """Order of the noise as a function of its norm."""
        return self.law.order

    @property
    def scale(self) -> float:
        """Scale of the noise."""
        return self.law.scale

    @property
    def vectors(self) -> MinkowskiNoise | NormBallNoise | CommonTotalNoise:
        """The noise of the whole vector, which knows tails and deviations."""
        return self.law if isinstance(self.law, CommonTotalNoise) else vector_noise(self.law)

    @property
    def of_groups(self) -> tuple[VectorErrorLaw, ...]:
        """The law of the values of each group."""
        return tuple(evolve(self, group=j) for j in range(len(self.norm.groups)))

    def intervals(self, noisy: ArrayLike, level: float = 0.95, *, simultaneous: bool = False) -> Ends:
        """Return intervals that cover each true value with a probability of at least the level, or all together."""
        values, half = np.asarray(noisy), self._half_widths(level, simultaneous=simultaneous)
        dtype = np.dtype(np.int64 if self.step is None else np.float64)
        half = half if self.group is None else np.broadcast_to(half, values.size)
        if values.size != half.size or (values.size and values.dtype != dtype):
            raise ArgumentError("noisy", f"{values.size} of type {values.dtype}", f"{_RAW}: {half.size} of {dtype}")
        values, half = values.astype(dtype), half.reshape(values.shape)
        if self.step is None:
            return np.maximum(values, LEAST + half) - half, np.minimum(values, LARGEST - half) + half
        half, far = np.nextafter(half + 0.5 * self.step, math.inf), 2.0**63 * self.step
        # The product of a step and an index of more than 2^53 was rounded; at the ends of 64 bits it stands for more.
        lower = np.nextafter(np.nextafter(values, -math.inf) - half, -math.inf)
        upper = np.nextafter(np.nextafter(values, math.inf) + half, math.inf)
        return np.where(values <= -far, -math.inf, lower), np.where(values >= far, math.inf, upper)

    def half_width(self, level: float = 0.95) -> float:
        """Return a distance that the noise of each value of the vector stays within, at the level."""
        return float(evolve(self, places=None)._half_widths(level, simultaneous=False).max())

    def bias(self, true: ArrayLike | None = None) -> float | Floats:
        """Return the mean error at hypothetical true values, or a bound of it over all of them."""
        return 0.5 * (self.step or 0.0) if true is None else np.zeros(np.shape(true))

    def standard_error(self, true: ArrayLike | None = None) -> float | Floats:
        """Return the standard deviation of each value, at hypothetical true ones, or the largest of the vector."""
        law = evolve(self, places=None) if true is None else self
        each = law._of_values(self.vectors.std)
        if true is None:
            return float(each.max())
        return each.reshape(np.shape(true)) if self.group is None else np.broadcast_to(each, np.shape(true))

    def root_mean_square_error(self, true: ArrayLike | None = None) -> float | Floats:
        """Return the root mean square error of each value, at hypothetical true ones, or the largest."""
        found = np.hypot(self.standard_error(true), self.bias(true))
        return float(found) if true is None else found

    def _half_widths(self, level: float, *, simultaneous: bool) -> NDArray[Any]:
        """Return the half-width of each value, or one of them all for their largest error."""
        return self._of_values(_vector_half_widths(self.law, checked_level(level), simultaneous))

    def _of_values(self, each: ArrayLike) -> NDArray[Any]:
        """Return what is known of each group, or of a coordinate of size 1, for each value; rounded up."""
        norm = self.norm
        found: NDArray[Any]
        if norm.kind == "lp":
            found = np.nextafter(np.broadcast_to(each, norm.groups) * np.array(norm.sizes or 1.0), math.inf)
        elif self.group is not None:
            found = np.broadcast_to(each, len(norm.groups))[self.group]
        else:
            found = np.repeat(np.broadcast_to(each, len(norm.groups)), norm.cells)
        if norm.kind != "lp" and self.step is not None:
            found = found * self.step
        return found if self.places is None else np.asarray(found[list(self.places)])


@frozen
class JointLaw:
    """The laws of runs of values, one after another, each around its true values: what is asked of all is the largest.

    Examples
    --------
    >>> law = JointLaw(((1, ErrorLaw(order=1, scale=4.0)), (2, ErrorLaw(order=2, scale=3.0))))
    >>> [ends.tolist() for ends in law.intervals(np.array([10, 17, 0]))]
    [[-2, 13, -4], [22, 21, 4]]
    >>> law.half_width()
    12.0
    """

    # How many values, and their law; all on the integers, or all on one grid, and without bounds.
    runs: tuple[tuple[int, ErrorLaw | VectorErrorLaw], ...]
    bounding: ClassVar[None] = None
    bounds: ClassVar[None] = None

    @property
    def noise(self) -> NoiseLaw | CommonTotalNoise | None:
        """The noise of a norm that all runs have a part in; None where there is none."""
        laws = {law.law if isinstance(law, VectorErrorLaw) else None for _, law in self.runs}
        return laws.pop() if len(laws) == 1 else None

    @property
    def order(self) -> float | None:
        """Order of the noise, where it is one."""
        return None if self.noise is None else self.noise.order

    @property
    def norm(self) -> Norm | None:
        """Norm of the noise, where it is one."""
        return None if self.noise is None else self.noise.norm

    @property
    def step(self) -> float | None:
        """Step of the grid."""
        return self.runs[0][1].step

    @property
    def clamp(self) -> int | None:
        """Largest absolute value of true values, where that is limited."""
        return max((law.clamp for _, law in self.runs if law.clamp is not None), default=None)

    def at(self, left: NDArray[np.bool_]) -> JointLaw:
        """Return the laws of some of the values."""
        runs = zip((int(part.sum()) for part in self._split(left)), (law for _, law in self.runs), strict=True)
        return JointLaw(tuple(run for run in runs if run[0]) or ((0, self.runs[0][1]),))

    def intervals(self, noisy: ArrayLike, level: float = 0.95) -> Ends:
        """Return intervals for true values, each by the law of its run."""
        parts = zip(self.runs, self._split(noisy), strict=True)
        lower, upper = zip(*(law.intervals(part, level) for (_, law), part in parts), strict=True)
        return np.concatenate(lower), np.concatenate(upper)

    def half_width(self, level: float = 0.95) -> float:
        """Return a distance that the noise of each value stays within, with a probability of at least the level."""
        return max(law.half_width(level) for law in dict.fromkeys(law for _, law in self.runs))

    def bias(self, true: ArrayLike | None = None) -> float | Floats:
        """Return the mean error at hypothetical true values, or the largest."""
        return self._ask("bias", true)

    def standard_error(self, true: ArrayLike | None = None) -> float | Floats:
        """Return the standard deviation at hypothetical true values, or the largest."""
        return self._ask("standard_error", true)

    def root_mean_square_error(self, true: ArrayLike | None = None) -> float | Floats:
        """Return the root mean square error at hypothetical true values, or the largest."""
        return self._ask("root_mean_square_error", true)

    def _ask(self, measure: str, true: ArrayLike | None) -> float | Floats:
        if true is None:
            return float(max(getattr(law, measure)() for law in dict.fromkeys(law for _, law in self.runs)))
        parts = zip(self.runs, self._split(true), strict=True)
        return np.concatenate([getattr(law, measure)(part) for (_, law), part in parts])

    def _split(self, values: ArrayLike) -> list[NDArray[Any]]:
        given, total = np.asarray(values), sum(size for size, _ in self.runs)
        if given.shape != (total,):
            raise ArgumentError("values", f"of shape {given.shape}", f"must be the {total:,} values of the release")
        return np.split(given, np.cumsum([size for size, _ in self.runs])[:-1])


def checked_level(level: object) -> float:
    """Return a level, above 0 and below 1."""
    number = _validate.finite(level=level)
    if not 0.0 < number < 1.0:
        raise ArgumentError("level", level, "must be above 0 and below 1, such as 0.95")
    return number
