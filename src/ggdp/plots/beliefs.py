"""What an attacker can come to believe, against what they believed before."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.plots.style import BLACK, BLUE, COLUMN_WIDTH, VERMILION, curve, label, new_figure, show_legend
from ggdp.privacy.beliefs import belief

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ggdp.privacy import Guarantee

__all__ = ["plot_beliefs"]

_POINTS = 121


def plot_beliefs(guarantee: Guarantee, priors: Sequence[float] = (0.01, 0.1, 0.5)) -> Figure:
    """Return a figure, as wide as a column of print, of the beliefs after a release against those before it.

    Parameters
    ----------
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        What the release keeps.
    priors : sequence of float, default (0.01, 0.1, 0.5)
        Beliefs that are marked.

    Examples
    --------
    >>> import ggdp
    >>> plot_beliefs(ggdp.PureDP(1.0)).axes[0].get_xlabel()
    'belief before the release (%)'
    """
    figure, (axes,) = new_figure(COLUMN_WIDTH, 3.1)
    # As in `plot_noise`: the labels are known.
    figure.set_layout_engine("none")
    axes.set_position((0.15, 0.145, 0.82, 0.83))
    # Closer together at the ends, where the curves bend.
    prior = 50.0 * (1.0 - np.cos(np.linspace(0.0, np.pi, _POINTS)))
    fall = np.exp(-guarantee.epsilon)
    with np.errstate(divide="ignore", invalid="ignore"):
        highest = 100.0 * prior / (prior + (100.0 - prior) * fall)
        lowest = 100.0 * prior * fall / (prior * fall + (100.0 - prior))
    axes.fill_between(prior, lowest, highest, color=BLUE, alpha=0.14, linewidth=0.0)
    curve(axes, prior, highest, 0, "at most, after the release")
    curve(axes, prior, lowest, 2, "at least, after the release")
    axes.plot([0, 100], [0, 100], color=BLACK, linewidth=0.8, linestyle=(0, (2, 2)), label="nothing learned")
    marked = [belief(guarantee, one) for one in priors]
    axes.plot(
        [100.0 * one.prior for one in marked],
        [100.0 * one.highest for one in marked],
        linestyle="none",
        marker="o",
        markersize=5.0,
        color=VERMILION,
        clip_on=False,
        zorder=4,
    )
    axes.set_xlim(0.0, 100.0)
    axes.set_ylim(0.0, 100.0)
    axes.set_aspect("equal")
    label(axes, "belief before the release (%)", "belief after it (%)")
    show_legend(axes, loc="lower right", handlelength=1.8)
    return figure
