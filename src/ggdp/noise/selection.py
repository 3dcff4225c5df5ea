"""Candidates drawn exactly by their weights: one of finitely many, or one for each of many cells.

One of finitely many candidates, with probabilities proportional to exp(rate u_i)
---------------------------------------------------------------------------------

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

One candidate for each of many cells, where candidates come in runs whose errors rise in equal steps
----------------------------------------------------------------------------------------------------

==========  ======================================================================================================
run         k candidates with the errors e, e + d, ..., e + (k - 1) d; d = 0 where all have the same error
r           rate of the cell: a candidate with the error x has the weight exp(-r (x - x0)), x0 the least of its cell
w           weight of a run: exp(-r (e - x0)) G, with G = (1 - exp(-r d k)) / (1 - exp(-r d)), and G = k for d = 0
2^m         units that a weight of 1 is given in a cell
a, b        integers with a <= 2^m w <= b, from floats
V           a uniform number in [0, 1), read to as many bits as a decision takes
==========  ======================================================================================================

A range of 2^31 steps of which a hundred occur is two hundred runs: nothing is done for each candidate. A draw picks one
of the sum of all b units of its cell. Nearly always it is one of the first a units of a run, which then is the draw.
The j-th unit of a run, from a on, is decided in ball arithmetic: it is accepted when j + V < 2^m w, otherwise the cell
draws again. The candidate within the run is drawn afterwards: uniformly where d = 0, and else as
floor(-log(1 - V (1 - exp(-r d k))) / (r d)), in balls that are refined until they leave one integer.

Claim. The draws have exactly the law, however small a weight is. Proof: a round accepts a run with a probability
proportional to a + sum over j from a to b - 1 of P(V < 2^m w - j) = 2^m w. Within a run the candidate i has the weight
exp(-r d i), so the chance of one below i is (1 - exp(-r d i)) / (1 - exp(-r d k)), and inverting it gives the formula.

Claim (floats). The float of a weight is off by a share of less than 2^-36 (`TOLERANCE`) where r (e - x0) is at most 63,
and is not too small elsewhere. Proof: errors are integers below 2^62, their differences exact, and become floats off by
a share of 2^-53; a rate and a product add 2^-52; so an exponent of at most 63 is off by less than 2^-45, and
exp by less than 2^-44 with the error of `decay`. 1 - exp(-y) is a difference for y above 2^-10, off by a
share of 2^-40, and a polynomial below, off by a share of y^4/120 < 2^-46. G is a quotient of two of these, and the rest
are products.

Timing. The same steps for every run, whatever its error is. How often a cell draws again, and the time of decisions in
balls, depend on the weights of the cell by a share of at most 2^-30, and on the draws.

References
----------
McSherry and Talwar, "Mechanism Design via Differential Privacy", FOCS 2007; Ilvento, "Implementing the Exponential
Mechanism with Base-2 Differential Privacy", CCS 2020, for what goes wrong where weights are rounded; Devroye,
"Non-Uniform Random Variate Generation" (1986), II.3 (rejection); Smith, "Privacy-preserving Statistical Estimation with
Optimal Convergence Rates", STOC 2011 (intervals between data points as candidates).
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache, partial
from itertools import accumulate
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ggdp._balls import BALLS, ball_of, working_precision
from ggdp.noise.entropy import Integers, Source, random_bits, uniform_integers
from ggdp.noise.table import is_below
from ggdp.privacy.grid import exact_fraction

MOST_CANDIDATES = 1 << 31
# Rates beyond it, or below its inverse, could leave the range of floats.
MOST_RATE = Fraction(2) ** 1000
ERROR = 2.0**-50

_SPARE_BITS = 64
# Elements that stay in a core's own cache while they are worked on.
_BLOCK = 1 << 14
# Powers of 2^(-1/64) are looked up; beyond this exponent a weight is below 2^-92.
_STEPS = 64
_FARTHEST = 64.0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Weights:
    """The weights of candidates, in floats and in balls. Made by `Weights.of`."""

    utilities: NDArray[Any]  # utilities of the candidates: float64, int64, uint64 or fractions, all finite
    top: Fraction  # the largest of them
    rate: Fraction  # what a unit of utility adds to the logarithm of a weight; between 2^-1000 and 2^1000

    @classmethod
    def of(cls, utilities: NDArray[Any], rate: Fraction) -> Weights:
        """Return the weights of a flat array of finite numbers, at least one, as `exact_numbers` gives it."""
        if utilities.dtype == object:
            exact = np.empty(utilities.size, dtype=object)
            exact[:] = [exact_fraction(utility) for utility in utilities]
            utilities = exact
        return cls(utilities, exact_fraction(utilities.max()), rate)

    def enclose(self, i: int) -> arb:
        """Enclose w_i at the working precision."""
        return (-ball_of(self.rate * (self.top - exact_fraction(self.utilities[i])))).exp()

    def floats(self) -> NDArray[np.float64]:
        """Return floats within `ERROR` of the weights."""
        weights = np.empty(self.utilities.size)
        # A product beyond all floats is a weight of 0, and a warning would reveal it.
        with np.errstate(all="ignore"):
            for start in range(0, weights.size, _BLOCK):
                part = slice(start, start + _BLOCK)
                utilities = self.utilities[part]
                if utilities.dtype == object:
                    # Beyond 64 all weights are taken as e^-64.
                    exact = [min(self.rate * (self.top - utility), 2 * _FARTHEST) for utility in utilities]
                    exponents = np.array([float(x) for x in exact])
                elif utilities.dtype.kind == "f":
                    # The difference of two floats may be too large for one; that of their halves is not.
                    exponents = (0.5 * float(self.top) - 0.5 * utilities) * (2.0 * float(self.rate))
                else:
                    # Differences of integers are below 2^64, and exact modulo 2^64.
                    top = np.uint64(int(self.top) % (1 << 64))
                    exponents = (top - utilities.view(np.uint64)).astype(np.float64) * float(self.rate)
                weights[part] = decay(exponents)
        return weights


def select_candidate(weights: Weights, rng: Source, *, bits: int = 61, word: int = 128) -> int:
    """Return a candidate, drawn exactly by its weight, of about 2^bits units; `word` is a multiple of 8."""
    shares, m, margin = _shares(weights.floats(), bits)
    below = [0, *accumulate(int(shares[start : start + _BLOCK].sum()) for start in range(0, shares.size, _BLOCK))]
    undecided = 2 * margin + 1
    while True:
        unit = _uniform(below[-1] + shares.size * undecided, rng, word)
        if unit < below[-1]:
            block = bisect_right(below, unit) - 1
            units = np.cumsum(shares[block * _BLOCK : (block + 1) * _BLOCK])
            return block * _BLOCK + int(np.searchsorted(units, unit - below[block], side="right"))
        i, level = divmod(unit - below[-1], undecided)
        if _is_accepted(partial(weights.enclose, i), int(shares[i]) + level, m, rng, word):
            return i


def _shares(weights: NDArray[np.float64], bits: int) -> tuple[Integers, int, int]:
    """Return the integers a_i, in the memory of the float weights, and m, and the margin with c = 2 margin + 1.

    With f the float weight, a_i = max(floor(2^m f) - margin, 0), where the margin is at least 2^m ERROR.
    """
    # A sum of n floats is off by a share of n 2^-53 at most: the units are at most 2^bits and a little.
    m = bits - math.frexp(float(weights.sum()))[1]
    margin = max(math.ceil(math.ldexp(ERROR, m)), 1)
    shares = weights.view(np.int64)
    for start in range(0, shares.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        np.maximum((weights[part] * 2.0**m).astype(np.int64) - margin, 0, out=shares[part])
    return shares, m, margin


def _is_accepted(weight: Callable[[], arb], unit: int, m: int, rng: Source, word: int) -> bool:
    """Decide unit + V < 2^m w in ball arithmetic."""
    return is_below(
        lambda: weight() * arb(2) ** m,
        unit,
        rng,
        numerator=random_bits(rng, word),
        word=word,
        precision=lambda bits: bits + abs(m) + _SPARE_BITS,
    )


def _uniform(total: int, rng: Source, word: int) -> int:
    """Return a uniform integer from 0 to total - 1: floor(total U), for a U read until all its further bits agree."""
    numerator, bits = random_bits(rng, word), word
    while True:
        first, last = (numerator * total) >> bits, ((numerator + 1) * total - 1) >> bits
        if first == last:
            return first
        numerator, bits = (numerator << word) | random_bits(rng, word), bits + word


def decay(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return e^-x for floats of at least 0, off by less than 2^-52 (and e^-64 beyond 64)."""
    # With x = k (log 2)/64 + r it is 2^(-k/64) e^-r, the first from a table and the second a polynomial.
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


TOLERANCE = 2.0**-36

# Beyond this exponent floats are upper bounds only.
_FAR = 63.0
_SMALL = 2.0**-10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CandidateRuns:
    """The runs of candidates of some cells, cell after cell."""

    # The runs of cell c are those from ``starts[c]`` to ``starts[c + 1] - 1``; each cell has a candidate.
    starts: Integers
    sizes: Integers  # how many candidates a run has, from 0 to 2^52
    errors: Integers  # the least error of a run, from 0 to 2^62
    # How much the errors rise from one candidate of a run to the next; 0 for equal errors. With its size, it leads no
    # further than 2^62.
    growth: Integers
    rate: Fraction  # r, times the divisor
    divisor: int

    def least(self) -> Integers:
        """Return the least error of each cell."""
        possible = np.where(self.sizes > 0, self.errors, np.iinfo(np.int64).max)
        return np.minimum.reduceat(possible, self.starts[:-1])

    def weight(self, run: int, least: int) -> arb:
        """Enclose the weight of a run at the working precision, given the least error of its cell."""
        rate, size, growth = self.rate / self.divisor, int(self.sizes[run]), int(self.growth[run])
        height = (-ball_of(rate * (int(self.errors[run]) - least))).exp()
        if growth == 0:
            return height * size
        return height * (-ball_of(rate * growth * size)).expm1() / (-ball_of(rate * growth)).expm1()


def select_in_cells(
    runs: CandidateRuns, rng: Source, *, bits: int = 62, word: int = 64, long_word: int = 128
) -> tuple[Integers, Integers]:
    """Return a run for each cell, and the place of a candidate in it, drawn exactly by their weights.

    All units of all cells together are at most about 2^bits, a random unit is made from `word` bits, and a decision in
    balls reads `long_word` bits at a time, a multiple of 8.
    """
    least = runs.least()
    lower, upper, m = _units(runs, least, bits)
    ends = np.cumsum(upper)
    first = ends - upper
    below = first[runs.starts[:-1]]
    totals = ends[runs.starts[1:] - 1] - below
    chosen, left = np.empty(totals.size, dtype=np.int64), np.arange(totals.size)
    while left.size:
        units = below[left] + uniform_integers(totals[left], left.size, rng, word=word)
        found = np.searchsorted(ends, units, side="right")
        offsets = units - first[found]
        accepted = offsets < lower[found]
        for i in np.flatnonzero(~accepted):
            weight = partial(runs.weight, int(found[i]), int(least[left[i]]))
            accepted[i] = _is_accepted(weight, int(offsets[i]), int(m[left[i]]), rng, long_word)
        chosen[left] = found
        left = left[~accepted]
    return chosen, _places(runs, chosen, rng, word, long_word)


def _units(runs: CandidateRuns, least: Integers, bits: int) -> tuple[Integers, Integers, Integers]:
    """Return the units a and b of each run, and the m of each cell."""
    lengths, rate = np.diff(runs.starts), float(runs.rate) / runs.divisor
    with np.errstate(all="ignore"):
        # A run without candidates may have any error.
        exponents = np.maximum((runs.errors - np.repeat(least, lengths)).astype(np.float64) * rate, 0.0)
        sums = runs.sizes.astype(np.float64)
        rising = np.flatnonzero((runs.growth > 0) & (runs.sizes > 1))
        if rising.size:
            steps = runs.growth[rising].astype(np.float64) * rate
            sums[rising] = np.where(steps > 0.0, _rise(steps * sums[rising]) / _rise(steps), sums[rising])
        floats = decay(exponents) * sums
    # A sum of n floats is off by a share of n 2^-53 at most.
    exponent_of_sum = np.frexp(np.add.reduceat(floats, runs.starts[:-1]))[1].astype(np.int64)
    m = bits - 1 - (least.size - 1).bit_length() - exponent_of_sum
    scaled = np.ldexp(floats, np.repeat(m, lengths))
    lower = np.where(exponents > _FAR, 0.0, scaled * (1.0 - TOLERANCE)).astype(np.int64)
    upper = np.where(runs.sizes > 0, (scaled * (1.0 + TOLERANCE)).astype(np.int64) + 1, 0)
    return lower, upper, m


def _rise(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 - e^-y for floats of at least 0."""
    series = y * (1.0 - y * (1.0 / 2.0 - y * (1.0 / 6.0 - y * (1.0 / 24.0))))
    return np.where(y > _SMALL, 1.0 - decay(y), series)


def _places(runs: CandidateRuns, chosen: Integers, rng: Source, word: int, long_word: int) -> Integers:
    """Return the place of a candidate in the chosen run of each cell."""
    sizes, growth = runs.sizes[chosen], runs.growth[chosen]
    places = np.zeros(chosen.size, dtype=np.int64)
    equal = np.flatnonzero((growth == 0) & (sizes > 1))
    places[equal] = uniform_integers(sizes[equal], equal.size, rng, word=word)
    for cell in np.flatnonzero((growth > 0) & (sizes > 1)):
        step = runs.rate / runs.divisor * int(growth[cell])
        places[cell] = _geometric(step, int(sizes[cell]), rng, long_word)
    return places


def _geometric(step: Fraction, size: int, rng: Source, word: int) -> int:
    """Return i from 0 to size - 1 with a probability proportional to exp(-step i)."""
    numerator, bits = random_bits(rng, word), word
    while True:
        with BALLS, working_precision(bits + _SPARE_BITS):
            # All V of these first bits: the middle of them, with the half of their width as its radius.
            uniform = (arb(2 * numerator + 1, 1)) * arb(2) ** -(bits + 1)
            place = -(uniform * (-ball_of(step * size)).expm1()).log1p() / ball_of(step)
            low, high = place.lower().floor().unique_fmpz(), place.upper().floor().unique_fmpz()
            if low is not None and low == high and 0 <= int(low) < size:
                return int(low)
        numerator, bits = (numerator << word) | random_bits(rng, word), bits + word
