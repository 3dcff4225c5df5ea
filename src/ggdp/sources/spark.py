"""Engines that count on Spark: frames of PySpark, and files that a Spark session reads; the session, without messages.

CSV files and lines of JSON are split into records by the same code as everywhere (`ggdp.sources.text_files`), which
runs in the executors' Python workers, one file to a task: Spark's own readers guess where a line ends. Parquet files
are read by Spark itself.

A session that ggdp starts is a local one, bound to loopback, without a web page. No row can reach the standard output
or error by a log of its Java process, whatever the levels of logging are (`session`). A session that the user has
started is used as it is.

PySpark itself writes the messages of failed queries, with the values that they failed on, to the standard error of the
process that asked: `quiet` is around every call that makes Spark work.

References
----------
Apache Spark 4, "Parquet Files" (options of the data source) and "Python Arrow UDFs" (`mapInArrow`).
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa
import pyarrow.parquet as pq

from ggdp.errors import ArgumentError, GgdpError, MissingExtraError, install_hint
from ggdp.sources.codes import text_of_invalid
from ggdp.sources.counting import SCORE, UNIT, UnitLimits, keep_by_rank
from ggdp.sources.engine import Dialect, Engine, Frame, Values, as_frame, safe_name
from ggdp.sources.files import Files, require_columns, require_distinct_folded, require_one_schema

if TYPE_CHECKING:
    import logging
    from contextlib import AbstractContextManager
    from datetime import date, datetime

    from pyspark.sql import DataFrame, SparkSession

    from ggdp.domain.column import Column
    from ggdp.sources.query import CountQuery


def read_parquet(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Return a frame that reads Parquet files, or refuse names that Spark passes over; their schema alone is read."""
    for path in paths:
        if Path(path).name.startswith(("_", ".")):
            raise ArgumentError("data", path, "Spark does not read files whose names begin with _ or a dot; rename it")
        if ":" in Path(path).name:
            raise ArgumentError("data", path, "Spark does not read files with a colon in their names; rename it")
    # What Spark would read as a pattern is escaped.
    literal = (re.sub(r"([\\\[\]{}*?])", r"\\\1", os.path.abspath(path)) for path in paths)
    # Dates before 1582 are read as they are written; the other settings rewrite them or fail.
    reader = session.read.options(mergeSchema=False, datetimeRebaseMode="CORRECTED", int96RebaseMode="CORRECTED")
    return reader.parquet(*(f"file://{path}" for path in literal))


def read_text(session: SparkSession, files: Files, declared: Mapping[str, Column | None]) -> DataFrame:
    """Return a frame of declared columns of CSV or JSON files, as text; nothing is read yet.

    Every executor must see the files under the same paths, and have this version of ggdp.
    """
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([StructField(safe_name(name), StringType()) for name in declared])
    absolute = [os.path.abspath(path) for path in files.paths]
    # More tasks would only wait.
    numbers = session.range(len(absolute), numPartitions=min(len(absolute), 1024))
    return numbers.mapInArrow(partial(_rows_of_files, replace(files, paths=tuple(absolute)), dict(declared)), schema)


def _rows_of_files(
    files: Files, declared: dict[str, Column | None], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of those files whose numbers come in; runs in a Python worker of an executor."""
    from ggdp.sources.duckdb_engine import connect, json_rows, text_stream

    schema = pa.schema([(safe_name(name), pa.string()) for name in declared])
    connection = connect()
    try:
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            one = replace(files, paths=files.paths[number : number + 1], headers=files.headers[number : number + 1])
            if files.has_header:
                rows = text_stream(one, declared)
            else:
                rows = json_rows(connection, one, list(declared)).to_arrow_reader(1 << 16)
            for batch in rows:
                yield pa.record_batch([array.cast(pa.string()) for array in batch.columns], schema)
    finally:
        connection.close()


_OWN = {
    "spark.master": "local[*]",
    "spark.app.name": "ggdp",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "OFF",
    # What Spark writes to disk between its stages are rows; the key is only in memory.
    "spark.io.encryption.enabled": "true",
    "spark.io.encryption.keySizeBits": "256",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_starting = threading.Lock()


def session() -> SparkSession:
    """Return the Spark session of this thread or process, or start a local one on all cores of this machine.

    Claim. The Java process of a session that is started here writes nothing to the standard output or error of this
    process: it is given the null device for both when it starts.
    """
    try:
        with quiet():
            from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtraError(f"Spark needs PySpark: {install_hint('spark')}") from None
    try:
        with _starting, quiet():
            return SparkSession.getActiveSession() or _default_session() or _start()
    except MissingExtraError:
        raise
    except Exception:
        # No data are open yet: unlike a source that cannot be read, this is not charged.
        what = "Spark could not be started. Start a session yourself to see why, and release its data frame"
        raise GgdpError(what) from None


def _default_session() -> SparkSession | None:
    """Return the session of this process, or the one its launcher provides; None if there is neither."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    launched = "PYSPARK_GATEWAY_PORT" in os.environ or "SPARK_REMOTE" in os.environ
    is_known = launched or SparkContext._active_spark_context is not None
    return SparkSession.builder.getOrCreate() if is_known else None


def _start() -> SparkSession:
    """Start a local session."""
    _require_java()
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    conf = SparkConf(loadDefaults=False)
    # Spark makes this directory when it looks for a table by name, which ggdp does not; never in the working directory.
    warehouse = Path(tempfile.gettempdir(), f"ggdp-spark-warehouse-{os.getpid()}")
    for key, value in {**_OWN, "spark.sql.warehouse.dir": str(warehouse)}.items():
        conf.set(key, value)
    # Workers must find this very library; the name of this machine may resolve to nothing.
    variables = {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    before = {name: os.environ[name] for name in variables if name in os.environ}
    os.environ.update(variables)
    try:
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        SparkContext(conf=conf, gateway=launch_gateway(conf, popen_kwargs=silent))
        return SparkSession.builder.getOrCreate()
    finally:
        for name in variables:
            del os.environ[name]
        os.environ.update(before)


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress PySpark's messages on standard error; a caller must not show an exception, which has the same words."""

    def nothing(_: logging.LogRecord) -> bool:
        return False

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        from pyspark.logger import PySparkLogger

        # Of their own class: PySpark calls them with words that a plain logger does not know.
        names = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
        loggers = [PySparkLogger.getLogger(name) for name in names]
        for logger in loggers:
            logger.addFilter(nothing)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeFilter(nothing)


def _require_java() -> None:
    """Raise if there is no Java, or one that Spark 4 does not run on."""
    found = _java_version()
    if found is None or found < 17:
        state = "none was found" if found is None else f"the one found is Java {found}"
        raise MissingExtraError(f"Spark needs Java 17 or newer, and {state}: install one, or point JAVA_HOME to it")


def _java_version() -> int | None:
    """Return the version of the Java that Spark would start; None if Java is not installed."""
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home) / "bin" / "java") if home else shutil.which("java")
    if program is None:
        return None
    try:
        done = subprocess.run([program, "-version"], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    # Java 8 calls itself 1.8.
    said = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(said.group(1)) if said else None


class _Spark(Dialect):
    tries_all_ways = True

    def untyped_text(self, native: Any) -> set[str]:  # noqa: ANN401 - a frame of PySpark
        return {field.name for field in native.schema.fields if field.dataType.typeName() == "void"}

    def list_levels(self, native: Any, levels: Sequence[str], name: str, code: str, values: Values = None) -> Any:  # noqa: ANN401 - of PySpark
        codes = pa.array(range(len(levels)), pa.int64()) if values is None else pa.array(values, pa.string())
        return native.sparkSession.createDataFrame(pa.table({name: pa.array(levels, pa.string()), code: codes}))

    def add_column(self, frame: Frame, name: str, value: nw.Expr) -> Frame:
        from pyspark.sql import functions as sql

        # Spark moves conditions before the columns that they mention, with a copy of each, and copies of copies take
        # minutes. It does not so with what it takes for random; this condition always holds.
        native = nw.to_native(frame.with_columns(value.alias(name)))
        return as_frame(native.withColumn(name, sql.when(sql.rand(0) < 2, sql.col(name))))

    def keep_pairs(self, pairs: Frame, cell: Sequence[str], limits: UnitLimits) -> Frame:
        from pyspark.sql import functions as sql

        # Each value is hashed with the hash of those before it as the seed. Numbers of Spark have a sign.
        secret = sql.lit(limits.secret - (1 << 63))
        score = sql.xxhash64(secret, sql.col(UNIT).cast("string"), *(sql.col(name) for name in cell))
        return keep_by_rank(as_frame(nw.to_native(pairs).withColumn(SCORE, score)), cell, limits)

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

    def __init__(self, source: str, data: Any, columns: Sequence[str], _: Path | None = None) -> None:  # noqa: ANN401 - classic or Connect
        with quiet():
            self._use(data.sparkSession)
            names = data.columns
            require_columns(source, columns, names)
            numbered = data.toDF(*(f"p{place}" for place in range(len(names))))
            taken = (numbered[f"p{names.index(column)}"].alias(safe_name(column)) for column in columns)
            self._frame, self.kinds = SPARK.read_kinds(numbered.select(*taken), columns)

    def frame(self, query: CountQuery) -> Frame:
        """Return the declared columns; text that is not valid UTF-8 has no text (`codes`)."""
        from pyspark.sql import functions
        from pyspark.sql.types import StringType

        frame, taken = nw.to_native(self._frame), []
        for name, column in query.declared_columns(self.kinds).items():
            value = functions.col(safe_name(name))
            if isinstance(frame.schema[safe_name(name)].dataType, StringType):
                text = functions.coalesce(functions.try_validate_utf8(value), functions.lit(text_of_invalid(column)))
                value = functions.when(value.isNotNull(), text).alias(safe_name(name))
            taken.append(value)
        return as_frame(frame.select(*taken))


class SparkFiles(_OnSpark):
    """Files that Spark reads."""

    def __init__(self, source: str, data: Files, columns: Sequence[str], _: Path | None = None) -> None:
        self._files = files = data
        self.empty_is_null = files.has_header
        if files.has_header:
            require_columns(source, columns, files.header, by_header=True)
        if files.format == "parquet":
            for path in files.paths:
                what = f"are columns of {path} that Spark cannot tell apart: rename one, or use engine duckdb"
                require_distinct_folded(pq.read_schema(path).names, what)
            require_one_schema(files.paths, columns, nulls_fit=False)
        self._session = session()
        self._use(self._session)
        self.kinds = dict.fromkeys(columns, "text")
        if files.format == "parquet":
            with quiet():
                self._parquet = SparkFrame(source, read_parquet(self._session, files.paths), columns)
            self.kinds = self._parquet.kinds

    def frame(self, query: CountQuery) -> Frame:
        """Return the files as a frame."""
        if self._files.format == "parquet":
            return self._parquet.frame(query)
        if self._files.has_header:
            query.require_one_declaration(self.kinds)
        return as_frame(read_text(self._session, self._files, query.declared_columns(self.kinds)))
