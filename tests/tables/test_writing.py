import csv
import errno
import hashlib
import io
import json
import os
from datetime import date

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

import ggdp
from ggdp.errors import ArgumentError
from ggdp.tables import output_files
from ggdp.tables.output_files import require_tables, targets

LEVELS = {
    "text": ["plain", "a,b", 'say "x"', "line\nbreak", "cr\rhere", " spaces ", "ünïcode 女", "NULL", "-1", ""],
    "integer": [2**63 - 1, -1, 0],
    "boolean": [True, False],
    "date": [date(1970, 1, 1), date(2024, 2, 29)],
}


def release(domain, by=None, **options):
    """A release of a table without rows: every count is noise."""
    columns = {name: pa.array([], pa.string()) for name in domain}
    goal = options.pop("goal", ggdp.PureDP(1.0))
    return ggdp.release_table(pa.table(columns), by or list(domain), goal, domain, **options)


@pytest.fixture(scope="module")
def every_kind():
    return release(LEVELS)


@pytest.fixture(scope="module")
def two_tables():
    return release({"a": ["x", "y"], "b": ["u", "v"]}, [["a"], ["a", "b"]])


def as_text(value):
    if isinstance(value, bool):
        return str(value).lower()
    return value.isoformat() if isinstance(value, date) else str(value)


def test_a_csv_file_reads_back_as_it_was_released(every_kind, tmp_path):
    file, _ = every_kind.write(tmp_path / "t.csv")
    with file.open(newline="", encoding="utf-8") as text:
        header, *rows = csv.reader(text)
    table = every_kind.to_arrow()
    assert header == table.column_names == [*LEVELS, "count", "lower", "upper"]
    assert rows == [[as_text(value) for value in row.values()] for row in table.to_pylist()]


def test_a_cell_whose_mean_is_null_has_its_line_in_a_csv_file(tmp_path):
    domain = {"text": [*"abcdefgh"], "value": {"range": [0, 100]}}
    rows = pa.table({"text": ["c"] * 500, "value": [50] * 500})
    wanted = [ggdp.Mean("value"), ggdp.Variance("value")]
    found = ggdp.release_table(rows, "text", ggdp.PureDP(1.0), domain, statistics=wanted, rng=ggdp.SeededSource(seed=1))
    means = found.to_arrow()["mean_value"]
    assert 0 < means.null_count < len(means)
    file, _ = found.write(tmp_path / "t.csv")
    with file.open(newline="", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    assert [row["text"] for row in rows] == domain["text"]
    assert [row["mean_value"] == "" for row in rows] == means.is_null().to_pylist()


def test_quotes_are_where_they_are_needed_and_nowhere_else():
    table = pa.table({"name, please": LEVELS["text"], "count": np.arange(10)})
    # Without quotes most readers take the empty text for a null, and a carriage return for the end of a line.
    assert output_files._as_csv(table).decode() == (
        '"name, please",count\nplain,0\n"a,b",1\n"say ""x""",2\n"line\nbreak",3\n"cr\rhere",4\n'
        ' spaces ,5\nünïcode 女,6\nNULL,7\n-1,8\n"",9\n'
    )


@settings(deadline=None, max_examples=examples(15, 40))
@given(
    st.lists(
        st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5), min_size=1, max_size=5, unique=True
    ),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=4),
)
def test_whatever_levels_and_names_hold_a_csv_file_has_one_record_for_each_cell(levels, name):
    table = pa.table({name + "?": pa.array(levels), "count": pa.array(range(len(levels)), pa.int64())})
    (header, *rows) = csv.reader(io.StringIO(output_files._as_csv(table).decode(), newline=""))
    assert header == [name + "?", "count"]
    assert rows == [[level, str(place)] for place, level in enumerate(levels)]


def test_long_tables_are_made_in_parts_without_a_seam(monkeypatch):
    table = pa.table({"k": [f"level {k}" for k in range(10)], "count": np.arange(10)})
    whole = output_files._as_csv(table)
    monkeypatch.setattr(output_files, "_ROWS", 3)
    assert output_files._as_csv(table) == whole == b"k,count\n" + b"".join(b"level %d,%d\n" % (k, k) for k in range(10))


def test_a_parquet_file_has_the_types_and_no_metadata(every_kind, tmp_path):
    file, _ = every_kind.write(tmp_path / "t.parquet")
    assert pq.read_table(file).equals(every_kind.to_arrow())
    schema = pq.read_schema(file)
    assert schema.metadata is None
    assert [str(kind) for kind in schema.types] == ["string", "int64", "bool", "date32[day]", *["int64"] * 3]
    assert pq.read_metadata(file).metadata is None


def test_metadata_and_chunks_of_a_frame_do_not_reach_the_file():
    plain = pa.table({"k": ["a", "b", "c"], "count": np.arange(3)})
    other = pa.concat_tables([plain.slice(0, 1), plain.slice(1)]).replace_schema_metadata({"pandas": "from my machine"})
    assert output_files.as_parquet(other) == output_files.as_parquet(plain)
    assert output_files._as_csv(other) == output_files._as_csv(plain)


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_the_same_release_gives_the_same_bytes(two_tables, tmp_path, suffix):
    (tmp_path / "again").mkdir()
    for one, other in zip(
        two_tables.write(tmp_path / f"t.{suffix}"), two_tables.write(tmp_path / "again" / f"t.{suffix}"), strict=True
    ):
        assert one.read_bytes() == other.read_bytes()


def test_a_table_without_rows_is_a_header(tmp_path):
    found = ggdp.release_table(pa.table({"k": ["rare"]}), "k", ggdp.ApproxDP(0.01, 1e-9))
    assert len(found.tables[0]) == 0
    assert found.write(tmp_path / "t.csv")[0].read_bytes() == b"k,count,lower,upper\n"
    assert pq.read_table(found.write(tmp_path / "t.parquet", overwrite=True)[0]).num_rows == 0


def test_the_manifest_names_each_file_with_its_digest(two_tables, tmp_path):
    *tables, manifest = two_tables.write(tmp_path / "t.csv")
    assert [file.name for file in (*tables, manifest)] == ["t-1.csv", "t-2.csv", "t.manifest.json"]
    described = json.loads(manifest.read_text("utf-8"))["table"]["tables"]
    assert [(table["url"], table["sha256"]) for table in described] == [
        (file.name, hashlib.sha256(file.read_bytes()).hexdigest()) for file in tables
    ]


def test_but_for_the_files_the_manifest_is_that_of_the_release(two_tables, tmp_path):
    written = json.loads(two_tables.write(tmp_path / "t.csv")[-1].read_text("utf-8"))
    for table in written["table"]["tables"]:
        table.update(url=None, sha256=None)
    assert written == json.loads(json.dumps(two_tables.manifest))


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("t.xlsx", "must end in .csv or .parquet"),
        ("t", "must end in .csv or .parquet"),
        (".csv", "must end in .csv or .parquet"),
        ("t\0.csv", "must end in .csv or .parquet"),
        ("none/t.csv", "is not a directory; create it first"),
        ("file/t.csv", "is not a directory; create it first"),
        ("folder.csv", "'folder.csv' is a directory"),
        ("there.csv", "'there.csv' already exists"),
        ("told.csv", "'told.manifest.json' already exists"),
        ("dangling.csv", "'dangling.csv' already exists"),
    ],
)
def test_what_cannot_be_written_is_refused_before_anything_is_read(tmp_path, path, message, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").touch()
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "there.csv").touch()
    (tmp_path / "told.manifest.json").touch()
    (tmp_path / "dangling.csv").symlink_to("nowhere")
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ArgumentError, match="^out = .*" + message.replace(".", r"\.")):
        require_tables(path, targets(path, 1), overwrite=False)
    with pytest.raises(ArgumentError, match=r"^out = "):
        # The data are no data: nobody looks at them.
        ggdp.release_table(object(), "k", ggdp.PureDP(1.0), {"k": ["a"]}, out=path)
    assert sorted(tmp_path.iterdir()) == before


def test_a_folder_that_is_closed_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(ArgumentError, match="no write permission for"):
        require_tables(tmp_path / "t.csv", targets(tmp_path / "t.csv", 1), overwrite=False)


@pytest.mark.parametrize("path", [b"t.csv", 3, None])
def test_what_is_no_path_is_refused_by_its_type(path):
    with pytest.raises(ArgumentError, match=r"^out = '\w+': must be the path of a file"):
        targets(path, 1)


def test_overwriting_replaces_all_files(two_tables, tmp_path):
    files = two_tables.write(tmp_path / "t.csv")
    for file in files:
        file.write_text("old")
    with pytest.raises(ArgumentError, match="already exists"):
        two_tables.write(tmp_path / "t.csv")
    assert {file.read_text() for file in files} == {"old"}
    two_tables.write(tmp_path / "t.csv", overwrite=True)
    assert "old" not in {file.read_text() for file in files}
    assert sorted(tmp_path.iterdir()) == sorted(files)


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_a_full_disk_leaves_nothing_behind(two_tables, tmp_path, monkeypatch, fails_at):
    calls = []

    def full(_):
        calls.append(1)
        if len(calls) == fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ArgumentError, match=r"^out = .*No space left on device"):
        two_tables.write(tmp_path / "t.csv")
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_another_run_has_just_made_stays(two_tables, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "fsync", lambda _: (tmp_path / "t.manifest.json").write_text("another run"))
    with pytest.raises(ArgumentError, match=r"^out = "):
        two_tables.write(tmp_path / "t.csv")
    assert [file.name for file in tmp_path.iterdir()] == ["t.manifest.json"]
    assert (tmp_path / "t.manifest.json").read_text() == "another run"
