"""Checks of requests for tables, from the request alone, before any data are opened.

Messages name other arguments in backticks, as in Python; the command line writes them as flags.
"""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from ggdp import _validate
from ggdp._rounding import rounded_text
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.tables.domain import MOST_CELLS
from ggdp.tables.statistics.statistic import Variance, published_names
from ggdp.tables.value_range import FEW_STEPS, MOST_STEPS

if TYPE_CHECKING:
    from ggdp.tables.request import TableRequest

# A published column, where units may be counted in fewer cells than they are in: what the interval covers, in words.
COVERS = "covers"
# Columns of counts that are published.
COUNTED = ("count", "noisy_count", "lower", "upper", COVERS)
# So many cells are released on the executors of Spark.
MOST_ON_EXECUTORS = 10**10
# More would not be told from one another in 64-bit noise.
MOST_ROWS = 10**12


def check_units(request: TableRequest) -> None:
    """Raise if units have no limit on their cells, or their column is also counted by."""
    if request.unit is None:
        if request.max_cells is not None:
            raise ArgumentError(
                "max_cells", request.max_cells, "needs `unit`: name the column that identifies the unit of each row"
            )
        return
    if not isinstance(request.unit, str) or not request.unit:
        kind = ArgumentError if isinstance(request.unit, str) else ArgumentTypeError
        raise kind("unit", request.unit, "must be the name of a column")
    if request.max_cells is None:
        raise ArgumentError(
            "unit",
            request.unit,
            "needs `max_cells`: in how many cells one unit is counted at most. More cells of a unit are left out at "
            "random, and the noise grows with the number; `ggdp check` shows how many cells units are in",
        )
    if any(request.unit in names for names in request.by):
        raise ArgumentError("unit", request.unit, "cannot also be counted by: each unit would have a cell of its own")
    if any(COVERS in names for names in request.by):
        raise ArgumentError("by", COVERS, "is the name of a published column; rename it in the source")


def check_order(request: TableRequest) -> None:
    """Raise if the order of the noise needs a delta."""
    if request.goal.delta == 0.0 and request.order not in ("auto", 1.0):
        raise ArgumentError("order", request.order, "needs a delta: give a `delta` above 0, or `order=1`")


def check_rows(request: TableRequest) -> None:
    """Raise if rows of units are counted without a limit."""
    _validate.choice(count=request.count, among=("units", "rows"))
    if request.count == "rows" and request.unit is None:
        raise ArgumentError(
            "count", request.count, "needs `unit`: without one each row is a unit, and rows are what is counted"
        )
    if request.count == "rows" and request.max_rows_per_cell is None:
        raise ArgumentError(
            "count",
            request.count,
            "needs `max_rows_per_cell`: how many rows of a unit are counted in one cell at most. The noise grows "
            "with the number; `ggdp check` shows how many rows units have in a cell",
        )
    if (request.max_rows_per_cell or 1) > MOST_ROWS:
        raise ArgumentError("max_rows_per_cell", request.max_rows_per_cell, "must be at most 10^12")
    if request.count != "rows" and request.max_rows_per_cell is not None:
        raise ArgumentError("max_rows_per_cell", request.max_rows_per_cell, 'needs `count="rows"`')


def check_regime(request: TableRequest) -> None:
    """Raise for undeclared columns without a delta, and for more cells than can be released."""
    counted_by = dict.fromkeys(name for names in request.by for name in names)
    unknown = [name for name in counted_by if name not in request.domain or request.domain[name].kind == "open"]
    if unknown and request.false_cells is not None:
        raise ArgumentError(
            "false_cells",
            request.false_cells,
            f"needs a declared domain, and column {unknown[0]!r} is not declared in `domain`",
        )
    if unknown and request.goal.delta == 0.0:
        declared = "the domain does not declare this column" if len(request.domain) else "no domain is given"
        known = [column.name for column in request.domain if column.kind != "open"]
        if near := get_close_matches(unknown[0], known, n=1):
            declared += f" (did you mean {near[0]!r}?)"
        raise ArgumentError(
            "by",
            unknown[0],
            f"{declared}: declare its levels or edges with `domain`; or give a `delta` above 0, then its levels are "
            "chosen privately and those of few units do not show",
        )
    for names, size in zip(request.by, request.sizes, strict=True):
        if size == 0:
            raise ArgumentError("by", list(names), "has no cell left: all of them are declared to be impossible")
    numbered = request.numbered_cells
    if numbered > MOST_CELLS:
        raise ArgumentError(
            "by", request.by, f"spans {rounded_text(numbered)} cells; at most 10^18 can be numbered: leave out columns"
        )
    if request.false_cells is not None and request.false_cells >= (request.cells or 0):
        raise ArgumentError("false_cells", request.false_cells, f"must be below the number of cells, {request.cells:,}")
    if request.false_cells is None and numbered > MOST_ON_EXECUTORS:
        raise too_many_cells(request, MOST_ON_EXECUTORS)


def check_cut(request: TableRequest) -> None:
    """Raise if units that are cut are counted where no unit can be cut, or their number limits nothing."""
    share = request.count_cut
    if share is None:
        return
    if share >= 1.0:
        raise ArgumentError("count_cut", share, "must be below 1: the rest of epsilon is for the cells")
    if request.unit is None:
        raise ArgumentError("count_cut", share, "needs `unit`: without one each row is counted in its one cell")
    if request.count == "rows":
        raise ArgumentError(
            "count_cut",
            share,
            'needs `count="units"`: a unit may lose any number of rows, so the number of such units limits nothing',
        )
    if not any(request.can_cut):
        raise ArgumentError(
            "count_cut", share, f"is not needed: `max_cells={request.max_cells}` counts every unit in all its cells"
        )


def check_total(request: TableRequest) -> None:
    """Raise if the public total could differ between neighbours."""
    if request.neighbours != "replace-one":
        raise ArgumentError(
            "total",
            request.total,
            'needs `neighbours="replace-one"`: adding or removing a unit would change the total',
        )
    if request.regime != "declared":
        raise ArgumentError("total", request.total, "needs all cells: use a declared domain without `false_cells`")
    if request.count == "rows":
        raise ArgumentError("total", request.total, 'needs `count="units"`: units may have different numbers of rows')
    if request.max_cells is not None and request.max_cells > 1:
        raise ArgumentError(
            "total",
            request.total,
            f"needs `max_cells=1`: with {request.max_cells} a unit may be in more cells than another",
        )


def check_statistics(request: TableRequest) -> None:
    """Raise if statistics have no public range, or are requested beside what they do not go with."""
    if request.by == ((),) and not request.statistics:
        raise ArgumentError("by", None, "names no column: counts need columns to count by")
    if not request.statistics:
        if request.per_unit is not None:
            raise ArgumentError("per_unit", request.per_unit, "needs `statistics`")
        if request.weights:
            raise ArgumentError("weights", dict(request.weights), "needs `statistics`")
        return
    for column in dict.fromkeys(statistic.column for statistic in request.statistics):
        if column not in request.domain or request.domain[column].values_in is None:
            raise ArgumentError(
                "statistics",
                column,
                "has no public range, which must be known without the data; declare one, with `range` or in the domain "
                f"([columns.{column}] range = [low, high])",
            )
        if column == request.unit:
            raise ArgumentError("statistics", column, "is the column of units, which has no statistics")
    for statistic in request.statistics:
        values = request.domain[statistic.column].values_in
        if isinstance(statistic, Variance) and values is not None and values.steps > FEW_STEPS:
            raise ArgumentError(
                "statistics",
                statistic.column,
                f"its range has {values.steps:,} steps, and a variance is computed on at most {FEW_STEPS:,}; declare a "
                "larger step",
            )
        if (
            request.unit is not None
            and (request.per_unit or statistic.rule) == "sum"
            and values is not None
            and max(abs(values.offset), abs(values.offset + values.steps)) > MOST_STEPS
        ):
            raise ArgumentError(
                "statistics",
                statistic.column,
                f"its range ends more than {MOST_STEPS:,} steps from 0, and the rows of a unit are added up in steps; "
                "declare a larger step",
            )
    published = {name for statistic in request.statistics for name in published_names(statistic)} | set(COUNTED)
    for name in (name for names in request.by for name in names):
        if name in published:
            raise ArgumentError("by", name, "is the name of a published column; rename it in the source")
    for name in dict(request.weights):
        if name not in {statistic.column for statistic in request.statistics}:
            raise ArgumentError("weights", name, "is not a column of `statistics`")
    if request.per_unit is not None and request.unit is None:
        raise ArgumentError("per_unit", request.per_unit, "needs `unit`: without one each row is a unit")
    if request.goal.notion == "probabilistic":
        raise ArgumentError(
            "goal",
            str(request.goal),
            "is probabilistic DP, for which no noise of sums is proved; use approximate or pure DP",
        )
    for name, value, why in (
        ("count", request.count if request.count == "rows" else None, "statistics are of units"),
        ("total", request.total, "counts come from the noisy sums"),
        ("count_cut", request.count_cut, "intervals of statistics cover the units counted"),
        ("false_cells", request.false_cells, "every cell is published"),
    ):
        if value is not None:
            raise ArgumentError(name, value, f"does not go with `statistics`: {why}")
    for names, regime in zip(request.by, request.regimes, strict=True):
        if regime == "open":
            raise ArgumentError(
                "by", list(names), "has a column without declared levels; statistics need declared levels or edges"
            )


def too_many_cells(request: TableRequest, most: int) -> ArgumentError:
    """Return the error for a declared table that is too large to be listed."""
    return ArgumentError(
        "by",
        request.by,
        f"spans {request.numbered_cells:,} cells, and at most {most:,} are released one by one; give `false_cells` "
        "(such as 1) for a sparse table, which leaves out those with small noisy counts, or leave out columns",
    )
