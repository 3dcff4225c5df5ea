"""From noisy sums to what is published of each cell: the count, and each statistic with its interval.

From a plan to noisy sums: the engine adds up, noise is drawn, and what is published follows from the noisy sums.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ggdp.mechanisms.quantiles import CellValues
from ggdp.noise.entropy import is_private
from ggdp.releases.release import make_release
from ggdp.sources.measures import SummedMeasure
from ggdp.tables.statistics.estimates import (
    ColumnSums,
    Estimate,
    count_estimate,
    single_sum_estimate,
    sum_estimate,
)
from ggdp.tables.statistics.statistic import Quantile, Sum
from ggdp.tables.statistics.statistics_plan import measure_of
from ggdp.tables.statistics.sum_groups import STEPS_OF_A_UNIT
from ggdp.tables.statistics.weighted_noise import WeightedNoise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ggdp.mechanisms.quantiles import QuantileDraws
    from ggdp.noise import Source
    from ggdp.releases import Release
    from ggdp.sources.query import CountQuery, MeasuredCells, TableSource
    from ggdp.tables.statistics.statistic import MomentStatistic
    from ggdp.tables.statistics.statistics_plan import PlannedQuantiles
    from ggdp.tables.statistics.sum_groups import SumGroup
    from ggdp.tables.table_plan import TablePlan


class PublishedStatistic(NamedTuple):
    """A statistic of each cell, with its 95 % interval; a value that is NaN is null."""

    name: str
    value: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def noise_of(plan: TablePlan) -> WeightedNoise:
    """Return the noise of each sum, in steps."""
    law = plan.mechanism.law
    return WeightedNoise(order=law.order, scale=law.scale)


def published_count(plan: TablePlan, noisy: NDArray[np.float64]) -> Estimate:
    """Return the number of units of each cell, from the noisy sums of a table: a row for each sum."""
    noise, parts = noise_of(plan), _parts(plan, noisy)
    columns = [_column_sums(group, part) for group, part in parts if group.sums > 1]
    if columns:
        return count_estimate(columns, noise)
    ((group, part),) = parts
    found = single_sum_estimate(part[0], 1.0 / group.size, noise)
    value = np.rint(found.value)
    ends = (value, np.minimum(np.ceil(found.lower), value), np.maximum(np.floor(found.upper), value))
    return Estimate(*(end.astype(np.int64) for end in ends))


def published_statistics(plan: TablePlan, noisy: NDArray[np.float64]) -> tuple[PublishedStatistic, ...]:
    """Return means, sums and variances of each cell, from the noisy sums of a table, in the order of the request."""
    found = []
    for statistic in plan.request.statistics:
        if not isinstance(statistic, Quantile):
            estimate = _estimate(plan, statistic, noisy)
            found.append(PublishedStatistic(statistic.names[0], estimate.value, estimate.lower, estimate.upper))
    return tuple(found)


def in_requested_order(plan: TablePlan, found: Sequence[PublishedStatistic]) -> tuple[PublishedStatistic, ...]:
    """Return published statistics in the order of the request."""
    by_name = {statistic.name: statistic for statistic in found}
    return tuple(by_name[name] for statistic in plan.request.statistics for name in statistic.names)


def _estimate(plan: TablePlan, statistic: MomentStatistic | Sum, noisy: NDArray[np.float64]) -> Estimate:
    measure, noise = measure_of(plan.request, statistic), noise_of(plan)
    bounds = (float(measure.values.low), float(measure.values.high))
    parts = _parts(plan, noisy)
    group, part = next((group, part) for group, part in parts if group.measure == measure)
    if group.kind == "sum":
        return single_sum_estimate(part[0], float(measure.values.step) * group.largest / group.size, noise)
    column = _column_sums(group, part)
    if isinstance(statistic, Sum):
        others = [_column_sums(other, sums) for other, sums in parts if other is not group and other.sums > 1]
        return sum_estimate(column, bounds, noise, others=others)
    return statistic.estimate(column, bounds, noise)


def _parts(plan: TablePlan, noisy: NDArray[np.float64]) -> list[tuple[SumGroup, NDArray[np.float64]]]:
    """Return each group with its noisy sums, in steps."""
    assert plan.statistics is not None
    found, first = [], 0
    for group in plan.statistics.groups:
        found.append((group, noisy[first : first + group.sums] * STEPS_OF_A_UNIT))
        first += group.sums
    return found


def _column_sums(group: SumGroup, part: NDArray[np.float64]) -> ColumnSums:
    return ColumnSums(sums=part.T, unit=group.size)


def shown_estimate(row: Mapping[str, Any], name: str) -> tuple[str, str]:
    """Return the value and the interval of a statistic in a row, as text with as many digits as it has error."""
    value, lower, upper = (row[name + end] for end in ("", "_lower", "_upper"))
    places = _places(upper - lower)
    shown = "" if value is None else f"{value:,.{places}f}"
    return shown, f"{lower:,.{places}f} to {upper:,.{places}f}"


def _places(width: float) -> int:
    """Return how many decimal places show three digits of a width."""
    return 0 if not 0.0 < width < math.inf else max(2 - math.floor(math.log10(width)), 0)


def noisy_sums(
    opened: TableSource, query: CountQuery, plan: TablePlan, shown: Sequence[NDArray[np.int64]], bits: Source
) -> Release:
    """Return the noisy sums of all tables, one after another, each with a row for each sum and a column for each cell.

    Parameters
    ----------
    opened : TableSource
        The data.
    query : CountQuery
        The tables and units.
    plan : TablePlan
        The plan, whose `statistics` says what is added up.
    shown : sequence of numpy.ndarray
        The cells of each table that are published.
    bits : Source
        Where the random bits come from.
    """
    assert plan.statistics is not None
    answers = opened.sums(replace(query, measured=plan.statistics.summed))
    steps = [
        _steps(plan.statistics.groups, answer, domain.size)[:, cells].reshape(-1)
        for answer, domain, cells in zip(answers, plan.request.domains, shown, strict=True)
    ]
    # The sensitivity is about groups of sums, of which a mechanism's `release` knows nothing.
    values = plan.mechanism.noise.add(np.concatenate(steps), bits) / STEPS_OF_A_UNIT
    return make_release(values, plan.described_mechanism, plan.guarantee if is_private(bits) else None)


def _steps(groups: Sequence[SumGroup], answer: MeasuredCells, size: int) -> NDArray[np.int64]:
    """Return the sums of every cell of a table, empty ones too, in steps: a row for each sum."""
    found, measured = [], iter(answer.sums)
    for group in groups:
        steps = group.steps(next(measured))
        every = np.zeros((group.sums, size), dtype=np.int64)
        every[:, answer.cells] = steps
        found.append(every)
    return np.concatenate(found)


def drawn_quantiles(
    opened: TableSource, query: CountQuery, plan: TablePlan, shown: Sequence[NDArray[np.int64]], bits: Source
) -> list[list[PublishedStatistic]]:
    """Return the quantiles of each table, with their intervals."""
    assert plan.statistics is not None
    found: list[list[PublishedStatistic]] = [[] for _ in shown]
    for planned in plan.statistics.quantiles:
        asked = replace(query, measured=(SummedMeasure(planned.measure, squares=False),))
        for table, (answer, cells) in enumerate(zip(opened.steps(asked), shown, strict=True)):
            # Only cells that are published have rows.
            places = np.searchsorted(cells, answer.cells)
            values = CellValues.of(places, answer.steps, answer.counts, cells=cells.size)
            found[table] += _published(planned, planned.of_a_cell.draw(values, bits))
    return found


def _published(planned: PlannedQuantiles, draws: QuantileDraws) -> list[PublishedStatistic]:
    """Return quantiles in the unit of the column; null where nothing is known of a cell."""
    values = planned.measure.values
    numerator, denominator = values.step.numerator, values.step.denominator

    def in_units(steps: NDArray[np.int64]) -> NDArray[np.float64]:
        return (steps + values.offset).astype(np.float64) * numerator / denominator

    found = []
    for place, name in enumerate(planned.statistic.names):
        value = np.where(draws.known[:, place], in_units(draws.values[:, place]), np.nan)
        ends = (in_units(draws.lower[:, place]), in_units(draws.upper[:, place]))
        found.append(PublishedStatistic(name, value, *ends))
    return found


def sums_of_table(plan: TablePlan, release: Release, shown: Sequence[int], table: int) -> NDArray[np.float64]:
    """Return the noisy sums of one table: a row for each sum. `shown` has the number of cells of each table."""
    assert plan.statistics is not None
    sums = plan.statistics.sums
    start = sums * sum(shown[:table])
    return release.values[start : start + sums * shown[table]].reshape(sums, shown[table])
