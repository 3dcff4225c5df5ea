"""What can be read of a ledger: its terms, totals and records, and whether they are those that were written."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ggdp import _validate
from ggdp.errors import BudgetExceededError, TamperingError
from ggdp.ledger.accounts import Accounts, State
from ggdp.ledger.budgets import Budget
from ggdp.ledger.canonical import parsed
from ggdp.ledger.charge_request import charge_request_of
from ggdp.ledger.entries import Entry, Head, Record, kept_hash
from ggdp.ledger.store import Store
from ggdp.ledger.transaction import LedgerTransaction, require_identity, require_seen
from ggdp.ledger.verification import require_chain
from ggdp.privacy.neighbours import validated_neighbours

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    from ggdp.ledger.accounting.protocol import Charge
    from ggdp.ledger.budgets import Balance
    from ggdp.ledger.charge_request import Asked, ChargeRequest
    from ggdp.ledger.ledger_terms import LedgerTerms
    from ggdp.privacy import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """What releases of one kind would leave.

    Attributes
    ----------
    left : tuple of float
        What is left after the first, the second and so on, as `ReadableLedger.burn_down` counts it.
    remaining : Balance or None
        What would remain after the first, exactly; None if it does not fit.
    refusal : str or None
        Why the next one does not fit; None if as many fit as were asked about.
    """

    left: tuple[float, ...]
    remaining: Balance | None
    refusal: str | None

    @property
    def fitting(self) -> int:
        """How many fit."""
        return len(self.left)


class ReadableLedger:
    """A ledger as it is read; `Ledger` adds what is written.

    Parameters
    ----------
    url : str or path
        The path of an SQLite file, or ``postgresql://USER@HOST/DATABASE``.
    """

    def __init__(self, url: str | os.PathLike[str]) -> None:
        self._store = Store(url)
        with self._store.reading() as rows:
            terms, self._seen = rows.terms()
        try:
            self._accounts = Accounts.of(terms)
        except (ValueError, KeyError, TypeError, AttributeError):
            message = f"{self._store.name}: what the ledger says of itself, such as its budget, was changed"
            raise TamperingError(message) from None

    @property
    def identity(self) -> str:
        """The UUID of the ledger, which manifests name."""
        return self._terms.identity

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
        return self._terms.accounting

    @property
    def unit(self) -> str:
        """Who is protected."""
        return self._terms.unit

    @property
    def neighbours(self) -> Neighbours:
        """The relation of neighbours."""
        return validated_neighbours(self._terms.neighbours)

    @property
    def budget(self) -> Balance:
        """The epsilon and the delta that all releases together may cost, exactly."""
        return Budget.parse({"epsilon": self._terms.epsilon, "delta": self._terms.delta}).balance

    @property
    def analysts(self) -> dict[str, Balance]:
        """The cap of each analyst."""
        return {name: Budget.parse(cap).balance for name, cap in parsed(self._terms.analysts).items()}

    @property
    def head(self) -> Head:
        """Number and hash of the last record, to be kept elsewhere."""
        with self._reading() as present:
            return present.head

    def spent(self, analyst: str | None = None) -> Balance:
        """Return what all releases, or those of an analyst if there are caps, have cost, exactly."""
        with self._reading() as present:
            return self._accounts.spent(present.state, analyst)

    def remaining(self, analyst: str | None = None) -> Balance:
        """Return what remains of the budget, or of the cap of an analyst if there are caps, exactly."""
        if analyst is not None:
            _validate.words(analyst=analyst)
        with self._reading() as present:
            return self._accounts.remaining(present.state, analyst)

    def records(self) -> tuple[Record, ...]:
        """Return all records of the chain, in their order."""
        seen = self._seen
        with self._store.reading() as rows:
            terms, head = rows.terms()
            require_identity(self._terms, terms, self.name)
            require_seen(seen, terms, head, rows, self.name)
            return tuple(rows)

    def entries(self) -> tuple[Entry, ...]:
        """Return all charges, with the published files that were recorded."""
        found = self.records()
        files = {record.entry: parsed(record.content)["files"] for record in found if record.kind == "publication"}
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
        asked, charge = self._cost(request, analyst)
        with self._reading() as present:
            present.charged(asked, charge, analyst)

    def what_if(self, request: Asked, analyst: str | None = None, *, most: int = 100) -> WhatIf:
        """Return what releases of one kind, one after another, would leave, and how many of them fit.

        Nothing is charged. Other releases in between change the answer.

        Parameters
        ----------
        request : Mechanism, TablePlan, ChargeRequest or guarantee
            What would be released, again and again.
        analyst : str, optional
            Who asks.
        most : int, default 100
            Count up to so many.

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
            state = self._accounts.protecting(present.state, asked.protects, asked.unit)
            try:
                for _ in range(most):
                    state = self._accounts.charged(state, charge, analyst)
                    remaining = remaining or self._accounts.remaining(state, analyst)
                    left.append(self._accounts.common.left(state.common))
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
        kept = None if head is None else kept_hash(head)
        seen = self._seen
        damaged = self._store.damage()
        if damaged is not None:
            raise TamperingError(damaged)
        with self._store.reading() as rows:
            terms, found = rows.terms()
            require_identity(self._terms, terms, self.name)
            require_chain(terms, found, rows, kept)
            require_seen(seen, terms, found, rows, self.name)
        self._remember(found)
        return found

    def export(self, format: str = "jsonl") -> str:  # noqa: A002 - the word of the command line
        """Return all records as text: JSON, one line each, or CSV."""
        from ggdp.ledger.export import exported

        return exported(self.records(), format)

    def __repr__(self) -> str:
        return f"<Ledger {self.identity} of {self.name}, {self.accounting} accounting, unit {self.unit!r}>"

    @property
    def _terms(self) -> LedgerTerms:
        return self._accounts.terms

    @contextmanager
    def _reading(self) -> Iterator[LedgerTransaction]:
        # Taken before the transaction begins: another thread may charge during it.
        seen = self._seen
        with self._store.reading() as rows:
            present = LedgerTransaction.begin(rows, self._accounts, self.name, seen)
            self._remember(present.head)
            yield present

    def _remember(self, head: Head) -> None:
        """Keep the newest head; of two threads that do so at once, either one's was seen."""
        if head.number > self._seen.number:
            self._seen = head

    def _cost(self, request: Asked, analyst: str | None) -> tuple[ChargeRequest, Charge]:
        """Return what is asked for and costs; proved before a lock is taken, so that others need not wait for it."""
        asked = charge_request_of(request)
        self._accounts.require_same(asked)
        self._accounts.require_analyst(analyst)
        return asked, self._accounts.charge(asked)
