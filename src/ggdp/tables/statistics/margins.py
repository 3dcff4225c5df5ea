"""What a plan says about its statistics: half-widths, groups of sums, and costs; and the noise with smaller errors.

The half-width of a statistic is half the length of its interval in a cell of n units, all with a value, whose noise
happens to be 0; the largest over the means (and variances) that the cell may have. Those of counts and sums do not
depend on n. That of a mean falls as 1/n and is half the range where an interval would be the whole range; that of a
variance likewise.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ggdp._rounding import rounded_up, rounded_up_text
from ggdp.mechanisms.minkowski_mechanism import MinkowskiMechanism
from ggdp.privacy import Guarantee, PureDP
from ggdp.tables.statistics.estimates import TRIPLE, ColumnSums, checked_range, count_weights
from ggdp.tables.statistics.released_statistics import counting, estimate_of, noise_of, sums_of_groups
from ggdp.tables.statistics.statistic import STATISTICS, MomentStatistic, Quantile, Sum
from ggdp.tables.statistics.statistics_plan import (
    GRID,
    StatisticsPlan,
    block_change,
    in_blocks,
    measure_of,
    statistics_mechanism,
)
from ggdp.tables.statistics.sum_groups import STEPS_OF_A_UNIT
from ggdp.tables.statistics.weighted_noise import LEAST_MISS, Block
from ggdp.tables.table_noise import WORTH, NoisePart, TableNoise

if TYPE_CHECKING:
    from ggdp.domain.value_range import ValueRange
    from ggdp.tables.request import TableRequest
    from ggdp.tables.statistics.weighted_noise import SumNoise
    from ggdp.tables.table_plan import TablePlan

# The sizes of cells that half-widths are stated for.
SIZES = (10, 100, 1_000, 10_000)
# Enough means, and variances for each, to find the largest half-width up to a few per cent.
_MEANS, _VARIANCES = 11, 5
# What noise that columns share may make of the margin of a count, where that of all statistics is smaller.
COUNT_RATIO = 1.1


def statistics_parts(request: TableRequest, goal: Guarantee, split: StatisticsPlan | None) -> TableNoise:
    """Return noise that is independent in every sum, or of blocks if no table has a larger error with it.

    The errors are those of independent noise times a ratio, which is in proportion to 1/epsilon: the larger of that of
    margins of sums and counts, and that of the standard deviations of half the difference of the outer sums of a block,
    which is the error of a mean at the middle of its range, times the number of units. Epsilon is split between tables
    in proportion to their ratios, so that all have the same. A count may have `COUNT_RATIO` of its error.
    """
    assert split is not None
    independent, blocks = statistics_mechanism(goal, split.sensitivity, None), in_blocks(request, split)
    assert blocks is not None
    kept = TableNoise((NoisePart(tuple(range(len(blocks.tables))), independent),))
    changes, every = [block_change(request, blocks, table) for table in range(len(blocks.tables))], PureDP(goal.epsilon)
    alone = [MinkowskiMechanism(every, change, grid=GRID) for change in changes]
    frees = [[group.sums - 1 for group in groups] for groups in blocks.tables]
    if any(sum(free) > LEAST_MISS * noise.law.law.scale for free, noise in zip(frees, alone, strict=True)):
        return kept
    before, after = (
        cast("TablePlan", SimpleNamespace(request=request, statistics=groups, mechanism_of=noise))
        for groups, noise in ((split, lambda _: independent), (blocks, alone.__getitem__))
    )
    half, halves, ratios = independent.std * math.sqrt(0.5), [], []
    for table, (free, noise) in enumerate(zip(frees, alone, strict=True)):
        found = [
            Block(n, (*free[:k], *free[k + 1 :])).deviations(np.array([[-0.5, *[0.0] * (n - 1), 0.5]]))
            for k, n in enumerate(free)
            if n
        ]
        halves.append(float(np.max(found, initial=0.0) or 1.0) * noise.scale)
        (count, *sums), (allowed, *others) = (linear_margins(plan, table).values() for plan in (after, before))
        errors = zip((halves[-1], count, *sums), (half, COUNT_RATIO * allowed, *others), strict=True)
        ratios.append(max(one / other for one, other in errors))
    total, parts = sum(map(Fraction, ratios)), []
    if WORTH * total > 1:
        return kept
    for table, (change, ratio) in enumerate(zip(changes, ratios, strict=True)):
        share = PureDP(-rounded_up(-Fraction(goal.epsilon) * Fraction(ratio) / total, of="epsilon"))
        parts.append(NoisePart((table,), MinkowskiMechanism(share, change, grid=GRID)))
    worst = max(one * float(total) / ratio for one, ratio in zip(halves, ratios, strict=True))
    compared = ((alone[0].record.name, worst), (f"independent {independent.record.name}", half))
    return TableNoise(tuple(parts), compared)


def linear_margins(plan: TablePlan, table: int) -> dict[str, float]:
    """Return the margin of the count of a table, then of its sums, by name: the size of a cell does not change them."""
    assert plan.statistics is not None
    nothing = np.zeros((plan.statistics.sums[table], 1))
    weights = np.concatenate(count_weights(counting(sums_of_groups(plan, table, nothing))))
    found = {"count": float(noise_of(plan, table).half_widths(weights))}
    for statistic in plan.request.table_statistics[table]:
        if isinstance(statistic, Sum):
            for name, values in _names_and_ranges(plan, statistic):
                found[name] = float(estimate_of(plan, table, statistic, nothing, values).upper[0])
    return found


def _names_and_ranges(plan: TablePlan, statistic: Sum | MomentStatistic) -> Iterator[tuple[str, ValueRange]]:
    """Yield the name of a statistic and its range; of ranges by level one for each, with the level."""
    values = measure_of(plan.request, statistic).values
    levels = getattr(values, "levels", None)
    for level, one in enumerate(values.ranges):
        yield statistic.names[0] if levels is None else f"{statistic.names[0]}, {levels[level]}", one


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
        groups, linear = plan.statistics.tables[table], linear_margins(plan, table)
        for statistic in statistics:
            if isinstance(statistic, Quantile):
                continue
            measure = measure_of(plan.request, statistic)
            place, group = next((place, group) for place, group in enumerate(groups) if group.measure == measure)
            for name, values in _names_and_ranges(plan, statistic):
                if isinstance(statistic, Sum):
                    add(name, [linear[name]] * len(SIZES))
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
