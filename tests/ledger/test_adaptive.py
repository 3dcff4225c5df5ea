"""No kind of accounting lets any adaptive strategy of three steps pass the budget; the refused one does."""

import math
from itertools import combinations_with_replacement

import pytest
from tests.ledger.adaptive import delta_of, integer_noise, response, worst_delta

import ggdp
from ggdp.ledger import ChargeRequest
from ggdp.ledger.accounting import (
    RenyiAccounting,
    ReservedAccounting,
    SumAccounting,
    composition_of,
    limits_of,
    orders_for,
)
from ggdp.ledger.budgets import Budget
from ggdp.proofs import NoiseLaw
from ggdp.proofs.losses import CoordinateLoss, CountedLoss

STEPS = 3


def known(epsilon, delta=0.0):
    """Return a law known by its guarantee: its request, and its outcomes."""
    guarantee = ggdp.ApproxDP(epsilon, delta, "add-remove") if delta else ggdp.PureDP(epsilon, "add-remove")
    return ChargeRequest(guarantee=guarantee), response(epsilon, delta)


def noise(order, scale, epsilon, reach):
    """Return noise on the integers: its request, and its outcomes."""
    outcomes = integer_noise(order, scale, reach)
    law = CoordinateLoss(NoiseLaw(order=order, scale=scale, support="integer"), 1.0)
    delta = delta_of([outcomes], epsilon)
    guarantee = ggdp.ApproxDP(epsilon, delta * (1 + 1e-9) + 1e-12, "add-remove")
    return ChargeRequest(guarantee=guarantee, losses=(CountedLoss(law, 1),)), outcomes


def histories(menu):
    return [used for length in range(1, STEPS + 1) for used in combinations_with_replacement(range(len(menu)), length)]


def keeping(books, menu):
    """Return which histories of laws an accounting allows, as a ledger does: one charge after the other."""
    charges = [books.charge(request) for request, _ in menu]

    def allowed(used):
        totals = books.opening()
        for place in used:
            totals = books.after(totals, charges[place])
        return books.keeps(totals)

    return allowed


def renyi(budget):
    orders = orders_for(budget)
    return RenyiAccounting(budget, orders, limits_of(budget, orders))


PURE = [known(0.25), known(0.5), known(0.75)]
MIXED = [known(0.25), known(0.125, 0.03125), known(0.5, 0.0078125)]
# What is beyond reach has a probability below 1e-16.
GAUSSIAN = [noise(2.0, 1.5, 0.5, 10), noise(2.0, 2.0, 0.4, 13), known(0.25)]
HIGHER = [noise(3.0, 2.0, 0.4, 7), noise(1.5, 1.5, 0.3, 17), known(0.125)]
CASES = {
    "sum of pure laws": (SumAccounting, PURE, ggdp.PureDP(1.0)),
    "sum of pure laws with a delta": (SumAccounting, PURE, ggdp.ApproxDP(1.25, 0.0625)),
    "sum of approximate laws": (SumAccounting, MIXED, ggdp.ApproxDP(0.625, 0.0625)),
    "sum of Gaussian noise": (SumAccounting, GAUSSIAN, ggdp.ApproxDP(1.0, 0.5)),
    "Renyi divergences of pure laws": (renyi, PURE, ggdp.ApproxDP(1.5, 0.0625)),
    "Renyi divergences of Gaussian noise": (renyi, GAUSSIAN, ggdp.ApproxDP(2.5, 0.02)),
    "Renyi divergences of other orders": (renyi, HIGHER, ggdp.ApproxDP(3.0, 0.02)),
}


@pytest.mark.parametrize("case", CASES)
def test_no_adaptive_strategy_passes_the_budget(case):
    kind, menu, budget = CASES[case]
    allowed = keeping(kind(Budget.of(budget)), menu)
    decided = {allowed(used) for used in histories(menu)}
    assert decided == {True, False}, "the budget must matter"
    worst = worst_delta([outcomes for _, outcomes in menu], allowed, budget.epsilon, STEPS)
    assert worst <= budget.delta * (1 + 1e-12) + 1e-14


RESERVED = {
    "pure laws": (PURE, (0, 1, 1), ggdp.ApproxDP(0.75, 0.125)),
    "mixed laws": (MIXED, (0, 0, 1), ggdp.ApproxDP(0.5, 0.125)),
    "Gaussian noise": (GAUSSIAN, (0, 1, 2), ggdp.ApproxDP(1.0, 0.25)),
    "other orders": (HIGHER, (0, 1, 2), ggdp.ApproxDP(1.0, 0.25)),
}


@pytest.mark.parametrize("case", RESERVED)
def test_reserved_laws_keep_the_budget_in_any_adaptive_order_and_if_some_are_left(case):
    menu, reserved, budget = RESERVED[case]
    books = ReservedAccounting(Budget.of(budget))
    counted = [(menu[place][0], reserved.count(place)) for place in dict.fromkeys(reserved)]
    proved = books.require_budget(counted)
    opening = books.reserve(books.opening(), counted)
    charges = [books.charge(request) for request, _ in menu]

    def allowed(used):
        totals = opening
        for place in used:
            totals = books.after(totals, charges[place])
        return books.keeps(totals)

    assert {allowed(used) for used in histories(menu)} == {True, False}
    outcomes = [found for _, found in menu]
    worst = worst_delta(outcomes, allowed, budget.epsilon, STEPS)
    whole = delta_of([outcomes[place] for place in reserved], budget.epsilon)
    assert whole == pytest.approx(worst, rel=1e-9)
    assert worst <= proved * (1 + 1e-12) + 1e-14
    assert proved <= budget.delta


# docs/explanation/theory/ledger.md shows this example.
EPSILON, DELTA = 0.5, 0.02
SMALL, LEAK = known(0.2), known(1e-9, 0.02)


def composed_within(menu, delta):
    """Return which histories the refused kind allows: those whose composed loss keeps the budget."""

    def allowed(used):
        return delta_of([menu[place][1] for place in used], EPSILON) <= delta

    return allowed


def test_stopping_by_the_composed_loss_passes_the_budget_by_half():
    menu = [SMALL, (LEAK[0], response(0.0, DELTA))]
    allowed = composed_within(menu, DELTA * (1 + 1e-12))
    worst = worst_delta([outcomes for _, outcomes in menu], allowed, EPSILON, STEPS)
    assert worst == pytest.approx(0.029772, abs=1e-6)
    assert worst > 1.48 * DELTA


def test_the_strategy_that_passes_it_is_the_one_that_the_documentation_tells():
    up, down = response(0.2)
    third = delta_of([[(up[0] ** 2, up[1] ** 2)], response(0.2)], EPSILON)
    leaks = (1 - up[0] ** 2) * DELTA
    assert third + leaks == pytest.approx(0.029772, abs=1e-6)
    assert math.isclose(up[0] + down[0], 1.0)
    assert delta_of([response(0.2)] * 3, EPSILON) <= DELTA
    assert delta_of([response(0.2)] * 2 + [response(0.0, DELTA)], EPSILON) <= DELTA * (1 + 1e-12)


def test_the_composition_that_it_would_stop_by_is_that_of_ggdp():
    for laws in ([(SMALL[0], 3)], [(SMALL[0], 2), (LEAK[0], 1)]):
        lower, upper = composition_of(laws).delta(EPSILON)
        exact = delta_of([response(0.2)] * laws[0][1] + [response(1e-9, DELTA)] * (len(laws) - 1), EPSILON)
        assert lower * (1 - 1e-6) <= exact <= upper * (1 + 1e-6)


def test_the_sound_kinds_refuse_that_strategy():
    books = SumAccounting(Budget.of(ggdp.ApproxDP(EPSILON, DELTA)))
    allowed = keeping(books, [SMALL, LEAK])
    assert allowed((0, 0))
    assert not allowed((0, 0, 0))
    worst = worst_delta([outcomes for _, outcomes in (SMALL, LEAK)], allowed, EPSILON, STEPS)
    assert worst <= DELTA * (1 + 1e-12)
