"""The generalized Gaussian law on the reals agrees with closed forms, 50-digit values and SciPy where it is right."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.cases import examples

from ggdp.errors import ArgumentError
from ggdp.noise.generalized_gaussian import GeneralizedGaussian

REFERENCE = json.loads(
    Path(__file__).parents[1].joinpath("reference", "generalized_gaussian.json").read_text(encoding="utf-8")
)
ORDERS = (0.3, 1.0, 1.5, 2.0, 3.0, 8.0, 50.0, 1000.0)
FUNCTIONS = ("pdf", "logpdf", "cdf", "sf", "logcdf", "logsf", "ppf", "isf", "half_width")
SMALLEST_NORMAL = np.finfo(float).tiny


def law(row):
    return GeneralizedGaussian(order=row["order"], scale=row["scale"])


@pytest.mark.parametrize("row", REFERENCE["tails"], ids=lambda row: f"{row['order']}-{row['x']:.6g}")
def test_tails_agree_with_fifty_digits(row):
    noise, x = law(row), row["x"]
    assert noise.logsf(x) == pytest.approx(row["logsf"], rel=2e-14, abs=0)
    assert noise.logcdf(-x) == pytest.approx(row["logsf"], rel=2e-14, abs=0)
    assert noise.logcdf(x) == pytest.approx(row["logcdf"], rel=4e-13, abs=1e-320)
    assert noise.logpdf(x) == pytest.approx(row["logpdf"], rel=1e-14, abs=1e-15)
    if row["sf"] > SMALLEST_NORMAL:
        assert noise.sf(x) == pytest.approx(row["sf"], rel=4e-13, abs=0)
        assert noise.cdf(-x) == noise.sf(x)
        assert noise.sf(-x) == pytest.approx(1.0 - row["sf"], rel=4e-15, abs=0)


def test_the_reference_reaches_beyond_the_smallest_float():
    assert {row["order"] for row in REFERENCE["tails"] if row["sf"] == 0.0} >= set(ORDERS)
    assert any(0.0 < row["sf"] < 1e-297 for row in REFERENCE["tails"])


@pytest.mark.parametrize("row", REFERENCE["quantiles"], ids=lambda row: f"{row['order']}-{row['q']}")
def test_quantiles_agree_with_fifty_digits(row):
    noise, q = law(row), row["q"]
    assert noise.isf(q) == pytest.approx(row["isf"], rel=1e-14, abs=0)
    assert noise.ppf(q) == -noise.isf(q)
    if q > 1e-3:
        assert noise.half_width(1.0 - 2.0 * q) == pytest.approx(row["isf"], rel=1e-13, abs=0)


@pytest.mark.parametrize("order", ORDERS)
def test_agrees_with_scipy_where_scipy_is_accurate(order):
    noise, other = GeneralizedGaussian(order=order, scale=2.5, location=-1.0), stats.gennorm(order, -1.0, 2.5)
    q = np.array([1e-10, 1e-3, 0.1, 0.3, 0.45, 0.5, 0.6, 0.9, 0.999])
    x = noise.ppf(q)
    np.testing.assert_allclose(noise.cdf(x), q, rtol=1e-12)
    np.testing.assert_allclose(noise.pdf(x), other.pdf(x), rtol=2e-11)
    np.testing.assert_allclose(noise.logpdf(x), other.logpdf(x), rtol=1e-11)
    assert noise.variance == pytest.approx(other.var(), rel=1e-12, abs=0)
    assert noise.std == pytest.approx(other.std(), rel=1e-12, abs=0)
    assert noise.mean == other.mean() == -1.0
    assert noise.entropy == pytest.approx(float(other.entropy()), rel=1e-12, abs=0)
    if order < 100.0:
        # Above, SciPy's |x|^p underflows in the middle and takes the whole probability with it.
        np.testing.assert_allclose(noise.cdf(x), other.cdf(x), rtol=1e-11)
        np.testing.assert_allclose(noise.isf(q), other.isf(q), rtol=1e-10, atol=1e-15)


def test_order_one_is_laplace():
    noise, x = GeneralizedGaussian(order=1, scale=2.0), np.array([0.0, 1e-20, 0.25, 3.0, 100.0, 1400.0])
    np.testing.assert_allclose(noise.sf(x), np.exp(-x / 2.0) / 2.0, rtol=2e-13)
    np.testing.assert_allclose(noise.logsf(1e12 * x), -1e12 * x / 2.0 - math.log(2.0), rtol=1e-15)
    np.testing.assert_allclose(noise.half_width(-np.expm1(-x[:4] / 2.0)), x[:4], rtol=1e-14)
    assert (noise.mean_abs, noise.variance) == (2.0, 8.0)
    assert noise.entropy == pytest.approx(1.0 + math.log(4.0), rel=1e-15, abs=0)


def test_order_two_is_gaussian():
    noise, x = GeneralizedGaussian(order=2, scale=math.sqrt(2.0) * 3.0), np.linspace(-100.0, 100.0, 41)
    np.testing.assert_allclose(noise.sf(x), stats.norm.sf(x, scale=3.0), rtol=4e-13)
    np.testing.assert_allclose(noise.logsf(1e6 * x[x > 0.0]), stats.norm.logsf(1e6 * x[x > 0.0], scale=3.0), rtol=1e-14)
    assert noise.std == pytest.approx(3.0, rel=1e-15, abs=0)
    assert noise.mean_abs == pytest.approx(3.0 * math.sqrt(2.0 / math.pi), rel=1e-15, abs=0)


def test_a_huge_order_is_uniform():
    noise = GeneralizedGaussian(order=1e8, scale=4.0)
    x = np.array([-4.1, -3.0, -1e-9, 0.0, 2.0, 3.9, 4.1])
    np.testing.assert_allclose(noise.cdf(x), np.clip((x + 4.0) / 8.0, 0.0, 1.0), rtol=1e-7)
    np.testing.assert_allclose(noise.ppf(np.array([0.125, 0.5, 0.75])), [-3.0, 0.0, 2.0], rtol=1e-7)
    np.testing.assert_allclose(noise.half_width(np.array([1e-300, 0.25])), [4e-300, 1.0], rtol=1e-7)
    assert noise.variance == pytest.approx(16.0 / 3.0, rel=1e-7, abs=0)


def test_a_tiny_order_keeps_its_logarithms_when_moments_overflow():
    noise = GeneralizedGaussian(order=0.005, scale=1.0)
    assert noise.variance == math.inf
    assert noise.entropy == pytest.approx(200.0 + math.log(2.0) + math.lgamma(201.0), rel=1e-14, abs=0)
    assert noise.sf(1.0) == pytest.approx(0.5, rel=1e-15, abs=0)
    assert GeneralizedGaussian(order=0.02, scale=1.0).variance == pytest.approx(
        math.exp(math.lgamma(150.0) - math.lgamma(50.0)), rel=1e-12, abs=0
    )


@pytest.mark.parametrize("order", [0.1, 1.0, 2.0, 1000.0])
def test_the_ends_and_nan_are_answers_without_warnings(order):
    noise = GeneralizedGaussian(order=order, scale=1.0)
    ends = np.array([-np.inf, np.inf, np.nan])
    np.testing.assert_array_equal(noise.pdf(ends), [0.0, 0.0, np.nan])
    np.testing.assert_array_equal(noise.logpdf(ends), [-np.inf, -np.inf, np.nan])
    np.testing.assert_array_equal(noise.cdf(ends), [0.0, 1.0, np.nan])
    np.testing.assert_array_equal(noise.sf(ends), [1.0, 0.0, np.nan])
    np.testing.assert_array_equal(noise.logcdf(ends), [-np.inf, 0.0, np.nan])
    np.testing.assert_array_equal(noise.logsf(ends), [0.0, -np.inf, np.nan])
    levels = np.array([0.0, 0.5, 1.0])
    np.testing.assert_array_equal(noise.ppf(levels), [-np.inf, 0.0, np.inf])
    np.testing.assert_array_equal(noise.isf(levels), [np.inf, 0.0, -np.inf])
    np.testing.assert_array_equal(noise.half_width(levels)[[0, 2]], [0.0, np.inf])


@pytest.mark.parametrize("level", [-0.1, 2.0, math.nan, np.array([0.5, 1.5])])
def test_a_level_outside_the_unit_interval_is_refused(level):
    noise = GeneralizedGaussian(order=3, scale=1.0)
    for quantile, name in ((noise.ppf, "q"), (noise.isf, "q"), (noise.half_width, "level")):
        with pytest.raises(ArgumentError, match=f"{name} = .*at least 0 and at most 1"):
            quantile(level)


@pytest.mark.parametrize(("n", "x"), [(20, 25.0), (20, 600.0), (20, 800.0), (20, 1e6), (100, 900.0), (100, 1150.0)])
def test_an_order_of_one_over_a_whole_number_has_a_finite_sum(n, x):
    # Q(n, x) = e^-x (1 + x + ... + x^(n-1) / (n-1)!), within reach of floats and far below them.
    noise = GeneralizedGaussian(order=1.0 / n, scale=1.0)
    terms = [k * math.log(x) - math.lgamma(k + 1.0) for k in range(n)]
    exact = max(terms) - x - math.log(2.0) + math.log(sum(math.exp(term - max(terms)) for term in terms))
    assert noise.logsf(x**n) == pytest.approx(exact, rel=2e-14, abs=0)


def test_a_power_above_all_floats_has_probability_zero():
    noise = GeneralizedGaussian(order=1000, scale=1.0)
    assert (noise.pdf(1e3), noise.sf(1e3), noise.logsf(1e3)) == (0.0, 0.0, -math.inf)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_shapes_are_kept_and_a_number_gives_a_float(name):
    function = getattr(GeneralizedGaussian(order=3, scale=1.0), name)
    assert type(function(0.25)) is float
    assert type(function(np.float64(0.25))) is float
    assert function(np.array([])).shape == (0,)
    grid = np.full((2, 3), 0.25)
    assert function(grid).shape == (2, 3)
    assert function(grid)[1, 2] == function(0.25)
    assert grid[0, 0] == 0.25


@settings(deadline=None, max_examples=examples(50, 150))
@given(
    order=st.floats(0.1, 1000.0),
    scale=st.floats(1e-9, 1e12),
    q=st.floats(1e-300, 0.5, exclude_max=True),
)
def test_isf_inverts_logsf(order, scale, q):
    noise = GeneralizedGaussian(order=order, scale=scale)
    x = noise.isf(q)
    # One ulp of x moves the logarithm of the tail by order * (x / scale)^order ulps and less.
    slack = 4.0 * np.finfo(float).eps * (order * (x / scale) ** order + 1.0) + 1e-12
    assert noise.logsf(x) == pytest.approx(math.log(q), rel=0, abs=slack)


@settings(deadline=None, max_examples=examples(33, 100))
@given(
    order=st.floats(0.1, 1000.0),
    location=st.floats(-1e3, 1e3),
    steps=st.lists(st.floats(-5.0, 5.0), min_size=2, max_size=8),
)
def test_the_distribution_function_rises_and_complements(order, location, steps):
    noise = GeneralizedGaussian(order=order, scale=2.0, location=location)
    x = location + np.sort(np.array(steps))
    cdf = noise.cdf(x)
    assert np.all(np.diff(cdf) >= -1e-15)
    np.testing.assert_allclose(cdf + noise.sf(x), 1.0, rtol=0, atol=3e-16)
    np.testing.assert_array_equal(noise.pdf(x), np.exp(noise.logpdf(x)))


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"order": 0.0, "scale": 1.0}, "order"),
        ({"order": -2.0, "scale": 1.0}, "order"),
        ({"order": math.inf, "scale": 1.0}, "order"),
        ({"order": 2.0, "scale": 0.0}, "scale"),
        ({"order": 2.0, "scale": math.nan}, "scale"),
        ({"order": 2.0, "scale": "1"}, "scale"),
        ({"order": 2.0, "scale": 1.0, "location": math.inf}, "location"),
    ],
)
def test_a_wrong_argument_is_named(arguments, named):
    with pytest.raises(ArgumentError, match=f"^{named} = ") as caught:
        GeneralizedGaussian(**arguments)
    assert caught.value.argument == named


def test_a_law_is_a_frozen_value_with_words_for_arguments():
    assert GeneralizedGaussian(order=2, scale=1) == GeneralizedGaussian(order=2.0, scale=1.0, location=0.0)
    with pytest.raises(AttributeError):
        GeneralizedGaussian(order=2, scale=1).scale = 3.0
    with pytest.raises(TypeError):
        GeneralizedGaussian(2, 1)
