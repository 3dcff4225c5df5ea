"""Keys that are not public: what is shown is what has a unit and a noisy count from the threshold on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

from ggdp.errors import ArgumentError
from ggdp.sampling import IntegerNoise, SeededSource
from ggdp.tables.open_keys import kept_keys


@given(st.lists(st.integers(0, 30), max_size=40), st.integers(1, 20), st.integers(0, 2**32))
@settings(deadline=None, max_examples=examples(20, 60))
def test_what_is_shown_is_every_key_with_a_unit_and_noise_that_takes_it_to_the_threshold(counts, threshold, seed):
    counts = np.array(counts, dtype=np.int64)
    places, noisy = kept_keys(counts, order=2, scale=6.0, threshold=threshold, source=SeededSource(seed=seed))
    drawn = counts + IntegerNoise(order=2, scale=6.0).sample(counts.size, source=SeededSource(seed=seed))
    expected = [i for i in range(counts.size) if counts[i] >= 1 and drawn[i] >= threshold]
    assert places.tolist() == expected
    assert noisy.tolist() == drawn[expected].tolist()
    assert noisy.dtype == np.int64


def test_a_key_without_a_unit_is_never_shown_however_large_its_noise():
    places, _ = kept_keys(np.zeros(100_000, dtype=np.int64), order=1, scale=50.0, threshold=1)
    assert places.size == 0


def test_counts_are_left_as_they_are():
    counts = np.array([5, 7, 100])
    kept_keys(counts, order=1, scale=1.0, threshold=3)
    assert counts.tolist() == [5, 7, 100]


def test_counts_at_the_end_of_64_bits_saturate():
    counts = np.full(1000, 2**63 - 1)
    places, noisy = kept_keys(counts, order=1, scale=3.0, threshold=9)
    assert places.size == 1000
    assert noisy.min() > 2**62
    assert noisy.max() == 2**63 - 1


@pytest.mark.parametrize("change", [{"threshold": 0}, {"threshold": 1.5}, {"order": 0.5}, {"scale": 0.0}], ids=str)
def test_what_is_refused_is_refused_by_public_facts_whatever_the_data(change):
    messages = set()
    for counts in ([], [3], [0, 4, 9]):
        with pytest.raises(ArgumentError) as refused:
            kept_keys(np.array(counts, dtype=np.int64), **({"order": 1, "scale": 1.0, "threshold": 5} | change))
        messages.add(str(refused.value))
    assert len(messages) == 1
