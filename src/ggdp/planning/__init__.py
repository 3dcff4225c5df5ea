"""The best order for a query."""

from ggdp.planning.best_order import plan
from ggdp.planning.order_plan import Choice, Plan
from ggdp.planning.scale_estimates import estimate_scale

__all__ = ["Choice", "Plan", "estimate_scale", "plan"]
