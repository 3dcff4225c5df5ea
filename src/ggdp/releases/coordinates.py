"""Bounds of a release, coordinate by coordinate: in steps of the grid, and in the unit of the data.

A bound that is not a point of the grid was rounded to one; released values are clipped to the bound itself. On the
integers the two are the same, and only the integers are used, since floats do not hold all of them beyond 2^53.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NamedTuple

from ggdp import _validate
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterator

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
