"""The observer of the timing benchmark: it sees what is there, and its idea of chance is the Smirnov law's."""

from __future__ import annotations

import math

import numpy as np
import pytest
from benchmarks.observer import advantage, chance, observed
from scipy.special import kolmogi
from scipy.stats import ks_2samp


def test_advantage_is_one_when_large_noise_always_takes_longer():
    sizes = np.arange(1000)
    assert advantage(sizes, sizes, 0.5)["advantage"] == 1.0


def test_advantage_is_zero_when_all_times_are_equal():
    assert advantage(np.full(1000, 7), np.arange(1000), 0.5)["advantage"] == 0.0


@pytest.mark.parametrize("quantile", [0.5, 0.9])
def test_advantage_is_the_two_sample_kolmogorov_smirnov_statistic(quantile):
    generator = np.random.default_rng(3)
    sizes = generator.permutation(1000)
    # Ties, as clocks give them.
    times = generator.integers(0, 40, 1000) + sizes // 100
    large = sizes > np.quantile(sizes, quantile)
    exact = ks_2samp(times[large], times[~large], method="asymp").statistic
    assert advantage(times, sizes, quantile)["advantage"] == pytest.approx(exact, rel=1e-12)


def test_advantage_counts_the_large_and_says_how_much_longer_they_take():
    sizes = np.arange(100)
    found = advantage(np.where(sizes >= 60, 5000, 2000), sizes, 0.595)
    assert (found["large"], found["advantage"]) == (41, pytest.approx(1.0 - 1.0 / 41.0))
    assert found["delay"] == pytest.approx(3e-6)


def test_too_few_large_ones_are_not_judged():
    assert advantage(np.arange(1000), np.arange(1000), 0.999) is None


def test_chance_is_the_quantile_of_the_smirnov_law():
    assert chance(1000, 500) == pytest.approx(kolmogi(1e-3) * math.sqrt(1500 / 500_000), rel=1e-6)


class _Clock:
    """Stands still but for what a call adds to it."""

    def __init__(self) -> None:
        self.now = 0

    def perf_counter_ns(self) -> int:
        return self.now


def test_a_call_whose_time_grows_with_its_noise_is_seen_and_one_whose_time_does_not_is_not(monkeypatch):
    clock, generator = _Clock(), np.random.default_rng(4)
    monkeypatch.setattr("benchmarks.observer.time", clock)

    def leaking() -> int:
        noise = int(generator.integers(-50, 51))
        clock.now += 100 + abs(noise)
        return noise

    def silent() -> int:
        clock.now += int(generator.integers(100, 200))
        return int(generator.integers(-50, 51))

    found = observed({"leaking": (leaking, 2000), "silent": (silent, 2000)})
    assert found["leaking"]["draws"] == 2000
    assert found["leaking"]["0.5"]["advantage"] == 1.0
    assert found["silent"]["0.5"]["advantage"] < found["silent"]["0.5"]["chance"]
