"""The diffs of the pages that add something to ggdp apply to it, and what they add passes its tests."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "docs" / "contributing"
# The tests that each page asks for, and how many of them there are at least.
CHECKED = {
    "add-a-bound": (["tests/proofs", "-k", "(gaussian and tail) or every_bound"], 30),
    "add-a-command": (["tests/cli/test_statement.py", "tests/cli/test_help.py", "-k", "statement"], 6),
    "add-a-statistic": (["tests/tables/statistics/test_deviation.py"], 3),
    "add-an-engine": (["tests/sources/test_counting.py", "tests/fuzz/test_fuzz.py", "-k", "arrow and stream"], 20),
}


@pytest.fixture
def tree(tmp_path):
    """A copy of what the diffs change, and of what their tests need."""
    left_out = shutil.ignore_patterns("__pycache__", "golden", "explorer")
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=left_out)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    return tmp_path


def test_every_page_is_checked():
    assert {page.stem for page in PAGES.glob("add-*.md")} == set(CHECKED)


@pytest.mark.parametrize("page", CHECKED)
def test_what_a_page_adds_passes_its_tests(page, tree):
    blocks = re.findall(r"^```diff\n(.*?)^```$", (PAGES / f"{page}.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
    subprocess.run(["git", "apply", "-"], cwd=tree, input="".join(blocks), text=True, check=True)
    tests, least = CHECKED[page]
    command = [sys.executable, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-m", "not exhaustive", *tests]
    ran = subprocess.run(
        command,
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout[-2000:]
    assert int(re.search(r"(\d+) passed", ran.stdout)[1]) >= least
