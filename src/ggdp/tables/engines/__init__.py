"""Counting on the engine that holds the data."""

from ggdp.tables.engines.sources import Counted, CountQuery, TableSource, open_source

__all__ = ["CountQuery", "Counted", "TableSource", "open_source"]
