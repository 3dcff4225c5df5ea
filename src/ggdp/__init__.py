"""Differential privacy with generalized Gaussian noise of any order.

Start with `release_table`: from a file or a frame, and what is public of its columns, to counts and statistics with
intervals. `plan_table` shows the noise and the cost first, `check_table` what the data look like, and `Ledger` keeps
the budget of several releases.

>>> import ggdp, pyarrow
>>> people = pyarrow.table({"smokes": ["no", "yes", "no"], "age": [31, 45, 62]})
>>> domain = {"smokes": ["no", "yes"], "age": {"range": [0, 100]}}
>>> table = ggdp.release_table(
...     people, by="smokes", goal=1.0, domain=domain, unit="row", statistics=[ggdp.Mean("age")]
... )
>>> table.to_arrow().column_names[:4]
['smokes', 'count', 'lower', 'upper']
>>> print(table.guarantee)
1-DP under add-remove neighbours

For noise on a query of your own use `calibrate`: from a goal (`PureDP`, `ProbabilisticDP`, `ApproxDP`) and how far one
person can move the query (`Sensitivity`) to the least noise scale that is proved to satisfy the goal.

>>> goal = ggdp.ApproxDP(epsilon=1.0, delta=1e-6)
>>> noise = ggdp.calibrate(goal, ggdp.Sensitivity.disjoint(1), order=3)
>>> print(f"{noise.scale:.6f} {noise.std:.6f}")
12.488448 7.630045
"""

from __future__ import annotations

# Modules that the interpreter has loaded itself, and no others: an interrupt here cannot be reported.
TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any

    from ggdp.accounting import Composition as Composition
    from ggdp.accounting import Noise as Noise
    from ggdp.accounting import compose as compose
    from ggdp.accounting import guarantee_of as guarantee_of
    from ggdp.calibration import Calibration as Calibration
    from ggdp.calibration import calibrate as calibrate
    from ggdp.errors import GgdpError as GgdpError
    from ggdp.ledger import Ledger as Ledger
    from ggdp.mechanisms import ExponentialMechanism as ExponentialMechanism
    from ggdp.mechanisms import Mechanism as Mechanism
    from ggdp.mechanisms import MinkowskiMechanism as MinkowskiMechanism
    from ggdp.noise import BoundaryInflatedGeneralizedGaussian as BoundaryInflatedGeneralizedGaussian
    from ggdp.noise import GeneralizedGaussian as GeneralizedGaussian
    from ggdp.noise import IntegerGeneralizedGaussian as IntegerGeneralizedGaussian
    from ggdp.noise import IntegerNoise as IntegerNoise
    from ggdp.noise import MinkowskiNoise as MinkowskiNoise
    from ggdp.noise import SecureSource as SecureSource
    from ggdp.noise import SeededSource as SeededSource
    from ggdp.noise import TruncatedGeneralizedGaussian as TruncatedGeneralizedGaussian
    from ggdp.planning import Plan as Plan
    from ggdp.planning import plan as plan
    from ggdp.privacy import ApproxDP as ApproxDP
    from ggdp.privacy import ProbabilisticDP as ProbabilisticDP
    from ggdp.privacy import PureDP as PureDP
    from ggdp.privacy import Sensitivity as Sensitivity
    from ggdp.privacy.grid import Grid as Grid
    from ggdp.proofs.certificate import Certificate as Certificate
    from ggdp.proofs.certificate import verify as verify
    from ggdp.releases import Release as Release
    from ggdp.reports import Report as Report
    from ggdp.reports import difference as difference
    from ggdp.reports import read_table as read_table
    from ggdp.reports import report as report
    from ggdp.tables import Column as Column
    from ggdp.tables import Domain as Domain
    from ggdp.tables import RangePlan as RangePlan
    from ggdp.tables import RangeRelease as RangeRelease
    from ggdp.tables import Study as Study
    from ggdp.tables import TablePlan as TablePlan
    from ggdp.tables import TableRelease as TableRelease
    from ggdp.tables import check_table as check_table
    from ggdp.tables import plan_range as plan_range
    from ggdp.tables import plan_table as plan_table
    from ggdp.tables import private_range as private_range
    from ggdp.tables import release_table as release_table
    from ggdp.tables.statistics.statistic import Mean as Mean
    from ggdp.tables.statistics.statistic import Quantile as Quantile
    from ggdp.tables.statistics.statistic import Sum as Sum
    from ggdp.tables.statistics.statistic import Variance as Variance

# Loaded when first used: they bring NumPy, SciPy and flint along, and an interrupt while the command line loads them
# is one it can report.
_MODULES = {
    "ggdp.accounting": "Composition Noise compose guarantee_of",
    "ggdp.calibration": "Calibration calibrate",
    "ggdp.errors": "GgdpError",
    "ggdp.ledger": "Ledger",
    "ggdp.mechanisms": "ExponentialMechanism Mechanism MinkowskiMechanism",
    "ggdp.noise": (
        "BoundaryInflatedGeneralizedGaussian GeneralizedGaussian IntegerGeneralizedGaussian IntegerNoise "
        "MinkowskiNoise SecureSource SeededSource TruncatedGeneralizedGaussian"
    ),
    "ggdp.planning": "Plan plan",
    "ggdp.privacy": "ApproxDP ProbabilisticDP PureDP Sensitivity",
    "ggdp.privacy.grid": "Grid",
    "ggdp.proofs.certificate": "Certificate verify",
    "ggdp.releases": "Release",
    "ggdp.reports": "Report difference read_table report",
    "ggdp.tables": (
        "Column Domain RangePlan RangeRelease Study TablePlan TableRelease check_table plan_range plan_table "
        "private_range release_table"
    ),
    "ggdp.tables.statistics.statistic": "Mean Quantile Sum Variance",
}
_LAZY = {name: module for module, names in _MODULES.items() for name in names.split()}
__all__ = sorted([*_LAZY, "__version__"])


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    if name == "__version__":
        from importlib.metadata import version

        return version("ggdp")
    if name not in _LAZY:
        raise AttributeError(f"module 'ggdp' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
