"""The file that views look at: the one of the command, or one that the visitor chooses, which stays in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from htmltools import Tag, tags
from shiny import reactive, render, ui

from ggdp.explorer.inputs import group
from ggdp.explorer.memory_file import too_large
from ggdp.explorer.typed_table import LABELS
from ggdp.explorer.uploads import LARGEST

if TYPE_CHECKING:
    from shiny import Session

    from ggdp.explorer.uploads import Source
    from ggdp.explorer.view import Shared

__all__ = ["file_input", "file_server", "format_form"]


def file_input() -> Tag:
    """Return where a file is chosen."""
    return ui.output_ui("file")


def format_form(delimiter: str, encoding: str) -> Tag:
    """Return the inputs of how text files are read, folded unless one is set."""
    return group(
        "Format of the file",
        ui.input_text("delimiter", LABELS["--delimiter"], delimiter, placeholder="a comma; or ; or tab"),
        ui.input_text("encoding", LABELS["--encoding"], encoding, placeholder="utf-8; or latin-1"),
        opened=bool(delimiter or encoding),
    )


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
