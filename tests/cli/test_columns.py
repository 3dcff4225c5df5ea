"""Flags that declare columns: what they mean, and what is said of those that mean nothing."""

from __future__ import annotations

import csv
from datetime import date
from pathlib import Path

import pytest

from ggdp.cli.app import run
from ggdp.cli.flags import RELEASE, domain_of, marginals_of, named_as_flags
from ggdp.domain.column import Column
from ggdp.errors import ArgumentError


def _declared(*, by="a", file=None, **flags):
    given = {flag.name: flag.default for flag in RELEASE} | {"by": [by], "domain": file}
    given |= {name: [text] if isinstance(text, str) else text for name, text in flags.items()}
    with named_as_flags(given):
        return domain_of(given)


@pytest.mark.parametrize(
    ("levels", "right"),
    [
        ("a=x,y", ("x", "y")),
        ("a=x, y ", ("x", "y")),
        ('a="x, y", z', ("x, y", "z")),
        ('a=" x",y', (" x", "y")),
        ("a=1,2", ("1", "2")),
        ("a=1..3", (1, 2, 3)),
        ("a=-1..1", (-1, 0, 1)),
        ("a:int=1,2,5", (1, 2, 5)),
        ("a:int=1..3,9", (1, 2, 3, 9)),
        ("a=1..3,x", ("1..3", "x")),
        ("a=b=c", ("b=c",)),
    ],
)
def test_levels_are_text_unless_they_are_said_to_be_integers(levels, right):
    assert _declared(levels=levels)["a"].levels == right


def test_a_column_whose_name_looks_like_a_flag_is_found():
    assert _declared(by="a:int", levels="a:int=1,2")["a:int"].levels == ("1", "2")
    assert _declared(by="a=b", levels="a=b=1,2")["a=b"].levels == ("1", "2")


@pytest.mark.parametrize(
    ("bins", "labels"),
    [
        ("a=0,18,inf", ("[0, 18)", "[18, inf]")),
        ("a=2024-01-01,2024-04-01", ("[2024-01-01, 2024-04-01)",)),
        ("a=-inf,2024-01-01T12:30,inf", ("[-inf, 2024-01-01 12:30)", "[2024-01-01 12:30, inf)")),
        ("a=2024-01-01:2025-01-01:quarter", ("2024-Q1", "2024-Q2", "2024-Q3", "2024-Q4")),
        ("a=2024-01-01:2024-01-15:week", ("2024-W01", "2024-W02")),
    ],
)
def test_bins_are_of_numbers_of_times_or_of_periods(bins, labels):
    assert _declared(bins=bins)["a"].labels == labels


def test_labels_others_and_nulls_are_added_to_what_is_declared(tmp_path):
    found = _declared(bins="a=0,18,65", labels="a=young, old", other="a=elsewhere, or so", missing="a=none")
    assert found["a"].labels == ("young", "old", "elsewhere, or so", "none")
    file = tmp_path / "d.toml"
    file.write_text(
        '[columns.a]\nedges = {from = 2024-01-01, to = 2024-03-01, every = "month"}\nother = "o"\n'
        '[columns.b]\nlevels = ["x", "y"]\n[[impossible]]\na = "2024-01"\nb = "x"\n'
    )
    found = _declared(by="a,b", file=file, missing=["a=none", "b=?"])
    assert found["a"] == Column(
        name="a",
        edges={"from": date(2024, 1, 1), "to": date(2024, 3, 1), "every": "month"},
        other="o",
        missing="none",
    )
    assert found["b"].labels == ("x", "y", "?")
    assert found.impossible == ({"a": "2024-01", "b": "x"},)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ({"levels": "a=5..1"}, "increasing range"),
        ({"levels": "a:int=1,x"}, "'x' is not an integer"),
        ({"levels": "a:int=1.5"}, "'1.5' is not an integer"),
        ({"levels": "b=x"}, "not one of the columns of --by: a"),
        ({"levels": "a=x", "bins": "a=0,1"}, "'a' is already declared by --levels"),
        ({"bins": "a=2024-02-30,2024-03-01"}, "'2024-02-30' is not a date; write"),
        ({"bins": "a=2024-01-01,soon"}, "'soon' is not a date"),
        ({"bins": "a=2024-01-01:2025-01-02:month"}, "first of a month, such as 2025-01-01 or 2025-02-01"),
        ({"bins": "a=2024-01-01:2025-01-01:fortnight"}, "must be one of 'day'"),
        ({"bins": "a=0,1,2", "labels": "a=x"}, "must be 2, one for each bin"),
        ({"labels": "a=x"}, "declare it with --levels or --bins or in --domain"),
        ({"other": "a=x"}, "declare it with --levels or --bins or in --domain"),
        ({"levels": "a=x", "missing": ["a=m", "a=n"]}, "'a' already has missing"),
        ({"levels": "a=x", "other": "rest"}, "COL=LABEL"),
        ({"levels": "a=x", "other": "a="}, "must be text, the level's name"),
    ],
)
def test_a_flag_that_means_nothing_is_refused_with_what_to_write(flags, said):
    with pytest.raises(ArgumentError) as refused:
        _declared(**flags)
    assert said in str(refused.value)


def test_columns_may_be_separated_by_spaces_too():
    assert marginals_of(["a, b", 'a ,"b "', '" a",b']) == [["a", "b"], ["a ", "b "], [" a", "b"]]


def test_a_release_counts_by_month_and_labelled_bins(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [("2024-01-31", 70, "1"), ("2024-02-01T08:00", 17, "2"), ("soon", 30, "x"), ("", "", "")]
    with open("visits.csv", "w", newline="") as lines:
        csv.writer(lines).writerows([("visited", "age", "rooms"), *rows * 500])
    flags = ["--by", "visited, age", "--bins", "visited=2024-01-01:2024-03-01:month", "--bins", "age=0,18,65,inf"]
    flags += [
        "--labels",
        "age=0-17,18-64,65+",
        "--other",
        "visited=other",
        "--missing",
        "age=?",
        "--missing",
        "visited=?",
    ]
    assert run(["release", "visits.csv", *flags, "--epsilon", "5", "--out", "out.csv"]) == 0
    with open("out.csv", newline="") as lines:
        found = {(row["visited"], row["age"]): int(row["count"]) for row in csv.DictReader(lines)}
    assert len(found) == 16
    large = {key for key, count in found.items() if count > 250}
    assert large == {("2024-01", "65+"), ("2024-02", "0-17"), ("other", "18-64"), ("?", "?")}
    assert (
        run(["release", "visits.csv", "--by", "rooms", "--levels", "rooms=1..2", "--epsilon", "5", "--out", "r.csv"])
        == 0
    )


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["--by", "a,", "b"], "--by a, b: has spaces between its values; write --by a,b"),
        (["--by", "a,", "b,", "c c"], "--by a, b, c c: has spaces between its values; write --by 'a,b,c c'"),
        (["--by", "a", ",b"], "--by a ,b: has spaces between its values; write --by a,b"),
        (["--by", "a", ",", "b"], "--by a , b: has spaces between its values; write --by a,b"),
        (
            ["--by", "a", "--levels", "a=x,", "y"],
            "--levels a=x, y: has spaces between its values; write --levels a=x,y",
        ),
        (["--by", "a", "b"], "unexpected extra argument"),
    ],
)
@pytest.mark.parametrize("command", ["release", "check"])
@pytest.mark.parametrize("last", [False, True])
def test_a_list_with_spaces_is_answered_with_what_to_write(capsys, command, typed, said, last):
    epsilon = ["--epsilon", "1", "--out", "out.csv"] if command == "release" else []
    source = ["people.csv"]
    assert run([command, *epsilon, *([] if last else source), *typed, *(source if last else [])]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert said in line


@pytest.mark.parametrize(
    "command", [["release", "--epsilon", "1", "--out", "o.csv"], ["check"], ["range", "--epsilon", "1"]]
)
def test_a_pattern_without_quotes_is_answered_with_what_to_write(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    for month in ("one", "two", "three"):
        Path(f"{month}.csv").write_text("a\n1\n", encoding="utf-8")
    assert run([command[0], "one.csv", "three.csv", "two.csv", "--by", "a", *command[1:]]) == 2
    said = "error: three.csv: is a second file; name several by a pattern in quotes, such as '*.csv'"
    assert said in capsys.readouterr().err


def test_a_name_that_is_empty_is_answered_with_what_to_write(capsys):
    assert run(["check", "--by", "a,", "b"]) == 1
    assert "--by = 'a,': has an empty name; write columns without spaces between them" in capsys.readouterr().err
