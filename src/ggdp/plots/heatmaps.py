"""Heat maps of counts by two columns, on a linear scale of colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ggdp.plots.intervals import number_ticks, with_minus
from ggdp.plots.names import level_names, one_line
from ggdp.plots.style import BLACK, COLUMN_WIDTH, DOUBLE_WIDTH, SIZE, SMALL, label, new_figure
from ggdp.plots.text import LINE, add_title, lines_of, text_width, wrap

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ggdp.plots.intervals import Drawn
    from ggdp.tables.column import Level
    from ggdp.tables.release import Table

__all__ = ["heat_map"]

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
