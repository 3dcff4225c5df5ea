"""Intervals of quantiles: a noisy histogram whose buckets grow with the distance from the released quantiles.

==========  ======================================================================================================
v           the released quantiles of a cell
x           a boundary: L(x) rows are below it
J           number of buckets; j of them are below a boundary
b           scale of the integer Laplace noise of a bucket: 1/eps' for add-remove, 2/eps' for replace-one
Z(x)        (1 - q) L(x) - q (n - L(x)), negative where fewer than q n rows are below x
z           the critical value of a boundary: its noisy Z is above the true one by more than z with at most 2.5 %
==========  ======================================================================================================

Boundaries are 1, 2, 4, ... steps away from each released quantile, on both sides, as far as the middle between two
of them. The buckets between them are a histogram on public boundaries: one row is in one bucket. The lower end starts
at the first step and moves to the next boundary as long as that one's noisy Z is below -z; the upper end comes from
the other side, as long as it is above z.

Claim. An interval holds all q-quantiles of its cell with a probability of at least 95 %, whatever the data are, and
whatever was released before. Proof: the lower end is wrong only if it reached a boundary x with L(x) >= q n, so only if
the noisy Z of the *first* such boundary was below -z. Which one that is does not depend on the noise of the histogram,
and its true Z is at least 0: the probability is at most 2.5 %. All quantiles are at least as large as a boundary with
L(x) < q n. The upper end is alike: at x with L(x) > q n all quantiles are at most x - 1. So no count is needed, and
nothing is lost by looking at many boundaries. It is conservative as far as boundaries are coarse (a factor of 2 in the
distance from the released quantile) and as Z is above 0 at the first boundary that is wrong.

Critical values. The noise of Z is (1 - q) A - q B, with A and B sums of j and J - j noises; their masses come from a
Fourier transform, cut where less than 1e-12 is left. For a scale b above 8 they come from that of 8: integer Laplace
noise is the difference of two exponentials rounded down, so it differs from real noise of the same scale by independent
numbers of mean 0 between -1 and 1, whose weighted sum is above r = sqrt(2 log(2000) sum of the squared weights) with a
probability of at most 0.05 % (Hoeffding); and real noise scales. So (b/8) (z + r) + r, with z the value for the scale 8
at 2.4 %, is wide enough: about a fifth wider than it need be.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from ggdp.sampling import IntegerNoise

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from ggdp.mechanisms.quantile_parts import CellValues
    from ggdp.sampling.entropy import Source

MISSES = 0.025
_LARGEST_SCALE = 8.0
_ROUNDING_MISSES = 0.0005
# Covers the roundings of floats, and what is cut off.
_SLACK = 1e-9
_HALVINGS = 10
_KEY = 33


def interval_ends(
    cells: CellValues,
    values: NDArray[np.int64],
    fractions: tuple[Fraction, ...],
    steps: int,
    scale: float,
    source: Source,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the lower and upper ends of each cell and quantile, given the released values, by one noisy histogram."""
    bounds = boundaries(values, steps)
    counts = _histogram(cells, bounds, steps)
    counts += IntegerNoise(order=1, scale=scale).sample(counts.shape, source=source)
    below = np.cumsum(counts[:, :-1], axis=1).astype(np.float64)
    total = counts.sum(axis=1, keepdims=True).astype(np.float64)
    lower, upper = np.empty_like(values), np.empty_like(values)
    everywhere = np.pad(bounds, ((0, 0), (1, 1)), constant_values=((0, 0), (0, steps + 1)))
    for i, q in enumerate(fractions):
        balance = below - float(q) * total
        critical = critical_values(float(q), counts.shape[1], scale)
        passed = np.logical_and.accumulate(balance < -critical, axis=1).sum(axis=1)
        lower[:, i] = np.take_along_axis(everywhere, passed[:, None], axis=1)[:, 0]
        passed = np.logical_and.accumulate((balance > critical)[:, ::-1], axis=1).sum(axis=1)
        last = everywhere.shape[1] - 1
        upper[:, i] = np.take_along_axis(everywhere, last - passed[:, None], axis=1)[:, 0] - 1
    return lower, upper


def boundaries(values: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """Return the boundaries of each cell in increasing order, from 1 to `steps`; their number is public."""
    rungs = 1 << np.arange(max(steps.bit_length(), 1))
    middles = (values[:, 1:] + values[:, :-1] + 1) // 2
    first, last = np.zeros((values.shape[0], 1), dtype=np.int64), np.full((values.shape[0], 1), steps + 1)
    low = np.concatenate((first, middles), axis=1)
    high = np.concatenate((middles, last), axis=1)
    # From v down to v - 1, v - 3, ...: also v itself and v + 1, the two sides of the step that was released.
    down = np.maximum(values[:, :, None] + 1 - rungs[::-1], low[:, :, None])
    up = np.minimum(values[:, :, None] + rungs, high[:, :, None])
    found = np.concatenate((down, up), axis=2).reshape(values.shape[0], -1)
    bounded: NDArray[np.int64] = np.clip(found, 0, steps + 1)
    return bounded


def _histogram(cells: CellValues, bounds: NDArray[np.int64], steps: int) -> NDArray[np.int64]:
    """Return how many rows of each cell are between its boundaries."""
    cell = np.repeat(np.arange(cells.cells), np.diff(cells.starts))
    below = np.concatenate(([0], np.cumsum(cells.rows)))
    keys = (np.arange(cells.cells)[:, None] << _KEY) + np.pad(
        bounds, ((0, 0), (1, 1)), constant_values=((0, 0), (0, steps + 1))
    )
    return np.diff(below[np.searchsorted((cell << _KEY) + cells.steps, keys)], axis=1)


@lru_cache(maxsize=64)
def critical_values(q: float, buckets: int, scale: float) -> NDArray[np.float64]:
    """Return the critical value of each boundary between so many buckets."""
    fine, j = min(scale, _LARGEST_SCALE), np.arange(1, buckets)
    misses = MISSES if scale == fine else MISSES - 2.0 * _ROUNDING_MISSES
    found = np.array([_critical(q, below, buckets - below, fine, misses) for below in j.tolist()])
    if scale > fine:
        squares = (1.0 - q) ** 2 * j + q**2 * (buckets - j)
        rounding = np.sqrt(-2.0 * math.log(_ROUNDING_MISSES) * squares)
        found = scale / fine * (found + rounding) + rounding
    found.setflags(write=False)
    return found


def _critical(q: float, below: int, above: int, scale: float, misses: float) -> float:
    """Return z with P((1 - q) A - q B > z) of at most `misses`, not much above the least."""
    place, mass = _sum_of_noise(below, scale)
    other, chance = _sum_of_noise(above, scale)
    # P(B < x), by the number of places below x.
    cumulative = np.concatenate(([0.0], np.cumsum(chance)))
    ratio = math.exp(-1.0 / scale)
    deviation = math.sqrt(2.0 * ratio) / (1.0 - ratio) * math.hypot((1.0 - q) * below**0.5, q * above**0.5)
    low, high = 0.0, 4.0 * deviation
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        reach = np.ceil(((1.0 - q) * place - middle) / q).astype(np.int64) - other[0]
        missed = float(mass @ cumulative[np.clip(reach, 0, other.size)])
        low, high = (low, middle) if missed <= misses - _SLACK else (middle, high)
    return high * (1.0 + _SLACK)


@lru_cache(maxsize=512)
def _sum_of_noise(count: int, scale: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the places and masses of a sum of integer Laplace noises, but for 1e-12."""
    reach = 45.0 * scale + 10.0 * scale * math.sqrt(2.0 * count) + 50.0
    size = 1 << math.ceil(math.log2(2.0 * reach))
    ratio = math.exp(-1.0 / scale)
    angles = 2.0 * np.pi / size * np.arange(size // 2 + 1)
    transform = (1.0 - ratio) ** 2 / (1.0 - 2.0 * ratio * np.cos(angles) + ratio**2)
    masses = np.fft.fftshift(np.fft.irfft(transform**count, size))
    kept = np.flatnonzero(masses > 1e-16)
    inside = slice(int(kept[0]), int(kept[-1]) + 1)
    return np.arange(-size // 2, size // 2)[inside], np.maximum(masses[inside], 0.0)
