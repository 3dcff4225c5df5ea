"""`ggdp check` says first what would make a release a table of nothing, or protect less than is meant."""

import json
from pathlib import Path

import pyarrow as pa
import pytest

import ggdp
from ggdp.cli.app import run
from ggdp.errors import ArgumentError
from ggdp.tables.source_check import mask

GOAL = ggdp.PureDP(1.0)
VISITS = "patient,cost,day,ward\n" + "".join(f'P{n // 25:03},"{n}.234,50",0{n % 9 + 1}.02.2024,a\n' for n in range(500))


@pytest.fixture
def visits(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("visits.csv").write_text(VISITS, encoding="utf-8")
    return "visits.csv"


def check(*flags):
    return run(["check", *flags])


def test_a_decimal_comma_is_named_first_beside_the_forms_that_can_be_read(visits, capsys):
    assert check(visits, "--by", "ward", "--levels", "ward=a,b", "--mean", "cost", "--range", "cost=0:9", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert list(found)[:2] == ["notice", "alarms"]
    alarm = found["alarms"][0]
    for words in ("NEARLY NOTHING of column 'cost'", "500 of 500 values", "12, -3.5 or 1e6", "'ddd.ddd,dd'"):
        assert words in alarm
    assert check(visits, "--by", "ward", "--levels", "ward=a,b", "--mean", "cost", "--range", "cost=0:9") == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1] == f"WARNING: {alarm}."


def test_dates_in_another_order_are_shown_without_a_value(visits, capsys):
    assert check(visits, "--by", "day", "--bins", "day=2024-01-01,2025-01-01", "--unit-is-row") == 0
    said = capsys.readouterr().out
    alarm = next(line for line in said.splitlines() if line.startswith("WARNING"))
    assert "2024-01-31" in alarm
    assert "'dd.dd.dddd'" in alarm


def test_misspelled_levels_are_named_first(visits, capsys):
    assert check(visits, "--by", "ward", "--levels", "ward=A,B", "--unit-is-row") == 0
    assert "NEARLY NOTHING of column 'ward'" in capsys.readouterr().out.splitlines()[1]
    found = ggdp.check_table(visits, "ward", {"ward": ["a", "b"]}, unit="row")
    assert found.alarms == ()


def test_a_column_without_values_is_named():
    empty = pa.table({"ward": pa.nulls(9, pa.string())})
    (alarm,) = ggdp.check_table(empty, "ward", {"ward": ["a"]}).alarms
    assert "'ward' has no values at all" in alarm


def test_a_mask_shows_no_letter_and_no_digit():
    assert mask("Zoë 12.345,67 €") == "aaa dd.ddd,dd €"
    assert mask("1" * 100) == "d" * 24 + "..."


@pytest.mark.parametrize(
    ("text", "fitting"),
    [("ward\nKöln\n", "latin-1 or cp1252"), ("ward\n“Köln”\n", "cp1252"), ("ward\nKöln €\n", "cp1252")],
)
def test_encodings_that_fit_are_named(tmp_path, text, fitting):
    path = tmp_path / "wards.csv"
    path.write_bytes(text.encode("cp1252"))
    advice = ggdp.check_table(path, "ward", {"ward": ["Köln"]}).text.advice
    assert advice[0].endswith(f"declare the encoding of the file: {fitting}")


def test_twenty_five_rows_a_patient_do_not_pass_without_a_word(visits, capsys):
    assert check(visits, "--by", "ward", "--levels", "ward=a,b") == 0
    said = capsys.readouterr().out.splitlines()[1]
    for words in ("'patient' looks like an identifier", "25.0 rows each", "--unit patient", "--unit-is-row"):
        assert words in said
    for declared in ({"unit": "patient"}, {"unit": "row"}, {"unit_is_row": True}):
        assert ggdp.check_table(visits, "ward", {"ward": ["a", "b"]}, **declared).alarms == ()
    once = pa.table({"patient": [1, 2, 3], "ward": ["a", "a", "b"]})
    assert ggdp.check_table(once, "ward", {"ward": ["a", "b"]}).alarms == ()


@pytest.mark.parametrize(
    "asked",
    [
        {"statistics": [ggdp.Mean("pay")]},
        {"statistics": [ggdp.Quantile("pay", [0.5])]},
        {"statistics": [ggdp.Mean("pay"), ggdp.Sum("age")], "weights": {"age": 3}},
        {"neighbours": "replace-one"},
    ],
)
def test_the_recommended_limit_is_for_the_noise_of_the_very_request(asked):
    jobs = pa.table({"person": [1, 1, 2, 2, 3], "job": ["a", "b", "a", "c", "b"], "pay": [1.0] * 5, "age": [5] * 5})
    domain = {"job": ["a", "b", "c"], "pay": {"range": [0, 2]}, "age": {"range": [0, 100]}}
    (table,) = ggdp.check_table(jobs, "job", domain, unit="person", **asked).units.tables
    for choice in table["choices"]:
        plan = ggdp.plan_table("job", GOAL, domain, unit="person", max_cells=choice["max_cells"], **asked)
        assert choice["plus_minus"] == plan.half_width
    best = min(table["choices"], key=lambda choice: (choice["plus_minus"] + choice["cut"], choice["max_cells"]))
    assert table["recommended"] == best["max_cells"]


def test_a_file_alone_shows_its_columns(visits, capsys):
    assert check(visits) == 0
    said = capsys.readouterr().out
    assert "looks like an identifier" in said.splitlines()[1]
    rows = {row.split()[0]: row for row in said.splitlines() if row.strip()}
    assert "numbers, if so declared" in rows["cost"]
    assert "'dd.dd.dddd' (500 rows)" in rows["day"]
    assert rows["ward"].split()[1:4] == ["text", "0.0%", "1"]
    seen = {column.name: column for column in ggdp.check_table(visits).seen}
    assert list(seen) == ["patient", "cost", "day", "ward"]
    assert (seen["patient"].distinct, seen["patient"].draft) == (20, {})


def test_types_and_missing_values_of_frames_are_seen():
    data = {
        "n": [1, 2, None, 1] * 9,
        "x": [0.5, 70.0] * 18,
        "yes": [True, False] * 18,
        "free": list(map(str, range(36))),
    }
    seen = {column.name: column for column in ggdp.check_table(pa.table(data)).seen}
    assert {name: column.reads_as for name, column in seen.items()} == {
        "n": "integers",
        "x": "numbers",
        "yes": "true or false",
        "free": "integers",
    }
    assert (seen["n"].nulls, seen["n"].draft) == (9, {"levels": [1, 2], "missing": "missing"})
    # No end of a drafted range is a value of the data.
    assert (seen["x"].draft, seen["free"].draft) == ({"range": [0, 100]}, {"range": [0, 50]})


def test_a_draft_is_refused_until_its_mark_is_removed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{n},{'ab'[n % 2]},{n % 60},2024-0{n % 9 + 1}-01,\n" for n in range(200))
    Path("people.csv").write_text("id,ward,age,day,nothing\n" + rows)
    assert check("people.csv", "--draft-domain", "draft.toml") == 0
    assert "draft.toml, a draft that is NOT PRIVATE" in capsys.readouterr().out
    draft = Path("draft.toml").read_text()
    assert draft.startswith("# NOT PRIVATE")
    assert "\nnot_private_draft = true\n" in draft
    typed = ["release", "people.csv", "--by", "ward,day", "--epsilon", "1", "--unit-is-row", "--domain", "draft.toml"]
    for more in (["--dry-run"], ["--out", "out.csv"]):
        assert run([*typed, *more]) == 1
        said = capsys.readouterr().err
        assert "is a draft made from the data" in said
        assert "code book" in said
    assert not Path("out.csv").exists()
    with pytest.raises(ArgumentError, match="not_private_draft"):
        ggdp.plan_table("ward", GOAL, "draft.toml")
    Path("draft.toml").write_text(draft.replace("not_private_draft = true", ""))
    assert run([*typed, "--dry-run"]) == 0
    domain = ggdp.Domain.from_toml("draft.toml")
    assert domain["ward"].levels == ("a", "b")
    assert str(domain["age"].values_in).startswith("0 to 100")
    assert {"id", "nothing"}.isdisjoint(domain.names)
    # A draft that somebody has corrected is not replaced.
    assert check("people.csv", "--draft-domain", "draft.toml") == 1
    assert "already exists" in capsys.readouterr().err
