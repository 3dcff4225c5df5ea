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

Claim (pDP). The losses above epsilon in size are those of k >= k* and, by symmetry, of k <= -(k* + D). If k* >= 1, the
shift D is the worst. For then D^p = L(0) <= e. Let d < D, with threshold k_d. At k < 0 the loss of d is below
max(d, |k|)^p - |k|^p <= e, and at k >= 0 it is at most the loss of D; so k_d >= k* >= 1. Its x = k_d + d has
x^p > e >= D^p, so x > D and (x - D)^p <= (x - d)^p: the loss of D at x - D is above e too, and k* + D <= k_d + d. If
k* <= 0, delta is above 1/2 and a branch and bound over the shifts follows: k_d does not rise with d, since k_d + d > 0,
so that on the shifts d1..d2 delta is at most T(k_d2) + T(k_d2 + d1).

References
----------
Liu, arXiv 1602.06028 v5, Def. pDP and aDP; Balle and Wang, ICML 2018, Theorem 5 (delta by its privacy-loss tails).
"""

from __future__ import annotations

import heapq
import math
from typing import TypeAlias

from flint import arb

from ggdp import _validate
from ggdp.distributions.enclosures import BALLS, upper_float, working_precision
from ggdp.distributions.integer_sums import tail
from ggdp.loss.enclosed import EXACT, Enclosed, enclosed

__all__ = ["delta_at_integer_threshold", "delta_of_integer_shift", "integer_threshold", "least_threshold"]

Threshold: TypeAlias = tuple[int, int | None]
NOTIONS = ("approximate", "probabilistic")
# Two sides that agree to so many bits are taken for a tie, which both answers must then survive.
_TIE_PRECISION = 1024
_MOST_SHIFTS = 400
_FIRST_PRECISION = 96
_FAR = 1000.0
_TINY = 1e-290


def delta_of_integer_shift(*, notion: str, order: float, scale: float, sensitivity: int, epsilon: float) -> Enclosed:
    """Enclose the least delta for which integer noise of this order and scale keeps (epsilon, delta).

    Parameters
    ----------
    notion : {"approximate", "probabilistic"}
        Which delta.
    order, scale : float
        Order (at least 1) and scale of the noise.
    sensitivity : int
        How far the one coordinate can move.
    epsilon : float
        The epsilon of the guarantee.

    Returns
    -------
    Enclosed
        The exact delta is between `lower` and `upper`.

    Notes
    -----
    Rounding: `upper` is never below the exact delta. The threshold k* is found by comparing balls; where even 1,024
    bits do not tell a loss from epsilon, the enclosure holds the deltas of both answers.

    Examples
    --------
    >>> delta = delta_of_integer_shift(notion="approximate", order=3, scale=2.57663333443, sensitivity=1, epsilon=1)
    >>> print(f"{delta.upper:.10f}")
    0.0500000000
    """
    notion = _validate.choice(among=NOTIONS, notion=notion)
    p, b = _validate.order(order=order), _validate.positive(scale=scale)
    D = _validate.integer(at_least=1, sensitivity=sensitivity)
    eps = _validate.positive(epsilon=epsilon)
    thresholds = integer_threshold(p, b, D, eps)
    if thresholds is None:
        return Enclosed(lower=0.0, upper=0.0, precision=EXACT)
    if notion == "probabilistic" and thresholds[0] <= 0 and D > 1:
        return _worst_shift(p, b, D, eps)
    return _enclosed_delta(notion, p, b, D, eps, thresholds)


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
    to order 1, k* can have more digits than a computer has memory.
    """
    if p == 1.0 and not _exceeds(p, b, D, epsilon, 0):
        return None
    far = 2 + math.ceil(b * _FAR ** (1.0 / p))
    if _exceeds(p, b, D, epsilon, far - 1) is False:
        return far, None
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
    """Tell whether L(k) > epsilon b^p; None, which is not True, if no precision tells."""
    bits = 128
    while bits <= _TIE_PRECISION:
        with BALLS, working_precision(bits):
            loss = arb(abs(k + D)) ** arb(p) - (arb(abs(k)) ** arb(p) if k else arb(0))
            level = arb(epsilon) * arb(b) ** arb(p)
            if loss > level:
                return True
            if loss <= level:
                return False
        bits *= 2
    return None


def _threshold_guess(p: float, b: float, D: int, epsilon: float) -> int:
    """Return about k*, by bisection in floats of log L(k) = log(epsilon b^p) over k = u - D/2 > 0."""
    if p == 1.0:
        return math.ceil((epsilon * b - D) / 2.0)
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


def _enclosed_delta(notion: str, p: float, b: float, D: int, epsilon: float, thresholds: Threshold) -> Enclosed:
    """Return the enclosure of delta for a threshold that is one of two, as sharp as floats can hold."""
    bits = _FIRST_PRECISION
    low, high = thresholds
    if high is None:
        with BALLS, working_precision(bits):
            # Either delta is at most the mass of both tails.
            return Enclosed(lower=0.0, upper=min(upper_float(2 * tail(p, b, low)), 1.0), precision=bits)
    while True:
        with BALLS, working_precision(bits):
            values = [enclosed(delta_at_integer_threshold(notion, p, b, D, epsilon, k)) for k in sorted({low, high})]
        # Close to the least floats there is no room for more digits.
        narrow = all(v.upper - v.lower <= 1e-13 * v.upper or v.upper < _TINY for v in values)
        if narrow or bits >= _TIE_PRECISION:
            lower, upper = min(v.lower for v in values), max(v.upper for v in values)
            return Enclosed(lower=max(lower, 0.0), upper=min(upper, 1.0), precision=bits)
        bits *= 2


def _worst_shift(p: float, b: float, D: int, epsilon: float) -> Enclosed:
    """Enclose the greatest pDP delta over the shifts 1..D, by branch and bound over blocks of shifts."""

    def at(d: int) -> tuple[Threshold | None, Enclosed]:
        thresholds = integer_threshold(p, b, d, epsilon)
        if thresholds is None:
            return None, Enclosed(lower=0.0, upper=0.0, precision=EXACT)
        return thresholds, _enclosed_delta("probabilistic", p, b, d, epsilon, thresholds)

    def block_bound(thresholds: Threshold, first: int) -> float:
        with BALLS, working_precision(128):
            return upper_float(tail(p, b, thresholds[0]) + tail(p, b, thresholds[0] + first))

    thresholds, best = at(D)
    done = best.upper
    # Blocks of shifts (first, last) that are still open, with the bound from their last shift's threshold.
    blocks = [] if thresholds is None or D == 1 else [(-block_bound(thresholds, 1), 1, D, thresholds)]
    lower = best.lower
    for _ in range(_MOST_SHIFTS):
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
    return Enclosed(lower=min(lower, 1.0), upper=min(upper, 1.0), precision=best.precision)
