"""Numbers, dates and missing values as people write them: declared in a request or of a column, and counted."""

from __future__ import annotations

import csv
import json
from datetime import date, datetime
from pathlib import Path

import jsonschema
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from typer.testing import CliRunner

import ggdp
from ggdp.cli.app import app
from ggdp.domain.column import Column
from ggdp.errors import ArgumentError
from ggdp.tables.request import TableRequest

# Noise of this epsilon is 0 in all but one of e^400 releases.
GOAL = ggdp.PureDP(400.0)
pytestmark = pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")
SCHEMA = json.loads((Path(ggdp.__file__).parent / "releases" / "manifest.schema.json").read_text())
COSTS = ["1.234,50", "1234,5", "20", "-", "NA", "1.5", None]
TIMES = ["2024-01-31T23:30:00Z", "2024-02-01T00:30:00+01:00", "2024-02-01 00:30:00", "2024-01-31T23:30:00-01:00"]
MONTHS = {"from": date(2024, 1, 1), "to": date(2024, 3, 1), "every": "month"}


def counts(data, by, domain, **given):
    found = ggdp.release_table(data, by, GOAL, domain, **given)
    jsonschema.validate(found.manifest, SCHEMA)
    assert TableRequest.from_dict(found.manifest["table"]["request"]).to_dict() == found.manifest["table"]["request"]
    return found.to_pandas()["count"].tolist()


def sources(folder, **columns):
    """The same columns of text as a file and as frames."""
    table = pa.table(columns)
    path = folder / "rows.csv"
    table.to_pandas().to_csv(path, index=False)
    return [path, table, table.to_pandas().astype(object), table.to_pandas().astype("category"), pl.from_arrow(table)]


def test_a_decimal_comma_is_counted(tmp_path):
    domain = {"cost": {"edges": [0, 100, 2000], "other": "other", "missing": "none"}}
    for data in sources(tmp_path, cost=COSTS):
        assert counts(data, "cost", domain, decimal=",", thousands=".", null_values=["NA"]) == [1, 2, 2, 2]
        # Not as it is written elsewhere, and never by a guess.
        assert counts(data, "cost", domain) == [2, 0, 4, 1]


def test_thousands_come_in_groups_of_three(tmp_path):
    levels = {"n": {"levels": [1234, 1234567], "other": "other"}}
    for mark, texts in {
        ".": ["1.234", "1234", "1.234.567", "1234567,0", "12.34", "1234.567", "1.2345", ".234", "1..234"],
        "'": ["1'234", "1\u2019234", "1'234'567", "1234567", "12'34", "1234'567", "1 234", "'234", "1'"],
        " ": ["1 234", "1\u00a0234", "1\u202f234 567", "1234567", "12 34", "1234 567", "1  234", " 1234", "1234 "],
    }.items():
        for data in sources(tmp_path, n=texts):
            assert counts(data, "n", levels, decimal=",", thousands=mark) == [2, 2, 5]


def test_a_zone_at_the_end_of_a_time_stamp_is_counted(tmp_path):
    for data in sources(tmp_path, seen=TIMES):
        assert counts(data, "seen", {"seen": {"edges": MONTHS, "other": "other"}}) == [2, 2, 0]


def test_a_zone_moves_a_time_over_the_end_of_a_month_a_leap_day_and_the_calendar(tmp_path):
    times = ["2024-03-01T00:59+01", "2023-03-01T00:30+0100", "2024-02-28T23:30-00:30", "2024-02-30T00:00Z"]
    times += ["0001-01-01T00:00+00:01", "9999-12-31T23:59-00:01", "2024-02-29Z", "2024-02-29T00:00 Z"]
    domain = {"seen": {"edges": [date(2024, 2, 29), date(2024, 3, 1)], "other": "other"}}
    everything = {"seen": {"edges": [float("-inf"), date(2024, 1, 1), float("inf")], "other": "other"}}
    for data in sources(tmp_path, seen=times):
        assert counts(data, "seen", domain) == [2, 6]
        assert counts(data, "seen", everything) == [1, 2, 5]


def test_dates_in_another_order_are_counted(tmp_path):
    days = ["1.2.2024", "01.02.2024", "29.2.2024", "30.02.2024", "2.1.24", "2024-02-01", "01.02.2024 ", None]
    levels = {"day": {"levels": [date(2024, 2, 1), date(2024, 2, 29)], "other": "other", "missing": "none"}}
    for data in sources(tmp_path, day=days):
        assert counts(data, "day", levels, date_format="%d.%m.%Y") == [2, 1, 4, 1]
        assert counts(data, "day", {"day": {"edges": MONTHS}}, date_format="%d.%m.%Y") == [0, 3]


@pytest.mark.parametrize(
    ("date_format", "text", "edges"),
    [
        ("%m/%d/%y", "1/2/68", (date(2068, 1, 2), date(2068, 1, 3))),
        ("%m/%d/%y", "1/2/69", (date(1969, 1, 2), date(1969, 1, 3))),
        ("%Y%m%d", "20240102", (date(2024, 1, 2), date(2024, 1, 3))),
        ("%d.%m.%Y %H:%M", "2.1.2024 9:05", (datetime(2024, 1, 2, 9, 5), datetime(2024, 1, 2, 9, 6))),  # noqa: DTZ001
        ("%d-%m-%Y %H.%M.%S,%f%z", "02-01-2024 00.30.05,5+01:00", (date(2024, 1, 1), date(2024, 1, 2))),
        ("(%Y|%d|%m) $^*+?[\\]{}", "(2024|2|1) $^*+?[\\]{}", (date(2024, 1, 2), date(2024, 1, 3))),
    ],
)
def test_a_date_format_says_where_each_part_is(tmp_path, date_format, text, edges):
    domain = {"day": {"edges": list(edges), "other": "other", "date_format": date_format}}
    for data in sources(tmp_path, day=[text, f"{text}x", f"x{text}", f"{text}\n", text[:-1]]):
        assert counts(data, "day", domain) == [1, 4]


def test_parts_with_no_separator_between_them_have_two_digits(tmp_path):
    domain = {"day": {"edges": [date(2024, 1, 1), date(2025, 1, 1)], "other": "other", "date_format": "%d%m.%Y"}}
    for data in sources(tmp_path, day=["1211.2024", "121.2024", "0101.2024", "11.2024"]):
        assert counts(data, "day", domain) == [2, 2]


def test_words_for_missing_values_are_nulls_everywhere(tmp_path):
    columns = {"ward": ["a", "NA", ".", "b"], "who": ["p", "NA", "q", "."], "n": ["1", "2", ".", "NA"]}
    domain = {"ward": {"levels": ["a", "b", "NA"], "missing": "none", "other": "other"}, "n": {"range": [0, 10]}}
    for data in sources(tmp_path, **columns):
        assert counts(data, "ward", domain, null_values="NA,.") == [1, 1, 0, 0, 2]
        # A null is no unit, and no number.
        assert counts(data, "ward", domain, null_values="NA,.", unit="who", max_cells=1) == [1, 0, 0, 0, 1]
        release = ggdp.release_table(data, None, GOAL, domain, null_values=["NA", "."], statistics=[ggdp.Mean("n")])
        assert abs(release.to_pandas()["mean_n"][0] - 1.5) < 0.2


def test_a_column_declares_its_own_text(tmp_path):
    columns = {"here": ["1.000", "2,5"], "there": ["1,000", "2.5"]}
    german = {"edges": [0, 10, 2000], "decimal": ",", "thousands": "."}
    for data in sources(tmp_path, **columns):
        for text in ({}, {"decimal": ".", "thousands": ","}):
            by = ["here", "there"]
            domain = {"here": german, "there": {"edges": [0, 10, 2000], "other": "other"}}
            assert sum(counts(data, by, domain, **text)) == 2
        assert counts(data, "here", domain, decimal=".", thousands=",") == [1, 1]


def test_python_values_are_read_beside_text():
    rows = pd.DataFrame({"day": ["1.2.2024", date(2024, 2, 1), datetime(2024, 2, 1), 7], "n": ["1,5", 1.5, 2, "-9"]})  # noqa: DTZ001
    levels = {"day": {"levels": [date(2024, 2, 1)], "other": "other"}}
    assert counts(rows, "day", levels, date_format="%d.%m.%Y") == [2, 2]
    bins = {"n": {"edges": [0, 1.75, 3], "missing": "none"}}
    assert counts(rows, "n", bins, decimal=",", null_values="-9,2") == [2, 0, 2]


def test_flags_a_file_and_a_manifest_say_the_same(tmp_path):
    (tmp_path / "rows.csv").write_text('cost;day\n"1.234,5";1.2.2024\nNA;-\n')
    (tmp_path / "domain.toml").write_text('[columns.day]\nlevels = [2024-02-01]\nmissing = "?"\nnull_values = ["-"]\n')
    out = tmp_path / "out.csv"
    asked = f"--by cost,day --bins cost=0,1000,2000 --missing cost=? --domain {tmp_path}/domain.toml --epsilon 400"
    text = "--delimiter ; --decimal , --thousands . --date-format %d.%m.%Y --null-values NA,x"
    command = ["release", f"{tmp_path}/rows.csv", *asked.split(), *text.split(), "--out", str(out)]
    ran = CliRunner().invoke(app, command, catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    assert [row["count"] for row in csv.DictReader(out.read_text().splitlines())] == ["0", "0", "1", "0", "0", "1"]
    manifest = json.loads((tmp_path / "out.manifest.json").read_text())
    request = TableRequest.from_dict(manifest["table"]["request"], ["day"])
    assert request.values.declared == {
        "decimal": ",",
        "thousands": ".",
        "date_format": "%d.%m.%Y",
        "null_values": ["NA", "x"],
    }
    assert request.column("day").text.null_values == ("-",)
    (tmp_path / "request.toml").write_text(request.to_toml())
    assert TableRequest.from_toml(tmp_path / "request.toml") == request
    shown = CliRunner().invoke(app, ["check", f"{tmp_path}/rows.csv", *asked.split(), *text.split(), "--json"])
    found = {column["name"]: column for column in json.loads(shown.output)["columns"]}
    assert [found["cost"][key] for key in ("nulls", "unmatched")] == [1, 0]
    assert [found["day"][key] for key in ("nulls", "unmatched")] == [1, 0]


def test_what_is_not_declared_is_not_in_a_manifest():
    request = TableRequest(by="a", goal=GOAL, domain={"a": [1, 2]}).to_dict()
    assert not {"decimal", "thousands", "date_format", "null_values"} & {*request["text"], *request["domain"]["a"]}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"decimal": ";"}, r"decimal = ';': must be ',' or '\.'"),
        ({"thousands": "_"}, "thousands = '_': must be"),
        ({"thousands": "."}, 'is also the decimal mark: pass `decimal=","`'),
        ({"decimal": ",", "thousands": ","}, "is also the decimal mark"),
        ({"date_format": "%d.%m"}, "must have %d, %m and %Y"),
        ({"date_format": "%d.%m.%Y %y"}, "must have %d, %m and %Y"),
        ({"date_format": "%d %b %Y"}, "has %b, which is not read"),
        ({"date_format": "%d.%m.%Y %H"}, "has %H and needs %M"),
        ({"date_format": "%d.%m.%Y %H:%M"}, "has a time of day, but the levels of 'a' are dates"),
        ({"date_format": "%d.%m.20%y"}, "must have no digits of its own"),
        ({"date_format": "%Y-%m-%dT%H:%M%z%S"}, "nothing after %z"),
        ({"null_values": 7}, "must be a list of words"),
        ({"null_values": ["a\0"]}, "printable"),
    ],
)
def test_what_cannot_be_read_is_refused_before_the_data_are_opened(given, said):
    with pytest.raises(ArgumentError, match=said):
        TableRequest(by="a", goal=GOAL, domain={"a": [date(2024, 1, 1)]}, **given)
    if "a time of day" not in said and "also" not in said:
        with pytest.raises(ArgumentError, match=f"{next(iter(given))} of 'a'"):
            Column(name="a", levels=["x"], **given)
