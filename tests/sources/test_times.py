# ruff: noqa: DTZ001, DTZ901 - times without a zone are what is tested
"""Bins of time: every unit is compared exactly, and no time can make a release fail."""

from __future__ import annotations

import math
import random
from datetime import UTC, date, datetime, timedelta, timezone

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.cases import some
from tests.sources.counting import counted
from tests.sources.zoo import ENGINES

from ggdp.domain.periods import instant_of_value
from ggdp.domain.table_domain import Domain
from ggdp.domain.text_values import TextValues
from ggdp.errors import ArgumentError
from ggdp.sources.codes import declared_text, iso_text, text_as_instant
from ggdp.sources.query import CountQuery

FULL = {"other": "o", "missing": "m"}
PER_SECOND = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
NOON = 1704110400  # 2024-01-01 12:00 UTC
EDGES = [datetime(2024, 1, 1, 12), datetime(2024, 1, 1, 12, 0, 0, 500), datetime(2024, 1, 1, 12, 0, 1)]
AROUND = {
    "s": [NOON - 1, NOON, NOON + 1],
    "ms": [NOON * 10**3 + k for k in (-1, 0, 1, 999, 1000)],
    "us": [NOON * 10**6 + k for k in (-1, 0, 499, 500, 999_999, 1_000_000)],
    "ns": [NOON * 10**9 + k for k in (-1, 0, 499_999, 500_000, 999_999_999, 1_000_000_000)],
}
RIGHT = {"s": {0: 1, 2: 2}, "ms": {0: 1, 1: 2, 2: 2}, "us": {0: 2, 1: 2, 2: 2}, "ns": {0: 2, 1: 2, 2: 2}}


ZONES = (None, "UTC", "Europe/Zurich", "+05:30")


def zones_of(engine, unit):
    """The zones that an engine compares: nanoseconds with a zone are refused below, and polars has no such offsets."""
    if engine in ("duckdb", "ibis") and unit == "ns":
        return (None,)
    return ZONES[:3] if engine.startswith("polars") else ZONES


def in_turn(engine, unit, zone):
    """Every time one zone of each engine and unit, another for the next one."""
    zones = zones_of(engine, unit)
    return zones.index(zone) == (list(ENGINES).index(engine) + list(PER_SECOND).index(unit)) % len(zones)


@pytest.mark.parametrize(
    ("engine", "unit", "zone"),
    some(
        [(engine, unit, zone) for engine in ENGINES for unit in PER_SECOND for zone in zones_of(engine, unit)], in_turn
    ),
)
def test_time_stamps_are_compared_in_their_own_unit_as_instants(engine, unit, zone):
    values = pa.array(AROUND[unit], pa.int64()).cast(pa.timestamp(unit, zone))
    query = CountQuery(marginals=(Domain({"x": {"edges": EDGES, **FULL}}),))
    assert counted(ENGINES[engine](pa.table({"x": values})), query) == [RIGHT[unit]]


@pytest.mark.parametrize("engine", ["duckdb", "ibis"])
def test_nanoseconds_with_a_zone_are_refused_where_they_cannot_be_compared(engine):
    for rows in ([], [0]):
        frame = ENGINES[engine](pa.table({"x": pa.array(rows, pa.timestamp("ns", "UTC"))}))
        with pytest.raises(ArgumentError, match=r"cannot be counted as declared|cast the column"):
            counted(frame, CountQuery(marginals=(Domain({"x": {"edges": EDGES}}),)))


FAR = [2**63 - 1, 2**63 - 2, 2**62, -(2**63) + 1, -(2**62), 0, None]


@pytest.mark.parametrize(
    "edges", [[-math.inf, date(2024, 1, 1), math.inf], [date(1, 1, 1), date(9999, 12, 31)]], ids=str
)
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("engine", ENGINES)
def test_times_outside_the_calendar_are_other_and_no_message(engine, unit, edges, capfd):
    if engine.startswith("polars") and unit == "s":
        pytest.skip("polars has no seconds, and reads these as milliseconds")
    values = pa.array(FAR, pa.int64()).cast(pa.timestamp(unit))
    query = CountQuery(marginals=(Domain({"x": {"edges": edges, **FULL}}),))
    bins = len(edges) - 1
    assert counted(ENGINES[engine](pa.table({"x": values})), query) == [{0: 1, bins: 5, bins + 1: 1}]
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("engine", ENGINES)
def test_nanoseconds_have_bounds_of_their_own(engine):
    values = pa.array([2**63 - 1, -(2**63) + 1, 0, None], pa.int64()).cast(pa.timestamp("ns"))
    frame = ENGINES[engine](pa.table({"x": values}))
    for edges, right in (
        ([-math.inf, date(1970, 1, 1), math.inf], {0: 1, 1: 2, 3: 1}),
        ([date(1677, 1, 1), date(2263, 1, 1)], {0: 3, 2: 1}),
        ([date(1678, 1, 1), date(2262, 1, 1)], {0: 1, 1: 2, 2: 1}),
        ([date(1, 1, 1), date(1600, 1, 1)], {1: 3, 2: 1}),
        ([date(2500, 1, 1), date(2600, 1, 1)], {1: 3, 2: 1}),
    ):
        assert counted(frame, CountQuery(marginals=(Domain({"x": {"edges": edges, **FULL}}),))) == [right]


@pytest.mark.parametrize("engine", ENGINES)
def test_days_outside_the_calendar_are_other(engine, capfd):
    days = pa.array([19723, 2932896, -719162, 2932897, -719163, 2**31 - 1, -(2**31) + 1, None], pa.int32()).cast(
        pa.date32()
    )
    query = CountQuery(marginals=(Domain({"x": {"edges": [-math.inf, date(2024, 1, 1), math.inf], **FULL}}),))
    assert counted(ENGINES[engine](pa.table({"x": days})), query) == [{0: 1, 1: 2, 2: 4, 3: 1}]
    assert capfd.readouterr() == ("", "")


def test_infinite_times_of_duckdb_are_other():
    import duckdb

    for kind in ("DATE", "TIMESTAMP", "TIMESTAMPTZ", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS"):
        frame = duckdb.connect().sql(f"SELECT unnest(['infinity', '-infinity', '2024-06-01', NULL])::{kind} AS x")
        query = CountQuery(marginals=(Domain({"x": {"edges": [date(2024, 1, 1), math.inf], **FULL}}),))
        # Nanoseconds end before the year 9999, and what is infinite is at their end.
        right = {0: 2, 1: 1, 2: 1} if kind == "TIMESTAMP_NS" else {0: 1, 1: 2, 2: 1}
        assert counted(frame, query) == [right], kind


def test_the_time_zone_of_a_connection_decides_nothing():
    import duckdb

    query = CountQuery(marginals=(Domain({"x": {"edges": EDGES, **FULL}}),))
    for zone in ("UTC", "America/New_York", "Asia/Kolkata"):
        connection = duckdb.connect()
        connection.execute(f"SET TimeZone = '{zone}'")
        for text in ("2024-01-01 12:00:00+00", "2024-01-01 13:00:00.0004+01"):
            frame = connection.sql(f"SELECT TIMESTAMPTZ '{text}' AS x")
            assert counted(frame, query) == [{0: 1}]


EAST = timezone(timedelta(hours=2))


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (date(2024, 1, 1), 0),
        (datetime(2024, 1, 1, 23, 59, 59, 999999), 0),
        (datetime(2024, 1, 2), 1),
        (datetime(2024, 1, 2, 1, tzinfo=EAST), 0),
        (datetime(2024, 1, 2, 2, tzinfo=EAST), 1),
        (datetime(2024, 1, 4), 2),
        (pd.Timestamp("2024-01-01T23:59:59.999999999"), 0),
        (pd.Timestamp("2024-01-02T02:00", tz="Europe/Helsinki"), 1),
        ("2024-01-01T23:59:59.999999999", 0),
        ("2024-01-02", 1),
        ("2024-01-02T00:00Z", 1),
        ("2024-01-02T00:30+01:00", 0),
        ("2024-01-01T23:30-0030", 1),
        ("2024-01-02Z", 2),
        ("0001-01-01T00:00+00:01", 2),
        ("01/02/2024", 2),
        (datetime.min, 2),
        (datetime.max, 2),
        (datetime.min.replace(tzinfo=EAST), 2),
        (datetime.max.replace(tzinfo=timezone(-timedelta(hours=2))), 2),
        (20240101, 2),
        (1704067200.0, 2),
        (True, 2),
        (np.datetime64("2024-01-01"), 2),
        pytest.param(object(), 2, id="an object-2"),
        (None, 3),
        (pd.NaT, 3),
        (np.datetime64("NaT"), 3),
        (math.nan, 3),
    ],
    ids=repr,
)
def test_python_values_are_binned_by_their_time(value, code):
    edges = [date(2024, 1, 1), date(2024, 1, 2), date(2024, 1, 3)]
    frame = pd.DataFrame({"x": pd.Series([value], dtype=object)})
    assert counted(frame, CountQuery(marginals=(Domain({"x": {"edges": edges, **FULL}}),))) == [{code: 1}]


def test_times_of_pandas_with_and_without_a_missing_one_are_counted_alike():
    months = {"from": date(2024, 1, 1), "to": date(2024, 3, 1), "every": "month"}
    query = CountQuery(marginals=(Domain({"x": {"edges": months, **FULL}}),))
    for unit in PER_SECOND:
        for zone in (None, "UTC"):
            texts = ["2024-01-31 23:59:59", "2024-02-01", None, "2024-03-01"]
            times = pd.to_datetime(pd.Series(texts), format="ISO8601").dt.as_unit(unit).dt.tz_localize(zone)
            assert counted(pd.DataFrame({"x": times}), query) == [{0: 1, 1: 1, 2: 1, 3: 1}]


@pytest.mark.parametrize("unit", ["ms", "s"])
def test_parquet_files_of_milliseconds_are_refused_since_a_value_could_make_them_fail(unit, tmp_path):
    import pyarrow.parquet as pq

    query = CountQuery(marginals=(Domain({"x": {"edges": EDGES, **FULL}}),))
    for rows in ([0], [2**62 // 1000]):
        pq.write_table(pa.table({"x": pa.array(rows, pa.int64()).cast(pa.timestamp(unit))}), tmp_path / "t.parquet")
        with pytest.raises(ArgumentError, match="microseconds"):
            counted(tmp_path / "t.parquet", query)


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_parquet_files_of_microseconds_hold_any_time(zone, tmp_path):
    import pyarrow.parquet as pq

    query = CountQuery(marginals=(Domain({"x": {"edges": EDGES, **FULL}}),))
    values = pa.array([*AROUND["us"], *FAR], pa.int64()).cast(pa.timestamp("us", zone))
    pq.write_table(pa.table({"x": values}), tmp_path / "t.parquet")
    assert counted(tmp_path / "t.parquet", query) == [{0: 2, 1: 2, 2: 8, 3: 1}]


def test_edges_of_time_have_no_zone():
    with pytest.raises(ArgumentError, match="UTC"):
        Domain({"x": {"edges": [datetime(2024, 1, 1, tzinfo=UTC), datetime(2024, 1, 2, tzinfo=UTC)]}})


def test_text_is_the_instant_that_python_finds_of_it():
    years = (1, 3, 4, 99, 100, 400, 1582, 1900, 1970, 2000, 2023, 2024, 2100, 9999)
    days = [f"{year:04}-{month:02}-{day:02}" for year in years for month in range(1, 13) for day in (1, 28, 29, 30, 31)]
    clocks = ["", "T00:00", " 23:59:59.999999999", "T12:30Z", "T00:30:00+01", " 23:45-0030", " 00:00:00.1+23:59", "Z"]
    texts = [day + clock for day in days for clock in clocks] + ["", "x", None, "2024-01-01T00:00+24:00"]
    frame = nw.from_native(pa.table({"text": texts})).select(iso_text(nw.col("text")))
    frame = frame.select(text_as_instant(nw.col("text")))
    wanted = [None if text is None else instant_of_value(text) for text in texts]
    assert frame.to_native().column(0).to_pylist() == wanted
    assert sum(found is not None for found in wanted) > 0.8 * len(days) * (len(clocks) - 1)


@pytest.mark.parametrize(
    "rewriting",
    [
        TextValues(decimal=",", thousands=".").number,
        TextValues(thousands="'").number,
        TextValues(date_format="%d.%m.%y %H:%M:%S.%f%z").time,
        TextValues(date_format="%m%d%Y").time,
    ],
)
def test_text_is_rewritten_by_an_engine_as_by_python(rewriting):
    rng = random.Random(7)
    seeds = ["1.234.567,8", "-1'234", "1.2.24 3:04:05.678+01:00", "01022024", "31.12.99 23:59:59.9Z", "1\u2019000.5e-3"]
    texts = [*seeds, "", None, "\n", "\0"]
    for _ in range(2000):
        text = list(rng.choice(seeds))
        for _ in range(rng.randint(0, 2)):
            text[rng.randrange(len(text))] = rng.choice(
                ["", "0", "9", ".", ",", "'", "+", "e", "Z", " ", "\n", "\u0661"]
            )
        texts.append("".join(text))
    wanted = [None if text is None else rewriting.of(text) for text in texts]
    assert len({*wanted}) > 10
    for frame in (pa.table({"text": texts}), pl.DataFrame({"text": texts})):
        read = nw.from_native(frame).select(declared_text(nw.col("text"), (), rewriting))
        assert read[read.columns[0]].to_list() == wanted
