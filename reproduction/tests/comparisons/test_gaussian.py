"""Standard deviations of the Gaussian mechanism, beside the definitions in 50 digits."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mp, mpf
from tests.reference.fifty_digits import real_delta

from ggdp.errors import ArgumentError
from ggdp_reproduction.comparisons import gaussian_bounds, gaussian_sigma

GOALS = [(0.001, 0.5), (0.1, 0.01), (0.5, 0.05), (0.99, 1e-15), (1.0, 0.05), (2.0, 0.1), (1.0, 1e-6)]


@pytest.mark.parametrize(("epsilon", "delta"), GOALS)
def test_the_two_formulas_are_lemma_10_and_the_classic_one(epsilon, delta):
    found = gaussian_bounds(epsilon, delta)
    with mp.workdps(60):
        z = mpmath.sqrt(2) * mpmath.erfinv(1 - mpf(delta))
        paper = (z + mpmath.sqrt(z * z + 2 * mpf(epsilon))) / (2 * mpf(epsilon))
        classic = mpmath.sqrt(2 * mpmath.log(mpf("1.25") / mpf(delta))) / mpf(epsilon)
        assert abs(mpf(float(found.paper)) - paper) <= 1e-14 * paper
        if epsilon < 1.0:
            assert abs(mpf(float(found.classic)) - classic) <= 1e-14 * classic
        else:
            assert math.isnan(float(found.classic))


@pytest.mark.parametrize(("epsilon", "delta"), GOALS)
@pytest.mark.parametrize(("notion", "field"), [("probabilistic", "tight_pdp"), ("approximate", "analytic")])
def test_the_least_ones_keep_delta_and_slightly_smaller_ones_do_not(notion, field, epsilon, delta):
    sigma = float(getattr(gaussian_bounds(epsilon, delta), field))
    b = sigma * math.sqrt(2.0)
    assert real_delta(notion, 2, b * (1 + 1e-9), 1, epsilon) < delta < real_delta(notion, 2, b * (1 - 1e-9), 1, epsilon)


def test_the_values_of_the_theory():
    found = gaussian_bounds(1.0, [1e-6, 0.05])
    assert list(found.paper.round(3)) == [4.992, 2.188]
    assert list(found.tight_pdp.round(3)) == [4.916, 2.019]
    assert list(found.analytic.round(3)) == [4.225, 1.333]


def test_by_the_formulas_pdp_asks_for_less_than_adp_and_in_truth_for_more():
    found = gaussian_bounds(np.array([[0.001], [0.1], [0.5], [0.99]]), np.geomspace(1e-15, 0.5, 12))
    assert np.all(found.paper_to_classic < 1.0)
    assert np.all(found.tight_pdp_to_analytic > 1.0)
    assert np.all(found.analytic < found.tight_pdp)
    assert np.all(found.tight_pdp < found.paper)


def test_the_ratio_of_figure_3_has_the_corrected_range():
    least = gaussian_bounds(0.001, 0.5).paper_to_classic
    assert round(float(least), 3) == 0.499
    # Not always smaller for a larger delta, as the text has it.
    found = gaussian_bounds(0.99, [0.4, 0.5]).paper_to_classic
    assert list(found.round(4)) == [0.8218, 0.8255]


def test_the_kinds_are_the_fields_of_the_record():
    record = gaussian_bounds(0.5, [0.01, 0.1])
    kinds = {"paper": "paper", "tight-pdp": "tight_pdp", "classic": "classic", "analytic": "analytic"}
    for kind, field in kinds.items():
        assert np.array_equal(gaussian_sigma(0.5, [0.01, 0.1], kind), getattr(record, field))


def test_the_classic_one_is_refused_from_epsilon_one_on():
    with pytest.raises(ArgumentError, match=r"epsilon = 1\.0.*below 1"):
        gaussian_sigma([0.5, 1.0], 0.1, "classic")
