import json
import math
from collections import Counter
from datetime import date

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cases import examples
from tests.sources import zoo

import ggdp
from ggdp.cli.app import run
from ggdp.errors import ArgumentError
from ggdp.tables.source_check import NOTICE, check_table

VISITS = {
    "person": ["p1", "p1", "p1", "p2", "p3", None, "p4"],
    "ward": ["surgery", "surgery", "children", "Surgery", "eye, ear", "surgery", None],
    "age": ["34", "34", "34", "eighty", "150", "20", "64"],
}
WARDS = ["surgery", "children", "eye, ear", "births"]
ENGINES = {
    "pyarrow": pa.table,
    "polars": pl.DataFrame,
    "polars lazy": pl.LazyFrame,
    "pandas": lambda rows: pd.DataFrame(rows).astype("string"),
}


@pytest.fixture(params=[*ENGINES, "csv", "parquet"])
def visits(request, tmp_path):
    if request.param in ENGINES:
        return ENGINES[request.param](VISITS)
    file = tmp_path / f"visits.{request.param}"
    if request.param == "csv":
        pl.DataFrame(VISITS).write_csv(file)
    else:
        pq.write_table(pa.table(VISITS), file)
    return file


def test_every_engine_finds_the_same(visits):
    found = check_table(visits, [["ward"], ["age"]], {"ward": WARDS, "age": {"edges": [0, 18, 65, 120]}}, unit="person")
    ward, age = found.columns
    assert (found.rows, found.regime) == (7, "declared")
    assert (ward.rows, ward.nulls, ward.unmatched, ward.distinct_unmatched) == (7, 1, 1, 1)
    assert ward.most_frequent == (("Surgery", 1),)
    assert ward.unseen == ("births",)
    assert (age.nulls, age.unmatched, age.unparsable, age.distinct_unmatched) == (0, 2, 1, 2)
    assert age.most_frequent == (("150", 1), ("eighty", 1))
    assert [(table.by, table.cells, table.filled, table.rows) for table in found.marginals] == [
        (("ward",), 4, 3, 5),
        (("age",), 3, 1, 5),
    ]
    assert (found.units.units, found.units.null_rows) == (4, 1)
    by_ward, by_age = found.units.tables
    # p1 is in two wards, p2 in none that is declared, p3 in one, p4 in none.
    assert by_ward["quantiles"] == {"0.5": 0, "0.75": 1, "0.9": 2, "0.95": 2, "0.99": 2, "1": 2}
    assert [(choice["max_cells"], choice["kept"]) for choice in by_ward["choices"]] == [(1, 2 / 3), (2, 1.0)]
    assert [(choice["max_cells"], choice["kept"]) for choice in by_age["choices"]] == [(1, 1.0)]


def test_the_noise_beside_a_bound_is_that_of_the_release():
    rows = pa.table({"who": [1, 1, 1, 2], "k": ["a", "b", "c", "a"], "l": ["x"] * 4})
    domain = {"k": ["a", "b", "c"], "l": ["x", "y"]}
    found = check_table(rows, [["k"], ["l"]], domain, unit="who")
    for choice in found.units.tables[0]["choices"]:
        release = ggdp.release_table(
            rows, [["k"], ["l"]], ggdp.PureDP(1.0), domain, unit="who", max_cells=choice["max_cells"], order=1
        )
        table = release.tables[0]
        assert (table.upper - table.lower == 2 * choice["plus_minus"]).all()


def test_a_good_number_of_cells_is_named_by_its_rule_and_the_noise_is_for_the_epsilon_asked_about():
    # 400 units in all of three wards, and 100 in one of them.
    rows = pa.table(
        {"who": [k for k in range(400) for _ in "abc"] + list(range(400, 500)), "k": list("abc") * 400 + ["a"] * 100}
    )
    (table,) = check_table(rows, "k", {"k": ["a", "b", "c"]}, unit="who").units.tables
    assert [(c["max_cells"], c["units_cut"], c["plus_minus"]) for c in table["choices"]] == [
        (1, 400, 3),
        (2, 400, 6),
        (3, 0, 9),
    ]
    assert [c["cut"] for c in table["choices"]] == [pytest.approx(800 / 3), pytest.approx(400 / 3), 0.0]
    sums = {c["max_cells"]: c["plus_minus"] + c["cut"] for c in table["choices"]}
    assert table["recommended"] == min(sums, key=sums.__getitem__) == 3
    assert table["row_quantiles"]["1"] == 1
    # With so little epsilon the noise of three cells is worse than what is cut.
    (little,) = check_table(rows, "k", {"k": ["a", "b", "c"]}, unit="who", epsilon=0.01).units.tables
    assert little["recommended"] == 1
    # It is checked before a file is opened, whatever is asked for.
    with pytest.raises(ArgumentError, match="epsilon"):
        check_table("missing.csv", epsilon=0)


@pytest.mark.parametrize(("engine", "by"), zoo.on_engines(["town", None]))
def test_sums_of_units_that_would_be_clamped_are_counted(engine, by):
    rows = [("p", "a", 60), ("p", "a", 60), ("p", "b", 60), ("q", "a", -90), ("r", "b", 500), ("s", "b", None)]
    rows += [(None, "a", 700)]
    who, town, pay = zip(*rows, strict=True)
    data = zoo.ENGINES[engine](pa.table({"who": who, "town": town, "pay": pay}))
    domain = {"town": ["a", "b"], "pay": {"range": [-50, 100], "step": 1}}
    statistics = [ggdp.Mean("pay"), ggdp.Sum("pay")]
    (found,) = check_table(data, by, domain, unit="who", statistics=statistics).ranges
    # Rows come first: those of r are 100 and no more.
    assert (found.below, found.above) == (1, 2)
    assert (found.totals_below, found.totals_above) == (1, 1)
    (rows_only,) = check_table(data, by, domain, unit="who", statistics=[ggdp.Mean("pay")]).ranges
    assert rows_only.totals_below is rows_only.totals_above is None
    (summed,) = check_table(data, by, domain, unit="who", statistics=[ggdp.Mean("pay")], per_unit="sum").ranges
    assert (summed.totals_below, summed.totals_above) == (1, 1)
    (largest,) = check_table(data, by, domain, unit="who", statistics=statistics, per_unit="max").ranges
    assert largest.totals_below is largest.totals_above is None


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--by", "pay", "--unit", "who", "--per-unit", "sum"], "--per-unit = 'sum': needs --mean"),
        (["--sum", "pay", "--range", "pay=0:9", "--per-unit", "sum"], "--per-unit = 'sum': needs --unit COL"),
    ],
)
def test_a_rule_for_units_needs_units_and_statistics_as_in_a_release(tmp_path, capsys, typed, said):
    pq.write_table(pa.table({"who": ["a", "b"], "pay": [1, 2]}), tmp_path / "pay.parquet")
    assert run(["check", str(tmp_path / "pay.parquet"), *typed]) == 1
    assert said in capsys.readouterr().err


def test_check_counts_the_sums_that_the_rule_of_the_release_would_clamp(tmp_path, capsys):
    pq.write_table(pa.table({"who": ["a", "a", "b"], "pay": [60, 60, 2]}), tmp_path / "pay.parquet")
    typed = ["check", str(tmp_path / "pay.parquet"), "--mean", "pay", "--range", "pay=0:100", "--unit", "who"]
    for rule, counted in (([], None), (["--per-unit", "sum"], (0, 1)), (["--per-unit", "mean"], None)):
        assert run([*typed, *rule, "--json"]) == 0
        (found,) = json.loads(capsys.readouterr().out)["ranges"]
        assert (found["totals_below"], found["totals_above"]) == (counted or (None, None))


def test_statistics_of_all_rows_have_no_table_of_cells(tmp_path, capsys):
    pq.write_table(pa.table({"who": ["a", "b"], "pay": [1, 2]}), tmp_path / "pay.parquet")
    typed = ["check", str(tmp_path / "pay.parquet"), "--sum", "pay", "--range", "pay=0:100", "--unit", "who"]
    assert run(typed) == 0
    printed = capsys.readouterr().out
    assert "with rows in them" not in printed
    assert "cells of a unit in the whole table" in printed
    assert "sums of a unit in a cell above the range, clamped" in printed


def test_rows_in_cells_that_cannot_occur_are_counted_headers_in_errors():
    domain = ggdp.Domain({"sex": ["f", "m"], "ward": ["births", "eyes"]}, impossible=[{"sex": "m", "ward": "births"}])
    rows = pa.table({"sex": ["f", "m", "m", None], "ward": ["births", "births", "eyes", "eyes"]})
    (table,) = check_table(rows, [["sex", "ward"]], domain).marginals
    assert (table.cells, table.filled, table.rows, table.impossible_rows) == (3, 2, 2, 1)


def test_what_is_declared_for_others_and_nulls_needs_no_advice():
    rows = pa.table({"k": ["a", "b", None]})
    bare = check_table(rows, "k", {"k": ["a"]}).columns[0]
    assert [advice.split(":")[0] for advice in bare.advice] == [
        "rows that match no level would not be counted",
        "a level seen only in the data must not be declared",
        "rows without a value would not be counted",
    ]
    full = check_table(rows, "k", {"k": {"levels": ["a"], "other": "other", "missing": "none"}}).columns[0]
    assert (full.unmatched, full.nulls) == (1, 1)
    assert full.advice == ("a level seen only in the data must not be declared: take levels from a code book",)
    clean = check_table(rows, "k", {"k": ["a", "b"]}).columns[0]
    assert len(clean.advice) == 1


def test_open_columns_are_counted_and_said_to_need_delta():
    found = check_table(pa.table({"k": ["a", "b", "b", None]}), "k")
    (column,) = found.columns
    assert (found.regime, column.declared, column.rows, column.nulls, column.distinct_unmatched) == (
        "open",
        "open",
        4,
        1,
        2,
    )
    assert found.marginals[0].cells is None
    assert (found.marginals[0].filled, found.marginals[0].rows) == (2, 3)
    assert "needs a delta" in column.advice[0]


@pytest.mark.parametrize(
    ("values", "levels", "unmatched", "unseen"),
    [
        (pa.array(["1", "01", "+2", "3.0", "x", "4"]), [1, 2, 3, 9], {"x": 1, "4": 1}, (9,)),
        (pa.array([1, 2, 2, 7]), [1, 2], {"7": 1}, ()),
        (pa.array(["TRUE", "false", "yes"]), [True, False], {"yes": 1}, ()),
        (pa.array([date(2024, 1, 1), date(2024, 1, 2)]), [date(2024, 1, 1)], {"2024-01-02": 1}, ()),
        (pa.array([2**60 + 1, 2**60]), [2**60], {str(2**60 + 1): 1}, ()),
    ],
    ids=["integers in text", "integers", "booleans in text", "dates", "beyond 2^53"],
)
def test_values_are_matched_as_a_release_matches_them(values, levels, unmatched, unseen):
    (column,) = check_table(pa.table({"k": values}), "k", {"k": levels}).columns
    assert dict(column.most_frequent) == unmatched
    assert column.unmatched == sum(unmatched.values())
    assert column.unseen == unseen


def test_floats_cannot_be_listed_but_are_counted():
    (column,) = check_table(pa.table({"x": [0.5, 1.5, math.nan, -3.0]}), "x", {"x": {"edges": [0, 1, 2]}}).columns
    assert (column.nulls, column.unmatched, column.unparsable, column.distinct_unmatched) == (1, 1, 0, None)
    assert column.most_frequent == ()


def test_a_source_without_rows_is_no_error():
    found = check_table(
        pa.table({"k": pa.array([], pa.string()), "u": pa.array([], pa.string())}), "k", {"k": ["a"]}, unit="u"
    )
    assert (found.rows, found.marginals[0].filled, found.units.units) == (0, 0, 0)
    assert found.units.tables[0]["choices"][0]["kept"] == 1.0


def test_a_domain_too_large_to_list_is_called_sparse():
    levels = [f"level {k}" for k in range(1000)]
    rows = pa.table({name: ["level 1", "level 2"] for name in "abcd"})
    found = check_table(rows, list("abcd"), dict.fromkeys("abcd", levels))
    assert (found.regime, found.marginals[0].cells, found.marginals[0].filled) == ("sparse", 10**12, 2)


def test_wrong_requests_are_refused_as_by_a_release():
    rows = pa.table({"k": ["a"]})
    with pytest.raises(ArgumentError, match="by = "):
        check_table(rows, [], {"k": ["a"]})
    with pytest.raises(ArgumentError, match="nothing"):
        check_table(rows, "nothing", {"k": ["a"]})


def test_the_warning_comes_first_in_json():
    found = check_table(pa.table({"k": [date(2024, 1, 1)]}), "k", {"k": [date(2024, 1, 2)]}).to_dict()
    assert next(iter(found)) == "notice"
    assert found["notice"] == NOTICE
    assert NOTICE.startswith("NOT PRIVATE")
    assert json.loads(json.dumps(found))["columns"][0]["unseen"] == ["2024-01-02"]


@settings(deadline=None, max_examples=examples(15, 30))
@given(
    st.lists(st.tuples(st.sampled_from([None, 1, 2, 3, 4]), st.sampled_from([None, "a", "b", "c", "?"])), max_size=30)
)
def test_units_and_their_cells_are_those_of_a_plain_count(rows):
    table = pa.table(
        {"u": pa.array([u for u, _ in rows], pa.int64()), "k": pa.array([k for _, k in rows], pa.string())}
    )
    found = check_table(table, "k", {"k": ["a", "b", "c"]}, unit="u")
    units = {u for u, _ in rows if u is not None}
    pairs = {(u, k) for u, k in rows if u is not None and k in ("a", "b", "c")}
    cells = [Counter(u for u, _ in pairs)[unit] for unit in units]
    assert (found.units.units, found.units.null_rows) == (len(units), sum(u is None for u, _ in rows))
    quantiles, choices = (found.units.tables[0][name] for name in ("quantiles", "choices"))
    assert quantiles["1"] == max(cells, default=0)
    assert sum(c <= quantiles["0.5"] for c in cells) >= len(cells) / 2
    assert sum(c >= quantiles["0.5"] for c in cells) >= len(cells) / 2
    for choice in choices:
        kept = sum(min(c, choice["max_cells"]) for c in cells)
        assert choice["kept"] == (kept / len(pairs) if pairs else 1.0)
    assert choices[-1]["kept"] == 1.0


@pytest.mark.parametrize(
    ("others", "said"), [(1, "1 record is not a JSON object and counts as a row"), (2, "2 records")]
)
def test_records_that_are_not_json_objects_are_counted(tmp_path, others, said):
    file = tmp_path / "people.jsonl"
    file.write_bytes(b'{"a": "x"}\n\n{"a": null}\n' + b'[{"a": "x"}, {"a": "y"}]\n' * others + b'{"a": "\xff"}\n')
    text = check_table(file, "a", {"a": ["x"]}).text
    assert (text.records, text.invalid, text.not_objects) == (3 + others, 1, others)
    assert said in text.advice[1]
    assert text.advice[1].endswith(" without values; write one object per line")
    file.write_text('{"a": "x"}\n')
    text = check_table(file, "a", {"a": ["x"]}, strict_lines=True).text
    assert (text.records, text.not_objects, text.advice) == (1, 0, ())


RECOMMENDED = "declare strict lines"


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("t.csv", b'a,b\nx,1\nx,"2, ""3"""\n\n'),
        ("t.csv", b"a,b\r\nx,1\r\nx,2"),
        ("t.csv", b"a,b\rx,1\r"),
        ("t.csv", b'a,b\nx,\xff\nx,"unbalanced'),
        ("t.tsv", b"a\tb\nx\t1\n"),
        ("t.jsonl", b'{"a": "x"}\r\n\r\n{"a": "\\n"}\n'),
    ],
)
def test_strict_lines_are_recommended_where_each_record_is_a_line(tmp_path, name, data):
    (tmp_path / name).write_bytes(data)
    found = check_table(tmp_path / name, "a", {"a": ["x"]})
    assert RECOMMENDED in found.text.advice[-1]
    assert found.text.with_line_ends == 0
    strict = check_table(tmp_path / name, "a", {"a": ["x"]}, strict_lines=True)
    assert (strict.rows, strict.text.records) == (found.rows, found.text.records)
    assert not any("strict lines" in advice for advice in strict.text.advice)


@pytest.mark.parametrize(
    ("name", "data", "number"),
    [
        ("t.csv", b'a,b\nx,"1\n2"\nx,"3\r4"\nx,5\n', 2),
        ("t.csv", b"a,b\nx,1\r\nx,2\n", 1),
        ("t.csv", b'a,b\nx,"\xff\n2"\n', 1),
        ("t.csv", b'a,b\nx,1,2,3,"4\n"\n', 1),
        ("t.csv", b'a,b\n\r\nx,"1\n2"\n', 2),
        ("t.jsonl", b'{"a":\r"x"}\n{"a": "x"}\r{"a": "x"}\n{"a": "x"}\n', 2),
    ],
)
def test_where_records_contain_line_ends_their_number_is_told(tmp_path, name, data, number):
    (tmp_path / name).write_bytes(data)
    text = check_table(tmp_path / name, "a", {"a": ["x"]}).text
    assert text.with_line_ends == number
    assert text.advice[-1].startswith(f"{number} record{'s' * (number > 1)} contain{'s' * (number == 1)} line ends;")
    assert not any(RECOMMENDED in advice for advice in text.advice)


def test_what_strict_lines_would_leave_out_or_split_is_told(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"a\nx\n\nx\n")
    advice = check_table(tmp_path / "t.csv", "a", {"a": ["x"]}).text.advice
    assert "blank lines are records of this file" in advice[-1]
    (tmp_path / "t.csv").write_bytes(b'a,b\nx,"1\n2"\nx,3\n')
    text = check_table(tmp_path / "t.csv", "a", {"a": ["x"]}, strict_lines=True).text
    assert text.records == 3
    assert "there would be 2 records" in text.advice[-1]
