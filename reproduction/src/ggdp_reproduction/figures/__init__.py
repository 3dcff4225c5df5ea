"""The figures of the paper's analyses."""

from ggdp_reproduction.figures.theory import (
    plot_bounded_errors,
    plot_densities,
    plot_dispersion,
    plot_exponential_loss,
    plot_gaussian_bounds,
    plot_plain_distance,
    plot_same_tail,
    plot_scales,
    plot_tail_ratio,
    plot_tails,
)

__all__ = [
    "plot_bounded_errors",
    "plot_densities",
    "plot_dispersion",
    "plot_exponential_loss",
    "plot_gaussian_bounds",
    "plot_plain_distance",
    "plot_same_tail",
    "plot_scales",
    "plot_tail_ratio",
    "plot_tails",
]
