"""The pure privacy loss of truncated and boundary-inflated generalized Gaussian noise, on the reals.

The query and the output both live in an interval of width w, and the query moves by at most D. In units of the scale,
with the interval set to [0, w]:

==========  =======================================================================
G(t)        integral of exp(-y^p) from 0 to t
Z(s)        G(s) + G(w - s), the normaliser of the truncated law at location s
A(s)        (w - s)^p - (w - s - D)^p
L(s)        A(s) + ln Z(s) - ln Z(s + D), for s in [0, w - D]
S(z)        survival function of the unbounded law
==========  =======================================================================

Claim (truncated): the loss is the maximum of L over s. The log density at output x has slope g(x - t) - E_t g(X - t)
in the location t, where g is the derivative of |y|^p and rises; so the loss of moving from s to s' > s is largest at
the largest output, x = w, and there it grows with s' - s up to D. The other direction is the mirror image.

Claim (boundary-inflated): the loss is ln S(w - D) - ln S(w), the ratio of the atoms at w. S is log-concave, so this is
the worst of all atoms' ratios; its hazard rises, so the ratio of densities inside is no worse.

References
----------
Liu, arXiv 1602.06028 v5, Definition 5 (truncated) and Definition 6 (boundary-inflated), Eqns b1 and bit.ineq1.

The pure privacy loss of integer generalized Gaussian noise on bounds, when one coordinate moves by an integer.

Query and output both live in the integers c0..c1, and the query moves by at most D.

=======  =============================================================================
w        c1 - c0, the width of the bounds; D <= w
g(y)     (|y| / b)^p
f(y)     exp(-g(y))
R(k)     sum of f(j) over the integers j >= k
s        the query's place above c0
Z(s)     sum of f(x - s) over x = 0..w, the normaliser of the truncated law at s
A(s)     g(w - s) - g(w - s - D)
h(s)     A(s) + log Z(s) - log Z(s + D), the loss at the output c1 between s and s + D
=======  =============================================================================

Claim (boundary inflated). All mass beyond a bound sits on it, so P(output c1 | s) is P(K >= w - s). The loss is
log[R(w - D) / R(w)], at the output c1 between s = D and s = 0: R(k - D) / R(k) rises with k, as tails of a log-concave
law are log-concave, and at an output inside the bounds the ratio exp(g(k) - g(k - D)), k < w, is no greater than that
of any two terms in R(w - D) / R(w). It falls strictly as b rises: its derivative in b^-p is
E[K^p | K >= w] - E[K^p | K >= w - D] > 0.

Claim (truncated). The loss is the greatest h(s) over s = 0..w - D. With G(y) = g(y + 1) - g(y), which does not fall as
y rises since g is convex, and q(s) = log Z(s + 1) - log Z(s), the log-probability of the output x rises from s to s + 1
by G(x - s - 1) - q(s). That is greatest at x = w (c1), where it is at least 0, since e^q(s) is a mean of
e^G(x - s - 1) over outputs x. So the worst output is c1 or, in the other direction and by symmetry, c0; and the worst
shift is D.

Claim (the bound of a block s1..s2). A does not rise with s, as g is convex, and log Z(s) - log Z(s + D) does not fall,
as Z is a convolution of two log-concave sequences, hence log-concave. So h <= A(s1) + log Z(s2) - log Z(s2 + D).

Claim (the slope on a block). h(s + 1) - h(s) = A(s + 1) - A(s) + log(1 + X), where, by expanding
Z(s + 1) Z(s + D) - Z(s) Z(s + D + 1), and with F(y) = f(y + 1) - f(y + 1 + D),
X = [F(s) + F(w - s - D - 1) + (Z(s + 1) - Z(s)) (Z(s + D) - Z(s)) / Z(s)] / Z(s + D + 1).
Each part is bounded by its values at the ends of the block. The differences of A are monotone, as g'' is monotone on
y > 0; so are those of Z, as what enters at one bound falls with s and what leaves at the other rises. Z is log-concave
and symmetric, so it is least at an end and greatest at an end or the middle. F is a window's integral of -f', which
rises to its top at the bend y = b (1 - 1/p)^(1/p) of f and falls beyond: F is unimodal, least at an end, monotone on
blocks that keep to one side, and at most D times the top or f(s1 + 1) - f(s2 + 1 + D). Where f'' is monotone up to
w + 1, F is convex or concave there and F(s) + F(w - s - D - 1), being symmetric, is monotone on each side of its
middle. That is so where y^3 e^t d^3f/dy^3 / (p t) = -p^2 t^2 + 3 p (p - 1) t - (p - 1)(p - 2), t = g(y), has one sign.
Where the slope has one sign, the greatest h is at an end.

References
----------
Liu, arXiv 1602.06028 v5, Defs. of the truncated and boundary inflated mechanisms and Eqns b1, b2 (on the reals).

The pure loss of bounded noise, of one coordinate or of several that move at once.

The noises of the coordinates are independent, so their losses add; when at most m of them move, the m largest count.
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, hull, lower_float, power, upper_float, working_precision
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import PRECISIONS, Applicable, Bound, Enclosure, Quantity, enclosed
from ggdp.proofs.tails import log_tail_sum, survival, tail_sum, weights

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ggdp.proofs.noise_law import NoiseLaw
    from ggdp.proofs.worst_case import WorstCase


# More than enough for a maximum to 1e-12 in every case tried; beyond it the wider enclosure holds all the same.
_MOST_BOXES = 6_000
_RELATIVE_WIDTH = 1e-12


def loss_of_boundary_inflated(p: float, b: float, width: float, sensitivity: float, bits: int) -> Enclosure:
    """Enclose the pure loss of boundary-inflated noise in one coordinate.

    Examples
    --------
    >>> loss = loss_of_boundary_inflated(4.0, 2.0, 1.0, 1.0, 96)
    >>> 0 < loss.lower <= loss.upper
    True
    """
    with BALLS, working_precision(bits):
        order, scale, w, D = arb(p), arb(b), arb(width), arb(sensitivity)
        near = power(w - D, arb(1)) / scale
        return enclosed(survival(order, near).log() - survival(order, w / scale).log())


@dataclass(frozen=True, slots=True)
class _Location:
    """The normaliser at one location t: Z, its logarithm, the slope of that, and |y|^p' e^-|y|^p at both ends."""

    t: arb
    Z: arb
    log_mass: arb
    pull: arb
    low_edge: arb
    high_edge: arb


@dataclass(frozen=True, slots=True)
class _Point:
    """L and its parts at one s: the slope of L is pull(here) - pull(moved) - steepness."""

    here: _Location
    moved: _Location
    A: arb
    steepness: arb

    @property
    def loss(self) -> arb:
        return self.A + self.here.log_mass - self.moved.log_mass


class _Truncated:
    """L(s) of one law, evaluated at points; bounds between points follow from monotone parts."""

    def __init__(self, p: arb, w: arb, D: arb) -> None:
        self.p, self.w, self.D = p, w, D
        self.mode = ((p - 1) / p) ** (1 / p)
        self.most_mass = 2 * self._integral(w / 2)

    def _integral(self, t: arb) -> arb:
        if t > 0:
            return power(t, self.p).gamma_lower(1 / self.p) / self.p
        return hull(arb(0), max(t.upper(), arb(0)))

    def _edge(self, y: arb) -> arb:
        """Enclose p y^(p-1) exp(-y^p), which rises up to `mode` and falls after it."""
        return self.p * power(y, self.p - 1) * (-power(y, self.p)).exp()

    def _location(self, t: arb) -> _Location:
        rest = self.w - t
        Z = self._integral(t) + self._integral(rest)
        slope = (-power(t, self.p)).exp() - (-power(rest, self.p)).exp()
        return _Location(t, Z, Z.log(), slope / Z, self._edge(t), self._edge(rest))

    def at(self, s: arb) -> _Point:
        p, u = self.p, self.w - s
        return _Point(
            here=self._location(s),
            moved=self._location(s + self.D),
            A=power(u, p) - power(u - self.D, p),
            steepness=p * (power(u, p - 1) - power(u - self.D, p - 1)),
        )

    def slope_between(self, left: _Point, right: _Point) -> tuple[arb, arb]:
        """Return bounds of L' on [left, right]: every part is monotone in s, since ln Z is concave (Prekopa)."""
        flat, steep = (right.steepness, left.steepness) if self.p >= 2 else (left.steepness, right.steepness)
        fall = self._fall_of_pull(left.here, right.moved) * self.D
        least = max(right.here.pull - left.moved.pull, fall.lower())
        most = min(left.here.pull - right.moved.pull, fall.upper())
        return least - steep, most - flat

    def _fall_of_pull(self, first: _Location, last: _Location) -> arb:
        """Enclose -(ln Z)'' on [first, last], that is pull^2 + (edge(t) + edge(w - t)) / Z."""
        pulls = hull(first.pull, last.pull)
        size = abs(pulls)
        square = hull(power(size.lower(), arb(2)), power(size.upper(), arb(2)))
        edges = self._edges_between(first.t, last.t, first.low_edge, last.low_edge)
        edges += self._edges_between(self.w - last.t, self.w - first.t, last.high_edge, first.high_edge)
        # Z is concave in its logarithm and symmetric: least at an end of the range, most at the middle of the interval.
        Z = hull(min(first.Z.lower(), last.Z.lower()), self.most_mass)
        if last.t < self.w / 2 or first.t > self.w / 2:
            Z = hull(first.Z, last.Z)
        return square + edges / Z

    def _edges_between(self, low: arb, high: arb, at_low: arb, at_high: arb) -> arb:
        edges = hull(at_low, at_high)
        if high < self.mode or low > self.mode:
            return edges
        return hull(edges, self._edge(self.mode))


def loss_of_truncated(p: float, b: float, width: float, sensitivity: float, bits: int) -> Enclosure:
    """Enclose the pure loss of truncated noise in one coordinate by branch and bound over the location.

    Notes
    -----
    Rounding: `upper` bounds L on every box of a cover of [0, w - D]: at an end where L' has one sign on the box, else
    by the mean value theorem and by A(left) + (ln Z - ln Z moved)(right), both parts being monotone.

    Examples
    --------
    >>> round(loss_of_truncated(2.0, 3.90079, 10.0, 1.0, 128).upper, 5)
    1.0
    """
    with BALLS, working_precision(bits):
        scale, w, D = arb(b), arb(width), arb(sensitivity)
        lower, upper = _maximum(p, _Truncated(arb(p), w / scale, D / scale), (w - D) / scale)
    # Where not even the middle of a box could be decided, more bits help; where boxes ran out, they do not.
    return Enclosure(lower=lower, upper=upper, precision=bits, exhausted=math.isfinite(upper) and math.isfinite(lower))


def lost_bits(order: float, width: float) -> int:
    """Return how many bits more it takes where powers of a great width cancel, up to 512; 0 for the usual widths."""
    size = order * math.log2(width) if width < math.inf else math.inf
    return 64 * math.ceil(min(max(size - 48.0, 0.0), 512.0) / 64.0)


def _maximum(order: float, law: _Truncated, span: arb) -> tuple[float, float]:
    """Enclose the maximum of L over [0, span] to 1e-12 where the precision allows."""
    if order == 1.0 or not span > 0:
        # At p = 1 A is constant and ln Z(s) - ln Z(s + D) rises; without a span there is one location only.
        loss = law.at(span).loss
        return lower_float(loss), upper_float(loss)
    ends = law.at(arb(0)), law.at(span)
    best = max(lower_float(point.loss) for point in ends)
    settled = -math.inf
    open_boxes: list[tuple[float, int, _Point, _Point]] = []
    new_boxes = [ends]
    for count in range(_MOST_BOXES):
        for left, right in new_boxes:
            low, high = law.slope_between(left, right)
            if low >= 0 or high <= 0:
                settled = max(settled, upper_float((right if low >= 0 else left).loss))
                continue
            by_parts = left.A + right.here.log_mass - right.moved.log_mass
            by_slope = min(
                left.loss + high * (right.here.t - left.here.t), right.loss - low * (right.here.t - left.here.t)
            )
            bound = min(upper_float(by_parts), upper_float(by_slope))
            heapq.heappush(open_boxes, (-bound, 2 * count + (left is not new_boxes[0][0]), left, right))
        worst = max(settled, -open_boxes[0][0]) if open_boxes else settled
        if not open_boxes or worst <= best + _RELATIVE_WIDTH * abs(best):
            return best, worst
        _, _, left, right = heapq.heappop(open_boxes)
        middle = law.at(((left.here.t + right.here.t) / 2).mid())
        best = max(best, lower_float(middle.loss))
        new_boxes = [(left, middle), (middle, right)]
    return best, worst


# Up to this width every s is looked at, which takes less time than splitting blocks.
_SHORT = 256
# More than enough in every case tried; beyond it the wider enclosure holds all the same.
_MOST_BLOCKS = 6000
# Losses with fewer accurate bits cannot be told apart, and no block can be settled.
_ENOUGH_BITS = 40


def loss_of_integer_boundary_inflated(p: float, b: float, w: int, D: int, bits: int) -> Enclosure:
    """Enclose the pure loss of integer noise whose mass beyond the bounds is put on them.

    Examples
    --------
    >>> loss = loss_of_integer_boundary_inflated(1.0, 2.0, 10, 3, 96)
    >>> loss.lower <= 1.5 <= loss.upper
    True
    """
    with BALLS, working_precision(bits):
        if p == 1.0:
            # Tails are geometric: the ratio is e^(D/b), without rounding where D/b is a float.
            return enclosed(arb(D) / arb(b))
        return enclosed(log_tail_sum(p, b, w - D) - log_tail_sum(p, b, w))


def loss_of_integer_truncated(p: float, b: float, w: int, D: int, bits: int) -> Enclosure:
    """Enclose the pure loss of integer noise conditioned on an output within the bounds.

    Examples
    --------
    >>> loss = loss_of_integer_truncated(2.0, 2.0, 1, 1, 96)
    >>> loss.lower <= 0.25 <= loss.upper
    True
    """
    with BALLS, working_precision(bits):
        losses = TruncatedLosses(p, b, w, D)
        return replace(enclosed(losses.greatest()[0]), exhausted=losses.exhausted)


def slope_precision(w: int) -> int:
    """Return bits that tell slopes from 0 on a width w: second differences of g are about w^-2 of it."""
    return 96 if w <= _SHORT else 96 + 2 * w.bit_length()


class TruncatedLosses:
    """The function h of the truncated law at the working precision, with its greatest value."""

    def __init__(self, p: float, b: float, w: int, D: int) -> None:
        self.p, self.b, self.w, self.D = p, b, w, D
        self.exhausted = False
        self._logs: dict[int, arb] = {}
        self._tails: dict[int, arb] = {}

    def greatest(self) -> tuple[arb, int]:
        """Enclose the greatest h(s), with an s where it is about reached."""
        if self.w <= _SHORT:
            candidates = [(self.loss(s), s) for s in range(self.w - self.D + 1)]
            top, best = candidates[0]
            for value, s in candidates[1:]:
                best = s if value.mid() > top.mid() else best
                top = top.max(value)
            return top, best
        return self._branch_and_bound()

    def loss(self, s: int) -> arb:
        """Enclose h(s)."""
        return self._drop(s) + self._log_ratio(s)

    def _drop(self, s: int) -> arb:
        """Enclose A(s)."""
        return self._g(self.w - s) - self._g(self.w - s - self.D)

    def _log_ratio(self, s: int) -> arb:
        """Enclose log Z(s) - log Z(s + D)."""
        return self._log_normaliser(s) - self._log_normaliser(s + self.D)

    def _g(self, y: int) -> arb:
        return (arb(y) / arb(self.b)) ** arb(self.p) if y else arb(0)

    def _log_normaliser(self, s: int) -> arb:
        """Enclose log Z(s), which is symmetric in s about w/2."""
        s = min(s, self.w - s)
        if s not in self._logs:
            self._logs[s] = self._normaliser(s).log()
        return self._logs[s]

    def _normaliser(self, s: int) -> arb:
        """Enclose Z(s)."""
        if self.w <= _SHORT:
            return self._prefixes[s] + self._prefixes[self.w - s] - 1
        return 1 + 2 * self._tail(1) - self._tail(s + 1) - self._tail(self.w - s + 1)

    def _tail(self, k: int) -> arb:
        if k not in self._tails:
            self._tails[k] = tail_sum(self.p, self.b, k)
        return self._tails[k]

    @cached_property
    def _prefixes(self) -> list[arb]:
        """Enclose the sums of exp(-g(j)) over j = 0..m, for each m up to w."""
        total, sums = arb(0), []
        for term in weights(self.p, self.b, 0, self.w + 1):
            total += term
            sums.append(total)
        return sums

    def _slope(self, first: int, last: int) -> arb:
        """Enclose h(s + 1) - h(s) for every s from `first` to `last` - 1."""
        D, end = self.D, last - 1
        drop = hull(self._drop(first + 1) - self._drop(first), self._drop(end + 1) - self._drop(end))
        falls = self._pairs(first, end)
        step = hull(self._change(first, 1), self._change(end, 1))
        leap = hull(self._change(first, D), self._change(end, D))
        X = (falls + step * leap / self._normalisers(first, end)) / self._normalisers(first + D + 1, end + D + 1)
        return drop + X.log1p()

    def _f(self, y: int) -> arb:
        return (-self._g(y)).exp()

    def _change(self, s: int, d: int) -> arb:
        """Enclose Z(s + d) - Z(s)."""
        if d == 1:
            return self._f(s + 1) - self._f(self.w - s)
        return self._normaliser(s + d) - self._normaliser(s)

    def _pairs(self, first: int, end: int) -> arb:
        """Enclose F(s) + F(w - s - D - 1) for every s from `first` to `end`."""
        mirror = self.w - self.D - 1
        if not self._one_curvature:
            return self._falls(first, end) + self._falls(mirror - end, mirror - first)
        points = {first, end} | ({mirror // 2} if 2 * first < mirror < 2 * end else set())
        low, *others = [self._fall(s) + self._fall(mirror - s) for s in sorted(points)]
        for other in others:
            low = hull(low, other)
        return low

    @cached_property
    def _one_curvature(self) -> bool:
        """Return whether f'' is certainly monotone on 0 < y <= w + 1."""
        p, t = arb(self.p), self._g(self.w + 1)
        sign = -(p**2) * t**2 + 3 * p * (p - 1) * t - (p - 1) * (p - 2)
        return bool((p <= 2 and sign >= 0) or (p >= 2 and sign <= 0 and t <= 3 * (p - 1) / (2 * p)))

    def _fall(self, y: int) -> arb:
        """Enclose F(y)."""
        return self._f(y + 1) - self._f(y + 1 + self.D)

    def _falls(self, low: int, high: int) -> arb:
        """Enclose F(y) = f(y + 1) - f(y + 1 + D) for every y from `low` to `high`."""
        ends = hull(self._fall(low), self._fall(high))
        t = 1 - 1 / arb(self.p)
        bend = arb(self.b) * power(t, 1 / arb(self.p))
        if low + 1 >= bend or high + 1 + self.D <= bend:
            return ends
        steepest = arb(self.p) * t / bend * (-t).exp()
        # Short windows are bounded by the top of -f', long ones by f at their ends, which falls.
        apart = self._f(low + 1) - self._f(high + 1 + self.D)
        return hull(ends, (self.D * steepest).min(apart).upper())

    def _normalisers(self, low: int, high: int) -> arb:
        """Enclose Z(s) for every s from `low` to `high`."""
        ends = hull(self._normaliser(low), self._normaliser(high))
        return hull(ends, self._normaliser(self.w // 2)) if 2 * low < self.w < 2 * high else ends

    def _branch_and_bound(self) -> tuple[arb, int]:
        """Enclose the greatest h(s) by blocks of s that are dropped, settled at their ends, or split."""
        last = self.w - self.D
        ends = [(self.loss(s), s) for s in {0, last}]
        top, best = ends[0]
        for value, s in ends[1:]:
            top, best = top.max(value), s if value.mid() > top.mid() else best
        blocks = [self._block(0, last)] if last > 1 else []
        if top.rel_accuracy_bits() < _ENOUGH_BITS:
            # No block can be settled before the losses themselves can be told apart.
            return hull(top, top.max(blocks[0][-1])) if blocks else top, best
        for _ in range(_MOST_BLOCKS):
            if not blocks:
                return top, best
            _, first, end, bound = heapq.heappop(blocks)
            if bound <= top:
                continue
            slope = self._slope(first, end)
            if slope >= 0 or slope <= 0:
                continue
            middle = (first + end) // 2
            value = self.loss(middle)
            best = middle if value.mid() > top.mid() else best
            top = top.max(value)
            for part in ((first, middle), (middle, end)):
                if part[1] - part[0] > 1:
                    heapq.heappush(blocks, self._block(*part))
        self.exhausted = True
        for *_, bound in blocks:
            top = hull(top, top.max(bound))
        return top, best

    def _block(self, first: int, last: int) -> tuple[float, int, int, arb]:
        """Return a block whose two ends were looked at, with the bound of h on it; the greatest bound comes first."""
        bound = (self._drop(first) + self._log_ratio(last)).upper()
        return (-float(bound), first, last, bound)


ALONE = "upper bound: the joint norm is not used, each coordinate is taken to move as far as it can alone"
# Width of the bounds, sensitivity, and how many coordinates share the two.
Coordinate: TypeAlias = tuple[float, float, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedLoss(Bound):
    """The exact pure loss of noise kept in bounds, with one scale in every coordinate.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> law = NoiseLaw(order=2, scale=3.90079, bounding="truncated")
    >>> round(BoundedLoss(coordinates=((10.0, 1.0, 5),), moving=2).enclose(law).upper, 4)
    2.0
    """

    name: ClassVar[str] = "bounded"
    quantity: ClassVar[Quantity] = "epsilon"
    statement: ClassVar[str] = "bounded outputs: the largest loss over all true values and outputs"
    exact: ClassVar[bool] = True
    ignores_joint: ClassVar[bool] = True

    # Width of the bounds and sensitivity of each kind of coordinate, and how many there are of it.
    coordinates: tuple[Coordinate, ...]
    moving: int  # how many coordinates can move at once

    def __post_init__(self) -> None:
        _require_coordinates(self.coordinates, self.moving)

    @classmethod
    def applicable(cls, case: WorstCase, notion: str, epsilon: float) -> Iterator[Applicable]:  # noqa: ARG003 - any epsilon
        """Return the loss of noise that is kept in bounds."""
        if case.bounding is not None and notion == "pure":
            note = ALONE if case.joint_binds else None
            yield Applicable(cls(coordinates=case.coordinates, moving=case.sensitivity.moving), note)

    @property
    def known_sizes(self) -> tuple[tuple[float, int], ...]:
        """The sizes of all coordinates."""
        return tuple((size, count) for _, size, count in self.coordinates)

    @property
    def known_bounds(self) -> tuple[Coordinate, ...]:
        """All coordinates."""
        return self.coordinates

    def precisions(self, law: NoiseLaw) -> tuple[int, ...]:
        """Return precisions at which powers of great widths do not cancel to nothing."""
        if law.bounding != "truncated":
            return PRECISIONS
        if law.support == "integer":
            first = max(slope_precision(int(width)) for width, _, _ in self.coordinates)
        else:
            first = 128 + max(lost_bits(law.order, width / law.scale) for width, _, _ in self.coordinates)
        return first, 2 * first, 4 * first

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Enclose the loss with so many bits."""
        each = [(_loss_of_one(law, width, D, bits), count) for width, D, count in self.coordinates]
        lower = _largest([(one.lower, count) for one, count in each], self.moving)
        upper = _largest([(one.upper, count) for one, count in each], self.moving)
        if len(each) > 1 or self.moving > 1:
            lower, upper = math.nextafter(lower, -math.inf), math.nextafter(upper, math.inf)
        exhausted = all(one.exhausted or one.is_narrow for one, _ in each)
        return Enclosure(lower=lower, upper=upper, precision=bits, exhausted=exhausted)


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedJointLoss(Bound):
    """An upper bound of the pure loss of truncated noise when the l_p norm of the whole change is known too.

    Claim: with |d_k| <= D_k, sum_k |d_k|^p <= joint^p and |x_k - s_k| <= w_k the exponents of two truncated laws differ
    at any output by at most B = b^-p (sum_k [(w_k + D_k)^p - w_k^p - D_k^p] + joint^p), since (w + d)^p - w^p - d^p
    rises with w and d; so do the logarithms of their normalisers, and the loss is at most 2 B.

    References
    ----------
    Liu, arXiv 1602.06028 v5, Definition 5, Eqn b1, for every real p >= 1 and on the integers too.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> law = NoiseLaw(order=1, scale=2.0, bounding="truncated")
    >>> BoundedJointLoss(coordinates=((10.0, 1.0, 10),), moving=10, joint=1.0).enclose(law).upper
    1.0
    """

    name: ClassVar[str] = "bounded-joint"
    quantity: ClassVar[Quantity] = "epsilon"
    statement: ClassVar[str] = "an upper bound, v5 Eqn b1: truncated outputs and a joint norm of the change"
    exact: ClassVar[bool] = False
    margin: ClassVar[float] = 0.0

    # Width of the bounds and sensitivity of each kind of coordinate, and how many there are of it.
    coordinates: tuple[Coordinate, ...]
    moving: int  # how many coordinates can move at once
    joint: float  # bound of the l_p norm of the whole change, p being the order of the noise

    def __post_init__(self) -> None:
        _require_coordinates(self.coordinates, self.moving)
        _validate.positive(joint=self.joint)

    @classmethod
    def applicable(cls, case: WorstCase, notion: str, epsilon: float) -> Iterator[Applicable]:  # noqa: ARG003 - any epsilon
        """Return the bound for truncated noise and a joint norm."""
        query = case.sensitivity
        if case.bounding == "truncated" and notion == "pure" and query.joint is not None:
            bound = cls(coordinates=case.coordinates, moving=query.moving, joint=query.lp(case.order))
            yield Applicable(bound, "upper bound: the paper's Eqn b1 for a joint norm, not the least scale")

    @property
    def known_sizes(self) -> tuple[tuple[float, int], ...]:
        """The sizes of all coordinates."""
        return tuple((size, count) for _, size, count in self.coordinates)

    @property
    def known_bounds(self) -> tuple[Coordinate, ...]:
        """All coordinates."""
        return self.coordinates

    @property
    def known_norms(self) -> tuple[float, ...]:
        """The joint norm."""
        return (self.joint,)

    def precisions(self, law: NoiseLaw) -> tuple[int, ...]:  # noqa: ARG002 - one precision for every law
        """Return the one precision: the bound is a sum of powers."""
        return (192,)

    def at_precision(self, law: NoiseLaw, bits: int) -> Enclosure:
        """Bound the loss from above with so many bits."""
        if law.bounding != "truncated":
            raise ArgumentError("bounding", law.bounding, "this bound is about truncated noise")
        with BALLS, working_precision(bits):
            p, b = arb(law.order), arb(law.scale)
            terms = []
            for width, sensitivity, count in self.coordinates:
                w, D = arb(width), arb(sensitivity)
                terms.append((upper_float(power(w + D, p) - power(w, p) - power(D, p)), count))
            rest = arb(math.nextafter(_largest(terms, self.moving), math.inf)) if law.order != 1.0 else arb(0)
            upper = upper_float(2 * (rest + power(arb(self.joint), p)) / power(b, p))
        return Enclosure(lower=0.0, upper=upper, precision=bits)


def _require_coordinates(coordinates: tuple[Coordinate, ...], moving: int) -> None:
    """Check that coordinates have widths, sensitivities not above them, and counts."""
    _validate.integer(moving=moving, at_least=1)
    for coordinate in _validate.non_empty(coordinates=coordinates):
        width, sensitivity, count = _validate.non_empty(coordinates=coordinate)
        if _validate.positive(sensitivity=sensitivity) > _validate.positive(width=width):
            raise ArgumentError("width", width, f"must not be below the sensitivity {sensitivity!r}")
        _validate.integer(coordinates=count, at_least=1)


def _loss_of_one(law: NoiseLaw, width: float, sensitivity: float, bits: int) -> Enclosure:
    """Enclose the loss of one coordinate."""
    if law.bounding is None:
        raise ArgumentError("bounding", law.bounding, "this bound is about bounded noise")
    p, b = law.order, law.scale
    truncated = law.bounding == "truncated"
    if law.support == "real":
        return (loss_of_truncated if truncated else loss_of_boundary_inflated)(p, b, width, sensitivity, bits)
    for size in (width, sensitivity):
        if not float(size).is_integer():
            raise ArgumentError("coordinates", size, "on the integers widths and sizes must be whole numbers")
    integer_loss = loss_of_integer_truncated if truncated else loss_of_integer_boundary_inflated
    return integer_loss(p, b, int(width), int(sensitivity), bits)


def _largest(losses: list[tuple[float, int]], moving: int) -> float:
    """Return the sum of the `moving` largest losses, rounded to nearest; infinite beyond the floats."""
    total, left = Fraction(0), moving
    for loss, count in sorted(losses, reverse=True):
        taken = min(count, left)
        if taken and math.isinf(loss):
            return loss
        total += Fraction(loss) * taken
        left -= taken
    try:
        return float(total)
    except OverflowError:
        return math.inf
