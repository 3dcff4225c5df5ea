"""What a plan says about its statistics: half-widths, groups of sums, and costs.

The half-width of a statistic is half the length of its interval in a cell of n units, all with a value, whose noise
happens to be 0; the largest over the means (and variances) that the cell may have. Those of counts and sums do not
depend on n. That of a mean falls as 1/n and is half the range where an interval would be the whole range; that of a
variance likewise.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp._rounding import rounded_up_text
from ggdp.tables.statistics.estimates import TRIPLE, ColumnSums, checked_range, count_weights
from ggdp.tables.statistics.released_statistics import counting, estimate_of, noise_of, sums_of_groups
from ggdp.tables.statistics.statistic import STATISTICS, Quantile, Sum
from ggdp.tables.statistics.statistics_plan import StatisticsPlan, measure_of
from ggdp.tables.statistics.sum_groups import STEPS_OF_A_UNIT

if TYPE_CHECKING:
    from ggdp.tables.statistics.weighted_noise import SumNoise
    from ggdp.tables.table_plan import TablePlan

# The sizes of cells that half-widths are stated for.
SIZES = (10, 100, 1_000, 10_000)
# Enough means, and variances for each, to find the largest half-width up to a few per cent.
_MEANS, _VARIANCES = 11, 5


def count_half_width(plan: TablePlan) -> int:
    """Return the half-width of the 95 % interval of a count; the largest of all tables."""
    assert plan.statistics is not None
    found = []
    for table, sums in enumerate(plan.statistics.sums):
        columns = counting(sums_of_groups(plan, table, np.zeros((sums, 1))))
        found.append(math.ceil(noise_of(plan, table).half_widths(np.concatenate(count_weights(columns)))))
    return max(found)


def half_widths(plan: TablePlan) -> dict[str, list[float]]:
    """Return the half-widths of each statistic in cells of `SIZES` units; those of quantiles are numbers of units.

    Those of a statistic of several tables are the largest, as are those of quantiles of levels with ranges of their
    own; those of other statistics are by level there.
    """
    assert plan.statistics is not None
    found: dict[str, list[float]] = {}

    def add(name: str, widths: Sequence[float]) -> None:
        found[name] = list(map(max, found.get(name, widths), widths))

    for table, statistics in enumerate(plan.request.table_statistics):
        groups = {group.measure: (place, group) for place, group in enumerate(plan.statistics.tables[table])}
        for statistic in statistics:
            if isinstance(statistic, Quantile):
                continue
            measure = measure_of(plan.request, statistic)
            (place, group), levels = groups[measure], getattr(measure.values, "levels", None)
            for level, values in enumerate(measure.values.ranges):
                name = statistic.names[0] if levels is None else f"{statistic.names[0]}, {levels[level]}"
                if isinstance(statistic, Sum):
                    nothing = np.zeros((plan.statistics.sums[table], 1))
                    add(name, [float(estimate_of(plan, table, statistic, nothing, values).upper[0])] * len(SIZES))
                else:
                    kind, noise = (group.size, group.sums + group.complete), noise_of(plan, table, place)
                    halves = ratio_margins(statistic.kind, kind, (0.0, 1.0), noise)
                    width = float(values.high) - float(values.low)
                    add(name, [half * width**statistic.degree for half in halves])
    for planned in plan.statistics.quantiles:
        for values in dict.fromkeys(planned.measure.values.ranges):
            errors = [planned.of_cells(values).rank_errors(size) for size in SIZES]
            for place, name in enumerate(planned.statistic.names):
                add(name, [error[place] for error in errors])
    return found


# A plan is described several times.
@lru_cache(maxsize=64)
def ratio_margins(
    statistic: str,
    kind: tuple[int, int],
    bounds: tuple[float, float],
    noise: SumNoise,
    sizes: tuple[int, ...] = SIZES,
) -> tuple[float, ...]:
    """Return the half-widths of a moment statistic in cells of these sizes; `kind` is the unit and how many sums."""
    (lo, hi), (unit, coordinates) = checked_range(bounds), kind
    means, shares = np.linspace(0.0, 1.0, _MEANS), np.linspace(0.0, 1.0, _VARIANCES)
    if coordinates == TRIPLE:
        mean, share = np.repeat(means, _VARIANCES), np.tile(shares, _MEANS)
        second = np.square(mean) + share * mean * (1.0 - mean)
        of_a_unit = [np.zeros_like(mean), 1.0 - 2.0 * mean + second, 2.0 * (mean - second), second]
    else:
        of_a_unit = [np.zeros_like(means), 1.0 - means, means]
    sums = np.multiply.outer(np.array(sizes, dtype=np.float64) * unit, np.stack(of_a_unit, axis=1))
    column = ColumnSums(sums=sums.reshape(-1, coordinates), unit=unit)
    _, lower, upper = STATISTICS[statistic].parts(column, noise, 0.95)
    longest = (upper - lower).reshape(len(sizes), -1).max(axis=1)
    return tuple(float(half) for half in 0.5 * (hi - lo) ** STATISTICS[statistic].degree * longest)


def half_width_rows(plan: TablePlan) -> list[tuple[str, str]]:
    """Return the half-widths of statistics in words, a name and a text in each row."""
    assert plan.statistics is not None
    sizes = " / ".join(f"{size:,}" for size in SIZES)
    ranks = {name for planned in plan.statistics.quantiles for name in planned.statistic.names}
    rows = []
    for name, widths in half_widths(plan).items():
        shown = " / ".join(rounded_up_text(width) for width in widths)
        if name in ranks:
            # A bound for all data; most are far from it.
            rows.append((name, f"plus-minus at most {shown} ranks at 95 %, in cells of {sizes} units"))
        elif len(set(widths)) == 1:
            rows.append((name, f"plus-minus {rounded_up_text(widths[0])} at 95 %"))
        else:
            rows.append((name, f"plus-minus {shown} at 95 %, in cells of {sizes} units"))
    return rows


def describe_split(split: StatisticsPlan) -> dict[str, Any]:
    """Return the groups of sums and the costs of quantiles as plain values, ready for JSON.

    What is not of every table names its tables, which are numbered from 1.
    """

    def of(tables: Collection[int]) -> dict[str, Any]:
        return {} if len(tables) == len(split.tables) else {"tables": [table + 1 for table in tables]}

    return {
        "groups": [
            {
                "kind": group.kind,
                "column": None if group.measure is None else group.measure.column,
                "per_unit": None if group.measure is None else group.measure.rule,
                "size": group.size / STEPS_OF_A_UNIT,
                **of([table for table, groups in enumerate(split.tables) if group in groups]),
            }
            for group in split.groups
        ],
        "quantiles": [
            {
                "column": planned.measure.column,
                "per_unit": planned.measure.rule,
                "epsilon": planned.epsilon,
                **of(planned.tables),
            }
            for planned in split.quantiles
        ],
    }
