"""The direction-free delta: only the l_p norm of the whole move is known, not how it is spread.

=====  ================================================================
r      dimension, how many coordinates the query has
t      Delta_p / b, the l_p norm of the move in units of the scale
G      sum of |x_k|^p over the r standard noises, a Gamma(r/p, 1) variable
g      root of (g^(1/p) + t)^p - g = epsilon
Q      regularised upper incomplete gamma function
=====  ================================================================

Claim: independent noise of order p > 1 is (epsilon, Q(r/p, g))-pDP, hence aDP, for every move of l_p norm at most
Delta_p. Proof: by Minkowski ||x + d||_p <= ||x||_p + t, so the loss ||x + d||_p^p - ||x||_p^p is at most
(G^(1/p) + t)^p - G. Its negative is at most G - (G^(1/p) - t)_+^p, which is no more, by convexity. That bound rises
with G, so it exceeds epsilon only where G > g.

The bound is loose: it pays for the worst direction at every noise vector at once. At t^p >= epsilon it is 1.

References
----------
Liu, arXiv 1602.06028 v5, Cor. GGMpDP, is the bound with known per-coordinate sensitivities; this one needs none.
"""

from __future__ import annotations

import math

import numpy as np
from flint import arb, ctx

from ggdp import _validate
from ggdp.distributions.enclosures import BALLS, working_precision
from ggdp.errors import ArgumentError
from ggdp.loss.crossing import at_least, at_most, crossings, loss_estimate
from ggdp.loss.enclosed import Enclosed, enclosed

__all__ = ["delta_of_radial"]

PRECISION = 256
MAXIMUM_PRECISION = 4096


def delta_of_radial(*, order: float, scale: float, sensitivity: float, dimension: int, epsilon: float) -> Enclosed:
    """Enclose the direction-free delta of noise of this order and scale.

    Parameters
    ----------
    order, scale : float
        Order (above 1) and scale of the noise.
    sensitivity : float
        The l_p norm of the move, p being the order.
    dimension : int
        How many coordinates the query has.
    epsilon : float
        The epsilon of the guarantee.

    Notes
    -----
    Rounding: `upper` is never below the bound of the Claim above, which is itself an upper bound of the true delta.
    The root is replaced by floats on either side of it, and the side is decided in balls.

    Examples
    --------
    >>> delta = delta_of_radial(order=2, scale=5.0, sensitivity=1.0, dimension=2, epsilon=1.0)
    >>> round(delta.upper, 12), round(delta.lower, 12)  # Q(1, 5.76) = exp(-5.76)
    (0.003151111598, 0.003151111598)
    """
    if _validate.order(order=order) == 1.0:
        raise ArgumentError("order", order, "must be above 1 here; at order 1 an l_1 norm gives pure DP")
    for given in ({"scale": scale}, {"sensitivity": sensitivity}, {"epsilon": epsilon}):
        _validate.positive(**given)
    _validate.integer(dimension=dimension, at_least=1)
    bits = PRECISION
    while True:
        with BALLS, working_precision(bits):
            result = _delta(order, scale, sensitivity, dimension, epsilon)
        # The gamma function, not the root, may need more bits: then the ball says nothing yet.
        if (math.isfinite(result.upper) and result.upper <= 1.0) or bits >= MAXIMUM_PRECISION:
            return result
        bits *= 2


def _delta(order: float, scale: float, sensitivity: float, dimension: int, epsilon: float) -> Enclosed:
    p, eps, t = arb(order), arb(epsilon), arb(sensitivity) / arb(scale)
    if not t**p < eps:
        return Enclosed(lower=0.0, upper=1.0, precision=ctx.prec)
    guess = _radius_estimate(order, sensitivity / scale, epsilon)
    low, high = max(at_most(p, t, eps, guess), 0.0), at_least(p, t, eps, guess)
    upper = (arb(low) ** p).gamma_upper(dimension / p, regularized=1)
    lower = (arb(high) ** p).gamma_upper(dimension / p, regularized=1) if math.isfinite(high) else arb(0)
    return Enclosed(lower=max(enclosed(lower).lower, 0.0), upper=min(enclosed(upper).upper, 1.0), precision=ctx.prec)


def _radius_estimate(order: float, t: float, epsilon: float) -> float:
    """Solve (u + t)^p - u^p = epsilon for u >= 0 in floats."""
    largest = 1.0
    while loss_estimate(order, np.array([largest]), t)[0] < epsilon and largest < 1e100:
        largest *= 8.0
    return max(float(crossings(order, t, np.array([epsilon]), largest=largest)[0]), 0.0)
