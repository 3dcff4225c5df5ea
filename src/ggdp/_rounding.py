"""Rounding: of exact values to floats, up; and of numbers to the few digits that texts show.

Every text shows numbers in one style: "0.05", "6.08e-07", "1,420". What is promised is rounded up, so that a text
never claims more privacy, or less error, than is proved. JSON documents and the `repr` of a scale keep all digits.
"""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction

from ggdp.errors import ArgumentError


def rounded_up(exact: Fraction, *, of: str) -> float:
    """Return the least float that is not below `exact`; an error for a value too large for a float names it `of`."""
    try:
        nearest = float(exact)
    except OverflowError:
        raise ArgumentError(of, "above 1e308", "does not fit in a 64-bit float; change the unit of the query") from None
    return nearest if nearest >= exact else math.nextafter(nearest, math.inf)


def number_of(number: int, noun: str, several: str = "") -> str:
    """Return a number with its noun, in the plural unless it is 1: 1 cell, 1,200 rows."""
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"


def rounded_text(value: float, digits: int = 3) -> str:
    """Return a number as text, rounded to the nearest one with this many significant digits."""
    if not math.isfinite(value):
        return f"{value:g}"
    return exact_text(Context(prec=digits, rounding=ROUND_HALF_EVEN).create_decimal(Decimal(value)))


def rounded_up_text(value: float, digits: int = 3) -> str:
    """Return a number as text with this many significant digits, rounded up if it has more.

    Claim: the float nearest to the text is not below the value.
    """
    return _directed(value, digits, ROUND_CEILING)


def rounded_down_text(value: float, digits: int = 3) -> str:
    """Return a number as text with this many significant digits, rounded down if it has more; for lower bounds.

    Claim: the float nearest to the text is not above the value.
    """
    return _directed(value, digits, ROUND_FLOOR)


def _directed(value: float, digits: int, rounding: str) -> str:
    """Return a number as text, the nearest one if a reader's float of it is on the right side of the value."""
    if not math.isfinite(value):
        return f"{value:g}"
    nearest = Context(prec=digits, rounding=ROUND_HALF_EVEN).create_decimal(Decimal(value))
    if float(nearest) < value if rounding == ROUND_CEILING else float(nearest) > value:
        nearest = Context(prec=digits, rounding=rounding).create_decimal(Decimal(value))
    return exact_text(nearest)


def exact_text(number: Decimal) -> str:
    """Return a number as text with all its digits."""
    # The default context would round to 28 digits.
    plain = number.normalize(Context(prec=max(len(number.as_tuple().digits), 1)))
    if plain.is_zero():
        return "0"
    # Smaller and larger numbers are written with an exponent.
    if -4 <= plain.adjusted() < 15:
        return f"{plain:,f}"
    mantissa, exponent = f"{plain:e}".split("e")
    return f"{mantissa}e{int(exponent):+03d}"
