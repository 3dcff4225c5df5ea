"""Complete columns: everybody is stated to have a value, so that each row is counted, whatever it holds."""

from __future__ import annotations

import json
import random
from collections import Counter

import pyarrow as pa
import pytest
from tests.manifest_schema import VALIDATOR
from tests.sources.zoo import ENGINES, KEY

import ggdp
from ggdp.cli.app import run
from ggdp.errors import ArgumentError
from ggdp.sources.query import CountQuery, open_source
from ggdp.tables.request import TableRequest

PURE = ggdp.PureDP(1.0)
WHOLE = {"complete": True}
DOMAIN = {
    "a": {"levels": ["x", "y", "z"], **WHOLE},
    "n": {"edges": [0, 2, 4], **WHOLE},
    "b": ["x", "y"],
    "v": {"range": [0, 5], "step": 1, **WHOLE},
}
FORBIDDEN = ggdp.Domain(DOMAIN, impossible=[{"a": "x", "n": "[0, 2)"}])
UNITS = {"unit": "u", "max_cells": 1}
REPLACED = {"neighbours": "replace-one"}


def request_of(by=(("a",), ("n",), ("b",)), domain=DOMAIN, **given):
    return TableRequest(by=by, goal=PURE, domain=domain, **given)


def counts_of(request, rows):
    """The counts of all tables, before noise."""
    kinds = {"a": pa.string(), "n": pa.int64(), "b": pa.string(), "v": pa.float64(), "u": pa.string()}
    table = pa.table({name: pa.array([row.get(name) for row in rows], kind) for name, kind in kinds.items()})
    query = CountQuery(marginals=request.domains, key=b"" if request.unit is None else KEY, **request.unit_limits)
    with open_source(table, **request.reading) as source:
        sums = source.sums(query)
    return [Counter(dict(zip(cells.tolist(), of_all.units.tolist(), strict=True))) for cells, (of_all,) in sums]


def moved(request, before, after):
    """How much each cell of each table changes, those that do."""
    pairs = zip(counts_of(request, before), counts_of(request, after), strict=True)
    found = [{cell: less[cell] - more[cell] for cell in less | more} for more, less in pairs]
    return [{cell: by for cell, by in cells.items() if by} for cells in found]


def is_kept(request, changes):
    """Whether the changes are those that the complete tables of a request may have."""
    complete = [cells for cells, whole in zip(changes, request.complete, strict=True) if whole]
    if request.neighbours == "add-remove":
        signs = {tuple(cells.values()) for cells in complete}
        return signs <= {(1,)} or signs <= {(-1,)} if any(changes) else True
    return all(sorted(cells.values()) in ([], [-1, 1]) for cells in complete)


REQUESTS = {
    "rows": {},
    "rows, filtered": {"where": "n >= 1"},
    "rows, two columns": {"by": (("a", "n"), ("b",))},
    "rows, all": {"by": None, "statistics": [ggdp.Mean("v")]},
    "rows, replaced": REPLACED,
    "units": UNITS,
    "units, filtered": {**UNITS, "where": "n >= 1"},
    "units, rows counted": {**UNITS, "count": "rows", "max_rows_per_cell": 1},
    "units, all": {"by": None, "statistics": [ggdp.Mean("v")], "unit": "u", "max_cells": 3},
}
# Each with one thing that makes it incomplete, so that some neighbours differ otherwise.
INCOMPLETE = {
    "two cells": {**UNITS, "max_cells": 2},
    "rows of units": {**UNITS, "count": "rows", "max_rows_per_cell": 2},
    "impossible cells": {"by": (("a", "n"), ("a",), ("b",)), "domain": FORBIDDEN},
    "rows replaced, filtered": {**REPLACED, "where": "n >= 1"},
    "units replaced": {**REPLACED, **UNITS},
}


def some_neighbours(request, seed, number=40):
    """Pairs of tables of which one unit comes or goes, or is another one, that may have no rows."""
    rng = random.Random(seed)

    def rows(most, *units):
        values = {"a": [*"xyzw", None], "n": [None, *range(-1, 6)], "b": [*"xyz", None], "v": [None, 1.0, 9.0]}
        return [
            {name: rng.choice(found) for name, found in values.items()} | {"u": rng.choice(units)} for _ in range(most)
        ]

    for _ in range(number):
        most = 1 if request.unit is None else 4
        others = rows(rng.randint(0, 5), "p", "q", None)
        mine = [rows(rng.randint(most == 1, most), unit) for unit in ("him", "her")]
        if request.neighbours == "add-remove":
            mine[rng.randint(0, 1)] = []
        yield [[*others, *rows_of_one] for rows_of_one in mine]


@pytest.mark.parametrize("name", REQUESTS)
def test_whoever_is_counted_at_all_is_in_one_cell_of_each_complete_table(name):
    request = request_of(**REQUESTS[name])
    wanted = tuple("b" not in names for names in request.by)
    assert request.complete == wanted
    changes = [moved(request, *pair) for pair in some_neighbours(request, name)]
    assert all(is_kept(request, one) for one in changes)
    assert any(map(any, changes))
    # A table that does not count everybody would be seen.
    if not all(wanted):
        object.__setattr__(request, "complete", (True,) * len(wanted))
        assert not all(is_kept(request, one) for one in changes)


@pytest.mark.parametrize("name", INCOMPLETE)
def test_a_table_that_may_leave_out_somebody_is_not_complete(name):
    request = request_of(**INCOMPLETE[name])
    assert request.complete == tuple(name == "impossible cells" and names == ("a",) for names in request.by)
    # Neighbours that a complete table could not have.
    changes = [moved(request, *pair) for pair in some_neighbours(request, name)]
    object.__setattr__(request, "complete", tuple("b" not in names for names in request.by))
    assert not all(is_kept(request, one) for one in changes)


def test_a_table_of_one_cell_is_complete_however_many_cells_a_unit_may_be_in():
    one = {**DOMAIN, "a": {"levels": ["x"], **WHOLE}}
    assert request_of(domain=one, unit="u", max_cells=2).complete == (True, False, False)


PEOPLE = pa.table(
    {
        "a": ["x", "y", None, "q", "z", "x"],
        "n": [1.0, 3.0, float("nan"), 9.0, None, 2.0],
        "v": [5.0, 7.0, None, float("nan"), 0.0, -3.0],
        "w": ["1", "x", "", None, "5", "9"],
    }
)
ASKED = {
    "by": ["a", "n"],
    "goal": ggdp.PureDP(1e6),  # hardly any noise
    "domain": {**DOMAIN, "w": {"range": [-1, 6], "step": 1, **WHOLE}},
    "statistics": [ggdp.Mean("v"), ggdp.Sum("w")],
    "unit": "row",
}


@pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")
@pytest.mark.parametrize("engine", ENGINES)
def test_what_has_no_value_is_in_the_first_cell_and_at_the_middle_of_the_range(engine):
    release = ggdp.release_table(ENGINES[engine](PEOPLE), **ASKED)
    rows = {(row["a"], row["n"]): row for row in release.to_arrow().to_pylist()}
    counts = {key: row["count"] for key, row in rows.items() if row["count"] > 0}
    first = ("x", "[0, 2)")
    assert counts == {first: 3, ("y", "[2, 4]"): 1, ("z", "[0, 2)"): 1, ("x", "[2, 4]"): 1}
    # Of 5, null and NaN, in a range of five steps from 0; and of 1, no text and null, in one of seven steps from -1.
    assert rows[first]["mean_v"] == pytest.approx((5 + 2 + 2) / 3, abs=0.01)
    assert rows[first]["sum_w"] == pytest.approx(1 + 2 + 2, abs=0.01)
    # Of "x".
    assert rows["y", "[2, 4]"]["sum_w"] == pytest.approx(2, abs=0.01)


@pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")
def test_statement_manifest_and_study_say_what_is_stated(tmp_path):
    release = ggdp.release_table(PEOPLE, **ASKED, unit_name="patients")
    said = release.manifest["statement"]
    for words in (
        "All patients are stated to have a declared value of 'a'; a row without one is counted in 'x'.",
        "All patients are stated to have a declared value of 'n'; a row without one is counted in '[0, 2)'.",
        "All patients are stated to have a number in 'v'; a row without one has the middle of its range.",
    ):
        assert words in said
    assert "left out" not in said
    assert "fit no cell" not in said
    VALIDATOR.validate(json.loads(json.dumps(release.manifest)))
    request = TableRequest(**ASKED)
    assert all(declared["complete"] is True for declared in request.to_dict()["domain"].values())
    file = tmp_path / "study.toml"
    file.write_text(request.to_toml(), "utf-8")
    assert file.read_text("utf-8").count("complete = true\n") == len(ASKED["domain"]) - 1  # all but b
    assert TableRequest.from_toml(file) == request
    assert TableRequest.from_dict(json.loads(json.dumps(request.to_dict()))).complete == request.complete == (True,)


def test_columns_that_are_complete_alike_are_named_together():
    domain = {name: {"levels": ["no", "yes"], "complete": True} for name in "abc"}
    domain["d"] = {"levels": ["x", "y"], "complete": True}
    by, data = [[name] for name in domain], pa.table({name: ["no", "yes"] for name in domain})
    said = ggdp.release_table(data, by, 1.0, domain, unit="row").manifest["statement"]
    alike = "All rows are stated to have a declared value of 'a', 'b' and 'c'; a row without one is counted in 'no'."
    assert f"{alike} All rows are stated to have a declared value of 'd'; a row without one is counted in 'x'." in said


def test_only_what_is_not_complete_is_said_to_be_left_out():
    partial = {**ASKED, "domain": {**ASKED["domain"], "w": {"range": [0, 5], "step": 1}}}
    with pytest.warns(ggdp.errors.PrivacyWarning):
        said = ggdp.release_table(PEOPLE, **partial).manifest["statement"]
    assert "what is not a number in 'w' is left out." in said
    assert "All rows are stated to have a number in 'v'" in said


@pytest.mark.parametrize(
    ("declared", "said"),
    [
        ({"levels": ["x"], "other": "o"}, "does not go with 'other'"),
        ({"edges": [0, 1], "missing": "m"}, "does not go with 'missing'"),
        ({"range": [0, 1], "complete": 1}, "must be True or False"),
        ({"decimal": ","}, "needs levels, edges or a range"),
        ({"range": [0, 1]}, "has no declared levels"),
    ],
)
def test_a_column_that_cannot_be_complete_is_refused_by_its_name(declared, said):
    with pytest.raises(ArgumentError, match=said) as refused:
        TableRequest(by="a", goal=ggdp.ApproxDP(1.0, 1e-6), domain={"a": {"complete": True, **declared}})
    assert "of 'a'" in refused.value.argument


def test_a_column_that_is_not_complete_says_so_or_nothing():
    plain, said = (ggdp.Domain({"a": {"levels": ["x"], **more}}) for more in ({}, {"complete": False}))
    assert plain == said
    assert plain.to_dict() == {"a": {"levels": ["x"]}}


def test_check_counts_the_rows_that_rely_on_it_and_is_loud_where_they_are_many(tmp_path, capsys):
    request = {name: value for name, value in ASKED.items() if name != "goal"}
    found = ggdp.check_table(PEOPLE, **request)
    alarms = [
        "column 'a' is declared complete, and 2 of 6 rows have no declared level: they are counted as 'x'",
        "column 'n' is declared complete, and 3 of 6 rows have no declared level: they are counted as '[0, 2)'",
        "column 'v' is declared complete, and 2 of 6 rows have no number: they are counted as the middle of the range",
        "column 'w' is declared complete, and 3 of 6 rows have no number: they are counted as the middle of the range",
    ]
    assert list(found.alarms) == alarms
    assert [one.advice[-1] for one in (*found.columns, *found.ranges)] == alarms
    assert not any("would not be counted" in said for one in found.columns for said in one.advice)
    assert sum(one.rows for one in found.marginals) == 6
    # Few of them are no alarm, and none are no word.
    many = pa.concat_tables([PEOPLE.slice(0, 1)] * 99 + [PEOPLE.slice(2, 1)])
    assert ggdp.check_table(many, **request).alarms == ()
    assert "1 of 100 rows" in ggdp.check_table(many, **request).columns[0].advice[-1]
    assert ggdp.check_table(PEOPLE.slice(0, 1), **request).columns[0].advice == ()
    path = tmp_path / "people.csv"
    path.write_text("a\nx\n\nq\n")
    (tmp_path / "domain.toml").write_text('[columns.a]\nlevels = ["x"]\ncomplete = true\n')
    assert run(["check", str(path), "--by", "a", "--domain", str(tmp_path / "domain.toml"), "--unit-is-row"]) == 0
    assert "WARNING: column 'a' is declared complete, and 2 of 3 rows" in capsys.readouterr().out


def test_a_flag_replaces_the_levels_and_keeps_that_they_are_complete(tmp_path, capsys):
    file = tmp_path / "study.toml"
    request = request_of(by=["a"], domain={"a": DOMAIN["a"]})
    file.write_text(request.to_toml(source="people.csv"), "utf-8")
    (tmp_path / "people.csv").write_text("a\nx\n")
    args = ["release", str(file), "--dry-run", "--json", "--unit-is-row"]
    assert run([*args, "--levels", "a=x,y"]) == 0
    assert json.loads(capsys.readouterr().out)["request"]["domain"] == {"a": {"levels": ["x", "y"], "complete": True}}
    assert run([*args, "--other", "a=o"]) == 1
    assert "does not go with 'other'" in capsys.readouterr().out
