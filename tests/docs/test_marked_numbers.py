"""The reader of the pages' numbers notices what it should."""

from decimal import Decimal

import pytest


def test_marks_are_read_with_all_printed_digits(read_marks):
    assert read_marks("a [4.7750]{#one} and [19]{#two-b}, not [this](page.md)") == {
        "one": Decimal("4.7750"),
        "two-b": 19,
    }


def test_a_mark_that_stands_twice_is_noticed(read_marks):
    with pytest.raises(AssertionError, match="twice"):
        read_marks("[1]{#one} [2]{#one}")


@pytest.mark.parametrize(("value", "fits"), [(2.39463, True), (2.3946499, True), (2.39466, False), (2.3945, False)])
def test_a_value_fits_what_is_printed_up_to_half_a_unit(rounding, value, fits):
    assert rounding(value, Decimal("2.3946")) is fits


def test_a_whole_number_is_printed_to_the_unit(rounding):
    assert rounding(19.4, Decimal("19"))
    assert not rounding(20.0, Decimal("19"))
