# ruff: noqa: DTZ001 - times without a zone are what is tested
"""Tables with nasty columns, the same table on every engine, and what counting them must give.

`expected` is written from the semantics alone (`ggdp.tables.engines.kinds`), value by value in plain Python: nothing in
it is shared with the code that it checks but the declarations of columns.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections import Counter, defaultdict
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cases import covering

from ggdp.tables.column import Column
from ggdp.tables.domain import Domain
from ggdp.tables.engines import CountQuery, open_source
from ggdp.tables.engines.cells import kept_cells, kept_keys
from ggdp.tables.engines.contributions import ROWS, UNIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

__all__ = [
    "ENGINES",
    "FILES",
    "KEY",
    "ZOO",
    "Beast",
    "assert_units_counted",
    "counted",
    "expected",
    "expected_keys",
    "kept",
    "keyed",
    "on_engines",
]

KEY = bytes(range(32))
NAN, INF = math.nan, math.inf
BIG = 2**53


class Beast(NamedTuple):
    """A table, and domains of its columns that it must be counted by."""

    label: str
    table: pa.Table
    domains: tuple[Domain, ...]

    def side_by_side(self) -> Beast:
        """Return a table with a copy of the columns for each domain, which one query can count by all of them."""
        columns, domains = {}, []
        for place, domain in enumerate(self.domains):
            names = {name: f"{name} {place}" if place else name for name in domain.names}
            columns |= {new: self.table[name] for name, new in names.items()}
            domains.append(Domain([_renamed(column, names[column.name]) for column in domain]))
        return Beast(self.label, pa.table(columns), tuple(domains))


def _renamed(column: Column, name: str) -> Column:
    return Column(
        name=name,
        levels=column.levels,
        edges=column.edges,
        labels=column.bin_labels,
        other=column.other,
        missing=column.missing,
    )


def _beast(label: str, columns: dict[str, Any], *domains: dict[str, Any]) -> Beast:
    return Beast(label, pa.table(columns), tuple(Domain(domain) for domain in domains))


_FULL = {"other": "another", "missing": "none"}
WORDS = [
    "a",
    "A",
    " a",
    "a ",
    "é",
    "e\u0301",
    "ß",
    "SS",
    "日本",
    "🜁",
    "it's",
    'say "hi"',
    "a,b",
    "a\nb",
    "a\tb",
    "~0:",
    "\\",
    "null",
]
NUMERALS = [
    "1",
    "+1",
    "01",
    "1.",
    "1.000",
    "1.5",
    " 1",
    "1 ",
    "1\n",
    "-0",
    "0",
    "+0.0",
    "-",
    "",
    "1e0",
    "0x1",
    "１",
    "--1",
]
NUMERALS += [
    str(2**63 - 1),
    str(-(2**63)),
    str(2**63),
    "9007199254740993",
    "00009007199254740993",
    "9" * 60,
    "1_0",
    ".5",
]
READINGS = [
    "0",
    "1.5",
    "-1.5",
    "2.5e1",
    "25",
    "+25",
    "1e99",
    "1e100",
    "-1e99",
    ".5",
    "5.",
    ".",
    "inf",
    "nan",
    "",
    "1,5",
    "0x10",
]
READINGS += ["9" * 40, "9" * 41, "1e-99", "-0", "100", "99.99999999999999999999", "1 ", "\u0661", None]

_SMALL = pa.array([Decimal(1), Decimal(0), Decimal("-1E-18"), Decimal(0)], pa.decimal128(30, 18))

ZOO = (
    _beast("words", {"x": [*WORDS, *WORDS[:4], None, "zzz"]}, {"x": WORDS}, {"x": {"levels": WORDS[2:], **_FULL}}),
    _beast(
        "integers in text",
        {"x": pa.array([*NUMERALS, None], pa.string())},
        {"x": [0, 1, 2**63 - 1, -(2**63), BIG + 1]},
        {"x": {"levels": [1, BIG, BIG + 1], **_FULL}},
    ),
    _beast(
        "numbers in text",
        {"x": pa.array(READINGS, pa.string())},
        {"x": {"edges": [-1.5, 0, 1.5, 25, 100], **_FULL}},
        {"x": {"edges": [-INF, 0, INF], "missing": "?"}},
        {"x": {"edges": [0.5, 100]}},
    ),
    _beast(
        "booleans in text",
        {"x": ["true", "TRUE", "False", "fAlSe", "t", "1", " true", "true\n", None]},
        {"x": [False, True]},
        {"x": {"levels": [True, False], **_FULL}},
        {"x": ["true", "TRUE"]},
    ),
    _beast(
        "dates in text",
        {"x": ["2020-01-02", "2020-1-2", "2020-01-02 ", "2020/01/02", "0001-01-01", "9999-12-31", None, "2020-02-30"]},
        {"x": {"levels": [date(2020, 1, 2), date(1, 1, 1), date(9999, 12, 31)], **_FULL}},
    ),
    _beast(
        "integers",
        {"x": pa.array([0, 1, -1, BIG, BIG + 1, -BIG - 1, 2**63 - 1, -(2**63), None, 1], pa.int64())},
        {"x": [0, 1, BIG + 1]},
        {"x": {"levels": ["1", str(2**63 - 1), "-1", "+1"], **_FULL}},
        {"x": {"edges": [-INF, float(BIG), INF], **_FULL}},
        {"x": {"edges": [-0.5, 0.5, float(BIG), 2.0**63], **_FULL}},
        {"x": {"edges": [-(2.0**63), 0, 1], **_FULL}},
        {"x": {"edges": [-1e300, -1e200, 1e300], "other": "o"}},
    ),
    _beast(
        "unsigned",
        {"x": pa.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1, None], pa.uint64())},
        {"x": [0, 1, 2**63 - 1]},
        {"x": {"levels": [str(2**64 - 1), "0"], **_FULL}},
        {"x": {"edges": [0, 2.0**63, 2.0**64], **_FULL}},
        {"x": {"edges": [-5, 2.0**63 - 1024, 2.0**64 - 2048], **_FULL}},
    ),
    _beast(
        "narrow",
        {"x": pa.array([-128, 127, 0, None], pa.int8()), "y": pa.array([255, 0, 1, None], pa.uint8())},
        {"x": [-128, 127], "y": {"levels": [0, 255], "missing": "m"}},
        {"x": {"edges": [-128, 0, 127], **_FULL}, "y": {"edges": [-1, 0.5, 255, 300], **_FULL}},
        {"x": {"edges": [-1000, 1000]}, "y": {"edges": [256, 300], "other": "o"}},
    ),
    _beast(
        "floats",
        {"x": pa.array([0.0, -0.0, 1.0, 1.5, NAN, INF, -INF, None, 2.0**63, -(2.0**63), 1e300, 5e-324, float(BIG)])},
        {"x": [0, 1, -(2**63), BIG]},
        {"x": {"levels": [0, 1, 2**63 - 1], **_FULL}},
        {"x": {"edges": [0, 1, 1.5], **_FULL}},
        {"x": {"edges": [-INF, -1, 1, INF], "missing": "m"}},
        {"x": {"edges": [5e-324, INF], "other": "o"}},
    ),
    _beast(
        "short floats",
        {"x": pa.array([0.1, 0.5, NAN, None, INF], pa.float32())},
        {"x": {"edges": [0, 0.1, 0.5], **_FULL}},
        {"x": {"levels": [0, 1], **_FULL}},
    ),
    _beast(
        "decimals",
        {
            "x": pa.array(
                [Decimal("1.50"), Decimal("2.00"), Decimal("-0.00"), None, Decimal("120.00")], pa.decimal128(12, 2)
            )
        },
        {"x": {"levels": [0, 1, 2, 120], **_FULL}},
        {"x": {"edges": [0, 1.5, 2], **_FULL}},
    ),
    _beast(
        "decimals of many digits",
        {"x": pa.array([Decimal(0), Decimal("1E-8"), Decimal(1), None], pa.decimal128(12, 8)), "y": _SMALL},
        {"x": {"levels": [0, 1], **_FULL}, "y": {"levels": [0, 1], **_FULL}},
        {"x": {"edges": [0, 1], **_FULL}},
    ),
    _beast(
        "booleans",
        {"x": [True, False, None, True]},
        {"x": [True, False]},
        {"x": {"levels": ["false", "True"], **_FULL}},
    ),
    _beast(
        "dates",
        {"x": pa.array([date(2020, 1, 2), date(1, 1, 1), date(9999, 12, 31), None], pa.date32())},
        {"x": [date(2020, 1, 2), date(1, 1, 1)]},
        {"x": {"levels": ["2020-01-02", "9999-12-31"], **_FULL}},
    ),
    _beast(
        "categories with unused levels",
        {"x": pa.DictionaryArray.from_arrays(pa.array([0, 2, None, 0], pa.int32()), pa.array(["a", "unused", "b"]))},
        {"x": ["a", "unused", "b"]},
        {"x": {"levels": ["b"], **_FULL}},
    ),
    _beast(
        "nulls",
        {"x": pa.array([None] * 3, pa.string()), "y": pa.array([1, 1, 2])},
        {"x": {"levels": ["a"], "missing": "m"}, "y": [1, 2]},
    ),
    _beast(
        "nulls without a type",
        {"x": pa.nulls(3)},
        {"x": {"levels": ["a"], **_FULL}},
        {"x": ["a"]},
        {"x": {"edges": [0, 1], "missing": "m"}},
    ),
    _beast(
        "no row", {"x": pa.array([], pa.string()), "y": pa.array([], pa.int64())}, {"x": ["a"], "y": {"edges": [0, 1]}}
    ),
    _beast("one row", {"x": ["a"], "y": [1]}, {"x": ["a"], "y": {"edges": [0, 1]}}),
    _beast(
        "names that collide",
        {"cell": ["a", "b"], "count": [1, 2], "u": ["x", "y"], "c0": [5, 5]},
        {"cell": ["a", "b"], "count": [1, 2], "u": ["y", "x"], "c0": [5]},
    ),
    _beast(
        "names with quotes",
        {'a "b"': ["x", "y"], "it's; --": [1, 2], "日 本": [True, False]},
        {"日 本": [False, True], 'a "b"': ["x"], "it's; --": [1, 2]},
    ),
    _beast(
        "many edges", {"x": pa.array([k / 7 for k in range(-20, 900)])}, {"x": {"edges": list(range(101)), **_FULL}}
    ),
)


_QUARTERS = {"from": date(2024, 1, 1), "to": date(2025, 1, 1), "every": "quarter"}
_TIMES = [
    -INF,
    date(1969, 12, 31),
    datetime(1970, 1, 1, 0, 0, 0, 1),
    date(2024, 2, 29),
    datetime(2024, 3, 1, 12, 30),
    INF,
]
_MOMENTS = [
    datetime(2024, 2, 28, 23, 59, 59, 999999),
    datetime(2024, 2, 29),
    datetime(2024, 3, 1, 12, 29, 59, 999999),
    datetime(2024, 3, 1, 12, 30),
    datetime(1970, 1, 1),
    datetime(1970, 1, 1, 0, 0, 0, 1),
    datetime(1969, 12, 30, 23, 59, 59),
    datetime(1, 1, 1),
    datetime(9999, 12, 31, 23, 59, 59, 999999),
    None,
]
_ISO = [
    "2024-02-29",
    "2024-02-29T00:00",
    "2024-02-29 00:00:00",
    "2024-02-28T23:59:59.999999999",
    "2023-02-29",
    "1900-02-29",
]
_ISO += ["2000-02-29", "2024-03-01 12:30", "2024-03-01T12:29:59.9", "2024-03-01T12:30:00.000", "2024-3-1", "2024-13-01"]
_ISO += [
    "2024-04-31",
    "2024-01-01T24:00",
    "2024-01-01T23:60",
    "2024-01-01T23:59:60",
    "2024-01-01T00:00Z",
    " 2024-01-01",
]
_ISO += [
    "2024-01-01 ",
    "2024-01-01\n",
    "2024-01-01t00:00",
    "2024-01-01T00",
    "2024-01-01T00:00:00.",
    "0000-01-01",
    "0001-01-01",
]
_ISO += [
    "9999-12-31T23:59:59.999999999",
    "10000-01-01",
    "2024-01-01T00:00:00.0000000001",
    "２024-01-01",
    "",
    "20240101",
    "NaT",
]
_ISO += [
    "2024-12-31T23:59:59.999999999",
    "2025-01-01",
    "1970-01-01 00:00:00.000001",
    "1970-01-01 00:00:00.0000009",
    None,
]

_AS_NO_NUMBERS = (
    {"x": {"levels": [True, False], **_FULL}},
    {"x": {"levels": [date(2024, 1, 1)], **_FULL}},
    {"x": {"edges": _QUARTERS, **_FULL}},
)

ZOO += (
    _beast(
        "times in text",
        {"x": pa.array(_ISO, pa.string())},
        {"x": {"edges": _TIMES, **_FULL}},
        {"x": {"edges": _QUARTERS, **_FULL}},
        {"x": {"edges": [date(2024, 2, 29), date(2024, 3, 1)]}},
    ),
    _beast(
        "days",
        {"x": pa.array([None if time is None else time.date() for time in _MOMENTS], pa.date32())},
        {"x": {"edges": _TIMES, **_FULL}},
        {"x": {"edges": _QUARTERS, **_FULL}},
        {"x": {"edges": [date(1, 1, 1), datetime(9999, 12, 31, 0, 0, 1)], **_FULL}},
    ),
    _beast(
        "time stamps",
        {"x": pa.array(_MOMENTS, pa.timestamp("us")), "y": pa.array(_MOMENTS, pa.timestamp("us", "UTC"))},
        {"x": {"edges": _TIMES, **_FULL}},
        {"x": {"edges": _QUARTERS, **_FULL}},
        {"x": {"edges": _QUARTERS, "labels": ["q1", "q2", "q3", "q4"]}},
        {"y": {"edges": _TIMES, **_FULL}},
    ),
    _beast(
        "floats as what they are not",
        {"x": pa.array([1.0, NAN, None, 1.5, INF, 2024.0])},
        {"x": {"levels": ["1", "1.5"], **_FULL}},
        *_AS_NO_NUMBERS,
    ),
    _beast("integers as what they are not", {"x": pa.array([0, 1, None, 20240101])}, *_AS_NO_NUMBERS),
    _beast(
        "booleans as what they are not",
        {"x": pa.array([True, False, None])},
        {"x": {"levels": [0, 1], **_FULL}},
        {"x": {"edges": [-1, 0, 1, 2], **_FULL}},
        *_AS_NO_NUMBERS[1:],
    ),
)


def _pandas(table: pa.Table) -> Any:
    import pandas as pd

    return table.to_pandas(types_mapper=pd.ArrowDtype)


def _polars(table: pa.Table) -> Any:
    import polars as pl

    return pl.from_arrow(table)


def _duckdb(table: pa.Table) -> Any:
    import duckdb

    return duckdb.connect().from_arrow(table)


def _ibis(table: pa.Table) -> Any:
    import ibis

    return ibis.memtable(table)


# Each makes a frame of an Arrow table.
ENGINES: dict[str, Callable[[pa.Table], Any]] = {
    "pyarrow": lambda table: table,
    "pandas": _pandas,
    "polars": _polars,
    "polars lazy": lambda table: _polars(table).lazy(),
    "duckdb": _duckdb,
    "ibis": _ibis,
}
# ibis is counted by DuckDB, in the same way as a relation, and a lazy frame of polars in the same way as a frame.
_TWINS = ("ibis", "polars lazy")


def on_engines(*axes: Iterable[Any]) -> list[Any]:
    """Return all cases of an engine and values of axes as `covering` does; an engine like another has every fourth."""
    cases, turns = [], dict.fromkeys(_TWINS, 0)
    for case in covering(ENGINES, *axes):
        engine = case.values[0]
        if engine in turns and not case.marks:
            turns[engine] += 1
            cases.append(case if turns[engine] % 4 == 1 else pytest.param(*case.values, marks=pytest.mark.exhaustive))
        else:
            cases.append(case)
    return cases


def _parquet(table: pa.Table, folder: Path) -> Path:
    path = folder / "table.parquet"
    pq.write_table(table, path)
    return path


def _written_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def as_csv(table: pa.Table, folder: Path) -> Path:
    path = folder / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines, quoting=csv.QUOTE_ALL)
        writer.writerow(table.column_names)
        for row in table.to_pylist():
            writer.writerow(["" if value is None else _written_text(value) for value in row.values()])
    return path


def as_jsonl(table: pa.Table, folder: Path) -> Path:
    path = folder / "table.jsonl"
    lines = [
        json.dumps(
            {
                name: value if isinstance(value, bool | int | str | None) else _written_text(value)
                for name, value in row.items()
            }
        )
        for row in table.to_pylist()
    ]
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path


# Each makes a file of an Arrow table.
FILES: dict[str, Callable[[pa.Table, Path], Path]] = {"parquet": _parquet, "csv": as_csv, "jsonl": as_jsonl}


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
    return part if column.kind == "open" else _written_text(column.labels[part])


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
    return None if value is None else _written_text(value)


def _is_impossible(marginal: Domain, codes: list[Any]) -> bool:
    """Whether a row falls into cells that cannot occur; written another way than the engines have it."""
    labels = {c.name: None if c.kind == "open" else c.labels[code] for c, code in zip(marginal, codes, strict=True)}
    return any(pattern.items() <= labels.items() for pattern in marginal.impossible)


def _code(column: Column, value: Any) -> int | None:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return column.missing_code
    if column.kind == "bins":
        return _bin(column, value)
    text = _text(value, column)
    return column.texts.index(text) if text in column.texts else column.other_code


def _time(value: Any) -> datetime | None:
    """A value as a time; edges are whole microseconds, so that what is finer decides nothing."""
    if isinstance(value, str):
        shape = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}(:[0-9]{2}(\.[0-9]{1,9})?)?)?"
        if re.fullmatch(shape, value, re.ASCII) is None:
            return None
        try:
            return datetime.fromisoformat(value[:26])
        except ValueError:
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
