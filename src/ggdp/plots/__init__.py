"""Figures; they need the extra `plots`."""

from ggdp.plots.counts import plot_counts
from ggdp.plots.plans import plot_plan

__all__ = ["plot_counts", "plot_plan"]
