"""A ledger at a glance, and what each kind of accounting would have cost for what was released so far."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ggdp.errors import GgdpError
from ggdp.ledger.accounting.renyi import RenyiAccounting, limits_of, orders_for
from ggdp.ledger.accounting.reserved import composition_of
from ggdp.ledger.accounting.sums import SumAccounting
from ggdp.ledger.budgets import Budget

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.ledger.charge_request import ChargeRequest
    from ggdp.ledger.ledger import Ledger

__all__ = ["NOTE", "costs", "overview"]

NOTE = (
    "The composed total holds only for noise that was fixed beforehand, as where laws are reserved; the others always."
)


def overview(ledger: Ledger) -> dict[str, Any]:
    """Return what a ledger is, what was spent and remains, its head, and what each kind would have cost."""
    entries, head = ledger.entries(), ledger.head
    return {
        "ledger": ledger.name,
        "identity": ledger.identity,
        "unit": ledger.unit,
        "neighbours": ledger.neighbours,
        "accounting": ledger.accounting,
        "budget": ledger.budget,
        "spent": ledger.spent(),
        "remaining": ledger.remaining(),
        "analysts": {
            name: {"cap": cap, "spent": ledger.spent(name), "remaining": ledger.remaining(name)}
            for name, cap in ledger.analysts.items()
        },
        "entries": len(entries),
        "published": sum(entry.files is not None for entry in entries),
        "records": head.number,
        "head": head.hash,
        "costs": costs(Budget.parse(ledger.budget), [entry.request for entry in entries]),
        "note": NOTE,
    }


def costs(budget: Budget, requests: Sequence[ChargeRequest]) -> dict[str, Any]:
    """Return what releases cost by each kind: the sums, and by the others the epsilon at the budget's delta.

    None where a kind cannot account for them. The Renyi filter is that of the orders for this budget.
    """
    laws = {request.law: request for request in requests}
    counts = Counter(request.law for request in requests)
    return {
        "sum": _sum(budget, requests),
        "renyi": _renyi(budget, requests),
        "composed": _composed(budget, [(laws[law], count) for law, count in counts.items()]),
    }


def _sum(budget: Budget, requests: Sequence[ChargeRequest]) -> dict[str, Any]:
    books = SumAccounting(budget)
    totals = books.opening()
    for request in requests:
        totals = books.after(totals, books.charge(request))
    return totals


def _renyi(budget: Budget, requests: Sequence[ChargeRequest]) -> dict[str, Any] | None:
    try:
        orders = orders_for(budget)
        books = RenyiAccounting(budget, orders, limits_of(budget, orders))
        totals = books.opening()
        for request in requests:
            totals = books.after(totals, books.charge(request))
    except GgdpError:
        return None
    spent = books.spent(totals)
    return {"epsilon": spent["epsilon"], "delta": spent["delta"]}


def _composed(budget: Budget, laws: Sequence[tuple[ChargeRequest, int]]) -> dict[str, Any] | None:
    if not laws:
        return {"epsilon": 0.0, "delta": str(budget.delta)}
    upper = composition_of(laws).epsilon(float(budget.delta))[1]
    return {"epsilon": upper, "delta": str(budget.delta)} if upper < float("inf") else None
