import math

import pytest

from ggdp.planning.best_order import Resolution, Trial, least_error
from ggdp.proofs.noise_law import NoiseLaw

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
