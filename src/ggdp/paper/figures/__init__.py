"""The figures of the paper's analyses; they need the extra `plots`."""

from ggdp.paper.figures.bounded_noise import plot_bounded_errors
from ggdp.paper.figures.densities import plot_densities
from ggdp.paper.figures.dispersion import plot_dispersion
from ggdp.paper.figures.exponential_mechanism import plot_exponential_loss
from ggdp.paper.figures.gaussian_scales import plot_gaussian_bounds
from ggdp.paper.figures.order_scales import plot_scales
from ggdp.paper.figures.tails import plot_same_tail, plot_tail_ratio, plot_tails

__all__ = [
    "plot_bounded_errors",
    "plot_densities",
    "plot_dispersion",
    "plot_exponential_loss",
    "plot_gaussian_bounds",
    "plot_same_tail",
    "plot_scales",
    "plot_tail_ratio",
    "plot_tails",
]
