"""Figures; they need the extra `plots`."""

from ggdp.plots.counts import plot_counts

__all__ = ["plot_counts"]
