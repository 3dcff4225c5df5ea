"""One draw at a time, exact, for any law on the integers whose cumulative probabilities can be enclosed.

=========  =================================================================================
K          the law on the integers
below(k)   P(K < k), enclosed at the working precision
U          a uniform number in [0, 1), of which `numerator` / 2^bits holds the bits read so far
=========  =================================================================================

The draw is the one k with P(K < k) <= U < P(K < k + 1). Each comparison is made in ball arithmetic; where the bits of U
that were read do not decide it, more are read and everything is enclosed more narrowly. No float is compared, so the
law is exact, and reading ends with probability 1. It takes milliseconds, and is what the fast samplers fall back on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from flint import arb

from ggdp._balls import BALLS, working_precision
from ggdp.errors import UnprovedError
from ggdp.sampling.entropy import random_bits

if TYPE_CHECKING:
    from collections.abc import Callable

    from ggdp.sampling.entropy import Source

Cumulative: TypeAlias = "Callable[[int], arb]"

_WORD = 64
_SPARE_BITS = 48
# A law that can be enclosed at will gets here with a probability below 2^-4000.
_MOST_BITS = 1 << 12


def inverted(
    below: Cumulative,
    source: Source,
    *,
    numerator: int = 0,
    bits: int = 0,
    start: int = 0,
    step: int = 1,
    word: int = _WORD,
) -> int:
    """Return the k with P(K < k) <= U < P(K < k + 1), for a U whose first `bits` bits are `numerator`.

    Parameters
    ----------
    below : callable
        Encloses P(K < k) at the working precision, 0 and 1 beyond the ends of a bounded law.
    source : Source
        Where further bits of U come from.
    numerator, bits : int, default 0
        The first bits of U, as an integer, and how many they are.
    start, step : int
        Where the search begins, and its first step.
    word : int, default 64
        How many bits are read at a time, a multiple of 8.

    Raises
    ------
    UnprovedError
        If thousands of bits do not decide, since `below` does not get narrower with the precision.
    """
    while bits <= _MOST_BITS:
        with BALLS, working_precision(bits + _SPARE_BITS):
            unit = arb(2) ** -bits
            k = _found(below, arb(numerator) * unit, (arb(numerator) + 1) * unit, start, step)
        if k is not None:
            return k
        numerator, bits = (numerator << word) | random_bits(source, word), bits + word
    message = "a draw fell where the law is not known narrowly enough to decide it; enclose it more narrowly"
    raise UnprovedError(message)


def _found(below: Cumulative, low: arb, high: arb, start: int, step: int) -> int | None:
    """Return the draw of every U in [low, high), or None where it is not the same for all."""
    side = _side(below(start), low, high)
    if side == 0:
        return None
    inside = start
    while True:
        outside = inside + side * step
        step *= 2
        found = _side(below(outside), low, high)
        if found == 0:
            return None
        if found != side:
            break
        inside = outside
    least, most = (inside, outside) if side > 0 else (outside, inside)
    while most - least > 1:
        middle = (least + most) // 2
        found = _side(below(middle), low, high)
        if found == 0:
            return None
        least, most = (middle, most) if found > 0 else (least, middle)
    return least


def _side(threshold: arb, low: arb, high: arb) -> int:
    """Return 1 if threshold <= U for certain, -1 if U < threshold for certain, 0 if the bits do not decide."""
    if threshold <= low:
        return 1
    if threshold >= high:
        return -1
    return 0
