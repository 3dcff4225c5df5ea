"""The durable budget of one set of people: what may be released of them, and what was."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ggdp import _validate
from ggdp.errors import ArgumentError, ArgumentTypeError, LedgerError
from ggdp.ledger.charge_request import charge_request_of
from ggdp.ledger.entries import Entry
from ggdp.ledger.ledger_terms import new_terms
from ggdp.ledger.readable_ledger import ReadableLedger
from ggdp.ledger.store import Store
from ggdp.ledger.transaction import LedgerTransaction, now

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Iterator

    from ggdp.ledger.charge_request import Asked, ChargeRequest
    from ggdp.privacy import ApproxDP, Neighbours, PureDP

_SHA256 = re.compile("[0-9a-f]{64}")


class Ledger(ReadableLedger):
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
        epsilon = 1, delta = 1e-06
        """
        terms = new_terms(
            budget, accounting=accounting, neighbours=neighbours, unit=unit, analysts=analysts or {}, created=now()
        )
        Store(url).create(terms)
        return cls(url)

    @staticmethod
    def upgrade(url: str | os.PathLike[str]) -> Ledger:
        """Migrate a ledger that an older ggdp made to the present schema, and return it; no record changes."""
        Store(url).upgrade()
        return Ledger(url)

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
        asked, charge = self._cost(request, analyst)
        with self._writing() as present:
            record = present.charge(asked, charge, analyst)
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
        if self.accounting != "reserved":
            message = f"this ledger has {self.accounting} accounting; laws are reserved where it is reserved"
            raise LedgerError(message)
        added = [_counted(law) for law in laws]
        if not added:
            raise ArgumentError("laws", [], "must not be empty")
        for request, _ in added:
            self._accounts.require_same(request)
        with self._writing() as present:
            return present.reserve(added)

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
        digests = _digests(files)
        with self._writing() as present:
            present.publish(number, digests)

    @contextmanager
    def _writing(self) -> Iterator[LedgerTransaction]:
        seen = self._seen
        with self._store.writing() as rows:
            present = LedgerTransaction.begin(rows, self._accounts, self.name, seen)
            yield present
        self._remember(present.head)


def ledger_of(ledger: Ledger | str | os.PathLike[str]) -> Ledger:
    """Return a ledger that was passed, or the one at a URL; errors name `ledger`."""
    if isinstance(ledger, Ledger):
        return ledger
    try:
        return Ledger(ledger)
    except ArgumentError as refused:
        raise type(refused)("ledger", refused.value, refused.expected) from None


def _counted(law: Asked | tuple[Asked, int]) -> tuple[ChargeRequest, int]:
    """Return a law with how many times it is reserved."""
    # Loads the proofs of compositions, which no charge needs.
    from ggdp.composition.parts import MOST_TIMES

    request, count = law if isinstance(law, tuple) else (law, 1)
    return charge_request_of(request), _validate.integer(count=count, at_least=1, at_most=MOST_TIMES)


def _digests(files: Mapping[str, str]) -> dict[str, str]:
    if not isinstance(files, Mapping):
        raise ArgumentTypeError("files", type(files).__name__, "must be a mapping of names to SHA-256 digests")
    for name, digest in files.items():
        if not isinstance(name, str) or not isinstance(digest, str) or not _SHA256.fullmatch(digest):
            raise ArgumentError("files", {name: digest}, "must have a SHA-256 digest of 64 hexadecimal digits each")
    return dict(files)
