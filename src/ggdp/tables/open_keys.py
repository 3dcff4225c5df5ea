"""Counts of keys that are not public: noise on the keys that occur, of which those at or above a threshold are shown.

=======  =======================================================
K        integer noise of one key
tau      keys with a noisy count of at least tau are shown
=======  =======================================================

What it promises, and for which tau, is proved in `ggdp.tables.thresholds`: (epsilon, delta)-aDP, with a delta also
where the noise is pure.

References
----------
Korolova, Kenthapadi, Mishra and Ntoulas, "Releasing Search Queries and Clicks Privately", WWW 2009.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp import _validate
from ggdp.mechanisms.saturation import add_saturating
from ggdp.sampling import IntegerNoise
from ggdp.sampling.entropy import checked_source

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.sampling import Source


def kept_keys(
    counts: NDArray[np.int64], *, order: float, scale: float, threshold: int, source: Source | None = None
) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the places of the keys whose noisy counts are at least the threshold, and those counts.

    Parameters
    ----------
    counts : array of int64
        Counts of the keys. A key without a unit, such as a level of a category that does not occur, is never shown: it
        may be there because of a unit that is not counted.
    order, scale : float
        Order and scale of the noise.
    threshold : int
        At least 1; `ggdp.tables.thresholds.key_threshold` finds it.
    source : Source, optional
        Where the random bits come from; the operating system by default.

    Notes
    -----
    Claim: that of `ggdp.tables.thresholds.open_guarantee`, for keys in an order that does not depend on the data beyond
    the keys that are shown; sorting what is shown by its keys gives one.

    Examples
    --------
    >>> places, noisy = kept_keys(np.array([900, 0, 500]), order=1, scale=1.0, threshold=15)
    >>> places.tolist(), bool((noisy >= 15).all())
    ([0, 2], True)
    """
    bits = checked_source(source)
    threshold = _validate.integer(threshold=threshold, at_least=1)
    noisy = IntegerNoise(order=order, scale=scale).sample(counts.size, source=bits)
    add_saturating(counts, noisy)
    places = np.flatnonzero((noisy >= threshold) & (counts >= 1))
    return places, noisy[places]
