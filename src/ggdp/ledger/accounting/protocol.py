"""What a kind of accounting is: pure functions of a budget, running totals and charges, all of them plain values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias

if TYPE_CHECKING:
    from ggdp.ledger.budgets import Balance
    from ggdp.ledger.charge_request import ChargeRequest

Charge: TypeAlias = dict[str, Any]
Totals: TypeAlias = dict[str, Any]


class Accounting(Protocol):
    """A budget, with the rule by which it is spent.

    Totals and charges are plain values, since they are stored with every entry: the state of a ledger is that of its
    last entry, and a charge takes the same time however many there are.
    """

    name: ClassVar[str]

    def opening(self) -> Totals:
        """Return the totals of a ledger without entries."""
        ...

    def charge(self, request: ChargeRequest) -> Charge:
        """Return what a release costs. Rounding: up. A release that the kind cannot account for is an error."""
        ...

    def after(self, totals: Totals, charge: Charge) -> Totals:
        """Return the totals after a charge, exactly."""
        ...

    def keeps(self, totals: Totals) -> bool:
        """Return whether totals are within the budget."""
        ...

    def spent(self, totals: Totals) -> Balance:
        """Return what totals amount to."""
        ...

    def remaining(self, totals: Totals) -> Balance:
        """Return what is left."""
        ...

    def left(self, totals: Totals) -> float:
        """Return what is left as one number, for a plot."""
        ...

    def refusal(self, totals: Totals, charge: Charge) -> str:
        """Return why a charge does not fit: what it costs, what remains, and what would fit."""
        ...
