"""From calibrations and utilities to releases."""

from ggdp.mechanisms.additive import Mechanism
from ggdp.mechanisms.exponential_mechanism import ExponentialMechanism, selection_probabilities
from ggdp.mechanisms.quantiles import CellValues, QuantileDraws, QuantilePlan
from ggdp.mechanisms.randomised_response import RandomisedResponse

__all__ = [
    "CellValues",
    "ExponentialMechanism",
    "Mechanism",
    "QuantileDraws",
    "QuantilePlan",
    "RandomisedResponse",
    "selection_probabilities",
]
