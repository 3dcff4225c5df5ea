"""Densities of the generalized Gaussian family, at equal scale and at equal variance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ggdp.plots.style import DOUBLE_WIDTH, curve, label, new_figure, show_legend
from ggdp_reproduction.checks import one_or_more
from ggdp_reproduction.comparisons import DensityFamily, paper_densities

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

__all__ = ["plot_densities"]

NAMES = {1.0: " (Laplace)", 2.0: " (Gaussian)"}


def plot_densities(families: DensityFamily | Sequence[DensityFamily] | None = None) -> Figure:
    """Return a figure of the densities of families of noise, a panel for each; the paper's Fig. 1 if none is given.

    Parameters
    ----------
    families : DensityFamily or sequence of them, optional
        What `ggdp_reproduction.comparisons.densities_at_scale` and its like returned.

    Examples
    --------
    >>> [axes.get_title(loc="left") for axes in plot_densities().axes]
    ['Same scale, 1.414', 'Same variance, 1']
    """
    drawn = one_or_more(DensityFamily, families=paper_densities() if families is None else families)
    figure, panels = new_figure(DOUBLE_WIDTH, 2.6, len(drawn))
    for axes, family in zip(panels, drawn, strict=True):
        for number, (order, density) in enumerate(zip(family.orders, family.densities, strict=True)):
            curve(axes, family.x, density, number, f"order {order:g}{NAMES.get(float(order), '')}")
        label(
            axes,
            "noise (units of the query)",
            "density (per unit of the query)",
            f"Same {family.shared}, {family.value:.4g}",
        )
        axes.set_ylim(bottom=0.0)
        axes.margins(x=0.0)
    show_legend(panels[-1], loc="upper right")
    return figure
