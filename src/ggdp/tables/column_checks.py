"""Checks of what is declared for a column: levels, edges, labels, and levels for others and for nulls.

An error names the column, and what of its declaration is wrong.
"""

from __future__ import annotations

import math
import numbers
from datetime import date, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.privacy.values import LARGEST, LEAST
from ggdp.tables import periods

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.tables.periods import Edge

Level: TypeAlias = str | int | bool | date

_MOST_EDGES = 10_001
# So many levels are checked at once.
_CHUNK = 1 << 16


def kind_of(level: Level) -> Literal["text", "integer", "boolean", "date"]:
    """Return the type of a level."""
    if isinstance(level, bool):
        return "boolean"
    if isinstance(level, int):
        return "integer"
    return "text" if isinstance(level, str) else "date"


def number_text(edge: float) -> str:
    """Return the shortest text of an edge, whole numbers without a point."""
    return str(int(edge)) if edge.is_integer() and abs(edge) < 1e15 else repr(edge)


def plain_value(level: object) -> object:
    """Return a level as a plain Python value; NumPy's scalars become one."""
    if isinstance(level, numbers.Integral) and not isinstance(level, bool):
        return int(level)
    item = getattr(level, "item", None)
    return item() if callable(item) and getattr(level, "shape", None) == () else level


def checked_role(name: str, role: str, label: object, *, declared: bool) -> str | None:
    """Return the name of the level of others, or of nulls."""
    if label is None:
        return None
    if not isinstance(label, str) or not label:
        raise ArgumentError(f"{role} of {name!r}", label, "must be text, the level's name")
    if not declared:
        raise ArgumentError(f"{role} of {name!r}", label, "needs declared levels or edges")
    _require_unicode(f"{role} of {name!r}", (label,))
    return label


def checked_labels(name: str, labels: object, edges: tuple[Edge, ...] | None) -> tuple[str, ...]:
    """Return the labels of bins: one for each, different from one another."""
    said = f"labels of {name!r}"
    if edges is None:
        raise ArgumentError(said, labels, "need edges: levels are published as they are declared")
    found = _validate.non_empty(**{said: labels})
    for label in found:
        if not isinstance(label, str) or not label:
            raise ArgumentError(said, label, "must be text")
    bins = len(edges) - 1
    if len(found) != bins:
        raise ArgumentError(
            said, list(found), f"must be {bins}, one for each bin: {len(edges)} edges are the ends of {bins} bins"
        )
    _require_unicode(said, found)  # type: ignore[arg-type]
    _require_different(said, found)
    return found  # type: ignore[return-value]


def checked_levels(name: str, levels: object) -> tuple[Level, ...]:
    """Return levels: all of one type, different from one another."""
    said = f"levels of {name!r}"
    if not isinstance(levels, list | tuple | range):
        raise ArgumentError(
            said,
            type(levels).__name__,
            "must be a list written by hand; the values found in a column of data are not a public domain",
        )
    found = _validate.non_empty(**{said: levels})
    if not set(map(type, found)) <= {str, int, bool, date}:
        found = tuple(map(plain_value, found))
        for level in found:
            if isinstance(level, float):
                raise ArgumentError(said, level, "must not be floating-point numbers: declare edges, or text levels")
            if not isinstance(level, str | int | date) or isinstance(level, datetime):
                raise ArgumentError(said, level, "must be text, integers, true and false, or dates")
    kinds = {kind_of(level) for level in {type(level): level for level in found}.values()}  # type: ignore[arg-type]
    if len(kinds) > 1:
        raise ArgumentError(
            said, levels, "must be of one type: all text, all integers, all true and false, or all dates"
        )
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
    hashes = np.fromiter(map(hash, items), np.int64, len(items))
    ordered = np.sort(hashes)
    shared = ordered[1:][ordered[1:] == ordered[:-1]]
    seen: set[object] = set()
    for place in np.flatnonzero(np.isin(hashes, shared)) if shared.size else ():
        if items[place] in seen:
            raise ArgumentError(said, items[place], "is declared twice")
        seen.add(items[place])


def _require_unicode(said: str, texts: tuple[str, ...]) -> None:
    """Raise if a text cannot be encoded."""
    for start in range(0, len(texts), _CHUNK):
        chunk = texts[start : start + _CHUNK]
        try:
            "".join(chunk).encode()
        except UnicodeEncodeError:
            if len(chunk) == 1:
                raise ArgumentError(said, chunk[0], "holds half of a surrogate pair, which no file can store") from None
            for text in chunk:
                _require_unicode(said, (text,))


def checked_edges(name: str, edges: object) -> tuple[Edge, ...]:
    """Return the ends of bins: all numbers, or all dates and times, increasing."""
    said = f"edges of {name!r}"
    given = _validate.non_empty(**{said: edges})
    if len(given) < 2:
        raise ArgumentError(said, edges, "must be at least two: they are the ends of bins")
    if len(given) > _MOST_EDGES:
        raise ArgumentError(said, f"{len(given):,} edges", f"must be at most {_MOST_EDGES:,}")
    if any(map(periods.is_time, given)):
        times = periods.checked_times(said, given)
        _require_increasing(said, edges, times, periods.instant, periods.time_text)
        return times
    found = []
    for edge in given:
        if isinstance(edge, bool) or not isinstance(edge, numbers.Real) or edge != edge:
            raise ArgumentError(said, edge, "must be numbers, or dates and times")
        try:
            number = float(edge)
        except OverflowError:
            number = math.nan
        if number != edge:
            raise ArgumentError(said, edge, "is not a 64-bit float; choose the nearest one")
        found.append(number)
    _require_increasing(said, edges, found, float, number_text)
    return tuple(found)


def _require_increasing(said: str, edges: object, found: Sequence[Any], number: Any, text: Any) -> None:  # noqa: ANN401
    for low, high in pairwise(found):
        if not number(low) < number(high):
            raise ArgumentError(said, edges, f"must increase: {text(high)} comes after {text(low)}")
