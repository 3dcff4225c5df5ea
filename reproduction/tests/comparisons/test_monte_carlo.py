"""Scales by Monte Carlo, as the paper has them, next to certified ones."""

from __future__ import annotations

import math

import pytest
from tests.flat import scale_for_absolute_sum

from ggdp.errors import ArgumentError
from ggdp_reproduction.comparisons import scale_by_monte_carlo

CORNER = ((1.0, 1), (0.1, 1), (0.05, 1))


@pytest.mark.parametrize("order", [2.0])
def test_monte_carlo_interval_holds_the_certified_scale(order: float) -> None:
    goal = {"order": order, "corner": CORNER, "epsilon": 1.0, "delta": 0.05}
    scale = scale_for_absolute_sum(**goal, support="real")
    found = scale_by_monte_carlo(**goal, draws=50_000, seed=20)
    assert found.lower <= scale <= found.upper
    assert found.upper - found.lower < 0.05 * found.estimate


def test_monte_carlo_knows_when_its_draws_are_too_few() -> None:
    found = scale_by_monte_carlo(order=2.0, corner=CORNER, epsilon=1.0, delta=1e-6, draws=1000, seed=1)
    assert math.isinf(found.upper)


def test_a_known_joint_norm_lowers_the_monte_carlo_scale_and_a_useless_one_changes_nothing() -> None:
    goal = {"order": 2.0, "corner": ((1.0, 3),), "epsilon": 1.0, "delta": 0.05, "draws": 5000, "seed": 7}
    plain = scale_by_monte_carlo(**goal)
    assert scale_by_monte_carlo(**goal, joint=1.0).estimate < plain.estimate
    assert scale_by_monte_carlo(**goal, joint=10.0) == plain


@pytest.mark.parametrize(
    ("count", "order", "epsilon", "delta"),
    [
        (2, 3.0, 1.0, 0.5),
        pytest.param(20, 3.0, 1.0, 0.3, marks=pytest.mark.exhaustive),
        pytest.param(1000, 3.0, 1.0, 0.5, marks=pytest.mark.exhaustive),
        pytest.param(100, 5.0, 50.0, 0.5, marks=pytest.mark.exhaustive),
    ],
)
def test_large_deltas_give_scales_near_the_simulated_ones(
    count: int, order: float, epsilon: float, delta: float
) -> None:
    """A mean loss above epsilon leaves no tilt to choose the grid by; the grid once was far too coarse then."""
    corner = ((1.0, count),)
    scale = scale_for_absolute_sum(order=order, corner=corner, epsilon=epsilon, delta=delta, support="real")
    found = scale_by_monte_carlo(order=order, corner=corner, epsilon=epsilon, delta=delta, draws=20_000, seed=4)
    assert found.lower * (1 - 1e-3) <= scale <= found.upper * (1 + 3e-3)


@pytest.mark.parametrize(("wrong", "message"), [({"draws": 0}, "draws = 0"), ({"delta": 2}, "delta = 2")])
def test_bad_arguments_are_refused(wrong, message):
    goal = {"order": 2, "corner": CORNER, "epsilon": 1, "delta": 0.1, "draws": 9, "seed": 1}
    with pytest.raises(ArgumentError, match=message):
        scale_by_monte_carlo(**{**goal, **wrong})
