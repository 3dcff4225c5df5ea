"""True values as arrays that hold every number exactly, and errors that never contain values.

Rounding a value on its way in could move two neighbouring values apart by more than the sensitivity that was proved,
and an error that quotes a value gives it away. So nothing here rounds, and nothing here quotes.
"""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ggdp.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

# The ends of int64, where indices saturate.
LEAST, LARGEST = -(2**63), 2**63 - 1
# Floats hold every integer up to it.
_MOST_WHOLE = 2**53

Exact: TypeAlias = "NDArray[np.float64] | NDArray[np.int64] | NDArray[np.uint64] | NDArray[np.object_]"


class _NotShown:
    """Placeholder in an error for a value from the data."""

    def __repr__(self) -> str:
        return "<not shown>"


def refused(expected: str) -> ArgumentError:
    """Return an error about values from the data that does not contain them."""
    return ArgumentError("values", _NotShown(), expected)


def refused_type(expected: str) -> ArgumentTypeError:
    """Return an error about the type of values that does not contain them."""
    return ArgumentTypeError("values", _NotShown(), expected)


def exact_numbers(values: ArrayLike) -> Exact:
    """Return values as float64, int64, uint64 or Python numbers, whichever holds them exactly; nothing is rounded.

    A list of floats and of integers beyond 2^53 would be rounded by NumPy, and two neighbouring values would move apart
    by more than their sensitivity: it becomes an array of Python numbers. A frame with columns of several types would
    be rounded before we see it: it is refused. How long an array takes does not depend on its numbers; a list is
    turned into an array by NumPy, which looks at them.
    """
    array = _as_array(values)
    if array is None:
        raise refused_type(
            "must be numbers, or arrays or evenly nested lists of them, none of them masked or missing; of a frame "
            "take one column, or to_numpy() where all columns have one type"
        )
    kind = array.dtype.kind
    if kind == "f" and array.dtype.itemsize <= 8:
        return array.astype(np.float64, copy=False)
    if kind == "u" and array.dtype.itemsize == 8:
        return array.astype(np.uint64, copy=False)
    if kind in "biu":
        return array.astype(np.int64, copy=False)
    if kind == "O" and all(_is_exact(value) for value in array.flat):
        return array
    raise refused_type("must be integers or floats of at most 64 bits (fractions.Fraction is fine too)")


def _as_array(values: ArrayLike) -> NDArray[Any] | None:
    """Return values as an array, with Python numbers where NumPy would round; None if they are not numbers.

    Whatever goes wrong, nothing of it may hang on an error that is raised: it could hold a value.
    """
    if _masked(values) or not (hasattr(values, "dtype") or isinstance(values, numbers.Number | list | tuple)):
        return None
    try:
        array = np.asarray(values)
        if array.dtype.kind == "f" and not hasattr(values, "dtype") and _beyond_float(values):
            array = np.asarray(values, dtype=object)
    except Exception:
        # An object that is asked for its array may raise anything.
        return None
    return array


def _masked(values: object) -> bool:
    """Return whether there is a masked array among the values."""
    if isinstance(values, list | tuple):
        # Types first: a list of a million numbers has one or two.
        nested = tuple(kind for kind in set(map(type, values)) if issubclass(kind, list | tuple | np.ma.MaskedArray))
        return bool(nested) and any(_masked(value) for value in values if isinstance(value, nested))
    return isinstance(values, np.ma.MaskedArray)


def _beyond_float(values: ArrayLike) -> bool:
    """Return whether there is an integer among the values that no float may hold."""
    if type(values) is float or (isinstance(values, list | tuple) and set(map(type, values)) <= {float}):
        return False
    numbers_given = np.asarray(values, dtype=object).flat
    return any(isinstance(value, numbers.Integral) and abs(int(value)) > _MOST_WHOLE for value in numbers_given)


def _is_exact(value: object) -> bool:
    return isinstance(value, numbers.Rational | float | np.float32 | np.float16)
