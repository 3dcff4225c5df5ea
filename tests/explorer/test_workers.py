"""Workers: results, errors, progress, and calls that nobody waits for any more."""

import asyncio
import gc
import os

import pytest
from tests.explorer.awaiting import awaited

from ggdp.errors import ArgumentError
from ggdp.explorer.workers import StoppedError, Worker


def doubled(number):
    return 2 * number


def refused(value):
    raise ArgumentError("epsilon", value, "must be larger")


def ended():
    os._exit(1)


def process():
    return os.getpid()


def counted(steps, progress):
    for step in range(steps):
        sum(range(200_000))
        progress(step + 1, steps)
    return steps


def counted_to_its_end(steps, file, progress):
    counted(steps, progress)
    file.write_text("all of it")


@pytest.fixture(scope="module")
def worker():
    made = Worker()
    yield made
    made.close()


@pytest.fixture(scope="module")
def reporting():
    made = Worker(reports=True)
    yield made
    made.close()


def test_a_call_runs_in_another_process_and_errors_come_back_as_they_are(worker):
    assert awaited(worker.run(doubled, 21)) == 42
    assert awaited(worker.run(process)) != os.getpid()
    with pytest.raises(ArgumentError, match="epsilon = 3: must be larger"):
        awaited(worker.run(refused, 3))


def test_a_process_that_ended_is_said_so_and_replaced(worker):
    with pytest.raises(StoppedError, match="stopped by the system"):
        awaited(worker.run(ended))
    assert awaited(worker.run(doubled, 1)) == 2


def test_progress_is_told(reporting):
    told = []
    assert awaited(reporting.run(counted, 300, progress=lambda *steps: told.append(steps))) == 300
    assert told
    assert all(0 <= done <= 300 for done, _ in told)
    assert told == sorted(told)


def test_a_call_that_nobody_waits_for_is_stopped_before_the_next_one(reporting, tmp_path):
    file = tmp_path / "end"

    async def moved_on():
        begun = asyncio.Event()
        task = asyncio.create_task(reporting.run(counted_to_its_end, 600, file, progress=lambda *_: begun.set()))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return await reporting.run(counted, 1)

    assert awaited(moved_on()) == 1
    assert not file.exists()


def test_what_is_loaded_is_not_looked_through_for_garbage_again(worker):
    awaited(worker.run(doubled, 1))
    # Far more objects than a call makes.
    assert awaited(worker.run(gc.get_freeze_count)) > 10_000


def test_a_worker_that_is_closed_stops_its_call_and_waits_for_the_process(tmp_path):
    async def closed():
        worker, begun = Worker(reports=True), asyncio.Event()
        call = asyncio.create_task(
            worker.run(counted_to_its_end, 1_000, tmp_path / "end", progress=lambda *_: begun.set())
        )
        await begun.wait()
        worker.close()
        with pytest.raises(StoppedError):
            await call

    awaited(closed())
    assert not (tmp_path / "end").exists()
