"""The numbers of the page on means, sums and variances."""

import math

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import brentq
from scipy.special import ndtri

import ggdp
from ggdp.tables.statistics.estimates import MEAN_SHARE, ColumnSums, variance_parts
from ggdp.tables.statistics.sum_groups import _ROUNDED, STEPS_OF_A_UNIT
from ggdp.tables.statistics.weighted_noise import WeightedNoise

PAGES = ["explanation/theory/statistics.md"]


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


def usual_variance(mean, variance):
    """Variance of a variance from thirds of epsilon 1: a count, a centred sum and a centred sum of squares."""
    from_middle = mean - 0.5
    weights = (from_middle**2 - variance + 0.125, -2.0 * from_middle, 1.0)
    return sum(2.0 * (3.0 * moved * weight) ** 2 for moved, weight in zip((1.0, 0.5, 0.125), weights, strict=True))


def variance_from_a_triple(mean, variance):
    weights = (mean**2 - variance, mean**2 - mean - variance, (1.0 - mean) ** 2 - variance)
    return sum(2.0 * weight**2 for weight in weights)


def test_counts_and_variances_beside_the_usual_way(says):
    # Three sums, against one with half of epsilon.
    says("statistics-ratio-count", 3 * 2.0 / (2.0 * 2.0**2))
    # The sum with a third of epsilon, in the middle of the range.
    says("statistics-ratio-triple", 2.0 * (0.5**2 + 0.5**2) / (2.0 * (3.0 * 0.5) ** 2))
    for mark, variance in (("statistics-ratio-variance-none", 0.0), ("statistics-ratio-variance", 1.0 / 12.0)):
        says(mark, variance_from_a_triple(0.5, variance) / usual_variance(0.5, variance))
    assert variance_from_a_triple(0.5, 0.0) == pytest.approx(0.375)
    assert usual_variance(0.5, 0.0) == pytest.approx(0.5625)
    assert usual_variance(0.5, 1.0 / 12.0) == pytest.approx(0.3125)


def test_ratios_of_variances_are_what_released_sums_show():
    """The errors of counts and means of a released table, beside the formulas of the page."""
    n, cells = 400, 2000
    rows = pa.table({"cell": np.repeat(np.arange(cells), n), "value": np.tile(np.arange(n) % 2, cells) * 60 + 20})
    domain = ggdp.Domain({"cell": list(range(cells)), "value": {"range": [0, 100], "step": 1}})
    release = ggdp.release_table(
        rows, "cell", ggdp.PureDP(1.0), domain, statistics=ggdp.Mean("value"), rng=ggdp.SeededSource(seed=3)
    )
    table = release.to_arrow().to_pydict()
    count, mean = (np.array(table[name], dtype=float) for name in ("count", "mean_value"))
    # A standard deviation of squared Laplace noise is sqrt(5) times its mean: 5 % at 2,000 cells.
    assert np.mean((count - n) ** 2) == pytest.approx(6.0, rel=0.25)
    assert np.mean(((mean - 50.0) / 100.0 * n) ** 2) == pytest.approx(1.0, rel=0.25)


def test_how_often_intervals_of_variances_cover(says):
    # Means and variances of incomes as parts of their range, Laplace noise at epsilon 1.
    mean, variance, units = 0.33, 0.026, 100
    second = mean**2 + variance
    sums = units * STEPS_OF_A_UNIT * np.array([0.0, 1.0 - 2.0 * mean + second, 2.0 * (mean - second), second])
    noisy = sums + np.random.default_rng(1).laplace(0.0, STEPS_OF_A_UNIT, (20_000, 4))
    noise = WeightedNoise(order=1, scale=float(STEPS_OF_A_UNIT))
    _, lower, upper = variance_parts(ColumnSums(sums=noisy, unit=STEPS_OF_A_UNIT), noise, 0.95)
    says("statistics-variance-cover", 100.0 * np.mean((lower <= variance) & (variance <= upper)))


def test_two_steps_more_of_a_triple(says):
    says("statistics-rounding", 100.0 * _ROUNDED / STEPS_OF_A_UNIT)


def test_gaussian_noise_does_not_see_the_pair_rotated():
    t = np.linspace(0.0, 1.0, 11)
    rotation = np.array([[1.0, 1.0], [-1.0, 1.0]]) / math.sqrt(2.0)
    assert rotation @ rotation.T == pytest.approx(np.eye(2))
    usual = np.stack([np.full_like(t, 1.0 / math.sqrt(2.0)), math.sqrt(2.0) * (t - 0.5)])
    assert rotation @ np.stack([1.0 - t, t]) == pytest.approx(usual)


def test_the_levels_of_the_two_tests_of_a_variance(says):
    says("statistics-mean-level", 100.0 - 5.0 * MEAN_SHARE)
    says("statistics-variance-level", 100.0 - 5.0 * (1.0 - MEAN_SHARE))
