"""Figures; they need the extra `plots`."""

from ggdp.plots.bounded import plot_bounded_errors
from ggdp.plots.densities import plot_densities
from ggdp.plots.dispersion import plot_dispersion
from ggdp.plots.exponential import plot_exponential_loss
from ggdp.plots.gaussian_bounds import plot_gaussian_bounds
from ggdp.plots.plans import plot_plan
from ggdp.plots.releases import plot_release
from ggdp.plots.scales import plot_scales
from ggdp.plots.tables import plot_table
from ggdp.plots.tails import plot_same_tail, plot_tail_ratio, plot_tails

__all__ = [
    "plot_bounded_errors",
    "plot_densities",
    "plot_dispersion",
    "plot_exponential_loss",
    "plot_gaussian_bounds",
    "plot_plan",
    "plot_release",
    "plot_same_tail",
    "plot_scales",
    "plot_table",
    "plot_tail_ratio",
    "plot_tails",
]
