"""The commands on the pages about tables and means work, and no example needs more than the README's own install."""

import re
import shlex
from pathlib import Path

import pytest

from ggdp.cli.app import run

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SHELL = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# Libraries that `pip install '.[plots]'` does not bring.
ABSENT = re.compile(r"\b(import|from) (polars|pandas|ibis|pyspark)\b|\.to_(polars|pandas)\(")


def commands(page):
    """Return the ggdp commands of a page's shell blocks, those of Spark aside."""
    lines = (
        line for block in SHELL.findall(page.read_text("utf-8")) for line in re.sub(r"\\\n\s*", "", block).splitlines()
    )
    return [line for line in lines if line.startswith("ggdp ") and "--engine spark" not in line]


TABLES, MEANS = (commands(ROOT / "docs" / page) for page in ("reference/tables.md", "tutorials/mean-incomes.md"))


@pytest.mark.parametrize("line", [*TABLES, *MEANS])
def test_a_command_on_the_page_works(line, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    words = shlex.split(line, comments=True)[1:]
    assert run(words) == 0
    assert capsys.readouterr().out
    if "--out" in words:
        out = Path(words[words.index("--out") + 1])
        assert out.with_name(f"{out.stem}.manifest.json").exists()


def test_visits_are_never_released_without_their_patients():
    found = [line for line in TABLES if line.startswith("ggdp release") and "visits.csv" in line]
    assert len(found) >= 4
    assert all("--unit patient" in line for line in found)


def test_jobs_are_never_released_without_their_people():
    found = [line for line in MEANS if line.startswith("ggdp release") and "jobs.csv" in line]
    assert found
    assert all("--unit person" in line for line in found)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_examples_need_no_more_than_the_install_of_the_readme(page):
    for block in PYTHON.findall(page.read_text("utf-8")):
        assert ABSENT.search(block) is None, block
