"""The closed form of Laplace losses on a grid beside sums over all noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import arb, ctx

from ggdp._balls import lower_float, upper_float
from ggdp.proofs import NoiseLaw
from ggdp.proofs.layouts import CornerLayout, LossLayout
from ggdp.proofs.loss_distribution import (
    GeometricMasses,
    LossDistribution,
    Masses,
    _run_weights,
    delta_above,
    delta_below,
    smoothings,
    weigh,
)
from ggdp.proofs.losses import CoordinateLoss, CountedLoss, Loss, ResponseLoss, discretize_laplace, total_loss


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(128):
        yield


def grid(step: float, low: int, high: int) -> LossLayout:
    return LossLayout(step=step, low=low, high=high, inner_low=low, inner_high=high)


def all_masses(found: Masses) -> dict[int, float]:
    """The mass on every knot, those in geometric progression too."""
    assert found.run is not None
    masses = {index: float(mass) for index, mass in found.masses.items()}
    for index in range(found.run.low, found.run.high + 1):
        here = float(found.run.top * (found.run.fall * (index - found.run.high)).exp())
        masses[index] = masses.get(index, 0.0) + here
    return masses


def survival(z: float) -> float:
    return 0.5 * math.exp(-z) if z > 0 else 1.0 - 0.5 * math.exp(z)


def real_delta(d: float, x: float) -> float:
    """Delta of the standard Laplace law at any x, by its survival function at the point where the loss passes x."""
    if x >= d:
        return 0.0
    if x <= -d:
        return -math.expm1(x)
    z = (x - d) / 2.0
    return survival(z) - math.exp(x) * survival(z + d)


def integer_atoms(size: int, scale: float) -> tuple[np.ndarray, np.ndarray]:
    """The losses on the integers and their probabilities; all noise from 0 on has one loss, all up to -size another."""
    k = np.arange(-size, 1)
    q = math.exp(-1.0 / scale)
    masses = (1.0 - q) / (1.0 + q) * np.exp(k / scale)
    masses[0], masses[-1] = math.exp(-size / scale) / (1.0 + q), 1.0 / (1.0 + q)
    return (2.0 * k + size) / scale, masses


def exact_delta(atoms: list[tuple[np.ndarray, np.ndarray]], x: float) -> float:
    """Delta of the sum of one or two losses."""
    (losses, masses), *others = atoms
    if not others:
        return math.fsum(masses * -np.expm1(np.minimum(x - losses, 0.0)))
    return math.fsum(mass * exact_delta(others, x - loss) for loss, mass in zip(losses, masses, strict=True))


@pytest.mark.parametrize(("d", "step"), [(1.0, 0.125), (1.0, 0.15), (0.3, 0.15), (2.7, 0.01), (0.31, 0.3)])
def test_on_the_reals_delta_at_every_knot_is_the_exact_one(d: float, step: float) -> None:
    last = math.ceil(d / step) + 1
    found = discretize_laplace(NoiseLaw(order=1, scale=2.0), 2.0 * d, grid(step, -last, last))
    assert found is not None
    masses = all_masses(found)
    assert math.fsum(masses.values()) == pytest.approx(1.0, rel=1e-14)
    assert math.fsum(mass * math.exp(-step * j) for j, mass in masses.items()) == pytest.approx(1.0, rel=1e-14)
    for i in range(-last - 1, last + 2):
        delta = math.fsum(mass * -math.expm1(min(step * (i - j), 0.0)) for j, mass in masses.items())
        assert delta == pytest.approx(real_delta(d, step * i), rel=1e-12, abs=1e-15)


@pytest.mark.parametrize("low", [-8, -7, -6, -3, 0, 6])
def test_what_is_below_the_grid_is_raised_to_its_first_knot_and_counted(low: int) -> None:
    law = NoiseLaw(order=1, scale=1.0)
    whole, part = (all_masses(discretize_laplace(law, 1.0, grid(0.125, first, 9))) for first in (-8, low))
    below = math.fsum(mass for index, mass in whole.items() if index < low)
    for index in range(low, 9):
        assert part[index] == pytest.approx(whole[index] + (below if index == low else 0.0), rel=1e-13)
    misplaced = discretize_laplace(law, 1.0, grid(0.125, low, 9)).misplaced
    assert sum(float(mass) for _, mass in misplaced) == pytest.approx(below, rel=1e-13)


@pytest.mark.parametrize(
    ("law", "shift", "layout"),
    [
        (NoiseLaw(order=1.01, scale=1.0), 1.0, grid(0.1, -20, 20)),
        (NoiseLaw(order=1, scale=1.0), 1.0, grid(0.1, -20, 9)),
        (NoiseLaw(order=1, scale=1.0), 1e30, grid(0.1, -20, 9)),
        (NoiseLaw(order=1, scale=1e-300), 1e300, grid(0.1, -20, 9)),
        (NoiseLaw(order=1, scale=1.0), 1.0, grid(0.1, 9, 20)),
        (NoiseLaw(order=1, scale=1.0), 1.0, grid(1.0, -20, 20)),
        (NoiseLaw(order=1, scale=100.0, support="integer"), 100.0, grid(0.1, -20, 20)),
        (NoiseLaw(order=1, scale=5000.0, support="integer"), 5000.0, grid(2.0**-13, -9000, 9000)),
        (NoiseLaw(order=1, scale=1e200, support="integer"), 5000.0, grid(0.1, -20, 20)),
    ],
    ids=[
        "another order",
        "grid below",
        "grid far below",
        "grid below all floats",
        "grid above",
        "too coarse",
        "few integers",
        "too fine for the integers",
        "too coarse for wide noise on the integers",
    ],
)
def test_where_the_closed_form_is_not_tight_there_is_none(law: NoiseLaw, shift: float, layout: LossLayout) -> None:
    assert discretize_laplace(law, shift, layout) is None


SIZE, SCALE = 5000, 3000.3


def total(*parts: tuple[Loss, LossLayout], tilt: float = 0.0) -> LossDistribution:
    """Add losses that are laid on these grids."""
    layout = CornerLayout(sizes=tuple(grid for _, grid in parts), tilt=tilt, tail=-200.0, points=1 << 15)
    return total_loss([CountedLoss(loss, 1) for loss, _ in parts], layout)


def laid(step: float) -> tuple[Loss, LossLayout]:
    last = math.ceil(SIZE / SCALE / step) + 1
    law = NoiseLaw(order=1, scale=SCALE, support="integer")
    assert discretize_laplace(law, float(SIZE), grid(step, -last, last)) is not None
    return CoordinateLoss(law, float(SIZE)), grid(step, -last, last)


@pytest.mark.parametrize("index", [-150, -77, 0, 1, 63, 141])
@pytest.mark.parametrize("shift", [0.0, 0.31])
def test_on_the_integers_the_sum_over_all_noise_is_between_the_bounds_and_near(index: int, shift: float) -> None:
    """At a knot the grid adds nothing, so that what separates integers and reals, 1e-8, is all that is left."""
    loss = total(laid(0.01))
    x = 0.01 * (index + shift)
    exact = exact_delta([integer_atoms(SIZE, SCALE)], x)
    upper = upper_float(delta_above(loss, arb(x)))
    lower = max(lower_float(delta_below(loss, arb(x), s)) for s in smoothings(loss))
    assert lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= upper
    assert upper - lower <= 3e-7 if shift == 0.0 else upper - lower <= 1e-4


def test_a_loss_of_the_integers_itself_is_not_above_the_lower_bound() -> None:
    """There integers and reals have the same delta: what was added for the integers between must be taken off."""
    step = 2.0**-6
    law, size = NoiseLaw(order=1, scale=4096.0, support="integer"), 8192.0
    loss = total((CoordinateLoss(law, size), grid(step, -130, 130)))
    for index in (-64, 0, 32):
        exact = -math.expm1((step * index - 2.0) / 2.0)
        lower = lower_float(delta_below(loss, arb(step * index), 0.0))
        assert exact * (1 - 1e-7) <= lower <= exact * (1 + 1e-12)


def test_noise_on_the_integers_may_be_wider_than_the_square_root_of_the_largest_float() -> None:
    found = discretize_laplace(NoiseLaw(order=1, scale=1e200, support="integer"), 1e200, grid(0.125, -9, 9))
    assert found is not None
    # It is hardly wider than that of the reals, whose largest loss is a knot.
    assert all_masses(found)[8] == pytest.approx((1.0 - math.exp(-1 / 16)) / -math.expm1(-0.125), rel=1e-12)


@pytest.mark.parametrize("epsilon", [0.5, 1.6, 2.2])
@pytest.mark.parametrize("tilt", [0.0, 3.0])
def test_sums_with_other_losses_are_between_the_bounds(epsilon: float, tilt: float) -> None:
    response = 0.7
    truth = 1.0 / (1.0 + math.exp(-response))
    atoms = [
        (np.array([-response, response]), np.array([1.0 - truth, truth])),
        integer_atoms(SIZE, SCALE),
    ]
    both = total(laid(2.0**-8), (ResponseLoss(response, 0.0), grid(2.0**-8, -1, 1)), tilt=tilt)
    exact = exact_delta(atoms, epsilon)
    lower = max(lower_float(delta_below(both, arb(epsilon), s)) for s in smoothings(both))
    assert exact * (1 - 2e-2) <= lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= upper_float(delta_above(both, arb(epsilon))) <= exact * (1 + 1e-3)


@pytest.mark.parametrize("fall", [2.0**-12, 0.3, 40.0])
@pytest.mark.parametrize("bits", [80, 128])
def test_weights_in_geometric_progression_are_rounded_up_by_no_more_than_is_said(fall: float, bits: int) -> None:
    with ctx.workprec(bits):
        run = GeometricMasses(-1500, 1500, arb(0.37), arb(fall))
        weights, surplus = _run_weights(run, arb(2) ** 50)
    with ctx.workprec(300):
        for index, weight in zip(range(-1500, 1501), weights, strict=True):
            exact = arb(0.37) * 2**50 * (arb(fall) * (index - 1500)).exp()
            assert exact <= weight
            assert weight <= exact + surplus
    assert surplus <= 4


def test_masses_in_geometric_progression_are_tilted_as_others_are() -> None:
    run = GeometricMasses(-30, 20, arb(0.01), arb(0.125))
    listed = {index: run.top * (run.fall * (index - 20)).exp() for index in range(-30, 21)}
    nothing = {"infinite": arb(0), "certain": arb(0), "spread": arb(0), "misplaced": [], "raised": arb(0)}
    ends = {-32: arb(0.25), 20: arb(0.125)}
    short = weigh(Masses(step=0.25, masses=ends, run=run, **nothing), 1.5)
    for index, mass in ends.items():
        listed[index] = listed.get(index, arb(0)) + mass
    long = weigh(Masses(step=0.25, masses=listed, **nothing), 1.5)
    assert (short.low, short.points) == (long.low, long.points)
    assert abs(float(short.level) - float(long.level)) < 1e-14
    unit = Fraction(float((short.level - long.level).exp()))
    for mine, other in zip(short.weights.coeffs(), long.weights.coeffs(), strict=True):
        assert abs(float(int(mine) * unit - int(other))) <= short.slack.excess + long.slack.excess
