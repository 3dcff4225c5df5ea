import csv
import json
import os

import pytest
from reproduction.tests.census import census

from ggdp.cli.app import run
from ggdp.errors import DatasetError
from ggdp_reproduction import reproduction
from ggdp_reproduction.results import Claim, Results


@pytest.fixture
def made_up(monkeypatch):
    """Put results that are there at once in the place of a run; return what it was asked for."""
    asked = {}

    def reproduce(what, **options):
        asked.update(options, what=what)
        found = Results(what=what, quick=options["quick"], seed=options["seed"], repeats=2, svm_repeats=1)
        found.claims = [
            Claim(key="one", place="Section 2", claim="a", verdict="holds", measured="1"),
            Claim(key="two", place="Section 3", claim="b", verdict="does not hold", measured="2"),
        ]
        found.notes = ["something was left out"]
        return found

    monkeypatch.setattr(reproduction, "reproduce", reproduce)
    return asked


@pytest.mark.exhaustive
def test_all_of_it_in_a_quick_run(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("ggdp_reproduction.adult_data.adult", lambda *_, **__: census())
    out = tmp_path / "report"
    assert run(["reproduce", "all", "--quick", "--workers", "1", "--out", str(out), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    claims = json.loads((out / "claims.json").read_text(encoding="utf-8"))
    assert document["claims"] == claims
    assert len(claims) >= 70
    assert all({"claim", "verdict", "measured"} <= set(claim) for claim in claims)
    assert sorted(document["files"]) == sorted(str(path) for path in out.iterdir())
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count("<svg") >= 17
    with (out / "counts.csv").open() as file:
        names = {row["dataset"] for row in csv.DictReader(file)}
    assert names == {"mildew", "mildew-26", "czech", "adult"}


def test_flags_reach_the_run(tmp_path, made_up):
    flags = "--repeats 7 --svm-repeats 3 --seed 11 --workers 2 --offline --adult adult.data"
    assert run(["reproduce", "czech", "--out", str(tmp_path), *flags.split()]) == 0
    assert {name: made_up[name] for name in ("what", "quick", "repeats", "svm_repeats", "seed", "workers")} == {
        "what": "czech",
        "quick": False,
        "repeats": 7,
        "svm_repeats": 3,
        "seed": 11,
        "workers": 2,
    }
    assert (made_up["download"], str(made_up["adult_path"])) == (False, "adult.data")


@pytest.mark.usefixtures("made_up")
def test_people_are_told_the_verdicts_and_what_was_left_out(tmp_path, capsys):
    assert run(["reproduce", "--out", str(tmp_path / "new" / "folder")]) == 0
    captured = capsys.readouterr()
    assert "does not hold" in captured.out
    assert "report.html" in captured.out
    assert captured.err == "note: something was left out\n"


@pytest.mark.usefixtures("made_up")
def test_an_earlier_report_is_not_replaced_unasked(tmp_path, capsys):
    assert run(["reproduce", "mildew", "--out", str(tmp_path)]) == 0
    before = (tmp_path / "report.html").read_bytes()
    capsys.readouterr()
    assert run(["reproduce", "czech", "--out", str(tmp_path)]) == 1
    assert capsys.readouterr().err.startswith("error: --out = ")
    assert (tmp_path / "report.html").read_bytes() == before
    assert run(["reproduce", "czech", "--out", str(tmp_path), "--overwrite"]) == 0
    assert (tmp_path / "report.html").read_bytes() != before


@pytest.mark.parametrize("name", ["claims.json", "counts.csv", "svm.csv", "facts.csv", "figure-densities.csv"])
def test_no_other_file_of_a_run_is_replaced_unasked_either(tmp_path, made_up, capsys, name):
    (tmp_path / name).write_text("mine")
    assert run(["reproduce", "mildew", "--out", str(tmp_path)]) == 1
    assert name in capsys.readouterr().err
    assert made_up == {}


@pytest.mark.usefixtures("made_up")
def test_a_failed_write_leaves_nothing_behind(tmp_path, monkeypatch, capsys):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    assert run(["reproduce", "mildew", "--out", str(tmp_path / "new")]) == 1
    assert "No space left on device" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_named_before_the_work(tmp_path, made_up, capsys):
    (tmp_path / "file").write_text("")
    assert run(["reproduce", "mildew", "--out", str(tmp_path / "file" / "new")]) == 1
    assert capsys.readouterr().err.startswith("error: --out = ")
    assert made_up == {}


def test_data_that_cannot_be_had_are_one_line_and_no_folder(tmp_path, monkeypatch, capsys):
    def none(*_, **__):
        raise DatasetError("the adult data could not be loaded")

    monkeypatch.setattr("ggdp_reproduction.adult_data.adult", none)
    assert run(["reproduce", "adult", "--out", str(tmp_path / "new")]) == 1
    assert capsys.readouterr().err == "error: the adult data could not be loaded\n"
    assert list(tmp_path.iterdir()) == []


def test_an_interrupted_run_keeps_its_fits_and_says_so(tmp_path, monkeypatch, capsys):
    def interrupted(_, *, state_file, **__):
        state_file.write_text("a fit\n")
        raise DatasetError("stopped")

    monkeypatch.setattr(reproduction, "reproduce", interrupted)
    assert run(["reproduce", "adult", "--out", str(tmp_path)]) == 1
    assert "continue from there" in capsys.readouterr().err
    assert [path.read_text() for path in tmp_path.iterdir()] == ["a fit\n"]


@pytest.mark.usefixtures("made_up")
def test_numbers_of_an_earlier_run_do_not_stay_beside_the_new_report(tmp_path, capsys):
    for name in ("svm.csv", "figure-adult-counts.csv", "figure-mine.csv", "notes.txt"):
        (tmp_path / name).write_text("old")
    assert run(["reproduce", "mildew", "--out", str(tmp_path), "--overwrite"]) == 0
    left = sorted(path.name for path in tmp_path.iterdir())
    assert left == ["claims.json", "facts.csv", "figure-mine.csv", "notes.txt", "report.html"]
    assert "removed files of an earlier run: svm.csv, figure-adult-counts.csv" in capsys.readouterr().err


def test_an_interruption_is_told(tmp_path, monkeypatch, capsys):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(reproduction, "reproduce", interrupted)
    assert run(["reproduce", "mildew", "--out", str(tmp_path / "new")]) != 0
    assert capsys.readouterr().err.startswith("error: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_a_write_that_fails_during_the_work_names_the_file_and_the_way_out(tmp_path, monkeypatch, capsys):
    def too_large(*_, **__):
        raise OSError(27, "File too large")

    monkeypatch.setattr(reproduction, "reproduce", too_large)
    assert run(["reproduce", "adult", "--out", str(tmp_path)]) == 1
    message = capsys.readouterr().err
    assert message.startswith("error: --out = ")
    assert all(word in message for word in (".svm-fits.jsonl", "File too large", "--out"))


def test_a_file_of_adult_data_that_is_not_there_names_its_flag(tmp_path, capsys):
    assert run(["reproduce", "adult", "--adult", "/nowhere/adult.data", "--out", str(tmp_path / "new")]) == 1
    assert capsys.readouterr().err.startswith("error: --adult = '/nowhere/adult.data': ")
    assert list(tmp_path.iterdir()) == []


def test_that_adult_is_not_private_is_part_of_the_answer(tmp_path, monkeypatch, capsys):
    def reproduce(what, **_):
        found = Results(what=what, quick=True, seed=0, repeats=2, svm_repeats=1)
        found.notes = [reproduction.ADULT_NOTE]
        return found

    monkeypatch.setattr(reproduction, "reproduce", reproduce)
    said = "not differentially private, for reproduction only"
    assert run(["reproduce", "adult", "--out", str(tmp_path)]) == 0
    assert said in capsys.readouterr().out
    assert run(["reproduce", "adult", "--out", str(tmp_path), "--overwrite", "--json"]) == 0
    assert any(said in note for note in json.loads(capsys.readouterr().out)["notes"])


def test_a_finished_run_leaves_no_fits_behind(tmp_path, made_up):
    (tmp_path / ".svm-fits.jsonl").write_text("a fit\n")
    assert run(["reproduce", "adult", "--out", str(tmp_path)]) == 0
    assert made_up["state_file"] == tmp_path / ".svm-fits.jsonl"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["claims.json", "facts.csv", "report.html"]


@pytest.mark.parametrize(
    ("line", "code", "word"),
    [
        ("reproduce nothing --out x", 2, "nothing"),
        ("reproduce mildew", 2, "--out"),
        ("reproduce mildew --repeats 1 --out x", 1, "repeats = 1"),
        ("reproduce mildew --seed -3 --out x", 1, "seed = -3"),
        ("reproduce mildew --workers 0 --out x", 1, "workers = 0"),
    ],
)
def test_wrong_usage_is_one_line_and_writes_nothing(tmp_path, monkeypatch, capsys, line, code, word):
    monkeypatch.chdir(tmp_path)
    assert run(line.split()) == code
    message = capsys.readouterr().err
    assert message.startswith("error: ")
    assert word in message
    assert list(tmp_path.iterdir()) == []
