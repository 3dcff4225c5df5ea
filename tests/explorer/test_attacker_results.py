"""The view of attackers: beliefs in words, rounded towards privacy, and what is copied gives the same."""

import csv
import io
import json
import shlex

import pytest

import ggdp
from ggdp.cli.app import run
from ggdp.explorer.attacker_results import AttackerSettings, attacker_equivalents, attacker_results
from ggdp.privacy.beliefs import belief


@pytest.mark.parametrize(
    "settings",
    [
        AttackerSettings(),
        AttackerSettings(notion="pure", epsilon=0.2, prior=3.0, neighbours="replace-one"),
        AttackerSettings(notion="probabilistic", delta=0.01),
    ],
    ids=lambda case: case.notion,
)
def test_beliefs_are_those_of_the_guarantee_and_so_is_what_is_copied(settings, capsys):
    found = attacker_results(settings)
    expected = [belief(settings.goal, prior) for prior in settings.priors]
    shown = list(csv.DictReader(io.StringIO(found.csv.decode())))
    assert [float(row["highest"]) for row in shown] == [one.highest for one in expected]
    copied = attacker_equivalents(settings)
    assert run([*shlex.split(copied.command)[1:], "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert [one["highest"] for one in printed["beliefs"]] == [one.highest for one in expected]
    assert printed["goal"]["notion"] == settings.notion
    said = []
    exec(copied.python, {"print": said.append})
    assert said == expected


def test_the_text_says_what_delta_means_and_rounds_towards_privacy():
    found = attacker_results(AttackerSettings())
    assert found.change == "10 % → 23.2 %"
    assert "1 in 1,000,000" in found.exception
    assert attacker_results(AttackerSettings(notion="pure")).exception == ""
    exact = belief(ggdp.ApproxDP(1.0, 1e-6), 0.1)
    _, least, most, _ = next(row for row in found.rows if row[0] == "10 %")
    assert float(least.split()[0]) <= 100.0 * exact.lowest
    assert float(most.split()[0]) >= 100.0 * exact.highest


def test_the_command_says_the_same_in_words(capsys):
    assert run(["belief", "--epsilon", "1", "--delta", "1e-6", "--prior", "0.1"]) == 0
    printed = capsys.readouterr().out
    assert "23.2 %" in printed
    assert "3.92 %" in printed
    assert "with probability at most 1e-06" in printed
    assert run(["belief", "--epsilon", "1", "--prior", "1.5"]) == 1
    assert "--prior" in capsys.readouterr().err
