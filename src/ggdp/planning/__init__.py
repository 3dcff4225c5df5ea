"""The best order for a query."""

from ggdp.planning.entry import plan
from ggdp.planning.record import Choice, Plan

__all__ = ["Choice", "Plan", "plan"]
