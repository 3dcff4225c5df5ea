"""Bad input is refused by the name of the argument; results cannot be written to; empty input gives empty output."""

import math
from fractions import Fraction

import numpy as np
import pytest

from ggdp.errors import ArgumentError
from ggdp_reproduction.comparisons import (
    bounded_errors,
    delta_of_equal_variance,
    densities_at_scale,
    densities_at_variance,
    distance_errors,
    epsilon_of_same_tail,
    exponential_losses,
    gaussian_bounds,
    gaussian_sigma,
    scales_by_order,
    tail_probabilities,
    tail_turn,
    variance_ratio,
)

NOT_POSITIVE = [0.0, -1.0, math.nan, math.inf, "1", None, True, 1j, [1.0, -2.0]]
NOT_NUMBERS = [[[1.0], [2.0, 3.0]], Fraction(1, 2), 10**400, {"a": 1}]
NOT_DELTA = [0.0, 1.0, -0.1, 1.5, math.nan, "0.1", [0.1, 0.0]]

OF_EPSILON = [
    lambda epsilon: gaussian_bounds(epsilon, 0.1),
    lambda epsilon: gaussian_sigma(epsilon, 0.1, "analytic"),
    lambda epsilon: tail_probabilities(epsilon, 0.1, 1.0),
    lambda epsilon: tail_turn(epsilon, 0.1),
    lambda epsilon: epsilon_of_same_tail(epsilon, 0.1, 1.0),
    lambda epsilon: variance_ratio(epsilon, 0.1),
    delta_of_equal_variance,
]
OF_ONE_EPSILON = [
    lambda epsilon: scales_by_order([1, 2], epsilon, 0.1),
    lambda epsilon: exponential_losses([1], epsilon),
    lambda epsilon: bounded_errors(2, epsilon, (0.0, 10.0)),
    lambda epsilon: distance_errors(2, epsilon=epsilon),
]
OF_DELTA = [
    lambda delta: gaussian_bounds(1.0, delta),
    lambda delta: tail_probabilities(1.0, delta, 1.0),
    lambda delta: tail_turn(1.0, delta),
    lambda delta: epsilon_of_same_tail(1.0, delta, 1.0),
    lambda delta: variance_ratio(1.0, delta),
    lambda delta: scales_by_order([1, 2], 1.0, delta),
    lambda delta: distance_errors(2, deltas=delta),
]
OF_ORDERS = [
    lambda orders: densities_at_scale(orders, 0.0),
    lambda orders: densities_at_variance(orders, 0.0),
    lambda orders: scales_by_order(orders, 1.0, 0.1),
    lambda orders: exponential_losses(orders, 1.0, bounds=(0.0, 10.0)),
]


@pytest.mark.parametrize("analysis", [*OF_EPSILON, *OF_ONE_EPSILON])
@pytest.mark.parametrize("value", NOT_POSITIVE, ids=repr)
def test_a_wrong_epsilon_is_named(analysis, value):
    with pytest.raises(ArgumentError, match="epsilon"):
        analysis(value)


@pytest.mark.parametrize("analysis", OF_EPSILON)
@pytest.mark.parametrize("value", NOT_NUMBERS, ids=str)
def test_what_is_no_array_of_numbers_is_named(analysis, value):
    with pytest.raises(ArgumentError, match=r"^epsilon .*must be a number or an array of numbers$"):
        analysis(value)


@pytest.mark.parametrize("analysis", OF_DELTA)
@pytest.mark.parametrize("value", NOT_DELTA, ids=repr)
def test_a_wrong_delta_is_named(analysis, value):
    with pytest.raises(ArgumentError, match="delta"):
        analysis(value)


@pytest.mark.parametrize("analysis", OF_ORDERS)
@pytest.mark.parametrize("value", [0.5, math.nan, math.inf, "2", [1.0, 0.9], [[1.0, 2.0]]], ids=repr)
def test_wrong_orders_are_named(analysis, value):
    with pytest.raises(ArgumentError, match="orders"):
        analysis(value)


@pytest.mark.parametrize("analysis", [tail_probabilities, epsilon_of_same_tail])
@pytest.mark.parametrize("value", [-1e-300, math.nan, math.inf, "2", [1.0, -1.0]], ids=repr)
def test_a_wrong_noise_size_is_named(analysis, value):
    with pytest.raises(ArgumentError, match=r"^t = "):
        analysis(1.0, 0.1, value)


def test_of_a_long_array_only_the_wrong_entry_is_shown():
    with pytest.raises(ArgumentError, match=r"^epsilon = -3\.0: must be greater than 0$"):
        variance_ratio(np.array([1.0] * 50 + [-3.0] + [1.0] * 50), 0.1)


def test_shapes_that_do_not_fit_are_told():
    with pytest.raises(ArgumentError, match=r"epsilon \(2,\), delta \(3,\)"):
        variance_ratio([1.0, 2.0], [0.1, 0.2, 0.3])
    with pytest.raises(ArgumentError, match=r"t \(3,\)"):
        tail_probabilities([1.0, 2.0], 0.1, [0.1, 0.2, 0.3])


@pytest.mark.parametrize("kind", ["Paper", "laplace", None, 2])
@pytest.mark.parametrize("analysis", [gaussian_sigma, variance_ratio, tail_turn])
def test_an_unknown_gaussian_is_named(analysis, kind):
    with pytest.raises(ArgumentError, match="gaussian"):
        analysis(0.5, 0.1, kind)


def test_other_wrong_arguments_are_named():
    with pytest.raises(ArgumentError, match="scale"):
        densities_at_scale([1], 0.0, -1.0)
    with pytest.raises(ArgumentError, match="variance"):
        densities_at_variance([1], 0.0, 0.0)
    with pytest.raises(ArgumentError, match=r"^x"):
        densities_at_scale([1], math.nan)
    with pytest.raises(ArgumentError, match="sensitivities"):
        scales_by_order([1], 1.0, 0.1, [])
    with pytest.raises(ArgumentError, match="sensitivities"):
        scales_by_order([1], 1.0, 0.1, [1.0, -1.0])
    with pytest.raises(ArgumentError, match="bounds"):
        exponential_losses([2], 1.0, bounds=(10.0, 0.0))
    with pytest.raises(ArgumentError, match="utility"):
        exponential_losses([2], 1.0, bounds=(0.0, 10.0), utility="guess")
    with pytest.raises(ArgumentError, match="order"):
        bounded_errors(0.5, 1.0, (0.0, 10.0))
    for order in (0.5, 51, math.nan, "2"):
        with pytest.raises(ArgumentError, match=r"^order = "):
            distance_errors(order)
    with pytest.raises(ArgumentError, match=r"^width = "):
        distance_errors(2, -1.0)
    with pytest.raises(ArgumentError, match=r"^dimension = 1: "):
        distance_errors(2, dimension=1)


@pytest.mark.parametrize(
    "location",
    [[1.0, 10.515], [10.515, math.nan], "10.515", ["10.515"], [[10.515], [1.0, 2.0]], {"a": 10.515}],
    ids=repr,
)
def test_a_true_value_is_never_quoted(location):
    with pytest.raises(ArgumentError, match=r"^location = <class '\w+'>: must ") as refused:
        bounded_errors(2, 1.0, (0.0, 10.0), location=location)
    assert "10.515" not in str(refused.value)
    assert isinstance(refused.value.value, type)


@pytest.mark.parametrize("location", [-1e-9, 10.000001, [0.0, 11.0]])
def test_a_true_value_outside_the_bounds_is_refused(location):
    with pytest.raises(ArgumentError, match=r"must lie within the bounds \(0\.0, 10\.0\)$"):
        bounded_errors(2, 1.0, (0.0, 10.0), location=location)


MASKED = np.ma.array([0.2, 0.3], mask=[False, True])


@pytest.mark.parametrize("masked", [MASKED, np.ma.array([0.2, 0.3]), [MASKED, MASKED], np.ma.masked], ids=str)
@pytest.mark.parametrize(
    ("name", "analysis"),
    [
        ("epsilon", lambda masked: gaussian_sigma(masked, 0.1)),
        ("delta", lambda masked: gaussian_bounds(0.5, masked)),
        ("t", lambda masked: tail_probabilities(1.0, 0.1, masked)),
        ("orders", lambda masked: densities_at_scale(masked, 0.0)),
        ("x", lambda masked: densities_at_variance([1, 2], masked)),
        ("location", lambda masked: bounded_errors(2, 1.0, (0.0, 10.0), location=masked)),
    ],
)
def test_a_mask_is_not_ignored(name, analysis, masked):
    with pytest.raises(ArgumentError, match=rf"^{name} = <class .*must not be masked"):
        analysis(masked)


@pytest.mark.parametrize("value", ["12", np.array(1.0), 5.0, MASKED], ids=repr)
def test_what_is_no_sequence_of_numbers_is_named(value):
    with pytest.raises(ArgumentError, match=r"^sensitivities = "):
        scales_by_order([2], 1.0, 0.1, value)
    with pytest.raises(ArgumentError, match=r"^bounds = "):
        bounded_errors(2, 1.0, value)
    with pytest.raises(ArgumentError, match=r"^bounds = "):
        exponential_losses([2], 1.0, bounds=value)


@pytest.mark.parametrize("analysis", OF_ORDERS)
@pytest.mark.parametrize("orders", [1.0000001e6, [2.0, 1e308]])
def test_orders_beyond_reason_are_refused(analysis, orders):
    with pytest.raises(ArgumentError, match=r"^orders = 1.*: must be at most 1e\+06$"):
        analysis(orders)


def test_the_largest_orders_are_taken():
    assert densities_at_scale(1e6, 0.5).densities[0, 0] == pytest.approx(0.5, rel=1e-5)
    assert np.isfinite(scales_by_order(1e6, 1.0, 0.05).adp).all()
    assert np.isfinite(bounded_errors(1e6, 1.0, (0.0, 10.0)).rmse_ratio).all()


@pytest.mark.exhaustive
def test_where_several_coordinates_move_orders_above_50_are_refused():
    with pytest.raises(ArgumentError, match=r"^orders = 51\.0: must be at most 50 where several coordinates move$"):
        scales_by_order([1, 51, 2], 1.0, 0.1, [1.0, 0.5])
    assert scales_by_order([50], 1.0, 0.1, [1.0, 0.5]).adp == pytest.approx([6.0459], abs=1e-3)


@pytest.mark.parametrize("epsilon", [1e308, 1.001e6, 0.99e-4, 1e-320])
def test_an_epsilon_beyond_reason_is_refused_for_bounded_noise(epsilon):
    with pytest.raises(ArgumentError, match=r"^epsilon = .*: must be at least 0\.0001 and at most 1e\+06 here$"):
        bounded_errors(2, epsilon, (0.0, 10.0))
    with pytest.raises(ArgumentError, match=r"^order = 1e\+308: "):
        bounded_errors(1e308, 1.0, (0.0, 10.0))


@pytest.mark.parametrize("epsilon", [1e-4, 1e6])
@pytest.mark.parametrize("order", [1.0, 2.0, 3.5])
def test_every_epsilon_within_reason_is_taken(order, epsilon):
    found = bounded_errors(order, epsilon, (0.0, 10.0), location=[5.0])
    # Noise without end is uniform when truncated and at an end when inflated; next to none is an error of next to none.
    expected = (10 / math.sqrt(12), 5.0) if epsilon < 1.0 else (0.0, 0.0)
    assert (found.truncated.rmse[0], found.boundary_inflated.rmse[0]) == pytest.approx(expected, abs=0.1)


def test_empty_input_gives_empty_output():
    assert tail_probabilities(1.0, 0.1, []).ratio.shape == (0,)
    assert epsilon_of_same_tail(1.0, 0.1, []).ratio.shape == (0,)
    assert tail_turn([], 0.1).t_crossing.shape == (0,)
    assert gaussian_bounds(1.0, []).analytic.shape == (0,)
    assert variance_ratio([], [], "analytic").shape == (0,)
    assert delta_of_equal_variance([], "analytic").shape == (0,)
    assert densities_at_scale([], [0.0, 1.0]).densities.shape == (0, 2)
    assert densities_at_variance([1, 2], []).densities.shape == (2, 0)
    assert scales_by_order([], 1.0, 0.1).adp.shape == (0,)
    assert exponential_losses([], 1.0, bounds=(0.0, 1.0)).loss.shape == (0,)
    assert bounded_errors(2, 1.0, (0.0, 10.0), location=[]).rmse_ratio.shape == (0,)


def test_results_cannot_be_written_to_and_arguments_are_not_kept():
    t = np.array([0.0, 1.0])
    found = tail_probabilities(1.0, 0.1, t)
    with pytest.raises(ValueError, match="read-only"):
        found.log_ratio[0] = 1.0
    t[0] = 7.0
    assert found.t[0] == 0.0


def test_goals_and_sizes_are_broadcast():
    epsilon, delta, t = np.array([[0.5], [1.0]]), 0.05, np.array([0.0, 1.0, 2.0])
    many = tail_probabilities(epsilon, delta, t)
    assert many.ratio.shape == (2, 3)
    for row, value in enumerate(epsilon.ravel()):
        assert np.array_equal(many.ratio[row], tail_probabilities(value, delta, t).ratio)
        assert np.array_equal(
            epsilon_of_same_tail(epsilon, delta, t).ratio[row], epsilon_of_same_tail(value, delta, t).ratio
        )
