"""The sum of many losses, discretized at once, by the transforms of the losses.

A sum of thousands of losses that are added one by one is split thousands of times. Here it is split once.

=========  ====================================================================================================
p, d       order of the noise, and how far it moves in units of its scale
L, M       a loss |x + d|^p - |x|^p, and its transform M(zeta) = E e^(zeta L)
S          the sum of independent losses; its M is the product of the transforms of all losses
theta      tilt, above 0; S has the tilted law P_theta, e^(theta S) / M(theta) times its own
h, N       step and number of knots l_j = (low + j) h, the first of which are in use; T = N h
k(u)       how much of a loss that is u above a knot is split to it, between -h and h
K(zeta)    the integral of k(u) e^(-zeta u)
omega_k    2 pi k / T; phi(omega) = M(theta + i omega) / M(theta) for real frequencies, phi_i that of one loss
=========  ====================================================================================================

Claim (the sum). With w_j = E_theta e^(-theta (S - l_j)) k(S - l_j), the mass of the split sum on the knot l_j is
M(theta) e^(-theta l_j) w_j, for all integers j. The sum of w_(j + m N) over all integers m is
W_j = 1/T sum over all k of K(theta + i omega_k) phi(omega_k) e^(-i omega_k l_j). Proof: k is continuous and vanishes
outside of -h to h, so its periodic sum has an absolutely convergent Fourier series, with these coefficients. A split
keeps the mass and the mean of e^(-loss), so k'' + k' is (delta_-h - (1 + q) delta_0 + q delta_h) / (1 - q) with
q = e^-h, and K(zeta) = (e^(zeta h) - 1) (1 - e^(-(1 + zeta) h)) / ((1 - q) zeta (1 + zeta)).

1. (Frequencies left out.) |K(theta + i omega)| is at most K(theta), as k >= 0, and at most C / omega^2 with
   C = (1 + e^(theta h)) (1 + e^(-(1 + theta) h)) / (1 - q). Where |phi| <= Phi between two frequencies a and b, there
   are at most 1 + (b - a) T / 2 pi of the omega_k, and |K phi| is at most Phi min(K(theta), C / a^2); from a on,
   1 / omega_k^2 adds up to at most 1 / a^2 + T / (2 pi a). Up to a further frequency |phi| is bounded at each omega_k
   by that of one kind of loss alone, since no factor of phi is above 1: its transform takes less time than those of
   all. Frequencies below 0 count the same.
2. (Knots left out.) W_j >= w_j, and all W_j together are above the w_j by the sum of w over all knots outside. Split
   to such a knot is S <= l_0 or S >= l_(N-1), and k(u) e^(-theta u) adds up to at most e^(theta h). By Chernoff,
   P_theta(S <= l_0) <= M(t) / M(theta) e^((theta - t) l_0) for t <= theta, and likewise above for t >= theta.
3. (Below the grid.) All this is raised to the lowest knot. For t <= 0 its weight there is at most
   E_theta e^(theta (l_0 - S)) over S <= l_0, and at most M(t) / M(theta) e^((theta - t) l_0).
4. (Above the grid.) This becomes infinite; its mass is at most P(S >= l_(N-1)) <= M(t) e^(-t l_(N-1)) for t >= 0.

So the weights W_j rounded up dominate S in the sense of `ggdp.proofs.loss_distribution`, with one split over the gap h;
the errors are their `Slack`.

Claim (closed forms). Mirrored about -d/2 noise has the loss -L, so that M(zeta) = M(-1 - zeta). Closed forms exist for
randomized response; order 1, where all noise above 0 has one loss and that below -d another; order 2 on the reals,
exp(d^2 zeta (1 + zeta)); order 2 on the integers, the same up to a ratio of theta functions, since by Poisson's formula
the sum of exp(-(k - a)^2 / b^2) over the integers k is b sqrt(pi) (1 + 2 sum over m of exp(-(pi b m)^2) cos(2 pi m a)).

Claim (other orders). M is a sum of integrals of exp(-x^p + zeta V) and exp(-x^p - (1 + zeta) V) over x >= 0 with
V = (x + d)^p - x^p, and over x from 0 to d/2 with V = (d - x)^p - x^p; on the integers it is one of sums, the second
over 0 < x < d, where integers mirror each other, with half a weight. They are taken over blocks, with these bounds for
all points zeta at once: R and R' are the largest real parts of any zeta or -1 - zeta, and of those that are not real,
Omega is the largest |Im zeta|.

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

Claim (blocks). Let f be analytic in the ellipse with the foci c - r and c + r and the half-axes r (rho + 1/rho) / 2 and
r (rho - 1/rho) / 2, and |f| <= F there. A rule with the weights w that is exact up to the degree n has an error of at
most (mu + sum of |w|) 2 F rho^-n / (rho - 1), mu being the length of the block or the number of its integers. Proof: f
is within 2 F rho^-n / (rho - 1) of a polynomial of degree n on the whole block, its Chebyshev series cut off
(Trefethen, "Approximation Theory and Approximation Practice", 2013, Theorem 8.2); for the polynomial the rule is exact,
and the rest counts once under mu and once under w.

On the reals this is Gauss's rule, of degree 2 m - 1 with m points. For sums over integers it is the rule through the m
Chebyshev points, of degree m - 1: w_q = (mu_0 + 2 sum over j of mu_j T_j(x_q)) / m, with mu_j the sum of T_j over the
integers, since (T_0 + 2 sum of T_j(x_q) T_j) / m are the Lagrange polynomials of these points.

Claim (low frequencies). Let D be the difference of two independent tilted losses, so that |phi_i|^2 = E cos(omega D).
|phi_i(omega)|^2 <= 1 - A omega^2 + B omega^4 for every A <= E D^2 / 2 and B >= E D^4 / 24, as
cos y <= 1 - y^2/2 + y^4/24. Since 1 - cos y <= y^2/2, A = (1 - |phi_i(omega_1)|^2) / omega_1^2 will do; and since
cosh y >= 1 + y^2/2 + y^4/24, so will B = (E cosh(s D) - 1 - A s^2) / s^4 with
E cosh(s D) = M(theta + s) M(theta - s) / M(theta)^2. The bound is convex in omega^2: between two frequencies it is at
most what it is at one of them.

Claim (high frequencies). Let F be the density of the tilted law in the noise z, and G = F / L' where L' > 0. For noise
on the reals of an order above 1, and any a < e, |phi_i(omega)| <= 1 - m + v / omega, with m the tilted probability of
noise between a and e or in the mirror image of that about -d/2, and v the sum of G(a) + G(e) + (total variation of G
between them) for both. Proof: between a and e the integral of F e^(i omega L) = G (e^(i omega L))' / (i omega) is taken
by parts; elsewhere it is at most the probability. In the mirror image the loss is -L, and F is that of the tilt
-1 - theta. Gaussian noise has |phi_i| = exp(-(d omega)^2), by its transform.

Where (log G)' = -p z^(p-1) + theta L' - L'' / L' has one sign between two points, the variation of G between them is
the difference of its values; F likewise is between two of its values where (log F)' has one sign, so that m and 1 - m
are bounded by sums, for a tilt above 0. Between 0 and the first point exp(theta L) is at most what it is there, in the
mirror image of that it is at most 1, and between -d and 0 the loss is at most d^p. Beyond the last point it is bounded
as beyond X above, with theta for R. Derivatives are enclosed by mean values: L' = p (p - 1) d x^(p-2) and
L'' = p (p - 1) (p - 2) d y^(p-3) for some x and y from z to z + d, so that L'' / L' is (p - 2) / y times (y / x)^(p-2).
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, count, pairwise
from typing import NamedTuple, TypeAlias

from flint import acb, acb_mat, arb, ctx, fmpq, fmpz, fmpz_mat, fmpz_poly

from ggdp._balls import hull, power, upper_float
from ggdp.errors import ArgumentError, CertificateError
from ggdp.proofs.layouts import SumLayout
from ggdp.proofs.loss_distribution import ONE, LossDistribution, Slack, Split
from ggdp.proofs.losses import CoordinateLoss, CountedLoss, Loss, ResponseLoss
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.tails import normaliser

# At how many points the variation of the density is followed.
_NUMBER = 128


@dataclass(frozen=True, slots=True)
class TiltedLoss:
    """A loss, how many there are, and its transform on a line; its last two real points are theta + s and theta - s."""

    loss: Loss
    count: int
    transform: Transform
    s: float

    def phi(self, k: int) -> acb:
        """Return phi_i at a multiple of the spacing."""
        return self.transform.values[k] / self.transform.values[0].real


class Range(NamedTuple):
    """Frequencies from one to another, or from one on, and a bound of |phi| there."""

    first: arb
    last: arb | None
    bound: arb


def decay(losses: Sequence[TiltedLoss], tilt: float, spacing: arb, start: arb) -> list[Range]:
    """Bound |phi| of the sum of all losses for all frequencies from `start` on, in ranges."""
    # Losses whose density is known first: a few of them are often enough, and none can make a bound larger.
    remaining = sorted(losses, key=lambda one: (is_smooth(one.loss), one.count))
    bounds: list[Callable[[arb, arb | None], arb]] = []
    found = []
    ends = [start * arb(1.12) ** k for k in range(101)]
    for first, second in [*pairwise(ends), (ends[-1], None)]:
        total = arb(0)
        for i in count():
            if i == len(bounds):
                if not remaining:
                    break
                bounds.append(_log_bound(remaining.pop(), tilt, spacing))
            total += bounds[i](first, second)
            if total < -60:  # a bound that need not be smaller
                break
        found.append(Range(first, second, total.upper().exp()))
    return found


def is_smooth(loss: Loss) -> bool:
    """Say whether the loss has a density that the claim bounds."""
    return isinstance(loss, CoordinateLoss) and loss.law.support == "real" and loss.law.order != 1.0


def _log_bound(tilted: TiltedLoss, tilt: float, spacing: arb) -> Callable[[arb, arb | None], arb]:
    """Return a bound of log |phi_i|, times the number of losses, between two frequencies or from one on."""
    values, reals = tilted.transform
    whole, s = values[0].real, arb(tilted.s)
    slope = (1 - (abs(values[1]) / whole) ** 2) / spacing**2
    a = slope.lower()
    bend = (reals[-2] * reals[-1] / whole**2 - 1 - a * s**2) / s**4
    b, falls = bend.upper(), slope > 0 and bend.is_finite()
    high, gaussian = high_frequencies(tilted.loss, tilt, whole)

    def between(first: arb, second: arb | None) -> arb:
        found = -gaussian * first**2
        if second is not None and falls:
            most = (1 - (a - b * first**2) * first**2).max(1 - (a - b * second**2) * second**2)
            found = found.min(most.max(2.0**-200).log() / 2)
        for outside, variation in high:
            most = outside + variation / first
            if 0 < most < 1:
                found = found.min(most.log())
        return tilted.count * found

    return between


def high_frequencies(loss: Loss, tilt: float, whole: arb) -> tuple[tuple[tuple[arb, arb], ...], arb]:
    """Return pairs of 1 - m and v, and g with |phi_i| <= exp(-g omega^2), for a loss with M(theta) = whole."""
    if not is_smooth(loss):
        return (), arb(0)
    assert isinstance(loss, CoordinateLoss)
    p, d = arb(loss.law.order), arb(loss.size) / arb(loss.law.scale)
    if p == 2:
        return (), (d**2).lower()
    return _variations(p, d, arb(tilt), whole * 2 * (1 + 1 / p).gamma()), arb(0)


def _variations(p: arb, d: arb, tilt: arb, whole: arb) -> tuple[tuple[arb, arb], ...]:
    """Return pairs of 1 - m and v, for several a."""
    points = [arb(0.01 * 1.05**i) for i in range(_NUMBER)]
    inside, between, variations = ([arb(0)] * (_NUMBER - 1) for _ in range(3))
    ends, first = [arb(0)] * _NUMBER, points[0]
    # Noise below the first point, and beyond the last one.
    near = d * (tilt * d**p).exp() + first * (tilt * ((first + d) ** p - first**p)).exp() + first
    outside = (near + _integral_beyond(p, d, points[-1], tilt) + _integral_beyond(p, d, points[-1], arb(0))) / whole
    for theta in (tilt, -1 - tilt):
        densities, ratios = [], []
        for z in points:
            here, there = z**p, (z + d) ** p
            density = (theta * (there - here) - here).exp() / whole
            densities.append(density)
            ratios.append(density / (p * (there / (z + d) - here / z)))
        for i, (low, high) in enumerate(pairwise(points)):
            z, beside, apart = hull(low, high), hull(low, high + d), (1 + d / low) ** abs(p - 2)
            apart = hull(1 / apart, apart)
            # theta L' / (p z^(p-1)) - 1 first: it is narrower than the difference of both.
            rise = p * z ** (p - 1) * (theta * (p - 1) * d / z * apart - 1)
            bend = rise - (p - 2) / beside * apart
            if rise < 0 or rise > 0:
                inside[i] += (high - low) * densities[i].min(densities[i + 1])
                between[i] += (high - low) * densities[i].max(densities[i + 1])
            else:
                between[i] += (high - low) * densities[i] * (abs(rise) * (high - low)).exp()
            if bend < 0 or bend > 0:
                variations[i] += abs(ratios[i + 1] - ratios[i])
            else:
                # exp of the integral of (log G)' bounds G between the points.
                most = ratios[i] * (abs(bend) * (high - low)).exp()
                variations[i] += abs(bend) * most * (high - low)
        ends = [end + ratio for end, ratio in zip(ends, ratios, strict=True)]
    found, mass, variation = [], arb(0), ends[-1]
    below = list(accumulate(between, initial=outside))
    for i in reversed(range(_NUMBER - 1)):
        mass, variation = mass + inside[i], variation + variations[i]
        if i % 8 == 0:
            found.append(((1 - mass).min(below[i]).upper(), (variation + ends[i]).upper()))
    return tuple(found)


def _integral_beyond(p: arb, d: arb, end: arb, tilt: arb | float) -> arb:
    """Bound the integral of exp(-z^p + tilt L) beyond a point, for a tilt of at least 0."""
    share = tilt * p * d * (1 + d / end) ** (p - 1) / end
    if not share < 1:
        return arb(math.inf)
    return (-(1 - share) * end**p).exp() / ((1 - share) * p * end ** (p - 1))


class Rule(NamedTuple):
    """Points between -1 and 1, their weights, the degree, and the measure plus the sum of the absolute weights."""

    points: tuple[arb, ...]
    weights: tuple[arb, ...]
    degree: int
    size: arb

    def error(self, largest: arb, rho: arb) -> arb:
        """Bound the error for a function with |f| <= largest on the ellipse of rho."""
        return self.size * 2 * largest * rho**-self.degree / (rho - 1)


@lru_cache(maxsize=256)
def gauss_rule(number: int, _bits: int) -> Rule:
    """Return Gauss's rule for the integral from -1 to 1, made once for each working precision."""
    found = [arb.legendre_p_root(number, k, weight=True) for k in range(number)]
    return Rule(tuple(x for x, _ in found), tuple(w for _, w in found), 2 * number - 1, arb(4))


@lru_cache(maxsize=256)
def counting_rule(integers: int, number: int, _bits: int) -> Rule:
    """Return the rule for the sum over so many integers, equally far apart from -1 to 1, as `gauss_rule` does."""
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


# A point x of a rule: its weight, x^p, and V there.
_Node: TypeAlias = tuple[arb, arb, arb]


def summed_transform(law: NoiseLaw, size: float, line: Line) -> Transform:
    """Enclose M by blocks, for any order."""
    p, b, d = arb(law.order), arb(law.scale), arb(size) / arb(law.scale)
    if law.support == "real":
        normal = 2 * (1 + 1 / p).gamma()
        nodes, error = _on_reals(law.order, p, d, line)
    else:
        normal = normaliser(law.order, law.scale)
        nodes, error = _on_integers(law.order, p, b, int(size), line)
    if not error.is_finite():
        return Transform([acb(math.nan)] * (line.last + 1), [arb(math.nan)] * len(line.reals))
    # exp(-x^p + zeta V) and exp(-x^p - (1 + zeta) V) are added over all nodes, and divided by the normaliser.
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
        right.append(list(accumulate([rotated] * steps, operator.mul, initial=acb(1))))
        for j, difference in enumerate(differences):
            rise = (difference * v).exp()
            totals[j] += first * rise + second / rise
    product = acb_mat(left) * acb_mat(right)
    off = arb(0, (error / normal).upper())
    values = []
    for k in range(line.last + 1):
        j, i = divmod(k, steps)
        values.append((product[i, j] + product[steps + i, j].conjugate()) / normal + acb(off, off))
    return Transform(values, [total / normal + off for total in totals])


def _node(p: arb, x: arb, d: arb, weight: arb, inner: bool = False) -> _Node:
    here = power(x, p)
    return weight, here, (power(d - x, p) if inner else (x + d) ** p) - here


def _largest(p: arb, d: arb, c: arb, r: arb, rho: arb, line: Line, inner: bool) -> arb:
    """Bound |exp(-x^p + zeta V)| on an ellipse, for all points of the line and their mirror images."""
    wide, tall = r * (rho + 1 / rho) / 2, r * (rho - 1 / rho) / 2
    far = c + wide
    if not c > wide or (inner and not far < d):
        return arb(math.inf)
    if inner:
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


def _on_reals(order: float, p: arb, d: arb, line: Line) -> tuple[list[_Node], arb]:
    """Return the nodes of both integrals, and a bound of their error for each point of the line."""
    nodes, error = [], arb(0)
    exact = float(d), line.right, line.along, float(line.top)
    for inner in (False, True):
        used = tuple(_round(value) for value in exact)
        top, places, fine = _places(order, *used, inner)
        if not fine:
            used = exact
            top, places, _ = _places(order, *used, inner)
        scale = float(d) / used[0] if inner else 1.0
        edge = d / 2 if inner else arb(top)
        if not inner:
            error += _integral_beyond(p, d, edge, line.right)
        # Blocks follow each other without a gap, from the edge down.
        for low, rho, number in places:
            bottom = arb(scale * low)
            c, r, rule = (edge + bottom) / 2, (edge - bottom) / 2, gauss_rule(number, ctx.prec)
            error += r * rule.error(_largest(p, d, c, r, arb(rho), line, inner), arb(rho))
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
        for start, number, rho in _divide(order, float(d), float(b), first, line):
            if rho == 0.0:
                nodes += [_node(p, k / b, d, arb(1)) for k in range(start, start + number)]
                continue
            rule = counting_rule(number, _POINTS, ctx.prec)
            c, r = (2 * start + number - 1) / (2 * b), (number - 1) / (2 * b)
            error += rule.error(_largest(p, d, c, r, arb(rho), line, inner=False), arb(rho))
            nodes += [_node(p, c + r * x, d, w) for x, w in zip(rule.points, rule.weights, strict=True)]
        first *= 2
        if first > _MOST_INTEGERS * _FIRST:
            return [], arb(math.inf)
    # The sum from `first` on is at most the integral from the integer before it.
    return nodes, 2 * (error + b * _integral_beyond(p, d, (first - 1) / b, line.right))


# What follows chooses in floats; the bounds above hold whatever it returns.


def _round(x: float) -> float:
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
    order: float, d: float, right: float, along: float, top: float, c: float, r: float, rho: float, inner: bool
) -> float:
    """Return about the logarithm of `_largest`."""
    wide, tall = r * (rho + 1.0 / rho) / 2.0, r * (rho - 1.0 / rho) / 2.0
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
) -> tuple[float, tuple[tuple[float, float, int], ...], bool]:
    """Return where blocks start, those from there down with few nodes, and whether their errors are small.

    Of a block: its lower end, rho of an ellipse around it, and how many points the rule has.
    """
    start = top = 0.5 * d if inner else _end(order, d, right)
    least = top
    while (1.0 + right + turn) * (least ** (order + 1.0) + order * least**2 * (least + d) ** (order - 1.0)) > _SMALL:
        least *= 0.9
    found, fine = [], True
    while top > least:
        best, cost = (max(top / 1.05, least), 2.0, 40), math.inf
        for ratio in _RATIOS:
            if cost < math.inf and ratio < 1.1:
                break
            low = max(top / ratio, least)
            c, r = 0.5 * (top + low), 0.5 * (top - low)
            y = r / c
            limit = 1.0 / y + math.sqrt(1.0 / y**2 - 1.0)
            for part in _PARTS:
                rho = 1.0 + part * (limit - 1.0)
                size = _log_largest(order, d, right, along, turn, c, r, rho, inner)
                if size < 200.0:
                    bits = math.log2(8.0 * r / (rho - 1.0) / _SMALL) + size * 1.4427
                    number = max(math.ceil((bits / math.log2(rho) + 1.0) / 2.0), 1)
                    if number <= 40 and (number + 1) / math.log(top / low) < cost:
                        best, cost = (low, rho, number), (number + 1) / math.log(top / low)
        found.append(best)
        fine = fine and cost < math.inf
        top = best[0]
    return start, tuple(found), fine


def _divide(order: float, d: float, b: float, first: int, line: Line) -> list[tuple[int, int, float]]:
    """Return blocks that make up the integers from `first` up to twice of it: start, number, and rho or 0 for none."""
    number, top = first, float(line.top)
    while number > _POINTS:
        found = []
        for start in range(first, 2 * first, number):
            c, r = (start + 0.5 * (number - 1)) / b, 0.5 * (number - 1) / b
            limit = c / r + math.sqrt((c / r) ** 2 - 1.0)

            def bits(rho: float, c: float = c, r: float = r) -> float:
                size = _log_largest(order, d, line.right, line.along, top, c, r, rho, False)
                return (_POINTS - 1) * math.log2(rho) - 1.4427 * size

            rho = max((1.0 + part * (limit - 1.0) for part in _PARTS), key=bits)
            if bits(rho) < _BITS + 4.0:
                break
            found.append((start, number, rho))
        else:
            return found
        number //= 2
    return [(first, first, 0.0)]


def transform(loss: Loss, line: Line) -> Transform:
    """Enclose M at all points of a line, which lies to the right of -1/2."""
    if not line.tilt > -0.5:
        raise ArgumentError("tilt", line.tilt, "must be above -1/2")
    value = _closed_form(loss)
    if value is None:
        assert isinstance(loss, CoordinateLoss)
        return summed_transform(loss.law, loss.size, line)
    points = [acb(arb(line.tilt), line.spacing * k) for k in range(line.last + 1)]
    # M(zeta) = M(-1 - zeta).
    reals = [value(acb(arb(real) if real > -0.5 else -1 - arb(real))).real for real in line.reals]
    return Transform([value(point) for point in points], reals)


def _closed_form(loss: Loss) -> Callable[[acb], acb] | None:
    """Return M as a function of zeta; None where there is no closed form."""
    if isinstance(loss, ResponseLoss):
        if loss.delta != 0.0:
            raise ArgumentError("delta", loss.delta, "must be 0: an infinite loss has no transform")
        e = arb(loss.epsilon)
        truth = 1 / (1 + (-e).exp())
        return lambda zeta: truth * (zeta * e).exp() + (1 - truth) * (-zeta * e).exp()
    d, fall, size = arb(loss.size) / arb(loss.law.scale), -1 / arb(loss.law.scale), int(loss.size)
    q = fall.exp()

    def of_laplace(zeta: acb) -> acb:
        # The two atoms, and between them losses d - 2 x of noise -x.
        turn = 1 + 2 * zeta
        return ((zeta * d).exp() * (1 - (-turn * d).expm1() / turn) + (-(1 + zeta) * d).exp()) / 2

    def of_integer_laplace(zeta: acb) -> acb:
        ratio = (fall * (1 + 2 * zeta)).exp()
        between = (1 - q) * (ratio - ratio**size) / (1 - ratio)
        return ((zeta * d).exp() * (1 + between) + (-(1 + zeta) * d).exp()) / (1 + q)

    def of_gaussian(zeta: acb) -> acb:
        ratio = acb(1)
        if loss.law.support == "integer":
            # Of two theta functions: the sum over m >= 1 of exp(-(pi b m)^2 + 2 pi m |Im zeta| size) is at most that
            # over powers of its first term.
            first = (-((arb.pi() * arb(loss.law.scale)) ** 2) + 2 * arb.pi() * abs(zeta.imag) * arb(loss.size)).exp()
            off = arb(0, (2 * first / (1 - first)).upper()) if first < 0.5 else arb(math.nan)
            ratio = acb(1 + off, off) / (1 + off)
        return (d**2 * zeta * (1 + zeta)).exp() * ratio

    if loss.law.order == 1.0:
        return of_laplace if loss.law.support == "real" else of_integer_laplace
    return of_gaussian if loss.law.order == 2.0 else None


# Factors of the weights are integers times 2^-_WEIGHT_BITS.
_WEIGHT_BITS = 96


def discretize_sum(losses: Sequence[CountedLoss], layout: SumLayout) -> LossDistribution:
    """Discretize the sum of finite losses; the layout decides how tight the bounds are, never whether they hold."""
    step, tilt, number = arb(layout.step), arb(layout.tilt), layout.points
    period = step * number
    spacing = 2 * arb.pi() / period
    tilted = []
    for i, (counted, s) in enumerate(zip(losses, layout.widths, strict=True)):
        beside = layout.tilt + s, layout.tilt - s
        if not (arb(beside[0]) == tilt + arb(s) and arb(beside[1]) == tilt - arb(s)):
            raise CertificateError(f"the width {s!r} cannot be added to the tilt {layout.tilt!r} without rounding")
        reals = (layout.below, layout.above, *beside)
        last = layout.further if i == layout.followed else layout.frequencies
        line = Line(tilt=layout.tilt, spacing=spacing, last=last, reals=reals)
        tilted.append(TiltedLoss(counted.loss, counted.count, transform(counted.loss, line), s))

    def logarithm(values: Iterable[arb]) -> arb:
        """Return log M of the sum from M of each loss."""
        return sum((one.count * value.log() for one, value in zip(tilted, values, strict=True)), arb(0))

    level = logarithm(one.transform.values[0].real for one in tilted)
    below = logarithm(one.transform.reals[0] for one in tilted)
    above = logarithm(one.transform.reals[1] for one in tilted)
    kernels = []
    for k in range(layout.frequencies + 1):
        zeta = acb(tilt, spacing * k)
        rising, falling = (zeta * step).expm1(), -(-(1 + zeta) * step).expm1()
        kernels.append(rising * falling / (-(-step).expm1() * zeta * (1 + zeta)))
    coefficients = [_product(tilted, k) * kernel / period for k, kernel in enumerate(kernels)]

    ranges = decay(tilted, layout.tilt, spacing, spacing * (layout.further + 1))
    alone = tilted[layout.followed]
    followed = [
        Range(spacing * k, spacing * k, abs(alone.phi(k)).upper() ** alone.count)
        for k in range(layout.frequencies + 1, layout.further + 1)
    ]
    left_out = _left_out([*followed, *ranges], kernels[0].real, step, tilt, spacing) / period
    radii = [value.real.rad() + value.imag.rad() for value in coefficients[1:]]
    inexact = coefficients[0].real.rad() + 2 * sum(radii, arb(0))
    low, high = layout.low * step, (layout.low + number - 1) * step
    lowest = (below - level + (tilt - layout.below) * low).exp()
    highest = (above - level + (tilt - layout.above) * high).exp()
    infinite = (above - layout.above * high).exp()
    if not (left_out + inexact < 1 and coefficients[0].real < 1 and lowest < 1 and highest < 1 and infinite < 1):
        raise CertificateError("the sum of the losses does not fit the grid")

    weights = _weights(coefficients, layout.low, number)
    # A unit for the rounding of factors, one for that of weights.
    error = _ceil(ONE * (left_out + inexact)) + 2
    raised = _ceil(ONE * lowest)
    added = [error] * number
    added[0] += raised
    outside = _ceil(ONE * (lowest + highest) * (tilt * step).exp())
    return LossDistribution(
        step=layout.step,
        tilt=layout.tilt,
        low=layout.low,
        weights=weights + fmpz_poly(added),
        level=level,
        infinite=infinite.upper(),
        certain=arb(0),
        slack=Slack(
            excess=2 * error,
            lost=raised + outside,
            raised=arb(0),
            splits=((Split(layout.step, upper_float(step**2 / 8)), 1),),
        ),
    )


def _product(losses: Sequence[TiltedLoss], k: int) -> acb:
    """Return phi of the sum at a frequency."""
    return math.prod((one.phi(k) ** one.count for one in losses), start=acb(1)) if k else acb(1)


def _left_out(ranges: Sequence[Range], first: arb, step: arb, tilt: arb, spacing: arb) -> arb:
    """Bound the sum of |K phi| over all frequencies that are left out."""
    most = (1 + (tilt * step).exp()) * (1 + (-(1 + tilt) * step).exp()) / -(-step).expm1()
    total = arb(0)
    for start, end, bound in ranges:
        falling = most / start**2
        if end is None:
            total += bound * (falling + most / (spacing * start))
        else:
            total += bound * first.min(falling) * (1 + (end - start) / spacing)
    return 2 * total


def _ceil(x: arb) -> int:
    found = x.upper().ceil().unique_fmpz()
    assert found is not None
    return max(int(found), 0)


def _weights(coefficients: Sequence[acb], low: int, number: int) -> fmpz_poly:
    """Return ONE times the sum of coefficients[k] e^(-2 pi i k (low + j) / N) over all |k|, for all j: rounded down.

    Middles of balls are taken; the error is below a unit. j is a multiple of a block plus a rest, and the sums for all
    pairs of them are products of two matrices of integers.
    """
    block = math.isqrt(number - 1) + 1
    unit = fmpz(1) << _WEIGHT_BITS
    rows: list[list[fmpz]] = []
    for a in range(-(-number // block)):
        row: list[fmpz] = []
        for k, value in enumerate(coefficients):
            turned = (value.mid() if k == 0 else 2 * value.mid()) * _root(-k * (low + a * block), number)
            row += [_nearest(turned.real * unit), _nearest(-turned.imag * unit)]
        rows.append(row)
    columns: list[list[fmpz]] = []
    for k in range(len(coefficients)):
        roots = [_root(-k * c, number) for c in range(block)]
        columns += [[_nearest(root.real * unit) for root in roots], [_nearest(root.imag * unit) for root in roots]]
    entries = (fmpz_mat(rows) * fmpz_mat(columns)).entries()[:number]
    shift = 2 * _WEIGHT_BITS - (ONE.bit_length() - 1)
    return fmpz_poly([entry >> shift for entry in entries])


def _root(k: int, number: int) -> acb:
    """Return e^(2 pi i k / number)."""
    sine, cosine = arb.sin_cos_pi_fmpq(fmpq(2 * (k % number), number))
    return acb(cosine, sine)


def _nearest(x: arb) -> fmpz:
    """Return an integer within 1 of all points of a narrow ball."""
    found = (x.mid() + 0.5).floor().unique_fmpz()
    if found is None or not x.rad() < 0.5:
        raise CertificateError("a factor of the weights is too wide a ball")
    return found
