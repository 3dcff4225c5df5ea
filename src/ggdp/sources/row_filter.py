r"""Filters and derived columns on every engine: where a filter (`ggdp.domain.filters`) holds, and what is computed.

`_KINDS` has the kinds of columns that a value may be read of. Numbers and times are read as in bins, and text and
truths as the canonical texts of such levels; no truth is a number, and no number is a time. A number is rounded to a
64-bit float, which no comparison with a number of at most 2^53 notices. Null are nulls, NaN, and text that is no UTF-8.

Which kinds a reading takes is decided by the schema, before a row is read. Python values of pandas are read one by one
(`ggdp.sources.dataframes`), for each reading into a column of its own (`reading_name`).

Claim. Whether a row is counted is a function of this row, and is evaluated without an error, whatever the row holds.
Each condition is "the value has the reading, and compares so": nothing is cast but text that has been matched with a
pattern of numbers, and numbers to floats. So it is true or false and never null, whatever an engine makes of nulls.
A filter is evaluated on the rows as they are read, before anything is grouped (`ggdp.sources.query`): what is counted
is the table of the rows that it keeps, and what a unit adds to that is a function of the unit's own rows.

Claim. What is computed of a row is the same on every engine, and no row makes it fail. Numbers are 64-bit floats, whose
sums, differences, products and quotients IEEE 754 rounds correctly; each is an operation by itself, which no engine
contracts with the next one. A divisor is null where it is 0 or not finite, so that no engine divides by zero. What
overflows stays not finite in sums and products, so that one look at the end finds it; only a quotient could lose it,
and its divisor is looked at. Parts of dates are those of the proleptic calendar. `coalesce` and `case` choose among
values, and letters and spaces are replaced one by one.

A quotient is by a column, never by a constant: polars multiplies several rows by the inverse of a constant, which
rounds twice, and divides a single row, so that one row would decide about another.

A look-up is a left join with unique keys (`ggdp.domain.lookups`): each row stays one row.

`like` is a regular expression that matches the whole text. Where an engine tries all ways to match one (Java), each
part after a % is matched once, as far to the left as possible, which finds a match whenever there is one: else one long
text could keep the engine busy for years.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from operator import add, eq, ge, gt, le, lt, mul, ne, sub
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
from attrs import define, field

from ggdp.domain import periods
from ggdp.domain.filters import (
    PARTS,
    Case,
    Combination,
    Condition,
    Filter,
    LookedUp,
    Operation,
    Read,
    Reading,
    Term,
    Truth,
    reading_of,
    reads,
    walk,
)
from ggdp.errors import ArgumentError
from ggdp.sources import codes
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
_ARITHMETIC: dict[str, Callable[[nw.Expr, nw.Expr], nw.Expr]] = {"+": add, "-": sub, "*": mul}
_READ_AS = {"number": "numbers", "text": "text", "truth": "true and false", "time": "dates", "null": "null"}
# Null of each kind.
_NOTHING = {"number": nw.lit(None, nw.Float64), "text": nw.lit(None, nw.String), "truth": nw.lit(None, nw.Boolean)}


def reading_name(column: str, reading: str) -> str:
    """Return the internal name of a column of what was read of Python values, beside their texts."""
    return f"{safe_name(column)}_as_{reading}"


def require_readable(node: Filter | Term | LookedUp, kinds: Mapping[str, str], argument: str) -> None:
    """Raise if a column of a filter or an expression cannot be read as its values are; no row is read."""
    parts = {id(one.parts[0]): one.name for one in walk(node) if isinstance(one, Operation) and one.name in PARTS}
    # Times of any kind are compared with the edges of years.
    compared = {id(one.of.parts[0]) for one in walk(node) if _compared_year(one)}
    for read in reads(node):
        kind, part = kinds[read.column], parts.get(id(read))
        is_refused = part is not None and kind == "datetime" and id(read) not in compared
        if is_refused or kind not in _KINDS[read.reading]:
            what = f"taken the {part} of" if is_refused else f"read as {_READ_AS[read.reading]}"
            is_time = kind in ("date", "datetime") and not isinstance(node, LookedUp)
            how = "compare it with date '2024-01-31'" if is_time else "cast the column first"
            how = "cast the column to dates first" if is_refused else how
            said = f"{read.column!r} is a column of kind {kind} and cannot be {what}: {how}"
            raise ArgumentError(argument, str(node), said)


def _compared_year(node: object) -> bool:
    return isinstance(node, Condition) and isinstance(node.of, Operation) and node.of.name == "year"


@define
class Rows:
    """The rows of a frame, to which columns are added: derived ones, and what an expression mentions several times."""

    frame: Frame
    kinds: Mapping[str, str]
    dialect: Dialect
    _kept: dict[object, str] = field(factory=dict)
    _added: int = 0

    def derive(self, name: str, term: Term | LookedUp) -> None:
        """Add a derived column."""
        if isinstance(term, LookedUp):
            text, table = self._keep((term.key, name), lambda: self.value(term.key)), term.table.table
            self.frame = self.dialect.look_up(self.frame, text, list(table), safe_name(name), list(table.values()))
        else:
            value = self.value(term)
            self.frame = self.dialect.add_column(self.frame, safe_name(name), value)

    def keep(self, where: Filter) -> None:
        """Leave out the rows for which a filter does not hold."""
        holds = self.holds(where)
        self.frame = self.frame.filter(holds)

    def value(self, term: Term) -> nw.Expr:
        """Return the value of an expression: a finite number, text or a truth; null if it has none."""
        kind = reading_of(term)
        if isinstance(term, Read) and kind != "number":
            return self._read(term)
        if isinstance(term, Truth):
            fails = nw.when(self.holds(term.fails)).then(nw.lit(value=False))
            return nw.when(self.holds(term.holds)).then(nw.lit(value=True)).otherwise(fails)
        if isinstance(term, Case):
            found = _NOTHING[kind] if term.otherwise is None else self.value(term.otherwise)
            for holds, value in reversed(term.cases):
                then = _NOTHING[kind] if value is None else self.value(value)
                found = nw.when(self.holds(holds)).then(then).otherwise(found)
            return found
        if isinstance(term, Operation) and term.name == "coalesce":
            return nw.coalesce(*(self.value(part) for part in term.parts if part is not None))
        if isinstance(term, Operation) and kind == "text":
            return _rewrite(term.name, self.value(term.parts[0]))
        if isinstance(term, Read | Operation):
            number = nw.col(self._keep(term, lambda: self._number(term)))
            return nw.when((number > -math.inf) & (number < math.inf)).then(number)
        return nw.lit(float(term) if kind == "number" else term)  # type: ignore[arg-type]

    def _number(self, term: Term) -> nw.Expr:
        """Return a number, which is not finite where an operation overflowed."""
        if isinstance(term, Read):
            return self._read(term)
        if not isinstance(term, Operation) or term.name == "coalesce":
            return self.value(term)
        if term.name in PARTS:
            return self._part(term.name, term.parts[0])  # type: ignore[arg-type]
        first, *rest = term.parts
        found = self._number(first)
        for part in rest:
            by = self._number(part)
            if term.name == "/":
                found, by = nw.col(self._add(found)), nw.col(self._add(by))
                usable = (by > -math.inf) & (by < math.inf) & (by != 0.0)
                # The sum is no constant, also where the divisor is one.
                found = found / (nw.when(usable).then(by) + found * 0.0)
            else:
                found = _ARITHMETIC[term.name](found, by)
        return found

    def _add(self, value: nw.Expr) -> str:
        """Add a column, and return its internal name."""
        name = f"x{self._added}"
        self._added += 1
        self.frame = self.dialect.add_column(self.frame, name, value)
        return name

    def _keep(self, key: object, make: Callable[[], nw.Expr]) -> str:
        """Return the name of a column, which is added where it is not there yet."""
        if key not in self._kept:
            self._kept[key] = self._add(make())
        return self._kept[key]

    def _values(self, read: Read) -> tuple[nw.Expr, str, str]:
        """Return the values of a column, their kind, and the internal name of the column."""
        schema = self.frame.collect_schema()
        name, kind = reading_name(read.column, read.reading), self.kinds[read.column]
        # Python values were read one by one as they are declared.
        is_read = name in schema.names()
        if is_read:
            kind = codes.kind_of(schema[name])
        else:
            name = safe_name(read.column)
        value = nw.col(name)
        if kind == "text":
            text = self.dialect.text(value.cast(nw.String))
            # What stands for text that is no UTF-8 in a column with declared levels (`codes.text_of_invalid`).
            value = nw.when(~text.str.contains(r"^\x00+\z")).then(text)
            value = value if is_read else codes.declared_text(value, read.text.nulls, read.rewriting)
        return value, kind, name

    def _read(self, read: Read) -> nw.Expr:
        """Return numbers, text or truths of a column; null where a value has no such reading."""
        value, kind, _ = self._values(read)
        if read.reading == "number":
            missing = value.is_null() | value.is_nan() if kind == "float" else value.is_null()
            if kind == "boolean":
                return nw.when(missing & ~missing).then(nw.lit(0.0))
            number = codes.text_as_float(value) if kind in ("text", "object", "decimal") else value.cast(nw.Float64)
            return nw.when(~missing).then(number)
        declared = "boolean" if read.reading == "truth" else "text"
        text = codes.canonical_text(writable(self.dialect, value, kind), kind, declared)
        if declared == "text":
            return text
        truth = nw.when(text == "true").then(nw.lit(value=True))
        return truth.otherwise(nw.when(text == "false").then(nw.lit(value=False)))

    def _part(self, part: str, read: Read) -> nw.Expr:
        """Return a part of the dates of a column as a number; null where there is no date of the years 1 to 9999."""
        value, kind, _ = self._values(read)
        if kind in ("text", "object"):
            return _part_of_date(part, nw.col(self._instants(read, minutes=True)))
        if kind != "date":
            return nw.when(value.is_null() & ~value.is_null()).then(nw.lit(0.0))
        found = getattr(writable(self.dialect, value, kind).dt, part)().cast(nw.Float64)
        # On Spark, Sunday is the day before Monday.
        return nw.when(found > 0.0).then(found).otherwise(7.0 - found) if part == "weekday" else found

    def _instants(self, read: Read, *, minutes: bool = False) -> str:
        """Return the internal name of what text in a column is in microseconds, or minutes, since 1970."""
        # Text is read as times once, and not again for every edge; in two steps, since the second mentions it often.
        name = self._keep((read, "text"), lambda: codes.iso_text(self._values(read)[0]))
        return self._keep((read, minutes), lambda: codes.text_as_instant(nw.col(name), minutes=minutes))

    def holds(self, where: Filter) -> nw.Expr:
        """Return whether a filter holds for a row: true or false, never null."""
        if isinstance(where, Combination):
            return _join(where.operator, [self.holds(part) for part in where.parts])
        if where.reading == "time" or _compared_year(where):
            return self._time_holds(where)
        if where.reading == "null":
            if isinstance(where.of, Read):
                value, kind, _ = self._values(where.of)
                missing = value.is_null() | value.is_nan() if kind == "float" else value.is_null()
            else:
                missing = self.value(where.of).is_null()
            return missing if where.operator == "is null" else ~missing
        # An infinite number of the data is compared as it is.
        value = self._read(where.of) if isinstance(where.of, Read) else nw.col(self._add(self.value(where.of)))
        if where.reading == "number":
            return _holds(value, where.operator, [float(one) for one in where.values])  # type: ignore[arg-type]
        if "like" in where.operator:
            pattern = like_pattern(str(where.values[0]), tries_all_ways=self.dialect.tries_all_ways)
            matches = value.str.contains(pattern)
            return ~value.is_null() & (matches if where.operator == "like" else ~matches)
        return _holds(value, where.operator, where.values)

    def _time_holds(self, where: Condition) -> nw.Expr:
        """Return whether a value is a time in the years 1 to 9999, and compares so."""
        is_year = _compared_year(where)
        read: Any = where.of.parts[0] if isinstance(where.of, Operation) else where.of
        value, kind, name = self._values(read)
        if kind in ("integer", "float", "boolean"):
            return value.is_null() & ~value.is_null()
        instants = nw.col(self._instants(read)) if kind in ("text", "object") else None
        dtype = self.frame.collect_schema()[name]

        def reaches(edge: periods.Edge) -> nw.Expr:
            """Return whether a time is at or after an edge."""
            read, (found, *_) = codes.time_conditions(value, instants, [edge], dtype, self.dialect)
            never = read.is_null() & ~read.is_null()
            return found if isinstance(found, nw.Expr) else ~never if found else never

        def after(compared: Any) -> nw.Expr:  # noqa: ANN401 - a year, a day or a time
            """Return whether a time is after all that is equal to a value."""
            if is_year:
                return reaches(date(compared + 1, 1, 1) if compared < 9999 else math.inf)
            if instants is not None:
                return instants > int(periods.instant(compared))
            literal = codes.time_literal(compared, dtype, self.dialect)
            return reaches(compared) if literal is None else value > literal

        def compare(operator: str, compared: Any) -> nw.Expr:  # noqa: ANN401
            start = date(compared, 1, 1) if is_year else compared
            ways = {"<": lambda: ~reaches(start), ">=": lambda: reaches(start), ">": lambda: after(compared)}
            ways |= {"<=": lambda: ~after(compared), "=": lambda: reaches(start) & ~after(compared)}
            return ways[operator]()

        known_time, _ = codes.time_conditions(value, instants, [], dtype, self.dialect)
        is_negated = where.operator in ("<>", "not in")
        operator = "=" if is_negated or where.operator == "in" else where.operator
        found = _join("or", [compare(operator, one) for one in where.values])
        known = ~known_time.is_null() & reaches(-math.inf) & ~reaches(math.inf)
        return known & (~found if is_negated else found)


def _rewrite(name: str, text: nw.Expr) -> nw.Expr:
    """Return text without spaces around it, or with small or large letters from A to Z; others stay."""
    if name == "trim":
        return text.str.replace_all("^ +", "").str.replace_all(r" +\z", "")
    # Engines differ in the other letters.
    small, large = ascii_lowercase, ascii_uppercase
    for old, new in zip(*((large, small) if name == "lower" else (small, large)), strict=True):
        text = text.str.replace_all(old, new, literal=True)
    return text


def like_pattern(pattern: str, *, tries_all_ways: bool) -> str:
    """Return a regular expression for the whole text that a pattern of `like` matches."""
    first, *parts = (
        "".join("." if c == "_" else c if c.isalnum() or ord(c) > 127 else f"\\x{ord(c):02x}" for c in part)
        for part in re.split("%+", pattern)
    )
    if not parts:
        return rf"(?s)^{first}\z"
    *middle, last = parts
    return rf"(?s)^{first}{''.join(f'(?>.*?{part})' if tries_all_ways else f'.*{part}' for part in middle)}.*{last}\z"


def _holds(read: nw.Expr, operator: str, values: Sequence[Any]) -> nw.Expr:
    """Return whether there is a reading, and compares so."""
    if operator in _COMPARE:
        return ~read.is_null() & _COMPARE[operator](read, values[0])
    among = _join("or", [read == value for value in values])
    return ~read.is_null() & (among if operator == "in" else ~among)


def _part_of_date(part: str, minutes: nw.Expr) -> nw.Expr:
    """Return the year, the month or the weekday (1 for Monday) of minutes since 1970, in floats that are whole numbers.

    As Neri and Schneider show, with years that begin in March, for the days from 1 March of year 0. Halves keep
    quotients from whole numbers, so that rounding decides nothing. They are products: on Spark, narwhals mentions what
    is divided several times, and quotients of quotients take minutes.
    """

    def quotient(number: nw.Expr, divisor: float) -> nw.Expr:
        return ((number + 0.5) * (1.0 / divisor)).floor()

    days = quotient(minutes.cast(nw.Float64), 1440.0) + 719_468.0
    if part == "weekday":
        # That day was a Wednesday.
        return days + 2.0 - quotient(days + 2.0, 7.0) * 7.0 + 1.0
    century = quotient(days * 4.0 + 3.0, 146_097.0)
    scaled = (quotient(days * 4.0 + 3.0 - century * 146_097.0, 4.0) * 4.0 + 3.0) * 2_939_745.0
    year = quotient(scaled, 2.0**32)
    day = quotient(quotient(scaled - year * 2.0**32, 2_939_745.0), 4.0)
    if part == "year":
        return century * 100.0 + year + nw.when(day > 305.0).then(nw.lit(1.0)).otherwise(nw.lit(0.0))
    month = quotient(day * 2141.0 + 197_913.0, 2.0**16)
    return nw.when(day > 305.0).then(month - 12.0).otherwise(month)


def _join(operator: Literal["and", "or"], parts: Sequence[nw.Expr]) -> nw.Expr:
    """Return all parts joined, as a tree that is not deep."""
    if len(parts) == 1:
        return parts[0]
    left, right = (_join(operator, half) for half in (parts[: len(parts) // 2], parts[len(parts) // 2 :]))
    return left & right if operator == "and" else left | right
