"""Tails of Laplace and Gaussian noise, beside 50-digit values of the definitions."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from scipy import special
from tests.cases import examples

from ggdp_reproduction.comparisons import (
    epsilon_of_same_tail,
    gaussian_sigma,
    paper_same_tails,
    paper_tails,
    tail_probabilities,
    tail_turn,
)

EPSILONS = st.floats(1e-3, 50.0)
DELTAS = st.floats(1e-12, 0.99)


def exact_sigma(epsilon, delta):
    z = mpmath.sqrt(2) * mpmath.erfinv(1 - mpf(delta))
    return (z + mpmath.sqrt(z * z + 2 * mpf(epsilon))) / (2 * mpf(epsilon))


def exact_logs(epsilon, delta, t):
    y = mpf(t) / exact_sigma(epsilon, delta) / mpmath.sqrt(2)
    return -mpf(t) * mpf(epsilon), mpmath.log(mpmath.erfc(y))


@pytest.fixture(autouse=True)
def fifty_digits():
    with mp.workdps(60):
        yield


def close(value, exact, relative=1e-12, absolute=1e-15):
    return abs(mpf(float(value)) - exact) <= relative * abs(exact) + absolute


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 2.0, 30.0])
@pytest.mark.parametrize("delta", [1e-30, 1e-6, 0.05, 0.2, 0.9])
def test_the_tails_are_those_of_the_definitions_far_beyond_underflow(epsilon, delta):
    sizes = np.array([0.0, 1e-9, 0.1, 1.0, 4.0, 9.0, 50.0, 4000.0]) / epsilon
    found = tail_probabilities(epsilon, delta, sizes)
    for place, t in enumerate(sizes):
        laplace, gaussian = exact_logs(epsilon, delta, t)
        assert close(found.log_laplace[place], laplace)
        assert close(found.log_gaussian[place], gaussian)
        # Where the two nearly cancel, what is left cannot be better than the sigma that was rounded.
        assert close(found.log_ratio[place], laplace - gaussian, absolute=1e-15 + 1e-14 * abs(float(gaussian)))


def test_at_zero_all_tails_are_one():
    found = tail_probabilities([0.1, 1.0, 100.0], 0.05, 0.0)
    assert np.all(found.laplace == 1.0)
    assert np.all(found.gaussian == 1.0)
    assert np.all(found.ratio == 1.0)


def test_at_huge_noise_the_ratio_is_infinite_and_never_nan():
    found = tail_probabilities([1e-6, 1.0, 1e3], [[1e-10], [0.5]], 1e308)
    assert np.all(found.laplace == 0.0)
    assert np.all(found.gaussian == 0.0)
    assert np.all(found.ratio == math.inf)
    assert np.all(found.log_ratio == math.inf)


@pytest.mark.parametrize("epsilon", [1e-300, 1e-5, 1e5, 1e300])
@pytest.mark.parametrize("delta", [5e-324, 1e-300, 0.999998, 0.9999997, 1 - 2**-53])
def test_extreme_goals_give_the_sigma_of_the_formula(epsilon, delta):
    with mp.workdps(400):
        exact = exact_sigma(epsilon, delta)
    assert close(gaussian_sigma(epsilon, delta), exact, absolute=0.0)


def test_the_least_ratio_and_the_crossing_at_one_and_five_percent():
    found = tail_turn(1.0, 0.05)
    assert round(float(found.minimum), 6) == 0.270846
    assert round(float(found.t_minimum), 2) == 3.92
    assert round(float(found.t_crossing), 2) == 7.64


@given(EPSILONS, DELTAS)
@settings(max_examples=examples(20, 60))
def test_the_turn_is_a_minimum_and_a_crossing_to_all_digits(epsilon, delta):
    found = tail_turn(epsilon, delta)
    with mp.workdps(60):
        sigma = exact_sigma(epsilon, delta)
        c = sigma * mpf(epsilon)

        def slope(x):
            return mpmath.sqrt(2 / mpmath.pi) * mpmath.exp(-x * x / 2) / mpmath.erfc(x / mpmath.sqrt(2)) - c

        def log_ratio(x):
            return -c * x - mpmath.log(mpmath.erfc(x / mpmath.sqrt(2)))

        lowest, crossing = mpf(float(found.t_minimum)) / sigma, mpf(float(found.t_crossing)) / sigma
        if slope(mpf(0)) >= 0:
            assert found.t_minimum == found.t_crossing == 0.0
            assert found.minimum == 1.0
            return
        wide = mpf(10) ** -9
        assert slope(lowest - wide) < 0 < slope(lowest + wide)
        assert close(found.log_minimum, log_ratio(lowest), absolute=1e-14)
        # Near the threshold of c both points run into 0, where neither is well determined.
        wide += mpf(10) ** -14 / max(crossing, wide)
        assert log_ratio(crossing + wide) > 0
        assert crossing < 10 * wide or log_ratio(crossing - wide) < 0
        assert close(found.log_tail_at_crossing, -c * crossing)


def test_without_a_fall_the_ratio_only_rises():
    # epsilon sigma is below sqrt(2/pi) for a small epsilon and a large delta only.
    found = tail_turn(0.1, 0.5)
    assert found.t_minimum == found.t_crossing == 0.0
    assert found.minimum == 1.0
    ratio = tail_probabilities(0.1, 0.5, np.linspace(0.0, 100.0, 200)).ratio
    assert np.all(np.diff(ratio) > 0.0)


def test_the_crossing_is_never_before_the_minimum_however_small_both_are():
    # z = c - epsilon / (2 c) makes epsilon sigma = c, here barely above sqrt(2/pi).
    epsilon, c = 0.5, math.sqrt(2.0 / math.pi) * (1.0 + np.geomspace(1e-12, 1e-6, 100))
    delta = special.erfc((c - epsilon / (2.0 * c)) / math.sqrt(2.0))
    found = tail_turn(epsilon, delta)
    assert np.all(found.t_minimum > 0.0)
    assert np.all(found.t_crossing >= found.t_minimum)


@pytest.mark.parametrize("epsilon", [1e8, 1e12, 1e20, 1e100])
def test_at_a_huge_epsilon_the_turn_is_its_limit(epsilon):
    # c = epsilon sigma is about sqrt(epsilon / 2): the minimum is at x = c - 1/c, the crossing at 2c.
    found = tail_turn(epsilon, 0.05)
    sigma = gaussian_sigma(epsilon, 0.05)
    c = epsilon * sigma
    assert found.t_minimum / sigma == pytest.approx(c - 1.0 / c, rel=2e-15 + 2.0 / c**4)
    assert found.t_crossing / sigma == pytest.approx(2.0 * c, rel=1e-15 + 2.0 * math.log(c) / c**2)


@pytest.mark.parametrize("kind", ["tight-pdp", "analytic", "classic"])
def test_the_turn_of_the_other_gaussians_is_on_their_own_ratio(kind):
    found = tail_turn(0.5, 0.01, kind)
    at = tail_probabilities(0.5, 0.01, [float(found.t_minimum), float(found.t_crossing)], kind)
    assert at.gaussian_kind == kind
    assert at.log_ratio[0] == pytest.approx(float(found.log_minimum), abs=1e-13)
    assert at.log_ratio[1] == pytest.approx(0.0, abs=1e-12)
    near = tail_probabilities(0.5, 0.01, float(found.t_minimum) * np.array([0.999, 1.001]), kind)
    assert np.all(near.log_ratio > at.log_ratio[0])


def test_likely_is_where_either_tail_reaches_the_cutoff():
    found = tail_probabilities(1.0, 0.05, [9.2, 9.22])
    assert list(found.likely()) == [True, False]
    assert list(found.likely(1e-9)) == [True, True]
    # Beyond the Laplace's 9.21, at a delta where the Gaussian's tail is the heavier.
    assert list(tail_probabilities(1.0, 0.01, [9.22, 11.0]).likely()) == [True, False]


def exact_same_tail(epsilon, delta, t):
    a = mpf(t) * mpf(epsilon)
    quantile = mpmath.sqrt(2) * mpmath.erfinv(-mpmath.expm1(-a))
    sigma = mpf(t) / quantile
    z = mpmath.sqrt(2) * mpmath.erfinv(1 - mpf(delta))
    return sigma, z / sigma + 1 / (2 * sigma**2)


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("delta", [1e-30, 0.05, 0.9])
def test_the_epsilon_of_the_same_tail_is_the_closed_form(epsilon, delta):
    sizes = np.array([1e-12, 1e-3, 0.1, 0.499, 0.501, 2.0, 8.0, 40.0]) / epsilon
    found = epsilon_of_same_tail(epsilon, delta, sizes)
    for place, t in enumerate(sizes):
        with mp.workdps(80):
            sigma, exact = exact_same_tail(epsilon, delta, t)
        assert close(found.sigma[place], sigma)
        assert close(found.ratio[place], exact / mpf(epsilon))


def test_the_values_of_the_theory():
    found = epsilon_of_same_tail(1.0, 0.05, [0.1, 2.0])
    assert list(found.ratio.round(2)) == [3.06, 1.74]


def test_at_zero_the_epsilon_of_the_same_tail_is_its_limit():
    found = epsilon_of_same_tail(1.0, 0.05, [0.0, 1e-300, 1e-9])
    assert found.ratio[0] == found.ratio[1]
    assert found.ratio[0] == pytest.approx(found.ratio[2], rel=1e-8)
    z = mpmath.sqrt(2) * mpmath.erfinv(mpf("0.95"))
    assert close(found.ratio[0], z * mpmath.sqrt(mpmath.pi / 2) + mpmath.pi / 4)


def test_at_huge_noise_the_gaussian_needs_next_to_nothing():
    assert np.all(epsilon_of_same_tail([1e-3, 1.0, 1e3], 0.05, 1e308).ratio < 1e-140)


@given(EPSILONS, st.floats(1e-9, 0.3))
@settings(max_examples=examples(15, 40))
def test_the_same_tail_costs_the_same_epsilon_exactly_where_the_tails_cross(epsilon, delta):
    crossing = float(tail_turn(epsilon, delta).t_crossing)
    if crossing * epsilon > 1e-3:
        assert epsilon_of_same_tail(epsilon, delta, crossing).ratio == pytest.approx(1.0, rel=1e-10)


def test_the_papers_figures_have_their_twelve_goals_and_reach_the_grey_part():
    goals = [(0.1, 0.01), (0.1, 0.05), (0.1, 0.1), (0.1, 0.2), (1.0, 0.01), (1.0, 0.05)]
    for records in (paper_tails(), paper_same_tails()):
        assert [(float(record.epsilon), float(record.delta)) for record in records][:6] == goals
        assert len(records) == 12
        for record in records:
            likely = record.likely()
            assert likely[0]
            assert not likely[-1]
