"""``ggdp check``: compare a source with its domain before a release. Not private."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

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
from ggdp.cli.statistics import (
    MeanOf,
    PerUnit,
    QuantileOf,
    Range,
    SumOf,
    VarianceOf,
    flags_of,
    require_columns_or_statistics,
    statistics_of,
    with_ranges,
)

if TYPE_CHECKING:
    from ggdp.tables.check_result import ColumnCheck, RangeCheck, TableCheck, UnitCheck
    from ggdp.tables.check_text import TextCheck

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
        from ggdp.tables.check import check_table
        from ggdp.tables.check_result import NOTICE

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
