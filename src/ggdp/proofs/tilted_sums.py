"""Sums over many integers, and integrals, of the weights of a Renyi divergence, by Taylor polynomials on blocks.

=======  =============================================================================================
p, b, D  order and scale of the noise, and a whole number by which it is shifted; d = D / b
h(x)     (alpha - 1) |x + d|^p - alpha |x|^p, with x in units of the scale; x = k / b at the integer k
u        distance of x from the last place before it where h is not analytic, 0 or -d: x = u on the right
         of 0, x = -u between -d and 0, x = -d - u on the left of -d
c, r     middle and half-width of a block of integers, in units of the scale; it has 2 L + 1 integers
rho      the radius of a disc around c is rho times r
=======  =============================================================================================

Claim (blocks). Let h be analytic on the disc, and let |h'| be at most s there. With the Taylor coefficients f_n of
e^(h(c + r t)) at t = 0, the sum of e^h over the block is the sum over n < N of f_n S_n, where S_n is the sum of
(j / L)^n over |j| <= L, up to (2 L + 1) M rho^-N / (1 - 1/rho) with M = e^(h(c) + rho r s). Proof: on the disc h is at
most h(c) + rho r s in its real part, so |f_n| <= M / rho^n by Cauchy, and |j / L| <= 1. For the
integral over the block the same holds with S_n = r times the integral of t^n over [-1, 1], and 2 r for 2 L + 1.

Claim (powers). S_n is 0 for odd n, and for even n >= 2 it is
2 L / (n + 1) + 1 + 2 sum_{i=1..n/2} C(n, 2i-1) B_2i / (2i) L^(1-2i). Proof: Faulhaber's formula, over L^n.

Which blocks are chosen does not matter for the claims: a bad choice makes balls wider, never wrong.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from flint import acb, arb, ctx, fmpq

from ggdp._balls import power

# rho is 2^3: each further coefficient adds three bits.
_BITS_EACH = 3
_RHO = 2**_BITS_EACH
# What a disc may reach of the distance to where h is not analytic.
_REACH = 0.7
# h is to change by about this much over the radius of a disc, and is proved to change by at most the other.
_CHANGE, _MOST_CHANGE = 12.0, 60.0
# Blocks of fewer integers are summed term by term.
_LEAST_HALF = 16
_SPARE_BITS = 24
_MOST_CUTS = 400
# More blocks are not worth waiting for: what needs them has numbers beyond every use.
_MOST_BLOCKS = 2000


def height(p: arb, d: arb, a: arb, x: arb) -> arb:
    """Enclose h(x)."""
    return (a - 1) * power(abs(x + d), p) - a * power(abs(x), p)


def tilted_sum(p: float, b: float, D: int, a: arb, low: int, high: int, top: float) -> arb:
    """Enclose the sum of e^(h(k/b)) over the integers k from `low` to `high`; `top` is about the largest h.

    Examples
    --------
    >>> wide = tilted_sum(2.5, 800.0, 3, arb(9), -4000, 4000, 0.0)
    >>> terms = [height(arb(2.5), arb(3) / 800, arb(9), arb(k) / 800).exp() for k in range(-4000, 4001)]
    >>> wide.overlaps(sum(terms, arb(0)))
    True
    """
    d, total = arb(D) / arb(b), arb(0)
    for k in {0, -D}:
        if low <= k <= high:
            total += height(arb(p), d, a, arb(k) / arb(b)).exp()
    right, middle, left = (_Side(p, d, a, top, where) for where in ("right", "middle", "left"))
    total += right.sum(b, max(low, 1), high)
    total += middle.sum(b, max(-high, 1), min(-low, D - 1))
    return total + left.sum(b, max(-D - high, 1), -D - low)


def tilted_integral(p: float, d: arb, a: arb, low: float, high: float, top: float) -> arb:
    """Enclose the integral of e^h from `low` to `high`, both above 0; `top` is about the largest h.

    Examples
    --------
    >>> found = tilted_integral(2.0, arb(0.5), arb(3), 0.25, 20.0, 1.5)  # e^1.5 times that of e^-(x - 1)^2
    >>> exact = arb(1.5).exp() * arb.pi().sqrt() / 2 * (arb(19).erf() + arb(0.75).erf())
    >>> found.overlaps(exact)
    True
    """
    side = _Side(p, d, a, top, "right")
    total, u, blocks = arb(0), low, 0
    while u < high:
        blocks = _counted(blocks)
        r = min(side.half_width(u), (high - u) / 2.0)
        found = None
        while found is None:
            after = high if u + 2.0 * r >= high else u + 2.0 * r
            if not after > u:
                raise BeyondPrecisionError
            found = side.block((arb(u) + arb(after)) / 2, (arb(after) - arb(u)) / 2, None)
            r /= 2.0
        total, u = total + found, after
    return total


class BeyondPrecisionError(Exception):
    """The numbers of a divergence are too large for the working precision, or need too many blocks."""


def _counted(blocks: int) -> int:
    """Return the number of blocks with one more."""
    if blocks >= _MOST_BLOCKS:
        raise BeyondPrecisionError
    return blocks + 1


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
        total, n, unit, blocks = arb(0), first, arb(b), 0
        while n <= last:
            blocks = _counted(blocks)
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
        return total

    def _height(self, u: arb) -> arb:
        """Enclose h at a distance."""
        x = {"right": u, "middle": -u, "left": -self.d - u}[self.where]
        return height(arb(self.p), self.d, self.a, x)

    def half_width(self, u: float) -> float:
        """Return about how wide the half of a block from a distance on may be, from floats."""
        r: float = _REACH * u / (_RHO - _REACH)
        if self.where == "middle":
            r = min(r, _REACH * (float(self.d) - u) / (_RHO + _REACH))
        for _ in range(_MOST_CUTS):
            radius = _RHO * r
            if radius * max(self._slope(u + r + radius), self._slope(u + r - radius)) <= _CHANGE:
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
        radius = (_RHO * r).upper()
        if not (r > 0 and c > radius and (self.where != "middle" or self.d - c > radius)):
            return None
        change = radius * self._slope_on(acb(c + arb(0, radius), arb(0, radius)))
        if not change < _MOST_CHANGE:
            return None
        middle = self._height(c)
        most = (middle + change).upper()
        bits = ctx.prec + _SPARE_BITS + (float(most) - self.top) / math.log(2.0)
        terms = max(math.ceil(bits / _BITS_EACH), 2) if math.isfinite(bits) else ctx.prec
        size = 2 * r if half is None else arb(2 * half + 1)
        rest = size * most.exp() / (arb(2) ** (_BITS_EACH * terms) * (1 - arb(1) / _RHO))
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
