"""Tables too large for the driver of a Spark cluster: counted, drawn and written by its executors.

=========  ======================================================================================================
N, F       number of cells, and of files
W          cells of a file: ceil(N / F); file i holds the cells from i W to (i + 1) W - 1, whatever they count
part       one of Spark's partitions and the one task, or several attempts of it, that makes file i
real       a row of a non-empty cell: it has a count, and gets noise in its part
false      a row of an empty cell that is released: its noisy count was drawn elsewhere
mark       a row with neither, which every part has so that it exists
m          number of cells that are not empty; it never leaves the driver
tau        the least noisy count of a cell that a sparse table shows
k          Binomial(N - m, P(K >= tau)), how many empty cells of it are shown; K the noise of one cell
=========  ======================================================================================================

Non-empty cells are shuffled to the part that their file is made by, and Spark writes what comes out as Parquet. Empty
cells are never transferred: a part knows which cells it has. Each Python worker of Spark is a process of its own, and
so has its own stream of random bits, keyed by the operating system (`ggdp.noise.entropy`); tasks that one worker does
one after another read on in it.

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
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from ggdp import _validate
from ggdp.errors import ArgumentError, GgdpError
from ggdp.ledger.chain import EntryReference
from ggdp.noise import SeededSource, Source
from ggdp.noise.entropy import SECURE, Integers, checked_source, is_private, uniform_integers
from ggdp.releases.adjustments import clip
from ggdp.releases.release import charged_to, make_release
from ggdp.sources.engine import hide_errors
from ggdp.sources.spark import quiet
from ggdp.tables.output_files import write_files
from ggdp.tables.request import COUNTS, COVERS
from ggdp.tables.table_manifest import coverage, table_manifest
from ggdp.tables.table_release import ArrowViews, Table, TableRelease, table_intervals, tables_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from matplotlib.figure import Figure
    from pyspark.sql import DataFrame

    from ggdp.domain.table_domain import Domain
    from ggdp.privacy import Guarantee
    from ggdp.sources.query import CountQuery, TableSource
    from ggdp.tables.table_plan import TablePlan
    from ggdp.tables.units_over_limit import CutCount


# Rows that are drawn and handed to the writer together.
_BATCH = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseTask:
    """Parameters of an executor's work; none of them comes from the data but through a mechanism."""

    # Of one table of declared cells. Every process that draws proves the certificate of its noise, once.
    plan: TablePlan
    # How many units are cut, which raises the upper ends of intervals.
    cut: tuple[CutCount, ...] = ()
    # By default one file for each 2^20 cells, or 16 with a threshold.
    most_files: int | None = None
    # A seeded source gives each part a stream of its own, made from the seed. Any other is copied to each part as it
    # is: its copies may not be independent, so it is not private.
    rng: Source | None = None

    def __post_init__(self) -> None:
        for name, following in pairwise(sorted(name.casefold() for name in (*self.domain.names, *COUNTS))):
            if name == following:
                raise ArgumentError(
                    "columns", name, "names must be different, ignoring case, and differ from those of the numbers"
                )
        if self.most_files is not None:
            _validate.integer(most_files=self.most_files, at_least=1)
        if self.rng is not None:
            checked_source(self.rng)

    @property
    def domain(self) -> Domain:
        """The domain of the one table."""
        (domain,) = self.plan.request.domains
        return domain

    @property
    def width(self) -> int:
        """How many cells a part has; the last one may have fewer."""
        total = self.domain.size
        by_default = -(-total // 2**20) if self.plan.threshold is None else 16
        # Spark numbers files with five digits; their names sort as numbers do up to 99,999.
        return -(-total // min(self.most_files or by_default, total, 99_999))

    @property
    def files(self) -> int:
        """How many parts there are, and files."""
        return -(-self.domain.size // self.width)

    @property
    def private(self) -> bool:
        """Whether parts have independent bits of the operating system, regardless of the source's own flag."""
        return self.rng is None or is_private(self.rng)

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the released columns."""
        keys = [pa.field(column.name, column.values.type) for column in self.domain]
        covers = [] if coverage(self.plan.request, 0) is None else [pa.field(COVERS, pa.string())]
        return pa.schema(keys + [pa.field(name, pa.int64()) for name in self.plan.request.count_columns] + covers)


def add_noise(batches: Iterable[pa.RecordBatch], *, task: NoiseTask) -> Iterator[pa.RecordBatch]:
    """Yield the released rows of one part. Runs on executors."""
    from pyspark import TaskContext

    context = TaskContext.get()
    part = -1 if context is None else context.partitionId()
    if not 0 <= part < task.files:
        raise GgdpError("Spark has partitioned the cells differently than requested; nothing was released")
    rng = task.rng
    if isinstance(rng, SeededSource):
        digest = hashlib.sha256(b"ggdp part %d of seed %d" % (part, rng.seed)).digest()
        rng = SeededSource(seed=int.from_bytes(digest, "big"))
    first = part * task.width
    checked = _check_cells(batches, first, task.width)
    released = (_every_cell if task.plan.threshold is None else _kept_cells)(checked, task, first, rng)
    domain, request = task.domain, task.plan.request
    covers = coverage(request, 0)
    for drawn, noisy_drawn in released:
        # Of the cells that can occur: keys from the index, and numbers from the noisy count.
        possible = domain.possible(drawn)
        cells, noisy = drawn[possible], noisy_drawn[possible]
        keys = [column.values.take(pa.array(code)) for column, code in zip(domain, domain.codes(cells), strict=True)]
        count = np.maximum(noisy, 0) if request.nonnegative else noisy
        written = zip(COUNTS, (count, noisy, *table_intervals(task.plan, 0, noisy, task.cut)), strict=True)
        numbers = [pa.array(x) for name, x in written if name in request.count_columns]
        said = [] if covers is None else [pa.repeat(covers, noisy.size)]
        yield pa.record_batch([*keys, *numbers, *said], schema=task.schema)


def _check_cells(batches: Iterable[pa.RecordBatch], first: int, width: int) -> Iterator[pa.RecordBatch]:
    """Yield batches after checking that all their cells belong to the part."""
    for batch in batches:
        places = batch.column("cell").to_numpy(zero_copy_only=False) - first
        if places.size and not (places.min() >= 0 and places.max() < width):
            raise GgdpError("Spark has put cells into the wrong partition; nothing was released")
        yield batch


def _every_cell(
    batches: Iterable[pa.RecordBatch], task: NoiseTask, first: int, rng: Source | None
) -> Iterator[tuple[Integers, Integers]]:
    """Yield all cells of the part from cell `first` on, with noise."""
    counts = np.zeros(min(task.width, task.domain.size - first), dtype=np.int64)
    for batch in batches:
        found = batch.filter(batch.column("count").is_valid())
        np.add.at(counts, found.column("cell").to_numpy() - first, found.column("count").to_numpy())
    for start in range(0, counts.size, _BATCH):
        true = counts[start : start + _BATCH]
        yield np.arange(first + start, first + start + true.size), task.plan.mechanism.noise.add(true, rng)


def _kept_cells(
    batches: Iterable[pa.RecordBatch], task: NoiseTask, _: int, rng: Source | None
) -> Iterator[tuple[Integers, Integers]]:
    """Yield the non-empty cells whose noisy counts are at least the threshold, and the false cells unchanged."""
    assert task.plan.threshold is not None
    for batch in batches:
        cells = batch.column("cell").to_numpy()
        real, false = (batch.column(name).is_valid().to_numpy(zero_copy_only=False) for name in ("count", "noisy"))
        noisy = batch.column("noisy").fill_null(0).to_numpy().copy()
        true = batch.column("count").fill_null(0).to_numpy()[real]
        noisy[real] = task.plan.mechanism.noise.add(true, rng)
        kept = false | (real & (noisy >= task.plan.threshold.value))
        if kept.any():
            yield cells[kept], noisy[kept]


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
        match = re.fullmatch(r"part-(\d{5,})-.*\.parquet", found_path.name)
        if match is None:
            shutil.rmtree(found_path) if found_path.is_dir() else found_path.unlink()
        elif found.setdefault(int(match.group(1)), found_path) is not found_path:
            raise GgdpError("Spark has written two files for one part; nothing was released")
    if 0 not in found or max(found) >= task.files or (task.plan.threshold is None and len(found) != task.files):
        raise GgdpError("Spark has written unexpected files; nothing was released")
    # Spark writes no file for a part without rows, but for the first.
    schema = pq.read_schema(found[0])
    for part in range(task.files):
        if part not in found:
            found[part] = found[0].with_name(f"part-{part:05d}{found[0].name.removeprefix('part-00000')}")
            with pq.ParquetWriter(found[part], schema, compression="snappy", store_schema=False) as empty:
                empty.add_key_value_metadata(schema.metadata)
    return tuple(found[part].name for part in sorted(found))


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


def release_cells(
    counted: DataFrame, task: NoiseTask, path: str | os.PathLike[str], false_cells: pa.Table | None = None
) -> tuple[Path, ...]:
    """Draw the noise of a table of counts on Spark's executors, and write the table as a directory of Parquet files.

    The files come back in the order of their cells; there is at least one.

    `counted` has the non-empty cells: ``cell``, the index in domain order, and ``count``, both 64-bit integers. It may
    be evaluated more than once, so it must be the same each time. `path` must not exist, and be on a file system that
    the driver and all executors share. With a threshold, `false_cells` are empty cells that are released (``cell`` and
    ``noisy``), as their law has them. Whether an ArgumentError is raised never depends on the counts.

    Claim. The written table has the law of independent noise on the counts (of all cells, or of those in `counted`,
    kept if they are at or above the threshold and joined with the false cells). See the module's text for the draws,
    and for what else the directory tells. What Spark raises is passed on as it is, and holds values: the caller must
    not show it.
    """
    text = os.fspath(path)
    target = Path(os.path.abspath(text))
    for wrong, said in (
        ("://" in text, "must be a directory on a file system shared by driver and executors"),
        (os.path.lexists(target), "already exists; a release never replaces another one"),
        (not target.parent.is_dir(), "the directory to create it in does not exist"),
    ):
        if wrong:
            raise ArgumentError("path", text, said)
    if false_cells is not None and task.plan.threshold is None:
        raise ArgumentError("false_cells", "a table", "needs a threshold")
    require_committer(counted)
    with quiet(), hidden_directory(target) as directory:
        with _follow(counted):
            noisy = _noise_frame(counted, task, false_cells)
            noisy.write.mode("errorifexists").options(**_WRITER).parquet(f"file://{directory / 'cells'}")
        names = keep_parts(directory / "cells", task)
        try:
            # Creating it fails if it exists by now; renaming onto an empty directory of our own does not.
            target.mkdir()
        except FileExistsError:
            raise ArgumentError("path", str(target), "already exists; a release never replaces another one") from None
        try:
            (directory / "cells").rename(target)
        except BaseException:
            target.rmdir()
            raise
    return tuple(target / name for name in names)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _noise_frame(counted: DataFrame, task: NoiseTask, false_cells: pa.Table | None) -> DataFrame:
    """Return the frame whose evaluation draws the noise; it is used only by the writer."""
    from pyspark.sql import functions
    from pyspark.sql.pandas.types import from_arrow_schema

    session, cell = counted.sparkSession, functions.col("cell")
    nothing = functions.lit(None).cast("long")
    rows = counted.select(cell.cast("long"), functions.col("count").cast("long"), nothing.alias("noisy"))
    rows = rows.where(cell.between(0, task.domain.size - 1))
    if false_cells is not None:
        drawn = pa.table({name: false_cells[name].cast(pa.int64()) for name in ("cell", "noisy")})
        rows = rows.union(session.createDataFrame(drawn).select("cell", nothing, "noisy"))
    # A row for each part, so that Spark does not skip parts without any, or the whole plan if all cells are empty.
    marks = session.range(task.files).select((functions.col("id") * task.width).alias("cell"), nothing, nothing)
    part = functions.expr(f"cast(cell div {task.width} as int)")
    rows = rows.union(marks).repartitionById(task.files, part)
    if task.plan.threshold is not None:
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
        end = time.monotonic() + 60.0
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

    def load(self) -> TableRelease:
        """Read the table into memory, if its files are those that were released."""
        files = []
        for part in self.manifest["table"]["tables"][0]["parts"]:
            files.append(self.path.parent / part["url"])
            if _digest(files[-1]) != part["sha256"]:
                raise ArgumentError("path", str(self.path), f"{files[-1].name} is not the file that was released")
        table = pq.ParquetDataset(files, partitioning=None).read().replace_schema_metadata(None)
        raw = "noisy_count" if "noisy_count" in table.column_names else "count"
        noisy = make_release(table[raw].to_numpy(), self.plan.described_mechanism, self.guarantee)
        entry = self.manifest.get("ledger")
        release = clip(noisy, lower=0) if self.plan.request.nonnegative else noisy
        charged_to(release, None if entry is None else EntryReference(**entry))
        keys = table.select(list(self.plan.request.by[0])).combine_chunks()
        tables = tables_of(release, self.plan, [keys], self.cut)
        return TableRelease(plan=self.plan, release=release, tables=tables, cut=self.cut)

    @property
    def digests(self) -> dict[str, str]:
        """The SHA-256 of the files that were written, the manifest among them, by their names."""
        manifest = self.path.with_name(f"{self.path.stem}.manifest.json")
        parts = {part["url"]: part["sha256"] for part in self.manifest["table"]["tables"][0]["parts"]}
        return parts | {manifest.name: _digest(manifest)}

    def __getitem__(self, by: str | tuple[str, ...]) -> Table:
        """Read the table, by its columns as in `TableRelease`."""
        return self.load()[by]

    def to_arrow(self) -> pa.Table:
        """Read the table as an Arrow table."""
        return self.load().to_arrow()

    def to_numpy(self) -> Integers:
        """Read the counts as an array."""
        return self.load().to_numpy()

    def plot(self, *, title: str | None = None, unit: str | None = None) -> Figure:
        """Read the table and draw it; needs the extra `plots`."""
        return self.load().plot(title=title, unit=unit)

    def __repr__(self) -> str:
        guarantee = "NOT PRIVATE: no guarantee" if self.guarantee is None else str(self.guarantee)
        return f"WrittenRelease, {guarantee}\n  {' x '.join(self.plan.request.by[0])}: {self.path}"


@dataclass(frozen=True, slots=True)
class ExecutorRelease:
    """A release of one marginal that executors will draw and write: the lazy counts, and the executors' work."""

    name: str
    counted: Any
    task: NoiseTask

    @classmethod
    def prepare(cls, opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> ExecutorRelease:
        """Raise whatever can be refused without a row: columns and sizes, and how the session commits files."""
        counted = opened.lazy_cells(query)
        require_committer(counted)
        task = NoiseTask(plan=plan, rng=None if bits is SECURE else bits)
        return cls(opened.name, counted, task)


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
    plan, task = prepared.task.plan, replace(prepared.task, cut=cut)

    def write() -> tuple[Path, ...]:
        assert plan.out is not None
        if plan.threshold is None:
            return release_cells(prepared.counted, task, plan.out)
        counted = prepared.counted.persist()
        try:
            return release_cells(counted, task, plan.out, _false_cells(counted, task))
        finally:
            counted.unpersist()

    files = hide_errors(prepared.name, write)
    guarantee, path = plan.guarantee.after_postprocessing() if task.private else None, files[0].parent
    try:
        parts = [{"url": f"{path.name}/{file.name}", "sha256": _digest(file)} for file in files]
        listing = "".join(f"{part['sha256']}  {file.name}\n" for part, file in zip(parts, files, strict=True))
        table = {"url": path.name, "sha256": hashlib.sha256(listing.encode()).hexdigest(), "parts": parts}
        rows = sum(pq.read_metadata(file).num_rows for file in files)
        described = replace(plan.described, guarantee=guarantee, entry=entry, shape=(rows,))
        manifest = table_manifest(plan, described, files=[table], cut=cut)
        text = json.dumps(manifest, indent=2, allow_nan=False, ensure_ascii=False) + "\n"
        write_files({plan.files[1]: text.encode()}, str(plan.out), overwrite=False, key=key)
    except BaseException:
        # A table without its manifest is half a release.
        shutil.rmtree(path, ignore_errors=True)
        raise
    release = WrittenRelease(plan=plan, path=path, manifest=manifest, cut=cut)
    object.__setattr__(release, "guarantee", guarantee)
    return release


def _false_cells(counted: Any, task: NoiseTask) -> pa.Table:  # noqa: ANN401
    """Return empty cells that are shown, and their noisy counts."""
    plan, domain, bits = task.plan, task.domain, checked_source(task.rng)
    assert plan.threshold is not None

    def places(size: int) -> Integers:
        drawn: dict[int, None] = {}
        while len(drawn) < size:
            uniform = uniform_integers(domain.size, size - len(drawn), bits).tolist()
            new = [cell for cell in uniform if cell not in drawn]
            frame = counted.sparkSession.createDataFrame(pa.table({"cell": pa.array(dict.fromkeys(new), pa.int64())}))
            taken = set(frame.join(counted, "cell", "left_semi").toArrow()["cell"].to_pylist()) if new else set()
            drawn |= {cell: None for cell in new if cell not in taken}
        return np.fromiter(drawn, dtype=np.int64, count=len(drawn))

    empty = domain.size - counted.count()
    cells, noisy = plan.mechanism.noise.false_cells(plan.threshold.value, empty=empty, places=places, rng=bits)
    possible = domain.possible(cells)
    return pa.table({"cell": pa.array(cells[possible]), "noisy": pa.array(noisy[possible])})
