"""Released tables with their intervals: bars, a heat map, or points, by how many cells there are."""

from __future__ import annotations

import unicodedata
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.plots.releases import FEW, MANY, PLACE, Drawn, bands, bars, bars_at, heading, nothing, points
from ggdp.plots.style import BLACK, COLUMN_WIDTH, DOUBLE_WIDTH, SIZE, SMALL, in_lines, label, new_figure, required
from ggdp.tables import words
from ggdp.tables.release import TableRelease

if TYPE_CHECKING:
    from collections.abc import Iterable

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ggdp.tables.column import Level
    from ggdp.tables.release import Table

__all__ = ["plot_table"]

# A heat map with its counts in it has at most so many rows, and half as many columns.
MOST_ROWS = 60
# One of colours alone has at most so many of both: then a cell has some dots of print each way.
MOST_COLOURED = 400
# Where names are longer they are cut.
LONGEST = 36
COVERED = "95% interval"
# Inches of a letter and of a line of small print.
LETTER, LINE = 0.058, 0.16
# Inches of a coloured cell, and of the most and the least that such a panel has across and down.
COLOURED, WIDEST, HIGHEST, LEAST = 0.1, 5.2, 6.4, 2.4
ABSENT = "0.88"
# For what the usual font lacks, of those that are installed: most scripts, then symbols.
FONTS = (
    "DejaVu Sans",
    "Noto Sans",
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Source Han Sans SC",
    "WenQuanYi Micro Hei",
    "PingFang SC",
    "Hiragino Sans",
    "Apple SD Gothic Neo",
    "Microsoft YaHei",
    "Yu Gothic",
    "Malgun Gothic",
    "Noto Sans Arabic",
    "Noto Sans Hebrew",
    "Noto Sans Devanagari",
    "Noto Sans Thai",
    "Arial Unicode MS",
    "Noto Emoji",
    "Noto Sans Symbols",
    "Segoe UI Symbol",
)


def plot_table(release: TableRelease, *, table: int = 0, title: str | None = None, unit: str | None = None) -> Figure:
    """Return a figure of a released table, with the 95 % intervals of its counts.

    Up to 40 cells are bars, grouped by the first columns. More cells of two columns are a heat map, where cells that
    the table leaves out are grey: with the counts in it up to 60 x 30, in colours alone up to 400 x 400. Others are
    points in the order of the table; from 2,000 on, neighbours are drawn together by their range.

    Parameters
    ----------
    release : TableRelease
        The release.
    table : int, default 0
        Which of its tables.
    title : str, optional
        Title of the figure; the guarantee where none is given. A table that is not private is always called so.
    unit : str, optional
        What is counted, such as patients; rows, or different values of the column of units, where nothing is given.

    Examples
    --------
    >>> import ggdp, pyarrow
    >>> people, levels = pyarrow.table({"smokes": ["no", "yes", "no"]}), {"smokes": ["no", "yes"]}
    >>> release = ggdp.release_table(people, by="smokes", goal=ggdp.PureDP(1.0), domain=levels)
    >>> plot_table(release).axes[0].get_xlabel()
    'count of rows, with its 95% interval'
    """
    shown = _table(required(TableRelease, release=release), table)
    what, bound = unit if unit is not None else words.counted(release.request), words.bounded(release.request, table)
    covered = COVERED
    if release.request.count_cut is not None and bound:
        covered = f"{COVERED} of all {words.called(release.request)}"
    values, lower, upper = (ends.astype(np.float64) for ends in (shown.count, shown.lower, shown.upper))
    counted = _plain(f"{required(str, unit=what)} ({bound})" if bound else required(str, unit=what))
    drawn = Drawn(values, lower, upper, f"count of {counted}", _plain(covered))
    said = heading(release.release, None if title is None else _plain(required(str, title=title)))
    return _in_fonts(_figure(drawn, shown, said))


def _figure(drawn: Drawn, table: Table, said: str) -> Figure:
    """Return a figure of the kind that has room for the table."""
    if not len(table):
        return nothing(drawn, said)
    if len(table) <= FEW:
        return _few(drawn, _keys(table), table.by, said)
    if len(table.by) == 2:
        short, long = sorted(len(column.unique()) for column in table.keys.columns)
        if short <= MOST_ROWS // 2 and long <= MOST_ROWS:
            return _numbers(drawn, table, said)
        if long <= MOST_COLOURED:
            return _colours_alone(drawn, table, said)
    figure = points(drawn, said) if len(table) < MANY else bands(drawn, said)
    _name_places(figure.axes[0], table)
    return figure


def _in_fonts(figure: Figure) -> Figure:
    """Return the figure, with other fonts for characters that the usual one lacks."""
    import matplotlib as mpl
    from matplotlib.font_manager import fontManager
    from matplotlib.text import Text

    # One that is not installed would be complained about each time that it is looked for.
    installed = set(fontManager.get_font_names())
    families = [*mpl.rcParams["font.family"], *(name for name in FONTS if name in installed)]
    for axes in figure.axes:
        # Some ticks come into being only when they are drawn.
        axes.tick_params(labelfontfamily=families)
    for text in figure.findobj(Text):
        text.set_fontfamily(families)
    return figure


def _table(release: TableRelease, table: object) -> Table:
    number = _validate.integer(table=table, at_least=0)
    if number >= len(release.tables):
        raise ArgumentError("table", table, f"must be below {len(release.tables)}, the number of tables")
    return release.tables[number]


def _plain(text: object, most: int = 2 * LONGEST) -> str:
    """Return text for one line of a figure, with nothing that would be read as a formula."""
    return _cut(_line(text), most).replace("$", r"\$")


def _line(text: object) -> str:
    return "".join(sign if sign.isprintable() else "\N{MIDDLE DOT}" for sign in str(text))


def _letters(text: str) -> int:
    """Return how many letters of room a text takes; signs of East Asian scripts are as wide as two."""
    return sum(2 if unicodedata.east_asian_width(sign) in "WF" else 1 for sign in text)


def _longest(names: Iterable[str]) -> int:
    return max(map(_letters, names))


def _cut(line: str, most: int) -> str:
    """Return a line without its middle where it is too long: names that begin alike differ at their ends."""
    if (letters := _letters(line)) <= most:
        return line
    kept = most * len(line) // letters - 1
    return line[: kept - kept // 2] + "\N{HORIZONTAL ELLIPSIS}" + line[-(kept // 2) :]


def _names(levels: Iterable[Level]) -> dict[Level, str]:
    """Return what levels are called in a figure; those that would be cut alike are shown from where they differ."""
    lines = {level: _line(str(level).lower() if isinstance(level, bool) else level) for level in levels}
    alike: dict[str, set[str]] = {}
    for line in lines.values():
        alike.setdefault(_cut(line, LONGEST), set()).add(line)
    found = {}
    for level, line in lines.items():
        group = alike[_cut(line, LONGEST)]
        # Some letters of what they share, to be recognized by.
        start = max(_shared(min(group), max(group)) - 6, 0) if len(group) > 1 else 0
        found[level] = _plain("\N{HORIZONTAL ELLIPSIS}" + line[start:] if start else line, LONGEST)
    return found


def _shared(one: str, other: str) -> int:
    """Return how many signs two lines begin with alike."""
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def _keys(table: Table) -> list[list[Level]]:
    """Return the levels of each row, column by column."""
    return [column.to_pylist() for column in table.keys.columns]


def _few(drawn: Drawn, keys: list[list[Level]], by: tuple[str, ...], said: str) -> Figure:
    """Return bars; those that share all levels but the last stand together under these."""
    called = [[names[level] for level in column] for names, column in zip(map(_names, keys), keys, strict=True)]
    over = list(zip(*keys[:-1], strict=True))
    groups = [len(list(rows)) for _, rows in groupby(over)]
    if len(keys) == 1 or 2 * len(groups) > len(over):
        names = [", ".join(levels) for levels in zip(*called, strict=True)]
        figure = bars(drawn, names, names, said)
        figure.axes[0].set_ylabel(_plain(", ".join(by)), fontsize=SIZE)
        return figure
    sizes = np.array(groups)
    first = (np.cumsum(sizes) - sizes).tolist()
    heads = [
        ", ".join(f"{_plain(name, LONGEST)}: {column[place]}" for name, column in zip(by[:-1], called, strict=False))
        for place in first
    ]
    names = called[-1]
    width = max(COLUMN_WIDTH, 0.8 + LETTER * _longest(heads), 2.6 + LETTER * _longest(names))
    figure, (axes,) = new_figure(width, 0.75 + 0.22 * (len(over) + len(groups)))
    label(axes, f"{drawn.what}, with its {drawn.covered}", _plain(by[-1]), in_lines(axes, said))
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


class _Grid(NamedTuple):
    """Counts of two columns, the one with more levels from the top down; NaN where the table has no cell."""

    counts: NDArray[np.float64]
    rows: list[str]
    columns: list[str]
    down: str
    across: str

    @property
    def top(self) -> float:
        return max(float(np.nanmax(self.counts)), 1.0)


def _grid(table: Table, values: NDArray[np.float64]) -> _Grid:
    keys = _keys(table)
    levels = _in_order(keys, table)
    names = [list(_names(column).values()) for column in levels]
    places = [{level: place for place, level in enumerate(column)} for column in levels]
    at = [np.array([place[level] for level in column]) for place, column in zip(places, keys, strict=True)]
    down, across = (0, 1) if len(names[0]) >= len(names[1]) else (1, 0)
    counts = np.full((len(names[down]), len(names[across])), np.nan)
    counts[at[down], at[across]] = values
    return _Grid(counts, names[down], names[across], _plain(table.by[down]), _plain(table.by[across]))


def _numbers(drawn: Drawn, table: Table, said: str) -> Figure:
    """Return a heat map with the counts in it."""
    grid = _grid(table, drawn.values)
    widest = max(len(f"{count:,.0f}") for count in drawn.values)
    cell = max(LETTER * widest + 0.1, 0.24)
    margin = 1.3 + LETTER * _longest(grid.rows)
    width = min(max(COLUMN_WIDTH, margin + cell * len(grid.columns)), 2 * DOUBLE_WIDTH)
    cell = (width - margin) / len(grid.columns)
    upright = LETTER * _longest(grid.columns) > 0.9 * cell
    foot = 0.65 + (LETTER * _longest(grid.columns) if upright else LINE)
    figure, (axes,) = new_figure(width, foot + 0.4 + 0.2 * len(grid.rows))
    bar = _coloured(axes, grid, said)
    axes.set_xticks(range(len(grid.columns)), grid.columns, fontsize=SMALL, rotation=90 if upright else 0)
    axes.set_yticks(range(len(grid.rows)), grid.rows, fontsize=SMALL)
    axes.tick_params(length=0)
    if cell >= LETTER * widest:
        _write_counts(axes, grid)
    bar.set_label(drawn.what, fontsize=SIZE)
    figure.supxlabel(_reach(table, grid), fontsize=SMALL)
    return figure


def _colours_alone(drawn: Drawn, table: Table, said: str) -> Figure:
    """Return a heat map whose cells are too small to be written in; as many levels are named as there is room for."""
    grid = _grid(table, drawn.values)
    high, wide = (
        min(max(COLOURED * number, LEAST), most)
        for number, most in zip(grid.counts.shape, (HIGHEST, WIDEST), strict=True)
    )
    rows, columns = _every(len(grid.rows), high), _every(len(grid.columns), wide)
    right, below = (
        LETTER * _longest(names[place] for place in places)
        for names, places in ((grid.rows, rows), (grid.columns, columns))
    )
    # Names lie flat if they fit between two ticks.
    upright = below > 0.8 * wide * (columns.step / len(grid.columns))
    if not upright:
        below = LINE
    figure, (axes,) = new_figure(1.5 + right + wide, 0.8 + below + high)
    bar = _coloured(axes, grid, said)
    axes.set_xticks(columns, [grid.columns[place] for place in columns], fontsize=SMALL, rotation=90 if upright else 0)
    axes.set_yticks(rows, [grid.rows[place] for place in rows], fontsize=SMALL)
    axes.tick_params(length=2.0, width=0.4)
    bar.set_label(f"{drawn.what}\n{_reach(table, grid)}", fontsize=SIZE)
    return figure


def _every(number: int, inches: float) -> range:
    """Return the places of the levels that are named: each one, each second, fifth, tenth and so on."""
    fewest = number * LINE / inches
    step = next(step for size in (1, 10, 100) for step in (size, 2 * size, 5 * size) if step >= fewest)
    return range(0, number, step)


def _coloured(axes: Axes, grid: _Grid, said: str) -> Any:  # noqa: ANN401 - a bar of colours
    """Draw the cells and the bar that explains their colours."""
    import matplotlib as mpl
    from matplotlib.colors import PowerNorm

    # Roots of counts differ alike by chance, so that one large count does not bleach the others.
    how: dict[str, Any] = {
        "cmap": mpl.colormaps["Blues"].with_extremes(bad=ABSENT),
        "norm": PowerNorm(0.5, 0.0, grid.top),
    }
    picture = axes.imshow(np.clip(grid.counts, 0.0, None), aspect="auto", interpolation="nearest", **how)
    label(axes, grid.across, grid.down, in_lines(axes, said))
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(False)
    bar = axes.get_figure(root=True).colorbar(picture, ax=axes, pad=0.02, fraction=0.04, aspect=28)  # type: ignore[union-attr]
    bar.ax.tick_params(labelsize=SMALL, width=0.6, length=3.0)
    bar.outline.set_visible(False)
    return bar


def _in_order(keys: list[list[Level]], table: Table) -> list[list[Level]]:
    """Return the levels of each column that are in the table, in the order of its domain; of an open one in theirs."""
    found: list[list[Level]] = []
    for column, levels in zip(table.domain, keys, strict=True):
        present = set(levels)
        found.append([level for level in column.labels or sorted(map(str, present)) if level in present])
    return found


def _write_counts(axes: Axes, grid: _Grid) -> None:
    for (row, place), count in np.ndenumerate(grid.counts):
        if not np.isnan(count):
            colour = "white" if count > 0.36 * grid.top else BLACK
            text = axes.text(place, row, f"{count:,.0f}", ha="center", va="center", fontsize=SMALL - 0.5, color=colour)
            # Hundreds of them lie inside the panel anyway.
            text.set_in_layout(False)


def _reach(table: Table, grid: _Grid) -> str:
    """Return in words how far the intervals reach from the noisy counts, and what has no colour."""
    below, above = (table.noisy_count - table.lower, table.upper - table.noisy_count)
    most = int(max(below.max(), above.max()))
    left_out = "; grey: not in the table" if np.isnan(grid.counts).any() else ""
    if int(min(below.min(), above.min())) == most:
        return f"{COVERED}: plus-minus {most:,} around each noisy count{left_out}"
    return f"{COVERED}s reach up to {most:,} from the noisy count{left_out}"


def _name_places(axes: Axes, table: Table) -> None:
    """Name some places of one column by their levels; of several, say how cells are ordered."""
    along = axes.get_xlabel().removeprefix(PLACE)
    if len(table.by) > 1:
        axes.set_xlabel(_plain(f"cells by {', '.join(table.by)}, the last fastest") + along, fontsize=SIZE)
        return
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    def name(place: float, _: object) -> str:
        inside = place == int(place) and 0 <= place < len(table)
        return next(iter(_names([table.keys.column(0)[int(place)].as_py()]).values())) if inside else ""

    axes.set_xlabel(_plain(table.by[0]) + along, fontsize=SIZE)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    axes.xaxis.set_major_formatter(FuncFormatter(name))
