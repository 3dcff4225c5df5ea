"""Studies: files that people write and run again; a file that is wrong says where, and outputs appear whole."""

import csv
import json
import os
import re
from pathlib import Path

import pytest
from attrs import fields_dict

import ggdp
from ggdp._files import line_of
from ggdp._records import options
from ggdp.cli.app import run
from ggdp.errors import ArgumentError
from ggdp.tables import output_files
from ggdp.tables.request import TableRequest, is_table_name
from ggdp.tables.study import Study

STUDY = """
source = "data/visits.csv"
epsilon = 1.0
delta = 1e-6

[format]
delimiter = ";"

[unit]
column = "patient"
name = "patients"
max_cells = 2

[columns.ward]
levels = ["births", "eyes"]
labels = ["Births", "Eyes"]

[columns.cost]
range = [0, 10000]

[[tables]]
name = "wards"
by = ["ward"]
mean = ["cost"]

[[tables]]
name = "kinds"
by = ["kind"]
mean = ["cost"]

[columns.kind]
levels = [1, 2]
"""
COUNTS = STUDY.replace('mean = ["cost"]\n', "").partition('\n[[tables]]\nname = "kinds"')[0]


pytestmark = pytest.mark.usefixtures("here")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("studies/data").mkdir(parents=True)
    Path("studies/data/visits.csv").write_text("patient;ward;cost;kind\na;births;3;1\nb;eyes;44;2\n", "utf-8")
    Path("studies/year.toml").write_text(COUNTS, "utf-8")
    return tmp_path


def test_paths_of_a_study_begin_at_its_directory(here):
    assert ggdp.Study.read("studies/year.toml").source == os.path.join("studies", "data/visits.csv")
    release = ggdp.Study.read(here / "studies" / "year.toml").run()
    assert release["wards"].to_arrow()["ward"].to_pylist() == ["Births", "Eyes"]
    Path("studies/year.toml").write_text(f'ledger = "postgresql://a@b/c"\nengine = "duckdb"\n{COUNTS}', "utf-8")
    study = ggdp.Study.read("studies/year.toml")
    assert (study.ledger, study.engine) == ("postgresql://a@b/c", "duckdb")
    study.write("other.toml")
    assert 'source = "studies/data/visits.csv"\nledger = "postgresql://a@b/c"\n' in Path("other.toml").read_text(
        "utf-8"
    )
    assert ggdp.Study.read("other.toml") == study


def test_tables_of_a_study_have_statistics_of_their_own():
    of_kinds = (
        'by = ["kind"]\nsum = ["cost"]\nquantile = { cost = [0.5] }\n\n[[tables]]\nname = "all"\nby = ["ward", "kind"]'
    )
    Path("studies/year.toml").write_text(STUDY.replace('by = ["kind"]\nmean = ["cost"]', of_kinds), "utf-8")
    study = ggdp.Study.read("studies/year.toml")
    mean, total, median = ggdp.Mean("cost"), ggdp.Sum("cost"), ggdp.Quantile("cost", 0.5)
    assert study.request.statistics == ((mean,), (total, median), ())
    study.write("studies/again.toml")
    assert ggdp.Study.read("studies/again.toml").request == study.request
    release = study.run(out="out")
    names = [[one.name for one in table.statistics] for table in release.tables]
    assert names == [["mean_cost"], ["sum_cost", "quantile_cost_0.5"], []]
    assert Path("out/all.csv").read_text("utf-8").startswith("ward,kind,count,lower,upper")
    # A manifest asks for the same again, and so does a plan that comes from another process.
    assert ggdp.Study.like("out/manifest.json") == ggdp.Study(request=study.request, names=study.names)
    assert ggdp.compose(["out/manifest.json"]).basic.epsilon <= 1.0
    plan = study.plan("out")
    assert type(plan).from_dict(json.loads(json.dumps(plan.to_dict()))) == plan
    assert (
        run(["release", "studies/data/visits.csv", "--delimiter", ";", "--like", "out/manifest.json", "--out", "next"])
        == 0
    )
    assert Path("next/kinds.csv").read_text("utf-8").startswith("kind,count,lower,upper,sum_cost")


def test_a_study_reads_what_it_writes_and_never_replaces_a_file(here):
    study = ggdp.Study.read("studies/year.toml")
    study.write("studies/again.toml")
    assert ggdp.Study.read("studies/again.toml") == study
    with pytest.raises(ArgumentError, match="already exists"):
        study.write("studies/again.toml")
    with pytest.raises(ArgumentError, match=r"must end in \.toml"):
        study.write(here / "again.txt")
    # A name is written only for a table of a study, so that a request is as before.
    assert "name" not in study.request.to_toml().replace('name = "patients"', "")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("epsilon = 1.0", "epsilon = -1.0", "line 3: epsilon = -1.0: must be greater than 0"),
        ("max_cells = 2", "max_cell = 2", "line 12: unit.max_cell = 2: is not a key of a request; did you mean"),
        ("max_cells = 2", "", "line 10: unit.column = 'patient': needs unit.max_cells: in how many"),
        ("[0, 10000]", "[5, 1]", "line 19: columns.cost.range = '5:1': the lower end"),
        ('["births", "eyes"]', '["eyes", "eyes"]', "line 15: columns.ward.levels = 'eyes': is declared twice"),
        ("labels =", "label =", "line 16: columns.ward.label = ['Births', 'Eyes']: is not known; did you"),
        (
            "range = [0, 10000]",
            "edges = [1, 2]\nlevels = [1]",
            "line 18: columns.cost = ['edges', 'levels']: must",
        ),
        ('by = ["ward"]', 'by = ["wrad"]\ncost = 3', "line 24: tables.cost = 3: is not a key of [[tables]]"),
        (
            'by = ["ward"]\n',
            "",
            "line 21: tables.by = []: must name a column; a table of all rows has a study of its own",
        ),
        (
            'by = ["ward"]',
            'by = ["ward"]\nmedian = ["cost"]',
            "line 24: tables.median = ['cost']: is a quantile; write quantile = { COLUMN = [0.5] }",
        ),
        (
            "[unit]",
            "[units]",
            "line 9: units = {'column': 'patient', 'name': 'patients', 'max_cells': 2}: is not a key of a "
            "request; did you mean 'unit'?",
        ),
        (
            'source = "data/visits.csv"',
            'source = ["a.csv", "b.csv"]',
            "line 2: source = ['a.csv', 'b.csv']: must be one file, or a pattern of several, such as 'visits*.csv'",
        ),
        (
            'delimiter = ";"',
            'decimal = ","\nthousands = ","',
            "line 8: format.thousands = ',': is also the decimal mark: pass format.decimal = '.' as well",
        ),
        (
            'by = ["ward"]',
            'by = ["ward"]\npercent_of = ["sex"]',
            "line 24: tables.percent_of = ['sex']: is a key of all tables together; write it above the first section",
        ),
        ('by = ["ward"]', 'by = ["count"]', "line 23: tables.by = 'count': is the name of a published column"),
        ('name = "wards"', 'name = "../wards"', "line 22: tables.name = '../wards': must be the name of a file"),
        ('name = "wards"', 'name = "manifest"', "line 22: tables.name = 'manifest': must be the name of a file"),
        ('mean = ["cost"]', 'mean = ["cots"]', "line 24: tables.mean = 'cots': has no public range"),
        ('mean = ["cost"]', 'mean = "cost"', "line 24: tables.mean = 'cost': must be as in mean = "),
        ('name = "kinds"', 'name = "Wards"', "line 27: tables.name = 'Wards': is the name of another table"),
        ('by = ["kind"]\nmean = ["cost"]', 'by = ["kind"]\nsum = ["kind"]', "line 29: tables.sum = 'kind': has no"),
        ('source = "data/visits.csv"', "source = 3", "line 2: source = 3: must be text"),
        ('source = "data/visits.csv"', 'engine = "sparky"', "line 2: engine = 'sparky': must be one of"),
        ("epsilon = 1.0", "epsilon = 1.0\nagree = true", "line 4: agree = True: is not a key of a request"),
        (
            "source =",
            "sources =",
            "line 2: sources = 'data/visits.csv': is not a key of a request; did you mean 'source'?",
        ),
        ('delimiter = ";"', "x = 1", "line 7: format.x = 1: is not a key of a request; take it out"),
        (
            'levels = ["births", "eyes"]',
            'levels = "births, eyes"',
            "line 15: columns.ward.levels = 'births, eyes': must be",
        ),
        ('[format]\ndelimiter = ";"', 'format = "csv"', "line 6: format = 'csv': must be a section, [format]"),
        ('by = ["ward"]', "by = 3", "line 23: tables.by = 3: must be a list of columns"),
        ("epsilon = 1.0", "epsilon = 1.0\nnonnegative = 3", "line 4: nonnegative = 3: must be True or False"),
        ('mean = ["cost"]', "quantile = { cost = [3] }", "line 24: tables.quantile = 3: must be above 0"),
    ],
)
def test_a_study_that_is_wrong_names_line_key_and_value(here, old, new, said):
    text = (
        STUDY.replace(old, new, 1)
        if not {"quantile", "cots"} & set(re.findall("[a-z]+", new))
        else STUDY.replace(old, new)
    )
    (here / "wrong.toml").write_text(text, "utf-8")
    with pytest.raises(ArgumentError) as refused:
        ggdp.Study.read("wrong.toml")
    assert str(refused.value).startswith(f"wrong.toml, {said}")


@pytest.mark.parametrize("wrong", ["columns = 3", "tables = 3", "tables = [3]", "columns = [3]", "[tables]\nby = 3"])
def test_a_study_with_two_mistakes_names_one_of_them(here, wrong):
    (here / "wrong.toml").write_text(f"epsilon = 1.0\nfrom = 1\n{wrong}\n", "utf-8")
    with pytest.raises(ArgumentError, match=r"wrong\.toml, line 2: from = 1: is not a key"):
        ggdp.Study.read("wrong.toml")


def test_a_section_that_is_no_section_says_what_it_must_be(here):
    (here / "wrong.toml").write_text('unit = "patient"\nepsilon = 1.0\n[[tables]]\nby = ["ward"]\n', "utf-8")
    with pytest.raises(ArgumentError, match=r"line 1: unit = 'patient': must be a section \[unit\] with column"):
        ggdp.Study.read("wrong.toml")


def test_a_study_made_of_a_draft_is_refused_until_it_is_corrected(here):
    (here / "draft.toml").write_text(f"not_private_draft = true\n{COUNTS}", "utf-8")
    with pytest.raises(ArgumentError, match=r"is a draft made from the data.*code book"):
        ggdp.Study.read("draft.toml")


def test_the_line_of_a_key_is_never_inside_a_text_or_a_list():
    content = b'note = """\nscale = 1\n[unit]\n"""\nlist = [\n  ["unit"],\n]\n'
    content += b'[ "unit" ] # b\n"scale" = [\n 3]\n[[t]]\n[[t]]\na.b = 1'
    assert line_of(content, ("scale",)) is None
    assert line_of(content, ("unit",)) == 8
    assert line_of(content, ("unit", "scale")) == 9
    assert line_of(content, ("t", 1, "a", "b")) == 13
    assert line_of(content, ("t", 0, "a", "b")) is None


def test_a_directory_of_outputs_appears_whole_or_not_at_all(here, monkeypatch):
    study = ggdp.Study.read("studies/year.toml")
    assert [str(file) for file in study.plan("out").files] == ["out/wards.csv", "out/manifest.json"]
    assert ggdp.TablePlan.from_dict(study.plan("out").to_dict()).files == study.plan("out").files

    def fails(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(output_files.Path, "rename", fails)
        with pytest.raises(ArgumentError, match="No space"):
            study.run(out="out")
    assert sorted(os.listdir(here)) == ["studies"]
    study.run(out="out")
    assert sorted(os.listdir("out")) == ["manifest.json", "wards.csv"]
    before = Path("out/wards.csv").read_bytes()
    with pytest.raises(ArgumentError, match="already exists"):
        study.run(out="out")
    assert Path("out/wards.csv").read_bytes() == before
    study.run(out="out", overwrite=True)
    with pytest.raises(ArgumentError, match="is not a directory"):
        study.run(out="none/out")
    assert run(["verify", "out/manifest.json"]) == 0


def test_several_tables_have_their_names(capsys):
    Path("two.toml").write_text(STUDY, "utf-8")
    assert run(["release", "two.toml", "--source", "studies/data/visits.csv", "--out", "out"]) == 0
    assert sorted(os.listdir("out")) == ["kinds.csv", "manifest.json", "wards.csv"]
    release = ggdp.Study.read("two.toml").run("studies/data/visits.csv")
    assert release["kinds"] is release.tables[1]
    assert release["ward"] is release["wards"]
    with pytest.raises(ArgumentError, match="is not one of the tables: 'wards', 'kinds'"):
        release["street"]
    goal, domain = ggdp.PureDP(1.0), {"a": [1, 2], "b": [1, 2]}
    by_columns = ggdp.plan_table([["a"], ["a", "b"]], goal, domain).run(
        pytest.importorskip("pyarrow").table({"a": [1], "b": [2]})
    )
    assert by_columns["a-b"] is by_columns.tables[1]
    capsys.readouterr()


@pytest.mark.parametrize(
    "name", ["", ".hidden", "a/b", "a\\b", "con:", "a.", "a ", "Manifest", "x" * 81, "é" * 201, 3, None, "a\n"]
)
def test_what_no_file_can_be_called_is_no_name_of_a_table(name):
    assert not is_table_name(name)
    assert is_table_name("Wards 2024 (all).v-2+é")


def test_flags_override_a_study_and_a_manifest(capsys):
    def planned(*arguments):
        capsys.readouterr()
        assert run(["release", *arguments, "--dry-run", "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    of_study = planned("studies/year.toml")
    assert of_study["request"]["goal"]["delta"] == 1e-6
    assert of_study["request"]["text"]["delimiter"] == ";"
    changed = planned(
        "studies/year.toml", "--epsilon", "0.5", "--order", "1", "--max-cells", "1", "--other", "ward=rest"
    )
    request = of_study["request"]
    assert changed["request"] == {
        **request,
        "goal": {**request["goal"], "epsilon": 0.5},
        "order": 1.0,
        "max_cells": 1,
        "domain": {**request["domain"], "ward": {**request["domain"]["ward"], "other": "rest"}},
    }
    assert planned("studies/year.toml", "--levels", "ward=a")["request"]["domain"]["ward"]["levels"] == ["a"]
    ages = planned("studies/year.toml", "--by", "age", "--bins", "age=0,18", "--out", "new")
    assert (ages["request"]["by"], ages["files"]) == ([["age"]], ["new/age.csv", "new/manifest.json"])
    assert run(["release", "studies/year.toml", "--out", "first"]) == 0
    again = planned("new.csv", "--like", "first/manifest.json", "--out", "second")
    assert (again["request"], again["files"]) == (request, ["second/wards.csv", "second/manifest.json"])
    assert planned("new.csv", "--like", "studies/year.toml", "--delta", "1e-9")["request"]["goal"]["delta"] == 1e-9
    assert planned("studies/year.toml", "--order", "2")["request"]["order"] == 2.0
    # A flag with the value that it has by default counts, too.
    Path("ordered.toml").write_text(f"order = 2.0\n{COUNTS}", "utf-8")
    assert planned("ordered.toml", "--source", "v.csv", "--order", "auto")["request"]["order"] == "auto"


@pytest.mark.parametrize(
    ("flags", "changed"),
    [
        (["--unit-is-row"], {"unit": None, "unit_is_row": True, "max_cells": None}),
        (["--unit", "person"], {"unit": "person", "max_cells": 2}),
        (["--notion", "pure"], {"goal": ggdp.PureDP(1.0, "add-remove").to_dict()}),
        (
            ["--median", "cost", "--range", "cost=0:9"],
            {"statistics": [{"kind": "quantile", "column": "cost", "fractions": [0.5]}]},
        ),
        (["--levels", "ward=a,b"], {"domain": {"ward": {"levels": ["a", "b"], "other": "others", "missing": "none"}}}),
    ],
)
def test_a_flag_replaces_what_it_says_and_what_goes_with_it(capsys, flags, changed):
    kept = 'labels = ["Births", "Eyes"]\nother = "others"\nmissing = "none"'
    text = COUNTS.replace('labels = ["Births", "Eyes"]', kept).replace('name = "patients"\n', "")
    Path("studies/kept.toml").write_text(text, "utf-8")
    assert run(["release", "studies/kept.toml", *flags, "--dry-run", "--json"]) == 0
    request = json.loads(capsys.readouterr().out)["request"]
    assert {name: request.get(name) for name in changed} == changed


def test_a_saved_study_says_that_rows_are_units_as_people_write_it(capsys):
    data = ["studies/data/visits.csv", "--by", "ward", "--levels", "ward=births,eyes", "--epsilon", "1", "--dry-run"]
    assert run(["release", *data, "--unit-is-row", "--save-study", "rows.toml"]) == 0
    assert '\nunit = "row"\n' in Path("rows.toml").read_text("utf-8")
    assert ggdp.Study.read("rows.toml").request.unit_is_row
    assert run(["release", *data, "--unit-is-row", "--unit-name", "people", "--save-study", "named.toml"]) == 0
    assert ggdp.Study.read("named.toml").request.unit_name == "people"
    capsys.readouterr()


def test_a_request_is_saved_as_a_study(capsys):
    data = ["studies/data/visits.csv", "--by", "ward", "--levels", "ward=births,eyes", "--delimiter", ";"]
    saved = ["--epsilon", "1", "--dry-run", "--save-study", "saved.toml"]
    assert run(["release", *data, *saved]) == 0
    assert Path("saved.toml").read_text("utf-8").startswith('source = "studies/data/visits.csv"\nepsilon = 1.0\n')
    assert run(["release", "saved.toml", "--out", "out"]) == 0
    with Path("out/ward.csv").open(newline="") as file:
        assert [row["ward"] for row in csv.DictReader(file)] == ["births", "eyes"]
    assert run(["release", *data, *saved]) == 1
    assert "error: --save-study = 'saved.toml': already exists" in capsys.readouterr().err


def test_a_study_is_checked_against_its_source(capsys):
    assert run(["check", "studies/year.toml", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["rows"], found["units"]["column"]) == (2, "patient")
    assert found["units"]["epsilon"] == 1.0


@pytest.mark.parametrize(
    ("arguments", "said", "code"),
    [
        (["new.csv", "--like", "none.json"], "error: --like = 'none.json': cannot be read", 1),
        (["new.csv", "--like", "empty.json"], "error: --like = 'empty.json': has no request of tables that this", 1),
        (["new.csv", "--like", "wrong.json"], "error: --like = 'wrong.json': its request is refused by this", 1),
        (["none.toml"], "error: SOURCE = 'none.toml': cannot be read", 1),
        (["bare.toml"], "error: Invalid value for '--source': the study has no source", 2),
        (["new.csv", "--source", "a.csv"], "error: Invalid value for '--source': is for a study", 2),
        (["studies/year.toml", "--like", "studies/year.toml"], "error: Invalid value for '--like': SOURCE is a", 2),
        (["absent.toml"], "error: absent.toml: unit.column = 'nobody': there is no such column in", 1),
        (["absent.toml", "--unit", "none"], "error: --unit = 'none': there is no such column in", 1),
        (
            ["absent.toml", "--unit", "patient", "--mean", "x", "--range", "x=0:1"],
            "error: --mean = 'x': there is no",
            1,
        ),
        (["mean.toml"], "error: mean.toml: tables.mean = 'x': there is no such column in", 1),
        (["wrong.toml"], "error: wrong.toml, line 3: epsilon = 'a': must be a real number", 1),
        (["studies/year.toml", "--max-cells", "0"], "error: --max-cells = 0: must be at least 1", 1),
    ],
)
def test_what_is_no_study_is_refused_by_its_name(capsys, arguments, said, code):
    Path("empty.json").write_text("{}")
    Path("bare.toml").write_text(COUNTS.replace("source =", "output ="), "utf-8")
    Path("wrong.toml").write_text(COUNTS.replace("epsilon = 1.0", 'epsilon = "a"'), "utf-8")
    assert run(["release", "studies/year.toml", "--out", "out"]) == 0
    manifest = json.loads(Path("out/manifest.json").read_text("utf-8"))
    manifest["table"]["request"]["max_cells"] = -1
    Path("wrong.json").write_text(json.dumps(manifest), "utf-8")
    capsys.readouterr()
    Path("absent.toml").write_text(COUNTS.replace("patient", "nobody").replace("data/", "studies/data/"), "utf-8")
    mean = Path("absent.toml").read_text("utf-8").replace("nobody", "patient").replace("[columns.cost]", "[columns.x]")
    Path("mean.toml").write_text(f'{mean}\nmean = ["x"]\n', "utf-8")
    is_read = arguments[0] in ("absent.toml", "mean.toml")
    assert run(["release", *arguments, *(["--out", "new"] if is_read else ["--dry-run"])]) == code
    assert capsys.readouterr().err.startswith(said)


def test_the_page_of_the_study_file_names_every_key():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "study-file.md").read_text("utf-8")
    keys = {said.key or name for name, (_, said) in options(TableRequest).items()}
    own = set(fields_dict(Study)) - {"request", "names"}
    keys = {key.partition(".")[2] or key for key in (keys | own) - {"goal", "domain", "statistics"}}
    assert [key for key in keys if f"`{key}" not in page] == []


@pytest.mark.parametrize("below", ["[format]", "[unit]", "[columns.ward]", "[[tables]]"])
def test_a_draft_that_is_pasted_below_a_section_is_refused_as_one(here, below):
    (here / "pasted.toml").write_text(COUNTS.replace(below, f"{below}\nnot_private_draft = true", 1), "utf-8")
    with pytest.raises(ArgumentError, match=r"is a draft made from the data.*correct every column by the code book"):
        ggdp.Study.read("pasted.toml")
