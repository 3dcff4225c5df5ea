"""Every number of the page on intervals, from sums over the enumerated law."""

import math

import numpy as np
import pytest

import ggdp

PAGES = ("explanation/theory/intervals.md",)
STEP = 2.0**-10
WIDTH = 10 * 1024


@pytest.fixture(scope="module")
def laws():
    """The two laws on [0, 10]: scale in steps, and for each true index the probabilities of the outputs."""
    goal, query = ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1)
    made = {}
    for bounding in ("truncated", "boundary-inflated"):
        noise = ggdp.calibrate(goal, query, order=2, bounds=[(0, 10)], bounding=bounding)
        made[bounding] = ggdp.Mechanism(noise).law.scale
    return made


def probabilities(bounding, scale, s):
    if bounding == "truncated":
        weights = np.exp(-(((np.arange(WIDTH + 1) - s) / scale) ** 2))
        return weights / weights.sum()
    k = np.arange(-(WIDTH + 40_000), WIDTH + 40_001)
    weights = np.exp(-((k / scale) ** 2))
    return np.bincount(np.clip(s + k, 0, WIDTH), weights=weights / weights.sum(), minlength=WIDTH + 1)


def test_every_number_on_the_page_has_a_test(untested):
    assert untested == set()


def tail_of_two_sides(order, scale, h):
    k = np.arange(-400, 401)
    weights = np.exp(-((np.abs(k) / scale) ** order))
    return weights[np.abs(k) > h].sum() / weights.sum()


def test_half_widths_of_counts(says):
    laplace, gaussian = 1.0, 5.98322484490
    for mark, order, scale, h in (("interval-laplace", 1, laplace, 3), ("interval-gaussian", 2, gaussian, 8)):
        says(mark, h)
        assert tail_of_two_sides(order, scale, h) <= 0.05 < tail_of_two_sides(order, scale, h - 1)
    says("interval-laplace-cover", 100 * (1 - tail_of_two_sides(1, laplace, 3)))


def test_the_test_with_equal_tails_accepts_no_true_value_for_the_outermost_outputs(says, laws):
    # No true value makes large outputs likelier than the upper bound itself.
    tails = np.cumsum(probabilities("truncated", laws["truncated"], WIDTH)[::-1])[::-1]
    first = int(np.argmax(tails <= 0.025))
    says("interval-equal-tails", first * STEP)
    assert 1 / 41 < tails[first] <= 1 / 40


@pytest.mark.parametrize(("output", "mark"), [(9.0, "interval-truncated-9"), (10.0, "interval-truncated-10")])
def test_the_ends_of_truncated_intervals(says, laws, output, mark):
    scale, y = laws["truncated"], round(output / STEP)

    def accepts(s):
        """Whether less than 95 % of the outputs are nearer to s than y is."""
        near = np.abs(np.arange(WIDTH + 1) - s) < abs(y - s)
        return probabilities("truncated", scale, s)[near].sum() < 0.95

    low, high = 0, y
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if accepts(middle) else (middle, high)
    says(mark, (high - 0.5) * STEP)


def test_the_ends_of_boundary_inflated_intervals(says, laws):
    scale = laws["boundary-inflated"]
    k = np.arange(60_000)
    weights = np.exp(-((k / scale) ** 2))
    beyond = 2 * (weights.sum() - np.cumsum(weights)) / (2 * weights.sum() - 1)
    h = int(np.argmax(beyond <= 0.05))
    says("interval-inflated-9", 9 - (h + 0.5) * STEP)
    says("interval-inflated-10", 10 - (h + 0.5) * STEP)


@pytest.mark.parametrize(
    ("bounding", "bias", "std", "middle"),
    [
        ("truncated", "interval-truncated-bias", "interval-truncated-std", "interval-truncated-middle"),
        ("boundary-inflated", "interval-inflated-bias", "interval-inflated-std", "interval-inflated-middle"),
    ],
)
def test_bias_and_standard_deviation_at_a_bound_and_in_the_middle(says, laws, bounding, bias, std, middle):
    x = np.arange(WIDTH + 1) * STEP
    for s, mean_mark, std_mark in ((0, bias, std), (WIDTH // 2, None, middle)):
        q = probabilities(bounding, laws[bounding], s)
        mean = np.sum(q * x)
        says(std_mark, math.sqrt(np.sum(q * (x - mean) ** 2)))
        if mean_mark:
            says(mean_mark, mean - s * STEP)
        else:
            assert mean == pytest.approx(5.0, abs=1e-9)
