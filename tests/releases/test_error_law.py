"""A law takes what a mechanism makes, refuses the rest by name, and keeps the shape of the values."""

import math

import numpy as np
import pytest
from tests.releases.enumerated import BOUNDINGS, bounded

from ggdp.errors import ArgumentError
from ggdp.releases.error_law import ErrorLaw


@pytest.mark.parametrize("bounding", BOUNDINGS)
@pytest.mark.parametrize("step", [None, 0.25])
def test_bounds_of_each_coordinate_follow_the_last_axis(bounding, step):
    pairs, unit = ((0, 9), (100, 120), (0, 9)), step or 1
    law = ErrorLaw(order=2, scale=4.0, step=step, bounding=bounding, index_bounds=pairs)
    y = np.array([[0, 100, 9], [4, 111, 2]]) * unit
    lower, upper = law.intervals(y)
    assert lower.shape == upper.shape == (2, 3)
    true = np.array([[3, 100, 12], [4, 115, 2]]) * unit
    for k, (low, high) in enumerate(pairs):
        alone = bounded(bounding, 2.0, 4.0, low, high, step=step)
        assert [end[:, k].tolist() for end in (lower, upper)] == [end.tolist() for end in alone.intervals(y[:, k])]
        for quantity in ("bias", "standard_error", "root_mean_square_error"):
            whole, part = getattr(law, quantity)(true), getattr(alone, quantity)(true[:, k])
            assert whole[:, k].tolist() == part.tolist()
            assert getattr(law, quantity)() >= getattr(alone, quantity)()
        assert law.half_width() >= alone.half_width()
    for call in (law.intervals, law.bias):
        with pytest.raises(ArgumentError, match="bounds for 3 coordinates"):
            call(y[:, :2])


@pytest.mark.parametrize("shape", [(), (0,), (1,), (4, 0), (2, 3)])
@pytest.mark.parametrize("step", [None, 0.5])
@pytest.mark.parametrize("bounding", [None, *BOUNDINGS])
def test_intervals_and_errors_have_the_shape_of_the_values(shape, step, bounding):
    more = {} if bounding is None else {"bounding": bounding, "index_bounds": ((-4, 4),)}
    law = ErrorLaw(order=2, scale=3.0, step=step, **more)
    values = np.zeros(shape, dtype=np.int64 if step is None else np.float64)
    assert [end.shape for end in law.intervals(values)] == [shape, shape]
    for quantity in (law.bias, law.standard_error, law.root_mean_square_error):
        assert np.shape(quantity(values)) == shape
    assert isinstance(law.bias(0), float)


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 1.5, math.nan, "0.95", None])
def test_a_level_outside_0_and_1_is_refused_by_name(level):
    for law in (ErrorLaw(order=2, scale=3.0), bounded("truncated", 2.0, 3.0, 0, 9)):
        with pytest.raises(ArgumentError, match="level = "):
            law.intervals(np.array([1]), level)
        with pytest.raises(ArgumentError, match="level = "):
            law.half_width(level)


@pytest.mark.parametrize(
    ("law", "noisy"),
    [
        (ErrorLaw(order=2, scale=3.0), [0.5]),
        (ErrorLaw(order=2, scale=3.0), ["1"]),
        (ErrorLaw(order=2, scale=3.0), np.array([2**64 - 1], dtype=np.uint64)),
        (ErrorLaw(order=2, scale=3.0, step=0.5), [0.3]),
        (ErrorLaw(order=2, scale=3.0, step=0.5), [math.nan]),
        (ErrorLaw(order=2, scale=3.0, step=0.5), [None]),
        (bounded("truncated", 2.0, 3.0, 0, 9), [10]),
        (bounded("boundary-inflated", 2.0, 3.0, 0, 9, step=0.5, bounds=((0.1, 4.4),)), [0.05]),
        (bounded("boundary-inflated", 2.0, 3.0, 0, 9, step=0.5, bounds=((0.1, 4.4),)), [0.3]),
    ],
)
def test_values_that_this_law_cannot_have_released_are_refused(law, noisy):
    with pytest.raises(ArgumentError, match="noisy = "):
        law.intervals(noisy)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"order": 0.5}, "order"),
        ({"scale": 0.0}, "scale"),
        ({"step": 0.3}, "step"),
        ({"bounding": "clipped"}, "bounding"),
        ({"bounding": None}, "index_bounds"),
        ({"bounding": None, "index_bounds": None, "bounds": ((0.0, 5.0),)}, "bounds"),
        ({"index_bounds": None}, "index_bounds"),
        ({"index_bounds": ((5, 5),)}, "index_bounds"),
        ({"index_bounds": ((0, 1.5),)}, "index_bounds"),
        ({"index_bounds": ((0, 2**62),)}, "index_bounds"),
        ({"bounds": ((0.0, 9.0), (0.0, 9.0))}, "bounds"),
        ({"bounds": ((0.0, 7.0),)}, "bounds"),
        ({"index_bounds": ((0, 5, 10),)}, "index_bounds"),
        ({"clamp": 100}, "clamp"),
        ({"bounding": None, "index_bounds": None, "clamp": 0.5}, "clamp"),
    ],
)
def test_a_law_that_is_none_is_refused_by_name(change, name):
    given = {"order": 2.0, "scale": 3.0, "step": 0.5, "bounding": "truncated", "index_bounds": ((0, 10),)}
    with pytest.raises(ArgumentError, match=f"^{name} = "):
        ErrorLaw(**{**given, **change})
