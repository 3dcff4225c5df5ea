"""No side door: where neighbouring tables release the same values, everything else is the same too, byte by byte.

Noise is scripted so that two tables that differ by one unit release equal counts; then standard output, standard
error, exit code, manifest, table and picture must not differ. The unit is one that a careless program would trip over.
"""

from __future__ import annotations

import csv
import json
import os

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.tables.scripted import Script

from ggdp.cli.app import run

ROWS = [
    {"sex": "f", "age": "17", "town": "a", "person": "p1"},
    {"sex": "m", "age": "40", "town": "b", "person": "p2"},
    {"sex": "f", "age": "70", "town": "a", "person": "p3"},
    {"sex": "m", "age": "41", "town": "b", "person": "p1"},
]
DOMAIN = """
[columns.sex]
levels = ["f", "m"]
other = "other"
[columns.age]
edges = [0, 18, 65, 120]
[columns.town]
levels = ["a", "b", "c"]
"""
# One more row, of a unit of its own: harmless, unknown, unparsable, empty, long, and of no encoding.
STRANGERS = {
    "a new cell": {"sex": "m", "age": "17", "town": "c", "person": "p9"},
    "a cell that is there": {"sex": "f", "age": "17", "town": "a", "person": "p9"},
    "unknown levels": {"sex": "x", "age": "30", "town": "zzz", "person": "p9"},
    "no number": {"sex": "f", "age": "1e999", "town": "a", "person": "p9"},
    "empty fields": {"sex": "", "age": "", "town": "", "person": ""},
    "quotes and newlines": {"sex": 'f"\n,"', "age": "\n", "town": 'a,"b"\r\n', "person": "p\n9"},
    "a long text": {"sex": "f" * 300_000, "age": "9" * 5000, "town": "a", "person": "p" * 100_000},
    "other alphabets": {"sex": "女", "age": "٣", "town": "a\u0301", "person": "\u202ep"},
    "control characters": {"sex": "f\x00", "age": "17\x00", "town": "\x1f", "person": "\x7f"},
}


def write_csv(rows, file):
    with file.open("w", newline="", encoding="utf-8") as text:
        writer = csv.DictWriter(text, fieldnames=list(ROWS[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_jsonl(rows, file):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def write_parquet(rows, file):
    pq.write_table(pa.table({name: [row[name] or None for row in rows] for name in ROWS[0]}), file)


WRITERS = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}


def cell(row, by):
    """The cell of a row as the domain has it, by a rule of its own; None if it is counted nowhere."""
    found = []
    for name in by:
        value = row[name]
        if name == "sex":
            code = {"f": 0, "m": 1}.get(value, None if value == "" else 2)
        elif name == "town":
            code = {"a": 0, "b": 1, "c": 2}.get(value)
        else:
            plain = value.isascii() and value.isdigit() and len(value) < 4
            code = sum(int(value) >= edge for edge in (18, 65)) if plain and int(value) <= 120 else None
        if code is None:
            return None
        found.append(code)
    return tuple(found)


def counts(rows, by, unit):
    """How many rows, or units, are in each cell that is not empty, in domain order."""
    members = {}
    for place, row in enumerate(rows):
        where = cell(row, by)
        who = place if unit is None else row[unit]
        if where is not None and who != "":
            members.setdefault(where, set()).add(who)
    return {where: len(members[where]) for where in sorted(members)}


SIZES = {"sex": 3, "age": 3, "town": 3}


def cells(by):
    from itertools import product

    return list(product(*(range(SIZES[name]) for name in by)))


def outcome(folder, monkeypatch, capfd, arguments):
    """Everything that a release leaves behind."""
    monkeypatch.chdir(folder)
    code = run(arguments)
    said = capfd.readouterr()
    files = {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder)) if not name.startswith("data.")}
    return code, said.out, said.err, files


def compared(tmp_path, monkeypatch, capfd, suffix, stranger, by, unit, extra, *, listed):
    """Release the table with and without the stranger, with the same released values; `listed` cells have noise."""
    outcomes = []
    for number, rows in enumerate((ROWS, [*ROWS, STRANGERS[stranger]])):
        folder = tmp_path / str(number)
        folder.mkdir()
        WRITERS[suffix](rows, folder / f"data.{suffix}")
        (folder / "domain.toml").write_text(DOMAIN, encoding="utf-8")
        found = counts(rows, by, unit)
        common = counts(ROWS, by, unit)
        if listed == "all":
            true = [found.get(where, 0) for where in cells(by)]
            wanted = [7 + place for place in range(len(true))]
        else:
            # Of the non-empty cells those that both have come out alike, and the new one does not show.
            true = list(found.values())
            places = {where: 50 + place for place, where in enumerate(sorted(common))}
            wanted = [places.get(where) for where in found]
        Script(monkeypatch, true, wanted)
        arguments = ["release", f"data.{suffix}", "--by", ",".join(by), "--epsilon", "1", "--domain", "domain.toml"]
        arguments += [] if unit is None else ["--unit", unit, "--max-cells", "2"]
        outcomes.append(outcome(folder, monkeypatch, capfd, [*arguments, *extra, "--out", "out.csv"]))
    return outcomes


@pytest.mark.parametrize("unit", [None, "person"])
@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_declared_table_tells_nothing_but_its_values(tmp_path, monkeypatch, capfd, suffix, stranger, unit):
    one, other = compared(tmp_path, monkeypatch, capfd, suffix, stranger, ["sex", "age"], unit, [], listed="all")
    assert one[0] == 0, one[2]
    assert one == other


@pytest.mark.parametrize("unit", [None, "person"])
@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("suffix", WRITERS)
def test_a_sparse_table_tells_nothing_but_its_values(tmp_path, monkeypatch, capfd, suffix, stranger, unit):
    one, other = compared(
        tmp_path,
        monkeypatch,
        capfd,
        suffix,
        stranger,
        ["sex", "age", "town"],
        unit,
        ["--false-cells", "1"],
        listed="non-empty",
    )
    assert one[0] == 0, one[2]
    assert one == other


@pytest.mark.parametrize("json_too", [False, True])
@pytest.mark.parametrize("extra", [["--nonnegative"], ["--neighbours", "replace-one", "--total", "9", "--nonnegative"]])
def test_adjusted_tables_and_json_tell_nothing_either(tmp_path, monkeypatch, capfd, extra, json_too):
    flags = [*extra, *(["--json"] if json_too else [])]
    one, other = compared(
        tmp_path, monkeypatch, capfd, "csv", "unknown levels", ["sex", "age"], None, flags, listed="all"
    )
    assert one[0] == 0, one[2]
    assert one == other


def test_a_picture_is_the_same_picture(tmp_path, monkeypatch, capfd):
    flags = ["--plot", "out.png"]
    one, other = compared(tmp_path, monkeypatch, capfd, "csv", "a new cell", ["sex", "age"], None, flags, listed="all")
    assert "out.png" in one[3]
    assert one == other


@pytest.mark.parametrize("stranger", STRANGERS)
@pytest.mark.parametrize("suffix", WRITERS)
def test_an_open_table_tells_nothing_of_a_key_that_is_not_shown(tmp_path, monkeypatch, capfd, suffix, stranger):
    outcomes = []
    new = STRANGERS[stranger]["town"]
    for number, rows in enumerate((ROWS, [*ROWS, STRANGERS[stranger]])):
        folder = tmp_path / str(number)
        folder.mkdir()
        WRITERS[suffix](rows, folder / f"data.{suffix}")
        found = {}
        for row in rows:
            if row["town"]:
                found[row["town"]] = found.get(row["town"], 0) + 1
        if suffix == "jsonl":
            found = {row["town"]: sum(one["town"] == row["town"] for one in rows) for row in rows}
        keys = sorted(found, key=lambda text: text.encode())
        wanted = {"a": 60, "b": 70}
        Script(monkeypatch, [found[key] for key in keys], [wanted.get(key) for key in keys])
        arguments = ["release", f"data.{suffix}", "--by", "town", "--epsilon", "1", "--delta", "1e-6", "--out", "o.csv"]
        outcomes.append(outcome(folder, monkeypatch, capfd, arguments))
    one, other = outcomes
    assert one[0] == 0, one[2]
    assert one == other
    assert len(new) < 3 or new.encode() not in other[3]["o.csv"]


def test_a_wrong_request_is_refused_alike_whatever_the_table_holds(tmp_path, monkeypatch, capfd):
    outcomes = []
    for number, rows in enumerate((ROWS, [*ROWS, STRANGERS["unknown levels"]], [])):
        folder = tmp_path / str(number)
        folder.mkdir()
        write_csv(rows, folder / "data.csv")
        arguments = [
            "release",
            "data.csv",
            "--by",
            "height",
            "--levels",
            "height=1,2",
            "--epsilon",
            "1",
            "--out",
            "o.csv",
        ]
        outcomes.append(outcome(folder, monkeypatch, capfd, arguments))
    assert outcomes[0][0] == 1
    assert outcomes[0][2].startswith("error: ")
    assert outcomes[0] == outcomes[1] == outcomes[2]
