"""The durable budget of one set of people: charged before the data are read, never overspent, chained by hashes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggdp.ledger.budgets import Balance
    from ggdp.ledger.chain import Entry, EntryReference, Head, Record
    from ggdp.ledger.charge_request import ChargeRequest
    from ggdp.ledger.ledger import Ledger

__all__ = ["Balance", "ChargeRequest", "Entry", "EntryReference", "Head", "Ledger", "Record"]

# Loaded when first used: a ledger brings SQLAlchemy along, which a release without one does not need.
_LAZY = {
    "Balance": "ggdp.ledger.budgets",
    "ChargeRequest": "ggdp.ledger.charge_request",
    "Entry": "ggdp.ledger.chain",
    "EntryReference": "ggdp.ledger.chain",
    "Head": "ggdp.ledger.chain",
    "Ledger": "ggdp.ledger.ledger",
    "Record": "ggdp.ledger.chain",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name not in _LAZY:
        raise AttributeError(f"module 'ggdp.ledger' has no attribute {name!r}")
    return getattr(import_module(_LAZY[name]), name)
