"""Renyi and concentrated guarantees of noise, each between two proved floats.

========  ===============================================================================================
p, b, D   order and scale of the noise, and how far a coordinate moves: on the integers a whole number
alpha     order of the divergence, above 1
d         D / b, the shift in units of the scale; ||d||_2 of all coordinates at order 2
h(x)      (alpha - 1) |x + d|^p - alpha |x|^p, with x in units of the scale; x = k / b at the integer k
x*        where h is largest: d / ((alpha / (alpha - 1))^(1/(p-1)) - 1), and 0 at p = 1
M         mean of e^((alpha - 1) L) over the noise, with its loss L(x) = |x + d|^p - |x|^p
          reals: Integral e^h / (2 Gamma(1 + 1/p)); integers: sum of e^(h(k/b)) over k, divided by Z
D_alpha   log(M) / (alpha - 1), the largest over the moves that the sensitivity allows
rho       the largest of D_alpha / alpha over alpha > 1: the noise is rho-zCDP, and no less
========  ===============================================================================================

Several coordinates are independent, so divergences add up, and the far corner is the worst move: the Renyi divergence
is monotone in the trade-off function, as delta is. A norm alone is dominated by a move of one coordinate with the l_1
norm (`ggdp.proofs.worst_case`); at order 2 it is alpha ||d||_2^2.

D_alpha of one coordinate is finite for every alpha and every order p >= 1, and grows like alpha^(p-1). Closed forms:
p = 1 on both supports, p = 2 on the reals (alpha d^2). Otherwise M is enclosed by verified quadrature, or by Taylor
polynomials on blocks:

========  ===============================================================================================
u         distance of x from the last place before it where h is not analytic, 0 or -d: x = u on the right
          of 0, x = -u between -d and 0, x = -d - u on the left of -d
c, r      middle and half-width of a block of integers, in units of the scale; it has 2 L + 1 integers
R         the radius of a disc around c is R times r
========  ===============================================================================================

Claim (blocks). Let h be analytic on the disc, and let |h'| be at most s there. With the Taylor coefficients f_n of
e^(h(c + r t)) at t = 0, the sum of e^h over the block is the sum over n < N of f_n S_n, where S_n is the sum of
(j / L)^n over |j| <= L, up to (2 L + 1) m R^-N / (1 - 1/R) with m = e^(h(c) + R r s). Proof: on the disc h is at most
h(c) + R r s in its real part, so |f_n| <= m / R^n by Cauchy, and |j / L| <= 1. For the integral over the block the same
holds with S_n = r times the integral of t^n over [-1, 1], and 2 r for 2 L + 1.

Claim (powers). S_n is 0 for odd n, and for even n >= 2 it is
2 L / (n + 1) + 1 + 2 sum_{i=1..n/2} C(n, 2i-1) B_2i / (2i) L^(1-2i). Proof: Faulhaber's formula, over L^n.

Which blocks are chosen does not matter for the claims: a bad choice makes balls wider, never wrong.

Claim (one peak). h rises up to x* and falls after it. For x < -d and for -d < x < 0 its slope is positive; for x > 0 it
has the sign of (alpha - 1) (1 + d/x)^(p-1) - alpha, which falls with x. So a sum of e^h over a grid of step g differs
from the integral divided by g by at most the largest term, e^(h(x*)).

Claim (right tail). Where (alpha - 1) (1 + d/x)^(p-2) < alpha, which then holds for all larger x too (and for all x > 0
if p <= 2), h is concave: beyond such a T with h'(T) < 0 the integral is at most e^(h(T)) / -h'(T), and the sum over
integers from k on at most e^(h(k)) / (1 - e^(h(k+1) - h(k))). Claim (left tail). For y >= 0, h(-d - y) <= -y^p, so what
is left of -d - Y is at most the tail of the weights e^(-y^p).

Claim (order 2). rho = ||d||_2^2 = D_2^2 / (2 sigma^2), on the reals (Bun and Steinke, TCC 2016, Proposition 1.6) and
on the integers for all whole moves, since D_alpha <= alpha ||d||^2 with equality at whole alpha (Canonne, Kamath
and Steinke, NeurIPS 2020, Proposition 5; complete the square in the exponent).

Claim (orders from 1 to 2). D_alpha does not fall with alpha, so on [s, t] D_alpha / alpha <= D_t / s. For alpha >= A
and 1 < p < 2, (x + d)^p <= x^p + p d x^(p-1) + d^p, and by Young's inequality, for every 0 < theta < 1,

    D_alpha <= d^p + ((p - 1) / theta)^(p-1) d^p (alpha - 1)^(p-1) + log(E e^(theta |X|^p)) / (alpha - 1),

where E e^(theta |X|^p) is (1 - theta)^(-1/p) on the reals and a quotient of normalisers on the integers. Divided by
alpha, the first and last terms fall with alpha, and the middle one does from 1 / (2 - p) on. At p = 1 D_alpha is at
most the pure loss. Above order 2, D_alpha grows like alpha^(p-1), and no rho exists.

Rounding: lower ends down, upper ends up.

References
----------
Mironov, "Renyi Differential Privacy", CSF 2017, Definition 3, Table II (Laplace and Gaussian noise); Canonne, Kamath
and Steinke, NeurIPS 2020, Proposition 5 (discrete Gaussian).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from flint import acb, arb, ctx, fmpq

from ggdp import _validate
from ggdp._balls import BALLS, hull, lower_float, power, upper_float, working_precision
from ggdp.accounting.profile import Between, NoisyQuery, pure_between
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import Enclosure, enclosure_of, require_unbounded
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.tails import normaliser, tail_sum
from ggdp.proofs.worst_case import REACHED, Change

# R is 2^3: each further coefficient adds three bits.
_BITS_EACH = 3
_RATIO = 2**_BITS_EACH
# What a disc may reach of the distance to where h is not analytic.
_REACH = 0.7
# Blocks of fewer integers are summed term by term.
_LEAST_HALF = 16
# Terms and integrals are followed until they are this many bits below the largest.
_SPARE_BITS = 24
# More blocks are not worth waiting for: what needs them has numbers beyond every use.
_MOST_BLOCKS = 2000


def height(p: arb, d: arb, a: arb, x: arb) -> arb:
    """Enclose h(x)."""
    return (a - 1) * power(abs(x + d), p) - a * power(abs(x), p)


def weight_sum(p: float, b: float, D: int, a: arb, low: int, high: int, top: float) -> arb:
    """Enclose the sum of e^(h(k/b)) over the integers k from `low` to `high`; `top` is about the largest h."""
    d, total = arb(D) / arb(b), arb(0)
    for k in {0, -D}:
        if low <= k <= high:
            total += height(arb(p), d, a, arb(k) / arb(b)).exp()
    right, middle, left = (_Side(p, d, a, top, where) for where in ("right", "middle", "left"))
    total += right.sum(b, max(low, 1), high)
    total += middle.sum(b, max(-high, 1), min(-low, D - 1))
    return total + left.sum(b, max(-D - high, 1), -D - low)


def weight_integral(p: float, d: arb, a: arb, low: float, high: float, top: float) -> arb:
    """Enclose the integral of e^h from `low` to `high`, both above 0; `top` is about the largest h."""
    side = _Side(p, d, a, top, "right")
    total, u = arb(0), low
    for _ in range(_MOST_BLOCKS + 1):
        if not u < high:
            return total
        r = min(side.half_width(u), (high - u) / 2.0)
        found = None
        while found is None:
            after = high if u + 2.0 * r >= high else u + 2.0 * r
            if not after > u:
                raise BeyondPrecisionError
            found = side.block((arb(u) + arb(after)) / 2, (arb(after) - arb(u)) / 2, None)
            r /= 2.0
        total, u = total + found, after
    raise BeyondPrecisionError


class BeyondPrecisionError(Exception):
    """The numbers of a divergence are too large for the working precision, or need too many blocks."""


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the three parts of the line on which h is analytic, by the distance u."""

    p: float
    d: arb
    a: arb
    top: float
    where: Literal["right", "middle", "left"]

    def sum(self, b: float, first: int, last: int) -> arb:
        """Enclose the sum of e^h over the integers from one distance, in units of the integers, to another."""
        total, n, unit = arb(0), first, arb(b)
        for _ in range(_MOST_BLOCKS + 1):
            if n > last:
                return total
            half = min(int(self.half_width(n / b) * b), (last - n) // 2)
            found = None
            while found is None and half >= _LEAST_HALF:
                found = self.block(arb(n + half) / unit, arb(half) / unit, half)
                half = half if found is not None else half // 2
            if found is None:
                half = min(_LEAST_HALF, (last - n) // 2)
                found = sum((self._height(arb(m) / unit).exp() for m in range(n, n + 2 * half + 1)), arb(0))
            total += found
            n += 2 * half + 1
        raise BeyondPrecisionError

    def _height(self, u: arb) -> arb:
        """Enclose h at a distance."""
        x = {"right": u, "middle": -u, "left": -self.d - u}[self.where]
        return height(arb(self.p), self.d, self.a, x)

    def half_width(self, u: float) -> float:
        """Return about how wide the half of a block from a distance on may be, from floats."""
        r: float = _REACH * u / (_RATIO - _REACH)
        if self.where == "middle":
            r = min(r, _REACH * (float(self.d) - u) / (_RATIO + _REACH))
        for _ in range(400):
            radius = _RATIO * r
            # How much h is to change over the radius of a disc, about.
            if radius * max(self._slope(u + r + radius), self._slope(u + r - radius)) <= 12.0:
                break
            r *= 0.75
        return r

    def _slope(self, u: float) -> float:
        """Return about |h'|."""
        p, a, d = self.p, float(self.a), float(self.d)
        try:
            own: float = u ** (p - 1.0)
            if self.where == "middle":
                other: float = max(d - u, 0.0) ** (p - 1.0)
                return p * ((a - 1.0) * other + a * own)
            more = own * math.expm1((p - 1.0) * math.log1p(d / u))
        except OverflowError:
            return math.inf
        return p * abs((a - 1.0) * more - own if self.where == "right" else a * more + own)

    def _slope_on(self, u: acb) -> arb:
        """Enclose |h'| on a rectangle right of 0, with no loss of digits between powers that are close."""
        p, d = acb(self.p), acb(self.d)
        q = p - 1
        own = (q * u.log()).exp()
        if self.where == "middle":
            return abs(p * ((self.a - 1) * (q * (d - u).log()).exp() + self.a * own))
        more = own * (q * (d / u).log1p()).expm1()
        return abs(p * ((self.a - 1) * more - own if self.where == "right" else self.a * more + own))

    def block(self, c: arb, r: arb, half: int | None) -> arb | None:
        """Enclose the sum of e^h over a block, or its integral where `half` is None; None where it is too large."""
        radius = (_RATIO * r).upper()
        if not (r > 0 and c > radius and (self.where != "middle" or self.d - c > radius)):
            return None
        change = radius * self._slope_on(acb(c + arb(0, radius), arb(0, radius)))
        if not change < 60:
            return None
        middle = self._height(c)
        most = (middle + change).upper()
        bits = ctx.prec + _SPARE_BITS + (float(most) - self.top) / math.log(2.0)
        terms = max(math.ceil(bits / _BITS_EACH), 2) if math.isfinite(bits) else ctx.prec
        size = 2 * r if half is None else arb(2 * half + 1)
        rest = size * most.exp() / (arb(2) ** (_BITS_EACH * terms) * (1 - arb(1) / _RATIO))
        found = arb(0, rest.upper())
        for n, value in enumerate(self._taylor(c, r, middle, terms)):
            if n % 2 == 0:
                found += value * (size / (n + 1) if half is None else _power_sum(n, half))
        return found

    def _taylor(self, c: arb, r: arb, middle: arb, terms: int) -> list[arb]:
        """Enclose the first Taylor coefficients of e^(h(c + r t))."""
        p, d = arb(self.p), self.d
        near, far = {"right": (c, c + d), "middle": (c, d - c), "left": (c + d, c)}[self.where]
        # (y + s r t)^p has the coefficients g_j = g_(j-1) (p - j + 1) s r / (j y), and f' = h' f.
        turn = -1 if self.where == "middle" else 1
        own, other = self.a * near**p, (self.a - 1) * far**p
        found, slopes = [middle.exp()], []
        for k in range(1, terms):
            own, other = own * (p - k + 1) * r / (k * near), other * (p - k + 1) * turn * r / (k * far)
            slopes.append(k * (other - own))
            total = arb(0)
            for slope, earlier in zip(slopes, reversed(found), strict=True):
                total += slope * earlier
            found.append(total / k)
        return found


def _power_sum(n: int, half: int) -> arb:
    """Enclose S_n for an even n."""
    if n == 0:
        return arb(2 * half + 1)
    total, square = arb(2 * half) / (n + 1) + 1, arb(half) ** 2
    weight = arb(half)
    for factor in _factors(n):
        weight /= square
        total += factor * weight
    return total


@lru_cache(maxsize=512)
def _factors(n: int) -> list[fmpq]:
    """Return 2 C(n, 2i-1) B_2i / (2i) for i = 1, ..., n/2."""
    return [fmpq(2 * math.comb(n, 2 * i - 1)) * fmpq.bernoulli(2 * i) / (2 * i) for i in range(1, n // 2 + 1)]


PRECISIONS = (96, 160, 256, 448)


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
                found = enclosure_of(value())
        except BeyondPrecisionError:
            continue
        if math.isfinite(found.upper) and found.upper - found.lower <= 1e-9 * found.upper:
            break
    return Enclosure(lower=max(found.lower, 0.0), upper=found.upper, precision=found.precision)


def renyi_of_pure(pure: float, alpha: float) -> Enclosure:
    """Enclose the largest Renyi divergence of order alpha of a mechanism with this pure loss: randomized response's."""
    with BALLS, working_precision(PRECISIONS[1]):
        e, a = arb(pure), arb(alpha)
        return enclosure_of((((a * e).exp() + ((1 - a) * e).exp()) / (1 + e.exp())).log() / (a - 1))


def _reach(p: float, d: arb, a: arb) -> tuple[arb, arb, float, float, float]:
    """Return what has to be added up of e^h at an order above 1.

    These are: where h is largest, how large it is there, and where it is so deep below that the rest is negligible:
    before the peak (0 if there is no such place above 0), beyond it (where h falls and is concave), and left of -d.
    """
    q, depth = arb(p), (ctx.prec + _SPARE_BITS) * math.log(2.0)
    peak = d / (((a / (a - 1)).log() / (q - 1)).expm1())
    highest, middle = height(q, d, a, peak), float(peak)
    width = first = 1e-6 * (1.0 + max(middle, 0.0))
    # Strides are each half as long again as the last: a tail that is not reached lies beyond the working precision.
    for _ in range(200):
        T = arb(max(middle, 0.0) + width)
        concave = p <= 2.0 or (a - 1) * (1 + d / T) ** (q - 2) < a
        if concave and (a - 1) * (1 + d / T) ** (q - 1) < a and height(q, d, a, T) < highest - depth:
            break
        width *= 1.5
    else:
        raise BeyondPrecisionError
    start = middle - first
    while start > 0.0 and not height(q, d, a, arb(start)) < highest - depth:
        first *= 1.5
        start = middle - first
    return peak, highest, max(start, 0.0), max(middle, 0.0) + width, 1.1 * depth ** (1.0 / p)


def _real_moment(p: float, b: float, D: float, a: arb) -> arb:
    """Enclose M on the reals, with the largest value of h taken out while it is computed."""
    d, q = arb(D) / arb(b), arb(p)
    if p == 1.0:
        return (a * ((a - 1) * d).exp() + (a - 1) * (-a * d).exp()) / (2 * a - 1)
    peak, highest, start, T, Y = _reach(p, d, a)
    top = highest.mid()
    if not highest.rad() < 1 + abs(top) * 1e-6:
        raise BeyondPrecisionError
    if start > 0.0:
        # All before it is lower: h rises up to its peak.
        before = (start + d + Y) * (height(q, d, a, arb(start)) - top).exp()
        total = hull(arb(0), before.upper()) + weight_integral(p, d, a, start, T, float(top)) * (-top).exp()
    else:
        left, middle, right = (_weight_on(q, d, a, top, where) for where in ("left", "middle", "right"))
        split = peak.mid() if start < peak and peak < T else arb(T)
        total = _integrate(left, arb(0), arb(Y)) + _integrate(middle, arb(0), d)
        total += _integrate(right, arb(start), split) + _integrate(right, split, arb(T))
    slope = q * ((a - 1) * power(arb(T) + d, q - 1) - a * power(arb(T), q - 1))
    beyond = (height(q, d, a, arb(T)) - top).exp() / -slope
    beyond += (-top).exp() * (arb(Y) ** q).gamma_upper(1 / q) / q
    return (total + hull(arb(0), beyond.upper())) * top.exp() / (2 * (1 + 1 / q).gamma())


def _weight_on(p: arb, d: arb, a: arb, top: arb, where: str) -> Callable[[acb, bool], acb]:
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


def _integrate(f: Callable[[acb, bool], acb], low: arb, high: arb) -> arb:
    tolerance = arb(2) ** -ctx.prec
    found = acb.integral(f, acb(low), acb(high), rel_tol=tolerance, abs_tol=tolerance, eval_limit=200_000)
    return found.real


def _integer_moment(p: float, b: float, D: float, a: arb) -> arb:
    """Enclose M on the integers."""
    Z, unit = normaliser(p, b), arb(b)
    d, q = arb(D) / unit, arb(p)
    if p == 1.0:
        # Geometric series right of 0, left of -D, and between.
        ends = (((a - 1) * int(D) / unit).exp() + (-a * int(D) / unit).exp()) / (1 - (-1 / unit).exp())
        ratio = (-(2 * a - 1) / unit).exp()
        return (ends + ((a - 1) * int(D) / unit).exp() * ratio * (1 - ratio ** (int(D) - 1)) / (1 - ratio)) / Z
    _, highest, low, high, left = _reach(p, d, a)
    start, last, reach = math.floor(low * b), math.ceil(high * b), math.ceil(left * b) + 1
    # What is left of -D - reach: the tail of the weights e^(-y^p).
    beyond = tail_sum(p, b, reach)
    first = -int(D) - reach
    if start > 0:
        # All before it is lower: h rises up to its peak.
        beyond += (start - first) * height(q, d, a, arb(start) / unit).exp()
        first = start
    total = weight_sum(p, b, int(D), a, first + 1, last - 1, float(highest.mid()))
    here, there = (height(q, d, a, arb(k) / unit) for k in (last, last + 1))
    beyond += here.exp() / -(there - here).expm1()
    return (total + hull(arb(0), beyond.upper())) / Z


_PRECISION = 128


def renyi_between(noisy: NoisyQuery, alpha: float) -> Between:
    """Return two floats with the Renyi divergence of order alpha between them, for an alpha above 1."""
    case, uppers, lowers = noisy.case, [], [0.0]
    if case.order == 2.0:
        most = _square(noisy, noisy.sensitivity.lp(2))
        with BALLS, working_precision(_PRECISION):
            uppers.append(upper_float(arb(alpha) * most))
            if case.support == "real" and case.reaches_every_norm:
                lowers.append(lower_float(arb(alpha) * most * arb(REACHED) ** 2))
    known: dict[float, Between] = {}
    uppers += [_divergence(noisy, change, alpha, known)[1] for change in case.dominating_at_every_order]
    lowers += [_divergence(noisy, change, alpha, known)[0] for change in case.possible_changes]
    upper = min(uppers)
    return min(max(lowers), upper), upper


def _divergence(noisy: NoisyQuery, change: Change, alpha: float, known: dict[float, Between]) -> Between:
    """Return two floats with the divergence of a change between them: coordinates are independent, and add up."""
    for size, _ in change.sizes:
        moved = _whole(noisy, size)
        if moved == 0.0:
            # No whole number moves.
            known[size] = 0.0, 0.0
        elif size not in known:
            found = renyi_of_shift(noisy.law, sensitivity=moved, alpha=alpha)
            known[size] = found.lower, found.upper
    with BALLS, working_precision(_PRECISION):
        low, high = (sum((arb(known[size][end]) * count for size, count in change.sizes), arb(0)) for end in (0, 1))
        return lower_float(low), upper_float(high)


def concentrated_between(noisy: NoisyQuery) -> Between:
    """Return two floats with the least rho of zero-concentrated DP between them; infinite at orders above 2."""
    if noisy.law.order > 2.0:
        return math.inf, math.inf
    if noisy.law.order == 2.0:
        query = noisy.sensitivity
        with BALLS, working_precision(_PRECISION):
            square = _square(noisy, _whole(noisy, query.largest) if query.moving == 1 else query.lp(2))
            reached = noisy.case.reaches_every_norm and (noisy.law.support == "real" or query.is_per_coordinate)
            least = square * arb(REACHED) ** 2 if reached else _square(noisy, _whole(noisy, query.largest))
            return lower_float(least), upper_float(square)
    return _largest_ratio(noisy)


def _square(noisy: NoisyQuery, size: float) -> arb:
    """Enclose (size / b)^2."""
    return (arb(size) / arb(noisy.law.scale)) ** 2


def _whole(noisy: NoisyQuery, size: float) -> float:
    return float(math.floor(size)) if noisy.law.support == "integer" else size


def _largest_ratio(noisy: NoisyQuery) -> Between:
    """Enclose the largest D_alpha / alpha over alpha > 1, for an order from 1 to below 2, by branch and bound."""
    known: dict[float, Between] = {}

    def at(alpha: float) -> Between:
        if alpha not in known:
            known[alpha] = renyi_between(noisy, alpha)
        return known[alpha]

    def lower() -> float:
        with BALLS, working_precision(_PRECISION):
            return max(lower_float(arb(low) / arb(alpha)) for alpha, (low, _) in known.items())

    def block(first: float, last: float) -> tuple[float, float, float]:
        with BALLS, working_precision(_PRECISION):
            return -upper_float(arb(at(last)[1]) / arb(first)), first, last

    start, end = 1.0, 2.0
    blocks = [block(start, end)]
    while end < 2.0**12 and _beyond(noisy, end) > lower():
        start, end = end, 2.0 * end
        blocks.append(block(start, end))
    rest = _beyond(noisy, end)
    heapq.heapify(blocks)
    for _ in range(60):
        bound, first, last = blocks[0]
        if -bound <= max(1.002 * lower(), rest):
            break
        heapq.heappop(blocks)
        middle = math.sqrt(first * last)
        heapq.heappush(blocks, block(first, middle))
        heapq.heappush(blocks, block(middle, last))
    upper = max(-blocks[0][0], rest)
    return min(lower(), upper), upper


def _beyond(noisy: NoisyQuery, start: float) -> float:
    """Bound D_alpha / alpha from above for all alpha >= start."""
    p = arb(noisy.law.order)
    if noisy.law.order == 1.0:
        return math.nextafter(pure_between(noisy)[1] / start, math.inf)
    sizes = noisy.case.dominating_at_every_order[0].sizes
    with BALLS, working_precision(_PRECISION):
        peak = max(start, 1.0 / (2.0 - noisy.law.order) * (1.0 + 1e-12))
        powers = sum(count * (arb(size) / arb(noisy.law.scale)) ** p for size, count in sizes)
        coordinates = sum(count for _, count in sizes)
        found = []
        for theta in (0.3, 0.6, 0.9, 0.99, 0.999):
            share = arb(theta)
            if noisy.law.support == "real":
                moment = -(-share).log1p() / p
            else:
                wider = upper_float(arb(noisy.law.scale) * (1 - share) ** (-1 / p))
                moment = (normaliser(noisy.law.order, wider) / normaliser(noisy.law.order, noisy.law.scale)).log()
            growth = ((p - 1) / share) ** (p - 1) * (arb(peak) - 1) ** (p - 1) / arb(peak)
            ends = powers / start + coordinates * moment / (arb(start) * (arb(start) - 1))
            found.append(upper_float(powers * growth + ends))
        return min(found)
