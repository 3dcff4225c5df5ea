"""What the commands on tables share: flags that name columns and declare them, and errors that name flags."""

from __future__ import annotations

import csv
import io
import re
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ggdp.cli.query import numbers_of
from ggdp.errors import ArgumentError, GgdpError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ggdp.tables.domain import Domain

__all__ = [
    "Bins",
    "By",
    "DomainFile",
    "Engine",
    "Levels",
    "SourceArgument",
    "Unit",
    "domain_of",
    "marginals_of",
    "named_as_flags",
    "printable",
    "working",
]

# The words of `ggdp.tables.entry`, which is too heavy to load before it is needed.
EngineName: TypeAlias = Literal["duckdb", "spark"]

SourceArgument = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="A CSV, Parquet or JSON-lines file, or a quoted pattern of several ('data/*.parquet')."
    ),
]
By = Annotated[
    list[str],
    typer.Option(metavar="COL[,COL...]", help="Columns to count by; given again for several tables at once."),
]
DomainFile = Annotated[
    Path | None, typer.Option(metavar="FILE.toml", help="Public levels and edges of the columns, [columns.NAME].")
]
Levels = Annotated[
    list[str] | None,
    typer.Option(metavar="COL=V1,V2,...", help='Public levels of a column, as text; "..." around one with a comma.'),
]
Bins = Annotated[
    list[str] | None, typer.Option(metavar="COL=E0,E1,...", help="Public edges of a column's bins; -inf and inf too.")
]
Unit = Annotated[
    str | None, typer.Option(metavar="COL", help="Column that says whose row it is; else a row is a unit.")
]
Engine = Annotated[EngineName | None, typer.Option(help="What reads the source; DuckDB if not given.")]

_FLAGS = {
    name: f"--{name.replace('_', '-')}"
    for name in (
        "by",
        "count",
        "count_cut",
        "delta",
        "domain",
        "engine",
        "epsilon",
        "false_cells",
        "max_cells",
        "max_rows_per_cell",
        "neighbours",
        "nonnegative",
        "order",
        "out",
        "plot",
        "total",
        "unit",
        "unit_name",
    )
} | {"data": "SOURCE", "source": "SOURCE"}
_WORDS = re.compile(r"\b(false_cells|max_cells|max_rows_per_cell)\b")


def marginals_of(by: Sequence[str]) -> list[list[str]]:
    """Return the columns of each table that is asked for."""
    return [_listed("--by", text, text) for text in by]


def domain_of(
    file: Path | None, levels: Sequence[str] | None, bins: Sequence[str] | None, marginals: list[list[str]]
) -> Domain:
    """Return the public domain that the flags declare: that of the file, and columns beside it."""
    from ggdp.tables.column import Column
    from ggdp.tables.domain import Domain

    whole = Domain.from_toml(file) if file is not None else Domain({})
    declared = list(whole)
    by = {name for names in marginals for name in names}
    known = {column.name: "the file of --domain" for column in declared}
    for flag, texts in (("--levels", levels or ()), ("--bins", bins or ())):
        for text in texts:
            name, equals, values = text.partition("=")
            if not equals or not name:
                raise ArgumentError(flag, text, "must be a column, '=' and its values: COL=V1,V2")
            if name in known:
                raise ArgumentError(flag, text, f"{name!r} is declared already, by {known[name]}")
            if name not in by:
                raise ArgumentError(flag, text, f"{name!r} is none of the columns of --by: {', '.join(sorted(by))}")
            known[name] = flag
            inside: dict[str, Any] = (
                {"levels": _listed(flag, text, values)} if flag == "--levels" else {"edges": numbers_of(flag, values)}
            )
            declared.append(Column(name=name, **inside))
    return Domain(declared, impossible=whole.impossible)


@contextmanager
def named_as_flags(unit: str | None) -> Iterator[None]:
    """Name the flag that an error comes from, as it is typed."""
    try:
        yield
    except ArgumentError as refused:
        argument, value = refused.argument, refused.value
        if argument == "column":
            # Of the columns that are read all are counted by but the one of units.
            argument = "by" if unit is None or value != unit else "unit"
        expected = _WORDS.sub(lambda word: _FLAGS[word[0]], refused.expected)
        if argument == "by" and isinstance(value, list | tuple):
            tables = [_typed(names) for names in (value if _is_nested(value) else [value])]
            if len(tables) > 1:
                raise GgdpError(" ".join(f"--by {names}" for names in tables) + f": {expected}") from None
            (value,) = tables
        raise ArgumentError(_FLAGS.get(argument, argument), value, expected) from None


def _is_nested(value: Sequence[object]) -> bool:
    return any(isinstance(names, list | tuple) for names in value)


def _typed(names: object) -> str:
    """Return the columns of a table as they are typed after --by."""
    row = io.StringIO(newline="")
    csv.writer(row, lineterminator="").writerow([names] if isinstance(names, str) else names)  # type: ignore[arg-type]
    return row.getvalue()


@contextmanager
def working(what: str) -> Iterator[None]:
    """Show on standard error that work is going on, if somebody is there to see it."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield
        return
    with console.status(what):
        yield


def printable(value: object) -> str:
    """Return a value as text that is safe to print: what would move the cursor is written as its code."""
    return "".join(sign if sign.isprintable() else repr(sign)[1:-1] for sign in str(value))


def _listed(flag: str, text: str, values: str) -> list[str]:
    """Return the values of a flag, which are separated by commas and quoted as in a CSV file."""
    try:
        (row,) = csv.reader(io.StringIO(values, newline=""), strict=True)
    except (csv.Error, ValueError):
        raise ArgumentError(
            flag, text, "must be values separated by ',', with \"...\" around one that has a comma"
        ) from None
    return row
