"""What a proof about a privacy loss says: two floats with the exact value between them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flint import arb, ctx

from ggdp.distributions.enclosures import BALLS, lower_float, upper_float, working_precision

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EXACT", "FIRST_PRECISION", "Enclosed", "enclosed", "sharpened"]

# The precision of a comparison of rational numbers.
EXACT = 0

FIRST_PRECISION = 96
MAXIMUM_PRECISION = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Enclosed:
    """An enclosure of a delta or of a privacy loss, with how it was reached.

    Attributes
    ----------
    lower, upper : float
        The exact value is between them. Where only an upper bound is proved, `lower` is 0.
    precision : int
        Bits of the ball arithmetic; 0 where exact rational numbers were compared instead.
    grid : float, optional
        Step of the grid on which losses were convolved.
    truncation : float, optional
        Probability mass that was moved to an infinite loss.
    """

    lower: float
    upper: float
    precision: int
    grid: float | None = None
    truncation: float | None = None


def enclosed(value: arb, **how: float | None) -> Enclosed:
    """Return the enclosure that a ball stands for, at the working precision."""
    return Enclosed(lower=lower_float(value), upper=upper_float(value), precision=ctx.prec, **how)


def sharpened(value: Callable[[], arb], *, relative_width: float = 1e-13, start: int = FIRST_PRECISION) -> Enclosed:
    """Evaluate `value` at growing precision until its ball is narrow, and return the narrowest.

    Parameters
    ----------
    value : callable
        Returns the ball at the working precision, by the same steps each time.
    relative_width : float, default 1e-13
        The width, relative to the upper end, that is narrow enough.
    start : int, default 96
        Bits of precision to begin with.
    """
    bits = start
    while True:
        with BALLS, working_precision(bits):
            result = enclosed(value())
        narrow = result.upper - result.lower <= relative_width * abs(result.upper) < math.inf
        if narrow or bits >= MAXIMUM_PRECISION:
            return result
        bits *= 2
