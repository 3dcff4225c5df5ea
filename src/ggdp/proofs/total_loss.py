"""The sum of the losses of several mechanisms, each with a number of coordinates that move.

Claim. If the laws of the noise do not depend on earlier results, the queries may be chosen adaptively: the pair of
products of dominating pairs dominates the whole, so that the losses add up as independent ones (Dong, Roth and Su, JRSS
B 2022, Theorem 4; Zhu, Dong and Wang, AISTATS 2022, Theorem 10). The far corner of a query is a dominating pair for
approximate DP, see `ggdp.proofs.corner`; a mechanism known by its guarantee has randomised response as one.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count as numbers
from typing import TYPE_CHECKING, TypeAlias

from ggdp.proofs.laid_loss import laid_coordinate, laid_response
from ggdp.proofs.loss_distribution import added, repeated, tilted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.proofs.layouts import LossLayout
    from ggdp.proofs.loss_distribution import LossDistribution, Masses
    from ggdp.proofs.noise_law import NoiseLaw

__all__ = ["CoordinateLoss", "LaidLoss", "Loss", "ResponseLoss", "total_loss"]


@dataclass(frozen=True, slots=True)
class CoordinateLoss:
    """The loss of a coordinate that moves by `size` under noise of a law."""

    law: NoiseLaw
    size: float


@dataclass(frozen=True, slots=True)
class ResponseLoss:
    """The largest loss of a mechanism of which only (epsilon, delta) is known."""

    epsilon: float
    delta: float


Loss: TypeAlias = CoordinateLoss | ResponseLoss


@dataclass(frozen=True, slots=True)
class LaidLoss:
    """A loss, how many independent ones there are, and where they are laid."""

    loss: Loss
    count: int
    layout: LossLayout


def total_loss(parts: Sequence[LaidLoss], *, tilt: float, tail: float, points: int) -> LossDistribution:
    """Add all losses, small ones first; e^tail is a mass that may be cut off at a time.

    Rounding: see `ggdp.proofs.loss_distribution`; the layout decides how tight the bounds are, never whether they hold.
    """
    order = numbers()
    heap: list[tuple[float, int, LossDistribution]] = []
    for part in parts:
        single = tilted(_laid(part), tilt)
        total = repeated(single, part.count, tail=tail, points=points)
        heapq.heappush(heap, (total.step * total.points, next(order), total))
    while len(heap) > 1:
        (_, _, first), (_, _, second) = heapq.heappop(heap), heapq.heappop(heap)
        total = added(first, second, tail=tail, points=points)
        heapq.heappush(heap, (total.step * total.points, next(order), total))
    return heap[0][2]


def _laid(part: LaidLoss) -> Masses:
    if isinstance(part.loss, ResponseLoss):
        return laid_response(part.loss.epsilon, part.loss.delta, part.layout.step)
    return laid_coordinate(part.loss.law, part.loss.size, part.layout)
