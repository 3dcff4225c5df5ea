"""Engines that count in a private DuckDB database in memory: files, DuckDB relations, and ibis tables on DuckDB.

Parquet files are read by DuckDB, by their own types, and columns are taken by their places. CSV files, lines of JSON
and relations come as streams of Arrow batches, about which DuckDB knows nothing but the schema. SQL stands where
narwhals has no expression, or a slower one.

Claim. Which row of a relation is which row of the data does not depend on other rows. Parquet files hold statistics of
their row groups, by which an optimizer may decide an expression for all rows of a group at once; writers leave NaN out
of them, so that one NaN would be read by its neighbours' values. Here no optimizer may use statistics or put a filter
into a scan (`NO_STATISTICS`).

**Temporary files.** Rows that do not fit in memory are written only into a directory that was configured for them. The
page "From a file to rows" of the documentation says how they are removed. DuckDB's own encryption of temporary files is
not used: the random numbers of the library that its Python package contains are not suitable for keys.

References
----------
Apache Parquet, ``parquet.thrift``, `ColumnOrder` (NaN in statistics). DuckDB 2.0, "JSON Processing Functions" and
"Reading and Writing Parquet Files" (parameters).
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa
import pyarrow.parquet as pq

from ggdp.errors import ArgumentError, ArgumentTypeError, SourceError
from ggdp.sources.codes import text_of_invalid
from ggdp.sources.counting import UNIT, MarginalQuery, UnitLimits
from ggdp.sources.dataframes import ARROW
from ggdp.sources.engine import Dialect, Engine, Frame, Values, as_frame, replace_invalid_text, safe_name
from ggdp.sources.files import Files, require_columns, require_distinct_folded, require_one_schema
from ggdp.sources.parquet_dictionaries import count_cells
from ggdp.sources.text_files import Irregular, chunks_after, json_line_batches, records, valid_text

if TYPE_CHECKING:
    from ggdp.domain.column import Column
    from ggdp.sources.query import CountQuery


_PREFIX, _LOCK = "ggdp-", "owner"
_guards: list[int] = []


def choose_directory(temp_dir: str | os.PathLike[str] | None) -> Path | None:
    """Return the directory for temporary files that the caller or the environment names; None if neither does."""
    path = os.environ.get("GGDP_TEMP_DIR") if temp_dir is None else temp_dir
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
    _hold(os.open(directory / _LOCK, os.O_CREAT | os.O_RDWR, 0o600))
    # A process that waits for the end of its input, which comes when this process, which holds the other end, is gone:
    # the operating system closes the pipe between them at the latest then. No signal of a terminal reaches it.
    command = ["sh", "-c", 'cat >/dev/null; rm -rf -- "$1"', "sh", str(directory)]
    reading, _ = os.pipe()
    silent = [(os.POSIX_SPAWN_OPEN, place, os.devnull, os.O_WRONLY, 0) for place in (1, 2)]
    actions = [(os.POSIX_SPAWN_DUP2, reading, 0), *silent]
    try:
        _guards.append(os.posix_spawn("/bin/sh", command, os.environ, file_actions=actions, setsid=True))
    finally:
        os.close(reading)
    return directory


def remove_abandoned(within: Path) -> None:
    """Remove directories of processes that have ended: their locks are free."""
    for directory in within.glob(f"{_PREFIX}*"):
        with suppress(OSError):
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


def connect(temp_dir: Path | None = None) -> Any:  # noqa: ANN401 - duckdb is untyped here
    """Return a new connection to an in-memory database; its tables are temporary and end with the connection.

    Rows that do not fit in memory go to a private directory within `temp_dir`; without one, counting them fails.
    """
    connection = _database(os.getpid(), temp_dir).cursor()
    if not is_alive(connection):
        # A damaged file can make a database fail for good. It ends with its last connection, so that other threads fail
        # by themselves and not in the middle of a call.
        _database.cache_clear()
        connection = _database(os.getpid(), temp_dir).cursor()
    connection.execute("SET enable_progress_bar = false; SET preserve_insertion_order = false")
    return connection


@lru_cache(maxsize=4)
def _database(process: int, temp_dir: Path | None) -> Any:  # noqa: ANN401, ARG001 - threads do not survive a fork
    """Return the database of this process: starting one takes as long as counting a million rows."""
    import duckdb

    # No extension is loaded over the network.
    config = dict.fromkeys(("autoinstall_known_extensions", "autoload_known_extensions"), "false")
    config["disabled_optimizers"] = ",".join(NO_STATISTICS)
    config["temp_directory"] = "" if temp_dir is None else str(private_directory(temp_dir))
    return duckdb.connect(":memory:", config=config)


def is_alive(connection: Any) -> bool:  # noqa: ANN401 - duckdb is untyped here
    """Return whether the database of a connection answers. One that was invalidated never does again."""
    import duckdb

    try:
        connection.cursor().execute("SELECT 1").fetchall()
    except duckdb.FatalException:
        return False
    return True


class Stream:
    """Arrow batches that can be read again, by a call of `batches`; DuckDB knows only their schema before it reads."""

    def __init__(self, schema: pa.Schema, batches: Callable[[], Iterator[pa.RecordBatch]]) -> None:
        self._schema, self._batches = schema, batches

    def __arrow_c_schema__(self) -> object:
        return self._schema.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        reader = pa.RecordBatchReader.from_batches(self._schema, self._batches())
        return reader.__arrow_c_stream__(requested_schema)


_LINE = pa.schema([("line", pa.string_view())])
_OBJECT = "CASE WHEN json_valid(line) THEN CASE WHEN json_type(line) = 'OBJECT' THEN line END END"
# A byte-order mark may begin any line, since files with one may have been joined. A blank line is not a row.
_LINES = r"""
    FROM (SELECT CASE WHEN starts_with(line, chr(65279)) THEN substr(line, 2) ELSE line END AS line FROM ggdp_lines)
    WHERE line IS NULL OR NOT regexp_full_match(line, '[ \t\r\n\v\f]*')"""


def text_stream(files: Files, declared: Mapping[str, Column | None]) -> Iterator[pa.RecordBatch]:
    """Yield declared columns of CSV files."""
    places = [files.header.index(name) for name in declared]
    schema = pa.schema([(safe_name(name), pa.string_view()) for name in declared])
    for path, header in zip(files.paths, files.headers, strict=True):
        for arrays in records(chunks_after(header, path, files.text), files.text.layout(header), places):
            texts = map(valid_text, arrays, map(text_of_invalid, declared.values()))
            yield pa.record_batch(list(texts), schema)


def json_rows(connection: Any, files: Files, columns: Sequence[str]) -> Any:  # noqa: ANN401 - duckdb is untyped here
    """Return a relation of columns of JSON files, as text: a line is a row, of nulls if it is not a JSON object."""
    # Fields are taken by pointers, which tell names apart that differ in case.
    pointers = ", ".join(sql_text("/" + name.replace("~", "~0").replace("/", "~1")) for name in columns)
    taken = ", ".join(f"fields[{place}] AS {safe_name(name)}" for place, name in enumerate(columns, 1))
    query = f"SELECT {taken} FROM (SELECT json_extract_string({_OBJECT}, [{pointers}]) AS fields {_LINES})"
    return _json_lines(connection, files).query("ggdp_lines", query)


def json_irregular(files: Files) -> Irregular:
    """Count the rows of JSON files and their irregularities. Not private."""
    # A line that is not valid text, or too long, is null. A carriage return at an end of a line does not count.
    no_object = f"line IS NOT NULL AND {_OBJECT} IS NULL"
    returns = r"regexp_matches(line, '[^\r]\r+[^\r]')"
    kinds = ", ".join(f"count(*) FILTER (WHERE {kind})" for kind in (no_object, returns))
    query = f"SELECT count(*), count(*) - count(line), {kinds} {_LINES}"
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
    groups: dict[object, tuple[tuple[str, ...], frozenset[str], list[str]]] = {}
    for path, literal in zip(files.paths, files.literal_paths, strict=True):
        schema = pq.read_schema(path)
        names = tuple(schema.names)
        nulls = frozenset(name for name in columns if pa.types.is_null(schema.field(names.index(name)).type))
        together = (names, nulls) if len({name.casefold() for name in names}) == len(names) else path
        groups.setdefault(together, (names, nulls, []))[2].append(sql_text(literal))
    queries = []
    for number, (names, nulls, paths) in enumerate(groups.values()):
        places = ", ".join(f"p{place}" for place in range(len(names)))
        # A null has the type that the column has in other files.
        values = {name: "NULL" if name in nulls else f"p{names.index(name)}" for name in columns}
        taken = ", ".join(f"{value} AS {safe_name(name)}" for name, value in values.items())
        source = f"read_parquet([{', '.join(paths)}], hive_partitioning = false, union_by_name = false)"
        queries.append(f"SELECT {taken} FROM {source} AS part{number}({places})")
    return connection.sql(" UNION ALL ".join(queries))


def require_all_rows(relation: Any, files: Files) -> None:  # noqa: ANN401 - duckdb is untyped here
    """Raise if the parts of Parquet files do not have the rows that the files claim: some would be left out."""
    # DuckDB knows the rows of the parts without reading a value. A damaged part may claim more than can be counted.
    claimed = sum(pq.read_metadata(path).num_rows for path in files.paths)
    query = f"SELECT count(*) FROM (SELECT 1 FROM ggdp_rows LIMIT {claimed + 1})"
    if relation.query("ggdp_rows", query).fetchall() != [(claimed,)]:
        raise SourceError(files.named)


def parquet_rows(connection: Any, files: Files, declared: Mapping[str, Column | None]) -> Any:  # noqa: ANN401
    """Return the same as `parquet`, read by Arrow: several times slower, but text may be invalid, and then is none."""
    relation = parquet(connection, files, list(declared))
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    texts = {name: column for name, column in declared.items() if types[safe_name(name)] == "VARCHAR"}
    schemas = [pq.read_schema(path) for path in files.paths]
    fields = {}
    for name in declared:
        # The type in the first file where it has one; DuckDB takes no halves from Arrow.
        kinds = [stored.field(name).type for stored in schemas]
        kind = next((kind for kind in kinds if not pa.types.is_null(kind)), pa.null())
        kind = pa.float32() if pa.types.is_float16(kind) else kind
        fields[safe_name(name)] = pa.large_string() if name in texts else kind
    schema = pa.schema(fields)

    def array(name: str, found: pa.Array) -> pa.Array:
        if name not in texts:
            return found.cast(fields[safe_name(name)])
        plain = found.dictionary_decode() if pa.types.is_dictionary(found.type) else found
        return valid_text(plain.cast(pa.large_binary()), text_of_invalid(texts[name]), pa.large_string())

    def batches() -> Iterator[pa.RecordBatch]:
        for path, stored in zip(files.paths, schemas, strict=True):
            # Else Arrow fails where a category is not valid UTF-8.
            categories = [name for name in texts if pa.types.is_dictionary(stored.field(name).type)]
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


def sql_text(text: str) -> str:
    """Return a literal of SQL; a parser takes no NUL inside a statement."""
    return "'" + text.replace("'", "''").replace("\0", "' || chr(0) || '") + "'"


def _sql_list(texts: Sequence[str]) -> str:
    """Return a list of texts; rows of VALUES are slow to parse, and one literal is not."""
    text, marks = "".join(texts), map(chr, (31, 30, 29, 28, *range(0xE000, 0xE100)))
    # Split by a character that no text holds.
    separator = next((mark for mark in marks if mark not in text), None)
    if separator is None or "\0" in text:
        return f"[{', '.join(map(sql_text, texts))}]"
    return f"string_split({sql_text(separator.join(texts))}, {sql_text(separator)})"


class _Duckdb(Dialect):
    wide_sums = True

    def untyped_text(self, native: Any) -> set[str]:  # noqa: ANN401 - a relation
        types = zip(native.columns, map(str, native.types), strict=True)
        return {name for name, kind in types if kind in ("UUID", '"NULL"', "NULL")}

    def list_levels(self, native: Any, levels: Sequence[str], name: str, code: str, values: Values = None) -> Any:  # noqa: ANN401 - a relation
        codes, found = "generate_subscripts(l, 1) - 1", f"{_sql_list(levels)} AS l"
        if values is not None:
            codes, found = "nullif(unnest(v), '')", f"{found}, {_sql_list([value or '' for value in values])} AS v"
        query = f"SELECT unnest(l) AS {name}, {codes} AS {code} FROM (SELECT {found})"
        return native.query("ggdp_unused", query)

    def keep_pairs(self, pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
        schema = pairs.collect_schema()
        # Text that DuckDB can read as an integer of 64 bits has the hash of that integer, and so has the integer: the
        # hash is a function of a unit's text, but takes no text of an integer. That of a null is a number too.
        text, number = f"CAST({UNIT} AS VARCHAR)", f"TRY_CAST(CAST({UNIT} AS VARCHAR) AS BIGINT)"
        unit = f"CASE WHEN {number} IS NULL THEN hash({text}) ELSE hash({number}) END"
        if schema[UNIT] in (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32):
            # A negative number has other hashes in other types.
            unit = f"hash(CAST({UNIT} AS BIGINT))"
        score = f"hash(xor(CAST({limits.secret} AS UBIGINT), {unit}))"
        for name in cell:
            score = f"hash(xor({score}, hash({name})))"
        # By rank(), since DuckDB makes a list for each unit of row_number(), which takes longer.
        query = f"""
            SELECT {", ".join(schema.names())} FROM ggdp_pairs
            QUALIFY rank() OVER (PARTITION BY {UNIT} ORDER BY {score}, {", ".join(cell)}) <= {limits.cells}"""
        return as_frame(nw.to_native(pairs).query("ggdp_pairs", query))


DUCKDB = _Duckdb()


# Up to this many groups are finished in memory; a marginal of more cells may have as many groups.
_FEW_GROUPS = _MANY_CELLS = 1 << 18


class _PrivateDatabase(Engine):
    """What is counted in a private database."""

    name, dialect = "duckdb", DUCKDB

    def __init__(self, temp_dir: Path | None) -> None:
        self._temp_dir, self._connection = temp_dir, connect(temp_dir)

    def evaluate(self, frame: Frame) -> tuple[Dialect, Frame]:
        """Return a frame that is computed once: as an Arrow table, or as a table of the database if it is large."""
        groups = nw.to_native(frame)
        # Few groups are finished in memory, since DuckDB would bind each of the many small operations that are left.
        found = groups.limit(_FEW_GROUPS + 1).to_arrow_table()
        if found.num_rows <= _FEW_GROUPS:
            return ARROW, as_frame(found)
        groups.query("ggdp_found", "CREATE OR REPLACE TEMP TABLE ggdp_groups AS SELECT * FROM ggdp_found")
        return DUCKDB, as_frame(self._connection.table("ggdp_groups"))

    def groups_first(self, query: MarginalQuery) -> bool:
        """Return whether a marginal is not so large that one number for each row is grouped faster than its values."""
        return query.marginal.is_open or bool(query.measured) or query.marginal.size <= _MANY_CELLS

    def fall_back(self) -> bool:
        """Count in a new database, if the one in use was invalidated, by this release or by one of another thread."""
        if is_alive(self._connection):
            return False
        self._connection = connect(self._temp_dir)
        return True

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class DuckdbRelation(_PrivateDatabase):
    """A relation of DuckDB.

    Its own database only supplies its rows, without statistics of the files that it reads while it does so. Our
    conditions would be decided by them there, and texts compared by its collations.
    """

    def __init__(self, source: str, data: Any, columns: Sequence[str], temp_dir: Path | None = None) -> None:  # noqa: ANN401
        super().__init__(temp_dir)
        names = list(data.columns)
        require_columns(source, columns, names)
        relation = self._relation(data)
        places = ", ".join(f"p{place}" for place in range(len(names)))
        types = {safe_name(column): str(relation.types[names.index(column)]) for column in columns}
        values = {safe_name(column): f"p{names.index(column)}" for column in columns}
        # Arrow has no exact counterpart of these types, or has them only as text.
        texts = [name for name, kind in types.items() if kind in ("HUGEINT", "UHUGEINT", "UUID", "VARINT", "BIGNUM")]
        values |= {name: f"CAST({values[name]} AS VARCHAR)" for name in texts}
        taken = ", ".join(f"{value} AS {name}" for name, value in values.items())
        self._rows = relation.query("ggdp_rows", f"SELECT {taken} FROM ggdp_rows AS ggdp_rows({places})")
        self._schema = self._rows.limit(0).to_arrow_table().schema
        self._huge = {name: kind for name, kind in types.items() if kind in ("HUGEINT", "UHUGEINT")}
        self.kinds = DUCKDB.read_kinds(self._stream({}), columns)[1]
        self._columns = columns

    def frame(self, query: CountQuery) -> Frame:
        """Return the rows; text that is not valid UTF-8, which a relation of Arrow may hold, has no text."""
        return DUCKDB.read_kinds(self._stream(query.declared_columns()), self._columns)[0]

    def _relation(self, data: Any) -> Any:  # noqa: ANN401 - duckdb is untyped here
        return data

    def _stream(self, declared: Mapping[str, Column | None]) -> Any:  # noqa: ANN401 - duckdb is untyped here
        """Return a relation of the private database of all rows."""

        def answer(statement: str) -> list[Any]:
            return list(self._rows.query("ggdp_unused", statement).fetchall())

        def batches() -> Iterator[pa.RecordBatch]:
            # A relation may have a filter over Parquet files, such as isnan(v), which statistics would decide for many
            # rows at once: its own database makes no use of them meanwhile.
            ((before,),) = answer("SELECT current_setting('disabled_optimizers')")
            off = ",".join(dict.fromkeys([*filter(None, before.split(",")), *NO_STATISTICS]))
            answer(f"SET disabled_optimizers = '{off}'")
            try:
                with self._rows.to_arrow_reader(1 << 17) as reader:
                    for batch in reader:
                        texts = replace_invalid_text(pa.Table.from_batches([batch]), declared)
                        yield from (texts.cast(self._schema) if texts.schema != self._schema else texts).to_batches()
            finally:
                answer(f"SET disabled_optimizers = '{before}'")

        ours = self._connection.from_arrow(Stream(self._schema, batches))
        back = {name: f"CAST({name} AS {kind}) AS {name}" for name, kind in self._huge.items()}
        return ours.project(", ".join(back.get(name, name) for name in self._schema.names))


class IbisTable(DuckdbRelation):
    """A table of ibis on DuckDB."""

    name = "ibis"

    def _relation(self, data: Any) -> Any:  # noqa: ANN401 - ibis is untyped here
        """Return the table as a relation of the database that it is in."""
        require_distinct_folded(data.columns, "are columns that differ only in case: rename one of them")
        backend = data.get_backend()
        if backend.name != "duckdb":
            what = "is not supported; export the table (to_pyarrow, to_parquet), or pass a frame of DuckDB, polars or "
            raise ArgumentError("data", f"ibis on {backend.name}", what + "pandas")
        # In-memory tables are registered when a query that uses them is prepared.
        backend._run_pre_execute_hooks(data)
        return backend.con.sql(backend.compile(data))


class DuckdbFiles(_PrivateDatabase):
    """Files."""

    def __init__(self, source: str, data: Files, columns: Sequence[str], temp_dir: Path | None = None) -> None:
        super().__init__(temp_dir)
        self._files = files = data
        self.empty_is_null = files.has_header
        # Whether DuckDB reads Parquet files, and not Arrow, which takes several times as long.
        self._reads_parquet = files.format == "parquet"
        for path in files.paths:
            try:
                os.path.abspath(path).encode()
            except UnicodeEncodeError:
                message = "DuckDB does not read files whose names are not UTF-8; rename it"
                raise ArgumentError("data", ascii(path), message) from None
            if os.sep != "\\" and "\\" in path and re.search(r"[\[*?]", os.path.abspath(path)):
                message = "DuckDB does not read files with a backslash and *, ? or [ in their names; rename it"
                raise ArgumentError("data", path, message)
        if self._reads_parquet:
            require_columns(source, columns, pq.read_schema(files.paths[0]).names)
            require_one_schema(files.paths, columns, nulls_fit=True)
            relation = parquet(self._connection, files, columns)
            self._frame, self.kinds = DUCKDB.read_kinds(relation, columns)
        else:
            if files.has_header:
                require_columns(source, columns, files.header, by_header=True)
            self.kinds = dict.fromkeys(columns, "text")

    def frame(self, query: CountQuery) -> Frame:
        """Return the needed columns of the files."""
        if self._reads_parquet:
            require_all_rows(nw.to_native(self._frame), self._files)
            return self._frame
        declared = query.declared_columns(self.kinds)
        if self._files.format == "parquet":
            relation = parquet_rows(self._connection, self._files, declared)
        elif self._files.format == "json":
            relation = json_rows(self._connection, self._files, list(declared))
        else:
            query.require_one_declaration(self.kinds)
            schema = pa.schema([(safe_name(name), pa.string_view()) for name in declared])
            relation = self._connection.from_arrow(Stream(schema, lambda: text_stream(self._files, declared)))
        return DUCKDB.read_kinds(relation, list(declared))[0]

    def direct_cells(self, query: MarginalQuery) -> Frame | None:
        """Return the non-empty cells of rows of Parquet files from their dictionaries, if these are small."""
        found = count_cells(self._connection, self._files, query) if self._reads_parquet else None
        return None if found is None else as_frame(found)

    def fall_back(self) -> bool:
        """Let Arrow read Parquet files: text that is not valid UTF-8 is beyond DuckDB's reader of them."""
        was, self._reads_parquet = self._reads_parquet, False
        return super().fall_back() or was
