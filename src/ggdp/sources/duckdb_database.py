"""A private DuckDB database in memory, and files as relations of it.

Parquet files are read by DuckDB, by their own types, and columns are taken by their places. CSV files and lines of JSON
come as streams of Arrow batches (`ggdp.sources.text_files`), about which DuckDB knows nothing but the schema.

Claim. Which row of a relation is which row of the data does not depend on other rows. Parquet files hold statistics of
their row groups, by which an optimizer may decide an expression for all rows of a group at once; writers leave NaN out
of them, so that one NaN would be read by its neighbours' values. Here no optimizer may use statistics or put a filter
into a scan (`NO_STATISTICS`).

**Temporary files.** Rows of private data that do not fit in memory are written to disk only into a directory that was
configured for them, `GGDP_TEMP_DIR` or `temp_dir`, since what is deleted can often be recovered and a process can be
killed at any time. Inside it each process has a directory of its own that only its user can read, and that is removed

- when the process ends, and when it is killed, whatever the signal, by a small process that waits for its end;
- when the machine stops, by the next process that uses the same directory.

An encrypted disk is the right place. DuckDB's own encryption of temporary files is not used: the random numbers of the
library that its Python package contains are not suitable for keys.

References
----------
Apache Parquet, ``parquet.thrift``, `ColumnOrder` (NaN in statistics). DuckDB 2.0, "JSON Processing Functions" and
"Reading and Writing Parquet Files" (parameters).
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa

from ggdp.errors import ArgumentError, ArgumentTypeError, SourceError
from ggdp.sources.codes import text_of_invalid
from ggdp.sources.engine import as_frame, safe_name
from ggdp.sources.text_files import Irregular, json_line_batches, record_batches, valid_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ggdp.domain.column import Column
    from ggdp.sources.engine import Frame
    from ggdp.sources.files import Files


# The environment variable that names the directory.
TEMP_DIR = "GGDP_TEMP_DIR"
_PREFIX = "ggdp-"
_LOCK = "owner"
# Waits for the end of its input, which comes when the process that holds the other end is gone.
_GUARD = 'cat >/dev/null; rm -rf -- "$1"'
_guards: list[int] = []


def choose_directory(temp_dir: str | os.PathLike[str] | None) -> Path | None:
    """Return the directory for temporary files that the caller or the environment names; None if neither does."""
    path = os.environ.get(TEMP_DIR) if temp_dir is None else temp_dir
    if not path:
        return None
    if not isinstance(path, str | os.PathLike):
        raise ArgumentTypeError("temp_dir", path, "must be the path of a directory")
    directory = Path(path)
    if not directory.is_dir():
        raise ArgumentError("temp_dir", str(path), "is not a directory; create it first")
    if not os.access(directory, os.W_OK | os.X_OK):
        raise ArgumentError("temp_dir", str(path), "no write permission")
    return directory.resolve()


def private_directory(within: Path) -> Path:
    """Return a new directory that only this user can read, and that is removed however this process ends."""
    remove_abandoned(within)
    directory = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=within))
    lock = os.open(directory / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    _hold(lock)
    _guards.append(_guard(directory))
    return directory


def _guard(directory: Path) -> int:
    """Start a process that removes a directory when this process ends; return its id.

    The operating system closes the pipe between them at the latest then. No signal of a terminal reaches it.
    """
    reading, _ = os.pipe()
    silent = [(os.POSIX_SPAWN_OPEN, place, os.devnull, os.O_WRONLY, 0) for place in (1, 2)]
    try:
        return os.posix_spawn(
            "/bin/sh",
            ["sh", "-c", _GUARD, "sh", str(directory)],
            os.environ,
            file_actions=[(os.POSIX_SPAWN_DUP2, reading, 0), *silent],
            setsid=True,
        )
    finally:
        os.close(reading)


def remove_abandoned(within: Path) -> None:
    """Remove directories of processes that have ended: their locks are free."""
    for directory in within.glob(f"{_PREFIX}*"):
        with contextlib.suppress(OSError):
            if directory.is_symlink() or directory.stat().st_uid != os.getuid():
                continue
            lock = os.open(directory / _LOCK, os.O_RDWR)
            try:
                _hold(lock)
                shutil.rmtree(directory, ignore_errors=True)
            finally:
                os.close(lock)


def _hold(lock: int) -> None:
    """Take a lock that lasts as long as the file is open; raise OSError if another process has it."""
    import fcntl

    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)


# Those that use statistics of a source, or let a source use them.
NO_STATISTICS = (
    "statistics_propagation",
    "filter_pushdown",
    "join_filter_pushdown",
    "compressed_materialization",
    "row_group_pruner",
    "late_materialization",
)
# No extension is loaded over the network, and nothing is printed.
_CONFIG = {
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "disabled_optimizers": ",".join(NO_STATISTICS),
}
# Up to this many groups are finished in memory.
_FEW_GROUPS = 1 << 18


def connect(temp_dir: Path | None = None) -> Any:  # noqa: ANN401 - duckdb is untyped here
    """Return a new connection to an in-memory database; its tables are temporary and end with the connection.

    Rows that do not fit in memory go to a private directory within `temp_dir`; without one, counting them fails. A
    database that has failed for good, as a damaged file can make it do, is replaced by a new one.
    """
    connection = _database(os.getpid(), temp_dir).cursor()
    if not is_alive(connection):
        # It ends with its last connection, so that other threads fail by themselves and not in the middle of a call.
        _database.cache_clear()
        connection = _database(os.getpid(), temp_dir).cursor()
    connection.execute("SET enable_progress_bar = false; SET preserve_insertion_order = false")
    return connection


@lru_cache(maxsize=4)
def _database(process: int, temp_dir: Path | None) -> Any:  # noqa: ANN401, ARG001 - threads do not survive a fork
    """Return the database of this process: starting one takes as long as counting a million rows."""
    import duckdb

    directory = "" if temp_dir is None else str(private_directory(temp_dir))
    return duckdb.connect(":memory:", config={**_CONFIG, "temp_directory": directory})


def is_alive(connection: Any) -> bool:  # noqa: ANN401 - duckdb is untyped here
    """Return whether the database of a connection answers. One that was invalidated never does again."""
    import duckdb

    try:
        connection.cursor().execute("SELECT 1").fetchall()
    except duckdb.FatalException:
        return False
    return True


class Stream:
    """Arrow batches that can be read again: `batches` is called for each read.

    DuckDB knows nothing of them but the schema, and asks for it without asking for rows.
    """

    def __init__(self, schema: pa.Schema, batches: Callable[[], Iterator[pa.RecordBatch]]) -> None:
        self._schema, self._batches = schema, batches

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self._schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)


def evaluate(connection: Any, frame: Frame) -> Frame:  # noqa: ANN401 - duckdb is untyped here
    """Return a frame that is computed once: in memory, or as a table of the connection if it is large."""
    groups = nw.to_native(frame)
    # Few groups are finished in memory, since DuckDB would bind each of the many small operations that are left.
    found = groups.limit(_FEW_GROUPS + 1).to_arrow_table()
    if found.num_rows <= _FEW_GROUPS:
        return as_frame(found)
    groups.query("ggdp_found", "CREATE OR REPLACE TEMP TABLE ggdp_groups AS SELECT * FROM ggdp_found")
    return as_frame(connection.table("ggdp_groups"))


_LINE = pa.schema([("line", pa.string_view())])
_OBJECT = "CASE WHEN json_valid(line) THEN CASE WHEN json_type(line) = 'OBJECT' THEN line END END"
# A byte-order mark may begin any line, since files with one may have been joined. A blank line is not a row.
_LINES = r"""
    FROM (SELECT CASE WHEN starts_with(line, chr(65279)) THEN substr(line, 2) ELSE line END AS line FROM ggdp_lines)
    WHERE line IS NULL OR NOT regexp_full_match(line, '[ \t\r\n\v\f]*')"""


def require_readable(files: Files) -> None:
    """Raise for file names that DuckDB cannot read literally."""
    for path in files.paths:
        try:
            os.path.abspath(path).encode()
        except UnicodeEncodeError:
            message = "DuckDB does not read files whose names are not UTF-8; rename it"
            raise ArgumentError("data", ascii(path), message) from None
        if os.sep != "\\" and "\\" in path and re.search(r"[\[*?]", os.path.abspath(path)):
            message = "DuckDB does not read files with a backslash and *, ? or [ in their names; rename it"
            raise ArgumentError("data", path, message)


def text_rows(connection: Any, files: Files, declared: Mapping[str, Column | None]) -> Any:  # noqa: ANN401
    """Return a relation of declared columns of CSV files."""
    return connection.from_arrow(Stream(_texts(declared), lambda: text_stream(files, declared)))


def text_stream(files: Files, declared: Mapping[str, Column | None]) -> Iterator[pa.RecordBatch]:
    """Yield declared columns of CSV files."""
    columns = [(files.header.index(name), text_of_invalid(column)) for name, column in declared.items()]
    for path, header in zip(files.paths, files.headers, strict=True):
        yield from record_batches(path, header, files.text, files.delimiter, columns, _texts(declared))


def _texts(declared: Mapping[str, Column | None]) -> pa.Schema:
    return pa.schema([(safe_name(name), pa.string_view()) for name in declared])


def json_rows(connection: Any, files: Files, columns: Sequence[str]) -> Any:  # noqa: ANN401 - duckdb is untyped here
    """Return a relation of columns of JSON files, as text: a line is a row, of nulls if it is not a JSON object."""
    # Fields are taken by pointers, which tell names apart that differ in case.
    pointers = ", ".join(_text("/" + name.replace("~", "~0").replace("/", "~1")) for name in columns)
    taken = ", ".join(f"fields[{place}] AS {safe_name(name)}" for place, name in enumerate(columns, 1))
    query = f"SELECT {taken} FROM (SELECT json_extract_string({_OBJECT}, [{pointers}]) AS fields {_LINES})"
    return _json_lines(connection, files).query("ggdp_lines", query)


def json_irregular(files: Files) -> Irregular:
    """Count the rows of JSON files and their irregularities. Not private.

    Lines that are not valid text, or too long, are invalid. A carriage return at an end of a line does not count.
    """
    no_object = f"line IS NOT NULL AND {_OBJECT} IS NULL"
    returns = r"regexp_matches(line, '[^\r]\r+[^\r]')"
    parts = (
        "count(*)",
        "count(*) - count(line)",
        *(f"count(*) FILTER (WHERE {kind})" for kind in (no_object, returns)),
    )
    query = f"SELECT {', '.join(parts)} {_LINES}"
    with connect() as connection:
        ((rows, invalid, others, several),) = _json_lines(connection, files).query("ggdp_lines", query).fetchall()
    return Irregular(records=rows, otherwise=rows, with_line_ends=several, invalid=invalid, not_objects=others)


def _json_lines(connection: Any, files: Files) -> Any:  # noqa: ANN401 - duckdb is untyped here
    def batches() -> Iterator[pa.RecordBatch]:
        for path in files.paths:
            yield from json_line_batches(path, files.text, _LINE)

    return connection.from_arrow(Stream(_LINE, batches))


def parquet(connection: Any, files: Files, columns: Sequence[str]) -> Any:  # noqa: ANN401 - duckdb is untyped here
    """Return a relation of columns of Parquet files; nothing is read yet but their schemas.

    DuckDB finds the columns of several files by their names, and does not tell names apart that differ in case. So
    files are read together only if all names of their schemas are the same and differ in more than case.
    """
    import pyarrow.parquet as pq

    groups: dict[object, tuple[tuple[str, ...], frozenset[str], list[str]]] = {}
    for path in files.paths:
        schema = pq.read_schema(path)
        names = tuple(schema.names)
        nulls = frozenset(name for name in columns if pa.types.is_null(schema.field(names.index(name)).type))
        together = (names, nulls) if len({name.casefold() for name in names}) == len(names) else path
        groups.setdefault(together, (names, nulls, []))[2].append(path)
    queries = []
    for number, (names, nulls, paths) in enumerate(groups.values()):
        places = ", ".join(f"p{place}" for place in range(len(names)))
        # A null has the type that the column has in other files.
        values = {name: "NULL" if name in nulls else f"p{names.index(name)}" for name in columns}
        taken = ", ".join(f"{value} AS {safe_name(name)}" for name, value in values.items())
        source = f"read_parquet({_paths(paths)}, hive_partitioning = false, union_by_name = false)"
        queries.append(f"SELECT {taken} FROM {source} AS part{number}({places})")
    return connection.sql(" UNION ALL ".join(queries))


def require_all_rows(relation: Any, files: Files) -> None:  # noqa: ANN401 - duckdb is untyped here
    """Raise if the parts of Parquet files do not have the rows that the files claim: some would be left out.

    DuckDB knows the rows of the parts without reading a value. A damaged part may claim more than can be counted.
    """
    import pyarrow.parquet as pq

    claimed = sum(pq.read_metadata(path).num_rows for path in files.paths)
    query = f"SELECT count(*) FROM (SELECT 1 FROM ggdp_rows LIMIT {claimed + 1})"
    if relation.query("ggdp_rows", query).fetchall() != [(claimed,)]:
        raise SourceError(files.named)


def most_bytes(connection: Any, files: Files, columns: Sequence[str]) -> int:  # noqa: ANN401 - duckdb is untyped here
    """Return the most bytes, uncompressed, that one of some columns has in a part of Parquet files.

    Arrow would know them, too, but its Python package ends the process where such metadata are damaged.
    """
    parts, names = f"parquet_metadata({_paths(files.paths)})", ", ".join(map(_text, columns))
    query = f"SELECT max(total_uncompressed_size) FROM {parts} WHERE path_in_schema IN ({names})"
    ((found,),) = connection.sql(query).fetchall()
    return found or 0


def parquet_rows(connection: Any, files: Files, declared: Mapping[str, Column | None]) -> Any:  # noqa: ANN401
    """Return the same as `parquet`, read by Arrow, which takes text that is not valid UTF-8: it has no text (`kinds`).

    It takes several times as long, and is the way only where DuckDB fails.
    """
    import pyarrow.parquet as pq

    relation = parquet(connection, files, list(declared))
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    instead = {
        name: text_of_invalid(column) for name, column in declared.items() if types[safe_name(name)] == "VARCHAR"
    }
    schemas = [pq.read_schema(path) for path in files.paths]
    schema = pa.schema(
        [(safe_name(name), pa.large_string() if name in instead else _type(schemas, name)) for name in declared]
    )

    def array(name: str, found: pa.Array) -> pa.Array:
        if name not in instead:
            return found.cast(schema.field(safe_name(name)).type)
        texts = found.dictionary_decode() if pa.types.is_dictionary(found.type) else found
        return valid_text(texts.cast(pa.large_binary()), instead[name], pa.large_string())

    def batches() -> Iterator[pa.RecordBatch]:
        for path, stored in zip(files.paths, schemas, strict=True):
            # Else Arrow fails where a category is not valid UTF-8.
            categories = [name for name in instead if pa.types.is_dictionary(stored.field(name).type)]
            rows = 0
            with pq.ParquetFile(path, read_dictionary=categories) as opened:
                for batch in opened.iter_batches(columns=list(declared)):
                    rows += batch.num_rows
                    yield pa.record_batch([array(name, batch.column(name)) for name in declared], schema)
                claimed = opened.metadata.num_rows
            if rows != claimed:
                raise SourceError(files.named)

    taken = ", ".join(f"CAST({safe_name(name)} AS {types[safe_name(name)]}) AS {safe_name(name)}" for name in declared)
    return connection.from_arrow(Stream(schema, batches)).project(taken)


def _type(schemas: Sequence[pa.Schema], name: str) -> pa.DataType:
    """Return the type of a column in the first file where it has one."""
    kinds = [schema.field(name).type for schema in schemas]
    found = next((kind for kind in kinds if not pa.types.is_null(kind)), pa.null())
    # DuckDB takes no halves from Arrow.
    return pa.float32() if pa.types.is_float16(found) else found


def _paths(paths: Sequence[str]) -> str:
    """Return paths as DuckDB takes them, which would read some as patterns, and a tilde as a directory."""
    literal = (re.sub(r"([\[*?])", r"[\1]", os.path.abspath(path)) for path in paths)
    return f"[{', '.join(map(_text, literal))}]"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
