"""Comparing a source with its domain before a release. Nothing here is private.

What is counted where is asked of the engine in the same way as a release asks it: each declared column once more with a
level for what is not declared and one for nulls, so that every row has a code.
"""

from __future__ import annotations

import math
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np

from ggdp import _validate
from ggdp.errors import ArgumentError
from ggdp.privacy import ApproxDP
from ggdp.tables.check_max_cells import max_cells_choices, quantiles
from ggdp.tables.check_result import ColumnCheck, MarginalCheck, RangeCheck, TableCheck, UnitCheck
from ggdp.tables.check_text import text_check
from ggdp.tables.column import Column
from ggdp.tables.domain import Domain
from ggdp.tables.engines import CountQuery, open_source
from ggdp.tables.engines.cells import clamped_totals, keys
from ggdp.tables.engines.exact_sums import SummedMeasure
from ggdp.tables.engines.kinds import binned
from ggdp.tables.engines.suggestions import headers_in_errors
from ggdp.tables.engines.text_files import text_format
from ggdp.tables.request import MOST_IN_MEMORY, TableRequest
from ggdp.tables.statistics.statistic import checked_statistics
from ggdp.tables.statistics.statistics_plan import measure_of, plan_statistics

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from ggdp.tables.engines import TableSource
    from ggdp.tables.engines.frames import Frame
    from ggdp.tables.request import Regime
    from ggdp.tables.statistics.statistic import PerUnit, Statistic

_FEW = 5
# A larger share of clamped values is worth a thought.
_MANY_CLAMPED = 0.05
# Names that no level has: they are for private use.
_OTHER, _MISSING = "\ue000", "\ue001"
# Kinds of columns whose values can be listed as text.
_LISTED = ("text", "integer", "boolean", "date")


def check_table(
    data: Any,  # noqa: ANN401 - a path, or any frame that narwhals reads
    by: str | Sequence[str] | Sequence[Sequence[str]] | None,
    domain: Domain | Mapping[str, Any] | str | Path | None = None,
    *,
    unit: str | None = None,
    statistics: Statistic | Sequence[Statistic] = (),
    per_unit: PerUnit | None = None,
    epsilon: float = 1.0,
    engine: Literal["duckdb", "spark"] | None = None,
    encoding: str | None = None,
    delimiter: str | None = None,
    quoted: bool | None = None,
    escape: str | None = None,
    strict_lines: bool | None = None,
    temp_dir: str | Path | None = None,
) -> TableCheck:
    """Compare a source with its domain before a release. NOT private: do not publish the result.

    Parameters
    ----------
    data : path or frame
        As for `ggdp.release_table`.
    by : str, sequence of str, or sequence of sequences of str
        Columns to count by.
    domain : Domain, mapping or path of a TOML file, optional
        The public levels of the columns.
    unit : str, optional
        Column that identifies the unit of each row.
    statistics : sequence of Mean, Sum, Variance or Quantile, optional
        Statistics of the release that is planned: what their ranges would clamp is counted.
    per_unit : {"sum", "mean", "min", "max"}, optional
        With `unit`: how the rows of a unit in a cell would become one value, the sum for sums and else the mean by
        default. Where it is the sum, those that would be clamped are counted.
    epsilon : float, default 1.0
        Epsilon of the release that is planned: what the noise of each `max_cells` is shown for.
    engine : {"duckdb", "spark"}, optional
        Engine that reads files.
    encoding, delimiter, quoted, escape, strict_lines : optional
        How text files are read, as in `ggdp.release_table`.
    temp_dir : path, optional
        A directory for rows that do not fit in memory.

    Returns
    -------
    TableCheck
        What the columns hold, the tables, the units, and how records of text files were read.

    Raises
    ------
    ArgumentError
        If the request is invalid, or does not match the columns of the data.
    SourceError
        If the data cannot be read.

    Notes
    -----
    Do not use the result in the request: a level that is known only from the data must not be declared,
    or the domain would reveal who has it. Take levels from a code book.

    Examples
    --------
    >>> import ggdp, pyarrow as pa
    >>> people = pa.table({"smokes": ["no", "yes", "No", None, "no"]})
    >>> found = ggdp.check_table(people, by="smokes", domain={"smokes": ["no", "yes", "sometimes"]})
    >>> found.columns[0].nulls, found.columns[0].most_frequent, found.columns[0].unseen
    (1, (('No', 1),), ('sometimes',))
    """
    request = _request(by=by, domain=domain, unit=unit, statistics=statistics, per_unit=per_unit)
    epsilon = _validate.positive(epsilon=epsilon)
    declared = {column.name: column for marginal in request.domains for column in marginal}
    text = text_format(encoding, delimiter, quoted, escape, strict_lines)
    opened = partial(open_source, data, engine=engine, columns=request.columns, text=text, temp_dir=temp_dir)
    with headers_in_errors(), opened() as source:
        source.check(CountQuery(marginals=request.domains, measured=_measured(request)))
        columns = tuple(_column(source, column) for column in declared.values())
        ranges = tuple(
            _range(source, request.domain[name], *_clamped_totals(source, request, name))
            for name in _measured_columns(request)
        )
        rows = columns[0].rows if columns else ranges[0].rows
        marginals = tuple(_marginal(source, marginal) for marginal in request.domains if len(marginal))
        units = None if unit is None else _units(source, unit, request, marginals, rows, epsilon)
    regime: Regime = request.regime
    if regime == "declared" and request.numbered_cells > MOST_IN_MEMORY:
        regime = "sparse"
    return TableCheck(
        rows=rows,
        regime=regime,
        columns=columns,
        marginals=marginals,
        units=units,
        ranges=ranges,
        text=text_check(data, text),
    )


def _request(**asked: Any) -> TableRequest:  # noqa: ANN401
    """Return a request for the counts; a check has no guarantee, so any goal with a delta will do."""
    asked |= {"goal": ApproxDP(1.0, 1e-9), "max_cells": None if asked["unit"] is None else 1}
    try:
        return TableRequest(**asked)
    except ArgumentError as refused:
        if refused.argument != "by" or checked_statistics(asked["statistics"]):
            raise
    # What is too large to be listed may still be a sparse table.
    return TableRequest(**asked, false_cells=1.0)


def _column(source: TableSource, column: Column) -> ColumnCheck:
    """Return what one column holds."""
    # Nothing equals this level: all values of an open column are others.
    levels = (_OTHER * 2,) if column.kind == "open" else column.levels
    probe = Column(name=column.name, levels=levels, edges=column.edges, other=_OTHER, missing=_MISSING)
    counts = _by_code(source, probe)
    nulls, unmatched = int(counts[-1]), int(counts[-2])
    said: dict[str, Any] = {"name": column.name, "declared": column.kind, "rows": int(counts.sum()), "nulls": nulls}
    if column.kind == "open":
        distinct = _aggregated(source, Domain([column]), lambda found: found.select(nw.len().alias("n")))
        number = distinct["n"][0].as_py()
        return ColumnCheck(**said, distinct_unmatched=number, advice=_advice(column, nulls, 0))
    unparsable = 0
    if unmatched and column.kind == "bins":
        inner = [edge for edge in column.edges or () if edge not in (-math.inf, math.inf)]
        anywhere = Column(name=column.name, edges=(-math.inf, *inner, math.inf), other=_OTHER, missing=_MISSING)
        unparsable = int(_by_code(source, anywhere)[-2])
    values = _unmatched(source, column, probe) if unmatched else []
    return ColumnCheck(
        **said,
        unmatched=unmatched,
        unparsable=unparsable,
        distinct_unmatched=None if values is None else len(values),
        most_frequent=tuple((values or [])[:_FEW]),
        unseen=tuple(level for level, count in zip(column.levels or (), counts, strict=False) if not count),
        advice=_advice(column, nulls, unmatched),
    )


def _measured_columns(request: TableRequest) -> tuple[str, ...]:
    return tuple(dict.fromkeys(statistic.column for statistic in request.statistics))


def _measured(request: TableRequest) -> tuple[SummedMeasure, ...]:
    """Return the values that statistics are of, so that columns that have no numbers are refused."""
    return plan_statistics(request).measured if request.statistics else ()


def _range(source: TableSource, column: Column, totals_below: int | None, totals_above: int | None) -> RangeCheck:
    """Return what the public range of a column would clamp, of rows and of the sums of units."""
    values = column.values_in
    assert values is not None
    low, high = float(values.low), float(values.high)
    # The last bin has its end; so the end of the range is inside.
    edges = (-math.inf, low, math.nextafter(high, math.inf), math.inf)
    probe = Column(name=column.name, edges=edges, other=_OTHER, missing=_MISSING)
    below, inside, above, unparsable, nulls = _by_code(source, probe).tolist()
    if source.engine.kinds[column.name] == "boolean":
        # Truths are numbers here, 0 and 1, though no bin of numbers holds them.
        inside, unparsable = unparsable, 0
    advice = []
    if below + above > _MANY_CLAMPED * (below + inside + above):
        advice.append("many values would be clamped: is this the range that the code book gives?")
    if unparsable:
        advice.append("values that are not numbers are left out of the statistics")
    return RangeCheck(
        name=column.name,
        range=str(values),
        rows=below + inside + above + unparsable + nulls,
        nulls=nulls,
        not_numbers=unparsable,
        below=below,
        above=above,
        totals_below=totals_below,
        totals_above=totals_above,
        advice=tuple(advice),
    )


def _clamped_totals(source: TableSource, request: TableRequest, column: str) -> tuple[int, int] | tuple[None, None]:
    """Return how many units have a sum in a cell that would be clamped, over all tables, if sums of units are taken."""
    measures = [measure_of(request, statistic) for statistic in request.statistics if statistic.column == column]
    summed = tuple(SummedMeasure(measure, squares=False) for measure in measures if measure.rule == "sum")
    if not summed:
        return None, None
    # No cell is left out, so that the key decides nothing.
    query = CountQuery(marginals=request.domains, unit=request.unit, measured=summed[:1], key=bytes(16))
    tables = source.answer(query, clamped_totals)
    below, above = (sum(table[end][0].as_py() or 0 for table in tables) for end in ("below", "above"))
    return below, above


def _advice(column: Column, nulls: int, unmatched: int) -> tuple[str, ...]:
    found = []
    if column.kind == "open":
        found.append("no levels are declared: they would be chosen privately, which needs a delta and omits rare ones")
    if unmatched and column.other is None:
        found.append("rows that match no level would not be counted: declare a level `other` for them")
    if unmatched:
        found.append("a level seen only in the data must not be declared: take levels from a code book")
    if nulls and column.missing is None and column.kind != "open":
        found.append("rows without a value would not be counted: declare a level `missing` for them")
    return tuple(found)


def _by_code(source: TableSource, probe: Column) -> NDArray[np.int64]:
    """Return how many rows have each code of a column in which every row has one."""
    (counted,) = source.count(CountQuery(marginals=(Domain([probe]),)))
    found = np.zeros(probe.size, dtype=np.int64)
    found[counted.cells] = counted.counts
    return found


def _unmatched(source: TableSource, column: Column, probe: Column) -> list[tuple[str, int]] | None:
    """Return the values that match no level, most frequent first; None for columns that cannot be listed."""
    if source.engine.kinds[column.name] not in _LISTED:
        return None

    def others(found: Frame) -> Frame:
        if column.kind != "bins":
            return found
        return found.filter(binned(nw.col("t0"), "text", probe, nw.String(), source.engine.dialect) == probe.other_code)

    table = _aggregated(source, Domain([Column(name=column.name)]), others)
    known = set(column.texts)
    values = zip(table["t0"].to_pylist(), table["count"].to_pylist(), strict=True)
    left = [(value, count) for value, count in values if _canonical(value, column.kind) not in known]
    return sorted(left, key=lambda pair: (-pair[1], pair[0]))


def _canonical(value: str, declared: str) -> str:
    """Return the text of the level that a value matches (`ggdp.tables.engines.kinds`)."""
    if declared == "boolean":
        return value.lower()
    if declared == "integer" and re.fullmatch(r"[+-]?[0-9]+(\.0*)?", value, re.ASCII):
        return str(int(value.partition(".")[0]))
    return value


def _marginal(source: TableSource, marginal: Domain) -> MarginalCheck:
    table = _aggregated(
        source, marginal, lambda found: found.select(nw.len().alias("n"), nw.col("count").sum().alias("rows"))
    )
    size = None if marginal.is_open else marginal.possible_size
    rows = int(table["rows"][0].as_py() or 0)
    elsewhere = _marginal(source, Domain(marginal.columns)).rows - rows if marginal.impossible else 0
    return MarginalCheck(
        by=marginal.names, cells=size, filled=table["n"][0].as_py(), rows=rows, impossible_rows=elsewhere
    )


def _units(
    source: TableSource,
    unit: str,
    request: TableRequest,
    marginals: Sequence[MarginalCheck],
    rows: int,
    epsilon: float,
) -> UnitCheck:
    """Return how many cells units are in, table by table."""
    column = Column(name=unit)
    whole = _marginal(source, Domain([column]))
    tables = []
    # Without columns all rows are one cell.
    filled = [checked.filled for checked in marginals] or [1]
    for marginal, cells_filled in zip(request.domains, filled, strict=True):
        pairs = Domain([column, *marginal], impossible=marginal.impossible)
        table = _aggregated(source, pairs, _cells_of_units)
        cells, units = (np.array(table[name].to_pylist(), dtype=np.int64) for name in ("cells", "units"))
        # Units that are in no cell.
        cells, units = np.append(cells, 0), np.append(units, whole.filled - int(units.sum()))
        rows_of = _aggregated(source, pairs, _rows_of_pairs)
        most, number = (np.array(rows_of[name].to_pylist(), dtype=np.int64) for name in ("count", "pairs"))
        tables.append(
            {
                "by": marginal.names,
                **max_cells_choices(cells, units, cells_filled, request.sizes, epsilon),
                "row_quantiles": quantiles(most, number),
            }
        )
    return UnitCheck(
        column=unit, units=whole.filled, null_rows=rows - whole.rows, tables=tuple(tables), epsilon=epsilon
    )


def _rows_of_pairs(found: Frame) -> Frame:
    """Return the number of pairs of unit and cell by their number of rows."""
    return found.group_by("count").agg(nw.len().alias("pairs"))


def _cells_of_units(found: Frame) -> Frame:
    """Return the number of units by their number of cells, from one row for each unit and cell."""
    return found.group_by("t0").agg(nw.len().alias("cells")).group_by("cells").agg(nw.len().alias("units"))


def _aggregated(source: TableSource, marginal: Domain, then: Callable[[Frame], Frame]) -> pa.Table:
    """Return what an engine makes of the non-empty keys of a marginal (`t0` or `k0`, ..., `count`)."""
    (table,) = source.answer(CountQuery(marginals=(marginal,)), lambda query: then(keys(query)))
    return table
