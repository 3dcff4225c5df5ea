"""What a table asks a ledger for, from its plan alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.ledger.charge_request import ChargeRequest
from ggdp.releases.release import Release, released
from ggdp.tables.manifest import table_manifest
from ggdp.tables.noisy_counts import adjusted_counts

if TYPE_CHECKING:
    from ggdp.tables.table_plan import TablePlan


def table_charge_request(plan: TablePlan) -> ChargeRequest:
    """Return what a run of a plan asks for."""
    return ChargeRequest(
        guarantee=plan.guarantee,
        losses=plan.losses,
        unit=plan.request.unit_name,
        protects=plan.protected_unit,
        request={"kind": "table", "regime": plan.request.regime, **plan.request.to_dict()},
        statement=table_manifest(plan, release_of_zeros(plan))["statement"],
    )


def release_of_zeros(plan: TablePlan) -> Release:
    """Return a release of a cell of each table, which is 0: its manifest is that of any counts, but for the shape."""
    if plan.statistics is not None:
        return released(np.zeros(plan.statistics.sums), plan.described_mechanism, plan.guarantee)
    tables = len(plan.request.by)
    zeros = released(np.zeros(tables, dtype=np.int64), plan.described_mechanism, plan.guarantee)
    return adjusted_counts(zeros, plan.request, [slice(table, table + 1) for table in range(tables)])
