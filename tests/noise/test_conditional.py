"""Noise given that it is at least a threshold."""

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.noise.scripted import Scripted

import ggdp
from ggdp.errors import ArgumentError
from ggdp.noise import ConditionalNoise


@pytest.mark.parametrize(
    ("order", "scale", "threshold"), [(1.0, 3.0, 5), (2.0, 10.0, 83), (2.0, 10.0, 400), (3.0, 2.0, 1)]
)
def test_the_words_of_k_are_those_between_its_thresholds_however_unlikely_the_tail(order, scale, threshold):
    noise = ConditionalNoise(order=order, scale=scale, threshold=threshold)
    with mp.workdps(80):
        top = (mpf(threshold) / scale) ** order
        weights = [mp.exp(top - ((threshold + j) / mpf(scale)) ** order) for j in range(1000)]
        whole = mp.fsum(weights)
        below = mpf(0)
        for j in range(6):
            first = int(mp.floor(below / whole * mpf(2) ** 64)) + 1
            below += weights[j]
            last = int(mp.floor(below / whole * mpf(2) ** 64)) - 1
            for word in (first, last) if first <= last else ():
                assert noise.sample(1, source=Scripted.words(word)).tolist() == [threshold + j]


@pytest.mark.parametrize(("order", "scale"), [(1.0, 3.0), (2.0, 10.0), (2.0, 1e6), (1.5, 2.0**40)])
@pytest.mark.parametrize("share", [-20.0, -1.0, 0.0, 0.5, 3.0, 30.0])
def test_no_draw_is_below_the_threshold_and_some_are_near_it(order, scale, share):
    threshold = round(share * scale)
    draws = ggdp.IntegerNoise(order=order, scale=scale).at_least(threshold).sample(5000)
    assert draws.min() >= threshold
    if share >= 0:
        assert draws.min() < threshold + scale / 10


def test_far_beyond_every_float_the_tail_is_still_a_law():
    """P(noise >= threshold) is about exp(-10^8) here."""
    draws = ConditionalNoise(order=2, scale=10.0, threshold=100_000).sample(1000)
    assert set(draws.tolist()) == {100_000}
    draws = ConditionalNoise(order=1, scale=10.0, threshold=10**9).sample(100_000)
    assert draws.min() == 10**9
    assert 1e9 + 9 < draws.mean() < 1e9 + 10


@pytest.mark.parametrize(
    ("threshold", "message"), [(1.5, "must be an integer"), (2**63, "too far out"), (-(2**70), "must be at least")]
)
def test_a_threshold_that_is_none_is_refused(threshold, message):
    with pytest.raises(ArgumentError, match=message):
        ConditionalNoise(order=2, scale=1e9, threshold=threshold).sample(3)


def test_a_threshold_whose_exponent_cannot_be_written_down_is_refused():
    with pytest.raises(ArgumentError, match="too far out for noise of order 1000"):
        ConditionalNoise(order=1000, scale=1.0, threshold=1000).sample(3)


def test_a_threshold_of_no_effect_leaves_the_noise_as_it_is():
    draws = ConditionalNoise(order=2, scale=5.0, threshold=-1000).sample(20_000)
    assert abs(draws.mean()) < 0.3
    assert np.any(draws < -5)
