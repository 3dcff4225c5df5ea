"""The order of a release that is charged: refused before anything is opened, charged before a row is read."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Self

from ggdp.errors import ArgumentError, LedgerError, Message
from ggdp.noise.entropy import is_private

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ggdp.ledger.chain import Entry, EntryReference
    from ggdp.ledger.charge_request import Chargeable
    from ggdp.ledger.ledger import Ledger
    from ggdp.noise import Source


def require_apart_from_ledger(ledger: Ledger | str | os.PathLike[str] | None, **outputs: Sequence[Path]) -> None:
    """Raise if an output is the file of a ledger or its journal, by whatever name; the error names its argument."""
    place = ledger if ledger is None or isinstance(ledger, str | os.PathLike) else getattr(ledger, "path", None)
    # What is no path is refused when the ledger is opened.
    if place is None or "://" in str(place) or "\0" in str(place):
        return
    own = (os.fspath(place), f"{os.path.realpath(place)}-journal")
    for argument, files in outputs.items():
        for file in files:
            if any(_are_same(file, one) for one in own):
                raise ArgumentError(argument, str(file), "is the file of the ledger; name another file")


def _are_same(first: str | os.PathLike[str], second: str | os.PathLike[str]) -> bool:
    if os.path.realpath(first) == os.path.realpath(second):
        return True
    return os.path.exists(first) and os.path.exists(second) and os.path.samefile(first, second)


class PendingCharge:
    """The charge of one release, which is made inside a ``with`` block; without a ledger nothing is charged.

    Entering it refuses a release that does not fit, by public requests alone. `commit` charges it, durably; what reads
    the data comes after that. If the block fails later, its error has a note that the charge stays. `published` records
    the files, also after the block; a copy that was pickled has no ledger, and records nothing.

    Parameters
    ----------
    ledger : Ledger, str, path or None
        The ledger, or where it is.
    release : Chargeable
        The mechanism or plan that says what it asks for.
    analyst : str or None
        Who asks.
    source : Source
        Where the random bits come from; a seeded one has no guarantee that could be charged.
    """

    def __init__(
        self,
        ledger: Ledger | str | os.PathLike[str] | None,
        release: Chargeable,
        *,
        analyst: str | None,
        source: Source,
    ) -> None:
        self._ledger: Ledger | None = None
        self._entry: Entry | None = None
        self._published = False
        if ledger is None:
            if analyst is not None:
                raise ArgumentError(
                    "analyst", analyst, Message("is for a release that is charged to a {ledger}; name one")
                )
            return
        if not is_private(source):
            raise ArgumentError(
                "source",
                type(source).__name__,
                Message("has no guarantee that a {ledger} could charge; leave out one of them"),
            )
        from ggdp.ledger.ledger import ledger_of

        self._ledger, self._analyst = ledger_of(ledger), analyst
        self._request = release.charge_request()

    def __enter__(self) -> Self:
        if self._ledger is not None:
            self._ledger.require_fit(self._request, self._analyst)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if error is not None and self._entry is not None:
            error.add_note(f"the charge of entry {self._entry.number} stays: there is no refund")

    def __getstate__(self) -> dict[str, object]:
        # Connections are not carried into another process.
        return {"_ledger": None, "_entry": None, "_published": False}

    def commit(self) -> EntryReference | None:
        """Charge the release, durably, and return how its manifest names the entry."""
        if self._ledger is None:
            return None
        self._entry = self._ledger.charge(self._request, self._analyst)
        return self._entry.reference

    def require_apart(self, **outputs: Sequence[Path]) -> None:
        """Raise if an output is the file of the ledger; the error names its argument."""
        require_apart_from_ledger(self._ledger, **outputs)

    def published(self, files: Mapping[str, str]) -> None:
        """Record the SHA-256 of the files that were written first, by their names; an entry has them once."""
        if self._ledger is None or self._entry is None or not files or self._published:
            return
        try:
            self._ledger.record_publication(self._entry, files)
            self._published = True
        except LedgerError as failed:
            failed.add_note("the files were written; only their digests could not be recorded")
            raise
