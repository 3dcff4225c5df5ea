"""Checks whose errors name the argument, ``positive(epsilon=epsilon)``, and arrays that cannot be changed."""

from __future__ import annotations

import numbers
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from ggdp.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

T = TypeVar("T")
Floats: TypeAlias = NDArray[np.float64]

# Beyond it noise of any order is all but uniform, and searches fail at the ends of the floats.
LARGEST_ORDER = 1e6


def _checked(name: str, array: Floats, good: NDArray[np.bool_], expected: str) -> Floats:
    """Return the array, or refuse it by its first entry that is not good."""
    if not np.all(good):
        raise ArgumentError(name, float(array[~good].flat[0]), expected)
    return array


def reals(**named: ArrayLike) -> Floats:
    """Return the one argument as an array of finite floats."""
    ((name, values),) = named.items()
    parts = values if isinstance(values, list | tuple) else [values]
    if any(isinstance(part, np.ma.MaskedArray) for part in parts):
        raise ArgumentError(name, type(values), "must not be masked: what is behind a mask would be used")
    try:
        array = np.asarray(values)
    except ValueError:
        raise ArgumentError(name, values, "must be a number or an array of numbers") from None
    # An empty list is an array of floats to NumPy, so nothing else than its kind needs a look.
    if array.dtype.kind not in "iuf":
        raise ArgumentError(name, values, "must be a number or an array of numbers")
    floats = array.astype(np.float64)
    return _checked(name, floats, np.isfinite(floats), "must be finite")


def positives(**named: ArrayLike) -> Floats:
    """Return the one argument as an array of finite floats above 0."""
    ((name, _),) = named.items()
    array = reals(**named)
    return _checked(name, array, array > 0.0, "must be greater than 0")


def non_negatives(**named: ArrayLike) -> Floats:
    """Return the one argument as an array of finite floats of at least 0."""
    ((name, _),) = named.items()
    array = reals(**named)
    return _checked(name, array, array >= 0.0, "must be at least 0")


def deltas(**named: ArrayLike) -> Floats:
    """Return the one argument as an array of floats strictly between 0 and 1."""
    ((name, _),) = named.items()
    array = reals(**named)
    return _checked(name, array, (array > 0.0) & (array < 1.0), "must be above 0 and below 1")


def orders_of(**named: ArrayLike) -> Floats:
    """Return the one argument as a one-dimensional array of orders, each at least 1."""
    ((name, _),) = named.items()
    array = np.atleast_1d(reals(**named))
    if array.ndim > 1:
        raise ArgumentError(name, array.shape, "must be one number or a sequence of numbers")
    _checked(name, array, array >= 1.0, "must be at least 1 (1 is Laplace, 2 is Gaussian)")
    return _checked(name, array, array <= LARGEST_ORDER, f"must be at most {LARGEST_ORDER:g}")


def positive(**named: object) -> float:
    """Return the one argument as a finite float above 0."""
    ((name, value),) = named.items()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ArgumentTypeError(name, value, "must be a real number")
    return float(positives(**{name: float(value)}))


def integer(*, at_least: int, **named: object) -> int:
    """Return the one argument as an integer that is not below `at_least`."""
    ((name, value),) = named.items()
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ArgumentTypeError(name, value, "must be an integer")
    if value < at_least:
        raise ArgumentError(name, value, f"must be at least {at_least}")
    return int(value)


def choice(*, among: Sequence[str], **named: object) -> str:
    """Return the one argument if it is one of the words `among`."""
    ((name, value),) = named.items()
    if not isinstance(value, str) or value not in among:
        raise ArgumentError(name, value, "must be one of " + ", ".join(map(repr, among)))
    return value


def interval(**named: ArrayLike) -> tuple[float, float]:
    """Return the one argument as a pair of finite floats, the lower end first and below the upper."""
    ((name, value),) = named.items()
    ends = reals(**named)
    if ends.shape != (2,) or not ends[0] < ends[1]:
        raise ArgumentError(name, value, "must be a pair (lower, upper), the lower end below the upper")
    return float(ends[0]), float(ends[1])


def one_or_more(kind: type[T], **named: object) -> list[T]:
    """Return the one argument, an item of a kind or a sequence of at least one, as a list; errors show types alone."""
    ((name, value),) = named.items()
    found = list(value) if isinstance(value, list | tuple) else [value]
    if not found:
        raise ArgumentError(name, type(value), "must not be empty")
    for item in found:
        if not isinstance(item, kind):
            raise ArgumentError(name, type(item), f"must be of type {kind.__name__}, or a sequence of them")
    return found  # type: ignore[return-value]  # checked above


def moderate(least: float, most: float, **named: float) -> float:
    """Return the one argument, a finite number above 0, if it lies between the two."""
    ((name, value),) = named.items()
    number = positive(**named)
    if not least <= number <= most:
        raise ArgumentError(name, value, f"must be at least {least:g} and at most {most:g} here")
    return number


def broadcast(**named: Floats) -> tuple[Floats, ...]:
    """Return the arguments broadcast against each other."""
    try:
        return tuple(np.broadcast_arrays(*named.values()))
    except ValueError:
        *_, last = named
        shapes = ", ".join(f"{name} {array.shape}" for name, array in named.items())
        raise ArgumentError(last, named[last].shape, f"the shapes do not fit together: {shapes}") from None


def frozen(values: ArrayLike) -> Floats:
    """Return a copy of the values that cannot be written to."""
    array = np.array(values, dtype=np.float64)
    array.setflags(write=False)
    return array
