"""Intervals cover at their level whatever the true value is, and no shorter ones would."""

import math
from fractions import Fraction

import mpmath as mp
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.releases.enumerated import BOUNDINGS, HAIR, LARGEST, LEAST, bounded, masses, outputs

from ggdp.errors import ArgumentError
from ggdp.privacy.grid import Grid
from ggdp.releases import error_law
from ggdp.releases.error_law import ErrorLaw


def coverage(law, level, *, narrower=0):
    """The probability, at each integer true value, that it lies in its interval, made narrower at both ends."""
    pair = law.index_bounds[0] if law.bounding else None
    values = range(pair[0], pair[1] + 1) if pair else [-7]
    found = []
    for s in values:
        y, q = outputs(law, s, pair)
        lower, upper = law.intervals(y, level)
        found.append(q[(lower + narrower <= s) & (s <= upper - narrower)].sum())
    return np.array(found)


@pytest.mark.parametrize("order", [1.0, 1.7, 2.0, 5.0, 50.0])
@pytest.mark.parametrize("scale", [0.3, 2.0, 37.5])
@pytest.mark.parametrize("level", [0.01, 0.5, 0.95, 1 - 1e-6, 1 - 1e-12])
def test_the_half_width_is_the_least_that_reaches_the_level(order, scale, level):
    h = ErrorLaw(order=order, scale=scale).half_width(level)
    with mp.workdps(50):
        far = math.ceil(scale * 80 ** (1 / order)) + 2
        weights = [mp.exp(-((mp.mpf(k) / mp.mpf(scale)) ** mp.mpf(order))) for k in range(far)]
        total = 2 * mp.fsum(weights) - 1
        assert h == int(h) >= 0
        assert 1 - 2 * mp.fsum(weights[int(h) + 1 :]) / total >= mp.mpf(level)
        if h > 0:
            assert 1 - 2 * mp.fsum(weights[int(h) :]) / total < mp.mpf(level)


def test_at_order_one_the_half_width_has_a_closed_form_at_any_scale():
    for scale, level in ((3.0, 0.95), (2.0**40, 0.95), (2.0**54, 1 - 2.0**-53)):
        # P(|K| > h) = 2 q^(h + 1) / (1 + q).
        with mp.workdps(60):
            q = mp.exp(-1 / mp.mpf(scale))
            exact = mp.ceil(mp.log((1 - mp.mpf(level)) * (1 + q) / 2) / mp.log(q)) - 1
        assert error_law.noise_half_width(1.0, scale, level) == int(exact)
        assert 0 <= ErrorLaw(order=1, scale=scale).half_width(level) - int(exact) < 2**8


@pytest.mark.parametrize("order", [1.0, 2.0, 8.0])
@pytest.mark.parametrize("scale", [0.4, 3.0, 25.0])
@pytest.mark.parametrize("level", [0.3, 0.9, 0.95, 0.999])
def test_unbounded_intervals_cover_and_are_the_narrowest(order, scale, level):
    law = ErrorLaw(order=order, scale=scale)
    assert coverage(law, level) >= level
    assert law.half_width(level) == 0 or coverage(law, level, narrower=1) < level


@pytest.mark.parametrize("bounding", BOUNDINGS)
@pytest.mark.parametrize("order", [1.0, 1.5, 2.0, 9.0])
@pytest.mark.parametrize(
    ("scale", "low", "high"), [(0.4, 0, 6), (3.0, -4, 30), (8.0, 0, 10), (150.0, 5, 45), (2.0, 0, 1)]
)
@pytest.mark.parametrize("level", [0.5, 0.95, 0.999])
def test_bounded_intervals_cover_every_true_value(bounding, order, scale, low, high, level):
    law = bounded(bounding, order, scale, low, high)
    assert coverage(law, level).min() >= level - HAIR
    lower, upper = law.intervals(np.arange(low, high + 1), level)
    assert lower.dtype == upper.dtype == np.int64
    assert lower.min() >= low
    assert upper.max() <= high
    assert (lower <= np.arange(low, high + 1)).all()
    assert (upper >= np.arange(low, high + 1)).all()


@pytest.mark.parametrize("bounding", BOUNDINGS)
@pytest.mark.parametrize(("order", "scale"), [(1.0, 3.0), (2.0, 8.0), (9.0, 15.0)])
def test_bounded_intervals_that_are_one_step_narrower_do_not_cover(bounding, order, scale):
    law = bounded(bounding, order, scale, -3, 60)
    covered = coverage(law, 0.95, narrower=1)
    assert covered.min() < 0.95
    # Away from the bounds no true value is left over.
    assert covered[25:35].max() < 0.95


@settings(deadline=None, max_examples=examples(20, 60))
@given(
    st.sampled_from([*BOUNDINGS, None]),
    st.floats(1.0, 12.0),
    st.floats(0.1, 40.0),
    st.integers(1, 40),
    st.floats(0.001, 0.9999),
)
def test_whatever_the_law_its_intervals_cover(bounding, order, scale, width, level):
    law = bounded(bounding, order, scale, -5, width - 5) if bounding else ErrorLaw(order=order, scale=scale)
    assert coverage(law, level).min() >= level - HAIR


def inverted(law, level, margin=1e-12):
    """The definition: d(s) for every s, and for every y the least and the largest s with |y - s| <= d(s)."""
    low, high = law.index_bounds[0]
    x = np.arange(low, high + 1)
    apart = np.abs(x[:, None] - x[None, :])
    weights = np.exp(-((apart / law.scale) ** law.order))
    beyond = np.array([[row[gap > d].sum() for d in range(x.size)] for row, gap in zip(weights, apart, strict=True)])
    shares = beyond / weights.sum(axis=1, keepdims=True)
    assume(np.abs(shares - (1 - level)).min() > margin)
    distance = np.argmax(shares <= 1 - level, axis=1)
    fits = apart <= distance[:, None]
    return x[np.argmax(fits, axis=0)], x[::-1][np.argmax(fits[::-1], axis=0)], distance


@settings(deadline=None, max_examples=examples(26, 80))
@given(st.floats(1.0, 12.0), st.floats(0.1, 60.0), st.integers(1, 40), st.floats(0.001, 0.99999))
def test_truncated_intervals_are_the_least_distances_inverted(order, scale, width, level):
    law = bounded("truncated", order, scale, 0, width)
    lower, upper, distance = inverted(law, level)
    found = law.intervals(np.arange(width + 1), level)
    assert found[0].tolist() == lower.tolist()
    assert found[1].tolist() == upper.tolist()
    assert law.half_width(level) == distance.max()


@settings(deadline=None, max_examples=examples(20, 60))
@given(st.floats(1.0, 12.0), st.floats(0.1, 60.0), st.integers(2, 40), st.floats(0.001, 0.99999))
def test_neighbouring_true_values_have_distances_at_most_one_apart(order, scale, width, level):
    """What makes the inverse an interval."""
    law = bounded("truncated", order, scale, 0, width)
    assert np.abs(np.diff(inverted(law, level)[2])).max() <= 1


@pytest.mark.parametrize("order", [1.0, 2.0, 7.0])
@pytest.mark.parametrize(("scale", "width"), [(90.0, 2000), (400.0, 1500), (1e7, 999)])
def test_sums_in_blocks_still_cover_and_cost_a_block_or_two(order, scale, width, monkeypatch):
    law = bounded("truncated", order, scale, 0, width)
    y = np.arange(width + 1)
    error_law.truncated_test.cache_clear()
    exact = law.intervals(y), law.half_width()
    monkeypatch.setattr(error_law, "_MOST_BLOCKS", 64)
    error_law.truncated_test.cache_clear()
    try:
        test = error_law.truncated_test(order, scale, width)
        block = 1 << test.shift
        coarse = law.intervals(y), law.half_width()
    finally:
        error_law.truncated_test.cache_clear()
    assert block > 1
    (lower, upper), h = coarse
    assert (lower <= exact[0][0]).all()
    assert (upper >= exact[0][1]).all()
    assert exact[1] <= h <= exact[1] + 4 * block
    inner = slice(width // 3, width // 2)
    assert (exact[0][0] - lower)[inner].max() <= 4 * block


@pytest.mark.parametrize(("order", "scale"), [(1.0, 30.0), (2.0, 80.0), (7.0, 200.0)])
def test_blocks_are_summed_from_above_outside_and_from_below_inside(order, scale, monkeypatch):
    monkeypatch.setattr(error_law, "_MOST_BLOCKS", 32)
    test = error_law.truncated_test.__wrapped__(order, scale, 300)
    weights = np.exp(-((np.arange(301) / scale) ** order))
    block = 1 << test.shift
    assert block > 1
    starts = np.arange(0, 301, block)
    beyond = np.array([weights[start:].sum() for start in starts])
    within = np.array([weights[:start].sum() for start in starts])
    assert (test.beyond[: starts.size] >= beyond).all()
    assert (test.within[: starts.size] <= within).all()
    assert (test.beyond[: starts.size] <= beyond + block * np.exp(-((starts / scale) ** order)) + block).all()
    assert (test.within[: starts.size] >= within - block).all()


def test_wide_bounds_and_the_unbounded_law_agree_away_from_the_bounds():
    for order, scale in ((1.0, 5.0), (2.0, 3e4), (2.0, 2.0**44)):
        far = 1 << 60
        law = bounded("truncated", order, scale, -far, far)
        y = np.arange(-500, 500) * (1 << 40)
        lower, upper = law.intervals(y)
        h = ErrorLaw(order=order, scale=scale).half_width()
        assert ((y - lower) == (upper - y)).all()
        assert h <= (y - lower).min() <= (y - lower).max() <= h * (1 + 1e-4)
        assert law.intervals(np.array([far]))[1] == far


def test_at_a_level_next_to_one_truncated_intervals_are_finite_and_cover():
    law = bounded("truncated", 2.0, 3.0, 0, 60)
    assert law.half_width(1 - 1e-12) < 20
    assert coverage(law, 1 - 1e-12).min() >= 1 - 1e-12 - HAIR
    assert coverage(law, 1 - 1e-9, narrower=1).min() < 1 - 1e-9


def test_many_values_have_the_intervals_that_each_has_alone():
    law = bounded("truncated", 2.0, 700.0, -100, 5000)
    y = np.random.default_rng(1).integers(-100, 5000, size=(3, 999), endpoint=True)
    lower, upper = law.intervals(y)
    for i in range(0, 999, 83):
        alone = law.intervals(y[1, i])
        assert alone[0].shape == ()
        assert (lower[1, i], upper[1, i]) == alone


# On the grid.


def true_values(index):
    """Values that are rounded to an index, in steps: also the ends, of which the upper one belongs to the next."""
    return [Fraction(index) + part for part in (Fraction(-1, 2), Fraction(-1, 3), Fraction(0), Fraction(49, 100))]


@pytest.mark.parametrize("step", [2.0**-10, 1.0, 2.0**7])
def test_intervals_on_the_grid_cover_values_that_are_off_it(step):
    law = ErrorLaw(order=2, scale=4.0, step=step)
    k, q = masses(2.0, 4.0)
    # A level that integers reach with nothing to spare.
    level = q[np.abs(k) <= 5].sum() - 1e-9
    unrounded, narrower = [], []
    for s in true_values(11):
        index = int(Grid(step=step).index(float(s) * step))
        lower, upper = law.intervals((index + k) * step, level)
        assert lower.dtype == upper.dtype == np.float64
        true = float(s) * step
        assert q[(lower <= true) & (true <= upper)].sum() >= level
        half = step / 2
        unrounded.append(q[(lower + half <= true) & (true <= upper - half)].sum())
        narrower.append(q[(lower + step <= true) & (true <= upper - step)].sum())
    # Without the half step of rounding some values are missed; a value on the grid is not.
    assert min(unrounded) < level <= unrounded[2]
    assert narrower[2] < level


@pytest.mark.parametrize("indices", [(5, 77), (8, 77), (6, 76), (6, 79)])
def test_bounds_that_no_mechanism_rounds_to_these_indices_are_refused(indices):
    # 0.1 and 1.2 are 6.4 and 76.8 steps.
    with pytest.raises(ArgumentError, match="do not match index_bounds"):
        ErrorLaw(order=2, scale=9.0, step=2.0**-6, bounding="truncated", index_bounds=(indices,), bounds=((0.1, 1.2),))


@pytest.mark.parametrize("bounding", BOUNDINGS)
# Index bounds as a mechanism makes them: 0.1 and 1.2 are 6.4 and 76.8 steps, and an upper index may be raised by one.
@pytest.mark.parametrize(
    ("bounds", "indices"),
    [
        ((0.1, 1.2), (6, 77)),
        ((0.1, 1.2), (6, 78)),
        ((0.11, 1.19), (7, 76)),
        ((0.125, 1.0), (8, 64)),
    ],
)
def test_intervals_within_bounds_off_the_grid_cover(bounding, bounds, indices):
    step, level = 2.0**-6, 0.9
    law = bounded(bounding, 2.0, 12.0, *indices, step=step, bounds=(bounds,))
    grid = Grid(step=step)
    values = [*np.linspace(*bounds, 97).tolist(), *(i * step - step / 2 for i in range(indices[0] + 1, indices[1]))]
    worst = 1.0
    for true in (value for value in values if bounds[0] <= value <= bounds[1]):
        s = int(np.clip(grid.index(true), *indices))
        m, q = outputs(law, s, indices)
        lower, upper = law.intervals(np.clip(m * step, *bounds), level)
        assert (lower >= bounds[0]).all()
        assert (upper <= bounds[1]).all()
        assert q[(lower <= true) & (true <= upper)].sum() >= level - HAIR
        worst = min(worst, q[(lower + step <= true) & (true <= upper - step)].sum())
    assert worst < level


@pytest.mark.parametrize("bounding", BOUNDINGS)
def test_a_true_value_beyond_the_bounds_is_covered_as_the_bound(bounding):
    law = bounded(bounding, 2.0, 12.0, 6, 78, step=2.0**-6, bounds=((0.1, 1.2),))
    for s, bound in ((6, 0.1), (78, 1.2)):
        m, q = outputs(law, s, (6, 78))
        lower, upper = law.intervals(np.clip(m * 2.0**-6, 0.1, 1.2), 0.9)
        assert q[(lower <= bound) & (bound <= upper)].sum() >= 0.9 - HAIR


# Ends of int64, and floats that are rounded.


@pytest.mark.parametrize("s", [LEAST, LEAST + 3, 0, LARGEST - 3, LARGEST])
def test_at_the_ends_of_64_bits_noise_up_to_the_half_width_stays_covered(s):
    law = ErrorLaw(order=2, scale=3.0)
    h = int(law.half_width())
    y = np.array([min(max(s + k, LEAST), LARGEST) for k in range(-h, h + 1)])
    lower, upper = law.intervals(y)
    assert (lower <= s).all()
    assert (upper >= s).all()
    assert [int(low) for low in lower] == [max(int(v) - h, LEAST) for v in y]
    assert [int(high) for high in upper] == [min(int(v) + h, LARGEST) for v in y]


@settings(deadline=None, max_examples=examples(66, 200))
@given(
    st.one_of(st.integers(LEAST, LARGEST), st.integers(-3000, 3000).map(lambda x: LARGEST + x), st.integers(-9, 9)),
    st.integers(-50, 50),
    st.sampled_from([2.0**-1022, 2.0**-30, 1.0, 2.0**900, 2.0**1000]),
    st.fractions(-Fraction(1, 2), Fraction(1, 2)),
)
def test_on_the_grid_noise_up_to_the_half_width_stays_covered_wherever_floats_are_rounded(index, k, step, part):
    law = ErrorLaw(order=1, scale=17.0, step=step)
    assume(abs(k) <= law.half_width(0.9) / step)
    true = (index + part) * Fraction(step)
    grid = Grid(step=step)
    clamped = min(max(int(grid.index(true)) + k, LEAST), LARGEST)
    lower, upper = law.intervals(grid.values(np.array([clamped])), 0.9)
    assert float(lower[0]) == -math.inf or Fraction(float(lower[0])) <= true
    assert float(upper[0]) == math.inf or Fraction(float(upper[0])) >= true


@settings(deadline=None, max_examples=examples(100, 300))
@given(st.integers(0, 62), st.integers(-3, 3), st.booleans(), st.sampled_from([1, -1]))
def test_ends_are_rounded_outwards(exponent, more, negative, sign):
    index = (2**exponent + more) * (-1 if negative else 1)
    for other in (index, index // 3, index // 3 * 2 + 1):
        edge = Fraction(float(error_law.outward(np.array([other]), 0.5, sign)[0]))
        exact = (other + Fraction(sign, 2)) / 2
        assert sign * (edge - exact) >= 0
        assert abs(edge - exact) <= abs(exact) * Fraction(1, 2**51)
        assert edge == exact or abs(other) >= 2**52 - 1


def test_a_saturated_value_on_the_grid_may_be_anything_beyond():
    law = ErrorLaw(order=2, scale=3.0, step=0.5)
    lower, upper = law.intervals([-(2.0**62), 2.0**62, 0.0])
    assert lower[0] == -math.inf
    assert upper[1] == math.inf
    assert math.isfinite(upper[0])
    assert math.isfinite(lower[1])
    assert upper[2] == -lower[2] == law.half_width() + 0.25


@pytest.mark.parametrize("step", [None, 0.5])
def test_true_values_that_were_clamped_before_the_noise_are_covered_all_the_same(step):
    law, unit = ErrorLaw(order=2, scale=3.0, step=step, clamp=1000), step or 1
    h = int(law.half_width() / unit)
    y = (1000 + np.arange(-h, h + 1)) * unit
    lower, upper = law.intervals(np.concatenate([y, -y]))
    for true in np.array([1000, 1001, 10**12]) * unit:
        assert (lower[: y.size] <= true).all()
        assert (true <= upper[: y.size]).all()
        assert (lower[y.size :] <= -true).all()
    assert law.intervals(np.array([(999 - h) * unit]))[1] < 1000 * unit
    assert law.bias(1500 * unit) == -500 * unit


def test_a_scale_beyond_64_bits_says_nothing():
    lower, upper = ErrorLaw(order=1, scale=2.0**62).intervals(np.array([5]))
    assert (lower[0], upper[0]) == (LEAST, LARGEST)


# Coordinates and arguments.
