"""Truncated and boundary-inflated noise fits its law around every true value, whatever the other values are."""

from typing import NamedTuple

import numpy as np
from tests.statistical import laws
from tests.statistical.budget import compares, share
from tests.statistical.fit import (
    EDGES,
    KOLMOGOROV,
    assert_fits,
    assert_same,
    assert_seen,
    assert_told_apart,
    missed_between,
    weakest,
)

from ggdp.noise import BoundaryInflatedIntegerNoise, TruncatedIntegerNoise

FAST, MANY = 150_000, 3_400_000
UP = (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6, 1.0, 2.0, 4.0)
DOWN = (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.5, 0.7)

KINDS = {
    "truncated": (TruncatedIntegerNoise, laws.truncated),
    "boundary-inflated": (BoundaryInflatedIntegerNoise, laws.boundary_inflated),
}


class Bounded(NamedTuple):
    kind: str
    order: float
    scale: float
    lower: int
    upper: int
    values: tuple[int, int, int]

    @property
    def label(self):
        return f"{self.kind}-order{self.order:.4g}-scale{self.scale:.4g}-in-{self.lower:g}:{self.upper:g}"

    def around(self, values, factor=1.0):
        noise, _ = KINDS[self.kind]
        scale = self.scale * factor
        return noise(order=self.order, scale=scale, lower=self.lower, upper=self.upper).around(values)

    def law(self, s, factor=1.0):
        return KINDS[self.kind][1](self.order, self.scale * factor, self.lower, self.upper, s)

    def factor(self, s, size, factors):
        """The least change of the scale that every test is almost sure to see around s."""
        return weakest(self.law(s), ((x, self.law(s, x).below) for x in factors), size, share())


WINDOWS = [
    (2.0, 5.0, 0, 10, (0, 4, 10)),
    # An odd number of values, on both sides of 0.
    (3.0, 10.0, -7, 15, (-7, 0, 15)),
    (1.0, 1.5, 0, 1, (0, 1, 0)),
    # Narrower than the scale.
    (1.0, 20.0, 0, 16, (0, 8, 16)),
    (50.0, 18.0, 0, 20, (0, 1, 20)),
    # Wider than the table.
    (2.0, 3.0, -1000, 1000, (-1000, -998, 1000)),
    (1.5, 12.0, 0, 100_000, (0, 3, 99_999)),
    (8.0, 2000.0, 0, 9999, (0, 5000, 9999)),
    (1.0, 300.0, -40_000, 250, (-40_000, 0, 250)),
]
BOUNDED = [Bounded(kind, *window) for kind in KINDS for window in WINDOWS]
WIDE = (2.0, 2.0**40, -(1 << 40), 1 << 41, (-(1 << 40), 0, 1 << 41))


def check(case, size, allowance):
    """Draw around three values in turn, and look at the draws of each."""
    values = np.tile(case.values, size)
    draws = case.around(values)
    for i, s in enumerate(case.values):
        law, around_s = case.law(s), draws[i::3]
        assert_fits(around_s, law, allowance)
        for factors in ([1.0 + x for x in UP], [1.0 - x for x in DOWN]):
            factor = case.factor(s, size, factors)
            assert_seen(case.around(np.full(size, s), factor), law, case.law(s, factor).below, allowance)
        width = case.upper - case.lower
        steps = sorted({max(round(x * min(case.scale, width)), 1) for x in UP if x < 1.0})
        step = weakest(law, ((step, laws.shifted(law, step)) for step in steps), size, share())
        assert step == 1 or case.scale > 15
        assert_seen(around_s + step, law, laws.shifted(law, step), allowance)


# Every window, bounded in one way and the other in turn.
IN_TURN = [case for place, case in enumerate(BOUNDED) if place % len(WINDOWS) % 2 == place // len(WINDOWS)]


@compares("bounded noise", BOUNDED, each=12, fast=FAST, exhaustive=MANY, often=IN_TURN)
def test_draws_around_mixed_values_fit_and_distorted_ones_do_not(case, size, allowance):
    check(case, size, allowance)


@compares("boundary-inflated wide noise", [Bounded("boundary-inflated", *WIDE)], each=12, fast=FAST, exhaustive=MANY)
def test_noise_wider_than_any_table_is_put_on_the_bounds(case, size, allowance):
    check(case, size, allowance)


@compares("truncated wide noise", [Bounded("truncated", *WIDE)], each=12, fast=20_000, exhaustive=300_000)
def test_noise_wider_than_any_table_is_drawn_in_rounds(case, size, allowance):
    check(case, size, allowance)


# Noise far wider than bounds that are too wide for a table.
WIDER = Bounded("truncated", 1.0, 2.0**42, -(1 << 37), 1 << 37, (-(1 << 37), 0, 1 << 37))


@compares("truncated noise wider than its bounds", [WIDER], each=5, fast=20_000, exhaustive=300_000)
def test_noise_wider_than_wide_bounds_is_drawn_in_rounds(case, size, allowance):
    draws, by = case.around(np.tile(case.values, size)), (KOLMOGOROV, EDGES)
    for i, s in enumerate(case.values):
        assert_fits(draws[i::3], case.law(s), allowance)
    s = case.values[0]
    factor = weakest(case.law(s), ((x, case.law(s, x).below) for x in (0.02, 0.01)), size, share(), by=by)
    changed = case.around(np.full(size, s), factor)
    assert_seen(changed, case.law(s), case.law(s, factor).below, allowance, by=by)
    half = 1 << 37
    assert_seen(draws[0::3] + half, case.law(s), laws.shifted(case.law(s), half), allowance, by=by)


@compares("values beside others", BOUNDED, each=2, fast=FAST, exhaustive=MANY, often=IN_TURN)
def test_draws_around_a_value_do_not_depend_on_the_others(case, size, allowance):
    s = case.values[0]
    alone = case.around(np.full(size, s))
    rest = np.random.default_rng().integers(case.lower, case.upper, size, endpoint=True)
    mixed = case.around(np.stack([rest, np.full(size, s), rest], axis=1))[:, 1]
    law = case.law(s)
    assert_same(alone, mixed, law, allowance)
    factors = ((1.0 + x, case.law(s, 1.0 + x).below) for x in UP)
    factor, other = next((x, below) for x, below in factors if missed_between(law, below, size, share()) <= share())
    assert_told_apart(alone, case.around(np.full(size, s), factor), law, other, allowance)
