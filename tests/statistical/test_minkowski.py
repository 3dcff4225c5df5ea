"""Draws of Minkowski noise fit their law in a cell, in the common total and jointly; those of other scales do not."""

import itertools
from typing import NamedTuple

import numpy as np
import pytest
from tests.statistical import laws
from tests.statistical.budget import compares, share
from tests.statistical.fit import CHI_SQUARE, EDGES, assert_fits, assert_seen, weakest

from ggdp.noise.minkowski_noise import MinkowskiNoise

FAST, MANY = 60_000, 500_000
LADDER = (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6)
BY = (CHI_SQUARE, EDGES)


def counts(kind, n, most):
    """The number of points of Z^n by the sums of their parts above and below 0, by adding up coordinate by coordinate.

    Entry (a, c) counts the points with |x+| = a and |x-| = c; for "signed" entry (a, 0) those with |x| = a.
    """
    found = np.zeros((most, most if kind != "signed" else 1))
    found[0, 0] = 1.0
    for _ in range(n):
        above = np.cumsum(found, axis=0)
        below = np.cumsum(found, axis=1) if kind != "signed" else above
        found = above + below - found
    return found


def balls(kind, n, most):
    """N_n(a, c) for radii below `most`."""
    exact = np.cumsum(counts(kind, n, most), axis=0)
    return exact if kind == "signed" else np.cumsum(exact, axis=1)


class Case(NamedTuple):
    kind: str
    groups: tuple[int, ...]
    scale: float
    complete: bool

    @property
    def label(self):
        return f"{self.kind}-{'-'.join(map(str, self.groups))}-scale{self.scale:g}"

    def noise(self, factor=1.0):
        complete = (self.complete,) * len(self.groups)
        return MinkowskiNoise(kind=self.kind, groups=self.groups, scale=self.scale * factor, complete=complete)

    @property
    def most(self):
        """Radii from here on hold less than 1e-12."""
        return int(self.scale * (sum(self.groups) + 45) * 1.3) + 25

    def radii(self, factor=1.0):
        """The weights of radii, in an array over a and c."""
        a = np.arange(self.most)
        numbers = np.prod([balls(self.kind, n, self.most) for n in self.groups], axis=0)
        decay = np.exp(-a / (self.scale * factor))
        if self.kind == "added":
            weights = numbers * np.multiply.outer(decay, decay)
        elif self.kind == "replaced":
            weights = np.diag(np.diag(numbers) * decay)
        else:
            weights = numbers * decay[:, None]
        return weights / weights.sum()

    def cell(self, factor=1.0):
        """The law of the first cell."""
        n, most = self.groups[0], self.most
        weights = self.radii(factor) / balls(self.kind, n, most)
        smaller = balls(self.kind, n - 1, most)
        masses = np.zeros(2 * most - 1)
        for k in range(most):
            if self.kind == "signed":
                masses[[most - 1 + k, most - 1 - k]] = (weights[k:] * smaller[: most - k]).sum()
            else:
                masses[most - 1 + k] = (weights[k:] * smaller[: most - k]).sum()
                masses[most - 1 - k] = (weights[:, k:] * smaller[:, : most - k]).sum()
        return laws.dense(1 - most, masses)

    def total(self, factor=1.0):
        """The law of the common total."""
        weights, most = self.radii(factor), self.most
        return laws.dense(1 - most, np.array([np.trace(weights, -u) for u in range(1 - most, most)]))


CASES = [
    Case("added", (1, 1, 1), 1.0, complete=True),
    Case("added", (2, 1), 3.0, complete=True),
    Case("added", (1, 6), 0.5, complete=True),
    Case("added", (12, 12), 1.0, complete=True),
    Case("replaced", (1, 2), 2.0, complete=True),
    Case("replaced", (9,), 0.7, complete=False),
    Case("signed", (1, 1, 1, 1), 2.0, complete=False),
    Case("signed", (7, 3), 1.0, complete=False),
]


@compares("Minkowski noise", CASES, each=4, fast=FAST, exhaustive=MANY)
def test_cells_fit_their_law_first_and_last_and_others_scales_do_not(case, size, allowance):
    law, draws = case.cell(), case.noise().sample(size)
    # All cells of a group are alike: the last of a complete one is a difference.
    last = case.noise().cells[0] - 1
    assert_fits(draws[:, 0], law, allowance)
    assert_fits(draws[:, last], law, allowance)
    for sign in (1, -1):
        steps = [1.0 + sign * x for x in LADDER]
        others = ((step, case.cell(step).below) for step in steps)
        step = weakest(law, others, size, share(), by=BY)
        changed = case.noise(step).sample(size)[:, 0]
        assert_seen(changed, law, case.cell(step).below, allowance, by=BY)


TOTALS = [case for case in CASES if case.kind == "added"]


@compares("totals of Minkowski noise", TOTALS, each=2, fast=FAST, exhaustive=MANY)
def test_common_totals_fit_their_law_and_shifted_ones_do_not(case, size, allowance):
    law, cells = case.total(), case.noise().cells[0]
    totals = case.noise().sample(size)[:, :cells].sum(axis=1)
    assert_fits(totals, law, allowance)
    step = weakest(law, ((step, laws.shifted(law, step)) for step in (1, 2, 4)), size, share(), by=BY)
    assert_seen(totals + step, law, laws.shifted(law, step), allowance, by=BY)


JOINT = [
    Case("added", (1, 2), 0.8, complete=False),
    Case("replaced", (2, 1), 0.8, complete=False),
    Case("signed", (1, 2), 0.8, complete=False),
    Case("replaced", (3,), 0.7, complete=False),
]


@compares("points of Minkowski noise", JOINT, each=2, fast=FAST, exhaustive=MANY)
def test_whole_points_fit_their_law_and_independent_groups_do_not(case, size, allowance):
    """Every point near 0 is a cell of its own; all others together are one."""
    reach = 3
    points = np.array(list(itertools.product(range(-reach, reach + 1), repeat=3)))
    masses = case.noise().pmf(points)
    law = laws.dense(0, np.append(masses, 1.0 - masses.sum()))

    def numbered(draws):
        places = ((draws + reach) * (2 * reach + 1) ** np.arange(2, -1, -1)).sum(axis=1)
        return np.where(np.abs(draws).max(axis=1) <= reach, places, len(points))

    draws = case.noise().sample(size)
    assert_fits(numbered(draws), law, allowance)
    # The last coordinate of another row.
    mixed = draws.copy()
    mixed[:, 2] = np.roll(mixed[:, 2], 1)
    box = masses.reshape((2 * reach + 1,) * 3)
    wide = np.array(list(itertools.product(range(-12, 13), repeat=3)))
    whole = case.noise().pmf(wide).reshape(25, 25, 25)
    apart = np.multiply.outer(whole.sum(axis=2), whole.sum(axis=(0, 1)))[9:16, 9:16, 9:16]
    assert apart.shape == box.shape
    other = laws.dense(0, np.append(apart.ravel(), 1.0 - apart.sum())).below
    assert_seen(numbered(mixed), law, other, allowance, by=BY)


def test_counts_of_points_are_right():
    assert balls("added", 2, 3)[1, 1] == 7.0
    assert balls("signed", 3, 3)[:, 0].tolist() == [1.0, 7.0, 25.0]
    assert Case("added", (1,), 1.0, complete=False).radii().sum() == pytest.approx(1.0)
