"""From a plan to what is published of each cell: the count, and each statistic with its interval.

The engine adds up, noise is drawn, and all that is published follows from the noisy sums and the drawn quantiles.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ggdp.mechanisms.quantiles import CellValues
from ggdp.noise.entropy import is_private
from ggdp.releases.release import make_release
from ggdp.sources.measures import SummedMeasure
from ggdp.tables.statistics.estimates import ColumnSums, Estimate, count_estimate, single_sum_estimate, sum_estimate
from ggdp.tables.statistics.statistic import MomentStatistic, Quantile, Sum
from ggdp.tables.statistics.statistics_plan import measure_of
from ggdp.tables.statistics.sum_groups import STEPS_OF_A_UNIT, SumGroup
from ggdp.tables.statistics.weighted_noise import WeightedNoise

if TYPE_CHECKING:
    from ggdp.noise import Source
    from ggdp.releases import Release
    from ggdp.sources.query import CountQuery, TableSource
    from ggdp.tables.table_plan import TablePlan


# Floats hold every whole number up to it.
_EXACT = 2.0**53


class PublishedStatistic(NamedTuple):
    """A statistic of each cell, with its 95 % interval; a value that is NaN is null."""

    name: str
    value: NDArray[np.float64]
    lower: NDArray[np.float64]
    upper: NDArray[np.float64]


def noise_of(plan: TablePlan) -> WeightedNoise:
    """Return the noise of each sum, in steps."""
    return WeightedNoise(order=plan.mechanism.law.order, scale=plan.mechanism.law.scale)


def noisy_sums(
    opened: TableSource, query: CountQuery, plan: TablePlan, shown: Sequence[NDArray[np.int64]], bits: Source
) -> Release:
    """Return the noisy sums of the cells `shown`, table after table: a row for each sum, a column for each cell."""
    assert plan.statistics is not None
    answers, steps = opened.sums(replace(query, measured=plan.statistics.summed)), []
    for (non_empty, found), domain, cells in zip(answers, plan.request.domains, shown, strict=True):
        groups = zip(plan.statistics.groups, found, strict=True)
        every = np.zeros((plan.statistics.sums, domain.size), dtype=np.int64)
        every[:, non_empty] = np.concatenate([group.steps(sums) for group, sums in groups])
        steps.append(every[:, cells].reshape(-1))
    # The sensitivity is about groups of sums, of which a mechanism's `release` knows nothing.
    values = plan.mechanism.noise.add(np.concatenate(steps), bits) / STEPS_OF_A_UNIT
    return make_release(values, plan.described_mechanism, plan.guarantee if is_private(bits) else None)


def draw_quantiles(
    opened: TableSource, query: CountQuery, plan: TablePlan, shown: Sequence[NDArray[np.int64]], bits: Source
) -> list[list[PublishedStatistic]]:
    """Return the quantiles of each table in the unit of their columns; null where nothing is known of a cell."""
    assert plan.statistics is not None
    found: list[list[PublishedStatistic]] = [[] for _ in shown]
    for planned in plan.statistics.quantiles:
        values = planned.measure.values
        asked = replace(query, measured=(SummedMeasure(planned.measure, squares=False),))
        for table, ((at, steps, counts), cells) in enumerate(zip(opened.steps(asked), shown, strict=True)):
            # Only cells that are published have rows.
            places = np.searchsorted(cells, at)
            drawn = planned.of_a_cell.draw(CellValues.of(places, steps, counts, cells=cells.size), bits)
            value, lower, upper = (
                (steps + values.offset).astype(np.float64) * values.step.numerator / values.step.denominator
                for steps in (drawn.values, drawn.lower, drawn.upper)
            )
            value = np.where(drawn.known, value, np.nan)
            columns = zip(planned.statistic.names, value.T, lower.T, upper.T, strict=True)
            found[table] += [PublishedStatistic(*column) for column in columns]
    return found


def sums_of_groups(plan: TablePlan, noisy: NDArray[np.float64]) -> list[tuple[SumGroup, ColumnSums]]:
    """Return each group with its noisy sums, in steps, from the noisy sums of a table."""
    assert plan.statistics is not None
    groups = plan.statistics.groups
    parts = np.split(noisy * STEPS_OF_A_UNIT, np.cumsum([group.sums for group in groups[:-1]], dtype=np.intp))
    return [(group, ColumnSums(sums=part.T, unit=group.size)) for group, part in zip(groups, parts, strict=True)]


def published_count(plan: TablePlan, noisy: NDArray[np.float64]) -> Estimate:
    """Return the number of units of each cell, from the noisy sums of a table: a row for each sum."""
    return count_estimate([sums for group, sums in sums_of_groups(plan, noisy) if group.counts_units], noise_of(plan))


def published_statistics(
    plan: TablePlan, noisy: NDArray[np.float64], quantiles: Sequence[PublishedStatistic]
) -> tuple[PublishedStatistic, ...]:
    """Return the statistics of each cell in the order of the request, from noisy sums and quantiles of a table."""
    found = {quantile.name: quantile for quantile in quantiles}
    for statistic in plan.request.statistics:
        if not isinstance(statistic, Quantile):
            (name,), estimate = statistic.names, estimate_of(plan, statistic, noisy)
            found[name] = PublishedStatistic(name, estimate.value, estimate.lower, estimate.upper)
    shown = (found[name] for statistic in plan.request.statistics for name in statistic.names)
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


def estimate_of(plan: TablePlan, statistic: MomentStatistic | Sum, noisy: NDArray[np.float64]) -> Estimate:
    """Return a statistic of each cell, from the noisy sums of a table."""
    measure, noise, groups = measure_of(plan.request, statistic), noise_of(plan), sums_of_groups(plan, noisy)
    group, column = next((group, sums) for group, sums in groups if group.measure == measure)
    if group.kind == "sum":
        step = float(measure.values.step) * group.largest / group.size
        return single_sum_estimate(column.sums[:, 0], step, noise)
    bounds = (float(measure.values.low), float(measure.values.high))
    if isinstance(statistic, Sum):
        others = [sums for other, sums in groups if other is not group and other.counts_units]
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
