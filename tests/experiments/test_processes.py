import multiprocessing
import os
import signal
from contextlib import closing

import pytest

from ggdp.errors import ArgumentError, GgdpError
from ggdp.experiments.processes import completed


def where(shared, task):
    return shared, task, os.getpid()


def ended(_, task):
    if task == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    return task


def refused(_, task):
    raise ArgumentError("task", task, "is refused")


def marked(folder, name):
    """Leave a mark; all but the first task go on only when the caller has closed the results."""
    (folder / name).touch()
    while name != "0" and not (folder / "closed").exists():
        pass


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


def test_nothing_more_is_begun_once_the_results_are_closed(tmp_path):
    with closing(completed(marked, [str(place) for place in range(200)], shared=tmp_path, workers=2)) as results:
        next(results)
    (tmp_path / "closed").touch()
    for worker in multiprocessing.active_children():
        worker.join()
    # What was running, and what had been handed over already.
    assert len(list(tmp_path.iterdir())) < 10


def test_workers_must_be_a_number_of_processes():
    with pytest.raises(ArgumentError, match="workers = 0"):
        list(completed(where, [1], shared=None, workers=0))
