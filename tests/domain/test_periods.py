# ruff: noqa: DTZ001 - times without a zone are what is tested
"""Bins of time: whole periods of the calendar, their labels, and the text that times are compared by."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta
from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ggdp.domain.column import Column
from ggdp.domain.periods import EVERY, ISO, instant, instant_of_value, time_text
from ggdp.errors import ArgumentError

EPOCH = datetime(1970, 1, 1)


def _column(first, last, every, **more):
    return Column(name="x", edges={"from": first, "to": last, "every": every}, **more)


@pytest.mark.parametrize(
    ("first", "last", "every", "labels"),
    [
        (date(2024, 2, 28), date(2024, 3, 2), "day", ("2024-02-28", "2024-02-29", "2024-03-01")),
        (date(2024, 12, 23), date(2025, 1, 13), "week", ("2024-W52", "2025-W01", "2025-W02")),
        (date(2020, 12, 28), date(2021, 1, 11), "week", ("2020-W53", "2021-W01")),
        (date(2024, 11, 1), date(2025, 2, 1), "month", ("2024-11", "2024-12", "2025-01")),
        (date(2024, 7, 1), date(2025, 4, 1), "quarter", ("2024-Q3", "2024-Q4", "2025-Q1")),
        (date(998, 1, 1), date(1001, 1, 1), "year", ("0998", "0999", "1000")),
        (date(9999, 11, 1), date(9999, 12, 1), "month", ("9999-11",)),
    ],
)
def test_periods_are_named_as_iso_8601_names_them(first, last, every, labels):
    column = _column(first, last, every)
    assert column.labels == labels
    assert (column.edges[0], column.edges[-1]) == (first, last)
    assert column.to_dict() == {"edges": {"from": first.isoformat(), "to": last.isoformat(), "every": every}}
    assert Column(**column.arguments()) == column


@given(st.dates(date(1, 1, 8), date(9990, 1, 1)), st.sampled_from(EVERY))
def test_periods_follow_one_another_and_hold_the_days_that_they_are_named_for(day, every):
    starts = {"week": day - timedelta(days=day.weekday()), "month": day.replace(day=1), "day": day}
    starts["quarter"] = date(day.year, (day.month - 1) // 3 * 3 + 1, 1)
    starts["year"] = date(day.year, 1, 1)
    end = {"week": timedelta(days=21), "day": timedelta(days=3)}.get(every)
    last = starts[every] + end if end else date(day.year + 3, 1, 1)
    column = _column(starts[every], last, every)
    assert len(set(column.labels)) == column.size == len(column.edges) - 1
    lengths = {(high - low).days for low, high in pairwise(column.edges)}
    assert (
        lengths
        <= {"day": {1}, "week": {7}, "month": {28, 29, 30, 31}, "quarter": {90, 91, 92}, "year": {365, 366}}[every]
    )


@pytest.mark.parametrize(
    ("edges", "said"),
    [
        (
            {"from": date(2024, 1, 15), "to": date(2025, 1, 1), "every": "month"},
            "first of a month, such as 2024-01-01 or 2024-02-01",
        ),
        (
            {"from": date(2024, 1, 1), "to": date(2025, 1, 1), "every": "week"},
            "a Monday, such as 2024-12-30 or 2025-01-06",
        ),
        ({"from": date(2024, 2, 1), "to": date(2025, 1, 1), "every": "quarter"}, "first of a quarter"),
        ({"from": date(2024, 2, 1), "to": date(2025, 1, 1), "every": "year"}, "1 January"),
        ({"from": date(2024, 1, 1), "to": date(2024, 1, 1), "every": "day"}, "must be before"),
        (
            {"from": date(2024, 1, 1), "to": date(2025, 1, 1), "every": "hour"},
            "'day', 'week', 'month', 'quarter', 'year'",
        ),
        ({"from": date(2024, 1, 1), "to": date(2025, 1, 1)}, '"from", "to" and "every"'),
        ({"from": "2024-01-01", "to": date(2025, 1, 1), "every": "year"}, "'from' must be a date"),
        ({"from": datetime(2024, 1, 1, 12), "to": date(2025, 1, 1), "every": "year"}, "'from' must be a date"),
        ({"from": date(9999, 12, 2), "to": date(9999, 12, 3), "every": "month"}, "such as 9999-12-01, to"),
        ({"from": date(1900, 1, 1), "to": date(2000, 1, 1), "every": "day"}, "at most 10,001"),
        ([date(2024, 1, 2), date(2024, 1, 1)], "must increase: 2024-01-01 comes after 2024-01-02"),
        ([date(2024, 1, 1), datetime(2024, 1, 1)], "must increase"),
        ([date(2024, 1, 1), 5], "must be dates or times if one of them is"),
        ([math.inf, date(2024, 1, 1)], "the first may be -inf"),
        ([date(2024, 1, 1), pd.NaT], "must be dates or times"),
        ([date(2024, 1, 1), pd.Timestamp("2024-01-02T00:00:00.000000001")], "whole microseconds"),
        ([date(2024, 1, 1), "2024-02-01"], "must be dates or times"),
        (["2024-01-01", "2024-02-01"], "must be numbers, or dates and times"),
        ([date(2024, 1, 1)], "at least two"),
    ],
)
def test_a_wrong_bin_of_time_is_refused_with_the_reason(edges, said):
    with pytest.raises(ArgumentError, match=re.escape(said)):
        Column(name="x", edges=edges)


def test_bins_of_time_are_half_open_and_named_by_their_ends():
    edges = [-math.inf, date(2024, 1, 1), datetime(2024, 1, 1, 12, 30), datetime(2024, 1, 1, 12, 30, 0, 500), math.inf]
    column = Column(name="x", edges=edges, missing="none")
    assert column.labels == (
        "[-inf, 2024-01-01)",
        "[2024-01-01, 2024-01-01 12:30)",
        "[2024-01-01 12:30, 2024-01-01 12:30:00.0005)",
        "[2024-01-01 12:30:00.0005, inf)",
        "none",
    )
    assert column.to_dict()["edges"] == ["-inf", "2024-01-01", "2024-01-01 12:30", "2024-01-01 12:30:00.0005", "inf"]
    # Midnight is the day, whatever type it comes as.
    same = Column(name="x", edges=[-math.inf, pd.Timestamp("2024-01-01"), *edges[2:]], missing="none")
    assert same == column
    assert (column.kind, column.dated) == ("bins", True)
    assert not Column(name="x", edges=[0, 1]).dated


MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59, 999999))
CLOSE = st.tuples(MOMENTS, st.sampled_from([0, 1, 10**6, 6 * 10**7, 36 * 10**8, 864 * 10**8])).filter(
    lambda pair: pair[0] < datetime(9998, 1, 1)
)


def _texts(moment):
    """All texts of a moment in ISO 8601 that are read."""
    whole = moment.isoformat(" ")
    found = [whole, whole.replace(" ", "T"), whole.ljust(26, "0") if "." in whole else whole + ".000000000"]
    if not moment.microsecond:
        found += [moment.isoformat(" ", "seconds")]
        if not moment.second:
            found += [moment.isoformat(" ", "minutes")]
            if not (moment.minute or moment.hour):
                found += [moment.date().isoformat()]
    return found


@given(CLOSE)
def test_text_is_at_or_after_an_edge_exactly_if_the_time_is(pair):
    early = pair[0]
    late = early + timedelta(microseconds=pair[1])
    for value, edge in ((early, late), (late, early), (early, early)):
        plain = edge.date() if edge.time() == datetime.min.time() else edge
        for text in _texts(value):
            assert re.fullmatch(ISO, text)
            assert (text.replace("T", " ") >= time_text(plain)) == (value >= edge)
            assert instant_of_value(text) == (value - EPOCH) // timedelta(microseconds=1)
        assert instant(plain) == (edge - EPOCH) // timedelta(microseconds=1)


def test_text_is_a_day_of_the_calendar_exactly_if_python_knows_it():
    for year in ("0000", "0001", "0004", "0100", "0400", "1900", "1999", "2000", "2023", "2024", "9999"):
        for month in range(14):
            for day in range(33):
                text = f"{year}-{month:02}-{day:02}"
                try:
                    real = date.fromisoformat(text) is not None
                except ValueError:
                    real = False
                assert bool(re.fullmatch(ISO, text)) == real, text
