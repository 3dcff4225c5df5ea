"""Engines that count in a private DuckDB database: files, DuckDB relations, and ibis tables on DuckDB.

SQL stands where narwhals has no expression, or a slower one.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa

from ggdp.errors import ArgumentError
from ggdp.sources import duckdb_database
from ggdp.sources.codes import NOWHERE, bin_codes, canonical_text, is_missing
from ggdp.sources.counting import CELL, COUNT, UNIT, UnitLimits, writable
from ggdp.sources.dataframes import ARROW
from ggdp.sources.duckdb_database import NO_STATISTICS, Stream, connect, evaluate, is_alive
from ggdp.sources.engine import (
    Dialect,
    Engine,
    as_frame,
    declared_columns,
    join_levels,
    read_kinds,
    replace_invalid_text,
    require_one_declaration,
    safe_name,
)
from ggdp.sources.files import require_columns, require_one_schema
from ggdp.sources.parquet_dictionaries import count_cells

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ggdp.domain.column import Column
    from ggdp.domain.table_domain import Domain
    from ggdp.sources.counting import MarginalQuery
    from ggdp.sources.engine import Frame
    from ggdp.sources.files import Files
    from ggdp.sources.query import CountQuery


# No text of a domain is split by it: levels are separated by a character that none of them holds.
_SEPARATORS = [chr(code) for code in (31, 30, 29, 28, *range(0xE000, 0xE100))]


class _Duckdb(Dialect):
    wide_sums = True

    def untyped_text(self, native: Any) -> set[str]:  # noqa: ANN401 - a relation
        types = zip(native.columns, map(str, native.types), strict=True)
        return {name for name, kind in types if kind in ("UUID", '"NULL"', "NULL")}

    def look_up(self, frame: Frame, text: str, levels: Sequence[str], code: str) -> Frame:
        relation = nw.to_native(frame)
        return join_levels(frame, text, lambda name: relation.query("ggdp_unused", _levels(levels, name, code)))

    def keep_pairs(self, pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
        schema = pairs.collect_schema()
        score = f"hash(xor(CAST({limits.secret} AS UBIGINT), {_hashed_unit(schema[UNIT])}))"
        for name in cell:
            score = f"hash(xor({score}, hash({name})))"
        # By rank(), since DuckDB makes a list for each unit of row_number(), which takes longer.
        query = f"""
            SELECT {", ".join(schema.names())} FROM ggdp_pairs
            QUALIFY rank() OVER (PARTITION BY {UNIT} ORDER BY {score}, {", ".join(cell)}) <= {limits.max_cells}"""
        return as_frame(nw.to_native(pairs).query("ggdp_pairs", query))


DUCKDB = _Duckdb()


def coded_cells(frame: Frame, marginal: Domain, kinds: Mapping[str, str]) -> Frame:
    """Return the non-empty cells of a declared marginal from one query.

    One number for each row is grouped faster than many texts, and the query is bound once.
    """
    schema, values, joins, index = frame.collect_schema(), [], "", "0"
    codes: list[str] = []
    for place, column in enumerate(marginal):
        value, kind = nw.col(safe_name(column.name)), kinds[column.name]
        if column.kind == "bins":
            values.append(bin_codes(value, kind, column, schema[safe_name(column.name)], DUCKDB).alias(f"k{place}"))
            code = f"nullif(k{place}, {NOWHERE})"
        else:
            values.append(canonical_text(writable(DUCKDB, value, kind), kind, column.kind).alias(f"t{place}"))
            values.append(is_missing(value, kind).alias(f"a{place}"))
            levels = _levels(column.texts, f"l{place}", f"j{place}")
            joins += f" LEFT JOIN ({levels}) ON t{place} = l{place}"
            missing, other = (
                "NULL" if code is None else str(code) for code in (column.missing_code, column.other_code)
            )
            code = f"CASE WHEN a{place} THEN {missing} ELSE coalesce(j{place}, {other}) END"
        codes.append(f"CAST({code} AS BIGINT)")
        index = f"({index}) * {column.size} + CAST({code} AS BIGINT)"
    for pattern in marginal.impossible_codes:
        falls = " AND ".join(f"{codes[place]} = {code}" for place, code in pattern.items())
        index = f"CASE WHEN {falls} THEN NULL ELSE {index} END"
    # A row that is not counted in a column has no index: arithmetic with a null gives a null.
    query = f"""
        SELECT {CELL}, count(*) AS {COUNT} FROM (SELECT {index} AS {CELL} FROM ggdp_texts{joins})
        WHERE {CELL} IS NOT NULL GROUP BY {CELL}"""
    return as_frame(nw.to_native(frame.select(*values)).query("ggdp_texts", query))


def _levels(levels: Sequence[str], name: str, code: str) -> str:
    """Return a query for levels and codes: one literal, since rows of VALUES are slow to parse."""
    text = "".join(levels)
    separator = next((mark for mark in _SEPARATORS if mark not in text), None)
    numbered = f"unnest(l) AS {name}, generate_subscripts(l, 1) - 1 AS {code}"
    if separator is None or "\0" in text:
        items = ", ".join(_literal(level) for level in levels)
        return f"SELECT {numbered} FROM (SELECT [{items}] AS l)"
    split = f"string_split({_literal(separator.join(levels))}, {_literal(separator)})"
    return f"SELECT {numbered} FROM (SELECT {split} AS l)"


def _literal(text: str) -> str:
    # A parser takes no NUL inside a statement.
    return " || chr(0) || ".join("'" + part.replace("'", "''") + "'" for part in text.split("\0"))


def _hashed_unit(dtype: nw.dtypes.DType) -> str:
    """Return a hash of a unit that is a function of its text, but takes no text of an integer.

    Text that DuckDB can read as an integer of 64 bits has the hash of that integer, and so has the integer.
    """
    if dtype in (nw.Int8, nw.Int16, nw.Int32, nw.Int64, nw.UInt8, nw.UInt16, nw.UInt32):
        # A negative number has other hashes in other types.
        return f"hash(CAST({UNIT} AS BIGINT))"
    text = f"CAST({UNIT} AS VARCHAR)"
    number = f"TRY_CAST({text} AS BIGINT)"
    # The hash of a null is a number too.
    return f"CASE WHEN {number} IS NULL THEN hash({text}) ELSE hash({number}) END"


# Rows of a relation that are handed over at once.
_BATCH = 1 << 17
# A marginal of more cells may have as many groups.
_MANY_CELLS = 1 << 18
# Types of DuckDB that Arrow has no exact counterpart of, or has only as text.
_HUGE = ("HUGEINT", "UHUGEINT")
_AS_TEXT = (*_HUGE, "UUID", "VARINT", "BIGNUM")


class _PrivateDatabase(Engine):
    """What is counted in a private database."""

    name, dialect = "duckdb", DUCKDB

    def __init__(self, temp_dir: Path | None) -> None:
        self._temp_dir, self._connection = temp_dir, connect(temp_dir)

    def evaluate(self, frame: Frame) -> tuple[Dialect, Frame]:
        """Return a frame that is computed once: as an Arrow table, or as a table of the database if it is large."""
        found = evaluate(self._connection, frame)
        return (ARROW if found.implementation.is_pyarrow() else DUCKDB), found

    def direct_cells(self, query: MarginalQuery) -> Frame | None:
        """Return the non-empty cells of a large marginal of rows from one query."""
        if query.limits is not None or query.measured or query.marginal.size <= _MANY_CELLS:
            return None
        return coded_cells(query.frame, query.marginal, self.kinds)

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
        types = list(map(str, relation.types))
        chosen = [(column, names.index(column)) for column in columns]
        taken = ", ".join(
            f"{f'CAST(p{place} AS VARCHAR)' if types[place] in _AS_TEXT else f'p{place}'} AS {safe_name(column)}"
            for column, place in chosen
        )
        self._rows = relation.query("ggdp_rows", f"SELECT {taken} FROM ggdp_rows AS ggdp_rows({places})")
        self._schema = self._rows.limit(0).to_arrow_table().schema
        self._huge = {safe_name(column): types[place] for column, place in chosen if types[place] in _HUGE}
        self.kinds = read_kinds(DUCKDB, self._streamed({}), columns)[1]
        self._columns = columns

    def frame(self, query: CountQuery) -> Frame:
        """Return the rows; text that is not valid UTF-8, which a relation of Arrow may hold, has no text."""
        return read_kinds(DUCKDB, self._streamed(declared_columns(query)), self._columns)[0]

    def _relation(self, data: Any) -> Any:  # noqa: ANN401 - duckdb is untyped here
        return data

    def _streamed(self, declared: Mapping[str, Column | None]) -> Any:  # noqa: ANN401 - duckdb is untyped here
        """Return a relation of the private database of all rows."""

        def batches() -> Iterator[pa.RecordBatch]:
            with _without_statistics(self._rows), self._rows.to_arrow_reader(_BATCH) as reader:
                for batch in reader:
                    texts = replace_invalid_text(pa.Table.from_batches([batch]), declared)
                    yield from (texts.cast(self._schema) if texts.schema != self._schema else texts).to_batches()

        ours = self._connection.from_arrow(Stream(self._schema, batches))
        back = (
            f"CAST({name} AS {self._huge[name]}) AS {name}" if name in self._huge else name
            for name in self._schema.names
        )
        return ours.project(", ".join(back))


class IbisTable(DuckdbRelation):
    """A table of ibis on DuckDB."""

    name = "ibis"

    def _relation(self, data: Any) -> Any:  # noqa: ANN401 - ibis is untyped here
        """Return the table as a relation of the database that it is in."""
        _require_distinct(data.columns)
        backend = data.get_backend()
        if backend.name != "duckdb":
            raise ArgumentError(
                "data",
                f"ibis on {backend.name}",
                "is not supported; export the table (to_pyarrow, to_parquet), or pass a frame of DuckDB, polars or "
                "pandas",
            )
        # In-memory tables are registered when a query that uses them is prepared.
        backend._run_pre_execute_hooks(data)
        return backend.con.sql(backend.compile(data))


@contextmanager
def _without_statistics(relation: Any) -> Iterator[None]:  # noqa: ANN401 - duckdb is untyped here
    """Disable, inside the context, the use of statistics for conditions of a relation in its own database.

    A relation may have a filter over Parquet files, such as isnan(v), which they would decide for many rows at once.
    """

    def answer(statement: str) -> list[Any]:
        return list(relation.query("ggdp_unused", statement).fetchall())

    ((before,),) = answer("SELECT current_setting('disabled_optimizers')")
    off = ",".join(dict.fromkeys([*filter(None, before.split(",")), *NO_STATISTICS]))
    answer(f"SET disabled_optimizers = '{off}'")
    try:
        yield
    finally:
        answer(f"SET disabled_optimizers = '{before}'")


def _require_distinct(names: Sequence[str]) -> None:
    """Raise for names that differ only in case, which DuckDB takes for the same."""
    found: dict[str, str] = {}
    for name in names:
        other = found.setdefault(name.casefold(), name)
        if other != name:
            raise ArgumentError("data", [other, name], "are columns that differ only in case: rename one of them")


class DuckdbFiles(_PrivateDatabase):
    """Files."""

    def __init__(self, source: str, data: Files, columns: Sequence[str], temp_dir: Path | None = None) -> None:
        super().__init__(temp_dir)
        self._files = files = data
        self.empty_is_null = files.has_header
        # Whether DuckDB reads Parquet files, and not Arrow, which takes several times as long.
        self._reads_parquet = files.format == "parquet"
        duckdb_database.require_readable(files)
        if files.format == "parquet":
            import pyarrow.parquet as pq

            require_columns(source, columns, pq.read_schema(files.paths[0]).names)
            require_one_schema(files.paths, columns, nulls_fit=True)
            relation = duckdb_database.parquet(self._connection, files, columns)
            self._frame, self.kinds = read_kinds(DUCKDB, relation, columns)
        else:
            if files.has_header:
                require_columns(source, columns, files.header, by_header=True)
            self.kinds = dict.fromkeys(columns, "text")

    def frame(self, query: CountQuery) -> Frame:
        """Return the needed columns of the files."""
        if self._reads_parquet:
            duckdb_database.require_all_rows(nw.to_native(self._frame), self._files)
            return self._frame
        declared = declared_columns(query, self.kinds)
        if self._files.format == "parquet":
            relation = duckdb_database.parquet_rows(self._connection, self._files, declared)
        elif self._files.format == "json":
            relation = duckdb_database.json_rows(self._connection, self._files, list(declared))
        else:
            require_one_declaration(query, self.kinds)
            relation = duckdb_database.text_rows(self._connection, self._files, declared)
        return read_kinds(DUCKDB, relation, list(declared))[0]

    def direct_cells(self, query: MarginalQuery) -> Frame | None:
        """Return the non-empty cells of rows of Parquet files from their dictionaries, else from one query."""
        found = count_cells(self._connection, self._files, query) if self._reads_parquet else None
        return super().direct_cells(query) if found is None else as_frame(found)

    def fall_back(self) -> bool:
        """Let Arrow read Parquet files: text that is not valid UTF-8 is beyond DuckDB's reader of them."""
        was, self._reads_parquet = self._reads_parquet, False
        return super().fall_back() or was
