"""From a plan to noisy counts: the data are opened, the engine counts, and noise is drawn.

The engine counts the cells that are not empty; everything after that is the same for every engine. A release is drawn
once, here: nothing that is returned or written draws noise when it is looked at.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp.errors import ArgumentError, SourceError
from ggdp.noise.entropy import Integers, is_private, random_words
from ggdp.releases.adjustments import clip, fit_total
from ggdp.releases.release import charged_to, make_release
from ggdp.sources.counting import count_crowded
from ggdp.sources.query import Counted, CountQuery, TableSource, open_source
from ggdp.tables.executor_release import ExecutorRelease, WrittenRelease, release_on_executors
from ggdp.tables.request import MOST_IN_MEMORY, Regime, TableRequest
from ggdp.tables.request_refusals import too_many_cells
from ggdp.tables.statistics.released_statistics import (
    ShownCells,
    draw_quantiles,
    noisy_sums,
    published_count,
    published_statistics,
    require_one_total,
)
from ggdp.tables.statistics.sum_groups import SumGroup
from ggdp.tables.table_manifest import coverage
from ggdp.tables.table_release import Table, TableRelease, tables_of
from ggdp.tables.thresholds import kept_keys, sparse_cells

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pyarrow as pa
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from ggdp.domain.table_domain import Domain
    from ggdp.ledger.charging import PendingCharge
    from ggdp.noise import Source
    from ggdp.releases import Release
    from ggdp.sources.measures import CellSums, SummedMeasure
    from ggdp.tables.table_plan import TablePlan
    from ggdp.tables.units_over_limit import CutCount

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
        source = open_source(data, engine=plan.engine, temp_dir=temp_dir, **request.reading)
    except SourceError:
        charge.commit()
        raise
    with source as opened:
        on_executors = require_size(request, plan.out, has_executors=opened.engine.has_executors)
        query = _query(request, bits, measured=() if plan.statistics is None else plan.statistics.measured)
        opened.check(query)
        prepared = ExecutorRelease.prepare(opened, query, plan, bits) if on_executors else None
        entry = charge.commit()
        cut: tuple[CutCount, ...] = ()
        if plan.cut is not None:
            # How many units are in more cells than they are counted in, of each table where that can be.
            marginals = tuple(query.marginals[table] for table in plan.cut.tables)
            answers = opened.answer(replace(query, marginals=marginals), count_crowded)
            crowded = [int(answer.column(0)[0].as_py()) for answer in answers]
            cut = plan.cut.counts(plan.cut.mechanism.release(crowded, rng=bits).values.tolist())
        if prepared is not None:
            return release_on_executors(prepared, cut, entry, key)
        if plan.statistics is not None:
            release, tables = _with_statistics(opened, query, plan, bits)
        else:
            answer = {
                "declared": _declared,
                "sparse": _sparse,
                "open": _open,
                "mixed": _mixed,
            }[request.regime]
            release, keys = answer(opened, query, plan, bits)
            tables = tables_of(release, plan, keys, cut)
    charged_to(release, entry)
    return TableRelease(plan=plan, release=release, tables=tables, cut=cut, charge=charge)


def require_size(request: TableRequest, out: Path | None, *, has_executors: bool) -> bool:
    """Return whether executors draw the noise; raise if there are too many cells. It depends on no data."""
    is_large = request.cells is not None and request.numbered_cells > MOST_ON_DRIVER
    is_one_table_of_counts = len(request.by) == 1 and request.total is None and not request.statistics
    is_one_table_of_counts &= request.percent_of is None
    on_executors = has_executors and out is not None and is_large and is_one_table_of_counts
    if on_executors and out is not None and out.suffix.lower() != ".parquet":
        raise ArgumentError("out", str(out), "must end in .parquet: Spark writes a table of this size as a directory")
    if request.false_cells is None and not on_executors and request.numbered_cells > MOST_IN_MEMORY:
        raise too_many_cells(request, MOST_IN_MEMORY)
    return on_executors


def _query(
    request: TableRequest, bits: Source, only: Sequence[Regime] | None = None, measured: tuple[SummedMeasure, ...] = ()
) -> CountQuery:
    """Return the query for the engine, of all marginals or of those of some regimes."""
    # The key is secret, and new for every query: who knew it would know which cells of a unit are left out.
    key = random_words(bits, 4).tobytes() if request.unit is not None else b""
    return CountQuery(
        marginals=tuple(
            domain
            for domain, regime in zip(request.domains, request.regimes, strict=True)
            if only is None or regime in only
        ),
        **request.unit_limits,
        measured=measured,
        key=key,
    )


def _with_statistics(
    opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source
) -> tuple[Release, tuple[Table, ...]]:
    """Release the sums of every cell of the domain, or of those whose noisy counts are shown, and what follows."""
    request, split = plan.request, plan.statistics
    assert split is not None
    summed = opened.sums(replace(query, measured=split.summed))
    shown, keys = _shown_cells(summed, plan, bits)
    release = noisy_sums(plan, summed, shown, keys, bits, opened.name)
    quantiles = draw_quantiles(opened, query, plan, shown, keys, bits)
    sizes = [sums * one.cells.size for sums, one in zip(split.sums, shown, strict=True)]
    parts, tables = np.split(release.values, np.cumsum(sizes[:-1], dtype=np.intp)), []
    for number, (domain, part) in enumerate(zip(request.domains, parts, strict=True)):
        noisy = part.reshape(split.sums[number], -1)
        count = published_count(plan, number, noisy)
        value, lower, upper = count.value, count.lower, count.upper
        if request.nonnegative:
            value, lower, upper = (np.maximum(end, 0) for end in (value, lower, upper))
        tables.append(
            Table(
                domain=domain,
                keys=keys[number],
                count=value,
                noisy_count=count.value,
                lower=lower,
                upper=upper,
                covers=coverage(request, number),
                statistics=published_statistics(plan, number, noisy, quantiles[number], keys[number]),
                written=request.count_columns,
                digits=request.digits,
            )
        )
    return release, tuple(tables)


def _shown_cells(
    summed: Sequence[tuple[Integers | pa.Table, tuple[CellSums, ...]]], plan: TablePlan, bits: Source
) -> tuple[list[ShownCells], list[pa.Table]]:
    """Return the cells that are published with statistics, and their keys: all, or those with large noisy counts."""
    request, split, noise = plan.request, plan.statistics, plan.mechanism.noise
    assert split is not None
    # Noisy counts are in steps of the noise, and so is the threshold.
    threshold = 0 if plan.threshold is None else plan.threshold.value * split.count_size
    counting = [SumGroup(kind="key", size=groups[0].size) for groups in split.tables]
    counted = [
        Counted(at if isinstance(at, np.ndarray) else np.arange(len(at)), group.steps(found[0])[0])
        for (at, found), group in zip(summed, counting, strict=True)
    ]
    sparse = iter(() if request.false_cells is None else _sparse_cells(counted, plan, threshold, bits))
    shown, keys = [], []
    for domain, regime, (at, _), one in zip(request.domains, request.regimes, summed, counted, strict=True):
        noisy: Integers | None = None
        if regime == "declared":
            cells = possible_cells(domain)
        elif regime == "sparse":
            cells, noisy = next(sparse)
        else:
            cells, noisy = kept_keys(one.counts, noise=noise, threshold=threshold, rng=bits)
        shown.append(ShownCells.of(cells, one.cells, noisy))
        keys.append(keys_of_cells(domain, cells) if isinstance(at, np.ndarray) else at.take(cells).combine_chunks())
    return shown, keys


def _declared(opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> tuple[Release, list[pa.Table]]:
    """Release every cell of the domain."""
    request, domains = plan.request, plan.request.domains
    shown = [possible_cells(domain) for domain in domains]
    true = [_every(one, domain)[cells] for one, domain, cells in zip(opened.count(query), domains, shown, strict=True)]
    noisy = dict[int, Integers]()
    for part in plan.parts:
        tables, mechanism = part
        require_one_total(
            opened.name, [true[table].sum() for table, shared in zip(tables, part.complete, strict=True) if shared]
        )
        drawn = mechanism.release(np.concatenate([true[table] for table in tables]), rng=bits).values
        ends = np.cumsum([true[table].size for table in tables])[:-1]
        noisy |= zip(tables, np.split(drawn, ends), strict=True)
    # One release, with the request's goal in its description and the units cut in its guarantee.
    values = np.concatenate([noisy[table] for table in range(len(domains))])
    release = make_release(values, plan.described_mechanism, plan.raw_guarantee if is_private(bits) else None)
    if request.total is not None:
        edges = accumulate((cells.size for cells in shown), initial=0)
        parts = [slice(start, stop) for start, stop in pairwise(edges)]
        release = fit_total(release, request.total, nonnegative=request.nonnegative, parts=parts)
    elif request.nonnegative:
        release = clip(release, lower=0)
    return release, [keys_of_cells(domain, cells) for domain, cells in zip(domains, shown, strict=True)]


def _sparse(opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> tuple[Release, list[pa.Table]]:
    """Release the cells whose noisy counts are at least the threshold, empty ones too."""
    assert plan.threshold is not None
    found = _sparse_cells(opened.count(query), plan, plan.threshold.value, bits)
    keys = [keys_of_cells(domain, cells) for domain, (cells, _) in zip(plan.request.domains, found, strict=True)]
    return _apply_threshold(np.concatenate([noisy for _, noisy in found]), plan, bits), keys


def _sparse_cells(
    counted: Sequence[Counted], plan: TablePlan, threshold: int, bits: Source
) -> list[tuple[Integers, Integers]]:
    """Return the cells of each table whose noisy counts are at least the threshold, and these."""
    domains, found = plan.request.domains, []
    # The cells of all tables in one numbering, one table after another.
    *starts, total = accumulate((domain.size for domain in domains), initial=0)
    shown, noisy = sparse_cells(
        np.concatenate([one.cells + start for one, start in zip(counted, starts, strict=True)]),
        np.concatenate([one.counts for one in counted]),
        total_cells=total,
        noise=plan.mechanism.noise,
        threshold=threshold,
        rng=bits,
    )
    # Of the cells that cannot occur some were drawn as false cells; without them the others have the same law.
    for domain, start in zip(domains, starts, strict=True):
        here = np.flatnonzero((shown >= start) & (shown < start + domain.size))
        here = here[domain.possible(shown[here] - start)]
        found.append((shown[here] - start, noisy[here]))
    return found


def _open(opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> tuple[Release, list[pa.Table]]:
    """Release the keys whose noisy counts are at least the threshold."""
    kept = [_keep_keys(table, plan, bits) for table in opened.keys(query)]
    return _apply_threshold(np.concatenate([noisy for _, noisy in kept]), plan, bits), [keys for keys, _ in kept]


def _mixed(opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> tuple[Release, list[pa.Table]]:
    """Release every cell of the declared tables, and of the open ones the keys at or above the threshold."""
    del query  # marginals of the two kinds are counted apart
    request = plan.request
    counted = iter(opened.count(_query(request, bits, ("declared",))))
    keyed = iter(opened.keys(_query(request, bits, ("open",))))
    keys, values = [], []
    for domain, regime in zip(request.domains, request.regimes, strict=True):
        if regime == "open":
            key, noisy = _keep_keys(next(keyed), plan, bits)
        else:
            cells = possible_cells(domain)
            noisy = plan.mechanism.release(_every(next(counted), domain)[cells], rng=bits).values
            key = keys_of_cells(domain, cells)
        keys.append(key)
        values.append(noisy)
    return _apply_threshold(np.concatenate(values), plan, bits), keys


def _keep_keys(table: pa.Table, plan: TablePlan, bits: Source) -> tuple[pa.Table, Integers]:
    """Return the keys of an open table that are shown, and their noisy counts."""
    assert plan.threshold is not None
    counts, noise = table["count"].to_numpy(), plan.mechanism.noise
    places, noisy = kept_keys(counts, noise=noise, threshold=plan.threshold.value, rng=bits)
    return table.drop_columns("count").take(places).combine_chunks(), noisy


def _apply_threshold(noisy: Integers, plan: TablePlan, bits: Source) -> Release:
    release = make_release(noisy, plan.described_mechanism, plan.guarantee if is_private(bits) else None)
    return clip(release, lower=0) if plan.request.nonnegative else release


def _every(counted: Counted, domain: Domain) -> Integers:
    """Return the counts of all cells of a domain, empty ones too."""
    counts = np.zeros(domain.size, dtype=np.int64)
    counts[counted.cells] = counted.counts
    return counts


def possible_cells(domain: Domain) -> Integers:
    """Return the cells of a domain that can occur, in their order."""
    cells = np.arange(domain.size)
    return cells[domain.possible(cells)] if domain.impossible else cells


def keys_of_cells(domain: Domain, cells: Integers) -> pa.Table:
    """Return the keys of cells, from the domain alone."""
    import pyarrow as pa

    codes = domain.codes(cells)
    return pa.table({column.name: column.values.take(code) for column, code in zip(domain, codes, strict=True)})
