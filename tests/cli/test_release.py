import csv
import errno
import json
import os
import re
import shlex
import shutil
import sys
import warnings
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.command_lines import commands, run_line
from tests.tables.engines.spark import cluster as spark_cluster

import ggdp
from ggdp.cli.app import run
from ggdp.datasets import czech
from ggdp.tables import noisy_counts, table_plan

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "docs" / "examples"
PEOPLE = """person,town,age
p1,"Aach, Bodensee",17
p1,Zell,18
p2,Zell,
p3,Bonn,44
"""
DOMAIN = '[columns.town]\nlevels = ["Aach, Bodensee", "Zell"]\nother = "elsewhere"\n'


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    """A folder with a small source and its domain, and nothing else."""
    monkeypatch.chdir(tmp_path)
    Path("people.csv").write_text(PEOPLE, encoding="utf-8")
    Path("people.toml").write_text(DOMAIN, encoding="utf-8")
    return tmp_path


def release(*flags, source="people.csv"):
    return run(["release", source, "--epsilon", "1", *flags])


def written():
    return sorted(set(os.listdir()) - {"people.csv", "people.toml"})


def rows_of(file):
    with Path(file).open(newline="", encoding="utf-8") as text:
        return list(csv.DictReader(text))


BY_TOWN = ("--by", "town", "--domain", "people.toml")


def test_a_table_and_its_manifest_come_out(capsys):
    assert release(*BY_TOWN, "--out", "out.csv") == 0
    said = capsys.readouterr()
    assert written() == ["out.csv", "out.manifest.json"]
    rows = rows_of("out.csv")
    assert [row["town"] for row in rows] == ["Aach, Bodensee", "Zell", "elsewhere"]
    assert all(int(row["lower"]) <= int(row["noisy_count"]) == int(row["count"]) <= int(row["upper"]) for row in rows)
    manifest = json.loads(Path("out.manifest.json").read_text("utf-8"))
    ggdp.verify(manifest["mechanism"]["certificate"])
    assert manifest["statement"] in said.out
    assert "1-DP under add-remove neighbours" in said.out
    assert "Written: out.csv, out.manifest.json" in said.out
    assert said.err == ""


UNITS = (*BY_TOWN, "--unit", "person")


def test_rows_of_units_come_out_with_what_their_intervals_cover(capsys):
    flags = "--max-cells 1000 --count rows --max-rows-per-cell 2 --unit-name people --out out.csv --plot out.svg"
    assert release(*UNITS, *flags.split()) == 0
    said = capsys.readouterr().out
    covers = "rows counted, at most 2 rows in a cell for each of the people"
    assert {row["covers"] for row in rows_of("out.csv")} == {covers}
    assert f"the intervals cover: {covers}" in said
    manifest = json.loads(Path("out.manifest.json").read_text("utf-8"))
    assert manifest["mechanism"]["scale"] == 6.0
    assert manifest["table"]["unit"] == {
        "kind": "column",
        "column": "person",
        "name": "people",
        "max_cells": 3,
        "max_rows_per_cell": 2,
    }
    # Letters are drawn as shapes: what is drawn stands in comments of the picture, a line each.
    lines = re.findall("<!-- (.*?) -->", Path("out.svg").read_text("utf-8"), re.DOTALL)
    assert "at most 2 rows in a cell for each of the people" in " ".join(" ".join(lines).split())


def test_units_that_are_cut_are_counted_for_a_share_of_epsilon(capsys):
    assert release(*UNITS, "--max-cells", "1", "--count-cut", "0.25", "--unit-name", "people", "--out", "out.csv") == 0
    manifest = json.loads(Path("out.manifest.json").read_text("utf-8"))
    (count,) = manifest["table"]["cut"]["tables"]
    assert f" is about {max(count['noisy_count'], 0):,} (95 % interval" in capsys.readouterr().out
    assert manifest["guarantee"]["epsilon"] == 1.0
    assert {row["covers"] for row in rows_of("out.csv")} == {"all people; counts: at most 1 cell each"}
    assert all(int(row["upper"]) - int(row["noisy_count"]) >= count["allowance"] for row in rows_of("out.csv"))


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


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ("--count rows", "error: --count = 'rows': needs --unit COL"),
        ("--unit person --max-cells 1 --count rows", "error: --count = 'rows': needs --max-rows-per-cell"),
        ("--unit person --max-cells 1 --max-rows-per-cell 2", "error: --max-rows-per-cell = 2: needs --count rows"),
        ("--unit person --max-cells 9 --count-cut 0.1", "error: --count-cut = 0.1: is not needed: --max-cells 9"),
        ("--unit-name ,", None),
    ],
)
def test_flags_of_units_are_refused_by_their_names(flags, said, capsys):
    code = release(*BY_TOWN, *flags.split(), "--out", "out.csv")
    if said is None:
        assert code == 0
        return
    assert code == 1
    assert capsys.readouterr().err.startswith(said)
    assert written() == []


def test_cells_that_cannot_occur_are_declared_in_the_file_of_the_domain():
    Path("people.toml").write_text(
        DOMAIN + '[columns.age]\nedges = [0, 18, 65]\n[[impossible]]\ntown = "Zell"\nage = "[0, 18)"\n'
    )
    assert release("--by", "town,age", "--domain", "people.toml", "--out", "out.csv") == 0
    keys = [(row["town"], row["age"]) for row in rows_of("out.csv")]
    assert len(keys) == 5
    assert ("Zell", "[0, 18)") not in keys
    manifest = json.loads(Path("out.manifest.json").read_text("utf-8"))
    assert manifest["table"]["request"]["impossible"] == [{"town": "Zell", "age": "[0, 18)"}]


def test_a_large_epsilon_is_warned_about_as_a_large_delta_is(capsys):
    assert run(["release", "people.csv", *BY_TOWN, "--epsilon", "100", "--out", "out.csv"]) == 0
    said = capsys.readouterr()
    assert said.err.startswith("warning: epsilon = 100 is above 10")
    assert json.loads(Path("out.manifest.json").read_text("utf-8"))["table"]["warnings"] != []
    assert "e-2" not in said.out


def test_json_is_one_document_and_nothing_else(capsys):
    assert release(*BY_TOWN, "--delta", "1e-3", "--out", "out.parquet", "--json") == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert document["files"] == ["out.parquet", "out.manifest.json"]
    assert document["manifest"] == json.loads(Path("out.manifest.json").read_text("utf-8"))
    assert said.err.startswith("warning: delta = 0.001 is above 1e-05")
    assert document["manifest"]["table"]["warnings"] != []
    assert pq.read_table("out.parquet").column_names == ["town", "count", "noisy_count", "lower", "upper"]


def test_several_tables_are_one_release(capsys):
    flags = (
        "--by",
        "town",
        "--by",
        "town,age",
        "--domain",
        "people.toml",
        "--bins",
        "age=0,18,inf",
        "--out",
        "out.csv",
    )
    assert release(*flags, "--plot", "out.svg") == 0
    assert written() == ["out-1.csv", "out-1.svg", "out-2.csv", "out-2.svg", "out.manifest.json"]
    assert [row["age"] for row in rows_of("out-2.csv")] == ["[0, 18)", "[18, inf]"] * 3
    request = json.loads(Path("out.manifest.json").read_text("utf-8"))["table"]["request"]
    assert request["by"] == [["town"], ["town", "age"]]
    assert "town x age" in capsys.readouterr().out


def test_flags_reach_the_request():
    flags = (
        "--by town --domain people.toml --unit person --max-cells 2 --neighbours replace-one --nonnegative "
        "--order 1 --delta 1e-6 --notion probabilistic --out out.csv --engine duckdb"
    )
    assert release(*flags.split()) == 0
    manifest = json.loads(Path("out.manifest.json").read_text("utf-8"))
    request = manifest["table"]["request"]
    assert {name: request[name] for name in ("unit", "max_cells", "neighbours", "nonnegative", "order")} == {
        "unit": "person",
        "max_cells": 2,
        "neighbours": "replace-one",
        "nonnegative": True,
        "order": 1.0,
    }
    assert request["goal"]["notion"] == "probabilistic"
    # Laplace noise promises more than was asked for.
    assert manifest["guarantee"]["notion"] == "pure"
    assert all(int(row["count"]) >= 0 for row in rows_of("out.csv"))


@pytest.mark.parametrize(("flags", "notion"), [([], "probabilistic"), (["--nonnegative"], "approximate")])
def test_what_is_adjusted_is_not_probabilistic_any_more(capsys, flags, notion):
    asked = ("--order", "2", "--delta", "1e-6", "--notion", "probabilistic", "--out", "out.csv", "--json")
    assert release(*BY_TOWN, *asked, *flags) == 0
    assert json.loads(capsys.readouterr().out)["manifest"]["guarantee"]["notion"] == notion


def test_a_public_total_is_kept():
    flags = (*BY_TOWN, "--total", "4", "--neighbours", "replace-one", "--out", "out.csv")
    assert release(*flags) == 0
    assert sum(int(row["count"]) for row in rows_of("out.csv")) == 4


@pytest.mark.parametrize(
    ("flags", "lines"),
    [(["--mean", "income"], 1), (["--mean", "income", "--sum", "income", "--variance", "income"], 4)],
)
def test_statistics_are_printed_in_lines_that_a_terminal_holds(flags, lines, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    asked = ["--by", "region", "--domain", str(EXAMPLES / "incomes.toml"), *flags, "--out", "t.csv"]
    assert release(*asked, source=str(EXAMPLES / "incomes.csv")) == 0
    printed = capsys.readouterr().out
    city = [line for line in printed.splitlines() if line.split()[:1] == ["city"]]
    # Every number has its whole interval beside it.
    assert len(city) == lines
    assert all(re.search(r" [-0-9.,]+ +[-0-9.,]+ to [-0-9.,]+ *$", line) for line in city)


def test_levels_and_bins_are_declared_by_flags():
    flags = ("--by", "town,age", "--levels", 'town="Aach, Bodensee",Zell,"a ""b"""', "--bins", "age=-inf,18,65.5")
    assert release(*flags, "--out", "out.csv") == 0
    assert {row["town"] for row in rows_of("out.csv")} == {"Aach, Bodensee", "Zell", 'a "b"'}
    assert [row["age"] for row in rows_of("out.csv")[:2]] == ["[-inf, 18)", "[18, 65.5]"]


def test_a_sparse_table_is_asked_for_by_false_cells(capsys):
    levels = "town=" + ",".join(f"t{k}" for k in range(500))
    assert release("--by", "town", "--levels", levels, "--false-cells", "1e-6", "--out", "out.csv") == 0
    assert json.loads(Path("out.manifest.json").read_text("utf-8"))["table"]["regime"] == "sparse"
    assert rows_of("out.csv") == []
    assert "(no cell has a noisy count at or above the threshold)" in capsys.readouterr().out


def test_undeclared_levels_need_delta(capsys):
    assert release("--by", "town", "--out", "out.csv") == 1
    assert "error: --by = 'town': no domain is given: declare its levels or edges with " in capsys.readouterr().err
    assert release("--by", "town,age", "--levels", "town=a", "--out", "out.csv") == 1
    assert "error: --by = 'age': the domain does not declare this column: " in capsys.readouterr().err
    Path("towns.toml").write_text('[columns.town]\nlevels = ["a"]\n', "utf-8")
    assert release("--by", "twon", "--domain", "towns.toml", "--out", "out.csv") == 1
    assert "the domain does not declare this column (did you mean 'town'?): " in capsys.readouterr().err
    assert release("--by", "town", "--delta", "1e-6", "--out", "out.csv") == 0
    assert "(no cell has a noisy count at or above the threshold)" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_is_the_same_bytes_for_the_same_table(monkeypatch, suffix):
    monkeypatch.setattr(table_plan, "checked_source", lambda _: ggdp.SeededSource(seed=3))
    for name in ("one", "other"):
        Path(name).mkdir()
        assert release(*BY_TOWN, "--out", f"{name}/t.csv", "--plot", f"{name}/t.{suffix}") == 0
    assert Path(f"one/t.{suffix}").read_bytes() == Path(f"other/t.{suffix}").read_bytes()


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
    plan = ggdp.plan_table(**asked, count_cut=0.1, out="out.csv", plot="out.png")
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


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ("--by town --levels town=a --unit person", "--unit = 'person': needs --max-cells: "),
        ("--by town --levels town=a --max-cells 2", "--max-cells = 2: needs --unit COL: "),
        ("--by town --levels town=a --total 3", "--total = 3: needs --neighbours replace-one"),
        ("--by town --domain none.toml", "--domain = 'none.toml': cannot be read"),
        (
            "--by town --domain people.toml --levels town=a",
            "--levels = 'town=a': 'town' is already declared by the file",
        ),
        ("--by town --levels town=a --levels town=b", "--levels = 'town=b': 'town' is already declared by --levels"),
        ("--by town --levels town=a --bins town=1,2", "--bins = 'town=1,2': 'town' is already declared by --levels"),
        ("--by town --levels city=a", "--levels = 'city=a': 'city' is not one of the columns of --by"),
        ("--by town --levels town", "--levels = 'town': must be a column, '=' and its values"),
        ("--by town --levels =a", "--levels = '=a': must be a column, '=' and its values"),
        ("--by town --levels town=", "--levels = 'town=': must be values separated by ','"),
        ("--by town --levels 'town=\"a'", "--levels = 'town=\"a': must be values separated by ','"),
        ("--by age --bins age=a,b", "--bins = 'a,b': must be numbers"),
        ("--by age --bins age=2,1", "edges of 'age' = [2.0, 1.0]: must increase"),
        ("--by town,town --levels town=a", "--by = 'town,town': names a column twice"),
        ("--by town,age --by age,town --levels town=a", "--by town,age --by age,town: requests the same table twice"),
        ("--by '\"a,b\",c' --by 'c,\"a,b\"'", '--by "a,b",c --by c,"a,b": requests the same table twice'),
        ("--by '' --levels town=a", "--by = '': must be values separated by ','"),
        ("--by town,agee --levels town=a --bins agee=0,1", "--by = 'agee': there is no such column in people.csv"),
        (
            "--by town --levels town=a --unit who --max-cells 1",
            "--unit = 'who': there is no such column in people.csv",
        ),
        ("--by town --levels town=a --order 2", "--order = 2.0: needs a delta: give a --delta above 0, or --order 1\n"),
        ("--by town --levels town=a --order fast", "--order = 'fast': must be a number of at least 1, or auto"),
        ("--by town --levels town=a --order 0.5", "--order = 0.5"),
        ("--by town --levels town=a --false-cells 1", "--false-cells = 1.0: must be below the number of cells, 1"),
        (
            "--by town --levels town=a --notion approximate",
            "--delta = None: is required for approximate DP",
        ),
        ("--by town --levels town=a --plot out.jpg", "--plot = 'out.jpg': must end in .png, .pdf, .svg"),
        ("--by town --levels town=a --plot none/out.png", "--plot = 'none/out.png': cannot be written"),
    ],
)
def test_errors_name_the_flag_and_leave_no_file(capsys, flags, message):
    assert release(*shlex.split(flags), "--out", "out.csv") == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert message in said.err
    assert said.err.count("\n") == 1
    assert written() == []


@pytest.mark.parametrize("source", ["none.csv", "none/*.parquet", "people.xyz", "."])
def test_a_source_that_is_not_there_is_one_line(capsys, source):
    assert release(*BY_TOWN, "--out", "out.csv", source=source) == 1
    said = capsys.readouterr().err
    assert said.startswith("error: ")
    assert said.count("\n") == 1
    assert written() == []


@pytest.mark.parametrize(
    "flags", [["--by", "town"], ["--out", "out.csv"], ["--by", "town", "--out", "o.csv", "--engine", "x"]]
)
def test_wrong_usage_is_exit_code_2(capsys, flags):
    assert release(*flags) == 2
    assert capsys.readouterr().err.startswith("error: ")
    assert written() == []


@pytest.mark.parametrize(
    ("flag", "value"), [("--delta", "x"), ("--total", "1.5"), ("--max-cells", "--by"), ("--engine", "x")]
)
def test_wrong_usage_shows_the_flag_and_its_value(capsys, flag, value):
    assert release(*BY_TOWN, "--out", "out.csv", flag, value) == 2
    said = capsys.readouterr().err
    assert flag in said
    assert repr(value) in said
    assert said.count("\n") == 1


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


def test_characters_that_no_font_has_are_drawn_without_a_word_on_standard_error(capsys):
    # A private character, which no font of a usual system has.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flags = ("--by", "town", "--levels", "town=\U0010ff00,東京", "--out", "out.csv", "--plot", "out.png")
        assert release(*flags) == 0
    assert capsys.readouterr().err == ""
    assert Path("out.png").stat().st_size > 0


@pytest.mark.parametrize("out", ["out.txt", "none/out.csv", "people.csv"])
def test_an_out_that_cannot_be_written_is_refused_before_the_source_is_opened(capsys, out):
    assert release(*BY_TOWN, "--out", out, source="none.csv") == 1
    assert f"error: --out = '{out}': " in capsys.readouterr().err
    assert Path("people.csv").read_text("utf-8") == PEOPLE


def test_an_earlier_output_is_replaced_only_when_asked_and_warned_about(capsys):
    flags = (*BY_TOWN, "--out", "out.csv", "--plot", "out.png")
    assert release(*flags, "--overwrite") == 0
    assert capsys.readouterr().err == ""
    before = {name: Path(name).read_bytes() for name in written()}
    assert release(*flags) == 1
    assert "error: --out = 'out.csv': 'out.csv' already exists" in capsys.readouterr().err
    assert {name: Path(name).read_bytes() for name in written()} == before
    assert release(*flags, "--overwrite") == 0
    assert "each run spends the privacy budget again" in capsys.readouterr().err


@pytest.mark.parametrize("source", ["people.csv", "./people.csv", "*.csv", "link.csv"])
def test_the_source_is_never_overwritten(capsys, source):
    Path("link.csv").symlink_to("people.csv")
    assert release(*BY_TOWN, "--out", "people.csv", "--overwrite", source=source) == 1
    assert "error: --out = 'people.csv': is the source file" in capsys.readouterr().err
    assert Path("people.csv").read_text("utf-8") == PEOPLE


@pytest.mark.parametrize("fails_at", [1, 2, 3])
def test_a_full_disk_leaves_nothing_behind(monkeypatch, capsys, fails_at):
    calls = []

    def full(_):
        calls.append(1)
        if len(calls) == fails_at:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert release(*BY_TOWN, "--out", "out.csv", "--plot", "out.png") == 1
    assert "No space left on device" in capsys.readouterr().err
    assert written() == []


def test_without_matplotlib_no_budget_is_spent_on_a_picture(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    monkeypatch.setattr(table_plan, "release_counts", lambda *_, **__: pytest.fail("the data were opened"))
    assert release(*BY_TOWN, "--out", "out.csv", "--plot", "out.png") == 1
    assert "pip install 'ggdp[plots]'" in capsys.readouterr().err
    assert written() == []


def test_whatever_fails_inside_is_not_repeated(monkeypatch, capsys):
    def fails(*_, **__):
        message = "could not convert 'the secret'"
        raise RuntimeError(message)

    monkeypatch.setattr(table_plan, "release_counts", fails)
    assert release(*BY_TOWN, "--out", "out.csv") == 1
    said = capsys.readouterr()
    assert "secret" not in said.out + said.err
    assert said.err.startswith("error: the release failed, and nothing was published.")
    assert written() == []


def test_levels_are_printed_as_they_are_and_move_no_cursor(capsys):
    levels = 'town=[red],:smile:,"a\x1b[2Jb",[/]'
    assert release("--by", "town", "--levels", levels, "--out", "out.csv") == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "[red]" in said
    assert ":smile:" in said
    assert r"a\x1b[2Jb" in said


def test_of_a_long_table_the_first_rows_are_printed(capsys):
    levels = "town=" + ",".join(f"t{k}" for k in range(50))
    assert release("--by", "town", "--levels", levels, "--out", "out.csv") == 0
    said = capsys.readouterr().out
    assert "t19" in said
    assert "t20" not in said
    assert "(30 more rows in out.csv)" in said


@pytest.mark.exhaustive
def test_a_large_table_of_spark_is_a_directory_and_what_is_checked_there_is_the_same(monkeypatch, capsys):
    spark_cluster.cluster()
    assert run(["check", "people.csv", *BY_TOWN, "--unit", "person", "--json"]) == 0
    checked = capsys.readouterr().out
    assert run(["check", "people.csv", *BY_TOWN, "--unit", "person", "--json", "--engine", "spark"]) == 0
    assert capsys.readouterr().out == checked
    monkeypatch.setattr(noisy_counts, "MOST_ON_DRIVER", 2)
    assert release(*BY_TOWN, "--engine", "spark", "--out", "out.csv") == 1
    assert "error: --out = 'out.csv': must end in .parquet" in capsys.readouterr().err
    assert release(*BY_TOWN, "--engine", "spark", "--out", "out.parquet", "--plot", "out.png", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert document["manifest"] == json.loads(Path("out.manifest.json").read_text("utf-8"))
    assert written() == ["out.manifest.json", "out.parquet", "out.png"]
    assert pq.read_table("out.parquet")["town"].to_pylist() == ["Aach, Bodensee", "Zell", "elsewhere"]
    assert release(*BY_TOWN, "--engine", "spark", "--out", "out.parquet", "--overwrite") == 1
    assert "'out.parquet' is a directory" in capsys.readouterr().err


def test_the_walk_of_the_readme_goes_from_a_csv_file_to_a_published_table_with_a_plot(here, capsys):
    shutil.copytree(EXAMPLES, here / "docs" / "examples")
    page = (ROOT / "README.md").read_text("utf-8").split("## Publish a table")[1].split("\n## ")[0]
    walk = commands(re.search(r"^```sh\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1])
    assert [line.split()[:2] for line in walk] == [["ggdp", "check"], ["ggdp", "release"], ["ggdp", "release"]]
    assert [run_line(line)[0] for line in walk] == [0, 0, 0]
    assert capsys.readouterr().err == ""
    assert {"smoking.csv", "smoking.manifest.json", "smoking.png"} <= set(written())
    assert sum(int(row["count"]) for row in rows_of("smoking.csv")) == pytest.approx(1841, abs=200)


def test_the_example_is_the_bundled_table_one_row_a_worker():
    table = czech()
    with (EXAMPLES / "workers.csv").open(newline="", encoding="utf-8") as text:
        header, *rows = csv.reader(text)
    assert tuple(header) == table.columns
    assert [tuple(row) for row in rows] == table.rows()
    domain = ggdp.Domain.from_toml(EXAMPLES / "workers.toml")
    assert {column.name: column.levels for column in domain} == {name: table.levels(name) for name in table.columns}


TOWNS = ("--by", "town", "--levels", "town=Kehl,Zürich", "--epsilon", "1000", "--delimiter", ";", "--out", "towns.csv")


def test_a_file_is_read_by_the_encoding_and_delimiter_of_the_flags(capsys):
    Path("towns.txt.csv").write_bytes("id;town\n1;Zürich\n2;Kehl\n3;Zürich\n".encode("latin-1"))
    assert release(*TOWNS, "--encoding", "latin-1", source="towns.txt.csv") == 0
    assert [row["count"] for row in rows_of("towns.csv")] == ["1", "2"]
    manifest = json.loads(Path("towns.manifest.json").read_text("utf-8"))
    text = manifest["table"]["request"]["text"]
    read = {"encoding": "iso8859-1", "delimiter": ";", "quoted": True, "escape": None, "longest_record": 2**24}
    assert text == read
    capsys.readouterr()


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--encoding", "klingon"), "--encoding = 'klingon': is unknown"),
        (("--encoding", "utf-7"), "--encoding = 'utf-7': cannot be read record by record"),
        (("--delimiter", "::"), "--delimiter = '::': must be one ASCII character"),
        (("--temp-dir", "nowhere"), "--temp-dir = 'nowhere': is not a directory; create it first"),
    ],
)
def test_flags_of_files_are_refused_by_their_names(flags, said, capsys):
    assert release("--by", "sex", "--levels", "sex=f,m", "--epsilon", "1", "--out", "out.csv", *flags) == 1
    assert said in capsys.readouterr().err
    assert not Path("out.csv").exists()


@pytest.mark.parametrize(("mark", "typed"), [(";", "';'"), ("\t", r"'\t'"), ("|", "'|'")])
def test_a_header_of_one_field_hints_at_its_delimiter(capsys, mark, typed):
    Path("other.csv").write_text(PEOPLE.replace(",", mark))
    assert release(*BY_TOWN, "--out", "out.csv", source="other.csv") == 1
    assert f"try --delimiter {typed}\n" in capsys.readouterr().err
    assert run(["check", "other.csv", *BY_TOWN]) == 1
    assert f"try --delimiter {typed}\n" in capsys.readouterr().err
    assert release(*BY_TOWN, "--out", "out.csv", "--delimiter", typed.strip("'"), source="other.csv") == 0
