# ruff: noqa: DTZ001 - times without a zone are what is tested
"""Filtered rows: every engine keeps the same ones, and does so before anything is counted or bounded."""

from __future__ import annotations

from datetime import date, datetime

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.sources.zoo import ENGINES, KEY

import ggdp
from ggdp.domain.filters import parse_filter
from ggdp.domain.table_domain import Domain
from ggdp.errors import ArgumentError
from ggdp.sources.query import CountQuery, open_source
from ggdp.sources.row_filter import like_pattern

NAN, INF = float("nan"), float("inf")
ROWS = pa.table(
    {
        "id": [str(place) for place in range(7)],
        "n": pa.array([1, 2, None, 18, -3, 2**62, 7], pa.int64()),
        "f": [1.5, NAN, None, 18.0, -1.0, INF, 2.0],
        "w": ["births", "test", None, "a%b", "18", "", "Births\nx"],
        "d": [date(2024, 1, 1), date(2023, 12, 31), None, date(2024, 2, 29), date(1, 1, 1), date.max, date(2000, 5, 7)],
        "t": pa.array(
            [
                *(datetime(2024, 1, 1), datetime(2024, 1, 1, 10, 30), None, datetime(2023, 12, 31, 23, 59, 59, 999999)),
                *(datetime(1999, 1, 1), datetime(9999, 12, 31), datetime(1, 1, 1)),
            ],
            pa.timestamp("us"),
        ),
        "b": [True, False, None, True, False, True, False],
        "s": ["2024-01-01", "2024-01-01T00:00", "x", "2024-01-01 10:30:00", None, "2023-02-30", "1999-12-31"],
    }
)
KEPT = {
    "n >= 2": "1356",
    "not n >= 2": "04",
    "n <> 1.0": "13456",
    "n not in (1, 18)": "1456",
    "n like '1%'": "03",
    "f > 1": "0356",
    "not f > 1": "4",
    "f is null": "12",
    "f = '18'": "3",
    "w = 18": "4",
    "w like '%i%'": "06",
    "w like 'b_rths'": "0",
    "w like 'irth'": "",
    "w not like 'b%'": "13456",
    "w like 'B%x'": "6",
    "w < 'b'": "3456",
    "d = date '2024-01-01'": "0",
    "d > date '2024-01-01'": "35",
    "year(d) in (1, 9999)": "45",
    "year(d) <= 2023": "146",
    "month(d) = 12": "15",
    "weekday(d) >= 5": "156",
    "t <= date '2024-01-01'": "0346",
    "t between timestamp '2023-12-31 23:59:59.999999' and timestamp '2024-01-01 10:30'": "013",
    "b <> true": "146",
    "b = 'true'": "035",
    "b = 1": "",
    "s = date '2024-01-01'": "01",
    "s <> date '2024-01-01'": "36",
    "s <= timestamp '2024-01-01 10:30'": "0136",
    "(n > 1 or w = 'births') and (f is null or not b = true)": "16",
}


def kept(data, where, **options):
    query = CountQuery(marginals=(Domain([ggdp.domain.column.Column(name="id")]),))
    with open_source(data, columns=["id"], where=parse_filter(where), **options) as source:
        return "".join(source.keys(query)[0]["id"].to_pylist())


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_keeps_the_same_rows(engine):
    data = ENGINES[engine](ROWS)
    assert {where: kept(data, where) for where in KEPT} == KEPT


def test_python_values_and_texts_are_read_as_the_typed_ones(tmp_path):
    objects = pd.DataFrame({name: pd.Series(ROWS[name].to_pylist(), dtype=object) for name in ROWS.column_names})
    texts = pd.DataFrame({name: objects[name].astype("category") for name in ("id", "n", "w", "b", "s")})
    for where, right in KEPT.items():
        assert kept(objects, where) == right, where
        if not any(f"{name} " in where or f"({name})" in where for name in "fdt"):
            assert kept(texts, where) == right, where
    objects.drop(columns=["f", "w", "t"]).to_csv(tmp_path / "rows.csv", index=False)
    # pandas writes True, which is another text.
    for where in KEPT.keys() - {"b = 'true'"}:
        if not any(f"{name} " in where or f"({name})" in where for name in "fwt"):
            assert kept(tmp_path / "rows.csv", where) == KEPT[where], where


def test_invalid_text_is_null_whether_its_column_is_counted_or_not(tmp_path):
    raw = pa.array([b"a", b"caf\xe9", b"b"], pa.binary())
    pq.write_table(pa.table({"w": raw.view(pa.string()), "k": ["x", "x", "x"]}), tmp_path / "rows.parquet")
    for where, right in {"w <> 'a'": 1, "not w like 'a%'": 1, "w is null": 1, "w is not null": 2}.items():
        for columns in (["k"], ["k", "w"]):
            declared = {"k": ["x"], "w": {"levels": ["a", "b"], "other": "o", "missing": "m"}}
            marginal = Domain({name: declared[name] for name in columns})
            with open_source(tmp_path / "rows.parquet", columns=columns, where=parse_filter(where)) as source:
                assert source.count(CountQuery(marginals=(marginal,)))[0].counts.sum() == right


@pytest.mark.parametrize("engine", ENGINES)
def test_rows_are_left_out_before_the_cells_of_units_are_chosen(engine):
    # Of each unit nine cells are left out, and one is counted, whatever the secret is.
    rows = pa.table({"who": [f"u{k // 10}" for k in range(200)], "c": [k % 10 for k in range(200)]})
    query = CountQuery(marginals=(Domain({"c": list(range(10))}),), unit="who", max_cells=1, key=KEY)
    with open_source(ENGINES[engine](rows), columns=["who", "c"], where=parse_filter("c = 3")) as source:
        ((cells, counts),) = source.count(query)
    assert (cells.tolist(), counts.tolist()) == ([3], [20])


def test_files_that_are_counted_from_dictionaries_are_filtered(tmp_path):
    pq.write_table(pa.table({"w": ["a", "b"] * 50, "n": list(range(100))}), tmp_path / "rows.parquet")
    with open_source(tmp_path / "rows.parquet", columns=["w"], where=parse_filter("n < 10 and w = 'a'")) as source:
        ((cells, counts),) = source.count(CountQuery(marginals=(Domain({"w": ["a", "b"]}),)))
    assert (cells.tolist(), counts.tolist()) == ([0], [5])


@pytest.mark.parametrize(
    ("where", "said"), [("t = 1", "datetime"), ("d = 1", "date"), ("t = 'x'", "datetime"), ("month(t) = 1", "datetime")]
)
def test_a_column_without_the_reading_is_refused_by_its_type(where, said):
    with (
        open_source(ROWS.slice(0, 0), columns=["id"], where=parse_filter(where)) as source,
        pytest.raises(ArgumentError, match=f"where.*column of kind {said}"),
    ):
        source.count(CountQuery(marginals=(Domain({"id": ["1"]}),)))


def test_an_unknown_column_is_refused_before_the_charge(tmp_path):
    ledger = ggdp.Ledger.create(tmp_path / "a.ledger", ggdp.PureDP(3.0))
    for where in ("nosuch = 1", "t = 1"):
        with pytest.raises(ArgumentError, match=r"where = .*(nosuch|kind datetime)"):
            ggdp.release_table(ROWS, "w", ggdp.PureDP(1.0), {"w": ["a"]}, where=where, ledger=ledger)
    assert not ledger.entries()


def test_manifest_and_statement_say_which_rows_are_counted():
    release = ggdp.release_table(ROWS, "w", ggdp.PureDP(1.0), {"w": ["births"]}, where="n >= 2 and w <> 'x'")
    assert "Only rows with n >= 2 and w <> 'x' are counted." in release.manifest["statement"]
    assert release.manifest["table"]["request"]["where"] == "n >= 2 and w <> 'x'"
    assert ggdp.check_table(ROWS, "w", {"w": ["births"]}, where="n >= 2").rows == 4


def test_bins_of_python_values_have_statistics():
    values = pd.DataFrame({"a": pd.Series([1, 2, None, "x"], dtype=object)})
    domain = {"a": {"edges": [0, 1, 5], "range": [0, 5], "step": 1}}
    ggdp.release_table(values, "a", ggdp.PureDP(1.0), domain, statistics=[ggdp.Mean("a")], where="a >= 1")


def test_a_pattern_matches_whole_texts_in_linear_time():
    assert like_pattern("a.%b_%%c", tries_all_ways=False) == r"(?s)^a\x2e.*b..*c\z"
    assert like_pattern("a%b_%c", tries_all_ways=True) == r"(?s)^a(?>.*?b.).*c\z"


# Times with zones: text with a zone after the time, and time stamps of a time zone, of which the instant is compared.
ZONED = pa.table(
    {
        "id": [str(place) for place in range(7)],
        "s": [
            *("2024-01-01T00:30+01:00", "2023-12-31T23:30-01:00", "2024-01-01T00:00Z", "2024-01-01 00:00", "x", None),
            "9999-12-31T23:30-01:00",
        ],
        "t": pa.array(
            [
                *(datetime(2023, 12, 31, 23, 30), datetime(2024, 1, 1, 0, 30), datetime(2024, 1, 1)),
                *(datetime(1970, 1, 1), None, datetime(2024, 6, 30, 12), datetime(2024, 12, 31, 23, 59, 59)),
            ],
            pa.timestamp("us", "Europe/Berlin"),
        ),
    }
)
KEPT_ZONED = {
    "s >= date '2024-01-01'": "123",
    "s = date '2024-01-01'": "23",
    "s < timestamp '2024-01-01 00:00'": "0",
    "not s < timestamp '2024-01-01 00:30'": "1",
    "year(s) = 2023": "0",
    "month(s) = 1 and weekday(s) = 1": "123",
    "s is null": "5",
    "t >= date '2024-01-01'": "1256",
    "t in (date '2024-01-01', timestamp '2023-12-31 23:30')": "02",
    "t between timestamp '2023-12-31 23:30' and timestamp '2024-01-01 00:30'": "012",
    "year(t) = 2024": "1256",
    "year(t) <> 2024": "03",
    "t is not null": "012356",
}


@pytest.mark.parametrize("engine", ENGINES)
def test_times_with_zones_are_compared_in_utc(engine):
    data = ENGINES[engine](ZONED)
    assert {where: kept(data, where) for where in KEPT_ZONED} == KEPT_ZONED
