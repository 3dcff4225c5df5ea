"""The pure loss of bounded noise, of one coordinate or of several that move at once.

The noises of the coordinates are independent, so their losses add; when at most m of them move, the m largest count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, power, upper_float, working_precision
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import Bound, Quantity
from ggdp.proofs.bounded import loss_of_boundary_inflated, loss_of_truncated, lost_bits
from ggdp.proofs.enclosures import PRECISIONS, Enclosure
from ggdp.proofs.integer_bounded import (
    loss_of_integer_boundary_inflated,
    loss_of_integer_truncated,
    slope_precision,
)

if TYPE_CHECKING:
    from ggdp.proofs.noise_law import NoiseLaw

# Width of the bounds, sensitivity, and how many coordinates share the two.
Coordinate: TypeAlias = tuple[float, float, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedLoss(Bound):
    """The exact pure loss of noise kept in bounds, with one scale in every coordinate.

    Attributes
    ----------
    coordinates : tuple of (width, sensitivity, count)
        Width of the bounds and sensitivity of each kind of coordinate, and how many there are of it.
    moving : int
        How many coordinates can move at once.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> law = NoiseLaw(order=2, scale=3.90079, bounding="truncated")
    >>> round(BoundedLoss(coordinates=((10.0, 1.0, 5),), moving=2).enclose(law).upper, 4)
    2.0
    """

    name: ClassVar[str] = "bounded"
    quantity: ClassVar[Quantity] = "epsilon"
    statement: ClassVar[str] = "bounded outputs: the largest loss over all true values and outputs"
    exact: ClassVar[bool] = True

    coordinates: tuple[Coordinate, ...]
    moving: int

    def __post_init__(self) -> None:
        _require_coordinates(self.coordinates, self.moving)

    def precisions(self, law: NoiseLaw) -> tuple[int, ...]:
        """Return precisions at which powers of great widths do not cancel to nothing."""
        if law.bounding != "truncated":
            return PRECISIONS
        if law.support == "integer":
            first = max(slope_precision(int(width)) for width, _, _ in self.coordinates)
        else:
            first = 128 + max(lost_bits(law.order, width / law.scale) for width, _, _ in self.coordinates)
        return first, 2 * first, 4 * first

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Enclose the loss with so many bits."""
        each = [(_loss_of_one(law, width, D, bits), count) for width, D, count in self.coordinates]
        lower = _largest([(one.lower, count) for one, count in each], self.moving)
        upper = _largest([(one.upper, count) for one, count in each], self.moving)
        if len(each) > 1 or self.moving > 1:
            lower, upper = math.nextafter(lower, -math.inf), math.nextafter(upper, math.inf)
        exhausted = all(one.exhausted or one.is_narrow for one, _ in each)
        return Enclosure(lower=lower, upper=upper, precision=bits, exhausted=exhausted)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedJointLoss(Bound):
    """An upper bound of the pure loss of truncated noise when the l_p norm of the whole change is known too.

    Claim: with |d_k| <= D_k, sum_k |d_k|^p <= joint^p and |x_k - s_k| <= w_k the exponents of two truncated laws differ
    at any output by at most B = b^-p (sum_k [(w_k + D_k)^p - w_k^p - D_k^p] + joint^p), since (w + d)^p - w^p - d^p
    rises with w and d; so do the logarithms of their normalisers, and the loss is at most 2 B.

    Attributes
    ----------
    coordinates : tuple of (width, sensitivity, count)
        Width of the bounds and sensitivity of each kind of coordinate, and how many there are of it.
    moving : int
        How many coordinates can move at once.
    joint : float
        Bound of the l_p norm of the whole change, p being the order of the noise.

    References
    ----------
    Liu, arXiv 1602.06028 v5, Definition 5, Eqn b1, for every real p >= 1 and on the integers too.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> law = NoiseLaw(order=1, scale=2.0, bounding="truncated")
    >>> BoundedJointLoss(coordinates=((10.0, 1.0, 10),), moving=10, joint=1.0).enclose(law).upper
    1.0
    """

    name: ClassVar[str] = "bounded-joint"
    quantity: ClassVar[Quantity] = "epsilon"
    statement: ClassVar[str] = "an upper bound, v5 Eqn b1: truncated outputs and a joint norm of the change"
    exact: ClassVar[bool] = False
    margin: ClassVar[float] = 0.0

    coordinates: tuple[Coordinate, ...]
    moving: int
    joint: float

    def __post_init__(self) -> None:
        _require_coordinates(self.coordinates, self.moving)
        _validate.positive(joint=self.joint)

    def precisions(self, law: NoiseLaw) -> tuple[int, ...]:  # noqa: ARG002 - one precision for every law
        """Return the one precision: the bound is a sum of powers."""
        return (192,)

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Bound the loss from above with so many bits."""
        if law.bounding != "truncated":
            raise ArgumentError("bounding", law.bounding, "this bound is about truncated noise")
        with BALLS, working_precision(bits):
            p, b = arb(law.order), arb(law.scale)
            terms = []
            for width, sensitivity, count in self.coordinates:
                w, D = arb(width), arb(sensitivity)
                terms.append((upper_float(power(w + D, p) - power(w, p) - power(D, p)), count))
            rest = arb(math.nextafter(_largest(terms, self.moving), math.inf)) if law.order != 1.0 else arb(0)
            upper = upper_float(2 * (rest + power(arb(self.joint), p)) / power(b, p))
        return Enclosure(lower=0.0, upper=upper, precision=bits)


def _require_coordinates(coordinates: tuple[Coordinate, ...], moving: int) -> None:
    """Check that coordinates have widths, sensitivities not above them, and counts."""
    _validate.integer(moving=moving, at_least=1)
    for coordinate in _validate.non_empty(coordinates=coordinates):
        width, sensitivity, count = _validate.non_empty(coordinates=coordinate)
        if _validate.positive(sensitivity=sensitivity) > _validate.positive(width=width):
            raise ArgumentError("width", width, f"must not be below the sensitivity {sensitivity!r}")
        _validate.integer(coordinates=count, at_least=1)


def _loss_of_one(law: NoiseLaw, width: float, sensitivity: float, bits: int) -> Enclosure:
    """Enclose the loss of one coordinate."""
    if law.bounding is None:
        raise ArgumentError("bounding", law.bounding, "this bound is about bounded noise")
    p, b = law.order, law.scale
    truncated = law.bounding == "truncated"
    if law.support == "real":
        return (loss_of_truncated if truncated else loss_of_boundary_inflated)(p, b, width, sensitivity, bits)
    for size in (width, sensitivity):
        if not float(size).is_integer():
            raise ArgumentError("coordinates", size, "on the integers widths and sizes must be whole numbers")
    integer_loss = loss_of_integer_truncated if truncated else loss_of_integer_boundary_inflated
    return integer_loss(p, b, int(width), int(sensitivity), bits)


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
