"""From calibrations and utilities to releases."""

from ggdp.mechanisms.additive import Mechanism
from ggdp.mechanisms.exponential import ExponentialMechanism, selection_probabilities
from ggdp.mechanisms.quantile_parts import CellValues
from ggdp.mechanisms.quantiles import QuantileDraws, QuantilePlan
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
