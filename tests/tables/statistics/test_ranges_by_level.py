"""Ranges by level of another column: what is published, planned, kept, refused and shown."""

from __future__ import annotations

import json
import math
import shlex
from collections import defaultdict
from datetime import date

import numpy as np
import pyarrow as pa
import pytest
from tests.cases import some
from tests.manifest_schema import VALIDATOR
from tests.sources.zoo import ENGINES, as_csv

import ggdp
from ggdp.cli.app import run
from ggdp.domain.column import Column
from ggdp.domain.table_domain import Domain
from ggdp.errors import ArgumentError
from ggdp.explorer.typed_table import TypedTable
from ggdp.tables.request import TableRequest
from ggdp.tables.statistics.margins import half_width_rows, half_widths

RANGES = {"glucose": (0, 500), "sodium": (100, 180), "crp": (-50, 50)}
DOMAIN = {
    "test": {"levels": ["glucose", "sodium", "crp"]},
    "ward": {"levels": ["a", "b"]},
    "value": {"range_by": "test", "ranges": {"glucose": [0, 500], "sodium": [100, 180, 0.5], "crp": [-50, 50, 0.5]}},
}
STATISTICS = [ggdp.Mean("value"), ggdp.Sum("value"), ggdp.Variance("value"), ggdp.Quantile("value", [0.5])]
# Hardly any noise, so that what is published is what is true.
CLEAR = ggdp.PureDP(1e4)


def laboratory(number=900):
    """A long file: several rows of a patient, of different tests, with values beyond the ranges."""
    rng = np.random.default_rng(1)
    tests = rng.choice(list(RANGES), number)
    middles = np.array([sum(RANGES[test]) / 2 for test in tests])
    widths = np.array([RANGES[test][1] - RANGES[test][0] for test in tests])
    # Multiples of a half, which are steps of all ranges but that of glucose.
    values = np.round(2 * (middles + 0.4 * widths * rng.standard_normal(number))) / 2
    values = np.where(tests == "glucose", np.round(values), values)
    return pa.table(
        {
            "patient": [f"p{place % 400}" for place in range(number)],
            "ward": rng.choice(["a", "b"], number),
            "test": tests,
            "value": values,
        }
    )


LABORATORY = laboratory()


def true_statistics(table, by, *, unit=None):
    """The statistics of each cell, of clamped values of rows, or of one value of each unit in a cell."""
    cells = defaultdict(lambda: defaultdict(list))
    for place, row in enumerate(table.to_pylist()):
        low, high = RANGES[row["test"]]
        cells[tuple(row[name] for name in by)][row[unit] if unit else place].append((row["value"], low, high))
    found = {}
    for key, units in cells.items():
        means, sums = [], []
        for rows in units.values():
            low, high = rows[0][1:]
            step = 1 if (low, high) == (0, 500) else 0.5
            clamped = [min(max(value, low), high) for value, _, _ in rows]
            means.append(low + step * math.floor(sum(clamped) / len(clamped) / step - low / step + 0.5))
            most = max(abs(low), abs(high))
            sums.append(min(max(sum(min(max(value, -most), most) for value, _, _ in rows), low), high))
        found[key] = {
            "count": len(units),
            "mean_value": np.mean(means),
            "sum_value": np.sum(sums),
            "variance_value": np.var(means),
            "quantile_value_0.5": np.median(means),
        }
    return found


def assert_published(release, by, right):
    for row in release.to_arrow().to_pylist():
        true = right[tuple(row[name] for name in by)]
        low, high = RANGES[row["test"]]
        # Shares of the range, its largest value, or its square.
        most, width = max(abs(low), abs(high)), high - low
        close = {"mean_value": 0.002 * width, "sum_value": 0.05 * most, "variance_value": 0.001 * width**2}
        close["quantile_value_0.5"] = 0.02 * width
        assert row["count"] == true["count"]
        for name, far in close.items():
            assert row[name] == pytest.approx(true[name], abs=far), (name, row, true)
            assert row[f"{name}_lower"] <= row[name] <= row[f"{name}_upper"]
        for end in ("", "_lower", "_upper"):
            assert low <= row[f"mean_value{end}"] <= high
            assert low <= row[f"quantile_value_0.5{end}"] <= high
            assert 0 <= row[f"variance_value{end}"] <= (high - low) ** 2 / 4


@pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")
@pytest.mark.parametrize(
    ("engine", "unit"), some([(engine, unit) for engine in ENGINES for unit in (None, "patient")], lambda _, unit: unit)
)
def test_each_cell_has_the_statistics_of_its_own_range_on_every_engine(engine, unit):
    asked = {"unit": unit, "max_cells": 6} if unit else {"unit": "row"}
    by = ["ward", "test"]
    release = ggdp.release_table(ENGINES[engine](LABORATORY), by, CLEAR, DOMAIN, statistics=STATISTICS, **asked)
    assert_published(release, by, true_statistics(LABORATORY, by, unit=unit))


@pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")
@pytest.mark.parametrize("neighbours", ["add-remove", "replace-one"])
def test_keys_that_are_chosen_privately_have_the_ranges_of_their_levels(neighbours):
    by, domain = ["ward", "test"], {name: DOMAIN[name] for name in ("test", "value")}
    goal = ggdp.ApproxDP(1e4, 1e-6)
    asked = {"unit": "patient", "max_cells": 6, "neighbours": neighbours}
    release = ggdp.release_table(LABORATORY, by, goal, domain, statistics=STATISTICS, **asked)
    assert len(release.to_arrow()) == 6
    assert_published(release, by, true_statistics(LABORATORY, by, unit="patient"))


@pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")
def test_a_table_without_the_other_column_may_have_other_statistics_or_none():
    release = ggdp.release_table(
        LABORATORY, [["test"], ["ward"]], CLEAR, DOMAIN, statistics=[STATISTICS, None], unit="row"
    )
    assert_published(release["test"], ["test"], true_statistics(LABORATORY, ["test"]))
    assert release["ward"].to_arrow().column_names == ["ward", "count", "lower", "upper"]


@pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")
@pytest.mark.parametrize(
    ("declared", "levels", "cells"),
    [
        ({"levels": [1, 2], "other": "rest", "missing": "none"}, {1: [0, 10], "rest": [0, 100]}, [10, 7, 100, 7]),
        ({"levels": [True, False]}, {True: [0, 10]}, [10, 7]),
        ({"levels": [date(2024, 1, 1), date(2024, 1, 2)]}, {date(2024, 1, 2): [0, 10]}, [7, 10]),
        ({"edges": [0, 1.5, 9]}, {"[0, 1.5)": [0, 10]}, [10, 7]),
        ({"levels": [1, 2], "labels": ["one", "two"]}, {"two": [0, 10], 1: [0, 9]}, [9, 10]),
    ],
)
def test_levels_of_every_kind_have_ranges_and_others_the_one_of_the_column(declared, levels, cells):
    domain = Domain({"k": declared, "x": {"range_by": "k", "ranges": levels, "range": [0, 7]}})
    values = [True, False] if domain["k"].kind == "boolean" else [1, 2, 5, None]
    values = [date(2024, 1, 1), date(2024, 1, 2)] if domain["k"].kind == "date" else values
    rows = pa.table({"k": [value for value in values for _ in range(50)], "x": [1000.0] * (50 * len(values))})
    statistics = [ggdp.Mean("x"), ggdp.Quantile("x", 0.5)]
    found = ggdp.release_table(rows, "k", CLEAR, domain, statistics=statistics, unit="row").to_arrow().to_pydict()
    assert found["mean_x"] == pytest.approx(cells, abs=0.01)
    assert found["quantile_x_0.5"] == pytest.approx(cells)
    # The same by text, as files and manifests have it.
    request = TableRequest(by="k", goal=CLEAR, domain=domain, statistics=statistics)
    again = TableRequest.from_dict(json.loads(json.dumps(request.to_dict())), dates=request.dates)
    assert again.values_in("x") == request.values_in("x")


def planned(**changed):
    asked = {
        "by": ["ward", "test"],
        "goal": ggdp.PureDP(1.0),
        "domain": DOMAIN,
        "statistics": STATISTICS,
        "unit": "row",
    }
    return ggdp.plan_table(**asked | changed)


def test_ranges_by_level_cost_nothing():
    """The scale, the sensitivity and the epsilon of quantiles are those of one range for all."""
    one = planned(domain=DOMAIN | {"value": {"range": [0, 500]}})
    assert planned().mechanism.scale == one.mechanism.scale
    assert planned().statistics.sensitivity == one.statistics.sensitivity
    assert [each.epsilon for each in planned().statistics.quantiles] == [
        each.epsilon for each in one.statistics.quantiles
    ]


def test_a_plan_says_the_margin_of_error_of_each_level():
    plan = planned()
    found, rows = half_widths(plan), dict(half_width_rows(plan))
    for level, ends in RANGES.items():
        alone = half_widths(planned(domain=DOMAIN | {"value": {"range": ends, "step": 0.5}}))
        for name in ("mean_value", "sum_value", "variance_value"):
            assert found[f"{name}, {level}"] == pytest.approx(alone[name])
            assert rows[f"{name}, {level}"].startswith("plus-minus")
    assert rows["quantile_value_0.5"].startswith("plus-minus at most")
    again = ggdp.TablePlan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert again == plan


def test_the_manifest_has_the_ranges_and_is_verified(tmp_path, capsys):
    out = tmp_path / "tests.csv"
    plan = planned(out=out)
    plan.run(LABORATORY)
    manifest = json.loads((tmp_path / "tests.manifest.json").read_text())
    VALIDATOR.validate(manifest)
    declared = manifest["table"]["request"]["domain"]["value"]
    assert declared == {
        "range_by": "test",
        "ranges": {"glucose": [0, 500, 1], "sodium": [100, 180, 0.5], "crp": [-50, 50, 0.5]},
    }
    assert "'value': 0 to 500 in steps of 1 for glucose, 100 to 180 in steps of 0.5 for sodium" in manifest["statement"]
    assert run(["verify", str(tmp_path / "tests.manifest.json")]) == 0
    data = as_csv(LABORATORY, tmp_path)
    # The next year, with another range for one of the tests.
    again = ["release", str(data), "--like", str(tmp_path / "tests.manifest.json"), "--range", "value:crp=0:300"]
    capsys.readouterr()
    assert run([*again, "--dry-run", "--json"]) == 0
    ranges = json.loads(capsys.readouterr().out)["request"]["domain"]["value"]["ranges"]
    assert ranges == {"glucose": [0, 500, 1], "sodium": [100, 180, 0.5], "crp": [0, 300, 1]}
    assert run([*again, "--range", "value:crp=0:400", "--dry-run"]) == 1
    assert "'value:crp' already has a range" in capsys.readouterr().err


def test_many_ranges_are_not_listed_in_a_statement():
    levels = [f"t{number}" for number in range(40)]
    domain = {"test": levels, "value": {"range_by": "test", "ranges": {level: [0, 10] for level in levels}}}
    said = planned(by="test", domain=domain).run(pa.table({"test": ["t1"], "value": [1.0]})).manifest["statement"]
    assert "('value': the range of each level of 'test')" in said


TOML = """
epsilon = 1.0

[unit]
is_row = true

[[tables]]
by = ["test"]
mean = ["value"]

[columns.test]
levels = ["a:b=c", "sodium"]
missing = "none"

[columns.value]
range_by = "test"
range = [0, 100]

[columns.value.ranges]
sodium = [100, 180, 0.5]
"a:b=c" = [0, 5]
"""


def test_a_file_and_flags_declare_the_same(tmp_path, capsys):
    file = tmp_path / "request.toml"
    file.write_text(TOML)
    request = TableRequest.from_toml(file)
    file.write_text(request.to_toml())
    assert TableRequest.from_toml(file) == request
    typed = (
        "release nowhere.csv --epsilon 1 --by test --unit-is-row --levels 'test=a:b=c,sodium' --missing test=none "
        "--mean value --range-by value=test --range value:sodium=100:180:0.5 --range 'value:a:b=c=0:5' "
        "--range value=0:100 --dry-run --json"
    )
    assert run(shlex.split(typed)) == 0
    found = json.loads(capsys.readouterr().out)["request"]
    assert found["domain"]["value"] == request.to_dict()["domain"]["value"]
    assert found["domain"]["value"]["ranges"] == {"sodium": [100, 180, 0.5], "a:b=c": [0, 5, 0.0001]}


def test_the_page_takes_the_same_lines_and_shows_them_as_flags_and_as_python():
    lines = "value=test\nvalue:glucose=0:500\nvalue=100:180"
    table = TypedTable(by="test", levels="test=glucose,sodium", statistics="mean value", ranges=lines, unit="")
    domain = table.plan().request.domain
    assert domain["value"].range_by == "test"
    command = shlex.split(table.command("labs.csv").replace("\\\n", ""))
    assert command[command.index("--range-by") + 1] == "value=test"
    assert {command[place + 1] for place, one in enumerate(command) if one == "--range"} == {
        "value:glucose=0:500",
        "value=100:180",
    }
    code = table.python("plan_table")
    namespace = {}
    exec(code, namespace)
    assert namespace["found"].request.domain == domain


WRONG = {
    "not counted by": ({"by": "ward"}, "statistics = 'value': has a range for each level of 'test', so a cell"),
    "by nothing": ({"by": None}, "name it in `by` of every table with this statistic"),
    "of one table only": ({"by": [["test"], ["ward"]]}, "statistics = 'value': has a range for each level"),
    "undeclared": (
        {"domain": {"value": DOMAIN["value"]}, "by": "test", "goal": ggdp.ApproxDP(1.0, 1e-6)},
        "declare its levels",
    ),
}
DECLARED_WRONG = {
    "a level without a range": ({"glucose": [0, 1]}, "ranges of 'value' = 'sodium': is a level of 'test' without"),
    "a level that is not declared": (
        {"glucose": [0, 1], "sodim": [0, 1]},
        "level of 'test' = 'sodim': is not declared",
    ),
    "no range": ({}, "ranges of 'value' = {}: must give ranges to levels of 'test'"),
    "one number": ({"glucose": 5}, "ranges of 'value' = 5: must be the ends of a range"),
    "four numbers": ({"glucose": [1, 2, 3, 4]}, "must be the ends of a range, and perhaps a step"),
    "the wrong way": ({"glucose": [5, 1]}, "ranges of 'value' = '5:1': the lower end must be below"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_cell_must_be_of_one_declared_level(name):
    changed, said = WRONG[name]
    with pytest.raises(ArgumentError) as refused:
        planned(**changed)
    assert said in str(refused.value)


@pytest.mark.parametrize("name", DECLARED_WRONG)
def test_each_level_has_one_range(name):
    ranges, said = DECLARED_WRONG[name]
    with pytest.raises(ArgumentError) as refused:
        planned(domain=DOMAIN | {"value": {"range_by": "test", "ranges": ranges}})
    assert said in str(refused.value)


def test_declarations_that_mean_nothing_are_refused():
    with pytest.raises(ArgumentError, match="range_by of 'value' = 'value': must be another column"):
        Column(name="value", range_by="value", ranges={"a": [0, 1]})
    with pytest.raises(ArgumentError, match="range_by of 'value'"):
        Column(name="value", ranges={"a": [0, 1]})
    levels = {"levels": [1, 2], "labels": ["one", "two"]}
    with pytest.raises(ArgumentError, match="has a level with two ranges"):
        planned(by="test", domain={"test": levels, "value": {"range_by": "test", "ranges": {1: [0, 1], "one": [0, 2]}}})
    # A range of another level that only some statistics could use is too fine for variances.
    fine = {"glucose": [0, 2**21, 1], "sodium": [0, 1], "crp": [0, 1]}
    with pytest.raises(ArgumentError, match="its range has 2,097,152 steps"):
        planned(domain=DOMAIN | {"value": {"range_by": "test", "ranges": fine}})


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("--range value:glucose=0:500", "--mean = 'value': has no public range"),
        ("--range-by value=test", "ranges of 'value'"),
        ("--range-by value", "--range-by = 'value': must be a column, '=' and its value: COL=OTHER"),
        ("--range-by value=test --range-by value=ward", "--range-by = 'value=ward': 'value' already has ranges by"),
        ("--range-by value=test --range value:a=0:1 --range value:a=0:2", "--range = 'value:a=0:2'"),
        ("--range-by value=test --range value:a=1:0", "--range = 'value:a=1:0': the lower end"),
        ("--range-by value=ward --range value:a=0:1", "name it in --by of every table with this statistic"),
    ],
)
def test_wrong_flags_are_named_as_typed(typed, said, capsys):
    line = f"release nowhere.csv --epsilon 1 --by test --levels test=a,b --mean value {typed} --dry-run"
    assert run(shlex.split(line)) == 1
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("unit", [None, "patient"])
def test_a_check_shows_what_each_range_would_clamp(unit, capsys, tmp_path):
    found = ggdp.check_table(LABORATORY, "test", DOMAIN, unit=unit, statistics=STATISTICS)
    rows = LABORATORY.to_pylist()
    for one in found.ranges:
        values = [row["value"] for row in rows if row["test"] == one.level]
        low, high = RANGES[one.level]
        assert (one.name, one.rows, one.nulls, one.not_numbers) == ("value", len(values), 0, 0)
        assert one.below == sum(value < low for value in values)
        assert one.above == sum(value > high for value in values)
        if unit is None:
            assert one.totals_below is one.totals_above is None
            continue
        most, totals = max(abs(low), abs(high)), defaultdict(float)
        for row in rows:
            if row["test"] == one.level:
                totals[row["patient"]] += min(max(row["value"], -most), most)
        assert one.totals_below == sum(total < low for total in totals.values())
        assert one.totals_above == sum(total > high for total in totals.values())
    assert [one.level for one in found.ranges] == list(RANGES)
    assert json.loads(json.dumps(found.to_dict()))["ranges"][1]["level"] == "sodium"
    file = tmp_path / "labs.toml"
    request = TableRequest(by="test", goal=CLEAR, domain=DOMAIN, statistics=STATISTICS).to_toml()
    file.write_text(request[request.index("[columns") :])
    assert (
        run(["check", str(as_csv(LABORATORY, tmp_path)), "--by", "test", "--domain", str(file), "--mean", "value"]) == 0
    )
    assert "column value, sodium (100 to 180 in steps of 0.5)" in capsys.readouterr().out


def test_a_column_of_which_one_level_has_no_numbers_is_no_alarm():
    rows = pa.table({"test": ["glucose"] * 9 + ["sodium"], "value": [str(number) for number in range(9)] + ["clotted"]})
    found = ggdp.check_table(rows, "test", DOMAIN, statistics=[ggdp.Mean("value")])
    assert [one.not_numbers for one in found.ranges] == [0, 1, 0]
    assert found.alarms == ()


def test_levels_share_an_axis_of_percentages():
    from ggdp.plots import plot_table

    release = planned(by="test", unit=None).run(LABORATORY)
    row = release.to_arrow().to_pylist()[1]
    axes = plot_table(release, column="mean_value").axes[0]
    assert "in % of the largest value of its test" in " ".join(axes.get_xlabel().split())
    assert axes.patches[1].get_width() == pytest.approx(100 * row["mean_value"] / 180)
    axes = plot_table(release, column="variance_value").axes[0]
    assert "in % of the largest square of its test" in " ".join(axes.get_xlabel().split())


def test_a_simulated_table_has_values_in_the_range_of_each_level():
    from ggdp.explorer.simulated_table import Simulation, simulate_table

    shown = simulate_table(planned(by="test"), Simulation(units=3000))
    means = dict(zip(shown.names, shown.original["mean_value"], strict=True))
    for level, (low, high) in RANGES.items():
        assert low + 0.2 * (high - low) < means[level] < low + 0.4 * (high - low)


def test_units_without_columns_to_count_by_need_no_number_and_refuse_ranges_by_level(tmp_path, capsys):
    data = str(as_csv(LABORATORY, tmp_path))
    typed = ["release", data, "--unit", "patient", "--epsilon", "1", "--out", str(tmp_path / "out.csv")]
    assert run([*typed, "--mean", "value", "--median", "value", "--range", "value=0:500", "--json"]) == 0
    table = json.loads(capsys.readouterr().out)["manifest"]["table"]
    assert table["unit"]["max_cells"] == 1
    row = (tmp_path / "out.csv").read_text().splitlines()[0].split(",")
    assert {"mean_value", "quantile_value_0.5"} <= set(row)
    by_level = ["--median", "value", "--range-by", "value=test", "--range", "value:glucose=0:500", "--overwrite"]
    assert run([*typed, *by_level]) == 1
    assert "--median = 'value': has a range for each level of 'test'" in capsys.readouterr().err
    counted = ["--by", "test", "--levels", "test=glucose,sodium", "--max-cells", "2", "--range", "value:sodium=100:180"]
    assert run([*typed, *by_level, *counted]) == 0
    assert (tmp_path / "out.csv").read_text().startswith("test,count,lower,upper,quantile_value_0.5,")
