"""A plan is made without data; a release is a plan that is run, on the command line as in Python."""

import json
import warnings

import pyarrow as pa
import pytest

import ggdp
from ggdp.errors import ArgumentError, PrivacyWarning
from ggdp.tables import table_plan

PEOPLE = pa.table({"person": [1, 1, 2, 3], "ward": ["a", "b", "a", "c"]})
ASKED = {"by": "ward", "goal": ggdp.PureDP(1.0), "domain": {"ward": ["a", "b", "c"]}, "unit": "person", "max_cells": 2}


def test_a_release_is_a_plan_that_is_run():
    plan = ggdp.plan_table(**ASKED)
    one = plan.run(PEOPLE, rng=ggdp.SeededSource(seed=1))
    other = ggdp.release_table(PEOPLE, **ASKED, rng=ggdp.SeededSource(seed=1))
    assert one.to_arrow().equals(other.to_arrow())
    assert one.plan is plan
    assert other.plan.to_dict() == plan.to_dict()
    assert one.manifest == other.manifest
    assert plan.run(PEOPLE).guarantee == plan.guarantee


def test_a_plan_says_what_a_release_would_be():
    plan = ggdp.plan_table(**ASKED)
    found = plan.to_dict()
    json.dumps(found, allow_nan=False)
    assert (found["cells"], found["order"], found["scale"], found["plus_minus"]) == (3, 1.0, 2.0, plan.half_width)
    assert found["guarantee"] == plan.guarantee.to_dict()
    assert found["files"] == []
    said = repr(plan)
    for words in ("cells: 3", "order: 1", "scale: 2", "plus-minus: 6 at 95 %", "1-DP", "cost: epsilon = 1 per run"):
        assert words in said
    assert "1 cells" not in repr(ggdp.plan_table(by="ward", goal=ggdp.PureDP(1.0), domain={"ward": ["a"]}))


def test_a_notebook_shows_a_plan_escaped():
    plan = ggdp.plan_table(by="<b>", goal=ggdp.PureDP(1.0), domain={"<b>": ["a"]}, out="t.csv", plot="t.png")
    html = plan._repr_html_()
    assert "&lt;b&gt;, 1 cell" in html
    assert "<b>" not in html
    assert [str(file) for file in plan.files] == ["t.csv", "t.manifest.json", "t.png"]
    for file in plan.files:
        assert str(file) in html


def test_a_run_writes_all_files_of_the_plan(tmp_path):
    plan = ggdp.plan_table(**ASKED, out=tmp_path / "t.csv", plot=tmp_path / "t.svg")
    plan.run(PEOPLE)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["t.csv", "t.manifest.json", "t.svg"]
    again = plan.run(PEOPLE, overwrite=True, rng=ggdp.SeededSource(seed=4))
    assert plan.files[0].read_text() == again.to_csv()


def test_a_run_refuses_files_that_exist_before_it_reads_the_data(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text("kept")
    monkeypatch.setattr(table_plan, "release_counts", lambda *_: pytest.fail("the data were opened"))
    with pytest.raises(ArgumentError, match=r"'t.csv' already exists; pass `overwrite=True` to replace it"):
        ggdp.plan_table(**ASKED, out=tmp_path / "t.csv").run(PEOPLE)
    (tmp_path / "t.png").write_text("kept")
    with pytest.raises(ArgumentError, match=r"'t.png' already exists"):
        ggdp.plan_table(**ASKED, plot=tmp_path / "t.png").run(PEOPLE)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"out": "t.xlsx"}, "out = 't.xlsx': must end in .csv or .parquet"),
        ({"plot": "t.jpg"}, "plot = 't.jpg': must end in .png, .pdf, .svg"),
        ({"plot": 7}, "must be the path of a file"),
        ({"engine": "polars"}, "engine = 'polars'"),
        ({"order": 2}, "order = 2.0: needs a delta"),
        ({"unit": None}, "max_cells = 2: needs `unit`"),
    ],
)
def test_what_needs_no_data_is_refused_by_the_plan(given, message):
    with pytest.raises(ArgumentError, match=message.replace("(", r"\(")):
        ggdp.plan_table(**{**ASKED, **given})


def test_a_table_too_large_for_an_engine_is_refused_by_the_plan_only_if_the_engine_is_named():
    levels = [str(number) for number in range(10_000)]
    large = {"by": ["a", "b"], "goal": ggdp.PureDP(1.0), "domain": {"a": levels, "b": levels}}
    with pytest.raises(ArgumentError, match="give `false_cells`"):
        ggdp.plan_table(**large, engine="duckdb")
    # A frame of Spark could be released.
    plan = ggdp.plan_table(**large, out="t.parquet")
    with pytest.raises(ArgumentError, match="give `false_cells`"):
        plan.run(pa.table({"a": ["1"], "b": ["2"]}))


def test_a_plan_warns_where_it_is_made_and_a_run_does_not():
    with pytest.warns(PrivacyWarning, match="epsilon = 20") as caught:
        plan = ggdp.plan_table(**{**ASKED, "goal": ggdp.PureDP(20.0)})
    assert [warning.filename for warning in caught] == [__file__]
    assert "warning: epsilon = 20" in repr(plan)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plan.run(PEOPLE)
    with pytest.warns(PrivacyWarning) as caught:
        ggdp.release_table(PEOPLE, **{**ASKED, "goal": ggdp.PureDP(20.0)})
    assert [warning.filename for warning in caught] == [__file__]


def counting(monkeypatch, owner, name):
    """Count the calls of a function."""
    calls, real = [], getattr(owner, name)

    def counted(*arguments, **named):
        calls.append(name)
        return real(*arguments, **named)

    monkeypatch.setattr(owner, name, counted)
    return calls


def test_a_release_opens_its_ledger_once_and_makes_its_manifest_once(tmp_path, monkeypatch):
    from ggdp.ledger.ledger import Ledger
    from ggdp.tables import table_release

    ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.PureDP(2.0))
    opened = counting(monkeypatch, Ledger, "__init__")
    made = counting(monkeypatch, table_release, "table_manifest")
    frame = pa.table({"sex": ["f", "m", "f"]})
    arguments = {"by": "sex", "goal": ggdp.PureDP(1.0), "domain": {"sex": ["f", "m"]}, "out": tmp_path / "sex.csv"}
    release = ggdp.release_table(frame, **arguments, ledger=tmp_path / "people.ledger")
    written = json.loads((tmp_path / "sex.manifest.json").read_text("utf-8"))
    assert release.written_manifest == written
    assert release.manifest["statement"] == written["statement"]
    assert (len(opened), len(made)) == (1, 1)


def test_a_manifest_that_is_changed_by_its_reader_changes_no_other():
    release = ggdp.release_table(pa.table({"sex": ["f"]}), "sex", ggdp.PureDP(1.0), {"sex": ["f", "m"]})
    release.manifest["table"]["request"]["by"] = "changed"
    assert release.manifest["table"]["request"]["by"] == [["sex"]]
