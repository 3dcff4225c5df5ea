"""Values of cells beside what a release would publish of them. Of data that are simulated or public."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ggdp.plots.intervals import FEW, MANY, Drawn, number_ticks, with_minus
from ggdp.plots.names import level_names, one_line
from ggdp.plots.style import BLUE, COLUMN_WIDTH, FAINT, GRID, SIZE, SKY, SMALL, VERMILION, label, new_figure
from ggdp.plots.text import LINE, add_title, in_fonts, text_width

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

__all__ = ["plot_original_and_noisy"]

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
