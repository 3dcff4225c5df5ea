"""Files and streams as relations of DuckDB, in a database of our own that trusts no statistics and writes no file.

Parquet files are read by DuckDB, by their own types, and columns are taken by their places. Whatever else is counted
here comes as a stream of Arrow batches (`Stream`), about which DuckDB knows nothing but its schema: CSV files and lines
of JSON (`ggdp.tables.engines.text_files`), and relations of other databases.

Claim. Which row of a relation is which row of the data does not depend on other rows. Parquet files hold statistics of
their row groups, by which an optimiser may decide an expression for all rows of a group at once; writers leave NaN out
of them, so that one NaN would be read by its neighbours' values. Here no optimiser may use statistics or put a filter
into a scan (`NO_STATISTICS`).

References
----------
DuckDB 2.0, "JSON Processing Functions" and "Reading and Writing Parquet Files" (parameters); Apache Parquet,
``parquet.thrift``, `ColumnOrder` (NaN in statistics).
"""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa

from ggdp.errors import ArgumentError
from ggdp.tables.engines.kinds import unparsable
from ggdp.tables.engines.native import bound, framed
from ggdp.tables.engines.temporary import private_directory
from ggdp.tables.engines.text_files import decoded, json_line_batches, record_batches

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from ggdp.tables.column import Column
    from ggdp.tables.engines.files import Files
    from ggdp.tables.engines.native import Frame

__all__ = [
    "NO_STATISTICS",
    "Stream",
    "connected",
    "json_rows",
    "keeper",
    "parquet",
    "parquet_rows",
    "require_readable",
    "text_rows",
    "text_stream",
]

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
# So many groups are few.
_FEW = 1 << 18
_LINE = pa.schema([("line", pa.string_view())])


def connected(temp_dir: Path | None = None) -> Any:  # noqa: ANN401 - duckdb is untyped here
    """Return a new connection to a database in memory that stays empty: what is kept in it ends with the connection.

    Rows that do not fit in memory go to a private directory within `temp_dir`; without one, counting them fails.
    """
    connection = _database(os.getpid(), temp_dir).cursor()
    connection.execute("SET enable_progress_bar = false; SET preserve_insertion_order = false")
    return connection


@lru_cache(maxsize=4)
def _database(process: int, temp_dir: Path | None) -> Any:  # noqa: ANN401, ARG001 - threads do not survive a fork
    """Return a database of this process, since to start one takes as long as to count a million rows."""
    import duckdb

    directory = "" if temp_dir is None else str(private_directory(temp_dir))
    return duckdb.connect(":memory:", config={**_CONFIG, "temp_directory": directory})


class Stream:
    """Arrow batches that can be read again: `batches` is called each time that they are.

    DuckDB asks for the schema without asking for rows.
    """

    def __init__(self, schema: pa.Schema, batches: Callable[[], Iterator[pa.RecordBatch]]) -> None:
        self._schema, self._batches = schema, batches

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self._schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)


def require_readable(files: Files) -> None:
    """Refuse names of files that DuckDB cannot be told without taking them for patterns."""
    for path in files.paths:
        try:
            os.path.abspath(path).encode()
        except UnicodeEncodeError:
            raise ArgumentError("data", ascii(path), "DuckDB reads no file whose name is no UTF-8: rename it") from None
        if os.sep != "\\" and "\\" in path and re.search(r"[\[*?]", os.path.abspath(path)):
            raise ArgumentError("data", path, "DuckDB reads no file with a backslash and one of *, ? and [: rename it")


def text_rows(connection: Any, files: Files, declared: Mapping[str, Column | None]) -> Any:  # noqa: ANN401
    """Return a relation of declared columns of CSV files."""
    return connection.from_arrow(Stream(_texts(declared), lambda: text_stream(files, declared)))


def text_stream(files: Files, declared: Mapping[str, Column | None]) -> Iterator[pa.RecordBatch]:
    """Yield declared columns of CSV files."""
    columns = [(files.header.index(name), unparsable(column)) for name, column in declared.items()]
    for path, header in zip(files.paths, files.headers, strict=True):
        yield from record_batches(path, header, files.text, files.delimiter, columns, _texts(declared))


def _texts(declared: Mapping[str, Column | None]) -> pa.Schema:
    return pa.schema([(bound(name), pa.string_view()) for name in declared])


def json_rows(connection: Any, files: Files, columns: Sequence[str]) -> Any:  # noqa: ANN401 - duckdb is untyped here
    """Return a relation of columns of JSON files, as text: a line is a row, of nulls if it is no JSON object."""

    def batches() -> Iterator[pa.RecordBatch]:
        for path in files.paths:
            yield from json_line_batches(path, files.text, _LINE)

    # Fields are taken by pointers, which tell names apart that differ in case.
    pointers = ", ".join(_text("/" + name.replace("~", "~0").replace("/", "~1")) for name in columns)
    taken = ", ".join(f"fields[{place}] AS {bound(name)}" for place, name in enumerate(columns, 1))
    known = "CASE WHEN json_valid(line) THEN CASE WHEN json_type(line) = 'OBJECT' THEN line END END"
    # A byte-order mark may begin any line, since files with one may have been joined.
    unmarked = "CASE WHEN starts_with(line, chr(65279)) THEN substr(line, 2) ELSE line END"
    query = f"""
        SELECT {taken} FROM (
            SELECT json_extract_string({known}, [{pointers}]) AS fields
            FROM (SELECT {unmarked} AS line FROM ggdp_lines)
            WHERE line IS NULL OR NOT regexp_full_match(line, '[ \\t\\r\\n\\v\\f]*')
        )"""
    return connection.from_arrow(Stream(_LINE, batches)).query("ggdp_lines", query)


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
        taken = ", ".join(f"{value} AS {bound(name)}" for name, value in values.items())
        source = f"read_parquet({_paths(paths)}, hive_partitioning = false, union_by_name = false)"
        queries.append(f"SELECT {taken} FROM {source} AS part{number}({places})")
    return connection.sql(" UNION ALL ".join(queries))


def parquet_rows(connection: Any, files: Files, declared: Mapping[str, Column | None]) -> Any:  # noqa: ANN401
    """Return the same as `parquet`, read by Arrow, which takes text that is not valid UTF-8: it has no text (`kinds`).

    It takes several times as long, and is the way only where DuckDB fails.
    """
    import pyarrow.parquet as pq

    relation = parquet(connection, files, list(declared))
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    instead = {name: unparsable(column) for name, column in declared.items() if types[bound(name)] == "VARCHAR"}
    schemas = [pq.read_schema(path) for path in files.paths]
    schema = pa.schema(
        [(bound(name), pa.large_string() if name in instead else _type(schemas, name)) for name in declared]
    )

    def array(name: str, found: pa.Array) -> pa.Array:
        return _utf8(found, instead[name]) if name in instead else found.cast(schema.field(bound(name)).type)

    def batches() -> Iterator[pa.RecordBatch]:
        for path in files.paths:
            with pq.ParquetFile(path) as opened:
                for batch in opened.iter_batches(columns=list(declared)):
                    yield pa.record_batch([array(name, batch.column(name)) for name in declared], schema)

    taken = ", ".join(f"CAST({bound(name)} AS {types[bound(name)]}) AS {bound(name)}" for name in declared)
    return connection.from_arrow(Stream(schema, batches)).project(taken)


def _type(schemas: Sequence[pa.Schema], name: str) -> pa.DataType:
    """Return the type of a column in the first file where it has one."""
    kinds = [schema.field(name).type for schema in schemas]
    found = next((kind for kind in kinds if not pa.types.is_null(kind)), pa.null())
    # DuckDB takes no halves from Arrow.
    return pa.float32() if pa.types.is_float16(found) else found


def _utf8(texts: pa.Array, instead: str | None) -> pa.Array:
    """Return texts, with another one for those that are not valid UTF-8."""
    texts = texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts
    raw = texts.cast(pa.large_binary())
    try:
        return raw.cast(pa.large_string())
    except pa.ArrowInvalid:
        values = [None if text is None else decoded(text, instead) for text in raw.to_pylist()]
        return pa.array(values, pa.large_string())


def keeper(connection: Any) -> Callable[[Frame], Frame]:  # noqa: ANN401 - duckdb is untyped here
    """Return what computes a frame once and keeps it: in memory, or as a table of the connection where it is large."""

    def keep(frame: Frame) -> Frame:
        groups = nw.to_native(frame)
        # Few groups are finished in memory, since DuckDB would bind each of the many small steps that are left.
        found = groups.limit(_FEW + 1).to_arrow_table()
        if found.num_rows <= _FEW:
            return framed(found)
        groups.query("ggdp_found", "CREATE OR REPLACE TEMP TABLE ggdp_groups AS SELECT * FROM ggdp_found")
        return framed(connection.table("ggdp_groups"))

    return keep


def _paths(paths: Sequence[str]) -> str:
    """Return paths as DuckDB takes them, which would read some as patterns, and a tilde as a folder."""
    literal = (re.sub(r"([\[*?])", r"[\1]", os.path.abspath(path)) for path in paths)
    return f"[{', '.join(map(_text, literal))}]"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
