"""The numbers of the page on means, sums and variances."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ndtri

from ggdp.tables.statistics.variances import MEAN_SHARE

PAGES = ["theory/statistics.md"]


def test_every_number_on_the_page_has_a_test(untested):
    assert untested == set()


def test_quantiles_of_weighted_noise(says):
    def tail(x):
        """P(|K_1 + K_2 / 2| > x) of Laplace noise, by partial fractions."""
        return (math.exp(-x) - math.exp(-2.0 * x) / 4.0) / 0.75

    says("statistics-laplace-weights", brentq(lambda x: tail(x) - 0.05, 1.0, 9.0))
    says("statistics-gaussian-weights", ndtri(0.975) * math.sqrt(1.25 / 2.0))
    says("statistics-large-orders", 100.0 * (1.0 / math.gamma(1.01) - 1.0))


def ratio(mean, *, centre):
    """Variance of the mean from a pair over that of the usual way, to first order in the noise, at epsilon 1."""
    ours = 2.0 * (1.0 - mean) ** 2 + 2.0 * mean**2
    # A Laplace variable of scale s has the variance 2 s^2; each of the two has half of epsilon.
    count, total = 2.0 * 2.0**2, 2.0 * (2.0 * max(centre, 1.0 - centre)) ** 2
    return ours / (total + (mean - centre) ** 2 * count)


def test_means_have_half_the_squared_error_of_the_usual_way(says):
    for mean in np.linspace(0.0, 1.0, 11):
        says("statistics-ratio", ratio(mean, centre=0.5))
        assert ratio(mean, centre=0.5) == pytest.approx(0.5)
    says("statistics-ratio-uncentred", ratio(0.5, centre=0.0))


def test_the_levels_of_the_two_tests_of_a_variance(says):
    says("statistics-mean-level", 100.0 - 5.0 * MEAN_SHARE)
    says("statistics-variance-level", 100.0 - 5.0 * (1.0 - MEAN_SHARE))
