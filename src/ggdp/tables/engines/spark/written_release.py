"""Tables too large for the driver of a Spark cluster: counted, drawn and written by its executors.

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
import shutil
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.errors import ArgumentError
from ggdp.ledger.entries import EntryReference
from ggdp.proofs.integer_sums import tail
from ggdp.releases.adjustments import clip
from ggdp.releases.release import charged_to, released
from ggdp.sampling import Binomial, ConditionalNoise, IntegerNoise
from ggdp.sampling.entropy import SECURE
from ggdp.sampling.uniform import uniform_integers
from ggdp.tables.engines.frames import quietly
from ggdp.tables.engines.spark.executor_noise import NoiseTask
from ggdp.tables.engines.spark.executor_release import digests, release_cells, require_committer
from ggdp.tables.output_files import put
from ggdp.tables.table_manifest import covered, table_manifest
from ggdp.tables.table_release import ArrowViews, TableRelease, allowance, level_of, tables_of

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from matplotlib.figure import Figure
    from numpy.typing import NDArray

    from ggdp.privacy import Guarantee
    from ggdp.releases import Release
    from ggdp.sampling import Source
    from ggdp.tables.domain import Domain
    from ggdp.tables.engines import CountQuery, TableSource
    from ggdp.tables.engines.spark.executor_release import WrittenCells
    from ggdp.tables.request import TableRequest
    from ggdp.tables.table_plan import TablePlan
    from ggdp.tables.units_over_limit import CutCount


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
        import pyarrow.parquet as pq

        files = [
            (self.path.parent / part["url"], part["sha256"]) for part in self.manifest["table"]["tables"][0]["parts"]
        ]
        for file, digest in files:
            with file.open("rb") as content:
                if hashlib.file_digest(content, "sha256").hexdigest() != digest:
                    raise ArgumentError("path", str(self.path), f"{file.name} is not the file that was released")
        table = pq.ParquetDataset([file for file, _ in files], partitioning=None).read().replace_schema_metadata(None)
        noisy = released(table["noisy_count"].to_numpy(), self.plan.described_mechanism, self.guarantee)
        entry = self.manifest.get("ledger")
        release = charged_to(_adjusted(noisy, self.request), None if entry is None else EntryReference(**entry))
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
    written = quietly(prepared.name, lambda: _written(prepared, cut))
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
        noise=IntegerNoise(order=plan.mechanism.order, scale=plan.mechanism.scale),
        half_width=int(law.half_width(level)),
        nonnegative=plan.request.nonnegative,
        threshold=None if threshold is None else threshold.value,
        certain_above=None if threshold is None else threshold.last_maybe_empty(law, level),
        covers=covered(plan.request, 0),
        impossible=domain.impossible_codes,
        source=None if bits is SECURE else bits,
    )


def _written(prepared: ExecutorRelease, cut: Sequence[CutCount]) -> WrittenCells:
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
    import pyarrow as pa

    assert plan.threshold is not None
    cells = domain.size
    order, scale, tau = plan.mechanism.order, plan.mechanism.scale, plan.threshold.value
    number = Binomial(trials=cells - counted.count(), probability=lambda: tail(order, scale, tau))
    size = int(number.sample(1, source=bits)[0])
    drawn: dict[int, None] = {}
    while len(drawn) < size:
        new = [cell for cell in uniform_integers(cells, size - len(drawn), bits).tolist() if cell not in drawn]
        frame = counted.sparkSession.createDataFrame(pa.table({"cell": pa.array(dict.fromkeys(new), pa.int64())}))
        taken = set(frame.join(counted, "cell", "left_semi").toArrow()["cell"].to_pylist()) if new else set()
        drawn |= {cell: None for cell in new if cell not in taken}
    noisy = ConditionalNoise(order=order, scale=scale, threshold=tau).sample(size, source=bits)
    places = np.fromiter(drawn, dtype=np.int64, count=len(drawn))
    possible = domain.possible(places)
    return pa.table({"cell": pa.array(places[possible]), "noisy": pa.array(noisy[possible])})


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
    # The values are on disk: all else that a manifest says is said by a release of none of them.
    empty = _adjusted(released(np.empty(0, dtype=np.int64), plan.described_mechanism, guarantee), plan.request)
    manifest = table_manifest(plan, charged_to(empty, entry), files=[file], cut=cut)
    manifest["values"]["shape"] = [_rows(written) if written.rows is None else written.rows]
    return manifest


def _rows(written: WrittenCells) -> int:
    """Return how many rows were released, from the files."""
    import pyarrow.parquet as pq

    return sum(pq.read_metadata(written.path / name).num_rows for name in written.files)


def _adjusted(release: Release, request: TableRequest) -> Release:
    return clip(release, lower=0) if request.nonnegative else release
