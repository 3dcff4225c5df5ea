"""Integer noise fits its law: every order, scales from 0.3 to 2^40, both samplers, batches of all sizes, pairs."""

import math
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from tests.statistical import laws
from tests.statistical.budget import compares, share
from tests.statistical.fit import (
    CHI_SQUARE,
    EDGES,
    KOLMOGOROV,
    assert_fits,
    assert_same,
    assert_seen,
    assert_told_apart,
    missed_between,
    weakest,
)

import ggdp
from ggdp.noise import integer_noise
from ggdp.noise import rejection as builder
from ggdp.noise.entropy import SECURE
from ggdp.noise.rejection import envelope
from ggdp.noise.table import symmetric_law

FAST, MANY = 400_000, 10_000_000
IRRATIONAL = math.e
# Narrow laws that still have draws other than 0, so that a wrong scale can be seen on both sides.
NARROW = {1.0: 0.3, 1.5: 0.4, 2.0: 0.5, IRRATIONAL: 0.6, 3.0: 0.7, 8.0: 0.9, 50.0: 1.0}
LADDER = (0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3, 0.6)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)


class Case(NamedTuple):
    sampler: str
    order: float
    scale: float

    @property
    def label(self):
        return f"{self.sampler}-order{self.order:.4g}-scale{self.scale:.4g}"

    @property
    def law(self):
        return laws.integer(self.order, self.scale)

    def draw(self, size, factor=1.0):
        scale = self.scale * factor
        table = self.sampler == "table"
        sampler = symmetric_law(self.order, scale) if table else envelope(self.order, scale, two_sided=True)
        out = np.empty(size, dtype=np.int64)
        sampler.draw(out, SECURE)
        return out

    def factor(self, size, sign):
        """The least change of the scale that every test is almost sure to see."""
        return _factor(self.order, self.scale, size, sign)


@cache
def _factor(order, scale, size, sign):
    # Steps that are sure to be too small for so many draws are not tried.
    factors = [1.0 + sign * x for x in LADDER if x > 15.0 / math.sqrt(size)]
    others = ((factor, laws.integer(order, scale * factor).below) for factor in factors)
    return weakest(laws.integer(order, scale), others, size, share())


def both(scales):
    return [Case(sampler, order, scale) for sampler in ("table", "rejection") for order, scale in scales]


FITTED = [
    *both([(order, scale) for order, narrow in NARROW.items() for scale in (narrow, 10.0, 1000.0)]),
    *(Case("rejection", order, scale) for order in NARROW for scale in (1e5, 2.0**40)),
]


# Every order with every scale, by one sampler and the other in turn.
IN_TURN = [
    case
    for case in FITTED
    if case.scale > 1000.0
    or (list(NARROW).index(case.order) + (case.scale > 1.0) + (case.scale > 10.0)) % 2 == (case.sampler == "table")
]


@compares("integer noise", FITTED, each=6, fast=FAST, exhaustive=MANY, often=IN_TURN)
def test_draws_fit_the_law_and_distorted_ones_do_not(case, size, allowance):
    law, draws = case.law, case.draw(size)
    assert_fits(draws, law, allowance)
    for sign in (1, -1):
        factor = case.factor(size, sign)
        other = laws.integer(case.order, case.scale * factor).below
        assert_seen(case.draw(size, factor), law, other, allowance)
    steps = sorted({max(round(x * case.scale), 1) for x in LADDER})
    step = weakest(law, ((step, laws.shifted(law, step)) for step in steps), size, share())
    assert step == 1 or case.scale > 10
    assert_seen(draws + step, law, laws.shifted(law, step), allowance)
    flipped = weakest(law, ((x, laws.signs_flipped(law, x)) for x in SHARES), size, share())
    coins = np.random.default_rng().random(size) < flipped
    biased = np.where(coins, np.abs(draws), draws)
    assert_seen(biased, law, laws.signs_flipped(law, flipped), allowance)
    # The farthest edge beyond which some 80 draws are due on each side.
    reach = 1 - int(law.edges[np.argmax(size * law.below(law.edges) >= 80.0)])
    cut = np.where(np.abs(draws) >= reach, 0, draws)
    assert_seen(cut, law, laws.tails_dropped(law, reach), allowance, by=(EDGES,))


DEGENERATE = both([(3.0, 0.3), (8.0, 0.3), (50.0, 0.3)])


@compares("all but degenerate noise", DEGENERATE, each=2, fast=FAST, exhaustive=MANY)
def test_noise_far_narrower_than_a_step_is_zero_as_often_as_it_should(case, size, allowance):
    draws = case.draw(size)
    assert_fits(draws, case.law, allowance)
    # Chi-square has one cell here, so it has nothing to say.
    assert_seen(draws + 1, case.law, laws.shifted(case.law, 1), allowance, by=(KOLMOGOROV, EDGES))


@pytest.fixture
def shallow(monkeypatch):
    """Envelopes that end where the weight has fallen to e^-2, so that one draw in ten is from beyond the last block."""
    envelope.cache_clear()
    monkeypatch.setattr(builder, "_DEPTH", 2.0)
    yield
    envelope.cache_clear()


@pytest.fixture
def short_words():
    """Tables of 16 bits, so that one draw in a thousand falls on a threshold or beyond an end and reads on."""
    symmetric_law.cache_clear()
    yield
    symmetric_law.cache_clear()


class Coarse(Case):
    """A sampler whose rare paths are made common."""

    def draw(self, size, factor=1.0):
        scale = self.scale * factor
        if self.sampler == "table":
            sampler = symmetric_law(self.order, scale, guide_bits=8, word=16)
        elif self.sampler == "guide":
            sampler = symmetric_law(self.order, scale, guide_bits=6)
        else:
            sampler = envelope(self.order, scale, two_sided=True, block_bits=3)
        out = np.empty(size, dtype=np.int64)
        sampler.draw(out, SECURE)
        return out


COARSE_ENVELOPES = [Coarse("rejection", order, scale) for order in NARROW for scale in (10.0, 2.0**40)]


@pytest.mark.usefixtures("shallow")
@compares("coarse envelopes", COARSE_ENVELOPES, each=3, fast=200_000, exhaustive=3_000_000)
def test_draws_beyond_the_blocks_and_below_the_parabolas_fit_the_law(case, size, allowance):
    """With the usual blocks these are a few in a million draws, and a loss of them would not be seen."""
    fits_and_sees_scales(case, size, allowance)


COARSE_TABLES = [Coarse("table", order, scale) for order in NARROW for scale in (NARROW[order], 10.0)]


@pytest.mark.usefixtures("short_words")
@compares("coarse tables", COARSE_TABLES, each=3, fast=100_000)
def test_draws_that_read_on_fit_the_law(case, size, allowance):
    """With the usual words these are one in 10^16 draws or fewer."""
    fits_and_sees_scales(case, size, allowance)


COARSE_GUIDES = [Coarse("guide", order, scale) for order in NARROW for scale in (NARROW[order], 10.0)]


@compares("coarse guides", COARSE_GUIDES, each=3, fast=FAST, exhaustive=MANY)
def test_draws_that_a_guide_does_not_decide_fit_the_law(case, size, allowance):
    """One entry in 2^16 that is wrong would not be seen; one in 64 is."""
    fits_and_sees_scales(case, size, allowance)


def fits_and_sees_scales(case, size, allowance):
    assert_fits(case.draw(size), case.law, allowance)
    for sign in (1, -1):
        factor = case.factor(size, sign)
        other = laws.integer(case.order, case.scale * factor).below
        assert_seen(case.draw(size, factor), case.law, other, allowance)


ALIKE = [case for case in FITTED if case.sampler == "table"]


@compares("table beside rejection", ALIKE, each=2, fast=FAST, exhaustive=2_000_000)
def test_the_table_and_rejection_have_the_same_law(case, size, allowance):
    law, rejection = case.law, Case("rejection", case.order, case.scale)
    first = case.draw(size)
    assert_same(first, rejection.draw(size), law, allowance)
    changed = ((x, laws.integer(case.order, case.scale * (1.0 + x)).below) for x in LADDER)
    x, other = next((x, below) for x, below in changed if missed_between(law, below, size, share()) <= share())
    assert_told_apart(first, rejection.draw(size, 1.0 + x), law, other, allowance)


class Batch(NamedTuple):
    scale: float
    batch: int

    @property
    def label(self):
        return f"scale{self.scale:g}-batches-of-{self.batch}"

    def draw(self, size, factor=1.0):
        noise = ggdp.IntegerNoise(order=2.0, scale=self.scale * factor)
        # Single draws take as long as a thousand, so there are fewer.
        batches = min(-(-size // self.batch), 6000)
        return np.concatenate([noise.sample(self.batch) for _ in range(batches)])


BATCHES = [Batch(scale, batch) for scale in (10.0, 1e5) for batch in (1, 63, 64, 511, 512, 32_769, 300_000)]


@compares("sizes of batches", BATCHES, each=3, fast=100_000)
def test_batches_of_every_size_have_the_law(case, size, allowance, monkeypatch):
    """Small ones take another path through the samplers, large ones several threads."""
    monkeypatch.setattr(integer_noise, "_MANY", 200_000)
    law, draws = laws.integer(2.0, case.scale), case.draw(size)
    assert_fits(draws, law, allowance)
    for sign in (1, -1):
        factor = Case("any", 2.0, case.scale).factor(draws.size, sign)
        assert_seen(case.draw(size, factor), law, laws.integer(2.0, case.scale * factor).below, allowance)


def classes(order, scale):
    """Eight classes of integers, by quarter of the law and parity: a function of draws, and their probabilities."""
    law = laws.integer(order, scale)
    cumulated = law.below(law.edges)
    quarters = law.edges[[int(np.argmax(cumulated >= level)) for level in (0.25, 0.5, 0.75)]]
    if scale >= 2.0**34:
        masses = np.repeat(np.diff(law.below(quarters), prepend=0.0, append=1.0) / 2.0, 2)
    else:
        k = np.arange(int(law.edges[0]) - 1, int(law.edges[-1]) + 1)
        places = 2 * np.searchsorted(quarters, k, side="right") + (k & 1)
        masses = np.bincount(places, weights=np.diff(law.below(np.append(k, k[-1] + 1))), minlength=8)
    return lambda draws: 2 * np.searchsorted(quarters, draws, side="right") + (draws & 1), masses / masses.sum()


PAIRED = [Case("table", 3.0, 10.0), Case("rejection", 3.0, 1000.0), Case("rejection", 1.5, 2.0**40)]
# Neighbours, the same place in the next chunk of bits, and in the next batch of comparisons.
LAGS = (1, 1 << 15, 1 << 18)


@compares("pairs at a lag", PAIRED, each=2 * len(LAGS), fast=1 << 20, exhaustive=5 << 21)
def test_draws_at_a_lag_are_independent(case, size, allowance):
    class_of, masses = classes(case.order, case.scale)
    draws = class_of(case.draw(size))
    law = laws.dense(0, np.outer(masses, masses).ravel())
    for lag in LAGS:
        first, second = (draws.reshape(-1, 2, lag)[:, i].ravel() for i in (0, 1))
        assert_fits(8 * first + second, law, allowance)

        def repeated(share_of_copies):
            mixed = (1.0 - share_of_copies) * np.outer(masses, masses) + share_of_copies * np.diag(masses)
            return laws.dense(0, mixed.ravel()).below

        copies = weakest(law, ((x, repeated(x)) for x in SHARES), first.size, share())
        second = np.where(np.random.default_rng().random(first.size) < copies, first, second)
        assert_seen(8 * first + second, law, repeated(copies), allowance)


LOW_BITS = [
    Case("table", 2.0, 1000.0),
    *(Case("rejection", order, scale) for order in (1.0, 3.0) for scale in (1000.0, 1e5, 2.0**40)),
]


@compares("low bits", LOW_BITS, each=2, fast=FAST, exhaustive=MANY)
def test_the_low_bits_of_wide_noise_are_as_even_as_the_law(case, size, allowance):
    """Bins by quantiles would not see places in a block that are never drawn."""
    if case.scale < 2.0**34:
        reach = 64 * math.ceil(case.scale * 45.0 ** (1.0 / case.order) / 64)
        masses = laws.weights(case.order, case.scale, -reach, reach - 1).reshape(-1, 64).sum(axis=0)
    else:
        masses = np.ones(64)
    law = laws.dense(0, masses)
    bits = case.draw(size) & 63
    assert_fits(bits, law, allowance)

    def rounded(share_of_even):
        pairs = np.stack([masses[0::2] + share_of_even * masses[1::2], (1.0 - share_of_even) * masses[1::2]], axis=1)
        return laws.dense(0, pairs.ravel()).below

    by = (CHI_SQUARE, EDGES)
    even = weakest(law, ((x, rounded(x)) for x in SHARES), size, share(), by=by)
    evened = np.where(np.random.default_rng().random(size) < even, bits & ~1, bits)
    assert_seen(evened, law, rounded(even), allowance, by=by)


@pytest.mark.parametrize("case", PAIRED, ids=lambda case: case.label)
def test_the_classes_of_pairs_are_a_law(case):
    class_of, masses = classes(case.order, case.scale)
    assert masses.sum() == pytest.approx(1.0, abs=1e-12)
    assert masses.min() > 0.05
    assert set(class_of(np.arange(-50, 50))) <= set(range(8))
