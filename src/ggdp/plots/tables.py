"""Released tables with their intervals: bars, a heat map, or points, by how many cells there are."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.plots.releases import FEW, MANY, PLACE, Drawn, bands, bars, bars_at, heading, nothing, points
from ggdp.plots.style import BLACK, COLUMN_WIDTH, DOUBLE_WIDTH, SIZE, SMALL, in_lines, label, new_figure, required
from ggdp.tables.release import TableRelease

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ggdp.tables.column import Level
    from ggdp.tables.release import Table

__all__ = ["plot_table"]

# A heat map has at most so many rows, and half as many columns.
MOST_ROWS = 60
# Where names are longer they are cut.
LONGEST = 36
COVERED = "95% interval"
# Inches of a letter and of a line of small print.
LETTER, LINE = 0.058, 0.16
ABSENT = "0.93"


def plot_table(release: TableRelease, *, table: int = 0, title: str | None = None, unit: str | None = None) -> Figure:
    """Return a figure of a released table, with the 95 % intervals of its counts.

    Up to 40 cells are bars, grouped by the first columns. More cells of two columns are a heat map with the counts in
    it, where cells that the table leaves out are grey. Others are points in the order of the table; from 2,000 on,
    neighbours are drawn together by their range.

    Parameters
    ----------
    release : TableRelease
        The release.
    table : int, default 0
        Which of its tables.
    title : str, optional
        Title of the figure; the guarantee where none is given. A table that is not private is always called so.
    unit : str, optional
        What is counted; rows, or the units of a column, where nothing is given.

    Examples
    --------
    >>> import ggdp, pyarrow
    >>> people, levels = pyarrow.table({"smokes": ["no", "yes", "no"]}), {"smokes": ["no", "yes"]}
    >>> release = ggdp.release_table(people, by="smokes", goal=ggdp.PureDP(1.0), domain=levels)
    >>> plot_table(release).axes[0].get_xlabel()
    'count (rows), with its 95% interval'
    """
    shown = _table(required(TableRelease, release=release), table)
    column = release.request.unit
    what = unit if unit is not None else "rows" if column is None else f"units of {column}"
    values, lower, upper = (ends.astype(np.float64) for ends in (shown.count, shown.lower, shown.upper))
    drawn = Drawn(values, lower, upper, f"count ({_plain(required(str, unit=what))})", COVERED)
    said = heading(release.release, None if title is None else _plain(required(str, title=title)))
    if not len(shown):
        return nothing(drawn, said)
    if len(shown) <= FEW:
        return _few(drawn, _keys(shown), shown.by, said)
    if len(shown.by) == 2 and _fits(shown):
        return _heat_map(drawn, _keys(shown), shown, said)
    figure = points(drawn, said) if len(shown) < MANY else bands(drawn, said)
    _name_places(figure.axes[0], shown)
    return figure


def _table(release: TableRelease, table: object) -> Table:
    number = _validate.integer(table=table, at_least=0)
    if number >= len(release.tables):
        raise ArgumentError("table", table, f"must be below {len(release.tables)}, the number of tables")
    return release.tables[number]


def _plain(text: object, most: int = 2 * LONGEST) -> str:
    """Return text for one line of a figure, with nothing that would be read as a formula."""
    line = "".join(sign if sign.isprintable() else "\N{MIDDLE DOT}" for sign in str(text))
    cut = line if len(line) <= most else line[: most - 1] + "\N{HORIZONTAL ELLIPSIS}"
    return cut.replace("$", r"\$")


def _name(level: Level) -> str:
    """Return what a level is called in a figure."""
    return _plain(str(level).lower() if isinstance(level, bool) else level, LONGEST)


def _keys(table: Table) -> list[list[Level]]:
    """Return the levels of each row, column by column."""
    return [column.to_pylist() for column in table.keys.columns]


def _few(drawn: Drawn, keys: list[list[Level]], by: tuple[str, ...], said: str) -> Figure:
    """Return bars; those that share all levels but the last stand together under these."""
    over = list(zip(*keys[:-1], strict=True))
    groups = [(key, len(list(rows))) for key, rows in groupby(over)]
    if len(keys) == 1 or 2 * len(groups) > len(over):
        names = [", ".join(map(_name, levels)) for levels in zip(*keys, strict=True)]
        figure = bars(drawn, names, names, said)
        figure.axes[0].set_ylabel(_plain(", ".join(by)), fontsize=SIZE)
        return figure
    heads = [
        ", ".join(f"{_plain(name, LONGEST)}: {_name(level)}" for name, level in zip(by, key, strict=False))
        for key, _ in groups
    ]
    names = [_name(level) for level in keys[-1]]
    width = max(COLUMN_WIDTH, 0.8 + LETTER * max(map(len, heads)), 2.6 + LETTER * max(map(len, names)))
    figure, (axes,) = new_figure(width, 0.75 + 0.22 * (len(over) + len(groups)))
    label(axes, f"{drawn.what}, with its {drawn.covered}", _plain(by[-1]), in_lines(axes, said))
    sizes = np.array([size for _, size in groups])
    # A line for the head of each group, and then its bars.
    tops = np.concatenate([[0], np.cumsum(sizes + 1)[:-1]])
    places = np.arange(len(over)) + np.repeat(np.arange(1, len(groups) + 1), sizes)
    bars_at(axes, places, drawn)
    axes.set_yticks(places, names, fontsize=SMALL)
    for top, head in zip(tops, heads, strict=True):
        axes.text(
            0.01, top + 0.12, head, transform=axes.get_yaxis_transform(), va="center", fontsize=SMALL, weight="bold"
        )
    axes.set_ylim(places[-1] + 0.64, -0.64)
    return figure


def _fits(table: Table) -> bool:
    """Tell whether a heat map has room for all rows and columns."""
    short, long = sorted(len(column.unique()) for column in table.keys.columns)
    return short <= MOST_ROWS // 2 and long <= MOST_ROWS


def _heat_map(drawn: Drawn, keys: list[list[Level]], table: Table, said: str) -> Figure:
    """Return a heat map, the column with more levels from the top down."""
    from matplotlib.colors import PowerNorm

    levels = _in_order(keys, table)
    names = [[_name(level) for level in column] for column in levels]
    down, across = (0, 1) if len(names[0]) >= len(names[1]) else (1, 0)
    places = [{level: place for place, level in enumerate(column)} for column in levels]
    at = [np.array([place[level] for level in column]) for place, column in zip(places, keys, strict=True)]
    counts = np.full((len(names[down]), len(names[across])), np.nan)
    counts[at[down], at[across]] = drawn.values
    widest = max(len(f"{count:,.0f}") for count in drawn.values)
    cell = max(LETTER * widest + 0.1, 0.24)
    margin = 1.3 + LETTER * max(map(len, names[down]))
    width = min(max(COLUMN_WIDTH, margin + cell * len(names[across])), 2 * DOUBLE_WIDTH)
    upright = LETTER * max(map(len, names[across])) > 0.9 * (width - margin) / len(names[across])
    foot = 0.65 + (LETTER * max(map(len, names[across])) if upright else LINE)
    figure, (axes,) = new_figure(width, foot + 0.4 + 0.2 * len(names[down]))
    # Roots of counts differ alike by chance, so that one large count does not bleach the others.
    top = max(float(np.nanmax(counts)), 1.0)
    picture = axes.imshow(np.clip(counts, 0.0, None), cmap=_colours(), norm=PowerNorm(0.5, 0.0, top), aspect="auto")
    label(axes, _plain(table.by[across]), _plain(table.by[down]), in_lines(axes, said))
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    axes.set_xticks(range(len(names[across])), names[across], fontsize=SMALL, rotation=90 if upright else 0)
    axes.set_yticks(range(len(names[down])), names[down], fontsize=SMALL)
    axes.tick_params(length=0)
    if (width - margin) / len(names[across]) >= LETTER * widest:
        _write_counts(axes, counts, top)
    bar = figure.colorbar(picture, ax=axes, pad=0.02, fraction=0.04)
    bar.set_label(drawn.what, fontsize=SIZE)
    figure.supxlabel(_reach(table), fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL, width=0.6, length=3.0)
    bar.outline.set_visible(False)
    return figure


def _in_order(keys: list[list[Level]], table: Table) -> list[list[Level]]:
    """Return the levels of each column that are in the table, in the order of its domain; of an open one in theirs."""
    found: list[list[Level]] = []
    for column, levels in zip(table.domain, keys, strict=True):
        present = set(levels)
        found.append([level for level in column.labels or sorted(map(str, present)) if level in present])
    return found


def _write_counts(axes: Axes, counts: NDArray[np.float64], top: float) -> None:
    for (row, place), count in np.ndenumerate(counts):
        if not np.isnan(count):
            colour = "white" if count > 0.36 * top else BLACK
            text = axes.text(place, row, f"{count:,.0f}", ha="center", va="center", fontsize=SMALL - 0.5, color=colour)
            # Hundreds of them lie inside the panel anyway.
            text.set_in_layout(False)


def _colours() -> Any:  # noqa: ANN401 - a map of colours
    import matplotlib as mpl

    return mpl.colormaps["Blues"].with_extremes(bad=ABSENT)


def _reach(table: Table) -> str:
    """Return in words how far the intervals reach from the noisy counts."""
    below, above = (table.noisy_count - table.lower, table.upper - table.noisy_count)
    most = int(max(below.max(), above.max()))
    if int(min(below.min(), above.min())) == most:
        return f"{COVERED}: plus-minus {most:,} around each noisy count"
    return f"{COVERED}s reach up to {most:,} from the noisy count"


def _name_places(axes: Axes, table: Table) -> None:
    """Name some places of one column by their levels; of several, say how cells are ordered."""
    along = axes.get_xlabel().removeprefix(PLACE)
    if len(table.by) > 1:
        axes.set_xlabel(_plain(f"cells by {', '.join(table.by)}, the last fastest") + along, fontsize=SIZE)
        return
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    def name(place: float, _: object) -> str:
        inside = place == int(place) and 0 <= place < len(table)
        return _name(table.keys.column(0)[int(place)].as_py()) if inside else ""

    axes.set_xlabel(_plain(table.by[0]) + along, fontsize=SIZE)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(name))
