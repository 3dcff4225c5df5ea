# ruff: noqa: DTZ001 - times without a zone are what is tested
"""Tables with nasty columns, and the same table on every engine."""

from __future__ import annotations

import csv
import json
import math
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cases import covering

from ggdp.domain.column import Column
from ggdp.domain.table_domain import Domain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

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
        labels=column.given_labels,
        other=column.other,
        missing=column.missing,
        complete=column.complete,
    )


def _beast(label: str, columns: dict[str, Any], *domains: dict[str, Any]) -> Beast:
    found = tuple(Domain(domain) for domain in domains)
    # The last one once more, where every row has a code.
    complete = [
        Column(**column.arguments() | {"other": None, "missing": None, "complete": True}) for column in found[-1]
    ]
    return Beast(label, pa.table(columns), (*found, Domain(complete)))


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


def written_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, float) else str(value)


def as_csv(table: pa.Table, folder: Path) -> Path:
    path = folder / "table.csv"
    with path.open("w", newline="", encoding="utf-8") as lines:
        writer = csv.writer(lines, quoting=csv.QUOTE_ALL)
        writer.writerow(table.column_names)
        for row in table.to_pylist():
            writer.writerow(["" if value is None else written_text(value) for value in row.values()])
    return path


def as_jsonl(table: pa.Table, folder: Path) -> Path:
    path = folder / "table.jsonl"
    lines = [
        json.dumps(
            {
                name: value if isinstance(value, bool | int | str | None) else written_text(value)
                for name, value in row.items()
            }
        )
        for row in table.to_pylist()
    ]
    path.write_text("".join(line + "\n" for line in lines), "utf-8")
    return path


# Each makes a file of an Arrow table.
FILES: dict[str, Callable[[pa.Table, Path], Path]] = {"parquet": _parquet, "csv": as_csv, "jsonl": as_jsonl}
