"""How the statistics of a request are made private: which sums share a group, the noise of all of them, and the split.

All of it follows from the request. Each column and rule has one group of sums (`ggdp.tables.statistics.sum_groups`): a
triple where a statistic needs squares (variances do), a pair where none does (means); a sum alone is one sum, if
another group counts the units, or else a pair, which counts them at no further cost. If nothing but quantiles is
requested, units are counted by themselves. All groups have noise of one law, calibrated as one query for all tables. A
column of weight w has a group of w times the size of one of weight 1: its noise is 1/w times as large in the unit of
the column.

Quantiles are drawn apart, by the exponential mechanism, for a share of epsilon: as the weights of their columns are to
the weights of all columns and groups.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from attrs import frozen

from ggdp._rounding import rounded_up
from ggdp.calibration.grid import in_unit
from ggdp.mechanisms import Mechanism
from ggdp.mechanisms.quantiles import QuantilePlan
from ggdp.privacy import Sensitivity
from ggdp.privacy.grid import Grid
from ggdp.proofs.losses import CountedLoss, ResponseLoss
from ggdp.sources.measures import Measure, SummedMeasure
from ggdp.tables.statistics.statistic import Quantile, Statistic, Sum
from ggdp.tables.statistics.sum_groups import STEPS_OF_A_UNIT, SumGroup
from ggdp.tables.table_noise import table_noise

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ggdp.calibration import Calibration
    from ggdp.privacy import Guarantee
    from ggdp.tables.request import TableRequest

GRID = Grid(step=1.0 / STEPS_OF_A_UNIT)


class PlannedQuantiles(NamedTuple):
    """Quantiles of a measure: what they cost in all tables together, and how those of one cell are drawn."""

    statistic: Quantile
    measure: Measure
    epsilon: float
    of_a_cell: QuantilePlan


@frozen(kw_only=True)
class StatisticsPlan:
    """The groups of sums of a request, and its quantiles."""

    groups: tuple[SumGroup, ...]  # the groups of sums
    sensitivity: Sensitivity  # how far one unit can move the sums of all tables, in the unit of a count
    quantiles: tuple[PlannedQuantiles, ...] = ()  # the quantiles

    @property
    def summed(self) -> tuple[SummedMeasure, ...]:
        """What is added up of the values of units, for the groups that add up values, in their order."""
        return tuple(
            SummedMeasure(group.measure, squares=group.kind == "triple")
            for group in self.groups
            if group.measure is not None
        )

    @property
    def measured(self) -> tuple[SummedMeasure, ...]:
        """All values of units that are looked at: those that are added up, and those that quantiles are of."""
        return (*self.summed, *(SummedMeasure(planned.measure, squares=False) for planned in self.quantiles))

    @property
    def sums(self) -> int:
        """Number of noisy sums of a cell."""
        return sum(group.sums for group in self.groups)

    @property
    def quantile_losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate the quantiles in a composition."""
        return tuple(CountedLoss(ResponseLoss(planned.epsilon, 0.0), 1) for planned in self.quantiles)

    def goal_of_sums(self, goal: Guarantee) -> Guarantee:
        """Return what is left of a goal for the sums; rounded down, so the total is not above the goal."""
        if not self.quantiles:
            return goal
        left = -rounded_up(self._spent() - Fraction(goal.epsilon), of="epsilon")
        return replace(goal, epsilon=left)

    def joint(self, guarantee: Guarantee) -> Guarantee:
        """Return the guarantee of the sums and the quantiles together. Rounding: epsilon up."""
        if not self.quantiles:
            return guarantee
        total = rounded_up(Fraction(guarantee.epsilon) + self._spent(), of="epsilon")
        return replace(guarantee, epsilon=total)

    def _spent(self) -> Fraction:
        return sum((Fraction(planned.epsilon) for planned in self.quantiles), Fraction(0))


def measure_of(request: TableRequest, statistic: Statistic) -> Measure:
    """Return the value that a statistic is of."""
    rule = None if request.unit is None else request.per_unit or statistic.rule
    values = request.domain[statistic.column].values_in
    assert values is not None
    return Measure(column=statistic.column, values=values, rule=rule)


def plan_statistics(request: TableRequest) -> StatisticsPlan:
    """Return the groups of sums of a request that has statistics, and what its quantiles cost."""
    wanted: dict[Measure, set[type[Statistic]]] = {}
    quantiles = []
    for statistic in request.statistics:
        measure = measure_of(request, statistic)
        if isinstance(statistic, Quantile):
            quantiles.append((statistic, measure))
        else:
            wanted.setdefault(measure, set()).add(type(statistic))
    counted = any(kinds - {Sum} for kinds in wanted.values())
    weights = {measure: _weight(request, measure) for measure in wanted}
    most = max(weights.values(), default=Fraction(1))
    groups = []
    for measure, kinds in wanted.items():
        size = max(math.floor(STEPS_OF_A_UNIT * weights[measure] / most), 1)
        if kinds == {Sum} and counted:
            groups.append(SumGroup(kind="sum", measure=measure, size=size, largest=_largest(request, measure)))
        else:
            counted = True
            squares = any(kind.squares for kind in kinds)
            groups.append(SumGroup(kind="triple" if squares else "pair", measure=measure, size=size))
    if not groups:
        groups.append(SumGroup(kind="count"))
    drawn = sum((_weight(request, measure) for _, measure in quantiles), Fraction(0))
    added = sum(weights.values(), Fraction(0)) or Fraction(1)
    return StatisticsPlan(
        groups=tuple(groups),
        sensitivity=_sensitivity(request, groups),
        quantiles=tuple(
            _planned(request, statistic, measure, _weight(request, measure) / (drawn + added))
            for statistic, measure in quantiles
        ),
    )


def _planned(request: TableRequest, statistic: Quantile, measure: Measure, share: Fraction) -> PlannedQuantiles:
    """Return how quantiles are drawn for a share of epsilon.

    Claim. They cost at most `epsilon`: a unit is in at most min(M, size) cells of a table, and one that is replaced is
    in at most min(2 M, size) with the one it replaces; each costs at most the epsilon of a cell
    (`ggdp.mechanisms.quantiles`), which is rounded down.
    """
    units = 1 if request.neighbours == "add-remove" else 2
    most = units * (request.max_cells or 1)
    cells = sum(most if size is None else min(most, size) for size in request.sizes)
    epsilon = rounded_up(Fraction(request.goal.epsilon) * share, of="epsilon")
    cost = epsilon / cells
    while Fraction(cost) * cells > Fraction(epsilon):
        cost = math.nextafter(cost, 0.0)
    drawn = QuantilePlan(
        fractions=statistic.exact_fractions,
        steps=measure.values.steps,
        epsilon=cost,
        neighbours=request.neighbours,
    )
    return PlannedQuantiles(statistic, measure, epsilon, drawn)


def _sensitivity(request: TableRequest, groups: Sequence[SumGroup]) -> Sensitivity:
    """Return how far one unit can move the sums of all tables, in the unit of a count."""
    units = 1 if request.neighbours == "add-remove" else 2
    moved = [
        (group.most_moved, sum(group.moving(request.max_cells or 1, size, units) for size in request.sizes))
        for group in groups
    ]
    if len({group.size for group in groups}) == 1:
        steps, number = max(steps for steps, _ in moved), sum(number for _, number in moved)
        return Sensitivity.cells(number, steps / STEPS_OF_A_UNIT, neighbours=request.neighbours)
    sizes = [steps / STEPS_OF_A_UNIT for steps, number in moved for _ in range(number)]
    return Sensitivity.box(sizes, neighbours=request.neighbours)


def statistics_mechanism(goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Mechanism:
    """Return a mechanism with the noise of sums."""
    return Mechanism(statistics_noise(goal, sensitivity, order))


@lru_cache(maxsize=64)
def statistics_noise(goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Calibration:
    """Return noise for sums of a sensitivity, of the best order if none is given, on the grid of all sums.

    Examples
    --------
    >>> import ggdp
    >>> noise = statistics_noise(ggdp.PureDP(1.0), ggdp.Sensitivity.cells(1, 1.0), None)
    >>> noise.order, noise.scale
    (1.0, 1.0)
    """
    return in_unit(table_noise(goal, GRID.sensitivity(sensitivity), order), sensitivity, GRID)


def _weight(request: TableRequest, measure: Measure) -> Fraction:
    return Fraction(repr(dict(request.weights).get(measure.column, 1.0)))


def _largest(request: TableRequest, measure: Measure) -> int:
    """Return the most steps that a unit moves a sum by."""
    values = measure.values
    ends = max(abs(values.offset), abs(values.offset + values.steps))
    return ends if request.neighbours == "add-remove" else max(ends, values.steps)
