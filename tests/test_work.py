"""A search ends where its work is used up. Work is counted, so that the same call has the same answer everywhere."""

import shlex

import pytest

import ggdp
from ggdp import ApproxDP, ProbabilisticDP, Sensitivity
from ggdp._balls import BALLS, working_precision
from ggdp._work import spend, spent_by, within, without_limit
from ggdp.calibration import least_scale
from ggdp.cli.app import run
from ggdp.errors import ArgumentError, SearchError
from ggdp.planning import best_order
from ggdp.proofs import tails

FIVE = Sensitivity.cells(5, 1)
# Each of them once took more than ten seconds.
EXTREME = (
    "plan --epsilon 0.01 --delta 1e-100 --box 1e-6,1",
    "plan --epsilon 0.01 --delta 1e-300 --notion approximate --box 1e-12,0.01 --neighbours replace-one",
    "plan --epsilon 1e-100 --delta 0.01 --notion approximate --box 5,5,3,2 --support integer --neighbours replace-one "
    "--releases 2",
    "plan --plus-minus 1e300 --delta 1e-300 --sensitivity 1e308",
    "calibrate --order 1.02 --epsilon 1e-100 --notion probabilistic --delta 0.25 --max-cells 1000",
    "calibrate --order 1e15 --epsilon 1e300 --notion probabilistic --delta 1e-320 --box 3,3,3,3 --support integer "
    "--neighbours replace-one",
    "calibrate --order 1000001 --epsilon 1 --notion probabilistic --delta 1e-300 --max-cells 1000000 --support integer",
    "calibrate --order 1000001 --epsilon 1e-300 --notion probabilistic --delta 0.01 --max-cells 1000000 "
    "--support integer",
    "calibrate --order 1e15 --epsilon 20 --delta 1e-30 --notion approximate --sensitivity 1e3 --support integer",
    "plan --plus-minus 1e100 --delta 1e-320 --notion approximate --box 1,700,1e3 --support integer "
    "--neighbours replace-one --level 0.95",
    "plan --epsilon 1e-100 --delta 1e-90 --notion approximate --box 1,5,1,3,1 --support integer "
    "--neighbours replace-one",
    "plan --epsilon 1e-100 --notion probabilistic --delta 0.9999999 --box 1e15 --support integer "
    "--neighbours replace-one --measure max --cells 1",
    "plan --epsilon 1e-12 --notion approximate --delta 0.9999999999999999 --box 1,0.3,5,3",
)


def test_work_ends_where_an_allowance_is_used_up():
    done = []

    def endless():
        while True:
            spend(10.0)
            done.append(10.0)

    with pytest.raises(SearchError, match="more work than ggdp does"):
        within(95.0, endless)
    assert sum(done) == 90.0


def test_a_search_within_another_spends_the_work_of_both():
    def part():
        within(50.0, lambda: spend(40.0))

    with pytest.raises(SearchError):
        within(100.0, lambda: [part() for _ in range(3)])
    assert within(100.0, lambda: [part() for _ in range(2)]) == [None, None]


def test_bits_count_as_work():
    assert spent_by(lambda: spend(10.0, 192))[1] == 20.0


def test_what_is_not_part_of_a_search_has_no_limit():
    spend(1e300)
    within(1.0, lambda: without_limit(lambda: spend(1e300)))


def test_an_allowance_is_closed_after_an_error():
    with pytest.raises(SearchError):
        within(1.0, lambda: spend(2.0))
    spend(1e300)


def test_what_is_remembered_costs_as_much_as_it_did_at_first():
    tails._NORMALISERS.clear()
    with BALLS, working_precision(96):
        costs = [spent_by(lambda: tails.normaliser(3.0, 1234.5))[1] for _ in range(2)]
    assert costs[0] == costs[1] > 0.0


@pytest.mark.parametrize(
    "call",
    [
        lambda: ggdp.calibrate(ApproxDP(1.0, 1e-6), FIVE, order=3, support="integer"),
        lambda: ggdp.calibrate(ApproxDP(0.01, 1e-9), Sensitivity.disjoint(10), order=1.2, support="integer"),
        lambda: ggdp.plan(ApproxDP(1.0, 1e-6), Sensitivity.histogram(), support="integer"),
    ],
)
def test_the_same_call_takes_the_same_work_whatever_was_asked_before(call):
    tails._NORMALISERS.clear()
    (_, first), (_, again) = spent_by(call), spent_by(call)
    assert first == again > 0.0


@pytest.mark.parametrize(
    ("goal", "order"), [(ApproxDP(1.0, 1e-6), 3.0), (ProbabilisticDP(1.0, 1e-6), 1.5), (ProbabilisticDP(1.0, 1e-6), 10)]
)
@pytest.mark.parametrize("support", ["real", "integer"])
def test_a_search_for_several_coordinates_that_takes_too_much_work_leaves_one_for_each(
    goal, order, support, monkeypatch
):
    monkeypatch.setattr(least_scale, "SEARCH_WORK", 2e4)
    found = ggdp.calibrate(goal, FIVE, order=order, support=support)
    assert any("each of the 5 coordinates keeps its share" in note for note in found.notes)
    found.verify()


@pytest.mark.parametrize("order", [1.5, 1e6])
def test_a_calibration_whose_work_is_used_up_is_refused(order, monkeypatch):
    monkeypatch.setattr(least_scale, "MOST_WORK", 100.0)
    with pytest.raises(SearchError, match="use a less extreme order, epsilon, delta or sensitivity"):
        ggdp.calibrate(ApproxDP(1.0, 1e-6), Sensitivity.disjoint(3), order=order, support="integer")


def test_a_sum_of_a_million_terms_is_not_begun_where_there_is_no_work_left_for_it(monkeypatch):
    added = []
    monkeypatch.setattr(tails, "weight", lambda *_: added.append(1))
    with BALLS, working_precision(96), pytest.raises(SearchError):
        within(1e5, lambda: tails.weights(1e6, 1e6, 1, 1_000_000))
    assert added == []


def test_a_plan_whose_orders_take_too_much_work_is_made_from_those_that_are_proved(monkeypatch):
    monkeypatch.setattr(best_order, "SEARCH_WORK", 1000.0)
    found = ggdp.plan(ApproxDP(1.0, 1e-6), FIVE, support="integer")
    assert {order for order, _ in found.curve} == {1.0, 2.0}
    assert found.best.error == min(error for _, error in found.curve)
    found.calibration.verify()


def test_a_plan_leaves_out_gaussian_noise_that_takes_too_much_work(monkeypatch):
    usual = spent_by(lambda: ggdp.calibrate(ApproxDP(1.0, 1e-6), FIVE, order=1, support="integer"))[1]
    monkeypatch.setattr(best_order, "MOST_WORK", usual + 100.0)
    found = ggdp.plan(ApproxDP(1.0, 1e-6), FIVE, support="integer")
    assert found.best.order == 1.0
    assert any(note.startswith("order 2 is left out") for note in found.notes)


def test_a_plan_warns_of_no_floats():
    # Warnings are errors here; those of an estimate are none of the caller's.
    assert ggdp.plan(ProbabilisticDP(1e100, 0.9999999), Sensitivity.cells(2, 1), support="integer").best.error >= 0.0


def test_a_half_width_on_the_integers_needs_whole_sensitivities():
    with pytest.raises(ArgumentError, match="must be a whole number"):
        ggdp.plan(None, Sensitivity.box([0.01, 700]), plus_minus=1e100, delta=1e-6, support="integer")


@pytest.mark.exhaustive
@pytest.mark.parametrize("command", EXTREME)
def test_an_extreme_command_answers_or_refuses_in_one_line(command, capsys):
    code = run(shlex.split(command))
    said = capsys.readouterr().err
    assert code == 0 or (code == 1 and said.startswith("error: ") and said.count("\n") == 1)
