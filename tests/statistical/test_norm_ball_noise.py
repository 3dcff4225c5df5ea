"""Pairs drawn by the norm of both fit a density that is integrated over squares, and a long vector has the right norm.

The squares have a side of 3/4 scale, with the axes on their edges; those beyond 6 scales are pooled. Draws are rounded
to 2^-30, so a square has the probability of its draws to within a share of 2^-28.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import gammainc, gammaincinv
from tests.statistical import laws
from tests.statistical.budget import compares, share
from tests.statistical.fit import CHI_SQUARE, EDGES, KOLMOGOROV, assert_fits, assert_seen, weakest

from ggdp import Grid
from ggdp.noise.norm_ball_noise import NormBallNoise

FAST, MANY = 10_000, 100_000
INF = math.inf
SIDE, REACH = 0.75, 8
LADDER = (0.03, 0.1, 0.2, 0.3, 0.45)
BY = (CHI_SQUARE, EDGES)


@lru_cache(maxsize=10)
def draws(order, size, dimension=2):
    """Vectors of scale 1 from the production source."""
    return NormBallNoise(order=order, scale=1.0, dimension=dimension).around(
        np.zeros((size, dimension)), Grid(step=2**-30)
    )


def squares(x):
    """The number of the square of each pair."""
    k = np.clip(np.floor(x / SIDE), -REACH, REACH - 1).astype(np.int64) + REACH
    return k[:, 0] * 2 * REACH + k[:, 1]


@lru_cache(maxsize=32)
def masses(order, scale=1.0):
    """The probability of each square, by Gauss's rule on parts of the squares up to 45 scales."""
    nodes, shares = np.polynomial.legendre.leggauss(4)
    parts, count = 4, 60
    points = ((np.arange(parts * count)[:, None] + (nodes + 1.0) / 2.0) * (SIDE / scale / parts)).reshape(-1)
    x, y = points[:, None], points[None, :]
    norm = np.maximum(x, y) if order == INF else (x**order + y**order) ** (1.0 / order)
    weights = np.tile(shares, parts * count)
    density = np.exp(-norm) * weights[:, None] * weights[None, :]
    fine = density.reshape(count, parts * nodes.size, count, parts * nodes.size).sum(axis=(1, 3))
    for axis in (0, 1):
        inner, outer = np.split(fine, [REACH - 1], axis=axis)
        fine = np.concatenate([inner, outer.sum(axis=axis, keepdims=True)], axis=axis)
    half = np.concatenate([fine[::-1], fine])
    whole = np.concatenate([half[:, ::-1], half], axis=1)
    return whole / whole.sum()


class Look(NamedTuple):
    """The squares by their likelihood under another law, where the two are told apart best."""

    rank: Any
    law: laws.Law

    @classmethod
    def at(cls, right, other):
        rank = np.argsort(np.argsort((other / right).reshape(-1), kind="stable"))
        return cls(rank, cls.ordered(right, rank))

    @staticmethod
    def ordered(probabilities, rank):
        sorted_ones = np.empty(rank.size)
        sorted_ones[rank] = probabilities.reshape(-1)
        return laws.dense(0, sorted_ones)

    def of(self, x):
        return self.rank[squares(x)]

    def below(self, probabilities):
        return self.ordered(probabilities, self.rank).below


class Pair(NamedTuple):
    order: float
    other: float  # an order that is told from it

    @property
    def label(self):
        return f"order-{self.order:g}"


PAIRS = [Pair(1.0, INF), Pair(1.5, INF), Pair(2.0, 1.0), Pair(3.7, 1.0), Pair(INF, 1.0)]


@compares("pairs by a norm", PAIRS, each=5, fast=FAST, exhaustive=MANY)
def test_pairs_fit_the_density_and_distorted_ones_do_not(case, size, allowance):
    x, right = draws(case.order, size), masses(case.order)
    look = Look.at(right, masses(case.order, 1.2))
    assert_fits(look.of(x), look.law, allowance)
    for sign in (1, -1):
        others = ((1.0 + sign * step, look.below(masses(case.order, 1.0 + sign * step))) for step in LADDER)
        factor = weakest(look.law, others, size, share(), by=BY)
        assert_seen(look.of(x * factor), look.law, look.below(masses(case.order, factor)), allowance, by=BY)
    look = Look.at(right, masses(case.other))
    assert_fits(look.of(x), look.law, allowance)
    assert_seen(look.of(draws(case.other, size)), look.law, look.below(masses(case.other)), allowance, by=BY)


@compares("pairs of one radius", [3.7, INF], each=2, fast=FAST, exhaustive=MANY)
def test_a_radius_for_each_coordinate_would_be_seen(case, size, allowance):
    x, marginal = draws(case, size), masses(case).sum(axis=0)
    apart = np.outer(marginal, marginal)
    look = Look.at(masses(case), apart)
    assert_fits(look.of(x), look.law, allowance)
    # Every other one, so that no vector is in two pairs.
    rolled = np.stack([x[::2, 0], x[1::2, 1]], axis=1)
    assert_seen(look.of(rolled), look.law, look.below(apart), allowance, by=(KOLMOGOROV, EDGES))


def of_norm(dimension, scale=1.0):
    """The Gamma law of a norm, in 64 cells of one probability."""
    edges = np.arange(1, 65)

    def below(k):
        return gammainc(dimension, gammaincinv(dimension, np.clip(k - 1, 0, 64) / 64.0) / scale)

    return laws.Law(edges, below)


@compares("norms of long vectors", [1.5, 3.0, INF], each=3, fast=2_000, exhaustive=20_000)
def test_the_norm_of_a_long_vector_has_its_gamma_law(case, size, allowance):
    x = np.abs(draws(case, size, 12))
    norms = x.max(axis=1) if case == INF else (x**case).sum(axis=1) ** (1.0 / case)
    right = of_norm(12)

    def cells(norms):
        return np.floor(64.0 * gammainc(12, norms)).astype(np.int64) + 1

    assert_fits(cells(norms), right, allowance)
    for sign in (1, -1):
        others = ((1.0 + sign * step, of_norm(12, 1.0 + sign * step).below) for step in LADDER)
        factor = weakest(right, others, size, share(), by=(KOLMOGOROV,))
        assert_seen(cells(norms * factor), right, of_norm(12, factor).below, allowance, by=(KOLMOGOROV,))
