"""Integer scales are safe and tight: proved to pass, and proved to fail a billionth below."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.flat import delta_of_integer_shift, scale_for_integer_shift

from ggdp.calibration import scale_for_one_coordinate
from ggdp.errors import ArgumentError
from ggdp.proofs.one_coordinate import least_threshold

NOTIONS = ("approximate", "probabilistic")


def safe_and_tight(notion, order, sensitivity, epsilon, delta):
    b = scale_for_integer_shift(notion=notion, order=order, sensitivity=sensitivity, epsilon=epsilon, delta=delta)
    at, below = (
        delta_of_integer_shift(notion=notion, order=order, scale=scale, sensitivity=sensitivity, epsilon=epsilon)
        for scale in (b, b * (1 - 1e-9))
    )
    return at.upper <= delta < below.lower


@pytest.mark.parametrize(
    ("order", "epsilon", "delta", "scale"), [(3, 1.0, 0.05, "2.57663333443"), (2, 1.0, 1e-6, "5.98322484490")]
)
def test_known_least_scales_come_out_to_all_their_digits(order, epsilon, delta, scale):
    b = scale_for_integer_shift(notion="approximate", order=order, sensitivity=1, epsilon=epsilon, delta=delta)
    assert repr(b).startswith(scale.rstrip("0"))
    assert b == pytest.approx(float(scale), abs=1e-11)


@pytest.mark.parametrize("epsilon", [1e-4, 0.1, 1.0, 7.0, 50.0])
@pytest.mark.parametrize("delta", [1e-18, 1e-6, 0.05, 0.5])
def test_laplace_noise_of_shift_one_has_its_closed_form(epsilon, delta):
    b = scale_for_integer_shift(notion="approximate", order=1, sensitivity=1, epsilon=epsilon, delta=delta)
    # log((e^epsilon + delta) / (1 - delta)) without cancellation
    closed = 1 / (epsilon + math.log1p(delta * math.exp(-epsilon)) - math.log1p(-delta))
    assert b == pytest.approx(closed, rel=1e-13)


@pytest.mark.parametrize(("D", "epsilon"), [(1, 0.1), (3, 0.5), (10**12, 1e-4)])
def test_probabilistic_laplace_noise_has_the_pure_scale(D, epsilon):
    b = scale_for_integer_shift(notion="probabilistic", order=1, sensitivity=D, epsilon=epsilon, delta=0.1)
    assert b == pytest.approx(D / epsilon, rel=1e-15)


def test_an_order_of_fifty_needs_far_less_than_on_the_reals():
    b = scale_for_integer_shift(notion="approximate", order=50, sensitivity=1, epsilon=5.0, delta=0.001)
    assert b <= 6.8


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("order", [1.0, 1.00001, 1.5, 2.0, 3.7, 50.0])
@pytest.mark.parametrize(
    ("D", "epsilon", "delta"),
    [
        (1, 1.0, 1e-6),
        (1, 50.0, 1e-18),
        (1, 50.0, 0.5),
        (2, 0.1, 0.05),
        (7, 3.0, 1e-9),
        (1000, 0.5, 0.5),
        (10**6, 1.0, 1e-12),
        (10**12, 1e-4, 1e-18),
    ],
)
def test_scales_are_safe_and_tight(notion, order, D, epsilon, delta):
    assert safe_and_tight(notion, order, D, epsilon, delta)


@given(
    notion=st.sampled_from(NOTIONS),
    order=st.floats(1.0, 50.0),
    D=st.integers(1, 50),
    log_epsilon=st.floats(-2.0, 1.69),
    log_delta=st.floats(-18.0, -0.302),
)
@settings(deadline=None, max_examples=examples(15, 40))
def test_any_scale_is_safe_and_tight(notion, order, D, log_epsilon, log_delta):
    assert safe_and_tight(notion, order, D, 10**log_epsilon, 10**log_delta)


@given(
    notion=st.sampled_from(NOTIONS),
    order=st.sampled_from([1.0, 1.3, 2.0, 6.0]),
    b=st.floats(0.3, 200.0),
    D=st.integers(1, 5),
    epsilon=st.floats(0.05, 10.0),
)
@settings(deadline=None, max_examples=examples(15, 30))
def test_from_scale_to_delta_to_scale_never_ends_above_the_start(notion, order, b, D, epsilon):
    proved = delta_of_integer_shift(notion=notion, order=order, scale=b, sensitivity=D, epsilon=epsilon)
    if not 1e-18 < proved.upper < 0.5:
        return
    again = scale_for_integer_shift(notion=notion, order=order, sensitivity=D, epsilon=epsilon, delta=proved.upper)
    assert again <= b * (1 + 1e-12)


@given(
    notion=st.sampled_from(NOTIONS),
    order=st.sampled_from([1.0, 1.5, 2.0, 4.0, 20.0]),
    D=st.integers(1, 6),
    log_epsilon=st.floats(-0.5, 1.5),
    log_delta=st.floats(-5.0, -0.302),
)
@settings(deadline=None, max_examples=12)
def test_no_scale_on_a_grid_below_is_valid(notion, order, D, log_epsilon, log_delta):
    epsilon, delta = 10**log_epsilon, 10**log_delta
    b = scale_for_integer_shift(notion=notion, order=order, sensitivity=D, epsilon=epsilon, delta=delta)
    for i in range(1, 40):
        scale = b * i / 40
        below = delta_of_integer_shift(notion=notion, order=order, scale=scale, sensitivity=D, epsilon=epsilon)
        assert below.lower > delta


@pytest.mark.exhaustive
@given(
    notion=st.sampled_from(NOTIONS),
    order=st.sampled_from([1.05, 1.5, 2.0, 3.0, 8.0, 50.0]),
    D=st.integers(1, 12),
    log_epsilon=st.floats(-1.0, 1.7),
    log_delta=st.floats(-8.0, -0.302),
)
@settings(deadline=None, max_examples=examples(133, 400))
def test_no_breakpoint_below_the_one_found_passes(notion, order, D, log_epsilon, log_delta):
    epsilon, delta = 10**log_epsilon, 10**log_delta
    b = scale_for_integer_shift(notion=notion, order=order, sensitivity=D, epsilon=epsilon, delta=delta)
    assume(b < 200)
    k = least_threshold(D)
    while (scale := scale_for_one_coordinate._breakpoint(order, D, epsilon, k)) < b:
        proved = delta_of_integer_shift(notion=notion, order=order, scale=scale, sensitivity=D, epsilon=epsilon)
        assert proved.lower > delta
        k += 1


@pytest.mark.parametrize(("order", "D"), [(1.0, 6), (2.0, 6), (2.0, 100), (9.0, 31)])
@pytest.mark.parametrize("delta", [0.6, 0.9])
def test_above_one_half_the_worst_shift_is_searched_for_too(order, D, delta):
    assert safe_and_tight("probabilistic", order, D, 1.0, delta)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"notion": "pure"}, "notion"),
        ({"order": 0.5}, "order"),
        ({"sensitivity": 0.5}, "sensitivity"),
        ({"epsilon": 0.0}, "epsilon"),
    ],
)
def test_a_wrong_argument_is_named(change, name):
    arguments = {"notion": "approximate", "order": 2.0, "sensitivity": 1, "epsilon": 1.0, "delta": 0.01}
    with pytest.raises(ArgumentError, match=f"^{name} = "):
        scale_for_integer_shift(**{**arguments, **change})
