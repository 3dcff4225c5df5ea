"""Quantiles of weighted Minkowski noise of a block against laws that are known otherwise."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import gammaincc

from ggdp.tables.statistics.weighted_noise import MARGIN, Block, BlockNoise, standard_half_widths

LEVELS = (0.9, 0.95, 0.99718)


def assert_just_above(found, exact):
    assert exact < found < exact * (1.0 + 2.0 * MARGIN)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0), (1.0, -1.0), (-0.3, 0.7), (0.2, -1.0, 0.4)])
def test_a_block_alone_is_laplace_noise(level, weights):
    exact = standard_half_widths(1.0, level, np.array([weights]))[0] / (1.0 + MARGIN)
    assert_just_above(Block(2, ()).quantiles(level, np.array([weights]))[0], exact)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("blocks", [2, 5, 12])
@pytest.mark.parametrize("weights", [(1.0, 1.0), (1.0, -1.0), (-0.5, 0.5)])
def test_of_blocks_of_two_sums_total_and_differences_are_uniform_in_a_cube(level, blocks, weights):
    # The norm is the largest of |u| and all |d_j|, of blocks + 1 coordinates: uniform in a cube whose half side has the
    # density of a gamma variable of shape blocks + 2.
    shape, largest = blocks + 2.0, max(abs(sum(weights)), abs(weights[0] - weights[1])) / 2.0

    def beyond(h):
        return gammaincc(shape, h) - h / (shape - 1.0) * gammaincc(shape - 1.0, h) - (1.0 - level)

    exact = largest * brentq(beyond, 1e-9, 1e3, xtol=1e-13)
    found = Block(1, (1,) * (blocks - 1)).quantiles(level, np.array([weights]))[0]
    assert_just_above(found, exact)


@pytest.mark.parametrize(("free", "others"), [(2, (2, 2)), (3, (2,)), (1, (3, 1))])
def test_deviations_are_those_of_the_law_by_its_simplest_decomposition(free, others):
    # The density at (a, c) is e^-(a + c) times the volumes of all blocks; a point of a block of two is uniform.
    total = np.ones(free + 1)
    volumes = np.array([1.0])
    for one in (free, *others):
        volumes = np.convolve(volumes, [float(_choose(one, i)) ** 2 for i in range(one + 1)])
    degree = free + sum(others)
    ways = volumes * [float(_factorial(i)) * _factorial(degree - i) for i in range(degree + 1)]
    i = np.arange(degree + 1)
    variance = float((ways * (degree + 2 + (2 * i - degree) ** 2)).sum() / ways.sum())
    assert Block(free, others).deviations(total[None])[0] == pytest.approx(variance**0.5, rel=1e-3)


def test_quantiles_are_a_norm_of_the_weights_and_those_for_all_signs_are_above_them():
    rng = np.random.default_rng(3)
    block = Block(3, (3, 2))
    one, other = rng.normal(size=(2, 20, 3))
    between = block.quantiles(0.95, 0.5 * (one + other))
    assert np.all(between <= 0.5 * (block.quantiles(0.95, one) + block.quantiles(0.95, other)) * (1.0 + 1e-9))
    assert np.all(
        block.quantiles(0.95, one) <= block._replace(any_signs=True).quantiles(0.95, np.abs(one)) * (1.0 + 1e-9)
    )


def test_tables_of_quantiles_are_above_the_quantiles_and_near_them():
    noise, rng = BlockNoise(scale=1e6, free=3, others=(3, 3)), np.random.default_rng(4)
    weights = np.abs(rng.normal(size=(40, 3)))
    tabled, exact = noise.within(weights, in_all=1000), noise.within(weights, in_all=1)
    assert np.all(exact <= tabled * (1.0 + 1e-12))
    assert np.all(tabled <= exact * 1.001)
    places = np.linspace(0.0, 1.0, 23)
    start, end = np.array([0.0, 0.5, 1.0]), np.array([-1.0, -0.5, 0.0])
    rows = (1.0 - places)[:, None] * start + places[:, None] * end
    along = noise.along(start, end, places)
    exact = noise.half_widths(rows)
    assert np.all(exact <= along * (1.0 + 1e-6))
    assert np.all(along <= exact * 1.001)


def _factorial(n):
    return 1 if n < 2 else n * _factorial(n - 1)


def _choose(n, k):
    return _factorial(n) // (_factorial(k) * _factorial(n - k))
