"""From a plan to noisy sums: the engine adds up, noise is drawn, and what is published follows from the noisy sums."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ggdp.mechanisms.quantile_parts import CellValues
from ggdp.mechanisms.saturation import add_saturating
from ggdp.releases.release import released
from ggdp.sampling import IntegerNoise
from ggdp.sampling.entropy import is_private
from ggdp.tables.engines.exact_sums import SummedMeasure
from ggdp.tables.statistics.published import PublishedStatistic
from ggdp.tables.statistics.sum_groups import STEPS_OF_A_UNIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ggdp.mechanisms.quantiles import QuantileDraws
    from ggdp.releases import Release
    from ggdp.sampling import Source
    from ggdp.tables.engines import CountQuery, MeasuredCells, TableSource
    from ggdp.tables.statistics.statistics_plan import PlannedQuantiles
    from ggdp.tables.statistics.sum_groups import SumGroup
    from ggdp.tables.table_plan import TablePlan


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
    true, law = np.concatenate(steps), plan.mechanism.law
    # The sensitivity is about groups of sums, of which a mechanism knows nothing; its noise is drawn as it draws it.
    noisy = IntegerNoise(order=law.order, scale=law.scale).sample(true.size, source=bits)
    add_saturating(true, noisy)
    values = noisy / STEPS_OF_A_UNIT
    return released(values, plan.described_mechanism, plan.guarantee if is_private(bits) else None)


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
