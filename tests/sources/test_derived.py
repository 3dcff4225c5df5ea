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
        "d": [
            *(date(2024, 1, 1), date(2023, 12, 31), None, date(2024, 2, 29), date(1, 1, 1)),
            *(date.max, date(2000, 3, 1), date(1970, 1, 1)),
        ],
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


def test_a_row_has_the_same_quotient_whatever_other_rows_there_are():
    # Polars multiplies by the inverse of a constant where there are several rows, and 49 times that of 49 is not 1.
    made = derived(("z", {"expression": "f / 49 = 1"}), ("y", {"expression": "49 / f"}))
    for engine, data in ENGINES.items():
        for rows in (1, 2, 3, 1000):
            table = pa.table({"id": ["7"] * rows, "f": [49.0] * rows})
            for place, right in (("z", "true"), ("y", "1")):
                found = values(data(table), made, place)
                assert found == [None] * 7 + [right], (engine, rows)


def test_python_values_and_files_are_computed_as_the_typed_ones(tmp_path):
    objects = pd.DataFrame({name: pd.Series(ROWS[name].to_pylist(), dtype=object) for name in ROWS.column_names})
    for said, right in VALUES.items():
        assert values(objects, derived(("z", {"expression": said}))) == right, said
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    for said in ("n / 49", "month(d)", "coalesce(b, false)", "upper(trim(w))"):
        assert values(tmp_path / "rows.parquet", derived(("z", {"expression": said}))) == VALUES[said], said


LOOKUP = 'p,area,state\n01067,Dresden,Sachsen\n1067,"a,b",none\n20095,,Hamburg\né,Ä,none\n'
AREAS = ["Dresden", "a,b", None, None, None, None, "Ä", None]


def looked_up(folder, text=LOOKUP, name="area"):
    (folder / "areas.csv").write_text(text, "utf-8")
    return derived((name, {"lookup": folder / "areas.csv", "key": "p"}))


@pytest.mark.parametrize("engine", ENGINES)
def test_keys_are_looked_up_as_they_are_written(engine, tmp_path):
    assert values(ENGINES[engine](ROWS), looked_up(tmp_path), "area") == AREAS
    # Numbers have the text of their digits.
    found = values(ENGINES[engine](ROWS), derived(("z", {"expression": "n"})) + numbers(tmp_path), "size")
    assert found == ["one", None, None, None, None, None, None, "many"]


def numbers(folder):
    (folder / "numbers.csv").write_text("\ufeffz;size\r\n1;one\r\n049;wrong\r\n\r\n49;many\r\n", "utf-8")
    return derived(("size", {"lookup": folder / "numbers.csv", "key": "z"}))


def test_a_look_up_of_many_keys_neither_drops_nor_repeats_rows(tmp_path):
    keys = [f"k{place}" for place in range(100_000)]
    (tmp_path / "many.csv").write_text("k,v\n" + "".join(f"{key},v{key[-1]}\n" for key in keys), "utf-8")
    rows = pa.table({"k": [*keys[::7], "none", None, keys[0]]})
    column = {"lookup": tmp_path / "many.csv", "key": "k", "other": "other", "missing": "missing"}
    domain = Domain({"v": column})
    assert domain["v"].labels[:10] == tuple(f"v{digit}" for digit in range(10))
    for engine, data in ENGINES.items():
        with open_source(data(rows), columns=["v"], derived=derived(("v", column))) as source:
            ((_, counts),) = source.count(CountQuery(marginals=(domain,)))
        assert counts.sum() == rows.num_rows, engine
        assert counts.tolist()[-1] == 2, engine


def test_derived_columns_are_filtered_measured_and_counted_within_units():
    rows = pa.table({"who": [f"u{k // 10}" for k in range(200)], "c": [k % 10 for k in range(200)]})
    made = derived(("half", {"expression": "c / 2"}), ("is_odd", {"expression": "half = 1.5"}))
    query = CountQuery(marginals=(Domain({"is_odd": [False, True]}),), unit="who", max_cells=1, key=KEY)
    for engine, data in ENGINES.items():
        asked = {"columns": ["who", "is_odd"], "derived": made, "where": parse_filter("half >= 1.5 and c < 4")}
        with open_source(data(rows), **asked) as source:
            ((cells, counts),) = source.count(query)
        assert (cells.tolist(), counts.tolist()) == ([1], [20]), engine


def test_text_is_read_as_its_own_column_declares():
    rows = pa.table({"id": ["0", "1"], "a": ["1.234,5", "NA"], "d": ["02.03.2024", "NA"]})
    text = TextValues(decimal=",", thousands=".", date_format="%d.%m.%Y", null_values=("NA",))
    made = derived(("z", {"expression": "a * 2 + month(d)"}), ("y", {"expression": "a is null"}), text=text)
    assert values(rows, made)[:2] == ["2472", None]
    assert values(rows, made, "y")[:2] == ["false", "true"]


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"a": {"expression": "nosuch + 1"}}, r"expression of 'a'.*nosuch"),
        ({"a": {"lookup": "x.csv", "key": "nosuch"}}, r"key of 'a' = 'nosuch'"),
        ({"a": {"expression": "d + 1"}}, r"expression of 'a'.*kind date and cannot be read as numbers"),
        ({"a": {"expression": "month(t)"}}, r"cannot be taken the month of: cast the column to dates"),
        ({"a": {"expression": "year(t) + 1"}}, r"cannot be taken the year of: cast the column to dates"),
        ({"a": {"lookup": "x.csv", "key": "t"}}, r"key of 'a' = 't': .* of kind datetime .* as text: cast the column"),
    ],
)
def test_a_column_that_cannot_be_read_is_refused_before_the_charge(tmp_path, monkeypatch, columns, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.csv").write_text("t,a\n1,b\n", "utf-8")
    ledger = ggdp.Ledger.create(tmp_path / "a.ledger", ggdp.PureDP(3.0))
    domain = {name: {**column, "levels": ["1"]} for name, column in columns.items()}
    with pytest.raises(ArgumentError, match=said):
        ggdp.release_table(ROWS, "a", ggdp.PureDP(1.0), domain, ledger=ledger)
    assert not ledger.entries()
    # The year of a time stamp can be compared.
    ggdp.release_table(ROWS, "a", ggdp.PureDP(1.0), {"a": {"expression": "year(t) = 2024"}}, ledger=ledger)
