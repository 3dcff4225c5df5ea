"""What somebody learns about noise who only sees how long drawing it took.

The observer's advantage is the largest difference, over all times t, between the probability that large noise takes
longer than t and the probability that small noise does. It is 0 when time says nothing and 1 when it says all. Measured
on n and m draws it is the two-sample Kolmogorov-Smirnov statistic, which chance alone lifts above `chance(n, m)` once
in a thousand times; an advantage below that is not seen by this measurement, which is not to say that there is none.
"""

from __future__ import annotations

import gc
import math
import random
import time
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

_BLOCK = 500
_WARM_UP = 200
_FALSE_ALARM = 1e-3
# Noise above these quantiles of its size is "large"; the rest is "small".
QUANTILES = (0.5, 0.999)


def chance(n: int, m: int) -> float:
    """Return what the advantage exceeds once in a thousand times when time says nothing (Smirnov's limit law)."""
    return math.sqrt(-0.5 * math.log(_FALSE_ALARM / 2.0)) * math.sqrt((n + m) / (n * m))


def advantage(times: NDArray[Any], sizes: NDArray[Any], quantile: float) -> dict[str, float] | None:
    """Return the advantage in telling sizes above their quantile from the others; None if there are hardly any."""
    large = sizes > np.quantile(sizes, quantile)
    slow, fast = np.sort(times[large]), np.sort(times[~large])
    if min(slow.size, fast.size) < 20:
        return None
    at = np.unique(times)
    gap = np.searchsorted(slow, at, side="right") / slow.size - np.searchsorted(fast, at, side="right") / fast.size
    return {
        "advantage": float(np.max(np.abs(gap))),
        "chance": chance(slow.size, fast.size),
        "large": int(slow.size),
        "delay": float(np.median(slow) - np.median(fast)) * 1e-9,
    }


def observed(calls: Mapping[str, tuple[Callable[[], Any], int]]) -> dict[str, dict[str, Any]]:
    """Time calls that return what is to be guessed, each as often as it says, and judge what the times tell of it.

    The blocks of calls come in random order. The size of an array of noise is the sum of its absolute values.
    """
    times: dict[str, list[int]] = {name: [] for name in calls}
    sizes: dict[str, list[float]] = {name: [] for name in calls}
    blocks = [name for name, (_, count) in calls.items() for _ in range(math.ceil(count / _BLOCK))]
    random.shuffle(blocks)
    for call, _ in calls.values():
        for _ in range(_WARM_UP):
            call()
    gc.collect()
    gc.disable()
    clock = time.perf_counter_ns
    for name in blocks:
        call = calls[name][0]
        call()
        for _ in range(_BLOCK):
            start = clock()
            noise = call()
            stop = clock()
            times[name].append(stop - start)
            sizes[name].append(float(np.abs(noise).sum()))
    gc.enable()
    return {
        name: {
            "draws": len(times[name]),
            "time": float(np.median(times[name])) * 1e-9,
            **{str(q): advantage(np.array(times[name]), np.array(sizes[name]), q) for q in QUANTILES},
        }
        for name in calls
    }
