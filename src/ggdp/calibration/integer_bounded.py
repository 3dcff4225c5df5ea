"""The least scale of pure DP for integer noise on bounds, boundary inflated or truncated.

=======  =============================================================================
w        width of the bounds
D        sensitivity, at most w
h(s)     loss of the truncated law at the output c1 between s and s + D
=======  =============================================================================

The boundary inflated loss falls strictly as the scale rises, so its crossing with epsilon is the least scale. The
truncated loss is the greatest h(s); its crossing is found as a rising sequence of crossings of h at one s after
another. It fell with the scale in every case tried, which is not proved: that the scale is the least is a result of the
search there. Both are checked by `ggdp.proofs.integer_bounded` before they are returned.

References
----------
Liu, arXiv 1602.06028 v5, Eqns b1 and b2 (the bounds on the reals, which are not valid here).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flint import arb

from ggdp._balls import BALLS, upper_float, working_precision
from ggdp.calibration.search import bracketed, passing_end
from ggdp.calibration.shift import laplace_scale
from ggdp.proofs.integer_bounded import TruncatedLosses, slope_precision
from ggdp.proofs.integer_sums import log_tail_sum

if TYPE_CHECKING:
    from ggdp.proofs.noise_law import NoiseLaw

_PRECISION = 96
_TOLERANCE = 1e-14
# The worst place settles after a few rounds; what is found is proved in any case.
_MOST_ROUNDS = 60


def scale_for_integer_bounded(law: NoiseLaw, width: int, sensitivity: int, epsilon: float) -> float:
    """Return the least scale found that keeps epsilon with bounded noise on the integers, to be proved.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> law = NoiseLaw(order=2, scale=1, support="integer", bounding="truncated")
    >>> print(f"{scale_for_integer_bounded(law, 1, 1, 0.25):.10f}")
    2.0000000000
    """
    search = _truncated if law.bounding == "truncated" else _boundary_inflated
    return search(law.order, width, sensitivity, epsilon)


def _log_excess(value: arb, epsilon: float) -> float:
    """Return log(value / epsilon), rounded up."""
    ratio = value / arb(epsilon)
    return upper_float(ratio.log()) if ratio > 0 else -math.inf


def _exponential_bound(p: float, w: int, D: int, epsilon: float) -> float:
    """Return the b with 2 (w^p - (w - D)^p) = epsilon b^p, as both parts of h are at most w^p - (w - D)^p over b^p."""
    with BALLS, working_precision(_PRECISION):
        drop = arb(w) ** arb(p) - (arb(w - D) ** arb(p) if w > D else arb(0))
        return upper_float((2 * drop / arb(epsilon)) ** (1 / arb(p)))


def _boundary_inflated(p: float, w: int, D: int, epsilon: float) -> float:
    """Return the passing end of the crossing of log[R(w - D) / R(w)] with epsilon."""
    if p == 1.0:
        return laplace_scale(D, epsilon)

    def excess(b: float) -> float:
        with BALLS, working_precision(_PRECISION):
            return _log_excess(log_tail_sum(p, b, w - D) - log_tail_sum(p, b, w), epsilon)

    found = bracketed(excess, _exponential_bound(p, w, D, epsilon), ratio=2.0)
    return passing_end(excess, **found._asdict(), tolerance=_TOLERANCE)


def _truncated(p: float, w: int, D: int, epsilon: float) -> float:
    """Return the passing end of the crossing of the greatest h(s) with epsilon."""

    def greatest(b: float) -> tuple[float, int]:
        with BALLS, working_precision(slope_precision(w)):
            value, s = TruncatedLosses(p, b, w, D).greatest()
            return _log_excess(value, epsilon), s

    def excess(s: int, b: float) -> float:
        with BALLS, working_precision(slope_precision(w)):
            return _log_excess(TruncatedLosses(p, b, w, D).loss(s), epsilon)

    found = bracketed(lambda b: greatest(b)[0], _exponential_bound(p, w, D, epsilon), ratio=2.0)
    failing, passing = found.failing, found.passing
    _, s = greatest(failing)
    for _ in range(_MOST_ROUNDS):
        # The crossing of one h is not above that of the greatest.
        b = passing_end(lambda b, s=s: excess(s, b), failing=failing, passing=passing, tolerance=_TOLERANCE)  # type: ignore[misc]
        above, worst = greatest(b)
        if above <= 0.0 or worst == s or b >= passing:
            return b
        failing, s = b, worst
    return b
