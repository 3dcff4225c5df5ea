"""The paper's analyses as functions: what two mechanisms cost and how large their noise is, side by side.

All of them are about noise on the reals, as the paper's are, and about public parameters alone: no data is read.
"""

from ggdp_reproduction.comparisons.bounded_noise import BoundedComparison, LocationErrors, bounded_errors
from ggdp_reproduction.comparisons.densities import (
    DensityFamily,
    densities_at_scale,
    densities_at_variance,
    paper_densities,
)
from ggdp_reproduction.comparisons.dispersion import LEMMA_DELTA, delta_of_equal_variance, variance_ratio
from ggdp_reproduction.comparisons.exponential_mechanism import ExponentialComparison, exponential_losses
from ggdp_reproduction.comparisons.gaussian_scales import GaussianBounds, gaussian_bounds, gaussian_sigma
from ggdp_reproduction.comparisons.order_scales import PAPER_BOX, ScaleComparison, scales_by_order
from ggdp_reproduction.comparisons.same_tail import SameTail, epsilon_of_same_tail, paper_same_tails
from ggdp_reproduction.comparisons.tails import TailComparison, TailTurn, paper_tails, tail_probabilities, tail_turn

__all__ = [
    "LEMMA_DELTA",
    "PAPER_BOX",
    "BoundedComparison",
    "DensityFamily",
    "ExponentialComparison",
    "GaussianBounds",
    "LocationErrors",
    "SameTail",
    "ScaleComparison",
    "TailComparison",
    "TailTurn",
    "bounded_errors",
    "delta_of_equal_variance",
    "densities_at_scale",
    "densities_at_variance",
    "epsilon_of_same_tail",
    "exponential_losses",
    "gaussian_bounds",
    "gaussian_sigma",
    "paper_densities",
    "paper_same_tails",
    "paper_tails",
    "scales_by_order",
    "tail_probabilities",
    "tail_turn",
    "variance_ratio",
]
