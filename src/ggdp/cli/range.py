"""``ggdp range``: a range for the values of a column, found privately."""

from __future__ import annotations

import warnings
from pathlib import Path  # noqa: TC003 - typer reads annotations when it runs
from typing import Annotated

import typer

from ggdp.cli.columns import (
    Delimiter,
    Encoding,
    Engine,
    Escape,
    NoQuotes,
    SourceArgument,
    StrictLines,
    TempDir,
    Unit,
    named_as_flags,
    text_of,
    working,
)
from ggdp.cli.output import AsJson, print_json, printable, say
from ggdp.cli.query import Delta, Epsilon, NeighboursFlag, NotionFlag, goal_of
from ggdp.cli.spending import Analyst, DryRun, LedgerUrl, Overwrite, fit_of, print_plan, print_warnings, releasing
from ggdp.errors import PrivacyWarning


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
    strict_lines: StrictLines = False,
    temp_dir: TempDir = None,
    ledger: LedgerUrl = None,
    analyst: Analyst = None,
    dry_run: DryRun = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE.json", help="Write the range with its manifest to a file.")
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Find a range to clamp a column to, privately.

    The range is on a doubling scale. Finding it spends the budget.
    """
    with named_as_flags(unit, by="COL"):
        from ggdp.tables.clamping_range import plan_range

        with working("choosing the noise"), warnings.catch_warnings():
            # They are printed below.
            warnings.simplefilter("ignore", PrivacyWarning)
            plan = plan_range(
                column,
                goal_of(epsilon, delta, notion),
                share=share,
                unit=unit,
                max_cells=max_cells,
                neighbours=neighbours,
                engine=engine or "duckdb",
                out=out,
                **text_of(encoding, delimiter, escape, no_quotes=no_quotes, strict_lines=strict_lines),
            )
        print_warnings(plan.histogram.request.warnings)
        if dry_run:
            print_plan(plan.to_dict(), plan.summary_rows(), fit_of(plan.histogram, ledger, analyst), as_json=as_json)
            return
        with releasing([] if out is None else [out]):
            found = plan.run(source, temp_dir=temp_dir, overwrite=overwrite, ledger=ledger, analyst=analyst)
    if as_json:
        print_json(found.to_dict())
        return
    if found.flag is not None:
        say(f"lower  {found.lower!r}\nupper  {found.upper!r}\n{printable(found.flag)}")
    say(printable(found.statement))
    say(f"It is {found.guarantee}.")
