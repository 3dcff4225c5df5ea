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

from ggdp.errors import ArgumentError, Message
from ggdp.sources.text_files import Header, Irregular, TextFormat, count_irregular, read_header

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://")
_SPREADSHEETS = (".xlsx", ".xls", ".xlsm", ".xlsb", ".ods", ".numbers")
# What pandas or pyarrow read, and how.
_READERS = {
    ".dta": "pandas.read_stata",
    ".feather": "pyarrow.feather.read_table",
    ".arrow": "pyarrow.feather.read_table",
    ".ipc": "polars.read_ipc",
    ".orc": "pyarrow.orc.read_table",
    ".avro": "polars.read_avro",
    ".sas7bdat": "pandas.read_sas",
    ".xpt": "pandas.read_sas",
    ".sav": "pandas.read_spss",
    ".pkl": "pandas.read_pickle",
    ".pickle": "pandas.read_pickle",
}
_FORMATS = "must end in .csv, .tsv, .jsonl, .ndjson or .json, each perhaps with .gz or .zst, or .parquet"
_MOST_NAMES = 50
# What separates fields in place of commas, as it is typed.
_DELIMITERS_TYPED = {";": ";", "\t": "\\t", "|": "|"}
_headers_shown: ContextVar[bool] = ContextVar("headers_shown", default=False)


@contextmanager
def headers_in_errors() -> Iterator[None]:
    """Allow errors to quote the header of text files inside the context, for users who may see the data."""
    before = _headers_shown.set(True)
    try:
        yield
    finally:
        _headers_shown.reset(before)


def _known_columns(name: str, present: Sequence[str], *, by_header: bool) -> str:
    """Return a hint about a missing column: a similar name, and the names of all columns if they may be shown."""
    if by_header and not _headers_shown.get():
        # The first line of a file that was written without a header holds values.
        return "the first line of the file must name its columns, in the same spelling (`ggdp check` shows it)"
    names = [str(found) for found in present]
    folded = {found.strip().casefold(): found for found in reversed(names)}
    close = [folded[key] for key in difflib.get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.6)]
    meant = f"did you mean {close[0]!r}? " if close else ""
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return f"{meant}its columns are {', '.join(names[:_MOST_NAMES]) or 'none'}{more}"


def require_local(named: str) -> None:
    """Raise for a URL of the web or of an object store."""
    if (found := _URL.match(named)) is None or Path(named).exists():
        return
    if found[0].lower() == "file://":
        raise ArgumentError("data", named, "write the path alone, without file://")
    raise ArgumentError(
        "data",
        named,
        "is a URL, and only local files are read: download it first, or read it with pandas, polars or DuckDB "
        "(for instance duckdb.read_parquet) and pass the frame in Python",
    )


def no_such_file(named: str) -> str:
    """Return a hint about a path that matches no file."""
    if Path(named).is_dir():
        return f"is a directory: give a pattern of its files in quotes, such as '{Path(named) / '*.csv'}'"
    if re.search(r"[*?\[]", named):
        return "no such file: nothing matches this pattern"
    return "is a device or a pipe; name a file" if Path(named).exists() else "no such file"


def unknown_format(path: str) -> str:
    """Return what to do about a file of a format that is not read."""
    suffix = Path(path).suffix.lower()
    if suffix in _SPREADSHEETS:
        return (
            "is a spreadsheet, which is not read: save it as CSV, or read it with pandas.read_excel or "
            "polars.read_excel and pass the frame in Python"
        )
    if suffix in _READERS:
        return f"is of a format that is not read: load it with {_READERS[suffix]} and pass the frame in Python"
    if suffix in (".txt", ".dat"):
        return f"{_FORMATS}: if it is comma-separated, rename it to .csv; if tab-separated, to .tsv"
    return _FORMATS


FileFormat: TypeAlias = Literal["csv", "tsv", "json", "parquet"]

_DELIMITERS = {"csv": ",", "tsv": "\t"}
_SUFFIXES: dict[str, FileFormat] = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
_PACKED = (".gz", ".zst")
# What every Parquet file begins and ends with, unless its footer is encrypted, and the fewest bytes that it has.
_MARK, _LEAST = b"PAR1", 12
# Of the widest decimal that DuckDB and Spark have.
_DIGITS = 38
# Types, apart from UUIDs, that the two readers of Parquet files read alike.
_EXACT = (
    pa.types.is_integer, pa.types.is_floating, pa.types.is_decimal, pa.types.is_boolean, pa.types.is_string,
    pa.types.is_date32, pa.types.is_timestamp, pa.types.is_null,
)  # fmt: skip


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
    def delimiter(self) -> str:
        """What separates fields."""
        return self.text.delimiter or _DELIMITERS[self.format]

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns of CSV files."""
        return self.headers[0].names


def find_files(source: str | os.PathLike[str], text: TextFormat | None = None) -> Files:
    """Return the files that a path or a pattern names, in the order of their names."""
    text = TextFormat() if text is None else text
    named = os.fspath(source)
    if not isinstance(named, str):
        raise ArgumentError("data", named, "must be a path as text")
    require_local(named)
    # A file that is there is meant, also where its name could be a pattern.
    paths = [named] if Path(named).is_file() else _distinct(named, sorted(glob.glob(named, recursive=True)))
    if not paths:
        raise ArgumentError("data", named, no_such_file(named))
    formats = {_format(path) for path in paths}
    if len(formats) > 1:
        raise ArgumentError("data", named, f"names files of several formats: {', '.join(sorted(formats))}")
    (kind,) = formats
    _require_text(kind, text)
    if kind == "parquet":
        for path in paths:
            _require_complete(path)
    if kind not in _DELIMITERS:
        return Files(named=named, paths=tuple(paths), format=kind, text=text)
    headers = [read_header(path, text, text.delimiter or _DELIMITERS[kind]) for path in paths]
    for path, header in zip(paths, headers, strict=True):
        if header.names != headers[0].names:
            raise ArgumentError("data", path, f"has a different header from {paths[0]}")
    return Files(named=named, paths=tuple(paths), format=kind, text=text, headers=tuple(headers))


def _require_complete(path: str) -> None:
    """Raise for a file that does not begin and end as every complete Parquet file does, whatever its rows are."""
    try:
        with open(path, "rb") as opened:
            begin = opened.read(len(_MARK))
            size = opened.seek(0, os.SEEK_END)
            opened.seek(max(size - len(_MARK), 0))
            is_complete = size >= _LEAST and begin == opened.read() == _MARK
    except OSError as failed:
        raise ArgumentError("data", path, f"cannot be read: {failed.strerror}") from None
    if not is_complete:
        message = "is incomplete or not a Parquet file: it does not begin and end with PAR1. Write it again"
        raise ArgumentError("data", path, message)


def _require_text(kind: FileFormat, text: TextFormat) -> None:
    """Raise for options of text files that the format does not have."""
    if text.delimiter is not None and kind not in _DELIMITERS:
        raise ArgumentError("delimiter", text.delimiter, f"applies to CSV files; this is a {kind} file")
    if text.encoding != "utf-8" and kind == "parquet":
        raise ArgumentError("encoding", text.encoding, "is for text files; text of Parquet files is UTF-8")
    if text.strict_lines and kind == "parquet":
        raise ArgumentError("strict_lines", True, "is for text files; Parquet files have no lines")


def require_columns(source: str, wanted: Sequence[str], present: Sequence[str], *, by_header: bool = False) -> None:
    """Raise for columns that are missing or ambiguous.

    The first line of a text file that was written without a header holds values, so its names are not told.
    """
    for name in wanted:
        if (times := list(present).count(name)) == 0:
            told = f"there is no such column in {source}; {_known_columns(name, present, by_header=by_header)}"
            # A header that is one field may have another delimiter.
            one = present[0] if by_header and len(present) == 1 else ""
            mark = next((mark for mark in _DELIMITERS_TYPED if mark in one), None)
            hint = "" if mark is None else "; it is one field that contains {mark!r}: try {delimiter:{typed}}"
            typed = None if mark is None else _DELIMITERS_TYPED[mark]
            raise ArgumentError("column", name, Message("{told}" + hint, told=told, mark=mark, typed=typed))
        if times > 1:
            raise ArgumentError("column", name, f"is the name of {times} columns: rename all but one")


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
            _require_exact(path, schema, name)
            here = _plain(schema, name)
            if nulls_fit and pa.types.is_null(here):
                continue
            there, first = known.setdefault(name, (here, path))
            if here != there:
                what = f"is of type {here} in {path}, and of type {there} in {first}: cast one of them first"
                raise ArgumentError("column", name, what)


def _require_exact(path: str, schema: pa.Schema, name: str) -> None:
    """Refuse a column of a type that the two readers of Parquet files do not read alike."""
    kind = _plain(schema, name)
    if pa.types.is_timestamp(kind) and kind.unit in ("s", "ms"):
        # Engines convert these when they read them, and fail where one is large.
        raise ArgumentError(
            "column",
            name,
            f"is of type {kind}, which is not read safely from Parquet files: write it in microseconds, or read the "
            "file with pyarrow or polars and pass the table",
        )
    if pa.types.is_decimal(kind) and kind.precision > _DIGITS:
        raise ArgumentError("column", name, f"is of type {kind}, of more than {_DIGITS} digits: cast it first")
    if pa.types.is_timestamp(kind):
        columns = pq.ParquetFile(path).schema
        if any(c.path == name and c.physical_type == "INT96" for c in map(columns.column, range(len(columns)))):
            raise ArgumentError("column", name, "holds INT96 time stamps, an old format: write them in microseconds")
    if not isinstance(kind, pa.UuidType) and not any(known(kind) for known in _EXACT):
        raise ArgumentError("column", name, f"is of type {kind}, which is not counted: cast it to text or integers")


def _plain(schema: pa.Schema, name: str) -> pa.DataType:
    """Return the type of a column, without what Arrow adds to the types of Parquet files."""
    found = schema.field(name).type
    found = found.value_type if pa.types.is_dictionary(found) else found
    return pa.string() if pa.types.is_large_string(found) or pa.types.is_string_view(found) else found


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
            raise ArgumentError(
                "data", named, f"names {other} and {path}, which seem to be the same file on two mounts; name it once"
            )
        found[identity] = path
    return list(found.values())


def _format(path: str) -> FileFormat:
    name = Path(path)
    suffix = name.suffix.lower()
    packed = suffix in _PACKED
    found = _SUFFIXES.get(Path(name.stem).suffix.lower() if packed else suffix)
    if found is None or (packed and found == "parquet"):
        raise ArgumentError("data", path, unknown_format(path))
    return found


def csv_irregular(files: Files) -> Irregular:
    """Count the records of CSV files and their irregularities. Not private."""
    found = Irregular()
    for path, header in zip(files.paths, files.headers, strict=True):
        count_irregular(path, header, files.text, files.delimiter, found)
    return found
