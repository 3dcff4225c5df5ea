"""What a request must not ask for: parts that do not go together, and more than can be released or proved.

Nothing here depends on the data. The first refusal is raised when the request is made (`ggdp.tables.request`).
"""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from typing import TypeAlias

from ggdp._rounding import rounded_text
from ggdp.domain.table_domain import MOST_CELLS
from ggdp.domain.value_range import FEW_STEPS, MOST_STEPS
from ggdp.errors import ArgumentError, ArgumentTypeError, Message
from ggdp.tables.request import AUTO, COUNTS, COVERS, PERCENT, ROW, TableRequest
from ggdp.tables.statistics.statistic import published_names

# Up to this many cells are released on the executors of Spark.
MOST_ON_EXECUTORS = 10**10
# Decimal digits of statistics.
MOST_DIGITS = 15
# More could not be distinguished in 64-bit noise.
MOST_ROWS = 10**12
# What is wrong with a request: the argument, its value, and what is expected of it.
_Refusals: TypeAlias = Iterator[tuple[str, object, str]]


def refusals(request: TableRequest) -> _Refusals:
    """Yield what of a request does not go together, the first first; nothing depends on the data."""
    if request.goal.delta == 0.0 and request.order not in (AUTO, 1.0):
        yield "order", request.order, Message("needs a delta: give a {delta} above 0, or {order:1}")
    if request.goal.neighbours not in (None, request.neighbours):
        words = "is not for {stated!r} neighbours; pass {neighbours:{wanted}}"
        said = Message(words, stated=request.neighbours, wanted=request.goal.neighbours)
        yield "goal", str(request.goal), said
    yield from _refused_units(request)
    yield from _refused_domains(request)
    yield from _refused_adjustments(request)
    yield from _refused_shares(request)
    if request.statistics:
        yield from _refused_statistics(request)
        return
    if request.by == ((),):
        yield "by", None, "names no column: counts need columns to count by"
    if request.per_unit is not None:
        yield "per_unit", request.per_unit, Message("needs {statistics}")
    if request.weights:
        yield "weights", dict(request.weights), Message("needs {statistics}")
    if request.digits is not None and request.percent_of is None:
        yield "digits", request.digits, Message("needs {statistics} or {percent_of}: counts are whole numbers")


def _refused_units(request: TableRequest) -> _Refusals:
    """Yield why units cannot be counted: without a limit on their cells and rows, or by their own column."""
    unit, rows = request.unit, request.max_rows_per_cell
    if unit is None and request.max_cells is not None:
        said = Message("needs {unit}: name the column that identifies the unit of each row")
        if request.unit_is_row:
            said = Message("does not go with {unit:row}, unless that is a column: then {unit_is_row:False}")
        yield "max_cells", request.max_cells, said
    if unit is not None:
        if request.unit_is_row:
            yield "unit", unit, Message("does not go with {unit:row}: units are the rows, or the values of a column")
        if not isinstance(unit, str):
            raise ArgumentTypeError("unit", unit, "must be the name of a column")
        if not unit:
            yield "unit", unit, "must be the name of a column"
        if request.max_cells is None:
            words = (
                "needs {max_cells}: in how many cells one unit is counted at most. More cells of a unit are left out "
                "at random, and the noise grows with the number; `ggdp check` shows how many cells units are in"
            )
            yield "unit", unit, Message(words + ("; if each row is a unit, {unit:row} alone" if unit == ROW else ""))
        if unit in request.domain and request.domain[unit].term is not None:
            yield "unit", unit, "is a derived column; name a column of the data that identifies whom each row is about"
        if any(unit in names for names in request.by):
            yield "unit", unit, "cannot also be counted by: each unit would have a cell of its own"
        if any(COVERS in names for names in request.by):
            yield "by", COVERS, "is the name of a published column; rename it in the source"
    if request.count == "rows" and unit is None:
        yield "count", "rows", Message("needs {unit}: without one each row is a unit, and rows are what is counted")
    if request.count == "rows" and rows is None:
        said = Message(
            "needs {max_rows_per_cell}: how many rows of a unit are counted in one cell at most. The noise grows "
            "with the number; `ggdp check` shows how many rows units have in a cell"
        )
        yield "count", "rows", said
    if (rows or 1) > MOST_ROWS:
        yield "max_rows_per_cell", rows, "must be at most 10^12"
    if request.count != "rows" and rows is not None:
        yield "max_rows_per_cell", rows, Message("needs {count:rows}")


def _refused_domains(request: TableRequest) -> _Refusals:
    """Yield undeclared columns without a delta, and more cells than can be released."""
    counted_by = dict.fromkeys(name for names in request.by for name in names)
    unknown = [name for name in counted_by if name not in request.domain or request.domain[name].kind == "open"]
    for name in unknown:
        if name in request.domain and request.domain[name].complete:
            words = "has no declared levels, so a row without a key is not counted: declare them, or take complete out"
            yield f"complete of {name!r}", True, words
    if unknown and request.false_cells is not None:
        said = Message("needs a declared domain, and column {column!r} is not declared in {domain}", column=unknown[0])
        yield "false_cells", request.false_cells, said
    if unknown and request.goal.delta == 0.0:
        declared = "the domain does not declare this column" if len(request.domain) else "no domain is given"
        known = [column.name for column in request.domain if column.kind != "open"]
        if near := get_close_matches(unknown[0], known, n=1):
            declared += f" (did you mean {near[0]!r}?)"
        said = Message(
            "{declared}: declare its levels or edges with {domain}; or give a {delta} above 0, then its levels are "
            "chosen privately and those of few units do not show",
            declared=declared,
        )
        yield "by", unknown[0], said
    for names, size in zip(request.by, request.sizes, strict=True):
        if size == 0:
            yield "by", list(names), "has no cell left: all of them are declared to be impossible"
    numbered, false_cells = request.numbered_cells, request.false_cells
    if numbered > MOST_CELLS:
        words = f"spans {rounded_text(numbered)} cells; at most 10^18 can be numbered: leave out columns"
        yield "by", request.by, words
    if false_cells is not None and false_cells >= (request.cells or 0):
        yield "false_cells", false_cells, f"must be below the number of cells, {request.cells:,}"
    if false_cells is None and numbered > MOST_ON_EXECUTORS:
        raise too_many_cells(request, MOST_ON_EXECUTORS)


def _refused_adjustments(request: TableRequest) -> _Refusals:
    """Yield why units over the limit cannot be counted, and why a total could differ between neighbours."""
    most, share, total = request.max_cells, request.count_cut, request.total
    if share is not None:
        if share >= 1.0:
            yield "count_cut", share, "must be below 1: the rest of epsilon is for the cells"
        if request.unit is None:
            yield "count_cut", share, Message("needs {unit}: without one each row is counted in its one cell")
        if request.count == "rows":
            words = (
                "needs {count:units}: a unit may lose any number of rows, so the number of such units limits nothing"
            )
            yield "count_cut", share, Message(words)
        if not any(request.limits_units):
            words = "is not needed: {max_cells:{most}} counts every unit in all its cells"
            yield "count_cut", share, Message(words, most=most)
    if total is not None:
        if request.neighbours != "replace-one":
            words = "needs {neighbours:replace-one}: adding or removing a unit would change the total"
            yield "total", total, Message(words)
        if request.regime != "declared":
            yield "total", total, Message("needs all cells: use a declared domain without {false_cells}")
        if request.count == "rows":
            yield "total", total, Message("needs {count:units}: units may have different numbers of rows")
        if (most or 1) > 1:
            words = "needs {max_cells:1}: with {most} a unit may be in more cells than another"
            yield "total", total, Message(words, most=most)
        # Counts up to this are fitted to a total exactly.
        if total > 2**53:
            yield "total", total, "must be at most 2^53"


def _refused_shares(request: TableRequest) -> _Refusals:
    """Yield too many digits, and why counts cannot be shown in percent: not all cells of a total are published."""
    if (request.digits or 0) > MOST_DIGITS:
        yield "digits", request.digits, f"must be at most {MOST_DIGITS}: floats have no more"
    if (of := request.percent_of) is None:
        return
    shown = ",".join(of) or "all cells"
    if request.statistics:
        yield (
            "percent_of",
            shown,
            Message("does not go with {statistics}: request percentages in a release of their own"),
        )
    elif request.regime != "declared":
        words = "needs every cell of a total: declare the levels, and leave {false_cells} out; small counts are missing"
        yield "percent_of", shown, Message(words)
    for names in request.by:
        if not {*of} < {*names}:
            words = (
                "must be some, and not all, of the columns of {by} of each table: else each count is all of its total"
            )
            yield "percent_of", shown, Message(words)
        if clash := {*names} & {PERCENT, f"{PERCENT}_lower", f"{PERCENT}_upper"}:
            yield "by", min(clash), "is the name of a published column; rename it in the source"


def _refused_statistics(request: TableRequest) -> _Refusals:
    """Yield statistics without a public range, and what statistics do not go with."""
    measured = dict.fromkeys(statistic.column for statistic in request.each_statistic)
    tables = list(zip(request.by, request.domains, request.table_statistics, strict=True))
    for column in measured:
        by = request.domain[column].range_by if column in request.domain else None
        among = [(names, domain) for names, domain, asked in tables if any(one.column == column for one in asked)]
        if by is not None and any(by not in names or domain[by].kind == "open" for names, domain in among):
            words = (
                "has a range for each level of {other!r}, so a cell must be of one level: declare its levels and name "
                "it in {by} of every table with this statistic, or declare one range for the column"
            )
            yield "statistics", column, Message(words, other=by)
        elif column not in request.domain or request.values_in(column) is None:
            words = (
                "has no public range, which must be known without the data; declare one, with {range} or in the domain "
                "([columns.{column}] range = [low, high])"
            )
            yield "statistics", column, Message(words, column=column)
        if column == request.unit:
            yield "statistics", column, "is the column of units, which has no statistics"
    for statistic in request.each_statistic:
        values = request.values_in(statistic.column)
        assert values is not None
        if statistic.squares and values.steps > FEW_STEPS:
            said = f"its range has {values.steps:,} steps, and a {statistic.kind} is computed on at most {FEW_STEPS:,}"
            yield "statistics", statistic.column, f"{said}; declare a larger step"
        is_summed = request.unit is not None and (request.per_unit or statistic.rule) == "sum"
        if is_summed and max(one.furthest for one in values.ranges) > MOST_STEPS:
            said = f"its range ends more than {MOST_STEPS:,} steps from 0, and the rows of a unit are added up in steps"
            yield "statistics", statistic.column, f"{said}; declare a larger step"
    for names, statistics in zip(request.by, request.table_statistics, strict=True):
        published = {name for statistic in statistics for name in published_names(statistic)} | {*COUNTS, COVERS}
        for name in published.intersection(names):
            yield "by", name, "is the name of a published column; rename it in the source"
    for name, _ in request.weights:
        if name not in measured:
            yield "weights", name, Message("is not a column of {statistics}")
    if request.per_unit is not None and request.unit is None:
        yield "per_unit", request.per_unit, Message("needs {unit}: without one each row is a unit")
    if request.goal.notion == "probabilistic":
        said = "is probabilistic DP, for which no noise of sums is proved; use approximate or pure DP"
        yield "goal", str(request.goal), said
    for name, value, why in (
        ("count", request.count if request.count == "rows" else None, "statistics are of units"),
        ("total", request.total, "counts come from the noisy sums"),
        ("count_cut", request.count_cut, "intervals of statistics cover the units counted"),
    ):
        if value is not None:
            yield name, value, Message("does not go with {statistics}: {why}", why=why)


def too_many_cells(request: TableRequest, most: int) -> ArgumentError:
    """Return the error for a declared table that is too large to be listed."""
    said = Message(
        "spans {cells:,} cells, and at most {most:,} are released one by one; give {false_cells} (such as 1) for a "
        "sparse table, which leaves out those with small noisy counts, or leave out columns",
        cells=request.numbered_cells,
        most=most,
    )
    return ArgumentError("by", request.by, said)
