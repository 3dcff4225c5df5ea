"""The least scale for one moving coordinate, for pure, probabilistic and approximate DP.

On the reals there is one unknown z, the noise (in units of the scale) at which the loss passes epsilon: with
W = (|z|^p + epsilon)^(1/p) it is b = D / (W - z). Delta falls strictly as z rises, and b rises with z, so the least
scale is at the least z that passes. Discrete Gaussian noise on a vector of known l_2 norm is compared with that case.

On the integers:

=======  ============================================================================
L(k)     |k + D|^p - |k|^p, the loss at noise k times b^p
b_k      (L(k) / epsilon)^(1/p), the breakpoint above which noise k is no loss above epsilon
piece k  the scales from b_(k-1) up to, and without, b_k: the threshold of the loss is k
delta_k  the delta whose threshold is k, a smooth function of b
=======  ============================================================================

Delta is not monotone in b on the integers: for aDP breakpoints are its local minima while b is small, and for pDP it
jumps down at each and may rise between. So the search is for the least k whose breakpoint passes (doubling steps, a
bisection, then a look at the breakpoints just below, because the sequence is not always monotone either), and then for
the crossing inside the piece that ends there. That no smaller scale is valid is a result of this search, not of a
proof; that the scale itself is valid is proved by `ggdp.proofs.one_coordinate`.

References
----------
Liu, arXiv 1602.06028 v5, Cor. disjoint (the bound on the reals, which is not valid here).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
from flint import arb

from ggdp._balls import BALLS, power, upper_float, working_precision
from ggdp._rounding import rounded_up
from ggdp.calibration.search import log_excess, passing_end
from ggdp.errors import SearchError
from ggdp.proofs.bound import PRECISIONS, accurate
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.norms import ROUNDINGS, IntegerGaussianDelta, comparison
from ggdp.proofs.one_coordinate import (
    IntegerShiftDelta,
    ShiftDelta,
    delta_at_integer_threshold,
    delta_at_threshold,
    least_threshold,
)

_PRECISION = 96
_TOLERANCE = 1e-14
# Above t = z^p = 1/16 the search goes by t, below it by z itself, whose powers would be lost in an underflow.
_TURN = 0.0625


def laplace_scale(sensitivity: float, epsilon: float) -> float:
    """Return the least float b with D <= b epsilon, exactly: the scale of pure DP at order 1.

    Epsilon is the float and the decimal that was typed for it, whichever is less, so that the loss of ten releases of
    0.1 is not above 1: as a float, 0.1 is above 1/10.
    """
    least = min(Fraction(epsilon), Fraction(repr(float(epsilon))))
    return rounded_up(Fraction(sensitivity) / least, of="scale")


def scale_for_shift(bound: ShiftDelta, law: NoiseLaw, delta: float) -> float:
    """Return the least scale found whose delta is at most the given one."""
    notion, epsilon = bound.notion, bound.epsilon
    with BALLS, working_precision(_PRECISION):
        p, eps, slack = arb(law.order), arb(epsilon), arb(delta)

        def excess(z: arb) -> float:
            # Near p = 1 the two terms of delta nearly cancel.
            return float((accurate(partial(delta_at_threshold, notion, p, eps, z)) / slack).log().mid())

        def power_excess(t: float) -> float:
            return excess((arb(t) ** (1 / p)).mid())

        if law.order == 1.0:
            # A closed form.
            if notion == "probabilistic" and slack < (1 + (-eps).exp()) / 2:
                return laplace_scale(bound.sensitivity, epsilon)
            z = (-slack).log1p() if notion == "approximate" else (2 * (1 - slack) / -(-eps).expm1()).log()
            gap = eps - 2 * z
        elif (above := power_excess(_TURN)) > 0.0:
            # log delta is nearly linear in t = z^p, and Q(a, t) <= e^-t for a <= 1 gives a passing end.
            passing = -math.log(2.0 * delta if notion == "approximate" else delta) + 1e-9
            known = above, power_excess(passing)
            t = passing_end(power_excess, _TURN, passing, tolerance=_TOLERANCE, known=known)
            gap = arb(t) ** (1 / p) * ((eps / arb(t)).log1p() / p).expm1()
        else:
            failing, passing = -1.0, float((arb(_TURN) ** (1 / p)).mid())
            while excess(arb(failing)) <= 0.0:
                failing *= 2.0
            # W is at least epsilon^(1/p): a finer z than an ulp of that leaves W - z as it is.
            finest = 1e-16 * epsilon ** (1.0 / law.order)
            z = arb(passing_end(lambda x: excess(arb(x)), failing, passing, tolerance=_TOLERANCE, resolution=finest))
            gap = (power(abs(z), p) + eps) ** (1 / p) - z
        return upper_float(arb(bound.sensitivity) / gap)


def scale_for_integer_shift(bound: IntegerShiftDelta, law: NoiseLaw, target: float) -> float:
    """Return the least scale found on the integers whose delta is at most the target.

    Rounding: the scale must be used as it is. Delta is not monotone in it, so even a larger one may not be valid.
    """
    p, D, eps = law.order, bound.sensitivity, bound.epsilon

    def excess(k: int, b: float) -> float:
        """Return log(delta_k(b) / delta) to a dozen digits."""
        if bound.notion == "probabilistic" and target > 0.5:
            # A shift below D may be the worst, with a threshold of its own.
            return log_excess(bound, law, target)(b)
        if p == 1.0 and k > 0:
            # No noise has a loss above that of k = 0.
            return -math.inf
        for bits in PRECISIONS:
            with BALLS, working_precision(bits):
                ratio = delta_at_integer_threshold(bound.notion, p, b, D, eps, k) / arb(target)
                # Narrow relative to itself, or so far below the goal that its digits do not matter.
                if ratio.rel_accuracy_bits() >= 50 or ratio < 1 / arb(1024):
                    break
        return upper_float(ratio.log()) if ratio > 0 else -math.inf

    def passes(k: int) -> bool:
        b = _breakpoint(p, D, eps, k)
        quick = _quick_excess(bound.notion, p, b, D, eps, k + 1, target)
        # Floats decide what is clear, and balls the rest.
        return quick <= 0.0 if abs(quick) > 1e-3 else excess(k + 1, b) <= 0.0

    start = least_threshold(D)
    k = _least_passing(passes, start)
    # The piece that ends at the breakpoint of k.
    end = _breakpoint(p, D, eps, k)
    at_end = excess(k, end)
    if at_end > 0.0:
        # Only the jump at the breakpoint itself passes.
        return end
    if k > start:
        failing = _breakpoint(p, D, eps, k - 1)
    else:
        failing = end / 2.0
        while excess(k, failing) <= 0.0:
            failing /= 2.0
    at_failing = excess(k, failing)
    if not (failing < end and at_failing > 0.0):
        return end
    return passing_end(partial(excess, k), failing, end, tolerance=_TOLERANCE, known=(at_failing, at_end))


def _breakpoint(p: float, D: int, epsilon: float, k: int) -> float:
    """Return about the least float that is certainly not below b_k, for k > -D/2."""
    if p == 1.0:
        return rounded_up(Fraction(k + D - abs(k)) / Fraction(epsilon), of="scale")
    # Enough bits for the last digit where powers of k + D and k nearly cancel.
    with BALLS, working_precision(320):
        loss = arb(k + D) ** arb(p) - (arb(abs(k)) ** arb(p) if k else arb(0))
        return upper_float((loss / arb(epsilon)) ** (1 / arb(p)))


def _quick_excess(notion: str, p: float, b: float, D: int, epsilon: float, k: int, delta: float) -> float:
    """Return log(delta_k(b) / delta) in floats; NaN where they do not give it to a thousandth."""
    # Terms beyond e^-745 are 0 in floats.
    reach = math.ceil(b * 745.0 ** (1.0 / p)) + 1
    if reach > 20_000 or k + D > reach or (notion == "probabilistic" and delta > 0.5) or epsilon > 700.0:
        return math.nan
    tails = np.exp(-((np.arange(reach + 1) / b) ** p))[::-1].cumsum()[::-1]
    total = 2.0 * tails[0] - 1.0

    def tail(k: int) -> float:
        return float(tails[k] / total if k > 0 else 1.0 - tails[1 - k] / total)

    first, second = tail(k), tail(k + D)
    value = first - math.exp(epsilon) * second if notion == "approximate" else first + second
    # A difference of tails that is a smaller share of the first has lost its digits.
    return math.log(value / delta) if value > 1e-9 * first else math.nan


def _least_passing(passes: Callable[[int], bool], start: int) -> int:
    """Return the least k found that passes, from `start` on."""
    if passes(start):
        return start
    low, step = start, 1
    while not passes(low + step):
        low, step = low + step, 2 * step
        if step > 1 << 400:
            raise SearchError(f"no breakpoint passes up to threshold {low}")
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    # Far out the breakpoints are dense, and delta at them is monotone.
    if high - start > 10_000:
        return high
    k = high - 2
    while k >= max(start, high - 24):
        high = k if passes(k) else high
        k -= 1
    return high


def scale_for_integer_gaussian(bound: IntegerGaussianDelta, law: NoiseLaw, target: float) -> float:
    """Return the least scale found by comparison with continuous Gaussian noise."""
    least = math.inf
    for s in ROUNDINGS:
        with BALLS, working_precision(_PRECISION):
            factor, loss = (upper_float(part) for part in comparison(s, bound.sensitivity, bound.dimension))
        left = bound.epsilon - loss * (1.0 + 1e-12)
        if left > 0.0 and target / factor > 0.0:
            continuous = ShiftDelta(notion="approximate", sensitivity=bound.sensitivity, epsilon=left)
            b = scale_for_shift(continuous, law, target / factor)
            least = min(least, math.hypot(b, math.sqrt(2.0) * s))
    if math.isinf(least):
        raise SearchError(
            f"no scale of discrete Gaussian noise is known for epsilon = {bound.epsilon!r} in {bound.dimension:,} "
            "coordinates; use a larger epsilon"
        )
    return least
