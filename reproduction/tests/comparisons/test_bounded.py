"""Errors of truncated and boundary-inflated noise over the true value, beside integrals of the definitions."""

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from tests.reference.fifty_digits import boundary_inflated_loss, survival, truncated_loss

from ggdp_reproduction.comparisons import bounded_errors


def weight(p, b, x):
    return mpmath.exp(-((abs(x) / b) ** p))


def exact_truncated(p, b, s, low, high):
    def moment(j):
        return mpmath.quad(lambda x: (x - s) ** j * weight(p, b, x - s), [low, s, high])

    mass = moment(0)
    return moment(1) / mass, moment(2) / mass


def exact_inflated(p, b, s, low, high):
    norm = 2 * b * mpmath.gamma(1 + 1 / p)
    atoms = (survival(p, (s - low) / b), low - s), (survival(p, (high - s) / b), high - s)

    def moment(j):
        inner = mpmath.quad(lambda x: (x - s) ** j * weight(p, b, x - s), [low, s, high]) / norm
        return inner + sum(mass * error**j for mass, error in atoms)

    return moment(1), moment(2)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.5])
def test_the_errors_are_those_of_the_laws_at_their_scales(order):
    places = [0.0, 1.25, 5.0, 10.0]
    found = bounded_errors(order, 1.0, (0.0, 10.0), location=places)
    for law, exact in ((found.truncated, exact_truncated), (found.boundary_inflated, exact_inflated)):
        for index, s in enumerate(places):
            with mp.workdps(30):
                bias, square = exact(mpf(order), mpf(law.scale), mpf(s), mpf(0), mpf(10))
                std, rmse = mpmath.sqrt(square - bias**2), mpmath.sqrt(square)
            assert float(law.bias[index]) == pytest.approx(float(bias), abs=1e-11)
            assert float(law.std[index]) == pytest.approx(float(std), rel=1e-11)
            assert float(law.rmse[index]) == pytest.approx(float(rmse), rel=1e-11)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
def test_both_scales_are_the_least_for_the_same_epsilon(order):
    found = bounded_errors(order, 0.8, (-2.0, 4.0), 1.5, location=[0.0])
    for b, loss in ((found.truncated.scale, truncated_loss), (found.boundary_inflated.scale, boundary_inflated_loss)):
        assert loss(order, b, 6.0, 1.5) <= 0.8 * (1 + 1e-12)
        assert loss(order, b * (1 - 1e-8), 6.0, 1.5) > 0.8


def test_neither_is_uniformly_better():
    found = bounded_errors(2, 1.0, (0.0, 10.0))
    assert found.rmse_ratio.min() < 1.0 < found.rmse_ratio.max()
    # Truncated noise is better in the middle, boundary-inflated noise at the ends.
    assert found.rmse_ratio[100] < 1.0 < found.rmse_ratio[0]


def test_the_errors_mirror_each_other_around_the_middle():
    found = bounded_errors(1.7, 0.5, (-3.0, 5.0), 2.0)
    for law in (found.truncated, found.boundary_inflated):
        assert law.bias == pytest.approx(-law.bias[::-1], abs=1e-12)
        assert law.rmse == pytest.approx(law.rmse[::-1], rel=1e-12)
        assert np.allclose(law.rmse**2, law.std**2 + law.bias**2, rtol=1e-12)
