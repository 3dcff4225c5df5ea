"""A study that is open in the explorer is released and saved as it says, shown in the form or not."""

import shlex
from pathlib import Path

import pytest
from attrs import evolve

import ggdp
from ggdp.errors import ArgumentError, GgdpError
from ggdp.explorer.releasing import Asked, make_offer, publish, study_file
from ggdp.explorer.studies import OpenStudy, open_study, open_upload
from ggdp.explorer.views.release_view import ReleaseSettings
from ggdp.explorer.wording import LABELS, ExplorerError
from ggdp.tables.request import TableRequest

# What the form shows all of.
SHOWN = """
source = "visits.csv"
where = "cost > 1.0 AND ward <> 'test'"
order = 2.0
nonnegative = true
digits = 2
neighbours = "replace-one"
epsilon = 0.5
delta = 1e-7

[format]
delimiter = "\\t"
encoding = "latin-1"
strict_lines = true
decimal = ","
thousands = " "
date_format = "%d.%m.%Y"
null_values = ["NA", "."]

[unit]
column = "patient"
name = "patients"
max_cells = 3

[columns.ward]
levels = ["births, twins", "eyes"]
labels = ["Births", "Eyes"]
other = "elsewhere"

[columns.rooms]
levels = [1, 2, 4]
missing = "unknown"

[columns.seen]
edges = { from = 2024-01-01, to = 2025-01-01, every = "quarter" }

[columns.at]
edges = [-inf, 2024-01-01, 2024-01-01T12:30:00, inf]

[columns.age]
edges = [0, 17.5, 1e6]
range = [0, 100]
step = 0.5

[columns.cost]
range = [0.0, 0.3]

[columns.adult]
expression = "age >= 18"

[[tables]]
name = "wards"
by = ["ward", "rooms", "adult"]
mean = ["cost"]
sum = ["age"]
quantile = { cost = [0.25, 0.5] }

[[tables]]
by = ["ward", "seen", "at", "age"]
mean = ["cost"]
sum = ["age"]
quantile = { cost = [0.25, 0.5] }
"""
COUNTS = """
epsilon = 1.0
[columns.ward]
levels = ["births", "eyes"]
[[tables]]
by = ["ward"]
"""
# What it cannot show, with what is said to be kept.
KEPT = {
    "limits of units": (
        '[unit]\ncolumn = "p"\nmax_cells = 2\ncount = "rows"\nmax_rows_per_cell = 3\n',
        ["unit.count = rows", "unit.max_rows_per_cell = 3"],
    ),
    "a share for units": ('[unit]\ncolumn = "p"\nmax_cells = 1\ncount_cut = 0.1\n', ["unit.count_cut = 0.1"]),
    "more cells than the slider has": ('[unit]\ncolumn = "p"\nmax_cells = 5000\n', ["unit.max_cells = 5000"]),
    "quoting": ('[format]\nquoted = false\nescape = "\\\\"\n', ["format.quoted = False", "format.escape = \\"]),
    "levels that are truths": ("[columns.ok]\nlevels = [true, false]\n", ["levels of column 'ok'"]),
    "levels that are dates": ("[columns.ok]\nlevels = [2024-01-01]\n", ["levels of column 'ok'"]),
    "levels of several lines": ('[columns.ok]\nlevels = ["a\\nb"]\n', ["levels of column 'ok'"]),
    "levels with spaces around them": ('[columns.ok]\nlevels = [" a"]\n', ["levels of column 'ok'"]),
    "levels that look like a range": ('[columns.ok]\nlevels = ["1..3"]\n', ["levels of column 'ok'"]),
    "more levels than fit": (f"[columns.ok]\nlevels = {[f'l{k}' for k in range(2000)]}\n", ["levels of column 'ok'"]),
    "how one column is read": (
        '[columns.ok]\nedges = [0, 1]\ndecimal = ","\nnull_values = ["x"]\n',
        ["decimal, null_values of column 'ok'"],
    ),
    "a column that is complete": ('[columns.ok]\nlevels = ["y"]\ncomplete = true\n', ["complete of column 'ok'"]),
    "a range for each level": (
        'sum = ["v"]\n[columns.v]\nrange_by = "ward"\nranges = { births = [0, 1], eyes = [0, 500] }\n',
        ["range_by, ranges of column 'v'"],
    ),
    "percentages of all cells": (
        f'percent_of = []\n{COUNTS.replace("""["ward"]""", """["ward", "sex"]""")}[columns.sex]\nlevels = ["f", "m"]\n',
        ["percent_of"],
    ),
    "statistics of one table alone": (
        '[columns.ok]\nlevels = ["y"]\n[columns.cost]\nrange = [0, 10]\n[[tables]]\nby = "ok"\nmean = ["cost"]\n',
        ["statistics"],
    ),
    "cells that cannot occur": (
        '[columns.ok]\nlevels = ["y", "n"]\n[[impossible]]\nward = "eyes"\nok = "y"\n',
        ["impossible"],
    ),
    "a name of several lines": (
        '[columns."o\\nk"]\nlevels = ["y"]\n',
        ["by", "levels of column 'ward'", "levels of column 'o\\nk'"],
    ),
}


def opened(text: str) -> tuple[OpenStudy, ReleaseSettings]:
    """The study of a text, and the form as it is filled in."""
    found, values = open_upload(text.encode(), "year.toml", ReleaseSettings)
    return found, ReleaseSettings(**values)


def released(study: OpenStudy, form: ReleaseSettings) -> TableRequest:
    return form.typed_table(study=study).request()


def test_a_form_that_shows_all_of_a_study_keeps_nothing() -> None:
    study, form = opened(SHOWN)
    assert (study.fields, study.inputs, study.kept) == ((), [], [])
    assert released(study, form) == study.study.request
    percent, filled = opened(KEPT["percentages of all cells"][0].replace("[]", '["ward"]'))
    assert (percent.kept, filled.percent_of) == ([], "ward")
    # The same without the study: every option is in an input.
    assert form.typed_table().request().to_dict() == study.study.request.to_dict()
    assert form.where == "cost > 1 and ward <> 'test'"
    assert form.by == "ward,rooms,adult\nward,seen,at,age"
    assert form.derive == "adult=age >= 18"
    assert form.levels == 'ward="births, twins",eyes\nrooms:int=1,2,4'
    assert form.bins == (
        "seen=2024-01-01:2025-01-01:quarter\nat=-inf,2024-01-01,2024-01-01T12:30:00,inf\nage=0,17.5,1000000"
    )


@pytest.mark.parametrize("name", KEPT)
def test_what_the_form_cannot_show_is_kept_and_named(name: str) -> None:
    more, said = KEPT[name]
    text = more if more.startswith("percent") else COUNTS + more
    if "[columns" in more and "[[tables]]" not in more and "ranges" not in more:
        column = "o\\nk" if "o\\nk" in more else "ok"
        text = text.replace('by = ["ward"]', f'by = ["ward", "{column}"]')
    study, form = opened(text)
    assert study.kept == said
    assert released(study, form) == study.study.request
    assert study_file(Asked(table=form.typed_table(study=study), path="", name="")).files["year.toml"] == (
        study.study.to_toml().encode()
    )


def test_a_goal_beyond_the_form_is_kept_and_its_inputs_stand_for_nothing() -> None:
    for text, said in ((COUNTS.replace("1.0", "30.0"), "goal = 30-DP"), ("notion", "goal = (1, 1e-06)-pDP")):
        text = text if "notion" not in text else 'delta = 1e-6\nnotion = "probabilistic"\n' + COUNTS
        study, form = opened(text)
        assert study.kept == [said]
        assert study.inputs == ["epsilon", "notion", "delta", "goal"]
        assert released(study, evolve(form, epsilon=2.0)) == study.study.request


def test_what_is_changed_in_the_form_is_changed_and_the_rest_stays() -> None:
    text = COUNTS.replace(
        "[columns.ward]", '[unit]\ncolumn = "p"\nmax_cells = 1\ncount = "rows"\nmax_rows_per_cell = 4\n[columns.ward]'
    )
    study, form = opened(text + '[columns.cost]\ndecimal = ","\n[columns.other]\nlevels = [true]\n')
    changed = evolve(form, levels="ward=births", other="ward=rest", epsilon=0.1)
    found = released(study, changed)
    assert found.domain["ward"].labels == ("births", "rest")
    assert (found.goal.epsilon, found.max_rows_per_cell) == (0.1, 4)
    assert found.domain["other"].levels == (True,)
    # A column that is taken out of the form is taken out, and its options stay for when it comes back.
    assert "ward" not in released(study, evolve(form, by="other", levels="")).domain
    with pytest.raises(
        ExplorerError, match=r"Levels = 'other': is declared by the study in a way that the form cannot"
    ):
        released(study, evolve(form, by="ward, other", levels="ward=births\nother=a"))


def test_names_of_tables_are_those_of_the_study_for_its_tables_alone() -> None:
    study, form = opened(SHOWN)
    table = form.typed_table(study=study)
    assert table.names(table.request()) == ("wards", "ward-seen-at-age")
    other = evolve(table, by="age", levels="", labels="", other="", missing="", bins="age=0,18,inf")
    assert other.names(other.request()) is None


def test_no_input_of_the_form_names_a_file_to_read() -> None:
    table = opened(SHOWN)[1].typed_table()
    assert table.flags()["lookup"] is None
    assert not hasattr(table, "lookup")
    assert "lookup" not in LABELS


def test_a_look_up_of_a_study_that_the_explorer_is_started_with_is_kept_and_saved(tmp_path: Path) -> None:
    (tmp_path / "regions.csv").write_text("ward,region\nbirths,north\neyes,south\n")
    text = COUNTS.replace('["ward"]', '["region"]') + '[columns.region]\nlookup = "regions.csv"\nkey = "ward"\n'
    (tmp_path / "year.toml").write_text(text)
    study = ggdp.Study.read(tmp_path / "year.toml")
    found, values = open_study(study, "year.toml", ReleaseSettings, str(tmp_path))
    form = ReleaseSettings(**values)
    assert "lookup of column 'region'" in found.kept
    assert released(found, form) == study.request
    saved = study_file(Asked(table=form.typed_table(study=found), path="", name="")).files["year.toml"]
    assert ggdp.Study.parse(saved, str(tmp_path / "year.toml")).request == study.request


def test_every_option_of_how_text_is_read_has_an_input() -> None:
    from ggdp.explorer.typed_table import READING

    assert {"decimal", "thousands", "date_format", "null_values", "sheet", "delimiter", "encoding"} <= set(READING)
    assert all(hasattr(ReleaseSettings(), name) and LABELS[name] for name in READING)


@pytest.mark.parametrize(
    "text",
    [
        f'source = "/etc/passwd"\nledger = "/home/jane/year.ledger"\noutput = "/root"\n{COUNTS}',
        f'source = "../../../etc/passwd"\nledger = "postgresql://jane:pw@db/ledger"\n{COUNTS}',
    ],
)
def test_paths_of_an_upload_are_texts_that_nothing_opens(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import builtins
    import os

    touched: list[object] = []
    for module, name in ((builtins, "open"), (os, "open"), (os, "stat")):
        real = getattr(module, name)

        def noting(path: object, *given: object, real=real, **named: object) -> object:
            touched.append(path)
            return real(path, *given, **named)

        monkeypatch.setattr(module, name, noting)
    study, _ = opened(text)
    monkeypatch.undo()
    for name in ("source", "ledger", "output"):
        path = getattr(study.study, name)
        assert path is None or not [one for one in touched if str(path) in str(one)]
    # It is as it was written: not below any directory of this machine.
    assert study.study.source in ("/etc/passwd", "../../../etc/passwd")


def test_an_upload_that_names_a_look_up_is_refused_before_it_is_read() -> None:
    text = COUNTS + '[columns.region]\nlookup = "/etc/passwd"\n'
    with pytest.raises(ExplorerError, match=r"column 'region' names another file.*ggdp explore STUDY\.toml"):
        opened(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("epsilon = ", r"is not a TOML file"),
        (COUNTS.replace("levels", "level"), r"^year\.toml, line 4: columns\.ward\.level = \['births', 'eyes'\]"),
        (COUNTS.replace("1.0", "0"), r"^year\.toml, line 2: epsilon = 0: must be greater than 0"),
        ("not_private_draft = true\n" + COUNTS, r"year\.toml'?: is a draft made from the data.*code book"),
    ],
)
def test_a_study_that_is_wrong_is_refused_with_its_line(text: str, said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        opened(text)


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    path.write_text("ward;p\n" + "births;1\neyes;2\neyes;3\n" * 30)
    return path


TWO = """
epsilon = 1.0
unit = "row"
[format]
delimiter = ";"
quoted = false
[columns.ward]
levels = ["births", "eyes"]
[columns.p]
levels = [1, 2, 3]
[[tables]]
name = "wards"
by = ["ward"]
[[tables]]
by = ["p"]
"""


def test_a_release_of_a_study_is_that_of_the_command_line(visits: Path, tmp_path: Path, monkeypatch) -> None:
    import io
    import json
    import zipfile

    from typer.testing import CliRunner

    from ggdp.cli.app import app

    monkeypatch.chdir(tmp_path)
    Path("year.toml").write_text(TWO)
    study, form = opened(TWO)
    table = form.typed_table(study=study)
    asked = Asked(table=table, path=str(visits), name="visits.csv", own={"source": "visits.csv"})
    found = publish(make_offer(asked))
    words = shlex.split(f"release year.toml --source {visits} --out tables")
    assert CliRunner().invoke(app, words).exit_code == 0
    there = json.loads(Path("tables/manifest.json").read_text())
    here = json.loads(found.files["manifest.json"])
    assert here["table"]["request"] == there["table"]["request"]
    assert here["guarantee"] == there["guarantee"]
    names = ["wards.csv", "p.csv", "manifest.json"]
    assert sorted(path.name for path in Path("tables").iterdir()) == sorted(names)
    pictures = ["visits-private-1.svg", "visits-private-2.svg"]
    assert list(found.files) == [*names, *pictures, "year.toml", "visits-private.zip"]
    with zipfile.ZipFile(io.BytesIO(found.files["visits-private.zip"])) as packed:
        assert packed.namelist() == [*names, *pictures, "year.toml"]
        assert packed.read("wards.csv") == found.files["wards.csv"]
    again = ggdp.Study.parse(found.files["year.toml"], "year.toml")
    assert again == evolve(study.study, source="visits.csv")


def test_a_study_that_cannot_be_saved_is_refused_before_anything_is_released(visits: Path) -> None:
    _, form = opened(TWO)
    with pytest.raises(GgdpError, match="must be text"):
        make_offer(Asked(table=form.typed_table(), path=str(visits), name="visits.csv", own={"source": 3}))


def test_what_is_shown_of_a_ledger_has_no_password_whatever_its_address() -> None:
    from ggdp.explorer.views.budget_view import without_password

    for address in ("postgresql://jane:secret@host/db", "postgresql://jane:secret@host:port/db", "a b://:secret@"):
        assert "secret" not in without_password(address)


def test_without_a_unit_the_form_warns_as_the_command_line_does(visits: Path) -> None:
    from tests.explorer.reading import texts_of

    from ggdp.explorer.typed_table import unit_warning

    for form in (ReleaseSettings(unit="p"), ReleaseSettings(unit_is_row="yes"), None):
        assert unit_warning(form) is None
    said = "No unit is declared, so each row is protected by itself"
    assert said in str(unit_warning(ReleaseSettings()))
    study, form = opened(TWO.replace('unit = "row"\n', ""))
    offer = make_offer(Asked(table=form.typed_table(study=study), path=str(visits), name="visits.csv"))
    assert said in str(offer.html)
    assert any(text.startswith(said) for text in texts_of(publish(offer)))


def test_a_release_of_nothing_says_so_beside_its_results(tmp_path: Path) -> None:
    from tests.explorer.reading import texts_of

    (tmp_path / "empty.csv").write_text("ward;p\n")
    study, form = opened(TWO)
    offer = make_offer(Asked(table=form.typed_table(study=study), path=str(tmp_path / "empty.csv"), name="empty.csv"))
    found = [text for text in texts_of(publish(offer)) if "consistent with an empty table" in text]
    # At a miss of 1 in 1,000 each.
    assert len(found) == 2
