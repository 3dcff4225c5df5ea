"""Columns and files that were taken for others, and types that pandas infers, so that one value decides on them.

What values did to other rows is in `test_known_holes`.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import duckdb
import ibis
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cases import covering
from tests.fuzz.asking import FULL, asked, assert_right_or_refused, by_csv, cells
from tests.fuzz.neighbours import outcome
from tests.fuzz.writers import spark_frame


@pytest.fixture(scope="module")
def spark():
    from ggdp.sources.spark import session

    return session()


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
        data = spark_frame(WARDS) if source == "frame" else {**OWN_NAMES, **MAY_REFUSE}[source](WARDS, tmp_path)
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


# Every time a fifth of the names for each source: others for the next one.
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.exhaustive) for part in (1, 2, 3, 4))])
@pytest.mark.parametrize("source", {**OWN_NAMES, **MAY_REFUSE})
def test_names_are_neither_patterns_nor_paths(tmp_path, source, part):
    # Beside each name is what it could be taken for.
    others = {"w": ["W"] * 3}
    names = ODD_NAMES if source != "ibis memtable" else ODD_NAMES[:5]
    for name in names[(list({**OWN_NAMES, **MAY_REFUSE}).index(source) + part) % 5 :: 5]:
        data = {**OWN_NAMES, **MAY_REFUSE}[source](pa.table({name: ["w", "w", None], **others}), tmp_path)
        assert_right_or_refused(data, {name: LETTERS}, {1: 2, 4: 1})
        assert_right_or_refused(data, {"w": ["W"]}, {0: 1}, name)
        assert cells(data, {"w": ["W"]}) == {0: 3}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [*ODD_NAMES, "_corrupt_record", "_metadata"])
def test_names_are_neither_patterns_nor_paths_on_spark(tmp_path, name):
    table = pa.table({name: ["w", "w", None], "w": pa.array([{"x": "W", "0": "W"}] * 3), "v": ["W"] * 3})
    sources = [parquet(table, tmp_path), spark_frame(table)]
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


@pytest.mark.parametrize(("case", "role", "kept"), covering(INFERRED, DECLARED, ["frame", "parquet"]))
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
