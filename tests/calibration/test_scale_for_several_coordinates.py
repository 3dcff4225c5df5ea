"""Scales for corners: certified, near the optimum, and equal to what is known.

Scales of the direction-free bound: safe and tight.
"""

from __future__ import annotations

import math
from itertools import product

import pytest
from tests.cases import some
from tests.flat import delta_of_corner, delta_of_radial, scale_for_corner, scale_for_radial

from ggdp.calibration.scale_for_several_coordinates import least_for_corner
from ggdp.proofs import NoiseLaw
from ggdp.proofs.several_coordinates import CornerDelta


def analytic_gaussian_scale(norm: float, epsilon: float, delta: float) -> float:
    """The scale at order 2 by bisection of the analytic Gaussian formula, in 30 digits."""
    import mpmath

    with mpmath.workdps(40):
        eps = mpmath.mpf(epsilon)

        def exact(scale: mpmath.mpf) -> mpmath.mpf:
            s = norm * mpmath.sqrt(2) / scale
            return mpmath.ncdf(s / 2 - eps / s) - mpmath.exp(eps) * mpmath.ncdf(-s / 2 - eps / s)

        low, high = mpmath.mpf(norm) / 1000, mpmath.mpf(norm) * 1e7
        for _ in range(120):
            middle = mpmath.sqrt(low * high)
            low, high = (middle, high) if exact(middle) > delta else (low, middle)
        return float(high)


@pytest.mark.parametrize(("order", "known"), [(2.0, 2.6656), (3.0, 3.508), (4.0, 4.24)])
def test_replace_one_on_a_histogram_has_its_known_scales(order: float, known: float) -> None:
    scale = scale_for_corner(order=order, corner=((1.0, 2),), epsilon=1.0, delta=0.05, support="real")
    assert math.isclose(scale, known, rel_tol=1.2e-3 if order == 4.0 else 2e-4)


@pytest.mark.parametrize(
    ("corner", "epsilon", "delta"),
    [
        (((1.0, 2),), 1.0, 0.05),
        (((1.0, 100),), 1.0, 1e-9),
        (((1.0, 1000),), 0.5, 1e-6),
        (((1.0, 30),), 1.0, 1e-18),
        (((1e-9, 3),), 1e-4, 0.5),
        (((1e12, 3), (1e9, 20)), 50.0, 1e-3),
    ],
)
def test_order_two_is_within_a_ten_thousandth_of_the_analytic_gaussian(
    corner: tuple[tuple[float, int], ...], epsilon: float, delta: float
) -> None:
    norm = math.sqrt(sum(count * size * size for size, count in corner))
    optimum = analytic_gaussian_scale(norm, epsilon, delta)
    scale = scale_for_corner(order=2, corner=corner, epsilon=epsilon, delta=delta, support="real")
    assert optimum <= scale <= optimum * (1 + 1e-4)


@pytest.mark.parametrize(
    ("order", "support"),
    some(
        product((1.0, 1.3, 3.0, 50.0), ("real", "integer")),
        fast=lambda *case: case in {(1.0, "real"), (1.0, "integer"), (50.0, "integer")},
    ),
)
def test_scale_is_certified_for_mixed_sizes(order: float, support: str) -> None:
    call = {"corner": ((4, 1), (1, 3)), "epsilon": 0.8}
    found = least_for_corner(CornerDelta(**call), NoiseLaw(order=order, scale=1.0, support=support), 1e-3)
    assert found.bound.claim == CornerDelta(**call)
    assert found.bound.at_precision(found.law, found.found.precision).upper <= 1e-3
    if support == "real":
        smaller = found.law.scale * (1 - 1e-4)
        assert delta_of_corner(order=order, scale=smaller, support=support, **call).upper > 1e-3


def test_scale_on_the_reals_is_proportional_to_the_sizes() -> None:
    goal = {"order": 3.0, "epsilon": 1.0, "delta": 1e-5, "support": "real"}
    one = scale_for_corner(**goal, corner=((1.0, 2), (0.5, 1)))
    million = scale_for_corner(**goal, corner=((1e6, 2), (0.5e6, 1)))
    assert math.isclose(million, 1e6 * one, rel_tol=1e-5)


def test_integer_scale_is_not_above_one_that_is_known_to_pass() -> None:
    # Order 50 is nearly uniform on the integers below the scale, so delta has a valley just above each of them.
    call = {"order": 50.0, "corner": ((1, 2),), "epsilon": 5.0, "support": "integer"}
    passing = [s for s in (2.9, 3.9, 4.9, 5.9, 6.9, 7.9) if delta_of_corner(**call, scale=s).upper <= 0.3]
    assert passing
    assert scale_for_corner(**call, delta=0.3) <= min(passing)


@pytest.mark.exhaustive
@pytest.mark.parametrize("order", [1.0, 2.0, 50.0])
@pytest.mark.parametrize(("count", "delta"), [(1000, 1e-9), (10_000, 1e-18)])
def test_many_cells_are_certified(order: float, count: int, delta: float) -> None:
    call = {"order": order, "corner": ((1.0, count),), "epsilon": 1.0, "support": "real"}
    scale = scale_for_corner(**call, delta=delta)
    assert delta_of_corner(**call, scale=scale).upper <= delta


@pytest.mark.parametrize(
    ("order", "corner", "finer"),
    [
        (1.01, ((5.0, 2),), 345.5331),
        pytest.param(1.00001, ((5.0, 2),), 333.3432, marks=pytest.mark.exhaustive),
        pytest.param(1.001, ((2.0, 2), (1.0, 1)), 167.2029, marks=pytest.mark.exhaustive),
        pytest.param(1.001, ((3.0, 1), (0.1, 5)), 117.0850, marks=pytest.mark.exhaustive),
    ],
)
def test_near_order_one_the_almost_atoms_of_the_loss_do_not_cost_more_than_a_ten_thousandth(order, corner, finer):
    """`finer` is a float estimate on a grid four times as fine; with the atoms off the grid 2 % and more were lost."""
    found = scale_for_corner(order=order, corner=corner, epsilon=0.03, delta=1.7e-17, support="real")
    assert finer * (1 - 1e-5) <= found <= finer * (1 + 1e-4)


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
