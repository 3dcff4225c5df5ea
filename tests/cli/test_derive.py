"""Derived columns and look-ups by flags, in studies and from manifests."""

import json
from pathlib import Path

import pytest

from ggdp.cli.app import run

VISITS = "patient,ward,age,plz\n1,births,34,01067\n2,Eyes ,70,1067\n3,eyes,17,20095\n"
PLACES = "plz,region\n01067,Sachsen\n20095,Hamburg\n"
ASKED = [
    *("--by", "region,group", "--lookup", "region=data/places.csv:plz", "--missing", "region=unknown"),
    *("--derive", "group=case when age < 18 then 'child' else 'adult' end", "--derive", "clean=lower(trim(ward))"),
    *("--where", "clean <> 'test'", "--unit-is-row", "--epsilon", "1"),
]


@pytest.fixture(autouse=True)
def _files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("visits.csv").write_text(VISITS, "utf-8")
    Path("data/places.csv").write_text(PLACES, "utf-8")


def released(*flags):
    return run(["release", "visits.csv", *flags])


def test_manifest_and_statement_say_what_is_computed_and_looked_up():
    assert released(*ASKED, "--out", "t.csv") == 0
    manifest = json.loads(Path("t.manifest.json").read_text("utf-8"))
    domain, said = manifest["table"]["request"]["domain"], manifest["statement"]
    assert domain["clean"] == {"expression": "lower(trim(ward))"}
    assert domain["group"]["levels"] == ["child", "adult"]
    assert domain["region"]["lookup"]["file"] == "places.csv"
    assert "The column 'region' is looked up by 'plz' in the public file 'places.csv'." in said
    assert "The column 'clean' is computed from each row by itself: lower(trim(ward))." in said
    assert "All rows are protected, also those that are left out." in said
    assert run(["verify", "t.manifest.json"]) == 0


def test_the_next_release_takes_the_look_up_if_it_is_there_and_the_same(capsys):
    assert released(*ASKED, "--out", "t.csv") == 0
    for flags in (("--dry-run",), ("--out", "u.csv")):
        assert released("--like", "t.manifest.json", *flags) == 1
        assert "lookup of 'region' = 'places.csv': is not there" in capsys.readouterr().err
    Path("places.csv").write_text(PLACES, "utf-8")
    assert released("--like", "t.manifest.json", "--out", "u.csv") == 0
    Path("places.csv").write_text(PLACES + "1067,Bayern\n", "utf-8")
    assert released("--like", "t.manifest.json", "--out", "v.csv") == 1
    assert "is no longer the file that was declared" in capsys.readouterr().err
    assert not Path("v.csv").exists()
    assert released("--like", "t.manifest.json", "--lookup", "region=places.csv:plz", "--out", "v.csv") == 0


def test_a_study_keeps_derived_columns_and_the_way_to_the_file(capsys):
    assert released(*ASKED, "--dry-run", "--save-study", "data/study.toml") == 0
    text = Path("data/study.toml").read_text("utf-8")
    assert 'lookup = "places.csv"\nkey = "plz"\n' in text
    assert run(["release", "data/study.toml", "--out", "out"]) == 0
    assert run(["check", "data/study.toml"]) == 0
    assert "region x group" in capsys.readouterr().out
    Path("data/study.toml").write_text(text.replace("lower(trim(ward))", "lower(trim(ward)"), "utf-8")
    assert run(["check", "data/study.toml"]) == 1
    assert "columns.clean.expression" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--derive", "group"), "--derive = 'group': must be a column, '=' and what it is made of"),
        (("--derive", "group=abs(age)"), "--derive = 'group=abs(age)': ABS(age) (character 1)"),
        (("--lookup", "group=data/places.csv"), "COL=FILE.csv:KEY"),
        (("--lookup", "group=nosuch.csv:plz"), "--lookup = 'group=nosuch.csv:plz': 'nosuch.csv' cannot be read"),
        (("--derive", "group=age > 1", "--lookup", "group=data/places.csv:plz"), "'group' is already derived"),
        (("--derive", "group=nosuch > 1"), "nosuch"),
    ],
)
def test_errors_are_about_the_flag_as_it_is_typed(capsys, flags, said):
    assert released("--by", "group", *flags, "--epsilon", "1", "--out", "t.csv") == 1
    assert said in capsys.readouterr().err


def test_bins_and_ranges_of_derived_columns_are_flags_like_those_of_others(capsys):
    flags = ["--derive", "tens=age / 10", "--bins", "tens=0,2,10", "--range", "tens=0:10", "--mean", "tens"]
    assert released("--by", "tens", *flags, "--unit-is-row", "--epsilon", "1", "--out", "t.csv") == 0
    assert run(["check", "visits.csv", "--by", "tens", *flags]) == 0
    assert "NEARLY NOTHING" not in capsys.readouterr().out
