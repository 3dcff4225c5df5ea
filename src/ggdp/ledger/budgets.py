"""Budgets and what is left of them, in exact amounts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.ledger.amounts import PLACES, Amount, typed
from ggdp.privacy import ApproxDP, PureDP

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Budget"]


@dataclass(frozen=True, slots=True)
class Budget:
    """An epsilon and a delta that may be spent, or were.

    Examples
    --------
    >>> print(Budget.of(ApproxDP(3.0, 1e-6)))
    epsilon = 3, delta = 0.000001
    """

    epsilon: Amount
    delta: Amount

    @classmethod
    def of(cls, guarantee: PureDP | ApproxDP, *, argument: str = "budget") -> Budget:
        """Return the budget of a guarantee, read as the decimals that were typed. Rounding: down."""
        if not isinstance(guarantee, PureDP | ApproxDP):
            raise ArgumentTypeError(
                argument,
                guarantee,
                "must be PureDP(epsilon) or ApproxDP(epsilon, delta)",
            )
        found = cls(Amount.down(typed(guarantee.epsilon)), Amount.down(typed(guarantee.delta)))
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

    def __add__(self, other: Budget) -> Budget:
        return Budget(self.epsilon + other.epsilon, self.delta + other.delta)

    def __sub__(self, other: Budget) -> Budget:
        return Budget(self.epsilon - other.epsilon, self.delta - other.delta)

    def holds(self, other: Budget) -> bool:
        """Return whether `other` is not above this in either number."""
        return other.epsilon <= self.epsilon and other.delta <= self.delta

    def __str__(self) -> str:
        return f"epsilon = {self.epsilon}, delta = {self.delta}"
