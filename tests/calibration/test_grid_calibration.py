import copy
import dataclasses

import mpmath as mp
import numpy as np
import pytest

import ggdp
from ggdp.calibration.grid_calibration import on_grid
from ggdp.errors import ArgumentError, CertificateError, UnprovedError
from ggdp.privacy.grid import Grid

APPROXIMATE = ggdp.ApproxDP(1.0, 1e-6)
TENTHS = ggdp.Sensitivity.disjoint(0.3)


def brute_force_delta(order, scale, shift, epsilon):
    """The aDP delta of integer noise moved by a shift, as a hockey-stick sum over the law, without its formulas."""
    reach = int(scale * 45 ** (1 / order)) + shift
    k = np.arange(-reach, reach + 1, dtype=np.float64)
    here, there = (np.exp(-((np.abs(k - s) / scale) ** order)) for s in (0, shift))
    total = here.sum()
    return max(
        np.maximum(here - np.exp(epsilon) * there, 0.0).sum() / total,
        np.maximum(there - np.exp(epsilon) * here, 0.0).sum() / total,
    )


@pytest.mark.parametrize("order", [1, 1.5, 2, 3, 8])
@pytest.mark.parametrize("d", [1.0, 0.3, 1.0001])
def test_the_law_on_the_grid_keeps_the_goal_with_rounding_counted(order, d):
    goal = ggdp.ApproxDP(1.0, 1e-4)
    drawn = on_grid(ggdp.calibrate(goal, ggdp.Sensitivity.disjoint(d), order=order))
    steps = -int(-d // drawn.grid.step)
    assert drawn.question.sensitivity.sizes == (steps,)
    # Rounding may turn d into the next lower or the next higher number of steps.
    for shift in (steps - 1, steps):
        assert brute_force_delta(order, drawn.law.scale, shift, 1.0) <= 1e-4 * (1 + 1e-9)
    assert brute_force_delta(order, drawn.law.scale * 0.999, steps, 1.0) > 1e-4


@pytest.mark.parametrize("order", [1, 1.5, 2, 3, 8])
@pytest.mark.parametrize("epsilon", [1e-4, 1e-2, 1.0, 10.0])
def test_the_grid_costs_a_thousandth_of_the_scale_at_most_and_next_to_nothing_at_powers_of_two(order, epsilon):
    goal = ggdp.ApproxDP(epsilon, 1e-6)
    for d, cost in ((1.0, 1e-6), (1.0001, 1e-3)):
        ideal = ggdp.calibrate(goal, ggdp.Sensitivity.disjoint(d), order=order)
        drawn = on_grid(ideal)
        assert -1e-6 < drawn.scale / ideal.scale - 1 < cost
        assert drawn.std / ideal.std == pytest.approx(drawn.scale / ideal.scale, rel=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_replace_one_costs_no_more(order):
    ideal = ggdp.calibrate(APPROXIMATE, ggdp.Sensitivity.cells(2, 0.3, neighbours="replace-one"), order=order)
    drawn = on_grid(ideal)
    assert drawn.guarantee.neighbours == "replace-one"
    assert -1e-4 < drawn.scale / ideal.scale - 1 < 1e-3


def test_a_grid_from_the_scale_alone_would_cost_far_more():
    # Why the step comes from the sensitivity: a step of about a third of the scale is 32 times D.
    ideal = ggdp.calibrate(ggdp.PureDP(1e-2), ggdp.Sensitivity.disjoint(1.0), order=1)
    coarse = on_grid(ideal, Grid(step=2.0 ** int(np.log2(ideal.scale / 2))))
    assert coarse.scale > 20 * ideal.scale


CASES = {
    "pure": lambda: ggdp.calibrate(ggdp.PureDP(0.5), TENTHS, order=1),
    "approximate": lambda: ggdp.calibrate(APPROXIMATE, TENTHS, order=3),
    "probabilistic": lambda: ggdp.calibrate(ggdp.ProbabilisticDP(1.0, 1e-3), TENTHS, order=1.5),
    "box": lambda: ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-2), ggdp.Sensitivity.box([0.3, 0.1]), order=2),
    "norm": lambda: ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.norm(1, 1.0, dimension=100), order=1),
    "truncated": lambda: ggdp.calibrate(ggdp.PureDP(1.0), TENTHS, order=2, bounds=[(-0.1, 10.0)], bounding="truncated"),
    "inflated": lambda: ggdp.calibrate(
        ggdp.PureDP(1.0), TENTHS, order=3, bounds=[(-0.1, 10.0)], bounding="boundary-inflated"
    ),
    "paper-laplace": lambda: ggdp.calibrate(ggdp.PureDP(0.5), TENTHS, order=1, method="paper"),
    "paper-gaussian": lambda: ggdp.calibrate(ggdp.ApproxDP(0.5, 1e-3), TENTHS, order=2, method="paper"),
    "paper-disjoint": lambda: ggdp.calibrate(ggdp.ProbabilisticDP(1.0, 0.05), TENTHS, order=3, method="paper"),
    "paper-truncated": lambda: ggdp.calibrate(
        ggdp.PureDP(1.0), TENTHS, order=2, bounds=[(0, 10)], bounding="truncated", method="paper"
    ),
}


@pytest.fixture(scope="module", params=CASES)
def drawn(request):
    return on_grid(CASES[request.param]())


def test_the_certificate_is_about_the_law_that_is_drawn_and_holds(drawn):
    drawn.verify()
    ggdp.verify(drawn.certificate)
    assert drawn.certificate.law.scale == drawn.law.scale
    assert drawn.scale == drawn.law.scale * drawn.grid.step
    assert drawn.law.support == "integer"


def test_the_goal_is_reached(drawn):
    assert drawn.guarantee.implies(drawn.goal)
    assert drawn.goal == drawn.ideal.goal
    assert drawn.sensitivity == drawn.ideal.sensitivity


def test_every_kind_costs_a_thousandth_at_most(drawn):
    assert -1e-4 < drawn.scale / drawn.ideal.scale - 1 < 1.5e-3
    assert drawn.std == pytest.approx(drawn.ideal.std, rel=2e-3)
    assert drawn.mean_abs == pytest.approx(drawn.ideal.mean_abs, rel=2e-3)
    assert drawn.order == drawn.ideal.order


def test_a_record_put_together_by_hand_is_refused(drawn):
    finer = Grid(step=drawn.grid.step / 4)
    for change in ({"grid": finer}, {"scale": drawn.scale * 0.9}, {"grid": None}, {"support": "integer"}):
        with pytest.raises(CertificateError):
            dataclasses.replace(drawn, **change)
    # The same noise in steps, but on finer ones, of which the query changes by more.
    with pytest.raises(CertificateError):
        dataclasses.replace(drawn, grid=finer, scale=drawn.scale / 4)
    changed = copy.copy(drawn)
    object.__setattr__(changed, "grid", finer)
    object.__setattr__(changed, "scale", drawn.scale / 4)
    for check in (changed.verify, changed.require_proof):
        with pytest.raises(CertificateError):
            check()


def test_the_guarantee_is_of_the_noisy_index():
    drawn = on_grid(CASES["probabilistic"]())
    assert isinstance(drawn.guarantee, ggdp.ProbabilisticDP)
    question = drawn.question
    steps = ggdp.calibrate(question.goal, question.sensitivity, order=question.order, support="integer")
    assert drawn.guarantee == steps.guarantee


def test_the_scale_that_is_drawn_and_the_one_on_the_reals_are_on_one_line():
    drawn = on_grid(CASES["pure"]())
    (line,) = [line for line in repr(drawn).splitlines() if "scale" in line]
    assert repr(drawn.scale) in line
    assert f"on a grid of step {drawn.grid.step!r}" in line
    assert f"on the reals the scale would be {drawn.ideal.scale!r}" in line


def test_bounds_become_their_indices():
    drawn = on_grid(CASES["truncated"]())
    assert drawn.question.bounds == (tuple(drawn.grid.index([-0.1, 10.0]).tolist()),)
    assert drawn.bounds == ((-0.1, 10.0),)
    several = ggdp.calibrate(
        ggdp.PureDP(1.0), ggdp.Sensitivity.box([0.3, 0.1]), order=2, bounds=[(0, 1), (5, 7.3)], bounding="truncated"
    )
    grid = Grid.of(several.sensitivity)
    assert on_grid(several).question.bounds == (tuple(grid.index([0, 1])), tuple(grid.index([5, 7.3])))


@pytest.mark.parametrize("bounding", ["truncated", "boundary-inflated"])
def test_bounds_as_narrow_as_the_sensitivity_stay_wide_enough(bounding):
    # 0.1 is 1638.4 steps: the sensitivity is 1639, while the bounds are rounded to 1638 apart.
    ideal = ggdp.calibrate(
        ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(0.1), order=2, bounds=[(0, 0.1)], bounding=bounding
    )
    drawn = on_grid(ideal)
    assert drawn.question.bounds == ((0.0, 1639.0),)
    drawn.verify()


def exact_truncated_loss(order, scale, width, sensitivity):
    """The loss of truncated integer noise, from all its probabilities."""
    k = np.arange(width + 1, dtype=np.float64)
    weights = np.exp(-((np.abs(k[:, None] - k[None, :]) / scale) ** order))
    logs = np.log(weights / weights.sum(axis=1, keepdims=True))
    return max(np.abs(logs[d:] - logs[:-d]).max() for d in (1, sensitivity - 1, sensitivity))


def test_truncated_noise_on_a_grid_keeps_epsilon_by_brute_force():
    ideal = ggdp.calibrate(ggdp.PureDP(1.0), TENTHS, order=2, bounds=[(0, 1)], bounding="truncated")
    drawn = on_grid(ideal, Grid(step=2.0**-8))
    width = int(drawn.question.bounds[0][1])
    loss = exact_truncated_loss(2, drawn.law.scale, width, int(drawn.question.sensitivity.sizes[0]))
    assert 1 - 1e-6 < loss <= 1 + 1e-9


def test_laplace_noise_on_a_grid_has_its_closed_form():
    drawn = on_grid(CASES["pure"]())
    with mp.workdps(30):
        exact = mp.ceil(mp.mpf(0.3) * 4096) / mp.mpf(0.5)
    assert drawn.law.scale == exact


def test_the_paper_s_scales_stay_the_paper_s():
    for name in ("paper-laplace", "paper-gaussian", "paper-disjoint", "paper-truncated"):
        drawn = on_grid(CASES[name]())
        assert drawn.method == "paper"
        assert drawn.scale >= drawn.ideal.scale * (1 - 1e-12)


def test_where_the_integers_have_no_proved_scale_the_error_says_what_to_do():
    ideal = ggdp.calibrate(ggdp.ProbabilisticDP(1.0, 0.05), ggdp.Sensitivity.norm(3, 1.0, dimension=10), order=3)
    with pytest.raises(
        UnprovedError, match=r"Sensitivity.box, Sensitivity.cells\) instead of a norm, or use order = 1"
    ):
        on_grid(ideal)


def test_a_joint_norm_that_is_not_used_is_told():
    ideal = ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-2), ggdp.Sensitivity.box([1.0, 1.0], norm=(3, 1.0)), order=3)
    assert "joint norm" in on_grid(ideal).notes[-1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: on_grid(ggdp.calibrate(APPROXIMATE, ggdp.Sensitivity.disjoint(1), order=2, support="integer")),
            "real",
        ),
        (lambda: on_grid(3.0), "calibration = 3.0"),
        (lambda: on_grid(CASES["pure"](), grid=2**-10), "grid = "),
        (lambda: on_grid(CASES["pure"](), Grid(step=2.0**-60)), r"step = .*coarser Grid"),
        (
            lambda: on_grid(
                ggdp.calibrate(ggdp.PureDP(1), TENTHS, order=1, bounds=[(1e15, 1e15 + 10)], bounding="truncated")
            ),
            r"bounds = .*subtract a public number",
        ),
    ],
)
def test_bad_input_is_refused_by_name_and_value(call, message):
    with pytest.raises(ArgumentError, match=message):
        call()
