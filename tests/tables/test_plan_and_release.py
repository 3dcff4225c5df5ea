"""Releases of tables: every cell and no other, the same on every engine, nothing but what was asked for."""

from __future__ import annotations

import json
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.manifest_schema import VALIDATOR
from tests.tables.scripted import InTurn, Script

import ggdp
from ggdp.errors import ArgumentError, PrivacyWarning

# Small tables show keys only at a delta that no publisher should take.
pytestmark = pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")

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
    from ggdp.noise import IntegerNoise

    monkeypatch.setattr(IntegerNoise, "sample", lambda _, size, rng=None: np.zeros(size, dtype=np.int64))  # noqa: ARG005


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
    assert [row["count"] for row in rows] == [TRUE.get(key, 0) for key in keys]


ROWS_OF_UNITS = {"unit": "person", "max_cells": 2, "count": "rows"}
BARRED = ggdp.Domain(DOMAIN.columns, impossible=[{"sex": "m", "age": "[18, 65)"}, {"age": "unknown"}])
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
    "rows of units": {"by": ["town"], "goal": PURE, "max_rows_per_cell": 3, **ROWS_OF_UNITS},
    "sparse rows of units": {
        "by": ["sex", "age", "town"],
        "goal": PURE,
        "false_cells": 3,
        "max_rows_per_cell": 2,
        **ROWS_OF_UNITS,
    },
    "units cut": {"by": ["town"], "goal": PURE, "unit": "person", "max_cells": 1, "count_cut": 0.2},
    "mixed": {
        "by": [["age"], ["town", "sex"]],
        "goal": ggdp.ApproxDP(5.0, 0.4),
        "order": 1.0,
        "domain": DOMAIN.project(["age", "sex"]),
    },
    "mixed units cut": {
        "by": [["town"], ["age"]],
        "goal": ggdp.ApproxDP(5.0, 0.4),
        "order": 1.0,
        "domain": DOMAIN.project(["age"]),
        "unit": "person",
        "max_cells": 1,
        "count_cut": 0.1,
    },
    "impossible": {"by": ["sex", "age"], "goal": PURE, "domain": BARRED},
    "statistics": {
        "by": ["sex"],
        "goal": PURE,
        "domain": {"sex": ["f", "m"], "age": {"range": [0, 120]}},
        "statistics": [ggdp.Mean("age"), ggdp.Variance("age"), ggdp.Quantile("age", [0.5])],
    },
    "statistics of units": {
        "by": None,
        "goal": PURE,
        "domain": {"age": {"range": [0, 120]}},
        "unit": "person",
        "max_cells": 1,
        "statistics": [ggdp.Mean("age"), ggdp.Sum("age"), ggdp.Quantile("age", [0.25, 0.5])],
    },
    "sparse impossible": {"by": ["sex", "age", "town"], "goal": PURE, "domain": BARRED, "false_cells": 3},
}
# Requests in which units are cut.
CUT = {"mixed units cut"}


def in_one_cell(table):
    """A table with as many rows of each person, all like the first one."""
    firsts = {}
    return pa.Table.from_pylist([firsts.setdefault(row["person"], row) for row in table.to_pylist()], table.schema)


# Every time a third of the engines for each request: others for the next one, so that each has five or six requests.
@pytest.mark.parametrize("part", [0, *(pytest.param(part, marks=pytest.mark.exhaustive) for part in (1, 2))])
@pytest.mark.parametrize("name", REQUESTS)
def test_with_the_same_bits_every_engine_gives_the_same_release(name, part, tmp_path):
    request = {"domain": DOMAIN} | REQUESTS[name]
    # Which of several cells a person keeps is another choice on every engine.
    people = PEOPLE if "unit" not in request else in_one_cell(PEOPLE)
    first, *others = frames(people, tmp_path).items()
    found = {}
    for engine, frame in [first, *others[(list(REQUESTS).index(name) + part) % 3 :: 3]]:
        release = ggdp.release_table(frame, **request, rng=ggdp.SeededSource(seed=5))
        found[engine] = [table.to_arrow() for table in release.tables]
    if name in CUT:
        # Which cells of a unit are kept is each engine's own choice, the same with the same bits.
        again = ggdp.release_table(frame, **request, rng=ggdp.SeededSource(seed=5))
        assert [table.to_arrow() for table in again.tables] == found[engine]
        return
    first = found.pop("pyarrow")
    assert sum(table.num_rows for table in first) > 0
    for engine, tables in found.items():
        assert [table.to_pylist() for table in tables] == [table.to_pylist() for table in first], engine
        assert [table.schema for table in tables] == [table.schema for table in first], engine


@pytest.mark.parametrize("name", REQUESTS)
def test_a_seeded_release_is_not_private_and_a_fresh_one_carries_the_guarantee_of_its_plan(name):
    from ggdp.tables.table_plan import plan_request

    request = {"domain": DOMAIN} | REQUESTS[name]
    seeded = ggdp.release_table(PEOPLE, **request, rng=ggdp.SeededSource(seed=1))
    assert seeded.guarantee is None
    assert "NOT private" in seeded.manifest["statement"]
    fresh = ggdp.release_table(PEOPLE, **request)
    assert fresh.guarantee == plan_request(fresh.request).guarantee
    assert fresh.guarantee.implies(request["goal"].after_postprocessing())


@pytest.mark.parametrize("name", REQUESTS)
def test_manifests_follow_their_schema_and_speak_of_rows_or_units_never_of_persons(name):
    release = ggdp.release_table(PEOPLE, **({"domain": DOMAIN} | REQUESTS[name]))
    manifest = release.manifest
    VALIDATOR.validate(manifest)
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
    assert release.to_arrow().to_pylist()[0]["count"] == 2
    assert release.to_pandas()["town"].tolist() == ["a", "b"]
    with pytest.raises(ArgumentError, match="no domain is given: declare its levels"):
        ggdp.release_table(frame, by="town", goal=PURE)


@pytest.mark.usefixtures("noiseless")
def test_marginals_are_one_query_with_its_joint_sensitivity():
    release = ggdp.release_table(PEOPLE, by=[["sex"], ["town"]], goal=PURE, domain=DOMAIN, order=1)
    assert release.plan.mechanism.scale == 2.0
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
        {"x": "a", "count": 0, "noisy_count": -40, "lower": 0, "upper": 0},
        {"x": "b", "count": 7, "noisy_count": 7, "lower": 4, "upper": 10},
    ]


def test_only_tables_that_may_not_be_negative_have_intervals_that_start_at_0(monkeypatch):
    def ends(**request):
        Script(monkeypatch, [2, 3], [1, 7])
        rows = pa.table({"x": ["a"] * 2 + ["b"] * 3})
        table = ggdp.release_table(rows, by="x", goal=PURE, domain={"x": ["a", "b"]}, **request).tables[0]
        return table.lower.tolist(), table.upper.tolist()

    assert ends() == ([-2, 4], [4, 10])
    assert ends(nonnegative=True) == ([0, 4], [4, 10])


def test_a_sparse_table_shows_cells_from_its_threshold_on_with_0_in_the_interval_near_it(monkeypatch):
    domain = ggdp.Domain({f"c{k}": list(range(1000)) for k in range(4)} | {"c4": list(range(20))})
    assert domain.size == 2 * 10**13
    rows = pa.table({name: [5, 5, 7] for name in domain.names[:4]} | {"c4": [1, 1, 2]})
    Script(monkeypatch, [2, 1], [31, 4000])
    release = ggdp.release_table(rows, by=domain.names, goal=PURE, domain=domain, false_cells=1)
    found = release.to_arrow().to_pylist()
    assert [(row["c0"], row["count"]) for row in found] == [(5, 31), (7, 4000)]
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
    for table, regime, size in zip(release.tables, release.request.regimes, release.request.sizes, strict=True):
        assert regime != "declared" or len(table) == size


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
    from ggdp.tables import noisy_counts

    keys = []
    asked = noisy_counts.CountQuery

    def recorded(**given):
        keys.append(given["key"])
        return asked(**given)

    monkeypatch.setattr(noisy_counts, "CountQuery", recorded)
    for _ in range(3):
        ggdp.release_table(PEOPLE, by="town", goal=PURE, domain=DOMAIN, unit="person", max_cells=1)
    assert len(set(keys)) == 3
    assert {len(key) for key in keys} == {32}


def test_a_statement_says_what_a_count_is_and_whom_it_may_leave_out():
    def said(**request):
        return ggdp.release_table(PEOPLE, **({"by": "town", "goal": PURE, "domain": DOMAIN} | request)).manifest[
            "statement"
        ]

    first = "These numbers carry random noise that protects privacy. Each count is a number of rows. "
    assert said().startswith(f"{first}Rows whose values fit no cell are not counted.")
    units = said(unit="person", max_cells=2)
    assert "a number of different values of the column 'person'" in units
    assert "in at most 2 cells of a table" in units
    assert "counts can be too low" in units
    full = {"town": {"levels": ["a"], "other": "o", "missing": "m"}}
    assert "not counted" not in said(domain=full)


@pytest.mark.usefixtures("noiseless")
def test_a_cell_counts_so_many_rows_of_a_unit():
    visits = pa.table({"ward": ["a"] * 50 + list("abc") + ["b"] * 4, "person": [1] * 53 + [2] * 4})
    request = {"by": "ward", "goal": PURE, "domain": {"ward": ["a", "b", "c"]}, "unit": "person", "count": "rows"}
    every = ggdp.release_table(visits, **request, max_cells=3, max_rows_per_cell=100)
    assert every.to_numpy().tolist() == [51, 5, 1]
    few = ggdp.release_table(visits, **request, max_cells=3, max_rows_per_cell=3)
    assert few.to_numpy().tolist() == [3, 4, 1]
    assert (few.plan.mechanism.scale, every.plan.mechanism.scale) == (9.0, 300.0)
    assert "at most 3 rows are counted in a cell" in few.manifest["statement"]
    assert set(few.to_arrow()["covers"].to_pylist()) == {"rows counted, at most 3 rows in a cell for each of the units"}


@pytest.mark.usefixtures("noiseless")
def test_cells_that_cannot_occur_are_not_published_and_have_no_noise():
    release = ggdp.release_table(PEOPLE, by=["sex", "age"], goal=PURE, domain=BARRED)
    keys = [
        key for key in product(["f", "m"], DOMAIN["age"].labels) if key[1] != "unknown" and key != ("m", "[18, 65)")
    ]
    rows = release.to_arrow().to_pylist()
    assert [(row["sex"], row["age"]) for row in rows] == keys
    assert [row["count"] for row in rows] == [TRUE.get(key, 0) for key in keys]
    said = release.manifest["table"]
    assert said["request"]["impossible"] == [{"sex": "m", "age": "[18, 65)"}, {"age": "unknown"}]
    assert said["cells"] == 5


def test_a_sparse_table_never_shows_a_cell_that_cannot_occur():
    domain = ggdp.Domain(
        {"a": list(range(100)), "b": list(range(100))}, impossible=[{"a": k} for k in range(0, 100, 2)]
    )
    rows = pa.table({"a": [2, 3] * 50, "b": [5] * 100})
    found = ggdp.release_table(rows, by=["a", "b"], goal=PURE, domain=domain, false_cells=300)
    shown = found.to_arrow()
    assert 0 < shown.num_rows < 1000
    assert {a % 2 for a in shown["a"].to_pylist()} == {1}
    assert (3, 5) in set(zip(shown["a"].to_pylist(), shown["b"].to_pylist(), strict=True))
    assert found.release.mechanism.threshold.cells == 5000


def test_declared_tables_are_complete_beside_an_open_one(monkeypatch):
    rows = pa.table({"sex": ["f"] * 40 + ["m"] * 30 + ["f"], "town": ["zoo"] * 70 + ["only one"]})
    draws = InTurn(monkeypatch, [([41, 30], [-2, 33]), ([1, 70], [14, 71])])
    release = ggdp.release_table(rows, by=[["sex"], ["town"]], goal=APPROX, domain={"sex": ["f", "m"]})
    assert not draws.scripts
    sex, town = (table.to_arrow().to_pylist() for table in release.tables)
    assert [(row["sex"], row["count"]) for row in sex] == [("f", -2), ("m", 33)]
    assert [row["town"] for row in town] == ["zoo"]
    # Declared cells were not chosen by their noise: their intervals are plain.
    h = int(release.release.mechanism.law.half_width(0.95))
    assert [(row["lower"], row["upper"]) for row in sex] == [(-2 - h, -2 + h), (33 - h, 33 + h)]
    assert release.guarantee.implies(APPROX)
    said = release.manifest
    assert [table["regime"] for table in said["table"]["tables"]] == ["declared", "open"]
    assert "every cell of sex, which is complete" in said["statement"]
    assert "values may be negative" in said["statement"]


def test_python_warns_of_a_large_epsilon_and_of_a_large_delta():
    with pytest.warns(PrivacyWarning, match="epsilon = 11 is above 10"):
        ggdp.release_table(PEOPLE, by="town", goal=ggdp.PureDP(11.0), domain=DOMAIN)
    with pytest.warns(PrivacyWarning, match="fully exposed") as said:
        ggdp.release_table(PEOPLE, by="town", goal=ggdp.ApproxDP(1.0, 0.1), domain=DOMAIN)
    # It points to the line that asked for it.
    assert said[0].filename == __file__


def test_no_statement_has_errors_of_no_size():
    release = ggdp.release_table(PEOPLE, by="town", goal=ggdp.PureDP(100.0), domain=DOMAIN)
    assert "its root mean square error is below 0.001" in release.manifest["statement"]
    assert "e-2" not in release.manifest["statement"]


def test_units_have_the_name_that_they_are_given():
    request = {"by": "town", "goal": PURE, "domain": DOMAIN, "unit": "person", "max_cells": 2, "unit_name": "patients"}
    release = ggdp.release_table(PEOPLE, **request)
    said = release.manifest["statement"]
    assert "Each count is a number of patients: different values of the column 'person'." in said
    assert "(one of the patients)" in said
    assert release.manifest["table"]["unit"]["name"] == "patients"
    assert release.tables[0].covers == "patients counted, at most 2 cells each"
    rows = ggdp.release_table(PEOPLE, by="town", goal=PURE, domain=DOMAIN, unit_name="patients").manifest["statement"]
    assert "a number of rows, one for each of the patients." in rows


def test_what_intervals_cover_stands_in_the_table_only_where_bounding_can_cut():
    request = {"by": [["town"], ["sex"]], "goal": PURE, "domain": DOMAIN, "unit": "person", "max_cells": 2}
    town, sex = ggdp.release_table(PEOPLE, **request).tables
    assert set(town.to_arrow()["covers"].to_pylist()) == {"units counted, at most 2 cells each"}
    assert "covers" not in sex.to_arrow().column_names
    manifest = ggdp.release_table(PEOPLE, **request).manifest
    described = [table["tableSchema"]["columns"] for table in manifest["table"]["tables"]]
    assert [columns[-1]["name"] for columns in described] == ["covers", "upper"]
    assert "units counted, at most 2 cells each" in described[0][-2]["dc:description"]
    assert "in at most 2 cells of town" in manifest["statement"]
    assert "not what is left out" in manifest["statement"]


def test_more_cells_than_a_table_has_cost_no_more_than_it_has():
    wards = {"by": "town", "goal": PURE, "domain": DOMAIN, "unit": "person"}
    release = ggdp.release_table(PEOPLE, **wards, max_cells=1000)
    assert release.plan.mechanism.scale == 3.0
    said = release.manifest["table"]
    assert (said["request"]["max_cells"], said["tables"][0]["max_cells"]) == (1000, 3)
    assert ggdp.release_table(PEOPLE, **wards, max_cells=1000, neighbours="replace-one").plan.mechanism.scale == 3.0


def test_a_statement_does_not_say_that_fitted_counts_are_negative_or_do_not_add_up():
    def said(**request):
        request = {"by": "town", "goal": PURE, "domain": DOMAIN, "neighbours": "replace-one", "total": 7} | request
        return ggdp.release_table(PEOPLE, **request).manifest["statement"]

    assert "may be negative" not in said(nonnegative=True)
    assert "may be negative." in said()
    assert "may not add up" not in said()


def test_one_of_several_tables_is_found_by_its_columns():
    release = ggdp.release_table(PEOPLE, [["sex"], ["sex", "town"]], goal=PURE, domain=DOMAIN)
    assert release["sex"] is release.tables[0]
    assert release["sex", "town"] is release["town", "sex"] is release["sex x town"] is release.tables[1]
    for wrong in ("town", ("sex", "age"), "x", 0, ["sex"]):
        with pytest.raises(ArgumentError, match="is not one of the tables: 'sex', "):
            release[wrong]


@pytest.mark.parametrize(
    "by",
    [
        pl.col("sex"),
        [pl.col("sex")],
        ["sex", pl.col("town")],
        [["sex", pl.col("town")]],
        pd.Series(["secret"]),
        [pd.Series(["secret"])],
        pl.Series(["secret"]),
        pl.DataFrame({"sex": ["secret"]}),
    ],
    ids=["expression", "list", "second", "nested", "pandas", "list of pandas", "polars", "frame"],
)
def test_expressions_and_columns_of_frames_are_refused_as_names_without_a_value(by):
    with pytest.raises(ArgumentError, match="must be a sequence of names of columns") as refused:
        ggdp.plan_table(by, PURE, DOMAIN)
    assert refused.value.argument == "by"
    assert "secret" not in str(refused.value)
