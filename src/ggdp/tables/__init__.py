"""Private tables: counts by public columns, from any engine, with the guarantee they carry."""

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
