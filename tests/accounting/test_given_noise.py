"""`ggdp.Noise`: noise of a given law as a part of totals and ledgers."""

from __future__ import annotations

import math

import pytest
from tests.cases import covering

import ggdp
from ggdp.errors import ArgumentError, BudgetExceededError

ONE = ggdp.Sensitivity.disjoint(1)


def test_the_example_of_dp_accounting_is_one_call():
    # Its README: 40 Laplace mechanisms of scale 3 and a Gaussian one of 5; delta at epsilon 10.
    laplace, gaussian = ggdp.Noise(order=1, scale=3, sensitivity=ONE), ggdp.Noise(order=2, std=5, sensitivity=ONE)
    lower, upper = ggdp.compose([(laplace, 40), gaussian]).delta(10)
    assert lower <= upper
    assert lower == pytest.approx(2.2396632e-6, rel=2e-8)
    assert upper == pytest.approx(2.2396632e-6, rel=2e-8)


@pytest.mark.parametrize(
    ("order", "support", "sensitivity"),
    covering([1.0, 1.5, 2.0, 3.0], ["real", "integer"], [ONE, ggdp.Sensitivity.cells(3, 1)]),
)
def test_noise_has_the_losses_of_a_calibration_with_its_scale(order, support, sensitivity):
    goal = ggdp.PureDP(0.5) if order == 1.0 else ggdp.ApproxDP(0.5, 1e-6)
    calibration = ggdp.calibrate(goal, sensitivity, order=order, support=support)
    noise = ggdp.Noise(order=order, scale=calibration.scale, sensitivity=sensitivity, support=support)
    assert ggdp.compose([(noise, 5)]).total.losses == ggdp.compose([(calibration, 5)]).total.losses
    assert noise.guarantee.epsilon == pytest.approx(0.5, rel=1e-3)


def test_gaussian_noise_composes_like_one_gaussian():
    few = ggdp.compose([(ggdp.Noise(order=2, std=6, sensitivity=ONE), 9)])
    one = ggdp.compose([ggdp.Noise(order=2, std=2, sensitivity=ONE)])
    assert few.delta(1.0)[1] == pytest.approx(one.delta(1.0)[1], rel=1e-4)


def test_a_standard_deviation_is_that_of_the_law_on_the_reals():
    for order in (1.0, 1.7, 2.0, 8.0):
        noise = ggdp.Noise(order=order, std=4.0, sensitivity=ONE)
        assert ggdp.GeneralizedGaussian(order=order, scale=noise.scale).std == pytest.approx(4.0, rel=1e-14)
    assert ggdp.Noise(order=2, std=5, sensitivity=ONE).scale == pytest.approx(5 * math.sqrt(2), rel=1e-15)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({}, "give either scale or std"),
        ({"scale": 1, "std": 1}, "give either scale or std"),
        ({"std": -1}, "std = -1"),
        ({"scale": math.nan}, "scale = nan"),
        ({"scale": 1, "order": 0.5}, "order = 0.5"),
        ({"scale": 1, "support": "floats"}, "support = 'floats'"),
        ({"scale": 1, "sensitivity": 1}, "must be a Sensitivity"),
        ({"scale": 1, "sensitivity": ggdp.Sensitivity.disjoint(0.5), "support": "integer"}, "sensitivity"),
    ],
)
def test_wrong_noise_is_refused_by_the_name_of_its_argument(wrong, said):
    with pytest.raises(ArgumentError, match=said):
        ggdp.Noise(**{"order": 2, "sensitivity": ONE, **wrong})


def test_a_ledger_reserves_and_weighs_noise(tmp_path):
    noise = ggdp.Noise(order=2, std=30, sensitivity=ONE)
    ledger = ggdp.Ledger.create(tmp_path / "year.ledger", ggdp.ApproxDP(1.0, 1e-6), accounting="reserved")
    delta = ledger.reserve([(noise, 12)])
    assert ggdp.compose([(noise, 12)]).delta(1.0)[0] <= delta <= 1e-6
    with pytest.raises(BudgetExceededError):
        ledger.reserve([(ggdp.Noise(order=1, scale=1, sensitivity=ONE), 1)])
    summed = ggdp.Ledger.create(tmp_path / "sum.ledger", ggdp.ApproxDP(1.0, 1e-6))
    assert summed.what_if(ggdp.Noise(order=1, scale=4, sensitivity=ONE)).fitting == 4


def test_noise_of_other_neighbours_is_not_composed():
    replaced = ggdp.Noise(order=1, scale=3, sensitivity=ggdp.Sensitivity.cells(1, 1, neighbours="replace-one"))
    with pytest.raises(ArgumentError, match="Laplace noise of scale 3"):
        ggdp.compose([ggdp.Noise(order=1, scale=4, sensitivity=ONE), replaced])
