"""The best order for a query."""

from ggdp.planning.best_order import Choice, Plan, estimate_scale, plan

__all__ = ["Choice", "Plan", "estimate_scale", "plan"]
