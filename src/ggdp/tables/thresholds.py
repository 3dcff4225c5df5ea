"""The least noisy count that is shown: in sparse tables of declared cells, and in tables whose keys are not public.

=======  =================================================================================================
K        integer noise of one cell; T(k) = P(K >= k)
tau      the threshold: a cell is shown if its noisy count is at least tau
N, n     number of declared cells, at most 10^18, and of those that hold a unit
M        cells of open marginals that one unit can be in (`cells_of_a_unit`)
m        cells of declared marginals that it can be in as well (`declared_cells`)
R        what one unit adds to a cell, at most: 1, or its rows (`most_in_a_cell`); in tables with statistics, where
         counts are in steps of the noise (`ggdp.tables.statistics.statistics_plan`), the steps of one unit
d        T(tau - R), the largest probability that a cell with one unit in it is shown
t_X      the probability that none of the cells X, each with one unit in it, is shown: at least (1 - d)^|X|
delta_n  the delta of the noise, for all cells that can move, of all marginals
=======  =================================================================================================

**Sparse tables.** Every declared cell gets noise, and those below tau are left out, which is post-processing: tau is
free, and the guarantee is that of the noise; pure DP stays pure. Of at most N empty cells N T(tau) are shown on
average. Only cells that are shown cost anything (`sparse_cells`).

Claim. The cells and counts that come out have exactly the law of noise on all N cells, of which those with at least
tau are shown. Proof: the cells are independent. Those with a unit are treated alike by both. Each empty cell is shown
with probability T(tau), independently, so that the number of those shown is Binomial(N - n, T(tau)); given their number
every set of them is equally likely; and given the set their noisy counts are independent draws of K given K >= tau.
Each of these three is drawn exactly (`ggdp.noise`).

The r-th empty cell is r + j, with j the number of non-empty cells c_0 < c_1 < ... that come before it: those with
c_i - i <= r. No cell is drawn again because it is not empty.

Order of draws. The number of false cells, which, their counts, and last the noise of the non-empty cells: only the last
is a number of draws that depends on the data. What comes out is sorted by cell, so that nothing tells the false cells
from the others but their counts.

**Unknown keys.** Only cells that hold a unit get noise, so that which cells can be shown depends on the data, and tau
must hide those of a single unit. Marginals that are declared stand beside them complete, every cell with noise.

Claim. Let the noise be (eps, delta_n)-aDP for the cells that can move. All that is released is

- (eps, max(delta_n, d))-aDP under add-remove if M + m = 1,
- (eps, delta_n + 1 - (1 - d)^M)-aDP in every other case, under replace-one too: the exponent is M and not 2 M, and the
  cells of declared marginals are not in it.

Proof. Let A be the cells of open marginals that hold units in D alone, B those in D' alone, C the others of them with a
unit in either and all cells of declared marginals. A cell of A or B holds only the unit in which D and D' differ:
so |A|, |B| <= M, its count is at most R, and it is shown with a probability of at most T(tau - R) = d, as T falls. For
a set S of outputs let S_0 be those of S that show nothing of A and B, x and x' the probabilities of S from D and D',
and c, c' those that the cells of C give S_0. The cells are independent, so x <= (1 - t_A) + t_A c and x' >= t_B c'. On
C the noise and the leaving-out are the mechanism for declared cells, so c <= e^eps c' + delta_n. Together

    x - e^eps x' <= (1 - t_A) + t_A c - t_B (c - delta_n) = (1 - t_A) + (t_A - t_B) c + t_B delta_n,

which for c in [0, 1] is at most 1 - min(t_A, t_B) + delta_n <= 1 - (1 - d)^M + delta_n. Under add-remove with M = 1 and
m = 0 either the one cell is in A or B, and C is the same in both, so that delta_n can be left out; or it is in C, and A
and B are empty, so that d can. With m > 0 a unit can have a key of its own and move a declared cell as well.

With M new keys of R each, and S the outputs that show any of them, x - e^eps x' is 1 - (1 - d)^M: no smaller tau will
do.

Never probabilistic: to show fewer cells is post-processing, which that does not survive.

Rounding: tau up, delta up. Every comparison is made in balls (`ggdp.noise.integer_law`).

References
----------
Korolova, Kenthapadi, Mishra and Ntoulas, "Releasing Search Queries and Clicks Privately", WWW 2009 (unknown keys by a
threshold); Cormode, Procopiuc, Srivastava and Tran, "Differentially Private Publication of Sparse Data", ICDT 2012
(sparse tables).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from flint import arb
from numpy.typing import NDArray

from ggdp import _validate
from ggdp._balls import BALLS, upper_float, working_precision
from ggdp._rounding import rounded_up
from ggdp.domain.table_domain import MOST_CELLS
from ggdp.errors import ArgumentError
from ggdp.noise.entropy import checked_source, distinct_integers
from ggdp.noise.integer_law import least_with_tail
from ggdp.privacy import ApproxDP, Guarantee, Neighbours
from ggdp.proofs.bound import accurate
from ggdp.proofs.tails import tail

if TYPE_CHECKING:
    from ggdp.mechanisms.certified_noise import CertifiedNoise
    from ggdp.noise import Source

# All of them are held in memory at once.
MOST_FALSE_CELLS = 10**7
# False cells are about as many as expected; this many more than requested never occur.
_MARGIN = 2


def sparse_threshold(order: float, scale: float, *, cells: int, false_cells: float) -> int:
    """Return the least threshold, at least 1, with which at most `false_cells` empty cells are shown on average.

    Claim: cells T(tau) <= false_cells, and it is the least integer of at least 1 with that, unless no precision tells.
    Rounding: up.
    """
    order, scale = _validate.order(order=order), _validate.positive(scale=scale)
    cells = _check_cells(cells)
    most = _validate.positive(false_cells=false_cells)
    if most >= cells:
        expected = f"must be below the number of cells, {cells:,}: nothing would be omitted"
        raise ArgumentError("false_cells", false_cells, expected)
    if most > MOST_FALSE_CELLS:
        raise ArgumentError("false_cells", false_cells, "must be at most 10^7")
    return least_with_tail(order, scale, lambda: arb(most) / cells, at_least=1)


def key_threshold(order: float, scale: float, *, delta: float, cells_of_a_unit: int, most_in_a_cell: int = 1) -> int:
    """Return the least threshold, at least R, that hides all keys of one unit but with probability `delta`.

    Of the whole delta this is the share that `threshold_share` gives. M is not doubled under replace-one.

    Claim: 1 - (1 - T(tau - R))^M <= delta, and it is the least integer of at least R with that, unless no precision
    tells. Rounding: up.
    """
    order, scale = _validate.order(order=order), _validate.positive(scale=scale)
    m = _validate.integer(cells_of_a_unit=cells_of_a_unit, at_least=1)
    r = _validate.integer(most_in_a_cell=most_in_a_cell, at_least=1)
    share = _delta(delta)
    return least_with_tail(order, scale, lambda: -((-arb(share)).log1p() / m).expm1(), at_least=0) + r


def key_delta(order: float, scale: float, *, threshold: int, cells_of_a_unit: int, most_in_a_cell: int = 1) -> float:
    """Return the least float proved not to be below 1 - (1 - T(threshold - R))^M."""
    return upper_float(
        accurate(lambda: -((-tail(order, scale, threshold - most_in_a_cell)).log1p() * cells_of_a_unit).expm1())
    )


def noise_share(delta: float, *, cells_of_a_unit: int, neighbours: Neighbours, declared_cells: int = 0) -> float:
    """Return how much of the whole delta noise that is not pure may take: all of it, or half."""
    whole = _delta(delta)
    return whole if _apart(cells_of_a_unit, declared_cells, neighbours) else whole / 2


def threshold_share(delta: float, noise: Guarantee, *, cells_of_a_unit: int, declared_cells: int = 0) -> float:
    """Return how much of the whole delta the noise leaves to the threshold: all of it if the noise is pure.

    Rounding: down, so that `open_guarantee` is not above the whole.
    """
    whole = _delta(delta)
    if _apart(cells_of_a_unit, declared_cells, noise.neighbours):
        return whole
    if not noise.delta < whole:
        raise ArgumentError("noise", str(noise), f"leaves none of delta = {whole!r} to the threshold")
    return -rounded_up(Fraction(noise.delta) - Fraction(whole), of="delta")


def open_guarantee(
    noise: Guarantee,
    *,
    order: float,
    scale: float,
    threshold: int,
    cells_of_a_unit: int,
    declared_cells: int = 0,
    most_in_a_cell: int = 1,
) -> ApproxDP:
    """Return what is proved of keys and counts at or above a threshold, and of complete tables beside them.

    `noise` is what is proved of the noise for all cells that can move. Claim: the module's. Rounding: delta up.
    """
    order, scale = _validate.order(order=order), _validate.positive(scale=scale)
    threshold = _validate.integer(threshold=threshold, at_least=1)
    apart = _apart(cells_of_a_unit, declared_cells, noise.neighbours)
    shown = key_delta(order, scale, threshold=threshold, cells_of_a_unit=cells_of_a_unit, most_in_a_cell=most_in_a_cell)
    delta = max(noise.delta, shown) if apart else rounded_up(Fraction(noise.delta) + Fraction(shown), of="delta")
    return ApproxDP(noise.epsilon, delta, noise.neighbours)


def sparse_cells(
    cells: NDArray[np.int64],
    counts: NDArray[np.int64],
    *,
    total_cells: int,
    noise: CertifiedNoise,
    threshold: int,
    rng: Source | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cells whose noisy counts are at least the threshold, in increasing order, and those counts.

    `cells` are those that are not empty, distinct and in increasing order. A threshold that shows more than some 10^7
    empty cells on average is refused. Claim: that of the module. Errors do not reveal cells or counts.
    """
    bits, total = checked_source(rng), _check_cells(total_cells)
    threshold = _validate.integer(threshold=threshold, at_least=1)
    with BALLS, working_precision(64):
        few = noise.expected_above(threshold, total) <= _MARGIN * MOST_FALSE_CELLS
    if not few:
        expected = f"leaves too many of {total:,} empty cells in; at most 10^7 can be held"
        raise ArgumentError("threshold", threshold, expected)
    empty = total - cells.size

    def places(size: int) -> NDArray[np.int64]:
        ranks = distinct_integers(empty, size, bits)
        return ranks + np.searchsorted(cells - np.arange(cells.size), ranks, side="right")

    false, extra = noise.false_cells(threshold, empty=empty, places=places, rng=bits)
    noisy = noise.add(counts, bits)
    kept = noisy >= threshold
    shown, values = np.concatenate((cells[kept], false)), np.concatenate((noisy[kept], extra))
    sorting = np.argsort(shown, kind="stable")
    return shown[sorting], values[sorting]


def kept_keys(
    counts: NDArray[np.int64], *, noise: CertifiedNoise, threshold: int, rng: Source | None = None
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the places of the keys whose noisy counts are at least the threshold, and those counts.

    A key without a unit, such as a level of a category that does not occur, is never shown: it may be there because of
    a unit that is not counted.

    Claim: that of `open_guarantee`, for keys in an order that does not depend on the data beyond the keys that are
    shown; sorting what is shown by its keys gives one.
    """
    bits = checked_source(rng)
    threshold = _validate.integer(threshold=threshold, at_least=1)
    noisy = noise.add(counts, bits)
    places = np.flatnonzero((noisy >= threshold) & (counts >= 1))
    return places, noisy[places]


def _check_cells(cells: object) -> int:
    """Return the number of declared cells, if a sparse table can have that many."""
    number = _validate.integer(cells=cells, at_least=1)
    if number > MOST_CELLS:
        raise ArgumentError("cells", cells, "must be at most 10^18")
    return number


def _apart(cells_of_a_unit: int, declared_cells: int, neighbours: Neighbours | None) -> bool:
    """Return whether noise and threshold never spend their deltas on the same pair of neighbours."""
    m = _validate.integer(cells_of_a_unit=cells_of_a_unit, at_least=1)
    m += _validate.integer(declared_cells=declared_cells, at_least=0)
    if neighbours is None:
        raise ArgumentError("neighbours", neighbours, "must be 'add-remove' or 'replace-one'")
    return m == 1 and neighbours == "add-remove"


def _delta(delta: object) -> float:
    number = _validate.probability(delta=delta)
    if number == 0.0:
        raise ArgumentError("delta", delta, "must be above 0: keys that are not public cannot be shown without it")
    return number
