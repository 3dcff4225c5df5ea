"""From a plan to noisy sums: the engine adds up, noise is drawn, and what is published follows from the noisy sums."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ggdp.releases.release import released
from ggdp.tables.statistics.sum_groups import STEPS_OF_A_UNIT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ggdp.releases import Release
    from ggdp.sampling import Source
    from ggdp.tables.engines import CountQuery, MeasuredCells, TableSource
    from ggdp.tables.statistics.sum_groups import SumGroup
    from ggdp.tables.table_plan import TablePlan

__all__ = ["noisy_sums", "sums_of_table"]


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
    values = [
        _steps(plan.statistics.groups, answer, domain.size)[:, cells] / STEPS_OF_A_UNIT
        for answer, domain, cells in zip(answers, plan.request.domains, shown, strict=True)
    ]
    noisy = plan.mechanism.release(np.concatenate([part.reshape(-1) for part in values]), source=bits)
    guarantee = None if noisy.guarantee is None else plan.guarantee
    return released(noisy.values, plan.described_mechanism, guarantee)


def _steps(groups: Sequence[SumGroup], answer: MeasuredCells, size: int) -> NDArray[np.int64]:
    """Return the sums of every cell of a table, empty ones too, in steps: a row for each sum."""
    found, measured = [], iter(answer.sums)
    for group in groups:
        steps = group.steps(next(measured))
        every = np.zeros((group.sums, size), dtype=np.int64)
        every[:, answer.cells] = steps
        found.append(every)
    return np.concatenate(found)


def sums_of_table(plan: TablePlan, release: Release, shown: Sequence[int], table: int) -> NDArray[np.float64]:
    """Return the noisy sums of one table: a row for each sum. `shown` has the number of cells of each table."""
    assert plan.statistics is not None
    sums = plan.statistics.sums
    start = sums * sum(shown[:table])
    return release.values[start : start + sums * shown[table]].reshape(sums, shown[table])
