"""The durable budget of one set of people: what may be released of them, and what was."""

from __future__ import annotations

import csv
import io
import os
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ggdp import _validate
from ggdp.accounting.composition import MOST_TIMES
from ggdp.errors import ArgumentError, ArgumentTypeError, BudgetExceededError, LedgerError, Message, TamperingError
from ggdp.ledger.accounting import (
    BudgetWithCaps,
    Charge,
    State,
    chosen_parameters,
    costs,
    law_in_words,
    reserved_in,
    reserved_laws,
    validated_accounting,
)
from ggdp.ledger.budgets import Balance, Budget
from ggdp.ledger.chain import FORMAT, Entry, Head, LedgerTerms, Record, plain, require_chain, require_head
from ggdp.ledger.charging import Asked, ChargeRequest, canonical, charge_request_of, parse
from ggdp.ledger.store import Rows, Store
from ggdp.privacy import Guarantee, Neighbours
from ggdp.privacy.guarantees import as_goal, validated_neighbours


def now() -> str:
    """Return the time in UTC, as records have it."""
    return datetime.now(UTC).isoformat(timespec="microseconds")


def require_identity(opened: LedgerTerms, found: LedgerTerms, name: str) -> None:
    """Raise if another ledger is now where one was opened."""
    if found.identity != opened.identity:
        raise LedgerError(f"{name} has another ledger now, {found.identity}; {opened.identity} was opened")


def require_seen(seen: Head, terms: LedgerTerms, head: Head, rows: Rows, name: str) -> None:
    """Raise unless the chain still contains a head that was read or written earlier: an older copy does not."""
    if seen == head:
        return
    found = getattr(rows.find(number=seen.number), "hash", None) if seen.number else terms.genesis
    if seen.number > head.number or found != seen.hash:
        raise TamperingError(
            f"the ledger {name} has been replaced by an older or another copy: it no longer contains record "
            f"{seen.number} with the hash {seen.hash}, which was its head earlier; put the newest copy back"
        )


@dataclass(slots=True)
class LedgerTransaction:
    """The rows of a ledger with its last state, to which one record may be appended."""

    rows: Rows
    budget: BudgetWithCaps
    head: Head
    state: State

    @classmethod
    def begin(cls, rows: Rows, budget: BudgetWithCaps, name: str, seen: Head) -> LedgerTransaction:
        """Return head and totals, if the last record is whole and the ledger is the one whose head was seen."""
        terms, head = rows.terms()
        require_identity(budget.terms, terms, name)
        last = rows.find(number=head.number) if head.number else None
        require_head(terms, head, last)
        require_seen(seen, terms, head, rows, name)
        state = budget.opening() if last is None else State.parse(last.totals)
        return cls(rows, budget, head, replace(state, means=rows.unit(state.protects)))

    def charge(self, asked: ChargeRequest, charge: Charge, analyst: str | None) -> State:
        """Return the totals after a release, or raise if it does not fit; of reserved laws the error says which."""
        before = self.budget.protect(self.state, asked.protects, asked.unit)
        try:
            return self.budget.charge(before, charge, analyst)
        except BudgetExceededError as refused:
            if refused.remaining.laws is None:
                raise
            laws = reserved_laws(self.rows, refused.remaining.laws)
            left = [f"{law['left']:,} of {law['noise']}" for law in laws if law["left"]]
            message = f"{refused}: {', '.join(left) or 'none'}; the release has {law_in_words(asked.losses)}"
            raise BudgetExceededError(message, requested=refused.requested, remaining=refused.remaining) from None

    def append(
        self,
        kind: str,
        state: State,
        content: Mapping[str, Any],
        *,
        entry: int | None = None,
        analyst: str | None = None,
    ) -> Record:
        """Append a record, after which the ledger has these totals."""
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
        whole = replace(record, hash=record.own_hash(self.budget.terms.genesis))
        self.rows.append(whole)
        self.head = Head(whole.number, whole.hash)
        return whole


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """What releases of one kind would leave."""

    left: tuple[float, ...]  # what is left after the first, the second and so on, as `Ledger.burn_down` counts it
    remaining: Balance | None  # what would remain after the first, exactly; None if it does not fit
    refusal: str | None  # why the next one does not fit; None if as many fit as were asked about

    @property
    def fitting(self) -> int:
        """How many fit."""
        return len(self.left)


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
            terms, self._seen = rows.terms()
        try:
            self._budget = BudgetWithCaps.of(terms)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise TamperingError(
                f"{self._store.name}: what the ledger says of itself, such as its budget, was changed"
            ) from None

    @classmethod
    def create(
        cls,
        url: str | os.PathLike[str],
        budget: Guarantee | float | None = None,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        accounting: str = "sum",
        neighbours: Neighbours = "add-remove",
        unit: str = "person",
        analysts: Mapping[str, Guarantee | float] | None = None,
    ) -> Ledger:
        """Make a new ledger; an existing file or ledger is never replaced.

        Parameters
        ----------
        url : str or path
            The path of an SQLite file that does not exist, or ``postgresql://USER@HOST/DATABASE``.
        budget : PureDP, ApproxDP or float
            What all releases together may cost, read as the decimals that were typed; a number is an epsilon.
        epsilon, delta : float, optional
            In place of `budget`: pure DP, or with `delta` approximate DP.
        accounting : {"sum", "renyi", "reserved"}, default "sum"
            How costs add up: sums of epsilon and delta; Renyi divergences; laws of noise reserved before first use.
        neighbours : {"add-remove", "replace-one"}, default "add-remove"
            The relation of neighbours of all its releases.
        unit : str, default "person"
            Who is protected. A release that names its units (`unit_name`) must use the same words; one that does not
            must take the same for one unit as earlier releases, such as a row.
        analysts : mapping of str to PureDP, ApproxDP or float, optional
            Caps of single analysts, under the common budget. Each release must then name one of them.

        Examples
        --------
        >>> import ggdp, tempfile
        >>> path = tempfile.mkdtemp() + "/people.ledger"
        >>> ledger = Ledger.create(path, ggdp.ApproxDP(3.0, 1e-6), analysts={"ana": ggdp.ApproxDP(1.0, 1e-6)})
        >>> print(ledger.remaining("ana"))
        epsilon = 1, delta = 1e-06
        """
        budget = as_goal(budget, epsilon, delta, argument="budget")
        kind, total = validated_accounting(accounting), Budget.of(budget)
        analysts = analysts or {}
        if not isinstance(analysts, Mapping):
            raise ArgumentTypeError("analysts", type(analysts).__name__, "must be a mapping of names to guarantees")
        for name in analysts:
            _validate.words(analysts=name)
        caps = {
            name: Budget.of(as_goal(cap, argument="analysts"), argument="analysts") for name, cap in analysts.items()
        }
        for name, cap in caps.items():
            # Where laws are reserved, caps are sums, which may be above the total that is proved of all laws together.
            if kind != "reserved" and not total.holds(cap):
                expected = f"has a cap of {cap}, above the budget of {total}; give it at most that"
                raise ArgumentError("analysts", name, expected)
        protected = _validate.words(unit=unit).strip()
        relation = validated_neighbours(neighbours)
        if budget.neighbours not in (None, relation):
            raise ArgumentError("budget", str(budget), f"is not for {relation!r} neighbours; both must agree")
        terms = LedgerTerms(
            identity=str(uuid.uuid4()),
            format=FORMAT,
            created=now(),
            **total.to_dict(),
            neighbours=relation,
            unit=protected,
            accounting=kind,
            parameters=canonical(chosen_parameters(kind, total, caps)),
            analysts=canonical({name: cap.to_dict() for name, cap in caps.items()}),
        )
        Store(url).create(terms)
        return cls(url)

    @staticmethod
    def upgrade(url: str | os.PathLike[str]) -> Ledger:
        """Migrate a ledger that an older ggdp made to the present schema, and return it; no record changes."""
        Store(url).upgrade()
        return Ledger(url)

    @property
    def identity(self) -> str:
        """The UUID of the ledger, which manifests name."""
        return self._budget.terms.identity

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
        return self._budget.terms.accounting

    @property
    def unit(self) -> str:
        """Who is protected."""
        return self._budget.terms.unit

    @property
    def neighbours(self) -> Neighbours:
        """The relation of neighbours."""
        return validated_neighbours(self._budget.terms.neighbours)

    @property
    def budget(self) -> Balance:
        """The epsilon and the delta that all releases together may cost, exactly."""
        return self._budget.terms.budget.balance

    @property
    def analysts(self) -> dict[str, Balance]:
        """The cap of each analyst."""
        return {name: cap.balance for name, cap in self._budget.terms.caps.items()}

    @property
    def head(self) -> Head:
        """Number and hash of the last record, to be kept elsewhere."""
        with self._reading() as present:
            return present.head

    def spent(self, analyst: str | None = None) -> Balance:
        """Return what all releases, or those of an analyst if there are caps, have cost, exactly."""
        with self._reading() as present:
            return self._budget.spent(present.state, analyst)

    def remaining(self, analyst: str | None = None) -> Balance:
        """Return what remains of the budget, or of the cap of an analyst if there are caps, exactly."""
        if analyst is not None:
            _validate.words(analyst=analyst)
        with self._reading() as present:
            return self._budget.remaining(present.state, analyst)

    def records(self) -> tuple[Record, ...]:
        """Return all records of the chain, in their order."""
        with self._reading() as present:
            return tuple(present.rows)

    def entries(self) -> tuple[Entry, ...]:
        """Return all charges, with the published files that were recorded."""
        found = self.records()
        files = {record.entry: parse(record.content)["files"] for record in found if record.kind == "publication"}
        return tuple(
            Entry.of(self.identity, record, files.get(record.entry)) for record in found if record.kind == "charge"
        )

    def burn_down(self) -> list[float]:
        """Return what is left at the beginning and after each entry, as one number each: epsilon, or uses of laws."""
        found = self.records()
        states = [State.parse(record.totals) for record in found if record.kind == "charge"]
        before = [State.parse(record.totals) for record in found if record.kind == "reservation"]
        opening = before[-1] if before else self._budget.opening()
        return [self._budget.common.left(state.common) for state in (opening, *states)]

    def would_allow(self, request: Asked, analyst: str | None = None) -> bool:
        """Return whether a release fits in what remains, and charge nothing; see `charge` for the parameters."""
        try:
            self.require_fit(request, analyst)
        except BudgetExceededError:
            return False
        return True

    def require_fit(self, request: Asked, analyst: str | None = None) -> None:
        """Raise what `charge` would raise now, and charge nothing. The parameters are those of `charge`."""
        asked, charge = self._cost(request, analyst)
        with self._reading() as present:
            present.charge(asked, charge, analyst)

    def what_if(self, request: Asked, analyst: str | None = None, *, most: int = 100) -> WhatIf:
        """Return what releases of one kind, one after another, would leave, and how many of them fit.

        Nothing is charged. Other releases in between change the answer. At most `most` releases are counted; the other
        parameters are those of `charge`.

        Examples
        --------
        >>> import ggdp, tempfile
        >>> ledger = ggdp.Ledger.create(tempfile.mkdtemp() + "/people.ledger", ggdp.PureDP(1.0))
        >>> found = ledger.what_if(ggdp.PureDP(0.3, "add-remove"))
        >>> found.fitting, str(found.remaining), [round(left, 6) for left in found.left]
        (3, 'epsilon = 0.7, delta = 0', [0.7, 0.4, 0.1])
        """
        most = _validate.integer(most=most, at_least=1)
        asked, charge = self._cost(request, analyst)
        left: list[float] = []
        remaining, refusal = None, None
        with self._reading() as present:
            state = self._budget.protect(present.state, asked.protects, asked.unit)
            try:
                for _ in range(most):
                    state = self._budget.charge(state, charge, analyst)
                    remaining = remaining or self._budget.remaining(state, analyst)
                    left.append(self._budget.common.left(state.common))
            except BudgetExceededError as refused:
                refusal = str(refused)
        return WhatIf(left=tuple(left), remaining=remaining, refusal=refusal)

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
            whole ledger was put back to a copy from before it, or written anew. The newest head that this object has
            read or written is always looked for.
        """
        kept = None
        if head is not None:
            text = str(head).lower() if isinstance(head, str | Head) else ""
            # Bare, or as a head is printed.
            written = re.fullmatch(r"\s*([0-9a-f]{64})(?: \(record [0-9]+\))?\s*", text)
            if written is None:
                expected = "must be a hash of 64 hexadecimal digits, as `ggdp ledger show` prints it"
                raise ArgumentError("head", head, expected)
            kept = written[1]
        seen = self._seen
        self._store.require_sound()
        with self._store.reading() as rows:
            terms, found = rows.terms()
            require_identity(self._budget.terms, terms, self.name)
            require_chain(terms, found, rows, kept)
            require_seen(seen, terms, found, rows, self.name)
        self._remember(found)
        return found

    def export(self, format: str = "jsonl") -> str:  # noqa: A002 - the word of the command line
        """Return all records as text: JSON, one line each, or CSV with contents and totals as JSON."""
        _validate.choice(among=("jsonl", "csv"), format=format)
        if format == "jsonl":
            return "".join(canonical(plain(record)) + "\n" for record in self.records())
        text = io.StringIO()
        writer = csv.DictWriter(text, [part.name for part in fields(Record)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(record) for record in self.records())
        return text.getvalue()

    def charged_once(self, key: str) -> Entry | None:
        """Return the entry that was charged with a key (`once` of a release), with its files; None if there is none."""
        _validate.words(once=key)
        with self._reading() as present:
            record = present.rows.charged_once(key)
            if record is None:
                return None
            published = present.rows.find(kind="publication", entry=record.entry)
        files = None if published is None else parse(published.content)["files"]
        return Entry.of(self.identity, record, files)

    def charge(self, request: Asked, analyst: str | None = None, *, once: str | None = None) -> Entry:
        """Charge a release, before any of its data are read. When this returns, the charge is on disk.

        Parameters
        ----------
        request : Mechanism, TablePlan, ChargeRequest or guarantee
            What will be released.
        analyst : str, optional
            Who asks; one of those with a cap, if there are any.
        once : str, optional
            A key that charges once: with the key of an earlier entry nothing is charged.

        Raises
        ------
        BudgetExceededError
            If it does not fit; nothing was charged. The error depends on requests alone, never on data.
        LedgerError
            If the neighbours, the unit or the analyst are others, the key has charged an entry already, or the ledger
            cannot be written.

        Notes
        -----
        It takes as long for the 10,000th entry as for the first. There is no refund.
        """
        asked, charge = self._cost(request, analyst)
        if once is not None:
            _validate.words(once=once)
        with self._writing() as present:
            if once is not None and (earlier := present.rows.charged_once(once)) is not None:
                words = "{once} {key!r} has charged entry {entry} already, perhaps in a run that goes on now: nothing "
                words += "was charged or drawn again; wait for that run, then try again"
                raise LedgerError(Message(words, key=once, entry=earlier.entry))
            state = present.charge(asked, charge, analyst)
            content = {**asked.to_dict(), "charge": charge, **({} if once is None else {"once": once})}
            record = present.append("charge", state, content, entry=state.entries, analyst=analyst)
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
        books = self._budget.reserved
        pairs = (law if isinstance(law, tuple) else (law, 1) for law in laws)
        added = [
            (charge_request_of(request), _validate.integer(count=count, at_least=1, at_most=MOST_TIMES))
            for request, count in pairs
        ]
        if not added:
            raise ArgumentError("laws", [], "must not be empty")
        for request, _ in added:
            self._budget.require_same(request)
        with self._writing() as present:
            if present.state.entries:
                raise LedgerError(
                    "laws are reserved before the first release, and this ledger has charged one; make a new ledger"
                )
            earlier = [part for record in present.rows if record.kind == "reservation" for part in reserved_in(record)]
            delta = books.require_budget([*earlier, *added])
            state = replace(present.state, common=books.reserve(present.state.common, added))
            parts = [{**request.to_dict(), "law": request.law, "count": count} for request, count in added]
            present.append("reservation", state, {"reserved": parts, "delta": delta})
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
        if not isinstance(files, Mapping):
            raise ArgumentTypeError("files", type(files).__name__, "must be a mapping of names to SHA-256 digests")
        for name, digest in files.items():
            if not isinstance(name, str) or not isinstance(digest, str) or not re.fullmatch("[0-9a-f]{64}", digest):
                raise ArgumentError("files", {name: digest}, "must have a SHA-256 digest of 64 hexadecimal digits each")
        with self._writing() as present:
            known = isinstance(number, int) and number <= present.state.entries
            charged = present.rows.find(kind="charge", entry=number) if known else None
            if charged is None:
                raise ArgumentError("entry", number, "is not the number of an entry")
            if present.rows.find(kind="publication", entry=number) is not None:
                raise ArgumentError("entry", number, "has its published files recorded already")
            content = {"files": dict(files)}
            present.append("publication", present.state, content, entry=number, analyst=charged.analyst)

    def __repr__(self) -> str:
        return f"<Ledger {self.identity} of {self.name}, {self.accounting} accounting, unit {self.unit!r}>"

    @contextmanager
    def _reading(self) -> Iterator[LedgerTransaction]:
        # Taken before the transaction begins: another thread may charge during it.
        seen = self._seen
        with self._store.reading() as rows:
            present = LedgerTransaction.begin(rows, self._budget, self.name, seen)
            self._remember(present.head)
            yield present

    @contextmanager
    def _writing(self) -> Iterator[LedgerTransaction]:
        seen = self._seen
        with self._store.writing() as rows:
            present = LedgerTransaction.begin(rows, self._budget, self.name, seen)
            yield present
        self._remember(present.head)

    def _remember(self, head: Head) -> None:
        """Keep the newest head; of two threads that do so at once, either one's was seen."""
        if head.number > self._seen.number:
            self._seen = head

    def _cost(self, request: Asked, analyst: str | None) -> tuple[ChargeRequest, Charge]:
        """Return what is asked for and costs; proved before a lock is taken, so that others need not wait for it."""
        asked = charge_request_of(request)
        self._budget.require_same(asked)
        self._budget.require_analyst(analyst)
        return asked, self._budget.common.charge(asked)


def ledger_of(ledger: Ledger | str | os.PathLike[str]) -> Ledger:
    """Return a ledger that was passed, or the one at a URL; errors name `ledger`."""
    if isinstance(ledger, Ledger):
        return ledger
    try:
        return Ledger(ledger)
    except ArgumentError as refused:
        raise type(refused)("ledger", refused.value, refused.expected) from None


NOTE = (
    "The composed total holds only for noise that was fixed beforehand, as where laws are reserved; the others always."
)


def overview(ledger: Ledger) -> dict[str, Any]:
    """Return what a ledger is, what was spent and remains, its head, and what each kind would have cost."""
    entries, head = ledger.entries(), ledger.head
    balances = {"budget": ledger.budget, "spent": ledger.spent(), "remaining": ledger.remaining()}
    left = balances["remaining"].laws
    return {
        "ledger": ledger.name,
        "identity": ledger.identity,
        "unit": ledger.unit,
        "neighbours": ledger.neighbours,
        "accounting": ledger.accounting,
        **{name: balance.to_dict() for name, balance in balances.items()},
        "exact": {name: balance.exact() for name, balance in balances.items()},
        "analysts": {
            name: {
                "cap": cap.to_dict(),
                "spent": ledger.spent(name).to_dict(),
                "remaining": ledger.remaining(name).to_dict(),
            }
            for name, cap in ledger.analysts.items()
        },
        "reserved": [] if left is None else reserved_laws(ledger.records(), left),
        "entries": len(entries),
        "published": sum(entry.files is not None for entry in entries),
        "records": head.number,
        "head": head.hash,
        "costs": costs(ledger._budget.terms.budget, [entry.request for entry in entries]),
        "note": NOTE,
    }
