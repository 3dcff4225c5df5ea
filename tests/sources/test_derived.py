# ruff: noqa: DTZ001 - times without a zone are what is tested
"""Derived columns and look-ups: every engine computes the same values, each from its row alone."""

from __future__ import annotations

from datetime import date, datetime

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.sources.zoo import ENGINES, KEY

import ggdp
from ggdp.domain.filters import parse_filter, read_as
from ggdp.domain.table_domain import Domain
from ggdp.domain.text_values import TextValues
from ggdp.errors import ArgumentError
from ggdp.sources.query import CountQuery, open_source

NAN, INF = float("nan"), float("inf")
ROWS = pa.table(
    {
        "id": [str(place) for place in range(8)],
        "n": pa.array([1, 2, None, 18, -3, 2**62, 7, 49], pa.int64()),
        "f": [1.5, NAN, None, 18.0, -1.0, INF, 0.0, 49.0],
        "w": [" Births ", "test", None, "ÉCLAIR", "18", "", "a\u00a0", "1e300"],
        "d": [date(2024, 1, 1), date(2023, 12, 31), None, date(2024, 2, 29), date(1, 1, 1), date.max, date(2000, 3, 1)]
        + [date(1970, 1, 1)],
        "t": pa.array([datetime(2024, 1, 1)] * 8, pa.timestamp("us")),
        "b": [True, False, None, True, False, True, False, True],
        "s": [
            "2024-01-01",
            "2024-12-31T23:30-01:00",
            "x",
            "2000-02-29",
            None,
            "2023-02-30",
            "1999-12-31",
            "1900-03-01",
        ],
        "p": ["01067", "1067", "01067 ", None, "80331", "", "é", "20095"],
    }
)
# The values of the rows; None where there is none. Numbers are counted as integers.
VALUES = {
    "n + 1": ["2", "3", None, "19", "-2", str(2**62), "8", "50"],
    "n * 2 - f": [None, None, None, "18", "-5", None, "14", "49"],
    # As Python rounds: a multiplication by 1 / 49 would not give 1.
    "f / 49 * 49": [None, None, None, "18", None, None, "0", "49"],
    "n / 49": [*[None] * 5, str(int(2**62 / 49)), None, "1"],
    "n / f": [None, None, None, "1", "3", None, None, "1"],
    "1 / (1 / n)": ["1", "2", None, "18", "-3", str(2**62), "7", None],
    "w * w / w": [*[None] * 4, "18", None, None, None],
    "0 / (w * w)": [*[None] * 4, "0", None, None, None],
    "-f": [None, None, None, "-18", "1", None, "0", "-49"],
    "w + 0": [None, None, None, None, "18", None, None, None],
    "b + 1": [None] * 8,
    "year(d)": ["2024", "2023", None, "2024", "1", "9999", "2000", "1970"],
    "month(d)": ["1", "12", None, "2", "1", "12", "3", "1"],
    "weekday(d)": ["1", "7", None, "4", "1", "5", "3", "4"],
    "year(s) * 100 + month(s)": ["202401", "202501", None, "200002", None, None, "199912", "190003"],
    "lower(w)": [" births ", "test", None, "Éclair", "18", "", "a\u00a0", "1e300"],
    "upper(trim(w))": ["BIRTHS", "TEST", None, "ÉCLAIR", "18", "", "A\u00a0", "1E300"],
    "coalesce(f, n, 0)": [None, "2", "0", "18", "-1", str(2**62), "0", "49"],
    "coalesce(s, 'none')": [*ROWS["s"].to_pylist()[:4], "none", *ROWS["s"].to_pylist()[5:]],
    "coalesce(b, false)": ["true", "false", "false", "true", "false", "true", "false", "true"],
    "n": ["1", "2", None, "18", "-3", str(2**62), "7", "49"],
    "n > 1": ["false", "true", None, "true", "false", "true", "true", "true"],
    "n > 1 and f > 0": ["false", None, None, "true", "false", "true", "false", "true"],
    "f is null": ["false", "true", "true", "false", "false", "false", "false", "false"],
    "n / f >= 1": ["false", None, None, "true", "true", None, None, "true"],
    "n / f is null": ["false", "true", "true", "false", "false", "true", "true", "false"],
    "lower(w) like 'te%'": ["false", "true", None, "false", "false", "false", "false", "false"],
    "case when n < 2 then 'few' when n < 20 then 'some' else null end": [
        *("few", "some", None, "some", "few", None, "some", None)
    ],
    "case when d >= date '2024-01-01' then n else 0 end": ["1", "0", "0", "18", "0", str(2**62), "0", "0"],
    "case when b = true then (f > 2) end": ["false", None, None, "true", None, "true", None, "true"],
}


def derived(*columns, text=None):
    """Derived columns of a domain, as a source takes them."""
    domain = Domain(dict(columns))
    return tuple((name, read_as(domain[name].term, lambda _: text or TextValues())) for name, _ in columns)


def values(data, made, counted="z", **options):
    """The values of a derived column, by the rows' identifiers."""
    query = CountQuery(marginals=(Domain([ggdp.domain.column.Column(name=name) for name in ("id", counted)]),))
    with open_source(data, columns=["id", counted], derived=made, **options) as source:
        (found,) = source.keys(query)
    known = dict(zip(found["id"].to_pylist(), found[counted].to_pylist(), strict=True))
    return [known.get(str(place)) for place in range(ROWS.num_rows)]


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_computes_the_same_values(engine):
    data = ENGINES[engine](ROWS)
    found = {said: values(data, derived(("z", {"expression": said}))) for said in VALUES}
    assert found == VALUES
