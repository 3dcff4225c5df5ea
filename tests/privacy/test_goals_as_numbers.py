"""A goal may be a number, or an epsilon with a delta, at every door that takes a goal."""

from __future__ import annotations

import polars as pl
import pytest

import ggdp
from ggdp.privacy.guarantees import as_goal

ONE = ggdp.Sensitivity.disjoint(1)
SMOKES = {"smokes": ["no", "yes"]}
PURE, APPROX = ggdp.PureDP(1.0), ggdp.ApproxDP(1.0, 1e-6)


def _data():
    return pl.DataFrame({"smokes": ["no", "yes", "no"], "age": [30.0, 40.0, 50.0]})


# What takes a goal: a call with the goal as given, which returns the goal that was understood; and its argument.
DOORS = {
    "calibrate": lambda _, *goal, **given: ggdp.calibrate(*goal, sensitivity=ONE, order=1, **given).goal,
    "plan": lambda _, *goal, **given: ggdp.plan(*goal, sensitivity=ONE, **given).calibration.goal,
    "plan_table": lambda _, *goal, **given: ggdp.plan_table("smokes", *goal, domain=SMOKES, **given).request.goal,
    "release_table": lambda _, *goal, **given: (
        ggdp.release_table(_data(), "smokes", *goal, domain=SMOKES, **given).request.goal
    ),
    "plan_range": lambda _, *goal, **given: ggdp.plan_range("age", *goal, **given).histogram.request.goal,
    "private_range": lambda _, *goal, **given: (
        ggdp.private_range(_data(), "age", *goal, **given).histogram.plan.request.goal
    ),
    "Ledger.create": lambda path, *goal, **given: _budget(ggdp.Ledger.create(path / "new.ledger", *goal, **given)),
}


def _budget(ledger):
    epsilon, delta = float(ledger.budget.epsilon), float(ledger.budget.delta)
    return ggdp.ApproxDP(epsilon, delta) if delta else ggdp.PureDP(epsilon)


@pytest.mark.parametrize("door", DOORS)
def test_a_number_is_the_epsilon_of_pure_dp(door, tmp_path):
    assert DOORS[door](tmp_path, 1.0) == PURE


@pytest.mark.parametrize("door", DOORS)
def test_an_epsilon_is_a_goal_and_with_a_delta_an_approximate_one(door, tmp_path):
    (tmp_path / "pure").mkdir()
    assert DOORS[door](tmp_path / "pure", epsilon=1.0) == PURE
    assert DOORS[door](tmp_path, epsilon=1.0, delta=1e-6) == APPROX


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    ("goal", "given", "named"),
    [
        ((PURE,), {"epsilon": 1.0}, "epsilon"),
        ((1.0,), {"epsilon": 1.0}, "epsilon"),
        ((PURE,), {"delta": 1e-6}, "delta"),
        ((), {"delta": 1e-6}, "delta"),
        ((), {"epsilon": -1.0}, "epsilon"),
        ((), {"epsilon": 1.0, "delta": 2.0}, "delta"),
        ((), {}, "goal"),
        ((-1.0,), {}, "goal"),
        ((True,), {}, "goal"),
        (("1.0",), {}, "goal"),
    ],
)
def test_errors_name_what_the_caller_wrote(door, goal, given, named, tmp_path):
    with pytest.raises(ggdp.GgdpError) as refused:
        DOORS[door](tmp_path, *goal, **given)
    assert refused.value.argument == ("budget" if door == "Ledger.create" and named == "goal" else named)
    assert not list(tmp_path.iterdir())


def test_an_epsilon_is_not_what_plus_minus_looks_for():
    with pytest.raises(ggdp.GgdpError, match="is what plus_minus looks for"):
        ggdp.plan(sensitivity=ONE, epsilon=1.0, plus_minus=10)


def test_the_exponential_mechanism_and_caps_of_analysts_take_numbers(tmp_path):
    assert ggdp.ExponentialMechanism(0.5, sensitivity=1, candidates=3).goal == ggdp.PureDP(0.5)
    with pytest.raises(ggdp.GgdpError, match="must be PureDP"):
        ggdp.ExponentialMechanism(APPROX, sensitivity=1, candidates=3)
    ledger = ggdp.Ledger.create(tmp_path / "caps.ledger", 1.0, analysts={"ana": 0.25})
    assert float(ledger.remaining("ana").epsilon) == 0.25


@pytest.mark.parametrize("goal", [PURE, APPROX, ggdp.ProbabilisticDP(1.0, 0.01), ggdp.PureDP(1.0, "replace-one")])
def test_a_goal_stays_what_it_is(goal):
    assert as_goal(goal) is goal
