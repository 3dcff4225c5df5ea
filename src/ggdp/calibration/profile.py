"""The other direction: the delta of a noise for an epsilon, the epsilon for a delta, each between two proved floats.

==========  ===========================================================================================
delta(eps)  the largest of P(A) - e^eps Q(A) over all sets A and all moves that the sensitivity allows
eps(delta)  the least eps >= 0 with delta(eps) <= delta
l_1, l_2    norms of the whole move
==========  ===========================================================================================

==============================================  =========================================================
one coordinate moves                            exact, to 13 digits
order 2 on the reals                            exact, by the l_2 norm; with a box and a joint norm an upper bound
a box or cells                                  the corner: upper bound by pessimistic convolution, lower bound
                                                by cells of noise (`ggdp.loss.corner_below`)
only a norm                                     upper: at order 2 by the l_2 norm, else by the l_1 norm or free of
                                                direction; lower: all of the move in one coordinate
bounds                                          the pure loss: upper bound by randomised response
==============================================  =========================================================

Claim (epsilon below 0). delta(-eps) = 1 - e^(-eps) + e^(-eps) delta(eps): take complements of the sets, and note that
the moves d and -d are both allowed. Claim (epsilon from 0 to a small e). delta falls with eps and is convex in e^eps
with a slope of at least -1, so delta(e) <= delta(eps) <= delta(e) + e^e - e^eps.

Claim (l_1 norm). A move of l_1 norm s is no easier to detect than a move of one coordinate by s, at every order p >= 1,
on the reals and, for whole moves, on the integers. Proof: let psi_s(a) be the largest power of a test of level a
against a shift of one coordinate by s. For a test phi(x, y) of level a, fixed x and a shift of y by t,
E phi(x, y + t) <= psi_t(E phi(x, y)); averaged over x, since psi_t is concave, E phi(x, y + t) <= psi_t(a). For fixed y
likewise with the shift s of x, so that the power is at most psi_s(psi_t(a)). Log-concave noise has monotone likelihood
ratios: the best tests are half-lines, the same for all shifts, so psi_s(psi_t(a)) = psi_(s+t)(a). Induct over the
coordinates.

Claim (pure loss e). Of all pairs with losses within e the randomised response with that e has the largest delta,
(e^e - e^eps) / (1 + e^e) (Kairouz, Oh and Viswanath, ICML 2015, Theorem 3.4).

Rounding: lower ends down, upper ends up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from flint import arb

from ggdp.calibration.attained import ATTAINED, attained_norm, joint_binds, most_l1
from ggdp.calibration.search import passing_end
from ggdp.distributions.enclosures import BALLS, lower_float, upper_float, working_precision
from ggdp.loss.corner import delta_of_corner
from ggdp.loss.corner_below import least_delta_of_corner
from ggdp.loss.integer_gaussian import delta_of_integer_gaussian
from ggdp.loss.integer_shift import delta_of_integer_shift
from ggdp.loss.radial import delta_of_radial
from ggdp.loss.shift import delta_of_shift

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.loss.enclosed import Enclosed
    from ggdp.privacy import Sensitivity

__all__ = ["Between", "Noise", "delta_between", "delta_of_pure", "epsilon_between", "epsilon_of_pure", "pure_between"]

Between = tuple[float, float]

_PRECISION = 128
# Below it delta at this epsilon stands in, with what it may differ by.
LEAST_EPSILON = 2.0**-40
MOST_EPSILON = 1e8
EXACT_TOLERANCE = 1e-13
GRID_TOLERANCE = 1e-5
FIRST_STRIDE = 1e-3
SMALLEST = math.ulp(0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """Noise of an order and a scale, on a support, and how far a query moves that it is added to."""

    order: float
    scale: float
    support: str
    sensitivity: Sensitivity

    @property
    def is_exact(self) -> bool:
        """Whether lower and upper bounds agree but for rounding."""
        query = self.sensitivity
        return query.moving == 1 or (self.order == 2.0 and self.support == "real" and self.is_attained)

    @property
    def is_attained(self) -> bool:
        """Whether some move has every norm as large as the sensitivity says."""
        query = self.sensitivity
        alone = query.kind == "norm" and query.joint is not None and query.sizes[0] == query.joint[1]
        return alone or not joint_binds(query)


def delta_between(noise: Noise, epsilon: float) -> Between:
    """Return two floats with delta(epsilon) between them, for any finite epsilon."""
    return _lower_delta(noise, epsilon), _upper_delta(noise, epsilon)


def epsilon_between(noise: Noise, delta: float, *, guess: float = 1.0) -> Between:
    """Return two floats with eps(delta) between them; infinite where no epsilon has this delta."""
    if delta == 0.0:
        return pure_between(noise)
    tolerance = EXACT_TOLERANCE if noise.is_exact else GRID_TOLERANCE
    _, upper = _crossing(lambda eps: _upper_delta(noise, eps), delta, guess, tolerance)
    near = upper if 0.0 < upper < math.inf else guess
    lower, _ = _crossing(lambda eps: _lower_delta(noise, eps), delta, near, tolerance)
    return min(lower, upper), upper


def pure_between(noise: Noise) -> Between:
    """Return two floats with the least pure epsilon between them."""
    if noise.order != 1.0:
        return math.inf, math.inf
    size, reached = most_l1(noise.sensitivity, noise.support), attained_norm(noise.sensitivity, 1.0, noise.support)
    with BALLS, working_precision(_PRECISION):
        upper = upper_float(arb(size) / arb(noise.scale))
        return lower_float(arb(reached) / arb(noise.scale)), upper


def delta_of_pure(pure: float, epsilon: float) -> Between:
    """Return bounds of delta(epsilon) for any mechanism of this pure loss: 0, or what is true of all, and the most."""
    with BALLS, working_precision(_PRECISION):
        e, eps = arb(pure).exp(), arb(epsilon).exp()
        least = max(lower_float(1 - eps), 0.0)
        if epsilon >= pure:
            return 0.0, 0.0
        most = min(upper_float(1 - eps if epsilon <= -pure else (e - eps) / (1 + e)), 1.0)
        return min(least, most), most


def epsilon_of_pure(pure: float, delta: float) -> float:
    """Return a float not below the epsilon that any mechanism of this pure loss has for a delta."""
    with BALLS, working_precision(_PRECISION):
        e = arb(pure).exp()
        left = e - arb(delta) * (1 + e)
        return min(max(upper_float(left.log()), 0.0), pure) if left > 1 else 0.0


def _reflected(epsilon: float, delta: float) -> arb:
    """Enclose delta(epsilon) for an epsilon below 0, from delta(-epsilon)."""
    share = arb(epsilon).exp()
    return 1 - share + share * arb(delta)


def _upper_delta(noise: Noise, epsilon: float) -> float:
    if epsilon < -LEAST_EPSILON:
        with BALLS, working_precision(_PRECISION):
            return min(upper_float(_reflected(epsilon, _most(noise, -epsilon))), 1.0)
    if epsilon < LEAST_EPSILON:
        with BALLS, working_precision(_PRECISION):
            more = arb(LEAST_EPSILON).exp() - arb(epsilon).exp()
            return min(upper_float(arb(_most(noise, LEAST_EPSILON)) + more), 1.0)
    return _most(noise, epsilon)


def _lower_delta(noise: Noise, epsilon: float) -> float:
    if epsilon < -LEAST_EPSILON:
        with BALLS, working_precision(_PRECISION):
            return max(lower_float(_reflected(epsilon, _least(noise, -epsilon))), 0.0)
    return _least(noise, max(epsilon, LEAST_EPSILON))


def _most(noise: Noise, epsilon: float) -> float:
    """Return the least proved upper bound of delta, for an epsilon above 0."""
    query, order, scale = noise.sensitivity, noise.order, noise.scale
    if noise.support == "integer" and query.lp(1) < 1.0:
        # No whole number moves.
        return 0.0
    if order == 1.0 and Fraction(most_l1(query, noise.support)) <= Fraction(epsilon) * Fraction(scale):
        return 0.0
    if query.moving == 1:
        return _scalar(noise, query.largest, epsilon).upper
    if order == 2.0 and noise.support == "real":
        return _scalar(noise, query.lp(2), epsilon).upper
    found = [1.0]
    if query.kind != "norm":
        corner = delta_of_corner(order=order, scale=scale, corner=query.corner, epsilon=epsilon, support=noise.support)
        found.append(corner.upper)
    if query.joint is not None:
        found.append(_scalar(noise, query.lp(1), epsilon).upper)
        common: dict[str, Any] = {"scale": scale, "dimension": query.moving, "epsilon": epsilon}
        if noise.support == "real" and order > 1.0:
            found.append(delta_of_radial(order=order, sensitivity=query.lp(order), **common).upper)
        if noise.support == "integer" and order == 2.0:
            found.append(delta_of_integer_gaussian(sensitivity=query.lp(2), **common).upper)
    return min(found)


def _least(noise: Noise, epsilon: float) -> float:
    """Return the largest proved lower bound of delta, for an epsilon above 0."""
    query = noise.sensitivity
    found = [0.0]
    if noise.support == "real" or query.largest >= 1.0:
        found.append(_scalar(noise, query.largest, epsilon).lower)
    if query.moving > 1 and noise.is_attained:
        if noise.order == 2.0 and noise.support == "real":
            found.append(_scalar(noise, query.lp(2) * ATTAINED, epsilon).lower)
        elif query.kind != "norm":
            found.append(
                least_delta_of_corner(
                    order=noise.order, scale=noise.scale, corner=query.corner, epsilon=epsilon, support=noise.support
                )
            )
    return max(found)


def _scalar(noise: Noise, size: float, epsilon: float) -> Enclosed:
    """Enclose the delta of one coordinate that moves by `size`, on the integers by the whole part of it."""
    common: dict[str, Any] = {"notion": "approximate", "order": noise.order, "scale": noise.scale, "epsilon": epsilon}
    if noise.support == "integer":
        return delta_of_integer_shift(sensitivity=math.floor(size), **common)
    return delta_of_shift(sensitivity=size, **common)


def _crossing(delta_at: Callable[[float], float], delta: float, guess: float, tolerance: float) -> Between:
    """Return two epsilons close together, with a falling bound of delta above the level at one and not at the other."""
    failed = 0.0

    def excess(epsilon: float) -> float:
        nonlocal failed
        value = delta_at(epsilon)
        if value > delta:
            failed = max(failed, epsilon)
        # The logarithm only leads the search: passing is decided by the floats themselves.
        distance = math.log(max(value, SMALLEST)) - math.log(max(delta, SMALLEST))
        return max(distance, math.ulp(0.0)) if value > delta else min(distance, 0.0)

    failing, passing, stride = 0.0, guess, FIRST_STRIDE
    if excess(passing) > 0.0:
        while excess(passing := (failing := passing) * (1.0 + stride)) > 0.0:
            stride *= 8.0
            if passing > MOST_EPSILON:
                return failed, math.inf
    else:
        while excess(below := passing / (1.0 + stride)) <= 0.0:
            passing, stride = below, 8.0 * stride
            if below < LEAST_EPSILON:
                return (failed, below) if excess(0.0) > 0.0 else (0.0, 0.0)
        failing = below
    passing = passing_end(excess, failing=failing, passing=passing, tolerance=tolerance, resolution=1e-15)
    return failed, passing
