"""The list of sabotages is in order; that they are noticed is what `tests/sabotage/run.py` shows."""

import ast

import pytest
from tests.sabotage.sabotage import Sabotage, node_id, parsed, sabotages

SABOTAGES = sabotages()


def test_names_are_unique_and_there_are_enough_of_them():
    assert len({sabotage.name for sabotage in SABOTAGES}) == len(SABOTAGES) >= 450


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name)
def test_a_sabotage_changes_one_place_and_leaves_a_program(sabotage):
    file, place = sabotage.found()
    statement = place.around(parsed(file))
    text = place.changed(statement)
    assert text != ast.unparse(statement)
    compile(text, file, "exec")


@pytest.mark.parametrize("sabotage", SABOTAGES, ids=lambda sabotage: sabotage.name)
def test_a_sabotage_names_tests_that_there_are(sabotage):
    assert sabotage.node_ids()


def test_a_sabotage_that_no_longer_applies_says_what_it_was_about():
    dropped = Sabotage("a sum is wrong", "Amount.__add__", "self.units - other.units", "0", ())
    with pytest.raises(
        LookupError, match=r"'Amount.__add__' \(src/.+\) has 0 times, not once:\nself.units - other.units"
    ):
        dropped.applied()
    moved = Sabotage("a sum is wrong", "Total.__add__", "Amount(self.units + other.units)", "self", ())
    with pytest.raises(
        LookupError, match=r"'Total.__add__' \(not found\)[\s\S]*\n'Amount.__add__' \(src/.+\) has it once"
    ):
        moved.applied()
    with pytest.raises(LookupError, match=r"'test_nothing\[1\]' is the name of 0 tests, not of one"):
        node_id("test_nothing[1]")
