"""The commands on tables.

===============  ================================================================
``ggdp release``  from a table to a private table and its manifest
``ggdp check``    compare a source with its domain before a release; not private
``ggdp range``    a range for the values of a column, found privately
===============  ================================================================

What a release prints is a function of the request and of the released values, on both streams and in every error.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ggdp.cli.flags import CHECK, RANGE, RELEASE, Source, arguments_of, named_as_flags, takes_flags
from ggdp.cli.output import print_json, print_table, printable, say, working
from ggdp.errors import BudgetExceededError, GgdpError, PrivacyWarning
from ggdp.signatures import signature_file, signing_key
from ggdp.tables.request import CheckArguments, RangeArguments, TableRequest

if TYPE_CHECKING:
    from ggdp.tables import Table, TablePlan
    from ggdp.tables.source_check import ColumnCheck, UnitCheck

REGIMES = {
    "declared": "a release would publish every cell, including empty ones",
    "sparse": "too many cells to publish them all: a release needs --false-cells and omits small noisy counts",
    "open": "a column has no declared levels: a release needs --delta and omits levels with few units",
    "mixed": "declared tables would be complete; open tables need --delta and omit levels with few units",
}
SHOWN_ROWS = 20
SHOWN_LEVELS = 10


@takes_flags(RELEASE)
def release(source: Source, **given: Any) -> None:  # noqa: ANN401 - flags
    """Publish counts and statistics under differential privacy.

    A table is counted by public columns. --dry-run plans it without reading a row.
    """
    if given["out"] is None and not given["dry_run"]:
        raise typer.BadParameter("give a file to write to, or --dry-run", param_hint="'--out'")
    with named_as_flags(given):
        # Before all that takes time, and before anything is charged.
        sign = given["sign"]
        ask = partial(typer.prompt, "Passphrase of the key", hide_input=True, err=True)
        key = None if sign is None else signing_key(sign, ask if sys.stdin.isatty() else None)
        from ggdp.tables.table_plan import plan_request, summary_rows

        request = TableRequest(**arguments_of(given, TableRequest))
        with working("choosing the noise"):
            plan = plan_request(request, engine=given["engine"] or "duckdb", out=given["out"], plot=given["plot"])
        print_warnings(request.warnings)
        if given["dry_run"]:
            _print_plan(plan, plan.to_dict(), summary_rows(plan), given)
            return
        with _releasing(plan.files):
            released = plan.run(source, sign=key, **{name: given[name] for name in _OF_RUNS})
    described = plan.files[len(plan.request.by)]
    manifest = getattr(released, "written_manifest", None) or released.manifest
    files = [str(file) for file in (*plan.files, *([] if key is None else [signature_file(described)]))]
    if given["json"]:
        print_json({"files": files, "manifest": manifest})
        return
    for table, file in zip(getattr(released, "tables", ()), plan.files, strict=False):
        _print_rows(table, file, str(released.guarantee))
    say(manifest["statement"])
    say("Written: " + ", ".join(files))


@takes_flags(CHECK)
def check(source: Source, **given: Any) -> None:  # noqa: ANN401 - flags
    """Compare a source with its domain before a release. NOT PRIVATE: the output must not be published."""
    with named_as_flags(given):
        asked = arguments_of(given, CheckArguments)
        from ggdp.tables.source_check import NOTICE, check_table

        with working("counting"):
            found = check_table(source, **asked)
    if given["json"]:
        print_json(found.to_dict())
        return
    say(NOTICE)
    say(f"{_rows(found.rows)}; {REGIMES[found.regime]}")
    # Statistics of all rows have one cell, and no row is outside of it.
    if found.marginals:
        print_table(
            "",
            [
                (
                    " x ".join(table.by),
                    "not known" if table.cells is None else f"{table.cells:,}",
                    f"{table.filled:,}",
                    f"{found.rows - table.rows:,}",
                    f"{table.impossible_rows:,}",
                )
                for table in found.marginals
            ],
            header=("table", "cells", "with rows in them", "rows not counted", "of these in impossible cells"),
        )
    if (text := found.text) is not None:
        rows = [("records", f"{text.records:,}"), (f"text that is not valid {text.encoding}", _rows(text.invalid))]
        if text.not_objects is None:
            rows.append(("with more fields than the header", _rows(text.surplus)))
            rows.append(("line ends inside records, blank lines", f"{text.further_lines:,}"))
        else:
            rows.append(("not JSON objects", _rows(text.not_objects)))
        rows.append(("with line ends inside", _rows(text.with_line_ends)))
        print_table("file", [*rows, *(("advice", advice) for advice in text.advice)])
    for column in found.columns:
        _print_column(column)
    for measured in found.ranges:
        ends = (("below", measured.totals_below), ("above", measured.totals_above))
        rows = [
            ("nulls", _rows(measured.nulls)),
            ("not a number", _rows(measured.not_numbers)),
            ("below the range, clamped", _rows(measured.below)),
            ("above the range, clamped", _rows(measured.above)),
            *(
                (f"sums of a unit in a cell {end} the range, clamped", f"{number:,}")
                for end, number in ends
                if number is not None
            ),
            *(("advice", advice) for advice in measured.advice),
        ]
        print_table(f"column {printable(measured.name)} ({measured.range})", rows)
    if found.units is not None:
        _print_units(found.units)


@takes_flags(RANGE)
def private_range(
    source: Source,
    column: Annotated[str, typer.Argument(metavar="COL", help="A column of numbers.")],
    **given: Any,  # noqa: ANN401 - flags
) -> None:
    """Find a range to clamp a column to, privately.

    The range is on a doubling scale. Finding it spends the budget.
    """
    with named_as_flags(given, by="COL"):
        from ggdp.tables.clamping_range import plan_range

        asked = arguments_of(given, RangeArguments)
        with working("choosing the noise"), warnings.catch_warnings():
            # They are printed below.
            warnings.simplefilter("ignore", PrivacyWarning)
            plan = plan_range(column, **asked | {"engine": asked["engine"] or "duckdb"})
        print_warnings(plan.histogram.request.warnings)
        if given["dry_run"]:
            _print_plan(plan.histogram, plan.to_dict(), plan.summary_rows(), given)
            return
        with _releasing([] if given["out"] is None else [given["out"]]):
            found = plan.run(source, **{name: given[name] for name in _OF_RUNS})
    if given["json"]:
        print_json(found.to_dict())
        return
    if found.flag is not None:
        say(f"lower  {found.lower!r}\nupper  {found.upper!r}\n{printable(found.flag)}")
    say(printable(found.statement))
    say(f"It is {found.guarantee}.")


_OF_RUNS = ("temp_dir", "overwrite", "ledger", "analyst")


@contextmanager
def _releasing(files: Iterable[Path]) -> Iterator[None]:
    """Run a release, and say afterwards if it replaced files of an earlier one.

    Errors that are not ours, which might quote data, are replaced by one without a reason; notes are kept.
    """
    replaces = any(file.exists() for file in files)
    try:
        with working("counting"):
            yield
    except (GgdpError, MemoryError):
        raise
    except Exception as failed:
        message = "the release failed, and nothing was published. The reason is not shown, since it might reveal data"
        error = GgdpError(message)
        for note in getattr(failed, "__notes__", ()):
            error.add_note(note)
        raise error from None
    if replaces:
        print_warnings(["an earlier output is replaced; each run spends the privacy budget again"])


def print_warnings(warnings: Iterable[str]) -> None:
    """Print warnings to standard error."""
    for warning in warnings:
        say(f"warning: {warning}", err=True)


def _print_plan(
    plan: TablePlan, document: dict[str, Any], rows: Sequence[tuple[str, str]], given: Mapping[str, Any]
) -> None:
    """Print what a plan says, and whether it fits in what remains of a ledger, if one is given."""
    fit: dict[str, Any] = {}
    if given["ledger"] is not None:
        from ggdp.ledger import Ledger

        fit = {"fits": True}
        try:
            Ledger(given["ledger"]).require_fit(plan, given["analyst"])
        except BudgetExceededError as refused:
            fit = {"fits": False, "refusal": str(refused)}
    if given["json"]:
        print_json(document | fit)
        return
    from ggdp.tables.table_plan import TITLE

    print_table(f"dry run: {TITLE}", rows)
    if fit:
        refusal = fit.get("refusal", "")
        say("It fits in what remains of the ledger." if fit["fits"] else f"{refusal[0].upper()}{refusal[1:]}.")


def _print_rows(table: Table, file: Path, guarantee: str) -> None:
    from ggdp.tables.statistics.released_statistics import shown_estimate

    first = table.to_arrow().slice(0, SHOWN_ROWS).to_pylist()
    cells = [tuple(printable(row[name]) for name in table.by) for row in first]
    estimates = {"count": [(f"{row['count']:,}", f"{row['lower']:,} to {row['upper']:,}") for row in first]}
    for statistic in table.statistics:
        estimates[statistic.name] = [shown_estimate(row, statistic.name) for row in first]
    covers = "" if table.covers is None else f"; the intervals cover: {table.covers}"
    say(printable(f"{' x '.join(table.by) or 'all rows'}, {guarantee}{covers}"))
    # More than one statistic beside the counts is too wide for a terminal: each has a table of its own.
    for names in [list(estimates)] if len(estimates) <= 2 else [[name] for name in estimates]:
        header = [*table.by, *(text for name in names for text in (name, "95% interval"))]
        columns = zip(*(estimates[name] for name in names), strict=True)
        rows = [(*cell, *chain.from_iterable(shown)) for cell, shown in zip(cells, columns, strict=True)]
        print_table("", rows, header=tuple(map(printable, header)))
    if len(table) > SHOWN_ROWS:
        more = len(table) - SHOWN_ROWS
        say(f"({more:,} more {'row' if more == 1 else 'rows'} in {file})")
    if not first:
        say("(no cell has a noisy count at or above the threshold)")


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


def _print_units(units: UnitCheck) -> None:
    nowhere = f"{_rows(units.null_rows)} without a unit, not counted"
    say(f"{units.units:,} different values of {printable(units.column)}; {nowhere}")
    for table in units.tables:
        by = printable(" x ".join(table["by"])) or "the whole table"
        say(f"cells of a unit in {by}, quantiles: {_quantiles(table['quantiles'])}")
        say(f"rows of a unit in a cell, quantiles: {_quantiles(table['row_quantiles'])}")
        rows = [
            (f"{most:,}", f"{kept:.2%}", f"{units_cut:,}", f"{cut:,.1f}", f"{error:,}")
            for most, kept, cut, units_cut, error in (choice.values() for choice in table["choices"])
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
