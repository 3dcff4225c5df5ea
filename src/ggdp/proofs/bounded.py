"""The pure privacy loss of generalized Gaussian noise that is kept in bounds, truncated or boundary-inflated.

Query and output both live in bounds of width w, and the query moves by at most D <= w. On the integers the bounds and D
are whole numbers. Places are counted from the lower bound; on the reals they are in units of the scale, so that b = 1.

=======  =============================================================================
g(y)     (|y| / b)^p, which is convex
f(y)     exp(-g(y)), which is log-concave
R(y)     the integral of f from y on; on the integers, the sum of f(j) over j >= y
s        the place of the query
Z(s)     the integral (the sum) of f(x - s) over the outputs x, the normalizer of the truncated law at s
A(s)     g(w - s) - g(w - s - D)
h(s)     A(s) + log Z(s) - log Z(s + D), the loss at the output w between s and s + D
=======  =============================================================================

Claim (boundary-inflated). All mass beyond a bound sits on it, so that at s the output w has the mass R(w - s). The
loss is log[R(w - D) / R(w)], at the output w between s = D and s = 0: R(y - D) / R(y) rises with y, as tails of a
log-concave law are log-concave, and at an output inside the bounds the ratio exp(g(y) - g(y - D)), y < w, is no greater
than that of any two terms in R(w - D) / R(w). It falls strictly as b rises: in the unit of the query its derivative in
b^-p is E[X^p | X >= w] - E[X^p | X >= w - D] > 0.

Claim (truncated). The loss is the greatest h(s) over s from 0 to w - D. On the reals the log density at the output x
has the slope g'(x - t) - E_t g'(X - t) in the place t of the query, and g' rises. So the loss of moving from s to
s' > s is largest at the largest output, x = w, and there it grows with s' - s up to D. On the integers, with
G(y) = g(y + 1) - g(y), which does not fall as y rises, and q(s) = log Z(s + 1) - log Z(s), the log-probability of the
output x rises from s to s + 1 by G(x - s - 1) - q(s). That is greatest at x = w, where it is at least 0, since e^q(s)
is a mean of e^G(x - s - 1) over outputs x; so the worst shift is D here too. The other direction is the mirror image.

Claim (the bound of a block s1..s2). A does not rise with s, as g is convex, and log Z(s) - log Z(s + D) does not fall,
as Z is a convolution of two log-concave functions (sequences), hence log-concave (Prekopa). So
h <= A(s1) + log Z(s2) - log Z(s2 + D).

Claim (the slope on a block, integers). h(s + 1) - h(s) = A(s + 1) - A(s) + log(1 + X), where, by expanding
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

The noises of the coordinates are independent, so their losses add; when at most m of them move, the m largest count.

References
----------
Liu, arXiv 1602.06028 v5, Definition 5 (truncated) and Definition 6 (boundary-inflated), Eqns b1, b2 and bit.ineq1, on
the reals.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, cached_property, partial, reduce
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from flint import arb

from ggdp import _validate
from ggdp._balls import BALLS, hull, lower_float, power, upper_float, working_precision
from ggdp.errors import ArgumentError
from ggdp.proofs.bound import PRECISIONS, Applicable, Bound, Enclosure, enclosure_of
from ggdp.proofs.noise_law import NoiseLaw
from ggdp.proofs.tails import exponent, log_tail_sum, survival, tail_sum, weight, weights

if TYPE_CHECKING:
    from ggdp.proofs.worst_case import WorstCase


# More than enough for a maximum to 1e-12 in every case tried; beyond it the wider enclosure holds all the same.
_MOST_BOXES = 6_000
# Up to this width on the integers every s is looked at, which takes less time than splitting blocks.
_SHORT = 256


class _Location(NamedTuple):
    """One place t of the query: Z, log Z, the slope `pull` of log Z, and -f' at the distances of both bounds."""

    t: arb
    Z: arb
    log_mass: arb
    pull: arb
    low_edge: arb
    high_edge: arb


class _Point(NamedTuple):
    """The parts of h at one s; its slope is pull(here) - pull(moved) - steepness."""

    here: _Location
    moved: _Location
    A: arb
    steepness: arb

    @property
    def loss(self) -> arb:
        return self.A + self.here.log_mass - self.moved.log_mass


class _RealLosses:
    """The function h on the reals in units of the scale, with its greatest value."""

    def __init__(self, p: arb, w: arb, D: arb, span: arb) -> None:
        self.p, self.w, self.D, self.span = p, w, D, span
        self.bend = ((p - 1) / p) ** (1 / p)
        self.most_Z = 2 * self._integral(w / 2)

    def _integral(self, t: arb) -> arb:
        """Enclose the integral of f from 0 to t."""
        if t > 0:
            return (t**self.p).gamma_lower(1 / self.p) / self.p
        return hull(arb(0), max(t.upper(), arb(0)))

    def _edge(self, y: arb) -> arb:
        """Enclose -f'(y), which rises up to `bend` and falls after it."""
        return self.p * power(y, self.p - 1) * (-power(y, self.p)).exp()

    def _location(self, t: arb) -> _Location:
        rest = self.w - t
        Z = self._integral(t) + self._integral(rest)
        slope = (-power(t, self.p)).exp() - (-power(rest, self.p)).exp()
        return _Location(t, Z, Z.log(), slope / Z, self._edge(t), self._edge(rest))

    def _at(self, s: arb) -> _Point:
        p, far, near = self.p, self.w - s, self.w - s - self.D
        steepness = p * (power(far, p - 1) - power(near, p - 1))
        return _Point(self._location(s), self._location(s + self.D), power(far, p) - power(near, p), steepness)

    def _slope_between(self, left: _Point, right: _Point) -> tuple[arb, arb]:
        """Return bounds of h' on [left, right]: every part is monotone in s, since log Z is concave."""
        flat, steep = (right.steepness, left.steepness) if self.p >= 2 else (left.steepness, right.steepness)
        first, last = left.here, right.moved
        # -(log Z)'' on the box is pull^2 + (edge(t) + edge(w - t)) / Z.
        size = abs(hull(first.pull, last.pull))
        square = hull(power(size.lower(), arb(2)), power(size.upper(), arb(2)))
        edges = self._edges_between(first.t, last.t, first.low_edge, last.low_edge)
        edges += self._edges_between(self.w - last.t, self.w - first.t, last.high_edge, first.high_edge)
        # Z is log-concave and symmetric: least at an end of the range, most at the middle of the bounds.
        aside = last.t < self.w / 2 or first.t > self.w / 2
        Z = hull(first.Z, last.Z) if aside else hull(min(first.Z.lower(), last.Z.lower()), self.most_Z)
        fall = (square + edges / Z) * self.D
        least = max(right.here.pull - left.moved.pull, fall.lower())
        most = min(left.here.pull - right.moved.pull, fall.upper())
        return least - steep, most - flat

    def _edges_between(self, low: arb, high: arb, at_low: arb, at_high: arb) -> arb:
        edges = hull(at_low, at_high)
        return edges if high < self.bend or low > self.bend else hull(edges, self._edge(self.bend))

    def greatest(self) -> tuple[float, float]:
        """Enclose the greatest h by branch and bound over s, to 1e-12 where the precision allows.

        Rounding: the upper end bounds h on every box of a cover of [0, w - D]: at an end where h' has one sign on the
        box, else by the mean value theorem and by the bound of a block.
        """
        if self.p == 1 or not self.span > 0:
            # At p = 1 A is constant and log Z(s) - log Z(s + D) rises; without a span there is one location only.
            loss = self._at(self.span).loss
            return lower_float(loss), upper_float(loss)
        ends = self._at(arb(0)), self._at(self.span)
        best = max(lower_float(point.loss) for point in ends)
        settled = -math.inf
        open_boxes: list[tuple[float, int, _Point, _Point]] = []
        new_boxes = [ends]
        for count in range(_MOST_BOXES):
            for side, (left, right) in enumerate(new_boxes):
                low, high = self._slope_between(left, right)
                if low >= 0 or high <= 0:
                    settled = max(settled, upper_float((right if low >= 0 else left).loss))
                    continue
                by_parts = left.A + right.here.log_mass - right.moved.log_mass
                size = right.here.t - left.here.t
                by_slope = min(left.loss + high * size, right.loss - low * size)
                bound = min(upper_float(by_parts), upper_float(by_slope))
                heapq.heappush(open_boxes, (-bound, 2 * count + side, left, right))
            worst = max(settled, -open_boxes[0][0]) if open_boxes else settled
            if not open_boxes or worst <= best + 1e-12 * abs(best):
                break
            _, _, left, right = heapq.heappop(open_boxes)
            middle = self._at(((left.here.t + right.here.t) / 2).mid())
            best = max(best, lower_float(middle.loss))
            new_boxes = [(left, middle), (middle, right)]
        return best, worst


def slope_precision(w: int) -> int:
    """Return bits that tell slopes from 0 on a width w: second differences of g are about w^-2 of it."""
    return 96 if w <= _SHORT else 96 + 2 * w.bit_length()


class TruncatedLosses:
    """The function h on the integers at the working precision, with its greatest value."""

    def __init__(self, p: float, b: float, w: int, D: int) -> None:
        self.p, self.b, self.w, self.D = p, b, w, D
        self.exhausted = False
        self._g, self._f = partial(exponent, p, b), partial(weight, p, b)
        self._tail = cache(partial(tail_sum, p, b))
        self._log_normalizer = cache(lambda s: self._normalizer(s).log())

    def greatest(self) -> tuple[arb, int]:
        """Enclose the greatest h(s), with an s where it is about reached."""
        # On a short width every s is looked at; else both ends, and blocks of s are dropped, settled or split.
        last, is_short = self.w - self.D, self.w <= _SHORT
        top, best = self.loss(0), 0
        for s in range(1 if is_short else max(last, 1), last + 1):
            value = self.loss(s)
            top, best = top.max(value), s if value.mid() > top.mid() else best
        blocks = [] if is_short or last <= 1 else [self._block(0, last)]
        if blocks and top.rel_accuracy_bits() < 40:
            # No block can be settled before the losses themselves can be told apart.
            return hull(top, top.max(blocks[0][-1])), best
        for _ in range(_MOST_BOXES):
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
            top, best = top.max(value), middle if value.mid() > top.mid() else best
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

    def loss(self, s: int) -> arb:
        """Enclose h(s)."""
        return self._drop(s) + self._log_ratio(s)

    def _drop(self, s: int) -> arb:
        """Enclose A(s)."""
        return self._g(self.w - s) - self._g(self.w - s - self.D)

    def _log_ratio(self, s: int) -> arb:
        """Enclose log Z(s) - log Z(s + D); Z is symmetric about w/2."""
        first, second = (self._log_normalizer(min(t, self.w - t)) for t in (s, s + self.D))
        return first - second

    def _normalizer(self, s: int) -> arb:
        """Enclose Z(s)."""
        if self.w <= _SHORT:
            return self._prefixes[s] + self._prefixes[self.w - s] - 1
        return 1 + 2 * self._tail(1) - self._tail(s + 1) - self._tail(self.w - s + 1)

    @cached_property
    def _prefixes(self) -> list[arb]:
        """Enclose the sums of f(j) over j = 0..m, for each m up to w."""
        return list(accumulate(weights(self.p, self.b, 0, self.w + 1)))

    def _slope(self, first: int, last: int) -> arb:
        """Enclose h(s + 1) - h(s) for every s from `first` to `last` - 1."""
        D, end = self.D, last - 1
        drop = hull(self._drop(first + 1) - self._drop(first), self._drop(end + 1) - self._drop(end))
        # F(s) + F(w - s - D - 1) for every s of the block.
        mirror = self.w - D - 1
        if self._one_curvature:
            points = [first, *([mirror // 2] if 2 * first < mirror < 2 * end else []), end]
            falls = reduce(hull, (self._fall(s) + self._fall(mirror - s) for s in points))
        else:
            falls = self._falls(first, end) + self._falls(mirror - end, mirror - first)
        step = hull(*(self._f(s + 1) - self._f(self.w - s) for s in (first, end)))
        leap = step if D == 1 else hull(*(self._normalizer(s + D) - self._normalizer(s) for s in (first, end)))
        X = (falls + step * leap / self._normalizers(first, end)) / self._normalizers(first + D + 1, end + D + 1)
        return drop + X.log1p()

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
        """Enclose F(y) for every y from `low` to `high`."""
        ends = hull(self._fall(low), self._fall(high))
        t = 1 - 1 / arb(self.p)
        bend = arb(self.b) * power(t, 1 / arb(self.p))
        if low + 1 >= bend or high + 1 + self.D <= bend:
            return ends
        steepest = arb(self.p) * t / bend * (-t).exp()
        # Short windows are bounded by the top of -f', long ones by f at their ends, which falls.
        apart = self._f(low + 1) - self._f(high + 1 + self.D)
        return hull(ends, (self.D * steepest).min(apart).upper())

    def _normalizers(self, low: int, high: int) -> arb:
        """Enclose Z(s) for every s from `low` to `high`."""
        ends = hull(self._normalizer(low), self._normalizer(high))
        return hull(ends, self._normalizer(self.w // 2)) if 2 * low < self.w < 2 * high else ends


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

    name = "bounded"
    quantity = "epsilon"
    statement = "bounded outputs: the largest loss over all true values and outputs"
    exact = True
    ignores_joint = True

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

    def precisions(self, law: NoiseLaw) -> tuple[int, ...]:
        """Return precisions at which powers of great widths do not cancel to nothing."""
        if law.bounding != "truncated":
            return PRECISIONS
        width = max(width for width, _, _ in self.coordinates)
        first = slope_precision(int(width))
        if law.support == "real":
            # Powers of a great width cancel, up to 512 bits of them.
            wide = width / law.scale
            size = law.order * math.log2(wide) if wide < math.inf else math.inf
            first = 128 + 64 * math.ceil(min(max(size - 48.0, 0.0), 512.0) / 64.0)
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

    name = "bounded-joint"
    quantity = "epsilon"
    statement = "an upper bound, v5 Eqn b1: truncated outputs and a joint norm of the change"
    margin = 0.0
    usual_precisions = (192,)  # the bound is a sum of powers

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
    is_truncated = law.bounding == "truncated"
    p, b = law.order, law.scale
    with BALLS, working_precision(bits):
        if law.support == "integer":
            for size in (width, sensitivity):
                if not float(size).is_integer():
                    raise ArgumentError("coordinates", size, "on the integers widths and sizes must be whole numbers")
            w, D = int(width), int(sensitivity)
            if is_truncated:
                losses = TruncatedLosses(p, b, w, D)
                return replace(enclosure_of(losses.greatest()[0]), exhausted=losses.exhausted)
            # At order 1 tails are geometric: the ratio is e^(D/b), without rounding where D/b is a float.
            return enclosure_of(arb(D) / arb(b) if p == 1.0 else log_tail_sum(p, b, w - D) - log_tail_sum(p, b, w))
        order, scale, wide, moved = arb(p), arb(b), arb(width), arb(sensitivity)
        if is_truncated:
            span = (wide - moved) / scale
            lower, upper = _RealLosses(order, wide / scale, moved / scale, span).greatest()
            # Where not even the middle of a box could be decided, more bits help; where boxes ran out, they do not.
            exhausted = math.isfinite(upper) and math.isfinite(lower)
            return Enclosure(lower=lower, upper=upper, precision=bits, exhausted=exhausted)
        near = power(wide - moved, arb(1)) / scale
        return enclosure_of(survival(order, near).log() - survival(order, wide / scale).log())


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
