"""Standard deviations of the Gaussian mechanism by its four bounds, and what pDP asks for beside aDP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.errors import ArgumentError
from ggdp.plots.style import DOUBLE_WIDTH, SIZE, curve, label, level, new_figure, plain_ticks, show_legend
from ggdp_reproduction.checks import one_or_more
from ggdp_reproduction.comparisons import GaussianBounds, gaussian_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

__all__ = ["plot_gaussian_bounds"]

EPSILONS = (0.1, 0.5, 0.9)
POINTS = 61
BOUNDS = {"classic": "classic, aDP", "paper": "Lemma 10, pDP", "tight_pdp": "least, pDP", "analytic": "least, aDP"}


def plot_gaussian_bounds(bounds: GaussianBounds | Sequence[GaussianBounds] | None = None) -> Figure:
    r"""Return a figure of the four bounds, of pDP : aDP by the formulas (the paper's Fig. 3), and by the least scales.

    Parameters
    ----------
    bounds : GaussianBounds or sequence of them, optional
        What `ggdp_reproduction.comparisons.gaussian_bounds` returned for one epsilon and an array of deltas, a curve
        each; the middle one's four bounds are drawn. By default epsilon 0.1, 0.5 and 0.9.

    Examples
    --------
    >>> [axes.get_title(loc="left") for axes in plot_gaussian_bounds().axes]
    ['Bounds at $\\varepsilon$ = 0.5', 'Formulas, pDP : aDP', 'Least, pDP : aDP']
    """
    if bounds is None:
        deltas = np.geomspace(1e-8, 0.5, POINTS)
        bounds = [gaussian_bounds(epsilon, deltas) for epsilon in EPSILONS]
    drawn = one_or_more(GaussianBounds, bounds=bounds)
    if any(np.unique(found.epsilon).size != 1 or found.delta.ndim != 1 for found in drawn):
        shapes = ", ".join(str(found.delta.shape) for found in drawn)
        raise ArgumentError("bounds", shapes, "a curve needs one epsilon and a one-dimensional array of delta")
    figure, (left, middle, right) = new_figure(DOUBLE_WIDTH, 2.6, 3)
    full = drawn[len(drawn) // 2]
    for number, (field, name) in enumerate(BOUNDS.items()):
        curve(left, full.delta, getattr(full, field), number, name)
    for number, found in enumerate(drawn):
        name = f"$\\varepsilon$ = {found.epsilon.flat[0]:g}"
        curve(middle, found.delta, found.paper_to_classic, number, name)
        curve(right, found.delta, found.tight_pdp_to_analytic, number, name)
    label(left, y="std (units of sensitivity)", title=f"Bounds at $\\varepsilon$ = {full.epsilon.flat[0]:g}")
    label(middle, y="ratio of standard deviations", title="Formulas, pDP : aDP")
    label(right, y="ratio of standard deviations", title="Least, pDP : aDP")
    for axes in (left, middle, right):
        axes.set_xscale("log")
        axes.margins(x=0.0)
        show_legend(axes, loc="upper left" if axes is right else "lower left")
    left.set_ylim(bottom=0.0)
    middle.set_ylim(0.0, 1.05)
    right.set_yscale("log")
    plain_ticks(right.yaxis, [1, 1.5, 2, 3, 5, 10])
    for axes in (middle, right):
        level(axes, 1.0)
    figure.supxlabel("$\\delta$", fontsize=SIZE)
    return figure
