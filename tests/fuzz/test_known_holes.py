"""What once broke the promise of tables, each in its smallest form, on every engine, format and writer concerned.

One row, or one unit, moved many cells, or decided whether there was an answer: Parquet's statistics, carriage returns,
and text that is no UTF-8. Names, of columns and of files, are in `test_known_names`.
"""

from __future__ import annotations

import csv
import math
import warnings
from itertools import product

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cases import some
from tests.fuzz.asking import FULL, asked, by_csv, cells
from tests.fuzz.neighbours import outcome

NAN = math.nan


def undecodable(*texts):
    """An Arrow array of text that need not be UTF-8."""
    return pa.array(texts, pa.binary()).view(pa.string())


@pytest.fixture(scope="module")
def spark():
    from ggdp.sources.spark import session

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


@pytest.mark.parametrize("others", [[], [35.0], [35.0, 36.0], [-1.0]])
@pytest.mark.parametrize("engine", ["DuckDB", "ibis"])
def test_a_filter_of_a_relation_is_decided_row_by_row(tmp_path, engine, others):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"v": [math.nan] * 1000 + others, "w": ["a"] * (1000 + len(others))}), path)
    connection = duckdb.connect()
    if engine == "DuckDB":
        relation = connection.sql(f"SELECT w FROM '{path}' WHERE isnan(v)")
    else:
        table = ibis_of(path)
        relation = table.filter(table.v.isnan()).select("w")
    assert cells(relation, {"w": ["a"]}) == {0: 1000}
    # The relation's own database is left as it was.
    assert connection.sql("SELECT current_setting('disabled_optimizers')").fetchall() == [("",)]


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


# Every time half of the notes for each writer: the other half for the next one.
@pytest.mark.parametrize(
    ("writer", "note"),
    some(
        product(CSV_WRITERS, NOTES),
        lambda writer, note: (list(CSV_WRITERS).index(writer) + list(NOTES).index(note)) % 2 == 0,
    ),
)
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
# These engines refuse the file themselves: docs/explanation/known-limits.md.
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


def test_all_rows_of_a_lazy_frame_are_counted_where_no_column_is_asked_for(tmp_path):
    pl.DataFrame({"a": [1, 2, 3]}).write_parquet(tmp_path / "x.parquet", row_group_size=2)
    scan = pl.scan_parquet(tmp_path / "x.parquet").with_row_index("row").filter(pl.col("row") >= 0)
    assert cells(scan, {}) == {0: 3}
