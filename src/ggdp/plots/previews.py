"""Previews of a release for its steward: simulated or public tables with their noise, dot plots, and cells per unit.

`plot_original_and_noisy` shows cells next to what a release would publish of them. `plot_max_cells` weighs the noise
against what a limit of cells per unit cuts off; it looks at the data and is NOT private. Quantile dot plots show what a
noisy count says about the true one, as a few equally likely cases, one dot each:

=====  ===============================================================================================
y      the noisy count, c + K for the true count c and the noise K, which is symmetric
q_i    the quantile of y - K at (i - 1/2)/n: with no other knowledge of c, it is in n equally likely cases
n      number of dots, 20 or 50: a probability is read by counting them
=====  ===============================================================================================

References
----------
Kay, Kola, Hullman and Munson, "When (ish) is my bus?", CHI 2016. Wilkinson, "Dot plots", The American Statistician 53
(1999), 276-281.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ggdp import _validate
from ggdp.noise import IntegerGeneralizedGaussian
from ggdp.plots.intervals import FEW, MANY, Drawn, number_ticks, with_minus
from ggdp.plots.style import (
    BLACK,
    BLUE,
    COLUMN_WIDTH,
    FAINT,
    GREEN,
    GRID,
    LINE,
    SIZE,
    SKY,
    SMALL,
    VERMILION,
    add_title,
    in_fonts,
    label,
    level_names,
    lines_of,
    new_figure,
    one_line,
    one_or_more,
    text_width,
    wrap,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from numpy.typing import NDArray


_ROW = 0.2
_ACROSS = 2.3
# Counts are on logarithmic axes, linear around 0, if the largest is so many times the width of an interval.
_WIDE = 20.0


def plot_original_and_noisy(
    names: Sequence[str],
    original: NDArray[np.float64],
    noisy: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    what: str = "count",
    origin: str = "original",
    title: str = "",
) -> Figure:
    """Return a figure of the original value of each cell, the noisy one, and its 95 % interval.

    Up to 40 cells have a row each; more are points, noisy against original, with the diagonal where both are equal. Of
    more than 2,000 cells so many are drawn, from the smallest to the largest.

    Parameters
    ----------
    names : sequence of str
        The cells.
    original, noisy, lower, upper : numpy.ndarray
        A number for each cell; NaN where there is none.
    what : str, default "count"
        What the numbers are.
    origin : str, default "original"
        What the values before noise are called, such as simulated.
    title : str, optional
        Title of the figure.

    Examples
    --------
    >>> counts = np.array([12.0, 3.0])
    >>> figure = plot_original_and_noisy(["births", "eyes"], counts, counts + 1, counts - 5, counts + 7)
    >>> [text.get_text() for text in figure.axes[0].get_yticklabels()]
    ['births', 'eyes']
    """
    drawn = Drawn(noisy, lower, upper, what, "95% interval", counts=what.startswith("count"))
    figure = (_rows if len(names) <= FEW else _points)(names, original, drawn, origin)
    figure.legend(
        loc="outside lower left", fontsize=SMALL, frameon=False, ncols=3, handletextpad=0.4, columnspacing=1.2
    )
    if title:
        add_title(figure, title)
    return in_fonts(figure, (*names, what, origin, title))


def _rows(names: Sequence[str], original: NDArray[np.float64], drawn: Drawn, origin: str) -> Figure:
    short = level_names(names)
    called = [short[name] for name in names]
    figure, (axes,) = new_figure(COLUMN_WIDTH, 1.0)
    width = max(COLUMN_WIDTH, text_width(figure, called) + _ACROSS + 0.3)
    figure.set_size_inches(width, 0.85 + _ROW * max(len(names), 1) + LINE)
    places = np.arange(len(names))
    label(axes, x=one_line(drawn.axis_label("")))
    axes.hlines(places, drawn.lower, drawn.upper, color=SKY, linewidth=4.0, label=drawn.covered, zorder=1)
    axes.plot(drawn.values, places, "o", color=BLUE, markersize=4.0, label="noisy", zorder=2)
    axes.plot(original, places, "|", color=VERMILION, markersize=9.0, markeredgewidth=1.8, label=origin, zorder=3)
    axes.set_yticks(places, called, fontsize=SMALL)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.yaxis.grid(visible=False)
    axes.xaxis.grid(visible=True, color=GRID, linewidth=0.6)
    _zero(axes, drawn, original)
    number_ticks(axes.xaxis, drawn, 5)
    return figure


def _zero(axes: Axes, drawn: Drawn, original: NDArray[np.float64]) -> None:
    """Draw a line at 0 if it is among what is drawn."""
    ends = np.concatenate([drawn.lower, drawn.upper, original])
    ends = ends[np.isfinite(ends)]
    if drawn.counts or (ends.size and ends.min() <= 0.0 <= ends.max()):
        axes.axvline(0.0, color="black", linewidth=0.6, zorder=0.5)


def _points(names: Sequence[str], original: NDArray[np.float64], drawn: Drawn, origin: str) -> Figure:
    cells = len(names)
    if cells > MANY:
        # As many of them as can be told apart, from the smallest to the largest.
        chosen = np.argsort(original, kind="stable")[np.linspace(0, cells - 1, MANY).round().astype(int)]
        original, drawn = original[chosen], drawn.in_order(chosen)
    figure, (axes,) = new_figure(COLUMN_WIDTH, COLUMN_WIDTH)
    thin = min(1.0, 120.0 / cells)
    # One line with gaps: thousands of lines take twice as long to draw as all the rest.
    gaps = np.column_stack([drawn.lower, drawn.upper, np.full(original.size, math.nan)]).ravel()
    (intervals,) = axes.plot(np.repeat(original, 3), gaps, color=SKY, label=drawn.covered)
    intervals.set(linewidth=max(0.4, 1.6 * thin), solid_capstyle="butt")
    axes.plot(
        original, drawn.values, "o", color=BLUE, markersize=max(1.2, 3.0 * thin), markeredgewidth=0.0, label="noisy"
    )
    ends = original[np.isfinite(original)]
    least, most = (float(ends.min()), float(ends.max())) if ends.size else (0.0, 1.0)
    axes.plot([least, most], [least, most], color=FAINT, linewidth=1.0, zorder=0.5, label="both are equal")
    label(axes, y=one_line(f"noisy {drawn.axis_label('')}"))
    among = f"{MANY:,} of {cells:,}" if cells > MANY else f"{cells:,}"
    axes.set_xlabel(one_line(f"{origin} {drawn.axis_label('')} of {among} cells"), fontsize=SIZE)
    if drawn.counts:
        axes.axhline(0.0, color="black", linewidth=0.6, zorder=0.5)
    width = float(np.nanmax(drawn.upper - drawn.lower, initial=0.0))
    if drawn.counts and most > _WIDE * width > 0.0:
        # The small counts, which noise matters to, would be a blot beside the largest.
        least_end = float(np.nanmin(drawn.lower))
        axes.set_xscale("symlog", linthresh=width, linscale=0.6)
        axes.set_yscale("symlog", linthresh=width, linscale=0.6)
        axes.set_xlim(min(least - 0.2 * width, 0.8 * least), 1.3 * most)
        axes.set_ylim(min(least_end - 0.2 * width, 0.8 * least_end), 1.3 * most)
        _powers(axes.xaxis, most, width)
        _powers(axes.yaxis, most, width)
    else:
        number_ticks(axes.xaxis, drawn, 5)
        number_ticks(axes.yaxis, drawn, 6)
    return figure


def _powers(axis: Axis, high: float, linear: float) -> None:
    """Put ticks at 0 and at powers of ten beyond the linear part of an axis."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    powers = [10.0**power for power in range(math.ceil(math.log10(linear)), math.floor(math.log10(high)) + 1)]
    axis.set_major_locator(FixedLocator([0.0, *powers]))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda tick, _: with_minus(f"{tick:,.6g}")))


# Inches: of the dots of a cell, of what is below them, and beside them.
_PANEL, _BELOW, _SIDE = 0.62, 0.32, 0.12
# Dots are made smaller by this share until the highest stack has room.
_SMALLER = 0.97
# The share of a count's width that its dots may fill.
_FILLED = 0.9
# Of the half-width of an axis, the outermost dot is here.
_REACH = 1.12


class CountDots(NamedTuple):
    """A cell with its noisy count, and the true counts of as many equally likely cases as there are dots."""

    name: str
    noisy: int
    cases: tuple[int, ...]

    @property
    def at_most_zero(self) -> int:
        """How many of the cases are at 0 or below."""
        return sum(case <= 0 for case in self.cases)


class Dot(NamedTuple):
    """A dot: where it is across, in counts; its row from the bottom; and the case that it stands for."""

    across: float
    row: int
    case: int


def count_dots(name: str, noisy: int, *, order: float, scale: float, dots: int = 20) -> CountDots:
    """Return the equally likely true counts of a cell, given its noisy count.

    Parameters
    ----------
    name : str
        The cell.
    noisy : int
        Its noisy count.
    order, scale : float
        Those of the noise.
    dots : int, default 20
        Number of cases.

    Examples
    --------
    >>> count_dots("births", 12, order=1.0, scale=1.0, dots=10).cases
    (10, 11, 11, 12, 12, 12, 12, 13, 13, 14)
    """
    number = _validate.integer(dots=dots, at_least=1)
    law = IntegerGeneralizedGaussian(order=order, scale=scale)
    # The upper half mirrors the lower one, as the noise does: no quantile is rounded to one side only.
    lower = [int(law.ppf((place + 0.5) / number)) for place in range(number // 2)]
    middle = [0] if number % 2 else []
    moves = [*lower, *middle, *(-move for move in reversed(lower))]
    return CountDots(name, int(noisy), tuple(int(noisy) + move for move in moves))


def dots_in_words(cell: CountDots) -> str:
    """Return what the dots of a cell say.

    Examples
    --------
    >>> dots_in_words(CountDots("births", 2, (0, 1, 2, 2, 3)))
    'births: noisy count 2, dots from 0 to 3, 1 of 5 at or below 0'
    """
    low = f", {cell.at_most_zero} of {len(cell.cases)} at or below 0" if cell.at_most_zero else ""
    return f"{cell.name}: noisy count {cell.noisy:,}, dots from {cell.cases[0]:,} to {cell.cases[-1]:,}{low}"


def placed(cases: Sequence[int], width: float) -> list[Dot]:
    """Return where dots of a width, in counts, are drawn.

    Dots wider than a count are stacked from the left: a stack has all that are closer than a dot's width to its first
    one. Of narrower dots, those of a count stand in as many columns as have room above it.

    Examples
    --------
    >>> [(dot.across, dot.row) for dot in placed([1, 2, 2, 3, 7], 2.0)]
    [(1.6666666666666667, 0), (1.6666666666666667, 1), (1.6666666666666667, 2), (3.0, 0), (7.0, 0)]
    >>> [(dot.across, dot.row) for dot in placed([1, 2, 2, 2], 0.4)]
    [(1.0, 0), (1.8, 0), (2.2, 0), (2.0, 1)]
    """
    columns = max(int(_FILLED / width), 1)
    found: list[Dot] = []
    for stack in _stacks(cases, width):
        middle = sum(stack) / len(stack)
        for first in range(0, len(stack), columns):
            row = stack[first : first + columns]
            found += [
                Dot(middle + (place - (len(row) - 1) / 2.0) * width, first // columns, case)
                for place, case in enumerate(row)
            ]
    return found


def _stacks(cases: Sequence[int], width: float) -> list[list[int]]:
    found: list[list[int]] = []
    for case in sorted(cases):
        if found and case - found[-1][0] < width:
            found[-1].append(case)
        else:
            found.append([case])
    return found


def plot_count_dots(cells: CountDots | Sequence[CountDots], *, title: str = "", unit: str = "rows") -> Figure:
    """Return a figure of the uncertainty of counts, a row of stacked dots for each cell, all on axes of one width.

    Parameters
    ----------
    cells : CountDots or sequence of CountDots
        The cells, of one release: their noise is the same.
    title : str, optional
        Title of the figure.
    unit : str, default "rows"
        What is counted.

    Examples
    --------
    >>> cells = [count_dots("births", 12, order=1.0, scale=2.0), count_dots("eyes", 2, order=1.0, scale=2.0)]
    >>> figure = plot_count_dots(cells, unit="patients")
    >>> len(figure.axes), figure.axes[1].get_xlabel()
    (2, 'count of patients')
    """
    drawn = one_or_more(CountDots, cells=cells)
    figure, _ = new_figure(COLUMN_WIDTH, 1.0, 0)
    figure.set_layout_engine("none")
    dots = len(drawn[0].cases)
    said = f"{title}\n" if title else ""
    said = wrap(figure, f"{said}Each dot is 1 of {dots} equally likely true counts", COLUMN_WIDTH - 2 * _SIDE)
    top = 0.1 + LINE * 1.1 * lines_of(said)
    height = top + len(drawn) * (_PANEL + LINE + _BELOW) + LINE
    figure.set_size_inches(COLUMN_WIDTH, height)
    figure.text(_SIDE / COLUMN_WIDTH, 1.0 - 0.06 / height, said, va="top", fontsize=SIZE, linespacing=1.3)
    across = COLUMN_WIDTH - 2 * _SIDE
    reach = max(1.0, *(_REACH * max(abs(case - cell.noisy) for case in cell.cases) for cell in drawn))
    diameter = _diameter(drawn, across / (2.0 * reach))
    for place, cell in enumerate(drawn):
        bottom = height - top - (place + 1) * (_PANEL + LINE + _BELOW) + _BELOW
        axes = figure.add_axes(
            (_SIDE / COLUMN_WIDTH, bottom / height, across / COLUMN_WIDTH, _PANEL / height), label=f"cell {place}"
        )
        _draw(axes, cell, diameter, reach)
    figure.axes[-1].set_xlabel(f"count of {one_line(unit)}", fontsize=SIZE)
    return in_fonts(figure, (title, unit, *(cell.name for cell in drawn)))


def _diameter(cells: Sequence[CountDots], inches: float) -> float:
    """Return the largest diameter at which no stack is higher than its panel, given the inches of one count."""
    found = _PANEL / 3.0
    while any(found * (dot.row + 1) > _PANEL for cell in cells for dot in placed(cell.cases, found / inches)):
        found *= _SMALLER
    return found


def _draw(axes: Axes, cell: CountDots, diameter: float, reach: float) -> None:
    """Draw the dots of a cell; those at 0 or below have a colour of their own and are hollow, for print in grey."""
    from matplotlib.collections import EllipseCollection
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    axes.set_xlim(cell.noisy - reach, cell.noisy + reach)
    axes.set_ylim(0.0, _PANEL)
    inches = (COLUMN_WIDTH - 2 * _SIDE) / (2.0 * reach)
    for is_low in (False, True):
        places = [
            (dot.across, diameter * (dot.row + 0.5))
            for dot in placed(cell.cases, diameter / inches)
            if (dot.case <= 0) == is_low
        ]
        colour = VERMILION if is_low else BLUE
        axes.add_collection(
            EllipseCollection(
                widths=[0.9 * diameter] * len(places),
                heights=[0.9 * diameter] * len(places),
                angles=[0.0] * len(places),
                units="inches",
                offsets=np.reshape(places, (-1, 2)),
                offset_transform=axes.transData,
                facecolors="none" if is_low else colour,
                edgecolors=colour,
                linewidths=1.1 if is_low else 0.0,
                clip_on=False,
            ),
            autolim=False,
        )
    if cell.noisy - reach <= 0 <= cell.noisy + reach:
        axes.axvline(0.0, color=BLACK, linewidth=0.6, zorder=0)
    axes.set_yticks([])
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(FAINT)
    axes.tick_params(labelsize=SMALL, width=0.6, length=2.5, pad=1.5)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda tick, _: with_minus(f"{tick:,.0f}")))
    low = f", {cell.at_most_zero} of {len(cell.cases)} at or below 0" if cell.at_most_zero else ""
    name = f"{one_line(cell.name)}: {with_minus(f'{cell.noisy:,}')}{low}"
    axes.set_title(name, loc="left", fontsize=SMALL, pad=2.5)


_TITLE = "NOT PRIVATE: for the steward alone"


def plot_max_cells(table: Mapping[str, Any], *, unit: str = "units") -> Figure:
    """Return a figure of what each `max_cells` costs: the plus-minus of a count, and what is cut from it on average.

    Parameters
    ----------
    table : mapping
        One of `TableCheck.units.tables`, made by `ggdp.check_table`.
    unit : str, default "units"
        What is counted.

    Examples
    --------
    >>> import ggdp, pyarrow
    >>> visits = pyarrow.table({"person": [1, 1, 2, 3], "ward": ["a", "b", "a", "c"]})
    >>> found = ggdp.check_table(visits, by="ward", domain={"ward": ["a", "b", "c"]}, unit="person")
    >>> plot_max_cells(found.units.tables[0], unit="persons").axes[0].get_ylabel()
    'persons in a cell'
    """
    choices = table["choices"]
    limits = [choice["max_cells"] for choice in choices]
    noise = [choice["plus_minus"] for choice in choices]
    cut = [choice["cut"] for choice in choices]
    both = [first + second for first, second in zip(noise, cut, strict=True)]
    figure, (axes,) = new_figure(COLUMN_WIDTH, 2.8)
    # Places rather than a logarithmic axis: the candidates are 1, 2, 3, 5, 10, ..., which is nearly the same.
    places = list(range(len(limits)))
    axes.plot(places, both, color=BLACK, linewidth=1.6, marker="o", markersize=3.5, label="together", zorder=3)
    axes.plot(places, noise, color=BLUE, linewidth=1.3, marker="s", markersize=3.5, label="noise: plus-minus at 95%")
    axes.plot(
        places, cut, color=VERMILION, linewidth=1.3, linestyle=(0, (5, 1.6)), marker="^", markersize=4.0,
        label="cut off, on average",
    )  # fmt: skip
    best = limits.index(table["recommended"])
    axes.plot(
        [best], [both[best]], "o", markersize=10.0, markerfacecolor="none", markeredgecolor=GREEN, markeredgewidth=1.6,
        linestyle="none", label=f"least of both together: {limits[best]:,}", zorder=4,
    )  # fmt: skip
    axes.set_ylim(bottom=0.0)
    axes.set_xticks(places, [f"{limit:,}" for limit in limits], fontsize=SMALL)
    label(axes, x="cells per unit (max_cells)", y=f"{unit} in a cell")
    axes.yaxis.set_major_formatter(lambda tick, _: with_minus(f"{tick:,.6g}"))
    figure.legend(loc="outside lower left", fontsize=SMALL, frameon=False, ncols=2, handlelength=2.2)
    add_title(figure, _TITLE)
    return in_fonts(figure)
