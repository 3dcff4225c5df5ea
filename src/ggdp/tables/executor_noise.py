"""The work of Spark's executors for a release: noise on the cells of one part, and the released rows.

=========  ======================================================================================================
N, W       number of cells, and of cells in a part: part i has the cells from i W to (i + 1) W - 1
real       a row of a non-empty cell: it has a count, and gets noise here
false      a row of an empty cell that is released: its noisy count was drawn elsewhere
mark       a row with neither, which every part has so that it exists
=========  ======================================================================================================

Each Python worker of Spark is a process of its own, and so has its own stream of random bits, keyed by the operating
system (`ggdp.noise.entropy`); tasks that one worker does one after another read on in it.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from ggdp import _validate
from ggdp.errors import ArgumentError, GgdpError
from ggdp.mechanisms.certified_noise import add_saturating
from ggdp.noise import SeededSource
from ggdp.noise.entropy import checked_source, is_private
from ggdp.tables.request import COUNTS, COVERS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from ggdp.mechanisms.certified_noise import CertifiedNoise
    from ggdp.noise import Source


Integers: TypeAlias = "NDArray[np.int64]"
# Rows that are drawn and handed to the writer together.
_BATCH = 1 << 16
_CELLS_OF_A_FILE = 1 << 20
_THRESHOLDED_FILES = 16
_MOST_CELLS = 10**18
# Spark numbers files with five digits; their names sort as numbers do up to here.
_MOST_FILES = 99_999
_TYPES = (pa.string(), pa.int64(), pa.bool_(), pa.date32())


@dataclass(frozen=True, slots=True, kw_only=True)
class NoiseTask:
    """Parameters of an executor's work; none of them comes from the data.

    Parameters
    ----------
    columns : tuple of (str, pyarrow.Array)
        Name and values of each column of keys, the first changing slowest with the index of a cell.
    noise : CertifiedNoise
        The noise of a cell. Every process that draws proves its certificate, once.
    half_width : int
        How far the interval of a cell reaches from its noisy count.
    nonnegative : bool, default False
        Whether ``count``, ``lower`` and ``upper`` are at least 0; ``noisy_count`` stays as it was drawn.
    threshold : int, optional
        The least noisy count that is kept. Without it every cell of the domain gets noise and is kept.
    certain_above : int, optional
        With a threshold: up to this noisy count an interval is made to hold 0.
    allowance : int, default 0
        By how much the upper ends of intervals are raised.
    covers : str, optional
        What the intervals cover, in words: a column of its own, the same in every row.
    impossible : tuple of dict, default ()
        Cells that cannot occur and are left out: places of columns and the codes that they have there together.
    most_files : int, optional
        How many files at most. By default one for each 2^20 cells, or 16 with a threshold.
    source : Source, optional
        Where the random bits come from. A seeded one gives each part a stream of its own, made from the seed. Any other
        is copied to each part as it is: its copies may not be independent, so it is not private.
    """

    columns: tuple[tuple[str, pa.Array], ...]
    noise: CertifiedNoise
    half_width: int
    nonnegative: bool = False
    threshold: int | None = None
    certain_above: int | None = None
    allowance: int = 0
    covers: str | None = None
    impossible: tuple[dict[int, int], ...] = ()
    most_files: int | None = None
    source: Source | None = None

    def __post_init__(self) -> None:
        for name, values in self.columns:
            if values.type not in _TYPES:
                raise ArgumentError("columns", name, "values must be text, 64-bit integers, true and false, or dates")
        if not 1 <= self.total_cells <= _MOST_CELLS:
            raise ArgumentError("columns", self.total_cells, f"must have at least 1 cell and at most {_MOST_CELLS:.0e}")
        names = sorted(name.casefold() for name in (*(name for name, _ in self.columns), *COUNTS))
        for name, following in pairwise(names):
            if name == following:
                raise ArgumentError(
                    "columns", name, "names must be different, ignoring case, and differ from those of the numbers"
                )
        _validate.integer(half_width=self.half_width, at_least=0)
        if self.threshold is None and self.certain_above is not None:
            raise ArgumentError("certain_above", self.certain_above, "needs a threshold")
        if self.most_files is not None:
            _validate.integer(most_files=self.most_files, at_least=1)
        if self.source is not None:
            checked_source(self.source)

    @property
    def total_cells(self) -> int:
        """How many cells the domain has."""
        return math.prod(len(values) for _, values in self.columns)

    @property
    def width(self) -> int:
        """How many cells a part has; the last one may have fewer."""
        total = self.total_cells
        by_default = -(-total // _CELLS_OF_A_FILE) if self.threshold is None else _THRESHOLDED_FILES
        return -(-total // min(self.most_files or by_default, total, _MOST_FILES))

    @property
    def files(self) -> int:
        """How many parts there are, and files."""
        return -(-self.total_cells // self.width)

    @property
    def private(self) -> bool:
        """Whether parts have independent bits of the operating system, regardless of the source's own flag."""
        return self.source is None or is_private(self.source)

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the released columns."""
        keys = [pa.field(name, values.type) for name, values in self.columns]
        covers = [] if self.covers is None else [pa.field(COVERS, pa.string())]
        return pa.schema(keys + [pa.field(name, pa.int64()) for name in COUNTS] + covers)


def add_noise(batches: Iterable[pa.RecordBatch], *, task: NoiseTask) -> Iterator[pa.RecordBatch]:
    """Yield the released rows of one part. Runs on executors."""
    from pyspark import TaskContext

    context = TaskContext.get()
    part = -1 if context is None else context.partitionId()
    if not 0 <= part < task.files:
        raise GgdpError("Spark has partitioned the cells differently than requested; nothing was released")
    source = _source_of(task.source, part)
    released = _every_cell if task.threshold is None else _kept_cells
    for cells, noisy in released(_check_cells(batches, part * task.width, task.width), task, part, source):
        yield _table(cells, noisy, task)


def _source_of(source: Source | None, part: int) -> Source | None:
    """Return the source of a part: its own for a seeded one."""
    if not isinstance(source, SeededSource):
        return source
    digest = hashlib.sha256(b"ggdp part %d of seed %d" % (part, source.seed)).digest()
    return SeededSource(seed=int.from_bytes(digest, "big"))


def _check_cells(batches: Iterable[pa.RecordBatch], first: int, width: int) -> Iterator[pa.RecordBatch]:
    """Yield batches after checking that all their cells belong to the part."""
    for batch in batches:
        places = batch.column("cell").to_numpy(zero_copy_only=False) - first
        if places.size and not (places.min() >= 0 and places.max() < width):
            raise GgdpError("Spark has put cells into the wrong partition; nothing was released")
        yield batch


def _every_cell(
    batches: Iterable[pa.RecordBatch], task: NoiseTask, part: int, source: Source | None
) -> Iterator[tuple[Integers, Integers]]:
    """Yield all cells of a part, with noise."""
    first = part * task.width
    counts = np.zeros(min(task.width, task.total_cells - first), dtype=np.int64)
    for batch in batches:
        found = batch.filter(batch.column("count").is_valid())
        np.add.at(counts, found.column("cell").to_numpy() - first, found.column("count").to_numpy())
    for start in range(0, counts.size, _BATCH):
        true = counts[start : start + _BATCH]
        noisy = task.noise.add(true, source)
        cells = np.arange(first + start, first + start + true.size)
        possible = _possible(cells, task)
        yield cells[possible], noisy[possible]


def _kept_cells(
    batches: Iterable[pa.RecordBatch], task: NoiseTask, part: int, source: Source | None
) -> Iterator[tuple[Integers, Integers]]:
    """Yield the non-empty cells whose noisy counts are at least the threshold, and the false cells unchanged."""
    del part
    for batch in batches:
        cells = batch.column("cell").to_numpy()
        real, false = (batch.column(name).is_valid().to_numpy(zero_copy_only=False) for name in ("count", "noisy"))
        noisy = batch.column("noisy").fill_null(0).to_numpy().copy()
        true = batch.column("count").fill_null(0).to_numpy()[real]
        noisy[real] = task.noise.add(true, source)
        kept = false | (real & (noisy >= task.threshold))
        if kept.any():
            yield cells[kept], noisy[kept]


def _table(cells: Integers, noisy: Integers, task: NoiseTask) -> pa.RecordBatch:
    """Return released rows: keys from the index, and numbers from the noisy count."""
    lower, upper = np.full_like(noisy, -task.half_width), np.full_like(noisy, task.half_width)
    add_saturating(noisy, lower)
    add_saturating(noisy, upper)
    if task.allowance:
        raised = np.full_like(upper, task.allowance)
        add_saturating(upper, raised)
        upper = raised
    if task.certain_above is not None:
        np.minimum(lower, 0, out=lower, where=noisy <= task.certain_above)
    count = noisy
    if task.nonnegative:
        count, lower, upper = (np.maximum(ends, 0) for ends in (noisy, lower, upper))
    keys = [values.take(pa.array(code)) for (_, values), code in zip(task.columns, _codes(cells, task), strict=True)]
    numbers = [pa.array(x) for x in (count, noisy, lower, upper)]
    covers = [] if task.covers is None else [pa.repeat(task.covers, noisy.size)]
    return pa.record_batch([*keys, *numbers, *covers], schema=task.schema)


def _codes(cells: Integers, task: NoiseTask) -> list[Integers]:
    """Return the codes of cells, column by column."""
    found, rest = [], cells
    for _, values in reversed(task.columns):
        rest, code = np.divmod(rest, len(values))
        found.append(code)
    return found[::-1]


def _possible(cells: Integers, task: NoiseTask) -> NDArray[np.bool_]:
    """Return which cells are released: those that no pattern rules out."""
    found = np.ones(cells.size, dtype=np.bool_)
    if task.impossible:
        codes = _codes(cells, task)
        for pattern in task.impossible:
            found &= ~np.logical_and.reduce([codes[place] == code for place, code in pattern.items()])
    return found
