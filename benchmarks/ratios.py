"""What one call costs over another: all are timed in turn, round after round, and compared within the rounds.

A busy machine then slows both sides of a ratio, and one slow round does not move the median of them. The time on the
clock is what a user waits for; the time of the processor leaves out the waiting for other programs, and is the same on
a quiet machine for calls that keep one core busy.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


@dataclass(frozen=True, slots=True)
class Times:
    """Times of a call in seconds, one a round."""

    clock: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)


def timed_in_turn(calls: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, Times]:
    """Time every call once a round, forwards and backwards by turns, after one of each that is not timed."""
    times = {name: Times() for name in calls}
    for call in calls.values():
        call()
    for i in range(rounds):
        for name in list(calls)[:: -1 if i % 2 else 1]:
            busy, start = time.process_time(), time.perf_counter()
            calls[name]()
            stop, done = time.perf_counter(), time.process_time()
            times[name].clock.append(stop - start)
            times[name].processor.append(done - busy)
    return times


def ratio(times: Sequence[float], base: Sequence[float]) -> dict[str, float]:
    """Return the median over the rounds of the ratio within a round, and the quartiles around it."""
    each = [a / b for a, b in zip(times, base, strict=True)]
    low, middle, high = statistics.quantiles(each, n=4, method="inclusive")
    return {"middle": middle, "low": low, "high": high}


def extra(times: Sequence[float], base: Sequence[float]) -> float:
    """Return the median over the rounds of what a call takes longer within a round."""
    return statistics.median(a - b for a, b in zip(times, base, strict=True))
