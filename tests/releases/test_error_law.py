"""A law takes what a mechanism makes, refuses the rest by name, and keeps the shape of the values.

Bias and errors of a release are the exact sums over its law, and the largest of them over all true values.
"""

import math

import numpy as np
import pytest
from tests.releases.enumerated import BOUNDINGS, LEAST, bounded, outputs

from ggdp.errors import ArgumentError
from ggdp.privacy.grid import Grid
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


def moments(law, true):
    """Bias and standard deviation at a hypothetical true value, by enumeration of the released values."""
    step = law.step or 1
    index = Grid(step=step).index(true)
    pair = law.index_bounds[0] if law.bounding else None
    if pair:
        index = np.clip(index, *pair)
    m, q = outputs(law, int(index), pair)
    y = m * step if pair is None else np.clip(m * step, *law.bounds[0])
    mean = np.sum(q * y)
    return mean - true, math.sqrt(np.sum(q * (y - mean) ** 2))


SMALL = [
    ErrorLaw(order=2, scale=3.0),
    ErrorLaw(order=3, scale=5.0, step=0.25),
    *(
        bounded(bounding, order, scale, -2, width - 2)
        for bounding in BOUNDINGS
        for order, scale, width in [(1.0, 0.5, 9), (2.0, 4.0, 17), (8.0, 30.0, 12), (1.5, 2.0, 1), (2.0, 1.0, 60)]
    ),
    *(bounded(bounding, 2.0, 12.0, 6, 78, step=2.0**-6, bounds=((0.1, 1.2),)) for bounding in BOUNDINGS),
    *(bounded(bounding, 1.0, 2.0, 7, 76, step=2.0**-6, bounds=((0.11, 1.19),)) for bounding in BOUNDINGS),
]


@pytest.mark.parametrize("law", SMALL, ids=str)
def test_errors_at_hypothetical_values_are_the_enumerated_ones(law):
    true = np.arange(-5, 80) if law.step is None else np.linspace(-0.3, 1.5, 83)
    bias, deviation = (np.array(column) for column in zip(*(moments(law, x) for x in true), strict=True))
    assert law.bias(true) == pytest.approx(bias, rel=1e-9, abs=1e-12)
    assert law.standard_error(true) == pytest.approx(deviation, rel=1e-9)
    assert law.root_mean_square_error(true) == pytest.approx(np.hypot(bias, deviation), rel=1e-9)
    assert law.bias(true[3]) == law.bias(true)[3]


@pytest.mark.parametrize("law", SMALL, ids=str)
def test_the_largest_errors_are_those_over_all_true_values(law):
    if law.step is None:
        low, high = law.index_bounds[0] if law.bounding else (0, 0)
        true = np.arange(low, high + 1)
    else:
        # The largest bias is next to a value that is rounded the other way.
        low, high = law.bounds[0] if law.bounding else (0.0, 1.0)
        halves = (np.arange(math.floor(low / law.step), math.ceil(high / law.step)) + 0.5) * law.step
        true = np.concatenate([[low, high], halves, np.nextafter(halves, -1)])
        true = true[(true >= low) & (true <= high)]
    assert law.bias() == pytest.approx(np.abs(law.bias(true)).max(), rel=1e-9, abs=1e-15)
    assert law.standard_error() == pytest.approx(law.standard_error(true).max(), rel=1e-12)
    assert law.root_mean_square_error() == pytest.approx(law.root_mean_square_error(true).max(), rel=1e-9)


def test_rounding_to_the_grid_is_counted():
    law = ErrorLaw(order=2, scale=0.01, step=0.5)
    assert law.bias() == 0.25
    assert law.standard_error() == 0.0
    assert law.root_mean_square_error() == 0.25
    assert law.bias([0.25, 0.3, -0.25]).tolist() == [0.25, 0.2, 0.25]


def test_beyond_the_bounds_the_distance_is_bias():
    law = bounded("truncated", 2.0, 3.0, 0, 20)
    assert law.bias(1000) == law.bias(20) - 980
    assert law.standard_error(1000) == law.standard_error(20)
    assert law.bias(np.array([LEAST]))[0] == pytest.approx(2.0**63)


def test_extreme_steps_overflow_nothing():
    law = ErrorLaw(order=2, scale=1e5, step=2.0**1000)
    assert law.root_mean_square_error() == pytest.approx(law.standard_error(), rel=1e-9)
    assert math.isfinite(law.standard_error())


@pytest.mark.parametrize(
    ("true", "law"),
    [
        ([1.5], ErrorLaw(order=2, scale=3.0)),
        ([math.inf], ErrorLaw(order=2, scale=3.0, step=0.5)),
        ([math.nan], ErrorLaw(order=2, scale=3.0, step=0.5)),
        (["123"], ErrorLaw(order=2, scale=3.0)),
    ],
)
def test_hypothetical_values_that_make_no_sense_are_refused_without_a_value(true, law):
    with pytest.raises(ArgumentError, match="true = ") as caught:
        law.bias(true)
    assert not any(shown in str(caught.value) for shown in ("1.5", "123"))
