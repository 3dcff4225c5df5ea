"""Which cells a unit keeps, rows of units, cells that cannot occur and units that are cut, on every engine."""

from __future__ import annotations

from dataclasses import replace
from datetime import date
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.cases import examples, some
from tests.sources.counting import assert_units_counted, counted, expected, expected_keys, kept, keyed
from tests.sources.test_counting import DECLARED, PEOPLE
from tests.sources.zoo import ENGINES, KEY, on_engines

from ggdp.domain.column import Column
from ggdp.domain.table_domain import Domain
from ggdp.sources.counting import count_crowded
from ggdp.sources.query import CountQuery, open_source

OPEN = Domain([Column(name="word"), Column(name="n", levels=(3, 1), other="rest")])


def of_units(kind, rng, size=400):
    """Rows of forty units, whose ids are of a kind, in cells of two columns."""
    texts = [
        ["", "a", "A", "é", "e\u0301", "1", "01", "1.5", " 1", "a:b", "a~"][k % 11] + "x" * (k // 11) for k in range(40)
    ]
    ids = {
        "integers": list(range(-20, 20)),
        "large integers": [(k - 20) * 2**57 for k in range(40)],
        "texts": texts,
        "days": [date(2000 + k, 1, 1) for k in range(40)],
    }[kind]
    return pa.table(
        {
            "name": pa.array([ids[k] for k in rng.integers(0, 40, size)]),
            "word": [f"w:{k}" for k in rng.integers(0, 5, size)],
            "n": rng.integers(0, 6, size),
        }
    )


WORDS = Domain({"word": [f"w:{k}" for k in range(5)], "n": list(range(5))})
WORDS_OPEN = Domain([Column(name="word"), Column(name="n", levels=tuple(range(5)))])


KINDS = ("integers", "large integers", "texts", "days")


def in_turn(engine, kind, opened):
    """Every time two kinds of ids for each engine, the others for the next one; one is counted by open keys."""
    turn, place = list(ENGINES).index(engine), KINDS.index(kind)
    return (turn + place) % 2 == 0 and opened == ((turn + place) // 2 % 2 == 0)


@pytest.mark.parametrize(("engine", "kind", "opened"), some(product(ENGINES, KINDS, [False, True]), in_turn))
def test_which_cells_a_unit_keeps_depends_on_its_own_rows_alone(engine, kind, opened):
    rng = np.random.default_rng(5)
    table, domain = of_units(kind, rng), WORDS_OPEN if opened else WORDS
    query = CountQuery(
        marginals=(domain, domain.project(["n"])), unit="name", max_cells=3, max_rows_per_cell=2, key=KEY
    )
    assert_units_counted(ENGINES[engine](table), table, query)
    together = kept(ENGINES[engine](table), query)
    names = table["name"].unique()
    for share in (7, 1, 20)[: examples(1, 3)]:
        some = table.filter(pc.is_in(table["name"], names.take(rng.permutation(len(names))[:share])))
        # Other rows, another order, other chunks.
        some = some.take(rng.permutation(some.num_rows))
        some = pa.concat_tables([some.slice(start, 20) for start in range(0, some.num_rows, 20)])
        for all_units, alone in zip(together, kept(ENGINES[engine](some), query), strict=True):
            assert len(alone) == share
            assert alone.items() <= all_units.items()


@pytest.mark.parametrize("engine", ENGINES)
def test_tables_and_keys_of_a_release_keep_cells_of_their_own(engine):
    table = of_units("integers", np.random.default_rng(6))
    query = CountQuery(marginals=(WORDS, WORDS), unit="name", max_cells=1, key=KEY)
    first, second = kept(ENGINES[engine](table), query)
    third, _ = kept(ENGINES[engine](table), replace(query, key=KEY[::-1] + b"another"))
    for one, other in ((first, second), (first, third)):
        assert one.keys() == other.keys()
        # Units have about nine cells each: few of forty keep the same one.
        assert sum(one[name] == other[name] for name in one) < 20


@pytest.mark.parametrize(("engine", "rows"), on_engines([2, 1, 100]))
def test_so_many_rows_of_a_unit_count_in_a_cell_on_every_engine(engine, rows):
    twice = pa.concat_tables([PEOPLE, PEOPLE.slice(0, 5), PEOPLE.slice(2, 4)])
    query = CountQuery(
        marginals=(DECLARED, DECLARED.project(["word"])), unit="name", max_cells=2, max_rows_per_cell=rows, key=KEY
    )
    assert_units_counted(ENGINES[engine](twice), twice, query)
    assert_units_counted(ENGINES[engine](twice), twice, replace(query, marginals=(OPEN,)))


IMPOSSIBLE = Domain(DECLARED.columns, impossible=[{"word": "a", "n": "[0, 2)"}, {"word": "m"}, {"n": "?", "word": "o"}])


@pytest.mark.parametrize(("engine", "unit"), on_engines(["name", None]))
def test_rows_in_cells_that_cannot_occur_are_counted_nowhere_on_any_engine(engine, unit):
    bounds = {} if unit is None else {"unit": unit, "max_cells": 1, "key": KEY}
    query = CountQuery(marginals=(IMPOSSIBLE, IMPOSSIBLE.project(["word"])), **bounds)
    assert_right = assert_counted if unit is None else assert_units_counted
    found = assert_right(ENGINES[engine](PEOPLE), PEOPLE, query)
    assert all(IMPOSSIBLE.possible(np.array([cell]))[0] for cell in found[0])
    # Some rows are there that the others do not count.
    everywhere = counted(
        ENGINES[engine](PEOPLE), CountQuery(marginals=(DECLARED, DECLARED.project(["word"])), **bounds)
    )
    assert everywhere != found
    opened = Domain([*IMPOSSIBLE, Column(name="day")], impossible=IMPOSSIBLE.impossible)
    assert_right(ENGINES[engine](PEOPLE), PEOPLE, CountQuery(marginals=(opened,), **bounds))


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_are_counted_in_the_few_cells_that_can_occur_among_many(engine):
    table = pa.table({"town": [f"t{k % 90}" for k in range(400)], "county": [k % 31 for k in range(400)]})
    listed = [{"town": f"t{k}", "county": k % 30} for k in range(80)]
    domain = Domain({"town": [f"t{k}" for k in range(80)], "county": list(range(30))}, possible=listed)
    found = assert_counted(ENGINES[engine](table), table, CountQuery(marginals=(domain,)))
    assert 0 < sum(found[0].values()) < 400


def assert_counted(data, table, query):
    is_open = any(marginal.is_open for marginal in query.marginals)
    found = keyed(data, query) if is_open else counted(data, query)
    assert found == (expected_keys if is_open else expected)(table, query)
    return found


@pytest.mark.parametrize("max_cells", [1, 2])
@pytest.mark.parametrize("engine", ENGINES)
def test_units_in_more_cells_than_are_counted_are_counted_alike_on_every_engine(engine, max_cells):
    query = CountQuery(marginals=(IMPOSSIBLE, Domain([Column(name="day")])), unit="name", max_cells=max_cells, key=KEY)
    with open_source(ENGINES[engine](PEOPLE), columns=["word", "n", "day", "name"]) as source:
        found = [table.column(0)[0].as_py() for table in source.answer(query, count_crowded)]
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
