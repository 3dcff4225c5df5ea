"""Estimates are in order and in their range, whatever the noisy sums are."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

import ggdp
from ggdp.errors import ArgumentError
from ggdp.tables.statistics.estimates import ColumnSums, Points, count_estimate, outer_root, sum_estimate
from ggdp.tables.statistics.margins import half_widths, ratio_margins
from ggdp.tables.statistics.statistic import Mean, Variance
from ggdp.tables.statistics.weighted_noise import WeightedNoise

UNIT = 10_000
noisy = st.integers(-(2**62), 2**62) | st.integers(-100_000, 100_000)
pairs = st.lists(st.tuples(noisy, noisy, noisy), min_size=1, max_size=30)
triples = st.lists(st.tuples(noisy, noisy, noisy, noisy), min_size=1, max_size=30)
orders = st.sampled_from([1.0, 1.5, 2.0, 3.0])
ranges = st.sampled_from([(0.0, 1.0), (-3.0, 7.5), (1e6, 1e6 + 1e-3), (-1e150, 1e150)])


def assert_in_order(estimate, least, most):
    null = np.isnan(estimate.value)
    assert not np.isnan(estimate.lower).any()
    assert not np.isnan(estimate.upper).any()
    assert np.all((least <= estimate.lower) & (estimate.lower <= estimate.upper) & (estimate.upper <= most))
    assert np.all((estimate.lower <= estimate.value) & (estimate.value <= estimate.upper) | null)
    assert np.all((estimate.lower[null] == least) & (estimate.upper[null] == most))
    assert np.array_equal(null, (estimate.lower == least) & (estimate.upper == most)) or most - least < 1e-2


@settings(deadline=None, max_examples=examples(20, 60))
@given(pairs, orders, ranges)
def test_means_are_in_order_and_null_where_nothing_is_known(sums, order, bounds):
    estimate = Mean.estimate(ColumnSums(sums=sums, unit=UNIT), bounds, WeightedNoise(order=order, scale=9000.0))
    assert_in_order(estimate, *bounds)


@settings(deadline=None, max_examples=examples(15, 40))
@given(triples, orders)
def test_variances_are_in_order_and_null_where_nothing_is_known(sums, order):
    noise = WeightedNoise(order=order, scale=9000.0)
    assert_in_order(Variance.estimate(ColumnSums(sums=sums, unit=UNIT), (-3.0, 7.5), noise), 0.0, 10.5**2 / 4)


@settings(deadline=None, max_examples=examples(15, 40))
@given(pairs)
def test_means_of_all_kinds_move_with_their_unit_and_widen_with_the_level(sums):
    noise, column = WeightedNoise(order=1.5, scale=9000.0), ColumnSums(sums=sums, unit=UNIT)
    part, whole = (Mean.estimate(column, bounds, noise) for bounds in ((0.0, 1.0), (0.0, 1024.0)))
    for one, other in ((part.value, whole.value), (part.lower, whole.lower), (part.upper, whole.upper)):
        assert np.allclose(one * 1024.0, other, rtol=0.0, atol=1e-9, equal_nan=True)
    wider = Mean.estimate(column, (0.0, 1.0), noise, 0.99)
    empty = (part.value == part.lower) | (part.value == part.upper)
    assert np.all((wider.lower <= part.lower + 1e-9) & (part.upper <= wider.upper + 1e-9) | empty)
    less, more = (sum_estimate(column, (-2.0, 5.0), noise, level) for level in (0.9, 0.99))
    assert np.all((more.lower < less.lower) & (less.lower <= less.value) & (less.value <= less.upper))
    counts = count_estimate([column], noise)
    assert np.all((counts.lower <= counts.value) & (counts.value <= counts.upper))
    assert counts.value.dtype == counts.lower.dtype == np.int64


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
def test_the_ends_of_means_are_where_the_test_begins_to_reject(order):
    noise = WeightedNoise(order=order, scale=9000.0)
    sums = np.array([[0, 400_000, 100_000], [0, 60_000, 90_000], [0, 3_000_000, 40_000]])
    estimate = Mean.estimate(ColumnSums(sums=sums, unit=UNIT), (0.0, 1.0), noise)
    for (_, a, b), low, high in zip(sums, estimate.lower, estimate.upper, strict=True):
        for end in {low, high} - {0.0, 1.0}:
            half = noise.half_widths([end, 1.0 - end])
            assert abs(b - end * (a + b)) == pytest.approx(half, rel=1e-4)


def test_noisy_sums_that_no_mean_explains_have_an_interval_as_wide_as_the_noise():
    noise = WeightedNoise(order=2, scale=9000.0)
    estimate = Mean.estimate(ColumnSums(sums=[[0, -40_000, 240_000]], unit=UNIT), (0.0, 1.0), noise)
    assert estimate.value[0] == estimate.upper[0] == 1.0
    assert estimate.lower[0] == pytest.approx(1.0 - float(noise.half_widths([1.0])) / 200_000, rel=1e-6)


def test_a_mean_without_units_is_null_and_its_interval_the_whole_range():
    noise = WeightedNoise(order=2, scale=9000.0)
    estimate = Mean.estimate(ColumnSums(sums=[[0, 0, 0], [0, -90_000, 30_000]], unit=UNIT), (2.0, 5.0), noise)
    assert np.isnan(estimate.value).all()
    assert estimate.lower.tolist() == [2.0, 2.0]
    assert estimate.upper.tolist() == [5.0, 5.0]


def _points(x, value):
    return Points(np.array([x]), np.array([value]))


def test_outer_roots_stay_outside_of_concave_functions():
    root = outer_root(lambda x, _: 1.0 - x * x, _points(0.0, 1.0), _points(5.0, -24.0))
    assert 1.0 - 1e-6 < root[0] <= 1.0


@pytest.mark.parametrize("bend", [0.0, 0.2, 5.0])
def test_outer_roots_of_many_functions_are_each_found_from_any_guess(bend):
    """Lines, and parabolas that bend a little or a lot, with a kink between the ends."""
    roots, slopes = (np.random.default_rng(i).uniform(0.1, 4.0, 500) for i in (1, 2))

    def functions(x, at):
        away = roots[at] - x
        smooth = slopes[at] * (away + bend * (roots[at] ** 2 - x**2))
        return np.minimum(smooth, slopes[at] * (0.5 + 0.1 * away)) if bend else smooth

    evaluated = []

    def counted(x, at):
        evaluated.append(len(at))
        return functions(x, at)

    every = np.arange(500)
    outer, inner = (Points(x, functions(x, every)) for x in (np.zeros(500), np.full(500, 5.0)))
    for guess in (None, outer.x, inner.x, roots - 0.05, roots + 0.05):
        evaluated.clear()
        found = outer_root(counted, outer, inner, guess)
        assert np.all(found <= roots + 1e-12)
        assert np.all(found >= roots - 1e-5)
        # Halving would take 20. Rounding is no reason for it, even if one line in a hundred has its chord end inside.
        assert sum(evaluated) <= 16 * 500
        assert bend or len(evaluated) <= 4
    assert outer_root(functions, inner, inner).tolist() == inner.x.tolist()


def test_half_widths_before_the_data_are_those_of_the_intervals():
    people = pa.table({"age": [30.0] * 1000, "debt": [1.0] * 1000})
    domain = {"age": {"range": [0, 100]}, "debt": {"range": [1, 4]}}
    for statistics in ([ggdp.Sum("debt")], [ggdp.Mean("age"), ggdp.Sum("debt")], [ggdp.Mean("age"), ggdp.Sum("age")]):
        found = ggdp.release_table(people, None, ggdp.PureDP(1.0), domain, statistics=statistics)
        (row,) = found.to_arrow().to_pylist()
        # Ends of counts are whole numbers within, and a plan rounds up.
        assert 0 <= 2 * found.plan.half_width - (row["upper"] - row["lower"]) <= 3
        name = statistics[-1].names[0]
        half = pytest.approx((row[f"{name}_upper"] - row[f"{name}_lower"]) / 2)
        assert half_widths(found.plan)[name] == [half] * 4
    noise = WeightedNoise(order=1.5, scale=9000.0)
    for statistic, kind in (("mean", (UNIT, 3)), ("mean", (UNIT, 4)), ("variance", (UNIT, 4))):
        halves = ratio_margins(statistic, kind, (0.0, 10.0), noise)
        assert list(halves) == sorted(halves, reverse=True)
        assert halves[2] == pytest.approx(10.0 * halves[3], rel=0.1)


@pytest.mark.parametrize("sums", [[1, 2], 5, [[1, 2, 3, 4, 5]]])
def test_sums_of_another_kind_are_refused(sums):
    with pytest.raises(ArgumentError, match="sums"):
        ColumnSums(sums=sums, unit=UNIT)


def test_ranges_and_columns_that_do_not_fit_are_refused():
    noise, column = WeightedNoise(order=2, scale=9000.0), ColumnSums(sums=[[0, 1, 2]], unit=UNIT)
    with pytest.raises(ArgumentError, match="bounds"):
        Mean.estimate(column, (1.0, 1.0), noise)
    with pytest.raises(ArgumentError, match="triples"):
        Variance.estimate(column, (0.0, 1.0), noise)
    with pytest.raises(ArgumentError, match="columns"):
        count_estimate([column, ColumnSums(sums=[[0, 1, 2], [0, 1, 2]], unit=UNIT)], noise)


def test_counts_and_sums_of_several_columns_are_narrower_than_those_of_one():
    noise = WeightedNoise(order=3, scale=1e6)
    pair = ColumnSums(sums=[[0, 6 * 10**8, 4 * 10**8]], unit=10**6)
    triple = ColumnSums(sums=[[10**9, 10**9, 2 * 10**9, 10**9]], unit=5 * 10**6)
    alone, both = count_estimate([pair], noise), count_estimate([pair, triple], noise)
    assert both.value[0] == 1000
    assert both.upper[0] - both.lower[0] < alone.upper[0] - alone.lower[0]
    alone, both = (sum_estimate(pair, (50.0, 60.0), noise, others=others) for others in ((), (triple,)))
    assert alone.value[0] == both.value[0] == 1000 * 54.0
    assert (both.upper - both.lower)[0] < 0.7 * (alone.upper - alone.lower)[0]
