"""Single losses on a grid: they dominate the truth and are near it, whatever the layout."""

from __future__ import annotations

import math
from functools import cache
from itertools import product

import mpmath
import pytest
from flint import arb, ctx
from tests.cases import covering

from ggdp._balls import lower_float, upper_float
from ggdp.errors import ArgumentError, CertificateError
from ggdp.proofs import NoiseLaw
from ggdp.proofs.layouts import MOST_KNOTS, CornerLayout, LossLayout
from ggdp.proofs.loss_distribution import delta_above, delta_below, smoothings, weigh
from ggdp.proofs.losses import (
    CoordinateLoss,
    CountedLoss,
    Loss,
    ResponseLoss,
    _atoms,
    _cells,
    discretize_coordinate,
    discretize_response,
    total_loss,
)

TINY = arb(2) ** -100


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(128):
        yield


def grid(step: float, low: int, high: int, **inner: int) -> LossLayout:
    ends = {"inner_low": low, "inner_high": high} | inner
    return LossLayout(step=step, low=low, high=high, **ends)


def two_cells() -> LossLayout:
    return grid(0.125, -1, 1)


def test_an_atom_between_two_knots_keeps_its_mass_and_its_mean_of_the_other_law() -> None:
    found = _atoms(0.125, [(arb("0.03"), arb(1))])
    assert (found.masses[0] + found.masses[1]).overlaps(arb(1))
    assert (found.masses[0] + found.masses[1] * (-arb(0.125)).exp()).overlaps((-arb("0.03")).exp())
    assert found.spread > 0


def test_an_atom_that_is_known_to_a_ball_only_is_raised_to_its_upper_end() -> None:
    found = _atoms(0.125, [(arb("0.03", "0.01"), arb(1))])
    assert (found.masses[0] + found.masses[1] * (-arb(0.125)).exp()) <= (-arb("0.0399")).exp()
    assert found.raised >= arb("0.0199")


def test_an_atom_on_a_knot_stays_there() -> None:
    found = _atoms(0.125, [(arb(0.25), arb(1))])
    assert sum((mass for index, mass in found.masses.items() if index != 2), arb(0)) <= TINY
    assert found.spread <= TINY


def test_mass_below_the_atoms_is_put_on_a_knot_that_is_not_below_them() -> None:
    found = _atoms(0.125, [(arb("0.03"), arb("0.5"))], arb("0.5"))
    assert found.masses[1] >= arb("0.5")
    assert found.misplaced[0][0] == 1


def cells(first, second, least):
    """Lay out the noise of two cells, between the knots -0.125, 0 and 0.125."""
    values = [
        [arb(str(value)) if isinstance(value, float) else value for value in part] for part in (first, second, least)
    ]
    return _cells(two_cells(), *values)


def test_a_loss_below_its_knot_is_raised_to_it_and_takes_nothing_from_the_next() -> None:
    """One atom with the loss -0.05, in the cell of the knots 0 and 0.125: all of it belongs on the knot 0."""
    loss = arb("-0.05")
    found = cells([1.0, 1.0, 0.0], [(-loss).exp(), (-loss).exp(), 0.0], [loss, loss, arb(0.125)])
    assert found.masses[0] <= 1 + TINY
    assert found.masses[1] >= -TINY


def test_a_cell_keeps_its_mass_and_its_mean_of_the_other_law() -> None:
    loss = arb("0.03")
    found = cells([1.0, 1.0, 0.0], [(-loss).exp(), (-loss).exp(), 0.0], [arb(-0.125), arb(0), arb(0.125)])
    assert (found.masses[0] + found.masses[1]).overlaps(arb(1))
    assert (found.masses[0] + found.masses[1] * (-arb(0.125)).exp()).overlaps((-loss).exp())


def test_mass_below_the_first_threshold_is_put_on_a_knot_that_is_not_below_its_losses() -> None:
    found = cells([0.9, 0.9, 0.0], [1.0, 1.0, 0.0], [arb("-0.12")] * 3)
    assert found.masses[-1] <= TINY
    assert found.masses[0] >= arb("0.1") - TINY


def test_mass_above_the_highest_threshold_is_infinite_but_not_certainly() -> None:
    found = cells([1.0, 0.5, 0.25], [1.0, 0.5, 0.125], [arb(-0.125), arb(0), arb(0.125)])
    assert found.infinite >= arb(0.25)
    assert found.certain == 0


def between(
    parts: list[tuple[Loss, int, LossLayout]],
    epsilon: float,
    *,
    tilt: float,
    tail: float = -200.0,
    points: int = 1 << 15,
):
    """Return both bounds of delta."""
    losses = [CountedLoss(loss, count) for loss, count, _ in parts]
    total = total_loss(
        losses, CornerLayout(sizes=tuple(part[2] for part in parts), tilt=tilt, tail=tail, points=points)
    )
    lower = max(lower_float(delta_below(total, arb(epsilon), s)) for s in smoothings(total))
    return lower, upper_float(delta_above(total, arb(epsilon)))


@pytest.mark.parametrize(("count", "scale", "epsilon"), [(1, 2.0, 1.0), (2, 3.0, 0.5), (7, 8.0, 2.0), (16, 10.0, 3.0)])
def test_several_gaussians_are_one(count: int, scale: float, epsilon: float) -> None:
    with mpmath.workdps(40):
        mu = mpmath.sqrt(2 * count) / mpmath.mpf(scale)
        exact = mpmath.ncdf(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * mpmath.ncdf(-mu / 2 - epsilon / mu)
    reach = math.ceil(20.0 * math.sqrt(2.0) / scale / 2.0**-9)
    loss = CoordinateLoss(NoiseLaw(order=2.0, scale=scale), 1.0)
    tilt = max(epsilon / float(mu) ** 2 - 0.5, 0.0)
    lower, upper = between([(loss, count, grid(2.0**-9, -reach, reach))], epsilon, tilt=tilt)
    assert lower <= exact <= upper
    assert upper <= exact * (1 + 2e-3)
    assert lower >= exact * (1 - 2e-2)


@pytest.mark.parametrize(("epsilon", "delta", "count"), [(0.5, 0.0, 1), (0.5, 0.01, 3), (0.1, 1e-9, 30)])
@pytest.mark.parametrize("aligned", [True, False])
def test_randomised_response_has_its_closed_form(epsilon: float, delta: float, count: int, aligned: bool) -> None:
    goal, step = 0.4 * epsilon * count, epsilon if aligned else 2.0**-12
    with mpmath.workdps(40):
        truth = 1 / (1 + mpmath.exp(-mpmath.mpf(epsilon)))
        finite = mpmath.fsum(
            mpmath.binomial(count, k)
            * truth**k
            * (1 - truth) ** (count - k)
            * max(-mpmath.expm1(mpmath.mpf(goal) - (2 * k - count) * mpmath.mpf(epsilon)), 0)
            for k in range(count + 1)
        )
        exact = 1 - (1 - mpmath.mpf(delta)) ** count * (1 - finite)
    part = (ResponseLoss(epsilon, delta), count, grid(step, -1, 1))
    lower, upper = between([part], goal, tilt=0.5)
    assert lower <= exact <= upper <= exact * (1 + (1e-9 if aligned else 1e-2))
    assert lower >= exact * (1 - (1e-3 if aligned else 0.1))


def integer_delta(order: float, scale: float, shifts: list[int], epsilon: float) -> float:
    """Delta on the integers by adding up all noise vectors."""
    reach = math.ceil(scale * 60.0 ** (1.0 / order)) + 1
    weights = [math.exp(-((abs(k) / scale) ** order)) for k in range(-reach, reach + 1)]
    singles = []
    for shift in shifts:
        losses = [(abs(k + shift) ** order - abs(k) ** order) / scale**order for k in range(-reach, reach + 1)]
        singles.append([(loss, weight / math.fsum(weights)) for loss, weight in zip(losses, weights, strict=True)])
    return math.fsum(
        -math.expm1(epsilon - sum(loss for loss, _ in point)) * math.prod(mass for _, mass in point)
        for point in product(*singles)
        if sum(loss for loss, _ in point) > epsilon
    )


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("step", [2.0**-3, 2.0**-11])
def test_integers_have_their_sum_over_all_noise_between_the_bounds(order: float, step: float) -> None:
    """On the coarser grid cells are split, on the finer one single losses."""
    law, knots = NoiseLaw(order=order, scale=1.7, support="integer"), math.ceil(40.0 / step)
    parts = [(CoordinateLoss(law, size), 1, grid(step, -knots, knots)) for size in (1.0, 2.0)]
    exact = integer_delta(order, 1.7, [1, 2], 0.9)
    lower, upper = between(parts, 0.9, tilt=0.5)
    assert lower <= exact * (1 + 1e-12)
    assert exact * (1 - 1e-12) <= upper <= exact * (1 + (0.05 if step > 0.01 else 1e-3))


LAYOUTS = {
    "fine": grid(2.0**-7, -600, 600),
    "sparse": grid(2.0**-7, -600, 600, inner_low=-5, inner_high=40),
    "above all": grid(2.0**-7, 500, 700),
    "below all": grid(2.0**-7, -700, -500),
    "too coarse": grid(8.0, -1, 1),
    "too high": grid(2.0**-4, 16000, MOST_KNOTS, inner_low=16000, inner_high=16001),
}


@cache
def on_a_fine_grid(law: NoiseLaw) -> tuple[float, float]:
    return between([(CoordinateLoss(law, 1.0), 2, LAYOUTS["fine"])], 0.6, tilt=0.5)


@pytest.mark.parametrize(
    ("name", "kind", "tilt"),
    covering(
        LAYOUTS,
        [(1.0, "real"), (1.0, "integer"), (1.01, "real"), (3.0, "real"), (3.0, "integer")],
        [0.0, 3.0, 50.0],
    ),
)
def test_every_layout_keeps_delta_between_the_bounds(name: str, kind: tuple[float, str], tilt: float) -> None:
    law = NoiseLaw(order=kind[0], scale=2.0, support=kind[1])
    low, high = on_a_fine_grid(law)
    for tail in (-50.0, -1.0, 30.0):
        part = (CoordinateLoss(law, 1.0), 2, LAYOUTS[name])
        try:
            lower, upper = between([part], 0.6, tilt=tilt, tail=tail, points=64)
        except CertificateError:
            # All of the mass is at infinity, up to the rounding of balls, which the tilt makes infinite.
            assert name not in ("fine", "sparse")
            continue
        assert lower <= high
        assert upper >= low


def test_the_noise_far_below_is_raised_where_no_loss_is_as_low_as_the_knots() -> None:
    """At order 1 no loss is below -1: all noise below the last threshold is on a knot that is not below its loss."""
    found = discretize_coordinate(NoiseLaw(order=1.0, scale=1.0), 1.0, grid(0.25, -100, 8))
    assert all(not mass > TINY for index, mass in found.masses.items() if index < -4)
    assert found.masses[-4] >= (-arb(1)).exp() / 2 - TINY


def test_a_grid_too_fine_for_a_response_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"^step = 1e-09"):
        discretize_response(0.5, 0.0, 1e-9)


def test_a_response_is_infinite_with_its_delta_for_certain() -> None:
    found = discretize_response(0.5, 0.01, 0.5)
    assert found.certain == arb(0.01)
    loss = weigh(found, 0.0)
    assert loss.points == 3
