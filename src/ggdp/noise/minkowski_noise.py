"""Noise for many numbers at once: integer vectors with P(x) proportional to exp(-||x|| / b), drawn exactly.

===========  ===========================================================================================
b, q         scale, and exp(-1/b)
n, D         coordinates of a group, and of all groups together
x+, x-       the parts of a group above and below 0, both as numbers of at least 0; |x+| is the sum of one
a, c         radii, whole numbers of at least 0; t = a + c and u = a - c, the common total
B_n(a, c)    the ball of all x in Z^n with |x+| <= a and |x-| <= c; of "signed" that with |x+| + |x-| <= a
N_n(a, c)    the number of its points; N without an index is the product over all groups
w(a, c)      weight of a pair of radii
===========  ===========================================================================================

==========  =========================================  ==================================  ======================
kind        norm, the largest over groups of           what one unit changes               w
==========  =========================================  ==================================  ======================
added       |x+|, plus the largest over all of |x-|    adds or takes 1 in all groups       q^(a + c) N(a, c)
replaced    max(|x+|, |x-|)                            moves 1 within every group          q^a N(a, a), c = a
signed      |x+| + |x-|                                each group by 1 in all, either way  q^a N(a)
==========  =========================================  ==================================  ======================

Claim (law). Radii with the weights w, and then a uniform point of each group's ball, independently, have the law of x.
Proof: a point x is in the balls of all radii a >= A, c >= C, the norm being A + C, and the sum of q^(a + c) over these
is q^||x|| / (1 - q)^2, the same multiple of q^||x|| for all x; likewise with one radius.

A group is complete if each unit is in one of its cells for certain. Then it has a further cell, u minus the sum of the
others (u = 0 of "replaced"), so that complete groups agree on their total. With K = n + 1 cells that is the norm ball
of all moves +-sum_j e_(j, a_j), and its cells are exchangeable: B_n(a, c) are the vectors of K cells with sum a - c and
a positive part of at most a. Where a unit may be in no cell, the cell of these units is left out; what is released of
the others is as private, and its law the same.

Counting. With A = 1/(1 - alpha) and C = 1/(1 - beta), a coordinate has the generating function A + C - 1 =: F, so
N_n(a, c) is the coefficient of alpha^a beta^c in A C F^n; it is the sum over i of C(n, i) C(a, i) C(c + n - i, n - i),
i being the number of positive coordinates. The operators alpha d/dalpha +- beta d/dbeta, which multiply N_n by t and u,
take products of A, C and F to such products, and eliminating A C A C F^n from the three identities of t N_n, u N_n and
u^2 N_n leaves

    (n + 1)^2 N_(n+1) = (2n + 1)(t + 1) N_n + (n^2 - u^2) N_(n-1),
    sum of x_1^2 over the ball = N_n [n (1 + t) N_(n+1) / N_n - n + (n + 4) u^2 / (n + 1)] / (n + 2)^2,
    points with x_1 >= 0 = [N_n + (1 + u / n) N_(n-1)] / 2.

For "signed", A (2A - 1)^n gives (n + 1) N_(n+1) = (2a + 1) N_n + n N_(n-1), squares N_n [(2a + 1) N_(n+1) / N_n - 1] /
(2n + 4) and halves (N_n + N_(n-1)) / 2. The tests compare all of these with counts by enumeration.

Radii
-----
The quarter plane (for one radius the half line) is cut into blocks by lines, the same for a and c. A block gets units,
integers in proportion to its size and a bound of w in it. A draw picks a unit, a place in its block uniformly, and
accepts it by the ratio of w to the bound: in floats, or where these do not decide in ball arithmetic and whole numbers,
reading as many random bits as it takes. So the law is exact for any bound.

Claim (bound). In a block log N lies below the bilinear interpolation of its values at the corners in log(a + s) and
log(c + s), with s = 1, or 1/2 for one radius. Proof: for a whole c >= 0, N_n is the sum of C(n, i) C(c, i)
C(a + n - i, n - i), a polynomial in a + 1 without negative coefficients, and so is a product of them; the logarithm of
such a polynomial is convex in log(a + 1) (Hoelder), so it lies below its chord; a and c may change places. With c = a
or for "signed" the recurrences have no negative term as polynomials in a + 1/2. The concave logarithm is replaced by
its tangent at the last place of the block, which raises the bound; what remains, with log q^(a + c), is linear in
either radius, so it is largest at a corner.

Claim (beyond the last line L >= 4 b D + 1). The weights there sum to at most 4 N(L, L) q^L / (1 - q^(1/2))^2. Proof: as
polynomials of degree D in a + 1 without negative coefficients N(a, c) <= N(L, L) g(a) g(c), where g is 1 up to L and
then ((a + 1)/(L + 1))^D <= e^((a - L)/(4b)). Sum geometric series; g(a)^2 serves for one radius. L is so large that
this is below 2^-256 units. They get one unit all the same, and a draw of it that 256 bits do not reject ends in an
error: no noise is cut off.

Claim (floats). N_(n+1) / N_n by the recurrence is off by a share of at most 12 (n + 1) 2^-53: its last term is negative
only if u^2 > n^2, and then it is less than n/(2n + 1) of the first, since N_n / N_(n-1) >= (n + |u|) / n (points with
x_1 < 0 are no fewer than 0), so that an error of the quotient before enters with a factor below 1. Each logarithm of a
ratio is at most 45, and a sum of D of them is off by 2^-47 D^2 at most. NumPy's logarithms and exponentials are right
to a share of some 2^-50; 2^-46 is allowed. With the roundings of (a + c)/b and of the interpolation all is off by less
than `error`, (64 + D)^2 2^-46.

Points of a ball
----------------
The number i of positive coordinates is drawn by the terms of N_n, in floats, or where a random word does not decide by
`ggdp.noise.table.invert` on whole numbers. Which they are is a random i-subset; their sizes are the gaps of a random
i-subset of {1, ..., a}; the sizes of the others, at least 0, are the gaps less one of a subset of n - i of {1, ...,
c + n - i}. All subsets are exactly uniform.

Moments and tails are sums of q^(a + c) times polynomials of degree at most D + 2 in a and in c. Up to `_MOST_GAUSS`
coordinates, or where a radius may be 0, a Gauss rule for the weights q^a on the integers (Meixner polynomials) is exact
but for rounding. For more the weights are so smooth that steps of less than a standard deviation lose next to nothing
(some e^(-2 (1.2 pi)^2)); tails, whose radii have an edge, are summed from it on. They are floats, without enclosures:
tests compare them with closed forms and exact sums.

Timing. No time depends on a true value: none is known here.

References
----------
Hardt and Talwar, "On the Geometry of Differential Privacy", STOC 2010, and Awan and Slavkovic, "Structure and
Sensitivity in Differential Privacy", JASA 2021 (noise by a norm); Bump, Choi, Kurlberg and Vaaler, "A local Riemann
hypothesis, I" (2000), for the recurrence of "signed"; Devroye, "Non-Uniform Random Variate Generation" (1986), II.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any

import numpy as np
from attrs import field
from flint import arb
from numpy.typing import ArrayLike, NDArray

from ggdp import _validate
from ggdp._records import checked_field, frozen
from ggdp.errors import ArgumentError, UnprovedError
from ggdp.noise.entropy import Integers, Source, checked_source, random_bits, random_words, takes_rng, uniform_integers
from ggdp.noise.generalized_gaussian import checked_scale
from ggdp.noise.integer_law import least_passing
from ggdp.noise.integer_noise import FARTHEST, WIDEST
from ggdp.noise.table import invert, is_below
from ggdp.proofs.noise_law import NoiseLaw

Floats = NDArray[np.float64]

KINDS = ("added", "replaced", "signed")
# Below this the tail of the largest of all errors is hardly less than the sum of the tails of all cells, which floats
# know better.
SMALL = 1e-7
_TAIL_BITS = 256
_TOO_WIDE = "is too wide for 64-bit draws of this many numbers; use a larger unit"
# At a smaller scale floats have no noise but 0.
_LEAST = 2.0**-20
# The most coordinates for which sums are by a Gauss rule.
_MOST_GAUSS = 150
# Numbers drawn at a time, which then stay in a core's own cache.
_CHUNK = 1 << 17


def _groups(groups: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(_validate.integer(groups=n, at_least=0, at_most=10_000) for n in _validate.non_empty(groups=groups))


@frozen(kw_only=True)
class MinkowskiNoise:
    """Integer noise for groups of counts with P(x) proportional to exp(-||x|| / scale), drawn exactly.

    Parameters
    ----------
    scale : float
        Scale of the noise. A norm of at most R for every change that one unit can make gives pure DP with an epsilon of
        R / scale.
    groups : sequence of int
        Number of coordinates of each group, for example of each table, that are free: one fewer than it has cells if
        the group is complete.
    kind : {"added", "replaced", "signed"}, default "added"
        What has norm 1: a unit that is added to or removed from one cell of every group; one that moves from cell to
        cell in every group; or any change of each group by 1 in all. For groups of one number, "signed" is the largest
        of all changes.
    complete : sequence of bool, optional
        Which groups have a further cell, so that each unit is in one of their cells for certain. By default none has.
        Noise of all complete groups has the same total: for the kind "replaced" 0.

    Examples
    --------
    Three tables of two cells each, whose noise agrees on the total:

    >>> noise = MinkowskiNoise(scale=1.0, groups=(1, 1, 1), complete=(True, True, True))
    >>> x = noise.sample(1000)
    >>> x.shape, bool((x[:, 0] + x[:, 1] == x[:, 4] + x[:, 5]).all())
    ((1000, 6), True)
    >>> round(noise.std[0], 5), noise.half_widths(0.95)
    (2.19832, (5, 5, 5))
    """

    scale: float = field(converter=checked_scale)
    groups: tuple[int, ...] = field(converter=_groups)
    kind: str = checked_field(_validate.choice, default="added", among=KINDS)
    complete: tuple[bool, ...] | None = checked_field(_validate.booleans, default=None)

    def __attrs_post_init__(self) -> None:
        complete = self.complete or (False,) * len(self.groups)
        if len(complete) != len(self.groups) or (self.kind == "signed" and any(complete)):
            raise ArgumentError("complete", complete, "is for each group of the kinds 'added' and 'replaced'")
        if any(n == 0 and not closed for n, closed in zip(self.groups, complete, strict=True)):
            raise ArgumentError("groups", self.groups, "only a complete group may have no free coordinate")
        if self.kind == "replaced" and not any(self.groups):
            raise ArgumentError("groups", self.groups, "must have a free coordinate")

    @classmethod
    def of(cls, law: NoiseLaw) -> MinkowskiNoise:
        """Return the noise of a law with a norm on groups of integers."""
        norm = law.norm
        if norm is None or norm.kind not in KINDS:
            raise ArgumentError("law", law, "must have a norm on groups of integers")
        return cls(scale=law.scale, groups=norm.groups, kind=norm.kind, complete=norm.complete)

    @property
    def cells(self) -> tuple[int, ...]:
        """Number of cells of each group: its coordinates, and one more if it is complete."""
        complete = self.complete or (False,) * len(self.groups)
        return tuple(n + closed for n, closed in zip(self.groups, complete, strict=True))

    @takes_rng
    def sample(self, size: int, *, rng: Source | None = None) -> Integers:
        """Return independent draws: an array of `size` rows, each with the cells of all groups, group after group.

        Raises an `ArgumentError` if the scale is too wide for 64-bit numbers, and an `EntropyError` if the source of
        random bits fails; then there are no draws.
        """
        bits, rows = checked_source(rng), _validate.integer(size=size, at_least=0)
        radii = _radii(self.kind, tuple(sorted(self.groups)), self.scale)
        out = np.empty((rows, sum(self.cells)), dtype=np.int64)
        step = max(1, _CHUNK // out.shape[1])
        for start in range(0, rows, step):
            part = out[start : start + step]
            self._fill(part, *radii.draw(len(part), bits), bits)
        return out

    def _fill(self, out: Integers, a: Integers, c: Integers, rng: Source) -> None:
        """Overwrite rows of cells, given their radii."""
        starts, sizes = np.cumsum((0, *self.cells[:-1])), np.array(self.groups)
        # A few rows are drawn for all groups at once; for many, the groups of one size are.
        parts = [sizes > 0] if len(out) < 64 else [sizes == n for n in set(self.groups) - {0}]
        for part in map(np.flatnonzero, parts):
            if not part.size:
                continue
            points = _points(self.kind, sizes[part].repeat(len(out)), np.tile(a, part.size), np.tile(c, part.size), rng)
            for j, x in zip(part, points.reshape(part.size, len(out), -1), strict=True):
                out[:, starts[j] : starts[j] + sizes[j]] = x[:, : sizes[j]]
        for start, n, cells in zip(starts, self.groups, self.cells, strict=True):
            if cells > n:
                # Between -c and a, like all cells.
                out[:, start + n] = a - c - out[:, start : start + n].sum(axis=1)

    def pmf(self, points: ArrayLike) -> Floats:
        """Return P(x) for rows of cells, 0 where complete groups do not have the same total."""
        x = np.asarray(points)
        if x.dtype.kind not in "iu" or x.ndim < 1 or x.shape[-1] != sum(self.cells):
            raise ArgumentError("points", points, f"must be rows of {sum(self.cells)} integers")
        a, c = np.zeros((2, *x.shape[:-1]))
        possible, total, start = np.ones(a.shape, dtype=np.bool_), None, 0
        for n, cells in zip(self.groups, self.cells, strict=True):
            free = x[..., start : start + n].astype(np.float64)
            up, down = np.maximum(free, 0.0).sum(axis=-1), np.maximum(-free, 0.0).sum(axis=-1)
            a, c = (np.maximum(a, up + down), c) if self.kind == "signed" else (np.maximum(a, up), np.maximum(c, down))
            if cells > n:
                u = x[..., start : start + cells].sum(axis=-1)
                total = (np.zeros_like(u) if self.kind == "replaced" else u) if total is None else total
                possible &= u == total
            start += cells
        # The radii that have x in their balls begin at the norm; those with a given total go on in steps of two.
        step = 1.0
        if self.kind == "added" and total is not None:
            a, step = np.maximum(a, c + total), 2.0
            c = a - total
        norm = a + c if self.kind == "added" else np.maximum(a, c)
        series = -math.log(-math.expm1(-step / self._float_scale))
        series *= 2.0 if self.kind == "added" and step == 1.0 else 1.0
        masses = np.exp(series - norm / self._float_scale - self._moments[0])
        return np.asarray(np.where(possible, masses, 0.0), dtype=np.float64)

    @property
    def std(self) -> tuple[float, ...]:
        """Standard deviation of a cell of each group."""
        return spreads(self.groups, self.kind, self.scale)

    @property
    def total_std(self) -> float:
        """Standard deviation of the total that complete groups have in common."""
        return 0.0 if self.kind == "replaced" else spreads((*self.groups, 0), self.kind, self.scale)[-1]

    @property
    def _moments(self) -> tuple[float, dict[int, float]]:
        return _moments(self.kind, self.groups, self._float_scale)

    @property
    def _float_scale(self) -> float:
        return max(self.scale, _LEAST)

    def half_widths(self, level: float) -> tuple[int, ...]:
        """Return for a cell x of each group the least h with P(|x| <= h) >= level."""
        least = {n: self._least(level, partial(self._tail, n)) for n in set(self.groups)}
        return tuple(least[n] for n in self.groups)

    def total_half_width(self, level: float) -> int:
        """Return the least h with P(|u| <= h) >= level, for the common total u of complete groups."""
        return self._least(level, partial(self._tail, 0))

    def simultaneous_half_width(self, level: float) -> int:
        """Return an h with P(|x| <= h for all cells x) >= level; if no group has more than two cells, hardly too large.

        Given the radii, groups are independent. In a larger group the probabilities of its cells are added up. For a
        large scale sums are over the middles of blocks of radii; tails are raised by more than that is off, at most 3%.
        """
        kind, groups = self.kind, self.groups
        small = min(groups) < 12
        parts = 64.0 if kind != "added" else 3.0 if not small else 32.0 if max(groups) < 4 else 16.0
        parts = min(parts, 8.0) if max(groups) >= 100 and kind == "added" else parts
        x, step = _even(kind, groups, self._float_scale, parts, is_fine=True)
        logs = math.log(step) - x / self._float_scale
        a, c, base = (x, x, logs) if kind != "added" else _pairs(x, x, logs, logs)
        weights = np.exp(base + _log_counts(kind, groups, a, c) - self._moments[0])
        weights /= weights.sum()
        # What is left out counts as outside.
        a, c, weights = (x[weights > 1e-13] for x in (a, c, weights))
        raised = 1.0 if step == 1.0 else 1.0 + (2.0 / parts**2 if small else 1e-3)

        def tail(k: float) -> float:
            inside = {pair: self._inside(*pair, k, a, c, step) for pair in set(zip(groups, self.cells, strict=True))}
            product = math.prod(inside[pair] for pair in zip(groups, self.cells, strict=True))
            found = (1.0 - float((weights * product).sum())) * raised
            if found > SMALL:
                return found
            each = {n: self._tail(n, k) for n in set(groups)}
            return min(found, sum(cells * each[n] for n, cells in zip(groups, self.cells, strict=True)))

        return self._least(level, tail)

    def _inside(self, n: int, cells: int, k: float, a: Floats, c: Floats, step: float) -> Floats:
        """Return a lower bound of the probability that all cells of a group are below k on both sides."""
        u = a - c
        if n == 0:
            return np.asarray(np.clip((k - 0.5 - np.abs(u)) / step + 0.5, 0.0, 1.0))
        if n == 1:
            far = k - 1.0
            low, high = np.maximum(-c, -far), np.minimum(a, far)
            if cells > n:
                low, high = np.maximum(low, u - far), np.minimum(high, u + far)
            return np.asarray(np.maximum(high - low + 1.0, 0.0) / (a + c + 1.0), dtype=np.float64)
        logs, both = _log_counts(self.kind, (n,), a, c), np.zeros_like(a)
        for x, y in ((a, c), (c, a)):
            reached = x >= k
            y = x - k if self.kind == "signed" else y
            both[reached] += np.exp(_log_half(self.kind, n, (x - k)[reached], y[reached]) - logs[reached])
        return np.maximum(1.0 - cells * both, 0.0)

    def _least(self, level: float, tail: Callable[[float], float]) -> int:
        """Return the least h with a tail from h + 1 on of at most 1 - level, with a margin for the floats."""
        most = 1.0 - _validate.probability(level=level)
        # Secants on the logarithm of the tail, which is nearly straight, come close.
        before, last, x = 0.0, -math.log(most), 2.0 * max(self.std)
        for _ in range(12):
            now = math.log(max(tail(x + 1.0), 1e-300)) - math.log(most)
            if now == last or abs(x - before) < 0.5:
                break
            step = now * (x - before) / (now - last)
            before, last, x = x, now, min(max(x - step, 0.0), 4.0 * x + 4.0)
        return least_passing(lambda h: h >= 0 and tail(h + 1) * (1.0 + 1e-7) <= most, round(x))

    def tail(self, group: int, k: int) -> float:
        """Return P(|x| >= k) for k >= 1 and a cell x of a group."""
        return self._tail(self.groups[group], k)

    def _tail(self, n: int, k: float) -> float:
        """Return P(|x| >= k) for k >= 1 and a cell of a group of n coordinates, or for n = 0 the common total."""
        kind, groups, scale = self.kind, self.groups, self._float_scale
        if n == 0:
            if kind != "added":
                return 0.0
            c, d, base = _nodes_of_total(groups, scale, k)
            return 2.0 * float(np.exp(base + _log_counts(kind, groups, c + d + k, c) - self._moments[0]).sum())
        a, c, base = _nodes(kind, groups, scale)
        mode, spread, _ = _centre(kind, groups, scale)
        if _by_gauss(kind, groups, scale):
            # The rule is for sums over a - k.
            a, c, base = a + k, c if kind == "added" else a + k, base - k / scale
        elif k > mode - 9.0 * spread:
            # Likely radii are cut off, so sums are over a - k as well.
            d, logs = _gauss(spread, 96) if spread > 16.0 else _every(math.ceil(24.0 * spread) + 60)
            x, logs = d + k, logs + (d / spread if spread > 16.0 else 0.0) - (d + k) / scale
            y, step = _even(kind, groups, scale, 1.2)
            a, c, base = (x, x, logs) if kind != "added" else _pairs(x, y, logs, math.log(step) - y / scale)
        a, c, base = (x[a >= k] for x in (a, c, base))
        others = list(groups)
        others.remove(n)
        # Points with x_1 >= k are those with x_1 >= 0 of a smaller ball.
        logs = _log_counts(kind, tuple(others), a, c) + _log_half(kind, n, a - k, c)
        return 2.0 * float(np.exp(base + logs - self._moments[0]).sum())


def spreads(groups: tuple[int, ...], kind: str, scale: float) -> tuple[float, ...]:
    """Return the standard deviation of a cell of each group, for planners."""
    squares = _moments(kind, tuple(groups), max(float(scale), _LEAST))[1]
    return tuple(math.sqrt(squares[n]) for n in groups)


def _ratios(kind: str, most: int, t: Floats | float, u: Floats | float) -> list[Any]:
    """Return N_(n+1) / N_n for n = 0, ..., most at a + c = t and a - c = u."""
    if kind == "signed":
        steps = [odd := 2.0 * t + 1.0]
        for n in range(1, most + 1):
            steps.append((odd + n / steps[-1]) / (n + 1))
        return steps
    steps = [rise := t + 1.0]
    for n in range(1, most + 1):
        steps.append(((2 * n + 1) * rise + (n - u) * (n + u) / steps[-1]) / (n + 1) ** 2)
    return steps


def _log_counts(kind: str, groups: tuple[int, ...], a: Floats | float, c: Floats | float) -> Floats:
    """Return the sum over groups of log N_n(a, c)."""
    t, u = (a, 0.0) if kind == "signed" else (a + c, a - c)
    total = np.zeros(np.shape(t))
    most = max(groups, default=0)
    if most:
        ratios = _ratios(kind, most - 1, t, u)
        # Step n is taken by every group that is larger.
        larger = np.cumsum(np.bincount(groups)[::-1])[::-1]
        for n, ratio in enumerate(ratios):
            total += larger[n + 1] * np.log(ratio)
    return total


def _log_half(kind: str, n: int, a: Floats, c: Floats) -> Floats:
    """Return the logarithm of the number of points of a ball with x_1 >= 0."""
    t, u = (a, 0.0) if kind == "signed" else (a + c, a - c)
    ratio = _ratios(kind, n - 1, t, u)[n - 1]
    share: Floats = np.log((ratio + 1.0 + u / n) / 2.0)
    return _log_counts(kind, (n - 1,), a, c) + share


def _terms(kind: str, n: int, a: int, c: int) -> list[int]:
    """Return how many points of the ball have i positive coordinates (or for "signed" i that are not 0), i <= n."""
    terms = [1 if kind == "signed" else math.comb(c + n, n)]
    for i in range(n):
        if kind == "signed":
            terms.append(terms[-1] * 2 * (n - i) * (a - i) // (i + 1) ** 2)
        else:
            terms.append(terms[-1] * (n - i) ** 2 * (a - i) // ((i + 1) ** 2 * (c + n - i)))
    return terms


class _Radii:
    """Exact draws of the radii."""

    def __init__(self, kind: str, groups: tuple[int, ...], scale: float, *, bits: int = 60, word: int = 64) -> None:
        if scale > WIDEST:
            raise ArgumentError("scale", scale, _TOO_WIDE)
        self.kind, self.groups, self.exact_scale, self.word = kind, groups, scale, word
        # Weights by a larger scale are upper bounds, and those of all but 0 are nothing for floats then.
        scale = self.scale = max(scale, _LEAST)
        self.error = 2.0**-46 * (64 + sum(groups)) ** 2
        mode, spread, apart = _centre(kind, groups, scale)
        self.top = float(_log_weights(kind, groups, scale, mode, mode))
        far = math.ceil(4.0 * scale * sum(groups)) + 1
        while self._log_tail(far) - self.top > -math.log(2.0) * (_TAIL_BITS + bits + 1):
            far *= 2
        if far > FARTHEST:
            raise ArgumentError("scale", scale, _TOO_WIDE)
        # Where blocks of radii begin and end: narrow ones where the likely radii are, wider ones elsewhere.
        step = max(1, int(spread / 3.0))
        narrow = 12.0 if apart else 12.0 + mode // step
        steps = step * np.maximum(1.0, 1.5 ** (np.arange(narrow + 120.0) - narrow))
        away = np.cumsum(np.minimum(steps, 2.0**60)[: int(np.argmax(np.cumsum(steps) >= far)) + 1]).astype(np.int64)
        inside = [*(int(mode) - away), int(mode), *(int(mode) + away)]
        self.lines = np.array(sorted({0, far, *(int(x) for x in inside if 0 < x < far)}), dtype=np.int64)
        self.widths = np.diff(self.lines)
        starts, ends = self.lines[:-1].astype(float), self.lines[1:] - 1.0
        # Between two lines log N lies below its chord in log(a + slack), and that below its tangent at the last place.
        slack = 1.0 if kind == "added" else 0.5
        span = np.log1p(self.widths / (starts + slack))
        last = np.log1p((ends - starts) / (starts + slack)) / span
        first = np.maximum(last - (ends - starts) / (ends + slack) / span, 0.0)
        grid = np.meshgrid(*[self.lines.astype(float)] * (2 if kind == "added" else 1), indexing="ij")
        bounds = [_log_counts(kind, groups, grid[0], grid[-1])]
        sizes = np.ones(())
        for _ in grid:
            places = ((first, starts), (last, ends))
            bounds = [((1 - x) * f[..., :-1] + x * f[..., 1:] - at / scale).T for f in bounds for x, at in places]
            sizes = np.multiply.outer(sizes, self.widths.astype(float))
        masses = np.exp(np.max(bounds, axis=0) - self.top + self.error).ravel() * sizes.ravel()
        # How many units a weight of e^top is given.
        self.height = 2.0 ** (bits - math.frexp(float(masses.sum()))[1])
        self.units = np.maximum(np.ceil(masses * (self.height * (1.0 + 2.0**-40))), 1.0).astype(np.int64)
        self.ends = np.cumsum(self.units)
        self.shares = np.log(sizes.ravel() * self.height / self.units)

    def _log_tail(self, far: int) -> float:
        """Return an upper bound of the logarithm of the weight of all radii that are not below `far`."""
        rest = 2.0 * math.log(-math.expm1(-0.5 / self.scale))
        return float(_log_counts(self.kind, self.groups, float(far), float(far))) - far / self.scale + 1.5 - rest

    def draw(self, count: int, rng: Source) -> tuple[Integers, Integers]:
        """Return the radii a and c of a number of draws."""
        found = [np.empty((2, 0), dtype=np.int64)]
        left = count
        while left > 0:
            a, c = self._round(left + left // 2 + 4, rng)
            found.append(np.stack([a[:left], c[:left]]))
            left -= a.size
        a, c = np.concatenate(found, axis=1)
        return a, c

    def _round(self, count: int, rng: Source) -> tuple[Integers, Integers]:
        """Return those of a number of proposals that are accepted."""
        units = uniform_integers(int(self.ends[-1]) + 1, count, rng, word=self.word)
        block = np.searchsorted(self.ends, units, side="right")
        beyond = block == self.ends.size
        if beyond.any():
            if random_bits(rng, _TAIL_BITS) == 0:
                raise UnprovedError("a draw fell beyond 64 bits, which happens with a probability below 2^-256")
            block[beyond] = 0
        i, j = np.divmod(block, self.widths.size) if self.kind == "added" else (block, block)
        a = self.lines[i] + uniform_integers(self.widths[i], count, rng, word=self.word)
        c = a
        if self.kind == "added":
            c = self.lines[j] + uniform_integers(self.widths[j], count, rng, word=self.word)
        words = random_words(rng, count) >> np.uint64(64 - self.word)
        weights = _log_weights(self.kind, self.groups, self.scale, a.astype(float), c.astype(float))
        chances = np.exp(weights - self.top + self.shares[block])
        gaps = chances - words * 2.0**-self.word
        errors = 2.0 * self.error * chances + 2.0**-50 + 2.0**-self.word
        accepted = gaps > errors
        for k in np.flatnonzero((np.abs(gaps) <= errors) & ~beyond):
            height = partial(self._chance, int(a[k]), int(c[k]), int(block[k]))
            numerator, word = int(words[k]), self.word
            accepted[k] = is_below(height, 0, rng, numerator=numerator, word=word, precision=lambda bits: bits + 128)
        accepted &= ~beyond
        return a[accepted], c[accepted]

    def _chance(self, a: int, c: int, block: int) -> arb:
        """Enclose the probability of accepting a place of a block."""
        i, j = divmod(block, self.widths.size) if self.kind == "added" else (block, None)
        places = int(self.widths[i]) * (1 if j is None else int(self.widths[j]))
        points = math.prod(sum(_terms(self.kind, n, a, c)) for n in self.groups)
        norm = a + c if self.kind == "added" else a
        weight = arb(points) * (-arb(norm) / arb(self.exact_scale) - arb(self.top)).exp()
        return weight * arb(self.height) * places / int(self.units[block])


_radii = lru_cache(maxsize=32)(_Radii)


def _log_weights(kind: str, groups: tuple[int, ...], scale: float, a: Floats | float, c: Floats | float) -> Floats:
    """Return the logarithms of the weights of radii."""
    return _log_counts(kind, groups, a, c) - (a + c if kind == "added" else a) / scale


@lru_cache(maxsize=64)
def _centre(kind: str, groups: tuple[int, ...], scale: float) -> tuple[float, float, bool]:
    """Return about the likeliest radius a (= c), a whole number, the standard deviation of a given c, and more.

    The last says whether both radii are far from 0 for certain. If nearly all groups have one coordinate, whose number
    of places depends on a + c alone, either may be near 0.
    """
    # log N rises by at most D/(a + 1/2) on the diagonal, so there is no mode beyond b D.
    end = scale * sum(groups) + 1.0
    low, high = 0.0, end
    for _ in range(2):
        places = np.linspace(low, high, 65)
        best = int(np.argmax(_log_weights(kind, groups, scale, places, places)))
        low, high = places[max(best - 1, 0)], places[min(best + 1, 64)]
    mode = float(round(places[best]))
    spread = scale * math.sqrt(sum(groups) + 2.0) * (0.8 if kind == "added" else 1.0)
    step = max(1.0, float(round(spread / 2.0)))
    if mode >= step:
        a = mode + step * np.array([-1.0, 0.0, 1.0])
        below, at, above = _log_weights(kind, groups, scale, a, np.full(3, mode) if kind == "added" else a)
        spread = min(spread, step / math.sqrt(max(2.0 * at - below - above, 1e-9)))
    if kind != "added":
        return mode, spread, mode > 9.0 * spread
    ends = _log_counts(kind, groups, mode * np.array([1.0, 2.0]), mode * np.array([1.0, 0.0]))
    return mode, spread, bool(ends[1] < ends[0] - 30.0)


def _points(kind: str, n: Integers, a: Integers, c: Integers, rng: Source) -> Integers:
    """Return a uniform point of each ball, one in a row; what follows its n coordinates has no meaning."""
    width = int(n.max())
    i = _signs(kind, n, a, c, rng)
    places = np.arange(width)
    if kind == "signed":
        sets = _subsets(np.concatenate((a, n)), np.concatenate((i, i)), width, rng).reshape(2, -1, width)
        others = np.zeros_like(sets[0])
    else:
        m = n - i
        sets = _subsets(np.concatenate((a, n, c + m)), np.concatenate((i, i, m)), width, rng).reshape(3, -1, width)
        others = np.diff(sets[2], prepend=-1, axis=1) - 1
    chosen = np.zeros((n.size, width + 1), dtype=np.bool_)
    np.put_along_axis(chosen, np.minimum(sets[1], width), values=True, axis=1)
    chosen = chosen[:, :width]
    before = np.cumsum(chosen, axis=1)
    values = np.take_along_axis(np.diff(sets[0], prepend=-1, axis=1), np.maximum(before - 1, 0), axis=1)
    if kind == "signed":
        values[(random_words(rng, values.size) & np.uint64(1)).astype(np.bool_).reshape(values.shape)] *= -1
    rest = np.take_along_axis(others, np.minimum(places - before, width - 1) * ~chosen, axis=1)
    return np.where(chosen, values, -rest)


def _signs(kind: str, n: Integers, a: Integers, c: Integers, rng: Source) -> Integers:
    """Return how many coordinates of a uniform point of each ball are positive (for "signed", are not 0)."""
    i, size = np.arange(float(n.max())), n[:, None].astype(float)
    left = np.maximum(size - i, 0.0)
    if kind == "signed":
        ratios = 2.0 * left * np.maximum(a[:, None] - i, 0.0) / (i + 1.0) ** 2
    else:
        ratios = left**2 * np.maximum(a[:, None] - i, 0.0) / ((i + 1.0) ** 2 * (c[:, None] + np.maximum(left, 1.0)))
    with np.errstate(divide="ignore"):
        terms = np.cumsum(np.log(ratios), axis=1)
    terms = np.exp(np.concatenate((np.zeros((n.size, 1)), terms), axis=1) - np.maximum(terms.max(axis=1), 0.0)[:, None])
    below = np.cumsum(terms, axis=1)
    below = below[:, :-1] / below[:, -1:]
    words = random_words(rng, n.size)
    uniform = (words * 2.0**-64)[:, None]
    found: Integers = (uniform >= below).sum(axis=1)
    for k in np.flatnonzero((np.abs(uniform - below) <= 2.0**-44 * (i.size + 16) ** 2).any(axis=1)):
        counts = _terms(kind, int(n[k]), int(a[k]), int(c[k]))
        sums = [0, *accumulate(counts)]

        def enclose(j: int, sums: list[int] = sums) -> arb:
            return arb(sums[min(max(j, 0), len(sums) - 1)]) / arb(sums[-1])

        found[k] = invert(enclose, rng, numerator=int(words[k]), bits=64, start=int(found[k]))
    return found


def _subsets(totals: Integers, sizes: Integers, width: int, rng: Source) -> Integers:
    """Return for each row a uniform set of so many of the integers from 0 to total - 1, in order, then 2^62."""
    places = np.arange(width)
    left = np.maximum(totals[:, None] - places, 1)
    drawn = uniform_integers(left.ravel(), left.size, rng).reshape(left.shape)
    found = np.full(left.shape, 1 << 62)
    for k in range(int(sizes.max())):
        # Of the integers that are left, the r-th: so many that are taken come before it.
        taken = (found[:, :k] - places[:k] <= drawn[:, k, None]).sum(axis=1)
        found[:, k] = np.where(k < sizes, drawn[:, k] + taken, 1 << 62)
        found[:, : k + 1].sort(axis=1)
    return found


@lru_cache(maxsize=64)
def _moments(kind: str, groups: tuple[int, ...], scale: float) -> tuple[float, dict[int, float]]:
    """Return the logarithm of the sum of all weights, and E x^2 of a cell of a group of n coordinates for each n."""
    a, c, base = _nodes(kind, groups, scale)
    logs = base + _log_counts(kind, groups, a, c)
    top = float(logs.max())
    weights = np.exp(logs - top)
    total = float(weights.sum())
    t, u = (a, np.zeros_like(a)) if kind == "signed" else (a + c, a - c)
    ratios = _ratios(kind, max(groups), t, u)
    squares = {}
    for n in set(groups):
        if kind == "signed":
            mean = ((2.0 * t + 1.0) * ratios[n] - 1.0) / (2.0 * (n + 2.0))
        else:
            mean = (n * (1.0 + t) * ratios[n] - n + (n + 4.0) * u * u / (n + 1.0)) / (n + 2.0) ** 2
        squares[n] = float((weights * (mean if n else u * u)).sum()) / total
    return top + math.log(total), squares


def _by_gauss(kind: str, groups: tuple[int, ...], scale: float) -> bool:
    """Return whether sums over radii are by a Gauss rule, and not by even steps."""
    _, spread, apart = _centre(kind, groups, scale)
    return sum(groups) <= _MOST_GAUSS or (spread > 3.0 and not apart)


def _even(
    kind: str, groups: tuple[int, ...], scale: float, parts: float, *, is_fine: bool = False
) -> tuple[Floats, float]:
    """Return radii in even steps, so many to a standard deviation, and the step; fine ones are middles of blocks."""
    mode, spread, apart = _centre(kind, groups, scale)
    step = max(1.0, float(int(spread / parts)))
    reach = 11.0 * spread if apart else mode + 12.0 * spread + 20.0
    if is_fine:
        first = max(math.floor((mode - reach) / step), 0)
        return step * np.arange(first, math.ceil((mode + reach) / step) + 1.0) + (step - 1.0) / 2.0, step
    x = (mode + step * np.arange(-math.ceil(reach / step), math.ceil(reach / step) + 1)).astype(np.float64)
    return x[x >= 0.0], step


def _every(count: int) -> tuple[Floats, Floats]:
    """Return the first whole numbers, each with a weight of 1."""
    return np.arange(float(count)), np.zeros(count)


def _pairs(x: Floats, y: Floats, first: Floats, second: Floats) -> tuple[Floats, Floats, Floats]:
    """Return all pairs of radii, and the sums of what belongs to each."""
    a, c = np.meshgrid(x, y, indexing="ij")
    return a.ravel(), c.ravel(), np.add.outer(first, second).ravel()


@lru_cache(maxsize=16)
def _nodes(kind: str, groups: tuple[int, ...], scale: float) -> tuple[Floats, Floats, Floats]:
    """Return radii a and c, and the logarithms of the weights with which they sum q^(a + c) times a polynomial."""
    if _by_gauss(kind, groups, scale):
        x, logs = _gauss(scale, (sum(groups) + 4) // 2)
    else:
        x, step = _even(kind, groups, scale, 1.2)
        logs = math.log(step) - x / scale
    return (x, x, logs) if kind != "added" else _pairs(x, x, logs, logs)


def _nodes_of_total(groups: tuple[int, ...], scale: float, k: float) -> tuple[Floats, Floats, Floats]:
    """Return radii c, excesses d of a over c + k, and the logarithms of their weights, for sums over u >= k."""
    if _by_gauss("added", groups, scale):
        (c, first), (d, second) = (_gauss(width, (sum(groups) + 4) // 2) for width in (scale / 2.0, scale))
        c, d = np.meshgrid(c, d, indexing="ij")
        return c.ravel(), d.ravel(), np.add.outer(first, second - k / scale).ravel()
    mode, spread, _ = _centre("added", groups, scale)
    # Given u the middle of both radii has a narrower law; the excess has half of a bell, about twice as wide.
    middle, step = _even("added", groups, scale, 2.0)
    if spread > 16.0:
        d, logs = _gauss(spread, 48)
        logs = logs + d / spread
    else:
        d = np.arange(math.ceil(2.0 * mode if spread <= 3.0 else 0.0) + math.ceil(12.0 * spread) + 60.0)
        logs = np.zeros_like(d)
    half = (d + k) / 2.0
    c = middle[:, None] - (half if step > 1.0 else np.floor(half))
    logs = np.where(c >= 0.0, math.log(step) + logs - (2.0 * c + d + k) / scale, -np.inf)
    return np.maximum(c, 0.0).ravel(), np.broadcast_to(d, c.shape).ravel(), logs.ravel()


@lru_cache(maxsize=64)
def _gauss(scale: float, count: int) -> tuple[Floats, Floats]:
    """Return nodes and the logarithms of weights of the Gauss rule for the weights e^(-x/scale), x = 0, 1, ..."""
    q, p = max(math.exp(-1.0 / scale), 1e-300), -math.expm1(-1.0 / scale)
    k = np.arange(float(count))
    diagonal, beside = (k + q * (k + 1.0)) / p, k[1:] * math.sqrt(q) / p
    x: Floats = np.linalg.eigvalsh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1)).astype(np.float64)
    # Weights are 1 / sum p_k(x)^2 over the orthonormal polynomials p_k.
    before, now = np.zeros_like(x), np.full_like(x, math.sqrt(p))
    squares, turn, logs = now**2, x * (1.0 + math.sqrt(q)) / (1.0 - math.sqrt(q)), np.zeros_like(x)
    with np.errstate(all="ignore"):
        for j in range(count - 1):
            last = beside[j - 1] * before if j else 0.0
            before, now = now, ((x - diagonal[j]) * now - last) / beside[j]
            # Past its turning point p_k(x) falls, but for the error of the recurrence.
            now[(j > turn) & ~(np.abs(now) < np.abs(before))] = 0.0
            squares += now**2
            large = np.abs(now) > 1e100
            for values, power in ((before, 100), (now, 100), (squares, 200)):
                values[large] *= 10.0**-power
            logs[large] -= 200.0 * math.log(10.0)
        logs -= np.log(squares)
    logs[~np.isfinite(logs)] = -np.inf
    return x, logs
