"""Exact draws of the integer generalized Gaussian law at scales too wide for a table, by rejection.

=============  ==========================================================================================
p, b           order and scale
f(x)           exp((a/b)^p - (x/b)^p), the weight of |k| = x >= a, relative to that of a
a              where the law starts: 0, or the value that |k| is at least
2^m            width of a block: the integers a + i 2^m + r for 0 <= r < 2^m
M              height of the envelope: the number of slots that a weight of 1 is given, a float
slot           one of 2^16; block i has the slots j = 0, ..., n_i - 1 with n_i >= M f(start of block i)
V              a uniform number in [0, 1), read to as many bits as a decision takes
=============  ==========================================================================================

A draw picks one of the 2^16 slots, which gives a block and a level j, and a place r in the block; it is accepted when j
+ V < M f(x). The levels that lie below the least weight of their block are accepted at once, so about 95 of 100 draws
cost a look-up and an addition. For the others M f(x) is compared with a parabola, in floats, with a bound on what the
parabola and the floats can be off; what that does not decide is decided in ball arithmetic. One slot more or two stand
for all values beyond the last block, and lead to the same sampler started there.

Claim. The draws have exactly the law. Proof: a slot, a place and a V are uniform, so k is accepted with a probability
proportional to the sum over j of the length of {V : j + V < M f(x)}, which is M f(x) since n_i >= M f(x). The slots of
the far end are accepted in proportion to the sum of M f / 2^m there and then drawn from their law given that. For the
two-sided law the negative integers -1 - (i 2^m + r) are given blocks of their own, of the same heights.

Claim (floats). A comparison and the coefficients of its parabola (`ggdp.sampling.envelope`) make fewer than thirty
roundings of numbers below 2^19, each off by at most 2^-34; `ROUNDING` bounds their sum.

Timing. Whether a draw was accepted at once depends on it weakly; fewer than `FEW` draws are all compared. The number of
rejections does not depend on the draw that is kept. No time depends on a true value: none is known here.

References
----------
Devroye, "Non-Uniform Random Variate Generation" (1986), II.3 (rejection) and VIII (squeezing); Marsaglia and Tsang,
"The Ziggurat Method" (2000), for accepting most draws by a look-up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ggdp._balls import BALLS, working_precision
from ggdp.proofs.integer_sums import partial_sum, tail_sum
from ggdp.sampling.entropy import fill, random_bits, random_words
from ggdp.sampling.law_tables import precision_from
from ggdp.sampling.table import BATCH, CHUNK, UNDECIDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ggdp.sampling.entropy import Source

# Fewer draws are all compared.
FEW = 64
ROUNDING = 2.0**-29


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """Slots over the integers from `start` on, or over all of them. Made by `ggdp.sampling.envelope`.

    Attributes
    ----------
    order, scale : float
        The law.
    start : int
        Where |k| starts; 0 for the two-sided law.
    two_sided : bool
        Whether negative integers are drawn too.
    stop : int, optional
        The largest |k| of a law that ends; there are no far slots then.
    width_bits : int
        m.
    height : float
        M.
    bases : array of int64
        For each slot, the least integer of its block.
    levels : array of float64
        For each slot, its level j; infinite for slots that are always rejected.
    quick : array of int64
        The same as `bases` where the level is accepted at once, else `UNDECIDED`.
    far_slots : range
        The slots of the values beyond the last block.
    far_start : int
        Where these start.
    far_height, far_error : float
        What their level is compared with, in place of M f, and within what of it a comparison does not decide.
    cell_bits : int
        The cells are 2^cell_bits wide.
    parabolas : array of float64
        For each cell the coefficients of the parabola that M f is compared with, in shares of the cell.
    errors : array of float64
        For each cell, within what of the parabola a comparison does not decide.
    slot_bits, word : int
        How many bits pick a slot, and how many bits of V are read at first.
    beyond : callable
        Returns the envelope of the law from `far_start` on.
    """

    order: float
    scale: float
    start: int
    two_sided: bool
    stop: int | None
    width_bits: int
    height: float
    bases: NDArray[np.int64]
    levels: NDArray[np.float64]
    quick: NDArray[np.int64]
    far_slots: range
    far_start: int
    far_height: float
    far_error: float
    cell_bits: int
    parabolas: NDArray[np.float64]
    errors: NDArray[np.float64]
    slot_bits: int
    word: int
    beyond: Callable[[], Envelope]

    @property
    def compared(self) -> float:
        """How often a draw is not accepted at once, as a share of all draws."""
        return float(np.mean(self.quick == UNDECIDED))

    def draw(self, out: NDArray[np.int64], source: Source) -> None:
        """Overwrite a flat array with draws."""
        for start in range(0, out.size, BATCH):
            part = out[start : start + BATCH]
            undecided, slots, places = self._accepted_at_once(part, source)
            # Once even if nothing is left to compare but spare trials, so that the time does not reveal it.
            while slots.size:
                kept, values = self._compared(slots, places, source)
                tried = undecided.size
                part[undecided[kept[:tried]]] = values[:tried][kept[:tried]]
                undecided = undecided[~kept[:tried]]
                # Spare trials that are kept take the places of those that are not.
                spare = values[tried:][kept[tried:]][: undecided.size]
                part[undecided[: spare.size]] = spare
                undecided = undecided[spare.size :]
                if not undecided.size:
                    break
                slots, places = self._picked(undecided.size + _spares(undecided.size), source)

    def _accepted_at_once(
        self, out: NDArray[np.int64], source: Source
    ) -> tuple[NDArray[np.intp], NDArray[np.uint16], NDArray[np.integer]]:
        """Overwrite a flat array where a look-up decides; return the rest of it, and its and spare slots and places."""
        spare = _spares(out.size)
        if out.size < FEW:
            return np.arange(out.size), *self._picked(out.size + spare, source)
        undecided: list[NDArray[np.intp]] = []
        slots: list[NDArray[np.uint16]] = []
        places: list[NDArray[np.integer]] = []
        for start in range(0, out.size, CHUNK):
            part = out[start : start + CHUNK]
            last = start + CHUNK >= out.size
            some_slots, some_places = self._picked(part.size + spare * last, source)
            np.take(self.quick, some_slots[: part.size], out=part, mode="clip")
            # The spare ones are at the end, and all of them are chosen.
            chosen = np.ones(some_slots.size, dtype=np.bool_)
            np.equal(part, UNDECIDED, out=chosen[: part.size])
            part += some_places[: part.size]
            indices = np.flatnonzero(chosen)
            undecided.append(indices[: indices.size - spare * last] + start)
            slots.append(some_slots[indices])
            places.append(some_places[indices])
        if len(undecided) == 1:
            return undecided[0], slots[0], places[0]
        return np.concatenate(undecided), np.concatenate(slots), np.concatenate(places)

    def _picked(self, count: int, source: Source) -> tuple[NDArray[np.uint16], NDArray[np.integer]]:
        """Return slots and places in their blocks."""
        width = 2 if self.width_bits <= 16 else 4 if self.width_bits <= 32 else 8
        buffer = np.empty((2 + width) * count, dtype=np.uint8)
        if count:
            fill(buffer, source)
        # The wider numbers come first, where they are aligned.
        places = buffer[: width * count].view(f"u{width}")
        slots = buffer[width * count :].view(np.uint16)
        if self.slot_bits < 16:
            slots >>= np.uint16(16 - self.slot_bits)
        if self.width_bits:
            places >>= places.dtype.type(8 * width - self.width_bits)
        else:
            places[:] = 0
        return slots, places.view(np.int64) if width == 8 else places

    def _compared(
        self, slots: NDArray[np.uint16], places: NDArray[np.integer], source: Source
    ) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return which of the slots and places are accepted, and their integers."""
        words = random_words(source, slots.size) >> np.uint64(64 - self.word)
        levels = self.levels[slots]
        values = self.bases[slots] + places
        heights, errors = self._parabola(np.abs(values) - self.start)
        # Far slots, and empty ones, whose level is infinite.
        far = np.flatnonzero(slots >= self.far_slots.start)
        heights[far], errors[far] = self.far_height, self.far_error
        gaps = heights - (levels + words * 2.0**-self.word)
        kept = gaps > errors
        if self.stop is not None:
            kept &= np.abs(values) <= self.stop
            errors[np.abs(values) > self.stop] = -1.0
        for i in np.flatnonzero(np.abs(gaps) <= errors):
            x = None if int(slots[i]) in self.far_slots else abs(int(values[i]))
            kept[i] = self._accepted(x, int(levels[i]), int(words[i]), source)
        far = far[kept[far]]
        if far.size:
            kept[far], values[far] = self._far_draws(far.size, source)
        return kept, values

    def _parabola(self, distance: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return M f by its parabolas at distances from the start, and what that can be off."""
        cell = distance >> self.cell_bits
        share = (distance & ((1 << self.cell_bits) - 1)) * 2.0**-self.cell_bits
        start, slope, bend = self.parabolas[:, cell]
        return start + share * (slope + share * bend), self.errors[cell]

    def _accepted(self, x: int | None, level: int, numerator: int, source: Source) -> bool:
        """Decide level + V < M f(x), or for the far values (None) the same with their sum, in ball arithmetic."""
        bits = self.word
        while True:
            with BALLS, working_precision(precision_from(self.order, self.scale, self.start, bits)):
                exact = arb(self.height) * (
                    weight(self.order, self.scale, self.start, x)
                    if x is not None
                    else far_sum(self.order, self.scale, self.start, self.far_start, self.stop, self.two_sided)
                    / arb(2) ** self.width_bits
                )
                low = level + arb(numerator) / arb(2) ** bits
                if exact >= low + arb(2) ** -bits:
                    return True
                if exact <= low:
                    return False
            numerator, bits = (numerator << self.word) | random_bits(source, self.word), bits + self.word

    def _far_draws(self, count: int, source: Source) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return draws given that they are beyond the last block, and which of them to keep."""
        values = np.empty(count, dtype=np.int64)
        self.beyond().draw(values, source)
        if not self.two_sided:
            return np.ones(count, dtype=np.bool_), values
        negative = (random_words(source, count) & np.uint64(1)).astype(np.bool_)
        # The negative blocks reach one farther, to -far_start.
        kept = ~(negative & (values == self.far_start))
        return kept, np.where(negative, -values, values)


def weight(p: float, b: float, start: int, x: int) -> arb:
    """Enclose f(x)."""
    return ((arb(start) / arb(b)) ** arb(p) - (arb(x) / arb(b)) ** arb(p)).exp()


def far_sum(p: float, b: float, start: int, far_start: int, stop: int | None, two_sided: bool) -> arb:
    """Enclose the sum of f from `far_start` on, up to a stop if there is one, twice for both sides."""
    total = tail_sum(p, b, far_start) if stop is None else partial_sum(p, b, far_start, stop)
    return (2 if two_sided else 1) * total * ((arb(start) / arb(b)) ** arb(p)).exp()


def _spares(count: int) -> int:
    """Return how many trials to make beside `count`, so that one round is nearly always enough."""
    return count // 32 + 16
