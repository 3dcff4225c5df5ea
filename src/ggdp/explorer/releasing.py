"""One release from the page: what it would spend, said beforehand; and the release itself, once for each confirmation.

A release begins with an `Offer`, which the dialog shows: the plan, what it spends, what is left. To confirm it is to
hand the offer in at the `ReleaseDesk` of the server, which takes each offer once, one at a time, and only if nothing
was released since it was made: a double click, a second tab with the same dialog, or a release of somebody else from
the same ledger leads to a refusal that says so, never to a second charge.

What is computed here runs in a process of its own (`ggdp.explorer.workers`), so all of it is plain values.
"""

from __future__ import annotations

import itertools
import threading
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen

from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.errors import ArgumentError, CertificateError, GgdpError
from ggdp.explorer.typed_table import PageError, TypedTable, in_words_of_the_page
from ggdp.explorer.widgets import Picture

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ggdp.ledger import Ledger
    from ggdp.ledger.budgets import Balance
    from ggdp.tables import TablePlan

# Rows that the page shows; the files have all.
_SHOWN_ROWS = 200


@frozen(kw_only=True)
class Asked:
    """A release that is asked for: a table of a file, and the ledger that it is charged to."""

    table: TypedTable  # the table
    # Where the file is, and what its user calls it.
    path: str
    name: str
    # The ledger, and who asks.
    ledger: str | None = None
    analyst: str | None = None
    click: int = 0  # which click asked for it: the same again is asked for by another one


@frozen(kw_only=True)
class Offer:
    """What a release would spend, before it is confirmed; no data were read."""

    asked: Asked  # what is asked for
    plan: TablePlan = field(eq=False)  # how it is answered
    rows: tuple[tuple[str, str], ...]  # the plan, a name and a text in each
    cost: str  # what it spends
    # What the ledger has now, and would have afterwards; None without a ledger, and `after` if it does not fit.
    remaining: str | None = None
    after: str | None = None
    refusal: str | None = None  # why it does not fit
    head: str | None = None  # hash of the last record of the ledger
    warnings: tuple[str, ...] = ()  # what the plan warns of
    number: int = 0  # given by the desk
    released: int = 0  # how many releases the desk had taken when the offer was made


@frozen(kw_only=True)
class Published:
    """What was released, ready to be shown and downloaded."""

    files: dict[str, bytes]  # the CSV file, its manifest and a picture of it, by their names
    picture: Picture  # the table as a figure of the page
    # The first rows of the table.
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    more: int  # how many rows are not among them
    # What holds, and the paragraph that is fit to be published.
    guarantee: str
    statement: str
    certificate: str  # what the certificate proves
    refuted: str | None = None  # why the certificate does not hold; None if it was proved again
    entry: str | None = None  # the entry of the ledger, and what remains


class ReleaseDesk:
    """Takes each offer once, one at a time, and only if nothing was released since it was made.

    Examples
    --------
    >>> desk = ReleaseDesk()
    >>> asked = Asked(table=TypedTable(by="ward", levels="ward=a,b"), path="people.csv", name="people.csv")
    >>> offer = desk.numbered(make_offer(asked))
    >>> with desk.taken(offer):
    ...     pass
    >>> with desk.taken(offer):
    ...     pass
    Traceback (most recent call last):
    ggdp.explorer.typed_table.PageError: this release was already made; ...
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._used: set[int] = set()
        self._is_busy = False

    @property
    def released(self) -> int:
        """How many offers were taken."""
        return len(self._used)

    def numbered(self, offer: Offer) -> Offer:
        """Return an offer with a number of its own, which can be taken once."""
        with self._lock:
            return evolve(offer, number=next(self._numbers), released=len(self._used))

    @contextmanager
    def taken(self, offer: Offer) -> Iterator[None]:
        """Take an offer for as long as it is carried out, or raise."""
        with self._lock:
            if offer.number in self._used:
                raise PageError(
                    "this release was already made; each confirmation releases once. Ask again for another one"
                )
            if self._is_busy:
                raise PageError("another release is being made, perhaps in another tab; wait for it, and look again")
            if offer.released != len(self._used):
                message = "another release was made since this was asked, perhaps in another tab; nothing was charged"
                raise PageError(f"{message} here. Look at what remains, and ask again")
            self._used.add(offer.number)
            self._is_busy = True
        try:
            yield
        finally:
            with self._lock:
                self._is_busy = False


def make_offer(asked: Asked, *, progress: Callable[[int, int], None] | None = None) -> Offer:
    """Return what a release would spend; nothing is charged and no data are read.

    Examples
    --------
    >>> asked = Asked(table=TypedTable(by="ward", levels="ward=a,b"), path="people.csv", name="people.csv")
    >>> make_offer(asked).cost
    'epsilon = 1'
    """
    from ggdp.tables.table_plan import summary_rows

    if progress is not None:
        progress(0, 1)
    plan = asked.table.plan()
    delta = f" and delta = {rounded_up_text(plan.guarantee.delta)}" if plan.guarantee.delta else ""
    offer: dict[str, Any] = {
        "asked": asked,
        "plan": plan,
        "rows": tuple(summary_rows(plan)),
        "cost": f"epsilon = {rounded_up_text(plan.guarantee.epsilon)}{delta}",
        "warnings": tuple(plan.request.warnings),
    }
    if asked.ledger is not None:
        from ggdp.ledger import Ledger

        with in_words_of_the_page(asked.table.unit or None):
            ledger = Ledger(asked.ledger)
            capped = with_cap(ledger, asked.analyst)
            remaining = ledger.remaining(capped)
            offer["head"], offer["remaining"] = ledger.head.hash, balance_in_words(remaining)
            found = ledger.what_if(plan, capped, most=1)
        offer["after"] = None if found.remaining is None else balance_in_words(found.remaining)
        offer["refusal"] = found.refusal
    return Offer(**offer)


def publish(offer: Offer, *, progress: Callable[[int, int], None] | None = None) -> Published:
    """Carry out a release: charge it, read the data, draw the noise; and check its certificate again."""
    from ggdp.plots.tables import plot_table

    tell = progress or (lambda _, __: None)
    tell(0, 3)
    asked, name = offer.asked, f"{PurePath(offer.asked.name).stem}-private"
    plan = replace(offer.plan, out=Path(f"{name}.csv"), plot=Path(f"{name}.svg"))
    tell(1, 3)
    with read_safely(asked):
        ledger = _unchanged(offer)
        release, files = plan.run_in_memory(asked.path, ledger=ledger, analyst=asked.analyst)
        tell(2, 3)
        title = f"The released table, {release.guarantee}"
        said = f"What was released of {PurePath(asked.name).name}, with 95% intervals; the table below has the numbers."
        figure = Picture.of(plot_table(release), "released", title, said)
    manifest: Any = release.written_manifest
    table = release.tables[0].to_arrow()
    shown = table.slice(0, _SHOWN_ROWS).to_pylist()
    return Published(
        files=files,
        picture=figure,
        columns=tuple(table.column_names),
        rows=tuple(tuple(_cell(value) for value in row.values()) for row in shown),
        more=max(table.num_rows - _SHOWN_ROWS, 0),
        guarantee=str(release.guarantee),
        statement=manifest["statement"],
        certificate=_proved(manifest["mechanism"]["certificate"], plan),
        refuted=_refuted(manifest),
        entry=None if ledger is None else _entry(ledger, asked.analyst),
    )


def with_cap(ledger: Ledger, analyst: str | None) -> str | None:
    """Return an analyst who has a cap; without caps, a name is an entry's alone and the budget is everybody's."""
    return analyst if ledger.analysts else None


def balance_in_words(balance: Balance) -> str:
    """Return what remains, in few digits."""
    if balance.epsilon is None or balance.delta is None:
        return str(balance)
    delta = f", delta = {rounded_text(float(balance.delta), 6)}" if balance.delta else ""
    return f"epsilon = {rounded_text(float(balance.epsilon), 6)}{delta}"


@contextmanager
def read_safely(asked: Asked) -> Iterator[None]:
    """Make errors name the file as its user does, and never quote the data."""
    try:
        with in_words_of_the_page(asked.table.unit or None):
            yield
    except GgdpError as refused:
        shown = PageError(str(refused).replace(asked.path, asked.name))
        notes = getattr(refused, "__notes__", ())
    except MemoryError:
        shown, notes = PageError("there is not enough memory for this file"), ()
    except Exception as failed:
        shown = PageError("it failed, and nothing was shown. The reason is not given, since it might reveal data")
        notes = getattr(failed, "__notes__", ())
    else:
        return
    for note in notes:
        shown.add_note(note)
    raise shown from None


def _unchanged(offer: Offer) -> Ledger | None:
    """Return the ledger, or raise if something was charged to it since the offer was made."""
    if offer.asked.ledger is None:
        return None
    from ggdp.ledger import Ledger

    ledger = Ledger(offer.asked.ledger)
    if ledger.head.hash != offer.head:
        message = "the ledger has changed since this was asked: another release was made, and nothing was charged here"
        raise PageError(f"{message}. Look at what remains, and ask again")
    return ledger


def _entry(ledger: Ledger, analyst: str | None) -> str:
    remaining = balance_in_words(ledger.remaining(with_cap(ledger, analyst)))
    return f"entry {len(ledger.entries()):,}; {remaining} remains"


def _proved(certificate: dict[str, Any], plan: TablePlan) -> str:
    """Return what a certificate proves, and what of the guarantee it is not about."""
    proved = f"{certificate['quantity']} is at most {rounded_up_text(certificate['proved'], 6)}"
    said = f"{certificate['statement']}; {proved}, by {certificate['arithmetic']}."
    if plan.statistics is not None and plan.statistics.quantile_losses:
        said += " This is the noise of counts and sums; the rest of the guarantee is spent on choosing the quantiles."
    return said


def _refuted(manifest: dict[str, Any]) -> str | None:
    """Return why a composition refuses a manifest, whose certificates it proves again; None if it does not."""
    from ggdp.accounting import compose

    try:
        compose([manifest])
    except (ArgumentError, CertificateError) as wrong:
        return str(wrong)
    return None


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return rounded_text(value, 6)
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)
