"""Files as everybody writes them, damaged at random: what a disk, a cut transfer or an attacker could do to them.

Some damages know where the pages, dictionaries and the footer of a Parquet file are, so that they hit what a reader
trusts, and not only values.
"""

from __future__ import annotations

import gzip
import io
import random
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

# A text that occurs in the data alone, so that a message that holds it quotes the data.
SECRET = "Zx9secret"
ROWS = 400
DOMAIN = {
    "town": {"levels": ["a", "b", "c"], "other": "elsewhere", "missing": "unknown"},
    "age": {"edges": [0, 30, 60, 120], "other": "no age", "missing": "not known"},
    "income": {"edges": [0, 1000, 50000], "other": "more or less", "missing": "not said"},
}
_PYARROW = (
    {"compression": "none"},
    {"compression": "snappy", "row_group_size": 50},
    {"compression": "gzip", "data_page_version": "2.0", "data_page_size": 100},
    {"compression": "zstd", "use_dictionary": False},
    {"compression": "lz4", "row_group_size": 150, "data_page_size": 200},
    {"compression": "brotli", "write_page_index": True},
    {"compression": "none", "use_dictionary": False, "column_encoding": {"town": "DELTA_BYTE_ARRAY",
        "person": "DELTA_BINARY_PACKED", "age": "DELTA_BINARY_PACKED", "income": "BYTE_STREAM_SPLIT"}},
    {"compression": "none", "use_dictionary": False, "column_encoding": {"town": "DELTA_LENGTH_BYTE_ARRAY"}},
    {"compression": "none", "use_dictionary": ["town"], "store_schema": False, "dictionary_pagesize_limit": 20},
    {"compression": "snappy", "write_page_checksum": True},
)  # fmt: skip
_DUCKDB = (
    "COMPRESSION uncompressed", "COMPRESSION snappy, ROW_GROUP_SIZE 2048", "COMPRESSION gzip, PARQUET_VERSION v2",
    "COMPRESSION zstd", "COMPRESSION lz4_raw", "COMPRESSION brotli, DICTIONARY_SIZE_LIMIT 1",
)  # fmt: skip
_POLARS = ("uncompressed", "snappy", "gzip", "zstd", "lz4", "brotli")


def people() -> pa.Table:
    """Return the rows of all files: texts, whole numbers and floats with nulls, and a person in each."""
    rng = random.Random(1)
    rows = [
        {
            "person": rng.randrange(90),
            "town": rng.choice(["a", "b", "c", SECRET, SECRET * 9, None]),
            "age": rng.choice([rng.randrange(100), 41, None]),
            "income": rng.choice([rng.random() * 1e5, float("nan"), 17.25, None]),
        }
        for _ in range(ROWS)
    ]
    schema = pa.schema([("person", pa.int64()), ("town", pa.string()), ("age", pa.int32()), ("income", pa.float64())])
    return pa.Table.from_pylist(rows, schema)


def parquet_files(folder: Path) -> dict[str, bytes]:
    """Return the rows as Parquet files of every writer, with every compression, by who wrote them."""
    rows, found = people(), {}
    for number, options in enumerate(_PYARROW):
        found[f"pyarrow {number}"] = written(rows, **options)
    found["pyarrow categories"] = written(rows.set_column(1, "town", rows["town"].dictionary_encode()))
    for compression in _POLARS:
        buffer = io.BytesIO()
        pl.from_arrow(rows).write_parquet(buffer, compression=compression, row_group_size=150)
        found[f"polars {compression}"] = buffer.getvalue()
    with duckdb.connect() as connection:
        connection.register("people", rows)
        for options in _DUCKDB:
            path = folder / "written.parquet"
            connection.execute(f"COPY people TO '{path}' (FORMAT parquet, {options})")
            found[f"duckdb {options}"] = path.read_bytes()
    return found


def written(rows: pa.Table, **options: Any) -> bytes:
    """Return rows as a Parquet file of pyarrow."""
    buffer = io.BytesIO()
    pq.write_table(rows, buffer, **options)
    return buffer.getvalue()


def text_files() -> dict[str, bytes]:
    """Return the rows as files of text, packed or not, by their suffixes."""
    frame = pl.from_arrow(people())
    csv, lines = frame.write_csv().encode(), frame.write_ndjson().encode()
    packed = pa.BufferOutputStream()
    with pa.CompressedOutputStream(packed, "zstd") as opened:
        opened.write(csv)
    return {
        ".csv": csv,
        ".jsonl": lines,
        ".csv.gz": gzip.compress(csv),
        ".jsonl.gz": gzip.compress(lines),
        ".csv.zst": packed.getvalue().to_pybytes(),
    }


def _flipped(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)


def _written(data: bytearray, rng: random.Random) -> None:
    at, size = rng.randrange(len(data)), rng.choice([1, 4, 16, 100])
    data[at : at + size] = rng.randbytes(min(size, len(data) - at))


def _zeroed(data: bytearray, rng: random.Random) -> None:
    at, size = rng.randrange(len(data)), rng.choice([1, 8, 64, 512, 4096])
    data[at : at + size] = bytes(len(data[at : at + size]))


def _cut(data: bytearray, rng: random.Random) -> None:
    del data[rng.randrange(len(data)) :]


def _shortened(data: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(data))
    del data[at : at + rng.choice([1, 2, 30])]


def _lengthened(data: bytearray, rng: random.Random) -> None:
    at = rng.randrange(len(data))
    data[at:at] = rng.randbytes(rng.choice([1, 2, 30]))


def _footer(data: bytearray) -> range:
    size = int.from_bytes(data[-8:-4], "little")
    return range(len(data) - 8 - size, len(data) - 8)


def _in_footer(data: bytearray, rng: random.Random) -> None:
    for _ in range(rng.choice([1, 1, 1, 3])):
        data[rng.choice(_footer(data))] = rng.choice([rng.randrange(256), 0, 1, 255])


def _of_footer(data: bytearray, rng: random.Random) -> None:
    size = len(_footer(data))
    data[-8:-4] = rng.choice([0, 1, size - 1, size + 1, 2**31 - 1, 2**32 - 1, len(data)]).to_bytes(4, "little")


def _chunks(data: bytearray) -> list[tuple[int, int]]:
    """Return where the columns of row groups begin and end; each begins with the header of a page."""
    found = pq.read_metadata(io.BytesIO(bytes(data)))
    chunks = [
        found.row_group(group).column(column)
        for group in range(found.num_row_groups)
        for column in range(found.num_columns)
    ]
    starts = [chunk.dictionary_page_offset or chunk.data_page_offset for chunk in chunks]
    return [(at, at + chunk.total_compressed_size) for at, chunk in zip(starts, chunks, strict=True)]


def _in_page_header(data: bytearray, rng: random.Random) -> None:
    start, _ = rng.choice(_chunks(data))
    for _ in range(rng.choice([1, 1, 2])):
        data[start + rng.randrange(24)] = rng.choice([rng.randrange(256), 0, 1, 2, 127, 128, 255])


def _huge_number(data: bytearray, rng: random.Random) -> None:
    """Write a number of 32 bits as Thrift writes it: where a size is, it claims gigabytes."""
    start, _ = rng.choice(_chunks(data))
    at = rng.choice([start + rng.randrange(24), rng.choice(_footer(data))])
    huge = rng.choice([b"\xfe\xff\xff\xff\x0f", b"\xff\xff\xff\xff\x0f", b"\x80\x80\x80\x80\x08", b"\xfe\xff\xff\x0f"])
    data[at : at + len(huge)] = huge[: len(data) - at]


def _in_page(data: bytearray, rng: random.Random) -> None:
    start, stop = rng.choice(_chunks(data))
    for _ in range(rng.choice([1, 2, 5])):
        data[rng.randrange(start, stop)] = rng.choice([rng.randrange(256), 0, 255])


def _swapped(data: bytearray, rng: random.Random) -> None:
    """Put the pages of two columns in each other's place."""
    (one, end), (two, stop) = rng.choices(_chunks(data), k=2)
    size = min(end - one, stop - two)
    data[one : one + size], data[two : two + size] = data[two : two + size], data[one : one + size]


def _zeroed_pages(data: bytearray, rng: random.Random) -> None:
    start, stop = rng.choice(_chunks(data))
    data[start:stop] = bytes(stop - start)


_ANYWHERE = (_flipped, _written, _zeroed, _cut, _shortened, _lengthened)


def _negative_size(data: bytearray, rng: random.Random) -> None:
    """Make the size of a column negative, which DuckDB does not survive."""
    data[:] = invalidating(bytes(data), rng.randrange(4))


_IN_PARQUET = (_negative_size, _in_footer, _of_footer, _in_page_header, _huge_number, _in_page, _swapped, _zeroed_pages)


def damaged(data: bytes, rng: random.Random) -> tuple[str, bytes]:
    """Return what was done to a file, and the file."""
    change = rng.choice((*_ANYWHERE, *_IN_PARQUET) if data.startswith(b"PAR1") else _ANYWHERE)
    found = bytearray(data)
    change(found, rng)
    return change.__name__.strip("_"), bytes(found)


def invalidating(data: bytes, place: int = 1) -> bytes:
    """Return a Parquet file after which a database of DuckDB answers nothing more: a column has a negative size."""
    column = pq.read_metadata(io.BytesIO(data)).row_group(0).column(place)
    sizes = [column.total_uncompressed_size, column.total_compressed_size]
    # Fields 6 and 7 of a column's metadata, 64-bit integers, as pyarrow and DuckDB write them.
    return data.replace(claim(sizes[0]) + claim(sizes[1]), claim(sizes[0]) + claim(-sizes[1] - 1), 1)


def contradicting(data: bytes) -> bytes:
    """Return a Parquet file whose schema says that no town or age is null, although its metadata count nulls."""
    for name in (b"town", b"age"):
        right = b"\x25\x02\x18" + bytes([len(name)]) + name
        assert data.count(right) == 1
        data = data.replace(right, b"\x25\x00" + right[2:])
    return data


def claim(number: int) -> bytes:
    """Return an integer of 64 bits as the next field of a record of a footer, as Thrift writes it."""
    left, found = 2 * number if number >= 0 else -2 * number - 1, []
    while left >= 128:
        found.append(left % 128 + 128)
        left //= 128
    return bytes([0x16, *found, left])
