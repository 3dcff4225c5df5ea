"""What every proof leans on: balls become floats on the safe side, and only what is enclosed is claimed."""

import math

import pytest
from flint import arb

import ggdp
from ggdp._balls import lower_float, upper_float, working_precision
from ggdp.errors import ArgumentError
from ggdp.proofs import NoiseLaw
from ggdp.proofs.certificate import certify
from ggdp.proofs.norms import RadialDelta
from ggdp.proofs.one_coordinate import IntegerShiftDelta, LaplaceLoss, ShiftDelta


@pytest.mark.parametrize("numerator", [1, -1, 10**17 + 1, -(10**17) - 1])
def test_floats_of_balls_are_rounded_outwards(numerator):
    with working_precision(200):
        ball = arb(numerator) / 3
        low, high = lower_float(ball), upper_float(ball)
        assert arb(low) < ball < arb(high)
        assert high <= math.nextafter(math.nextafter(low, math.inf), math.inf)


@pytest.mark.parametrize(
    ("bound", "law"),
    [
        (ShiftDelta(notion="approximate", sensitivity=1.0, epsilon=1.0), NoiseLaw(order=3, scale=6.0)),
        (
            IntegerShiftDelta(notion="probabilistic", sensitivity=2, epsilon=1.0),
            NoiseLaw(order=1.5, scale=6.0, support="integer"),
        ),
        (LaplaceLoss(sensitivity=1.0), NoiseLaw(order=1, scale=6.0)),
        (RadialDelta(sensitivity=1.0, dimension=2, epsilon=1.0), NoiseLaw(order=3, scale=6.0)),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_an_enclosure_that_holds_the_target_proves_nothing(bound, law):
    enclosure = bound.enclose(law)
    assert enclosure.lower < enclosure.upper
    assert certify(bound, law, enclosure.lower, tight=False) is None
    found = certify(bound, law, 2 * enclosure.upper, tight=False)
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
