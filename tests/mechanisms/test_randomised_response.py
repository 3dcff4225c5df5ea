"""Utilities that move to one side, and randomised response: their losses by brute force over their probabilities."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import ggdp
from ggdp.errors import ArgumentError
from ggdp.mechanisms import selection_probabilities
from ggdp.mechanisms.exponential_mechanism import _rate
from ggdp.sampling import SeededSource
from ggdp.sampling.selection import Weights


def losses(before, after, epsilon, *, monotonic):
    p = selection_probabilities(epsilon, 1.0, before, monotonic=monotonic)
    q = selection_probabilities(epsilon, 1.0, after, monotonic=monotonic)
    return np.abs(np.log(p / q))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_utilities_that_move_to_one_side_lose_epsilon_at_full_rate(epsilon):
    worst = 0.0
    for before in ((0, 0, 0), (0, 5, 9), (3, 3, 0), (0, 40, 40)):
        for rise in itertools.product((0.0, 0.5, 1.0), repeat=3):
            after = np.add(before, rise)
            worst = max(worst, losses(before, after, epsilon, monotonic=True).max())
    assert 0.99 * epsilon < worst <= epsilon * (1 + 1e-12)


def test_utilities_that_move_to_both_sides_lose_more_at_full_rate():
    assert losses((0, 12, 12), (1, 11, 11), 1.0, monotonic=True).max() > 1.9


def test_a_monotonic_mechanism_draws_with_twice_the_rate():
    assert _rate(1.0, 2.0, monotonic=True) == Fraction(1, 2) == 2 * _rate(1.0, 2.0)
    counts = ggdp.ExponentialMechanism(ggdp.PureDP(1.0), sensitivity=1, candidates=2, monotonic=True)
    seeded = [int(counts.release([0, 2], source=SeededSource(seed=seed)).values) for seed in range(400)]
    # With probability 1 / (1 + e^2) = 0.119, where half the rate has 0.269: 400 draws tell the two apart.
    assert 20 < seeded.count(0) < 80
    assert counts.release([0, 2]).guarantee == ggdp.PureDP(1.0, "add-remove")
    assert "to one side" in counts.record.sensitivity


@pytest.mark.parametrize(
    ("how", "message"),
    [({"monotonic": True, "neighbours": "replace-one"}, "add-remove neighbours"), ({"monotonic": 1}, "monotonic = 1")],
)
def test_what_is_not_monotonic_is_refused(how, message):
    with pytest.raises(ArgumentError, match=message):
        ggdp.ExponentialMechanism(ggdp.PureDP(1.0), sensitivity=1, candidates=3, **how)


@pytest.mark.parametrize("answers", [2, 5])
def test_randomised_response_loses_just_epsilon(answers):
    question = ggdp.RandomisedResponse(ggdp.PureDP(1.5), candidates=answers)
    laws = []
    for answer in range(answers):
        weights = Weights.of((np.arange(answers) == answer).astype(np.int64), Fraction(1.5))
        floats = weights.floats()
        laws.append(floats / floats.sum())
        assert laws[-1][answer] == pytest.approx(question.truthful, rel=1e-12)
    # A rate of twice epsilon would tell the truth in 95 or 83 percent of the draws, half of it in 68 or 35.
    drawn = [int(question.release(1, source=SeededSource(seed=seed)).values) for seed in range(400)]
    assert abs(drawn.count(1) / 400 - question.truthful) < 0.07
    worst = max(np.abs(np.log(p / q)).max() for p in laws for q in laws)
    assert worst == pytest.approx(1.5, rel=1e-12)


def test_an_answer_is_released_with_its_guarantee():
    question = ggdp.RandomisedResponse(ggdp.PureDP(40.0), candidates=["yes", "no", "other"])
    # Any other answer has a probability of 1e-17.
    release = question.release("no")
    assert release.values.item() == "no"
    assert release.guarantee == ggdp.PureDP(40.0, "replace-one")
    assert question.release("no", source=SeededSource(seed=1)).guarantee is None
    assert "randomised response" in repr(question)
    assert math.isclose(question.truthful, 1.0)


def test_an_answer_that_is_none_is_refused_without_being_told():
    question = ggdp.RandomisedResponse(ggdp.PureDP(1.0), candidates=["yes", "no"])
    with pytest.raises(ArgumentError) as refused:
        question.release("maybe-secret")
    assert "maybe-secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("goal", "candidates", "message"),
    [
        (ggdp.ApproxDP(1.0, 0.1), 2, "PureDP"),
        (ggdp.PureDP(1.0, "add-remove"), 2, "replace-one"),
        (ggdp.PureDP(1.0), 1, "at least two"),
        (ggdp.PureDP(1.0), ["a", "a"], "all different"),
    ],
)
def test_a_question_that_is_none_is_refused(goal, candidates, message):
    with pytest.raises(ArgumentError, match=message):
        ggdp.RandomisedResponse(goal, candidates=candidates)
