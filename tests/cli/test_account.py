"""``ggdp account``: the total of manifests."""

from __future__ import annotations

import json

import pytest

import ggdp
from ggdp.cli.app import run


@pytest.fixture(scope="module")
def manifests(tmp_path_factory):
    folder = tmp_path_factory.mktemp("manifests")
    noise = ggdp.calibrate(ggdp.ApproxDP(0.5, 1e-7), ggdp.Sensitivity.histogram(), order=2, support="integer")
    files = []
    for number in range(3):
        file = folder / f"{number}.manifest.json"
        file.write_text(json.dumps(ggdp.Mechanism(noise).release([5, 7]).manifest))
        files.append(str(file))
    return files


def document(capsys, *arguments):
    assert run(["account", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_epsilon_for_a_delta_is_less_than_the_plain_sum(manifests, capsys):
    found = document(capsys, *manifests, "--delta", "1e-6")
    assert found["delta"] == 1e-6
    assert 0.0 < found["lower"] <= found["epsilon"] < 1.0
    assert found["basic"]["epsilon"] == 1.5
    assert found["basic"]["delta"] == pytest.approx(3e-7)
    assert [part["name"] for part in found["parts"]] == manifests


def test_a_column_named_row_is_not_added_to_each_row(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text("row,sex\na,f\na,m\n")
    release = ["release", "people.csv", "--by", "sex", "--levels", "sex=f,m", "--epsilon", "1"]
    assert run([*release, "--unit-is-row", "--out", "rows.csv"]) == 0
    assert run([*release, "--unit", "row", "--max-cells", "1", "--out", "column.csv"]) == 0
    capsys.readouterr()
    assert run(["account", "rows.manifest.json", "column.manifest.json", "--delta", "0"]) == 1
    assert "column.manifest.json': has unit 'column row' where rows.manifest.json has 'row'" in capsys.readouterr().err
    assert document(capsys, "column.manifest.json", "--delta", "0")["unit"] == "column row"


def test_noise_that_is_typed_is_for_the_neighbours_that_are_typed(capsys):
    found = document(capsys, "--noise", "order=1,scale=4,sensitivity=2,neighbours=replace-one", "--delta", "0")
    assert (found["epsilon"], found["neighbours"]) == (0.5, "replace-one")
    assert run(["account", "--noise", "order=1,scale=4,neighbours=x"]) == 1
    assert "--noise = 'order=1,scale=4,neighbours=x': neighbours: must be one of" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("noise", "said"),
    [
        ("order=1,scale=0", "scale: must be greater than 0"),
        ("order=3,std=2,sensitivity=1.5,support=integer", "sensitivity: on the integers it must be a whole number"),
        ("order=1,scale=3,cells=0", "cells: must be at least 1"),
        ("order=1,scale=3,sensitivity=-1", "sensitivity: must be greater than 0"),
        ("order=1", "give either scale or std"),
    ],
)
def test_noise_that_is_wrong_names_its_key(capsys, noise, said):
    assert run(["account", "--noise", noise]) == 1
    assert capsys.readouterr().err.startswith(f"error: --noise = '{noise}': {said}")


def test_noise_for_other_neighbours_is_named_as_noise(capsys):
    noise = ["--noise", "order=1,scale=3"]
    assert run(["account", *noise, "--noise", f"{noise[1]},neighbours=replace-one"]) == 1
    assert capsys.readouterr().err.startswith("error: --noise = 'Laplace noise of scale 3': has neighbours")


def test_the_delta_at_an_epsilon(manifests, capsys):
    found = document(capsys, *manifests, "--epsilon", "0.8")
    assert found["epsilon"] == 0.8
    assert found["asked"] == "delta"
    assert 0.0 < found["lower"] <= found["delta"] <= 1.0001 * found["lower"]


def test_a_table_says_when_the_total_holds(manifests, capsys):
    assert run(["account", *manifests]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "plain sum" in said
    assert "The total holds if the noise of every release was fixed without looking at earlier results" in said
    assert "otherwise use the plain sum, (1.5, 3e-07)-aDP" in said


def test_both_at_once_are_wrong_usage(manifests, capsys):
    assert run(["account", *manifests, "--delta", "1e-6", "--epsilon", "1"]) == 2
    assert "either --delta or --epsilon" in capsys.readouterr().err


def test_what_is_no_manifest_is_named(tmp_path, capsys):
    file = tmp_path / "table.csv"
    file.write_text("a,b\n")
    assert run(["account", str(file)]) == 1
    assert capsys.readouterr().err.startswith(f"error: MANIFEST = '{file}': is not a JSON file")
    assert run(["account", str(tmp_path / "none.json")]) == 1
    assert "cannot be read" in capsys.readouterr().err
