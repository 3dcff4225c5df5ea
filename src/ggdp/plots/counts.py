"""Bars of noisy counts with their intervals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp.errors import MissingExtraError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

__all__ = ["plot_counts"]

# Okabe and Ito's blue and black: told apart by everybody, in print too.
BAR, WHISKER = "#56B4E9", "#000000"


def plot_counts(
    labels: Sequence[str],
    counts: Sequence[int],
    half_width: float,
    *,
    title: str,
    level: float = 0.95,
) -> Figure:
    """Return a figure of noisy counts as bars, each with an interval of the same half width.

    Parameters
    ----------
    labels : sequence of str
        Name of each cell.
    counts : sequence of int
        Noisy count of each cell.
    half_width : float
        Half width of the interval of each cell.
    title : str
        Title of the figure.
    level : float, default 0.95
        Level of the intervals, for the axis label.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        message = "plots need matplotlib: pip install 'ggdp[plots]'"
        raise MissingExtraError(message) from None
    figure = Figure(figsize=(6.4, 0.6 + 0.34 * len(labels)), layout="constrained")
    axes = figure.add_subplot()
    places = range(len(labels))
    axes.barh(places, counts, color=BAR, height=0.72)
    axes.errorbar(counts, places, xerr=half_width, fmt="none", ecolor=WHISKER, elinewidth=1.1, capsize=3)
    axes.set_yticks(places, labels)
    axes.invert_yaxis()
    axes.axvline(0.0, color=WHISKER, linewidth=0.8)
    axes.set_xlabel(f"noisy count of persons, with its {level:.0%} interval")
    axes.set_title(title, loc="left", fontsize=10)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.xaxis.grid(visible=True, color="0.9")
    axes.set_axisbelow(True)
    return figure
