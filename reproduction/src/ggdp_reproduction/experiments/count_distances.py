"""How far sanitised counts are from the original ones: l_1 distance and Kullback-Leibler divergence.

==========  ================================================================================
y, y*       original and sanitised counts of the m cells
l_1         sum_k |y_k - y*_k|
f(y)        (y + a) / (sum y + m a), the mean of a Dirichlet posterior with prior weight a
KL(y||y*)   sum_k f_k(y) ln(f_k(y) / f_k(y*))
==========  ================================================================================

The divergence is that of R's ``entropy::KL.Dirichlet(y1, y2, a1, a2)`` with the same prior on both sides, in natural
units. The paper names neither its prior nor its direction: the prior is a parameter here, by default Jeffreys' 1/2, and
both directions are computed.

References
----------
Liu, arXiv 1602.06028 v5, Section 4. Hausser and Strimmer, "Entropy inference and the James-Stein estimator", JMLR 10
(2009), Table 1 (the prior weights).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.errors import ArgumentError
from ggdp_reproduction.checks import positive

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

__all__ = ["JEFFREYS", "dirichlet_frequencies", "kl_both", "l1_distance"]

JEFFREYS = 0.5


def l1_distance(original: ArrayLike, sanitised: ArrayLike) -> Any:  # noqa: ANN401 - a float, or one for each row
    """Return the sum of the absolute differences over the last axis; either may have one row for each repeat.

    Examples
    --------
    >>> float(l1_distance([3, 0, 1], [2.5, 0.5, 1]))
    1.0
    """
    return np.abs(np.asarray(sanitised, dtype=np.float64) - np.asarray(original, dtype=np.float64)).sum(axis=-1)


def dirichlet_frequencies(counts: ArrayLike, *, prior: float = JEFFREYS) -> NDArray[np.float64]:
    """Return (y + a) / (sum y + m a) over the last axis, for counts y that are not negative and the prior weight a.

    Examples
    --------
    >>> dirichlet_frequencies([3, 0, 1], prior=1.0)
    array([0.57142857, 0.14285714, 0.28571429])
    """
    weighted = _weighted(counts, prior)
    weighted /= weighted.sum(axis=-1, keepdims=True)
    return weighted


def kl_both(
    original: NDArray[np.float64], sanitised: NDArray[np.float64], *, prior: float = JEFFREYS
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return KL(original || sanitised) and KL(sanitised || original) of many repeats, with one logarithm a count.

    Counts are of shape (cells,) and (repeats, cells), and not negative; the prior is its weight in each cell, above 0.

    Examples
    --------
    >>> there, back = kl_both(np.array([3.0, 0.0, 1.0]), np.array([[1.0, 1.0, 2.0]]), prior=1.0)
    >>> print(f"{there[0]:.6f} {back[0]:.6f}")  # back: (2 ln(1/2) + 2 ln 2 + 3 ln(3/2)) / 7
    0.181216 0.173771
    """
    f = dirichlet_frequencies(original, prior=prior)
    weighted = _weighted(sanitised, prior)
    # In place and by blocks of the caller's choice: this is where the time of a large table goes.
    ratio = weighted / weighted.sum(axis=-1, keepdims=True)
    np.divide(ratio, f, out=weighted)
    np.log(weighted, out=weighted)
    ratio *= weighted
    back = ratio.sum(axis=-1)
    weighted *= f
    return -weighted.sum(axis=-1), back


def _weighted(counts: ArrayLike, prior: float) -> NDArray[np.float64]:
    """Return the counts with the prior added to each."""
    a = positive(prior=prior)
    array = np.asarray(counts, dtype=np.float64)
    if array.size and array.min() < 0.0:
        raise ArgumentError("counts", "with negative ones", "a divergence needs counts that are not negative")
    return array + a
