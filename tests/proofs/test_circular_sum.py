"""The terms of the proofs on hand-made grids, where leaving one out would show."""

import pytest
from flint import arb, ctx

from ggdp.proofs.coordinate_loss import _on_knots
from ggdp.proofs.layouts import Window
from ggdp.proofs.circular_sum import LossDistribution, _mass_beyond, mass_below, sum_of


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(192):
        yield


def test_a_loss_below_its_knot_is_raised_to_it_and_takes_nothing_from_the_next():
    """One atom with the loss -0.05, in the cell of the knots 0 and 0.1: all of it belongs on the knot 0."""
    step, loss = arb("0.1"), arb("-0.05")
    grid = _on_knots([0, 1], step, [arb(1), arb(0)], [(-loss).exp(), arb(0)], [loss, step])
    assert grid.masses[0] <= 1 + arb(2) ** -150
    assert grid.masses[1] >= -(arb(2) ** -150)


def test_an_atom_between_two_knots_keeps_its_mass_and_its_mean_of_the_other_law():
    step, loss = arb("0.1"), arb("0.03")
    grid = _on_knots([0, 1], step, [arb(1), arb(0)], [(-loss).exp(), arb(0)], [arb(0), step])
    assert (grid.masses[0] + grid.masses[1]).overlaps(arb(1))
    assert (grid.masses[0] + grid.masses[1] * (-step).exp()).overlaps((-loss).exp())


def test_mass_below_the_first_threshold_is_put_on_a_knot_that_is_not_below_its_losses():
    step = arb("0.1")
    grid = _on_knots([-2, -1, 0], step, [arb("0.9"), arb("0.9"), arb(0)], [arb(1), arb(1), arb(0)], [arb("-0.12")] * 3)
    assert grid.masses[0].overlaps(arb(0))
    assert grid.masses[1] >= arb("0.1") - arb(2) ** -150


def test_chernoffs_bound_is_the_whole_mass_of_one_atom_just_above_the_window():
    part = LossDistribution(arb("0.1"), 5, [arb(1)], arb(0))
    assert _mass_beyond([(part, 1)], 5, arb(3)) >= 1 - arb(2) ** -150
    assert _mass_beyond([(part, 3)], 15, arb(7)) >= 1 - arb(2) ** -150


def test_what_leaves_the_window_is_counted_as_infinite_and_nothing_inside_is_lost():
    part = LossDistribution(arb("0.1"), 0, [arb("0.5"), arb(0), arb(0), arb("0.5")], arb("0.001"))
    total = sum_of([(part, 2)], Window(top=4, points=8, tilt=5.0))
    assert total.infinite >= arb("0.25") + 2 * arb("0.001")
    assert total.masses[0 - total.low] >= arb("0.25") - arb(2) ** -150
    assert total.masses[3 - total.low] >= arb("0.5") - arb(2) ** -150


def test_what_is_below_the_window_is_bounded_and_nothing_is_where_nothing_can_be():
    part = LossDistribution(arb("0.1"), -5, [arb("0.25"), arb("0.75")], arb(0))
    assert mass_below([(part, 2)], -9) >= arb("0.0625") - arb(2) ** -150
    assert mass_below([(part, 2)], -10) == 0
