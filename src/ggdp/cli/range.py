"""``ggdp range``: a range for the values of a column, found privately."""

from __future__ import annotations

import warnings
from contextlib import contextmanager
from pathlib import Path  # noqa: TC003 - typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated

import typer

from ggdp.cli.columns import (
    Delimiter,
    Encoding,
    Engine,
    Escape,
    NoQuotes,
    SourceArgument,
    TempDir,
    Unit,
    named_as_flags,
    printable,
    text_of,
    working,
)
from ggdp.cli.output import AsJson, print_json
from ggdp.cli.query import Delta, Epsilon, NeighboursFlag, NotionFlag, goal_of
from ggdp.errors import ArgumentError, GgdpError, PrivacyWarning

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["private_range"]


@contextmanager
def _named_as_arguments() -> Iterator[None]:
    """Make errors about the column that is counted by name it as it is typed."""
    try:
        yield
    except ArgumentError as refused:
        if refused.argument != "--by":
            raise
        raise ArgumentError("COL", refused.value, refused.expected) from None


def private_range(
    source: SourceArgument,
    column: Annotated[str, typer.Argument(metavar="COL", help="A column of numbers.")],
    epsilon: Epsilon,
    delta: Delta = None,
    notion: NotionFlag = None,
    share: Annotated[
        float, typer.Option(metavar="SHARE", help="Share of the values that may be outside of the range.")
    ] = 0.01,
    unit: Unit = None,
    max_cells: Annotated[
        int | None, typer.Option(metavar="M", help="With --unit: most buckets that one unit is counted in.")
    ] = None,
    neighbours: NeighboursFlag = "add-remove",
    engine: Engine = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_quotes: NoQuotes = False,
    escape: Escape = None,
    temp_dir: TempDir = None,
    ledger: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Charge the release to this ledger, a file or postgresql://..., before a row is read.",
        ),
    ] = None,
    analyst: Annotated[str | None, typer.Option(metavar="NAME", help="Who asks, for --ledger.")] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write the range with its manifest to a file.")
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace an earlier output (and spend the budget again).")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Find a clamping range of a column privately, on a doubling scale; it spends the budget."""
    with _named_as_arguments(), named_as_flags(unit):
        from ggdp.tables.clamping_range import private_range as found_range

        replaces = out is not None and out.exists()
        with working("counting"), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", PrivacyWarning)
            try:
                found = found_range(
                    source,
                    column,
                    goal_of(epsilon, delta, notion),
                    share=share,
                    unit=unit,
                    max_cells=max_cells,
                    neighbours=neighbours,
                    engine=engine or "duckdb",
                    temp_dir=temp_dir,
                    out=out,
                    overwrite=overwrite,
                    ledger=ledger,
                    analyst=analyst,
                    **text_of(encoding, delimiter, escape, no_quotes=no_quotes),
                )
            except (GgdpError, MemoryError):
                raise
            except Exception as failed:
                message = "it failed, and nothing was published. The reason is not shown, since it might reveal data"
                error = GgdpError(message)
                for note in getattr(failed, "__notes__", ()):
                    error.add_note(note)
                raise error from None
    for warning in caught:
        typer.echo(f"warning: {warning.message}", err=True)
    if replaces:
        typer.echo("warning: an earlier output is replaced; each run spends the privacy budget again", err=True)
    if as_json:
        print_json(found.to_dict())
        return
    if found.flag is not None:
        typer.echo(f"lower  {found.lower!r}\nupper  {found.upper!r}\n{printable(found.flag)}")
    typer.echo(printable(found.statement))
    typer.echo(f"It is {found.guarantee}.")
