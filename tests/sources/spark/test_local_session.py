"""Spark reads files as text, whatever they hold, and tells nobody."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.sources.spark import cluster as spark_cluster

from ggdp.domain.column import Column
from ggdp.domain.table_domain import Domain
from ggdp.errors import ArgumentError, MissingExtraError
from ggdp.sources import spark as engine
from ggdp.sources.files import find_files
from ggdp.sources.query import CountQuery, open_source

DECLARED = Column(name="x", levels=["1"])


@pytest.fixture(scope="module")
def spark():
    return spark_cluster.cluster()


def read(spark, path, columns):
    declared = dict.fromkeys(columns, DECLARED)
    with engine.quiet():
        return [tuple(row) for row in engine.read_text(spark, find_files(path), declared).collect()]


def test_a_csv_record_is_one_row_of_text_whatever_is_in_it(spark, tmp_path):
    # A name that would be a pattern, in a folder that would be hidden.
    folder = tmp_path / "_x"
    folder.mkdir()
    path = folder / "a [1]{2}*? %20 é.csv"
    path.write_bytes(
        b"\xef\xbb\xbf"
        + b'"a",b,A\r\n1,x,y\r\n"say ""so"", do","two\nlines",""\r\n,,\r\nshort\r\nl,o,n,g,er\r\n'
        + b'st"ray,"un"closed,z\r\n'
        + b"\xff,bad,utf-8\r\n"
        + " 01 , x ,é\r\n".encode()
        + b"," * 30_000
        + b"\r\n9007199254740993,1e400,nan"
    )
    assert read(spark, path, ["a", "b", "A"]) == [
        ("1", "x", "y"),
        ('say "so", do', "two\nlines", None),
        (None, None, None),
        ("short", None, None),
        ("l", "o", "n"),
        ('st"ray', "unclosed", "z"),
        ("\0\0", "bad", "utf-8"),
        (" 01 ", " x ", "é"),
        (None, None, None),
        ("9007199254740993", "1e400", "nan"),
    ]


@pytest.mark.parametrize(("kind", "text"), [("csv", "a,b\n"), ("tsv", "a\tb\n"), ("json", "")])
def test_a_file_without_records_has_no_rows(spark, tmp_path, kind, text):
    path = tmp_path / f"x.{kind}"
    path.write_text(text)
    assert read(spark, path, ["a", "b"]) == []


def test_tabs_separate_the_fields_of_a_tsv_file(spark, tmp_path):
    path = tmp_path / "x.tsv"
    path.write_text('a\tb\n1,2\t"x\ty"\n')
    assert read(spark, path, ["a", "b"]) == [("1,2", "x\ty")]


def test_a_line_of_json_is_one_row_of_text_whatever_is_in_it(spark, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_bytes(
        b'\xef\xbb\xbf{"a": 1, "b": "x"}\r\n{"b": null}\n\n  \n{"a": 12345678901234567890123, "b": {"c": [1]}}\n'
        b'no json\n{"a": true, "b": ""}\n[{"a": 1}, {"a": 2}]\n{"a": "1", "b":\n{"A": 3}\n"x"\n'
        b'{"a":\r1}\n{"a": "\xc3\xa9"}\n[]\n'
        b"{'a': '1'}"
    )
    expected = [
        ("1", "x"),
        (None, None),
        ("12345678901234567890123", '{"c":[1]}'),
        (None, None),
        ("true", ""),
        (None, None),
        (None, None),
        (None, None),
        (None, None),
        ("1", None),
        ("é", None),
        (None, None),
        (None, None),
    ]
    # In any order: DuckDB, which parses them, keeps none.
    assert Counter(read(spark, path, ["a", "b"])) == Counter(expected)


def test_parquet_files_are_read_as_they_are(spark, tmp_path):
    tables = [
        pa.table({"n": pa.array([2**62 + part, None]), "day": pa.array([-300_000, 0], pa.date32())}) for part in (0, 1)
    ]
    paths = [tmp_path / f"{part}.parquet" for part in (0, 1)]
    for table, path in zip(tables, paths, strict=True):
        pq.write_table(table, path)
    frame = engine.read_parquet(spark, list(map(str, paths)))
    assert frame.dtypes == [("n", "bigint"), ("day", "date")]
    assert sorted(row.n for row in frame.collect() if row.n) == [2**62, 2**62 + 1]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("spark")
def test_text_of_parquet_files_that_is_no_utf8_is_no_level_no_key_and_no_unit(tmp_path):
    def text(*values):
        raw = pa.array(values, pa.binary())
        return pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())

    table = {"a": text(b"1", b"\xff", None, b"3"), "u": text(b"x", b"y", b"z", b"\xff"), "n": pa.array([1, 2, 3, 4])}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    levels = Domain({"a": {"levels": ["1", "3"], "other": "o", "missing": "m"}})
    queries = [
        CountQuery(marginals=(levels,)),
        CountQuery(marginals=(levels,), unit="u", key=bytes(32)),
        CountQuery(marginals=(Domain({"n": [1, 2]}),)),
    ]
    found = []
    with open_source(tmp_path / "t.parquet", engine="spark", columns=["a", "u", "n"]) as source:
        for query in queries:
            ((cells, counts),) = source.count(query)
            found.append(dict(zip(cells.tolist(), counts.tolist(), strict=True)))
        (keys,) = source.keys(CountQuery(marginals=(Domain({"a": None}),)))
    assert found == [{0: 1, 1: 1, 2: 1, 3: 1}, {0: 1, 2: 1, 3: 1}, {0: 1, 1: 1}]
    assert keys.to_pydict() == {"a": ["1", "3"], "count": [1, 1]}


@pytest.mark.parametrize(
    ("name", "said"), [("_x.parquet", "begin with"), (".x.parquet", "begin with"), ("a:b.parquet", "colon")]
)
def test_a_file_that_spark_would_pass_over_is_refused(name, said):
    with pytest.raises(ArgumentError, match=said):
        engine.read_parquet(None, [name])


def test_the_active_session_is_used(spark):
    assert engine.session() is spark


def test_without_pyspark_the_way_to_install_it_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.logger", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ggdp\[spark\]'"):
        engine.session()


@pytest.mark.skipif(sys.platform == "win32", reason="the stand-in for Java is a shell script")
@pytest.mark.parametrize(
    ("says", "told"),
    [(None, "none was found"), ("1.8.0_402", "Java 8"), ("11.0.2", "Java 11"), ("17", None), ("25.0.1", None)],
)
def test_without_java_17_what_is_missing_is_told(monkeypatch, tmp_path, says, told):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    if says is not None:
        (tmp_path / "bin").mkdir()
        java = tmp_path / "bin" / "java"
        java.write_text(f"#!/bin/sh\necho 'openjdk version \"{says}\" 2025-01-01' >&2\n")
        java.chmod(0o755)
    if told is None:
        engine._require_java()
        return
    with pytest.raises(MissingExtraError, match=f"needs Java 17 or newer, and .*{told}"):
        engine._require_java()


_SCRIPT = """
import logging, os, sys
import pyarrow as pa
import ggdp
from ggdp.tables.executor_release import NoiseTask, release_cells
from ggdp.sources.spark import quiet, session

assert "pyspark" not in sys.modules
spark = session()
assert session() is spark
assert not {"PYSPARK_PYTHON", "SPARK_LOCAL_IP"} & set(os.environ)
with quiet():
    for query in ("select cast('SECRET' as int)", "select SECRET", "select raise_error('SECRET')"):
        try:
            spark.sql(query).collect()
        except Exception:
            continue
        raise AssertionError(query)

class Fails:
    private = False
    def fill(self, buffer):
        print("SECRET", flush=True)
        print("SECRET", file=sys.stderr, flush=True)
        raise OSError("SECRET")

with quiet():
    counted = spark.createDataFrame(pa.table({"cell": [1], "count": [5]}))
plan = ggdp.plan_table("k", ggdp.PureDP(1.0), {"k": ["a", "b", "c"]})
try:
    release_cells(counted, NoiseTask(plan=plan, rng=Fails()), "x.parquet")
except Exception:
    pass
else:
    raise AssertionError
assert not os.listdir(".")
release_cells(counted, NoiseTask(plan=plan), "x.parquet")
assert spark.sparkContext.getConf().get("spark.ui.enabled") == "false"
assert logging.getLogger("SQLQueryContextLogger").filters == []
print("done")
"""


@pytest.mark.exhaustive
def test_a_session_of_our_own_writes_nothing_to_standard_output_or_error(tmp_path):
    if (engine._java_version() or 0) < 17:
        pytest.skip("needs Java 17 or newer")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK", "SPARK"))}
    # Java says on its standard error that it has picked them up.
    environment["JAVA_TOOL_OPTIONS"] = spark_cluster.JAVA
    done = subprocess.run(
        [sys.executable, "-c", _SCRIPT], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "done\n", "")
    assert [path.name for path in Path(tmp_path).iterdir()] == ["x.parquet"]
