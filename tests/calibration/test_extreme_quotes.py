"""What a calibration quotes at extreme arguments: a valid enclosure, soon, and no error of the arithmetic."""

import math
from fractions import Fraction

import pytest
from tests.cases import some
from tests.flat import loss_of_bounded

import ggdp
from ggdp import ApproxDP, PureDP, Sensitivity
from ggdp.calibration.scale_for_bounds import truncated_scale
from ggdp.calibration.search import passing_end

ONE = Sensitivity.disjoint(1)


@pytest.mark.parametrize(
    ("order", "support"), [(2.0, "integer"), pytest.param(1.5, "real", marks=pytest.mark.exhaustive)]
)
def test_the_smallest_delta_has_an_epsilon(order, support):
    noise = ggdp.calibrate(ApproxDP(1.0, 1e-6), ONE, order=order, support=support)
    lower, upper = noise.epsilon(math.ulp(0.0))
    assert noise.epsilon(1e-300)[0] < lower <= upper < math.inf
    assert noise.delta(upper)[1] <= math.ulp(0.0) < noise.delta(lower * (1 - 1e-9))[1]


def test_a_search_whose_excesses_underflow_still_halves_its_bracket():
    root = passing_end(lambda x: math.ulp(0.0) if x < 1.25 else 0.0, 0.0, 8.0, tolerance=1e-12)
    assert 1.25 <= root <= 1.25 * (1 + 1e-12)


@pytest.mark.parametrize(
    ("order", "support", "alpha"),
    some(
        ((*law, alpha) for law in ((1.5, "real"), (3.0, "integer"), (50.0, "real")) for alpha in (1e20, 1e60, 1e300)),
        fast=lambda _, support, alpha: alpha == 1e300 or (alpha == 1e20 and support == "real"),
    ),
)
def test_a_renyi_divergence_beyond_the_precision_is_enclosed_all_the_same(order, support, alpha):
    noise = ggdp.calibrate(ApproxDP(1.0, 1e-6), ONE, order=order, support=support)
    lower, upper = noise.renyi(alpha)
    # It does not fall with alpha.
    assert lower <= upper
    assert upper >= noise.renyi(8)[0]


@pytest.mark.parametrize("support", ["real", "integer"])
def test_a_thousand_million_cells_on_bounds_cost_no_more_than_two(support):
    noise = ggdp.calibrate(
        PureDP(1), Sensitivity.cells(10**9, 1), order=2, support=support, bounds=(0, 10), bounding="boundary-inflated"
    )
    alone = loss_of_bounded(
        bounding="boundary-inflated",
        support=support,
        order=2,
        scale=noise.scale,
        coordinates=((10.0, 1.0, 1),),
        moving=1,
    )
    lower, upper = noise.epsilon(0)
    assert Fraction(lower) <= 10**9 * Fraction(alone.upper)
    assert 10**9 * Fraction(alone.lower) <= Fraction(upper) <= 1


def test_the_paper_s_scale_on_bounds_counts_its_cells():
    many = truncated_scale(2, [(10, 1, 10**9), (20, 1, 1)], 10**9, 1.0)
    # 2 (2 w D + D^2) / eps for each cell that moves.
    assert many == pytest.approx(math.sqrt(2 * ((10**9 - 1) * 21 + 41)), rel=1e-12)


def test_no_delta_of_bounded_noise_is_above_one():
    noise = ggdp.calibrate(PureDP(5000), ONE, order=2, bounds=(0, 10), bounding="truncated")
    for epsilon in (1.0, 0.0, -1e300):
        lower, upper = noise.delta(epsilon)
        assert lower <= upper <= 1.0
    assert upper == 1.0
