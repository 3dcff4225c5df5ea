"""The brute force itself, on laws whose losses anybody can check."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.conformance.divergences import approximate_delta, probabilistic_delta, pure_epsilon
from tests.conformance.observed import Law, law_at


def exactly(first, *masses):
    return Law(first, np.array(masses), np.array(masses))


# Randomised response, and the same twice.
YES, NO = exactly(0, 0.75, 0.25), exactly(0, 0.25, 0.75)


def test_randomised_response_has_its_known_losses():
    assert pure_epsilon([YES], [NO]) == pytest.approx(math.log(3), rel=1e-15)
    assert pure_epsilon([YES, YES], [NO, NO]) == pytest.approx(2 * math.log(3), rel=1e-15)
    assert approximate_delta([YES], [NO], math.log(2)) == pytest.approx(0.25, rel=1e-15)
    # Both of two answers are yes, with 9/16 against 1/16.
    assert approximate_delta([YES, YES], [NO, NO], math.log(5)) == pytest.approx(4 / 16, rel=1e-15)
    assert probabilistic_delta([YES], [NO], 1.0) == 1.0
    assert probabilistic_delta([YES, YES], [NO, NO], math.log(5)) == pytest.approx(10 / 16, rel=1e-15)
    assert probabilistic_delta([YES], [NO], math.log(3)) == 0.0


def test_outputs_that_only_one_law_has_are_lost_for_certain():
    assert approximate_delta([exactly(0, 0.9, 0.1)], [exactly(0, 1.0)], 1.0) == pytest.approx(0.1, abs=1e-14)
    assert pure_epsilon([exactly(0, 0.9, 0.1)], [exactly(0, 1.0)]) > 30


def test_bounds_of_masses_give_a_lower_bound_of_the_loss():
    wide = Law(0, np.array([0.7, 0.2]), np.array([0.8, 0.3]))
    assert pure_epsilon([wide], [wide]) < 0
    assert approximate_delta([wide], [NO], math.log(2)) < approximate_delta([YES], [NO], math.log(2))
    assert probabilistic_delta([wide], [NO], math.log(2.2)) == pytest.approx(0.9)
    assert probabilistic_delta([wide], [NO], math.log(2.6)) == pytest.approx(0.7)


@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_laplace_noise_on_the_integers_has_the_delta_of_its_closed_form(epsilon):
    # b = 1 / ln((e^eps + delta) / (1 - delta)) at sensitivity 1.
    delta = 0.05
    b = 1 / math.log((math.exp(epsilon) + delta) / (1 - delta))
    found = approximate_delta([law_at(1.0, b, 0)], [law_at(1.0, b, 1)], epsilon)
    assert found == pytest.approx(delta, rel=1e-9)


@pytest.mark.parametrize("bounding", [None, "truncated", "boundary-inflated"])
def test_laws_by_formula_have_the_masses_of_the_formula(bounding):
    bounds = None if bounding is None else (-3, 4)
    law = law_at(2.0, 3.0, 1, bounding, bounds)
    with mp.workdps(30):
        weights = {k: mp.exp(-((mpf(k) / 3) ** 2)) for k in range(-60, 61)}
        if bounding == "truncated":
            weights = {k: weights[k] for k in range(-4, 4)}
        total = mp.fsum(weights.values())
        for output in range(-3, 5):
            exact = weights.get(output - 1, 0) / total
            if bounding == "boundary-inflated" and output in bounds:
                beyond = range(-60, -3) if output == -3 else range(3, 61)
                exact = mp.fsum(weights[k] for k in beyond) / total
            place = output - law.first
            assert law.lower[place] <= exact <= law.upper[place]
            assert law.upper[place] - law.lower[place] < 1e-11
