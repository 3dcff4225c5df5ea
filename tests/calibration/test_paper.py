import math

import pytest

import ggdp
from ggdp.calibration import (
    classic_gaussian,
    disjoint_scale,
    exponential_calibration,
    truncated_scale,
    utility_sensitivity,
)
from ggdp.errors import ArgumentError, UnattainableError, UnprovedError

ONE = ggdp.Sensitivity.disjoint(1)


def gaussian_lemma(epsilon, delta):
    from scipy.special import ndtri

    z = -ndtri(delta / 2)
    return (z + math.sqrt(z * z + 2 * epsilon)) / (2 * epsilon)


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.01), (0.5, 1e-6), (1.0, 0.05), (2.0, 0.25), (10.0, 1e-9)])
def test_the_closed_form_is_the_gaussian_lemma_at_order_two(epsilon, delta):
    found = ggdp.calibrate(ggdp.ProbabilisticDP(epsilon, delta), ONE, order=2, method="paper")
    assert found.std == pytest.approx(gaussian_lemma(epsilon, delta), rel=1e-12)


@pytest.mark.parametrize("order", [1.0001, 1.5, 2, 3, 8, 50])
@pytest.mark.parametrize(
    "goal", [ggdp.ProbabilisticDP(0.1, 1e-9), ggdp.ProbabilisticDP(1, 0.05), ggdp.ApproxDP(5, 1e-3)]
)
def test_the_papers_scale_is_sound_and_not_below_the_tight_one(order, goal):
    if order == 2 and isinstance(goal, ggdp.ApproxDP):
        goal = ggdp.ApproxDP(0.9, goal.delta)
    paper = ggdp.calibrate(goal, ONE, order=order, method="paper")
    paper.verify()
    assert paper.guarantee.implies(goal)
    assert paper.scale >= ggdp.calibrate(goal, ONE, order=order).scale
    assert paper.certificate.tight is None


@pytest.mark.parametrize("support", ["real", "integer"])
@pytest.mark.parametrize("goal", [ggdp.ProbabilisticDP(1, 0.05), ggdp.ApproxDP(1, 0.05), ggdp.PureDP(1)])
def test_the_papers_laplace_scale_can_be_proved_again(goal, support):
    found = ggdp.calibrate(goal, ONE, order=1, support=support, method="paper")
    found.verify()
    assert found.guarantee == ggdp.PureDP(1.0, "add-remove")


def test_the_classic_gaussian_refuses_an_epsilon_of_one_and_says_why():
    with pytest.raises(ArgumentError, match=r"epsilon = 1\.0.*below 1 only"):
        ggdp.calibrate(ggdp.ApproxDP(1, 0.01), ONE, order=2, method="paper")


def test_the_classic_gaussian_can_be_asked_for_outside_its_domain():
    found = classic_gaussian(ggdp.ApproxDP(2, 0.1), ONE, outside_domain=True)
    assert found.std == pytest.approx(math.sqrt(2 * math.log(12.5)) / 2)
    assert "outside the domain" in found.notes[0]
    found.verify()


def test_the_classic_gaussian_is_refused_where_it_is_wrong():
    with pytest.raises(UnattainableError, match="does not keep"):
        classic_gaussian(ggdp.ApproxDP(10, 1e-6), ONE, outside_domain=True)


def test_the_classic_gaussian_inside_its_domain():
    found = ggdp.calibrate(ggdp.ApproxDP(0.5, 0.01), ggdp.Sensitivity.box([3, 4]), order=2, method="paper")
    assert found.std == pytest.approx(5 * math.sqrt(2 * math.log(125)) / 0.5)


def test_a_joint_norm_makes_eqn_b1_smaller_than_b2():
    b2 = ggdp.calibrate(
        ggdp.PureDP(1), ggdp.Sensitivity.box([1, 1]), order=3, bounds=[(0, 2)], bounding="truncated", method="paper"
    )
    b1 = ggdp.calibrate(
        ggdp.PureDP(1),
        ggdp.Sensitivity.box([1, 1], norm=(3, 1)),
        order=3,
        bounds=[(0, 2)],
        bounding="truncated",
        method="paper",
    )
    assert b2.scale == pytest.approx((2 * 2 * (27 - 8)) ** (1 / 3))
    assert b1.scale == pytest.approx((2 * (2 * (27 - 8 - 1) + 1)) ** (1 / 3))


def test_disjoint_coordinates_compete_in_the_papers_truncated_scale():
    assert truncated_scale(2, [(10, 1, 1), (20, 1, 1)], 1, 1.0) == truncated_scale(2, [(20, 1, 1)], 1, 1.0)


def test_the_paper_scale_of_the_boundary_inflated_mechanism_is_proved_or_refused():
    how = {"bounding": "boundary-inflated", "method": "paper"}
    found = ggdp.calibrate(ggdp.PureDP(1), ONE, order=2, bounds=[(0, 10)], **how)
    found.verify()
    assert found.scale == truncated_scale(2, [(10, 1, 1)], 1, 1.0)
    assert found.guarantee.epsilon < 0.54
    # The atoms cost 3.08 times epsilon.
    with pytest.raises(UnattainableError, match=r"does not keep 0\.1-DP; use method = 'tight'"):
        ggdp.calibrate(ggdp.PureDP(0.1), ONE, order=4, bounds=[(0, 1)], **how)


def test_the_papers_scales_are_refused_on_the_integers():
    with pytest.raises(UnprovedError, match="not for the integers"):
        ggdp.calibrate(ggdp.ProbabilisticDP(1, 0.1), ONE, order=2, support="integer", method="paper")
    assert ggdp.calibrate(ggdp.PureDP(1), ONE, order=1, support="integer", method="paper").scale == 1.0


@pytest.mark.parametrize(("order", "loss"), [(1, "0.831"), (2, "0.345"), (3, "0.394")])
def test_the_true_loss_of_the_exponential_mechanism_is_far_below_its_epsilon(order, loss):
    found = exponential_calibration(ggdp.PureDP(1), ONE, order=order, bounds=[(0, 10)])
    found.verify()
    assert f"{found.guarantee.epsilon:.3f}" == loss


def test_the_exponential_scale_at_order_one_is_twice_laplaces():
    assert exponential_calibration(ggdp.PureDP(1), ONE, order=1).scale == 2.0
    assert exponential_calibration(ggdp.PureDP(1), ONE, order=1).guarantee.epsilon == pytest.approx(0.5)


def test_the_exponential_mechanism_needs_bounds_above_order_one():
    with pytest.raises(UnattainableError, match="needs bounds"):
        exponential_calibration(ggdp.PureDP(1), ONE, order=2)


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0, 4.0])
def test_the_exact_utility_sensitivity_is_the_largest_change_of_the_utility(order):
    import numpy as np

    width, step = 6.0, 2.0
    x, s = np.meshgrid(np.linspace(0, width, 241), np.linspace(0, width - step, 161))
    changes = np.abs(np.abs(x - s) ** order - np.abs(x - s - step) ** order)
    found = utility_sensitivity(order, ggdp.Sensitivity.disjoint(step), [(0, width)])
    assert found == pytest.approx(changes.max(), rel=1e-12)


@pytest.mark.parametrize("bounds", [(0.0, 10.0), (-5.0, 5.0), (100.0, 110.0), (-3.0, 1.0)])
@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_the_lemmas_bounds_hold(order, bounds):
    exact = utility_sensitivity(order, ONE, [bounds])
    assert utility_sensitivity(order, ONE, [bounds], utility="lemma") >= exact


def test_lemma_c_changes_with_a_shift_of_the_bounds_and_the_exact_value_does_not():
    here, there = [(0.0, 10.0)], [(100.0, 110.0)]
    assert utility_sensitivity(3, ONE, here) == utility_sensitivity(3, ONE, there)
    lemma = [utility_sensitivity(3, ONE, bounds, utility="lemma") for bounds in (here, there)]
    assert lemma[1] > 50 * lemma[0]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: disjoint_scale(1.5, -1, 0.5, 0.01), "sensitivity = -1"),
        (lambda: disjoint_scale(1.5, 1, 0.5, 2), "delta = 2"),
        (lambda: disjoint_scale(1, 1, 0.5, 0.1), "order = 1"),
        (lambda: truncated_scale(2, [(10, 1, 1)], 1, 0), "epsilon = 0"),
        (lambda: classic_gaussian(1, 2), "goal = 1"),
        (lambda: exponential_calibration("x", ONE, order=1), "goal = 'x'"),
    ],
)
def test_bad_arguments_of_the_papers_functions_are_refused(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()


def test_the_lemma_is_for_whole_orders():
    with pytest.raises(ArgumentError, match=r"order = 2\.5"):
        utility_sensitivity(2.5, ONE, [(0, 1)], utility="lemma")
