"""From calibrations and utilities to releases."""

from ggdp.mechanisms.additive import Mechanism
from ggdp.mechanisms.exponential_mechanism import ExponentialMechanism, selection_probabilities
from ggdp.mechanisms.quantiles import CellValues, QuantileDraws, QuantilePlan

__all__ = [
    "CellValues",
    "ExponentialMechanism",
    "Mechanism",
    "QuantileDraws",
    "QuantilePlan",
    "selection_probabilities",
]
