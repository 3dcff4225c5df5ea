"""Uniform integers and sets of them: all strings of bits of a small word, and large ones by their bounds."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import comb

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.noise.scripted import Scripted, top_bits, tree

from ggdp.noise.entropy import SECURE, SeededSource, distinct_integers, uniform_integers


def requests(bits, most):
    """All strings of up to so many words that a sampler with words of so many bits tells apart."""
    single = top_bits(8, bits)
    return {8 * n: [b"".join(words) for words in product(single, repeat=n)] for n in range(1, most + 1)}


@pytest.mark.parametrize("total", [1, 2, 3, 5, 7, 8])
def test_all_integers_are_equally_likely_and_independent(total):
    masses, longer = tree(
        lambda source: tuple(uniform_integers(total, 2, source, word=3).tolist()), requests(3, 2), depth=2
    )
    assert len(masses) == total**2
    # Those drawn again are still undecided after two rounds; what is decided is even.
    assert len(set(masses.values())) == 1
    assert sum(masses.values()) + longer == 1
    assert (longer == 0) == (8 % total == 0)


@pytest.mark.parametrize(("total", "size"), [(4, 2), (5, 2), (4, 3), (4, 1), (6, 2), (3, 0), (5, 5), (8, 3), (6, 4)])
def test_all_sets_are_equally_likely(total, size):
    masses, longer = tree(
        lambda source: tuple(distinct_integers(total, size, source, word=3).tolist()), requests(3, 3), depth=3
    )
    assert set(masses) == set(combinations(range(total), size))
    assert len(set(masses.values())) == 1
    assert sum(masses.values()) + longer == 1
    assert longer < Fraction(1, 2)
    assert len(masses) == comb(total, size)


def test_remainders_of_all_words_would_be_uneven():
    """A control: this is what drawing again is for."""
    assert len(set(Counter(word % 3 for word in range(8)).values())) > 1


def test_words_beyond_the_last_multiple_are_drawn_again():
    top = (1 << 64) // 10**18 * 10**18
    source = Scripted.words(top, top - 1)
    assert uniform_integers(10**18, 1, source).tolist() == [10**18 - 1]
    assert source.spent
    for total in (1, 2, 2**32, 2**63):
        assert uniform_integers(total, 1, Scripted.words(2**64 - 1)).tolist() == [total - 1]


@given(st.integers(1, 10**18), st.integers(0, 200), st.integers(0, 2**32))
@settings(deadline=None, max_examples=examples(20, 60))
def test_sets_are_sorted_distinct_and_within(total, size, seed):
    size = min(size, total)
    found = distinct_integers(total, size, SeededSource(seed=seed))
    assert found.dtype == np.int64
    assert found.size == size
    assert np.all(np.diff(found) > 0)
    assert size == 0 or (found[0] >= 0 and found[-1] < total)


@pytest.mark.parametrize("size", [0, 1, 499_999, 500_000, 500_001, 999_999, 1_000_000])
def test_any_share_of_a_million_can_be_drawn(size):
    found = distinct_integers(1_000_000, size, SECURE)
    assert found.size == size
    assert np.all(np.diff(found) > 0)
