"""Whether a file of text is read never depends on what its records hold; names of files and headers decide."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.tables.engines.zoo import KEY, counted

from ggdp.errors import ArgumentError, SourceError
from ggdp.tables.domain import Domain
from ggdp.tables.engines import CountQuery, open_source
from ggdp.tables.engines.files import found_files

DOMAIN = Domain({"a": {"levels": ["1", "3", "x\ny", 'q"q', "é", " 1 ", "a,b"], "other": "other", "missing": "none"}})
BOTH = Domain({"b": {"levels": ["2", "4"], "other": "other", "missing": "none"}})
OTHER, MISSING = 7, 8


def _tally(path, content, domain=DOMAIN):
    path.write_bytes(content)
    return counted(path, CountQuery(marginals=(domain,)))[0]


@pytest.mark.parametrize(
    ("content", "right"),
    [
        (b"a,b\n1,2\n3,4\n", {0: 1, 1: 1}),
        (b"a,b\r\n1,2\r\n3,4\r\n", {0: 1, 1: 1}),
        (b"\xef\xbb\xbfa,b\n1,2\n", {0: 1}),
        (b'\xef\xbb\xbf"a",b\n1,2\n', {0: 1}),
        (b"a,b\n1,2", {0: 1}),
        (b"a,b\n", {}),
        (b"a,b", {}),
        (b'a,b\n"x\ny",2\n"q""q",2\n"a,b",\n', {2: 1, 3: 1, 6: 1}),
        (b'a,b\r\n"x\ny",2\r\n1,"\r\n\r\n"\r\n', {0: 1, 2: 1}),
        ("a,b\né,\n 1 ,\n1 ,\n".encode(), {4: 1, 5: 1, OTHER: 1}),
        (b'a,b\n"",1\n,1\n', {MISSING: 2}),
        (b"a,b\n1\n3,4,5,6\n1,2\n", {0: 2, 1: 1}),
        (b'a,b\n1,x"y\n3,"x"y\n1,2\n', {0: 2, 1: 1}),
        (b"a,b\n#1,2\n1,#\n", {0: 1, OTHER: 1}),
        (b"a,b\n1,\xff\xfe\n3,4\n1,2\n", {0: 2, 1: 1}),
        (b"a,b\n\xff,1\n3,4\n", {1: 1}),
        (b"a,b\nNULL,1\nNA,1\nnan,1\n", {OTHER: 3}),
        (b"a,b\n1,\x00\n\x001,2\n", {0: 1, OTHER: 1}),
        (b"b,c,a\n9,9,1\n", {0: 1}),
        (b"a,A\n1,3\n", {0: 1}),
        (b"a\n1\n\n3\n", {0: 1, 1: 1}),
    ],
)
def test_a_csv_record_is_one_row_whatever_is_in_it(tmp_path, content, right):
    assert _tally(tmp_path / "t.csv", content) == right


def test_types_of_values_are_not_looked_at(tmp_path):
    rows = "".join(f"{k}\n" for k in range(3000)) + "not a number\n1\n"
    domain = Domain({"a": {"levels": [1], "other": "o"}})
    assert _tally(tmp_path / "t.csv", b"a\n" + rows.encode(), domain) == {0: 2, 1: 3000}


def test_a_record_of_megabytes_changes_no_other(tmp_path):
    long = b"a,b\n1,2\n" + b"x" * 9_000_000 + b",2\n3,4\n1,2\n"
    found = _tally(tmp_path / "t.csv", long)
    assert {cell: found[cell] for cell in (0, 1)} == {0: 2, 1: 1}


def test_tabs_separate_the_fields_of_tsv_files(tmp_path):
    assert _tally(tmp_path / "t.tsv", b'a\tb\n1\t2\n"a,b"\t2\na,b\t\n') == {0: 1, 6: 2}


@pytest.mark.parametrize("suffix", [".csv.gz", ".CSV.GZ"])
def test_packed_files_are_read(tmp_path, suffix):
    assert _tally(tmp_path / f"t{suffix}", gzip.compress(b"a,b\n1,2\n")) == {0: 1}


def test_zstandard_files_are_read(tmp_path):
    assert _tally(tmp_path / "t.csv.zst", pa.Codec("zstd").compress(b"a,b\n1,2\n", asbytes=True)) in ({0: 1},)


def test_patterns_name_files_in_order_of_one_format_and_header(tmp_path):
    for name, content in (
        ("x1.csv", b"a,b\n1,2\n"),
        ("x2.csv", b"a,b\n1,4\n"),
        ("y.csv", b"b,a\n1,4\n"),
        ("z.tsv", b"a\tb\n"),
    ):
        (tmp_path / name).write_bytes(content)
    assert counted(str(tmp_path / "x*.csv"), CountQuery(marginals=(DOMAIN,))) == [{0: 2}]
    assert found_files(tmp_path / "x*.csv").paths == (str(tmp_path / "x1.csv"), str(tmp_path / "x2.csv"))
    with pytest.raises(ArgumentError, match="another header"):
        found_files(tmp_path / "*.csv")
    with pytest.raises(ArgumentError, match="several formats"):
        found_files(tmp_path / "[xz]*")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.csv", b"", "is empty"),
        ("t.csv", b"\xff\xfe,b\n1,2\n", "no header in UTF-8"),
        ("t.csv", b"a,a\n1,2\n", "two columns alike"),
        ("t.csv", b"b\n1\n", "no such column"),
        ("t.csv.gz", b"a,b\n", "cannot be read"),
        ("t.txt", b"a,b\n", "must end in"),
        ("t.parquet.gz", b"a,b\n", "must end in"),
        ("gz", b"a,b\n", "must end in"),
    ],
)
def test_a_file_is_refused_by_its_name_and_header_alone(tmp_path, name, content, said):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ArgumentError, match=said):
        open_source(tmp_path / name, columns=["a"])


def test_what_is_not_there_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="no such file"):
        open_source(tmp_path / "none.csv", columns=["a"])
    with pytest.raises(ArgumentError, match="no such file"):
        open_source(str(tmp_path / "*.csv"), columns=["a"])
    with pytest.raises(ArgumentError, match="names a folder"):
        open_source(tmp_path, columns=["a"])


def test_paths_are_taken_as_they_are(tmp_path):
    for name in ("it's.csv", "a[1].csv", "x*y.csv", "ü ;--.csv"):
        assert _tally(tmp_path / name, b"a,b\n1,2\n") == {0: 1}


def test_the_empty_text_is_no_level_of_a_csv_file(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a\n1\n")
    with pytest.raises(ArgumentError, match="declare missing instead"):
        counted(tmp_path / "t.csv", CountQuery(marginals=(Domain({"a": ["", "1"]}),)))
    (tmp_path / "t.jsonl").write_bytes(b'{"a": ""}\n')
    assert counted(tmp_path / "t.jsonl", CountQuery(marginals=(Domain({"a": ["", "1"]}),))) == [{0: 1}]


def test_json_values_are_texts_and_lose_no_digit(tmp_path):
    lines = [
        b'{"a": 9007199254740993, "b": "2"}',
        b'{"a": "9007199254740993"}',
        b'{"a": 12345678901234567890123, "b": 2}',
        b'{"a": true, "b": null}',
        b'{"a": null}',
        b'{"b": "2"}',
        b"not json at all",
        b'{"a": [1, 2], "b": {"x": 1}}',
        b'{"A": 1}',
        b'{"a": "\\u00e9"}',
        b'{"a": 1.5e400}',
        b'{"a": "\xff"}',
        b'{"a": "unclosed',
    ]
    levels = ["9007199254740993", "12345678901234567890123", "true", "é"]
    domain = Domain({"a": {"levels": levels, "other": "other", "missing": "none"}})
    found = _tally(tmp_path / "t.jsonl", b"\n".join(lines) + b"\n", domain)
    assert found == {0: 2, 1: 1, 2: 1, 3: 1, 4: 2, 5: 6}
    numbers = Domain({"a": {"levels": [2**53 + 1, 2**53], "other": "o"}})
    assert _tally(tmp_path / "t.ndjson", b"\n".join(lines) + b"\n", numbers)[0] == 2


def test_only_the_needed_columns_of_parquet_files_matter(tmp_path):
    pq.write_table(pa.table({"a": ["1"], "when": pa.array([0], pa.timestamp("s"))}), tmp_path / "t.parquet")
    assert counted(tmp_path / "t.parquet", CountQuery(marginals=(DOMAIN,))) == [{0: 1}]
    with pytest.raises(ArgumentError, match="datetime"):
        counted(tmp_path / "t.parquet", CountQuery(marginals=(Domain({"when": ["a"]}),)))


def test_folders_of_partitions_add_no_column(tmp_path):
    folder = tmp_path / "b=7"
    folder.mkdir()
    pq.write_table(pa.table({"a": ["1"]}), folder / "t.parquet")
    with pytest.raises(ArgumentError, match="no such column"):
        open_source(folder / "t.parquet", columns=["b"])


def test_a_broken_file_gives_one_message(tmp_path):
    (tmp_path / "t.parquet").write_bytes(b"PAR1 secret PAR1")
    with pytest.raises(SourceError) as caught:
        open_source(tmp_path / "t.parquet", columns=["a"])
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


@pytest.mark.parametrize("quoted", [False, True])
def test_a_large_csv_file_is_read_alike_by_many_threads_and_one(tmp_path, quoted):
    # Longer than what one thread reads at a time; with line ends inside quotes only one thread can.
    field = b'"say ""1"",\n3,1\n1,1"' if quoted else b'"say ""1"",3,1"'
    record = b"1," + field + b"," + b"z" * 200 + b"\n"
    rows = 120_000
    found = _tally(tmp_path / "t.csv", b"a,b,c\n" + record * rows)
    assert found == {0: rows}


def test_units_are_told_apart_by_their_text(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,u\n1,x\n1,X\n1,x\n3,x \n3,\n")
    query = CountQuery(marginals=(DOMAIN.project(["a"]),), unit="u", max_cells=1, key=KEY)
    assert counted(tmp_path / "t.csv", query) == [{0: 2, 1: 1}]
