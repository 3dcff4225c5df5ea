r"""Filters of rows on every engine: which rows a filter (`ggdp.domain.filters`) holds for, as one expression.

=======  ===============================================  ==========================================================
reading  kinds of columns                                 a value of the column
=======  ===============================================  ==========================================================
number   text, integer, float, decimal, boolean, object   as in bins, rounded to a 64-bit float, which no comparison
                                                          with a number of at most 2^53 notices; a truth is none
text     all but datetime                                 its canonical text as that of a text level
truth    all but datetime                                 its canonical text as that of a true or false level
time     text, integer, float, boolean, date, datetime,   as in bins of time; a number is none
         object
null     all of these                                     nulls, NaN, and text that is no UTF-8
=======  ===============================================  ==========================================================

Which kinds a reading takes is decided by the schema, before a row is read. Python values of pandas are read one by one
(`ggdp.sources.dataframes`), for each reading into a column of its own (`reading_name`).

Claim. Whether a row is counted is a function of this row, and is evaluated without an error, whatever the row holds.
Each condition is "the value has the reading, and compares so": nothing is cast but text that has been matched with a
pattern of numbers, and numbers to floats. So it is true or false and never null, whatever an engine makes of nulls.
A filter is evaluated on the rows as they are read, before anything is grouped (`ggdp.sources.query`): what is counted
is the table of the rows that it keeps, and what a unit adds to that is a function of the unit's own rows.

`like` is a regular expression that matches the whole text. Where an engine tries all ways to match one (Java), each
part after a % is matched once, as far to the left as possible, which finds a match whenever there is one: else one long
text could keep the engine busy for years.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from operator import eq, ge, gt, le, lt, ne
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw

from ggdp.domain import periods
from ggdp.domain.filters import Combination, Condition, Filter, Reading, conditions
from ggdp.errors import ArgumentError
from ggdp.sources.codes import (
    canonical_text,
    declared_text,
    kind_of,
    text_as_float,
    text_as_instant,
    time_conditions,
    time_literal,
)
from ggdp.sources.counting import writable
from ggdp.sources.engine import Frame, safe_name

if TYPE_CHECKING:
    from ggdp.sources.engine import Dialect

_OF_PANDAS = {"text", "integer", "float", "boolean", "object"}
_KINDS: dict[Reading, set[str]] = {
    "number": _OF_PANDAS | {"decimal"},
    "text": _OF_PANDAS | {"decimal", "date"},
    "truth": _OF_PANDAS | {"decimal", "date"},
    "time": _OF_PANDAS | {"date", "datetime"},
    "null": _OF_PANDAS | {"decimal", "date", "datetime"},
}
_COMPARE: dict[str, Callable[[nw.Expr, Any], nw.Expr]] = {"=": eq, "<>": ne, "<": lt, "<=": le, ">": gt, ">=": ge}
_COMPARED = {"number": "numbers", "text": "text", "truth": "true and false", "time": "dates", "null": "null"}


def reading_name(column: str, reading: str) -> str:
    """Return the internal name of a column of what was read of Python values, beside their texts."""
    return f"{safe_name(column)}_as_{reading}"


def require_readable(where: Filter, kinds: Mapping[str, str]) -> None:
    """Raise if a column of a filter cannot be read as its values are; no row is read."""
    for condition in conditions(where):
        kind = kinds[condition.column]
        is_refused = condition.part in ("month", "weekday") and kind == "datetime"
        if is_refused or kind not in _KINDS[condition.reading]:
            what = f"taken the {condition.part} of" if is_refused else f"compared with {_COMPARED[condition.reading]}"
            how = "compare it with date '2024-01-31'" if kind in ("date", "datetime") else "cast the column first"
            how = "cast the column to dates first" if is_refused else how
            said = f"{condition.column!r} is a column of kind {kind} and cannot be {what}: {how}"
            raise ArgumentError("where", str(condition), said)


def filtered(where: Filter, frame: Frame, kinds: Mapping[str, str], dialect: Dialect) -> Frame:
    """Return the rows that a filter keeps, with what was read of them beside their columns."""
    # Text is read as times once, and not again for every edge; in two steps, since the second mentions it often.
    texts, times = {}, {}
    for one in conditions(where):
        value, kind, _ = _value(one, frame, kinds, dialect)
        in_minutes = one.part in ("month", "weekday")
        if one.reading == "time" and (kind in ("text", "object") or (in_minutes and kind == "date")):
            name = _instant_name(one)
            is_date = kind == "date"
            texts[f"{name}_text"] = canonical_text(writable(dialect, value, kind), kind, "text") if is_date else value
            times[name] = text_as_instant(nw.col(f"{name}_text"), minutes=in_minutes)
    if times:
        frame = frame.with_columns(**texts).with_columns(**times)
    return frame.filter(row_filter(where, frame, kinds, dialect))


def _instant_name(where: Condition) -> str:
    """Return the internal name of what text in a column is as a time, in microseconds, or in minutes."""
    return f"{reading_name(where.column, 'time')}_in_{'min' if where.part in ('month', 'weekday') else 'us'}"


def _value(where: Condition, frame: Frame, kinds: Mapping[str, str], dialect: Dialect) -> tuple[nw.Expr, str, str]:
    """Return what a condition reads, its kind, and the internal name of its column."""
    schema = frame.collect_schema()
    name, kind = reading_name(where.column, where.reading), kinds[where.column]
    # Python values were read one by one as they are declared.
    is_read = name in schema.names()
    if is_read:
        kind = kind_of(schema[name])
    else:
        name = safe_name(where.column)
    value = nw.col(name)
    if kind == "text":
        text = dialect.text(value.cast(nw.String))
        # What stands for text that is no UTF-8 in a column with declared levels (`codes.text_of_invalid`).
        value = nw.when(~text.str.contains(r"^\x00+\z")).then(text)
        value = value if is_read else declared_text(value, where.text.nulls, where.rewriting)
    return value, kind, name


def row_filter(where: Filter, frame: Frame, kinds: Mapping[str, str], dialect: Dialect) -> nw.Expr:
    """Return whether a filter holds for a row: true or false, never null."""
    if isinstance(where, Combination):
        return _joined(where.operator, [row_filter(part, frame, kinds, dialect) for part in where.parts])
    value, kind, name = _value(where, frame, kinds, dialect)
    missing = value.is_null() | value.is_nan() if kind == "float" else value.is_null()
    if where.reading == "null":
        return missing if where.operator == "is null" else ~missing
    if where.reading == "time":
        return _time_holds(where, value, kind, frame.collect_schema()[name], dialect)
    if where.reading == "number":
        if kind == "boolean":
            return missing & ~missing
        number = text_as_float(value) if kind in ("text", "object", "decimal") else value.cast(nw.Float64)
        return _holds(nw.when(~missing).then(number), where.operator, [float(one) for one in where.values])  # type: ignore[arg-type]
    declared = "boolean" if where.reading == "truth" else "text"
    text = canonical_text(writable(dialect, value, kind), kind, declared)
    if where.reading == "truth":
        truths = [str(one).lower() for one in where.values]
        return ((text == "true") | (text == "false")) & _holds(text, where.operator, truths)
    if "like" in where.operator:
        matches = text.str.contains(like_pattern(str(where.values[0]), tries_all_ways=dialect.tries_all_ways))
        return ~text.is_null() & (matches if where.operator == "like" else ~matches)
    return _holds(text, where.operator, where.values)


def like_pattern(pattern: str, *, tries_all_ways: bool) -> str:
    """Return a regular expression for the whole text that a pattern of `like` matches."""
    first, *parts = (
        "".join("." if c == "_" else c if c.isalnum() or ord(c) > 127 else f"\\x{ord(c):02x}" for c in part)
        for part in re.split("%+", pattern)
    )
    if not parts:
        return rf"(?s)^{first}\z"
    *middle, last = parts
    found = (f"(?>.*?{part})" if tries_all_ways else f".*{part}" for part in middle)
    return rf"(?s)^{first}{''.join(found)}.*{last}\z"


def _holds(read: nw.Expr, operator: str, values: Sequence[Any]) -> nw.Expr:
    """Return whether there is a reading, and compares so."""
    if operator in _COMPARE:
        return ~read.is_null() & _COMPARE[operator](read, values[0])
    among = _joined("or", [read == value for value in values])
    return ~read.is_null() & (among if operator == "in" else ~among)


def _time_holds(where: Condition, value: nw.Expr, kind: str, dtype: nw.dtypes.DType, dialect: Dialect) -> nw.Expr:
    """Return whether a value is a time in the years 1 to 9999, and compares so."""
    if kind in ("integer", "float", "boolean"):
        return value.is_null() & ~value.is_null()
    is_text = kind in ("text", "object")
    if where.part in ("month", "weekday"):
        part = (_month if where.part == "month" else _weekday)(nw.col(_instant_name(where)))
        return _holds(part, where.operator, [float(one) for one in where.values])  # type: ignore[arg-type]
    instants = nw.col(_instant_name(where)) if is_text else None

    def reaches(edge: periods.Edge) -> nw.Expr:
        """Return whether a time is at or after an edge."""
        read, (found, *_) = time_conditions(value, instants, [edge], dtype, dialect)
        never = read.is_null() & ~read.is_null()
        return found if isinstance(found, nw.Expr) else ~never if found else never

    def after(compared: Any) -> nw.Expr:  # noqa: ANN401 - a year, a day or a time
        """Return whether a time is after all that is equal to a value."""
        if where.part is not None:
            return reaches(date(compared + 1, 1, 1) if compared < 9999 else math.inf)
        if instants is not None:
            return instants > int(periods.instant(compared))
        literal = time_literal(compared, dtype, dialect)
        return reaches(compared) if literal is None else value > literal

    def compare(operator: str, compared: Any) -> nw.Expr:  # noqa: ANN401
        start = date(compared, 1, 1) if where.part is not None else compared
        ways = {"<": lambda: ~reaches(start), ">=": lambda: reaches(start), ">": lambda: after(compared)}
        ways |= {"<=": lambda: ~after(compared), "=": lambda: reaches(start) & ~after(compared)}
        return ways[operator]()

    read, _ = time_conditions(value, instants, [], dtype, dialect)
    is_negated = where.operator in ("<>", "not in")
    operator = "=" if is_negated or where.operator == "in" else where.operator
    found = _joined("or", [compare(operator, one) for one in where.values])
    known = ~read.is_null() & reaches(-math.inf) & ~reaches(math.inf)
    return known & (~found if is_negated else found)


def _days(minutes: nw.Expr) -> nw.Expr:
    """Return the day of minutes since 1970, in floats that are whole numbers; halves keep quotients from integers."""
    return ((minutes.cast(nw.Float64) + 0.5) / 1440.0).floor()


def _weekday(minutes: nw.Expr) -> nw.Expr:
    """Return the day of the week of minutes since 1970, from 1 for Monday to 7."""
    # The first day of 1970 was a Thursday.
    days = _days(minutes) + 3.0
    return days - ((days + 0.5) / 7.0).floor() * 7.0 + 1.0


def _month(minutes: nw.Expr) -> nw.Expr:
    """Return the month of minutes since 1970, as Hinnant shows: years begin in March, and 400 have 146,097 days."""
    days = _days(minutes) + 719_468.0

    def part(number: nw.Expr, divisor: float) -> nw.Expr:
        return ((number + 0.5) / divisor).floor()

    days = days - part(days, 146_097.0) * 146_097.0
    year = part(days - part(days, 1460.0) + part(days, 36_524.0) - part(days, 146_096.0), 365.0)
    day = days - (year * 365.0 + part(year, 4.0) - part(year, 100.0))
    month = part(day * 5.0 + 2.0, 153.0)
    return nw.when(month < 10.0).then(month + 3.0).otherwise(month - 9.0)


def _joined(operator: Literal["and", "or"], parts: Sequence[nw.Expr]) -> nw.Expr:
    """Return all parts joined, as a tree that is not deep."""
    if len(parts) == 1:
        return parts[0]
    left, right = (_joined(operator, half) for half in (parts[: len(parts) // 2], parts[len(parts) // 2 :]))
    return left & right if operator == "and" else left | right
