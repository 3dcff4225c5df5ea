import math

import numpy as np
import pytest

from ggdp.distributions.integer_bounded import worst_case


def enumerated(order, scale, width, bounding):
    """The errors at every true value, from the definition of the law."""
    far = 60 * math.ceil(scale) + width
    deviations, absolutes = [], []
    for s in range(width + 1):
        if bounding == "truncated":
            x = np.arange(width + 1)
            weights = np.exp(-((np.abs(x - s) / scale) ** order))
        else:
            k = np.arange(-far, far + 1)
            weights = np.exp(-((np.abs(k) / scale) ** order))
            x = np.clip(s + k, 0, width)
        weights = weights / weights.sum()
        mean = np.sum(weights * x)
        deviations.append(math.sqrt(np.sum(weights * (x - mean) ** 2)))
        absolutes.append(np.sum(weights * np.abs(x - s)))
    return max(deviations), max(absolutes)


@pytest.mark.parametrize("bounding", ["truncated", "boundary-inflated"])
@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0, 8.0])
@pytest.mark.parametrize(("scale", "width"), [(0.5, 10), (3.0, 10), (20.0, 10), (2.0, 1)])
def test_the_worst_errors_are_those_of_the_enumerated_law(bounding, order, scale, width):
    found = worst_case(order, scale, (5, 5 + width), bounding)
    deviation, absolute = enumerated(order, scale, width, bounding)
    assert found.std == pytest.approx(deviation, rel=1e-9)
    assert found.mean_abs_error == pytest.approx(absolute, rel=1e-9)


@pytest.mark.parametrize("bounding", ["truncated", "boundary-inflated"])
def test_very_wide_bounds_are_those_of_the_real_law(bounding):
    wide = worst_case(2.0, 1e6, (0, 10_000_000), bounding)
    less_wide = worst_case(2.0, 1e6, (0, 3_900_000), bounding)
    assert wide.std == pytest.approx(1e6 / math.sqrt(2.0), rel=1e-3)
    assert less_wide.mean_abs_error <= wide.mean_abs_error * (1 + 1e-3)
