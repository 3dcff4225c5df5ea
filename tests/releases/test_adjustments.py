import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

import ggdp
from ggdp import SeededSource
from ggdp.errors import ArgumentError
from ggdp.mechanisms import Mechanism
from ggdp.releases import Release, clip, drop, fit_total, normalise, project, round_values
from ggdp.releases.release import make_release

ONE, TWO = ggdp.Sensitivity.histogram(), ggdp.Sensitivity.histogram(neighbours="replace-one")
PROBABILISTIC, APPROXIMATE = ggdp.ProbabilisticDP(1.0, 0.01), ggdp.ApproxDP(1.0, 0.01)
GOALS = [ggdp.PureDP(1.0), PROBABILISTIC, APPROXIMATE]
ADJUSTMENTS = {
    "clip": lambda release: clip(release, 0, 1000),
    "round_values": round_values,
    "normalise": lambda release: normalise(release, 600),
    "project": lambda release: project(release, 600),
    "fit_total": lambda release: fit_total(release, 600),
    "drop": lambda release: drop(release, [1]),
}


@cache
def mechanism(goal, query=TWO, support="integer"):
    return Mechanism(ggdp.calibrate(goal, query, order=1 if goal.notion == "pure" else 2, support=support))


@pytest.fixture(scope="module")
def counts():
    return mechanism(ggdp.PureDP(1.0))


def with_values(counts, values):
    """A release of given values, to see what an adjustment makes of them."""
    return make_release(np.asarray(values), counts.record, counts.guarantee)


@pytest.mark.parametrize("goal", GOALS, ids=lambda goal: goal.notion)
@pytest.mark.parametrize(
    ("name", "support"),
    # What is on a grid has no whole numbers to be fitted.
    [
        (name, support)
        for name in ADJUSTMENTS
        for support in ("integer", "real")
        if (name, support) != ("fit_total", "real")
    ],
)
def test_pure_and_approximate_dp_survive_and_probabilistic_dp_becomes_approximate(name, goal, support):
    query = TWO if goal.notion != "probabilistic" else ggdp.Sensitivity.cells(1, 1, neighbours="replace-one")
    before = mechanism(goal, query, support).release([100, 200, 300])
    after = ADJUSTMENTS[name](before)
    assert before.guarantee.notion == goal.notion
    assert after.guarantee == before.guarantee.after_postprocessing()
    assert after.guarantee.notion == {"probabilistic": "approximate"}.get(goal.notion, goal.notion)
    assert [step.name for step in after.adjustments] == [name]


@pytest.mark.parametrize("name", ADJUSTMENTS)
def test_what_was_not_private_is_not_afterwards(counts, name):
    release = counts.release([100, 200, 300], rng=SeededSource(seed=1))
    assert ADJUSTMENTS[name](release).guarantee is None


@pytest.mark.parametrize("name", ADJUSTMENTS)
def test_the_release_before_is_left_as_it_was_and_the_noisy_values_go_along(counts, name):
    release = counts.release([100, 200, 300])
    kept = release.values.copy()
    after = ADJUSTMENTS[name](release)
    assert (release.values == kept).all()
    assert release.adjustments == ()
    assert after.noisy.tolist() == (kept[[0, 2]] if name == "drop" else kept).tolist()
    with pytest.raises(ValueError, match="read-only"):
        after.values[0] = 1


@pytest.mark.parametrize("name", [name for name in ADJUSTMENTS if name != "drop"])
def test_intervals_stay_those_of_the_raw_noisy_values(counts, name):
    release = counts.release([100, 200, 300])
    before, after = release.interval(0.9), ADJUSTMENTS[name](release).interval(0.9)
    assert (before.lower == after.lower).all()
    assert (before.upper == after.upper).all()


def test_errors_of_adjusted_values_are_not_guessed(counts):
    release = counts.release([100, 200, 300])
    assert drop(release, [0], chosen="publicly").standard_error() == release.standard_error()
    with pytest.raises(ArgumentError, match=r"adjusted by drop\(chosen = by-values, of = 3, left = 2\)"):
        drop(release, [0]).bias()
    for adjusted, name in (
        (clip(release, 0), "clip"),
        (round_values(release), "round_values"),
        (project(release, 600), "project"),
    ):
        with pytest.raises(ArgumentError, match=rf"adjusted by {name}\("):
            adjusted.standard_error()


def test_clip_keeps_integers_and_bounds_beyond_64_bits(counts):
    release = with_values(counts, [-(2**63), -5, 3, 2**63 - 1])
    assert clip(release, 0, 3).values.tolist() == [0, 0, 3, 3]
    assert clip(release, lower=-(2**80)).values.tolist() == release.values.tolist()
    assert clip(release, upper=1e30).values.tolist() == release.values.tolist()
    assert clip(release, 0.0, 4.0).values.dtype == np.int64
    assert clip(release, 0.5, 4).values.tolist() == [0.5, 0.5, 3.0, 4.0]
    assert clip(release, 2**53 + 1).values.tolist()[0] == 2**53 + 1


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ((None, None), "lower = None: give at least one bound"),
        ((3, 2), "upper = 2: must not be below lower = 3"),
        ((math.nan, 2), "lower = nan: must be finite"),
        (("0", 2), "lower = '0': must be a real number"),
    ],
)
def test_wrong_bounds_are_named(counts, bounds, message):
    with pytest.raises(ArgumentError, match=message):
        clip(counts.release([1]), *bounds)


def test_halves_are_rounded_up():
    reals = mechanism(ggdp.PureDP(1.0), support="real")
    release = with_values(reals, [0.5, 1.5, -0.5, -1.5, 0.49999999999999994, 1e300])
    assert round_values(release).values.tolist() == [1, 2, 0, -1, 0, 2**63 - 1]


def test_normalised_values_keep_their_proportions(counts):
    after = normalise(with_values(counts, [30, -10, 80]), 1000)
    assert after.values == pytest.approx([300, -100, 800])
    assert normalise(with_values(counts, [2**62, 2**62, 2**62, 2**62]), 4).values.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize("values", [[0, 0], [-5, 3], []])
def test_values_that_add_up_to_nothing_are_not_normalised(counts, values):
    with pytest.raises(ArgumentError, match="use project"):
        normalise(with_values(counts, np.array(values, dtype=np.int64)), 10)


@pytest.mark.parametrize("function", [normalise, project])
def test_a_public_total_needs_replace_one(function):
    release = mechanism(ggdp.PureDP(1.0), ONE).release([1, 2])
    with pytest.raises(ArgumentError, match=r"under add-remove neighbours.*needs replace-one neighbours"):
        function(release, 3)


@pytest.mark.parametrize("function", [normalise, project])
@pytest.mark.parametrize("total", [-1, math.inf, math.nan, None, True, "10"])
def test_a_total_is_a_number_that_is_not_negative(counts, function, total):
    with pytest.raises(ArgumentError, match="total = "):
        function(counts.release([1, 2]), total)


@settings(deadline=None, max_examples=examples(66, 200))
@given(
    st.lists(st.integers(-(10**6), 10**6), min_size=1, max_size=40),
    st.floats(0, 1e6, allow_subnormal=False),
)
def test_the_projection_is_the_nearest_point(values, total):
    # The conditions of Karush, Kuhn and Tucker, which tell the one nearest point from all others.
    mechanism = Mechanism(CALIBRATION)
    found = project(with_values(mechanism, values), total).values
    scale = max(max(map(abs, values)), total, 1.0)
    assert (found >= 0).all()
    assert math.fsum(found) == pytest.approx(total, abs=1e-9 * scale)
    moved = np.asarray(values) - found
    inside = found > 1e-9 * scale
    if inside.any():
        level = moved[inside].mean()
        assert np.abs(moved[inside] - level).max() <= 1e-9 * scale
        assert (np.asarray(values)[~inside] <= level + 1e-9 * scale).all()


CALIBRATION = ggdp.calibrate(ggdp.PureDP(1.0), TWO, order=1, support="integer")


def test_the_projection_of_extremes(counts):
    assert project(with_values(counts, [[5, 1], [-3, 2]]), 0).values.tolist() == [[0, 0], [0, 0]]
    assert project(with_values(counts, [7]), 3).values.tolist() == [3]
    assert project(with_values(counts, [2**63 - 1, -(2**63)]), 10).values.tolist() == [10, 0]
    assert project(with_values(counts, np.zeros(4, dtype=np.int64)), 10).values.tolist() == [2.5] * 4
    assert project(with_values(counts, np.zeros(0, dtype=np.int64)), 0).values.tolist() == []
    with pytest.raises(ArgumentError, match="total = 5: must be 0: the release has no cells"):
        project(with_values(counts, np.zeros(0, dtype=np.int64)), 5)


def test_cells_are_dropped_by_place_or_mask(counts):
    release = with_values(counts, [[1, 2, 3], [4, 5, 6]])
    assert drop(release, [0, 4]).values.tolist() == [2, 3, 4, 6]
    assert drop(release, release.values > 4).values.tolist() == [1, 2, 3, 4]
    assert drop(release, []).values.tolist() == [1, 2, 3, 4, 5, 6]
    assert drop(release, np.ones((2, 3), dtype=bool)).values.size == 0
    assert drop(drop(release, [0]), [0]).values.tolist() == [3, 4, 5, 6]
    for cells in ([6], [-1], [0.5], "0", np.ones(6, dtype=bool)):
        with pytest.raises(ArgumentError, match="cells = "):
            drop(release, cells)


def test_bounds_of_each_coordinate_go_with_their_cells():
    goal, query = ggdp.PureDP(1.0), ggdp.Sensitivity.disjoint(1)
    bounds = [(0, 2), (10, 14), (20, 29)]
    calibration = ggdp.calibrate(goal, query, order=2, support="integer", bounds=bounds, bounding="boundary-inflated")
    release = Mechanism(calibration).release([[0, 12, 25], [2, 11, 22]])
    whole, part = release.interval(), drop(release, [0, 4], chosen="publicly").interval()
    assert drop(release, np.ones((2, 3), dtype=bool)).interval().lower.tolist() == []
    left = [1, 2, 3, 5]
    assert part.lower.tolist() == whole.lower.reshape(-1)[left].tolist()
    assert part.upper.tolist() == whole.upper.reshape(-1)[left].tolist()


def test_cells_that_are_left_out_publicly_take_nothing_with_them():
    release = mechanism(PROBABILISTIC, ONE).release([1, 2, 3])
    left = drop(release, [0], chosen="publicly")
    assert isinstance(left.guarantee, ggdp.ProbabilisticDP)
    assert left.guarantee == release.guarantee
    assert left.interval().upper.tolist() == release.interval().upper[1:].tolist()
    assert drop(drop(release, [0]), [0], chosen="publicly").guarantee == release.guarantee.to_approximate()
    with pytest.raises(ArgumentError, match="chosen = 'both'"):
        drop(release, [0], chosen="both")


def test_intervals_of_cells_chosen_by_their_noise_cover_all_cells_together():
    # Exactly: of n cells without people, the one with the largest noise is left.
    counts = mechanism(ggdp.PureDP(1.0), ONE)
    law = ggdp.IntegerNoise(order=1, scale=counts.scale)
    for n, level in ((10, 0.95), (1000, 0.5), (10**6, 0.999)):
        release = with_values(counts, np.arange(n))
        left = drop(release, np.arange(n) < n - 1)
        h = int(left.interval(level).upper[0] - left.noisy[0])
        assert (1 - 2 * (1 - law.cdf(h))) ** n >= level
        assert (1 - 2 * (1 - law.cdf(h - 1))) ** n < level
        again = drop(left, [])
        assert again.interval(level).upper.tolist() == left.interval(level).upper.tolist()


def test_what_is_left_keeps_its_raw_noisy_values_and_its_places(counts):
    release = clip(with_values(counts, [[-7, 5], [9, -3]]), 0)
    left = drop(release, [1])
    assert left.values.tolist() == [0, 9, 0]
    assert left.noisy.tolist() == [-7, 9, -3]
    assert left.places.tolist() == [0, 2, 3]
    assert drop(left, [0]).places.tolist() == [2, 3]
    assert release.places is None


def test_what_is_left_has_no_public_total(counts):
    with pytest.raises(ArgumentError, match="adjust all cells first, then drop"):
        normalise(drop(counts.release([100, 200, 300]), [0]), 500)


def test_a_total_that_takes_values_beyond_all_floats_is_refused(counts):
    with pytest.raises(ArgumentError, match=r"total = 1e\+300: scales values beyond the range of floats"):
        normalise(with_values(counts, [-(10**15), 10**15, 1]), 1e300)


def test_values_near_the_end_of_floats_are_normalised():
    huge = with_values(mechanism(ggdp.PureDP(1.0), support="real"), [1e308, 1e308, 5e307])
    assert normalise(huge, 5).values == pytest.approx([2, 2, 1])


@pytest.mark.parametrize("cells", [[[1, 2], [3]], "no"])
def test_cells_that_are_no_list_of_places_are_refused(counts, cells):
    with pytest.raises(ArgumentError, match="cells = "):
        drop(counts.release([1, 2, 3]), cells)


@pytest.mark.parametrize("adjust", ADJUSTMENTS.values(), ids=ADJUSTMENTS)
def test_only_releases_of_numbers_are_adjusted(counts, adjust):
    with pytest.raises(ArgumentError, match="release = 'list'"):
        adjust([1, 2, 3])
    names = Release(values=np.array(["a", "b"]), mechanism=counts.record)
    if adjust is not ADJUSTMENTS["drop"]:
        with pytest.raises(ArgumentError, match="its values are not numbers"):
            adjust(names)


NOISY = st.lists(st.integers(-50, 500) | st.sampled_from([2**62, -(2**62)]), min_size=1, max_size=12)


@given(NOISY, st.integers(0, 2000), st.booleans())
def test_fitted_counts_are_whole_and_add_up_to_the_total(values, total, nonnegative):
    fitted = fit_total(with_values(mechanism(ggdp.PureDP(1.0)), values), total, nonnegative=nonnegative).values
    assert fitted.dtype == np.int64
    assert sum(fitted.tolist()) == total
    assert not nonnegative or fitted.min() >= 0


@given(st.lists(st.integers(-50, 500), min_size=1, max_size=5), st.integers(0, 300))
def test_fitted_counts_are_within_one_of_the_nearest_real_ones(values, total):
    release = with_values(mechanism(ggdp.PureDP(1.0)), values)
    nearest = project(release, total).values
    assert np.abs(fit_total(release, total, nonnegative=True).values - nearest).max() < 1.0 + 1e-9
    shifted = np.array(values) + (total - sum(values)) / len(values)
    assert np.abs(fit_total(release, total).values - shifted).max() < 1.0 + 1e-9


def test_each_part_is_fitted_by_itself(counts):
    fitted = fit_total(with_values(counts, [5, 6, 10, 20, 30]), 60, parts=[slice(0, 2), slice(2, 5)])
    assert fitted.values.tolist() == [30, 30, 10, 20, 30]
    assert "in each table" in fitted.manifest["statement"]


def test_fitting_refuses_floats_and_totals_that_floats_do_not_hold(counts):
    with pytest.raises(ArgumentError, match="not whole numbers"):
        fit_total(with_values(counts, [1.5]), 3)
    with pytest.raises(ArgumentError, match="2\\^53"):
        fit_total(with_values(counts, [1]), 2**53 + 1)
    with pytest.raises(ArgumentError, match="must be an integer"):
        fit_total(with_values(counts, [1]), 3.0)
