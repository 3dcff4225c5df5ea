"""A ledger at a glance, and what each kind of accounting would have cost for what was released so far."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING, Any

from ggdp.errors import GgdpError
from ggdp.ledger.accounting import SumAccounting
from ggdp.ledger.budgets import Budget
from ggdp.ledger.renyi_accounting import RenyiAccounting, limits_of, orders_for
from ggdp.ledger.reserved_accounting import composition_of, reserved_laws

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.ledger.accounting import Accounting
    from ggdp.ledger.budgets import Balance
    from ggdp.ledger.charge_request import ChargeRequest
    from ggdp.ledger.ledger import Ledger

NOTE = (
    "The composed total holds only for noise that was fixed beforehand, as where laws are reserved; the others always."
)


def overview(ledger: Ledger) -> dict[str, Any]:
    """Return what a ledger is, what was spent and remains, its head, and what each kind would have cost."""
    entries, head = ledger.entries(), ledger.head
    balances = {"budget": ledger.budget, "spent": ledger.spent(), "remaining": ledger.remaining()}
    return {
        "ledger": ledger.name,
        "identity": ledger.identity,
        "unit": ledger.unit,
        "neighbours": ledger.neighbours,
        "accounting": ledger.accounting,
        **{name: balance.to_dict() for name, balance in balances.items()},
        "exact": {name: balance.exact() for name, balance in balances.items()},
        "analysts": {
            name: {
                "cap": cap.to_dict(),
                "spent": ledger.spent(name).to_dict(),
                "remaining": ledger.remaining(name).to_dict(),
            }
            for name, cap in ledger.analysts.items()
        },
        "reserved": _reserved(ledger, balances["remaining"]),
        "entries": len(entries),
        "published": sum(entry.files is not None for entry in entries),
        "records": head.number,
        "head": head.hash,
        "costs": costs(ledger.budget, [entry.request for entry in entries]),
        "note": NOTE,
    }


def _reserved(ledger: Ledger, remaining: Balance) -> list[dict[str, Any]]:
    """Return which noise is reserved and how often it is left; nothing where costs are counted otherwise."""
    if remaining.laws is None:
        return []
    return [law.to_dict() for law in reserved_laws(ledger.records(), remaining.laws)]


def costs(whole: Balance, requests: Sequence[ChargeRequest]) -> dict[str, Any]:
    """Return what releases cost by each kind: the sums, and by the others the epsilon at the budget's delta.

    None where a kind cannot account for them. The Renyi filter is that of the orders for this budget.
    """
    budget = Budget.parse(whole.exact())
    laws = {request.law: request for request in requests}
    counts = Counter(request.law for request in requests)
    return {
        "sum": _spent(SumAccounting(budget), requests),
        "renyi": _renyi(budget, requests),
        "composed": _composed(budget, [(laws[law], count) for law, count in counts.items()]),
    }


def _spent(books: Accounting, requests: Sequence[ChargeRequest]) -> dict[str, Any]:
    totals = books.opening()
    for request in requests:
        totals = books.after(totals, books.charge(request))
    return books.spent(totals).to_dict()


def _renyi(budget: Budget, requests: Sequence[ChargeRequest]) -> dict[str, Any] | None:
    try:
        orders = orders_for(budget)
        return _spent(RenyiAccounting(budget, orders, limits_of(budget, orders)), requests)
    except GgdpError:
        return None


def _composed(budget: Budget, laws: Sequence[tuple[ChargeRequest, int]]) -> dict[str, Any] | None:
    delta = float(budget.delta)
    upper = composition_of(laws).epsilon(delta)[1] if laws else 0.0
    return {"epsilon": upper, "delta": delta} if upper < math.inf else None
