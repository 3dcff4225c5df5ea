"""What a scheduler relies on: a key charges once, whatever is killed or raced; exit codes; errors as JSON."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.people import BY_TOWN

import ggdp
from ggdp.cli.app import run
from ggdp.errors import LedgerError
from ggdp.ledger.charging import PendingCharge
from ggdp.noise.entropy import SECURE

pytestmark = pytest.mark.usefixtures("here")

RELEASE = ["release", "people.csv", *BY_TOWN, "--unit-is-row", "--epsilon", "0.5", "--ledger", "year.ledger"]
JOB = [*RELEASE, "--out", "towns.csv", "--once", "towns 2024-01"]


@pytest.fixture
def ledger(here):
    del here
    return ggdp.Ledger.create("year.ledger", ggdp.PureDP(1.0))


def test_a_retry_returns_what_was_published_and_charges_nothing(ledger, capsys):
    assert run([*JOB, "--json"]) == 0
    first = capsys.readouterr().out
    written = Path("towns.csv").read_bytes()
    Path("people.csv").write_text("person,town,age\n", "utf-8")
    head = ledger.head
    assert run([*JOB, "--json"]) == 0
    again = capsys.readouterr()
    assert (again.out, again.err) == (first, "")
    # Neither another run nor a new noise: not even where files may be replaced.
    assert run([*JOB, "--overwrite"]) == 0
    said = capsys.readouterr()
    assert "Published before, as entry 1 of the ledger: nothing was drawn or charged again." in said.out
    assert said.err == ""
    assert (Path("towns.csv").read_bytes(), ledger.head) == (written, head)
    assert ledger.verify() == head
    (entry,) = ledger.entries()
    assert entry.once == "towns 2024-01"


def test_a_retry_succeeds_after_the_budget_is_spent(ledger, capsys):
    assert run(JOB) == 0
    assert run([*RELEASE, "--out", "second.csv"]) == 0
    assert run([*RELEASE, "--out", "third.csv"]) == 3
    assert run(JOB) == 0
    assert len(ledger.entries()) == 2
    capsys.readouterr()


def test_a_retry_in_python_has_the_published_table(ledger):
    plan = ggdp.plan_table("town", ggdp.PureDP(0.5), {"town": ["Zell", "Bonn"]}, out="towns.csv")
    first = plan.run("people.csv", ledger=ledger, once="a")
    again = plan.run("people.csv", ledger=ledger, once="a")
    assert again.to_arrow().to_pylist() == [
        {name: value for name, value in row.items() if name in again.to_arrow().column_names}
        for row in first.to_arrow().to_pylist()
    ]
    assert (again.guarantee, again.manifest) == (first.guarantee, first.written_manifest)


def test_a_retry_in_python_has_each_of_several_published_tables(ledger):
    wards = {"town": ["Zell", "Bonn"]}
    # The names of other files come before those of the tables.
    plan = ggdp.plan_table([["town"], ["person"]], 0.5, wards | {"person": [1, 2]}, out="towns.csv", wide="a.csv")
    first, again = (plan.run("people.csv", ledger=ledger, once="a") for _ in range(2))
    for which in ("town", ("person",)):
        assert again[which].to_arrow().equals(first[which].to_arrow())
    assert [table.to_pandas().shape for table in again.tables] == [(2, 4), (2, 4)]
    with pytest.raises(ggdp.GgdpError, match=r"of 2 tables.*take one of `tables`"):
        again.to_arrow()
    with pytest.raises(ggdp.GgdpError, match="is not one of the tables: 'town', 'person'"):
        again["ward"]
    one = ggdp.plan_table("town", 0.25, wards, out="town.csv", wide="one.csv")
    first, again = (one.run("people.csv", ledger=ledger, once="b") for _ in range(2))
    assert again.to_arrow().equals(first.to_arrow())


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (["--epsilon", "0.25"], "has charged entry 1 for another request"),
        (["--out", "elsewhere.csv"], "but published towns.csv, towns.manifest.json, not elsewhere.csv"),
        (["--once", "\n"], "must be text"),
    ],
)
def test_a_key_stands_for_one_request_and_its_files(ledger, capsys, flags, said):
    assert run(JOB) == 0
    assert run([*JOB, *flags]) == 1
    assert said in capsys.readouterr().err
    assert len(ledger.entries()) == 1


def test_files_that_were_changed_or_lost_are_not_drawn_again(ledger, capsys):
    assert run(JOB) == 0
    Path("towns.csv").write_text("town,count\n", "utf-8")
    assert run([*JOB, "--overwrite"]) == 1
    assert "'towns.csv' is not the file that was published" in capsys.readouterr().err
    Path("towns.csv").unlink()
    assert run(JOB) == 1
    said = capsys.readouterr().err
    assert "'towns.csv' is not there: put it back, or write to where it is; the charge stays" in said
    assert "nothing is drawn again with this key" in said
    assert len(ledger.entries()) == 1


@pytest.mark.parametrize("flags", [["--out", "a.csv", "--once", "a"], ["--once", "a", "--ledger", "year.ledger"]])
def test_a_key_needs_a_ledger_and_files(ledger, capsys, flags):
    del ledger
    base = ["release", "people.csv", *BY_TOWN, "--epsilon", "0.5"]
    if "--out" in flags:
        assert run([*base, *flags]) == 1
        assert "--once = 'a': needs --ledger" in capsys.readouterr().err
    else:
        plan = ggdp.plan_table("town", ggdp.PureDP(0.5), {"town": ["Zell"]})
        with pytest.raises(ggdp.GgdpError, match="needs `out`"):
            plan.run("people.csv", ledger="year.ledger", once="a")


# The writer is killed by itself, between the charge and the files.
KILLED = """
import os, signal, sys
from ggdp.cli.app import run
from ggdp.tables import output_files
output_files.write_files = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
run(sys.argv[1:])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signal")
def test_a_run_that_was_killed_after_its_charge_is_not_charged_or_drawn_again(ledger, capsys):
    killed = subprocess.run([sys.executable, "-c", KILLED, *JOB], capture_output=True, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert not os.path.exists("towns.csv")
    head = ledger.head
    assert run(JOB) == 1
    said = capsys.readouterr().err
    assert "has charged entry 1 at " in said
    assert "no files were recorded" in said
    assert ledger.head == head
    assert not os.path.exists("towns.csv")
    assert run([*JOB[:-1], "towns 2024-01, again"]) == 0
    assert len(ledger.entries()) == 2


def test_two_processes_with_one_key_charge_once(ledger):
    both = [subprocess.Popen([sys.executable, "-m", "ggdp", *JOB], stderr=subprocess.PIPE) for _ in range(2)]
    codes = sorted((process.communicate()[1], process.returncode)[1] for process in both)
    assert codes in ([0, 0], [0, 1])
    assert len(ledger.entries()) == 1
    assert run(JOB) == 0
    assert len(ledger.entries()) == 1


def test_of_two_runs_that_both_fit_the_second_with_the_key_charges_nothing(ledger):
    plan = ggdp.plan_table("town", ggdp.PureDP(0.0625), {"town": ["Zell"]})
    first, second = (PendingCharge("year.ledger", plan, analyst=None, rng=SECURE, once="a") for _ in range(2))
    with first, second:
        assert first.commit().entry == 1
        with pytest.raises(LedgerError, match="has charged entry 1 already"):
            second.commit()
    assert len(ledger.entries()) == 1
    # The key is in quotes that are escaped, and no part of another one is found.
    keys = ['b"', "b", "B", "%", '"once":"b"']
    for key in keys:
        assert ledger.charged_once(key) is None
        ledger.charge(plan.charge_request() if key != '"once":"b"' else ggdp.PureDP(1e-3, "add-remove"), once=key)
    assert [ledger.charged_once(key).once for key in keys] == keys


@pytest.mark.parametrize(
    ("arguments", "code", "document"),
    [
        (
            [*RELEASE, "--epsilon", "-1", "--out", "a.csv"],
            1,
            {"field": "--epsilon", "value": -1.0, "hint": "must be greater than 0"},
        ),
        (
            [*RELEASE, "--epsilon", "2", "--out", "a.csv"],
            3,
            {
                "field": None,
                "value": None,
                "hint": "it costs epsilon = 2, delta = 0, and of epsilon = 1, delta = 0 there remains epsilon = 1, "
                "delta = 0; the largest epsilon that fits at this delta is 1. More needs a new budget, in another "
                "ledger",
            },
        ),
        (["release", "people.csv", "--by", "town", "--out", "a.csv"], 2, {"field": "--epsilon", "value": None}),
        (
            ["calibrate", "--order", "1", "--epsilon", "x"],
            2,
            {"field": "--epsilon", "value": "x", "hint": "must be a number"},
        ),
        (["release", "people.csv", "--by", "town,", "age"], 2, {"field": "--by", "value": None}),
        (["calibrate", "--support", "whole", "--epsilon", "1"], 2, {"field": "--support"}),
        (["calibrate", "--csv", "--epsilon", "1", "--notions", "pure"], 2, {"field": "--notions"}),
        (["compare", "a.manifest.json"], 2, {"field": None}),
        (["release", "wrong.toml"], 1, {"field": "unit.max_cells", "value": 0, "hint": "must be at least 1"}),
        (["ledger", "show", "none.ledger"], 1, {"field": None}),
        (["calibrate", "--order", "nan", "--epsilon", "1"], 1, {"field": "--order", "value": "nan"}),
    ],
)
def test_errors_are_one_json_document_on_standard_output(ledger, capsys, arguments, code, document):
    del ledger
    Path("wrong.toml").write_text('epsilon = 1\n[unit]\ncolumn = "a"\nmax_cells = 0\n[[tables]]\nby = ["b"]\n')
    assert run([*arguments, "--json"]) == code
    printed = capsys.readouterr()
    found = json.loads(printed.out)
    assert list(found) == ["error", "field", "value", "hint"]
    assert found | document == found
    assert printed.err == f"error: {found['error']}\n"
    assert run(arguments) == code
    assert capsys.readouterr().out == ""
