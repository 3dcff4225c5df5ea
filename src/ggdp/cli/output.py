"""Output of the commands: one JSON document, or a table for people."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["AsJson", "print_json", "print_table"]

# A width in characters that no table has.
_UNLIMITED = 1_000_000

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def print_json(document: dict[str, Any]) -> None:
    """Print a document to standard output; floats are written so that they read back exactly."""
    typer.echo(json.dumps(document, indent=2, allow_nan=False))


def print_table(title: str, rows: Iterable[tuple[object, ...]], *, header: tuple[str, ...] | None = None) -> None:
    """Print rows under a title, the first column in bold; lines are folded to the width of a terminal only."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, show_header=header is not None)
    names = header or ("", "")
    for place, name in enumerate(names):
        table.add_column(name, style="bold" if place == 0 and header is None else None, overflow="fold")
    for row in rows:
        table.add_row(*(str(cell) for cell in row))
    # Words are printed as they are: "[red]" and ":smile:" may be levels of a table.
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        # A file, or a program that reads a line for each row.
        console.width = _UNLIMITED
    console.print(table)
