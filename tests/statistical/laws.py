"""The laws that draws are held against, from their definitions in floats: nothing of the samplers, or of ggdp, is used.

=======  ===================================================================
p, b     order and scale
f(x)     exp(-(|x| / b)^p)
edges    integers that cut a law into cells: k < e_0, e_0 <= k < e_1, ...
below    P(K < k), for an array of integers
=======  ===================================================================

Up to scales of some 10^5 the weights f are added one by one. At wider ones sums become integrals from k - 1/2 on.

Claim. That is off by at most 4 / b. Proof: f falls on both sides of 0, so a sum over integers differs from its
integral by at most f(0) = 1 on each side, and the sum of all is at least b. (The midpoint rule does better: its error
is about b^-2.) At b = 2^40 that is 4e-12, and ten million draws do not see less than 1e-4.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import mpmath  # type: ignore[import-untyped]
import numpy as np
from mpmath import mpf
from scipy.special import gammainc, gammaincc, gammainccinv, pdtr

if TYPE_CHECKING:
    from collections.abc import Callable
    from fractions import Fraction

    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.float64]
    Integers = NDArray[np.int64]
    Below = Callable[[Integers], Floats]

_WIDE = 2.0**34
# Weights below e^-45 are left out: they hold less than 1e-18 of any law here.
_DEPTH = 45.0
_MOST_EDGES = 2048
# No cells are made where less than this is left of a law.
_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class Law:
    """A law on the integers and the cells it is looked at in."""

    edges: Integers
    below: Below

    def probabilities(self, below: Below) -> Floats:
        """The probability of each cell under this law's `below` or another's."""
        return np.maximum(np.diff(below(self.edges), prepend=0.0, append=1.0), 0.0)

    def counted(self, draws: Integers) -> Integers:
        """How many draws fall in each cell."""
        first, last, cells = int(self.edges[0]), int(self.edges[-1]), self.edges.size + 1
        steps = np.unique(np.diff(self.edges))
        if steps.size > 1:
            return np.bincount(np.searchsorted(self.edges, draws, side="right"), minlength=cells)
        # Even steps are divided by, which is faster than a search.
        step = int(steps[0]) if steps.size else 1
        return np.bincount((np.clip(draws, first - step, last) - (first - step)) // step, minlength=cells)


def edges_between(first: int, last: int) -> Integers:
    """All integers from first to last, or a part of them that is spread evenly."""
    if last - first < _MOST_EDGES:
        return np.arange(first, last + 1)
    step = (last - first) // (_MOST_EDGES - 2)
    return first + step * np.arange((last - first) // step + 1)


def dense(first: int, probabilities: Floats) -> Law:
    """The law of first, first + 1, ... with probabilities up to a common factor."""
    sums = np.concatenate([[0.0], np.cumsum(probabilities)])
    sums /= sums[-1]

    def below(k: Integers) -> Floats:
        return sums[np.clip(k - first, 0, sums.size - 1)]

    inside = np.flatnonzero((sums > _LEAST) & (sums < 1.0 - _LEAST))
    # One edge beyond each end shows draws where there should be none; a law of nearly one value has just these two.
    low, high = (inside[0], inside[-1]) if inside.size else (np.argmax(sums > 0.5), np.argmax(sums > 0.5) - 1)
    low, high = int(low), int(high)
    return Law(edges_between(first + low - 1, first + high + 1), below)


def weights(p: float, b: float, first: int, last: int) -> Floats:
    """f(first), ..., f(last) over the largest of them."""
    k = np.abs(np.arange(first, last + 1, dtype=np.float64))
    exponents = (k / b) ** p
    return np.asarray(np.exp(exponents.min() - exponents), dtype=np.float64)


@lru_cache(maxsize=8)
def integer(p: float, b: float) -> Law:
    """Integer generalized Gaussian noise."""
    if p == 1.0:
        return _order_one(b)
    if b < _WIDE:
        reach = math.ceil(b * _DEPTH ** (1.0 / p)) + 2
        half = weights(p, b, 0, reach)
        return dense(-reach, np.concatenate([half[:0:-1], half]))

    def below(k: Integers) -> Floats:
        return _real_below(p, k - 0.5, b)

    reach = int(b * gammainccinv(1.0 / p, 2.0 * _LEAST) ** (1.0 / p))
    return Law(edges_between(-reach, reach), below)


def _order_one(b: float) -> Law:
    """Order 1 in closed form: P(K >= k) = r^k / (1 + r) for k >= 1, with r = e^(-1/b)."""

    def below(k: Integers) -> Floats:
        far = np.exp(-np.where(k <= 0, 1.0 - k, k) / b) / (1.0 + math.exp(-1.0 / b))
        return np.where(k <= 0, far, 1.0 - far)

    reach = math.ceil(-b * math.log(_LEAST)) + 1
    return Law(edges_between(-reach, reach), below)


def _real_below(p: float, x: ArrayLike, b: float) -> Floats:
    """P(X < x) of the law on the reals, accurate below 0."""
    z = np.asarray(x, dtype=np.float64) / b
    t = np.abs(z) ** p
    sides = np.where(z < 0.0, gammaincc(1.0 / p, t) / 2.0, 0.5 + gammainc(1.0 / p, t) / 2.0)
    return np.asarray(sides, dtype=np.float64)


def conditional(p: float, b: float, tau: int) -> Law:
    """Integer noise given that it is at least tau."""
    if tau <= 0:
        whole = integer(p, b)
        start = whole.below(np.array([tau]))[0]

        def below(k: Integers) -> Floats:
            return np.where(k <= tau, 0.0, (whole.below(k) - start) / (1.0 - start))

        inside = whole.edges[whole.edges > tau]
        return Law(np.concatenate([[tau], inside]), below)
    # From tau on, (x/b)^p rises by so much until x = tau (1 + depth / t)^(1/p).
    t = (tau / b) ** p
    if b < _WIDE:
        last = math.ceil(tau * math.exp(math.log1p(_DEPTH / t) / p)) + 2
        return dense(tau, weights(p, b, tau, last))
    rises = np.concatenate([np.linspace(0.05, 4.0, 40), np.arange(5.0, 20.0)])
    edges = np.array([tau, *(int(tau * math.exp(math.log1p(rise / t) / p)) for rise in rises)])

    @lru_cache(maxsize=256)
    def above(k: int) -> mpf:
        with mpmath.mp.workdps(50):
            return mpmath.gammainc(1 / mpf(p), ((k - mpf(0.5)) / mpf(b)) ** mpf(p), mpmath.inf)

    def far_below(k: Integers) -> Floats:
        return np.array([0.0 if j <= tau else float(1 - above(int(j)) / above(tau)) for j in k])

    return Law(edges, far_below)


def truncated(p: float, b: float, lower: int, upper: int, s: int) -> Law:
    """Integer outputs in bounds, around s."""
    if upper - lower < _WIDE:
        law = dense(lower, weights(p, b, lower - s, upper - s))
        return Law(np.unique(np.concatenate([[lower], law.edges, [upper + 1]])), law.below)
    start, stop = (float(_real_below(p, x - s - 0.5, b)) for x in (lower, upper + 1))

    def below(k: Integers) -> Floats:
        shares: Floats = (_real_below(p, k - s - 0.5, b) - start) / (stop - start)
        return np.clip(shares, 0.0, 1.0)

    return Law(edges_between(lower, upper + 1), below)


def boundary_inflated(p: float, b: float, lower: int, upper: int, s: int) -> Law:
    """Noise around s, put on the bound that it falls beyond."""
    whole = integer(p, b)

    def below(k: Integers) -> Floats:
        return np.where(k <= lower, 0.0, np.where(k > upper, 1.0, whole.below(k - s)))

    inside = whole.edges + s
    inside = inside[(inside > lower) & (inside <= upper)]
    return Law(np.unique(np.concatenate([[lower, lower + 1], inside, [upper, upper + 1]])), below)


def binomial(n: int, q: Fraction) -> Law:
    """How many of n events of probability q happen, in exact integers over the n-th power of q's denominator."""
    yes, no = q.numerator, q.denominator - q.numerator
    powers = [1]
    for _ in range(n):
        powers.append(powers[-1] * no)
    masses, happened = [], 1
    for k in range(n + 1):
        masses.append(math.comb(n, k) * happened * powers[n - k] / q.denominator**n)
        happened *= yes
    law = dense(0, np.array(masses))
    return Law(np.unique(np.clip(law.edges, 0, n + 1)), law.below)


def poisson(mean: float) -> Law:
    """The Poisson law: off that of Binomial(N, mean / N) by at most mean / N in total variation (Le Cam 1960)."""

    def below(k: Integers) -> Floats:
        return np.where(k <= 0, 0.0, pdtr(np.maximum(k - 1, 0), mean))

    reach = 6.2 * math.sqrt(mean) + 6.0
    return Law(edges_between(max(math.floor(mean - reach), 0), math.ceil(mean + reach)), below)


def shifted(law: Law, step: int) -> Below:
    """What draws + step have in place of `law.below`."""
    return lambda k: law.below(k - step)


def signs_flipped(law: Law, share: float) -> Below:
    """What draws have, of which a share of the negative ones is made positive."""
    return lambda k: np.where(
        k <= 0, (1.0 - share) * law.below(k), law.below(k) - share * law.below(1 - np.maximum(k, 1))
    )


def tails_dropped(law: Law, reach: int) -> Below:
    """What draws have, of which those with |k| >= reach are made 0."""
    left, right = law.below(np.array([1 - reach]))[0], 1.0 - law.below(np.array([reach]))[0]

    def below(k: Integers) -> Floats:
        inside: Floats = law.below(np.clip(k, 1 - reach, reach)) - left
        return inside + np.where(k > 0, left + right, 0.0)

    return below
