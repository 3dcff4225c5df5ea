"""Files read by DuckDB, in a connection of our own: CSV and JSON as text, Parquet by its own types.

Whether a file of text can be read must not depend on what is in it. So DuckDB is told all columns, and looks for
nothing itself: neither types, nor delimiters, nor a header. A CSV record that is too short is filled with nulls, one
that is too long is cut, a stray quote is taken as it is, and a record that is no UTF-8 is left out. A line that is no
JSON object is a row of nulls.

Claim. Records are told apart by line ends outside of quotes, as RFC 4180 has it, and are then read one by one, so that
what a table of records is, and what it is without one of them, is well-defined.

References
----------
DuckDB 1.3 to 2.0, "CSV Import", "JSON Loading" and "Reading and Writing Parquet Files" (parameters).
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import narwhals as nw

from ggdp.tables.engines.files import DELIMITERS
from ggdp.tables.engines.native import framed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ggdp.tables.engines.files import Files
    from ggdp.tables.engines.native import Frame

__all__ = ["column_names", "connected", "keeper", "read"]

# No extension is loaded over the network, and nothing is printed.
_CONFIG = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
# So many groups are few.
_FEW = 1 << 18
# A longer record is left out.
_LONGEST = 1 << 25


def connected() -> Any:  # noqa: ANN401 - duckdb is untyped here
    """Return a new connection to a database in memory that stays empty: what is kept in it ends with the connection."""
    connection = _database(os.getpid()).cursor()
    connection.execute("SET enable_progress_bar = false; SET preserve_insertion_order = false")
    return connection


@lru_cache(maxsize=1)
def _database(process: int) -> Any:  # noqa: ANN401, ARG001 - one for each process: its threads do not survive a fork
    """Return the database of this process, since to start one takes as long as to count a million rows."""
    import duckdb

    return duckdb.connect(":memory:", config=_CONFIG)


def read(connection: Any, files: Files, columns: Sequence[str], *, parallel: bool = True) -> Any:  # noqa: ANN401
    """Return a relation of the needed columns of files; nothing is read yet but the schema of Parquet files."""
    paths = f"[{', '.join(map(_text, files.paths))}]"
    if files.format == "parquet":
        source = _parquet(files)
        names: Sequence[str] = columns
        places = list(columns)
    elif files.format == "json":
        source = (
            f"read_json({paths}, columns = {_struct(columns)}, format = 'newline_delimited', auto_detect = false, "
            f"ignore_errors = true, hive_partitioning = false, maximum_object_size = {_LONGEST})"
        )
        names, places = list(columns), list(columns)
    else:
        # Fields have numbers at first, as two names of a header may differ in case alone.
        names = files.header
        # A blank line is no record; in a file of one column DuckDB would take it for one, and so is told of two.
        numbers = [f"c{place}" for place in range(max(2, len(names)))]
        places = numbers[: len(names)]
        source = (
            f"read_csv({paths}, columns = {_struct(numbers)}, auto_detect = false, header = true, "
            f"delim = {_text(DELIMITERS[files.format])}, quote = '\"', escape = '\"', comment = '', nullstr = '', "
            f"null_padding = true, strict_mode = false, ignore_errors = true, hive_partitioning = false, "
            f"max_line_size = {_LONGEST // 8}, parallel = {str(parallel).lower()})"
        )
    by_name = dict(zip(names, places, strict=True))
    taken = ", ".join(f"{_name(by_name[name])} AS {_name(name)}" for name in columns)
    return connection.sql(f"SELECT {taken} FROM {source}")


def column_names(connection: Any, files: Files, columns: Sequence[str]) -> Sequence[str]:  # noqa: ANN401
    """Return the names of the columns that files have; JSON files have no schema, and so all that are asked for."""
    if files.format == "parquet":
        return list(connection.sql(f"SELECT * FROM {_parquet(files)}").columns)
    return columns if files.format == "json" else files.header


def keeper(connection: Any) -> Callable[[Frame], Frame]:  # noqa: ANN401 - duckdb is untyped here
    """Return what computes a frame once and keeps it: in memory, or as a table of the connection where it is large."""

    def keep(frame: Frame) -> Frame:
        groups = nw.to_native(frame).sql_query()
        connection.execute(f"CREATE OR REPLACE TEMP TABLE ggdp_groups AS {groups}")
        # Few groups are finished in memory, since DuckDB would bind each of the many small steps that are left.
        if connection.execute("SELECT count(*) FROM ggdp_groups").fetchall()[0][0] <= _FEW:
            return framed(connection.table("ggdp_groups").to_arrow_table())
        return framed(connection.table("ggdp_groups"))

    return keep


def _parquet(files: Files) -> str:
    return f"read_parquet([{', '.join(map(_text, files.paths))}], hive_partitioning = false)"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


def _struct(names: Sequence[str]) -> str:
    return "{" + ", ".join(f"{_text(name)}: 'VARCHAR'" for name in names) + "}"
