"""Engines that count on Spark: frames of PySpark, and files that a Spark session reads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa

from ggdp.tables.engines.contributions import SCORE, UNIT, UnitLimits, kept_by_rank
from ggdp.tables.engines.files import require_columns, require_one_schema
from ggdp.tables.engines.frames import declared_columns, framed, joined, require_one_declaration, safe_name, with_kinds
from ggdp.tables.engines.protocol import Dialect, Engine
from ggdp.tables.engines.spark.local_session import quiet, session
from ggdp.tables.engines.spark.reading import read_parquet, read_text, readable, require_told_apart

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager
    from datetime import date, datetime

    from ggdp.tables.engines.files import Files
    from ggdp.tables.engines.frames import Frame
    from ggdp.tables.engines.sources import CountQuery


class _Spark(Dialect):
    def untyped_text(self, native: Any) -> set[str]:  # noqa: ANN401 - a frame of PySpark
        return {field.name for field in native.schema.fields if field.dataType.typeName() == "void"}

    def looked_up(self, frame: Frame, text: str, levels: Sequence[str], code: str) -> Frame:
        spark, codes = nw.to_native(frame).sparkSession, pa.array(range(len(levels)), pa.int64())

        def coded(name: str) -> Any:  # noqa: ANN401 - a frame of PySpark
            return spark.createDataFrame(pa.table({name: pa.array(levels, pa.string()), code: codes}))

        return joined(frame, text, coded)

    def kept_pairs(self, pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
        from pyspark.sql import functions as sql

        # Each value is hashed with the hash of those before it as the seed. Numbers of Spark have a sign.
        secret = sql.lit(limits.secret - (1 << 63))
        score = sql.xxhash64(secret, sql.col(UNIT).cast("string"), *(sql.col(name) for name in cell))
        return kept_by_rank(framed(nw.to_native(pairs).withColumn(SCORE, score)), cell, limits)

    def text(self, value: nw.Expr) -> nw.Expr:
        # A collation of Spark would put different texts in one group.
        return value.cast(nw.String)

    def date_literal(self, day: date) -> nw.Expr:
        # PySpark writes year 1 with one digit, which Java does not read.
        return nw.lit(day.isoformat()).cast(nw.Date)

    def time_literal(self, time: datetime, dtype: nw.dtypes.DType) -> nw.Expr:
        # A datetime would be read in the time zone of the process.
        return nw.lit(time.isoformat(" ") + ("+00:00" if getattr(dtype, "time_zone", None) else "")).cast(dtype)


SPARK = _Spark()


class _OnSpark(Engine):
    """What Spark counts."""

    name, dialect = "spark", SPARK

    def _use(self, spark: Any) -> None:  # noqa: ANN401 - a classic session, or one of Connect
        """Let executors write large tables, but not those of Connect, which shows neither their attempts nor files."""
        from pyspark.sql import SparkSession

        self.has_executors = isinstance(spark, SparkSession)

    def working(self) -> AbstractContextManager[None]:
        """Return the context in which PySpark keeps quiet."""
        return quiet()


class SparkFrame(_OnSpark):
    """A frame of PySpark."""

    def __init__(self, source: str, data: Any, columns: Sequence[str]) -> None:  # noqa: ANN401 - classic or Connect
        with quiet():
            self._use(data.sparkSession)
            names = data.columns
            require_columns(source, columns, names)
            numbered = data.toDF(*(f"p{place}" for place in range(len(names))))
            taken = (numbered[f"p{names.index(column)}"].alias(safe_name(column)) for column in columns)
            self._frame, self.kinds = with_kinds(SPARK, numbered.select(*taken), columns)

    def frame(self, query: CountQuery) -> Frame:
        """Return the frame; text that is not valid UTF-8 has no text."""
        return framed(readable(nw.to_native(self._frame), declared_columns(query, self.kinds)))


class SparkFiles(_OnSpark):
    """Files that Spark reads."""

    def __init__(self, files: Files, columns: Sequence[str]) -> None:
        self._files = files
        self.empty_is_null = files.has_header
        if files.has_header:
            require_columns(files.named, columns, files.header, by_header=True)
        if files.format == "parquet":
            require_told_apart(files.paths)
            require_one_schema(files.paths, columns, nulls_fit=False)
        self._session = session()
        self._use(self._session)
        self.kinds = dict.fromkeys(columns, "text")
        if files.format == "parquet":
            with quiet():
                self._parquet = SparkFrame(files.named, read_parquet(self._session, files.paths), columns)
            self.kinds = self._parquet.kinds

    def frame(self, query: CountQuery) -> Frame:
        """Return the files as a frame."""
        if self._files.format == "parquet":
            return self._parquet.frame(query)
        if self._files.has_header:
            require_one_declaration(query, self.kinds)
        return framed(read_text(self._session, self._files, declared_columns(query, self.kinds)))
