"""The table sampler is exact: the whole tree of what it can make of its bits has the masses of the law.

Draws one at a time: as many bits as it takes, and never a guess.
"""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from flint import arb
from mpmath import mp, mpf
from tests.cases import some
from tests.noise.scripted import Scripted, top_bits, tree
from tests.reference import fifty_digits as exact

from ggdp._balls import working_precision
from ggdp.errors import UnprovedError
from ggdp.noise import table
from ggdp.noise import table as module
from ggdp.noise.entropy import SECURE
from ggdp.noise.table import Table, invert, symmetric_law, tail_law

LAWS = [(1.0, 0.3), (1.0, 2.0), (1.5, 1.4), (2.0, 3.0), (3.0, 1.0), (50.0, 5.5)]
GUIDE, WORD = 6, 8
SLOW = pytest.mark.exhaustive


def one_draw(table):
    def draw(source):
        out = np.empty(1, dtype=np.int64)
        table.draw(out, source)
        return int(out[0])

    return draw


def guided(table):
    """Return a sampler of one draw by the guide, and what it asks for.

    It is the first of two: the second is decided by its first bits, and is what is decided again if the first is, too.
    """
    decided = top_bits(2, GUIDE)[int(np.flatnonzero(table.guide != module.UNDECIDED)[0])]

    def draw(source):
        out = np.empty(2, dtype=np.int64)
        table.draw(out, source)
        return int(out[0])

    # 4 bytes are looked up by their first bits, 8 are the rest of a word, 1 refines.
    requests = {4: [option + decided for option in top_bits(2, GUIDE)], 8: top_bits(8, WORD - GUIDE), 1: top_bits(1, 8)}
    return draw, requests


def direct(table):
    """Return a sampler of one draw by a search, and what it asks for."""
    return one_draw(table), {8: top_bits(8, WORD), 1: top_bits(1, 8)}


def assert_masses(masses, longer, tail, *, at_most):
    """Each mass is the law's, up to what the longer paths can add; and these are few."""
    assert sum(masses.values()) + longer == 1
    assert longer <= at_most
    with mp.workdps(50):
        for k in range(min(masses), max(masses) + 1):
            probability = tail(k) - tail(k + 1)
            mass = mpf(masses[k].numerator) / masses[k].denominator
            rest = mpf(longer.numerator) / longer.denominator
            assert mass <= probability + mpf(10) ** -40
            assert probability <= mass + rest + mpf(10) ** -40


PATHS = {"guided": (0, guided, 4), "direct": (64, direct, 3)}
# The trees of wider laws are larger.
FAST = {
    "guided": [(1.0, 0.3), (1.5, 1.4)],
    "direct": [(3.0, 1.0)],
}


@pytest.mark.parametrize(("path", "law"), some(product(PATHS, LAWS), fast=lambda path, law: law in FAST[path]), ids=str)
def test_the_whole_tree_of_a_small_table_has_the_masses_of_the_law(monkeypatch, path, law):
    order, scale = law
    few, path, depth = PATHS[path]
    monkeypatch.setattr(module, "FEW", few)
    table = symmetric_law(order, scale, guide_bits=GUIDE, word=WORD)
    masses, longer = tree(*path(table), depth=depth)
    assert_masses(masses, longer, exact.integer_tails(order, scale), at_most=Fraction(64, 2**24))


def test_the_tree_of_a_wrong_table_has_other_masses(monkeypatch):
    monkeypatch.setattr(module, "FEW", 0)
    table = symmetric_law.__wrapped__(3.0, 1.0, guide_bits=GUIDE, word=WORD)
    table.guide[np.flatnonzero(table.guide != module.UNDECIDED)[-1]] += 1
    masses, longer = tree(*guided(table), depth=4)
    with pytest.raises(AssertionError):
        assert_masses(masses, longer, exact.integer_tails(3.0, 1.0), at_most=Fraction(64, 2**24))


@pytest.mark.parametrize(
    ("order", "scale", "start"),
    [
        (1.0, 0.3, 1),
        (2.0, 3.0, 20),
        (3.5, 4.0, 9),
        pytest.param(1.0, 2.0, 3, marks=SLOW),
        pytest.param(2.0, 3.0, 1, marks=SLOW),
    ],
)
def test_the_tree_of_a_tail_has_the_masses_of_the_law_given_the_tail(monkeypatch, order, scale, start):
    monkeypatch.setattr(module, "FEW", 0)
    tail = exact.integer_tails(order, scale)
    with mp.workdps(50):
        # Far out the tail of the oracle is no longer exact, so the weights are summed again from there.
        weights = [mp.exp((mpf(start) / scale) ** order - ((start + j) / mpf(scale)) ** order) for j in range(300)]
        whole = mp.fsum(weights)
    given = {start + j: weight / whole for j, weight in enumerate(weights)}
    masses, longer = tree(*guided(tail_law(order, scale, start, guide_bits=GUIDE, word=WORD)), depth=4)
    assert sum(masses.values()) + longer == 1
    assert longer <= Fraction(64, 2**24)
    rest = mpf(longer.numerator) / longer.denominator
    for k, mass in masses.items():
        assert 0 <= given[k] - mpf(mass.numerator) / mass.denominator <= rest + mpf(10) ** -40
    if start < 10:
        assert given[start] == pytest.approx(float((tail(start) - tail(start + 1)) / tail(start)), rel=1e-14)


@pytest.mark.parametrize(
    ("order", "scale", "width"),
    [
        (1.0, 2.0, 3),
        (2.0, 3.0, 1),
        (2.0, 50.0, 4),
        (3.0, 1.0, 3),
        *(pytest.param(*law, 40, marks=SLOW) for law in ((3.0, 1.0), (3.5, 2.0))),
    ],
)
def test_the_tree_of_a_window_has_the_masses_of_the_law_given_the_window(monkeypatch, order, scale, width):
    monkeypatch.setattr(module, "FEW", 0)
    masses, longer = tree(*guided(symmetric_law(order, scale, width, guide_bits=GUIDE, word=WORD)), depth=4)
    with mp.workdps(50):
        weights = {k: mp.exp(-((abs(k) / mpf(scale)) ** order)) for k in range(-width, width + 1)}
        whole = mp.fsum(weights.values())
        assert sum(masses.values()) + longer == 1
        for k, mass in masses.items():
            difference = weights[k] / whole - mpf(mass.numerator) / mass.denominator
            assert -(mpf(10) ** -40) <= difference <= mpf(longer.numerator) / longer.denominator + mpf(10) ** -40
    assert longer <= Fraction(64, 2**24)


def word_below(tail, k, bits=64):
    """The first bits of P(K < k)."""
    with mp.workdps(60):
        return int(mp.floor((1 - tail(k)) * mpf(2) ** bits))


@pytest.mark.parametrize(
    ("order", "scale"), [(1.0, 0.3), (1.0, 40.0), (1.5, 2.0), (2.0, 30.0), (3.0, 1.0), (50.0, 5.5)]
)
def test_the_64_bit_words_of_k_are_those_between_its_thresholds(order, scale):
    """The first and the last whole word of each k's share give k, in the fast path and in the constant one."""
    tail = exact.integer_tails(order, scale)
    table = symmetric_law(order, scale)
    checked = 0
    for k in range(-25, 26):
        first, last = word_below(tail, k) + 1, word_below(tail, k + 1) - 1
        if first > last:
            continue
        checked += 1
        for word in (first, (first + last) // 2, last):
            assert one_draw(table)(Scripted.words(word)) == k
            if table.guide[word >> 48] == module.UNDECIDED:
                decided = table._decide(np.array([word >> 48], dtype=np.uint16), Scripted.words((word % 2**48) << 16))
                assert decided.tolist() == [k]
            else:
                assert table.guide[word >> 48] == k
    assert checked > 2


def test_a_word_that_holds_a_threshold_is_decided_by_more_bits():
    threshold = word_below(exact.integer_tails(2.0, 3.0), 1)
    draw = one_draw(symmetric_law(2.0, 3.0))
    below, above = (Scripted.words(threshold, more) for more in (0, 2**64 - 1))
    assert (draw(below), draw(above)) == (0, 1)
    assert below.spent
    assert above.spent


def test_a_threshold_that_agrees_with_128_bits_takes_a_third_word():
    digits = word_below(exact.integer_tails(2.0, 3.0), 1, bits=128)
    source = Scripted.words(digits >> 64, digits % 2**64, 0)
    assert one_draw(symmetric_law(2.0, 3.0))(source) == 0
    assert source.spent


@pytest.mark.parametrize("word", [0, 2**64 - 1])
def test_the_ends_of_the_table_are_not_the_ends_of_the_law(word):
    """128 bits, all equal, lie 2^-128 from an end: beyond what the table holds."""
    table = symmetric_law(2.0, 3.0)
    draw = one_draw(table)(Scripted.words(word, word, 0 if word else 2**64 - 1))
    tail = exact.integer_tails(2.0, 3.0)
    with mp.workdps(60):
        distance = mpf(2) ** -128
        assert tail(abs(draw) + 1) < distance < tail(abs(draw))
    assert abs(draw) > -table.least


def test_brackets_that_are_wide_are_refined_and_not_guessed():
    """A law that is known to 2^-10 at first: most words need more bits, and the draws are still the law's."""

    def below(k):
        return arb(0) if k <= 0 else arb(1) if k > 2 else arb(k) / 3

    wide = [(k * 2**64 // 3 - 2**54, k * 2**64 // 3 + 2**54) for k in (1, 2)]
    table = Table(wide, least=0, ends=(True, True), below=below)
    third = 2**64 // 3
    for word, k in [(third - 2**53, 0), (third + 2**53, 1), (2 * third + 2**40, 2), (0, 0), (2**64 - 1, 2), (third, 0)]:
        source = Scripted.words(word, 0)
        assert one_draw(table)(source) == k
        assert np.all(table.guide[third - 2**54 >> 48 : (third + 2**54 >> 48) + 1] == module.UNDECIDED)


def test_every_bucket_of_the_guide_is_right_or_undecided():
    table, tail = symmetric_law(1.5, 20.0), exact.integer_tails(1.5, 20.0)
    thresholds = {k: word_below(tail, k) for k in range(-60, 61)}
    for bucket in range(2000, 63000, 7):
        k = int(table.guide[bucket])
        inside = [j for j in thresholds if bucket == thresholds[j] >> 48]
        if k == module.UNDECIDED:
            assert inside
        else:
            assert not inside
            assert thresholds[k] < bucket << 48 < thresholds[k + 1]


def undecided(table):
    """How often the first bits do not decide, as a share of all draws."""
    return np.mean(table.guide == module.UNDECIDED)


def test_the_share_of_undecided_draws_is_small_where_the_law_is_narrow():
    assert undecided(symmetric_law(2.0, 14.0)) < 0.002
    assert 0.05 < undecided(symmetric_law(2.0, 1400.0)) < 0.15


def test_a_batch_of_any_size_is_filled():
    table = symmetric_law(2.0, 3.0)
    for size in (0, 1, 511, 512, 513, module.CHUNK - 1, module.CHUNK, 2 * module.CHUNK + 1, module.BATCH + 1):
        out = np.full(size, 10**9, dtype=np.int64)
        table.draw(out, SECURE)
        assert np.all(np.abs(out) < 100)


class Counting:
    private = True

    def __init__(self):
        self.requests = []

    def fill(self, buffer):
        self.requests.append(buffer.size)
        return SECURE.fill(buffer)


def test_a_batch_that_is_decided_at_once_asks_for_more_bits_all_the_same():
    """So that the time does not tell that no draw needed a second look."""
    source = Counting()
    table = symmetric_law(2.0, 0.01)
    assert undecided(table) < 1e-4
    table.draw(np.empty(1000, dtype=np.int64), source)
    assert source.requests in ([2000, 8], [2000, 16])


@pytest.mark.parametrize(("order", "scale"), [(2.0, 1.5), (3.0, 4.0), (1.5, 3.0), (50.0, 9.5)])
def test_what_lies_beyond_a_table_is_held_by_its_bound(order, scale):
    first = math.ceil(table.thresholds_needed(order, scale)) + 1
    with mp.workdps(100):
        beyond = mp.fsum(mp.exp(-((mpf(first + j) / mpf(scale)) ** order)) for j in range(600))
    with mp.workdps(100), working_precision(200):
        ball = table._beyond(order, scale, first, 64)
        assert ball.overlaps(arb(mp.nstr(beyond, 90)))
        assert ball.rad() < arb(2) ** -80


def thirds(k):
    """P(K < k) for K uniform on 0, 1, 2."""
    return arb(0) if k <= 0 else arb(1) if k >= 3 else arb(k) / 3


def test_the_tree_of_a_third_is_a_third():
    masses, longer = tree(lambda source: invert(thirds, source, word=8), {1: top_bits(1, 8)}, depth=2)
    assert longer == 2 / 2**16
    assert [masses[k] * 2**16 for k in range(3)] == [21845, 21844, 21845]


def test_a_law_of_halves_is_decided_by_one_bit_though_a_ball_never_excludes_the_half():
    """P(K < 1) is exactly 1/2 and its ball holds numbers on both sides."""

    def half(k):
        return arb(0) if k <= 0 else arb(1) if k >= 2 else arb(2).sqrt() ** 2 / 4

    for word, draw in ((2**63 - 2, 0), (2**63 + 1, 1)):
        assert invert(half, Scripted.words(word)) == draw
    longer = Scripted.words(2**63, 0, 0, 1)
    assert invert(half, longer) == 1
    assert longer.spent


@pytest.mark.parametrize("start", [0, -1000, 1000, 10**18, -(10**18)])
def test_the_draw_does_not_depend_on_where_the_search_begins(start):
    for word in (0, 2**62, 2**64 // 2, 2**64 - 1):
        assert invert(thirds, Scripted.words(word), start=start) == word * 3 // 2**64


def test_a_law_that_is_not_known_narrowly_is_refused_and_not_guessed():
    def vague(k):
        return arb(0) if k <= 0 else arb(1) if k >= 2 else arb(0.5, 0.25)

    with pytest.raises(UnprovedError, match="enclose it more narrowly"):
        invert(vague, SECURE, numerator=2**63, bits=64)
    assert invert(vague, SECURE, numerator=2**60, bits=64) == 0
