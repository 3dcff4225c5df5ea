"""The paper's bound for several coordinates: all noise and all moves taken by their absolute values.

===========  ====================================================================================================
x_k, d_k     standard noise and D_k / b, in units of the scale
Y_k          (|x_k| + d_k)^p - |x_k|^p - d_k^p, at least 0 and rising with |x_k|
t            epsilon - sum d_k^p, or epsilon - (Delta_p / b)^p where a joint l_p bound is known and smaller
A, phi(v)    one coordinate of the largest size, and P(Y_A > t - v)
V            the sum of the other Y_k
h            step of the grid on which V is laid
===========  ====================================================================================================

Claim: noise of order p is (epsilon, P(sum Y_k > t))-pDP. Proof: the loss is at most
sum [(|x_k| + |m_k|)^p - |x_k|^p] for any move m; written as the sum of Y_k at |m_k| and of |m_k|^p, the first rises
with |m_k|, and the second is at most sum d_k^p and (Delta_p / b)^p.

Claim (halves): let p >= 2, and let V' be V with the mass of each cell (i h, (i+1) h) of each Y_k put on its two ends,
one half each. With s = d_A^(1-p) / Gamma(1/p), the height of the density of Y_A at 0, and n the number of coordinates
in V,

    P(sum Y_k > t) = E phi(V) <= E phi(V') + s h n B / 4,

where B bounds P(S + F in [t/h - 1, t/h)), S being the sum of the numbers of the cells and F a sum of n - 1 independent
variables on [0, 1] with mean 1/2. Proof: y(z) has the slope p ((z + d)^(p-1) - z^(p-1)), which does not fall with z,
and |x| has a falling density, so Y_k has a falling density g_k. (1) In a cell it is stochastically below the uniform
law, and phi rises: let U be V with uniform cells. (2) phi(v) + s (v - t)_+ is convex: its slope is g_A(t - v), rising
up to g_A(0) = s at t, and s beyond. Putting a uniform law on its two ends raises the mean of a convex function, so
E phi(U) <= E phi(V') + s [E (V' - t)_+ - E (U - t)_+]. (3) Go from U to V' one coordinate at a time. With the sum W of
the others as it is then, E (y + W - t)_+ has the slope P(W > t - y), and in a cell it lies below the chord at the
middle by at most h/4 times what the slope gains there. Over the cells i of the coordinate that adds up to h/4 times
P(W + h i in [t - h, t)), and W is h times the cell numbers plus h F, whatever was already moved. B is the largest mass
of S within x + 1 of t/h - (n-1)/2, plus 2 exp(-2 x^2 / (n-1)) by Hoeffding.

Where s is large, phi is first replaced, from some v_0 < t on, by its chord up to (t, 1). It lies above phi, which is
convex up to t, is convex up to t itself, and has the last slope (1 - phi(v_0)) / (t - v_0) in place of s.

For few coordinates the share of the first cells, where Y_k may have a spike, is a bound of the mean of Y_k / h - i
there in place of one half (each of many parts of the cell taken as uniform). In (1) U is then any law above it with
that mean; F may depend on the cells, and B is the mass of S from t/h - n - 1 to t/h + 1.

For 1 < p < 2, and on the integers, each cell is put wholly on its upper end, which only needs that phi rises.

References
----------
Liu, arXiv 1602.06028 v5, Cor. GGMpDP (with b^p epsilon - Delta_p^p where v5 prints b^p - Delta_p^p epsilon).
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ggdp import _validate
from ggdp.distributions.enclosures import BALLS, power, upper_float, working_precision
from ggdp.distributions.integer_sums import tail
from ggdp.loss.absolute_sum_plan import crossing_points, inner_points, plan
from ggdp.loss.convolution import convolved
from ggdp.loss.corner_plan import checked_corner
from ggdp.loss.crossing import at_most
from ggdp.loss.dominating import OnGrid
from ggdp.loss.enclosed import EXACT, Enclosed

if TYPE_CHECKING:
    from ggdp.loss.absolute_sum_plan import AbsolutePlan
    from ggdp.loss.corner_plan import Corner
    from ggdp.loss.crossing import Floats

__all__ = ["delta_of_absolute_sum"]


def delta_of_absolute_sum(
    *,
    order: float,
    scale: float,
    corner: Corner,
    epsilon: float,
    support: str,
    joint: float | None = None,
) -> Enclosed:
    """Bound from above the paper's delta for noise of this order and scale.

    Parameters
    ----------
    order, scale : float
        Order (at least 1) and scale of the noise.
    corner : tuple of (size, count)
        Distinct sizes and how many coordinates move by at most each; integers where the support is integer.
    epsilon : float
        The epsilon of the guarantee.
    support : {"real", "integer"}
        Where the noise lives.
    joint : float, optional
        A known bound of the l_p norm of the whole move, p being the order.

    Returns
    -------
    Enclosed
        `upper` is proved; `lower` is 0.

    Notes
    -----
    Rounding: every step moves the sum up. The grid is chosen from the arguments alone, so a call can be repeated.

    Examples
    --------
    >>> corner = ((1.0, 1), (0.1, 1), (0.05, 1))
    >>> delta = delta_of_absolute_sum(order=2, scale=3.258266, corner=corner, epsilon=1.0, support="real")
    >>> 0.0499999 < delta.upper <= 0.05
    True
    """
    _validate.order(order=order)
    _validate.positive(scale=scale)
    _validate.positive(epsilon=epsilon)
    checked_corner(corner, support)
    if joint is not None:
        _validate.positive(joint=joint)
    if order == 1.0:
        norm = sum((count * Fraction(size) for size, count in corner), Fraction(0))
        norm = norm if joint is None else min(norm, Fraction(joint))
        passes = norm <= Fraction(epsilon) * Fraction(scale)
        return Enclosed(lower=0.0, upper=0.0 if passes else 1.0, precision=EXACT)
    chosen = plan(order=order, scale=scale, corner=corner, epsilon=epsilon, support=support, joint=joint)
    if chosen is None:
        return Enclosed(lower=0.0, upper=1.0, precision=EXACT)
    with BALLS, working_precision(chosen.precision):
        t = _threshold(order, scale, corner, epsilon, joint)
        if not t > 0:
            return Enclosed(lower=0.0, upper=1.0, precision=chosen.precision)
        value, truncation = _bound(chosen, t, order, scale, support)
        return Enclosed(
            lower=0.0,
            upper=min(upper_float(value), 1.0),
            precision=chosen.precision,
            grid=chosen.step if chosen.others else None,
            truncation=min(upper_float(truncation), 1.0) if chosen.others else None,
        )


def _threshold(order: float, scale: float, corner: Corner, epsilon: float, joint: float | None) -> arb:
    """Enclose t, by the better of the two bounds of the sum of |m_k|^p."""
    p, b = arb(order), arb(scale)
    own = sum((count * (arb(size) / b) ** p for size, count in corner), arb(0))
    if joint is None:
        return arb(epsilon) - own
    known = (arb(joint) / b) ** p
    return arb(epsilon) - (known if known <= own else own)


def _bound(chosen: AbsolutePlan, t: arb, order: float, scale: float, support: str) -> tuple[arb, arb]:
    """Bound P(sum Y_k > t); and how much of the bound is mass that left the grid."""
    step = arb(chosen.step)
    tails = _integer_tails if support == "integer" else _real_tails
    last = int(upper_float(t / step)) + 1
    while not last * step <= t:
        last -= 1
    if not chosen.others:
        return tails(order, scale, chosen.main, [t], np.array([chosen.threshold]))[0], arb(0)
    cells, laid = [], []
    for other in chosen.others:
        knots = range(other.high + 1)
        from_knot = tails(
            order, scale, other.size, [k * step for k in knots], chosen.step * np.arange(other.high + 1.0)
        )
        masses = [low - high for low, high in pairwise(from_knot)]
        shares = [arb(0.5 if chosen.halved else 1)] * len(masses)
        if chosen.refined:
            first_shares = _shares(order, scale, other.size, chosen.step, from_knot)
            shares[: len(first_shares)] = first_shares
        laid.append((_laid(step, masses, shares, 1 - from_knot[0], from_knot[-1]), other.count))
        cells.append((OnGrid(step, 0, masses, arb(0)), other.count))
    total = convolved(laid, chosen.window)
    # From v = t down, as far as phi is worth following; below that it is at most its last value.
    first = max(last - chosen.depth, total.low, 0)
    levels = [t - k * step for k in range(first, last + 1)]
    guesses = chosen.threshold - chosen.step * np.arange(first, last + 1)
    phi = tails(order, scale, chosen.main, levels, np.maximum(guesses, 0.0))
    phi, slope = _flattened(chosen, phi, t - first * step, order, scale)
    value = total.infinite
    for j, mass in enumerate(total.masses):
        k = total.low + j
        value += mass if k > last else mass * phi[max(k - first, 0)]
    if chosen.halved:
        many = sum(other.count for other in chosen.others)
        value += slope * step * many / 4 * _near_threshold(cells, chosen, t / step, many)
    return value, total.infinite


def _flattened(chosen: AbsolutePlan, phi: list[arb], reach: arb, order: float, scale: float) -> tuple[list[arb], arb]:
    """Replace phi by its chord over the last cells before t where it is steep; and bound its last slope.

    `reach` is the distance to t from the first place at which phi is given.
    """
    if not chosen.chord:
        d = arb(chosen.main) / arb(scale)
        return phi, d ** (1 - arb(order)) / (1 / arb(order)).gamma()
    start = max(len(phi) - 1 - chosen.chord, 0)
    length = reach - start * arb(chosen.step)
    base = phi[start]
    chord = [base + (1 - base) * j * arb(chosen.step) / length for j in range(len(phi) - start)]
    return phi[:start] + chord, 1 / length


def _laid(step: arb, cells: list[arb], shares: list[arb], lowest: arb, highest: arb) -> OnGrid:
    """Put every cell on its ends, the given share of it on the upper one."""
    masses = [arb(0)] * (len(cells) + 1)
    masses[0] = lowest
    for i, (mass, share) in enumerate(zip(cells, shares, strict=True)):
        up = mass * share
        masses[i] += mass - up
        masses[i + 1] += up
    return OnGrid(step, 0, masses, highest)


def _shares(order: float, scale: float, size: float, step: float, from_knot: list[arb]) -> list[arb]:
    """Bound the mean of Y/h - i in each of the first cells i by taking many parts of it as uniform."""
    p, d = arb(order), arb(size) / arb(scale)
    shares = []
    for i, inner in enumerate(inner_points(order, size / scale, step, len(from_knot) - 1)):
        points = [arb(float(z)) for z in inner]
        tails = [from_knot[i], *((z**p).gamma_upper(1 / p, regularized=1) for z in points), from_knot[i + 1]]
        knot = i * arb(step)
        values = [arb(0), *((z + d) ** p - z**p - d**p - knot for z in points), arb(step)]
        mean = arb(0)
        for j in range(len(points) + 1):
            mean += (tails[j] - tails[j + 1]) * (values[j] + values[j + 1]) / 2
        share = (mean / (arb(step) * (from_knot[i] - from_knot[i + 1]))).upper()
        # Half is always enough, and the points are only floats: where they are out of order, half it is.
        ordered = all(low >= high for low, high in pairwise(tails))
        shares.append(share if ordered and share <= 0.5 else arb(0.5))
    return shares


def _near_threshold(cells: list[tuple[OnGrid, int]], chosen: AbsolutePlan, place: arb, many: int) -> arb:
    """Bound B, with place = t/h."""
    depth = chosen.precision * math.log(2.0) / 2.0
    x = min(math.ceil(math.sqrt((many - 1) / 2.0 * depth)), (many - 1) // 2 + 1)
    # F stays within (n-1)/2 of its mean, so that Hoeffding is not needed where x is as large.
    rest = arb(0) if 2 * x >= many - 1 else 2 * (-2 * arb(x) ** 2 / (many - 1)).exp()
    numbers = convolved(cells, chosen.window)
    if chosen.refined:
        # F is somewhere between 0 and n - 1.
        low, high = math.floor(-upper_float(-place)) - many - 1, math.ceil(upper_float(place)) + 1
        inside = range(max(low, 0), min(high, chosen.window.top) + 1)
        masses = (numbers.masses[(k - numbers.low) % len(numbers.masses)] for k in inside)
        return sum(masses, numbers.infinite).upper()
    centre = place - arb(many - 1) / 2
    low, high = math.floor(-upper_float(-centre)) - x - 2, math.ceil(upper_float(centre)) + x + 2
    # Above the window a mass is at most the whole tail, below it at most what the circle shows.
    reached = range(max(low, 0), min(high, chosen.window.top) + 1)
    most = max((upper_float(numbers.masses[(k - numbers.low) % len(numbers.masses)]) for k in reached), default=0.0)
    return arb(max(most, upper_float(numbers.infinite))) + rest


def _real_tails(order: float, scale: float, size: float, levels: list[arb], guesses: Floats) -> list[arb]:
    """Enclose P(|x| > z) for points z at or just below where Y passes the levels, which are at least 0."""
    p, d = arb(order), arb(size) / arb(scale)
    own = d**p
    result = []
    for level, guess in zip(levels, crossing_points(order, size / scale, guesses), strict=True):
        z = max(at_most(p, d, level + own, float(guess)), 0.0) if guess > 0.0 else 0.0
        result.append((arb(z) ** p).gamma_upper(1 / p, regularized=1) if z > 0.0 else arb(1))
    return result


def _integer_tails(order: float, scale: float, size: float, levels: list[arb], guesses: Floats) -> list[arb]:
    """Enclose P(|K| >= k) for integers k below which all values of Y are at most the levels, which are at least 0."""
    p, unit, shift = arb(order), arb(scale) ** arb(order), int(size)

    def value_at(k: int) -> arb:
        return (power(arb(k + shift), p) - power(arb(k), p) - power(arb(shift), p)) / unit

    found: dict[int, arb] = {}
    result = []
    for level, guess in zip(levels, crossing_points(order, size / scale, guesses), strict=True):
        k = math.floor(float(guess) * scale) + 1
        jump = 1
        while k > 1 and not value_at(k - 1) <= level:
            k, jump = max(k - jump, 1), 4 * jump
        if k not in found:
            found[k] = 2 * tail(order, scale, k)
        result.append(found[k])
    return result
