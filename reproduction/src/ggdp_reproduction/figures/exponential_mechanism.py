"""The true loss of the Exponential mechanism over the order of its utility."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp.plots.style import BLACK, COLUMN_WIDTH, SMALL, curve, label, new_figure, show_legend
from ggdp_reproduction.checks import one_or_more
from ggdp_reproduction.comparisons import ExponentialComparison

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_exponential_loss"]


def plot_exponential_loss(comparison: ExponentialComparison) -> Figure:
    """Return a figure, as wide as a column of print, of the true loss and its two parts beside the nominal epsilon.

    Parameters
    ----------
    comparison : ExponentialComparison
        What `ggdp_reproduction.comparisons.exponential_losses` returned.

    Examples
    --------
    >>> import numpy as np
    >>> from ggdp_reproduction.comparisons import exponential_losses
    >>> figure = plot_exponential_loss(exponential_losses(np.linspace(1, 8, 15), 1.0, bounds=(0.0, 10.0)))
    >>> figure.axes[0].get_xlabel()
    'order of the utility'
    """
    one_or_more(ExponentialComparison, comparison=comparison)[0]
    figure, (axes,) = new_figure(COLUMN_WIDTH, 2.6)
    curve(axes, comparison.orders, comparison.loss, 0, "true loss", linewidth=1.7)
    curve(axes, comparison.orders, comparison.weight_loss, 1, "weights alone, at most")
    curve(axes, comparison.orders, comparison.normaliser_loss, 2, "normaliser alone, at most")
    axes.axhline(comparison.epsilon, color=BLACK, linewidth=0.8)
    axes.annotate(
        "nominal $\\varepsilon$",
        (1.0, comparison.epsilon),
        xycoords=("axes fraction", "data"),
        textcoords="offset points",
        xytext=(0, -3),
        ha="right",
        va="top",
        fontsize=SMALL,
    )
    title = "without bounds" if comparison.bounds is None else "on [{:g}, {:g}]".format(*comparison.bounds)
    label(
        axes,
        "order of the utility",
        "privacy loss (nats)",
        f"Exponential mechanism {title}, sensitivity {comparison.sensitivity:g}",
    )
    axes.set_ylim(0.0, 1.05 * comparison.epsilon)
    axes.margins(x=0.0)
    show_legend(axes, loc="center right", bbox_to_anchor=(1.0, 0.72))
    return figure
