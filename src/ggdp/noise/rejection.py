"""Exact draws of the integer generalized Gaussian law at scales too wide for a table, by rejection.

=============  ==========================================================================================
p, b           order and scale
f(x)           exp((a/b)^p - (x/b)^p), the weight of |k| = x >= a, relative to that of a
a              where the law starts: 0, or the value that |k| is at least
2^m            width of a block: the integers a + i 2^m + r for 0 <= r < 2^m
M              height of the envelope: the number of slots that a weight of 1 is given, a float
slot           one of 2^16; block i has the slots j = 0, ..., n_i - 1 with n_i >= M f(start of block i)
V              a uniform number in [0, 1), read to as many bits as a decision takes
2h             width of a cell, on which M f is compared with one parabola
g1, g2, g3     the first three derivatives of g(x) = (x/b)^p
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

Claim (floats). A comparison and the coefficients of its parabola make fewer than thirty
roundings of numbers below 2^19, each off by at most 2^-34; `ROUNDING` bounds their sum.

Timing. Whether a draw was accepted at once depends on it weakly; fewer than `FEW` draws are all compared. The number of
rejections does not depend on the draw that is kept. No time depends on a true value: none is known here.

The envelope, which a draw takes as given, is made in ball arithmetic: the slots of a block are no fewer than M f at its
start, those accepted at once no more than M f at its end. The search for M may use floats, since any M will do.

Claim (parabola). Through M f at the ends and the middle of a cell of width 2h goes a parabola that is off by at most
h^3 max |M f3| / (9 sqrt 3), where f3 is the third derivative of f. With g = (x/b)^p it is f3 = f (3 g1 g2 - g1^3 - g3);
f falls and g1, g2, g3 are monotone, so |f3| is at most f(start) (g1^3 + 3 g1 g2 + |g3|) with each at the end where it
is largest. A chord from end to end is off by no more than M f falls, and serves where that is less.

Claim (the first cell). From 0 to a width w, at 1 < p < 2, where g3 is infinite: with t = (w/b)^p the chord of M f is
off by at most M (t K + t^2/2), K = (p - 1) p^(-p/(p-1)). For f = 1 - g + r with 0 <= r <= g^2/2 <= t^2/2, and the chord
of g is off by at most the maximum of t (u - u^p) over 0 <= u <= 1, which is t K.

References
----------
Devroye, "Non-Uniform Random Variate Generation" (1986), II.3 (rejection; envelopes for discrete laws in II.3.4) and
VIII (squeezing); Marsaglia and Tsang, "The Ziggurat Method" (2000), for accepting most draws by a look-up.
"""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp.noise.entropy import Integers, Source, fill, random_words
from ggdp.noise.table import BATCH, CHUNK, UNDECIDED, is_below, precision_from, reach
from ggdp.proofs.tails import partial_sum, tail_sum

# Fewer draws are all compared.
FEW = 64
ROUNDING = 2.0**-29
# The blocks reach to where the weight has fallen to e^-20: a draw beyond takes longer, and should be rare.
_DEPTH = 20.0


class Envelope:
    """Slots over the integers k with |k| >= `start`: the positive ones, or for a start of 0 those of both signs.

    The largest |k| is `stop`, for the law given that it is no larger. There are 2^slot_bits slots, about 2^block_bits
    blocks on a side, and `word` bits of V are read at first.
    """

    def __init__(
        self,
        order: float,
        scale: float,
        *,
        start: int = 0,
        two_sided: bool = False,
        stop: int | None = None,
        slot_bits: int = 16,
        block_bits: int = 9,
        word: int = 64,
    ) -> None:
        self.order, self.scale, self.start, self.two_sided, self.stop = order, scale, start, two_sided, stop
        self.slot_bits, self.block_bits, self.word = slot_bits, block_bits, word
        span = max(reach(order, scale, start, _DEPTH), 1.0)
        if stop is not None:
            span = min(span, float(stop - start + 1))
        self.width_bits = max(math.frexp(span)[1] - 1 - block_bits, 0)  # m
        count = max(math.ceil(math.ldexp(span, -self.width_bits)), 1)
        # Beyond the last block, the values from here on share the far slots; a law that stops before has none.
        self.far_start = start + (count << self.width_bits)
        sides = 2 if two_sided else 1
        with BALLS, working_precision(precision_from(order, scale, start, 64)):
            tops = [weight(order, scale, start, start + (i << self.width_bits)) for i in range(count + 1)]
            far = self._far_sum()
            self.height = _height([float(top) for top in tops[:-1]], upper_float(far), sides, 1 << slot_bits)  # M
            needed = [math.ceil(upper_float(arb(self.height) * top)) for top in tops[:-1]]
            sure = [math.floor(lower_float(arb(self.height) * top)) for top in tops[1:]]
            if stop is not None:
                # A block that reaches beyond the stop has to be looked at.
                sure = [level if start + ((i + 1) << self.width_bits) <= stop else 0 for i, level in enumerate(sure)]
            far_height = arb(self.height) * far
            far_needed = math.ceil(upper_float(far_height))
            # Cells are 2^cell_bits wide: a block is cut into four.
            self.cell_bits = max(self.width_bits - 2, 1)
            # For each cell the coefficients of the parabola that M f is compared with, in shares of the cell, and
            # within what of it a comparison does not decide: V is known to its first bits, M f and the rest to floats.
            self.parabolas, self.errors = _parabolas(
                order, scale, start, count << self.width_bits, self.cell_bits, self.height
            )
            self.errors += ROUNDING + 2.0**-word
        # What the level of a far slot is compared with, in place of M f, and within what of it that does not decide.
        self.far_height = float(far_height)
        self.far_error = float(far_height.rad().upper()) + ROUNDING + 2.0**-word
        right = start + (np.arange(count, dtype=np.int64) << self.width_bits)
        blocks = np.concatenate([right, -right - (1 << self.width_bits)]) if two_sided else right
        runs = np.array(needed * sides)
        regular = int(runs.sum())
        self.far_slots = range(regular, regular + far_needed)
        # For each slot the least integer of its block, and its level j: infinite for slots that are always rejected.
        self.bases = np.full(1 << slot_bits, start, dtype=np.int64)
        self.bases[:regular] = np.repeat(blocks, runs)
        self.levels = np.full(1 << slot_bits, np.inf)
        self.levels[:regular] = np.arange(regular) - np.repeat(np.cumsum(runs) - runs, runs)
        self.levels[regular : self.far_slots.stop] = np.arange(far_needed)
        # The same as `bases` where the level is accepted at once.
        self.quick = np.full(1 << slot_bits, UNDECIDED)
        at_once = self.levels[:regular] < np.repeat(np.array(sure * sides), runs)
        self.quick[:regular][at_once] = self.bases[:regular][at_once]

    def draw(self, out: Integers, rng: Source) -> None:
        """Overwrite a flat array with draws."""
        for start in range(0, out.size, BATCH):
            part = out[start : start + BATCH]
            undecided, slots, places = self._accept_at_once(part, rng)
            # Once even if nothing is left to compare but spare trials, so that the time does not reveal it.
            while slots.size:
                kept, values = self._compare(slots, places, rng)
                tried = undecided.size
                part[undecided[kept[:tried]]] = values[:tried][kept[:tried]]
                undecided = undecided[~kept[:tried]]
                # Spare trials that are kept take the places of those that are not.
                spare = values[tried:][kept[tried:]][: undecided.size]
                part[undecided[: spare.size]] = spare
                undecided = undecided[spare.size :]
                if not undecided.size:
                    break
                slots, places = self._pick(undecided.size + _spares(undecided.size), rng)

    def _accept_at_once(
        self, out: Integers, rng: Source
    ) -> tuple[NDArray[np.intp], NDArray[np.uint16], NDArray[np.integer]]:
        """Overwrite a flat array where a look-up decides; return the rest of it, and its and spare slots and places."""
        spare = _spares(out.size)
        if out.size < FEW:
            return np.arange(out.size), *self._pick(out.size + spare, rng)
        found: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
        for start in range(0, out.size, CHUNK):
            part = out[start : start + CHUNK]
            last = start + CHUNK >= out.size
            slots, places = self._pick(part.size + spare * last, rng)
            np.take(self.quick, slots[: part.size], out=part, mode="clip")
            # The spare ones are at the end, and all of them are chosen.
            chosen = np.ones(slots.size, dtype=np.bool_)
            np.equal(part, UNDECIDED, out=chosen[: part.size])
            part += places[: part.size]
            indices = np.flatnonzero(chosen)
            found.append((indices[: indices.size - spare * last] + start, slots[indices], places[indices]))
        if len(found) == 1:
            return found[0]
        undecided, slots, places = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return undecided, slots, places

    def _pick(self, count: int, rng: Source) -> tuple[NDArray[np.uint16], NDArray[np.integer]]:
        """Return slots and places in their blocks."""
        width = 2 if self.width_bits <= 16 else 4 if self.width_bits <= 32 else 8
        buffer = np.empty((2 + width) * count, dtype=np.uint8)
        if count:
            fill(buffer, rng)
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

    def _compare(
        self, slots: NDArray[np.uint16], places: NDArray[np.integer], rng: Source
    ) -> tuple[NDArray[np.bool_], Integers]:
        """Return which of the slots and places are accepted, and their integers."""
        words = random_words(rng, slots.size) >> np.uint64(64 - self.word)
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
            kept[i] = self._accepts(x, int(levels[i]), int(words[i]), rng)
        far = far[kept[far]]
        if far.size:
            kept[far], values[far] = self._draw_far(far.size, rng)
        return kept, values

    def _parabola(self, distance: Integers) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return M f by its parabolas at distances from the start, and what that can be off."""
        cell = distance >> self.cell_bits
        share = (distance & ((1 << self.cell_bits) - 1)) * 2.0**-self.cell_bits
        start, slope, bend = self.parabolas[:, cell]
        return start + share * (slope + share * bend), self.errors[cell]

    def _accepts(self, x: int | None, level: int, numerator: int, rng: Source) -> bool:
        """Decide level + V < M f(x), or for the far values (None) the same with their sum, in ball arithmetic."""

        def height() -> arb:
            value = self._far_sum() if x is None else weight(self.order, self.scale, self.start, x)
            return arb(self.height) * value

        precision = partial(precision_from, self.order, self.scale, self.start)
        return is_below(height, level, rng, numerator=numerator, word=self.word, precision=precision)

    def _far_sum(self) -> arb:
        """Enclose the sum of f from `far_start` on, over both sides if there are two, in blocks."""
        p, b, stop = self.order, self.scale, self.stop
        total = tail_sum(p, b, self.far_start) if stop is None else partial_sum(p, b, self.far_start, stop)
        both = (2 if self.two_sided else 1) * total * ((arb(self.start) / arb(b)) ** arb(p)).exp()
        return both / arb(2) ** self.width_bits

    def _draw_far(self, count: int, rng: Source) -> tuple[NDArray[np.bool_], Integers]:
        """Return draws given that they are beyond the last block, and which of them to keep."""
        values = np.empty(count, dtype=np.int64)
        bits = {"slot_bits": self.slot_bits, "block_bits": self.block_bits, "word": self.word}
        envelope(self.order, self.scale, start=self.far_start, stop=self.stop, **bits).draw(values, rng)
        if not self.two_sided:
            return np.ones(count, dtype=np.bool_), values
        negative = (random_words(rng, count) & np.uint64(1)).astype(np.bool_)
        # The negative blocks reach one farther, to -far_start.
        kept = ~(negative & (values == self.far_start))
        return kept, np.where(negative, -values, values)


envelope = lru_cache(maxsize=32)(Envelope)


def weight(p: float, b: float, start: int, x: int) -> arb:
    """Enclose f(x)."""
    return ((arb(start) / arb(b)) ** arb(p) - (arb(x) / arb(b)) ** arb(p)).exp()


def _spares(count: int) -> int:
    """Return how many trials to make beside `count`, so that one round is nearly always enough."""
    return count // 32 + 16


def _height(tops: list[float], far: float, sides: int, slots: int) -> float:
    """Return a height M whose slots just fit; a small margin is left for the rounding of the weights."""
    weights: NDArray[np.float64] = np.array(tops) * (1.0 + 1e-9)

    def fits(height: float) -> bool:
        # A weight has a slot even where it is not a float above 0.
        needed = sides * float(np.maximum(np.ceil(height * weights), 1.0).sum())
        return needed + math.ceil(height * far * (1.0 + 1e-9)) + 1 <= slots

    low, high = 0.0, slots / (sides * float(weights.sum()))
    for _ in range(40):
        middle = (low + high) / 2.0
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _parabolas(
    p: float, b: float, start: int, span: int, cell_bits: int, height: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the parabolas through M f at both ends and the middle of each cell, and their largest errors."""
    half = 1 << (cell_bits - 1)
    cells = -(-span // (2 * half))
    places = [start + i * half for i in range(2 * cells + 1)]
    exponents = [(arb(x) / arb(b)) ** arb(p) for x in places]
    top = arb(height) * exponents[0].exp()
    balls = [top * (-t).exp() for t in exponents]
    values = np.array([float(ball) for ball in balls])
    left, middle, right = values[:-1:2], values[1::2], values[2::2]
    parabolas = np.array([left, 4.0 * middle - 3.0 * left - right, 2.0 * (left + right) - 4.0 * middle])
    # The integers of a cell of two are its start and its middle.
    off = np.zeros(cells)
    if half > 1:
        with np.errstate(over="ignore", invalid="ignore"):
            off = left * _third_derivatives(p, b, places, exponents, float(half)) / (9.0 * math.sqrt(3.0))
        off *= 1.0 + 1e-9
        drop = left - right
        # Also where the bound of the parabola is infinite, or overflows.
        flat = ~(off < drop)
        parabolas[:, flat] = np.array([left, right - left, np.zeros(cells)])[:, flat]
        off[flat] = drop[flat]
        if start == 0 and 1.0 < p < 2.0:
            t = float(exponents[2].upper())
            off[0] = min(off[0], height * t * ((p - 1.0) * p ** (-p / (p - 1.0)) + t / 2.0) * (1.0 + 1e-9))
    # The end of the last cell may be drawn too, as the least of the negative integers.
    parabolas = np.append(parabolas, [[values[-1]], [0.0], [0.0]], axis=1)
    # The balls are far narrower than a rounding, if no other thread has changed the precision meanwhile.
    spread = 8.0 * upper_float(max(map(arb.rad, balls)))
    return parabolas, np.append(off, 0.0) + spread


def _third_derivatives(p: float, b: float, places: list[int], exponents: list[arb], half: float) -> NDArray[np.float64]:
    """Return upper bounds of |f3| / f(start of the cell) on each cell, times half its width cubed."""
    x = np.maximum(np.array([float(place) for place in places]), 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        first = p * np.array([float(t.upper()) for t in exponents]) / x * half
        second = (p - 1.0) * first / x * half
        third = abs(p - 2.0) * second / x * half
        if places[0] == 0:
            # At 0 the powers x^(p - 1), x^(p - 2), x^(p - 3) are 0, 1 or infinite.
            factors = (p, p * (p - 1.0), p * (p - 1.0) * abs(p - 2.0))
            for n, (derivative, factor) in enumerate(zip((first, second, third), factors, strict=True), start=1):
                derivative[0] = 0.0 if p > n or factor == 0.0 else math.inf if p < n else factor * (half / b) ** n
        g1, g2, g3 = (np.maximum(np.maximum(g[:-1:2], g[1::2]), g[2::2]) for g in (first, second, third))
        bound: NDArray[np.float64] = g1**3 + 3.0 * g1 * g2 + g3
    return bound
