"""Files as sources: which they are, their format by their names, and the header of CSV files.

What is found here depends on names of files, and on headers, which are the schema of a CSV file; never on a record.
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

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import IO

__all__ = ["FileFormat", "Files", "found_files", "require_columns"]

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
        raise ArgumentError("source", named, "must be a path as text")
    paths = [named] if Path(named).is_file() else sorted(filter(os.path.isfile, glob.glob(named, recursive=True)))
    if not paths:
        what = "names a folder: write FOLDER/*.parquet" if Path(named).is_dir() else "no such file"
        raise ArgumentError("source", named, what)
    formats = {_format(path) for path in paths}
    if len(formats) > 1:
        raise ArgumentError("source", named, f"names files of several formats: {', '.join(sorted(formats))}")
    (kind,) = formats
    if kind not in DELIMITERS:
        return Files(named=named, paths=tuple(paths), format=kind)
    headers = [_header(path, DELIMITERS[kind]) for path in paths]
    for path, header in zip(paths, headers, strict=True):
        if header != headers[0]:
            raise ArgumentError("source", path, f"has another header than {paths[0]}")
    return Files(named=named, paths=tuple(paths), format=kind, header=headers[0])


def require_columns(source: str, wanted: Sequence[str], present: Sequence[str]) -> None:
    """Refuse columns that are not there, or there twice."""
    for name in wanted:
        if (times := list(present).count(name)) != 1:
            what = f"there is no such column in {source}" if times == 0 else f"is the name of {times} columns"
            raise ArgumentError("column", name, f"{what}; its columns are {', '.join(map(str, present))}")


def _format(path: str) -> FileFormat:
    name = Path(path)
    suffix = name.suffix.lower()
    packed = suffix in _PACKED
    found = _SUFFIXES.get(Path(name.stem).suffix.lower() if packed else suffix)
    if found is None or (packed and found == "parquet"):
        raise ArgumentError(
            "source",
            path,
            "must end in .csv, .tsv, .jsonl, .ndjson or .json, each perhaps with .gz or .zst, or .parquet",
        )
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
        raise ArgumentError("source", path, f"cannot be read: {unreadable}")
    if not header:
        raise ArgumentError("source", path, "is empty: the first line must name the columns")
    if len(set(header)) < len(header):
        raise ArgumentError("source", path, "names two columns alike in its header")
    return tuple(header)


def _unpacked(path: str) -> IO[bytes]:
    if path.lower().endswith(".gz"):
        return gzip.open(path, "rb")  # type: ignore[return-value]  # a GzipFile is one
    if path.lower().endswith(".zst"):
        import pyarrow as pa

        return pa.CompressedInputStream(pa.OSFile(path), "zstd")  # type: ignore[no-any-return]
    return open(path, "rb")
