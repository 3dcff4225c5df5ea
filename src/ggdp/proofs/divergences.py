"""Renyi and concentrated guarantees of a noise, each between two proved floats.

==========  =====================================================================================
D_alpha     Renyi divergence of order alpha, the largest over the moves that the sensitivity allows
rho         the largest of D_alpha / alpha over alpha > 1: the noise is rho-zCDP, and no less
d           D / b for one coordinate; ||d||_2 of all coordinates at order 2
==========  =====================================================================================

Coordinates are independent, so divergences add up, and the far corner is the worst move: the Renyi divergence is
monotone in the trade-off function, as delta is. A norm alone is dominated by a move of one coordinate with the l_1 norm
(`ggdp.proofs.profile`); at order 2 it is alpha ||d||_2^2.

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
"""

from __future__ import annotations

import heapq
import math
from typing import TYPE_CHECKING

from flint import arb

from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp.proofs.attained import ATTAINED
from ggdp.proofs.integer_sums import normaliser
from ggdp.proofs.profile import pure_between
from ggdp.proofs.renyi import renyi_of_shift

if TYPE_CHECKING:
    from ggdp.proofs.profile import Between, NoisyQuery

_PRECISION = 128
THETAS = (0.3, 0.6, 0.9, 0.99, 0.999)
FARTHEST = 2.0**12
CLOSE = 1.002
MOST_SPLITS = 60


def renyi_between(noisy: NoisyQuery, alpha: float) -> Between:
    """Return two floats with the Renyi divergence of order alpha between them, for an alpha above 1."""
    query = noisy.sensitivity
    uppers, lowers = [], [0.0]
    if noisy.law.order == 2.0:
        most = _square(noisy, query.lp(2))
        with BALLS, working_precision(_PRECISION):
            uppers.append(upper_float(arb(alpha) * most))
            if noisy.law.support == "real" and noisy.is_attained:
                lowers.append(lower_float(arb(alpha) * most * arb(ATTAINED) ** 2))
    if query.kind != "norm":
        parts = [(_scalar(noisy, size, alpha), count) for size, count in query.corner]
        with BALLS, working_precision(_PRECISION):
            uppers.append(upper_float(sum((arb(part[1]) * count for part, count in parts), arb(0))))
            if noisy.is_attained:
                lowers.append(lower_float(sum((arb(part[0]) * count for part, count in parts), arb(0))))
    if query.joint is not None:
        uppers.append(_scalar(noisy, query.lp(1), alpha)[1])
    if noisy.law.support == "real" or query.largest >= 1.0:
        lowers.append(_scalar(noisy, query.largest, alpha)[0])
    upper = min(uppers)
    return min(max(lowers), upper), upper


def concentrated_between(noisy: NoisyQuery) -> Between:
    """Return two floats with the least rho of zero-concentrated DP between them; infinite at orders above 2."""
    if noisy.law.order > 2.0:
        return math.inf, math.inf
    if noisy.law.order == 2.0:
        query = noisy.sensitivity
        with BALLS, working_precision(_PRECISION):
            square = _square(noisy, query.lp(2))
            attained = noisy.is_attained and (noisy.law.support == "real" or query.kind != "norm")
            least = square * arb(ATTAINED) ** 2 if attained else _square(noisy, _whole(noisy, query.largest))
            return lower_float(least), upper_float(square)
    return _largest_ratio(noisy)


def _square(noisy: NoisyQuery, size: float) -> arb:
    """Enclose (size / b)^2."""
    return (arb(size) / arb(noisy.law.scale)) ** 2


def _whole(noisy: NoisyQuery, size: float) -> float:
    return float(math.floor(size)) if noisy.law.support == "integer" else size


def _scalar(noisy: NoisyQuery, size: float, alpha: float) -> Between:
    moved = _whole(noisy, size)
    if moved == 0.0:
        # No whole number moves.
        return 0.0, 0.0
    found = renyi_of_shift(noisy.law, sensitivity=moved, alpha=alpha)
    return found.lower, found.upper


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
    while end < FARTHEST and _beyond(noisy, end) > lower():
        start, end = end, 2.0 * end
        blocks.append(block(start, end))
    rest = _beyond(noisy, end)
    heapq.heapify(blocks)
    for _ in range(MOST_SPLITS):
        bound, first, last = blocks[0]
        if -bound <= max(CLOSE * lower(), rest):
            break
        heapq.heappop(blocks)
        middle = math.sqrt(first * last)
        heapq.heappush(blocks, block(first, middle))
        heapq.heappush(blocks, block(middle, last))
    upper = max(-blocks[0][0], rest)
    return min(lower(), upper), upper


def _beyond(noisy: NoisyQuery, start: float) -> float:
    """Bound D_alpha / alpha from above for all alpha >= start."""
    query, p = noisy.sensitivity, arb(noisy.law.order)
    if noisy.law.order == 1.0:
        return math.nextafter(pure_between(noisy)[1] / start, math.inf)
    corner = query.corner if query.kind != "norm" else ((query.lp(1), 1),)
    with BALLS, working_precision(_PRECISION):
        peak = max(start, 1.0 / (2.0 - noisy.law.order) * (1.0 + 1e-12))
        powers = sum(count * (arb(size) / arb(noisy.law.scale)) ** p for size, count in corner)
        coordinates = sum(count for _, count in corner)
        found = []
        for theta in THETAS:
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
