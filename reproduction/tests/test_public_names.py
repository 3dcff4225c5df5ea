"""The reproduction uses public names of ggdp only: what `ggdp` exports, and what its API page lists."""

import ast
import re
from pathlib import Path

import pytest

import ggdp

ROOT = Path(__file__).parents[2]
MODULES = sorted((ROOT / "reproduction" / "src").rglob("*.py"))


def listed():
    """The full names on the API page."""
    found, home = set(), ""
    for line in (ROOT / "docs" / "reference" / "api.md").read_text("utf-8").splitlines():
        if line.startswith(".. currentmodule:: "):
            home = line.partition(":: ")[2].strip()
        elif re.fullmatch(r"   [\w.]+", line):
            found.add(f"{home}.{line.strip()}")
    return found


PUBLIC = listed() | {f"ggdp.{name}" for name in ggdp.__all__}
# The colours, sizes and patterns of the style are constants, which the page does not list one by one.
CONSTANTS = re.compile(r"ggdp\.plots\.style\.[A-Z_]+")
PACKAGES = {name.rpartition(".")[0] for name in PUBLIC}


def used(source):
    """The names of ggdp that a module imports, or reads off `ggdp` itself."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "ggdp":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("ggdp."))
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ggdp":
            yield f"ggdp.{node.attr}"


def private(source):
    return [
        name for name in used(source) if name not in PUBLIC and not CONSTANTS.fullmatch(name) and name not in PACKAGES
    ]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.relative_to(ROOT / "reproduction" / "src").as_posix())
def test_a_module_uses_public_names_only(path):
    assert private(path.read_text("utf-8")) == []


@pytest.mark.parametrize(
    "line",
    [
        "from ggdp import _validate",
        "from ggdp.calibration.search import passing_end",
        "import ggdp.proofs.one_case",
        "ggdp._balls.BALLS",
        "from ggdp.plots.style import heading",
    ],
)
def test_a_private_name_is_noticed(line):
    assert len(private(line)) == 1


def test_public_names_are_found():
    assert private("from ggdp import datasets\nfrom ggdp.errors import ArgumentError\nggdp.calibrate") == []
    assert len(MODULES) > 10
