"""Files as sources: their names and formats, the header of CSV files, the types of Parquet files, and hints in errors.

What is found here depends on names of files, on their metadata in the file system, and on their schemas, which a CSV
file has in its header; never on a record. A file is read once, however many names of it a pattern finds: a row that is
read twice would be counted twice.
"""

from __future__ import annotations

import difflib
import glob
import os
import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from attrs import evolve

from ggdp.errors import ArgumentError, Message
from ggdp.sources.text_files import Header, TextFormat, read_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


# What pandas or pyarrow read, and how.
_READERS = {
    ".orc": "pyarrow.orc.read_table",
    ".avro": "polars.read_avro",
    **dict.fromkeys((".pkl", ".pickle"), "pandas.read_pickle"),
}
FileFormat: TypeAlias = Literal["csv", "tsv", "json", "parquet", "workbook", "stata", "spss", "sas", "arrow"]
_SUFFIXES: dict[str, FileFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    **dict.fromkeys((".jsonl", ".ndjson", ".json"), "json"),
    **dict.fromkeys((".xlsx", ".xlsm"), "workbook"),
    ".dta": "stata",
    **dict.fromkeys((".sav", ".zsav"), "spss"),
    **dict.fromkeys((".sas7bdat", ".xpt"), "sas"),
    **dict.fromkeys((".feather", ".arrow", ".ipc"), "arrow"),
}
# Formats of text, which may be packed.
TEXTS = ("csv", "tsv", "json")
_DELIMITERS = {"csv": ",", "tsv": "\t"}
_FORMATS = (
    "must end in .csv, .tsv, .jsonl, .ndjson or .json, each perhaps with .gz or .zst, or in .parquet, .xlsx, .dta, "
    ".sav, .sas7bdat, .xpt, .feather or .arrow"
)
# Types, apart from UUIDs, that the two readers of Parquet files read alike.
_EXACT = (
    pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_string,
    pa.types.is_date32, pa.types.is_timestamp, pa.types.is_null,
)  # fmt: skip
_headers_shown: ContextVar[bool] = ContextVar("headers_shown", default=False)


@contextmanager
def headers_in_errors() -> Iterator[None]:
    """Allow errors to quote the header of text files inside the context, for users who may see the data."""
    before = _headers_shown.set(True)
    try:
        yield
    finally:
        _headers_shown.reset(before)


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Files of one format, how their text is read, and for CSV and TSV the header of each; their names are the same."""

    named: str
    paths: tuple[str, ...]
    format: FileFormat
    text: TextFormat = field(default_factory=TextFormat)
    headers: tuple[Header, ...] = ()

    @property
    def has_header(self) -> bool:
        """Whether the first line of each file names its columns."""
        return self.format in _DELIMITERS

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns of CSV files."""
        return self.headers[0].names

    @property
    def literal_paths(self) -> list[str]:
        """Paths as DuckDB takes them, which would read some as patterns, and a tilde as a directory."""
        return [re.sub(r"([\[*?])", r"[\1]", os.path.abspath(path)) for path in self.paths]


def find_files(source: str | os.PathLike[str], text: TextFormat | None = None) -> Files:
    """Return the files that a path or a pattern names, in the order of their names."""
    text = TextFormat() if text is None else text
    named = os.fspath(source)
    if not isinstance(named, str):
        raise ArgumentError("data", named, "must be a path as text")
    if (found := re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", named)) is not None and not Path(named).exists():
        if found[0].lower() == "file://":
            raise ArgumentError("data", named, "write the path alone, without file://")
        what = "is a URL, and only local files are read: download it first, or read it with pandas, polars or DuckDB "
        raise ArgumentError("data", named, what + "(for instance duckdb.read_parquet) and pass the frame in Python")
    # A file that is there is meant, also where its name could be a pattern.
    paths = [named] if Path(named).is_file() else _distinct(named, sorted(glob.glob(named, recursive=True)))
    if not paths:
        why = "is a device or a pipe; name a file" if Path(named).exists() else "no such file"
        if Path(named).is_dir():
            why = f"is a directory: give a pattern of its files in quotes, such as '{Path(named) / '*.csv'}'"
        elif re.search(r"[*?\[]", named):
            why = "no such file: nothing matches this pattern"
        raise ArgumentError("data", named, why)
    formats = {_format(path) for path in paths}
    if len(formats) > 1:
        raise ArgumentError("data", named, f"names files of several formats: {', '.join(sorted(formats))}")
    (kind,) = formats
    if text.delimiter is not None and kind not in _DELIMITERS:
        raise ArgumentError("delimiter", text.delimiter, f"applies to CSV files; this is a {kind} file")
    headers = []
    if kind in ("parquet", "workbook", "arrow") and text.encoding != "utf-8":
        raise ArgumentError("encoding", text.encoding, f"is for text files; text in {kind} files is UTF-8")
    if kind not in TEXTS and text.strict_lines:
        raise ArgumentError("strict_lines", True, f"is for text files; {kind} files have no lines")
    if kind != "workbook" and text.sheet is not None:
        raise ArgumentError("sheet", text.sheet, f"is for Excel workbooks; this is a {kind} file")
    if text.header_row > 1 and kind not in ("csv", "tsv", "workbook"):
        raise ArgumentError("header_row", text.header_row, f"is for CSV files and workbooks; this is a {kind} file")
    if kind == "parquet":
        for path in paths:
            try:
                with open(path, "rb") as opened:
                    begin, size = opened.read(4), opened.seek(0, os.SEEK_END)
                    opened.seek(max(size - 4, 0))
                    # As Parquet files begin and end, whatever their rows are, unless encrypted; none is shorter.
                    is_complete = size >= 12 and begin == opened.read() == b"PAR1"
            except OSError as failed:
                raise ArgumentError("data", path, f"cannot be read: {failed.strerror}") from None
            if not is_complete:
                message = "is incomplete or not a Parquet file: it does not begin and end with PAR1. Write it again"
                raise ArgumentError("data", path, message)
    elif kind in _DELIMITERS:
        text = evolve(text, delimiter=text.delimiter or _DELIMITERS[kind])
        headers = [read_header(path, text) for path in paths]
    for path, header in zip(paths, headers, strict=False):
        if header.names != headers[0].names:
            raise ArgumentError("data", path, f"has a different header from {paths[0]}")
    return Files(named=named, paths=tuple(paths), format=kind, text=text, headers=tuple(headers))


def require_columns(source: str, wanted: Sequence[str], present: Sequence[str], *, by_header: bool = False) -> None:
    """Raise for columns that are missing or ambiguous; errors hint at a similar name, and list the others."""
    for name in wanted:
        if (times := list(present).count(name)) == 0:
            names, most = [str(found) for found in present], 50
            folded = {found.strip().casefold(): found for found in reversed(names)}
            close = difflib.get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.6)
            meant = f"did you mean {folded[close[0]]!r}? " if close else ""
            more = f" and {len(names) - most:,} more" if len(names) > most else ""
            told = f"{meant}its columns are {', '.join(names[:most]) or 'none'}{more}"
            if by_header and not _headers_shown.get():
                # The first line of a file that was written without a header holds values.
                told = "the first line of the file must name its columns, in the same spelling (`ggdp check` shows it)"
            told = f"there is no such column in {source}; {told}"
            # A header that is one field may have another delimiter.
            one = present[0] if by_header and len(present) == 1 else ""
            mark = next((mark for mark in ";\t|" if mark in one), None)
            hint = "" if mark is None else "; it is one field that contains {mark!r}: try {delimiter:{typed}}"
            typed = "\\t" if mark == "\t" else mark
            raise ArgumentError("column", name, Message("{told}" + hint, told=told, mark=mark, typed=typed))
        if times > 1:
            raise ArgumentError("column", name, f"is the name of {times} columns: rename all but one")


def require_distinct_folded(names: Sequence[str], what: str) -> None:
    """Raise for names that differ only in case, which some engines take for the same."""
    found: dict[str, str] = {}
    for name in names:
        other = found.setdefault(name.casefold(), name)
        if other != name:
            raise ArgumentError("data", [other, name], what)


def require_one_schema(files: Sequence[str], columns: Sequence[str], *, nulls_fit: bool) -> None:
    """Refuse Parquet files that have needed columns of different types, or of types that are not read exactly.

    An engine would read all of them by the type of the first one, and fail or not by what the values of the others are.
    With `nulls_fit`, a column of nulls alone, which has no type of its own, goes with every other.
    """
    known: dict[str, tuple[pa.DataType, str]] = {}
    for path in files:
        schema = pq.read_schema(path)
        require_columns(path, columns, schema.names)
        for name in columns:
            # The type without what Arrow adds.
            kind = schema.field(name).type
            kind = kind.value_type if pa.types.is_dictionary(kind) else kind
            kind = pa.string() if pa.types.is_large_string(kind) or pa.types.is_string_view(kind) else kind
            if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
                # Engines convert these when they read them, and fail where one is large.
                what = f"is of type {kind}, which is not read safely from Parquet files: write it in microseconds, or "
                raise ArgumentError("column", name, what + "read the file with pyarrow or polars and pass the table")
            if pa.types.is_decimal(kind) and kind.precision > 38:
                # The digits of the widest decimal that DuckDB and Spark have.
                raise ArgumentError("column", name, f"is of type {kind}, of more than 38 digits: cast it first")
            if pa.types.is_timestamp(kind):
                parts = pq.ParquetFile(path).schema
                if any(c.path == name and c.physical_type == "INT96" for c in map(parts.column, range(len(parts)))):
                    what = "holds INT96 time stamps, an old format: write them in microseconds"
                    raise ArgumentError("column", name, what)
            if not isinstance(kind, pa.UuidType) and not any(known_type(kind) for known_type in _EXACT):
                what = f"is of type {kind}, which is not counted: cast it to text or integers"
                raise ArgumentError("column", name, what)
            if nulls_fit and pa.types.is_null(kind):
                continue
            there, first = known.setdefault(name, (kind, path))
            if kind != there:
                what = f"is of type {kind} in {path}, and of type {there} in {first}: cast one of them first"
                raise ArgumentError("column", name, what)


def _distinct(named: str, paths: Sequence[str]) -> list[str]:
    """Return the files among paths, each by the first of its names: links to it, and mounts of it, are names of it.

    Mounts of one file system at two places number its files alike, but may have different devices. So two files on
    different devices that have the same number, size and time of change are refused rather than guessed at.
    """
    found: dict[object, str] = {}
    elsewhere: dict[object, tuple[int, str]] = {}
    for path in filter(os.path.isfile, paths):
        state = os.stat(path)
        # Some file systems do not number their files.
        identity = (state.st_dev, state.st_ino) if state.st_ino else os.path.realpath(path)
        if identity in found:
            continue
        alike = (state.st_ino, state.st_size, state.st_mtime_ns)
        device, other = elsewhere.setdefault(alike, (state.st_dev, path))
        if device != state.st_dev:
            what = f"names {other} and {path}, which seem to be the same file on two mounts; name it once"
            raise ArgumentError("data", named, what)
        found[identity] = path
    return list(found.values())


def _format(path: str) -> FileFormat:
    suffix = Path(path).suffix.lower()
    is_packed = suffix in (".gz", ".zst")
    found = _SUFFIXES.get(Path(Path(path).stem).suffix.lower() if is_packed else suffix)
    if found is not None and (found in TEXTS or not is_packed):
        return found
    what = _FORMATS
    if suffix in (".xls", ".xlsb", ".ods", ".numbers"):
        what = "is a spreadsheet of a format that is not read: save it as .xlsx or .csv"
    elif suffix in _READERS:
        what = f"is of a format that is not read: load it with {_READERS[suffix]} and pass the frame in Python"
    elif suffix in (".txt", ".dat"):
        what = f"{_FORMATS}: if it is comma-separated, rename it to .csv; if tab-separated, to .tsv"
    raise ArgumentError("data", path, what)
