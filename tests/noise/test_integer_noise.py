"""The public sampler of integer noise: shapes, limits, sources, and the switch between samplers.

Noise given that it is at least a threshold.
"""

import pickle

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.noise.scripted import Scripted

import ggdp
from ggdp.errors import ArgumentError
from ggdp.noise import ConditionalNoise, SeededSource, integer_noise
from ggdp.noise.rejection import Envelope
from ggdp.noise.table import Table


@pytest.mark.parametrize("scale", [0.3, 10.0, 1e9])
def test_draws_have_the_shape_and_type_that_were_asked_for(scale):
    noise = ggdp.IntegerNoise(order=1, scale=scale)
    assert noise.sample((2, 3)).shape == (2, 3)
    assert noise.sample(()).shape == ()
    assert noise.sample(0).shape == (0,)
    assert noise.sample((0, 7)).shape == (0, 7)
    assert noise.sample([2, 3]).shape == (2, 3)
    assert noise.sample(np.int64(4)).dtype == np.int64


def test_a_tiny_scale_gives_zeros():
    assert not ggdp.IntegerNoise(order=2, scale=1e-3).sample(1000).any()
    assert not ggdp.IntegerNoise(order=1e6, scale=5e-324).sample(100).any()


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0, 50.0, 1e6])
@pytest.mark.parametrize("scale", [2.0**40, 2.0**55])
def test_wide_scales_are_drawn_too(order, scale):
    draws = ggdp.IntegerNoise(order=order, scale=scale).sample(2000)
    assert np.max(np.abs(draws)) > scale / 4
    assert np.max(np.abs(draws)) < 40 * scale
    assert np.any(draws > 0)
    assert np.any(draws < 0)


def test_scales_that_64_bits_cannot_hold_are_refused_and_nothing_is_cut_off():
    for scale in (1e25, np.nextafter(2.0**55, np.inf)):
        with pytest.raises(ArgumentError, match="too wide for 64-bit draws"):
            ggdp.IntegerNoise(order=1, scale=scale).sample(3)
    assert ggdp.IntegerNoise(order=1, scale=2.0**55).sample(3).size == 3


def test_the_switch_from_table_to_rejection_is_by_the_width_of_the_law():
    assert isinstance(integer_noise.sampler_of(2.0, 100.0), Table)
    assert isinstance(integer_noise.sampler_of(2.0, 1e5), Envelope)
    assert isinstance(integer_noise.sampler_of(2.0, 1e5, 200_000), Envelope)
    # Far out the law is narrow again.
    assert isinstance(integer_noise.sampler_of(2.0, 1e5, 100_000_000), Table)


@pytest.mark.parametrize("scale", [10.0, 1e9])
def test_a_seed_gives_the_same_draws_whatever_their_number(scale, monkeypatch):
    noise = ggdp.IntegerNoise(order=3, scale=scale)
    few = noise.sample(500, rng=SeededSource(seed=11))
    assert np.array_equal(few, noise.sample(500, rng=SeededSource(seed=11)))
    assert not np.array_equal(few, noise.sample(500, rng=SeededSource(seed=12)))
    monkeypatch.setattr(integer_noise, "_MANY", 100)
    assert np.array_equal(few, noise.sample(500, rng=SeededSource(seed=11)))


@pytest.mark.parametrize("scale", [10.0, 1e9])
def test_many_draws_are_shared_among_threads_and_all_are_made(scale, monkeypatch):
    monkeypatch.setattr(integer_noise, "_MANY", 1000)
    monkeypatch.setattr(integer_noise.os, "cpu_count", lambda: 3)
    noise = ggdp.IntegerNoise(order=2, scale=scale)
    draws = noise.sample(100_001)
    assert np.max(np.abs(draws)) < 20 * scale
    assert abs(draws.mean()) < noise.std / 10
    parts = [draws[i * 33_334 : i * 33_334 + 20] for i in range(3)]
    assert len({part.tobytes() for part in parts}) == 3


def test_the_law_of_the_noise_is_on_show():
    noise = ggdp.IntegerNoise(order=2, scale=3.0)
    assert noise.cdf(0) - noise.cdf(-1) == pytest.approx(noise.pmf(0), rel=1e-12)
    assert noise.std == noise.law.std


def test_noise_can_be_sent_to_other_processes():
    noise = ggdp.IntegerNoise(order=2, scale=3.0)
    noise.sample(3)
    assert pickle.loads(pickle.dumps(noise)) == noise


@pytest.mark.parametrize("size", [-1, 1.5, (2, -3), None, "3", [2.0], True, 10**30, (2**40, 2**40)])
def test_a_bad_size_is_refused_by_name(size):
    with pytest.raises(ArgumentError, match="size = "):
        ggdp.IntegerNoise(order=1, scale=1.0).sample(size)


def test_bad_orders_and_scales_are_refused():
    with pytest.raises(ArgumentError, match=r"order = 0\.5"):
        ggdp.IntegerNoise(order=0.5, scale=1.0)
    with pytest.raises(ArgumentError, match=r"scale = 0"):
        ggdp.IntegerNoise(order=1, scale=0)
    with pytest.raises(ArgumentError, match=r"scale = nan"):
        ggdp.IntegerNoise(order=1, scale=float("nan"))


@pytest.mark.parametrize("source", [7, np.random.default_rng(1), "os", SeededSource, ggdp.SecureSource])
def test_a_source_that_is_none_is_refused_by_name(source):
    with pytest.raises(ArgumentError, match="rng = "):
        ggdp.IntegerNoise(order=1, scale=1.0).sample(3, rng=source)


@pytest.mark.parametrize("goal", [ggdp.PureDP(1.0)])
@pytest.mark.parametrize("bounding", ["truncated", "boundary-inflated"])
def test_a_calibration_with_bounds_gives_the_bounded_sampler(goal, bounding):
    calibration = ggdp.calibrate(
        goal, ggdp.Sensitivity.disjoint(1), order=2, support="integer", bounds=[(-3, 12)], bounding=bounding
    )
    noise = calibration.bounded_noise()
    with pytest.raises(ArgumentError, match=r"use bounded_noise\(\)"):
        calibration.noise()
    outputs = noise.around([-3, 0, 12] * 500)
    assert (noise.order, noise.scale, noise.lower, noise.upper) == (2.0, calibration.scale, -3, 12)
    assert outputs.min() == -3
    assert outputs.max() == 12


def test_a_calibration_with_several_bounds_or_on_the_reals_has_no_single_sampler():
    several = ggdp.calibrate(
        ggdp.PureDP(1.0),
        ggdp.Sensitivity.box([1, 1]),
        order=2,
        support="integer",
        bounds=[(0, 10), (0, 20)],
        bounding="truncated",
    )
    with pytest.raises(ArgumentError, match=r"use ggdp\.Mechanism"):
        several.bounded_noise()
    real = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1), order=1)
    with pytest.raises(ArgumentError, match=r"use ggdp\.Mechanism"):
        real.noise()
    with pytest.raises(ArgumentError, match=r"use ggdp\.Mechanism"):
        real.bounded_noise()


@pytest.mark.parametrize("order", [1.0, 1.0 + 1e-12, 1.5, 2.0, 1000.0, 1e6])
@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1e-3, 0.5, 1.0, 50.0, 4680.0, 1e5, 2.0**55])
def test_extreme_laws_are_drawn_or_refused_by_name(order, scale):
    noise = ggdp.IntegerNoise(order=order, scale=scale)
    assert np.all(np.abs(noise.sample(700)) <= 50.0 * max(scale, 0.1))
    start = int(min(scale, 2.0**50)) + 1
    if order * np.log2(max(start / scale, 1.0)) > 40:
        with pytest.raises(ArgumentError, match="too far out"):
            noise.at_least(start)
    else:
        assert noise.at_least(start).sample(700).min() >= start


def test_orders_beyond_what_can_be_drawn_are_refused():
    with pytest.raises(ArgumentError, match=r"order = 1e\+300: is too large to be drawn exactly"):
        ggdp.IntegerNoise(order=1e300, scale=1e5).sample(3)


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
                assert noise.sample(1, rng=Scripted.words(word)).tolist() == [threshold + j]


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
