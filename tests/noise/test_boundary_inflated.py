"""The boundary-inflated law agrees with integrals in 50 digits, with its limits and with a clamped law on the reals."""

import json
import math
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

from ggdp.errors import ArgumentError
from ggdp.noise.bounded_law import (
    BoundaryInflatedGeneralizedGaussian,
    boundary_inflated_moments,
    largest_errors,
)
from ggdp.noise.generalized_gaussian import GeneralizedGaussian

REFERENCE = json.loads(
    Path(__file__).parents[1].joinpath("reference", "generalized_gaussian.json").read_text(encoding="utf-8")
)
MOMENTS = ("bias", "variance", "mean_squared_error", "mean_abs_error")


def law(row):
    return BoundaryInflatedGeneralizedGaussian(**{name: row[name] for name in ("order", "scale", "location", "bounds")})


def inflated(**changes):
    arguments = {"order": 3, "scale": 2.0, "location": 1.0, "bounds": (0.0, 10.0)}
    return BoundaryInflatedGeneralizedGaussian(**arguments | changes)


@pytest.mark.parametrize(
    "row", REFERENCE["bounded"], ids=lambda row: f"{row['order']}-{row['location']:.6g}-{row['bounds'][1]:.6g}"
)
def test_moments_and_atoms_agree_with_fifty_digits(row):
    noisy, exact = law(row), row["boundary_inflated"]
    assert noisy.variance == pytest.approx(exact["variance"], rel=1e-13, abs=0)
    assert noisy.mean_squared_error == pytest.approx(exact["mean_squared_error"], rel=1e-13, abs=0)
    assert noisy.mean_abs_error == pytest.approx(exact["mean_abs_error"], rel=1e-13, abs=0)
    # In the middle the bias is the rounding of the location.
    assert noisy.bias == pytest.approx(exact["bias"], rel=1e-12, abs=1e-15 * exact["mean_abs_error"])
    assert noisy.std == pytest.approx(math.sqrt(exact["variance"]), rel=1e-13, abs=0)
    assert noisy.mean == row["location"] + noisy.bias
    if min(row["atoms"]) > 1e-300:
        assert noisy.lower_atom == pytest.approx(row["atoms"][0], rel=1e-12, abs=0)
        assert noisy.upper_atom == pytest.approx(row["atoms"][1], rel=1e-12, abs=0)


@pytest.mark.parametrize("order", [1.0, 2.0, 8.0, 1000.0])
def test_a_huge_scale_is_a_coin_between_the_bounds(order):
    locations = np.array([2.0, 2.5, 7.0, 12.0])
    for scale in (1e16, 1e200):
        moments = boundary_inflated_moments(order, scale, locations, (2.0, 12.0))
        np.testing.assert_allclose(moments.bias, 7.0 - locations, rtol=1e-14)
        np.testing.assert_allclose(moments.variance, 25.0, rtol=1e-13)
        np.testing.assert_allclose(moments.mean_abs_error, 5.0, rtol=1e-14)


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, 50.0])
@pytest.mark.parametrize("scale", [1e-9, 1e-300])
def test_a_tiny_scale_is_the_law_on_the_reals(order, scale):
    noise = GeneralizedGaussian(order=order, scale=scale)
    moments = boundary_inflated_moments(order, scale, np.array([3.0, 0.0]), (0.0, 10.0))
    np.testing.assert_allclose(moments.variance[0], noise.variance, rtol=1e-14)
    np.testing.assert_allclose(moments.mean_abs_error, [noise.mean_abs, noise.mean_abs / 2.0], rtol=1e-14)
    np.testing.assert_allclose(moments.bias, [0.0, noise.mean_abs / 2.0], rtol=1e-14)


def test_a_bias_far_below_the_error_keeps_its_digits():
    # Laplace: the bias is the difference of (b / 2) e^(-t/b) at the two distances.
    bias = boundary_inflated_moments(1, 1.0, 40.0, (0.0, 200.0)).bias
    assert bias == pytest.approx((math.exp(-40.0) - math.exp(-160.0)) / 2.0, rel=1e-11, abs=0)


def test_order_one_has_its_closed_forms():
    noisy = inflated(order=1, location=4.0)
    assert noisy.lower_atom == pytest.approx(math.exp(-2.0) / 2.0, rel=1e-14, abs=0)
    assert noisy.upper_atom == pytest.approx(math.exp(-3.0) / 2.0, rel=1e-14, abs=0)
    assert noisy.bias == pytest.approx(math.exp(-2.0) - math.exp(-3.0), rel=1e-13, abs=0)
    assert noisy.mean_abs_error == pytest.approx(2.0 - math.exp(-2.0) - math.exp(-3.0), rel=1e-14, abs=0)


@settings(deadline=None, max_examples=examples(50, 150))
@given(
    order=st.floats(1.0, 60.0),
    scale=st.floats(0.01, 1e6),
    place=st.floats(0.0, 1.0),
    q=st.floats(0.0, 1.0),
)
def test_quantiles_are_those_of_the_law_on_the_reals_clamped(order, scale, place, q):
    location = 10.0 * place
    noisy = inflated(order=order, scale=scale, location=location)
    x = noisy.ppf(q)
    assert x == np.clip(GeneralizedGaussian(order=order, scale=scale, location=location).ppf(q), 0.0, 10.0)
    # The least point that has probability q at or below it, up to the rounding of a quantile.
    slack = 1e-13 + 1e-14 * noisy.pdf(x)
    assert noisy.cdf(x) >= q - slack
    if x > 0.0:
        assert noisy.cdf(math.nextafter(x, -math.inf)) <= q + slack


def test_density_and_atoms_make_up_the_distribution_function():
    noisy = inflated()
    nodes, weights = np.polynomial.legendre.leggauss(60)
    for x in (0.5, 3.0, 9.0):
        # Split at the location, where the density of order 3 is not smooth.
        ends = sorted({0.0, min(1.0, x), x})
        area = sum(
            (high - low) / 2.0 * weights @ noisy.pdf((high - low) / 2.0 * nodes + (high + low) / 2.0)
            for low, high in pairwise(ends)
        )
        assert noisy.cdf(x) == pytest.approx(noisy.lower_atom + area, rel=1e-12, abs=0)
        assert noisy.sf(x) == pytest.approx(1.0 - noisy.cdf(x), rel=0, abs=2e-16)


@pytest.mark.parametrize("location", [0.0, 1.0, 10.0])
@pytest.mark.parametrize("scale", [1e-300, 1e-9, 2.0, 1e300])
def test_the_distribution_function_jumps_at_the_bounds(location, scale):
    noisy = inflated(location=location, scale=scale)
    below, above = math.nextafter(0.0, -1.0), math.nextafter(10.0, 0.0)
    x = np.array([-np.inf, -1.0, below, 0.0, 10.0, 11.0, np.inf, np.nan])
    np.testing.assert_array_equal(noisy.cdf(x), [0.0, 0.0, 0.0, noisy.lower_atom, 1.0, 1.0, 1.0, np.nan])
    np.testing.assert_array_equal(noisy.sf(x), [1.0, 1.0, 1.0, 1.0 - noisy.lower_atom, 0.0, 0.0, 0.0, np.nan])
    np.testing.assert_array_equal(noisy.pdf(x), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, np.nan])
    np.testing.assert_array_equal(noisy.logpdf(x)[:-1], np.full(7, -np.inf))
    if scale > 1.0:
        assert noisy.sf(above) == pytest.approx(noisy.upper_atom, rel=1e-13, abs=0)
    np.testing.assert_array_equal(noisy.ppf(np.array([0.0, 1.0])), [0.0, 10.0])
    for outside in (-0.1, 1.1, np.nan):
        with pytest.raises(ArgumentError, match=r"^q = .*at least 0 and at most 1"):
            noisy.ppf(outside)


def test_moments_over_an_array_are_those_of_the_single_laws_and_mirror():
    locations = np.linspace(0.0, 10.0, 12).reshape(3, 4)
    moments = boundary_inflated_moments(1.5, 2.0, locations, (0.0, 10.0))
    for name in (*MOMENTS, "std"):
        assert getattr(moments, name).shape == (3, 4)
        assert getattr(moments, name)[1, 2] == getattr(inflated(order=1.5, location=locations[1, 2]), name)
    np.testing.assert_allclose(moments.bias, -moments.bias[::-1, ::-1], rtol=1e-12)


@pytest.mark.parametrize("order", [1.0, 1.3, 2.0, 5.0, 50.0])
@pytest.mark.parametrize("scale", [0.003, 0.7, 4.0, 7.0, 300.0])
def test_the_worst_case_is_no_smaller_than_anywhere_on_a_fine_grid_and_not_larger_by_much(order, scale):
    worst = largest_errors(order, scale, (5.0, 15.0), "boundary-inflated")
    places = np.concatenate([np.linspace(0.0, 10.0, 20_001), np.linspace(0.0, min(10.0 * scale, 10.0), 20_001)])
    moments = boundary_inflated_moments(order, scale, 5.0 + places, (5.0, 15.0))
    for found, values in zip(worst, (moments.std, moments.mean_abs_error), strict=True):
        seen = np.max(values)
        assert seen * (1.0 - 1e-9) <= found <= seen * (1.0 + 1e-6)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"order": 0.5}, "order"),
        ({"scale": -1.0}, "scale"),
        ({"bounds": (3.0, 3.0)}, "bounds"),
        ({"bounds": (0.0, 5.0, 10.0)}, "bounds"),
        ({"location": 10.1}, "location"),
    ],
)
def test_a_wrong_argument_is_named(changes, named):
    with pytest.raises(ArgumentError) as caught:
        inflated(**changes)
    assert caught.value.argument == named
