"""Privacy definitions: guarantees, neighbours and sensitivities; `ggdp.privacy.grid` has the public grid."""

from ggdp.privacy.guarantees import NEIGHBOURS, ApproxDP, Guarantee, Neighbours, Notion, ProbabilisticDP, PureDP
from ggdp.privacy.sensitivity import Sensitivity

__all__ = ["NEIGHBOURS", "ApproxDP", "Guarantee", "Neighbours", "Notion", "ProbabilisticDP", "PureDP", "Sensitivity"]
