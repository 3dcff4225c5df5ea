"""A simulated table of the shape that a plan asks for, and what a release of it would publish.

No data are read. What is simulated, of the numbers that the user types:

- as many units as were asked for, each with 1 + Poisson(a - 1) rows, where a rows on average were asked for;
- the cell of a row: all cells equally likely, or (uneven) likely as 1, 1/2, 1/3, ... in a random order;
- values for statistics: range times a draw of the beta(2, 5) law; of a column that is binned too, uniform in its bin.

The noise is that of the plan, drawn by the code of a release from a seed: the same settings show the same table.
The bundled tables are public, so their counts are shown as they are, instead of simulated ones.
"""

from __future__ import annotations

import math
from datetime import date, datetime, time, timedelta
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ggdp import datasets
from ggdp._records import frozen
from ggdp.domain.value_range import LevelRanges
from ggdp.errors import ArgumentError
from ggdp.explorer import settings as fields
from ggdp.noise import SeededSource

if TYPE_CHECKING:
    import pyarrow as pa

    from ggdp.domain.column import Column
    from ggdp.tables import Table, TablePlan, TableRelease
    from ggdp.tables.statistics.statistic import Statistic


MOST_ROWS, MOST_CELLS = 1_000_000, 20_000
_OPEN_LEVELS = 20
BUNDLED = {"czech": datasets.czech, "mildew": datasets.mildew}


@frozen(kw_only=True, slots=False)
class Simulation:
    """What is simulated, as settings of a view."""

    units: int = fields.number(100, low=1, high=MOST_ROWS, whole=True)  # rows, where no column of units is named
    rows: float = fields.number(1.0, low=1.0, high=50.0, scale="linear")  # of a unit, on average
    spread: str = fields.choice("uneven", "even")  # how the rows are spread over the cells
    seed: int = fields.number(1, low=0, high=10_000, scale="linear", whole=True)  # of the simulation and of its noise


@frozen(kw_only=True, eq=False)
class ShownTable:
    """A table that is simulated or public, and what was released of it, row by row."""

    release: TableRelease  # the release; seeded, so without a guarantee
    names: tuple[str, ...]  # the cell of each row
    # The numbers before noise, for ``count`` and each statistic: one for each row, NaN where there is none.
    original: dict[str, NDArray[np.float64]]
    omitted: int  # cells that are not empty and that the release leaves out
    origin: str  # what the numbers before noise are: "simulated" or "original"

    @property
    def table(self) -> Table:
        """The released table."""
        return self.release.tables[0]

    @property
    def including_zero(self) -> float:
        """The share of cells whose interval of the count includes 0; NaN of a table without cells."""
        within = (self.table.lower <= 0) & (self.table.upper >= 0)
        return float(within.mean()) if within.size else math.nan

    def estimates(self, column: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the noisy numbers of a column and the ends of their intervals."""
        found: Any = (column, self.table.count, self.table.lower, self.table.upper)
        if column != "count":
            found = next(each for each in self.table.statistics if each.name == column)
        _, values, lower, upper = found
        return values.astype(np.float64), lower.astype(np.float64), upper.astype(np.float64)


def simulate_table(plan: TablePlan, simulation: Simulation) -> ShownTable:
    """Return a simulated table with what a run of the plan would publish of it."""
    by = list(plan.request.domains[0])
    generator = np.random.default_rng(simulation.seed)
    sizes = [_OPEN_LEVELS if column.kind == "open" else column.size for column in by]
    cells = math.prod(sizes)
    if cells > MOST_CELLS:
        expected = f"has {cells:,} cells; at most {MOST_CELLS:,} are simulated"
        raise ArgumentError("by", list(plan.request.by[0]), expected)
    rows = 1.0 if plan.request.unit is None else simulation.rows
    if simulation.units * rows > MOST_ROWS:
        raise ArgumentError("units", simulation.units, f"must be at most {int(MOST_ROWS / rows):,} here")
    # The unit of each row.
    units = np.arange(simulation.units)
    if rows != 1.0:
        units = np.repeat(units, 1 + generator.poisson(rows - 1.0, simulation.units))
    ranks = np.arange(1.0, cells + 1.0) if simulation.spread == "uneven" else np.ones(cells)
    generator.shuffle(ranks)
    shares = 1.0 / ranks / (1.0 / ranks).sum()
    for axis, column in enumerate(by):
        if column.other is not None and _undeclared_value(column) is None:
            # Every value is declared: nothing else can occur.
            shares = shares * (np.unravel_index(np.arange(cells), sizes)[axis] != column.other_code)
    cell = generator.choice(cells, size=units.size, p=shares / shares.sum())
    codes = np.unravel_index(cell, sizes) if sizes else ()
    # The ends of the ranges of cells.
    ranges = {each.column: _ranges(plan, each.column, sizes) for each in plan.request.each_statistic}
    columns: dict[str, Any] = {}
    for column, code in zip(by, codes, strict=True):
        ends = ranges[column.name][:, cell] if column.name in ranges else None
        columns[column.name] = _values(column, code, ends, generator)
    for name, (low, high) in ranges.items():
        columns.setdefault(name, low[cell] + (high - low)[cell] * generator.beta(2.0, 5.0, units.size))
    if plan.request.unit is not None:
        columns[plan.request.unit] = units
    # Each unit counts once in a cell.
    counted = cell if units.size == units[-1] + 1 else np.unique(units * cells + cell) % cells
    original = {"count": np.bincount(counted, minlength=cells).astype(np.float64)}
    for statistic in plan.request.each_statistic:
        values = np.asarray(columns[statistic.column])
        original |= _statistics(statistic, values, ranges[statistic.column], cell, units, cells)
    return _release(plan, columns, original, sizes, simulation.seed, "simulated")


def show_bundled_table(plan: TablePlan, name: str, seed: int) -> ShownTable:
    """Return a bundled table with what a run of the plan would publish of it."""
    whole = BUNDLED[name]()
    by = list(plan.request.domains[0])
    for column in by:
        if column.name not in whole.columns:
            raise ArgumentError("by", column.name, f"is not a column of this table: {', '.join(whole.columns)}")
    rows = dict(zip(whole.columns, zip(*whole.rows(), strict=True), strict=True))
    counted = whole.margin(*(column.name for column in by))
    keys = product(*(map(str, column.labels) for column in by))
    cells = np.array([counted.get(key, 0) for key in keys], dtype=np.float64)
    columns = {column.name: rows[column.name] for column in by}
    return _release(plan, columns, {"count": cells}, [column.size for column in by], seed, "original")


def _release(
    plan: TablePlan, columns: dict[str, Any], original: dict[str, Any], sizes: list[int], seed: int, origin: str
) -> ShownTable:
    """Return rows with what a seeded run of the plan publishes of them."""
    import pyarrow as pa

    release: Any = plan.run(pa.table(columns), rng=SeededSource(seed=seed))
    (table,) = release.tables
    keys = [column.to_pylist() for column in table.keys.columns]
    codes = []
    for column, labels in zip(table.domain, keys, strict=True):
        known = {str(label): code for code, label in enumerate(_labels(column))}
        codes.append(np.array([known[str(label)] for label in labels], dtype=np.int64))
    rows = np.ravel_multi_index(codes, sizes) if codes else np.array([0])
    whole = original["count"] > 0
    names = tuple(", ".join(map(str, key)) for key in zip(*keys, strict=True)) if keys else ("all rows",)
    before = {name: numbers[rows] for name, numbers in original.items()}
    omitted = int(whole.sum() - whole[rows].sum())
    return ShownTable(release=release, names=names, original=before, omitted=omitted, origin=origin)


def _ranges(plan: TablePlan, name: str, sizes: list[int]) -> NDArray[np.float64]:
    """Return the lower and the upper ends of the ranges of a column in cells."""
    values, cells = plan.request.values_in(name), math.prod(sizes)
    assert values is not None
    ends = np.array([(float(one.low), float(one.high)) for one in values.ranges]).T
    if isinstance(values, LevelRanges):
        return ends[:, np.unravel_index(np.arange(cells), sizes)[plan.request.by[0].index(values.by)]]
    return np.repeat(ends, cells, axis=1)


def _labels(column: Column) -> tuple[Any, ...]:
    """Return what is published for each code; of an open column, the levels that are simulated."""
    return tuple(f"level {number + 1}" for number in range(_OPEN_LEVELS)) if column.kind == "open" else column.labels


def _values(
    column: Column, codes: NDArray[np.int64], ends: NDArray[np.float64] | None, generator: np.random.Generator
) -> pa.Array | NDArray[np.float64]:
    """Return values of a column that are counted as the codes; with a range, numbers in their bins."""
    import pyarrow as pa

    if column.edges is not None and ends is not None and not column.dated:
        if column.size >= len(column.edges):
            expected = "has a level for other or missing values, and a statistic; the simulation has no such values"
            raise ArgumentError("column", column.name, expected)
        edges = (np.array(part, dtype=np.float64) for part in (column.edges[:-1], column.edges[1:]))
        low, high = (np.clip(edge[codes], *ends) for edge in edges)
        return low + (high - low) * generator.random(codes.size) * (1.0 - 1e-9)
    values: list[Any] = list(column.levels or _labels(column))
    if column.edges is not None:
        values = [_value_in_bin(low, high) for low, high in zip(column.edges, column.edges[1:], strict=False)]
    # The levels that are declared come first, then those of other values and of none.
    values += [_undeclared_value(column)] if column.other_code == len(values) else []
    values += [None] if column.missing_code == len(values) else []
    return pa.array(values).take(pa.array(codes))


def _undeclared_value(column: Column) -> Any:  # noqa: ANN401 - a value as those of the column
    """Return a value that a column does not declare; none where every value is declared."""
    if column.kind == "text":
        return column.other
    if column.edges is not None:
        low, high = column.edges[0], column.edges[-1]
        finite = [edge for edge in (low, high) if isinstance(edge, date) or math.isfinite(edge)]
        if not finite:
            return None
        step: Any = timedelta(days=1) if column.dated else 1.0
        return _value_in_bin(low - step, low) if finite[0] == low else _value_in_bin(high + step, math.inf)
    if column.kind == "boolean":
        return None
    last: Any = max(column.levels or ())
    return last + (timedelta(days=1) if column.kind == "date" else 1)


def _value_in_bin(low: Any, high: Any) -> Any:  # noqa: ANN401 - numbers, or dates and times
    if isinstance(low, date) or isinstance(high, date):
        # Bins may be of dates and times, and one end may be infinite.
        known = low if isinstance(low, date) else high - timedelta(days=1)
        return known if isinstance(known, datetime) else datetime.combine(known, time())
    if math.isfinite(low):
        return float(low)
    return float(high) - 1.0 if math.isfinite(high) else 0.0


def _statistics(
    statistic: Statistic,
    values: NDArray[np.float64],
    ends: NDArray[np.float64],
    cell: NDArray[np.int64],
    units: NDArray[np.int64],
    cells: int,
) -> dict[str, NDArray[np.float64]]:
    """Return a statistic of each cell: of rows, or of the one value that the rows of a unit in it become."""
    from ggdp.tables.statistics.statistic import MomentStatistic, Sum

    pairs, place = np.unique(units * cells + cell, return_inverse=True)
    added: NDArray[np.float64] = np.bincount(place, weights=values).astype(np.float64)
    if not isinstance(statistic, Sum):
        added = added / np.bincount(place)
    where = pairs % cells
    added = np.clip(added, *ends[:, where])
    number = np.bincount(where, minlength=cells)
    total: NDArray[np.float64] = np.bincount(where, weights=added, minlength=cells).astype(np.float64)
    if isinstance(statistic, Sum):
        return {statistic.names[0]: total}
    if isinstance(statistic, MomentStatistic):
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = total / number
            spread = np.bincount(where, weights=(added - mean[where]) ** 2, minlength=cells)
            return {statistic.names[0]: statistic.of_moments(mean, spread / number)}
    order = np.lexsort((added, where))
    ends = np.cumsum(number)
    found = {}
    for name, fraction in zip(statistic.names, statistic.fractions, strict=True):
        rank = np.maximum(np.ceil(fraction * number), 1).astype(np.int64) - 1
        chosen = np.minimum(ends - number + rank, max(added.size - 1, 0))
        found[name] = np.where(number > 0, added[order][chosen], math.nan)
    return found
