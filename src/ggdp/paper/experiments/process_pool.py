"""The same work by one process or by several, with results that do not tell which.

A task is a function of itself and of what all tasks share; workers are started afresh (never forked), so that a task
sees the same state in any of them. Results come as they are finished, each with the place of its task.

Each worker has a pipe of its own and one task at a time, and there are no threads on the caller's side: whatever ends
the caller's interest, an interruption included, ends the workers at once. A worker does not listen to the terminal's
interruption, which reaches it too: its caller decides. It ends by itself when its caller is gone.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from contextlib import contextmanager, suppress
from multiprocessing import connection, resource_tracker
from typing import TYPE_CHECKING, Any, TypeVar

from ggdp._validate import integer
from ggdp.errors import GgdpError

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Sequence

__all__ = ["completed"]

Shared = TypeVar("Shared")
Task = TypeVar("Task")
Result = TypeVar("Result")

# Windows has neither masks of signals nor the same signals.
_HELD = {signal.SIGINT, signal.SIGTERM} if hasattr(signal, "pthread_sigmask") else set()


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
    A caller that stops early closes the generator (`contextlib.closing`): the workers are then ended, with whatever
    they were at, and waited for.

    Raises
    ------
    GgdpError
        If a worker is ended from outside, such as for want of memory.

    Examples
    --------
    >>> dict(completed(pow, [1, 2, 3], shared=2))
    {0: 2, 1: 4, 2: 8}
    """
    count = min(integer(workers=workers, at_least=1), len(tasks))
    if count <= 1:
        yield from ((place, function(shared, task)) for place, task in enumerate(tasks))
        return
    common = pickle.dumps((function, shared))
    team: list[_Worker] = []
    try:
        # It starts with the first worker otherwise, and lets go of the signals that are held meanwhile.
        if _HELD:
            resource_tracker.ensure_running()
        for _ in range(count):
            with _signals_held():
                team.append(_Worker())
        waiting = iter(enumerate(tasks))
        for worker in team:
            worker.send(common)
            worker.give(waiting)
        while busy := {worker.pipe: worker for worker in team if worker.place is not None}:
            for pipe in connection.wait(list(busy)):
                worker = busy[pipe]  # type: ignore[index]  # `wait` gives back what it was given
                place, result = worker.take()
                worker.give(waiting)
                yield place, result
    except _WorkerEndedError:
        message = (
            f"a worker process was ended from outside, maybe for want of memory; try fewer than workers = {workers}. "
            "What was finished is kept where a state file was given"
        )
        raise GgdpError(message) from None
    finally:
        with _signals_held():
            for worker in team:
                worker.end()


class _WorkerEndedError(Exception):
    """A worker is not there any more."""


class _Worker:
    """A process, the pipe to it, and the place of the task that it is at."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.place: int | None = None
        # What is handed over here is small, so that starting never waits for the new process to read it.
        self._process = context.Process(target=_work, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, waiting: Iterator[tuple[int, object]]) -> None:
        """Send the next task, if there is one."""
        self.place, task = next(waiting, (None, None))
        if self.place is not None:
            self.send(pickle.dumps(task))

    def send(self, message: bytes) -> None:
        try:
            self.pipe.send_bytes(message)
        except OSError:
            raise _WorkerEndedError from None

    def take(self) -> tuple[int, Any]:
        """Return the place of the task that is done and its result, or raise its error."""
        try:
            answer = self.pipe.recv_bytes()
        except (EOFError, OSError):
            raise _WorkerEndedError from None
        assert self.place is not None
        result, failure = pickle.loads(answer)
        if failure is not None:
            raise failure
        return self.place, result

    def end(self) -> None:
        # It has nothing to put in order, and may be deep in a library that looks at no other signal.
        self._process.kill()
        self._process.join()
        self._process.close()
        self.pipe.close()


@contextmanager
def _signals_held() -> Iterator[None]:
    """Let interruptions wait; a process that is started meanwhile begins with them waiting too."""
    if not _HELD:
        yield
        return
    came: list[int] = []
    handlers = {}
    # The mask is for the new process. In this one another thread, of a library, may take a signal that is held here.
    if threading.current_thread() is threading.main_thread():
        handlers = {number: signal.signal(number, lambda number, _: came.append(number)) for number in _HELD}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _HELD)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            # None stands for one that Python has not set and cannot set again.
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for one in came:
            signal.raise_signal(one)


def _work(pipe: Any) -> None:  # noqa: ANN401 - its type differs between platforms and versions
    """Do task after task, in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    if _HELD:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _HELD)
    # Where the pipe is closed, nobody is left to take results.
    with suppress(EOFError, OSError):
        common = pipe.recv_bytes()
        known: tuple[Callable[[Any, Any], object], object] | None = None
        while True:
            task = pipe.recv_bytes()
            try:
                known = known or pickle.loads(common)
                function, shared = known
                answer = pickle.dumps((function(shared, pickle.loads(task)), None))
            except Exception as failure:
                # Whatever it is, it is the caller's.
                answer = _as_answer(failure)
            pipe.send_bytes(answer)


def _as_answer(failure: Exception) -> bytes:
    """Return an error as it is sent, with what a reader needs to find its cause."""
    failure.add_note(f"in a worker process:\n{traceback.format_exc()}")
    try:
        answer = pickle.dumps((None, failure))
        pickle.loads(answer)
    except Exception:
        # An error may hold anything.
        return pickle.dumps((None, RuntimeError("".join(traceback.format_exception(failure)))))
    return answer


def _end_with_parent() -> None:
    """End this process when the one that started it is gone: nobody is left to take results."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
