"""What once broke the promise of tables, each in its smallest form, on every engine, format and writer concerned.

One row, or one unit, moved many cells, or decided whether there was an answer: Parquet's statistics, carriage returns,
names of columns, text that is no UTF-8, files with several names, and types that pandas infers.
"""

from __future__ import annotations

import csv
import json
import math
import os
import warnings
from pathlib import Path

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fuzz.neighbours import outcome
from tests.fuzz.tables import Case, Table

FULL = {"other": "(other)", "missing": "(missing)"}
NAN = math.nan


def asked(domain, unit=None, **options):
    return Case(Table((), ()), frozenset(), (domain,), unit, **options)


def cells(data, domain, unit=None, **options):
    """The counts of a marginal; an error if it is not counted."""
    found = outcome(data, asked(domain, unit), **options)
    assert found.error is None, found.error
    return found.cells[0]


def assert_right_or_refused(data, domain, wanted, unit=None, **options):
    """Refused by the schema alone, by a message that says so, or counted rightly."""
    found = outcome(data, asked(domain, unit), **options)
    if found.error is None:
        assert found.cells[0] == wanted
    else:
        assert found.error.startswith("ArgumentError"), found.error


def undecodable(*texts):
    """An Arrow array of text that need not be UTF-8."""
    return pa.array(texts, pa.binary()).view(pa.string())


@pytest.fixture(scope="module")
def spark():
    from ggdp.tables.engines.spark import session

    return session()


# Parquet: NaN is in no statistics of a file.

PARQUETS = {
    "Arrow": pq.write_table,
    "Arrow, no dictionary": lambda table, path: pq.write_table(table, path, use_dictionary=False),
    "Arrow, row groups": lambda table, path: pq.write_table(table, path, row_group_size=50),
    "pandas": lambda table, path: table.to_pandas(types_mapper=pd.ArrowDtype).to_parquet(path),
    "polars": lambda table, path: pl.from_arrow(table).write_parquet(path),
    "DuckDB": lambda table, path: copied(table, path),
}
READERS = {
    "file": str,
    "DuckDB relation": lambda path: duckdb.connect().read_parquet(str(path)),
    "DuckDB view": lambda path: view_of(path, "FROM seen"),
    "DuckDB relation with a filter": lambda path: view_of(path, "FROM seen WHERE u >= 0"),
    "DuckDB relation in a subquery": lambda path: view_of(
        path, "SELECT * FROM (SELECT v, u FROM seen) ORDER BY u LIMIT 9999"
    ),
    "ibis": lambda path: ibis_of(path),
    "polars scan": pl.scan_parquet,
    "polars scan with a filter": lambda path: pl.scan_parquet(path).filter(pl.col("u") >= 0),
    "pyarrow": pq.read_table,
}
BINS, INTEGERS = {"v": {"edges": [0, 10, 20], **FULL}}, {"v": {"levels": [35, -1], **FULL}}


def copied(table, path):
    connection = duckdb.connect()
    halves = [pa.types.is_float16(kind) for kind in table.schema.types]
    connection.register(
        "made",
        table.cast(
            pa.schema(
                [(f.name, pa.float32() if half else f.type) for f, half in zip(table.schema, halves, strict=True)]
            )
        ),
    )
    connection.execute(f"COPY made TO '{path}' (FORMAT parquet)")


def ibis_of(path):
    with warnings.catch_warnings():
        # ibis calls DuckDB by a name that is to go.
        warnings.simplefilter("ignore", DeprecationWarning)
        return ibis.duckdb.connect().read_parquet(path)


def view_of(path, sql):
    connection = duckdb.connect()
    connection.execute(f"CREATE VIEW seen AS FROM read_parquet('{path}')")
    return connection.sql(sql)


def nans_and(path, write, kind, value=None):
    # Two other values: statistics of one alone would not show it.
    values = pa.array([NAN] * 100 + [1.0, 5.0] + [value] * (value is not None), kind)
    write(pa.table({"v": values, "u": pa.array(range(len(values)))}), path)
    return path


def assert_nans_are_missing(path, write, kind, read, unit, **options):
    others = ((None, {0: 2}, {2: 2}), (35.0, {0: 2, 2: 1}, {0: 1, 2: 2}), (-1.0, {0: 2, 2: 1}, {1: 1, 2: 2}))
    for value, of_bins, of_integers in others:
        nans_and(path, write, kind, value)
        assert cells(read(path), BINS, unit, **options) == {**of_bins, 3: 100}
        assert cells(read(path), INTEGERS, unit, **options) == {**of_integers, 3: 100}


@pytest.mark.parametrize("reader", READERS)
def test_nans_of_parquet_are_missing_whatever_other_rows_hold(tmp_path, reader):
    assert_nans_are_missing(tmp_path / "t.parquet", pq.write_table, pa.float64(), READERS[reader], None)


@pytest.mark.parametrize("writer", PARQUETS)
def test_nans_of_every_writer_are_missing_also_with_units(tmp_path, writer):
    path = nans_and(tmp_path / "t.parquet", PARQUETS[writer], pa.float32(), 35.0)
    assert cells(path, BINS, "u") == {0: 2, 2: 1, 3: 100}
    path = nans_and(tmp_path / "t.parquet", PARQUETS[writer], pa.float16(), -1.0)
    assert cells(path, BINS) == {0: 2, 2: 1, 3: 100}


@pytest.mark.exhaustive
@pytest.mark.parametrize("unit", [None, "u"])
@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
@pytest.mark.parametrize("writer", PARQUETS)
@pytest.mark.parametrize("reader", READERS)
def test_nans_are_missing_by_every_reader_of_every_writer(tmp_path, reader, writer, kind, unit):
    if kind == pa.float16() and reader.startswith(("polars", "pyarrow")):
        found = outcome(
            READERS[reader](nans_and(tmp_path / "t.parquet", PARQUETS[writer], kind, 35.0)), asked(BINS, unit)
        )
        if found.error is not None:
            assert found.error.startswith("ArgumentError")
            return
    assert_nans_are_missing(tmp_path / "t.parquet", PARQUETS[writer], kind, READERS[reader], unit)


@pytest.mark.exhaustive
@pytest.mark.parametrize("unit", [None, "u"])
@pytest.mark.parametrize("kind", [pa.float32(), pa.float64()], ids=str)
def test_nans_are_missing_on_spark(tmp_path, spark, kind, unit):
    path = nans_and(tmp_path / "t.parquet", pq.write_table, kind, 35.0)
    for data in (path, spark.read.parquet(str(path))):
        assert cells(data, BINS, unit, engine="spark") == {0: 2, 2: 1, 3: 100}
        assert cells(data, INTEGERS, unit, engine="spark") == {0: 1, 2: 2, 3: 100}


# CSV: where a record ends.


def by_pandas(rows, path, **options):
    pd.DataFrame(rows[1:], columns=rows[0]).to_csv(path, index=False, **options)


def by_csv(rows, path, **options):
    with path.open("w", newline="", encoding="utf-8") as lines:
        csv.writer(lines, **{"lineterminator": "\n", **options}).writerows(rows)


CSV_WRITERS = {
    "pandas": by_pandas,
    "pandas, crlf": lambda rows, path: by_pandas(rows, path, lineterminator="\r\n"),
    "csv": by_csv,
    "csv, crlf": lambda rows, path: by_csv(rows, path, lineterminator="\r\n"),
    "csv, all quoted": lambda rows, path: by_csv(rows, path, quoting=csv.QUOTE_ALL),
    "polars": lambda rows, path: pl.DataFrame(rows[1:], schema=rows[0], orient="row").write_csv(path),
}
NOTES = {
    "carriage returns": "".join(f"\r{k}" for k in range(1000)),
    "line feeds": "".join(f"\n{k}" for k in range(1000)),
    "both": "".join(f"\r\n{k}" for k in range(1000)),
    "records": "".join(f"\r\n{k},a,x" for k in range(1000)),
    "quotes": '"' * 11 + "\n" + "x" * 50 + '"\r',
    "one quote inside": 'x"\ny',
    "nuls": "\0\r\0\n",
}


def assert_a_note_is_one_row(path, writer, note, **options):
    rows = [
        ("id", "ward", "note"),
        *((k, "a", "x") for k in range(20)),
        (99, "b", note),
        *((k, "a", "") for k in range(20, 30)),
    ]
    CSV_WRITERS[writer](rows, path)
    domain = {"ward": {"levels": ["a", "b"], **FULL}}
    assert cells(path, domain, **options) == {0: 30, 1: 1}
    assert cells(path, domain, "id", **options) == {0: 30, 1: 1}


@pytest.mark.parametrize("note", NOTES)
@pytest.mark.parametrize("writer", CSV_WRITERS)
def test_a_note_is_one_field_of_one_record_whatever_line_ends_it_holds(tmp_path, writer, note):
    assert_a_note_is_one_row(tmp_path / "t.csv", writer, NOTES[note])


@pytest.mark.exhaustive
@pytest.mark.parametrize("note", NOTES)
@pytest.mark.parametrize("writer", ["pandas", "csv, crlf", "polars"])
def test_a_note_is_one_field_of_one_record_on_spark(tmp_path, writer, note):
    assert_a_note_is_one_row(tmp_path / "t.csv", writer, NOTES[note], engine="spark")


@pytest.mark.exhaustive
def test_a_record_of_a_million_fields_is_one_row_on_spark(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("id,ward\n1,a\n2,b" + "," * (1 << 21) + "\n3,a\n")
    assert cells(path, {"ward": ["a", "b"]}, engine="spark") == {0: 2, 1: 1}


# Text that is no UTF-8: every record is a row.


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.exhaustive)])
def test_records_that_are_no_utf8_are_rows(tmp_path, engine):
    path = tmp_path / "t.csv"
    path.write_text("id,ward,note\n" + "1,a,x\n2,é,x\n3,a,é\n4,b,\xff\n" * 25, "latin-1")
    found = cells(path, {"ward": {"levels": ["a", "b"], **FULL}}, engine=engine)
    assert found == {0: 50, 1: 25, 2: 25}
    assert cells(path, {"ward": ["a", "b"]}, engine=engine) == {0: 50, 1: 25}


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.exhaustive)])
def test_lines_of_json_that_are_no_utf8_are_rows(tmp_path, engine):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'{"w": "a", "n": "x"}\n{"w": "a", "n": "\xff"}\n{"w": "\xff"}\n' * 10)
    assert sum(cells(path, {"w": {"levels": ["a"], **FULL}}, engine=engine).values()) == 30


# In frames; an array of Arrow does not check its text.
TEXT_READERS = {
    "file": str,
    "pyarrow": pq.read_table,
    "pyarrow dictionary": lambda path: pa.table({n: c.dictionary_encode() for n, c in columns_of(path)}),
    "DuckDB relation of Arrow": lambda path: duckdb.connect().from_arrow(pq.read_table(path)),
}
# These engines refuse the file themselves: docs/known-limits.md.
REFUSING_READERS = {
    "DuckDB relation": lambda path: duckdb.connect().read_parquet(str(path)),
    "ibis": lambda path: ibis_of(path),
    "polars scan": pl.scan_parquet,
}


def columns_of(path):
    table = pq.read_table(path)
    return zip(table.column_names, table.columns, strict=True)


@pytest.mark.parametrize("reader", TEXT_READERS)
def test_one_text_that_is_no_utf8_does_not_decide_whether_there_is_an_answer(tmp_path, reader):
    path = tmp_path / "t.parquet"
    found = []
    for texts in ((b"a", b"b"), (b"a", b"b", b"\xff")):
        pq.write_table(pa.table({"w": undecodable(*texts)}), path)
        found.append([outcome(TEXT_READERS[reader](path), asked({"w": declared})) for declared in (["a", "b"], None)])
    assert found[0] == found[1]


@pytest.mark.parametrize("reader", REFUSING_READERS)
def test_where_the_frames_own_engine_refuses_text_that_is_no_utf8_nothing_is_told_of_it(tmp_path, reader):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"w": undecodable(b"a", b"secret\xff")}), path)
    found = outcome(REFUSING_READERS[reader](path), asked({"w": ["a", "b"]}))
    assert found.is_ours
    assert found.error.startswith("SourceError")
    assert "secret" not in found.error


@pytest.mark.exhaustive
def test_one_text_that_is_no_utf8_does_not_decide_on_spark(tmp_path, spark):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"w": undecodable(b"a", b"\xff"), "u": undecodable(b"\xff", b"p")}), path)
    for data in (path, spark.read.parquet(str(path))):
        assert outcome(data, asked({"w": None}), engine="spark").cells == ({("a",): 1},)
        assert cells(data, {"w": {"levels": ["a"], **FULL}}, "u", engine="spark") == {1: 1}


@pytest.mark.parametrize("engine", ["duckdb", pytest.param("spark", marks=pytest.mark.exhaustive)])
def test_a_mark_at_the_start_of_a_line_means_the_same_wherever_the_line_is(tmp_path, engine):
    path, marked = tmp_path / "t.jsonl", b'\xef\xbb\xbf{"w": "a"}\n'
    domain = {"w": {"levels": ["a", "b"], **FULL}}
    path.write_bytes(b'{"w": "b"}\n' + marked)
    more = cells(path, domain, engine=engine)
    path.write_bytes(marked)
    assert more == {**cells(path, domain, engine=engine), 1: 1}


# Names of columns: each is what it says, or refused.

WARDS = pa.table({"Ward": ["W"] * 3, "ward": ["w", "w", None], "ward_1": ["x"] * 3, "ID": [1, 1, 1], "id": [1, 2, 3]})
OWN_NAMES = {
    "pyarrow": lambda table, _: table,
    "pandas": lambda table, _: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": lambda table, _: pl.from_arrow(table),
    "polars lazy": lambda table, _: pl.from_arrow(table).lazy(),
    "polars scan": lambda table, folder: pl.scan_parquet(parquet(table, folder)),
    "csv": lambda table, folder: as_csv(table, folder),
    "json": lambda table, folder: as_json(table, folder),
}
MAY_REFUSE = {
    "parquet": lambda table, folder: parquet(table, folder),
    "DuckDB relation": lambda table, _: selected(table),
    "ibis memtable": lambda table, _: ibis.memtable(table),
}


def parquet(table, folder):
    pq.write_table(table, folder / "t.parquet")
    return folder / "t.parquet"


def as_csv(table, folder):
    rows = [tuple("" if value is None else value for value in row.values()) for row in table.to_pylist()]
    by_csv([table.column_names, *rows], folder / "t.csv")
    return folder / "t.csv"


def as_json(table, folder):
    (folder / "t.jsonl").write_text("".join(json.dumps(row) + "\n" for row in table.to_pylist()), "utf-8")
    return folder / "t.jsonl"


def selected(table):
    """A relation whose columns are named by a query, which DuckDB leaves as they are."""
    connection = duckdb.connect()
    plain = connection.from_arrow(table.rename_columns([f"c{place}" for place in range(table.num_columns)]))
    names = (name.replace('"', '""') for name in table.column_names)
    return plain.project(", ".join(f'c{place} AS "{name}"' for place, name in enumerate(names)))


LETTERS = {"levels": ["W", "w", "x"], **FULL}
BY_NAME = {"Ward": {0: 3}, "ward": {1: 2, 4: 1}, "ward_1": {2: 3}}


@pytest.mark.parametrize("source", OWN_NAMES)
def test_names_that_differ_in_case_are_different_columns(tmp_path, source):
    data = OWN_NAMES[source](WARDS, tmp_path)
    for name, wanted in BY_NAME.items():
        assert cells(data, {name: LETTERS}) == wanted
    assert cells(data, {"ward_1": ["x"]}, "id") == {0: 3}
    assert cells(data, {"ward_1": ["x"]}, "ID") == {0: 1}


@pytest.mark.parametrize("source", MAY_REFUSE)
def test_names_that_differ_in_case_are_told_apart_or_refused(tmp_path, source):
    data = MAY_REFUSE[source](WARDS, tmp_path)
    for name, wanted in BY_NAME.items():
        assert_right_or_refused(data, {name: LETTERS}, wanted)
    assert_right_or_refused(data, {"ward_1": ["x"]}, {0: 3}, "id")
    assert_right_or_refused(data, {"ward_1": ["x"]}, {0: 1}, "ID")


@pytest.mark.exhaustive
@pytest.mark.parametrize("sensitive", ["true", "false"])
@pytest.mark.parametrize("source", ["csv", "json", "parquet", "frame"])
def test_names_that_differ_in_case_are_told_apart_or_refused_by_spark(tmp_path, spark, source, sensitive):
    kept = spark.conf.get("spark.sql.caseSensitive")
    spark.conf.set("spark.sql.caseSensitive", sensitive)
    try:
        data = (
            spark.createDataFrame(WARDS) if source == "frame" else {**OWN_NAMES, **MAY_REFUSE}[source](WARDS, tmp_path)
        )
        for name, wanted in BY_NAME.items():
            assert_right_or_refused(data, {name: LETTERS}, wanted, engine="spark")
        assert_right_or_refused(data, {"ward_1": ["x"]}, {0: 3}, "id", engine="spark")
    finally:
        spark.conf.set("spark.sql.caseSensitive", kept)


ODD_NAMES = [
    "^w.*$",
    "^.*$",
    "*",
    "w.x",
    "`w`",
    'w"x',
    "it's",
    " w",
    "w ",
    "w\nx",
    "{w}",
    "(w)",
    "w,x",
    "w;",
    "\\w",
    "w[0]",
]


@pytest.mark.parametrize("source", {**OWN_NAMES, **MAY_REFUSE})
def test_names_are_neither_patterns_nor_paths(tmp_path, source):
    # Beside each name is what it could be taken for.
    others = {"w": ["W"] * 3}
    names = ODD_NAMES if source != "ibis memtable" else ODD_NAMES[:5]
    for name in names:
        data = {**OWN_NAMES, **MAY_REFUSE}[source](pa.table({name: ["w", "w", None], **others}), tmp_path)
        assert_right_or_refused(data, {name: LETTERS}, {1: 2, 4: 1})
        assert_right_or_refused(data, {"w": ["W"]}, {0: 1}, name)
        assert cells(data, {"w": ["W"]}) == {0: 3}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [*ODD_NAMES, "_corrupt_record", "_metadata"])
def test_names_are_neither_patterns_nor_paths_on_spark(tmp_path, spark, name):
    table = pa.table({name: ["w", "w", None], "w": pa.array([{"x": "W", "0": "W"}] * 3), "v": ["W"] * 3})
    sources = [parquet(table, tmp_path), spark.createDataFrame(table)]
    sources += [as_csv(table.drop_columns("w"), tmp_path), as_json(table.drop_columns("w"), tmp_path)]
    for data in sources:
        assert_right_or_refused(data, {name: LETTERS}, {1: 2, 4: 1}, engine="spark")
        assert_right_or_refused(data, {"v": ["W"]}, {0: 1}, name, engine="spark")


# Files: one that has several names is one.


def linked(kind, path):
    other = path.with_name("other.csv")
    if kind == "hard link":
        os.link(path, other)
    elif kind == "symbolic link":
        other.symlink_to(path)
    elif kind == "directory":
        (path.parent / "z").symlink_to(path.parent, target_is_directory=True)


@pytest.mark.parametrize("kind", ["hard link", "symbolic link", "directory", "mount"])
def test_a_file_that_a_pattern_finds_twice_is_counted_once(tmp_path, monkeypatch, kind):
    folder = tmp_path / "data"
    folder.mkdir()
    path = folder / "t.csv"
    path.write_text("w\na\na\n")
    linked(kind, path)
    if kind == "mount":
        # The same directory once more: its files have the same numbers there, and one link each.
        again = tmp_path / "again"
        again.mkdir()
        (again / "t.csv").write_bytes(path.read_bytes())
        stat = os.stat

        def as_if_mounted(name, *args, **options):
            same = isinstance(name, str | os.PathLike) and Path(name) == again / "t.csv"
            return stat(path if same else name, *args, **options)

        monkeypatch.setattr(os, "stat", as_if_mounted)
    assert cells(str(tmp_path / "**" / "*.csv"), {"w": ["a"]}) == {0: 2}


# pandas infers types from values, so that one value may change the type of a column.

INFERRED = {
    "one missing integer": ([1, 2], None),
    "one text among nulls": ([None, None], "1"),
    "one missing boolean": ([True, False], None),
    "one large integer": ([1, 2], 2**64),
    "one text among integers": ([1, 2], "x"),
    "one integer in a frame without rows": ([], 1),
    "one text in a frame without rows": ([], "1"),
}
DECLARED = {
    "unit": None,
    "open": None,
    "text": {"levels": ["1", "2", "true"], **FULL},
    "integers": {"levels": [1, 2], **FULL},
}


@pytest.mark.parametrize("kept", ["frame", "parquet"])
@pytest.mark.parametrize("role", DECLARED)
@pytest.mark.parametrize("case", INFERRED)
def test_one_value_does_not_decide_whether_a_frame_of_pandas_is_counted(tmp_path, case, role, kept):
    values, one = INFERRED[case]
    if kept == "parquet" and case in ("one text among integers", "one large integer"):
        pytest.skip("pandas does not write it")
    if (case, role) == ("one missing boolean", "integers"):
        pytest.skip("booleans are no integers, and pandas' objects may be either")
    found = []
    for column in (values, [*values, one]):
        data = pd.DataFrame({"x": column, "w": pd.Series(["a"] * len(column), dtype="str")})
        if kept == "parquet":
            data.to_parquet(tmp_path / "t.parquet")
            data = tmp_path / "t.parquet"
        asked_for = asked({"w": ["a"]}, "x") if role == "unit" else asked({"x": DECLARED[role]})
        found.append(outcome(data, asked_for))
    assert found[0].error == found[1].error
    if found[0].error is None:
        less, more = (outcome.cells[0] for outcome in found)
        moved = {cell for cell in {**less, **more} if less.get(cell, 0) != more.get(cell, 0)}
        assert len(moved) <= 1
        assert all(more[cell] == less.get(cell, 0) + 1 for cell in moved)
