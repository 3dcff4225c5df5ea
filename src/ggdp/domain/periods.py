"""Bins of time: edges that are dates or times, and whole periods of the calendar.

A *time* is a day or a time without a zone, in the years 1 to 9999. A day stands for its midnight. Bins of time are
half-open, the last one too: [e_0, e_1), ..., [e_(k-1), e_k), so that a month does not hold the first of the next one.

Periods are days, weeks (of ISO 8601, which begin on Monday), months, quarters and years.

Text of ISO 8601 with a zone after the time is its UTC instant; a time without one is taken as UTC.

Claim. Text is at or after an edge if and only if its microseconds since 1970, rounded down, are at or above those of
the edge. Proof: an edge is a whole number of microseconds, and what is rounded off is less than one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime, timedelta
from typing import Any, TypeAlias

from ggdp import _validate
from ggdp.errors import ArgumentError

Edge: TypeAlias = "float | date"

EVERY = ("day", "week", "month", "quarter", "year")
# Text that is a time: a day of the calendar, perhaps with an hour, and a zone after that.
_SHORT = r"(0[469]|11)-(0[1-9]|[12][0-9]|30)"
_LONG = r"(0[13578]|1[02])-(0[1-9]|[12][0-9]|3[01])"
_YEAR = r"([1-9][0-9]{3}|0[1-9][0-9]{2}|00[1-9][0-9]|000[1-9])"
_OF_FOUR = r"(0[48]|[2468][048]|[13579][26])"
_LEAP = rf"([0-9]{{2}}{_OF_FOUR}|{_OF_FOUR}00)"
_DAY = rf"({_YEAR}-({_LONG}|{_SHORT}|02-(0[1-9]|1[0-9]|2[0-8]))|{_LEAP}-02-29)"
ZONE = r"(Z|[+-]([01][0-9]|2[0-3])(:?[0-5][0-9])?)"
ISO = rf"{_DAY}([T ]([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9](\.[0-9]{{1,9}})?)?{ZONE}?)?"

_ISO = re.compile(ISO)
_MONTHS = {"month": 1, "quarter": 3, "year": 12}
_FIRST = {"week": "a Monday", "month": "the first of a month", "quarter": "the first of a quarter", "year": "1 January"}


def instant(edge: Edge) -> float:
    """Return an edge as microseconds since 1970, an integer if it is finite."""
    if not isinstance(edge, date):
        return edge
    # Without a zone, as all times here.
    time = edge if isinstance(edge, datetime) else datetime(edge.year, edge.month, edge.day)  # noqa: DTZ001
    return (time - datetime(1970, 1, 1)) // timedelta(microseconds=1)  # noqa: DTZ001


# The first and the last microsecond of the calendar.
FIRST, LAST = (int(instant(time)) for time in (datetime.min, datetime.max))  # noqa: DTZ901


def time_text(edge: Edge) -> str:
    """Return the shortest text of an edge: no midnight, no seconds that are 0."""
    if not isinstance(edge, datetime):
        return edge.isoformat() if isinstance(edge, date) else str(edge)
    if edge.microsecond:
        return edge.isoformat(" ").rstrip("0")
    return edge.isoformat(" ", "seconds" if edge.second else "minutes")


def expand(said: str, declared: Mapping[str, Any]) -> tuple[tuple[date, ...], tuple[str, ...], str]:
    """Return the edges and labels of the periods between two dates, and what the periods are."""
    if set(declared) != {"from", "to", "every"}:
        raise ArgumentError(said, dict(declared), 'as a range needs "from", "to" and "every", nothing else')
    every = _validate.choice(every=declared["every"], among=EVERY)
    ends = []
    for end in ("from", "to"):
        if not isinstance(declared[end], date) or isinstance(day := plain_time(said, declared[end]), datetime):
            raise ArgumentError(said, declared[end], f"{end!r} must be a date")
        if (start := _start(day, every)) != day:
            later = _after(start, every)
            ways = time_text(start) if later is None else f"{time_text(start)} or {time_text(later)}"
            raise ArgumentError(said, time_text(day), f"must be {_FIRST[every]}, such as {ways}, to count by {every}")
        ends.append(day)
    first, last = ends
    if not first < last:
        raise ArgumentError(said, [time_text(first), time_text(last)], '"from" must be before "to"')
    edges = [first]
    while edges[-1] < last:
        following = _after(edges[-1], every)
        assert following is not None  # `last` is no earlier
        edges.append(following)
    return tuple(edges), tuple(_label(day, every) for day in edges[:-1]), every


def instant_of_value(value: Any) -> int | None:  # noqa: ANN401 - a Python value of an object column
    """Return a Python date or time, or ISO text, as microseconds since 1970; None if it is neither or out of range."""
    if isinstance(value, str):
        if not _ISO.fullmatch(value):
            return None
        # It leaves out what is beyond the sixth digit, which decides nothing: edges are whole microseconds.
        value = datetime.fromisoformat(value)
    if not isinstance(value, date):
        return None
    if not isinstance(value, datetime):
        return int(instant(value))
    try:
        if value.utcoffset() is not None:
            value = value.astimezone(UTC)
        parts = (value.hour, value.minute, value.second, value.microsecond)
        return int(instant(datetime(value.year, value.month, value.day, *parts)))  # noqa: DTZ001
    except (OverflowError, ValueError):
        return None


def plain_time(said: str, edge: date) -> date:
    """Return a date as a plain one; midnight is the day itself."""
    if not isinstance(edge, datetime):
        return date(edge.year, edge.month, edge.day)
    if edge.tzinfo is not None:
        expected = "has a time zone; write it in UTC and without one (columns with a time zone are compared in UTC)"
        raise ArgumentError(said, edge.isoformat(), expected)
    if getattr(edge, "nanosecond", 0):
        raise ArgumentError(said, str(edge), "must be whole microseconds")
    clock = (edge.hour, edge.minute, edge.second, edge.microsecond)
    return datetime(edge.year, edge.month, edge.day, *clock) if any(clock) else edge.date()  # noqa: DTZ001


def _start(day: date, every: str) -> date:
    """Return the first day of the period that a day is in."""
    if every == "day":
        return day
    if every == "week":
        return date.fromordinal(max(1, day.toordinal() - day.weekday()))
    return day.replace(month=(day.month - 1) // _MONTHS[every] * _MONTHS[every] + 1, day=1)


def _after(start: date, every: str) -> date | None:
    """Return the first day of the next period; None if it is after the year 9999."""
    try:
        if every in ("day", "week"):
            return start + timedelta(days=1 if every == "day" else 7)
        month = start.month - 1 + _MONTHS[every]
        return date(start.year + month // 12, month % 12 + 1, 1)
    except (OverflowError, ValueError):
        return None


def _label(start: date, every: str) -> str:
    if every == "week":
        year, week, _ = start.isocalendar()
        return f"{year:04}-W{week:02}"
    if every == "quarter":
        return f"{start.year:04}-Q{(start.month + 2) // 3}"
    return start.isoformat()[: {"day": 10, "month": 7, "year": 4}[every]]
