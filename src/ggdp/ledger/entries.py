"""Records of a ledger, chained by hashes: charges, published files, reserved laws.

=======  ====================================================================================
terms    what is fixed when a ledger is made: budget, unit, neighbours, accounting, caps
genesis  the SHA-256 of the terms
record   one appended row; its hash covers the genesis, all its columns and the hash before it
head     number and hash of the last record; the genesis where there is none
entry    a charge; entries have numbers of their own, 1, 2, ..., which manifests name
=======  ====================================================================================

A record is never changed: the files of a release are a record of their own, after that of the charge. Since each hash
covers the terms and every hash before it, two ledgers with the same head have the same records.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ggdp.errors import ArgumentError
from ggdp.ledger.canonical import digest_of, parsed
from ggdp.ledger.charge_request import ChargeRequest

if TYPE_CHECKING:
    from ggdp.privacy import Guarantee
    from ggdp.proofs.total_loss import CountedLoss

Kind: TypeAlias = Literal["charge", "publication", "reservation"]
# Bare, or as a head is printed.
_HEAD = re.compile(r"\s*([0-9a-f]{64})(?: \(record [0-9]+\))?\s*")


@dataclass(frozen=True, slots=True)
class Head:
    """Number and hash of the last record of a ledger. Kept elsewhere, it tells whether an older copy was put back."""

    number: int
    hash: str

    def __str__(self) -> str:
        return f"{self.hash} (record {self.number})"


def kept_hash(head: str | Head) -> str:
    """Return the hash of a head that was kept."""
    text = str(head) if isinstance(head, Head) else head
    found = _HEAD.fullmatch(text.lower()) if isinstance(text, str) else None
    if found is None:
        raise ArgumentError("head", head, "must be a hash of 64 hexadecimal digits, as `ggdp ledger show` prints it")
    return found[1]


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

    def hashed(self, genesis: str) -> str:
        """Return the hash that the record must have."""
        columns = asdict(self)
        del columns["hash"]
        return digest_of({"ledger": genesis, **columns})


def chained(record: Record, genesis: str) -> Record:
    """Return a record with its hash."""
    return replace(record, hash=record.hashed(genesis))


@dataclass(frozen=True, slots=True, kw_only=True)
class EntryReference:
    """How a manifest names a charge: the identity of the ledger, and the number of the entry."""

    identity: str
    entry: int

    def to_dict(self) -> dict[str, Any]:
        """Return the reference as plain values."""
        return {"identity": self.identity, "entry": self.entry}


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
    """

    ledger: str
    number: int
    time: str
    analyst: str | None
    request: ChargeRequest
    charge: dict[str, Any]
    files: dict[str, str] | None = None
    hash: str = ""

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
        content = parsed(record.content)
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
        )
