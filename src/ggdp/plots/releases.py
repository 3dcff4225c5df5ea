"""Released values with their intervals."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ggdp._rounding import shown
from ggdp.errors import ArgumentError
from ggdp.plots.style import (
    BLACK,
    BLUE,
    COLUMN_WIDTH,
    DOUBLE_WIDTH,
    GRID,
    SIZE,
    SKY,
    SMALL,
    in_lines,
    items,
    label,
    new_figure,
    required,
)
from ggdp.privacy import PureDP
from ggdp.releases import Release

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ggdp.privacy import Guarantee

__all__ = ["FEW", "MANY", "PLACE", "Drawn", "bands", "bars", "bars_at", "heading", "nothing", "plot_release", "points"]

# So few values that each has a bar and a name of its own.
FEW = 40
# So many that neighbours are drawn together, in about as many bins as a page has dots across.
MANY = 2000
BINS = 1000
PLACE = "place of the value"


def plot_release(
    release: Release,
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
    unit: str = "unit of the query",
    level: float = 0.95,
) -> Figure:
    """Return a figure of released values, each with the interval for its true value.

    Up to 40 values are bars with names; more are points in their order; from 2,000 on, neighbours are drawn together by
    their range. Intervals go by the raw noisy values, so that an adjusted value need not be in the middle of its own.

    Parameters
    ----------
    release : Release
        Noisy values.
    labels : sequence of str, optional
        Name of each value, for bars; its place where none is given.
    title : str, optional
        Title of the figure; the guarantee where none is given. Values that are not private are always called so.
    unit : str, default "unit of the query"
        Unit of the values, for the axis label.
    level : float, default 0.95
        Level of the intervals.

    Examples
    --------
    >>> import ggdp
    >>> noise = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.histogram(), order=1, support="integer")
    >>> release = ggdp.Mechanism(noise).release([812, 1031])
    >>> plot_release(release, labels=["smoker", "non-smoker"], unit="persons").axes[0].get_xlabel()
    'released value (persons), with its 95% interval'
    """
    values = required(Release, release=release).values.reshape(-1)
    required(str, unit=unit)
    names = None if labels is None else items(str, labels=labels)
    if names is not None and len(names) != values.size:
        raise ArgumentError("labels", f"{len(names)} of them", f"there must be one for each of {values.size} values")
    # An infinite end is left out by matplotlib, and the line to it.
    lower, upper = (ends.reshape(-1).astype(np.float64) for ends in release.interval(level))
    drawn = Drawn(values.astype(np.float64), lower, upper, f"released value ({unit})", f"{100 * level:.6g}% interval")
    said = heading(release, title if title is None else required(str, title=title))
    if not values.size:
        return nothing(drawn, said)
    if values.size <= FEW:
        return bars(drawn, names, _places(release), said)
    return points(drawn, said) if values.size < MANY else bands(drawn, said)


class Drawn(NamedTuple):
    """Values with the ends of their intervals, and what to call both."""

    values: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    what: str
    covered: str


def nothing(drawn: Drawn, said: str) -> Figure:
    """Return a figure that says that there are no values."""
    figure, (axes,) = new_figure(COLUMN_WIDTH, 1.2)
    label(axes, x=drawn.what, title=in_lines(axes, said))
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.text(0.5, 0.5, "no values", transform=axes.transAxes, ha="center", va="center", fontsize=SIZE)
    return figure


def bars(drawn: Drawn, labels: list[str] | None, own: list[str], said: str) -> Figure:
    """Return a figure of few values: bars with names, or with their own places where there are none."""
    names = own if labels is None else labels
    width = max(COLUMN_WIDTH, 3.0 + 0.06 * max(map(len, names)))
    # The name of the axis of places needs a height of its own.
    figure, (axes,) = new_figure(width, max(0.75 + 0.24 * len(names), 1.75 if labels is None else 0.0))
    places = np.arange(drawn.values.size)
    label(axes, f"{drawn.what}, with its {drawn.covered}", PLACE if labels is None else "", in_lines(axes, said))
    bars_at(axes, places, drawn)
    axes.set_yticks(places, names, fontsize=SMALL)
    # As much room beyond the outer bars as between two.
    axes.margins(y=0.28 / len(names))
    return figure


def bars_at(axes: Axes, places: NDArray[Any], drawn: Drawn) -> None:
    """Draw horizontal bars with their intervals, from the top down."""
    axes.barh(places, drawn.values, color=SKY, height=0.72)
    axes.hlines(places, drawn.lower, drawn.upper, color=BLACK, linewidth=1.0)
    ends = np.concatenate([drawn.lower, drawn.upper])
    axes.plot(ends, np.concatenate([places, places]), "|", color=BLACK, markersize=5.0)
    axes.invert_yaxis()
    axes.axvline(0.0, color=BLACK, linewidth=0.6)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.yaxis.grid(visible=False)
    axes.xaxis.grid(visible=True, color=GRID, linewidth=0.6)


def points(drawn: Drawn, said: str) -> Figure:
    """Return a figure of many values: a point with its interval for each."""
    figure, (axes,) = new_figure(DOUBLE_WIDTH, 2.7)
    places = np.arange(drawn.values.size)
    # More whiskers than dots of print across the page would be a blot.
    thin = min(1.0, 240.0 / drawn.values.size)
    axes.vlines(places, drawn.lower, drawn.upper, color=SKY, linewidth=max(0.3, 1.2 * thin))
    axes.plot(places, drawn.values, ".", color=BLUE, markersize=max(0.8, 3.5 * thin), markeredgewidth=0.0)
    over_places(axes, f"each with its {drawn.covered}", drawn.what, said)
    return figure


def bands(drawn: Drawn, said: str) -> Figure:
    """Return a figure of very many values: neighbours together, by their range."""
    figure, (axes,) = new_figure(DOUBLE_WIDTH, 2.7)
    together = -(-drawn.values.size // BINS)
    first = np.arange(0, drawn.values.size, together)
    middle = (first + np.append(first[1:], drawn.values.size) - 1) / 2.0
    # One infinite end leaves a gap: a band of the others would be narrower than the truth.
    ends = np.minimum.reduceat(drawn.lower, first), np.maximum.reduceat(drawn.upper, first)
    span = np.minimum.reduceat(drawn.values, first), np.maximum.reduceat(drawn.values, first)
    axes.fill_between(middle, *ends, color=SKY, alpha=0.45, linewidth=0.0, step="mid")
    axes.vlines(middle, *span, color=BLUE, linewidth=0.5, capstyle="projecting")
    what = f"{together:,} neighbours together: range of the values (dark) and of each with its {drawn.covered} (light)"
    over_places(axes, what, drawn.what, said)
    return figure


def over_places(axes: Axes, shown: str, what: str, said: str) -> None:
    """Label a panel over the places of the values, which are whole numbers."""
    label(axes, f"{PLACE}; {shown}", what, in_lines(axes, said))
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.axhline(0.0, color=BLACK, linewidth=0.6)
    axes.margins(x=0.01)


def heading(release: Release, title: str | None) -> str:
    """Return the title, or the guarantee; where there is none that comes first, so that no long title hides it."""
    if release.guarantee is not None:
        return _short(release.guarantee) if title is None else title
    return f"NOT PRIVATE: {title}" if title else "NOT PRIVATE"


def _short(guarantee: Guarantee) -> str:
    """Return a guarantee with three digits of its delta, rounded up: a weaker promise that holds too."""
    if isinstance(guarantee, PureDP) or (delta := float(shown(guarantee.delta, digits=3))) >= 1.0:
        return str(guarantee)
    return str(replace(guarantee, delta=delta))


def _places(release: Release) -> list[str]:
    """Return the place of each value."""
    if release.values.ndim <= 1:
        return [str(place) for place in range(release.values.size)]
    return [", ".join(map(str, place)) for place in np.ndindex(release.values.shape)]
