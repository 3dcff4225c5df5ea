"""Kinds of accounting: each says what a release costs, and when a budget is used up.

Each is sound where a release is chosen after earlier results were seen;
docs/explanation/theory/ledger.md has the proofs.
"""

from ggdp.ledger.accounting.kinds import ACCOUNTINGS, accounting_of, chosen_parameters
from ggdp.ledger.accounting.protocol import Accounting

__all__ = ["ACCOUNTINGS", "Accounting", "accounting_of", "chosen_parameters"]
