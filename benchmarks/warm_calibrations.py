"""CPU time of calibrations in a process that has made one before: ``python benchmarks/warm_calibrations.py``.

Prints the times in seconds as JSON, each the least of `ROUNDS`, by support, delta, order and number of cells.
"""

from __future__ import annotations

import itertools
import json
import time

import ggdp

SUPPORTS = ("real", "integer")
DELTAS = (1e-6, 0.05)
ORDERS = (1, 1.5, 2, 3, 4)
CELLS = (2, 5, 10, 100, 1000)
ROUNDS = 2


def seconds(support: str, delta: float, order: float, cells: int) -> float:
    """Return the least CPU time of a calibration for approximate DP with epsilon = 1."""
    times = []
    for _ in range(ROUNDS):
        begun = time.process_time()
        ggdp.calibrate(ggdp.ApproxDP(1.0, delta), ggdp.Sensitivity.cells(cells, 1), order=order, support=support)
        times.append(time.process_time() - begun)
    return min(times)


def main() -> None:
    # What is imported and computed once in a process.
    for support in SUPPORTS:
        seconds(support, 0.01, 3, 3)
    rows = [
        {
            "support": support,
            "delta": delta,
            "order": order,
            "seconds": [round(seconds(support, delta, order, cells), 3) for cells in CELLS],
        }
        for support, delta, order in itertools.product(SUPPORTS, DELTAS, ORDERS)
    ]
    print(json.dumps({"cells": CELLS, "rows": rows}))


if __name__ == "__main__":
    main()
