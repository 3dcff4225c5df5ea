"""From a sampler to an array of draws, with several threads for large ones."""

from __future__ import annotations

import math
import os
from abc import ABC, abstractmethod
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Protocol

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.sampling.entropy import SecureSource, checked_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.sampling.entropy import Source

# From here on a second thread gains more than it costs. Memory is what limits several, so more than a few gain nothing.
_MANY = 1 << 24
_MOST_THREADS = 4
_MOST_DRAWS = 1 << 60


class Sampler(Protocol):
    """What draws integers into an array."""

    def draw(self, out: NDArray[np.int64], source: Source) -> None:
        """Overwrite a flat array with independent draws."""


class Drawn(ABC):
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
        Claim. Every draw has exactly this law (`ggdp.sampling.table`, `ggdp.sampling.rejection`), and is made without
        knowledge of any true value.
        """
        return drawn(self._sampler(), size, source)

    @abstractmethod
    def _sampler(self) -> Sampler:
        """Return what draws this law."""


def shape_of(size: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape; raise unless all lengths are integers of at least 0 and the array is addressable."""
    lengths = tuple(size) if isinstance(size, tuple | list) else (size,)
    shape = tuple(_validate.integer(size=length, at_least=0) for length in lengths)
    if math.prod(shape) > _MOST_DRAWS:
        raise ArgumentError("size", size, "is more than can be drawn at once; draw in parts")
    return shape


def drawn(sampler: Sampler, size: int | tuple[int, ...], source: Source | None) -> NDArray[np.int64]:
    """Return an array of independent draws.

    Many draws are shared among threads, each of which has a stream of its own. A seeded source is one stream, so it is
    read by one thread and gives the same draws on any machine.
    """
    source = checked_source(source)
    out = np.empty(shape_of(size), dtype=np.int64)
    flat = out.reshape(-1)
    if flat.size < _MANY or not isinstance(source, SecureSource):
        sampler.draw(flat, source)
        return out
    threads = min(os.cpu_count() or 1, _MOST_THREADS)
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(sampler.draw, part, source) for part in np.array_split(flat, threads)]:
            done.result()
    return out
