"""Numbers that can be printed: as many digits as were asked for, and a median by its name."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ggdp
from ggdp.cli.app import run
from ggdp.errors import ArgumentError
from ggdp.tables.manifest_checks import contradiction
from ggdp.tables.request import TableRequest
from ggdp.tables.statistics.released_statistics import PublishedStatistic, rounded_outwards

PEOPLE = pa.table({"ward": ["a", "b", "a"] * 400, "cost": [52.832724, 10.0, 7.5] * 400})
DOMAIN = {"ward": ["a", "b"], "cost": {"range": [0, 100]}}
ASKED = {"by": "ward", "goal": ggdp.PureDP(1.0), "domain": DOMAIN, "unit": "row", "statistics": [ggdp.Mean("cost")]}


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{'ab'[n % 2]},{n % 97}.{n % 10}\n" for n in range(1200))
    Path("people.csv").write_text(f"ward,cost\n{rows}")
    return "people.csv"


def release(source, *flags):
    typed = ["--by", "ward", "--levels", "ward=a,b", "--range", "cost=0:100", "--epsilon", "1", "--unit-is-row"]
    return run(["release", source, *typed, *flags])


def test_a_mean_is_printed_and_written_with_the_digits_asked_for(people, capsys):
    assert release(people, "--mean", "cost", "--digits", "1", "--out", "out.csv") == 0
    printed = capsys.readouterr().out
    assert "rounded to 1 decimal digit" in printed
    for row in csv.DictReader(Path("out.csv").read_text().splitlines()):
        for name in ("mean_cost", "mean_cost_lower", "mean_cost_upper"):
            assert len(row[name].partition(".")[2]) <= 1
            assert f"{float(row[name]):.1f}" in printed
        assert float(row["mean_cost_lower"]) <= float(row["mean_cost"]) <= float(row["mean_cost_upper"])
    manifest = json.loads(Path("out.manifest.json").read_text())
    assert manifest["table"]["request"]["digits"] == 1
    assert contradiction(manifest) is None
    manifest["table"]["request"]["digits"] = 2
    assert contradiction(manifest) is not None


def test_a_rounded_interval_contains_the_one_it_was():
    rng = np.random.default_rng(1)
    lower = np.concatenate([rng.normal(scale=10.0**k, size=500) for k in range(-8, 18)] + [[0.3, 0.1 + 0.2, -0.7]])
    upper = lower + np.abs(rng.normal(size=lower.size))
    value = (lower + upper) / 2
    value[0] = np.nan
    for digits in (0, 1, 3, 15):
        found = rounded_outwards(PublishedStatistic("x", value, lower, upper), digits)
        assert np.all(found.lower <= lower)
        assert np.all(found.upper >= upper)
        assert np.all(np.isnan(found.value) | ((found.lower <= found.value) & (found.value <= found.upper)))
        assert np.isnan(found.value[0])
        close = np.abs(value) < 1e5
        error = np.abs(found.value - value)[close][1:]
        assert np.all(error <= 0.5000001 * 10.0**-digits + 4e-16 * np.abs(value)[close][1:])


def test_rounding_spends_nothing_and_is_part_of_the_request():
    plan, rounded = ggdp.plan_table(**ASKED), ggdp.plan_table(**ASKED, digits=2)
    assert rounded.guarantee == plan.guarantee
    assert "digits" not in plan.request.to_dict()
    assert TableRequest.from_dict(rounded.request.to_dict()) == rounded.request
    exact, found = (one.run(PEOPLE, rng=ggdp.SeededSource(seed=3)).to_arrow() for one in (plan, rounded))
    assert found["count"] == exact["count"]
    assert found["mean_cost"].to_pylist() == [round(mean, 2) for mean in exact["mean_cost"].to_pylist()]


def test_digits_need_statistics_and_are_few():
    counts = {name: value for name, value in ASKED.items() if name != "statistics"}
    with pytest.raises(ArgumentError, match="counts are whole numbers"):
        ggdp.plan_table(**counts, digits=1)
    with pytest.raises(ArgumentError, match="at most 15"):
        ggdp.plan_table(**ASKED, digits=16)
    with pytest.raises(ArgumentError, match="at least 0"):
        ggdp.plan_table(**ASKED, digits=-1)


def test_a_median_is_the_quantile_of_a_half(people, capsys):
    for typed in (["--median", "cost"], ["--quantile", "cost=0.5"]):
        assert release(people, *typed, "--dry-run", "--json") == 0
        statistics = json.loads(capsys.readouterr().out)["request"]["statistics"]
        assert statistics == [{"kind": "quantile", "column": "cost", "fractions": [0.5]}]
    typed = ["--median", "cost", "--quantile", "cost=0.25", "--epsilon", "1", "--unit-is-row", "--dry-run"]
    assert run(["release", people, "--range", "cost=0:100", *typed]) == 0
    assert run(["release", people, *typed]) == 1
    assert "--median" in capsys.readouterr().err


def test_a_wide_table_has_the_levels_of_its_last_column_side_by_side(people, capsys):
    rows = "".join(f"{'ab'[n % 2]},{'xyz'[n % 3]}\n" for n in range(1200))
    Path(people).write_text(f"ward,sex\n{rows}")
    typed = ["--by", "ward,sex", "--levels", "ward=a,b", "--levels", "sex=x,y,z", "--epsilon", "1", "--unit-is-row"]
    assert run(["release", people, *typed, "--out", "out.csv", "--wide", "wide.csv"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "ward count x count y count z" in printed
    assert "Written: out.csv, out.manifest.json, wide.csv" in printed
    long = {(row["ward"], row["sex"]): row for row in csv.DictReader(Path("out.csv").read_text().splitlines())}
    wide = list(csv.DictReader(Path("wide.csv").read_text().splitlines()))
    assert [row["ward"] for row in wide] == ["a", "b"]
    for row in wide:
        for sex in "xyz":
            for name in ("count", "lower", "upper"):
                assert row[f"{name} {sex}"] == long[row["ward"], sex][name]
            assert row[f"count {sex}"] in printed
    # An earlier file is not replaced unasked.
    Path("out.csv").unlink()
    Path("out.manifest.json").unlink()
    assert run(["release", people, *typed, "--out", "out.csv", "--wide", "wide.csv"]) == 1
    assert "--wide = 'wide.csv': 'wide.csv' already exists" in capsys.readouterr().err
    assert not Path("out.csv").exists()


def test_a_wide_table_is_printed_with_as_many_digits_as_it_has_error(people, capsys):
    rows = "".join(f"{2000 + n % 2},{'xyz'[n % 3]},{n % 60}\n" for n in range(6000))
    Path(people).write_text(f"year,sex,cost\n{rows}")
    typed = ["--by", "year,sex", "--levels", "year=2000..2001", "--levels", "sex=x,y,z", "--mean", "cost"]
    typed += ["--range", "cost=0:60", "--epsilon", "1", "--unit-is-row", "--out", "out.csv", "--wide", "wide.csv"]
    for digits, pattern in ((), r"\d\d\.\d{1,4}"), (("--digits", "1"), r"\d\d\.\d"):
        assert run(["release", people, *typed, *digits, "--overwrite"]) == 0
        lines = capsys.readouterr().out.splitlines()
        for year in ("2000", "2001"):
            (cells,) = (line.split() for line in lines if line.split()[:1] == [year])
            assert all(re.fullmatch(pattern, cell) for cell in cells[2::2]), cells
            assert all(re.fullmatch(r"[\d,]+", cell) for cell in cells[1::2]), cells


def test_a_cell_that_is_not_shown_is_empty_in_a_wide_table(tmp_path):
    data = pa.table({"a": ["x", "x", "y"] * 400, "b": ["=u", "v", "v"] * 400})
    asked = {"by": ["a", "b"], "goal": ggdp.ApproxDP(1.0, 1e-6), "unit": "row"}
    ggdp.release_table(data, **asked, wide=tmp_path / "wide.csv")
    header, *rows = (tmp_path / "wide.csv").read_text().splitlines()
    assert header == "a,count =u,lower =u,upper =u,count v,lower v,upper v"
    assert rows[1].startswith("y,,,,")


def test_a_wide_table_is_planned_and_needs_a_column(tmp_path):
    counts = {name: value for name, value in ASKED.items() if name != "statistics"}
    plan = ggdp.plan_table(**counts, out=tmp_path / "o.csv", plot=tmp_path / "p.svg", wide=tmp_path / "w.csv")
    assert [file.name for file in plan.files] == ["o.csv", "o.manifest.json", "p.svg", "w.csv"]
    again = ggdp.TablePlan.from_dict(plan.to_dict())
    assert (again.out, again.plot, again.wide) == (plan.out, plan.plot, plan.wide)
    with pytest.raises(ArgumentError, match="needs `by`"):
        ggdp.plan_table(**ASKED | {"by": None}, wide="w.csv")
    with pytest.raises(ArgumentError, match=r"must end in \.csv"):
        ggdp.plan_table(**counts, wide="w.parquet")
    with pytest.raises(ArgumentError, match="name another file"):
        ggdp.plan_table(**counts, out="w.csv", wide="w.csv")
