"""The tables that the benchmark counts: Parquet files written by DuckDB, row after row, from hashes of their numbers.

One version of DuckDB writes the same files on every machine, and never holds them in memory. Levels are text, and the
k-th level of n has the probability log(1 + 1/k) / log(n + 1), about that of Zipf's law. A third of the persons have
seven rows on average and the others fewer than two; all rows of a person lie scattered over the file.

=========  =====================================================================================
counted    3 columns of 10, 20 and 50 levels: 10,000 cells; with a column of persons, or of values, if asked for
cubic      3 columns of equally many levels
adult      14 columns, 1.944e13 cells; rows fall on some of a million of them
=========  =====================================================================================
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from duckdb import DuckDBPyConnection

COUNTED = {"region": 10, "branch": 20, "product": 50}
# Sizes with the product of the adult data's, 19,440,000,000,000.
ADULT = {
    "age": 10, "workclass": 9, "weight": 50, "education": 16, "marital": 6, "occupation": 15, "relationship": 6,
    "race": 5, "sex": 2, "gain": 10, "loss": 10, "hours": 10, "country": 25, "income": 2,
}  # fmt: skip
# On so many of its cells the rows of the adult table fall.
ADULT_CELLS = 1_000_000
PERSON = "person"
VALUE, LARGEST_VALUE = "amount", 1000
# Rows a person: 10 for every 3, as people visit.
_ROWS_OF_A_PERSON = 10 / 3
# What a row takes on disk at most, in bytes, by table; measured, and rounded up.
BYTES_A_ROW = 10


def levels(column: str, size: int) -> list[str]:
    """Return the levels of a column, in the order of their codes."""
    return [f"{column} {code:0{len(str(size - 1))}}" for code in range(size)]


def domain(sizes: Mapping[str, int]) -> dict[str, list[str]]:
    return {column: levels(column, size) for column, size in sizes.items()}


def cubic(cells: int) -> dict[str, int]:
    """Return three columns with about so many cells together."""
    side = round(cells ** (1 / 3))
    return dict.fromkeys(("x", "y", "z"), side)


def write(connection: DuckDBPyConnection, path: Path, table: str, rows: int, cells: int = 0) -> None:
    """Write a table of so many rows: "counted", "persons" or "values" (counted, with these), "cubic" or "adult"."""
    if table == "adult":
        columns = [
            _text(name, size, f"({_hash('cell', i)} % {size})::BIGINT") for i, (name, size) in enumerate(ADULT.items())
        ]
        inner = f"{_zipf(0, min(ADULT_CELLS, rows))} AS cell"
    else:
        sizes = cubic(cells) if table == "cubic" else COUNTED
        columns = [_text(name, size, _zipf(i, size)) for i, (name, size) in enumerate(sizes.items())]
        inner = "row"
    if table == "persons":
        columns.append(f"{_person(rows)} AS {PERSON}")
    if table == "values":
        columns.append(f"floor({LARGEST_VALUE + 1} * {_uniform(201)} * {_uniform(202)})::INTEGER AS {VALUE}")
    query = f"SELECT {', '.join(columns)} FROM (SELECT {inner} FROM range({rows}) AS numbers(row))"
    connection.execute(f"COPY ({query}) TO '{path}' (FORMAT parquet)")


def _hash(number: str, salt: int) -> str:
    # With the salt as an argument of its own, hashes of one number would go together.
    return f"hash({number} * 128 + {salt})"


def _uniform(salt: int) -> str:
    return f"({_hash('row', salt)} / 18446744073709551616.0)"


def _zipf(salt: int, size: int) -> str:
    # Rounding may give the size itself, once in a great while.
    return f"least(floor(pow({size + 1}, {_uniform(salt)}))::BIGINT, {size}) - 1"


def _text(column: str, size: int, code: str) -> str:
    return f"{levels(column, size)}[{code} + 1] AS {column}"


def _person(rows: int) -> str:
    """Return who a row is of: every other row is of anybody, the rest of a third of all."""
    persons = max(round(rows / _ROWS_OF_A_PERSON), 3)
    among = f"CASE WHEN {_hash('row', 101)} % 2 = 0 THEN {persons} ELSE {persons // 3} END"
    return f"({_hash('row', 102)} % ({among}))::BIGINT"
