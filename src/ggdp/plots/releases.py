"""Released values with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ggdp.errors import ArgumentError
from ggdp.plots.style import BLACK, BLUE, COLUMN_WIDTH, DOUBLE_WIDTH, GRID, SKY, SMALL, label, new_figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ggdp.releases import Release

__all__ = ["plot_release"]

# So few values that each has a bar and a name of its own.
FEW = 40


def plot_release(
    release: Release,
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
    unit: str = "unit of the query",
    level: float = 0.95,
) -> Figure:
    """Return a figure of released values, each with the interval for its true value.

    Up to 40 values are bars with names; more are points in their order. Intervals go by the raw noisy values, so that
    an adjusted value need not be in the middle of its own.

    Parameters
    ----------
    release : Release
        Noisy values.
    labels : sequence of str, optional
        Name of each value; its place where none is given.
    title : str, optional
        Title of the figure; the guarantee where none is given.
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
    values = release.values.reshape(-1)
    names = _names(release) if labels is None else list(labels)
    if len(names) != values.size:
        raise ArgumentError("labels", f"{len(names)} of them", f"there must be one for each of {values.size} values")
    lower, upper = (_drawable(ends) for ends in release.interval(level))
    drawn = _Drawn(values.astype(np.float64), lower, upper, f"released value ({unit})", f"{100 * level:.6g}% interval")
    heading = title if title is not None else str(release.guarantee or "NOT PRIVATE")
    return _bars(drawn, names, heading) if values.size <= FEW else _points(drawn, heading)


class _Drawn(NamedTuple):
    """Values with the ends of their intervals, and what to call both."""

    values: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]
    what: str
    covered: str


def _bars(drawn: _Drawn, names: list[str], heading: str) -> Figure:
    width = max(COLUMN_WIDTH, 3.0 + 0.06 * max(map(len, names), default=0))
    figure, (axes,) = new_figure(width, 0.75 + 0.24 * len(names))
    places = np.arange(drawn.values.size)
    axes.barh(places, drawn.values, color=SKY, height=0.72)
    axes.hlines(places, drawn.lower, drawn.upper, color=BLACK, linewidth=1.0)
    ends = np.concatenate([drawn.lower, drawn.upper])
    axes.plot(ends, np.concatenate([places, places]), "|", color=BLACK, markersize=5.0)
    label(axes, x=f"{drawn.what}, with its {drawn.covered}", title=heading)
    axes.set_yticks(places, names, fontsize=SMALL)
    axes.invert_yaxis()
    axes.axvline(0.0, color=BLACK, linewidth=0.6)
    axes.spines["left"].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.yaxis.grid(visible=False)
    axes.xaxis.grid(visible=True, color=GRID, linewidth=0.6)
    return figure


def _points(drawn: _Drawn, heading: str) -> Figure:
    figure, (axes,) = new_figure(DOUBLE_WIDTH, 2.7)
    places = np.arange(drawn.values.size)
    # More whiskers than dots of print across the page would be a blot.
    thin = min(1.0, 240.0 / drawn.values.size)
    axes.vlines(places, drawn.lower, drawn.upper, color=SKY, linewidth=max(0.3, 1.2 * thin))
    axes.plot(places, drawn.values, ".", color=BLUE, markersize=max(0.8, 3.5 * thin), markeredgewidth=0.0)
    label(axes, x=f"place of the value; each with its {drawn.covered}", y=drawn.what, title=heading)
    axes.axhline(0.0, color=BLACK, linewidth=0.6)
    axes.margins(x=0.01)
    return figure


def _names(release: Release) -> list[str]:
    """Return the place of each value."""
    if release.values.ndim <= 1:
        return [str(place) for place in range(release.values.size)]
    return [", ".join(map(str, place)) for place in np.ndindex(release.values.shape)]


def _drawable(ends: NDArray[Any]) -> NDArray[np.float64]:
    """Return ends of intervals as floats; infinite ones are not drawn."""
    flat = ends.reshape(-1).astype(np.float64)
    return np.where(np.isfinite(flat), flat, np.nan)
