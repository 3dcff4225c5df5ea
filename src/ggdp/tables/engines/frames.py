"""The frames that sources are counted as: their schema when they are opened, their rows when they are counted.

=============  =====================================================================================
`Frames`       what every source has: an engine, kinds of columns, and a narwhals frame for a query
NativeFrames   a frame of polars, pyarrow, DuckDB, ibis or Spark, as it is
PandasFrames   a frame of pandas, counted as Arrow
DuckdbFiles    files, read in a connection of our own
SparkFiles     files, read by a Spark session
=============  =====================================================================================
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol

import narwhals as nw
import pyarrow as pa

from ggdp.errors import ArgumentError
from ggdp.tables.engines import duckdb, from_pandas, native
from ggdp.tables.engines.files import DELIMITERS, Files, has_mark, require_columns, require_one_schema
from ggdp.tables.engines.kinds import kind_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.tables.column import Column
    from ggdp.tables.engines.plan import Keep
    from ggdp.tables.engines.sources import CountQuery

__all__ = ["DuckdbFiles", "Frames", "NativeFrames", "PandasFrames", "SparkFiles", "engine_of"]

_ENGINES = {
    "pandas": "pandas",
    "polars": "polars",
    "pyarrow": "pyarrow",
    "duckdb": "duckdb",
    "ibis": "ibis",
    "pyspark": "spark",
    "pyspark[connect]": "spark",
}


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

    engine: str
    kinds: dict[str, str]
    # Whether an empty field is a null, so that no level can be the empty text.
    blank_is_null: bool
    # Whether there is a slower way to read that fails less.
    can_be_careful: bool
    keep: Keep | None

    def __init__(self, name: str, data: Any, columns: Sequence[str]) -> None: ...  # noqa: ANN401

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
    """A frame of polars, pyarrow, DuckDB, ibis or Spark."""

    def __init__(self, name: str, data: Any, columns: Sequence[str], *, own: bool = False) -> None:  # noqa: ANN401
        self.engine = engine_of(data) or ""
        frame = native.framed(data)
        with self.around():
            if not own:
                native.require_exact(self.engine, data)
            schema = frame.collect_schema()
            require_columns(name, columns, _names(self.engine, data, schema))
            self._frame = _decoded(frame, columns) if self.engine == "pyarrow" else frame
            texts = native.texts(self.engine, nw.to_native(self._frame))
        schema = self._frame.collect_schema()
        self.kinds = {name: "text" if name in texts else kind_of(schema[name]) for name in columns}
        # Narwhals does not know these types; as text they are like any other.
        odd = [nw.col(name).cast(nw.String) for name in columns if name in texts]
        self._frame = self._frame.with_columns(*odd) if odd else self._frame
        if not own:
            self._frame = native.exact(
                self.engine, self._frame, [name for name in columns if self.kinds[name] == "text"]
            )

    def opened(self, query: CountQuery) -> native.Frame:
        """Return the frame as it is, but for text of Arrow, which is not checked by anybody else."""
        if self.engine != "pyarrow":
            return self._frame
        _require_one_way(query, self.kinds)
        return native.framed(native.readable(nw.to_native(self._frame), _declared(query)))


def _names(engine: str, data: Any, schema: nw.Schema) -> Sequence[str]:  # noqa: ANN401 - a frame of any library
    return data.column_names if engine == "pyarrow" else schema.names()


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


def _decoded(frame: native.Frame, columns: Sequence[str]) -> native.Frame:
    """Return an Arrow table of the needed columns, without dictionaries and views, which group-bys do not take."""
    table = nw.to_native(frame).select(list(columns))
    for place, field in enumerate(table.schema):
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_string_view(kind):
            kind = pa.large_string()
        if kind != field.type:
            table = table.set_column(place, field.name, table[field.name].cast(kind))
    return native.framed(table)


class PandasFrames(_Plain):
    """A frame of pandas."""

    def __init__(self, name: str, data: Any, columns: Sequence[str]) -> None:  # noqa: ANN401 - pandas is untyped
        self.engine = "pandas"
        require_columns(name, columns, list(data.columns))
        self._data = data
        schema, objects = from_pandas.arrow_schema(data, columns)
        decoded = _decoded(native.framed(schema.empty_table()), columns)
        empty = decoded.collect_schema()
        nulls = native.texts("pyarrow", nw.to_native(decoded))
        texts = {name: "object" if name in objects else "text" for name in {*objects, *nulls}}
        self.kinds = {name: texts.get(name) or kind_of(empty[name]) for name in columns}

    def opened(self, query: CountQuery) -> native.Frame:
        """Return the columns of a query as Arrow."""
        _require_one_way(query, self.kinds)
        declared = _declared(query)
        table = from_pandas.arrow_table(self._data, declared)
        return NativeFrames("", table, list(declared)).opened(query)


class DuckdbFiles(_Plain):
    """Files that DuckDB reads, in a connection of our own."""

    def __init__(self, name: str, data: Files, columns: Sequence[str]) -> None:
        self.engine = "duckdb"
        self._files, self._columns = data, columns
        if len({name.lower() for name in columns}) < len(columns):
            raise ArgumentError("columns", list(columns), "differ in case alone, which DuckDB does not tell apart")
        duckdb.require_readable(data)
        self._connection = duckdb.connected()
        self.blank_is_null = data.format in DELIMITERS
        # DuckDB skips the byte-order mark of CSV files alone.
        self._kept = data.format == "json" and any(map(has_mark, data.paths))
        self.can_be_careful = not self._kept
        require_columns(name, columns, duckdb.column_names(data, columns), by_header=data.format in DELIMITERS)
        if data.format == "parquet":
            require_one_schema(data.paths, columns)
        self._frames = NativeFrames(name, duckdb.read(self._connection, data, columns), columns, own=True)
        self.kinds = self._frames.kinds
        self.keep = duckdb.keeper(self._connection)

    def opened(self, query: CountQuery) -> native.Frame:
        """Return the needed columns of the files."""
        if self._kept:
            declared = _declared(query)
            relation = duckdb.rows_kept(self._connection, self._files, declared)
            return NativeFrames("", relation, list(declared), own=True).opened(query)
        return self._frames.opened(query)

    def be_careful(self) -> None:
        """Read CSV files by one thread, which takes line ends inside quotes as they are, and others not by DuckDB."""
        self.can_be_careful = False
        if self._files.format in DELIMITERS:
            relation = duckdb.read(self._connection, self._files, self._columns, parallel=False)
            self._frames = NativeFrames("", relation, self._columns, own=True)
        else:
            # Rows are read when they are asked for, where an error says nothing.
            self._kept = True

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


class SparkFiles(_Plain):
    """Files that Spark reads."""

    def __init__(self, name: str, data: Files, columns: Sequence[str]) -> None:
        from ggdp.tables.engines import spark

        self.engine = "spark"
        self._format = data.format
        self.blank_is_null = data.format in DELIMITERS
        if data.format == "parquet":
            require_one_schema(data.paths, columns)
        session = spark.session()
        with self.around():
            named = data.header if data.format in DELIMITERS else columns
            require_columns(name, columns, named, by_header=data.format in DELIMITERS)
            self._frames = NativeFrames(name, spark.read_files(session, data.paths, data.format, named), columns)
        self.kinds = self._frames.kinds

    def opened(self, query: CountQuery) -> native.Frame:
        """Return the files as a frame."""
        frame = self._frames.opened(query)
        if self._format != "parquet":
            return frame
        from ggdp.tables.engines import spark

        return native.framed(spark.readable(nw.to_native(frame), _declared(query)))
