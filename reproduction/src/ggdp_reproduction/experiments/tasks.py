"""Tasks in one process or in several, by joblib, with results that do not depend on how many.

Processes are started anew, never forked, so that a task sees the same state in each of them. They end when a call fails
or is interrupted, and when the process that started them is killed.
"""

from __future__ import annotations

import os
import pickle
import signal
import threading
import time
import traceback
import warnings
from concurrent.futures.process import BrokenProcessPool
from typing import TYPE_CHECKING, TypeVar

from ggdp.errors import GgdpError
from ggdp_reproduction.checks import integer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")
SECONDS = 0.2
# The process that cleans up after workers may be interrupted with them, and then warns of what it cleans.
QUIET = "ignore:resource_tracker"


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
        A function of a module, called with `shared` and a task.
    workers : int, default 1
        How many processes to use; with one, everything runs in this process.
    on_result : callable, optional
        Called with the index of a task and its result, as soon as it is finished.
    progress : callable, optional
        Called with the number of finished tasks and the number of all, after each.

    Raises
    ------
    GgdpError
        If a process is killed, for example for lack of memory. An error of a task is raised as it is, with a note that
        names the task.
    """
    from joblib import Parallel, delayed

    count = min(integer(workers=workers, at_least=1), max(len(tasks), 1))
    processes = {"backend": "loky", "initializer": _start, "initargs": (os.getpid(),)} if count > 1 else {}
    if count > 1 and QUIET not in (given := os.environ.get("PYTHONWARNINGS", "")):
        os.environ["PYTHONWARNINGS"] = f"{given},{QUIET}" if given else QUIET
    run = Parallel(n_jobs=count, return_as="generator_unordered", batch_size=1, **processes)
    results = run(delayed(_finished)(function, shared, *task) for task in enumerate(tasks))
    found: dict[int, Result] = {}
    try:
        for index, result in results:
            found[index] = result
            if on_result is not None:
                on_result(index, result)
            if progress is not None:
                progress(len(found), len(tasks))
    except BrokenProcessPool:
        raise GgdpError(
            f"a worker process was killed, maybe for lack of memory; use fewer than workers = {count}. What was "
            "finished is kept if a state file was given"
        ) from None
    finally:
        with warnings.catch_warnings():
            # What was not waited for is ended, as it should be.
            warnings.simplefilter("ignore")
            results.close()
    return [found[index] for index in range(len(tasks))]


def _start(parent: int) -> None:
    """Prepare a process: the terminal does not interrupt it, and it ends with the one that started it."""

    def end_with_parent() -> None:
        while os.getppid() == parent:
            time.sleep(SECONDS)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()


def _finished(function: Callable[[Shared, Task], Result], shared: Shared, index: int, task: Task) -> tuple[int, Result]:
    """Return the index of a task and its result; an error names the task, and is one that can be sent."""
    try:
        return index, function(shared, task)
    except Exception as failure:
        failure.add_note(f"in the task {task!r}")
        try:
            pickle.loads(pickle.dumps(failure))
        except Exception:
            raise RuntimeError("".join(traceback.format_exception(failure))) from None
        raise
