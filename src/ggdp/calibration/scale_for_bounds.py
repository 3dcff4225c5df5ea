"""The paper's closed form for the truncated mechanism, Eqns b1 and b2 of v5.

The least scale of pure DP for integer noise on bounds, boundary inflated or truncated.

=======  =============================================================================
w        width of the bounds
D        sensitivity, at most w
h(s)     loss of the truncated law at the output c1 between s and s + D
=======  =============================================================================

The boundary inflated loss falls strictly as the scale rises, so its crossing with epsilon is the least scale. The
truncated loss is the greatest h(s); its crossing is found as a rising sequence of crossings of h at one s after
another. It fell with the scale in every case tried, which is not proved: that the scale is the least is a result of the
search there. Both are checked by `ggdp.proofs.bounded` before they are returned.

References
----------
Liu, arXiv 1602.06028 v5, Eqns b1 and b2 (the bounds on the reals, which are not valid here).

The least scale of truncated and boundary-inflated noise for pure DP.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, power, upper_float, working_precision
from ggdp.calibration.scale_for_one_coordinate import laplace_scale
from ggdp.calibration.search import Proposal, find_bracket, log_excess, passing_end, passing_from, raise_until_proved
from ggdp.proofs.bounded import TruncatedLosses, slope_precision
from ggdp.proofs.tails import log_tail_sum

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ggdp.proofs.bounded import BoundedJointLoss, BoundedLoss, Coordinate
    from ggdp.proofs.noise_law import NoiseLaw


_FORMULA_PRECISION = 192


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
    with BALLS, working_precision(_FORMULA_PRECISION):
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


_PRECISION = 96
_INTEGER_TOLERANCE = 1e-14
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

    return passing_from(excess, _exponential_bound(p, w, D, epsilon), ratio=2.0, tolerance=_INTEGER_TOLERANCE)


def _truncated(p: float, w: int, D: int, epsilon: float) -> float:
    """Return the passing end of the crossing of the greatest h(s) with epsilon."""

    def greatest(b: float) -> tuple[float, int]:
        with BALLS, working_precision(slope_precision(w)):
            value, s = TruncatedLosses(p, b, w, D).greatest()
            return _log_excess(value, epsilon), s

    def excess(s: int, b: float) -> float:
        with BALLS, working_precision(slope_precision(w)):
            return _log_excess(TruncatedLosses(p, b, w, D).loss(s), epsilon)

    start = _exponential_bound(p, w, D, epsilon)
    failing, passing, *_ = find_bracket(lambda b: greatest(b)[0], start, ratio=2.0)
    _, s = greatest(failing)
    for _ in range(_MOST_ROUNDS):
        # The crossing of one h is not above that of the greatest.
        b = passing_end(partial(excess, s), failing, passing, tolerance=_INTEGER_TOLERANCE)
        above, worst = greatest(b)
        if above <= 0.0 or worst == s or b >= passing:
            return b
        failing, s = b, worst
    return b


_TOLERANCE = 1e-13


def least_for_bounded_joint(bound: BoundedJointLoss, law: NoiseLaw, target: float) -> Proposal:
    """Return the law of the paper's Eqn b1."""
    scale = truncated_scale(law.order, bound.coordinates, bound.moving, target, bound.joint)
    return raise_until_proved(bound, law.with_scale(scale), target)


def least_for_bounded(bound: BoundedLoss, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law found whose loss is at most the target.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.bounded import BoundedLoss
    >>> law = NoiseLaw(order=3, scale=1, bounding="truncated")
    >>> print(f"{least_for_bounded(BoundedLoss(coordinates=((10.0, 1.0, 1),), moving=1), law, 1.0).law.scale:.5f}")
    6.15321
    """
    if law.support == "integer" and len(bound.coordinates) == 1 and bound.moving == 1:
        width, sensitivity, _ = bound.coordinates[0]
        scale = scale_for_integer_bounded(law, int(width), int(sensitivity), target)
        return raise_until_proved(bound, law.with_scale(scale), target)

    excess = lru_cache(maxsize=256)(log_excess(bound, law, target))
    start = _start(law.order, bound.coordinates, bound.moving, target)
    scale = passing_from(excess, start, ratio=2.0, tolerance=_TOLERANCE)
    return raise_until_proved(bound, law.with_scale(scale), target)


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
