"""From a plan to what is published of each cell: the count, and each statistic with its interval.

The engine adds up, noise is drawn, and all that is published follows from the noisy sums and the drawn quantiles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from attrs import evolve
from numpy.typing import NDArray

from ggdp.domain.value_range import ValueRange
from ggdp.errors import ChangedSourceError
from ggdp.mechanisms.quantiles import CellValues
from ggdp.noise.entropy import is_private
from ggdp.releases.mechanism_record import LEVEL, thresholded_intervals
from ggdp.releases.release import make_release
from ggdp.sources.measures import CellSums, Measure, SummedMeasure
from ggdp.tables.statistics.estimates import ColumnSums, Estimate, count_estimate, single_sum_estimate, sum_estimate
from ggdp.tables.statistics.statistic import MomentStatistic, Quantile, Sum
from ggdp.tables.statistics.statistics_plan import measure_of
from ggdp.tables.statistics.sum_groups import STEPS_OF_A_UNIT, SumGroup
from ggdp.tables.statistics.weighted_noise import BlockNoise, SumNoise, WeightedNoise

if TYPE_CHECKING:
    import pyarrow as pa

    from ggdp.noise import Source
    from ggdp.releases import Release
    from ggdp.sources.query import CountQuery, TableSource
    from ggdp.tables.table_plan import TablePlan


# Floats hold every whole number up to it.
_EXACT = 2.0**53


class ShownCells(NamedTuple):
    """The cells of a table that are published, in increasing order, and which of its non-empty cells these are."""

    cells: NDArray[np.int64]
    is_shown: NDArray[np.bool_]  # of the non-empty cells
    places: NDArray[np.intp]  # where those that are shown stand among the published ones
    noisy: NDArray[np.int64] | None = None  # noisy counts that they were chosen by, in steps

    @classmethod
    def of(
        cls, cells: NDArray[np.int64], non_empty: NDArray[np.int64], noisy: NDArray[np.int64] | None = None
    ) -> ShownCells:
        """Return published cells, given the non-empty ones."""
        is_shown = np.isin(non_empty, cells)
        return cls(cells, is_shown, np.searchsorted(cells, non_empty[is_shown]), noisy)


class PublishedStatistic(NamedTuple):
    """A statistic of each cell, with its 95 % interval; a value that is NaN is null."""

    name: str
    value: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def noise_of(plan: TablePlan, table: int = 0, group: int = 0) -> SumNoise:
    """Return the noise of the sums of a group of a table, in steps."""
    assert plan.statistics is not None
    certificate = plan.mechanism_of(table).record.certificate
    assert certificate is not None
    law = certificate.law
    if law.norm is None:
        return WeightedNoise(order=law.order, scale=law.scale)
    free = [one.sums - 1 for one in plan.statistics.tables[table]]
    return BlockNoise(scale=law.scale, free=free.pop(group), others=tuple(free))


def require_one_total(source: str, totals: Sequence[Any]) -> None:
    """Raise if complete tables, or blocks of sums, have different totals: noise with one total would show that.

    Claim. A source that is the same whenever it is read never fails: its totals are those of the same units. So whether
    it fails depends on no row, but on whether the source changed between two looks at it.
    """
    if any(not np.array_equal(total, totals[0]) for total in totals):
        raise ChangedSourceError(source)


def noisy_sums(
    plan: TablePlan,
    summed: Sequence[tuple[NDArray[np.int64] | pa.Table, tuple[CellSums, ...]]],
    shown: Sequence[ShownCells],
    keys: Sequence[pa.Table],
    bits: Source,
    source: str,
) -> Release:
    """Return the noisy sums of the cells shown, table after table: a row for each sum, a column for each cell.

    Of cells that were chosen by their noisy counts these come first, and are not drawn again.
    """
    assert plan.statistics is not None
    measures: list[Measure | None] = [summed.measure for summed in plan.statistics.summed] or [None]
    steps = []
    for groups, (_, found), one, key in zip(plan.statistics.tables, summed, shown, keys, strict=True):
        sums = [CellSums(*(part[one.is_shown] for part in each)) for each in found]
        of_measure = dict(zip(measures, sums, strict=True))
        exact = [
            group.steps(
                of_measure.get(group.measure, sums[0]),
                None if group.measure is None else group.measure.values.in_cells(key, one.places),
            )
            for group in groups
            if group.kind != "key"
        ]
        every = np.zeros((sum(map(len, exact)), one.cells.size), dtype=np.int64)
        if exact:
            every[:, one.places] = np.concatenate(exact)
        steps.append(every)
    if plan.statistics.blocks:
        for groups, every in zip(plan.statistics.tables, steps, strict=True):
            ends = np.cumsum([group.sums for group in groups])[:-1]
            require_one_total(source, [block.sum(axis=0) for block in np.split(every, ends)])
        # Draws are of all sums of a cell.
        drawn = [plan.mechanism_of(table).noise.add(every.T.reshape(-1), bits) for table, every in enumerate(steps)]
        parts = [noisy.reshape(every.shape[::-1]).T.reshape(-1) for noisy, every in zip(drawn, steps, strict=True)]
    else:
        noisy = plan.mechanism.noise.add(np.concatenate([every.reshape(-1) for every in steps]), bits)
        parts = np.split(noisy, np.cumsum([every.size for every in steps[:-1]], dtype=np.intp))
    pairs = [([] if one.noisy is None else [one.noisy]) + [part] for one, part in zip(shown, parts, strict=True)]
    # The sensitivity is about groups of sums, of which a mechanism's `release` knows nothing.
    values = np.concatenate([part for pair in pairs for part in pair]) / STEPS_OF_A_UNIT
    return make_release(values, plan.described_mechanism, plan.guarantee if is_private(bits) else None)


def draw_quantiles(
    opened: TableSource,
    query: CountQuery,
    plan: TablePlan,
    shown: Sequence[ShownCells],
    keys: Sequence[pa.Table],
    bits: Source,
) -> list[list[PublishedStatistic]]:
    """Return the quantiles of each table in the unit of their columns; null where nothing is known of a cell."""
    assert plan.statistics is not None
    found: list[list[PublishedStatistic]] = [[] for _ in shown]
    for planned in plan.statistics.quantiles:
        asked = replace(query.of_tables(planned.tables), measured=(SummedMeasure(planned.measure, squares=False),))
        for table, (at, steps, counts) in zip(planned.tables, opened.steps(asked), strict=True):
            cells, names = shown[table].cells, planned.statistic.names
            columns = np.empty((len(names), 3, cells.size))
            for values, here in _cells_by_range(planned.measure, keys[table], cells.size):
                one = ShownCells.of(cells[here], at)
                of_cells = CellValues.of(one.places, steps[one.is_shown], counts[one.is_shown], cells=max(here.size, 1))
                drawn = planned.of_cells(values).draw(of_cells, bits)
                value, lower, upper = (
                    (steps + values.offset).astype(np.float64) * values.step.numerator / values.step.denominator
                    for steps in (drawn.values, drawn.lower, drawn.upper)
                )
                value = np.where(drawn.known, value, np.nan)
                columns[:, :, here] = np.stack([value.T, lower.T, upper.T], axis=1)[:, :, : here.size]
            found[table] += [PublishedStatistic(name, *column) for name, column in zip(names, columns, strict=True)]
    return found


def _cells_by_range(measure: Measure, keys: pa.Table, size: int) -> list[tuple[ValueRange, NDArray[np.intp]]]:
    """Return the ranges that published cells have, each with the places of its cells."""
    if isinstance(measure.values, ValueRange):
        return [(measure.values, np.arange(size))]
    places = measure.values.places(keys)
    return [(measure.values.ranges[place], np.flatnonzero(places == place)) for place in np.unique(places)]


def sums_of_groups(plan: TablePlan, table: int, noisy: NDArray[np.float64]) -> list[tuple[SumGroup, ColumnSums]]:
    """Return each group of a table with its noisy sums, in steps, from those of the table."""
    assert plan.statistics is not None
    groups = plan.statistics.tables[table]
    parts = np.split(noisy * STEPS_OF_A_UNIT, np.cumsum([group.sums for group in groups[:-1]], dtype=np.intp))
    # Of a complete column nobody is without a value.
    found = [np.pad(part, ((int(group.complete), 0), (0, 0))) for group, part in zip(groups, parts, strict=True)]
    return [(group, ColumnSums(sums=part.T, unit=group.size)) for group, part in zip(groups, found, strict=True)]


def counting(groups: Sequence[tuple[SumGroup, ColumnSums]]) -> list[ColumnSums]:
    """Return the sums that counts are estimated from: all that count units, or the one that cells were chosen by.

    Of blocks, which have one total, it is one.
    """
    keys = [sums for group, sums in groups if group.kind == "key" or group.block]
    return keys[:1] or [sums for group, sums in groups if group.counts_units]


def published_count(plan: TablePlan, table: int, noisy: NDArray[np.float64]) -> Estimate:
    """Return the number of units of each cell, from the noisy sums of a table: a row for each sum."""
    groups = sums_of_groups(plan, table, noisy)
    if plan.threshold is None or groups[0][0].kind != "key":
        return count_estimate(counting(groups), noise_of(plan, table))
    (_, column), size = groups[0], groups[0][0].size
    law, steps = evolve(plan.mechanism.law, step=None), np.rint(column.sums[:, 0]).astype(np.int64)
    threshold = evolve(plan.threshold, value=plan.threshold.value * size)
    lower, upper = thresholded_intervals(law, threshold, steps, LEVEL)
    value = (steps + size // 2) // size
    return Estimate(value, np.minimum(-(-lower // size), value), np.maximum(upper // size, value))


def published_statistics(
    plan: TablePlan, table: int, noisy: NDArray[np.float64], quantiles: Sequence[PublishedStatistic], keys: pa.Table
) -> tuple[PublishedStatistic, ...]:
    """Return the statistics of each cell in the order of the request, from noisy sums and quantiles of a table."""
    found, statistics = {quantile.name: quantile for quantile in quantiles}, plan.request.table_statistics[table]
    for statistic in statistics:
        if not isinstance(statistic, Quantile):
            (name,), values = statistic.names, measure_of(plan.request, statistic).values.in_cells(keys)
            estimate = estimate_of(plan, table, statistic, noisy, values)
            found[name] = PublishedStatistic(name, estimate.value, estimate.lower, estimate.upper)
    shown = (found[name] for statistic in statistics for name in statistic.names)
    digits = plan.request.digits
    return tuple(shown if digits is None else (rounded_outwards(one, digits) for one in shown))


def rounded_outwards(statistic: PublishedStatistic, digits: int) -> PublishedStatistic:
    """Return a statistic with its values rounded to decimal digits, and its intervals outwards to as many.

    Claim. The new interval contains the old one, so it covers no less; and it contains the rounded value, since
    rounding down and up are monotone and the old interval contained the value.
    """
    name, value, lower, upper = statistic
    one = 10.0**digits

    def down(x: NDArray[np.float64]) -> NDArray[np.float64]:
        steps = np.floor(x * one)
        # The product may have been rounded up to a whole number.
        found = np.where(steps / one > x, steps - 1.0, steps) / one
        # Beyond all floats, or with more digits than they have, there is nothing to round.
        return np.where(np.abs(x) * one < _EXACT, found, x)

    nearest = np.where(np.abs(value) * one < _EXACT, np.rint(value * one) / one, value)
    lower, upper = down(lower), -down(-upper)
    return PublishedStatistic(name, np.clip(nearest, lower, upper), lower, upper)


def estimate_of(
    plan: TablePlan,
    table: int,
    statistic: MomentStatistic | Sum,
    noisy: NDArray[np.float64],
    values: Any,  # noqa: ANN401 - `ValueRange.in_cells`
) -> Estimate:
    """Return a statistic of each cell, from the noisy sums of a table and the ranges of its cells."""
    measure, groups = measure_of(plan.request, statistic), sums_of_groups(plan, table, noisy)
    place, group, column = next((k, one, sums) for k, (one, sums) in enumerate(groups) if one.measure == measure)
    noise = noise_of(plan, table, place)
    if group.kind == "sum":
        step = np.asarray(values.step, np.float64) * np.asarray(group.largest(values), np.float64) / group.size
        return single_sum_estimate(column.sums[:, 0], step, noise)
    bounds = (np.asarray(values.low, np.float64), np.asarray(values.high, np.float64))
    if isinstance(statistic, Sum):
        others = [sums for other, sums in groups if other is not group and other.counts_units and not group.block]
        return sum_estimate(column, bounds, noise, others=others)
    return statistic.estimate(column, bounds, noise)


def shown_estimate(row: Mapping[str, Any], name: str, digits: int | None = None) -> tuple[str, str]:
    """Return the value and the interval of a statistic in a row, as text with as many digits as it has error.

    Where `digits` were requested, there are as many.
    """
    value, lower, upper = (row[name + end] for end in ("", "_lower", "_upper"))
    width = upper - lower
    # Three digits of the width.
    places = max(2 - math.floor(math.log10(width)), 0) if 0.0 < width < math.inf else 0
    places = places if digits is None else digits
    return "" if value is None else f"{value:,.{places}f}", f"{lower:,.{places}f} to {upper:,.{places}f}"
