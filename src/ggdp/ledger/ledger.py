"""The durable budget of one set of people: what may be released of them, and what was."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError, BudgetExceededError, LedgerError, TamperingError
from ggdp.ledger.accounts import Accounts, State
from ggdp.ledger.budgets import Budget
from ggdp.ledger.canonical import canonical
from ggdp.ledger.charge_request import ChargeRequest, charge_request_of
from ggdp.ledger.constitution import drawn_up
from ggdp.ledger.entries import Entry, Head, Record, chained
from ggdp.ledger.reserved_laws import law_in_words, reserved_laws
from ggdp.ledger.store import Store
from ggdp.ledger.verification import require_chain, require_head
from ggdp.privacy.neighbours import validated_neighbours

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable
    from pathlib import Path

    from ggdp.ledger.accounting import Accounting
    from ggdp.ledger.accounting.protocol import Charge
    from ggdp.ledger.budgets import Balance
    from ggdp.ledger.charge_request import Asked
    from ggdp.ledger.constitution import Constitution
    from ggdp.ledger.store import Rows
    from ggdp.privacy import ApproxDP, Neighbours, PureDP

__all__ = ["Ledger", "ledger_of"]

_SHA256 = re.compile("[0-9a-f]{64}")
# Bare, or as a head is printed.
_HEAD = re.compile(r"\s*([0-9a-f]{64})(?: \(record [0-9]+\))?\s*")


@dataclass(frozen=True, slots=True)
class _Present:
    """The state of a ledger inside a transaction."""

    head: Head
    state: State


class Ledger:
    """The durable budget of one set of people.

    A release is charged before any row of the data is read, in one transaction that is on disk when it returns; a
    release that does not fit is refused. A charge is never refunded: what fails after it costs budget, not privacy.

    Parameters
    ----------
    url : str or path
        The path of an SQLite file, or ``postgresql://USER@HOST/DATABASE``, which needs the extra `postgres`.

    Raises
    ------
    LedgerError
        If there is no ledger, or it cannot be opened.

    Notes
    -----
    Claim: all releases charged to a ledger together keep its budget, for data sets that differ by one of its units,
    even where each was chosen after the results of earlier ones were seen. Proof: `ggdp.ledger.accounting` for each
    kind; a charge is committed before its release begins, and the totals of a ledger never pass its budget, since all
    writers wait for one lock.

    Examples
    --------
    >>> import ggdp, tempfile
    >>> path = tempfile.mkdtemp() + "/patients.ledger"
    >>> ledger = ggdp.Ledger.create(path, ggdp.PureDP(1.0), unit="patients")
    >>> counts = ggdp.Mechanism(
    ...     ggdp.calibrate(ggdp.PureDP(0.1), ggdp.Sensitivity.histogram(), order=1, support="integer")
    ... )
    >>> release = counts.release([120, 3, 0, 57], ledger=ledger)
    >>> print(ledger.remaining())
    epsilon = 0.9, delta = 0
    >>> ledger.would_allow(ggdp.PureDP(0.95, "add-remove"))
    False
    >>> ledger.verify().number
    1
    """

    def __init__(self, url: str | os.PathLike[str]) -> None:
        self._store = Store(url)
        with self._store.reading() as rows:
            self._made, _ = rows.constitution()
        try:
            self._accounts = Accounts.of(self._made)
        except (ValueError, KeyError, TypeError, AttributeError):
            message = f"{self._store.name}: what the ledger says of itself, such as its budget, was changed"
            raise TamperingError(message) from None

    @classmethod
    def create(
        cls,
        url: str | os.PathLike[str],
        budget: PureDP | ApproxDP,
        *,
        accounting: str = "sum",
        neighbours: Neighbours = "add-remove",
        unit: str = "person",
        analysts: Mapping[str, PureDP | ApproxDP] | None = None,
    ) -> Ledger:
        """Make a new ledger; an existing file or ledger is never replaced.

        Parameters
        ----------
        url : str or path
            The path of an SQLite file that does not exist, or ``postgresql://USER@HOST/DATABASE``.
        budget : PureDP or ApproxDP
            What all releases together may cost, read as the decimals that were typed.
        accounting : {"sum", "renyi", "reserved"}, default "sum"
            How costs add up: sums of epsilon and delta; Renyi divergences; laws of noise reserved before first use.
        neighbours : {"add-remove", "replace-one"}, default "add-remove"
            The relation of neighbours of all its releases.
        unit : str, default "person"
            Who is protected. A release that names its units (`unit_name`) must use the same words; one that does not
            must take the same for one unit as earlier releases, such as a row.
        analysts : mapping of str to PureDP or ApproxDP, optional
            Caps of single analysts, under the common budget. Each release must then name one of them.

        Examples
        --------
        >>> import ggdp, tempfile
        >>> path = tempfile.mkdtemp() + "/people.ledger"
        >>> ledger = Ledger.create(path, ggdp.ApproxDP(3.0, 1e-6), analysts={"ana": ggdp.ApproxDP(1.0, 1e-6)})
        >>> print(ledger.remaining("ana"))
        epsilon = 1, delta = 0.000001
        """
        made = drawn_up(
            budget, accounting=accounting, neighbours=neighbours, unit=unit, analysts=analysts or {}, created=_now()
        )
        Store(url).create(made)
        return cls(url)

    @staticmethod
    def upgrade(url: str | os.PathLike[str]) -> Ledger:
        """Migrate a ledger that an older ggdp made to the present schema, and return it; no record changes."""
        Store(url).upgrade()
        return Ledger(url)

    @property
    def identity(self) -> str:
        """The UUID of the ledger, which manifests name."""
        return self._made.identity

    @property
    def name(self) -> str:
        """Where the ledger is, without a password."""
        return self._store.name

    @property
    def path(self) -> Path | None:
        """The file of the ledger; None on a server."""
        return self._store.path

    @property
    def accounting(self) -> str:
        """The kind of accounting."""
        return self._made.accounting

    @property
    def unit(self) -> str:
        """Who is protected."""
        return self._made.unit

    @property
    def neighbours(self) -> Neighbours:
        """The relation of neighbours."""
        return validated_neighbours(self._made.neighbours)

    @property
    def budget(self) -> Balance:
        """The epsilon and the delta that all releases together may cost, exactly."""
        return Budget.parse({"epsilon": self._made.epsilon, "delta": self._made.delta}).balance

    @property
    def analysts(self) -> dict[str, Balance]:
        """The cap of each analyst."""
        return {name: Budget.parse(cap).balance for name, cap in json.loads(self._made.analysts).items()}

    @property
    def head(self) -> Head:
        """Number and hash of the last record, to be kept elsewhere."""
        with self._store.reading() as rows:
            return self._present(rows).head

    def spent(self, analyst: str | None = None) -> Balance:
        """Return what all releases, or those of an analyst with a cap, have cost, exactly."""
        with self._store.reading() as rows:
            state = self._present(rows).state
        if analyst is None:
            return self._accounts.common.spent(state.common)
        return self._cap(analyst).spent(state.analysts[analyst])

    def remaining(self, analyst: str | None = None) -> Balance:
        """Return what remains of the budget, or of the cap of an analyst, exactly."""
        with self._store.reading() as rows:
            state = self._present(rows).state
        if analyst is None:
            return self._accounts.common.remaining(state.common)
        return self._cap(analyst).remaining(state.analysts[analyst])

    def records(self) -> tuple[Record, ...]:
        """Return all records of the chain, in their order."""
        with self._store.reading() as rows:
            return tuple(rows)

    def entries(self) -> tuple[Entry, ...]:
        """Return all charges, with the published files that were recorded."""
        found = self.records()
        files = {record.entry: json.loads(record.content)["files"] for record in found if record.kind == "publication"}
        return tuple(
            Entry.of(self.identity, record, files.get(record.entry)) for record in found if record.kind == "charge"
        )

    def burn_down(self) -> list[float]:
        """Return what is left at the beginning and after each entry, as one number each: epsilon, or uses of laws."""
        found = self.records()
        states = [State.parse(record.totals) for record in found if record.kind == "charge"]
        before = [State.parse(record.totals) for record in found if record.kind == "reservation"]
        opening = before[-1] if before else self._accounts.opening()
        return [self._accounts.common.left(state.common) for state in (opening, *states)]

    def would_allow(self, request: Asked, analyst: str | None = None) -> bool:
        """Return whether a release fits in what remains now. Nothing is charged.

        Parameters
        ----------
        request : Mechanism, TablePlan, ChargeRequest or guarantee
            What would be released.
        analyst : str, optional
            Who asks.
        """
        try:
            self.require_fit(request, analyst)
        except BudgetExceededError:
            return False
        return True

    def require_fit(self, request: Asked, analyst: str | None = None) -> None:
        """Raise what `charge` would raise now, and charge nothing. The parameters are those of `charge`."""
        asked = charge_request_of(request)
        self._require_same(asked)
        self._accounts.require_analyst(analyst)
        charge = self._accounts.charge(asked)
        with self._store.reading() as rows:
            self._charged(rows, self._present(rows).state, asked, charge, analyst)

    def charge(self, request: Asked, analyst: str | None = None) -> Entry:
        """Charge a release, before any of its data are read. When this returns, the charge is on disk.

        Parameters
        ----------
        request : Mechanism, TablePlan, ChargeRequest or guarantee
            What will be released.
        analyst : str, optional
            Who asks; one of those with a cap, if there are any.

        Raises
        ------
        BudgetExceededError
            If it does not fit; nothing was charged. The error depends on requests alone, never on data.
        LedgerError
            If the neighbours, the unit or the analyst are others, or the ledger cannot be written.

        Notes
        -----
        It takes as long for the 10,000th entry as for the first. There is no refund.
        """
        asked = charge_request_of(request)
        self._require_same(asked)
        self._accounts.require_analyst(analyst)
        # Proved before the lock is taken: others need not wait for it.
        charge = self._accounts.charge(asked)
        with self._store.writing() as rows:
            present = self._present(rows)
            state = self._charged(rows, present.state, asked, charge, analyst)
            content = {**asked.to_dict(), "charge": charge}
            record = self._append(rows, present.head, "charge", state, content, entry=state.entries, analyst=analyst)
        return Entry.of(self.identity, record)

    def reserve(self, laws: Iterable[Asked | tuple[Asked, int]]) -> float:
        """Reserve laws of noise for later releases, before the first one, if all reserved ones keep the budget.

        Parameters
        ----------
        laws : iterable
            Mechanisms, plans of tables or requests whose noise will be used, or pairs of one and how many times.

        Returns
        -------
        float
            The proved delta of all reserved laws together, at the budget's epsilon.

        Raises
        ------
        LedgerError
            If the ledger has another accounting, or has charged a release already.
        BudgetExceededError
            If all laws together do not keep the budget; none was reserved.

        Examples
        --------
        >>> import ggdp, tempfile
        >>> budget = ggdp.ApproxDP(1.0, 1e-6)
        >>> ledger = Ledger.create(tempfile.mkdtemp() + "/year.ledger", budget, accounting="reserved")
        >>> weekly = ggdp.Mechanism(
        ...     ggdp.calibrate(ggdp.PureDP(0.025), ggdp.Sensitivity.histogram(), order=1, support="integer")
        ... )
        >>> ledger.reserve([(weekly, 52)]) <= 1e-6  # the sum of the epsilons is 1.3
        True
        >>> ledger.charge(weekly).number
        1
        """
        from ggdp.ledger.accounting.reserved import ReservedAccounting

        if not isinstance(self._accounts.common, ReservedAccounting):
            message = f"this ledger has {self.accounting} accounting; laws are reserved where it is reserved"
            raise LedgerError(message)
        books, added = self._accounts.common, [_counted(law) for law in laws]
        if not added:
            raise ArgumentError("laws", [], "must not be empty")
        for request, _ in added:
            self._require_same(request)
        with self._store.writing() as rows:
            present = self._present(rows)
            if present.state.entries:
                message = (
                    "laws are reserved before the first release, and this ledger has charged one; make a new ledger"
                )
                raise LedgerError(message)
            delta = books.require_budget([*_reserved(rows), *added])
            common = books.reserved(present.state.common, [(request.law, count) for request, count in added])
            content = {
                "reserved": [{**request.to_dict(), "law": request.law, "count": count} for request, count in added],
                "delta": delta,
            }
            state = replace(present.state, common=common)
            self._append(rows, present.head, "reservation", state, content)
        return delta

    def record_publication(self, entry: Entry | int, files: Mapping[str, str]) -> None:
        """Record the SHA-256 of the files of a release, by their names; once for each entry.

        Parameters
        ----------
        entry : Entry or int
            The charge of the release.
        files : mapping of str to str
            The SHA-256 of each file, in hexadecimal digits.
        """
        number = entry.number if isinstance(entry, Entry) else entry
        if isinstance(entry, Entry) and entry.ledger != self.identity:
            raise ArgumentError("entry", f"{number} of {entry.ledger}", f"is not of this ledger, {self.identity}")
        content = {"files": _digests(files)}
        with self._store.writing() as rows:
            present = self._present(rows)
            charged = rows.charge(number) if isinstance(number, int) and number <= present.state.entries else None
            if charged is None:
                raise ArgumentError("entry", number, "is not the number of an entry")
            if rows.is_published(number):
                raise ArgumentError("entry", number, "has its published files recorded already")
            self._append(
                rows, present.head, "publication", present.state, content, entry=number, analyst=charged.analyst
            )

    def verify(self, head: str | Head | None = None) -> Head:
        """Check every column of every record, and return the head.

        Parameters
        ----------
        head : str or Head, optional
            A head that was kept elsewhere, of now or of an earlier time: its hash, or all of what `str` of it printed.

        Raises
        ------
        TamperingError
            If a record was edited, removed, added or reordered, or the last ones were cut off; with `head`, also if the
            whole ledger was put back to a copy from before it, or written anew.
        """
        kept = None if head is None else _kept(head)
        damaged = self._store.damage()
        if damaged is not None:
            raise TamperingError(damaged)
        with self._store.reading() as rows:
            made, found = rows.constitution()
            self._require_identity(made)
            return require_chain(made, found, rows, kept)

    def export(self, format: str = "jsonl") -> str:  # noqa: A002 - the word of the command line
        """Return all records as text: JSON, one line each, or CSV."""
        from ggdp.ledger.export import exported

        return exported(self.records(), format)

    def __repr__(self) -> str:
        return f"<Ledger {self.identity} of {self.name}, {self.accounting} accounting, unit {self.unit!r}>"

    def _append(
        self,
        rows: Rows,
        head: Head,
        kind: str,
        state: State,
        content: Mapping[str, Any],
        *,
        entry: int | None = None,
        analyst: str | None = None,
    ) -> Record:
        record = Record(
            number=head.number + 1,
            kind=kind,
            entry=entry,
            time=_now(),
            analyst=analyst,
            content=canonical(content),
            totals=canonical(state.to_dict()),
            previous=head.hash,
        )
        whole = chained(record, self._made.genesis)
        rows.append(whole)
        return whole

    def _present(self, rows: Rows) -> _Present:
        """Return head and totals, if the last record is whole and the ledger is the one that was opened."""
        made, head = rows.constitution()
        self._require_identity(made)
        last = rows.record(head.number) if head.number else None
        require_head(made, head, last)
        return _Present(head, self._accounts.opening() if last is None else State.parse(last.totals))

    def _charged(self, rows: Rows, state: State, asked: ChargeRequest, charge: Charge, analyst: str | None) -> State:
        """Return the totals after a release, or raise if it does not fit; of reserved laws the error says which."""
        before = self._accounts.protecting(state, asked.protects, asked.unit)
        try:
            return self._accounts.charged(before, charge, analyst)
        except BudgetExceededError as refused:
            if refused.remaining.laws is None:
                raise
            left = [f"{law.left:,} of {law.noise}" for law in reserved_laws(rows, refused.remaining.laws) if law.left]
            message = f"{refused}: {', '.join(left) or 'none'}; the release has {law_in_words(asked.losses)}"
            raise BudgetExceededError(message, requested=refused.requested, remaining=refused.remaining) from None

    def _require_identity(self, made: Constitution) -> None:
        if made.identity != self.identity:
            message = f"{self.name} has another ledger now, {made.identity}; {self.identity} was opened"
            raise LedgerError(message)

    def _require_same(self, asked: ChargeRequest) -> None:
        """Raise for a release that cannot be added to the others of this ledger."""
        if asked.neighbours != self.neighbours:
            message = (
                f"the release is for {asked.neighbours} neighbours and the ledger for {self.neighbours}: their losses "
                f'do not add up; release with `neighbours="{self.neighbours}"`, or use another ledger'
            )
            raise LedgerError(message)
        if asked.unit is not None and not self._accounts.names_unit(asked.unit):
            message = (
                f"the release protects {asked.unit!r} and the ledger {self.unit!r}: their losses do not add up; if "
                "both mean the same, use the same words (`unit_name`), else use another ledger"
            )
            raise LedgerError(message)

    def _cap(self, analyst: str) -> Accounting:
        if analyst not in self._accounts.caps:
            raise ArgumentError("analyst", analyst, f"must be one of {sorted(self._accounts.caps)}")
        return self._accounts.caps[analyst]


def ledger_of(ledger: Ledger | str | os.PathLike[str]) -> Ledger:
    """Return a ledger that was passed, or the one at a URL; errors name `ledger`."""
    if isinstance(ledger, Ledger):
        return ledger
    try:
        return Ledger(ledger)
    except ArgumentError as refused:
        raise type(refused)("ledger", refused.value, refused.expected) from None


def _kept(head: str | Head) -> str:
    """Return the hash of a head that was kept."""
    text = str(head) if isinstance(head, Head) else head
    found = _HEAD.fullmatch(text.lower()) if isinstance(text, str) else None
    if found is None:
        raise ArgumentError("head", head, "must be a hash of 64 hexadecimal digits, as `ggdp ledger show` prints it")
    return found[1]


def _counted(law: Asked | tuple[Asked, int]) -> tuple[ChargeRequest, int]:
    """Return a law with how many times it is reserved."""
    request, count = law if isinstance(law, tuple) else (law, 1)
    return charge_request_of(request), _validate.integer(count=count, at_least=1)


def _reserved(rows: Rows) -> list[tuple[ChargeRequest, int]]:
    """Return the laws that were reserved before."""
    contents = [json.loads(record.content) for record in rows if record.kind == "reservation"]
    return [(ChargeRequest.from_dict(part), part["count"]) for content in contents for part in content["reserved"]]


def _digests(files: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(files, Mapping):
        raise ArgumentTypeError("files", type(files).__name__, "must be a mapping of names to SHA-256 digests")
    for name, digest in files.items():
        if not isinstance(name, str) or not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            raise ArgumentError("files", {name: digest}, "must have a SHA-256 digest of 64 hexadecimal digits each")
    return dict(files)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")
