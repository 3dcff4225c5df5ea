"""Groups of sums: what a unit can move, exactly, and that a group is no easier to detect than one coordinate."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggdp.domain.value_range import ValueRange
from ggdp.sources.measures import CellSums, Measure
from ggdp.tables.statistics.sum_groups import SumGroup


def cell(values):
    """Return the sums of one cell of units with these steps, None for units without a value."""
    known = [value for value in values if value is not None]
    sums = (len(values), len(known), sum(known), sum(value * value for value in known))
    return CellSums(*(np.array([number], dtype=object) for number in sums))


def group(kind, steps, size, *, neighbours="add-remove", low=0):
    values = ValueRange(low, low + steps, 1)
    measure = None if kind == "count" else Measure(column="x", values=values)
    return SumGroup(kind=kind, measure=measure, size=size, replaced=neighbours == "replace-one")


def steps_of(group, found):
    return group.steps(found, None if group.measure is None else group.measure.values)


def moved(group, before, after):
    return (steps_of(group, cell(after)) - steps_of(group, cell(before)))[:, 0]


CASES = st.tuples(
    st.sampled_from(["count", "sum", "pair", "triple"]),
    st.integers(1, 300),
    st.integers(1, 40),
    st.integers(-50, 50),
    st.randoms(use_true_random=False),
)


def drawn(random_, steps):
    return random_.choice([None, 0, steps, random_.randint(0, steps)])


@given(CASES)
def test_a_unit_that_comes_moves_a_group_by_at_most_its_size(case):
    kind, steps, size, low, draw = case
    found = group(kind, steps, size, low=low)
    before = [drawn(draw, steps) for _ in range(draw.randint(0, 8))]
    unit = drawn(draw, steps)
    assert np.abs(moved(found, before, [*before, unit])).sum() <= found.most_moved
    assert found.most_moved <= size + 2


@given(CASES)
def test_a_unit_that_is_replaced_moves_two_groups_of_sums_or_one_sum_by_at_most_the_size(case):
    kind, steps, size, low, draw = case
    found = group(kind, steps, size, low=low, neighbours="replace-one")
    before = [drawn(draw, steps) for _ in range(draw.randint(0, 8))]
    move = moved(found, [*before, drawn(draw, steps)], [*before, drawn(draw, steps)])
    up, down = move[move > 0].sum(), -move[move < 0].sum()
    assert max(up, down) <= found.most_moved
    if found.sums == 1:
        assert up + down <= found.most_moved


def test_the_size_is_attained():
    for kind in ("count", "sum", "pair", "triple"):
        found = group(kind, 10, 1000)
        assert np.abs(moved(found, [], [10])).sum() == 1000


def test_sums_give_counts_means_and_variances_back():
    rng = random.Random(5)
    values = [rng.randint(0, 100) for _ in range(50)] + [None] * 7
    known = [value / 100 for value in values if value is not None]
    size = 10**9
    missing, low, high = steps_of(group("pair", 100, size), cell(values))[:, 0] / size
    assert (round(missing), round(low + high)) == (7, 50)
    assert high / (low + high) == pytest.approx(sum(known) / 50, abs=1e-8)
    missing, t0, t1, t2 = steps_of(group("triple", 100, size), cell(values))[:, 0] / size
    assert (round(missing), round(t0 + t1 + t2)) == (7, 50)
    assert t2 / 50 == pytest.approx(sum(t * t for t in known) / 50, abs=1e-8)
    assert (t1 / 2 + t2) / 50 == pytest.approx(sum(known) / 50, abs=1e-8)
    (total,) = steps_of(group("sum", 100, size, low=-30), cell(values))[:, 0] * 70 / size
    assert total == pytest.approx(sum(100 * t - 30 for t in known), abs=1e-6)


def test_sums_beyond_the_floats_are_clamped():
    found = group("count", 1, 2**20)
    assert steps_of(found, cell([0] * 3)._replace(units=np.array([10**30], dtype=object)))[0, 0] == 2**53


def delta_of(order, scale, move, epsilon):
    """Return delta of a move of several coordinates under integer noise, by enumeration."""
    reach = int(scale * 40 ** (1 / order)) + max(map(abs, move)) + 1
    k = np.arange(-reach, reach + 1)
    p = q = np.ones(1)
    for d in move:
        mass, shifted = (np.exp(-((np.abs(k - by) / scale) ** order)) for by in (0, d))
        q = np.multiply.outer(q, mass / mass.sum()).reshape(-1)
        p = np.multiply.outer(p, shifted / mass.sum()).reshape(-1)
    return np.maximum(p - np.exp(epsilon) * q, 0.0).sum()


# Far above the rounding of the sums, far below their differences.
ROUNDING = 1e-13


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("epsilon", [0.3, 1.0])
def test_a_pair_is_no_easier_to_detect_than_one_coordinate(order, epsilon):
    whole = delta_of(order, 2.0, (4,), epsilon)
    for first in range(1, 4):
        assert delta_of(order, 2.0, (first, 4 - first), epsilon) <= whole + ROUNDING
    # A control: a longer move of the pair would be seen.
    assert delta_of(order, 2.0, (5, 1), epsilon) > whole


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0])
def test_a_triple_is_no_easier_to_detect_than_one_coordinate(order):
    whole = delta_of(order, 1.0, (4,), 0.5)
    for low, middle in ((1, 2), (2, 1), (1, 1), (0, 2)):
        assert delta_of(order, 1.0, (low, middle, 4 - low - middle), 0.5) <= whole + ROUNDING


@pytest.mark.parametrize("order", [1.5, 3.0])
def test_a_replaced_unit_is_no_easier_to_detect_than_two_coordinates(order):
    corner = delta_of(order, 2.0, (3, 3), 0.5)
    for up in range(1, 4):
        assert delta_of(order, 2.0, (up, -up), 0.5) <= corner + ROUNDING
    # One coordinate that moves by both is, so it must not be counted as two.
    assert delta_of(order, 2.0, (6,), 0.5) > corner
