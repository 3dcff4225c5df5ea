"""One missing id does not decide whether a release succeeds, nor which unit another row belongs to."""

from __future__ import annotations

import math
from datetime import date
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.cases import some
from tests.sources.counting import assert_units_counted, counted, expected_keys, kept, keyed
from tests.sources.zoo import ENGINES, KEY

from ggdp.domain.column import Column
from ggdp.domain.table_domain import Domain
from ggdp.sources.query import CountQuery

WARDS = Domain({"ward": ["a", "b", "c"]})
BIG = float(2**62)
IDS = [1.0, 1.0, 2.0, 2.0, 2.0, -0.0, 0.0, BIG, -(2.0**63), 2.0**63, 1e300, 0.5, math.nan, math.inf, -math.inf, None]
ROWS = pa.table({"u": pa.array(IDS), "ward": [*"abcabcab" * 2]})


@pytest.mark.parametrize(
    ("engine", "max_cells", "width"),
    some(product(ENGINES, [1, 3], ["double", "float"]), lambda _, most, width: (most == 1) == (width == "float")),
)
def test_whole_floats_are_the_units_that_the_integers_would_be(engine, max_cells, width):
    query = CountQuery(marginals=(WARDS,), unit="u", max_cells=max_cells, key=KEY)
    table = ROWS if width == "double" else ROWS.set_column(0, "u", ROWS["u"].cast(pa.float32()))
    (found,) = assert_units_counted(ENGINES[engine](table), table, query)
    # The units 1, 2, 0, 2^62 and -2^63, of nine different cells.
    assert sum(found.values()) == (5 if max_cells == 1 else 9)


@pytest.mark.parametrize(("engine", "max_cells"), some(product(ENGINES, [1, 2]), lambda _, most: most == 1))
def test_ids_keep_the_same_cells_whatever_the_type_of_their_column(engine, max_cells):
    ids = [each for each in [7, 8, 9, -7, 0, 2**62, -(2**63), 100] for _ in range(3)]
    whole = pa.table({"u": ids, "ward": [*"abc"] * 8})
    query = CountQuery(marginals=(WARDS,), unit="u", max_cells=max_cells, key=KEY)
    right = kept(ENGINES[engine](whole), query)
    # One more id may turn integers into floats, or into texts.
    for dtype in (pa.float64(), pa.string()):
        assert kept(ENGINES[engine](whole.set_column(0, "u", whole["u"].cast(dtype, safe=False))), query) == right
    small = whole.filter(pc.is_in(whole["u"], pa.array([7, 8, 9, -7, 0, 100])))
    right = kept(ENGINES[engine](small), query)
    for dtype in (pa.int8(), pa.int16(), pa.int32(), pa.float32()):
        assert kept(ENGINES[engine](small.set_column(0, "u", small["u"].cast(dtype))), query) == right
    for values in ([True, False, True], [date(2000, 2, 29), date(1, 1, 1), date(9999, 12, 31)]):
        typed = pa.table({"u": values * 3, "ward": [*"aaabbbccc"]})
        texts = typed.set_column(0, "u", typed["u"].cast(pa.string()))
        assert kept(ENGINES[engine](texts), query) == kept(ENGINES[engine](typed), query)
    large = pa.table({"u": pa.array([2**63, 2**64 - 1, 5], pa.uint64()).take([0, 1, 2] * 3), "ward": [*"aaabbbccc"]})
    texts = large.set_column(0, "u", large["u"].cast(pa.string()))
    assert kept(ENGINES[engine](texts), query) == kept(ENGINES[engine](large), query)


@pytest.mark.parametrize("engine", ENGINES)
def test_open_keys_of_whole_floats_are_digits_and_others_are_nowhere(engine):
    query = CountQuery(marginals=(Domain([Column(name="u")]),))
    assert keyed(ENGINES[engine](ROWS), query) == expected_keys(ROWS, query)


# A column of pandas, and the same with one value missing: its type changes in some.
COLUMNS = {
    "integers": ([1, 2, 1], [1, None, 1]),
    "nullable integers": (pd.array([1, 2, 1], "Int64"), pd.array([1, None, 1], "Int64")),
    "booleans": ([True, False, True], [True, None, True]),
    "text": (["x", "y", "x"], ["x", None, "x"]),
    "text of objects": (
        pd.Series(["x", "y", "x"], dtype=object),
        pd.Series(["x", None, "x"], dtype=object),
    ),
    "objects": (pd.Series([1, "y", 1], dtype=object), pd.Series([1, np.nan, 1], dtype=object)),
    "days": ([date(2020, 1, 1), date(2020, 1, 2), date(2020, 1, 1)], [date(2020, 1, 1), None, date(2020, 1, 1)]),
    "categories": (pd.Categorical([1, 2, 1]), pd.Categorical([1, None, 1])),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_one_missing_value_of_pandas_takes_away_its_row_alone(name):
    full, holed = (pd.DataFrame({"u": values, "ward": [*"aab"]}) for values in COLUMNS[name])
    query = CountQuery(marginals=(WARDS,), unit="u", max_cells=3, key=KEY)
    assert (counted(full, query), counted(holed, query)) == ([{0: 2, 1: 1}], [{0: 1, 1: 1}])
    keys = CountQuery(marginals=(Domain([Column(name="u")]),))
    (before,), (after,) = keyed(full, keys), keyed(holed, keys)
    assert set(after) < set(before)
    assert [count for _, count in after] == [2]


def test_a_column_of_pandas_without_any_value_goes_with_every_declaration():
    declared = ({"levels": ["x"]}, {"levels": [1]}, {"levels": [True]}, {"levels": [date(2020, 1, 1)]})
    edges = ({"edges": [0, 1]}, {"edges": [date(2020, 1, 1), date(2020, 1, 2)]})
    for values in ([None, None], [np.nan, np.nan]):
        frame = pd.DataFrame({"x": values})
        for column in (*declared, *edges):
            domain = Domain({"x": {**column, "missing": "m"}})
            assert counted(frame, CountQuery(marginals=(domain,))) == [{1: 2}]


# What pandas makes of values, and of the same ones with one more.
INFERRED = [([1, 2], None), ([True, False], None), ([1, 2], "x"), ([True, False], 5), ([1.0, 2.5], "x"), ([1], 2**64)]
INFERRED += [([], "x"), ([None], "x"), ([None], 1), (["x"], None), ([date(2020, 1, 1)], "x"), (["1"], 1.0), ([1], True)]
DECLARED = [{"levels": ["1", "x"]}, {"levels": [1, 5]}, {"levels": [True, False]}, {"levels": [date(2020, 1, 1)]}]
DECLARED += [{"edges": [0, 2, 6]}, {"edges": [date(2020, 1, 1), date(2020, 1, 2)]}]


@pytest.mark.parametrize(("values", "more"), INFERRED, ids=repr)
def test_one_more_value_of_pandas_moves_no_other_whatever_types_it_infers(values, more):
    full, less = pd.DataFrame({"x": [*values, more]}), pd.DataFrame({"x": values})
    for frame in (full, less):
        frame["ward"] = "a"
    for declared in DECLARED:
        query = CountQuery(marginals=(Domain({"x": {**declared, "other": "o", "missing": "m"}}),))
        (after,), (before,) = counted(full, query), counted(less, query)
        assert sum(after.get(cell, 0) - before.get(cell, 0) for cell in {*after, *before}) == 1
        assert all(after.get(cell, 0) >= count for cell, count in before.items())
    query = CountQuery(marginals=(Domain([Column(name="x")]),))
    after, before = (dict(keyed(frame, query)[0]) for frame in (full, less))
    assert all(after.get(key, 0) >= count for key, count in before.items())
    assert sum(after.values()) - sum(before.values()) <= 1
    query = CountQuery(marginals=(WARDS,), unit="x", key=KEY)
    after, before = (sum(counted(frame, query)[0].values()) for frame in (full, less))
    assert 0 <= after - before <= 1


def test_half_floats_are_units_levels_and_bins():
    table = pa.table({"x": pa.array(np.array([1, 1.5, np.nan, 2], np.float16)), "ward": [*"abca"]})
    for frame in (table, ENGINES["pandas"](table)):
        assert counted(frame, CountQuery(marginals=(WARDS,), unit="x", key=KEY)) == [{0: 2}]
        domain = Domain({"x": {"levels": [1, 2], "other": "o", "missing": "m"}})
        assert counted(frame, CountQuery(marginals=(domain,))) == [{0: 1, 1: 1, 2: 1, 3: 1}]
