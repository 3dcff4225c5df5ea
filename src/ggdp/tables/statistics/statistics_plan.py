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
from typing import TYPE_CHECKING, NamedTuple

from attrs import frozen

from ggdp._rounding import rounded_up
from ggdp.calibration.grid_calibration import in_unit
from ggdp.mechanisms import Mechanism
from ggdp.mechanisms.quantiles import QuantilePlan
from ggdp.privacy import Guarantee, Sensitivity
from ggdp.privacy.grid import Grid
from ggdp.proofs.losses import CountedLoss, ResponseLoss
from ggdp.sources.measures import Measure, SummedMeasure
from ggdp.tables.statistics.statistic import Quantile, Statistic, Sum
from ggdp.tables.statistics.sum_groups import STEPS_OF_A_UNIT, SumGroup
from ggdp.tables.table_noise import table_noise

if TYPE_CHECKING:
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

    groups: tuple[SumGroup, ...]
    sensitivity: Sensitivity  # how far one unit can move the sums of all tables, in the unit of a count
    quantiles: tuple[PlannedQuantiles, ...] = ()

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
        left = -rounded_up(self._spent() - Fraction(goal.epsilon), of="epsilon")
        return replace(goal, epsilon=left)

    def joint(self, guarantee: Guarantee) -> Guarantee:
        """Return the guarantee of the sums and the quantiles together. Rounding: epsilon up."""
        total = rounded_up(Fraction(guarantee.epsilon) + self._spent(), of="epsilon")
        return replace(guarantee, epsilon=total)

    def _spent(self) -> Fraction:
        return sum((Fraction(planned.epsilon) for planned in self.quantiles), Fraction(0))


def measure_of(request: TableRequest, statistic: Statistic) -> Measure:
    """Return the value that a statistic is of."""
    rule = None if request.unit is None else request.per_unit or statistic.rule
    column = request.column(statistic.column)
    assert column.values_in is not None
    return Measure(column=statistic.column, values=column.values_in, rule=rule, text=column.text)


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
    declared = {column: Fraction(repr(weight)) for column, weight in request.weights}
    weights = {measure: declared.get(measure.column, Fraction(1)) for measure in wanted}
    most = max(weights.values(), default=Fraction(1))
    groups = []
    for measure, kinds in wanted.items():
        size = max(math.floor(STEPS_OF_A_UNIT * weights[measure] / most), 1)
        if kinds == {Sum} and counted:
            values = measure.values
            ends = max(abs(values.offset), abs(values.offset + values.steps))
            # The most steps that a unit moves a sum by.
            largest = ends if request.neighbours == "add-remove" else max(ends, values.steps)
            groups.append(SumGroup(kind="sum", measure=measure, size=size, largest=largest))
        else:
            counted = True
            squares = any(kind.squares for kind in kinds)
            groups.append(SumGroup(kind="triple" if squares else "pair", measure=measure, size=size))
    groups = groups or [SumGroup(kind="count")]
    drawn = [declared.get(measure.column, Fraction(1)) for _, measure in quantiles]
    total = sum(drawn) + (sum(weights.values()) or 1)
    # Groups of one sum move as counts do. Of others, a unit that goes and one that comes can move two in one cell.
    units = 1 if request.neighbours == "add-remove" else 2
    moving = [request.sensitivity.moving if group.sums == 1 else units * request.cells_of_a_unit for group in groups]
    sizes = [group.most_moved / STEPS_OF_A_UNIT for group in groups]
    if len({group.size for group in groups}) == 1:
        sensitivity = Sensitivity.cells(sum(moving), max(sizes), neighbours=request.neighbours)
    else:
        repeated = [size for size, number in zip(sizes, moving, strict=True) for _ in range(number)]
        sensitivity = Sensitivity.box(repeated, neighbours=request.neighbours)
    return StatisticsPlan(
        groups=tuple(groups),
        sensitivity=sensitivity,
        quantiles=tuple(
            _plan_quantiles(request, statistic, measure, weight / total)
            for (statistic, measure), weight in zip(quantiles, drawn, strict=True)
        ),
    )


def _plan_quantiles(request: TableRequest, statistic: Quantile, measure: Measure, share: Fraction) -> PlannedQuantiles:
    """Return how quantiles are drawn for a share of epsilon.

    Claim. They cost at most `epsilon`: one unit changes as many cells as counts (`TableRequest.sensitivity`), and each
    costs at most the epsilon of a cell (`ggdp.mechanisms.quantiles`), which is rounded down.
    """
    cells = request.sensitivity.moving
    epsilon = rounded_up(Fraction(request.goal.epsilon) * share, of="epsilon")
    cost = epsilon / cells
    while Fraction(cost) * cells > Fraction(epsilon):
        cost = math.nextafter(cost, 0.0)
    drawn = QuantilePlan(
        fractions=statistic.exact_fractions, steps=measure.values.steps, epsilon=cost, neighbours=request.neighbours
    )
    return PlannedQuantiles(statistic, measure, epsilon, drawn)


def statistics_mechanism(goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Mechanism:
    """Return noise for sums of a sensitivity, of the best order if none is given, on the grid of all sums."""
    return Mechanism(in_unit(table_noise(goal, GRID.sensitivity(sensitivity), order), sensitivity, GRID))
