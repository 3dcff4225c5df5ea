"""Proved deltas and losses of a scale, for claims about formulas of the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from ggdp.proofs import NoiseLaw
from ggdp.proofs.bounded import BoundedLoss
from ggdp.proofs.one_coordinate import ShiftDelta

if TYPE_CHECKING:
    from ggdp.proofs.bound import Enclosure

Notion: TypeAlias = Literal["approximate", "probabilistic"]
Bounding: TypeAlias = Literal["truncated", "boundary-inflated"]
Support: TypeAlias = Literal["real", "integer"]


def shift_delta(notion: Notion, *, order: float, scale: float, epsilon: float, sensitivity: float = 1.0) -> Enclosure:
    """Enclose the delta of a scale on the reals when one coordinate moves."""
    bound = ShiftDelta(notion=notion, sensitivity=sensitivity, epsilon=epsilon)
    return bound.enclose(NoiseLaw(order=order, scale=scale))


def bounded_loss(
    bounding: Bounding, *, order: float, scale: float, width: float, moving: int = 1, support: Support = "real"
) -> Enclosure:
    """Enclose the pure loss of bounded noise when each of some coordinates changes by 1."""
    law = NoiseLaw(order=order, scale=scale, support=support, bounding=bounding)
    return BoundedLoss(coordinates=((width, 1.0, moving),), moving=moving).enclose(law)
