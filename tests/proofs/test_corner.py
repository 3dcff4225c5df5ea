"""Deltas of corners: never below the exact value, and near it wherever there is one to compare with."""

from __future__ import annotations

import itertools
import math

import mpmath
import pytest
from tests.cases import covering, some
from tests.flat import delta_of_corner, delta_of_shift, least_delta_of_corner

from ggdp.calibration.scale_for_several_coordinates import with_layout
from ggdp.errors import ArgumentError
from ggdp.proofs import NoiseLaw
from ggdp.proofs.several_coordinates import CornerDelta

NARROW = 3e-4


def gaussian(norm: float, scale: float, epsilon: float) -> mpmath.mpf:
    """The exact delta at order 2, where only the l_2 norm matters."""
    with mpmath.workdps(50):
        s = mpmath.mpf(norm) * mpmath.sqrt(2) / mpmath.mpf(scale)
        eps = mpmath.mpf(epsilon)
        return mpmath.ncdf(s / 2 - eps / s) - mpmath.exp(eps) * mpmath.ncdf(-s / 2 - eps / s)


def integer_delta(order: float, scale: float, shifts: list[int], epsilon: float, reach: int) -> float:
    """Delta on the integers by adding up all noise vectors with entries up to `reach`."""
    weight = [math.exp(-((abs(k) / scale) ** order)) for k in range(-reach, reach + 1)]
    total = math.fsum(weight)
    singles = []
    for shift in shifts:
        losses = [(abs(k + shift) ** order - abs(k) ** order) / scale**order for k in range(-reach, reach + 1)]
        singles.append(list(zip(losses, (w / total for w in weight), strict=True)))
    terms = []
    for point in itertools.product(*singles):
        loss = sum(single for single, _ in point)
        if loss > epsilon:
            terms.append(-math.expm1(epsilon - loss) * math.prod(w for _, w in point))
    return math.fsum(terms)


@pytest.mark.parametrize(
    ("corner", "scale", "epsilon"),
    [
        (((1.0, 2),), 2.6656, 1.0),
        (((1.0, 1),), 1.2, 3.0),
        (((3.0, 1), (1.0, 4), (0.25, 2)), 11.0, 0.5),
        pytest.param(((1.0, 1), (1e-3, 9999)), 2.0, 1.0, marks=pytest.mark.exhaustive),
        (((1.0, 1), (1e-9, 1)), 2.0, 1.0),
        pytest.param(((1.0, 100),), 190.0, 0.3, marks=pytest.mark.exhaustive),
        (((1.0, 2),), 0.3, 50.0),
        (((1.0, 3),), 3e5, 1e-4),
    ],
)
def test_order_two_is_above_the_analytic_gaussian_and_near_it(
    corner: tuple[tuple[float, int], ...], scale: float, epsilon: float
) -> None:
    norm = math.sqrt(sum(count * size * size for size, count in corner))
    exact = gaussian(norm, scale, epsilon)
    found = delta_of_corner(order=2, scale=scale, corner=corner, epsilon=epsilon, support="real")
    assert exact <= found.upper
    # A scale of one part in 10^4 less would give more than was found.
    assert found.upper <= gaussian(norm, scale * (1 - 1e-4), epsilon)


@pytest.mark.parametrize(
    ("order", "scale", "epsilon"),
    some(
        ((order, *law) for order in (1.0, 1.0001, 1.5, 2.0, 3.0, 8.0, 50.0) for law in ((1.5, 0.4), (12.0, 0.05))),
        fast=lambda order, scale, _: scale < 12.0 or order in (1.0, 1.5),
    ),
)
def test_one_coordinate_is_above_the_exact_shift_and_near_it(order: float, scale: float, epsilon: float) -> None:
    exact = delta_of_shift(notion="approximate", order=order, scale=scale, sensitivity=1.0, epsilon=epsilon)
    found = delta_of_corner(order=order, scale=scale, corner=((1.0, 1),), epsilon=epsilon, support="real")
    assert exact.lower <= found.upper <= exact.upper * (1 + NARROW)


def test_two_laplace_coordinates_equal_their_convolution() -> None:
    d, epsilon = mpmath.mpf(1) / mpmath.mpf(1.5), mpmath.mpf(0.7)

    def above(level: mpmath.mpf) -> mpmath.mpf:
        """E (1 - e^(level - L))_+ of one coordinate, whose loss is between -d and d."""
        if level >= d:
            return mpmath.mpf(0)
        return 1 - mpmath.exp((level - d) / 2) if level > -d else 1 - mpmath.exp(level)

    with mpmath.workdps(30):
        # Atoms at d and -d, and the density e^(x) / 2 on x = (L - d) / 2 between -d and 0.
        middle = mpmath.quad(lambda x: mpmath.exp(x) / 2 * above(epsilon - 2 * x - d), [-d, -epsilon / 2, 0])
        exact = above(epsilon - d) / 2 + mpmath.exp(-d) / 2 * above(epsilon + d) + middle
    found = delta_of_corner(order=1, scale=1.5, corner=((1.0, 2),), epsilon=0.7, support="real")
    assert exact <= found.upper <= exact * (1 + NARROW)


@pytest.mark.parametrize(
    ("order", "corner", "scale"),
    covering([1.0, 1.5, 2.0, 3.0, 20.0], [((1, 2),), ((2, 1), (1, 1)), ((1, 1),)], [0.8, 1.7, 3.0]),
)
def test_integers_are_above_the_sum_over_all_noise_and_near_it(
    order: float, corner: tuple[tuple[int, int], ...], scale: float
) -> None:
    shifts = [size for size, number in corner for _ in range(number)]
    reach = math.ceil(scale * 34.0 ** (1.0 / order)) + 1
    exact = integer_delta(order, scale, shifts, 1.0, reach)
    found = delta_of_corner(order=order, scale=scale, corner=corner, epsilon=1.0, support="integer").upper
    # At scale 3 and order 1 the largest loss is epsilon itself, and the step is rounded in its 24th bit.
    assert exact * (1 - 1e-9) <= found <= exact * (1 + NARROW) + 1e-7


@pytest.mark.exhaustive
def test_integers_of_a_wide_scale_agree_with_the_reals() -> None:
    real = delta_of_corner(order=3, scale=20.0, corner=((1.0, 8),), epsilon=0.5, support="real").upper
    wide = delta_of_corner(order=3, scale=20.0 * 2**30, corner=((2**30, 8),), epsilon=0.5, support="integer").upper
    # Upper bounds, of which that of atoms has the finer grid.
    assert math.isclose(real, wide, rel_tol=1e-5)


def test_any_layout_gives_an_upper_bound() -> None:
    # A layout for another epsilon is a bad one, and still proves no more than is true.
    exact, law, corner = gaussian(math.sqrt(5.0), 6.0, 1.0), NoiseLaw(order=2, scale=6.0), ((1.0, 5),)
    for epsilon in (0.3, 2.0):
        bad, _ = with_layout(CornerDelta(corner=corner, epsilon=epsilon), law)
        bound = CornerDelta(corner=corner, epsilon=1.0, layout=bad.layout)
        assert bound.lower(law, 128) <= exact <= bound.at_precision(law, 128).upper


def test_a_layout_with_fewer_grids_than_sizes_is_refused() -> None:
    laid, _ = with_layout(CornerDelta(corner=((1.0, 2),), epsilon=1.0), NoiseLaw(order=2, scale=5.0))
    with pytest.raises(ArgumentError, match="a grid for each of the 2 sizes"):
        CornerDelta(corner=((1.0, 2), (0.5, 1)), epsilon=1.0, layout=laid.layout)


@pytest.mark.parametrize("bits", [64, 96, 192, 400])
def test_every_precision_gives_an_upper_bound(bits: int) -> None:
    law, corner = NoiseLaw(order=2, scale=6.0), ((1.0, 5),)
    bound, _ = with_layout(CornerDelta(corner=corner, epsilon=1.0), law)
    assert gaussian(math.sqrt(5.0), 6.0, 1.0) <= bound.at_precision(law, bits).upper


@pytest.mark.parametrize(
    ("count", "scale"), [(3, 4.0), (150, 30.0), pytest.param(20_000, 300.0, marks=pytest.mark.exhaustive)]
)
def test_the_lower_bound_is_below_the_exact_value_and_near_it(count: int, scale: float) -> None:
    exact = gaussian(math.sqrt(count), scale, 1.0)
    found = least_delta_of_corner(order=2, scale=scale, corner=((1.0, count),), epsilon=1.0, support="real")
    assert 0.999 * exact <= found <= exact


def test_small_deltas_keep_their_digits() -> None:
    exact = gaussian(10.0, 118.0, 1.0)
    assert exact < 1e-17
    found = delta_of_corner(order=2, scale=118.0, corner=((1.0, 100),), epsilon=1.0, support="real")
    assert exact <= found.upper <= gaussian(10.0, 118.0 * (1 - 1e-4), 1.0)


@pytest.mark.exhaustive
def test_the_same_call_gives_the_same_record() -> None:
    call = {"order": 3.0, "scale": 9.0, "corner": ((1.0, 4), (0.5, 3)), "epsilon": 1.0, "support": "real"}
    assert delta_of_corner(**call) == delta_of_corner(**call)


def test_far_too_little_noise_is_bounded_by_one() -> None:
    assert delta_of_corner(order=4, scale=1e-3, corner=((1.0, 50),), epsilon=1.0, support="real").upper <= 1.0
