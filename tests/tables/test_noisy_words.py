"""What a reader of a published table meets first: counts carry noise, and no column says the same twice."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

import ggdp
from ggdp.tables.manifest_checks import contradiction

PEOPLE = pa.table({"ward": ["a", "b", "a"] * 40, "cost": [1.0] * 120})
DOMAIN = {"ward": ["a", "b", "c"], "cost": {"range": [0, 10]}}
ADJUSTED = {"nonnegative": True}, {"total": 120, "neighbours": "replace-one"}
PLAIN = {}, {"statistics": [ggdp.Mean("cost")]}, {"false_cells": 0.5}


def released(**asked):
    return ggdp.release_table(PEOPLE, "ward", ggdp.PureDP(1.0), DOMAIN, unit="row", **asked)


@pytest.mark.parametrize("asked", [*PLAIN, *ADJUSTED], ids=str)
def test_raw_counts_are_written_only_where_an_adjustment_makes_them_differ(asked, tmp_path):
    release = released(**asked)
    names = release.to_arrow().column_names
    assert ("noisy_count" in names) == (asked in ADJUSTED)
    (file, _) = release.write(tmp_path / "wards.csv")
    assert file.read_text().splitlines()[0].split(",") == names
    described = release.manifest["table"]["tables"][0]["tableSchema"]["columns"]
    assert [column["name"] for column in described] == names
    assert contradiction(json.loads(json.dumps(release.manifest))) is None
    assert release.tables[0].noisy_count.dtype == "int64"


@pytest.mark.parametrize("asked", [*PLAIN, *ADJUSTED], ids=str)
def test_the_first_words_on_counts_say_that_they_carry_noise(asked):
    manifest = released(**asked).manifest
    assert manifest["statement"].startswith("These numbers carry random noise that protects privacy.")
    columns = {one["name"]: one["dc:description"] for one in manifest["table"]["tables"][0]["tableSchema"]["columns"]}
    assert columns["count"].startswith("noisy count of rows")


def test_manifests_of_an_earlier_version_are_verified_in_their_own_words():
    for path in Path(__file__).with_name("manifests").glob("*.json"):
        manifest = json.loads(path.read_text())
        assert not manifest["statement"].startswith("These numbers")
        assert contradiction(manifest) is None
        columns = manifest["table"]["tables"][0]["tableSchema"]["columns"]
        manifest["table"]["tables"][0]["tableSchema"]["columns"] = [c for c in columns if c["name"] != "noisy_count"]
        assert contradiction(manifest) is not None
