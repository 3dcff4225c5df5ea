"""Rows of units, cells that cannot occur and units that are cut: counted alike on every engine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.tables.engines.test_counting import DECLARED, PEOPLE
from tests.tables.engines.zoo import ENGINES, KEY, counted, expected, expected_keys, keyed

from ggdp.tables.column import Column
from ggdp.tables.domain import Domain
from ggdp.tables.engines import CountQuery, open_source
from ggdp.tables.engines.cells import crowded

OPEN = Domain([Column(name="word"), Column(name="n", levels=(3, 1), other="rest")])


@pytest.mark.parametrize("rows", [1, 2, 100])
@pytest.mark.parametrize("engine", ENGINES)
def test_so_many_rows_of_a_unit_count_in_a_cell_on_every_engine(engine, rows):
    twice = pa.concat_tables([PEOPLE, PEOPLE.slice(0, 5), PEOPLE.slice(2, 4)])
    query = CountQuery(
        marginals=(DECLARED, DECLARED.project(["word"])), unit="name", max_cells=2, max_rows_per_cell=rows, key=KEY
    )
    assert counted(ENGINES[engine](twice), query) == expected(twice, query)
    by_keys = replace(query, marginals=(OPEN,))
    assert keyed(ENGINES[engine](twice), by_keys) == expected_keys(twice, by_keys)


IMPOSSIBLE = Domain(DECLARED.columns, impossible=[{"word": "a", "n": "[0, 2)"}, {"word": "m"}, {"n": "?", "word": "o"}])


@pytest.mark.parametrize("unit", [None, "name"])
@pytest.mark.parametrize("engine", ENGINES)
def test_rows_in_cells_that_cannot_occur_are_counted_nowhere_on_any_engine(engine, unit):
    bounds = {} if unit is None else {"unit": unit, "max_cells": 1, "key": KEY}
    query = CountQuery(marginals=(IMPOSSIBLE, IMPOSSIBLE.project(["word"])), **bounds)
    found = counted(ENGINES[engine](PEOPLE), query)
    assert found == expected(PEOPLE, query)
    assert all(IMPOSSIBLE.possible(np.array([cell]))[0] for cell in found[0])
    # Some rows are there that the others do not count.
    everywhere = counted(
        ENGINES[engine](PEOPLE), CountQuery(marginals=(DECLARED, DECLARED.project(["word"])), **bounds)
    )
    assert everywhere != found
    opened = Domain([*IMPOSSIBLE, Column(name="day")], impossible=IMPOSSIBLE.impossible)
    keys = CountQuery(marginals=(opened,), **bounds)
    assert keyed(ENGINES[engine](PEOPLE), keys) == expected_keys(PEOPLE, keys)


@pytest.mark.parametrize("max_cells", [1, 2])
@pytest.mark.parametrize("engine", ENGINES)
def test_units_in_more_cells_than_are_counted_are_counted_alike_on_every_engine(engine, max_cells):
    query = CountQuery(marginals=(IMPOSSIBLE, Domain([Column(name="day")])), unit="name", max_cells=max_cells, key=KEY)
    with open_source(ENGINES[engine](PEOPLE), columns=["word", "n", "day", "name"]) as source:
        found = [table.column(0)[0].as_py() for table in source.answer(query, crowded)]
    all_cells = replace(query, max_cells=100)
    assert found == [
        sum(
            sum(units_in_cells(PEOPLE, replace(all_cells, marginals=(marginal,)), name).values()) > max_cells
            for name in {name for name in PEOPLE["name"].to_pylist() if name is not None}
        )
        for marginal in query.marginals
    ]
    assert max(found) > 0


def units_in_cells(table, query, name):
    """The cells of one unit, each once."""
    own = table.filter(pc.equal(table["name"], name))
    (marginal,) = query.marginals
    if marginal.is_open:
        return {row[:-1]: row[-1] for row in expected_keys(own, query)[0]}
    return expected(own, query)[0]
