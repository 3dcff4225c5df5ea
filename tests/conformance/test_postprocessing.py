"""What is left of a guarantee after each adjustment, by its type and by brute force; and why pDP does not survive."""

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.conformance.divergences import ERROR, approximate_delta, probabilistic_delta
from tests.conformance.kinds import ADDITIVE, KINDS, VECTORS, each
from tests.conformance.observed import Law, observed, steps_of
from tests.conformance.test_shapes import true_values

import ggdp
from ggdp.errors import ArgumentError
from ggdp.noise import SeededSource
from ggdp.releases import clip, drop, normalise, project, round_values

ADJUSTMENTS = {
    "clip": lambda release: clip(release, 0, 4),
    "clip-below": lambda release: clip(release, lower=0),
    "round": round_values,
    "drop": lambda release: drop(release, [0]),
    "normalise": lambda release: normalise(clip(release, lower=1), 100),
    "project": lambda release: project(release, 100),
}
WITH_TOTAL = {"normalise", "project"}


def adjusted(kind, name, **how):
    return ADJUSTMENTS[name](kind.mechanism.release(true_values(kind, kind.coordinates or 6), **how))


def fits(kind, name):
    return name not in WITH_TOTAL or kind.mechanism.sensitivity.neighbours == "replace-one"


@pytest.mark.parametrize("kind", each([*KINDS, *VECTORS]))
@pytest.mark.parametrize("name", ADJUSTMENTS)
def test_pure_and_approximate_dp_survive_and_probabilistic_dp_becomes_approximate(kind, name):
    before = kind.mechanism.guarantee
    if not fits(kind, name):
        with pytest.raises(ArgumentError, match="replace-one"):
            adjusted(kind, name)
        return
    after = adjusted(kind, name).guarantee
    assert after == (before.to_approximate() if before.notion == "probabilistic" else before)
    assert adjusted(kind, name, rng=SeededSource(seed=3)).guarantee is None


def test_probabilistic_goals_are_released_as_such_before_any_adjustment():
    probabilistic = [kind for kind in ADDITIVE if "probabilistic" in kind.name and not kind.slow]
    assert len(probabilistic) > 6
    for kind in probabilistic:
        assert kind.mechanism.release(true_values(kind, 3)).guarantee.notion == "probabilistic"


def clipped(law, low, high):
    """The law of outputs that are clipped; what is beyond all that was looked at is at an end by then."""
    places = np.clip(np.arange(law.first, law.last + 1), low, high) - low
    lower, upper = (np.bincount(places, weights=part, minlength=high - low + 1) for part in (law.lower, law.upper))
    return Law(low, lower, upper)


def worst_clipped(kind, notion, low, high):
    mechanism, epsilon = kind.mechanism, kind.mechanism.guarantee.epsilon
    measure = {"approximate": approximate_delta, "probabilistic": probabilistic_delta}[notion]
    found = []
    for first, second in kind.neighbours:
        changed = [k for k, (x, y) in enumerate(zip(first, second, strict=True)) if x != y]
        p, q = ([clipped(observed(mechanism, side[k]), low, high) for k in changed] for side in (first, second))
        found += [measure(p, q, epsilon), measure(q, p, epsilon)]
    return max(found)


# One coordinate moves, and there is a delta to lose.
SINGLE = [
    kind
    for kind in ADDITIVE
    if kind.coordinates is None and not any(word in kind.name for word in ("replace-one", "cells", "laplace"))
]


@pytest.mark.parametrize("kind", each(SINGLE))
def test_a_clipped_release_keeps_its_approximate_guarantee(kind):
    guarantee = clip(kind.mechanism.release(true_values(kind, 2)), 0, 4).guarantee
    for low, high in ((0, 4), (3, 9), (-40, 1), (0, 16)):
        assert worst_clipped(kind, "approximate", low, high) <= guarantee.delta + ERROR


def test_a_clipped_release_does_not_keep_its_probabilistic_guarantee():
    kind = next(kind for kind in ADDITIVE if kind.name == "gaussian-tight-probabilistic")
    claimed = kind.mechanism.calibration.guarantee
    assert claimed.notion == "probabilistic"
    broken = [high for high in range(1, 60) if worst_clipped(kind, "probabilistic", -200, high) > claimed.delta + ERROR]
    assert broken
    release = kind.mechanism.release([0.0])
    for high in broken:
        after = clip(release, upper=high * kind.mechanism.step).guarantee
        assert after.notion == "approximate"


def test_the_gaussian_that_is_probabilistic_dp_is_less_so_once_it_is_clamped():
    """The counterexample: standard deviation 2.6213, sensitivity 1, epsilon 1, a bound of 6.47."""
    with mp.workdps(50):
        sigma, bound = mpf("2.6213"), mpf("6.47")
        # The loss of x between the means 0 and 1 is (1 - 2x) / (2 sigma^2).
        far, near = (2 * sigma**2 + 1) / 2, (2 * sigma**2 - 1) / 2
        exact = mp.ncdf(-near / sigma) + mp.ncdf(-far / sigma)
        assert mpf("0.009999") < exact <= mpf("0.01")
        # Everything from the bound on falls together, and from the mean 1 it now has a loss above 1.
        from_zero, from_one = mp.ncdf(-bound / sigma), mp.ncdf(-(bound - 1) / sigma)
        assert mp.log(from_one / from_zero) > 1
        assert bound < far
        clamped = from_one + mp.ncdf(-far / sigma)
        assert mpf("0.02085") < clamped < mpf("0.02095")
        # As approximate DP nothing is lost: below the bound no loss from the mean 1 is above 1.
        assert 0 < from_one - mp.e * from_zero < mp.ncdf(-near / sigma) - mp.e * mp.ncdf(-far / sigma) < exact
    calibration = ggdp.calibrate(ggdp.ProbabilisticDP(1.0, 0.01), ggdp.Sensitivity.disjoint(1), order=2)
    assert abs(calibration.std - 2.6213) < 1e-4
    release = ggdp.Mechanism(calibration).release([3.0])
    assert clip(release, upper=6.47).guarantee.notion == "approximate"


def test_laplace_noise_that_is_drawn_again_until_in_bounds_loses_half_as_much_again():
    with mp.workdps(50):
        # Around 0 and around 1 on [0, 10], at the output 0.
        inside = [(1 - mp.exp(-s)) / 2 + (1 - mp.exp(-(10 - s))) / 2 for s in (mpf(0), mpf(1))]
        loss = 1 + mp.log(inside[1] / inside[0])
        assert mpf("1.485") < loss < mpf("1.495")
    query = ggdp.Sensitivity.disjoint(1)
    truncated = ggdp.calibrate(ggdp.PureDP(1.0), query, order=1, bounds=[(0, 10)], bounding="truncated")
    assert truncated.scale > 1.2 * ggdp.calibrate(ggdp.PureDP(1.0), query, order=1).scale


@pytest.mark.parametrize("kind", each([kind for kind in KINDS if kind.coordinates is None]))
def test_a_clip_clips_what_was_released(kind):
    release = kind.mechanism.release(true_values(kind, 300))
    assert (clip(release, 1, 2).values == np.clip(release.values, 1, 2)).all()
    assert (steps_of(kind.mechanism, clip(release, 1, 2).noisy) == steps_of(kind.mechanism, release.values)).all()
