"""Calls are timed in turn and compared within rounds, so that a machine that slows down does not change a ratio."""

from __future__ import annotations

import pytest
from benchmarks.ratios import extra, ratio, timed_in_turn


class _Clocks:
    """Stand still but for what a call adds to them."""

    def __init__(self) -> None:
        self.clock, self.processor = 0.0, 0.0

    def perf_counter(self) -> float:
        return self.clock

    def process_time(self) -> float:
        return self.processor

    def spend(self, seconds: float, *, waiting: float = 0.0) -> None:
        self.clock += seconds + waiting
        self.processor += seconds


@pytest.fixture
def clocks(monkeypatch) -> _Clocks:
    stopped = _Clocks()
    monkeypatch.setattr("benchmarks.ratios.time", stopped)
    return stopped


def test_every_call_is_made_once_a_round_in_turn_after_one_that_is_not_timed():
    made: list[str] = []
    calls = {name: lambda name=name: made.append(name) for name in ("a", "b", "c")}
    found = timed_in_turn(calls, 2)
    assert "".join(made) == "abc" + "abc" + "cba"
    assert {name: (len(times.clock), len(times.processor)) for name, times in found.items()} == dict.fromkeys(
        "abc", (2, 2)
    )


def test_waiting_is_in_the_time_on_the_clock_and_not_in_that_of_the_processor(clocks):
    found = timed_in_turn({"waits": lambda: clocks.spend(2.0, waiting=5.0), "works": lambda: clocks.spend(3.0)}, 4)
    assert found["waits"].clock == pytest.approx([7.0] * 4)
    assert found["waits"].processor == pytest.approx([2.0] * 4)
    assert found["works"].clock == found["works"].processor == pytest.approx([3.0] * 4)


def test_a_ratio_is_taken_within_rounds_so_that_a_slower_machine_leaves_it_as_it_is():
    speeds = [1.0, 10.0, 3.0, 0.1, 7.0]
    found = ratio([3.0 * speed for speed in speeds], [2.0 * speed for speed in speeds])
    assert found == pytest.approx({"middle": 1.5, "low": 1.5, "high": 1.5})


def test_one_round_out_of_five_that_was_disturbed_does_not_move_the_ratio():
    assert ratio([3.0, 3.0, 300.0, 3.0, 3.0], [2.0] * 5)["middle"] == 1.5


def test_the_quartiles_are_those_of_the_ratios():
    found = ratio([5.0, 1.0, 4.0, 2.0, 3.0], [1.0] * 5)
    assert found == {"middle": 3.0, "low": 2.0, "high": 4.0}


def test_what_a_call_takes_longer_is_the_middle_of_the_differences_within_rounds():
    assert extra([11.0, 25.0, 31.0], [10.0, 20.0, 30.0]) == 1.0


@pytest.mark.parametrize("compare", [ratio, extra])
def test_rounds_of_different_numbers_are_not_compared(compare):
    with pytest.raises(ValueError, match="longer than"):
        compare([1.0, 2.0], [1.0, 2.0, 3.0])
