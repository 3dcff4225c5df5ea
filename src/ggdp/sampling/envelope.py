"""The envelope of the rejection sampler: slots, blocks, and the parabolas that its weights are compared with.

=============  ==========================================================================================
p, b, a        order and scale, and where the law starts
f(x)           exp((a/b)^p - (x/b)^p), the weight of |k| = x >= a, relative to that of a
g1, g2, g3     the first three derivatives of g(x) = (x/b)^p
M              height of the envelope: the number of slots that a weight of 1 is given, a float
2h             width of a cell, on which M f is compared with one parabola
=============  ==========================================================================================

What the sampler (`ggdp.sampling.rejection`) takes as given is made in ball arithmetic: the slots of a block are no
fewer than M f at its start, those accepted at once no more than M f at its end. The search for M may use floats, since
any M will do.

Claim (parabola). Through M f at the ends and the middle of a cell of width 2h goes a parabola that is off by at most
h^3 max |M f3| / (9 sqrt 3), where f3 is the third derivative of f. With g = (x/b)^p it is f3 = f (3 g1 g2 - g1^3 - g3);
f falls and g1, g2, g3 are monotone, so |f3| is at most f(start) (g1^3 + 3 g1 g2 + |g3|) with each at the end where it
is largest. A chord from end to end is off by no more than M f falls, and serves where that is less.

Claim (the first cell). From 0 to a width w, at 1 < p < 2, where g3 is infinite: with t = (w/b)^p the chord of M f is
off by at most M (t K + t^2/2), K = (p - 1) p^(-p/(p-1)). For f = 1 - g + r with 0 <= r <= g^2/2 <= t^2/2, and the chord
of g is off by at most the maximum of t (u - u^p) over 0 <= u <= 1, which is t K.

References
----------
Devroye, "Non-Uniform Random Variate Generation" (1986), II.3.4 (envelopes for discrete laws).
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ggdp._balls import BALLS, lower_float, upper_float, working_precision
from ggdp.sampling.law_tables import precision_from, reach
from ggdp.sampling.rejection import ROUNDING, Envelope, far_sum, weight
from ggdp.sampling.table import UNDECIDED

if TYPE_CHECKING:
    from numpy.typing import NDArray

_SLOT_BITS = 16
_BLOCK_BITS = 9
_WORD = 64
# The blocks reach to where the weight has fallen to e^-20: a draw beyond takes longer, and should not be seen to.
_DEPTH = 20.0
# A block is cut into four parabolas.
_CELL_BITS = 2


@lru_cache(maxsize=32)
def envelope(
    order: float,
    scale: float,
    *,
    start: int = 0,
    two_sided: bool = False,
    stop: int | None = None,
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
    stop : int, optional
        The largest |k|, for the law given that it is no larger.
    slot_bits, block_bits, word : int
        How many slots there are, about how many blocks on a side, and how many bits of V are read at first.
    """
    span = max(reach(order, scale, start, _DEPTH), 1.0)
    if stop is not None:
        span = min(span, float(stop - start + 1))
    width_bits = max(math.frexp(span)[1] - 1 - block_bits, 0)
    count = max(math.ceil(math.ldexp(span, -width_bits)), 1)
    far_start = start + (count << width_bits)
    with BALLS, working_precision(precision_from(order, scale, start, 64)):
        tops = [weight(order, scale, start, start + (i << width_bits)) for i in range(count + 1)]
        far = far_sum(order, scale, start, far_start, stop, two_sided) / arb(2) ** width_bits
        sides = 2 if two_sided else 1
        height = _height([float(top) for top in tops[:-1]], upper_float(far), sides, 1 << slot_bits)
        needed = [math.ceil(upper_float(arb(height) * top)) for top in tops[:-1]]
        sure = [math.floor(lower_float(arb(height) * top)) for top in tops[1:]]
        if stop is not None:
            # A block that reaches beyond the stop has to be looked at.
            sure = [level if start + ((i + 1) << width_bits) <= stop else 0 for i, level in enumerate(sure)]
        far_height = arb(height) * far
        far_needed = math.ceil(upper_float(far_height))
        cell_bits = max(width_bits - _CELL_BITS, 1)
        parabolas, errors = _parabolas(order, scale, start, count << width_bits, cell_bits, height)
        # V is known to its first bits, and M f and a comparison to floats.
        errors += ROUNDING + 2.0**-word
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
    quick = np.full(1 << slot_bits, UNDECIDED)
    at_once = levels[:regular] < np.repeat(np.array(sure * sides), runs)
    quick[:regular][at_once] = bases[:regular][at_once]
    return Envelope(
        order=order,
        scale=scale,
        start=start,
        two_sided=two_sided,
        stop=stop,
        width_bits=width_bits,
        height=height,
        bases=bases,
        levels=levels,
        quick=quick,
        far_slots=far_slots,
        far_start=far_start,
        far_height=float(far_height),
        far_error=float(far_height.rad().upper()) + ROUNDING + 2.0**-word,
        cell_bits=cell_bits,
        parabolas=parabolas,
        errors=errors,
        slot_bits=slot_bits,
        word=word,
        beyond=lambda: envelope(
            order, scale, start=far_start, stop=stop, slot_bits=slot_bits, block_bits=block_bits, word=word
        ),
    )


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
    spread = 8.0 * max(upper_float(ball.rad()) for ball in balls)
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
