import math

import mpmath as mp
import numpy as np
import pytest

from ggdp.noise import GeneralizedGaussian, IntegerGeneralizedGaussian
from ggdp.planning import error_measures
from ggdp.planning.error_measures import expected_maximum


@pytest.mark.parametrize("cells", [1, 2, 10, 1000])
def test_laplace_has_the_harmonic_numbers(cells):
    harmonic = math.fsum(1 / k for k in range(1, cells + 1))
    assert expected_maximum(1.0, 3.0, cells, "real") == pytest.approx(3.0 * harmonic, rel=1e-12)


def test_laplace_over_more_cells_than_could_be_drawn():
    cells = 19_440_000_000_000
    assert expected_maximum(1.0, 1.0, cells, "real") == pytest.approx(math.log(cells) + np.euler_gamma, rel=1e-12)


def test_the_larger_of_two_gaussian_errors():
    # E max(|X|, |Y|) = 2 sigma / sqrt(pi), and sigma = b / sqrt(2).
    assert expected_maximum(2.0, math.sqrt(2.0), 2, "real") == pytest.approx(2.0 / math.sqrt(math.pi), rel=1e-12)


@pytest.mark.parametrize("order", [1.0, 1.3, 2.0, 7.5, 50.0])
def test_over_one_cell_it_is_the_mean_absolute_error(order):
    real, integer = GeneralizedGaussian(order=order, scale=2.5), IntegerGeneralizedGaussian(order=order, scale=2.5)
    assert expected_maximum(order, 2.5, 1, "real") == pytest.approx(real.mean_abs, rel=1e-12)
    assert expected_maximum(order, 2.5, 1, "integer") == pytest.approx(integer.mean_abs, rel=1e-12)


@pytest.mark.parametrize(("order", "cells"), [(1.3, 7), (4.0, 1000), (50.0, 100)])
def test_the_integral_agrees_with_mpmath(order, cells):
    with mp.workdps(25):
        p = mp.mpf(order)
        knots = [0, 0.25, 0.5, 0.75, 0.9, 1, 1.05, 1.1, 1.25, 1.5, 2, 3, 5, 8, 20]
        exact = mp.quad(lambda t: 1 - mp.gammainc(1 / p, 0, t**p, regularized=True) ** cells, knots)
    assert expected_maximum(order, 1.0, cells, "real") == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize(("order", "scale", "cells"), [(1.0, 0.9, 5), (3.0, 4.2, 1000), (50.0, 3.99, 20)])
def test_the_sum_over_the_integers_agrees_with_mpmath(order, scale, cells):
    with mp.workdps(25):
        weights = [mp.exp(-((mp.mpf(k) / scale) ** order)) for k in range(120)]
        total = weights[0] + 2 * mp.fsum(weights[1:])
        inside = [(weights[0] + 2 * mp.fsum(weights[1 : k + 1])) / total for k in range(119)]
        exact = mp.fsum(1 - one**cells for one in inside)
    assert expected_maximum(order, scale, cells, "integer") == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("order", [1.0, 2.0, 50.0])
def test_wide_noise_on_the_integers_passes_into_that_on_the_reals(order):
    scale = error_measures.WIDE
    summed = expected_maximum(order, scale, 1000, "integer")
    assert summed == pytest.approx(expected_maximum(order, math.nextafter(scale, math.inf), 1000, "integer"), rel=1e-6)


def test_more_cells_have_a_larger_error():
    errors = [expected_maximum(3.0, 1.0, cells, "real") for cells in (1, 10, 100, 10**6, 10**18)]
    assert errors == sorted(errors)
    assert errors[0] < errors[-1] < 4.0
