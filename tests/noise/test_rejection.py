"""The rejection sampler is exact: the whole tree of what it can make of its bits has the masses of the law."""

from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.noise.scripted import Scripted, top_bits, tree

from ggdp.noise import rejection as module
from ggdp.noise.entropy import SECURE
from ggdp.noise.rejection import Envelope, envelope

SLOT, BLOCK, WORD = 6, 3, 8
SMALL = {"slot_bits": SLOT, "block_bits": BLOCK, "word": WORD}
# One and two sides, and a kink (p = 1), no kink, a flat top; blocks of two integers.
LAWS = [
    (1.0, 1.0, 0, True),
    (1.5, 2.5, 0, True),
    (2.0, 4.0, 0, True),
    (8.0, 12.0, 0, True),
    (1.0, 1.0, 5, False),
    (2.0, 6.0, 9, False),
]


class RejectedError(Exception):
    pass


class FarError(Exception):
    pass


def one_round(sampler, monkeypatch):
    """Return a function that draws once: an integer, "far", or "rejected" instead of a second try."""

    def far_draws(*_):
        raise FarError

    monkeypatch.setattr(Envelope, "_draw_far", far_draws)
    monkeypatch.setattr(module, "_spares", lambda _: 0)
    picked = Envelope._pick

    def draw(source):
        rounds = []

        def first_round(self, count, source):
            if count:
                rounds.append(count)
            if len(rounds) > 1:
                raise RejectedError
            return picked(self, count, source)

        monkeypatch.setattr(Envelope, "_pick", first_round)
        out = np.empty(1, dtype=np.int64)
        try:
            sampler.draw(out, source)
        except RejectedError:
            return "rejected"
        except FarError:
            return "far"
        return int(out[0])

    return draw


@pytest.mark.parametrize(
    ("order", "scale", "stop"),
    [
        (2.0, 4.0, 7),
        (1.0, 4.0, 6),
        pytest.param(1.0, 30.0, 11, marks=pytest.mark.exhaustive),
        pytest.param(2.0, 4.0, 8, marks=pytest.mark.exhaustive),
        pytest.param(8.0, 30.0, 13, marks=pytest.mark.exhaustive),
    ],
)
def test_an_envelope_that_stops_has_the_masses_of_the_law_given_that(monkeypatch, order, scale, stop):
    """Stops within a block and at its end, where little is left and where nearly all is; no far slots."""
    sampler = envelope(order, scale, two_sided=True, stop=stop, **SMALL)
    assert len(sampler.far_slots) == 0
    monkeypatch.setattr(module, "FEW", 0)
    masses, longer = tree(one_round(sampler, monkeypatch), requests_of(sampler), depth=3)
    integers = {outcome for outcome in masses if not isinstance(outcome, str)}
    assert integers <= set(range(-stop, stop + 1))
    assert "far" not in masses
    with mp.workdps(40):
        unit = mpf(sampler.height) / mpf(2) ** (SLOT + sampler.width_bits)
        rest = mpf(longer.numerator) / longer.denominator
        for k in range(-stop, stop + 1):
            mass = mpf(masses[k].numerator) / masses[k].denominator
            assert -(mpf(10) ** -30) <= weight(sampler, k) * unit - mass <= rest + mpf(10) ** -30
    assert sum(masses.values()) + longer == 1


def requests_of(sampler):
    """A slot and a place come in one request, the place first; then 64 bits of V, of which 8 count; then 8 more."""
    slots, places = top_bits(2, SLOT), top_bits(2, sampler.width_bits)
    return {4: [place + slot for place in places for slot in slots], 8: top_bits(8, WORD), 1: top_bits(1, 8)}


def weight(sampler, k):
    with mp.workdps(40):
        return mp.exp(
            (mpf(sampler.start) / sampler.scale) ** sampler.order - (abs(k) / mpf(sampler.scale)) ** sampler.order
        )


def far_weight(sampler):
    with mp.workdps(40):
        sides = 2 if sampler.two_sided else 1
        return sides * mp.fsum(weight(sampler, sampler.far_start + j) for j in range(400))


def assert_masses(sampler, masses, longer):
    """Each integer has the mass M f / 2^(slots + width), up to what longer paths can add, and all together are 1."""
    with mp.workdps(40):
        unit = mpf(sampler.height) / mpf(2) ** (SLOT + sampler.width_bits)
        first = -sampler.far_start if sampler.two_sided else sampler.start
        integers = range(first, sampler.far_start)
        assert {outcome for outcome in masses if not isinstance(outcome, str)} <= set(integers)
        expected = {k: weight(sampler, k) * unit for k in integers}
        expected["far"] = far_weight(sampler) * unit
        rest = mpf(longer.numerator) / longer.denominator
        for outcome, probability in expected.items():
            mass = mpf(masses[outcome].numerator) / masses[outcome].denominator
            assert mass <= probability + mpf(10) ** -30, outcome
            assert probability <= mass + rest + mpf(10) ** -30, outcome
    assert sum(masses.values()) + longer == 1


@pytest.mark.parametrize(
    ("order", "scale", "start", "two_sided", "few"),
    [
        (*LAWS[1], 0),
        *(pytest.param(*law, 0, marks=pytest.mark.exhaustive) for law in (LAWS[0], *LAWS[2:])),
        *(pytest.param(*law, 64, marks=pytest.mark.exhaustive) for law in (LAWS[2], LAWS[5])),
    ],
)
def test_the_whole_tree_of_a_small_envelope_has_the_masses_of_the_law(monkeypatch, order, scale, start, two_sided, few):
    """With and without the look-up that few draws skip."""
    sampler = envelope(order, scale, start=start, two_sided=two_sided, **SMALL)
    monkeypatch.setattr(module, "FEW", few)
    masses, longer = tree(one_round(sampler, monkeypatch), requests_of(sampler), depth=3)
    assert longer < Fraction(1, 2**8) * Fraction(1, 2**8)
    assert_masses(sampler, masses, longer)


def test_the_tree_of_a_wrong_envelope_has_other_masses(monkeypatch):
    sampler = envelope.__wrapped__(2.0, 4.0, two_sided=True, **SMALL)
    # The highest level of the last block is nearly always rejected.
    last = sampler.far_slots.start - 1
    sampler.quick[last] = sampler.bases[last]
    monkeypatch.setattr(module, "FEW", 0)
    masses, longer = tree(one_round(sampler, monkeypatch), requests_of(sampler), depth=3)
    with pytest.raises(AssertionError):
        assert_masses(sampler, masses, longer)


@pytest.mark.parametrize("order", [1.0, 1.0001, 1.2, 1.5, 1.9, 2.0, 2.5, 3.0, 3.5, 8.0, 50.0])
@pytest.mark.parametrize(
    ("scale", "start", "two_sided"), [(2.0**14, 0, True), (1e6, 0, True), (2.0**40, 0, True), (1e6, 3_000_000, False)]
)
def test_no_parabola_is_off_by_more_than_its_bound(order, scale, start, two_sided):
    sampler = envelope(order, scale, start=start, two_sided=two_sided)
    random = np.random.default_rng(20261115)
    last = sampler.far_start - start
    distances = np.unique(
        np.concatenate(
            [random.integers(0, last, 150), [0, 1, last - 1, last], random.integers(0, last // 1000 + 2, 30)]
        )
    )
    heights, errors = sampler._parabola(distances)
    worst = 0.0
    for distance, height, error in zip(distances.tolist(), heights, errors, strict=True):
        with mp.workdps(40):
            off = abs(mpf(sampler.height) * weight(sampler, start + distance) - mpf(float(height)))
            assert off <= mpf(float(error))
        worst = max(worst, float(off) / float(error))
    # The bound is no fantasy: a parabola somewhere comes near it, unless roundings are all there is.
    assert worst > 0.1 or errors.max() < 1e-8


@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 3.0, 8.0, 50.0, 1e6])
@pytest.mark.parametrize("scale", [1e4, 2.0**40, 2.0**55])
def test_slots_cover_the_weights_and_hardly_more(order, scale):
    sampler = envelope(order, scale, two_sided=True)
    regular = sampler.far_slots.start
    width = 1 << sampler.width_bits
    blocks, counts = np.unique(sampler.bases[:regular], return_counts=True)
    for base, count in zip(blocks.tolist(), counts.tolist(), strict=True):
        nearest = base if base >= 0 else -(base + width)
        with mp.workdps(40):
            top = mpf(sampler.height) * weight(sampler, nearest)
            assert top <= count < top + 1 + mpf(10) ** -6
    at_once = sampler.quick != module.UNDECIDED
    for slot in np.flatnonzero(at_once)[::997].tolist():
        base = int(sampler.bases[slot])
        farthest = base + width - 1 if base >= 0 else -base
        assert sampler.levels[slot] + 1 <= mpf(sampler.height) * weight(sampler, farthest)
    assert np.mean(sampler.quick == module.UNDECIDED) < 0.06
    assert np.mean(np.isinf(sampler.levels)) < 0.02


def test_what_the_parabola_does_not_decide_is_decided_by_more_bits():
    sampler = envelope(2.0, 1e6, two_sided=True)
    x = 123_457
    with mp.workdps(60):
        height = mpf(sampler.height) * mp.exp(-((x / mpf(10) ** 6) ** 2))
        level, share = int(mp.floor(height)), height - mp.floor(height)
        digits = int(mp.floor(share * 2**128))
    first, second = digits >> 64, digits % 2**64
    assert sampler._accepts(x, level, first - 1, Scripted.words())
    assert not sampler._accepts(x, level, first + 1, Scripted.words())
    assert sampler._accepts(x, level, first, Scripted.words(second - 1))
    assert not sampler._accepts(x, level, first, Scripted.words(second + 1))
    for third, accepted in ((0, True), (2**64 - 1, False)):
        source = Scripted.words(second, third)
        assert sampler._accepts(x, level, first, source) is accepted
        assert source.spent


def test_the_far_slots_are_accepted_as_often_as_their_sum_says():
    sampler = envelope(1.0, 1e6, two_sided=True)
    with mp.workdps(60):
        q = mp.exp(-(mpf(10) ** -6))
        beyond = 2 * mp.exp(-mpf(sampler.far_start) / 10**6) / (1 - q)
        height = mpf(sampler.height) * beyond / mpf(2) ** sampler.width_bits
        level, word = int(mp.floor(height)), int(mp.floor((height - mp.floor(height)) * 2**64))
    assert level < len(sampler.far_slots)
    assert sampler._accepts(None, level, word - 1, Scripted.words())
    assert not sampler._accepts(None, level, word + 1, Scripted.words())


def test_spare_trials_fill_the_places_of_rejected_ones(monkeypatch):
    """Of three trials the second is rejected, of three spares the first; the second spare takes its place."""
    sampler = envelope(2.0, 1e6, two_sided=True)
    picks = [([0, 1, 2, 3, 4, 5], [10, 11, 12, 13, 14, 15])]
    monkeypatch.setattr(Envelope, "_pick", lambda *_: tuple(np.array(part, dtype=np.uint16) for part in picks.pop(0)))
    monkeypatch.setattr(module, "_spares", lambda _: 3)

    def compared(_, slots, places, __):
        assert slots.tolist() == [0, 1, 2, 3, 4, 5]
        return np.array([True, False, True, False, True, True]), places.astype(np.int64)

    monkeypatch.setattr(Envelope, "_compare", compared)
    out = np.empty(3, dtype=np.int64)
    sampler.draw(out, SECURE)
    assert out.tolist() == [10, 14, 12]
    assert not picks


@pytest.mark.parametrize("size", [64, 1000, 2**15, 2**15 + 1, 2**16 + 77])
def test_spare_trials_come_after_all_others_and_are_all_compared(monkeypatch, size):
    sampler = envelope(2.0, 1e6, two_sided=True)
    seen = []
    real = Envelope._compare

    def compared(self, slots, places, source):
        seen.append((slots, places))
        return real(self, slots, places, source)

    monkeypatch.setattr(Envelope, "_compare", compared)
    out = np.empty(size, dtype=np.int64)
    undecided, slots, places = sampler._accept_at_once(out, SECURE)
    assert slots.size == places.size == undecided.size + module._spares(size)
    assert np.all(np.diff(undecided) > 0)
    assert np.all(sampler.quick[slots[: undecided.size]] == module.UNDECIDED)
    sampler.draw(out, SECURE)
    assert seen[0][0].size >= module._spares(size)


def test_far_draws_lie_beyond_the_blocks_on_both_sides():
    sampler = envelope(1.0, 1e5, two_sided=True)
    kept, values = sampler._draw_far(100_000, SECURE)
    assert np.all(np.abs(values) >= sampler.far_start)
    assert np.all(values[kept] != -sampler.far_start)
    assert 0.48 < np.mean(values > 0) < 0.52


def test_a_batch_of_any_size_is_filled():
    sampler = envelope(2.0, 1e6, two_sided=True)
    for size in (0, 1, 63, 64, 65, module.BATCH - 1, module.BATCH + 1):
        out = np.full(size, 2**62, dtype=np.int64)
        sampler.draw(out, SECURE)
        assert np.all(np.abs(out) < 10**8)
