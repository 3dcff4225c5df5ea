"""Papers for the people who sign: a page on what was published, and an entry for the registry of deployments."""

from ggdp.reporting.budget_facts import BudgetFacts
from ggdp.reporting.deployment import Deployment, read_deployment
from ggdp.reporting.published_release import PublishedRelease
from ggdp.reporting.pyramid import PyramidRow
from ggdp.reporting.releases_report import Report, report
from ggdp.reporting.totals import ReportTotal

__all__ = [
    "BudgetFacts",
    "Deployment",
    "PublishedRelease",
    "PyramidRow",
    "Report",
    "ReportTotal",
    "read_deployment",
    "report",
]
