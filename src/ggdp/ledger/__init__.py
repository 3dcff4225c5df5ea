"""The durable budget of one set of people: charged before the data are read, never overspent, chained by hashes."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggdp.ledger.budgets import Balance
    from ggdp.ledger.chain import Entry, EntryReference, Head, Record
    from ggdp.ledger.charging import ChargeRequest
    from ggdp.ledger.ledger import Ledger

__all__ = ["Balance", "ChargeRequest", "Entry", "EntryReference", "Head", "Ledger", "Record"]

# Loaded when first used: a ledger brings SQLAlchemy along, which a release without one does not need.
_MODULES = {"Balance": "budgets", "ChargeRequest": "charging", "Ledger": "ledger"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name not in __all__:
        raise AttributeError(f"module 'ggdp.ledger' has no attribute {name!r}")
    return getattr(import_module(f"ggdp.ledger.{_MODULES.get(name, 'chain')}"), name)
