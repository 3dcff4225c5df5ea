"""The least scale of truncated and boundary-inflated noise for pure DP."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

from ggdp.calibration.integer_bounded import scale_for_integer_bounded
from ggdp.calibration.search import passing_end
from ggdp.errors import SearchError
from ggdp.loss.bounded_vector import loss_of_bounded

if TYPE_CHECKING:
    from ggdp.loss.bounded_vector import Coordinate

__all__ = ["scale_for_bounded"]

_TOLERANCE = 1e-13
_MAXIMUM_DOUBLINGS = 2000


def scale_for_bounded(
    *,
    bounding: str,
    support: str,
    order: float,
    coordinates: tuple[Coordinate, ...],
    moving: int,
    epsilon: float,
) -> float:
    """Return the least scale found whose loss is at most epsilon.

    Examples
    --------
    >>> b = scale_for_bounded(
    ...     bounding="truncated", support="real", order=3, coordinates=((10.0, 1.0, 1),), moving=1, epsilon=1.0
    ... )
    >>> print(f"{b:.5f}")
    6.15321
    """
    if support == "integer" and len(coordinates) == 1 and moving == 1:
        width, sensitivity, _ = coordinates[0]
        return scale_for_integer_bounded(
            bounding=bounding, order=order, width=int(width), sensitivity=int(sensitivity), epsilon=epsilon
        )

    @lru_cache(maxsize=256)
    def excess(scale: float) -> float:
        loss = loss_of_bounded(
            bounding=bounding,
            support=support,
            order=order,
            scale=scale,
            coordinates=coordinates,
            moving=moving,
        )
        return math.log(loss.upper / epsilon) if loss.upper > 0.0 else -math.inf

    passing = _start(order, coordinates, moving, epsilon)
    for _ in range(_MAXIMUM_DOUBLINGS):
        if excess(passing) <= 0.0:
            break
        passing *= 2.0
    failing = passing / 2.0
    for _ in range(_MAXIMUM_DOUBLINGS):
        if excess(failing) > 0.0:
            return passing_end(excess, failing=failing, passing=passing, tolerance=_TOLERANCE)
        passing, failing = failing, failing / 2.0
    message = f"no scale of order {order!r} could be bracketed for epsilon = {epsilon!r}"
    raise SearchError(message)


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
