"""The best order: safe, near the least error, and found by a search that looks closely enough."""

import dataclasses
import json
import math

import pytest
from tests.cases import one_in

import ggdp
from ggdp.planning import estimate_scale, plan
from ggdp.planning.best_order import Resolution, Trial, least_error, scale_finder
from ggdp.planning.error_measures import Measure
from ggdp.proofs.noise_law import NoiseLaw

HISTOGRAM = ggdp.Sensitivity.histogram()


def by_name(found):
    return {choice.name: choice for choice in found.choices}


@pytest.mark.parametrize(
    ("epsilon", "delta", "laplace", "gaussian", "best", "order"),
    [
        (1.0, 1e-6, "1.414", "4.225", "1.414", "1"),
        (1.0, 0.05, "1.283", "1.333", "1.198", "1.27"),
        (0.1, 0.1, "4.551", "2.847", "2.538", "4.6"),
    ],
)
def test_the_best_orders_of_a_histogram(epsilon, delta, laplace, gaussian, best, order):
    found = by_name(plan(ggdp.ApproxDP(epsilon, delta), HISTOGRAM))
    assert f"{found['laplace'].error:.3f}" == laplace
    assert f"{found['gaussian'].error:.3f}" == gaussian
    assert f"{found['best'].error:.3f}" == best
    assert f"{found['best'].order:g}" == order


@pytest.mark.exhaustive
def test_ten_cells_of_one_person_are_best_served_between_laplace_and_gaussian():
    found = by_name(plan(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.cells(10, 1)))
    assert 1.4 <= found["best"].order <= 1.6
    assert [f"{found[name].error:.1f}" for name in ("best", "laplace", "gaussian")] == ["12.6", "14.1", "13.4"]


@pytest.mark.exhaustive
def test_a_thousand_cells_of_one_person_have_a_largest_error_far_below_the_usual():
    found = plan(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.cells(1000, 1), "max")
    choices = by_name(found)
    assert 3.5 <= found.best.order <= 4.0
    assert found.best.error == pytest.approx(400.0, abs=1.0)
    assert choices["gaussian"].error == pytest.approx(459.0, abs=0.5)
    assert choices["laplace"].error >= 2.3 * found.best.error
    assert found.best.error <= 0.9 * choices["gaussian"].error


@pytest.mark.parametrize("measure", ["mean-abs", "rmse", "quantile", "max"])
@pytest.mark.parametrize("goal", [ggdp.ApproxDP(0.5, 0.01), ggdp.ProbabilisticDP(0.5, 0.01)])
def test_no_order_of_a_list_is_better_than_the_best(goal, measure):
    cells = 50 if measure == "max" else None
    found = plan(goal, HISTOGRAM, measure, level=0.9, cells=cells)
    for order in (1, 1.01, 1.1, 1.2, 1.35, 1.5, 1.7, 2, 2.4, 3, 4, 5, 7, 10, 20, 50):
        law = ggdp.calibrate(goal, HISTOGRAM, order=order).law
        assert found.best.error <= found.measure.of(law) * (1 + 2e-5)


@pytest.mark.parametrize(
    ("goal", "measure", "cells", "step"),
    [
        (ggdp.ApproxDP(1.0, 0.05), "rmse", None, 0.02),
        pytest.param(ggdp.ApproxDP(0.1, 0.1), "rmse", None, 0.004, marks=pytest.mark.exhaustive),
        pytest.param(ggdp.ProbabilisticDP(1.0, 0.05), "max", 1000, 0.004, marks=pytest.mark.exhaustive),
        pytest.param(ggdp.ApproxDP(2.0, 0.001), "mean-abs", None, 0.004, marks=pytest.mark.exhaustive),
    ],
)
def test_on_the_integers_no_order_of_a_dense_list_is_better(goal, measure, cells, step):
    found = plan(goal, HISTOGRAM, measure, cells=cells, support="integer")
    scale_of = scale_finder(goal, HISTOGRAM, "integer")
    for i in range(int(math.log(50.0) / step)):
        order = math.exp(step * i)
        law = NoiseLaw(order=order, scale=scale_of(order, lambda: math.inf), support="integer")
        assert found.best.error <= found.measure.of(law) * (1 + 2e-5)


def test_the_integers_have_another_best_order_than_the_reals():
    goal = ggdp.ApproxDP(1.0, 0.05)
    real, integer = plan(goal, HISTOGRAM), plan(goal, HISTOGRAM, support="integer")
    assert integer.best.order == pytest.approx(1.13, abs=0.005)
    assert integer.best.error < real.best.error
    assert integer.calibration.support == "integer"


@pytest.mark.exhaustive
def test_replace_one_on_the_integers_is_searched_by_scans():
    goal, query = ggdp.ApproxDP(1.0, 0.05), ggdp.Sensitivity.histogram("replace-one")
    found = plan(goal, query, support="integer")
    for order in (1, 1.5, 2, 3, 8):
        assert found.best.error <= ggdp.calibrate(goal, query, order=order, support="integer").std
    assert found.best.error == pytest.approx(1.8637, abs=1e-3)


FEW, BOX = ggdp.Sensitivity.cells(10, 1), ggdp.Sensitivity.box([1.0, 0.25])


@pytest.mark.parametrize(
    ("query", "order"),
    # The first of each pair every time: each order with one of the queries.
    one_in(2, [(FEW, 1.1), (BOX, 1.1), (BOX, 1.5), (FEW, 1.5), (FEW, 20.0), (BOX, 20.0), (BOX, 3.0), (FEW, 3.0)]),
    ids=str,
)
def test_the_quick_scale_of_a_corner_is_that_of_its_calibration(query, order):
    goal = ggdp.ApproxDP(1.0, 1e-4)
    quick = scale_finder(goal, query, "real")(order, lambda: math.inf)
    assert quick == pytest.approx(ggdp.calibrate(goal, query, order=order).scale, rel=2e-4)


@pytest.mark.exhaustive
@pytest.mark.parametrize("order", [1.5, 4.0, 8.0, 50.0])
def test_the_quick_scale_on_the_integers_is_that_of_its_calibration(order):
    goal, query = ggdp.ApproxDP(1.0, 0.05), ggdp.Sensitivity.cells(2, 1)
    quick = scale_finder(goal, query, "integer")(order, lambda: math.inf)
    assert quick == pytest.approx(ggdp.calibrate(goal, query, order=order, support="integer").scale, rel=2e-4)


@pytest.mark.parametrize("goal", [ggdp.ApproxDP(1.0, 1e-4), ggdp.ProbabilisticDP(1.0, 1e-2)], ids=str)
@pytest.mark.parametrize("order", [1.5, 3.0])
@pytest.mark.parametrize(
    "query",
    [
        HISTOGRAM,
        BOX,
        ggdp.Sensitivity.box([1.0, 1.0], norm=(2, 1.2)),
        ggdp.Sensitivity.norm(1, 2, dimension=5),
        ggdp.Sensitivity.norm(3, 2, dimension=3),
    ],
    ids=str,
)
def test_an_estimated_scale_is_that_of_the_calibration_whichever_bound_applies(goal, query, order):
    expected = ggdp.calibrate(goal, query, order=order).scale
    assert estimate_scale(goal, query, order=order) == pytest.approx(expected, rel=2e-5)


def test_an_estimated_scale_has_no_dip_at_order_2():
    goal = ggdp.ProbabilisticDP(1.0, 0.05)
    before, at, after = (estimate_scale(goal, BOX, order=order) for order in (1.999, 2.0, 2.001))
    assert before < at < after < 1.01 * before
    assert ggdp.calibrate(goal, BOX, order=2).scale < 0.99 * at


def test_an_error_of_zero_is_planned_with_too():
    found = plan(ggdp.ApproxDP(5.0, 0.001), HISTOGRAM, "quantile", level=0.5, support="integer")
    assert found.best.error == 0.0
    assert found.alternatives[0].gain is None
    assert "error 0" in repr(found)


@pytest.mark.exhaustive
def test_tiny_noise_on_the_integers_is_not_dropped_for_its_scale():
    # At such scales the error on the integers is far below that on the reals, per unit of scale.
    goal, query = ggdp.ApproxDP(12.0, 0.01), ggdp.Sensitivity.cells(2, 1)
    found = plan(goal, query, support="integer")
    assert sum(1.0 < order < 2.0 for order, _ in found.curve) >= 3
    assert found.best.error <= ggdp.calibrate(goal, query, order=1.4, support="integer").std


@pytest.mark.parametrize("goal", [ggdp.PureDP(0.5), ggdp.ApproxDP(0.5, 0.0)])
def test_a_pure_goal_leaves_order_1_only_and_says_so(goal):
    found = plan(goal, HISTOGRAM)
    assert (found.best.order, found.best.scale) == (1.0, 2.0)
    assert by_name(found)["gaussian"].error is None
    assert any("order 1 is the only one" in note for note in found.notes)


def test_what_is_not_proved_is_not_planned_with():
    found = plan(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.norm(2, 4, dimension=9), support="integer")
    assert found.best.order == 2.0
    assert any("upper bounds" in note for note in found.notes)
    found = plan(ggdp.ProbabilisticDP(1.0, 1e-6), ggdp.Sensitivity.norm(2, 4, dimension=9), support="integer")
    assert found.best.order == 1.0
    assert "not available" in repr(found)


def test_order_2_stands_apart_where_only_an_l2_norm_is_known():
    found = plan(ggdp.ApproxDP(1.0, 1e-6), ggdp.Sensitivity.norm(2, 1.0, dimension=10))
    assert found.best.order == 2.0
    assert any("upper bounds" in note for note in found.notes)


def test_the_calibration_is_proved_and_the_plans_own():
    found = plan(ggdp.ApproxDP(1.0, 0.05), HISTOGRAM, support="integer")
    found.calibration.verify()
    assert (found.calibration.order, found.calibration.scale) == (found.best.order, found.best.scale)
    assert found.best.error == found.calibration.std
    assert found.calibration.noise().sample(5).shape == (5,)


def test_gains_are_errors_over_the_best():
    found = plan(ggdp.ApproxDP(0.1, 0.1), HISTOGRAM)
    assert found.best.gain == 1.0
    assert [choice.gain * found.best.error for choice in found.alternatives] == pytest.approx(
        [choice.error for choice in found.alternatives]
    )


def test_a_quantile_on_the_integers_is_whole_and_ties_go_to_the_least_rmse():
    found = plan(ggdp.ApproxDP(1.0, 0.05), HISTOGRAM, "quantile", level=0.95, support="integer")
    assert found.best.error == 2.0
    best = plan(ggdp.ApproxDP(1.0, 0.05), HISTOGRAM, "rmse", support="integer")
    assert found.calibration.std == pytest.approx(best.best.error, rel=1e-4)


@pytest.mark.parametrize("support", ["real", "integer"])
def test_a_quantile_holds_its_level(support):
    found = plan(ggdp.ApproxDP(1.0, 0.05), HISTOGRAM, "quantile", level=0.8, support=support)
    if support == "real":
        law = ggdp.GeneralizedGaussian(order=found.best.order, scale=found.best.scale)
        assert 1.0 - 2.0 * law.sf(found.best.error) == pytest.approx(0.8, rel=1e-12)
    else:
        law = ggdp.IntegerGeneralizedGaussian(order=found.best.order, scale=found.best.scale)
        widths = int(found.best.error)
        assert 1.0 - 2.0 * law.sf(widths) >= 0.8 > 1.0 - 2.0 * law.sf(widths - 1)


def test_the_unit_of_the_query_does_not_matter():
    goal = ggdp.ApproxDP(0.1, 0.1)
    small, large = (plan(goal, ggdp.Sensitivity.disjoint(size)) for size in (1.0, 1024.0))
    assert large.best.order == small.best.order
    assert large.best.error == pytest.approx(1024.0 * small.best.error, rel=1e-9)


def test_cells_come_from_the_sensitivity_unless_given():
    goal = ggdp.ApproxDP(1.0, 0.05)
    assert plan(goal, ggdp.Sensitivity.norm(2, 1.0, dimension=7), "max").measure.cells == 7
    assumed = plan(goal, HISTOGRAM, "max")
    assert assumed.measure.cells == 1
    assert any("give their number as cells" in note for note in assumed.notes)
    given = plan(goal, HISTOGRAM, "max", cells=400)
    assert given.best.error > assumed.best.error
    assert not any("give their number" in note for note in given.notes)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"measure": "worst"}, "measure = 'worst'"),
        ({"measure": "quantile", "level": 1.0}, "level = 1.0"),
        ({"measure": "quantile", "level": 0.0}, "level = 0.0"),
        ({"cells": 3}, "cells = 3: only measure = 'max'"),
        ({"measure": "max", "cells": 0}, "cells = 0"),
        ({"measure": "max", "cells": 2.5}, "cells = 2.5"),
        ({"measure": "max", "cells": 10**19}, "must be at most"),
        ({"support": "complex"}, "support = 'complex'"),
        ({"sensitivity": ggdp.Sensitivity.cells(10, 1), "measure": "max", "cells": 5}, "must be at least 10"),
        ({"sensitivity": ggdp.Sensitivity.box([1, 1]), "measure": "max", "cells": 5}, "2 coordinates"),
        ({"sensitivity": 1.0}, "sensitivity = 1.0"),
        ({"goal": "1.0"}, "goal = '1.0'"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(ggdp.GgdpError, match=message.replace("(", r"\(")):
        plan(**{"goal": ggdp.ApproxDP(1.0, 0.1), "sensitivity": HISTOGRAM, **arguments})


def test_a_plan_is_frozen_readable_and_plain_values():
    found = plan(ggdp.ApproxDP(1.0, 0.05), HISTOGRAM)
    with pytest.raises(dataclasses.FrozenInstanceError):
        found.best = None
    for words in ("(1, 0.05)-aDP", "root mean square error", "best      order 1.27", "laplace", "times the best"):
        assert words in repr(found)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["best"]["scale"] == found.best.scale
    assert [choice["name"] for choice in document["alternatives"]] == ["laplace", "gaussian"]
    assert len(document["curve"]) == len(found.curve)
    ggdp.verify(document["calibration"]["certificate"])


def test_the_curve_holds_every_choice_at_its_proved_error():
    found = plan(ggdp.ApproxDP(1.0, 0.05), HISTOGRAM)
    curve = dict(found.curve)
    assert list(curve) == sorted(curve)
    assert all(curve[choice.order] == choice.error for choice in found.choices)
    assert (min(curve), max(curve)) == (1.0, 50.0)


@pytest.mark.parametrize("name", ["rmse", "mean-abs"])
def test_moments_are_the_laws_own(name):
    law = ggdp.GeneralizedGaussian(order=3, scale=2.0)
    assert Measure(name=name).of(NoiseLaw(order=3, scale=2.0)) == (law.std if name == "rmse" else law.mean_abs)


CLOSE = Resolution(points=33, finer=1, valleys=3, splits=2, width=1e-3)


def bowl(centre, depth=1.0):
    return lambda order: depth + math.log(order / centre) ** 2


def trials(error, tie=lambda _: 0.0):
    return lambda order: Trial(NoiseLaw(order=order, scale=1.0), error(order), tie(order))


@pytest.mark.parametrize("centre", [1.0, 1.27, 3.7, 12.0, 50.0])
def test_one_valley_is_found_wherever_it_is(centre):
    trial = trials(bowl(centre))
    best, _ = least_error(trial, CLOSE, [trial(1.0), trial(2.0)])
    assert best.error <= 1.0 + 2e-5


def test_the_deeper_of_two_valleys_is_found_though_the_grid_sees_the_other_first():
    trial = trials(lambda order: min(bowl(1.3, 1.0)(order), 0.9 + 60.0 * abs(math.log(order / 17.3))))
    grid_only, _ = least_error(trial, Resolution(points=33, finer=1, valleys=1, splits=2, width=1e-3), [trial(1.0)])
    best, _ = least_error(trial, CLOSE, [trial(1.0)])
    assert grid_only.law.order == pytest.approx(1.3, rel=1e-2)
    assert best.law.order == pytest.approx(17.3, rel=1e-3)


def test_a_finer_grid_sees_a_valley_between_the_points_of_a_coarse_one():
    trial = trials(lambda order: 1.2 - 0.4 * max(0.0, 1.0 - abs(math.log(order / 10.6)) / 0.02))
    coarse = Resolution(points=20, finer=1, valleys=3, splits=2, width=1e-3)
    finer = Resolution(points=20, finer=20, valleys=3, splits=2, width=1e-3)
    assert least_error(trial, coarse, [trial(1.0)])[0].error == 1.2
    assert least_error(trial, finer, [trial(1.0)])[0].error < 0.81


def test_ties_are_decided_by_the_second_number():
    trial = trials(lambda _: 3.0, bowl(5.0))
    best, _ = least_error(trial, CLOSE, [trial(1.0), trial(2.0)])
    assert best.law.order == pytest.approx(5.0, rel=1e-2)


def test_a_usual_order_is_preferred_where_nothing_speaks_against_it():
    trial = trials(lambda order: 1.0 - 1e-7 * order)
    assert least_error(trial, CLOSE, [trial(1.0), trial(2.0)])[0].law.order == 1.0


def test_orders_without_a_scale_are_passed_over():
    trial = trials(lambda order: math.inf if order > 4.0 else bowl(3.0)(order))
    best, tried = least_error(trial, CLOSE, [trial(1.0), trial(2.0)])
    assert best.law.order == pytest.approx(3.0, rel=1e-2)
    assert tried[-1].law.order == 50.0


def test_progress_counts_the_orders_and_ends_near_what_was_expected():
    seen = []
    trial = trials(bowl(3.0))
    _, tried = least_error(trial, CLOSE, [trial(1.0)], lambda done, expected: seen.append((done, expected)))
    assert [done for done, _ in seen] == list(range(2, len(tried) + 1))
    assert 0.5 < len(tried) / seen[-1][1] < 1.5
