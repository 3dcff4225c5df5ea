"""Computing beside the server, so that the page never waits: two processes, one for quick and one for long work.

Processes and not threads: the precision of flint is one number for a whole process, guarded by a lock that long proofs
hold, and matplotlib draws in one thread. The quick process draws what a moved slider shows; searches and proofs
that take seconds run in the long one and never stand in its way.

What is computed is a function of a module with arguments that can be pickled. A long function takes a keyword
argument `progress`, which it calls with the steps done and about how many there are. A call that nobody waits for any
more, because a slider has moved on, is dropped, or stopped at its next step.
"""

from __future__ import annotations

import asyncio
import gc
import itertools
import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from functools import partial
from importlib import import_module
from typing import Any, TypeVar

from ggdp.errors import GgdpError

_T = TypeVar("_T")
# How many calls that nobody waits for are remembered; more than one can hardly be queued in a process.
_REMEMBERED = 64
# Loaded once, in a process that the workers are forked from; where there is no such process, in each of them.
_WARM = ("ggdp.explorer.views.noise_view", "matplotlib.backends.backend_svg")
_START = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"


class StoppedError(GgdpError):
    """A computation ended without a result, for no fault of its arguments."""


class Worker:
    """A process that computes one call after the other; with `reports`, its functions take `progress`."""

    def __init__(self, *, reports: bool = False) -> None:
        self.reports = reports
        self._context: Any = multiprocessing.get_context(_START)
        if _START == "forkserver":
            self._context.set_forkserver_preload(list(_WARM))
        self._dropped = self._context.Array("q", _REMEMBERED)
        # The call that is running, the steps it has done, and about how many there are.
        self._steps = self._context.Array("q", 3)
        self._numbers = itertools.count(1)
        self._running: set[int] = set()
        self._pool = self._start()

    def _start(self) -> ProcessPoolExecutor:
        shared = (self._dropped, self._steps)
        return ProcessPoolExecutor(1, mp_context=self._context, initializer=_prepare, initargs=shared)

    def warm_up(self) -> None:
        """Start the process and load what it needs, without waiting for it."""
        self._pool.submit(_load)

    async def run(
        self, function: Callable[..., _T], *arguments: object, progress: Callable[[int, int], None] | None = None
    ) -> _T:
        """Return what a function returns; if the caller is cancelled, the call is dropped or stopped.

        A `StoppedError` is raised if the process ended, as when memory runs out.
        """
        number, pool = next(self._numbers), self._pool
        self._running.add(number)
        task = partial(_call, number, function, arguments, self.reports)
        try:
            call: Future[_T] = pool.submit(task)
        except BrokenProcessPool:
            pool = self._replace(pool)
            call = pool.submit(task)
        waiting = asyncio.wrap_future(call)
        try:
            while True:
                done, _ = await asyncio.wait({waiting}, timeout=None if progress is None else 0.15)
                if done:
                    return waiting.result()
                running, steps, expected = self._steps[:]
                if running == number and progress is not None:
                    progress(steps, expected)
        except asyncio.CancelledError:
            self._drop(number)
            call.cancel()
            raise
        except BrokenProcessPool:
            self._replace(pool)
            message = "the computation was stopped by the system, perhaps for lack of memory; try smaller numbers"
            raise StoppedError(message) from None
        finally:
            self._running.discard(number)

    def _replace(self, broken: ProcessPoolExecutor) -> ProcessPoolExecutor:
        """Return the process of now; a new one, if it is the one that ended and no other call has replaced it yet."""
        if self._pool is broken:
            self._pool = self._start()
        return self._pool

    def _drop(self, number: int) -> None:
        """Have a call stop at its next step."""
        self._dropped[number % _REMEMBERED] = number

    def close(self) -> None:
        """Stop the process, and wait for it; a call that is running is stopped at its next step."""
        for number in self._running:
            self._drop(number)
        # Without waiting, Python 3.11 may complain of a closed pipe when the program ends.
        self._pool.shutdown(wait=True, cancel_futures=True)


_shared: dict[str, Any] = {}


def _prepare(dropped: Any, steps: Any) -> None:  # noqa: ANN401 - arrays shared between processes
    """Prepare a new process: it ends with its parent, and writes nothing, since an error may quote data."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115 - for as long as the process lives
    _shared.update(dropped=dropped, steps=steps)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    if (parent := multiprocessing.parent_process()) is not None:
        parent.join()
    os._exit(0)


def _load() -> None:
    for name in _WARM:
        import_module(name)
    keep_loaded()


def keep_loaded() -> None:
    """Leave out of garbage collections what is there now, if modules were loaded since the last time.

    A figure makes so many objects that a collection is due for most of them, and one that looks through all modules
    again takes as long as the figure.
    """
    if _shared.get("modules") != len(sys.modules):
        _shared["modules"] = len(sys.modules)
        gc.freeze()


def _call(number: int, function: Callable[..., _T], arguments: tuple[object, ...], reports: bool) -> _T:
    def tell(done: int, expected: int) -> None:
        if number in _shared["dropped"][:]:
            raise StoppedError("nobody waits for this any more")
        _shared["steps"][:] = [number, done, expected]

    tell(0, 0)
    try:
        return function(*arguments, progress=tell) if reports else function(*arguments)
    finally:
        keep_loaded()
