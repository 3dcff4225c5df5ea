"""What every proof leans on: balls become floats on the safe side, and only what is enclosed is claimed."""

import math

import pytest
from flint import arb

import ggdp
from ggdp.calibration.bounds import BOUNDS
from ggdp.calibration.certificate import certify
from ggdp._balls import lower_float, upper_float, working_precision
from ggdp.errors import ArgumentError


@pytest.mark.parametrize("numerator", [1, -1, 10**17 + 1, -(10**17) - 1])
def test_floats_of_balls_are_rounded_outwards(numerator):
    with working_precision(200):
        ball = arb(numerator) / 3
        low, high = lower_float(ball), upper_float(ball)
        assert arb(low) < ball < arb(high)
        assert high <= math.nextafter(math.nextafter(low, math.inf), math.inf)


@pytest.mark.parametrize(
    ("bound", "noise"),
    [
        ("shift", {"notion": "approximate", "order": 3.0, "sensitivity": 1.0, "epsilon": 1.0}),
        ("integer-shift", {"notion": "probabilistic", "order": 1.5, "sensitivity": 2, "epsilon": 1.0}),
        ("laplace", {"sensitivity": 1.0}),
        ("radial", {"order": 3.0, "sensitivity": 1.0, "dimension": 2, "epsilon": 1.0}),
    ],
)
def test_an_enclosure_that_holds_the_target_proves_nothing(bound, noise):
    enclosure = BOUNDS[bound].enclose(scale=6.0, **noise)
    assert enclosure.lower < enclosure.upper
    assert certify(bound, 6.0, enclosure.lower, tight=False, **noise) is None
    found = certify(bound, 6.0, 2 * enclosure.upper, tight=False, **noise)
    assert found.target >= found.proved >= enclosure.upper


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_goal_for_one_relation_is_not_kept_by_the_other(relation):
    (other,) = {"add-remove", "replace-one"} - {relation}
    with pytest.raises(ArgumentError, match="the two must agree"):
        ggdp.calibrate(ggdp.PureDP(1.0, relation), ggdp.Sensitivity.histogram(other), order=1)


@pytest.mark.parametrize("order", [1.5, 2.0])
def test_a_guarantee_is_never_above_its_goal(order):
    # So wide that the probability of leaving 64 bits counts, and the proved delta is the goal's but for a few digits.
    goal = ggdp.ProbabilisticDP(1e-15, 1e-6)
    mechanism = ggdp.Mechanism(ggdp.calibrate(goal, ggdp.Sensitivity.histogram(), order=order, support="integer"))
    assert mechanism.guarantee.delta <= goal.delta
    assert mechanism.guarantee.implies(goal.to_approximate())
