import dataclasses
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggdp import GgdpError, Sensitivity
from ggdp.errors import ArgumentError

sizes = st.lists(st.floats(1e-9, 1e12), min_size=1, max_size=6)
orders = st.one_of(st.floats(1.0, 50.0), st.just(math.inf))


def exact_norm(vector, p):
    with mpmath.workdps(50):
        if p == math.inf:
            return max(mpmath.mpf(x) for x in vector)
        return sum(mpmath.mpf(x) ** mpmath.mpf(p) for x in vector) ** (1 / mpmath.mpf(p))


@given(sizes, orders)
def test_the_norm_of_a_box_is_its_corner_rounded_up(vector, p):
    found, exact = Sensitivity.box(vector).lp(p), exact_norm(vector, p)
    assert found >= exact * (1 - mpmath.mpf(10) ** -40)
    assert found <= exact * (1 + mpmath.mpf(10) ** -13)


@given(st.integers(1, 10_000), st.floats(1e-9, 1e12), orders)
def test_the_norm_of_cells_is_the_norm_of_m_equal_moves(m, d, p):
    found = Sensitivity.cells(m, d).lp(p)
    with mpmath.workdps(60):
        exact = mpmath.mpf(d) if p == math.inf else mpmath.mpf(d) * mpmath.mpf(m) ** (1 / mpmath.mpf(p))
        assert exact * (1 - mpmath.mpf(10) ** -40) <= found <= exact * (1 + mpmath.mpf(10) ** -15)


@given(st.floats(1.0, 50.0), st.floats(1e-9, 1e12), st.integers(1, 1000), orders)
def test_a_norm_bound_carries_over_by_hoelder(q, d, r, p):
    found = Sensitivity.norm(q, d, dimension=r).lp(p)
    worst = d if p >= q else d * r ** (1 / p - 1 / q)
    assert worst * (1 - 1e-12) <= found <= worst * (1 + 1e-12)


@given(st.floats(1.5, 50.0), st.integers(2, 1000), st.floats(1.0, 1.4))
def test_hoelders_bound_is_rounded_up(q, r, p):
    with mpmath.workdps(50):
        exact = mpmath.mpf(r) ** (1 / mpmath.mpf(p) - 1 / mpmath.mpf(q))
    assert Sensitivity.norm(q, 1.0, dimension=r).lp(p) >= exact


@pytest.mark.parametrize(
    ("made", "argument"),
    [
        ({"kind": "cells", "sizes": (-1.0,), "moving": 1}, "sizes"),
        ({"kind": "cells", "sizes": (1.0, 2.0), "moving": 2}, "sizes"),
        ({"kind": "cells", "sizes": (), "moving": 1}, "sizes"),
        ({"kind": "cells", "sizes": 1.0, "moving": 1}, "sizes"),
        ({"kind": "cells", "sizes": (True,), "moving": 1}, "sizes"),
        ({"kind": "cells", "sizes": (1.0,), "moving": 0}, "moving"),
        ({"kind": "cells", "sizes": (1.0,), "moving": 1.5}, "moving"),
        ({"kind": "cells", "sizes": (1.0,), "moving": 2, "joint": (2.0, 1e-9)}, "joint"),
        ({"kind": "cells", "sizes": (1.0,), "moving": 1, "bounds": ((0.0, 1.0),)}, "bounds"),
        ({"kind": "cells", "sizes": (1.0,), "moving": 1, "neighbours": "friends"}, "neighbours"),
        ({"kind": "odd", "sizes": (1.0,), "moving": 1}, "kind"),
        ({"kind": None, "sizes": (1.0,), "moving": 1}, "kind"),
        ({"kind": "box", "sizes": (1.0,), "moving": 3}, "moving"),
        ({"kind": "box", "sizes": (1.0, 2.0), "moving": 1}, "moving"),
        ({"kind": "box", "sizes": (1.0,), "moving": 1, "joint": (0.0, 1e-9)}, "joint"),
        ({"kind": "box", "sizes": (1.0,), "moving": 1, "joint": (2.0, 0.0)}, "joint"),
        ({"kind": "box", "sizes": (1.0,), "moving": 1, "joint": (2.0, math.nan)}, "joint"),
        ({"kind": "box", "sizes": (1.0,), "moving": 1, "joint": (2.0,)}, "joint"),
        ({"kind": "box", "sizes": (1.0,), "moving": 1, "joint": 2.0}, "joint"),
        ({"kind": "box", "sizes": (1.0,), "moving": 1, "bounds": ((0.0, 2.0),)}, "bounds"),
        ({"kind": "box", "sizes": (2.0,), "moving": 1, "bounds": ((0.0, 2.0), (0.0, 2.0))}, "bounds"),
        ({"kind": "groups", "sizes": (1.0,), "moving": 2}, "cells"),
        ({"kind": "groups", "sizes": (1.0,), "moving": 2, "group_cells": (2, 3)}, "max_cells"),
        ({"kind": "groups", "sizes": (1.0,), "moving": 3, "group_cells": (2, 3), "max_cells": 1}, "moving"),
        (
            {
                "kind": "groups",
                "sizes": (1.0,),
                "moving": 2,
                "group_cells": (2, 3),
                "max_cells": 1,
                "complete": (True,),
            },
            "complete",
        ),
        (
            {"kind": "groups", "sizes": (1.0,), "moving": 1, "group_cells": (2,), "max_cells": 1, "joint": (1, 1)},
            "joint",
        ),
        ({"kind": "cells", "sizes": (1.0,), "moving": 2, "group_cells": (2, 3)}, "group_cells"),
        ({"kind": "box", "sizes": (1.0,), "moving": 1, "complete": (True,)}, "complete"),
        ({"kind": "norm", "sizes": (1.0,), "moving": 3}, "joint"),
        ({"kind": "norm", "sizes": (1e-9,), "moving": 1, "joint": (2.0, 1.0)}, "sizes"),
        ({"kind": "norm", "sizes": (2.0,), "moving": 3, "joint": (2.0, 1.0)}, "sizes"),
    ],
)
def test_a_sensitivity_made_by_hand_cannot_contradict_itself(made, argument):
    with pytest.raises(ArgumentError) as refused:
        Sensitivity(**made)
    assert refused.value.argument == argument


def test_a_sensitivity_that_was_changed_is_checked_again():
    with pytest.raises(ArgumentError):
        dataclasses.replace(Sensitivity.box([1.0, 2.0]), moving=1)
    with pytest.raises(ArgumentError):
        dataclasses.replace(Sensitivity.from_bounds((0, 10)), sizes=(1.0,))
    with pytest.raises(ArgumentError):
        dataclasses.replace(Sensitivity.disjoint(1), joint=(0.0, 1e-9))


def test_a_sensitivity_made_by_hand_is_that_of_the_named_constructors():
    made = Sensitivity(kind="box", sizes=[1, 2], moving=2, joint=[2, 2])
    assert made == Sensitivity.box([1, 2], norm=(2, 2))
    assert hash(made) == hash(Sensitivity.box([1, 2], norm=(2, 2)))
    assert Sensitivity(kind="cells", sizes=[Fraction(1, 3)], moving=1) == Sensitivity.disjoint(Fraction(1, 3))


def test_one_pair_of_bounds_needs_no_list():
    assert Sensitivity.from_bounds((0, 10)) == Sensitivity.from_bounds([(0, 10)])
    assert Sensitivity.from_bounds([0, 10]) == Sensitivity.from_bounds([(0, 10)])


@pytest.mark.parametrize(
    "call",
    [
        lambda: Sensitivity.cells(10, 1e308).lp(1),
        lambda: Sensitivity.cells(10, 1e308).lp(2),
        lambda: Sensitivity.from_bounds([(-1e308, 1.7e308)]),
    ],
)
def test_what_no_float_can_hold_is_refused(call):
    with pytest.raises(GgdpError, match="64-bit float"):
        call()


def test_exact_norms_stay_exact():
    assert Sensitivity.disjoint(0.1).lp(2.7) == 0.1
    assert Sensitivity.histogram("replace-one").lp(1) == 2.0
    assert Sensitivity.box([0.1, 0.2]).lp(math.inf) == 0.2
    assert Sensitivity.norm(2, 3.0, dimension=7).lp(2) == 3.0
    assert Sensitivity.norm(1, 3.0, dimension=7).lp(5) == 3.0


def test_the_l1_norm_is_the_exact_sum_rounded_up():
    vector = [0.1] * 3
    found = Sensitivity.box(vector).lp(1)
    assert Fraction(found) >= 3 * Fraction(0.1)
    assert Fraction(math.nextafter(found, 0.0)) < 3 * Fraction(0.1)


def test_a_joint_norm_tightens_a_box():
    joint = Sensitivity.box([1.0, 1.0, 1.0], norm=(2, 1.0))
    assert joint.lp(2) == 1.0
    assert joint.lp(math.inf) == 1.0
    assert Sensitivity.box([1.0, 1.0], norm=(1, 100.0)).lp(1) == 2.0


def test_a_histogram_moves_one_cell_or_two():
    assert Sensitivity.histogram().moving == 1
    assert Sensitivity.histogram("replace-one").moving == 2
    assert Sensitivity.histogram(max_cells=5).moving == 5
    assert Sensitivity.histogram("replace-one", max_cells=5).moving == 10
    assert Sensitivity.histogram("replace-one").neighbours == "replace-one"


def test_bounds_give_their_widths():
    assert Sensitivity.from_bounds([(0, 10), (-1, 1)]).sizes == (10.0, 2.0)
    assert Fraction(Sensitivity.from_bounds([(-0.1, 0.2)]).sizes[0]) >= Fraction(0.2) + Fraction(0.1)


def test_disjoint_with_replace_one_names_histogram():
    with pytest.raises(GgdpError, match=r"neighbours = 'replace-one'.*Sensitivity\.histogram"):
        Sensitivity.disjoint(1, neighbours="replace-one")


def test_the_corner_groups_equal_sizes():
    assert Sensitivity.box([0.1, 1.0, 0.1]).corner == ((1.0, 1), (0.1, 2))
    assert Sensitivity.cells(4, 2.0).corner == ((2.0, 4),)


@pytest.mark.parametrize("size", [0.0, -1.0, math.nan, math.inf, "1", None])
def test_a_bad_size_is_refused_by_name_and_value(size):
    for make in (
        Sensitivity.disjoint,
        lambda d: Sensitivity.cells(2, d),
        lambda d: Sensitivity.norm(2, d, dimension=3),
    ):
        with pytest.raises(GgdpError, match=r"^d = "):
            make(size)
    with pytest.raises(GgdpError, match=r"^d = "):
        Sensitivity.box([1.0, size])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Sensitivity.box([]), "^d = .*must not be empty"),
        (lambda: Sensitivity.box(3.0), "^d = 3.0: must be a sequence"),
        (lambda: Sensitivity.box([1.0], norm=(2,)), "norm = "),
        (lambda: Sensitivity.box([1.0], norm=(0.5, 1.0)), "^norm = 0.5"),
        (lambda: Sensitivity.cells(0, 1.0), "^m = 0"),
        (lambda: Sensitivity.cells(1.5, 1.0), "^m = 1.5"),
        (lambda: Sensitivity.histogram(max_cells=-1), "max_cells = -1"),
        (lambda: Sensitivity.norm(0.5, 1.0, dimension=3), "p = 0.5"),
        (lambda: Sensitivity.norm(2, 1.0, dimension=0), "dimension = 0"),
        (lambda: Sensitivity.from_bounds([]), "bounds = "),
        (lambda: Sensitivity.from_bounds([(1, 0)]), r"bounds = \(1, 0\).*lower end"),
        (lambda: Sensitivity.from_bounds([(0, math.nan)]), "bounds = nan"),
        (lambda: Sensitivity.from_bounds([(0, 1, 2)]), "pair"),
        (lambda: Sensitivity.disjoint(1, neighbours="swap"), "neighbours = 'swap'"),
        (lambda: Sensitivity.disjoint(1).lp(0.5), "p = 0.5"),
        (lambda: Sensitivity.disjoint(1).lp(math.nan), "p = nan"),
    ],
)
def test_bad_input_is_refused_by_name_and_value(make, message):
    with pytest.raises(GgdpError, match=message):
        make()


def test_a_sensitivity_says_what_moves_and_for_whom():
    assert str(Sensitivity.histogram("replace-one")) == "at most 2 coordinates move, each by at most 1 (replace-one)"
    assert "together by at most 1 in the l_2 norm" in str(Sensitivity.box([1, 1], norm=(2, 1)))
    assert "10 in all" in str(Sensitivity.box([1.0] * 10))


@pytest.mark.parametrize("exact", [1 + Fraction(1, 2**60), Fraction(1, 3), 2**53 + 1, 10**30, np.longdouble("0.3")])
def test_a_sensitivity_is_never_rounded_down(exact):
    made = [
        Sensitivity.disjoint(exact).sizes[0],
        Sensitivity.cells(3, exact).sizes[0],
        Sensitivity.box([exact]).sizes[0],
        Sensitivity.box([exact], norm=(1, exact)).joint[1],
        Sensitivity.norm(2, exact, dimension=4).joint[1],
    ]
    for size in made:
        assert size >= exact
        assert math.nextafter(size, 0.0) < exact


def test_the_bounds_of_statistics_are_kept():
    assert Sensitivity.from_bounds([(0, 10), (-1, 1)]).bounds == ((0.0, 10.0), (-1.0, 1.0))
    assert Sensitivity.box([10, 2]).bounds is None


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("d", lambda: Sensitivity.disjoint(-1)),
        ("m", lambda: Sensitivity.cells(0, 1)),
        ("d", lambda: Sensitivity.cells(2, 0)),
        ("max_cells", lambda: Sensitivity.histogram(max_cells=0)),
        ("d", lambda: Sensitivity.box([1, -1])),
        ("norm", lambda: Sensitivity.box([1], norm=(0.5, 1))),
        ("p", lambda: Sensitivity.norm(0.5, 1, dimension=2)),
        ("d", lambda: Sensitivity.norm(2, -1, dimension=2)),
        ("dimension", lambda: Sensitivity.norm(2, 1, dimension=0)),
        ("bounds", lambda: Sensitivity.from_bounds([(1, 0)])),
    ],
)
def test_errors_name_the_argument_that_the_caller_wrote(name, call):
    with pytest.raises(ArgumentError, match=f"^{name} = ") as refused:
        call()
    assert "Laplace" not in str(refused.value)


def test_groups_are_described_in_words_and_repeated():
    query = Sensitivity.groups([2, 2, 5], max_cells=2, complete=[True, True, False], neighbours="replace-one")
    assert str(query) == (
        "one unit is in at most 2 cells of each group, adding at most 1; cells: 2 x 2 complete, 1 x 5 (replace-one)"
    )
    # Two units of a complete group of two cells are in both; of five cells four can change.
    assert (query.moving, query.largest_group, query.lp(1)) == (4, 2.0, 4.0)
    assert query.repeated(3) == Sensitivity.groups(
        [2, 2, 5] * 3, max_cells=2, complete=[True, True, False] * 3, neighbours="replace-one"
    )
    assert Sensitivity.groups([4, 1], complete=[False, False]) == Sensitivity.groups([4, 1])
    assert Sensitivity.groups([4, 4], 2, 3) == Sensitivity.groups([4, 4], max_cells=2, d=3)
    assert not query.has_fixed_dimension


@pytest.mark.parametrize(
    ("made", "argument"),
    [
        ({"cells": []}, "cells"),
        ({"cells": [0]}, "cells"),
        ({"cells": 3}, "cells"),
        ({"cells": [2.0]}, "cells"),
        ({"cells": [2], "max_cells": 0}, "max_cells"),
        ({"cells": [2], "d": 0.0}, "d"),
        ({"cells": [2, 3], "complete": [True]}, "complete"),
        ({"cells": [2, 3], "complete": [1, 0]}, "complete"),
        ({"cells": [2, 3], "complete": [True, True], "max_cells": 3}, "max_cells"),
        ({"cells": [1], "complete": [True], "neighbours": "replace-one"}, "complete"),
        ({"cells": [1], "neighbours": "friends"}, "neighbours"),
    ],
)
def test_groups_that_no_tables_have_are_refused(made, argument):
    with pytest.raises(ArgumentError) as refused:
        Sensitivity.groups(**made)
    assert refused.value.argument == argument
