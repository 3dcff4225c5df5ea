"""Variances of Gaussian and Laplace noise, beside the closed forms in 50 digits."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from tests.cases import examples

from ggdp_reproduction.comparisons import LEMMA_DELTA, delta_of_equal_variance, gaussian_sigma, variance_ratio

EPSILONS = [1e-12, 1e-6, 1e-3, 0.1, 0.5, 0.999, 1.0, 2.0, 3.9, 5.0, 20.0, 200.0]


def normal_tail(x):
    return mpmath.erfc(x / mpmath.sqrt(2)) / 2


def exact_delta(kind, epsilon):
    """The delta of Gaussian noise with sigma = sqrt 2 / epsilon, from the law of its loss."""
    epsilon = mpf(epsilon)
    mu = epsilon / mpmath.sqrt(2)
    over, under = epsilon / mu - mu / 2, epsilon / mu + mu / 2
    if kind == "paper":
        return min(2 * normal_tail(over), mpf(1))
    if kind == "tight-pdp":
        return normal_tail(over) + normal_tail(under)
    return normal_tail(over) - mpmath.exp(epsilon) * normal_tail(under)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("kind", ["paper", "tight-pdp", "analytic"])
def test_the_delta_of_equal_variance_is_that_of_the_law_of_the_loss(kind, epsilon):
    with mp.workdps(120):
        exact = exact_delta(kind, epsilon)
    assert abs(mpf(float(delta_of_equal_variance(epsilon, kind))) - exact) <= 2e-14 * exact


@pytest.mark.parametrize("kind", ["paper", "tight-pdp", "analytic"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_at_that_delta_the_variances_are_the_same(kind, epsilon):
    delta = float(delta_of_equal_variance(epsilon, kind))
    assert variance_ratio(epsilon, delta, kind) == pytest.approx(1.0, rel=1e-9)
    assert variance_ratio(epsilon, 0.99 * delta, kind) > 1.0 > variance_ratio(epsilon, min(1.01 * delta, 1.0), kind)


def test_the_variance_ratio_is_the_corrected_formula():
    with mp.workdps(50):
        for epsilon, delta in [(1.0, 0.05), (0.01, 1e-9), (3.0, 0.7), (1e-9, 0.5)]:
            z = mpmath.sqrt(2) * mpmath.erfinv(1 - mpf(delta))
            exact = (z * z + mpf(epsilon) + z * mpmath.sqrt(z * z + 2 * mpf(epsilon))) / 4
            assert abs(mpf(float(variance_ratio(epsilon, delta))) - exact) <= 1e-13 * exact
    assert round(float(variance_ratio(1.0, 0.05)), 4) == 2.3946


def test_the_lemma_is_the_exact_condition_at_epsilon_zero_and_holds_for_every_epsilon():
    assert round(LEMMA_DELTA, 6) == 0.157299
    epsilon = np.geomspace(1e-9, 1e3, 200)
    edge = delta_of_equal_variance(epsilon)
    assert edge[0] == pytest.approx(LEMMA_DELTA, rel=1e-8)
    assert np.all(edge >= LEMMA_DELTA)
    assert np.all(variance_ratio(epsilon, LEMMA_DELTA * (1 - 1e-9)) > 1.0)


def test_above_epsilon_four_the_gaussian_of_the_lemma_always_varies_more():
    assert np.all(delta_of_equal_variance([4.0, 5.0, 1e300]) == 1.0)
    assert variance_ratio(4.0, 1 - 2**-53) >= 1.0
    assert variance_ratio(3.9, 1 - 2**-53) < 1.0


def test_the_lemma_does_not_hold_for_the_least_gaussian_of_approximate_dp():
    # Its delta of equal variance goes to 0 with epsilon: at epsilon = 0.1 already 1 % is enough to beat Laplace noise.
    assert variance_ratio(0.1, 0.01, "analytic") < 1.0 < variance_ratio(0.1, 0.01)
    assert delta_of_equal_variance(0.1, "analytic") < 0.01


@given(st.floats(1e-4, 15.0))
@settings(max_examples=examples(15, 40))
def test_the_three_deltas_are_ordered_as_the_guarantees_are(epsilon):
    paper, pdp, adp = (float(delta_of_equal_variance(epsilon, kind)) for kind in ("paper", "tight-pdp", "analytic"))
    assert 0.0 < adp < pdp <= paper <= 1.0


def test_the_ratio_goes_by_the_sigma_of_the_kind():
    for kind in ("paper", "tight-pdp", "classic", "analytic"):
        sigma = float(gaussian_sigma(0.5, 0.01, kind))
        assert float(variance_ratio(0.5, 0.01, kind)) == pytest.approx(sigma**2 / (2 / 0.5**2), rel=1e-14)
