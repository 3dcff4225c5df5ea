"""One release from the explorer: what it would spend, said beforehand; and the release, once for each confirmation.

A release begins with an `Offer`, which the dialog shows: the plan, what it spends, what is left. The server's
`Confirmations` accept each offer once, one at a time, and only if nothing was released since it was made: a double
click, a second tab with the same dialog, or a release of somebody else from the same ledger leads to a refusal that
says so, never to a second charge.

What is computed here runs in a process of its own (`ggdp.explorer.workers`), so all of it is plain values.
"""

from __future__ import annotations

import io
import itertools
import json
import threading
import zipfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

from attrs import evolve, field, frozen
from htmltools import Tag, TagList, tags

from ggdp._rounding import rounded_text, rounded_up_text
from ggdp.errors import ArgumentError, CertificateError, GgdpError
from ggdp.explorer.view import Progress, Results, embed_figure, facts, text_table
from ggdp.explorer.wording import ExplorerError, in_explorer_words, message_of, sentence, with_notes
from ggdp.tables.study import Study

if TYPE_CHECKING:
    from ggdp.explorer.typed_table import TypedTable
    from ggdp.ledger import Ledger
    from ggdp.ledger.budgets import Balance
    from ggdp.tables import Table, TablePlan

# Rows that are shown; the files have all.
_SHOWN_ROWS = 200


@frozen(kw_only=True)
class Asked:
    """A release that is asked for: a table of a file, and the ledger that it is charged to."""

    table: TypedTable
    # Where the file is, and what its user calls it.
    path: str
    name: str
    # The ledger, and who asks.
    ledger: str | None = None
    analyst: str | None = None
    # What a study of it says but the request: names of the attributes of `ggdp.Study`, with paths as texts.
    own: Mapping[str, Any] = field(factory=dict)
    click: int = 0  # which click asked for it: the same again is asked for by another one


@frozen(kw_only=True)
class Offer:
    """What a release would spend, before it is confirmed; no data were read."""

    asked: Asked
    plan: TablePlan = field(eq=False)
    html: TagList = field(eq=False)  # what the dialog says
    study: Mapping[str, bytes] = field(eq=False)  # the file of a study that asks for the same
    cost: str  # what it spends
    refusal: str | None  # why it does not fit
    head: str | None  # hash of the last record of the ledger
    # Given when it is registered: its number, and how many releases were confirmed before.
    number: int = 0
    released: int = 0


class Confirmations:
    """Accepts each offer once, one at a time, and only if nothing was released since it was made."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._used: set[int] = set()
        self._is_busy = False

    def register(self, offer: Offer) -> Offer:
        """Return an offer with a number of its own, which can be accepted once."""
        with self._lock:
            return evolve(offer, number=next(self._numbers), released=len(self._used))

    @contextmanager
    def accept(self, offer: Offer) -> Iterator[None]:
        """Let an offer be carried out in the block, or raise."""
        with self._lock:
            if offer.number in self._used:
                message = "this release was already made; each confirmation releases once. Ask again for another one"
                raise ExplorerError(message)
            if self._is_busy:
                message = "another release is being made, perhaps in another tab; wait for it, and look again"
                raise ExplorerError(message)
            if offer.released != len(self._used):
                message = "another release was made since this was asked, perhaps in another tab; nothing was charged"
                raise ExplorerError(f"{message} here. Look at what remains, and ask again")
            self._used.add(offer.number)
            self._is_busy = True
        try:
            yield
        finally:
            with self._lock:
                self._is_busy = False


def study_file(asked: Asked) -> Results:
    """Return the file of the study that asks for the same."""
    request, opened = asked.table.request(), asked.table.study
    with in_explorer_words():
        names = Study(request=request, names=asked.table.names(request) or (), **asked.own).names
    own = {name: value for name, value in asked.own.items() if value is not None}
    text = request.to_toml(names, None if opened is None else opened.directory, **own)
    return Results(html={}, files={"study.toml" if opened is None else opened.name: text.encode()})


def make_offer(asked: Asked, *, progress: Progress = lambda _, __: None) -> Offer:
    """Return what a release would spend; nothing is charged and no data are read."""
    from ggdp.tables.table_plan import summary_rows

    progress(0, 1)
    plan = asked.table.plan()
    delta = f" and delta = {rounded_up_text(plan.guarantee.delta)}" if plan.guarantee.delta else ""
    cost = f"epsilon = {rounded_up_text(plan.guarantee.epsilon)}{delta}"
    budget = tags.p("There is no ledger: nothing counts what was released before.", class_="warning")
    refusal, head = None, None
    if asked.ledger is not None:
        from ggdp.ledger import Ledger

        with in_explorer_words():
            ledger = Ledger(asked.ledger)
            capped = with_cap(ledger, asked.analyst)
            remaining, head = ledger.remaining(capped), ledger.head.hash
            found = ledger.what_if(plan, capped, most=1)
        refusal = found.refusal
        after = "" if found.remaining is None else f" Afterwards: {balance_in_words(found.remaining)}."
        budget = tags.p(f"The ledger has {balance_in_words(remaining)} now.{after}")
    warnings = [tags.p(f"{sentence(warning)}.", class_="problem") for warning in plan.warnings]
    title, what = "Release once?", "What is released"
    said = tags.p("It spends ", tags.strong(cost), " of the privacy of everybody in ", tags.strong(asked.name), ".")
    last = [tags.p("There is no way to take it back: what is released stays spent.")]
    if refusal is not None:
        title, what, last = "This release does not fit", "What was asked for", []
        said = tags.p(message_of(ExplorerError(refusal)), ".", class_="problem")
    html = TagList(tags.h2(title, id="dialog-title"), said, budget, *warnings, *last, facts(summary_rows(plan), what))
    study = study_file(asked).files
    return Offer(asked=asked, plan=plan, html=html, study=study, cost=cost, refusal=refusal, head=head)


def publish(offer: Offer, *, progress: Progress = lambda _, __: None) -> Results:
    """Carry out a release: charge it, read the data, draw the noise; and check its certificate again."""
    from ggdp.plots.table_figures import plot_table

    asked, name, names = offer.asked, f"{PurePath(offer.asked.name).stem}-private", offer.plan.names
    # Tables that a study names have files of these names.
    out = Path(f"{name}.csv" if names is None else name)
    plan = replace(offer.plan, out=out, plot=Path(f"{name}.svg"))
    progress(1, 3)
    with read_safely(asked):
        ledger = open_unchanged_ledger(offer)
        release, files = plan.run_in_memory(asked.path, ledger=ledger, analyst=asked.analyst)
        progress(2, 3)
        figures, shown = [], []
        for number, table in enumerate(release.tables):
            of = f" by {' and '.join(table.by)}" if len(release.tables) > 1 else ""
            title = f"The released table{of}, {release.guarantee}"
            said = (
                f"What was released of {PurePath(asked.name).name}{of}, with 95% intervals; the table has the numbers."
            )
            figures.append(embed_figure(plot_table(release, table=number), f"released{number}", title, said)[0])
            shown.append(_show_table(table, of))
    entry = ""
    if ledger is not None:
        remaining = balance_in_words(ledger.remaining(with_cap(ledger, asked.analyst)))
        entry = f" Charged as entry {len(ledger.entries()):,}; {remaining} remains."
    manifest: Any = release.written_manifest
    noises, refutation = manifest["mechanism"].get("parts", [manifest["mechanism"]]), find_refutation(manifest)
    proofs = [
        f"{proof['statement']}; {proof['quantity']} is at most {rounded_up_text(proof['proved'], 6)}, by "
        f"{proof['arithmetic']}."
        for proof in (noise["certificate"] for noise in noises)
    ]
    certificate = " ".join(proofs)
    if plan.statistics is not None and plan.statistics.quantile_losses:
        certificate += " This is the noise of counts and sums; the rest of the guarantee is spent on choosing the "
        certificate += "quantiles."
    verified = tags.p(tags.strong("The certificate was proved again here: "), certificate, class_="verified")
    if refutation is not None:
        verified = tags.p(tags.strong("The certificate does NOT hold: "), refutation, class_="problem")
    written = json.dumps(manifest, indent=2, ensure_ascii=False)
    files |= offer.study
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        # Without the time: the same for the same files.
        for file, content in files.items():
            described = zipfile.ZipInfo(file)
            described.external_attr = 0o644 << 16
            archive.writestr(described, content, zipfile.ZIP_DEFLATED)
    files[f"{name}.zip"] = packed.getvalue()
    notes = [tags.p(f"{sentence(said)}.", class_="warning") for said in (*release.notes, *plan.warnings)]
    above = TagList(tags.h3("Released"), tags.p(tags.strong(str(release.guarantee)), f".{entry}"), *notes, verified)
    below = TagList(
        tags.p("The page keeps these files until it is closed or reloaded: download them now.", class_="hint"),
        *itertools.chain.from_iterable(zip(figures, shown, strict=True)),
        tags.h4("To be published with it"),
        tags.p(manifest["statement"], class_="statement"),
        tags.details(tags.summary("Manifest"), tags.pre(tags.code(written), tabindex="0"), class_="group"),
    )
    return Results(html={"above": above, "below": below}, files=files)


def _show_table(table: Table, of: str) -> Tag:
    """Return the first rows of a table, without what the intervals cover, which is said in the figure."""
    rows = table.to_arrow()
    rows = rows.drop_columns([name for name in rows.column_names if name == "covers"])
    texts: dict[type, Callable[[Any], str]] = {type(None): lambda _: "", int: "{:,}".format}
    texts[float] = lambda value: rounded_text(value, 6)
    shown = [[texts.get(type(one), str)(one) for one in row.values()] for row in rows.slice(0, _SHOWN_ROWS).to_pylist()]
    more = max(rows.num_rows - _SHOWN_ROWS, 0)
    caption = f"The released table{of}" + (f"; {more:,} more rows are in the file" if more else "")
    return text_table(rows.column_names, shown, caption, numbers_from=rows.column_names.index("count"))


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
        with in_explorer_words():
            yield
    except GgdpError as refused:
        raise with_notes(ExplorerError(str(refused).replace(asked.path, asked.name)), refused) from None
    except MemoryError:
        raise ExplorerError("there is not enough memory for this file") from None
    except Exception as failed:
        message = "it failed, and nothing was shown. The reason is not given, since it might reveal data"
        raise with_notes(ExplorerError(message), failed) from None


def open_unchanged_ledger(offer: Offer) -> Ledger | None:
    """Return the ledger, or raise if something was charged to it since the offer was made."""
    if offer.asked.ledger is None:
        return None
    from ggdp.ledger import Ledger

    ledger = Ledger(offer.asked.ledger)
    if ledger.head.hash != offer.head:
        message = "the ledger has changed since this was asked: another release was made, and nothing was charged here"
        raise ExplorerError(f"{message}. Look at what remains, and ask again")
    return ledger


def find_refutation(manifest: dict[str, Any]) -> str | None:
    """Return why a composition refuses a manifest, whose certificates it proves again; None if it does not."""
    from ggdp.accounting import compose

    try:
        compose([manifest])
    except (ArgumentError, CertificateError) as wrong:
        return str(wrong)
    return None
