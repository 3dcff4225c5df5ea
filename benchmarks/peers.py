"""The Gaussian calibrations of dp-accounting and diffprivlib; run in an environment that has both."""

from __future__ import annotations

import json
from importlib.metadata import version

from timing import GOALS, GRID, import_time, median_time


def google(epsilon: float, delta: float) -> float:
    from dp_accounting.pld import common, privacy_loss_mechanism

    goal = common.DifferentialPrivacyParameters(epsilon, delta)
    return privacy_loss_mechanism.GaussianPrivacyLoss.from_privacy_guarantee(goal).standard_deviation


def ibm(epsilon: float, delta: float) -> float:
    from diffprivlib.mechanisms import GaussianAnalytic

    return GaussianAnalytic(epsilon=epsilon, delta=delta, sensitivity=1.0)._scale


LIBRARIES = {"dp-accounting": google, "diffprivlib": ibm}


def main() -> None:
    numpy_time = import_time("numpy")
    document = {
        "versions": {name: version(name) for name in LIBRARIES},
        "gaussian": {
            goal: {name: median_time(lambda call=call, pair=pair: call(*pair)) for name, call in LIBRARIES.items()}
            for goal, pair in GOALS.items()
        },
        "scales": {name: [[e, d, float(call(e, d))] for e, d in GRID] for name, call in LIBRARIES.items()},
        "imports": {
            "dp_accounting": (import_time("dp_accounting"), numpy_time),
            "diffprivlib": (import_time("diffprivlib"), numpy_time),
        },
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
