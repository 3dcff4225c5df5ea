"""Private quantiles: their law and losses by brute force, what they are for a large epsilon, extremes and refusals."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from tests.cases import examples
from tests.mechanisms.quantile_laws import (
    chosen,
    largest_loss,
    law_of_three,
    library_law,
    spread,
    step_errors,
    values_of,
)

from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.mechanisms import quantiles
from ggdp.mechanisms.quantiles import CellValues, QuantilePlan, _histogram, boundaries
from ggdp.noise.entropy import SECURE, SeededSource

QUARTILES = (0.25, 0.5, 0.75)
DATA = [(), (2,), (0, 0, 0, 3), (1, 1, 2, 3, 3, 3), (0, 1, 2, 3), (3, 3, 3, 3, 3, 3, 3)]


@pytest.fixture
def four_positions(monkeypatch):
    """Four positions of a step, so that all can be followed; and quantiles by halves, also where it gains nothing."""
    monkeypatch.setattr(quantiles, "_MOST_POSITIONS", 4)
    monkeypatch.setattr(QuantilePlan, "_errors", lambda _, roots, __: [len(roots)])


def close(one, other):
    with mp.workdps(50):
        return one.keys() == other.keys() and all(abs(one[key] - other[key]) < mpf(10) ** -40 for key in one)


@pytest.mark.parametrize("rows", DATA)
@pytest.mark.parametrize(("q", "relation"), [(0.5, "add-remove"), (0.9, "add-remove"), (0.9, "replace-one")])
def test_one_quantile_has_the_law_of_the_exponential_mechanism_on_all_steps(rows, q, relation, monkeypatch):
    plan = QuantilePlan(fractions=[q], steps=3, epsilon=3.0, neighbours=relation, interval_share=0.25)
    exact = Fraction(str(q))
    moves = max(exact, 1 - exact) if relation == "add-remove" else 1
    errors = step_errors(spread(rows, 3, 1), exact, 1, 0, 4)
    expected = {(t,): mass for t, mass in chosen(errors, Fraction(3) * Fraction(3, 4) / (2 * moves)).items()}
    assert close(library_law(plan, rows, monkeypatch), expected)


@pytest.mark.usefixtures("four_positions")
@pytest.mark.parametrize("rows", DATA[:4])
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("fractions", [QUARTILES, (0.2, 0.5, 0.9)])
def test_three_quantiles_have_the_law_of_halves(rows, relation, fractions, monkeypatch):
    plan = QuantilePlan(fractions=fractions, steps=3, epsilon=4.0, neighbours=relation)
    assert plan.levels == 2
    exact = [Fraction(str(q)) for q in fractions]
    inner = [exact[0] / exact[1], (exact[2] - exact[1]) / (1 - exact[1])]
    if relation == "add-remove":
        moves = [max(q, 1 - q) for q in (exact[1], *inner)]
    else:
        moves = [1, *(2 * max(q, 1 - q) for q in inner)]
    # Half of epsilon is for intervals, and each of two levels has a half of the rest.
    expected = law_of_three(rows, 3, 4, exact, [Fraction(1) / (2 * c) for c in moves])
    assert close(library_law(plan, rows, monkeypatch), expected)


@pytest.mark.usefixtures("four_positions")
@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("fractions", [(0.3,), (0.2, 0.9), QUARTILES, (0.1, 0.3, 0.9)])
def test_neighbours_lose_no_more_than_epsilon_by_halves(relation, fractions, monkeypatch):
    assert_small_losses(relation, fractions, monkeypatch)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
@pytest.mark.parametrize("fractions", [(0.2, 0.9), (0.1, 0.3, 0.9)])
def test_neighbours_lose_no_more_than_epsilon_separately(relation, fractions, monkeypatch):
    monkeypatch.setattr(QuantilePlan, "_errors", lambda _, roots, __: [-len(roots)])
    assert_small_losses(relation, fractions, monkeypatch)


def assert_small_losses(relation, fractions, monkeypatch):
    plan = QuantilePlan(fractions=fractions, steps=2, epsilon=2.0, neighbours=relation)
    generator = np.random.default_rng(len(fractions))
    for _ in range(4):
        rows = generator.integers(0, 3, size=generator.integers(0, 5)).tolist()
        law = library_law(plan, [*rows, 0] if relation == "replace-one" else rows, monkeypatch)
        for new in (1, 2):
            assert largest_loss(law, library_law(plan, [*rows, new], monkeypatch)) <= 1


def test_the_worst_neighbours_come_near_to_epsilon(monkeypatch):
    plan = QuantilePlan(fractions=[0.5], steps=200, epsilon=2.0)
    # Most steps are above the median, and farther from it by another 0; the step 0 is nearer.
    one, other = [0, 1, 1, 1, 200, 200], [0, 0, 1, 1, 1, 200, 200]
    loss = largest_loss(library_law(plan, one, monkeypatch), library_law(plan, other, monkeypatch))
    assert 0.95 <= loss <= 1


def test_the_losses_and_the_noise_of_intervals_are_those_of_epsilon():
    plan = QuantilePlan(fractions=QUARTILES, steps=100, epsilon=0.7, interval_share=0.3)
    (counted,) = plan.losses
    assert (counted.loss.epsilon, counted.loss.delta, counted.count) == (0.7, 0.0, 1)
    for relation, rows in (("add-remove", 1), ("replace-one", 2)):
        plan = QuantilePlan(fractions=QUARTILES, steps=100, epsilon=0.7, neighbours=relation, interval_share=0.3)
        spent = rows / Fraction(plan.interval_noise().calibration.law.scale)
        assert spent <= Fraction(0.7) * Fraction(0.3)
        assert spent >= Fraction(0.7) * Fraction(0.3) * (1 - Fraction(1, 2**50))


@given(
    rows=st.lists(st.integers(0, 40), max_size=30),
    new=st.integers(0, 40),
    values=st.lists(st.integers(0, 40), min_size=1, max_size=4),
)
def test_one_row_is_in_one_bucket_of_the_intervals(rows, new, values):
    bounds = boundaries(np.sort(np.array([values])), 40)
    assert (np.diff(bounds) >= 0).all()
    with_it, without = (_histogram(values_of(data), bounds) for data in ([*rows, new], rows))
    assert np.abs(with_it - without).sum() == 1
    assert without.sum() == len(rows)


@settings(max_examples=examples(20, 60))
@given(
    rows=st.lists(st.integers(0, 30) | st.just(7), min_size=1, max_size=200),
    fractions=st.lists(st.integers(1, 99), min_size=1, max_size=6, unique=True),
    relation=st.sampled_from(["add-remove", "replace-one"]),
)
def test_a_large_epsilon_gives_a_quantile_of_the_usual_definition(rows, fractions, relation):
    exact = [Fraction(q, 100) for q in sorted(fractions)]
    plan = QuantilePlan(fractions=exact, steps=30, epsilon=1e8, neighbours=relation)
    draws = plan.draw(values_of(rows), SeededSource(seed=1))
    for i, q in enumerate(exact):
        t = int(draws.values[0, i])
        assert sum(v < t for v in rows) <= q * len(rows) <= sum(v <= t for v in rows)


def test_ties_do_not_push_other_quantiles_aside():
    """Three in five rows are 0: without splitting them the upper quartile would be at 80 %."""
    rows = [0] * 6000 + list(range(1, 4001))
    plan = QuantilePlan(fractions=QUARTILES, steps=2**31, epsilon=100.0)
    assert plan.levels == 2
    low, middle, high = plan.draw(values_of(rows), SeededSource(seed=2)).values[0].tolist()
    assert (low, middle) == (0, 0)
    assert 1450 <= high <= 1550


@pytest.mark.parametrize("epsilon", [1e-9, 50.0, 1e6])
@pytest.mark.parametrize("steps", [1, 1000, 2**31])
@pytest.mark.parametrize("fractions", [(0.5,), (0.01, 0.99), (0.1, 0.5, 0.999)])
def test_extreme_requests_are_drawn_in_order_and_inside_the_range(epsilon, steps, fractions):
    cells = [[], [steps], [0] * 50, [0, steps] * 1000, [1] * 10 + [0]]
    draws = QuantilePlan(fractions=fractions, steps=steps, epsilon=epsilon).draw(
        values_of(*cells), SeededSource(seed=3)
    )
    assert draws.values.shape == (5, len(fractions))
    assert (np.diff(draws.values, axis=1) >= 0).all()
    for inner, outer in pairwise((draws.lower, draws.values, draws.upper)):
        assert (inner <= outer).all()
    assert (draws.lower >= 0).all()
    assert (draws.upper <= steps).all()
    assert np.array_equal(draws.known, (draws.lower > 0) | (draws.upper < steps))
    if epsilon == 1e6:
        assert (draws.values[2] == 0).all()


def test_an_epsilon_of_next_to_nothing_is_uniform_and_knows_nothing():
    draws = QuantilePlan(fractions=[0.5], steps=2**31, epsilon=1e-9).draw(
        values_of(*[[5] * 9] * 400), SeededSource(seed=4)
    )
    assert abs(draws.values.mean() / 2**31 - 0.5) < 0.2
    assert draws.known.mean() < 0.3


def test_cells_are_drawn_apart_from_each_other_in_blocks(monkeypatch):
    monkeypatch.setattr(quantiles, "_BLOCK", 3)
    generator = np.random.default_rng(3)
    cells = [sorted(generator.integers(0, 1000, size=k).tolist()) for k in (0, 1, 5, 0, 0, 300, 2)]
    draws = QuantilePlan(fractions=QUARTILES, steps=1000, epsilon=1e7).draw(values_of(*cells), SeededSource(seed=5))
    for row, data in zip(draws.values, cells, strict=True):
        for t, q in zip(row.tolist(), QUARTILES, strict=True):
            assert sum(v < t for v in data) <= q * len(data) <= sum(v <= t for v in data)


@pytest.mark.parametrize("fractions", [QUARTILES, (0.5,), (0.1, 0.9)])
def test_ranks_are_within_the_stated_error_nearly_always(fractions):
    plan = QuantilePlan(fractions=fractions, steps=2**20, epsilon=1.0)
    count = 500
    rows = [int(x) for x in np.random.default_rng(2).integers(0, 2**20, size=count)]
    draws = plan.draw(values_of(*[rows] * 300), SeededSource(seed=6)).values
    ordered = np.sort(rows)
    for i, (q, error) in enumerate(zip(fractions, plan.rank_errors(count), strict=True)):
        ranks = np.searchsorted(ordered, draws[:, i])
        missed = (np.abs(ranks - q * count) > error + 1).sum()
        assert missed <= 0.05 * 300


def test_many_quantiles_are_drawn_by_halves_and_two_separately():
    assert len(QuantilePlan(fractions=[0.25, 0.75], steps=1000, epsilon=1.0)._roots) == 2
    plan = QuantilePlan(fractions=[i / 20 for i in range(1, 20)], steps=1000, epsilon=1.0)
    assert plan.levels == 5
    assert max(plan.rank_errors(1000)) < max(plan._errors(plan._apart(), 1000))


def test_no_path_of_halves_costs_more_than_what_the_values_may_cost():
    def paths(node):
        if node is None:
            return [Fraction(0)]
        return [node.epsilon + rest for child in (node.left, node.right) for rest in paths(child)]

    for count in range(1, 20):
        plan = QuantilePlan(fractions=[Fraction(i, 100) for i in range(1, count + 1)], steps=9, epsilon=1.0)
        parts = (Fraction(0), *plan.fractions, Fraction(1))
        costs = paths(plan._node(1, count + 1, parts, Fraction(1)))
        assert max(costs) <= 1
        assert math.isclose(float(max(costs)), 1.0)


@pytest.mark.parametrize(
    ("changed", "argument"),
    [
        ({"fractions": []}, "fractions"),
        ({"fractions": [0.5, 0.5]}, "fractions"),
        ({"fractions": [0.0]}, "fractions"),
        ({"fractions": [1.0]}, "fractions"),
        ({"fractions": [float("nan")]}, "fractions"),
        ({"fractions": [0.1234567]}, "fractions"),
        ({"fractions": ["half"]}, "fractions"),
        ({"fractions": 0.5}, "fractions"),
        ({"steps": 0}, "steps"),
        ({"steps": 2**31 + 1}, "steps"),
        ({"epsilon": 0.0}, "epsilon"),
        ({"neighbours": "swap"}, "neighbours"),
        ({"interval_share": 0.0}, "interval_share"),
        ({"interval_share": 1.0}, "interval_share"),
    ],
)
def test_a_wrong_request_is_refused_by_name(changed, argument):
    request = {"fractions": [0.5], "steps": 10, "epsilon": 1.0} | changed
    with pytest.raises(ArgumentError) as refused:
        QuantilePlan(**request)
    assert refused.value.argument == argument


def test_wrong_values_are_refused_without_showing_them():
    good = {"cell": np.array([0, 0]), "step": np.array([1, 2]), "rows": np.array([1, 1])}
    for changed in (
        {"step": np.array([2, 1])},
        {"cell": np.array([0, 3])},
        {"rows": np.array([1, 0])},
        {"step": np.array([-1, 2])},
        {"rows": np.array([1, 2**36])},
    ):
        with pytest.raises(ArgumentError, match="these"):
            CellValues.of(**(good | changed), cells=2)
    with pytest.raises(ArgumentTypeError, match="flat array"):
        CellValues.of(**(good | {"rows": [1.0, 2.0]}), cells=2)
    plan = QuantilePlan(fractions=[0.5], steps=1, epsilon=1.0)
    with pytest.raises(ArgumentError, match="at most 1"):
        plan.draw(CellValues.of(**good, cells=2))


def test_the_same_seed_gives_the_same_quantiles():
    plan, cells = QuantilePlan(fractions=QUARTILES, steps=10**6, epsilon=1.0), values_of([5, 9, 10**6] * 30)
    one, other = (plan.draw(cells, SeededSource(seed=4)) for _ in range(2))
    assert np.array_equal(one.values, other.values)
    assert np.array_equal(one.upper, other.upper)
    assert plan.draw(cells, SECURE).values.shape == (1, 3)
