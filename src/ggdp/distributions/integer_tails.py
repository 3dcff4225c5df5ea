"""From which integer on a tail of the noise is small enough: one certified search for thresholds and half-widths.

=======  =======================================================
K        noise with P(K = k) proportional to exp(-(|k| / b)^p)
T(k)     P(K >= k), which falls strictly as k grows
q        what the tail may be at most
=======  =======================================================

Rounding: both T and q are enclosed in balls, at growing precision until they are separated. Where no precision
tells them apart the integer is taken as failing, so that what is returned has surely passed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ggdp._balls import BALLS, working_precision
from ggdp.proofs.integer_sums import tail

if TYPE_CHECKING:
    from collections.abc import Callable

    from flint import arb

_PRECISIONS = (96, 192, 384, 768, 1536)
# The float's guess is for these; beyond them the search goes on by doubling steps.
_LEAST, _MOST = 1e-300, 0.49


def least_with_tail(order: float, scale: float, most: Callable[[], arb], *, at_least: int) -> int:
    """Return the least integer k >= at_least with P(K >= k) <= q; the next one where no precision tells.

    Parameters
    ----------
    order, scale : float
        Order and scale of the noise.
    most : callable
        Encloses q, above 0, at the working precision.
    at_least : int
        The least integer that is asked about.

    Examples
    --------
    >>> from flint import arb
    >>> least_with_tail(1.0, 1.0, lambda: arb(0.025), at_least=0)
    4
    >>> least_with_tail(2.0, 3.0, lambda: arb(1), at_least=-9)
    -9
    """

    def passes(k: int) -> bool:
        for bits in _PRECISIONS:
            with BALLS, working_precision(bits):
                excess = tail(order, scale, k) - most()
            if excess > 0 or excess <= 0:
                return bool(excess <= 0)
        return False

    with BALLS, working_precision(_PRECISIONS[0]):
        q = min(max(float(most().mid()), _LEAST), _MOST)
    guess = scale * _standard_quantile(order, 2.0 * q)
    return least_passing(lambda k: k >= at_least and passes(k), max(math.floor(guess), at_least))


def _standard_quantile(order: float, q: float) -> float:
    """Return about the x with P(|K| > x) = q for continuous noise of scale 1."""
    if order == 1.0:
        # SciPy takes longer to load than all else that a small release needs.
        return -math.log(q)
    from scipy.special import gammainccinv

    return math.pow(float(gammainccinv(1.0 / order, q)), 1.0 / order)


def least_passing(passes: Callable[[int], bool], guess: int) -> int:
    """Return the least integer that passes, by doubling steps and a bisection from a guess."""
    high, step = guess, 1
    while not passes(high):
        high, step = high + step, 2 * step
    low, step = high - 1, 1
    while passes(low):
        high, low, step = low, low - step, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high
