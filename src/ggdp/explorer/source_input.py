"""The file that views look at: the one of the command, or one that the visitor chooses, which stays in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htmltools import Tag, tags
from shiny import reactive, render, ui

from ggdp.explorer.typed_table import LABELS, PageError
from ggdp.explorer.uploads import LARGEST, too_large
from ggdp.explorer.view import choices, group, text

if TYPE_CHECKING:
    from shiny import Session

    from ggdp.explorer.uploads import Source
    from ggdp.explorer.view import Shared
    from ggdp.explorer.views.cells_per_unit import CellsPerUnitSettings
    from ggdp.explorer.views.release import ReleaseSettings

_LINES = {"quoted": "quoted fields may contain line ends", "strict": "strict: each line is one record"}


def file_form(settings: CellsPerUnitSettings | ReleaseSettings) -> list[Tag]:
    """Return where a file is chosen, and the inputs of how it is read, folded unless one is set."""
    return [
        ui.output_ui("file"),
        group(
            "Format of the file",
            text(settings, "delimiter", LABELS["delimiter"], "a comma; or ; or tab"),
            text(settings, "encoding", LABELS["encoding"], "utf-8; or latin-1"),
            choices(settings, "lines", LABELS["strict_lines"], _LINES),
            opened=bool(settings.delimiter or settings.encoding or settings.lines == "strict"),
        ),
    ]


def required_source(shared: Shared) -> Source:
    """Return the file, or raise if there is none."""
    source = shared.source()
    if source is None:
        raise PageError("choose a file first, or start the page with one: ggdp explore FILE")
    return source


def file_server(session: Session, shared: Shared) -> None:
    """Take the files that are chosen; the views see them as `Shared.source`."""

    async def arrived(source: Source) -> None:
        async with reactive.lock():
            shared.source.set(source)
            await reactive.flush()

    ticket = shared.uploads.ticket(arrived)
    session.on_ended(lambda: shared.uploads.forget(ticket))
    key = session.ns("chooser")

    @render.ui
    def file() -> Tag:
        source = shared.source()
        named = "No file yet." if source is None else f"Looking at {source.name}."
        limit = f"CSV, TSV, Parquet or JSON lines, up to {LARGEST // 2**20} MB; it stays in memory."
        return tags.div(
            tags.label("File", for_=key),
            tags.input(
                id=key,
                type="file",
                # Shiny would upload it too, to a file.
                data_shiny_no_bind_input="",
                accept=".csv,.tsv,.parquet,.jsonl,.ndjson,.json,.gz,.zst",
                data_ticket=ticket,
                data_largest=str(LARGEST),
                data_too_large=too_large(LARGEST),
                aria_describedby=f"{key}-words",
            ),
            tags.p(named, id=f"{key}-words", class_="hint", role="status", data_now=named),
            tags.p(limit, class_="hint"),
            class_="file",
        )
