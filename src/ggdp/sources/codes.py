r"""What the values of a column mean, the same on every engine: kinds of columns, canonical texts, bins and codes.

A column of data has a *kind*, which its schema alone decides; a declared column (`ggdp.domain.column`) has one as well.

Text is all that a schema calls so: strings, categories, enumerations, dictionaries of strings, UUIDs, columns of nulls,
every column of a CSV or JSON file, and all categorical columns of pandas; objects are pandas' columns of Python values.
`_DECLARED` says which kinds go with which declarations. All else (durations, lists, polars' Python objects, ...) is
refused before any value is read, by an error that names request and schema only. Units may be of every kind but decimal
and datetime.

The type of a pandas column follows from its values: one null makes a column of integers a float one and a column of
booleans an object one, one text makes both object columns, and without any value a column of text is a float one. The
same holds for files that pandas has written. So text, integers, floats, booleans and objects go with every declaration,
and may be units: else one row would decide whether a release succeeds. What does not fit is `other`. The type of
pandas' categories follows from the data as well, so each category is read as a Python value, and one without a text is
neither key nor unit. Dictionaries of Arrow have the kind of their values, whose type is part of the schema.

**Text as declared** (`ggdp.domain.text_values`). A column may declare words for nulls, marks of numbers and a format of
dates, and a request declares them for all columns that do not. Words for nulls are compared first, with the text as it
is, whatever else is declared; those of the column of units are no units. Then text is rewritten: as numbers for integer
levels, bins of numbers and statistics, as times for levels that are dates and bins of time, and not at all for other
levels, open columns and units. What is not written as declared is the empty text, which is no number and no time. Of an
object column, words are compared with canonical texts, and only text is rewritten. Below, text is what is left then.

**Levels.** A value has a *canonical text*, and is the level whose text (`Column.texts`) is equal to it.

- Text as text: the value as it is; no trimming, no folding of case, no normalisation. Nor for dates: yyyy-mm-dd.
- Text as integers: what matches ``[+-]?[0-9]+(\.0*)?``, as digits without a plus, leading zeros or a fraction; "-0" is
  "0". Decimals likewise. Text as booleans: true and false in any case.
- Integers: decimal digits. Booleans: true, false. Dates: yyyy-mm-dd; a day outside the years 1 to 9999 has no text.
- Text that is no UTF-8 has none either. As a key or a unit what has no text is not counted.
- Floats: a whole number that fits in 64 bits has its digits, like the integer; fractions, infinite and larger numbers
  have no text.
- Python values of an object column: text as it is; integers and whole floats as digits; booleans; dates. None, NaN, NaT
  and pandas.NA are null. All others have no text.

**Bins.** Integers are compared as integers, exactly, also in object columns and among pandas' categories (bins of text,
decimals and floats compare 64-bit floats). Text must match ``[+-]?(digits[.digits] | .digits)[e[+-]dd]`` with at most
40 digits on either side of the point and two in the exponent, and is rounded to the nearest float. NaN is null;
infinite numbers are compared as they are.

**Bins of time** (`ggdp.domain.periods`). Days stand for their midnight. Time stamps without a zone are compared as they
are, those with one as their UTC instant, each in its own unit: an edge is rounded up to the unit, which is exact for
bins that are half-open. Text is yyyy-mm-dd, perhaps with "T" or a space, hh:mm, ":ss" and up to nine digits of a
fraction, and then perhaps a zone (Z, +01, +0100, +01:00, up to 23:59): its UTC instant is compared, in microseconds
rounded down, and text without a zone is UTC. Python values of an object column are dates, times (with a zone: in UTC)
and such text. A time that is not in the years 1 to 9999 is `other`, infinite ones of DuckDB included; so are all other
values.

**Nulls** are counted in the `missing` level, what matches nothing in the `other` level, and nowhere if these are not
declared; in a complete column both have the code 0, so that each row has a code. An empty field of a CSV file is null,
quoted or not. In open columns nulls are not counted.

Claim. Each row has one code or none in every column, and which one depends on that row and the declaration alone:
each step is a function of one value, and text is cast only where a regular expression has found digits. So it is in one
cell of a marginal, or in none: this is all that sensitivities need.

Claim. A time stamp is a tick, a whole number of its column's unit (a day, s, ms, us, ns), and is at or after an edge
if and only if it is at or after the ceiling of that edge, the first tick that is not before it. A ceiling after the
last tick of the year 9999 is reached by what is after that tick alone. Nothing is cast but literals, which the
declaration alone decides, so no value can make a query fail.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw

from ggdp.domain import periods
from ggdp.domain.periods import FIRST, LAST
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from ggdp.domain.column import Column
    from ggdp.domain.text_values import Rewriting
    from ggdp.sources.engine import Dialect


# The code of rows that are not counted.
NOWHERE = -1
# Text that is a number.
NUMBER = r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?"
_ALL = {"text", "integer", "boolean", "date", "bins", "dated", "open"}
_DECLARED = {
    **dict.fromkeys(("text", "integer", "float", "boolean", "object"), _ALL),
    "decimal": {"integer", "bins"},
    "date": {"text", "date", "dated", "open"},
    "datetime": {"dated"},
}
_HOW_TO_FIX = {
    "decimal": "declare edges or integer levels, or cast the column to text first",
    "date": "declare dates, or edges of dates, or cast the column first",
    "datetime": "declare edges of dates or times, or cast the column to dates first",
    "unknown": "cast the column to text, integers, dates or time stamps in microseconds first",
    "python objects": "make a column of text, integers or dates of it first",
}
# `\z` is the end of the text alone; `$` would let a line break pass on some engines.
_WHOLE, _NUMBER = r"^[+-]?[0-9]+(\.0*)?\z", rf"^{NUMBER}\z"
_INT64 = 2.0**63
# From the day before 1 March of year 0.
_DAYS_TO_1970 = 719_469

# Values as numbers or times, and whether they pass each edge, where the declaration alone does not decide that.
_Conditions: TypeAlias = "tuple[nw.Expr, list[nw.Expr | bool]]"


def kind_of(dtype: nw.dtypes.DType) -> str:
    """Return the kind of a column from its type; of one that cannot be counted, the type's name."""
    if isinstance(dtype, nw.String | nw.Categorical | nw.Enum):
        return "text"
    if dtype.is_integer():
        return "integer"
    if dtype.is_float():
        return "float"
    # Objects of pandas are read otherwise, and are the kind "object".
    return "python objects" if isinstance(dtype, nw.Object) else str(dtype).split("(")[0].lower()


def require_countable(column: Column, kinds: Mapping[str, str]) -> None:
    """Raise if the kind of a column does not match its declaration."""
    kind, said = kinds[column.name], "dated" if column.dated else column.kind
    if said in _DECLARED.get(kind, ()):
        return
    declared = {
        "open": "open, without declared levels",
        "bins": "binned by numbers",
        "dated": "binned by dates",
    }.get(said, f"{said} levels")
    how_to_fix = _HOW_TO_FIX.get(kind, "cast the column to text, integers or dates first")
    raise ArgumentError(f"column {column.name!r}", kind, f"cannot be counted as declared ({declared}): {how_to_fix}")


def declared_text(text: nw.Expr, nulls: Sequence[str], rewriting: Rewriting | None) -> nw.Expr:
    """Return text as it is declared to be read: null for words that are nulls, and rewritten.

    Claim. It is what `Rewriting.of` returns of each text, by itself.
    """
    text = text.cast(nw.String)
    known = ~text.is_null() & ~text.is_in(nulls) if nulls else ~text.is_null()
    if rewriting is None:
        return nw.when(known).then(text)
    parts = []
    for part in rewriting.parts:
        if isinstance(part, str):
            parts.append(nw.lit(part))
            continue
        left = text
        for old, new in part.replaced:
            left = left.str.replace_all(old, new)
        is_short = left.str.len_chars() < 2
        parts.append(nw.when(is_short).then(nw.concat_str(nw.lit("0"), left)).otherwise(left) if part.padded else left)
    is_read = text.str.contains(rf"^({rewriting.pattern})\z")
    return nw.when(known).then(nw.when(is_read).then(nw.concat_str(*parts)).otherwise(nw.lit("")))


def read_text(text: nw.Expr, column: Column) -> nw.Expr:
    """Return text, as it is declared to be read, as what bins compare: numbers or times."""
    return text_as_instant(iso_text(text.cast(nw.String))) if column.dated else text_as_float(text)


def unit_value(value: nw.Expr, kind: str) -> nw.Expr:
    """Return the value that identifies a unit; null if it is not a unit.

    Claim. It is a function of the value alone: whole floats within 64 bits become the integer, so that
    an id is the same unit whether its column has nulls or not; other floats are not ids and not units. So is text
    like "7.0", which pandas writes for 7 into a text file where another id is missing.
    """
    if kind == "float":
        return _whole_numbers(value)
    if kind not in ("text", "object"):
        return value
    text = value.cast(nw.String)
    # How pandas writes an integer of a column that has nulls.
    is_written_float = text.str.contains(r"^-?[0-9]{1,19}\.0\z")
    whole = nw.when(is_written_float).then(text.str.replace_all(r"\.0\z", "")).otherwise(text)
    # Few texts end so, and a regular expression takes longer than all else that is done with a unit.
    return nw.when(text.str.ends_with(".0")).then(whole).otherwise(text)


def text_of_invalid(column: Column | None) -> str | None:
    """Return a text for values without one: longer than all levels, so it matches none; null as key or unit."""
    if column is None or column.kind == "open":
        return None
    return "\0" * (1 + max(map(len, column.texts), default=0))


def canonical_text(value: nw.Expr, kind: str, declared: str) -> nw.Expr:
    """Return the canonical text of values; null for values without one."""
    if kind == "float":
        return _whole_numbers(value).cast(nw.String)
    text = value.cast(nw.String)
    if kind == "decimal":
        # How Arrow and Spark write a zero with many digits after the point.
        is_zero = text.str.contains(r"^[+-]?0[eE][+-]?[0-9]+\z")
        return _whole_texts(nw.when(is_zero).then(nw.lit("0")).otherwise(text))
    if kind in ("text", "object") and declared == "integer":
        return _whole_texts(text)
    if kind in ("text", "object") and declared == "boolean":
        false = nw.when(text.str.contains(r"^[fF][aA][lL][sS][eE]\z")).then(nw.lit("false"))
        return nw.when(text.str.contains(r"^[tT][rR][uU][eE]\z")).then(nw.lit("true")).otherwise(false)
    return text


def _whole_numbers(value: nw.Expr) -> nw.Expr:
    value = value.cast(nw.Float64)
    within = nw.when((value >= -_INT64) & (value < _INT64)).then(value)
    # Nested, not one condition: an engine may cast before it has looked at the rest of a conjunction.
    return nw.when(within.floor() == within).then(within).cast(nw.Int64)


def _whole_texts(text: nw.Expr) -> nw.Expr:
    whole = nw.when(text.str.contains(_WHOLE)).then(text)
    digits = whole.str.replace_all(r"^[+-]?0*", "").str.replace_all(r"\.0*\z", "")
    signed = nw.when(whole.str.starts_with("-")).then(nw.concat_str(nw.lit("-"), digits)).otherwise(digits)
    return nw.when(digits == nw.lit("")).then(nw.lit("0")).otherwise(signed)


def fill_code(code: nw.Expr, value: nw.Expr, kind: str, column: Column) -> nw.Expr:
    """Return codes of values, that of `other` where the code is null, that of `missing` where the value is, or NaN."""
    other = NOWHERE if column.other_code is None else column.other_code
    missing = NOWHERE if column.missing_code is None else column.missing_code
    known = nw.when(code.is_null()).then(nw.lit(other)).otherwise(code)
    is_missing = value.is_null() | value.is_nan() if kind == "float" else value.is_null()
    return nw.when(is_missing).then(nw.lit(missing)).otherwise(known).cast(nw.Int64)


def bin_codes(
    value: nw.Expr, kind: str, column: Column, dtype: nw.dtypes.DType, dialect: Dialect, found: nw.Expr | None = None
) -> nw.Expr:
    """Return the codes of values in the bins of a column, `other` and `missing` included; of text by `read_text`."""
    other = NOWHERE if column.other_code is None else column.other_code
    if kind in ("text", "object") and dtype.is_integer():
        # Python values were binned one by one (`ggdp.sources.dataframes`).
        return fill_code(value, value, kind, column)
    if kind == "boolean" or (kind in ("integer", "float") and column.dated):
        # No truth is a number, and no number is a time.
        return fill_code(nw.lit(other), value, kind, column)
    if column.dated:
        read, passed = time_conditions(value, found, column.edges or (), dtype, dialect)
    else:
        read, passed = _numbers(value, found, column, dtype)
    codes = [other, *range(len(column.edges or ()) - 1), other]
    # What is always passed leaves only what comes after it, and what is never passed only what comes before.
    first = sum(condition is True for condition in passed)
    last = len(passed) - sum(condition is False for condition in passed)
    code = number_after([condition for condition in passed if not isinstance(condition, bool)], codes[first : last + 1])
    return fill_code(nw.when(~read.is_null()).then(code), value, kind, column)


def _numbers(value: nw.Expr, found: nw.Expr | None, column: Column, dtype: nw.dtypes.DType) -> _Conditions:
    """Return values as numbers, null if they are not, and whether they reach each bin and pass the last one."""
    edges: Sequence[Any] = column.edges or ()
    if not dtype.is_integer():
        number = value.cast(nw.Float64) if found is None else found
        passed: list[nw.Expr | bool] = [(number >= edge) if edge > -math.inf else True for edge in edges[:-1]]
        return number, [*passed, (number > edges[-1]) if edges[-1] < math.inf else False]
    # Integers are compared as integers of their own type.
    name = type(dtype).__name__
    bits = int("".join(filter(str.isdigit, name)) or 64)
    low, high = (0, 2**bits - 1) if name.startswith("U") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)

    def reaches(least: float) -> nw.Expr | bool:
        if not low < least <= high:
            return least <= low
        # Arrow compares as signed integers of 64 bits, unless both sides have another type; it reads that from text.
        return value >= (nw.lit(str(int(least))).cast(dtype) if high >= 2**63 else nw.lit(int(least)))

    last = math.floor(edges[-1]) + 1 if math.isfinite(edges[-1]) else edges[-1]
    lower = [reaches(math.ceil(edge) if math.isfinite(edge) else edge) for edge in edges[:-1]]
    return value, [*lower, reaches(last)]


def time_conditions(
    value: nw.Expr, found: nw.Expr | None, edges: Sequence[Any], dtype: nw.dtypes.DType, dialect: Dialect
) -> _Conditions:
    """Return values as times, null if they are not, and whether they are at or after each edge.

    `found` is what text is read as (`text_as_instant`).
    """
    if found is not None:
        return found, [edge < 0 if isinstance(edge, float) else found >= int(periods.instant(edge)) for edge in edges]
    step = _ticks(dtype)

    def literal(microseconds: int) -> nw.Expr:
        return _literal(microseconds, dtype, dialect)

    def reaches(edge: Any) -> nw.Expr | bool:  # noqa: ANN401 - a date or a time, or infinite
        # Times before year 1 reach no edge, those after 9999 all.
        least = periods.instant(edge)
        ceiling = FIRST if least < FIRST else LAST + 1 if least > LAST else -(-int(least) // step) * step
        if not _fits(ceiling, dtype):
            return ceiling < 0
        return value > literal(LAST // step * step) if ceiling > LAST else value >= literal(ceiling)

    return value, [reaches(edge) for edge in edges]


def time_literal(time: date, dtype: nw.dtypes.DType, dialect: Dialect) -> nw.Expr | None:
    """Return a day or a time as a literal of a type of days or time stamps; None if it has no value that is equal."""
    ticks = int(periods.instant(time))
    return _literal(ticks, dtype, dialect) if _fits(ticks, dtype) and ticks % _ticks(dtype) == 0 else None


def _ticks(dtype: nw.dtypes.DType) -> int:
    """Return the microseconds of the unit of a type; a day is that of dates.

    Nanoseconds are compared with whole microseconds, which are ticks of theirs.
    """
    unit = getattr(dtype, "time_unit", None)
    return {"s": 1_000_000, "ms": 1000, "us": 1, "ns": 1, None: 86_400_000_000}[unit]


def _fits(microseconds: int, dtype: nw.dtypes.DType) -> bool:
    """Return whether 64 bits of the unit of a type hold a time; a question for nanoseconds alone."""
    return getattr(dtype, "time_unit", None) != "ns" or -(2**63) // 1000 + 1 <= microseconds <= (2**63 - 1) // 1000


def _literal(microseconds: int, dtype: nw.dtypes.DType, dialect: Dialect) -> nw.Expr:
    time = datetime(1970, 1, 1) + timedelta(microseconds=microseconds)  # noqa: DTZ001
    return dialect.date_literal(time.date()) if isinstance(dtype, nw.Date) else dialect.time_literal(time, dtype)


def iso_text(text: nw.Expr) -> nw.Expr:
    """Return text that is a time of ISO 8601; null for other text."""
    return nw.when(text.str.contains(rf"^{periods.ISO}\z")).then(text)


def text_as_instant(time: nw.Expr, *, minutes: bool = False) -> nw.Expr:
    """Return ISO 8601 text (`iso_text`) as microseconds, or whole minutes, since 1970 in UTC; null if out of range.

    The text is mentioned a hundred times, so it should be a column.

    Claim. It is `periods.instant_of_value` of each text. Texts that match have digits wherever a number is cast from,
    others are null there. With March as month 0 a year before it counts as the last one, and day d of month k of year y
    has the number 365 y + floor(y / 4) - floor(y / 100) + floor(y / 400) + floor((153 k + 2) / 5) + d - 1, as
    Hinnant shows. Halves are added before a division, so that no quotient is near an integer and rounding decides none.
    """

    def number(digits: nw.Expr, start: int, length: int) -> nw.Expr:
        return digits.str.slice(start, length).cast(nw.Int64)

    month = number(time, 5, 2)
    is_early = month < 3
    year = nw.when(is_early).then(number(time, 0, 4) - 1).otherwise(number(time, 0, 4)).cast(nw.Float64)
    since_march = nw.when(is_early).then(month + 9).otherwise(month - 3).cast(nw.Float64)
    leaps = ((year + 0.5) / 4.0).floor() - ((year + 0.5) / 100.0).floor() + ((year + 0.5) / 400.0).floor()
    days = (year * 365.0 + leaps + ((since_march * 153.0 + 2.5) / 5.0).floor()).cast(nw.Int64) + number(time, 8, 2)
    rest = time.str.slice(11)
    clock = nw.concat_str(rest.str.replace_all("[Z+-].*|[^0-9]", ""), nw.lit("0" * 12))
    zone = rest.str.replace_all("^[^Z+-]*", "")
    ahead = nw.concat_str(zone.str.replace_all("[^0-9]", ""), nw.lit("0000"))
    offset = number(ahead, 0, 2) * 60 + number(ahead, 2, 2)
    offset = nw.when(zone.str.starts_with("-")).then(0 - offset).otherwise(offset)
    since = (days - _DAYS_TO_1970) * 1440 + number(clock, 0, 2) * 60 + number(clock, 2, 2) - offset
    instant = since * 60_000_000 + number(clock, 4, 8)
    return nw.when((instant >= FIRST) & (instant <= LAST)).then(since if minutes else instant)


def text_as_float(text: nw.Expr) -> nw.Expr:
    """Return text as floats; null if it is not a number."""
    text = text.cast(nw.String)
    # Arrow reads no plus sign.
    return nw.when(text.str.contains(_NUMBER)).then(text.str.replace_all(r"^\+", "")).cast(nw.Float64)


def number_after(passed: Sequence[nw.Expr], codes: Sequence[float]) -> nw.Expr:
    """Return the number after as many conditions as hold; each holds only where the one before it does."""
    if not passed:
        return nw.lit(codes[0])
    middle = len(passed) // 2
    right = number_after(passed[middle + 1 :], codes[middle + 1 :])
    return nw.when(passed[middle]).then(right).otherwise(number_after(passed[:middle], codes[: middle + 1]))
