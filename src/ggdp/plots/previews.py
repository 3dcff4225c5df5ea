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
from ggdp.errors import ArgumentError
from ggdp.noise import IntegerGeneralizedGaussian
from ggdp.plots import style
from ggdp.plots.intervals import FEW, MANY, Series, number_ticks, with_minus

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray


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
    """Return a figure of the original value of each cell, the noisy one, and its 95% interval.

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
    drawn = Series(noisy, lower, upper, what, "95% interval", counts=what.startswith("count"))
    figure = (_rows if len(names) <= FEW else _points)(names, original, drawn, origin)
    figure.legend(
        loc="outside lower left", fontsize=style.SMALL, frameon=False, ncols=3, handletextpad=0.4, columnspacing=1.2
    )
    if title:
        style.add_title(figure, title)
    return style.in_fonts(figure, (*names, what, origin, title))


def _rows(names: Sequence[str], original: NDArray[np.float64], drawn: Series, origin: str) -> Figure:
    short = style.level_names(names)
    called = [short[name] for name in names]
    figure, (axes,) = style.new_figure(style.COLUMN_WIDTH, 1.0)
    width = max(style.COLUMN_WIDTH, style.text_width(figure, called) + 2.6)
    figure.set_size_inches(width, 0.85 + 0.2 * max(len(names), 1) + style.LINE)
    places = np.arange(len(names))
    style.label(axes, x=style.one_line(drawn.axis_label("")))
    axes.hlines(places, drawn.lower, drawn.upper, color=style.SKY, linewidth=4.0, label=drawn.covered, zorder=1)
    axes.plot(drawn.values, places, "o", color=style.BLUE, markersize=4.0, label="noisy", zorder=2)
    (marks,) = axes.plot(original, places, "|", color=style.VERMILION, label=origin, zorder=3)
    marks.set(markersize=9.0, markeredgewidth=1.8)
    axes.set_yticks(places, called, fontsize=style.SMALL)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)
    axes.spines["left"].set_visible(False)
    axes.yaxis.grid(visible=False)
    axes.xaxis.grid(visible=True, color=style.GRID, linewidth=0.6)
    ends = np.concatenate([drawn.lower, drawn.upper, original])
    ends = ends[np.isfinite(ends)]
    if drawn.counts or (ends.size and ends.min() <= 0.0 <= ends.max()):
        axes.axvline(0.0, color="black", linewidth=0.6, zorder=0.5)
    number_ticks(axes.xaxis, drawn, 5)
    return figure


def _points(names: Sequence[str], original: NDArray[np.float64], drawn: Series, origin: str) -> Figure:
    from matplotlib.ticker import FixedLocator, NullLocator

    cells = len(names)
    if cells > MANY:
        # As many of them as can be told apart, from the smallest to the largest.
        chosen = np.argsort(original, kind="stable")[np.linspace(0, cells - 1, MANY).round().astype(int)]
        original, drawn = original[chosen], drawn.in_order(chosen)
    figure, (axes,) = style.new_figure(style.COLUMN_WIDTH, style.COLUMN_WIDTH)
    thin = min(1.0, 120.0 / cells)
    # One line with gaps: thousands of lines take twice as long to draw as all the rest.
    gaps = np.column_stack([drawn.lower, drawn.upper, np.full(original.size, math.nan)]).ravel()
    (intervals,) = axes.plot(np.repeat(original, 3), gaps, color=style.SKY, label=drawn.covered)
    intervals.set(linewidth=max(0.4, 1.6 * thin), solid_capstyle="butt")
    (dots,) = axes.plot(original, drawn.values, "o", color=style.BLUE, label="noisy")
    dots.set(markersize=max(1.2, 3.0 * thin), markeredgewidth=0.0)
    ends = original[np.isfinite(original)]
    least, most = (float(ends.min()), float(ends.max())) if ends.size else (0.0, 1.0)
    axes.plot([least, most], [least, most], color=style.FAINT, linewidth=1.0, zorder=0.5, label="both are equal")
    style.label(axes, y=style.one_line(f"noisy {drawn.axis_label('')}"))
    among = f"{MANY:,} of {cells:,}" if cells > MANY else f"{cells:,}"
    axes.set_xlabel(style.one_line(f"{origin} {drawn.axis_label('')} of {among} cells"), fontsize=style.SIZE)
    if drawn.counts:
        axes.axhline(0.0, color="black", linewidth=0.6, zorder=0.5)
    width = float(np.nanmax(drawn.upper - drawn.lower, initial=0.0))
    if drawn.counts and most > 20.0 * width > 0.0:
        # Small counts, where noise matters, would be a blot next to the largest: logarithmic axes, linear around 0.
        least_end = float(np.nanmin(drawn.lower))
        axes.set_xscale("symlog", linthresh=width, linscale=0.6)
        axes.set_yscale("symlog", linthresh=width, linscale=0.6)
        axes.set_xlim(min(least - 0.2 * width, 0.8 * least), 1.3 * most)
        axes.set_ylim(min(least_end - 0.2 * width, 0.8 * least_end), 1.3 * most)
        for axis in (axes.xaxis, axes.yaxis):
            powers = range(math.ceil(math.log10(width)), math.floor(math.log10(most)) + 1)
            axis.set_major_locator(FixedLocator([0.0, *(10.0**power for power in powers)]))
            axis.set_minor_locator(NullLocator())
            axis.set_major_formatter(lambda tick, _: with_minus(f"{tick:,.6g}"))
    else:
        number_ticks(axes.xaxis, drawn, 5)
        number_ticks(axes.yaxis, drawn, 6)
    return figure


# Inches: of the dots of a cell, of what is below them, and next to them.
_PANEL, _BELOW, _SIDE = 0.62, 0.32, 0.12


class CountDots(NamedTuple):
    """A cell with its noisy count, and the true counts of as many equally likely cases as there are dots."""

    name: str
    noisy: int
    cases: tuple[int, ...]

    @property
    def low(self) -> str:
        """How many of the cases are at 0 or below, in words; nothing if none is."""
        low = sum(case <= 0 for case in self.cases)
        return f", {low} of {len(self.cases)} at or below 0" if low else ""


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
    return f"{cell.name}: noisy count {cell.noisy:,}, dots from {cell.cases[0]:,} to {cell.cases[-1]:,}{cell.low}"


def place_dots(cases: Sequence[int], width: float) -> list[Dot]:
    """Return where dots of a width, in counts, are drawn.

    Dots wider than a count are stacked from the left: a stack has all that are closer than a dot's width to its first
    one. Of narrower dots, those of a count stand in as many columns as have room above it.

    Examples
    --------
    >>> [(dot.across, dot.row) for dot in place_dots([1, 2, 2, 3, 7], 2.0)]
    [(1.6666666666666667, 0), (1.6666666666666667, 1), (1.6666666666666667, 2), (3.0, 0), (7.0, 0)]
    >>> [(dot.across, dot.row) for dot in place_dots([1, 2, 2, 2], 0.4)]
    [(1.0, 0), (1.8, 0), (2.2, 0), (2.0, 1)]
    """
    stacks: list[list[int]] = []
    for case in sorted(cases):
        if stacks and case - stacks[-1][0] < width:
            stacks[-1].append(case)
        else:
            stacks.append([case])
    # The dots of a count fill at most nine tenths of its width.
    columns = max(int(0.9 / width), 1)
    found: list[Dot] = []
    for stack in stacks:
        middle = sum(stack) / len(stack)
        for first in range(0, len(stack), columns):
            row = stack[first : first + columns]
            half = (len(row) - 1) / 2.0
            found += [Dot(middle + (place - half) * width, first // columns, case) for place, case in enumerate(row)]
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
    drawn = [cells] if isinstance(cells, CountDots) else style.items(CountDots, cells=cells)
    if not drawn:
        raise ArgumentError("cells", type(cells), "must not be empty")
    figure, _ = style.new_figure(style.COLUMN_WIDTH, 1.0, 0)
    figure.set_layout_engine("none")
    dots = len(drawn[0].cases)
    said = f"{title}\n" if title else ""
    said = style.wrap(
        figure, f"{said}Each dot is 1 of {dots} equally likely true counts", style.COLUMN_WIDTH - 2 * _SIDE
    )
    top = 0.1 + style.LINE * 1.1 * style.lines_of(said)
    height = top + len(drawn) * (_PANEL + style.LINE + _BELOW) + style.LINE
    figure.set_size_inches(style.COLUMN_WIDTH, height)
    figure.text(_SIDE / style.COLUMN_WIDTH, 1.0 - 0.06 / height, said, va="top", fontsize=style.SIZE, linespacing=1.3)
    across = style.COLUMN_WIDTH - 2 * _SIDE
    # The outermost dot is a little inside its axis.
    reach = max(1.0, *(1.12 * max(abs(case - cell.noisy) for case in cell.cases) for cell in drawn))
    count = across / (2.0 * reach)
    # The largest diameter at which every stack has room.
    diameter = _PANEL / 3.0
    while any(diameter * (dot.row + 1) > _PANEL for cell in drawn for dot in place_dots(cell.cases, diameter / count)):
        diameter *= 0.97
    for place, cell in enumerate(drawn):
        bottom = height - top - (place + 1) * (_PANEL + style.LINE + _BELOW) + _BELOW
        corner = (_SIDE / style.COLUMN_WIDTH, bottom / height, across / style.COLUMN_WIDTH, _PANEL / height)
        _draw_dots(figure.add_axes(corner, label=f"cell {place}"), cell, diameter, reach)
    figure.axes[-1].set_xlabel(f"count of {style.one_line(unit)}", fontsize=style.SIZE)
    return style.in_fonts(figure, (title, unit, *(cell.name for cell in drawn)))


def _draw_dots(axes: Axes, cell: CountDots, diameter: float, reach: float) -> None:
    """Draw the dots of a cell; those at 0 or below have their own color and are hollow, for print in gray."""
    from matplotlib.collections import EllipseCollection
    from matplotlib.ticker import MaxNLocator

    axes.set_xlim(cell.noisy - reach, cell.noisy + reach)
    axes.set_ylim(0.0, _PANEL)
    inches = (style.COLUMN_WIDTH - 2 * _SIDE) / (2.0 * reach)
    for is_low in (False, True):
        places = [
            (dot.across, diameter * (dot.row + 0.5))
            for dot in place_dots(cell.cases, diameter / inches)
            if (dot.case <= 0) == is_low
        ]
        color, sizes = style.VERMILION if is_low else style.BLUE, [0.9 * diameter] * len(places)
        dots = EllipseCollection(
            sizes, sizes, [0.0] * len(places), units="inches", offsets=np.reshape(places, (-1, 2)),
            offset_transform=axes.transData, facecolors="none" if is_low else color, edgecolors=color,
            linewidths=1.1 if is_low else 0.0, clip_on=False,
        )  # fmt: skip
        axes.add_collection(dots, autolim=False)
    if cell.noisy - reach <= 0 <= cell.noisy + reach:
        axes.axvline(0.0, color=style.BLACK, linewidth=0.6, zorder=0)
    axes.set_yticks([])
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.spines["bottom"].set_color(style.FAINT)
    axes.tick_params(labelsize=style.SMALL, width=0.6, length=2.5, pad=1.5)
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
    axes.xaxis.set_major_formatter(lambda tick, _: with_minus(f"{tick:,.0f}"))
    name = f"{style.one_line(cell.name)}: {with_minus(f'{cell.noisy:,}')}{cell.low}"
    axes.set_title(name, loc="left", fontsize=style.SMALL, pad=2.5)


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
    figure, (axes,) = style.new_figure(style.COLUMN_WIDTH, 2.8)
    # Places rather than a logarithmic axis: the candidates are 1, 2, 3, 5, 10, ..., which is nearly the same.
    places = list(range(len(limits)))
    axes.plot(places, both, color=style.BLACK, linewidth=1.6, marker="o", markersize=3.5, label="together", zorder=3)
    axes.plot(
        places, noise, color=style.BLUE, linewidth=1.3, marker="s", markersize=3.5, label="noise: plus-minus at 95%"
    )
    axes.plot(
        places, cut, color=style.VERMILION, linewidth=1.3, linestyle=(0, (5, 1.6)), marker="^", markersize=4.0,
        label="cut off, on average",
    )  # fmt: skip
    best = limits.index(table["recommended"])
    axes.plot(
        [best], [both[best]], "o", markersize=10.0, markerfacecolor="none", markeredgecolor=style.GREEN,
        markeredgewidth=1.6, linestyle="none", label=f"least of both together: {limits[best]:,}", zorder=4,
    )  # fmt: skip
    axes.set_ylim(bottom=0.0)
    axes.set_xticks(places, [f"{limit:,}" for limit in limits], fontsize=style.SMALL)
    style.label(axes, x="cells per unit (max_cells)", y=f"{unit} in a cell")
    axes.yaxis.set_major_formatter(lambda tick, _: with_minus(f"{tick:,.6g}"))
    figure.legend(loc="outside lower left", fontsize=style.SMALL, frameon=False, ncols=2, handlelength=2.2)
    style.add_title(figure, "NOT PRIVATE: for the steward alone")
    return style.in_fonts(figure)
