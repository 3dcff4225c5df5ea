"""Noise on Spark's executors, for tables of cells too large for the driver: drawn once, in the stage that writes it.

=========  ======================================================================================================
N, F       number of cells, and of files
W          cells of a file: ceil(N / F); file i holds the cells from i W to (i + 1) W - 1, whatever they count
part       one of Spark's partitions and the one task, or several attempts of it, that makes file i
=========  ======================================================================================================

Non-empty cells are shuffled to the part that their file is made by; there every Python worker draws noise from its own
stream (`ggdp.sampling.entropy`), and Spark writes what comes out as Parquet. Empty cells are never transferred: a
part knows which cells it has.

Claim (one draw). Each cell of the written directory has noise of exactly one draw, and no other draw is left anywhere.
Proof: the noise is drawn in the writing stage itself; after it there is no shuffle, sort, cache or second action, so
nothing evaluates it again. An attempt of a task (a retry, or a speculative copy) writes to a directory of its own. With
version 1 of Hadoop's committer an attempt's directory is renamed as a whole when Spark's output commit coordinator lets
it, which it does for one attempt of a part; all are moved to the output when all parts are done. (Version 2 moves each
attempt's files to the output at once: if its executor then dies before it can say so, the output has files of an
attempt that Spark takes for failed.) All of this happens in a hidden directory, which is renamed onto the requested
path after the last attempt has ended, or removed with all it holds. Executors that cannot be reached, or do not stop
within a minute, may leave draws in the hidden directory's place, never in the requested one: do not publish that.

Claim (nothing else is revealed). Number and names of the files, but for random digits, the cells that each may hold,
types and metadata are functions of the request. Which rows a file holds, how they are encoded and grouped is a function
of the released rows alone: the writer is given nothing else. Files of thresholded releases that have no rows are
written too. Marks of success and checksums of Spark's own are removed.
"""

from __future__ import annotations

import hashlib
import secrets
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa

from ggdp.errors import ArgumentError
from ggdp.sampling.entropy import is_private
from ggdp.tables.engines.spark.executor_noise import NoiseTask, noised
from ggdp.tables.engines.spark.local_session import quiet
from ggdp.tables.engines.spark.output_directory import free, hidden, publish, tidied

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame
    from pyspark.sql.types import StructType

    from ggdp.sampling import Source

_WRITER = {
    "compression": "snappy",
    "maxRecordsPerFile": "0",
    "mapreduce.fileoutputcommitter.algorithm.version": "1",
    "mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    "spark.sql.parquet.output.committer.class": "org.apache.parquet.hadoop.ParquetOutputCommitter",
}
_COMMITTER = {
    "spark.sql.sources.commitProtocolClass": (
        "org.apache.spark.sql.execution.datasources.SQLHadoopMapReduceCommitProtocol"
    ),
    "spark.hadoop.outputCommitCoordination.enabled": "true",
}
_LONGEST_WAIT = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenCells:
    """What `release_cells` has written.

    Attributes
    ----------
    path : Path
        The directory.
    files : tuple of str
        Names of its files, in the order of their cells.
    rows : int, optional
        How many rows there are, where that is known without a look at the files: None where cells are left out.
    private : bool
        Whether the noise came from the operating system, so that a release of it may carry a guarantee.
    """

    path: Path
    files: tuple[str, ...]
    rows: int | None
    private: bool


def release_cells(
    counted: DataFrame, task: NoiseTask, path: str | os.PathLike[str], false_cells: pa.Table | None = None
) -> WrittenCells:
    """Draw the noise of a table of counts on Spark's executors, and write the table as a directory of Parquet files.

    Parameters
    ----------
    counted : pyspark.sql.DataFrame
        The non-empty cells: ``cell``, the index in domain order, and ``count``, both 64-bit integers. It may be
        evaluated more than once, so it must be the same each time.
    task : NoiseTask
        The noise, and the columns that are written.
    path : path
        The directory to create, on a file system that the driver and all executors share; it must not exist.
    false_cells : pyarrow.Table, optional
        With a threshold: empty cells that are released, ``cell`` and ``noisy``, as their law has them.

    Returns
    -------
    WrittenCells
        Where it is. Nothing of it is in the memory of this process, and nothing of it is drawn when it is read.

    Raises
    ------
    ArgumentError
        If the path exists, or the session was told to commit files in a way of its own. Whether it is raised never
        depends on the counts.

    Notes
    -----
    Claim. The written table has the law of independent noise on the counts (of all cells, or of those in `counted`,
    kept if they are at or above the threshold and joined with the false cells). See the module's text for the draws,
    and for what else the directory tells. What Spark raises is passed on as it is, and holds values: the caller must
    not show it.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from ggdp import IntegerNoise
    >>> from ggdp.tables.engines.spark.local_session import session
    >>> counted = session().createDataFrame([(0, 12), (2, 30)], "cell long, count long")  # doctest: +SKIP
    >>> keys = (("sex", pa.array(["f", "m"])), ("smokes", pa.array(["no", "yes"])))
    >>> task = NoiseTask(columns=keys, noise=IntegerNoise(order=1, scale=1.0), half_width=3)
    >>> release_cells(counted, task, "table.parquet").rows  # doctest: +SKIP
    4
    """
    target = free(path)
    if false_cells is not None and task.threshold is None:
        raise ArgumentError("false_cells", "a table", "needs a threshold")
    require_committer(counted)
    with quiet(), hidden(target) as directory:
        with _followed(counted):
            noisy = _noised_frame(counted, task, false_cells)
            noisy.write.mode("errorifexists").options(**_WRITER).parquet(f"file://{directory / 'cells'}")
        names = tidied(directory / "cells", task)
        publish(directory / "cells", target)
    return WrittenCells(
        path=target,
        files=names,
        rows=None if task.threshold is not None or task.impossible else task.total_cells,
        private=_is_private(task.source),
    )


def digests(written: WrittenCells) -> dict[str, str]:
    """Return the SHA-256 of each file by its name, in the order of the cells.

    Parameters
    ----------
    written : WrittenCells
        What `release_cells` has returned.
    """
    found = {}
    for name in written.files:
        with (written.path / name).open("rb") as file:
            found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _is_private(source: Source | None) -> bool:
    """Return whether parts have independent bits of the operating system, regardless of the source's own flag."""
    return source is None or is_private(source)


def _noised_frame(counted: DataFrame, task: NoiseTask, false_cells: pa.Table | None) -> DataFrame:
    """Return the frame whose evaluation draws the noise; it is used only by the writer."""
    from pyspark.sql import functions

    session, cell = counted.sparkSession, functions.col("cell")
    nothing = functions.lit(None).cast("long")
    rows = counted.select(cell.cast("long"), functions.col("count").cast("long"), nothing.alias("noisy"))
    rows = rows.where(cell.between(0, task.total_cells - 1))
    if false_cells is not None:
        drawn = pa.table({name: false_cells[name].cast(pa.int64()) for name in ("cell", "noisy")})
        rows = rows.union(session.createDataFrame(drawn).select("cell", nothing, "noisy"))
    # A row for each part, so that Spark does not skip parts without any, or the whole plan if all cells are empty.
    marks = session.range(task.files).select((functions.col("id") * task.width).alias("cell"), nothing, nothing)
    part = functions.expr(f"cast(cell div {task.width} as int)")
    rows = rows.union(marks).repartitionById(task.files, part)
    if task.threshold is not None:
        rows = rows.sortWithinPartitions("cell")
    return rows.mapInArrow(partial(noised, task=task), _spark_schema(task))


def _spark_schema(task: NoiseTask) -> StructType:
    """Return the schema of the released rows as Spark has it."""
    from pyspark.sql import types

    kinds = {
        pa.string(): types.StringType(),
        pa.int64(): types.LongType(),
        pa.bool_(): types.BooleanType(),
        pa.date32(): types.DateType(),
    }
    return types.StructType([types.StructField(field.name, kinds[field.type]) for field in task.schema])


def require_committer(frame: DataFrame) -> None:
    """Raise if a session is configured to commit files in a way that breaks the claim; the write sets the rest."""
    for setting, needed in _COMMITTER.items():
        value = frame.sparkSession.conf.get(setting, needed)
        if value != needed:
            raise ArgumentError(setting, value, f"must be {needed!r}: otherwise a retried task may leave two draws")


@contextmanager
def _followed(frame: DataFrame) -> Iterator[None]:
    """Wait, after what is done inside, until no attempt of its tasks is left that could still write a draw."""
    context, group = frame.sparkSession.sparkContext, f"ggdp-{secrets.token_hex(8)}"
    names = ("spark.jobGroup.id", "spark.job.description", "spark.job.interruptOnCancel")
    before = {name: context.getLocalProperty(name) for name in names}
    context.setJobGroup(group, "ggdp: noise on executors", interruptOnCancel=True)
    try:
        yield
    finally:
        # An error on the driver does not stop what runs elsewhere.
        context.cancelJobGroup(group)
        for name, value in before.items():
            context.setLocalProperty(name, value)
        tracker = context.statusTracker()
        stages = [
            stage
            for job in tracker.getJobIdsForGroup(group)
            if (info := tracker.getJobInfo(job))
            for stage in info.stageIds
        ]
        end = time.monotonic() + _LONGEST_WAIT
        while any((info := tracker.getStageInfo(stage)) and info.numActiveTasks for stage in stages):
            if time.monotonic() > end:
                break
            time.sleep(0.05)
