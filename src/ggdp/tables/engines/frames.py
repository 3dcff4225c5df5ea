"""The frames that sources are counted as: their schema when they are opened, their rows when they are counted.

=============  =====================================================================================================
`Frames`       what every source has: an engine, kinds of columns, and a narwhals frame for a query
NativeFrames   a frame of polars, pyarrow or Spark, counted by its own engine
PandasFrames   a frame of pandas, counted as Arrow
StreamFrames   a relation of DuckDB or a table of ibis: its rows, streamed into a database of our own
DuckdbFiles    files, read in a database of our own
SparkFiles     files, read by a Spark session
=============  =====================================================================================================

Columns are found by exact names in the whole schema, and from then on have names of our own (`native.bound`). Between
a lazy frame and the counting there is a barrier: no condition of ours is moved into the scan of a file, where
statistics could decide it for many rows at once.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

import narwhals as nw
import pyarrow as pa

from ggdp.errors import ArgumentError
from ggdp.tables.engines import duckdb, from_pandas, native
from ggdp.tables.engines.files import require_columns, require_one_schema
from ggdp.tables.engines.kinds import kind_of
from ggdp.tables.engines.native import bound

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from ggdp.tables.column import Column
    from ggdp.tables.engines.files import Files
    from ggdp.tables.engines.plan import Keep
    from ggdp.tables.engines.sources import CountQuery

__all__ = ["DuckdbFiles", "Frames", "NativeFrames", "PandasFrames", "SparkFiles", "StreamFrames", "engine_of"]

_ENGINES = {
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "duckdb": "duckdb",
    "ibis": "ibis",
    "pyspark": "spark",
    "pyspark[connect]": "spark",
}
# Rows of a relation that are handed over at once.
_BATCH = 1 << 17
# Types of DuckDB that Arrow has no exact counterpart of, or has only as text.
_AS_TEXT = ("HUGEINT", "UHUGEINT", "UUID", "VARINT", "BIGNUM")


def engine_of(data: Any) -> str | None:  # noqa: ANN401 - perhaps a frame
    """Return the engine of a frame; None of what is no frame that can be counted."""
    try:
        frame = nw.from_native(data, pass_through=True)
    except nw.exceptions.DuplicateError:
        raise ArgumentError("data", type(data).__name__, "has two columns of the same name: rename one") from None
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        return None
    return _ENGINES.get(frame.implementation.value)


class Frames(Protocol):
    """What a source of tables is to those who count it."""

    # The engine that the data are of, and the one that counts them.
    engine: str
    counter: str
    kinds: dict[str, str]
    # Whether an empty field is a null, so that no level can be the empty text.
    blank_is_null: bool
    # Whether there is a slower way to read that fails less.
    can_be_careful: bool
    keep: Keep | None

    def opened(self, query: CountQuery) -> native.Frame:
        """Return the frame to be counted."""
        ...

    def around(self) -> AbstractContextManager[None]:
        """Return what must be around all work of the engine."""
        ...

    def be_careful(self) -> None:
        """Read in the slower way from now on."""
        ...

    def close(self) -> None:
        """Let go of what was opened."""
        ...


class _Plain:
    """What most frames have in common."""

    engine: str
    counter: str
    kinds: dict[str, str]
    blank_is_null = False
    can_be_careful = False
    keep: Keep | None = None

    def around(self) -> AbstractContextManager[None]:
        if self.engine != "spark":
            return nullcontext()
        from ggdp.tables.engines.spark import quiet

        return quiet()

    def be_careful(self) -> None:
        """There is no slower way."""

    def close(self) -> None:
        """Nothing was opened."""


class NativeFrames(_Plain):
    """A frame of polars, pyarrow or Spark."""

    def __init__(self, name: str, data: Any, columns: Sequence[str]) -> None:  # noqa: ANN401 - of any library
        self.engine = self.counter = engine_of(data) or ""
        with self.around():
            self._frame, self.kinds = _kinds(self.engine, _taken(self.engine, name, data, columns), columns)

    def opened(self, query: CountQuery) -> native.Frame:
        """Return the frame; text that is not valid UTF-8 has no text."""
        declared = {bound(name): column for name, column in _declared(query).items()}
        frame = nw.to_native(self._frame)
        if self.engine == "pyarrow":
            _require_one_way(query, self.kinds)
            return native.framed(native.readable(frame, declared))
        if self.engine == "spark":
            from ggdp.tables.engines import spark

            return native.framed(spark.readable(frame, declared))
        return self._frame


def _taken(engine: str, name: str, data: Any, columns: Sequence[str]) -> Any:  # noqa: ANN401 - a frame of any library
    """Return the columns of a frame, by their places, under names of our own."""
    if engine == "pyarrow":
        require_columns(name, columns, data.column_names)
        return _plain_arrow(pa.table({bound(column): data[column] for column in columns}))
    if engine == "polars":
        import polars as pl

        names = data.collect_schema().names()
        require_columns(name, columns, names)
        taken = data.select(pl.nth(names.index(column)).alias(bound(column)) for column in columns)
        # Predicates do not pass this.
        return taken.map_batches(_same, streamable=True) if isinstance(taken, pl.LazyFrame) else taken
    require_columns(name, columns, data.columns)
    numbered = data.toDF(*(f"p{place}" for place in range(len(data.columns))))
    return numbered.select(*(numbered[f"p{data.columns.index(column)}"].alias(bound(column)) for column in columns))


def _same(frame: Any) -> Any:  # noqa: ANN401 - a frame of polars
    return frame


def _kinds(engine: str, data: Any, columns: Sequence[str]) -> tuple[native.Frame, dict[str, str]]:  # noqa: ANN401
    """Return a frame, with text for types that narwhals does not know but that are text, and kinds by its schema."""
    frame = native.framed(data)
    texts = native.texts(engine, data)
    schema = frame.collect_schema()
    kinds = {name: "text" if bound(name) in texts else kind_of(schema[bound(name)]) for name in columns}
    odd = [nw.col(name).cast(nw.String) for name in schema.names() if name in texts]
    return (frame.with_columns(*odd) if odd else frame), kinds


def _declared(query: CountQuery) -> dict[str, Column | None]:
    """Return what is declared of the columns of a query, nothing of the unit."""
    declared: dict[str, Column | None] = {c.name: c for marginal in query.marginals for c in marginal}
    return declared if query.unit is None else {**declared, query.unit: None}


def _require_one_way(query: CountQuery, kinds: dict[str, str]) -> None:
    """Refuse columns of text that marginals declare in different ways: their values are read once for all marginals."""
    declared = _declared(query)
    for column in (column for marginal in query.marginals for column in marginal):
        if declared[column.name] != column and kinds[column.name] in ("text", "object"):
            raise ArgumentError("marginals", column.name, "is declared in two ways: ask for these tables one by one")


def _plain_arrow(table: pa.Table) -> pa.Table:
    """Return an Arrow table without dictionaries and views, which group-bys do not take."""
    for place, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string_view(kind):
            kind = pa.large_string()
        if kind != field.type:
            table = table.set_column(place, field.name, table[field.name].cast(kind))
    return table


class PandasFrames(_Plain):
    """A frame of pandas."""

    def __init__(self, name: str, data: Any, columns: Sequence[str]) -> None:  # noqa: ANN401 - pandas is untyped
        self.engine, self.counter = "pandas", "pyarrow"
        require_columns(name, columns, list(data.columns))
        self._data = data
        schema, objects = from_pandas.arrow_schema(data, columns)
        empty = NativeFrames("", schema.empty_table(), columns)
        self.kinds = {name: "object" if name in objects else empty.kinds[name] for name in columns}

    def opened(self, query: CountQuery) -> native.Frame:
        """Return the columns of a query as Arrow."""
        _require_one_way(query, self.kinds)
        declared = _declared(query)
        return NativeFrames("", from_pandas.arrow_table(self._data, declared), list(declared)).opened(query)


class _InOurDatabase(_Plain):
    """What is counted in a database of our own."""

    def __init__(self, temp_dir: Path | None) -> None:
        self.counter = "duckdb"
        self._connection = duckdb.connected(temp_dir)
        self.keep = duckdb.keeper(self._connection)

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class StreamFrames(_InOurDatabase):
    """A relation of DuckDB, or a table of ibis on DuckDB.

    Their own database only hands over its rows, without statistics of the files that it reads while it does so. Our
    conditions would be decided by them there, and texts compared by its collations.
    """

    def __init__(self, name: str, data: Any, columns: Sequence[str], temp_dir: Path | None = None) -> None:  # noqa: ANN401
        super().__init__(temp_dir)
        self.engine = engine_of(data) or ""
        names = list(data.columns)
        require_columns(name, columns, names)
        if self.engine == "ibis":
            _require_told_apart(names)
        relation = _relation(data) if self.engine == "ibis" else data
        places = ", ".join(f"p{place}" for place in range(len(names)))
        kinds = list(map(str, relation.types))
        taken = ", ".join(_projected(names.index(column), column, kinds) for column in columns)
        self._rows = relation.query("ggdp_rows", f"SELECT {taken} FROM ggdp_rows AS ggdp_rows({places})")
        self._schema = self._rows.limit(0).to_arrow_table().schema
        self._huge = {
            bound(column): kind for column in columns if (kind := kinds[names.index(column)]) in ("HUGEINT", "UHUGEINT")
        }
        self.kinds = _kinds("duckdb", self._streamed({}), columns)[1]
        self._columns = columns

    def opened(self, query: CountQuery) -> native.Frame:
        """Return the rows; text that is not valid UTF-8, which a relation of Arrow may hold, has no text."""
        declared = {bound(name): column for name, column in _declared(query).items()}
        return _kinds("duckdb", self._streamed(declared), self._columns)[0]

    def _streamed(self, declared: Mapping[str, Column | None]) -> Any:  # noqa: ANN401 - duckdb is untyped here
        """Return a relation of our database of all rows."""

        def batches() -> Iterator[pa.RecordBatch]:
            with _without_statistics(self._rows), self._rows.to_arrow_reader(_BATCH) as reader:
                for batch in reader:
                    texts = native.readable(pa.Table.from_batches([batch]), declared)
                    yield from (texts.cast(self._schema) if texts.schema != self._schema else texts).to_batches()

        ours = self._connection.from_arrow(duckdb.Stream(self._schema, batches))
        back = (
            f"CAST({name} AS {self._huge[name]}) AS {name}" if name in self._huge else name
            for name in self._schema.names
        )
        return ours.project(", ".join(back))


@contextmanager
def _without_statistics(relation: Any) -> Iterator[None]:  # noqa: ANN401 - duckdb is untyped here
    """Keep the database of a relation from deciding the relation's own conditions by statistics, for a while.

    A relation may have a filter over Parquet files, such as isnan(v), which they would decide for many rows at once.
    """

    def asked(statement: str) -> list[Any]:
        return list(relation.query("ggdp_unused", statement).fetchall())

    ((before,),) = asked("SELECT current_setting('disabled_optimizers')")
    off = ",".join(dict.fromkeys([*filter(None, before.split(",")), *duckdb.NO_STATISTICS]))
    asked(f"SET disabled_optimizers = '{off}'")
    try:
        yield
    finally:
        asked(f"SET disabled_optimizers = '{before}'")


def _projected(place: int, column: str, kinds: Sequence[str]) -> str:
    value = f"CAST(p{place} AS VARCHAR)" if kinds[place] in _AS_TEXT else f"p{place}"
    return f"{value} AS {bound(column)}"


def _relation(table: Any) -> Any:  # noqa: ANN401 - ibis is untyped here
    """Return a table of ibis as a relation of the database that it is in."""
    backend = table.get_backend()
    if backend.name != "duckdb":
        raise ArgumentError(
            "data",
            f"ibis on {backend.name}",
            "is not counted; export the table (to_pyarrow, to_parquet), or pass a frame of DuckDB, polars or pandas",
        )
    # In-memory tables are registered when a query that uses them is prepared.
    backend._run_pre_execute_hooks(table)
    return backend.con.sql(backend.compile(table))


def _require_told_apart(names: Sequence[str]) -> None:
    """Refuse names that differ in case alone, which ibis writes as they are and DuckDB reads as one."""
    found: dict[str, str] = {}
    for name in names:
        other = found.setdefault(name.casefold(), name)
        if other != name:
            raise ArgumentError("data", [other, name], "are columns that differ in case alone: rename one of them")


class DuckdbFiles(_InOurDatabase):
    """Files that are read in a database of our own."""

    def __init__(self, name: str, data: Files, columns: Sequence[str], temp_dir: Path | None = None) -> None:
        super().__init__(temp_dir)
        self.engine = "duckdb"
        self._files = data
        self.blank_is_null = data.has_header
        duckdb.require_readable(data)
        if data.format == "parquet":
            import pyarrow.parquet as pq

            require_columns(name, columns, pq.read_schema(data.paths[0]).names)
            require_one_schema(data.paths, columns, nulls_fit=True)
            self.can_be_careful = True
            relation = duckdb.parquet(self._connection, data, columns)
            self._frame, self.kinds = _kinds("duckdb", relation, columns)
        else:
            if data.has_header:
                require_columns(name, columns, data.header, by_header=True)
            self.kinds = dict.fromkeys(columns, "text")

    def opened(self, query: CountQuery) -> native.Frame:
        """Return the needed columns of the files."""
        declared = _declared(query)
        if self._files.format == "parquet":
            if self.can_be_careful:
                return self._frame
            relation = duckdb.parquet_rows(self._connection, self._files, declared)
        elif self._files.format == "json":
            relation = duckdb.json_rows(self._connection, self._files, list(declared))
        else:
            _require_one_way(query, self.kinds)
            relation = duckdb.text_rows(self._connection, self._files, declared)
        return _kinds("duckdb", relation, list(declared))[0]

    def be_careful(self) -> None:
        """Let Arrow read Parquet files."""
        self.can_be_careful = False


class SparkFiles(_Plain):
    """Files that Spark reads."""

    def __init__(self, name: str, data: Files, columns: Sequence[str]) -> None:
        from ggdp.tables.engines import spark

        self.engine = self.counter = "spark"
        self._files = data
        self.blank_is_null = data.has_header
        if data.has_header:
            require_columns(name, columns, data.header, by_header=True)
        if data.format == "parquet":
            spark.require_told_apart(data.paths)
            require_one_schema(data.paths, columns, nulls_fit=False)
        self._session = spark.session()
        self.kinds = dict.fromkeys(columns, "text")
        if data.format == "parquet":
            with self.around():
                self._frames = NativeFrames(name, spark.read_parquet(self._session, data.paths), columns)
            self.kinds = self._frames.kinds

    def opened(self, query: CountQuery) -> native.Frame:
        """Return the files as a frame."""
        if self._files.format == "parquet":
            return self._frames.opened(query)
        from ggdp.tables.engines import spark

        if self._files.has_header:
            _require_one_way(query, self.kinds)
        return native.framed(spark.read_text(self._session, self._files, _declared(query)))
