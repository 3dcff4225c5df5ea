"""Checks of arguments, whose errors name the argument: ``positive(epsilon=epsilon)``."""

from __future__ import annotations

import math
import numbers
import unicodedata
from collections.abc import Iterable

from ggdp.errors import ArgumentError, ArgumentTypeError


def finite(**named: object) -> float:
    """Return the one argument as a finite float."""
    ((name, value),) = named.items()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ArgumentTypeError(name, value, "must be a real number")
    try:
        number = float(value)
    except OverflowError:
        raise ArgumentError(name, value, "does not fit in a 64-bit float") from None
    if not math.isfinite(number):
        raise ArgumentError(name, value, "must be finite")
    return number


def positive(**named: object) -> float:
    """Return the one argument as a finite float above 0."""
    ((name, value),) = named.items()
    number = finite(**named)
    if number <= 0.0:
        raise ArgumentError(name, value, "must be greater than 0")
    return number


def covering(**named: object) -> float:
    """Return the least float that is not below the one argument, which is finite and above 0.

    A fraction, a large integer or a number of more than 64 bits may lie above its nearest float; a sensitivity must
    not be rounded down.
    """
    ((_, value),) = named.items()
    number = positive(**named)
    if number < value:  # type: ignore[operator]  # compared exactly: `positive` has seen that it is a real number
        return finite(**{name: math.nextafter(number, math.inf) for name in named})
    return number


def probability(**named: object) -> float:
    """Return the one argument as a float in [0, 1)."""
    ((name, value),) = named.items()
    number = finite(**named)
    if not 0.0 <= number < 1.0:
        raise ArgumentError(name, value, "must be at least 0 and below 1")
    return number


def order(**named: object) -> float:
    """Return the one argument as an order of generalized Gaussian noise, a finite float of at least 1."""
    ((name, value),) = named.items()
    number = finite(**named)
    if number < 1.0:
        expected = "must be at least 1 (1 is Laplace, 2 is Gaussian); ggdp does not calibrate orders below 1"
        raise ArgumentError(name, value, expected)
    return number


def integer(*, at_least: int, at_most: int | None = None, **named: object) -> int:
    """Return the one argument as an integer that is not below `at_least`, nor above `at_most`."""
    ((name, value),) = named.items()
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ArgumentTypeError(name, value, "must be an integer")
    if value < at_least:
        raise ArgumentError(name, value, f"must be at least {at_least}")
    if at_most is not None and int(value) > at_most:
        raise ArgumentError(name, value, f"must be at most {at_most:,}")
    return int(value)


def boolean(**named: object) -> bool:
    """Return the one argument if it is True or False."""
    ((name, value),) = named.items()
    if not isinstance(value, bool):
        raise ArgumentTypeError(name, value, "must be True or False")
    return value


def booleans(**named: object) -> tuple[bool, ...]:
    """Return the one argument, a sequence of True or False that is not empty, as a tuple."""
    return tuple(boolean(**{name: one}) for name in named for one in non_empty(**named))


def choice(*, among: tuple[str, ...], **named: object) -> str:
    """Return the one argument if it is one of the words `among`."""
    ((name, value),) = named.items()
    if not isinstance(value, str) or value not in among:
        refusal = ArgumentError if isinstance(value, str) else ArgumentTypeError
        raise refusal(name, value, "must be one of " + ", ".join(repr(word) for word in among))
    return value


def words(**named: object) -> str:
    """Return the one argument as text that is not blank and that any file or database can hold."""
    ((name, value),) = named.items()
    if not isinstance(value, str) or not value.strip():
        raise ArgumentTypeError(name, value, "must be text that is not blank")
    # Control characters, a null one among them, and halves of a character.
    if any(unicodedata.category(sign) in ("Cc", "Cs") for sign in value):
        raise ArgumentError(name, value, "must be text without control characters")
    return value


def non_empty(**named: object) -> tuple[object, ...]:
    """Return the one argument, an iterable of at least one item, as a tuple."""
    ((name, value),) = named.items()
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        raise ArgumentTypeError(name, value, "must be a sequence")
    try:
        items = tuple(value)
    except TypeError:
        # An array without axes is iterable by its type alone.
        raise ArgumentTypeError(name, value, "must be a sequence") from None
    if not items:
        raise ArgumentError(name, value, "must not be empty")
    return items


def interval(**named: object) -> tuple[float, float]:
    """Return the one argument as a pair of finite floats, the lower end first and below the upper."""
    ((name, value),) = named.items()
    ends = non_empty(**named)
    if len(ends) != 2:
        raise ArgumentError(name, value, "must be a pair (lower, upper)")
    low, high = (finite(**{name: end}) for end in ends)
    if not low < high:
        raise ArgumentError(name, value, "the lower end must be below the upper end")
    return low, high


def intervals(**named: object) -> tuple[tuple[float, float], ...]:
    """Return the one argument, a sequence of pairs or one plain pair (lower, upper), as a tuple of pairs."""
    ((name, items),) = ((name, non_empty(**{name: value})) for name, value in named.items())
    if len(items) == 2 and all(isinstance(item, numbers.Real) for item in items):
        return (interval(**{name: items}),)
    return tuple(interval(**{name: pair}) for pair in items)
