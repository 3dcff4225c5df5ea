# ruff: noqa: DTZ001 - times without a zone are what is tested
"""Counting a table on an engine, and what it must give.

`expected` is written from the semantics alone (`ggdp.sources.codes`), value by value in plain Python: nothing in
it is shared with the code that it checks but the declarations of columns.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tests.sources.zoo import written_text

from ggdp.domain.column import Column
from ggdp.sources.counting import ROWS, UNIT, kept_cells, kept_keys
from ggdp.sources.query import open_source

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ggdp.domain.table_domain import Domain
    from ggdp.sources.query import CountQuery

INF = math.inf


def counted(data: Any, query: CountQuery, **options: Any) -> list[dict[int, int]]:
    """The counts of a source, each marginal as a dictionary; they must be sorted, distinct and positive."""
    columns = [column.name for marginal in query.marginals for column in marginal]
    with open_source(data, columns=[*columns, *filter(None, [query.unit])], **options) as source:
        found = source.count(query)
    for cells, counts in found:
        assert cells.dtype == counts.dtype == "int64"
        assert (cells[1:] > cells[:-1]).all()
        assert (counts > 0).all()
    return [dict(zip(cells.tolist(), counts.tolist(), strict=True)) for cells, counts in found]


def keyed(data: Any, query: CountQuery) -> list[list[tuple[Any, ...]]]:
    """The keys of a source with their counts, as rows."""
    columns = [column.name for marginal in query.marginals for column in marginal]
    with open_source(data, columns=[*columns, *filter(None, [query.unit])]) as source:
        found = source.keys(query)
    for table, marginal in zip(found, query.marginals, strict=True):
        assert table.schema == pa.schema([*((name, pa.string()) for name in marginal.names), ("count", pa.int64())])
        assert table.schema.metadata is None
    return [list(zip(*table.to_pydict().values(), strict=True)) for table in found]


def expected(table: pa.Table, query: CountQuery) -> list[dict[int, int]]:
    """What counting a table must give, where no unit is in more cells than it is counted in."""
    return [dict(_tally(_cell_rows(table, marginal), query)) for marginal in query.marginals]


def expected_keys(table: pa.Table, query: CountQuery) -> list[list[tuple[Any, ...]]]:
    """What the keys of a table must be, with their counts, likewise."""
    return [_shown_keys(_tally(_key_rows(table, marginal), query), marginal) for marginal in query.marginals]


def _cell_rows(table: pa.Table, marginal: Domain) -> list[tuple[dict[str, Any], int]]:
    """The rows that are counted, each with the index of its cell."""
    rows = []
    for row in table.to_pylist():
        codes = [_code(column, row[column.name]) for column in marginal]
        if None not in codes and not _is_impossible(marginal, codes):
            index = 0
            for code, size in zip(codes, marginal.shape, strict=True):
                index = index * size + code
            rows.append((row, index))
    return rows


def _key_rows(table: pa.Table, marginal: Domain) -> list[tuple[dict[str, Any], tuple[Any, ...]]]:
    """The rows that are counted, each with its codes, and texts of open columns."""
    rows = []
    for row in table.to_pylist():
        codes = [_text(row[c.name], c) if c.kind == "open" else _code(c, row[c.name]) for c in marginal]
        if None not in codes and not _is_impossible(marginal, codes):
            rows.append((row, tuple(codes)))
    return rows


def _shown_keys(tally: Counter[Any], marginal: Domain) -> list[tuple[Any, ...]]:
    # Python orders text by code points, as UTF-8 orders bytes.
    return [(*map(_shown, marginal, key), count) for key, count in sorted(tally.items())]


def _shown(column: Column, part: Any) -> str:
    return part if column.kind == "open" else written_text(column.labels[part])


def _tally(rows: Iterable[tuple[dict[str, Any], Any]], query: CountQuery) -> Counter[Any]:
    if query.unit is None:
        return Counter(cell for _, cell in rows)
    of_units = _cells_of_units(rows, query.unit)
    # Which cells are left out is for the engine to choose: `assert_units_counted` says what must hold.
    assert all(len(cells) <= query.max_cells for cells in of_units.values()), "a unit has more cells than it keeps"
    return sum((_shown_rows(cells, query) for cells in of_units.values()), Counter())


def _cells_of_units(rows: Iterable[tuple[dict[str, Any], Any]], unit: str) -> dict[str, Counter[Any]]:
    """The cells of each unit, and how many rows it has in each."""
    found: dict[str, Counter[Any]] = defaultdict(Counter)
    for row, cell in rows:
        if (text := _unit(row[unit])) is not None:
            found[text][cell] += 1
    return found


def _shown_rows(cells: Counter[Any], query: CountQuery) -> Counter[Any]:
    return Counter({cell: min(rows, query.max_rows_per_cell or 1) for cell, rows in cells.items()})


def kept(data: Any, query: CountQuery, **options: Any) -> list[dict[str, Counter[Any]]]:
    """The cells, or keys, that each unit keeps in each marginal, and what it adds to each of them."""
    columns = [column.name for marginal in query.marginals for column in marginal]
    is_open = any(marginal.is_open for marginal in query.marginals)
    with open_source(data, columns=[*columns, query.unit], **options) as source:
        tables = source.answer(query, kept_keys if is_open else kept_cells)
    found = []
    for table in tables:
        units: dict[str, Counter[Any]] = defaultdict(Counter)
        names = [name for name in table.column_names if name not in (UNIT, ROWS)]
        for row in table.to_pylist():
            cell = tuple(row[name] for name in names) if is_open else row["cell"]
            own = units[_unit(row[UNIT])]
            assert cell not in own, "a pair came twice"
            own[cell] = row.get(ROWS, 1)
        found.append(dict(units))
    return found


def assert_units_counted(data: Any, table: pa.Table, query: CountQuery, **options: Any) -> list[Any]:
    """Check that each unit keeps so many of its own cells, and that these are what is counted; return the counts."""
    is_open = any(marginal.is_open for marginal in query.marginals)
    of_marginals = kept(data, query, **options)
    for units, marginal in zip(of_marginals, query.marginals, strict=True):
        there = _cells_of_units((_key_rows if is_open else _cell_rows)(table, marginal), query.unit)
        assert units.keys() == there.keys()
        for unit, cells in units.items():
            assert cells.items() <= _shown_rows(there[unit], query).items()
            assert len(cells) == min(query.max_cells, len(there[unit]))
    tallies = [sum(units.values(), Counter()) for units in of_marginals]
    if is_open:
        right = [_shown_keys(tally, marginal) for tally, marginal in zip(tallies, query.marginals, strict=True)]
        assert keyed(data, query) == right
        return right
    assert counted(data, query, **options) == tallies
    return [dict(tally) for tally in tallies]


def _unit(value: Any) -> str | None:
    if isinstance(value, float):
        return str(int(value)) if math.isfinite(value) and value == int(value) and -(2**63) <= value < 2**63 else None
    return None if value is None else written_text(value)


def _is_impossible(marginal: Domain, codes: list[Any]) -> bool:
    """Whether a row falls into cells that cannot occur; written another way than the engines have it."""
    labels = {c.name: None if c.kind == "open" else c.labels[code] for c, code in zip(marginal, codes, strict=True)}
    return any(pattern.items() <= labels.items() for pattern in marginal.impossible)


def _code(column: Column, value: Any) -> int | None:
    if column.complete:
        return _code(Column(**column.arguments() | {"complete": None}), value) or 0
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return column.missing_code
    if column.kind == "bins":
        return _bin(column, value)
    text = _text(value, column)
    return column.texts.index(text) if text in column.texts else column.other_code


def _time(value: Any) -> datetime | None:
    """A value as a time; edges are whole microseconds, so that what is finer decides nothing."""
    if isinstance(value, str):
        zone = r"(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)"
        shape = rf"([0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}([T ][0-9]{{2}}:[0-9]{{2}}(:[0-9]{{2}}(\.[0-9]{{1,9}})?)?{zone}?)?)"
        if (found := re.fullmatch(shape, value, re.ASCII)) is None:
            return None
        zone = found[5] or ""
        try:
            time = datetime.fromisoformat(value.removesuffix(zone)[:26] + (zone or "Z" if found[2] else ""))
            return time.astimezone(UTC).replace(tzinfo=None) if time.tzinfo else time
        except (ValueError, OverflowError):
            return None
    if isinstance(value, datetime):
        value = value.astimezone(UTC) if value.tzinfo else value
        return datetime(value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond)
    return datetime(value.year, value.month, value.day) if isinstance(value, date) else None


def _bin(column: Column, value: Any) -> int | None:
    if column.dated:
        time = _time(value)
        edges = [edge if isinstance(edge, float) else _time(edge) for edge in column.edges or ()]
        places = [-INF if edge == -INF else INF if edge == INF else (edge - datetime(1, 1, 1)) for edge in edges]
        since = None if time is None else time - datetime(1, 1, 1)
        reached = sum(since is not None and (edge == -INF or (edge != INF and since >= edge)) for edge in places)
        return reached - 1 if 0 < reached < len(places) else column.other_code
    if isinstance(value, str):
        whole = re.fullmatch(r"[+-]?([0-9]{1,40}(\.[0-9]{0,40})?|\.[0-9]{1,40})([eE][+-]?[0-9]{1,2})?", value)
        if whole is None:
            return column.other_code
        value = float(value)
    if isinstance(value, bool):
        return column.other_code
    if isinstance(value, Decimal):
        value = float(value)
    assert column.edges is not None
    *lower, last = column.edges
    if value < lower[0] or value > last:
        return column.other_code
    return sum(value >= edge for edge in lower) - 1


def _text(value: Any, column: Column) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if math.isfinite(value) and value == int(value) and -(2**63) <= value < 2**63 else None
    if isinstance(value, Decimal):
        return str(int(value)) if value == int(value) else None
    if isinstance(value, str) and column.kind == "integer":
        whole = re.fullmatch(r"[+-]?[0-9]+(\.0*)?", value)
        return str(int(value.split(".")[0])) if whole else None
    if isinstance(value, str) and column.kind == "boolean":
        return value.lower() if value.lower() in ("true", "false") else None
    return value.isoformat() if isinstance(value, date) else None if value is None else str(value)
