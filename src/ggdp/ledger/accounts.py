"""The common budget of a ledger, with the caps of its analysts under it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ggdp import _validate
from ggdp.errors import ArgumentError, BudgetExceededError, LedgerError
from ggdp.ledger.accounting import accounting_of
from ggdp.ledger.amounts import Amount
from ggdp.ledger.budgets import Budget
from ggdp.ledger.canonical import parsed

if TYPE_CHECKING:
    from ggdp.ledger.accounting import Accounting
    from ggdp.ledger.accounting.protocol import Charge
    from ggdp.ledger.budgets import Balance
    from ggdp.ledger.charge_request import ChargeRequest
    from ggdp.ledger.ledger_terms import LedgerTerms


@dataclass(frozen=True, slots=True)
class State:
    """The running totals of a ledger: how many entries there are, and what all and each analyst have spent.

    `protects` is what the first release that said so takes for one unit: a column, or "row".
    """

    entries: int
    common: dict[str, Any]
    analysts: dict[str, dict[str, Any]]
    protects: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the totals as plain values."""
        plain = {"entries": self.entries, "common": self.common, "analysts": self.analysts}
        # Left out until it is said: records from before it was recorded stay as they were written.
        return plain if self.protects is None else {**plain, "protects": self.protects}

    @classmethod
    def parse(cls, text: str) -> State:
        """Return the totals of a record."""
        return cls(**parsed(text))


@dataclass(frozen=True, slots=True)
class Accounts:
    """The accounting of the common budget, and of the cap of each analyst, by the terms of a ledger."""

    terms: LedgerTerms
    common: Accounting
    caps: dict[str, Accounting]

    @classmethod
    def of(cls, terms: LedgerTerms) -> Accounts:
        """Return the accounts of a ledger."""
        parameters, caps = parsed(terms.parameters), parsed(terms.analysts)
        budget = Budget(Amount.parse(terms.epsilon), Amount.parse(terms.delta))
        return cls(
            terms,
            accounting_of(terms.accounting, budget, parameters),
            {
                name: accounting_of(terms.accounting, Budget.parse(cap), parameters, analyst=name)
                for name, cap in caps.items()
            },
        )

    def opening(self) -> State:
        """Return the totals of a ledger without entries."""
        return State(0, self.common.opening(), {name: cap.opening() for name, cap in self.caps.items()})

    def require_analyst(self, analyst: str | None) -> None:
        """Raise unless the analyst has a cap, in a ledger that has caps."""
        if analyst is not None:
            _validate.words(analyst=analyst)
        if not self.caps or analyst in self.caps:
            return
        known = ", ".join(repr(name) for name in self.caps)
        asked = "no analyst was named" if analyst is None else f"the analyst {analyst!r} has none"
        message = f"this ledger has caps for its analysts, and {asked}; `analyst` must be one of {known}"
        raise LedgerError(message)

    def require_same(self, request: ChargeRequest) -> None:
        """Raise for a release that cannot be added to the others of this ledger."""
        neighbours, unit = self.terms.neighbours, self.terms.unit
        if request.neighbours != neighbours:
            message = (
                f"the release is for {request.neighbours} neighbours and the ledger for {neighbours}: their losses do "
                f'not add up; release with `neighbours="{neighbours}"`, or use another ledger'
            )
            raise LedgerError(message)
        if request.unit is not None and not self.names_unit(request.unit):
            message = (
                f"the release protects {request.unit!r} and the ledger {unit!r}: their losses do not add up; if both "
                "mean the same, use the same words (`unit_name`), else use another ledger"
            )
            raise LedgerError(message)

    def spent(self, state: State, analyst: str | None) -> Balance:
        """Return what all releases, or those of an analyst with a cap, have cost."""
        return self.common.spent(state.common) if analyst is None else self._cap(analyst).spent(state.analysts[analyst])

    def remaining(self, state: State, analyst: str | None) -> Balance:
        """Return what remains of the budget, or of the cap of an analyst; without caps all share the budget."""
        if analyst is None or not self.caps:
            return self.common.remaining(state.common)
        return self._cap(analyst).remaining(state.analysts[analyst])

    def _cap(self, analyst: str) -> Accounting:
        if not self.caps:
            raise ArgumentError(
                "analyst",
                analyst,
                "has no cap, since the ledger has none, and only with caps is it added up what each analyst has spent; "
                "leave `analyst` out, or add up the charges of `entries()`",
            )
        if analyst not in self.caps:
            raise ArgumentError("analyst", analyst, f"must be one of {sorted(self.caps)}")
        return self.caps[analyst]

    def charge(self, request: ChargeRequest) -> Charge:
        """Return what a release costs."""
        return self.common.charge(request)

    def names_unit(self, unit: str | None) -> bool:
        """Return whether words for the units of a release are those of the ledger."""
        return unit is not None and unit.casefold() == self.terms.unit.casefold()

    def protecting(self, state: State, protects: str | None, unit: str | None) -> State:
        """Return the totals with what a release takes for one unit, or raise if earlier releases take another.

        A publisher who names the unit of the ledger states that one row, or one value of the column, is that unit.
        """
        if protects is None or protects == state.protects:
            return state
        if state.protects is None:
            return replace(state, protects=protects)
        if self.names_unit(unit):
            return state
        message = (
            f"the release protects {protects!r} where earlier releases protect {state.protects!r}: their losses are "
            "not about the same people and cannot be added; use another ledger, or, if each of both stands "
            f'for one of the units of this ledger ({self.terms.unit}), say so with `unit_name="{self.terms.unit}"`'
        )
        raise LedgerError(message)

    def added(self, state: State, charge: Charge, analyst: str | None) -> State:
        """Return the totals after a charge, whether or not they keep the budget."""
        analysts = dict(state.analysts)
        if analyst in self.caps:
            analysts[analyst] = self.caps[analyst].after(analysts[analyst], charge)
        return replace(
            state, entries=state.entries + 1, common=self.common.after(state.common, charge), analysts=analysts
        )

    def keeps(self, state: State) -> bool:
        """Return whether totals are within the budget and all caps."""
        return self.common.keeps(state.common) and all(
            cap.keeps(state.analysts[name]) for name, cap in self.caps.items()
        )

    def charged(self, state: State, charge: Charge, analyst: str | None) -> State:
        """Return the totals after a charge, or raise if it does not fit."""
        after = self.added(state, charge, analyst)
        if not self.common.keeps(after.common):
            message = f"the release does not fit in the budget: {self.common.refusal(state.common, charge)}"
            raise BudgetExceededError(
                message, requested=Budget.parse(charge).balance, remaining=self.common.remaining(state.common)
            )
        if analyst in self.caps and not self.caps[analyst].keeps(after.analysts[analyst]):
            cap, spent = self.caps[analyst], state.analysts[analyst]
            message = f"the release does not fit in the cap of the analyst {analyst!r}: {cap.refusal(spent, charge)}"
            raise BudgetExceededError(message, requested=Budget.parse(charge).balance, remaining=cap.remaining(spent))
        return after
