"""Floating-point draws for simulation fit the law on the reals."""

import math
from typing import NamedTuple

import numpy as np
from tests.statistical.budget import compares, share
from tests.statistical.fit import assert_fits, assert_seen, weakest
from tests.statistical.laws import Law

import ggdp
from ggdp_reproduction.simulation import simulated_not_private

FAST, MANY = 300_000, 10_000_000
LADDER = (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3)


class Reals(NamedTuple):
    order: float
    scale: float

    @property
    def label(self):
        return f"order{self.order:.4g}-scale{self.scale:.4g}"

    @property
    def places(self):
        """Where the reals are cut: evenly, from one tail of 1e-6 to the other, and twice as far."""
        reach = 2.0 * 14.0 ** (1.0 / self.order)
        return self.scale * np.linspace(-reach, reach, 1025)

    def cdf(self, x):
        return ggdp.GeneralizedGaussian(order=self.order, scale=self.scale).cdf(x)

    def law(self, moved=lambda places: places):
        """The law of the number of places that a draw is beyond, if P(draw < x) is cdf(moved(x))."""
        cumulated = self.cdf(moved(self.places))
        return Law(np.arange(1, self.places.size + 1), lambda k: cumulated[k - 1])

    def draw(self, size):
        law = ggdp.GeneralizedGaussian(order=self.order, scale=self.scale)
        return simulated_not_private(law, size, generator=np.random.default_rng())

    def placed(self, draws):
        return np.searchsorted(self.places, draws, side="right")


REALS = [Reals(1.0, 0.3), Reals(1.5, 1.0), Reals(2.0, 10.0), Reals(math.e, 1e5), Reals(8.0, 1.0), Reals(50.0, 2.0**40)]


@compares("simulated reals", REALS, each=4, fast=FAST, exhaustive=MANY)
def test_simulated_draws_fit_the_law_and_distorted_ones_do_not(case, size, allowance):
    law, draws = case.law(), case.draw(size)
    assert_fits(case.placed(draws), law, allowance)
    for sign in (1, -1):
        others = ((1.0 + sign * x, case.law(lambda x_, f=1.0 + sign * x: x_ / f).below) for x in LADDER)
        factor = weakest(law, others, size, share())
        changed = case._replace(scale=case.scale * factor).draw(size)
        assert_seen(case.placed(changed), law, case.law(lambda x, f=factor: x / f).below, allowance)
    others = ((x, case.law(lambda x_, x=x: x_ - x * case.scale).below) for x in LADDER)
    step = weakest(law, others, size, share())
    moved = draws + step * case.scale
    assert_seen(case.placed(moved), law, case.law(lambda x: x - step * case.scale).below, allowance)
