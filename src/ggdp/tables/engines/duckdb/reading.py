"""Files as relations of a private DuckDB database.

Parquet files are read by DuckDB, by their own types, and columns are taken by their places. CSV files and lines of JSON
come as streams of Arrow batches (`ggdp.tables.engines.text_files`), about which DuckDB knows nothing but the schema.

References
----------
DuckDB 2.0, "JSON Processing Functions" and "Reading and Writing Parquet Files" (parameters).
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ggdp.errors import ArgumentError, SourceError
from ggdp.tables.engines.duckdb.database import Stream
from ggdp.tables.engines.frames import safe_name
from ggdp.tables.engines.kinds import unparsable
from ggdp.tables.engines.text_files import json_line_batches, record_batches, valid_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ggdp.tables.column import Column
    from ggdp.tables.engines.files import Files

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
    columns = [(files.header.index(name), unparsable(column)) for name, column in declared.items()]
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


def json_problems(connection: Any, files: Files) -> tuple[int, int, int, int]:  # noqa: ANN401 - duckdb is untyped here
    """Return numbers of rows of JSON files: all; not valid text, or too long; not objects; with a carriage return.

    Not private. A carriage return at an end of a line does not count.
    """
    no_object = f"line IS NOT NULL AND {_OBJECT} IS NULL"
    returns = r"regexp_matches(line, '[^\r]\r+[^\r]')"
    parts = (
        "count(*)",
        "count(*) - count(line)",
        *(f"count(*) FILTER (WHERE {kind})" for kind in (no_object, returns)),
    )
    query = f"SELECT {', '.join(parts)} {_LINES}"
    ((rows, invalid, others, several),) = _json_lines(connection, files).query("ggdp_lines", query).fetchall()
    return rows, invalid, others, several


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
    instead = {name: unparsable(column) for name, column in declared.items() if types[safe_name(name)] == "VARCHAR"}
    schemas = [pq.read_schema(path) for path in files.paths]
    schema = pa.schema(
        [(safe_name(name), pa.large_string() if name in instead else _type(schemas, name)) for name in declared]
    )

    def array(name: str, found: pa.Array) -> pa.Array:
        return _utf8(found, instead[name]) if name in instead else found.cast(schema.field(safe_name(name)).type)

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


def _utf8(texts: pa.Array, instead: str | None) -> pa.Array:
    """Return texts, with another one for those that are not valid UTF-8."""
    texts = texts.dictionary_decode() if pa.types.is_dictionary(texts.type) else texts
    return valid_text(texts.cast(pa.large_binary()), instead, pa.large_string())


def _paths(paths: Sequence[str]) -> str:
    """Return paths as DuckDB takes them, which would read some as patterns, and a tilde as a directory."""
    literal = (re.sub(r"([\[*?])", r"[\1]", os.path.abspath(path)) for path in paths)
    return f"[{', '.join(map(_text, literal))}]"


def _text(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"
