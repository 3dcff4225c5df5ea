import numpy as np
import pytest
from mpmath import mp, mpf
from tests.reference import fifty_digits as exact

import ggdp
from ggdp.errors import ArgumentError
from ggdp.sampling import noise as module

LAWS = [(1.0, 0.3), (1.0, 4.0), (1.5, 2.0), (2.0, 3.0), (3.0, 1.0), (50.0, 5.5)]


class ScriptedBits:
    """A source of bits that gives the words it was told, and counts them."""

    def __init__(self, *words):
        self.words = list(words)
        self.read = 0

    def __call__(self, bits):
        assert bits == 64
        self.read += 1
        return self.words.pop(0)


def word_of(probability):
    """The first 64 bits of a number in [0, 1)."""
    with mp.workdps(60):
        return int(mp.floor(mpf(probability) * 2**64))


@pytest.mark.parametrize(("order", "scale"), LAWS)
def test_a_draw_is_the_largest_k_with_u_below_its_tail(order, scale):
    tail = exact.integer_tails(order, scale)
    for k in range(-12, 13):
        low, high = tail(k + 1), tail(k)
        if word_of(high) - word_of(low) < 1000:
            continue
        for share in (0.01, 0.5, 0.99):
            with mp.workdps(60):
                word = word_of(low + (high - low) * share)
            assert module._draw(order, scale, ScriptedBits(word)) == k


@pytest.mark.parametrize(("order", "scale"), LAWS)
def test_the_words_between_two_thresholds_are_exactly_those_that_give_k(order, scale):
    """The first and the last whole word of each k's share give k: the masses are the law's, to the last bit."""
    tail = exact.integer_tails(order, scale)
    for k in range(-4, 5):
        first, last = word_of(tail(k + 1)) + 1, word_of(tail(k)) - 1
        if first > last:
            continue
        assert module._draw(order, scale, ScriptedBits(first)) == k
        assert module._draw(order, scale, ScriptedBits(last)) == k


def test_a_word_that_holds_a_threshold_is_decided_by_more_bits():
    threshold = exact.integer_tails(2.0, 3.0)(1)
    word = word_of(threshold)
    below = ScriptedBits(word, 0)
    assert module._draw(2.0, 3.0, below) == 1
    above = ScriptedBits(word, 2**64 - 1)
    assert module._draw(2.0, 3.0, above) == 0
    assert below.read == above.read == 2


def test_a_threshold_that_agrees_with_128_bits_takes_a_third_word():
    threshold = exact.integer_tails(2.0, 3.0)(1)
    with mp.workdps(60):
        digits = int(mp.floor(threshold * 2**128))
    source = ScriptedBits(digits >> 64, digits & (2**64 - 1), 0)
    assert module._draw(2.0, 3.0, source) == 1
    assert source.read == 3


def test_wide_scales_are_drawn_too():
    draws = ggdp.IntegerNoise(order=3, scale=2.0**40).sample(20)
    assert np.max(np.abs(draws)) > 2**30
    assert np.max(np.abs(draws)) < 2**44


def test_draws_have_the_shape_and_type_that_were_asked_for():
    noise = ggdp.IntegerNoise(order=1, scale=1.0)
    assert noise.sample((2, 3)).shape == (2, 3)
    assert noise.sample(0).shape == (0,)
    assert noise.sample(4).dtype == np.int64


def test_the_law_of_the_noise_is_on_show():
    noise = ggdp.IntegerNoise(order=2, scale=3.0)
    assert noise.cdf(0) - noise.cdf(-1) == pytest.approx(noise.pmf(0), rel=1e-12)
    assert noise.std == noise.law.std


def test_scales_that_64_bits_cannot_hold_are_refused_and_nothing_is_cut_off():
    with pytest.raises(ArgumentError, match="too wide for 64-bit draws"):
        ggdp.IntegerNoise(order=1, scale=1e25).sample(3)


@pytest.mark.parametrize("size", [-1, 1.5, (2, -3)])
def test_a_bad_size_is_refused(size):
    with pytest.raises((ArgumentError, TypeError)):
        ggdp.IntegerNoise(order=1, scale=1.0).sample(size)


def test_bad_orders_and_scales_are_refused():
    with pytest.raises(ArgumentError, match=r"order = 0\.5"):
        ggdp.IntegerNoise(order=0.5, scale=1.0)
    with pytest.raises(ArgumentError, match=r"scale = 0"):
        ggdp.IntegerNoise(order=1, scale=0)
