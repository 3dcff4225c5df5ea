"""Exact draws of integer noise from a cryptographic stream keyed by the operating system."""

from ggdp.sampling.binomial import Binomial
from ggdp.sampling.bounded import BoundaryInflatedIntegerNoise, TruncatedIntegerNoise
from ggdp.sampling.conditional import ConditionalNoise
from ggdp.sampling.entropy import SecureSource, SeededSource, Source
from ggdp.sampling.noise import IntegerNoise

__all__ = [
    "Binomial",
    "BoundaryInflatedIntegerNoise",
    "ConditionalNoise",
    "IntegerNoise",
    "SecureSource",
    "SeededSource",
    "Source",
    "TruncatedIntegerNoise",
]
