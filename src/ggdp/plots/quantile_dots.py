"""Quantile dot plots: what a noisy count says of the true one, as a few equally likely cases, a dot each.

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

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ggdp import _validate
from ggdp.distributions import IntegerGeneralizedGaussian
from ggdp.plots.intervals import with_minus
from ggdp.plots.names import one_line
from ggdp.plots.style import BLACK, BLUE, COLUMN_WIDTH, FAINT, SIZE, SMALL, VERMILION, new_figure, one_or_more
from ggdp.plots.text import LINE, in_fonts, lines_of, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["CountDots", "Dot", "count_dots", "dots_in_words", "placed", "plot_count_dots"]

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
