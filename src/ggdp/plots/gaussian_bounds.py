"""Standard deviations of the Gaussian mechanism by its four bounds, and what pDP asks for beside aDP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.errors import ArgumentError
from ggdp.plots.style import DOUBLE_WIDTH, SIZE, curve, label, level, new_figure, plain_ticks, show_legend

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ggdp.comparisons import GaussianBounds

__all__ = ["plot_gaussian_bounds"]

EPSILONS = (0.1, 0.5, 0.9)
POINTS = 61
BOUNDS = {"classic": "classic, aDP", "paper": "Lemma 10, pDP", "tight_pdp": "least, pDP", "analytic": "least, aDP"}


def plot_gaussian_bounds(bounds: Sequence[GaussianBounds] | None = None) -> Figure:
    r"""Return a figure of the four bounds, of pDP : aDP by the formulas (the paper's Fig. 3), and by the least scales.

    Parameters
    ----------
    bounds : sequence of GaussianBounds, optional
        What `ggdp.comparisons.gaussian_bounds` returned for one epsilon and an array of deltas, a curve each; the
        middle one's four bounds are drawn. By default epsilon 0.1, 0.5 and 0.9.

    Examples
    --------
    >>> [axes.get_title(loc="left") for axes in plot_gaussian_bounds().axes]
    ['Bounds at $\\varepsilon$ = 0.5', 'Formulas, pDP : aDP', 'Least, pDP : aDP']
    """
    if bounds is None:
        from ggdp.comparisons import gaussian_bounds

        deltas = np.geomspace(1e-8, 0.5, POINTS)
        bounds = [gaussian_bounds(epsilon, deltas) for epsilon in EPSILONS]
    if not bounds or any(np.unique(found.epsilon).size != 1 or found.delta.ndim != 1 for found in bounds):
        raise ArgumentError("bounds", len(bounds), "a curve needs one epsilon and a one-dimensional array of delta")
    figure, (left, middle, right) = new_figure(DOUBLE_WIDTH, 2.6, 3)
    full = bounds[len(bounds) // 2]
    for number, (field, name) in enumerate(BOUNDS.items()):
        curve(left, full.delta, getattr(full, field), number, name)
    for number, found in enumerate(bounds):
        name = f"$\\varepsilon$ = {found.epsilon.flat[0]:g}"
        curve(middle, found.delta, found.paper_to_classic, number, name)
        curve(right, found.delta, found.tight_pdp_to_analytic, number, name)
    label(
        left,
        y="standard deviation (units of sensitivity)",
        title=f"Bounds at $\\varepsilon$ = {full.epsilon.flat[0]:g}",
    )
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
