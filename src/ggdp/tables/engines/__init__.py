"""Counting on the engine that holds the data."""

from ggdp.tables.engines.sources import Counted, CountQuery, MeasuredCells, SteppedCells, TableSource, open_source

__all__ = ["CountQuery", "Counted", "MeasuredCells", "SteppedCells", "TableSource", "open_source"]
