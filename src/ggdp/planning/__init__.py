"""The best order for a query."""

from ggdp.planning.best_order import plan
from ggdp.planning.order_plan import Choice, Plan

__all__ = ["Choice", "Plan", "plan"]
