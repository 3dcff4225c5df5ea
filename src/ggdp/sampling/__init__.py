"""Exact draws of noise from the operating system's randomness."""

from ggdp.sampling.noise import IntegerNoise

__all__ = ["IntegerNoise"]
