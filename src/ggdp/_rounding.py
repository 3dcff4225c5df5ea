"""Rounding towards privacy: up, to the least float that is not below the exact value."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from typing import TYPE_CHECKING

from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from fractions import Fraction

__all__ = ["rounded_up", "shown"]


def rounded_up(exact: Fraction, *, of: str) -> float:
    """Return the least float that is not below `exact`, which is named `of` where it is too large for one."""
    try:
        nearest = float(exact)
    except OverflowError:
        raise ArgumentError(of, "above 1e308", "does not fit in a 64-bit float; change the unit of the query") from None
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)


def shown(value: float, digits: int = 12) -> str:
    """Return a number in so many digits at most, rounded up where it has more: what is shown is not less than it is."""
    short = f"{value:.{digits}g}"
    if float(short) < value:
        rounded = Context(prec=digits, rounding=ROUND_CEILING).create_decimal(Decimal(value))
        short = f"{rounded.normalize():.{digits}g}"
    return short
