"""Bounded integer scales are safe and tight."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.flat import loss_of_integer_boundary_inflated, loss_of_integer_truncated, scale_for_integer_bounded

from ggdp.errors import ArgumentError

LOSSES = {"truncated": loss_of_integer_truncated, "boundary-inflated": loss_of_integer_boundary_inflated}


def safe_and_tight(bounding, order, width, sensitivity, epsilon):
    b = scale_for_integer_bounded(bounding=bounding, order=order, width=width, sensitivity=sensitivity, epsilon=epsilon)
    at, below = (
        LOSSES[bounding](order=order, scale=scale, width=width, sensitivity=sensitivity)
        for scale in (b, b * (1 - 1e-9))
    )
    return at.upper <= epsilon < below.lower


@pytest.mark.parametrize("bounding", sorted(LOSSES))
@pytest.mark.parametrize("order", [1.0, 1.00001, 1.5, 2.0, 3.0, 50.0])
@pytest.mark.parametrize(
    ("width", "D", "epsilon"),
    [
        (1, 1, 1e-4),
        (1, 1, 50.0),
        (10, 1, 1.0),
        (10, 10, 1.0),
        (100, 3, 1e-4),
        (100, 3, 50.0),
        (1000, 1, 1.0),
        (10**6, 1000, 0.1),
    ],
)
def test_scales_are_safe_and_tight(bounding, order, width, D, epsilon):
    assert safe_and_tight(bounding, order, width, D, epsilon)


@given(
    bounding=st.sampled_from(sorted(LOSSES)),
    order=st.floats(1.0, 50.0),
    width=st.integers(1, 60),
    D=st.integers(1, 60),
    log_epsilon=st.floats(-4.0, 1.69),
)
@settings(deadline=None, max_examples=examples(15, 40))
def test_any_scale_is_safe_and_tight(bounding, order, width, D, log_epsilon):
    assert safe_and_tight(bounding, order, width, min(D, width), 10**log_epsilon)


@given(
    order=st.sampled_from([1.0, 1.2, 1.6, 2.0, 3.0, 10.0]),
    width=st.integers(1, 30),
    D=st.integers(1, 30),
    log_epsilon=st.floats(-1.0, 1.5),
)
@settings(deadline=None, max_examples=20)
def test_no_truncated_scale_on_a_grid_below_is_valid(order, width, D, log_epsilon):
    D, epsilon = min(D, width), 10**log_epsilon
    b = scale_for_integer_bounded(bounding="truncated", order=order, width=width, sensitivity=D, epsilon=epsilon)
    for i in range(8, 40):
        assert loss_of_integer_truncated(order=order, scale=b * i / 40, width=width, sensitivity=D).lower > epsilon


@pytest.mark.parametrize(("order", "epsilon"), [(1, 0.5), (2, 1.0), (4, 0.1), (50, 3.0)])
def test_two_outputs_have_their_closed_forms(order, epsilon):
    b = scale_for_integer_bounded(bounding="truncated", order=order, width=1, sensitivity=1, epsilon=epsilon)
    assert b == pytest.approx(epsilon ** (-1 / order), rel=1e-13)


def test_laplace_noise_on_the_bounds_has_the_unbounded_scale():
    b = scale_for_integer_bounded(bounding="boundary-inflated", order=1, width=50, sensitivity=3, epsilon=0.3)
    assert b == pytest.approx(10.0, rel=1e-15)


def test_the_scale_of_the_reals_is_not_enough_on_the_integers():
    # On [0, 10], D = 1, epsilon = 1 the real truncated scales are 3.90079 (order 2) and 6.15321 (order 3).
    for order, real in ((2, 3.90079), (3, 6.15321)):
        b = scale_for_integer_bounded(bounding="truncated", order=order, width=10, sensitivity=1, epsilon=1.0)
        assert b > real
        assert loss_of_integer_truncated(order=order, scale=real, width=10, sensitivity=1).lower > 1.0


def test_a_fine_grid_nears_the_scales_of_the_reals():
    for order, real in ((2, 3.90079), (3, 6.15321)):
        b = scale_for_integer_bounded(bounding="truncated", order=order, width=10**6, sensitivity=10**5, epsilon=1.0)
        assert b / 1e5 == pytest.approx(real, abs=2e-5)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"bounding": "clipped"}, "bounding"),
        ({"order": 0.5}, "order"),
        ({"width": 2}, "width"),
        ({"width": 5.5}, "coordinates"),
        ({"sensitivity": 0}, "sensitivity"),
    ],
)
def test_a_wrong_argument_is_named(change, name):
    arguments = {"bounding": "truncated", "order": 2.0, "width": 10, "sensitivity": 3, "epsilon": 1.0}
    with pytest.raises(ArgumentError, match=f"^{name} = "):
        scale_for_integer_bounded(**{**arguments, **change})
