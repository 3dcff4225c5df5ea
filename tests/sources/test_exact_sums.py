"""Exact sums: what would overflow 64 bits, or lose digits as floats, in any order of rows."""

from __future__ import annotations

import random

import numpy as np
import pyarrow as pa
import pytest
from tests.sources.zoo import ENGINES

from ggdp.domain.table_domain import Domain
from ggdp.domain.value_range import FEW_STEPS, MOST_STEPS, ValueRange
from ggdp.sources.measures import Measure, SummedMeasure
from ggdp.sources.query import CountQuery, open_source


def summed(steps, *, squares, rule=None):
    return SummedMeasure(Measure(column="x", values=ValueRange(0, steps, 1), rule=rule), squares=squares)


def sums_of(engine, values, measured, *, cells=None):
    keys = np.zeros(len(values), np.int64) if cells is None else cells
    table = pa.table({"k": keys, "x": values})
    query = CountQuery(marginals=(Domain({"k": [0, 1, 2]}),), measured=(measured,))
    with open_source(ENGINES[engine](table), columns=["k", "x"]) as source:
        ((found, (sums,)),) = source.sums(query)
    return [tuple(int(part[place]) for part in sums) for place in range(len(found))]


# Squares of so many rows do not fit in 53 bits, and those of 9 million not in 63.
ROWS = 300_000


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("steps", [FEW_STEPS, FEW_STEPS - 1, 1023, 1024, 1025, 1])
def test_squares_of_many_rows_are_exact(engine, steps):
    rows = ROWS if steps == FEW_STEPS else 1000
    values = np.full(rows, steps)
    values[0] = max(steps - 1, 0)
    first, second = sum(map(int, values)), sum(int(value) ** 2 for value in values)
    assert sums_of(engine, values, summed(steps, squares=True)) == [(rows, rows, first, second)]
    # Floats would not tell the last digit.
    assert steps != FEW_STEPS or int(float(second)) != second or second > 2**53


@pytest.mark.parametrize("engine", ["polars", "pyarrow", "duckdb"])
@pytest.mark.parametrize("steps", [MOST_STEPS, MOST_STEPS - 1, 2**16, 2**16 - 1, 2**16 + 1])
def test_sums_of_the_most_steps_are_exact(engine, steps):
    rng = random.Random(steps)
    values = np.array([steps, 0, steps - 1, 1, *(rng.randint(0, steps) for _ in range(1000))])
    total = sum(map(int, values))
    assert sums_of(engine, values, summed(steps, squares=False)) == [(len(values), len(values), total, 0)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("engine", ["polars", "polars lazy", "pyarrow", "duckdb"])
def test_sums_beyond_64_bits_are_exact(engine):
    rows = 9_000_000
    found = sums_of(engine, np.full(rows, FEW_STEPS), summed(FEW_STEPS, squares=True))
    assert found == [(rows, rows, rows * FEW_STEPS, rows * FEW_STEPS**2)]
    assert rows * FEW_STEPS**2 > 2**63


@pytest.mark.parametrize("squares", [False, True])
def test_digits_give_sums_beyond_64_bits_back(squares):
    """The sums of digits of 2^41 rows of the most steps, which no table of a test has, as an engine would return."""
    steps = FEW_STEPS if squares else MOST_STEPS
    measured, rows = summed(steps, squares=squares), 2**41
    high, low = divmod(steps, measured.base)
    parts = {"m0_h": high * rows, "m0_l": low * rows}
    if squares:
        parts |= {"m0_hh": high**2 * rows, "m0_hl": high * low * rows, "m0_ll": low**2 * rows}
    assert set(parts) == set(measured.terms("m0", wide=False))
    assert max(parts.values()) < 2**63
    first, second = measured.add_up(pa.table({name: [value] for name, value in parts.items()}), "m0")
    assert (first[0], second[0]) == (rows * steps, rows * steps**2 if squares else 0)
    assert first[0] > 2**60
    assert not squares or second[0] > 2**63


@pytest.mark.parametrize("engine", ENGINES)
def test_the_order_of_rows_does_not_matter(engine):
    rng = np.random.default_rng(3)
    values, cells = rng.integers(0, FEW_STEPS, 5000), rng.integers(0, 3, 5000)
    order = rng.permutation(5000)
    one = sums_of(engine, values, summed(FEW_STEPS, squares=True), cells=cells)
    other = sums_of(engine, values[order], summed(FEW_STEPS, squares=True), cells=cells[order])
    assert one == other
    assert len(one) == 3
    for cell, sums in enumerate(one):
        there = [int(value) for value in values[cells == cell]]
        assert sums == (len(there), len(there), sum(there), sum(value**2 for value in there))


def test_digits_keep_the_last_digit():
    measured = summed(MOST_STEPS, squares=False)
    first, _ = measured.add_up(pa.table({"m0_h": [2**50], "m0_l": [1]}), "m0")
    assert first[0] == 2**66 + 1
