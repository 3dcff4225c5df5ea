"""Integer noise given that it is at least a threshold, exact also where that is less likely than 1e-30.

=======  ======================================================
p, b     order and scale
tau      the threshold
f(j)     exp(-(|j| / b)^p), the weight of the integer j
=======  ======================================================

From tau >= 1 on the law is drawn by its own table or envelope, made of weights relative to f(tau): how unlikely the
condition is does not matter. For tau <= 0 the condition holds at least every other time, and noise is drawn until it
does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from attrs import field, frozen

from ggdp import _validate
from ggdp.distributions import parameters
from ggdp.sampling.batch import Drawn
from ggdp.sampling.choice import refuse_too_far, sampler_from, sampler_of
from ggdp.sampling.table import BATCH

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ggdp.sampling.batch import Sampler
    from ggdp.sampling.entropy import Source


def _threshold(threshold: int) -> int:
    return _validate.integer(threshold=threshold, at_least=-(1 << 62))


@frozen(kw_only=True)
class ConditionalNoise(Drawn):
    """Integer noise with P(k) proportional to exp(-(|k| / scale)^order) for k >= threshold, drawn exactly.

    Parameters
    ----------
    order : float
        Order of the noise, at least 1.
    scale : float
        Scale of the noise.
    threshold : int
        The least value; of either sign, and public: the time of drawing may depend on it.

    Examples
    --------
    >>> far = ConditionalNoise(order=2, scale=10.0, threshold=83)  # noise is so large once in 10^30 times
    >>> int(far.sample(1000).min())
    83
    >>> ConditionalNoise(order=1, scale=3.0, threshold=-2).sample((2, 3)).shape
    (2, 3)
    """

    order: float = field(converter=parameters.order)
    scale: float = field(converter=parameters.scale)
    threshold: int = field(converter=_threshold)

    def __attrs_post_init__(self) -> None:
        refuse_too_far(self.order, self.scale, self.threshold)

    def _sampler(self) -> Sampler:
        if self.threshold >= 1:
            return sampler_from(self.order, self.scale, self.threshold)
        return _Repeated(sampler_of(self.order, self.scale), self.threshold)


@frozen
class _Repeated:
    """Draws of a law, each made again until it is at least a threshold."""

    sampler: Sampler
    threshold: int

    def draw(self, out: NDArray[np.int64], source: Source) -> None:
        """Overwrite a flat array with draws."""
        for start in range(0, out.size, BATCH):
            part = out[start : start + BATCH]
            self.sampler.draw(part, source)
            below = np.flatnonzero(part < self.threshold)
            while below.size:
                again = np.empty(below.size, dtype=np.int64)
                self.sampler.draw(again, source)
                part[below] = again
                below = below[again < self.threshold]
