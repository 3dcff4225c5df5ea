"""The laws of the noise."""

from ggdp.distributions.boundary_inflated import BoundaryInflatedGeneralizedGaussian
from ggdp.distributions.generalized_gaussian import GeneralizedGaussian
from ggdp.distributions.integer import IntegerGeneralizedGaussian
from ggdp.distributions.truncated import TruncatedGeneralizedGaussian

__all__ = [
    "BoundaryInflatedGeneralizedGaussian",
    "GeneralizedGaussian",
    "IntegerGeneralizedGaussian",
    "TruncatedGeneralizedGaussian",
]
