"""One candidate for each of many cells, where candidates come in runs whose errors rise in equal steps.

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
exp by less than 2^-44 with the error of `selection.decayed`. 1 - exp(-y) is a difference for y above 2^-10, off by a
share of 2^-40, and a polynomial below, off by a share of y^4/120 < 2^-46. G is a quotient of two of these, and the rest
are products.

Timing. The same steps for every run, whatever its error is. How often a cell draws again, and the time of decisions in
balls, depend on the weights of the cell by a share of at most 2^-30, and on the draws.

References
----------
McSherry and Talwar, "Mechanism Design via Differential Privacy", FOCS 2007; Smith, "Privacy-preserving Statistical
Estimation with Optimal Convergence Rates", STOC 2011 (intervals between data points as candidates).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, fmpq

from ggdp._balls import BALLS, working_precision
from ggdp.sampling.entropy import random_bits, random_words
from ggdp.sampling.selection import decayed

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from ggdp.sampling.entropy import Source

TOLERANCE = 2.0**-36

# All units of all cells are at most about 2^62.
_BITS = 62
_WORD = 64
_LONG_WORD = 128
_SPARE_BITS = 64
# Beyond this exponent floats are upper bounds only.
_FAR = 63.0
_SMALL = 2.0**-10


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Runs:
    """The runs of candidates of some cells, cell after cell.

    Attributes
    ----------
    starts : array of int64
        The runs of cell c are those from ``starts[c]`` to ``starts[c + 1] - 1``; each cell has a candidate.
    sizes : array of int64
        How many candidates a run has, from 0 to 2^52.
    errors : array of int64
        The least error of a run, from 0 to 2^62.
    growth : array of int64
        How much the errors rise from one candidate of a run to the next; 0 for equal errors. With its size, it
        leads no further than 2^62.
    rate : Fraction
        What a unit of error subtracts from the logarithm of a weight, times the divisor of the cell.
    divisors : array of int64
        One for each cell.
    """

    starts: NDArray[np.int64]
    sizes: NDArray[np.int64]
    errors: NDArray[np.int64]
    growth: NDArray[np.int64]
    rate: Fraction
    divisors: NDArray[np.int64]

    @property
    def lengths(self) -> NDArray[np.int64]:
        """How many runs each cell has."""
        return np.diff(self.starts)

    def least(self) -> NDArray[np.int64]:
        """Return the least error of each cell."""
        possible = np.where(self.sizes > 0, self.errors, np.iinfo(np.int64).max)
        return np.minimum.reduceat(possible, self.starts[:-1])

    def rate_of(self, cell: int) -> Fraction:
        """Return the rate of a cell."""
        return self.rate / int(self.divisors[cell])

    def weight(self, run: int, cell: int, least: int) -> arb:
        """Enclose the weight of a run at the working precision."""
        rate, size, growth = self.rate_of(cell), int(self.sizes[run]), int(self.growth[run])
        height = (-_ball(rate * (int(self.errors[run]) - least))).exp()
        if growth == 0:
            return height * size
        return height * (-_ball(rate * growth * size)).expm1() / (-_ball(rate * growth)).expm1()


def drawn_candidates(
    runs: Runs, source: Source, *, bits: int = _BITS, word: int = _WORD, long_word: int = _LONG_WORD
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a run for each cell, and the place of a candidate in it, drawn exactly by their weights.

    Parameters
    ----------
    runs : Runs
        The candidates of the cells.
    source : Source
        Where random bits come from.
    bits : int, default 62
        All units of all cells together are at most about 2^bits.
    word : int, default 64
        How many bits a random unit is made from.
    long_word : int, default 128
        How many random bits a decision in balls reads at a time, a multiple of 8.

    Examples
    --------
    >>> from fractions import Fraction
    >>> from ggdp import SecureSource
    >>> far, one = np.array([0, 500]), np.array([1, 1])
    >>> runs = Runs(np.array([0, 2]), np.array([1, 2**31]), far, 0 * one, Fraction(1), np.array([1]))
    >>> run, place = drawn_candidates(runs, SecureSource())
    >>> run.tolist(), place.tolist()
    ([0], [0])
    """
    least = runs.least()
    lower, upper, m = _units(runs, least, bits)
    ends = np.cumsum(upper)
    first = ends - upper
    below = first[runs.starts[:-1]]
    totals = ends[runs.starts[1:] - 1] - below
    chosen = np.empty(totals.size, dtype=np.int64)
    left = np.arange(totals.size)
    while left.size:
        units = below[left] + _uniform_below(totals[left], source, word)
        found = np.searchsorted(ends, units, side="right")
        offsets = units - first[found]
        accepted = offsets < lower[found]
        for i in np.flatnonzero(~accepted):
            cell, run = int(left[i]), int(found[i])
            accepted[i] = _accepted(runs, run, cell, int(least[cell]), int(offsets[i]), int(m[cell]), source, long_word)
        chosen[left] = found
        left = left[~accepted]
    return chosen, _places(runs, chosen, source, word, long_word)


def _units(
    runs: Runs, least: NDArray[np.int64], bits: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the units a and b of each run, and the m of each cell."""
    floats, far = _floats(runs, least)
    cells = least.size
    # A sum of n floats is off by a share of n 2^-53 at most.
    m = bits - 1 - (cells - 1).bit_length() - np.frexp(np.add.reduceat(floats, runs.starts[:-1]))[1].astype(np.int64)
    scaled = np.ldexp(floats, np.repeat(m, runs.lengths))
    lower = np.where(far, 0.0, scaled * (1.0 - TOLERANCE)).astype(np.int64)
    upper = np.where(runs.sizes > 0, (scaled * (1.0 + TOLERANCE)).astype(np.int64) + 1, 0)
    return lower, upper, m


def _floats(runs: Runs, least: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the weights of runs as floats, and which of them are upper bounds only."""
    lengths = runs.lengths
    rates = np.repeat(np.array([float(runs.rate)]) / runs.divisors, lengths)
    with np.errstate(all="ignore"):
        exponents = (runs.errors - np.repeat(least, lengths)).astype(np.float64) * rates
        # A run without candidates may have any error.
        exponents = np.maximum(exponents, 0.0)
        sums = runs.sizes.astype(np.float64)
        rising = np.flatnonzero((runs.growth > 0) & (runs.sizes > 1))
        if rising.size:
            steps = runs.growth[rising].astype(np.float64) * rates[rising]
            sums[rising] = np.where(steps > 0.0, _risen(steps * sums[rising]) / _risen(steps), sums[rising])
        return decayed(exponents) * sums, exponents > _FAR


def _risen(y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return 1 - e^-y for floats of at least 0."""
    series = y * (1.0 - y * (1.0 / 2.0 - y * (1.0 / 6.0 - y * (1.0 / 24.0))))
    return np.where(y > _SMALL, 1.0 - decayed(y), series)


def _accepted(runs: Runs, run: int, cell: int, least: int, unit: int, m: int, source: Source, word: int) -> bool:
    """Decide unit + V < 2^m w in ball arithmetic."""
    numerator, bits = random_bits(source, word), word
    while True:
        with BALLS, working_precision(bits + abs(m) + _SPARE_BITS):
            height = runs.weight(run, cell, least) * arb(2) ** m
            low = unit + arb(numerator) * arb(2) ** -bits
            if height >= low + arb(2) ** -bits:
                return True
            if height <= low:
                return False
        numerator, bits = (numerator << word) | random_bits(source, word), bits + word


def _places(runs: Runs, chosen: NDArray[np.int64], source: Source, word: int, long_word: int) -> NDArray[np.int64]:
    """Return the place of a candidate in the chosen run of each cell."""
    sizes, growth = runs.sizes[chosen], runs.growth[chosen]
    places = np.zeros(chosen.size, dtype=np.int64)
    equal = np.flatnonzero((growth == 0) & (sizes > 1))
    places[equal] = _uniform_below(sizes[equal], source, word)
    for cell in np.flatnonzero((growth > 0) & (sizes > 1)):
        step = runs.rate_of(int(cell)) * int(growth[cell])
        places[cell] = _geometric(step, int(sizes[cell]), source, long_word)
    return places


def _geometric(step: Fraction, size: int, source: Source, word: int) -> int:
    """Return i from 0 to size - 1 with a probability proportional to exp(-step i)."""
    numerator, bits = random_bits(source, word), word
    while True:
        with BALLS, working_precision(bits + _SPARE_BITS):
            # All V of these first bits: the middle of them, with the half of their width as its radius.
            uniform = (arb(2 * numerator + 1, 1)) * arb(2) ** -(bits + 1)
            place = -(uniform * (-_ball(step * size)).expm1()).log1p() / _ball(step)
            low, high = place.lower().floor().unique_fmpz(), place.upper().floor().unique_fmpz()
            if low is not None and low == high and 0 <= int(low) < size:
                return int(low)
        numerator, bits = (numerator << word) | random_bits(source, word), bits + word


def _uniform_below(totals: NDArray[np.int64], source: Source, word: int) -> NDArray[np.int64]:
    """Return a uniform integer from 0 to total - 1 for each total, from 1 to 2^62."""
    above = totals.astype(np.uint64)
    largest = np.uint64((1 << word) - 1)
    # Words after the last multiple of the total are drawn again; there are 2^word modulo the total of them.
    last = largest - (largest % above + np.uint64(1)) % above
    drawn = np.empty(totals.size, dtype=np.uint64)
    places = np.arange(totals.size)
    while places.size:
        words = random_words(source, places.size) >> np.uint64(64 - word)
        drawn[places] = words
        places = places[words > last[places]]
    return (drawn % above).astype(np.int64)


def _ball(x: Fraction) -> arb:
    return arb(fmpq(x.numerator, x.denominator))
