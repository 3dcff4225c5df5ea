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
    assert (declared.unit, declared.unit_is_row, silent.unit_is_row) == (None, True, None)
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


def test_a_column_named_row_identifies_people_where_that_is_said_whatever_else_is_declared(visits, tmp_path, capsys):
    plan = ggdp.plan_table(**ASKED, unit="row", unit_is_row=False, max_cells=2)
    assert plan.protected_unit == "column row"
    assert plan.request.unit == "row"
    assert TableRequest.from_dict(plan.request.to_dict()) == plan.request
    # As in manifests of earlier versions, which are verified.
    assert "unit_is_row" not in plan.request.to_dict()
    path = tmp_path / "request.toml"
    path.write_text(plan.request.to_toml())
    assert TableRequest.from_toml(path) == plan.request
    path.write_text(path.read_text().replace("is_row = false\n", ""))
    assert 'column = "row"\nmax_cells = 2\n' in path.read_text()
    assert TableRequest.from_toml(path) == plan.request
    assert ggdp.check_table(VISITS, "ward", DOMAIN, unit="row", unit_is_row=False).units.column == "row"
    assert plan.run(VISITS).manifest["table"]["unit"]["column"] == "row"
    assert release(visits, "--unit", "row", "--max-cells", "2", "--dry-run") == 0
    assert "value of the column 'row'" in capsys.readouterr().out
    assert run(["check", visits, "--by", "ward", "--levels", "ward=a,b", "--unit", "row"]) == 0
    assert "3 different values of row" in capsys.readouterr().out
    # Alone it names a column on the command line, and must not be taken for a declaration.
    assert release(visits, "--unit", "row", "--dry-run") == 1
    assert "; if each row is a unit, --unit-is-row alone" in capsys.readouterr().err


def test_row_is_each_row_in_python_and_never_a_column_because_of_a_limit(visits, tmp_path, capsys):
    with pytest.raises(
        ArgumentError, match='does not go with `unit="row"`, unless that is a column: then `unit_is_row=F'
    ):
        TableRequest(**ASKED, unit="row", max_cells=2)
    asked = {"by": None, "goal": ggdp.PureDP(1.0), "domain": DOMAIN, "statistics": [ggdp.Mean("cost")]}
    assert ggdp.plan_table(**asked, unit="row").request.unit is None
    assert ggdp.plan_table(**asked, unit="row", unit_is_row=False).request.unit == "row"
    assert ggdp.check_table(VISITS, "ward", DOMAIN, unit="row").units is None
    assert ggdp.plan_range("row", ggdp.PureDP(1.0), unit="row").histogram.request.unit is None
    with pytest.raises(ArgumentError, match="is the column whose range is sought"):
        ggdp.plan_range("row", ggdp.PureDP(1.0), unit="row", unit_is_row=False, max_cells=1)
    assert release(visits, "--unit-is-row", "--max-cells", "2", "--dry-run") == 1
    assert "--max-cells = 2: does not go with --unit-is-row, unless that is a column: then --unit row" in (
        capsys.readouterr().err
    )
    path = tmp_path / "request.toml"
    path.write_text(
        TableRequest(**ASKED).to_toml().replace("[[tables]]", "[unit]\nis_row = true\nmax_cells = 2\n\n[[tables]]")
    )
    with pytest.raises(
        ArgumentError, match=r'unit.max_cells = 2: does not go with unit = "row", unless .* unit.column = "row"'
    ):
        TableRequest.from_toml(path)


def test_a_flag_about_units_takes_the_place_of_what_a_study_says_of_them(visits, tmp_path, capsys):
    study = tmp_path / "study.toml"
    for first, flags, said in (
        ({"unit": "row"}, ["--unit", "row", "--max-cells", "2"], "value of the column 'row'"),
        ({"unit": "patient", "max_cells": 2}, ["--unit", "row"], "value of the column 'row'"),
        ({"unit": "row", "unit_is_row": False, "max_cells": 2}, ["--unit", "patient"], "value of the column 'patient'"),
        ({"unit": "patient", "max_cells": 1, "count_cut": 0.1}, ["--unit-is-row"], "one row"),
        (
            {"unit": "patient", "max_cells": 2, "count": "rows", "max_rows_per_cell": 3},
            ["--unit-is-row", "--mean", "cost", "--range", "cost=0:9"],
            "one row",
        ),
    ):
        study.write_text(f'source = "{visits}"\n{TableRequest(**ASKED, **first).to_toml()}')
        assert run(["release", str(study), *flags, "--dry-run"]) == 0
        assert said in capsys.readouterr().out


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
