"""Enclosures: two floats with the exact value between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb, ctx

from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp._work import spend

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# The precision of a comparison of rational numbers.
EXACT = 0
# 96 bits are enough for most proofs; each next precision is tried where the ball is still too wide.
PRECISIONS = (96, 192, 384, 768, 1536, 3072)
# A float has 53 bits: a bound that is known to this relative width is known to its last digits.
NARROW = 1e-13
# Close to the least floats there are no digits left to agree in.
TINY = 1e-290
# Units of work of a bound of one coordinate.
_SCALAR = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosure:
    """Two floats with the exact value of a delta or of a privacy loss between them.

    Attributes
    ----------
    lower, upper : float
        The ends. `lower` is 0 where only an upper bound is proved.
    precision : int
        Bits of the ball arithmetic; 0 where rational numbers were compared exactly.
    exhausted : bool
        Whether a branch and bound ended at its limit of steps, so that more bits would not make it narrower.
    """

    lower: float
    upper: float
    precision: int
    exhausted: bool = False

    @property
    def is_narrow(self) -> bool:
        """Whether the ends agree to the digits of a float."""
        return self.upper - self.lower <= NARROW * abs(self.upper) < math.inf or 0.0 <= self.lower <= self.upper < TINY


def enclosed(value: arb) -> Enclosure:
    """Return the enclosure of a ball, at the working precision."""
    return Enclosure(lower=lower_float(value), upper=upper_float(value), precision=ctx.prec)


def narrowest(at: Callable[[int], Enclosure], precisions: Iterable[int] = PRECISIONS) -> Enclosure:
    """Return the first enclosure that is narrow (or exhausted), at growing precision, or else the last one.

    Parameters
    ----------
    at : callable
        Returns the enclosure at a precision in bits. Every one of them holds; more bits make it narrower.
    precisions : iterable of int
        The precisions to try.
    """
    for bits in precisions:
        spend(_SCALAR, bits)
        found = at(bits)
        if found.is_narrow or found.exhausted:
            break
    return found


def accurate(value: Callable[[], arb], bits: int = 50) -> arb:
    """Return a ball with so many accurate bits, at growing precision, or else the last one."""
    for precision in PRECISIONS:
        spend(_SCALAR, precision)
        with BALLS, working_precision(precision):
            found = value()
            if found.rel_accuracy_bits() >= bits:
                break
    return found
