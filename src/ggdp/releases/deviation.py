"""Deviation of a released value from a hypothetical true value, including rounding and clipping, in steps.

=======  ==================================================================================
i        index of the true value s, clamped to the bounds in steps
m        noisy index
e(m)     how far the float of m is moved when it is clipped to bounds that are off the grid
=======  ==================================================================================

The error is (m - i) + e(m) + (i - s). The first part has the moments of `ggdp.distributions.integer_bounded`, the
second is 0 but at an output or two next to a bound, the third is at most half a step and not random. On the integers
only the first is there. These are floats: they describe and prove nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ggdp.releases.coordinates import CLIPPED_WITHIN

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ggdp.distributions.generalized_gaussian import Floats
    from ggdp.distributions.integer_bounded import BoundedIntegerErrors

    # Of mean and standard deviation around i, and of the two ends of i - s.
    Measure = Callable[[Floats, Floats, Floats, Floats], Floats]


@dataclass(frozen=True, slots=True, eq=False)
class BoundedDeviation:
    """The error of one coordinate with bounds.

    Attributes
    ----------
    errors : BoundedIntegerErrors
        Moments of the bounded integer noise.
    first, last : int
        Bounds in steps.
    lower, upper : float
        Bounds of the output, in steps too but anywhere.
    rounding : float
        The most that rounding moves a true value: 1/2, or 0 on the integers.
    """

    errors: BoundedIntegerErrors
    first: int
    last: int
    lower: float
    upper: float
    rounding: float

    def around(self, index: NDArray[np.int64]) -> tuple[Floats, Floats]:
        """Return mean and standard deviation of the output less the index of the true value, within the bounds."""
        below = index - self.first
        found = self.errors.moments(below)
        mean, variance = found.bias, found.variance
        for m, moved in self._clipped():
            # Mean and variance of X + e, where e is `moved` at one value of X, of probability q.
            q = self.errors.mass(below, m - self.first)
            variance = variance + moved * q * (2.0 * (m - index - mean) + moved * (1.0 - q))
            mean = mean + moved * q
        return mean, np.sqrt(np.maximum(variance, 0.0))

    def _clipped(self) -> list[tuple[int, float]]:
        """Return the indices whose float is clipped, and how far."""
        near = {self.first + k for k in range(CLIPPED_WITHIN)} | {self.last - k for k in range(CLIPPED_WITHIN)}
        moves = {m: min(max(float(m), self.lower), self.upper) - m for m in sorted(near)}
        return [(m, moved) for m, moved in moves.items() if moved != 0.0 and self.first <= m <= self.last]

    def largest(self, measure: Measure) -> float:
        """Return the largest of a measure over all true values within the bounds."""

        def at(below: NDArray[np.int64]) -> Floats:
            index = below + self.first
            # Of the values that are rounded to this index, those within the bounds.
            most = np.minimum(index - self.lower, self.rounding)
            least = np.maximum(index - self.upper, -self.rounding)
            mean, deviation = self.around(index)
            return np.where(most >= least, measure(mean, deviation, least, most), -math.inf)

        return self.errors.largest(at)
