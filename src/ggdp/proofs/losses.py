"""The sum of the losses of several mechanisms, each with a number of coordinates that move.

Claim. If the laws of the noise do not depend on earlier results, the queries may be chosen adaptively: the pair of
products of dominating pairs dominates the whole, so that the losses add up as independent ones (Dong, Roth and Su, JRSS
B 2022, Theorem 4; Zhu, Dong and Wang, AISTATS 2022, Theorem 10). The far corner of a query is a dominating pair for
approximate DP (`ggdp.proofs.several_coordinates`); a mechanism known by its guarantee has randomized response as one.

Claim (infinite losses). Where losses are infinite with the probability q, independently of the rest, and finite ones
have delta' at an epsilon, the total has delta = q + (1 - q) delta'. A loss that is either 0 or infinite is an upper
bound only: keys above a threshold are one (`ggdp.TablePlan.losses`), and no mechanism need attain it beside its noise.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import count as numbers
from typing import TYPE_CHECKING, Any, Self, TypeAlias

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import require_unbounded
from ggdp.proofs.discretized_loss import laid_coordinate, laid_response
from ggdp.proofs.loss_distribution import added, repeated, tilted
from ggdp.proofs.noise_law import NoiseLaw

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ggdp.proofs.layouts import LossLayout
    from ggdp.proofs.loss_distribution import LossDistribution, Masses


_PRECISION = 128
# The cells of the largest table, each of them in 10^9 releases.
MOST_LOSSES = 10**27
# More are not added on a grid: it would take long, and hardly any total of so many keeps anything.
MOST_ADDED = 10**12


@dataclass(frozen=True, slots=True)
class CoordinateLoss:
    """The loss of a coordinate that moves by `size` under noise of a law, without bounds."""

    law: NoiseLaw
    size: float

    def __post_init__(self) -> None:
        if not isinstance(self.law, NoiseLaw):
            raise ArgumentError("law", self.law, "must be a law of noise")
        require_unbounded(self.law)
        size = _validate.positive(size=self.size)
        if self.law.support == "integer" and not size.is_integer():
            raise ArgumentError("size", size, "on the integers sizes must be whole numbers")


@dataclass(frozen=True, slots=True)
class ResponseLoss:
    """The largest loss of a mechanism of which only (epsilon, delta) is known."""

    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        if _validate.finite(epsilon=self.epsilon) < 0.0:
            raise ArgumentError("epsilon", self.epsilon, "must be at least 0")
        if not 0.0 <= _validate.finite(delta=self.delta) < 1.0:
            raise ArgumentError("delta", self.delta, "must be at least 0 and below 1")


Loss: TypeAlias = CoordinateLoss | ResponseLoss


@dataclass(frozen=True, slots=True)
class CountedLoss:
    """A loss, and how many independent ones there are of it."""

    loss: Loss
    count: int

    def __post_init__(self) -> None:
        _validate.integer(count=self.count, at_least=1, at_most=MOST_LOSSES)

    def to_dict(self) -> dict[str, Any]:
        """Return the record as plain values, ready for JSON."""
        if isinstance(self.loss, ResponseLoss):
            return {"kind": "response", **asdict(self.loss), "count": self.count}
        law = self.loss.law
        noise = {"order": law.order, "scale": law.scale, "support": law.support}
        return {"kind": "noise", **noise, "size": self.loss.size, "count": self.count}

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Return the losses that `to_dict` wrote."""
        names = {"response": {"epsilon", "delta"}, "noise": {"order", "scale", "support", "size"}}
        kind = record.get("kind") if isinstance(record, Mapping) else None
        if kind not in names or set(record) != {"kind", "count", *names[kind]}:
            raise ArgumentError("losses", record, "is not a record of losses")
        if kind == "response":
            return cls(ResponseLoss(record["epsilon"], record["delta"]), record["count"])
        law = NoiseLaw(order=record["order"], scale=record["scale"], support=record["support"])
        return cls(CoordinateLoss(law, record["size"]), record["count"])


@dataclass(frozen=True, slots=True)
class LaidLoss:
    """A loss, how many independent ones there are, and where they are laid."""

    loss: Loss
    count: int
    layout: LossLayout


def finite_losses(losses: Iterable[CountedLoss]) -> tuple[CountedLoss, ...]:
    """Return the losses without the probability that they are infinite; those that are else 0 are left out."""
    found = []
    for counted in losses:
        loss = counted.loss
        if isinstance(loss, CoordinateLoss):
            found.append(counted)
        elif loss.epsilon > 0.0:
            found.append(CountedLoss(ResponseLoss(loss.epsilon, 0.0), counted.count))
    return tuple(found)


def infinite_between(losses: Iterable[CountedLoss]) -> tuple[float, float]:
    """Return two floats with the probability of an infinite loss between them."""
    with BALLS, working_precision(_PRECISION):
        attained, most = arb(0), arb(0)
        for counted in losses:
            if isinstance(counted.loss, ResponseLoss):
                exponent = counted.count * (-arb(counted.loss.delta)).log1p()
                most += exponent
                if counted.loss.epsilon > 0.0:
                    attained += exponent
        return max(lower_float(-attained.expm1()), 0.0), min(upper_float(-most.expm1()), 1.0)


def total_loss(parts: Sequence[LaidLoss], *, tilt: float, tail: float, points: int) -> LossDistribution:
    """Add all losses; e^tail is a mass that may be cut off at a time.

    Rounding: see `ggdp.proofs.loss_distribution`; the layout decides how tight the bounds are, never whether they hold.
    """
    _validate.integer(count=sum(part.count for part in parts), at_least=1, at_most=MOST_ADDED)
    # The sum of n copies of each of several losses is n copies of their sum, which takes fewer additions.
    together: dict[tuple[int, float], list[LossDistribution]] = {}
    for part in parts:
        together.setdefault((part.count, part.layout.step), []).append(tilted(_laid(part), tilt))
    sums = [
        repeated(_sum(losses, tail=tail, points=points), count, tail=tail, points=points)
        for (count, _), losses in together.items()
    ]
    return _sum(sums, tail=tail, points=points)


def _sum(losses: list[LossDistribution], *, tail: float, points: int) -> LossDistribution:
    """Add losses, always the two narrowest ones."""
    order = numbers()
    heap = [(loss.step * loss.points, next(order), loss) for loss in losses]
    heapq.heapify(heap)
    while len(heap) > 1:
        (_, _, first), (_, _, second) = heapq.heappop(heap), heapq.heappop(heap)
        total = added(first, second, tail=tail, points=points)
        heapq.heappush(heap, (total.step * total.points, next(order), total))
    return heap[0][2]


def _laid(part: LaidLoss) -> Masses:
    if isinstance(part.loss, ResponseLoss):
        return laid_response(part.loss.epsilon, part.loss.delta, part.layout.step)
    return laid_coordinate(part.loss.law, part.loss.size, part.layout)
