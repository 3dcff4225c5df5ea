"""Exact amounts of epsilon and delta: whole numbers of 10^-40, which are added without rounding.

Powers of ten and not of two: a budget of 1 must hold ten releases of 0.1, and no power of two divides 1/10. What was
typed as a decimal is exact here; any other number is rounded once, a charge up and a budget down, by less than 10^-40.

Examples
--------
>>> sum([Amount.up(typed(0.1))] * 10, Amount(0)) == Amount.down(typed(1.0))
True
>>> sum([0.1] * 10) == 1.0
False
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from ggdp._rounding import exact_text

PLACES = 40
_UNITS = 10**PLACES
_WRITTEN = re.compile(rf"[0-9]+(\.[0-9]{{1,{PLACES}}})?")


def typed(number: float) -> Fraction:
    """Return a float as the decimal that a person typed: the shortest one that reads as this float.

    Examples
    --------
    >>> typed(0.1), Fraction(0.1) > typed(0.1)
    (Fraction(1, 10), True)
    """
    return Fraction(repr(float(number)))


@dataclass(frozen=True, slots=True, order=True)
class Amount:
    """An amount in units of 10^-40, never below 0 in a ledger.

    Examples
    --------
    >>> str(Amount.up(Fraction(1, 4))), str(Amount.up(Fraction(1, 3), places=5)), str(Amount(0))
    ('0.25', '0.33334', '0')
    >>> Amount.parse("0.25") + Amount.parse("1") == Amount.down(Fraction(5, 4))
    True
    """

    units: int

    @classmethod
    def up(cls, exact: Fraction, *, places: int = PLACES) -> Amount:
        """Return the least amount of so many decimal places that is not below a number: of a charge."""
        return cls(math.ceil(exact * 10**places) * 10 ** (PLACES - places))

    @classmethod
    def down(cls, exact: Fraction, *, places: int = PLACES) -> Amount:
        """Return the largest amount of so many decimal places that is not above a number: of a budget."""
        return cls(math.floor(exact * 10**places) * 10 ** (PLACES - places))

    @classmethod
    def parse(cls, text: str) -> Amount:
        """Return the amount that `str` has written."""
        # Digits only: a fraction may also be written as 1/0, or with an exponent that takes all memory.
        amount = cls(int(Fraction(text) * _UNITS)) if _WRITTEN.fullmatch(text) else None
        if amount is None or str(amount) != text:
            message = f"{text!r} is not how an amount is written"
            raise ValueError(message)
        return amount

    @property
    def exact(self) -> Fraction:
        """The amount as a fraction."""
        return Fraction(self.units, _UNITS)

    def __add__(self, other: Amount) -> Amount:
        return Amount(self.units + other.units)

    def __sub__(self, other: Amount) -> Amount:
        return Amount(self.units - other.units)

    def __float__(self) -> float:
        return float(self.exact)

    @property
    def shown(self) -> str:
        """All digits in the style of other texts, for people: "1e-06"."""
        return exact_text(Decimal(str(self)))

    def __str__(self) -> str:
        """Return all digits, without an exponent and without trailing zeros: one text for each amount, in records."""
        whole, part = divmod(abs(self.units), _UNITS)
        text = f"{'-' if self.units < 0 else ''}{whole}.{part:0{PLACES}d}"
        return text.rstrip("0").rstrip(".")
