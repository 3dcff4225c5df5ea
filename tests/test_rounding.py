"""Numbers in texts: few digits, one style, and never less than what is proved."""

import math
from decimal import Decimal
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ggdp
from ggdp._rounding import exact_text, rounded_down_text, rounded_text, rounded_up_text
from ggdp.ledger.budgets import Amount, Budget

POSITIVE = st.floats(min_value=5e-324, max_value=1e308)


def number(text):
    return float(text.replace(",", ""))


@given(POSITIVE, st.integers(1, 12))
def test_a_number_rounded_up_is_never_below_and_at_most_one_unit_of_the_last_digit_above(value, digits):
    shown = number(rounded_up_text(value, digits))
    assert value <= shown
    assert math.isinf(shown) or shown <= value * (1 + 1.001 * 10.0 ** (1 - digits)) + 5e-324


@given(POSITIVE, st.integers(1, 12))
def test_a_number_rounded_down_is_never_above_and_at_most_one_unit_of_the_last_digit_below(value, digits):
    shown = number(rounded_down_text(value, digits))
    assert shown <= value
    assert shown >= value * (1 - 1.001 * 10.0 ** (1 - digits)) - 5e-324


@given(st.integers(0, 10**60))
def test_an_exact_amount_is_shown_with_all_its_digits_in_the_style_of_other_numbers(units):
    amount = Amount(units)
    assert Fraction(amount.shown.replace(",", "")) == amount.exact
    text = rounded_text(float(amount), 3)
    assert ("e-" in amount.shown) == ("e-" in text) or text.endswith("0.0001")
    assert exact_text(Decimal(str(amount))) == amount.shown


@given(POSITIVE, st.integers(1, 12))
def test_a_rounded_number_is_within_half_a_unit_of_the_last_digit(value, digits):
    shown = number(rounded_text(value, digits))
    assert math.isinf(shown) or abs(shown - value) <= 0.5001 * value * 10.0 ** (1 - digits) + 5e-324


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (0.05, "0.05"),
        (0.1 + 0.2, "0.301"),
        (6.07896203478e-07, "6.08e-07"),
        (6.0701e-07, "6.08e-07"),
        (1e-6, "1e-06"),
        (0.0001, "0.0001"),
        (0.00009999, "0.0001"),
        (0.99951, "1"),
        (1411.0, "1,420"),
        (1_000_000.0, "1,000,000"),
        (2.0**62, "4.62e+18"),
        (math.inf, "inf"),
    ],
)
def test_numbers_are_written_in_one_style(value, text):
    assert rounded_up_text(value) == text


def test_a_delta_has_one_text_wherever_it_is_shown():
    goal, budget = ggdp.ApproxDP(3.0, 1e-7), Budget.of(ggdp.ApproxDP(3.0, 1e-7))
    assert str(goal) == "(3, 1e-07)-aDP"
    assert str(budget) == str(budget.balance) == "epsilon = 3, delta = 1e-07"
    # Records and JSON have all digits.
    assert budget.to_dict() == budget.balance.exact() == {"epsilon": "3", "delta": "0.0000001"}


@given(st.floats(min_value=1e-12, max_value=100.0), st.floats(min_value=5e-324, max_value=0.99))
def test_a_guarantee_in_words_promises_no_more_than_the_guarantee(epsilon, delta):
    for goal in (ggdp.ApproxDP(epsilon, delta), ggdp.ProbabilisticDP(epsilon, delta)):
        epsilon_shown, delta_shown = str(goal).rpartition(")")[0].lstrip("(").split(", ")
        assert number(epsilon_shown) >= epsilon
        assert number(delta_shown) >= delta
    assert number(str(ggdp.PureDP(epsilon)).removesuffix("-DP")) >= epsilon


def test_all_digits_stay_in_the_plain_values_and_in_the_repr():
    goal = ggdp.ApproxDP(1.0, 6.07896203478e-07)
    assert str(goal) == "(1, 6.08e-07)-aDP"
    assert goal.to_dict()["delta"] == 6.07896203478e-07
    assert repr(goal) == "ApproxDP(epsilon=1.0, delta=6.07896203478e-07, neighbours=None)"
