"""The kinds of accounting by name, and what a ledger stores of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.ledger.accounting.sums import SumAccounting
from ggdp.ledger.amounts import Amount

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ggdp.ledger.accounting.protocol import Accounting
    from ggdp.ledger.budgets import Budget

ACCOUNTINGS = ("sum", "renyi", "reserved")
_REFUSED = (
    "stopping when the composed loss distribution of what was released passes the budget is not sound where later "
    "releases are chosen by earlier results (arXiv 2602.06756; docs/explanation/theory/ledger.md has an "
    "example); use sum, renyi, or reserved, which is as tight for laws that are fixed beforehand"
)


def checked_accounting(accounting: object) -> str:
    """Return the name of a kind of accounting; the one that is not sound is refused with the reason."""
    if accounting == "composed":
        raise ArgumentError("accounting", accounting, _REFUSED)
    return _validate.choice(among=ACCOUNTINGS, accounting=accounting)


def chosen_parameters(accounting: str, budget: Budget, analysts: Mapping[str, Budget]) -> dict[str, Any]:
    """Return what a kind fixes when a ledger is made, as plain values: of renyi the orders and their limits."""
    if accounting != "renyi":
        return {}
    from ggdp.ledger.accounting.renyi import limits_of, orders_for

    orders = orders_for(budget)

    def limits(of: Budget) -> list[str | None]:
        return [None if limit is None else str(limit) for limit in limits_of(of, orders)]

    caps = {}
    for name, cap in analysts.items():
        if not cap.delta.units:
            raise ArgumentError(
                "analysts", name, "has a cap without a delta, and Renyi divergences prove no pure DP; give it one"
            )
        caps[name] = limits(cap)
        if not any(caps[name]):
            raise ArgumentError(
                "analysts",
                name,
                f"has a cap of {cap}, which is too small: no release keeps it by the Renyi orders of the budget; give "
                "it more, or use accounting sum",
            )
    return {"orders": list(orders), "limits": limits(budget), "analysts": caps}


def accounting_of(
    accounting: str, budget: Budget, parameters: Mapping[str, Any], *, analyst: str | None = None
) -> Accounting:
    """Return the accounting of a budget, or of the cap of an analyst; where laws are reserved, caps are sums."""
    if accounting == "renyi":
        from ggdp.ledger.accounting.renyi import RenyiAccounting

        texts = parameters["limits"] if analyst is None else parameters["analysts"][analyst]
        limits = tuple(None if text is None else Amount.parse(text) for text in texts)
        return RenyiAccounting(budget, tuple(parameters["orders"]), limits)
    if accounting == "reserved" and analyst is None:
        from ggdp.ledger.accounting.reserved import ReservedAccounting

        return ReservedAccounting(budget)
    return SumAccounting(budget)
