"""Tails of the generalized Gaussian law in balls: survival functions on the reals, and sums on the integers.

On the reals:

=========  =======================================================================================
S(z)       P(X > z) for the generalized Gaussian law of order p and scale 1
f(x)       exp(-x^p) for x >= 0: S(z) is the integral of f from z on, over 2 Gamma(1 + 1/p)
c, r       middle and half-width of a block of points
rho, M     a radius below c, and a bound of |f| on the disc around c with this radius
=========  =======================================================================================

Claim (blocks). Let f_k be the Taylor coefficients of f at c. For z in the block the integral of f from c to z is the
sum of f_k (z - c)^(k+1) / (k + 1) over k < n, up to M r (r / rho)^n / (1 - r / rho). Proof: f is analytic on the disc,
so |f_k| <= M / rho^k by Cauchy, and what is left out is at most the sum of M rho^-k r^(k+1) over k >= n. From the upper
end of the block S is known by the incomplete gamma function, and what lies between is added to it: no digits cancel.

On the integers, for sums that are long or short, near or far:

=======  =========================================================================
p, b     order (at least 1) and scale; floats, taken as exact
t(x)     (x / b)^p
r        power of x in a moment sum; 0 for probabilities
f(x)     x^r exp(-t(x)), the weight of the integer x >= 0
R(k)     sum of f(j) over the integers j >= k
Z        sum of exp(-t(|j|)) over all integers j, the normaliser: 1 + 2 R(1) at r = 0
T(k)     P(K >= k): R(k) / Z for k >= 1, and 1 - R(1 - k) / Z for k <= 0
P_m      polynomial with f^(m)(x) = x^(r - m) exp(-t) P_m(t)
=======  =========================================================================

At p = 1 the sums are geometric. Otherwise a sum is either taken term by term until the rest, bounded by a geometric
series, is negligible, or term by term up to a few dozen and by the Euler-Maclaurin formula from there. Each step is
made in balls, so that the result holds the exact sum whatever was chosen; the choices only make it fast and narrow.

Claim (the rest of a direct sum). For p >= 1 the ratio f(j + 1) / f(j) does not rise with j >= 1, since t is convex and
(1 + 1/j)^r falls. So the sum over j >= N is at most f(N) / (1 - q) with q = f(N) / f(N - 1), if q < 1.

Claim (Euler-Maclaurin). For k >= 1 and n >= 1,
R(k) = Integral_k^inf f + f(k)/2 - sum_{i=1..n} B_2i/(2i)! f^(2i-1)(k) + E,
|E| <= |B_2n|/(2n)! Integral_k^inf |f^(2n)|. This is DLMF 2.10.1 with its last term split off, |B_2n(x - [x])| <= |B_2n|
(DLMF 24.9.1), and all derivatives vanish at infinity. With t' = p t / x, P_0 = 1 and
P_(m+1)(t) = (r - m - p t) P_m(t) + p t P_m'(t). If P_2n has the coefficients c_j, then substituting t gives
Integral_k^inf |f^(2n)| <= b^(r+1-2n)/p sum_j |c_j| Gamma(j - (2n-1-r)/p, t(k)).

References
----------
NIST Digital Library of Mathematical Functions (DLMF), 2.10(i) and 24.9.1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache, partial

from flint import acb, arb, arb_poly, arb_series, ctx, fmpq

from ggdp._balls import BALLS, hull, power, working_precision
from ggdp._work import spend, spent_by

# rho is 2^6 times r: each further coefficient adds six bits.
_BITS_EACH = 6


def survival(p: arb, z: arb) -> arb:
    """Enclose S(z)."""
    if z >= 0:
        spend(30, ctx.prec)
        return (z**p if z > 0 else power(z, p)).gamma_upper(1 / p, regularized=1) / 2
    if z <= 0:
        return 1 - survival(p, -z)
    if not z.is_finite():
        return arb(math.nan)
    return hull(survival(p, z.lower()), survival(p, z.upper()))


def survivals(p: arb, points: list[arb]) -> list[arb]:
    """Enclose S at many points; where they are close to each other, most values come from Taylor polynomials."""
    if p == 1:
        # An exponential function, which is fast.
        return [survival(p, z) for z in points]
    # By symmetry only points above 0 are needed, in falling order.
    places = sorted(((abs(float(z)), i) for i, z in enumerate(points)), reverse=True)
    found, first = [arb(0)] * len(points), 0
    # Half as many again, for M.
    terms = 3 * ctx.prec // (2 * _BITS_EACH)
    while first < len(places):
        low = _block_end(float(p), places[first][0], terms)
        last = first
        while last < len(places) and places[last][0] >= low:
            last += 1
        inside = [i for _, i in places[first:last]]
        # A polynomial costs about as much as a fifth of its number of coefficients in incomplete gamma functions.
        if len(inside) < 0.2 * terms:
            inside = inside[:1]
            found[inside[0]] = survival(p, points[inside[0]])
        else:
            for i, value in zip(inside, _on_block(p, [abs(points[i]) for i in inside], terms), strict=True):
                found[i] = value if points[i] >= 0 else 1 - value
        first += len(inside)
    return found


def _block_end(order: float, high: float, terms: int) -> float:
    """Return the lower end of a block in which a polynomial of so many terms is accurate, about."""
    try:
        slope = order * high ** (order - 1.0)
    except OverflowError:
        return high
    # On a disc of this radius x^p is at most e times as large as in its middle, and M at most 2^terms or so.
    radius = high / max(4.0, order)
    if slope > 0.0:
        radius = min(radius, terms * math.log(2.0) / (math.e * slope))
    return high - 2.0 * radius / 2.0**_BITS_EACH


def _on_block(p: arb, points: list[arb], terms: int) -> list[arb]:
    """Enclose S at points z >= 0 that fall from one end of a block to the other."""
    high, low = points[0].upper(), points[-1].lower()
    centre = arb(hull(low, high).mid())
    r = max(abs(high - centre).upper(), abs(centre - low).upper(), key=float)
    rho = r * 2**_BITS_EACH
    if not (r > 0 and centre > rho):
        return [survival(p, z) for z in points]
    disc = acb(centre + arb(0, rho), arb(0, rho))
    most = abs((-((p * disc.log()).exp())).exp()).upper()
    rest = most * r / (arb(2) ** (_BITS_EACH * terms) * (1 - arb(2) ** -_BITS_EACH))
    integral = arb_poly([arb(0), *(value / (k + 1) for k, value in enumerate(_taylor(p, centre, terms)))])
    start, *values = (integral(z - centre) for z in (high, *points))
    normal = 2 * (1 + 1 / p).gamma()
    # Either end of an integral has a rest of its own.
    end = survival(p, high) + arb(0, (2 * rest / normal).upper())
    return [end + (start - value) / normal for value in values]


def _taylor(p: arb, c: arb, terms: int) -> list[arb]:
    """Enclose the first Taylor coefficients of exp(-x^p) at c > 0."""
    # Series are cut off after ctx.cap terms, whatever they are asked for.
    cap = ctx.cap
    try:
        ctx.cap = terms
        found = (-(arb_series([c, 1], prec=terms) ** arb_series([p], prec=terms))).exp()
    finally:
        ctx.cap = cap
    return [found[k] for k in range(terms)] if found.prec >= terms else [arb(math.nan)] * terms


# Powers of integers are kept in blocks, up to so many of them.
_BLOCK = _CACHED_BLOCKS = 64
# Normalisers that are remembered, and the work that each took, by order, scale and precision.
_NORMALISERS: dict[tuple[float, float, int], tuple[arb, float]] = {}
# Terms that cost about as much as one use of the Euler-Maclaurin formula.
_CHEAP_TERMS = 96
# Where no formula is narrow and the terms are too many, a wide ball is returned.
_MOST_TERMS = 1 << 20
_BOUND_PRECISION = 40
_MOST_DERIVATIVES = 64
# Points that share a bound of what the Euler-Maclaurin formula leaves out.
_AT_ONCE = 32


def weight(p: float, b: float, k: int) -> arb:
    """Enclose exp(-(|k| / b)^p)."""
    return (-exponent(p, b, abs(k))).exp()


def weights(p: float, b: float, first: int, stop: int) -> list[arb]:
    """Enclose exp(-(j / b)^p) for each j from `first` >= 0 up to and without `stop`."""
    spend(2 * max(stop - first, 0), ctx.prec)
    beta = arb(b) ** arb(-p)
    cached = min(stop, _BLOCK * _CACHED_BLOCKS)
    result: list[arb] = []
    for block in range(first // _BLOCK, -(-cached // _BLOCK)):
        start = block * _BLOCK
        powers = _powers(p, block, ctx.prec)[max(first - start, 0) : max(cached - start, 0)]
        result += [(-beta * power).exp() for power in powers]
    return result + [weight(p, b, j) for j in range(max(first, cached), stop)]


def tail_sum(p: float, b: float, k: int, *, moment: int = 0) -> arb:
    """Enclose R(k), the sum of j^moment exp(-(j/b)^p) over the integers j >= k >= 0, with small relative error."""
    if k == 0:
        return (1 if moment == 0 else 0) + tail_sum(p, b, 1, moment=moment)
    if p == 1.0:
        # The sum of j^moment q^j over j >= k, with q = exp(-1/b).
        q, gap = (-1 / arb(b)).exp(), -(-1 / arb(b)).expm1()
        series = (1 / gap, k / gap + q / gap**2, arb(k) ** 2 / gap + 2 * k * q / gap**2 + q * (1 + q) / gap**3)
        return (-arb(k) / arb(b)).exp() * series[moment]
    spend(30, ctx.prec)
    terms = _terms_needed(p, b, k)
    if terms <= _CHEAP_TERMS:
        return _direct(p, b, k, terms, moment)
    start = max(k, ctx.prec // 3)
    few, many = min(ctx.prec // 8, _MOST_DERIVATIVES), min(ctx.prec // 4, 2 * _MOST_DERIVATIVES)
    tolerance = arb(2) ** -ctx.prec
    # Far out and at great scales a few derivatives are enough, and they cost as many times less.
    for n in (few // 4, few, many) if start > 4096 else (few, many):
        error = _euler_maclaurin_error(p, b, start, n, moment)
        integral = _integral(p, b, start, moment)
        if error <= tolerance * integral or (terms > _MOST_TERMS and n == many):
            far = integral + _euler_maclaurin_terms(p, b, start, n, moment) + hull(-error, error)
            return far + _sum_of_terms(p, b, k, start, moment)
    return _direct(p, b, k, terms, moment)


def tail_sums(p: float, b: float, points: Sequence[int]) -> list[arb]:
    """Enclose R at many integers k >= 1, in rising order; where the scale is large, faster than one by one.

    The integrals come from Taylor polynomials. The bound of |E| is an integral from k on: that of the first of some
    points holds for all of them.
    """
    if p == 1.0:
        return [tail_sum(p, b, k) for k in points]
    order, scale, tolerance = arb(p), arb(b), arb(2) ** -ctx.prec
    # About 40 bits are lost by Taylor polynomials of the survival function.
    with BALLS, working_precision(ctx.prec + 40):
        width = 2 * (1 + 1 / order).gamma() * scale
        integrals = [width * value for value in survivals(order, [k / scale for k in points])]
    most, found = min(ctx.prec // 8, _MOST_DERIVATIVES), list[arb]()
    for start in range(0, len(points), _AT_ONCE):
        some = points[start : start + _AT_ONCE]
        least = tolerance * integrals[start + len(some) - 1]
        for n in (most // 4, most // 2, most):
            error = _euler_maclaurin_error(p, b, some[0], n, 0)
            if error <= least:
                rest = hull(-error, error)
                terms = (_euler_maclaurin_terms(p, b, k, n, 0) + rest for k in some)
                found += [integral + near for integral, near in zip(integrals[start:], terms, strict=False)]
                break
        else:
            found += [tail_sum(p, b, k) for k in some]
    return found


def log_tail_sum(p: float, b: float, k: int) -> arb:
    """Enclose log R(k) for k >= 0, also where R(k) itself is beyond what a ball tells from 0."""
    total = tail_sum(p, b, k)
    if total > 0:
        return total.log()
    # R(k) is between f(k) and f(k) / (1 - q), with q = f(k + 1) / f(k).
    t = exponent(p, b, k)
    q = (t - exponent(p, b, k + 1)).exp()
    return -t + hull(arb(0), -(-q).log1p())


def partial_sum(p: float, b: float, first: int, last: int) -> arb:
    """Enclose the sum of exp(-(j/b)^p) over first <= j <= last, for first >= 0; 0 when there is nothing to add."""
    if last < first:
        return arb(0)
    if last - first < 2 * _CHEAP_TERMS:
        return _sum_of_terms(p, b, first, last + 1, 0)
    return tail_sum(p, b, first) - tail_sum(p, b, last + 1)


def normaliser(p: float, b: float) -> arb:
    """Enclose Z, the sum of exp(-(|j|/b)^p) over all integers j."""
    asked = (p, b, ctx.prec)
    if (known := _NORMALISERS.get(asked)) is not None:
        # What is remembered costs as much as it did, lest an answer depend on earlier ones.
        spend(known[1])
        return known[0]
    positive, units = spent_by(partial(tail_sum, p, b, 1))
    if len(_NORMALISERS) >= 64:
        _NORMALISERS.clear()
    _NORMALISERS[asked] = (total := 1 + 2 * positive, units)
    return total


def tail(p: float, b: float, k: int) -> arb:
    """Enclose T(k) = P(K >= k) for any integer k."""
    return tail_sum(p, b, k) / normaliser(p, b) if k >= 1 else 1 - tail(p, b, 1 - k)


@lru_cache(maxsize=4 * _CACHED_BLOCKS)
def _powers(p: float, block: int, precision: int) -> tuple[arb, ...]:
    """Enclose j^p for a block of integers j; a search tries many scales with the same powers."""
    with BALLS, working_precision(precision):
        return tuple(arb(j) ** arb(p) for j in range(block * _BLOCK, (block + 1) * _BLOCK))


def exponent(p: float, b: float, k: int) -> arb:
    """Enclose t(k) for k >= 0."""
    return (arb(k) / arb(b)) ** arb(p)


def _terms_needed(p: float, b: float, k: int) -> int:
    """Estimate how many terms from k >= 1 on make up the sum to the working precision."""
    depth = (ctx.prec + 16) * math.log(2.0)
    log_t = p * (math.log(k) - math.log(b))
    # e^-t falls by e^-depth from k to k (1 + depth/t)^(1/p).
    stretch = depth * math.exp(-log_t) if log_t > -700.0 else math.inf
    log_end = math.log1p(stretch) / p if stretch < math.inf else (math.log(depth) - log_t) / p
    return 4 + (math.ceil(k * math.expm1(log_end)) if log_end < 300.0 else _MOST_TERMS + 1)


def _sum_of_terms(p: float, b: float, first: int, stop: int, moment: int) -> arb:
    """Enclose the sum of f(j) over first <= j < stop."""
    terms = weights(p, b, first, stop)
    if moment:
        terms = [arb(j) ** moment * term for j, term in enumerate(terms, start=first)]
    return sum(terms, arb(0))


def _direct(p: float, b: float, k: int, terms: int, moment: int) -> arb:
    """Enclose R(k) by its first terms and a geometric bound of the rest; infinite if that bound fails."""
    stop = k + terms
    step = exponent(p, b, stop) - exponent(p, b, stop - 1)
    q = (-step).exp() * (arb(stop) / arb(stop - 1)) ** moment
    rest = (arb(stop) ** moment * weight(p, b, stop) / (1 - q)).upper() if q < 1 else arb("inf")
    return _sum_of_terms(p, b, k, stop, moment) + hull(arb(0), rest)


def _integral(p: float, b: float, k: int, moment: int) -> arb:
    """Enclose Integral_k^inf f = b^(r+1)/p Gamma((r+1)/p, t(k)), with bits to spare where Gamma loses them."""
    wanted = ctx.prec
    for extra in (0, 64, 128, 256):
        with BALLS, working_precision(wanted + extra):
            integral = arb(b) ** (moment + 1) / arb(p) * exponent(p, b, k).gamma_upper((moment + 1) / arb(p))
        if integral.rel_accuracy_bits() >= wanted - 16:
            break
    return integral


def _euler_maclaurin_terms(p: float, b: float, k: int, n: int, moment: int) -> arb:
    """Enclose f(k)/2 - sum_{i=1..n} B_2i/(2i)! f^(2i-1)(k)."""
    t, nearness = exponent(p, b, k), arb(k) ** -2
    total = arb(0)
    for polynomial in reversed(_weighted_derivatives(p, n, moment, ctx.prec)):
        total = total * nearness + polynomial(t)
    return (-t).exp() * arb(k) ** moment * (arb(0.5) - total / k)


def _euler_maclaurin_error(p: float, b: float, k: int, n: int, moment: int) -> arb:
    """Return an upper bound of |E|, as a ball with one point."""
    sizes = _last_derivative_sizes(p, n, moment)
    with BALLS, working_precision(_BOUND_PRECISION):
        # Gamma(s, y) falls with y, so the lower end of t(k) is safe.
        y = exponent(p, b, k).lower()
        shift = (2 * n - 1 - moment) / arb(p)
        total, bound = arb(0), arb(0)
        power = y ** (-shift)
        for j, size in enumerate(sizes):
            s = j - shift
            # Gamma(s, y) = (s - 1) Gamma(s - 1, y) + y^(s-1) e^-y; |s - 1|, as s - 1 may come out just below 0.
            bound = _gamma_bound(s, y, power) if s <= 1 else abs(s - 1) * bound + power / y * (-y).exp()
            total += size * bound
            power *= y
        return (total * arb(b) ** (moment + 1 - 2 * n) / arb(p) * abs(_bernoulli(n))).upper()


def _gamma_bound(s: arb, y: arb, power: arb) -> arb:
    """Return an upper bound of Gamma(s, y) for s <= 1 and an exact y > 0, where power = y^s.

    For y >= 1 it is y^(s-1) e^-y. For y < 1 split the integral at 1: the part beyond is at most e^-1; up to 1, u^(s-1)
    is at most max(y^s, 1) / u, or its integral is at most y^s / |s| for s < 0.
    """
    if y >= 1:
        return power / y * (-y).exp()
    if s < -0.5:
        return power / -s + arb(-1).exp()
    return -y.log() * (1 if s >= 0 else hull(power, arb(1))) + arb(-1).exp()


@lru_cache(maxsize=256)
def _derivatives(p: float, n: int, moment: int, precision: int) -> tuple[arb_poly, ...]:
    """Enclose P_0, ..., P_2n."""
    with BALLS, working_precision(precision):
        scaled, result = arb(p) * arb_poly([0, 1]), [arb_poly([1])]
        for m in range(2 * n):
            result.append((moment - m - scaled) * result[-1] + scaled * result[-1].derivative())
        return tuple(result)


@lru_cache(maxsize=256)
def _weighted_derivatives(p: float, n: int, moment: int, precision: int) -> tuple[arb_poly, ...]:
    """Enclose B_2i/(2i)! P_(2i-1) for i = 1, ..., n."""
    derivatives = _derivatives(p, n, moment, precision)
    with BALLS, working_precision(precision):
        return tuple(_bernoulli(i) * derivatives[2 * i - 1] for i in range(1, n + 1))


@lru_cache(maxsize=256)
def _last_derivative_sizes(p: float, n: int, moment: int) -> tuple[arb, ...]:
    """Return upper bounds of the absolute values of the coefficients of P_2n."""
    # Their terms nearly cancel for some orders, so they are made at more bits than they are kept with.
    coefficients = _derivatives(p, n, moment, (16 + 2 * math.ceil(math.log2(p))) * n + 64)[-1].coeffs()
    with BALLS, working_precision(_BOUND_PRECISION):
        return tuple(abs(coefficient).upper() for coefficient in coefficients)


def _bernoulli(i: int) -> arb:
    """Enclose B_2i/(2i)!."""
    return arb(fmpq.bernoulli(2 * i)) / arb(math.factorial(2 * i))
