"""Intervals cover as often as they promise, whatever the true count, mean and variance are."""

import math
from itertools import product

import numpy as np
from tests.statistical.budget import compares
from tests.statistical.fit import relative_entropy

import ggdp
from ggdp.tables.statistics.estimates import ColumnSums, count_estimate, single_sum_estimate, sum_estimate
from ggdp.tables.statistics.statistic import Mean, Variance
from ggdp.tables.statistics.weighted_noise import WeightedNoise

ORDERS = (1.0, 1.5, 2.0, 3.0)
COUNTS = (0, 1, 2, 5, 50, 1000)
MEANS = (0.0, 0.02, 0.5, 1.0)
# Values of a third of the units each.
SPREADS = ((0.0, 0.0, 0.0), (0.02, 0.02, 0.02), (0.5, 0.5, 0.5), (0.1, 0.4, 1.0))
VARIANCE_COUNTS = (1, 5, 50, 1000)
BOUNDS = (-1.0, 3.0)
UNIT = 1 << 20
SCALE = 2.0 * UNIT
MISSING = 3
SIZE = 8_000
# Tests of the mean, the sum and the count; of variances; of single sums; and the controls.
EACH = 3 * len(COUNTS) * len(MEANS) + len(VARIANCE_COUNTS) * len(SPREADS) + 1 + 3


def share(estimate, true):
    return float(np.mean((estimate.lower <= true) & (true <= estimate.upper)))


def assert_share(covered, size, least, most, allowance):
    """Chernoff's bound on either side: a share of covered values that is below `least` or above `most` by bad luck."""
    critical = math.log(2.0 / allowance.level())
    for end, beyond in ((least, covered < least), (most, covered > most)):
        assert not beyond or size * relative_entropy(covered, end) < critical, (covered, least, most)


def assert_noticed(covered, size, least, allowance):
    critical = math.log(2.0 / allowance.level())
    assert covered < least
    assert size * relative_entropy(covered, least) >= critical, (covered, least)


def in_unit(part):
    return BOUNDS[0] + (BOUNDS[1] - BOUNDS[0]) * part


@compares("statistics of noisy sums", ORDERS, each=EACH, fast=SIZE)
def test_intervals_cover_at_their_level_for_every_count(case, size, allowance):
    noise, law = ggdp.IntegerNoise(order=case, scale=SCALE), WeightedNoise(order=case, scale=SCALE)
    for n, mean in product(COUNTS, MEANS):
        true = np.array([MISSING * UNIT, round(UNIT * (1.0 - mean)) * n, round(UNIT * mean) * n])
        exact = round(UNIT * mean) / UNIT
        column = ColumnSums(sums=true + noise.sample((size, 3)), unit=UNIT)
        # At an end of the range, and where nearly all means are null, one side of the noise misses nothing.
        most = 0.952 if n == 1000 and mean in (0.02, 0.5) else 0.99
        assert_share(share(Mean.estimate(column, BOUNDS, law), in_unit(exact)), size, 0.95, most, allowance)
        assert_share(share(sum_estimate(column, BOUNDS, law), n * in_unit(exact)), size, 0.95, 0.951, allowance)
        assert_share(share(count_estimate([column], law), n + MISSING), size, 0.95, 0.951, allowance)
    for n, values in product(VARIANCE_COUNTS, SPREADS):
        a = np.rint(np.array(values) * 1024)
        sums = np.array([np.mean((1024 - a) ** 2), np.mean(2 * a * (1024 - a)), np.mean(a**2)]) * n
        column = ColumnSums(sums=np.append(0.0, sums) + noise.sample((size // 4, 4)), unit=UNIT)
        true = np.var(a / 1024) * (BOUNDS[1] - BOUNDS[0]) ** 2
        most = 0.965 if n == 1000 and values == SPREADS[3] else 1.0
        assert_share(share(Variance.estimate(column, BOUNDS, law), true), size // 4, 0.95, most, allowance)
    single = single_sum_estimate(-7 * UNIT + noise.sample(size), 1.0 / UNIT, law)
    assert_share(share(single, -7.0), size, 0.95, 0.951, allowance)

    # Controls: intervals of 0.8 of the width, and of noise of another order. They cover at most 92.5 %, and so many
    # draws miss that with a probability below e^-60.
    many = 8 * size
    column = ColumnSums(sums=np.array([0, 500 * UNIT, 500 * UNIT]) + noise.sample((many, 3)), unit=UNIT)
    narrow, other = WeightedNoise(order=case, scale=0.8 * SCALE), WeightedNoise(order=case + 4.0, scale=SCALE)
    assert_noticed(share(Mean.estimate(column, BOUNDS, narrow), in_unit(0.5)), many, 0.95, allowance)
    assert_noticed(share(Mean.estimate(column, BOUNDS, other), in_unit(0.5)), many, 0.95, allowance)
    assert_noticed(share(count_estimate([column], narrow), 1000), many, 0.95, allowance)
