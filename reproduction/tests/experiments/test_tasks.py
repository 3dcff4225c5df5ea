import multiprocessing
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from ggdp.errors import ArgumentError, GgdpError
from ggdp_reproduction.experiments.tasks import run_tasks


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
    """Announce that a task has begun, and never end."""
    os.write(1, f"{task} {os.getpid()}\n".encode())
    signal.pause()


# A caller with two workers, as a program of its own.
CALLER = """
import signal
# Tests that run in the background may inherit that it is ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
from reproduction.tests.experiments.test_tasks import announced, run_tasks
try:
    run_tasks(announced, list("abcd"), shared=None, workers=2)
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
        env=os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[3]), *sys.path])},
    )
    started = dict(caller.stdout.readline().split() for _ in range(2))
    assert set(started) == {"a", "b"}
    return caller, [int(number) for number in started.values()]


def test_one_worker_is_this_process_and_keeps_the_order():
    came = []
    found = run_tasks(where, ["a", "b"], shared=3, workers=1, on_result=lambda *result: came.append(result))
    assert found == [(3, "a", os.getpid()), (3, "b", os.getpid())]
    assert came == list(enumerate(found))


def test_several_workers_do_every_task_once_elsewhere():
    found = run_tasks(where, ["a", "b", "c"], shared=3, workers=2)
    assert [result[:2] for result in found] == [(3, "a"), (3, "b"), (3, "c")]
    assert os.getpid() not in {result[2] for result in found}


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_counts_the_tasks(workers):
    told = []
    run_tasks(where, ["a", "b", "c"], shared=3, workers=workers, progress=lambda *done: told.append(done))
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_no_tasks_are_no_results():
    assert run_tasks(where, [], shared=None, workers=2) == []


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_a_task_is_the_callers_and_names_the_task(workers):
    with pytest.raises(ArgumentError, match="task = 7") as error:
        run_tasks(refused, [7, 7], shared=None, workers=workers)
    assert error.value.__notes__ == ["in the task 7"]


def test_a_worker_that_is_killed_is_reported_and_not_waited_for():
    with pytest.raises(GgdpError, match="fewer than workers = 2"):
        run_tasks(ended, [0, 0, 0], shared=None, workers=2)


@pytest.mark.parametrize("task", ["a", "b"])
def test_an_error_that_looks_like_a_closed_pipe_is_the_tasks_own(task):
    with pytest.raises(EOFError, match=task):
        run_tasks(at_its_end, [task, task], shared=None, workers=2)


def test_an_error_that_cannot_be_sent_is_told_in_words():
    with pytest.raises(RuntimeError, match="UnsendableError: 7 and 7"):
        run_tasks(unsendable, [7, 7], shared=None, workers=2)


def stopped(*_):
    raise KeyboardInterrupt


def test_what_is_running_is_ended_and_nothing_more_is_begun_once_the_caller_is_interrupted(tmp_path):
    before = multiprocessing.active_children()
    with pytest.raises(KeyboardInterrupt):
        run_tasks(marked, [str(place) for place in range(200)], shared=tmp_path, workers=2, on_result=stopped)
    assert multiprocessing.active_children() == before
    # The first, and at most one more for each worker.
    assert len(list(tmp_path.iterdir())) <= 3


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
def test_workers_end_with_a_caller_that_is_killed(number):
    caller, _ = begun()
    caller.send_signal(number)
    # The workers hold the same pipes: they are read to their end only when the workers are gone too.
    out, err = caller.communicate(timeout=60)
    assert (out, caller.returncode) == ("", -number)
    # Python itself may warn of semaphores that the caller left behind.
    assert "Traceback" not in err


def test_workers_must_be_a_number_of_processes():
    with pytest.raises(ArgumentError, match="workers = 0"):
        run_tasks(where, [1], shared=None, workers=0)
