"""Counts in percent of a total, and cells compared: in releases, in requests, and from the published files alone."""

import csv
import json
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from tests.manifest_schema import VALIDATOR

import ggdp
from ggdp.cli.app import run
from ggdp.errors import ArgumentError, ArgumentTypeError
from ggdp.releases.comparisons import share_ends, sum_half_width
from ggdp.tables.manifest_checks import contradiction
from ggdp.tables.request import TableRequest

WARDS, SEXES = ("a", "b", "c"), ("f", "m", "x")
DOMAIN = {"ward": [*WARDS, "none"], "sex": [*SEXES]}
ROWS = [(ward, sex) for i, ward in enumerate(WARDS) for j, sex in enumerate(SEXES) for _ in range(40 * (i + 1) + 9 * j)]
PEOPLE = pa.table({"ward": [ward for ward, _ in ROWS], "sex": [sex for _, sex in ROWS]})
ASKED = {"by": ["ward", "sex"], "goal": 1.0, "domain": DOMAIN, "unit": "row"}
TOTAL = {"neighbours": "replace-one", "total": len(ROWS)}


def released(**given):
    return ggdp.release_table(PEOPLE, **ASKED | given, rng=ggdp.SeededSource(seed=8))


def sums(table, of, values):
    """Return the sum of values over the rows with the same levels as each row."""
    rows = [tuple(row[name] for name in of) for row in table.keys.to_pylist()]
    return np.array([sum(value for other, value in zip(rows, values, strict=True) if other == row) for row in rows])


@pytest.mark.parametrize("of", [[], ["ward"], ["sex"]], ids=str)
@pytest.mark.parametrize("given", [{}, {"nonnegative": True}, {"neighbours": "replace-one"}], ids=str)
def test_a_percentage_is_of_the_raw_counts_of_its_total(of, given):
    table = released(**given).tables[0]
    shown = table.shares(of)
    (percent,) = shown.statistics
    x = table.noisy_count.astype(float)
    total = sums(table, of, x)
    size = sums(table, of, np.ones(len(table)))
    noise = (table.noise[0], table.noise[1], 1)
    for row in range(len(table)):
        rest = (*table.noise, int(size[row]) - 1)
        lower, upper = share_ends(x[row : row + 1], total[row : row + 1] - x[row], noise, rest, 0.95)
        assert percent.lower[row] == 100.0 * lower[0]
        assert percent.upper[row] == 100.0 * upper[0]
        if total[row] <= 0 or (lower[0], upper[0]) == (0.0, 1.0):
            assert np.isnan(percent.value[row])
        else:
            assert percent.value[row] == pytest.approx(100.0 * min(max(x[row] / total[row], 0.0), 1.0))
            assert percent.lower[row] <= percent.value[row] <= percent.upper[row]
    assert shown.to_arrow().column_names[-3:] == ["percent", "percent_lower", "percent_upper"]
    # Asked for again, they are not there twice.
    assert shown.shares(of).to_arrow().equals(shown.to_arrow())


def test_a_total_that_may_be_nothing_has_no_percentages():
    empty = ggdp.release_table(PEOPLE.slice(0, 0), **ASKED, rng=ggdp.SeededSource(seed=1)).shares("ward")
    rows = empty.to_arrow().to_pylist()
    assert any(row["percent"] is None for row in rows)
    for row in rows:
        if row["percent"] is None:
            assert (row["percent_lower"], row["percent_upper"]) == (0.0, 100.0)


@pytest.mark.parametrize("nonnegative", [False, True])
def test_percentages_of_a_public_total_add_up_and_have_the_noise_of_their_count_only(nonnegative):
    table = released(**TOTAL, nonnegative=nonnegative).tables[0]
    percent = table.shares().statistics[0]
    half = sum_half_width(((*table.noise, 1),), 0.95)
    assert percent.value == pytest.approx(100.0 * np.maximum(table.count, 0) / len(ROWS))
    if nonnegative:
        assert percent.value.sum() == pytest.approx(100.0)
    for sign, end in ((-1, percent.lower), (1, percent.upper)):
        expected = np.clip(100.0 * (table.noisy_count + sign * half) / len(ROWS), 0.0, 100.0)
        assert end == pytest.approx(expected, abs=1e-9)
        assert np.all(sign * (end - expected) >= 0.0)
    # Of a ward the total is not public.
    x = table.noisy_count.astype(float)
    assert table.shares("ward").statistics[0].value[0] == pytest.approx(100.0 * x[0] / x[:3].sum())


def test_the_only_cell_of_a_total_is_all_of_it():
    domain = ggdp.Domain(DOMAIN, impossible=[{"ward": "a", "sex": "f"}, {"ward": "a", "sex": "m"}])
    table = released(domain=domain).tables[0].shares("ward")
    row = table.to_arrow().to_pylist()[0]
    assert (row["ward"], row["sex"]) == ("a", "x")
    assert (row["percent"], row["percent_lower"], row["percent_upper"]) == (100.0, 100.0, 100.0)


def test_a_ratio_is_of_sums_of_cells():
    release = released()
    table = release.tables[0]
    noise, keys = table.noise, [(key["ward"], key["sex"]) for key in table.keys.to_pylist()]
    noisy = dict(zip(keys, table.noisy_count.tolist(), strict=True))

    def total(ward=None, sex=None):
        return sum(n for (w, s), n in noisy.items() if ward in (None, w) and sex in (None, s))

    women, men = total(sex="f"), total(sex="m")
    found = release.ratio({"sex": "f"}, {"sex": "m"})
    low, high = share_ends(np.array([float(women)]), np.array([float(men)]), (*noise, 4), (*noise, 4), 0.95)
    assert found.value == pytest.approx(women / men)
    assert found.lower == pytest.approx(low[0] / (1 - low[0]))
    assert found.upper == pytest.approx(high[0] / (1 - high[0]))
    assert found.level == 0.95
    part, whole = release.ratio({"sex": "f", "ward": "c"}, {"ward": "c"}), total(ward="c")
    assert part.value == pytest.approx(total("c", "f") / whole)
    percent = table.shares("ward").statistics[0]
    assert part.lower == percent.lower[6] / 100.0
    turned = release.ratio({"ward": "c"}, {"sex": "f", "ward": "c"})
    assert (turned.value, turned.lower, turned.upper) == pytest.approx((1 / part.value, 1 / part.upper, 1 / part.lower))
    wider = release.ratio({"sex": "f"}, {"sex": "m"}, level=0.99)
    assert wider.lower < found.lower < found.upper < wider.upper
    assert release.ratio({"ward": "c"}, {"ward": "none"}).upper is None


def test_a_difference_has_the_noise_of_the_cells_in_one_of_the_two_only():
    release = released()
    noise, noisy = release.tables[0].noise, release.tables[0].noisy_count
    for cell, base, cells in (
        ({"ward": "a", "sex": "f"}, {"ward": "a", "sex": "m"}, 2),
        ({"sex": "f"}, {"sex": "m"}, 8),
        ({"ward": "a"}, {"sex": "f"}, 5),
        ({}, {"sex": "f"}, 8),
    ):
        found = release.difference(cell, base)
        half = sum_half_width(((*noise, cells),), 0.95)
        assert (found.value - found.lower, found.upper - found.value) == (half, half)
    assert release.difference({"ward": "a"}, {"ward": "b"}).value == noisy[:3].sum() - noisy[3:6].sum()


def test_a_public_total_has_no_noise():
    release, n = released(**TOTAL), len(ROWS)
    noise, noisy = release.tables[0].noise, release.tables[0].noisy_count
    found = release.difference({}, {"ward": "a"})
    assert found.value == n - noisy[:3].sum()
    assert found.upper - found.value == sum_half_width(((*noise, 3),), 0.95)
    # Of nine of the twelve cells the other three say more.
    found = release.ratio({"ward": "a"}, {})
    rest = release.difference({}, {"ward": "a"})
    assert (1.0 - found.upper, 1.0 - found.lower) == pytest.approx((rest.lower / n, rest.upper / n))
    domain = ggdp.Domain(DOMAIN, impossible=[{"ward": "b"}, {"ward": "c"}, {"ward": "none", "sex": "x"}])
    small = released(**TOTAL, domain=domain)
    found, two = small.ratio({"ward": "a"}, {}), sum_half_width(((*noise, 2),), 0.95)
    assert found.value == pytest.approx(1.0 - small.tables[0].noisy_count[3:].sum() / n, abs=0.02)
    assert found.lower == pytest.approx(1.0 - (small.tables[0].noisy_count[3:].sum() + two) / n)


def test_cells_are_named_as_they_are_published_or_declared():
    domain = {"ward": {"levels": [1, 2], "labels": ["Births", "Eyes"]}, "old": {"levels": [False, True]}}
    data = pa.table({"ward": [1, 1, 2] * 50, "old": [True, False, True] * 50})
    table = ggdp.release_table(data, by=["ward", "old"], goal=1.0, domain=domain, unit="row")
    one = table.difference({"ward": "Births"}, {"ward": "Eyes"})
    assert one == table.difference({"ward": 1}, {"ward": "2"})
    assert table.difference({"old": True}, {"old": False}) == table.difference({"old": "true"}, {"old": "false"})


@pytest.mark.parametrize(
    ("cell", "base", "said"),
    [
        ({"wards": "a"}, {}, "'wards': is not one of the columns: ward, sex"),
        ({"ward": "d"}, {}, "'d': is not a level of 'ward': a, b, c, none"),
        ({"ward": "a"}, {"sex": "f"}, "'sex=f': overlaps the cell"),
        ({}, {}, "'all cells': is the cell itself"),
    ],
)
def test_cells_that_cannot_be_compared_are_refused_by_name(cell, base, said):
    with pytest.raises(ArgumentError, match=said):
        released().ratio(cell, base)


def test_only_tables_that_show_every_cell_are_compared():
    data, goal = pa.table({"ward": ["a", "b", "b"] * 400, "n": [1] * 1200}), ggdp.ApproxDP(1.0, 1e-6)
    levels = {"ward": ["a", "b"], "n": {"range": [0, 9]}}
    for release in (
        ggdp.release_table(data, "ward", goal, unit="row"),
        ggdp.release_table(data, "ward", goal, levels, false_cells=0.1, unit="row"),
        ggdp.release_table(data, "ward", goal, levels, statistics=[ggdp.Mean("n")], unit="row"),
    ):
        for ask, given in (
            (release.shares, ()),
            (release.ratio, ({"ward": "a"}, {})),
            (release.difference, ({"ward": "d"}, {})),
        ):
            with pytest.raises(ArgumentError, match="does not show every cell, or has statistics"):
                ask(*given)
    # Of several tables the declared ones.
    mixed = ggdp.release_table(data, [["ward"], ["n"]], goal, {"ward": ["a", "b"]}, unit="row")
    assert len(mixed["ward"].shares()) == 2
    with pytest.raises(ArgumentError, match="does not show every cell"):
        mixed["n"].shares()
    with pytest.raises(ArgumentError, match="of 2 tables"):
        mixed.shares()


def test_a_percentage_needs_some_columns_of_its_table():
    for of in ("wards", ["ward", "sex"]):
        with pytest.raises(ArgumentError, match=r"must be some of the columns, and not all of them: ward, sex"):
            released().shares(of)


@pytest.mark.parametrize("of", [[], "ward", ["sex"]], ids=str)
def test_percentages_are_a_part_of_the_request_and_cost_nothing(of, tmp_path):
    plain = ggdp.plan_table(**ASKED)
    plan = ggdp.plan_table(**ASKED, percent_of=of, digits=2, out=tmp_path / "t.csv")
    assert (plan.guarantee, plan.half_width) == (plain.guarantee, plain.half_width)
    assert "percent_of" not in plain.request.to_dict()
    assert TableRequest.from_dict(json.loads(json.dumps(plan.request.to_dict()))) == plan.request
    (tmp_path / "r.toml").write_text(plan.request.to_toml())
    assert TableRequest.from_toml(tmp_path / "r.toml") == plan.request
    assert ggdp.TablePlan.from_dict(plan.to_dict()) == plan
    release = plan.run(PEOPLE)
    assert (
        (tmp_path / "t.csv").read_text().startswith("ward,sex,count,lower,upper,percent,percent_lower,percent_upper\n")
    )
    exact = release.tables[0].shares(of).statistics[0]
    assert np.array_equal(exact.value, release.tables[0].statistics[0].value, equal_nan=True)
    assert exact.value[0] == round(exact.value[0], 2)
    manifest = json.loads((tmp_path / "t.manifest.json").read_text())
    VALIDATOR.validate(manifest)
    assert contradiction(manifest) is None
    words = manifest["statement"]
    names = [of] if isinstance(of, str) else of
    total = f"the counts with the same {names[0]}" if names else "all counts of the table"
    assert f"Percentages are shares of the sum of {total}. They are rounded to 2 decimal digits" in words
    manifest["table"]["request"]["percent_of"] = ["sex"] if "ward" in names else ["ward"]
    assert contradiction(manifest) is not None
    # What a reader finds in the files is what was released.
    read = ggdp.read_table(tmp_path / "t.manifest.json")
    assert read.to_arrow().equals(release.to_arrow())


def test_a_description_says_how_often_a_unit_counts_in_a_total():
    data = PEOPLE.append_column("person", pa.array([n // 3 for n in range(len(ROWS))]))
    units = {**ASKED, "unit": "person", "max_cells": 2, "unit_name": "patients"}
    release = ggdp.release_table(data, **units, percent_of="ward")
    assert "sum of the counts with the same ward, where each of the patients counts up to 2 times" in str(
        release.manifest
    )
    described = {one["name"]: one for one in release.manifest["table"]["tables"][0]["tableSchema"]["columns"]}
    assert "at most 2 cells each" in described["percent"]["dc:description"]
    assert described["percent"]["required"] is False
    assert described["percent_lower"]["required"] is True


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"percent_of": ["ward", "sex"]}, "must be some, and not all, of the columns"),
        ({"percent_of": "wards"}, "must be some, and not all, of the columns"),
        ({"percent_of": 3}, "must be a list of columns"),
        ({"percent_of": "ward", "false_cells": 1.0}, "needs every cell of a total"),
        (
            {"percent_of": "ward", "domain": {"ward": ["a"]}, "goal": ggdp.ApproxDP(1, 1e-6)},
            "needs every cell of a total",
        ),
        ({"by": [["ward", "sex"], ["ward"]], "percent_of": "ward"}, "of each table"),
        (
            {"by": ["ward", "percent"], "domain": {"ward": ["a"], "percent": ["b"]}, "percent_of": []},
            "published column",
        ),
        (
            {"percent_of": [], "domain": DOMAIN | {"n": {"range": [0, 9]}}, "statistics": [ggdp.Mean("n")]},
            "does not go with `statistics`",
        ),
        ({"digits": 1}, "needs `statistics` or `percent_of`"),
        ({"digits": 16, "percent_of": []}, "at most 15"),
    ],
)
def test_percentages_that_cannot_be_are_refused_before_anything_is_read(given, said):
    with pytest.raises(ArgumentError, match=said):
        ggdp.plan_table(**ASKED | given)


def test_several_tables_have_percentages_each():
    release = released(by=[["ward", "sex"], ["sex"]], percent_of=[])
    assert [table.statistics[0].name for table in release.tables] == ["percent", "percent"]


def test_a_plot_of_a_table_with_percentages_is_of_its_counts():
    figure = released(percent_of="ward").plot()
    assert figure.axes[0].get_xlabel().startswith("noisy count")
    assert "percent" in released(percent_of="ward").plot(column="percent").axes[0].get_xlabel()


@pytest.fixture
def published(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = "".join(f"{ward},{sex}\n" for ward, sex in ROWS)
    Path("people.csv").write_text(f"ward,sex\n{lines}")
    typed = ["--by", "ward,sex", "--levels", "ward=a,b,c,none", "--levels", "sex=f,m,x", "--unit-is-row"]

    def publish(*flags):
        return run(["release", "people.csv", *typed, "--epsilon", "1", *flags])

    return publish


def test_percentages_are_printed_and_written_wide(published, capsys):
    assert published("--percent-of", "ward", "--digits", "1", "--out", "o.csv", "--wide", "w.csv") == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "count f percent f count m percent m" in printed
    long = {(row["ward"], row["sex"]): row for row in csv.DictReader(Path("o.csv").read_text().splitlines())}
    for row in csv.DictReader(Path("w.csv").read_text().splitlines()):
        for sex in SEXES:
            for name in ("percent", "percent_lower", "percent_upper"):
                assert row[f"{name} {sex}"] == long[row["ward"], sex][name]
                assert len(row[f"{name} {sex}"].partition(".")[2]) <= 1
    assert published("--percent", "--out", "p.csv") == 0
    assert "percent" in capsys.readouterr().out
    # A study and an earlier release ask for the same.
    assert run(["release", "people.csv", "--like", "o.manifest.json", "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["request"]["percent_of"] == ["ward"]
    assert published("--percent", "--percent-of", "ward", "--out", "q.csv") == 1
    assert "does not go with --percent" in capsys.readouterr().err
    assert published("--percent-of", "ward,sex", "--out", "q.csv") == 1
    assert "--percent-of = 'ward,sex': must be some" in capsys.readouterr().err
    assert run(["verify", "o.manifest.json", "p.manifest.json"]) == 0


def test_a_steward_compares_published_files_a_week_later(published, capsys):
    assert published("--nonnegative", "--out", "o.csv") == 0
    assert published("--out", "p.parquet") == 0
    capsys.readouterr()
    assert run(["compare", "o.manifest.json", "--percent-of", "ward", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    table = ggdp.read_table("o.manifest.json")
    assert rows == table.shares("ward").to_arrow().to_pylist()
    assert (
        run(["compare", "o.manifest.json", "--cell", "sex=f,ward=a", "--cell", "all", "--level", "0.9", "--json"]) == 0
    )
    found = json.loads(capsys.readouterr().out)
    assert found["level"] == 0.9
    ratio = table.ratio({"sex": "f", "ward": "a"}, {}, level=0.9)
    assert found["rows"][0] == {"of": "ratio", "value": ratio.value, "lower": ratio.lower, "upper": ratio.upper}
    assert found["rows"][1]["of"] == "difference"
    assert run(["compare", "o.manifest.json", "p.manifest.json", "--json"]) == 0
    changed = ggdp.difference("o.manifest.json", "p.manifest.json")
    assert json.loads(capsys.readouterr().out)["rows"] == changed.to_pylist()
    for flags in (["--percent"], ["--cell", "sex=f", "--cell", "sex=m"]):
        assert run(["compare", "p.manifest.json", *flags]) == 0
        assert "with a 95% interval each" in capsys.readouterr().out


def test_what_cannot_be_compared_is_said_as_it_was_typed(published, capsys):
    assert published("--out", "o.csv") == 0
    for typed, code, said in (
        (["o.manifest.json"], 2, "give two manifests; or one, with two --cell"),
        (["o.manifest.json", "--cell", "sex=f"], 2, "two --cell"),
        (["o.manifest.json", "o.manifest.json"], 1, "is the same release"),
        (["o.manifest.json", "--cell", "sex=f", "--cell", "ward=a"], 1, "--cell = 'ward=a': overlaps"),
        (["o.manifest.json", "--cell", "sex", "--cell", "ward=a"], 1, "--cell = 'sex': must be a column, '='"),
        (["o.manifest.json", "--percent-of", "age"], 1, "--percent-of = ['age']: must be some of the columns"),
        (["o.manifest.json", "--percent", "--table", "x"], 1, "--table = 'x': is no table of o.manifest.json"),
        (["o.manifest.json", "--percent", "--level", "95"], 1, "--level = 95.0: must be above 0 and below 1"),
    ):
        assert run(["compare", *typed]) == code, typed
        assert said in capsys.readouterr().err
    age = ["--derive", "age=case when sex = 'f' then 30 else 40 end", "--range", "age=0:99"]
    assert published(*age, "--mean", "age", "--out", "m.csv") == 0
    assert published("--false-cells", "1", "--out", "s.csv") == 0
    capsys.readouterr()
    for manifest, said in (("m", "is of a release with statistics"), ("s", "leaves cells out of this table")):
        assert run(["compare", f"{manifest}.manifest.json", "--percent"]) == 1
        assert f"error: MANIFEST = '{manifest}.manifest.json': {said}" in capsys.readouterr().err
    Path("o.csv").write_text(Path("o.csv").read_text().replace("a,f,", "a,f,1"))
    assert run(["compare", "o.manifest.json", "--percent"]) == 1
    assert "as it was published (it is changed)" in capsys.readouterr().err


def test_counts_of_rows_are_not_compared_with_those_of_people(tmp_path):
    people = PEOPLE.append_column("person", [list(map(str, range(PEOPLE.num_rows)))])

    def manifest(name, **given):
        ggdp.release_table(people, **ASKED | given, out=tmp_path / f"{name}.csv")
        return tmp_path / f"{name}.manifest.json"

    by_person = {"unit": "person", "max_cells": 1}
    rows, persons = manifest("rows"), manifest("persons", **by_person)
    with pytest.raises(ArgumentError, match=r"counts different values of 'person', and .*rows.* counts rows; compare"):
        ggdp.difference(rows, persons)
    with pytest.raises(ArgumentError, match=r"counts rows, and "):
        ggdp.difference(persons, manifest("of_person", **by_person, count="rows", max_rows_per_cell=1))
    # Rows that are people, and people by another name of their column, are counted alike.
    named = manifest("named", unit_name="people")
    assert ggdp.difference(rows, named).num_rows == 12
    assert ggdp.difference(named, manifest("each", **by_person, unit_name="people")).num_rows == 12


def test_a_release_is_not_compared_with_a_copy_of_itself(tmp_path):
    ggdp.release_table(PEOPLE, **ASKED, out=tmp_path / "one.csv")
    written = (tmp_path / "one.manifest.json").read_text("utf-8")
    (tmp_path / "copy.manifest.json").write_text(json.dumps(json.loads(written)), "utf-8")
    with pytest.raises(ArgumentError, match="is the same release, whose noise is the same"):
        ggdp.difference(tmp_path / "one.manifest.json", tmp_path / "copy.manifest.json")


@pytest.mark.parametrize("cell", ["ward", ["ward"], None, ("ward", "a")])
def test_a_cell_that_is_no_mapping_is_refused(cell):
    for compare in (released().ratio, released().difference):
        with pytest.raises(ArgumentTypeError, match=r"^base = .*: must give levels of columns, such as \{'sex': 'f'\}"):
            compare({"ward": "a"}, cell)


def test_one_of_several_published_tables_is_named_by_its_file(tmp_path):
    plan = ggdp.plan_table(**ASKED | {"by": [["ward"], ["sex"]]}, out=tmp_path / "t.csv")
    release = plan.run(PEOPLE)
    for which in (1, "t-2"):
        found = ggdp.read_table(tmp_path / "t.manifest.json", which)
        assert found.to_arrow().equals(release.tables[1].to_arrow())
    assert not math.isnan(found.shares().statistics[0].value[0])
