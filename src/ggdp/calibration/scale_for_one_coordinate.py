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
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ggdp._balls import BALLS, power, upper_float, working_precision
from ggdp._rounding import rounded_up
from ggdp.calibration.search import Proposal, log_excess, passing_end, raise_until_proved
from ggdp.errors import SearchError
from ggdp.proofs.bound import accurate
from ggdp.proofs.norms import ROUNDINGS, comparison
from ggdp.proofs.one_coordinate import (
    ShiftDelta,
    delta_at_integer_threshold,
    delta_at_threshold,
    least_threshold,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.proofs.noise_law import NoiseLaw
    from ggdp.proofs.norms import IntegerGaussianDelta
    from ggdp.proofs.one_coordinate import IntegerShiftDelta, LaplaceLoss


_PRECISION = 96
_TOLERANCE = 1e-14
# Above t = z^p = 1/16 the search goes by t, below it by z itself, whose powers would be lost in an underflow.
_TURN = 0.0625


def laplace_scale(sensitivity: float, epsilon: float) -> float:
    """Return the least float b with D <= b epsilon, exactly: the scale of pure DP at order 1.

    Epsilon is the float and the decimal that was typed for it, whichever is less, so that the loss of ten releases of
    0.1 is not above 1: as a float, 0.1 is above 1/10.

    Examples
    --------
    >>> laplace_scale(1.0, 0.1)
    10.0
    """
    least = min(Fraction(epsilon), Fraction(repr(float(epsilon))))
    return rounded_up(Fraction(sensitivity) / least, of="scale")


def least_for_laplace(bound: LaplaceLoss, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law of order 1 whose pure loss is at most the target."""
    return raise_until_proved(bound, law.with_scale(laplace_scale(bound.sensitivity, target)), target)


def least_for_shift(bound: ShiftDelta, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law found whose delta is at most the target."""
    return raise_until_proved(bound, law.with_scale(scale_for_shift(bound, law.order, target)), target)


def scale_for_shift(bound: ShiftDelta, order: float, delta: float) -> float:
    """Return the least scale found for a delta, to be proved by the bound.

    Examples
    --------
    >>> b = scale_for_shift(ShiftDelta(notion="approximate", sensitivity=1, epsilon=0.5), 1.5, 0.01)
    >>> print(f"{b:.11f}")
    3.20136815487
    """
    notion, sensitivity, epsilon = bound.notion, bound.sensitivity, bound.epsilon
    if order == 1.0:
        return _laplace(notion, sensitivity, epsilon, delta)
    with BALLS, working_precision(_PRECISION):
        p, eps = arb(order), arb(epsilon)

        def excess(x: float, *, powered: bool) -> float:
            """Return log(delta(z) / delta) at z = x^(1/p), or at z = x."""
            z = (arb(x) ** (1 / p)).mid() if powered else arb(x)
            # Near p = 1 the two terms of delta nearly cancel.
            value = accurate(partial(delta_at_threshold, notion, p, eps, z))
            return float((value / arb(delta)).log().mid())

        above = excess(_TURN, powered=True)
        if above > 0.0:
            # log delta is nearly linear in t = z^p, and Q(a, t) <= e^-t for a <= 1 gives a passing end.
            passing = -math.log(2.0 * delta if notion == "approximate" else delta) + 1e-9
            by_power = partial(excess, powered=True)
            t = passing_end(by_power, _TURN, passing, tolerance=_TOLERANCE, failing_excess=above)
            z = arb(t) ** (1 / p)
            gap = z * ((eps / arb(t)).log1p() / p).expm1()
        else:
            failing = -1.0
            while excess(failing, powered=False) <= 0.0:
                failing *= 2.0
            # W is at least epsilon^(1/p): a finer z than an ulp of that leaves W - z as it is.
            resolution = 1e-16 * epsilon ** (1.0 / order)
            passing = float((arb(_TURN) ** (1 / p)).mid())
            by_noise = partial(excess, powered=False)
            z = arb(passing_end(by_noise, failing, passing, tolerance=_TOLERANCE, resolution=resolution))
            gap = (power(abs(z), p) + eps) ** (1 / p) - z
        return upper_float(arb(sensitivity) / gap)


def _laplace(notion: str, sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the closed form at p = 1."""
    with BALLS, working_precision(_PRECISION):
        eps, slack = arb(epsilon), arb(delta)
        if notion == "approximate":
            return upper_float(arb(sensitivity) / (eps - 2 * (-slack).log1p()))
        if slack < (1 + (-eps).exp()) / 2:
            return laplace_scale(sensitivity, epsilon)
        z = (2 * (1 - slack) / -(-eps).expm1()).log()
        return upper_float(arb(sensitivity) / (eps - 2 * z))


_PRECISIONS = (96, 192, 384, 768, 1536, 3072)
# Enough for a breakpoint to the last digit where powers of k + D and k nearly cancel.
_BREAKPOINT_PRECISION = 320

# Breakpoints below the one found by bisection that are looked at too.
_WINDOW = 24
_DENSE = 10_000
_FARTHEST = 1 << 400
# A logarithm of a ratio that floats give surely enough; terms beyond e^-745 are 0 in floats.
_CLEAR = 1e-3
_DEPTH = 745.0
_MOST_TERMS = 20_000
_MOST_EPSILON = 700.0
# A difference of tails that is a smaller share of the first has lost its digits.
_LEAST_SHARE = 1e-9


def least_for_integer_shift(bound: IntegerShiftDelta, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law found on the integers whose delta is at most the target.

    Notes
    -----
    Rounding: the scale must be used as it is. Delta is not monotone in it, so even a larger one may not be valid.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.one_coordinate import IntegerShiftDelta
    >>> bound = IntegerShiftDelta(notion="approximate", sensitivity=1, epsilon=1.0)
    >>> least_for_integer_shift(bound, NoiseLaw(order=3, scale=1, support="integer"), 0.05).law.scale
    2.5766333344...
    """
    p, D, eps = law.order, bound.sensitivity, bound.epsilon

    def excess(k: int, b: float) -> float:
        if bound.notion == "probabilistic" and target > 0.5:
            # A shift below D may be the worst, with a threshold of its own.
            return log_excess(bound, law, target)(b)
        return _excess(bound.notion, p, b, D, eps, k, target)

    def passes(k: int) -> bool:
        b = _breakpoint(p, D, eps, k)
        quick = _quick_excess(bound.notion, p, b, D, eps, k + 1, target)
        # Floats decide what is clear, and balls the rest.
        return quick <= 0.0 if abs(quick) > _CLEAR else excess(k + 1, b) <= 0.0

    k = _least_passing(passes, least_threshold(D))
    return raise_until_proved(bound, law.with_scale(_crossing(p, D, eps, k, excess)), target)


def _breakpoint(p: float, D: int, epsilon: float, k: int) -> float:
    """Return about the least float that is certainly not below b_k, for k > -D/2."""
    if p == 1.0:
        exact = Fraction(k + D - abs(k)) / Fraction(epsilon)
        nearest = float(exact)
        return nearest if Fraction(nearest) >= exact else math.nextafter(nearest, math.inf)
    with BALLS, working_precision(_BREAKPOINT_PRECISION):
        loss = arb(k + D) ** arb(p) - (arb(abs(k)) ** arb(p) if k else arb(0))
        return upper_float((loss / arb(epsilon)) ** (1 / arb(p)))


def _excess(notion: str, p: float, b: float, D: int, epsilon: float, k: int, delta: float) -> float:
    """Return log(delta_k(b) / delta) to a dozen digits."""
    if p == 1.0 and k > 0:
        # No noise has a loss above that of k = 0.
        return -math.inf
    for bits in _PRECISIONS:
        with BALLS, working_precision(bits):
            ratio = delta_at_integer_threshold(notion, p, b, D, epsilon, k) / arb(delta)
            # Narrow relative to itself, or so far below the goal that its digits do not matter.
            if ratio.rel_accuracy_bits() >= 50 or ratio < 1 / arb(1024):
                break
    return upper_float(ratio.log()) if ratio > 0 else -math.inf


def _quick_excess(notion: str, p: float, b: float, D: int, epsilon: float, k: int, delta: float) -> float:
    """Return log(delta_k(b) / delta) in floats; NaN where they do not give it to a thousandth."""
    reach = math.ceil(b * _DEPTH ** (1.0 / p)) + 1
    if reach > _MOST_TERMS or k + D > reach or (notion == "probabilistic" and delta > 0.5) or epsilon > _MOST_EPSILON:
        return math.nan
    tails = np.exp(-((np.arange(reach + 1) / b) ** p))[::-1].cumsum()[::-1]
    total = 2.0 * tails[0] - 1.0

    def tail(k: int) -> float:
        return float(tails[k] / total if k > 0 else 1.0 - tails[1 - k] / total)

    first, second = tail(k), tail(k + D)
    value = first - math.exp(epsilon) * second if notion == "approximate" else first + second
    return math.log(value / delta) if value > _LEAST_SHARE * first else math.nan


def _least_passing(passes: Callable[[int], bool], start: int) -> int:
    """Return the least k found that passes, from `start` on."""
    if passes(start):
        return start
    low, step = start, 1
    while not passes(low + step):
        low, step = low + step, 2 * step
        if step > _FARTHEST:
            raise SearchError(f"no breakpoint passes up to threshold {low}")
    high = low + step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    # Far out the breakpoints are dense, and delta at them is monotone.
    if high - start > _DENSE:
        return high
    k = high - 2
    while k >= max(start, high - _WINDOW):
        high = k if passes(k) else high
        k -= 1
    return high


def _crossing(p: float, D: int, epsilon: float, k: int, excess: Callable[[int, float], float]) -> float:
    """Return the passing end of the crossing of delta_k in the piece that ends at the passing breakpoint b_k."""
    end = _breakpoint(p, D, epsilon, k)
    at_end = excess(k, end)
    if at_end > 0.0:
        # Only the jump at the breakpoint itself passes.
        return end
    if k > least_threshold(D):
        failing = _breakpoint(p, D, epsilon, k - 1)
    else:
        failing = end / 2.0
        while excess(k, failing) <= 0.0:
            failing /= 2.0
    at_failing = excess(k, failing)
    if not (failing < end and at_failing > 0.0):
        return end
    ends = {"failing_excess": at_failing, "passing_excess": at_end}
    return passing_end(partial(excess, k), failing, end, tolerance=_TOLERANCE, **ends)


def least_for_integer_gaussian(bound: IntegerGaussianDelta, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law found that keeps a target by comparison with continuous Gaussian noise.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.norms import IntegerGaussianDelta
    >>> bound = IntegerGaussianDelta(sensitivity=1024.0, dimension=1000, epsilon=1.0)
    >>> found = least_for_integer_gaussian(bound, NoiseLaw(order=2, scale=1, support="integer"), 1e-6)
    >>> print(f"{found.law.scale / 1024 / 2**0.5:.4f}")
    4.2247
    """
    least = math.inf
    for s in ROUNDINGS:
        with BALLS, working_precision(_PRECISION):
            factor, loss = (upper_float(part) for part in comparison(s, bound.sensitivity, bound.dimension))
        left = bound.epsilon - loss * (1.0 + 1e-12)
        if left > 0.0 and target / factor > 0.0:
            continuous = ShiftDelta(notion="approximate", sensitivity=bound.sensitivity, epsilon=left)
            b = scale_for_shift(continuous, 2.0, target / factor)
            least = min(least, math.hypot(b, math.sqrt(2.0) * s))
    if math.isinf(least):
        raise SearchError(
            f"no scale of discrete Gaussian noise is known for epsilon = {bound.epsilon!r} in {bound.dimension:,} "
            "coordinates; use a larger epsilon"
        )
    return raise_until_proved(bound, law.with_scale(least), target)
