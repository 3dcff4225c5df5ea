"""Runs of candidates whose errors rise in equal steps: all units and bits of a small sampler, floats of large ones."""

from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf
from tests.noise.scripted import top_bits, tree

from ggdp._balls import working_precision
from ggdp.noise import selection as module
from ggdp.noise.entropy import SECURE
from ggdp.noise.selection import Runs, drawn_candidates

BYTE = {1: top_bits(1, 8)}


def one_cell(runs, rate=Fraction(1, 2), divisor=1):
    """The runs of one cell, each (size, error, growth)."""
    size, error, growth = (np.array(column, dtype=np.int64) for column in zip(*runs, strict=True))
    return Runs(np.array([0, size.size]), size, error, growth, rate, np.array([divisor]))


def exact_weights(runs, cell=0):
    """The weight of each run, as a sum over its candidates, to 60 digits."""
    rate = runs.rate / int(runs.divisors[cell])
    inside = range(int(runs.starts[cell]), int(runs.starts[cell + 1]))
    least = min(int(runs.errors[i]) for i in inside if runs.sizes[i])
    with mp.workdps(60):
        slope = mpf(rate.numerator) / rate.denominator
        return [
            mp.fsum(
                mp.exp(-slope * (int(runs.errors[i]) + int(runs.growth[i]) * k - least))
                for k in range(int(runs.sizes[i]))
            )
            for i in inside
        ]


SMALL = [
    one_cell([(3, 0, 0), (1, 2, 0), (2, 1, 0)]),
    one_cell([(4, 1, 2), (0, 0, 0), (5, 2, 1)], Fraction(1, 3)),
    one_cell([(1, 0, 0), (7, 10**9, 5)]),
    one_cell([(6, 5, 0)], Fraction(9, 7), 3),
]


@pytest.mark.parametrize("runs", SMALL)
def test_the_units_and_bits_of_a_run_are_its_weight(runs, monkeypatch):
    """Over all units, and for the undecided ones over all bits of V, a round accepts a run with 2^m w units."""
    _, upper, m = module._units(runs, runs.least(), 6)
    total = int(upper.sum())
    monkeypatch.setattr(module, "_places", lambda _runs, chosen, *_: 0 * chosen)

    def round_with(unit, source):
        units = iter([unit])
        monkeypatch.setattr(module, "_uniform_below", lambda asked, *_: np.array([(asked[0] == total) * next(units)]))
        try:
            return int(drawn_candidates(runs, source, bits=6, long_word=8)[0][0])
        except StopIteration:
            # Another unit was asked for: the round was rejected.
            return "rejected"

    accepted, undecided = Counter(), Fraction(0)
    for unit in range(total):
        masses, longer = tree(partial(round_with, unit), BYTE, depth=3)
        undecided += longer
        accepted.update(masses)
    assert undecided <= Fraction(runs.sizes.size, 2**20)
    for i, weight in enumerate(exact_weights(runs)):
        scaled = Fraction(int(weight * mpf(2) ** 150)) * Fraction(2) ** (int(m[0]) - 150)
        assert accepted[i] - Fraction(1, 2**100) <= scaled <= accepted[i] + undecided + Fraction(1, 2**100)
    assert accepted["rejected"] > 0


@pytest.mark.parametrize(("step", "size"), [(Fraction(1, 2), 5), (Fraction(3), 2), (Fraction(1, 10**9), 3)])
def test_a_place_within_a_run_has_its_share_over_all_bits(step, size):
    masses, longer = tree(lambda source: module._geometric(step, size, source, 8), BYTE, depth=2)
    assert longer <= Fraction(3 * size, 2**16)
    with mp.workdps(40):
        weights = [mp.exp(-mpf(step.numerator) / step.denominator * i) for i in range(size)]
        for i, weight in enumerate(weights):
            share = weight / mp.fsum(weights)
            assert masses[i] <= share + mpf(10) ** -30
            assert share <= masses[i] + longer + mpf(10) ** -30


@pytest.mark.parametrize("total", [1, 3, 7, 8])
def test_units_are_uniform_over_all_words(total):
    masses, longer = tree(
        lambda source: int(module._uniform_below(np.array([total]), source, 3)[0]), {8: top_bits(8, 3)}, depth=4
    )
    assert longer <= Fraction(3, 8) ** 4
    assert {masses[i] for i in range(total)} == {(1 - longer) / total}


def random_runs(generator, *, largest, rate):
    """Runs of three cells, with sizes and errors of all magnitudes."""
    count = 60
    size = (2.0 ** generator.uniform(0, 50, count)).astype(np.int64)
    error = (2.0 ** generator.uniform(0, largest, count)).astype(np.int64)
    growth = np.where(generator.random(count) < 0.5, 0, (2.0 ** generator.uniform(0, 20, count)).astype(np.int64))
    size = np.where(growth > 0, np.minimum(size, 2**20), size)
    error[generator.random(count) < 0.1] = 0
    size[[3, 30]] = 0
    return Runs(np.array([0, 20, 40, 60]), size, error, growth, rate, np.array([1, 7, 10**6]))


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1e-9), Fraction(1e6), Fraction(1, 2**26)])
@pytest.mark.parametrize("largest", [4, 30, 61])
def test_units_enclose_the_weights(rate, largest):
    runs = random_runs(np.random.default_rng(largest), largest=largest, rate=rate)
    least = runs.least()
    lower, upper, m = module._units(runs, least, module._BITS)
    assert int(upper.astype(object).sum()) < 2**63
    for run in range(runs.sizes.size):
        cell = run // 20
        with working_precision(200):
            height = runs.weight(run, cell, int(least[cell])) * arb(2) ** int(m[cell])
            assert height >= int(lower[run])
            assert height <= int(upper[run])


def test_units_are_tight_where_a_run_matters():
    runs = random_runs(np.random.default_rng(1), largest=4, rate=Fraction(1, 8))
    lower, upper, _ = module._units(runs, runs.least(), module._BITS)
    assert (upper - lower).sum() <= 2.0**-34 * upper.sum()


def test_cells_are_drawn_each_by_its_own_rate():
    runs = Runs(
        np.array([0, 2, 4]), np.full(4, 1), np.array([0, 10, 0, 10]), np.zeros(4, np.int64), Fraction(10),
        np.array([1, 10**12]),
    )  # fmt: skip
    chosen = np.array([drawn_candidates(runs, SECURE)[0] for _ in range(300)])
    assert set(chosen[:, 0]) == {0}
    assert set(chosen[:, 1]) == {2, 3}
