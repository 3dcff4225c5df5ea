"""What Spark's executors do for a release: noise on the cells of one part, and the rows that come of it.

=========  ======================================================================================================
N, W       number of cells, and of cells in a part: part i has the cells from i W to (i + 1) W - 1
real       a row of a non-empty cell: it has a count, and gets noise here
false      a row of an empty cell that is released: its noisy count was drawn elsewhere
mark       a row with neither, which every part has so that it exists
=========  ======================================================================================================

Each Python worker of Spark is a process of its own, and so has its own stream of random bits, keyed by the operating
system (`ggdp.sampling.entropy`); tasks that one worker does one after another read on in it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
import pyarrow as pa

from ggdp.errors import GgdpError
from ggdp.mechanisms.saturation import add_saturating
from ggdp.sampling import SeededSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from ggdp.sampling import IntegerNoise, Source

    Integers: TypeAlias = NDArray[np.int64]

__all__ = ["NUMBERS", "CellPlan", "noised"]

NUMBERS = ("count", "noisy_count", "lower", "upper")
COVERS = "covers"
# Rows that are drawn and handed to the writer together.
_BATCH = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True)
class CellPlan:
    """What an executor has to know; nothing in it comes from the data."""

    total_cells: int
    width: int
    noise: IntegerNoise
    columns: tuple[tuple[str, pa.Array], ...]
    half_width: int
    nonnegative: bool
    threshold: int | None
    certain_above: int | None
    source: Source | None
    # By how much upper ends are raised, what intervals cover in words, and the codes of cells that are left out.
    allowance: int = 0
    covers: str | None = None
    impossible: tuple[dict[int, int], ...] = ()

    @property
    def files(self) -> int:
        """How many parts there are, and files."""
        return -(-self.total_cells // self.width)

    @property
    def schema(self) -> pa.Schema:
        """Names and types of the released columns."""
        keys = [pa.field(name, values.type) for name, values in self.columns]
        covers = [] if self.covers is None else [pa.field(COVERS, pa.string())]
        return pa.schema(keys + [pa.field(name, pa.int64()) for name in NUMBERS] + covers)


def noised(batches: Iterable[pa.RecordBatch], *, plan: CellPlan) -> Iterator[pa.RecordBatch]:
    """Yield the released rows of one part. Runs on executors."""
    from pyspark import TaskContext

    context = TaskContext.get()
    part = -1 if context is None else context.partitionId()
    if not 0 <= part < plan.files:
        message = "Spark has cut the cells into other parts than it was asked for; nothing was released"
        raise GgdpError(message)
    source = _source_of(plan.source, part)
    released = _every_cell if plan.threshold is None else _kept_cells
    for cells, noisy in released(_checked(batches, part * plan.width, plan.width), plan, part, source):
        yield _table(cells, noisy, plan)


def _source_of(source: Source | None, part: int) -> Source | None:
    """Return the source of a part: its own for a seeded one."""
    if not isinstance(source, SeededSource):
        return source
    digest = hashlib.sha256(b"ggdp part %d of seed %d" % (part, source.seed)).digest()
    return SeededSource(seed=int.from_bytes(digest, "big"))


def _checked(batches: Iterable[pa.RecordBatch], first: int, width: int) -> Iterator[pa.RecordBatch]:
    """Yield batches, once all their cells are the part's."""
    for batch in batches:
        places = batch.column("cell").to_numpy(zero_copy_only=False) - first
        if places.size and not (places.min() >= 0 and places.max() < width):
            message = "Spark has put cells into another part than theirs; nothing was released"
            raise GgdpError(message)
        yield batch


def _every_cell(
    batches: Iterable[pa.RecordBatch], plan: CellPlan, part: int, source: Source | None
) -> Iterator[tuple[Integers, Integers]]:
    """Yield all cells of a part, with noise."""
    first = part * plan.width
    counts = np.zeros(min(plan.width, plan.total_cells - first), dtype=np.int64)
    for batch in batches:
        found = batch.filter(batch.column("count").is_valid())
        np.add.at(counts, found.column("cell").to_numpy() - first, found.column("count").to_numpy())
    for start in range(0, counts.size, _BATCH):
        true = counts[start : start + _BATCH]
        noisy = plan.noise.sample(true.size, source=source)
        add_saturating(true, noisy)
        cells = np.arange(first + start, first + start + true.size)
        possible = _possible(cells, plan)
        yield cells[possible], noisy[possible]


def _kept_cells(
    batches: Iterable[pa.RecordBatch], plan: CellPlan, part: int, source: Source | None
) -> Iterator[tuple[Integers, Integers]]:
    """Yield those non-empty cells whose noisy count reaches the threshold, and the false ones as they are."""
    del part
    for batch in batches:
        cells = batch.column("cell").to_numpy()
        real, false = (batch.column(name).is_valid().to_numpy(zero_copy_only=False) for name in ("count", "noisy"))
        noisy = batch.column("noisy").fill_null(0).to_numpy().copy()
        true = batch.column("count").fill_null(0).to_numpy()[real]
        drawn = plan.noise.sample(true.size, source=source)
        if true.size:
            add_saturating(true, drawn)
        noisy[real] = drawn
        kept = false | (real & (noisy >= plan.threshold))
        if kept.any():
            yield cells[kept], noisy[kept]


def _table(cells: Integers, noisy: Integers, plan: CellPlan) -> pa.RecordBatch:
    """Return released rows: keys from the index, and numbers from the noisy count."""
    lower, upper = np.full_like(noisy, -plan.half_width), np.full_like(noisy, plan.half_width)
    add_saturating(noisy, lower)
    add_saturating(noisy, upper)
    if plan.allowance:
        raised = np.full_like(upper, plan.allowance)
        add_saturating(upper, raised)
        upper = raised
    if plan.certain_above is not None:
        np.minimum(lower, 0, out=lower, where=noisy <= plan.certain_above)
    count = noisy
    if plan.nonnegative:
        count, lower, upper = (np.maximum(ends, 0) for ends in (noisy, lower, upper))
    keys = [values.take(pa.array(code)) for (_, values), code in zip(plan.columns, _codes(cells, plan), strict=True)]
    numbers = [pa.array(x) for x in (count, noisy, lower, upper)]
    covers = [] if plan.covers is None else [pa.repeat(plan.covers, noisy.size)]
    return pa.record_batch([*keys, *numbers, *covers], schema=plan.schema)


def _codes(cells: Integers, plan: CellPlan) -> list[Integers]:
    """Return the codes of cells, column by column."""
    found, rest = [], cells
    for _, values in reversed(plan.columns):
        rest, code = np.divmod(rest, len(values))
        found.append(code)
    return found[::-1]


def _possible(cells: Integers, plan: CellPlan) -> NDArray[np.bool_]:
    """Return which cells are released: those that no pattern rules out."""
    found = np.ones(cells.size, dtype=np.bool_)
    if plan.impossible:
        codes = _codes(cells, plan)
        for pattern in plan.impossible:
            found &= ~np.logical_and.reduce([codes[place] == code for place, code in pattern.items()])
    return found
