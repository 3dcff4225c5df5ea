"""Private tables: counts by public columns, from any engine, with the guarantee they carry."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ggdp.domain.column import Column as Column
    from ggdp.domain.table_domain import Domain as Domain
    from ggdp.tables.clamping_range import RangePlan as RangePlan
    from ggdp.tables.clamping_range import RangeRelease as RangeRelease
    from ggdp.tables.clamping_range import plan_range as plan_range
    from ggdp.tables.clamping_range import private_range as private_range
    from ggdp.tables.executor_release import WrittenRelease as WrittenRelease
    from ggdp.tables.request import TableRequest as TableRequest
    from ggdp.tables.source_check import TableCheck as TableCheck
    from ggdp.tables.source_check import check_table as check_table
    from ggdp.tables.study import Study as Study
    from ggdp.tables.table_plan import PublishedFiles as PublishedFiles
    from ggdp.tables.table_plan import TablePlan as TablePlan
    from ggdp.tables.table_plan import plan_table as plan_table
    from ggdp.tables.table_plan import release_table as release_table
    from ggdp.tables.table_release import Table as Table
    from ggdp.tables.table_release import TableRelease as TableRelease

# Loaded when first used: the command line reads the flags of a request without what counts and draws.
_MODULES = {
    "ggdp.domain.column": ("Column",),
    "ggdp.domain.table_domain": ("Domain",),
    "ggdp.tables.clamping_range": ("RangePlan", "RangeRelease", "plan_range", "private_range"),
    "ggdp.tables.executor_release": ("WrittenRelease",),
    "ggdp.tables.request": ("TableRequest",),
    "ggdp.tables.source_check": ("TableCheck", "check_table"),
    "ggdp.tables.study": ("Study",),
    "ggdp.tables.table_plan": ("PublishedFiles", "TablePlan", "plan_table", "release_table"),
    "ggdp.tables.table_release": ("Table", "TableRelease"),
}
__all__ = sorted(name for names in _MODULES.values() for name in names)


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever is exported
    for module, names in _MODULES.items():
        if name in names:
            return getattr(importlib.import_module(module), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
