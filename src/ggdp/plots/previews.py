"""Previews of a release for its steward: simulated or public tables with their noise, dot plots, and cells per unit.

`plot_original_and_noisy` shows cells next to what a release would publish of them. `plot_cells_per_unit` weighs the
noise against what a limit of cells per unit cuts off; it looks at the data and is NOT private. Quantile dot plots show
what a noisy count says about the true one, as a few equally likely cases, one dot each:

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
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.noise import IntegerGeneralizedGaussian
from ggdp.plots import style
from ggdp.plots.intervals import FEW, MANY, Series, number_ticks, with_minus

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def plot_original_and_noisy(
    names: Sequence[str],
    original: NDArray[np.float64],
    noisy: NDArray[np.float64],
    lower: NDArray[np.float64],
    upper: NDArray[np.float64],
    *,
    what: str = "count",
    origin: str = "original",
) -> Figure:
    """Return a figure of each cell's value before noise, which is called `origin`, its noisy value and 95% interval.

    Up to 40 cells have a row each; more are points, noisy against original, with the diagonal where both are equal. Of
    more than 2,000 cells so many are drawn, from the smallest to the largest.
    """
    drawn = Series(noisy, lower, upper, what, "95% interval", counts=what.startswith("count"))
    figure = (_rows if len(names) <= FEW else _points)(names, original, drawn, origin)
    figure.legend(
        loc="outside lower left", fontsize=style.SMALL, frameon=False, ncols=3, handletextpad=0.4, columnspacing=1.2
    )
    return style.in_fonts(figure, (*names, what, origin))


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
        original, drawn = original[chosen], drawn.reorder(chosen)
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
    """Return the equally likely true counts of a cell, given its noisy count and the order and scale of the noise."""
    number = _validate.integer(dots=dots, at_least=1)
    law = IntegerGeneralizedGaussian(order=order, scale=scale)
    # The upper half mirrors the lower one, as the noise does: no quantile is rounded to one side only.
    lower = [int(law.ppf((place + 0.5) / number)) for place in range(number // 2)]
    errors = [*lower, *[0] * (number % 2), *(-error for error in reversed(lower))]
    return CountDots(name, int(noisy), tuple(int(noisy) + error for error in errors))


def dots_in_words(cell: CountDots) -> str:
    """Return what the dots of a cell say."""
    return f"{cell.name}: noisy count {cell.noisy:,}, dots from {cell.cases[0]:,} to {cell.cases[-1]:,}{cell.low}"


def place_dots(cases: Sequence[int], width: float) -> list[Dot]:
    """Return where dots of a width, in counts, are drawn.

    Dots wider than a count are stacked from the left: a stack has all that are closer than a dot's width to its first
    one. Of narrower dots, those of a count stand in as many columns as have room above it.
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


def plot_count_dots(cells: Sequence[CountDots], *, unit: str = "rows") -> Figure:
    """Return a figure of the uncertainty of counts, a row of stacked dots for each cell, all on axes of one width.

    The cells are those of one release: their noise is the same. Dots at 0 or below have their own color and are hollow,
    for print in gray.
    """
    if not cells:
        raise ArgumentError("cells", type(cells), "must not be empty")
    figure, _ = style.new_figure(style.COLUMN_WIDTH, 1.0, 0)
    from matplotlib.collections import EllipseCollection
    from matplotlib.ticker import MaxNLocator

    figure.set_layout_engine("none")
    # Inches: of the dots of a cell, of what is below them, and next to them.
    panel, below, side = 0.62, 0.32, 0.12
    across = style.COLUMN_WIDTH - 2 * side
    said = style.wrap(figure, f"Each dot is 1 of {len(cells[0].cases)} equally likely true counts", across)
    top = 0.1 + style.LINE * 1.1 * style.lines_of(said)
    height = top + len(cells) * (panel + style.LINE + below) + style.LINE
    figure.set_size_inches(style.COLUMN_WIDTH, height)
    figure.text(side / style.COLUMN_WIDTH, 1.0 - 0.06 / height, said, va="top", fontsize=style.SIZE, linespacing=1.3)
    # The outermost dot is a little inside its axis.
    reach = max(1.0, *(1.12 * max(abs(case - cell.noisy) for case in cell.cases) for cell in cells))
    count = across / (2.0 * reach)
    # The largest diameter at which every stack has room.
    diameter = panel / 3.0
    while any(diameter * (dot.row + 1) > panel for cell in cells for dot in place_dots(cell.cases, diameter / count)):
        diameter *= 0.97
    for place, cell in enumerate(cells):
        bottom = height - top - (place + 1) * (panel + style.LINE + below) + below
        corner = (side / style.COLUMN_WIDTH, bottom / height, across / style.COLUMN_WIDTH, panel / height)
        axes = figure.add_axes(corner, label=f"cell {place}")
        axes.set(xlim=(cell.noisy - reach, cell.noisy + reach), ylim=(0.0, panel), yticks=[])
        for is_low in (False, True):
            dots = [dot for dot in place_dots(cell.cases, diameter / count) if (dot.case <= 0) == is_low]
            offsets = np.reshape([(dot.across, diameter * (dot.row + 0.5)) for dot in dots], (-1, 2))
            color, sizes = style.VERMILION if is_low else style.BLUE, [0.9 * diameter] * len(dots)
            drawn = EllipseCollection(
                sizes, sizes, [0.0] * len(dots), units="inches", offsets=offsets, offset_transform=axes.transData,
                facecolors="none" if is_low else color, edgecolors=color, linewidths=1.1 if is_low else 0.0,
                clip_on=False,
            )  # fmt: skip
            axes.add_collection(drawn, autolim=False)
        if abs(cell.noisy) <= reach:
            axes.axvline(0.0, color=style.BLACK, linewidth=0.6, zorder=0)
        axes.spines[["top", "right", "left"]].set_visible(False)
        axes.spines["bottom"].set_color(style.FAINT)
        axes.tick_params(labelsize=style.SMALL, width=0.6, length=2.5, pad=1.5)
        axes.xaxis.set_major_locator(MaxNLocator(6, integer=True, steps=[1, 2, 5, 10]))
        axes.xaxis.set_major_formatter(lambda tick, _: with_minus(f"{tick:,.0f}"))
        name = f"{style.one_line(cell.name)}: {with_minus(f'{cell.noisy:,}')}{cell.low}"
        axes.set_title(name, loc="left", fontsize=style.SMALL, pad=2.5)
    figure.axes[-1].set_xlabel(f"count of {style.one_line(unit)}", fontsize=style.SIZE)
    return style.in_fonts(figure, (unit, *(cell.name for cell in cells)))


def plot_cells_per_unit(
    costs: Mapping[int, tuple[float, float]], recommended: int, *, setting: str, unit: str = "units"
) -> Figure:
    """Return a figure of what limits of the cells per unit cost: the plus-minus of a count, and the mean cut from it.

    `costs` has both for each limit; `setting` is the name under which a limit is set.
    """
    # Places rather than a logarithmic axis: the candidates are 1, 2, 3, 5, 10, ..., which is nearly the same.
    places, limits = range(len(costs)), list(costs)
    noise, cut = zip(*costs.values(), strict=True)
    both = [first + second for first, second in costs.values()]
    figure, (axes,) = style.new_figure(style.COLUMN_WIDTH, 2.8)
    axes.plot(places, both, color=style.BLACK, linewidth=1.6, marker="o", markersize=3.5, label="together", zorder=3)
    style.curve(axes, places, noise, 0, "noise: plus-minus at 95%", marker="s", markersize=3.5)
    style.curve(axes, places, cut, 1, "cut off, on average", marker="^", markersize=4.0)
    best = limits.index(recommended)
    (mark,) = axes.plot([best], [both[best]], "o", label=f"least of both together: {recommended:,}", zorder=4)
    mark.set(markersize=10.0, markerfacecolor="none", markeredgecolor=style.GREEN, markeredgewidth=1.6)
    axes.set_ylim(bottom=0.0)
    axes.set_xticks(places, [f"{limit:,}" for limit in limits], fontsize=style.SMALL)
    style.label(axes, x=f"cells per unit ({setting})", y=f"{unit} in a cell")
    axes.yaxis.set_major_formatter(lambda tick, _: with_minus(f"{tick:,.6g}"))
    figure.legend(loc="outside lower left", fontsize=style.SMALL, frameon=False, ncols=2, handlelength=2.2)
    style.add_title(figure, "NOT PRIVATE: for the steward alone")
    return style.in_fonts(figure)
