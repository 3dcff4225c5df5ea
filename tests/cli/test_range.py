"""``ggdp range``: what it prints, writes and refuses."""

import json

import pytest
from tests.cases import one_in

import ggdp
from ggdp.cli.app import run
from ggdp.cli.flags import named_as_flags
from ggdp.errors import ArgumentError


@pytest.fixture
def incomes(tmp_path):
    path = tmp_path / "incomes.csv"
    path.write_text("person,income\n" + "".join(f"{i},{20_000 + i}\n" for i in range(2000)))
    return str(path)


def test_it_prints_the_range_and_the_flag_to_paste(incomes, capsys):
    assert run(["range", incomes, "income", "--epsilon", "1"]) == 0
    printed = capsys.readouterr().out
    assert "--range income=16384:32768" in printed
    assert "1-DP under add-remove neighbours" in printed


def test_json_has_the_ends_and_the_manifest_and_a_file_the_same(incomes, tmp_path, capsys):
    out = tmp_path / "range.json"
    typed = ["range", incomes, "income", "--epsilon", "1", "--unit", "person", "--max-cells", "1"]
    assert run([*typed, "--json", "--out", str(out)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["lower"], document["upper"]) == (16384.0, 32768.0)
    assert document["manifest"]["guarantee"]["epsilon"] == 1.0
    assert json.loads(out.read_text()) == document
    assert run([*typed, "--out", str(out)]) == 1
    assert "--overwrite" in capsys.readouterr().err
    assert run([*typed, "--out", str(out), "--overwrite"]) == 0
    assert "spends the privacy budget again" in capsys.readouterr().err


def test_units_are_counted_in_so_many_buckets_and_charged(incomes, tmp_path, capsys):
    ledger = str(tmp_path / "ledger.db")
    assert run(["ledger", "init", ledger, "--epsilon", "1.5", "--unit", "person"]) == 0
    typed = ["range", incomes, "income", "--epsilon", "1", "--unit", "person", "--max-cells", "2", "--json"]
    typed += ["--ledger", ledger, "--analyst", "me"]
    capsys.readouterr()
    assert run(typed) == 0
    assert json.loads(capsys.readouterr().out)["manifest"]["table"]["unit"]["max_cells"] == 2
    assert run(typed) == 3
    assert "budget" in capsys.readouterr().err


def test_a_dry_run_says_what_it_costs_and_opens_nothing(tmp_path, capsys):
    out, ledger = tmp_path / "range.json", str(tmp_path / "ledger.db")
    assert run(["ledger", "init", ledger, "--epsilon", "1.5", "--unit", "row"]) == 0
    capsys.readouterr()
    typed = ["range", "no such file.csv", "income", "--epsilon", "1", "--out", str(out), "--dry-run"]
    assert run([*typed, "--ledger", ledger]) == 0
    printed = capsys.readouterr().out
    for said in ("epsilon = 1 per run", "2^-32 to 2^62", "above 8", "It fits in what remains of the ledger"):
        assert said in printed
    assert run([*typed, "--json", "--epsilon", "2", "--ledger", ledger]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["noise_level"] == ggdp.plan_range("income", ggdp.PureDP(2.0)).noise_level
    assert len(document["edges"]) == 191
    assert document["fits"] is False
    assert not out.exists()


def test_an_output_never_replaces_the_data(tmp_path, capsys):
    data = tmp_path / "incomes.json"
    data.write_text('{"income": 3}\n')
    assert run(["range", str(data), "income", "--epsilon", "1", "--out", str(data), "--overwrite"]) == 1
    assert "--out" in capsys.readouterr().err
    assert data.read_text() == '{"income": 3}\n'


def test_notes_of_errors_are_kept_where_arguments_are_renamed():
    refused = ArgumentError("by", ["income"], "is wrong")
    refused.add_note("after the charge")
    with pytest.raises(ArgumentError, match="COL = 'income'") as named, named_as_flags({}, by="COL"):
        raise refused
    assert named.value.__notes__ == ["after the charge"]


@pytest.mark.parametrize("rows", ["", "x\n" * 3000, "1e400\n" * 3000])
def test_what_has_no_numbers_has_no_range_and_no_error(tmp_path, capsys, rows):
    """At such an epsilon noise is 0 but for a probability below 1e-20."""
    path = tmp_path / "odd.csv"
    path.write_text("income\n" + rows)
    assert run(["range", str(path), "income", "--epsilon", "50", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["lower"] is None


@pytest.mark.parametrize(
    ("typed", "named"),
    [
        (["outcome", "--epsilon", "1"], "COLUMN = 'outcome'"),
        (["income", "--epsilon", "0"], "--epsilon"),
        (["income", "--epsilon", "1", "--share", "2"], "--share"),
        (["income", "--epsilon", "1", "--unit", "person"], "--max-cells"),
        (["income", "--epsilon", "1", "--out", "range.csv"], "--out"),
    ],
)
def test_wrong_arguments_are_named_as_typed(incomes, typed, named, capsys):
    assert run(["range", incomes, *typed]) == 1
    assert named in capsys.readouterr().err


UNITS = ["range", "value", "count", "lower", "noisy_count", "covers", "column", "share", "unit", "row", "cell", "u"]


@pytest.mark.parametrize(
    ("unit", "column"),
    [*one_in(4, [(unit, "income") for unit in UNITS]), ("count", "range"), ("range", "unit"), ("unit", "row")],
)
def test_the_column_of_units_may_have_any_name(tmp_path, capsys, unit, column):
    path = tmp_path / "incomes.csv"
    # So many units that the noise of all buckets together is far below one in a hundred of them.
    path.write_text(f"{unit},{column}\n" + "".join(f"{i},{20_000 + i % 2000}\n" for i in range(50_000)))
    typed = ["range", str(path), column, "--epsilon", "1", "--unit", unit, "--max-cells", "2", "--json"]
    assert run(typed) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["column"], document["lower"], document["upper"]) == (column, 16384.0, 32768.0)
    assert document["manifest"]["table"]["unit"]["column"] == unit
    # In Python "row" says that each row is a unit, unless it is said to be a column.
    asked = {"unit": unit, "max_cells": 2, **({"unit_is_row": False} if unit == "row" else {})}
    found = ggdp.private_range(str(path), column, 1.0, **asked)
    assert (found.lower, found.upper) == (16384.0, 32768.0)
