"""Intervals for noisy integers: the true values that an output does not reject, at a level.

=======  ====================================================================================
s, y     true value and output, integers; K the noise
a        1 - level
h        least integer with P(|K| <= h) >= level, for noise that does not depend on s
d(s)     least integer with P(|X - s| <= d | s) >= level, for truncated noise X around s
l, u     s - c0 and c1 - s, the distances of s to the bounds
f(k)     exp(-(|k| / b)^p), the weight of the noise k
Z(s)     sum of f(x - s) over the outputs x in the bounds
m        length of the blocks of integers that are summed together, a power of two; 1 if few
=======  ====================================================================================

Claim (clamped noise). Let y = clamp(s + K), to the ends of int64 or to bounds, with s inside. Then s is in
[y - h, y + h] with a probability of at least the level. Proof: s is its own clamp, and clamping moves no two numbers
apart, so |y - s| <= |K|.

Claim (truncated noise). The s with |y - s| <= d(s) are an interval around y, and cover the true value with a
probability of at least the level; with any smaller d(s) they would not, at that s. Proof: cover is the definition of
d. For the interval it is enough that d(s - 1) <= d(s) + 1, since then s + d(s) does not fall as s grows, and by
reflection neither does s - d(s). Write d for d(s). Outputs more than d + 1 away from s - 1 are those above s + d and
those below s - 2 - d. The first have no more probability at s - 1 than at s: the ratio f(x - s) / f(x - s + 1) rises
with x, since f is log-concave, so X grows stochastically with s. The others had N/Z at s, N the sum of f(k) over
d < k <= l. At s - 1 they have (N - f(d + 1) - f(l)) / (Z - f(l) + f(u + 1)), or 0 if l <= d + 1. That is at most N/Z,
for Z (f(d + 1) + f(l)) >= N f(l).

The interval always holds y. (The test with equal tails, inverted, would leave no true value at all for the outermost
a/2 of the outputs around a bound.)

Claim (largest d). d(s) is largest at a bound or in the middle. Proof: let d be the larger of these two. With n(x) the
sum of f(k) over d < k <= x and H(x) that over 1 <= k <= x, the probability of more than d around s is q = (n(l) + n(u))
/ (1 + H(l) + H(u)). If u <= d < l, it is at most n(l) / (1 + H(l)), which rises with l up to that at the bound. If both
distances exceed d, q = x / (1 + 2 H(d) + x) with x = n(l) + n(u), which is largest in the middle, since n is concave.

Rounding: outwards. P(|K| > h) is enclosed in balls. Sums of truncated noise are floats with a relative error below
1e-12, and an s is left out only where its probability is below a by 1e-11 of itself and of the sum it is a difference
of. Blocks of more than one integer are summed from above where they count against s, and from below in Z, f being
monotone on them: that costs a few m, each a millionth of the reach of the noise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from flint import arb

from ggdp.noise.bounded_integer_law import running_sums, weights
from ggdp.noise.integer_law import least_with_tail
from ggdp.privacy.grid import LARGEST, LEAST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.noise.generalized_gaussian import Floats
    from ggdp.privacy.grid import Grid


Range: TypeAlias = "tuple[NDArray[np.int64], NDArray[np.int64]]"

# What lies beyond e^-80 is below 1e-34 of Z, and a is above 1e-16.
_DEPTH = 80.0
_MOST_BLOCKS = 1 << 20
_MARGIN = 1e-11
_MANY = 16
# Floats hold every integer up to the first, and every half below the second.
_EXACT, _HALF_EXACT = 2.0**53, 2.0**52


@lru_cache(maxsize=64)
def noise_half_width(order: float, scale: float, level: float) -> int:
    """Return h, the least integer with P(|K| <= h) >= level; the next one where no precision tells.

    Examples
    --------
    >>> noise_half_width(1.0, 1.0, 0.95), noise_half_width(2.0, 2.0**40, 1 - 1e-12) / 2**40
    (3, 5.042...)
    """
    return least_with_tail(order, scale, lambda: (1 - arb(level)) / 2, at_least=1) - 1


@lru_cache(maxsize=64)
def simultaneous_half_width(order: float, scale: float, level: float, cells: int) -> int:
    """Return the least integer h with P(|K| <= h)^cells >= level: the noise of all cells is within it at that level.

    The probability 1 - level^(1/cells) that a cell may go beyond h is made in balls, where it keeps its digits; as a
    float level^(1/cells) would have lost them with many cells.

    Examples
    --------
    >>> simultaneous_half_width(1.0, 1.0, 0.95, 1), simultaneous_half_width(1.0, 1.0, 0.95, 19_440_000_000_000)
    (3, 33)
    """
    return least_with_tail(order, scale, lambda: -(arb(level).log() / cells).expm1() / 2, at_least=1) - 1


def indices_behind(noisy: Floats, grid: Grid) -> Range:
    """Return the least and the largest noisy index behind floats that were not clipped.

    Below 2^53 steps there is one; beyond, the product of index and step was rounded, to a float whose neighbours are
    the products of indices on either side.
    """
    index = grid.index(noisy)
    with np.errstate(over="ignore"):
        far = np.abs(noisy) >= _EXACT * grid.step
    if not far.any():
        return index, index
    first, last = (grid.index(np.nextafter(noisy, towards)) for towards in (-math.inf, math.inf))
    return np.where(far, first, index), np.where(far, last, index)


def indices_within(noisy: Floats, grid: Grid, indices: tuple[int, int], bounds: tuple[float, float]) -> Range:
    """Return the same for floats that were clipped to bounds: one at a bound may come from any index beyond it."""
    index = grid.index(noisy)
    at_lower, at_upper = noisy <= bounds[0], noisy >= bounds[1]
    if not (at_lower.any() or at_upper.any()):
        return index, index
    (low, high), (lower, upper) = indices, (Fraction(end) / Fraction(grid.step) for end in bounds)
    first = np.where(at_lower, low, np.where(at_upper, min(math.ceil(upper), high), index))
    last = np.where(at_upper, high, np.where(at_lower, max(math.floor(lower), low), index))
    return first, last


def saturating_ends(first: NDArray[np.int64], last: NDArray[np.int64], h: int) -> Range:
    """Return first - h and last + h, with the ends of int64 where they lie beyond."""
    if h > LARGEST:
        return np.full_like(first, LEAST), np.full_like(last, LARGEST)
    return np.maximum(first, LEAST + h) - h, np.minimum(last, LARGEST - h) + h


def outward(index: NDArray[np.int64], step: float, sign: int) -> Floats:
    """Return (index + sign / 2) step, rounded away in the direction of the sign; infinite at the end of int64 there.

    An index at an end stands for all beyond it. Below 2^52 the half is exact; above, an index and the half are rounded
    by less than the ulp that is then added.
    """
    edge = index.astype(np.float64) + 0.5 * sign
    edge = np.where(np.abs(edge) >= _HALF_EXACT, np.nextafter(edge, sign * math.inf), edge)
    with np.errstate(over="ignore"):
        edge = edge * step
    return np.where(index == (LARGEST if sign > 0 else LEAST), sign * math.inf, edge)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TruncatedTest:
    """Sums of the weights of truncated noise over blocks of integers, and the test of a true value by an output."""

    shift: int  # the m of the module is 2^shift
    beyond: Floats  # at i, the sum of f from block i on, from above
    within: Floats  # at i, the sum of f over the blocks before i, from below

    def ends(self, first: NDArray[np.int64], last: NDArray[np.int64], bounds: tuple[int, int], level: float) -> Range:
        """Return the least true value that `first` does not reject, and the largest that `last` does not.

        The outputs come in increasing order.
        """
        (lower, upper), a = bounds, 1.0 - level
        # The mirror image of what is behind `first`: s to lower + upper - s.
        mirrored = self._first((lower + upper - last)[::-1], lower, upper, a)[::-1]
        return self._first(first, lower, upper, a), lower + upper - mirrored

    def half_width(self, width: int, level: float) -> int:
        """Return the largest d(s) over all true values, m - 1 more at most."""
        return max(self._distance(below, width - below, 1.0 - level) for below in (0, width // 2))

    def _first(self, y: NDArray[np.int64], lower: int, upper: int, a: float) -> NDArray[np.int64]:
        """Return the least s within the bounds that does not reject y, for outputs in increasing order."""
        reach = self.beyond.size << self.shift
        inner = (lower + 2 * reach, upper - reach)
        start, stop = np.searchsorted(y, inner).tolist() if inner[0] < inner[1] else (0, 0)
        if stop - start < _MANY:
            return self._least(y, lower, upper, a)
        # So far from both bounds, the law around every s in question is the same.
        some = np.concatenate((y[: start + 1], y[stop:]))
        found = self._least(some, lower, upper, a)
        shifted = y[start:stop] - (y[start] - found[start])
        return np.concatenate((found[:start], shifted, found[start + 1 :]))

    def _least(self, y: NDArray[np.int64], lower: int, upper: int, a: float) -> NDArray[np.int64]:
        """Return the same by bisection over the distance in blocks.

        What an output rejects, all beyond it reject, so that many outputs are
        begun from the answers to a few.
        """
        good = np.zeros_like(y)
        bad = np.minimum((y - lower) >> self.shift, self.beyond.size) + 1
        if y.size > _MANY:
            few = self._least(np.append(y[::_MANY], y[-1]), lower, upper, a)
            place = np.arange(y.size) // _MANY
            bad = np.minimum(bad, ((y - few[place]) >> self.shift) + 1)
            good = np.clip(((y - few[place + 1]) >> self.shift) - 1, 0, bad - 1)
        while np.any(bad - good > 1):
            middle = (good + bad) >> 1
            t = middle << self.shift
            # Where the search has ended, t may be 0: there nothing is asked.
            rejects = self._rejects(t, y - t - lower, upper - y + t, a)
            good, bad = np.where(rejects, good, middle), np.where(rejects, middle, bad)
        return np.asarray(np.maximum(y - (bad << self.shift) + 1, lower))

    def _distance(self, below: int, above: int, a: float) -> int:
        """Return d(s) at these distances to the bounds, or up to m - 1 more."""
        distances = np.array([below], dtype=np.int64), np.array([above], dtype=np.int64)
        good, bad = 0, min(max(below, above) >> self.shift, self.beyond.size) + 1
        while bad - good > 1:
            middle = (good + bad) // 2
            rejects = self._rejects(np.array([middle << self.shift], dtype=np.int64), distances[0], distances[1], a)[0]
            good, bad = (good, middle) if rejects else (middle, bad)
        return min((bad << self.shift) - 1, max(below, above))

    def _rejects(
        self, t: NDArray[np.int64], below: NDArray[np.int64], above: NDArray[np.int64], a: float
    ) -> NDArray[np.bool_]:
        """Return whether P(|X - s| >= t) <= a is proved, for multiples t > 0 of m, at these distances to the bounds."""
        last = self.beyond.size - 1
        near = self.beyond[np.minimum(t >> self.shift, last)]
        outside = 2.0 * near
        total = np.full(t.shape, -1.0)
        for distance in (below, above):
            outside -= np.minimum(near, self.beyond[np.minimum((distance >> self.shift) + 1, last)])
            total += self.within[np.minimum((distance + 1) >> self.shift, last)]
        return np.asarray(outside + _MARGIN * near <= a * (1.0 - _MARGIN) * total)


@lru_cache(maxsize=2)
def truncated_test(order: float, scale: float, width: int) -> TruncatedTest:
    """Return the test for bounds of at most this width."""
    reach = int(min(width, scale * _DEPTH ** (1.0 / order) + 2.0))
    shift = ((reach - 1) // _MOST_BLOCKS).bit_length()
    blocks = (reach >> shift) + 2
    start = np.arange(blocks, dtype=np.float64) * 2.0**shift
    terms = weights(order, scale, start) * 2.0**shift
    # A block of several integers is at least its length times the weight of the next block's first.
    least = terms if shift == 0 else np.append(terms[1:], 0.0)
    return TruncatedTest(shift=shift, beyond=running_sums(terms[::-1])[::-1], within=running_sums(least))
