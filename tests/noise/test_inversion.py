"""Draws one at a time: as many bits as it takes, and never a guess."""

import pytest
from flint import arb
from tests.noise.scripted import Scripted, top_bits, tree

from ggdp.errors import UnprovedError
from ggdp.noise.entropy import SECURE
from ggdp.noise.table import inverted


def thirds(k):
    """P(K < k) for K uniform on 0, 1, 2."""
    return arb(0) if k <= 0 else arb(1) if k >= 3 else arb(k) / 3


def test_the_tree_of_a_third_is_a_third():
    masses, longer = tree(lambda source: inverted(thirds, source, word=8), {1: top_bits(1, 8)}, depth=2)
    assert longer == 2 / 2**16
    assert [masses[k] * 2**16 for k in range(3)] == [21845, 21844, 21845]


def test_a_law_of_halves_is_decided_by_one_bit_though_a_ball_never_excludes_the_half():
    """P(K < 1) is exactly 1/2 and its ball holds numbers on both sides."""

    def half(k):
        return arb(0) if k <= 0 else arb(1) if k >= 2 else arb(2).sqrt() ** 2 / 4

    for word, draw in ((2**63 - 2, 0), (2**63 + 1, 1)):
        assert inverted(half, Scripted.words(word)) == draw
    longer = Scripted.words(2**63, 0, 0, 1)
    assert inverted(half, longer) == 1
    assert longer.spent


@pytest.mark.parametrize(("start", "step"), [(0, 1), (-1000, 1), (1000, 7), (10**18, 10**17), (-(10**18), 1)])
def test_the_draw_does_not_depend_on_where_the_search_begins(start, step):
    for word in (0, 2**62, 2**64 // 2, 2**64 - 1):
        assert inverted(thirds, Scripted.words(word), start=start, step=step) == word * 3 // 2**64


def test_a_law_that_is_not_known_narrowly_is_refused_and_not_guessed():
    def vague(k):
        return arb(0) if k <= 0 else arb(1) if k >= 2 else arb(0.5, 0.25)

    with pytest.raises(UnprovedError, match="enclose it more narrowly"):
        inverted(vague, SECURE, numerator=2**63, bits=64)
    assert inverted(vague, SECURE, numerator=2**60, bits=64) == 0
