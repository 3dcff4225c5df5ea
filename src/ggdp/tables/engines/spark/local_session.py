"""A Spark session without messages on standard error.

A session that ggdp starts is a local one, bound to loopback, without a web page. Its Java process has no standard
output and no standard error at all, so that no row can reach them by a log, whatever the levels of logging are. What
it writes to disk between stages is encrypted, with a key that is only in memory. A session that the user has
started is used as it is.

PySpark itself writes the messages of failed queries, with the values that they failed on, to the standard error of the
process that asked: `quiet` is around every call that makes Spark work.
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
from typing import TYPE_CHECKING

from ggdp.errors import GgdpError, MissingExtraError, install_hint

if TYPE_CHECKING:
    import logging
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

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
    """Return the active Spark session, or start a local one.

    Returns
    -------
    pyspark.sql.SparkSession
        The session of this thread, or the process's; where there is none, a new one on all cores of this machine.

    Raises
    ------
    MissingExtraError
        If PySpark is not installed, or Java is not or is older than 17.
    GgdpError
        If Spark could not be started.

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
    try:
        with _starting, quiet():
            return SparkSession.getActiveSession() or _default_session() or _started()
    except MissingExtraError:
        raise
    except Exception:
        # No data are open yet: unlike a source that cannot be read, this is not charged.
        message = "Spark could not be started. Start a session yourself to see why, and release its data frame"
        raise GgdpError(message) from None


def _default_session() -> SparkSession | None:
    """Return the session of this process, or the one its launcher provides; None if there is neither."""
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
        message = f"Spark needs Java {_LEAST_JAVA} or newer, and {state}: install one, or point JAVA_HOME to it"
        raise MissingExtraError(message)


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
