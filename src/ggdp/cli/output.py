"""What commands print and write: one JSON document or a table for people, examples in ``--help``, and pictures.

Output files are checked before the work, and written whole or not at all.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ggdp._files import write_together, writing

if TYPE_CHECKING:
    from matplotlib.figure import Figure


AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]


def printable(value: object) -> str:
    """Return a value as text that is safe to print: control characters are escaped, and those that turn text around."""
    text = str(value)
    return text if text.isprintable() else "".join([one if one.isprintable() else repr(one)[1:-1] for one in text])


def say(text: str, *, err: bool = False) -> None:
    """Print lines for people; names of files and columns in them cannot steer the terminal."""
    typer.echo("\n".join(printable(line) for line in text.split("\n")), err=err)


def print_json(document: dict[str, Any]) -> None:
    """Print a document to standard output; floats are written so that they read back exactly."""
    try:
        text = json.dumps(document, indent=2, allow_nan=False)
    except ValueError:
        # A number is beyond all floats, which JSON does not have: the command ends as it does for other such numbers.
        raise OverflowError from None
    typer.echo(text)


def print_table(title: str, rows: Iterable[tuple[object, ...]], *, header: tuple[str, ...] | None = None) -> None:
    """Print rows under a title, the first column in bold; lines are folded to the width of a terminal only."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table

    table = Table(title=printable(title), title_justify="left", box=SIMPLE_HEAD, show_header=header is not None)
    names = header or ("", "")
    for place, name in enumerate(names):
        table.add_column(printable(name), style="bold" if place == 0 and header is None else None, overflow="fold")
    for row in rows:
        table.add_row(*(printable(cell) for cell in row))
    # Words are printed as they are: "[red]" and ":smile:" may be levels of a table.
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        # A file, or a program that reads a line for each row: no table is as wide.
        console.width = 1_000_000
    console.print(table)


def example(*lines: str) -> str:
    """Return the end of a help text: command lines that work in a clone of the repository."""
    # A paragraph that begins with a backspace is printed as it is, so that its lines can be copied.
    return "\b\nExample:\n" + "\n".join(f"  {line}" for line in lines)


FORMATS = (".png", ".pdf", ".svg")


def write_picture(plot: Path, figure: Figure, *, overwrite: bool) -> None:
    """Write a figure in the format that the file's ending names."""
    picture = io.BytesIO()
    figure.savefig(picture, format=plot.suffix.lower()[1:], dpi=300)
    with writing("plot", str(plot)):
        write_together({plot: picture.getvalue()}, overwrite=overwrite)


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show a spinner on standard error, if that is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield
