"""The files that hosts and newcomers look for name what exists, and agree on the version."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "ggdp"
PATH = re.compile(r"(?<!`)`(?:\.venv/bin/python -m pytest |python )?((?:\w[\w.-]*/)+[\w.-]*)`(?!`)")
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
RELEASED = re.compile(r"^## (\d+)\.(\d+)\.(\d+)( \(unreleased\))?$", re.MULTILINE)


def named(text):
    """The packages, folders and files that a page names."""
    return PATH.findall(text)


def missing(text):
    """The packages, folders and files that a page names and that do not exist."""
    return [path for path in named(text) if not (ROOT / path).exists() and not (SOURCE / path).exists()]


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/explanation/architecture.md"])
def test_packages_and_files_that_a_page_names_exist(page):
    text = (ROOT / page).read_text("utf-8")
    assert len(named(text)) > 10
    assert missing(text) == []


def test_a_package_that_does_not_exist_is_noticed():
    text = "`src/ggdp/proofs`, `src/ggdp/nowhere`, `ledger/`, `tests/nowhere.py` and `python docs/wrap.py`"
    assert missing(text) == ["src/ggdp/nowhere", "tests/nowhere.py"]


def test_contributing_takes_two_screens():
    assert len((ROOT / "CONTRIBUTING.md").read_text("utf-8").splitlines()) <= 100


def test_the_changelog_names_the_next_version_above_those_that_are_there():
    found = RELEASED.findall((ROOT / "CHANGELOG.md").read_text("utf-8"))
    versions = [tuple(map(int, numbers)) for *numbers, _ in found]
    assert versions == sorted(set(versions), reverse=True)
    assert all(not mark for *_, mark in found[1:])
    current = tuple(map(int, VERSION.split(".")))
    assert current == versions[1] if found[0][3] else current == versions[0]


def test_the_reproduction_has_the_version_of_the_ggdp_that_it_needs():
    project = tomllib.loads((ROOT / "reproduction" / "pyproject.toml").read_text("utf-8"))["project"]
    assert project["version"] == VERSION
    assert [one for one in project["dependencies"] if one.startswith("ggdp")] == [f"ggdp[experiments]=={VERSION}"]


def test_the_citation_has_what_its_format_requires_and_the_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert citation["cff-version"] == "1.2.0"
    assert citation.keys() >= {"message", "title", "authors"}
    assert citation["authors"] == [{"name": "The ggdp developers"}]
    assert str(citation["version"]) == VERSION
    (paper,) = citation["references"]
    assert paper.keys() >= {"type", "title", "authors"}
    assert "1602.06028" in paper["url"]
