from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from ggdp.errors import ArgumentError
from ggdp.experiments.arguments import choice, integer, positive


@pytest.mark.parametrize("value", [2, np.int64(2)])
def test_integers_are_plain_ones(value):
    assert type(integer(repeats=value, at_least=2)) is int


@pytest.mark.parametrize("value", [1, -3, 2.0, True, None, "2"])
def test_what_is_no_such_integer_is_refused_by_name(value):
    with pytest.raises(ArgumentError, match="repeats = "):
        integer(repeats=value, at_least=2)


@pytest.mark.parametrize("value", [1, 0.5, Fraction(1, 3), np.float64(0.25)])
def test_positive_numbers_are_plain_floats(value):
    assert positive(prior=value) == float(value)
    assert type(positive(prior=value)) is float


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), 10**400, True, None, "1", Decimal(1)])
def test_what_is_not_positive_is_refused_by_name(value):
    with pytest.raises(ArgumentError, match="prior = "):
        positive(prior=value)


def test_a_bound_from_above_is_not_reached():
    assert positive(delta=0.99, below=1.0) == 0.99
    with pytest.raises(ArgumentError, match="delta = 1: must be greater than 0 and below 1"):
        positive(delta=1, below=1.0)


@pytest.mark.parametrize("value", ["c", None, 1, ["a"]])
def test_another_word_is_refused_with_those_there_are(value):
    assert choice(among=("a", "b"), what="b") == "b"
    with pytest.raises(ArgumentError, match="must be one of 'a', 'b'"):
        choice(among=("a", "b"), what=value)
