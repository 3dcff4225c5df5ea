"""Release: one private release of a file, after a confirmation that says what it spends.

Nothing here is released because something has changed: an offer is made on a click, and carried out on another one in
the dialog that shows it (`ggdp.explorer.releasing`).
"""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Iterator
from pathlib import PurePath
from typing import Any

from attrs import evolve
from htmltools import Tag, TagChild, TagList, tags
from shiny import reactive, ui

from ggdp._records import frozen
from ggdp.errors import GgdpError
from ggdp.explorer import settings as fields
from ggdp.explorer import typed_table, view
from ggdp.explorer.releasing import Asked, Offer, make_offer, publish, study_file
from ggdp.explorer.studies import open_upload
from ggdp.explorer.uploads import LARGEST_STUDY, MemoryFile, Source, chooser, file_form, require_source, serve_file_form
from ggdp.explorer.views.budget_view import without_password
from ggdp.explorer.wording import message_of
from ggdp.explorer.workers import StoppedError

_CHARGED = tags.p("Releases are charged to the ledger of this page before a row is read.", class_="origin")
_UNCOUNTED = tags.p(
    "Without a ledger: nothing counts what was released before. Start the page with --ledger URL to keep a budget.",
    class_="warning",
)
_STOPPED = "The release was stopped before its end. If the ledger has a new entry, that charge stays"


@frozen(kw_only=True)
class ReleaseSettings(typed_table.FileFields, typed_table.TableFields):
    """A table, its goal, and how it is published."""

    neighbours: str = fields.choice("add-remove", "replace-one")
    order: str = fields.text("auto")
    negative: str = fields.choice("no", "yes")
    analyst: str = fields.text()


def _inputs(settings: ReleaseSettings) -> list[TagChild]:
    relations = {"add-remove": "differ by one added or removed", "replace-one": "differ by one replaced"}
    neighbours = view.choices(settings, "neighbours", "Neighbouring tables", relations)
    ways = {"no": "published as they are", "yes": "published as 0"}
    negative = view.choices(settings, "negative", "Negative counts are", ways)
    order, analyst = typed_table.text_inputs(settings, "order", "analyst")
    return [
        view.group("Open or save a study", ui.output_ui("study"), ui.output_ui("saved"), opened=False),
        *file_form(settings),
        typed_table.columns_form(settings),
        typed_table.statistics_form(settings),
        typed_table.units_form(settings),
        view.group("Privacy", *typed_table.privacy_form(settings), neighbours),
        view.group("More", order, negative, analyst, opened=False),
        ui.input_action_button("ask", "Release ...", class_="btn-primary"),
        tags.p("A dialog says what it spends before anything is released.", class_="hint"),
    ]


def _serve(visit: view.Visit[ReleaseSettings]) -> None:
    inputs, session, shared = visit.inputs, visit.session, visit.shared
    serve_file_form(session, shared)
    _serve_study(visit)
    typed_table.share_inputs(visit, ReleaseSettings())
    # The offer in the dialog, which the first click takes away; what was released; what went wrong; what is going on.
    pending: reactive.Value[Offer | None] = reactive.Value(None)
    published: reactive.Value[view.Results | None] = reactive.Value(None)
    problem: reactive.Value[str | None] = reactive.Value(None)
    releasing: reactive.Value[bool] = reactive.Value(False)
    running: set[asyncio.Task[None]] = set()
    # The file that was asked about: another upload must not free its memory before it is read.
    kept: dict[str, Source] = {}

    @reactive.calc
    @reactive.event(inputs.ask)
    def arguments() -> tuple[Any, ...]:
        kept["asked"] = require_source(shared)
        return (evolve(_release_of(visit.require_settings(), shared), click=inputs.ask()),)

    offered = view.Background(visit, make_offer, arguments)

    @reactive.effect
    @reactive.event(inputs.ask)
    def _ask_again() -> None:
        problem.set(None)

    @reactive.effect
    async def _open_dialog() -> None:
        found = offered.result()
        if found is None:
            return
        offer = shared.confirmations.register(found)
        pending.set(None if offer.refusal is not None else offer)
        dialog = tags.div(offer.html, tags.div(*_answers(offer, session.ns), class_="buttons"))
        await session.send_custom_message("dialog", {"html": str(dialog)})

    @reactive.effect
    @reactive.event(inputs.cancel)
    def _cancel() -> None:
        pending.set(None)

    @reactive.effect
    @reactive.event(inputs.confirm)
    def _confirm() -> None:
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
            with source.hold(), shared.confirmations.accept(offer):
                found = await shared.long.run(publish, offer)
        except StoppedError as stopped:
            wrong = f"{message_of(stopped)}. {_STOPPED}"
        except GgdpError as refused:
            wrong = message_of(refused)
        except Exception:  # its text might quote the data
            wrong = f"{view.INTERNAL} {_STOPPED}."
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

    def results() -> TagList | None:
        found = published()
        return None if found is None else TagList(found.html["above"], ui.output_ui("downloads"), found.html["below"])

    visit.show("ledger", lambda: _CHARGED if shared.ledger else _UNCOUNTED)
    visit.show("status", status)
    visit.show("results", results)
    files = {"Table (CSV)": ".csv", "Manifest (JSON)": "manifest.json", "Figure (SVG)": ".svg"}
    visit.offer(files | {"Study (TOML)": ".toml", "All files (ZIP)": ".zip"}, published)
    visit.show("unit_warning", lambda: typed_table.unit_warning(visit.settings()))
    visit.show_code(lambda found: _code(found, shared))


def _answers(offer: Offer, named: Callable[[str], str]) -> Iterator[Tag]:
    """Yield the buttons of the dialog that shows an offer; `named` names the inputs of the view."""

    def button(words: str, answer: str, kind: str, **more: str) -> Tag:
        about = {"data_answer": named(answer), "data_number": str(offer.number)}
        return tags.button(words, type="button", class_=f"btn btn-{kind}", **more, **about)

    yield button("Close" if offer.refusal else "Cancel", "cancel", "default", data_cancel="", autofocus="")
    if offer.refusal is None:
        yield button(f"Release and spend {offer.cost}", "confirm", "danger")


def _release_of(found: ReleaseSettings, shared: view.Shared) -> Asked:
    """Return what is asked for of the file that the visitor looks at, if there is one."""
    source, opened, analyst = shared.source(), shared.study(), found.analyst.strip() or None
    study = None if opened is None else opened.study
    own = {name: getattr(study, name, None) for name in ("source", "ledger", "engine", "output")}
    # The file that the study of the command names is there as the study has it.
    is_own = opened is not None and opened.directory is not None and not isinstance(source, MemoryFile)
    own |= {} if source is None or is_own else {"source": source.typed}
    if opened is None or opened.directory is not None:
        own["ledger"] = None if shared.ledger is None else without_password(own["ledger"] or shared.ledger)
    return Asked(
        table=found.typed_table(shared.domain, opened),
        path="" if source is None else str(source.path),
        name="" if source is None else source.name,
        ledger=shared.ledger,
        analyst=analyst,
        own=own | {"analyst": analyst},
    )


def _serve_study(visit: view.Visit[ReleaseSettings]) -> None:
    """Open studies that are sent, say what of an open one the form does not show, and offer the form as a study."""
    session, shared = visit.session, visit.shared

    async def arrived(file: Source) -> None:
        content = file.path.read_bytes()
        file.close()
        opened, values = await shared.quick.run(open_upload, content, file.name, ReleaseSettings)
        async with reactive.lock():
            shared.study.set(opened)
            for name, value in values.items():
                session.send_input_message(name, {"value": value})
            await reactive.flush()

    ticket = shared.uploads.ticket(arrived, most=LARGEST_STUDY, suffixes=(".toml",))
    session.on_ended(lambda: shared.uploads.forget(ticket))

    def study() -> Tag:
        opened = shared.study()
        named = "No study is open." if opened is None else f"{opened.name} is open."
        hint = "A request that was saved, here or by ggdp release --save-study."
        return chooser(session.ns("opener"), "Open a study", ticket, named, (".toml",), LARGEST_STUDY, hint)

    def kept() -> Tag | None:
        opened = shared.study()
        if opened is None:
            return None
        said: list[TagChild] = [
            tags.strong(f"{opened.name} is open. "),
            "What you do not change is released and saved as it says.",
        ]
        if opened.kept:
            said.append(f" The form cannot show, and keeps: {'; '.join(opened.kept)}.")
        paths = [name for name in ("source", "ledger", "output") if getattr(opened.study, name) is not None]
        if opened.directory is None and paths:
            said.append(f" Its {' and '.join(paths)} are ignored: an upload opens no file of this machine.")
        close = ui.input_action_button("close", "Close the study", class_="quiet")
        return tags.div(tags.p(*said), close, class_="origin")

    @reactive.effect
    async def _hide() -> None:
        opened = shared.study()
        names = [f"{view}-{name}" for view in ("release", "cells") for name in (opened.inputs if opened else ())]
        await session.send_custom_message("kept", {"inputs": names})

    @reactive.effect
    @reactive.event(visit.inputs.close)
    def _close() -> None:
        shared.study.set(None)

    @reactive.calc
    def saved() -> view.Results | None:
        # Here, and not in the background: a file that is saved is of the form as it is.
        try:
            return study_file(_release_of(visit.require_settings(), shared))
        except GgdpError:
            return None

    visit.show("study", study)
    visit.show("kept", kept)
    visit.offer({"Save as study": ".toml"}, saved, at="saved")


def _code(settings: ReleaseSettings, shared: view.Shared) -> tuple[str, str] | None:
    """Return the command and the code that release the same; each run is another release."""
    source, opened = shared.source(), shared.study()
    name = "FILE" if source is None else source.typed
    if opened is not None:
        first, file = "# The file is that of: Save as study", opened.name
        command = shlex.join(["ggdp", "release", file, "--source", name, "--out", "tables"])
        python = f'import ggdp\n\nstudy = ggdp.Study.read({file!r})\nstudy.run({name!r}, out="tables")'
        return f"{first}\n{command}", f"{first}\n{python}"
    if not (settings.by.strip() or settings.statistics.strip()):
        return None
    table, more = settings.typed_table(shared.domain), {"out": f"{PurePath(name).stem}-private.csv"}
    if shared.ledger is not None:
        more["ledger"] = without_password(shared.ledger)
        if settings.analyst.strip():
            more["analyst"] = settings.analyst.strip()
    flags = (shlex.join([f"--{flag}", value]) for flag, value in more.items())
    python = table.python("release_table", name, {key: repr(value) for key, value in more.items()})
    return table.command(name, *flags), python


RELEASE = view.View(
    key="release",
    title="Release",
    settings=ReleaseSettings,
    inputs=_inputs,
    serve=_serve,
    notice=lambda: [ui.output_ui("kept"), ui.output_ui("ledger"), ui.output_ui("unit_warning")],
    results=lambda: [ui.output_ui("results")],
)
