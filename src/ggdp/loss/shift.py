"""The delta of generalized Gaussian noise when one coordinate moves, on the reals.

Noise of order p and scale b is added to a number that moves by at most D. In units of b, with d = D/b and the standard
law's survival function S, the loss at noise x is |x + d|^p - |x|^p, which rises with x and passes epsilon at z:

=======  ======================================================
z        root of (z + d)^p - |z|^p = epsilon, above -d/2
W        z + d = (|z|^p + epsilon)^(1/p)
aDP      delta = S(z) - e^epsilon S(W)
pDP      delta = S(z) + S(W)
=======  ======================================================

Claim: |shift| = D is the worst shift. With W' = dW/dz = sgn(z) (|z|/W)^(p-1), which is below 1 in size, dz/dd is
-1/(1 - W'), and so d(delta)/dd is f(z) > 0 for aDP and f(z) (1 + e^-epsilon W') / (1 - W') > 0 for pDP.

References
----------
Liu, arXiv 1602.06028 v5, Cor. disjoint (the bound this replaces); Balle and Wang, "Improving the Gaussian Mechanism
for Differential Privacy", ICML 2018, Theorem 8 (p = 2, aDP).
"""

from __future__ import annotations

import math
from fractions import Fraction

from flint import arb, ctx

from ggdp import _validate
from ggdp.distributions.enclosures import BALLS, hull, power, survival, working_precision
from ggdp.loss.enclosed import EXACT, FIRST_PRECISION, Enclosed, sharpened

__all__ = ["delta_at_threshold", "delta_of_shift", "upper_threshold"]

# Beyond it S is below e^-5000, less than the least positive float.
_FAR = 5000.0
_LEAST_FLOAT = 5e-324


def upper_threshold(p: arb, epsilon: arb, z: arb) -> arb:
    """Enclose W = (|z|^p + epsilon)^(1/p)."""
    return (power(abs(z), p) + epsilon) ** (1 / p)


def delta_at_threshold(notion: str, p: arb, epsilon: arb, z: arb) -> arb:
    """Enclose the delta of the shift whose loss passes epsilon at z."""
    W = upper_threshold(p, epsilon, z)
    if notion == "approximate":
        return survival(p, z) - epsilon.exp() * survival(p, W)
    return survival(p, z) + survival(p, W)


def delta_of_shift(*, notion: str, order: float, scale: float, sensitivity: float, epsilon: float) -> Enclosed:
    """Enclose the least delta for which noise of this order and scale keeps (epsilon, delta).

    Parameters
    ----------
    notion : {"approximate", "probabilistic"}
        Which delta.
    order, scale : float
        Order (at least 1) and scale of the noise.
    sensitivity : float
        How far the one coordinate can move.
    epsilon : float
        The epsilon of the guarantee.

    Notes
    -----
    Rounding: `upper` is never below the exact delta. The root z is enclosed by a sign change that is checked in ball
    arithmetic, so nothing depends on how it was found.

    Examples
    --------
    >>> delta = delta_of_shift(notion="approximate", order=1, scale=1, sensitivity=1, epsilon=1)
    >>> delta.upper  # pure Laplace
    0.0
    """
    _validate.choice(among=("approximate", "probabilistic"), notion=notion)
    _validate.order(order=order)
    for given in ({"scale": scale}, {"sensitivity": sensitivity}, {"epsilon": epsilon}):
        _validate.positive(**given)
    if order == 1.0:
        # The loss is at most D/b, exactly: a comparison of rationals decides.
        if Fraction(sensitivity) <= Fraction(epsilon) * Fraction(scale):
            return Enclosed(lower=0.0, upper=0.0, precision=EXACT)
        return sharpened(lambda: _laplace(notion, arb(sensitivity) / arb(scale), arb(epsilon)))
    with BALLS, working_precision(FIRST_PRECISION):
        far = arb(_FAR) ** (1 / arb(order))
        if _loss(arb(order), far, arb(sensitivity) / arb(scale)) < arb(epsilon):
            return Enclosed(lower=0.0, upper=_LEAST_FLOAT, precision=FIRST_PRECISION)

    def value() -> arb:
        p, eps = arb(order), arb(epsilon)
        return delta_at_threshold(notion, p, eps, _threshold(p, eps, arb(sensitivity) / arb(scale)))

    return sharpened(value)


def _laplace(notion: str, d: arb, epsilon: arb) -> arb:
    """Enclose delta at p = 1 for d > epsilon, where z = (epsilon - d)/2 is below 0."""
    if notion == "approximate":
        return -((epsilon - d) / 2).expm1()
    return 1 - ((epsilon - d) / 2).exp() / 2 + (-(epsilon + d) / 2).exp() / 2


def _loss(p: arb, z: arb, d: arb) -> arb:
    """Enclose (z + d)^p - |z|^p for z >= -d/2."""
    return power(z + d, p) - power(abs(z), p)


def _threshold(p: arb, epsilon: arb, d: arb) -> arb:
    """Enclose z, the root of (z + d)^p - |z|^p = epsilon, for p > 1.

    Newton's method on the logarithms in u = z + d/2: the loss is odd and increasing in u, with slope 1 near 0 and p - 1
    far out, so that started from the right asymptote it comes from one side. The result is then checked.
    """
    linear = epsilon / (2 * p * (d / 2) ** (p - 1))
    tail = ((epsilon / (p * d)).log() / (p - 1)).exp()
    u = (min if p >= 2 else max)(linear.mid(), tail.mid())
    for _ in range(200):
        loss = _loss(p, u - d / 2, d)
        slope = p * u * ((u + d / 2) ** (p - 1) - (u - d / 2).sgn() * power(abs(u - d / 2), p - 1)) / loss
        step = ((epsilon / loss).log() / slope).mid()
        if not step.is_finite():
            break
        u = (u * max(min(step, arb(50)), arb(-50)).exp()).mid()
        if abs(step) < arb(2) ** (-ctx.prec // 2):
            break
    margin = arb(2) ** (12 - ctx.prec)
    while margin < 1:
        low, high = u * (1 - margin) - d / 2, u * (1 + margin) - d / 2
        if _loss(p, low, d) <= epsilon <= _loss(p, high, d):
            return hull(low, high)
        margin *= 1024
    return arb(math.nan)
