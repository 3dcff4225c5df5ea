"""How a call is timed here: the median of repeated runs, and imports in processes of their own."""

from __future__ import annotations

import signal
import statistics
import subprocess
import sys
import time
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

    Found = TypeVar("Found")

GOALS = {
    "epsilon 1, delta 1e-6": (1.0, 1e-6),
    "epsilon 0.1, delta 1e-9": (0.1, 1e-9),
    "epsilon 5, delta 0.01": (5.0, 0.01),
}
GRID = [(e, d) for e in (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0) for d in (1e-12, 1e-9, 1e-6, 1e-4, 1e-2, 0.1)]


def median_time(call: Callable[[], object], *, seconds: float = 1.0, most: int = 101) -> float:
    """Return the median time of a call, from as many runs as fit in `seconds`, at least three."""
    call()
    times: list[float] = []
    while len(times) < 3 or (sum(times) < seconds and len(times) < most):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def import_time(module: str) -> float:
    """Return the median time of an import in a fresh process, less that of starting Python."""

    def process(code: str) -> float:
        return median_time(lambda: subprocess.run([sys.executable, "-c", code], check=True), seconds=2.0, most=15)

    return max(process(f"import {module}") - process("pass"), 1e-6)


def calls_time(call: Callable[[], object], calls: int) -> float:
    """Return the median time of so many calls, after one that is not timed if there are several."""
    if calls > 1:
        call()
    times: list[float] = []
    for _ in range(calls):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


class TooLongError(Exception):
    """A call took more processor time than it was given."""


def processor_time(call: Callable[[], Found], *, most: float | None = None) -> tuple[Found, float]:
    """Return what a call returns, and the processor time of this one call; waiting for other programs is not in it.

    Raises
    ------
    TooLongError
        If the call needs more than `most` seconds.
    """

    def stop(*_: object) -> None:
        raise TooLongError

    if most is not None:
        signal.signal(signal.SIGPROF, stop)
        signal.setitimer(signal.ITIMER_PROF, most)
    try:
        # The clock of the process is coarse while its timer runs; that of the thread is not.
        start = time.thread_time()
        found = call()
        return found, time.thread_time() - start
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
