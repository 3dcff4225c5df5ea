"""From calibrations to releases."""

from ggdp.mechanisms.additive import Mechanism

__all__ = ["Mechanism"]
