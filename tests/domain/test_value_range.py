"""Public ranges of columns: what they are cut into, and what is refused."""

from fractions import Fraction

import pytest

from ggdp.domain.column import Column
from ggdp.domain.table_domain import Domain
from ggdp.domain.value_range import FEW_STEPS, MOST_STEPS, ValueRange
from ggdp.errors import ArgumentError


@pytest.mark.parametrize(
    ("ends", "step"),
    [
        ((0, 120), 1),
        ((0, 200_000), 1),
        ((-1_000_000, 4_000_000), 10),
        ((0, 1), Fraction(1, 10_000)),
        ((0, 5), Fraction(1, 10_000)),
        ((-0.5, 99.7), Fraction(1, 100)),
        ((0, 99), Fraction(1, 1000)),
        ((0, 10**15), 10**9),
    ],
)
def test_the_default_step_is_one_or_a_power_of_ten_of_which_the_ends_are_multiples(ends, step):
    found = ValueRange(*ends)
    assert found.step == step
    assert found.steps <= FEW_STEPS
    assert found.low % found.step == 0 == found.high % found.step


def test_whole_ends_that_are_multiples_of_nothing_larger_have_steps_of_1():
    assert ValueRange(0, 1_234_567).step == 1
    assert ValueRange(0, 2**31).steps == MOST_STEPS


def test_numbers_are_the_decimals_that_they_are_written_as():
    assert ValueRange(0, 0.3, 0.1).steps == ValueRange("0", "0.3", "0.1").steps == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1, 1), "the lower end must be below the upper end"),
        ((2, 1), "the lower end must be below the upper end"),
        ((0, 1, 0), "the step must be above 0"),
        ((0, 1, -1), "the step must be above 0"),
        ((0, 10, 3), "both ends must be multiples of the step"),
        ((0, 1, "x"), "must be a finite number"),
        ((0, float("nan")), "must be a finite number"),
        ((0, float("inf")), "must be a finite number"),
        ((0, True), "must be a number"),
        ((0, None), "must be a number"),
        ((0, 2**32, 1), "has more than 2,147,483,648 steps"),
        ((0, 2**40), "no power of ten cuts it into at most 2,147,483,648 steps; give a step: LOW:HIGH:STEP"),
        ((0.0009765625, 0.5), "no power of ten cuts it"),
        ((0, 2**70), "ends must be at most 2^62"),
    ],
)
def test_ranges_that_are_none_are_refused_with_what_to_do(arguments, message):
    with pytest.raises(ArgumentError, match=message.replace("^", r"\^")):
        ValueRange(*arguments)


def test_the_largest_number_of_steps_is_allowed():
    assert ValueRange(0, MOST_STEPS, 1).steps == MOST_STEPS


def test_a_column_may_have_a_range_alone_or_beside_its_levels():
    domain = Domain({"income": {"range": [0, 10], "step": 0.5}, "age": {"edges": [0, 18, 120], "range": [0, 120]}})
    assert domain["income"].values_in == ValueRange(0, 10, 0.5)
    assert domain["income"].kind == "open"
    assert domain["age"].values_in.steps == 120
    assert domain["age"].kind == "bins"
    assert Column(**domain["age"].arguments()) == domain["age"]
    assert domain.to_dict()["income"] == {"range": [0, 10], "step": 0.5}


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"step": 1}, "must have either levels or edges, or a range"),
        ({"levels": ["a"], "step": 1}, "step of 'x' = 1: needs a range"),
        ({"range": 5}, "range of 'x' = 5: must be a pair of ends"),
        ({"range": "05"}, "must be a pair of ends"),
        ({"range": [5, 1]}, "range of 'x' = '5:1': the lower end must be below"),
        ({"range": [0, 1], "other": "z"}, "needs declared levels or edges"),
    ],
)
def test_wrong_declarations_name_the_column(declared, message):
    with pytest.raises(ArgumentError, match=message):
        Domain({"x": declared})
