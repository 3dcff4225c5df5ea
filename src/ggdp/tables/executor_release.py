"""Tables too large for the driver of a Spark cluster: counted, drawn and written by its executors.

=========  ======================================================================================================
N, F       number of cells, and of files
W          cells of a file: ceil(N / F); file i holds the cells from i W to (i + 1) W - 1, whatever they count
part       one of Spark's partitions and the one task, or several attempts of it, that makes file i
=========  ======================================================================================================

Non-empty cells are shuffled to the part that their file is made by; there every Python worker draws noise from its own
stream (`ggdp.noise.entropy`), and Spark writes what comes out as Parquet. Empty cells are never transferred: a
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

A directory is written next to its target under a random hidden name, and renamed onto it at the end; whatever fails,
the hidden one is removed with all it holds. Of a finished one only the files of parts are left, one for each part.

=======  =============================================================================================
N, m     number of declared cells, and of those that are not empty; m never leaves the driver
tau      the least noisy count of a cell that a sparse table shows
k        Binomial(N - m, P(K >= tau)), how many empty cells of it are shown; K the noise of one cell
=======  =============================================================================================

False cells of a sparse table are drawn on the driver: uniform cells, one after another, without those drawn before and
without those that Spark finds among the non-empty ones. Claim: the first k that are left are a uniform set of k empty
cells. Proof: that is drawing empty cells one by one without replacement, with draws in between that change nothing.
Cells that cannot occur are among the N; those drawn are left out at the end, and the others keep their law, since all
cells are independent.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import secrets
import shutil
import time
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ggdp.errors import ArgumentError, GgdpError
from ggdp.ledger.chain import EntryReference
from ggdp.noise.entropy import SECURE, uniform_integers
from ggdp.releases.adjustments import clip
from ggdp.releases.release import charged_to, make_release
from ggdp.sources.engine import hide_errors
from ggdp.sources.spark import quiet
from ggdp.tables.executor_noise import NoiseTask, add_noise
from ggdp.tables.output_files import put
from ggdp.tables.table_manifest import covered, table_manifest
from ggdp.tables.table_release import ArrowViews, TableRelease, allowance, level_of, tables_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from matplotlib.figure import Figure
    from numpy.typing import NDArray
    from pyspark.sql import DataFrame

    from ggdp.domain.table_domain import Domain
    from ggdp.noise import Source
    from ggdp.privacy import Guarantee
    from ggdp.releases import Release
    from ggdp.sources.query import CountQuery, TableSource
    from ggdp.tables.request import TableRequest
    from ggdp.tables.table_plan import TablePlan
    from ggdp.tables.units_over_limit import CutCount


_PART = re.compile(r"part-(\d{5,})-.*\.parquet")


def require_free(path: str | os.PathLike[str]) -> Path:
    """Return the path of a directory that can be created."""
    text = os.fspath(path)
    if "://" in text:
        raise ArgumentError("path", text, "must be a directory on a file system shared by driver and executors")
    target = Path(os.path.abspath(text))
    if os.path.lexists(target):
        raise ArgumentError("path", text, "already exists; a release never replaces another one")
    if not target.parent.is_dir():
        raise ArgumentError("path", text, "the directory to create it in does not exist")
    return target


@contextmanager
def hidden_directory(target: Path) -> Iterator[Path]:
    """Make a directory beside the target, and remove it with all it holds."""
    made = target.with_name(f".{target.name}.{secrets.token_hex(8)}")
    made.mkdir()
    try:
        yield made
    finally:
        shutil.rmtree(made, ignore_errors=True)
        if made.exists():
            raise GgdpError(f"{made} cannot be removed; remove it, and never publish what is in it")


def keep_parts(directory: Path, task: NoiseTask) -> tuple[str, ...]:
    """Keep one file for each part, remove all others, and return their names in the order of the cells."""
    found: dict[int, Path] = {}
    for found_path in sorted(directory.iterdir()):
        match = _PART.fullmatch(found_path.name)
        if match is None:
            shutil.rmtree(found_path) if found_path.is_dir() else found_path.unlink()
        elif found.setdefault(int(match.group(1)), found_path) is not found_path:
            raise GgdpError("Spark has written two files for one part; nothing was released")
    if 0 not in found or max(found) >= task.files or (task.threshold is None and len(found) != task.files):
        raise GgdpError("Spark has written unexpected files; nothing was released")
    # Spark writes no file for a part without rows, but for the first.
    schema = pq.read_schema(found[0])
    for part in range(task.files):
        if part not in found:
            found[part] = found[0].with_name(f"part-{part:05d}{found[0].name.removeprefix('part-00000')}")
            with pq.ParquetWriter(found[part], schema, compression="snappy", store_schema=False) as empty:
                empty.add_key_value_metadata(schema.metadata)
    return tuple(found[part].name for part in sorted(found))


def publish(directory: Path, target: Path) -> None:
    """Rename a directory onto a path that does not exist."""
    try:
        # Creating it fails if it exists by now; renaming onto an empty directory of our own does not.
        target.mkdir()
    except FileExistsError:
        raise ArgumentError("path", str(target), "already exists; a release never replaces another one") from None
    try:
        directory.rename(target)
    except BaseException:
        target.rmdir()
        raise


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
    """What `release_cells` has written: a directory, and its files in the order of their cells.

    `rows` is None where cells are left out, so that only the files tell. `private` says that the noise came from the
    operating system, so that a release of it may carry a guarantee.
    """

    path: Path
    files: tuple[str, ...]
    rows: int | None
    private: bool


def release_cells(
    counted: DataFrame, task: NoiseTask, path: str | os.PathLike[str], false_cells: pa.Table | None = None
) -> WrittenCells:
    """Draw the noise of a table of counts on Spark's executors, and write the table as a directory of Parquet files.

    `counted` has the non-empty cells: ``cell``, the index in domain order, and ``count``, both 64-bit integers. It may
    be evaluated more than once, so it must be the same each time. `path` must not exist, and be on a file system that
    the driver and all executors share. With a threshold, `false_cells` are empty cells that are released (``cell`` and
    ``noisy``), as their law has them. Whether an ArgumentError is raised never depends on the counts.

    Claim. The written table has the law of independent noise on the counts (of all cells, or of those in `counted`,
    kept if they are at or above the threshold and joined with the false cells). See the module's text for the draws,
    and for what else the directory tells. What Spark raises is passed on as it is, and holds values: the caller must
    not show it.
    """
    target = require_free(path)
    if false_cells is not None and task.threshold is None:
        raise ArgumentError("false_cells", "a table", "needs a threshold")
    require_committer(counted)
    with quiet(), hidden_directory(target) as directory:
        with _follow(counted):
            noisy = _noise_frame(counted, task, false_cells)
            noisy.write.mode("errorifexists").options(**_WRITER).parquet(f"file://{directory / 'cells'}")
        names = keep_parts(directory / "cells", task)
        publish(directory / "cells", target)
    return WrittenCells(
        path=target,
        files=names,
        rows=None if task.threshold is not None or task.impossible else task.total_cells,
        private=task.private,
    )


def digests(written: WrittenCells) -> dict[str, str]:
    """Return the SHA-256 of each file by its name, in the order of the cells."""
    found = {}
    for name in written.files:
        with (written.path / name).open("rb") as file:
            found[name] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _noise_frame(counted: DataFrame, task: NoiseTask, false_cells: pa.Table | None) -> DataFrame:
    """Return the frame whose evaluation draws the noise; it is used only by the writer."""
    from pyspark.sql import functions
    from pyspark.sql.pandas.types import from_arrow_schema

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
    return rows.mapInArrow(partial(add_noise, task=task), from_arrow_schema(task.schema))


def require_committer(frame: DataFrame) -> None:
    """Raise if a session is configured to commit files in a way that breaks the claim; the write sets the rest."""
    for setting, needed in _COMMITTER.items():
        value = frame.sparkSession.conf.get(setting, needed)
        if value != needed:
            raise ArgumentError(setting, value, f"must be {needed!r}: otherwise a retried task may leave two draws")


@contextmanager
def _follow(frame: DataFrame) -> Iterator[None]:
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


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class WrittenRelease(ArrowViews):
    """A private table that Spark has written, with its guarantee. Made by `ggdp.release_table`.

    Attributes
    ----------
    plan : TablePlan
        The plan: the request, the noise and the threshold.
    path : Path
        The directory of Parquet files.
    manifest : dict
        All that a reader must know, as it stands beside the directory.
    cut : tuple of CutCount
        With `count_cut`: how many units are in more cells than they are counted in, privately.
    guarantee : PureDP, ApproxDP or None
        What is proved of the table; None if its noise came from a seed, or the record was made by hand.
    """

    plan: TablePlan
    path: Path
    manifest: dict[str, Any]
    cut: tuple[CutCount, ...] = ()
    guarantee: Guarantee | None = field(init=False, default=None)

    @property
    def request(self) -> TableRequest:
        """The request."""
        return self.plan.request

    def load(self) -> TableRelease:
        """Read the table into memory, if its files are those that were released."""
        parts = self.manifest["table"]["tables"][0]["parts"]
        files = [(self.path.parent / part["url"], part["sha256"]) for part in parts]
        for file, digest in files:
            with file.open("rb") as content:
                if hashlib.file_digest(content, "sha256").hexdigest() != digest:
                    raise ArgumentError("path", str(self.path), f"{file.name} is not the file that was released")
        table = pq.ParquetDataset([file for file, _ in files], partitioning=None).read().replace_schema_metadata(None)
        noisy = make_release(table["noisy_count"].to_numpy(), self.plan.described_mechanism, self.guarantee)
        entry = self.manifest.get("ledger")
        release = charged_to(_adjust(noisy, self.request), None if entry is None else EntryReference(**entry))
        keys = table.select(list(self.request.by[0])).combine_chunks()
        tables = tables_of(release, self.plan, [keys], self.cut)
        return TableRelease(plan=self.plan, release=release, tables=tables, cut=self.cut)

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of the files that were written, the manifest among them, by their names."""
        manifest = self.path.with_name(f"{self.path.stem}.manifest.json")
        parts = {part["url"]: part["sha256"] for part in self.manifest["table"]["tables"][0]["parts"]}
        return parts | {manifest.name: hashlib.sha256(manifest.read_bytes()).hexdigest()}

    def to_arrow(self) -> pa.Table:
        """Read the table as an Arrow table."""
        return self.load().to_arrow()

    def to_numpy(self) -> NDArray[np.int64]:
        """Read the counts as an array."""
        return self.load().to_numpy()

    def plot(self, *, title: str | None = None, unit: str | None = None) -> Figure:
        """Read the table and draw it; needs the extra `plots`."""
        return self.load().plot(title=title, unit=unit)

    def __repr__(self) -> str:
        guarantee = "NOT PRIVATE: no guarantee" if self.guarantee is None else str(self.guarantee)
        return f"WrittenRelease, {guarantee}\n  {' x '.join(self.request.by[0])}: {self.path}"


@dataclass(frozen=True, slots=True)
class ExecutorRelease:
    """A release of one marginal that executors will draw and write: the lazy counts, and the executors' work."""

    name: str
    counted: Any
    task: NoiseTask
    plan: TablePlan
    bits: Source

    @classmethod
    def prepare(cls, opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> ExecutorRelease:
        """Raise whatever can be refused without a row: columns and sizes, and how the session commits files."""
        counted = opened.lazy_cells(query)
        require_committer(counted)
        return cls(opened.name, counted, _noise_task(plan, bits), plan, bits)


def release_on_executors(
    prepared: ExecutorRelease,
    cut: tuple[CutCount, ...] = (),
    entry: EntryReference | None = None,
    key: Ed25519PrivateKey | None = None,
) -> WrittenRelease:
    """Draw and write a table of one marginal on the executors, with its manifest beside it.

    Claim: as that of `ggdp.release_table`, for counts that are drawn elsewhere (`executor_release`). Clamping for the
    sake of probabilistic DP is not done there, so approximate DP is what is left of it.
    """
    plan = prepared.plan
    written = hide_errors(prepared.name, lambda: _write_cells(prepared, cut))
    guarantee = plan.guarantee.after_postprocessing() if written.private else None
    try:
        manifest = _manifest(written, plan, guarantee, cut, entry)
        text = json.dumps(manifest, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
        put({plan.files[1]: text.encode()}, str(plan.out), overwrite=False, key=key)
    except BaseException:
        # A table without its manifest is half a release.
        shutil.rmtree(written.path, ignore_errors=True)
        raise
    release = WrittenRelease(plan=plan, path=written.path, manifest=manifest, cut=cut)
    object.__setattr__(release, "guarantee", guarantee)
    return release


def _noise_task(plan: TablePlan, bits: Source) -> NoiseTask:
    (domain,) = plan.request.domains
    law, threshold, level = plan.mechanism.law, plan.threshold, level_of(plan, 0)
    return NoiseTask(
        columns=tuple((column.name, column.values) for column in domain),
        noise=plan.mechanism.noise,
        half_width=int(law.half_width(level)),
        nonnegative=plan.request.nonnegative,
        threshold=None if threshold is None else threshold.value,
        certain_above=None if threshold is None else threshold.last_maybe_empty(law, level),
        covers=covered(plan.request, 0),
        impossible=domain.impossible_codes,
        source=None if bits is SECURE else bits,
    )


def _write_cells(prepared: ExecutorRelease, cut: Sequence[CutCount]) -> WrittenCells:
    """Draw on the executors and write, false cells included."""
    plan, counted, task = prepared.plan, prepared.counted, replace(prepared.task, allowance=allowance(cut, 0))
    assert plan.out is not None
    if plan.threshold is None:
        return release_cells(counted, task, plan.out)
    (domain,) = plan.request.domains
    counted = counted.persist()
    try:
        return release_cells(counted, task, plan.out, _false_cells(counted, plan, domain, prepared.bits))
    finally:
        counted.unpersist()


def _false_cells(counted: Any, plan: TablePlan, domain: Domain, bits: Source) -> pa.Table:  # noqa: ANN401
    """Return empty cells that are shown, and their noisy counts."""
    assert plan.threshold is not None

    def places(size: int) -> NDArray[np.int64]:
        drawn: dict[int, None] = {}
        while len(drawn) < size:
            new = [
                cell for cell in uniform_integers(domain.size, size - len(drawn), bits).tolist() if cell not in drawn
            ]
            frame = counted.sparkSession.createDataFrame(pa.table({"cell": pa.array(dict.fromkeys(new), pa.int64())}))
            taken = set(frame.join(counted, "cell", "left_semi").toArrow()["cell"].to_pylist()) if new else set()
            drawn |= {cell: None for cell in new if cell not in taken}
        return np.fromiter(drawn, dtype=np.int64, count=len(drawn))

    empty = domain.size - counted.count()
    cells, noisy = plan.mechanism.noise.false_cells(plan.threshold.value, empty=empty, places=places, source=bits)
    possible = domain.possible(cells)
    return pa.table({"cell": pa.array(cells[possible]), "noisy": pa.array(noisy[possible])})


def _manifest(
    written: WrittenCells,
    plan: TablePlan,
    guarantee: Guarantee | None,
    cut: Sequence[CutCount],
    entry: EntryReference | None,
) -> dict[str, Any]:
    sums = digests(written)
    listing = "".join(f"{digest}  {name}\n" for name, digest in sums.items())
    file = {
        "url": written.path.name,
        "sha256": hashlib.sha256(listing.encode()).hexdigest(),
        "parts": [{"url": f"{written.path.name}/{name}", "sha256": digest} for name, digest in sums.items()],
    }
    rows = written.rows
    if rows is None:
        rows = sum(pq.read_metadata(written.path / name).num_rows for name in written.files)
    described = replace(plan.described, guarantee=guarantee, entry=entry, shape=(rows,))
    return table_manifest(plan, described, files=[file], cut=cut)


def _adjust(release: Release, request: TableRequest) -> Release:
    return clip(release, lower=0) if request.nonnegative else release
