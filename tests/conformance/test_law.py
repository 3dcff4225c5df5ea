"""The law that is released is the law that is stated, to the last of 64 bits, for every kind of mechanism."""

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.conformance.kinds import KINDS, OWN_GRID, each
from tests.conformance.observed import bounds_of, edges, fixed_size, index_of, stated, steps_of

from ggdp.noise import BoundaryInflatedIntegerNoise, IntegerNoise, SeededSource, TruncatedIntegerNoise
from ggdp.noise.entropy import SECURE
from ggdp.noise.integer_noise import sampler_of
from ggdp.noise.rejection import Envelope

# What sums in 40 digits leave out, in words.
LEFT_OUT = mpf(10) ** -15


@pytest.mark.parametrize("kind", each(KINDS))
def test_the_released_law_is_the_stated_law(kind):
    mechanism = kind.mechanism
    values = sorted({value for pair in kind.neighbours for values in pair for value in values})
    for coordinate in range(fixed_size(mechanism) or 1):
        for value in values:
            # One value is looked at to the last bit.
            within = 1 if value == values[0] else 256
            first, below, reached = edges(mechanism, value, coordinate, within=within)
            law = stated(mechanism.record, index_of(mechanism, value), bounds_of(mechanism, coordinate))
            with mp.workdps(40):
                for k, (low, high) in enumerate(zip(below.tolist(), reached.tolist(), strict=True), start=first + 1):
                    assert low - LEFT_OUT <= law[k] * mpf(2) ** 64 <= high + LEFT_OUT
            assert len(below) >= 3


@pytest.mark.parametrize("kind", each(OWN_GRID))
def test_on_its_own_grid_a_mechanism_releases_the_sampler_s_draws_of_the_stated_law(kind):
    mechanism = kind.mechanism
    record = mechanism.record
    law = {"order": record.law.order, "scale": record.scale / record.law.step}
    values = np.resize([x for pair in kind.neighbours for (x,) in pair], 1000)
    indices = np.array([index_of(mechanism, x) for x in values])
    source = SeededSource(seed=4)
    if record.law.bounding is None:
        drawn = indices + IntegerNoise(**law).sample(1000, rng=source)
    else:
        low, high = bounds_of(mechanism, 0)
        sampler = {"truncated": TruncatedIntegerNoise, "boundary-inflated": BoundaryInflatedIntegerNoise}
        noise = sampler[record.law.bounding](**law, lower=low, upper=high)
        drawn = noise.around(np.clip(indices, low, high), rng=source)
    released = mechanism.release(values, rng=SeededSource(seed=4)).values
    assert (steps_of(mechanism, released) == drawn).all()
    # Exactly, but for bounds that are no points of the grid.
    inside = (released != values.min()) & (released != values.max())
    assert (released[inside] == drawn[inside] * mechanism.step).all()


class LowThenRandom:
    """A source whose first words are 0, the lowest height there is, and whose others are the operating system's."""

    private = False

    def __init__(self):
        self.first = True

    def fill(self, buffer):
        if not self.first:
            return SECURE.fill(buffer)
        self.first, buffer[:] = False, 0
        return buffer.size


@pytest.mark.parametrize("kind", each([kind for kind in OWN_GRID if kind.name == "laplace-own-grid"]))
def test_noise_beyond_the_blocks_of_a_wide_law_is_drawn_too(kind):
    # It has a probability of 10^-8, so no sample shows it; without it pure DP would be lost.
    record = kind.mechanism.record
    sampler = sampler_of(record.law.order, record.scale / record.law.step)
    assert isinstance(sampler, Envelope)
    slots = np.full(200, sampler.far_slots.start, dtype=np.uint16)
    kept, values = sampler._compare(slots, np.zeros(200, dtype=np.uint16), LowThenRandom())
    # Rejected is only half of the nearest value, which both sides would have.
    assert kept.sum() > 150
    assert (np.abs(values[kept]) >= sampler.far_start).all()
    assert 0 < (values[kept] > 0).sum() < kept.sum()
