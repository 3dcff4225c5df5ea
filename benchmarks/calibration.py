"""Calibrations of ggdp; reads the other libraries' Gaussian scales from standard input and judges them."""

from __future__ import annotations

import json
import math
import sys
from importlib.metadata import version
from typing import TYPE_CHECKING

import ggdp
from ggdp.proofs import NoiseLaw
from ggdp.proofs.one_coordinate import ShiftDelta
from timing import GOALS, GRID, import_time, median_time

if TYPE_CHECKING:
    from ggdp.proofs.bound import Enclosure

ONE = ggdp.Sensitivity.disjoint(1)


def approximate(epsilon: float, delta: float, sensitivity: ggdp.Sensitivity = ONE, **how: object) -> ggdp.Calibration:
    return ggdp.calibrate(ggdp.ApproxDP(epsilon, delta), sensitivity, **how)


def probabilistic(epsilon: float, delta: float, sensitivity: ggdp.Sensitivity = ONE, **how: object) -> ggdp.Calibration:
    return ggdp.calibrate(ggdp.ProbabilisticDP(epsilon, delta), sensitivity, **how)


def bounded(**how: object) -> ggdp.Calibration:
    return ggdp.calibrate(ggdp.PureDP(1.0), ONE, bounds=[(0, 100)], **how)


CASES = {
    "real, order 1, aDP (1, 1e-6)": lambda: approximate(1, 1e-6, order=1),
    "real, order 1.00001, aDP (1, 1e-6)": lambda: approximate(1, 1e-6, order=1.00001),
    "real, order 1.5, aDP (1, 1e-6)": lambda: approximate(1, 1e-6, order=1.5),
    "real, order 3, aDP (1, 1e-6)": lambda: approximate(1, 1e-6, order=3),
    "real, order 3, pDP (1, 0.05)": lambda: probabilistic(1, 0.05, order=3),
    "real, order 50, aDP (0.1, 1e-18)": lambda: approximate(0.1, 1e-18, order=50),
    "integer, order 3, aDP (1, 1e-6)": lambda: approximate(1, 1e-6, order=3, support="integer"),
    "integer, order 3, pDP (1, 1e-6)": lambda: probabilistic(1, 1e-6, order=3, support="integer"),
    "integer, order 2, aDP (0.006, 1e-6)": lambda: approximate(0.006, 1e-6, order=2, support="integer"),
    "integer, order 1.5, aDP (2e-6, 1e-6)": lambda: approximate(2e-6, 1e-6, order=1.5, support="integer"),
    "truncated on [0, 100], order 1.5, epsilon 1": lambda: bounded(order=1.5, bounding="truncated"),
    "truncated on [0, 100], order 3, epsilon 1": lambda: bounded(order=3, bounding="truncated"),
    "boundary-inflated on [0, 100], order 3, epsilon 1": lambda: bounded(order=3, bounding="boundary-inflated"),
    "truncated on {0..100}, order 3, epsilon 1": lambda: bounded(order=3, bounding="truncated", support="integer"),
    "2 cells, real, order 3, aDP (1, 0.05)": lambda: approximate(1, 0.05, ggdp.Sensitivity.cells(2, 1), order=3),
    "2 cells, integer, order 3, aDP (1, 0.05)": lambda: approximate(
        1, 0.05, ggdp.Sensitivity.cells(2, 1), order=3, support="integer"
    ),
    "1,000 cells, real, order 3, aDP (1, 1e-6)": lambda: approximate(1, 1e-6, ggdp.Sensitivity.cells(1000, 1), order=3),
    "1,000 cells, real, order 1.5, aDP (1, 1e-9)": lambda: approximate(
        1, 1e-9, ggdp.Sensitivity.cells(1000, 1), order=1.5
    ),
    "1,000 cells, integer, order 3, aDP (1, 1e-9)": lambda: approximate(
        1, 1e-9, ggdp.Sensitivity.cells(1000, 1), order=3, support="integer"
    ),
    "1,000 cells, integer, order 50, aDP (1, 1e-9)": lambda: approximate(
        1, 1e-9, ggdp.Sensitivity.cells(1000, 1), order=50, support="integer"
    ),
    "1,000 cells, integer, order 50, aDP (50, 1e-9)": lambda: approximate(
        50, 1e-9, ggdp.Sensitivity.cells(1000, 1), order=50, support="integer"
    ),
    "1,000 cells, real, order 3, aDP (1, 1e-18)": lambda: approximate(
        1, 1e-18, ggdp.Sensitivity.cells(1000, 1), order=3
    ),
    "10,000 cells, real, order 3, aDP (1, 1e-6)": lambda: approximate(
        1, 1e-6, ggdp.Sensitivity.cells(10_000, 1), order=3
    ),
    "3 coordinates, order 3, pDP (1, 0.05), upper bound": lambda: probabilistic(
        1, 0.05, ggdp.Sensitivity.box([1, 0.1, 0.05]), order=3
    ),
    "1,000 cells, order 3, pDP (1, 1e-6), upper bound": lambda: probabilistic(
        1, 1e-6, ggdp.Sensitivity.cells(1000, 1), order=3
    ),
    "l_3 norm, 10 coordinates, order 3, aDP (1, 1e-6)": lambda: approximate(
        1, 1e-6, ggdp.Sensitivity.norm(3, 1, dimension=10), order=3
    ),
}


def exact_delta(scale: float, epsilon: float) -> Enclosure:
    """Enclose the delta of Gaussian noise of a scale when one coordinate moves by 1."""
    bound = ShiftDelta(notion="approximate", sensitivity=1.0, epsilon=epsilon)
    return bound.enclose(NoiseLaw(order=2.0, scale=scale))


def judged(scales: list[list[float]]) -> tuple[int, float]:
    """Return how many standard deviations miss their delta, and the largest relative excess over the least one."""
    missed, excess = 0, 0.0
    for epsilon, delta, sigma in scales:
        scale = sigma * math.sqrt(2.0)
        exact = exact_delta(scale, epsilon)
        missed += exact.lower > delta
        excess = max(excess, scale / approximate(epsilon, delta, order=2).scale - 1.0)
    return missed, excess


def timed(what: str) -> dict[str, object]:
    found = CASES[what]()
    slow = 0.5
    return {
        "what": what,
        "scale": found.scale,
        "calibrate": median_time(CASES[what], seconds=slow),
        "verify": median_time(found.verify, seconds=slow),
    }


def main() -> None:
    others = json.load(sys.stdin)
    numpy_time = import_time("numpy")
    own = [[e, d, approximate(e, d, order=2).scale / math.sqrt(2.0)] for e, d in GRID]
    # Dividing by sqrt 2 rounds; ggdp states the scale, so its own row is judged by the scale itself.
    own_missed = sum(exact_delta(approximate(e, d, order=2).scale, e).upper > d for e, d in GRID)
    document = {
        "versions": {name: version(name) for name in ("ggdp", "python-flint")},
        "gaussian": {goal: median_time(lambda pair=pair: approximate(*pair, order=2)) for goal, pair in GOALS.items()},
        "grid": len(GRID),
        "safety": {"ggdp": (own_missed, judged(own)[1]), **{name: judged(scales) for name, scales in others.items()}},
        "cases": [timed(what) for what in CASES],
        "imports": {
            "numpy": (numpy_time, numpy_time),
            "ggdp": (import_time("ggdp"), numpy_time),
            "ggdp.calibration": (import_time("ggdp.calibration"), numpy_time),
        },
    }
    print(json.dumps(document))


if __name__ == "__main__":
    main()
