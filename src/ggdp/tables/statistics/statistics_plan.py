"""How the statistics of a request are made private: which sums share a group, the noise of all of them, and the split.

All of it follows from the request. In a table each column and rule has one group of sums
(`ggdp.tables.statistics.sum_groups`): a triple where a statistic needs squares (variances do), a pair where none does
(means); a sum alone is one sum, if another group counts the units, or else a pair, which counts them at no further
cost. If nothing but quantiles is requested of a table, or nothing at all, units are counted by themselves. All groups
of all tables have noise of one law, calibrated as one query. A column of weight w has a group of w times the size of
one of weight 1: its noise is 1/w times as large in the unit of the column. A count of units has the weight 1.

**Cells that are chosen privately** (`ggdp.tables.thresholds`): sparse tables, and tables whose keys are not public.
They have a group of their own that counts units, the key group. A cell is published if its noisy count reaches the
threshold, and sums and quantiles are released of exactly the published cells, false cells included.

Claim. Such a release has the guarantee that is proved in `ggdp.tables.thresholds` for counts alone, with the noise of
all groups, and the quantiles, in place of that of the counts. Proof. Let every cell that either of two neighbours can
have get noise on all its sums, and quantiles, and let those of cells below the threshold be left out afterwards: the
law is the same, as cells are independent and what is left out is not looked at, so it need not be drawn. In the proof
there c and c' are then probabilities of counts, sums and quantiles of the cells C, for which all groups that a unit
changes are proved together; a cell of A or B is shown, with whatever stands beside its count, with a probability of at
most d, as its count alone decides, to which the one unit adds W steps (R, in steps).

Claim (intervals). Given which cells are published, the noise of all other groups has its own law, so that intervals of
statistics cover as in complete tables. Counts are those of the key group, with intervals for cells chosen by their
noise (`ggdp.releases.mechanism_record`, in steps of the grid): they hold for a count in steps, so for one in units.

Price. Under pure DP r + 1 groups of weight 1 have noise of the scale (r + 1)/epsilon each. Of all ways to split epsilon
between keys and r columns this one has the least product of their scales; weights move it. One calibration is never
worse than two that share epsilon and delta.

Quantiles are drawn apart, by the exponential mechanism, for a share of epsilon: their weight times the cells that a
unit changes in their tables, of the sum of these over all columns and groups of all tables.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, NamedTuple

from attrs import evolve, frozen

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
    from ggdp.domain.value_range import ValueRange
    from ggdp.tables.request import TableRequest

GRID = Grid(step=1.0 / STEPS_OF_A_UNIT)


class PlannedQuantiles(NamedTuple):
    """Quantiles of a measure: what they cost in all their tables together, and how those of one cell are drawn."""

    statistic: Quantile
    measure: Measure
    tables: tuple[int, ...]
    epsilon: float
    of_a_cell: QuantilePlan

    def of_cells(self, values: ValueRange) -> QuantilePlan:
        """Return how quantiles are drawn in cells with a range; each cell costs the same on its own candidates."""
        return self.of_a_cell if values.steps == self.of_a_cell.steps else evolve(self.of_a_cell, steps=values.steps)


@frozen(kw_only=True)
class StatisticsPlan:
    """The groups of sums of each table of a request, and its quantiles."""

    tables: tuple[tuple[SumGroup, ...], ...]
    sensitivity: Sensitivity  # how far one unit can move the sums of all tables, in the unit of a count
    quantiles: tuple[PlannedQuantiles, ...] = ()

    @property
    def groups(self) -> tuple[SumGroup, ...]:
        """The groups of all tables, each once."""
        return tuple(dict.fromkeys(group for groups in self.tables for group in groups))

    @property
    def count_size(self) -> int:
        """What one unit adds to the count of a cell that is chosen by it, in steps; 1 if none are."""
        return next((group.size for group in self.groups if group.kind == "key"), 1)

    @property
    def summed(self) -> tuple[SummedMeasure, ...]:
        """What is added up of the values of units, each measure once: in all tables, and released where it is asked."""
        squares: dict[Measure, bool] = {}
        for group in self.groups:
            if group.measure is not None:
                squares[group.measure] = squares.get(group.measure, False) or group.kind == "triple"
        return tuple(SummedMeasure(measure, squares=needed) for measure, needed in squares.items())

    @property
    def measured(self) -> tuple[SummedMeasure, ...]:
        """All values of units that are looked at: those that are added up, and those that quantiles are of."""
        return (*self.summed, *(SummedMeasure(planned.measure, squares=False) for planned in self.quantiles))

    @property
    def sums(self) -> tuple[int, ...]:
        """Number of noisy sums of a cell of each table."""
        return tuple(sum(group.sums for group in groups) for groups in self.tables)

    @property
    def quantile_losses(self) -> tuple[CountedLoss, ...]:
        """Losses that dominate the quantiles in a composition."""
        return tuple(CountedLoss(ResponseLoss(planned.epsilon, 0.0), 1) for planned in self.quantiles)

    @property
    def blocks(self) -> bool:
        """Whether the groups of a cell have noise with one total."""
        return any(group.block for group in self.groups)

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
    column, values = request.column(statistic.column), request.values_in(statistic.column)
    assert values is not None
    return Measure(column=statistic.column, values=values, rule=rule, text=column.text, complete=column.complete)


def plan_statistics(request: TableRequest) -> StatisticsPlan:
    """Return the groups of sums of a request that has statistics, and what its quantiles cost."""
    wanted: list[dict[Measure | None, set[type[Statistic]]]] = []
    quantiles: dict[tuple[Quantile, Measure], list[int]] = {}
    for table, (statistics, regime) in enumerate(zip(request.table_statistics, request.regimes, strict=True)):
        kinds: dict[Measure | None, set[type[Statistic]]] = {} if regime == "declared" else {None: set()}
        for statistic in statistics:
            value = measure_of(request, statistic)
            if isinstance(statistic, Quantile):
                quantiles.setdefault((statistic, value), []).append(table)
            else:
                kinds.setdefault(value, set()).add(type(statistic))
        wanted.append(kinds or {None: set()})
    declared = {column: Fraction(repr(weight)) for column, weight in request.weights}

    def weight_of(measure: Measure | None) -> Fraction:
        return Fraction(1) if measure is None else declared.get(measure.column, Fraction(1))

    most = max(weight_of(measure) for kinds in wanted for measure in kinds)
    units, changing = 1 if request.neighbours == "add-remove" else 2, request.changing
    tables: list[tuple[SumGroup, ...]] = []
    moving = Counter[SumGroup]()
    for table, kinds in enumerate(wanted):
        counted, groups = any(asked != {Sum} for asked in kinds.values()), []
        for measure, asked in kinds.items():
            size = max(math.floor(STEPS_OF_A_UNIT * weight_of(measure) / most), 1)
            if measure is None:
                group = SumGroup(kind="count" if request.regimes[table] == "declared" else "key", size=size)
            elif asked == {Sum} and counted:
                replaced = request.neighbours != "add-remove"
                group = SumGroup(kind="sum", measure=measure, size=size, replaced=replaced)
            else:
                counted = True
                squares = any(kind.squares for kind in asked)
                group = SumGroup(kind="triple" if squares else "pair", measure=measure, size=size)
            groups.append(group)
            # Groups of one sum move as counts do. Of others, a unit that goes and one that comes can move two in one
            # cell.
            moving[group] += changing[table] if group.sums == 1 else units * request.most_cells[table]
        tables.append(tuple(groups))
    sizes = {group: group.most_moved / STEPS_OF_A_UNIT for group in moving}
    if len({group.size for group in moving}) == 1:
        largest = max(sizes.values())
        sensitivity = Sensitivity.cells(sum(moving.values()), largest, neighbours=request.neighbours)
    else:
        repeated = [sizes[group] for group in moving.elements()]
        sensitivity = Sensitivity.box(repeated, neighbours=request.neighbours)
    # In units of the cells that a unit changes: all weights, and those of each of the quantiles.
    drawn = {
        asked: weight_of(asked[1]) * sum(changing[table] for table in asked_in) for asked, asked_in in quantiles.items()
    }
    total = sum(drawn.values()) + sum(
        changing[table] * weight_of(measure) for table, kinds in enumerate(wanted) for measure in kinds
    )
    return StatisticsPlan(
        tables=tuple(tables),
        sensitivity=sensitivity,
        quantiles=tuple(
            _plan_quantiles(request, *asked, tuple(asked_in), drawn[asked] / total)
            for asked, asked_in in quantiles.items()
        ),
    )


def _plan_quantiles(
    request: TableRequest, statistic: Quantile, measure: Measure, tables: tuple[int, ...], share: Fraction
) -> PlannedQuantiles:
    """Return how quantiles are drawn for a share of epsilon.

    Claim. They cost at most `epsilon`: one unit changes as many cells as counts (`TableRequest.sensitivity`), and each
    costs at most the epsilon of a cell (`ggdp.mechanisms.quantiles`), which is rounded down.
    """
    cells = sum(request.changing[table] for table in tables)
    epsilon = rounded_up(Fraction(request.goal.epsilon) * share, of="epsilon")
    cost = epsilon / cells
    while Fraction(cost) * cells > Fraction(epsilon):
        cost = math.nextafter(cost, 0.0)
    drawn = QuantilePlan(
        fractions=statistic.exact_fractions, steps=measure.values.steps, epsilon=cost, neighbours=request.neighbours
    )
    return PlannedQuantiles(statistic, measure, tables, epsilon, drawn)


def in_blocks(request: TableRequest, split: StatisticsPlan) -> StatisticsPlan | None:
    """Return the same statistics from groups whose noise has one total in each cell; None where they cannot have it."""
    alike = len({group.size for group in split.groups}) == 1 and all(group.kind != "key" for group in split.groups)
    if not (
        alike and max(map(len, split.tables)) > 1 and request.order == "auto" and request.neighbours == "add-remove"
    ):
        return None
    tables = []
    for groups in split.tables:
        found = (evolve(one, kind="pair") if one.kind == "sum" else one for one in groups)
        known = ((one, one.measure is not None and one.measure.complete) for one in found)
        tables.append(tuple(evolve(one, block=True, complete=complete) for one, complete in known))
    return evolve(split, tables=tuple(tables))


def block_change(request: TableRequest, blocks: StatisticsPlan, table: int) -> Sensitivity:
    """Return how far one unit can change the blocks of all cells of a table together, in the unit of a count.

    Claim. In each of at most M cells a unit adds W steps to the total of every block. It raises the sums of a block by
    at most W + 1 and lowers them by at most 1 (V in all, `ggdp.tables.statistics.sum_groups`). So the norms of its
    changes, each the least a + c with a - c = W of which a is no less than all that is raised, and c than all that is
    lowered, are at most V, and add up to M V. Noise that is independent from cell to cell is that of the sum of norms.
    """
    groups = blocks.tables[table]
    most = Fraction(request.most_cells[table] * max(group.most_moved for group in groups), STEPS_OF_A_UNIT)
    return Sensitivity.groups([group.sums for group in groups], d=float(most), complete=[True] * len(groups))


def statistics_mechanism(goal: Guarantee, sensitivity: Sensitivity, order: float | None) -> Mechanism:
    """Return noise for sums of a sensitivity, of the best order if none is given, on the grid of all sums."""
    return Mechanism(in_unit(table_noise(goal, GRID.sensitivity(sensitivity), order), sensitivity, GRID))
