"""Binomial draws fit their law: few trials against exact rationals, 10^18 of them against the Poisson law."""

from fractions import Fraction
from typing import Any, NamedTuple

import mpmath
import numpy as np
from flint import arb
from tests.statistical import laws
from tests.statistical.budget import compares, share
from tests.statistical.fit import ALL, CHI_SQUARE, EDGES, assert_fits, assert_seen, weakest

from ggdp.noise import Binomial

FAST, MANY = 300_000, 10_000_000
# Exact in a few bits, so that rationals stay short.
LADDER = tuple(x / 2048.0 for x in (1, 4, 10, 20, 40, 80, 160, 320, 640, 1280, 1920, 4096, 8192))


class Events(NamedTuple):
    label: str
    trials: int
    probability: Any
    by: tuple[str, ...] = ALL

    def law(self, rarer):
        """The law of the rarer outcome, which happens with the given probability."""
        if self.trials > 10**6:
            return laws.poisson(float(self.trials * rarer))
        return laws.binomial(self.trials, rarer)

    @property
    def rarer(self):
        """The probability of the rarer outcome, as a rational that is right to 40 digits."""
        q = self.probability
        if callable(q):
            with mpmath.mp.workdps(60):
                return Fraction(mpmath.nstr(1 / mpmath.pi, 50))
        exact = Fraction(float(q.mid())) if isinstance(q, arb) else Fraction(q)
        return min(exact, 1 - exact)

    @property
    def counts_failures(self):
        return not callable(self.probability) and bool(self.probability > 0.5)

    def draw(self, size):
        draws = Binomial(trials=self.trials, probability=self.probability).sample(size)
        return self.trials - draws if self.counts_failures else draws


EVENTS = [
    Events("one-trial", 1, 0.5),
    Events("ten-trials", 10, 0.3),
    Events("an-eighth", 7, 0.125),
    Events("likely", 60, 0.9),
    Events("many-rare", 1000, 5.0 / 256.0),
    Events("near-one", 200, 1.0 - 2.0**-6),
    Events("by-enclosures", 30, lambda: 1 / arb.pi()),
    Events("in-an-interval", 12, arb(0.25, 2.0**-120)),
    Events("mean-a-million", 10**18, 1e-12),
    Events("mean-a-thousandth", 10**18, 1e-21, (CHI_SQUARE, EDGES)),
    Events("nearly-certain", 10**18, 1.0 - 2.0**-53),
]


@compares("binomial", EVENTS, each=4, fast=FAST, exhaustive=MANY)
def test_draws_fit_the_law_and_distorted_ones_do_not(case, size, allowance):
    rarer = case.rarer
    law, draws = case.law(rarer), case.draw(size)
    assert_fits(draws, law, allowance)
    for sign in (1, -1):
        steps = [Fraction(1 + sign * x) for x in LADDER if 0 < rarer * Fraction(1 + sign * x) < 1]
        others = ((float(step), case.law(rarer * step).below) for step in steps)
        step = Fraction(weakest(law, others, size, share(), by=case.by))
        changed = Events("changed", case.trials, float(rarer * step))
        assert_seen(changed.draw(size), law, changed.law(Fraction(changed.probability)).below, allowance, by=case.by)
    steps = (1, 10, 30, 100)
    step = weakest(law, ((step, laws.shifted(law, step)) for step in steps), size, share())
    assert step == 1 or case.label == "mean-a-million"
    assert_seen(draws + step, law, laws.shifted(law, step), allowance)


def test_certain_and_impossible_events_are_not_left_to_chance():
    assert np.all(Binomial(trials=10**18, probability=1.0).sample(100) == 10**18)
    assert np.all(Binomial(trials=10**18, probability=0.0).sample(100) == 0)
    assert np.all(Binomial(trials=0, probability=0.5).sample(100) == 0)
