import csv
import json
import os

import pytest

import ggdp
from ggdp.cli import demo
from ggdp.cli.app import run
from ggdp.datasets import czech


def test_the_demo_writes_a_table_its_proof_and_a_plot(tmp_path, capsys):
    out = tmp_path / "release"
    assert run(["demo", "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == ["czech.csv", "czech.manifest.json", "czech.png"]
    with (out / "czech.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 8
    assert all(int(row["lower"]) <= int(row["count"]) <= int(row["upper"]) for row in rows)
    total = sum(int(row["count"]) for row in rows)
    assert total == pytest.approx(1841, abs=200)
    ggdp.verify(json.loads((out / "czech.manifest.json").read_text())["mechanism"]["certificate"])
    assert (out / "czech.png").read_bytes().startswith(b"\x89PNG")
    assert "1-DP under add-remove neighbours" in capsys.readouterr().out


def test_an_earlier_output_is_not_replaced_unasked(tmp_path, capsys):
    assert run(["demo", "--out", str(tmp_path)]) == 0
    before = (tmp_path / "czech.csv").read_bytes()
    assert run(["demo", "--out", str(tmp_path)]) == 1
    assert (tmp_path / "czech.csv").read_bytes() == before
    capsys.readouterr()
    assert run(["demo", "--out", str(tmp_path), "--overwrite"]) == 0
    assert "spends epsilon again" in capsys.readouterr().err


def test_json_is_the_only_thing_on_standard_output(tmp_path, capsys):
    assert run(["demo", "--out", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert len(document["cells"]) == 8
    assert len(document["files"]) == 3


def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device", str(tmp_path / "czech.csv"))

    monkeypatch.setattr(os, "fsync", full)
    assert run(["demo", "--out", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert message.startswith("error: --out = ")
    assert "No space left on device" in message
    assert list(tmp_path.iterdir()) == []


def test_a_second_run_that_was_a_moment_faster_is_not_replaced(tmp_path, monkeypatch, capsys):
    def late(_):
        (tmp_path / "czech.manifest.json").write_text("made by another run")

    monkeypatch.setattr(os, "fsync", late)
    assert run(["demo", "--out", str(tmp_path)]) == 1
    assert "error: --out = " in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["czech.manifest.json"]
    assert (tmp_path / "czech.manifest.json").read_text() == "made by another run"


def test_an_out_that_is_a_file_is_an_error_that_names_it(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    assert run(["demo", "--out", str(tmp_path / "file")]) == 1
    assert "error: --out = " in capsys.readouterr().err


def test_the_error_of_a_bad_epsilon_comes_before_any_file(tmp_path):
    assert run(["demo", "--out", str(tmp_path / "new"), "--epsilon", "-1"]) == 1
    assert not (tmp_path / "new").exists()


def test_the_bundled_table_is_the_published_one():
    table = czech()
    assert sum(table.counts) == len(table.rows()) == 1841
    assert len(table.cells) == len(set(table.cells)) == 64
    assert table.counts.count(0) == 1
    assert all(len(table.levels(name)) == 2 for name in table.columns)
    assert set(demo.BY) <= set(table.columns)
