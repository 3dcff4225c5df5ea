"""The page on reports: its commands, its example file and its numbers."""

import re
import shlex
from pathlib import Path

import pytest
import yaml

from ggdp.cli.app import run
from ggdp.privacy import PureDP
from ggdp.privacy.beliefs import belief
from ggdp.reports import read_deployment
from ggdp.reports.deployment import _KEYS, QUESTIONS
from ggdp.reports.sign_off import percent_up

PAGES = ["how-to/report.md"]
ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "report.md").read_text("utf-8")
EXAMPLE = ROOT / "docs" / "examples" / "deployment.toml"


def test_the_commands_lead_from_a_release_to_an_entry(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    lines = [line for block in blocks for line in re.sub(r"\\\n\s*", "", block).splitlines()]
    assert len(lines) == 5
    for line in lines:
        assert run(shlex.split(line)[1:]) == 0
    assert "questions are open" in capsys.readouterr().out
    assert "you must answer: <b>13</b>" in (tmp_path / "open.html").read_text("utf-8")
    assert "you must answer: <b>0</b>" in (tmp_path / "report.html").read_text("utf-8")
    entry = yaml.safe_load((tmp_path / "entry.yaml").read_text("utf-8"))
    assert entry["deployment"]["administrative"]["tier"] == 3


def test_the_example_answers_everything():
    found = read_deployment(EXAMPLE)
    assert set(found.answers) == set(QUESTIONS)
    for table in ("product", "registry", "signatures"):
        optional = {"unprotected_quantities"} if table == "registry" else set()
        assert set(getattr(found, table)) | optional == set(_KEYS[table])


@pytest.mark.parametrize("key", QUESTIONS)
def test_every_question_is_on_the_page(key):
    assert f"| `answers.{key}` |" in PAGE


def test_beliefs_are_those_of_the_page(printed):
    for mark, epsilon in (("report-after", 1.0), ("report-after-twice", 2.0)):
        assert percent_up(belief(PureDP(epsilon), 0.5).highest) == f"{printed[mark]} %"


def test_every_marked_number_is_tested(untested):
    assert untested == set()
