"""Totals that need no grid: pure losses, one shift of one coordinate, and the probability of an infinite loss.

Claim (pure losses). Independent losses of at most e_i each add up to at most the sum of the e_i, where delta is 0;
randomised response and Laplace noise attain theirs.

Claim (one shift). Gaussian noise on the reals is rotation invariant: independent shifts d_i, in units of the scale, are
one shift by their l_2 norm.

Claim (infinite losses). See `ggdp.proofs.total_loss`: delta = q + (1 - q) delta', with delta' of the finite losses and
q the probability of an infinite one.

Rounding: lower ends down, upper ends up.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from flint import arb

from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp.proofs.attained import ATTAINED
from ggdp.proofs.integer_shift import IntegerShiftDelta
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.profile import LEAST_EPSILON, Between
from ggdp.proofs.shift import ShiftDelta
from ggdp.proofs.total_loss import CoordinateLoss, CountedLoss, ResponseLoss

if TYPE_CHECKING:
    from collections.abc import Sequence

_PRECISION = 128


def largest_sum(losses: Sequence[CountedLoss]) -> Fraction | None:
    """Return the largest possible sum of finite losses; None where there is none."""
    total = Fraction(0)
    for counted in losses:
        loss = counted.loss
        if isinstance(loss, ResponseLoss):
            total += counted.count * Fraction(loss.epsilon)
        elif loss.law.order == 1.0:
            total += counted.count * Fraction(loss.size) / Fraction(loss.law.scale)
        else:
            return None
    return total


def shift_between(losses: Sequence[CountedLoss], epsilon: float) -> Between | None:
    """Return two floats with delta between them where the total is one shift; None where it is not."""
    shifts = [counted for counted in losses if isinstance(counted.loss, CoordinateLoss)]
    if not shifts or len(shifts) < len(losses):
        return None
    if epsilon < LEAST_EPSILON:
        # delta is convex in e^epsilon with a slope of at least -1, and e^x - 1 < 2 x here.
        found = shift_between(losses, LEAST_EPSILON)
        return None if found is None else (found[0], min(found[1] + 2.0 * LEAST_EPSILON, 1.0))
    if len(shifts) == 1 == shifts[0].count:
        (law, size) = _coordinate(shifts[0])
        exact = (
            IntegerShiftDelta(notion="approximate", sensitivity=int(size), epsilon=epsilon)
            if law.support == "integer"
            else ShiftDelta(notion="approximate", sensitivity=size, epsilon=epsilon)
        )
        enclosure = exact.enclose(law)
        if law.order == 2.0 and law.support == "real":
            # The size is a norm that was rounded up.
            reached = ShiftDelta(notion="approximate", sensitivity=size * ATTAINED, epsilon=epsilon)
            return reached.enclose(law).lower, min(enclosure.upper, 1.0)
        return enclosure.lower, min(enclosure.upper, 1.0)
    laws = [_coordinate(counted)[0] for counted in shifts]
    if not all(law.order == 2.0 and law.support == "real" for law in laws):
        return None
    with BALLS, working_precision(_PRECISION):
        squares = arb(0)
        for counted in shifts:
            law, size = _coordinate(counted)
            squares += counted.count * (arb(size) / arb(law.scale)) ** 2
        ends = lower_float(squares.sqrt()) * ATTAINED, upper_float(squares.sqrt())
    unit = NoiseLaw(order=2, scale=1.0)
    low, high = (ShiftDelta(notion="approximate", sensitivity=end, epsilon=epsilon).enclose(unit) for end in ends)
    return low.lower, min(high.upper, 1.0)


def _coordinate(counted: CountedLoss) -> tuple[NoiseLaw, float]:
    assert isinstance(counted.loss, CoordinateLoss)
    return counted.loss.law, counted.loss.size


def with_infinite(infinite: Between, found: Between) -> Between:
    """Return bounds of delta from those of the finite losses."""
    if infinite[1] == 0.0:
        return found
    with BALLS, working_precision(_PRECISION):
        lower, upper = (q + (1 - q) * arb(delta) for q, delta in zip(map(arb, infinite), found, strict=True))
        return max(lower_float(lower), 0.0), min(upper_float(upper), 1.0)


def left_to_finite(infinite: Between, delta: float) -> Between:
    """Return the delta that is left to the finite losses: at least, and at most; below 0 where none is."""
    with BALLS, working_precision(_PRECISION):
        most, least = ((arb(delta) - arb(q)) / (1 - arb(q)) for q in infinite)
        return lower_float(least), upper_float(most)
