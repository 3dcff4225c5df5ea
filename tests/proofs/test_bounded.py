from fractions import Fraction

import pytest
from mpmath import mpf
from tests.flat import loss_of_boundary_inflated, loss_of_bounded, loss_of_truncated
from tests.reference import fifty_digits as exact

CASES = [
    (1.0, 1.5, 10.0, 1.0),
    (1.0001, 2.0, 10.0, 1.0),
    (1.5, 3.0, 10.0, 1.0),
    (1.9, 5.0, 10.0, 3.0),
    (2.0, 3.9, 10.0, 1.0),
    (2.0, 1e5, 10.0, 10.0),
    (3.0, 0.5, 4.0, 0.25),
    (8.0, 10.0, 10.0, 1.0),
    (50.0, 11.0, 10.0, 1.0),
    (1.5, 200.0, 1e4, 1.0),
    (1.2, 1e3, 10.0, 0.5),
]


@pytest.mark.parametrize(("p", "b", "w", "D"), CASES)
def test_the_truncated_loss_encloses_the_50_digit_maximum(p, b, w, D):
    found = loss_of_truncated(order=p, scale=b, width=w, sensitivity=D)
    value = exact.truncated_loss(p, b, w, D)
    assert mpf(found.lower) <= value * (1 + mpf(10) ** -13)
    assert value <= mpf(found.upper)
    assert found.upper - found.lower <= 1e-11 * found.upper


@pytest.mark.parametrize(("p", "b", "w", "D"), CASES)
@pytest.mark.parametrize("share", [0.0, 0.1, 0.37, 0.5, 0.81, 0.999, 1.0])
def test_no_location_has_a_larger_truncated_loss(p, b, w, D, share):
    found = loss_of_truncated(order=p, scale=b, width=w, sensitivity=D)
    assert exact.truncated_loss_at(p, b, w, D, mpf(share) * (mpf(w) - mpf(D))) <= mpf(found.upper)


@pytest.mark.parametrize(("p", "b", "w", "D"), CASES)
def test_the_boundary_inflated_loss_encloses_the_50_digit_value(p, b, w, D):
    found = loss_of_boundary_inflated(order=p, scale=b, width=w, sensitivity=D)
    assert mpf(found.lower) <= exact.boundary_inflated_loss(p, b, w, D) <= mpf(found.upper)


def test_the_argmax_is_the_lower_bound_for_orders_from_two_and_the_upper_end_for_laplace():
    for p, place in ((2.0, 0.0), (3.0, 0.0), (8.0, 0.0), (1.0, 9.0)):
        found = loss_of_truncated(order=p, scale=4.0, width=10.0, sensitivity=1.0)
        assert found.upper == pytest.approx(float(exact.truncated_loss_at(p, 4.0, 10.0, 1.0, place)), rel=1e-12)


def test_between_orders_one_and_two_the_argmax_is_inside():
    found = loss_of_truncated(order=1.5, scale=3.0, width=10.0, sensitivity=1.0)
    ends = max(float(exact.truncated_loss_at(1.5, 3.0, 10.0, 1.0, s)) for s in (0.0, 9.0))
    assert found.lower > ends * 1.01


def test_far_in_the_tail_the_boundary_inflated_loss_is_still_sharp():
    found = loss_of_boundary_inflated(order=2.0, scale=1e6, width=1e12, sensitivity=1.0)
    assert found.upper - found.lower <= 1e-12 * found.upper
    # ln Q(1/2, x) = -x - ln(x)/2 - ..., so the loss is close to (2 w D - D^2)/b^2.
    assert found.upper == pytest.approx(2.0, rel=1e-9)


@pytest.mark.parametrize("bounding", ["truncated", "boundary-inflated"])
@pytest.mark.parametrize("support", ["real", "integer"])
def test_losses_of_moving_coordinates_add_and_the_largest_count(bounding, support):
    def loss(coordinates, moving):
        return loss_of_bounded(
            bounding=bounding, support=support, order=2.0, scale=8.0, coordinates=coordinates, moving=moving
        )

    small, large = loss(((10.0, 1.0, 1),), 1), loss(((20.0, 2.0, 1),), 1)
    both = ((10.0, 1.0, 3), (20.0, 2.0, 1))
    assert loss(both, 1).upper == pytest.approx(large.upper, rel=1e-12)
    assert loss(both, 3).upper == pytest.approx(large.upper + 2 * small.upper, rel=1e-12)
    assert loss(both, 4).lower <= loss(both, 4).upper


def test_sums_of_losses_are_rounded_outwards():
    for i in range(40):
        scale = 3.0 + 0.17 * i
        one = loss_of_boundary_inflated(order=2.0, scale=scale, width=10.0, sensitivity=1.0)
        three = loss_of_bounded(
            bounding="boundary-inflated",
            support="real",
            order=2.0,
            scale=scale,
            coordinates=((10.0, 1.0, 3),),
            moving=3,
        )
        assert 3 * Fraction(one.upper) <= Fraction(three.upper)
        assert 3 * Fraction(one.lower) >= Fraction(three.lower)
