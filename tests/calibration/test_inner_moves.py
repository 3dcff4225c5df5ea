"""No move inside a box, or on the sphere of a joint norm, has a larger delta than was promised.

The deltas are computed here by a convolution of its own, in plain floats: it shares no code with the library.
"""

from __future__ import annotations

import math
from itertools import pairwise, product

import numpy as np
import pytest
from scipy import special

import ggdp
from ggdp import ApproxDP, ProbabilisticDP, Sensitivity

# What the quadrature and its floats may add, relative to delta.
ROUNDING = 1e-6
GOALS = {"approximate": ApproxDP, "probabilistic": ProbabilisticDP}
KINDS = {
    "box": Sensitivity.box([3, 2]),
    "box-of-3": Sensitivity.box([2, 1, 1]),
    "cells": Sensitivity.cells(2, 2),
    "box-l1": Sensitivity.box([3, 2], norm=(1, 4)),
    "box-l2": Sensitivity.box([3, 2], norm=(2, 3.2)),
    "box-l3": Sensitivity.box([2, 2, 1], norm=(3, 2.3)),
    "norm-l1": Sensitivity.norm(1, 3, dimension=2),
    "norm-l2": Sensitivity.norm(2, 2.5, dimension=2),
    "norm-l3": Sensitivity.norm(3, 2.5, dimension=2),
}


def losses(order: float, x: np.ndarray, d: float) -> np.ndarray:
    return np.abs(x + d) ** order - np.abs(x) ** order


def survival(order: float, z: np.ndarray) -> np.ndarray:
    tail = special.gammaincc(1.0 / order, np.abs(z) ** order) / 2.0
    return np.where(z < 0.0, 1.0 - tail, tail)


def crossing(order: float, d: float, levels: np.ndarray) -> np.ndarray:
    """Return where the loss passes levels, by bisection; infinite where it does not."""
    low, high = np.full(levels.shape, -1e4), np.full(levels.shape, 1e4)
    never, always = losses(order, high, d) <= levels, losses(order, low, d) > levels
    for _ in range(80):
        middle = 0.5 * (low + high)
        above = losses(order, middle, d) > levels
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.where(never, np.inf, np.where(always, -np.inf, high))


def last_real(notion: str, order: float, d: float, levels: np.ndarray, epsilon: float) -> np.ndarray:
    """Return what the last coordinate adds where the others lose epsilon - level."""
    # A loss that is epsilon but for rounding is not above it.
    z = crossing(order, d, levels + 1e-12)
    if notion == "approximate":
        return survival(order, z) - np.exp(np.minimum(levels, 700.0)) * survival(order, z + d)
    return survival(order, z) + 1.0 - survival(order, crossing(order, d, levels - 2.0 * epsilon - 1e-12))


def nodes_of(order: float, d: float, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return Gauss-Legendre nodes and masses of standard noise, with pieces that end where the loss bends."""
    x, w = np.polynomial.legendre.leggauss(number)
    far = 60.0 ** (1.0 / order)
    ends = [-d - far, -d - 0.2 * far, -d, -0.5 * d, 0.0, 0.2 * far, far]
    found = [(0.5 * (b - a) * x + 0.5 * (a + b), 0.5 * (b - a) * w) for a, b in pairwise(ends)]
    points = np.concatenate([f[0] for f in found])
    density = np.exp(-(np.abs(points) ** order)) / (2.0 * special.gamma(1.0 + 1.0 / order))
    return points, np.concatenate([f[1] for f in found]) * density


def delta_of_move(
    notion: str, law: ggdp.Calibration, move: tuple[float, ...], epsilon: float, *, finer: int = 1
) -> float:
    """Return delta of one move; of |loss| > epsilon for probabilistic DP."""
    order, scale = law.order, law.scale
    # The largest is integrated exactly: given the others, a small one is almost a step.
    shifts = sorted((abs(d) / scale for d in move if d), reverse=True)
    if not shifts:
        return 0.0
    sums, masses = np.zeros(1), np.ones(1)
    integer = law.support == "integer"
    if integer:
        k = np.arange(-math.ceil(60.0 ** (1.0 / order) * scale), math.ceil(60.0 ** (1.0 / order) * scale) + 1.0) / scale
        mass = np.exp(-(np.abs(k) ** order))
        mass /= mass.sum()
    for d in shifts[1:]:
        x, w = (k, mass) if integer else nodes_of(order, d, finer * (24 if len(shifts) > 2 else 100))
        sums = np.add.outer(sums, losses(order, x, d)).ravel()
        masses = np.multiply.outer(masses, w).ravel()
    if not integer:
        return float(masses @ last_real(notion, order, shifts[0], epsilon - sums, epsilon))
    single = losses(order, k, shifts[0])
    rank = np.argsort(single, kind="stable")
    single, tail = single[rank], np.append(np.cumsum(mass[rank][::-1])[::-1], 0.0)
    weighted = np.append(np.cumsum((mass[rank] * np.exp(-single))[::-1])[::-1], 0.0)
    # A loss that is epsilon but for rounding is not above it.
    first = np.searchsorted(single, epsilon - sums + 1e-12, side="right")
    if notion == "approximate":
        return float(masses @ (tail[first] - np.exp(epsilon - sums) * weighted[first]))
    below = np.searchsorted(single, -epsilon - sums - 1e-12, side="left")
    return float(masses @ (tail[first] + 1.0 - tail[below]))


def moves_of(query: Sensitivity, support: str, number: int, seed: int) -> list[tuple[float, ...]]:
    """Return moves inside the box and on the joint norm's sphere; on the integers all whole ones."""
    sizes = list(query.sizes) * (query.moving if len(query.sizes) == 1 else 1)
    p, most = query.joint or (1.0, math.inf)
    if query.kind == "norm":
        sizes = [most] * query.moving

    def inside(move: tuple[float, ...]) -> bool:
        return sum(abs(m) ** p for m in move) ** (1.0 / p) <= most * (1.0 + 1e-12)

    if support == "integer":
        return [move for move in product(*(range(int(size) + 1) for size in sizes)) if inside(move)]
    random = np.random.default_rng(seed)
    found = [tuple(random.uniform(0.0, size) for size in sizes) for _ in range(number)]
    found += [
        tuple(size if random.random() < 0.5 else random.uniform(0, size) for size in sizes) for _ in range(number)
    ]
    if math.isfinite(most):
        for move in list(found):
            length = sum(m**p for m in move) ** (1.0 / p)
            found.append(tuple(min(m * most / length, size) for m, size in zip(move, sizes, strict=True)))
    else:
        found.append(tuple(sizes))
    return [move for move in found if inside(move)]


def require_no_worse_move(kind: str, notion: str, order: float, support: str, epsilon: float, delta: float) -> float:
    """Check all moves, and return the largest delta over that of the goal."""
    query = KINDS[kind]
    try:
        law = ggdp.calibrate(GOALS[notion](epsilon, delta), query, order=order, support=support)
    except ggdp.errors.UnprovedError:
        assert notion == "probabilistic"
        assert query.kind == "norm"
        return 1.0
    moves = moves_of(query, support, 12, seed=7)
    found = {move: delta_of_move(notion, law, move, epsilon) for move in moves}
    for move in (move for move, value in found.items() if value > delta * (1.0 + ROUNDING)):
        # A quadrature with few nodes is wrong by more than that where the law is steep.
        found[move] = delta_of_move(notion, law, move, epsilon, finer=9)
    worst = max(found.values())
    assert worst <= delta * (1.0 + ROUNDING)
    return worst / delta


@pytest.mark.parametrize(
    ("kind", "order", "notion", "support"),
    [
        ("box", 1.5, "probabilistic", "real"),
        ("cells", 3.0, "probabilistic", "integer"),
        ("cells", 1.2, "approximate", "real"),
        ("box-l2", 1.5, "approximate", "integer"),
        ("norm-l1", 8.0, "approximate", "integer"),
        ("norm-l3", 3.0, "approximate", "real"),
    ],
)
def test_no_inner_move_has_a_larger_delta(kind: str, order: float, notion: str, support: str) -> None:
    require_no_worse_move(kind, notion, order, support, 1.0, 0.01)


@pytest.mark.parametrize(("order", "support"), [(3.0, "real"), (1.5, "integer")])
def test_the_corner_attains_the_delta_that_is_promised(order: float, support: str) -> None:
    assert require_no_worse_move("box", "approximate", order, support, 1.0, 0.01) > 0.999


def test_a_scale_that_is_too_small_is_noticed() -> None:
    law = ggdp.calibrate(ApproxDP(1.0, 0.01), KINDS["box"], order=3.0)

    class Less:
        order, scale, support = law.order, law.scale * 0.999, law.support

    assert delta_of_move("approximate", Less, (3.0, 2.0), 1.0) > 0.01


@pytest.mark.exhaustive
@pytest.mark.parametrize("support", ["real", "integer"])
@pytest.mark.parametrize("notion", ["approximate", "probabilistic"])
@pytest.mark.parametrize("order", [1.0, 1.2, 1.5, 2.0, 3.0, 8.0])
@pytest.mark.parametrize("kind", KINDS)
def test_no_inner_move_of_any_query_has_a_larger_delta(kind: str, order: float, notion: str, support: str) -> None:
    for epsilon, delta in [(0.3, 0.05), (1.0, 1e-3), (3.0, 1e-4), (2.0, 0.3)]:
        require_no_worse_move(kind, notion, order, support, epsilon, delta)
