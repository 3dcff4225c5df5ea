"""Neighbouring tables differ, before any noise, by no more than the sensitivity that is declared; on every engine.

With the key fixed, a unit that comes or goes moves at most M cells of each marginal by 1, a unit that is replaced at
most 2 M; and a row that is a unit itself moves one cell.
"""

from __future__ import annotations

from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.engines.zoo import ENGINES, FILES, KEY, counted, keyed

from ggdp.tables.column import Column
from ggdp.tables.domain import Domain
from ggdp.tables.engines import CountQuery

WHOLE = Domain(
    {
        "a": {"levels": ["x", "y", "z"], "other": "o"},
        "n": {"edges": [0, 2, 4], "missing": "m", "other": "outside"},
    }
)
MARGINALS = (WHOLE, WHOLE.project(["n"]))
OPEN = (Domain([Column(name="a"), Column(name="n", levels=(0, 1, 2, 3), other="o")]), Domain([Column(name="a")]))

ROWS = st.lists(
    st.tuples(
        st.sampled_from(["x", "y", "z", "w", "X", "x:y", None]),
        st.one_of(st.none(), st.integers(-1, 5)),
        st.sampled_from(["p", "q", "p:1", "r", None]),
    ),
    max_size=30,
)
HIS = st.lists(
    st.tuples(st.sampled_from(["x", "y", "z", "w", None]), st.one_of(st.none(), st.integers(-1, 5)), st.just("him")),
    max_size=12,
)
TYPES = {"a": pa.string(), "n": pa.int64(), "u": pa.string()}


def _table(rows):
    return pa.table({name: pa.array([row[k] for row in rows], kind) for k, (name, kind) in enumerate(TYPES.items())})


def _differences(first, second):
    """How much each cell of each marginal moves, those that do."""
    for one, other in zip(first, second, strict=True):
        moved = {cell: one.get(cell, 0) - other.get(cell, 0) for cell in one.keys() | other.keys()}
        yield {cell: by for cell, by in moved.items() if by}


def _assert_within(first, second, cells):
    for moved in _differences(first, second):
        assert len(moved) <= cells, moved
        assert set(moved.values()) <= {-1, 1}, moved


def _keys(data, query):
    return [{row[:-1]: row[-1] for row in rows} for rows in keyed(data, query)]


def _sources(folder):
    """What makes a source of a table: every engine, and files."""
    yield from ENGINES.values()
    for write in FILES.values():
        yield lambda table, write=write: write(table, folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("neighbours")


def _unit_moves_no_more(folder, others, his, instead, max_cells, shuffled):
    mixed = [*others, *his]
    shuffled.shuffle(mixed)
    bounds = {"unit": "u", "max_cells": max_cells, "key": KEY}
    for make in _sources(folder):
        for count, query in (
            (counted, CountQuery(marginals=MARGINALS, **bounds)),
            (_keys, CountQuery(marginals=OPEN, **bounds)),
        ):
            with_him = count(make(_table(mixed)), query)
            without = count(make(_table(others)), query)
            replaced = count(make(_table([*others, *((a, n, "her") for a, n, _ in instead)])), query)
            _assert_within(with_him, without, max_cells)
            _assert_within(replaced, without, max_cells)
            _assert_within(with_him, replaced, 2 * max_cells)


def _row_moves_one(folder, others, his):
    for make in _sources(folder):
        for count, query in ((counted, CountQuery(marginals=MARGINALS)), (_keys, CountQuery(marginals=OPEN))):
            without = count(make(_table(others)), query)
            with_it = count(make(_table([his[0], *others])), query)
            replaced = count(make(_table([his[-1], *others])), query)
            _assert_within(with_it, without, 1)
            _assert_within(with_it, replaced, 2)


UNITS = given(
    others=ROWS, his=HIS, instead=HIS, max_cells=st.integers(1, 3), shuffled=st.randoms(use_true_random=False)
)
SINGLE = given(others=ROWS, his=HIS.filter(bool))
FEW, MANY = settings(deadline=None, max_examples=3), settings(deadline=None, max_examples=20)


@FEW
@UNITS
def test_a_unit_moves_no_more_cells_than_are_declared(folder, others, his, instead, max_cells, shuffled):
    _unit_moves_no_more(folder, others, his, instead, max_cells, shuffled)


@pytest.mark.exhaustive
@MANY
@UNITS
def test_many_units_move_no_more_cells_than_are_declared(folder, others, his, instead, max_cells, shuffled):
    _unit_moves_no_more(folder, others, his, instead, max_cells, shuffled)


@FEW
@SINGLE
def test_a_row_moves_one_cell(folder, others, his):
    _row_moves_one(folder, others, his)


@pytest.mark.exhaustive
@MANY
@SINGLE
def test_many_rows_move_one_cell_each(folder, others, his):
    _row_moves_one(folder, others, his)


def test_the_bound_is_reached():
    rows = [("x", 1, "him"), ("y", 1, "him"), ("z", 3, "him"), ("x", 1, "her")]
    query = CountQuery(marginals=(WHOLE,), unit="u", max_cells=2, key=KEY)
    (moved,) = _differences(counted(_table(rows), query), counted(_table(rows[3:]), query))
    assert sorted(moved.values()) == [1, 1]


def test_a_table_without_bounds_moves_more():
    rows = [("x", 1, "him"), ("x", 1, "him"), ("y", 1, "him")]
    query = CountQuery(marginals=(WHOLE,))
    with pytest.raises(AssertionError):
        _assert_within(counted(_table(rows), query), counted(_table([]), query), 1)


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_of_a_unit_may_come_in_any_order_and_number(engine):
    rows = [(a, n, u) for a in ("x", "y", "z") for n in (1, 3) for u in ("p", "q", "r")]
    query = CountQuery(marginals=MARGINALS, unit="u", max_cells=2, key=KEY)
    first = counted(ENGINES[engine](_table(rows)), query)
    assert counted(ENGINES[engine](_table(rows[::-1] * 3)), query) == first
    assert counted(ENGINES[engine](_table(rows[::2] + rows[1::2])), query) == first


def test_another_key_or_marginal_is_another_choice():
    rows = [(a, n, str(u)) for a in ("x", "y", "z") for n in (1, 3) for u in range(50)]
    first, second = (CountQuery(marginals=(WHOLE, WHOLE), unit="u", key=key) for key in (KEY, KEY[::-1]))
    one, other = counted(_table(rows), first)
    assert one != other
    assert counted(_table(rows), second)[0] != one


def test_every_unit_keeps_as_many_cells_as_it_may():
    rows = [(a, n, str(u)) for a in ("x", "y", "z") for n in (1, 3) for u in range(40)][:-7]
    (found,) = counted(_table(rows), CountQuery(marginals=(WHOLE,), unit="u", max_cells=4, key=KEY))
    per_unit = Counter(u for _, _, u in rows)
    assert sum(found.values()) == sum(min(4, cells) for cells in per_unit.values())
