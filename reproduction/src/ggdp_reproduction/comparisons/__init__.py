"""The paper's analyses as functions: what two mechanisms cost and how large their noise is, side by side.

All of them are about noise on the reals, as the paper's are, and about public parameters alone: no data is read.
"""

from ggdp_reproduction.comparisons.bounded import (
    BoundedComparison,
    DistanceErrors,
    ExponentialComparison,
    LocationErrors,
    bounded_errors,
    distance_errors,
    exponential_losses,
)
from ggdp_reproduction.comparisons.gaussian import (
    LEMMA_DELTA,
    GaussianBounds,
    delta_of_equal_variance,
    gaussian_bounds,
    gaussian_sigma,
    variance_ratio,
)
from ggdp_reproduction.comparisons.orders import (
    PAPER_BOX,
    DensityFamily,
    ScaleComparison,
    densities_at_scale,
    densities_at_variance,
    paper_densities,
    scale_by_monte_carlo,
    scales_by_order,
)
from ggdp_reproduction.comparisons.tails import (
    SameTail,
    TailComparison,
    TailTurn,
    epsilon_of_same_tail,
    paper_same_tails,
    paper_tails,
    tail_probabilities,
    tail_turn,
)

__all__ = [
    "LEMMA_DELTA",
    "PAPER_BOX",
    "BoundedComparison",
    "DensityFamily",
    "DistanceErrors",
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
    "distance_errors",
    "epsilon_of_same_tail",
    "exponential_losses",
    "gaussian_bounds",
    "gaussian_sigma",
    "paper_densities",
    "paper_same_tails",
    "paper_tails",
    "scale_by_monte_carlo",
    "scales_by_order",
    "tail_probabilities",
    "tail_turn",
    "variance_ratio",
]
