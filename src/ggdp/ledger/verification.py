"""Whether the records of a ledger are those that were written.

Found are every edit of a column of a row, every record that was removed, added, exchanged or cut off at the end, and
totals that do not follow from the charges or are above the budget. Not found are a whole file that was put back to an
older copy, records cut off together with a head that was set back to match, and a chain that was written anew from some
record on by somebody who computes its hashes: for these, keep the head elsewhere and compare.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ggdp.errors import BudgetExceededError, LedgerError, TamperingError
from ggdp.ledger.accounts import Accounts
from ggdp.ledger.canonical import canonical, parsed
from ggdp.ledger.charge_request import ChargeRequest
from ggdp.ledger.ledger_terms import FORMAT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ggdp.ledger.accounts import State
    from ggdp.ledger.entries import Head, Record
    from ggdp.ledger.ledger_terms import LedgerTerms


def require_head(terms: LedgerTerms, head: Head, last: Record | None) -> None:
    """Raise unless the head is the last record, whose hash covers the terms; the rest is not looked at."""
    if head.number == 0 and last is None:
        if head.hash != terms.genesis:
            message = "what the ledger says of itself, such as its budget, is not what it was made with"
            raise TamperingError(message)
        return
    if last is None or last.number != head.number or last.hash != head.hash or last.hashed(terms.genesis) != last.hash:
        message = f"record {head.number}, the last one, or what the ledger says of itself was changed"
        raise TamperingError(message)


def require_chain(terms: LedgerTerms, head: Head, records: Iterable[Record], kept: str | None = None) -> Head:
    """Return the head, or raise for the first thing that is not as it was written.

    `kept` is the hash of an earlier or the present head, kept elsewhere; it must be among the hashes of the chain.
    """
    if terms.format != FORMAT:
        message = f"the ledger has records of format {terms.format!r}, which this ggdp does not know"
        raise TamperingError(message)
    genesis = previous = terms.genesis
    try:
        accounts = Accounts.of(terms)
        state = accounts.opening()
    except (ValueError, KeyError, TypeError, AttributeError):
        message = "what the ledger says of itself, such as its budget, is not what it was made with"
        raise TamperingError(message) from None
    number, seen, published = 0, {genesis}, set[int]()
    reserved: list[tuple[ChargeRequest, int]] = []
    for number, record in enumerate(records, 1):
        if record.number != number:
            message = f"record {number} is missing: after it comes record {record.number}"
            raise TamperingError(message)
        if record.previous != previous or record.hashed(genesis) != record.hash:
            message = f"record {number} was changed, or does not belong to this ledger"
            raise TamperingError(message)
        state = _followed(accounts, state, record, published, reserved)
        previous = record.hash
        seen.add(previous)
    if (number, previous) != (head.number, head.hash):
        message = f"the ledger ends with record {number}, and its head is record {head.number} with another hash"
        raise TamperingError(message)
    if kept is not None and kept not in seen:
        message = (
            f"no record has the hash {kept!r} that was kept: the ledger was put back to an older copy, or written anew"
        )
        raise TamperingError(message)
    return head


def _followed(
    accounts: Accounts, state: State, record: Record, published: set[int], reserved: list[tuple[ChargeRequest, int]]
) -> State:
    """Return the totals after a record, if it says the same and keeps the budget."""
    try:
        after = _after(accounts, state, record, published, reserved)
    except BudgetExceededError:
        message = f"record {record.number} reserves laws that together pass the budget"
        raise TamperingError(message) from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, LedgerError):
        after = None
    if after is None or record.totals != canonical(after.to_dict()):
        message = f"record {record.number} does not follow from the records before it"
        raise TamperingError(message)
    if not accounts.keeps(after):
        message = f"record {record.number} passes the budget"
        raise TamperingError(message)
    return after


def _after(
    accounts: Accounts, state: State, record: Record, published: set[int], reserved: list[tuple[ChargeRequest, int]]
) -> State | None:
    content: dict[str, Any] = parsed(record.content)
    if record.content != canonical(content):
        return None
    if record.kind == "charge":
        before = accounts.protecting(state, content.get("protects"), content["unit"])
        return accounts.added(before, content["charge"], record.analyst) if record.entry == state.entries + 1 else None
    if record.kind == "publication":
        known = record.entry is not None and 1 <= record.entry <= state.entries and record.entry not in published
        published.add(record.entry or 0)
        return state if known else None
    if record.kind == "reservation" and state.entries == 0 and record.entry is None:
        reserved.extend((ChargeRequest.from_dict(part), part["count"]) for part in content["reserved"])
        accounts.common.require_budget(reserved)  # type: ignore[attr-defined]
        laws = [(request.law, count) for request, count in reserved[-len(content["reserved"]) :]]
        return replace(state, common=accounts.common.reserved(state.common, laws))  # type: ignore[attr-defined]
    return None
