"""Differential privacy with generalized Gaussian noise of any order.

Start with `calibrate`: from a goal (`PureDP`, `ProbabilisticDP`, `ApproxDP`) and how far one person can
move the query (`Sensitivity`) to the least noise scale that is proved to satisfy the goal.

>>> import ggdp
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

    from ggdp.accounting import Composition, compose, guarantee_of
    from ggdp.calibration import Calibration, calibrate
    from ggdp.errors import GgdpError
    from ggdp.ledger import Ledger
    from ggdp.mechanisms import ExponentialMechanism, Mechanism
    from ggdp.noise import (
        BoundaryInflatedGeneralizedGaussian,
        GeneralizedGaussian,
        IntegerGeneralizedGaussian,
        IntegerNoise,
        SecureSource,
        SeededSource,
        TruncatedGeneralizedGaussian,
    )
    from ggdp.planning import Plan, plan
    from ggdp.privacy import ApproxDP, ProbabilisticDP, PureDP, Sensitivity
    from ggdp.privacy.grid import Grid
    from ggdp.proofs.certificate import Certificate, verify
    from ggdp.releases import Release
    from ggdp.reports import Report, report
    from ggdp.tables import (
        Column,
        Domain,
        RangePlan,
        RangeRelease,
        TablePlan,
        TableRelease,
        check_table,
        plan_range,
        plan_table,
        private_range,
        release_table,
    )
    from ggdp.tables.statistics import Mean, Quantile, Sum, Variance

__all__ = [
    "ApproxDP",
    "BoundaryInflatedGeneralizedGaussian",
    "Calibration",
    "Certificate",
    "Column",
    "Composition",
    "Domain",
    "ExponentialMechanism",
    "GeneralizedGaussian",
    "GgdpError",
    "Grid",
    "IntegerGeneralizedGaussian",
    "IntegerNoise",
    "Ledger",
    "Mean",
    "Mechanism",
    "Plan",
    "ProbabilisticDP",
    "PureDP",
    "Quantile",
    "RangePlan",
    "RangeRelease",
    "Release",
    "Report",
    "SecureSource",
    "SeededSource",
    "Sensitivity",
    "Sum",
    "TablePlan",
    "TableRelease",
    "TruncatedGeneralizedGaussian",
    "Variance",
    "__version__",
    "calibrate",
    "check_table",
    "compose",
    "guarantee_of",
    "plan",
    "plan_range",
    "plan_table",
    "private_range",
    "release_table",
    "report",
    "verify",
]

# Loaded when first used: they bring NumPy, SciPy and flint along, and an interrupt while the command line loads them
# is one it can report.
_LAZY = {
    "GgdpError": "ggdp.errors",
    "ApproxDP": "ggdp.privacy",
    "ProbabilisticDP": "ggdp.privacy",
    "PureDP": "ggdp.privacy",
    "Sensitivity": "ggdp.privacy",
    "Calibration": "ggdp.calibration",
    "Certificate": "ggdp.proofs.certificate",
    "calibrate": "ggdp.calibration",
    "guarantee_of": "ggdp.accounting",
    "verify": "ggdp.proofs.certificate",
    "Composition": "ggdp.accounting",
    "compose": "ggdp.accounting",
    "BoundaryInflatedGeneralizedGaussian": "ggdp.noise",
    "GeneralizedGaussian": "ggdp.noise",
    "IntegerGeneralizedGaussian": "ggdp.noise",
    "TruncatedGeneralizedGaussian": "ggdp.noise",
    "Grid": "ggdp.privacy.grid",
    "IntegerNoise": "ggdp.noise",
    "Ledger": "ggdp.ledger",
    "ExponentialMechanism": "ggdp.mechanisms",
    "Mechanism": "ggdp.mechanisms",
    "Plan": "ggdp.planning",
    "plan": "ggdp.planning",
    "Release": "ggdp.releases",
    "Report": "ggdp.reports",
    "report": "ggdp.reports",
    "SecureSource": "ggdp.noise",
    "SeededSource": "ggdp.noise",
    "Column": "ggdp.tables",
    "Domain": "ggdp.tables",
    "TablePlan": "ggdp.tables",
    "TableRelease": "ggdp.tables",
    "Mean": "ggdp.tables.statistics",
    "Quantile": "ggdp.tables.statistics",
    "Sum": "ggdp.tables.statistics",
    "Variance": "ggdp.tables.statistics",
    "check_table": "ggdp.tables",
    "RangePlan": "ggdp.tables",
    "RangeRelease": "ggdp.tables",
    "plan_range": "ggdp.tables",
    "plan_table": "ggdp.tables",
    "private_range": "ggdp.tables",
    "release_table": "ggdp.tables",
}


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
    return sorted(__all__)
