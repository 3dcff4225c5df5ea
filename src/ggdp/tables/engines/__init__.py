"""Counting on the engine that the data already lives in."""

from ggdp.tables.engines.sources import Counted, CountQuery, TableSource, open_source

__all__ = ["CountQuery", "Counted", "TableSource", "open_source"]
