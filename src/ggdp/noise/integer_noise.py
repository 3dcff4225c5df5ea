"""Integer generalized Gaussian noise, drawn exactly: by a table where one fits, by rejection at wider scales.

=======  ======================================================
p, b     order and scale
tau      the threshold that conditional noise is at least
f(k)     exp(-(|k| / b)^p), the weight of the noise k
=======  ======================================================

Noise given that it is at least tau is exact even where that is less likely than 1e-30. From tau >= 1 on the law is
drawn by its own table or envelope, made of weights relative to f(tau): how unlikely the condition is does not matter.
For tau <= 0 the condition holds at least every other time, and noise is drawn until it does.

Noise whose outputs stay in bounds: truncated, or clamped to the bounds
-----------------------------------------------------------------------

=========  ======================================================================================
s          a true value, an integer in [lower, upper]
w          upper - lower, the width of the bounds
G(k)       sum of f over -w <= j < k, as a share of its sum over |j| <= w: shared by all true values
U          a uniform number in [0, 1), of which 64 bits are read at first
=========  ======================================================================================

Truncated noise around s is f restricted to lower - s <= k <= upper - s. It is drawn by inverting G, one table for every
s: the draw is the k with G(k) <= U' < G(k + 1) for U' = G(lower - s) + U (G(upper - s + 1) - G(lower - s)). Every draw
does the same work whatever s is, and nothing that is kept from one call to the next depends on s.

Claim. The draws are exact. Proof: with the 64-bit brackets of G and the first 64 bits u of U, two 64-bit integers are
computed that hold 2^64 U' between them, rounding outwards (`_scale`). If all thresholds agree on both, that is the
draw; otherwise more bits of U are read and everything is enclosed more narrowly (`ggdp.noise.table`).

Bounds too wide for a table. Noise of the whole window is drawn in rounds, and each value keeps the first draw within
its bounds: that has the truncated law, too. More than half of the window is within the bounds of any value, and every
value is given 40 rounds, so that the time does not reveal how many it took, but for a probability of 2^-40.

The Binomial law, with up to 10^18 trials and a probability that is known by enclosures
---------------------------------------------------------------------------------------

=======  ==============================================================================
N, q     number of trials, and probability of each
f(k)     N! / (k! (N - k)!) q^k (1 - q)^(N - k), the probability of k
m        a mode, about (N + 1) q
=======  ==============================================================================

The thresholds of a table (`ggdp.noise.table`) are sums of f, made in balls: f(m) from the logarithm of the gamma
function, its neighbours by f(k + 1) / f(k) = (N - k) q / ((k + 1)(1 - q)). No normaliser is needed. Where the terms
become negligible the rest is bounded by a geometric series.

Claim (the rest). f(k - 1) / f(k) rises with k, since it is k (1 - q) / ((N - k + 1) q). So for any k below the mode,
with r = f(k - 1) / f(k) < 1, the sum over j < k is at most f(k) r / (1 - r); and likewise above it.

A probability that is enclosed at any precision gives exactly the Binomial law. One that is only known to lie in a fixed
interval gives it unless a draw falls where the interval does not decide, which raises an error and returns nothing.

References
----------
Liu, arXiv 1602.06028 v5, Definitions of the truncated and boundary-inflated generalized Gaussian mechanisms.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache, partial
from typing import Any, Protocol, cast

import numpy as np
from attrs import field, frozen
from flint import arb, ctx
from numpy.typing import ArrayLike, NDArray

from ggdp import _validate
from ggdp._balls import BALLS, hull, working_precision
from ggdp.errors import ArgumentError
from ggdp.noise.entropy import Integers, SecureSource, Source, checked_source, random_words, takes_rng
from ggdp.noise.generalized_gaussian import checked_order, checked_scale
from ggdp.noise.integer_law import IntegerGeneralizedGaussian
from ggdp.noise.rejection import Envelope, envelope
from ggdp.noise.table import (
    BATCH,
    Table,
    below_in_window,
    integer_bracket,
    invert,
    symmetric_law,
    tail_law,
    thresholds_needed,
)
from ggdp.privacy.grid import exact_numbers, refusal

# From here on a second thread gains more than it costs.
_MANY = 1 << 24
# A draw of 2^63 is then 256 scales out, which has a probability below e^-256.
WIDEST = 2.0**55
_FARTHEST = 1 << 62
# Bounded draws at a time.
_CHUNK = 1 << 15
# A wider table of a window takes seconds to build.
_WIDEST_WINDOW = 1 << 19
# Each fails with a probability below 1/2.
_ROUNDS = 40
_LOW_HALF, _MOST_WORD = np.uint64(0xFFFFFFFF), np.uint64(0xFFFFFFFFFFFFFFFF)
_HALF = np.uint64(32)
# Bounds of outputs.
FARTHEST = 1 << 61


class Sampler(Protocol):
    """What draws integers into an array."""

    def draw(self, out: Integers, rng: Source) -> None:
        """Overwrite a flat array with independent draws."""


class ExactLaw(ABC):
    """A law of integers that is drawn exactly."""

    __slots__ = ()

    @takes_rng
    def sample(self, size: int | tuple[int, ...], *, rng: Source | None = None) -> Integers:
        """Return independent draws as an array of 64-bit integers.

        Parameters
        ----------
        size : int or tuple of int
            Shape of the array.
        rng : Source, optional
            Where the random bits come from; by default a cryptographic stream keyed by the operating system. What is
            made from a `SeededSource` is not private.

        Raises
        ------
        ArgumentError
            If the shape is invalid, or the law is too wide to be drawn exactly.
        EntropyError
            If the source fails; then there are no draws.

        Notes
        -----
        Claim. Every draw has exactly this law (`ggdp.noise.table`, `ggdp.noise.rejection`), and is made without
        knowledge of any true value.
        """
        return draw_array(self._sampler, size, rng)

    @property
    @abstractmethod
    def _sampler(self) -> Sampler:
        """What draws this law."""


def draw_array(sampler: Sampler, size: int | tuple[int, ...], rng: Source | None) -> Integers:
    """Return an array of independent draws."""
    rng = checked_source(rng)
    lengths = tuple(size) if isinstance(size, tuple | list) else (size,)
    shape = tuple(_validate.integer(size=length, at_least=0) for length in lengths)
    if math.prod(shape) > 1 << 60:
        raise ArgumentError("size", size, "is more than can be drawn at once; draw in parts")
    out = np.empty(shape, dtype=np.int64)
    flat = out.reshape(-1)
    # A seeded source is one stream, so one thread reads it: the same draws on any machine.
    if flat.size < _MANY or not isinstance(rng, SecureSource):
        sampler.draw(flat, rng)
        return out
    # Each thread has a stream of its own. Memory is what limits several, so more than a few gain nothing.
    threads = min(os.cpu_count() or 1, 4)
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(sampler.draw, part, rng) for part in np.array_split(flat, threads)]:
            done.result()
    return out


@lru_cache(maxsize=64)
def sampler_of(order: float, scale: float, start: int = 0) -> Table | Envelope:
    """Return what draws the law of all integers, or given that it is at least `start` >= 1."""
    _refuse_extremes(order, scale)
    # A table of more thresholds on a side takes longer to build than is worth it.
    if thresholds_needed(order, scale, start=start) <= 1 << 15:
        return tail_law(order, scale, start) if start else symmetric_law(order, scale)
    return envelope(order, scale, start=start, two_sided=start == 0)


def _refuse_extremes(order: float, scale: float) -> None:
    """Refuse scales whose noise could come near the ends of 64 bits: truncated noise would not have the proved law."""
    if order > 1e6:
        raise ArgumentError("order", order, "is too large to be drawn exactly (10^6 at most)")
    if scale > WIDEST:
        raise ArgumentError("scale", scale, "is too wide for 64-bit draws (2^55 at most); use a larger unit")


@frozen(kw_only=True)
class ConditionalNoise(ExactLaw):
    """Integer noise with P(k) proportional to exp(-(|k| / scale)^order) for k >= threshold, drawn exactly.

    Parameters
    ----------
    order : float
        Order of the noise, at least 1.
    scale : float
        Scale of the noise.
    threshold : int
        The least value; of either sign, and public: the time of drawing may depend on it.

    Examples
    --------
    >>> far = IntegerNoise(order=2, scale=10.0).at_least(83)  # noise is so large once in 10^30 times
    >>> far == ConditionalNoise(order=2, scale=10.0, threshold=83), int(far.sample(1000).min())
    (True, 83)
    >>> ConditionalNoise(order=1, scale=3.0, threshold=-2).sample((2, 3)).shape
    (2, 3)
    """

    order: float = field(converter=checked_order)
    scale: float = field(converter=checked_scale)
    threshold: int

    def __attrs_post_init__(self) -> None:
        order, scale, start = self.order, self.scale, _validate.integer(threshold=self.threshold, at_least=-_FARTHEST)
        object.__setattr__(self, "threshold", start)
        # Noise has a probability of exp(-2^40) to get so far, and exponents are computed to their last bits.
        if start > _FARTHEST or order * math.log2(max(start / scale, 1.0)) > 40:
            raise ArgumentError("threshold", start, f"is too far out for noise of order {order!r} and scale {scale!r}")

    @property
    def _sampler(self) -> Sampler:
        sampler = sampler_of(self.order, self.scale, max(self.threshold, 0))
        return sampler if self.threshold >= 1 else _Redrawing(sampler, self.threshold)


@frozen
class _Redrawing:
    """Draws of a law, each made again until it is at least a threshold."""

    sampler: Sampler
    threshold: int

    def draw(self, out: Integers, rng: Source) -> None:
        """Overwrite a flat array with draws."""
        for start in range(0, out.size, BATCH):
            part = out[start : start + BATCH]
            self.sampler.draw(part, rng)
            below = np.flatnonzero(part < self.threshold)
            while below.size:
                again = np.empty(below.size, dtype=np.int64)
                self.sampler.draw(again, rng)
                part[below] = again
                below = below[again < self.threshold]


@frozen(kw_only=True)
class IntegerNoise(ExactLaw):
    """Integer noise with P(k) proportional to exp(-(|k| / scale)^order), drawn exactly.

    Parameters
    ----------
    order : float
        Order of the noise, at least 1.
    scale : float
        Scale of the noise. Above 2^55 it is not drawn: noise cut off at 64 bits would not have the law that was proved.

    Examples
    --------
    >>> noise = IntegerNoise(order=3, scale=10.0)
    >>> noise.sample(5).dtype
    dtype('int64')
    >>> round(noise.std, 6)
    6.109685
    >>> from ggdp.noise import SeededSource
    >>> IntegerNoise(order=2, scale=20.0).sample((2, 4), rng=SeededSource(seed=1))
    array([[ 15,  17,  16,  25],
           [ 10, -25,  -5,  -7]])
    """

    order: float = field(converter=checked_order)
    scale: float = field(converter=checked_scale)

    @property
    def law(self) -> IntegerGeneralizedGaussian:
        """The law that is drawn from."""
        return IntegerGeneralizedGaussian(order=self.order, scale=self.scale)

    @property
    def std(self) -> float:
        """Standard deviation."""
        return self.law.std

    def pmf(self, k: ArrayLike) -> Any:  # noqa: ANN401 - a float for a number, an array for an array
        """Return P(K = k)."""
        return self.law.pmf(k)

    def cdf(self, k: ArrayLike) -> Any:  # noqa: ANN401 - a float for a number, an array for an array
        """Return P(K <= k)."""
        return self.law.cdf(k)

    @property
    def _sampler(self) -> Sampler:
        return sampler_of(self.order, self.scale)

    def at_least(self, threshold: int) -> ConditionalNoise:
        """Return this noise given that it is at least `threshold`, an integer."""
        return ConditionalNoise(order=self.order, scale=self.scale, threshold=threshold)


@frozen(kw_only=True)
class _BoundedNoise(ABC):
    """Integer outputs in [lower, upper] around true values in it."""

    order: float = field(converter=checked_order)
    scale: float = field(converter=checked_scale)
    lower: int
    upper: int

    def __attrs_post_init__(self) -> None:
        for name in ("lower", "upper"):
            object.__setattr__(self, name, _validate.integer(**{name: getattr(self, name)}, at_least=-FARTHEST))
        if not self.lower < self.upper <= FARTHEST:
            raise ArgumentError("upper", self.upper, f"must be above lower = {self.lower} and at most 2^61")

    @takes_rng
    def around(self, values: ArrayLike, *, rng: Source | None = None) -> Integers:
        """Return a draw around each true value.

        Parameters
        ----------
        values : array of int
            True values, within the bounds.
        rng : Source, optional
            Where the random bits come from; by default a cryptographic stream keyed by the operating system.

        Raises
        ------
        ArgumentError
            If a value is not an integer within the bounds. The message does not say which.
        EntropyError
            If the source fails; then there is no output.
        """
        bits, array = checked_source(rng), exact_numbers(values)
        if not array.size:
            return np.empty(array.shape, dtype=np.int64)
        if array.dtype.kind not in "iu" or array.min() < self.lower or array.max() > self.upper:
            raise refusal(f"must be integers within the bounds [{self.lower}, {self.upper}]")
        return self._draw(cast("NDArray[np.integer]", array), bits)

    @abstractmethod
    def _draw(self, centres: NDArray[np.integer], rng: Source) -> Integers:
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

    def _draw(self, centres: NDArray[np.integer], rng: Source) -> Integers:
        out = np.empty(centres.shape, dtype=np.int64)
        flat, flat_centres = out.reshape(-1), centres.reshape(-1)
        wide = min(self.upper - self.lower, thresholds_needed(self.order, self.scale)) > _WIDEST_WINDOW
        draw = self._by_rounds if wide else self._by_table
        for start in range(0, flat.size, _CHUNK):
            part = flat_centres[start : start + _CHUNK].astype(np.int64)
            flat[start : start + _CHUNK] = part + draw(part, rng)
        return out

    def _by_table(self, centres: Integers, rng: Source) -> Integers:
        """Return the noise around each true value, by the table of the window."""
        words = random_words(rng, centres.size)
        table = symmetric_law(self.order, self.scale, self.upper - self.lower)
        low, high = _scale(table, self.lower - centres, self.upper - centres + 1, words)
        count = np.searchsorted(table.high, low, side="right")
        open_ones = np.searchsorted(table.low, high, side="right") != count
        if not table.ends[0]:
            open_ones |= (count == 0) | (count == table.low.size)
        noise = count + np.int64(table.least)
        for i in np.flatnonzero(open_ones):
            s = int(centres[i])
            below = partial(below_in_window, self.order, self.scale, self.lower - s, self.upper - s)
            noise[i] = invert(below, rng, numerator=int(words[i]), bits=64, start=int(noise[i]))
        return noise

    def _by_rounds(self, centres: Integers, rng: Source) -> Integers:
        """Return the noise around each true value: the first of so many draws of the window that is in its bounds."""
        _refuse_extremes(self.order, 0.0)
        sampler = envelope(self.order, self.scale, two_sided=True, stop=self.upper - self.lower)
        noise, now = np.zeros_like(centres), np.empty_like(centres)
        waiting = np.ones(centres.size, dtype=np.bool_)
        for _ in range(_ROUNDS):
            sampler.draw(now, rng)
            fits = (now >= self.lower - centres) & (now <= self.upper - centres) & waiting
            noise = np.where(fits, now, noise)
            waiting &= ~fits
        if waiting.any():
            noise[waiting] = self._by_rounds(centres[waiting], rng)
        return noise


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

    def _draw(self, centres: NDArray[np.integer], rng: Source) -> Integers:
        out = draw_array(sampler_of(self.order, self.scale), centres.shape, rng)
        flat, flat_centres = out.reshape(-1), centres.reshape(-1)
        # Noise beyond the width ends on a bound whatever the value; cut off there, the sum cannot overflow.
        width = self.upper - self.lower
        for start in range(0, flat.size, _CHUNK):
            part = flat[start : start + _CHUNK]
            np.clip(part, -width, width, out=part)
            part += flat_centres[start : start + _CHUNK].astype(np.int64)
            np.clip(part, self.lower, self.upper, out=part)
        return out


def _scale(
    table: Table, first: Integers, stop: Integers, words: NDArray[np.uint64]
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
    step = np.minimum(_high_half(words, high_b - low_a), _MOST_WORD - np.uint64(3)) + np.uint64(3)
    high = high_a + np.minimum(step, _MOST_WORD - high_a)
    return low, high


def _shares(table: Table, k: Integers) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Return 64-bit integers low and high with low <= 2^64 G(k) <= high, or 2^64 - 1 for both where G(k) is 1."""
    place = k - (table.least + 1)
    last = table.low.size - 1
    inside, below, above = np.clip(place, 0, last), place < 0, place > last
    # Below the table G is 0, or where the table does not reach to the end of the law, less than its first threshold.
    first_high = np.uint64(0) if table.ends[0] else table.high[0]
    last_low = _MOST_WORD if table.ends[1] else table.low[-1]
    low = np.where(below, np.uint64(0), np.where(above, last_low, table.low[inside]))
    high = np.where(below, first_high, np.where(above, _MOST_WORD, table.high[inside]))
    return low, high


def _high_half(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return floor(a b / 2^64)."""
    a_low, a_high, b_low, b_high = a & _LOW_HALF, a >> _HALF, b & _LOW_HALF, b >> _HALF
    middle = a_high * b_low + ((a_low * b_low) >> _HALF)
    other = a_low * b_high + (middle & _LOW_HALF)
    product: NDArray[np.uint64] = a_high * b_high + (middle >> _HALF) + (other >> _HALF)
    return product


@frozen(kw_only=True)
class Binomial(ExactLaw):
    """How many of `trials` independent events happen, each with a `probability`; drawn exactly.

    Parameters
    ----------
    trials : int
        Number of events, at most 10^18.
    probability : float, arb or callable that returns an arb
        Probability of each. A float is taken as exact. A callable encloses it at the working precision of flint, as
        narrowly as it is asked; a ball (arb) is an interval that is known to hold it, and a draw that it does not
        decide raises an `UnprovedError`.

    Notes
    -----
    A law with a variance above some 1e8 is too wide to be drawn.

    Examples
    --------
    >>> from ggdp.proofs.tails import tail
    >>> cells = Binomial(trials=10**13, probability=lambda: tail(1.0, 1.0, 30))
    >>> cells.sample(4).dtype
    dtype('int64')
    """

    trials: int
    # Compared in a tuple, by identity first: a ball with a radius does not equal itself.
    probability: float | arb | Callable[[], arb] = field(eq=lambda probability: (probability,))

    def __attrs_post_init__(self) -> None:
        count = _validate.integer(trials=self.trials, at_least=0)
        if count > 10**18:
            raise ArgumentError("trials", count, "must be at most 10^18")
        object.__setattr__(self, "trials", count)
        if not (callable(self.probability) or isinstance(self.probability, arb)):
            object.__setattr__(self, "probability", _validate.finite(probability=self.probability))
        q = self._enclose()
        if not isinstance(q, arb) or not (q >= 0 and q <= 1):
            expected = "must be, or enclose, a number of at least 0 and at most 1"
            raise ArgumentError("probability", self.probability, expected)

    def _enclose(self) -> arb:
        """Enclose the probability at the working precision."""
        return self.probability() if callable(self.probability) else arb(self.probability)

    @cached_property
    def _sampler(self) -> Table | _Constant:
        n = self.trials
        with BALLS, working_precision(64):
            q = self._enclose()
            deviation = math.sqrt(max(float((n * q * (1 - q)).upper()), 0.0))
            centre = float((n * q).mid())
        if n == 0 or q <= 0 or q >= 1:
            return _Constant(n if q >= 1 else 0)
        # So many standard deviations hold all but 2^-64 of the law, generously. Far from the normal shape, a small mean
        # reaches farther: its tail falls like that of a Poisson law.
        reach = math.ceil(12.0 * deviation) + 60
        if 2 * reach > 1 << 18:
            expected = "with this probability the number of events spreads too far for an exact table"
            raise ArgumentError("trials", n, expected)
        mode = min(max(int(centre), 0), n)
        # Brackets of 2^64 P(X < k); the value below the first of them, and that from the last on.
        brackets: list[tuple[int, int]] = []
        with BALLS, working_precision(_bits(n, 64)):
            # Terms below 2^-80 are left to the bound of the rest.
            q, unit, floor = self._enclose(), arb(2) ** 64, arb(2) ** -80
            down, total, least = _terms_down(n, q, mode, max(mode - reach, 0), floor=floor)
            up, _, _ = _terms_down(n, 1 - q, n - mode, max(n - mode - reach, 0), floor=floor)
            # Below `least` the law goes on if that is not 0; its share is the first threshold then.
            if least > 0:
                brackets.append(integer_bracket(total * unit))
                least -= 1
            for term in [*reversed(down), *up[1:]]:
                total = total + term
                low, high = integer_bracket(total * unit)
                brackets.append((min(low, (1 << 64) - 1), min(high, 1 << 64)))
                if high >> 64:
                    break
        stop = least + len(brackets)
        if stop > n:
            # All of the law is in the terms, so the last sum is 1 and no threshold.
            brackets.pop()
            stop = n

        def below(k: int) -> arb:
            with BALLS, working_precision(_bits(n, ctx.prec)):
                return _below(n, self._enclose(), k)

        return Table(brackets, least=least, ends=(least == 0, stop == n), below=below)


@frozen
class _Constant:
    """Draws that are always the same."""

    value: int

    def draw(self, out: Integers, rng: Source) -> None:  # noqa: ARG002 - nothing is left to chance
        """Overwrite a flat array."""
        out[:] = self.value


def _bits(trials: int, bits: int) -> int:
    """Return the precision at which f is enclosed to `bits` bits: the logarithms in it are of the size of N log N."""
    return bits + 64 + 2 * trials.bit_length()


def _terms_down(n: int, q: arb, k: int, last: int, *, floor: arb) -> tuple[list[arb], arb, int]:
    """Return f(k), f(k - 1), ..., a bound of the rest as a ball from 0, and the least k among the terms."""
    odds = (1 - q) / q
    choose = (arb(n) + 1).lgamma() - (arb(k) + 1).lgamma() - (arb(n - k) + 1).lgamma()
    terms = [(choose + k * q.log() + (n - k) * (-q).log1p()).exp()]
    while k > last and not terms[-1] < floor:
        terms.append(terms[-1] * odds * k / (n - k + 1))
        k -= 1
    if k == 0:
        return terms, arb(0), 0
    ratio = odds * k / (n - k + 1)
    rest = terms[-1] * ratio / (1 - ratio) if ratio < 1 else arb(1)
    return terms, hull(arb(0), rest.upper()), k


def _below(n: int, q: arb, k: int) -> arb:
    """Enclose the sum of f(j) over j < k."""
    if not 0 < k <= n:
        return arb(0 if k <= 0 else 1)
    floor = arb(2) ** -(ctx.prec)
    if k - 1 <= (n + 1) * q:
        terms, rest, _ = _terms_down(n, q, k - 1, 0, floor=floor)
        return sum(terms, rest)
    terms, rest, _ = _terms_down(n, 1 - q, n - k, 0, floor=floor)
    return 1 - sum(terms, rest)
