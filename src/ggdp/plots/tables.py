"""Released tables with their intervals: bars, a heat map of two columns, or points, by the number of cells."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.plots.intervals import (
    FEW,
    MOST_BARS,
    Drawn,
    Group,
    bars,
    heading,
    nothing,
    number_ticks,
    over_places,
    points,
    with_minus,
)
from ggdp.plots.style import (
    BLACK,
    COLUMN_WIDTH,
    DOUBLE_WIDTH,
    LINE,
    LONGEST,
    SIZE,
    SMALL,
    add_title,
    in_fonts,
    in_words,
    label,
    level_names,
    lines_of,
    new_figure,
    one_line,
    required,
    text_width,
    wrap,
)
from ggdp.tables import table_manifest as words
from ggdp.tables.statistics.released_statistics import shown_estimate
from ggdp.tables.table_release import TableRelease

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ggdp.domain.column import Level
    from ggdp.tables.statistics.released_statistics import PublishedStatistic
    from ggdp.tables.table_release import Table


# With the counts in it, a heat map has at most so many rows, and half as many columns.
_MOST_ROWS = 60
# In colours alone it has at most so many of both: then a cell has some dots of print each way.
_MOST_COLOURED = 400
# Inches of a coloured cell, and of the most and the least that such a panel has across and down.
_COLOURED, _WIDEST, _HIGHEST, _LEAST = 0.1, 5.2, 6.4, 2.4
# Inches of a row with counts in it, and of the bar of colours with its labels.
_ROW, _COLOUR_BAR = 0.2, 0.85
_ABSENT = "0.88"


class _Grid(NamedTuple):
    """Counts of two columns, the one with more levels from the top down; NaN where the table has no cell."""

    counts: NDArray[np.float64]
    rows: list[str]
    columns: list[str]
    down: str
    across: str

    @property
    def top(self) -> float:
        """The count of the darkest colour: the largest, or less if a few of them would leave the others pale."""
        present = self.counts[~np.isnan(self.counts)]
        most, usual = float(present.max()), float(np.quantile(present, 0.98))
        return max(usual if most > 4.0 * usual else most, 1.0)


def heat_map(drawn: Drawn, table: Table, title: str) -> Figure | None:
    """Return a heat map of a table of two columns, with the counts in it if there is room; None if it is too large."""
    short, long = sorted(len(column.unique()) for column in table.keys.columns)
    if long > _MOST_COLOURED:
        return None
    grid = _grid(table, drawn.values)
    with_counts = short <= _MOST_ROWS // 2 and long <= _MOST_ROWS
    figure, (axes,) = new_figure(COLUMN_WIDTH, COLUMN_WIDTH)
    wide, high = _with_counts(figure, drawn, grid) if with_counts else _in_colours(grid)
    step = [_step(len(grid.rows), high), _step(len(grid.columns), wide)]
    rows, columns = grid.rows[:: step[0]], grid.columns[:: step[1]]
    beside, below = text_width(figure, rows), text_width(figure, columns)
    # Names lie flat if they fit between two ticks.
    upright = below > 0.85 * wide * step[1] / len(grid.columns)
    down, across = wrap(figure, grid.down, max(high, 1.0)), wrap(figure, grid.across, wide)
    width = wide + beside + _COLOUR_BAR + LINE * lines_of(down) + 0.2
    caption = wrap(figure, _caption(drawn, table, grid), width - 0.2, SMALL)
    foot = (below if upright else LINE) + LINE * (lines_of(across) + lines_of(caption)) + 0.3
    figure.set_size_inches(width, max(high, text_width(figure, [down], SIZE)) + foot)
    label(axes, across, down)
    _draw(axes, drawn, grid, high)
    axes.set_xticks(range(0, len(grid.columns), step[1]), columns, fontsize=SMALL, rotation=90 if upright else 0)
    axes.set_yticks(range(0, len(grid.rows), step[0]), rows, fontsize=SMALL)
    axes.tick_params(length=0 if with_counts else 2.0, width=0.4)
    if with_counts:
        _write_counts(axes, grid)
    figure.supxlabel(caption, fontsize=SMALL)
    add_title(figure, title)
    return figure


def _grid(table: Table, values: NDArray[np.float64]) -> _Grid:
    keys: list[list[Level]] = [column.to_pylist() for column in table.keys.columns]
    levels = _in_order(keys, table)
    names = [list(level_names(column).values()) for column in levels]
    places = [{level: place for place, level in enumerate(column)} for column in levels]
    at = [np.array([place[level] for level in column]) for place, column in zip(places, keys, strict=True)]
    down, across = (0, 1) if len(names[0]) >= len(names[1]) else (1, 0)
    counts = np.full((len(names[down]), len(names[across])), np.nan)
    counts[at[down], at[across]] = values
    return _Grid(counts, names[down], names[across], one_line(table.by[down]), one_line(table.by[across]))


def _in_order(keys: list[list[Level]], table: Table) -> list[list[Level]]:
    """Return the levels of each column that are in the table, in the order of its domain; of an open one sorted."""
    found: list[list[Level]] = []
    for column, levels in zip(table.domain, keys, strict=True):
        present = set(levels)
        found.append([level for level in column.labels or sorted(map(str, present)) if level in present])
    return found


def _with_counts(figure: Figure, drawn: Drawn, grid: _Grid) -> tuple[float, float]:
    """Return the size of a panel with room for the counts in its cells."""
    cell = max(text_width(figure, (f"{count:,.0f}" for count in drawn.values), SMALL - 0.5) + 0.1, 0.24)
    wide = max(cell * len(grid.columns), COLUMN_WIDTH - _COLOUR_BAR - text_width(figure, grid.rows) - 0.4)
    return min(max(wide, 1.2), max(cell * len(grid.columns), 2 * DOUBLE_WIDTH)), _ROW * len(grid.rows)


def _in_colours(grid: _Grid) -> tuple[float, float]:
    """Return the size of a panel of colours alone."""
    high, wide = (
        min(max(_COLOURED * number, _LEAST), most)
        for number, most in zip(grid.counts.shape, (_HIGHEST, _WIDEST), strict=True)
    )
    return wide, high


def _step(number: int, inches: float) -> int:
    """Return which levels have room for their names: each one, each second, fifth, tenth and so on."""
    fewest = number * 1.1 * LINE / inches
    return next(step for size in (1, 10, 100) for step in (size, 2 * size, 5 * size) if step >= fewest)


def _draw(axes: Axes, drawn: Drawn, grid: _Grid, high: float) -> None:
    """Draw the cells and the bar that explains their colours."""
    import matplotlib as mpl
    from matplotlib.colors import Normalize

    colours: Any = mpl.colormaps["Blues"].with_extremes(bad=_ABSENT)
    norm = Normalize(0.0, grid.top)
    picture = axes.imshow(grid.counts, cmap=colours, norm=norm, aspect="auto", interpolation="nearest")
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    # Arrows where counts lie beyond the ends of the scale.
    below, above = np.nanmin(grid.counts) < 0.0, np.nanmax(grid.counts) > grid.top
    ends = {(True, True): "both", (True, False): "min", (False, True): "max", (False, False): "neither"}
    figure: Any = axes.get_figure(root=True)
    bar = figure.colorbar(
        picture, ax=axes, pad=0.02, fraction=0.06, aspect=max(8.0 * high, 8.0), extend=ends[bool(below), bool(above)]
    )
    bar.ax.tick_params(labelsize=SMALL, width=0.6, length=3.0)
    bar.outline.set_visible(False)
    number_ticks(bar.ax.yaxis, drawn, int(np.clip(high / 0.4, 2, 6)))
    bar.set_label(wrap(figure, drawn.axis_label(""), max(high, 1.0)), fontsize=SIZE)


def _write_counts(axes: Axes, grid: _Grid) -> None:
    for (row, place), count in np.ndenumerate(grid.counts):
        if not np.isnan(count):
            colour = "white" if count > 0.6 * grid.top else BLACK
            written = with_minus(f"{count:,.0f}")
            text = axes.text(place, row, written, ha="center", va="center", fontsize=SMALL - 0.5, color=colour)
            # Hundreds of them lie inside the panel anyway.
            text.set_in_layout(False)


def _caption(drawn: Drawn, table: Table, grid: _Grid) -> str:
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


COVERED = "95% interval"
# Inches of a panel of points, for the names below it.
_ACROSS = 6.0


def plot_table(
    release: TableRelease,
    *,
    table: int = 0,
    column: str | None = None,
    title: str | None = None,
    unit: str | None = None,
) -> Figure:
    """Return a figure of a released table, with the 95 % intervals of its counts or of a statistic.

    Up to 40 cells are bars, grouped by the first columns. More cells of two columns are a heat map on a linear scale,
    where cells that the table leaves out are grey: with the counts in it up to 60 x 30, in colours alone up to
    400 x 400. Other tables are bars in several panels up to 200 cells, and points beyond; from 2,000 on, neighbouring
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
    Count of rows by smokes
    1-DP under add-remove neighbours
    >>> figure.axes[0].get_xlabel()
    'count of rows, with its 95% interval'
    """
    shown = _table(required(TableRelease, release=release), table)
    statistic = _statistic(shown, column)
    if statistic is not None:
        return _statistic_figure(release, shown, statistic, title)
    unit = unit if unit is not None else words.counted(release.request)
    what = f"count of {one_line(required(str, unit=unit))}"
    values, lower, upper = (ends.astype(np.float64) for ends in (shown.count, shown.lower, shown.upper))
    covers = one_line(shown.covers or "", 200)
    drawn = Drawn(values, lower, upper, what, COVERED, covers, counts=True)
    name = f"{what[0].upper()}{what[1:]}" + (f" by {in_words(shown.by)}" if shown.by else "")
    said = heading(release.release, name if title is None else one_line(required(str, title=title), 200))
    return in_fonts(_figure(drawn, shown, said))


def _statistic(table: Table, column: object) -> PublishedStatistic | None:
    """Return the statistic to draw; None for the count."""
    if column == "count" or (column is None and not table.statistics):
        return None
    names = [statistic.name for statistic in table.statistics]
    if column is None:
        return table.statistics[0]
    if column not in names:
        raise ArgumentError("column", column, f"must be one of {', '.join(['count', *names])}")
    return table.statistics[names.index(str(column))]


def _in_words(name: str) -> str:
    """Return what a published column holds: "mean age" for mean_age, "0.5 quantile of age" for quantile_age_0.5."""
    kind, _, column = name.partition("_")
    if kind != "quantile":
        return f"{kind} {column}"
    column, _, fraction = column.rpartition("_")
    return f"{fraction} quantile of {column}"


def _statistic_figure(release: TableRelease, table: Table, statistic: PublishedStatistic, title: str | None) -> Figure:
    """Return bars or points of a statistic."""
    what = one_line(_in_words(statistic.name))
    covers = one_line(table.covers or "", 200)
    drawn = Drawn(statistic.value, statistic.lower, statistic.upper, what, COVERED, covers)
    name = f"{what[0].upper()}{what[1:]}" + (f" by {in_words(table.by)}" if table.by else "")
    said = heading(release.release, name if title is None else one_line(required(str, title=title), 200))
    if not len(table):
        return in_fonts(nothing(drawn, said))
    if len(table) > MOST_BARS:
        return in_fonts(_points(drawn, table, said))
    rows = table.to_arrow().to_pylist()
    numbers = [with_minus(shown_estimate(row, statistic.name)[0]) for row in rows]
    return in_fonts(_bars(drawn, table, said, numbers))


def _figure(drawn: Drawn, table: Table, title: str) -> Figure:
    """Return a figure of the kind that has room for the table."""
    if not len(table):
        return nothing(drawn, title)
    if len(table) > FEW and len(table.by) == 2:
        found = heat_map(drawn, table, title)
        if found is not None:
            return found
    if len(table) > MOST_BARS:
        return _points(drawn, table, title)
    return _bars(drawn, table, title, [with_minus(f"{count:,}") for count in table.count.tolist()])


def _table(release: TableRelease, table: object) -> Table:
    number = _validate.integer(table=table, at_least=0)
    if number >= len(release.tables):
        raise ArgumentError("table", table, f"must be below {len(release.tables)}, the number of tables")
    return release.tables[number]


def _is_sorted(table: Table) -> bool:
    """Return whether cells are sorted by count: if they are many, and their levels have no order of their own."""
    return len(table) > FEW and len(table.by) == 1 and table.domain.columns[0].kind in ("text", "open")


def _bars(drawn: Drawn, table: Table, title: str, numbers: list[str]) -> Figure:
    """Return bars; those that share all levels but the last stand together under these."""
    if not table.by:
        return bars(drawn, ["all rows"], title, numbers=numbers)
    keys: list[list[Level]] = [column.to_pylist() for column in table.keys.columns]
    called = [[names[level] for level in column] for names, column in zip(map(level_names, keys), keys, strict=True)]
    over = list(zip(*keys[:-1], strict=True))
    sizes = [len(list(rows)) for _, rows in groupby(over)]
    if len(keys) == 1 or 2 * len(sizes) > len(over):
        names = [", ".join(levels) for levels in zip(*called, strict=True)]
        side = one_line(", ".join(table.by))
        if not _is_sorted(table):
            return bars(drawn, names, title, side=side, numbers=numbers)
        order = np.argsort(-table.count, kind="stable").tolist()
        one = [Group(None, order)]
        return bars(drawn, names, title, side=f"{side}, sorted by count", groups=one, numbers=numbers)
    groups, first = [], 0
    for size in sizes:
        levels = zip(table.by[:-1], (column[first] for column in called), strict=False)
        head = ", ".join(f"{one_line(name, LONGEST)}: {level}" for name, level in levels)
        groups.append(Group(head, list(range(first, first + size))))
        first += size
    return bars(drawn, called[-1], title, side=one_line(table.by[-1]), groups=groups, numbers=numbers)


def _points(drawn: Drawn, table: Table, title: str) -> Figure:
    """Return points; of one column, some levels are named."""
    if len(table.by) > 1:
        figure = points(drawn, title)
        over_places(figure.axes[0], drawn, one_line(f"cells by {', '.join(table.by)}, the last fastest"))
        return figure
    order = np.argsort(-table.count, kind="stable") if _is_sorted(table) else np.arange(len(table))
    figure = points(drawn.in_order(order), title)
    over_places(figure.axes[0], drawn, one_line(table.by[0]) + (", sorted by count" if _is_sorted(table) else ""))
    keys = table.keys.column(0)
    for step in (step for size in (10, 100, 1000) for step in (size, 2 * size, 5 * size)):
        places = list(range(0, len(table), step))
        names = list(level_names([keys[int(order[place])].as_py() for place in places]).values())
        if (text_width(figure, names) + 0.15) * len(table) / step <= _ACROSS or len(places) <= 2:
            figure.axes[0].set_xticks(places, names, fontsize=SMALL)
            break
    return figure
