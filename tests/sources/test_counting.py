"""Every engine counts the same table alike, whatever is in it."""

from __future__ import annotations

import warnings
from datetime import date
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples, some
from tests.sources.counting import assert_units_counted, counted, expected, expected_keys, keyed
from tests.sources.zoo import ENGINES, FILES, KEY, ZOO, on_engines

from ggdp.domain.table_domain import Domain
from ggdp.sources import duckdb_engine
from ggdp.sources.query import CountQuery, open_source

# All domains of a table are counted in one query; in the exhaustive run each is counted by itself too.
ONE_QUERY = [beast.side_by_side() for beast in ZOO]
SEVERAL_QUERIES = [beast for beast in ZOO if len(beast.domains) > 1]


def with_beasts(cases):
    """Cases that end with a place in `ONE_QUERY`, with the table there, and exhaustive ones of several queries."""
    cases = list(cases)
    one = [
        pytest.param(
            *start, ONE_QUERY[place], id="-".join(map(str, (*start, ONE_QUERY[place].label))), marks=case.marks
        )
        for case in cases
        for *start, place in [case.values]
    ]
    starts = dict.fromkeys(tuple(case.values[:-1]) for case in cases)
    return one + [
        pytest.param(*start, beast, id="-".join(map(str, (*start, beast.label, "alone"))), marks=pytest.mark.exhaustive)
        for start in starts
        for beast in SEVERAL_QUERIES
    ]


PLACES = range(len(ONE_QUERY))


def assert_counted(data, table, domains):
    alone = len({name for domain in domains for name in domain.names}) < sum(len(domain.names) for domain in domains)
    for marginals in [(domain,) for domain in domains] if alone else [tuple(domains)]:
        query = CountQuery(marginals=marginals)
        assert counted(data, query) == expected(table, query)


@pytest.mark.parametrize(("engine", "beast"), with_beasts(on_engines(PLACES)))
def test_frames_are_counted_as_the_semantics_say(engine, beast):
    assert_counted(ENGINES[engine](beast.table), beast.table, beast.domains)


# Every time half of the tables for each kind of file: the other half for the next one.
@pytest.mark.parametrize(
    ("kind", "beast"),
    with_beasts(some(product(FILES, PLACES), lambda kind, place: (list(FILES).index(kind) + place) % 2 == 0)),
)
def test_files_are_counted_as_the_semantics_say(kind, beast, tmp_path):
    path = FILES[kind](beast.table, tmp_path)
    # A text file holds the texts of values: infinite ones are no numbers there, and an empty text is a null.
    texts = kind != "parquet"
    table = _as_texts(beast.table, blank_is_null=kind == "csv") if texts else beast.table
    domains = [
        domain
        for domain in beast.domains
        if not texts
        or not any(column.kind == "text" and beast.table.schema.field(column.name).type in FLOATS for column in domain)
    ]
    assert_counted(path, table, domains)


@pytest.mark.parametrize(
    ("few", "beast"), with_beasts(some(product([0, 1 << 18], PLACES), lambda few, place: (few > 0) == place % 2))
)
def test_files_are_counted_alike_whether_groups_are_many_or_few(few, beast, tmp_path, monkeypatch):

    # Groups that stay in DuckDB, and marginals that are coded before they are grouped.
    monkeypatch.setattr(duckdb_engine, "_FEW_GROUPS", few)
    path = FILES["parquet"](beast.table, tmp_path)
    monkeypatch.setattr(duckdb_engine, "_MANY_CELLS", 0 if few else 1 << 60)
    monkeypatch.setattr(duckdb_engine, "count_cells", lambda *_: None)
    assert_counted(path, beast.table, beast.domains)


FLOATS = (pa.float32(), pa.float64())


def _as_texts(table, *, blank_is_null):
    def text(value):
        if value is None or (value == "" and blank_is_null):
            return None
        return (
            str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, float) else str(value)
        )

    return pa.table(
        {name: pa.array([text(value) for value in table[name].to_pylist()], pa.string()) for name in table.column_names}
    )


@pytest.fixture(scope="module", params=[100_000, pytest.param(1_000_000, marks=pytest.mark.exhaustive)])
def many_levels(request):
    return Domain({"x": {"levels": [f"level {k}" for k in range(request.param)], "other": "o"}})


@pytest.mark.parametrize("engine", [name for name in ENGINES if name != "pandas"])
def test_very_many_levels_are_joined_on_the_engine(engine, many_levels):
    number = len(many_levels["x"].levels)
    table = pa.table({"x": [f"level {number - 1}", "level 0", f"level {number}", "level 0", None]})
    found = counted(ENGINES[engine](table), CountQuery(marginals=(many_levels,)))
    assert found == [{0: 2, number - 1: 1, number: 1}]


PEOPLE = pa.table(
    {
        "word": ["a", "b", "a:b", "~", None, "a", "é", "b", "a", "c", "a", "日"],
        "n": pa.array([1, 2, 3, 1, 2, 3, 1, None, 1, 2, 1, -1]),
        "day": pa.array([date(2020, 1, 1 + k % 3) for k in range(12)]),
        "person": pa.array([1, 1, 1, 1, 1, 2, 2, None, 3, 3, 3, 3]),
        "name": ["p", "p", "q:1", "q:1", "q:1", "q", None, "p", "p", "", "", ""],
    }
)
DECLARED = Domain(
    {"word": {"levels": ["a", "b", "é"], "other": "o", "missing": "m"}, "n": {"edges": [0, 2, 3], "missing": "?"}}
)


@pytest.mark.parametrize(("engine", "max_cells", "unit"), on_engines([1, 2, 100], ["person", "name", "day"]))
def test_units_keep_so_many_of_their_cells_on_every_engine(engine, max_cells, unit):
    marginals = (DECLARED, DECLARED.project(["word"]), DECLARED.project(["n"]))
    query = CountQuery(marginals=marginals, unit=unit, max_cells=max_cells, key=KEY)
    assert_units_counted(ENGINES[engine](PEOPLE), PEOPLE, query)


@pytest.mark.parametrize("kind", FILES)
def test_units_of_files_keep_so_many_of_their_cells(kind, tmp_path):
    path = FILES[kind](PEOPLE, tmp_path)
    table = _as_texts(PEOPLE, blank_is_null=kind == "csv") if kind != "parquet" else PEOPLE
    query = CountQuery(marginals=(DECLARED, DECLARED.project(["word"])), unit="name", max_cells=1, key=KEY)
    assert_units_counted(path, table, query)


def _open(*names, **declared):
    from ggdp.domain.column import Column

    return Domain([Column(name=name, **declared.get(name, {})) for name in names])


OPEN_QUERIES = {
    "open": CountQuery(marginals=(_open("word"), _open("n", "word"))),
    "open and declared": CountQuery(
        marginals=(_open("word", "n", n={"levels": (3, 1), "other": "rest"}), _open("day", "word"))
    ),
    "units": CountQuery(marginals=(_open("word", "n", "day"), _open("word")), unit="person", max_cells=1, key=KEY),
    "units, open and declared": CountQuery(
        marginals=(_open("day", "word", day={"levels": ("2020-01-02",), "other": "o"}),),
        unit="name",
        max_cells=2,
        key=KEY,
    ),
}


@pytest.mark.parametrize(("engine", "asked"), on_engines(OPEN_QUERIES))
def test_open_keys_are_the_texts_that_are_there_in_order(engine, asked):
    query = OPEN_QUERIES[asked]
    if query.unit is None:
        assert keyed(ENGINES[engine](PEOPLE), query) == expected_keys(PEOPLE, query)
    else:
        assert_units_counted(ENGINES[engine](PEOPLE), PEOPLE, query)


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet"])
def test_open_keys_of_files_are_texts(kind, tmp_path):
    query = CountQuery(marginals=(_open("word", "n"),))
    assert keyed(FILES[kind](PEOPLE, tmp_path), query) == expected_keys(PEOPLE, query)


@settings(deadline=None, max_examples=examples(3, 12))
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(["a", "b", "c", "a:b", "~", "é", None]),
            st.one_of(st.none(), st.integers(-3, 3), st.integers(-(2**63), 2**63 - 1)),
            st.one_of(st.none(), st.floats(width=64), st.sampled_from([0.0, 1.0, 2.5])),
            st.one_of(st.none(), st.integers(0, 4)),
        ),
        max_size=25,
    ),
    levels=st.lists(st.sampled_from(["a", "b", "c", "~"]), min_size=1, unique=True),
    edges=st.lists(st.floats(allow_nan=False), min_size=2, max_size=6, unique_by=lambda edge: edge + 0.0),
    unit=st.booleans(),
    max_cells=st.integers(1, 3),
    named=st.booleans(),
)
def test_random_tables_are_counted_alike(rows, levels, edges, unit, max_cells, named):
    types = {"s": pa.string(), "i": pa.int64(), "f": pa.float64(), "u": pa.int64()}
    table = pa.table({name: pa.array([row[k] for row in rows], kind) for k, (name, kind) in enumerate(types.items())})
    extra = {"other": "o", "missing": "m"} if named else {}
    edges = sorted(edges)
    whole = Domain(
        {
            "s": {"levels": levels, **extra},
            "i": {"edges": edges, **extra},
            "f": {"edges": edges, **extra},
        }
    )
    marginals = (whole, whole.project(["i"]), Domain({"i": [0, 1, 2], "f": {"levels": [0, 1], **extra}}))
    bounded = {"unit": "u", "max_cells": max_cells, "key": KEY} if unit else {}
    query = CountQuery(marginals=marginals, **bounded)
    for make in ENGINES.values():
        if unit:
            assert_units_counted(make(table), table, query)
        else:
            assert counted(make(table), query) == expected(table, query)


def test_several_marginals_are_counted_each_by_itself():
    query = CountQuery(marginals=(DECLARED, DECLARED.project(["n"])))
    both = counted(PEOPLE, query)
    assert both == [
        *counted(PEOPLE, CountQuery(marginals=query.marginals[:1])),
        *counted(PEOPLE, CountQuery(marginals=query.marginals[1:])),
    ]


def test_large_indices_are_exact():
    levels = [str(k) for k in range(1000)]
    domain = Domain({f"c{k}": levels for k in range(6)})
    table = pa.table({f"c{k}": ["999", "123"] for k in range(6)})
    assert domain.size == 10**18
    for make in ENGINES.values():
        assert counted(make(table), CountQuery(marginals=(domain,))) == [{123123123123123123: 1, 10**18 - 1: 1}]


def test_a_hundred_and_twenty_eight_bits_are_integers():
    import duckdb

    frame = duckdb.connect().sql(f"SELECT unnest([1, {2**100}, -{2**100}, {2**126}, NULL])::HUGEINT AS x")
    domains = (
        Domain({"x": {"levels": ["1", str(2**100)], "other": "o", "missing": "m"}}),
        Domain({"x": {"edges": [0, 2.0**100, 2.0**120], "other": "o", "missing": "m"}}),
    )
    query = CountQuery(marginals=domains)
    assert counted(frame, query) == [{0: 1, 1: 1, 2: 2, 3: 1}, {0: 1, 1: 1, 2: 2, 3: 1}]


def test_uuids_are_text():
    import duckdb

    uuid = "12345678-1234-5678-1234-567812345678"
    frame = duckdb.connect().sql(f"SELECT '{uuid}'::UUID AS x, 1 AS y")
    assert counted(frame, CountQuery(marginals=(Domain({"x": [uuid]}),))) == [{0: 1}]
    assert counted(frame, CountQuery(marginals=(Domain({"y": [1]}),), unit="x", key=KEY)) == [{0: 1}]


def test_a_collation_does_not_make_one_value_two_levels():
    import duckdb
    import ibis

    connection = duckdb.connect()
    connection.execute("CREATE TABLE t (x VARCHAR COLLATE NOCASE, u VARCHAR COLLATE NOCASE)")
    connection.execute("INSERT INTO t VALUES ('a', 'p'), ('A', 'P'), ('b', 'p')")
    domain = Domain({"x": {"levels": ["a", "A"], "other": "o"}})
    assert counted(connection.table("t"), CountQuery(marginals=(domain,))) == [{0: 1, 1: 1, 2: 1}]
    found = counted(connection.table("t"), CountQuery(marginals=(domain,), unit="u", max_cells=3, key=KEY))
    assert found == [{0: 1, 1: 1, 2: 1}]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        lazy = ibis.duckdb.from_connection(connection).table("t")
    assert counted(lazy, CountQuery(marginals=(domain,))) == [{0: 1, 1: 1, 2: 1}]
    connection.execute("SET default_collation = 'nocase'")
    for frame in (connection.table("t"), lazy):
        assert counted(frame, CountQuery(marginals=(domain,))) == [{0: 1, 1: 1, 2: 1}]


DAYS = [18262, 2932896, -719162, 2932897, -719163, 100_000_000, 2**31 - 1, -(2**31), None]


@pytest.mark.parametrize("engine", ENGINES)
def test_days_outside_the_calendar_have_no_text_and_no_message(engine, capfd):
    days = pa.array(DAYS, pa.int32()).cast(pa.date32())
    frame = ENGINES[engine](pa.table({"x": days, "y": ["a"] * len(DAYS)}))
    texts = ["2020-01-01", "9999-12-31", "0001-01-01"]
    full = {"other": "o", "missing": "m"}
    for levels in (texts, [date.fromisoformat(text) for text in texts]):
        query = CountQuery(marginals=(Domain({"x": {"levels": levels, **full}}),))
        assert counted(frame, query) == [{0: 1, 1: 1, 2: 1, 3: 5, 4: 1}]
    assert keyed(frame, CountQuery(marginals=(_open("x"),))) == [[(text, 1) for text in sorted(texts)]]
    # As units they are nowhere; two cells of each are one too many, so that they are hashed.
    twice = ENGINES[engine](pa.table({"x": pa.concat_arrays([days, days]), "y": ["a"] * len(DAYS) + ["b"] * len(DAYS)}))
    query = CountQuery(marginals=(Domain({"y": ["a", "b"]}),), unit="x", max_cells=1, key=KEY)
    assert sum(counted(twice, query)[0].values()) == 3
    assert capfd.readouterr() == ("", "")


def _unchecked(texts, kind):
    raw = pa.array(texts, pa.large_binary() if kind == pa.large_string() else pa.binary())
    return pa.Array.from_buffers(kind, len(raw), raw.buffers())


@pytest.mark.parametrize("kind", [pa.string(), pa.large_string()], ids=str)
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("engine", ["pyarrow", "pandas"])
def test_text_that_is_no_utf8_is_neither_level_nor_key_nor_unit(engine, packed, kind):
    texts = [b"a", b"\xff", None, b"a", b"\xe9"]
    values = _unchecked(texts, kind)
    if packed:
        indices = pa.array([0, 1, None, 0, 2], pa.int8())
        values = pa.DictionaryArray.from_arrays(indices, _unchecked([b"a", b"\xff", b"\xe9"], kind))
    frame = ENGINES[engine](pa.table({"x": values, "y": [1] * len(texts)}))
    full = {"other": "o", "missing": "m"}
    for declared, right in (({"levels": ["\xff", "a"]}, {1: 2, 2: 2, 3: 1}), ({"edges": [0, 1]}, {1: 4, 2: 1})):
        assert counted(frame, CountQuery(marginals=(Domain({"x": {**declared, **full}}),))) == [right]
    assert keyed(frame, CountQuery(marginals=(_open("x"),))) == [[("a", 2)]]
    assert counted(frame, CountQuery(marginals=(Domain({"y": [1]}),), unit="x", key=KEY)) == [{0: 1}]


def test_a_relation_leaves_its_connection_as_it_was():
    import duckdb

    connection = duckdb.connect()
    connection.execute("CREATE TABLE t AS SELECT 'a' AS x, 1 AS u")
    query = CountQuery(marginals=(Domain({"x": ["a"]}),), unit="u", key=KEY)
    before = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
    assert counted(connection.table("t"), query) == [{0: 1}]
    assert connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall() == before
    assert connection.execute("SELECT table_name FROM duckdb_tables()").fetchall() == [("t",)]


def test_the_dictionary_of_a_category_is_no_domain():
    table = pa.table({"x": pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.int8()), pa.array(["a", "secret"]))})
    for make in ENGINES.values():
        (keys,) = keyed(make(table), CountQuery(marginals=(_open("x"),)))
        assert keys == [("a", 2)]


def test_counts_are_arrays_of_their_own():
    with open_source(PEOPLE, columns=["word"]) as source:
        (found,) = source.count(CountQuery(marginals=(Domain({"word": ["a"]}),)))
    assert isinstance(found.cells, np.ndarray)
    assert found.counts.tolist() == [4]
