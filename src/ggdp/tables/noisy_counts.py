"""From a plan to noisy counts: the data are opened, the engine counts, and noise is drawn.

The engine counts the cells that are not empty; everything after that is the same for every engine. A release is drawn
once, here: nothing that is returned or written draws noise when it is looked at.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.errors import ArgumentError, SourceError
from ggdp.noise.entropy import is_private, random_words
from ggdp.releases.adjustments import clip, fit_total
from ggdp.releases.release import charged_to, make_release
from ggdp.sources.counting import count_crowded
from ggdp.sources.query import CountQuery, open_source
from ggdp.tables.executor_release import ExecutorRelease, WrittenRelease, release_on_executors
from ggdp.tables.request import MOST_IN_MEMORY, TableRequest, too_many_cells
from ggdp.tables.statistics.released_statistics import drawn_quantiles, noisy_sums
from ggdp.tables.table_release import TableRelease, tables_of, tables_with_statistics
from ggdp.tables.thresholds import kept_keys, sparse_cells
from ggdp.tables.units_over_limit import joint

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from numpy.typing import NDArray

    from ggdp.domain.table_domain import Domain
    from ggdp.ledger import EntryReference
    from ggdp.ledger.charging import PendingCharge
    from ggdp.noise import Source
    from ggdp.releases import Release
    from ggdp.sources.measures import SummedMeasure
    from ggdp.sources.query import Counted, TableSource
    from ggdp.tables.request import Regime
    from ggdp.tables.table_plan import TablePlan
    from ggdp.tables.units_over_limit import CutCount

_KEY_WORDS = 4
# Up to this many cells of a table that Spark counts are drawn by the driver.
MOST_ON_DRIVER = 5_000_000


def release_counts(
    plan: TablePlan,
    data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
    bits: Source,
    temp_dir: str | Path | None,
    charge: PendingCharge,
    key: Ed25519PrivateKey | None = None,
) -> TableRelease | WrittenRelease:
    """Open the data, charge the release, count, and add noise; no row is read before the charge is on disk.

    What cannot be opened because it is damaged is charged as well: a footer has statistics of rows, and a compressed
    header is unpacked with rows, so it cannot be shown that the failure does not depend on them.

    A table whose noise executors draw is written to the plan's `out`, and its manifest signed with the key.
    """
    request = plan.request
    try:
        source = open_source(data, engine=plan.engine, columns=request.columns, text=request.text, temp_dir=temp_dir)
    except SourceError:
        charge.commit()
        raise
    with source as opened:
        require_size(request, plan.out, has_executors=opened.engine.has_executors)
        query = _query(request, bits, measured=() if plan.statistics is None else plan.statistics.measured)
        opened.check(query)
        on_executors = opened.engine.has_executors and plan.out is not None and _is_large(request)
        prepared = ExecutorRelease.prepare(opened, query, plan, bits) if on_executors else None
        entry = charge.commit()
        if plan.statistics is not None:
            return _with_statistics(opened, query, plan, bits, entry)
        cut = _cut(opened, query, plan, bits)
        if prepared is not None:
            return release_on_executors(prepared, cut, entry, key)
        answer = {"declared": _declared, "sparse": _sparse, "open": _open, "mixed": _mixed}[request.regime]
        release, keys = answer(opened, query, plan, bits)
    charged_to(release, entry)
    tables = tables_of(release, plan, keys, cut)
    return TableRelease(plan=plan, release=release, tables=tables, cut=cut, charge=charge)


def require_size(request: TableRequest, out: Path | None, *, has_executors: bool) -> None:
    """Raise if a table has more cells than an engine can release one by one; no data are read."""
    on_executors = has_executors and out is not None and _is_large(request)
    if on_executors and out is not None and out.suffix.lower() != ".parquet":
        raise ArgumentError("out", str(out), "must end in .parquet: Spark writes a table of this size as a directory")
    if request.false_cells is None and not on_executors and request.numbered_cells > MOST_IN_MEMORY:
        raise too_many_cells(request, MOST_IN_MEMORY)


def _is_large(request: TableRequest) -> bool:
    """Return whether a table that Spark counts is drawn by its executors; the request alone decides."""
    return (
        request.cells is not None
        and request.numbered_cells > MOST_ON_DRIVER
        and len(request.by) == 1
        and request.total is None
        and not request.statistics
    )


def _query(
    request: TableRequest,
    bits: Source,
    only: Sequence[Regime] | None = None,
    measured: tuple[SummedMeasure, ...] = (),
) -> CountQuery:
    """Return the query for the engine, of all marginals or of those of some regimes."""
    # The key is secret, and new for every query: who knew it would know which cells of a unit are left out.
    key = random_words(bits, _KEY_WORDS).tobytes() if request.unit is not None else b""
    return CountQuery(
        marginals=tuple(
            domain
            for domain, regime in zip(request.domains, request.regimes, strict=True)
            if only is None or regime in only
        ),
        unit=request.unit,
        max_cells=request.max_cells or 1,
        max_rows_per_cell=request.max_rows_per_cell,
        measured=measured,
        key=key,
    )


def _cut(opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> tuple[CutCount, ...]:
    """Release how many units are in more cells than they are counted in, of each table where that can be."""
    if plan.cut is None:
        return ()
    marginals = tuple(query.marginals[table] for table in plan.cut.tables)
    answers = opened.answer(replace(query, marginals=marginals), count_crowded)
    return plan.cut.released([int(answer.column(0)[0].as_py()) for answer in answers], bits)


def _with_statistics(
    opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source, entry: EntryReference | None
) -> TableRelease:
    """Release the sums of every cell of the domain, and what follows from them."""
    domains = plan.request.domains
    shown = [_possible_cells(domain) for domain in domains]
    release = charged_to(noisy_sums(opened, query, plan, shown, bits), entry)
    quantiles = drawn_quantiles(opened, query, plan, shown, bits)
    keys = [_keys(domain, cells) for domain, cells in zip(domains, shown, strict=True)]
    tables = tables_with_statistics(release, plan, keys, [cells.size for cells in shown], quantiles)
    return TableRelease(plan=plan, release=release, tables=tables)


def _declared(opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> tuple[Release, list[pa.Table]]:
    """Release every cell of the domain."""
    request, domains = plan.request, plan.request.domains
    shown = [_possible_cells(domain) for domain in domains]
    counts = [
        _every(one, domain)[cells] for one, domain, cells in zip(opened.count(query), domains, shown, strict=True)
    ]
    noisy = plan.mechanism.release(np.concatenate(counts), source=bits)
    # The same release, with the request's goal in its description and the units cut in its guarantee.
    guarantee = None if noisy.guarantee is None else joint(noisy.guarantee, plan.cut)
    release = make_release(noisy.values, plan.described_mechanism, guarantee)
    ends = np.cumsum([0, *(cells.size for cells in shown)])
    parts = [slice(start, stop) for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    return adjusted_counts(release, request, parts), [
        _keys(domain, cells) for domain, cells in zip(domains, shown, strict=True)
    ]


def adjusted_counts(release: Release, request: TableRequest, parts: list[slice]) -> Release:
    """Return declared counts with the adjustments that were requested; `parts` are the tables among them."""
    if request.total is not None:
        return fit_total(release, request.total, nonnegative=request.nonnegative, parts=parts)
    return clip(release, lower=0) if request.nonnegative else release


def _sparse(opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> tuple[Release, list[pa.Table]]:
    """Release the cells whose noisy counts are at least the threshold, empty ones too."""
    domains, threshold = plan.request.domains, plan.threshold
    assert threshold is not None
    cells, counts = _laid_out(opened.count(query), domains)
    shown, noisy = sparse_cells(
        cells,
        counts,
        total_cells=sum(domain.size for domain in domains),
        noise=plan.mechanism.noise,
        threshold=threshold.value,
        source=bits,
    )
    # Of the cells that cannot occur some were drawn as false cells; without them the others have the same law.
    keys, values, start = [], [], 0
    for domain in domains:
        stop = start + domain.size
        here = np.flatnonzero((shown >= start) & (shown < stop))
        here = here[domain.possible(shown[here] - start)]
        keys.append(_keys(domain, shown[here] - start))
        values.append(noisy[here])
        start = stop
    return _thresholded(np.concatenate(values), plan, bits), keys


def _open(opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> tuple[Release, list[pa.Table]]:
    """Release the keys whose noisy counts are at least the threshold."""
    kept = [_kept(table, plan, bits) for table in opened.keys(query)]
    return _thresholded(np.concatenate([noisy for _, noisy in kept]), plan, bits), [keys for keys, _ in kept]


def _mixed(opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> tuple[Release, list[pa.Table]]:
    """Release every cell of the declared tables, and of the open ones the keys at or above the threshold."""
    del query  # marginals of the two kinds are counted apart
    request = plan.request
    counted = iter(opened.count(_query(request, bits, ("declared",))))
    keyed = iter(opened.keys(_query(request, bits, ("open",))))
    keys, values = [], []
    for domain, regime in zip(request.domains, request.regimes, strict=True):
        if regime == "open":
            key, noisy = _kept(next(keyed), plan, bits)
        else:
            cells = _possible_cells(domain)
            noisy = plan.mechanism.release(_every(next(counted), domain)[cells], source=bits).values
            key = _keys(domain, cells)
        keys.append(key)
        values.append(noisy)
    return _thresholded(np.concatenate(values), plan, bits), keys


def _kept(table: pa.Table, plan: TablePlan, bits: Source) -> tuple[pa.Table, NDArray[np.int64]]:
    """Return the keys of an open table that are shown, and their noisy counts."""
    assert plan.threshold is not None
    places, noisy = kept_keys(
        table["count"].to_numpy(),
        noise=plan.mechanism.noise,
        threshold=plan.threshold.value,
        source=bits,
    )
    return table.drop_columns("count").take(places).combine_chunks(), noisy


def _thresholded(noisy: NDArray[np.int64], plan: TablePlan, bits: Source) -> Release:
    release = make_release(noisy, plan.described_mechanism, plan.guarantee if is_private(bits) else None)
    return clip(release, lower=0) if plan.request.nonnegative else release


def _laid_out(counted: list[Counted], domains: tuple[Domain, ...]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the cells of all tables in one numbering, one table after another, and their counts."""
    starts = np.cumsum([0, *(domain.size for domain in domains[:-1])], dtype=np.int64)
    cells = [one.cells + start for one, start in zip(counted, starts, strict=True)]
    return np.concatenate(cells), np.concatenate([one.counts for one in counted])


def _every(counted: Counted, domain: Domain) -> NDArray[np.int64]:
    """Return the counts of all cells of a domain, empty ones too."""
    counts = np.zeros(domain.size, dtype=np.int64)
    counts[counted.cells] = counted.counts
    return counts


def _possible_cells(domain: Domain) -> NDArray[np.int64]:
    """Return the cells of a domain that can occur, in their order."""
    cells = np.arange(domain.size)
    return cells[domain.possible(cells)] if domain.impossible else cells


def _keys(domain: Domain, cells: NDArray[np.int64]) -> pa.Table:
    """Return the keys of cells, from the domain alone."""
    import pyarrow as pa

    codes = domain.codes(cells)
    return pa.table({column.name: column.values.take(code) for column, code in zip(domain, codes, strict=True)})
