"""Checks of arguments of the experiments that name the argument they refuse: ``positive(prior=prior)``."""

from __future__ import annotations

import math
import numbers

from ggdp.errors import ArgumentError

__all__ = ["choice", "integer", "positive"]


def integer(*, at_least: int, **named: object) -> int:
    """Return the one argument as an integer that is not below `at_least`.

    Examples
    --------
    >>> integer(repeats=5, at_least=2)
    5
    """
    ((name, value),) = named.items()
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise ArgumentError(name, value, "must be an integer")
    if value < at_least:
        raise ArgumentError(name, value, f"must be at least {at_least}")
    return int(value)


def positive(*, below: float = math.inf, **named: object) -> float:
    """Return the one argument as a finite float above 0 and below `below`.

    Examples
    --------
    >>> positive(delta=0.25, below=1.0)
    0.25
    """
    ((name, value),) = named.items()
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise ArgumentError(name, value, "must be a real number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not 0.0 < number < below:
        bound = "finite" if below == math.inf else f"below {below:g}"
        raise ArgumentError(name, value, f"must be greater than 0 and {bound}")
    return number


def choice(*, among: tuple[str, ...], **named: object) -> str:
    """Return the one argument if it is one of the words `among`.

    Examples
    --------
    >>> choice(among=("raw", "project"), adjustment="raw")
    'raw'
    """
    ((name, value),) = named.items()
    if not isinstance(value, str) or value not in among:
        raise ArgumentError(name, value, "must be one of " + ", ".join(repr(word) for word in among))
    return value
