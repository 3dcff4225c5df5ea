"""From calibrations and utilities to releases."""

from ggdp.mechanisms.additive import Mechanism
from ggdp.mechanisms.exponential import ExponentialMechanism, selection_probabilities
from ggdp.mechanisms.randomised_response import RandomisedResponse

__all__ = ["ExponentialMechanism", "Mechanism", "RandomisedResponse", "selection_probabilities"]
