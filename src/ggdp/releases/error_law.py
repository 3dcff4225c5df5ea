"""The law of a release around its true values: intervals, bias and error, from public parameters alone.

=======  ==========================================================================================
s        a true value; index(s) = floor(s/g + 1/2) on the grid, s itself on the integers
g        step of the grid, 1 on the integers
K        the integer noise
m        the noisy index: index(s) + K, saturated at the ends of int64, or a draw within the bounds
y        what is released: g m, rounded beyond 2^53 steps, and clipped to the bounds
h        half-width in steps, `ggdp.releases.integer_intervals`
i        index of a hypothetical true value s, clamped to the bounds in steps
e(m)     how far the float of m is moved when it is clipped to bounds that are off the grid
=======  ==========================================================================================

Intervals are functions of the released values, so they cost no privacy. They cover the true value before it was
rounded to the grid. With bounds they cover the true value clamped to them. Where true values are clamped to a size
before unbounded noise, an interval that reaches that size is open beyond it.

Claim (grid). If [i, j] covers index(s), then [(i - 1/2) g, (j + 1/2) g] covers s. Proof: index(s) = k exactly if
(k - 1/2) g <= s < (k + 1/2) g; an index at an end of int64 stands for everything beyond, so there the interval is
infinite. An output y from 2^53 steps on is a rounded g m, with m between the neighbouring floats over g. A y at a bound
may be clipped from any m whose g m is beyond it. Where m is known only to be in a range, the union over the range is
taken, which is an interval since both ends rise with m.

Bias and errors are functions of a hypothetical true value, or the largest over all of them. A bias that is evaluated
at the real true value, and published, gives that value away: they are for studying a mechanism, and for stating its
worst case.

Bounds are kept coordinate by coordinate, in steps of the grid and in the unit of the data. A bound that is not a point
of the grid was rounded to one; released values are clipped to the bound itself. On the integers the two are the same,
and only the integers are used, since floats do not hold all of them beyond 2^53.

The deviation of a released value from s, in steps and with rounding and clipping, is (m - i) + e(m) + (i - s). The
first part has the moments of `ggdp.noise.bounded_integer_law`, the
second is 0 but at an output or two next to a bound, the third is at most half a step and not random. On the integers
only the first is there. These are floats: they describe and prove nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from attrs import field, frozen

from ggdp import _validate
from ggdp._records import checked
from ggdp._rounding import rounded_up
from ggdp.errors import ArgumentError
from ggdp.noise.bounded_integer_law import BoundedIntegerErrors
from ggdp.noise.generalized_gaussian import checked_order, checked_scale
from ggdp.noise.integer_law import IntegerGeneralizedGaussian
from ggdp.privacy.grid import LARGEST, LEAST, Grid, exact_numbers
from ggdp.releases.integer_intervals import (
    indices_behind,
    indices_within,
    noise_half_width,
    outward,
    saturating_ends,
    truncated_test,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import ArrayLike, NDArray

    from ggdp.noise.generalized_gaussian import Floats
    from ggdp.releases.integer_intervals import Range


_FARTHEST = 1 << 61
_HALF = Fraction(1, 2)
# A bound lies within so many steps of the one it was rounded to.
CLIPPED_WITHIN = 2


class Coordinate(NamedTuple):
    """Bounds of one coordinate, in steps and in the unit of the data."""

    indices: tuple[int, int]
    bounds: tuple[float, float]

    @property
    def width(self) -> int:
        """Width in steps."""
        return self.indices[1] - self.indices[0]


def checked_bounds(
    index_bounds: object, bounds: object, step: float | None
) -> tuple[tuple[tuple[int, int], ...], tuple[tuple[float, float], ...]]:
    """Return bounds in steps and in the unit of the data, as many of each; the latter from the former by default."""
    indices = tuple(_indices(pair) for pair in _validate.non_empty(index_bounds=index_bounds))
    unit = Fraction(step or 1)
    if bounds is None:
        return indices, tuple((float(low * unit), float(high * unit)) for low, high in indices)
    given = tuple(_validate.interval(bounds=pair) for pair in _validate.non_empty(bounds=bounds))
    if len(given) != len(indices) or not all(
        _matches(pair, ends, step) for pair, ends in set(zip(indices, given, strict=True))
    ):
        raise ArgumentError("bounds", bounds, "do not match index_bounds, in steps")
    return indices, given


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
    """Yield where in an array of this shape the values with the same bounds are, and these.

    One coordinate stands for all values; several follow the last axis.
    """
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


@dataclass(frozen=True, slots=True, eq=False)
class BoundedDeviation:
    """The error of one coordinate with bounds."""

    errors: BoundedIntegerErrors  # moments of the bounded integer noise
    # Bounds in steps.
    first: int
    last: int
    # Bounds of the output, in steps too but anywhere.
    lower: float
    upper: float
    rounding: float  # the most that rounding moves a true value: 1/2, or 0 on the integers

    def around(self, index: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the output less the index of the true value, within the bounds."""
        below = index - self.first
        found = self.errors.moments(below)
        mean, variance = found.bias, found.variance
        for m, moved in self._clipped():
            # Mean and variance of X + e, where e is `moved` at one value of X, of probability q.
            q = self.errors.mass(below, m - self.first)
            variance = variance + moved * q * (2.0 * (m - index - mean) + moved * (1.0 - q))
            mean = mean + moved * q
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def _clipped(self) -> list[tuple[int, float]]:
        """Return the indices whose float is clipped, and how far."""
        near = {self.first + k for k in range(CLIPPED_WITHIN)} | {self.last - k for k in range(CLIPPED_WITHIN)}
        moves = {m: min(max(float(m), self.lower), self.upper) - m for m in sorted(near)}
        return [(m, moved) for m, moved in moves.items() if moved != 0.0 and self.first <= m <= self.last]

    def largest(self, measure: Measure) -> float:
        """Return the largest of a measure over all true values within the bounds."""

        def at(below: NDArray[np.int64]) -> Floats:
            index = below + self.first
            # Of the values that are rounded to this index, those within the bounds.
            most = np.minimum(index - self.lower, self.rounding)
            least = np.maximum(index - self.upper, -self.rounding)
            mean, deviation = self.around(index)
            return np.where(most >= least, measure(mean, deviation, least, most), -math.inf)

        return self.errors.largest(at)


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
    step: float | None = checked(lambda step: Grid(step=step).step, default=None)
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
        indices, ends = checked_bounds(self.index_bounds, self.bounds, self.step)
        # The default of the one depends on the other.
        object.__setattr__(self, "index_bounds", indices)
        object.__setattr__(self, "bounds", ends)

    def intervals(self, noisy: ArrayLike, level: float = 0.95) -> Ends:
        """Return intervals that cover each true value with a probability of at least the level.

        Parameters
        ----------
        noisy : array_like
            Values as they were released: integers on the integers, floats on a grid. Adjusted values, such as
            normalised ones, have another law: take the raw ones.
        level : float, default 0.95
            Above 0 and below 1, for each value on its own, not for all of them together.

        Returns
        -------
        lower, upper : ndarray
            In the shape of `noisy`: int64 on the integers, float64 on a grid.

        Notes
        -----
        Claim: before the noise is drawn, the interval will cover the true value with at least the level, whatever the
        true value is. The proofs are in this module and in `ggdp.releases.integer_intervals`. Rounding: outwards.

        Examples
        --------
        >>> law = ErrorLaw(order=1, scale=4.0, step=0.25, bounding="boundary-inflated", index_bounds=((0, 40),))
        >>> [ends.tolist() for ends in law.intervals([0.5, 10.0], level=0.9)]
        [[0.0, 7.625], [2.875, 10.0]]
        """
        level = _level(level)
        values = self._released(noisy)
        if self.bounding is None:
            h = noise_half_width(self.order, self.scale, level)
            return self._in_unit(*self._unclamped(*saturating_ends(*self._indices(values), h)))
        lower, upper = np.empty_like(values), np.empty_like(values)
        coordinates = self._coordinates()
        widest = max(coordinate.width for coordinate in coordinates)
        for place, coordinate in places("noisy", values.shape, coordinates):
            outputs, back = np.unique(values[place], return_inverse=True)
            ends = self._in_unit(*self._bounded_ends(outputs, coordinate, widest, level))
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
        level = _level(level)
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
            return self._largest(lambda mean, _, least, most: np.maximum(np.abs(mean + least), np.abs(mean + most)))
        return self._at(true, lambda bias, _: bias)

    def standard_error(self, true: ArrayLike | None = None) -> float | Floats:
        """Return the standard deviation of the released value, at hypothetical true values or the largest.

        The parameter and the warning are those of `bias`.

        Examples
        --------
        >>> law = ErrorLaw(order=2, scale=3.0, bounding="truncated", index_bounds=((0, 9),))
        >>> law.standard_error([0, 5]).round(6).tolist(), round(law.standard_error(), 6)
        ([1.353881, 1.983284], 1.983284)
        """
        if true is None:
            return self._largest(lambda _mean, deviation, _least, _most: deviation)
        return self._at(true, lambda _, deviation: deviation)

    def root_mean_square_error(self, true: ArrayLike | None = None) -> float | Floats:
        """Return the root mean square of the error, bias included, at hypothetical true values or the largest.

        The parameter and the warning are those of `bias`.

        Examples
        --------
        >>> law = ErrorLaw(order=2, scale=3.0, bounding="boundary-inflated", index_bounds=((0, 9),))
        >>> law.root_mean_square_error(20) > 11
        True
        """
        if true is None:
            return self._largest(
                lambda mean, deviation, least, most: np.hypot(
                    deviation, np.maximum(np.abs(mean + least), np.abs(mean + most))
                )
            )
        return self._at(true, lambda bias, deviation: np.hypot(bias, deviation))

    def _grid(self) -> Grid:
        return Grid(step=self.step or 1.0)

    def _coordinates(self) -> list[Coordinate]:
        assert self.index_bounds is not None
        assert self.bounds is not None
        ends = self.index_bounds if self.step is None else self.bounds
        return [Coordinate(*pair) for pair in zip(self.index_bounds, ends, strict=True)]

    def _released(self, noisy: ArrayLike) -> NDArray[Any]:
        """Return released values as an array of the type that this law releases."""
        values = np.asarray(noisy)
        kinds, dtype = ("iu", np.int64) if self.step is None else ("iuf", np.float64)
        if values.size == 0:
            return np.empty(values.shape, dtype=dtype)
        if values.dtype.kind not in kinds or (dtype == np.int64 and values.max() > LARGEST):
            raise ArgumentError("noisy", f"of type {values.dtype}", f"{_RAW}: {np.dtype(dtype)}")
        values = values.astype(dtype)
        if dtype == np.float64 and np.isnan(values).any():
            raise ArgumentError("noisy", math.nan, _RAW)
        return values

    def _indices(self, values: NDArray[Any]) -> Range:
        """Return the least and the largest noisy index behind values that were not clipped."""
        if self.step is None:
            return values, values
        self._require_on_grid(values)
        return indices_behind(values, self._grid())

    def _unclamped(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> Range:
        """Return the ends, infinite where they reach the value that true values were clamped to."""
        if self.clamp is None:
            return first, last
        return np.where(first <= -self.clamp, LEAST, first), np.where(last >= self.clamp, LARGEST, last)

    def _require_on_grid(self, values: Floats) -> None:
        with np.errstate(over="ignore", under="ignore"):
            steps = values / self._grid().step
        if np.any(np.rint(steps) != steps):
            raise ArgumentError("noisy", f"off the grid of step {self.step!r}", _RAW)

    def _bounded_ends(self, values: NDArray[Any], coordinate: Coordinate, widest: int, level: float) -> Range:
        """Return indices that cover the index of the true value, for outputs in increasing order."""
        lower, upper = coordinate.bounds
        if values.size and (values[0] < lower or values[-1] > upper):
            raise ArgumentError("noisy", f"beyond the bounds {coordinate.bounds!r}", _RAW)
        first, last = values, values
        if self.step is not None:
            self._require_on_grid(values[(values > lower) & (values < upper)])
            first, last = indices_within(values, self._grid(), coordinate.indices, coordinate.bounds)
        if self.bounding == "truncated":
            return truncated_test(self.order, self.scale, widest).ends(first, last, coordinate.indices, level)
        ends = saturating_ends(first, last, noise_half_width(self.order, self.scale, level))
        return np.clip(ends[0], *coordinate.indices), np.clip(ends[1], *coordinate.indices)

    def _in_unit(self, first: NDArray[np.int64], last: NDArray[np.int64]) -> Ends:
        """Return the ends in the unit of the data, with the rounding to the grid that came before the noise."""
        if self.step is None:
            return first, last
        return outward(first, self.step, -1), outward(last, self.step, 1)

    def _at(self, true: ArrayLike, measure: Callable[[Floats, Floats], Floats]) -> float | Floats:
        """Return a function of bias and standard deviation at hypothetical true values."""
        given, step = _hypothetical(true, whole=self.step is None), self._grid().step
        index = self._grid().index(given)
        bias, deviation = np.zeros(given.shape), np.empty(given.shape)
        if self.bounding is None:
            deviation[...] = self._noise().std
            index = index if self.clamp is None else np.clip(index, -self.clamp, self.clamp)
        else:
            for place, coordinate in places("true", given.shape, self._coordinates()):
                index[place] = np.clip(index[place], *coordinate.indices)
                bias[place], deviation[place] = self._deviation(coordinate).around(index[place])
        with np.errstate(over="ignore", under="ignore"):
            bias += index - _floats(given) / step
            result = measure(bias, deviation) * step
        return result if given.ndim else float(result)

    def _largest(self, measure: Measure) -> float:
        """Return the largest of a measure over all true values and coordinates."""
        step = self._grid().step
        if self.bounding is None:
            moments = (0.0, self._noise().std, -self._rounding(), self._rounding())
            return float(measure(*(np.array(moment) for moment in moments))) * step
        distinct = dict.fromkeys(self._coordinates())
        return max(self._deviation(coordinate).largest(measure) for coordinate in distinct) * step

    def _rounding(self) -> float:
        return 0.0 if self.step is None else 0.5

    def _noise(self) -> IntegerGeneralizedGaussian:
        return IntegerGeneralizedGaussian(order=self.order, scale=self.scale)

    def _deviation(self, coordinate: Coordinate) -> BoundedDeviation:
        assert self.bounding is not None
        step = self._grid().step
        return BoundedDeviation(
            errors=BoundedIntegerErrors(self.order, self.scale, coordinate.width, self.bounding),
            first=coordinate.indices[0],
            last=coordinate.indices[1],
            lower=coordinate.bounds[0] / step,
            upper=coordinate.bounds[1] / step,
            rounding=self._rounding(),
        )


def _level(level: object) -> float:
    number = _validate.finite(level=level)
    if not 0.0 < number < 1.0:
        raise ArgumentError("level", level, "must be above 0 and below 1, such as 0.95")
    return number


def _floats(given: NDArray[Any]) -> Floats:
    """Return numbers as floats; Python's integers may be too large for one."""
    try:
        return given.astype(np.float64)
    except OverflowError:
        raise ArgumentError("true", "beyond all floats", "must fit in a 64-bit float") from None


def _hypothetical(true: ArrayLike, *, whole: bool) -> NDArray[Any]:
    """Return hypothetical true values as an array; an error does not quote them, since they might be real."""
    try:
        given = exact_numbers(true)
    except ArgumentError:
        raise ArgumentError("true", "not numbers", "must be numbers, or an array of them") from None
    if whole and given.dtype.kind not in "iu":
        raise ArgumentError("true", f"of type {given.dtype}", "must be integers, as this noise is on the integers")
    if given.dtype.kind == "f" and not np.isfinite(given).all():
        raise ArgumentError("true", "not finite", "must be finite")
    return given
