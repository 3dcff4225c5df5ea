"""Noise whose outputs stay in bounds, by one table for every true value."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from tests.cases import examples
from tests.noise.scripted import Scripted

from ggdp.errors import ArgumentError
from ggdp.noise import BoundaryInflatedIntegerNoise, SeededSource, TruncatedIntegerNoise
from ggdp.noise import integer_noise as module
from ggdp.noise.entropy import SECURE
from ggdp.noise.table import symmetric_law
from ggdp.proofs.tails import _powers

KINDS = [TruncatedIntegerNoise, BoundaryInflatedIntegerNoise]
# Bounds near and far, scales far narrower and far wider than they are.
LAWS = [
    (1.0, 2.0, 0, 10),
    (2.0, 3.0, -5, 6),
    (2.0, 500.0, 0, 3),
    (3.0, 1.0, 0, 4000),
    (1.5, 20.0, 100, 300),
    (50.0, 4.5, 0, 9),
]


def thresholds(order, scale, first, last):
    """P(K < k) for noise restricted to first <= k <= last, as 60-digit numbers by k."""
    with mp.workdps(60):
        weights = {k: mp.exp(-((abs(k) / mpf(scale)) ** order)) for k in range(first, last + 1)}
        whole, below, found = mp.fsum(weights.values()), mpf(0), {}
        for k in range(first, last + 1):
            found[k] = below / whole
            below += weights[k]
        found[last + 1] = mpf(1)
        return found


def cases(order, scale, lower, upper):
    """True values at both ends and between, each with the k whose words are tried."""
    for s in sorted({lower, lower + 1, (lower + upper) // 2, upper}):
        below = thresholds(order, scale, lower - s, upper - s)
        nearest = sorted(range(lower - s, upper - s + 1), key=abs)[:12]
        for k in {*nearest, lower - s, upper - s}:
            yield s, k, below


@pytest.mark.parametrize(("order", "scale", "lower", "upper"), LAWS)
def test_the_words_of_an_output_are_those_between_its_thresholds(order, scale, lower, upper):
    noise = TruncatedIntegerNoise(order=order, scale=scale, lower=lower, upper=upper)
    tried = 0
    for s, k, below in cases(order, scale, lower, upper):
        with mp.workdps(60):
            first = int(mp.floor(below[k] * mpf(2) ** 64)) + 1 if below[k] else 0
            last = int(mp.floor(below[k + 1] * mpf(2) ** 64)) - 1
        for word in (first, (first + last) // 2, last) if first <= last else ():
            # Within a few words of a threshold more bits are asked for; they do not matter.
            assert noise.around([s], rng=Scripted.words(word, 2**63)).tolist() == [s + k]
            tried += 1
    assert tried > 20


def test_a_word_that_holds_a_threshold_is_decided_by_more_bits():
    noise = TruncatedIntegerNoise(order=2, scale=3.0, lower=-5, upper=6)
    below = thresholds(2.0, 3.0, -7, 4)
    for k in (-2, 0, 3):
        with mp.workdps(60):
            digits = int(mp.floor(below[k] * mpf(2) ** 128))
        for more, output in ((digits % 2**64 - 1, 2 + k - 1), (digits % 2**64 + 1, 2 + k)):
            source = Scripted.words(digits >> 64, more)
            assert noise.around([2], rng=source).tolist() == [output]
            assert source.spent


@given(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=20), st.data())
def test_the_high_half_of_a_product_is_right(factors, data):
    others = data.draw(st.lists(st.integers(0, 2**64 - 1), min_size=len(factors), max_size=len(factors)))
    found = module._high_half(np.array(factors, dtype=np.uint64), np.array(others, dtype=np.uint64))
    assert found.tolist() == [a * b >> 64 for a, b in zip(factors, others, strict=True)]


@settings(max_examples=examples(30, 100))
@given(st.sampled_from(LAWS), st.integers(0, 2**64 - 1), st.floats(0, 1))
@example(law=(3.0, 1.0, 0, 4000), word=2**64 - 2, share=0.5)
def test_the_scaled_word_holds_the_scaled_number(law, word, share):
    order, scale, lower, upper = law
    s = lower + round(share * (upper - lower))
    table = symmetric_law(order, scale, upper - lower)
    arrays = (np.array([lower - s]), np.array([upper - s + 1]), np.array([word], dtype=np.uint64))
    (low,), (high,) = module._scale(table, *arrays)
    with mp.workdps(60):
        window = thresholds(order, scale, lower - upper, upper - lower)
        start, width = window[lower - s], window[upper - s + 1] - window[lower - s]
        for u in (mpf(word), mpf(word) + 1):
            exact = (start + u / mpf(2) ** 64 * width) * mpf(2) ** 64
            assert int(low) <= exact + mpf(10) ** -30
            assert exact <= int(high) + 1
    assert int(high) - int(low) <= 16


def test_bounds_too_wide_for_a_table_are_drawn_in_rounds_that_all_values_get():
    noise = TruncatedIntegerNoise(order=2, scale=1e7, lower=0, upper=10**9)
    values = np.array([0, 5 * 10**8, 10**9] * 2000)
    outputs = noise.around(values)
    assert np.all(np.abs(outputs - values) < 8 * 10**7)
    assert outputs.min() >= 0
    assert outputs.max() <= 10**9
    # On a bound, half of the whole law is left.
    assert abs(np.mean(np.abs(outputs - values)) / 1e7 - 1 / np.sqrt(np.pi)) < 0.05


class Counting:
    """A source that counts what is read."""

    private = True
    read = 0

    def fill(self, buffer):
        self.read += buffer.size
        return SECURE.fill(buffer)


def test_in_rounds_every_value_costs_the_same():
    noise = TruncatedIntegerNoise(order=2, scale=1e7, lower=0, upper=10**9)
    middle, end = Counting(), Counting()
    noise.around(np.full(3000, 5 * 10**8), rng=middle)
    noise.around(np.full(3000, 10**9), rng=end)
    # A middle value fits at once, one on a bound every other time; what differs are the comparisons of the draws.
    assert abs(middle.read / end.read - 1) < 0.01


def test_the_first_draw_within_the_bounds_is_kept(monkeypatch):
    monkeypatch.setattr(module, "_WIDEST_WINDOW", 0)
    monkeypatch.setattr(module, "_ROUNDS", 4)
    rounds = [[5, -3], [1, -5], [2, 2], [-4, 7]]

    class Sampler:
        def draw(self, out, _):
            out[:] = rounds.pop(0)

    monkeypatch.setattr(module, "envelope", lambda *_, **__: Sampler())
    noise = TruncatedIntegerNoise(order=2, scale=2.0, lower=0, upper=4)
    assert noise.around([1, 4]).tolist() == [2, 1]
    assert rounds == []


def test_values_left_over_after_all_rounds_get_more_of_them(monkeypatch):
    monkeypatch.setattr(module, "_WIDEST_WINDOW", 0)
    monkeypatch.setattr(module, "_ROUNDS", 1)
    noise = TruncatedIntegerNoise(order=2, scale=2.0, lower=0, upper=4)
    outputs = noise.around(np.array([0, 4] * 2000))
    assert set(outputs.tolist()) == {0, 1, 2, 3, 4}


@pytest.mark.parametrize(("scale", "upper"), [(1e7, 10**9), (1e12, 10**9), (1e9, 2**61), (3e5, 600_000)])
def test_noise_far_wider_or_narrower_than_very_wide_bounds_is_drawn_in_the_same_way(scale, upper):
    noise = TruncatedIntegerNoise(order=2, scale=scale, lower=0, upper=upper)
    outputs = noise.around(np.array([0, upper // 2, upper] * 500))
    assert outputs.min() >= 0
    assert outputs.max() <= upper
    near = min(scale, upper)
    assert np.mean(outputs[::3]) < 0.8 * near
    assert upper - np.mean(outputs[2::3]) < 0.8 * near


@pytest.mark.parametrize("kind", KINDS)
def test_any_shape_of_values_is_kept(kind):
    noise = kind(order=2, scale=3.0, lower=0, upper=9)
    assert noise.around(4).shape == ()
    assert noise.around([]).shape == (0,)
    assert noise.around(np.full((2, 0, 3), 1)).shape == (2, 0, 3)
    assert noise.around(np.full((2, 3), 9, dtype=np.uint8)).shape == (2, 3)
    assert noise.around(np.full((3, 70_000), 9)).dtype == np.int64


@pytest.mark.parametrize("kind", KINDS)
def test_the_bits_of_a_value_do_not_depend_on_the_others(kind):
    noise = kind(order=2, scale=3.0, lower=0, upper=9)
    one = noise.around([4, 4, 4], rng=SeededSource(seed=5))
    two = noise.around([0, 4, 9], rng=SeededSource(seed=5))
    assert one[1] == two[1]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "values",
    [
        [0.5],
        [-1],
        [10],
        [3, 10],
        ["a"],
        [None],
        np.array([2**64 - 1], dtype=np.uint64),
        [[1], [2, 3]],
        np.ma.array([3]),
    ],
)
def test_values_that_do_not_fit_are_refused_without_being_told(kind, values):
    with pytest.raises(ArgumentError, match=r"values = <not shown>: must") as caught:
        kind(order=2, scale=3.0, lower=0, upper=9).around(values)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", ["os", 3, np.random.default_rng(1), SeededSource])
def test_a_source_that_is_none_is_refused_by_name(kind, source):
    with pytest.raises(ArgumentError, match="rng = "):
        kind(order=2, scale=3.0, lower=0, upper=9).around([3], rng=source)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("lower", "upper"), [(3, 3), (4, 3), (0.5, 3), (0, 2**62), (-(2**62), 0)])
def test_bounds_that_are_none_are_refused(kind, lower, upper):
    with pytest.raises(ArgumentError, match=r"lower|upper"):
        kind(order=2, scale=3.0, lower=lower, upper=upper)


def test_no_cache_holds_a_true_value():
    """The tables that are kept are those of the width, whatever was drawn around."""
    symmetric_law.cache_clear()
    noise = TruncatedIntegerNoise(order=2, scale=3.0, lower=0, upper=50)
    for s in range(51):
        noise.around([s])
    assert symmetric_law.cache_info().currsize == 1
    powers = _powers.cache_info().currsize
    noise.around(np.arange(51))
    assert _powers.cache_info().currsize == powers
