"""The unit cannot be overlooked: where none is declared, each door says that each row is protected by itself."""

import json
import warnings

import pyarrow as pa
import pytest

import ggdp
from ggdp.cli.app import run
from ggdp.errors import ArgumentError, PrivacyWarning
from ggdp.tables import TablePlan
from ggdp.tables.request import TableRequest

VISITS = pa.table({"patient": [1, 1, 2, 3], "ward": ["a", "b", "a", "b"], "row": [7, 7, 8, 9], "cost": [1.0] * 4})
DOMAIN = {"ward": ["a", "b"], "cost": {"range": [0, 10]}}
ASKED = {"by": "ward", "goal": ggdp.PureDP(1.0), "domain": {"ward": ["a", "b"]}}
SAID = "each row is protected by itself"


@pytest.fixture
def visits(tmp_path):
    path = tmp_path / "visits.csv"
    path.write_text("patient,ward,row,cost\n1,a,7,1\n1,b,7,1\n2,a,8,1\n3,b,9,1\n")
    return str(path)


def release(visits, *flags):
    return run(["release", visits, "--by", "ward", "--levels", "ward=a,b", "--epsilon", "1", *flags])


def test_a_plan_and_a_release_without_a_unit_say_what_to_write_if_people_have_several_rows():
    for ask in (lambda: ggdp.plan_table(**ASKED), lambda: ggdp.release_table(VISITS, **ASKED)):
        with pytest.warns(PrivacyWarning, match=SAID) as caught:
            ask()
        assert caught[0].filename == __file__
        for words in ("`unit`", "`max_cells`", '`unit="row"`'):
            assert words in str(caught[0].message)
    with pytest.warns(PrivacyWarning, match=SAID):
        assert f"warning: no unit is declared, so {SAID}" in repr(ggdp.plan_table(**ASKED))
    with pytest.warns(PrivacyWarning, match=SAID):
        ggdp.plan_range("cost", ggdp.PureDP(1.0))


def test_the_command_line_warns_in_its_own_words_before_anything_is_spent(visits, capsys):
    for flags in (["--dry-run"], ["--dry-run", "--json"], ["--out", visits.replace("visits.csv", "out.csv")]):
        assert release(visits, *flags) == 0
        said = capsys.readouterr().err
        assert f"warning: no unit is declared, so {SAID}" in said
        for flag in ("--unit COL", "--max-cells", "--unit-is-row"):
            assert flag in said
    assert run(["range", visits, "cost", "--epsilon", "1", "--dry-run"]) == 0
    assert SAID in capsys.readouterr().err


def test_a_declared_unit_ends_the_warning(visits, capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for declared in ({"unit": "row"}, {"unit_is_row": True}, {"unit": "patient", "max_cells": 2}):
            assert SAID not in repr(ggdp.plan_table(**ASKED, **declared))
    for flags in (["--unit-is-row"], ["--unit", "patient", "--max-cells", "2"]):
        assert release(visits, *flags, "--dry-run") == 0
        assert capsys.readouterr().err == ""
    assert run(["range", visits, "cost", "--epsilon", "1", "--unit-is-row", "--dry-run"]) == 0
    assert capsys.readouterr().err == ""


def test_a_declared_row_is_the_same_request_but_for_its_declaration():
    silent, declared = TableRequest(**ASKED), TableRequest(**ASKED, unit="row")
    assert (declared.unit, declared.unit_is_row, silent.unit_is_row) == (None, True, False)
    assert declared.to_dict() == {**silent.to_dict(), "unit_is_row": True}
    assert "unit_is_row" not in silent.to_dict()
    assert TableRequest.from_dict(declared.to_dict()) == declared == TableRequest(**ASKED, unit_is_row=True)
    plan = ggdp.plan_table(**ASKED, unit="row")
    assert TablePlan.from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    manifest = plan.run(VISITS).manifest
    assert manifest["table"]["warnings"] == []
    assert manifest["table"]["unit"]["kind"] == "row"


def test_a_file_declares_rows_in_two_ways(tmp_path):
    declared = TableRequest(**ASKED, unit="row")
    path = tmp_path / "request.toml"
    path.write_text(declared.to_toml())
    assert TableRequest.from_toml(path) == declared
    path.write_text('unit = "row"\n' + TableRequest(**ASKED).to_toml())
    assert TableRequest.from_toml(path) == declared


def test_a_column_named_row_can_identify_people_where_its_cells_are_limited(visits, capsys):
    plan = ggdp.plan_table(**ASKED, unit="row", max_cells=2)
    assert plan.protected_unit == "row"
    assert plan.request.unit == "row"
    assert TableRequest.from_dict(plan.request.to_dict()) == plan.request
    assert plan.run(VISITS).manifest["table"]["unit"]["column"] == "row"
    assert release(visits, "--unit", "row", "--max-cells", "2", "--dry-run") == 0
    assert "value of the column 'row'" in capsys.readouterr().out
    # Alone it names a column on the command line, and must not be taken for a declaration.
    assert release(visits, "--unit", "row", "--dry-run") == 1
    assert "--unit-is-row" in capsys.readouterr().err


def test_a_unit_and_a_declared_row_contradict_each_other(visits, capsys):
    with pytest.raises(ArgumentError, match="does not go with"):
        TableRequest(**ASKED, unit="patient", max_cells=1, unit_is_row=True)
    assert release(visits, "--unit", "patient", "--max-cells", "1", "--unit-is-row", "--dry-run") == 1
    assert "--unit = 'patient': does not go with --unit-is-row" in capsys.readouterr().err


def test_statistics_of_all_rows_need_no_limit_on_cells(visits, capsys):
    asked = {"by": None, "goal": ggdp.PureDP(1.0), "domain": DOMAIN, "statistics": [ggdp.Mean("cost")]}
    plan = ggdp.plan_table(**asked, unit="patient")
    assert plan.request == ggdp.plan_table(**asked, unit="patient", max_cells=1).request
    typed = ["--mean", "cost", "--range", "cost=0:10", "--epsilon", "1", "--unit", "patient", "--dry-run"]
    assert run(["release", visits, *typed]) == 0
    capsys.readouterr()
    with pytest.raises(ArgumentError, match="needs `max_cells`"):
        ggdp.plan_table(**ASKED, unit="patient")


def test_a_range_does_not_confuse_the_column_of_units_with_the_column_it_is_for(visits, capsys):
    assert run(["range", visits, "cost", "--unit", "cost", "--max-cells", "1", "--epsilon", "1"]) == 1
    assert "--unit = 'cost': is the column whose range is sought" in capsys.readouterr().err
    assert run(["range", visits, "count", "--unit", "patient", "--max-cells", "1", "--epsilon", "1"]) == 1
    assert "COLUMN = 'count'" in capsys.readouterr().err
    assert run(["range", visits, "row", "--unit", "patient", "--max-cells", "1", "--epsilon", "1"]) == 0
