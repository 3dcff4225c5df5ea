"""Amounts are exact: sums of typed decimals come out as on paper."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggdp import ApproxDP, ProbabilisticDP, PureDP
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.ledger.budgets import PLACES, Amount, Budget, as_typed

FRACTIONS = st.fractions(min_value=0, max_value=1000)
AMOUNTS = st.integers(min_value=0, max_value=10**60).map(Amount)


@given(FRACTIONS)
def test_a_charge_is_rounded_up_and_a_budget_down_by_less_than_a_unit(exact):
    unit = Fraction(1, 10**PLACES)
    assert 0 <= Amount.up(exact).exact - exact < unit
    assert 0 <= exact - Amount.down(exact).exact < unit


@given(AMOUNTS)
def test_the_text_of_an_amount_is_read_back_exactly(amount):
    assert Amount.parse(str(amount)) == amount


@pytest.mark.parametrize(
    "text", ["1.0", "01", "1e-3", "+1", " 1", "0.1_0", "1/2", "nan", "", "1/0", "-1", "1e999999999", "0." + "1" * 41]
)
def test_a_text_that_no_amount_is_written_as_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        Amount.parse(text)


@pytest.mark.parametrize(("part", "times", "whole"), [(0.1, 10, 1.0), (0.2, 15, 3.0), (1e-7, 10, 1e-6), (0.7, 3, 2.1)])
def test_typed_decimals_add_up_as_on_paper(part, times, whole):
    assert sum([Amount.up(as_typed(part))] * times, Amount(0)) == Amount.down(as_typed(whole))


def test_fewer_places_round_up_too():
    assert str(Amount.up(Fraction(1, 3), places=3)) == "0.334"
    assert str(Amount.down(Fraction(1, 3), places=3)) == "0.333"


def test_a_budget_holds_itself_up_to_the_rounding_of_floats_and_nothing_larger():
    budget = Budget.of(ApproxDP(1.0, 1e-6))
    assert budget.holds(budget)
    for epsilon, delta, held in (
        (2**-50, 0, True),
        (0, 2**-50, True),
        (2**-49, 0, True),
        (2**-48, 0, False),
        (0, 2**-48, False),
    ):
        more = Budget(
            Amount.down(budget.epsilon.exact * (1 + Fraction(epsilon))),
            Amount.down(budget.delta.exact * (1 + Fraction(delta))),
        )
        assert budget.holds(more) is held


@pytest.mark.parametrize("parts", [[0.1] * 10, [0.3, 0.3, 0.3, 0.1], [0.07] * 100, [1e-8] * 3])
def test_what_was_typed_as_parts_of_a_budget_fits_in_it(parts):
    whole = float(sum(Fraction(repr(part)) for part in parts))
    budget = Budget.of(ApproxDP(whole, 1e-6))
    spent = sum((Amount.up(Fraction(part)) for part in parts), Amount(0))
    assert budget.holds(Budget(spent, Amount.up(Fraction(1e-6))))


def test_a_budget_of_probabilistic_dp_is_refused():
    with pytest.raises(ArgumentTypeError, match="PureDP"):
        Budget.of(ProbabilisticDP(1.0, 1e-6))


@pytest.mark.parametrize("budget", [PureDP(1e-50), ApproxDP(1.0, 1e-50)])
def test_a_budget_that_rounds_to_nothing_is_refused(budget):
    with pytest.raises(ArgumentError, match="1e-40"):
        Budget.of(budget)
