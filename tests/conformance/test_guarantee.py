"""What a mechanism promises, against the truth by brute force over the laws it releases."""

import pytest
from tests.conformance.divergences import ERROR, approximate_delta, probabilistic_delta, pure_epsilon
from tests.conformance.kinds import KINDS, OWN_GRID, each, histograms
from tests.conformance.observed import bounds_of, index_of, law_at, observed

SMALLER = 1 - 1e-6


def losses(mechanism, promise, law, neighbours):
    """The delta (or, for a pure promise, epsilon) of each pair of neighbours, in both directions."""
    for values, others in neighbours:
        changed = [k for k, (x, y) in enumerate(zip(values, others, strict=True)) if x != y]
        if not changed:
            continue
        p = [law(mechanism, values[k], k) for k in changed]
        q = [law(mechanism, others[k], k) for k in changed]
        for one, other in ((p, q), (q, p)):
            if promise.notion == "pure":
                yield pure_epsilon(one, other)
            elif promise.notion == "approximate":
                yield approximate_delta(one, other, promise.epsilon)
            else:
                yield probabilistic_delta(one, other, promise.epsilon)


def claim(promise):
    """The number that a promise bounds losses by."""
    return promise.epsilon if promise.notion == "pure" else promise.delta


def as_observed(mechanism, value, coordinate):
    return observed(mechanism, value, coordinate if mechanism.sensitivity.kind == "box" else 0)


def by_formula(mechanism, value, coordinate, *, smaller=1.0):
    steps = mechanism.scale / (mechanism.step or 1.0)
    bounding, bounds = mechanism.calibration.bounding, bounds_of(mechanism, coordinate)
    return law_at(mechanism.order, steps * smaller, index_of(mechanism, value), bounding, bounds)


def narrower(mechanism, value, coordinate):
    return by_formula(mechanism, value, coordinate, smaller=SMALLER)


def promises(mechanism):
    """What is promised of a release and, before anything is done to the noise, of its calibration."""
    steps = getattr(mechanism.calibration, "steps", mechanism.calibration)
    return {mechanism.guarantee, steps.guarantee}


@pytest.mark.parametrize("kind", each(KINDS))
def test_no_neighbours_lose_more_than_is_promised(kind):
    mechanism = kind.mechanism
    for promise in promises(mechanism):
        worst = max(losses(mechanism, promise, as_observed, kind.neighbours))
        assert worst <= claim(promise) + ERROR
        assert promise.implies(mechanism.record.goal) or promise == mechanism.guarantee


@pytest.mark.parametrize("kind", each([kind for kind in KINDS if kind.claims != "bound"]))
def test_what_is_promised_is_what_the_worst_neighbours_lose(kind):
    mechanism = kind.mechanism
    promise = getattr(mechanism.calibration, "steps", mechanism.calibration).guarantee
    # A convolution rounds losses up.
    slack = 1e-5 if mechanism.certificate.bound.name == "corner" else 1e-9
    assert max(losses(mechanism, promise, as_observed, kind.neighbours)) >= claim(promise) * (1 - slack) - ERROR


@pytest.mark.parametrize("kind", each(OWN_GRID))
def test_on_its_own_grid_no_neighbours_lose_more_than_is_promised(kind):
    mechanism = kind.mechanism
    for promise in promises(mechanism):
        worst = max(losses(mechanism, promise, by_formula, kind.neighbours))
        assert worst <= claim(promise) * (1 + 1e-9)
        if promise.notion == mechanism.record.goal.notion:
            assert worst >= claim(promise) * (1 - 1e-6)


@pytest.mark.parametrize("kind", each([kind for kind in KINDS if kind.claims == "least"]))
def test_where_the_scale_is_the_least_a_narrower_law_loses_more(kind):
    mechanism = kind.mechanism
    goal = mechanism.record.goal
    # A convolution rounds losses up, and its scale is the least to within a few digits only.
    slack = 1e-5 if mechanism.certificate.bound.name == "corner" else 0.0
    assert max(losses(mechanism, goal, narrower, kind.neighbours)) > claim(goal) * (1 - slack)


def test_the_neighbours_of_a_histogram_are_its_neighbours():
    for first, second in histograms("add-remove"):
        assert sorted(abs(x - y) for x, y in zip(first, second, strict=True)) == [0, 0, 1]
    changes = {tuple(sorted(y - x for x, y in zip(*pair, strict=True))) for pair in histograms("replace-one")}
    assert changes == {(0, 0, 0), (-1, 0, 1)}
    changes = {tuple(sorted(y - x for x, y in zip(*pair, strict=True))) for pair in histograms("add-remove", 3)}
    assert changes == {(0, 0, 1), (0, 1, 1), (1, 1, 1)}
