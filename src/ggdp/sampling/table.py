"""Exact draws at the speed of a look-up in memory, for laws on the integers that fit in a table.

=============  ==========================================================================================
K              the law on the integers
c_k            P(K < k), the threshold of k: the draw is the largest k with c_k <= U
U              a uniform number in [0, 1); its first 64 bits are a word u, so that U is in [u, u + 1) / 2^64
low, high      64-bit integers with low <= 2^64 c_k <= high, nearly always neighbours
guide          for each value of the first 16 bits of u: the draw, if they decide it, or `UNDECIDED`
=============  ==========================================================================================

A draw reads 16 bits and looks them up. Where a threshold lies between the words that begin with them, 48 more bits are
read and compared with the thresholds in that range. Where a threshold's own 64 bits are hit, the thresholds are
enclosed more narrowly and more bits are read (`ggdp.sampling.inversion`), as they are for draws beyond the table's
ends.

Claim. The draws have exactly the law K. Proof: each of the three steps returns the k with c_k <= U < c_(k+1) for every
U that begins with the bits read, or reads on: u >= high implies U >= c_k, and u < low implies u + 1 <= low, so U < c_k.

Timing. Fewer than `FEW` draws skip the guide: each is then searched for among the thresholds, in the same number of
steps, but for the last step above, which is taken with a probability below 2^-40. In larger batches the number of
undecided look-ups shows in the total time. No time depends on a true value: none is known here.

References
----------
Devroye, "Non-Uniform Random Variate Generation" (1986), III.2.4 (guide tables); Knuth and Yao, "The Complexity of
Nonuniform Random Number Generation" (1976), for deciding with as many bits as it takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ggdp.sampling.entropy import fill, random_words
from ggdp.sampling.inversion import inverted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ggdp.sampling.entropy import Source
    from ggdp.sampling.inversion import Cumulative

FEW = 512
# Draws at a time: bits, draws and guide then stay in a core's own cache.
CHUNK = 1 << 15
# Draws at a time whose undecided ones are decided together.
BATCH = 1 << 18
UNDECIDED = np.iinfo(np.int64).min


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """Thresholds of a law on the integers and the guide to them. Made by `Table.of`.

    Attributes
    ----------
    least : int
        The draw below the first threshold.
    low, high : array of uint64
        Bounds of 2^word c_k for k = least + 1, least + 2, ...; both rise.
    ends : tuple of bool
        Whether `least`, and the value from the last threshold on, are the least and the greatest of the law. Where
        they are not, a draw at that end goes on beyond the table.
    below : callable
        Encloses P(K < k) at the working precision.
    guide : array of int64
        The draw for each value of the first `guide_bits` bits, or `UNDECIDED`.
    counts : array of int32
        For each value of the first bits, how many thresholds are below all words that begin with them.
    guide_bits, word : int
        How many bits are looked up, and how many are compared.
    """

    least: int
    low: NDArray[np.uint64]
    high: NDArray[np.uint64]
    ends: tuple[bool, bool]
    below: Cumulative
    guide: NDArray[np.int64]
    counts: NDArray[np.int32]
    guide_bits: int
    word: int

    @classmethod
    def of(
        cls,
        brackets: Sequence[tuple[int, int]],
        *,
        least: int,
        ends: tuple[bool, bool],
        below: Cumulative,
        guide_bits: int = 16,
        word: int = 64,
    ) -> Table:
        """Return the table of thresholds given as pairs (low, high) of integers, at least one.

        The last `high` may be 2^word. The one word that passes its low end is then taken as having passed it, and the
        end of the table as not the law's, so that it goes on to more bits.
        """
        most = (1 << word) - 1
        ends = (ends[0], ends[1] and brackets[-1][1] <= most)
        pairs = np.array([(low, min(high, most)) for low, high in brackets], dtype=np.uint64)
        low, high = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        size, rest = 1 << guide_bits, np.uint64(word - guide_bits)
        # The first value of the first bits with all of whose words the threshold is passed.
        before = high - np.minimum(high, np.uint64(1))
        passed = ((before >> rest) + (high > 0)).astype(np.int64)
        runs = np.diff(passed, prepend=0, append=size)
        counts = np.repeat(np.arange(low.size + 1, dtype=np.int32), runs)
        guide = counts.astype(np.int64) + least
        # Values some of whose words are below the threshold for certain, or are not decided, and some are above.
        from_here, to_here = (low >> rest).astype(np.int64), (before >> rest).astype(np.int64)
        guide[from_here] = guide[to_here] = UNDECIDED
        for i in np.flatnonzero(to_here - from_here > 1):
            guide[from_here[i] : to_here[i]] = UNDECIDED
        if not ends[0]:
            guide[: int(passed[0])] = UNDECIDED
        if not ends[1]:
            guide[int(passed[-1]) :] = UNDECIDED
        return cls(least, low, high, ends, below, guide, counts, guide_bits, word)

    @property
    def undecided(self) -> float:
        """How often the first bits do not decide, as a share of all draws."""
        return float(np.mean(self.guide == UNDECIDED))

    def draw(self, out: NDArray[np.int64], source: Source) -> None:
        """Overwrite a flat array with draws."""
        if out.size < FEW:
            words = random_words(source, out.size) >> np.uint64(64 - self.word)
            out[:] = self._checked(np.searchsorted(self.high, words, side="right"), words, source)
            return
        for start in range(0, out.size, BATCH):
            part = out[start : start + BATCH]
            undecided, first = self._looked_up(part, source)
            part[undecided] = self._decided(first, source)

    def _looked_up(self, out: NDArray[np.int64], source: Source) -> tuple[NDArray[np.intp], NDArray[np.uint16]]:
        """Overwrite a flat array where a look-up decides; return the rest of it, and its first bits.

        The rest is never empty: a draw is decided twice, so that the time does not reveal that all were decided once.
        """
        buffer = np.empty(min(CHUNK, out.size), dtype=np.uint16)
        spare = np.uint16(16 - self.guide_bits)
        places: list[NDArray[np.intp]] = []
        firsts: list[NDArray[np.uint16]] = []
        for start in range(0, out.size, CHUNK):
            part = out[start : start + CHUNK]
            first = buffer[: part.size]
            fill(first.view(np.uint8), source)
            if spare:
                first >>= spare
            np.take(self.guide, first, out=part, mode="clip")
            undecided = np.flatnonzero(part == UNDECIDED)
            places.append(undecided + start)
            firsts.append(first[undecided])
        if not any(undecided.size for undecided in places):
            return np.array([out.size - 1]), first[-1:].copy()
        return np.concatenate(places), np.concatenate(firsts)

    def _decided(self, first: NDArray[np.uint16], source: Source) -> NDArray[np.int64]:
        """Return the draws of words with the given first bits, reading the rest of them."""
        rest = self.word - self.guide_bits
        words = (first.astype(np.uint64) << np.uint64(rest)) | (
            random_words(source, first.size) >> np.uint64(64 - rest)
        )
        # Most ranges of words hold one threshold, which a comparison decides; the others are searched.
        count = self.counts[first]
        last = self.low.size - 1
        count += (words >= self.high[np.minimum(count, last)]) & (count <= last)
        more = np.flatnonzero((words >= self.low[np.minimum(count, last)]) & (count <= last))
        count[more] = np.searchsorted(self.high, words[more], side="right")
        return self._checked(count, words, source)

    def _checked(self, count: NDArray[np.integer], words: NDArray[np.uint64], source: Source) -> NDArray[np.int64]:
        """Return the draws of words that have passed `count` thresholds, and read on where they do not decide."""
        last = self.low.size - 1
        draws = count.astype(np.int64) + self.least
        open_ones = (words >= self.low[np.minimum(count, last)]) & (count <= last)
        if not self.ends[0]:
            open_ones |= count == 0
        if not self.ends[1]:
            open_ones |= count > last
        for i in np.flatnonzero(open_ones):
            draws[i] = inverted(
                self.below, source, numerator=int(words[i]), bits=self.word, start=int(draws[i]), word=self.word
            )
        return draws
