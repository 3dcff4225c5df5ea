"""What a plan says about its statistics: groups of sums, costs, errors, and sentences for statements and columns.

What intervals will look like, before any data are read: half-widths of statistics in cells of some sizes.

The half-width of a statistic is half the length of its interval in a cell of n units, all with a value, whose noise
happens to be 0; the largest over the means (and variances) that the cell may have. Those of counts and sums do not
depend on n. That of a mean falls as 1/n and is half the range where an interval would be the whole range; that of a
variance likewise.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ggdp._rounding import rounded_up_text
from ggdp.tables.statistics.estimates import (
    TRIPLE,
    ColumnSums,
    checked_range,
    count_weights,
    sum_weights,
)
from ggdp.tables.statistics.released_statistics import noise_of
from ggdp.tables.statistics.statistic import STATISTICS, Quantile, Sum, published_names
from ggdp.tables.statistics.statistics_plan import measure_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.noise.generalized_gaussian import Floats
    from ggdp.tables.request import TableRequest
    from ggdp.tables.statistics.statistic import Statistic
    from ggdp.tables.statistics.statistics_plan import StatisticsPlan
    from ggdp.tables.statistics.weighted_noise import WeightedNoise
    from ggdp.tables.table_plan import TablePlan


_RULES = {
    "sum": "the sum of its values",
    "mean": "the mean of its values",
    "min": "the least of its values",
    "max": "the largest of its values",
}


def count_half_width(plan: TablePlan) -> int:
    """Return the half-width of the 95 % interval of a count."""
    assert plan.statistics is not None
    noise, counting = noise_of(plan), _kinds(plan)
    if counting:
        return math.ceil(count_margin(counting, noise))
    return math.ceil(single_sum_margin(1.0 / plan.statistics.groups[0].size, noise))


def _kinds(plan: TablePlan) -> list[tuple[int, int]]:
    """Return the unit and the number of sums of each group that counts units."""
    assert plan.statistics is not None
    return [(group.size, group.sums) for group in plan.statistics.groups if group.sums > 1]


def half_widths(plan: TablePlan) -> dict[str, list[float]]:
    """Return the half-widths of the 95 % intervals of each statistic in cells of `SIZES` units.

    Those of means and variances are the largest that noise of 0 gives; those of quantiles are in ranks, the number of
    units between the value and the quantile.
    """
    assert plan.statistics is not None
    found = {
        statistic.names[0]: _half_widths(plan, statistic)
        for statistic in plan.request.statistics
        if not isinstance(statistic, Quantile)
    }
    for planned in plan.statistics.quantiles:
        errors = [planned.of_a_cell.rank_errors(size) for size in SIZES]
        found |= {name: [error[place] for error in errors] for place, name in enumerate(planned.statistic.names)}
    return found


def _half_widths(plan: TablePlan, statistic: Statistic) -> list[float]:
    assert plan.statistics is not None
    measure, noise = measure_of(plan.request, statistic), noise_of(plan)
    bounds = (float(measure.values.low), float(measure.values.high))
    group = next(group for group in plan.statistics.groups if group.measure == measure)
    if group.kind == "sum":
        step = float(measure.values.step) * group.largest / group.size
        return [single_sum_margin(step, noise)] * len(SIZES)
    kind = (group.size, group.sums)
    if isinstance(statistic, Sum):
        others = [(other.size, other.sums) for other in plan.statistics.groups if other is not group and other.sums > 1]
        return [sum_margin([kind, *others], bounds, noise)] * len(SIZES)
    return ratio_margins(statistic.kind, kind, bounds, noise)


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


def split_described(split: StatisticsPlan) -> dict[str, Any]:
    """Return the groups of sums and the costs of quantiles as plain values, ready for JSON."""
    return {
        "groups": [
            {
                "kind": group.kind,
                "column": None if group.measure is None else group.measure.column,
                "per_unit": None if group.measure is None else group.measure.rule,
                "size": group.unit,
            }
            for group in split.groups
        ],
        "quantiles": [
            {"column": planned.measure.column, "per_unit": planned.measure.rule, "epsilon": planned.epsilon}
            for planned in split.quantiles
        ],
    }


def statistic_sentences(request: TableRequest) -> list[str]:
    """Return what the statistics of a table are of: ranges, what is left out, and one value for each unit."""
    columns = dict.fromkeys(statistic.column for statistic in request.statistics)
    ranges = [f"{column!r}: {request.domain[column].values_in}" for column in columns]
    sentences = [
        f"For statistics, values are clamped and rounded to public ranges and steps ({'; '.join(ranges)}), and what is "
        "not a number is left out."
    ]
    if request.unit is not None:
        rules: dict[str, list[str]] = {}
        for statistic in request.statistics:
            rule = measure_of(request, statistic).rule
            assert rule is not None
            rules.setdefault(_RULES[rule], []).extend(statistic.names)
        for words, names in rules.items():
            sentences.append(f"For {', '.join(names)} each unit has one value in a cell: {words} there.")
    meanings = dict.fromkeys(statistic.meaning for statistic in request.statistics if statistic.meaning is not None)
    return [*sentences, *meanings]


def noise_sentences(plan: TablePlan) -> str:
    """Return how noise was added, and what follows from it."""
    assert plan.statistics is not None
    name = plan.mechanism.record.name
    said = [
        f"{name[0].upper()}{name[1:]} noise was added to sums over the units of each cell, from which counts and "
        f"statistics are estimated: 95% of the counts are within {plan.half_width:,} of the counts without noise."
    ]
    if plan.statistics.quantiles:
        said.append("Quantiles are drawn at random, by the Exponential mechanism, better values with more probability.")
    said.append(
        "Intervals are functions of released values alone. A statistic that is not known at all is left empty, and its "
        "interval is the whole range."
    )
    if not plan.request.nonnegative:
        said.append("Because of the noise, counts may be negative, and parts may not add up to their totals.")
    return " ".join(said)


def column_descriptions(request: TableRequest) -> dict[str, str]:
    """Return a description of each published column of statistics."""
    found = {}
    for statistic in request.statistics:
        names, texts = published_names(statistic), _what(request, statistic)
        for place, name in enumerate(names):
            what = texts[place // 3]
            end = ("", "lower end of the 95 % interval for the ", "upper end of the 95 % interval for the ")[place % 3]
            found[name] = f"{end}{what}" if end else f"{what}; empty where the noisy sums say nothing"
    return found


def _what(request: TableRequest, statistic: Statistic) -> list[str]:
    of = f"{statistic.column}, clamped to {request.domain[statistic.column].values_in}"
    if isinstance(statistic, Quantile):
        return [f"{fraction:g} quantile of {of}" for fraction in statistic.fractions]
    return [f"{statistic.kind} of {of}"]


SIZES = (10, 100, 1_000, 10_000)

# Enough means, and variances for each, to find the largest half-width up to a few per cent.
_MEANS, _VARIANCES = 11, 5


def count_margin(kinds: Sequence[tuple[int, int]], noise: WeightedNoise, level: float = 0.95) -> float:
    """Return the half-width of counts from columns of these units and numbers of coordinates.

    Examples
    --------
    >>> from ggdp.tables.statistics import WeightedNoise
    >>> round(count_margin([(10_000, 3)], WeightedNoise(order=2, scale=10_000.0)), 2)
    2.4
    """
    return float(noise.half_widths(np.concatenate(count_weights(kinds)), level))


def sum_margin(
    kinds: Sequence[tuple[int, int]], bounds: tuple[float, float], noise: WeightedNoise, level: float = 0.95
) -> float:
    """Return the half-width of sums of the first column, whose counts the others share.

    Examples
    --------
    >>> from ggdp.tables.statistics import WeightedNoise
    >>> round(sum_margin([(10_000, 3)], (0.0, 100.0), WeightedNoise(order=2, scale=10_000.0)), 1)
    138.6
    """
    return float(noise.half_widths(np.concatenate(sum_weights(kinds, bounds)), level))


def single_sum_margin(step: float, noise: WeightedNoise, level: float = 0.95) -> float:
    """Return the half-width of sums that have one noisy sum each, whose 1 is worth `step`.

    Examples
    --------
    >>> from ggdp.tables.statistics import WeightedNoise
    >>> round(single_sum_margin(0.01, WeightedNoise(order=2, scale=10_000.0)), 1)
    138.6
    """
    return step * float(noise.half_widths([1.0], level))


def ratio_margins(
    statistic: str,
    kind: tuple[int, int],
    bounds: tuple[float, float],
    noise: WeightedNoise,
    level: float = 0.95,
    *,
    sizes: Sequence[int] = SIZES,
) -> list[float]:
    """Return the half-widths of a moment statistic in cells of these sizes, for a column of this unit and coordinates.

    Examples
    --------
    >>> from ggdp.tables.statistics import WeightedNoise
    >>> noise = WeightedNoise(order=2, scale=10_000.0)
    >>> [round(half, 3) for half in ratio_margins("mean", (10_000, 3), (0.0, 100.0), noise)]
    [11.717, 1.255, 0.126, 0.013]
    """
    return list(_cached_ratio_margins(statistic, kind, checked_range(bounds), noise, level, tuple(sizes)))


@lru_cache(maxsize=64)
def _cached_ratio_margins(
    statistic: str,
    kind: tuple[int, int],
    bounds: tuple[float, float],
    noise: WeightedNoise,
    level: float,
    sizes: tuple[int, ...],
) -> tuple[float, ...]:
    """Return the same; a plan is described several times."""
    (lo, hi), (unit, coordinates) = bounds, kind
    parts = _triples() if coordinates == TRIPLE else _pairs()
    sums = np.concatenate([np.zeros((len(parts), 1)), parts], axis=1)
    column = ColumnSums(sums=np.multiply.outer(np.array(sizes, dtype=np.float64) * unit, sums), unit=unit)
    _, lower, upper = STATISTICS[statistic].parts(column, noise, level)
    return tuple(float(half) for half in 0.5 * STATISTICS[statistic].factor(hi - lo) * (upper - lower).max(axis=1))


def _pairs() -> Floats:
    """Return what units add to a pair on average, for means over the range."""
    mean = np.linspace(0.0, 1.0, _MEANS)
    return np.stack([1.0 - mean, mean], axis=1)


def _triples() -> Floats:
    """Return what units add to a triple on average, for means and variances that values in [0, 1] can have."""
    mean, share = (
        np.repeat(np.linspace(0.0, 1.0, _MEANS), _VARIANCES),
        np.tile(np.linspace(0.0, 1.0, _VARIANCES), _MEANS),
    )
    second = np.square(mean) + share * mean * (1.0 - mean)
    return np.stack([1.0 - 2.0 * mean + second, 2.0 * (mean - second), second], axis=1)
