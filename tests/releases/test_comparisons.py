"""Shares and sums of noisy counts: intervals that cover, by enumeration of the noise, and are not wider than needed."""

import numpy as np
import pytest

from ggdp.errors import ArgumentError
from ggdp.noise import IntegerGeneralizedGaussian
from ggdp.releases.comparisons import _PIECES, far, share_ends, share_half_widths, sum_half_width, sum_law
from ggdp.releases.error_law import noise_half_width, simultaneous_half_width

# Order, scale, cells of the first part and of the rest.
CASES = [(1.0, 1.0, 1, 1), (1.0, 4.0, 1, 3), (2.0, 3.0, 2, 2), (1.5, 0.3, 1, 2), (3.0, 2.0, 3, 1), (1.0, 2.0, 1, 40)]


def masses(order, scale, cells):
    """Return integers and their probabilities, as the noise of a sum of cells: by convolution, not by transforms."""
    reach = int(scale * 45.0 ** (1.0 / order)) + 2
    one = np.asarray(IntegerGeneralizedGaussian(order=order, scale=scale).pmf(np.arange(-reach, reach + 1)))
    whole = one
    for _ in range(cells - 1):
        whole = np.convolve(whole, one)
    k = np.arange(whole.size) - whole.size // 2
    kept = whole > 1e-11
    return k[kept], whole[kept]


def cover(case, a, c, level, less=0.0):
    """Return the probability that the interval of a share covers it, made narrower by a part of its width."""
    order, scale, first, rest = case
    (k, p), (m, q) = masses(order, scale, first), masses(order, scale, rest)
    x, y = (each.reshape(-1).astype(float) for each in np.meshgrid(a + k, c + m, indexing="ij"))
    lower, upper = share_ends(x, y, (order, scale, first), (order, scale, rest), level)
    cut = less * (upper - lower) / 2.0
    rho = a / (a + c)
    covers = (lower + cut <= rho) & (rho <= upper - cut)
    return float(np.outer(p, q).reshape(-1)[covers].sum())


@pytest.mark.parametrize("level", [0.6, 0.95])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_intervals_of_shares_cover_whatever_the_counts_are(case, level):
    for a, c in ((0, 1), (1, 0), (1, 1), (30, 0), (7, 3), (3, 47), (1, 999), (5000, 5000)):
        assert cover(case, a, c, level) >= level - 1e-7, (a, c)


@pytest.mark.parametrize("case", CASES[1:3] + CASES[5:], ids=str)
def test_intervals_of_shares_are_not_wider_than_needed(case):
    # Of large totals, whose shares are not near 0 or 1 and not simple fractions, where values of the noise coincide.
    for a, c in ((31_415, 58_979), (70_711, 20_290)):
        assert 0.95 <= cover(case, a, c, 0.95) < 0.9545
        assert cover(case, a, c, 0.95, less=0.03) < 0.95


def test_a_share_near_0_misses_on_one_side_only():
    assert 0.97 < cover((1.0, 4.0, 1, 3), 0, 90_001, 0.95) < 0.98


def test_nothing_is_known_of_a_total_that_may_be_nothing():
    lower, upper = share_ends(np.array([-3.0, 2.0, 0.0]), np.array([1.0, -2.0, 0.0]), (1, 1, 1), (1, 1, 1), 0.95)
    assert lower.tolist() == [0.0, 0.0, 0.0]
    assert upper.tolist() == [1.0, 1.0, 1.0]


def test_where_no_share_explains_the_counts_the_interval_is_as_wide_as_the_noise():
    lower, upper = share_ends(np.array([-50.0, 1050.0]), np.array([1050.0, -50.0]), (1, 1, 1), (1, 1, 1), 0.95)
    assert lower[0] == 0.0
    assert upper[1] == 1.0
    assert 0.0 < upper[0] < 0.01
    assert 0.0 < upper[1] - lower[1] < 0.01


@pytest.mark.parametrize("parts", [((1.0, 2.0, 1),), ((2.0, 3.0, 4),), ((1.0, 1.0, 2), (3.0, 5.0, 1))], ids=str)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.9999])
def test_the_half_width_of_a_sum_is_the_least_that_covers(parts, level):
    k, p = np.array([0]), np.array([1.0])
    for part in parts:
        more, q = masses(*part)
        p = np.convolve(p, q)
        k = np.arange(p.size) + k[0] + more[0]
    h = sum_half_width(parts, level)
    assert p[np.abs(k) <= h].sum() >= level
    assert p[np.abs(k) <= h - 1].sum() < level
    assert sum_half_width(parts[::-1], level) == h


def test_the_half_width_of_one_cell_is_that_of_its_exact_law():
    for order, scale in ((1.0, 0.1), (1.0, 30.0), (2.0, 500.0), (4.0, 3.0)):
        assert sum_half_width(((order, scale, 1),), 0.95) == noise_half_width(order, scale, 0.95)


def test_blocks_and_bounds_of_wide_noise_are_on_the_outside():
    for order, scale, cells in ((1.0, 9_000.0, 5), (2.0, 50_000.0, 30)):
        law = sum_law(((order, scale, cells),))
        assert law.step > 1
        assert law.rounding == cells * (law.step // 2)
        # Of noise on the reals, in units of its scale, by the law of a smaller scale.
        fine = sum_half_width(((order, 1_900.0, cells),), 0.95) / 1_900.0
        assert fine * 0.999 <= sum_half_width(((order, scale, cells),), 0.95) / scale <= fine * 1.01
    # Where the law is not computed, all cells keep their half-widths together.
    for order, scale, level in ((1.0, 1e6, 0.95), (2.0, 3.0, 1.0 - 1e-12)):
        h = simultaneous_half_width(order, scale, level, 2)
        assert sum_half_width(((order, scale, 2),), level) == 2 * h
        edges, half = share_half_widths((order, scale, 1), (order, scale, 1), level)
        assert half[0, 0] >= noise_half_width(order, scale, level)
        assert edges[0, 0] == 0.0
        assert edges[-1, 1] == 1.0


def test_the_pieces_are_short_enough_to_cost_little():
    order, scale, first, rest = case = (2.0, 1_900.0, 1, 9)
    edges, half = share_half_widths(case[:3], (order, scale, rest), 0.95)
    assert edges.shape == (_PIECES, 2)
    assert np.all(edges[1:, 0] == edges[:-1, 1])
    assert np.all(np.diff(edges) > 0.0)
    std = IntegerGeneralizedGaussian(order=order, scale=scale).std
    # Gaussian noise has quantiles of its own.
    exact = 1.959964 * std * np.sqrt(first * np.square(1.0 - edges) + rest * np.square(edges))
    assert np.all(half >= 0.999 * exact)
    assert np.all(half <= 1.008 * exact)


def test_a_chernoff_bound_is_beyond_the_law():
    law = sum_law(((1.0, 3.0, 20),))
    beyond = far(1.0, 3.0, np.ones(1), 20, 1e-6)
    assert 2.0 * law.masses[int(beyond) :].sum() <= 1e-6


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_a_level_is_above_0_and_below_1(level):
    with pytest.raises(ArgumentError, match="must be above 0 and below 1"):
        share_half_widths((1.0, 1.0, 1), (1.0, 1.0, 1), level)
