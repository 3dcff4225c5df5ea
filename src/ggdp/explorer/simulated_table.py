"""A simulated table of the shape that a plan asks for, and what a release of it would publish.

No data are read. What is simulated, of the numbers that the user types:

==========  ========================================================================================================
units       as many as were asked for, each with 1 + Poisson(a - 1) rows, where a rows on average were asked for
cells       a row is in a cell that is drawn for it: all cells equally likely, or (uneven) likely as 1, 1/2, 1/3, ...
            in a random order
values      of columns of statistics: range times a draw of the beta(2, 5) law, most of it in the lower half; of a
            column that is binned too, uniform in its bin
levels      of columns without declared levels: 20
==========  ========================================================================================================

The noise is that of the plan, drawn by the code of a release from a seed: the same settings show the same table.
The bundled tables are public, so their counts are shown as they are, instead of simulated ones.

What the table views show is computed here, in a process of its own, from plain values to plain values.
"""

from __future__ import annotations

import io
import math
from datetime import date, datetime, time, timedelta
from itertools import product
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from attrs import frozen

from ggdp import _validate, datasets
from ggdp._rounding import rounded_text
from ggdp.errors import ArgumentError
from ggdp.explorer.releasing import Asked, read_safely
from ggdp.explorer.typed_table import TypedTable, in_words_of_the_page
from ggdp.explorer.widgets import Picture
from ggdp.noise import SeededSource

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from numpy.typing import NDArray

    from ggdp.domain.column import Column
    from ggdp.tables import Table, TablePlan, TableRelease
    from ggdp.tables.statistics import Statistic


MOST_ROWS, MOST_CELLS = 1_000_000, 20_000
_OPEN_LEVELS = 20
BUNDLED = {"czech": datasets.czech, "mildew": datasets.mildew}


@frozen(kw_only=True)
class Simulation:
    """What is simulated.

    Parameters
    ----------
    units : int
        Number of units; rows, where no column of units is named.
    rows : float
        Rows of a unit on average, at least 1; without a column of units, 1.
    spread : {"even", "uneven"}
        How the rows are spread over the cells.
    seed : int
        Seed of the simulation and of its noise.
    """

    units: int = 10_000
    rows: float = 1.0
    spread: Literal["even", "uneven"] = "uneven"
    seed: int = 1

    def __attrs_post_init__(self) -> None:
        _validate.integer(units=self.units, at_least=1)
        _validate.integer(seed=self.seed, at_least=0)
        if not 1.0 <= self.rows <= 1000.0:
            raise ArgumentError("rows", self.rows, "must be from 1 to 1,000")
        if self.units * self.rows > MOST_ROWS:
            raise ArgumentError("units", self.units, f"must be at most {int(MOST_ROWS / self.rows):,} here")


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

    def published(self, column: str) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """Return the noisy numbers of a column and the ends of their intervals."""
        if column == "count":
            found = (self.table.count, self.table.lower, self.table.upper)
        else:
            found = next(tuple(each[1:]) for each in self.table.statistics if each.name == column)  # type: ignore[assignment]
        return tuple(ends.astype(np.float64) for ends in found)  # type: ignore[return-value]


def simulated_table(plan: TablePlan, simulation: Simulation) -> ShownTable:
    """Return a simulated table with what a run of the plan would publish of it.

    Examples
    --------
    >>> import ggdp
    >>> plan = ggdp.plan_table(by="ward", goal=ggdp.PureDP(1.0), domain={"ward": ["births", "eyes"]})
    >>> shown = simulated_table(plan, Simulation(units=500))
    >>> shown.names, int(shown.original["count"].sum()), shown.release.guarantee is None
    (('births', 'eyes'), 500, True)
    """
    by = list(plan.request.domains[0])
    generator = np.random.default_rng(simulation.seed)
    sizes = [_OPEN_LEVELS if column.kind == "open" else column.size for column in by]
    cells = math.prod(sizes)
    if cells > MOST_CELLS:
        expected = f"has {cells:,} cells; at most {MOST_CELLS:,} are simulated"
        raise ArgumentError("by", list(plan.request.by[0]), expected)
    # The unit of each row.
    units = np.arange(simulation.units)
    if plan.request.unit is not None and simulation.rows != 1.0:
        units = np.repeat(units, 1 + generator.poisson(simulation.rows - 1.0, simulation.units))
    ranks = np.arange(1.0, cells + 1.0) if simulation.spread == "uneven" else np.ones(cells)
    generator.shuffle(ranks)
    shares = 1.0 / ranks / (1.0 / ranks).sum()
    for axis, column in enumerate(by):
        if column.other_code is not None and _outside(column) is None:
            # Every value is declared: nothing else can occur.
            shares = shares * (np.unravel_index(np.arange(cells), sizes)[axis] != column.other_code)
    cell = generator.choice(cells, size=units.size, p=shares / shares.sum())
    codes = np.unravel_index(cell, sizes) if sizes else ()
    ranges = {name: _range(plan, name) for name in dict.fromkeys(each.column for each in plan.request.statistics)}
    columns: dict[str, Any] = {}
    for column, code in zip(by, codes, strict=True):
        columns[column.name] = _values(column, code, ranges.get(column.name), generator)
    for name, (low, high) in ranges.items():
        columns.setdefault(name, low + (high - low) * generator.beta(2.0, 5.0, units.size))
    if plan.request.unit is not None:
        columns[plan.request.unit] = units
    # Each unit counts once in a cell.
    counted = cell if units.size == units[-1] + 1 else np.unique(units * cells + cell) % cells
    original = {"count": np.bincount(counted, minlength=cells).astype(np.float64)}
    for statistic in plan.request.statistics:
        original |= _statistics(plan, statistic, np.asarray(columns[statistic.column]), cell, units, cells)
    return _release(plan, columns, original, sizes, simulation.seed, "simulated")


def bundled_table(plan: TablePlan, name: str, seed: int) -> ShownTable:
    """Return a bundled table with what a run of the plan would publish of it.

    Examples
    --------
    >>> import ggdp
    >>> plan = ggdp.plan_table(by="smoking", goal=ggdp.PureDP(1.0), domain={"smoking": ["no", "yes"]})
    >>> bundled_table(plan, "czech", 1).original["count"].tolist()
    [961.0, 880.0]
    """
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
    plan: TablePlan,
    columns: dict[str, Any],
    original: dict[str, NDArray[np.float64]],
    sizes: list[int],
    seed: int,
    origin: str,
) -> ShownTable:
    """Return rows with what a seeded run of the plan publishes of them."""
    import pyarrow as pa

    release: Any = plan.run(pa.table(columns), source=SeededSource(seed=seed))
    (table,) = release.tables
    keys = [column.to_pylist() for column in table.keys.columns]
    codes = []
    for column, labels in zip(table.domain, keys, strict=True):
        known = {str(label): code for code, label in enumerate(_labels(column))}
        codes.append([known[str(label)] for label in labels])
    rows = np.ravel_multi_index([np.array(code, dtype=np.int64) for code in codes], sizes) if codes else np.array([0])
    whole = original["count"] > 0
    return ShownTable(
        release=release,
        names=tuple(", ".join(map(str, key)) for key in zip(*keys, strict=True)) if keys else ("all rows",),
        original={name: numbers[rows] for name, numbers in original.items()},
        omitted=int(whole.sum() - whole[rows].sum()),
        origin=origin,
    )


def _range(plan: TablePlan, name: str) -> tuple[float, float]:
    found = plan.request.domain[name].values_in
    assert found is not None
    return float(found.low), float(found.high)


def _labels(column: Column) -> tuple[Any, ...]:
    """Return what is published for each code; of an open column, the levels that are simulated."""
    return tuple(f"level {number + 1}" for number in range(_OPEN_LEVELS)) if column.kind == "open" else column.labels


def _values(
    column: Column, codes: NDArray[np.int64], ends: tuple[float, float] | None, generator: np.random.Generator
) -> pa.Array | NDArray[np.float64]:
    """Return values of a column that are counted as the codes; with a range, numbers in their bins."""
    import pyarrow as pa

    if column.edges is not None and ends is not None and not column.dated:
        if column.size >= len(column.edges):
            expected = "has a level for other or missing values, and a statistic; the simulation has no such values"
            raise ArgumentError("column", column.name, expected)
        low, high = (np.clip(np.array(part, dtype=np.float64), *ends) for part in (column.edges[:-1], column.edges[1:]))
        return low[codes] + (high - low)[codes] * generator.random(codes.size) * (1.0 - 1e-9)
    values: list[Any] = list(column.levels or _labels(column))
    if column.edges is not None:
        values = [_inside(low, high) for low, high in zip(column.edges, column.edges[1:], strict=False)]
    # The levels that are declared come first, then those of other values and of none.
    values += [_outside(column)] if column.other_code == len(values) else []
    values += [None] if column.missing_code == len(values) else []
    return pa.array(values).take(pa.array(codes))


def _outside(column: Column) -> Any:  # noqa: ANN401 - a value as those of the column
    """Return a value that a column does not declare; none where every value is declared."""
    if column.kind == "text":
        return column.other
    if column.edges is not None:
        low, high = column.edges[0], column.edges[-1]
        finite = [edge for edge in (low, high) if isinstance(edge, date) or math.isfinite(edge)]
        if not finite:
            return None
        step: Any = timedelta(days=1) if column.dated else 1.0
        return _inside(low - step, low) if finite[0] == low else _inside(high + step, math.inf)
    if column.kind == "boolean":
        return None
    last: Any = max(column.levels or ())
    return last + (timedelta(days=1) if column.kind == "date" else 1)


def _inside(low: Any, high: Any) -> Any:  # noqa: ANN401 - numbers, or dates and times
    """Return a value of a bin."""
    if isinstance(low, date) or isinstance(high, date):
        # Bins may be of dates and times, and one end may be infinite.
        known = low if isinstance(low, date) else high - timedelta(days=1)
        return known if isinstance(known, datetime) else datetime.combine(known, time())
    if math.isfinite(low):
        return float(low)
    return float(high) - 1.0 if math.isfinite(high) else 0.0


def _added(values: NDArray[np.float64], place: NDArray[np.int64], places: int) -> NDArray[np.float64]:
    """Return the sum of the values of each place."""
    return np.bincount(place, weights=values, minlength=places).astype(np.float64)


def _statistics(
    plan: TablePlan,
    statistic: Statistic,
    values: NDArray[np.float64],
    cell: NDArray[np.int64],
    units: NDArray[np.int64],
    cells: int,
) -> dict[str, NDArray[np.float64]]:
    """Return a statistic of each cell: of rows, or of the one value that the rows of a unit in it become."""
    from ggdp.tables.statistics.statistic import MomentStatistic, Sum

    pairs, place = np.unique(units * cells + cell, return_inverse=True)
    added = _added(values, place, pairs.size)
    if not isinstance(statistic, Sum):
        added = added / np.bincount(place)
    added, where = np.clip(added, *_range(plan, statistic.column)), pairs % cells
    number = np.bincount(where, minlength=cells)
    total = _added(added, where, cells)
    if isinstance(statistic, Sum):
        return {statistic.names[0]: total}
    with np.errstate(invalid="ignore", divide="ignore"):
        if isinstance(statistic, MomentStatistic):
            mean = total / number
            spread = _added((added - mean[where]) ** 2, where, cells)
            return {statistic.names[0]: statistic.of_moments(mean, spread / number)}
    order = np.lexsort((added, where))
    ends = np.cumsum(number)
    found = {}
    for name, fraction in zip(statistic.names, statistic.fractions, strict=True):
        rank = np.maximum(np.ceil(fraction * number), 1).astype(np.int64) - 1
        taken = np.minimum(ends - number + rank, max(added.size - 1, 0))
        found[name] = np.where(number > 0, added[order][taken], math.nan)
    return found


@frozen(kw_only=True)
class TableResults:
    """A simulated or public table, and what a release would publish of it."""

    plan: tuple[tuple[str, str], ...]  # the plan, a name and a text in each
    zero: tuple[str, str]  # how many counts have an interval that includes 0, and what that number is
    said: tuple[str, ...]  # what is simulated or public, and what is left out
    picture: Picture  # the numbers before noise, and those that would be published
    csv: bytes  # the table with the numbers before noise
    columns: tuple[str, ...]  # the numbers that can be shown
    warnings: tuple[str, ...] = ()  # what the plan warns of


@frozen(kw_only=True)
class CheckResults:
    """Noise against what is cut off, on the data. NOT private."""

    notice: str
    said: tuple[str, ...]
    picture: Picture
    rows: tuple[tuple[str, ...], ...]
    recommended: int


def of_bundled(table: TypedTable, name: str) -> TypedTable:
    """Return a table of a bundled data set, with the levels that it has; without columns, of its first two."""
    whole = BUNDLED[name]()
    names = [column.strip() for column in table.by.split(",") if column.strip() in whole.columns]
    by = names or list(whole.columns[:2])
    levels = "\n".join(f"{column}={','.join(whole.levels(column))}" for column in by)
    named = ", ".join(by)
    return table.changed(by=named, levels=levels, bins="", statistics="", ranges="", unit="", max_cells=None)


def table_results(
    table: TypedTable,
    data: str,
    simulation: Simulation,
    column: str,
    *,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> TableResults:
    """Return what the view of a table shows; `data` is "simulated" or the name of a bundled table."""
    import pyarrow as pa
    from pyarrow.csv import write_csv

    from ggdp.tables.table_plan import summary_rows

    shown = _shown_table(table, data, simulation, progress)
    columns = tuple(shown.original)
    cells, share = len(shown.names), shown.including_zero
    zero = ("no cell", "would be published")
    if cells:
        zero = (
            f"{round(share * cells):,} of {cells:,}",
            f"counts ({round(100 * share)} %) have an interval that includes 0",
        )
    rows = shown.table.to_arrow()
    for name, numbers in shown.original.items():
        rows = rows.append_column(f"{shown.origin}_{name}", pa.array(numbers, mask=np.isnan(numbers)))
    csv = io.BytesIO()
    write_csv(rows, csv)
    return TableResults(
        plan=tuple(summary_rows(shown.release.plan)),
        zero=zero,
        said=tuple(_explain(shown, table, data, simulation)),
        picture=_picture(shown, column if column in columns else columns[0]),
        csv=csv.getvalue(),
        columns=columns,
        warnings=tuple(shown.release.request.warnings),
    )


def dots_results(
    table: TypedTable,
    data: str,
    simulation: Simulation,
    dots: int,
    *,
    progress: Callable[[int, int], None] = lambda _, __: None,
) -> Picture | None:
    """Return the dots of a few cells, from the smallest count to the largest; None where counts come from sums."""
    from ggdp.plots.previews import count_dots, dots_in_words, plot_count_dots
    from ggdp.tables.table_manifest import counted

    shown = _shown_table(table, data, simulation, progress)
    plan = shown.release.plan
    if not shown.names or plan.statistics is not None:
        return None
    order = np.argsort(shown.original["count"], kind="stable")
    places = np.unique(np.linspace(0, order.size - 1, min(3, order.size)).round().astype(int))
    noise = {"order": plan.mechanism.order, "scale": plan.mechanism.scale}
    cells = [
        count_dots(shown.names[place], int(shown.table.noisy_count[place]), dots=dots, **noise)
        for place in order[places].tolist()
    ]
    description = f"Quantile dot plots. {'; '.join(dots_in_words(cell) for cell in cells)}."
    figure = plot_count_dots(cells, unit=counted(plan.request))
    return Picture.of(figure, "table-dots", "What noisy counts say of the true ones", description)


def _shown_table(
    table: TypedTable, data: str, simulation: Simulation, progress: Callable[[int, int], None]
) -> ShownTable:
    progress(0, 3)
    plan = table.plan()
    progress(1, 3)
    with in_words_of_the_page(table.unit or None):
        shown = simulated_table(plan, simulation) if data == "simulated" else bundled_table(plan, data, simulation.seed)
    progress(2, 3)
    return shown


def _explain(shown: ShownTable, table: TypedTable, data: str, simulation: Simulation) -> list[str]:
    """Return what the numbers are, in sentences."""
    if data != "simulated":
        said = [f"Public data: {BUNDLED[data]().source}. The noise is drawn from seed {simulation.seed}."]
    else:
        unit = table.unit.strip()
        units = f"{simulation.units:,} values of {unit}" if unit else f"{simulation.units:,} rows"
        each = f", each with {rounded_text(simulation.rows)} rows on average" if unit else ""
        even = simulation.spread == "even"
        cells = "all cells equally likely" if even else "cells as likely as 1, 1/2, 1/3 and so on, in a random order"
        said = [f"Simulated, no data are read: {units}{each}, {cells}, from seed {simulation.seed}."]
        if table.statistics.strip():
            said.append("Values are drawn from the beta(2, 5) law on their range: most of them in its lower half.")
        if any(domain.is_open for domain in shown.release.request.domains):
            said.append("Columns without declared levels have 20 simulated ones.")
    if shown.omitted:
        cells = "cell that is not empty is" if shown.omitted == 1 else "cells that are not empty are"
        said.append(f"{shown.omitted:,} {cells} left out: their noisy counts are below the threshold.")
    if shown.table.covers is not None:
        said.append(f"The intervals cover: {shown.table.covers}.")
    return said


def _picture(shown: ShownTable, column: str) -> Picture:
    from ggdp.plots.previews import plot_original_and_noisy
    from ggdp.tables.table_manifest import number_of

    what = column.replace("_", " ", 1)
    noisy, lower, upper = shown.published(column)
    original = shown.original[column]
    figure = plot_original_and_noisy(shown.names, original, noisy, lower, upper, what=what, origin=shown.origin)
    known = np.isfinite(original) & np.isfinite(noisy)
    inside = int(((lower <= original) & (original <= upper))[known].sum())
    said = (
        f"The {what} of {number_of(len(shown.names), 'cell')}, {shown.origin} and noisy, with 95% intervals; "
        f"{inside:,} of {int(known.sum()):,} intervals cover the {shown.origin} value."
    )
    if shown.table.covers is not None:
        said += " They are for what is counted: people in more cells than that are missing from some."
    if known.any():
        error = np.abs(noisy - original)[known]
        largest, median = (rounded_text(float(number)) for number in (error.max(), np.median(error)))
        said += f" The largest error is {largest}, the median {median}."
    return Picture.of(figure, "table-beside", f"{what[0].upper()}{what[1:]}, {shown.origin} and noisy", said)


def check_results(asked: Asked, *, progress: Callable[[int, int], None]) -> CheckResults:
    """Return what ``ggdp check`` finds of the cells of units. NOT private."""
    from ggdp.plots.previews import plot_max_cells
    from ggdp.tables import check_table
    from ggdp.tables.source_check import NOTICE
    from ggdp.tables.table_manifest import number_of

    progress(0, 2)
    arguments = asked.table.checked()
    with read_safely(asked):
        found = check_table(asked.path, **arguments)
    progress(1, 2)
    assert found.units is not None
    table = found.units.tables[0]
    unit = asked.table.unit_name.strip() or "units"
    share = {choice["max_cells"]: choice for choice in table["choices"]}[table["recommended"]]
    nulls = found.units.null_rows
    without = f"; {number_of(nulls, 'row')} without one {'is' if nulls == 1 else 'are'} not counted" if nulls else ""
    said = [
        f"{found.units.units:,} different values of {found.units.column} in {found.rows:,} rows{without}.",
        f"Half of them are in at most {number_of(table['quantiles']['0.5'], 'cell')}, 95 of 100 in at most "
        f"{table['quantiles']['0.95']:,}, all in at most {table['quantiles']['1']:,}.",
        f"Noise and what is cut off together are least at {table['recommended']:,} cells per unit, where "
        f"{100 * share['kept']:.3g} % of what there is to count is kept. A number that will be published should be "
        "chosen by what is known of such data, not by this look at them.",
    ]
    description = "; ".join(
        f"{choice['max_cells']:,} cells: plus-minus {choice['plus_minus']:,}, {rounded_text(choice['cut'])} cut off"
        for choice in table["choices"]
    )
    rows = tuple(
        (
            f"{choice['max_cells']:,}",
            f"{choice['plus_minus']:,}",
            rounded_text(choice["cut"]),
            rounded_text(choice["plus_minus"] + choice["cut"]),
            f"{100 * choice['kept']:.4g} %",
            f"{choice['units_cut']:,}",
        )
        for choice in table["choices"]
    )
    title = "Noise against what is cut off, not private"
    return CheckResults(
        notice=NOTICE,
        said=tuple(said),
        picture=Picture.of(plot_max_cells(table, unit=unit), "max-cells", title, f"{title}: {description}."),
        rows=rows,
        recommended=table["recommended"],
    )
