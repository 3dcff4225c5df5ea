"""What follows from a worst case: the guarantee of given noise, Renyi curves, and totals of several releases."""

from ggdp.accounting.composition import Composable, Composition, Part, compose
from ggdp.accounting.noise_guarantees import Noise, guarantee_of

__all__ = ["Composable", "Composition", "Noise", "Part", "compose", "guarantee_of"]
