"""Tables of the integer generalized Gaussian law, bracketed in balls: the whole law, a window of it, or its tail.

=======  ==============================================================================
p, b     order and scale
f(j)     exp(-(j / b)^p), the weight of the integer j >= 0
w        the half-width of the window |k| <= w; infinite for the whole law
S(k)     sum of f(j) over the integers j with k <= j <= w
=======  ==============================================================================

The sums S are made from the far end on, term by term, in balls; each threshold is bracketed between two neighbouring
64-bit integers, or two that are a little farther apart where a ball holds an integer. A wider bracket costs a few more
bits in rare draws and changes nothing in their law. A table ends where what is left is below 2^-64; draws there go on
beyond its end.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import accumulate, repeat
from operator import mul
from typing import TYPE_CHECKING

from flint import arb, ctx

from ggdp._balls import BALLS, hull, working_precision
from ggdp.proofs.integer_sums import partial_sum, tail, tail_sum, weight
from ggdp.sampling.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_SPARE_BITS = 40
_TERMS_BEYOND = 48
_LOG_2 = math.log(2.0)


def reach(order: float, scale: float, start: int, depth: float) -> float:
    """Estimate how far from `start` the weight falls by a factor e^-depth."""
    log_t = order * math.log(start / scale) if start else -math.inf
    if log_t < -30.0:
        return max(scale * math.exp(math.log(depth) / order) - start, 0.0)
    return start * math.expm1(math.log1p(depth * math.exp(-min(log_t, 700.0))) / order)


def thresholds_needed(order: float, scale: float, *, start: int = 0, word: int = 64) -> float:
    """Estimate how many values from `start` on hold all but 2^-word of the weight there.

    S(k) / S(start) <= f(k) / f(start), since the ratio f(j + 1) / f(j) does not rise.
    """
    return reach(order, scale, start, word * _LOG_2) + 2.0


def precision_from(order: float, scale: float, start: int, bits: int) -> int:
    """Return the precision at which weights relative to that of `start` have so many bits, and some to spare.

    The exponent (start/scale)^order needs its bits before the point as well. Where that of another weight is much
    larger, the weight is nothing beside that of `start`, and so is its error.
    """
    return bits + _SPARE_BITS + math.ceil(order * math.log2(max(start / scale, 1.0)))


@lru_cache(maxsize=32)
def whole_law(order: float, scale: float, *, guide_bits: int = 16, word: int = 64) -> Table:
    """Return the table of all integers."""
    count = math.ceil(thresholds_needed(order, scale, word=word))
    with BALLS, working_precision(word + _SPARE_BITS):
        table = _symmetric(order, scale, count, _beyond(order, scale, count + 1, word), word)

    def below(k: int) -> arb:
        return 1 - tail(order, scale, k)

    return Table.of(table, least=-len(table) // 2, ends=(False, False), below=below, guide_bits=guide_bits, word=word)


@lru_cache(maxsize=32)
def window_law(order: float, scale: float, width: int, *, guide_bits: int = 16, word: int = 64) -> Table:
    """Return the table of the law given |k| <= width."""
    count = min(math.ceil(thresholds_needed(order, scale, word=word)), width)
    with BALLS, working_precision(word + _SPARE_BITS):
        table = _symmetric(order, scale, count, partial_sum(order, scale, count + 1, width), word)
    complete = len(table) == 2 * width and table[0][0] > 0

    def below(k: int) -> arb:
        return window(order, scale, -width, k - 1) / window(order, scale, -width, width)

    return Table.of(
        table, least=-len(table) // 2, ends=(complete, complete), below=below, guide_bits=guide_bits, word=word
    )


@lru_cache(maxsize=32)
def tail_law(order: float, scale: float, start: int, *, guide_bits: int = 16, word: int = 64) -> Table:
    """Return the table of the law given k >= start >= 1."""
    count = math.ceil(thresholds_needed(order, scale, start=start, word=word))
    with BALLS, working_precision(precision_from(order, scale, start, word)):
        sums = _suffix_sums(order, scale, start, count, tail_sum(order, scale, start + count))
        unit = arb(2) ** word
        brackets = list(_until_one((bracketed(unit * (1 - rest / sums[0])) for rest in sums[1:]), word))

    def below(k: int) -> arb:
        with BALLS, working_precision(precision_from(order, scale, start, ctx.prec)):
            return 1 - tail_sum(order, scale, k) / tail_sum(order, scale, start) if k > start else arb(0)

    return Table.of(brackets, least=start, ends=(True, False), below=below, guide_bits=guide_bits, word=word)


def window(order: float, scale: float, first: int, last: int) -> arb:
    """Enclose the sum of exp(-(|j|/scale)^order) over first <= j <= last; 0 when there is nothing to add."""
    if last < 0:
        first, last = -last, -first
    if first >= 0:
        return partial_sum(order, scale, first, last)
    return partial_sum(order, scale, 1, -first) + partial_sum(order, scale, 0, last)


def _beyond(order: float, scale: float, first: int, word: int) -> arb:
    """Enclose S(first) of the whole law, as narrowly as thresholds of so many bits ask for.

    Some terms and a geometric series for the others, as the claim on direct sums in `ggdp.proofs.integer_sums`
    allows, take less time than a narrow sum.
    """
    terms = [weight(order, scale, first + j) for j in range(_TERMS_BEYOND + 1)]
    rest = terms[-1] / (1 - terms[-1] / terms[-2])
    if not 0 <= rest < arb(2) ** -(word + _SPARE_BITS // 2):
        return tail_sum(order, scale, first)
    return sum(terms[:-1], hull(arb(0), rest.upper()))


def bracketed(x: arb) -> tuple[int, int]:
    """Return integers low < high with low <= x <= high for all of a ball in [0, inf)."""
    floor = x.floor().unique_fmpz()
    if floor is not None:
        return max(int(floor), 0), int(floor) + 1
    return max(int(x.lower().floor().unique_fmpz()), 0), int(x.upper().floor().unique_fmpz()) + 1


def _symmetric(order: float, scale: float, count: int, beyond: arb, word: int) -> list[tuple[int, int]]:
    """Return the brackets of 2^word P(K < k) for k from -count + 1 to count, or fewer near 0 and 1.

    P(K < k) is S(1 - k) / Z for k <= 0 and 1 - S(k) / Z for k >= 1, with Z = 1 + 2 S(1).
    """
    sums = _suffix_sums(order, scale, 1, count, beyond)
    unit = arb(2) ** word / (1 + 2 * sums[0])
    right = list(_until_one((_reflected(bracketed(rest * unit), word) for rest in sums), word))
    return [_reflected(pair, word) for pair in reversed(right)] + right


def _reflected(pair: tuple[int, int], word: int) -> tuple[int, int]:
    """Return the bracket of 2^word - x for the bracket of x."""
    return (1 << word) - pair[1], (1 << word) - pair[0]


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
