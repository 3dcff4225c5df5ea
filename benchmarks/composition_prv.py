"""Totals of prv-accountant, for the noise that it has; a worker in an environment that has it."""

from __future__ import annotations

import math
from importlib.metadata import version
from typing import Any

from prv_accountant import PRVAccountant
from prv_accountant.privacy_random_variables import (
    GaussianMechanism,
    LaplaceMechanism,
    PrivacyRandomVariable,
    PureDPMechanism,
)

from timing import processor_time
from worker import serve


def described(record: dict[str, Any]) -> PrivacyRandomVariable | None:
    """Return its mechanism; None where it has none."""
    if record["kind"] == "response":
        return PureDPMechanism(record["epsilon"])
    if record["support"] == "real" and record["order"] == 1.0:
        return LaplaceMechanism(record["size"] / record["scale"])
    if record["support"] == "real" and record["order"] == 2.0:
        return GaussianMechanism(record["scale"] / math.sqrt(2.0), record["size"])
    return None


def epsilon(*, losses: list[dict[str, Any]], delta: float, error: float) -> dict[str, Any] | None:
    """Return its bounds of the epsilon for a delta, and the time of finding them; None where it has no such noise."""
    numbers = [record["count"] * record["releases"] for record in losses]
    laws = [described(record) for record in losses]
    if None in laws:
        return None

    def found() -> tuple[float, float, float]:
        accountant = PRVAccountant(laws, eps_error=error, delta_error=delta / 1000.0, max_self_compositions=numbers)
        return accountant.compute_epsilon(delta, numbers)

    try:
        (lower, estimate, upper), seconds = processor_time(found)
    except (RuntimeError, ValueError) as failed:
        return {"failed": str(failed)}
    return {"lower": lower, "estimate": estimate, "upper": upper, "seconds": seconds}


def versions() -> dict[str, str]:
    return {"prv-accountant": version("prv-accountant")}


if __name__ == "__main__":
    serve({task.__name__: task for task in (epsilon, versions)})
