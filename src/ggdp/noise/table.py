"""Exact draws of laws on the integers: at the speed of a look-up in memory for laws that fit in a table.

=============  ==========================================================================================
K              the law on the integers
c_k            P(K < k), the threshold of k, which `below(k)` encloses: the draw is the largest k with c_k <= U
U              a uniform number in [0, 1); its first 64 bits are a word u, so that U is in [u, u + 1) / 2^64
low, high      64-bit integers with low <= 2^64 c_k <= high, nearly always neighbours
guide          for each value of the first 16 bits of u: the draw, if they decide it, or `UNDECIDED`
p, b           order and scale of the generalized Gaussian law
f(j)           exp(-(j / b)^p), the weight of the integer j >= 0
w              the half-width of a window |k| <= w; infinite for the whole law
S(k)           sum of f(j) over the integers j with k <= j <= w
=============  ==========================================================================================

A draw reads 16 bits and looks them up. Where a threshold lies between the words that begin with them, 48 more bits are
read and compared with the thresholds in that range. Where a threshold's own 64 bits are hit, and for draws beyond the
table's ends, `invert` compares in ball arithmetic: where the bits of U that were read do not decide, more are read and
everything is enclosed more narrowly. It takes milliseconds, serves any law whose cumulative probabilities can be
enclosed, and ends with probability 1.

Claim. The draws have exactly the law K. Proof: each of the three steps returns the k with c_k <= U < c_(k+1) for every
U that begins with the bits read, or reads on: u >= high implies U >= c_k, and u < low implies u + 1 <= low, so U < c_k.
No float is compared.

Tables of the generalized Gaussian law are those of the whole law, a window of it, or its tail. The sums S are made from
the far end on, term by term, in balls; each threshold is bracketed between two neighboring 64-bit integers, or two
that are a little farther apart where a ball holds an integer. A wider bracket costs a few more bits in rare draws and
changes nothing in their law. A table ends where what is left is below 2^-64; draws there go on beyond its end.

Timing. Fewer than `FEW` draws skip the guide: each is then searched for among the thresholds, in the same number of
steps, but for the last step above, which is taken with a probability below 2^-40. In larger batches the number of
undecided look-ups shows in the total time. No time depends on a true value: none is known here.

References
----------
Devroye, "Non-Uniform Random Variate Generation" (1986), III.2.4 (guide tables); Knuth and Yao, "The Complexity of
Nonuniform Random Number Generation" (1976), for deciding with as many bits as it takes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, repeat
from operator import mul
from typing import TypeAlias

import numpy as np
from flint import arb, ctx
from numpy.typing import NDArray

from ggdp._balls import BALLS, hull, working_precision
from ggdp.errors import UnprovedError
from ggdp.noise.entropy import Integers, Source, fill, random_bits, random_words
from ggdp.proofs.tails import partial_sum, tail, tail_sum, weight

Cumulative: TypeAlias = Callable[[int], arb]

# A law that can be enclosed at will gets here with a probability below 2^-4000.
_MOST_BITS = 1 << 12
FEW = 512
# Draws at a time: bits, draws and guide then stay in a core's own cache.
CHUNK = 1 << 15
# Draws at a time whose undecided ones are decided together.
BATCH = 1 << 18
UNDECIDED = np.iinfo(np.int64).min
_SPARE_BITS = 40


def invert(below: Cumulative, rng: Source, *, numerator: int = 0, bits: int = 0, start: int = 0, word: int = 64) -> int:
    """Return the k with P(K < k) <= U < P(K < k + 1), for a U whose first `bits` bits are `numerator`.

    `below` encloses P(K < k) at the working precision, 0 and 1 beyond the ends of a bounded law. The search begins at
    `start`. More bits are read a `word` at a time, a multiple of 8; if thousands of them do not
    decide, since `below` does not get narrower with the precision, an `UnprovedError` is raised.
    """
    while bits <= _MOST_BITS:
        with BALLS, working_precision(bits + 48):
            unit = arb(2) ** -bits
            k = _locate(below, arb(numerator) * unit, (arb(numerator) + 1) * unit, start)
        if k is not None:
            return k
        numerator, bits = (numerator << word) | random_bits(rng, word), bits + word
    raise UnprovedError("a draw fell where the law is not known narrowly enough to decide it; enclose it more narrowly")


def is_below(
    height: Callable[[], arb], level: int, rng: Source, *, numerator: int, word: int, precision: Callable[[int], int]
) -> bool:
    """Decide whether level + V < height, for a uniform V in [0, 1) whose first `word` bits are `numerator`.

    `height` encloses a number at the working precision, and `precision` returns the one that so many bits of V need.
    More bits are read, a word at a time, until the ball is on one side.
    """
    bits = word
    while True:
        with BALLS, working_precision(precision(bits)):
            exact, low = height(), level + arb(numerator) * arb(2) ** -bits
            if exact >= low + arb(2) ** -bits:
                return True
            if exact <= low:
                return False
        numerator, bits = (numerator << word) | random_bits(rng, word), bits + word


def _locate(below: Cumulative, low: arb, high: arb, start: int) -> int | None:
    """Return the draw of every U in [low, high), or None where it is not the same for all."""

    def side(k: int) -> int:
        """Return 1 if P(K < k) <= U for certain, -1 if U < P(K < k) for certain, 0 if the bits do not decide."""
        threshold = below(k)
        return 1 if threshold <= low else -1 if threshold >= high else 0

    inside, outside, step = start, start, 1
    found = first = side(start)
    while found == first != 0:
        inside, outside, step = outside, outside + first * step, 2 * step
        found = side(outside)
    least, most = sorted((inside, outside))
    while found and most - least > 1:
        middle = (least + most) // 2
        found = side(middle)
        least, most = (middle, most) if found > 0 else (least, middle)
    return least if found else None


class Table:
    """Thresholds of a law on the integers, given as pairs (low, high) of integers, at least one, and the guide to them.

    The draw below the first threshold is `least`. `ends` says whether that, and the value from the last threshold on,
    are the least and the greatest of the law; where they are not, a draw at that end goes on beyond the table. So many
    `guide_bits` are looked up, and `word` bits compared. The last `high` may be 2^word. The one word that passes its
    low end is then taken as having passed it, and the end of the table as not the law's, so that it goes on to more
    bits.
    """

    def __init__(
        self,
        brackets: Sequence[tuple[int, int]],
        *,
        least: int,
        ends: tuple[bool, bool],
        below: Cumulative,
        guide_bits: int = 16,
        word: int = 64,
    ) -> None:
        most = (1 << word) - 1
        self.least, self.below, self.guide_bits, self.word = least, below, guide_bits, word
        self.ends = (ends[0], ends[1] and brackets[-1][1] <= most)
        pairs = np.array([(low, min(high, most)) for low, high in brackets], dtype=np.uint64)
        # Bounds of 2^word c_k for k = least + 1, least + 2, ...; both rise.
        self.low, self.high = low, high = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
        size, rest = 1 << guide_bits, np.uint64(word - guide_bits)
        # The first value of the first bits with all of whose words the threshold is passed.
        before = high - np.minimum(high, np.uint64(1))
        passed = ((before >> rest) + (high > 0)).astype(np.int64)
        # For each value of the first bits, how many thresholds are below all words that begin with them.
        self.counts = np.repeat(np.arange(low.size + 1, dtype=np.int32), np.diff(passed, prepend=0, append=size))
        self.guide = guide = self.counts.astype(np.int64) + least
        # Values some of whose words are below the threshold for certain, or are not decided, and some are above.
        from_here, to_here = (low >> rest).astype(np.int64), (before >> rest).astype(np.int64)
        guide[from_here] = guide[to_here] = UNDECIDED
        for i in np.flatnonzero(to_here - from_here > 1):
            guide[from_here[i] : to_here[i]] = UNDECIDED
        if not self.ends[0]:
            guide[: int(passed[0])] = UNDECIDED
        if not self.ends[1]:
            guide[int(passed[-1]) :] = UNDECIDED

    def draw(self, out: Integers, rng: Source) -> None:
        """Overwrite a flat array with draws."""
        if out.size < FEW:
            words = random_words(rng, out.size) >> np.uint64(64 - self.word)
            out[:] = self._read_on(np.searchsorted(self.high, words, side="right"), words, rng)
            return
        for start in range(0, out.size, BATCH):
            part = out[start : start + BATCH]
            undecided, first = self._look_up(part, rng)
            part[undecided] = self._decide(first, rng)

    def _look_up(self, out: Integers, rng: Source) -> tuple[NDArray[np.intp], NDArray[np.uint16]]:
        """Overwrite a flat array where a look-up decides; return the rest of it, and its first bits.

        The rest is never empty: a draw is decided twice, so that the time does not reveal that all were decided once.
        """
        buffer = np.empty(min(CHUNK, out.size), dtype=np.uint16)
        spare = np.uint16(16 - self.guide_bits)
        found: list[tuple[NDArray[np.intp], NDArray[np.uint16]]] = []
        for start in range(0, out.size, CHUNK):
            part = out[start : start + CHUNK]
            first = buffer[: part.size]
            fill(first.view(np.uint8), rng)
            if spare:
                first >>= spare
            np.take(self.guide, first, out=part, mode="clip")
            undecided = np.flatnonzero(part == UNDECIDED)
            found.append((undecided + start, first[undecided]))
        places, firsts = (np.concatenate(parts) for parts in zip(*found, strict=True))
        return (places, firsts) if places.size else (np.array([out.size - 1]), first[-1:].copy())

    def _decide(self, first: NDArray[np.uint16], rng: Source) -> Integers:
        """Return the draws of words with the given first bits, reading the rest of them."""
        rest = self.word - self.guide_bits
        words = random_words(rng, first.size) >> np.uint64(64 - rest)
        words |= first.astype(np.uint64) << np.uint64(rest)
        # Most ranges of words hold one threshold, which a comparison decides; the others are searched.
        count = self.counts[first]
        last = self.low.size - 1
        count += (words >= self.high[np.minimum(count, last)]) & (count <= last)
        more = np.flatnonzero((words >= self.low[np.minimum(count, last)]) & (count <= last))
        count[more] = np.searchsorted(self.high, words[more], side="right")
        return self._read_on(count, words, rng)

    def _read_on(self, count: NDArray[np.integer], words: NDArray[np.uint64], rng: Source) -> Integers:
        """Return the draws of words that have passed `count` thresholds, and read on where they do not decide."""
        last = self.low.size - 1
        draws = count.astype(np.int64) + self.least
        open_ones = (words >= self.low[np.minimum(count, last)]) & (count <= last)
        if not self.ends[0]:
            open_ones |= count == 0
        if not self.ends[1]:
            open_ones |= count > last
        for i in np.flatnonzero(open_ones):
            known = {"numerator": int(words[i]), "bits": self.word, "start": int(draws[i])}
            draws[i] = invert(self.below, rng, **known, word=self.word)
        return draws


def reach(order: float, scale: float, start: int, depth: float) -> float:
    """Estimate how far from `start` the weight falls by a factor e^-depth."""
    log_t = order * math.log(start / scale) if start else -math.inf
    if log_t < -30.0:
        return max(scale * math.exp(math.log(depth) / order) - start, 0.0)
    return start * math.expm1(math.log1p(depth * math.exp(-min(log_t, 700.0))) / order)


def thresholds_needed(order: float, scale: float, *, start: int = 0, word: int = 64) -> float:
    """Estimate how many values from `start` on hold all but 2^-word of the weight there."""
    # S(k) / S(start) <= f(k) / f(start), since the ratio f(j + 1) / f(j) does not rise.
    return reach(order, scale, start, word * math.log(2.0)) + 2.0


def precision_from(order: float, scale: float, start: int, bits: int) -> int:
    """Return the precision at which weights relative to that of `start` have so many bits, and some to spare."""
    # The exponent (start/scale)^order needs its bits before the point as well. Where that of another weight is much
    # larger, the weight is nothing compared with that of `start`, and so is its error.
    return bits + _SPARE_BITS + math.ceil(order * math.log2(max(start / scale, 1.0)))


@lru_cache(maxsize=64)
def symmetric_law(
    order: float, scale: float, width: int | None = None, *, guide_bits: int = 16, word: int = 64
) -> Table:
    """Return the table of all integers, or of the law given |k| <= width.

    P(K < k) is S(1 - k) / Z for k <= 0 and 1 - S(k) / Z for k >= 1, with Z = 1 + 2 S(1).
    """
    count = math.ceil(thresholds_needed(order, scale, word=word))
    if width is not None:
        count = min(count, width)
    with BALLS, working_precision(word + _SPARE_BITS):
        first, full = count + 1, 1 << word
        beyond = _beyond(order, scale, first, word) if width is None else partial_sum(order, scale, first, width)
        sums = _suffix_sums(order, scale, 1, count, beyond)
        unit = arb(2) ** word / (1 + 2 * sums[0])
        mirrored = (integer_bracket(rest * unit) for rest in sums)
        right = list(_until_one(((full - high, full - low) for low, high in mirrored), word))
    table = [(full - high, full - low) for low, high in reversed(right)] + right
    complete = len(right) == width and table[0][0] > 0

    def below(k: int) -> arb:
        return 1 - tail(order, scale, k) if width is None else below_in_window(order, scale, -width, width, k)

    return Table(
        table, least=-len(table) // 2, ends=(complete, complete), below=below, guide_bits=guide_bits, word=word
    )


@lru_cache(maxsize=32)
def tail_law(order: float, scale: float, start: int, *, guide_bits: int = 16, word: int = 64) -> Table:
    """Return the table of the law given k >= start >= 1."""
    count = math.ceil(thresholds_needed(order, scale, start=start, word=word))
    with BALLS, working_precision(precision_from(order, scale, start, word)):
        sums = _suffix_sums(order, scale, start, count, tail_sum(order, scale, start + count))
        unit = arb(2) ** word
        brackets = list(_until_one((integer_bracket(unit * (1 - rest / sums[0])) for rest in sums[1:]), word))

    def below(k: int) -> arb:
        with BALLS, working_precision(precision_from(order, scale, start, ctx.prec)):
            return 1 - tail_sum(order, scale, k) / tail_sum(order, scale, start) if k > start else arb(0)

    return Table(brackets, least=start, ends=(True, False), below=below, guide_bits=guide_bits, word=word)


def window(order: float, scale: float, first: int, last: int) -> arb:
    """Enclose the sum of exp(-(|j|/scale)^order) over first <= j <= last; 0 when there is nothing to add."""
    if last < 0:
        first, last = -last, -first
    if first >= 0:
        return partial_sum(order, scale, first, last)
    return partial_sum(order, scale, 1, -first) + partial_sum(order, scale, 0, last)


def below_in_window(order: float, scale: float, first: int, last: int, k: int) -> arb:
    """Enclose P(K < k) for noise restricted to first <= K <= last."""
    if not first < k <= last:
        return arb(0 if k <= first else 1)
    return window(order, scale, first, k - 1) / window(order, scale, first, last)


def _beyond(order: float, scale: float, first: int, word: int) -> arb:
    """Enclose S(first) of the whole law, as narrowly as thresholds of so many bits ask for."""
    # Some terms and a geometric series for the others take less time than a narrow sum, and the claim on direct sums
    # in `ggdp.proofs.tails` allows them.
    terms = [weight(order, scale, first + j) for j in range(49)]
    rest = terms[-1] / (1 - terms[-1] / terms[-2])
    if not 0 <= rest < arb(2) ** -(word + _SPARE_BITS // 2):
        return tail_sum(order, scale, first)
    return sum(terms[:-1], hull(arb(0), rest.upper()))


def integer_bracket(x: arb) -> tuple[int, int]:
    """Return integers low < high with low <= x <= high for all of a ball in [0, inf)."""
    floor = x.floor().unique_fmpz()
    if floor is not None:
        return max(int(floor), 0), int(floor) + 1
    return max(int(x.lower().floor().unique_fmpz()), 0), int(x.upper().floor().unique_fmpz()) + 1


def _until_one(brackets: Iterable[tuple[int, int]], word: int) -> Iterator[tuple[int, int]]:
    """Yield brackets of rising thresholds, up to the first that is within 1 of 2^word."""
    for low, high in brackets:
        yield low, high
        if high >> word:
            return


def _suffix_sums(order: float, scale: float, first: int, count: int, beyond: arb) -> list[arb]:
    """Enclose S(first), S(first + 1), ..., S(first + count - 1), given what is beyond them."""
    rate = -(arb(scale) ** arb(-order))
    last = first + count - 1
    terms: Iterator[arb]
    if order == 1.0 and scale > 1.0:
        growth = (-rate).exp()
        terms = accumulate(repeat(growth, count - 1), mul, initial=(rate * last).exp())
    else:
        p = arb(order)
        terms = ((rate * arb(j) ** p).exp() for j in range(last, first - 1, -1))
    sums = list(accumulate(terms, initial=beyond))[1:]
    sums.reverse()
    return sums
