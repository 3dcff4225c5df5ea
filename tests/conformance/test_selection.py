"""The Exponential mechanism over candidates: the law that is released, and what it loses, by brute force."""

import math

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.conformance.divergences import pure_epsilon
from tests.conformance.kinds import histograms
from tests.conformance.observed import Law

import ggdp
from ggdp.errors import ArgumentError
from ggdp.mechanisms import ExponentialMechanism
from ggdp.noise import SeededSource

BITS = 128
# Draws beyond it may be decided by more bits; they have a probability of 2^-40.
TOP = (1 << BITS) - (1 << (BITS - 40))
LABELS = ("red", "green", "blue")
# How much 2^-40 more or less of one probability changes a loss, for probabilities above 10^-6.
ERROR = 1e-5
# Utilities of neighbours: one rises by the sensitivity while the others fall by it, which is the worst there is.
EXTREMES = (
    ((0.0, 12.0, 12.0), (1.0, 11.0, 11.0)),
    ((5.0, 5.0, 5.0), (6.0, 4.0, 4.0)),
    ((-3.0, 0.5, 9.0), (-2.0, -0.5, 8.0)),
)


class Bits:
    """A source whose first number is given, and whose further bits are 0."""

    private = False

    def __init__(self, number):
        self.number = number

    def fill(self, buffer):
        buffer[:] = np.frombuffer(self.number.to_bytes(buffer.size, "little"), dtype=np.uint8)
        self.number = 0
        return buffer.size


def chosen(mechanism, utilities, number):
    return mechanism.candidates.index(mechanism.release(utilities, rng=Bits(number)).values.item())


def shares(mechanism, utilities):
    """The probability of each candidate, to 2^-40: the numbers that lead to it, found by bisection."""
    starts = [0]
    for place in range(1, len(mechanism.candidates)):
        below, reached = 0, TOP
        while reached - below > 1:
            middle = (below + reached) // 2
            below, reached = (below, middle) if chosen(mechanism, utilities, middle) >= place else (middle, reached)
        starts.append(reached)
    return [(stop - start) / mpf(TOP) for start, stop in zip(starts, [*starts[1:], TOP], strict=True)]


def law(mechanism, utilities):
    masses = np.array([float(share) for share in shares(mechanism, utilities)])
    return Law(0, np.maximum(masses - 2.0**-40, 0.0), masses + 2.0**-40)


def mechanism_of(*, epsilon=1.0, sensitivity=1, excluded=None, neighbours="add-remove"):
    return ExponentialMechanism(
        ggdp.PureDP(epsilon), sensitivity=sensitivity, candidates=LABELS, excluded=excluded, neighbours=neighbours
    )


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1.0, 1), (0.3, 2.5), (4.0, 0.5)])
@pytest.mark.parametrize("utilities", [(0, 0, 0), (3, 1, 2), (2.5, -1.0, 2.5), (10**30, 10**30 + 1, 10**30)])
def test_candidates_are_drawn_by_their_stated_probabilities(epsilon, sensitivity, utilities):
    with mp.workdps(60):
        rate = mpf(epsilon) / (2 * mpf(sensitivity))
        weights = [mp.exp(rate * (mpf(u) - max(map(mpf, utilities)))) for u in utilities]
        found = shares(mechanism_of(epsilon=epsilon, sensitivity=sensitivity), utilities)
        for share, weight in zip(found, weights, strict=True):
            assert abs(share - weight / mp.fsum(weights)) < mpf(2) ** -38


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_neighbouring_counts_lose_no_more_than_epsilon(relation):
    mechanism = mechanism_of(neighbours=relation)
    assert mechanism.guarantee == ggdp.PureDP(1.0, relation)
    for first, second in histograms(relation):
        for one, other in ((first, second), (second, first)):
            assert pure_epsilon([law(mechanism, one)], [law(mechanism, other)]) <= 1.0 + ERROR


def test_the_worst_neighbours_come_near_to_epsilon_and_not_above():
    mechanism = mechanism_of()
    worst = max(
        pure_epsilon([law(mechanism, one)], [law(mechanism, other)])
        for pair in EXTREMES
        for one, other in (pair, pair[::-1])
    )
    assert 0.99 < worst <= 1.0 + ERROR


def test_an_excluded_candidate_is_never_drawn_and_its_utility_is_not_looked_at():
    mechanism = mechanism_of(excluded=[False, True, False])
    for number in np.linspace(0, 1, 50):
        # The best of all, and excluded.
        assert chosen(mechanism, (1.0, 1e9, 1.0), int(number * (TOP - 1))) != 1
        assert chosen(mechanism, (1.0, -math.inf, 1.0), int(number * (TOP - 1))) != 1


@pytest.mark.parametrize("utility", [-math.inf, math.inf, math.nan])
def test_a_utility_that_would_leave_the_support_is_refused(utility):
    with pytest.raises(ArgumentError, match="must be finite"):
        mechanism_of().release((1.0, utility, 2.0))


def test_a_million_candidates_and_ties_are_drawn_from():
    mechanism = ExponentialMechanism(ggdp.PureDP(1.0), sensitivity=1, candidates=1_000_000)
    release = mechanism.release(np.zeros(1_000_000))
    assert 0 <= int(release.values) < 1_000_000
    assert release.guarantee == mechanism.guarantee
    assert mechanism.release(np.zeros(1_000_000), rng=SeededSource(seed=1)).guarantee is None
