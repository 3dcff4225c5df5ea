"""The examples of the README and of the pages run as they stand."""

import doctest
import re
import shlex
from pathlib import Path

import pytest

from ggdp.cli.app import run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
COMMANDS = re.compile(r"^\$ (ggdp .*)$", re.MULTILINE)
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL


def sessions():
    """Return a case for each page with examples: its blocks, joined, under its name."""
    cases = []
    for page in PAGES:
        blocks = [block for block in BLOCK.findall(page.read_text(encoding="utf-8")) if ">>>" in block]
        if blocks:
            # The page on the reproduction runs a part of it; tests/paper checks the same functions every time.
            marks = [pytest.mark.exhaustive] if page.name == "reproduction.md" else []
            cases.append(pytest.param("\n".join(blocks), id=str(page.relative_to(ROOT)), marks=marks))
    return cases


def failures(session, name):
    test = doctest.DocTestParser().get_doctest(session, {}, name, None, 0)
    messages = []
    result = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=messages.append)
    assert result.attempted > 0
    return messages


@pytest.mark.parametrize("session", sessions())
def test_the_examples_of_a_page_give_what_they_show(session, request, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert failures(session, request.node.name) == []


def commands():
    """Return every ggdp command line that the README or a page shows."""
    return sorted({line for page in PAGES for line in COMMANDS.findall(page.read_text(encoding="utf-8"))})


@pytest.mark.parametrize("line", commands())
def test_a_command_that_is_shown_works(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(shlex.split(line)[1:]) == 0
    assert capsys.readouterr().out


def test_a_wrong_example_is_noticed():
    assert failures(">>> 1 + 1\n3\n", "wrong") != []


def test_the_readme_and_the_start_page_have_examples():
    assert {"README.md", "docs/index.md"} <= {case.id for case in sessions()}
