"""What a table asks a ledger for, from its plan alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ggdp.ledger.charge_request import ChargeRequest
from ggdp.releases.release import released
from ggdp.tables.manifest import table_manifest
from ggdp.tables.noisy_counts import adjusted_counts

if TYPE_CHECKING:
    from ggdp.tables.table_plan import TablePlan

__all__ = ["table_charge_request"]


def table_charge_request(plan: TablePlan) -> ChargeRequest:
    """Return what a run of a plan asks for."""
    return ChargeRequest(
        guarantee=plan.guarantee,
        losses=plan.losses,
        unit=plan.request.unit_name,
        protects=plan.protected_unit,
        request={"kind": "table", "regime": plan.request.regime, **plan.request.to_dict()},
        statement=_statement(plan),
    )


def _statement(plan: TablePlan) -> str:
    """Return the statement of the manifest, without the noisy numbers of units that are cut."""
    if plan.statistics is not None:
        sums = released(np.zeros(plan.statistics.sums), plan.described_mechanism, plan.guarantee)
        return str(table_manifest(plan, sums)["statement"])
    # It does not depend on the counts: that of a table of zeros is the same.
    tables = len(plan.request.by)
    zeros = released(np.zeros(tables, dtype=np.int64), plan.described_mechanism, plan.guarantee)
    parts = [slice(table, table + 1) for table in range(tables)]
    statement: str = table_manifest(plan, adjusted_counts(zeros, plan.request, parts))["statement"]
    return statement
