"""Integer noise whose outputs stay in bounds: truncated, or clamped to the bounds.

=========  ======================================================================================
s          a true value, an integer in [lower, upper]
w          upper - lower, the width of the bounds
f(k)       exp(-(|k| / b)^p), the weight of the noise k
G(k)       sum of f over -w <= j < k, as a share of its sum over |j| <= w: shared by all true values
U          a uniform number in [0, 1), of which 64 bits are read at first
=========  ======================================================================================

Truncated noise around s is f restricted to lower - s <= k <= upper - s. It is drawn by inverting G, one table for every
s: the draw is the k with G(k) <= U' < G(k + 1) for U' = G(lower - s) + U (G(upper - s + 1) - G(lower - s)). Every draw
does the same work whatever s is, and nothing that is kept from one call to the next depends on s.

Claim. The draws are exact. Proof: with the 64-bit brackets of G and the first 64 bits u of U, two 64-bit integers are
computed that hold 2^64 U' between them, rounding outwards (`_scaled`). If all thresholds agree on both, that is the
draw; otherwise more bits of U are read and everything is enclosed more narrowly (`ggdp.noise.table`).

Bounds too wide for a table. Noise of the whole window is drawn in rounds, and each value keeps the first draw within
its bounds: that has the truncated law, too. More than half of the window is within the bounds of any value, and every
value is given 40 rounds, so that the time does not reveal how many it took, but for a probability of 2^-40.

References
----------
Liu, arXiv 1602.06028 v5, Definitions of the truncated and boundary-inflated generalized Gaussian mechanisms.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, cast

import numpy as np
from attrs import field, frozen
from flint import arb

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.noise.entropy import checked_source, random_words
from ggdp.noise.generalized_gaussian import checked_order, checked_scale
from ggdp.noise.integer_noise import draw_array, sampler_of, sampler_within
from ggdp.noise.table import invert, thresholds_needed, window, window_law
from ggdp.privacy.grid import exact_numbers, refused

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ggdp.noise.entropy import Source
    from ggdp.noise.table import Cumulative, Table


_CHUNK = 1 << 15
# A wider table takes seconds to build.
_MOST_THRESHOLDS = 1 << 19
# Each fails with a probability below 1/2.
_ROUNDS = 40
_LOW_HALF = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_MOST = np.uint64(0xFFFFFFFFFFFFFFFF)
FARTHEST = 1 << 61


def _lower(lower: int) -> int:
    return _validate.integer(lower=lower, at_least=-FARTHEST)


def _upper(upper: int) -> int:
    return _validate.integer(upper=upper, at_least=-FARTHEST)


@frozen(kw_only=True)
class _BoundedNoise(ABC):
    """Integer outputs in [lower, upper] around true values in it."""

    order: float = field(converter=checked_order)
    scale: float = field(converter=checked_scale)
    lower: int = field(converter=_lower)
    upper: int = field(converter=_upper)

    def __attrs_post_init__(self) -> None:
        if not self.lower < self.upper <= FARTHEST:
            raise ArgumentError("upper", self.upper, f"must be above lower = {self.lower} and at most 2^61")

    def around(self, values: ArrayLike, *, source: Source | None = None) -> NDArray[np.int64]:
        """Return a draw around each true value.

        Parameters
        ----------
        values : array of int
            True values, within the bounds.
        source : Source, optional
            Where the random bits come from; by default a cryptographic stream keyed by the operating system.

        Raises
        ------
        ArgumentError
            If a value is not an integer within the bounds. The message does not say which.
        EntropyError
            If the source fails; then there is no output.
        """
        bits = checked_source(source)
        return self._draw(_checked_values(values, self.lower, self.upper), bits)

    @abstractmethod
    def _draw(self, centres: NDArray[np.integer], source: Source) -> NDArray[np.int64]:
        """Return a draw around each of an array of true values."""


@frozen(kw_only=True)
class TruncatedIntegerNoise(_BoundedNoise):
    """Integer outputs in [lower, upper] with P(x) proportional to exp(-(|x - s| / scale)^order), drawn exactly.

    Parameters
    ----------
    order : float
        Order of the noise, at least 1.
    scale : float
        Scale of the noise.
    lower, upper : int
        Bounds of true values and outputs.

    Examples
    --------
    >>> noise = TruncatedIntegerNoise(order=2, scale=5.0, lower=0, upper=10)
    >>> outputs = noise.around([0, 4, 10] * 100)
    >>> int(outputs.min()) >= 0 and int(outputs.max()) <= 10
    True
    """

    def _draw(self, centres: NDArray[np.integer], source: Source) -> NDArray[np.int64]:
        out = np.empty(centres.shape, dtype=np.int64)
        flat, flat_centres = out.reshape(-1), centres.reshape(-1)
        wide = min(self.upper - self.lower, thresholds_needed(self.order, self.scale)) > _MOST_THRESHOLDS
        draw = self._by_rounds if wide else self._by_table
        for start in range(0, flat.size, _CHUNK):
            part = flat_centres[start : start + _CHUNK].astype(np.int64)
            flat[start : start + _CHUNK] = part + draw(part, source)
        return out

    def _by_table(self, centres: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Return the noise around each true value, by the table of the window."""
        words = random_words(source, centres.size)
        table = window_law(self.order, self.scale, self.upper - self.lower)
        low, high = _scaled(table, self.lower - centres, self.upper - centres + 1, words)
        count = np.searchsorted(table.high, low, side="right")
        open_ones = np.searchsorted(table.low, high, side="right") != count
        if not table.ends[0]:
            open_ones |= (count == 0) | (count == table.low.size)
        noise = count + np.int64(table.least)
        for i in np.flatnonzero(open_ones):
            noise[i] = self._inverted(int(centres[i]), int(words[i]), int(noise[i]), source)
        return noise

    def _by_rounds(self, centres: NDArray[np.int64], source: Source) -> NDArray[np.int64]:
        """Return the noise around each true value: the first draw of the window that is within its bounds.

        All values are given the same number of draws, whether they need them or not.
        """
        sampler = sampler_within(self.order, self.scale, self.upper - self.lower)
        noise, now = np.zeros_like(centres), np.empty_like(centres)
        waiting = np.ones(centres.size, dtype=np.bool_)
        for _ in range(_ROUNDS):
            sampler.draw(now, source)
            fits = (now >= self.lower - centres) & (now <= self.upper - centres) & waiting
            noise = np.where(fits, now, noise)
            waiting &= ~fits
        if waiting.any():
            noise[waiting] = self._by_rounds(centres[waiting], source)
        return noise

    def _inverted(self, s: int, word: int, start: int, source: Source) -> int:
        """Return the noise around one true value, in ball arithmetic, for the first 64 bits of its U."""
        below = _truncated(self.order, self.scale, self.lower - s, self.upper - s)
        return invert(below, source, numerator=word, bits=64, start=start)


@frozen(kw_only=True)
class BoundaryInflatedIntegerNoise(_BoundedNoise):
    """Integer outputs in [lower, upper]: a true value plus noise, put on the bound it falls beyond; drawn exactly.

    Parameters
    ----------
    order : float
        Order of the noise, at least 1.
    scale : float
        Scale of the noise.
    lower, upper : int
        Bounds of true values and outputs.

    Examples
    --------
    >>> noise = BoundaryInflatedIntegerNoise(order=2, scale=5.0, lower=0, upper=10)
    >>> outputs = noise.around([0, 4, 10] * 100)
    >>> int(outputs.min()) >= 0 and int(outputs.max()) <= 10
    True
    """

    def _draw(self, centres: NDArray[np.integer], source: Source) -> NDArray[np.int64]:
        out = draw_array(sampler_of(self.order, self.scale), centres.shape, source)
        flat, flat_centres = out.reshape(-1), centres.reshape(-1)
        # Noise beyond the width ends on a bound whatever the value; cut off there, the sum cannot overflow.
        width = self.upper - self.lower
        for start in range(0, flat.size, _CHUNK):
            part = flat[start : start + _CHUNK]
            np.clip(part, -width, width, out=part)
            part += flat_centres[start : start + _CHUNK].astype(np.int64)
            np.clip(part, self.lower, self.upper, out=part)
        return out


def _checked_values(values: ArrayLike, lower: int, upper: int) -> NDArray[np.integer]:
    """Return true values as an array of integers; raise unless all are within the bounds."""
    array = exact_numbers(values)
    if array.size == 0:
        return np.empty(array.shape, dtype=np.int64)
    if array.dtype.kind not in "iu" or array.min() < lower or array.max() > upper:
        raise refused(f"must be integers within the bounds [{lower}, {upper}]")
    return cast("NDArray[np.integer]", array)


def _truncated(order: float, scale: float, first: int, last: int) -> Cumulative:
    """Return what encloses P(K < k) for noise restricted to first <= k <= last."""

    def below(k: int) -> arb:
        if k <= first:
            return arb(0)
        if k > last:
            return arb(1)
        return window(order, scale, first, k - 1) / window(order, scale, first, last)

    return below


def _scaled(
    table: Table, first: NDArray[np.int64], stop: NDArray[np.int64], words: NDArray[np.uint64]
) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return 64-bit integers below and above 2^64 U', for U' = G(first) + U (G(stop) - G(first)).

    With low_a <= 2^64 G(first) <= high_a and low_b <= 2^64 G(stop) <= high_b + 1, and u <= 2^64 U <= u + 1, the lower
    end is low_a + u (low_b - high_a) / 2^64, and the upper end is at most high_a + (u + 1)(high_b + 1 - low_a) / 2^64,
    which is less than high_a + u (high_b - low_a) / 2^64 + 2. Products are rounded down to integers, so 1 is added
    above.
    """
    low_a, high_a = _shares(table, first)
    low_b, high_b = _shares(table, stop)
    low = low_a + _high_half(words, low_b - np.minimum(high_a, low_b))
    # The sum would wrap around for the largest words.
    step = np.minimum(_high_half(words, high_b - low_a), _MOST - np.uint64(3)) + np.uint64(3)
    high = high_a + np.minimum(step, _MOST - high_a)
    return low, high


def _shares(table: Table, k: NDArray[np.int64]) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return 64-bit integers low and high with low <= 2^64 G(k) <= high, or 2^64 - 1 for both where G(k) is 1."""
    place = k - (table.least + 1)
    last = table.low.size - 1
    inside = np.clip(place, 0, last)
    # Below the table G is 0, or where the table does not reach to the end of the law, less than its first threshold.
    start = (np.uint64(0), np.uint64(0) if table.ends[0] else table.high[0])
    stop = (_MOST if table.ends[1] else table.low[-1], _MOST)
    low = np.where(place < 0, start[0], np.where(place > last, stop[0], table.low[inside]))
    high = np.where(place < 0, start[1], np.where(place > last, stop[1], table.high[inside]))
    return low, high


def _high_half(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return floor(a b / 2^64)."""
    a_low, a_high, b_low, b_high = a & _LOW_HALF, a >> _HALF, b & _LOW_HALF, b >> _HALF
    middle = a_high * b_low + ((a_low * b_low) >> _HALF)
    other = a_low * b_high + (middle & _LOW_HALF)
    product: NDArray[np.uint64] = a_high * b_high + (middle >> _HALF) + (other >> _HALF)
    return product
