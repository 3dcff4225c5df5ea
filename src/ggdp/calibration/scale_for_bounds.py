"""The scale of truncated and boundary-inflated noise for pure DP: the least one, and the paper's closed form.

=======  =============================================================================
w        width of the bounds
D        sensitivity, at most w
h(s)     loss of the truncated law at the output c1 between s and s + D
=======  =============================================================================

For one coordinate on the integers, the boundary-inflated loss falls strictly as the scale rises, so its crossing with
epsilon is the least scale. The truncated loss is the greatest h(s); its crossing is found as a rising sequence of
crossings of h at one s after another. It fell with the scale in every case tried, which is not proved: that the scale
is the least is a result of the search there. What is found is proved by `ggdp.proofs.bounded`.

References
----------
Liu, arXiv 1602.06028 v5, Eqns b1 and b2 (the closed form on the reals, which is not valid on the integers).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache, partial
from typing import Any, TypeVar

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, power, upper_float, working_precision
from ggdp.calibration.scale_for_one_coordinate import laplace_scale
from ggdp.calibration.search import find_bracket, log_excess, passing_end, passing_from
from ggdp.proofs.bounded import BoundedLoss, Coordinate, TruncatedLosses, slope_precision
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.tails import log_tail_sum

Term = TypeVar("Term")
_PRECISION = 96
_INTEGER_TOLERANCE = 1e-14


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
    with BALLS, working_precision(192):
        p = arb(order)
        terms = [((power(arb(w) + arb(D), p) - power(arb(w), p), power(arb(D), p)), n) for w, D, n in coordinates]
        total, without_last_power = arb(0), arb(0)
        for (whole, last), many in largest_terms(terms, moving, key=lambda term: float(term[0])):
            total += many * whole
            without_last_power += many * (whole - last)
        if joint is not None:
            total = min(total, without_last_power + power(arb(joint), p))
        return upper_float((2 * total / arb(epsilon)) ** (1 / p))


def largest_terms(
    terms: Iterable[tuple[Term, int]], moving: int, key: Callable[[Any], float] = float
) -> Iterator[tuple[Term, int]]:
    """Return the largest terms, and how many of each: as many in all as coordinates can move at once."""
    left = moving
    for term, count in sorted(terms, key=lambda pair: key(pair[0]), reverse=True):
        yield term, min(count, left)
        left -= min(count, left)


def scale_for_bounded(bound: BoundedLoss, law: NoiseLaw, target: float) -> float:
    """Return the least scale found whose loss is at most the target."""
    if law.support == "integer" and len(bound.coordinates) == 1 and bound.moving == 1:
        width, sensitivity, _ = bound.coordinates[0]
        search = _scale_for_truncated if law.bounding == "truncated" else _scale_for_boundary_inflated
        return search(law.order, int(width), int(sensitivity), target)
    excess = lru_cache(maxsize=256)(log_excess(bound, law, target))
    start = _start(law.order, bound.coordinates, bound.moving, target)
    return passing_from(excess, start, ratio=2.0, tolerance=1e-13)


def _log_excess(value: arb, epsilon: float) -> float:
    """Return log(value / epsilon), rounded up."""
    ratio = value / arb(epsilon)
    return upper_float(ratio.log()) if ratio > 0 else -math.inf


def _exponential_bound(p: float, w: int, D: int, epsilon: float) -> float:
    """Return the b with 2 (w^p - (w - D)^p) = epsilon b^p, as both parts of h are at most w^p - (w - D)^p over b^p."""
    with BALLS, working_precision(_PRECISION):
        drop = arb(w) ** arb(p) - (arb(w - D) ** arb(p) if w > D else arb(0))
        return upper_float((2 * drop / arb(epsilon)) ** (1 / arb(p)))


def _scale_for_boundary_inflated(p: float, w: int, D: int, epsilon: float) -> float:
    """Return the passing end of the crossing of log[R(w - D) / R(w)] with epsilon."""
    if p == 1.0:
        return laplace_scale(D, epsilon)

    def excess(b: float) -> float:
        with BALLS, working_precision(_PRECISION):
            return _log_excess(log_tail_sum(p, b, w - D) - log_tail_sum(p, b, w), epsilon)

    return passing_from(excess, _exponential_bound(p, w, D, epsilon), ratio=2.0, tolerance=_INTEGER_TOLERANCE)


def _scale_for_truncated(p: float, w: int, D: int, epsilon: float) -> float:
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
    # The worst place settles after a few rounds; what is found is proved in any case.
    for _ in range(60):
        # The crossing of one h is not above that of the greatest.
        b = passing_end(partial(excess, s), failing, passing, tolerance=_INTEGER_TOLERANCE)
        above, worst = greatest(b)
        if above <= 0.0 or worst == s or b >= passing:
            return b
        failing, s = b, worst
    return b


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
    largest = max(terms)[0]
    weights = [many * math.exp(term - largest) for term, many in largest_terms(terms, moving)]
    total = largest + math.log(math.fsum(weights))
    return math.exp((total - math.log(epsilon)) / order)
