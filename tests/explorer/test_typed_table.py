"""What is typed on the page, the command that it shows and the Python code that it shows ask for the same."""

import json
import shlex
from typing import Any

import pytest
from typer.testing import CliRunner

from ggdp.cli.app import app
from ggdp.errors import GgdpError
from ggdp.explorer.typed_table import TypedTable

TABLES = [
    TypedTable(by="ward", levels="ward=births, eyes"),
    TypedTable(by="ward, age", levels="ward=births,eyes", bins="age=0,18,65,inf", epsilon=0.1, delta=1e-6, order="2"),
    TypedTable(by="visited", bins="visited=2024-01-01,2024-07-01,2025-01-01", neighbours="replace-one"),
    TypedTable(by="rooms", levels="rooms=1..5", unit="flat", max_cells=2, unit_name="flats", nonnegative=True),
    TypedTable(statistics="mean income\nquantile income=0.25,0.5", ranges="income=0:200000\n"),
    TypedTable(by="rooms, floor", levels="rooms=1..300\nfloor:int=1,2,3,4,5,7"),
    TypedTable(by="ward", delta=1e-6, unit="person", max_cells=1),
    TypedTable(by="ward", levels="ward=births,eyes", delimiter=";", encoding="latin-1"),
    TypedTable(by="ward", levels="ward=births,eyes", delimiter="tab"),
    TypedTable(by="ward", levels="ward=births,eyes", nonnegative=True, lines="strict"),
    TypedTable(
        by="ward, age",
        levels="ward=births,eyes",
        bins="age=0,18,65,120",
        labels="age=child,adult,old",
        other="ward=elsewhere\nage=unknown",
        missing="age=unknown",
    ),
    TypedTable(by="ward\nage, ward", levels="ward=births,eyes", bins="age=0,18,65", unit_is_row=True),
    TypedTable(by="ward, adult", levels="ward=1..3", derive="adult=age >= 18", percent_of="ward", digits="1"),
    TypedTable(by="ward", levels="ward=1..3", where="age >= 18 and ward <> 2", null_values="NA,."),
    TypedTable(by="seen", bins="seen=2024-01-01,2025-01-01", date_format="%d.%m.%Y", decimal=",", thousands=" "),
    TypedTable(statistics="median income\nmean income", ranges="income=0:200000", digits="2", sheet="2024"),
    TypedTable(by='ward, "the, age"', levels="ward=births,eyes\nthe, age=1..3"),
]


@pytest.mark.parametrize("table", TABLES)
def test_the_command_asks_for_the_same(table: TypedTable) -> None:
    words = shlex.split(table.command("people.csv", "--dry-run").replace("\\\n", " "))
    assert words[:3] == ["ggdp", "release", "people.csv"]
    found = CliRunner().invoke(app, [*words[1:], "--json"])
    assert json.loads(found.stdout) == json.loads(json.dumps(table.plan().to_dict() | {"engine": "duckdb"}))


@pytest.mark.parametrize("table", TABLES)
def test_the_python_code_asks_for_the_same(table: TypedTable) -> None:
    names: dict[str, Any] = {}
    exec(table.python("plan_table"), names)
    assert names["found"].to_dict() == table.plan().to_dict()


@pytest.mark.parametrize("more", [{}, {"other": "ward=elsewhere"}])
@pytest.mark.parametrize("impossible", ["", '[[impossible]]\nsex = "m"\nward = "births"\n'])
def test_a_domain_file_is_part_of_the_command_and_of_the_code(tmp_path, more, impossible) -> None:
    file = tmp_path / "domain.toml"
    file.write_text('[columns.ward]\nlevels = ["births", "eyes"]\n[columns.sex]\nlevels = ["f", "m"]\n' + impossible)
    table = TypedTable(by="sex, ward", domain=str(file), **more)
    assert f"--domain {file}" in table.command("people.csv").replace("'", "")
    test_the_command_asks_for_the_same(table)
    test_the_python_code_asks_for_the_same(table)
    if not more:
        assert f"domain={str(file)!r}" in table.python("plan_table")


def test_a_check_is_asked_for_as_its_release_is() -> None:
    table = TypedTable(
        by="ward",
        levels="ward=a,b",
        unit="person",
        max_cells=2,
        epsilon=0.5,
        nonnegative=True,
        delimiter=";",
        lines="strict",
    )
    command = shlex.split(table.command("visits.csv", name="check").replace("\\\n", " "))
    assert (
        shlex.join(command)
        == "ggdp check visits.csv --by ward --levels ward=a,b --unit person --max-cells 2 --nonnegative "
        "--epsilon 0.5 --delimiter ';' --strict-lines"
    )
    asked = {"by", "domain", "unit", "max_cells", "nonnegative", "epsilon", "delta", "delimiter", "strict_lines"}
    assert set(table.check_arguments()) == asked


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (TypedTable(), r"Count by = ''.*name columns"),
        (TypedTable(by="ward"), r"Count by = 'ward'.*Levels or Bins; or give a Delta"),
        (TypedTable(by="ward", levels="wards=a"), r"Levels = 'wards=a'.*columns of Count by"),
        (TypedTable(by="ward", levels="ward=a,b", unit="p"), r"Unit = 'p': needs Cells per unit"),
        (TypedTable(by="ward", levels="ward=a,b", epsilon=-1.0), r"Epsilon = -1"),
        (TypedTable(by="ward", levels="ward=a,b", order="many"), r"Order = 'many'"),
        (TypedTable(by="ward", other="ward=b", delta=1e-6), r"Other values = 'ward=b'.*Levels or Bins$"),
        (TypedTable(by="ward", levels="ward=a,b", labels="ward=c"), r"[Ll]abels"),
        (TypedTable(statistics="mode income"), r"Statistics = 'mode income'.*median COL or quantile COL"),
        (TypedTable(statistics="mean income"), r"Ranges"),
        (TypedTable(by="ward", levels="ward=a,b", delimiter="::"), r"Delimiter = '::'"),
        (TypedTable(by="ward", levels="ward=a,b", encoding="klingon"), r"Encoding = 'klingon'"),
        (TypedTable(by="ward", levels="ward=a,b", decimal=";"), r"Decimal mark = ';': must be"),
        (TypedTable(by="ward", levels="ward=a,b", thousands="x"), r"Thousands separator = 'x': must be"),
        (TypedTable(by="ward", levels="ward=a,b", date_format="%Q"), r"Date format = '%Q'"),
        (TypedTable(by="ward", levels="ward=a,b", where="age >> 3"), r"Filter = 'age >> 3'"),
        (TypedTable(by="ward", levels="ward=a,b", digits="two"), r"Digits = 'two': must be a whole number"),
        (TypedTable(by="ward", levels="ward=a,b", digits="2"), r"Digits = 2: needs Statistics"),
        (TypedTable(by="ward", levels="ward=a,b", unit="p", max_cells=1, unit_is_row=True), r"Each row is one person"),
    ],
)
def test_errors_are_in_the_words_of_the_page(table: TypedTable, said: str) -> None:
    with pytest.raises(GgdpError, match=said) as refused:
        table.plan()
    assert "--" not in str(refused.value)


def test_long_runs_of_integers_are_written_as_ranges() -> None:
    assert "'rooms': list(range(1, 301))," in TypedTable(by="rooms", levels="rooms=1..300").python("plan_table")
