"""The differential check: a table with and without the rows of one unit, counted alike, must be close.

Claim that is checked. With `counted(T)` the counts of a table, and T' = T without all rows of a unit (or without one
row, where there is no unit), every marginal has 0 <= counted(T) - counted(T') <= 1 in each cell, and a difference in at
most `max_cells` of them; and either both are counted, or both are refused in the same words. Beside it, what is counted
must be what a plain reading of the values gives (`tests.fuzz.reference`).

Which cells a unit keeps is for the engine to choose, so that the kept pairs of units and cells are asked for as well:
they add up to the counts, are of each unit so many as it has or may keep, and all others keep the same without the one.
"""

from __future__ import annotations

import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tests.fuzz import reference
from tests.fuzz.derived import made, read_by, with_derived
from tests.fuzz.filters import columns_of, kept_rows, parsed

from ggdp.errors import GgdpError
from ggdp.sources.counting import UNIT, kept_cells, kept_keys
from ggdp.sources.query import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    import pyarrow as pa
    from tests.fuzz.tables import Case, Table
    from tests.fuzz.writers import Writer

    from ggdp.domain.table_domain import Domain


class UnwritableError(Exception):
    """The writer does not take this table, or does not keep its units apart."""


@dataclass(frozen=True)
class Outcome:
    """What came of counting: cells, or an error."""

    cells: tuple[dict[Any, int], ...] | None
    error: str | None = None
    is_ours: bool = True
    kept: tuple[frozenset[tuple[str, Any]], ...] | None = None


def outcome(data: Any, case: Case, **options: Any) -> Outcome:
    """Count a source as a case asks."""
    try:
        query = case.query
        derived = made(case)
        with open_source(data, columns=case.columns, where=parsed(case.where), derived=derived, **options) as source:
            if not case.is_open:
                found = source.count(query)
                kept = _kept(source.answer(query, kept_cells), query.marginals) if query.unit is not None else None
                return Outcome(tuple(dict(zip(c.tolist(), n.tolist(), strict=True)) for c, n in found), kept=kept)
            keyed = source.keys(query)
            kept = _kept(source.answer(query, kept_keys), query.marginals) if query.unit is not None else None
    except Exception as failed:
        return Outcome(None, f"{type(failed).__name__}: {failed}", isinstance(failed, GgdpError))
    cells = []
    for table, marginal in zip(keyed, query.marginals, strict=True):
        *texts, counts = (column.to_pylist() for column in table.columns)
        keys = keys_of(texts, marginal)
        cells.append(
            dict(zip(keys if marginal.is_open else [_cell(marginal, key) for key in keys], counts, strict=True))
        )
        assert len(cells[-1]) == len(keys), "a key came twice"
    return Outcome(tuple(cells), kept=kept)


def keys_of(texts: Sequence[list[str]], marginal: Any) -> list[tuple[Any, ...]]:
    """Return keys as the reference has them, from their texts: codes, and the texts of open columns."""
    shown = [
        values if column.kind == "open" else [list(map(_label, column.labels)).index(value) for value in values]
        for column, values in zip(marginal, texts, strict=True)
    ]
    return list(zip(*shown, strict=True))


def _kept(tables: list[pa.Table], marginals: Sequence[Domain]) -> tuple[frozenset[tuple[str, Any]], ...]:
    """Return the kept pairs of units, as texts, and cells, or keys."""
    found = []
    for table, marginal in zip(tables, marginals, strict=True):
        units = map(_label, table[UNIT].to_pylist())
        columns = [table[name].to_pylist() for name in table.column_names if name != UNIT]
        keys = list(zip(*columns, strict=True))
        if "cell" in table.column_names:
            keys = [key for (key,) in keys]
        elif not marginal.is_open:
            keys = [_cell(marginal, key) for key in keys]
        pairs = list(zip(units, keys, strict=True))
        assert len(set(pairs)) == len(pairs), "a pair of unit and cell came twice"
        found.append(frozenset(pairs))
    return tuple(found)


def _label(label: Any) -> str:
    return str(label).lower() if isinstance(label, bool) else str(label)


def _cell(marginal: Any, codes: tuple[int, ...]) -> int:
    cell = 0
    for code, column in zip(codes, marginal, strict=True):
        cell = cell * column.size + code
    return cell


def difference(full: Outcome, reduced: Outcome, max_cells: int) -> str | None:
    """Return what is wrong between a table and its neighbour, which has a unit less; None if nothing is."""
    if not full.is_ours or not reduced.is_ours:
        return f"an error that is not ours: {full.error} / {reduced.error}"
    if full.error != reduced.error:
        return f"success or message differs: {full.error} / {reduced.error}"
    for number, (more, less) in enumerate(zip(full.cells or (), reduced.cells or (), strict=True)):
        moved = {
            cell: more.get(cell, 0) - less.get(cell, 0)
            for cell in {**more, **less}
            if more.get(cell, 0) != less.get(cell, 0)
        }
        if any(step != 1 for step in moved.values()):
            return f"marginal {number}: a cell moves by more than 1, or the wrong way: {moved}"
        if len(moved) > max_cells:
            return f"marginal {number}: more than {max_cells} cells move: {moved}"
    for number, (whole, rest) in enumerate(zip(full.kept or (), reduced.kept or (), strict=True)):
        if not rest <= whole or len({unit for unit, _ in whole - rest}) > 1:
            return f"marginal {number}: others keep other cells: {sorted(map(repr, whole ^ rest))}"
    return None


def _unlike(got: Outcome, rows: Iterable[dict[str, Any]], case: Case) -> str | None:
    """Return how what was counted differs from what a plain reading of the rows gives; None if it does not."""
    if got.kept is None:
        wanted = reference.expected(rows, case)
        return None if list(got.cells or ()) == wanted else f"counted {list(got.cells or ())}, should be {wanted}"
    for pairs, units in zip(got.kept, reference.of_units(rows, case), strict=True):
        there = {(unit, cell) for unit, cells in units.items() for cell in cells}
        number = Counter(unit for unit, _ in pairs)
        if not pairs <= there or number != {unit: min(len(cells), case.max_cells) for unit, cells in units.items()}:
            return f"kept {sorted(map(repr, pairs))} of {units}"
    return None


def _miscounted(got: Outcome) -> str | None:
    """Return how counts differ from those of the kept pairs; None if they do not, or rows are counted."""
    if got.kept is None:
        return None
    for cells, pairs in zip(got.cells or (), got.kept, strict=True):
        if cells != (tally := dict(Counter(cell for _, cell in pairs))):
            return f"counted {cells}, but kept {tally}"
    return None


def written(writer: Writer, table: Table, folder: Path) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return writer.write(table, folder)
    except Exception as failed:
        raise UnwritableError(f"{type(failed).__name__}: {failed}") from failed


def pair_of(case: Case, writer: Writer) -> tuple[Table, Table]:
    """Return the table of a case and its neighbour, if they are neighbours as they are read.

    Rows without a unit are not counted. Where their nulls are read as a text, they are the rows of one unit, and a
    table that has some of them less is no neighbour.
    """
    pair = case.table, case.neighbour
    if case.unit is not None:
        full, rest = (_rows_of_units(table, case.unit, writer.null) for table in pair)
        if any(full[unit] != rows for unit, rows in rest.items()):
            raise UnwritableError("a unit has rows in both tables, and not the same ones")
    return pair


def _rows_of_units(table: Table, unit: str, null: str | None) -> dict[str, Counter[str]]:
    """Return the rows of each unit, as texts, since NaN is not equal to itself."""
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for name, row in zip(table.values(unit), table.rows, strict=True):
        shown = null if name is None else str(name)
        if shown is not None:
            found[shown][repr(row)] += 1
    return found


def problem(case: Case, writer: Writer, folder: Path, **options: Any) -> tuple[str | None, bool]:
    """Return what is wrong with a case, None if nothing is, and whether it was counted at all."""
    found = []
    for table in pair_of(case, writer):
        data = written(writer, table, folder)
        got = outcome(data, case, **{"text": writer.text, **options})
        found.append(got)
        rows = None if got.cells is None else rows_of(writer, table, data, options)
        kept = None if rows is None else kept_rows(with_derived(rows, case.derived), case.where)
        wrong = _miscounted(got) or (None if kept is None else _unlike(got, kept, case))
        if wrong is not None:
            return wrong, True
    return difference(*found, case.max_cells), found[0].cells is not None


def rows_of(writer: Writer, table: Table, data: Any, options: dict[str, Any]) -> Iterable[dict[str, Any]] | None:
    """Return the rows that must be counted; None where nothing but the data themselves says what they are."""
    if writer.truth == "table":
        return reference.rows_of_table(table)
    # Spark has texts of its own for numbers of JSON.
    is_known = writer.truth == "file" and not ("json" in data.name and options.get("engine") == "spark")
    return reference.rows_of_file(data) if is_known else None


def shrunk(case: Case, is_wrong: Callable[[Case], bool], *, tries: int = 300) -> Case:
    """Return a smaller case that is wrong as well: fewer marginals, rows and columns."""
    budget = [tries]

    def still(candidate: Case) -> bool:
        budget[0] -= 1
        return budget[0] >= 0 and is_wrong(candidate)

    for marginal in case.marginals:
        if len(case.marginals) > 1 and still(alone := replace(case, marginals=(marginal,))):
            case = alone
            break
    for name in list(case.marginals[0]):
        fewer = tuple({n: d for n, d in marginal.items() if n != name} for marginal in case.marginals)
        if all(fewer) and still(narrower := replace(case, marginals=fewer)):
            case = narrower
    size = len(case.table.rows)
    while size >= 1:
        start = 0
        while start < len(case.table.rows):
            gone = set(range(start, start + size))
            smaller = _without_rows(case, gone)
            if smaller is not None and still(smaller):
                case = smaller
            else:
                start += size
        size //= 2
    needed = {*case.columns, *columns_of(case.where), *(name for _, term in case.derived for name in read_by(term))}
    for name in [name for name in case.table.names if name not in needed]:
        if still(narrower := _without_column(case, name)):
            case = narrower
    return case


def _without_rows(case: Case, gone: set[int]) -> Case | None:
    kept = [place for place in range(len(case.table.rows)) if place not in gone]
    victim = frozenset(new for new, old in enumerate(kept) if old in case.victim)
    if not victim or len(kept) == len(case.table.rows):
        return None
    return replace(case, table=replace(case.table, rows=tuple(case.table.rows[old] for old in kept)), victim=victim)


def _without_column(case: Case, name: str) -> Case:
    place = case.table.names.index(name)
    fields = tuple(field for field in case.table.fields if field.name != name)
    rows = tuple((*row[:place], *row[place + 1 :]) for row in case.table.rows)
    return replace(case, table=replace(case.table, fields=fields, rows=rows))


def assert_neighbours(case: Case, writer: Writer, folder: Path, **options: Any) -> bool:
    """Check a case; return whether it was counted. What is wrong is shown on the smallest case that has it."""
    wrong, counted = problem(case, writer, folder, **options)
    if wrong is None:
        return counted

    def is_wrong(candidate: Case) -> bool:
        try:
            return problem(candidate, writer, folder, **options)[0] is not None
        except UnwritableError:
            return False

    small = shrunk(case, is_wrong)
    said = problem(small, writer, folder, **options)[0]
    raise AssertionError(
        f"{said}\nwritten by {writer.name!r} with {options}, seed {case.seed}; without rows {sorted(small.victim)}:\n"
        "import datetime\nfrom decimal import Decimal\nfrom tests.fuzz.tables import *\n"
        f"nan, inf = float('nan'), float('inf')\ncase = {small!r}"
    )
