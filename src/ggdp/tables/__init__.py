"""Private tables: counts by public columns, from any engine, with the guarantee they carry."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggdp.domain.column import Column
    from ggdp.domain.table_domain import Domain
    from ggdp.tables.clamping_range import RangePlan, RangeRelease, plan_range, private_range
    from ggdp.tables.executor_release import WrittenRelease
    from ggdp.tables.request import TableRequest
    from ggdp.tables.source_check import TableCheck, check_table
    from ggdp.tables.table_plan import TablePlan, plan_table, release_table
    from ggdp.tables.table_release import Table, TableRelease

__all__ = [
    "Column",
    "Domain",
    "RangePlan",
    "RangeRelease",
    "Table",
    "TableCheck",
    "TablePlan",
    "TableRelease",
    "TableRequest",
    "WrittenRelease",
    "check_table",
    "plan_range",
    "plan_table",
    "private_range",
    "release_table",
]

# Loaded when first used: the command line reads the flags of a request without what counts and draws.
_MODULES = {
    "ggdp.domain.column": ("Column",),
    "ggdp.domain.table_domain": ("Domain",),
    "ggdp.tables.clamping_range": ("RangePlan", "RangeRelease", "plan_range", "private_range"),
    "ggdp.tables.executor_release": ("WrittenRelease",),
    "ggdp.tables.request": ("TableRequest",),
    "ggdp.tables.source_check": ("TableCheck", "check_table"),
    "ggdp.tables.table_plan": ("TablePlan", "plan_table", "release_table"),
    "ggdp.tables.table_release": ("Table", "TableRelease"),
}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever is exported
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
