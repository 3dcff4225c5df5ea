"""The pure loss of bounded noise when several coordinates can move at once.

The coordinates' noises are independent, so their losses add; when at most m of them move, the m largest count.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

from ggdp.loss.bounded import loss_of_boundary_inflated, loss_of_truncated
from ggdp.loss.enclosed import Enclosed
from ggdp.loss.integer_bounded import loss_of_integer_boundary_inflated, loss_of_integer_truncated

__all__ = ["Bounding", "Coordinate", "loss_of_bounded"]

Bounding: TypeAlias = Literal["truncated", "boundary-inflated"]
# Width of the bounds, sensitivity, and how many coordinates share the two.
Coordinate: TypeAlias = tuple[float, float, int]


def loss_of_bounded(
    *,
    bounding: str,
    support: str,
    order: float,
    scale: float,
    coordinates: tuple[Coordinate, ...],
    moving: int,
) -> Enclosed:
    """Enclose the pure loss of bounded noise of one scale in every coordinate.

    Parameters
    ----------
    bounding : {"truncated", "boundary-inflated"}
        What keeps the output in the bounds.
    support : {"real", "integer"}
        Where the noise lives.
    order, scale : float
        Order and scale of the noise.
    coordinates : tuple of (width, sensitivity, count)
        Width of the bounds and sensitivity of each kind of coordinate.
    moving : int
        How many coordinates can move at once.

    Examples
    --------
    >>> one = ((10.0, 1.0, 5),)
    >>> loss = loss_of_bounded(
    ...     bounding="truncated", support="real", order=2, scale=4.0, coordinates=one, moving=2
    ... )
    >>> round(loss.upper, 6) == round(2 * loss_of_truncated(order=2, scale=4.0, width=10, sensitivity=1).upper, 6)
    True
    """
    each = [(_loss_of_one(bounding, support, order, scale, width, D), count) for width, D, count in coordinates]
    lower = _largest([(one.lower, count) for one, count in each], moving)
    upper = _largest([(one.upper, count) for one, count in each], moving)
    if len(each) > 1 or moving > 1:
        lower, upper = math.nextafter(lower, -math.inf), math.nextafter(upper, math.inf)
    return Enclosed(lower=lower, upper=upper, precision=max(one.precision for one, _ in each))


def _loss_of_one(bounding: str, support: str, order: float, scale: float, width: float, sensitivity: float) -> Enclosed:
    if support == "real":
        law = loss_of_truncated if bounding == "truncated" else loss_of_boundary_inflated
        return law(order=order, scale=scale, width=width, sensitivity=sensitivity)
    integer_law = loss_of_integer_truncated if bounding == "truncated" else loss_of_integer_boundary_inflated
    return integer_law(order=order, scale=scale, width=int(width), sensitivity=int(sensitivity))


def _largest(losses: list[tuple[float, int]], moving: int) -> float:
    """Return the sum of the `moving` largest losses, rounded to nearest."""
    terms, left = [], moving
    for loss, count in sorted(losses, reverse=True):
        taken = min(count, left)
        terms.extend([loss] * taken)
        left -= taken
    return math.fsum(terms)
