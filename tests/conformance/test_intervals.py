"""Intervals cover the true value as often as they say, by the law as it is released, whatever is done after it."""

import math

import numpy as np
import pytest
from tests.conformance.kinds import ADDITIVE, KINDS, each
from tests.conformance.observed import MOST_CELLS, Words, edges, observed, steps_of
from tests.conformance.test_postprocessing import ADJUSTMENTS, WITH_TOTAL

import ggdp
from ggdp.errors import ArgumentTypeError
from ggdp.releases import drop

FREE = [kind for kind in KINDS if kind.coordinates is None]
LEVELS = (0.5, 0.9, 0.95, 0.999)
STAGES = {"raw": lambda release: release, **ADJUSTMENTS}
KINDS_AND_STAGES = [
    pytest.param(kind, stage, id=f"{kind.name}-{stage}", marks=[pytest.mark.exhaustive] if kind.slow else [])
    for kind in FREE
    for stage in STAGES
    if stage not in WITH_TOTAL or "replace-one" in kind.name
]


def every_output(mechanism, value):
    """Releases in which each output of a true value occurs in one cell, with the probabilities of the outputs."""
    law = observed(mechanism, value)
    _, below, reached = edges(mechanism, value, within=256)
    starts, stops = [0, *reached.tolist()], [*below.tolist(), 1 << 64]
    # A word in the middle of those of its output, but for outputs at the ends whose words are nearly none.
    words = np.array([(a + b) // 2 for a, b in zip(starts, stops, strict=True)], dtype=np.uint64)
    seen = law.lower > 2.0**-50
    for start in range(0, int(seen.sum()), MOST_CELLS):
        part = np.flatnonzero(seen)[start : start + MOST_CELLS]
        release = mechanism.release(np.full(part.size, value), rng=Words(words[part]))
        assert (steps_of(mechanism, release.values) == law.first + part).all()
        yield release, law.lower[part], law.upper[part]


def clamped(mechanism, value):
    """A true value as the mechanism takes it: clamped to public bounds."""
    pairs = mechanism.calibration.bounds
    return value if pairs is None else min(max(value, pairs[0][0]), pairs[0][1])


def coverage(mechanism, value, level, adjust, *, inset=0.0):
    """A lower bound of how often the interval holds the true value, and an upper one; `inset` makes it narrower."""
    lower, missed = 0.0, 0.0
    true = clamped(mechanism, value)
    for release, least, _ in every_output(mechanism, value):
        low, high = adjust(release).interval(level)
        covered = (low + inset <= true) & (true <= high - inset)
        lower += float(least[covered].sum())
        missed += float(least[~covered].sum())
    return lower, 1.0 - missed


@pytest.mark.parametrize(("kind", "stage"), KINDS_AND_STAGES)
def test_intervals_cover_at_their_level_after_each_adjustment(kind, stage):
    mechanism = kind.mechanism

    def adjust(release):
        if stage == "drop":
            # Leave out nothing, so that every output stays in sight; that the others keep theirs is seen below.
            return drop(release, [], chosen="publicly")
        return STAGES[stage](release)

    for value in sorted({pair[0][0] for pair in kind.neighbours})[:3]:
        for level in LEVELS:
            assert coverage(mechanism, value, level, adjust)[0] >= level - 1e-12


@pytest.mark.parametrize("kind", each([kind for kind in ADDITIVE if kind.coordinates is None]))
def test_an_interval_of_integers_that_is_narrower_by_one_does_not_cover(kind):
    mechanism = kind.mechanism
    # Inside a step of the grid: on its edge an interval covers a little more.
    value = kind.neighbours[-1][0][0]
    step = mechanism.step or 1
    for level in LEVELS:
        assert coverage(mechanism, value, level, lambda release: release, inset=step)[1] < level


@pytest.mark.parametrize("kind", each(FREE))
def test_cells_that_are_left_keep_their_intervals(kind):
    mechanism = kind.mechanism
    release = mechanism.release(np.full(5, kind.neighbours[0][0][0]))
    for whole, left in zip(release.interval(0.9), drop(release, [1, 3], chosen="publicly").interval(0.9), strict=True):
        assert whole[[0, 2, 4]].tolist() == left.tolist()


@pytest.mark.parametrize("level", LEVELS)
def test_simultaneous_intervals_cover_together_and_hardly_more(level):
    noise = ggdp.calibrate(ggdp.PureDP(0.5), ggdp.Sensitivity.histogram(), order=1, support="integer")
    release = ggdp.Mechanism(noise).release(np.zeros(50, dtype=np.int64))

    def together(h, cells):
        return (1.0 - 2.0 * math.exp(-0.5 * (h + 1)) / (1.0 + math.exp(-0.5))) ** cells

    for one, cells in ((release, 50), (drop(release, [3, 4], chosen="publicly"), 48), (drop(release, [3]), 50)):
        lower, upper = one.interval(level, simultaneous=True)
        (h,) = set((upper - one.values).tolist()) & set((one.values - lower).tolist())
        assert together(h, cells) >= level > together(h - 1, cells)
    with pytest.raises(ArgumentTypeError, match="simultaneous"):
        release.interval(level, simultaneous=1)
