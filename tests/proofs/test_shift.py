import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mpf
from tests.cases import examples
from tests.flat import delta_of_shift
from tests.reference import fifty_digits as exact

NOTIONS = ["approximate", "probabilistic"]

points = {
    "notion": st.sampled_from(NOTIONS),
    "order": st.one_of(st.just(1.0), st.floats(1.0, 1.001), st.floats(1.0, 50.0)),
    "shift": st.floats(1e-3, 10.0),
    "epsilon": st.floats(1e-4, 50.0),
}


@settings(deadline=None, max_examples=examples(50, 150))
@given(**points)
def test_the_enclosure_holds_the_50_digit_value(notion, order, shift, epsilon):
    found = delta_of_shift(notion=notion, order=order, scale=1.0, sensitivity=shift, epsilon=epsilon)
    value = exact.real_delta(notion, order, 1.0, shift, epsilon)
    room = mpf(10) ** -40
    assert found.lower <= value + room
    assert value - room <= found.upper
    # At the root's float resolution nothing is lost: the two ends agree to a dozen digits.
    assert found.upper - found.lower <= 1e-12 * found.upper + 5e-324


@settings(deadline=None, max_examples=examples(25, 60))
@given(**points, factor=st.floats(1.0, 2.0))
def test_delta_grows_with_the_shift(notion, order, shift, epsilon, factor):
    near = delta_of_shift(notion=notion, order=order, scale=1.0, sensitivity=shift, epsilon=epsilon)
    far = delta_of_shift(notion=notion, order=order, scale=1.0, sensitivity=shift * factor, epsilon=epsilon)
    assert near.lower <= far.upper


@settings(deadline=None, max_examples=examples(25, 60))
@given(**points)
def test_approximate_delta_is_below_probabilistic_delta(notion, order, shift, epsilon):
    del notion
    approximate, probabilistic = (
        delta_of_shift(notion=notion, order=order, scale=1.0, sensitivity=shift, epsilon=epsilon) for notion in NOTIONS
    )
    assert approximate.lower <= probabilistic.upper


def test_the_gaussian_delta_is_balle_and_wangs():
    sigma, epsilon = 4.0, 0.7
    phi = lambda x: 0.5 * math.erfc(-x / math.sqrt(2.0))  # noqa: E731
    expected = phi(0.5 / sigma - epsilon * sigma) - math.exp(epsilon) * phi(-0.5 / sigma - epsilon * sigma)
    found = delta_of_shift(
        notion="approximate", order=2, scale=sigma * math.sqrt(2.0), sensitivity=1.0, epsilon=epsilon
    )
    assert found.upper == pytest.approx(expected, rel=1e-10)


def test_pure_laplace_has_delta_zero_at_its_own_epsilon_and_not_below():
    at = delta_of_shift(notion="probabilistic", order=1, scale=10.0, sensitivity=1.0, epsilon=0.1)
    assert at.upper == 0.0
    below = delta_of_shift(
        notion="probabilistic", order=1, scale=math.nextafter(10.0, 0.0), sensitivity=1.0, epsilon=0.1
    )
    # The loss is above epsilon by an ulp on half of all outputs and more.
    assert below.lower > 0.9


def test_a_delta_too_small_for_a_float_is_bounded_by_the_least_float():
    found = delta_of_shift(notion="approximate", order=1.0001, scale=2.0, sensitivity=1.0, epsilon=1.0)
    assert (found.lower, found.upper) == (0.0, 5e-324)
