"""Released tables with their intervals: bars, a heat map of two columns, or points, by the number of cells."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggdp import _validate
from ggdp.domain.value_range import LevelRanges
from ggdp.errors import ArgumentError
from ggdp.plots import intervals, style
from ggdp.tables import table_manifest as words
from ggdp.tables.request import PERCENT
from ggdp.tables.statistics.released_statistics import shown_estimate
from ggdp.tables.table_release import Table, TableRelease

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ggdp.domain.column import Level


# With the counts in it, a heat map has at most so many rows, and half as many columns. Inches of the color bar with its
# labels.
_MOST_ROWS, _COLOR_BAR = 60, 0.85


class _Grid(NamedTuple):
    """Counts of two columns, the one with more levels from the top down; NaN where the table has no cell."""

    counts: NDArray[np.float64]
    rows: list[str]
    columns: list[str]
    down: str
    across: str

    @property
    def top(self) -> float:
        """The count of the darkest color: the largest, or less if a few of them would leave the others pale."""
        present = self.counts[~np.isnan(self.counts)]
        most, usual = float(present.max()), float(np.quantile(present, 0.98))
        return max(usual if most > 4.0 * usual else most, 1.0)


def heat_map(drawn: intervals.Series, table: Table, title: str) -> Figure:
    """Return a heat map of a table of two columns, with the counts in it if there is room."""
    grid = _grid(table, drawn.values)
    with_counts = len(grid.columns) <= _MOST_ROWS // 2 and len(grid.rows) <= _MOST_ROWS
    figure, (axes,) = style.new_figure(style.COLUMN_WIDTH, style.COLUMN_WIDTH)
    import matplotlib as mpl
    from matplotlib.colors import Normalize

    beside = style.text_width(figure, grid.rows)
    if with_counts:
        counts = (f"{count:,.0f}" for count in drawn.values)
        cells = max(style.text_width(figure, counts, style.SMALL - 0.5) + 0.1, 0.24) * len(grid.columns)
        wide = max(cells, style.COLUMN_WIDTH - _COLOR_BAR - beside - 0.4)
        wide, high = min(max(wide, 1.2), max(cells, 2 * style.DOUBLE_WIDTH)), 0.2 * len(grid.rows)
    else:
        high, wide = (min(max(0.1 * size, 2.4), most) for size, most in zip(grid.counts.shape, (6.4, 5.2), strict=True))
    step = [_step(len(grid.rows), high), _step(len(grid.columns), wide)]
    rows, columns = grid.rows[:: step[0]], grid.columns[:: step[1]]
    beside, below = style.text_width(figure, rows), style.text_width(figure, columns)
    # Names lie flat if they fit between two ticks.
    upright = below > 0.85 * wide * step[1] / len(grid.columns)
    down, across = style.wrap(figure, grid.down, max(high, 1.0)), style.wrap(figure, grid.across, wide)
    width = wide + beside + _COLOR_BAR + style.LINE * style.lines_of(down) + 0.2
    caption = style.wrap(figure, _caption(drawn, table, grid), width - 0.2, style.SMALL)
    foot = (below if upright else style.LINE) + style.LINE * (style.lines_of(across) + style.lines_of(caption)) + 0.3
    figure.set_size_inches(width, max(high, style.text_width(figure, [down], style.SIZE)) + foot)
    style.label(axes, across, down)
    # Cells that the table leaves out are gray.
    colors: Any = mpl.colormaps["Blues"].with_extremes(bad="0.88")
    norm = Normalize(0.0, grid.top)
    picture = axes.imshow(grid.counts, cmap=colors, norm=norm, aspect="auto", interpolation="nearest")
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    # The bar that explains the colors, with arrows where counts lie beyond the ends of the scale.
    beyond = bool(np.nanmin(grid.counts) < 0.0), bool(np.nanmax(grid.counts) > grid.top)
    ends = {(True, True): "both", (True, False): "min", (False, True): "max", (False, False): "neither"}[beyond]
    bar: Any = figure.colorbar(picture, ax=axes, pad=0.02, fraction=0.06, aspect=max(8.0 * high, 8.0), extend=ends)
    bar.ax.tick_params(labelsize=style.SMALL, width=0.6, length=3.0)
    bar.outline.set_visible(False)
    intervals.number_ticks(bar.ax.yaxis, drawn, int(np.clip(high / 0.4, 2, 6)))
    bar.set_label(style.wrap(figure, drawn.axis_label(""), max(high, 1.0)), fontsize=style.SIZE)
    axes.set_xticks(range(0, len(grid.columns), step[1]), columns, fontsize=style.SMALL, rotation=90 if upright else 0)
    axes.set_yticks(range(0, len(grid.rows), step[0]), rows, fontsize=style.SMALL)
    axes.tick_params(length=0 if with_counts else 2.0, width=0.4)
    if with_counts:
        for (row, place), count in np.ndenumerate(grid.counts):
            if not np.isnan(count):
                text = axes.text(place, row, intervals.with_minus(f"{count:,.0f}"), ha="center", va="center")
                text.set(fontsize=style.SMALL - 0.5, color="white" if count > 0.6 * grid.top else style.BLACK)
                # Hundreds of them lie inside the panel anyway.
                text.set_in_layout(False)
    figure.supxlabel(caption, fontsize=style.SMALL)
    style.add_title(figure, title)
    return figure


def _grid(table: Table, values: NDArray[np.float64]) -> _Grid:
    keys: list[list[Level]] = [column.to_pylist() for column in table.keys.columns]
    names, at = [], []
    for column, levels in zip(table.domain, keys, strict=True):
        present = set(levels)
        # Levels in the order of the domain; those of an open column are sorted.
        ordered = [level for level in column.labels or sorted(map(str, present)) if level in present]
        places = {level: place for place, level in enumerate(ordered)}
        names.append(list(style.level_names(ordered).values()))
        at.append(np.array([places[level] for level in levels]))
    down, across = (0, 1) if len(names[0]) >= len(names[1]) else (1, 0)
    counts = np.full((len(names[down]), len(names[across])), np.nan)
    counts[at[down], at[across]] = values
    return _Grid(counts, names[down], names[across], style.one_line(table.by[down]), style.one_line(table.by[across]))


def _step(number: int, inches: float) -> int:
    """Return which levels have room for their names: each one, each second, fifth, tenth and so on."""
    fewest = number * 1.1 * style.LINE / inches
    return next(step for size in (1, 10, 100) for step in (size, 2 * size, 5 * size) if step >= fewest)


def _caption(drawn: intervals.Series, table: Table, grid: _Grid) -> str:
    """Return in words how far the intervals reach from the noisy counts, and what the ends of the scale are."""
    below, above = (table.noisy_count - table.lower, table.upper - table.noisy_count)
    most = int(max(below.max(), above.max()))
    said = [f"{drawn.covered}s reach up to {most:,} from the noisy count"]
    if int(min(below.min(), above.min())) == most:
        said = [f"{drawn.covered}: plus-minus {most:,} around each noisy count"]
    if drawn.covers:
        said.append(f"the interval covers {drawn.covers}")
    largest = float(np.nanmax(grid.counts))
    if largest > grid.top:
        said.append(f"darkest: {grid.top:,.0f} and more (up to {largest:,.0f})")
    if np.isnan(grid.counts).any():
        said.append("grey: not in the table")
    return "; ".join(said)


def plot_table(
    release: TableRelease,
    *,
    table: int = 0,
    column: str | None = None,
    title: str | None = None,
    unit: str | None = None,
) -> Figure:
    """Return a figure of a released table, with the 95% intervals of its counts or of a statistic.

    Up to 40 cells are bars, grouped by the first columns. More cells of two columns are a heat map on a linear scale,
    where cells that the table leaves out are gray: with the counts in it up to 60 x 30, in colors alone up to
    400 x 400. Other tables are bars in several panels up to 200 cells, and points beyond; from 2,000 on, neighboring
    cells are drawn together by their range. Bars and points are in the order of the table, but more than 40 levels of
    text are sorted by their counts. Statistics are bars or points; one that is null has its interval only.

    Parameters
    ----------
    release : TableRelease
        The release.
    table : int, default 0
        Which of its tables.
    column : str, optional
        What to draw: "count", or a published statistic such as "mean_age"; by default the first statistic, if there is
        one, or else the count.
    title : str, optional
        Title of the figure, above the guarantee; by default what is counted, by which columns. A table that is not
        private is always called so.
    unit : str, optional
        What is counted, such as patients; by default rows, or different values of the column of units.

    Examples
    --------
    >>> import ggdp, pyarrow
    >>> people, levels = pyarrow.table({"smokes": ["no", "yes", "no"]}), {"smokes": ["no", "yes"]}
    >>> release = ggdp.release_table(people, by="smokes", goal=ggdp.PureDP(1.0), domain=levels)
    >>> figure = plot_table(release)
    >>> print(figure.get_suptitle())
    Noisy count of rows by smokes
    1-DP under add-remove neighbours
    >>> figure.axes[0].get_xlabel()
    'noisy count of rows, with its 95% interval'
    """
    style.require(TableRelease, release=release)
    number = _validate.integer(table=table, at_least=0)
    if number >= len(release.tables):
        raise ArgumentError("table", table, f"must be below {len(release.tables)}, the number of tables")
    shown = release.tables[number]
    statistics = {statistic.name: statistic for statistic in shown.statistics}
    column = next((name for name in statistics if name != PERCENT), "count") if column is None else column
    names = ["count", *statistics]
    if column not in names:
        raise ArgumentError("column", column, f"must be one of {', '.join(names)}")
    counts, on_axis = column == "count", ""
    if counts:
        unit = unit if unit is not None else words.counted_noun(release.plan.request)
        what = f"noisy count of {style.one_line(style.require(str, unit=unit))}"
        values, lower, upper = (ends.astype(np.float64) for ends in (shown.count, shown.lower, shown.upper))
    else:
        # "mean age" for mean_age, "0.5 quantile of age" for quantile_age_0.5.
        kind, _, about = column.partition("_")
        about, _, fraction = about.rpartition("_") if kind == "quantile" else (about, "", "")
        what = style.one_line(f"{fraction} quantile of {about}" if fraction else f"{kind} {about}".strip())
        published = statistics[column]
        values, lower, upper = published.value, published.lower, published.upper
        # None where it is of percentages.
        measured = next((one for one in release.plan.request.each_statistic if column in one.names), None)
        ranges = None if measured is None else release.plan.request.values_in(measured.column)
        if measured is not None and isinstance(ranges, LevelRanges):
            # Levels may have other units, so they share an axis of percentages. Numbers beside bars are as they are.
            ends = {
                level: max(abs(one.low), abs(one.high)) for level, one in zip(ranges.levels, ranges.ranges, strict=True)
            }
            whole = np.array([float(ends[level]) for level in shown.keys[ranges.by].to_pylist()])
            whole, kind = (whole**2, "square") if measured.squares else (whole, "value")
            values, lower, upper = (100.0 * numbers / whole for numbers in (values, lower, upper))
            on_axis = f"{what}, in % of the largest {kind} of its {style.one_line(ranges.by)}"
    covers = style.one_line(shown.covers or "", 200)
    drawn = intervals.Series(values, lower, upper, on_axis or what, "95% interval", covers, counts)
    name = f"{what[0].upper()}{what[1:]}" + (f" by {style.in_words(shown.by)}" if shown.by else "")
    name = name if title is None else style.one_line(style.require(str, title=title), 200)
    said = intervals.heading(release.release, name)
    most_levels = max((len(keys.unique()) for keys in shown.keys.columns), default=0)
    if not len(shown):
        figure = intervals.nothing(drawn, said)
    # A cell of a heat map is at least a few dots of print each way.
    elif counts and len(shown) > intervals.FEW and len(shown.by) == 2 and most_levels <= 400:
        figure = heat_map(drawn, shown, said)
    elif len(shown) > intervals.MOST_BARS:
        figure = _points(drawn, shown, said)
    else:
        numbers = [f"{count:,}" for count in shown.count.tolist()]
        if not counts:
            numbers = [shown_estimate(row, column, shown.digits)[0] for row in shown.to_arrow().to_pylist()]
        figure = _bars(drawn, shown, said, list(map(intervals.with_minus, numbers)))
    return style.in_fonts(figure)


def _is_sorted(table: Table) -> bool:
    """Return whether cells are sorted by count: if they are many, and their levels have no order of their own."""
    return len(table) > intervals.FEW and len(table.by) == 1 and table.domain.columns[0].kind in ("text", "open")


def _bars(drawn: intervals.Series, table: Table, title: str, numbers: list[str]) -> Figure:
    """Return bars; those that share all levels but the last stand together under these."""
    if not table.by:
        return intervals.bars(drawn, ["all rows"], title, numbers=numbers)
    keys: list[list[Level]] = [column.to_pylist() for column in table.keys.columns]
    called = [[names[level] for level in column] for column in keys for names in (style.level_names(column),)]
    over = list(zip(*keys[:-1], strict=True))
    sizes = [len(list(rows)) for _, rows in groupby(over)]
    if len(keys) == 1 or 2 * len(sizes) > len(over):
        names = [", ".join(levels) for levels in zip(*called, strict=True)]
        side = style.one_line(", ".join(table.by))
        if not _is_sorted(table):
            return intervals.bars(drawn, names, title, side=side, numbers=numbers)
        order = np.argsort(-table.count, kind="stable").tolist()
        side = f"{side}, sorted by count"
        return intervals.bars(drawn, names, title, side=side, groups=[(None, order)], numbers=numbers)
    groups: list[intervals.Group] = []
    first = 0
    for size in sizes:
        levels = zip(table.by[:-1], (column[first] for column in called), strict=False)
        head = ", ".join(f"{style.one_line(name, style.LONGEST)}: {level}" for name, level in levels)
        groups.append((head, range(first, first + size)))
        first += size
    return intervals.bars(drawn, called[-1], title, side=style.one_line(table.by[-1]), groups=groups, numbers=numbers)


def _points(drawn: intervals.Series, table: Table, title: str) -> Figure:
    """Return points; of one column, some levels are named."""
    order = np.argsort(-table.count, kind="stable") if _is_sorted(table) else np.arange(len(table))
    if len(table.by) > 1:
        return intervals.points(drawn, title, style.one_line(f"cells by {', '.join(table.by)}, the last fastest"))
    along = style.one_line(table.by[0]) + (", sorted by count" if _is_sorted(table) else "")
    figure = intervals.points(drawn.reorder(order), title, along)
    keys = table.keys.column(0)
    for step in (step for size in (10, 100, 1000) for step in (size, 2 * size, 5 * size)):
        places = list(range(0, len(table), step))
        names = list(style.level_names([keys[int(order[place])].as_py() for place in places]).values())
        if (style.text_width(figure, names) + 0.15) * len(table) / step <= 6.0 or len(places) <= 2:
            figure.axes[0].set_xticks(places, names, fontsize=style.SMALL)
            break
    return figure
