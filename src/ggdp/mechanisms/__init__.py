"""From calibrations and utilities to releases."""

from ggdp.mechanisms.additive import Mechanism
from ggdp.mechanisms.exponential import ExponentialMechanism, selection_probabilities

__all__ = ["ExponentialMechanism", "Mechanism", "selection_probabilities"]
