"""What an attacker learns: bounds that hold for every mechanism of a kind, and that one attains."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ggdp
from ggdp.errors import ArgumentError
from ggdp.privacy.beliefs import belief

EPSILONS = st.floats(0.01, 8.0)
DELTAS = st.sampled_from([0.0, 1e-6, 0.01, 0.2, 0.7])
PRIORS = st.floats(1e-6, 1.0 - 1e-6)


def coin_and_answer(epsilon, delta):
    """The laws, on both data, of what attains the bounds: the truth with probability delta, or else an answer."""
    odds = math.exp(epsilon)
    likely, other = (1.0 - delta) * odds / (1.0 + odds), (1.0 - delta) / (1.0 + odds)
    return {"yes": (likely, other), "no": (other, likely), "truly": (delta, 0.0), "truly not": (0.0, delta)}


def posteriors(laws, prior):
    return {name: prior * p / (prior * p + (1.0 - prior) * q) for name, (p, q) in laws.items() if p + q > 0.0}


def right(laws, prior):
    """How often the best guess is right, by trying every way to guess."""
    guesses = itertools.product((True, False), repeat=len(laws))
    return max(
        sum(prior * p if guess else (1.0 - prior) * q for guess, (p, q) in zip(guess_of, laws.values(), strict=True))
        for guess_of in guesses
    )


def goal_of(epsilon, delta):
    return ggdp.PureDP(epsilon) if delta == 0.0 else ggdp.ApproxDP(epsilon, delta)


@given(EPSILONS, DELTAS, PRIORS)
def test_coin_and_answer_attain_the_bounds(epsilon, delta, prior):
    found = belief(goal_of(epsilon, delta), prior)
    laws = coin_and_answer(epsilon, delta)
    seen = posteriors(laws, prior)
    assert seen["yes"] == pytest.approx(found.highest, rel=1e-12)
    assert seen["no"] == pytest.approx(found.lowest, rel=1e-12)
    assert found.right == pytest.approx(right(laws, prior), rel=1e-12)
    # The bounds fail with probability delta, and no more, on either data.
    for side in (0, 1):
        outside = sum(
            law[side]
            for name, law in laws.items()
            if name in seen and not found.lowest * (1 - 1e-9) <= seen[name] <= found.highest * (1 + 1e-9)
        )
        assert outside <= found.exception == delta


@given(EPSILONS, st.sampled_from([1e-6, 0.01, 0.2]), PRIORS, st.lists(st.floats(0.0, 1.0), min_size=12, max_size=12))
def test_no_post_processing_of_coin_and_answer_lets_anybody_guess_better(epsilon, delta, prior, weights):
    laws = list(coin_and_answer(epsilon, delta).values())
    # Each of the four values becomes one of three, at random.
    rows = [weights[k : k + 3] for k in range(0, 12, 3)]
    kernel = [[weight / sum(row) for weight in row] if sum(row) > 0.0 else [1.0, 0.0, 0.0] for row in rows]
    processed = {
        place: tuple(sum(law[side] * row[place] for law, row in zip(laws, kernel, strict=True)) for side in (0, 1))
        for place in range(3)
    }
    assert right(processed, prior) <= belief(goal_of(epsilon, delta), prior).right * (1 + 1e-12)


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0])
@pytest.mark.parametrize("prior", [0.01, 0.1, 0.5])
def test_noise_of_the_library_keeps_the_bounds(order, prior):
    """The noise of a calibration, by its masses: how often beliefs are beyond the bounds, and guesses right."""
    goal = ggdp.ApproxDP(1.0, 0.01)
    law = ggdp.calibrate(goal, ggdp.Sensitivity.histogram(), order=order, support="integer").noise()
    places = range(-400, 401)
    p, q = [[float(law.pmf(place - shift)) for place in places] for shift in (1, 0)]
    found = belief(goal, prior)
    assert sum(max(prior * a, (1.0 - prior) * b) for a, b in zip(p, q, strict=True)) <= found.right * (1 + 1e-12)
    for s in (0.1, 0.5, 2.0):
        above = belief(ggdp.PureDP(1.0 + s), prior).highest
        often = sum(a for a, b in zip(p, q, strict=True) if prior * a > above * (prior * a + (1.0 - prior) * b))
        assert often <= goal.delta / (1.0 - math.exp(-s))


def test_rounding_is_towards_privacy_and_large_losses_do_not_overflow():
    found = belief(ggdp.PureDP(1e4), 1e-9)
    assert (found.lowest, found.highest, found.right) == (0.0, 1.0, 1.0)
    exact = belief(ggdp.PureDP(math.log(3.0)), 0.5)
    assert exact.highest >= 0.75 - 1e-16
    assert exact.lowest <= 0.25 + 1e-16
    assert exact.highest == pytest.approx(0.75, rel=1e-15)


@pytest.mark.parametrize("prior", [0.0, 1.0, -0.1, math.nan, "x"])
def test_a_prior_is_a_probability_that_leaves_room_for_doubt(prior):
    with pytest.raises(ArgumentError, match="prior"):
        belief(ggdp.PureDP(1.0), prior)


def test_a_guarantee_is_asked_for():
    with pytest.raises(ArgumentError, match="guarantee"):
        belief((1.0, 0.0), 0.5)
