"""Noise given that it is at least a threshold fits its law, however unlikely that is."""

import math
from typing import NamedTuple

from tests.statistical import laws
from tests.statistical.budget import compares, share
from tests.statistical.fit import assert_fits, assert_seen, weakest

import ggdp

FAST, MANY = 300_000, 10_000_000
UP = (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6, 1.0)
DOWN = (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.5)


class Tail(NamedTuple):
    order: float
    scale: float
    threshold: int

    @property
    def label(self):
        return f"order{self.order:.4g}-scale{self.scale:.4g}-from{self.threshold:.4g}"

    @property
    def law(self):
        return laws.conditional(self.order, self.scale, self.threshold)

    @property
    def length(self):
        """About how far the draws are from the threshold."""
        if self.threshold <= self.scale:
            return self.scale
        return self.threshold / (self.order * (self.threshold / self.scale) ** self.order)

    def changed(self, factor):
        return self._replace(scale=self.scale * factor)

    def draw(self, size):
        return ggdp.IntegerNoise(order=self.order, scale=self.scale).at_least(self.threshold).sample(size)


def beyond(order, scale, exponent):
    """The tail from where (threshold / scale)^order is `exponent`: 69 is a probability near 1e-30, 690 near 1e-300."""
    return Tail(order, scale, round(scale * exponent ** (1.0 / order)))


TAILS = [
    # Below 0 and at it: noise is drawn until it is there.
    Tail(1.0, 0.4, 0),
    Tail(2.0, 10.0, -5),
    Tail(1.5, 10.0, 0),
    Tail(50.0, 10.0, -9),
    Tail(3.0, 1e5, -50_000),
    # Near.
    Tail(1.0, 10.0, 1),
    Tail(2.0, 10.0, 1),
    Tail(50.0, 10.0, 5),
    Tail(3.0, 1000.0, 500),
    Tail(1.5, 1e5, 1),
    Tail(2.0, 2.0**40, 1 << 39),
    # Far, with a probability near 1e-30.
    beyond(1.0, 10.0, 69.0),
    Tail(2.0, 10.0, 83),
    beyond(3.0, 30.0, 69.0),
    beyond(math.e, 1000.0, 69.0),
    beyond(8.0, 1000.0, 69.0),
    beyond(50.0, 1e5, 69.0),
    beyond(3.0, 1e5, 69.0),
    beyond(1.5, 2.0**40, 69.0),
    # Farther, near 1e-300.
    beyond(1.0, 10.0, 690.0),
    beyond(2.0, 100.0, 690.0),
    beyond(3.0, 1000.0, 690.0),
    beyond(50.0, 1e5, 690.0),
    beyond(1.5, 1e5, 690.0),
    beyond(2.0, 2.0**40, 690.0),
    beyond(1.0, 2.0**40, 690.0),
]


# Every other one of each kind, with narrow and wide scales among them.
@compares("conditional noise", TAILS, each=4, fast=FAST, exhaustive=MANY, often=TAILS[::2])
def test_draws_fit_the_tail_and_distorted_ones_do_not(case, size, allowance):
    law, draws = case.law, case.draw(size)
    assert draws.min() >= case.threshold
    assert_fits(draws, law, allowance)
    for factors in ([1.0 + x for x in UP], [1.0 - x for x in DOWN]):
        factor = weakest(law, ((factor, case.changed(factor).law.below) for factor in factors), size, share())
        changed = case.changed(factor)
        assert_seen(changed.draw(size), law, changed.law.below, allowance)
    steps = sorted({max(round(x * case.length), 1) for x in UP})
    step = weakest(law, ((step, laws.shifted(law, step)) for step in steps), size, share())
    assert step == 1 or case.length > 10
    assert_seen(draws + step, law, laws.shifted(law, step), allowance)
