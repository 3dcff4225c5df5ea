"""The transform of the loss of noise of any order, by integrals and sums over blocks.

=========  ====================================================================================================
L, M       the loss |x + d|^p - |x|^p and its transform E e^(zeta L), see `ggdp.proofs.loss_transform`
R, Omega   the largest real part of any zeta or -1 - zeta, and the largest |Im zeta|
R'         the largest real part of those that are not real
=========  ====================================================================================================

Claim. Mirrored about -d/2, noise x has the loss -L, and M is a sum of integrals of exp(-x^p + zeta V)
and exp(-x^p - (1 + zeta) V) over x >= 0 with V = (x + d)^p - x^p, and over x from 0 to d/2 with V = (d - x)^p - x^p; on
the integers it is one of sums, the second over 0 < x < d, where integers mirror each other, with half a weight.
They are taken over blocks by `ggdp.proofs.block_rules`, with these bounds for all points zeta at once:

1. On an ellipse with the half-axes P and Q around c, |x| is between c - P and c + P, and |arg x| is at most alpha with
   tan(alpha)^2 = Q^2 / (c^2 - P^2), by the tangents from 0. So -Re x^p <= -(c - P)^p cos(p alpha) if p alpha <= pi/2,
   and at most (c + P)^p in any case. V is the integral of p (x + s)^(p-1) over s from 0 to d: |V| <= H with
   H = p d (c + P + d)^(p-1), and |arg V| <= (p - 1) alpha. If (p - 1) alpha <= pi/2, Re zeta V is at most H max(R, 0)
   for real zeta, and else H (max(R', 0) + Omega sin((p - 1) alpha)); it is at most H |zeta| in any case. Between 0 and
   d/2, with P < c and c + P < d, |x| and |d - x| are below d: |V| <= 2 d^p and |V'| <= 2 p d^(p-1), so that
   |Im V| <= 2 p d^(p-1) Q, as V is real on the axis; and Re zeta V <= (1 + R) |V| + Omega |Im V|.
2. Up to a small x_0 the integrand is taken as that at 0. It differs by at most e^(R (x_0 + d)^p) times
   |1 + zeta| x^p + |zeta| p x (x_0 + d)^(p-1).
3. Beyond X, with lambda = R p d (1 + d/X)^(p-1) / X < 1, it is at most exp(-(1 - lambda) x^p), as lambda falls with X;
   and the integral of that is at most exp(-(1 - lambda) X^p) / ((1 - lambda) p X^(p-1)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from flint import acb, acb_mat, arb

from ggdp._balls import power
from ggdp.proofs.block_rules import counting_rule, gauss_rule
from ggdp.proofs.integer_sums import normaliser

if TYPE_CHECKING:
    from ggdp.proofs.noise_law import NoiseLaw

# Errors are about 2^-46, so that those of ten thousand losses are not seen in a delta of eight digits; those of a block
# are smaller.
_BITS = 46
_SMALL = 2.0**-50
# Integers are summed one by one up to here, and then in blocks of a power of two of them by rules of so many points.
_FIRST, _POINTS = 32, 24
_MOST_INTEGERS = 1 << 14
# Shapes of blocks and ellipses to choose from.
_RATIOS = (4.0, 3.0, 2.2, 1.7, 1.4, 1.2, 1.1, 1.05, 1.02, 1.01, 1.004)
_PARTS = (0.004, 0.012, 0.04, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9)


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """The points theta + i k spacing for k from 0 to `last`, and real points."""

    tilt: float
    spacing: arb
    last: int
    reals: tuple[float, ...] = ()

    @property
    def right(self) -> float:
        """The largest real part of any zeta or -1 - zeta, at least 0; rounded up."""
        return max(self.tilt, 0.0, *(max(real, math.nextafter(-1.0 - real, math.inf)) for real in self.reals))

    @property
    def along(self) -> float:
        """The largest real part of any zeta or -1 - zeta on the line itself, which is right of -1/2; at least 0."""
        return max(self.tilt, 0.0)

    @property
    def top(self) -> arb:
        """The largest imaginary part."""
        return self.spacing * self.last

    @property
    def modulus(self) -> arb:
        """A bound of |zeta| and |1 + zeta|."""
        return 1 + arb(self.right) + self.top


class Transform(NamedTuple):
    """Values of M on a line, and at its real points."""

    values: list[acb]
    reals: list[arb]


class _Node(NamedTuple):
    """A point x of a rule: its weight, x^p, and V there."""

    weight: arb
    power: arb
    loss: arb


class _Place(NamedTuple):
    """The lower end of a block, rho of an ellipse around it, and how many points the rule has."""

    low: float
    rho: float
    number: int


def summed_transform(law: NoiseLaw, size: float, line: Line) -> Transform:
    """Enclose M by blocks, for any order."""
    p, b, d = arb(law.order), arb(law.scale), arb(size) / arb(law.scale)
    if law.support == "real":
        normal = 2 * (1 + 1 / p).gamma()
        nodes, error = _on_reals(law.order, p, d, line)
    else:
        normal = normaliser(law.order, law.scale)
        nodes, error = _on_integers(law.order, p, b, int(size), line)
    return _total(nodes, error, normal, line)


def _total(nodes: list[_Node], error: arb, normal: arb, line: Line) -> Transform:
    """Add exp(-x^p + zeta V) and exp(-x^p - (1 + zeta) V) over all nodes, and divide by the normaliser."""
    if not error.is_finite():
        return Transform([acb(math.nan)] * (line.last + 1), [arb(math.nan)] * len(line.reals))
    tilt, turn = arb(line.tilt), 1 + 2 * arb(line.tilt)
    # exp(i k spacing V) for all k, as products of two factors each: one product of matrices adds all nodes.
    steps = math.isqrt(line.last) + 1
    left: list[list[acb]] = [[] for _ in range(2 * steps)]
    right: list[list[acb]] = []
    totals = [arb(0)] * len(line.reals)
    differences = [arb(real) - tilt for real in line.reals]
    for weight, exponent, v in nodes:
        first = weight * (tilt * v - exponent).exp()
        second = first * (-turn * v).exp()
        unit = acb(arb(0), line.spacing * v).exp()
        rotated = acb(1)
        for i in range(steps):
            left[i].append(rotated * first)
            left[steps + i].append(rotated * second)
            rotated *= unit
        giant = acb(1)
        row = [giant]
        for _ in range(steps):
            giant *= rotated
            row.append(giant)
        right.append(row)
        for j, difference in enumerate(differences):
            rise = (difference * v).exp()
            totals[j] += first * rise + second / rise
    product = acb_mat(left) * acb_mat(right)
    rest = (error / normal).upper()
    off = arb(0, rest)
    values = []
    for k in range(line.last + 1):
        j, i = divmod(k, steps)
        values.append((product[i, j] + product[steps + i, j].conjugate()) / normal + acb(off, off))
    return Transform(values, [total / normal + off for total in totals])


def _node(p: arb, x: arb, d: arb, weight: arb, inner: bool = False) -> _Node:
    here = power(x, p)
    return _Node(weight, here, (power(d - x, p) if inner else (x + d) ** p) - here)


def _largest(p: arb, d: arb, c: arb, wide: arb, tall: arb, line: Line, inner: bool) -> arb:
    """Bound |exp(-x^p + zeta V)| on an ellipse, for all points of the line and their mirror images."""
    far = c + wide
    if not c > wide:
        return arb(math.inf)
    if inner:
        if not far < d:
            return arb(math.inf)
        return (far**p + 2 * d**p * (1 + arb(line.right)) + 2 * p * d ** (p - 1) * tall * line.top).exp()
    alpha = (tall / (c**2 - wide**2).sqrt()).atan()
    quarter = arb.pi() / 2
    exponent = -((c - wide) ** p) * (p * alpha).cos() if p * alpha <= quarter else far**p
    high = p * d * (far + d) ** (p - 1)
    if (p - 1) * alpha <= quarter:
        # A real zeta turns nothing: with V in the right half-plane, Re zeta V <= zeta |V|.
        turned = arb(line.along) + line.top * ((p - 1) * alpha).sin()
        return (exponent + high * turned.max(arb(line.right))).exp()
    return (exponent + high * line.modulus).exp()


def _beyond(p: arb, d: arb, end: arb, line: Line) -> arb:
    """Bound the integral of the same beyond an end."""
    share = line.right * p * d * (1 + d / end) ** (p - 1) / end
    if not share < 1:
        return arb(math.inf)
    return (-(1 - share) * end**p).exp() / ((1 - share) * p * end ** (p - 1))


def _on_reals(order: float, p: arb, d: arb, line: Line) -> tuple[list[_Node], arb]:
    """Return the nodes of both integrals, and a bound of their error for each point of the line."""
    nodes, error = [], arb(0)
    exact = float(d), line.right, line.along, float(line.top)
    for inner in (False, True):
        used = tuple(_rounded(value) for value in exact)
        top, places, fine = _places(order, *used, inner)
        if not fine:
            used = exact
            top, places, _ = _places(order, *used, inner)
        scale = float(d) / used[0] if inner else 1.0
        edge = d / 2 if inner else arb(top)
        if not inner:
            error += _beyond(p, d, edge, line)
        # Blocks follow each other without a gap, from the edge down.
        for low, rho, number in places:
            bottom = arb(scale * low)
            c, r, rule = (edge + bottom) / 2, (edge - bottom) / 2, gauss_rule(number)
            ellipse = arb(rho)
            wide, tall = r * (ellipse + 1 / ellipse) / 2, r * (ellipse - 1 / ellipse) / 2
            error += r * rule.error(_largest(p, d, c, wide, tall, line, inner), ellipse)
            nodes += [_node(p, c + r * x, d, r * w, inner) for x, w in zip(rule.points, rule.weights, strict=True)]
            edge = bottom
        # From there on the integrand is taken as that at 0.
        nodes.append(_node(p, arb(0), d, edge, inner))
        change = edge ** (p + 1) + edge**2 * p * (edge + d) ** (p - 1)
        error += line.modulus * change * (line.right * (edge + d) ** p).exp()
    return nodes, 2 * error


def _on_integers(order: float, p: arb, b: arb, size: int, line: Line) -> tuple[list[_Node], arb]:
    """The same for the sums over the integers."""
    if size > _MOST_INTEGERS:
        return [], arb(math.inf)
    d = size / b
    end = _end(order, float(d), line.right) * float(b)
    nodes = [_node(p, k / b, d, arb(1)) for k in range(_FIRST)]
    # Between 0 and the size integers mirror each other: each has half a weight for each of the two integrands.
    nodes += [_node(p, k / b, d, arb(0.5), inner=True) for k in range(1, size)]
    error, first = arb(0), _FIRST
    while first <= end:
        for start, number, rho in _divided(order, float(d), float(b), first, line):
            if rho == 0.0:
                nodes += [_node(p, k / b, d, arb(1)) for k in range(start, start + number)]
                continue
            rule, ellipse = counting_rule(number, _POINTS), arb(rho)
            c, r = (2 * start + number - 1) / (2 * b), (number - 1) / (2 * b)
            wide, tall = r * (ellipse + 1 / ellipse) / 2, r * (ellipse - 1 / ellipse) / 2
            error += rule.error(_largest(p, d, c, wide, tall, line, inner=False), ellipse)
            nodes += [_node(p, c + r * x, d, w) for x, w in zip(rule.points, rule.weights, strict=True)]
        first *= 2
        if first > _MOST_INTEGERS * _FIRST:
            return [], arb(math.inf)
    # The sum from `first` on is at most the integral from the integer before it.
    return nodes, 2 * (error + b * _beyond(p, d, (first - 1) / b, line))


# What follows chooses in floats; the bounds above hold whatever it returns.


def _rounded(x: float) -> float:
    """Round up to a few bits, so that blocks are shared by similar losses."""
    mantissa, exponent = math.frexp(x)
    return math.ldexp(math.ceil(mantissa * 8.0) / 8.0, exponent)


def _end(order: float, d: float, right: float) -> float:
    """Return about where the integrand is below 2^-_BITS."""
    end = (0.7 * _BITS + 4.0) ** (1.0 / order)
    for _ in range(40):
        share = right * order * d * (1.0 + d / end) ** (order - 1.0) / end
        if share < 0.9:
            enough = ((0.7 * _BITS + 4.0) / (1.0 - share)) ** (1.0 / order)
            if end >= enough:
                break
        end *= 1.05
    return float(end)


def _log_largest(
    order: float, d: float, right: float, along: float, top: float, c: float, wide: float, tall: float, inner: bool
) -> float:
    """Return about the logarithm of `_largest`."""
    far = c + wide
    if c <= wide or (inner and far >= d):
        return math.inf
    if inner:
        return float(far**order + 2.0 * d**order * (1.0 + right) + 2.0 * order * d ** (order - 1.0) * tall * top)
    alpha = math.atan(tall / math.sqrt(c * c - wide * wide))
    exponent = -((c - wide) ** order) * math.cos(order * alpha) if order * alpha < 1.57 else far**order
    high = order * d * (far + d) ** (order - 1.0)
    if (order - 1.0) * alpha < 1.57:
        return float(exponent + high * max(right, along + top * math.sin((order - 1.0) * alpha)))
    return float(exponent + high * (1.0 + right + top))


@lru_cache(maxsize=512)
def _places(
    order: float, d: float, right: float, along: float, turn: float, inner: bool
) -> tuple[float, tuple[_Place, ...], bool]:
    """Return where blocks start, and those from there down, with few nodes; and whether their errors are small."""
    start = top = 0.5 * d if inner else _end(order, d, right)
    least = top
    while (1.0 + right + turn) * (least ** (order + 1.0) + order * least**2 * (least + d) ** (order - 1.0)) > _SMALL:
        least *= 0.9
    found: list[_Place] = []
    fine = True
    while top > least:
        best, cost = _Place(max(top / 1.05, least), 2.0, 40), math.inf
        for ratio in _RATIOS:
            if cost < math.inf and ratio < 1.1:
                break
            low = max(top / ratio, least)
            c, r = 0.5 * (top + low), 0.5 * (top - low)
            y = r / c
            limit = 1.0 / y + math.sqrt(1.0 / y**2 - 1.0)
            for part in _PARTS:
                rho = 1.0 + part * (limit - 1.0)
                wide, tall = r * (rho + 1.0 / rho) / 2.0, r * (rho - 1.0 / rho) / 2.0
                size = _log_largest(order, d, right, along, turn, c, wide, tall, inner)
                if size < 200.0:
                    bits = math.log2(8.0 * r / (rho - 1.0) / _SMALL) + size * 1.4427
                    number = max(math.ceil((bits / math.log2(rho) + 1.0) / 2.0), 1)
                    if number <= 40 and (number + 1) / math.log(top / low) < cost:
                        best, cost = _Place(low, rho, number), (number + 1) / math.log(top / low)
        found.append(best)
        fine = fine and cost < math.inf
        top = best.low
    return start, tuple(found), fine


def _divided(order: float, d: float, b: float, first: int, line: Line) -> list[tuple[int, int, float]]:
    """Return blocks that make up the integers from `first` up to twice of it: start, number, and rho or 0 for none."""
    number, top = first, float(line.top)
    while number > _POINTS:
        found = []
        for start in range(first, 2 * first, number):
            c, r = (start + 0.5 * (number - 1)) / b, 0.5 * (number - 1) / b
            limit = c / r + math.sqrt((c / r) ** 2 - 1.0)

            def bits(rho: float, c: float = c, r: float = r) -> float:
                wide, tall = r * (rho + 1.0 / rho) / 2.0, r * (rho - 1.0 / rho) / 2.0
                size = _log_largest(order, d, line.right, line.along, top, c, wide, tall, False)
                return (_POINTS - 1) * math.log2(rho) - 1.4427 * size

            rho = max((1.0 + part * (limit - 1.0) for part in _PARTS), key=bits)
            if bits(rho) < _BITS + 4.0:
                break
            found.append((start, number, rho))
        else:
            return found
        number //= 2
    return [(first, first, 0.0)]
