"""``ggdp release``: from a table to a private table and its manifest.

What is printed is a function of the request and of the released values, on both streams and in every error.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path  # noqa: TC003 - typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ggdp.cli.columns import (
    Bins,
    Delimiter,
    DomainFile,
    Encoding,
    Engine,
    Escape,
    Labels,
    Levels,
    Missing,
    NoQuotes,
    OptionalBy,
    Other,
    SourceArgument,
    StrictLines,
    TempDir,
    Unit,
    domain_of,
    marginals_of,
    named_as_flags,
    text_of,
    working,
)
from ggdp.cli.output import AsJson, print_json, print_table, printable, say
from ggdp.cli.query import Delta, Epsilon, NeighboursFlag, NotionFlag, goal_of
from ggdp.cli.spending import (
    Analyst,
    DryRun,
    LedgerUrl,
    Overwrite,
    fit_of,
    print_plan,
    print_warnings,
    releasing,
)
from ggdp.cli.statistics import (
    MeanOf,
    PerUnit,
    QuantileOf,
    Range,
    SumOf,
    VarianceOf,
    Weight,
    flags_of,
    require_columns_or_statistics,
    statistics_of,
    weights_of,
    with_ranges,
)
from ggdp.errors import ArgumentError, PrivacyWarning
from ggdp.signatures import signature_file, signing_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ggdp.tables import Table

# The words of `ggdp.tables.request`, which is too heavy to load before it is needed.
CountName: TypeAlias = Literal["units", "rows"]
SHOWN_ROWS = 20


def release(
    source: SourceArgument,
    epsilon: Epsilon,
    by: OptionalBy = None,
    delta: Delta = None,
    notion: NotionFlag = None,
    order: Annotated[
        str, typer.Option(metavar="P|auto", help="Order of the noise: 1 is Laplace, 2 is Gaussian, auto the best.")
    ] = "auto",
    domain: DomainFile = None,
    levels: Levels = None,
    bins: Bins = None,
    labels: Labels = None,
    other: Other = None,
    missing: Missing = None,
    unit: Unit = None,
    max_cells: Annotated[
        int | None, typer.Option(metavar="M", help="With --unit: most cells of a table that one unit is counted in.")
    ] = None,
    count: Annotated[
        CountName, typer.Option(help="With --unit: whether cells count different units, or their rows.")
    ] = "units",
    max_rows_per_cell: Annotated[
        int | None, typer.Option(metavar="R", help="With --count rows: most rows of a unit counted in one cell.")
    ] = None,
    count_cut: Annotated[
        float | None,
        typer.Option(
            metavar="SHARE",
            help="Spend this share of epsilon on counting the units in more than --max-cells cells, so that intervals "
            "cover them too.",
        ),
    ] = None,
    unit_name: Annotated[
        str | None, typer.Option(metavar="WORDS", help="Word for the units in statements, such as patients.")
    ] = None,
    mean: MeanOf = None,
    sum_: SumOf = None,
    variance: VarianceOf = None,
    quantile: QuantileOf = None,
    range_: Range = None,
    per_unit: PerUnit = None,
    weight: Weight = None,
    neighbours: NeighboursFlag = "add-remove",
    total: Annotated[
        int | None,
        typer.Option(metavar="N", help="Public total of the counts; needs --neighbours replace-one."),
    ] = None,
    nonnegative: Annotated[
        bool, typer.Option("--nonnegative", help="Publish negative counts, and negative ends of intervals, as 0.")
    ] = False,
    false_cells: Annotated[
        float | None,
        typer.Option(metavar="X", help="Publish a sparse table; at most X empty cells are shown on average."),
    ] = None,
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
        Path | None, typer.Option(metavar="FILE.csv|.parquet", help="Output file; FILE.manifest.json is written too.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the released table to a .png, .pdf or .svg file.")
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option(metavar="KEY", help="Sign the manifest with this private key (Ed25519, OpenSSH or PEM)."),
    ] = None,
    overwrite: Overwrite = False,
    as_json: AsJson = False,
) -> None:
    """Publish counts and statistics under differential privacy.

    A table is counted by public columns. --dry-run plans it without reading a row.
    """
    if out is None and not dry_run:
        raise typer.BadParameter("give a file to write to, or --dry-run", param_hint="'--out'")
    with named_as_flags(unit, statistics=flags_of(mean, sum_, variance, quantile)):
        # Before all that takes time, and before anything is charged.
        key = None if sign is None else signing_key(sign, _ask_passphrase if sys.stdin.isatty() else None)
        from ggdp.tables import plan_table

        marginals = marginals_of(by or ())
        statistics = statistics_of(mean, sum_, variance, quantile)
        require_columns_or_statistics(marginals, statistics)
        declared = domain_of(domain, levels, bins, marginals, labels=labels, other=other, missing=missing)
        with working("choosing the noise"), warnings.catch_warnings():
            # They are printed below.
            warnings.simplefilter("ignore", PrivacyWarning)
            plan = plan_table(
                marginals or None,
                goal_of(epsilon, delta, notion),
                with_ranges(declared, range_),
                order=_order(order),
                unit=unit,
                max_cells=max_cells,
                count=count,
                max_rows_per_cell=max_rows_per_cell,
                count_cut=count_cut,
                unit_name=unit_name,
                neighbours=neighbours,
                total=total,
                nonnegative=nonnegative,
                false_cells=false_cells,
                statistics=statistics,
                per_unit=per_unit,
                weights=weights_of(weight),
                engine=engine or "duckdb",
                out=out,
                plot=plot,
                **text_of(encoding, delimiter, escape, no_quotes=no_quotes, strict_lines=strict_lines),
            )
        print_warnings(plan.request.warnings)
        if dry_run:
            from ggdp.tables.plan_summary import summary_rows

            print_plan(plan.to_dict(), summary_rows(plan), fit_of(plan, ledger, analyst), as_json=as_json)
            return
        with releasing(plan.files):
            released = plan.run(
                source, temp_dir=temp_dir, overwrite=overwrite, sign=key, ledger=ledger, analyst=analyst
            )
    described = plan.files[len(plan.request.by)]
    manifest = json.loads(described.read_bytes())
    files = [str(file) for file in (*plan.files, *([] if key is None else [signature_file(described)]))]
    if as_json:
        print_json({"files": files, "manifest": manifest})
        return
    for table, file in zip(getattr(released, "tables", ()), plan.files, strict=False):
        _print_rows(table, file, str(released.guarantee))
    say(manifest["statement"])
    say("Written: " + ", ".join(files))


def _ask_passphrase() -> str:
    return str(typer.prompt("Passphrase of the key", hide_input=True, err=True))


def _order(text: str) -> Any:  # noqa: ANN401 - the request says what it may be
    if text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise ArgumentError("order", text, "must be a number of at least 1, or auto") from None


def _print_rows(table: Table, file: Path, guarantee: str) -> None:
    from ggdp.tables.statistics.released_statistics import shown_estimate

    first = table.to_arrow().slice(0, SHOWN_ROWS).to_pylist()
    names = [statistic.name for statistic in table.statistics]
    cells = [tuple(printable(row[name]) for name in table.by) for row in first]
    counts = [(f"{row['count']:,}", f"{row['lower']:,} to {row['upper']:,}") for row in first]
    estimates = {name: [shown_estimate(row, name) for row in first] for name in names}
    covers = "" if table.covers is None else f"; the intervals cover: {table.covers}"
    say(printable(f"{' x '.join(table.by) or 'all rows'}, {guarantee}{covers}"))
    # More than one statistic beside the counts is too wide for a terminal: each has a table of its own.
    beside = names if len(names) == 1 else []
    _print_estimates(table.by, cells, {"count": counts, **{name: estimates[name] for name in beside}})
    for name in names[len(beside) :]:
        _print_estimates(table.by, cells, {name: estimates[name]})
    if len(table) > SHOWN_ROWS:
        more = len(table) - SHOWN_ROWS
        say(f"({more:,} more {'row' if more == 1 else 'rows'} in {file})")
    if not first:
        say("(no cell has a noisy count at or above the threshold)")


def _print_estimates(
    by: Sequence[str], cells: Sequence[tuple[str, ...]], estimates: Mapping[str, Sequence[tuple[str, str]]]
) -> None:
    """Print cells with estimates, each with its interval."""
    header = [printable(name) for name in by]
    header += [text for name in estimates for text in (printable(name), "95% interval")]
    rows = [
        (*cell, *(text for column in estimates.values() for text in column[place])) for place, cell in enumerate(cells)
    ]
    print_table("", rows, header=tuple(header))
