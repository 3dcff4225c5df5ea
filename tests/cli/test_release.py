"""``ggdp release``: what comes out, in files and on the screen."""

import csv
import json
import re
import shutil
import warnings
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from tests.cli.people import BY_TOWN, DOMAIN, UNITS, release, rows_of, warned, written
from tests.command_lines import commands, run_line
from tests.manifest_schema import VALIDATOR
from tests.sources.spark import cluster as spark_cluster

import ggdp
from ggdp.cli.app import run
from ggdp.datasets import czech
from ggdp.tables import noisy_counts, table_plan

pytestmark = pytest.mark.usefixtures("here")
ROOT = Path(__file__).parents[2]


EXAMPLES = ROOT / "docs" / "examples"


def test_a_table_and_its_manifest_come_out(capsys):
    assert release(*BY_TOWN, "--out", "out.csv") == 0
    said = capsys.readouterr()
    assert written() == ["out.csv", "out.manifest.json"]
    rows = rows_of("out.csv")
    assert [row["town"] for row in rows] == ["Aach, Bodensee", "Zell", "elsewhere"]
    assert all(int(row["lower"]) <= int(row["count"]) <= int(row["upper"]) for row in rows)
    manifest = json.loads(Path("out.manifest.json").read_text("utf-8"))
    ggdp.verify(manifest["mechanism"]["certificate"])
    assert manifest["statement"] in said.out
    assert "1-DP under add-remove neighbours" in said.out
    assert "Written: out.csv, out.manifest.json" in said.out
    assert warned(said.err) == ""


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
    assert all(int(row["upper"]) - int(row["count"]) >= count["allowance"] for row in rows_of("out.csv"))


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
    assert pq.read_table("out.parquet").column_names == ["town", "count", "lower", "upper"]


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


@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_picture_is_the_same_bytes_for_the_same_table(monkeypatch, suffix):
    monkeypatch.setattr(table_plan, "checked_source", lambda _: ggdp.SeededSource(seed=3))
    for name in ("one", "other"):
        Path(name).mkdir()
        assert release(*BY_TOWN, "--out", f"{name}/t.csv", "--plot", f"{name}/t.{suffix}") == 0
    assert Path(f"one/t.{suffix}").read_bytes() == Path(f"other/t.{suffix}").read_bytes()


def test_characters_that_no_font_has_are_drawn_without_a_word_on_standard_error(capsys):
    # A private character, which no font of a usual system has.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        flags = ("--by", "town", "--levels", "town=\U0010ff00,東京", "--out", "out.csv", "--plot", "out.png")
        assert release(*flags) == 0
    assert warned(capsys.readouterr().err) == ""
    assert Path("out.png").stat().st_size > 0


def test_an_earlier_output_is_replaced_only_when_asked_and_warned_about(capsys):
    flags = (*BY_TOWN, "--out", "out.csv", "--plot", "out.png")
    assert release(*flags, "--overwrite") == 0
    assert warned(capsys.readouterr().err) == ""
    before = {name: Path(name).read_bytes() for name in written()}
    assert release(*flags) == 1
    assert "error: --out = 'out.csv': 'out.csv' already exists" in capsys.readouterr().err
    assert {name: Path(name).read_bytes() for name in written()} == before
    assert release(*flags, "--overwrite") == 0
    assert "each run spends the privacy budget again" in capsys.readouterr().err


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
    assert warned(capsys.readouterr().err) == ""
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


def test_with_strict_lines_a_misplaced_quote_spoils_its_own_row_and_the_manifest_says_how_it_was_read(capsys):
    Path("towns.txt.csv").write_text('id;town\n1;Kehl\n2;"Kehl\n3;Kehl\n4;Zürich\n', "utf-8")
    assert release(*TOWNS, "--strict-lines", source="towns.txt.csv") == 0
    assert [row["count"] for row in rows_of("towns.csv")] == ["3", "1"]
    manifest = json.loads(Path("towns.manifest.json").read_text("utf-8"))
    VALIDATOR.validate(manifest)
    assert manifest["table"]["request"]["text"]["strict_lines"] is True
    assert release(*TOWNS, "--overwrite", source="towns.txt.csv") == 0
    assert [row["count"] for row in rows_of("towns.csv")] == ["1", "0"]
    assert "strict_lines" not in Path("towns.manifest.json").read_text("utf-8")
    # The same by the other commands that read files.
    assert run(["check", "towns.txt.csv", *TOWNS[:4], "--delimiter", ";", "--strict-lines", "--json"]) == 0
    assert run(["range", "towns.txt.csv", "id", "--epsilon", "1", "--delimiter", ";", "--strict-lines"]) == 0
    capsys.readouterr()
