"""`ggdp check` says first what would make a release a table of nothing, or protect less than is meant."""

import json
import shlex
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyreadstat
import pytest

import ggdp
from ggdp.cli.app import run
from ggdp.errors import ArgumentError, MissingExtraError
from ggdp.sources import text_files
from ggdp.tables.source_check import draft_of, identifies, mask

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
    # And what to type.
    assert said[2].startswith("WARNING: declare --decimal , --thousands . for numbers, as it seems, in 'cost'")


def test_dates_in_another_order_are_shown_without_a_value(visits, capsys):
    assert check(visits, "--by", "day", "--bins", "day=2024-01-01,2025-01-01", "--unit-is-row") == 0
    said = capsys.readouterr().out
    alarm = next(line for line in said.splitlines() if line.startswith("WARNING"))
    assert "2024-01-31" in alarm
    assert "'dd.dd.dddd'" in alarm


def test_misspelled_levels_are_named_first(visits, capsys):
    assert check(visits, "--by", "ward", "--levels", "ward=A,B", "--unit-is-row") == 0
    said = capsys.readouterr().out.splitlines()[1]
    assert "NEARLY NOTHING of column 'ward'" in said
    assert "500 of 500 values match no level. A release" in said
    found = ggdp.check_table(visits, "ward", {"ward": ["a", "b"]}, unit="row")
    assert found.alarms == ()


def test_a_column_without_values_is_named(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("a\n", encoding="utf-8")
    assert run(["check", str(tmp_path / "a.csv"), "--by", "a", "--levels", "a=x"]) == 0
    assert capsys.readouterr().out.splitlines()[1].endswith("and the right column?")
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
    found = ggdp.check_table(path, "ward", {"ward": ["Köln"]})
    assert found.text.advice[0].endswith(f"declare the encoding of the file: {fitting}")
    # Not only among the advice on the file, which stands last.
    assert f"in 1 of 1 rows {found.text.advice[0]}" in found.alarms


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
        {"count": "rows", "max_rows_per_cell": 3},
        {"order": 2.0, "epsilon": 1.0, "delta": 1e-6},
        {"count_cut": 0.5},
        {"false_cells": 0.5},
        {"neighbours": "replace-one", "total": 5},
    ],
)
def test_the_recommended_limit_is_for_the_noise_of_the_very_request(asked):
    jobs = pa.table({"person": [1, 1, 2, 2, 3], "job": ["a", "b", "a", "c", "b"], "pay": [1.0] * 5, "age": [5] * 5})
    domain = {"job": ["a", "b", "c"], "pay": {"range": [0, 2]}, "age": {"range": [0, 100]}}
    (table,) = ggdp.check_table(jobs, "job", domain, unit="person", **asked).units.tables
    for choice in table["choices"]:
        planned = asked if choice["max_cells"] < 3 else {**asked, "count_cut": None}
        goal = None if "epsilon" in asked else GOAL
        plan = ggdp.plan_table("job", goal, domain, unit="person", max_cells=choice["max_cells"], **planned)
        assert choice["plus_minus"] == plan.half_width
    best = min(table["choices"], key=lambda choice: (choice["plus_minus"] + choice["cut"], choice["max_cells"]))
    assert table["recommended"] == best["max_cells"]


def test_no_limit_above_the_cells_of_a_table_is_recommended():
    jobs = pa.table({"person": [k for k in range(900) for _ in "abcd"], "job": list("abcd") * 900})
    (table,) = ggdp.check_table(jobs, "job", {"job": list("abcd")}, unit="person").units.tables
    assert [choice["max_cells"] for choice in table["choices"]] == [1, 2, 3, 4]
    assert table["recommended"] == 4


def test_the_command_of_a_release_is_that_of_its_check(tmp_path, capsys):
    """`release` becomes `check`: what was asked for is not taken out again, and is refused likewise."""
    (tmp_path / "jobs.csv").write_text("person,job\n1,a\n1,b\n2,a\n")
    asked = [str(tmp_path / "jobs.csv"), "--by", "job", "--levels", "job=a,b", "--unit", "person", "--max-cells", "2"]
    asked += ["--count", "rows", "--max-rows-per-cell", "3", "--nonnegative", "--percent", "--order", "2"]
    asked += ["--epsilon", "1", "--delta", "1e-6"]
    assert run(["release", *asked, "--dry-run", "--json"]) == 0
    planned = json.loads(capsys.readouterr().out)
    assert run(["check", *asked, "--json"]) == 0
    units = json.loads(capsys.readouterr().out)["units"]
    assert (units["epsilon"], units["delta"]) == (1.0, 1e-6)
    assert units["tables"][0]["choices"][-1]["plus_minus"] == planned["plus_minus"]
    assert run(["check", *asked, "--false-cells", "9"]) == 1


PEOPLE = {"id": [1.0, 2.0, 3.0, 4.0] * 9, "sex": ["men", "women", "men", None] * 9, "age": [20.5, 31.0, 47.0, 99.0] * 9}


def written(folder, suffix):
    """Write the same people as a file of each program that stewards use."""
    frame, path = pd.DataFrame(PEOPLE), folder / f"people{suffix}"
    writers = {
        ".csv.gz": lambda: frame.to_csv(path, index=False),
        ".tsv": lambda: frame.to_csv(path, index=False, sep="\t"),
        ".json": lambda: frame.to_json(path, orient="records", lines=True),
        ".parquet": lambda: frame.to_parquet(path),
        ".xlsx": lambda: frame.to_excel(path, index=False),
        ".dta": lambda: pyreadstat.write_dta(frame, path),
        ".sav": lambda: pyreadstat.write_sav(frame, path),
        ".xpt": lambda: pyreadstat.write_xport(frame, path),
        ".feather": lambda: pa.feather.write_feather(pa.Table.from_pandas(frame, preserve_index=False), path),
    }
    writers[suffix]()
    return path


@pytest.mark.parametrize(
    "suffix", [".csv.gz", ".tsv", ".json", ".parquet", ".xlsx", ".dta", ".sav", ".xpt", ".feather"]
)
def test_a_file_of_any_program_alone_shows_its_columns(tmp_path, suffix):
    found = ggdp.check_table(written(tmp_path, suffix))
    assert found.rows == 36
    assert [(column.name, column.nulls) for column in found.seen] == [("id", 0), ("sex", 9), ("age", 0)]
    assert [column.draft for column in found.seen] == [
        {},
        {"levels": ["men", "women"], "missing": "missing"},
        {"range": [20, 100]},
    ]
    assert "'id' looks like an identifier" in found.alarms[0]


def test_a_check_of_a_workbook_without_its_reader_says_what_to_install(tmp_path, monkeypatch):
    path = written(tmp_path, ".xlsx")
    monkeypatch.setitem(sys.modules, "python_calamine", None)
    with pytest.raises(MissingExtraError, match=r"ggdp\[files\]"):
        ggdp.check_table(path)


def test_a_file_of_many_columns_is_opened_no_more_often_than_one_of_few(tmp_path, monkeypatch):
    opened = []
    unpack = text_files._unpack
    monkeypatch.setattr(text_files, "_unpack", lambda path: opened.append(path) or unpack(path))
    numbers = []
    for count in (2, 40):
        path = tmp_path / f"{count}.csv.gz"
        pd.DataFrame({f"c{place}": ["a", "b"] for place in range(count)}).to_csv(path, index=False)
        opened.clear()
        assert len(ggdp.check_table(path).seen) == count
        numbers.append(len(opened))
    assert numbers[0] == numbers[1]


@pytest.mark.parametrize("mark", [";", "\t", "|"])
def test_another_delimiter_is_named_first_and_one_long_column_is_not_described(tmp_path, capsys, mark):
    path = tmp_path / "people.csv"
    path.write_text(mark.join("ab") + "\n" + f"1{mark}2\n" * 9)
    assert check(str(path)) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[1].startswith(f"WARNING: the first line is one field that contains {mark!r}")
    assert f"--delimiter {mark!r}" in said[1]
    assert not any("reads as" in line for line in said)
    assert [one.name for one in ggdp.check_table(path, delimiter=mark).seen] == ["a", "b"]
    # A draft of one column would stand in the way of the next one.
    assert check(str(path), "--draft-domain", str(tmp_path / "draft.toml")) == 1
    assert "needs the --delimiter of the file: its first line is one field that contains" in capsys.readouterr().err
    assert not (tmp_path / "draft.toml").exists()


@pytest.mark.parametrize(
    ("values", "reads_as", "flags"),
    [
        (["1,5", "22,25"], "numbers", "--decimal ,"),
        (["1.234,5", "22,25"], "numbers", "--decimal , --thousands ."),
        (["1,234.5", "22.25"], "numbers", "--thousands ,"),
        (["1 234,5", "22"], "numbers", "--thousands ' ' --decimal ,"),
        (["1\u202f234", "22"], "numbers", "--thousands ' '"),
        (["1’234.50", "22"], "numbers", """--thousands "'\""""),
        (["31.12.2024", "1.2.2024"], "dates", "--date-format %d.%m.%Y"),
        (["31/12/2024", "01/02/2024"], "dates", "--date-format %d/%m/%Y"),
        (["12/31/2024", "01/02/2024"], "dates", "--date-format %m/%d/%Y"),
        (["31.12.2024 10:30", "1.2.2024 23:59"], "times", "--date-format '%d.%m.%Y %H:%M'"),
        (["1", "2", "NA"], "integers", "--null-values NA"),
        (["1.5", "2", "."], "numbers", "--null-values ."),
        (["a", "b", "N/A"], "text", "--null-values N/A"),
    ],
)
def test_what_the_values_seem_to_be_is_told_with_the_flags_that_read_them(values, reads_as, flags):
    data = pa.table({"x": values * 40})
    (column,) = ggdp.check_table(data).seen
    is_missing = flags.startswith("--null-values")
    assert column.reads_as == (reads_as if is_missing else f"{reads_as}, if so declared")
    (alarm,) = ggdp.check_table(data).alarms
    assert alarm.startswith(f"declare {flags} for ")
    # So declared, there is nothing left to say, and the draft is the same without the declaration.
    given = {flag.removeprefix("--").replace("-", "_"): value for flag, value in pairs(flags)}
    again = ggdp.check_table(data, **given)
    assert (again.alarms, again.seen[0].reads_as) == ((), reads_as)
    assert {key: column.draft[key] for key in again.seen[0].draft} == again.seen[0].draft
    domain = ggdp.Domain({"x": column.draft})
    assert domain["x"].text.declared == {key: [one] if key == "null_values" else one for key, one in given.items()}


@pytest.mark.parametrize(
    ("values", "ways"),
    [
        (["1,234", "12,500", "999"], ["--thousands ,", "--decimal ,"]),
        (["1.234", "12.500", "999"], ["--decimal .", "--decimal , --thousands ."]),
        (["01/02/2024", "03/04/2024"], ["--date-format %d/%m/%Y", "--date-format %m/%d/%Y"]),
        (["01/02/2024 1:30", "3/4/2024 23:59"], [f"--date-format '%{a}/%{b}/%Y %H:%M'" for a, b in ("dm", "md")]),
    ],
)
def test_what_can_be_read_in_two_ways_is_not_guessed(values, ways):
    """A thousand is no 1.234, and no row can say which is meant."""
    data = pa.table({"x": values * 40})
    held = "dates" if "/" in values[0] else "numbers"
    found = ggdp.check_table(data)
    assert found.alarms == (
        f"declare {ways[0]} or {ways[1]} for {held} that can be read in two ways, as it seems, in 'x'",
    )
    assert "readable in two ways" in draft_of(found.seen)
    for way in ways:
        given = {flag.removeprefix("--").replace("-", "_"): value for flag, value in pairs(way)}
        assert ggdp.check_table(data, **given).alarms == ()
    assert ggdp.check_table(pa.table({"x": [*values, "1,2345", "1.2345", "13/02/2024 1:30"] * 40})).alarms == ()


def test_words_for_missing_values_are_named_together_with_those_that_are_declared():
    data = pa.table({"x": ["1", "2", "NA"] * 40, "y": ["a", "b", "."] * 40})
    (alarm,) = ggdp.check_table(data).alarms
    assert alarm == "declare --null-values NA,. for missing values, as it seems, in 'x', 'y'"
    (again,) = (found := ggdp.check_table(data, null_values=["NA"])).alarms
    assert again == "declare --null-values NA,. for missing values, as it seems, in 'y'"
    # What a column declares takes the place of what is declared for all.
    assert found.seen[1].draft["null_values"] == ["NA", "."]


def pairs(flags):
    words = shlex.split(flags)
    return zip(words[::2], words[1::2], strict=True)


def test_the_text_of_a_draft_is_read_as_the_request_declares_it(visits, tmp_path):
    declared = {"decimal": ",", "thousands": ".", "date_format": "%d.%m.%Y"}
    seen = {one.name: one for one in ggdp.check_table(visits, draft_domain=tmp_path / "d.toml", **declared).seen}
    assert (seen["cost"].reads_as, seen["cost"].draft) == ("numbers", {"range": [200, 500_000]})
    assert (seen["day"].reads_as, str(seen["day"].draft["edges"]["from"])) == ("dates", "2024-01-01")
    assert '[columns."cost"]' in (tmp_path / "d.toml").read_text()


@pytest.mark.parametrize(
    "name",
    [
        *("id", "ID", "patient", "personId", "person_id", "idNum", "user1", "Household", "pid"),
        *("patnr", "PERSNR", "userid", "hhid", "patient_code", "nhs_number", "caseNo", "Personennummer"),
    ],
)
def test_names_of_identifiers_are_recognized(name):
    assert identifies(name)


@pytest.mark.parametrize(
    "name",
    ["personSearch", "household_income", "pid7na", "idea", "paid", "grid", "number", "race", "covid", "caseload"],
)
def test_other_names_are_no_identifiers(name):
    assert not identifies(name)


def test_codes_that_many_rows_share_are_no_identifiers():
    (column,) = ggdp.check_table(pa.table({"pid": [0, 1, 2, 3] * 2000})).seen
    assert column.draft == {"levels": [0, 1, 2, 3]}


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


def test_open_ends_days_of_the_year_0_and_midnights_need_no_other_calendar(tmp_path):
    stays = ["2020-03-01,9999-12-31,2024-01-01"] + [
        f"2021-05-{n:02},2022-02-01,2024-02-01 14:30:00" for n in range(1, 31)
    ]
    (tmp_path / "stays.csv").write_text("\n".join(["from,to,seen", *stays, "0000-00-00,9999-12-31,2024-01-01", ""]))
    seen = ggdp.check_table(tmp_path / "stays.csv").seen
    assert [column.reads_as for column in seen] == ["dates", "dates", "times"]
    drafted = [column.draft["edges"] for column in seen]
    assert [(ends["from"].year, ends["to"].year) for ends in drafted] == [(2020, 2022), (2022, 2023), (2024, 2025)]
