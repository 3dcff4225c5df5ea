import math
import sys
import traceback
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples

from ggdp import GgdpError, Sensitivity
from ggdp.errors import ArgumentError
from ggdp.privacy.grid import LARGEST, LEAST, Grid, exact_numbers

AWKWARD = [
    0.0,
    -0.0,
    0.49999999999999994,
    0.5,
    -0.5,
    -0.49999999999999994,
    -0.5000000000000001,
    1.5,
    2.5,
    -1.5,
    0.1,
    1 / 3,
    1e-17,
    -1e-17,
    5e-324,
    -5e-324,
    sys.float_info.min,
    -sys.float_info.min,
    12345.678,
    2.0**52 - 0.5,
    2.0**52 + 1.0,
    2.0**53,
    -(2.0**53) - 2.0,
    2.0**62,
    math.nextafter(2.0**63, 0.0),
    2.0**63,
    -(2.0**63),
    math.nextafter(-(2.0**63), -math.inf),
    sys.float_info.max,
    -sys.float_info.max,
]
EXPONENTS = [-1022, -1021, -1000, -64, -63, -62, -52, -10, -1, 0, 1, 2, 10, 52, 62, 63, 64, 65, 500, 1022, 1023]

grids = st.builds(lambda e: Grid(step=2.0**e), st.one_of(st.sampled_from(EXPONENTS), st.integers(-1022, 1023)))
floats = st.one_of(st.sampled_from(AWKWARD), st.floats(allow_nan=False, allow_infinity=False))
int64s = st.one_of(st.sampled_from([LEAST, LEAST + 1, -1, 0, 1, LARGEST - 1, LARGEST]), st.integers(LEAST, LARGEST))


def saturated(k):
    return min(max(k, LEAST), LARGEST)


def exact_index(x, grid):
    return saturated(math.floor(Fraction(x) / Fraction(grid.step) + Fraction(1, 2)))


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_the_index_of_awkward_floats_is_the_exact_floor(exponent):
    grid = Grid(step=2.0**exponent)
    # Also around halves and whole numbers of steps, where they are floats.
    near = [f * grid.step for f in (0.5, 1.0, 1.5, 2.5, 1023.5, -0.5, -1.5, -2.0)]
    near += [math.nextafter(x, end) for x in near for end in (-math.inf, math.inf)]
    values = AWKWARD + [x for x in near if math.isfinite(x)]
    assert grid.index(values).tolist() == [exact_index(x, grid) for x in values]


@settings(deadline=None, max_examples=examples(133, 400))
@given(floats, grids)
def test_the_index_of_a_float_is_the_exact_floor(x, grid):
    assert grid.index(x).tolist() == exact_index(x, grid)


@settings(deadline=None, max_examples=examples(133, 400))
@given(st.floats(-4096, 4096), st.integers(-12, 12))
def test_the_index_is_exact_where_rounding_decides(x, exponent):
    grid = Grid(step=2.0**exponent)
    assert grid.index(x).tolist() == exact_index(x, grid)


@settings(deadline=None, max_examples=examples(100, 300))
@given(st.lists(int64s, min_size=1, max_size=5), grids)
def test_the_index_of_integers_is_the_exact_floor(xs, grid):
    expected = [exact_index(x, grid) for x in xs]
    assert grid.index(np.array(xs, dtype=np.int64)).tolist() == expected
    assert grid.index(xs).tolist() == expected


@settings(deadline=None, max_examples=examples(66, 200))
@given(st.integers(-(2**90), 2**90), st.fractions(), st.integers(-80, 80))
def test_large_integers_and_fractions_are_exact_too(x, fraction, exponent):
    grid = Grid(step=2.0**exponent)
    assert grid.index([x, 0.5]).tolist() == [exact_index(x, grid), exact_index(0.5, grid)]
    assert grid.index([fraction]).tolist() == [exact_index(fraction, grid)]
    assert grid.index([10**400, 0.5]).tolist()[0] == LARGEST


def test_a_list_of_floats_and_large_integers_is_not_rounded():
    # As floats they would be 2^53 and 2^53 + 4, farther apart than they are.
    close = [2**53 + 1, 2**53 + 3]
    assert np.diff(Grid(step=1.0).index([*close, 0.5]))[0] == 2
    assert np.diff(np.array([*close, 0.5]))[0] == 4
    assert Grid(step=2.0).index(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [LARGEST]
    assert Grid(step=4.0).index(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [2**62]


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint32, np.uint64, bool])
def test_narrow_types_are_read_as_they_are(dtype):
    assert Grid(step=0.25).index(np.array([[1, 0]], dtype=dtype)).tolist() == [[4, 0]]


def test_infinities_saturate():
    assert Grid(step=2.0**-10).index([math.inf, -math.inf]).tolist() == [LARGEST, LEAST]


@pytest.mark.parametrize(
    "values",
    [
        [1.0, math.nan, 123.456],
        [Fraction(1, 3), math.nan],
        math.nan,
        np.array([1 + 2j]),
        ["123.456"],
        [[1.0], [123.456, 2.0]],
        [None, 123.456],
        np.array([123.456], dtype=np.longdouble),
        np.array(["2020-01-01"], dtype="datetime64[D]"),
        np.ma.masked_array([1.0, 123.456], mask=[False, True]),
        object(),
    ],
)
def test_a_refusal_tells_neither_the_value_nor_its_place(values):
    if getattr(values, "dtype", None) == np.longdouble and np.dtype(np.longdouble).itemsize == 8:
        pytest.skip("long double is double here")
    with pytest.raises(GgdpError, match="values = <not shown>") as caught:
        Grid(step=1.0).index(values)
    said = "".join(traceback.format_exception_only(caught.value)) + repr(caught.value)
    assert "123" not in said
    assert "[" not in said
    assert caught.value.__cause__ is None
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_the_shape_is_kept():
    grid = Grid(step=0.5)
    assert grid.index(3.0).shape == ()
    assert grid.index([]).shape == (0,)
    assert grid.index(np.zeros((2, 3, 4))).shape == (2, 3, 4)
    assert grid.values(grid.index(np.zeros((0, 3)))).shape == (0, 3)
    many = np.arange(100_000) / 7
    assert (grid.index(many) == np.floor(many * 2 + 0.5)).all()


@settings(deadline=None, max_examples=examples(100, 300))
@given(st.integers(-(2**53), 2**53), st.integers(-1022, 970))
def test_values_are_exact_below_2_to_the_53(k, exponent):
    grid = Grid(step=2.0**exponent)
    value = float(grid.values(k))
    assert Fraction(value) == k * Fraction(grid.step)
    assert grid.index(value).tolist() == k


def test_values_beyond_2_to_the_53_are_rounded_to_the_nearest():
    assert Grid(step=0.5).values([LARGEST, LEAST, 2**53 + 1]).tolist() == [2.0**62, -(2.0**62), 2.0**52]
    assert Grid(step=2.0**1000).values(LARGEST).tolist() == math.inf
    with pytest.raises(GgdpError, match="64-bit integers"):
        Grid(step=0.5).values([0.5])


@settings(deadline=None, max_examples=examples(133, 400))
@given(floats, st.floats(1e-300, 1e300), st.floats(0, 1), st.integers(-40, 0))
def test_indices_move_by_no_more_than_the_sensitivity_in_steps(x, d, part, fineness):
    grid = Grid(step=math.ldexp(1.0, max(math.frexp(d)[1] + fineness, -1022)))
    (steps,) = grid.sensitivity(Sensitivity.disjoint(d)).sizes
    moved = Fraction(x) + Fraction(d) * Fraction(part)
    assert abs(int(grid.index([moved])[0]) - int(grid.index(x))) <= steps
    assert abs(int(grid.index([Fraction(x) - Fraction(d)])[0]) - int(grid.index(x))) <= steps


@pytest.mark.parametrize("d", [0.1, 1 / 3, 1.0, 1.0001, 3.0, 1e-17, 12345.678])
def test_the_sensitivity_in_steps_is_attained(d):
    grid = Grid.of(Sensitivity.disjoint(d))
    (steps,) = grid.sensitivity(Sensitivity.disjoint(d)).sizes
    # Just below a half is the worst place: any move beyond N - 1 steps crosses N halves.
    start = Fraction(grid.step) / 2 - (Fraction(d) - (int(steps) - 1) * Fraction(grid.step)) / 2
    low, high = grid.index([start, start + Fraction(d)]).tolist()
    assert high - low == steps


def half_even(x, step):
    return round(Fraction(x) / Fraction(step))


def test_half_even_rounding_would_move_farther_than_counted():
    grid = Grid(step=1.0)
    (steps,) = grid.sensitivity(Sensitivity.disjoint(1.0)).sizes
    assert half_even(1.5, 1.0) - half_even(0.5, 1.0) == 2 > steps
    assert np.diff(grid.index([0.5, 1.5])) == steps == 1


@settings(deadline=None, max_examples=examples(66, 200))
@given(
    st.lists(st.tuples(st.floats(-100, 100), st.floats(-1, 1)), min_size=1, max_size=6),
    st.sampled_from([1.0, 1.5, 2.0, 3.0, math.inf]),
    st.integers(-6, 0),
)
def test_the_norm_of_the_moves_of_the_indices_is_within_the_joint_bound(rows, q, exponent):
    grid = Grid(step=2.0**exponent)
    x, d = (np.array(column) for column in zip(*rows, strict=True))
    d[np.abs(d) < 1e-9] = 0.0
    moves = [abs(float(Fraction(a + b) - Fraction(a))) for a, b in zip(x, d, strict=True)]
    norm = max(moves) if q == math.inf else sum(move**q for move in moves) ** (1 / q)
    if norm == 0.0:
        return
    real = Sensitivity.box([max(move, 1e-9) for move in moves], norm=(q, norm * (1 + 1e-12)))
    steps = grid.sensitivity(real)
    k = np.abs(grid.index(x + d) - grid.index(x)).astype(float)
    assert (k <= steps.sizes).all()
    assert (k.max() if q == math.inf else (k**q).sum() ** (1 / q)) <= steps.joint[1] * (1 + 1e-12)


def test_joint_norms_grow_by_a_step_for_each_coordinate():
    grid = Grid(step=0.25)
    assert grid.sensitivity(Sensitivity.norm(1, 1.0, dimension=10)).joint == (1, 14.0)
    assert grid.sensitivity(Sensitivity.norm(1, 1.1, dimension=10)).joint == (1, 14.0)
    assert grid.sensitivity(Sensitivity.norm(math.inf, 1.1, dimension=10)).joint == (math.inf, 5.0)
    assert grid.sensitivity(Sensitivity.norm(2, 1.1, dimension=1)).joint == (2, 5.0)
    (q, bound) = grid.sensitivity(Sensitivity.norm(2, 1.0, dimension=9)).joint
    assert (q, 7.0 <= bound <= 7.0 + 1e-12) == (2, True)
    assert grid.sensitivity(Sensitivity.box([1.0, 0.3], norm=(2, 1.0))).sizes == (4.0, 2.0)


def test_rounding_to_the_query_s_own_grid_costs_at_most_a_thousandth():
    for query in (
        Sensitivity.disjoint(0.3),
        Sensitivity.box([7.0, 0.1, 0.05], norm=(2, 1.01)),
        Sensitivity.norm(1, 1.0, dimension=1000),
        Sensitivity.norm(2, 0.7, dimension=10**6),
    ):
        grid = Grid.of(query)
        steps = grid.sensitivity(query)
        assert steps.neighbours == query.neighbours
        for order in (1, 2, 3):
            assert 1.0 <= steps.lp(order) * grid.step / query.lp(order) * (1 + 1e-12) <= 1 + 1 / 1024 + 1e-9


@settings(deadline=None, max_examples=examples(66, 200))
@given(st.lists(st.floats(1e-290, 1e300), min_size=1, max_size=4))
def test_the_step_is_the_largest_power_of_two_within_a_1024th(sizes):
    step = Fraction(Grid.of(Sensitivity.box(sizes)).step)
    assert step * 1024 <= Fraction(min(sizes)) < step * 2048


def test_the_relation_of_neighbours_is_kept():
    query = Sensitivity.cells(2, 0.3, neighbours="replace-one")
    steps = Grid.of(query).sensitivity(query)
    assert (steps.kind, steps.moving, steps.neighbours) == ("cells", 2, "replace-one")


@pytest.mark.parametrize("step", [0.0, -0.5, 0.75, 3.0, math.nan, math.inf, 5e-324, 2.0**-1023, "1", None, True])
def test_a_step_that_is_no_normal_power_of_two_is_refused(step):
    with pytest.raises(GgdpError, match="step = "):
        Grid(step=step)


def test_what_no_grid_can_hold_is_refused():
    with pytest.raises(GgdpError, match=r"sensitivity = .*smaller unit"):
        Grid.of(Sensitivity.disjoint(1e-310))
    with pytest.raises(GgdpError, match=r"2\^53 steps"):
        Grid(step=2.0**-60).sensitivity(Sensitivity.disjoint(1.0))
    with pytest.raises(GgdpError, match="bounds = "):
        Grid(step=2.0**-60).total_sensitivity((0, 1))


@settings(deadline=None, max_examples=examples(66, 200))
@given(st.lists(floats, max_size=8), st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.integers(-30, 4))
def test_a_total_is_the_sum_of_the_clamped_and_rounded_rows(rows, low, width, exponent):
    grid, bounds = Grid(step=2.0**exponent), (low, low + width)
    expected = sum(exact_index(min(max(x, bounds[0]), bounds[1]), grid) for x in rows)
    assert grid.total(rows, bounds) == expected


@settings(deadline=None, max_examples=examples(66, 200))
@given(st.lists(floats, min_size=1, max_size=8), floats, st.floats(-10, 10), st.floats(1e-3, 20), st.integers(-12, 6))
def test_one_row_moves_a_total_by_no_more_than_its_sensitivity(rows, other, low, width, exponent):
    grid, bounds = Grid(step=2.0**exponent), (low, low + width)
    total = grid.total(rows, bounds)
    (added,) = grid.total_sensitivity(bounds).sizes
    (replaced,) = grid.total_sensitivity(bounds, neighbours="replace-one").sizes
    assert abs(grid.total([*rows, other], bounds) - total) <= added
    assert abs(grid.total([*rows[:-1], other], bounds) - total) <= replaced


def test_the_sensitivity_of_a_total_is_attained():
    grid = Grid(step=0.25)
    assert grid.total_sensitivity((-3, 2)).sizes == (12.0,)
    assert grid.total([-9.0], (-3, 2)) == -12
    assert grid.total_sensitivity((-3, 2), neighbours="replace-one").sizes == (20.0,)
    assert grid.total([9.0], (-3, 2)) - grid.total([-9.0], (-3, 2)) == 20
    assert Grid(step=1024.0).total_sensitivity((0, 1)).sizes == (1.0,)


def test_a_total_beyond_64_bits_saturates_and_never_wraps_around():
    grid = Grid(step=1.0)
    large = [2.0**62] * 5
    assert grid.total(large, (0, 2.0**62)) == LARGEST
    assert grid.total([-x for x in large], (-(2.0**62), 0)) == LEAST
    assert grid.total([2.0**62] * 3 + [-(2.0**62)] * 2, (-(2.0**62), 2.0**62)) == 2**62


def test_integers_beyond_the_floats_are_read_exactly():
    assert exact_numbers([2**60 + 1, 0.5]).dtype == object
    assert exact_numbers([2**53, 0.5]).dtype == np.float64
    assert exact_numbers([2**60 + 1]).dtype == np.int64


class Frame:
    """Has columns of several types, so that an array of it is one of floats, whatever it is asked for."""

    def __init__(self, *columns):
        self.columns = columns

    def __array__(self, dtype=None, copy=None):
        return np.array([self.columns], dtype=np.float64).astype(dtype or np.float64)


def test_a_frame_that_rounds_its_integers_is_refused():
    """2^53 + 1 and 2^53 + 3 are 2 apart, and 4 as floats."""
    for total in (2**53 + 1, 2**53 + 3):
        with pytest.raises(ArgumentError, match="values = <not shown>"):
            Grid(step=1.0).index(Frame(total, 0.5))
    near, far = (Grid(step=1.0).index([total, 0.5])[0] for total in (2**53 + 1, 2**53 + 3))
    assert far - near == 2


class Leaky:
    dtype = np.dtype(float)

    def __init__(self, error):
        self.error = error

    def __array__(self, dtype=None, copy=None):
        raise self.error


@pytest.mark.parametrize("error", [ValueError("row 17 has 12345"), KeyError("12345"), RuntimeError("12345")])
def test_nothing_that_goes_wrong_with_the_values_hangs_on_the_error(error):
    with pytest.raises(ArgumentError) as caught:
        Grid(step=1.0).index(Leaky(error))
    assert caught.value.__context__ is None
    assert caught.value.__cause__ is None
    assert "12345" not in str(caught.value)


@pytest.mark.parametrize(
    "nest", [lambda array: array, lambda array: [array], lambda array: [[array]], lambda array: (1.0, array)]
)
def test_masked_values_are_refused_wherever_they_are(nest):
    with pytest.raises(ArgumentError, match="masked"):
        Grid(step=1.0).index(nest(np.ma.array([1e6, 2e6], mask=[0, 1])))


@pytest.mark.parametrize("exponent", [-70, -3, -1, 0, 1, 2, 40, 62, 63, 64, 65, 100])
def test_unsigned_integers_of_64_bits_are_rounded_exactly(exponent):
    ends = [0, 1, 2, 3, 2**62, 2**63 - 1, 2**63, 2**63 + 1, 3 * 2**62, 2**64 - 2, 2**64 - 1]
    found = Grid(step=2.0**exponent).index(np.array(ends, dtype=np.uint64))
    exact = [math.floor(Fraction(x) / Fraction(2) ** exponent + Fraction(1, 2)) for x in ends]
    assert found.tolist() == [min(k, 2**63 - 1) for k in exact]


def test_a_grid_is_of_a_sensitivity():
    with pytest.raises(ArgumentError, match=r"sensitivity = 1\.0"):
        Grid.of(1.0)
