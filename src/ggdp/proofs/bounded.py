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
"""

from __future__ import annotations

import heapq
import math
from dataclasses import dataclass

from flint import arb

from ggdp._balls import BALLS, hull, lower_float, power, upper_float, working_precision
from ggdp.proofs.enclosures import Enclosure, enclosed
from ggdp.proofs.survival import survival

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
