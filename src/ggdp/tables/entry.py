"""From a table of rows to private counts: the one call that most users come for.

The plan (noise, threshold, guarantee) is made from the request before the data are opened. The engine counts the cells
that are not empty; everything after that is the same for every engine. A release is drawn once, here: nothing that is
returned or written draws noise when it is looked at.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ggdp.errors import ArgumentError, PrivacyWarning
from ggdp.releases.adjustments import clip
from ggdp.releases.release import released
from ggdp.releases.totals import fit_total
from ggdp.sampling.entropy import checked_source, is_private, random_words
from ggdp.tables.cut import joint
from ggdp.tables.engines import CountQuery, open_source
from ggdp.tables.engines.plan import crowded
from ggdp.tables.engines.text_files import text_format
from ggdp.tables.on_executors import MOST_ON_DRIVER, WrittenRelease, release_on_executors
from ggdp.tables.open_keys import kept_keys
from ggdp.tables.plan import TablePlan, plan_table
from ggdp.tables.release import TableRelease, tables_of
from ggdp.tables.request import MOST_IN_MEMORY, TableRequest
from ggdp.tables.request_checks import too_many_cells
from ggdp.tables.sparse import sparse_cells
from ggdp.tables.writing import require_apart, require_writable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from ggdp.privacy import Guarantee, Neighbours
    from ggdp.releases import Release
    from ggdp.sampling import Source
    from ggdp.tables.cut import CutCount
    from ggdp.tables.domain import Domain
    from ggdp.tables.engines import Counted, TableSource
    from ggdp.tables.request import Counting, Regime

__all__ = ["release_planned", "release_table", "require_size"]

_KEY_WORDS = 4


def release_table(
    data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
    by: str | Sequence[str] | Sequence[Sequence[str]],
    goal: Guarantee,
    domain: Domain | Mapping[str, Any] | str | Path | None = None,
    *,
    order: float | Literal["auto"] = "auto",
    unit: str | None = None,
    max_cells: int | None = None,
    count: Counting = "units",
    max_rows_per_cell: int | None = None,
    count_cut: float | None = None,
    unit_name: str | None = None,
    neighbours: Neighbours = "add-remove",
    total: int | None = None,
    nonnegative: bool = False,
    false_cells: float | None = None,
    engine: Literal["duckdb", "spark"] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quoted: bool | None = None,
    escape: str | None = None,
    temp_dir: str | Path | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    source: Source | None = None,
) -> TableRelease | WrittenRelease:
    """Count the rows of a table by public columns, and release the counts under differential privacy.

    Parameters
    ----------
    data : path or frame
        A CSV, Parquet or JSON-lines file, or a pattern of several (``data/*.parquet``); or a frame: pandas, polars
        (eager or lazy), pyarrow, a DuckDB relation, an ibis table or a PySpark data frame, counted on its own engine.
    by : str, sequence of str, or sequence of sequences of str
        Columns to count by; several lists give several tables, released as one query.
    goal : PureDP, ProbabilisticDP or ApproxDP
        What must be promised, of all tables together.
    domain : Domain, mapping or path of a TOML file, optional
        The public levels of the columns. Of a column that is not declared the levels are chosen privately, which needs
        a delta.
    order : float or "auto", default "auto"
        Order of the noise; by default the best for the goal, found without the data.
    unit : str, optional
        Column that says whose row it is. Without one each row is a unit of its own.
    max_cells : int, optional
        With `unit`: in how many cells of a table one unit is counted at most. Which ones is drawn at random. A table
        with fewer cells bounds it by itself.
    count : {"units", "rows"}, default "units"
        With `unit`: whether a cell counts different units, or their rows.
    max_rows_per_cell : int, optional
        With ``count="rows"``: how many rows of one unit are counted in a cell at most.
    count_cut : float, optional
        Share of epsilon, above 0 and below 1, that pays for a private count of the units that are in more than
        `max_cells` cells. Intervals then cover all units of a cell, not just those that are counted there.
    unit_name : str, optional
        What units are called in statements and plots, in the plural, such as ``"patients"``.
    neighbours : {"add-remove", "replace-one"}, default "add-remove"
        Whether neighbours differ by a unit more or less, or by one that is replaced.
    total : int, optional
        What the counts add up to: a number that you assert to be public. Needs replace-one neighbours.
    nonnegative : bool, default False
        Whether counts, and the ends of their intervals, that are below 0 are put to 0.
    false_cells : float, optional
        Asks for a sparse table of a declared domain: how many empty cells may show on average.
    engine : {"duckdb", "spark"}, optional
        What reads files; DuckDB by default. A frame has its own.
    encoding : str, optional
        Character encoding of text files, such as "latin-1"; UTF-8 by default.
    delimiter : str, optional
        What separates the fields of CSV files, such as ";"; by default a comma, in .tsv files a tab.
    quoted : bool, default True
        Whether fields of CSV files may be in double quotes. Say False of files whose writer does not quote.
    escape : str, optional
        What the writer puts before a quote inside quotes where it does not double it: a backslash in files of Spark.
    temp_dir : path, optional
        A directory for rows that do not fit in memory, best on an encrypted disk; else the one that the environment
        variable GGDP_TEMP_DIR names. Without either no row is written to disk.
    out : path, optional
        Where to write the tables, .csv or .parquet, with a manifest beside them.
    overwrite : bool, default False
        Whether an earlier output may be replaced. Each run spends the budget again.
    source : Source, optional
        Where the random bits come from; a seeded one leaves the release without a guarantee.

    Returns
    -------
    TableRelease or WrittenRelease
        The tables with their guarantee. A table of more than 5 million cells that Spark counts is drawn by its
        executors and written to `out`, a folder of Parquet files; it stays there.

    Raises
    ------
    ArgumentError
        If the request is wrong, or does not fit the columns of the data; no error depends on a value.
    SourceError
        If the data cannot be read.

    Notes
    -----
    Claim: the release has the guarantee that it carries, for neighbours that differ by one unit. A row has one cell of
    each table or none, whatever it holds; a unit is counted in at most `max_cells` cells of each, chosen from its own
    rows alone, and adds at most 1, or `max_rows_per_cell`, to each of them; so counts move as
    `TableRequest.sensitivity` says, and the noise is proved for that. A unit that is in more cells than are counted
    moves one more number by 1 (`ggdp.tables.cut`).

    Examples
    --------
    >>> import ggdp, polars as pl
    >>> visits = pl.DataFrame({"person": [1, 1, 2, 3], "ward": ["a", "b", "a", "c"]})
    >>> goal, domain = ggdp.PureDP(1.0), ggdp.Domain({"ward": ["a", "b", "c"]})
    >>> release = ggdp.release_table(visits, by="ward", goal=goal, domain=domain, unit="person", max_cells=2)
    >>> release.to_polars()["ward"].to_list()
    ['a', 'b', 'c']
    >>> release.manifest["table"]["unit"]
    {'kind': 'column', 'column': 'person', 'name': None, 'max_cells': 2, 'max_rows_per_cell': None}
    """
    bits = checked_source(source)
    request = TableRequest(
        by=by,  # type: ignore[arg-type]
        goal=goal,
        domain=domain,  # type: ignore[arg-type]
        order=order,
        unit=unit,
        max_cells=max_cells,
        count=count,
        max_rows_per_cell=max_rows_per_cell,
        count_cut=count_cut,
        unit_name=unit_name,
        neighbours=neighbours,
        total=total,
        nonnegative=nonnegative,
        false_cells=false_cells,
        text=text_format(encoding, delimiter, quoted, escape),
    )
    for warning in request.warnings:
        warnings.warn(warning, PrivacyWarning, stacklevel=2)
    if out is not None:
        require_apart(data, require_writable(out, len(request.by), overwrite=overwrite))
    release = release_planned(data, plan_table(request), engine=engine, temp_dir=temp_dir, out=out, source=bits)
    if out is not None and isinstance(release, TableRelease):
        release.write(out, overwrite=overwrite)
    return release


def release_planned(
    data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
    plan: TablePlan,
    *,
    engine: Literal["duckdb", "spark"] | None = None,
    temp_dir: str | Path | None = None,
    out: str | Path | None = None,
    source: Source | None = None,
) -> TableRelease | WrittenRelease:
    """Answer a request that is planned already: open the data, count, draw.

    Large tables of Spark are written to `out` on the way; all others are not written here.
    """
    bits, request = checked_source(source), plan.request
    with open_source(data, engine=engine, columns=request.columns, text=request.text, temp_dir=temp_dir) as opened:
        require_size(request, opened.engine, out)
        query = _query(request, bits)
        opened.check(query)
        cut = _cut(opened, query, plan, bits)
        if opened.engine == "spark" and out is not None and _is_large(request):
            return release_on_executors(opened, query, plan, bits, Path(out), cut)
        answer = {"declared": _declared, "sparse": _sparse, "open": _open, "mixed": _mixed}[request.regime]
        release, keys = answer(opened, query, plan, bits)
    return TableRelease(request=request, release=release, tables=tables_of(release, plan, keys, cut), cut=cut)


def _query(request: TableRequest, bits: Source, only: Sequence[Regime] | None = None) -> CountQuery:
    """Return what is asked of the engine, of all marginals or of those of some regimes."""
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
        key=key,
    )


def _cut(opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> tuple[CutCount, ...]:
    """Release how many units are in more cells than they are counted in, of each table where that can be."""
    if plan.cut is None:
        return ()
    marginals = tuple(query.marginals[table] for table in plan.cut.tables)
    answers = opened.answer(replace(query, marginals=marginals), crowded)
    return plan.cut.released([int(answer.column(0)[0].as_py()) for answer in answers], bits)


def require_size(request: TableRequest, engine: str | None, out: str | Path | None) -> None:
    """Refuse a table with more cells than an engine can release one by one; no data are looked at for it."""
    on_executors = engine == "spark" and out is not None and _is_large(request)
    if on_executors and Path(str(out)).suffix.lower() != ".parquet":
        raise ArgumentError("out", str(out), "must end in .parquet: Spark writes a table of so many cells as a folder")
    if request.false_cells is None and not on_executors and request.numbered_cells > MOST_IN_MEMORY:
        raise too_many_cells(request, MOST_IN_MEMORY)


def _is_large(request: TableRequest) -> bool:
    """Tell, from the request alone, whether a table that Spark counts is drawn by its executors."""
    return (
        request.cells is not None
        and request.numbered_cells > MOST_ON_DRIVER
        and len(request.by) == 1
        and request.total is None
    )


def _declared(opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> tuple[Release, list[pa.Table]]:
    """Release every cell of the domain."""
    request, domains = plan.request, plan.request.domains
    shown = [_possible_cells(domain) for domain in domains]
    counts = [
        _every(one, domain)[cells] for one, domain, cells in zip(opened.count(query), domains, shown, strict=True)
    ]
    noisy = plan.mechanism.release(np.concatenate(counts), source=bits)
    # The same release, with the request's goal among its facts and the units cut in its guarantee.
    promise = None if noisy.guarantee is None else joint(noisy.guarantee, plan.cut)
    release = released(noisy.values, plan.facts, promise)
    ends = np.cumsum([0, *(cells.size for cells in shown)])
    parts = [slice(start, stop) for start, stop in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True)]
    if request.total is not None:
        release = fit_total(release, request.total, nonnegative=request.nonnegative, parts=parts)
    elif request.nonnegative:
        release = clip(release, lower=0)
    return release, [_keys(domain, cells) for domain, cells in zip(domains, shown, strict=True)]


def _sparse(opened: TableSource, query: CountQuery, plan: TablePlan, bits: Source) -> tuple[Release, list[pa.Table]]:
    """Release the cells whose noisy counts are at least the threshold, empty ones too."""
    domains, threshold = plan.request.domains, plan.threshold
    assert threshold is not None
    cells, counts = _laid_out(opened.count(query), domains)
    shown, noisy = sparse_cells(
        cells,
        counts,
        total_cells=sum(domain.size for domain in domains),
        order=plan.mechanism.order,
        scale=plan.mechanism.scale,
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
    """Release every cell of the declared tables, and of the open ones the keys from the threshold on."""
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
        order=plan.mechanism.order,
        scale=plan.mechanism.scale,
        threshold=plan.threshold.value,
        source=bits,
    )
    return table.drop_columns("count").take(places).combine_chunks(), noisy


def _thresholded(noisy: NDArray[np.int64], plan: TablePlan, bits: Source) -> Release:
    release = released(noisy, plan.facts, plan.guarantee if is_private(bits) else None)
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
