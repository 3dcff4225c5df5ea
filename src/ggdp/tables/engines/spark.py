"""Spark: a session that keeps quiet, and files read by it as text.

A session that ggdp starts is a local one, bound to loopback, without a web page. Its Java process has no standard
output and no standard error at all, so that no row can reach them by a log, whatever the levels of logging are. A
session that somebody else has started is used as it is.

PySpark itself writes the messages of failed queries, with the values that they failed on, to the standard error of the
process that asked: `quiet` is around every call that makes Spark work.

CSV and JSON lines are read as text, by a schema that somebody passes: whether reading succeeds never depends on what a
field holds. A record that is too short is filled with nulls, one that is too long is cut, one that is no JSON is a row
of nulls, and a line of JSON is one row even where it is a list of several.

References
----------
Apache Spark 4, "CSV Files", "JSON Files" and "Parquet Files" (options of the data sources).
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
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from ggdp import _validate
from ggdp.errors import ArgumentError, MissingExtraError, install_hint
from ggdp.tables.engines.kinds import unparsable

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from ggdp.tables.column import Column

__all__ = ["FileFormat", "quiet", "read_files", "readable", "session"]

FileFormat: TypeAlias = Literal["csv", "tsv", "json", "parquet"]

_LEAST_JAVA = 17
_OWN = {
    "spark.master": "local[*]",
    "spark.app.name": "ggdp",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.log.level": "OFF",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}
_CSV = {
    "header": True,
    "enforceSchema": True,
    "quote": '"',
    "escape": '"',
    "multiLine": True,
    "mode": "PERMISSIVE",
    "encoding": "UTF-8",
    "nullValue": "",
    "emptyValue": "",
    "ignoreLeadingWhiteSpace": False,
    "ignoreTrailingWhiteSpace": False,
    # A record of more fields than this is an error, which a value could then cause; each parser has room for so many.
    "maxColumns": 1 << 20,
    "maxCharsPerColumn": -1,
}
_JSON = {
    "mode": "PERMISSIVE",
    "primitivesAsString": "true",
    "allowNonNumericNumbers": "false",
    "allowSingleQuotes": "false",
}
# Dates before 1582 are read as they are written; the other settings rewrite them or fail.
_PARQUET = {"mergeSchema": False, "datetimeRebaseMode": "CORRECTED", "int96RebaseMode": "CORRECTED"}
_LOGGERS = ("DataFrameQueryContextLogger", "SQLQueryContextLogger")
_starting = threading.Lock()


def session() -> SparkSession:
    """Return the active Spark session, or start a local one.

    Returns
    -------
    pyspark.sql.SparkSession
        The session of this thread, or the process's; where there is none, a new one on all cores of this machine.

    Raises
    ------
    MissingExtraError
        If PySpark is not installed, or Java is not or is older than 17.

    Notes
    -----
    Claim. The Java process of a session that is started here writes nothing to the standard output or error of this
    process: it is given the null device for both when it starts.

    Examples
    --------
    >>> session().range(3).count()  # doctest: +SKIP
    3
    """
    try:
        with quiet():
            from pyspark.sql import SparkSession
    except ImportError:
        message = f"Spark needs PySpark: {install_hint('spark')}"
        raise MissingExtraError(message) from None
    with _starting, quiet():
        return SparkSession.getActiveSession() or _default_session() or _started()


def _default_session() -> SparkSession | None:
    """Return the session that this process has or was promised by whoever launched it; None if there is neither."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    launched = any(name in os.environ for name in ("PYSPARK_GATEWAY_PORT", "SPARK_REMOTE"))
    if launched or SparkContext._active_spark_context is not None:
        return SparkSession.builder.getOrCreate()
    return None


def _started() -> SparkSession:
    """Start a local session."""
    _require_java()
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway
    from pyspark.sql import SparkSession

    conf = SparkConf(loadDefaults=False)
    # Spark makes this folder when it looks for a table by name, which ggdp does not; never in the working folder.
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
    """Keep PySpark's own messages from standard error for a while.

    Notes
    -----
    PySpark logs a failed query on the driver, with the value that it failed on, and warns about versions of pandas.
    The exception passes: it holds the same words, so whoever catches it must not show it.
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
    """Set environment variables for a while."""
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
        message = f"Spark needs Java {_LEAST_JAVA} or newer, and {state}: install one, or point JAVA_HOME to it"
        raise MissingExtraError(message)


def _java_version() -> int | None:
    """Return the version of the Java that Spark would start; None if there is none."""
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


def read_files(
    session: SparkSession,
    paths: Sequence[str | os.PathLike[str]],
    format: FileFormat,  # noqa: A002 - the word for it everywhere else
    columns: Sequence[str],
) -> DataFrame:
    """Return a frame that reads files of one format; nothing is read yet but the schema of Parquet files.

    Parameters
    ----------
    session : pyspark.sql.SparkSession
        Who reads.
    paths : sequence of path
        The files, which every executor can see; names are taken as they are, not as patterns.
    format : str
        ``"csv"``, ``"tsv"``, ``"json"`` (JSON lines) or ``"parquet"``.
    columns : sequence of str
        For CSV and TSV all names of the header in its order; for JSON those that are needed. Parquet files have their
        own, and it is not used.

    Notes
    -----
    A record is one row, whatever is in it: CSV files are read as a whole, since a quoted field may hold line ends. An
    empty field of a CSV file is a null, quoted or not. A byte-order mark is skipped, and so are blank lines. Records of
    a CSV file end as its header does, and line ends of that kind inside quotes become a single line feed. A number of a
    JSON file that has a point or an exponent comes as the text of its 64-bit float. Of two fields of one name the last
    one is read, and what comes after the first object of a line is not.

    Examples
    --------
    >>> read_files(session(), ["people.csv"], "csv", ["sex", "smokes"]).columns  # doctest: +SKIP
    ['sex', 'smokes']
    """
    from pyspark.sql import functions
    from pyspark.sql.types import StringType, StructField, StructType

    _validate.choice(format=format, among=("csv", "tsv", "json", "parquet"))
    files = [_literal(path) for path in paths]
    if format == "parquet":
        return session.read.options(**_PARQUET).parquet(*files)
    if format == "json":
        schema = StructType([StructField(name, StringType()) for name in columns])
        # The reader of JSON files would make several rows of a line that holds a list.
        lines = session.read.text(files, lineSep="\n").select(
            functions.ltrim("value", functions.lit("\ufeff")).alias("line")
        )
        record = functions.from_json("line", schema, _JSON).alias("record")
        return lines.where(functions.col("line").rlike(r"\S")).select(record).select("record.*")
    # Fields have numbers at first, as two names of a header may differ in case alone.
    numbers = [f"c{place}" for place in range(len(columns))]
    schema = StructType([StructField(number, StringType()) for number in numbers])
    read = session.read.schema(schema).options(sep="," if format == "csv" else "\t", **_CSV).csv(files)
    empty = functions.lit("")
    return read.select(
        *(functions.nullif(number, empty).alias(name) for number, name in zip(numbers, columns, strict=True))
    )


def readable(frame: DataFrame, declared: Mapping[str, Column | None]) -> DataFrame:
    """Return declared columns of a frame; text that is no UTF-8 has no text (`ggdp.tables.engines.kinds`)."""
    from pyspark.sql import functions
    from pyspark.sql.types import StringType

    def column(name: str) -> Any:  # noqa: ANN401 - a column of classic Spark, or of Connect
        found = functions.col("`" + name.replace("`", "``") + "`")
        if not isinstance(frame.schema[name].dataType, StringType):
            return found
        text = functions.coalesce(functions.try_validate_utf8(found), functions.lit(unparsable(declared[name])))
        return functions.when(found.isNotNull(), text).alias(name)

    return frame.select(*map(column, declared))


def _literal(path: str | os.PathLike[str]) -> str:
    """Return a path as Spark takes it, with what it would read as a pattern escaped."""
    text = os.fspath(path)
    if Path(text).name.startswith(("_", ".")):
        raise ArgumentError("paths", text, "Spark reads no file whose name begins with _ or a dot: rename it")
    if ":" in Path(text).name:
        raise ArgumentError("paths", text, "Spark reads no file with a colon in its name: rename it")
    if re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", text):
        return text
    return "file://" + re.sub(r"([\\\[\]{}*?])", r"\\\1", os.path.abspath(text))
