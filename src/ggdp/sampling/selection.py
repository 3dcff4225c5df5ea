"""One of finitely many candidates, drawn with probabilities exactly proportional to exp(rate u_i).

==========  =============================================================================================
u_i         utility of candidate i, an exact number; u is the largest of them
x_i         rate (u - u_i), at least 0
w_i         exp(-x_i), the weight of candidate i relative to a best one
S           sum of the weights, between 1 and the number n of candidates
2^m         units that a weight of 1 is given: some 2^60 units for all candidates together
a_i         an integer with a_i <= 2^m w_i <= a_i + c, from floats
c           the number of undecided units of a candidate, above its a_i
V           a uniform number in [0, 1), read to as many bits as a decision takes
==========  =============================================================================================

A draw picks one of the sum of all a_i + c units. Nearly always it is one of the a_i units of a candidate, which is the
draw: integers are compared, and no rounding is left. The undecided units, a share of at most n 2^-48 of all, are
decided in ball arithmetic: the j-th of candidate i is accepted when a_i + j + V < 2^m w_i, otherwise the draw starts
again.

Claim. The draws have exactly the law, however small a weight is. Proof: units and V are uniform, so a round accepts
candidate i with a probability proportional to a_i + sum over j < c of P(V < 2^m w_i - a_i - j) = 2^m w_i, since 2^m w_i
is between a_i and a_i + c.

Claim (floats). The float weights differ from w_i by less than 2^-51 (`ERROR` is twice that). Proof, in units of 2^-53:
a float x_i takes a difference, a rate and a product, each off by a share of 2^-53 at most, and x e^-x <= 1/e: 1.2.
Below 2^-1022 halves and products are off by 2^-1074 at most, which the rate makes 2^-72: nothing. Weights of x_i above
64 are taken as e^-64: nothing. The argument that is left for the polynomial is within 0.0055 of 0 and off by less than
2^-58; the polynomial is cut off after the fifth power: 0.4; its roundings: 0.1; the table of powers of 2: 1; their sum:
0.5. Nothing of the C library is trusted but additions, multiplications and conversions, whose rounding is known.

Timing. The same steps on every candidate, in their own order, whatever the utilities are; nothing is sorted by them.
The memory address of the block of the draw reveals something about the draw, and so does a decision in balls, which
takes less than 0.1 ms more and happens with a probability of at most n 2^-48. Python numbers (big integers, fractions)
take longer the longer they are, and so may products of floats below 2^-1022, by the processor.

References
----------
McSherry and Talwar, "Mechanism Design via Differential Privacy", FOCS 2007; Ilvento, "Implementing the Exponential
Mechanism with Base-2 Differential Privacy", CCS 2020, for what goes wrong where weights are rounded; Devroye,
"Non-Uniform Random Variate Generation" (1986), II.3 (rejection).
"""

from __future__ import annotations

import math
import numbers
from bisect import bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from flint import arb, fmpq

from ggdp._balls import BALLS, working_precision
from ggdp.sampling.entropy import random_bits

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.sampling.entropy import Source

MOST_CANDIDATES = 1 << 31
# Rates beyond it, or below its inverse, could leave the range of floats.
MOST_RATE = Fraction(2) ** 1000
ERROR = 2.0**-50

_BITS = 61
_WORD = 128
_SPARE_BITS = 48
# Elements that stay in a core's own cache while they are worked on.
_BLOCK = 1 << 14
# Powers of 2^(-1/64) are looked up; beyond this exponent a weight is below 2^-92.
_STEPS = 64
_FARTHEST = 64.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Weights:
    """The weights of candidates, in floats and in balls. Made by `Weights.of`.

    Attributes
    ----------
    utilities : array
        Utilities of the candidates: float64, int64, uint64 or fractions, all finite.
    top : Fraction
        The largest of them.
    rate : Fraction
        What a unit of utility adds to the logarithm of a weight; between 2^-1000 and 2^1000.
    """

    utilities: NDArray[Any]
    top: Fraction
    rate: Fraction

    @classmethod
    def of(cls, utilities: NDArray[Any], rate: Fraction) -> Weights:
        """Return the weights of a flat array of finite numbers, at least one, as `exact_numbers` gives it."""
        if utilities.dtype == object:
            exact = np.empty(utilities.size, dtype=object)
            exact[:] = [_fraction(utility) for utility in utilities]
            utilities = exact
        return cls(utilities, _fraction(utilities.max()), rate)

    def enclosed(self, i: int) -> arb:
        """Enclose w_i at the working precision."""
        x = self.rate * (self.top - _fraction(self.utilities[i]))
        return (-arb(fmpq(x.numerator, x.denominator))).exp()

    def floats(self) -> NDArray[np.float64]:
        """Return floats within `ERROR` of the weights."""
        weights = np.empty(self.utilities.size)
        # A product beyond all floats is a weight of 0, and a warning would reveal it.
        with np.errstate(all="ignore"):
            for start in range(0, weights.size, _BLOCK):
                part = slice(start, start + _BLOCK)
                weights[part] = decayed(self._exponents(self.utilities[part]))
        return weights

    def _exponents(self, utilities: NDArray[Any]) -> NDArray[np.float64]:
        """Return floats near the x_i of some utilities."""
        if utilities.dtype == object:
            return np.array([_nearest_float(self.rate * (self.top - utility)) for utility in utilities])
        rate = float(self.rate)
        if utilities.dtype.kind == "f":
            # The difference of two floats may be too large for one; that of their halves is not.
            halves: NDArray[np.float64] = (0.5 * float(self.top) - 0.5 * utilities) * (2.0 * rate)
            return halves
        # Differences of integers are below 2^64, and exact modulo 2^64.
        top = np.uint64(int(self.top) % (1 << 64))
        return (top - utilities.view(np.uint64)).astype(np.float64) * rate


def selected(weights: Weights, source: Source, *, bits: int = _BITS, word: int = _WORD) -> int:
    """Return a candidate, drawn with a probability exactly proportional to its weight.

    Parameters
    ----------
    weights : Weights
        The weights of the candidates.
    source : Source
        Where random bits come from.
    bits : int, default 61
        All units together are at most about 2^bits.
    word : int, default 128
        How many random bits are read at a time, a multiple of 8.

    Examples
    --------
    >>> from ggdp import SecureSource
    >>> weights = Weights.of(np.array([0.0, 1.0, -1e9]), Fraction(1, 2))
    >>> selected(weights, SecureSource()) in (0, 1)
    True
    """
    shares, m, margin = _shares(weights.floats(), bits)
    sums = [int(shares[start : start + _BLOCK].sum()) for start in range(0, shares.size, _BLOCK)]
    below = [0, *accumulate(sums)]
    undecided = 2 * margin + 1
    while True:
        unit = _uniform(below[-1] + shares.size * undecided, source, word)
        if unit < below[-1]:
            block = bisect_right(below, unit) - 1
            part = np.cumsum(shares[block * _BLOCK : (block + 1) * _BLOCK])
            return block * _BLOCK + int(np.searchsorted(part, unit - below[block], side="right"))
        i, level = divmod(unit - below[-1], undecided)
        if _accepted(weights, i, int(shares[i]) + level, m, source, word):
            return i


def _shares(weights: NDArray[np.float64], bits: int) -> tuple[NDArray[np.int64], int, int]:
    """Return the integers a_i, in the memory of the float weights, and m, and the margin with c = 2 margin + 1.

    With f the float weight, a_i = max(floor(2^m f) - margin, 0), where the margin is at least 2^m ERROR.
    """
    # A sum of n floats is off by a share of n 2^-53 at most: the units are at most 2^bits and a little.
    m = bits - math.frexp(float(weights.sum()))[1]
    margin = max(math.ceil(math.ldexp(ERROR, m)), 1)
    shares = weights.view(np.int64)
    for start in range(0, shares.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        units = (weights[part] * 2.0**m).astype(np.int64)
        np.maximum(units - margin, 0, out=shares[part])
    return shares, m, margin


def _accepted(weights: Weights, i: int, level: int, m: int, source: Source, word: int) -> bool:
    """Decide level + V < 2^m w_i in ball arithmetic."""
    numerator, bits = random_bits(source, word), word
    while True:
        with BALLS, working_precision(bits + m + _SPARE_BITS):
            height = weights.enclosed(i) * arb(2) ** m
            low = level + arb(numerator) * arb(2) ** -bits
            if height >= low + arb(2) ** -bits:
                return True
            if height <= low:
                return False
        numerator, bits = (numerator << word) | random_bits(source, word), bits + word


def _uniform(total: int, source: Source, word: int) -> int:
    """Return a uniform integer from 0 to total - 1: floor(total U), for a U read until all its further bits agree."""
    numerator, bits = random_bits(source, word), word
    while True:
        first, last = (numerator * total) >> bits, ((numerator + 1) * total - 1) >> bits
        if first == last:
            return first
        numerator, bits = (numerator << word) | random_bits(source, word), bits + word


def decayed(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e^-x for floats of at least 0, off by less than 2^-52 (and e^-64 beyond 64).

    With x = k (log 2)/64 + r it is 2^(-k/64) e^-r, the first from a table and the second a polynomial.
    """
    table, high, low = _powers()
    x = np.minimum(x, _FARTHEST)
    k = np.rint(x * (1.0 / (high + low)))
    # The high part has so few bits that its product with k is exact.
    r = (x - k * high) - k * low
    rest = r * (1.0 / 24.0 - r * (1.0 / 120.0)) - 1.0 / 6.0
    rest = r * (r * (r * rest + 0.5) - 1.0)
    power = table[k.astype(np.intp)]
    return power + power * rest


@lru_cache(maxsize=1)
def _powers() -> tuple[NDArray[np.float64], float, float]:
    """Return the table of 2^(-k/64), and (log 2)/64 as the sum of a float of at most 40 bits and another."""
    with BALLS, working_precision(160):
        step = arb.const_log2() / _STEPS
        high = math.ldexp(int((step * arb(2) ** 46).floor().unique_fmpz()), -46)
        low = float(step - arb(high))
        fine = np.array([float((-j * step).exp()) for j in range(_STEPS)])
    halvings = 2.0 ** -np.arange(math.ceil(_FARTHEST / math.log(2.0)) + 1)
    table = np.outer(halvings, fine).reshape(-1)
    table.setflags(write=False)
    return table, high, low


def _fraction(value: Any) -> Fraction:  # noqa: ANN401 - a number of Python or NumPy
    """Return a number exactly; NumPy's integers would overflow inside a fraction."""
    if isinstance(value, numbers.Integral):
        return Fraction(int(value))
    if isinstance(value, numbers.Rational):
        return Fraction(int(value.numerator), int(value.denominator))
    return Fraction(float(value))


def _nearest_float(x: Fraction) -> float:
    try:
        return float(x)
    except OverflowError:
        return math.inf
