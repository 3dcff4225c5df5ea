"""Small bundled tables."""

from ggdp.datasets.czech import CountTable, czech

__all__ = ["CountTable", "czech"]
