"""Interface between tables and the libraries that hold the data: how an engine counts.

=========  ========================================================================================================
`Engine`   data that has been opened: the kinds of its columns, and a frame of its rows for each query
`Dialect`  the library that evaluates such a frame, in the few respects in which narwhals does not hide it
=========  ========================================================================================================

===================  =================================================================  ==========================
engine               data                                                               dialect
===================  =================================================================  ==========================
`DuckdbFiles`        files, read into a private DuckDB database; rows of Parquet        `duckdb.dialect.DUCKDB`
                     files from their dictionaries if these are small (`parquet_cells`)
`DuckdbRelation`     DuckDB relations, streamed into a private database                 `duckdb.dialect.DUCKDB`
`IbisTable`          ibis tables on DuckDB, likewise                                    `duckdb.dialect.DUCKDB`
`ArrowTable`         pyarrow tables                                                     `arrow.ARROW`
`PandasFrame`        pandas frames, converted to Arrow                                  `arrow.ARROW`
`PolarsFrame`        polars frames, eager and lazy                                      `polars.POLARS`
`SparkFrame`         PySpark frames                                                     `spark.sources.SPARK`
`SparkFiles`         files, read by a Spark session                                     `spark.sources.SPARK`
===================  =================================================================  ==========================

An engine finds columns by exact names in the whole schema and renames them (`frames.safe_name`). Between a lazy frame
and the counting it puts a barrier: no condition of ours is moved into the scan of a file, where statistics could decide
it for many rows at once.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from datetime import UTC
from typing import TYPE_CHECKING, Any, Protocol

import narwhals as nw

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import date, datetime

    from ggdp.tables.engines.cells import MarginalQuery
    from ggdp.tables.engines.contributions import UnitLimits
    from ggdp.tables.engines.frames import Frame
    from ggdp.tables.engines.sources import CountQuery


class Dialect(Protocol):
    """A library that evaluates frames. A class that derives from it overrides only what is different there.

    Attributes
    ----------
    wide_sums : bool
        Whether sums of 64-bit integers have 128 bits.
    """

    wide_sums: bool = False

    def untyped_text(self, native: Any) -> set[str]:  # noqa: ANN401 - a frame of the library
        """Return the columns that are text although narwhals does not know their type: UUIDs, untyped nulls."""
        ...

    def looked_up(self, frame: Frame, text: str, levels: Sequence[str], code: str) -> Frame:
        """Return a frame with the position of each text among the levels; null for a text that is not a level."""
        ...

    def kept_pairs(self, pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
        """Return those of distinct pairs of unit and cell that are counted, with all columns (`contributions`)."""
        ...

    def text(self, value: nw.Expr) -> nw.Expr:
        """Return a column of text that is compared byte by byte."""
        return value

    def date_literal(self, day: date) -> nw.Expr:
        """Return a day as a literal."""
        return nw.lit(day)

    def time_literal(self, time: datetime, dtype: nw.dtypes.DType) -> nw.Expr:
        """Return a time, in UTC if the type has a time zone, as a literal of that type."""
        return nw.lit(time.replace(tzinfo=UTC) if getattr(dtype, "time_zone", None) else time).cast(dtype)


class Engine(Protocol):
    """Data that has been opened; a class that derives from it overrides what is different for its data.

    Attributes
    ----------
    name : str
        The library that holds the data: "duckdb", "polars", "pandas", "pyarrow", "ibis" or "spark".
    dialect : Dialect
        The library that evaluates the frames of `frame`.
    kinds : dict of str to str
        Kinds of the columns (`ggdp.tables.engines.kinds`), from the schema alone.
    empty_is_null : bool
        Whether an empty field is a null, so that no level can be the empty text.
    has_executors : bool
        Whether a table too large for one process can be drawn and written by the executors of a cluster.
    """

    name: str
    dialect: Dialect
    kinds: dict[str, str]
    empty_is_null: bool = False
    has_executors: bool = False

    def frame(self, query: CountQuery) -> Frame:
        """Return the rows of the columns of a query."""
        ...

    def working(self) -> AbstractContextManager[None]:
        """Return the context in which the engine works."""
        return nullcontext()

    def evaluated(self, frame: Frame) -> tuple[Dialect, Frame]:
        """Return a frame that is used several times, evaluated once if the engine can store it, and its dialect."""
        return self.dialect, frame

    def direct_cells(self, query: MarginalQuery) -> Frame | None:  # noqa: ARG002
        """Return the non-empty cells of a declared marginal with their sums, if there is a faster way; else None."""
        return None

    def fall_back(self) -> bool:
        """Switch to a slower reader that fails less; return whether there is one that was not in use."""
        return False

    def close(self) -> None:
        """Close what was opened."""
        return
