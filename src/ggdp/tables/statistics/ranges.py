"""From parts of a public range to the unit of the data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.tables.statistics.noisy_sums import Estimate

if TYPE_CHECKING:
    from ggdp.distributions.generalized_gaussian import Floats


def checked_range(bounds: tuple[float, float]) -> tuple[float, float]:
    """Return the ends of a public range, whose width is a float above 0."""
    lo, hi = _validate.finite(bounds=bounds[0]), _validate.finite(bounds=bounds[1])
    if not 0.0 < hi - lo < math.inf:
        raise ArgumentError("bounds", bounds, "must be a lower end below the upper one, with a finite distance")
    return lo, hi


def in_range(value: Floats, lower: Floats, upper: Floats, bounds: tuple[float, float]) -> Estimate:
    """Return lo + (hi - lo) t for parts t of a range, the ends rounded outwards and all of them within the range.

    Rounded sums and products are monotone, so the order of the three is kept.
    """
    lo, hi = checked_range(bounds)
    middle, low, high = (np.clip(lo + (hi - lo) * part, lo, hi) for part in (value, lower, upper))
    # One ulp of the larger of the numbers added.
    ulp = np.spacing(max(abs(lo), abs(hi)))
    return Estimate(middle, np.maximum(low - ulp, lo), np.minimum(high + ulp, hi))


def scaled(value: Floats, lower: Floats, upper: Floats, factor: float, most: float) -> Estimate:
    """Return parts times a factor above 0, the ends rounded outwards, from 0 to the factor times `most`."""
    top = most * factor
    middle, low, high = (np.minimum(part * factor, top) for part in (value, lower, upper))
    return Estimate(
        middle,
        np.where(low > 0.0, np.nextafter(low, 0.0), 0.0),
        np.minimum(np.nextafter(high, math.inf), top),
    )
