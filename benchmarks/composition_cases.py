"""What the benchmark of composition asks for: losses as manifests hold them, with how many releases have each.

A record of noise says how many cells of one release move (`count`); `releases` says how many such releases there are.
"""

from __future__ import annotations

from typing import Any

Records = list[dict[str, Any]]

ORDERS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
SUPPORTS = ("real", "integer")
CELLS = (1, 2, 3, 5, 10)
DELTA = 1e-6
DELTAS = (0.1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15, 1e-18)


def noise(order: float, scale: float, support: str = "integer", *, cells: int = 1, releases: int = 1) -> dict[str, Any]:
    law = {"order": order, "scale": scale, "support": support, "size": 1.0}
    return {"kind": "noise", **law, "count": cells, "releases": releases}


def response(epsilon: float, *, releases: int = 1) -> dict[str, Any]:
    return {"kind": "response", "epsilon": epsilon, "delta": 0.0, "count": 1, "releases": releases}


def mixed(laws: int, releases: int) -> Records:
    """Return distinct laws, each of as many releases: every order on each support, with cells and scales in turn."""
    return [
        noise(
            ORDERS[i % len(ORDERS)],
            80.0 + 240.0 * i / laws,
            SUPPORTS[i // len(ORDERS) % len(SUPPORTS)],
            cells=CELLS[i % len(CELLS)],
            releases=releases // laws,
        )
        for i in range(laws)
    ]


def gaussians(support: str, number: int = 100) -> Records:
    return [noise(2.0, 30.0 + 0.7 * i, support) for i in range(number)]


# The cases that are timed. Two have an aim in seconds.
TIMED: dict[str, Records] = {
    "1,000 releases of 20 laws, mixed": mixed(20, 1000),
    "1,000 releases of 20 laws, Laplace and Gaussian, on the reals": [
        noise(1.0 + i % 2, 80.0 + 12.0 * i, "real", cells=CELLS[i % len(CELLS)], releases=50) for i in range(20)
    ],
    "1,000 releases of 1,000 laws, mixed": mixed(1000, 1000),
    "100 Gaussians, on the reals": gaussians("real"),
    "100 Gaussians, on the integers": gaussians("integer"),
    "12 monthly histograms, Laplace": [noise(1.0, 10.0, releases=12)],
    "12 monthly histograms, order 3, 5 cells": [noise(3.0, 60.0, cells=5, releases=12)],
    "100 randomised responses": [response(0.1, releases=100)],
}
AIMS = {"1,000 releases of 20 laws, mixed": 1.0, "1,000 releases of 1,000 laws, mixed": 20.0}
# A finer discretisation takes dp-accounting minutes here.
COARSE_ONLY = ("1,000 releases of 1,000 laws, mixed",)

# The mixes whose bounds are judged, at every one of the deltas; how the true delta is found, if it is.
TIGHT: dict[str, tuple[Records, str | None]] = {
    "12 Laplace on the integers": ([noise(1.0, 2.0, releases=12)], "binomial"),
    "100 randomised responses": ([response(0.25, releases=100)], "binomial"),
    "10 Gaussians on the reals": (gaussians("real", 10), "binomial"),
    "10 Gaussians on the reals and 20 responses": ([*gaussians("real", 10), response(0.05, releases=20)], "binomial"),
    "orders 1.5 and 3 on the integers": (
        [noise(1.5, 2.2), noise(3.0, 2.6), noise(3.0, 3.1)],
        "enumeration",
    ),
    "5 Gaussians on the integers and 3 Laplace": (
        [noise(2.0, 20.0, releases=5), noise(1.0, 15.0, releases=3)],
        None,
    ),
    "40 releases of 8 orders, mixed": (mixed(8, 40), None),
    "60 releases of 3 orders on the integers": (
        [noise(1.5, 30.0, releases=20), noise(2.5, 40.0, releases=20), noise(6.0, 50.0, releases=20)],
        None,
    ),
}
