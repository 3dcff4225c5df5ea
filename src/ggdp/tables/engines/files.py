"""Files as sources: which they are, their format by their names, the header of CSV files, the types of Parquet files.

What is found here depends on names of files, and on their schemas, which a CSV file has in its header; never on a
record. A file is read once, however many names of it a pattern finds: a row that is read twice would be counted twice.
"""

from __future__ import annotations

import csv
import glob
import gzip
import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

from ggdp.errors import ArgumentError
from ggdp.tables.engines.suggestions import missing_column, no_such_file, require_local, unknown_format
from ggdp.tables.engines.times import require_exact_times

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import IO

    import pyarrow as pa

__all__ = ["FileFormat", "Files", "found_files", "has_mark", "json_lines", "require_columns", "require_one_schema"]

FileFormat: TypeAlias = Literal["csv", "tsv", "json", "parquet"]

DELIMITERS = {"csv": ",", "tsv": "\t"}
_SUFFIXES: dict[str, FileFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
_PACKED = (".gz", ".zst")
# Of the widest decimal that DuckDB and Spark have.
_DIGITS = 38
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Files of one format, and for CSV and TSV their common header."""

    named: str
    paths: tuple[str, ...]
    format: FileFormat
    header: tuple[str, ...] = ()


def found_files(source: str | os.PathLike[str]) -> Files:
    """Return the files that a path or a pattern names, in the order of their names."""
    named = os.fspath(source)
    if not isinstance(named, str):
        raise ArgumentError("data", named, "must be a path as text")
    require_local(named)
    # A file that is there is meant, also where its name could be a pattern.
    paths = [named] if Path(named).is_file() else _different(sorted(glob.glob(named, recursive=True)))
    if not paths:
        raise ArgumentError("data", named, no_such_file(named))
    formats = {_format(path) for path in paths}
    if len(formats) > 1:
        raise ArgumentError("data", named, f"names files of several formats: {', '.join(sorted(formats))}")
    (kind,) = formats
    if kind not in DELIMITERS:
        return Files(named=named, paths=tuple(paths), format=kind)
    headers = [_header(path, DELIMITERS[kind]) for path in paths]
    for path, header in zip(paths, headers, strict=True):
        if header != headers[0]:
            raise ArgumentError("data", path, f"has another header than {paths[0]}")
    return Files(named=named, paths=tuple(paths), format=kind, header=headers[0])


def require_columns(source: str, wanted: Sequence[str], present: Sequence[str], *, by_header: bool = False) -> None:
    """Refuse columns that are not there, or there twice.

    The first line of a text file that was written without a header holds values, so its names are not told.
    """
    for name in wanted:
        if (times := list(present).count(name)) == 0:
            told = missing_column(name, present, by_header=by_header)
            raise ArgumentError("column", name, f"there is no such column in {source}; {told}")
        if times > 1:
            raise ArgumentError("column", name, f"is the name of {times} columns: rename all but one")


def require_one_schema(files: Sequence[str], columns: Sequence[str]) -> None:
    """Refuse Parquet files that have needed columns of different types, or decimals that engines read inexactly.

    An engine would read all of them by the type of the first one, and fail or not by what the values of the others are.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    first = pq.read_schema(files[0])
    for name in columns:
        if first.names.count(name) == 1:
            require_exact_times(name, first.field(name).type)
        if (
            first.names.count(name) == 1
            and pa.types.is_decimal(kind := _plain(first, name))
            and kind.precision > _DIGITS
        ):
            raise ArgumentError("column", name, f"is of type {kind}, of more than {_DIGITS} digits: cast it first")
    for path in files[1:]:
        schema = pq.read_schema(path)
        require_columns(path, columns, schema.names)
        for name in columns:
            # What the first file lacks is refused by whoever reads it.
            if first.names.count(name) == 1 and (here := _plain(schema, name)) != (there := _plain(first, name)):
                what = f"is of type {here} in {path}, and of type {there} in {files[0]}: cast one of them first"
                raise ArgumentError("column", name, what)


def _plain(schema: pa.Schema, name: str) -> pa.DataType:
    """Return the type of a column, without what Arrow adds to the types of Parquet files."""
    import pyarrow as pa

    found = schema.field(name).type
    found = found.value_type if pa.types.is_dictionary(found) else found
    return pa.string() if pa.types.is_large_string(found) or pa.types.is_string_view(found) else found


def has_mark(path: str) -> bool:
    """Return whether a file begins with the byte-order mark of UTF-8."""
    try:
        with _unpacked(path) as opened:
            return opened.read(len(_MARK)) == _MARK
    except (OSError, EOFError):
        # Whoever reads it will say so.
        return False


def json_lines(path: str, longest: int) -> Iterator[str | None]:
    """Yield the lines of a file that are not blank, stripped; None for one that is no UTF-8 or too long."""
    with _unpacked(path) as packed, io.BufferedReader(packed) as lines:  # type: ignore[type-var]  # it can be read from
        mark = _MARK
        while line := lines.readline(longest):
            line, mark, too_long = line.removeprefix(mark), b"", False
            while not line.endswith(b"\n") and (rest := lines.readline(longest)):
                line, too_long = rest, True
            if too_long:
                yield None
            elif stripped := line.strip():
                try:
                    yield stripped.decode()
                except UnicodeDecodeError:
                    yield None


def _different(paths: Sequence[str]) -> list[str]:
    """Return the files among paths, each by the first of its names: links to it are names of it."""
    found: dict[object, str] = {}
    for path in filter(os.path.isfile, paths):
        state = os.stat(path)
        linked = state.st_nlink > 1 and state.st_ino
        found.setdefault((state.st_dev, state.st_ino) if linked else os.path.realpath(path), path)
    return list(found.values())


def _format(path: str) -> FileFormat:
    name = Path(path)
    suffix = name.suffix.lower()
    packed = suffix in _PACKED
    found = _SUFFIXES.get(Path(name.stem).suffix.lower() if packed else suffix)
    if found is None or (packed and found == "parquet"):
        raise ArgumentError("data", path, unknown_format(path))
    return found


def _header(path: str, delimiter: str) -> tuple[str, ...]:
    """Return the first record of a CSV file: the names of its columns."""
    unreadable = None
    try:
        # The reader looks ahead: what it finds in later records must not matter.
        with _unpacked(path) as packed, io.TextIOWrapper(packed, "utf-8-sig", "surrogateescape", newline="") as lines:
            header = next(csv.reader(lines, delimiter=delimiter), None)
            "".join(header or ()).encode()
    except OSError as failed:
        unreadable = failed.strerror or "it is not what its name says"
    except (UnicodeError, csv.Error, EOFError):
        unreadable = "its first line is no header in UTF-8"
    if unreadable is not None:
        raise ArgumentError("data", path, f"cannot be read: {unreadable}")
    if not header:
        raise ArgumentError("data", path, "is empty: the first line must name the columns")
    if len(set(header)) < len(header):
        raise ArgumentError("data", path, "names two columns alike in its header")
    return tuple(header)


def _unpacked(path: str) -> IO[bytes]:
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rb")  # type: ignore[return-value]  # a GzipFile is one
    if path.lower().endswith(".zst"):
        import pyarrow as pa

        return pa.CompressedInputStream(pa.OSFile(path), "zstd")  # type: ignore[no-any-return]
    return open(path, "rb")
