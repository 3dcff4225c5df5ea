"""The least scale of pure DP for integer noise on bounds, boundary inflated or truncated.

=======  =============================================================================
w        width of the bounds
D        sensitivity, at most w
h(s)     loss of the truncated law at the output c1 between s and s + D
=======  =============================================================================

The boundary inflated loss falls strictly as the scale rises, so its crossing with epsilon is the least scale. The
truncated loss is the greatest h(s); its crossing is found as a rising sequence of crossings of h at one s after
another. It fell with the scale in every case tried, which is not proved: that the scale is the least is a result of the
search there. Both are checked by `ggdp.loss.integer_bounded` before they are returned.

References
----------
Liu, arXiv 1602.06028 v5, Eqns b1 and b2 (the bounds on the reals, which are not valid here).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flint import arb

from ggdp import _validate
from ggdp.calibration.search import passing_end
from ggdp.calibration.shift import laplace_scale
from ggdp.distributions.enclosures import BALLS, upper_float, working_precision
from ggdp.distributions.integer_sums import log_tail_sum
from ggdp.errors import ArgumentError, SearchError
from ggdp.loss.integer_bounded import (
    TruncatedLosses,
    loss_of_integer_boundary_inflated,
    loss_of_integer_truncated,
    slope_precision,
)

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["scale_for_integer_bounded"]

BOUNDINGS = ("boundary-inflated", "truncated")
_PRECISION = 96
_TOLERANCE = 1e-14
_MOST_ROUNDS = 60
_MOST_NUDGES = 40


def scale_for_integer_bounded(*, bounding: str, order: float, width: int, sensitivity: int, epsilon: float) -> float:
    """Return the least scale found that keeps epsilon with bounded noise on the integers.

    Parameters
    ----------
    bounding : {"boundary-inflated", "truncated"}
        What becomes of the noise beyond the bounds.
    order : float
        Order of the noise, at least 1.
    width : int
        Upper bound minus lower bound.
    sensitivity : int
        How far the coordinate can move, at most `width`.
    epsilon : float
        The goal.

    Returns
    -------
    float
        A scale b at which the loss is proved to be at most `epsilon`; at b (1 - 1e-9) it is proved to be more.

    Examples
    --------
    >>> scale_for_integer_bounded(bounding="boundary-inflated", order=1, width=10, sensitivity=2, epsilon=0.5)
    4.0
    >>> b = scale_for_integer_bounded(bounding="truncated", order=2, width=1, sensitivity=1, epsilon=0.25)
    >>> print(f"{b:.10f}")
    2.0000000000
    """
    bounding = _validate.choice(among=BOUNDINGS, bounding=bounding)
    p, eps = _validate.order(order=order), _validate.positive(epsilon=epsilon)
    D = _validate.integer(at_least=1, sensitivity=sensitivity)
    w = _validate.integer(at_least=1, width=width)
    if w < D:
        raise ArgumentError("width", width, f"must be at least the sensitivity, {sensitivity}")
    search, loss = (
        (_boundary_inflated, loss_of_integer_boundary_inflated)
        if bounding == "boundary-inflated"
        else (_truncated, loss_of_integer_truncated)
    )
    b = search(p, w, D, eps)
    for ulps in range(_MOST_NUDGES):
        if loss(order=p, scale=b, width=w, sensitivity=D).upper <= eps:
            return b
        b = b + math.ulp(b) * 2**ulps
    message = f"no scale near {b!r} could be certified for epsilon = {eps!r} at order {p!r}"
    raise SearchError(message)


def _log_excess(value: arb, epsilon: float) -> float:
    """Return log(value / epsilon), rounded up."""
    ratio = value / arb(epsilon)
    return upper_float(ratio.log()) if ratio > 0 else -math.inf


def _exponential_bound(p: float, w: int, D: int, epsilon: float) -> float:
    """Return the b with 2 (w^p - (w - D)^p) = epsilon b^p, as both parts of h are at most w^p - (w - D)^p over b^p."""
    with BALLS, working_precision(_PRECISION):
        drop = arb(w) ** arb(p) - (arb(w - D) ** arb(p) if w > D else arb(0))
        return upper_float((2 * drop / arb(epsilon)) ** (1 / arb(p)))


def _bracket(excess: Callable[[float], float], start: float) -> tuple[float, float]:
    """Return (failing, passing) a factor of 2 apart, by steps of that factor from `start`."""
    if excess(start) <= 0.0:
        passing = start
        while excess(passing / 2.0) <= 0.0:
            passing /= 2.0
        return passing / 2.0, passing
    failing = start
    while excess(failing * 2.0) > 0.0:
        failing *= 2.0
    return failing, failing * 2.0


def _boundary_inflated(p: float, w: int, D: int, epsilon: float) -> float:
    """Return the passing end of the crossing of log[R(w - D) / R(w)] with epsilon."""
    if p == 1.0:
        return laplace_scale(D, epsilon)

    def excess(b: float) -> float:
        with BALLS, working_precision(_PRECISION):
            return _log_excess(log_tail_sum(p, b, w - D) - log_tail_sum(p, b, w), epsilon)

    failing, passing = _bracket(excess, _exponential_bound(p, w, D, epsilon))
    return passing_end(excess, failing=failing, passing=passing, tolerance=_TOLERANCE)


def _truncated(p: float, w: int, D: int, epsilon: float) -> float:
    """Return the passing end of the crossing of the greatest h(s) with epsilon."""

    def greatest(b: float) -> tuple[float, int]:
        with BALLS, working_precision(slope_precision(w)):
            value, s = TruncatedLosses(p, b, w, D).greatest()
            return _log_excess(value, epsilon), s

    def excess(s: int, b: float) -> float:
        with BALLS, working_precision(slope_precision(w)):
            return _log_excess(TruncatedLosses(p, b, w, D).loss(s), epsilon)

    failing, passing = _bracket(lambda b: greatest(b)[0], _exponential_bound(p, w, D, epsilon))
    _, s = greatest(failing)
    for _ in range(_MOST_ROUNDS):
        # The crossing of one h is not above that of the greatest.
        b = passing_end(lambda b, s=s: excess(s, b), failing=failing, passing=passing, tolerance=_TOLERANCE)  # type: ignore[misc]
        above, worst = greatest(b)
        if above <= 0.0 or worst == s or b >= passing:
            return b
        failing, s = b, worst
    return b
