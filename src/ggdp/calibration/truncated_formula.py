"""The paper's closed form for the truncated mechanism, Eqns b1 and b2 of v5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, power, upper_float, working_precision

if TYPE_CHECKING:
    from collections.abc import Iterable

_PRECISION = 192


def truncated_scale(
    order: float,
    coordinates: Iterable[tuple[float, float, int]],
    moving: int,
    epsilon: float,
    joint: float | None = None,
) -> float:
    """Return the paper's scale of the truncated mechanism (Eqn b2, or b1 where that is smaller), rounded up.

    Parameters
    ----------
    order : float
        Order of the noise.
    coordinates : iterable of (width, sensitivity, count)
        Width of the bounds and sensitivity of each kind of coordinate.
    moving : int
        How many coordinates can move at once.
    epsilon : float
        The goal.
    joint : float, optional
        A known l_p norm of the whole change, p being the order; it takes the place of the sum of D_k^p (Eqn b1).

    Examples
    --------
    >>> print(f"{truncated_scale(2, [(10, 1, 1)], 1, 1.0):.5f}")
    6.48074
    """
    _validate.order(order=order)
    _validate.positive(epsilon=epsilon)
    _validate.integer(moving=moving, at_least=1)
    with BALLS, working_precision(_PRECISION):
        p = arb(order)
        terms = [(power(arb(w) + arb(D), p) - power(arb(w), p), power(arb(D), p), count) for w, D, count in coordinates]
        total, without_last_power, left = arb(0), arb(0), moving
        for whole, last, count in sorted(terms, key=lambda term: float(term[0]), reverse=True):
            taken = min(count, left)
            total += taken * whole
            without_last_power += taken * (whole - last)
            left -= taken
        if joint is not None:
            total = min(total, without_last_power + power(arb(joint), p))
        return upper_float((2 * total / arb(epsilon)) ** (1 / p))
