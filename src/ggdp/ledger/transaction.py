"""A ledger inside one transaction of its store: its state, and the records that are appended to it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ggdp.errors import ArgumentError, BudgetExceededError, LedgerError, TamperingError
from ggdp.ledger.accounts import State
from ggdp.ledger.canonical import canonical, parsed
from ggdp.ledger.charge_request import ChargeRequest
from ggdp.ledger.entries import Head, Record, chained
from ggdp.ledger.reserved_laws import law_in_words, reserved_laws
from ggdp.ledger.verification import require_head

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ggdp.ledger.accounting.protocol import Charge
    from ggdp.ledger.accounts import Accounts
    from ggdp.ledger.ledger_terms import LedgerTerms
    from ggdp.ledger.store import Rows


def now() -> str:
    """Return the time in UTC, as records have it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def require_identity(opened: LedgerTerms, found: LedgerTerms, name: str) -> None:
    """Raise if another ledger is now where one was opened."""
    if found.identity != opened.identity:
        message = f"{name} has another ledger now, {found.identity}; {opened.identity} was opened"
        raise LedgerError(message)


def require_seen(seen: Head, terms: LedgerTerms, head: Head, rows: Rows, name: str) -> None:
    """Raise unless the chain still contains a head that was read or written earlier: an older copy does not."""
    if seen == head:
        return
    record = rows.record(seen.number) if seen.number else None
    found = terms.genesis if not seen.number else None if record is None else record.hash
    if seen.number > head.number or found != seen.hash:
        message = (
            f"the ledger {name} has been replaced by an older or another copy: it no longer contains record "
            f"{seen.number} with the hash {seen.hash}, which was its head earlier; put the newest copy back"
        )
        raise TamperingError(message)


@dataclass(slots=True)
class LedgerTransaction:
    """The rows of a ledger with its last state. Each method appends at most one record."""

    rows: Rows
    accounts: Accounts
    head: Head
    state: State

    @classmethod
    def begin(cls, rows: Rows, accounts: Accounts, name: str, seen: Head) -> LedgerTransaction:
        """Return head and totals, if the last record is whole and the ledger is the one whose head was seen."""
        terms, head = rows.terms()
        require_identity(accounts.terms, terms, name)
        last = rows.record(head.number) if head.number else None
        require_head(terms, head, last)
        require_seen(seen, terms, head, rows, name)
        return cls(rows, accounts, head, accounts.opening() if last is None else State.parse(last.totals))

    def charged(self, asked: ChargeRequest, charge: Charge, analyst: str | None) -> State:
        """Return the totals after a release, or raise if it does not fit; of reserved laws the error says which."""
        before = self.accounts.protecting(self.state, asked.protects, asked.unit)
        try:
            return self.accounts.charged(before, charge, analyst)
        except BudgetExceededError as refused:
            if refused.remaining.laws is None:
                raise
            laws = reserved_laws(self.rows, refused.remaining.laws)
            left = [f"{law.left:,} of {law.noise}" for law in laws if law.left]
            message = f"{refused}: {', '.join(left) or 'none'}; the release has {law_in_words(asked.losses)}"
            raise BudgetExceededError(message, requested=refused.requested, remaining=refused.remaining) from None

    def charge(self, asked: ChargeRequest, charge: Charge, analyst: str | None) -> Record:
        """Append the charge of a release, or raise if it does not fit."""
        state = self.charged(asked, charge, analyst)
        content = {**asked.to_dict(), "charge": charge}
        return self._append("charge", state, content, entry=state.entries, analyst=analyst)

    def reserve(self, added: Sequence[tuple[ChargeRequest, int]]) -> float:
        """Append laws that are reserved, and return the proved delta of all of them; or raise if they do not fit."""
        # Loads the proofs of compositions, which no charge needs.
        from ggdp.ledger.accounting.reserved import ReservedAccounting

        books = self.accounts.common
        assert isinstance(books, ReservedAccounting)
        if self.state.entries:
            message = "laws are reserved before the first release, and this ledger has charged one; make a new ledger"
            raise LedgerError(message)
        contents = [parsed(record.content) for record in self.rows if record.kind == "reservation"]
        earlier = [
            (ChargeRequest.from_dict(part), part["count"]) for content in contents for part in content["reserved"]
        ]
        delta = books.require_budget([*earlier, *added])
        common = books.reserved(self.state.common, [(request.law, count) for request, count in added])
        content = {
            "reserved": [{**request.to_dict(), "law": request.law, "count": count} for request, count in added],
            "delta": delta,
        }
        self._append("reservation", replace(self.state, common=common), content)
        return delta

    def publish(self, entry: int, files: Mapping[str, str]) -> None:
        """Append the digests of the published files of an entry."""
        charged = self.rows.charge(entry) if isinstance(entry, int) and entry <= self.state.entries else None
        if charged is None:
            raise ArgumentError("entry", entry, "is not the number of an entry")
        if self.rows.is_published(entry):
            raise ArgumentError("entry", entry, "has its published files recorded already")
        self._append("publication", self.state, {"files": dict(files)}, entry=entry, analyst=charged.analyst)

    def _append(
        self,
        kind: str,
        state: State,
        content: Mapping[str, Any],
        *,
        entry: int | None = None,
        analyst: str | None = None,
    ) -> Record:
        record = Record(
            number=self.head.number + 1,
            kind=kind,
            entry=entry,
            time=now(),
            analyst=analyst,
            content=canonical(content),
            totals=canonical(state.to_dict()),
            previous=self.head.hash,
        )
        whole = chained(record, self.accounts.terms.genesis)
        self.rows.append(whole)
        self.head, self.state = Head(whole.number, whole.hash), state
        return whole
