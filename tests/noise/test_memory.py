"""Large draws take hardly more memory than what they return."""

import tracemalloc

import numpy as np
import pytest

import ggdp
from ggdp.noise import BoundaryInflatedIntegerNoise, ConditionalNoise, TruncatedIntegerNoise

SIZE = 3_000_000
COUNTS = np.arange(SIZE) % 101
REALS = COUNTS / 7.0
BOUNDS = {"order": 3.0, "scale": 30.0, "lower": 0, "upper": 100}


def mechanism(support):
    calibration = ggdp.calibrate(ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1), order=1, support=support)
    return ggdp.Mechanism(calibration)


PATHS = {
    "table": lambda: ggdp.IntegerNoise(order=3, scale=10.0).sample(SIZE),
    "rejection": lambda: ggdp.IntegerNoise(order=1, scale=1e9).sample(SIZE),
    "seeded": lambda: ggdp.IntegerNoise(order=3, scale=10.0).sample(SIZE, rng=ggdp.SeededSource(seed=1)),
    "at least 0": lambda: ConditionalNoise(order=3, scale=10.0, threshold=0).sample(SIZE),
    "tail": lambda: ConditionalNoise(order=3, scale=10.0, threshold=40).sample(SIZE),
    "truncated": lambda: TruncatedIntegerNoise(**BOUNDS).around(COUNTS),
    "boundary-inflated": lambda: BoundaryInflatedIntegerNoise(**BOUNDS).around(COUNTS),
    "release of integers": lambda: mechanism("integer").release(COUNTS).values,
    "release of reals": lambda: mechanism("real").release(REALS).values,
}


@pytest.mark.parametrize("path", PATHS)
def test_the_peak_is_at_most_1_3_times_what_is_returned(path):
    draw = PATHS[path]
    draw()
    tracemalloc.start()
    try:
        size = draw().nbytes
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size == 8 * SIZE
    assert size <= peak <= 1.3 * size


def test_the_measure_sees_a_copy():
    tracemalloc.start()
    try:
        first = COUNTS + 1
        size = (first * 2).nbytes
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak > 1.5 * size
