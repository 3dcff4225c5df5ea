"""Scales of the direction-free bound: safe and tight."""

from __future__ import annotations

import math

import pytest
from tests.flat import delta_of_radial, scale_for_radial


@pytest.mark.parametrize("order", [1.001, 1.5, 2.0, 3.0, 50.0])
@pytest.mark.parametrize("dimension", [1, 7, 10_000])
@pytest.mark.parametrize(("epsilon", "delta"), [(1e-4, 1e-18), (1.0, 0.05), (50.0, 0.5)])
def test_scale_passes_and_a_billionth_less_fails(order: float, dimension: int, epsilon: float, delta: float) -> None:
    goal = {"order": order, "sensitivity": 1.0, "dimension": dimension, "epsilon": epsilon}
    scale = scale_for_radial(**goal, delta=delta)
    assert delta_of_radial(**goal, scale=scale).upper <= delta
    assert delta_of_radial(**goal, scale=scale * (1 - 1e-9)).lower > delta


@pytest.mark.parametrize("sensitivity", [1e-9, 1e12])
def test_scale_is_proportional_to_the_sensitivity(sensitivity: float) -> None:
    goal = {"order": 3.0, "dimension": 5, "epsilon": 1.0, "delta": 1e-6}
    ratio = scale_for_radial(**goal, sensitivity=sensitivity) / scale_for_radial(**goal, sensitivity=1.0)
    assert math.isclose(ratio, sensitivity, rel_tol=1e-9)


def test_two_dimensions_at_order_two_have_a_closed_form() -> None:
    g = math.log(20.0)
    closed = 1 / (math.sqrt(g + 1) - math.sqrt(g))
    scale = scale_for_radial(order=2, sensitivity=1.0, dimension=2, epsilon=1.0, delta=0.05)
    assert math.isclose(scale, closed, rel_tol=1e-9)
