"""The delta when several coordinates move at once, each by its own known amount.

===========  ====================================================================================================
corner       ((D_1, n_1), (D_2, n_2), ...): n_j coordinates that move by D_j
L            the loss of one coordinate, |x + d|^p - |x|^p with d = D/b
delta        E (1 - e^(epsilon - sum of the losses))_+
h            step of a grid; masses lie on the knots (low + j) h
window       the N knots that a sum keeps; it is computed on a circle of N knots
===========  ====================================================================================================

Claim (corner): among all moves with |d_k| <= D_k the corner is the worst for approximate DP. The law is log-concave, so
the trade-off function of one coordinate falls as its shift grows, and the trade-off function of a product falls with
its factors; hence so does delta.

The losses are discretized (`ggdp.proofs.losses`) and added (`ggdp.proofs.loss_distribution`). One distribution gives
both bounds: no step can lower the upper one, and the lower one counts what the steps may have added.

Claim (circular sums, in balls). A circular sum brings what leaves the window back at its other end. Masses are not
negative, so that at every knot of the window the circular mass is at least the true one. What is below the window comes
back at a larger value, and what is above it is bounded by Chernoff, P(sum >= t) <= E e^(s (sum - t)) for s > 0, and
counted as infinite; the total may be above 1. So the mean of a function that is not negative and rises is never
lowered.

For probabilistic DP there is the paper's bound, with all noise and all moves taken by their absolute values:

===========  ====================================================================================================
x_k, d_k     standard noise and D_k / b, in units of the scale
Y_k          (|x_k| + d_k)^p - |x_k|^p - d_k^p, at least 0 and rising with |x_k|
t            epsilon - sum d_k^p, or epsilon - (Delta_p / b)^p where a joint l_p bound is known and smaller
A, phi(v)    one coordinate of the largest size, and P(Y_A > t - v)
V            the sum of the other Y_k, discretized on the grid
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
Dong, Roth and Su, "Gaussian Differential Privacy", JRSS B 2022, Prop. D.1 and A.3 (trade-off functions of products and
of shifts); Doroshenko et al., PETS 2022. Liu, arXiv 1602.06028 v5, Cor. GGMpDP (with b^p epsilon - Delta_p^p where v5
prints b^p - Delta_p^p epsilon).
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Self, TypeAlias

from flint import acb, arb, ctx

from ggdp import _validate
from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp._work import spend
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import EXACT, Applicable, Bound, Enclosure, require_unbounded
from ggdp.proofs.layouts import MOST_MOVING, AbsoluteSumLayout, CornerLayout, Window
from ggdp.proofs.loss_distribution import LossDistribution, delta_above, delta_below, smoothings
from ggdp.proofs.losses import KNOT, MOST_LOSSES, CoordinateLoss, CountedLoss, integer_tail, total_loss
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.one_coordinate import POWERS, crossing, crossing_estimates
from ggdp.proofs.tails import survivals

if TYPE_CHECKING:
    from ggdp.proofs.worst_case import WorstCase


# Distinct sizes, and how many coordinates move by each.
Corner: TypeAlias = tuple[tuple[float, int], ...]


class ConvolvedDelta(Bound):
    """A bound of delta by a convolution of the losses of a corner, on the grids of a layout.

    Rounding: every step moves losses up. The bound holds for every layout; a good one makes it tight. Without a layout
    nothing is proved but the pure loss at order 1.
    """

    __slots__ = ()

    most_moving = MOST_MOVING
    # Thresholds are proposed in floats, whose last digits another machine may round differently.
    margin = 2.0**-30

    # Fields of its subclasses.
    corner: Corner
    epsilon: float
    joint: float | None = None
    layout: CornerLayout | AbsoluteSumLayout | None

    def __post_init__(self) -> None:
        require_corner(self.corner)
        _validate.positive(epsilon=self.epsilon)
        if self.joint is not None:
            _validate.positive(joint=self.joint)
        if self.layout is not None:
            self._require_all()

    @abstractmethod
    def _require_all(self) -> None:
        """Check that the layout has every coordinate of the corner."""

    @abstractmethod
    def _delta(self, law: NoiseLaw) -> arb:
        """Bound delta from above by the layout, at the working precision."""

    @property
    def claim(self) -> Self:
        """The same bound without a layout."""
        return replace(self, layout=None)  # type: ignore[type-var]

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Bound delta from above with so many bits."""
        require_unbounded(law)
        require_whole(law, self.corner)
        if law.order == 1.0:
            # The losses add up to at most the l_1 norm over the scale.
            norms = [sum((count * Fraction(size) for size, count in self.corner), Fraction(0))]
            norms += [] if self.joint is None else [Fraction(self.joint)]
            if min(norms) <= Fraction(self.epsilon) * Fraction(law.scale):
                return Enclosure(lower=0.0, upper=0.0, precision=EXACT)
        if self.layout is None:
            return Enclosure(lower=0.0, upper=1.0, precision=EXACT, exhausted=True)
        with BALLS, working_precision(bits):
            value = self._delta(law)
            # With more bits it would not be smaller: what remains is what the grid costs.
            decided = value.rel_accuracy_bits() >= 30
            return Enclosure(lower=0.0, upper=min(upper_float(value), 1.0), precision=bits, exhausted=decided)


@dataclass(frozen=True, slots=True, kw_only=True)
class CornerDelta(ConvolvedDelta):
    """An upper bound of delta when all coordinates of a corner move.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> delta = CornerDelta(corner=((1.0, 2),), epsilon=1.0)
    >>> delta.enclose(NoiseLaw(order=1, scale=2.0)).upper
    0.0
    """

    name = "corner"
    statement = "the far corner of the sensitivity is the worst change: its delta by pessimistic convolution"
    layout_type = CornerLayout
    ignores_joint = True

    # Distinct sizes and how many coordinates move by each; whole numbers where the noise is on the integers.
    corner: Corner
    epsilon: float  # the epsilon of the guarantee
    layout: CornerLayout | None = None  # the grids of the proof

    @classmethod
    def applicable(cls, case: WorstCase, notion: str, epsilon: float) -> Iterator[Applicable]:
        """Return the delta of each change of several coordinates that dominates."""
        if notion == "approximate":
            for change in case.dominating:
                if not change.is_single:
                    yield Applicable(cls(corner=change.sizes, epsilon=epsilon), change.note, change.searched)

    def _require_all(self) -> None:
        if not isinstance(self.layout, CornerLayout):
            raise ArgumentError("layout", self.layout, "must be the layout of a corner")
        if len(self.layout.sizes) != len(self.corner):
            raise ArgumentError("layout", self.layout, f"must have a grid for each of the {len(self.corner)} sizes")

    def _delta(self, law: NoiseLaw) -> arb:
        return delta_above(self._sum(law), arb(self.epsilon))

    def _sum(self, law: NoiseLaw) -> LossDistribution:
        """Add the losses of all coordinates."""
        assert self.layout is not None
        return total_loss([CountedLoss(CoordinateLoss(law, size), count) for size, count in self.corner], self.layout)

    def lower(self, law: NoiseLaw, bits: int) -> float:
        """Bound from below the delta of the corner itself, on the grid of the layout."""
        require_unbounded(law)
        require_whole(law, self.corner)
        if self.layout is None:
            return 0.0
        with BALLS, working_precision(bits):
            total, epsilon = self._sum(law), arb(self.epsilon)
            found = [lower_float(delta_below(total, epsilon, s)) for s in smoothings(total)]
            return max(*found, 0.0)


def require_corner(corner: Corner) -> None:
    """Check that a corner has sizes above 0 and whole counts of at least 1."""
    for pair in _validate.non_empty(corner=corner):
        items = _validate.non_empty(corner=pair)
        if len(items) != 2:
            raise ArgumentError("corner", corner, "must be pairs of a size and a count")
        _validate.positive(corner=items[0])
        _validate.integer(corner=items[1], at_least=1, at_most=MOST_LOSSES)


def require_whole(law: NoiseLaw, corner: Corner) -> None:
    """Check that on the integers the sizes of a corner are whole numbers."""
    for size, _ in corner:
        if law.support == "integer" and not float(size).is_integer():
            raise ArgumentError("corner", size, "on the integers sizes must be whole numbers")


@dataclass(frozen=True, slots=True)
class GridLaw:
    """Masses at the values (low + j) * step, and the mass at infinity."""

    step: arb
    low: int
    masses: list[arb]
    infinite: arb


def sum_of(parts: Sequence[tuple[GridLaw, int]], window: Window) -> GridLaw:
    """Add `count` independent copies of each part on the window; all parts have the same step."""
    step, points = parts[0][0].step, window.points
    half = points // 2 + 1
    spend(1.5 * points * (len(parts) + 1), ctx.prec)
    product: list[acb] | None = None
    for part, count in parts:
        circular = [arb(0)] * points
        for j, mass in enumerate(part.masses):
            circular[(part.low + j) % points] += mass
        # The input is real, so one half of the spectrum gives the other.
        spectrum = acb.dft(circular)[:half]
        if count > 1:
            spectrum = [value**count for value in spectrum]
        product = spectrum if product is None else [x * y for x, y in zip(product, spectrum, strict=True)]
    assert product is not None
    product += [value.conjugate() for value in reversed(product[1 : points - half + 1])]
    result = acb.dft(product, inverse=True)
    low = window.top - points + 1
    masses = [result[index % points].real for index in range(low, window.top + 1)]
    finite = arb(1)
    for part, count in parts:
        finite *= (1 - part.infinite) ** count
    infinite = 1 - finite
    if sum(count * (part.low + len(part.masses) - 1) for part, count in parts) > window.top:
        infinite += _mass_beyond(parts, window.top + 1, arb(window.tilt))
    return GridLaw(step, low, masses, infinite)


def _mass_beyond(parts: Sequence[tuple[GridLaw, int]], knot: int, s: arb) -> arb:
    """Bound the mass of finite sums at or above a knot by Chernoff, with s > 0."""
    exponent, step = arb(0), parts[0][0].step
    for part, count in parts:
        # E e^(s l) over the finite values: Horner's rule in e^(s h) takes the powers of one base only.
        moment, ratio = arb(0), (s * step).exp()
        for mass in reversed(part.masses):
            moment = moment * ratio + mass
        exponent += count * (moment.log() + s * part.low * step)
    return (exponent - s * knot * step).exp()


@dataclass(frozen=True, slots=True, kw_only=True)
class AbsoluteSumDelta(ConvolvedDelta):
    """The paper's upper bound of the delta of probabilistic DP when several coordinates move.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> delta = AbsoluteSumDelta(corner=((1.0, 2),), epsilon=1.0)
    >>> delta.enclose(NoiseLaw(order=1, scale=2.0)).upper
    0.0
    """

    name = "absolute-sum"
    statement = "an upper bound, v5 Cor. GGMpDP: each coordinate's loss at its largest, their sum by convolution"
    layout_type = AbsoluteSumLayout

    # Distinct sizes and how many coordinates move by at most each; whole numbers where the noise is on the integers.
    corner: Corner
    epsilon: float  # the epsilon of the guarantee
    joint: float | None = None  # A known bound of the l_p norm of the whole move, p being the order
    layout: AbsoluteSumLayout | None = None  # the grid of the proof

    @property
    def main(self) -> float:
        """The size of the coordinate A, which stays continuous."""
        return max(size for size, _ in self.corner)

    @classmethod
    def applicable(cls, case: WorstCase, notion: str, epsilon: float) -> Iterator[Applicable]:
        """Return the bound where several coordinates change, each by a known size."""
        query = case.sensitivity
        several = case.bounding is None and not case.is_single and query.is_per_coordinate
        if notion == "probabilistic" and several and case.order > 1.0:
            joint = None if query.joint is None else query.lp(case.order)
            note = (
                "upper bound: for probabilistic DP with several moving coordinates the worst direction is not known, "
                "so this is the paper's bound, not the least scale"
            )
            yield Applicable(cls(corner=query.corner, epsilon=epsilon, joint=joint), note)

    def _require_all(self) -> None:
        if not isinstance(self.layout, AbsoluteSumLayout):
            raise ArgumentError("layout", self.layout, "must be the layout of an absolute sum")
        discretized, given = Counter({self.main: 1}), Counter[float]()
        for other in self.layout.others:
            discretized[other.size] += other.count
        for value, count in self.corner:
            given[value] += count
        if discretized != given:
            raise ArgumentError("layout", self.layout, "does not have the coordinates of the corner")

    def _delta(self, law: NoiseLaw) -> arb:
        layout, p, b = self.layout, arb(law.order), arb(law.scale)
        assert layout is not None
        moved = sum((count * (arb(size) / b) ** p for size, count in self.corner), arb(0))
        known = moved if self.joint is None else (arb(self.joint) / b) ** p
        t = arb(self.epsilon) - (known if known <= moved else moved)
        if not (law.order > 1.0 and t > 0):
            # At order 1 the pure loss decides, which was too large.
            return arb(1)
        spend(KNOT * (layout.depth + sum(other.high for other in layout.others)), ctx.prec)
        step = arb(layout.step)
        tails = _integer_tails if law.support == "integer" else _real_tails
        if not layout.others:
            return tails(law, self.main, [t])[0]
        if not t < 2.0**50 * step:
            # No knot of a grid is that far out, and t would be indistinguishable from its neighbors.
            return arb(1)
        halved = is_halved(law)
        refined = halved and layout.refined
        cells, split = [], []
        for other in layout.others:
            from_knot = tails(law, other.size, [k * step for k in range(other.high + 1)])
            masses = [low - high for low, high in pairwise(from_knot)]
            shares = [arb(0.5 if halved else 1)] * len(masses)
            if refined:
                first_shares = _shares(law, other.size, layout.step, from_knot)
                shares[: len(first_shares)] = first_shares
            # Every cell on its ends, its share on the upper one.
            ends = [1 - from_knot[0], *([arb(0)] * len(masses))]
            for i, (mass, share) in enumerate(zip(masses, shares, strict=True)):
                up = mass * share
                ends[i] += mass - up
                ends[i + 1] += up
            split.append((GridLaw(step, 0, ends, from_knot[-1]), other.count))
            cells.append((GridLaw(step, 0, masses, arb(0)), other.count))
        total = sum_of(split, layout.window)
        last = int(upper_float(t / step)) + 1
        if last > 2**53:
            # Floats are far apart there, and to come down from above one by one would not end.
            last = int(lower_float(t / step))
        while not last * step <= t:
            last -= 1
        # From v = t down, as far as phi is worth following; below that it is at most its last value.
        first = max(last - layout.depth, total.low, 0)
        phi = tails(law, self.main, [t - k * step for k in range(last, first - 1, -1)])[::-1]
        slope = (arb(self.main) / b) ** (1 - p) / (1 / p).gamma()
        if halved and layout.chord:
            # Over the last cells before t, where it is steep, phi is replaced by its chord.
            start = max(len(phi) - 1 - layout.chord, 0)
            length, base = t - first * step - start * step, phi[start]
            phi[start:] = [base + (1 - base) * j * step / length for j in range(len(phi) - start)]
            slope = 1 / length
        value = total.infinite
        for j, mass in enumerate(total.masses):
            k = total.low + j
            value += mass if k > last else mass * phi[max(k - first, 0)]
        if halved:
            many = sum(other.count for other in layout.others)
            near = _near_threshold(cells, layout, t / step, many, refined=refined)
            value += slope * step * many / 4 * near
        return value


def is_halved(law: NoiseLaw) -> bool:
    """Return whether the claim on halves holds for a law; else each cell is put wholly on its upper end."""
    return law.support == "real" and law.order >= 2.0


def _shares(law: NoiseLaw, size: float, step: float, from_knot: list[arb]) -> list[arb]:
    """Bound the mean of Y/h - i in each of the first cells i by taking many parts of it as uniform."""
    p, d = arb(law.order), arb(size) / arb(law.scale)
    shares = []
    for i, inner in enumerate(inner_points(law.order, size / law.scale, step, len(from_knot) - 1)):
        points = [arb(z) for z in inner]
        tails = [from_knot[i], *(2 * value for value in survivals(p, points)), from_knot[i + 1]]
        values = [arb(0), *((z + d) ** p - z**p - d**p - i * arb(step) for z in points), arb(step)]
        parts = zip(pairwise(tails), pairwise(values), strict=True)
        mean = sum(((from_low - from_high) * (low + high) / 2 for (from_low, from_high), (low, high) in parts), arb(0))
        share = (mean / (arb(step) * (from_knot[i] - from_knot[i + 1]))).upper()
        # Half is always enough, and the points are only floats: where they are out of order, half it is.
        ordered = all(low >= high for low, high in pairwise(tails))
        shares.append(share if ordered and share <= 0.5 else arb(0.5))
    return shares


def inner_points(order: float, shift: float, step: float, cells: int) -> list[list[float]]:
    """Return points inside each of the first cells, where the density of Y may be a spike, that cut it into parts."""
    ends = crossing_points(order, shift, [step * i for i in range(min(cells, 200) + 1)])
    # The first cell is cut into parts that shrink by this ratio, the next ones into four equal parts.
    ratio = 2.0**0.05
    spike = [ends[1] * ratio**-i for i in range(299, 0, -1)]
    even = [[low + (high - low) * j / 4 for j in range(1, 4)] for low, high in pairwise(ends[1:])]
    return [spike, *even]


def crossing_points(order: float, shift: float, levels: list[float]) -> list[float]:
    """Return roots z >= 0 of (z + d)^p - z^p - d^p = level, in floats, for levels in rising order."""
    try:
        own = shift**order
    except OverflowError:
        own = math.inf
    # Noise beyond |x|^p = 220 has a probability below e^-220, and is left out.
    found = crossing_estimates(order, shift, [level + own for level in levels], far=220.0 ** (1.0 / order))
    return [max(z, 0.0) for z in found]


def spread_of_shares(many: int, bits: int) -> int:
    """Return x, beyond which Hoeffding leaves F a probability that does not count, or which F cannot reach."""
    depth = bits * math.log(2.0) / 2.0
    return min(math.ceil(math.sqrt((many - 1) / 2.0 * depth)), (many - 1) // 2 + 1)


def _near_threshold(
    cells: list[tuple[GridLaw, int]], layout: AbsoluteSumLayout, place: arb, many: int, *, refined: bool
) -> arb:
    """Bound B, with place = t/h."""
    x = spread_of_shares(many, ctx.prec)
    # F stays within (n-1)/2 of its mean, so that Hoeffding is not needed where x is as large.
    rest = arb(0) if 2 * x >= many - 1 else 2 * (-2 * arb(x) ** 2 / (many - 1)).exp()
    numbers = sum_of(cells, layout.window)
    # Where F is somewhere between 0 and n - 1, or else within x of its mean.
    centre = place if refined else place - arb(many - 1) / 2
    below, above = (many + 1, 1) if refined else (x + 2, x + 2)
    low, high = math.floor(lower_float(centre)) - below, math.ceil(upper_float(centre)) + above
    inside = range(max(low, 0), min(high, layout.window.top) + 1)
    masses = [numbers.masses[(k - numbers.low) % len(numbers.masses)] for k in inside]
    if refined:
        return sum(masses, numbers.infinite).upper()
    # Above the window a mass is at most the whole tail, below it at most what the circle shows.
    most = max(map(upper_float, [numbers.infinite, *masses]))
    return arb(max(most, 0.0)) + rest


def _real_tails(law: NoiseLaw, size: float, levels: list[arb]) -> list[arb]:
    """Enclose P(|x| > z) for points z at or just below where Y passes the levels, which are at least 0 and in order."""
    p, d = arb(law.order), arb(size) / arb(law.scale)
    own = d**p
    points = [
        arb(max(crossing(p, d, level + own, guess, side=-1), 0.0) if guess > 0.0 else 0.0)
        for level, guess in zip(levels, _guesses(law, size, levels), strict=True)
    ]
    return [2 * value for value in survivals(p, points)]


def _integer_tails(law: NoiseLaw, size: float, levels: list[arb]) -> list[arb]:
    """Enclose P(|K| >= k) for integers k below which all values of Y are at most the levels, which are at least 0."""
    p, unit, shift = arb(law.order), arb(law.scale) ** arb(law.order), int(size)
    least = []
    for level, guess in zip(levels, _guesses(law, size, levels), strict=True):
        k, jump = math.floor(guess * law.scale) + 1, 1
        while k > 1 and not (arb(k - 1 + shift) ** p - arb(k - 1) ** p - arb(shift) ** p) / unit <= level:
            spend(POWERS, ctx.prec)
            k, jump = max(k - jump, 1), 4 * jump
        least.append(k)
    tail = integer_tail(law, set(least))
    return [2 * tail[k] for k in least]


def _guesses(law: NoiseLaw, size: float, levels: list[arb]) -> list[float]:
    """Return about where Y passes the levels, in floats."""
    return crossing_points(law.order, size / law.scale, [max(float(level), 0.0) for level in levels])
