"""The expected largest error over many cells: E max |X_i| over r independent noises.

=======  =================================================================
p, b     order and scale of the noise
r        number of cells
F(t)     P(|X| <= t), so that E max = Integral of 1 - F(t)^r over t >= 0,
         and on the integers the sum of 1 - F(k)^r over k >= 0
=======  =================================================================

These are numbers to choose by, computed in floats and not simulated: on the reals good to about 1e-12 of their value,
on the integers too up to a scale of 2^15, and to about 1e-7 beyond.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ggdp.noise.generalized_gaussian import outside

# t = exp(pi/2 sinh u): from t = 1e-19 to beyond where any float number of cells has a largest error.
LOWEST, HIGHEST = -4.1, 3.2
FIRST_INTERVALS = 256
MOST_INTERVALS = 1 << 18
AGREEMENT = 1e-13
# Probabilities below e^-NEGLIGIBLE over the number of cells are left out of a sum.
NEGLIGIBLE = 45.0
# Above this scale a sum over the integers is the integral, up to about (p / b)^2 / 24 of its value.
WIDE = 2.0**15


def expected_maximum(order: float, scale: float, cells: int, support: str) -> float:
    """Return E max |X_i| over `cells` independent noises of an order and scale.

    Examples
    --------
    >>> print(f"{expected_maximum(1.0, 2.0, 3, 'real'):.12f}")  # 2 (1 + 1/2 + 1/3)
    3.666666666667
    """
    if support == "real" or scale > WIDE:
        return scale * _standard_maximum(order, cells)
    return _integer_maximum(order, scale, cells)


@lru_cache(maxsize=4096)
def _standard_maximum(order: float, cells: int) -> float:
    """Return the integral at scale 1 by the exp-sinh rule, with steps halved until two of them agree."""
    intervals, before = FIRST_INTERVALS, math.nan
    while True:
        step = (HIGHEST - LOWEST) / intervals
        u = LOWEST + step * np.arange(intervals + 1)
        t = np.exp(0.5 * math.pi * np.sinh(u))
        with np.errstate(all="ignore"):
            exceeded = -np.expm1(cells * np.log1p(-outside(order, 1.0, t)))
        value = step * float(np.sum(exceeded * t * 0.5 * math.pi * np.cosh(u)))
        if abs(value - before) <= AGREEMENT * value or intervals >= MOST_INTERVALS:
            return value
        intervals, before = 2 * intervals, value


def _integer_maximum(order: float, scale: float, cells: int) -> float:
    """Return the sum of P(max > k) over k >= 0."""
    farthest = math.ceil(scale * (NEGLIGIBLE + math.log(cells)) ** (1.0 / order)) + 2
    with np.errstate(under="ignore"):
        weights = np.exp(-((np.arange(farthest) / scale) ** order))
    # Added up from the far end, where they are smallest: above[k] is the weight of all integers beyond k.
    above = np.cumsum(weights[:0:-1])[::-1]
    beyond = 2.0 * above / (weights[0] + 2.0 * above[0])
    return float(np.sum(-np.expm1(cells * np.log1p(-beyond))))
