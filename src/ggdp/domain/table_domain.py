"""The public domain of a table: which values each column may have, and the cells that they span.

A cell is a combination of one code of every column. Cells are numbered in domain order, the first column slowest: with
n_1, n_2, ... codes the cell (c_1, c_2, ...) has the index (c_1 n_2 + c_2) n_3 + ... . The number of cells may be far
beyond what fits in memory, up to 10^18.

Cells that cannot occur (men among the births) may be declared `impossible`: they are published with no count and no
noise. Like the levels, they must be known without the data. Declaring them cannot weaken a guarantee, since what is not
published depends on the declaration alone. They are declared by patterns: a pattern gives the codes of some columns,
and every cell that agrees with it is impossible, whatever the other columns are.

========  ======================================================================================
pattern   ((column, code), ...), columns by their places in the domain, in increasing order
alive     of the columns so far, the patterns that a combination of codes agrees with
========  ======================================================================================

References
----------
The algebra (project, merge) follows McKenna et al., "Private-PGM", ICML 2019, whose domains are of codes.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from attrs import field, frozen

from ggdp import _validate
from ggdp._files import read_toml
from ggdp.domain.column import Column
from ggdp.domain.filters import read_columns
from ggdp.domain.lookups import in_directory_of
from ggdp.domain.text_values import KEYS
from ggdp.errors import ArgumentError, ArgumentTypeError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


Pattern: TypeAlias = tuple[tuple[int, int], ...]

MOST_PATTERNS = 10_000
# Combinations of patterns that are kept track of while cells are counted.
_MOST_STATES = 20_000

# Beyond it cells could not be numbered by 64-bit integers, nor false ones be drawn exactly.
MOST_CELLS = 10**18
_DERIVED = ("expression", "lookup", "key")
_ROLES = ("other", "missing", "complete")
_KEYS = ("levels", "edges", "labels", *_ROLES, "range", "step", "range_by", "ranges", *_DERIVED, *KEYS)


def require_no_draft(content: Mapping[str, Any], argument: str, name: str) -> None:
    """Raise for what a TOML file declares that was made from the data and not corrected."""

    def is_draft(part: object) -> bool:
        # A draft that is pasted below a section has its mark in there.
        if isinstance(part, Mapping):
            return "not_private_draft" in part or any(map(is_draft, part.values()))
        return isinstance(part, list) and any(map(is_draft, part))

    if is_draft(content):
        said = "is a draft made from the data, so it is not private: correct every column by the code book, then "
        raise ArgumentError(argument, name, said + "remove the line not_private_draft = true")


@frozen(init=False, repr=False)
class Domain:
    """The public values of the columns of a table.

    Parameters
    ----------
    columns : mapping of str to levels, or sequence of Column
        For each column a list of its levels; a mapping with `levels` or `edges`, and perhaps `labels`,
        `other` and `missing`, or `complete`, and for statistics of the column `range` and `step`, or `range_by` and
        `ranges`; and how its text is read: `decimal`, `thousands`, `date_format` and `null_values`; for a derived
        column `expression`, or `lookup` and `key`; or a `Column`.
    impossible : sequence of mapping, optional
        Cells that cannot occur. Each mapping gives a level for some columns, and means every combination of the others.
    possible : sequence of mapping, optional
        The only combinations of levels of some columns that can occur: each mapping gives a level for each of the same
        columns. The others are impossible; up to 10,000 of them.

    Examples
    --------
    >>> domain = Domain({"sex": ["f", "m"], "age": {"edges": [0, 18, 65, 120]}})
    >>> domain.size
    6
    >>> domain
    Domain of 6 cells: sex (2 levels) x age (3 bins)
    >>> domain.project(["age"]).labels(4 // 2)
    ('[65, 120]',)
    >>> wards = Domain({"sex": ["f", "m"], "ward": ["births", "eyes"]}, impossible=[{"sex": "m", "ward": "births"}])
    >>> wards
    Domain of 4 cells, 3 of them possible: sex (2 levels) x ward (2 levels)
    """

    columns: tuple[Column, ...]
    patterns: tuple[Pattern, ...]
    _by_name: dict[str, Column] = field(eq=False)

    def __init__(
        self,
        columns: Mapping[str, Any] | Iterable[Column],
        impossible: Iterable[Mapping[str, Any]] = (),
        possible: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        if isinstance(columns, Mapping):
            found = tuple(_column(name, declared) for name, declared in columns.items())
        else:
            if isinstance(columns, str | bytes) or not hasattr(columns, "__iter__"):
                raise ArgumentTypeError("domain", type(columns).__name__, "must be a mapping, or columns")
            found = tuple(columns)
            for column in found:
                if not isinstance(column, Column):
                    raise ArgumentError("domain", type(column).__name__, "must be a mapping, or columns")
        by_name = {column.name: column for column in found}
        if len(by_name) < len(found):
            raise ArgumentError("domain", [column.name for column in found], "declares a column twice")
        for column in found:
            _require_order(column, by_name, ())
        patterns = dict.fromkeys([*_check_patterns(found, impossible), *_others(found, possible)])
        self.__attrs_init__(columns=found, patterns=tuple(patterns), by_name=by_name)

    @classmethod
    def from_toml(cls, path: str | Path) -> Domain:
        r"""Return the domain of a TOML file.

        It has a section ``[columns.NAME]`` for each column, with `levels` or `edges`, and perhaps `labels`, `other` and
        `missing`, or ``complete = true``; for statistics with ``range = [low, high]`` and perhaps `step`, or with
        `range_by` and `ranges`. `decimal`, `thousands`, `date_format` and `null_values` say how its text is read. A
        derived column has an `expression`, or a `lookup`, a file in the directory of this one, and a `key`. A section
        ``[[impossible]]`` gives levels that cannot occur together.

        Parameters
        ----------
        path : str or Path
            The file.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "people.toml"
        >>> _ = file.write_text('[columns.smokes]\nlevels = ["no", "yes"]\nmissing = "not asked"')
        >>> Domain.from_toml(file)
        Domain of 3 cells: smokes (3 levels)
        """
        content = read_toml(path, argument="domain")
        require_no_draft(content, "domain", str(path))
        columns = content.get("columns")
        if not isinstance(columns, dict) or not columns or not set(content) <= {"columns", "impossible"}:
            raise ArgumentError(
                "domain", str(path), "must have a section [columns.NAME] for each column, and optionally [[impossible]]"
            )
        for name, declared in columns.items():
            if not isinstance(declared, dict):
                raise ArgumentError("domain", str(path), f"column {name!r} needs a section [columns.{name}] of its own")
        return cls(in_directory_of(str(path), columns), content.get("impossible", ()))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(self._by_name)

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """How many codes each column has."""
        return tuple(column.size for column in self.columns)

    @cached_property
    def size(self) -> int:
        """How many cells there are."""
        return math.prod(self.shape)

    @property
    def impossible(self) -> tuple[Mapping[str, Any], ...]:
        """What cannot occur: levels of some columns, as they are published."""
        return tuple(
            {self.columns[place].name: self.columns[place].labels[code] for place, code in pattern}
            for pattern in self.patterns
        )

    @cached_property
    def possible_size(self) -> int:
        """How many cells can occur, exactly: those that match no pattern.

        Claim. Columns are added one by one. Combinations of codes with the same alive patterns have the same
        continuations, so it is enough to count them together; codes of a column that no pattern names act alike as
        well. A combination that agrees with a whole pattern has no possible continuation and is dropped.
        """
        patterns = self.patterns
        named = [[dict(pattern).get(place) for pattern in patterns] for place in range(len(self.shape))]
        last = [pattern[-1][0] for pattern in patterns]
        states: Counter[frozenset[int]] = Counter({frozenset(range(len(patterns))): 1})
        for place, size in enumerate(self.shape):
            following: Counter[frozenset[int]] = Counter()
            for alive, number in states.items():
                by_code: dict[int, set[int]] = defaultdict(set)
                free = {which for which in alive if named[place][which] is None}
                for which in alive - free:
                    by_code[named[place][which]].add(which)  # type: ignore[index]
                for matched, codes in [*((found, 1) for found in by_code.values()), (set(), size - len(by_code))]:
                    left = frozenset(free | matched)
                    if codes and not any(last[which] <= place for which in left):
                        following[left] += number * codes
                if len(following) > _MOST_STATES:
                    raise ArgumentError(
                        "impossible", f"{len(patterns):,} patterns", "overlap in too many ways to be counted; use fewer"
                    )
            states = following
        return sum(states.values())

    @cached_property
    def is_open(self) -> bool:
        """Whether a column has no declared levels, so the cells are unknown."""
        return any(column.kind == "open" for column in self.columns)

    def __getitem__(self, name: str) -> Column:
        if name not in self._by_name:
            raise ArgumentError("column", name, f"is not declared; declared are {', '.join(self.names) or 'none'}")
        return self._by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._by_name

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __hash__(self) -> int:
        return hash(self.columns)

    def project(self, names: Iterable[str]) -> Domain:
        """Return the domain of some columns, in the order in which they are named.

        What is impossible by these columns alone stays so; other patterns say nothing of them.

        Examples
        --------
        >>> Domain({"a": [1, 2], "b": [1, 2, 3]}).project(["b"]).shape
        (3,)
        """
        columns = [self[name] for name in names]
        kept = {column.name for column in columns}
        return Domain(columns, [pattern for pattern in self.impossible if kept.issuperset(pattern)])

    def merge(self, other: Domain) -> Domain:
        """Return the domain of the columns of both; a column of both must have the same declaration.

        What is impossible in one of them is impossible in it.

        Examples
        --------
        >>> Domain({"a": [1, 2]}).merge(Domain({"b": [1, 2, 3]})).size
        6
        """
        for column in other:
            if column.name in self and self[column.name] != column:
                raise ArgumentError("domain", column.name, "is declared differently in the two domains")
        return Domain({column.name: column for column in (*self, *other)}, (*self.impossible, *other.impossible))

    def codes(self, cells: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        """Return the codes of cells, column by column.

        Examples
        --------
        >>> Domain({"a": [1, 2], "b": [1, 2, 3]}).codes(np.array([0, 5]))
        [array([0, 1]), array([0, 2])]
        """
        found = []
        for size in reversed(self.shape):
            cells, code = np.divmod(cells, size)
            found.append(code)
        return found[::-1]

    def cells(self, codes: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
        """Return the indices of cells from their codes, column by column.

        Examples
        --------
        >>> Domain({"a": [1, 2], "b": [1, 2, 3]}).cells([np.array([0, 1]), np.array([0, 2])])
        array([0, 5])
        """
        index = np.zeros(np.shape(codes[0]) if codes else (), dtype=np.int64)
        for size, code in zip(self.shape, codes, strict=True):
            index = index * size + code
        return index

    def possible(self, cells: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which cells can occur.

        Examples
        --------
        >>> Domain({"a": [1, 2], "b": [1, 2, 3]}, impossible=[{"a": 2, "b": 3}]).possible(np.arange(6))
        array([ True,  True,  True,  True,  True, False])
        """
        found = np.ones(np.shape(cells), dtype=np.bool_)
        if not self.patterns:
            return found
        codes = self.codes(np.asarray(cells, dtype=np.int64))
        for places, numbers in self.patterns_by_columns.items():
            number = np.zeros(found.shape, dtype=np.int64)
            for place in places:
                number = number * self.shape[place] + codes[place]
            found &= ~np.isin(number, numbers)
        return found

    @cached_property
    def patterns_by_columns(self) -> dict[tuple[int, ...], list[int]]:
        """The patterns of the same columns, each as the number of its cell among those columns."""
        found: dict[tuple[int, ...], list[int]] = defaultdict(list)
        for pattern in self.patterns:
            number = 0
            for place, code in pattern:
                number = number * self.columns[place].size + code
            found[tuple(place for place, _ in pattern)].append(number)
        return found

    def labels(self, cell: int) -> tuple[Any, ...]:
        """Return what is published for one cell: a label of each column.

        Examples
        --------
        >>> Domain({"a": [1, 2], "b": ["x", "y", "z"]}).labels(5)
        (2, 'z')
        """
        codes = self.codes(np.array([cell], dtype=np.int64))
        return tuple(column.labels[int(code[0])] for column, code in zip(self.columns, codes, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Return the declarations of the columns as plain values, ready for JSON; `impossible` stands beside them."""
        return {column.name: column.to_dict() for column in self.columns}

    def __repr__(self) -> str:
        cells = ", ".join(self.names) if self.is_open else f"{self.size:,} cells"
        cells += f", {self.possible_size:,} of them possible" if self.patterns and not self.is_open else ""
        columns = []
        for column in self.columns:
            bins = column.kind == "bins" and column.other is None and column.missing is None
            of = "open" if column.kind == "open" else f"{column.size} {'bins' if bins else 'levels'}"
            columns.append(f"{column.name} ({of})")
        return f"Domain of {cells}: {' x '.join(columns)}"


def _require_order(column: Column, by_name: Mapping[str, Column], before: tuple[str, ...]) -> None:
    """Raise if a column is derived from itself, perhaps by way of others."""
    if column.name in before:
        argument, way = f"expression of {column.name!r}", " -> ".join((*before, column.name))
        raise ArgumentError(argument, column.expression, f"is computed from itself ({way}); give one another name")
    for name in read_columns(column.term) if column.term is not None else ():
        if name in by_name:
            _require_order(by_name[name], by_name, (*before, column.name))


def _others(columns: tuple[Column, ...], possible: object) -> tuple[Pattern, ...]:
    """Return the combinations of levels of the columns in `possible` that are not listed there."""
    try:
        listed = set(_check_patterns(columns, possible))
    except ArgumentError as refused:
        raise ArgumentError("possible", refused.value, refused.expected) from None
    named = {tuple(place for place, _ in pattern) for pattern in listed}
    if len(named) > 1:
        raise ArgumentError("possible", f"{len(listed):,} mappings", "must all give a level for the same columns")
    places = next(iter(named), ())
    if math.prod(columns[place].size for place in places) - len(listed) > MOST_PATTERNS:
        raise ArgumentError("possible", f"{len(listed):,} mappings", f"must leave out at most {MOST_PATTERNS:,}")
    cells = product(*([(place, code) for code in range(columns[place].size)] for place in places))
    return tuple(cell for cell in cells if listed and cell not in listed)


def _check_patterns(columns: tuple[Column, ...], impossible: object) -> tuple[Pattern, ...]:
    """Return what is impossible as codes of columns, each pattern once."""
    if isinstance(impossible, Mapping):
        raise ArgumentError("impossible", dict(impossible), "must be a list of mappings ([[impossible]] in a file)")
    if isinstance(impossible, tuple | list) and not impossible:
        return ()
    places = {column.name: place for place, column in enumerate(columns)}
    found: dict[Pattern, None] = {}
    for declared in _validate.non_empty(impossible=impossible):
        if not isinstance(declared, Mapping) or not declared:
            shown = declared if isinstance(declared, str | tuple | list | Mapping) else type(declared).__name__
            said = "must give a level for each of some columns, as in {'sex': 'm', 'ward': 'births'}"
            raise ArgumentError("impossible", shown, said)
        pattern = []
        for name, label in declared.items():
            if name not in places:
                raise ArgumentError("impossible", name, "is not a column of the domain")
            if columns[places[name]].kind == "open":
                raise ArgumentError("impossible", name, "has no declared levels")
            pattern.append((places[name], columns[places[name]].code(label)))
        found[tuple(sorted(pattern))] = None
    if len(found) > MOST_PATTERNS:
        raise ArgumentError("impossible", f"{len(found):,} patterns", f"must be at most {MOST_PATTERNS:,}")
    return tuple(found)


def _column(name: object, declared: Any) -> Column:  # noqa: ANN401 - whatever was declared
    """Return a column from its name and its declaration."""
    if not isinstance(name, str) or not name:
        raise ArgumentError("domain", name, "the name of a column must be text")
    if isinstance(declared, Column):
        if declared.name != name:
            raise ArgumentError("domain", name, f"is the key of a column named {declared.name!r}")
        return declared
    if not isinstance(declared, Mapping):
        return Column(name=name, levels=declared)
    unknown = sorted(set(declared) - set(_KEYS))
    if unknown:
        near = get_close_matches(unknown[0], _KEYS, n=1)
        meant = f"did you mean {near[0]!r}? " if near else ""
        said = f"is not known; {meant}known are {', '.join(_KEYS)}"
        raise ArgumentError(f"{unknown[0]} of {name!r}", declared[unknown[0]], said)
    if "levels" in declared and "edges" in declared:
        raise ArgumentError(f"domain of {name!r}", sorted(declared), "must have either levels or edges")
    if not {"levels", "edges", "range", "ranges", "expression", "lookup", *KEYS} & set(declared):
        raise ArgumentError(f"domain of {name!r}", sorted(declared), "must have either levels or edges, or a range")
    return Column(name=name, **declared)
