"""Utilities that move to one side: their losses by brute force over the probabilities."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

import ggdp
from ggdp.errors import ArgumentError
from ggdp.mechanisms import selection_probabilities
from ggdp.mechanisms.exponential_mechanism import _rate
from ggdp.noise import SeededSource


def losses(before, after, epsilon, *, monotonic):
    p = selection_probabilities(epsilon, 1.0, before, monotonic=monotonic)
    q = selection_probabilities(epsilon, 1.0, after, monotonic=monotonic)
    return np.abs(np.log(p / q))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_utilities_that_move_to_one_side_lose_epsilon_at_full_rate(epsilon):
    worst = 0.0
    for before in ((0, 0, 0), (0, 5, 9), (3, 3, 0), (0, 40, 40)):
        for rise in itertools.product((0.0, 0.5, 1.0), repeat=3):
            after = np.add(before, rise)
            worst = max(worst, losses(before, after, epsilon, monotonic=True).max())
    assert 0.99 * epsilon < worst <= epsilon * (1 + 1e-12)


def test_utilities_that_move_to_both_sides_lose_more_at_full_rate():
    assert losses((0, 12, 12), (1, 11, 11), 1.0, monotonic=True).max() > 1.9


def test_a_monotonic_mechanism_draws_with_twice_the_rate():
    assert _rate(1.0, 2.0, monotonic=True) == Fraction(1, 2) == 2 * _rate(1.0, 2.0)
    counts = ggdp.ExponentialMechanism(ggdp.PureDP(1.0), sensitivity=1, candidates=2, monotonic=True)
    seeded = [int(counts.release([0, 2], rng=SeededSource(seed=seed)).values) for seed in range(400)]
    # With probability 1 / (1 + e^2) = 0.119, where half the rate has 0.269: 400 draws tell the two apart.
    assert 20 < seeded.count(0) < 80
    assert counts.release([0, 2]).guarantee == ggdp.PureDP(1.0, "add-remove")
    assert "to one side" in counts.record.sensitivity


@pytest.mark.parametrize(
    ("how", "message"),
    [({"monotonic": True, "neighbours": "replace-one"}, "add-remove neighbours"), ({"monotonic": 1}, "monotonic = 1")],
)
def test_what_is_not_monotonic_is_refused(how, message):
    with pytest.raises(ArgumentError, match=message):
        ggdp.ExponentialMechanism(ggdp.PureDP(1.0), sensitivity=1, candidates=3, **how)
