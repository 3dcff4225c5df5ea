"""What the benchmark of composition asks for: losses as manifests hold them, with how many releases have each.

A record of noise says how many cells of one release move (`count`); `releases` says how many such releases there are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

Records = list[dict[str, Any]]

ORDERS = (1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 6.0)
SUPPORTS = ("real", "integer")
CELLS = (1, 2, 3, 5, 10)
DELTA = 1e-6


def noise(
    order: float, scale: float, support: str = "integer", *, size: float = 1.0, cells: int = 1, releases: int = 1
) -> dict[str, Any]:
    law = {"order": order, "scale": scale, "support": support, "size": size}
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
    "3 releases of orders 1.2, 3 and 8, 6 cells, on the reals": [
        noise(1.2, 3.6, "real", cells=3),
        noise(3.0, 7.0, "real", cells=2),
        noise(8.0, 9.0, "real"),
    ],
    "7 releases of orders 1.2, 3 and 8, moved by 1, 2 and 5, on the reals": [
        noise(order, scale * size, "real", size=size)
        for order, scale in ((1.2, 5.0), (3.0, 8.0), (8.0, 9.0))
        for size in (1.0, 2.0)
    ]
    + [noise(3.0, 30.0, "real", size=5.0)],
}
AIMS = {
    "1,000 releases of 20 laws, mixed": 1.0,
    "1,000 releases of 1,000 laws, mixed": 20.0,
    "3 releases of orders 1.2, 3 and 8, 6 cells, on the reals": 3.0,
    "7 releases of orders 1.2, 3 and 8, moved by 1, 2 and 5, on the reals": 3.0,
}
# A finer discretisation takes dp-accounting minutes here.
COARSE_ONLY = ("1,000 releases of 1,000 laws, mixed",)


class Mix(NamedTuple):
    """Losses whose bounds are judged, the epsilons at which they are, and how the true delta is found, if it is."""

    losses: Records
    epsilons: tuple[float, ...]
    by: str | None = None


# Deltas of about 0.1, 1e-3, 1e-6, 1e-9, 1e-12, 1e-15 and 1e-18, where the total has them.
TIGHT = {
    "12 Laplace on the integers": Mix(
        [noise(1.0, 2.0, releases=12)], (2.87, 5.65, 6.0 - 3e-4, 6.0 - 3e-7, 6.0 - 3e-10), "binomial"
    ),
    "100 randomised responses": Mix(
        [response(0.25, releases=100)], (5.47, 9.98, 13.93, 16.73, 18.9, 20.7, 22.1), "binomial"
    ),
    "10 Gaussians on the reals": Mix(gaussians("real", 10), (0.0, 0.285, 0.55, 0.735, 0.886, 1.016, 1.132), "binomial"),
    "2 Gaussians on the reals and 20 responses": Mix(
        [*gaussians("real", 2), response(0.05, releases=20)], (0.0, 0.52, 0.82, 0.97, 1.1, 1.2, 1.28), "binomial"
    ),
    "orders 1.5 and 3 on the integers": Mix(
        [noise(1.5, 2.2), noise(3.0, 2.6), noise(3.0, 3.1)], (1.1, 4.2, 7.63, 10.4, 12.85, 15.0, 17.1), "enumeration"
    ),
    "7 responses of two kinds": Mix(
        [response(0.60467, releases=5), response(0.38506, releases=2)], (1.0, 2.5, 3.7, 3.7934), "enumeration"
    ),
    "orders 2 and 8 on the integers, moved by 3": Mix(
        [noise(8.0, 1.43, size=3.0), noise(2.0, 2.57, size=3.0)], (5.0, 19.6), "enumeration"
    ),
    "5 Gaussians on the integers and 3 Laplace": Mix(
        [noise(2.0, 20.0, releases=5), noise(1.0, 15.0, releases=3)], (0.02, 0.43, 0.777, 1.0, 1.191, 1.345, 1.485)
    ),
    "15 releases of 3 orders on the integers": Mix(
        [noise(1.5, 30.0, releases=5), noise(2.5, 40.0, releases=5), noise(6.0, 50.0, releases=5)],
        (0.03, 0.38, 0.76, 1.08, 1.38, 1.67, 1.95),
    ),
    "3 orders on the reals, 12 cells": Mix(
        [noise(1.5, 30.0, "real", cells=4), noise(3.0, 40.0, "real", cells=4), noise(6.0, 50.0, "real", cells=4)],
        (0.03, 0.38, 0.76, 1.08, 1.38, 1.67, 1.95),
    ),
}
