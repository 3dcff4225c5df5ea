"""Norms of moves, l_p for 1 <= p <= infinity, rounded up. Part of the trusted kernel."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING

from ggdp import _validate
from ggdp._rounding import rounded_up
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Iterable

# More than twice the bits of a float: a norm is off by less than an ulp.
_PRECISION = 128


def norm_order(**named: object) -> float:
    """Return the one argument as the order of a norm, a float of at least 1 or infinity."""
    (value,) = named.values()
    if isinstance(value, float) and value == math.inf:
        return math.inf
    ((name, order),) = {name: _validate.finite(**named) for name in named}.items()
    if order < 1.0:
        raise ArgumentError(name, value, "must be at least 1: it is the order of a norm")
    return order


def norm_of(sizes: Iterable[tuple[float, int]], p: float) -> float:
    """Return an upper bound of the l_p norm of a vector given as (size, how often): exact where a float can be.

    Rounding: up, in balls.
    """
    runs = list(sizes)
    largest = max(size for size, _ in runs)
    if p == math.inf or (len(runs) == 1 and runs[0][1] == 1):
        return largest
    if p == 1.0:
        return rounded_up(sum((Fraction(size) * count for size, count in runs), Fraction(0)), of="sensitivity")
    # flint is loaded when a norm needs it, not with `import ggdp`.
    from flint import arb

    from ggdp._balls import BALLS, upper_float, working_precision

    with BALLS, working_precision(_PRECISION):
        # Relative to the largest size, so that no power leaves the range of a ball.
        terms = sum((count * (arb(size) / arb(largest)) ** arb(p) for size, count in runs), arb(0))
        norm = upper_float(arb(largest) * terms ** (1 / arb(p)))
    if not math.isfinite(norm):
        raise ArgumentError(
            "sensitivity", "above 1e308", "does not fit in a 64-bit float; change the unit of the query"
        )
    return norm


def norm_by_hoelder(bound: float, moving: int, p: float, q: float) -> float:
    """Return an upper bound of r^(1/p - 1/q) D_q, rounded up, for p < q."""
    from flint import arb

    from ggdp._balls import BALLS, upper_float, working_precision

    with BALLS, working_precision(_PRECISION):
        exponent = 1 / arb(p) - (0 if q == math.inf else 1 / arb(q))
        return upper_float(arb(bound) * arb(moving) ** exponent)
