"""Shares, ratios and differences of noisy counts, with intervals: functions of published numbers, which cost nothing.

=======  ==============================================================================================
x, y     sums of the noisy counts of two sets of cells without a common cell; a and c without noise
X, Y     their noise, x - a and y - c: sums of independent integer noise of known orders and scales
rho      the share a / (a + c)
T(r)     (1 - r) x - r y, which is x - r (x + y)
I_j      pieces of [0, 1] that cover it
q_j      least q with P(|(1 - r) X - r Y| <= q for both ends r of I_j) >= level
w        odd length of the blocks of integers that the noise of a cell is rounded to; 1 up to a scale of 2000
=======  ==============================================================================================

**Shares.** Claim. If a + c > 0, the interval covers rho with a probability of at least the level, whatever a and c are.
Proof (Fieller 1954). Since (1 - rho) a = rho c, T(rho) = (1 - rho) X - rho Y. Let I_j be the piece that rho is in. As
the absolute value of a linear function of r is convex, |T(rho)| is at most the larger of the two at the ends of I_j, so
|T(rho)| <= q_j with at least the level. The interval contains every r in any I_j with |T(r)| <= q_j. It may contain
more: the hull is taken, and where x + y <= 0, or no r has this property, other r's; more points never cover less.

A share is null where x + y <= 0 or its interval is all of [0, 1]: the counts say nothing. With a + c = 0 there is no
share, and nothing to cover. Where rho is 0 or 1 misses on one side are impossible, so half as many are left. The pieces
are short in the angle between the deviations of the two parts of T, where they raise q by about 0.3 %.

**Ratios.** Of cells without a common one a / c = rho / (1 - rho). Of a cell to one that it is part of, the ratio is the
share in it; the other way round it is one over that. All rise or fall with rho, so the ends of its interval are theirs.

**Differences.** The noise of common cells cancels. What is left is the noise of all cells that are in one of the two
only, a sum of independent noise, which is within its half-width with at least the level.

**Laws.** The law of a sum of noise is the power of a discrete Fourier transform, over so many points that `far` leaves
less than 1e-15 beyond. Above a scale of 2000, K is rounded to the middles of blocks of w integers first, and one part
of T is rounded to hundredths of its deviation; half-widths are raised by all that was rounded, and levels by `_SLACK`,
above the errors of floats. Where the scale or the number of points is too large, or the level too close to 1 for
floats, a half-width is the sum of those that all cells keep together at the level.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np
from attrs import frozen
from numpy.typing import NDArray

from ggdp.noise import bounded_law
from ggdp.releases.error_law import checked_level, simultaneous_half_width

if TYPE_CHECKING:
    from ggdp.noise.generalized_gaussian import Floats

# The noise of a sum of cells: its order and scale, and how many cells.
Part: TypeAlias = tuple[float, float, int]

_SLACK, _LEAST_MISS = 1e-9, 1e-6
# Noise beyond scale times this to the power of 1/p has a probability of e^-80.
_DEPTH = 80.0
_MOST_SCALE, _MOST_POINTS, _BLOCKS = 2.0**16, 1 << 25, 1000.0
_PIECES, _FINE, _STEPS, _AT_ONCE = 128, 100.0, 13, 1 << 12
# Above the errors of floats, in parts of a half-width and of an end.
_MARGIN, _ULPS = 1e-9, 2.0**-50


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
    """Return the law of a sum of noise; None if it has too many points."""
    if max(scale for _, scale, _ in parts) > _MOST_SCALE:
        return None
    step = 2 * int(min(scale for _, scale, _ in parts) / (2.0 * _BLOCKS)) + 1
    halves, reach = [], 0
    for order, scale, count in parts:
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
    for (_, _, count), half in zip(parts, halves, strict=True):
        around = np.zeros(size)
        around[: half.size] = half
        around[-half.size + 1 :] = half[:0:-1]
        spectrum *= np.fft.rfft(around).real ** count
    masses = np.maximum(np.fft.irfft(spectrum, size)[: reach + 1], 0.0)
    places = np.arange(reach + 1, dtype=np.float64) * step
    deviation = math.sqrt(2.0 * float(np.sum(masses * np.square(places))))
    return SumLaw(masses, step, sum(count for _, _, count in parts) * (step // 2), deviation)


def sum_half_width(parts: tuple[Part, ...], level: float) -> int:
    """Return an h with P(|S| <= h) >= level for a sum S of independent noise.

    It is the least one, up to the rounding of floats, which is upwards; of few cells above a scale of 2000 it is 0.1 %
    more.
    """
    law = sum_law(parts) if 1.0 - checked_level(level) >= _LEAST_MISS else None
    if law is None:
        cells = sum(count for _, _, count in parts)
        return sum(count * simultaneous_half_width(order, scale, level, cells) for order, scale, count in parts)
    within = 2.0 * np.cumsum(law.masses) - law.masses[0]
    return int(np.searchsorted(within, level + _SLACK)) * law.step + law.rounding


@lru_cache(maxsize=64)
def share_half_widths(first: Part, second: Part, level: float) -> tuple[Floats, Floats]:
    """Return the ends of the pieces I_j, from 0 to 1, and a q_j for each."""
    x, y = (sum_law((part,)) if 1.0 - checked_level(level) >= _LEAST_MISS else None for part in (first, second))
    angles = np.linspace(0.0, math.pi / 2.0, _PIECES + 1)
    deviations = (1.0, 1.0) if x is None or y is None else (max(x.deviation, 1e-9), max(y.deviation, 1e-9))
    parts = np.cos(angles) / deviations[0], np.sin(angles) / deviations[1]
    edges = parts[1] / (parts[0] + parts[1])
    edges[0], edges[-1] = 0.0, 1.0
    left, right = edges[:-1, None], edges[1:, None]
    # Each part misses half as often as both may: this is always enough.
    half = (1.0 + level) / 2.0
    high = (1.0 - left) * sum_half_width((first,), half) + right * sum_half_width((second,), half)
    if x is None or y is None:
        return edges, high[:, 0] * (1.0 + _MARGIN)
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
        for end in (left, right):
            scale = np.maximum(end, 1e-290) * y.step
            least = np.maximum(least, ((1.0 - end) * places - q) / scale)
            most = np.minimum(most, ((1.0 - end) * places + q) / scale)
        first = np.clip(np.ceil(least), -middle, middle + 1).astype(np.intp)
        last = np.clip(np.floor(most), -middle - 1, middle).astype(np.intp)
        inside = np.maximum(below[last + middle + 1] - below[first + middle], 0.0) @ masses
        return np.asarray(inside[:, None] >= level + _SLACK)

    low = np.zeros_like(high)
    for _ in range(_STEPS):
        q = (low + high) / 2.0
        found = passes(q)
        low, high = np.where(found, low, q), np.where(found, q, high)
    rounding = (1.0 - left) * (x.rounding + (factor - 1) / 2.0 * x.step) + right * y.rounding
    return edges, (high + rounding)[:, 0] * (1.0 + _MARGIN)


def share_ends(x: Floats, y: Floats, first: Part, second: Part, level: float) -> tuple[Floats, Floats]:
    """Return the ends of intervals of shares, for noisy counts x and y; 0 and 1 where nothing is known."""
    edges, q = share_half_widths(first, second, level)
    lower, upper = np.zeros(x.shape), np.ones(x.shape)
    for start in range(0, x.size, _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        counted = (x + y)[part, None] > 0.0
        one, total = x[part, None], np.where(counted, (x + y)[part, None], 1.0)
        least, most = (one - q) / total, (one + q) / total
        least = np.where(least <= edges[1:], np.maximum(least, edges[:-1]), math.inf).min(axis=1)
        most = np.where(most >= edges[:-1], np.minimum(most, edges[1:]), -math.inf).max(axis=1)
        # Where no share is left, the nearest one, and an interval as wide as the noise.
        least = np.where(least > 1.0, 1.0 - q[-1] / total[:, 0], least)
        most = np.where(most < 0.0, q[0] / total[:, 0], most)
        lower[part] = np.where(counted[:, 0], np.clip(least * (1.0 - _ULPS), 0.0, 1.0), 0.0)
        upper[part] = np.where(counted[:, 0], np.clip(most * (1.0 + _ULPS), 0.0, 1.0), 1.0)
    return lower, upper
