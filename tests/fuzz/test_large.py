"""Records and files that are longer than what readers read at once: what a record is does not depend on where it is.

Readers of files take 4 to 64 MiB at a time, and let several threads begin in the middle of a file. Here a quoted field
full of line ends lies across the places where they would begin.
"""

from __future__ import annotations

import io
import json
import math

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.fuzz.asking import FULL, cells
from tests.fuzz.reference import csv_records

MIB = 1 << 20
WARD = {"ward": {"levels": ["a", "b"], **FULL}}
# A line that would be a record if it were not inside quotes.
INSIDE = b"7,b,x\n"


def write_csv(path, *, start, length, total, line=b"1,a,xxxxxxxxxxxxxxxxxxxxxxxxxx\n"):
    """Write a file with one long field that begins at a byte; return how many other records there are."""
    header = b"id,ward,note\n"
    before = max(0, start - len(header)) // len(line)
    field = b'2,b,"' + INSIDE * (length // len(INSIDE)) + b'"\n'
    after = max(0, total - start - len(field)) // len(line) + 1
    with path.open("wb") as out:
        out.write(header)
        for number in (before, None, after):
            if number is None:
                out.write(field)
            else:
                block = line * 4096
                out.writelines([block] * (number // 4096))
                out.write(line * (number % 4096))
    return before + after


def assert_one_record(path, *, start, length, total, engine="duckdb"):
    others = write_csv(path, start=start, length=length, total=total)
    found = cells(path, WARD, engine=engine)
    assert found.pop(0) == others
    # Beyond a limit that the request sets, it is one row without values.
    assert found in ({1: 1}, {3: 1})
    assert cells(path, WARD, "id", engine=engine) == ({0: 1, 1: 1} if found == {1: 1} else {0: 1})


@pytest.mark.parametrize("before", [10, pytest.param(2_000_000, marks=pytest.mark.exhaustive)])
def test_a_long_field_across_64_mebibytes_is_one_record(tmp_path, before):
    assert_one_record(tmp_path / "t.csv", start=64 * MIB - before, length=4_300_000, total=70 * MIB)


@pytest.mark.exhaustive
@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize("length", [4 * MIB - 100_000, 4_300_000, 17 * MIB])
@pytest.mark.parametrize("crossed", [1, 4, 8, 16, 32, 64])
def test_a_long_field_is_one_record_wherever_it_is(tmp_path, crossed, length, engine):
    for start in (crossed * MIB - length // 2, crossed * MIB - 10):
        if start > 0:
            assert_one_record(tmp_path / "t.csv", start=start, length=length, total=(crossed + 6) * MIB, engine=engine)


@pytest.mark.exhaustive
def test_several_long_fields_are_as_many_records(tmp_path):
    path = tmp_path / "t.csv"
    parts, others = [b"id,ward,note\n"], 0
    for length in (100, 40_000, MIB, 3 * MIB, 5 * MIB, 9 * MIB) * 4:
        parts += [b'2,b,"' + INSIDE * (length // len(INSIDE)) + b'"\n', b"1,a,x\n" * 9000]
        others += 9000
    path.write_bytes(b"".join(parts))
    found = cells(path, WARD)
    assert found.pop(0) == others
    assert sum(found.values()) == 24


@pytest.mark.exhaustive
@pytest.mark.parametrize("engine", ["duckdb", "spark"])
@pytest.mark.parametrize("length", [4_300_000, 40 * MIB])
def test_a_long_line_of_json_is_one_row(tmp_path, length, engine):
    path = tmp_path / "t.jsonl"
    line = b'{"ward": "a", "note": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}\n'
    number = 63 * MIB // len(line)
    long = json.dumps({"ward": "b", "note": "7,b\n" * (length // 5)}).encode() + b"\n"
    path.write_bytes(line * number + long + line * 10)
    found = cells(path, WARD, engine=engine)
    assert found[0] == number + 10
    assert sum(found.values()) == number + 11


@pytest.mark.exhaustive
@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_record_of_any_length_leaves_the_others_as_they_are(tmp_path, engine):
    path = tmp_path / "t.csv"
    for length in (MIB, 33 * MIB, 70 * MIB):
        others = write_csv(path, start=MIB, length=length, total=3 * MIB)
        found = cells(path, WARD, engine=engine)
        assert found[0] == others
        # Beyond a limit it is a row without values.
        assert {k: n for k, n in found.items() if k} in ({1: 1}, {3: 1})


@pytest.mark.exhaustive
def test_nans_in_many_row_groups_are_missing(tmp_path):
    values = [math.nan, 1.0, 5.0, 35.0] * 5000
    pq.write_table(pa.table({"v": values}), tmp_path / "t.parquet", row_group_size=4)
    assert cells(tmp_path / "t.parquet", {"v": {"edges": [0, 10, 20], **FULL}}) == {0: 10_000, 2: 5000, 3: 5000}


def test_fields_of_some_length_are_one_record_each(tmp_path):
    path = tmp_path / "t.csv"
    others = write_csv(path, start=300_000, length=400_000, total=MIB)
    assert cells(path, WARD) == {0: others, 1: 1}


def test_the_reference_reads_records_as_they_are_written():
    data = b'a,"b\r\n"\r\n1,2\n\r\n"x""y"z,"q"\r\n\r\nr"s,\r'
    wanted = [[b"a", b"b\r\n"], [b"1", b"2\n"], [b'x"yz', b"q"], [b""], [b'r"s', b"\r"]]
    assert list(csv_records(data, b",")) == wanted
    assert list(csv_records(b'a\n"unclosed\n', b",")) == [[b"a"], [b"unclosed\n"]]
    assert list(csv_records(io.BytesIO(b"a\nb\rc\n").read(), b",")) == [[b"a"], [b"b\rc"]]
