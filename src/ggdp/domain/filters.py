r"""Filters and expressions: which rows are counted, and what is computed of them, in a small SQL for every engine.

The page "Tables" of the documentation has their forms. An expression is one of *numbers*, *text* or *truths*. Columns
among the parts of ``coalesce`` and ``case`` are read as the others; where columns are all there is, as numbers in a
derived column that has edges of numbers or a range, else as text. Everything else is refused by its name: other
functions differ between engines, fail for some values, or read several rows.

A name with other characters than letters, digits and underscores is in double quotes. What a column is *read* as
follows from the value that it is compared with, never from the data (`ggdp.sources.row_filter`): as a number for ``18``
or ``-2.5``, as text for ``'births'``, as a truth for ``true``, as a time for ``date '2024-01-31'``, for ``timestamp
'2024-01-31 10:00'`` and for parts of a date.

Text is read as its column declares (`ggdp.domain.text_values`): words for nulls are nulls, and numbers and dates may be
written with other marks and in other orders. Times in text are compared to the microsecond, in UTC.

A value without the reading (a null, NaN, "abc" as a number) makes every comparison with it unknown, also a negated
one, as in SQL; ``is null`` holds for nulls, NaN and text that is no UTF-8. Only rows for which the whole is true are
counted, not those for which it is false or unknown.

Claim. Of each row it is decided by this row alone whether it is counted, and what is computed of it, and no row can
make that fail: there is no cast that may fail, no subquery and no function but those above, and nothing is divided but
by numbers that are finite and not 0 (`ggdp.sources.row_filter`). `not` is moved into the conditions when an expression
is read, where it turns each operator into its opposite. So every condition that is left is true or not, unknown
counting as not, and `and` and `or` of these are true exactly where they are true in SQL, since neither makes more true
of an unknown part than of a false one. A filter is false exactly where its opposite is true.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NoReturn, TypeAlias, TypeVar, cast

from attrs import evolve, field, fields, frozen, has

from ggdp.domain import periods
from ggdp.domain.text_values import Rewriting, TextValues
from ggdp.errors import ArgumentError

if TYPE_CHECKING:
    from sqlglot.exp import Expression

    from ggdp.domain.lookups import Lookup

Reading: TypeAlias = Literal["number", "text", "truth", "time", "null"]
Value: TypeAlias = bool | int | float | str | date

# Each operator with its opposite: what is true where it is false.
_OPPOSITE = {"=": "<>", "<": ">=", ">": "<=", "in": "not in", "like": "not like", "is null": "is not null"}
_OPPOSITE |= {opposite: operator for operator, opposite in _OPPOSITE.items()}
# Each operator with the one for the same parts in the other order.
_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "=": "=", "<>": "<>"}
PARTS = {"year": (1, 9999), "month": (1, 12), "weekday": (1, 7)}
# The nodes of the parser that compare, and that compute, with their signs.
_OPERATORS = {"eq": "=", "neq": "<>", "lt": "<", "lte": "<=", "gt": ">", "gte": ">=", "like": "like"}
_ARITHMETIC = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
ARITHMETIC = tuple(_ARITHMETIC.values())
_COMPUTES = (*_ARITHMETIC, "neg", "lower", "upper", "trim", "coalesce", "case")
# What results may be.
_NOUNS = {"number": "a number", "text": "a text", "truth": "true or false"}
# More is refused: an engine would take long, or run out of stack.
_MOST_CHARACTERS, _MOST_READS, _MOST_DEPTH, _MOST_WILDCARDS = 10_000, 200, 30, 10
# Up to this, an integer is the same number as a float.
_LARGEST = 2**53


@frozen
class Read:
    """A column, and what its values are read as."""

    column: str
    reading: Reading
    quoted: bool = field(default=True, eq=False)
    text: TextValues = field(factory=TextValues, eq=False)  # how text in the column is read

    @property
    def rewriting(self) -> Rewriting | None:
        """How text is rewritten into numbers or times before it is read as these."""
        return {"number": self.text.number, "time": self.text.time}.get(self.reading)

    def __str__(self) -> str:
        is_plain = not self.quoted and re.fullmatch("[A-Za-z_][A-Za-z0-9_]*", self.column)
        return self.column if is_plain else '"' + self.column.replace('"', '""') + '"'


@frozen
class Operation:
    """What a function, or an operator between its parts from the left to the right, makes of these."""

    name: str
    parts: tuple[Term, ...]
    reading: Reading

    def __str__(self) -> str:
        if self.name not in ARITHMETIC:
            return f"{self.name}({', '.join(map(_sql_text, self.parts))})"
        is_joined = (isinstance(part, Truth) or getattr(part, "name", "") in ARITHMETIC for part in self.parts)
        parts = (f"({part})" if joined else _sql_text(part) for part, joined in zip(self.parts, is_joined, strict=True))
        return f" {self.name} ".join(parts)


@frozen
class Case:
    """The value beside the first filter that holds, else another one, or none (null)."""

    cases: tuple[tuple[Filter, Term], ...]
    otherwise: Term
    reading: Reading

    def __str__(self) -> str:
        cases = " ".join(f"when {holds} then {_sql_text(value)}" for holds, value in self.cases)
        return f"case {cases}{'' if self.otherwise is None else f' else {_sql_text(self.otherwise)}'} end"


@frozen
class Truth:
    """True where a filter holds, false where its opposite does, and null elsewhere."""

    holds: Filter
    fails: Filter
    reading: ClassVar[Reading] = "truth"

    def __str__(self) -> str:
        return str(self.holds)


@frozen
class LookedUp:
    """The value of a public table beside the key that a column holds."""

    key: Read
    table: Lookup
    reading: ClassVar[Reading] = "text"

    def __str__(self) -> str:
        return self.key.column


Term: TypeAlias = "Value | Read | Operation | Case | Truth | None"
# Columns that are computed in each row, each after those that it is computed from.
Derived: TypeAlias = "tuple[tuple[str, Term | LookedUp], ...]"


@frozen
class Condition:
    """What is asked of a column, or of what is computed: an operator, and the values that it is compared with."""

    of: Read | Operation | Case
    operator: str
    values: tuple[Value, ...] = ()

    @property
    def reading(self) -> Reading:
        """What both sides are compared as."""
        return reading_of(self.values[0]) if self.values else "null"

    def __str__(self) -> str:
        values = ", ".join(map(_sql_text, self.values))
        is_list = "in" in self.operator.split()
        return f"{self.of} {self.operator} {f'({values})' if is_list else values}".rstrip()


@frozen
class Combination:
    """Several conditions, of which all must hold (and), or one (or)."""

    operator: Literal["and", "or"]
    parts: tuple[Filter, ...]

    def __str__(self) -> str:
        parts = (f"({part})" if isinstance(part, Combination) else str(part) for part in self.parts)
        return f" {self.operator} ".join(parts)


Filter: TypeAlias = Condition | Combination
Node = TypeVar("Node")


def walk(node: object) -> Iterator[Any]:
    """Yield all parts of a filter or an expression, the outer ones first."""
    yield node
    for part in node if isinstance(node, tuple) else _parts(node) if has(type(node)) else ():
        yield from walk(part)


def _parts(node: Any) -> list[Any]:  # noqa: ANN401 - a record
    return [getattr(node, part.name) for part in fields(type(node))]


def reads(node: object) -> Iterator[Read]:
    """Yield what a filter or an expression reads."""
    return (one for one in walk(node) if isinstance(one, Read))


def read_columns(node: object) -> list[str]:
    """Return the columns that a filter or an expression reads, each once."""
    return list(dict.fromkeys(one.column for one in reads(node)))


def read_as(node: Node, text_of: Callable[[str], TextValues]) -> Node:
    """Return a filter or an expression that reads text in each column as it is declared."""
    if isinstance(node, Read):
        return evolve(node, text=text_of(node.column))
    if isinstance(node, tuple):
        return tuple(read_as(part, text_of) for part in node)  # type: ignore[return-value]
    return type(node)(*(read_as(part, text_of) for part in _parts(node))) if has(type(node)) else node


def argument_of(name: str, term: Term | LookedUp) -> str:
    """Return what declares a derived column, as errors name it."""
    return f"{'key' if isinstance(term, LookedUp) else 'expression'} of {name!r}"


def reading_of(term: Term | LookedUp) -> Reading:
    """Return what a value is, or what those of an expression are."""
    if term is None or isinstance(term, bool):
        return "null" if term is None else "truth"
    if isinstance(term, int | float | str):
        return "text" if isinstance(term, str) else "number"
    return "time" if isinstance(term, date) else term.reading


def outcomes(term: Term) -> list[Any] | None:
    """Return the values that an expression may have besides null, if it names them all; else None."""
    if isinstance(term, Operation) and term.name in ("month", "weekday"):
        return list(range(1, PARTS[term.name][1] + 1))
    values: list[Term] = [False, True] if isinstance(term, Truth) else [term]
    if isinstance(term, Case):
        values = [*(value for _, value in term.cases), term.otherwise]
    are_named = all(isinstance(value, str | int | None) for value in values)
    return list(dict.fromkeys(value for value in values if value is not None)) or None if are_named else None


def filter_text(where: object) -> str:
    """Return the text of a filter as all of its spellings are written: small letters, without `not` and comments."""
    return str(parse_filter(where))


def parse_filter(where: object) -> Filter:
    """Return the filter that an expression says; what is not allowed is refused."""
    usual = "must be a condition as text, such as \"age >= 18 and ward <> 'test'\""
    return _parse("where", where, usual, lambda reader, node: reader.read(node, negated=False, depth=0))


def parse_expression(argument: str, text: object, usual: Reading) -> Term:
    """Return what an expression computes; columns that nothing else says to read are read as what is usual."""
    wanted = "must be an expression as text, such as 'weight / (height * height)'"
    found = _parse(argument, text, wanted, lambda reader, node: reader.term(node, None, 0, usual))
    if not any(reads(found)):
        raise ArgumentError(argument, text, "must name a column of the data")
    return found


def _parse(argument: str, text: object, wanted: str, read: Callable[[_Reader, Expression], Node]) -> Node:
    """Return what is read of a text; what is not allowed is refused."""
    if not isinstance(text, str) or not text.strip():
        raise ArgumentError(argument, text, wanted)
    shown = text if len(text) <= 200 else f"{text[:200]}..."
    if len(text) > _MOST_CHARACTERS:
        raise ArgumentError(argument, shown, f"must have at most {_MOST_CHARACTERS:,} characters")
    from sqlglot import exp, parse_one
    from sqlglot.errors import ParseError, SqlglotError

    reader = _Reader(argument, shown)
    try:
        found = read(reader, parse_one(text, into=exp.Condition))
    except SqlglotError as failed:
        # The column that the parser counts is the end of what it did not expect.
        seen = failed.errors[0] if isinstance(failed, ParseError) and failed.errors else {}
        near = f" near {seen['highlight']!r} (character {seen['col']})" if seen.get("highlight") else ""
        if re.fullmatch(r"[^\W\d]\w*", seen.get("highlight", "")):
            near += f'; a column whose name is a word of SQL is in double quotes ("{seen["highlight"]}")'
        raise ArgumentError(argument, shown, f"cannot be read{near}; {reader.allowed}") from None
    except RecursionError:
        raise ArgumentError(argument, shown, "is nested too deeply; leave out parentheses") from None
    if sum(1 for _ in reads(found)) > _MOST_READS:
        what = "conditions" if argument == "where" else "columns"
        raise ArgumentError(argument, shown, f"must have at most {_MOST_READS} {what}")
    return found


@frozen
class _Reader:
    """What makes a filter of the tree of a parser; a node, or an argument of one, that is not known here is refused."""

    argument: str
    text: str

    @property
    def allowed(self) -> str:
        """What may be written, in words."""
        if self.argument == "where":
            return (
                "a filter may compare a column with a value (=, <>, <, <=, >, >=, in, between, like, is null), take "
                "year(), month() or weekday() of a date, and combine these with and, or and not"
            )
        return (
            "an expression may be made of columns and values by +, -, *, /, year(), month() and weekday() of a date, "
            "lower(), upper(), trim(), coalesce(), case when ... then ... else ... end, and conditions as in a filter"
        )

    def read(self, node: Expression, *, negated: bool, depth: int) -> Filter:
        """Return the filter of a node, or of its opposite."""
        kind = node.key
        self._require_shallow(depth)
        if kind in ("paren", "not"):
            self._require_only(node, "this")
            return self.read(node.this, negated=negated != (kind == "not"), depth=depth + 1)
        if kind in ("and", "or"):
            parts = [self.read(one, negated=negated, depth=depth + 1) for one in self._chain(node)]
            return _combine("or" if (kind == "or") != negated else "and", parts)
        # Patterns have their own argument for this.
        negated ^= bool(node.args.get("negate"))
        if kind == "between":
            self._require_only(node, "this", "low", "high", "negate")
            ends = zip((">=", "<="), ("low", "high"), strict=True)
            asked = [self._condition(node, operator, (node.args[end],), negated, depth) for operator, end in ends]
            return _combine("or" if negated else "and", asked)
        if kind == "in" and node.expressions:
            self._require_only(node, "this", "expressions", "negate")
            return self._condition(node, "in", node.expressions, negated, depth)
        if kind == "is" and node.expression.key == "null":
            self._require_only(node, "this", "expression", "negate")
            return self._condition(node, "is null", (), negated, depth)
        operator = _OPERATORS.get(kind)
        if operator is None:
            self._refuse(node, self.allowed)
        self._require_only(node, "this", "expression", "negate")
        if operator in _MIRRORED and self._is_value(node.this) and not self._is_value(node.expression):
            node.args["this"], node.args["expression"] = node.expression, node.this
            operator = _MIRRORED[operator]
        return self._condition(node, operator, (node.expression,), negated, depth)

    def term(self, node: Expression, wanted: Reading | None, depth: int, usual: Reading = "text") -> Term:
        """Return what a node computes, which must be what is wanted, if anything is."""
        self._require_shallow(depth)
        kind, found = node.key, cast("Term", None)
        if kind == "paren":
            self._require_only(node, "this")
            return self.term(node.this, wanted, depth + 1, usual)
        if kind == "column":
            return self._column(node, wanted or usual)
        if (part := self._part(node)) is not None:
            found = part
        elif kind in _ARITHMETIC:
            parts = tuple(self.term(one, "number", depth + 1) for one in self._chain(node))
            found = Operation(_ARITHMETIC[kind], parts, "number")
        elif kind == "neg" and not self._is_value(node):
            self._require_only(node, "this")
            found = Operation("-", (0, self.term(node.this, "number", depth + 1)), "number")
        elif kind in ("lower", "upper", "trim"):
            self._require_only(node, "this")
            found = Operation(kind, (self.term(node.this, "text", depth + 1),), "text")
        elif kind == "coalesce":
            self._require_only(node, "this", "expressions")
            found = Operation(kind, *self._alike(node, [node.this, *node.expressions], wanted or usual, depth))
        elif kind == "case":
            self._require_only(node, "ifs", "default")
            last = node.args.get("default")
            values = [*(one.args["true"] for one in node.args["ifs"]), *([] if last is None else [last])]
            terms, kind = self._alike(node, values, wanted or usual, depth)
            filters = [self.read(one.this, negated=False, depth=depth + 1) for one in node.args["ifs"]]
            found = Case(tuple(zip(filters, terms, strict=False)), None if last is None else terms[-1], kind)
        elif kind in ("and", "or", "not", "between", "in", "is") or kind in _OPERATORS:
            found = Truth(*(self.read(node, negated=negated, depth=depth) for negated in (False, True)))
        else:
            found = self._value(node) if self._is_value(node) else self._refuse(node, self.allowed)
        if (has := reading_of(found)) not in _NOUNS:
            self._refuse(node, "a result is a number, a text in single quotes, true or false; write dates as text")
        if wanted not in (None, has):
            self._refuse(node, f"is {_NOUNS[has]}, and {_NOUNS.get(str(wanted), wanted)} is needed")
        return found

    def _alike(
        self, node: Expression, nodes: Sequence[Expression], usual: Reading, depth: int
    ) -> tuple[tuple[Term, ...], Reading]:
        """Return terms of one kind, as which columns among them are read, and nulls; and the kind."""
        found = [
            self.term(one, None, depth + 1) if one.unnest().key not in ("column", "null") else None for one in nodes
        ]
        if len(kinds := {reading_of(one) for one in found} - {"null"}) > 1:
            self._refuse(node, "has values of several kinds: all must be numbers, or texts, or true and false")
        kind = next(iter(kinds), usual)
        terms = (
            self.term(one, kind, depth + 1) if one.unnest().key == "column" else term
            for one, term in zip(nodes, found, strict=True)
        )
        return tuple(terms), kind

    def _chain(self, node: Expression) -> Iterator[Expression]:
        """Yield the operands of a chain of one operator, which is a tree that leans to the left."""
        for one in node.flatten(unnest=False):
            self._require_only(one.parent, "this", "expression")
            yield one

    def _column(self, node: Expression, reading: Reading) -> Read:
        """Return a column."""
        if node.key != "column" or set(_arguments_of(node)) != {"this"} or node.this.key != "identifier":
            self._refuse(node, f"must be a column of the data; {self.allowed}")
        return Read(self._characters(node, node.this.name), reading, bool(node.this.args.get("quoted")))

    def _part(self, node: Expression) -> Operation | None:
        """Return the part of a date that a node takes; None if it takes none."""
        part = node.name.lower() if node.key == "anonymous" else node.key
        if part not in PARTS:
            return None
        self._require_only(node, "this" if node.key != "anonymous" else "expressions", "this")
        of, *more = node.expressions or [node.this]
        if more:
            self._refuse(node, f"{part}() takes one column")
        return Operation(part, (self._column(of, "time"),), "number")

    def _condition(
        self, node: Expression, operator: str, values: Sequence[Expression], negated: bool, depth: int
    ) -> Condition:
        """Return a condition on the column, the part of one, or what is computed, that a node is about."""
        about, part = node.this, self._part(node.this)
        read = tuple(map(self._value, values))
        if len({reading_of(value) for value in read}) > 1:
            self._refuse(node, "compares with values of several kinds: write a list of one kind, or conditions with or")
        reading = reading_of(read[0]) if read else "null"
        of: Any = part
        if part is None and about.unnest().key in _COMPUTES:
            of = self.term(about, None if reading == "null" else reading, depth + 1)
        elif part is None:
            of = self._column(about, reading)
        for value in read:
            if part is not None:
                first, last = PARTS[part.name]
                if type(value) is not int or operator == "like" or not first <= value <= last:
                    self._refuse(node, f"{part.name}() is compared with whole numbers from {first} to {last}")
            elif isinstance(value, bool) and operator not in ("=", "<>", "in"):
                self._refuse(node, "true and false are compared by = and <> only")
            elif operator == "like" and (not isinstance(value, str) or value.count("%") > _MOST_WILDCARDS):
                self._refuse(node, f"like takes a text in single quotes with at most {_MOST_WILDCARDS} percent signs")
        if part is not None and not read:
            self._refuse(node, "only a column is null or not")
        return Condition(of, _OPPOSITE[operator] if negated else operator, read)

    def _is_value(self, node: Expression) -> bool:
        """Return whether a node is meant as a literal."""
        return node.key in ("literal", "boolean", "cast", "null") or (node.key == "neg" and node.this.key == "literal")

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
                    return periods.plain_time(self.argument, datetime.fromisoformat(text))
                if kind == "date" and len(text) == 10:
                    return date.fromisoformat(text)
            self._refuse(node, "must be date 'yyyy-mm-dd', or timestamp 'yyyy-mm-dd hh:mm:ss', without a time zone")
        if node.key == "null":
            self._refuse(node, "nothing is equal to null: write is null, or is not null")
        digits = node.this if node.key == "neg" else node
        is_number = digits.key == "literal" and not digits.args["is_string"]
        if not is_number or not re.fullmatch(r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?", digits.name):
            more = (
                " (columns cannot be compared with one another; for numbers, write a - b > 0)"
                if node.key == "column"
                else ""
            )
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

    def _require_shallow(self, depth: int) -> None:
        if depth > _MOST_DEPTH:
            raise ArgumentError(self.argument, self.text, f"must be nested at most {_MOST_DEPTH} deep")

    def _require_only(self, node: Expression, *known: str) -> None:
        """Refuse a node with an argument that is none of these."""
        if set(_arguments_of(node)) - set(known):
            self._refuse(node, self.allowed)

    def _refuse(self, node: Expression, said: str) -> NoReturn:
        places = [inner.meta["start"] for inner in node.walk() if "start" in inner.meta]
        where = f" (character {min(places) + 1})" if places else ""
        raise ArgumentError(self.argument, self.text, f"{node.sql()}{where}: {said}")


def _arguments_of(node: Expression) -> list[str]:
    """Return the arguments that a node has; a boolean argument that is false says nothing."""
    return [name for name, value in node.args.items() if value is not None and value is not False and value != []]


def _combine(operator: Literal["and", "or"], parts: Sequence[Filter]) -> Filter:
    """Return a combination, in which those of the same operator are one."""
    flat: list[Filter] = []
    for part in parts:
        flat += part.parts if isinstance(part, Combination) and part.operator == operator else [part]
    return Combination(operator, tuple(flat))


def _sql_text(value: Term) -> str:
    """Return a value, or what computes one, as it is written."""
    if isinstance(value, date):
        return f"{'timestamp' if isinstance(value, datetime) else 'date'} '{periods.time_text(value)}'"
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "null" if value is None else str(value).lower() if isinstance(value, bool | float) else str(value)
