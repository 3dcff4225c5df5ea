"""The pure loss of bounded noise when several coordinates can move at once.

The coordinates' noises are independent, so their losses add; when at most m of them move, the m largest count.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Literal, TypeAlias

from flint import arb

from ggdp import _validate
from ggdp.distributions.enclosures import BALLS, power, upper_float, working_precision
from ggdp.errors import ArgumentError
from ggdp.loss.bounded import loss_of_boundary_inflated, loss_of_truncated
from ggdp.loss.enclosed import Enclosed
from ggdp.loss.integer_bounded import loss_of_integer_boundary_inflated, loss_of_integer_truncated

__all__ = ["Bounding", "Coordinate", "loss_of_bounded", "loss_of_bounded_joint"]

_PRECISION = 192

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
    _validate.choice(among=("truncated", "boundary-inflated"), bounding=bounding)
    _validate.choice(among=("real", "integer"), support=support)
    _check(coordinates, moving)
    if support == "integer":
        for size in (size for coordinate in coordinates for size in coordinate[:2]):
            if not _validate.positive(coordinates=size).is_integer():
                raise ArgumentError("coordinates", size, "on the integers widths and sizes must be whole numbers")
    each = [(_loss_of_one(bounding, support, order, scale, width, D), count) for width, D, count in coordinates]
    lower = _largest([(one.lower, count) for one, count in each], moving)
    upper = _largest([(one.upper, count) for one, count in each], moving)
    if len(each) > 1 or moving > 1:
        lower, upper = math.nextafter(lower, -math.inf), math.nextafter(upper, math.inf)
    return Enclosed(lower=lower, upper=upper, precision=max(one.precision for one, _ in each))


def loss_of_bounded_joint(
    *, order: float, scale: float, coordinates: tuple[Coordinate, ...], moving: int, joint: float
) -> Enclosed:
    """Bound from above the pure loss of truncated noise when the l_p norm of the whole change is known too.

    Claim: with |d_k| <= D_k, sum_k |d_k|^p <= joint^p and |x_k - s_k| <= w_k the exponents of two truncated laws differ
    at any output by at most B = b^-p (sum_k [(w_k + D_k)^p - w_k^p - D_k^p] + joint^p), since (w + d)^p - w^p - d^p
    rises with w and d; so do the logarithms of their normalisers, and the loss is at most 2 B.

    Parameters
    ----------
    order, scale : float
        Order, which is that of the norm too, and scale of the noise.
    coordinates : tuple of (width, sensitivity, count)
        Width of the bounds and sensitivity of each kind of coordinate.
    moving : int
        How many coordinates can move at once.
    joint : float
        Bound of the l_p norm of the whole change.

    References
    ----------
    Liu, arXiv 1602.06028 v5, Definition 5, Eqn b1, for every real p >= 1 and on the integers too.

    Examples
    --------
    >>> loss_of_bounded_joint(order=1, scale=2.0, coordinates=((10.0, 1.0, 10),), moving=10, joint=1.0).upper
    1.0
    """
    _validate.order(order=order)
    _validate.positive(scale=scale)
    _validate.positive(joint=joint)
    _check(coordinates, moving)
    with BALLS, working_precision(_PRECISION):
        p, b = arb(order), arb(scale)
        terms = []
        for width, sensitivity, count in coordinates:
            w, D = arb(_validate.positive(width=width)), arb(_validate.positive(sensitivity=sensitivity))
            terms.append((upper_float(power(w + D, p) - power(w, p) - power(D, p)), count))
        rest = arb(math.nextafter(_largest(terms, moving), math.inf)) if order != 1.0 else arb(0)
        upper = upper_float(2 * (rest + power(arb(joint), p)) / power(b, p))
    return Enclosed(lower=0.0, upper=upper, precision=_PRECISION)


def _check(coordinates: tuple[Coordinate, ...], moving: int) -> None:
    """Refuse what no coordinates have."""
    _validate.integer(moving=moving, at_least=1)
    _validate.non_empty(coordinates=coordinates)
    for _, _, count in coordinates:
        _validate.integer(coordinates=count, at_least=1)


def _loss_of_one(bounding: str, support: str, order: float, scale: float, width: float, sensitivity: float) -> Enclosed:
    if support == "real":
        law = loss_of_truncated if bounding == "truncated" else loss_of_boundary_inflated
        return law(order=order, scale=scale, width=width, sensitivity=sensitivity)
    integer_law = loss_of_integer_truncated if bounding == "truncated" else loss_of_integer_boundary_inflated
    return integer_law(order=order, scale=scale, width=int(width), sensitivity=int(sensitivity))


def _largest(losses: list[tuple[float, int]], moving: int) -> float:
    """Return the sum of the `moving` largest losses, rounded to nearest; infinite beyond the floats."""
    total, left = Fraction(0), moving
    for loss, count in sorted(losses, reverse=True):
        taken = min(count, left)
        if taken and math.isinf(loss):
            return loss
        total += Fraction(loss) * taken
        left -= taken
    try:
        return float(total)
    except OverflowError:
        return math.inf
