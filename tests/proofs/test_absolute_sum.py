"""The paper's bound for several coordinates: never below the exact probability, and near it."""

from __future__ import annotations

import itertools
import math

import mpmath
import numpy as np
import pytest
from scipy import special
from tests.flat import delta_of_absolute_sum

from ggdp.calibration.loss_grids import crossings

SIZES = (1.0, 0.1, 0.05)
CORNER = tuple((size, 1) for size in SIZES)


def exact_of_three(order: float, scale: float, sizes: tuple[float, ...], epsilon: float, total: float) -> float:
    """The probability for three coordinates, by Gauss-Legendre over two of them and the exact tail of the first."""
    nodes, weights = np.polynomial.legendre.leggauss(300)
    far = 36.0 ** (1.0 / order)
    z, density = 0.5 * far * (nodes + 1.0), order / math.gamma(1.0 / order)
    w = weights * 0.5 * far * density * np.exp(-(z**order))
    d = [size / scale for size in sizes]
    rest = [(z + shift) ** order - z**order - shift**order for shift in d[1:]]
    v, mass = np.add.outer(*rest).ravel(), np.multiply.outer(w, w).ravel()
    gap = epsilon - total / scale**order - v
    tail = np.ones(len(v))
    inside = gap > 0
    roots = crossings(order, d[0], gap[inside] + d[0] ** order, largest=300.0 ** (1.0 / order))
    tail[inside] = special.gammaincc(1.0 / order, np.maximum(roots, 0.0) ** order)
    return float(tail @ mass)


@pytest.mark.parametrize(
    ("order", "scale", "joint"),
    [
        (2.0, 3.2, None),
        (4.0, 6.5, None),
        pytest.param(3.0, 4.9, None, marks=pytest.mark.exhaustive),
        *(
            pytest.param(order, scale, 1.0, marks=pytest.mark.exhaustive)
            for order, scale in ((2.0, 3.2), (3.0, 4.9), (4.0, 6.5))
        ),
    ],
)
def test_three_coordinates_are_above_the_exact_probability_and_near_it(
    order: float, scale: float, joint: float | None
) -> None:
    total = sum(size**order for size in SIZES) if joint is None else joint**order
    exact = exact_of_three(order, scale, SIZES, 1.0, total)
    found = delta_of_absolute_sum(
        order=order, scale=scale, corner=CORNER, epsilon=1.0, support="real", joint=joint
    ).upper
    assert exact * (1 - 1e-11) <= found <= exact * (1 + 5e-7)


def test_orders_below_two_are_above_the_exact_probability_and_near_it() -> None:
    exact = exact_of_three(1.5, 2.5, SIZES, 1.0, sum(size**1.5 for size in SIZES))
    found = delta_of_absolute_sum(order=1.5, scale=2.5, corner=CORNER, epsilon=1.0, support="real").upper
    assert exact <= found <= exact * (1 + 1e-3)


@pytest.mark.parametrize("order", [1.5, 2.0, 3.0, 10.0])
def test_one_coordinate_is_its_tail(order: float) -> None:
    with mpmath.workdps(40):
        z = mpmath.findroot(
            lambda x: (x + mpmath.mpf(0.25)) ** order - x**order - 1, (0.3, 3), solver="illinois", tol=1e-60
        )
        exact = mpmath.gammainc(1 / mpmath.mpf(order), z**order, mpmath.inf, regularized=True)
    found = delta_of_absolute_sum(order=order, scale=4.0, corner=((1.0, 1),), epsilon=1.0, support="real").upper
    assert exact <= found <= exact * (1 + 1e-12)


def test_equal_gaussian_coordinates_are_above_the_exact_probability_and_near_it() -> None:
    # 2 d (|x_1| + |x_2|) > t: a square turned by 45 degrees around two independent normal variables.
    scale, epsilon = 4.0, 1.0
    d = 1 / scale
    edge = (epsilon - 2 * d * d) / (2 * d)
    exact = 1 - (1 - special.erfc(edge / math.sqrt(2.0))) ** 2
    found = delta_of_absolute_sum(order=2, scale=scale, corner=((1.0, 2),), epsilon=epsilon, support="real").upper
    assert exact * (1 - 1e-12) <= found <= exact * (1 + 1e-6)


@pytest.mark.exhaustive
def test_many_gaussian_coordinates_are_above_a_simulation_of_the_same_sum() -> None:
    scale, count = 60.0, 40
    noise = np.abs(np.random.default_rng(5).standard_normal((200_000, count))) / math.sqrt(2.0)
    sums = (2 / scale * noise).sum(axis=1) + count / scale**2
    share = float((sums > 1.0).mean())
    found = delta_of_absolute_sum(order=2, scale=scale, corner=((1.0, count),), epsilon=1.0, support="real").upper
    # Six standard errors: a false alarm once in 10^9.
    slack = 6 * math.sqrt(share * (1 - share) / 200_000)
    assert share - slack <= found <= share + slack


@pytest.mark.parametrize("order", [1.5, 2.0, 4.0])
def test_integers_are_above_the_sum_over_all_noise_and_near_it(order: float) -> None:
    scale, epsilon, shifts = 4.3, 1.0, (2, 1)
    reach = math.ceil(scale * 34.0 ** (1.0 / order)) + 1
    weights = {k: math.exp(-((abs(k) / scale) ** order)) for k in range(-reach, reach + 1)}
    total = math.fsum(weights.values()) ** 2
    terms = []
    for k, j in itertools.product(weights, weights):
        loss = sum(
            ((abs(x) + s) ** order - abs(x) ** order) / scale**order for x, s in zip((k, j), shifts, strict=True)
        )
        if loss > epsilon:
            terms.append(weights[k] * weights[j] / total)
    exact = math.fsum(terms)
    found = delta_of_absolute_sum(
        order=order, scale=scale, corner=((2, 1), (1, 1)), epsilon=epsilon, support="integer"
    ).upper
    assert exact * (1 - 1e-9) <= found <= exact * (1 + 1e-6)


def test_order_one_is_decided_exactly() -> None:
    at = {"order": 1.0, "corner": ((0.1, 3),), "epsilon": 0.5, "support": "real"}
    assert delta_of_absolute_sum(**at, scale=0.6000000000000001).upper == 0.0
    assert delta_of_absolute_sum(**at, scale=0.6).upper == 1.0


def test_bound_is_one_where_the_moves_alone_reach_epsilon() -> None:
    assert delta_of_absolute_sum(order=2, scale=1.0, corner=((1.0, 2),), epsilon=1.0, support="real").upper == 1.0
