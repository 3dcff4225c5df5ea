"""The generalized Gaussian form of the Exponential mechanism, beside all of its outputs one by one."""

import math
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mpmath import mp, mpf
from tests.cases import examples

import ggdp
from ggdp.calibration import exponential_calibration, utility_sensitivity
from ggdp.errors import ArgumentError, UnattainableError, UnprovedError
from ggdp.mechanisms import Mechanism

PURE = ggdp.PureDP(1.0)
ONE = ggdp.Sensitivity.disjoint(1)
SUPPORTS = ["real", "integer"]
# Queries of several coordinates with their bounds: (sensitivity, bounds, [(width, size)] of the coordinates that move).
SEVERAL = [
    (ggdp.Sensitivity.box([1, 2]), [(0, 10), (-2, 2)], [(10, 1), (4, 2)]),
    (ggdp.Sensitivity.box([1, 2, 3]), [(0, 7)], [(7, 1), (7, 2), (7, 3)]),
    (ggdp.Sensitivity.cells(3, 1), [(0, 10)], [(10, 1)] * 3),
    (ggdp.Sensitivity.cells(2, 1), [(0, 10), (0, 5), (-3, 3)], [(10, 1), (6, 1)]),
]


def integer_loss(order, scale, width, size):
    """The largest loss over all integers s, s' and x in [0, w] with |s - s'| <= D, in 30 digits."""
    with mp.workdps(30):
        f = [mp.exp(-((mpf(k) / mpf(scale)) ** mpf(order))) for k in range(width + 1)]
        laws = []
        for s in range(width + 1):
            weights = [f[abs(x - s)] for x in range(width + 1)]
            laws.append([weight / mp.fsum(weights) for weight in weights])
        pairs = [(s, t) for s, t in product(range(width + 1), repeat=2) if abs(s - t) <= size]
        return max(abs(mp.log(a / b)) for s, t in pairs for a, b in zip(laws[s], laws[t], strict=True))


@pytest.mark.parametrize("order", [1, 1.5, 2, 3, 8])
@pytest.mark.parametrize(("width", "D"), [(1, 1), (10, 1), (10, 3), (7, 7)])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_on_the_integers_the_guarantee_is_the_true_loss(order, width, D, epsilon):
    found = exponential_calibration(
        ggdp.PureDP(epsilon), ggdp.Sensitivity.disjoint(D), order=order, bounds=[(3, 3 + width)], support="integer"
    )
    true = float(integer_loss(order, found.scale, width, D))
    assert true * (1 - 1e-14) <= found.guarantee.epsilon <= true * (1 + 1e-9)
    assert found.guarantee.epsilon <= epsilon
    found.verify()


@pytest.mark.parametrize("order", [1, 2, 3, 5])
@pytest.mark.parametrize(("width", "D"), [(1, 1), (9, 1), (9, 4), (6, 6)])
def test_the_utility_moves_as_far_on_the_integers_as_on_the_reals(order, width, D):
    points = range(width + 1)
    moves = [abs(abs(x - s) ** order - abs(x - t) ** order) for x, s, t in product(points, repeat=3) if abs(s - t) <= D]
    assert utility_sensitivity(order, ggdp.Sensitivity.disjoint(D), [(0, width)]) == max(moves)


@pytest.mark.parametrize("support", SUPPORTS)
@pytest.mark.parametrize("utility", ["exact", "lemma"])
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize(("query", "bounds", "moving"), SEVERAL)
def test_several_coordinates_add_up(support, utility, order, query, bounds, moving):
    found = exponential_calibration(PURE, query, order=order, bounds=bounds, utility=utility, support=support)
    found.verify()
    delta_u = utility_sensitivity(order, query, bounds, utility=utility)
    exact = sum(w**order - (w - D) ** order for w, D in moving)
    assert delta_u == exact if utility == "exact" else delta_u >= exact
    assert found.scale == pytest.approx((2 * delta_u) ** (1 / order), rel=1e-14)
    assert found.guarantee.epsilon <= 1.0
    if support == "integer":
        true = sum(float(integer_loss(order, found.scale, w, D)) for w, D in moving)
        assert true * (1 - 1e-14) <= found.guarantee.epsilon <= true * (1 + 1e-9)


@given(st.floats(1, 8), st.integers(1, 12), st.integers(1, 12), st.floats(-3, 1.5), st.sampled_from(SUPPORTS))
@settings(deadline=None, max_examples=examples(15, 40))
def test_the_guarantee_is_never_above_the_goal(order, width, D, log_epsilon, support):
    query, bounds = ggdp.Sensitivity.disjoint(min(D, width)), [(0, width)]
    found = exponential_calibration(ggdp.PureDP(10**log_epsilon), query, order=order, bounds=bounds, support=support)
    assert 0 < found.guarantee.epsilon <= 10**log_epsilon
    least = ggdp.calibrate(found.goal, query, order=order, bounds=bounds, support=support, bounding="truncated")
    assert least.scale <= found.scale * (1 + 1e-12)


@pytest.mark.parametrize("support", SUPPORTS)
@pytest.mark.parametrize(("query", "bounds", "moving"), [(ONE, [(0, 10)], [(10, 1)]), *SEVERAL])
def test_the_calibration_is_released_within_its_bounds(support, query, bounds, moving):
    del moving
    mechanism = Mechanism(exponential_calibration(PURE, query, order=2, bounds=bounds, support=support))
    size = max(query.moving, len(bounds))
    release = mechanism.release([1] * size if support == "integer" else [1.0] * size)
    assert release.guarantee.epsilon <= 1.0
    pairs = bounds * (size if len(bounds) == 1 else 1)
    assert all(low <= value <= high for value, (low, high) in zip(release.values.tolist(), pairs, strict=True))
    assert mechanism.calibration.certificate.bound.name == "bounded"


@pytest.mark.parametrize("support", SUPPORTS)
@pytest.mark.parametrize("max_cells", [1, 3])
def test_without_bounds_order_one_has_twice_laplaces_scale_and_half_its_loss(support, max_cells):
    query = ggdp.Sensitivity.histogram(max_cells=max_cells)
    found = exponential_calibration(PURE, query, order=1, support=support)
    found.verify()
    assert found.scale == 2.0 * max_cells
    assert 0.5 <= found.guarantee.epsilon <= 0.5 + 1e-9
    assert Mechanism(found).release([4] * 3).values.shape == (3,)


@pytest.mark.parametrize("support", SUPPORTS)
@pytest.mark.parametrize("order", [1.0000001, 2, 50])
def test_without_bounds_every_other_order_is_refused(support, order):
    with pytest.raises(UnattainableError, match="needs bounds: without them the sensitivity of its utility"):
        exponential_calibration(PURE, ONE, order=order, support=support)


def test_the_real_scale_is_kept_on_the_integers_but_its_loss_is_another():
    real, integer = (exponential_calibration(PURE, ONE, order=2, bounds=[(0, 10)], support=s) for s in SUPPORTS)
    assert real.scale == integer.scale
    assert abs(real.guarantee.epsilon - integer.guarantee.epsilon) > 0.01
    fine = exponential_calibration(
        PURE, ggdp.Sensitivity.disjoint(1000), order=2, bounds=[(0, 10_000)], support="integer"
    )
    assert fine.guarantee.epsilon == pytest.approx(real.guarantee.epsilon, abs=2e-5)


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"goal": ggdp.ApproxDP(1.0, 1e-6)}, ArgumentError, "goal = "),
        ({"goal": ggdp.PureDP(1.0, "replace-one")}, ArgumentError, "the two must agree"),
        ({"sensitivity": 1}, ArgumentError, "sensitivity = 1"),
        ({"sensitivity": ggdp.Sensitivity.norm(2, 1, dimension=3)}, UnprovedError, "per-coordinate"),
        ({"sensitivity": ggdp.Sensitivity.disjoint(0.5)}, ArgumentError, "sensitivity = 0.5"),
        ({"sensitivity": ggdp.Sensitivity.disjoint(11)}, ArgumentError, "bounds = "),
        ({"bounds": [(0, 9.5)]}, ArgumentError, "whole numbers"),
        ({"bounds": [(3, 3)]}, ArgumentError, "bounds = "),
        ({"bounds": []}, ArgumentError, "bounds = "),
        ({"support": "naturals"}, ArgumentError, "support = 'naturals'"),
        ({"utility": "guess"}, ArgumentError, "utility = 'guess'"),
        ({"utility": "guess", "bounds": None, "order": 1}, ArgumentError, "utility = 'guess'"),
        ({"order": 0.5}, ArgumentError, "order = 0.5"),
        ({"order": math.nan}, ArgumentError, "order = nan"),
    ],
)
def test_a_wrong_argument_is_named(change, error, message):
    right = {"goal": PURE, "sensitivity": ONE, "order": 2, "bounds": [(0, 10)], "support": "integer"}
    given = {**right, **change}
    with pytest.raises(error, match=message):
        exponential_calibration(given.pop("goal"), given.pop("sensitivity"), **given)
