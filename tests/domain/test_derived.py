"""Derived columns as they are declared: expressions in one spelling, look-ups, and what is refused before any data."""

from __future__ import annotations

import pytest

import ggdp
from ggdp.domain.filters import filter_text, parse_expression
from ggdp.domain.table_domain import Domain
from ggdp.errors import ArgumentError

PLACES = "plz,region\n01067,Sachsen\n1067,none\n20095,Hamburg\n20099,Hamburg\n"


@pytest.fixture(autouse=True)
def _in_a_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "places.csv").write_text(PLACES, "utf-8")


@pytest.mark.parametrize(
    ("expression", "text", "labels"),
    [
        ("weight/(height*height)", "weight / (height * height)", ()),
        ("(A + b) + c - (d - -1)", "((A + b) + c) - (d - -1)", ()),
        ("-a", "0 - a", ()),
        ("Weekday(d)", "weekday(d)", tuple(range(1, 8))),
        ('year(d) * 12 + MONTH("d 2")', '(year(d) * 12) + month("d 2")', ()),
        ("CASE WHEN age<18 THEN 'child' ELSE 'it''s' END", None, ("child", "it's")),
        ("case when age < 18 then 1 when age < 65 then 2 end", None, (1, 2)),
        ("not (a = 1 or b is null)", "a <> 1 and b is not null", (False, True)),
        ("coalesce(a, null, false)", "coalesce(a, null, false)", ()),
        ("upper(trim(ward))", "upper(trim(ward))", ()),
        ("case when a - b > 2.5 then (c = 'x') else true end", None, None),
    ],
)
def test_an_expression_is_said_again_in_one_spelling_and_names_its_levels(expression, text, labels):
    column = Domain({"z": {"expression": expression}})["z"]
    assert Domain({"z": {"expression": column.expression}})["z"] == column
    assert column.expression == (column.expression if text is None else text)
    assert labels is None or column.labels == labels


def test_a_filter_takes_expressions():
    assert filter_text("3 < (a - b) and not lower(w) = 'x'") == "a - b > 3 and lower(w) <> 'x'"


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("abs(a)", r"ABS\(a\) \(character 1\): an expression may be made of"),
        ("a % 2", "an expression may be made of"),
        ("a || b", "an expression may be made of"),
        ("round(a, 1)", "an expression may be made of"),
        ("a ^ 2", "an expression may be made of"),
        ("cast(a as int)", "must be a value"),
        ("now()", "an expression may be made of"),
        ("sum(a)", "an expression may be made of"),
        ("(select a)", "an expression may be made of"),
        ("case a when 1 then 2 end", "an expression may be made of"),
        ("trim(both 'x' from a)", "an expression may be made of"),
        ("a over ()", "cannot be read|an expression may be made of"),
        ("lower(a) + 1", "is a text, and a number is needed"),
        ("lower(1)", "is a number, and a text is needed"),
        ("coalesce(a, 1, 'x')", "has values of several kinds"),
        ("case when a = 1 then 1 else 'x' end", "has values of several kinds"),
        ("case when a = 1 then date '2024-01-01' end", "write dates as text"),
        ("lower(a) > 1", "is a text, and a number is needed"),
        ("a > b", "write a - b > 0"),
        ("year(a + 1)", "must be a column of the data"),
        ("1 + 1", "must name a column"),
        ("a +", "cannot be read"),
        ("a + 9007199254740993", "at most 2\\^53"),
        (" + ".join(["a"] * 201), "at most 200 columns"),
        ("-(" * 40 + "a" + ")" * 40, "nested"),
        ("", "must be an expression as text"),
        (3, "must be an expression as text"),
    ],
)
def test_what_is_not_total_or_not_the_same_everywhere_is_refused_by_name(expression, said):
    with pytest.raises(ArgumentError, match=said) as refused:
        Domain({"z": {"expression": expression}})
    assert refused.value.argument == "expression of 'z'"


def test_a_sum_may_have_many_terms():
    expression = " + ".join(f"q{item}" for item in range(100))
    assert str(parse_expression("x", expression, "text")) == expression


@pytest.mark.parametrize("columns", [{"a": "a + 1"}, {"a": "b * 2", "b": "lower(c)", "c": "trim(a)"}])
def test_a_column_is_not_computed_from_itself(columns):
    with pytest.raises(ArgumentError, match=r"is computed from itself \(.*a.*\); give one another name"):
        Domain({name: {"expression": expression} for name, expression in columns.items()})


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"expression": "a + 1", "lookup": "places.csv", "key": "plz"}, "declare either of them"),
        ({"levels": ["x"], "key": "plz"}, "needs a lookup"),
        ({"lookup": "places.csv"}, "must be the column of the data"),
        ({"lookup": "nowhere.csv", "key": "plz"}, "cannot be read"),
        ({"lookup": 3, "key": "plz"}, "must be the path"),
    ],
)
def test_what_does_not_go_together_is_refused(declared, said):
    with pytest.raises(ArgumentError, match=said):
        Domain({"region": declared})


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (PLACES + "01067,Thüringen\n", "has the key '01067' again in line 6.*keys must be unique"),
        (PLACES + ",Bayern\n", "has an empty key in line 6"),
        (PLACES + "80331,Bayern,München\n", "has 3 fields in line 6 where its header has 2"),
        ("a,b,c\n1,2,3\n", "must have two columns, or a header with a column 'plz' and a column 'region'"),
        ("plz,region\n1,\n", "has no values"),
        ("plz\n", "must have two columns"),
        ("", "must have two columns"),
        ('plz,region\n1,"x\n', "is not a CSV file"),
        ("plz,region\n1,Th\xfcringen\n".encode("latin-1"), "is not UTF-8"),
    ],
)
def test_a_look_up_whose_keys_are_not_unique_or_that_is_no_table_is_refused(tmp_path, text, said):
    (tmp_path / "places.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ArgumentError, match=said) as refused:
        Domain({"region": {"lookup": "places.csv", "key": "plz"}})
    assert refused.value.argument == "lookup of 'region'"


def test_a_look_up_has_its_values_as_levels_unless_others_are_declared(tmp_path):
    (tmp_path / "domain.toml").write_text(
        '[columns.region]\nlookup = "places.csv"\nkey = "plz"\nother = "abroad"\n'
        '[columns.few]\nlookup = "places.csv"\nkey = "plz"\nlevels = ["Hamburg"]\n',
        "utf-8",
    )
    domain = Domain.from_toml(tmp_path / "domain.toml")
    assert domain["region"].labels == ("Sachsen", "none", "Hamburg", "abroad")
    assert domain["few"].labels == ("Hamburg",)
    assert domain["region"].to_dict()["lookup"].keys() == {"file", "sha256"}


def test_the_unit_is_not_derived():
    with pytest.raises(ArgumentError, match="is a derived column; name a column of the data"):
        ggdp.plan_table("w", 1.0, {"w": ["a"], "who": {"expression": "lower(w)"}}, unit="who", max_cells=1)
