"""Scales for corners: certified, near the optimum, and equal to what is known."""

from __future__ import annotations

import math
from itertools import product

import pytest
from tests.cases import some
from tests.flat import delta_of_corner, scale_for_corner

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
