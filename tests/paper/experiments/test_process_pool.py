import multiprocessing
import os
import signal
import subprocess
import sys
import threading
from contextlib import closing
from pathlib import Path

import pytest

from ggdp.errors import ArgumentError, GgdpError
from ggdp.paper.experiments.process_pool import _signals_held, completed


def where(shared, task):
    return shared, task, os.getpid()


def ended(_, task):
    if task == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def refused(_, task):
    raise ArgumentError("task", task, "is refused")


def at_its_end(_, task):
    raise EOFError(task)


class UnsendableError(Exception):
    def __init__(self, first, second):
        super().__init__(f"{first} and {second}")


def unsendable(_, task):
    raise UnsendableError(task, task)


def marked(folder, name):
    """Leave a mark; all but the first task never end."""
    (folder / name).touch()
    if name != "0":
        signal.pause()


def announced(_, task):
    """Tell that a task has begun, which never ends."""
    os.write(1, f"{task} {os.getpid()}\n".encode())
    signal.pause()


def interrupting(number):
    """Take a signal in a thread that holds none, as one that was there before."""
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
    signal.raise_signal(number)


# A caller with two workers, as a program of its own.
CALLER = """
import signal
from contextlib import closing
# Whoever runs the tests in the background may have them ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
from tests.paper.experiments.test_process_pool import announced, completed
with closing(completed(announced, list("abcd"), shared=None, workers=2)) as results:
    try:
        list(results)
    except KeyboardInterrupt:
        raise SystemExit(130)
"""


def begun():
    """Start the caller, and return it once both workers are at a task."""
    caller = subprocess.Popen(
        [sys.executable, "-c", CALLER],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env=os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])},
    )
    started = dict(caller.stdout.readline().split() for _ in range(2))
    assert set(started) == {"a", "b"}
    return caller, [int(number) for number in started.values()]


def test_one_worker_is_this_process_and_keeps_the_order():
    found = list(completed(where, ["a", "b"], shared=3, workers=1))
    assert found == [(0, (3, "a", os.getpid())), (1, (3, "b", os.getpid()))]


def test_several_workers_do_every_task_once_elsewhere():
    found = dict(completed(where, ["a", "b", "c"], shared=3, workers=2))
    assert {place: result[:2] for place, result in found.items()} == {0: (3, "a"), 1: (3, "b"), 2: (3, "c")}
    assert os.getpid() not in {result[2] for result in found.values()}


def test_no_tasks_are_no_results():
    assert list(completed(where, [], shared=None, workers=2)) == []


def test_an_error_of_a_task_is_the_callers():
    with pytest.raises(ArgumentError, match="task = 0"):
        list(completed(refused, [0, 0], shared=None, workers=2))


def test_a_worker_that_is_killed_is_told_and_not_waited_for():
    with pytest.raises(GgdpError, match="fewer than workers = 2"):
        list(completed(ended, [0, 0, 0], shared=None, workers=2))


@pytest.mark.parametrize("task", ["a", "b"])
def test_an_error_that_looks_like_a_closed_pipe_is_the_tasks_own(task):
    with pytest.raises(EOFError, match=task):
        list(completed(at_its_end, [task, task], shared=None, workers=2))


def test_an_error_that_cannot_be_sent_is_told_in_words():
    with pytest.raises(RuntimeError, match="UnsendableError: 7 and 7"):
        list(completed(unsendable, [7, 7], shared=None, workers=2))


def test_what_is_running_is_ended_and_nothing_more_is_begun_once_the_results_are_closed(tmp_path):
    before = multiprocessing.active_children()
    with closing(completed(marked, [str(place) for place in range(200)], shared=tmp_path, workers=2)) as results:
        next(results)
    assert multiprocessing.active_children() == before
    # The first, and at most one more for each worker.
    assert len(list(tmp_path.iterdir())) <= 3


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_waits_for_the_end_of_a_step_even_if_another_thread_takes_it(number):
    done, came = [], []
    before = signal.signal(number, lambda *_: came.append(len(done)))
    try:
        with _signals_held():
            other = threading.Thread(target=interrupting, args=(number,))
            other.start()
            other.join()
            done.append("step")
        assert came == [1]
    finally:
        signal.signal(number, before)
    assert not signal.pthread_sigmask(signal.SIG_BLOCK, []) & {signal.SIGINT, signal.SIGTERM}


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal")
def test_an_interruption_from_the_terminal_ends_all_and_prints_nothing():
    caller, workers = begun()
    os.killpg(caller.pid, signal.SIGINT)
    said = caller.communicate(timeout=60)
    assert (said, caller.returncode) == (("", ""), 130)
    for worker in workers:
        with pytest.raises(ProcessLookupError):
            os.kill(worker, 0)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of a terminal")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_workers_end_with_a_caller_that_is_ended_and_print_nothing(number):
    caller, _ = begun()
    caller.send_signal(number)
    # The workers hold the same pipes: they are read to their end only when the workers are gone too.
    said = caller.communicate(timeout=60)
    assert (said, caller.returncode) == (("", ""), -number)


def test_workers_must_be_a_number_of_processes():
    with pytest.raises(ArgumentError, match="workers = 0"):
        list(completed(where, [1], shared=None, workers=0))
