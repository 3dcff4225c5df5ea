"""The laws of the noise."""

from ggdp.distributions.boundary_inflated import BoundaryInflatedGeneralizedGaussian, boundary_inflated_moments
from ggdp.distributions.bounded_moments import ErrorMoments
from ggdp.distributions.generalized_gaussian import GeneralizedGaussian
from ggdp.distributions.integer import IntegerGeneralizedGaussian
from ggdp.distributions.truncated import TruncatedGeneralizedGaussian, truncated_moments

__all__ = [
    "BoundaryInflatedGeneralizedGaussian",
    "ErrorMoments",
    "GeneralizedGaussian",
    "IntegerGeneralizedGaussian",
    "TruncatedGeneralizedGaussian",
    "boundary_inflated_moments",
    "truncated_moments",
]
