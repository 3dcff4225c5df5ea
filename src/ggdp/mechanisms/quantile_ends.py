"""The ends of intervals of a quantile: two more quantiles of each cell, as far apart as its noisy count asks for.

==========  ===================================================================================
q           the quantile
n0          a private lower bound of the rows of a cell
k           2 log(N / 0.0125) / (eps' n0), with eps' what an end may cost
q'          the quantile that is drawn for the lower end: (q - q')  = k c(q')
==========  ===================================================================================

With c(q') = max(q', 1 - q') that is q' = (q - k)/(1 - k) if it is at most 1/2, and q/(1 + k) otherwise; with c = 1 it is
q - k. Upper ends are lower ends of 1 - q, mirrored. q' is rounded outwards to a millionth. What it is for is proved in
`ggdp.mechanisms.quantiles`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ggdp.mechanisms.quantile_parts import Part, drawn_steps

if TYPE_CHECKING:
    from fractions import Fraction

    from numpy.typing import NDArray

    from ggdp.sampling.entropy import Source

__all__ = ["MISSES", "interval_ends"]

# The chance that an end is wrong; twice, and 2.5 % for the lower bound of the count, it makes 5 %.
MISSES = 0.0125
_PARTS = 10**6
# Covers all roundings of floats.
_MARGIN = 1.0 + 1e-9


def interval_ends(
    whole: Part,
    q: Fraction,
    steps: int,
    epsilon: Fraction,
    counts_lower: NDArray[np.int64],
    source: Source,
    *,
    replaced: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return the lower and upper end of each cell, each drawn with `epsilon`, and where either says something."""
    below = lower_parts(float(q), steps, float(epsilon), counts_lower, replaced=replaced)
    above = lower_parts(float(1 - q), steps, float(epsilon), counts_lower, replaced=replaced)
    ends = [_drawn(whole, parts, epsilon, source, replaced=replaced) for parts in (below, _PARTS - above)]
    lower = np.where(below > 0, ends[0], 0)
    upper = np.where(above > 0, ends[1], steps)
    return lower, upper, (below > 0) | (above > 0)


def lower_parts(
    q: float, steps: int, epsilon: float, counts_lower: NDArray[np.int64], *, replaced: bool
) -> NDArray[np.int64]:
    """Return q' in millionths, rounded down, and 0 where there is none."""
    rows = np.maximum(counts_lower, 1).astype(np.float64)
    k = np.minimum(2.0 * math.log(steps / MISSES) / epsilon * _MARGIN / rows, 1.0 - 2.0**-30)
    if replaced:
        found = q - k
    else:
        low = (q - k) / (1.0 - k)
        found = np.where(low <= 0.5, low, q / (1.0 + k))
    return np.where(counts_lower > 0, np.maximum(np.floor(found * _PARTS * (1.0 - 1e-12)), 0.0), 0.0).astype(np.int64)


def _drawn(whole: Part, parts: NDArray[np.int64], epsilon: Fraction, source: Source, *, replaced: bool) -> NDArray[np.int64]:
    """Return a step near the quantile of each cell that is given in millionths."""
    total = np.full(parts.size, _PARTS)
    divisors = total if replaced else np.maximum(parts, _PARTS - parts)
    return drawn_steps(whole, parts, total, epsilon / 2, divisors, source)
