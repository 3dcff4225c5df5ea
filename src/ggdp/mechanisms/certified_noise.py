"""Saturating 64-bit sums, and the probabilistic DP that remains.

=======  =====================================================================================================
K, b     integer noise and its scale
M        the largest output that stands for one noisy index only: 2^63 - 1 on the integers, 2^53 steps on a grid
L        where true indices are clamped under probabilistic DP: 2^62 on the integers, 2^52 steps on a grid
=======  =====================================================================================================

Saturation at the ends of int64, and the rounding of indices beyond 2^53 to floats, put several noisy indices on one
output. That is post-processing: pure and approximate DP survive it, probabilistic DP does not in general. But an output
below M in absolute value has the loss of its one index, and with true indices no larger than L the others hardly ever
occur. So for probabilistic DP true indices are clamped to L, as part of the query, and the probability that noise leads
to M or beyond is added to delta.

Claim. P(|K| >= k) <= 2 (b + 1) exp(-k/b) for k >= b and every order p >= 1. Proof: for j >= b, (j/b)^p >= j/b, the
normaliser is at least 1, and the sum of exp(-j/b) over j >= k is exp(-k/b) / (1 - exp(-1/b)) <= (b + 1) exp(-k/b), as
1 - exp(-x) >= x / (1 + x).

A coordinate that does not move has the same law under both neighbours, so only those that move count.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from flint import arb

from ggdp._balls import BALLS, upper_float, working_precision
from ggdp.privacy import ProbabilisticDP
from ggdp.privacy.values import LARGEST, LEAST

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.calibration import Calibration
    from ggdp.privacy import Guarantee
    from ggdp.privacy.grid import Grid


# Sums that are looked at together.
BLOCK = 1 << 18
_FAR = 1 << 62
# More than twice the bits of a float.
_PRECISION = 128


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """The guarantee that remains when the noisy index is saturated at 64 bits.

    Attributes
    ----------
    guarantee : PureDP, ProbabilisticDP or ApproxDP
        The guarantee of the output.
    clamp : int, optional
        Where true indices are clamped for it; None if they are not.
    """

    guarantee: Guarantee
    clamp: int | None


def saturation_of(steps: Calibration, grid: Grid | None) -> Saturation:
    """Return the guarantee of a calibration after saturation at 64 bits.

    Notes
    -----
    Rounding: delta upwards. Where it would pass the goal's, approximate DP is what is left.
    """
    proved = steps.guarantee
    if not isinstance(proved, ProbabilisticDP) or steps.bounding is not None:
        return Saturation(guarantee=proved.after_postprocessing(), clamp=None)
    one_to_one = LARGEST if grid is None else 2**53
    clamp = (one_to_one + 1) // 2
    if grid is None or one_to_one * grid.step <= sys.float_info.max:
        delta = math.nextafter(
            proved.delta + steps.sensitivity.moving * _most_beyond(steps.scale, one_to_one - clamp), math.inf
        )
        if delta <= steps.goal.delta:
            return Saturation(guarantee=ProbabilisticDP(proved.epsilon, delta, proved.neighbours), clamp=clamp)
    return Saturation(guarantee=proved.after_postprocessing(), clamp=None)


def _most_beyond(scale: float, k: int) -> float:
    """Return a float above P(|K| >= k), by the claim."""
    if not k >= scale:
        return 1.0
    with BALLS, working_precision(_PRECISION):
        return max(upper_float(2 * (arb(scale) + 1) * (-arb(k) / arb(scale)).exp()), sys.float_info.min)


def add_saturating(values: NDArray[np.int64], noise: NDArray[np.int64]) -> None:
    """Turn flat noise into values + noise, saturating at the ends of int64.

    Claim. It is exact for noise below 2^62 in absolute value. Proof: a sum of 2^63 or more is then below 2^63 + 2^62,
    and wraps to less than -2^62; the other end likewise. So where all sums come out below 2^62 in absolute value none
    has wrapped; otherwise every sum is looked at (`_saturated`). Larger noise, of a probability below 1e-38 at every
    scale that is drawn, may wrap around unseen. Even so all that comes out, and the time it takes, is a function of the
    sums and not of the values: what is proved of the sums stays.

    Examples
    --------
    >>> noise = np.array([1, -1, -7])
    >>> add_saturating(np.array([2**63 - 1, -(2**63), 5]), noise)
    >>> noise.tolist() == [2**63 - 1, -(2**63), -2]
    True
    """
    for start in range(0, noise.size, BLOCK):
        x, y = values[start : start + BLOCK], noise[start : start + BLOCK]
        np.add(x, y, out=y)
        if _large(y):
            y[:] = _saturated(x, y)


def add_clamped(values: NDArray[np.int64], noise: NDArray[np.int64], clamp: int) -> None:
    """Turn flat noise into the sum of clamped values and noise.

    With a clamp of at most 2^62 only noise of 2^62 and more can wrap around, and that is counted in delta.
    """
    buffer = np.empty(min(noise.size, BLOCK), dtype=np.int64)
    for start in range(0, noise.size, BLOCK):
        x, y = values[start : start + BLOCK], noise[start : start + BLOCK]
        np.add(np.clip(x, -clamp, clamp, out=buffer[: x.size]), y, out=y)


def _large(numbers: NDArray[np.int64]) -> bool:
    """Return whether a number, of at least one, is 2^62 or more in absolute value."""
    return bool(numbers.max() >= _FAR or numbers.min() <= -_FAR)


def _saturated(x: NDArray[np.int64], wrapped: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sums of x and noise, given those sums as they wrapped around.

    The noise is what x lacks to the sum, wrapping around once more. Without wrapping the sum is below x exactly if the
    noise is below 0; with it, exactly if the noise is not.
    """
    beyond = (wrapped - x < 0) != (wrapped < x)
    return np.where(beyond, np.where(x < 0, LEAST, LARGEST), wrapped)
