"""Files of other programs: Excel workbooks, Stata, SPSS and SAS files, and Arrow files.

The type of a column must not follow from the values in it, so what a library infers is not used:

- A cell of a workbook is text, as in a CSV file. Whole numbers are their digits, other numbers the shortest text of
  their float, days yyyy-mm-dd, days with a time yyyy-mm-dd hh:mm:ss, truths true and false. Empty cells and errors such
  as #N/A are null. A row in which every cell is empty is no record. A formula has the value that it was saved with.
- Where a decimal mark or a date format is declared of a column (`TextValues`), numbers and days that a program stores
  as such are the text that is read so as the same number or day; those that have none there stay as above.
- Numbers of Stata, SPSS and SAS files are floats, whatever their size in the file. Missing values, those that users
  have defined too, are null. A number with a format of days or times is text, as in a workbook; one that is no day, or
  no whole microsecond, of the years 1 to 9999 is text that is no date. Formats of weeks, months, quarters or years are
  ignored.
- Text of Stata, SPSS and SAS files is decoded value by value, in the encoding of the request if it names one other than
  UTF-8, else in that of the file. Text that is not valid there has no text (`ggdp.sources.codes`); empty text is null.
- A number with a value label is that label where a request compares it with text that is no number: with the levels of
  a column if at least one of them is none (`Column.may_be_labels`), or in a filter. Elsewhere it is the number, and so
  are numbers without a label.

Claim. What a row becomes is a function of that row, the request and the metadata of the file: names, types, formats,
encoding and value labels of its columns, and the date system of a workbook. Proof. The libraries read with inference
and conversion switched off: numbers as floats, text as single bytes (`LATIN1`, in which every byte is a character). All
further steps are functions of one value, and are defined for all of them. Whoever computes a cell from other rows (a
rank, a running total) has made it a function of these; see the page on preparing data.

Value labels may be metadata that the rows have left their mark on: some programs keep only labels of values that occur,
or number these anew. Then a number and its label stand for a text, as in a dictionary, and what a request compares is
that text, a function of the row alone however the others are numbered. No error or warning depends on value labels, so
that a release does not reveal which there are.

A file that cannot be read is a `SourceError`, which is charged: that it is damaged may depend on its rows.
"""

from __future__ import annotations

import codecs
import math
import os
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc
from attrs import evolve

from ggdp.domain.column import are_numbers
from ggdp.domain.filters import Condition, Read, walk
from ggdp.domain.text_values import TextValues
from ggdp.errors import ArgumentError, Message, MissingExtraError, install_hint
from ggdp.sources.dataframes import ARROW, ArrowTable, with_column
from ggdp.sources.engine import Engine, Frame
from ggdp.sources.files import Files, require_columns
from ggdp.sources.measures import number_name
from ggdp.sources.row_filter import reading_name

if TYPE_CHECKING:
    from ggdp.sources.query import CountQuery
    from ggdp.sources.text_files import TextFormat

# Text of which nothing is declared.
_PLAIN = TextValues()
# What a number with a format means: days or times since an epoch, in a unit of so many microseconds.
_Meaning: TypeAlias = tuple[Literal["days", "times"], datetime, int]

_READERS = {
    ".dta": ("stata", "read_dta"),
    ".sav": ("spss", "read_sav"),
    ".zsav": ("spss", "read_sav"),
    ".sas7bdat": ("sas", "read_sas7bdat"),
    ".xpt": ("sas", "read_xport"),
}
_LABELLED = ("stata", "spss", "sas")
# Rows that are read at a time.
_ROWS = 1 << 18
_SECOND, _DAY = 10**6, 86_400 * 10**6
_SIXTIES, _GREGORIAN = datetime(1960, 1, 1), datetime(1582, 10, 14)  # noqa: DTZ001 - without a zone, as in the files
# Formats of days and of times, without their widths, with the epoch and the unit in microseconds.
_FORMATS: dict[str, dict[str, _Meaning]] = {
    "stata": {
        **dict.fromkeys(("%td", "%d"), ("days", _SIXTIES, _DAY)),
        "%tc": ("times", _SIXTIES, 1000),
    },
    "spss": {
        **dict.fromkeys(("DATE", "ADATE", "EDATE", "JDATE", "SDATE"), ("days", _GREGORIAN, _SECOND)),
        **dict.fromkeys(("DATETIME", "YMDHMS"), ("times", _GREGORIAN, _SECOND)),
    },
    "sas": {
        **dict.fromkeys(
            ("DATE", "WEEKDATE", "WORDDATE", "MMDDYY", "DDMMYY", "YYMMDD", "E8601DA", "B8601DA", "IS8601DA", "JULIAN"),
            ("days", _SIXTIES, _DAY),
        ),
        **dict.fromkeys(("DATETIME", "DATEAMPM", "E8601DT", "B8601DT", "IS8601DT"), ("times", _SIXTIES, _SECOND)),
    },
}


class ProgramFiles(Engine):
    """Files of other programs, read into an Arrow table once a query is asked."""

    name, dialect = "pyarrow", ARROW

    def __init__(
        self, source: str, data: Files, columns: Sequence[str], _: Path | None = None, labelled: Collection[str] = ()
    ) -> None:
        self._files, self._columns = data, columns
        self.empty_is_null = data.format != "arrow"
        self._table: pa.Table | None = None
        self._written: dict[str, TextValues] = {}
        schemas = [_schema(path, data, columns, source) for path in data.paths]
        for path, schema in zip(data.paths, schemas, strict=True):
            if schema != schemas[0]:
                raise ArgumentError("data", path, f"has columns of other types than {data.paths[0]}")
        self.kinds = ArrowTable(source, schemas[0].empty_table(), columns).kinds
        self._numbers = [name for name in columns if self.kinds[name] == "float" and data.format in _LABELLED]
        self._labelled = [name for name in self._numbers if name in labelled]
        self.kinds |= dict.fromkeys(self._labelled, "text")

    def frame(self, query: CountQuery) -> Frame:
        """Return the columns of the files as a frame of Arrow."""
        # A column that a condition compares with words is read by its labels wherever it is read as text.
        compared = {
            reading_name(one.of.column, "text"): one.of.column
            for one in walk((query.where, *dict(query.derived).values()))
            if isinstance(one, Condition) and isinstance(one.of, Read) and one.of.column in self._numbers
            if one.reading == "text" and not are_numbers(map(str, one.values))
        }
        labels = list(dict.fromkeys([*self._labelled, *compared.values()]))
        asked = {one.column: one.text for one in query.readings.values()}
        asked |= {one.measure.column: one.measure.text for one in query.measured}
        asked |= {column.name: column.text for marginal in query.marginals for column in marginal}
        written = {name: text for name, text in asked.items() if text.decimal or text.date_format}
        if self._table is None or not written.items() <= self._written.items():
            self._written |= written
            # The labels that are needed follow from the filter, which is that of every query.
            asked_of = self._files, self._columns, labels, self._written
            self._table = pa.concat_tables(_read(path, *asked_of) for path in self._files.paths)
        values = dict(zip(self._columns, self._table.columns, strict=False))
        texts = dict(zip(labels, self._table.columns[len(values) :], strict=True))
        taken = pa.table(values | {name: texts[name] for name in self._labelled})
        frame = ArrowTable(self._files.named, taken, self._columns).frame(query)
        # Beside their labels, numbers as such; and beside numbers their labels.
        beside = {number_name(name): values[name] for name in query.measured_columns if name in self._labelled}
        for name, one in query.readings.items():
            if name in compared:
                nulls = pa.array(one.text.nulls, pa.large_string())
                beside[name] = pc.if_else(pc.is_in(texts[one.column], nulls), None, texts[one.column])
            elif one.column in self._labelled and one.reading == "number":
                beside[name] = values[one.column]
        for name, read in beside.items():
            frame = with_column(frame, name, read)
        return frame

    def close(self) -> None:
        """Forget the sheets of workbooks."""
        _sheet.cache_clear()


def column_names(files: Files) -> list[str]:
    """Return the names of the columns of the first file."""
    path = files.paths[0]
    if files.format == "workbook":
        if any(names := _header(_rows(path, files.text))):
            return names
        what = "has no header: its first row is empty; name the sheet with {sheet}, or the row with {header_row}"
        raise ArgumentError("data", path, Message(what))
    return _arrow(path).schema.names if files.format == "arrow" else list(_StatisticalFile(path, files.text).names)


def first_rows(path: str, text: TextFormat) -> Iterator[Sequence[object]]:
    """Yield the rows of a sheet, those above its header too. Not private."""
    yield from _rows(path, evolve(text, header_row=1))


def value_labels(files: Files) -> dict[str, dict[Any, str]]:
    """Return the value labels of the first file, without those of missing values. Not private: others may know less."""
    return _StatisticalFile(files.paths[0], files.text).value_labels() if files.format in _LABELLED else {}


def _schema(path: str, files: Files, columns: Sequence[str], source: str) -> pa.Schema:
    """Return the schema of some columns of a file; their rows are not looked at."""
    if files.format == "arrow":
        schema = _arrow(path).schema
        require_columns(source, columns, schema.names)
        return pa.schema([schema.field(name) for name in columns])
    if files.format == "workbook":
        require_columns(source, columns, _header(_rows(path, files.text)), by_header=True)
        return pa.schema([(name, pa.large_string()) for name in columns])
    found = _StatisticalFile(path, files.text)
    require_columns(source, columns, list(found.names))
    return pa.schema([(name, found.type_of(name)) for name in columns])


def _read(
    path: str,
    files: Files,
    columns: Sequence[str],
    labelled: Sequence[str],
    written: Mapping[str, TextValues],
) -> pa.Table:
    """Return some columns of a file, as text is declared to be written, and after them the labels of some numbers."""
    if files.format == "arrow":
        return _arrow(path).read_all().select(list(columns))
    if files.format == "workbook":
        header, *records = _rows(path, files.text) or [[]]
        names, kept = _header([header]), [row for row in records if any(value != "" for value in row)]
        texts = {}
        for name in columns:
            place, text = names.index(name), written.get(name, _PLAIN)
            cells = [row[place] for row in kept]
            found = [one or None if type(one) is str else _cell_text(one, text) for one in cells]
            texts[name] = pa.array(found, pa.large_string())
        return pa.table(texts)
    return _StatisticalFile(path, files.text).read(columns, labelled, written)


def _arrow(path: str) -> Any:  # noqa: ANN401 - pyarrow is untyped
    try:
        return pa.ipc.open_file(pa.memory_map(path))
    except pa.ArrowInvalid:
        what = "cannot be read: its content is not an Arrow or Feather (version 2) file"
        raise ArgumentError("data", path, what) from None


def _rows(path: str, text: TextFormat) -> Any:  # noqa: ANN401 - rows of values of Python
    """Return the rows of a sheet, from its header and first column on."""
    return _sheet(path, text.sheet, os.stat(path).st_mtime_ns)[text.header_row - 1 :]


# A sheet is read whole for its first row alone.
@cache
def _sheet(path: str, name: str | None, _: int) -> Any:  # noqa: ANN401 - rows of values of Python
    """Return the rows of a sheet, which are kept until a source is closed."""
    try:
        from python_calamine import CalamineWorkbook, SheetVisibleEnum
    except ImportError:
        raise MissingExtraError(f"an Excel workbook needs python-calamine: {install_hint('files')}") from None
    workbook = CalamineWorkbook.from_path(path)
    shown = [sheet.name for sheet in workbook.sheets_metadata if sheet.visible == SheetVisibleEnum.Visible]
    if name is not None and name not in workbook.sheet_names:
        listed = ", ".join(map(repr, shown))
        raise ArgumentError("sheet", name, f"is not a sheet of {path}; its sheets are {listed}")
    if name is None and len(shown) > 1:
        listed = ", ".join(map(repr, shown))
        raise ArgumentError("data", path, Message("has several sheets: name one with {sheet}: {listed}", listed=listed))
    return workbook.get_sheet_by_name(name or shown[0]).to_python(skip_empty_area=False)


def _header(rows: Sequence[Sequence[object]]) -> list[str]:
    return [_cell_text(value) or "" for value in next(iter(rows), [])]


def _cell_text(value: object, written: TextValues = _PLAIN) -> str | None:
    """Return a cell of a workbook as text, as it is declared to be written; null if it is empty."""
    if value == "" or value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value).replace(".", written.decimal or ".")
    if isinstance(value, date):
        return written.write(value) or (_time_text(value) if isinstance(value, datetime) else value.isoformat())
    return str(value)


def _time_text(time: datetime) -> str:
    """Return a time as text; midnight is the day itself."""
    is_day = time.hour == time.minute == time.second == time.microsecond == 0
    return time.date().isoformat() if is_day else time.isoformat(sep=" ")


class _StatisticalFile:
    """The names, types, formats and encoding of a Stata, SPSS or SAS file."""

    def __init__(self, path: str, text: TextFormat) -> None:
        try:
            import pyreadstat
        except ImportError:
            raise MissingExtraError(f"Stata, SPSS and SAS files need pyreadstat: {install_hint('files')}") from None
        suffix = Path(path).suffix.lower()
        kind, reader = _READERS[suffix]
        # Without pandas, which it would need for its metadata too.
        self._load = partial(getattr(pyreadstat, reader), path, output_format="dict")
        # First the encoding that the file declares, then all text as bytes.
        own = "utf-8" if suffix == ".xpt" else self._load(metadataonly=True)[1].file_encoding
        if suffix == ".dta":
            # Versions of the format whose text is UTF-8 begin so.
            with open(path, "rb") as opened:
                found = re.match(rb"<stata_dta><header><release>([0-9]{3})", opened.read(31))
            own = "utf-8" if found is not None and int(found[1]) >= 118 else "cp1252"
        self._encoding = text.encoding if text.encoding != "utf-8" else own or "utf-8"
        try:
            codecs.lookup(self._encoding)
        except LookupError:
            what = "is the encoding that the file declares, and unknown here; name another, such as latin-1"
            raise ArgumentError("encoding", self._encoding, what) from None
        raw = self._load(metadataonly=True, encoding="LATIN1")[1]
        # Names as users write them, with those that the library knows.
        self.names = {name.encode("latin-1").decode(self._encoding, "replace"): name for name in raw.column_names}
        self._types, formats = raw.readstat_variable_types, raw.original_variable_types
        self._meanings = {name: _meaning(formats.get(name), kind) for name in raw.column_names}
        self._labels: dict[str, dict[Any, str]] = {}
        for column, found in raw.variable_value_labels.items():
            raw_texts = ((key, text.encode("latin-1", "replace")) for key, text in found.items())
            self._labels[column] = {key: text.decode(self._encoding, "replace") for key, text in raw_texts}

    def value_labels(self) -> dict[str, dict[Any, str]]:
        """Return the value labels of columns, without those of values that are missing by declaration of a user."""
        found: dict[str, dict[Any, str]] = {}
        if not self._labels:
            return found
        missing = self._load(metadataonly=True, encoding="LATIN1", user_missing=True)[1].missing_ranges
        for name, own in self.names.items():
            ranges = missing.get(own, [])
            codes = {
                int(key) if isinstance(key, float) and key.is_integer() else key: text
                for key, text in self._labels.get(own, {}).items()
                if isinstance(key, str) == (self._types[own] == "string")
                and not any(one["lo"] <= key <= one["hi"] for one in ranges)
            }
            found |= {name: codes} if codes else {}
        return found

    def type_of(self, name: str) -> pa.DataType:
        """Return the type of a column."""
        own = self.names[name]
        return pa.large_string() if (self._types[own] == "string" or self._meanings[own] is not None) else pa.float64()

    def read(self, columns: Sequence[str], labelled: Sequence[str], written: Mapping[str, TextValues]) -> pa.Table:
        """Return some columns, and after them the labels of some numbers, a part of the rows at a time."""
        schema = pa.schema(
            [*((name, self.type_of(name)) for name in columns), *((n, pa.large_string()) for n in labelled)]
        )
        return pa.Table.from_batches(self._batches(schema, len(columns), written), schema)

    def _batches(self, schema: pa.Schema, columns: int, written: Mapping[str, TextValues]) -> Iterator[pa.RecordBatch]:
        owns, start, count = [self.names[name] for name in schema.names], 0, _ROWS
        while count == _ROWS:
            found, _ = self._load(
                usecols=list(dict.fromkeys(owns)),
                row_offset=start,
                row_limit=_ROWS,
                encoding="LATIN1",
                disable_datetime_conversion=True,
            )
            count = len(found[owns[0]]) if owns else 0
            start += count
            asked = zip(schema.names[:columns], owns, strict=False)
            arrays = [self._array(own, found[own], written.get(name, _PLAIN)) for name, own in asked]
            yield pa.record_batch([*arrays, *(self._texts(own, found[own]) for own in owns[columns:])], schema)

    def _texts(self, own: str, values: Sequence[float | None]) -> pa.Array:
        """Return the labels of numbers, and the digits of those without one."""
        labels = {float(code): text for code, text in self._labels.get(own, {}).items() if not isinstance(code, str)}

        def text(value: float | None) -> str | None:
            return None if value is None or math.isnan(value) else labels.get(value) or _cell_text(float(value))

        return pa.array(map(text, values), pa.large_string())

    def _array(self, own: str, values: Sequence[Any], written: TextValues) -> pa.Array:
        meaning = self._meanings[own]
        if self._types[own] == "string":
            # Bytes that are not UTF-8 are told apart where the declaration of the column is known.
            raw = pa.array([_utf8(value, self._encoding) for value in values], pa.large_binary())
            return pa.Array.from_buffers(pa.large_string(), len(raw), raw.buffers())
        if meaning is not None:
            return pa.array([_instant_text(value, *meaning, written) for value in values], pa.large_string())
        return pa.array([None if value is None else float(value) for value in values], pa.float64())


def _meaning(declared: str | None, kind: str) -> _Meaning | None:
    """Return what numbers with a format mean if they are days or times."""
    known, text = _FORMATS[kind], declared or ""
    if kind == "stata":
        # What comes after the unit is how it is shown.
        return next((known[start] for start in known if text.startswith(start)), None)
    return known.get(text.rstrip("0123456789.").upper())


def _utf8(value: str | None, encoding: str) -> bytes | None:
    """Return a value, read as single bytes, as UTF-8; bytes that are not UTF-8 if it is not valid."""
    if not value:
        return None
    try:
        return value.encode("latin-1").decode(encoding).encode()
    except UnicodeError:
        return b"\xff"


def _instant_text(
    value: float | None, meaning: Literal["days", "times"], epoch: datetime, unit: int, written: TextValues = _PLAIN
) -> str | None:
    """Return a number with a format of days or times as text; null of null, and what is no date of what is none."""
    if value is None or math.isnan(value):
        return None
    ticks = value * unit
    try:
        time = epoch + timedelta(microseconds=round(ticks))
    except (OverflowError, ValueError):
        return repr(value)
    if meaning == "days" and ticks % _DAY != 0:
        return repr(value)
    return written.write(time) or _time_text(time)
