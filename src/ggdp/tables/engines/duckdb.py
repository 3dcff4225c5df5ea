"""Files read by DuckDB, in a connection of our own: CSV and JSON as text, Parquet by its own types.

Whether a file of text can be read must not depend on what is in it. So DuckDB is told all columns, and looks for
nothing itself: neither types, nor delimiters, nor a header. A CSV record that is too short is filled with nulls, one
that is too long is cut, a stray quote is taken as it is, and a record that is no UTF-8 is left out. A line that is no
JSON object is a row of nulls. Where DuckDB fails all the same (`rows_kept`), Python reads lines of JSON, and Arrow
Parquet files whose text is no UTF-8: every other row is then what it was before.

Claim. Records are told apart by line ends outside of quotes, as RFC 4180 has it, and are then read one by one, so that
what a table of records is, and what it is without one of them, is well-defined. A carriage return alone ends a record
of a CSV file, too.

References
----------
DuckDB 2.0, "CSV Import", "JSON Loading" and "Reading and Writing Parquet Files" (parameters).
"""

from __future__ import annotations

import atexit
import json
import os
import re
import shutil
import tempfile
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa

from ggdp.errors import ArgumentError
from ggdp.tables.engines.files import DELIMITERS, json_lines
from ggdp.tables.engines.kinds import unparsable
from ggdp.tables.engines.native import framed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ggdp.tables.column import Column
    from ggdp.tables.engines.files import Files
    from ggdp.tables.engines.native import Frame

__all__ = ["column_names", "connected", "keeper", "read", "require_readable", "rows_kept"]

# No extension is loaded over the network, and nothing is printed.
_CONFIG = {"autoinstall_known_extensions": "false", "autoload_known_extensions": "false"}
# So many groups are few.
_FEW = 1 << 18
# A longer record is left out.
_LONGEST = 1 << 25
# DuckDB's reader of JSON may read a line of up to twice what it is told, which the careful one must read as well.
_LONGEST_LINE = 4 * _LONGEST
# Lines in a batch of the careful reader.
_BATCH = 1 << 14


def connected() -> Any:  # noqa: ANN401 - duckdb is untyped here
    """Return a new connection to a database in memory that stays empty: what is kept in it ends with the connection."""
    connection = _database(os.getpid()).cursor()
    connection.execute("SET enable_progress_bar = false; SET preserve_insertion_order = false")
    return connection


@lru_cache(maxsize=1)
def _database(process: int) -> Any:  # noqa: ANN401, ARG001 - one for each process: its threads do not survive a fork
    """Return the database of this process, since to start one takes as long as to count a million rows."""
    import duckdb

    return duckdb.connect(":memory:", config={**_CONFIG, "temp_directory": _private_folder()})


def _private_folder() -> str:
    """Return a new folder that only this user can read: rows that do not fit in memory are there for a while."""
    folder, owner = tempfile.mkdtemp(prefix="ggdp-"), os.getpid()

    def remove() -> None:
        # A fork has this function as well, but not the folder.
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def require_readable(files: Files) -> None:
    """Refuse names of files that DuckDB cannot be told without taking them for patterns."""
    for path in files.paths:
        try:
            os.path.abspath(path).encode()
        except UnicodeEncodeError:
            raise ArgumentError("data", ascii(path), "DuckDB reads no file whose name is no UTF-8: rename it") from None
        if os.sep != "\\" and "\\" in path and re.search(r"[\[*?]", os.path.abspath(path)):
            raise ArgumentError("data", path, "DuckDB reads no file with a backslash and one of *, ? and [: rename it")


def read(connection: Any, files: Files, columns: Sequence[str], *, parallel: bool = True) -> Any:  # noqa: ANN401
    """Return a relation of the needed columns of files; nothing is read yet but the schema of Parquet files."""
    paths = _paths(files)
    if files.format == "parquet":
        source = _parquet(files)
        names: Sequence[str] = columns
        places = list(columns)
    elif files.format == "json":
        # With one column alone DuckDB would look whether all lines are records, and else take each one for the column.
        source = (
            f"read_json({paths}, columns = {_struct(columns)}, format = 'newline_delimited', auto_detect = false, "
            f"records = 'true', "
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


def rows_kept(
    connection: Any,  # noqa: ANN401 - duckdb is untyped here
    files: Files,
    declared: Mapping[str, Column | None],
) -> Any:  # noqa: ANN401
    """Return a relation of declared columns of JSON or Parquet files, read slowly into a table of the connection.

    Claim. Its rows are those that `read` has where that does not fail, save for a byte-order mark: DuckDB takes the
    first line of JSON for no object then. Text of Parquet files that is no UTF-8 has no text (`kinds`).
    """
    columns = list(declared)
    if files.format == "json":
        schema, batches = _line_batches(files)
        struct = "{" + ", ".join(f'{_json_text(name)}: "VARCHAR"' for name in columns) + "}"
        record = f"json_transform(CASE WHEN json_valid(line) THEN line END, {_text(struct)})"
        taken = ", ".join(f"record[{_text(name)}] AS {_name(name)}" for name in columns)
        query = f"SELECT {taken} FROM (SELECT {record} AS record FROM ggdp_batches)"
    else:
        relation = read(connection, files, columns)
        types = dict(zip(relation.columns, map(str, relation.types), strict=True))
        instead = {name: unparsable(column) for name, column in declared.items() if types[name] == "VARCHAR"}
        schema, batches = _parquet_batches(files, columns, instead)
        taken = ", ".join(f"CAST({_name(name)} AS {types[name]}) AS {_name(name)}" for name in columns)
        query = f"SELECT {taken} FROM ggdp_batches"
    connection.register("ggdp_batches", pa.RecordBatchReader.from_batches(schema, batches))
    try:
        connection.execute(f"CREATE OR REPLACE TEMP TABLE ggdp_rows AS {query}")
    finally:
        connection.unregister("ggdp_batches")
    return connection.table("ggdp_rows")


def _line_batches(files: Files) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    schema = pa.schema([("line", pa.large_string())])

    def batches() -> Iterator[pa.RecordBatch]:
        for path in files.paths:
            lines = json_lines(path, _LONGEST_LINE)
            while batch := list(islice(lines, _BATCH)):
                yield pa.record_batch([pa.array(batch, pa.large_string())], schema)

    return schema, batches()


def _parquet_batches(
    files: Files, columns: Sequence[str], instead: Mapping[str, str | None]
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    import pyarrow.parquet as pq

    first = pq.read_schema(files.paths[0])
    types = {name: pa.large_string() if name in instead else first.field(name).type for name in columns}
    # DuckDB takes no halves from Arrow.
    schema = pa.schema([(name, pa.float32() if pa.types.is_float16(kind) else kind) for name, kind in types.items()])

    def array(name: str, found: pa.Array) -> pa.Array:
        return _utf8(found, instead[name]) if name in instead else found.cast(schema.field(name).type)

    def batches() -> Iterator[pa.RecordBatch]:
        for path in files.paths:
            with pq.ParquetFile(path) as opened:
                for batch in opened.iter_batches(columns=list(columns)):
                    yield pa.record_batch([array(name, batch.column(name)) for name in columns], schema)

    return schema, batches()


def _utf8(texts: pa.Array, instead: str | None) -> pa.Array:
    """Return texts, with another one for those that are no UTF-8."""
    texts = texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts
    raw = texts.cast(pa.large_binary())
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        return pa.array(
            [None if text is None else _decoded(text, instead) for text in raw.to_pylist()], pa.large_string()
        )


def _decoded(text: bytes, instead: str | None) -> str | None:
    try:
        return text.decode()
    except UnicodeDecodeError:
        return instead


def column_names(files: Files, columns: Sequence[str]) -> Sequence[str]:
    """Return the names of the columns that files have; JSON files have no schema, and so all that are asked for."""
    if files.format == "parquet":
        import pyarrow.parquet as pq

        names: list[str] = pq.read_schema(files.paths[0]).names
        return names
    return columns if files.format == "json" else files.header


def keeper(connection: Any) -> Callable[[Frame], Frame]:  # noqa: ANN401 - duckdb is untyped here
    """Return what computes a frame once and keeps it: in memory, or as a table of the connection where it is large."""

    def keep(frame: Frame) -> Frame:
        groups = nw.to_native(frame)
        # Few groups are finished in memory, since DuckDB would bind each of the many small steps that are left.
        found = groups.limit(_FEW + 1).to_arrow_table()
        if found.num_rows <= _FEW:
            return framed(found)
        connection.execute(f"CREATE OR REPLACE TEMP TABLE ggdp_groups AS {groups.sql_query()}")
        return framed(connection.table("ggdp_groups"))

    return keep


def _parquet(files: Files) -> str:
    return f"read_parquet({_paths(files)}, hive_partitioning = false)"


def _paths(files: Files) -> str:
    """Return paths as DuckDB takes them, which would read some as patterns, and a tilde as a folder."""
    literal = (re.sub(r"([\[*?])", r"[\1]", os.path.abspath(path)) for path in files.paths)
    return f"[{', '.join(map(_text, literal))}]"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


def _name(value: str) -> str:
    return '"' + value.replace('"', '""') + '"'


def _json_text(value: str) -> str:
    return json.dumps(value, ensure_ascii=False)


def _struct(names: Sequence[str]) -> str:
    return "{" + ", ".join(f"{_text(name)}: 'VARCHAR'" for name in names) + "}"
