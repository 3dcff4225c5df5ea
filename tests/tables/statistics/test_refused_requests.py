"""Requests for statistics that are refused, in Python and at the command line: errors name what was typed."""

import pytest

import ggdp
from ggdp.cli.app import run
from ggdp.cli.flags import statistics_of
from ggdp.errors import ArgumentError, ArgumentTypeError

DOMAIN = {
    "town": ["a", "b"],
    "mean_age": ["x"],
    "age": {"range": [0, 100]},
    "plain": ["p"],
    "far": {"range": [0, 2**21], "step": 1},
}
MEAN = [ggdp.Mean("age")]
PURE = ggdp.PureDP(1.0)

WRONG = {
    "no range": ({"statistics": [ggdp.Mean("plain")]}, "statistics = 'plain': has no public range"),
    "unknown column": ({"statistics": [ggdp.Mean("aeg")]}, "statistics = 'aeg': has no public range"),
    "range of the unit": ({"unit": "age", "max_cells": 1}, "statistics = 'age': is the column of units"),
    "probabilistic": ({"goal": ggdp.ProbabilisticDP(1.0, 1e-6)}, "goal = .*is probabilistic DP"),
    "rows": (
        {"unit": "u", "max_cells": 1, "count": "rows", "max_rows_per_cell": 2},
        "count = 'rows': does not go with `statistics`",
    ),
    "total": ({"total": 5, "neighbours": "replace-one"}, "total = 5: does not go with `statistics`"),
    "cut": ({"unit": "u", "max_cells": 1, "count_cut": 0.1, "by": ["town"]}, "count_cut = 0.1: does not go with"),
    "open column": ({"by": ["city"]}, "by = 'city': the domain does not declare this column"),
    "lists": ({"statistics": [MEAN, MEAN]}, "statistics = '2 lists': must be one list for all tables"),
    "twice in a list": ({"statistics": [MEAN * 2]}, "statistics = 'mean_age': is requested twice"),
    "rule without unit": ({"per_unit": "sum"}, "per_unit = 'sum': needs `unit`"),
    "unknown rule": ({"per_unit": "median", "unit": "u", "max_cells": 1}, "per_unit = 'median'"),
    "weight of another": ({"weights": {"town": 2.0}}, "weights = 'town': is not a column of `statistics`"),
    "too many steps": ({"statistics": [ggdp.Variance("far")]}, "statistics = 'far': its range has 2,097,152 steps"),
    "names that collide": ({"by": ["mean_age"]}, "by = 'mean_age': is the name of a published column"),
    "twice": ({"statistics": [ggdp.Mean("age"), ggdp.Mean("age")]}, "statistics = 'mean_age': is requested twice"),
    "quantiles apart": (
        {"statistics": [ggdp.Quantile("age", 0.5), ggdp.Quantile("age", 0.1)]},
        "statistics = 'age': give all quantiles",
    ),
    "nothing": ({"by": None, "statistics": None}, "by = None"),
    "weights alone": ({"statistics": None, "weights": {"age": 1.0}}, "weights = .*needs `statistics`"),
    "rule alone": ({"statistics": None, "per_unit": "sum"}, "per_unit = 'sum': needs `statistics`"),
    "weight of 0": ({"weights": {"age": 0.0}}, "weight"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_requests_are_refused_by_name(name):
    options, said = WRONG[name]
    with pytest.raises(ArgumentError, match=said):
        ggdp.plan_table(**{"by": ["town"], "goal": PURE, "domain": DOMAIN, "statistics": MEAN} | options)


@pytest.mark.parametrize("fraction", [0, 1, -0.1, 1.5, float("nan"), float("inf"), [], [0.5, 0.5]])
def test_fractions_are_between_0_and_1(fraction):
    with pytest.raises(ArgumentError, match="fractions"):
        ggdp.Quantile("age", fraction)


@pytest.mark.parametrize("statistics", ["age", ["age"], 5, [ggdp.Mean("age"), MEAN], [["age"]], [[MEAN]]])
def test_statistics_are_statistics(statistics):
    with pytest.raises(ArgumentTypeError, match="statistics"):
        ggdp.plan_table(["town"], PURE, DOMAIN, statistics=statistics)


TYPED = {
    "no range": (["--mean", "debt"], 1, "--mean = 'debt': has no public range"),
    "range twice": (["--mean", "age", "--range", "age=0:10", "--range", "age=0:20"], 1, "--range = 'age=0:20'"),
    "range without end": (["--mean", "age", "--range", "age=5"], 1, "--range = 'age=5'"),
    "range the wrong way": (["--mean", "age", "--range", "age=5:1"], 1, "--range = 'age=5:1': the lower end"),
    "range of words": (["--mean", "age", "--range", "age=a:b"], 1, "--range = 'age=a:b': 'a' must be a finite number"),
    "no equals sign": (["--mean", "age", "--range", "0:10"], 1, "--range = '0:10'"),
    "infinite": (["--mean", "age", "--range", "age=0:inf"], 1, "--range = 'age=0:inf': 'inf' must be"),
    "not a number": (["--mean", "age", "--range", "age=nan:1"], 1, "--range = 'age=nan:1': 'nan' must be"),
    "step of 0": (["--mean", "age", "--range", "age=0:1:0"], 1, "--range = 'age=0:1:0': the step"),
    "quantile of 1": (["--range", "age=0:100", "--quantile", "age=1"], 1, "--quantile = 'age=1': must be above 0"),
    "quantile of words": (["--range", "age=0:100", "--quantile", "age=x"], 1, "--quantile"),
    "per unit alone": (["--mean", "age", "--range", "age=0:100", "--per-unit", "sum"], 1, "--per-unit = 'sum'"),
    "per unit unknown": (["--mean", "age", "--range", "age=0:100", "--per-unit", "median"], 2, "--per-unit"),
    "weight of another": (["--mean", "age", "--range", "age=0:100", "--weight", "town=2"], 1, "--weight = 'town'"),
    "weight of words": (["--mean", "age", "--range", "age=0:100", "--weight", "age=x"], 1, "--weight"),
    "total": (
        ["--mean", "age", "--range", "age=0:100", "--total", "5", "--neighbours", "replace-one"],
        1,
        "--total = 5: does not go with",
    ),
    "probabilistic": (
        ["--mean", "age", "--range", "age=0:100", "--delta", "1e-6", "--notion", "probabilistic"],
        1,
        "--notion = '(1, 1e-06)-pDP': is probabilistic DP",
    ),
    "twice": (["--mean", "age", "--mean", "age", "--range", "age=0:100"], 1, "--mean = 'mean_age': is requested twice"),
    "quantile twice": (
        ["--range", "age=0:100", "--quantile", "age=0.5", "--quantile", "age=0.5"],
        1,
        "--quantile = [0.5, 0.5]: names a fraction twice",
    ),
    "quantile of many digits": (
        ["--range", "age=0:100", "--quantile", "age=0.1234567"],
        1,
        "--quantile = 'age=0.1234567': must have at most six decimal digits",
    ),
    "weight twice": (
        ["--mean", "age", "--range", "age=0:100", "--weight", "age=2", "--weight", "age=3"],
        1,
        "--weight = 'age=3': 'age' already has a weight",
    ),
    "weight of 0": (["--mean", "age", "--range", "age=0:100", "--weight", "age=0"], 1, "--weight = 'age=0': must be"),
}


@pytest.mark.parametrize("name", TYPED)
def test_wrong_flags_are_named_as_typed(name, capsys, tmp_path):
    typed, code, said = TYPED[name]
    arguments = ["release", "nowhere.csv", "--epsilon", "1", "--by", "town", "--levels", "town=a,b"]
    assert run([*arguments, "--out", str(tmp_path / "out.csv"), *typed]) == code
    printed = " ".join(capsys.readouterr().err.replace("│", " ").split())
    assert said in printed
    assert "Traceback" not in printed
    assert not list(tmp_path.iterdir())


def test_quantiles_of_a_column_may_be_typed_one_by_one():
    typed = statistics_of(
        {"mean": None, "sum": None, "variance": None, "quantile": ["age=0.5", "debt=0.1", "age=0.9,0.25"]}
    )
    assert typed == [ggdp.Quantile("age", [0.25, 0.5, 0.9]), ggdp.Quantile("debt", 0.1)]


def test_nothing_to_publish_is_a_wrong_call(capsys):
    assert run(["release", "nowhere.csv", "--epsilon", "1", "--out", "out.csv"]) == 2
    assert "--by" in capsys.readouterr().err
