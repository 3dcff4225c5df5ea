"""``ggdp release --dry-run``: what is planned, without a look at the source."""

import json
import re
from pathlib import Path

import pytest
from tests.cli.people import BY_TOWN, UNITS, release, rows_of, written

import ggdp

pytestmark = pytest.mark.usefixtures("here")


def test_a_dry_run_says_what_units_cut_cost_and_which_cells_are_all_there_are(capsys):
    flags = "--by town --by person_type --levels person_type=a,b --max-cells 2 --count-cut 0.25 --dry-run"
    assert release("--domain", "people.toml", "--unit", "person", *flags.split(), source="none.csv") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "counted too, plus-minus" in said
    assert "0.25 of epsilon" in said
    assert release(*UNITS, "--max-cells", "1000", "--dry-run", source="none.csv") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "counted in at most 3 cells (all there are; 1,000 requested)" in said
    assert "scale 3 " in said


def test_a_dry_run_opens_nothing(capsys):
    flags = ("--by", "town,age", "--domain", "people.toml", "--bins", "age=0,18,65", "--dry-run", "--json")
    assert release(*flags, source="there is no such file") == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["cells"], plan["order"], plan["plus_minus"], plan["regime"]) == (6, 1.0, 3, "declared")
    assert plan["guarantee"] == {"notion": "pure", "epsilon": 1.0, "delta": 0.0, "neighbours": "add-remove"}
    assert (plan["threshold"], plan["files"]) == (None, [])
    assert written() == []


def test_the_dry_run_prints_the_plan_of_python(capsys):
    flags = "--by town --domain people.toml --unit person --max-cells 2 --count-cut 0.1 --dry-run --json --out out.csv"
    assert release(*flags.split(), "--plot", "out.png", source="none.csv") == 0
    asked = {"by": [["town"]], "goal": ggdp.PureDP(1.0), "domain": "people.toml", "unit": "person", "max_cells": 2}
    plan = ggdp.plan_table(**asked, count_cut=0.1, engine="duckdb", out="out.csv", plot="out.png")
    assert json.loads(capsys.readouterr().out) == json.loads(json.dumps(plan.to_dict()))


def test_a_dry_run_says_what_it_would_cost(capsys):
    flags = "--by town --delta 1e-4 --order 1 --unit person --max-cells 3 --dry-run --out out.csv"
    assert release(*flags.split(), source="none.csv") == 0
    said = capsys.readouterr()
    text = " ".join(said.out.split())
    for part in (
        "no data read",
        "value of the column 'person'",
        "counted in at most 3 cells",
        "plus-minus",
        "-aDP",
    ):
        assert part in text
    assert re.search(r"threshold cells with a noisy count of \d+ or more are shown", text)
    assert "would write out.csv" in text
    assert "warning: delta" in said.err
    assert written() == []


def test_the_dry_run_promises_what_the_release_then_has(capsys):
    flags = (*BY_TOWN, "--delta", "1e-6", "--unit", "person", "--max-cells", "1", "--json", "--out", "out.csv")
    assert release(*flags, "--dry-run") == 0
    plan = json.loads(capsys.readouterr().out)
    assert release(*flags) == 0
    manifest = json.loads(capsys.readouterr().out)["manifest"]
    assert manifest["guarantee"] == plan["guarantee"]
    assert (manifest["mechanism"]["order"], manifest["mechanism"]["scale"]) == (plan["order"], plan["scale"])
    row = rows_of("out.csv")[0]
    assert int(row["upper"]) - int(row["lower"]) == 2 * plan["plus_minus"]


@pytest.mark.parametrize("dry", [["--dry-run"], []])
@pytest.mark.parametrize("engine", [[], ["--engine", "duckdb"]])
def test_a_table_that_is_too_large_is_refused_by_the_dry_run_as_by_the_release(capsys, dry, engine):
    levels = list(range(9000))
    Path("people.toml").write_text(
        f"[columns.town]\nlevels = {levels}\n[columns.age]\nlevels = {levels}\n", encoding="utf-8"
    )
    # Nothing is opened for it.
    flags = ("--by", "town,age", "--domain", "people.toml", "--out", "out.parquet", *dry, *engine)
    assert release(*flags, source="none.csv") == 1
    said = capsys.readouterr()
    assert "error: --by = 'town,age': spans 81,000,000 cells, and at most 50,000,000" in said.err
    assert said.out == ""


def test_a_table_for_the_executors_of_spark_passes_the_dry_run(capsys):
    levels = list(range(9000))
    Path("people.toml").write_text(
        f"[columns.town]\nlevels = {levels}\n[columns.age]\nlevels = {levels}\n", encoding="utf-8"
    )
    flags = ("--by", "town,age", "--domain", "people.toml", "--out", "out.parquet", "--engine", "spark")
    assert release(*flags, "--dry-run", source="none.csv") == 0
    assert "81,000,000 cells" in capsys.readouterr().out
