"""The survival function of the standard law in balls, at one point or at many.

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
"""

from __future__ import annotations

import math

from flint import acb, arb, arb_poly, arb_series, ctx

from ggdp._balls import hull, power
from ggdp._work import spend

# rho is 2^6 times r: each further coefficient adds six bits.
_BITS_EACH = 6
# A block costs about as much as this share of its number of coefficients in incomplete gamma functions.
_WORTH = 0.2
# Units of work of an incomplete gamma function.
_GAMMA = 30


def survival(p: arb, z: arb) -> arb:
    """Enclose S(z)."""
    if z >= 0:
        spend(_GAMMA, ctx.prec)
        return power(z, p).gamma_upper(1 / p, regularized=1) / 2
    if z <= 0:
        return 1 - survival(p, -z)
    if not z.is_finite():
        return arb(math.nan)
    return hull(survival(p, z.lower()), survival(p, z.upper()))


def survivals(p: arb, points: list[arb]) -> list[arb]:
    """Enclose S at many points; where they are close to each other, most values come from Taylor polynomials.

    Examples
    --------
    >>> p, points = arb(3), [arb(k) / 1000 for k in range(-500, 2000)]
    >>> values = survivals(p, points)
    >>> all(value.overlaps(survival(p, z)) for z, value in zip(points, values))
    True
    """
    if p == 1:
        # An exponential function, which is fast.
        return [survival(p, z) for z in points]
    # By symmetry only points above 0 are needed, in falling order.
    places = sorted(((abs(float(z)), i) for i, z in enumerate(points)), reverse=True)
    found: list[arb] = [arb(0)] * len(points)
    # Half as many again, for M.
    terms = 3 * ctx.prec // (2 * _BITS_EACH)
    few = math.ceil(_WORTH * terms)
    first = 0
    while first < len(places):
        low = _block_end(float(p), places[first][0], terms)
        last = first
        while last < len(places) and places[last][0] >= low:
            last += 1
        inside = [i for _, i in places[first:last]]
        if len(inside) < few:
            # Not worth a polynomial.
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
    if found.prec < terms:
        return [arb(math.nan)] * terms
    return [found[k] for k in range(terms)]
