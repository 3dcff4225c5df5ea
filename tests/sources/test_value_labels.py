"""Value labels of Stata and SPSS files: what is counted is a function of a row, by its number or by its label."""

import warnings

import numpy as np
import pandas as pd
import pyreadstat
import pytest

import ggdp
from ggdp.cli.app import run
from ggdp.errors import ArgumentError
from ggdp.tables.request import TableRequest

LABELS = {"sex": {1: "men", 2: "women", 9: "refused"}, "town": {1: "Zürich", 2: "Genève"}}
PEOPLE = pd.DataFrame({"sex": [1.0, 2.0, 2.0, 9.0, None, 3.0], "town": [1.0, 2.0, 1.0, 1.0, 2.0, None]})
BY_LABEL = {"sex": {"levels": ["men", "women"], "other": "others", "missing": "none"}}
GOAL = ggdp.PureDP(1.0)


def stata(folder, frame=PEOPLE, labels=LABELS, name="people.dta"):
    pyreadstat.write_dta(frame, folder / name, variable_value_labels=labels)
    return folder / name


def spss(folder, frame=PEOPLE, labels=LABELS, **more):
    as_floats = {name: {float(code): text for code, text in one.items()} for name, one in labels.items()}
    pyreadstat.write_sav(frame, folder / "people.sav", variable_value_labels=as_floats, **more)
    return folder / "people.sav"


WRITERS = [stata, spss]


@pytest.fixture(autouse=True)
def _no_noise(monkeypatch):
    monkeypatch.setattr(ggdp.IntegerNoise, "sample", lambda _, size, rng=None: np.zeros(size, dtype=np.int64))  # noqa: ARG005


def counted(path, domain=BY_LABEL, by="sex", **asked):
    table = ggdp.release_table(path, by, GOAL, domain, unit="row", **asked).to_arrow()
    return dict(zip(map(str, table[by].to_pylist()), table["count"].to_pylist(), strict=True))


@pytest.mark.parametrize("write", WRITERS)
def test_levels_are_labels_or_numbers_as_they_are_declared(tmp_path, write):
    path = write(tmp_path)
    assert counted(path) == {"men": 1, "women": 2, "others": 2, "none": 1}
    for levels in ([1, 2], ["1", "2"]):
        assert counted(path, {"sex": {"levels": levels}}) == {"1": 1, "2": 2}
    # Numbers without a label are compared by their digits.
    assert counted(path, {"sex": ["men", "3"]}) == {"men": 1, "3": 1}
    assert counted(path, {"sex": {"levels": [1, 2], "labels": ["women", "men"]}}) == {"women": 1, "men": 2}


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize(
    ("where", "found"),
    [
        ("town = 'Zürich'", {"men": 1, "women": 1, "others": 1, "none": 0}),
        ("town = 1", {"men": 1, "women": 1, "others": 1, "none": 0}),
        ("town like 'Gen%'", {"men": 0, "women": 1, "others": 0, "none": 1}),
        ("sex > 1", {"men": 0, "women": 2, "others": 2, "none": 0}),
        ("sex in ('men', '3')", {"men": 1, "women": 0, "others": 1, "none": 0}),
        ("sex is null", {"men": 0, "women": 0, "others": 0, "none": 1}),
    ],
)
def test_a_filter_compares_text_with_labels_and_numbers_with_numbers(tmp_path, write, where, found):
    assert counted(write(tmp_path), where=where) == found


@pytest.mark.parametrize("write", WRITERS)
def test_a_column_that_is_counted_by_its_labels_has_the_sums_of_its_numbers(tmp_path, write):
    domain = {"sex": {**BY_LABEL["sex"], "range": [0, 10]}}
    table = ggdp.release_table(write(tmp_path), "sex", GOAL, domain, unit="row", statistics=[ggdp.Sum("sex")])
    assert np.rint(table.to_arrow()["sum_sex"].to_pylist()).tolist() == [1, 4, 12, 0]


@pytest.mark.parametrize("write", WRITERS)
def test_each_row_is_counted_by_itself(tmp_path, write):
    whole = counted(write(tmp_path))
    for left_out, level in enumerate(["men", "women", "women", "others", "none", "others"]):
        assert counted(write(tmp_path, PEOPLE.drop(index=left_out))) == {**whole, level: whole[level] - 1}


def test_a_label_is_that_of_its_row_where_a_program_numbers_labels_anew(tmp_path):
    rows = ["men", "refused", "women", "women"]
    whole = {"men": 1, "refused": 1, "women": 2}
    by_code = {"sex": [0, 1, 2]}
    moved = []
    for left_out in range(len(rows)):
        frame = pd.DataFrame({"sex": pd.Categorical([one for k, one in enumerate(rows) if k != left_out])})
        # pandas keeps the labels that occur, and numbers them in their order.
        frame.to_stata(tmp_path / "people.dta", write_index=False)
        found = counted(tmp_path / "people.dta", {"sex": ["men", "refused", "women"]})
        assert found == {**whole, rows[left_out]: whole[rows[left_out]] - 1}
        codes = counted(tmp_path / "people.dta", by_code)
        moved.append(sum(abs(codes[code] - count) for code, count in zip("012", whole.values(), strict=True)))
    # So numbers are no levels there: one row more or less moves others.
    assert max(moved) > 1


def test_files_that_number_their_labels_differently_are_one_table(tmp_path):
    stata(tmp_path, name="a.dta")
    turned = PEOPLE.assign(sex=PEOPLE["sex"].map({1: 2.0, 2: 1.0, 9: 9.0, 3: 3.0}))
    stata(tmp_path, turned, {"sex": {1: "women", 2: "men", 9: "refused"}}, name="b.dta")
    assert counted(str(tmp_path / "*.dta")) == {"men": 2, "women": 4, "others": 4, "none": 2}


@pytest.mark.parametrize("labels", [{}, {"sex": {1: "women"}}, {"sex": {7: "men"}}, {"sex": {1: "men", 2: "men"}}])
def test_no_error_and_no_warning_tells_which_labels_there_are(tmp_path, labels):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert sum(counted(stata(tmp_path, labels=labels)).values()) == len(PEOPLE)


def test_missing_values_that_users_declare_are_nulls_and_labels_of_them_are_no_levels(tmp_path):
    path = spss(tmp_path, missing_ranges={"sex": [9.0]})
    assert counted(path) == {"men": 1, "women": 2, "others": 1, "none": 2}
    assert counted(path, {"sex": ["refused"]}) == {"refused": 0}
    ranged = spss(tmp_path, missing_ranges={"sex": [{"lo": 2.0, "hi": 9.0}]})
    assert counted(ranged) == {"men": 1, "women": 0, "others": 0, "none": 5}


def test_the_missing_values_of_stata_are_nulls_whatever_their_letter(tmp_path):
    rows = [1.0, "a", "z", 2.0, None]
    whole = {"men": 1, "women": 1, "others": 0, "none": 3}
    for left_out in (None, *range(len(rows))):
        kept = [one for place, one in enumerate(rows) if place != left_out]
        frame, path = pd.DataFrame({"sex": pd.Series(kept, dtype=object)}), tmp_path / "people.dta"
        values = {"sex": sorted({one for one in kept if isinstance(one, str)})}
        labels = {"sex": {1: "men", 2: "women"}}
        pyreadstat.write_dta(frame, path, variable_value_labels=labels, missing_user_values=values)
        level = None if left_out is None else {1.0: "men", 2.0: "women"}.get(rows[left_out], "none")
        assert counted(path) == {name: count - (name == level) for name, count in whole.items()}


def test_labels_are_text_in_the_encoding_of_their_file(tmp_path):
    path = spss(tmp_path)
    assert counted(path, {"town": ["Zürich", "Genève"]}, by="town") == {"Zürich": 3, "Genève": 2}


def test_a_draft_has_the_labels_of_codes_but_not_of_missing_values(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    frame = pd.concat([PEOPLE] * 20).assign(age=[float(one % 90) for one in range(120)], code=["M", "F"] * 60)
    labels = {**LABELS, "age": {98: "98 or more", 99: "unknown"}}
    spss(tmp_path, frame, labels, missing_ranges={"sex": [9.0], "age": [99.0]})
    assert run(["check", "people.sav", "--draft-domain", "draft.toml"]) == 0
    said = capsys.readouterr().out
    assert "1: men, 2: women" in said
    assert "refused" not in said
    draft = (tmp_path / "draft.toml").read_text("utf-8")
    with pytest.raises(ArgumentError, match="not_private_draft"):
        ggdp.plan_table("sex", GOAL, "draft.toml", unit="row")
    (tmp_path / "draft.toml").write_text(draft.replace("not_private_draft = true", ""), "utf-8")
    domain = ggdp.Domain.from_toml("draft.toml")
    # A code without a label is its own.
    assert domain["sex"].levels == (1, 2, 3)
    assert domain["sex"].labels == ("men", "women", "3", "missing")
    # Labels of some ages are no list of levels.
    assert (domain["age"].kind, str(domain["age"].values_in)) == ("open", "0 to 100 in steps of 1")
    assert counted("people.sav", "draft.toml") == {"men": 20, "women": 40, "3": 20, "missing": 40}


@pytest.mark.parametrize(
    ("levels", "labelled"),
    [(["men", "women"], True), (["1", "men"], True), (["1", "+2", "-3.0"], False), ([1, 2], False), (["1.5"], True)],
)
def test_levels_are_labels_unless_all_of_them_are_numbers(levels, labelled):
    request = TableRequest("sex", GOAL, {"sex": levels}, unit="row")
    assert request.reading["labelled"] == (["sex"] if labelled else [])
