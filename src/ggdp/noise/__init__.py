"""Noise distributions, and exact draws of integer noise from a cryptographic stream keyed by the operating system."""

from ggdp.noise.bounded_law import (
    BoundaryInflatedGeneralizedGaussian,
    ErrorMoments,
    TruncatedGeneralizedGaussian,
    boundary_inflated_moments,
    truncated_moments,
)
from ggdp.noise.entropy import SecureSource, SeededSource, Source
from ggdp.noise.generalized_gaussian import GeneralizedGaussian
from ggdp.noise.integer_law import IntegerGeneralizedGaussian
from ggdp.noise.integer_noise import (
    Binomial,
    BoundaryInflatedIntegerNoise,
    ConditionalNoise,
    IntegerNoise,
    TruncatedIntegerNoise,
)
from ggdp.noise.minkowski_noise import MinkowskiNoise

__all__ = [
    "Binomial",
    "BoundaryInflatedGeneralizedGaussian",
    "BoundaryInflatedIntegerNoise",
    "ConditionalNoise",
    "ErrorMoments",
    "GeneralizedGaussian",
    "IntegerGeneralizedGaussian",
    "IntegerNoise",
    "MinkowskiNoise",
    "SecureSource",
    "SeededSource",
    "Source",
    "TruncatedGeneralizedGaussian",
    "TruncatedIntegerNoise",
    "boundary_inflated_moments",
    "truncated_moments",
]
