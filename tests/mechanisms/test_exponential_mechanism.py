"""The Exponential mechanism keeps its epsilon, spends nearly all of it at worst, and tells nothing else."""

import copy
import math
import pickle
import traceback
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from tests.cases import examples

import ggdp
from ggdp._balls import working_precision
from ggdp.calibration import exponential_calibration, utility_sensitivity
from ggdp.errors import ArgumentError
from ggdp.mechanisms import exponential_mechanism as module
from ggdp.mechanisms.exponential_mechanism import ExponentialMechanism, selection_probabilities
from ggdp.noise import SeededSource
from ggdp.noise.selection import Weights
from ggdp.noise.table import window

PURE = ggdp.PureDP(1.0)
LEAST, LARGEST = -(2**63), 2**63 - 1
FLOAT = float(np.finfo(np.float64).max)


def chosen(count, *, sensitivity=1, goal=PURE, **how):
    return ExponentialMechanism(goal, sensitivity=sensitivity, candidates=count, **how)


def law(mechanism, utilities):
    """The probabilities that the mechanism draws by, in balls, from the very weights that are handed to the sampler."""
    given = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "select_candidate", lambda weights, _: given.append(weights) or 0)
        mechanism.release(utilities)
    (weights,) = given
    enclosed = [weights.enclose(i) for i in range(weights.utilities.size)]
    total = sum(enclosed)
    return [weight / total for weight in enclosed]


@st.composite
def neighbouring(draw):
    """Utilities on two neighbouring data sets, that differ by at most the sensitivity, as fractions."""
    sensitivity = Fraction(draw(st.sampled_from([1.0, 0.1, 3.0, 1e-9])))
    count = draw(st.integers(1, 7))
    here = [sensitivity * draw(st.fractions(-9, 9, max_denominator=50)) for _ in range(count)]
    shares = [draw(st.one_of(st.sampled_from([-1, 0, 1]), st.fractions(-1, 1, max_denominator=9))) for _ in here]
    return sensitivity, here, [u + share * sensitivity for u, share in zip(here, shares, strict=True)]


@given(neighbouring(), st.sampled_from([0.01, 1.0, 7.5]))
@settings(deadline=None, max_examples=examples(20, 60))
def test_no_probability_changes_by_more_than_a_factor_of_e_to_the_epsilon(case, epsilon):
    sensitivity, here, there = case
    mechanism = chosen(len(here), sensitivity=float(sensitivity), goal=ggdp.PureDP(epsilon))
    with working_precision(160):
        for p, q in zip(law(mechanism, here), law(mechanism, there), strict=True):
            # Certain for all of the ball, but for the last bits of those that reach the bound.
            assert abs((p / q).log()) <= arb(epsilon) + arb(2) ** -120


@pytest.mark.parametrize("epsilon", [0.01, 1.0, 5.0])
@pytest.mark.parametrize("count", [2, 1000])
def test_one_utility_up_and_all_others_down_spends_nearly_all_of_epsilon(epsilon, count):
    """And exactly as much as the docstring says."""
    gap = math.ceil(2 * (20 + epsilon) / epsilon)
    here = [0] + [gap] * (count - 1)
    there = [1] + [gap - 1] * (count - 1)
    mechanism = chosen(count, goal=ggdp.PureDP(epsilon))
    with working_precision(160):
        p, q = law(mechanism, here)[0], law(mechanism, there)[0]
        grown = arb(epsilon).exp()
        assert abs(q / p - grown / (1 + p * (grown - 1))) < arb(2) ** -120
        assert arb(epsilon) * (1 - 1e-6) < (q / p).log() < arb(epsilon)


@given(st.lists(st.tuples(st.integers(-9, 9), st.sampled_from([0, 1])), min_size=1, max_size=6))
@settings(deadline=None, max_examples=examples(15, 40))
def test_utilities_that_only_rise_cost_half(moved):
    here, there = [u for u, _ in moved], [u + up for u, up in moved]
    with working_precision(160):
        for p, q in zip(law(chosen(len(here)), here), law(chosen(len(here)), there), strict=True):
            assert abs((p / q).log()) <= arb(0.5) + arb(2) ** -120


def test_a_normaliser_that_does_not_depend_on_the_data_costs_half():
    """Corollary 12: the utilities on one data set are those on the other in another order."""
    with working_precision(160):
        pairs = zip(law(chosen(4), [0, 1, 2, 3]), law(chosen(4), [1, 0, 3, 2]), strict=True)
        losses = [abs((p / q).log()) for p, q in pairs]
    assert all(abs(float(loss) - 0.5) < 1e-30 for loss in losses)


@pytest.mark.parametrize(
    ("order", "lower", "upper", "D", "epsilon"),
    [
        (1, 0, 10, 1, 1.0),
        (1, -7, 4, 3, 0.25),
        (2, 0, 10, 1, 1.0),
        (2, -3, 5, 2, 0.125),
        (3, 0, 6, 1, 2.0),
        (5, 0, 4, 4, 1),
    ],
)
def test_over_integers_with_the_gg_utility_it_is_the_calibrated_truncated_noise(order, lower, upper, D, epsilon):
    query, bounds = ggdp.Sensitivity.disjoint(D), [(lower, upper)]
    goal = ggdp.PureDP(epsilon)
    noise = exponential_calibration(goal, query, order=order, bounds=bounds, support="integer").bounded_noise()
    delta_u = utility_sensitivity(order, query, bounds)
    assert delta_u == (upper - lower) ** order - (upper - lower - D) ** order
    mechanism = chosen(range(lower, upper + 1), sensitivity=delta_u, goal=goal)
    for s in {lower, lower + 1, (lower + upper) // 2, upper}:
        with working_precision(200):
            here = law(mechanism, [-(abs(c - s) ** order) for c in range(lower, upper + 1)])
            whole = window(order, noise.scale, lower - s, upper - s)
            for c, p in zip(range(lower, upper + 1), here, strict=True):
                q = window(order, noise.scale, c - s, c - s) / whole
                # At order 1 the scale is a float exactly; else it is rounded up by an ulp or two.
                assert abs((p / q).log()) <= (arb(2) ** -180 if order == 1 else arb(2) ** -46)


@pytest.mark.parametrize("values", [[3, 3, 3], [3.5, 3.5, 3.5], [LARGEST] * 3, [-FLOAT] * 3, [Fraction(1, 3)] * 3])
def test_ties_are_equally_probable(values):
    with working_precision(100):
        assert all((p - arb(1) / 3).contains(0) for p in law(chosen(3), values))
    assert selection_probabilities(1.0, 1.0, values).tolist() == [1 / 3] * 3


@pytest.mark.parametrize(
    "values",
    [
        [LEAST, LARGEST, LARGEST - 10**6],
        np.array([0, 2**64 - 1, 2**63], dtype=np.uint64),
        [-FLOAT, FLOAT, 0.0],
        [5e-324, 1e4, -5e-324],
        [-(2**500), 2**500, 2**499],
        [Fraction(1, 3), 10**6, 0.25],
        np.array([1, 200, 3], dtype=np.uint8),
        np.array([-1e4, 1e4, 0], dtype=np.float32),
        [False, 10**6, True],
    ],
)
def test_a_candidate_that_is_far_better_is_drawn_whatever_the_numbers_are(values):
    for _ in range(20):
        assert int(chosen(3, goal=ggdp.PureDP(20.0)).release(values).values) == 1


def test_mixed_integers_and_floats_are_not_rounded():
    """Beyond 2^53 NumPy would make floats of them, and the best one would be lost in the rounding."""
    values = [2.0**60, 2**60 + 100, 2**60 - 100]
    assert int(chosen(3, goal=ggdp.PureDP(20.0)).release(values).values) == 1


class Trap:
    """Something that must not be looked at."""

    def __getattr__(self, name):
        raise AssertionError(name)

    def __float__(self):
        raise AssertionError

    def __lt__(self, other):
        raise AssertionError


@pytest.mark.parametrize(
    "values",
    [
        [0, math.nan, 0, math.inf],
        [0, None, 0, "secret"],
        [0, Trap(), 0, Trap()],
        (0, [1, 2], 0, -math.inf),
        np.array([0.0, math.nan, 0.0, -math.inf]),
        np.array([0, None, 0, "secret"], dtype=object),
        np.array([0, 10**9, 0, 10**9]),
    ],
)
def test_excluded_places_are_not_looked_at_and_not_drawn(values):
    mechanism = chosen(["a", "b", "c", "d"], excluded=[False, True, False, True])
    assert {str(mechanism.release(values).values) for _ in range(60)} == {"a", "c"}
    assert mechanism.record.excluded == 2
    with working_precision(100):
        assert [float(p) for p in law(mechanism, values)] == [0.5, 0.5]


def test_a_million_candidates_are_drawn_from():
    count = 10**6
    utilities = np.zeros(count)
    utilities[765_432] = 100.0
    mechanism = chosen(count, goal=ggdp.PureDP(2.0))
    assert int(mechanism.release(utilities).values) == 765_432
    assert int(mechanism.release(utilities.astype(np.int64)).values) == 765_432
    others = {int(mechanism.release(np.ones(count)).values) for _ in range(3)}
    assert len(others) == 3
    assert others < set(range(count))
    mask = np.ones(count, dtype=np.bool_)
    mask[[7, 999_999]] = False
    few = chosen(np.arange(count) * 3, excluded=mask)
    assert {int(few.release(utilities).values) for _ in range(40)} == {21, 2_999_997}


SECRET = 765.4321


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
@pytest.mark.parametrize("kind", [list, tuple, np.array, lambda values: np.array(values, dtype=object)])
def test_utilities_that_would_leak_support_are_refused_without_telling_which(wrong, kind):
    for place in range(3):
        values = [SECRET, SECRET, SECRET]
        values[place] = wrong
        with pytest.raises(ArgumentError, match=r"exclude candidates publicly, with excluded=") as caught:
            chosen(3).release(kind(values))
        told = "".join(traceback.format_exception(caught.value))
        assert str(SECRET) not in told
        assert str(caught.value).startswith("utilities = <not shown>: must be finite")
        assert caught.value.__context__ is None


class Broken:
    """An object that fails with a value in its message when it is asked for its array."""

    dtype = "float64"

    def __array__(self, *_, **__):
        raise ValueError(SECRET)


@pytest.mark.parametrize(
    "values",
    [
        [SECRET, SECRET],
        [SECRET] * 4,
        np.full((3, 1), SECRET),
        [[SECRET]] * 3,
        [str(SECRET)] * 3,
        [SECRET, None, 1],
        [SECRET, 1j, 1],
        np.ma.array([SECRET, 1, 2], mask=[False, True, False]),
        SECRET,
        np.float64(SECRET),
        {"a": SECRET},
        str(SECRET),
        iter([SECRET] * 3),
        np.array([SECRET] * 3, dtype=np.longdouble),
        Broken(),
        None,
    ],
)
def test_utilities_that_do_not_fit_are_refused_without_being_told(values):
    with pytest.raises(ArgumentError, match=r"^utilities = ") as caught:
        chosen(3).release(values)
    assert str(SECRET) not in "".join(traceback.format_exception(caught.value))
    assert caught.value.__context__ is None


class Series:
    """Looks like a column of a frame: it has a type and an array, and its own idea of an index."""

    dtype = "float64"

    def __array__(self, *_, **__):
        return np.array([0.0, 50.0, math.nan])


def test_columns_of_frames_are_taken_by_their_array():
    mechanism = chosen(["a", "b", "c"], excluded=[False, False, True], goal=ggdp.PureDP(20.0))
    assert str(mechanism.release(Series()).values) == "b"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"goal": ggdp.ApproxDP(1.0, 1e-6)}, "goal = "),
        ({"goal": "1.0"}, "goal = "),
        ({"goal": ggdp.PureDP(1.0, "replace-one")}, "the two must agree"),
        ({"neighbours": "both"}, "neighbours = 'both'"),
        ({"sensitivity": 0}, "sensitivity = 0"),
        ({"sensitivity": -1.0}, "sensitivity = "),
        ({"sensitivity": math.inf}, "sensitivity = "),
        ({"sensitivity": "1"}, "sensitivity = "),
        ({"sensitivity": 5e-324}, "more than a factor of 2\\^1000"),
        ({"sensitivity": 1e308}, "more than a factor of 2\\^1000"),
        ({"candidates": 0}, "candidates = 0"),
        ({"candidates": -3}, "candidates = -3"),
        ({"candidates": 2.0}, "candidates = 2.0"),
        ({"candidates": True}, "candidates = True"),
        ({"candidates": []}, "candidates = '0 of them'"),
        ({"candidates": "abc"}, "candidates = 'abc'"),
        ({"candidates": iter([1])}, "candidates = "),
        ({"candidates": {1, 2}}, "candidates = "),
        ({"candidates": np.zeros((2, 2))}, "one list of labels"),
        ({"candidates": 2**31 + 1}, "at most 2\\^31"),
        ({"excluded": [True, True, True]}, "must leave at least one candidate"),
        ({"excluded": [True, False]}, "True or False for each of 3"),
        ({"excluded": [0, 1, 0]}, "True or False for each of 3"),
        ({"excluded": True}, "True or False for each of 3"),
    ],
)
def test_a_wrong_argument_is_named(arguments, message):
    right = {"goal": PURE, "sensitivity": 1, "candidates": 3}
    given = {**right, **arguments}
    with pytest.raises(ArgumentError, match=message):
        ExponentialMechanism(given.pop("goal"), **given)


def test_a_sensitivity_that_is_no_float_is_rounded_up():
    third = Fraction(1, 3)
    assert Fraction(chosen(2, sensitivity=third).sensitivity) > third > Fraction(1 / 3)
    assert chosen(2, sensitivity=2**53 + 1).sensitivity == 2**53 + 2
    assert chosen(2, sensitivity=0.1).sensitivity == 0.1


def test_the_rate_is_the_exact_quotient():
    """eps / (2 Delta) of these floats is no float, and rounding it up would break the promise by an ulp."""
    given = []
    mechanism = chosen(2, sensitivity=0.3, goal=ggdp.PureDP(0.1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "select_candidate", lambda weights, _: given.append(weights.rate) or 0)
        mechanism.release([0, 0])
    assert given == [Fraction(0.1) / (2 * Fraction(0.3))]


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_a_release_carries_the_guarantee_under_its_neighbours_unless_it_is_seeded(neighbours):
    mechanism = chosen(3, neighbours=neighbours)
    assert mechanism.guarantee == ggdp.PureDP(1.0, neighbours)
    assert mechanism.release([1, 2, 3]).guarantee == ggdp.PureDP(1.0, neighbours)
    seeded = mechanism.release([1, 2, 3], rng=SeededSource(seed=1))
    assert seeded.guarantee is None
    assert seeded.values == mechanism.release([1, 2, 3], rng=SeededSource(seed=1)).values
    with pytest.raises(ArgumentError, match="rng = "):
        mechanism.release([1, 2, 3], rng=3)


@pytest.mark.parametrize(
    "labels", [["a", "b"], [1.5, 2.5], [("x", 1), ("y", 2)], [None, None], [2**70, 2**71], [{"k": 1}, {"k": 1}]]
)
def test_a_label_is_released_whole(labels):
    values = chosen(labels).release([0, 0]).values
    assert values.shape == ()
    assert values.item() in labels


def test_labels_that_are_changed_afterwards_do_not_change_the_mechanism():
    labels, array, mask = ["a", "b"], np.array([1, 2]), np.array([True, False])
    listed, arrayed = chosen(labels, excluded=mask), chosen(array, excluded=mask)
    labels.clear()
    array[:] = 9
    mask[:] = True
    assert str(listed.release([0, 0]).values) == "b"
    assert int(arrayed.release([0, 0]).values) == 2
    with pytest.raises(AttributeError):
        listed.sensitivity = 0.5
    for copied in (copy.deepcopy(listed), pickle.loads(pickle.dumps(listed))):
        assert str(copied.release([0, 0]).values) == "b"


def test_what_is_shown_holds_facts_only():
    mechanism = chosen(10**6)
    assert repr(mechanism) == (
        "<ExponentialMechanism of 1-DP under add-remove neighbours: "
        "Exponential mechanism, one of 1,000,000 candidates, sensitivity 1>"
    )
    assert "McSherry" in mechanism.record.item


@given(st.lists(st.floats(-300, 300), min_size=1, max_size=6), st.floats(0.01, 10))
@settings(deadline=None, max_examples=examples(15, 40))
def test_probabilities_of_made_up_utilities_are_right(utilities, epsilon):
    found = selection_probabilities(epsilon, 0.7, utilities)
    with mp.workdps(60):
        rate = mpf(epsilon) / (2 * mpf(0.7))
        weights = [mp.exp(rate * (mpf(u) - max(utilities))) for u in utilities]
        for p, w in zip(found, weights, strict=True):
            exact = w / mp.fsum(weights)
            assert abs(mpf(float(p)) - exact) <= math.ulp(float(exact))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, [1]), "epsilon = 0"),
        ((1, 0, [1]), "sensitivity = 0"),
        ((1, 1, []), "utilities = "),
        ((1, 1, [math.nan]), "utilities = "),
        ((1, 1, 3), "utilities = "),
    ],
)
def test_wrong_arguments_of_probabilities_are_named(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        selection_probabilities(*arguments)


def test_weights_are_those_of_candidates_that_are_left():
    kept = Weights.of(np.array([1.0, 3.0]), Fraction(1, 2))
    with working_precision(100):
        p = law(chosen(3, excluded=[False, True, False]), [1.0, 100.0, 3.0])
        assert float(p[0] / p[1]) == pytest.approx(float(kept.enclose(0)), rel=1e-15)
