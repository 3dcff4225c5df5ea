"""Released tables as people meet them: in spreadsheets, notebooks and as CSV text."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ggdp
from ggdp.errors import ArgumentError, PrivacyWarning
from ggdp.tables import output_files
from ggdp.tables.request import TableRequest

APPROX, PURE = ggdp.ApproxDP(1.0, 1e-6), ggdp.PureDP(1.0)
FORMULAS = [
    "=1+1",
    "+cmd",
    "-x",
    "@SUM(A1)",
    "\tz",
    "\r=1",
    "\n=1",
    "'=1+1",
    "'",
    "=",
    "+",
    "-",
    "-5;=x",
    "-5\n=x",
    "+-5",
    "\uff1d1",
    "\uff20x",
]
HARMLESS = ["-5", "+1e5", "-.5", "5", "x=1", "a'b", " =1", "", "-0.25", "+7."]


def released(keys):
    rows = pa.table({"k": [key for key in keys for _ in range(400)]})
    return ggdp.release_table(rows, by="k", goal=APPROX)


def texts_of(content):
    _, *rows = csv.reader(io.StringIO(content, newline=""))
    return [row[0] for row in rows]


def test_no_open_key_is_a_formula_in_a_csv_file(tmp_path):
    release = released(FORMULAS + HARMLESS)
    release.write(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="", encoding="utf-8") as file:
        found = texts_of(file.read())
    true = release.to_arrow()["k"].to_pylist()
    assert sorted(true) == sorted(FORMULAS + HARMLESS)
    assert dict(zip(true, found, strict=True)) == {
        **{key: f"'{key}" for key in FORMULAS},
        **{key: key for key in HARMLESS},
    }
    assert "apostrophe" in release.manifest["table"]["tables"][0]["tableSchema"]["columns"][0]["dc:description"]


def test_parquet_files_and_frames_keep_the_text_and_declared_levels_are_the_publishers_own(tmp_path):
    release = released(FORMULAS)
    release.write(tmp_path / "out.parquet")
    assert sorted(pq.read_table(tmp_path / "out.parquet")["k"].to_pylist()) == sorted(FORMULAS)
    with pytest.warns(PrivacyWarning, match="'=1\\+1', '-x' of 'k': a spreadsheet"):
        declared = ggdp.release_table(pa.table({"k": ["a"]}), by="k", goal=PURE, domain={"k": ["=1+1", "'a", "-x"]})
    assert texts_of(declared.to_csv()) == ["=1+1", "'a", "-x"]
    assert declared.manifest["table"]["warnings"] == list(declared.request.warnings)


@pytest.mark.parametrize("text", [text for text in FORMULAS if not text.startswith("'")])
@pytest.mark.parametrize(
    ("name", "declared"),
    [
        ("k", lambda text: ["a", text]),
        ("k", lambda text: {"levels": ["a"], "other": text}),
        ("k", lambda text: {"levels": [1, 2], "missing": text}),
        ("k", lambda text: {"edges": [0, 1, 2], "labels": ["a", text]}),
        (None, lambda _: ["a"]),
    ],
)
def test_who_declares_a_formula_is_warned_when_the_release_is_planned(name, declared, text):
    column = text if name is None else name
    (warning,) = TableRequest(by=column, goal=PURE, domain={column: declared(text)}).warnings
    assert repr(text) in warning
    assert "rename them, or publish a Parquet file" in warning


def test_harmless_labels_numbers_and_open_columns_have_no_warning_and_many_formulas_have_one():
    declared = {"k": [text for text in HARMLESS if text], "n": [-1, 2], "b": {"edges": [-1, 0, 1]}}
    assert TableRequest(by=[*declared, "open"], goal=APPROX, domain=declared).warnings == ()
    found = TableRequest(by=["k", "n"], goal=PURE, domain={"k": ["=a", "=b", "=c", "=d", "=e"], "n": ["@x"]}).warnings
    assert [warning.partition(":")[0] for warning in found] == ["'=a', '=b', '=c' and 2 more of 'k'; '@x' of 'n'"]


@given(st.lists(st.text(st.sampled_from("'=+-@5a.e\t\uff0b"), max_size=4), unique=True, min_size=1))
def test_no_two_texts_become_one_and_one_apostrophe_less_is_the_text(texts):
    found = output_files._harmless(pa.chunked_array([pa.array(texts, pa.string())])).to_pylist()
    assert [text.removeprefix("'") for text in found] == texts
    assert all(text[:1] not in "=@\t\uff0b" or not text for text in found)


def test_csv_text_is_what_is_written(tmp_path):
    release = released(["a", "b,c"])
    assert release.to_csv(tmp_path / "out.csv") is None
    assert (tmp_path / "out.csv").read_bytes().decode() == release.to_csv()
    assert (tmp_path / "out.manifest.json").exists()
    with pytest.raises(ArgumentError, match="already exists"):
        release.to_csv(tmp_path / "out.csv")
    with pytest.raises(ArgumentError, match=r"must end in \.csv"):
        release.to_csv(tmp_path / "out.parquet")


def test_a_notebook_shows_the_guarantee_and_the_first_rows_escaped():
    levels = ["<script>alert(1)</script>", "a & b", *(f"level {k}" for k in range(20))]
    rows = pa.table({"k": ["a & b"], "u": [1]})
    release = ggdp.release_table(rows, by="k", goal=PURE, domain={"k": levels}, unit="u", max_cells=2, unit_name="<b>")
    page = release._repr_html_()
    assert "1-DP under add-remove neighbours" in page
    assert "<script>" not in page
    assert "&lt;script&gt;" in page
    assert "a &amp; b" in page
    assert page.count("<tr>") == 11
    assert "12 more" in page
    assert "&lt;b&gt; counted, at most 2 cells each" in page
    seeded = ggdp.release_table(rows, by="k", goal=PURE, domain={"k": levels}, rng=ggdp.SeededSource(seed=1))
    assert "NOT PRIVATE" in seeded._repr_html_()
