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
+ V < M f(x). The levels that lie below the least weight of their block are accepted at once, so about 97 of 100 draws
cost a look-up and an addition. For the others M f(x) is compared with the chord of M f between two nodes, in floats,
with a bound on what the chord and the floats can be off; what that does not decide is decided in ball arithmetic. One
slot more or two stand for all values beyond the last block, and lead to the same sampler started there.

Claim. The draws have exactly the law. Proof: a slot, a place and a V are uniform, so k is accepted with a probability
proportional to the sum over j of the length of {V : j + V < M f(x)}, which is M f(x) since n_i >= M f(x). The slots of
the far end are accepted in proportion to the sum of M f / 2^m there and then drawn from their law given that. For the
two-sided law the negative integers -1 - (i 2^m + r) are given blocks of their own, of the same heights.

Claim (chord). Between nodes l < r the chord of M f is off by at most (r - l)^2 / 8 max |M f''|, and f'' = f (g'^2 -
g'') with g = (x/b)^p, where f falls, g' rises and g'' is monotone, so that |f''| <= f(l) max(g'(r)^2, g''(l), g''(r)).
It is also off by no more than M (f(l) - f(r)), since both fall from one to the other.

Claim (floats). A comparison makes six roundings of numbers of at most 2^16 + 1, each off by at most 2^-37; `_ROUNDING`
bounds their sum and the roundings of the nodes.

Timing. Whether a draw was accepted at once depends on it weakly; fewer than `FEW` draws are all compared. The number of
rejections does not depend on the draw that is kept. No time depends on a true value: none is known here.

References
----------
Devroye, "Non-Uniform Random Variate Generation" (1986), II.3 (rejection) and VIII (squeezing); Marsaglia and Tsang,
"The Ziggurat Method" (2000), for accepting most draws by a look-up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ggdp.distributions.enclosures import lower_float, upper_float
from ggdp.distributions.integer_sums import tail_sum
from ggdp.sampling.entropy import fill, random_bits, random_words
from ggdp.sampling.table import CHUNK, FEW
from ggdp.sampling.thresholds import precision_at, reach

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.sampling.entropy import Source

__all__ = ["Envelope", "envelope"]

_UNDECIDED = np.iinfo(np.int64).min
_SLOT_BITS = 16
# Draws at a time whose comparisons are made together.
_BATCH = 1 << 18
_BLOCK_BITS = 9
_WORD = 64
# The blocks reach to where the weight has fallen to e^-12.
_DEPTH = 12.0
# A block is cut into four chords.
_CELL_BITS = 2
_ROUNDING = 2.0**-32


@dataclass(frozen=True, slots=True, eq=False)
class Envelope:
    """Slots over the integers from `start` on, or over all of them. Made by `envelope`.

    Attributes
    ----------
    order, scale : float
        The law.
    start : int
        Where |k| starts; 0 for the two-sided law.
    two_sided : bool
        Whether negative integers are drawn too.
    width_bits : int
        m.
    height : float
        M.
    bases : array of int64
        For each slot, the least integer of its block.
    levels : array of float64
        For each slot, its level j; infinite for slots that are always rejected.
    quick : array of int64
        The same as `bases` where the level is accepted at once, else `_UNDECIDED`.
    far_slots : range
        The slots of the values beyond the last block.
    far_start : int
        Where these start.
    far_height, far_error : float
        What their level is compared with, in place of M f, and within what of it a comparison does not decide.
    cell_bits : int
        The nodes are 2^cell_bits apart.
    heights, drops, errors : arrays of float64
        At each node M f, how far it falls to the next, and within what of the chord a comparison does not decide.
    slot_bits, block_bits, word : int
        How many bits pick a slot, about how many blocks there are on a side, and how many bits of V are read at first.
    """

    order: float
    scale: float
    start: int
    two_sided: bool
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
    heights: NDArray[np.float64]
    drops: NDArray[np.float64]
    errors: NDArray[np.float64]
    slot_bits: int
    block_bits: int
    word: int

    @property
    def compared(self) -> float:
        """How often a draw is not accepted at once, as a share of all draws."""
        return float(np.mean(self.quick == _UNDECIDED))

    def draw(self, out: NDArray[np.int64], source: Source) -> None:
        """Overwrite a flat array with draws."""
        for start in range(0, out.size, _BATCH):
            part = out[start : start + _BATCH]
            undecided, slots, places = self._accepted_at_once(part, source)
            while undecided.size:
                kept, values = self._compared(slots, places, source)
                part[undecided[kept]] = values[kept]
                undecided = undecided[~kept]
                slots, places = self._picked(undecided.size, source)

    def _accepted_at_once(
        self, out: NDArray[np.int64], source: Source
    ) -> tuple[NDArray[np.intp], NDArray[np.uint16], NDArray[np.integer]]:
        """Overwrite a flat array where a look-up decides; return the rest of it, and its slots and places."""
        if out.size < FEW:
            return np.arange(out.size), *self._picked(out.size, source)
        rest: list[tuple[NDArray[np.intp], NDArray[np.uint16], NDArray[np.integer]]] = []
        for start in range(0, out.size, CHUNK):
            part = out[start : start + CHUNK]
            slots, places = self._picked(part.size, source)
            np.take(self.quick, slots, out=part, mode="clip")
            undecided = np.flatnonzero(part == _UNDECIDED)
            part += places
            rest.append((undecided + start, slots[undecided], places[undecided]))
        undecided, slots, places = (np.concatenate(parts) for parts in zip(*rest, strict=True))
        return undecided, slots, places

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
        heights, errors = self._chord(np.abs(values) - self.start)
        far = np.flatnonzero((slots >= self.far_slots.start) & (levels < np.inf))
        heights[far], errors[far] = self.far_height, self.far_error
        gaps = heights - (levels + words * 2.0**-self.word)
        kept = gaps > errors
        for i in np.flatnonzero(np.abs(gaps) <= errors):
            x = None if int(slots[i]) in self.far_slots else abs(int(values[i]))
            kept[i] = self._accepted(x, int(levels[i]), int(words[i]), source)
        far = far[kept[far]]
        if far.size:
            kept[far], values[far] = self._far_draws(far.size, source)
        return kept, values

    def _chord(self, distance: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return M f by its chords at distances from the start, and what that can be off."""
        cell = distance >> self.cell_bits
        share = (distance & ((1 << self.cell_bits) - 1)) * 2.0**-self.cell_bits
        return self.heights[cell] - self.drops[cell] * share, self.errors[cell]

    def _accepted(self, x: int | None, level: int, numerator: int, source: Source) -> bool:
        """Decide level + V < M f(x), or for the far values (None) the same with their sum, in ball arithmetic."""
        bits = self.word
        while True:
            with precision_at(self.order, self.scale, self.far_start, bits):
                exact = arb(self.height) * (
                    _weight(self.order, self.scale, self.start, x)
                    if x is not None
                    else _far_sum(self.order, self.scale, self.start, self.far_start, self.two_sided)
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
        sizes = {"slot_bits": self.slot_bits, "block_bits": self.block_bits, "word": self.word}
        envelope(self.order, self.scale, start=self.far_start, **sizes).draw(values, source)
        if not self.two_sided:
            return np.ones(count, dtype=np.bool_), values
        negative = (random_words(source, count) & np.uint64(1)).astype(np.bool_)
        # The negative blocks reach one farther, to -far_start.
        kept = ~(negative & (values == self.far_start))
        return kept, np.where(negative, -values, values)


@lru_cache(maxsize=32)
def envelope(
    order: float,
    scale: float,
    *,
    start: int = 0,
    two_sided: bool = False,
    slot_bits: int = _SLOT_BITS,
    block_bits: int = _BLOCK_BITS,
    word: int = _WORD,
) -> Envelope:
    """Return the envelope of the law of the integers from `start` >= 0 on, or of all of them.

    Parameters
    ----------
    order, scale : float
        The law.
    start : int, default 0
        Where it starts.
    two_sided : bool, default False
        Whether it is the law of all integers; `start` is then 0.
    slot_bits, block_bits, word : int
        How many slots there are, about how many blocks on a side, and how many bits of V are read at first.
    """
    span = max(reach(order, scale, start, _DEPTH), 1.0)
    width_bits = max(math.frexp(span)[1] - 1 - block_bits, 0)
    count = max(math.ceil(math.ldexp(span, -width_bits)), 1)
    far_start = start + (count << width_bits)
    with precision_at(order, scale, far_start, 64):
        tops = [_weight(order, scale, start, start + (i << width_bits)) for i in range(count + 1)]
        far = _far_sum(order, scale, start, far_start, two_sided) / arb(2) ** width_bits
        sides = 2 if two_sided else 1
        height = _height([float(top) for top in tops[:-1]], float(far), sides, 1 << slot_bits)
        needed = [math.ceil(upper_float(arb(height) * top)) for top in tops[:-1]]
        sure = [math.floor(lower_float(arb(height) * top)) for top in tops[1:]]
        far_height = arb(height) * far
        far_needed = math.ceil(upper_float(far_height))
        cell_bits = max(width_bits - _CELL_BITS, 0)
        heights, drops, errors = _chords(order, scale, start, (count << width_bits) >> cell_bits, cell_bits, height)
        # V is known to its first bits, and M f and a comparison to floats.
        errors += _ROUNDING + 2.0**-word
    right = start + (np.arange(count, dtype=np.int64) << width_bits)
    left = -right - (1 << width_bits)
    blocks = np.concatenate([right, left]) if two_sided else right
    runs = np.array(needed * sides)
    regular = int(runs.sum())
    bases = np.full(1 << slot_bits, start, dtype=np.int64)
    bases[:regular] = np.repeat(blocks, runs)
    levels = np.full(1 << slot_bits, np.inf)
    levels[:regular] = np.arange(regular) - np.repeat(np.cumsum(runs) - runs, runs)
    far_slots = range(regular, regular + far_needed)
    levels[far_slots.start : far_slots.stop] = np.arange(far_needed)
    quick = np.full(1 << slot_bits, _UNDECIDED)
    at_once = levels[:regular] < np.repeat(np.array(sure * sides), runs)
    quick[:regular][at_once] = bases[:regular][at_once]
    return Envelope(
        order=order,
        scale=scale,
        start=start,
        two_sided=two_sided,
        width_bits=width_bits,
        height=height,
        bases=bases,
        levels=levels,
        quick=quick,
        far_slots=far_slots,
        far_start=far_start,
        far_height=float(far_height),
        far_error=float(far_height.rad().upper()) + _ROUNDING + 2.0**-word,
        cell_bits=cell_bits,
        heights=heights,
        drops=drops,
        errors=errors,
        slot_bits=slot_bits,
        block_bits=block_bits,
        word=word,
    )


def _weight(p: float, b: float, start: int, x: int) -> arb:
    """Enclose f(x)."""
    return ((arb(start) / arb(b)) ** arb(p) - (arb(x) / arb(b)) ** arb(p)).exp()


def _far_sum(p: float, b: float, start: int, far_start: int, two_sided: bool) -> arb:
    """Enclose the sum of f from `far_start` on, twice for both sides."""
    return (2 if two_sided else 1) * tail_sum(p, b, far_start) * ((arb(start) / arb(b)) ** arb(p)).exp()


def _height(tops: list[float], far: float, sides: int, slots: int) -> float:
    """Return a height M whose slots just fit; a hair of room is left for the bounds of the weights."""
    weights: NDArray[np.float64] = np.array(tops) * (1.0 + 1e-9)

    def fits(height: float) -> bool:
        needed = sides * float(np.ceil(height * weights).sum()) + math.ceil(height * far * (1.0 + 1e-9))
        return needed <= slots

    low, high = 0.0, slots / (sides * float(weights.sum()))
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _chords(
    p: float, b: float, start: int, cells: int, cell_bits: int, height: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Return M f at each node, how far it falls to the next, and what the chord between them can be off."""
    width = 2.0**cell_bits
    places = [start + (i << cell_bits) for i in range(cells + 1)]
    exponents = [(arb(x) / arb(b)) ** arb(p) for x in places]
    top = arb(height) * exponents[0].exp()
    balls = [top * (-t).exp() for t in exponents]
    values = np.array([float(ball) for ball in balls])
    drops = np.append(values[:-1] - values[1:], 0.0)
    # Far below a rounding, if nobody else has changed the precision meanwhile.
    spread = 2.0 * max(upper_float(ball.rad()) for ball in balls)
    if cell_bits == 0:
        return values, drops, np.full(cells + 1, spread)
    x = np.maximum(np.array([float(place) for place in places]), 1.0)
    # Per cell width. A node at 0 is mended below.
    slopes = p * np.array([float(t.upper()) for t in exponents]) / x * width
    bends = (p - 1.0) * slopes / x * width
    if start == 0:
        slopes[0] = width / b if p == 1.0 else 0.0
        bends[0] = 0.0 if p == 1.0 or p > 2.0 else math.inf if p < 2.0 else 2.0 * (width / b) ** 2
    with np.errstate(over="ignore", invalid="ignore"):
        curved = values[:-1] * np.maximum(slopes[1:] ** 2, np.maximum(bends[:-1], bends[1:])) / 8.0
    # Where the first bound overflows, the second holds.
    off = np.fmin(curved, drops[:-1]) * (1.0 + 1e-9)
    return values, drops, np.append(off, 0.0) + spread
