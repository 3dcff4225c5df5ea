"""The examples of the README and of the pages run as they stand."""

import doctest
import re
from pathlib import Path

import pytest
from tests.cases import some
from tests.command_lines import commands, run_line
from tests.docs.fresh_install import blocks, page_files
from tests.docs.fresh_install import commands as shell_lines

ROOT = Path(__file__).parents[2]
PAGES = {str(page.relative_to(ROOT)): page.read_text("utf-8") for page in page_files()}
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
# Libraries that `pip install '.[plots]'` does not bring.
ABSENT = re.compile(r"\b(import|from) (polars|pandas|ibis|pyspark)\b|\.to_(polars|pandas)\(")
# Not of ggdp, or for minutes: `make test-examples` runs them, in an environment of their own.
ELSEWHERE = re.compile(r"(?!ggdp )|ggdp reproduce")
# Their commands take seconds, and tests/cli runs the like of them.
SLOW_PAGES = {f"docs/how-to/{name}.md" for name in ("calibrate", "choose-epsilon", "total-of-releases")}


def sessions():
    """Return a case for each page with examples: its blocks, joined, under its name."""
    cases = []
    for name, text in PAGES.items():
        found = [block for block in BLOCK.findall(text) if ">>>" in block]
        if found:
            # The page on the reproduction runs a part of it; tests/paper checks the same functions every time.
            marks = [pytest.mark.exhaustive] if name.endswith("reproduction.md") else []
            cases.append(pytest.param("\n".join(found), id=name, marks=marks))
    return cases


def failures(session, name):
    test = doctest.DocTestParser().get_doctest(session, {}, name, None, 0)
    messages = []
    result = doctest.DocTestRunner(optionflags=OPTIONS).run(test, out=messages.append)
    assert result.attempted > 0
    return messages


def lines(text):
    """Return the command lines of ggdp on a page, in order."""
    scripts = (
        shell_lines(block) for block in blocks(text) if block.language in ("sh", "console") and not block.left_out
    )
    return [line for script in scripts for line in commands(script) if not ELSEWHERE.match(line)]


@pytest.mark.parametrize("session", sessions())
def test_the_examples_of_a_page_give_what_they_show(session, request, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert failures(session, request.node.name) == []


def test_slow_pages_are_there():
    assert {name for name, text in PAGES.items() if lines(text)} > SLOW_PAGES


@pytest.mark.parametrize(
    "name", some([name for name, text in PAGES.items() if lines(text)], lambda name: name not in SLOW_PAGES)
)
def test_the_commands_of_a_page_work_one_after_another(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    for line in lines(PAGES[name]):
        code, printed = run_line(line)
        assert code == 0, line
        assert printed, line
        if out := re.search(r"^ggdp release .*--out (\S+)\.(?:csv|parquet)\b", line):
            assert Path(f"{out[1]}.manifest.json").exists(), line


def test_commands_are_read_from_both_kinds_of_blocks():
    page = (
        "```sh\nggdp a \\\n  b\nmake c\n```\n<!-- not run: why -->\n```sh\nggdp d\n```\n```console\n$ ggdp e\nf\n```\n"
    )
    assert lines(page) == ["ggdp a b", "ggdp e"]
    assert {"README.md", "docs/tutorials/five-minutes.md"} <= {name for name, text in PAGES.items() if lines(text)}


def test_pages_can_be_followed_one_after_another_in_one_directory():
    made = [
        (name, file)
        for name, text in PAGES.items()
        for line in lines(text)
        for file in re.findall(r"(?:--out|--plot|ledger init) (\S+)", line)
    ]
    files = [file for _, file in made]
    assert {pair for pair in made if files.count(pair[1]) > 1} == set()


def test_a_wrong_example_is_noticed():
    assert failures(">>> 1 + 1\n3\n", "wrong") != []


def test_the_readme_and_the_start_page_have_examples():
    assert {"README.md", "docs/index.md"} <= {case.id for case in sessions()}


@pytest.mark.parametrize(("file", "unit"), [("visits.csv", "--unit patient"), ("jobs.csv", "--unit person")])
def test_people_with_several_rows_are_never_released_without_their_unit(file, unit):
    found = [
        line
        for text in PAGES.values()
        for line in lines(text)
        if line.startswith("ggdp release") and file in line and "--like" not in line
    ]
    assert found
    assert all(unit in line for line in found)


@pytest.mark.parametrize("name", PAGES)
def test_examples_need_no_more_than_the_install_of_the_readme(name):
    for block in BLOCK.findall(PAGES[name]):
        assert ABSENT.search(block) is None, block


def test_the_readme_is_short():
    assert len(PAGES["README.md"].splitlines()) <= 150
