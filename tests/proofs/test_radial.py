"""The direction-free bound against its closed form in 50 digits."""

from __future__ import annotations

import mpmath
import pytest
from tests.flat import delta_of_radial


def exact_bound(order: float, scale: float, sensitivity: float, dimension: int, epsilon: float) -> mpmath.mpf:
    with mpmath.workdps(50):
        p, t = mpmath.mpf(order), mpmath.mpf(sensitivity) / mpmath.mpf(scale)
        low, high = mpmath.mpf(0), mpmath.mpf(1)
        while (high + t) ** p - high**p < epsilon:
            high *= 2
        for _ in range(300):
            middle = (low + high) / 2
            low, high = (middle, high) if (middle + t) ** p - middle**p < epsilon else (low, middle)
        return mpmath.gammainc(mpmath.mpf(dimension) / p, low**p, mpmath.inf, regularized=True)


@pytest.mark.parametrize("order", [1.3, 2.0, 3.0, 7.3, 50.0])
@pytest.mark.parametrize(("dimension", "epsilon", "ratio"), [(1, 1.0, 0.2), (3, 0.1, 0.03), (200, 5.0, 0.3)])
def test_enclosure_holds_the_exact_bound_and_is_narrow(
    order: float, dimension: int, epsilon: float, ratio: float
) -> None:
    exact = exact_bound(order, 1.0, ratio, dimension, epsilon)
    found = delta_of_radial(order=order, scale=1.0, sensitivity=ratio, dimension=dimension, epsilon=epsilon)
    assert found.lower <= exact <= found.upper
    assert found.upper - found.lower <= 1e-10 * found.upper + 1e-300


def test_bound_is_one_where_the_move_alone_reaches_epsilon() -> None:
    assert delta_of_radial(order=3, scale=1.0, sensitivity=1.0, dimension=4, epsilon=1.0).upper == 1.0


def test_bound_is_the_two_sided_tail_in_one_gaussian_dimension() -> None:
    d = mpmath.mpf(1) / 3
    exact = mpmath.erfc((1 - d * d) / (2 * d))
    found = delta_of_radial(order=2, scale=3.0, sensitivity=1.0, dimension=1, epsilon=1.0)
    assert found.lower <= exact <= found.upper
