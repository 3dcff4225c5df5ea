"""Intervals of the counts of one table: for the units counted, or for all units if those cut are counted too.

Claim. Each covers what `ggdp.tables.unit_descriptions.covered` says, or the true count where that says nothing, with a
probability of at least 95 %, given that the cell is shown where cells are left out. Proof: `ggdp.releases.error_law`
for complete tables, `ggdp.releases.mechanism_record` for others, `ggdp.tables.units_over_limit` where units beyond
`max_cells` are counted. Ends below 0 can be set to 0, since no count is negative; they are wherever the counts are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.mechanisms.certified_noise import add_saturating
from ggdp.releases.mechanism_record import LEVEL, thresholded_intervals
from ggdp.tables.units_over_limit import CELL_LEVEL

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ggdp.tables.table_plan import TablePlan
    from ggdp.tables.units_over_limit import CutCount


def table_intervals(
    plan: TablePlan, table: int, noisy: NDArray[np.int64], cut: Sequence[CutCount] = ()
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the ends of the 95 % intervals of one table, from its raw noisy counts."""
    law, level = plan.described_mechanism.law, level_of(plan, table)
    if plan.threshold is None or plan.request.regimes[table] == "declared":
        lower, upper = law.intervals(noisy, level)
    else:
        lower, upper = thresholded_intervals(law, plan.threshold, noisy, level)
    if extra := allowance(cut, table):
        raised = np.full(upper.shape, extra, dtype=np.int64)
        add_saturating(np.ascontiguousarray(upper), raised)
        upper = raised
    if plan.request.nonnegative:
        lower, upper = np.maximum(lower, 0), np.maximum(upper, 0)
    return lower, upper


def level_of(plan: TablePlan, table: int) -> float:
    """Return the level of the part of an interval that is for the noise of the cell."""
    return CELL_LEVEL if plan.cut is not None and table in plan.cut.tables else LEVEL


def allowance(cut: Sequence[CutCount], table: int) -> int:
    """Return by how much the upper ends of a table are raised for units that are cut."""
    return next((count.allowance for count in cut if count.table == table), 0)
