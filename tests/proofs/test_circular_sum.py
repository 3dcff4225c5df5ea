"""The terms of a circular sum on hand-made grids, where leaving one out would show."""

import pytest
from flint import arb, ctx

from ggdp.proofs.layouts import Window
from ggdp.proofs.several_coordinates import GridLaw, _mass_beyond, sum_of


@pytest.fixture(autouse=True)
def precise():
    with ctx.workprec(192):
        yield


def test_chernoffs_bound_is_the_whole_mass_of_one_atom_just_above_the_window():
    part = GridLaw(arb("0.1"), 5, [arb(1)], arb(0))
    assert _mass_beyond([(part, 1)], 5, arb(3)) >= 1 - arb(2) ** -150
    assert _mass_beyond([(part, 3)], 15, arb(7)) >= 1 - arb(2) ** -150


def test_what_leaves_the_window_is_counted_as_infinite_and_nothing_inside_is_lost():
    part = GridLaw(arb("0.1"), 0, [arb("0.5"), arb(0), arb(0), arb("0.5")], arb("0.001"))
    total = sum_of([(part, 2)], Window(top=4, points=8, tilt=5.0))
    assert total.infinite >= arb("0.25") + 2 * arb("0.001")
    assert total.masses[0 - total.low] >= arb("0.25") - arb(2) ** -150
    assert total.masses[3 - total.low] >= arb("0.5") - arb(2) ** -150
