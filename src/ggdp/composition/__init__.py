"""Totals of several releases of the same people."""

from ggdp.composition.composition import Composition, compose
from ggdp.composition.parts import Composable, Part

__all__ = ["Composable", "Composition", "Part", "compose"]
