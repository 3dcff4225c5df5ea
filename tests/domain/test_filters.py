"""Conditions on rows: what is read, in which words it is said again, and what is refused with its place."""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import suppress

import pytest

from ggdp import PureDP, plan_table
from ggdp.domain.filters import filter_text
from ggdp.errors import ArgumentError
from ggdp.tables import TableRequest


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("age >= 18 AND ward != 'test'", "age >= 18 and ward <> 'test'"),
        ("not (a in (1, -2.5) or b between 1 and 2)", "a not in (1, -2.5) and (b < 1 or b > 2)"),
        ("not a not like 'x%'", "a like 'x%'"),
        ("not a is null", "a is not null"),
        ("18 <= age", "age >= 18"),
        ("a = 1 or b = 2 and c = 3", "a = 1 or (b = 2 and c = 3)"),
        ("(a = 1 and b = 2) and c = 3", "a = 1 and b = 2 and c = 3"),
        ("not year(visited) = 2024", "year(visited) <> 2024"),
        ("v > timestamp '2024-01-01 00:00'", "v > date '2024-01-01'"),
        ("\"day of birth\" = 'it''s'", "\"day of birth\" = 'it''s'"),
        ("b = TRUE -- a comment", "b = true"),
        ("a = 1e3 and b = .5", "a = 1000 and b = 0.5"),
    ],
)
def test_a_condition_is_said_again_in_one_spelling(where, text):
    assert filter_text(where) == text
    assert filter_text(text) == text


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("a = 1/0", r"1 / 0 \(character 5\): must be a value"),
        ("cast(a as int) = 1", r"CAST.* \(character 6\): must be a column"),
        ("a = b", r"b \(character 5\): .*columns cannot be compared with one another"),
        ("a = 1; drop table x", "cannot be read near 'drop'"),
        (
            "Alter >= 18",
            r"near 'Alter' \(character 5\); a column whose .* in double quotes \(\"Alter\"\); a filter may",
        ),
        ("a => 18", r"near '=>' \(character 4\); a filter may"),
        ("a = 'x", "cannot be read"),
        ("a in (select 1)", "a filter may compare"),
        ("a like 'x' escape '!'", "a filter may compare"),
        ("a between symmetric 1 and 2", "a filter may compare"),
        ("a = null", "write is null"),
        ("a = -'5'", "must be a value"),
        ("a = - -5", "must be a value"),
        ("count(*) > 1", "must be a column of the data"),
        ("abs(a) > 1", "must be a column of the data"),
        ("t.a = 1", "must be a column of the data"),
        ("random() < 0.5", "must be a column of the data"),
        ("a", "a filter may compare"),
        ("a in (1, 'b')", "several kinds"),
        ("year(v) = 2024.5", "whole numbers from 1 to 9999"),
        ("month(v) like '1%'", "whole numbers from 1 to 12"),
        ("weekday(a, b) = 1", "takes one column"),
        ("a > true", "= and <> only"),
        ("a = 9007199254740993", "at most 2\\^53"),
        ("a = date '2024-02-30'", "must be date"),
        ("a = timestamp '2024-01-01 10:00:00.1234567'", "must be date"),
        ("a like '" + "%x" * 11 + "'", "at most 10 percent signs"),
        ("a = 'x\0'", "control characters"),
        ("(" * 40 + "a = 1" + ")" * 40, "nested"),
        ("(" * 4000 + "a = 1" + ")" * 4000, "nested too deeply"),
        (" or ".join(["a = 1"] * 201), "at most 200 conditions"),
        ("a = 1" + " " * 10_000, "at most 10,000 characters"),
        ("", "must be a condition"),
        (3, "must be a condition"),
    ],
)
def test_what_is_not_allowed_is_refused_with_its_place(where, said):
    with pytest.raises(ArgumentError, match=said) as refused:
        filter_text(where)
    assert refused.value.argument == "where"


WORDS = [
    "a",
    "b",
    "1",
    "-2.5",
    "'x'",
    "'it''s'",
    "true",
    "null",
    "and",
    "or",
    "not",
    "in",
    "between",
    "like",
    "is",
    "(",
    ")",
    ",",
    "=",
    "<>",
    "<",
    ">=",
    "+",
    "-",
    "*",
    "/",
    ".",
    ";",
    "year(",
    "month(",
    "cast(",
    "as",
    "int",
    "date",
    "'2024-01-01'",
    "timestamp",
    "case",
    "when",
    "then",
    "else",
    "end",
    "select",
    "from",
    "exists",
    "any",
    "distinct",
    "::",
    "[",
    "]",
    "{",
    "}",
    "->",
    "interval",
    "escape",
    "ilike",
    "collate",
    "over",
    "filter",
    "extract(",
    ":x",
    "?",
    "@",
    "#",
    "$1",
    "e'x'",
    "x'41'",
    "0x1f",
    "1e5",
    "1e999",
    "1.",
    ".5",
    "--c",
    "/*c*/",
    "lambda",
]


def test_no_expression_makes_the_reader_fail():
    rng, read = random.Random(1), 0
    valid = [
        "a",
        "=",
        "1",
        "and",
        "not",
        "b",
        "in",
        "(",
        "2",
        ",",
        "3",
        ")",
        "or",
        "a",
        "like",
        "'x'",
        "and",
        "c",
        "is",
        "null",
    ]
    for _ in range(1000):
        words = [*valid[: rng.randint(0, len(valid))], *rng.choices(WORDS, k=rng.randint(0, 4))]
        with suppress(ArgumentError):
            text = filter_text(" ".join(words))
            assert filter_text(text) == text
            read += 1
    assert read > 20


def test_a_request_keeps_its_condition_in_every_form(tmp_path):
    asked = {"by": "ward", "goal": PureDP(1.0), "domain": {"ward": ["a", "b"]}}
    request = TableRequest(**asked, where="not age < 18")
    assert request.where == "age >= 18"
    assert TableRequest.from_dict(request.to_dict()) == request
    (tmp_path / "request.toml").write_text(request.to_toml())
    assert 'where = "age >= 18"' in request.to_toml()
    assert TableRequest.from_toml(tmp_path / "request.toml") == request
    assert "where" not in TableRequest(**asked).to_dict()
    assert "rows: only those with age >= 18" in repr(plan_table(**asked, where="age >= 18"))


def test_the_parser_is_not_loaded_without_a_condition():
    program = (
        "import sys, ggdp; ggdp.release_table({table}, 'a', ggdp.PureDP(1.0), {{'a': ['x']}}); "
        "sys.exit('sqlglot' in sys.modules)"
    ).format(table="__import__('pyarrow').table({'a': ['x']})")
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
