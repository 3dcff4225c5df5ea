"""Engines that count on Spark: frames of PySpark, and files that a Spark session reads; the session, without messages.

CSV files and lines of JSON are split into records by the same code as everywhere (`ggdp.sources.text_files`), which
runs in the executors' Python workers, one file to a task: Spark's own readers guess where a line ends. Parquet files
are read by Spark itself.

A session that ggdp starts is a local one, bound to loopback, without a web page. Its Java process has no standard
output and no standard error at all, so that no row can reach them by a log, whatever the levels of logging are. What
it writes to disk between stages is encrypted, with a key that is only in memory. A session that the user has
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
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import narwhals as nw
import pyarrow as pa

from ggdp.errors import ArgumentError, GgdpError, MissingExtraError, install_hint
from ggdp.sources.codes import text_of_invalid
from ggdp.sources.counting import SCORE, UNIT, UnitLimits, keep_by_rank
from ggdp.sources.engine import (
    Dialect,
    Engine,
    as_frame,
    declared_columns,
    join_levels,
    read_kinds,
    require_one_declaration,
    safe_name,
)
from ggdp.sources.files import require_columns, require_one_schema

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from datetime import date, datetime

    from pyspark.sql import DataFrame, SparkSession

    from ggdp.domain.column import Column
    from ggdp.sources.engine import Frame
    from ggdp.sources.files import Files
    from ggdp.sources.query import CountQuery


# More tasks for one frame of text files would only wait.
_MOST_TASKS = 1024
# Rows of a JSON file that are handed over at once.
_BATCH = 1 << 16
# Dates before 1582 are read as they are written; the other settings rewrite them or fail.
_PARQUET = {"mergeSchema": False, "datetimeRebaseMode": "CORRECTED", "int96RebaseMode": "CORRECTED"}


def read_parquet(session: SparkSession, paths: Sequence[str]) -> DataFrame:
    """Return a frame that reads Parquet files; nothing is read yet but their schema."""
    require_readable(paths)
    return session.read.options(**_PARQUET).parquet(*map(_literal, paths))


def read_text(session: SparkSession, files: Files, declared: Mapping[str, Column | None]) -> DataFrame:
    """Return a frame of declared columns of CSV or JSON files, as text; nothing is read yet.

    Every executor must see the files under the same paths, and have this version of ggdp.
    """
    from pyspark.sql.types import StringType, StructField, StructType

    schema = StructType([StructField(safe_name(name), StringType()) for name in declared])
    absolute = [os.path.abspath(path) for path in files.paths]
    numbers = session.range(len(absolute), numPartitions=min(len(absolute), _MOST_TASKS))
    rows = partial(_rows_of_files, replace(files, paths=tuple(absolute)), dict(declared))
    return numbers.mapInArrow(rows, schema)


def _rows_of_files(
    files: Files, declared: dict[str, Column | None], batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of those files whose numbers come in; runs in a Python worker of an executor."""
    from ggdp.sources.duckdb_database import connect, json_rows, text_stream

    schema = pa.schema([(safe_name(name), pa.string()) for name in declared])
    connection = connect()
    try:
        for number in (number for batch in batches for number in batch.column(0).to_pylist()):
            one = replace(files, paths=files.paths[number : number + 1], headers=files.headers[number : number + 1])
            if files.has_header:
                rows = text_stream(one, declared)
            else:
                rows = json_rows(connection, one, list(declared)).to_arrow_reader(_BATCH)
            for batch in rows:
                yield pa.record_batch([array.cast(pa.string()) for array in batch.columns], schema)
    finally:
        connection.close()


def _require_distinct(paths: Sequence[str]) -> None:
    """Refuse Parquet files with columns whose names differ in case alone: Spark may not tell them apart."""
    import pyarrow.parquet as pq

    for path in paths:
        found: dict[str, str] = {}
        for name in pq.read_schema(path).names:
            other = found.setdefault(name.lower(), name)
            if other != name:
                what = f"are columns of {path} that Spark cannot tell apart: rename one, or use engine duckdb"
                raise ArgumentError("data", [other, name], what)


def _replace_invalid(frame: DataFrame, declared: Mapping[str, Column | None]) -> DataFrame:
    """Return declared columns of a frame, under safe names; text that is not valid UTF-8 has no text (`kinds`)."""
    from pyspark.sql import functions
    from pyspark.sql.types import StringType

    def column(name: str, declared: Column | None) -> Any:  # noqa: ANN401 - a column of classic Spark, or of Connect
        found = functions.col(name)
        if not isinstance(frame.schema[name].dataType, StringType):
            return found
        text = functions.coalesce(functions.try_validate_utf8(found), functions.lit(text_of_invalid(declared)))
        return functions.when(found.isNotNull(), text).alias(name)

    return frame.select(*(column(safe_name(name), declaration) for name, declaration in declared.items()))


def require_readable(paths: Sequence[str]) -> None:
    """Refuse names of files that Spark does not read."""
    for path in paths:
        if Path(path).name.startswith(("_", ".")):
            raise ArgumentError("data", path, "Spark does not read files whose names begin with _ or a dot; rename it")
        if ":" in Path(path).name:
            raise ArgumentError("data", path, "Spark does not read files with a colon in their names; rename it")


def _literal(path: str) -> str:
    """Return a path as Spark takes it, with what it would read as a pattern escaped."""
    return "file://" + re.sub(r"([\\\[\]{}*?])", r"\\\1", os.path.abspath(path))


_LEAST_JAVA = 17
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
_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
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
        raise GgdpError(
            "Spark could not be started. Start a session yourself to see why, and release its data frame"
        ) from None


def _default_session() -> SparkSession | None:
    """Return the session of this process, or the one its launcher provides; None if there is neither."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    launched = any(name in os.environ for name in ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE"))
    if launched or SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    return None


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
    with _environment(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1"):
        silent = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        SparkContext(conf=conf, gateway=launch_gateway(conf, popen_kwargs=silent))
        return SparkSession.builder.getOrCreate()


@contextmanager
def quiet() -> Iterator[None]:
    """Suppress PySpark's messages on standard error inside the context.

    Notes
    -----
    PySpark logs a failed query on the driver, with the value that it failed on, and warns about versions of pandas.
    The exception passes: it holds the same words, so a caller that catches it must not show it.
    """

    def nothing(_: logging.LogRecord) -> bool:
        return False

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        from pyspark.logger import PySparkLogger

        # Of their own class: PySpark calls them with words that a plain logger does not know.
        loggers = [PySparkLogger.getLogger(name) for name in _LOGGERS]
        for logger in loggers:
            logger.addFilter(nothing)
        try:
            yield
        finally:
            for logger in loggers:
                logger.removeFilter(nothing)


@contextmanager
def _environment(**variables: str) -> Iterator[None]:
    """Set environment variables inside the context."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _require_java() -> None:
    """Raise if there is no Java, or one that Spark 4 does not run on."""
    found = _java_version()
    if found is None or found < _LEAST_JAVA:
        state = "none was found" if found is None else f"the one found is Java {found}"
        raise MissingExtraError(
            f"Spark needs Java {_LEAST_JAVA} or newer, and {state}: install one, or point JAVA_HOME to it"
        )


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
    def untyped_text(self, native: Any) -> set[str]:  # noqa: ANN401 - a frame of PySpark
        return {field.name for field in native.schema.fields if field.dataType.typeName() == "void"}

    def look_up(self, frame: Frame, text: str, levels: Sequence[str], code: str) -> Frame:
        spark, codes = nw.to_native(frame).sparkSession, pa.array(range(len(levels)), pa.int64())

        def coded(name: str) -> Any:  # noqa: ANN401 - a frame of PySpark
            return spark.createDataFrame(pa.table({name: pa.array(levels, pa.string()), code: codes}))

        return join_levels(frame, text, coded)

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
            self._frame, self.kinds = read_kinds(SPARK, numbered.select(*taken), columns)

    def frame(self, query: CountQuery) -> Frame:
        """Return the frame; text that is not valid UTF-8 has no text."""
        return as_frame(_replace_invalid(nw.to_native(self._frame), declared_columns(query, self.kinds)))


class SparkFiles(_OnSpark):
    """Files that Spark reads."""

    def __init__(self, source: str, data: Files, columns: Sequence[str], _: Path | None = None) -> None:
        self._files = files = data
        self.empty_is_null = files.has_header
        if files.has_header:
            require_columns(source, columns, files.header, by_header=True)
        if files.format == "parquet":
            _require_distinct(files.paths)
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
            require_one_declaration(query, self.kinds)
        return as_frame(read_text(self._session, self._files, declared_columns(query, self.kinds)))
