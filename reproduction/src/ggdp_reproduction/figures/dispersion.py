"""Which noise varies more, Gaussian or Laplace: the ratio of variances and where it is 1."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.plots.style import BLACK, DOUBLE_WIDTH, SMALL, curve, label, level, new_figure, plain_ticks, show_legend
from ggdp_reproduction.comparisons import LEMMA_DELTA, delta_of_equal_variance, variance_ratio

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ggdp_reproduction.comparisons.gaussian_scales import Gaussian

__all__ = ["plot_dispersion"]

EPSILONS = (0.1, 1.0, 2.0)
KINDS: dict[Gaussian, str] = {
    "paper": "Gaussian of Lemma 10",
    "tight-pdp": "least for pDP",
    "analytic": "least for aDP",
}
POINTS = 241


def plot_dispersion() -> Figure:
    r"""Return a figure of the ratio of variances, Gaussian to Laplace, and of the goals at which it is 1.

    Examples
    --------
    >>> [axes.get_ylabel() for axes in plot_dispersion().axes]
    ['variance, Gaussian : Laplace', '$\\delta$']
    """
    figure, (left, right) = new_figure(DOUBLE_WIDTH, 2.7, 2)
    delta = np.geomspace(1e-6, 0.5, POINTS)
    for number, epsilon in enumerate(EPSILONS):
        curve(left, delta, variance_ratio(epsilon, delta), number, f"$\\varepsilon$ = {epsilon:g}")
    level(left, 1.0)
    left.axvline(LEMMA_DELTA, color=BLACK, linewidth=0.8, linestyle=(0, (1, 2)))
    left.set_xscale("log")
    left.set_yscale("log")
    plain_ticks(left.yaxis, [0.2, 0.5, 1, 2, 5, 10, 20])
    label(left, "$\\delta$", "variance, Gaussian : Laplace", "Gaussian noise of Lemma 10")
    left.annotate(
        f"Lemma 11: {LEMMA_DELTA:.3f}",
        (LEMMA_DELTA, 0.98),
        xycoords=("data", "axes fraction"),
        textcoords="offset points",
        xytext=(-3, 0),
        ha="right",
        va="top",
        fontsize=SMALL,
    )
    show_legend(left, loc="lower left")
    left.margins(x=0.0)
    epsilon_axis = np.linspace(0.0, 5.0, POINTS)[1:]
    for number, (kind, name) in enumerate(KINDS.items()):
        edge = delta_of_equal_variance(epsilon_axis, kind)
        curve(right, epsilon_axis, edge, number, name)
    right.axhline(LEMMA_DELTA, color=BLACK, linewidth=0.8, linestyle=(0, (1, 2)))
    right.annotate(
        "Lemma 11", (4.95, LEMMA_DELTA), textcoords="offset points", xytext=(0, 2), ha="right", fontsize=SMALL
    )
    right.set_xlim(0.0, 5.0)
    right.set_ylim(0.0, 1.0)
    label(right, "$\\varepsilon$", "$\\delta$", "Below its line, Gaussian noise varies more than Laplace")
    show_legend(right, loc="upper left")
    return figure
