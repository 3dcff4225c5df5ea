"""Neighbouring tables differ, before any noise, by no more than the sensitivity that is declared; on every engine.

With the key fixed, a unit that comes or goes moves at most M cells of each marginal by 1, a unit that is replaced at
most 2 M; and a row that is a unit itself moves one cell, or two.

Many pairs of neighbours are counted at once: every pair has cells and units of its own, by a column with its number.
"""

from __future__ import annotations

import random
from collections import Counter
from datetime import date
from decimal import Decimal
from itertools import product
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from tests.cases import examples, some
from tests.sources.counting import counted, keyed
from tests.sources.zoo import ENGINES, FILES, KEY

import ggdp
from ggdp.domain.table_domain import Domain
from ggdp.sources.query import CountQuery
from ggdp.tables.request import TableRequest

WHOLE = Domain(
    {
        "a": {"levels": ["x", "y", "z"], "other": "o"},
        "n": {"edges": [0, 2, 4], "missing": "m", "other": "outside"},
    }
)
MARGINALS = (WHOLE, WHOLE.project(["n"]))
TYPES = {"a": pa.string(), "n": pa.int64(), "u": pa.string()}
REGIMES = ("declared", "sparse", "open")


class Pair(NamedTuple):
    """Neighbours: the rows that both have, and those of one unit before and after it has changed."""

    others: list[tuple[Any, ...]]
    before: list[tuple[Any, ...]]
    after: list[tuple[Any, ...]]

    @property
    def relation(self):
        return "replace-one" if self.before and self.after else "add-remove"


def _rows(units, *, most, levels=("x", "y", "z", "w", "X", "x:y", None)):
    return st.lists(
        st.tuples(st.sampled_from(levels), st.one_of(st.none(), st.integers(-1, 5)), st.sampled_from(units)),
        max_size=most,
    )


def pairs_of_units(number):
    """Pairs of which one unit, of several rows, comes or goes, or has other rows, or is another one."""
    one = st.builds(
        Pair,
        _rows(["p", "q", "p:1", "r", None], most=12),
        _rows(["him"], most=8),
        st.one_of(st.just([]), _rows(["him"], most=8), _rows(["her"], most=8)),
    )
    return st.lists(one, min_size=number, max_size=number)


def pairs_of_rows(number):
    """Pairs of which one row comes or goes or is another one."""
    one = st.builds(Pair, *(_rows(["p", "q", None], most=most) for most in (10, 1, 1)))
    return st.lists(one, min_size=number, max_size=number)


def some_pairs(seed, number):
    """Pairs of units as `pairs_of_units` has them, without the simplest one that Hypothesis always starts with."""
    rng = random.Random(seed)

    def rows(most, *units):
        return [
            (rng.choice(["x", "y", "z", "w", "X", "x:y", None]), rng.choice([None, *range(-1, 6)]), rng.choice(units))
            for _ in range(rng.randint(0, most))
        ]

    pairs = [
        Pair(rows(12, "p", "q", "p:1", "r", None), rows(8, "him"), rows(8, rng.choice(["him", "her"])))
        for _ in range(number - 2)
    ]
    # At least one that comes and one that goes.
    pairs += [Pair(rows(12, "p", None), [], rows(8, "him")), Pair(rows(12, "p", None), rows(8, "him"), [])]
    assert {pair.relation for pair in pairs} == {"add-remove", "replace-one"}
    return pairs


def some_single_rows(seed, number):
    """Pairs of which one row comes or goes or is another one."""
    return [
        Pair(pair.others, pair.before[:1], pair.after[:1] if place % 3 else [])
        for place, pair in enumerate(some_pairs(seed, number))
    ]


def _table(rows):
    return pa.table({name: pa.array([row[k] for row in rows], kind) for k, (name, kind) in enumerate(TYPES.items())})


def _tables(pairs):
    """The tables before and after: all pairs in one, with the number of the pair in a column and in every unit."""
    for side in ("before", "after"):
        rows = [
            (number, a, n, None if unit is None else f"{number}:{unit}")
            for number, pair in enumerate(pairs)
            for a, n, unit in (*pair.others, *getattr(pair, side))
        ]
        random.Random(len(rows)).shuffle(rows)
        yield _table([row[1:] for row in rows]).add_column(0, "pair", pa.array([row[0] for row in rows], pa.int64()))


def _request(regime, number, neighbours, *, max_cells, rows=None):
    declared = {"pair": list(range(number)), "a": WHOLE["a"], "n": WHOLE["n"]}
    if regime == "open":
        declared = {"n": {"levels": [0, 1, 2, 3], "other": "o"}}
    return TableRequest(
        by=[["pair", "a", "n"], ["pair", "a" if regime == "open" else "n"]],
        goal=ggdp.ApproxDP(1.0, 1e-6),
        domain=declared,
        unit=None if max_cells is None else "u",
        max_cells=max_cells,
        count="units" if rows is None else "rows",
        max_rows_per_cell=rows,
        neighbours=neighbours,
        false_cells=1 if regime == "sparse" else None,
    )


def _keys(data, query):
    return [{row[:-1]: row[-1] for row in rows} for rows in keyed(data, query)]


def _moved(first, second):
    """How much each cell moves, those that do."""
    moved = {cell: first.get(cell, 0) - second.get(cell, 0) for cell in first.keys() | second.keys()}
    return {cell: by for cell, by in moved.items() if by}


def assert_neighbours_are_close(make, pairs, regime, *, max_cells, rows=None, kept=None, kept_rows=None):
    """Count both tables of all pairs as a release does, and compare what moves with what the request declares.

    With `kept` each unit keeps so many cells, and with `kept_rows` so many rows, whatever is declared.
    """
    request = _request(regime, len(pairs), "add-remove", max_cells=max_cells, rows=rows)
    assert request.regime == regime
    query = CountQuery(
        marginals=request.domains,
        unit=request.unit,
        max_cells=kept or max_cells or 1,
        max_rows_per_cell=kept_rows or rows,
        key=KEY,
    )
    count = _keys if regime == "open" else counted
    before, after = (count(make(table), query) for table in _tables(pairs))
    moved = [{} for _ in pairs]
    for place, (domain, *sides) in enumerate(zip(request.domains, before, after, strict=True)):
        for cell, by in _moved(*sides).items():
            number = int(cell[0]) if regime == "open" else cell // (domain.size // len(pairs))
            moved[number][place, cell] = by
    for pair, cells in zip(pairs, moved, strict=True):
        declared = _request(regime, len(pairs), pair.relation, max_cells=max_cells, rows=rows).sensitivity
        assert len(cells) <= declared.moving, (pair, cells)
        assert all(abs(by) <= declared.largest for by in cells.values()), (pair, cells)
        # The sensitivity is of all marginals together; each has an equal share of it.
        share = declared.moving // len(request.by)
        assert all(many <= share for many in Counter(place for place, _ in cells).values()), (pair, cells)


# What makes a source of a table: every engine, and files.
SOURCES = {
    **{name: lambda table, _, make=make: make(table) for name, make in ENGINES.items()},
    **{f"{name} file": lambda table, folder, write=write: write(table, folder) for name, write in FILES.items()},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("neighbours")


# A failure names its pair; to make a smaller one of it would take minutes.
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)
MANY = settings(deadline=None, max_examples=10, phases=PHASES)
AT_ONCE = 16
# Pairs of a case that is counted every time.
SOME = examples(16, 32)

# What DuckDB reads takes a second or two: every time half of it is counted with a bound on cells alone, the other half
# with a bound on rows too.
IN_MEMORY = ("pyarrow", "pandas", "polars", "polars lazy")
CASES = list(product(("declared", "open"), SOURCES))
FIRST_HALF = {(regime, source) for place, (regime, source) in enumerate(CASES) if place % 2 or source in IN_MEMORY}
SECOND_HALF = {
    (regime, source) for regime, source in CASES if (regime, source) not in FIRST_HALF or source in IN_MEMORY
}


def seed_of(regime, source):
    """A seed for the pairs of a case, from which its bounds follow: 1, 2 or 3."""
    return CASES.index((regime, source))


@pytest.mark.parametrize(("regime", "source"), some(CASES, fast=lambda *case: case in FIRST_HALF))
def test_a_unit_moves_no_more_cells_than_are_declared(folder, source, regime):
    seed = seed_of(regime, source)
    assert_neighbours_are_close(
        lambda table: SOURCES[source](table, folder), some_pairs(seed, SOME), regime, max_cells=1 + seed % 3
    )


@pytest.mark.parametrize(("regime", "source"), some(CASES, fast=lambda *case: case in SECOND_HALF))
def test_rows_of_a_unit_move_cells_no_farther_than_is_declared(folder, source, regime):
    seed = seed_of(regime, source)
    assert_neighbours_are_close(
        lambda table: SOURCES[source](table, folder),
        some_pairs(100 + seed, SOME),
        regime,
        max_cells=1 + seed % 3,
        rows=1 + seed // 3 % 3,
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("regime", REGIMES)
@MANY
@given(pairs=pairs_of_units(AT_ONCE), max_cells=st.integers(1, 3), rows=st.integers(1, 3))
def test_rows_of_many_units_move_cells_no_farther(folder, source, regime, pairs, max_cells, rows):
    assert_neighbours_are_close(
        lambda table: SOURCES[source](table, folder), pairs, regime, max_cells=max_cells, rows=rows
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("regime", REGIMES)
@MANY
@given(pairs=pairs_of_units(AT_ONCE), max_cells=st.integers(1, 3))
def test_many_units_move_no_more_cells_than_are_declared(folder, source, regime, pairs, max_cells):
    assert_neighbours_are_close(lambda table: SOURCES[source](table, folder), pairs, regime, max_cells=max_cells)


@pytest.mark.parametrize(("regime", "source"), some(CASES, fast=lambda *case: case in FIRST_HALF))
def test_a_row_moves_one_cell(folder, source, regime):
    pairs = some_single_rows(200 + seed_of(regime, source), SOME)
    assert_neighbours_are_close(lambda table: SOURCES[source](table, folder), pairs, regime, max_cells=None)


@pytest.mark.exhaustive
@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("regime", REGIMES)
@MANY
@given(pairs=pairs_of_rows(AT_ONCE))
def test_many_rows_move_one_cell_each(folder, source, regime, pairs):
    assert_neighbours_are_close(lambda table: SOURCES[source](table, folder), pairs, regime, max_cells=None)


HARMLESS = Pair([("z", 1, "q")], [("x", 1, "him")], [])
TOO_FAR = {
    "two rows without units": (Pair([("x", 1, "p")], [("x", 1, "him"), ("y", 1, "him")], []), None),
    "one cell by two": (Pair([], [("x", 1, "him"), ("x", 1, "him")], []), None),
    "three cells of a unit": (Pair([], [], [(a, 1, "him") for a in "xyz"]), 2),
    "a unit of three cells for another": (Pair([], [(a, 1, "him") for a in "xyz"], [("x", 3, "her")]), 1),
}


@pytest.mark.parametrize("regime", REGIMES)
@pytest.mark.parametrize("case", TOO_FAR)
def test_one_pair_that_moves_too_far_is_found_among_others(regime, case):
    pair, max_cells = TOO_FAR[case]

    def check(*pairs):
        assert_neighbours_are_close(lambda table: table, pairs, regime, max_cells=max_cells, kept=max_cells and 10)

    check(HARMLESS, HARMLESS, HARMLESS)
    with pytest.raises(AssertionError, match=r"Pair\(others"):
        check(HARMLESS, pair, HARMLESS)


@pytest.mark.parametrize("regime", REGIMES)
def test_a_unit_that_adds_more_rows_than_are_declared_is_found(regime):
    pair = Pair([("x", 1, "p")], [("x", 1, "him")] * 4, [])

    def check(kept_rows):
        assert_neighbours_are_close(
            lambda table: table, (HARMLESS, pair), regime, max_cells=2, rows=3, kept_rows=kept_rows
        )

    check(3)
    with pytest.raises(AssertionError, match=r"Pair\(others"):
        check(4)


def test_the_bound_on_rows_is_reached():
    rows = [("x", 1, "him")] * 5 + [("y", 1, "him")] * 2 + [("x", 1, "her")]
    query = CountQuery(marginals=(WHOLE,), unit="u", max_cells=2, max_rows_per_cell=3, key=KEY)
    (one,), (other,) = counted(_table(rows), query), counted(_table(rows[-1:]), query)
    assert sorted(_moved(one, other).values()) == [2, 3]


def test_the_bound_is_reached():
    rows = [("x", 1, "him"), ("y", 1, "him"), ("z", 3, "him"), ("x", 1, "her")]
    query = CountQuery(marginals=(WHOLE,), unit="u", max_cells=2, key=KEY)
    (one,), (other,) = counted(_table(rows), query), counted(_table(rows[3:]), query)
    assert sorted(_moved(one, other).values()) == [1, 1]


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


# A level that is declared, one that is not, and nulls; in columns of every type that can hold them.
KINDS = {
    "text": (pa.array(["a", "zzz", None, None]), {"levels": ["a"]}),
    "category": (pa.array(["a", "zzz", None, None]).dictionary_encode(), {"levels": ["a"]}),
    "integer": (pa.array([1, 7, None, None]), {"levels": [1]}),
    "whole": (pa.array([1.0, 1.5, None, float("nan")]), {"levels": [1]}),
    "decimal": (pa.array([Decimal("1.0"), Decimal("1.5"), None, None]), {"levels": [1]}),
    "boolean": (pa.array([True, False, None, None]), {"levels": [True]}),
    "date": (pa.array([date(2020, 1, 2), date(2020, 1, 3), None, None]), {"levels": [date(2020, 1, 2)]}),
    "number": (pa.array([0.5, 2.5, None, float("nan")]), {"edges": [0, 1]}),
    "age": (pa.array([0, 7, None, None]), {"edges": [0, 1]}),
    "reading": (pa.array(["0.5", "much", None, None]), {"edges": [0, 1]}),
}
NULLS = pa.table({name: values for name, (values, _) in KINDS.items()})
ONLY_OTHER = Domain({name: {**column, "other": "o"} for name, (_, column) in KINDS.items()})


def assert_nulls_go_nowhere(data):
    found = counted(data, CountQuery(marginals=tuple(ONLY_OTHER.project([name]) for name in KINDS)))
    assert dict(zip(KINDS, found, strict=True)) == {name: {0: 1, 1: 1} for name in KINDS}


@pytest.mark.parametrize("engine", ENGINES)
def test_nulls_go_nowhere_where_other_is_declared_and_missing_is_not(engine):
    assert_nulls_go_nowhere(ENGINES[engine](NULLS))


@pytest.mark.parametrize("kind", FILES)
def test_nulls_of_files_go_nowhere_either(kind, tmp_path):
    # A category is text in a file; a NaN of a file of text is a text that is no number.
    table = NULLS.set_column(1, "category", NULLS["text"])
    for name in ("whole", "number"):
        values = [value if value == value else None for value in table[name].to_pylist()]
        table = table.set_column(table.column_names.index(name), name, pa.array(values, pa.float64()))
    assert_nulls_go_nowhere(FILES[kind](table, tmp_path))
