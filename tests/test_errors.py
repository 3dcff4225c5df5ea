"""Errors name what the caller wrote, say what to do, and are of the right types."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ggdp
from ggdp.errors import ArgumentError, ArgumentTypeError, install_hint
from ggdp.privacy.grid import Grid

ROOT = Path(__file__).parents[1]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]


@pytest.mark.parametrize("extra", EXTRAS)
def test_the_hint_for_an_extra_names_the_line_of_the_readme_and_one_for_other_directories(extra):
    in_a_clone, _, elsewhere = install_hint(extra).partition(", or ")
    assert in_a_clone == f"pip install '.[{extra}]' in a clone of ggdp"
    assert in_a_clone.partition(" in a")[0].replace(extra, "plots") in (ROOT / "README.md").read_text("utf-8")
    assert elsewhere == f"pip install 'ggdp[{extra}]' where ggdp is installed"


def test_an_extra_is_added_to_an_installed_ggdp_without_an_index():
    command = [sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--dry-run", "ggdp[plots]"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "Requirement already satisfied: ggdp[plots]" in done.stdout


def test_every_hint_is_made_in_one_place_and_names_an_extra_that_there_is():
    asked = []
    for file in sorted((ROOT / "src").rglob("*.py")):
        text = file.read_text("utf-8")
        asked += re.findall(r"install_hint\(['\"](\w+)['\"]\)", text)
        assert file.name == "errors.py" or not re.search(r"pip install ['\"]?(ggdp|\.)\[", text), file
    # The reproduction installs the extra of its experiments by itself.
    assert "ggdp[experiments]" in (ROOT / "reproduction" / "pyproject.toml").read_text("utf-8")
    assert {*asked, "experiments"} == set(EXTRAS)


ONE = ggdp.Sensitivity.disjoint(1)
GOAL = ggdp.PureDP(1.0)
COUNTS = ggdp.Mechanism(ggdp.calibrate(GOAL, ONE, order=1, support="integer"))

WRONG_TYPES = {
    "epsilon": lambda: ggdp.PureDP("1"),
    "delta": lambda: ggdp.ApproxDP(1, None),
    "neighbours": lambda: ggdp.PureDP(1, 3),
    "d": lambda: ggdp.Sensitivity.disjoint("1"),
    "m": lambda: ggdp.Sensitivity.cells(1.5, 1),
    "max_cells": lambda: ggdp.Sensitivity.histogram(max_cells=None),
    "dimension": lambda: ggdp.Sensitivity.norm(2, 1, dimension="3"),
    "p": lambda: ggdp.Sensitivity.norm("2", 1, dimension=3),
    "norm": lambda: ggdp.Sensitivity.box([1], norm=3),
    "goal": lambda: ggdp.calibrate("1", ONE, order=1),
    "sensitivity": lambda: ggdp.calibrate(GOAL, 1.0, order=1),
    "order": lambda: ggdp.calibrate(GOAL, ONE, order="1"),
    "support": lambda: ggdp.calibrate(GOAL, ONE, order=1, support=None),
    "method": lambda: ggdp.calibrate(GOAL, ONE, order=1, method=1),
    "bounds": lambda: ggdp.calibrate(GOAL, ONE, order=1, bounds=3, bounding="truncated"),
    "bounding": lambda: ggdp.calibrate(GOAL, ONE, order=1, bounds=(0, 3), bounding=True),
    "scale": lambda: ggdp.IntegerNoise(order=1, scale="1"),
    "seed": lambda: ggdp.SeededSource(seed=1.5),
    "step": lambda: Grid(step="1"),
    "calibration": lambda: ggdp.Mechanism(3),
    "rng": lambda: COUNTS.release([1], rng=3),
    "values": lambda: COUNTS.release([1.0]),
}

TABLE = {"by": "x", "goal": GOAL, "domain": {"x": ["a"]}}
ROWS = pa.table({"x": ["a"]})
WRONG_TABLES = {
    "data": lambda: ggdp.release_table([1, 2], **TABLE),
    "goal": lambda: ggdp.release_table(ROWS, **TABLE | {"goal": "3"}),
    "domain": lambda: ggdp.release_table(ROWS, **TABLE | {"domain": 7}),
    "unit": lambda: ggdp.release_table(ROWS, **TABLE, unit=3, max_cells=1),
    "nonnegative": lambda: ggdp.release_table(ROWS, **TABLE, nonnegative="x"),
    "encoding": lambda: ggdp.release_table("t.csv", **TABLE, encoding=3),
    "quoted": lambda: ggdp.release_table("t.csv", **TABLE, quoted="yes"),
    "temp_dir": lambda: ggdp.release_table(ROWS, **TABLE, temp_dir=3),
    "out": lambda: ggdp.release_table(ROWS, **TABLE, out=3),
}

WRONG_VALUES = {
    "epsilon": lambda: ggdp.PureDP(-1),
    "delta": lambda: ggdp.ApproxDP(1, 2),
    "neighbours": lambda: ggdp.PureDP(1, "friends"),
    "d": lambda: ggdp.Sensitivity.disjoint(-1),
    "m": lambda: ggdp.Sensitivity.cells(0, 1),
    "max_cells": lambda: ggdp.Sensitivity.histogram(max_cells=0),
    "norm": lambda: ggdp.Sensitivity.box([1], norm=(0, 1)),
    "bounds": lambda: ggdp.Sensitivity.from_bounds((1, 0)),
    "order": lambda: ggdp.calibrate(GOAL, ONE, order=0.5),
    "support": lambda: ggdp.calibrate(GOAL, ONE, order=1, support="odd"),
    "values": lambda: ggdp.Mechanism(ggdp.calibrate(GOAL, ONE, order=1)).release(np.nan),
}


@pytest.mark.parametrize(
    ("argument", "call"),
    [*WRONG_TYPES.items(), *WRONG_TABLES.items()],
    ids=lambda given: given if isinstance(given, str) else "",
)
def test_a_wrong_type_is_a_type_error_and_a_value_error_of_ggdp(argument, call):
    with pytest.raises(ArgumentTypeError) as refused:
        call()
    assert refused.value.argument == argument
    assert isinstance(refused.value, TypeError)
    assert isinstance(refused.value, ValueError)
    assert isinstance(refused.value, ggdp.GgdpError)


@pytest.mark.parametrize("argument", WRONG_VALUES)
def test_a_wrong_value_is_no_type_error(argument):
    with pytest.raises(ArgumentError) as refused:
        WRONG_VALUES[argument]()
    assert refused.value.argument == argument
    assert not isinstance(refused.value, TypeError)


def test_one_pair_of_bounds_needs_no_list():
    how = {"order": 2, "bounding": "truncated"}
    listed = ggdp.calibrate(GOAL, ONE, bounds=[(0, 10)], **how)
    assert ggdp.calibrate(GOAL, ONE, bounds=(0, 10), **how) == listed
    assert ggdp.calibrate(GOAL, ONE, bounds=np.array([0.0, 10.0]), **how) == listed
    assert ggdp.Mechanism(ggdp.calibrate(GOAL, ONE, bounds=(0, 10), **how)).release(3.0).values.shape == ()
