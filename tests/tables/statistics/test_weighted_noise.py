"""Quantiles of weighted noise against closed forms and sums by brute force."""

import math
import subprocess
import sys
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy.special import gammaincc, gammaln, ndtri
from tests.cases import some

from ggdp.errors import ArgumentError
from ggdp.tables.statistics.weighted_noise import MARGIN, WeightedNoise, _shares, standard_half_widths

LEVELS = (0.9, 0.95, 0.99718)
ORDERS = (1.0, 1.1, 1.5, 2.0, 2.5, 3.0, 5.0, 10.0, 100.0)
# Every time the first of these orders, with three coordinates or the first level, and the second with the others.
FIRST, SECOND = (1.0, 3.0, 100.0), (1.5, 2.0, 10.0)


def quantile(order, level, *weights):
    return float(standard_half_widths(order, level, np.array([weights]))[0])


def assert_just_above(found, exact):
    assert exact < found < exact * (1.0 + 2.0 * MARGIN)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("weights", [(1.0,), (3.0, -4.0), (0.1, 0.2, 0.3), (1.0,) * 16])
def test_gaussian_noise_has_the_quantiles_of_its_variance(weights, level):
    exact = math.sqrt(0.5 * sum(w * w for w in weights)) * ndtri(0.5 + 0.5 * level)
    assert_just_above(quantile(2.0, level, *weights), exact)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("weights", [(1.0, 0.5), (1.0, -0.01), (0.3, 7.0), (1.0, 0.9, 0.2), (4.0, 3.0, 2.0, 1.0)])
def test_laplace_noise_has_the_quantiles_of_its_partial_fractions(weights, level):
    w = np.abs(np.array(weights))

    def tail(x):
        others = [np.prod([a * a / (a * a - c * c) for c in w if c != a]) for a in w]
        return float(np.sum(others * np.exp(-x / w)))

    found = quantile(1.0, level, *weights)
    assert tail(found) < 1.0 - level < tail(found / (1.0 + 2.0 * MARGIN))


def test_sixteen_laplace_variables_are_the_difference_of_two_gamma_variables():
    y = np.linspace(0.0, 120.0, 600_001)
    density = np.exp(15 * np.log(np.maximum(y, 1e-300)) - y - gammaln(16))

    def tail(x):
        return 2.0 * np.sum(density * gammaincc(16, x + y)) * (y[1] - y[0])

    found = quantile(1.0, 0.95, *(1.0,) * 16)
    assert tail(found) < 0.05 < tail(found / (1.0 + 2.0 * MARGIN))


@pytest.mark.parametrize(
    ("order", "weight"), some([(1.5, 0.6), (3.0, 0.6), (3.0, 1.0), (1.2, 0.05)], lambda p, w: p != 1.5 and w < 1.0)
)
def test_two_variables_have_the_quantiles_of_their_convolution_in_thirty_digits(order, weight):
    found = quantile(order, 0.95, 1.0, weight)
    with mpmath.workdps(30):
        p, w = mpmath.mpf(order), mpmath.mpf(weight)

        def survival(z):
            half = mpmath.gammainc(1 / p, abs(z) ** p, regularized=True) / 2
            return half if z >= 0 else 1 - half

        def tail(x):
            def both(y):
                return mpmath.exp(-(y**p)) * (survival(x - w * y) + survival(x + w * y))

            far = mpmath.mpf(45) ** (1 / p)
            points = sorted({mpmath.mpf(0), far / 64, far / 8, far / 3, min(x / w, far), far})
            return mpmath.quad(both, points) / mpmath.gamma(1 + 1 / p)

        assert tail(mpmath.mpf(found)) < 0.05 < tail(mpmath.mpf(found) / (1 + 2 * MARGIN))


@pytest.mark.parametrize("order", some([1.5, 3.0, 8.0], lambda order: order != 3.0))
def test_three_variables_have_the_quantiles_of_their_convolution(order):
    found = quantile(order, 0.95, 1.0, 0.8, -0.5)
    end = 40.0 ** (1.0 / order)
    nodes, shares = np.polynomial.legendre.leggauss(20)
    edges = np.concatenate([-end * np.linspace(1.0, 0.0, 24) ** 2, end * np.linspace(0.0, 1.0, 24)[1:] ** 2])
    y = (edges[:-1, None] + np.diff(edges)[:, None] * (0.5 + 0.5 * nodes)).reshape(-1)
    f = (np.diff(edges)[:, None] * shares * 0.5).reshape(-1) * np.exp(-(np.abs(y) ** order))
    f /= f.sum()

    def tail(x):
        z = x - 0.8 * y[:, None] + 0.5 * y
        half = 0.5 * gammaincc(1.0 / order, np.abs(z) ** order)
        return 2.0 * float(f @ np.where(z < 0.0, 1.0 - half, half) @ f)

    assert tail(found) < 0.05 < tail(found / (1.0 + 2.0 * MARGIN))


@pytest.mark.parametrize(
    ("coordinates", "order"),
    some(product([2, 3], ORDERS), lambda number, order: order in (FIRST if number == 3 else SECOND)),
)
def test_tables_of_many_weights_are_those_of_single_ones_from_above(order, coordinates):
    weights = np.random.default_rng(7).uniform(-1.0, 1.0, (400, coordinates))
    weights[:20, 0] = 0.0
    weights[20:40, 1] = weights[20:40, 0]
    many = standard_half_widths(order, 0.95, weights)
    # One where the first weight is 0, one where two are equal, and others.
    some_rows = np.concatenate([np.arange(k, k + 10) for k in (10, 30, 50, 70)])
    single = np.concatenate(
        [standard_half_widths(order, 0.95, block) for block in weights[some_rows].reshape(4, 10, -1)]
    )
    assert np.all(many[some_rows] >= single * (1.0 - MARGIN / 2.0))
    # Beyond order 10 the quantiles bend more sharply than a table for three weights can follow.
    assert np.all(many[some_rows] <= single * (1.0 + (4.0 * MARGIN if order <= 5.0 else 2e-4)))


@pytest.mark.parametrize(
    ("order", "level"),
    some(product(ORDERS, LEVELS[1:]), lambda order, level: order in (FIRST if level == LEVELS[1] else SECOND)),
)
def test_half_widths_are_convex_along_the_lines_of_means_and_variances(order, level):
    noise = WeightedNoise(order=order, scale=1.0)
    lines = [([0.0, 1.0], [-1.0, 0.0]), ([0.0, 0.5, 1.0], [-1.0, -0.5, 0.0])]
    lines += [([m * m, m * m - m, (1 - m) ** 2], [m * m - 1, m * m - m - 1, (1 - m) ** 2 - 1]) for m in (0.1, 0.5)]
    for start, end in lines:
        widths = noise.along(np.array(start), np.array(end), np.linspace(0.0, 1.0, 129), level)
        assert np.diff(widths, 2).min() > -1e-9 * widths[0]


@pytest.mark.parametrize("order", [101.0, 1000.0, 1e6])
def test_large_orders_are_bounded_and_close_to_uniform_noise(order):
    # Two uniform variables on [-1, 1] with weights 1 - m and m, from the area of a corner.
    for m in (0.1, 0.3, 0.5):
        uniform = 1.0 - math.sqrt(0.2 * m * (1.0 - m))
        found = quantile(order, 0.95, 1.0 - m, m)
        assert 1.0 - 1.0 / order < found / uniform < 1.01


def test_weights_of_zero_have_no_noise_and_steps_are_added():
    noise = WeightedNoise(order=2, scale=1000.0)
    assert noise.half_widths([[0.0, 0.0], [0.0, 1.0]])[0] == 0.0
    exact = 1000.0 * ndtri(0.975) / math.sqrt(2.0)
    assert exact + 1.0 < noise.half_widths([0.0, 1.0]) < exact + 1.01


@pytest.mark.parametrize("level", [0.0, 0.49, 1.0, math.nan])
def test_levels_out_of_reach_are_refused(level):
    with pytest.raises(ArgumentError, match="level"):
        WeightedNoise(order=2, scale=1000.0).half_widths([1.0], level)


def test_scipy_is_loaded_when_it_is_used():
    code = (
        "import importlib, sys, types; import ggdp; before = 'scipy' in sys.modules; "
        "import ggdp.tables.statistics.margins; assert ('scipy' in sys.modules) == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("count", [17, 41])
def test_interpolation_is_exact_for_polynomials_of_its_degree(count):
    nodes, places = 0.5 + 0.5 * np.polynomial.chebyshev.chebpts1(count), np.linspace(0.0, 1.0, 77)
    shares = _shares(nodes, places)
    for degree in (0, 1, count // 2, count - 1):
        values = np.polynomial.chebyshev.chebval(2.0 * nodes - 1.0, [0.0] * degree + [1.0])
        expected = np.polynomial.chebyshev.chebval(2.0 * places - 1.0, [0.0] * degree + [1.0])
        assert shares @ values == pytest.approx(expected, abs=1e-12)
    higher = 2.0 ** -np.arange(count + 1.0)[::-1]
    values = np.polynomial.chebyshev.chebval(2.0 * nodes - 1.0, higher)
    expected = np.polynomial.chebyshev.chebval(2.0 * places - 1.0, higher)
    assert np.abs(shares @ values - expected).max() > 0.5
