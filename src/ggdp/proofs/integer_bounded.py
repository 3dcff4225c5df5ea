"""The pure privacy loss of integer generalized Gaussian noise on bounds, when one coordinate moves by an integer.

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
"""

from __future__ import annotations

import heapq
from dataclasses import replace
from functools import cached_property

from flint import arb

from ggdp._balls import BALLS, hull, power, working_precision
from ggdp.proofs.enclosures import Enclosure, enclosed
from ggdp.proofs.integer_sums import log_tail_sum, tail_sum, weights

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
