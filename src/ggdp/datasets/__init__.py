"""Two small tables that are bundled with ggdp."""

from ggdp.datasets.czech import czech
from ggdp.datasets.mildew import mildew
from ggdp.datasets.table import CountTable

__all__ = ["CountTable", "czech", "mildew"]
