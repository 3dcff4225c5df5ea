"""From calibrations and utilities to releases."""

from ggdp.mechanisms.additive import Mechanism
from ggdp.mechanisms.exponential_mechanism import ExponentialMechanism, selection_probabilities
from ggdp.mechanisms.minkowski_mechanism import MinkowskiMechanism
from ggdp.mechanisms.quantiles import CellValues, QuantileDraws, QuantilePlan

__all__ = [
    "CellValues",
    "ExponentialMechanism",
    "Mechanism",
    "MinkowskiMechanism",
    "QuantileDraws",
    "QuantilePlan",
    "selection_probabilities",
]
