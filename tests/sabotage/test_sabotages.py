"""The list of sabotages is in order; that they are noticed is what `tests/sabotage/run.py` shows."""

import ast
from pathlib import Path

import pytest
from tests.sabotage.sabotages import SABOTAGES

ROOT = Path(__file__).parents[2]


def test_names_are_unique_and_there_are_enough_of_them():
    assert len({sabotage.name for sabotage in SABOTAGES}) == len(SABOTAGES) >= 25


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name)
def test_a_sabotage_changes_one_place_and_leaves_a_program(sabotage):
    text = (ROOT / "src" / "ggdp" / sabotage.file).read_text("utf-8")
    assert text.count(sabotage.old) == 1
    assert sabotage.new != sabotage.old
    ast.parse(text.replace(sabotage.old, sabotage.new))


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name)
def test_a_sabotage_names_tests_that_there_are(sabotage):
    assert sabotage.tests
    for test in sabotage.tests:
        file, _, function = test.partition("::")
        assert f"def {function.partition('[')[0]}(" in (ROOT / file).read_text("utf-8")
