"""What is refused is refused by request and schema; what an engine says of values reaches nobody."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.sources.counting import counted, keyed
from tests.sources.zoo import ENGINES, KEY, on_engines

from ggdp.domain.column import Column
from ggdp.domain.table_domain import Domain
from ggdp.errors import ArgumentError, SourceError
from ggdp.sources.engine import hide_errors
from ggdp.sources.query import CountQuery, open_source

TABLE = pa.table(
    {
        "text": ["a"],
        "whole": [1],
        "real": [1.0],
        "exact": [Decimal("1.0")],
        "truth": [True],
        "day": [date(2020, 1, 1)],
        "when": [datetime(2020, 1, 1)],  # noqa: DTZ001 - a time without a zone
        "list": [[1]],
    }
)
LEVELS = {"text": ["a"], "integer": [1], "boolean": [True], "date": [date(2020, 1, 1)]}
GOES = {
    "text": {"text", "integer", "boolean", "date", "bins", "dated", "open"},
    "whole": {"text", "integer", "boolean", "date", "bins", "dated", "open"},
    "real": {"text", "integer", "boolean", "date", "bins", "dated", "open"},
    "exact": {"integer", "bins"},
    "truth": {"text", "integer", "boolean", "date", "bins", "dated", "open"},
    "day": {"text", "date", "dated", "open"},
    "when": {"dated"},
    "list": set(),
}


def _column(name, kind):
    if kind == "open":
        return Column(name=name)
    if kind == "dated":
        return Column(name=name, edges=(date(2020, 1, 1), date(2020, 1, 2)))
    return Column(name=name, edges=(0, 2)) if kind == "bins" else Column(name=name, levels=tuple(LEVELS[kind]))


@pytest.mark.parametrize(("engine", "name"), on_engines(GOES))
def test_kinds_of_data_go_with_kinds_of_declarations_by_schema_alone(engine, name):
    frame, empty = ENGINES[engine](TABLE), ENGINES[engine](TABLE.slice(0, 0))
    for kind in ("text", "integer", "boolean", "date", "bins", "dated", "open"):
        query = CountQuery(marginals=(Domain([_column(name, kind)]),))
        said = set()
        for data in (frame, empty):
            with open_source(data, columns=[name]) as source:
                try:
                    source.check(query)
                    said.add("")
                except ArgumentError as refused:
                    said.add(str(refused))
        assert len(said) == 1
        assert (said == {""}) == (kind in GOES[name]), kind


@pytest.mark.parametrize("name", ["exact", "when", "list"])
@pytest.mark.parametrize("engine", ENGINES)
def test_units_are_neither_decimals_nor_times_nor_lists(engine, name):
    query = CountQuery(marginals=(Domain({"text": ["a"]}),), unit=name, key=KEY)
    with pytest.raises(ArgumentError, match="cast it to integers or text"):
        counted(ENGINES[engine](TABLE), query)


def test_queries_are_complete():
    domain = Domain({"text": ["a"]})
    with pytest.raises(ArgumentError, match="needs a unit"):
        CountQuery(marginals=(domain,), max_cells=2)
    with pytest.raises(ArgumentError, match="secret bytes"):
        CountQuery(marginals=(domain,), unit="u")
    with pytest.raises(ArgumentError, match="at least 1"):
        CountQuery(marginals=(domain,), unit="u", max_cells=0, key=KEY)
    with pytest.raises(ArgumentError, match="must not be empty"):
        CountQuery(marginals=())
    assert KEY.hex() not in repr(CountQuery(marginals=(domain,), unit="u", key=KEY))
    assert repr(KEY) not in repr(CountQuery(marginals=(domain,), unit="u", key=KEY))


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_that_are_not_there_are_refused(engine):
    with pytest.raises(ArgumentError, match="no such column"):
        open_source(ENGINES[engine](TABLE), columns=["nothing"])
    with (
        open_source(ENGINES[engine](TABLE), columns=["text"]) as source,
        pytest.raises(ArgumentError, match="opened with"),
    ):
        source.count(CountQuery(marginals=(Domain({"whole": [1]}),)))


def test_a_column_that_is_there_twice_is_refused():
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["x", "x"])
    for data in (twice, pd.DataFrame([[1, 2]], columns=["x", "x"])):
        with pytest.raises(ArgumentError, match="same name"):
            open_source(data, columns=["x"])


def test_what_is_no_frame_is_refused():
    for data in (5, None, {"a": [1]}, [1, 2], pl.Series([1]), np.zeros(3), b"x"):
        with pytest.raises(ArgumentError, match="a path, or a frame"):
            open_source(data, columns=["a"])
    with pytest.raises(ArgumentError, match="by its own engine"):
        open_source(TABLE, engine="spark", columns=["text"])
    with pytest.raises(ArgumentError, match="must be one of"):
        open_source("x.csv", engine="excel", columns=["text"])


def test_open_columns_are_asked_for_as_keys():
    with open_source(TABLE, columns=["text"]) as source, pytest.raises(ArgumentError, match="request keys"):
        source.count(CountQuery(marginals=(Domain([Column(name="text")]),)))
    with open_source(TABLE, columns=["text"]) as source, pytest.raises(ArgumentError, match="Spark"):
        source.lazy_cells(CountQuery(marginals=(Domain({"text": ["a"]}),)))


def test_engines_are_named():
    named = {name: open_source(make(TABLE), columns=["text"]).engine.name for name, make in ENGINES.items()}
    assert named == {name: name.split()[0] for name in ENGINES}
    with open_source(TABLE, columns=list(GOES)) as source:
        assert source.engine.kinds["exact"] == "decimal"
        assert source.engine.kinds["when"] == "datetime"


def test_an_error_of_an_engine_is_replaced_and_forgotten(capfd):
    # The query fails on a value, which DuckDB and polars quote.
    import duckdb

    connection = duckdb.connect()
    frames = [
        connection.sql("SELECT CAST(x AS INTEGER) AS x FROM (SELECT 'secret' AS x)"),
        pl.LazyFrame({"x": ["secret"]}).select(pl.col("x").cast(pl.Int64)),
    ]
    for frame in frames:
        with pytest.raises(SourceError) as caught:
            counted(frame, CountQuery(marginals=(Domain({"x": [1]}),)))
        assert "secret" not in str(caught.value)
        assert caught.value.__cause__ is None
        assert caught.value.__context__ is None
        assert caught.value.source in ("duckdb DuckDBPyRelation", "duckdb Relation", "polars LazyFrame")
    assert capfd.readouterr() == ("", "")


class _Panic(BaseException):
    pass


def test_a_panic_is_replaced_and_an_interrupt_passes():
    def fail(error):
        raise error

    with pytest.raises(SourceError, match="'here'"):
        hide_errors("here", lambda: fail(_Panic("secret")))
    with pytest.raises(KeyboardInterrupt):
        hide_errors("here", lambda: fail(KeyboardInterrupt()))
    with pytest.raises(ArgumentError):
        hide_errors("here", lambda: fail(ArgumentError("a", 1, "b")))


OBJECTS = [
    "1",
    1,
    np.int64(1),
    True,
    1.0,
    1.5,
    None,
    np.nan,
    pd.NA,
    pd.NaT,
    date(2020, 1, 2),
    object(),
    [1],
    "\ud800",
    "x",
    10**30,
]
OBJECTS += [datetime(2020, 1, 2), np.bool_(False), b"1", float("inf"), np.float32(1)]  # noqa: DTZ001


@pytest.mark.parametrize(
    ("declared", "right"),
    [
        ({"levels": [1, 2]}, {0: 5, 2: 12, 3: 4}),
        ({"levels": ["1", "x", "true", "1.5"]}, {0: 5, 1: 1, 2: 1, 4: 10, 5: 4}),
        ({"levels": [True, False]}, {0: 1, 1: 1, 2: 15, 3: 4}),
        ({"levels": [date(2020, 1, 2)]}, {0: 1, 1: 16, 2: 4}),
        ({"edges": [0, 1.25, 1.75]}, {0: 5, 1: 1, 2: 11, 3: 4}),
    ],
)
def test_python_objects_are_read_one_by_one(declared, right):
    frame = pd.DataFrame({"x": pd.Series(OBJECTS, dtype=object)})
    domain = Domain({"x": {**declared, "other": "o", "missing": "m"}})
    assert counted(frame, CountQuery(marginals=(domain,))) == [right]


def test_categories_of_python_objects_are_read_one_by_one():
    mixed = pd.Index(["1", "x", date(2020, 1, 2)], dtype=object)
    frame = pd.DataFrame({"x": pd.Categorical(["1", date(2020, 1, 2), None, "1"], categories=mixed)})
    domain = Domain({"x": {"levels": ["x", "2020-01-02", "1"], "missing": "m"}})
    assert counted(frame, CountQuery(marginals=(domain,))) == [{1: 1, 2: 2, 3: 1}]


BIG = 2**53 + 1
CATEGORIES = [
    pd.Categorical([None]),
    pd.Categorical([None], categories=["a"]),
    pd.Categorical([1, None]),
    pd.Categorical([1.5, None]),
    pd.Categorical([True, None]),
    pd.Categorical([date(2020, 1, 1), None]),
    pd.Categorical(pd.to_datetime(["2020-01-01", None])),
    pd.Categorical(["a", None], categories=pd.Index(["a"], dtype=object)),
    pd.Categorical(["a", None], categories=pd.Index(["a"], dtype="string")),
]


def test_which_categories_there_are_is_no_schema():
    for kind in ("text", "integer", "boolean", "date", "bins", "open"):
        query = CountQuery(marginals=(Domain([_column("x", kind)]),))
        for values in CATEGORIES:
            frame = pd.DataFrame({"x": values, "y": 1})
            with open_source(frame, columns=["x", "y"]) as source:
                assert source.engine.kinds["x"] == "text"
                source.keys(query)
                source.count(CountQuery(marginals=(Domain({"y": [1]}),), unit="x", key=KEY))


def test_arrow_dictionaries_have_the_kind_of_their_values():
    nothing = pa.DictionaryArray.from_arrays(pa.array([None], pa.int8()), pa.nulls(0))
    whole = pa.array([1]).dictionary_encode()
    table = pa.table({"nothing": nothing, "whole": whole, "text": pa.array(["a"]).dictionary_encode()})
    for frame in (table, table.to_pandas(types_mapper=pd.ArrowDtype)):
        with open_source(frame, columns=table.column_names) as source:
            assert source.engine.kinds == {"nothing": "text", "whole": "integer", "text": "text"}
    domain = Domain({"nothing": {"levels": ["a"], "missing": "m"}})
    assert counted(table, CountQuery(marginals=(domain,))) == [{1: 1}]


@pytest.mark.parametrize(
    ("values", "declared", "right"),
    [
        ([1, BIG, None, 1, 3], {"levels": [1, BIG]}, {0: 2, 1: 1, 2: 1, 3: 1}),
        ([1, BIG, None, 1, 3], {"levels": ["1", str(BIG)]}, {0: 2, 1: 1, 2: 1, 3: 1}),
        ([1, BIG, None, 1, 3], {"edges": [1, 2, float(BIG - 1)]}, {0: 2, 1: 1, 2: 1, 3: 1}),
        ([1.0, 1.5, np.inf, None], {"levels": [1]}, {0: 1, 1: 2, 2: 1}),
        ([1.0, 1.5, np.inf, None], {"edges": [1.25, np.inf]}, {0: 2, 1: 1, 2: 1}),
        ([True, False, None, True], {"levels": [False, True]}, {0: 1, 1: 2, 3: 1}),
        (["1", "01", "x"], {"levels": [1]}, {0: 2, 1: 1}),
    ],
)
def test_categories_are_counted_as_the_values_that_they_are(values, declared, right):
    domain = Domain({"x": {**declared, "other": "o", "missing": "m"}})
    # Those of objects stay integers beside a null.
    frames = [pd.DataFrame({"x": pd.Categorical(pd.Series(values, dtype=kind))}) for kind in (None, object)]
    if BIG in values:
        frames = [pd.DataFrame({"x": pd.Categorical(pd.array(values, dtype="Int64"))}), frames[1]]
    for frame in (*frames, pd.DataFrame({"x": pd.Series(values, dtype=object)})):
        assert counted(frame, CountQuery(marginals=(domain,))) == [right]


def test_categories_are_keys_and_units_by_their_text():
    frame = pd.DataFrame({"x": pd.Categorical([1.0, 1.5, None, 1.0, 7.0]), "y": 1})
    assert keyed(frame, CountQuery(marginals=(Domain([Column(name="x")]),))) == [[("1", 2), ("7", 1)]]
    assert counted(frame, CountQuery(marginals=(Domain({"y": [1]}),), unit="x", key=KEY)) == [{0: 2}]


def test_a_column_of_a_query_is_declared_in_one_way():
    frame = pd.DataFrame({"x": pd.Series([1], dtype=object)})
    for data in (frame, frame[:0]):
        with pytest.raises(ArgumentError, match="declared in two ways"):
            counted(data, CountQuery(marginals=(Domain({"x": [1]}), Domain({"x": {"edges": [0, 1]}}))))


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (np.inf, 4),
        (-np.inf, 0),
        (1e300, 4),
        (-1e300, 0),
        ("inf", 5),
        ("1e300", 5),
        (2**63 - 1, 2),
        (2**63, 3),
        (float(2**63), 3),
        (10**400, 4),
        (-(10**400), 0),
        (np.uint64(2**63), 3),
        (np.float32(0.1), 2),
        (0.1, 1),
        (True, 5),
        ("0.1", 1),
        ("0.1\n", 5),
        (np.float32("nan"), 6),
    ],
    ids=repr,
)
def test_python_numbers_are_binned_as_they_are(value, code):
    edges = [-np.inf, 0, 0.1 + 1e-17 + 1e-16, 2.0**63, 1e200, np.inf]
    domain = Domain({"x": {"edges": edges, "other": "o", "missing": "m"}})
    frame = pd.DataFrame({"x": pd.Series([value], dtype=object)})
    assert counted(frame, CountQuery(marginals=(domain,))) == [{code: 1}]


def test_numbers_outside_all_bins_are_other_or_nowhere():
    frame = pd.DataFrame({"x": pd.Series([-np.inf, -1, 0, 1, 2, np.inf, "y"], dtype=object)})
    for role, right in (({"other": "o"}, {0: 2, 1: 5}), ({}, {0: 2})):
        domain = Domain({"x": {"edges": [0, 1], **role}})
        assert counted(frame, CountQuery(marginals=(domain,))) == [right]


def test_objects_of_polars_are_refused_by_their_type():
    frame = pl.DataFrame({"x": pl.Series([1, "a", None], dtype=pl.Object), "y": [1, 1, 1]})
    for data in (frame, frame.lazy(), frame.clear()):
        for kind in ("text", "integer", "boolean", "date", "bins", "open"):
            with pytest.raises(ArgumentError, match="make a column of text"):
                keyed(data, CountQuery(marginals=(Domain([_column("x", kind)]),)))
        with pytest.raises(ArgumentError, match="cast it to integers or text"):
            counted(data, CountQuery(marginals=(Domain({"y": [1]}),), unit="x", key=KEY))


@pytest.mark.parametrize("rows", [0, 3])
def test_databases_that_may_compare_loosely_are_refused_by_their_name(rows, tmp_path):
    import sqlite3

    import ibis

    path = tmp_path / "people.db"
    database = sqlite3.connect(path)
    database.execute("CREATE TABLE people (x TEXT COLLATE NOCASE)")
    database.executemany("INSERT INTO people VALUES (?)", [("a",)] * rows)
    database.commit()
    database.close()
    people = ibis.sqlite.connect(path).table("people")
    with pytest.raises(ArgumentError, match=r"ibis on sqlite.*to_pyarrow"):
        open_source(people, columns=["x"])


def test_objects_are_keys_and_units_by_their_text():
    frame = pd.DataFrame({"x": pd.Series(OBJECTS, dtype=object), "y": 1})
    keys = [("1", 5), ("1" + "0" * 30, 1), ("2020-01-02", 1), ("false", 1), ("true", 1), ("x", 1)]
    assert keyed(frame, CountQuery(marginals=(Domain([Column(name="x")]),))) == [keys]
    assert counted(frame, CountQuery(marginals=(Domain({"y": [1]}),), unit="x", key=KEY)) == [{0: len(keys)}]


@pytest.mark.parametrize("kind", [object, "string", "str"])
def test_text_of_pandas_is_key_and_unit_whatever_its_type(kind):
    frame = pd.DataFrame({"x": pd.Series(["a", None, "b", "a"], dtype=kind), "y": 1})
    assert keyed(frame, CountQuery(marginals=(Domain([Column(name="x")]),))) == [[("a", 2), ("b", 1)]]
    assert counted(frame, CountQuery(marginals=(Domain({"y": [1]}),), unit="x", key=KEY)) == [{0: 2}]


def test_plain_pandas_columns_are_what_they_stand_for():
    frame = pd.DataFrame(
        {
            "n": [1.0, None, 2.0, np.nan],
            "s": pd.array(["a", None, "b", "a"], dtype="string"),
            "c": pd.Categorical(["x", "y", None, "x"], categories=["y", "x", "z"]),
            "i": pd.Categorical([1, 2, None, 1]),
            "b": pd.array([True, None, False, True], dtype="boolean"),
            "k": pd.array([1, None, 2**62, 1], dtype="Int64"),
        },
        index=[5, 5, 7, 9],
    )
    full = {"other": "o", "missing": "m"}
    marginals = (
        Domain({"n": {"levels": [1, 2], **full}}),
        Domain({"s": {"levels": ["a"], **full}}),
        Domain({"c": {"levels": ["x", "z"], **full}}),
        Domain({"i": {"levels": [1], **full}}),
        Domain({"b": {"levels": [True, False], **full}}),
        Domain({"k": {"levels": [1, 2**62], **full}}),
    )
    assert counted(frame, CountQuery(marginals=marginals)) == [
        {0: 1, 1: 1, 3: 2},
        {0: 2, 1: 1, 2: 1},
        {0: 2, 2: 1, 3: 1},
        {0: 2, 1: 1, 2: 1},
        {0: 2, 1: 1, 3: 1},
        {0: 2, 1: 1, 3: 1},
    ]
    with pytest.raises(ArgumentError, match="cannot be counted"):
        counted(
            pd.DataFrame({"p": pd.period_range("2020", periods=2, freq="D")}),
            CountQuery(marginals=(Domain({"p": ["a"]}),)),
        )


def test_half_a_surrogate_pair_is_no_text_and_no_error():
    text = pd.array(["a", "\ud800", None, "a"], dtype=pd.StringDtype("python"))
    frame = pd.DataFrame({"x": text, "y": [1, 1, 1, 1]})
    domain = Domain({"x": {"levels": ["a"], "other": "o", "missing": "m"}})
    assert counted(frame, CountQuery(marginals=(domain,))) == [{0: 2, 1: 1, 2: 1}]
    assert keyed(frame, CountQuery(marginals=(Domain([Column(name="x")]),))) == [[("a", 2)]]
    assert counted(frame, CountQuery(marginals=(Domain({"y": [1]}),), unit="x", key=KEY)) == [{0: 1}]


@pytest.mark.parametrize("frame", [TABLE, TABLE.slice(0, 0)], ids=["rows", "no rows"])
@pytest.mark.parametrize("lazy", [False, True])
def test_a_polars_that_takes_names_for_patterns_is_refused(monkeypatch, frame, lazy):
    monkeypatch.setattr(pl, "__version__", "1.35.2")
    data = pl.from_arrow(frame.select(["text"]))
    with pytest.raises(ArgumentError, match=r"^data = 'polars 1\.35\.2': .*install polars 1\.36 or newer$"):
        open_source(data.lazy() if lazy else data, columns=["text"])
