"""Comparing a source with its domain before a release. Nothing here is private.

What is counted where is asked of the engine in the same way as a release asks it: each declared column once more with a
level for what is not declared and one for nulls, so that every row has a code.

Of each choice of `max_cells` the check says which pairs of unit and cell it keeps, and what it costs. The one that is
recommended has the least margin of error of a count plus what is cut from a cell on average, among those listed; the
smallest of several. It is found by a look at the data, so it must not be published: a published number such as
`max_cells` should be chosen by what is known of such data.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from itertools import islice
from pathlib import Path
from statistics import median_high
from typing import Any

import narwhals as nw
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import evolve
from numpy.typing import NDArray

from ggdp._files import write_together
from ggdp._records import options, takes_data
from ggdp.domain.column import Column
from ggdp.domain.periods import instant_of_value
from ggdp.domain.table_domain import Domain
from ggdp.domain.text_values import TextValues
from ggdp.domain.value_range import LevelRanges
from ggdp.errors import ArgumentError, Message
from ggdp.privacy import ApproxDP, Guarantee
from ggdp.privacy.guarantees import as_goal
from ggdp.sources.codes import NUMBER, bin_codes, declared_text, read_text
from ggdp.sources.counting import clamped_totals, keys
from ggdp.sources.duckdb_engine import json_irregular
from ggdp.sources.engine import Frame, collect, hide_errors, safe_name
from ggdp.sources.files import TEXTS, Files, find_files, headers_in_errors
from ggdp.sources.measures import SummedMeasure
from ggdp.sources.program_files import column_names, first_rows, value_labels
from ggdp.sources.query import CountQuery, TableSource, open_source
from ggdp.sources.text_files import Irregular, TextFormat, csv_irregular, first_records, json_line_batches
from ggdp.tables.request import (
    AUTO,
    MOST_IN_MEMORY,
    ROW,
    CheckArguments,
    Regime,
    TableRequest,
    TextOptions,
    toml_text,
)
from ggdp.tables.statistics.statistic import checked_statistics
from ggdp.tables.statistics.statistics_plan import measure_of, plan_statistics
from ggdp.tables.table_plan import plan_request


def quantiles(values: NDArray[np.int64], weights: NDArray[np.int64]) -> dict[str, int]:
    """Return quantiles of values, given how often each occurs."""
    shares = (0.5, 0.75, 0.9, 0.95, 0.99, 1.0)
    if not values.size:
        return dict.fromkeys((f"{q:g}" for q in shares), 0)
    sorting = np.argsort(values)
    values, below = values[sorting], np.cumsum(weights[sorting])
    places = {q: min(int(np.searchsorted(below, math.ceil(q * below[-1]))), values.size - 1) for q in shares}
    return {f"{q:g}": int(values[place]) for q, place in places.items()}


NOTICE = "NOT PRIVATE: computed from the data without noise. Do not publish it, or anything chosen by it."


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnCheck:
    """The values of a column compared with its declaration."""

    # The column, and what is declared of it: ``text``, ``integer``, ``boolean``, ``date``, ``bins`` or ``open``.
    name: str
    declared: str
    # How many rows there are, and how many of them have no value.
    rows: int
    nulls: int
    unmatched: int = 0  # rows with a value that is neither a declared level nor in a bin
    # Of these, with bins: values that are not numbers, or not times; the others are outside the edges.
    unparsable: int = 0
    distinct_unmatched: int | None = None  # how many different values that is; None where it was not counted
    most_frequent: tuple[tuple[str, int], ...] = ()  # the most frequent of these values, with their rows
    forms: tuple[tuple[str, int], ...] = ()  # with bins: forms of values that cannot be read, with their rows (`mask`)
    unseen: tuple[Any, ...] = ()  # declared levels that no row has. They must stay declared.
    advice: tuple[str, ...] = ()  # what to do


@dataclass(frozen=True, slots=True, kw_only=True)
class RangeCheck:
    """The numbers of a column compared with its public range."""

    # The column, and its range and step.
    name: str
    range: str
    level: Any = None  # where ranges are by level of another column: the level, to whose rows all else is limited
    # How many rows there are, and how many of them have no value.
    rows: int
    nulls: int
    not_numbers: int  # rows with a value that is not a number; no statistic counts them
    # Rows with numbers that would be clamped to the lower and to the upper end.
    below: int
    above: int
    # Units whose rows in a cell add up to a number that would be clamped, cell by cell; None without units or a sum.
    totals_below: int | None = None
    totals_above: int | None = None
    forms: tuple[tuple[str, int], ...] = ()  # forms of values that are not numbers, with their rows (`mask`)
    advice: tuple[str, ...] = ()  # what to do


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginalCheck:
    """One table that would be released: its size, and how many rows it would count."""

    by: tuple[str, ...]  # its columns
    cells: int | None  # cells of the domain; None if a column is open
    filled: int  # cells that are not empty
    rows: int  # rows that are counted in one of them
    impossible_rows: int = 0  # rows in cells that are declared to be impossible, which are not counted


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitCheck:
    """How many cells units are in, and what `max_cells` would keep of them."""

    column: str  # the column of units
    # Different units, and rows without one, which are not counted.
    units: int
    null_rows: int
    # For each table: ``by``; ``quantiles`` of the cells of a unit, and of the rows of a unit in a cell
    # (``row_quantiles``); ``choices``, for each M the share of pairs of unit and cell that is ``kept``, the number of
    # ``units_cut``, how many are ``cut`` from a cell on average, and the ``plus_minus`` of counts at 95 %;
    # ``recommended``, the M with the least sum of plus-minus and cut.
    tables: tuple[dict[str, Any], ...]
    epsilon: float = 1.0  # what the noise is for
    delta: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenColumn:
    """A column of a source by itself, whatever is declared of it."""

    name: str
    reads_as: str  # what nearly all of its values are: integers, numbers, dates, times, true or false, or text
    rows: int
    nulls: int
    distinct: int | None  # how many different values it has; None where they were not counted
    forms: tuple[tuple[str, int], ...] = ()  # the most frequent forms of its values, with their rows (`mask`)
    labels: tuple[tuple[Any, str], ...] = ()  # the value labels that a Stata or SPSS file has for it
    written: dict[str, Any]  # how its values seem to be written, where that must be declared (`TextValues`)
    or_else: dict[str, Any]  # another way in which they may be written as well, with other numbers or dates
    draft: dict[str, Any]  # what a draft of a domain declares of it; nothing of identifiers and free text


@dataclass(frozen=True, slots=True, kw_only=True)
class TableCheck:
    """Results of a check before a release. Not private.

    Attributes
    ----------
    rows : int
        Rows of the source.
    regime : {"declared", "sparse", "open", "mixed"}
        Which kind of table a release would be; sparse if it needs `false_cells`.
    columns : tuple of ColumnCheck
        The columns.
    marginals : tuple of MarginalCheck
        The tables.
    units : UnitCheck or None
        The units, if a column of them was named.
    ranges : tuple of RangeCheck
        The columns of statistics.
    text : TextCheck or None
        How records were read, of CSV and JSON files.
    alarms : tuple of str
        What would make the release a table of nothing, or protect less than is meant. Read it first.
    seen : tuple of SeenColumn
        All columns by themselves, where nothing is counted by or a draft is requested.
    """

    rows: int
    regime: Regime
    columns: tuple[ColumnCheck, ...]
    marginals: tuple[MarginalCheck, ...]
    units: UnitCheck | None
    ranges: tuple[RangeCheck, ...] = ()
    text: TextCheck | None = None
    alarms: tuple[str, ...] = ()
    seen: tuple[SeenColumn, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the check as plain values, ready for JSON, the warning first."""
        found = asdict(self)
        for column in found["columns"]:
            column["unseen"] = [level if isinstance(level, str | int) else str(level) for level in column["unseen"]]
        for seen in found["seen"]:
            seen["draft"] = json.loads(json.dumps(seen["draft"], default=str))
        return {"notice": NOTICE, "alarms": found.pop("alarms"), **found}


@dataclass(frozen=True, slots=True, kw_only=True)
class TextCheck:
    """How the records of CSV and JSON files were read."""

    encoding: str  # the encoding that was assumed
    records: int  # how many records there are: each is a row
    invalid: int  # records with text that is not valid in the encoding; such text matches no level
    surplus: int  # records with more fields than the header names; the further fields are ignored
    further_lines: int  # line ends inside records of CSV files, or blank lines
    with_line_ends: int  # records with a line feed or a carriage return inside, which strict lines would split
    # Records of JSON files that are not JSON objects, and so rows without values; None for CSV files.
    not_objects: int | None = None
    advice: tuple[str, ...] = ()  # what to do


def text_check(data: object, text: TextFormat | None) -> TextCheck | None:
    """Return how the records of text files were read; None for anything else."""
    files = _files(data, text)
    if files is None or files.format not in TEXTS:
        return None
    found = hide_errors(files.named, lambda: (csv_irregular if files.has_header else json_irregular)(files))
    # Line ends in fields far beyond the header are seen by the number of lines.
    several = max(found.with_line_ends, int(found.otherwise > found.records))
    return TextCheck(
        encoding=files.text.encoding,
        **{name: getattr(found, name) for name in ("records", "invalid", "surplus", "not_objects")},
        further_lines=max(found.further_lines, 0),
        with_line_ends=several,
        advice=tuple(_text_advice(files, found, several)),
    )


def _text_advice(files: Files, found: Irregular, several: int) -> Iterator[str]:
    """Yield what to do about the records of text files, of which several hold line ends."""
    text = files.text
    if found.invalid:
        fitting = " or ".join(_fitting_encodings(files)) or "the one that its program wrote"
        yield f"some text is not valid {text.encoding}; declare the encoding of the file: {fitting}"
    if found.not_objects:
        are = (
            "1 record is not a JSON object and counts as a row"
            if found.not_objects == 1
            else f"{found.not_objects:,} records are not JSON objects and count as rows"
        )
        yield f"{are} without values; write one object per line"
    if found.surplus:
        yield "some records have more fields than the header; a delimiter inside a field must be quoted"
    if files.has_header and len(files.header) == 1:
        yield "the header names one column; if the file has more, give their delimiter, such as ;"
    if found.further_lines > 0 and text.quoted and not text.strict_lines:
        yield "some quoted fields contain line ends; if the file does not quote fields, declare that"
    if found.backslashes and text.escape is None and text.quoted:
        yield "some quotes follow a backslash; if the file escapes quotes this way (Spark does), declare that"
    if text.strict_lines and found.otherwise < found.records:
        yield (
            f"there would be {found.otherwise:,} records if line ends inside quotes belonged to fields; do not declare "
            "strict lines if the writer puts line ends inside fields"
        )
    elif not text.strict_lines and several:
        are = "1 record contains" if several == 1 else f"{several:,} records contain"
        yield (
            f"{are} line ends; strict lines (--strict-lines) would split such records, so declare them only if the "
            "writer never puts line ends inside fields"
        )
    elif not text.strict_lines and found.otherwise < found.records:
        yield "blank lines are records of this file, which strict lines (--strict-lines) would leave out"
    elif not text.strict_lines:
        yield (
            "each record is one line: if the writer never puts line ends inside fields, declare strict lines "
            "(--strict-lines, strict_lines=True), so that a misplaced quote or line end in one row cannot change how "
            "other rows are read"
        )


def _fitting_encodings(files: Files) -> list[str]:
    """Return encodings in which the bytes of text files are text, by the bytes beyond ASCII."""
    found: set[int] = set()
    for path in files.paths:
        if path.lower().endswith((".gz", ".zst")):
            return ["latin-1", "cp1252"]
        with open(path, "rb") as opened:
            if opened.read(2) in (b"\xff\xfe", b"\xfe\xff"):
                return ["utf-16"]
            opened.seek(0)
            while piece := opened.read(1 << 22):
                found |= set(piece.translate(None, bytes(range(128))))
    # Latin-1 has control characters where cp1252 has quotation marks, dashes and the euro sign.
    marks = {code for code in found if code < 160}
    if not marks:
        return ["latin-1", "cp1252"]
    return [] if marks & {0x81, 0x8D, 0x8F, 0x90, 0x9D} else ["cp1252"]


class _FormOf(dict[int, str]):
    """The form of each character, by its number."""

    def __missing__(self, code: int) -> str:
        one = chr(code)
        return self.setdefault(code, "d" if one.isdigit() else "a" if one.isalpha() else one)


_FORMS = _FormOf()


def mask(value: str) -> str:
    """Return the form of a value: each digit as d, each letter as a, at most 24 characters."""
    return value[:_LONGEST_FORM].translate(_FORMS) + ("..." if len(value) > _LONGEST_FORM else "")


def _forms(values: Iterable[tuple[str, int]] | None) -> tuple[tuple[str, int], ...]:
    """Return the most frequent forms of values, with their rows."""
    found: Counter[str] = Counter()
    for value, rows in values or ():
        found[mask(value)] += rows
    return tuple(found.most_common(_FEW))


def _nothing(
    name: str, values: int, unread: int, forms: Sequence[tuple[str, int]], needed: str
) -> Iterator[tuple[str, str]]:
    """Yield an alarm if most values of a column cannot be used, with what can be read and what is there."""
    if values <= 0:
        yield name, f"column {name!r} has no values at all: is it the right file, and the right column?"
    elif unread > values / 2:
        shown = f" (here: {', '.join(repr(form) for form, _ in forms)})" if forms else ""
        said = f"NEARLY NOTHING of column {name!r} would be counted: {unread:,} of {values:,} values {needed}{shown}"
        yield name, f"{said}. A release would spend its budget on a table of nothing"


_NUMBERS = "are not numbers, which are written as 12, -3.5 or 1e6"
# Words in names of columns that identify people; some do so only at the end of a name.
_IDENTIFIERS = re.compile(
    "(^|_)(id|ids|pid|uid|mrn|ssn|pnr)[0-9]*(_|$)|(^|_)(nr|patient|person|subject|individual|participant|respondent|"
    "household|customer|client|user|member|student|pupil|employee|worker)s?[0-9]*$|people$|"
    "(^|_)(patient|pat|persone?n?|pers|subject|subj|participant|respondent|resp|household|hh|customer|cust|client|user|"
    "member|student|pupil|employee|emp|worker|case|fall|study|record|insured|nhs)_?(id|nr|no|num|number|nummer|code)$"
)


def all_columns(data: Any, text: TextFormat | None) -> list[str]:  # noqa: ANN401 - a path, or a frame
    """Return the names of the columns of a source that are there once, in their order."""
    if not isinstance(data, str | os.PathLike):
        names = list(nw.from_native(data).collect_schema().names())
    elif (files := find_files(data, text)).has_header:
        names = list(files.header)
    elif files.format == "parquet":
        names = hide_errors(files.named, lambda: pq.read_schema(files.paths[0]).names)
    elif files.format == "json":
        lines = json_line_batches(files.paths[0], files.text, pa.schema([("line", pa.string())]))
        batch = hide_errors(files.named, lambda: next(lines, None))
        first = json.loads(batch.column(0)[0].as_py() or "null") if batch is not None and batch.num_rows else None
        names = list(first) if isinstance(first, dict) else []
    else:
        names = hide_errors(files.named, lambda: column_names(files))
    return [name for name in names if isinstance(name, str) and name and names.count(name) == 1]


def identifies(name: str) -> bool:
    """Return whether a column looks as if it identified people, by its name."""
    words = re.sub("[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])", "_", name)
    return _IDENTIFIERS.search(words.lower()) is not None


def _identifiers(found: Sequence[SeenColumn]) -> Iterator[str]:
    """Yield an alarm for each column of identifiers that has values in several rows."""
    for column in found:
        rows = column.rows - column.nulls
        if column.distinct and rows > column.distinct > 1:
            yield (
                f"column {column.name!r} looks like an identifier, and its values repeat: {rows / column.distinct:.1f} "
                "rows each on average. Without a unit only single rows are protected: declare it with --unit "
                f"{column.name} (unit={column.name!r}) and --max-cells, or say that rows are units with --unit-is-row "
                '(unit="row")'
            )


def _header_alarms(files: Files | None) -> Iterator[str]:
    """Yield an alarm if rows above the first one of usual width seem to be titles."""
    if files is None or not (files.has_header or files.format == "workbook"):
        return
    path, text, most, alarm = files.paths[0], files.text, 1.0, ""
    # Titles hide what the delimiter is.
    for mark in dict.fromkeys((text.delimiter, *";\t|")) if files.has_header else [None]:
        rows = first_rows(path, text) if mark is None else first_records(path, evolve(text, delimiter=mark))
        widths = [sum(field not in ("", None) for field in fields) for fields in islice(rows, _LEADING)]
        if widths and (usual := median_high(widths)) > most:
            most, row = usual, next(n for n, width in enumerate(widths, 1) if width > usual / 2)
            flag = "" if mark == text.delimiter else f" --delimiter {mark!r}"
            said = f"row {row} seems to name the columns, below titles: pass --header-row {row}{flag}"
            alarm = said if row > text.header_row else ""
    if alarm:
        yield alarm


def _undeclared_alarms(found: Sequence[SeenColumn]) -> Iterator[str]:
    """Yield an alarm for each way of writing that values seem to have and that is not declared."""
    ways: dict[str, list[str]] = {}
    nulls = dict.fromkeys(word for column in found for word in column.written.get("null_values", ()))
    for column in found:
        marks = dict(column.written)
        held = "dates" if "date_format" in marks else "numbers"
        if marks.pop("null_values", ()):
            flags = f"--null-values {shlex.quote(','.join(nulls))}"
            ways.setdefault(f"declare {flags} for missing values", []).append(column.name)
        if column.or_else:
            both = f"{_flags(marks or {'decimal': '.'})} or {_flags(column.or_else)}"
            ways.setdefault(f"declare {both} for {held} that can be read in two ways", []).append(column.name)
        elif marks:
            ways.setdefault(f"declare {_flags(marks)} for {held}", []).append(column.name)
    for said, names in ways.items():
        more = f" and {len(names) - _FEW:,} more" if len(names) > _FEW else ""
        yield f"{said}, as it seems, in {', '.join(map(repr, names[:_FEW]))}{more}"


def _flags(written: Mapping[str, str]) -> str:
    quoted = {key: '"\'"' if value == "'" else shlex.quote(value) for key, value in written.items()}
    return " ".join(f"--{key.replace('_', '-')} {value}" for key, value in quoted.items())


_DIGITS = dict.fromkeys(map(ord, "23456789"), "1")
# What texts are read as, the first that nearly all of them are; of digits it matters only which are 0.
_READS = {
    "true or false": "true|false",
    "integers": r"[+-]?[0-9]{1,18}(\.0*)?",
    "numbers": NUMBER,
    "dates": "[0-9]{4}-[0-9]{2}-[0-9]{2}",
    # Midnight may be written as the day alone.
    "times": "[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}.*)?",
}
_NEARLY_ALL = 0.95
# Words that commonly stand for missing values, and other ways of writing that are tried where none is declared.
_WORDS = ("NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", ".", "-", "?")
_WAYS: tuple[dict[str, Any], ...] = (
    {},
    {"thousands": ","},
    {"decimal": ","},
    {"decimal": ",", "thousands": "."},
    *({"thousands": mark, **point} for mark in "' " for point in ({}, {"decimal": ","})),
    *({"date_format": way} for way in ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%d.%m.%y")),
    *({"date_format": f"{way} %H:%M"} for way in ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")),
)
# Of two ways that read the same texts, the likelier one first: a mark before three digits, and days up to 12.
_EITHER: tuple[tuple[dict[str, Any], dict[str, Any]], ...] = (
    ({}, {"decimal": ",", "thousands": "."}),
    ({"thousands": ","}, {"decimal": ","}),
    *(({"date_format": f"%d/%m/%Y{time}"}, {"date_format": f"%m/%d/%Y{time}"}) for time in ("", " %H:%M")),
)
# A column of more is no list of levels, nor of many numbers; of more values not every one is tried.
_MOST_LEVELS, _MOST_TRIED = 30, 1000
# Ends of drafted ranges, which are no values of the data.
_ENDS = [digit * 10**power for power in range(13) for digit in (1, 2, 5)]


def _read_as(values: Mapping[str, int], forms: Counter[str], text: TextValues) -> tuple[int, str, list[str]]:
    """Return what nearly all texts are, read as declared: in how many rows, and those texts."""
    written = {"numbers": text.number, **dict.fromkeys(("dates", "times"), text.time)}
    for kind, pattern in _READS.items():
        way = written.get(kind)
        reads = re.compile(way.pattern if way else pattern, re.IGNORECASE).fullmatch
        fits, left = set(), (1 - _NEARLY_ALL) * forms.total()
        known = 0
        for form, rows in forms.most_common():
            if reads(form):
                known += rows
                fits.add(form)
            elif (left := left - rows) < 0:
                break
        if left < 0 or not known:
            continue
        found = [value for value in values if value.translate(_DIGITS) in fits]
        if kind == "integers":
            found = [value.partition(".")[0] for value in found]
        elif way is not None:
            found = list(map(way.of, found))
        tried = found[:_MOST_TRIED] if kind in ("dates", "times") else []
        if sum(instant_of_value(one) is None for one in tried) <= (1 - _NEARLY_ALL) * len(tried):
            return known, "times" if tried and ":" in tried[0] else kind, found
    return 0, "text", list(values)


def _see(source: TableSource, column: Column, labels: Mapping[Any, str]) -> SeenColumn:
    """Return what a column holds, and a draft of its declaration."""
    name, kind, written = column.name, source.engine.kinds[column.name], {}
    ends: Any = (-math.inf, date(2000, 1, 1), math.inf) if kind == "datetime" else (-math.inf, math.inf)
    is_listed = kind not in ("datetime", "decimal")
    probe = _probe(column, levels=(_OTHER * 2,)) if is_listed else _probe(column, edges=ends)
    *inside, others, nulls = _by_code(source, probe).tolist()
    others += sum(inside)
    values: dict[str, int] = {}
    is_declared = True
    reads_as, distinct = "times" if kind == "datetime" else "numbers", None
    fits: list[str] = []
    or_else: dict[str, Any] = {}
    if is_listed:
        table = _aggregate(source, Domain([_probe(column)]), lambda found: found)
        # But what is no text, in an encoding that is not the right one.
        found = zip(table["t0"].to_pylist(), table["count"].to_pylist(), strict=True)
        values = {value: number for value, number in found if value.strip("\0")}
        is_whole = kind != "float" or sum(values.values()) == others
        values = values if is_whole else {}
        distinct = len(values) if is_whole else None
        words = {word: values[word] for word in _WORDS if kind == "text" and word in values}
        known = {value: number for value, number in values.items() if value not in words}
        forms: Counter[str] = Counter()
        for value, number in known.items():
            forms[value.translate(_DIGITS)] += number
        declared = column.text.declared.keys()
        said = {*declared, *(("decimal", "thousands") if declared & {"decimal", "thousands"} else ())}
        most = -1
        for way in [way for way in _WAYS if not way.keys() & said] if kind == "text" else [{}] * is_whole:
            read = _read_as(known, forms, TextValues(**way).over(column.text))
            if read[0] > most:
                (most, reads_as, fits), written = read, dict(way)
            if most == forms.total():
                break
        for way, other in _EITHER if kind == "text" and reads_as in ("numbers", "dates", "times") else ():
            if way == written and not other.keys() & said and ("date_format" in other) == (reads_as != "numbers"):
                again = _read_as(known, forms, TextValues(**other).over(column.text))
                or_else = other if again[:2] == (most, reads_as) else {}
        is_declared, declared_nulls = not written, column.text.nulls
        column = column.read_as(TextValues(**written))
        if words:
            nulls, others = nulls + sum(words.values()), others - sum(words.values())
            written["null_values"] = [*declared_nulls, *words]
    draft: dict[str, Any] = {}
    codes = sorted({*labels, *map(int, fits)}) if labels and reads_as == "integers" else sorted(labels)
    # Few values that many rows have are codes, whatever the name.
    if identifies(name) and not labels and (distinct is None or distinct > min(_MOST_LEVELS, others / 1000)):
        reads_as += ", an identifier by its name"
    elif labels and (len(codes) <= max(len(labels), _MOST_LEVELS)):
        # Labels of a few numbers of many, such as those of missing values, are no list of levels.
        draft = {"levels": codes}
        texts = [labels.get(code, str(code)) for code in codes]
        draft |= {"labels": texts} if len(set(texts)) == len(texts) else {}
    elif reads_as in ("dates", "times") and fits:
        # Only whole years, so that no day of anybody is in it; 0000 is none, and 9999 stands for an open end.
        if years := [int(year) for year in {one[:4] for one in fits} if "0000" < year < "9999"]:
            ends = {"from": date(min(years), 1, 1), "to": date(max(years) + 1, 1, 1)}
            draft = {"edges": ends | {"every": "year"}}
    elif fits and len(fits) <= min(_MOST_LEVELS, others / 2) and reads_as in ("true or false", "integers", "text"):
        draft = {"levels": sorted(map(int, fits)) if reads_as == "integers" else sorted(fits)}
        if kind == "boolean":
            draft = {"levels": [False, True]}
    elif reads_as in ("integers", "numbers"):
        edges: list[float] = [-math.inf, *(-end for end in reversed(_ENDS)), 0, *_ENDS, math.inf]
        if is_listed and fits:
            numbers = [float(one) for one in fits]
            bins = [bisect_right(edges, end) - 1 for end in (min(numbers), max(numbers))]
        else:
            bins = np.flatnonzero(_by_code(source, _probe(column, edges=edges))[:-2]).tolist()
        if bins:
            low, high = edges[bins[0]], edges[bins[-1] + 1]
            draft = {"range": [max(low, -_ENDS[-1]), min(high, _ENDS[-1])]}
    if nulls and "range" not in draft and draft:
        draft["missing"] = "missing"
    return SeenColumn(
        name=name,
        reads_as=reads_as if is_declared else f"{reads_as}, if so declared",
        rows=int(others + nulls),
        nulls=int(nulls),
        distinct=distinct,
        forms=_forms(values.items()),
        labels=tuple(labels.items()),
        written=written,
        or_else=or_else,
        draft=draft | (written if draft else {}),
    )


def _seen_columns(data: Any, asked: CheckArguments, names: Sequence[str], **opening: Any) -> tuple[SeenColumn, ...]:  # noqa: ANN401
    """Return what columns hold."""
    found: list[SeenColumn] = []
    if not names:
        return ()
    labels = {} if (files := _files(data, asked.text)) is None else value_labels(files)
    columns = [asked.domain[name] if name in asked.domain else Column(name=name) for name in names]
    columns = [column.read_as(asked.values) for column in columns]
    loaded = _load(data, files, asked.text, columns, **opening)
    opening = opening if loaded is data else {}
    for name, column in zip(names, columns, strict=True):
        with headers_in_errors():
            try:
                source = open_source(loaded, columns=[name], text=asked.text if loaded is data else None, **opening)
            except ArgumentError:
                # Of a type that is not read.
                continue
            with source:
                described = ("text", "integer", "float", "boolean", "object", "date", "decimal", "datetime")
                if source.engine.kinds[name] in described:
                    found.append(_see(source, column, labels.get(name, {})))
    return tuple(found)


def _files(data: object, text: TextFormat | None) -> Files | None:
    return find_files(data, text) if isinstance(data, str | os.PathLike) else None


def _load(data: Any, files: Files | None, text: TextFormat | None, columns: Sequence[Column], **opening: Any) -> Any:  # noqa: ANN401
    """Return files as an Arrow table, which would be read once for each column otherwise; large ones as they are."""
    if files is None or files.format == "parquet" or opening["engine"] == "spark":
        return data
    size = sum(os.path.getsize(path) * (8 if path.lower().endswith((".gz", ".zst")) else 1) for path in files.paths)
    if size > _MOST_LOADED:
        return data
    names = [column.name for column in columns]
    with open_source(data, columns=names, text=text, **opening) as source:
        query = CountQuery(marginals=(Domain([_probe(column, levels=(_OTHER * 2,)) for column in columns]),))
        table = hide_errors(source.name, lambda: collect(source.engine.frame(query)))
    return table.select([safe_name(name) for name in names]).rename_columns(list(names))


# Bytes of files that are read into memory.
_MOST_LOADED = 1 << 30


def draft_of(seen: Sequence[SeenColumn]) -> str:
    """Return a draft of a domain file, which `ggdp.Domain.from_toml` refuses until its mark is removed."""
    parts = [
        "# NOT PRIVATE: `ggdp check` has made this draft from the data, without noise. Do not publish it, or use it",
        "# as it is: a level, an edge or a range that only the data know reveals who is in them. Correct each column",
        "# by the code book, then remove the next line.\nnot_private_draft = true\n",
    ]
    for column in seen:
        share = f"{column.nulls / column.rows:.0%} missing" if column.rows else "no rows"
        number = "" if column.distinct is None else f", {column.distinct:,} different"
        said = f"# {column.reads_as}{number}, {share}" + (", readable in two ways" if column.or_else else "")
        if column.draft:
            lines = [f"{key} = {toml_text(value)}" for key, value in column.draft.items()]
            parts.append("\n".join([f"[columns.{toml_text(column.name)}]  {said}", *lines, ""]))
        else:
            parts.append(f"# {toml_text(column.name)} is not declared: an identifier, or free text? {said[2:]}\n")
    return "\n".join(parts)


_FEW = 5
# Rows among which titles may be.
_LEADING = 50
# This share of the values is worth a thought.
_MANY = 0.05
_LONGEST_FORM = 24
# Names that no level has: they are for private use.
_OTHER, _MISSING = "\ue000", "\ue001"


@takes_data(CheckArguments, TextOptions)
def check_table(
    data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
    by: Any = None,  # noqa: ANN401 - as the record has it
    domain: Any = None,  # noqa: ANN401
    **given: Any,  # noqa: ANN401
) -> TableCheck:
    """Compare a source with its domain before a release. NOT private: do not publish the result.

    Parameters
    ----------
    data : path or frame
        As for `ggdp.release_table`.
    {arguments}

    Returns
    -------
    TableCheck
        What the columns hold, the tables, the units, and how records of text files were read.

    Raises
    ------
    ArgumentError
        If the request is invalid, or does not match the columns of the data.
    SourceError
        If the data cannot be read.

    Notes
    -----
    Do not use the result in the request: a level that is known only from the data must not be declared,
    or the domain would reveal who has it. Take levels from a code book.

    Examples
    --------
    >>> import ggdp, pyarrow as pa
    >>> people = pa.table({"smokes": ["no", "yes", "No", None, "no"]})
    >>> found = ggdp.check_table(people, by="smokes", domain={"smokes": ["no", "yes", "sometimes"]})
    >>> found.columns[0].nulls, found.columns[0].most_frequent, found.columns[0].unseen
    (1, (('No', 1),), ('sometimes',))
    """
    # All is checked before a file is opened.
    asked = CheckArguments(by, domain, **given)
    goal = as_goal(None, asked.epsilon, asked.delta)
    opening: dict[str, Any] = {"engine": asked.engine, "temp_dir": asked.temp_dir}
    target, text = asked.draft_domain, asked.text
    given = {name: value for name, value in given.items() if name in options(TableRequest)}
    if target is not None and os.path.lexists(target):
        raise ArgumentError("draft_domain", str(target), "already exists; name another file")
    asks_nothing = by is None and not any(checked_statistics(given.get("statistics", ())))
    with headers_in_errors():
        names, files = all_columns(data, text), _files(data, text)
        titles = list(_header_alarms(files))
    # What may be the delimiter, where the first line is one field.
    first = files.header[0] if files is not None and files.has_header and len(files.header) == 1 else ""
    mark = next((mark for mark in ";\t|" if mark in first), None)
    seen = _seen_columns(data, asked, names, **opening) if mark is None and (asks_nothing or target is not None) else ()
    if target is not None and mark is not None:
        said = "needs the {delimiter} of the file: its first line is one field that contains {mark!r}"
        raise ArgumentError("draft_domain", str(target), Message(said, mark=mark))
    if target is not None:
        write_together({Path(target): draft_of(seen).encode()}, overwrite=False)
    is_declared = given.get("unit") is not None or given.get("unit_is_row")
    counted = {name for names in asked.by for name in names}
    suspects = [] if is_declared else [name for name in names if identifies(name) and name not in counted]
    repeated = seen if asks_nothing or mark is not None else _seen_columns(data, asked, suspects, **opening)
    people = [one for one in repeated if one.name in suspects and "identifier" in one.reads_as]
    records = text_check(data, text)
    alarms = [*_identifiers(people), *_undeclared_alarms(seen)]
    if mark is not None:
        said = f"the first line is one field that contains {mark!r}: if it is the delimiter, pass --delimiter {mark!r}"
        alarms.insert(0, said)
    if records is not None and records.invalid:
        alarms.insert(0, f"in {records.invalid:,} of {records.records:,} rows {records.advice[0]}")
    alarms = [*titles, *alarms]
    if asks_nothing:
        rows = max((column.rows for column in seen), default=0)
        nothing: dict[str, Any] = {"regime": "open", "columns": (), "marginals": (), "units": None}
        return TableCheck(rows=rows, text=records, alarms=tuple(alarms), seen=seen, **nothing)
    request = _request_of(by, domain, given)
    declared = {column.name: column for marginal in request.domains for column in marginal}
    with headers_in_errors(), open_source(data, **request.reading, **opening) as source:
        # With the values that statistics are of, so that columns that have no numbers are refused.
        measured = plan_statistics(request).measured if request.statistics else ()
        source.check(CountQuery(marginals=request.domains, measured=measured))
        columns = tuple(_column(source, column) for column in declared.values())
        asked_of = dict.fromkeys(statistic.column for statistic in request.each_statistic)
        ranges = tuple(found for name in asked_of for found in _ranges(source, request, request.column(name)))
        rows = columns[0].rows if columns else ranges[0].rows
        marginals = tuple(_marginal(source, marginal) for marginal in request.domains if len(marginal))
        units = None if request.unit is None else _units(source, request.unit, request, marginals, rows, goal)
    unreadable = list(_unreadable(columns, ranges, request))
    if not seen:
        # How they seem to be written.
        looked_at = list(dict.fromkeys(name for name, _ in unreadable if name in names))
        alarms = [*_undeclared_alarms(_seen_columns(data, asked, looked_at, **opening)), *alarms]
    is_too_large = request.regime == "declared" and request.numbered_cells > MOST_IN_MEMORY
    return TableCheck(
        rows=rows,
        regime="sparse" if is_too_large else request.regime,
        columns=columns,
        marginals=marginals,
        units=units,
        ranges=ranges,
        text=records,
        alarms=tuple(dict.fromkeys([*(alarm for _, alarm in unreadable), *alarms])),
        seen=seen,
    )


def _request_of(by: Any, domain: Any, given: Mapping[str, Any]) -> TableRequest:  # noqa: ANN401 - as the record has it
    """Return the request that a check is of; a check has no guarantee, so any goal with a delta will do."""
    given = {**given, "goal": ApproxDP(1.0, 1e-9)}
    if (given.get("unit"), given.get("unit_is_row")) == (ROW, None):
        given |= {"unit": None, "unit_is_row": True}
    if given.get("unit") is not None:
        given["max_cells"] = given.get("max_cells") or 1
    try:
        return TableRequest(by=by, domain=domain, **given)
    except ArgumentError as refused:
        if refused.argument != "by":
            raise
        # What is too large to be listed may still be a sparse table.
        return TableRequest(by=by, domain=domain, **given, false_cells=1.0)


def _unreadable(
    columns: Sequence[ColumnCheck], ranges: Sequence[RangeCheck], request: TableRequest
) -> Iterator[tuple[str, str]]:
    """Yield the columns of which nearly nothing would be counted, and those that are not as complete as declared."""
    dated = {one.name for one in columns if request.column(one.name).dated}
    checked: tuple[ColumnCheck | RangeCheck, ...] = (*columns, *ranges)
    for one in checked:
        of_range = isinstance(one, RangeCheck)
        relying = one.nulls + (one.not_numbers if isinstance(one, RangeCheck) else one.unmatched)
        if relying > _MANY * one.rows:
            for alarm in _relying(request.column(one.name), one.rows, relying, of_range=of_range):
                yield one.name, alarm
    for column in (one for one in columns if not request.column(one.name).complete):
        unread = column.unmatched if column.declared != "open" else 0
        times = "are not dates or times, which are written as 2024-01-31 or 2024-01-31T12:30"
        unparsable = times if column.name in dated else _NUMBERS
        matched = "are in no bin" if column.declared == "bins" else "match no level"
        needed = unparsable if column.unparsable > unread / 2 else matched
        yield from _nothing(column.name, column.rows - column.nulls, unread, column.forms, needed)
    for name in dict.fromkeys(one.name for one in ranges if not request.column(one.name).complete):
        # Of all levels together, where ranges are by level.
        own = [one for one in ranges if one.name == name]
        values, unread = sum(one.rows - one.nulls for one in own), sum(one.not_numbers for one in own)
        yield from _nothing(name, values, unread, max(one.forms for one in own), _NUMBERS)


def _relying(column: Column, rows: int, relying: int, *, of_range: bool = False) -> Iterator[str]:
    """Yield how many rows rely on what a complete column declares; nothing if none do."""
    if column.complete and relying:
        have, counted = (
            ("number", "the middle of the range") if of_range else ("declared level", repr(column.labels[0]))
        )
        yield (
            f"column {column.name!r} is declared complete, and {relying:,} of {rows:,} rows have no {have}: they are "
            f"counted as {counted}"
        )


def _column(source: TableSource, column: Column) -> ColumnCheck:
    """Return what one column holds."""
    is_open = column.kind == "open"
    # Nothing equals this level: all values of an open column are others.
    levels = (_OTHER * 2,) if is_open else column.levels
    probe = _probe(column, levels=levels, edges=column.edges)
    counts = _by_code(source, probe)
    nulls, unmatched, unparsable = int(counts[-1]), 0 if is_open else int(counts[-2]), 0
    unread: list[tuple[str, int]] | None = []
    if unmatched and column.kind == "bins":
        inner = [edge for edge in column.edges or () if edge not in (-math.inf, math.inf)]
        anywhere = _probe(column, edges=(-math.inf, *inner, math.inf))
        unparsable = int(_by_code(source, anywhere)[-2])
        unread = _unmatched_values(source, anywhere, anywhere) if unparsable else []
    values = _unmatched_values(source, column, probe) if unmatched else []
    distinct = None if values is None else len(values)
    if is_open:
        number = _aggregate(source, Domain([column]), lambda found: found.select(nw.len().alias("n")))
        distinct = number["n"][0].as_py()
    advice: tuple[tuple[object, str], ...] = (
        (is_open, "no levels are declared: they would be chosen privately, which needs a delta and omits rare ones"),
        (
            unmatched and column.other_code is None,
            "rows that match no level would not be counted: declare a level `other` for them",
        ),
        (unmatched, "a level seen only in the data must not be declared: take levels from a code book"),
        (
            nulls and column.missing_code is None and not is_open,
            "rows without a value would not be counted: declare a level `missing` for them",
        ),
        *((True, said) for said in _relying(column, int(counts.sum()), nulls + unmatched)),
    )
    return ColumnCheck(
        name=column.name,
        declared=column.kind,
        rows=int(counts.sum()),
        nulls=nulls,
        unmatched=unmatched,
        unparsable=unparsable,
        distinct_unmatched=distinct,
        most_frequent=tuple((values or [])[:_FEW]),
        forms=_forms(unread),
        unseen=tuple(level for level, count in zip(column.levels or (), counts, strict=False) if not count),
        advice=tuple(said for applies, said in advice if applies),
    )


def _ranges(source: TableSource, request: TableRequest, column: Column) -> Iterator[RangeCheck]:
    """Yield what the public range of a column, or of each level, would clamp, of rows and of the sums of units."""
    values = request.values_in(column.name)
    assert values is not None
    levels, by = (values.levels, [request.column(values.by)]) if isinstance(values, LevelRanges) else ((None,), [])
    # The last bin has its end; so the end of a range is inside.
    ends = [(float(one.low), math.nextafter(float(one.high), math.inf)) for one in values.ranges]
    edges = (-math.inf, *sorted({end for pair in ends for end in pair}), math.inf)
    counts = _by_code(source, *by, _probe(column, edges=edges)).reshape(len(levels), -1)
    # Truths are numbers here, 0 and 1, though no bin of numbers holds them.
    unread = counts[:, -2] * (source.engine.kinds[column.name] != "boolean")
    anywhere = _probe(column, edges=(-math.inf, math.inf))
    forms = _forms(_unmatched_values(source, anywhere, anywhere)) if unread.any() else ()
    measures = [
        measure_of(request, statistic) for statistic in request.each_statistic if statistic.column == column.name
    ]
    totals: dict[str, NDArray[np.int64]] = {}
    if summed := tuple(SummedMeasure(measure, squares=False) for measure in measures if measure.rule == "sum"):
        # No cell is left out, so that the key decides nothing.
        limits = {"unit": request.unit, "unit_nulls": request.unit_limits["unit_nulls"]}
        asked = zip(request.domains, request.table_statistics, strict=True)
        domains = tuple(domain for domain, statistics in asked if any(one.column == column.name for one in statistics))
        query = CountQuery(marginals=domains, **limits, measured=summed[:1], key=bytes(16))
        totals = {f"totals_{end}": np.zeros(len(levels), dtype=np.int64) for end in ("below", "above")}
        for found in (found for table in source.answer(query, clamped_totals) for found in table.to_pylist()):
            for end in ("below", "above"):
                totals[f"totals_{end}"][found["code"]] += int(found[end])
    for place, (level, one, (low, high), row) in enumerate(zip(levels, values.ranges, ends, counts, strict=True)):
        below, above = int(row[: edges.index(low)].sum()), int(row[edges.index(high) : -2].sum())
        advice = []
        if below + above > _MANY * row[:-2].sum():
            advice.append("many values would be clamped: is this the range that the code book gives?")
        advice += _relying(column, int(row.sum()), int(unread[place] + row[-1]), of_range=True)
        if unread[place] and not column.complete:
            advice.append("values that are not numbers are left out of the statistics")
        yield RangeCheck(
            name=column.name,
            range=str(one),
            level=level,
            rows=int(row.sum()),
            nulls=int(row[-1]),
            not_numbers=int(unread[place]),
            below=below,
            above=above,
            **{name: int(found[place]) for name, found in totals.items()},
            forms=forms if unread[place] else (),
            advice=tuple(advice),
        )


def _probe(column: Column, **declared: Any) -> Column:  # noqa: ANN401 - levels or edges
    """Return a column in which every row has a code, or an open one, whose text is read as that of another."""
    roles: dict[str, Any] = {"other": _OTHER, "missing": _MISSING} if declared else {}
    return Column(name=column.name, **roles, **declared, **column.text.declared)


def _by_code(source: TableSource, *columns: Column) -> NDArray[np.int64]:
    """Return how many rows have each code of a column, or are in each cell of several."""
    domain = Domain(columns)
    (counted,) = source.count(CountQuery(marginals=(domain,)))
    found = np.zeros(domain.size, dtype=np.int64)
    found[counted.cells] = counted.counts
    return found


def _unmatched_values(source: TableSource, column: Column, probe: Column) -> list[tuple[str, int]] | None:
    """Return the values that match no level, most frequent first; None for columns that cannot be listed."""
    if source.engine.kinds[column.name] not in ("text", "integer", "boolean", "date"):
        return None

    def others(found: Frame) -> Frame:
        if column.kind != "bins":
            return found
        rewriting = column.rewriting if source.engine.kinds[column.name] == "text" else None
        found = found.with_columns(d0=declared_text(nw.col("t0"), (), rewriting))
        found = found.with_columns(r0=read_text(nw.col("d0"), column))
        codes = bin_codes(nw.col("d0"), "text", probe, nw.String(), source.engine.dialect, nw.col("r0"))
        return found.filter(codes == probe.other_code).drop("d0", "r0")

    def canonical(value: str) -> str:
        """Return the text of the level that a value matches (`ggdp.sources.codes`)."""
        if column.rewriting is not None and source.engine.kinds[column.name] == "text":
            value = column.rewriting.of(value)
        if column.kind == "integer" and re.fullmatch(r"[+-]?[0-9]+(\.0*)?", value, re.ASCII):
            return str(int(value.partition(".")[0]))
        return value.lower() if column.kind == "boolean" else value

    table = _aggregate(source, Domain([_probe(column)]), others)
    values = zip(table["t0"].to_pylist(), table["count"].to_pylist(), strict=True)
    known = set(column.texts)
    left = [(value, count) for value, count in values if canonical(value) not in known]
    return sorted(left, key=lambda pair: (-pair[1], pair[0]))


def _marginal(source: TableSource, marginal: Domain) -> MarginalCheck:
    table = _aggregate(
        source, marginal, lambda found: found.select(nw.len().alias("n"), nw.col("count").sum().alias("rows"))
    )
    size = None if marginal.is_open else marginal.possible_size
    rows = int(table["rows"][0].as_py() or 0)
    apart = _marginal(source, Domain(marginal.columns)).rows - rows if marginal.impossible else 0
    return MarginalCheck(by=marginal.names, cells=size, filled=table["n"][0].as_py(), rows=rows, impossible_rows=apart)


def _units(
    source: TableSource,
    unit: str,
    request: TableRequest,
    marginals: Sequence[MarginalCheck],
    rows: int,
    goal: Guarantee,
) -> UnitCheck:
    """Return how many cells units are in, table by table, and what each `max_cells` leaves and costs."""
    column = _probe(request.column(unit))
    whole = _marginal(source, Domain([column]))
    found = []
    # Without columns all rows are one cell.
    filled = [checked.filled for checked in marginals] or [1]
    if not goal.delta:
        # The order of pure DP; keys that are not public need a delta.
        request = evolve(request, order=1.0 if request.order == AUTO else request.order)
        goal = goal if request.cells is not None else ApproxDP(goal.epsilon, request.goal.delta)
    for marginal, size, cells_filled in zip(request.domains, request.sizes, filled, strict=True):
        pairs = Domain([column, *marginal], impossible=marginal.impossible)
        table = _aggregate(source, pairs, lambda found: _sizes(_sizes(found, "t0", "cells"), "cells", "units"))
        cells, units = (np.array(table[name].to_pylist(), dtype=np.int64) for name in ("cells", "units"))
        # Units that are in no cell.
        cells, units = np.append(cells, 0), np.append(units, whole.filled - int(units.sum()))
        rows_of = _aggregate(source, pairs, lambda found: _sizes(found, "count", "pairs"))
        most, number = (np.array(rows_of[name].to_pylist(), dtype=np.int64) for name in ("count", "pairs"))
        total, largest, choices = int((cells * units).sum()), int(cells.max()), []
        # 1, 2, 3, 5, 10, 20, 30, 50, ... up to the first that leaves out nothing, or all cells.
        limits = [digit * 10**power for power in range(len(str(largest)) + 1) for digit in (1, 2, 3, 5)]
        limits = limits[: bisect_left(limits, largest) + 1] if request.total is None else [1]
        for limit in dict.fromkeys(limit if size is None else min(limit, size) for limit in limits):
            kept = int((np.minimum(cells, limit) * units).sum())
            # Where none are cut, they are not counted either.
            share = request.count_cut if any(size is None or size > limit for size in request.sizes) else None
            half_width = plan_request(evolve(request, goal=goal, max_cells=limit, count_cut=share)).half_width
            choices.append(
                {
                    "max_cells": limit,
                    "kept": kept / total if total else 1.0,
                    "cut": (total - kept) / cells_filled if cells_filled else 0.0,
                    "units_cut": int(units[cells > limit].sum()),
                    "plus_minus": half_width,
                }
            )
        best = min(choices, key=lambda choice: (choice["plus_minus"] + choice["cut"], choice["max_cells"]))
        found.append(
            {
                "by": marginal.names,
                "quantiles": quantiles(cells, units),
                "choices": tuple(choices),
                "recommended": best["max_cells"],
                "row_quantiles": quantiles(most, number),
            }
        )
    noise = {"epsilon": goal.epsilon, "delta": goal.delta}
    return UnitCheck(column=unit, units=whole.filled, null_rows=rows - whole.rows, tables=tuple(found), **noise)


def _sizes(found: Frame, key: str, name: str) -> Frame:
    """Return the number of rows of each key, under a name."""
    return found.group_by(key).agg(nw.len().alias(name))


def _aggregate(source: TableSource, marginal: Domain, then: Callable[[Frame], Frame]) -> pa.Table:
    """Return what an engine makes of the non-empty keys of a marginal (`t0` or `k0`, ..., `count`)."""
    (table,) = source.answer(CountQuery(marginals=(marginal,)), lambda query: then(keys(query)))
    return table
