"""One column of a table: which values it may have, as somebody who has not seen the data declares them.

A column has *codes* 0, 1, ..., one for each value that can be published, in the order in which they are published:

==========  ==================================================================================================
levels      text, integers, true and false, or dates; each is a code
edges       e_0 < e_1 < ... < e_k: the bins [e_0, e_1), ..., [e_(k-1), e_k] are the codes, the last with its end
other       a level for what is none of these: unknown levels, unparsable values, numbers outside all bins
missing     a level for nulls (and NaN)
(open)      nothing is declared: the keys are chosen privately, as text
==========  ==================================================================================================

Without `other` or `missing` such rows are counted nowhere. Whatever a row holds, it has one code or none: that is all
that sensitivities need.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field
from datetime import date, datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.privacy.values import LARGEST, LEAST

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Column", "Kind", "Level"]

Level: TypeAlias = str | int | bool | date
Kind: TypeAlias = Literal["text", "integer", "boolean", "date", "bins", "open"]

_MOST_EDGES = 10_001


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """The public values of one column.

    Parameters
    ----------
    name : str
        Name of the column.
    levels : sequence of str, int, bool or date, optional
        The values it may have, all of one type. They must be known without the data.
    edges : sequence of float, optional
        Ends of bins for numbers, increasing; the first may be -inf and the last inf.
    other, missing : str, optional
        Levels for values that are not declared, and for nulls. A declared level may be named too.

    Attributes
    ----------
    labels : tuple
        What is published for each code: the levels as declared, or all as text where `other` or `missing` is.

    Examples
    --------
    >>> age = Column(name="age", edges=[0, 18, 65, 120], missing="unknown")
    >>> age.labels
    ('[0, 18)', '[18, 65)', '[65, 120]', 'unknown')
    >>> Column(name="rooms", levels=[1, 2, 3]).kind
    'integer'
    """

    name: str
    levels: tuple[Level, ...] | None = None
    edges: tuple[float, ...] | None = None
    other: str | None = None
    missing: str | None = None
    labels: tuple[Level, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise ArgumentError("name", self.name, "the name of a column must be text")
        if self.levels is not None and self.edges is not None:
            raise ArgumentError(f"domain of {self.name!r}", "levels and edges", "declare one of the two")
        if self.levels is not None:
            object.__setattr__(self, "levels", _checked_levels(self.name, self.levels))
        if self.edges is not None:
            object.__setattr__(self, "edges", _checked_edges(self.name, self.edges))
        for role, label in (("other", self.other), ("missing", self.missing)):
            if label is None:
                continue
            if not isinstance(label, str) or not label:
                raise ArgumentError(f"{role} of {self.name!r}", label, "must be text, the level's name")
            if self.levels is None and self.edges is None:
                raise ArgumentError(f"{role} of {self.name!r}", label, "needs declared levels or edges")
        object.__setattr__(self, "labels", self._labels())

    @property
    def kind(self) -> Kind:
        """What the declared values are."""
        if self.edges is not None:
            return "bins"
        return "open" if self.levels is None else _kind_of(self.levels[0])

    @property
    def texts(self) -> tuple[str, ...]:
        """The declared levels as the text that values are compared with, in order."""
        return tuple(_text(level) for level in self.levels or ())

    @property
    def size(self) -> int:
        """How many codes there are."""
        return len(self.labels)

    @property
    def other_code(self) -> int | None:
        """The code of what is not declared; None if it is counted nowhere."""
        return None if self.other is None else self.labels.index(self.other)

    @property
    def missing_code(self) -> int | None:
        """The code of nulls; None if they are counted nowhere."""
        return None if self.missing is None else self.labels.index(self.missing)

    @property
    def values(self) -> pa.Array:
        """The labels as an Arrow array, whose type depends on the declaration alone."""
        import pyarrow as pa

        labels = self.labels
        kind = _kind_of(labels[0]) if labels else "text"
        types = {"text": pa.string(), "integer": pa.int64(), "boolean": pa.bool_(), "date": pa.date32()}
        return pa.array(labels, type=types[kind])

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain values, fit for JSON: ends that are infinite as text."""
        found: dict[str, Any] = {}
        if self.levels is not None:
            found["levels"] = [level.isoformat() if isinstance(level, date) else level for level in self.levels]
        if self.edges is not None:
            found["edges"] = [edge if math.isfinite(edge) else str(edge) for edge in self.edges]
        found |= {"other": self.other} if self.other is not None else {}
        return found | ({"missing": self.missing} if self.missing is not None else {})

    def _labels(self) -> tuple[Level, ...]:
        declared: tuple[Level, ...] = self._bins() if self.edges is not None else self.levels or ()
        if self.other is None and self.missing is None:
            return declared
        return tuple(dict.fromkeys((*map(_text, declared), *filter(None, (self.other, self.missing)))))

    def _bins(self) -> tuple[str, ...]:
        edges = [_number(edge) for edge in self.edges or ()]
        pairs = list(pairwise(edges))
        return tuple(f"[{low}, {high}{']' if k == len(pairs) - 1 else ')'}" for k, (low, high) in enumerate(pairs))


def _kind_of(level: Level) -> Literal["text", "integer", "boolean", "date"]:
    if isinstance(level, bool):
        return "boolean"
    if isinstance(level, int):
        return "integer"
    return "text" if isinstance(level, str) else "date"


def _text(level: Level) -> str:
    if isinstance(level, bool):
        return "true" if level else "false"
    return level.isoformat() if isinstance(level, date) else str(level)


def _number(edge: float) -> str:
    """Return the shortest text of an edge, whole numbers without a point."""
    return str(int(edge)) if edge.is_integer() and abs(edge) < 1e15 else repr(edge)


def _plain(level: object) -> object:
    """Return a level as a plain Python value; NumPy's scalars become one."""
    if isinstance(level, numbers.Integral) and not isinstance(level, bool):
        return int(level)
    item = getattr(level, "item", None)
    return item() if callable(item) and getattr(level, "shape", None) == () else level


def _checked_levels(name: str, levels: object) -> tuple[Level, ...]:
    said = f"levels of {name!r}"
    if not isinstance(levels, list | tuple | range):
        raise ArgumentError(
            said,
            type(levels).__name__,
            "must be a list that you write down; what a column of data happens to hold is not a public domain",
        )
    plain = [_plain(level) for level in _validate.non_empty(**{said: levels})]
    for level in plain:
        if isinstance(level, float):
            raise ArgumentError(said, level, "must not be floating-point numbers: declare edges, or text levels")
        if not isinstance(level, str | int | date) or isinstance(level, datetime):
            raise ArgumentError(said, level, "must be text, integers, true and false, or dates")
        if isinstance(level, int) and not LEAST <= level <= LARGEST:
            raise ArgumentError(said, level, "must fit in 64 bits; declare it as text")
        if isinstance(level, str):
            _require_unicode(said, level)
    if len({_kind_of(level) for level in plain}) > 1:  # type: ignore[arg-type]
        raise ArgumentError(
            said, levels, "must be of one type: all text, all integers, all true and false, or all dates"
        )
    if len(set(plain)) < len(plain):
        twice = next(level for k, level in enumerate(plain) if level in plain[:k])
        raise ArgumentError(said, twice, "is declared twice")
    return tuple(plain)  # type: ignore[arg-type]


def _require_unicode(said: str, level: str) -> None:
    try:
        level.encode()
    except UnicodeEncodeError:
        raise ArgumentError(said, level, "holds half of a surrogate pair, which no file can") from None


def _checked_edges(name: str, edges: object) -> tuple[float, ...]:
    said = f"edges of {name!r}"
    found = []
    for edge in _validate.non_empty(**{said: edges}):
        if isinstance(edge, bool) or not isinstance(edge, numbers.Real) or math.isnan(edge):
            raise ArgumentError(said, edge, "must be numbers")
        if float(edge) != edge:
            raise ArgumentError(said, edge, "is no 64-bit float; choose the nearest one")
        found.append(float(edge))
    if len(found) < 2:
        raise ArgumentError(said, edges, "must be at least two: they are the ends of bins")
    if len(found) > _MOST_EDGES:
        raise ArgumentError(said, f"{len(found):,} edges", f"must be at most {_MOST_EDGES:,}")
    for low, high in pairwise(found):
        if not low < high:
            raise ArgumentError(said, edges, f"must increase: {_number(high)} comes after {_number(low)}")
    return tuple(found)
