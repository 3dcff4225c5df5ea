r"""Filters: which rows are counted, said in a small SQL that every engine reads alike.

==================  ================================================================================================
form                what it may be
==================  ================================================================================================
comparison          ``column = value``, and ``<>``, ``!=``, ``<``, ``<=``, ``>``, ``>=``, on either side
list                ``column in (value, ...)``, ``column not in (...)``, with values of one kind
range               ``column between value and value``, both ends included
pattern             ``column like 'text'``: % is any text, _ one character, upper and lower case differ
missing             ``column is null``, ``column is not null``
combination         ``and``, ``or``, ``not``, parentheses
part of a date      ``year(column)``, ``month(column)``, ``weekday(column)`` (1 is Monday, 7 is Sunday), in the place
                    of a column that is compared with whole numbers
==================  ================================================================================================

A name with other characters than letters, digits and underscores is in double quotes. What a column is *read* as
follows from the value that it is compared with, never from the data (`ggdp.sources.row_filter`): as a number for ``18``
or ``-2.5``, as text for ``'births'``, as a truth for ``true``, as a time for ``date '2024-01-31'``, for ``timestamp
'2024-01-31 10:00'`` and for parts of a date.

Text is read as its column declares (`ggdp.domain.text_values`): words for nulls are nulls, and numbers and dates may be
written with other marks and in other orders. Times in text are compared to the microsecond, in UTC.

A value without the reading (a null, NaN, "abc" as a number) makes every comparison with it unknown, also a negated
one, as in SQL; ``is null`` holds for nulls, NaN and text that is no UTF-8. Only rows for which the whole is true are
counted, not those for which it is false or unknown.

Claim. Of each row it is decided by this row alone whether it is counted, and no row can make that fail: there is no
division, no cast that may fail, no subquery and no function but those above. `not` is moved into the conditions when an
expression is read, where it turns each operator into its opposite. So every condition that is left is true or not,
unknown counting as not, and `and` and `or` of these are true exactly where they are true in SQL, since neither makes
more true of an unknown part than of a false one.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Literal, NoReturn, TypeAlias

from attrs import evolve, field, frozen

from ggdp.domain import periods
from ggdp.domain.text_values import Rewriting, TextValues
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from sqlglot.exp import Expression

Reading: TypeAlias = Literal["number", "text", "truth", "time", "null"]
Value: TypeAlias = bool | int | float | str | date

# Each operator with its opposite: what is true where it is false.
_OPPOSITE = {"=": "<>", "<": ">=", ">": "<=", "in": "not in", "like": "not like", "is null": "is not null"}
_OPPOSITE |= {opposite: operator for operator, opposite in _OPPOSITE.items()}
# Each operator with the one for the same parts in the other order.
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "<>": "<>"}
_PARTS = {"year": (1, 9999), "month": (1, 12), "weekday": (1, 7)}
# More is refused: an engine would take long, or run out of stack.
_MOST_CHARACTERS, _MOST_CONDITIONS, _MOST_DEPTH, _MOST_WILDCARDS = 10_000, 200, 30, 10
# Up to this, an integer is the same number as a float.
_LARGEST = 2**53
_ALLOWED = (
    "a filter may compare a column with a value (=, <>, <, <=, >, >=, in, between, like, is null), take year(), "
    "month() or weekday() of a date, and combine these with and, or and not"
)


@frozen
class Condition:
    """What is asked of one column: an operator, and the values that it is compared with."""

    column: str
    operator: str
    values: tuple[Value, ...] = ()
    part: str | None = None  # the part of a date that is compared, instead of the column
    quoted: bool = field(default=True, eq=False)
    text: TextValues = field(factory=TextValues, eq=False)  # how text in the column is read

    @property
    def rewriting(self) -> Rewriting | None:
        """How text is rewritten into numbers or times before it is read as these."""
        return {"number": self.text.number, "time": self.text.time}.get(self.reading)

    @property
    def reading(self) -> Reading:
        """What values of the column are read as."""
        if self.part is not None:
            return "time"
        return _reading(self.values[0]) if self.values else "null"

    def __str__(self) -> str:
        is_plain = not self.quoted and re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", self.column)
        name = self.column if is_plain else '"' + self.column.replace('"', '""') + '"'
        said = f"{name if self.part is None else f'{self.part}({name})'} {self.operator}"
        values = ", ".join(map(_said, self.values))
        return f"{said} ({values})" if "in" in self.operator.split() else f"{said} {values}".rstrip()


@frozen
class Combination:
    """Several conditions, of which all must hold (and), or one (or)."""

    operator: Literal["and", "or"]
    parts: tuple[Filter, ...]

    def __str__(self) -> str:
        parts = (f"({part})" if isinstance(part, Combination) else str(part) for part in self.parts)
        return f" {self.operator} ".join(parts)


Filter: TypeAlias = Condition | Combination


def filtered_columns(where: Filter | None) -> list[str]:
    """Return the columns that a filter reads, each once."""
    return [] if where is None else list(dict.fromkeys(one.column for one in conditions(where)))


def read_as(where: Filter, text_of: Callable[[str], TextValues]) -> Filter:
    """Return a filter that reads text in each column as it is declared."""
    if isinstance(where, Condition):
        return evolve(where, text=text_of(where.column))
    return Combination(where.operator, tuple(read_as(part, text_of) for part in where.parts))


def conditions(where: Filter) -> Iterator[Condition]:
    """Yield the conditions of a filter."""
    if isinstance(where, Condition):
        yield where
    else:
        for part in where.parts:
            yield from conditions(part)


def filter_text(where: object) -> str:
    """Return the text of a filter as all of its spellings are written: small letters, without `not` and comments."""
    return str(parse_filter(where))


def parse_filter(where: object) -> Filter:
    """Return the filter that an expression says; what is not allowed is refused."""
    if not isinstance(where, str) or not where.strip():
        raise ArgumentError("where", where, "must be a condition as text, such as \"age >= 18 and ward <> 'test'\"")
    shown = where if len(where) <= 200 else f"{where[:200]}..."
    if len(where) > _MOST_CHARACTERS:
        raise ArgumentError("where", shown, f"must have at most {_MOST_CHARACTERS:,} characters")
    from sqlglot import exp, parse_one
    from sqlglot.errors import ParseError, SqlglotError

    try:
        parsed = parse_one(where, into=exp.Condition)
        found = _Reader(shown).read(parsed, negated=False, depth=0)
    except SqlglotError as failed:
        # The column that the parser counts is the end of what it did not expect.
        seen = failed.errors[0] if isinstance(failed, ParseError) and failed.errors else {}
        near = f" near {seen['highlight']!r} (character {seen['col']})" if seen.get("highlight") else ""
        raise ArgumentError("where", shown, f"cannot be read{near}; {_ALLOWED}") from None
    except RecursionError:
        raise ArgumentError("where", shown, "is nested too deeply; leave out parentheses") from None
    if sum(1 for _ in conditions(found)) > _MOST_CONDITIONS:
        raise ArgumentError("where", shown, f"must have at most {_MOST_CONDITIONS} conditions")
    return found


@frozen
class _Reader:
    """What makes a filter of the tree of a parser; a node, or an argument of one, that is not known here is refused."""

    where: str

    def read(self, node: Expression, *, negated: bool, depth: int) -> Filter:
        """Return the filter of a node, or of its opposite."""
        kind = node.key
        if depth > _MOST_DEPTH:
            raise ArgumentError("where", self.where, f"must be nested at most {_MOST_DEPTH} deep")
        if kind in ("paren", "not"):
            self._require_only(node, "this")
            return self.read(node.this, negated=negated != (kind == "not"), depth=depth + 1)
        if kind in ("and", "or"):
            parts = []
            # A chain is a tree that leans to the left.
            for one in node.flatten(unnest=False):
                self._require_only(one.parent, "this", "expression")
                parts.append(self.read(one, negated=negated, depth=depth + 1))
            return _combined("or" if (kind == "or") != negated else "and", parts)
        # Patterns have their own argument for this.
        negated ^= bool(node.args.get("negate"))
        if kind == "between":
            self._require_only(node, "this", "low", "high", "negate")
            ends = zip((">=", "<="), ("low", "high"), strict=True)
            asked = [self._asked(node, operator, (node.args[end],), negated) for operator, end in ends]
            return _combined("or" if negated else "and", asked)
        if kind == "in" and node.expressions:
            self._require_only(node, "this", "expressions", "negate")
            return self._asked(node, "in", node.expressions, negated)
        if kind == "is" and node.expression.key == "null":
            self._require_only(node, "this", "expression", "negate")
            return self._asked(node, "is null", (), negated)
        operator = {"eq": "=", "neq": "<>", "lt": "<", "lte": "<=", "gt": ">", "gte": ">=", "like": "like"}.get(kind)
        if operator is None:
            self._refuse(node, _ALLOWED)
        self._require_only(node, "this", "expression", "negate")
        columns = ("column", "anonymous", *_PARTS)
        if operator in _MIRRORED and node.this.key not in columns and node.expression.key in columns:
            node.args["this"], node.args["expression"] = node.expression, node.this
            operator = _MIRRORED[operator]
        return self._asked(node, operator, (node.expression,), negated)

    def _asked(self, node: Expression, operator: str, values: Sequence[Expression], negated: bool) -> Condition:
        """Return a condition on the column, or the part of one, that a node is about."""
        about, part = node.this, None
        name = about.name.lower() if about.key == "anonymous" else about.key
        if name in _PARTS:
            self._require_only(about, "this" if about.key != "anonymous" else "expressions", "this")
            part, (about, *more) = name, about.expressions or [about.this]
            if more:
                self._refuse(node.this, f"{part}() takes one column")
        if about.key != "column" or set(_given(about)) != {"this"} or about.this.key != "identifier":
            self._refuse(about, f"must be a column of the data; {_ALLOWED}")
        read = tuple(map(self._value, values))
        if len({_reading(value) for value in read}) > 1:
            self._refuse(node, "compares with values of several kinds: write a list of one kind, or conditions with or")
        for value in read:
            if part is not None:
                first, last = _PARTS[part]
                if type(value) is not int or operator == "like" or not first <= value <= last:
                    self._refuse(node, f"{part}() is compared with whole numbers from {first} to {last}")
            elif isinstance(value, bool) and operator not in ("=", "<>", "in"):
                self._refuse(node, "true and false are compared by = and <> only")
            elif operator == "like" and (not isinstance(value, str) or value.count("%") > _MOST_WILDCARDS):
                self._refuse(node, f"like takes a text in single quotes with at most {_MOST_WILDCARDS} percent signs")
        if part is not None and not read:
            self._refuse(node, "only a column is null or not")
        column = self._characters(about, about.this.name)
        said = _OPPOSITE[operator] if negated else operator
        return Condition(column, said, read, part, bool(about.this.args.get("quoted")))

    def _value(self, node: Expression) -> Value:
        """Return a literal."""
        if node.key == "boolean":
            return bool(node.this)
        if node.key == "literal" and node.args["is_string"]:
            return self._characters(node, node.name)
        if node.key == "cast" and node.this.key == "literal" and node.this.args["is_string"]:
            kind = node.args["to"].sql().lower()
            self._require_only(node, "this", "to")
            text = node.this.name
            if kind in ("date", "timestamp") and re.fullmatch(periods.ISO, text):
                if kind == "timestamp" and re.fullmatch(r"[^.]*(\.[0-9]{1,6})?", text):
                    return periods.plain_time("where", datetime.fromisoformat(text))
                if kind == "date" and len(text) == 10:
                    return date.fromisoformat(text)
            self._refuse(node, "must be date 'yyyy-mm-dd', or timestamp 'yyyy-mm-dd hh:mm:ss', without a time zone")
        if node.key == "null":
            self._refuse(node, "nothing is equal to null: write is null, or is not null")
        digits = node.this if node.key == "neg" else node
        is_number = digits.key == "literal" and not digits.args["is_string"]
        if not is_number or not re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", digits.name):
            more = " (columns cannot be compared with one another)" if node.key == "column" else ""
            said = "must be a value: a number, a text in single quotes, true, false, date '...' or timestamp '...'"
            self._refuse(node, said + more)
        number = float(digits.name) * (-1 if node.key == "neg" else 1)
        if Decimal(digits.name) > _LARGEST:
            self._refuse(node, "must be a number of at most 2^53; compare long identifiers as text, in single quotes")
        return int(number) if number.is_integer() else number

    def _characters(self, node: Expression, text: str) -> str:
        if any(unicodedata.category(character) in ("Cc", "Cs") for character in text):
            self._refuse(node, "must not contain control characters")
        return text

    def _require_only(self, node: Expression, *known: str) -> None:
        """Refuse a node with an argument that is none of these."""
        if set(_given(node)) - set(known):
            self._refuse(node, _ALLOWED)

    def _refuse(self, node: Expression, said: str) -> NoReturn:
        places = [inner.meta["start"] for inner in node.walk() if "start" in inner.meta]
        where = f" (character {min(places) + 1})" if places else ""
        raise ArgumentError("where", self.where, f"{node.sql()}{where}: {said}")


def _given(node: Expression) -> list[str]:
    """Return the arguments that a node has; a boolean argument that is false says nothing."""
    return [name for name, value in node.args.items() if value is not None and value is not False and value != []]


def _combined(operator: Literal["and", "or"], parts: Sequence[Filter]) -> Filter:
    """Return a combination, in which those of the same operator are one."""
    flat: list[Filter] = []
    for part in parts:
        flat += part.parts if isinstance(part, Combination) and part.operator == operator else [part]
    return Combination(operator, tuple(flat))


def _reading(value: Value) -> Reading:
    if isinstance(value, bool):
        return "truth"
    return "number" if isinstance(value, int | float) else "text" if isinstance(value, str) else "time"


def _said(value: Value) -> str:
    if isinstance(value, date):
        return f"{'timestamp' if isinstance(value, datetime) else 'date'} '{periods.time_text(value)}'"
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value).lower()
