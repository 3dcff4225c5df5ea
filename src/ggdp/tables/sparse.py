"""Sparse tables: noise on every declared cell, at the cost of the cells that are shown.

=======  ==========================================================
N        number of declared cells, at most 10^18
m        how many of them hold a unit
K        integer noise of one cell; T(k) = P(K >= k)
tau      cells with a noisy count of at least tau are shown
R        N - m, the number of empty cells
=======  ==========================================================

Claim. The cells and counts that come out have exactly the law of noise on all N cells, of which those with at least
tau are shown. Proof: the cells are independent. Those with a unit are treated alike by both. Each empty cell is shown
with probability T(tau), independently, so that the number of those shown is Binomial(R, T(tau)); given their number
every set of them is equally likely; and given the set their noisy counts are independent draws of K given K >= tau.
Each of these three is drawn exactly (`ggdp.sampling`). So the guarantee is that of the noise on all cells followed by
post-processing; pure DP stays pure.

The r-th empty cell is r + j, with j the number of non-empty cells c_0 < c_1 < ... that come before it: those with
c_i - i <= r. No cell is drawn again because it is not empty.

Order of draws. The number of false cells, which, their counts, and last the noise of the non-empty cells: only the last
is a number of draws that depends on the data. What comes out is sorted by cell, so that nothing tells the false cells
from the others but their counts.

References
----------
Cormode, Procopiuc, Srivastava and Tran, "Differentially Private Publication of Sparse Data", ICDT 2012.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp import _validate
from ggdp._balls import BALLS, working_precision
from ggdp.errors import ArgumentError
from ggdp.mechanisms.saturation import add_saturating
from ggdp.proofs.integer_sums import tail
from ggdp.sampling import Binomial, ConditionalNoise, IntegerNoise
from ggdp.sampling.entropy import checked_source
from ggdp.sampling.uniform import distinct_integers
from ggdp.tables.thresholds import MOST_FALSE_CELLS, checked_cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.sampling import Source

# False cells are about as many as expected; this many more than requested never occur.
_MARGIN = 2


def sparse_cells(
    cells: NDArray[np.int64],
    counts: NDArray[np.int64],
    *,
    total_cells: int,
    order: float,
    scale: float,
    threshold: int,
    source: Source | None = None,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cells whose noisy counts are at least the threshold, in increasing order, and those counts.

    Parameters
    ----------
    cells : array of int64
        Indices of the cells that are not empty, distinct and in increasing order.
    counts : array of int64
        Their counts.
    total_cells : int
        Number of declared cells, at most 10^18.
    order, scale : float
        Order and scale of the noise.
    threshold : int
        At least 1; `ggdp.tables.thresholds.sparse_threshold` finds one. With more than some 10^7 false cells on average
        it is refused.
    source : Source, optional
        Where the random bits come from; the operating system by default.

    Notes
    -----
    Claim: that of the module. Errors do not reveal cells or counts.

    Examples
    --------
    >>> cells, counts = np.array([3, 10**13]), np.array([500, 900])
    >>> shown, noisy = sparse_cells(cells, counts, total_cells=19_440_000_000_000, order=1, scale=1.0, threshold=31)
    >>> bool(np.isin(cells, shown).all()), bool((noisy >= 31).all()), bool((np.diff(shown) > 0).all())
    (True, True, True)
    """
    bits, total = checked_source(source), checked_cells(total_cells)
    threshold = _validate.integer(threshold=threshold, at_least=1)
    noise = IntegerNoise(order=order, scale=scale)
    far = noise.at_least(threshold)
    _refuse_many(noise, total, threshold)
    places, extra = _false_cells(cells, total - cells.size, far, bits)
    noisy = noise.sample(cells.size, source=bits)
    add_saturating(counts, noisy)
    kept = noisy >= threshold
    shown, values = np.concatenate((cells[kept], places)), np.concatenate((noisy[kept], extra))
    sorting = np.argsort(shown, kind="stable")
    return shown[sorting], values[sorting]


def _false_cells(
    cells: NDArray[np.int64], empty: int, far: ConditionalNoise, source: Source
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return which of the empty cells are shown, in increasing order, and their noisy counts."""
    number = Binomial(trials=empty, probability=lambda: tail(far.order, far.scale, far.threshold))
    size = int(number.sample(1, source=source)[0])
    ranks = distinct_integers(empty, size, source)
    places = ranks + np.searchsorted(cells - np.arange(cells.size), ranks, side="right")
    return places, far.sample(size, source=source)


def _refuse_many(noise: IntegerNoise, total: int, threshold: int) -> None:
    """Raise if a threshold leaves too many false cells; only public numbers are used."""
    with BALLS, working_precision(64):
        few = total * tail(noise.order, noise.scale, threshold) <= _MARGIN * MOST_FALSE_CELLS
    if not few:
        raise ArgumentError(
            "threshold", threshold, f"leaves too many of {total:,} empty cells in; at most 10^7 can be held"
        )
