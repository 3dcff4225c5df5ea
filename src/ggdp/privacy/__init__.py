"""Privacy definitions: guarantees, neighbours, sensitivities, the public grid."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ggdp.privacy.guarantees import NEIGHBOURS, ApproxDP, Guarantee, Neighbours, Notion, ProbabilisticDP, PureDP
from ggdp.privacy.sensitivity import Sensitivity

if TYPE_CHECKING:
    from ggdp.privacy.grid import Grid

__all__ = [
    "NEIGHBOURS",
    "ApproxDP",
    "Grid",
    "Guarantee",
    "Neighbours",
    "Notion",
    "ProbabilisticDP",
    "PureDP",
    "Sensitivity",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    # Loaded when first used: it brings NumPy along.
    if name == "Grid":
        from ggdp.privacy.grid import Grid

        return Grid
    raise AttributeError(f"module 'ggdp.privacy' has no attribute {name!r}")
