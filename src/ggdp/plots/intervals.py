"""Released values with their intervals: named bars in one or more panels, points, or ranges of neighboring values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ggdp.errors import ArgumentError
from ggdp.plots import style
from ggdp.releases import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure


# The most values that are bars with room around them, and that are bars at all; and from how many on neighboring values
# are drawn together.
FEW, MOST_BARS, MANY = 40, 200, 2000
# Inches above and below all rows of bars.
_FRAME = 0.55
# Bars that belong together: a heading, if they have one, and their numbers.
Group: TypeAlias = "tuple[str | None, Sequence[int]]"


class Series(NamedTuple):
    """Values with the ends of their intervals; what they are, and what the intervals are."""

    values: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    what: str
    covered: str
    # What the intervals cover, where it is not the obvious.
    covers: str = ""
    counts: bool = False

    @property
    def unit(self) -> tuple[float, str]:
        """The power of ten that the axis is in, and its name."""
        ends = np.concatenate([self.values, self.lower, self.upper])
        most = float(np.abs(ends[np.isfinite(ends)]).max(initial=0.0)) or 1.0
        if 1e-3 <= most < 1e6:
            return 1.0, ""
        power = 3 * math.floor(math.log10(most) / 3.0)
        powers = {6: "millions", 9: "billions", 12: "trillions", 15: "quadrillions", 18: "quintillions"}
        return 10.0**power, powers.get(power, "") if self.counts else f"units of 1e{power}"

    def axis_label(self, intervals: str) -> str:
        """Return the label of the axis of values, with a note on the intervals."""
        power = f" in {self.unit[1]}" if self.unit[1] else ""
        return f"{self.what}{power}{intervals}{self.coverage if intervals else ''}"

    @property
    def coverage(self) -> str:
        """What the intervals cover as a line of a label, if it has to be said."""
        return f"\n(the interval covers {self.covers})" if self.covers else ""

    def reorder(self, order: NDArray[np.int64]) -> Series:
        """Return the same values in another order."""
        return self._replace(values=self.values[order], lower=self.lower[order], upper=self.upper[order])


def with_minus(number: str) -> str:
    """Return a number with a minus sign instead of its hyphen."""
    return number.replace("-", "\N{MINUS SIGN}")


def nothing(drawn: Series, title: str) -> Figure:
    """Return a figure that says that there are no values."""
    figure, (axes,) = style.new_figure(style.COLUMN_WIDTH, 0.9)
    style.label(axes, x=style.wrap(figure, drawn.what, style.COLUMN_WIDTH - 0.3))
    axes.set(xticks=[], yticks=[])
    axes.spines["left"].set_visible(False)
    axes.text(0.5, 0.5, "no values", transform=axes.transAxes, ha="center", va="center", fontsize=style.SIZE)
    style.add_title(figure, title)
    return figure


def bars(
    drawn: Series,
    names: Sequence[str],
    title: str,
    *,
    side: str = "",
    groups: Sequence[Group] = (),
    numbers: Sequence[str] = (),
) -> Figure:
    """Return horizontal bars with their names on the left and, if given, the numbers themselves on the right.

    More rows than a page is high are broken into panels side by side, on the same scale; a group that is broken has its
    heading again.
    """
    panels = _panels(groups or [(None, range(len(names)))])
    rows = max(map(len, panels))
    figure, all_axes = style.new_figure(1.0, 1.0, len(panels), sharex=True)
    headings = [row for panel in panels for row in panel if isinstance(row, str)]
    name, number = style.text_width(figure, names), style.text_width(figure, numbers)
    panel = max(2.1 if len(panels) == 1 else 1.5, style.text_width(figure, headings) + 0.15)
    width = max(style.COLUMN_WIDTH, 0.3 + len(panels) * (name + number + panel + 0.25))
    # A label is centered below its panel, and may be wider than that.
    middle = (0.3 + name + width - number) / 2.0
    across = width - 0.4 if len(panels) > 1 else 2.0 * min(middle, width - middle) - 0.2
    below = style.wrap(figure, drawn.axis_label(f", with its {drawn.covered}"), across)
    height = _FRAME + style.LINE * (style.lines_of(below) - 1) + rows * (0.22 if len(names) <= FEW else 0.155)
    # A long name of the axis has several lines, and the height that it needs; no word is broken.
    word = style.text_width(figure, side.split(), style.SIZE)
    least = min(style.text_width(figure, [side], style.SIZE) / 1.8, 1.3)
    beside = style.wrap(figure, side, max(height - _FRAME, word, least))
    height = max(height, _FRAME + style.text_width(figure, [beside], style.SIZE))
    figure.set_size_inches(width, height)
    figure.set_layout_engine("constrained", wspace=0.05)
    for axes, panel_rows in zip(all_axes, panels, strict=True):
        style.label(axes)
        _bar_panel(axes, drawn, panel_rows, names, numbers, number)
        axes.set_ylim(rows - 0.36, -0.64)
    all_axes[0].set_ylabel(beside, fontsize=style.SIZE)
    if len(panels) == 1:
        all_axes[0].set_xlabel(below, fontsize=style.SIZE)
    else:
        figure.supxlabel(below, fontsize=style.SIZE)
    number_ticks(all_axes[0].xaxis, drawn, 5 if len(panels) == 1 else 4)
    style.add_title(figure, title)
    return figure


def _panels(groups: Sequence[Group]) -> list[list[int | str]]:
    """Return the rows of each panel: a heading or the number of a bar."""
    total = sum(len(members) + (heading is not None) for heading, members in groups)
    # A page has room for 52 rows.
    number = -(-total // 52)
    most = -(-total // number)
    panels: list[list[int | str]] = [[]]
    for heading, members in groups:
        room = most - len(panels[-1])
        if heading is not None and len(members) + 1 > room and len(members) < most and len(panels) < number:
            panels.append([])
        for place, member in enumerate(members):
            if len(panels[-1]) >= most and len(panels) < number:
                panels.append([])
            if heading is not None and (place == 0 or not panels[-1]):
                panels[-1].append(heading)
            panels[-1].append(member)
    return panels


def _bar_panel(
    axes: Axes, drawn: Series, rows: list[int | str], names: Sequence[str], numbers: Sequence[str], width: float
) -> None:
    """Draw the bars of a panel with their intervals, from the top down."""
    members = [row for row in rows if isinstance(row, int)]
    places = np.array([place for place, row in enumerate(rows) if isinstance(row, int)])
    lower, upper = drawn.lower[members], drawn.upper[members]
    axes.barh(places, drawn.values[members], color=style.SKY, height=0.72)
    axes.hlines(places, lower, upper, color=style.BLACK, linewidth=1.0)
    cap = 5.0 if drawn.values.size <= FEW else 3.5
    axes.plot(np.concatenate([lower, upper]), np.concatenate([places, places]), "|", color=style.BLACK, markersize=cap)
    axes.axvline(0.0, color=style.BLACK, linewidth=0.6)
    axes.spines["left"].set_visible(False)
    axes.set_yticks(places, [names[member] for member in members], fontsize=style.SMALL)
    axes.tick_params(axis="y", length=0)
    axes.yaxis.grid(visible=False)
    axes.xaxis.grid(visible=True, color=style.GRID, linewidth=0.6)
    for place, row in enumerate(rows):
        if isinstance(row, str):
            text = axes.text(0.01, place + 0.12, row, transform=axes.get_yaxis_transform(), va="center", weight="bold")
            # The line at zero does not run through the letters.
            text.set(fontsize=style.SMALL, bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5})
    if numbers:
        right = axes.secondary_yaxis("right")
        right.set_yticks(places, [numbers[member] for member in members], fontsize=style.SMALL, ha="right")
        right.tick_params(length=0, pad=4.0 + 72.0 * width)
        right.spines["right"].set_visible(False)


def number_ticks(axis: Axis, drawn: Series, most: int) -> None:
    """Put plain numbers at the ticks of an axis of values, in the unit that its label names."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    power, _ = drawn.unit
    axis.set_major_locator(MaxNLocator(most, steps=[1, 2, 5, 10], integer=drawn.counts and power == 1.0))
    # Zero is always on the axis, so that no two ticks differ by less than six digits show.
    axis.set_major_formatter(FuncFormatter(lambda tick, _: with_minus(f"{tick / power:,.6g}")))


def points(drawn: Series, title: str, along: str = "position") -> Figure:
    """Return a figure of many values: a point with its interval for each, or neighboring values by their range.

    The axis along the values, which are at whole numbers, is named `along`.
    """
    figure, (axes,) = style.new_figure(style.DOUBLE_WIDTH, 2.6)
    if drawn.values.size < MANY:
        places = np.arange(drawn.values.size)
        # More lines than dots of print across the page would be a blot.
        thin = min(1.0, 240.0 / drawn.values.size)
        axes.vlines(places, drawn.lower, drawn.upper, color=style.SKY, linewidth=max(0.3, 1.2 * thin))
        axes.plot(places, drawn.values, ".", color=style.BLUE, markersize=max(0.8, 3.5 * thin), markeredgewidth=0.0)
        said = f"each with its {drawn.covered}"
    else:
        # A page has about a thousand dots across.
        together = -(-drawn.values.size // 1000)
        first = np.arange(0, drawn.values.size, together)
        middle = (first + np.append(first[1:], drawn.values.size) - 1) / 2.0
        # One infinite end leaves a gap: a band of the others would be narrower than the truth.
        ends = np.minimum.reduceat(drawn.lower, first), np.maximum.reduceat(drawn.upper, first)
        span = np.minimum.reduceat(drawn.values, first), np.maximum.reduceat(drawn.values, first)
        axes.fill_between(middle, *ends, color=style.SKY, alpha=0.45, linewidth=0.0, step="mid")
        axes.vlines(middle, *span, color=style.BLUE, linewidth=0.5, capstyle="projecting")
        said = f"{together:,} neighbours together: range of the values (dark) and of their {drawn.covered}s (light)"
    below = style.wrap(figure, f"{along}; {said}{drawn.coverage}", 5.8)
    style.label(axes, x=below, y=style.wrap(figure, drawn.axis_label(""), 2.0))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.axhline(0.0, color=style.BLACK, linewidth=0.6)
    axes.margins(x=0.01)
    number_ticks(axes.yaxis, drawn, 6)
    style.add_title(figure, title)
    return figure


def plot_release(
    release: Release,
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
    unit: str = "unit of the query",
    level: float = 0.95,
) -> Figure:
    """Return a figure of released values, each with the interval for its true value.

    Up to 40 values are bars with names; more are points in their order; from 2,000 on, neighboring values are drawn
    together by their range. Intervals are those of the raw noisy values, so an adjusted value need not be in the middle
    of its interval.

    Parameters
    ----------
    release : Release
        Noisy values.
    labels : sequence of str, optional
        Name of each value, for bars; by default its position.
    title : str, optional
        Title of the figure, above the guarantee. A release that is not private is always called so.
    unit : str, default "unit of the query"
        Unit of the values, for the axis label.
    level : float, default 0.95
        Level of the intervals.

    Examples
    --------
    >>> import ggdp
    >>> noise = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer")
    >>> release = ggdp.Mechanism(noise).release([812, 1031])
    >>> figure = plot_release(release, labels=["smoker", "non-smoker"], title="Survey", unit="persons")
    >>> print(figure.get_suptitle())
    Survey
    1-DP under add-remove neighbours
    """
    values = style.require(Release, release=release).values.reshape(-1)
    style.require(str, unit=unit)
    names = None if labels is None else style.items(str, labels=labels)
    if names is not None and len(names) != values.size:
        raise ArgumentError("labels", f"{len(names)} of them", f"there must be one for each of {values.size} values")
    # An infinite end is left out by matplotlib, and the line to it.
    lower, upper = (ends.reshape(-1).astype(np.float64) for ends in release.interval(level))
    what, covered = f"released value ({style.one_line(unit)})", f"{100 * level:.6g}% interval"
    drawn = Series(values.astype(np.float64), lower, upper, what, covered)
    said = heading(release, None if title is None else style.one_line(style.require(str, title=title), 200))
    if not values.size:
        return style.in_fonts(nothing(drawn, said))
    if values.size > FEW:
        return style.in_fonts(points(drawn, said))
    if names is not None:
        called = [style.level_names(names)[name] for name in names]
    else:
        called = [", ".join(map(str, place)) for place in np.ndindex(release.values.shape or (1,))]
    return style.in_fonts(bars(drawn, called, said, side="position" if names is None else ""))


def heading(release: Release, title: str | None) -> str:
    """Return the title above the guarantee; a release without a guarantee says so first."""
    if release.guarantee is not None:
        return f"{title}\n{release.guarantee}" if title else str(release.guarantee)
    return f"NOT PRIVATE: {title}" if title else "NOT PRIVATE"
