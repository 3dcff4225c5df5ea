"""Densities of the family, beside the definition in 50 digits."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf

from ggdp_reproduction.comparisons import densities_at_scale, densities_at_variance, paper_densities

ORDERS = [1.0, 1.5, 2.0, 3.0, 10.0, 50.0]
POINTS = [-3.0, -0.5, 0.0, 0.7, 2.0, 5.0]


def exact_density(p, b, x):
    with mp.workdps(50):
        p, b, x = mpf(p), mpf(b), mpf(x)
        return p / (2 * b * mpmath.gamma(1 / p)) * mpmath.exp(-((abs(x) / b) ** p))


@pytest.mark.parametrize("scale", [0.3, math.sqrt(2.0)])
def test_at_equal_scale_the_densities_are_the_definition(scale):
    found = densities_at_scale(ORDERS, POINTS, scale)
    for row, p in enumerate(ORDERS):
        for column, x in enumerate(POINTS):
            exact = exact_density(p, scale, x)
            assert abs(mpf(float(found.densities[row, column])) - exact) <= 1e-12 * exact + mpf(10) ** -300
    assert np.all(found.scales == scale)
    assert (found.shared, found.value) == ("scale", scale)


@pytest.mark.parametrize("variance", [0.04, 1.0, 9.0])
def test_at_equal_variance_the_scales_have_that_variance(variance):
    found = densities_at_variance(ORDERS, POINTS, variance)
    with mp.workdps(50):
        for p, b in zip(found.orders, found.scales, strict=True):
            exact = mpf(float(b)) ** 2 * mpmath.gamma(3 / mpf(float(p))) / mpmath.gamma(1 / mpf(float(p)))
            assert abs(exact - variance) <= 1e-14 * variance
    again = [densities_at_scale(p, POINTS, b).densities[0] for p, b in zip(found.orders, found.scales, strict=True)]
    assert np.array_equal(found.densities, np.array(again))


def test_laplace_and_gaussian_of_variance_one_are_the_usual_ones():
    found = densities_at_variance([1, 2], POINTS)
    x = np.array(POINTS)
    assert found.densities[0] == pytest.approx(np.exp(-np.sqrt(2) * np.abs(x)) / np.sqrt(2), rel=1e-14)
    assert found.densities[1] == pytest.approx(np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi), rel=1e-14)


def test_the_papers_figure_shows_what_its_text_says():
    scale, variance = paper_densities()
    assert np.all(scale.scales == math.sqrt(2.0))
    # "The distributions become less spread as p increases": at b the density falls ever later and steeper.
    beyond = scale.x > 2.0
    assert np.all(np.diff(scale.densities[:, beyond].sum(axis=1)) < 0.0)
    # "The Laplace distribution is the most likely to generate values that are close to the mean", then the Gaussian.
    middle = variance.densities[:, variance.x.size // 2]
    assert variance.x[variance.x.size // 2] == 0.0
    assert np.all(np.diff(middle) < 0.0)
