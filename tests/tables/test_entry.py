"""Releases of tables: every cell and no other, the same on every engine, nothing but what was asked for."""

from __future__ import annotations

import json
from itertools import product

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.tables.scripted import Script

import ggdp
from ggdp.errors import ArgumentError
from ggdp.releases import manifest_schema

PURE, APPROX = ggdp.PureDP(1.0), ggdp.ApproxDP(1.0, 1e-6)
PEOPLE = pa.table(
    {
        "sex": ["f", "m", "f", "f", None, "x", "m"],
        "age": [3, 40, 17, 70, 30, 40, None],
        "town": ["a", "b", "b", "c", "a", "a", "b"],
        "person": [1, 2, 1, 3, 4, 5, 2],
    }
)
DOMAIN = ggdp.Domain(
    {"sex": ["f", "m"], "age": {"edges": [0, 18, 65, 120], "missing": "unknown"}, "town": ["a", "b", "c"]}
)
TRUE = {("f", "[0, 18)"): 2, ("f", "[65, 120]"): 1, ("m", "[18, 65)"): 1, ("m", "unknown"): 1}


@pytest.fixture
def noiseless(monkeypatch):
    """Noise of 0, so that what is released is what was counted."""
    from ggdp.sampling import IntegerNoise

    monkeypatch.setattr(IntegerNoise, "sample", lambda _, size, source=None: np.zeros(size, dtype=np.int64))  # noqa: ARG005


def frames(table: pa.Table, folder):
    """The same table on every engine but Spark, which has tests of its own."""
    import duckdb
    import ibis
    import pyarrow.csv
    import pyarrow.parquet

    pyarrow.parquet.write_table(table, folder / "people.parquet")
    pyarrow.csv.write_csv(table, folder / "people.csv")
    rows = table.to_pylist()
    (folder / "people.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return {
        "pyarrow": table,
        "pandas": table.to_pandas(),
        "polars": pl.from_arrow(table),
        "lazy polars": pl.from_arrow(table).lazy(),
        "duckdb": duckdb.connect().from_arrow(table),
        "ibis": ibis.memtable(table),
        "parquet": folder / "people.parquet",
        "csv": str(folder / "people.csv"),
        "jsonl": folder / "people.jsonl",
    }


@pytest.mark.usefixtures("noiseless")
def test_every_cell_of_the_domain_is_released_in_its_order_empty_ones_too():
    release = ggdp.release_table(PEOPLE, by=["sex", "age"], goal=PURE, domain=DOMAIN)
    rows = release.to_arrow().to_pylist()
    keys = list(product(["f", "m"], DOMAIN["age"].labels))
    assert [(row["sex"], row["age"]) for row in rows] == keys
    assert [row["noisy_count"] for row in rows] == [TRUE.get(key, 0) for key in keys]


REQUESTS = {
    "declared": {"by": ["sex", "age"], "goal": PURE},
    "approximate": {"by": ["sex", "age"], "goal": APPROX, "order": 2},
    "replaced": {"by": ["sex", "age"], "goal": PURE, "neighbours": "replace-one", "total": 5, "nonnegative": True},
    "marginals": {"by": [["sex"], ["age", "town"]], "goal": PURE},
    "units": {"by": ["town"], "goal": PURE, "unit": "person", "max_cells": 1},
    "units of marginals": {"by": [["town"], ["sex"]], "goal": PURE, "unit": "person", "max_cells": 2},
    "sparse": {"by": ["sex", "age", "town"], "goal": PURE, "false_cells": 3},
    "sparse units": {"by": ["age", "town"], "goal": PURE, "false_cells": 3, "unit": "person", "max_cells": 1},
    "open": {"by": ["town", "sex"], "goal": ggdp.ApproxDP(5.0, 0.4), "domain": {"sex": ["f", "m"]}},
    "open units": {
        "by": ["town"],
        "goal": ggdp.ApproxDP(5.0, 0.4),
        "domain": None,
        "unit": "person",
        "max_cells": 1,
    },
}


@pytest.mark.parametrize("name", REQUESTS)
def test_with_the_same_bits_every_engine_gives_the_same_release(name, tmp_path):
    request = {"domain": DOMAIN} | REQUESTS[name]
    found = {}
    for engine, frame in frames(PEOPLE, tmp_path).items():
        release = ggdp.release_table(frame, **request, source=ggdp.SeededSource(seed=5))
        found[engine] = [table.to_arrow() for table in release.tables]
    first = found.pop("pyarrow")
    assert sum(table.num_rows for table in first) > 0
    for engine, tables in found.items():
        assert [table.to_pylist() for table in tables] == [table.to_pylist() for table in first], engine
        assert [table.schema for table in tables] == [table.schema for table in first], engine


@pytest.mark.parametrize("name", REQUESTS)
def test_a_seeded_release_is_not_private_and_a_fresh_one_carries_the_guarantee_of_its_plan(name):
    from ggdp.tables.plan import plan_table

    request = {"domain": DOMAIN} | REQUESTS[name]
    seeded = ggdp.release_table(PEOPLE, **request, source=ggdp.SeededSource(seed=1))
    assert seeded.guarantee is None
    assert "NOT private" in seeded.manifest["statement"]
    fresh = ggdp.release_table(PEOPLE, **request)
    assert fresh.guarantee == plan_table(fresh.request).guarantee
    assert fresh.guarantee.implies(request["goal"].after_postprocessing())


@pytest.mark.parametrize("name", REQUESTS)
def test_manifests_follow_their_schema_and_speak_of_rows_or_units_never_of_persons(name):
    release = ggdp.release_table(PEOPLE, **({"domain": DOMAIN} | REQUESTS[name]))
    manifest = release.manifest
    jsonschema.validate(manifest, manifest_schema(), cls=jsonschema.Draft202012Validator)
    json.dumps(manifest, allow_nan=False)
    unit = REQUESTS[name].get("unit")
    said = manifest["statement"]
    assert ("one row" if unit is None else "all rows with one value of the column 'person'") in said
    assert "person's" not in said
    assert "individual" not in said


@pytest.mark.parametrize("name", REQUESTS)
def test_types_and_metadata_follow_from_the_request_alone(name):
    request = {"domain": DOMAIN} | REQUESTS[name]
    empty = ggdp.release_table(PEOPLE.slice(0, 0), **request)
    full = ggdp.release_table(PEOPLE, **request)
    for one, other in zip(empty.tables, full.tables, strict=True):
        assert one.to_arrow().schema.equals(other.to_arrow().schema, check_metadata=True)
        assert one.to_arrow().schema.metadata is None
        assert not any(pa.types.is_dictionary(field.type) for field in other.to_arrow().schema)
        assert one.to_polars().schema == other.to_polars().schema
        assert list(one.to_pandas().columns) == list(other.to_pandas().columns)
        assert not any(isinstance(dtype, pd.CategoricalDtype) for dtype in other.to_pandas().dtypes)


@pytest.mark.usefixtures("noiseless")
def test_levels_of_a_categorical_column_are_not_the_domain():
    frame = pd.DataFrame({"town": pd.Categorical(["a", "a", "z"], categories=["a", "z", "unused"])})
    release = ggdp.release_table(frame, by="town", goal=PURE, domain={"town": ["a", "b"]})
    assert release.to_arrow().to_pylist()[0]["noisy_count"] == 2
    assert release.to_pandas()["town"].tolist() == ["a", "b"]
    with pytest.raises(ArgumentError, match="does not declare column 'town'"):
        ggdp.release_table(frame, by="town", goal=PURE)


@pytest.mark.usefixtures("noiseless")
def test_marginals_are_one_query_with_its_joint_sensitivity():
    release = ggdp.release_table(PEOPLE, by=[["sex"], ["town"]], goal=PURE, domain=DOMAIN)
    assert release.scale == 2.0
    assert [table.to_numpy().tolist() for table in release.tables] == [[3, 2], [3, 3, 1]]
    assert release.guarantee == ggdp.PureDP(1.0, "add-remove")
    with pytest.raises(ArgumentError, match=r"release\.tables\[0\]"):
        release.to_pandas()


@pytest.mark.usefixtures("noiseless")
def test_a_cell_counts_units_and_not_rows_and_a_unit_has_at_most_so_many_cells():
    visits = pa.table({"ward": ["a"] * 50 + list("abc"), "person": [1] * 53})
    domain = {"ward": ["a", "b", "c"]}
    for most in (3, 100):
        all_of_them = ggdp.release_table(visits, by="ward", goal=PURE, domain=domain, unit="person", max_cells=most)
        assert all_of_them.to_numpy().tolist() == [1, 1, 1]
    one = ggdp.release_table(visits, by="ward", goal=PURE, domain=domain, unit="person", max_cells=1)
    assert one.to_numpy().sum() == 1


def test_a_public_total_is_kept_by_every_table():
    request = {"goal": PURE, "domain": DOMAIN, "neighbours": "replace-one", "total": 70}
    release = ggdp.release_table(PEOPLE, by=[["sex"], ["age"]], nonnegative=True, **request)
    for table in release.tables:
        assert table.count.sum() == 70
        assert table.count.min() >= 0
    raw = ggdp.release_table(PEOPLE, by=["sex"], **request)
    assert raw.to_numpy().sum() == 70


def test_intervals_go_by_the_raw_noisy_count(monkeypatch):
    Script(monkeypatch, [2, 3], [-40, 7])
    release = ggdp.release_table(
        pa.table({"x": ["a"] * 2 + ["b"] * 3}), by="x", goal=PURE, domain={"x": ["a", "b"]}, nonnegative=True
    )
    assert release.to_arrow().to_pylist() == [
        {"x": "a", "count": 0, "noisy_count": -40, "lower": -43, "upper": -37},
        {"x": "b", "count": 7, "noisy_count": 7, "lower": 4, "upper": 10},
    ]


def test_a_sparse_table_shows_cells_from_its_threshold_on_with_0_in_the_interval_near_it(monkeypatch):
    domain = ggdp.Domain({f"c{k}": list(range(1000)) for k in range(4)} | {"c4": list(range(20))})
    assert domain.size == 2 * 10**13
    rows = pa.table({name: [5, 5, 7] for name in domain.names[:4]} | {"c4": [1, 1, 2]})
    Script(monkeypatch, [2, 1], [31, 4000])
    release = ggdp.release_table(rows, by=domain.names, goal=PURE, domain=domain, false_cells=1)
    found = release.to_arrow().to_pylist()
    assert [(row["c0"], row["noisy_count"]) for row in found] == [(5, 31), (7, 4000)]
    assert found[0]["lower"] <= 0 < found[0]["upper"]
    assert (found[1]["lower"], found[1]["upper"]) == (3997, 4003)
    assert release.guarantee == ggdp.PureDP(1.0, "add-remove")


def test_an_open_table_shows_no_key_below_its_threshold(monkeypatch):
    rows = pa.table({"town": ["zoo"] * 40 + ["a"] * 40 + ["only one"]})
    Script(monkeypatch, [40, 1, 40], [39, 14, 41])
    release = ggdp.release_table(rows, by="town", goal=APPROX)
    assert [row["town"] for row in release.to_arrow().to_pylist()] == ["a", "zoo"]
    assert isinstance(release.guarantee, ggdp.ApproxDP)


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("name", REQUESTS)
def test_no_rows_and_one_row_are_tables_too(rows, name):
    release = ggdp.release_table(PEOPLE.slice(0, rows), **({"domain": DOMAIN} | REQUESTS[name]))
    if release.request.regime == "declared":
        assert len(release.to_numpy()) == release.request.cells


def test_a_lazy_frame_is_counted_once_and_what_is_returned_draws_nothing():
    looked = []

    def look(frame: pl.DataFrame) -> pl.DataFrame:
        looked.append(len(frame))
        return frame

    lazy = pl.from_arrow(PEOPLE).lazy().map_batches(look)
    release = ggdp.release_table(lazy, by="town", goal=PURE, domain=DOMAIN)
    assert len(looked) == 1
    assert release.to_polars().equals(release.to_polars())
    assert len(looked) == 1


def test_noise_is_drawn_once_for_each_cell(monkeypatch):
    script = Script(monkeypatch, [3, 3, 1], [3, 3, 1])
    release = ggdp.release_table(PEOPLE, by="town", goal=PURE, domain=DOMAIN)
    release.to_arrow(), release.to_pandas(), release.manifest, repr(release)
    assert script.draws == 1


def test_a_release_prints_its_promise_and_first_rows():
    text = repr(ggdp.release_table(PEOPLE, by=["sex", "age"], goal=PURE, domain=DOMAIN))
    assert text.startswith("TableRelease, 1-DP under add-remove neighbours")
    assert "sex x age: 8 rows" in text
    assert "..." in text


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (3, "int"),
        ("nowhere.parquet", "nowhere"),
        (np.zeros((2, 2)), "ndarray"),
    ],
)
def test_what_cannot_be_read_is_named(data, said):
    with pytest.raises(ArgumentError, match=said):
        ggdp.release_table(data, by="town", goal=PURE, domain=DOMAIN)


def test_a_column_that_is_not_there_is_named():
    with pytest.raises(ArgumentError, match="city"):
        ggdp.release_table(PEOPLE, by="city", goal=PURE, domain={"city": ["a"]})


def test_the_key_that_chooses_the_cells_of_units_is_new_for_every_release(monkeypatch):
    from ggdp.tables import entry

    keys = []
    asked = entry.CountQuery

    def recorded(**given):
        keys.append(given["key"])
        return asked(**given)

    monkeypatch.setattr(entry, "CountQuery", recorded)
    for _ in range(3):
        ggdp.release_table(PEOPLE, by="town", goal=PURE, domain=DOMAIN, unit="person", max_cells=1)
    assert len(set(keys)) == 3
    assert {len(key) for key in keys} == {32}


def test_a_statement_says_what_a_count_is_and_whom_it_may_leave_out():
    def said(**request):
        return ggdp.release_table(PEOPLE, **({"by": "town", "goal": PURE, "domain": DOMAIN} | request)).manifest[
            "statement"
        ]

    assert said().startswith("Each count is a number of rows. Rows whose values have no place in the table are counted")
    units = said(unit="person", max_cells=2)
    assert "a number of different values of the column 'person'" in units
    assert "in at most 2 cells of a table" in units
    assert "counts can be too low" in units
    full = {"town": {"levels": ["a"], "other": "o", "missing": "m"}}
    assert "counted nowhere" not in said(domain=full)


def test_a_statement_does_not_say_that_fitted_counts_are_negative_or_do_not_add_up():
    def said(**request):
        request = {"by": "town", "goal": PURE, "domain": DOMAIN, "neighbours": "replace-one", "total": 7} | request
        return ggdp.release_table(PEOPLE, **request).manifest["statement"]

    assert "may be negative" not in said(nonnegative=True)
    assert "may be negative." in said()
    assert "need not add up" not in said()
