import json

import pytest

import ggdp
from ggdp.cli.app import run
from ggdp.planning import plan


@pytest.fixture
def ggdp_cli(capsys):
    """Run a command line and return (exit code, standard output, standard error)."""

    def call(line):
        code = run(line.split())
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return call


def test_json_is_one_document_with_the_best_and_the_alternatives(ggdp_cli):
    code, out, err = ggdp_cli("plan --epsilon 1 --delta 0.05 --json")
    document = json.loads(out)
    expected = plan(ggdp.ApproxDP(1, 0.05), ggdp.Sensitivity.disjoint(1))
    assert (code, err) == (0, "")
    assert document == json.loads(json.dumps(expected.to_dict()))
    assert {"order", "scale", "error"} <= set(document["best"])
    assert {choice["name"] for choice in document["alternatives"]} >= {"laplace", "gaussian"}
    assert all({"name", "order", "scale", "error"} <= set(choice) for choice in document["alternatives"])
    ggdp.verify(document["calibration"]["certificate"])


@pytest.mark.parametrize(
    ("flags", "arguments"),
    [
        ("--measure mean-abs", {"measure": "mean-abs"}),
        ("--measure quantile --level 0.9", {"measure": "quantile", "level": 0.9}),
        ("--measure max --cells 100", {"measure": "max", "cells": 100}),
        ("--notion probabilistic --measure rmse", {"goal": ggdp.ProbabilisticDP(0.5, 0.01)}),
        ("--sensitivity 3", {"sensitivity": ggdp.Sensitivity.disjoint(3)}),
        pytest.param("--support integer", {"support": "integer"}, marks=pytest.mark.exhaustive),
        ("--box 2", {"sensitivity": ggdp.Sensitivity.box([2])}),
    ],
)
def test_flags_say_what_arguments_say(ggdp_cli, flags, arguments):
    expected = plan(
        **{"goal": ggdp.ApproxDP(0.5, 0.01), "sensitivity": ggdp.Sensitivity.disjoint(1)} | arguments
    ).to_dict()
    document = json.loads(ggdp_cli(f"plan --epsilon 0.5 --delta 0.01 {flags} --json")[1])
    assert document["best"] == expected["best"]
    assert document["measure"] == expected["measure"]


def test_max_cells_gives_the_largest_error_its_cells(ggdp_cli):
    _, out, _ = ggdp_cli("plan --epsilon 1 --max-cells 4 --measure max --json")
    document = json.loads(out)
    assert document["cells"] == 4
    assert document["best"]["error"] == pytest.approx(4.0 * (1 + 1 / 2 + 1 / 3 + 1 / 4), rel=1e-12)


def test_the_table_for_people_shows_the_choices_and_the_notes(ggdp_cli):
    code, out, err = ggdp_cli("plan --epsilon 0.1 --delta 0.1")
    assert (code, err) == (0, "")
    for word in ("best", "laplace", "gaussian", "4.6", "1.793", "(0.1, 0.1)-aDP", "note: searched", "certified"):
        assert word in out


def test_a_pure_goal_says_that_there_is_no_choice(ggdp_cli):
    code, out, _ = ggdp_cli("plan --epsilon 1")
    assert code == 0
    assert "order 1 is the only one" in out


@pytest.mark.parametrize(("suffix", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<?xml")])
def test_the_plot_is_written_and_not_replaced_unasked(ggdp_cli, tmp_path, suffix, start):
    file = tmp_path / f"errors.{suffix}"
    line = f"plan --epsilon 1 --delta 0.05 --plot {file} --json"
    code, out, _ = ggdp_cli(line)
    assert code == 0
    assert json.loads(out)["best"]["order"] == 1.27
    assert file.read_bytes().startswith(start)
    assert [path.name for path in tmp_path.iterdir()] == [file.name]
    file.write_bytes(b"mine")
    code, out, err = ggdp_cli(line)
    assert (code, list(json.loads(out))) == (1, ["error", "field", "value", "hint"])
    assert "already exists" in err
    assert file.read_bytes() == b"mine"
    assert ggdp_cli(f"{line} --overwrite")[0] == 0
    assert file.read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("plan --epsilon 0 --delta 0.1", "epsilon = 0.0"),
        ("plan --epsilon 1 --delta 0.1 --measure quantile --level 1", "level = 1.0"),
        ("plan --epsilon 1 --delta 0.1 --cells 3", "cells = 3: only measure = 'max'"),
        ("plan --epsilon 1 --delta 0.1 --measure max --cells 0", "cells = 0"),
        ("plan --epsilon 1 --delta 0.1 --plot picture.doc", "plot = 'picture.doc': must end in .png"),
        (
            "plan --epsilon 1 --delta 0.1 --plot nowhere/at/all.png",
            "--plot = 'nowhere/at/all.png': 'nowhere/at' is not a directory",
        ),
        ("plan --epsilon 1 --delta 0.1 --sensitivity 0.5 --support integer", "sensitivity = 0.5"),
    ],
)
def test_bad_values_are_one_line_of_error_and_exit_1(ggdp_cli, line, message):
    code, out, err = ggdp_cli(line)
    assert (code, out) == (1, "")
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert message in err


@pytest.mark.parametrize("line", ["plan", "plan --epsilon x", "plan --epsilon 1 --measure worst"])
def test_wrong_usage_is_one_line_of_error_and_exit_2(ggdp_cli, line):
    code, out, err = ggdp_cli(line)
    assert (code, out) == (2, "")
    assert err.startswith("error: ")


def test_a_plus_minus_finds_its_epsilon_and_noise_outside_is_told(ggdp_cli):
    code, out, _ = ggdp_cli("plan --plus-minus 10 --level 0.9 --json")
    assert code == 0
    found = json.loads(out)
    assert found["goal"]["epsilon"] == pytest.approx(0.230258509, rel=1e-6)
    assert found["best"]["error"] <= 10.000000001
    assert "outside" in found
    _, out, _ = ggdp_cli("plan --epsilon 2")
    assert "outside the family: staircase 0.6502 (0.919 times the best)" in out


def test_a_norm_is_read_and_gains_are_explained(ggdp_cli):
    _, out, _ = ggdp_cli("plan --epsilon 1 --delta 1e-6 --norm 2,1,10 --json")
    document = json.loads(out)
    assert document["gain"].startswith("each gain is the error of a choice divided by the error of the best")
    best = document["best"]["error"]
    assert all(one["gain"] == one["error"] / best for one in document["alternatives"])
    assert document["sensitivity"] == str(ggdp.Sensitivity.norm(2, 1, dimension=10))
