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
from ggdp.errors import ArgumentError
from ggdp.tables import writing

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
    declared = ggdp.release_table(pa.table({"k": ["a"]}), by="k", goal=PURE, domain={"k": ["=1+1", "'a", "-x"]})
    assert texts_of(declared.to_csv()) == ["=1+1", "'a", "-x"]


@given(st.lists(st.text(st.sampled_from("'=+-@5a.e\t"), max_size=4), unique=True, min_size=1))
def test_no_two_texts_become_one_and_one_apostrophe_less_is_the_text(texts):
    found = writing._harmless(pa.chunked_array([pa.array(texts, pa.string())])).to_pylist()
    assert [text.removeprefix("'") for text in found] == texts
    assert all(text[:1] not in "=@\t" or not text for text in found)


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
    seeded = ggdp.release_table(rows, by="k", goal=PURE, domain={"k": levels}, source=ggdp.SeededSource(seed=1))
    assert "NOT PRIVATE" in seeded._repr_html_()
