"""Data sets: two small tables that come with ggdp, and a loader of the adult data."""

from ggdp.datasets.adult import Adult, adult
from ggdp.datasets.czech import czech
from ggdp.datasets.mildew import mildew
from ggdp.datasets.table import CountTable

__all__ = ["Adult", "CountTable", "adult", "czech", "mildew"]
