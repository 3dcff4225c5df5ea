"""Balls in several threads: the precision of one is not that of another."""

import ast
import contextlib
import ctypes
import os
import signal
import threading
from pathlib import Path

import pytest
from flint import arb, ctx

import ggdp
from ggdp._balls import BALLS, working_precision


def test_the_precision_is_set_and_given_back_also_after_an_error():
    before = ctx.prec
    with BALLS, working_precision(200):
        assert ctx.prec == 200
        with BALLS, working_precision(300):
            assert ctx.prec == 300
        assert ctx.prec == 200
    with pytest.raises(ZeroDivisionError), BALLS, working_precision(77):
        raise ZeroDivisionError
    assert ctx.prec == before


def test_threads_do_not_change_each_others_precision():
    before, wrong = ctx.prec, []

    def work(bits):
        for _ in range(300):
            with BALLS, working_precision(bits):
                third = arb(1) / 3
                if ctx.prec != bits or not bits - 4 < third.rel_accuracy_bits() <= bits + 1:
                    wrong.append((bits, ctx.prec, third.rel_accuracy_bits()))

    threads = [threading.Thread(target=work, args=(bits,)) for bits in (60, 90, 150, 400)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert ctx.prec == before


def test_calibrations_in_threads_agree():
    found = []

    def work():
        goal = ggdp.ApproxDP(1.0, 1e-6)
        found.append(ggdp.calibrate(goal, ggdp.Sensitivity.disjoint(1), order=3, support="integer").scale)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_child_forked_while_another_thread_works_is_not_locked_out():
    inside, leave = threading.Event(), threading.Event()

    def hold():
        with BALLS, working_precision(100):
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(60)
    child = os.fork()
    if child == 0:
        with BALLS, working_precision(64):
            os._exit(0 if ctx.prec == 64 else 1)
    _, status = os.waitpid(child, 0)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_a_child_forked_inside_a_block_leaves_it_as_its_parent_does():
    with BALLS, working_precision(100):
        child = os.fork()
    if child == 0:
        os._exit(0 if ctx.prec != 100 and BALLS.acquire(blocking=False) else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def free_elsewhere():
    """Return whether another thread can take the lock, as it could not if an interrupt had left it held."""
    found = []

    def take():
        found.append(BALLS.acquire(blocking=False))
        if found[0]:
            BALLS.release()

    thread = threading.Thread(target=take)
    thread.start()
    thread.join()
    return found[0]


def in_and_out(rounds=400):
    """Enter and leave blocks over and over: an interrupt almost always comes while one is entered or left."""
    for _ in range(rounds):
        with BALLS, working_precision(200):
            with BALLS, working_precision(300):
                pass
            with BALLS, working_precision(77):
                arb(1)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
@pytest.mark.parametrize("seed", range(4))
def test_an_interrupt_at_any_moment_neither_keeps_the_lock_nor_the_precision(seed):
    before = ctx.prec

    def interrupt(*_):
        raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, interrupt)
    interrupted = 0
    try:
        for round_ in range(250):
            try:
                signal.setitimer(signal.ITIMER_REAL, 2e-5 + 1e-7 * (round_ + 250 * seed))
                in_and_out()
                signal.setitimer(signal.ITIMER_REAL, 0)
            except KeyboardInterrupt:
                interrupted += 1
            assert ctx.prec == before
            assert free_elsewhere()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler)
    assert interrupted > 20


def test_an_exception_thrown_into_a_thread_neither_keeps_the_lock_nor_the_precision():
    before = ctx.prec
    for _ in range(40):
        working = threading.Event()

        def work(working=working):
            with contextlib.suppress(KeyboardInterrupt):
                while True:
                    working.set()
                    in_and_out()

        thread = threading.Thread(target=work)
        thread.start()
        working.wait()
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(KeyboardInterrupt))
        thread.join()
        assert ctx.prec == before
        assert free_elsewhere()


# Python drops an interrupt that arrives in a finalizer, and warns.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this system has no timers")
def test_an_interrupted_calibration_leaves_the_library_free():
    before, interrupted, armed = ctx.prec, 0, False

    def interrupt(*_):
        # One that arrives late would end the test itself.
        if armed:
            raise KeyboardInterrupt

    handler = signal.signal(signal.SIGALRM, interrupt)
    try:
        for round_ in range(60):
            try:
                armed = True
                signal.setitimer(signal.ITIMER_REAL, 1e-3 + 1e-5 * round_)
                ggdp.calibrate(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.disjoint(1), order=1.5, support="integer")
                armed = False
            except KeyboardInterrupt:
                armed = False
                interrupted += 1
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            assert ctx.prec == before
            assert free_elsewhere()
    finally:
        signal.signal(signal.SIGALRM, handler)
    assert interrupted > 20


def test_every_block_of_balls_takes_the_lock_first_and_in_the_same_statement():
    for path in Path(ggdp.__file__).parent.rglob("*.py"):
        text = path.read_text("utf-8")
        calls, blocks = text.count(" working_precision("), 0
        if not calls or path.name == "_balls.py":
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.With):
                managers = [ast.unparse(item.context_expr) for item in node.items]
                if any(manager.startswith("working_precision(") for manager in managers):
                    assert managers[0] == "BALLS", f"{path.name}:{node.lineno}"
                    blocks += 1
        assert blocks == calls, f"{path.name} calls working_precision outside of a with statement"
