"""Noise outside the family, and the smallest epsilon for a plus-minus, beside closed forms and brute force."""

import math

import numpy as np
import pytest

import ggdp
from ggdp.errors import ArgumentError
from ggdp.planning.error_measures import Measure, _staircases, _truncated, noise_outside

ONE = ggdp.Sensitivity.histogram()
RMSE, MEAN_ABS = Measure(name="rmse"), Measure(name="mean-abs")


def least(laws, measure):
    return min(law.error(measure) for law in laws)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_the_staircase_has_its_published_errors(epsilon):
    goal, b = ggdp.PureDP(epsilon), math.exp(-epsilon)
    mean_abs = math.exp(epsilon / 2) / math.expm1(epsilon)
    assert least(_staircases(goal, 1.0, "real"), MEAN_ABS) == pytest.approx(mean_abs, rel=1e-9)
    variance = (2 ** (-2 / 3) * b ** (2 / 3) * (1 + b) ** (2 / 3) + b) / (1 - b) ** 2
    assert least(_staircases(goal, 1.0, "real"), RMSE) == pytest.approx(math.sqrt(variance), rel=1e-4)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.1), (1.0, 1e-3)])
def test_the_truncated_laplace_has_its_closed_form(epsilon, delta):
    (law,) = _truncated(ggdp.ApproxDP(epsilon, delta), 1.0, "real")
    end = math.log1p(math.expm1(epsilon) / (2 * delta))
    mean_abs = (1 - (1 + end) * math.exp(-end)) / (1 - math.exp(-end)) / epsilon
    assert law.error(MEAN_ABS) == pytest.approx(mean_abs, rel=1e-6)
    assert law.error(Measure(name="quantile", level=0.5)) == pytest.approx(
        -math.log1p(-0.5 * -math.expm1(-end)) / epsilon, rel=1e-6
    )


@pytest.mark.parametrize("D", [1, 3])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.5, 0.05), (1.0, 1e-4)])
def test_the_truncated_geometric_law_keeps_its_goal_and_no_shorter_one_does(epsilon, delta, D):
    (law,) = _truncated(ggdp.ApproxDP(epsilon, delta), float(D), "integer")
    last = law.ends.size - 1

    def hockey_stick(end):
        k = np.arange(-end, end + D + 1)
        p = np.where(k <= end, np.exp(-epsilon * np.abs(k) / D), 0.0)
        q = np.where(k - D >= -end, np.exp(-epsilon * np.abs(k - D) / D), 0.0)
        return float(np.maximum(p - math.exp(epsilon) * q * (1 + 1e-12), 0.0).sum() / p.sum())

    assert hockey_stick(last) <= delta * (1 + 1e-9)
    assert hockey_stick(last - 1) > delta


def test_the_largest_error_of_many_cells_is_that_of_a_simulation():
    rng = np.random.default_rng(7)
    (law,) = _truncated(ggdp.ApproxDP(0.5, 0.05), 1.0, "real")
    end = math.log1p(math.expm1(0.5) / 0.1)
    drawn = -np.log1p(rng.random((20_000, 10)) * math.expm1(-end)) / 0.5
    assert law.error(Measure(name="max", cells=10)) == pytest.approx(drawn.max(axis=1).mean(), rel=5e-3)


def test_noise_outside_is_compared_for_one_moving_coordinate_only():
    goal = ggdp.ApproxDP(0.1, 0.1)
    assert noise_outside(goal, ggdp.Sensitivity.cells(2, 1), "real", RMSE, 1e9) == ()
    better = ggdp.plan(goal, ONE).outside
    assert [one.name for one in better] == ["truncated Laplace"]
    assert str(better[0]) == "truncated Laplace 2.309 (0.910 times the best)"
    assert ggdp.plan(goal, ONE).to_dict()["outside"][0]["gain"] == pytest.approx(0.91, abs=5e-4)


@pytest.mark.parametrize("support", ["real", pytest.param("integer", marks=pytest.mark.exhaustive)])
def test_the_smallest_epsilon_for_a_plus_minus_keeps_it_and_a_smaller_one_does_not(support):
    found = ggdp.plan(None, ONE, plus_minus=10, delta=1e-3, support=support)
    assert found.best.error <= 10 * (1 + 1e-12)
    found.calibration.verify()
    epsilon = found.calibration.goal.epsilon
    for order in (1.0, found.best.order, 2.0):
        smaller = ggdp.calibrate(ggdp.ApproxDP(0.99 * epsilon, 1e-3), ONE, order=order, support=support)
        assert Measure(name="quantile", level=0.95).of(smaller.law) > 10


def test_without_a_delta_the_smallest_epsilon_is_laplace_s():
    found = ggdp.plan(None, ONE, plus_minus=10, level=0.9)
    assert found.calibration.goal == ggdp.PureDP(found.calibration.goal.epsilon)
    assert found.calibration.goal.epsilon == pytest.approx(math.log(10) / 10, rel=1e-9)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"goal": ggdp.PureDP(1.0), "plus_minus": 10}, "goal = "),
        ({"goal": None}, "goal = None"),
        ({"goal": ggdp.PureDP(1.0), "delta": 0.1}, "delta = 0.1"),
        ({"goal": None, "plus_minus": 0}, "plus_minus = 0"),
        ({"goal": None, "plus_minus": 0.5, "support": "integer"}, "plus_minus = 0.5"),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments, message):
    goal = arguments.pop("goal")
    with pytest.raises(ArgumentError, match=message):
        ggdp.plan(goal, ONE, **arguments)


@pytest.mark.parametrize("goal", [ggdp.PureDP(1500), ggdp.ApproxDP(1500, 1e-6)], ids=str)
def test_an_epsilon_whose_exponential_is_no_float_has_a_plan(goal):
    found = ggdp.plan(goal, ONE)
    assert found.calibration.goal == goal
    assert all(0.0 < one.error < found.best.error for one in found.outside)


@pytest.mark.parametrize(("plus_minus", "why"), [(1e-320, "is too small"), (10, "at every epsilon")])
def test_a_plus_minus_that_no_epsilon_is_for_is_refused_with_the_reason(plus_minus, why):
    with pytest.raises(ArgumentError, match=rf"^plus_minus = .*{why}"):
        ggdp.plan(None, ONE, plus_minus=plus_minus, delta=0.05)


def test_a_narrow_plus_minus_that_needs_such_an_epsilon_has_a_plan():
    found = ggdp.plan(None, ONE, plus_minus=0.001)
    assert found.calibration.goal.epsilon > 1500
    assert found.best.error <= 0.001 * (1 + 1e-12)


@pytest.mark.parametrize("unused", [{"measure": "max"}, {"measure": "mean-abs"}, {"cells": 5}, {"cells": "a"}])
def test_a_plus_minus_refuses_arguments_that_it_does_not_use(unused):
    (name,) = unused
    with pytest.raises(ArgumentError, match=rf"^{name} = .*not used with plus_minus"):
        ggdp.plan(None, ONE, plus_minus=10, **unused)
