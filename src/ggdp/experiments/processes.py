"""The same work by one process or by several, with results that do not tell which.

A task is a function of itself and of what all tasks share; workers are started afresh (never forked), so that a task
sees the same state in any of them. Results come as they are finished, each with the place of its task.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, Any, TypeVar

from ggdp import _validate
from ggdp.errors import GgdpError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Sequence

__all__ = ["completed"]

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")

_shared: Any = None


def completed(
    function: Callable[[Shared, Task], Result], tasks: Sequence[Task], *, shared: Shared, workers: int = 1
) -> Generator[tuple[int, Result], None, None]:
    """Yield (place of a task, its result) as they are finished; with one worker, in this process and in order.

    Parameters
    ----------
    function : callable
        A function of a module, called with `shared` and a task.
    tasks : sequence
        The tasks.
    shared : object
        What every worker is given once.
    workers : int, default 1
        How many processes to run.

    Notes
    -----
    A caller that stops early closes the generator (`contextlib.closing`): no further task is then begun.

    Raises
    ------
    GgdpError
        If a worker is ended from outside, such as for want of memory.

    Examples
    --------
    >>> dict(completed(pow, [1, 2, 3], shared=2))
    {0: 2, 1: 4, 2: 8}
    """
    count = min(_validate.integer(workers=workers, at_least=1), len(tasks))
    if count <= 1:
        yield from ((place, function(shared, task)) for place, task in enumerate(tasks))
        return
    pool = ProcessPoolExecutor(
        count, mp_context=multiprocessing.get_context("spawn"), initializer=_begin, initargs=(shared,)
    )
    places: dict[Future[Result], int] = {}
    try:
        for place, task in enumerate(tasks):
            places[pool.submit(_call, function, task)] = place
        for future in as_completed(places):
            yield places[future], future.result()
    except BaseException as error:
        # One by one: the pool's own cancelling is forgotten if the pool is, before its thread has looked. What runs
        # ends by itself, or with the terminal's signal.
        for future in places:
            future.cancel()
        pool.shutdown(wait=False)
        if not isinstance(error, BrokenProcessPool):
            raise
        message = (
            f"a worker process was ended from outside, maybe for want of memory; try fewer than workers = {workers}. "
            "What was finished is kept where a state file was given"
        )
        raise GgdpError(message) from None
    pool.shutdown()


def _begin(shared: object) -> None:
    """Prepare a worker."""
    global _shared
    _shared = shared
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that started it is gone: nobody is left to take results."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _call(function: Callable[[Any, Task], Result], task: Task) -> Result:
    return function(_shared, task)
