"""From noisy sums to what is published of each cell: the count, and each statistic with its interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ggdp.tables.statistics.estimates import count_estimate, single_sum_estimate, sum_estimate
from ggdp.tables.statistics.means import mean_estimate
from ggdp.tables.statistics.noisy_sums import ColumnSums, Estimate
from ggdp.tables.statistics.statistic import Mean, Quantile, Sum
from ggdp.tables.statistics.statistics_plan import measure_of
from ggdp.tables.statistics.sum_groups import STEPS_OF_A_UNIT
from ggdp.tables.statistics.variances import variance_estimate
from ggdp.tables.statistics.weighted_noise import WeightedNoise

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from ggdp.tables.statistics.statistic import Statistic
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


def _estimate(plan: TablePlan, statistic: Statistic, noisy: NDArray[np.float64]) -> Estimate:
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
    if isinstance(statistic, Mean):
        return mean_estimate(column, bounds, noise)
    return variance_estimate(column, bounds, noise)


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
