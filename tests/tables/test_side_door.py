"""No side door: where neighbouring tables release the same values, everything else is the same too, byte by byte.

Noise is scripted so that two tables that differ by one unit, which is added or replaced, release equal counts; then
standard output, standard error, exit code, manifest, table and picture must not differ, nor what Python is given. The
unit is one that a careless program would trip over.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shutil
from itertools import product

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cases import covering, some
from tests.sources.zoo import ENGINES
from tests.tables.scripted import Script

import ggdp
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


CHANGES = ("added", "replaced")


def neighbours(stranger, change):
    """The table, and its neighbour with a stranger as one row more or in the place of the only row of a unit."""
    new = STRANGERS[stranger]
    return ROWS, [*ROWS, new] if change == "added" else [ROWS[0], new, *ROWS[2:]]


def write_csv(rows, file):
    with file.open("w", newline="", encoding="utf-8") as text:
        writer = csv.DictWriter(text, fieldnames=list(ROWS[0]))
        writer.writeheader()
        writer.writerows(rows)


def write_jsonl(rows, file):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def table_of(rows):
    return pa.table({name: pa.array([row[name] or None for row in rows], pa.string()) for name in ROWS[0]})


def write_parquet(rows, file):
    pq.write_table(table_of(rows), file)


WRITERS = {"csv": write_csv, "jsonl": write_jsonl, "parquet": write_parquet}


def one_file(rows, folder, suffix):
    WRITERS[suffix](rows, folder / f"data.{suffix}")
    return f"data.{suffix}"


def packed_file(rows, folder, suffix):
    plain = folder / one_file(rows, folder, suffix)
    with plain.open("rb") as text, gzip.open(folder / f"data.{suffix}.gz", "wb") as packed:
        shutil.copyfileobj(text, packed)
    plain.unlink()
    return f"data.{suffix}.gz"


def two_files(rows, folder, suffix):
    WRITERS[suffix](rows[:2], folder / f"data.1.{suffix}")
    WRITERS[suffix](rows[2:], folder / f"data.2.{suffix}")
    return f"data.*.{suffix}"


def cell(row, by, declared):
    """The cell of a row as the domain has it, by a rule of its own; None if it is not counted."""
    found = []
    for name in by:
        value = row[name]
        if value is None:
            return None
        if name not in declared:
            code = value
        elif name == "sex":
            code = {"f": 0, "m": 1}.get(value, 2)
        elif name == "town":
            code = {"a": 0, "b": 1, "c": 2}.get(value)
        else:
            plain = value.isascii() and value.isdigit() and len(value) < 4
            code = sum(int(value) >= edge for edge in (18, 65)) if plain and int(value) <= 120 else None
        if code is None:
            return None
        found.append(code)
    return tuple(found)


def counts(rows, by, unit, declared):
    """How many rows, or units, are in each cell that is not empty, in domain order."""
    members = {}
    for place, row in enumerate(rows):
        where = cell(row, by, declared)
        who = place if unit is None else row[unit]
        if where is not None and who is not None:
            members.setdefault(where, set()).add(who)
    return {where: len(members[where]) for where in sorted(members)}


SIZES = {"sex": 3, "age": 3, "town": 3}


def cells(by):
    return list(product(*(range(SIZES[name]) for name in by)))


class InTurn:
    """Noise for tables that draw one after another, each for its own counts."""

    def __init__(self, monkeypatch, parts):
        self.scripts = [Script(monkeypatch, *part) for part in parts]
        self.draws = 0
        monkeypatch.setattr(ggdp.IntegerNoise, "sample", self._sample)

    def _sample(self, size, *, rng=None):
        self.draws += 1
        return self.scripts[self.draws - 1]._sample(size, rng=rng)


def scripted(monkeypatch, tables, number, marginals, unit, regime, declared=("sex", "age", "town"), null=""):
    """Script the noise of one of two neighbouring tables; `null` is the text that is none, where it is read as such.

    In a declared table every cell comes out as its place says. In the others cells that both tables have do, and one
    that only one of them has does not show.
    """
    tables = [[{name: None if v == null else v for name, v in row.items()} for row in rows] for rows in tables]
    parts, first = [], 50
    for by in marginals:
        both = [counts(rows, by, unit, declared) for rows in tables]
        found = both[number]
        if regime == "declared":
            true, places = [found.get(where, 0) for where in cells(by)], range(len(cells(by)))
            wanted = [first + place for place in places]
        else:
            shown = {where: first + place for place, where in enumerate(sorted(both[0].keys() & both[1].keys()))}
            true, wanted = list(found.values()), [shown.get(where) for where in found]
        parts.append((true, wanted))
        first += 50
    if regime != "open":
        parts = [([one for true, _ in parts for one in true], [one for _, wanted in parts for one in wanted])]
    return InTurn(monkeypatch, parts)


def outcome(folder, monkeypatch, capfd, arguments):
    """Everything that a release leaves behind."""
    monkeypatch.chdir(folder)
    code = run(arguments)
    said = capfd.readouterr()
    files = {name: (folder / name).read_bytes() for name in sorted(os.listdir(folder)) if not name.startswith("data.")}
    return code, said.out, said.err, files


# What asks for each kind of table, and what is declared for it.
FLAGS = {"declared": [], "sparse": ["--false-cells", "1"], "open": ["--delta", "1e-6", "--order", "1"]}
DECLARED = {"declared": ("sex", "age", "town"), "sparse": ("sex", "age", "town"), "open": ("sex",)}
BY = {
    "declared": [["sex", "age"]],
    "sparse": [["sex", "age", "town"]],
    "open": [["town"]],
}
SEVERAL = {
    "declared": [["sex", "age"], ["town"]],
    "sparse": [["sex", "age", "town"], ["town", "sex"]],
    "open": [["town"], ["town", "sex"]],
}


def compared(
    tmp_path,
    monkeypatch,
    capfd,
    tables,
    regime,
    *,
    suffix="csv",
    write=one_file,
    by=None,
    unit=None,
    out="out.csv",
    extra=(),
    truth=None,
):
    """Release two neighbouring tables at the command line, with the same released values: what each leaves behind.

    With `truth` the noise is scripted for these tables instead.
    """
    marginals = by or BY[regime]
    outcomes = []
    for number, rows in enumerate(tables):
        folder = tmp_path / str(number)
        folder.mkdir()
        source = write(rows, folder, suffix)
        domain = DOMAIN[: DOMAIN.index("[columns.age]")] if regime == "open" else DOMAIN
        (folder / "domain.toml").write_text(domain, encoding="utf-8")
        null = None if suffix == "jsonl" else ""
        script = scripted(monkeypatch, truth or tables, number, marginals, unit, regime, DECLARED[regime], null)
        arguments = ["release", source, "--epsilon", "1", "--domain", "domain.toml", "--out", out, *FLAGS[regime]]
        for names in marginals:
            arguments += ["--by", ",".join(names)]
        arguments += [] if unit is None else ["--unit", unit, "--max-cells", "2"]
        outcomes.append(outcome(folder, monkeypatch, capfd, [*arguments, *extra]))
        assert outcomes[-1][0] == 0, outcomes[-1][2]
        assert script.draws == len(script.scripts)
    return outcomes


UNITS = (None, "person")
# All pairs but those with strangers, of whom each comes twice, with another request the second time.
_REQUESTS = [case.values for case in covering(FLAGS, WRITERS, UNITS, CHANGES) if not case.marks]
_TWICE = {
    (stranger, *_REQUESTS[(place + 4 * again) % len(_REQUESTS)])
    for place, stranger in enumerate(STRANGERS)
    for again in (0, 1)
}
ONE_TABLE = some(product(STRANGERS, FLAGS, WRITERS, UNITS, CHANGES), lambda *case: case in _TWICE)


def with_change(change):
    """The cases of one change."""
    return [case for case in ONE_TABLE if case.values[-1] == change]


@pytest.mark.parametrize(("stranger", "regime", "suffix", "unit", "change"), with_change("added"))
def test_a_table_tells_nothing_but_its_values(tmp_path, monkeypatch, capfd, stranger, regime, suffix, unit, change):
    tables = neighbours(stranger, change)
    one, other = compared(tmp_path, monkeypatch, capfd, tables, regime, suffix=suffix, unit=unit)
    assert one == other
    new = STRANGERS[stranger]["town"]
    assert regime != "open" or len(new) < 3 or new.encode() not in other[3]["out.csv"]


@pytest.mark.parametrize(("stranger", "regime", "suffix", "unit", "change"), with_change("replaced"))
def test_a_unit_that_is_replaced_does_not_show_either(
    tmp_path, monkeypatch, capfd, stranger, regime, suffix, unit, change
):
    tables = neighbours(stranger, change)
    extra = ["--neighbours", "replace-one"]
    one, other = compared(tmp_path, monkeypatch, capfd, tables, regime, suffix=suffix, unit=unit, extra=extra)
    assert one == other


@pytest.mark.parametrize(
    ("stranger", "change", "unit", "out"),
    some(
        product(STRANGERS, CHANGES, UNITS, ("out.csv", "out.parquet")),
        fast=lambda *case: (
            case
            in {("a new cell", "added", "person", "out.csv"), ("quotes and newlines", "replaced", None, "out.parquet")}
        ),
    ),
)
@pytest.mark.parametrize("regime", FLAGS)
def test_several_tables_tell_nothing_in_files_of_either_kind(
    tmp_path, monkeypatch, capfd, regime, stranger, change, unit, out
):
    tables, by = neighbours(stranger, change), SEVERAL[regime]
    one, other = compared(tmp_path, monkeypatch, capfd, tables, regime, by=by, unit=unit, out=out)
    stem, kind = out.split(".")
    assert {f"{stem}-1.{kind}", f"{stem}-2.{kind}"} < one[3].keys()
    assert one == other


SEVERAL_FILES = {
    "packed csv": ("csv", packed_file),
    "packed jsonl": ("jsonl", packed_file),
    "two csv": ("csv", two_files),
    "two jsonl": ("jsonl", two_files),
    "two parquet": ("parquet", two_files),
}
FAST_FILES = {
    ("declared", "a long text", "added"): ("packed csv", "two jsonl"),
    ("open", "a new cell", "replaced"): ("packed jsonl", "two csv", "two parquet"),
}


@pytest.mark.parametrize(
    ("files", "regime", "stranger", "change"),
    some(
        product(SEVERAL_FILES, FLAGS, STRANGERS, CHANGES), fast=lambda files, *case: files in FAST_FILES.get(case, ())
    ),
)
def test_packed_files_and_patterns_tell_nothing_either(tmp_path, monkeypatch, capfd, files, regime, stranger, change):
    tables = neighbours(stranger, change)
    suffix, write = SEVERAL_FILES[files]
    one, other = compared(tmp_path, monkeypatch, capfd, tables, regime, suffix=suffix, write=write, unit="person")
    assert one == other


@pytest.mark.parametrize("json_too", [False, True])
@pytest.mark.parametrize("extra", [["--nonnegative"], ["--neighbours", "replace-one", "--total", "9", "--nonnegative"]])
def test_adjusted_tables_and_json_tell_nothing_either(tmp_path, monkeypatch, capfd, extra, json_too):
    flags = [*extra, *(["--json"] if json_too else [])]
    tables = neighbours("unknown levels", "replaced" if "--total" in extra else "added")
    one, other = compared(tmp_path, monkeypatch, capfd, tables, "declared", extra=flags)
    assert one == other


def test_a_picture_is_the_same_picture(tmp_path, monkeypatch, capfd):
    tables = neighbours("a new cell", "added")
    one, other = compared(tmp_path, monkeypatch, capfd, tables, "declared", extra=["--plot", "out.png"])
    assert "out.png" in one[3]
    assert one == other


def test_tables_that_release_different_values_are_told_apart(tmp_path, monkeypatch, capfd):
    tables = neighbours("a cell that is there", "added")
    one, other = compared(tmp_path, monkeypatch, capfd, tables, "declared", truth=(ROWS, ROWS))
    assert one[1] != other[1]
    assert one[3]["out.csv"] != other[3]["out.csv"]


def _categories(table):
    return table.to_pandas().astype("category")


def _dictionaries(table):
    return pa.table({name: table[name].dictionary_encode() for name in table.column_names})


FRAMES = {
    **ENGINES,
    "pandas objects": lambda table: table.to_pandas(),
    "pandas categories": _categories,
    "pyarrow dictionaries": _dictionaries,
}
GOALS = {"declared": ggdp.PureDP(1.0), "sparse": ggdp.PureDP(1.0), "open": ggdp.ApproxDP(1.0, 1e-6)}
WHOLE = {
    "sex": {"levels": ["f", "m"], "other": "other"},
    "age": {"edges": [0, 18, 65, 120]},
    "town": {"levels": ["a", "b", "c"]},
}


def given_to_python(monkeypatch, capfd, make, tables, regime, unit):
    """Release two neighbouring frames, with the same released values: all that Python is given of each."""
    outcomes = []
    for number, rows in enumerate(tables):
        data = make(table_of(rows))
        capfd.readouterr()
        script = scripted(monkeypatch, tables, number, SEVERAL[regime], unit, regime, DECLARED[regime])
        release = ggdp.release_table(
            data,
            by=SEVERAL[regime],
            goal=GOALS[regime],
            order=1,
            domain={name: WHOLE[name] for name in DECLARED[regime]},
            false_cells=1 if regime == "sparse" else None,
            unit=unit,
            max_cells=None if unit is None else 2,
        )
        said = capfd.readouterr()
        assert script.draws == len(script.scripts)
        outcomes.append(
            (*map(_stream, release.tables), json.dumps(release.manifest), repr(release), said.out, said.err)
        )
    return outcomes


def _stream(table):
    """A table as Arrow writes it, with all that its schema carries."""
    content, written = table.to_arrow(), io.BytesIO()
    with pa.ipc.new_stream(written, content.schema) as stream:
        stream.write_table(content)
    return written.getvalue()


# Every frame is released by every regime, with one of two strangers in turn; frames that are counted like others are
# released by one regime.
TWO_STRANGERS = (("a new cell", "added", "person"), ("other alphabets", "replaced", None))
ONE_REGIME = {"ibis": "open", "polars lazy": "sparse"}
IN_TURN = {
    (frame, regime, *TWO_STRANGERS[place % 2])
    for place, (frame, regime) in enumerate(product(FRAMES, FLAGS))
    if ONE_REGIME.get(frame, regime) == regime
}


@pytest.mark.parametrize(
    ("frame", "regime", "stranger", "change", "unit"),
    some(product(FRAMES, FLAGS, STRANGERS, CHANGES, UNITS), fast=lambda *case: case in IN_TURN),
)
def test_python_is_given_the_same_of_neighbouring_frames(monkeypatch, capfd, frame, regime, stranger, change, unit):
    tables = neighbours(stranger, change)
    one, other = given_to_python(monkeypatch, capfd, FRAMES[frame], tables, regime, unit)
    assert one[-2:] == ("", "")
    assert one == other


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
