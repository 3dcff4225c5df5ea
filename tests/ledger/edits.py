"""Random edits of a ledger behind its back: of any column of any row, of rows, of the head, and of bytes of the file.

An edit is made of the rows as they are, so that each changes something. Left out is what `Ledger.verify` says that it
cannot find: a head that is set back to a record together with all that came after it, and a chain with new hashes.
"""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import random
    from pathlib import Path

TABLES = ("ggdp_ledger", "ggdp_records", "ggdp_ledger_version")
DIGITS = "0123456789"

Value = str | int | None
Row = dict[str, Value]
Tables = dict[str, list[Row]]


class ForbiddenError(Exception):
    """An edit that the constraints of the tables forbid, such as two records of one number."""


class Base(Protocol):
    """A database whose tables can be read and replaced."""

    def tables(self) -> Tables:
        """Return all rows of a ledger."""
        ...

    def replace(self, tables: Tables) -> None:
        """Put other rows in the place of all."""
        ...


def base_of(url: str | Path) -> Base:
    """Return the database of a ledger."""
    return PostgreSQLBase(str(url)) if str(url).startswith("postgresql://") else SQLiteBase(url)


class SQLiteBase:
    """The file of a ledger."""

    def __init__(self, path: str | Path) -> None:
        self._path = path

    def tables(self) -> Tables:
        with closing(sqlite3.connect(self._path)) as connection:
            connection.row_factory = sqlite3.Row
            found = {name: connection.execute(_ordered(name)).fetchall() for name in TABLES}
        # A name of a column in another case is the same name, in SQL and so to the ledger.
        return {
            name: [{key.lower(): value for key, value in dict(row).items()} for row in rows]
            for name, rows in found.items()
        }

    def replace(self, tables: Tables) -> None:
        with closing(sqlite3.connect(self._path)) as connection:
            connection.execute("PRAGMA synchronous = OFF")
            try:
                for name, rows in tables.items():
                    connection.execute(f"DELETE FROM {name}")
                    for row in rows:
                        connection.execute(_insertion(name, row, "?"), tuple(row.values()))
            except sqlite3.IntegrityError as refused:
                raise ForbiddenError from refused
            connection.commit()


class PostgreSQLBase:
    """A ledger on a server."""

    def __init__(self, url: str) -> None:
        self._url = url

    def tables(self) -> Tables:
        import psycopg
        from psycopg.rows import dict_row

        with psycopg.connect(self._url, row_factory=dict_row) as connection:
            return {name: connection.execute(_ordered(name)).fetchall() for name in TABLES}

    def replace(self, tables: Tables) -> None:
        import psycopg

        try:
            with psycopg.connect(self._url) as connection:
                connection.execute("SET LOCAL synchronous_commit = off")
                for name, rows in tables.items():
                    connection.execute(f"DELETE FROM {name}")
                    for row in rows:
                        connection.execute(_insertion(name, row, "%s"), tuple(row.values()))
        except psycopg.IntegrityError as refused:
            raise ForbiddenError from refused


def _ordered(table: str) -> str:
    return f"SELECT * FROM {table} ORDER BY 1"


def _insertion(table: str, row: Row, mark: str) -> str:
    return f"INSERT INTO {table} ({', '.join(row)}) VALUES ({', '.join([mark] * len(row))})"


def random_edit(chance: random.Random, tables: Tables) -> tuple[str, Tables]:
    """Return what is edited, and all rows after it; they are others than before."""
    edited = {name: [dict(row) for row in rows] for name, rows in tables.items()}
    kind = chance.choice(
        [*["cell"] * 8, "ledger", "ledger", "swap", "swap cells", "remove", "cut", "add", "move", "head"]
    )
    said = _EDITS[kind](chance, edited)
    return (said, edited) if edited != tables else random_edit(chance, tables)


def _cell(chance: random.Random, tables: Tables) -> str:
    row = chance.choice(tables["ggdp_records"])
    return f"record {row['number']}: {_change_one(chance, row, tables['ggdp_records'])}"


def _ledger(chance: random.Random, tables: Tables) -> str:
    name = chance.choice(["ggdp_ledger", "ggdp_ledger", "ggdp_ledger", "ggdp_ledger_version"])
    rows = tables[name]
    if chance.random() < 0.1:
        rows.clear()
        return f"{name}: emptied"
    return f"{name}: {_change_one(chance, rows[0], rows)}"


def _swap(chance: random.Random, tables: Tables) -> str:
    first, second = chance.sample(tables["ggdp_records"], 2)
    first["number"], second["number"] = second["number"], first["number"]
    return f"records {second['number']} and {first['number']} exchanged"


def _swap_cells(chance: random.Random, tables: Tables) -> str:
    first, second = chance.sample(tables["ggdp_records"], 2)
    column = chance.choice(list(first))
    first[column], second[column] = second[column], first[column]
    return f"{column} of records {first['number']} and {second['number']} exchanged"


def _remove(chance: random.Random, tables: Tables) -> str:
    rows = tables["ggdp_records"]
    gone = chance.sample(rows, chance.randint(1, len(rows)))
    rows[:] = [row for row in rows if row not in gone]
    return f"records {sorted(row['number'] for row in gone)} removed"


def _cut(chance: random.Random, tables: Tables) -> str:
    rows = tables["ggdp_records"]
    del rows[chance.randrange(len(rows)) :]
    return f"cut off after {len(rows)} records"


def _add(chance: random.Random, tables: Tables) -> str:
    rows = tables["ggdp_records"]
    added = dict(chance.choice(rows))
    added["number"] = chance.choice([0, -1, len(rows) + 1, len(rows) + 2, 10**6])
    added["entry"] = chance.choice([None, 10**6, -1, 0])
    if chance.random() < 0.5:
        added["previous"] = rows[-1]["hash"]
    rows.append(added)
    return f"a copy added as record {added['number']}"


def _move(chance: random.Random, tables: Tables) -> str:
    rows = tables["ggdp_records"]
    first = chance.randrange(len(rows))
    by = chance.choice([1, 2, 10])
    for row in rows[first:]:
        row["number"] += by
    return f"records from {first + 1} on moved by {by}"


def _head(chance: random.Random, tables: Tables) -> str:
    other = chance.choice(tables["ggdp_records"][:-1])
    tables["ggdp_ledger"][0] |= {"head_number": other["number"], "head_hash": other["hash"]}
    return f"the head set back to record {other['number']}, and no record removed"


_EDITS = {
    "cell": _cell,
    "ledger": _ledger,
    "swap": _swap,
    "swap cells": _swap_cells,
    "remove": _remove,
    "cut": _cut,
    "add": _add,
    "move": _move,
    "head": _head,
}
# The other columns are declared NOT NULL.
_NULLABLE = ("entry", "analyst")


def _change_one(chance: random.Random, row: Row, others: list[Row]) -> str:
    column = chance.choice([name for name in row if name != "id"])
    old = row[column]
    row[column] = _changed(chance, old, [other[column] for other in others], nullable=column in _NULLABLE)
    return f"{column} from {old!r} to {row[column]!r}"


def _changed(chance: random.Random, old: Value, others: list[Value], *, nullable: bool) -> Value:
    """Return another value of the same type, near the old one, or one of another row."""
    if old is None:
        return chance.choice([0, 1, 7]) if any(isinstance(value, int) for value in others) else "ana"
    if nullable and chance.random() < 0.1:
        return None
    if chance.random() < 0.1:
        return chance.choice(others)
    if isinstance(old, int):
        return chance.choice([old + 1, old - 1, -old, 0, old + 1000, 2**31 - 1])
    place = chance.randrange(len(old)) if old else 0
    return chance.choice(
        [
            old[:place] + chr(chance.randrange(32, 127)) + old[place + 1 :],
            old[:place] + old[place + 1 :],
            old[:place] + chance.choice("0 1\u00e9\u4e2d\n\"'{}[],") + old[place:],
            old + " ",
            old.upper(),
            "",
            _other_digit(chance, old),
            "null",
            "1e999999",
            "1/0",
            "[]",
            "NaN",
        ]
    )


def _other_digit(chance: random.Random, old: str) -> str:
    places = [place for place, letter in enumerate(old) if letter in DIGITS]
    if not places:
        return old + chance.choice(DIGITS)
    place = chance.choice(places)
    return old[:place] + chance.choice(DIGITS) + old[place + 1 :]


def random_bytes(chance: random.Random, content: bytes) -> tuple[str, bytes]:
    """Return what is edited of the bytes of a file, and the bytes after it; they are others than before."""
    place = chance.randrange(len(content))
    kind = chance.choice([*["byte"] * 6, "stretch", "zeros", "cut", "added", "page"])
    match kind:
        case "byte":
            edited = _put(content, place, bytes([content[place] ^ chance.randrange(1, 256)]))
        case "stretch":
            edited = _put(content, place, chance.randbytes(chance.randint(2, 64)))
        case "zeros":
            edited = _put(content, place, bytes(chance.randint(2, 512)))
        case "cut":
            edited = content[:place]
        case "added":
            edited = content + chance.randbytes(chance.randint(1, 5000))
        case "page":
            # A page exchanged for another one.
            pages = len(content) // 4096
            first, second = (4096 * chance.randrange(pages) for _ in range(2))
            edited = _put(content, first, content[second : second + 4096])
    return (f"{kind} at {place}", edited) if edited != content else random_bytes(chance, content)


def _put(content: bytes, place: int, new: bytes) -> bytes:
    return (content[:place] + new + content[place + len(new) :])[: len(content)]
