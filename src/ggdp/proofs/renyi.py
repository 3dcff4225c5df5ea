"""The Renyi divergence of generalized Gaussian noise and the same noise shifted in one coordinate.

=======  ===============================================================================================
alpha    order of the divergence, above 1
d        D / b, the shift in units of the scale; on the integers D is a whole number
h(x)     (alpha - 1) |x + d|^p - alpha |x|^p, with x in units of the scale
M        mean of e^((alpha - 1) L) over the noise, with its loss L(x) = |x + d|^p - |x|^p
         reals: Integral e^h / (2 Gamma(1 + 1/p)); integers: sum of e^(h(k/b)) over k, divided by Z
D_alpha  log(M) / (alpha - 1)
x*       where h is largest: d / ((alpha / (alpha - 1))^(1/(p-1)) - 1), and 0 at p = 1
=======  ===============================================================================================

It is finite for every alpha and every order p >= 1, and grows like alpha^(p-1). Closed forms: p = 1 on both supports,
p = 2 on the reals (alpha d^2). Otherwise M is enclosed by verified quadrature, or on the integers by sums over blocks
(`ggdp.proofs.tilted_sums`).

Claim (one peak). h rises up to x* and falls after it. For x < -d and for -d < x < 0 its slope is positive; for x > 0 it
has the sign of (alpha - 1) (1 + d/x)^(p-1) - alpha, which falls with x. So a sum of e^h over a grid of step g differs
from the integral divided by g by at most the largest term, e^(h(x*)).

Claim (right tail). Where (alpha - 1) (1 + d/x)^(p-2) < alpha, which then holds for all larger x too (and for all x > 0
if p <= 2), h is concave: beyond such a T with h'(T) < 0 the integral is at most e^(h(T)) / -h'(T), and the sum over
integers from k on at most e^(h(k)) / (1 - e^(h(k+1) - h(k))). Claim (left tail). For y >= 0, h(-d - y) <= -y^p, so what
is left of -d - Y is at most the tail of the weights e^(-y^p).

References
----------
Mironov, "Renyi Differential Privacy", CSF 2017, Definition 3, Table II (Laplace and Gaussian noise); Canonne, Kamath
and Steinke, NeurIPS 2020, Proposition 5 (discrete Gaussian).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from flint import acb, arb, ctx

from ggdp import _validate
from ggdp._balls import BALLS, hull, power, working_precision
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import require_unbounded
from ggdp.proofs.enclosures import Enclosure, enclosed
from ggdp.proofs.integer_sums import normaliser, tail_sum
from ggdp.proofs.tilted_sums import BeyondPrecisionError, height, tilted_integral, tilted_sum

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.proofs.noise_law import NoiseLaw

PRECISIONS = (96, 160, 256, 448)
RELATIVE_WIDTH = 1e-9
# Terms and integrals are followed until they are this many bits below the largest.
SPARE_BITS = 24
# A tail that is not reached by so many strides, each half as long again as the last, lies beyond the working precision.
MOST_STRIDES = 200
MOST_UNCERTAINTY = 1e-6


def renyi_of_shift(law: NoiseLaw, *, sensitivity: float, alpha: float) -> Enclosure:
    """Enclose the Renyi divergence of order alpha when one coordinate moves.

    Parameters
    ----------
    law : NoiseLaw
        Law of the noise, unbounded.
    sensitivity : float
        How far the coordinate moves; a whole number on the integers.
    alpha : float
        Order of the divergence, above 1.

    Notes
    -----
    Rounding: outwards. It is good to 9 digits. Where numbers are too large for 448 bits, `upper` is infinite.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> law = NoiseLaw(order=2, scale=2**0.5)
    >>> found = renyi_of_shift(law, sensitivity=1, alpha=3)  # alpha D^2 / (2 sigma^2)
    >>> round(found.lower, 12), round(found.upper, 12)
    (1.5, 1.5)
    """
    require_unbounded(law)
    p, b, D = law.order, law.scale, _validate.positive(sensitivity=sensitivity)
    if _validate.finite(alpha=alpha) <= 1.0:
        raise ArgumentError("alpha", alpha, "must be above 1")
    if law.support == "integer" and not D.is_integer():
        raise ArgumentError("sensitivity", sensitivity, "on the integers it must be a whole number")
    moment = _real_moment if law.support == "real" else _integer_moment

    def value() -> arb:
        a, d = arb(alpha), arb(D) / arb(b)
        if p == 2.0 and law.support == "real":
            return a * d**2
        return moment(p, b, D, a).log() / (a - 1)

    found = Enclosure(lower=0.0, upper=math.inf, precision=PRECISIONS[-1])
    for bits in PRECISIONS:
        try:
            with BALLS, working_precision(bits):
                found = enclosed(value())
        except BeyondPrecisionError:
            continue
        if math.isfinite(found.upper) and found.upper - found.lower <= RELATIVE_WIDTH * found.upper:
            break
    return Enclosure(lower=max(found.lower, 0.0), upper=found.upper, precision=found.precision)


def renyi_of_pure(pure: float, alpha: float) -> Enclosure:
    """Enclose the largest Renyi divergence of order alpha of a mechanism with this pure loss: randomised response's."""
    with BALLS, working_precision(PRECISIONS[1]):
        e, a = arb(pure), arb(alpha)
        return enclosed((((a * e).exp() + ((1 - a) * e).exp()) / (1 + e.exp())).log() / (a - 1))


def _peak(p: float, d: arb, a: arb) -> arb:
    """Enclose x*."""
    if p == 1.0:
        return arb(0)
    return d / (((a / (a - 1)).log() / (arb(p) - 1)).expm1())


def _falls(p: arb, d: arb, a: arb, x: arb) -> bool:
    """Return whether h is certainly concave and falling from x > 0 on."""
    concave = p <= 2 or (a - 1) * (1 + d / x) ** (p - 2) < a
    return bool(concave and (a - 1) * (1 + d / x) ** (p - 1) < a)


def _right_end(p: float, d: arb, a: arb, depth: float) -> float:
    """Return a float T beyond which h falls, is concave, and is `depth` below its largest value."""
    peak = _peak(p, d, a)
    top = height(arb(p), d, a, peak)
    start = max(float(peak), 0.0)
    width = 1e-6 * (1.0 + start)
    for _ in range(MOST_STRIDES):
        T = arb(start + width)
        if _falls(arb(p), d, a, T) and height(arb(p), d, a, T) < top - depth:
            return start + width
        width *= 1.5
    raise BeyondPrecisionError


def _left_end(p: float, d: arb, a: arb, depth: float) -> float:
    """Return a float at which h is `depth` below its largest value, before its peak; 0 if there is none above 0."""
    peak = _peak(p, d, a)
    top = height(arb(p), d, a, peak)
    start = float(peak)
    width = 1e-6 * (1.0 + start)
    while start - width > 0.0:
        if height(arb(p), d, a, arb(start - width)) < top - depth:
            return start - width
        width *= 1.5
    return 0.0


def _real_moment(p: float, b: float, D: float, a: arb) -> arb:
    d = arb(D) / arb(b)
    if p == 1.0:
        return (a * ((a - 1) * d).exp() + (a - 1) * (-a * d).exp()) / (2 * a - 1)
    return _integral(p, d, a) / (2 * (1 + 1 / arb(p)).gamma())


def _integral(p: float, d: arb, a: arb) -> arb:
    """Enclose the integral of e^h, with the largest value of h taken out while it is computed."""
    q = arb(p)
    depth = (ctx.prec + SPARE_BITS) * math.log(2.0)
    peak = _peak(p, d, a)
    highest = height(q, d, a, peak)
    top = highest.mid()
    if not highest.rad() < 1 + abs(top) * MOST_UNCERTAINTY:
        raise BeyondPrecisionError
    start, T, Y = _left_end(p, d, a, depth), _right_end(p, d, a, depth), 1.1 * depth ** (1.0 / p)
    if start > 0.0:
        # All before it is lower: h rises up to its peak.
        before = (start + d + Y) * (height(q, d, a, arb(start)) - top).exp()
        total = hull(arb(0), before.upper())
    else:
        total = _over(_tilted(q, d, a, top, "left"), arb(0), arb(Y)) + _over(_tilted(q, d, a, top, "middle"), arb(0), d)
    if start > 0.0:
        total += tilted_integral(p, d, a, start, T, float(top)) * (-top).exp()
    else:
        right, split = _tilted(q, d, a, top, "right"), peak.mid() if start < peak and peak < T else arb(T)
        total += _over(right, arb(start), split) + _over(right, split, arb(T))
    slope = q * ((a - 1) * power(arb(T) + d, q - 1) - a * power(arb(T), q - 1))
    beyond = (height(q, d, a, arb(T)) - top).exp() / -slope
    beyond += (-top).exp() * (arb(Y) ** q).gamma_upper(1 / q) / q
    return (total + hull(arb(0), beyond.upper())) * top.exp()


def _tilted(p: arb, d: arb, a: arb, top: arb, where: str) -> Callable[[acb, bool], acb]:
    """Return e^(h - top) for the integrator: at x > 0, at -x between -d and 0, or at -d - x, where h is analytic."""
    shift = acb(d)

    def raised(x: acb, analytic: bool) -> acb:
        # On the real line, where 0 may lie in the ball, the power is enclosed by its monotony.
        return x.pow(acb(p), analytic) if analytic or x.imag != 0 else acb(power(x.real, p))

    def value(x: acb, analytic: bool) -> acb:
        if where == "middle":
            return ((a - 1) * raised(shift - x, analytic) - a * raised(x, analytic) - top).exp()
        own = raised(x, analytic)
        # Farther out than d, the powers are close and alpha may be large: their difference is computed as one.
        more = own * (p * (shift / x).log1p()).expm1() if abs(x) > d else raised(x + shift, analytic) - own
        return ((a - 1) * more - own - top if where == "right" else -a * more - own - top).exp()

    return value


def _over(f: Callable[[acb, bool], acb], low: arb, high: arb) -> arb:
    tolerance = arb(2) ** -ctx.prec
    found = acb.integral(f, acb(low), acb(high), rel_tol=tolerance, abs_tol=tolerance, eval_limit=200_000)
    return found.real


def _integer_moment(p: float, b: float, D: float, a: arb) -> arb:
    Z = normaliser(p, b)
    if p == 1.0:
        return _geometric_sum(b, int(D), a) / Z
    d = arb(D) / arb(b)
    depth = (ctx.prec + SPARE_BITS) * math.log(2.0)
    last = math.ceil(_right_end(p, d, a, depth) * b)
    q, unit = arb(p), arb(b)
    start = math.floor(_left_end(p, d, a, depth) * b)
    reach = math.ceil(1.1 * depth ** (1.0 / p) * b) + 1
    # What is left of -D - reach: the tail of the weights e^(-y^p).
    beyond = tail_sum(p, b, reach)
    first = -int(D) - reach
    if start > 0:
        # All before it is lower: h rises up to its peak.
        beyond += (start - first) * height(q, d, a, arb(start) / unit).exp()
        first = start
    top = float(height(q, d, a, _peak(p, d, a)).mid())
    total = tilted_sum(p, b, int(D), a, first + 1, last - 1, top)
    here, there = (height(q, d, a, arb(k) / unit) for k in (last, last + 1))
    beyond += here.exp() / -(there - here).expm1()
    return (total + hull(arb(0), beyond.upper())) / Z


def _geometric_sum(b: float, D: int, a: arb) -> arb:
    """Enclose the sum of e^h over the integers at p = 1: geometric series right of 0, left of -D, and between."""
    q = (-1 / arb(b)).exp()
    ends = (((a - 1) * D / arb(b)).exp() + (-a * D / arb(b)).exp()) / (1 - q)
    ratio = (-(2 * a - 1) / arb(b)).exp()
    return ends + ((a - 1) * D / arb(b)).exp() * ratio * (1 - ratio ** (D - 1)) / (1 - ratio)
