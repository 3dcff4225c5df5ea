"""The delta of integer generalized Gaussian noise when one coordinate moves by an integer.

Noise of order p and scale b on the integers is added to an integer that moves by at most D.

=======  ===================================================================
e        epsilon b^p
L(k)     |k + D|^p - |k|^p, the loss at noise k times b^p; it does not fall with k
k*       the least k with L(k) > e, always above -D/2; none if p = 1 and D <= e
T(k)     P(K >= k)
aDP      delta = T(k*) - e^epsilon T(k* + D), the greatest over all k
pDP      delta = T(k*) + T(k* + D)
=======  ===================================================================

Claim (aDP). The losses above epsilon are those of k >= k*, so delta, the sum of the positive parts of
P(K = k) - e^epsilon P(K = k + D), is the one of k*, and for any other k the difference of tails is no greater. The
shift D is the worst, since T(k) - e^epsilon T(k + d) does not fall with d at any k.

Claim (pDP). The losses above epsilon in absolute value are those of k >= k* and, by symmetry, of k <= -(k* + D). If k*
>= 1, the shift D is the worst. For then D^p = L(0) <= e. Let d < D, with threshold k_d. At k < 0 the loss of d is below
max(d, |k|)^p - |k|^p <= e, and at k >= 0 it is at most the loss of D; so k_d >= k* >= 1. Its x = k_d + d has x^p > e >=
D^p, so x > D and (x - D)^p <= (x - d)^p: the loss of D at x - D is above e too, and k* + D <= k_d + d. If k* <= 0,
delta is above 1/2 and a branch and bound over the shifts follows: k_d does not rise with d, since k_d + d > 0, so that
on the shifts d1..d2 delta is at most T(k_d2) + T(k_d2 + d1).

References
----------
Liu, arXiv 1602.06028 v5, Def. pDP and aDP; Balle and Wang, ICML 2018, Theorem 5 (delta by its privacy-loss tails).
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, upper_float, working_precision
from ggdp._work import spend
from ggdp.proofs.bound import Bound, Quantity, require_unbounded
from ggdp.proofs.crossing import POWERS
from ggdp.proofs.enclosures import EXACT, Enclosure, enclosed, narrowest
from ggdp.proofs.integer_sums import tail
from ggdp.proofs.shift import NOTIONS, Notion

if TYPE_CHECKING:
    from ggdp.proofs.noise_law import NoiseLaw

Threshold: TypeAlias = tuple[int, int | None]
# Two sides that agree to so many bits are taken for a tie, and the enclosure then holds the deltas of both answers.
_TIE_PRECISIONS = (128, 256, 512, 1024)
# Each split halves a block of shifts, so that 400 are enough for any that matters; the bound holds after any number.
_MOST_SPLITS = 400
# P(K >= k) is about e^-1000 there, below the least positive float.
_FAR = 1000.0
# Units of work of a guess.
_GUESS = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerShiftDelta(Bound):
    """The exact delta of noise on the integers when one coordinate moves.

    Attributes
    ----------
    notion : {"approximate", "probabilistic"}
        Which delta.
    sensitivity : int
        How far the coordinate can move.
    epsilon : float
        The epsilon of the guarantee.

    Notes
    -----
    Rounding: `upper` is never below the exact delta. The threshold k* is found by comparing balls; where even 1,024
    bits do not distinguish a loss from epsilon, the enclosure holds the deltas of both answers.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> delta = IntegerShiftDelta(notion="approximate", sensitivity=1, epsilon=1)
    >>> print(f"{delta.enclose(NoiseLaw(order=3, scale=2.57663333443, support='integer')).upper:.10f}")
    0.0500000000
    """

    name: ClassVar[str] = "integer-shift"
    quantity: ClassVar[Quantity] = "delta"
    statement: ClassVar[str] = "one coordinate moves on the integers by at most the sensitivity: the exact delta"
    exact: ClassVar[bool] = True

    notion: Notion
    sensitivity: int
    epsilon: float

    def __post_init__(self) -> None:
        _validate.choice(among=NOTIONS, notion=self.notion)
        _validate.integer(sensitivity=self.sensitivity, at_least=1)
        _validate.positive(epsilon=self.epsilon)

    def enclose(self, law: NoiseLaw) -> Enclosure:
        """Enclose delta at the first precision that makes it narrow; the threshold is found once."""
        thresholds = self._thresholds(law)
        return narrowest(lambda bits: self._enclosed(law, thresholds, bits), self.precisions(law))

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Enclose delta with so many bits."""
        return self._enclosed(law, self._thresholds(law), bits)

    def _thresholds(self, law: NoiseLaw) -> Threshold | None:
        require_unbounded(law, "integer")
        return integer_threshold(law.order, law.scale, self.sensitivity, self.epsilon)

    def _enclosed(self, law: NoiseLaw, thresholds: Threshold | None, bits: int) -> Enclosure:
        p, b, D = law.order, law.scale, self.sensitivity
        if thresholds is None:
            return Enclosure(lower=0.0, upper=0.0, precision=EXACT)
        if self.notion == "probabilistic" and thresholds[0] <= 0 and D > 1:
            return _worst_shift(p, b, D, self.epsilon, bits)
        return _enclosed_delta(self.notion, p, b, D, self.epsilon, thresholds, bits)


def delta_at_integer_threshold(notion: str, p: float, b: float, D: int, epsilon: float, k: int) -> arb:
    """Enclose the delta of the shift D if its losses above epsilon are those from k on."""
    if notion == "approximate":
        return tail(p, b, k) - arb(epsilon).exp() * tail(p, b, k + D)
    return tail(p, b, k) + tail(p, b, k + D)


def least_threshold(D: int) -> int:
    """Return the least integer above -D/2, where the loss of the shift D becomes positive."""
    return -((D - 1) // 2)


def integer_threshold(p: float, b: float, D: int, epsilon: float) -> Threshold | None:
    """Return (low, high) with low <= k* <= high, unequal only at a tie; None if no loss is above epsilon.

    Where k* is not below the integer at which P(K >= k) is about e^-1000, that one is `low` and `high` is None: close
    to order 1, k* can have more digits than fit in memory. Where nothing is decided there, at orders beyond all balls,
    `low` is the least integer with a positive loss.
    """
    if p == 1.0 and not _exceeds(p, b, D, epsilon, 0):
        return None
    far = 2 + math.ceil(b * _FAR ** (1.0 / p))
    reached = _exceeds(p, b, D, epsilon, far - 1)
    if reached is not True:
        # Undecided where powers are beyond all balls: the losses above epsilon are among the positive ones.
        return (least_threshold(D) if reached is None else far), None
    low = least_threshold(D) - 1
    # The losses of k <= -D/2 are not positive, so low always fails; walk from a float's guess.
    high, step = max(_threshold_guess(p, b, D, epsilon), low + 1), 1
    while not _exceeds(p, b, D, epsilon, high):
        low, high, step = high, high + step, 2 * step
    step = 1
    while high - step > low and _exceeds(p, b, D, epsilon, high - step):
        high, step = high - step, 2 * step
    low = max(low, high - step)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _exceeds(p, b, D, epsilon, middle) else (middle, high)
    # A tie cannot be told from a loss above epsilon; below it lie only losses that are certainly not.
    first = high
    while 2 * (first - 1) > -D and _exceeds(p, b, D, epsilon, first - 1) is None:
        first -= 1
    return first, high


def _exceeds(p: float, b: float, D: int, epsilon: float, k: int) -> bool | None:
    """Return whether L(k) > epsilon b^p; None if no precision decides."""
    for bits in _TIE_PRECISIONS:
        spend(POWERS, bits)
        with BALLS, working_precision(bits):
            loss = arb(abs(k + D)) ** arb(p) - (arb(abs(k)) ** arb(p) if k else arb(0))
            level = arb(epsilon) * arb(b) ** arb(p)
            if loss > level:
                return True
            if loss <= level:
                return False
    return None


def _threshold_guess(p: float, b: float, D: int, epsilon: float) -> int:
    """Return about k*, by bisection in floats of log L(k) = log(epsilon b^p) over k = u - D/2 > 0."""
    if p == 1.0:
        return math.ceil((epsilon * b - D) / 2.0)
    spend(_GUESS)
    level = math.log(epsilon) + p * math.log(b)

    def log_loss(u: float) -> float:
        # (u + D/2)^p - |u - D/2|^p, with its two parts' ratio kept away from cancellation.
        gap = min(2.0 * u, float(D)) / max(abs(u - D / 2.0), 1e-300)
        return p * math.log(u + D / 2.0) + math.log(-math.expm1(-p * math.log1p(gap)))

    low, high = 0.25, 1.0
    while log_loss(high) <= level and high < 1e300:
        low, high = high, 2.0 * high
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (middle, high) if log_loss(middle) <= level else (low, middle)
    return math.ceil(high - D / 2.0) if D < 1 << 50 else math.ceil(high) - D // 2


def _enclosed_delta(
    notion: str, p: float, b: float, D: int, epsilon: float, thresholds: Threshold, bits: int
) -> Enclosure:
    """Return the enclosure of delta for a threshold that is one of two."""
    low, high = thresholds
    with BALLS, working_precision(bits):
        if high is None:
            # Either delta is at most the mass of both tails.
            return Enclosure(lower=0.0, upper=min(upper_float(2 * tail(p, b, low)), 1.0), precision=bits)
        values = [enclosed(delta_at_integer_threshold(notion, p, b, D, epsilon, k)) for k in {low, high}]
    lower, upper = max(min(v.lower for v in values), 0.0), min(max(v.upper for v in values), 1.0)
    return Enclosure(lower=lower, upper=upper, precision=bits)


def _worst_shift(p: float, b: float, D: int, epsilon: float, bits: int) -> Enclosure:
    """Enclose the greatest pDP delta over the shifts 1..D, by branch and bound over blocks of shifts."""

    def at(d: int) -> tuple[Threshold | None, Enclosure]:
        thresholds = integer_threshold(p, b, d, epsilon)
        if thresholds is None:
            return None, Enclosure(lower=0.0, upper=0.0, precision=EXACT)
        return thresholds, _enclosed_delta("probabilistic", p, b, d, epsilon, thresholds, bits)

    def block_bound(thresholds: Threshold, first: int) -> float:
        with BALLS, working_precision(bits):
            return upper_float(tail(p, b, thresholds[0]) + tail(p, b, thresholds[0] + first))

    thresholds, best = at(D)
    done, lower = best.upper, best.lower
    # Blocks of shifts (first, last) that are still open, with the bound from their last shift's threshold.
    blocks = [] if thresholds is None or D == 1 else [(-block_bound(thresholds, 1), 1, D, thresholds)]
    for _ in range(_MOST_SPLITS):
        if not blocks or -blocks[0][0] <= max(done, lower):
            break
        _, first, last, last_thresholds = heapq.heappop(blocks)
        middle = (first + last) // 2
        middle_thresholds, value = at(middle)
        lower, done = max(lower, value.lower), max(done, value.upper)
        if middle_thresholds is not None and middle > first:
            heapq.heappush(blocks, (-block_bound(middle_thresholds, first), first, middle, middle_thresholds))
        if middle + 1 < last:
            heapq.heappush(blocks, (-block_bound(last_thresholds, middle + 1), middle + 1, last, last_thresholds))
    upper = max(done, -blocks[0][0]) if blocks else done
    return Enclosure(lower=min(lower, 1.0), upper=min(upper, 1.0), precision=bits)
