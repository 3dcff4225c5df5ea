"""Released tables with their intervals: bars, a heat map, or points, depending on the number of cells."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.plots.heatmaps import heat_map
from ggdp.plots.intervals import FEW, MOST_BARS, Drawn, Group, bars, nothing, over_places, points, with_minus
from ggdp.plots.names import LONGEST, in_words, level_names, one_line
from ggdp.plots.releases import heading
from ggdp.plots.style import SMALL, required
from ggdp.plots.text import in_fonts, text_width
from ggdp.tables import unit_descriptions as words
from ggdp.tables.release import TableRelease
from ggdp.tables.statistics.published import shown_estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ggdp.tables.column import Level
    from ggdp.tables.release import Table
    from ggdp.tables.statistics.published import PublishedStatistic

__all__ = ["plot_table"]

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
