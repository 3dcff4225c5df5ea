"""Hints for a source that cannot be opened, from its name and schema alone."""

from __future__ import annotations

import difflib
import re
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import TYPE_CHECKING

from ggdp.errors import ArgumentError

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
_DELIMITERS = {";": ";", "\t": "\\t", "|": "|"}
_headers_shown: ContextVar[bool] = ContextVar("headers_shown", default=False)


@contextmanager
def headers_in_errors() -> Iterator[None]:
    """Allow errors to quote the header of text files inside the context, for users who may see the data."""
    before = _headers_shown.set(True)
    try:
        yield
    finally:
        _headers_shown.reset(before)


def missing_column(name: str, present: Sequence[str], *, by_header: bool = False) -> str:
    """Return a hint about a missing column: a similar name, and the names of all columns if they may be shown."""
    hint = _delimiter_hint(present) if by_header else ""
    if by_header and not _headers_shown.get():
        # The first line of a file that was written without a header holds values.
        return f"the first line of the file must name its columns, in the same spelling (`ggdp check` shows it){hint}"
    names = [str(found) for found in present]
    folded = {found.strip().casefold(): found for found in reversed(names)}
    close = [folded[key] for key in difflib.get_close_matches(name.strip().casefold(), folded, n=1, cutoff=0.6)]
    meant = f"did you mean {close[0]!r}? " if close else ""
    more = f" and {len(names) - _MOST_NAMES:,} more" if len(names) > _MOST_NAMES else ""
    return f"{meant}its columns are {', '.join(names[:_MOST_NAMES]) or 'none'}{more}{hint}"


def _delimiter_hint(header: Sequence[str]) -> str:
    """Return which delimiter to try, if a header is one field that contains one."""
    found = next((mark for mark in _DELIMITERS if len(header) == 1 and mark in header[0]), None)
    return "" if found is None else f'; it is one field that contains {found!r}: try `delimiter="{_DELIMITERS[found]}"`'


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
