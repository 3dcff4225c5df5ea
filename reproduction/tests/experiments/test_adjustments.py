import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from ggdp.errors import ArgumentError
from ggdp_reproduction.experiments.counts import ADJUSTMENT_LABELS, ADJUSTMENTS, clip_rescale, projected
from ggdp_reproduction.experiments.sanitisers import sanitiser_of
from ggdp_reproduction.simulation import simulated_noise, stream_seed

NOISY = arrays(np.float64, (3, 7), elements=st.floats(-1e3, 1e3))
TOTAL = st.floats(1.0, 1e4)
SEED = 237592324169882004237351818003180415179


@given(noisy=NOISY, total=TOTAL)
def test_projection_is_the_nearest_point_by_its_optimality_conditions(noisy, total):
    """Nearest means: in the set, every positive count lowered by one level, every other at or below that level."""
    found = projected(noisy, total)
    slack = 1e-9 * (total + 1e3)
    assert (found >= 0).all()
    assert np.abs(found.sum(axis=1) - total).max() <= slack
    for row, point in zip(noisy, found, strict=True):
        levels = (row - point)[point > 0]
        assert np.ptp(levels) <= slack
        assert (row[point == 0] <= levels.mean() + slack).all()


@given(noisy=NOISY, total=TOTAL)
def test_each_row_is_projected_as_if_alone(noisy, total):
    assert np.array_equal(projected(noisy, total)[1], projected(noisy[1:2], total)[0])


def test_counts_that_fit_the_total_stay():
    counts = np.array([[0.0, 3.0, 9.0]])
    assert projected(counts, 12.0) == pytest.approx(counts, abs=1e-12)
    assert clip_rescale(counts, 12.0) == pytest.approx(counts, abs=1e-12)


@given(noisy=NOISY, total=TOTAL)
def test_clip_and_rescale_keeps_the_shares_of_the_clipped_counts(noisy, total):
    found = clip_rescale(noisy, total)
    clipped = np.minimum(np.maximum(noisy, 0), total)
    assert found.sum(axis=1) == pytest.approx(total, rel=1e-12)
    for row, before in zip(found, clipped, strict=True):
        if before.sum() > 0:
            assert row * before.sum() == pytest.approx(before * total, rel=1e-9, abs=1e-300)


def test_counts_next_to_nothing_are_scaled_without_an_overflow():
    least = 2.0**-1074
    assert clip_rescale(np.array([[least, 3 * least], [1.0, 3.0]]), 8.0).tolist() == [[2.0, 6.0], [2.0, 6.0]]


def test_all_counts_below_zero_become_alike():
    assert clip_rescale(np.array([[-1.0, -2.0], [1.0, 3.0]]), 8.0).tolist() == [[4.0, 4.0], [2.0, 6.0]]


def test_without_a_total_only_negative_counts_move():
    assert ADJUSTMENTS["clip-zero"](np.array([-1.0, 30.0]), 8.0).tolist() == [0.0, 30.0]


@pytest.mark.parametrize("name", ADJUSTMENTS)
def test_adjustments_leave_the_noisy_counts_as_they_are(name):
    noisy = np.array([[-1.0, 2.0, 30.0]])
    ADJUSTMENTS[name](noisy, 8.0)
    assert noisy.tolist() == [[-1.0, 2.0, 30.0]]


def test_streams_differ_by_each_name_and_by_the_seed():
    names = ("mildew", "laplace", 1.0, None, 0)
    others = [("czech", *names[1:]), (*names[:2], 2.0, None, 0), (*names[:3], 0.1, 0), (*names[:4], 1)]
    seeds = [stream_seed(0, *names), stream_seed(1, *names), *(stream_seed(0, *other) for other in others)]
    assert len(set(seeds)) == len(seeds)


def test_the_seed_of_a_stream_is_what_it_was():
    """Published numbers hang on it."""
    assert stream_seed(0, "mildew", "laplace", 1.0, None, 0) == SEED
    with pytest.raises(ArgumentError, match="seed = -1"):
        stream_seed(-1)


@pytest.mark.parametrize("key", ["laplace", "ggm3-pdp", "integer-laplace"])
def test_noise_is_a_function_of_its_seed(key):
    one = sanitiser_of(key)
    noise = one.calibrate(1.0, 0.05 if one.uses_delta else None)
    first, again, other = (simulated_noise(noise, (50, 4), seed=seed) for seed in (7, 7, 8))
    assert first.shape == (50, 4)
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert np.array_equal(first, np.round(first)) == (one.support == "integer")


def test_every_adjustment_has_a_label_of_its_own():
    assert list(ADJUSTMENT_LABELS) == list(ADJUSTMENTS)
    assert len(set(ADJUSTMENT_LABELS.values())) == len(ADJUSTMENTS)
