"""Selections fit the law of the Exponential mechanism, and those by another rate do not."""

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from tests.statistical import laws
from tests.statistical.budget import compares, share
from tests.statistical.fit import CHI_SQUARE, EDGES, assert_fits, assert_seen, weakest

from ggdp.noise.entropy import SECURE
from ggdp.noise.selection import Weights, select_candidate

FAST, MANY = 8_000, 100_000
BY = (CHI_SQUARE, EDGES)
LADDER = tuple(Fraction(x, 32) for x in (1, 2, 4, 8, 12, 16, 20, 24, 28))


class Choice(NamedTuple):
    label: str
    utilities: Any
    rate: Fraction

    def law(self, rate):
        u = np.array(self.utilities, dtype=np.float64)
        return laws.dense(0, np.exp(float(rate) * (u - u.max())))

    def draw(self, size, rate):
        weights = Weights.of(np.array(self.utilities), rate)
        return np.array([select_candidate(weights, SECURE) for _ in range(size)])


CHOICES = [
    Choice("two", [0, 1], Fraction(1)),
    Choice("ties-and-gaps", [2.5, 0.0, 2.5, -1.5, 1.0, 2.5, 0.25], Fraction(1, 2)),
    Choice("many", [-abs(k - 70) for k in range(200)], Fraction(1, 20)),
]


@compares("selection", CHOICES, each=3, fast=FAST, exhaustive=MANY)
def test_selections_fit_the_law_and_those_by_another_rate_do_not(case, size, allowance):
    law = case.law(case.rate)
    assert_fits(case.draw(size, case.rate), law, allowance)
    for sign in (1, -1):
        steps = [case.rate * (1 + sign * x) for x in LADDER]
        others = ((step, case.law(step).below) for step in steps)
        step = weakest(law, others, size, share(), by=BY)
        assert_seen(case.draw(size, step), law, case.law(step).below, allowance, by=BY)
