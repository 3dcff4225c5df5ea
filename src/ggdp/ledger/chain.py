"""The terms and records of a ledger, chained by hashes: how they are written and verified.

=======  ====================================================================================
terms    what is fixed when a ledger is created: budget, unit, neighbours, accounting, caps
genesis  the SHA-256 of the terms
record   one appended row; its hash covers the genesis, all its columns and the hash before it
head     number and hash of the last record; the genesis where there is none
entry    a charge; entries have numbers of their own, 1, 2, ..., which manifests name
=======  ====================================================================================

A record is never changed: the files of a release are a record of their own, after that of the charge. Since each hash
covers the terms and every hash before it, two ledgers with the same head have the same records.

Verification finds every edit of a column of a row, every record that was removed, added, exchanged or cut off at the
end, and totals that do not follow from the charges or are above the budget. It does not find a whole file that was put
back to an older copy, records cut off together with a head that was set back to match, or a chain that was written anew
from some record on by somebody who computes its hashes: for these, keep the head elsewhere and compare.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from typing import Any

from ggdp.errors import BudgetExceededError, LedgerError, TamperingError
from ggdp.ledger.accounting import BudgetWithCaps, State, reserved_in
from ggdp.ledger.budgets import Amount, Budget
from ggdp.ledger.charging import ChargeRequest, canonical, digest_of, parse, unit_in
from ggdp.privacy import Guarantee
from ggdp.proofs.losses import CountedLoss

# What the hashes cover; a number of its own, so that another schema can still hold records of this one.
FORMAT = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerTerms:
    """The terms of a ledger, column by column; amounts, parameters and caps are texts."""

    identity: str  # the UUID of the ledger, which manifests name
    format: int  # what the hashes of records cover
    created: str  # when it was made, in UTC
    # The budget.
    epsilon: str
    delta: str
    # Whom it protects.
    neighbours: str
    unit: str
    # The kind of accounting, and what it fixed.
    accounting: str
    parameters: str
    analysts: str  # the cap of each analyst

    @property
    def genesis(self) -> str:
        """The hash that the first record continues."""
        # The word is part of what is hashed: it stays as it was in the first ledgers.
        return digest_of({"constitution": asdict(self)})

    @property
    def budget(self) -> Budget:
        """The epsilon and the delta that all releases together may cost."""
        return Budget(Amount.parse(self.epsilon), Amount.parse(self.delta))

    @property
    def caps(self) -> dict[str, Budget]:
        """The cap of each analyst."""
        return {name: Budget.parse(cap) for name, cap in parse(self.analysts).items()}


@dataclass(frozen=True, slots=True)
class Head:
    """Number and hash of the last record of a ledger. Kept elsewhere, it tells whether an older copy was put back."""

    number: int
    hash: str

    def __str__(self) -> str:
        return f"{self.hash} (record {self.number})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A row of a ledger, column by column; contents and totals are canonical JSON.

    Attributes
    ----------
    number : int
        Its place in the chain, from 1 on.
    kind : {"charge", "publication", "reservation"}
        What it records.
    entry : int, optional
        The number of the charge, or of the charge whose files were published.
    time : str
        When it was written, in UTC, as the clock of the writer said. Records are in the order of their numbers.
    analyst : str, optional
        Who asked.
    content : str
        What is recorded.
    totals : str
        The running totals after it.
    previous, hash : str
        The hash of the record before it, and its own.
    """

    number: int
    kind: str
    entry: int | None
    time: str
    analyst: str | None
    content: str
    totals: str
    previous: str
    hash: str = ""

    def own_hash(self, genesis: str) -> str:
        """Return the hash that the record must have."""
        columns = asdict(self)
        del columns["hash"]
        return digest_of({"ledger": genesis, **columns})


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReference:
    """How a manifest names a charge: the identity of the ledger, and the number of the entry."""

    identity: str
    entry: int

    def to_dict(self) -> dict[str, Any]:
        """Return the reference as plain values."""
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A charge of a ledger. Made by `Ledger.charge`.

    Attributes
    ----------
    ledger : str
        The identity of the ledger.
    number : int
        The number of the entry, from 1 on.
    time : str
        When it was charged, in UTC.
    analyst : str, optional
        Who asked.
    request : ChargeRequest
        What was asked for: guarantee, losses, unit, request and statement.
    charge : dict
        What it cost.
    files : dict, optional
        The SHA-256 of each published file, by its name; None while none is recorded.
    hash : str
        The hash of its record.
    once : str, optional
        The key that it was charged with, which charges nothing again.
    """

    ledger: str
    number: int
    time: str
    analyst: str | None
    request: ChargeRequest
    charge: dict[str, Any]
    files: dict[str, str] | None = None
    hash: str = ""
    once: str | None = None

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the release."""
        return self.request.guarantee

    @property
    def losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate the release in a composition (`ggdp.compose`)."""
        return self.request.losses

    @property
    def reference(self) -> EntryReference:
        """How a manifest names the entry."""
        return EntryReference(identity=self.ledger, entry=self.number)

    @classmethod
    def of(cls, identity: str, record: Record, files: dict[str, str] | None = None) -> Entry:
        """Return the entry of a record of a charge."""
        content = parse(record.content)
        assert record.entry is not None
        return cls(
            ledger=identity,
            number=record.entry,
            time=record.time,
            analyst=record.analyst,
            request=ChargeRequest.from_dict(content),
            charge=content["charge"],
            files=files,
            hash=record.hash,
            once=content.get("once"),
        )


def require_head(terms: LedgerTerms, head: Head, last: Record | None) -> None:
    """Raise unless the head is the last record, whose hash covers the terms; the rest is not looked at."""
    if head.number == 0 and last is None:
        if head.hash != terms.genesis:
            raise TamperingError("what the ledger says of itself, such as its budget, is not what it was made with")
        return
    if (
        last is None
        or last.number != head.number
        or last.hash != head.hash
        or last.own_hash(terms.genesis) != last.hash
    ):
        raise TamperingError(f"record {head.number}, the last one, or what the ledger says of itself was changed")


def require_chain(terms: LedgerTerms, head: Head, records: Iterable[Record], kept: str | None = None) -> None:
    """Raise for the first thing that is not as it was written; a hash that was `kept` must be one of the chain."""
    if terms.format != FORMAT:
        raise TamperingError(f"the ledger has records of format {terms.format!r}, which this ggdp does not know")
    genesis = previous = terms.genesis
    try:
        budget = BudgetWithCaps.of(terms)
        state = budget.opening()
    except (ValueError, KeyError, TypeError, AttributeError):
        raise TamperingError(
            "what the ledger says of itself, such as its budget, is not what it was made with"
        ) from None
    number, seen, published = 0, {genesis}, set[int]()
    reserved: list[tuple[ChargeRequest, int]] = []
    for number, record in enumerate(records, 1):
        if record.number != number:
            raise TamperingError(f"record {number} is missing: after it comes record {record.number}")
        if record.previous != previous or record.own_hash(genesis) != record.hash:
            raise TamperingError(f"record {number} was changed, or does not belong to this ledger")
        try:
            after = _after(budget, state, record, published, reserved)
        except BudgetExceededError:
            raise TamperingError(f"record {number} reserves laws that together pass the budget") from None
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError, LedgerError):
            after = None
        if after is None or record.totals != canonical(after.to_dict()):
            raise TamperingError(f"record {number} does not follow from the records before it")
        if not budget.keeps(after):
            raise TamperingError(f"record {number} passes the budget")
        state, previous = after, record.hash
        seen.add(previous)
    if (number, previous) != (head.number, head.hash):
        raise TamperingError(
            f"the ledger ends with record {number}, and its head is record {head.number} with another hash"
        )
    if kept is not None and kept not in seen:
        raise TamperingError(
            f"no record has the hash {kept!r} that was kept: the ledger was put back to an older copy, or written anew"
        )


def _after(
    budget: BudgetWithCaps, state: State, record: Record, published: set[int], reserved: list[tuple[ChargeRequest, int]]
) -> State | None:
    """Return the totals after a record; None if it cannot be the next. Adds to what was published and reserved."""
    content = parse(record.content)
    if record.content != canonical(content):
        return None
    if record.kind == "charge" and record.entry == state.entries + 1:
        before = budget.protect(state, unit_in(content), content["unit"], content.get("protects"))
        return budget.add(before, content["charge"], record.analyst)
    if record.kind == "publication" and record.entry is not None and record.entry not in published:
        published.add(record.entry)
        return state if 1 <= record.entry <= state.entries else None
    if record.kind == "reservation" and state.entries == 0 and record.entry is None:
        added = reserved_in(record)
        reserved += added
        budget.reserved.require_budget(reserved)
        return replace(state, common=budget.reserved.reserve(state.common, added))
    return None


def plain(record: Record) -> dict[str, Any]:
    """Return a record as plain values, contents and totals too."""
    return {**asdict(record), "content": parse(record.content), "totals": parse(record.totals)}
