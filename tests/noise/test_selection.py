"""One of finitely many candidates, by exact probabilities: all units and bits of a small sampler, some of a large.

Runs of candidates whose errors rise in equal steps: all units and bits of a small sampler, floats of large ones.
"""

from collections import Counter
from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from tests.cases import examples
from tests.noise.scripted import Scripted, top_bits, tree

from ggdp._balls import working_precision
from ggdp.noise import selection as module
from ggdp.noise.entropy import SECURE, SeededSource
from ggdp.noise.selection import ERROR, CandidateRuns, Weights, select_candidate, select_in_cells

LEAST, LARGEST = -(2**63), 2**63 - 1
FLOAT = float(np.finfo(np.float64).max)
BYTE = {1: top_bits(1, 8)}
# Utilities and rates, small enough to try every string of bits.
SMALL = [
    ([0.0, 1.0, -0.5], Fraction(1, 2)),
    ([3, 3, 1], Fraction(1, 3)),
    ([Fraction(1, 3), 2**70, Fraction(-1, 7) + 2**70], Fraction(7, 5)),
    ([0.0, -3e300], Fraction(1)),
    ([5], Fraction(1)),
    ([0, 0, 0, 0], Fraction(1)),
]


def array(utilities):
    """Utilities as `exact_numbers` gives them."""
    if any(isinstance(u, Fraction) or (isinstance(u, int) and not LEAST <= u <= LARGEST) for u in utilities):
        return np.array(utilities, dtype=object)
    return np.array(utilities)


def exact_weights(utilities, rate, digits=60):
    """exp(-rate (max u - u_i)), right to so many digits, as fractions."""
    exact = [u if isinstance(u, Fraction) else Fraction(u.item() if hasattr(u, "item") else u) for u in utilities]
    with mp.workdps(digits):
        xs = [rate * (max(exact) - u) for u in exact]
        weights = [mp.exp(-mpf(x.numerator) / mpf(x.denominator)) for x in xs]
        # Far below the least fraction that matters, and with exponents that do not fit.
        return [Fraction(0) if w < mpf(2) ** -(2**14) else Fraction(int(w.man)) * Fraction(2) ** w.exp for w in weights]


@pytest.mark.parametrize(("utilities", "rate"), SMALL)
def test_the_units_and_bits_of_a_candidate_are_its_weight(utilities, rate, monkeypatch):
    """Over all units, and for the units of the room over all bits of V, a round accepts i with 2^m w_i / T."""
    weights = Weights.of(array(utilities), rate)
    shares, m, margin = module._shares(weights.floats(), 5)
    total = int(shares.sum()) + len(utilities) * (2 * margin + 1)

    def round_with(unit, source):
        units = iter([unit])
        monkeypatch.setattr(module, "_uniform", lambda asked, *_: (asked == total) and next(units))
        try:
            return select_candidate(weights, source, bits=5, word=8)
        except StopIteration:
            # Another unit was asked for: the round was rejected.
            return "rejected"

    accepted, undecided = Counter(), Fraction(0)
    for unit in range(total):
        masses, longer = tree(partial(round_with, unit), BYTE, depth=3)
        undecided += longer
        accepted.update(masses)
    # A V whose first bytes are those of a weight is not decided yet.
    assert undecided <= Fraction(len(utilities), 2**24)
    for i, weight in enumerate(exact_weights(utilities, rate)):
        assert accepted[i] - Fraction(1, 2**100) <= weight * 2**m <= accepted[i] + undecided + Fraction(1, 2**100)
    assert accepted["rejected"] > 0


@pytest.mark.exhaustive
def test_the_whole_tree_of_a_small_sampler_has_the_law_with_rejected_rounds_and_all():
    utilities, rate = [0.0, -0.5], Fraction(1, 2)
    weights = Weights.of(array(utilities), rate)
    masses, longer = tree(lambda source: select_candidate(weights, source, bits=8, word=8), BYTE, depth=2)
    exact = exact_weights(utilities, rate)
    assert longer < 0.06
    for i, weight in enumerate(exact):
        assert masses[i] <= weight / sum(exact) <= masses[i] + longer


@pytest.mark.parametrize("total", [1, 2, 3, 5, 12, 200])
def test_the_tree_of_uniform_integers_is_uniform(total):
    masses, longer = tree(lambda source: module._uniform(total, source, 8), BYTE, depth=2)
    assert longer <= Fraction(total - 1, 2**16)
    assert all(masses[i] <= Fraction(1, total) <= masses[i] + longer for i in range(total))
    assert max(masses) == total - 1


rates = st.fractions(min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**6)
near_floats = st.floats(-50.0, 50.0)
any_floats = st.floats(allow_nan=False, allow_infinity=False)
integers = st.one_of(st.integers(-60, 60), st.integers(LEAST, LARGEST))
fractions = st.one_of(st.fractions(), st.integers(-(2**200), 2**200), st.integers(2**200 - 9, 2**200))
utility_lists = st.one_of(*(st.lists(kind, min_size=1, max_size=8) for kind in (near_floats, any_floats, integers)))


def assert_bracketed(utilities, rate):
    """The floats are as near to the weights as is claimed, and integers and balls hold them."""
    weights = Weights.of(array(utilities), rate)
    floats, exact = weights.floats(), exact_weights(array(utilities), rate)
    assert all(abs(Fraction(float(f)) - w) < ERROR / 2 for f, w in zip(floats, exact, strict=True))
    shares, m, margin = module._shares(floats.copy(), 61)
    for a, w in zip(shares.tolist(), exact, strict=True):
        assert 0 <= a <= w * 2**m <= a + 2 * margin + 1
    assert 2**59 <= sum(shares.tolist()) + len(utilities) * (2 * margin + 1) < 2**62
    with working_precision(160):
        for i, w in enumerate(exact):
            assert abs(weights.enclose(i) - arb(fmpq(w.numerator, w.denominator))) <= arb(2) ** -100


@given(utility_lists, rates)
@settings(deadline=None, max_examples=examples(50, 150))
def test_weights_of_floats_and_integers_lie_between_their_integers(utilities, rate):
    assert_bracketed(utilities, rate)


@given(st.lists(fractions, min_size=1, max_size=6), rates)
@settings(deadline=None, max_examples=examples(20, 60))
def test_weights_of_fractions_and_big_integers_lie_between_their_integers(utilities, rate):
    assert_bracketed([Fraction(utility) for utility in utilities], rate)


@pytest.mark.parametrize(
    ("utilities", "rate"),
    [
        ([LARGEST, LEAST, LARGEST - 1, 0], Fraction(1)),
        ([LARGEST, LEAST, 0], Fraction(1, 2**62)),
        (np.array([2**64 - 1, 0, 2**63, 2**64 - 3], dtype=np.uint64), Fraction(1, 3)),
        (np.array([2**64 - 1, 0, 2**63], dtype=np.uint64), Fraction(1, 2**63)),
        ([FLOAT, -FLOAT, 0.0], Fraction(1)),
        # The difference of the first two is beyond all floats, and their weights differ by e^-3.6.
        ([FLOAT, -FLOAT, 0.0, FLOAT / 3], Fraction(FLOAT) ** -1),
        ([5e-324, 0.0, -5e-324, 15e-324, 2.0**-1000], Fraction(2) ** 1000),
        ([5e-324, 0.0, 1e300], Fraction(2) ** 1000),
        ([0.0, -0.0, 1.0], Fraction(1)),
        ([0.1, 0.1 + 2**-54, 0.1 - 2**-54], Fraction(2) ** 54),
        ([1e16, 1e16 + 2, 1e16 - 2], Fraction(1, 3)),
        ([2**70, 2**70 - 1, -(2**5000)], Fraction(1, 3)),
        ([Fraction(1, 3), Fraction(1, 3) - Fraction(1, 10**400)], Fraction(2) ** 1000),
    ],
)
def test_weights_at_the_ends_of_number_types_are_right(utilities, rate):
    assert_bracketed(utilities, rate)


def test_weights_within_a_halving_are_as_near_as_claimed_everywhere():
    """Where the polynomial is worst, between the entries of the table, and around."""
    steps = np.arange(600) * np.log(2) / 128
    x = np.concatenate([np.nextafter(steps, 0), steps, np.nextafter(steps, 9), steps + 1e-3, [0.0, 63.9, 64.0, 1e3]])
    found = module.decay(x)
    with mp.workdps(40):
        off = max(abs(mp.exp(-mpf(float(a))) - mpf(float(b))) for a, b in zip(x, found, strict=True))
    # The claim of the module less what the exponent itself is off.
    assert 2.0**-54 < off < 2.0**-52


def test_a_weight_far_below_every_float_is_decided_by_its_own_bits(monkeypatch):
    """exp(-1500), about 2^-2164, is accepted if and only if V is below it in all its bits."""
    utilities, rate = [1500, 0, 1499], Fraction(1)
    weights = Weights.of(array(utilities), rate)
    shares, m, margin = module._shares(weights.floats(), 61)
    assert shares[1] == 0
    unit = int(shares.sum()) + 2 * margin + 1
    tiny = exact_weights(utilities, rate, digits=1000)[1]
    words = 20
    digits = int(tiny * 2 ** (m + 128 * words))
    assert digits.bit_length() > 200
    rounds = []
    monkeypatch.setattr(module, "_uniform", lambda *_: rounds.append(1) or (unit if len(rounds) == 1 else 0))
    for off, draw in ((-1, 1), (1, 0)):
        rounds.clear()
        parts = [((digits + off) >> (128 * k)) % 2**128 for k in reversed(range(words))]
        source = Scripted(*(part.to_bytes(16, "little") for part in parts))
        assert select_candidate(weights, source) == draw
        assert source.spent
        assert len(rounds) == 2 - draw


def test_every_unit_belongs_to_the_candidate_whose_integers_hold_it(monkeypatch):
    """Over several blocks, at both ends of candidates on both sides of the blocks' borders."""
    count = 3 * module._BLOCK + 77
    utilities = np.random.default_rng(3).integers(0, 9, count)
    # No units at the start of a block, nor at the end of another.
    utilities[[module._BLOCK, 3 * module._BLOCK - 1]] = -(10**6)
    weights = Weights.of(utilities, Fraction(1))
    shares, _, _ = module._shares(weights.floats(), 61)
    below = np.concatenate([[0], np.cumsum(shares)])
    assert np.flatnonzero(shares == 0).tolist() == [module._BLOCK, 3 * module._BLOCK - 1]
    borders = np.add.outer(module._BLOCK * np.arange(4), [-2, -1, 0, 1]).reshape(-1)
    for i in (i for i in [*borders.tolist(), count - 1] if i >= 0 and shares[i]):
        for unit in (int(below[i]), int(below[i + 1]) - 1):
            monkeypatch.setattr(module, "_uniform", lambda *_, unit=unit: unit)
            assert select_candidate(weights, SECURE) == i


def test_candidates_without_units_are_passed_over(monkeypatch):
    weights = Weights.of(np.array([-1e6, 0.0, -1e6, -1e6, 0.0, -1e6]), Fraction(1))
    shares, _, _ = module._shares(weights.floats(), 61)
    for unit, draw in ((0, 1), (int(shares[1]) - 1, 1), (int(shares[1]), 4), (int(shares.sum()) - 1, 4)):
        monkeypatch.setattr(module, "_uniform", lambda *_, unit=unit: unit)
        assert select_candidate(weights, SECURE) == draw


SPREADS = {
    "all alike": lambda n: np.zeros(n),
    "one far above": lambda n: np.where(np.arange(n) == n // 2, 1e6, 0.0),
    "one above by as much as all others weigh": lambda n: np.where(np.arange(n) == 5, np.log(n), 0.0),
    "many of small weight": lambda n: np.where(np.arange(n) == 0, 21.0, np.linspace(0, 1, n)),
    "even": lambda n: np.linspace(0, 60, n),
}


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("count", [1, 2, 1000, 10**6])
def test_ball_arithmetic_is_as_rare_as_claimed(spread, count):
    shares, _, margin = module._shares(Weights.of(SPREADS[spread](count), Fraction(1)).floats(), 61)
    room = count * (2 * margin + 1)
    assert room / (int(shares.sum()) + room) <= count * 2.0**-48


class Counting:
    """A source that counts what is read."""

    private = True

    def __init__(self):
        self.read = []

    def fill(self, buffer):
        self.read.append(buffer.size)
        return SECURE.fill(buffer)


@pytest.mark.parametrize("spread", SPREADS)
def test_all_utilities_cost_the_same_random_bits(spread):
    source = Counting()
    for _ in range(20):
        select_candidate(Weights.of(SPREADS[spread](1000), Fraction(1)), source)
    assert source.read == [16] * 20


@pytest.mark.parametrize("moved", [7, -(2**40), 2**62])
def test_a_constant_that_is_added_exactly_changes_no_draw(moved):
    utilities = np.array([3, 1, 4, 1, 5, 9, 2, 6])
    for kind in (np.int64, object, np.float64):
        if kind is np.float64 and abs(moved) > 2**50:
            continue
        here, there = (Weights.of(u.astype(kind), Fraction(1, 3)) for u in (utilities, utilities + moved))
        assert np.array_equal(here.floats(), there.floats())
        sources = SeededSource(seed=4), SeededSource(seed=4)
        for _ in range(50):
            assert select_candidate(here, sources[0]) == select_candidate(there, sources[1])


def test_numpy_integers_inside_python_numbers_do_not_overflow():
    utilities = np.array([np.int64(LARGEST), np.int64(LEAST), np.float32(0.5), 2**65], dtype=object)
    assert Weights.of(utilities, Fraction(1)).top == 2**65
    assert Weights.of(utilities[:2], Fraction(1)).floats()[1] < 1e-27


def one_cell(runs, rate=Fraction(1, 2), divisor=1):
    """The runs of one cell, each (size, error, growth)."""
    size, error, growth = (np.array(column, dtype=np.int64) for column in zip(*runs, strict=True))
    return CandidateRuns(np.array([0, size.size]), size, error, growth, rate, divisor)


def exact_run_weights(runs, cell=0):
    """The weight of each run, as a sum over its candidates, to 60 digits."""
    rate = runs.rate / runs.divisor
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


SMALL_RUNS = [
    one_cell([(3, 0, 0), (1, 2, 0), (2, 1, 0)]),
    one_cell([(4, 1, 2), (0, 0, 0), (5, 2, 1)], Fraction(1, 3)),
    one_cell([(1, 0, 0), (7, 10**9, 5)]),
    one_cell([(6, 5, 0)], Fraction(9, 7), 3),
]


@pytest.mark.parametrize("runs", SMALL_RUNS)
def test_the_units_and_bits_of_a_run_are_its_weight(runs, monkeypatch):
    """Over all units, and for the undecided ones over all bits of V, a round accepts a run with 2^m w units."""
    _, upper, m = module._units(runs, runs.least(), 6)
    total = int(upper.sum())
    monkeypatch.setattr(module, "_places", lambda _runs, chosen, *_: 0 * chosen)

    def round_with(unit, source):
        units = iter([unit])
        monkeypatch.setattr(
            module, "uniform_integers", lambda asked, *_, **__: np.array([(asked[0] == total) * next(units)])
        )
        try:
            return int(select_in_cells(runs, source, bits=6, long_word=8)[0][0])
        except StopIteration:
            # Another unit was asked for: the round was rejected.
            return "rejected"

    accepted, undecided = Counter(), Fraction(0)
    for unit in range(total):
        masses, longer = tree(partial(round_with, unit), BYTE, depth=3)
        undecided += longer
        accepted.update(masses)
    assert undecided <= Fraction(runs.sizes.size, 2**20)
    for i, weight in enumerate(exact_run_weights(runs)):
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
        lambda source: int(module.uniform_integers(np.array([total]), 1, source, word=3)[0]),
        {8: top_bits(8, 3)},
        depth=4,
    )
    assert longer <= Fraction(3, 8) ** 4
    assert {masses[i] for i in range(total)} == {(1 - longer) / total}


def random_runs(generator, *, largest, rate, divisor=1):
    """Runs of three cells, with sizes and errors of all magnitudes."""
    count = 60
    size = (2.0 ** generator.uniform(0, 50, count)).astype(np.int64)
    error = (2.0 ** generator.uniform(0, largest, count)).astype(np.int64)
    growth = np.where(generator.random(count) < 0.5, 0, (2.0 ** generator.uniform(0, 20, count)).astype(np.int64))
    size = np.where(growth > 0, np.minimum(size, 2**20), size)
    error[generator.random(count) < 0.1] = 0
    size[[3, 30]] = 0
    return CandidateRuns(np.array([0, 20, 40, 60]), size, error, growth, rate, divisor)


@pytest.mark.parametrize("rate", [Fraction(1), Fraction(1e-9), Fraction(1e6), Fraction(1, 2**26)])
@pytest.mark.parametrize("largest", [4, 30, 61])
@pytest.mark.parametrize("divisor", [1, 7, 10**6])
def test_units_enclose_the_weights(rate, largest, divisor):
    runs = random_runs(np.random.default_rng(largest), largest=largest, rate=rate, divisor=divisor)
    least = runs.least()
    lower, upper, m = module._units(runs, least, 61)
    assert int(upper.astype(object).sum()) < 2**63
    for run in range(runs.sizes.size):
        cell = run // 20
        with working_precision(200):
            height = runs.weight(run, int(least[cell])) * arb(2) ** int(m[cell])
            assert height >= int(lower[run])
            assert height <= int(upper[run])


def test_units_are_tight_where_a_run_matters():
    runs = random_runs(np.random.default_rng(1), largest=4, rate=Fraction(1, 8))
    lower, upper, _ = module._units(runs, runs.least(), 61)
    assert (upper - lower).sum() <= 2.0**-34 * upper.sum()
