import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from reproduction.tests.divergence import kl_dirichlet

from ggdp.errors import ArgumentError
from ggdp_reproduction.experiments.counts import dirichlet_frequencies, kl_both, l1_distance

COUNTS = arrays(np.float64, 6, elements=st.floats(0, 1e4, allow_subnormal=False))


def test_l1_is_the_sum_of_absolute_differences_of_each_row():
    assert l1_distance([3, 0, 1], [[2.5, 0.5, 1], [3, 0, 1], [-1, 0, 2]]).tolist() == [1.0, 0.0, 5.0]


def test_frequencies_are_posterior_means():
    assert dirichlet_frequencies([3, 0, 1]).tolist() == pytest.approx([3.5 / 5.5, 0.5 / 5.5, 1.5 / 5.5], rel=1e-15)


def test_divergence_agrees_with_a_case_by_hand_in_both_directions():
    """With Jeffreys' prior (3, 0, 1) and (1, 1, 2) become (7, 1, 3)/11 and (3, 3, 5)/11."""
    with mpmath.workdps(40):
        there = (7 * mpmath.log(7) + 3 * mpmath.log(3) - 7 * mpmath.log(3) - mpmath.log(3) - 3 * mpmath.log(5)) / 11
        back = (3 * mpmath.log(3) + 3 * mpmath.log(3) + 5 * mpmath.log(5) - 3 * mpmath.log(7) - 5 * mpmath.log(3)) / 11
    found = kl_both(np.array([3.0, 0.0, 1.0]), np.array([[1.0, 1.0, 2.0]]))
    assert [float(one[0]) for one in found] == pytest.approx([float(there), float(back)], rel=1e-14)
    assert float(there) != pytest.approx(float(back), rel=0.001)


def test_the_prior_counts_by_its_weight():
    """With the prior 1: (4, 1, 2)/7 from (2, 2, 3)/7 is (4 ln 2 - ln 2 + 2 ln(2/3))/7; a heavy prior hides the data."""
    expected = (3 * np.log(2) + 2 * np.log(2 / 3)) / 7
    original, sanitised = np.array([3.0, 0.0, 1.0]), np.array([[1.0, 1.0, 2.0]])
    assert kl_both(original, sanitised, prior=1.0)[0] == pytest.approx(expected, rel=1e-14)
    assert kl_both(original, sanitised, prior=1e6)[0] < 1e-11


@given(first=COUNTS, second=COUNTS, prior=st.floats(0.01, 10))
def test_both_divergences_are_those_of_each_direction_and_not_negative(first, second, prior):
    there, back = kl_both(first, np.array([second, first]), prior=prior)
    assert there[0] == pytest.approx(kl_dirichlet(first, second, prior=prior), rel=1e-9, abs=1e-12)
    assert back[0] == pytest.approx(kl_dirichlet(second, first, prior=prior), rel=1e-9, abs=1e-12)
    assert min(there[0], back[0]) >= -1e-12
    assert abs(there[1]) < 1e-12
    assert abs(back[1]) < 1e-12


def test_measuring_changes_no_counts():
    original, sanitised = np.array([3.0, 0.0, 1.0]), np.array([[1.0, 1.0, 2.0]])
    kl_both(original, sanitised)
    assert (original.tolist(), sanitised.tolist()) == ([3.0, 0.0, 1.0], [[1.0, 1.0, 2.0]])


def test_negative_counts_and_no_prior_are_refused():
    with pytest.raises(ArgumentError, match="not negative"):
        kl_both(np.array([1.0, 2.0]), np.array([[-0.5, 3.0]]))
    with pytest.raises(ArgumentError, match="prior = 0"):
        kl_both(np.array([1.0, 2.0]), np.array([[1.0, 2.0]]), prior=0)
