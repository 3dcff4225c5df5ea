"""What counting must give, in plain Python, by what `ggdp.sources.codes` says; no code is shared with it.

Files of text are read here byte by byte. CSV: records end at the line end of the header's line, outside of quotes;
quotes are special at the start of a field alone; an empty field is null; a blank line is no record. JSON: a line of
text is a record, one that is no object is a row of nulls.
"""

from __future__ import annotations

import gzip
import json
import math
import re
from collections import Counter, defaultdict
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ggdp.domain.column import Column
from ggdp.domain.table_domain import Domain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path

    from tests.fuzz.tables import Case, Table

    from ggdp.domain.text_values import TextValues

_NUMBER = r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?"
# What has no text: text that is no UTF-8, and days outside of the calendar.
UNREADABLE, NO_DAY = object(), object()
EPOCH = date(1970, 1, 1).toordinal()


def expected(rows: Iterable[dict[str, Any]], case: Case) -> list[dict[Any, int]]:
    """Return the count of each non-empty cell, or key, of each marginal, where rows are counted."""
    rows = list(rows)
    return [dict(Counter(cell for _, cell in cells_of(rows, Domain(marginal)))) for marginal in case.marginals]


def of_units(rows: Iterable[dict[str, Any]], case: Case) -> list[dict[str, set[Any]]]:
    """Return the cells, or keys, of each unit in each marginal, of which it keeps at most so many."""
    rows = list(rows)
    assert case.unit is not None
    return [_of_units(rows, case.unit, Domain(marginal), case.unit_nulls) for marginal in case.marginals]


def rows_of_table(table: Table) -> list[dict[str, Any]]:
    kinds = [field.type for field in table.fields]
    return [dict(zip(table.names, map(_typed, row, kinds), strict=True)) for row in table.rows]


def rows_of_file(path: Path) -> Iterator[dict[str, Any]]:
    """Return the rows of a CSV, TSV or JSON file as texts."""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    elif path.suffix == ".zst":
        data = pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    data = data.removeprefix(b"\xef\xbb\xbf")
    if "json" in path.name:
        return map(_object, (line for line in data.split(b"\n") if line.strip()))
    records = csv_records(data, b"\t" if ".tsv" in path.name else b",")
    header = [name.decode() for name in next(records)]
    return (
        {
            name: _decoded(record[place]) if place < len(record) and record[place] else None
            for place, name in enumerate(header)
        }
        for record in records
        if record != [b""]
    )


def csv_records(data: bytes, delimiter: bytes) -> Iterator[list[bytes]]:
    """Yield the records of a CSV file, each a list of fields; a blank line is one empty field."""
    end: bytes | None = None
    place = 0
    while place < len(data):
        record: list[bytes] = []
        while True:
            text = bytearray()
            if data[place : place + 1] == b'"':
                place += 1
                while place < len(data):
                    close = data.find(b'"', place)
                    close = len(data) if close < 0 else close
                    text += data[place:close]
                    place = close + 1
                    if data[place : place + 1] != b'"':
                        break
                    text += b'"'
                    place += 1
            ends = (b"\r\n", b"\n") if end is None else (end,)
            stop = _first(data, place, (delimiter, *ends))
            text += data[place:stop]
            record.append(bytes(text))
            place = stop
            if data[place : place + 1] == delimiter:
                place += 1
                continue
            if end is None:
                end = b"\r\n" if data[place : place + 2] == b"\r\n" else b"\n"
            place += len(end)
            break
        yield record


def _first(data: bytes, place: int, marks: Sequence[bytes]) -> int:
    found = [where for mark in marks if (where := data.find(mark, place)) >= 0]
    return min(found, default=len(data))


def _decoded(raw: bytes) -> Any:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return UNREADABLE


def _object(line: bytes) -> dict[str, Any]:
    try:
        text = line.decode().removeprefix("\ufeff")
        found = json.loads(text, parse_int=str, parse_float=_shown, parse_constant=str)
    except (ValueError, RecursionError):
        return {}
    if not isinstance(found, dict):
        return {}
    return {name: ("true" if value else "false") if isinstance(value, bool) else value for name, value in found.items()}


def _shown(text: str) -> str:
    """Return a number of JSON as DuckDB writes it, which a filter may read as text."""
    number = float(text)
    if not math.isfinite(number):
        return text
    if number == 0 or 1e-6 <= abs(number) < 1e21:
        plain = format(Decimal(repr(number)), "f")
        return plain if "." in plain else f"{plain}.0"
    return re.sub("e([+-])0*", lambda found: "e" + found[1].strip("+"), repr(number))


def _typed(value: Any, kind: str) -> Any:
    if kind == "date32" and isinstance(value, int):
        # Days since 1970, of which those outside of the calendar have no text.
        inside = date.min.toordinal() <= EPOCH + value <= date.max.toordinal()
        return date.fromordinal(EPOCH + value) if inside else NO_DAY
    if kind == "timestamp" and value is not None:
        return datetime(1970, 1, 1) + timedelta(microseconds=value)  # noqa: DTZ001
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        return UNREADABLE
    return value


def cells_of(rows: list[dict[str, Any]], marginal: Domain) -> Iterator[tuple[dict[str, Any], Any]]:
    """Yield the rows that are counted, each with its cell."""
    for row in rows:
        parts = [_part(column, row.get(column.name)) for column in marginal]
        if None not in parts:
            cell: Any = tuple(parts)
            if not marginal.is_open:
                cell = 0
                for part, column in zip(parts, marginal, strict=True):
                    cell = cell * column.size + part
            yield row, cell


def _of_units(rows: list[dict[str, Any]], unit: str, marginal: Domain, nulls: tuple[str, ...]) -> dict[str, set[Any]]:
    found: dict[str, set[Any]] = defaultdict(set)
    for row, cell in cells_of(rows, marginal):
        text = _text(row.get(unit), "open")
        text = None if text in nulls else text
        if text is not None:
            text = text.removesuffix(".0") if re.fullmatch(r"-?[0-9]{1,19}\.0", text) else text
            found[text].add(cell)
    return dict(found)


def _part(column: Column, value: Any) -> Any:
    """Return the code of a value, or its text in an open column; None if it is not counted."""
    if column.complete:
        # What would be counted nowhere is counted in the first level or bin.
        return _part(Column(**column.arguments() | {"complete": None}), value) or 0
    if isinstance(value, str):
        value = _as_declared(column, value)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None if column.kind == "open" else column.missing_code
    if column.kind == "open":
        return _text(value, "open")
    if column.kind == "bins":
        return _bin(column, value)
    text = _text(value, column.kind)
    return column.texts.index(text) if text in column.texts else column.other_code


def _bin(column: Column, value: Any) -> int | None:
    if column.dated:
        return _period(column, value)
    if value is UNREADABLE or (isinstance(value, str) and not re.fullmatch(_NUMBER, value)):
        return column.other_code
    number = float(value) if isinstance(value, str | Decimal) else value
    *lower, last = column.edges or ()
    if number < lower[0] or number > last:
        return column.other_code
    return sum(number >= edge for edge in lower) - 1


def _as_declared(column: Column, value: str) -> Any:
    """Return what a text of a column stands for: text that is read as usual, a date or a time, or None."""
    if value in column.text.nulls:
        return None
    if column.kind == "date" or column.dated:
        return value if column.text.date_format is None else _time(_FORMATS[column.text.date_format], value)
    return written_number(column.text, value) if column.kind in ("integer", "bins") else value


def written_number(text: TextValues, value: str) -> Any:
    """Return a number with a decimal point and no other separators."""
    point = text.decimal or "."
    if point == "." and text.thousands is None:
        return value
    found = re.fullmatch("([+-]?)([^eE]*)([eE].*)?", value, re.DOTALL)
    assert found is not None or "e" in value.lower()
    if found is None:
        return UNREADABLE
    whole, dot, fraction = found[2].partition(point)
    marks = {"'": "'\u2019", " ": " \u00a0\u202f", None: ""}.get(text.thousands, text.thousands)
    for mark in marks or "":
        whole = whole.replace(mark, "_")
    first, *groups = whole.split("_") if "_" not in value else [whole]
    if groups and (not 1 <= len(first) <= 3 or {3} != {*map(len, groups)} or len(groups) > 12):
        return UNREADABLE
    number = f"{found[1]}{first}{''.join(groups)}{'.' if dot else ''}{fraction}{found[3] or ''}"
    return number if re.fullmatch(_NUMBER, number) and "." not in "".join([first, *groups, fraction]) else UNREADABLE


_ZONE = r"(?P<z>Z|[+-][0-9]{2}(:?[0-9]{2})?)"
_FORMATS = {
    "%d.%m.%Y": r"(?P<d>[0-9]{1,2})\.(?P<m>[0-9]{1,2})\.(?P<Y>[0-9]{4})",
    "%m/%d/%y": r"(?P<m>[0-9]{1,2})/(?P<d>[0-9]{1,2})/(?P<y>[0-9]{2})",
    "%Y%m%d": r"(?P<Y>[0-9]{4})(?P<m>[0-9]{2})(?P<d>[0-9]{2})",
}
_FORMATS["%d.%m.%Y %H:%M"] = _FORMATS["%d.%m.%Y"] + " (?P<H>[0-9]{1,2}):(?P<M>[0-9]{2})"
_FORMATS["%d.%m.%Y %H:%M%z"] = _FORMATS["%d.%m.%Y %H:%M"] + _ZONE
_ISO = (
    "(?P<Y>[0-9]{4})-(?P<m>[0-9]{2})-(?P<d>[0-9]{2})"
    rf"([T ](?P<H>[0-9]{{2}}):(?P<M>[0-9]{{2}})(:(?P<S>[0-9]{{2}})(\.(?P<f>[0-9]{{1,9}}))?)?{_ZONE}?)?"
)


def _time(pattern: str, value: str) -> Any:
    """Return the day of a text, or its time in UTC."""
    found = re.fullmatch(pattern, value)
    if found is None:
        return UNREADABLE
    part = {name: int(digits) for name, digits in found.groupdict().items() if digits and name not in "zf"}
    zone = found.groupdict().get("z") or "Z"
    hours, minutes = (int(digits or 0) for digits in (zone[1:3], zone[-2:] if len(zone) > 3 else 0))
    year = part["Y"] if "Y" in part else part["y"] + (1900 if part["y"] >= 69 else 2000)
    try:
        if "H" not in part:
            return date(year, part["m"], part["d"])
        fraction = int(((found.groupdict().get("f") or "") + "0" * 6)[:6])
        time = datetime(year, part["m"], part["d"], part["H"], part["M"], part.get("S", 0), fraction)  # noqa: DTZ001
        if hours > 23 or minutes > 59:
            return UNREADABLE
        return time - (-1 if zone[0] == "-" else 1) * timedelta(hours=hours, minutes=minutes)
    except (ValueError, OverflowError):
        return UNREADABLE


def _period(column: Column, value: Any) -> int | None:
    time = _time(_ISO, value) if isinstance(value, str) else value
    if not isinstance(time, date):
        return column.other_code

    def clock(edge: Any) -> Any:
        return edge if isinstance(edge, float | datetime) else datetime(edge.year, edge.month, edge.day)  # noqa: DTZ001

    inner = [clock(edge) for edge in column.edges or () if edge not in (-math.inf, math.inf)]
    passed = sum(clock(time) >= edge for edge in inner)
    first, last = (column.edges or ())[0], (column.edges or ())[-1]
    if (passed == 0 and first != -math.inf) or (passed == len(inner) and last != math.inf):
        return column.other_code
    return passed - (first != -math.inf)


def _text(value: Any, declared: str) -> str | None:
    if value is None or value is UNREADABLE or value is NO_DAY:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | Decimal):
        whole = math.isfinite(value) and value == int(value) and -(2**63) <= value < 2**63
        return str(int(value)) if whole else None
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str) and declared == "integer":
        whole = re.fullmatch(r"([+-]?)0*([0-9]*?)(\.0*)?", value)
        if whole is None or not re.match(r"[+-]?[0-9]", value):
            return None
        return whole[1].replace("+", "") + whole[2] if whole[2] else "0"
    if isinstance(value, str) and declared == "boolean":
        return value.lower() if value.lower() in ("true", "false") else None
    return str(value)
