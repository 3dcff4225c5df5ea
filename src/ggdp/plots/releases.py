"""Released values with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.errors import ArgumentError
from ggdp.plots.intervals import FEW, Drawn, bars, nothing, points
from ggdp.plots.names import level_names, one_line
from ggdp.plots.style import items, required
from ggdp.plots.text import in_fonts
from ggdp.releases import Release

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

__all__ = ["heading", "plot_release"]


def plot_release(
    release: Release,
    *,
    labels: Sequence[str] | None = None,
    title: str | None = None,
    unit: str = "unit of the query",
    level: float = 0.95,
) -> Figure:
    """Return a figure of released values, each with the interval for its true value.

    Up to 40 values are bars with names; more are points in their order; from 2,000 on, neighbouring values are drawn
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
    values = required(Release, release=release).values.reshape(-1)
    required(str, unit=unit)
    names = None if labels is None else items(str, labels=labels)
    if names is not None and len(names) != values.size:
        raise ArgumentError("labels", f"{len(names)} of them", f"there must be one for each of {values.size} values")
    # An infinite end is left out by matplotlib, and the line to it.
    lower, upper = (ends.reshape(-1).astype(np.float64) for ends in release.interval(level))
    what, covered = f"released value ({one_line(unit)})", f"{100 * level:.6g}% interval"
    drawn = Drawn(values.astype(np.float64), lower, upper, what, covered)
    said = heading(release, None if title is None else one_line(required(str, title=title), 200))
    if not values.size:
        return in_fonts(nothing(drawn, said))
    if values.size > FEW:
        return in_fonts(points(drawn, said))
    shown_names = _places(release) if names is None else [level_names(names)[name] for name in names]
    return in_fonts(bars(drawn, shown_names, said, side="position" if names is None else ""))


def heading(release: Release, title: str | None) -> str:
    """Return the title above the guarantee; a release without a guarantee says so first."""
    if release.guarantee is not None:
        return f"{title}\n{release.guarantee}" if title else str(release.guarantee)
    return f"NOT PRIVATE: {title}" if title else "NOT PRIVATE"


def _places(release: Release) -> list[str]:
    """Return the place of each value."""
    if release.values.ndim <= 1:
        return [str(place) for place in range(release.values.size)]
    return [", ".join(map(str, place)) for place in np.ndindex(release.values.shape)]
