import json
from pathlib import Path

import pytest

from ggdp.cli.app import run

VISITS = """person,ward,age
p1,surgery,34
p1,children,34
p2,Surgery,eighty
,surgery,150
p3,,20
"""
FLAGS = ("--by", "ward", "--by", "age", "--levels", "ward=surgery,children,births", "--bins", "age=0,18,120")


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    # As wide as a page, so that sentences are not folded in the middle of a test.
    monkeypatch.setenv("COLUMNS", "200")
    Path("visits.csv").write_text(VISITS, encoding="utf-8")


def check(*flags):
    return run(["check", "visits.csv", *flags])


def test_the_first_line_says_that_it_is_not_private(capsys):
    assert check(*FLAGS) == 0
    assert capsys.readouterr().out.startswith("NOT PRIVATE: computed from the data without noise. Do not publish")


def test_it_shows_what_matches_nothing_and_what_to_do(capsys):
    assert check(*FLAGS, "--unit", "person") == 0
    said = " ".join(capsys.readouterr().out.split())
    for part in (
        "5 rows; a release would publish every cell",
        "match nothing 1 row, 1 different most frequent of these 'Surgery' (1)",
        "declared, never seen births (fine: keep them)",
        "not a number or date 1 row outside the edges 1 row",
        "a level seen only in the data must not be declared: take levels from a code book",
        "declare a level `other`",
        "declare a level `missing`",
        "3 different values of person; 1 row without a unit, not counted",
        "1 50.00% 1 0.5 6 2 100.00% 0 0.0 12",
        "Not private, since it comes from the data: --max-cells 1 minimizes plus-minus",
    ):
        assert part in said


def test_json_is_one_document_with_the_warning_in_it(capsys):
    assert check(*FLAGS, "--unit", "person", "--json") == 0
    said = capsys.readouterr()
    document = json.loads(said.out)
    assert document["notice"].startswith("NOT PRIVATE")
    assert [column["name"] for column in document["columns"]] == ["ward", "age"]
    assert document["units"]["tables"][0]["choices"][0]["kept"] == 0.5
    assert said.err == ""


def test_open_columns_and_domains_that_are_too_large_are_explained(capsys):
    assert check("--by", "ward") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "a release needs --delta" in said
    assert "different values 3" in said
    Path("domain.toml").write_text(
        "".join(f"[columns.{name}]\nlevels = {list(range(9000))}\n" for name in ("ward", "age")), encoding="utf-8"
    )
    assert check("--by", "ward,age", "--domain", "domain.toml") == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "81,000,000" in said
    assert "a release needs --false-cells" in said
    assert "and 8,990 more (fine: keep them)" in said


def test_values_of_the_data_move_no_cursor(capsys):
    Path("visits.csv").write_text("ward\n\x1b[2Jgone\n[bold]\n", encoding="utf-8")
    assert check("--by", "ward", "--levels", "ward=a") == 0
    said = capsys.readouterr().out
    assert "\x1b" not in said
    assert "[bold]" in said


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--by", "ward,nothing"], "--by = 'nothing': there is no such column in visits.csv"),
        (["--by", "ward", "--unit", "who"], "--unit = 'who': there is no such column in visits.csv"),
        (["--by", "ward", "--by", "ward"], "--by ward --by ward: requests the same table twice"),
        (["--by", "ward", "--unit", "ward"], "--unit = 'ward': cannot also be counted by"),
        (["--by", "ward", "--levels", "age=1"], "--levels = 'age=1': 'age' is not one of the columns of --by"),
    ],
)
def test_errors_name_the_flag(capsys, flags, message):
    assert check(*flags) == 1
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith("error: ")
    assert message in said.err


def test_it_says_how_records_were_read(capsys):
    Path("visits.csv").write_bytes("person,ward\np1,surgery\np2,Zürich\np3,births,extra\n".encode("latin-1"))
    flags = ("--by", "ward", "--levels", "ward=surgery,births")
    assert check(*flags) == 0
    said = " ".join(capsys.readouterr().out.split())
    for part in (
        "records 3",
        "text that is not valid utf-8 1 row",
        "with more fields than the header 1 row",
        "some text is not valid utf-8; declare the encoding of the file: latin-1 or cp1252",
    ):
        assert part in said
    assert check(*flags, "--encoding", "latin-1") == 0
    assert "text that is not valid iso8859-1 0 rows" in " ".join(capsys.readouterr().out.split())
