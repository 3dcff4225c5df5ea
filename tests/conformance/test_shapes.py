"""Releases of any size and shape, cell by cell as if each were alone, and from the operating system's bits."""

import math

import numpy as np
import pytest
from tests.conformance.kinds import ADDITIVE, KINDS, VECTORS, each
from tests.conformance.observed import Words, edges, index_of, observed, steps_of

from ggdp.noise import SeededSource
from ggdp.noise.entropy import SecureSource

# Kinds that release any number of cells.
FREE = [kind for kind in KINDS if kind.coordinates is None]
LARGEST = 2**63 - 1


def true_values(kind, count):
    """As many true values as asked for, those of the kind over and over."""
    mechanism = kind.mechanism
    dtype = np.int64 if mechanism.step is None else np.float64
    return np.resize(np.array([x for pair in kind.neighbours for values in pair for x in values], dtype=dtype), count)


@pytest.mark.parametrize("kind", each(FREE))
@pytest.mark.parametrize("shape", [(0,), (1,), (), (2, 3), (3, 0, 2), (1_000_000,)], ids=str)
def test_every_shape_is_released_with_the_guarantee(kind, shape):
    mechanism = kind.mechanism
    release = mechanism.release(true_values(kind, shape))
    assert release.values.shape == shape
    assert release.values.dtype == (np.int64 if mechanism.step is None else np.float64)
    assert release.guarantee == mechanism.guarantee
    assert release.guarantee.neighbours == mechanism.sensitivity.neighbours


@pytest.mark.parametrize("kind", each(FREE))
def test_cells_are_released_in_their_order_each_by_a_word_of_its_own(kind):
    mechanism = kind.mechanism
    values = true_values(kind, 60)
    words = np.linspace(2.0**12, 2.0**64 - 2.0**12, 60).astype(np.uint64)[::-1]
    together = mechanism.release(values, rng=Words(words)).values
    alone = [mechanism.release([x], rng=Words([word])).values[0] for x, word in zip(values, words, strict=True)]
    assert together.tolist() == alone
    assert len(set((together - values).tolist())) > 3


class Prefixes:
    """A source for one large release: every value of the first 16 bits, then words in the middle of what follows."""

    private = False
    given = 0

    def fill(self, buffer):
        if self.given < 1 << 16:
            buffer.view(np.uint16)[:] = np.arange(self.given, self.given + buffer.size // 2)
            self.given += buffer.size // 2
        else:
            buffer.view(np.uint64)[:] = 1 << 63
        return buffer.size


@pytest.mark.parametrize("kind", each([kind for kind in ADDITIVE if kind in FREE]))
def test_large_releases_draw_from_the_same_law_as_small_ones(kind):
    mechanism = kind.mechanism
    value = kind.neighbours[0][0][0]
    first, below, reached = edges(mechanism, value, within=256)
    source = Prefixes()
    outputs = steps_of(mechanism, mechanism.release(np.full(1 << 16, value), rng=source).values)
    assert source.given == 1 << 16
    words = (np.arange(1 << 16, dtype=np.uint64) << np.uint64(48)) + np.uint64(1 << 47)
    # No word is so near to an edge that it could be on the other side.
    near = np.searchsorted(below, words, side="right") - np.searchsorted(reached, words, side="right")
    assert (near == 0).all()
    assert (outputs == first + np.searchsorted(reached, words, side="right")).all()


@pytest.mark.parametrize("kind", each(FREE))
def test_two_releases_differ(kind):
    mechanism, count = kind.mechanism, 400
    values = np.full(count, kind.neighbours[0][0][0])
    # Two draws agree with this probability, so 400 pairs of them do all at once less than once in 10^12 times.
    agree = float((observed(mechanism, kind.neighbours[0][0][0]).upper ** 2).sum())
    assert count * math.log(agree) < -12 * math.log(10)
    first, second = (mechanism.release(values).values for _ in range(2))
    assert (first != second).any()
    assert len(set(first.tolist())) > 1


@pytest.mark.parametrize("kind", each([*KINDS, *VECTORS]))
def test_bits_come_from_the_operating_system_and_seeded_ones_carry_no_guarantee(kind, monkeypatch):
    mechanism, asked = kind.mechanism, []
    fill = SecureSource.fill
    monkeypatch.setattr(SecureSource, "fill", lambda self, buffer: (asked.append(buffer.size), fill(self, buffer))[1])
    values = true_values(kind, kind.coordinates or 5)
    assert mechanism.release(values).guarantee == mechanism.guarantee
    assert sum(asked) >= 8 * values.size
    asked.clear()
    assert mechanism.release(values, rng=SeededSource(seed=1)).guarantee is None
    assert asked == []


@pytest.mark.parametrize("kind", each([kind for kind in ADDITIVE if kind in FREE]))
def test_sums_beyond_64_bits_end_at_the_ends(kind):
    mechanism = kind.mechanism
    most = np.array([LARGEST, -LARGEST - 1], dtype=np.int64)
    values = most if mechanism.step is None else most * mechanism.step * 4
    high, low = (
        mechanism.release(values, rng=Words(np.full(2, word, dtype=np.uint64))).values
        for word in (2**64 - 2**12, 2**12)
    )
    # Noise above 0 leaves what is at the upper end there (or where true values are clamped), and never wraps around.
    assert high[0] > 0 > low[1]
    assert high[0] >= low[0] > 0
    assert 0 > high[1] >= low[1]


@pytest.mark.parametrize("kind", each([kind for kind in KINDS if kind.real]))
def test_true_values_of_one_step_have_one_law(kind):
    mechanism = kind.mechanism
    values = [0.3, 0.3 + mechanism.step / 16]
    assert index_of(mechanism, values[0]) == index_of(mechanism, values[1])
    size = kind.coordinates or 1
    words = np.full(size, 3 << 61, dtype=np.uint64)
    outputs = {tuple(mechanism.release([x] * size, rng=Words(words)).values.tolist()) for x in values}
    assert len(outputs) == 1


@pytest.mark.parametrize("kind", each([kind for kind in ADDITIVE if kind in FREE and "probabilistic" in kind.name]))
def test_probabilistic_releases_clamp_true_values_far_from_the_ends(kind):
    mechanism = kind.mechanism
    assert mechanism.guarantee.notion == "probabilistic"
    far = LARGEST if mechanism.step is None else math.inf
    # Without noise: the word in the middle draws 0.
    released = mechanism.release([far, -far], rng=Words([1 << 63, 1 << 63])).values
    most = 2**62 if mechanism.step is None else 2.0**52 * mechanism.step
    assert released.tolist() == [most, -most]
