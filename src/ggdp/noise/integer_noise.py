"""Integer generalized Gaussian noise, drawn exactly: by a table where one fits, by rejection at wider scales.

=======  ======================================================
p, b     order and scale
tau      the threshold that conditional noise is at least
f(j)     exp(-(|j| / b)^p), the weight of the integer j
=======  ======================================================

Noise given that it is at least tau is exact even where that is less likely than 1e-30. From tau >= 1 on the law is
drawn by its own table or envelope, made of weights relative to f(tau): how unlikely the condition is does not matter.
For tau <= 0 the condition holds at least every other time, and noise is drawn until it does.
"""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from attrs import field, frozen

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.noise.entropy import SecureSource, checked_source
from ggdp.noise.generalized_gaussian import checked_order, checked_scale
from ggdp.noise.integer_law import IntegerGeneralizedGaussian
from ggdp.noise.rejection import envelope
from ggdp.noise.table import BATCH, tail_law, thresholds_needed, whole_law

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from ggdp.noise.entropy import Source
    from ggdp.noise.rejection import Envelope
    from ggdp.noise.table import Table


# From here on a second thread gains more than it costs. Memory is what limits several, so more than a few gain nothing.
_MANY = 1 << 24
_MOST_THREADS = 4
_MOST_DRAWS = 1 << 60
# Beyond this many thresholds on a side a table takes longer to build than is worth it.
_MOST_THRESHOLDS = 1 << 15
# A draw of 2^63 is then 256 scales out, which has a probability below e^-256.
WIDEST = 2.0**55
_FARTHEST = 1 << 62
_MOST_ORDER = 1e6
# Noise so far out has a probability of exp(-2^40), and exponents are computed to their last bits.
_MOST_EXPONENT_BITS = 40


class Sampler(Protocol):
    """What draws integers into an array."""

    def draw(self, out: NDArray[np.int64], source: Source) -> None:
        """Overwrite a flat array with independent draws."""


class ExactLaw(ABC):
    """A law of integers that is drawn exactly."""

    __slots__ = ()

    def sample(self, size: int | tuple[int, ...], *, source: Source | None = None) -> NDArray[np.int64]:
        """Return independent draws as an array of 64-bit integers.

        Parameters
        ----------
        size : int or tuple of int
            Shape of the array.
        source : Source, optional
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
        return draw_array(self._sampler(), size, source)

    @abstractmethod
    def _sampler(self) -> Sampler:
        """Return what draws this law."""


def draw_array(sampler: Sampler, size: int | tuple[int, ...], source: Source | None) -> NDArray[np.int64]:
    """Return an array of independent draws.

    Many draws are shared among threads, each of which has a stream of its own. A seeded source is one stream, so it is
    read by one thread and gives the same draws on any machine.
    """
    source = checked_source(source)
    lengths = tuple(size) if isinstance(size, tuple | list) else (size,)
    shape = tuple(_validate.integer(size=length, at_least=0) for length in lengths)
    if math.prod(shape) > _MOST_DRAWS:
        raise ArgumentError("size", size, "is more than can be drawn at once; draw in parts")
    out = np.empty(shape, dtype=np.int64)
    flat = out.reshape(-1)
    if flat.size < _MANY or not isinstance(source, SecureSource):
        sampler.draw(flat, source)
        return out
    threads = min(os.cpu_count() or 1, _MOST_THREADS)
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(sampler.draw, part, source) for part in np.array_split(flat, threads)]:
            done.result()
    return out


@lru_cache(maxsize=32)
def sampler_of(order: float, scale: float) -> Table | Envelope:
    """Return what draws the law of all integers."""
    _refuse_extremes(order, scale)
    if thresholds_needed(order, scale) <= _MOST_THRESHOLDS:
        return whole_law(order, scale)
    return envelope(order, scale, two_sided=True)


@lru_cache(maxsize=32)
def sampler_from(order: float, scale: float, start: int) -> Table | Envelope:
    """Return what draws the law given that it is at least `start` >= 1."""
    _refuse_extremes(order, scale)
    refuse_too_far(order, scale, start)
    if thresholds_needed(order, scale, start=start) <= _MOST_THRESHOLDS:
        return tail_law(order, scale, start)
    return envelope(order, scale, start=start)


def refuse_too_far(order: float, scale: float, start: int) -> None:
    """Raise for thresholds that noise of this law practically never reaches."""
    if start > _FARTHEST or order * math.log2(max(start / scale, 1.0)) > _MOST_EXPONENT_BITS:
        raise ArgumentError("threshold", start, f"is too far out for noise of order {order!r} and scale {scale!r}")


@lru_cache(maxsize=32)
def sampler_within(order: float, scale: float, width: int) -> Envelope:
    """Return what draws the law given that it is at most `width` in absolute value, for widths that no table fits."""
    _refuse_extremes(order, 0.0)
    return envelope(order, scale, two_sided=True, stop=width)


def _refuse_extremes(order: float, scale: float) -> None:
    """Refuse scales whose noise could come near the ends of 64 bits: truncated noise would not have the proved law."""
    if order > _MOST_ORDER:
        raise ArgumentError("order", order, "is too large to be drawn exactly (10^6 at most)")
    if scale > WIDEST:
        raise ArgumentError("scale", scale, "is too wide for 64-bit draws (2^55 at most); use a larger unit")


def _threshold(threshold: int) -> int:
    return _validate.integer(threshold=threshold, at_least=-(1 << 62))


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
    >>> far = ConditionalNoise(order=2, scale=10.0, threshold=83)  # noise is so large once in 10^30 times
    >>> int(far.sample(1000).min())
    83
    >>> ConditionalNoise(order=1, scale=3.0, threshold=-2).sample((2, 3)).shape
    (2, 3)
    """

    order: float = field(converter=checked_order)
    scale: float = field(converter=checked_scale)
    threshold: int = field(converter=_threshold)

    def __attrs_post_init__(self) -> None:
        refuse_too_far(self.order, self.scale, self.threshold)

    def _sampler(self) -> Sampler:
        if self.threshold >= 1:
            return sampler_from(self.order, self.scale, self.threshold)
        return _Repeated(sampler_of(self.order, self.scale), self.threshold)


@frozen
class _Repeated:
    """Draws of a law, each made again until it is at least a threshold."""

    sampler: Sampler
    threshold: int

    def draw(self, out: NDArray[np.int64], source: Source) -> None:
        """Overwrite a flat array with draws."""
        for start in range(0, out.size, BATCH):
            part = out[start : start + BATCH]
            self.sampler.draw(part, source)
            below = np.flatnonzero(part < self.threshold)
            while below.size:
                again = np.empty(below.size, dtype=np.int64)
                self.sampler.draw(again, source)
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
    >>> IntegerNoise(order=2, scale=20.0).sample((2, 4), source=SeededSource(seed=1))
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

    def _sampler(self) -> Sampler:
        return sampler_of(self.order, self.scale)

    def at_least(self, threshold: int) -> ConditionalNoise:
        """Return this noise given that it is at least `threshold`.

        Parameters
        ----------
        threshold : int
            The least value of the noise.

        Examples
        --------
        >>> far = IntegerNoise(order=2, scale=10.0).at_least(83)  # noise is so large once in 10^30 times
        >>> int(far.sample(1000).min())
        83
        """
        return ConditionalNoise(order=self.order, scale=self.scale, threshold=threshold)
