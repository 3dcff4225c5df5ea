"""Whether a file of text is read never depends on what its records hold; names of files and headers decide."""

from __future__ import annotations

import gzip
import os
import sys
from collections import Counter
from datetime import date
from decimal import Decimal
from types import SimpleNamespace

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.sources.counting import counted, keyed
from tests.sources.zoo import KEY

from ggdp.domain.table_domain import Domain
from ggdp.errors import ArgumentError, SourceError
from ggdp.sources import text_files
from ggdp.sources.files import find_files
from ggdp.sources.query import CountQuery, open_source

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
        (b"a,b\n\xff,1\n3,4\n", {1: 1, OTHER: 1}),
        (b"a,b\n1\rx,2\n3,\r\r\r\n1,\r\n", {0: 1, 1: 1, OTHER: 1}),
        (b"a,b\r\n1,x\ny\r\n3\n1,2\r\n\n\r\n", {0: 1, OTHER: 2}),
        (b"a,b\r1,2\r3,x\ny\r", {0: 1, 1: 1}),
        (b"a,b\nNULL,1\nNA,1\nnan,1\n", {OTHER: 3}),
        (b"a,b\n1,\x00\n\x001,2\n", {0: 1, OTHER: 1}),
        (b"b,c,a\n9,9,1\n", {0: 1}),
        (b"a,A\n1,3\n", {0: 1}),
        (b"a\n1\n\n3\n", {0: 1, 1: 1, MISSING: 1}),
        (b"a\r\n\r\n1", {0: 1, MISSING: 1}),
        (b"a,b\n\n1,2\n\n", {0: 1}),
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
    assert find_files(tmp_path / "x*.csv").paths == (str(tmp_path / "x1.csv"), str(tmp_path / "x2.csv"))
    with pytest.raises(ArgumentError, match="different header"):
        find_files(tmp_path / "*.csv")
    with pytest.raises(ArgumentError, match="several formats"):
        find_files(tmp_path / "[xz]*")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("t.csv", b"", "has no header"),
        ("t.csv", b"\xff\xfe,b\n1,2\n", "not text in utf-8"),
        ("t.csv", b"a,a\n1,2\n", "two columns of the same name"),
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
    with pytest.raises(ArgumentError, match="is a directory"):
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
    with pytest.raises(ArgumentError, match="microseconds"):
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


@pytest.mark.parametrize("chunk", [1 << 14, 1 << 16])
@pytest.mark.parametrize("offset", [-9000, -4500, -1, 0, 1])
def test_a_long_quoted_field_is_one_record_wherever_a_chunk_ends(tmp_path, monkeypatch, chunk, offset):
    monkeypatch.setattr(text_files, "CHUNK", chunk)
    rows = b"1,x\n" * ((chunk + offset) // 4)
    note = b'3,"' + b"1,x\n" * 2500 + b'"\n'
    found = _tally(tmp_path / "t.csv", b"a,b\n" + rows + note + rows)
    assert found == {0: 2 * (len(rows) // 4), 1: 1}


def test_units_are_told_apart_by_their_text(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a,u\n1,x\n1,X\n1,x\n3,x \n3,\n")
    query = CountQuery(marginals=(DOMAIN.project(["a"]),), unit="u", max_cells=1, key=KEY)
    assert counted(tmp_path / "t.csv", query) == [{0: 2, 1: 1}]


_PIECES = [
    '{"a": "1"}',
    '{"a": 3, "b": "2"}',
    "[]",
    "1",
    '"s"',
    "true",
    "null",
    '[{"a": "1"}]',
    "{",
    '"',
    "\ufeff",
    "\r",
]
LINES = st.one_of(
    st.sampled_from(
        [*_PIECES, "", " ", '{"a": "\\ud800"}', '{"a": "1", "a": "3"}', '{"A": 1}', "[" * 2000, '{"a":' * 2000]
    ),
    st.lists(st.sampled_from([*_PIECES, "\0", " ", "\t", "\v", "\x1f", ",", "a"]), max_size=4).map("".join),
    st.text(max_size=8),
).map(lambda line: line.replace("\n", "").encode(errors="surrogatepass")) | st.binary(max_size=6).map(
    lambda line: line.replace(b"\n", b"")
)
RECORDS = st.lists(LINES, max_size=5)
ALONE = (DOMAIN,)
TOGETHER = (Domain({**{c.name: c for c in DOMAIN}, **{c.name: c for c in BOTH}}),)


@pytest.mark.parametrize("marginals", [ALONE, TOGETHER])
@settings(max_examples=examples(15, 100))
@given(before=RECORDS, line=LINES, after=RECORDS)
def test_a_line_of_json_changes_one_cell_by_one_at_most(tmp_path_factory, marginals, before, line, after):
    path = tmp_path_factory.getbasetemp() / "line.jsonl"
    tallies = []
    for lines in ([*before, *after], [*before, line, *after]):
        path.write_bytes(b"\n".join(lines))
        (tally,) = counted(path, CountQuery(marginals=marginals))
        tallies.append(Counter(tally))
    without, with_it = tallies
    assert without <= with_it
    assert (with_it - without).total() <= 1


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lambda data: pa.Codec("zstd").compress(data, asbytes=True)])
def test_a_byte_order_mark_is_no_part_of_the_first_line_of_json(tmp_path, pack):
    suffix = {bytes: "", gzip.compress: ".gz"}.get(pack, ".zst")
    content = b'\xef\xbb\xbf{"a": "1"}\r\n\n{"a": "3"}'
    assert _tally(tmp_path / f"t.jsonl{suffix}", pack(content)) == {0: 1, 1: 1}


@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_line_of_json_of_any_length_changes_no_other(tmp_path, end):
    for size, cell in ((5_000_000, OTHER), (17_000_000, MISSING)):
        long = b'{"a": "1"}\n{"a": "' + b"x" * size + b'"}' + end
        assert _tally(tmp_path / "t.jsonl", long) == {0: 1, cell: 1}


def test_a_line_of_json_that_is_nested_deeply_is_read(tmp_path):
    deep = b"[" * 5000 + b"]" * 5000
    assert _tally(tmp_path / "t.jsonl", b'{"a": "1", "z": ' + deep + b'}\n{"a": ' + deep + b"}\n") == {0: 1, OTHER: 1}


def test_json_columns_may_have_any_name(tmp_path):
    names = ['it\'s "x"', "é\\", "$.a", "/a"]
    record = b'{"it\'s \\"x\\"": "1", "\\u00e9\\\\": "1", "$.a": "1", "/a": "1"}\n'
    for name in names:
        for mark in (b"", b"\xef\xbb\xbf"):
            assert _tally(tmp_path / "t.jsonl", mark + record, Domain({name: ["1"]})) == {0: 1}


def test_a_file_is_read_once_by_whatever_names(tmp_path):
    folder = tmp_path / "a" / "b"
    folder.mkdir(parents=True)
    (folder / "t.csv").write_bytes(b"a,b\n1,2\n")
    query = CountQuery(marginals=(DOMAIN,))
    assert counted(str(tmp_path / "**" / "**" / "*.csv"), query) == [{0: 1}]
    (folder / "s.csv").symlink_to(folder / "t.csv")
    os.link(folder / "t.csv", folder / "u.csv")
    assert counted(str(folder / "*.csv"), query) == [{0: 1}]
    (folder / "v.csv").write_bytes(b"a,b\n1,2\n")
    assert counted(str(folder / "*.csv"), query) == [{0: 2}]


def test_a_name_is_no_pattern_where_a_file_has_it(tmp_path):
    other = b"a,b\n3,4\n3,4\n"
    for name, like in (("d[1].csv", "d1.csv"), ("x*.csv", "xy.csv"), ("q?.csv", "qq.csv"), ("a[[]b.csv", "a[b.csv")):
        (tmp_path / like).write_bytes(other)
        assert _tally(tmp_path / name, b"a,b\n1,2\n") == {0: 1}
    folder = tmp_path / "[f]"
    folder.mkdir()
    (tmp_path / "f").mkdir()
    (tmp_path / "f" / "t.csv").write_bytes(other)
    assert _tally(folder / "t.csv", b"a,b\n1,2\n") == {0: 1}
    assert counted(str(tmp_path / "x*"), CountQuery(marginals=(DOMAIN,))) == [{0: 1, 1: 2}]


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="there are no such names")
@pytest.mark.parametrize(("name", "said"), [(b"a\\[.csv", "backslash"), (b"\xff.csv", "not UTF-8")])
def test_a_name_that_duckdb_cannot_be_told_is_refused(tmp_path, name, said):
    path = tmp_path / os.fsdecode(name)
    path.write_bytes(b"a,b\n1,2\n")
    with pytest.raises(ArgumentError, match=said):
        open_source(path, columns=["a"])


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize(
    ("one", "two"),
    [
        (pa.int64(), pa.string()),
        (pa.int32(), pa.int64()),
        (pa.decimal128(9, 2), pa.float64()),
    ],
)
def test_parquet_files_with_a_column_of_two_types_are_refused_before_any_value(tmp_path, engine, one, two):
    for name, kind in (("1", one), ("2", two)):
        pq.write_table(pa.table({"a": pa.array([None], kind), "b": [name]}), tmp_path / f"{name}.parquet")
    with pytest.raises(ArgumentError, match=r"is of type .* in .*2\.parquet, and of type"):
        open_source(str(tmp_path / "*.parquet"), columns=["a"], engine=engine)


def test_only_the_needed_columns_of_parquet_files_must_be_alike(tmp_path):
    pq.write_table(pa.table({"a": ["1"], "c": [1]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"c": ["x"], "a": pa.array(["1"]).dictionary_encode()}), tmp_path / "2.parquet")
    assert counted(str(tmp_path / "*.parquet"), CountQuery(marginals=(DOMAIN,))) == [{0: 2}]
    pq.write_table(pa.table({"c": [1]}), tmp_path / "3.parquet")
    with pytest.raises(ArgumentError, match=r"no such column in .*3\.parquet"):
        open_source(str(tmp_path / "*.parquet"), columns=["a"])


def test_decimals_that_duckdb_would_round_are_refused(tmp_path):
    pq.write_table(pa.table({"a": pa.array([1], pa.decimal256(39, 0))}), tmp_path / "t.parquet")
    with pytest.raises(ArgumentError, match="more than 38 digits"):
        open_source(tmp_path / "t.parquet", columns=["a"])


def _not_utf8(*texts):
    raw = pa.array(texts, pa.binary())
    return pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())


def test_text_of_parquet_files_that_is_no_utf8_is_no_level_no_key_and_no_unit(tmp_path):
    table = pa.table(
        {"a": _not_utf8(b"1", b"\xff", None, b"\xfe3", b"3"), "u": _not_utf8(b"x", b"y", b"z", b"w", b"\xff")}
    )
    pq.write_table(table, tmp_path / "t.parquet")
    rows, units = CountQuery(marginals=(DOMAIN,)), CountQuery(marginals=(DOMAIN,), unit="u", max_cells=1, key=KEY)
    keys = CountQuery(marginals=(Domain({"a": None}),))
    for source in (tmp_path / "t.parquet", table):
        assert counted(source, rows) == [{0: 1, 1: 1, OTHER: 2, MISSING: 1}]
        assert counted(source, units) == [{0: 1, OTHER: 2, MISSING: 1}]
        assert keyed(source, keys) == [[("1", 1), ("3", 1)]]


def test_text_that_is_no_utf8_leaves_columns_of_all_kinds_as_they_are(tmp_path):
    columns = {
        "n": pa.array([7, None, 7], pa.uint64()),
        "f": pa.array([7.0, 7.5, None], pa.float16()),
        "m": pa.array([Decimal("7.00"), None, Decimal("7.50")], pa.decimal128(20, 2)),
        "y": pa.array([True, None, False]),
        "d": pa.array([date(2020, 1, 1), None, date(1, 1, 1)]),
        "c": pa.array(["x", None, "y"]).dictionary_encode(),
    }
    full = {"other": "o", "missing": "m"}
    levels = {"n": [7], "f": [7], "m": [7], "y": [True, False], "d": [date(2020, 1, 1)], "c": ["x"], "a": ["1"]}
    marginals = tuple(Domain({name: {"levels": chosen, **full}}) for name, chosen in levels.items())
    tallies = []
    for texts in ((b"1", b"2", b"2"), (b"1", b"\xff", b"2")):
        pq.write_table(pa.table({**columns, "a": _not_utf8(*texts)}), tmp_path / "t.parquet")
        tallies.append(counted(tmp_path / "t.parquet", CountQuery(marginals=marginals)))
    assert tallies[0] == tallies[1]


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_values_in_the_place_of_a_header_are_not_told(tmp_path, suffix):
    path = tmp_path / f"patients.{suffix}"
    path.write_text("Alice Smith,positive\nBob Jones,negative\n".replace(",", "\t" if suffix == "tsv" else ","))
    with pytest.raises(ArgumentError, match="the first line of the file must name its columns") as raised:
        open_source(path, columns=["diagnosis"])
    assert "Alice" not in str(raised.value)
    assert "positive" not in repr(raised.value)


@pytest.mark.parametrize("kind", [pa.duration("us"), pa.time64("us"), pa.list_(pa.int64()), pa.binary()])
def test_types_that_two_readers_of_parquet_take_differently_are_refused_by_the_schema(tmp_path, kind):
    pq.write_table(pa.table({"a": pa.array([None], kind)}), tmp_path / "t.parquet")
    with pytest.raises(ArgumentError, match=r"column = 'a': is of type .*, which is not counted"):
        open_source(tmp_path / "t.parquet", columns=["a"])


def test_time_stamps_of_96_bits_are_refused_by_the_schema(tmp_path):
    table = pa.table({"a": pa.array([0], pa.timestamp("us"))})
    pq.write_table(table, tmp_path / "t.parquet", use_deprecated_int96_timestamps=True)
    with pytest.raises(ArgumentError, match="holds INT96 time stamps"):
        open_source(tmp_path / "t.parquet", columns=["a"])


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("texts", [(b"1", b"3"), (b"1", b"\xff")])
def test_a_column_of_nulls_alone_goes_with_every_type(tmp_path, first, texts):
    pq.write_table(pa.table({"a": pa.nulls(2), "n": pa.nulls(2)}), tmp_path / f"{0 if first else 9}.parquet")
    pq.write_table(pa.table({"a": _not_utf8(*texts), "n": [1, 2]}), tmp_path / "5.parquet")
    numbers = Domain({"n": {"levels": [1, 2], "missing": "none"}})
    found = counted(tmp_path / "*.parquet", CountQuery(marginals=(DOMAIN, numbers)))
    assert found == [{0: 1, 1 if texts[1] == b"3" else OTHER: 1, MISSING: 2}, {0: 1, 1: 1, 2: 2}]


def test_what_seems_to_be_one_file_on_two_devices_is_refused(tmp_path, monkeypatch):
    for name in ("one.csv", "two.csv"):
        (tmp_path / name).write_bytes(b"a,b\n1,2\n")
    states = os.stat

    def mounted(path, *args, **kwargs):
        # A file system that is mounted twice numbers its files alike, on two devices.
        real = states(path, *args, **kwargs)
        if not str(path).endswith(".csv"):
            return real
        changed = {name: getattr(real, name) for name in ("st_mode", "st_size", "st_nlink", "st_uid", "st_gid")}
        return SimpleNamespace(**changed, st_dev=len(str(path)) + ("two" in str(path)), st_ino=7, st_mtime_ns=1)

    monkeypatch.setattr(os, "stat", mounted)
    with pytest.raises(ArgumentError, match=r"one\.csv and .*two\.csv, which seem to be the same file on two mounts"):
        find_files(str(tmp_path / "*.csv"))
