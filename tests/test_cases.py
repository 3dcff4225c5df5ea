"""What is run every time has all pairs of values, and the exhaustive run has all combinations."""

from itertools import combinations, product

import pytest
from tests.cases import covering, examples, one_in, some

AXES = [
    (["a", "b"],),
    (["a", "b", "c"], [1, 2]),
    (["a", "b", "c"], [1, 2], [None, True, False, 0.5]),
    ("abc", "def", "ghi", "jkl"),
    (range(9), range(3), range(3), range(2)),
]


def values(params):
    return [param.values for param in params]


def fast(params):
    return [param.values for param in params if not param.marks]


@pytest.mark.parametrize("axes", AXES, ids=lambda axes: "x".join(str(len(axis)) for axis in axes))
def test_every_combination_is_there_once_and_every_pair_is_run_every_time(axes):
    params = covering(*axes)
    assert values(params) == list(product(*axes))
    for one, other in combinations(range(len(axes)), 2):
        pairs = {(case[one], case[other]) for case in fast(params)}
        assert pairs == set(product(axes[one], axes[other]))


def test_few_combinations_are_run_every_time():
    # At least 9 * 3, since two axes have so many pairs; 162 in all.
    assert len(fast(covering(*AXES[-1]))) <= 30


def test_the_same_combinations_are_chosen_in_every_process():
    first, second = (covering(*map(list, AXES[-1])) for _ in range(2))
    assert fast(first) == fast(second)


def test_one_axis_is_run_as_a_whole():
    assert fast(covering("abc")) == [("a",), ("b",), ("c",)]


def test_what_is_not_run_every_time_is_exhaustive():
    (mark,) = {mark.name for param in covering("abc", "abc", "abc") for mark in param.marks}
    assert mark == "exhaustive"


def test_one_case_in_so_many_is_run_every_time():
    params = one_in(3, [(1, "a"), (2, "b"), (3, "c"), (4, "d")])
    assert values(params) == [(1, "a"), (2, "b"), (3, "c"), (4, "d")]
    assert fast(params) == [(1, "a"), (4, "d")]


def test_some_cases_are_run_every_time():
    assert fast(some("abcd", lambda letter: letter in "bd")) == [("b",), ("d",)]
    params = some(product("ab", (1, 2)), lambda letter, number: letter == "a" or number == 2)
    assert values(params) == [("a", 1), ("a", 2), ("b", 1), ("b", 2)]
    assert fast(params) == [("a", 1), ("a", 2), ("b", 2)]


def test_fresh_examples_are_more(monkeypatch):
    for profile in ("fresh", "many"):
        monkeypatch.setenv("HYPOTHESIS_PROFILE", profile)
        assert examples(5, 50) == 50
    monkeypatch.setenv("HYPOTHESIS_PROFILE", "repeated")
    assert examples(5, 50) == 5
    monkeypatch.delenv("HYPOTHESIS_PROFILE")
    assert examples(5, 50) == 5
