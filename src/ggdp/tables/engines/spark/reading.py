"""Files as frames of a Spark session.

CSV files and lines of JSON are cut into records by the same code as everywhere (`ggdp.tables.engines.text_files`),
which runs in the executors' Python workers, one file to a task: Spark's own readers guess where a line ends. Parquet
files are read by Spark itself.

References
----------
Apache Spark 4, "Parquet Files" (options of the data source) and "Python Arrow UDFs" (`mapInArrow`).
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ggdp.errors import ArgumentError
from ggdp.tables.engines.frames import safe_name
from ggdp.tables.engines.kinds import unparsable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from ggdp.tables.column import Column
    from ggdp.tables.engines.files import Files

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
    from ggdp.tables.engines.duckdb.database import connected
    from ggdp.tables.engines.duckdb.reading import json_rows, text_stream

    schema = pa.schema([(safe_name(name), pa.string()) for name in declared])
    connection = connected()
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


def require_told_apart(paths: Sequence[str]) -> None:
    """Refuse Parquet files with columns whose names differ in case alone: Spark may not tell them apart."""
    import pyarrow.parquet as pq

    for path in paths:
        found: dict[str, str] = {}
        for name in pq.read_schema(path).names:
            other = found.setdefault(name.lower(), name)
            if other != name:
                what = f"are columns of {path} that Spark cannot tell apart: rename one, or use engine duckdb"
                raise ArgumentError("data", [other, name], what)


def readable(frame: DataFrame, declared: Mapping[str, Column | None]) -> DataFrame:
    """Return declared columns of a frame, under safe names; text that is not valid UTF-8 has no text (`kinds`)."""
    from pyspark.sql import functions
    from pyspark.sql.types import StringType

    def column(name: str, declared: Column | None) -> Any:  # noqa: ANN401 - a column of classic Spark, or of Connect
        found = functions.col(name)
        if not isinstance(frame.schema[name].dataType, StringType):
            return found
        text = functions.coalesce(functions.try_validate_utf8(found), functions.lit(unparsable(declared)))
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
