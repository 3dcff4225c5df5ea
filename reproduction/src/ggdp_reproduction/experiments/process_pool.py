"""Tasks in one process or in several, with results that do not depend on how many.

A task is a function of itself and of what all tasks share. Workers are spawned, never forked, so that a task sees the
same state in each of them. They end at once when the call ends, by an error or an interruption too, and when the
process that started them is killed.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from ggdp.errors import GgdpError
from ggdp_reproduction.checks import integer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from multiprocessing.connection import Connection

__all__ = ["run_tasks"]

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")

# In a worker: the function, and what all tasks share.
_WORK: list[Any] = []


def run_tasks(
    function: Callable[[Shared, Task], Result],
    tasks: Sequence[Task],
    *,
    shared: Shared,
    workers: int = 1,
    on_result: Callable[[int, Result], None] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> list[Result]:
    """Return the results of all tasks, in their order.

    Parameters
    ----------
    function : callable
        A function of a module, called with `shared`, which every worker is given once, and a task.
    workers : int, default 1
        How many processes to use; with one, everything runs in this process.
    on_result : callable, optional
        Called with the index of a task and its result, as soon as it is finished.
    progress : callable, optional
        Called with the number of finished tasks and the number of all, after each.

    Raises
    ------
    GgdpError
        If a worker is killed, for example for lack of memory. An error of a task is raised as it is, with a note that
        names the task.

    Examples
    --------
    >>> run_tasks(pow, [1, 2, 3], shared=2)
    [2, 4, 8]
    """
    count = min(integer(workers=workers, at_least=1), len(tasks))
    found: dict[int, Result] = {}
    for index, result in _in_pool(function, tasks, shared, count) if count > 1 else _here(function, tasks, shared):
        found[index] = result
        if on_result is not None:
            on_result(index, result)
        if progress is not None:
            progress(len(found), len(tasks))
    return [found[index] for index in range(len(tasks))]


def _here(
    function: Callable[[Shared, Task], Result], tasks: Sequence[Task], shared: Shared
) -> Iterator[tuple[int, Result]]:
    for index, task in enumerate(tasks):
        with _named(task):
            result = function(shared, task)
        yield index, result


def _in_pool(
    function: Callable[[Shared, Task], Result], tasks: Sequence[Task], shared: Shared, workers: int
) -> Iterator[tuple[int, Result]]:
    """Yield the index of a task and its result, as they are finished."""
    context = multiprocessing.get_context("spawn")
    # Nothing is ever sent: workers end when the other end is closed, by this function or with this process.
    theirs, ours = context.Pipe(duplex=False)
    start = (theirs, function, shared)
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start, initargs=start)
    try:
        with _interrupts_blocked():
            indices = {pool.submit(_run, task): index for index, task in enumerate(tasks)}
        for future in as_completed(indices):
            index = indices[future]
            with _named(tasks[index]):
                result = future.result()
            yield index, result
    except BrokenProcessPool:
        message = (
            f"a worker process was killed, maybe for lack of memory; use fewer than workers = {workers}. What was "
            "finished is kept if a state file was given"
        )
        raise GgdpError(message) from None
    finally:
        ours.close()
        pool.shutdown(cancel_futures=True)
        theirs.close()


@contextmanager
def _named(task: object) -> Iterator[None]:
    """Add a note to an error that names the task."""
    try:
        yield
    except Exception as failure:
        failure.add_note(f"in the task {task!r}")
        raise


@contextmanager
def _interrupts_blocked() -> Iterator[None]:
    """Block interrupts inside the context; processes started in it never receive one from the terminal."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _start(parent: Connection, function: Callable[[Any, Any], object], shared: object) -> None:
    """Prepare a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    _WORK[:] = function, shared


def _end_with_parent(parent: Connection) -> None:
    """End this process, whatever it is doing, when the one that started it closes the pipe."""
    parent.poll(None)
    os._exit(1)


def _run(task: object) -> Any:  # noqa: ANN401 - whatever the function returns
    """Return the result of a task, in a worker."""
    function, shared = _WORK
    try:
        return function(shared, task)
    except Exception as failure:
        try:
            pickle.loads(pickle.dumps(failure))
        except Exception:
            # It cannot be sent as it is.
            raise RuntimeError("".join(traceback.format_exception(failure))) from None
        raise
