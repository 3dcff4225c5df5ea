"""``ggdp release``: from a table to a private table and its manifest.

What is printed is a function of the request and of the released values, on both streams and in every error.

``ggdp check``: compare a source with its domain before a release. Not private.

``ggdp range``: a range for the values of a column, found privately.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path  # noqa: TC003 - typer reads annotations when it runs
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

import typer

from ggdp.cli.flags import (
    Analyst,
    Bins,
    Delimiter,
    Delta,
    DomainFile,
    DryRun,
    Encoding,
    Engine,
    Epsilon,
    Escape,
    Labels,
    LedgerUrl,
    Levels,
    MeanOf,
    Missing,
    NeighboursFlag,
    NoQuotes,
    NotionFlag,
    OptionalBy,
    Other,
    Overwrite,
    PerUnit,
    QuantileOf,
    Range,
    SourceArgument,
    StrictLines,
    SumOf,
    TempDir,
    Unit,
    VarianceOf,
    Weight,
    domain_of,
    fit_of,
    flags_of,
    goal_of,
    marginals_of,
    named_as_flags,
    print_plan,
    print_warnings,
    releasing,
    require_columns_or_statistics,
    statistics_of,
    text_of,
    weights_of,
    with_ranges,
    working,
)
from ggdp.cli.output import AsJson, print_json, print_table, printable, say
from ggdp.errors import ArgumentError, PrivacyWarning
from ggdp.signatures import signature_file, signing_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ggdp.tables import Table
    from ggdp.tables.source_check import ColumnCheck, RangeCheck, TableCheck, TextCheck, UnitCheck


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
            from ggdp.tables.table_plan import summary_rows

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


REGIMES = {
    "declared": "a release would publish every cell, including empty ones",
    "sparse": "too many cells to publish them all: a release needs --false-cells and omits small noisy counts",
    "open": "a column has no declared levels: a release needs --delta and omits levels with few units",
    "mixed": "declared tables would be complete; open tables need --delta and omit levels with few units",
}
SHOWN_LEVELS = 10


def check(
    source: SourceArgument,
    by: OptionalBy = None,
    domain: DomainFile = None,
    levels: Levels = None,
    bins: Bins = None,
    labels: Labels = None,
    other: Other = None,
    missing: Missing = None,
    unit: Unit = None,
    mean: MeanOf = None,
    sum_: SumOf = None,
    variance: VarianceOf = None,
    quantile: QuantileOf = None,
    range_: Range = None,
    per_unit: PerUnit = None,
    epsilon: Annotated[float, typer.Option(help="Epsilon of the release that is planned, for the noise shown.")] = 1.0,
    engine: Engine = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    no_quotes: NoQuotes = False,
    escape: Escape = None,
    strict_lines: StrictLines = False,
    temp_dir: TempDir = None,
    as_json: AsJson = False,
) -> None:
    """Compare a source with its domain before a release. NOT PRIVATE: the output must not be published."""
    with named_as_flags(unit, statistics=flags_of(mean, sum_, variance, quantile)):
        marginals = marginals_of(by or ())
        statistics = statistics_of(mean, sum_, variance, quantile)
        require_columns_or_statistics(marginals, statistics)
        declared = domain_of(domain, levels, bins, marginals, labels=labels, other=other, missing=missing)
        from ggdp.tables.source_check import NOTICE, check_table

        with working("counting"):
            found = check_table(
                source,
                marginals or None,
                with_ranges(declared, range_),
                unit=unit,
                statistics=statistics,
                per_unit=per_unit,
                epsilon=epsilon,
                engine=engine,
                temp_dir=temp_dir,
                **text_of(encoding, delimiter, escape, no_quotes=no_quotes, strict_lines=strict_lines),
            )
    if as_json:
        print_json(found.to_dict())
        return
    say(NOTICE)
    _print_tables(found)
    if found.text is not None:
        _print_text(found.text)
    for column in found.columns:
        _print_column(column)
    for measured in found.ranges:
        _print_range(measured)
    if found.units is not None:
        _print_units(found.units)


def _print_tables(found: TableCheck) -> None:
    rows = [
        (
            " x ".join(table.by),
            "not known" if table.cells is None else f"{table.cells:,}",
            f"{table.filled:,}",
            f"{found.rows - table.rows:,}",
            f"{table.impossible_rows:,}",
        )
        for table in found.marginals
    ]
    say(f"{_rows(found.rows)}; {REGIMES[found.regime]}")
    if not rows:
        # Statistics of all rows: there is one cell, and no row is outside of it.
        return
    print_table(
        "", rows, header=("table", "cells", "with rows in them", "rows not counted", "of these in impossible cells")
    )


def _print_text(text: TextCheck) -> None:
    rows = [
        ("records", f"{text.records:,}"),
        (f"text that is not valid {text.encoding}", _rows(text.invalid)),
    ]
    if text.not_objects is None:
        rows.append(("with more fields than the header", _rows(text.surplus)))
        rows.append(("line ends inside records, blank lines", f"{text.further_lines:,}"))
    else:
        rows.append(("not JSON objects", _rows(text.not_objects)))
    rows.append(("with line ends inside", _rows(text.with_line_ends)))
    print_table("file", [*rows, *(("advice", advice) for advice in text.advice)])


def _print_column(column: ColumnCheck) -> None:
    rows: list[tuple[str, str]] = [("nulls", _rows(column.nulls))]
    if column.declared == "open":
        rows.append(("different values", f"{column.distinct_unmatched:,}"))
    else:
        listed = column.unmatched and column.distinct_unmatched is not None
        different = f", {column.distinct_unmatched:,} different" if listed else ""
        rows.append(("match nothing", _rows(column.unmatched) + different))
    if column.declared == "bins" and column.unmatched:
        rows.append(("not a number or date", _rows(column.unparsable)))
        rows.append(("outside the edges", _rows(column.unmatched - column.unparsable)))
    if column.most_frequent:
        said = ", ".join(f"{printable(value)!r} ({count:,})" for value, count in column.most_frequent)
        rows.append(("most frequent of these", said))
    if column.unseen:
        more = f" and {len(column.unseen) - SHOWN_LEVELS:,} more" if len(column.unseen) > SHOWN_LEVELS else ""
        shown = ", ".join(printable(level) for level in column.unseen[:SHOWN_LEVELS])
        rows.append(("declared, never seen", f"{shown}{more} (fine: keep them)"))
    rows += [("advice", advice) for advice in column.advice]
    print_table(f"column {printable(column.name)} ({column.declared})", rows)


def _print_range(column: RangeCheck) -> None:
    rows = [
        ("nulls", _rows(column.nulls)),
        ("not a number", _rows(column.not_numbers)),
        ("below the range, clamped", _rows(column.below)),
        ("above the range, clamped", _rows(column.above)),
        *(
            (f"sums of a unit in a cell {end} the range, clamped", f"{number:,}")
            for end, number in (("below", column.totals_below), ("above", column.totals_above))
            if number is not None
        ),
        *(("advice", advice) for advice in column.advice),
    ]
    print_table(f"column {printable(column.name)} ({column.range})", rows)


def _print_units(units: UnitCheck) -> None:
    nowhere = f"{_rows(units.null_rows)} without a unit, not counted"
    say(f"{units.units:,} different values of {printable(units.column)}; {nowhere}")
    for table in units.tables:
        by = printable(" x ".join(table["by"])) or "the whole table"
        say(f"cells of a unit in {by}, quantiles: {_quantiles(table['quantiles'])}")
        say(f"rows of a unit in a cell, quantiles: {_quantiles(table['row_quantiles'])}")
        rows = [
            (
                f"{choice['max_cells']:,}",
                f"{choice['kept']:.2%}",
                f"{choice['units_cut']:,}",
                f"{choice['cut']:,.1f}",
                f"{choice['plus_minus']:,}",
            )
            for choice in table["choices"]
        ]
        say(f"what each --max-cells would cut, and its noise (pure, at epsilon = {units.epsilon:g}):")
        header = ("--max-cells", "pairs of unit and cell kept", "units cut", "cut from a cell, on average")
        print_table("", rows, header=(*header, "plus-minus at 95%"))
        say(
            f"Not private, since it comes from the data: --max-cells {table['recommended']:,} minimises "
            "plus-minus plus the number cut from a cell. The value you choose will be published: base it on what you "
            "know of such data."
        )


def _quantiles(found: dict[str, int]) -> str:
    return ", ".join(f"{float(q):.0%}: {number:,}" for q, number in found.items())


def _rows(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


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
