"""The truncated law agrees with integrals in 50 digits, with its limits, and with its own quantiles."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

from ggdp.errors import ArgumentError
from ggdp.noise.bounded_law import TruncatedGeneralizedGaussian, largest_errors, truncated_moments
from ggdp.noise.generalized_gaussian import GeneralizedGaussian

REFERENCE = json.loads(
    Path(__file__).parents[1].joinpath("reference", "generalized_gaussian.json").read_text(encoding="utf-8")
)
MOMENTS = ("bias", "variance", "mean_squared_error", "mean_abs_error")


def law(row):
    return TruncatedGeneralizedGaussian(**{name: row[name] for name in ("order", "scale", "location", "bounds")})


def truncated(**changes):
    return TruncatedGeneralizedGaussian(**{"order": 3, "scale": 2.0, "location": 1.0, "bounds": (0.0, 10.0)} | changes)


@pytest.mark.parametrize(
    "row", REFERENCE["bounded"], ids=lambda row: f"{row['order']}-{row['location']:.6g}-{row['bounds'][1]:.6g}"
)
def test_moments_agree_with_fifty_digits(row):
    noisy, exact = law(row), row["truncated"]
    assert noisy.variance == pytest.approx(exact["variance"], rel=1e-13, abs=0)
    assert noisy.mean_squared_error == pytest.approx(exact["mean_squared_error"], rel=1e-13, abs=0)
    assert noisy.mean_abs_error == pytest.approx(exact["mean_abs_error"], rel=1e-13, abs=0)
    # In the middle the bias is the rounding of the location.
    assert noisy.bias == pytest.approx(exact["bias"], rel=1e-12, abs=1e-15 * exact["mean_abs_error"])
    assert noisy.std == pytest.approx(math.sqrt(exact["variance"]), rel=1e-13, abs=0)
    assert noisy.mean == row["location"] + noisy.bias


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 8.0, 1000.0])
def test_a_huge_scale_is_the_uniform_law(order):
    locations = np.array([2.0, 2.5, 5.0, 11.0, 12.0])
    for scale in (1e15, 1e200):
        moments = truncated_moments(order, scale, locations, (2.0, 12.0))
        np.testing.assert_allclose(moments.bias, 7.0 - locations, rtol=1e-13)
        np.testing.assert_allclose(moments.variance, 100.0 / 12.0, rtol=1e-13)
        noisy = TruncatedGeneralizedGaussian(order=order, scale=scale, location=5.0, bounds=(2.0, 12.0))
        x = np.array([2.0, 3.0, 4.9, 5.0, 8.0, 12.0])
        np.testing.assert_allclose(noisy.cdf(x), (x - 2.0) / 10.0, rtol=1e-13)
        np.testing.assert_allclose(noisy.ppf((x - 2.0) / 10.0), x, rtol=1e-13)
        np.testing.assert_allclose(noisy.pdf(x), 0.1, rtol=1e-13)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, 50.0])
def test_a_tiny_scale_is_the_law_on_the_reals(order):
    noise = GeneralizedGaussian(order=order, scale=1e-9)
    moments = truncated_moments(order, 1e-9, np.array([3.0, 0.0]), (0.0, 10.0))
    np.testing.assert_allclose(moments.std[0], noise.std, rtol=1e-14)
    np.testing.assert_allclose(moments.mean_abs_error, noise.mean_abs, rtol=1e-14)
    assert moments.bias[0] == 0.0
    # At the edge the law is one-sided.
    assert moments.bias[1] == pytest.approx(noise.mean_abs, rel=1e-14, abs=0)


def test_a_bias_far_below_the_error_keeps_its_digits():
    # Laplace, both bounds far out: the bias is the difference of (t + b) e^(-t/b) at the two distances, over 2.
    bias = truncated_moments(1, 1.0, 40.0, (0.0, 200.0)).bias
    assert bias == pytest.approx((41.0 * math.exp(-40.0) - 161.0 * math.exp(-160.0)) / 2.0, rel=1e-13, abs=0)


def test_order_one_at_the_edge_is_the_truncated_exponential_law():
    noisy = truncated(order=1, location=0.0)
    x = np.array([0.0, 1e-6, 1.0, 7.0, 9.999, 10.0])
    np.testing.assert_allclose(noisy.cdf(x), np.expm1(-x / 2.0) / math.expm1(-5.0), rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(noisy.pdf(x), np.exp(-x / 2.0) / (-2.0 * math.expm1(-5.0)), rtol=1e-14)
    assert noisy.mean == pytest.approx(2.0 - 10.0 * math.exp(-5.0) / -math.expm1(-5.0), rel=1e-14, abs=0)


def test_tails_inside_the_bounds_keep_their_digits():
    # Laplace of scale 1/8 in the middle of [0, 10]: what lies between a point and its bound, over the mass inside.
    noisy, x = truncated(order=1, scale=0.125, location=5.0), np.array([0.125, 1.0, 3.0, 4.5])
    share = (np.exp(-8.0 * (5.0 - x)) - math.exp(-40.0)) / (-2.0 * math.expm1(-40.0))
    np.testing.assert_allclose(noisy.cdf(x), share, rtol=1e-13)
    np.testing.assert_allclose(noisy.sf(10.0 - x), share, rtol=1e-13)
    np.testing.assert_allclose(noisy.ppf(share), x, rtol=1e-13)


@settings(deadline=None, max_examples=examples(50, 150))
@given(
    order=st.floats(1.0, 60.0),
    scale=st.floats(0.01, 1e6),
    place=st.floats(0.0, 1.0),
    q=st.floats(0.0, 1.0),
)
def test_quantiles_stay_inside_and_invert_the_distribution_function(order, scale, place, q):
    noisy = TruncatedGeneralizedGaussian(order=order, scale=scale, location=10.0 * place, bounds=(0.0, 10.0))
    x = noisy.ppf(q)
    assert 0.0 <= x <= 10.0
    # A quantile is a float: the probability may move by the density over a few ulps of the bounds.
    slack = 1e-13 + 1e-14 * noisy.pdf(x)
    assert noisy.cdf(x) == pytest.approx(q, rel=0, abs=slack)
    assert noisy.sf(x) == pytest.approx(1.0 - q, rel=0, abs=slack)


@pytest.mark.parametrize("location", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("scale", [1e-300, 1e-9, 2.0, 1e300])
def test_the_ends_of_the_law_are_the_bounds(location, scale):
    noisy = truncated(location=location, scale=scale)
    x = np.array([-np.inf, -1.0, 0.0, 10.0, 11.0, np.inf, np.nan])
    np.testing.assert_array_equal(noisy.cdf(x), [0.0, 0.0, 0.0, 1.0, 1.0, 1.0, np.nan])
    np.testing.assert_array_equal(noisy.sf(x), [1.0, 1.0, 1.0, 0.0, 0.0, 0.0, np.nan])
    np.testing.assert_array_equal(noisy.pdf(x)[[0, 1, 4, 5, 6]], [0.0, 0.0, 0.0, 0.0, np.nan])
    np.testing.assert_array_equal(
        noisy.ppf(np.array([0.0, 1.0, -0.1, 1.1, np.nan])), [0.0, 10.0, np.nan, np.nan, np.nan]
    )


def test_the_density_is_that_of_the_law_on_the_reals_over_the_mass_inside():
    noise, noisy, x = GeneralizedGaussian(order=3, scale=2.0, location=1.0), truncated(), np.linspace(0.0, 10.0, 21)
    mass = noise.cdf(10.0) - noise.cdf(0.0)
    np.testing.assert_allclose(noisy.pdf(x), noise.pdf(x) / mass, rtol=1e-13)
    np.testing.assert_allclose(noisy.logpdf(x), noise.logpdf(x) - math.log(mass), rtol=1e-13)


def test_moments_over_an_array_are_those_of_the_single_laws_and_mirror():
    locations = np.linspace(0.0, 10.0, 12).reshape(3, 4)
    moments = truncated_moments(1.5, 2.0, locations, (0.0, 10.0))
    for name in (*MOMENTS, "std"):
        assert getattr(moments, name).shape == (3, 4)
        assert getattr(moments, name)[1, 2] == getattr(truncated(order=1.5, location=locations[1, 2]), name)
    np.testing.assert_allclose(moments.bias, -moments.bias[::-1, ::-1], rtol=1e-12)
    assert truncated_moments(2, 1.0, np.array([]), (0.0, 1.0)).bias.shape == (0,)


@pytest.mark.parametrize("order", [1.0, 1.3, 2.0, 5.0, 50.0])
@pytest.mark.parametrize("scale", [0.003, 0.7, 4.0, 7.0, 300.0])
def test_the_worst_case_is_no_smaller_than_anywhere_on_a_fine_grid_and_not_larger_by_much(order, scale):
    worst = largest_errors(order, scale, (5.0, 15.0), "truncated")
    places = np.concatenate([np.linspace(0.0, 10.0, 20_001), np.linspace(0.0, min(10.0 * scale, 10.0), 20_001)])
    moments = truncated_moments(order, scale, 5.0 + places, (5.0, 15.0))
    for found, values in zip(worst, (moments.std, moments.mean_abs_error), strict=True):
        seen = np.max(values)
        assert seen * (1.0 - 1e-9) <= found <= seen * (1.0 + 1e-6)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"order": 0.5}, "order"),
        ({"scale": 0.0}, "scale"),
        ({"bounds": (10.0, 0.0)}, "bounds"),
        ({"bounds": (0.0, math.inf)}, "bounds"),
        ({"bounds": (-1e308, 1e308)}, "bounds"),
        ({"bounds": None}, "bounds"),
        ({"location": -0.1}, "location"),
        ({"location": 10.1}, "location"),
        ({"location": math.nan}, "location"),
    ],
)
def test_a_wrong_argument_is_named(changes, named):
    with pytest.raises(ArgumentError) as caught:
        truncated(**changes)
    assert caught.value.argument == named


def test_a_single_location_outside_is_refused_in_an_array():
    with pytest.raises(ArgumentError, match=r"^location = "):
        truncated_moments(2, 1.0, np.array([1.0, 10.5]), (0.0, 10.0))
    with pytest.raises(ArgumentError, match=r"^location = "):
        truncated_moments(2, 1.0, np.array([1.0, np.nan]), (0.0, 10.0))
