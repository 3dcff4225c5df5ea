"""Private tables: counts by public columns, from any engine, with the guarantee they carry."""

from ggdp.tables.check import check_table
from ggdp.tables.check_result import TableCheck
from ggdp.tables.clamping_range import RangePlan, plan_range, private_range
from ggdp.tables.column import Column
from ggdp.tables.domain import Domain
from ggdp.tables.engines.spark.written_release import WrittenRelease
from ggdp.tables.plan_and_release import plan_table, release_table
from ggdp.tables.range_release import RangeRelease
from ggdp.tables.release import Table, TableRelease
from ggdp.tables.request import TableRequest
from ggdp.tables.table_plan import TablePlan

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
