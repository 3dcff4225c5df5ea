"""The privacy profile of noise: bounds of its delta for an epsilon, proved from both sides.

==========  ===========================================================================================
delta(eps)  the largest of P(A) - e^eps Q(A) over all sets A and all moves that the sensitivity allows
eps(delta)  the least eps >= 0 with delta(eps) <= delta
l_1, l_2    norms of the whole move
==========  ===========================================================================================

==============================================  =========================================================
one coordinate moves                            exact, to 13 digits
order 2 on the reals                            exact, by the l_2 norm; with a box and a joint norm an upper bound
a box or cells                                  the corner: upper bound by pessimistic convolution, lower bound
                                                by cells of noise (`CornerDelta.lower`)
only a norm                                     upper: at order 2 by the l_2 norm, else by the l_1 norm or free of
                                                direction; lower: all of the move in one coordinate
bounds                                          the pure loss: upper bound by randomized response
==============================================  =========================================================

Claim (epsilon below 0). delta(-eps) = 1 - e^(-eps) + e^(-eps) delta(eps): take complements of the sets, and note that
the moves d and -d are both allowed. Claim (epsilon from 0 to a small e). delta falls with eps and is convex in e^eps
with a slope of at least -1, so delta(e) <= delta(eps) <= delta(e) + e^e - e^eps.

Claim (pure loss e). Of all pairs with losses within e the randomized response with that e has the largest delta,
(e^e - e^eps) / (1 + e^e) (Kairouz, Oh and Viswanath, ICML 2015, Theorem 3.4).

Rounding: lower ends down, upper ends up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

from flint import arb

from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp.errors import CertificateError
from ggdp.privacy.sensitivity import Sensitivity
from ggdp.proofs.bound import Enclosure, require_unbounded
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.one_coordinate import IntegerShiftDelta, ShiftDelta
from ggdp.proofs.several_coordinates import CornerDelta
from ggdp.proofs.worst_case import REACHED, WorstCase

Between: TypeAlias = tuple[float, float]
# Chooses a layout for a bound that is proved by a convolution, and the precision; nothing of it is trusted.
LayOut: TypeAlias = Callable[[Any, "NoiseLaw"], tuple[Any, int]]

_PRECISION = 128
# Below it delta at this epsilon stands in, with what it may differ by.
LEAST_EPSILON = 2.0**-40


@dataclass(frozen=True, slots=True)
class NoisyQuery:
    """A query that moves by at most its sensitivity, with noise of a law in every coordinate."""

    law: NoiseLaw
    sensitivity: Sensitivity

    def __post_init__(self) -> None:
        require_unbounded(self.law)

    @property
    def case(self) -> WorstCase:
        """What is known of the changes that are easiest to detect."""
        return WorstCase(sensitivity=self.sensitivity, order=self.law.order, support=self.law.support)

    @property
    def is_exact(self) -> bool:
        """Whether lower and upper bounds agree but for rounding."""
        return self.sensitivity.moving == 1 or (self.case.is_single and self.case.reaches_every_norm)


def pure_between(noisy: NoisyQuery) -> Between:
    """Return two floats with the least pure epsilon between them."""
    if noisy.law.order != 1.0:
        return math.inf, math.inf
    size, reached = noisy.case.l1_norm, noisy.case.reached_norm(1.0)
    with BALLS, working_precision(_PRECISION):
        upper = upper_float(arb(size) / arb(noisy.law.scale))
        return lower_float(arb(reached) / arb(noisy.law.scale)), upper


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


def _reflect(epsilon: float, delta: float) -> arb:
    """Enclose delta(epsilon) for an epsilon below 0, from delta(-epsilon)."""
    share = arb(epsilon).exp()
    return 1 - share + share * arb(delta)


def upper_delta(noisy: NoisyQuery, epsilon: float, lay_out: LayOut) -> float:
    """Return a float that delta(epsilon) is not above, for any finite epsilon."""
    most = _most(noisy, max(abs(epsilon), LEAST_EPSILON), lay_out)
    if epsilon >= LEAST_EPSILON:
        return most
    with BALLS, working_precision(_PRECISION):
        if epsilon < -LEAST_EPSILON:
            return min(upper_float(_reflect(epsilon, most)), 1.0)
        return min(upper_float(arb(most) + (arb(LEAST_EPSILON).exp() - arb(epsilon).exp())), 1.0)


def lower_delta(noisy: NoisyQuery, epsilon: float, lay_out: LayOut) -> float:
    """Return a float that delta(epsilon) is not below, for any finite epsilon."""
    if epsilon < -LEAST_EPSILON:
        with BALLS, working_precision(_PRECISION):
            return max(lower_float(_reflect(epsilon, _least(noisy, -epsilon, lay_out))), 0.0)
    return _least(noisy, max(epsilon, LEAST_EPSILON), lay_out)


def _most(noisy: NoisyQuery, epsilon: float, lay_out: LayOut) -> float:
    """Return the least proved upper bound of delta, for an epsilon above 0."""
    case, law, found = noisy.case, noisy.law, [1.0]
    if law.support == "integer" and noisy.sensitivity.lp(1) < 1.0:
        # No whole number changes.
        return 0.0
    if law.order == 1.0 and Fraction(case.l1_norm) <= Fraction(epsilon) * Fraction(law.scale):
        return 0.0
    for one in case.applicable("approximate", epsilon):
        if one.bound.layout_type is not None:
            planned, bits = _with_layout(one.bound, law, lay_out)
            found.append(planned.at_precision(law, bits).upper)
        elif one.bound.quantity == "delta":
            found.append(one.bound.enclose(law).upper)
    return min(found)


def _least(noisy: NoisyQuery, epsilon: float, lay_out: LayOut) -> float:
    """Return the largest proved lower bound of delta, for an epsilon above 0."""
    case, law, found = noisy.case, noisy.law, [0.0]
    for change in case.possible_changes:
        if change.is_single:
            found.append(shift_delta(law, change.sizes[0][0], epsilon).lower)
        elif not case.is_single:
            planned, bits = _with_layout(CornerDelta(corner=change.sizes, epsilon=epsilon), law, lay_out)
            found.append(planned.lower(law, bits))
    if case.is_single and case.reaches_every_norm and noisy.sensitivity.moving > 1:
        found.append(shift_delta(law, noisy.sensitivity.lp(2) * REACHED, epsilon).lower)
    return max(found)


def _with_layout(bound: Any, law: NoiseLaw, lay_out: LayOut) -> tuple[Any, int]:  # noqa: ANN401 - any bound with one
    """Return a bound with a layout, and the precision of its proof."""
    planned, bits = lay_out(bound, law)
    if planned.claim != bound:
        raise CertificateError("the layout is of another corner")
    return planned, bits


def shift_delta(law: NoiseLaw, size: float, epsilon: float) -> Enclosure:
    """Enclose the delta of one coordinate that changes by `size`, on the integers by the whole part of it."""
    if law.support == "integer":
        whole = math.floor(size)
        return IntegerShiftDelta(notion="approximate", sensitivity=whole, epsilon=epsilon).enclose(law)
    return ShiftDelta(notion="approximate", sensitivity=size, epsilon=epsilon).enclose(law)
