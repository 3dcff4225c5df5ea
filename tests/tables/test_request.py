"""Requests: what follows from them before the data are opened, and which are refused."""

from __future__ import annotations

from fractions import Fraction

import pytest
from tests.cases import covering

import ggdp
from ggdp.domain.table_domain import Domain
from ggdp.errors import ArgumentError
from ggdp.tables.request import TableRequest
from ggdp.tables.table_plan import plan_request

PURE, APPROX = ggdp.PureDP(1.0), ggdp.ApproxDP(1.0, 1e-6)
DOMAIN = Domain({"sex": ["f", "m"], "smokes": ["no", "yes"], "age": {"edges": [0, 18, 65, 120]}})


ROWS = {"count": "rows", "unit": "person", "max_cells": 1, "max_rows_per_cell": 2}


def request_of(**given):
    return TableRequest(**({"by": ["sex"], "goal": PURE, "domain": DOMAIN} | given))


@pytest.mark.parametrize(
    ("by", "tables"),
    [
        ("sex", (("sex",),)),
        (["sex", "age"], (("sex", "age"),)),
        ([["sex"], ["sex", "age"]], (("sex",), ("sex", "age"))),
        (["sex"], (("sex",),)),
    ],
)
def test_one_list_is_one_table_and_lists_of_lists_are_several(by, tables):
    assert request_of(by=by).by == tables


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
@pytest.mark.parametrize("max_cells", [None, 1, 3])
@pytest.mark.parametrize("tables", [1, 2])
def test_as_many_counts_move_as_a_unit_has_cells_and_twice_when_it_is_replaced(neighbours, max_cells, tables):
    # More cells than a unit could be in, however many of them are counted.
    by = [["sex", "smokes", "age"], ["town", "age"]][:tables]
    unit = None if max_cells is None else "person"
    request = request_of(by=by, unit=unit, max_cells=max_cells, neighbours=neighbours, goal=APPROX)
    moving = (max_cells or 1) * tables * (2 if neighbours == "replace-one" else 1)
    assert (request.sensitivity.moving, request.sensitivity.sizes) == (moving, (1.0,))
    assert request.sensitivity.neighbours == neighbours


@pytest.mark.parametrize(
    ("neighbours", "max_cells", "moving"),
    [
        ("add-remove", 1, 1 + 1),
        ("add-remove", 3, 2 + 3),
        ("add-remove", 1000, 2 + 3),
        ("replace-one", 1, 2 + 2),
        ("replace-one", 2, 2 + 3),
        ("replace-one", 1000, 2 + 3),
    ],
)
def test_no_more_cells_move_than_a_table_has(neighbours, max_cells, moving):
    request = request_of(by=[["sex"], ["age"]], unit="person", max_cells=max_cells, neighbours=neighbours)
    assert request.sensitivity.moving == moving
    assert request.most_cells == (min(max_cells, 2), min(max_cells, 3))
    assert request.to_dict()["max_cells"] == max_cells


def test_an_open_table_bounds_no_unit_by_itself():
    request = request_of(by=[["sex"], ["town"]], goal=APPROX, unit="person", max_cells=1000)
    assert request.most_cells == (2, 1000)
    assert request.open_cells_of_a_unit == 1000


@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_rows_of_a_unit_move_each_of_its_cells_by_as_many_as_are_counted(neighbours):
    request = request_of(
        by=["age"], unit="person", max_cells=1, count="rows", max_rows_per_cell=7, neighbours=neighbours
    )
    assert request.sensitivity.sizes == (7.0,)
    assert request.sensitivity.moving == (1 if neighbours == "add-remove" else 2)


def test_each_table_has_its_own_regime():
    request = request_of(by=[["sex"], ["sex", "town"]], goal=APPROX)
    assert request.regimes == ("declared", "open")
    assert (request.regime, request.sizes, request.cells) == ("mixed", (2, None), None)


def test_cells_that_cannot_occur_are_not_counted_among_the_cells():
    domain = Domain(DOMAIN.columns, impossible=[{"sex": "m", "smokes": "no"}, {"age": "[65, 120]"}])
    request = request_of(by=[["sex", "smokes", "age"], ["sex"], ["age"]], domain=domain, unit="u", max_cells=100)
    assert request.sizes == (6, 2, 2)
    assert request.cells == 10
    assert request.sensitivity.moving == 10
    with pytest.raises(ArgumentError, match="has no cell left"):
        request_of(domain=Domain({"sex": ["f"]}, impossible=[{"sex": "f"}]))


def test_the_regime_follows_from_the_request():
    assert request_of().regime == "declared"
    assert request_of(by=["sex", "age"], false_cells=1).regime == "sparse"
    assert request_of(by=["sex", "town"], goal=APPROX).regime == "open"
    assert request_of(by=["sex", "town"], goal=APPROX).cells is None


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"by": []}, "must not be empty"),
        ({"by": [[]]}, "must not be empty"),
        ({"by": [1]}, "must be a sequence"),
        ({"domain": 5}, "must be a Domain"),
        ({"by": ["sex", "sex"]}, "names a column twice"),
        ({"by": [["sex", "age"], ["age", "sex"]]}, "the same table twice"),
        ({"by": ["count"]}, "is the name of a published column"),
        ({"goal": "1.0"}, "must be a goal"),
        ({"goal": True}, "must be a goal"),
        ({"goal": -1.0}, "must be greater than 0"),
        ({"goal": ggdp.PureDP(1.0, "replace-one")}, 'pass `neighbours="replace-one"`'),
        ({"order": 0.5}, "must be at least 1"),
        ({"order": "best"}, "must be a real number"),
        ({"unit": "person"}, "needs `max_cells`"),
        ({"max_cells": 2}, "needs `unit`"),
        ({"unit": "person", "max_cells": 0}, "must be at least 1"),
        ({"unit": "sex", "max_cells": 1}, "cannot also be counted by"),
        ({"neighbours": "both"}, "neighbours"),
        ({"total": 10}, 'needs `neighbours="replace-one"`'),
        ({"total": -1, "neighbours": "replace-one"}, "at least 0"),
        ({"total": 10.0, "neighbours": "replace-one"}, "must be an integer"),
        ({"total": 10, "neighbours": "replace-one", "false_cells": 1}, "needs all cells"),
        ({"total": 10, "neighbours": "replace-one", "unit": "person", "max_cells": 2}, "needs `max_cells=1`"),
        ({"by": ["town"]}, "the domain does not declare this column"),
        ({"by": ["town"], "goal": APPROX, "false_cells": 1}, "needs a declared domain"),
        ({"false_cells": 0}, "greater than 0"),
        ({"false_cells": 2}, "must be below the number of cells, 2"),
        ({"nonnegative": "yes"}, "True or False"),
        ({"count": "rows"}, "needs `unit`"),
        ({"count": "both", "unit": "person", "max_cells": 1}, "must be one of 'units', 'rows'"),
        ({"count": "rows", "unit": "person", "max_cells": 1}, "needs `max_rows_per_cell`"),
        ({"max_rows_per_cell": 2, "unit": "person", "max_cells": 1}, 'needs `count="rows"`'),
        ({"count": "rows", "unit": "person", "max_cells": 1, "max_rows_per_cell": 0}, "must be at least 1"),
        ({"count": "rows", "unit": "person", "max_cells": 1, "max_rows_per_cell": 10**13}, "at most 10.12"),
        ({"total": 9, "neighbours": "replace-one", **ROWS}, 'needs `count="units"`'),
        ({"count_cut": 0.1}, "needs `unit`"),
        ({"count_cut": 1.0, "unit": "person", "max_cells": 1}, "must be below 1"),
        ({"count_cut": 0.0, "unit": "person", "max_cells": 1}, "must be greater than 0"),
        ({"count_cut": 0.1, "unit": "person", "max_cells": 2}, "counts every unit"),
        ({"count_cut": 0.1, **ROWS}, 'needs `count="units"`'),
        ({"unit_name": ""}, "must be a few words"),
        ({"unit_name": "pa\ntients"}, "must be a few words"),
        ({"by": ["covers"], "unit": "person", "max_cells": 1}, "is the name of a published column"),
    ],
)
def test_a_wrong_request_is_refused_with_the_reason(given, said):
    with pytest.raises(ArgumentError, match=said):
        request_of(**given)


HUGE = Domain({f"c{k}": list(range(1000)) for k in range(7)})


def test_a_huge_domain_asks_for_a_sparse_table_and_beyond_10_18_for_fewer_columns():
    with pytest.raises(ArgumentError, match="give `false_cells`"):
        request_of(by=HUGE.names[:5], domain=HUGE)
    with pytest.raises(ArgumentError, match="at most 10\\^18"):
        request_of(by=HUGE.names, domain=HUGE, false_cells=1)


def test_a_large_delta_is_warned_about_and_the_usual_ones_are_not():
    assert "above 1e-05" in request_of(goal=ggdp.ApproxDP(1.0, 1e-3)).warnings[0]
    assert "up to this share of people could be fully exposed" in request_of(goal=ggdp.ApproxDP(1.0, 1e-3)).warnings[0]
    assert request_of(goal=ggdp.ApproxDP(1.0, 1e-5)).warnings == ()


def test_a_large_epsilon_is_warned_about_too():
    assert "above 10" in request_of(goal=ggdp.PureDP(10.5)).warnings[0]
    assert request_of(goal=ggdp.PureDP(10.0)).warnings == ()
    assert len(request_of(goal=ggdp.ApproxDP(100.0, 0.1)).warnings) == 2


@pytest.mark.parametrize(
    ("neighbours", "order", "share", "by"),
    [
        ("add-remove", 1.0, 0.1, ["age"]),
        ("add-remove", 2.0, 1 / 3, ["age"]),
        ("replace-one", 1.0, 1 / 3, [["age"], ["town"]]),
        ("add-remove", 2.0, 0.1, [["age"], ["town"]]),
    ],
)
def test_noise_threshold_and_units_cut_stay_together_within_the_goal(neighbours, order, share, by):
    request = request_of(
        by=by, goal=APPROX, unit="person", max_cells=2, neighbours=neighbours, order=order, count_cut=share
    )
    plan = plan_request(request)
    parts = [plan.mechanism.guarantee, plan.cut.mechanism.guarantee]
    assert plan.guarantee.implies(APPROX.under(neighbours))
    assert Fraction(plan.guarantee.epsilon) >= sum(Fraction(part.epsilon) for part in parts)
    assert plan.cut.mechanism.guarantee.epsilon == pytest.approx(share)
    assert plan.cut.mechanism.sensitivity.moving == len(request.by)
    if order == 2.0:
        assert plan.guarantee.delta > 0.0


def test_pure_laplace_noise_is_taken_where_it_is_as_good_and_said_to_be_pure():
    plan = plan_request(request_of(goal=APPROX))
    assert (plan.mechanism.order, plan.guarantee) == (1.0, ggdp.PureDP(1.0, "add-remove"))


def test_where_many_cells_move_approximate_noise_is_taken_and_better_than_laplace():
    request = request_of(by=["town"], domain={"town": list(range(50))}, goal=APPROX, unit="person", max_cells=50)
    plan = plan_request(request)
    pure = ggdp.calibrate(PURE, request.sensitivity, order=1, support="integer")
    assert isinstance(plan.guarantee, ggdp.ApproxDP)
    assert plan.mechanism.std < 0.9 * pure.std
    assert plan.guarantee.implies(APPROX)


def test_a_probabilistic_goal_is_approximate_after_an_adjustment_and_a_threshold():
    goal = ggdp.ProbabilisticDP(1.0, 1e-6)
    assert isinstance(plan_request(request_of(goal=goal, order=2)).guarantee, ggdp.ProbabilisticDP)
    assert isinstance(plan_request(request_of(goal=goal, order=2, nonnegative=True)).guarantee, ggdp.ApproxDP)
    sparse = request_of(by=["sex", "age"], goal=goal, order=2, false_cells=1)
    assert isinstance(plan_request(sparse).guarantee, ggdp.ApproxDP)


@pytest.mark.parametrize(
    ("neighbours", "max_cells", "order"), covering(["add-remove", "replace-one"], [1, 3], [1.0, 2.0, "auto"])
)
def test_an_open_table_keeps_the_whole_of_its_goal(neighbours, max_cells, order):
    request = request_of(
        by=["town"], goal=APPROX, unit="person", max_cells=max_cells, neighbours=neighbours, order=order
    )
    plan = plan_request(request)
    assert isinstance(plan.guarantee, ggdp.ApproxDP)
    assert plan.guarantee.implies(APPROX)
    assert plan.guarantee.delta > 0.0
    assert plan.threshold.value > 1
