"""The integer shift's delta holds the exact one, at ties too, and its worst shift is the worst."""

import math

import mpmath as mp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.flat import delta_of_integer_shift

from ggdp.errors import ArgumentError
from ggdp.proofs.one_coordinate import integer_threshold, least_threshold


def exact_delta(notion, p, b, d, epsilon):
    """Sum over all integers at 50 digits, from the definition: no threshold, no tails."""
    with mp.workdps(50):
        p, b, epsilon = mp.mpf(p), mp.mpf(b), mp.mpf(epsilon)
        N = 5 + d + int(b * 120 ** (1 / p))
        weight = {k: mp.exp(-((abs(mp.mpf(k)) / b) ** p)) for k in range(-N - d, N + d + 1)}
        total, Z = mp.mpf(0), mp.fsum(weight[k] for k in range(-N, N + 1))
        for k in range(-N, N + 1):
            loss = (abs(mp.mpf(k + d)) ** p - abs(mp.mpf(k)) ** p) / b**p
            if notion == "approximate":
                total += max(weight[k] - mp.exp(epsilon) * weight[k + d], 0)
            elif abs(loss) > epsilon:
                total += weight[k]
        return total / Z


@given(
    notion=st.sampled_from(["approximate", "probabilistic"]),
    p=st.sampled_from([1.0, 1.00001, 1.4, 2.0, 3.0, 8.0, 50.0]),
    b=st.floats(0.1, 12.0),
    D=st.integers(1, 6),
    epsilon=st.floats(0.01, 12.0),
)
@settings(deadline=None, max_examples=examples(15, 40))
def test_the_enclosure_holds_the_delta_of_the_definition_over_all_shifts(notion, p, b, D, epsilon):
    proved = delta_of_integer_shift(notion=notion, order=p, scale=b, sensitivity=D, epsilon=epsilon)
    exact = max(exact_delta(notion, p, b, d, epsilon) for d in range(1, D + 1))
    with mp.workdps(50):
        # What the sum at 50 digits leaves out and rounds away.
        slack = mp.mpf(10) ** -45
        assert proved.lower - slack <= exact <= proved.upper + slack
    assert proved.upper - proved.lower <= 1e-12 * proved.upper + 5e-324


@pytest.mark.parametrize(("epsilon", "b"), [(1.0, 0.7), (0.3, 2.0), (5.0, 0.15)])
def test_laplace_noise_of_shift_one_has_its_closed_form(epsilon, b):
    # delta = 1 - (1 + e^epsilon) q / (1 + q), for b below 1 / epsilon.
    proved = delta_of_integer_shift(notion="approximate", order=1, scale=b, sensitivity=1, epsilon=epsilon)
    with mp.workdps(50):
        q = mp.exp(-1 / mp.mpf(b))
        exact = 1 - (1 + mp.exp(mp.mpf(epsilon))) * q / (1 + q)
        assert mp.mpf(proved.lower) <= exact <= mp.mpf(proved.upper)


@pytest.mark.parametrize("notion", ["approximate", "probabilistic"])
def test_laplace_noise_at_the_pure_scale_has_no_delta(notion):
    proved = delta_of_integer_shift(notion=notion, order=1, scale=6.0, sensitivity=3, epsilon=0.5)
    assert (proved.lower, proved.upper) == (0.0, 0.0)
    below = delta_of_integer_shift(notion=notion, order=1, scale=math.nextafter(6.0, 0), sensitivity=3, epsilon=0.5)
    assert below.lower > 0.0


@pytest.mark.parametrize(
    ("p", "b", "D", "epsilon", "k"),
    [
        # Ties on purpose: (k + D)^p - |k|^p = epsilon b^p exactly, which is not above epsilon.
        (2.0, 1.0, 1, 7.0, 4),
        (2.0, 2.0, 1, 1.25, 3),
        (3.0, 1.0, 1, 7.0, 2),
        (1.5, 1.0, 4, 8.0, 1),
        (1.0, 2.0, 5, 1.5, 0),
        # And just above the tie.
        (2.0, 1.0, 1, math.nextafter(7.0, 0), 3),
    ],
)
def test_a_loss_that_ties_with_epsilon_is_not_above_it(p, b, D, epsilon, k):
    assert integer_threshold(p, b, D, epsilon) == (k, k)


@pytest.mark.exhaustive
def test_a_tie_that_no_precision_can_tell_gives_both_answers():
    # The loss at k = 0 is 3^1.3, and epsilon b^1.3 is the same irrational number.
    assert integer_threshold(1.3, 3.0, 3, 1.0) == (0, 1)
    for notion in ("approximate", "probabilistic"):
        proved = delta_of_integer_shift(notion=notion, order=1.3, scale=3.0, sensitivity=3, epsilon=1.0)
        at_most, at_least = (
            delta_of_integer_shift(notion=notion, order=1.3, scale=3.0, sensitivity=3, epsilon=e)
            for e in (math.nextafter(1.0, 0), math.nextafter(1.0, 2))
        )
        assert proved.upper >= at_least.lower
        assert proved.upper <= at_most.upper * (1 + 1e-12)


@given(
    p=st.sampled_from([1.0, 1.00001, 1.1, 2.0, 17.0, 50.0]),
    b=st.floats(0.05, 1e9),
    D=st.integers(1, 10**12),
    epsilon=st.floats(1e-4, 50.0),
)
@settings(deadline=None, max_examples=examples(26, 80))
def test_the_threshold_is_the_least_integer_with_a_loss_above_epsilon(p, b, D, epsilon):
    found = integer_threshold(p, b, D, epsilon)
    with mp.workdps(400):

        def above(k):
            loss = abs(mp.mpf(k + D)) ** mp.mpf(p) - abs(mp.mpf(k)) ** mp.mpf(p)
            return loss > mp.mpf(epsilon) * mp.mpf(b) ** mp.mpf(p)

        if found is None:
            assert p == 1.0
            assert not above(0)
            return
        low, high = found
        if high is None:
            # Only a lower bound, where the tail is below e^-1000.
            assert not above(low - 1)
            assert (mp.mpf(low) / mp.mpf(b)) ** mp.mpf(p) > 1000
            return
        assert above(high)
        assert not above(low - 1)
        assert low == high or not above(low)
        assert low >= least_threshold(D)


def test_where_shift_d_is_not_the_worst_the_smaller_one_is_found():
    # At D = 10, epsilon b^2 = 80.5 the thresholds of the shifts 9 and 10 are both 0, and 9 is worse.
    b, epsilon = 8.0, 80.5 / 64.0
    nine, ten = (exact_delta("probabilistic", 2.0, b, d, epsilon) for d in (9, 10))
    proved = delta_of_integer_shift(notion="probabilistic", order=2, scale=b, sensitivity=10, epsilon=epsilon)
    with mp.workdps(50):
        assert ten < nine
        assert proved.lower <= nine <= proved.upper


def test_far_beyond_all_floats_delta_is_below_the_least_one():
    proved = delta_of_integer_shift(notion="approximate", order=2, scale=1e6, sensitivity=1, epsilon=50)
    assert (proved.lower, proved.upper) == (0.0, 5e-324)


def test_close_to_order_one_a_threshold_beyond_reach_is_no_obstacle():
    proved = delta_of_integer_shift(notion="probabilistic", order=1.00001, scale=12.0, sensitivity=1, epsilon=12)
    assert (proved.lower, proved.upper) == (0.0, 5e-324)


@pytest.mark.parametrize("b", [1e6, 2.0**40])
def test_at_large_scales_order_two_is_the_analytic_gaussian(b):
    # By Poisson summation the integer law is the real one up to e^-b, but for the half step at the threshold.
    epsilon, D = 0.5, int(b)
    with mp.workdps(50):
        sigma = mp.mpf(b) / mp.sqrt(2)
        u, v = D / (2 * sigma), mp.mpf(epsilon) * sigma / D
        exact = mp.ncdf(u - v) - mp.exp(epsilon) * mp.ncdf(-u - v)
    proved = delta_of_integer_shift(notion="approximate", order=2, scale=b, sensitivity=D, epsilon=epsilon)
    assert proved.upper == pytest.approx(float(exact), rel=10 / b)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"notion": "pure"}, "notion"),
        ({"order": 0.9}, "order"),
        ({"scale": 0.0}, "scale"),
        ({"sensitivity": 1.5}, "sensitivity"),
        ({"sensitivity": 0}, "sensitivity"),
        ({"epsilon": math.nan}, "epsilon"),
    ],
)
def test_a_wrong_argument_is_named(change, name):
    arguments = {"notion": "approximate", "order": 2.0, "scale": 3.0, "sensitivity": 1, "epsilon": 1.0}
    with pytest.raises(ArgumentError, match=f"^{name} = "):
        delta_of_integer_shift(**{**arguments, **change})
