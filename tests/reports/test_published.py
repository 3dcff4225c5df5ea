"""What is believed of a manifest, and of the files that it names."""

from __future__ import annotations

import hashlib
import json

import pytest

from ggdp.errors import ArgumentError
from ggdp.reports.published import published_tables, read_release


def changed(path, change):
    found = json.loads(path.read_bytes())
    change(found)
    path.write_text(json.dumps(found))
    return path


def narrower(found):
    found["mechanism"]["scale"] *= 0.5
    found["mechanism"]["certificate"]["parameters"]["scale"] *= 0.5
    found["losses"][0]["scale"] *= 0.5


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (narrower, "the certificate of mechanism does not hold"),
        (lambda found: found["guarantee"].update(epsilon=0.1), "guarantee.epsilon is 0.1"),
        (lambda found: found["losses"][0].update(scale=3.0), "losses[0].scale is 3.0"),
        (lambda found: found.update(guarantee=None), "has no guarantee: its noise came from a seeded source"),
        (lambda found: found.update(schema="other/1"), "is not a manifest of ggdp"),
        (lambda found: found.pop("statement"), "statement is missing"),
        (lambda found: found["table"]["unit"].update(max_cells="many"), "table.unit.max_cells is 'many'"),
        (lambda found: found["table"]["tables"][0].pop("tableSchema"), "table.tables.0 is missing or wrong"),
    ],
)
def test_a_changed_manifest_is_refused(published, change, said):
    path = changed(published / "smoking.manifest.json", change)
    with pytest.raises(ArgumentError) as refused:
        read_release(path)
    assert (refused.value.argument, refused.value.value) == ("manifests", str(path))
    assert said in refused.value.expected


def test_noise_without_a_certificate_is_refused(published):
    def stripped(found):
        found["mechanism"]["certificate"] = None
        found["losses"] = [{"kind": "response", "epsilon": 0.5, "delta": 0.0, "count": 1}]

    path = changed(published / "smoking.manifest.json", stripped)
    with pytest.raises(ArgumentError, match="mechanism has no certificate"):
        read_release(path)


def test_the_certificate_of_units_cut_off_is_proved_too(published):
    def narrower_cut(found):
        found["table"]["cut"]["mechanism"]["scale"] *= 0.5
        found["table"]["cut"]["mechanism"]["certificate"]["parameters"]["scale"] *= 0.5

    path = published / "cut.manifest.json"
    assert read_release(path).beyond_certificate
    changed(path, narrower_cut)
    with pytest.raises(ArgumentError, match=r"the certificate of table\.cut\.mechanism does not hold"):
        read_release(path)


@pytest.mark.parametrize("text", ["", "[]", "not JSON", "{}"])
def test_what_is_no_manifest_is_refused(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text)
    with pytest.raises(ArgumentError, match="manifest"):
        read_release(path)


def test_a_release_is_described(manifest):
    smoking, wards = read_release(manifest("smoking")), read_release(manifest("wards"))
    assert (smoking.name, smoking.contents, smoking.cells) == ("smoking", "Counts of people by smokes", 2)
    assert smoking.protected == "one row of the data (one of the people)"
    assert smoking.certificates
    assert smoking.half_width == json.loads(manifest("smoking").read_bytes())["error"]["half_width"]
    assert not smoking.beyond_certificate
    assert wards.contents == "Counts of people by ward × smokes"
    assert wards.adjusted == ("clip",)
    visits = read_release(manifest("visits"))
    assert visits.protected == "all rows with the same value of the column 'person' (one of the people)"
    assert not visits.protects_rows


def test_statistics_are_read_from_their_file(manifest):
    ages = read_release(manifest("ages"))
    assert ages.contents == "Counts of people by smokes, with the mean of age and the median of age"
    # Its error is that of sums, not of what is published.
    assert ages.half_width is None
    assert ages.beyond_certificate
    (table,) = ages.tables
    assert table.estimates == ("count", "mean_age", "quantile_age_0.5")
    assert [row.cell for row in table.rows] == [("no",), ("yes",)]
    widths = table.half_widths("mean_age")
    assert widths == sorted(widths)
    assert 0.0 < widths[-1] <= 50.0


def test_a_selection_has_no_certificate(manifest):
    chosen = read_release(manifest("chosen"))
    assert chosen.is_selection
    assert not chosen.certificates
    assert chosen.half_width is None
    assert chosen.contents == "1 value"


def test_rows_are_those_of_the_file(manifest):
    (table,) = read_release(manifest("smoking")).tables
    lines = manifest("smoking").with_name("smoking.csv").read_text().splitlines()[1:]
    assert table.state == "same"
    for row, line in zip(table.rows, lines, strict=True):
        level, count, lower, upper = line.split(",")
        found = row.estimates["count"]
        assert row.cell == (level,)
        assert (found.value, found.lower, found.upper) == (float(count), float(lower), float(upper))


def test_a_file_that_was_changed_is_not_shown(published):
    file = published / "smoking.csv"
    file.write_text(file.read_text().replace("no", "No"))
    (table,) = read_release(published / "smoking.manifest.json").tables
    assert (table.state, table.rows) == ("changed", ())


def test_a_file_that_is_not_there_is_not_checked(published):
    (published / "smoking.csv").unlink()
    (table,) = read_release(published / "smoking.manifest.json").tables
    assert (table.state, table.rows) == ("absent", ())


def test_only_files_beside_the_manifest_are_opened(published):
    folder = published / "inner"
    folder.mkdir()
    path = folder / "smoking.manifest.json"
    path.write_bytes((published / "smoking.manifest.json").read_bytes())
    assert [table.state for table in read_release(path).tables] == ["absent"]
    changed(path, lambda found: found["table"]["tables"][0].update(url="../smoking.csv"))
    with pytest.raises(ArgumentError, match="not in the directory of the manifest"):
        read_release(path)


def test_a_directory_of_parts_is_compared_file_by_file(tmp_path):
    (tmp_path / "t.parquet").mkdir()
    parts = []
    for name in ("part-0", "part-1"):
        (tmp_path / "t.parquet" / name).write_bytes(name.encode())
        parts.append({"url": f"t.parquet/{name}", "sha256": hashlib.sha256(name.encode()).hexdigest()})
    listing = "".join(f"{part['sha256']}  {part['url'].partition('/')[2]}\n" for part in parts)
    table = {
        "url": "t.parquet",
        "sha256": hashlib.sha256(listing.encode()).hexdigest(),
        "parts": parts,
        "cells": 2,
        "covers": None,
        "tableSchema": {"primaryKey": [], "columns": []},
    }

    def state(**change):
        return published_tables({"table": {"tables": [table | change]}}, tmp_path / "t.manifest.json")[0].state

    assert state() == "same"
    assert state(parts=parts[:1]) == "changed"
    assert state(url="elsewhere.parquet") == "absent"
    more = tmp_path / "t.parquet" / "part-2"
    more.write_bytes(b"rows of somebody else")
    assert state() == "changed"
    more.unlink()
    (tmp_path / "t.parquet" / "part-1").write_bytes(b"part-2")
    assert state() == "changed"
    (tmp_path / "t.parquet" / "part-1").unlink()
    assert state() == "changed"
