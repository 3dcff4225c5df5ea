"""Budgets and what remains of them, in exact amounts of epsilon and delta.

An amount is a whole number of 10^-40, so that sums are not rounded. Powers of ten and not of two: a budget of 1 must
hold ten releases of 0.1, and no power of two divides 1/10. What was typed as a decimal is exact here; any other number
is rounded once, a charge up and a budget down, by less than 10^-40.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ggdp._rounding import exact_text, number_of
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.privacy import ApproxDP, Guarantee, PureDP

PLACES = 40
_UNITS = 10**PLACES


def as_typed(number: float) -> Fraction:
    """Return a float as the decimal that a person typed: the shortest one that reads as this float."""
    return Fraction(repr(float(number)))


@dataclass(frozen=True, slots=True, order=True)
class Amount:
    """An amount in units of 10^-40, never below 0 in a ledger."""

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
        written = re.fullmatch(rf"[0-9]+(\.[0-9]{{1,{PLACES}}})?", text)
        amount = cls(int(Fraction(text) * _UNITS)) if written else None
        if amount is None or str(amount) != text:
            raise ValueError(f"{text!r} is not how an amount is written")
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


# A budget of 1 is kept up to 1 + 2^-49.
ROUNDING = 1 + Fraction(1, 2**49)


@dataclass(frozen=True, slots=True)
class Budget:
    """An epsilon and a delta that may be spent, or were."""

    epsilon: Amount
    delta: Amount

    @classmethod
    def of(cls, guarantee: Guarantee, *, argument: str = "budget") -> Budget:
        """Return the budget of a guarantee, read as the decimals that were typed. Rounding: down."""
        if not isinstance(guarantee, PureDP | ApproxDP):
            raise ArgumentTypeError(argument, guarantee, "must be PureDP(epsilon) or ApproxDP(epsilon, delta)")
        found = cls(Amount.down(as_typed(guarantee.epsilon)), Amount.down(as_typed(guarantee.delta)))
        if not found.epsilon.units or (guarantee.delta > 0.0 and not found.delta.units):
            raise ArgumentError(argument, str(guarantee), f"numbers below 1e-{PLACES} are not told from 0")
        return found

    @classmethod
    def parse(cls, plain: Mapping[str, str]) -> Budget:
        """Return the budget that `to_dict` described."""
        return cls(Amount.parse(plain["epsilon"]), Amount.parse(plain["delta"]))

    def to_dict(self) -> dict[str, str]:
        """Return the two amounts with all their digits."""
        return {"epsilon": str(self.epsilon), "delta": str(self.delta)}

    @property
    def balance(self) -> Balance:
        """The two amounts as fractions."""
        return Balance(epsilon=self.epsilon.exact, delta=self.delta.exact)

    def __add__(self, other: Budget) -> Budget:
        return Budget(self.epsilon + other.epsilon, self.delta + other.delta)

    def __sub__(self, other: Budget) -> Budget:
        return Budget(max(self.epsilon - other.epsilon, Amount(0)), max(self.delta - other.delta, Amount(0)))

    def holds(self, other: Budget) -> bool:
        """Return whether `other` is not above this in either number, but for the rounding of floats.

        A float differs from the decimal that was typed by a share of at most 2^-53, and so does a sum of them: what was
        typed as parts of a budget always fits in it.
        """
        return other.epsilon.exact <= self.epsilon.exact * ROUNDING and other.delta.exact <= self.delta.exact * ROUNDING

    def at_most(self) -> Budget:
        """Return the amounts with as many decimal places as a person reads, rounded down."""
        return Budget(Amount.down(self.epsilon.exact, places=12), Amount.down(self.delta.exact, places=24))

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon.shown}, delta = {self.delta.shown}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Balance:
    """What was spent, or what remains.

    Attributes
    ----------
    epsilon, delta : Fraction, optional
        Exactly; None where laws are reserved, which have no epsilon of their own.
    laws : dict of str to int, optional
        Where laws are reserved: how often each was, or can still be, used.

    Examples
    --------
    >>> from fractions import Fraction
    >>> left = Balance(epsilon=Fraction(1, 10), delta=Fraction(0))
    >>> print(left, left.to_dict(), left.epsilon < 0.2)
    epsilon = 0.1, delta = 0 {'epsilon': 0.1, 'delta': 0.0} True
    """

    epsilon: Fraction | None
    delta: Fraction | None
    laws: dict[str, int] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as floats, for JSON; `exact` has all digits."""
        plain: dict[str, Any] = {name: float(number) for name, number in self._numbers().items()}
        return plain if self.laws is None else {**plain, "laws": self.laws}

    def exact(self) -> dict[str, str]:
        """Return epsilon and delta with all their digits."""
        return {name: str(Amount.up(number)) for name, number in self._numbers().items()}

    def _numbers(self) -> dict[str, Fraction]:
        numbers = {"epsilon": self.epsilon, "delta": self.delta}
        return {name: number for name, number in numbers.items() if number is not None}

    def __str__(self) -> str:
        said = [f"{name} = {Amount.up(number).shown}" for name, number in self._numbers().items()]
        if self.laws is not None:
            uses, laws = number_of(sum(self.laws.values()), "use"), number_of(len(self.laws), "reserved law")
            said.append(f"{uses} of {laws}")
        return ", ".join(said)
