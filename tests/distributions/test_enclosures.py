"""Balls in several threads: the precision of one is not that of another."""

import os
import threading

import pytest
from flint import arb, ctx

import ggdp
from ggdp.distributions.enclosures import working_precision


def test_the_precision_is_set_and_given_back_also_after_an_error():
    before = ctx.prec
    with working_precision(200):
        assert ctx.prec == 200
        with working_precision(300):
            assert ctx.prec == 300
        assert ctx.prec == 200
    with pytest.raises(ZeroDivisionError), working_precision(77):
        raise ZeroDivisionError
    assert ctx.prec == before


def test_threads_do_not_change_each_others_precision():
    before, wrong = ctx.prec, []

    def work(bits):
        for _ in range(300):
            with working_precision(bits):
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
        with working_precision(100):
            inside.set()
            leave.wait(60)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(60)
    child = os.fork()
    if child == 0:
        with working_precision(64):
            os._exit(0 if ctx.prec == 64 else 1)
    _, status = os.waitpid(child, 0)
    leave.set()
    thread.join()
    assert os.waitstatus_to_exitcode(status) == 0
