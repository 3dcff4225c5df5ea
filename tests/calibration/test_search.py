import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggdp.calibration.search import passing_end
from ggdp.errors import SearchError


@given(st.floats(0.01, 0.99), st.floats(0.1, 60.0))
def test_the_end_returned_passes_and_a_point_just_beyond_fails(root, steepness):
    def excess(x):
        return math.copysign(abs(root - x) ** (1 / steepness), root - x)

    found = passing_end(excess, 0.0, 1.0, tolerance=1e-12)
    assert excess(found) <= 0.0
    assert excess(found - 2e-12) > 0.0


@given(st.floats(-50.0, 50.0))
def test_the_bracket_may_run_either_way(root):
    found = passing_end(lambda x: x - root, 100.0, -100.0, tolerance=1e-13)
    assert found <= root
    assert root - found <= 1e-10


def test_every_point_it_moves_to_was_evaluated():
    seen = {}

    def excess(x):
        seen[x] = math.exp(-x) - 1e-9
        return seen[x]

    found = passing_end(excess, 0.0, 100.0, tolerance=1e-14)
    assert seen[found] <= 0.0


def test_it_is_much_faster_than_bisection_on_a_smooth_function():
    calls = []

    def excess(x):
        calls.append(x)
        return math.exp(-x) - 1e-9

    passing_end(excess, 0.0, 100.0, tolerance=1e-14)
    assert len(calls) < 40


@pytest.mark.parametrize(("failing", "passing"), [(2.0, 3.0), (0.0, 0.5), (3.0, 0.0)])
def test_a_bracket_that_does_not_lead_from_failing_to_passing_is_refused(failing, passing):
    with pytest.raises(SearchError, match="does not lead"):
        passing_end(lambda x: 1.0 - x, failing, passing, tolerance=1e-9)


def test_infinite_excess_is_bisected():
    found = passing_end(lambda x: math.inf if x < 0.3 else -math.inf, 0.0, 1.0, tolerance=1e-9)
    assert 0.3 <= found <= 0.3 + 1e-9


def test_a_point_that_is_close_enough_is_returned_at_once():
    seen = []

    def excess(x):
        seen.append(x)
        return 2.0 - x * x

    root = passing_end(excess, 0.0, 2.0, tolerance=1e-15, enough=0.1)
    assert root == seen[-1]
    assert 0.0 <= root * root - 2.0 <= 0.1
    assert all(not 0.0 <= x * x - 2.0 <= 0.1 for x in seen[:-1])
