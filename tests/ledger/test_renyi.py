"""The Renyi filter: limits and divergences are on the safe side, and what it cannot take is refused by name."""

import math
from fractions import Fraction
from itertools import pairwise

import mpmath
import pytest
from tests.cases import some
from tests.ledger.books import asked, calibrated, laplace, pure

import ggdp
from ggdp.errors import ArgumentError, BudgetExceededError, LedgerError
from ggdp.ledger import ChargeRequest
from ggdp.ledger.accounting import RenyiAccounting, limits_of, orders_for
from ggdp.ledger.budgets import Amount, Budget

BUDGETS = [ggdp.ApproxDP(1.0, 1e-6), ggdp.ApproxDP(0.1, 1e-12), ggdp.ApproxDP(10.0, 1e-3)]
GOAL = ggdp.ApproxDP(1.0, 1e-6)


def books(budget=GOAL):
    whole = Budget.of(budget)
    orders = orders_for(whole)
    return RenyiAccounting(whole, orders, limits_of(whole, orders))


@pytest.mark.parametrize("budget", BUDGETS)
def test_a_limit_gives_its_share_of_delta_and_hardly_less(budget):
    found = books(budget)
    with mpmath.workdps(50):
        epsilon, share = mpmath.mpf(repr(budget.epsilon)), mpmath.mpf(repr(budget.delta)) / len(found.orders)
        for alpha, limit in zip(found.orders, found.limits, strict=True):
            a, rho = mpmath.mpf(alpha), mpmath.mpf(limit.units) / 10**40
            delta = mpmath.exp((a - 1) * (rho - epsilon)) * (1 - 1 / a) ** a / (a - 1)
            assert delta <= share
            assert delta >= share * (1 - mpmath.mpf("1e-9"))


@pytest.mark.parametrize("budget", BUDGETS)
def test_orders_follow_from_the_budget_alone_and_have_limits_above_0(budget):
    orders = orders_for(Budget.of(budget))
    assert orders == orders_for(Budget.of(budget))
    assert all(1.0 < first < second for first, second in pairwise(orders))
    assert all(limit is not None for limit in limits_of(Budget.of(budget), orders))


def test_divergences_are_those_of_the_calibration_rounded_up():
    found, noise = books(), calibrated(ggdp.ApproxDP(0.5, 1e-7), order=2, max_cells=3)
    charge = found.charge(asked(noise))
    for alpha, text in zip(found.orders, charge["divergences"], strict=True):
        lower, upper = noise.renyi(alpha)
        assert Fraction(lower) <= Amount.parse(text).exact
        assert float(Amount.parse(text)) <= upper * (1 + 1e-9)
    assert charge["epsilon"] == "0.5"


@pytest.mark.parametrize("order", some([1.5, 2.0, 3.0], lambda order: order == 2.0))
def test_a_tiny_budget_has_narrow_divergences_of_all_its_orders(order):
    found, noise = books(ggdp.ApproxDP(1e-3, 1e-6)), calibrated(ggdp.ApproxDP(1e-4, 1e-7), order=order)
    charge = found.charge(asked(noise))
    for alpha, text in zip(found.orders, charge["divergences"], strict=True):
        lower, upper = noise.renyi(alpha)
        assert Fraction(lower) <= Amount.parse(text).exact
        assert upper <= lower * (1 + 1e-9)
        if order == 2.0:
            assert upper == pytest.approx(alpha / noise.scale**2, rel=1e-9)
    assert found.keeps(found.after(found.opening(), charge))


def test_a_filter_allows_more_gaussian_releases_than_sums():
    noise = asked(calibrated(ggdp.ApproxDP(0.1, 1e-8), order=2))
    found = books()
    charge, totals, number = found.charge(noise), found.opening(), 0
    while found.keeps(found.after(totals, charge)):
        totals, number = found.after(totals, charge), number + 1
    assert number > 20
    assert not found.keeps(found.after(totals, charge))
    assert 0.9 < found.spent(totals).epsilon <= 1


def test_an_order_without_a_finite_divergence_is_lost_and_the_others_go_on():
    found = books()
    charge = found.charge(pure(0.1))
    charge["divergences"][0] = None
    totals = found.after(found.after(found.opening(), charge), found.charge(pure(0.1)))
    assert totals["divergences"][0] is None
    assert found.keeps(totals)
    charge["divergences"] = [None] * len(found.orders)
    assert not found.keeps(found.after(totals, charge))


def test_a_release_with_a_chance_of_an_infinite_loss_is_refused_with_the_reason():
    request = ChargeRequest(guarantee=ggdp.ApproxDP(0.1, 1e-9, "add-remove"))
    with pytest.raises(LedgerError, match=r"none that is finite.*accounting sum"):
        books().charge(request)


def test_a_pure_budget_has_no_renyi_filter(tmp_path):
    with pytest.raises(ArgumentError, match="needs a budget with a delta"):
        ggdp.Ledger.create(tmp_path / "x.ledger", ggdp.PureDP(1.0), accounting="renyi")


def test_the_epsilon_of_nothing_is_nothing_and_that_of_a_full_order_is_the_budget():
    found = books()
    assert found.needed(found.opening()) == 0.0
    full = [None if limit is None else str(limit) for limit in found.limits]
    assert found.needed({"divergences": full}) == pytest.approx(1.0, rel=1e-9)
    assert math.isinf(found.needed({"divergences": [None] * len(found.orders)}))


def test_a_ledger_counts_divergences_and_says_what_fits(tmp_path):
    ledger = ggdp.Ledger.create(tmp_path / "x.ledger", GOAL, accounting="renyi", analysts={"ana": GOAL})
    gaussian = ggdp.Mechanism(calibrated(ggdp.ApproxDP(0.5, 1e-7), order=2))
    entry = ledger.charge(gaussian, analyst="ana")
    assert len(entry.charge["divergences"]) == 8
    left = ledger.remaining().epsilon
    assert 0 < left < 1
    assert ledger.would_allow(ggdp.PureDP(float(left), "add-remove"), "ana")
    assert not ledger.would_allow(ggdp.PureDP(float(left) * 1.001, "add-remove"), "ana")
    with pytest.raises(BudgetExceededError, match=r"releases of pure DP fit up to epsilon = 0\.\d+$"):
        ledger.charge(pure(0.9), analyst="ana")
    assert ggdp.Ledger(tmp_path / "x.ledger").verify().number == 1


def test_laplace_noise_is_charged_less_than_randomised_response_of_its_epsilon():
    found = books()
    noisy, response = found.charge(laplace(10.0, 3)), found.charge(pure(0.3))
    pairs = zip(noisy["divergences"], response["divergences"], strict=True)
    assert all(Amount.parse(first) <= Amount.parse(second) for first, second in pairs)
