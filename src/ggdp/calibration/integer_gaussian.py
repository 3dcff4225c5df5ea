"""The least scale found of discrete Gaussian noise on a vector of known l_2 norm."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ggdp._balls import BALLS, upper_float, working_precision
from ggdp.calibration.search import Proposal, proved_or_raised
from ggdp.calibration.shift import scale_for_shift
from ggdp.errors import SearchError
from ggdp.proofs.integer_gaussian import ROUNDINGS, comparison
from ggdp.proofs.shift import ShiftDelta

if TYPE_CHECKING:
    from ggdp.proofs.integer_gaussian import IntegerGaussianDelta
    from ggdp.proofs.noise_law import NoiseLaw

_PRECISION = 96


def least_for_integer_gaussian(bound: IntegerGaussianDelta, law: NoiseLaw, target: float) -> Proposal:
    """Return the least law found that keeps a target by comparison with continuous Gaussian noise.

    Examples
    --------
    >>> from ggdp.proofs import NoiseLaw
    >>> from ggdp.proofs.integer_gaussian import IntegerGaussianDelta
    >>> bound = IntegerGaussianDelta(sensitivity=1024.0, dimension=1000, epsilon=1.0)
    >>> found = least_for_integer_gaussian(bound, NoiseLaw(order=2, scale=1, support="integer"), 1e-6)
    >>> print(f"{found.law.scale / 1024 / 2**0.5:.4f}")
    4.2247
    """
    least = math.inf
    for s in ROUNDINGS:
        with BALLS, working_precision(_PRECISION):
            factor, loss = (upper_float(part) for part in comparison(s, bound.sensitivity, bound.dimension))
        left = bound.epsilon - loss * (1.0 + 1e-12)
        if left > 0.0 and target / factor > 0.0:
            continuous = ShiftDelta(notion="approximate", sensitivity=bound.sensitivity, epsilon=left)
            b = scale_for_shift(continuous, 2.0, target / factor)
            least = min(least, math.hypot(b, math.sqrt(2.0) * s))
    if math.isinf(least):
        message = (
            f"no scale of discrete Gaussian noise is known for epsilon = {bound.epsilon!r} in {bound.dimension:,} "
            "coordinates; use a larger epsilon"
        )
        raise SearchError(message)
    return proved_or_raised(bound, law.with_scale(least), target)
