"""Sums of epsilon and delta: what a release is charged covers what it reveals, and no more than was typed."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.ledger.books import asked, balance, calibrated, laplace, pure

import ggdp
from ggdp.ledger import ChargeRequest
from ggdp.ledger.accounting import SumAccounting, cost
from ggdp.ledger.budgets import Amount, Budget, as_typed


@pytest.mark.parametrize("epsilon", [0.1, 0.2, 0.05, 0.3, 0.7, 0.9, 1.1, 2.2, 0.01])
@pytest.mark.parametrize("cells", [1, 3])
def test_a_table_of_pure_dp_is_charged_the_epsilon_that_was_typed(epsilon, cells):
    request = asked(calibrated(ggdp.PureDP(epsilon), order=1, max_cells=cells))
    assert cost(request) == Budget(Amount.up(as_typed(epsilon)), Amount(0))


def test_ten_releases_of_a_tenth_fit_in_a_budget_of_one_and_no_eleventh():
    books = SumAccounting(Budget.of(ggdp.PureDP(1.0)))
    charge = books.charge(asked(calibrated(ggdp.PureDP(0.1), order=1)))
    totals = books.opening()
    for _ in range(10):
        totals = books.after(totals, charge)
        assert books.keeps(totals)
    assert books.remaining(totals) == balance("0", "0")
    assert not books.keeps(books.after(totals, charge))


@given(st.floats(min_value=1e-6, max_value=1e6), st.floats(min_value=1e-6, max_value=1e6))
def test_noise_of_order_1_is_charged_at_least_its_exact_loss(scale, sensitivity):
    whole = max(1, round(sensitivity))
    loss = Fraction(whole) / Fraction(scale)
    charged = cost(laplace(scale, whole)).epsilon.exact
    assert loss <= charged
    assert charged <= max(loss, as_typed(whole / scale)) * (1 + Fraction(1, 10**12)) + Fraction(1, 10**39)


@given(st.floats(min_value=1e-9, max_value=50.0))
def test_a_guarantee_alone_is_charged_in_full(epsilon):
    assert cost(pure(epsilon)).epsilon.exact >= Fraction(epsilon)


@given(st.floats(min_value=1e-3, max_value=20.0), st.floats(min_value=1e-30, max_value=0.5))
def test_what_is_charged_for_approximate_dp_is_implied_by_what_is_proved(epsilon, delta):
    charged = cost(ChargeRequest(guarantee=ggdp.ApproxDP(epsilon, delta, "add-remove")))
    with mpmath.workdps(60):
        less = mpmath.mpf(charged.epsilon.units) / 10**40
        traded = mpmath.e ** mpmath.mpf(epsilon) - mpmath.e**less
        assert mpmath.mpf(charged.delta.units) / 10**40 >= mpmath.mpf(delta) + max(traded, 0)


def test_a_decimal_is_charged_where_the_delta_leaves_room():
    # As floats 0.1 is above the decimal, and 0.3 below it by more than e^0.1 - e^(1/10).
    assert Fraction(0.1) > Fraction(1, 10)
    assert Fraction(0.3) < Fraction(3, 10)
    assert str(cost(ChargeRequest(guarantee=ggdp.ApproxDP(0.1, 0.3, "add-remove")))) == "epsilon = 0.1, delta = 0.3"


def test_a_decimal_is_not_charged_where_it_leaves_no_room():
    request = ChargeRequest(guarantee=ggdp.ApproxDP(0.1, 2.0**-20, "add-remove"))
    assert cost(request).epsilon == Amount.up(Fraction(0.1))


def test_several_parts_of_one_release_are_charged_together():
    (part,) = laplace(4.0).losses
    request = ChargeRequest(guarantee=ggdp.PureDP(0.5, "add-remove"), losses=(part, part))
    assert str(cost(request)) == "epsilon = 0.5, delta = 0"


def test_a_refusal_names_the_largest_epsilon_that_fits():
    books = SumAccounting(Budget.of(ggdp.ApproxDP(1.0, 1e-6)))
    totals = books.after(books.opening(), {"epsilon": "0.75", "delta": "0"})
    said = books.refusal(totals, {"epsilon": "0.5", "delta": "0"})
    assert said.endswith("the largest epsilon that fits at this delta is 0.25")
    assert "a delta of at most 1e-06" in books.refusal(totals, {"epsilon": "0.1", "delta": "0.1"})
    spent = books.after(books.opening(), {"epsilon": "1", "delta": "0"})
    assert books.refusal(spent, {"epsilon": "0.1", "delta": "0"}).endswith("nothing more can be released")
