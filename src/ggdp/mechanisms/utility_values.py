"""Utilities of candidates, read exactly. No error holds or tells a utility."""

from __future__ import annotations

import math
from numbers import Rational
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.privacy.values import exact_numbers, refused

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

_FINITE = (
    "must be finite: a NaN or infinite utility would let the data decide which candidates are possible, "
    "which can reveal a person with certainty; exclude candidates publicly, with excluded="
)


def unread(utilities: ArrayLike) -> list[Any] | tuple[Any, ...] | NDArray[Any]:
    """Return utilities as a list, a tuple or an array, without reading the numbers."""
    if isinstance(utilities, list | tuple | np.ndarray):
        return utilities
    array = None
    if hasattr(utilities, "dtype"):
        try:
            array = np.asarray(utilities)
        except Exception:
            # Whatever an object raises when it is asked for its array could hold a value.
            array = None
    if array is None:
        raise _refused_type("must be a list or an array of numbers")
    return array


def finite_numbers(utilities: list[Any] | tuple[Any, ...] | NDArray[Any]) -> NDArray[Any]:
    """Return utilities exactly; raise unless they are one list of finite numbers."""
    expected = None
    try:
        numbers = exact_numbers(utilities)
    except ArgumentError as error:
        expected = error.expected
    if expected is not None:
        # Outside of the except clause, so that nothing hangs on it.
        raise _refused_type(expected)
    if numbers.ndim != 1:
        raise _refused("must be numbers, not lists of them")
    if numbers.dtype == object:
        finite = all(isinstance(number, Rational) or math.isfinite(number) for number in numbers)
    else:
        finite = bool(np.isfinite(numbers).all())
    if not finite:
        raise _refused(_FINITE)
    return numbers


def _refused(expected: str) -> ArgumentError:
    """Return an error about the utilities that does not contain them."""
    return ArgumentError("utilities", refused(expected).value, expected)


def _refused_type(expected: str) -> ArgumentTypeError:
    """Return an error about the type of the utilities that does not contain them."""
    return ArgumentTypeError("utilities", refused(expected).value, expected)
