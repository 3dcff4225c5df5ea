"""One column of a table: the values it may have, declared without looking at the data.

A column has *codes* 0, 1, ..., one for each value that can be published, in the order in which they are published:

- first the levels, or the bins between two edges, of which the last one has its end if they are numbers;
- then `other`, for what is none of these, and `missing`, for nulls and NaN. In a *complete* column, which has neither,
  a row without a declared value has the code 0, and for statistics one without a number the middle of the range.

The keys of a column without levels and edges, which is *open*, are chosen privately, as text. The page "The domain
file" of the documentation has all that can be declared.

Without `other`, `missing` or `complete` such rows are not counted. Whatever a row holds, it has one code or none: that
is all that sensitivities need. Errors of a declaration name the column, and what of it is wrong.
"""

from __future__ import annotations

import math
import numbers
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from attrs import field, fields, frozen

from ggdp import _validate
from ggdp.domain import periods
from ggdp.domain.filters import LookedUp, Read, Term, outcomes, parse_expression
from ggdp.domain.lookups import Lookup
from ggdp.domain.text_values import Rewriting, TextValues
from ggdp.domain.value_range import LevelRanges, ValueRange
from ggdp.errors import ArgumentError
from ggdp.privacy.grid import LARGEST, LEAST

if TYPE_CHECKING:
    import pyarrow as pa

    from ggdp.domain.periods import Edge


Level: TypeAlias = str | int | bool | date

_MOST_EDGES = 10_001


def level_kind(level: Level) -> Literal["text", "integer", "boolean", "date"]:
    """Return the type of a level."""
    if isinstance(level, bool):
        return "boolean"
    return "integer" if isinstance(level, int) else "text" if isinstance(level, str) else "date"


def _plain_value(level: object) -> object:
    """Return a level as a plain Python value; NumPy's scalars become one."""
    if isinstance(level, numbers.Integral) and not isinstance(level, bool):
        return int(level)
    item = getattr(level, "item", None)
    return item() if callable(item) and getattr(level, "shape", None) == () else level


def _check_role(name: str, role: str, label: object, *, declared: bool) -> str | None:
    """Return the name of the level of others, or of nulls."""
    if label is None:
        return None
    if not isinstance(label, str) or not label:
        raise ArgumentError(f"{role} of {name!r}", label, "must be text, the level's name")
    if not declared:
        raise ArgumentError(f"{role} of {name!r}", label, "needs declared levels or edges")
    _require_unicode(f"{role} of {name!r}", (label,))
    return label


def _check_labels(
    name: str, labels: object, levels: tuple[Level, ...] | None, edges: tuple[Edge, ...] | None
) -> tuple[str, ...]:
    """Return the labels of levels or bins: one for each, distinct, and none that is another level."""
    said = f"labels of {name!r}"
    if levels is None and edges is None:
        raise ArgumentError(said, labels, "need declared levels or edges")
    found = _validate.non_empty(**{said: labels})
    for label in found:
        if not isinstance(label, str) or not label:
            raise ArgumentError(said, label, "must be text")
    if edges is not None:
        number, each = len(edges) - 1, f"bin: {len(edges)} edges are the ends of {len(edges) - 1} bins"
    else:
        number, each = len(levels or ()), "level"
    if len(found) != number:
        raise ArgumentError(said, list(found), f"must be {number}, one for each {each}")
    if levels is not None:
        places = {text: place for place, text in enumerate(_texts(levels))}
        for place, label in enumerate(found):
            if places.get(str(label), place) != place:
                raise ArgumentError(said, label, "is the label of one level and the value of another")
    _require_unicode(said, found)  # type: ignore[arg-type]
    _require_different(said, found)
    return found  # type: ignore[return-value]


def _check_levels(name: str, levels: object) -> tuple[Level, ...]:
    """Return levels: all of one type, different from one another."""
    said = f"levels of {name!r}"
    if isinstance(levels, str):
        raise ArgumentError(said, levels, 'must be a list, such as ["no", "yes"]')
    if not isinstance(levels, list | tuple | range):
        expected = (
            'must be a list written by hand, such as levels=["no", "yes"]; the values found in a column of data are '
            "not a public domain, they can reveal who is there. Take them from a code book, or declare none, with delta"
        )
        raise ArgumentError(said, type(levels).__name__, expected)
    found = _validate.non_empty(**{said: levels})
    if not set(map(type, found)) <= {str, int, bool, date}:
        found = tuple(map(_plain_value, found))
        for level in found:
            if isinstance(level, float):
                raise ArgumentError(said, level, "must not be floating-point numbers: declare edges, or text levels")
            if not isinstance(level, str | int | date) or isinstance(level, datetime):
                raise ArgumentError(said, level, "must be text, integers, true and false, or dates")
    kinds = {level_kind(level) for level in {type(level): level for level in found}.values()}  # type: ignore[arg-type]
    if len(kinds) > 1:
        expected = "must be of one type: all text, all integers, all true and false, or all dates"
        raise ArgumentError(said, levels, expected)
    if kinds == {"integer"}:
        for extreme in (min(found), max(found)):  # type: ignore[type-var]
            if not LEAST <= extreme <= LARGEST:  # type: ignore[operator]
                raise ArgumentError(said, extreme, "must fit in 64 bits; declare it as text")
    if kinds == {"text"}:
        _require_unicode(said, found)  # type: ignore[arg-type]
    if not isinstance(levels, range):
        _require_different(said, found)
    return found  # type: ignore[return-value]


def _require_different(said: str, items: tuple[object, ...]) -> None:
    """Raise if two items are equal."""
    # Of a million texts, sorting the hashes takes half the time of a set.
    hashes = np.sort(np.fromiter(map(hash, items), np.int64, len(items)))
    if np.any(hashes[1:] == hashes[:-1]):
        for item, number in Counter(items).items():
            if number > 1:
                raise ArgumentError(said, item, "is declared twice")


def _require_unicode(said: str, texts: tuple[str, ...]) -> None:
    """Raise if a text cannot be encoded."""
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        half = next(text for text in texts if any("\ud800" <= character <= "\udfff" for character in text))
        raise ArgumentError(said, half, "holds half of a surrogate pair, which no file can store") from None


def _check_edges(name: str, edges: object) -> tuple[Edge, ...]:
    """Return the ends of bins: all numbers, or all dates and times, of which the first and last may be infinite."""
    said = f"edges of {name!r}"
    given = _validate.non_empty(**{said: edges})
    if len(given) < 2:
        raise ArgumentError(said, edges, "must be at least two: they are the ends of bins")
    if len(given) > _MOST_EDGES:
        raise ArgumentError(said, f"{len(given):,} edges", f"must be at most {_MOST_EDGES:,}")
    found: list[Edge] = []
    if any(isinstance(edge, date) for edge in given):
        ends = {0: -math.inf, len(given) - 1: math.inf}
        for place, edge in enumerate(given):
            if place in ends and isinstance(edge, float) and edge == ends[place]:
                found.append(edge)
            # pandas' NaT is a date that is not equal to itself.
            elif isinstance(edge, date) and edge == edge:
                found.append(periods.plain_time(said, edge))
            else:
                expected = "must be dates or times if one of them is; the first may be -inf and the last inf"
                raise ArgumentError(said, edge, expected)
    else:
        for edge in given:
            if isinstance(edge, bool) or not isinstance(edge, numbers.Real) or edge != edge:
                raise ArgumentError(said, edge, "must be numbers, or dates and times")
            try:
                found.append(float(edge))
            except OverflowError:
                found.append(math.nan)
            if found[-1] != edge:
                raise ArgumentError(said, edge, "is not a 64-bit float; choose the nearest one")
    for low, high in pairwise(found):
        if not periods.instant(low) < periods.instant(high):
            raise ArgumentError(said, edges, f"must increase: {_edge_text(high)} comes after {_edge_text(low)}")
    return tuple(found)


def _check_ranges(name: str, by: object, ranges: object) -> tuple[tuple[str, ValueRange], ...]:
    """Return the ranges of levels of another column, whose names are text, as in files."""
    said = f"ranges of {name!r}"
    if by is None and ranges is None:
        return ()
    if not isinstance(by, str) or by in ("", name):
        raise ArgumentError(f"range_by of {name!r}", by, "must be another column, whose levels have the ranges")
    if not isinstance(ranges, Mapping) or not ranges:
        raise ArgumentError(said, ranges, f"must give ranges to levels of {by!r}: {{LEVEL = [0, 500]}}")
    found: dict[str, ValueRange] = {}
    for level, ends in ranges.items():
        if not isinstance(ends, ValueRange) and (not isinstance(ends, list | tuple) or len(ends) not in (2, 3)):
            raise ArgumentError(said, ends, "must be the ends of a range, and perhaps a step, such as [0, 500, 0.1]")
        found[_text(_plain_value(level))] = ends if isinstance(ends, ValueRange) else ValueRange(*ends, name=said)
    return tuple(found.items())


Kind: TypeAlias = Literal["text", "integer", "boolean", "date", "bins", "open"]


@frozen(init=False)
class Column:
    """The public values of one column.

    Parameters
    ----------
    name : str
        Name of the column.
    levels : sequence of str, int, bool or date, optional
        The values it may have, all of one type. They must be known without the data.
    edges : sequence of float, date or datetime, or mapping, optional
        Ends of bins, increasing: numbers, or dates and times without a zone. The first may be -inf and the last inf. Or
        a range of whole periods of the calendar, such as ``{"from": date(2024, 1, 1), "to": date(2025, 1, 1), "every":
        "month"}``; the periods are "day", "week", "month", "quarter" and "year".
    labels : sequence of str, optional
        What is published for each level or bin, instead of the level or the ends of the bin.
    other, missing : str, optional
        Levels for values that are not declared, and for nulls. A declared level may be named too.
    complete : bool, default False
        Whether every unit is stated to have a declared value, which is public. A row without one is counted in the
        first level or bin, and without a number at the middle of the range. It does not go with `other` or `missing`.
    range : pair of numbers, optional
        The public range of the numbers in the column, for statistics. Values outside are clamped to it.
    step : number, optional
        With `range`: the step that values are rounded to (`ggdp.domain.value_range.ValueRange`).
    range_by : str, optional
        Another column, if each of its levels has a range of its own (``range_by="test"``).
    ranges : mapping, optional
        With `range_by`: ends, and perhaps a step, for levels of that column (``{"sodium": [100, 180], "crp": [0, 500,
        0.1]}``). Levels that it does not name have `range`.
    expression : str, optional
        What the column is computed from in each row, such as ``"weight / (height * height)"``.
    lookup : path, optional
        A public CSV file that has the value of the column for each `key`.
    key : str, optional
        With `lookup`: the column of the data whose values are looked up.
    decimal, thousands, date_format, null_values : optional
        How the text of this column is read, if not as that of others (`ggdp.domain.text_values`).

    Attributes
    ----------
    labels : tuple
        What is published for each code: the labels, or else the levels as declared, all as text where `other` or
        `missing` is.
    other_code, missing_code : int or None
        The codes of what is not declared, and of nulls, 0 if it is complete; None if they are not counted.
    values_in : ValueRange or None
        The range of its numbers; None if none is declared.
    ranges : tuple of pairs
        Levels of `range_by`, as text, with their ranges.
    text : TextValues
        How its text is read.

    Examples
    --------
    >>> age = Column(name="age", edges=[0, 18, 65, 120], missing="unknown")
    >>> age.labels
    ('[0, 18)', '[18, 65)', '[65, 120]', 'unknown')
    >>> Column(name="age", edges=[0, 18, 65, math.inf], labels=["0-17", "18-64", "65+"]).labels
    ('0-17', '18-64', '65+')
    >>> Column(name="race", levels=[1, 2, 3], labels=["White", "Black", "Other"]).labels
    ('White', 'Black', 'Other')
    >>> Column(name="rooms", levels=[1, 2, 3]).kind
    'integer'
    >>> quarters = {"from": date(2024, 1, 1), "to": date(2025, 1, 1), "every": "quarter"}
    >>> Column(name="visited", edges=quarters).labels
    ('2024-Q1', '2024-Q2', '2024-Q3', '2024-Q4')
    """

    name: str
    levels: tuple[Level, ...] | None
    edges: tuple[Edge, ...] | None
    other: str | None
    missing: str | None
    values_in: ValueRange | None
    range_by: str | None
    ranges: tuple[tuple[str, ValueRange], ...]
    # Labels that were declared, or are names of periods.
    given_labels: tuple[str, ...] | None = field(repr=False)
    _every: str | None = field(repr=False, eq=False)
    text: TextValues = field(repr=False)
    expression: str | None
    lookup: Lookup | None
    complete: bool = field(repr=False)

    def __init__(
        self,
        *,
        name: str,
        levels: Sequence[Level] | None = None,
        edges: Sequence[Edge] | Mapping[str, Any] | None = None,
        labels: Sequence[str] | None = None,
        other: str | None = None,
        missing: str | None = None,
        complete: bool | None = None,
        range: object = None,  # noqa: A002 - as domain files call it
        step: object = None,
        range_by: str | None = None,
        ranges: Mapping[Level, Any] | None = None,
        decimal: str | None = None,
        thousands: str | None = None,
        date_format: str | None = None,
        null_values: Sequence[str] | None = None,
        expression: str | None = None,
        lookup: object = None,
        key: str | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise ArgumentError("name", name, "the name of a column must be text")
        if levels is not None and edges is not None:
            raise ArgumentError(f"domain of {name!r}", "levels and edges", "declare either levels or edges")
        every, named = None, None
        if isinstance(edges, Mapping):
            edges, named, every = periods.expand(f"edges of {name!r}", edges)
        if expression is not None and lookup is not None:
            raise ArgumentError(f"domain of {name!r}", "expression and lookup", "declare either of them")
        if lookup is None and key is not None:
            raise ArgumentError(f"key of {name!r}", key, 'needs a lookup: lookup = "postcodes.csv"')
        looked_up = None if lookup is None else Lookup.of(name, key, lookup)
        if expression is not None:
            term = parse_expression(f"expression of {name!r}", expression, "text")
            expression = str(term)
        if levels is None and edges is None and range is None:
            if looked_up is not None:
                levels = list(dict.fromkeys(value for value in looked_up.table.values() if value is not None))
            elif expression is not None:
                levels = outcomes(term)
        declared = levels is not None or edges is not None
        if range is None and step is not None:
            raise ArgumentError(f"step of {name!r}", step, "needs a range: range = [0, 100]")
        if not isinstance(range, ValueRange | None):
            if not isinstance(range, list | tuple) or len(range) != 2:
                raise ArgumentError(f"range of {name!r}", range, "must be a pair of ends, such as [0, 200000]")
            range = ValueRange(range[0], range[1], step, name=f"range of {name!r}")  # noqa: A001
        by_level = _check_ranges(name, range_by, ranges)
        said = f"complete of {name!r}"
        if complete is not None and _validate.boolean(**{said: complete}):
            if not (declared or range is not None or by_level):
                raise ArgumentError(said, complete, "needs levels, edges or a range")
            if other is not None or missing is not None:
                role = "other" if other is not None else "missing"
                what = f"does not go with {role!r}: if every unit has a declared value, nobody is counted there"
                raise ArgumentError(said, complete, f"{what}; remove one of them")
        found = None if levels is None else _check_levels(name, levels)
        ends = None if edges is None else _check_edges(name, edges)
        given: dict[str, Any] = {"decimal": decimal, "thousands": thousands}
        given |= {"date_format": date_format, "null_values": null_values}
        try:
            text = TextValues(**given)
        except ArgumentError as wrong:
            raise type(wrong)(f"{wrong.argument} of {name!r}", wrong.value, wrong.expected) from None
        self.__attrs_init__(
            name=name,
            levels=found,
            edges=ends,
            other=_check_role(name, "other", other, declared=declared),
            missing=_check_role(name, "missing", missing, declared=declared),
            values_in=range,
            range_by=range_by,
            ranges=by_level,
            given_labels=named if labels is None else _check_labels(name, labels, found, ends),
            every=every if labels is None else None,
            text=text,
            expression=expression,
            lookup=looked_up,
            complete=bool(complete),
        )

    @cached_property
    def labels(self) -> tuple[Level, ...]:
        """What is published for each code."""
        declared: tuple[Level, ...] = self.given_labels or self.levels or ()
        if self.edges is not None and self.given_labels is None:
            pairs = list(pairwise(map(_edge_text, self.edges)))
            closed = -1 if self.dated else len(pairs) - 1
            declared = tuple(f"[{low}, {high}{']' if k == closed else ')'}" for k, (low, high) in enumerate(pairs))
        extra = tuple(dict.fromkeys(label for label in (self.other, self.missing) if label is not None))
        if not extra:
            return declared
        texts = _texts(declared)
        return (*texts, *(label for label in extra if label not in texts))

    @cached_property
    def other_code(self) -> int | None:
        """The code of what is not declared; None if it is not counted."""
        return self._code_of(self.other)

    @cached_property
    def missing_code(self) -> int | None:
        """The code of nulls; None if they are not counted."""
        return self._code_of(self.missing)

    def _code_of(self, role: str | None) -> int | None:
        none = 0 if self.complete and self.kind != "open" else None
        return none if role is None else self.labels.index(role)

    @cached_property
    def kind(self) -> Kind:
        """What the declared values are."""
        if self.edges is not None:
            return "bins"
        return "open" if self.levels is None else level_kind(self.levels[0])

    @cached_property
    def dated(self) -> bool:
        """Whether the declared bins are of dates and times."""
        return any(isinstance(edge, date) for edge in self.edges or ())

    @cached_property
    def rewriting(self) -> Rewriting | None:
        """How text is rewritten before it is compared with what is declared; None if it is not."""
        if self.kind == "date" or self.dated:
            return self.text.time
        return self.text.number if self.kind in ("integer", "bins") else None

    @property
    def may_be_labels(self) -> bool:
        """Whether its levels are value labels where a file holds numbers: text, and not all of it numbers."""
        return self.kind == "text" and not are_numbers(self.texts)

    def read_as(self, others: TextValues) -> Column:
        """Return the column with what else is declared of the text of all columns."""
        text = self.text.over(others)
        if self.kind == "date" and "%H" in (text.date_format or ""):
            what = f"has a time of day, but the levels of {self.name!r} are dates: declare edges of dates or times"
            raise ArgumentError("date_format", text.date_format, what)
        text.number  # noqa: B018 - raises if two marks are the same
        if text == self.text:
            return self
        made = object.__new__(Column)
        kept: dict[str, Any] = {str(part.alias): getattr(self, part.name) for part in fields(Column)}
        made.__attrs_init__(**kept | {"text": text})
        return made

    @cached_property
    def term(self) -> Term | LookedUp:
        """What a derived column is computed from in each row; None if it is a column of the data."""
        if self.lookup is not None:
            return LookedUp(Read(self.lookup.key, "text"), self.lookup)
        if self.expression is None:
            return None
        is_number = self.values_in is not None or (self.kind == "bins" and not self.dated)
        return parse_expression(f"expression of {self.name!r}", self.expression, "number" if is_number else "text")

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The declared levels as the text that values are compared with, in order."""
        return _texts(self.levels or ())

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.labels)

    @cached_property
    def values(self) -> pa.Array:
        """The labels as an Arrow array, whose type depends on the declaration alone."""
        import pyarrow as pa

        kind = level_kind(self.labels[0]) if self.labels else "text"
        types = {"text": pa.string(), "integer": pa.int64(), "boolean": pa.bool_(), "date": pa.date32()}
        return pa.array(self.labels, type=types[kind])

    @cached_property
    def _codes(self) -> dict[str, int]:
        # No label is the value of another level.
        return {text: code for texts in (self.texts, _texts(self.labels)) for code, text in enumerate(texts)}

    def code(self, label: object) -> int:
        """Return the code of a published label, or of the level that it stands for."""
        plain = _plain_value(label)
        found = self._codes.get(_text(plain)) if isinstance(plain, str | int | date) else None
        if found is None:
            shown = ", ".join(map(str, self.labels[:5])) + (", ..." if self.size > 5 else "")
            raise ArgumentError(f"level of {self.name!r}", label, f"is not declared; declared are {shown or 'none'}")
        return found

    def values_by(self, other: Column) -> LevelRanges:
        """Return the ranges by level of another column; each of its levels must have one."""
        found, said = [self.values_in] * other.size, f"ranges of {self.name!r}"
        for level, values in self.ranges:
            found[other.code(level)] = values
        if len({other.code(level) for level, _ in self.ranges}) < len(self.ranges):
            raise ArgumentError(said, other.name, "has a level with two ranges, by its value and by its label")
        if None in found:
            expected = f"is a level of {other.name!r} without a range: give it one, or declare a range for all others"
            raise ArgumentError(said, other.labels[found.index(None)], expected)
        return LevelRanges(other.name, other.labels, tuple(filter(None, found)))

    def arguments(self) -> dict[str, Any]:
        """Return the declaration of the column, as arguments of `Column`."""
        edges: object = self.edges
        if self.edges is not None and self._every is not None:
            edges = {"from": self.edges[0], "to": self.edges[-1], "every": self._every}
        return {
            "name": self.name,
            "levels": self.levels,
            "edges": edges,
            "labels": None if self._every else self.given_labels,
            "range": self.values_in,
            "range_by": self.range_by,
            "ranges": dict(self.ranges) or None,
            "other": self.other,
            "missing": self.missing,
            "complete": self.complete or None,
            "expression": self.expression,
            "lookup": self.lookup,
            **self.text.declared,
        }

    def declaration(self, directory: str | os.PathLike[str] | None = None) -> dict[str, Any]:
        """Return what is declared, as people write it, with paths relative to a directory, if one is given."""
        found = {name: value for name, value in self.arguments().items() if value is not None and name != "name"}
        if self.values_in is not None:
            found["range"], found["step"] = self.values_in.plain[:2], self.values_in.plain[2]
        if self.ranges:
            found["ranges"] = {level: values.plain for level, values in self.ranges}
        if self.lookup is not None:
            found |= {"lookup": self.lookup.path_from(directory), "key": self.lookup.key}
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain values, ready for JSON: dates, times and infinite ends as text."""
        found = {name: _plain_declaration(value) for name, value in self.declaration().items()}
        # Of a look-up what tells its content, without its directory.
        of = self.lookup
        return found if of is None else found | {"lookup": {"file": of.file, "sha256": of.sha256}, "key": of.key}


def are_numbers(texts: Iterable[str]) -> bool:
    """Return whether all texts are whole numbers, which the numbers of a column can have as their text."""
    return all(re.fullmatch(r"[+-]?[0-9]+(\.0*)?", text, re.ASCII) for text in texts)


def _texts(levels: tuple[Level, ...]) -> tuple[str, ...]:
    """Return levels of one type as text; those of text as they are."""
    kind = level_kind(levels[0]) if levels else "text"
    if kind == "text":
        return levels  # type: ignore[return-value]
    return tuple(map(str if kind == "integer" else _text, levels))


def _text(level: object) -> str:
    if isinstance(level, bool):
        return "true" if level else "false"
    return level.isoformat() if isinstance(level, date) else str(level)


def _edge_text(edge: Edge) -> str:
    """Return the shortest text of an edge, whole numbers without a point."""
    if isinstance(edge, date):
        return periods.time_text(edge)
    return str(int(edge)) if edge.is_integer() and abs(edge) < 1e15 else repr(edge)


def _plain_declaration(value: object) -> object:
    """Return what was declared as JSON values: dates, times and infinite ends as text."""
    if isinstance(value, Mapping):
        return {key: _plain_declaration(inner) for key, inner in value.items()}
    if isinstance(value, tuple):
        return [_plain_declaration(inner) for inner in value]
    if isinstance(value, date):
        return periods.time_text(value)
    return str(value) if isinstance(value, float) and math.isinf(value) else value
