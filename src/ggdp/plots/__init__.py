"""Figures; they need the extra `plots`."""

from ggdp.plots.plans import plot_plan
from ggdp.plots.releases import plot_release
from ggdp.plots.tables import plot_table

__all__ = ["plot_plan", "plot_release", "plot_table"]
