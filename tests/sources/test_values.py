"""Values of columns as steps: the same on every engine, for every type, whatever the values are."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from itertools import product

import narwhals as nw
import numpy as np
import pyarrow as pa
import pytest
from attrs import evolve
from tests.cases import some
from tests.fuzz.reference import rows_of_file
from tests.sources.measured import assert_measured
from tests.sources.zoo import ENGINES, FILES, KEY, on_engines

from ggdp.domain.table_domain import Domain
from ggdp.domain.value_range import FEW_STEPS, LevelRanges, ValueRange
from ggdp.errors import ArgumentError
from ggdp.sources.engine import safe_name
from ggdp.sources.measures import Measure, SummedMeasure, steps_of_rows
from ggdp.sources.query import CountQuery, open_source

NAN, INF = math.nan, math.inf
BIG = 2**53

FLOATS = [NAN, INF, -INF, -0.0, 0.0, 0.05, 0.15, 0.25, 0.35, 0.5, 1.5, -1.5, -0.05, 2.5, 99.5, 1e16, 5e-324, -5e-324]
FLOATS += [1.7976931348623157e308, -1.7976931348623157e308, 0.49999999999999994, 4503599627370497.5, -12.25, None]
TEXTS = ["1e400", "-1e400", "1e99", "-1e99", "1e5", " 5", "5 ", "5\n", "+7", "++7", "0x10", "x", "", "nan", "inf", "5."]
TEXTS += [".5", ".", "1,5", "٣", "-0", "0.15", "0.35", "-1.5", "9" * 40, "9" * 41, "2.5e-1", "1e-99", "true", None]
TEXTS += ["9007199254740993", "4503599627370497.5", "0.1499999999999999944488848768742172978818416595458984375"]
INTEGERS = [0, 1, -1, 2, 3, 49, 50, BIG + 1, -BIG - 1, 2**63 - 1, -(2**63), 2**62 + 1, None]
UNSIGNED = [0, 1, 2**63, 2**63 + 1025, 2**64 - 1, BIG + 1, None]
CENTS = [Decimal("0.05"), Decimal("0.15"), Decimal("-0.25"), Decimal("120.00"), Decimal("-0.00"), Decimal("2.50"), None]
TINY = [Decimal("1E-18"), Decimal("-1E-18"), Decimal(0), Decimal("0.149999999999999999"), Decimal("0.15"), None]
HUGE = [Decimal(10**37), Decimal(-(10**37)), Decimal(BIG + 1), Decimal(3), None]

ROWS = max(len(FLOATS), len(TEXTS))


def _filled(values, kind):
    return pa.array([values[place % len(values)] for place in range(ROWS)], kind)


COLUMNS = {
    "double": _filled(FLOATS, pa.float64()),
    "float": _filled([0.15, 0.35, 0.1, 3.4e38, NAN, INF, None, -0.05], pa.float32()),
    "text": _filled(TEXTS, pa.string()),
    "category": _filled(TEXTS, pa.string()).dictionary_encode(),
    "int": _filled(INTEGERS, pa.int64()),
    "short": _filled([-128, 127, 0, 1, None], pa.int8()),
    "unsigned": _filled(UNSIGNED, pa.uint64()),
    "cents": _filled(CENTS, pa.decimal128(12, 2)),
    "tiny": _filled(TINY, pa.decimal128(30, 18)),
    "huge": _filled(HUGE, pa.decimal128(38, 0)),
    "flag": _filled([True, False, None], pa.bool_()),
}
TABLE = pa.table(
    {
        "k": [[*"aab", None, "z"][place % 5] for place in range(ROWS)],
        "u": [[*"pqrst", None, "p"][place % 7] for place in range(ROWS)],
        **COLUMNS,
    }
)
BY = Domain({"k": {"levels": ["a", "b"], "other": "o"}})
# Steps of a tenth, which no float is; a range below 0; one that is wide; one of as many steps as have squares.
RANGES = (
    ValueRange(-1, 1, 0.1),
    ValueRange(-50, -10, 0.5),
    ValueRange(0, 2**31, 1),
    ValueRange(-3, 100, 1),
    ValueRange(0, FEW_STEPS, 1),
)


def cell_of(row):
    return None if row["k"] is None else {"a": 0, "b": 1}.get(row["k"], 2)


def query_of(columns, *, rule=None, max_cells=1, by=BY, ranges=2):
    measured = [
        SummedMeasure(Measure(column=column, values=values, rule=rule), squares=values.steps <= FEW_STEPS)
        for place, column in enumerate(columns)
        for values in (RANGES[place % 5], RANGES[(place + 1 + place // 5) % 5])[:ranges]
    ]
    unit = None if rule is None else "u"
    return CountQuery(
        marginals=(by,),
        unit=unit,
        max_cells=max_cells,
        key=b"" if unit is None else KEY,
        measured=tuple(measured),
    )


RULES = ("mean", "min", "max", "sum")


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_have_the_same_steps_on_every_engine(engine):
    assert_measured(ENGINES[engine](TABLE), TABLE.to_pylist(), query_of(COLUMNS), cell_of)


def complete(query):
    """Return a query of measures of which every row has a number."""
    measured = [SummedMeasure(evolve(one.measure, complete=True), one.squares) for one in query.measured]
    return replace(query, measured=tuple(measured))


@pytest.mark.parametrize(("engine", "rule"), on_engines([None, "sum", *RULES[:3]]))
def test_rows_without_a_number_have_the_middle_of_the_range_on_every_engine(engine, rule):
    query = complete(query_of(some_columns(rule), rule=rule, max_cells=3 if rule else 1))
    assert_measured(ENGINES[engine](TABLE), TABLE.to_pylist(), query, cell_of)
    assert_measured(ENGINES[engine](TABLE), TABLE.to_pylist(), by_level(query), cell_of_two)


@pytest.mark.parametrize("kind", FILES)
def test_files_have_the_middle_where_they_have_no_number(kind, tmp_path):
    path = FILES[kind](TABLE, tmp_path)
    rows = TABLE.to_pylist() if kind == "parquet" else list(rows_of_file(path))
    assert_measured(path, rows, complete(query_of(["double", "text", "int"])), cell_of)


# Ranges by level of a column of levels, that of others included, and of one of bins; two cells have the same range.
LEVELS = LevelRanges("k", ("a", "b", "o"), (RANGES[0], RANGES[1], RANGES[3]))
BINS = LevelRanges("short", ("low", "high", "none"), (RANGES[3], RANGES[0], RANGES[3]))
TWO_COLUMNS = Domain({"short": {"edges": [-200, 1, 200], "missing": "none"}, "k": {"levels": ["a", "b"], "other": "o"}})


def cell_of_two(row):
    low = 2 if row["short"] is None else int(float(row["short"]) >= 1)
    return None if cell_of(row) is None else 3 * low + cell_of(row)


def by_level(query, *, by=TWO_COLUMNS):
    ranges = (LEVELS, BINS) if by is TWO_COLUMNS else (LEVELS, LEVELS)
    measured = [
        # One in three has one range for all.
        one if place % 3 == 2 else SummedMeasure(evolve(one.measure, values=ranges[place % 2]), squares=True)
        for place, one in enumerate(query.measured)
    ]
    return replace(query, marginals=(by,), measured=tuple(measured))


@pytest.mark.parametrize(("engine", "rule"), on_engines([None, "sum", *RULES[:3]]))
def test_steps_are_those_of_the_range_of_their_own_cell_on_every_engine(engine, rule):
    query = by_level(query_of(some_columns(rule), rule=rule, max_cells=3 if rule else 1))
    assert_measured(ENGINES[engine](TABLE), TABLE.to_pylist(), query, cell_of_two)


@pytest.mark.parametrize("kind", FILES)
def test_files_have_the_steps_of_the_ranges_of_their_cells(kind, tmp_path):
    path = FILES[kind](TABLE, tmp_path)
    rows = TABLE.to_pylist() if kind == "parquet" else list(rows_of_file(path))
    assert_measured(path, rows, by_level(query_of(["double", "int"]), by=BY), cell_of)


def test_a_range_of_another_level_is_noticed():
    query = by_level(query_of(["double", "int"]), by=BY)
    turned = evolve(LEVELS, ranges=LEVELS.ranges[1:] + LEVELS.ranges[:1])
    measured = [SummedMeasure(evolve(one.measure, values=turned), one.squares) for one in query.measured]
    with open_source(TABLE, columns=["k", "double", "int"]) as source:
        ((_, found),) = source.sums(query)
        ((_, other),) = source.sums(replace(query, measured=tuple(measured)))
    assert [sums.first.tolist() for sums in found] != [sums.first.tolist() for sums in other]


def test_hundreds_of_levels_have_ranges_of_their_own():
    levels = [f"t{number}" for number in range(700)]
    ranges = tuple(ValueRange(-number, 10 + number, 1) for number in range(700))
    values = [10**6, -(10**6), 3.0]
    table = pa.table({"t": np.repeat(levels, 3), "x": values * 700})
    measure = Measure(column="x", values=LevelRanges("t", tuple(levels), ranges))
    query = CountQuery(marginals=(Domain({"t": levels}),), measured=(SummedMeasure(measure, squares=False),))
    for engine in ("pyarrow", "polars lazy", "duckdb"):
        with open_source(ENGINES[engine](table), columns=["t", "x"]) as source:
            ((cells, (sums,)),) = source.sums(query)
        assert cells.tolist() == list(range(700))
        assert sums.first.tolist() == [10 + 2 * number + 0 + 3 + number for number in range(700)]


def some_columns(rule):
    """Some of the columns for each rule: all of them for two rules."""
    return list(COLUMNS)[[None, *RULES].index(rule) % 2 :: 2]


# ibis is counted by DuckDB, in the same way as a relation.
UNITS = [(engine, rule, 1 if place % 2 else 3) for engine in ENGINES for place, rule in enumerate(RULES)]


def in_turn(engine, rule, _):
    """Every time two rules of different columns for each engine, the others for the next one."""
    turn, place = list(ENGINES).index(engine), RULES.index(rule)
    return engine not in ("ibis", "polars lazy") and (turn + place // 2) % 2 == 0


@pytest.mark.parametrize(("engine", "rule", "max_cells"), some(UNITS, in_turn))
def test_units_have_the_same_steps_on_every_engine(engine, rule, max_cells):
    query = query_of(some_columns(rule), rule=rule, max_cells=max_cells)
    assert_measured(ENGINES[engine](TABLE), TABLE.to_pylist(), query, cell_of)


@pytest.mark.parametrize(
    ("kind", "rule"),
    some(product(FILES, (None, *RULES)), fast=lambda kind, rule: rule is None or (kind, rule) == ("csv", "sum")),
)
def test_files_have_the_steps_of_what_is_written_in_them(kind, rule, tmp_path):
    path = FILES[kind](TABLE, tmp_path)
    rows = TABLE.to_pylist() if kind == "parquet" else list(rows_of_file(path))
    assert_measured(path, rows, query_of(some_columns(rule), rule=rule, max_cells=2 if rule else 1), cell_of)


@pytest.mark.parametrize(("engine", "rule"), on_engines(["mean", None]))
def test_without_columns_all_rows_are_one_cell(engine, rule):
    query = query_of(["double", "text"], rule=rule, by=Domain([]))
    assert_measured(ENGINES[engine](TABLE), TABLE.to_pylist(), query, lambda _: 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_no_row_gives_no_cell(engine):
    for by in (BY, Domain([])):
        assert_measured(ENGINES[engine](TABLE.slice(0, 0)), [], query_of(["double", "int"], by=by), cell_of)


# Python values, and what they are taken for.
PYTHON = [(value, value) for value in (3, True, False, 2.5, Decimal("0.15"), "7", "+7", " 5", "x", INF, "1e400")]
PYTHON += [(value, value) for value in (10**400, -(10**400), Decimal("1e400"), Decimal("-1e400"), -(2**63), 2**53 + 1)]
CATEGORIES = [pair for pair in PYTHON if not isinstance(pair[0], bool)]
PYTHON += [(value, None) for value in (NAN, None, Decimal("NaN"), Decimal("Infinity"), b"5", date(2020, 1, 2), [1], 1j)]


@pytest.mark.parametrize("rule", [None, "sum"])
@pytest.mark.parametrize("as_category", [False, True])
def test_python_values_of_pandas_are_numbers_one_by_one(rule, as_category):
    import numpy as np
    import pandas as pd

    odd = [(np.int64(4), 4), (np.float32(0.15), float(np.float32(0.15))), (np.bool_(True), True)]
    odd += [(missing, None) for missing in (pd.NA, pd.NaT, np.datetime64("2020-01-02"))]
    pairs = CATEGORIES if as_category else [*PYTHON, *odd]
    series = pd.Series([value for value, _ in pairs], dtype=object)
    data = pd.DataFrame({"k": "a", "u": [f"u{place % 9}" for place in range(len(pairs))]})
    data["x"] = series.astype("category") if as_category else series
    rows = [{"k": "a", "u": unit, "x": value} for unit, (_, value) in zip(data["u"], pairs, strict=True)]
    assert_measured(data, rows, query_of(["x"], rule=rule), cell_of)


def test_typed_columns_of_pandas_are_numbers():
    import numpy as np
    import pandas as pd

    data = pd.DataFrame(
        {
            "k": ["a", "b", "a", "a"],
            "x": pd.array([1, None, -7, 2**62], "Int64"),
            "y": np.array([0.15, NAN, INF, -0.05]),
            "z": pd.array([True, None, False, True], "boolean"),
            "t": pd.array(["0.15", None, "x", "+7"], "string"),
            "c": pd.Series([1, 2, 1, None]).astype("category"),
        }
    )
    plain = {"x": [1, None, -7, 2**62], "y": [0.15, NAN, INF, -0.05], "z": [True, None, False, True]}
    plain |= {"t": ["0.15", None, "x", "+7"], "c": [1.0, 2.0, 1.0, None]}
    rows = [{"k": key} | {name: values[place] for name, values in plain.items()} for place, key in enumerate(data["k"])]
    assert_measured(data, rows, query_of(["x", "y", "z", "t", "c"]), cell_of)


MOMENT = datetime(1987, 6, 5, 4, 3, 2, tzinfo=UTC)
TIMES = {
    "day": pa.array([MOMENT.date()], pa.date32()),
    "stamp": pa.array([MOMENT.replace(tzinfo=None)], pa.timestamp("us")),
    "zoned": pa.array([MOMENT], pa.timestamp("us", "UTC")),
    "clock": pa.array([time(4, 3, 2)], pa.time64("us")),
    "while": pa.array([timedelta(seconds=1987)], pa.duration("us")),
    "list": pa.array([[1987]], pa.list_(pa.int64())),
    "bytes": pa.array([b"1987"], pa.binary()),
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("name", TIMES)
@pytest.mark.parametrize("rows", [0, 1])
def test_what_has_no_numbers_is_refused_by_its_type_alone(engine, name, rows):
    data = ENGINES[engine](pa.table({"k": ["a"], name: TIMES[name]}).slice(0, rows))
    query = query_of([name])
    with (
        pytest.raises(ArgumentError, match=f"statistics = {name!r}: is a column of kind") as refused,
        open_source(data, columns=["k", name]) as source,
    ):
        source.check(query)
    assert "1987" not in str(refused.value)
    assert refused.value.__cause__ is None


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.int64(), pa.uint32()])
@pytest.mark.parametrize("ends", [(0, 100), (-7, 2**31 - 8), (-(2**51), 5 - 2**51), (2**51 - 9, 2**51)])
def test_integers_have_the_steps_of_their_floats(kind, ends):
    """In steps of 1 integers are clamped without floats; where they could differ, steps are found by floats."""
    info = np.iinfo(kind.to_pandas_dtype())
    near = {end + i for end in (*ends, 0, info.min, info.max) for i in (-2, -1, 0, 1, 2)}
    numbers = [*sorted(x for x in near if info.min <= x <= info.max), None]
    measure = Measure(column="x", values=ValueRange(*ends, 1))
    table = pa.table({safe_name("x"): pa.array(numbers, kind)})
    frames = [table, table.set_column(0, safe_name("x"), table[0].cast(pa.float64(), safe=False))]
    exact, by_floats = (
        nw.from_native(frame)
        .select(steps_of_rows(nw.from_native(frame), measure, {"x": "float"}).alias("m"))["m"]
        .to_list()
        for frame in frames
    )
    assert exact == by_floats == [None if x is None else min(max(x, ends[0]), ends[1]) - ends[0] for x in numbers]
