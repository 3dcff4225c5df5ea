"""The least scale found of discrete Gaussian noise on a vector of known l_2 norm."""

from __future__ import annotations

import math

from ggdp.calibration.shift import scale_for_shift
from ggdp.distributions.enclosures import BALLS, upper_float, working_precision
from ggdp.errors import SearchError
from ggdp.loss.integer_gaussian import ROUNDINGS, comparison

__all__ = ["scale_for_integer_gaussian"]

_PRECISION = 96


def scale_for_integer_gaussian(*, sensitivity: float, dimension: int, epsilon: float, delta: float) -> float:
    """Return the least scale found, to be certified by `ggdp.loss.integer_gaussian.delta_of_integer_gaussian`.

    Examples
    --------
    >>> b = scale_for_integer_gaussian(sensitivity=1024.0, dimension=1000, epsilon=1.0, delta=1e-6)
    >>> print(f"{b / 1024 / 2**0.5:.4f}")
    4.2247
    """
    found = math.inf
    for s in ROUNDINGS:
        with BALLS, working_precision(_PRECISION):
            factor, loss = (upper_float(bound) for bound in comparison(s, sensitivity, dimension))
        left = epsilon - loss * (1.0 + 1e-12)
        if left > 0.0 and delta / factor > 0.0:
            b = scale_for_shift(
                notion="approximate", order=2.0, sensitivity=sensitivity, epsilon=left, delta=delta / factor
            )
            found = min(found, math.hypot(b, math.sqrt(2.0) * s))
    if math.isinf(found):
        message = (
            f"no scale of discrete Gaussian noise is known for epsilon = {epsilon!r} in {dimension:,} coordinates; use "
            "a larger epsilon"
        )
        raise SearchError(message)
    return found
