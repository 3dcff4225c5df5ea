"""The figures of the paper's analyses; they need the extra `plots`."""

from ggdp_reproduction.figures.bounded_noise import plot_bounded_errors
from ggdp_reproduction.figures.densities import plot_densities
from ggdp_reproduction.figures.dispersion import plot_dispersion
from ggdp_reproduction.figures.exponential_mechanism import plot_exponential_loss
from ggdp_reproduction.figures.gaussian_scales import plot_gaussian_bounds
from ggdp_reproduction.figures.order_scales import plot_scales
from ggdp_reproduction.figures.tails import plot_same_tail, plot_tail_ratio, plot_tails

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
