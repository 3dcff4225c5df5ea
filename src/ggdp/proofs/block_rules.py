"""Integrals and sums of an analytic function over blocks, from its values at a few points, with proved errors.

=========  ====================================================================================================
c, r       middle and half-width of a block
rho        parameter of an ellipse around the block: with the foci c - r and c + r and the half-axes
           r (rho + 1/rho) / 2 and r (rho - 1/rho) / 2
M          a bound of |f| on the ellipse
mu         the measure: lengths on the reals, or the number of integers in the block
n          degree up to which a rule with the weights w is exact
=========  ====================================================================================================

Claim. A rule that is exact up to the degree n has an error of at most (mu + sum of |w|) 2 M rho^-n / (rho - 1). Proof:
an f that is analytic in the ellipse is within 2 M rho^-n / (rho - 1) of a polynomial of degree n on the whole block,
its Chebyshev series cut off (Trefethen, "Approximation Theory and Approximation Practice", 2013, Theorem 8.2); for the
polynomial the rule is exact, and the rest counts once under mu and once under w.

On the reals this is Gauss's rule, of degree 2 m - 1 with m points. For sums over integers it is the rule through the m
Chebyshev points, of degree m - 1: w_q = (mu_0 + 2 sum over j of mu_j T_j(x_q)) / m, with mu_j the sum of T_j over the
integers, since (T_0 + 2 sum of T_j(x_q) T_j) / m are the Lagrange polynomials of these points.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

from flint import arb, ctx, fmpq


class Rule(NamedTuple):
    """Points between -1 and 1, their weights, the degree, and the measure plus the sum of the absolute weights."""

    points: tuple[arb, ...]
    weights: tuple[arb, ...]
    degree: int
    size: arb

    def error(self, largest: arb, rho: arb) -> arb:
        """Bound the error for a function with |f| <= largest on the ellipse of rho."""
        return self.size * 2 * largest * rho**-self.degree / (rho - 1)


def gauss_rule(number: int) -> Rule:
    """Return Gauss's rule for the integral from -1 to 1."""
    return _gauss_rule(number, ctx.prec)


def counting_rule(integers: int, number: int) -> Rule:
    """Return the rule for the sum over so many integers, equally far apart from -1 to 1."""
    return _counting_rule(integers, number, ctx.prec)


@lru_cache(maxsize=256)
def _gauss_rule(number: int, _bits: int) -> Rule:
    """Return the rule, made once for each precision."""
    found = [arb.legendre_p_root(number, k, weight=True) for k in range(number)]
    return Rule(tuple(x for x, _ in found), tuple(w for _, w in found), 2 * number - 1, arb(4))


@lru_cache(maxsize=256)
def _counting_rule(integers: int, number: int, _bits: int) -> Rule:
    """Return the rule, made once for each precision."""
    points = tuple(arb.cos_pi_fmpq(fmpq(2 * q + 1, 2 * number)) for q in range(number))
    # By symmetry the sums of odd degrees vanish.
    places = [arb(fmpq(2 * k, integers - 1)) - 1 for k in range(integers)]
    before, now, sums = [arb(1)] * integers, places, [arb(integers), arb(0)]
    for degree in range(2, number):
        before, now = now, [2 * x * t - u for x, t, u in zip(places, now, before, strict=True)]
        sums.append(sum(now, arb(0)) if degree % 2 == 0 else arb(0))
    weights = tuple(
        (sums[0] + 2 * sum((sums[j] * x.chebyshev_t(j) for j in range(2, number, 2)), arb(0))) / number for x in points
    )
    return Rule(points, weights, number - 1, integers + sum((abs(w) for w in weights), arb(0)))
