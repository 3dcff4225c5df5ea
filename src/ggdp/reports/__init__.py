"""Sign-off reports: a page on what was published, and an entry for the registry of deployments."""

from ggdp.reports.deployment import Deployment, read_deployment
from ggdp.reports.nist import PyramidRow
from ggdp.reports.published import PublishedRelease, difference, read_table
from ggdp.reports.sign_off import BudgetFacts, Report, ReportTotal, report

__all__ = [
    "BudgetFacts",
    "Deployment",
    "PublishedRelease",
    "PyramidRow",
    "Report",
    "ReportTotal",
    "difference",
    "read_deployment",
    "read_table",
    "report",
]
