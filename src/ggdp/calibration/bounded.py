"""The least scale of truncated and boundary-inflated noise for pure DP."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from ggdp.calibration.integer_bounded import scale_for_integer_bounded
from ggdp.calibration.search import Proposal, bracketed, log_excess, passing_end, proved_or_raised
from ggdp.calibration.truncated_formula import truncated_scale

if TYPE_CHECKING:
    from ggdp.proofs.bounded_vector import BoundedJointLoss, BoundedLoss, Coordinate
    from ggdp.proofs.noise_law import NoiseLaw

_TOLERANCE = 1e-13


def least_for_bounded_joint(bound: BoundedJointLoss, law: NoiseLaw, target: float) -> Proposal:
    """Return the law of the paper's Eqn b1."""
    scale = truncated_scale(law.order, bound.coordinates, bound.moving, target, bound.joint)
    return proved_or_raised(bound, law.with_scale(scale), target)


def least_for_bounded(bound: BoundedLoss, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law found whose loss is at most the target.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.bounded_vector import BoundedLoss
    >>> law = NoiseLaw(order=3, scale=1, bounding="truncated")
    >>> print(f"{least_for_bounded(BoundedLoss(coordinates=((10.0, 1.0, 1),), moving=1), law, 1.0).law.scale:.5f}")
    6.15321
    """
    if law.support == "integer" and len(bound.coordinates) == 1 and bound.moving == 1:
        width, sensitivity, _ = bound.coordinates[0]
        scale = scale_for_integer_bounded(law, int(width), int(sensitivity), target)
        return proved_or_raised(bound, law.with_scale(scale), target)

    excess = lru_cache(maxsize=256)(log_excess(bound, law, target))
    found = bracketed(excess, _start(law.order, bound.coordinates, bound.moving, target), ratio=2.0)
    scale = passing_end(excess, **found._asdict(), tolerance=_TOLERANCE)
    return proved_or_raised(bound, law.with_scale(scale), target)


def _start(order: float, coordinates: tuple[Coordinate, ...], moving: int, epsilon: float) -> float:
    """Return a scale that is known to be enough on the reals for truncated noise, in logarithms lest powers overflow.

    b^p = [w^p - (w-D)^p + D^p]/eps for p >= 2, 2^(1-p) [(w+D)^p - (w-D)^p]/eps for p <= 2, summed over what moves.
    """
    terms = []
    for width, sensitivity, count in coordinates:
        x = sensitivity / width
        fall = -math.expm1(order * math.log1p(-x)) if x < 1.0 else 1.0
        # (1 + x)^p - (1 - x)^p without the cancellation that leaves nothing where x is below an ulp of 1.
        both = math.expm1(order * math.log1p(x)) + fall if order < 2.0 else 0.0
        share = x**order + fall if order >= 2.0 else 2.0 ** (1.0 - order) * both
        terms.append((order * math.log(width) + math.log(share), count))
    largest, left, weights = max(terms)[0], moving, []
    for term, count in sorted(terms, reverse=True):
        weights.append(min(count, left) * math.exp(term - largest))
        left -= min(count, left)
    total = largest + math.log(math.fsum(weights))
    return math.exp((total - math.log(epsilon)) / order)
