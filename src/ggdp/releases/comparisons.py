"""Shares, ratios and differences of noisy counts, with intervals: functions of published numbers, which cost nothing.

=======  ==============================================================================================
x, y     sums of the noisy counts of two sets of cells without a common cell; a and c without noise
X, Y     their noise, x - a and y - c: sums of independent integer noise of known orders and scales
rho      the share a / (a + c)
T(r)     (1 - r) x - r y, which is x - r (x + y)
u, v     weights of the two parts, on an arc where each part is in units of its deviation; r = v / (u + v)
q_j      least q with P(|u X - v Y| <= q for both ends of piece j of the arc) >= level
w        odd length of the blocks of integers that the noise of a cell is rounded to; 1 up to a scale of 2000
=======  ==============================================================================================

**Shares.** Claim. If a + c > 0, the interval covers rho with a probability of at least the level, whatever a and c are.
Proof (Fieller 1954). Since (1 - rho) a = rho c, T(rho) = (1 - rho) X - rho Y. Let rho be in piece j. A point (u, v) of
its chord has the ratio of 1 - rho to rho, so T(rho) = (u X - v Y) / (u + v), and as the absolute value of a linear
function is convex, |u X - v Y| is at most the larger of those at the ends of the chord. So |T(rho)| <= q_j / (u + v)
with at least the level. The interval contains every r in any piece with this property. It may contain more: the hull
is taken, and where x + y <= 0, or no r has the property, other r's; more points never cover less. On a chord
1 / (u + v) is a linear function of r, so both sides are linear, and the ends of the interval are roots of these.

A share is null where x + y <= 0 or its interval is all of [0, 1]: the counts say nothing. With a + c = 0 there is no
share, and nothing to cover. Where rho is 0 or 1 misses on one side are impossible, so half as many are left. The pieces
raise q by about 0.3 %.

**Ratios.** Of cells without a common one a / c = rho / (1 - rho). Of a cell to one that it is part of, the ratio is the
share in it; the other way round it is one over that. All rise or fall with rho, so the ends of its interval are theirs.

**Differences.** The noise of common cells cancels. What is left is the noise of all cells that are in one of the two
only, a sum of independent noise, which is within its half-width with at least the level.

**Noise of a norm** (`ggdp.proofs.minkowski`) is not independent, and the law of a sum of its cells is not computed. A
half-width of the sum S of some cells of a table, less the sum of others, is the least of these, with a = 1 - level:

- k times that of a cell at the level 1 - a/k, for k cells: each of them misses with a/k at most (union bound);
- for all cells of a complete table that of the common total u, which is exact; and for some of them that of u plus that
  of the sum of the others, each at the level 1 - a/2;
- sqrt(Var S / a), as P(|S| >= x) <= Var S / x^2 (Chebyshev). With m and m' cells in the two sums, and V the variance of
  a cell, Var S = (m + m') V + ((m - m')^2 - m - m') C. Here C is the covariance of two cells: those of a group, with
  the hidden one if it is not complete, are K' exchangeable ones that add up to u, so Var u = K' V + K' (K' - 1) C.

They may be up to about twice as wide as needed. Of X and Y each is within its half-width at the level 1 - a/2, so
|u X - v Y| is at most the sum of u and v times these.

**Laws.** The law of a sum of noise is the power of a discrete Fourier transform, over so many points that `far` leaves
less than 1e-15 beyond. Above a scale of 2000, K is rounded to the middles of blocks of w integers first, and one part
of T is rounded to hundredths of its deviation; half-widths are raised by all that was rounded, and levels by `_SLACK`,
above the errors of floats. Where the scale or the number of points is too large, or the level too close to 1 for
floats, a half-width is the sum of those that all cells keep together at the level.
"""

from __future__ import annotations

import math
from functools import lru_cache, reduce
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ggdp.noise import bounded_law
from ggdp.noise.norm_ball_noise import NormBallNoise
from ggdp.releases.error_law import VectorErrorLaw, checked_level, simultaneous_half_width

if TYPE_CHECKING:
    from ggdp.noise.generalized_gaussian import Floats

# The noise of a sum of cells: its order and scale, and how many cells; or, where it is noise of a norm, the law of the
# cells of the table, and how many of them are added and how many are subtracted.
Part: TypeAlias = tuple[float, float, int] | tuple[VectorErrorLaw, int, int]

_SLACK, _LEAST_MISS = 1e-9, 1e-6
# Noise beyond scale times this to the power of 1/p has a probability of e^-80.
_DEPTH = 80.0
_MOST_SCALE, _MOST_POINTS, _BLOCKS = 2.0**16, 1 << 25, 1000.0
# What the tails of noise of a norm may be off by, and how far the noise of one cell is known value by value.
_INEXACT, _MOST_OF_CELL = 1e-6, 4000
_PIECES, _FINE, _STEPS, _AT_ONCE = 128, 100.0, 13, 1 << 12
# Above the errors of floats: of a half-width, in parts of it, and of a share.
_MARGIN, _MARGIN_OF_ENDS = 1e-9, 2.0**-50


@frozen
class Estimate:
    """A published or estimated number, with an interval that covers at its level.

    The number is None where nothing is known; an end of the interval is None where it is open.
    """

    value: float | None
    lower: float | None
    upper: float | None
    level: float = 0.95


class SumLaw(NamedTuple):
    """The law of a symmetric sum of noise, rounded to a lattice."""

    masses: Floats  # P(S = j step) for j = 0, 1, ...; as much for -j
    step: int
    rounding: int  # how far S is from the noise, at most
    deviation: float


def far(order: float, scale: float, weights: NDArray[np.float64], cells: int, miss: float) -> float:
    """Return x with P(|X| >= x) <= miss, X being a weighted sum of noise, of so many cells together.

    It is Chernoff's bound, in floats: for every t > 0, P(|X| >= x) <= 2 e^(-t x) times the product of the E e^(t w K).
    """
    step = max(1.0, np.floor(scale / _FINE))
    k = np.arange(0.0, scale * _DEPTH ** (1.0 / order) + step, step)
    falling = -((k / scale) ** order)
    # Both signs of k, but 0 once.
    twice = np.where(k > 0.0, 2.0, 1.0)
    total = np.sum(twice * np.exp(falling))
    distinct, times = np.unique(np.abs(weights), return_counts=True)
    best = np.inf
    for t in np.geomspace(1e-4, 20.0, 120) / (scale * max(float(distinct.max()), 1e-300)):
        # cosh(t k), without overflow.
        raised = falling + np.outer(distinct, t * k)
        most = raised.max(axis=1)
        halves = (1.0 + np.exp(-2.0 * np.outer(distinct, t * k))) / 2.0
        logs = most + np.log(np.sum(twice * np.exp(raised - most[:, None]) * halves, axis=1) / total)
        best = min(best, (cells * float(times @ logs) + np.log(2.0 / miss)) / t)
    return float(best)


@lru_cache(maxsize=8)
def sum_law(parts: tuple[Part, ...]) -> SumLaw | None:
    """Return the law of a sum of independent noise; None if it is another, or has too many points."""
    plain = [(part[0], part[1], part[2]) for part in parts if not isinstance(part[0], VectorErrorLaw)]
    if len(plain) < len(parts) or max(scale for _, scale, _ in plain) > _MOST_SCALE:
        return None
    step = 2 * int(min(scale for _, scale, _ in plain) / (2.0 * _BLOCKS)) + 1
    halves, reach = [], 0
    for order, scale, count in plain:
        blocks = int(scale * _DEPTH ** (1.0 / order)) // step + 2
        k = np.abs(np.arange(blocks * step, dtype=np.float64) - (step - 1) // 2)
        half = bounded_law.weights(order, scale, k).reshape(blocks, step).sum(axis=1)
        halves.append(half / (2.0 * half.sum() - half[0]))
        # Roundings move the sum by half a block each, at most.
        rounded = 0 if step == 1 else count
        reach += min(count * blocks, int(far(order, scale, np.ones(1), count, 1e-15)) // step + 2 + rounded)
    size = 1 << (2 * (reach + max(half.size for half in halves))).bit_length()
    if size > _MOST_POINTS:
        return None
    spectrum = np.ones(size // 2 + 1)
    for (_, _, count), half in zip(plain, halves, strict=True):
        around = np.zeros(size)
        around[: half.size] = half
        around[-half.size + 1 :] = half[:0:-1]
        spectrum *= np.fft.rfft(around).real ** count
    masses = np.maximum(np.fft.irfft(spectrum, size)[: reach + 1], 0.0)
    places = np.arange(reach + 1, dtype=np.float64) * step
    deviation = math.sqrt(2.0 * float(np.sum(masses * np.square(places))))
    return SumLaw(masses, step, sum(count for _, _, count in plain) * (step // 2), deviation)


def sum_half_width(parts: tuple[Part, ...], level: float) -> int:
    """Return an h with P(|S| <= h) >= level for a sum S of independent noise: about the least, rounded up."""
    law = sum_law(parts) if 1.0 - checked_level(level) >= _LEAST_MISS else None
    if any(isinstance(part[0], VectorErrorLaw) for part in parts):
        if len(parts) > 1:
            known = [found for part in parts if (found := _masses_of_cell(*part)) is not None]
            if len(known) == len(parts):
                # Both ends of each h, and 0 once; what lies beyond the masses counts as outside.
                masses = reduce(np.convolve, known)
                right = masses[masses.size // 2 :]
                half = int(np.searchsorted(2.0 * np.cumsum(right) - right[0], level + _INEXACT))
                if half < right.size:
                    return half
            return sum(sum_half_width((part,), _of_several(level, len(parts))) for part in parts)
        of_norm, plus, minus = parts[0]
        assert isinstance(of_norm, VectorErrorLaw)
        return _norm_half_width(of_norm, int(plus), minus, level)
    if law is None:
        cells = sum(count for _, _, count in parts)
        return sum(count * simultaneous_half_width(order, scale, level, cells) for order, scale, count in parts)
    within = 2.0 * np.cumsum(law.masses) - law.masses[0]
    return int(np.searchsorted(within, level + _SLACK)) * law.step + law.rounding


@lru_cache(maxsize=16)
def _masses_of_cell(law: float | VectorErrorLaw, second: float, third: int) -> Floats | None:
    """Return P(K = k) of the noise of one cell, for k from -n to n with nearly all; None if these are too many."""
    if isinstance(law, VectorErrorLaw):
        noise = law.vectors
        if second + third != 1 or law.group is None or isinstance(noise, NormBallNoise):
            return None
        most = noise.half_widths(1.0 - _INEXACT)[law.group]
        if most > _MOST_OF_CELL:
            return None
        tails = np.array([1.0, *(noise.tail(law.group, k) for k in range(1, most + 2))])
        half = -np.diff(tails) / 2.0
        half[0] *= 2.0
    else:
        most = math.ceil(second * _DEPTH ** (1.0 / law))
        if third != 1 or most > _MOST_OF_CELL:
            return None
        half = bounded_law.weights(law, second, np.arange(most + 1.0))
        half = half / (2.0 * half.sum() - half[0])
    return np.concatenate([half[:0:-1], half])


def _of_several(level: float, number: int) -> float:
    """Return the level for each of a number of intervals that together keep a level; rounded up."""
    return 1.0 - (1.0 - level) / number * (1.0 - _SLACK)


def _norm_half_width(law: VectorErrorLaw, plus: int, minus: int, level: float) -> int:
    """Return an h with P(|S| <= h) >= level for a sum of cells with noise of a norm, less a sum of others."""
    noise, j, number = law.vectors, law.group, plus + minus
    assert j is not None
    assert not isinstance(noise, NormBallNoise)
    if number <= 1:
        return int(law.half_width(level)) * number
    found = [number * int(law.half_width(_of_several(level, number)))]
    is_complete, cells = bool(noise.complete and noise.complete[j]), noise.cells[j]
    if is_complete and not minus:
        if plus == cells:
            return noise.total_half_width(level)
        if 2 * plus > cells:
            half = _of_several(level, 2)
            found.append(noise.total_half_width(half) + _norm_half_width(law, cells - plus, 0, half))
    exchangeable = cells + (not is_complete)
    of_total, variance = noise.total_std**2, noise.std[j] ** 2
    covariance = (of_total / exchangeable - variance) / (exchangeable - 1)
    spread = number * variance + ((plus - minus) ** 2 - number) * covariance
    # Variances are off by less than 1e-5 of themselves, and of those that they are differences of.
    spread += 1e-5 * number**2 * (variance + of_total)
    return min(*found, math.ceil(math.sqrt(spread / (1.0 - level))) - 1)


@lru_cache(maxsize=64)
def share_half_widths(first: Part, second: Part, level: float) -> tuple[Floats, Floats]:
    """Return the r of the ends of each piece, and q_j / (u + v) there: a row for each piece, with its two ends."""
    x, y = (sum_law((part,)) if 1.0 - checked_level(level) >= _LEAST_MISS else None for part in (first, second))
    angles = np.linspace(0.0, math.pi / 2.0, _PIECES + 1)
    u = np.cos(angles) / (1.0 if x is None else max(x.deviation, 1e-9))
    v = np.sin(angles) / (1.0 if y is None else max(y.deviation, 1e-9))
    u[-1] = 0.0
    # Each part misses half as often as both may: this is always enough.
    half = (1.0 + level) / 2.0
    high = u[:-1, None] * sum_half_width((first,), half) + v[1:, None] * sum_half_width((second,), half)
    if x is not None and y is not None:
        high = _least(x, y, u[:, None], v[:, None], level, high)
    pieces = np.stack([np.arange(_PIECES), np.arange(1, _PIECES + 1)], axis=1)
    total = (u + v)[pieces]
    return v[pieces] / total, high * (1.0 + _MARGIN) / total


def _least(x: SumLaw, y: SumLaw, u: Floats, v: Floats, level: float, high: Floats) -> Floats:
    """Return q_j of each piece, from numbers that are enough."""
    # The first part in coarser blocks, only from 0 up, and without its last 1e-11.
    factor = 2 * int(x.deviation / (2.0 * _FINE * x.step)) + 1
    blocks = -(-x.masses.size // factor) + 1
    around = np.zeros(blocks * factor)
    around[(factor - 1) // 2 :][: x.masses.size] = x.masses
    around[: (factor - 1) // 2] = x.masses[(factor - 1) // 2 : 0 : -1]
    masses = around.reshape(blocks, factor).sum(axis=1) * np.where(np.arange(blocks) == 0, 1.0, 2.0)
    masses = masses[: int(np.searchsorted(np.cumsum(masses), 1.0 - 1e-11)) + 1]
    places = np.arange(masses.size, dtype=np.float64) * (factor * x.step)
    below = np.concatenate(([0.0], np.cumsum(np.concatenate((y.masses[:0:-1], y.masses)))))
    middle = y.masses.size - 1

    def passes(q: Floats) -> NDArray[np.bool_]:
        least, most = -math.inf, math.inf
        for end in (slice(None, -1), slice(1, None)):
            scale = np.maximum(v[end], 1e-290) * y.step
            least = np.maximum(least, (u[end] * places - q) / scale)
            most = np.minimum(most, (u[end] * places + q) / scale)
        first = np.clip(np.ceil(least), -middle, middle + 1).astype(np.intp)
        last = np.clip(np.floor(most), -middle - 1, middle).astype(np.intp)
        inside = np.maximum(below[last + middle + 1] - below[first + middle], 0.0) @ masses
        return np.asarray(inside[:, None] >= level + _SLACK)

    low = np.zeros_like(high)
    for _ in range(_STEPS):
        q = (low + high) / 2.0
        found = passes(q)
        low, high = np.where(found, low, q), np.where(found, q, high)
    return high + u[:-1] * (x.rounding + factor // 2 * x.step) + v[1:] * y.rounding


def share_ends(x: Floats, y: Floats, first: Part, second: Part, level: float) -> tuple[Floats, Floats]:
    """Return the ends of intervals of shares, for noisy counts x and y; 0 and 1 where nothing is known."""
    edges, half = share_half_widths(first, second, level)
    lower, upper = np.zeros(x.shape), np.ones(x.shape)
    for start in range(0, x.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        counted = (x + y)[part] > 0.0
        total = np.where(counted, (x + y)[part], 1.0)
        ends = []
        # From below; and from above, as in a mirror.
        for one, places, reach in ((x, edges, half), (y, 1.0 - edges[::-1, ::-1], half[::-1, ::-1])):
            off = one[part, None, None] - places * total[:, None, None] - reach
            near, far_off = off[..., 0], off[..., 1]
            root = places[:, 0] + (places[:, 1] - places[:, 0]) * near / np.where(near > far_off, near - far_off, 1.0)
            root = np.where(near <= 0.0, places[:, 0], np.where(far_off <= 0.0, root, math.inf)).min(axis=1)
            # Where no share is left, the nearest one, and an interval as wide as the noise.
            ends.append(np.where(root > 1.0, 1.0 - reach[-1, 1] / total, root) - _MARGIN_OF_ENDS)
        lower[part] = np.where(counted, np.clip(ends[0], 0.0, 1.0), 0.0)
        upper[part] = np.where(counted, np.clip(1.0 - ends[1], 0.0, 1.0), 1.0)
    return lower, upper
