"""Bias, standard deviation and root mean squared error of noise kept in bounds, over the true value."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp.plots.style import DOUBLE_WIDTH, curve, label, level, new_figure, show_legend
from ggdp_reproduction.checks import one_or_more
from ggdp_reproduction.comparisons import BoundedComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_bounded_errors"]


def plot_bounded_errors(comparison: BoundedComparison) -> Figure:
    """Return a figure of the errors of truncated and boundary-inflated noise over the true value.

    Parameters
    ----------
    comparison : BoundedComparison
        What `ggdp_reproduction.comparisons.bounded_errors` returned.

    Examples
    --------
    >>> from ggdp_reproduction.comparisons import bounded_errors
    >>> figure = plot_bounded_errors(bounded_errors(2, 1.0, (0.0, 10.0)))
    >>> [axes.get_title(loc="left") for axes in figure.axes]
    ['Bias', 'Standard deviation', 'Root mean squared error']
    """
    one_or_more(BoundedComparison, comparison=comparison)[0]
    figure, panels = new_figure(DOUBLE_WIDTH, 2.4, 3)
    titles = {"bias": "Bias", "std": "Standard deviation", "rmse": "Root mean squared error"}
    for axes, (field, title) in zip(panels, titles.items(), strict=True):
        curve(axes, comparison.location, getattr(comparison.truncated, field), 0, "truncated")
        curve(axes, comparison.location, getattr(comparison.boundary_inflated, field), 1, "boundary-inflated")
        label(axes, "true value (unit of the query)", "", title)
        axes.margins(x=0.0)
    level(panels[0], 0.0)
    for axes in panels[1:]:
        axes.set_ylim(bottom=0.0)
    panels[0].set_ylabel("error (unit of the query)")
    show_legend(panels[1], loc="lower center")
    return figure
