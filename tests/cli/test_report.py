"""``ggdp report``: pages for the people who sign."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

import ggdp
from ggdp.cli.app import run


@pytest.fixture
def manifest(tmp_path):
    people = pa.table({"smokes": ["no", "yes", "no"]})
    release = ggdp.release_table(people, by="smokes", goal=ggdp.PureDP(1.0), domain={"smokes": ["no", "yes"]})
    release.write(tmp_path / "smoking.csv")
    return str(tmp_path / "smoking.manifest.json")


def test_a_page_is_written_and_open_questions_are_counted(manifest, tmp_path, capsys):
    page = tmp_path / "report.html"
    assert run(["report", manifest, "--out", str(page)]) == 0
    said = capsys.readouterr()
    assert "1 release, 1 certificate proved again." in said.out
    assert "Total: 1-DP under add-remove neighbours" in said.out
    assert "13 questions are open" in said.out
    assert f"Written: {page}" in said.out
    assert said.err == ""
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_json_is_one_document(manifest, capsys):
    assert run(["report", manifest, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["files"] == []
    assert found["total"]["basic"]["epsilon"] == 1.0
    assert found["open"] == 13


def test_a_problem_is_a_warning(manifest, tmp_path, capsys):
    (tmp_path / "smoking.csv").write_text("changed")
    assert run(["report", manifest, "--out", str(tmp_path / "report.html")]) == 0
    assert "warning: The file smoking.csv is not the one that was released" in capsys.readouterr().err


def test_something_must_be_written(manifest, capsys):
    assert run(["report", manifest]) == 2
    assert "--out" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--out", "MADE/smoking.csv"], "error: --out = "),
        (["--out", "MADE/old.html"], "already exists; pass --overwrite to replace it"),
        (["--out", "MADE/new.html", "--deployment", "MADE/none.toml"], "error: --deployment = "),
        (["--out", "MADE/new.html", "--ledger", "MADE/none.ledger"], "error: "),
        (["--registry", "MADE/new.yaml"], "the registry needs these keys: product.name"),
    ],
)
def test_errors_name_the_flag(manifest, tmp_path, capsys, flags, said):
    (tmp_path / "old.html").write_text("old")
    before = sorted(tmp_path.iterdir())
    assert run(["report", manifest, *(flag.replace("MADE", str(tmp_path)) for flag in flags)]) == 1
    assert said in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before
    assert (tmp_path / "old.html").read_text() == "old"


def test_what_is_no_manifest_is_named(tmp_path, capsys):
    file = tmp_path / "smoking.csv"
    file.write_text("smokes,count\n")
    assert run(["report", str(file), "--json"]) == 1
    assert f"error: MANIFEST = '{file}': is not a JSON file; name a manifest of ggdp" in capsys.readouterr().err
