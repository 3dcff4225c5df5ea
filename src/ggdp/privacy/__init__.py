"""What is promised and to whom: guarantees, neighbours, sensitivities."""

from ggdp.privacy.guarantees import ApproxDP, Guarantee, Notion, ProbabilisticDP, PureDP
from ggdp.privacy.neighbours import NEIGHBOURS, Neighbours
from ggdp.privacy.sensitivity import Sensitivity

__all__ = [
    "NEIGHBOURS",
    "ApproxDP",
    "Guarantee",
    "Neighbours",
    "Notion",
    "ProbabilisticDP",
    "PureDP",
    "Sensitivity",
]
