"""Release: one private release of a file, after a confirmation that says what it spends.

Nothing here is released because something has changed: an offer is made on a click, and carried out on another one in
the dialog that shows it (`ggdp.explorer.releasing`).
"""

from __future__ import annotations

import asyncio
import json
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from attrs import frozen
from htmltools import Tag, TagList, tags
from shiny import reactive, ui

from ggdp.errors import GgdpError
from ggdp.explorer import settings as fields
from ggdp.explorer.equivalents import Equivalents
from ggdp.explorer.releasing import Asked, Offer, Published, make_offer, publish
from ggdp.explorer.source_input import file_form, file_server, required_source
from ggdp.explorer.table_form import TableFields, columns_form, in_step, privacy_form, statistics_form, units_form
from ggdp.explorer.typed_table import LABELS, PageError, message_of
from ggdp.explorer.view import INTERNAL, Download, View, choices, group, text
from ggdp.explorer.widgets import facts, text_table
from ggdp.explorer.workers import StoppedError

if TYPE_CHECKING:
    from pathlib import Path

    from htmltools import TagChild
    from shiny import Session

    from ggdp.explorer.typed_table import TypedTable
    from ggdp.explorer.uploads import Source
    from ggdp.explorer.view import Shared, Visit

_NEIGHBOURS = {"add-remove": "differ by one added or removed", "replace-one": "differ by one replaced"}
_NEGATIVE = {"no": "published as they are", "yes": "published as 0"}
_STOPPED = "The release was stopped before its end. If the ledger has a new entry, that charge stays"


@frozen(kw_only=True)
class ReleaseSettings(TableFields):
    """A table, its goal, and how it is published."""

    neighbours: str = fields.choice("add-remove", "replace-one")
    order: str = fields.text("auto")
    negative: str = fields.choice("no", "yes")
    analyst: str = fields.text()
    delimiter: str = fields.text()
    encoding: str = fields.text()
    lines: str = fields.choice("quoted", "strict")

    def table(self, domain: Path | None) -> TypedTable:
        """Return the table, with the domain file of the command."""
        order = self.order.strip() or "auto"
        return self.typed(
            neighbours=self.neighbours,
            order=order,
            nonnegative=self.negative == "yes",
            domain=str(domain or ""),
            delimiter=self.delimiter,
            encoding=self.encoding,
            lines=self.lines,
        )


def _inputs(settings: ReleaseSettings) -> list[TagChild]:
    neighbours = choices(settings, "neighbours", "Neighbouring tables", _NEIGHBOURS)
    return [
        *file_form(settings),
        group("Table", *columns_form(settings)),
        group("Statistics", *statistics_form(settings), opened=bool(settings.statistics)),
        group("Units", *units_form(settings), opened=bool(settings.unit or settings.unit_name)),
        group("Privacy", *privacy_form(settings), neighbours),
        group(
            "More",
            text(settings, "order", LABELS["order"], "auto"),
            choices(settings, "negative", "Negative counts are", _NEGATIVE),
            text(settings, "analyst", LABELS["analyst"], "for the ledger"),
            opened=False,
        ),
        ui.input_action_button("ask", "Release ...", class_="btn-primary"),
        tags.p("A dialog says what it spends before anything is released.", class_="hint"),
    ]


def _serve(visit: Visit[ReleaseSettings]) -> None:
    inputs, session, shared = visit.inputs, visit.session, visit.shared
    file_server(session, shared)
    in_step(visit, ReleaseSettings())
    # The offer in the dialog, which the first click takes away; what was released; what went wrong; what is going on.
    pending: reactive.Value[Offer | None] = reactive.Value(None)
    published: reactive.Value[Published | None] = reactive.Value(None)
    problem: reactive.Value[str | None] = reactive.Value(None)
    releasing: reactive.Value[bool] = reactive.Value(False)
    running: set[asyncio.Task[None]] = set()
    # The file that was asked about: another upload must not free its memory before it is read.
    kept: dict[str, Source] = {}

    @reactive.calc
    @reactive.event(inputs.ask)
    def arguments() -> tuple[Any, ...]:
        source, found = required_source(shared), visit.checked()
        kept["asked"] = source
        asked = Asked(
            table=found.table(shared.domain),
            path=str(source.data),
            name=source.name,
            ledger=shared.ledger,
            analyst=found.analyst.strip() or None,
            click=inputs.ask(),
        )
        return (asked,)

    offered = visit.computed(make_offer, arguments)

    @reactive.effect
    @reactive.event(inputs.ask)
    def _asked_again() -> None:
        problem.set(None)

    @reactive.effect
    async def _dialog() -> None:
        found = offered.result()
        if found is None:
            return
        offer = shared.desk.numbered(found)
        pending.set(None if offer.refusal is not None else offer)
        await session.send_custom_message("dialog", {"html": str(_dialog_of(offer, session))})

    @reactive.effect
    @reactive.event(inputs.cancel)
    def _cancelled() -> None:
        pending.set(None)

    @reactive.effect
    @reactive.event(inputs.confirm)
    def _confirmed() -> None:
        offer = pending()
        if offer is None or offer.number != inputs.confirm():
            # A second click, or a dialog that another one has replaced.
            return
        pending.set(None)
        releasing.set(True)
        problem.set(None)
        task = asyncio.create_task(release(offer, kept["asked"]))
        # It goes on if the page is closed: it may be charged already.
        running.add(task)
        task.add_done_callback(running.discard)

    async def release(offer: Offer, source: Source) -> None:
        found, wrong = None, None
        try:
            with source.held(), shared.desk.taken(offer):
                found = await shared.long.run(publish, offer)
        except StoppedError as stopped:
            wrong = f"{message_of(stopped)}. {_STOPPED}"
        except GgdpError as refused:
            wrong = message_of(refused)
        except Exception:  # its text might quote the data
            wrong = f"{INTERNAL} {_STOPPED}."
        async with reactive.lock():
            releasing.set(False)
            problem.set(wrong)
            if found is not None:
                published.set(found)
            with reactive.isolate():
                shared.charged.set(shared.charged() + 1)
            await reactive.flush()

    def status() -> Tag:
        if releasing():
            return tags.div(tags.progress(aria_label="Releasing"), tags.span("Releasing ..."), class_="computing")
        wrong = problem()
        return offered.status() if wrong is None else tags.p(wrong, class_="problem")

    def download(label: str, suffix: str) -> Download:
        def name() -> str:
            return next(name for name in published().files if name.endswith(suffix))  # type: ignore[union-attr]

        return Download(label, name, published, lambda found: found.files[name()])

    def same(found: ReleaseSettings) -> Equivalents | None:
        if not (found.by.strip() or found.statistics.strip()):
            return None
        source = shared.source()
        return _same(found, "FILE" if source is None else source.typed, shared)

    visit.show("ledger", lambda: shared.ledger or "", _about)
    visit.show_status(status)
    visit.show("results", published, _shown)
    visit.offer(
        download("Table (CSV)", ".csv"), download("Manifest (JSON)", ".manifest.json"), download("Figure (SVG)", ".svg")
    )
    visit.show_equivalents(same)


def _about(ledger: str) -> Tag:
    """Return what is said of a ledger, or of none."""
    if ledger:
        return tags.p("Releases are charged to the ledger of this page before a row is read.", class_="origin")
    return tags.p(
        "Without a ledger: nothing counts what was released before. Start the page with --ledger URL to keep a budget.",
        class_="warning",
    )


def _dialog_of(offer: Offer, session: Session) -> Tag:
    """Return the dialog that says what a release spends, and asks for a confirmation if it fits."""
    title = "This release does not fit" if offer.refusal else "Release once?"
    body: list[Any] = [tags.h2(title, id="dialog-title")]
    if offer.refusal is None:
        spent, where = tags.strong(offer.cost), tags.strong(offer.asked.name)
        body.append(tags.p("It spends ", spent, " of the privacy of everybody in ", where, "."))
    else:
        body.append(tags.p(message_of(PageError(offer.refusal)), ".", class_="problem"))
    if offer.remaining is not None:
        left = "" if offer.after is None else f" Afterwards: {offer.after}."
        body.append(tags.p(f"The ledger has {offer.remaining} now.{left}"))
    elif offer.refusal is None:
        body.append(tags.p("There is no ledger: nothing counts what was released before.", class_="warning"))
    body += [tags.p(warning, class_="problem") for warning in offer.warnings]
    if offer.refusal is None:
        body.append(tags.p("There is no way to take it back: what is released stays spent."))
    body.append(facts(offer.rows, "What is released" if offer.refusal is None else "What was asked for"))
    cancel = tags.button(
        "Close" if offer.refusal else "Cancel",
        type="button",
        class_="btn btn-default",
        data_cancel="",
        data_answer=session.ns("cancel"),
        data_number=str(offer.number),
        autofocus="",
    )
    confirm = tags.button(
        f"Release and spend {offer.cost}",
        type="button",
        class_="btn btn-danger",
        data_answer=session.ns("confirm"),
        data_number=str(offer.number),
    )
    buttons = [cancel] if offer.refusal else [cancel, confirm]
    return tags.div(*body, tags.div(*buttons, class_="buttons"))


def _shown(found: Published) -> TagList:
    """Return what was released."""
    verified = "The certificate was proved again here: " if found.refuted is None else "The certificate does NOT hold: "
    manifest = next(content for name, content in found.files.items() if name.endswith(".manifest.json"))
    more = f"; {found.more:,} more rows are in the file" if found.more else ""
    return TagList(
        tags.h3("Released"),
        tags.p(tags.strong(found.guarantee), f". Charged as {found.entry}." if found.entry else "."),
        tags.p(
            tags.strong(verified),
            found.certificate if found.refuted is None else found.refuted,
            class_="verified" if found.refuted is None else "problem",
        ),
        ui.output_ui("downloads"),
        tags.p("The page keeps these files until it is closed or reloaded: download them now.", class_="hint"),
        found.picture.tag(),
        text_table(*_without_covers(found), f"The released table{more}", numbers_from=found.columns.index("count")),
        tags.h4("To be published with it"),
        tags.p(found.statement, class_="statement"),
        tags.details(
            tags.summary("Manifest"),
            tags.pre(tags.code(json.dumps(json.loads(manifest), indent=2, ensure_ascii=False)), tabindex="0"),
            class_="group",
        ),
    )


def _without_covers(found: Published) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Return header and rows without what the intervals cover, which is the same in all and said in the figure."""
    kept = [place for place, name in enumerate(found.columns) if name != "covers"]
    return tuple(found.columns[place] for place in kept), [tuple(row[place] for place in kept) for row in found.rows]


def _same(settings: ReleaseSettings, name: str, shared: Shared) -> Equivalents:
    """Return the command and the code that release the same; each run is another release."""
    from ggdp.explorer.views.budget import without_password

    table, out, ledger = settings.table(shared.domain), f"{PurePath(name).stem}-private.csv", shared.ledger
    more, flags = {"out": repr(out)}, ["--out", out]
    if ledger is not None:
        more["ledger"] = repr(without_password(ledger))
        flags += ["--ledger", without_password(ledger)]
        if settings.analyst.strip():
            more["analyst"] = repr(settings.analyst.strip())
            flags += ["--analyst", settings.analyst.strip()]
    return Equivalents(
        command=table.command(name, *flags), python=table.python("release_table", source=name, more=more)
    )


RELEASE = View(
    key="release",
    title="Release",
    settings=ReleaseSettings,
    inputs=_inputs,
    serve=_serve,
    notice=lambda: [ui.output_ui("ledger")],
    results=lambda: [ui.output_ui("results")],
)
