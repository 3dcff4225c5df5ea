"""Tables with statistics, from the request to what is written: columns, nulls, words, budget, and nothing else."""

from __future__ import annotations

import csv
import json
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.cases import one_in
from tests.manifest_schema import VALIDATOR
from tests.sources.zoo import ENGINES, FILES, as_csv

import ggdp
from ggdp.cli.app import run
from ggdp.errors import ArgumentError, BudgetExceededError
from ggdp.mechanisms.certified_noise import CertifiedNoise
from ggdp.mechanisms.quantiles import CellValues, QuantilePlan
from ggdp.noise import IntegerNoise, MinkowskiNoise

GOAL = ggdp.PureDP(5.0)
DOMAIN = {
    "town": {"levels": ["a", "b", "c"]},
    "age": {"range": [0, 100], "step": 1},
    "debt": {"range": [-50, 50], "step": 0.5},
}
STATISTICS = [ggdp.Sum("debt"), ggdp.Quantile("age", [0.9, 0.5]), ggdp.Mean("age"), ggdp.Variance("age")]
NAMES = ["sum_debt", "quantile_age_0.5", "quantile_age_0.9", "mean_age", "variance_age"]
PEOPLE = pa.table(
    {
        "town": ["a"] * 200 + ["b"] * 3,
        "age": [float(place % 90) for place in range(200)] + [float("nan"), 50.0, None],
        "debt": [str(place - 100) for place in range(202)] + ["none"],
        "who": [f"p{place % 150}" for place in range(203)],
    }
)


def seeded(**options):
    asked = {"by": ["town"], "goal": GOAL, "domain": DOMAIN, "statistics": STATISTICS}
    asked |= {"rng": ggdp.SeededSource(seed=2)}
    return ggdp.release_table(PEOPLE, **asked | options)


def test_columns_come_in_the_order_of_the_request_each_with_its_interval():
    table = seeded().tables[0].to_arrow()
    ends = [name + end for name in NAMES for end in ("", "_lower", "_upper")]
    assert [name for name in table.column_names if name not in ("noisy_count",)] == [
        "town",
        "count",
        "lower",
        "upper",
        *ends,
    ]
    assert all(str(table.schema.field(name).type) == "double" for name in ends)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("options", [{}, {"unit": "who", "max_cells": 2}, {"neighbours": "replace-one"}])
def test_values_are_inside_of_intervals_inside_of_ranges_and_null_only_where_nothing_is_known(seed, options):
    found = seeded(rng=ggdp.SeededSource(seed=seed), **options).tables[0].to_arrow().to_pylist()
    bounds = {name: (0.0, 100.0) for name in NAMES if "age" in name} | {"variance_age": (0.0, 2500.0)}
    for row in found:
        for name, (least, most) in bounds.items():
            value, lower, upper = (row[name + end] for end in ("", "_lower", "_upper"))
            assert least <= lower <= upper <= most
            if value is None:
                assert (lower, upper) == (least, most)
            else:
                assert lower <= value <= upper
    whole, _, empty = found
    assert whole["mean_age"] == pytest.approx(43, abs=8)
    assert whole["mean_age_upper"] - whole["mean_age_lower"] < 10
    # Nobody lives in c.
    assert empty["mean_age"] is None or empty["mean_age_upper"] - empty["mean_age_lower"] > 50


def test_intervals_of_many_releases_hold_what_is_true():
    """Each at its level of 95 %; of 36 intervals, 10 misses would be no accident."""
    ages = [place % 90 for place in range(200)]
    truth = {"mean_age": np.mean(ages), "variance_age": np.var(ages)}
    truth["sum_debt"] = sum(min(max(place - 100, -50), 50) for place in range(200))
    missed = 0
    for seed in range(12):
        row = seeded(rng=ggdp.SeededSource(seed=seed), statistics=[*STATISTICS[:1], *STATISTICS[2:]])
        row = row.tables[0].to_arrow().to_pylist()[0]
        missed += sum(not row[f"{name}_lower"] <= true <= row[f"{name}_upper"] for name, true in truth.items())
    assert missed < 10


@pytest.mark.parametrize("by", [["town"], None])
def test_manifests_follow_their_schema_and_say_what_is_estimated(by):
    found = ggdp.release_table(PEOPLE, by=by, goal=GOAL, domain=DOMAIN, statistics=STATISTICS, unit="who", max_cells=1)
    manifest = json.loads(json.dumps(found.manifest))
    VALIDATOR.validate(manifest)
    statement = manifest["statement"]
    for part in (
        "clamped and rounded to public ranges",
        "'age': 0 to 100 in steps of 1",
        "'debt': -50 to 50 in steps of 0.5",
        "what is not a number is left out",
        "For sum_debt each unit has one value in a cell",
        "A variance is the mean squared distance",
        "Exponential mechanism",
        "left empty",
    ):
        assert part in statement, part
    assert found.guarantee == ggdp.PureDP(5.0, "add-remove")
    assert len(found.tables[0]) == (3 if by else 1)
    assert ggdp.compose([found]).basic == found.guarantee
    html = found._repr_html_()
    assert "mean_age" in html
    assert "mean_age" in repr(found)


def test_noise_from_a_seed_has_no_guarantee():
    assert seeded().guarantee is None
    assert "no guarantee" in seeded().manifest["statement"] or "not private" in seeded().manifest["statement"]


def test_negative_counts_are_published_as_0_and_statistics_stay():
    for seed in range(2):
        plain = seeded(rng=ggdp.SeededSource(seed=seed)).tables[0].to_arrow()
        clipped = seeded(rng=ggdp.SeededSource(seed=seed), nonnegative=True).tables[0].to_arrow()
        assert min(clipped["count"].to_pylist()) >= 0
        assert clipped.select(NAMES).equals(plain.select(NAMES))


def test_files_hold_the_table_with_its_nulls(tmp_path):
    # Of a table of empty cells some value is null.
    nobody = PEOPLE.slice(0, 0)
    for name in ("out.csv", "out.parquet"):
        found = ggdp.release_table(
            nobody,
            by=["town"],
            goal=GOAL,
            domain=DOMAIN,
            statistics=STATISTICS,
            rng=ggdp.SeededSource(seed=1),
            out=tmp_path / name,
            overwrite=True,
        )
        table = found.tables[0].to_arrow()
        assert table["mean_age"].null_count > 0
        if name.endswith("csv"):
            with (tmp_path / name).open(newline="") as lines:
                rows = list(csv.DictReader(lines))
            read = [float(row["mean_age"]) if row["mean_age"] else None for row in rows]
        else:
            read = pq.read_table(tmp_path / name)["mean_age"].to_pylist()
        assert read == table["mean_age"].to_pylist()
    assert found.to_csv().count("\n") == 1 + len(found.tables[0])


@pytest.mark.parametrize("by", [["town"], None])
def test_a_statistic_can_be_drawn(by, tmp_path):
    found = seeded(by=by, out=tmp_path / "out.csv", plot=tmp_path / "out.png")
    assert (tmp_path / "out.png").read_bytes().startswith(b"\x89PNG")
    assert len(found.tables[0]) == (3 if by else 1)


def test_every_engine_releases_the_same_bits():
    first = None
    for engine, frame in ENGINES.items():
        data = frame(PEOPLE)
        found = ggdp.release_table(
            data,
            by=["town"],
            goal=GOAL,
            domain=DOMAIN,
            statistics=STATISTICS,
            rng=ggdp.SeededSource(seed=9),
        )
        table = found.tables[0].to_arrow()
        first = first or table
        assert table.equals(first), engine


@pytest.mark.parametrize("source", [*ENGINES, *FILES])
def test_rows_are_counted_where_no_column_is_counted_by_and_none_is_added_up(source, tmp_path):
    data = ENGINES[source](PEOPLE) if source in ENGINES else FILES[source](PEOPLE, tmp_path)
    quantiles = [ggdp.Quantile("age", [0.5])]
    found = ggdp.release_table(data, by=None, goal=GOAL, domain=DOMAIN, statistics=quantiles)
    # Noise of scale 0.4 is never 25 from 0.
    assert found.tables[0].to_arrow()["count"].to_pylist() == pytest.approx([203], abs=25)


def test_a_column_that_has_no_numbers_is_refused_before_the_charge(tmp_path):
    ledger = ggdp.Ledger.create(tmp_path / "ledger.db", ggdp.PureDP(8.0))
    days = pa.table({"town": ["a"], "age": pa.array([1], pa.date32()), "debt": ["1"]})
    asked = {"by": ["town"], "goal": GOAL, "domain": DOMAIN, "statistics": STATISTICS, "ledger": ledger}
    with pytest.raises(ArgumentError, match="statistics = 'age': is a column of kind date"):
        ggdp.release_table(days, **asked, analyst="me", out=tmp_path / "out.csv")
    assert not ledger.entries()
    ggdp.release_table(PEOPLE, **asked, analyst="me", out=tmp_path / "out.csv")
    assert len(ledger.entries()) == 1
    with pytest.raises(BudgetExceededError):
        ggdp.release_table(PEOPLE, **asked, analyst="me", out=tmp_path / "more.csv")
    assert len(ledger.entries()) == 1
    assert not list(tmp_path.glob("more*"))


# One row of somebody, whom a careless program would trip over.
STRANGERS = {
    "a new cell": ("c", 3, "7"),
    "no number": ("a", None, "x"),
    "far outside": ("a", 2**63 - 1, "9" * 40),
    "beyond the floats": ("b", -(2**63), "1e400"),
    "nothing": (None, None, None),
    "no utf-8 digit": ("a", 7, "٣"),
    "half a step": ("b", 50, "0.25"),
}


@pytest.mark.parametrize(("stranger", "kind", "unit"), one_in(9, product(STRANGERS, ["csv", "parquet"], [None, "who"])))
def test_neighbours_that_release_the_same_sums_release_the_same_files(
    tmp_path, monkeypatch, capfd, stranger, kind, unit
):
    """With noise that leads to the same noisy sums, all that is written and printed is the same, byte by byte."""
    rows = [("a", 30, "10", "p1"), ("a", 60, "-3", "p2"), ("b", 10, "0", "p1")]
    true = []
    add = CertifiedNoise.add

    def seen(noise, sums, bits):
        true.append(sums)
        return add(noise, sums, bits)

    def sample(_, size, *, rng=None):
        del rng
        (exact,) = true
        # Quantiles have noise of their own, for their intervals.
        return np.arange(exact.size) * 10**6 - exact if size == exact.size else np.zeros(size, np.int64)

    draw = QuantilePlan.draw

    def drawn(plan, values, bits):
        del values
        nothing = np.zeros(0, np.int64)
        del bits
        return draw(plan, CellValues.of(nothing, nothing, nothing, cells=3), ggdp.SeededSource(seed=4))

    monkeypatch.setattr(CertifiedNoise, "add", seen)

    def vectors(_, size, *, rng=None):
        del rng
        (exact,) = true
        return (np.arange(exact.size) * 10**6 - exact).reshape(size, -1)

    monkeypatch.setattr(IntegerNoise, "sample", sample)
    monkeypatch.setattr(MinkowskiNoise, "sample", vectors)
    monkeypatch.setattr(QuantilePlan, "draw", drawn)
    outcomes = []
    for number, people in enumerate([rows, [*rows, (*STRANGERS[stranger], "p9")]]):
        folder = tmp_path / str(number)
        folder.mkdir()
        monkeypatch.chdir(folder)
        true.clear()
        columns = dict(zip(("town", "age", "debt", "who"), zip(*people, strict=True), strict=True))
        table = pa.table({name: pa.array(values) for name, values in columns.items()})
        if kind == "csv":
            as_csv(table, folder)
        else:
            pq.write_table(table, folder / "table.parquet")
        typed = [
            "release",
            f"table.{kind}",
            "--epsilon",
            "1",
            "--levels",
            "town=a,b,c",
            "--by",
            "town",
            "--out",
            "o.csv",
        ]
        typed += ["--range", "age=0:100", "--range", "debt=-50:50:0.5", "--mean", "age", "--sum", "debt"]
        typed += ["--variance", "debt", "--quantile", "age=0.5", "--plot", "o.svg"]
        typed += [] if unit is None else ["--unit", unit, "--max-cells", "2"]
        code = run(typed)
        said = capfd.readouterr()
        assert code == 0, said.err
        assert len(true) == 1
        files = {file.name: file.read_bytes() for file in folder.iterdir() if not file.name.startswith("table.")}
        outcomes.append((said.out, said.err, files))
    assert outcomes[0] == outcomes[1]
    assert set(outcomes[0][2]) == {"o.csv", "o.manifest.json", "o.svg"}


def test_a_dry_run_needs_no_data(capsys):
    typed = ["release", "nowhere.csv", "--epsilon", "1", "--mean", "age", "--range", "age=0:100", "--dry-run"]
    assert run(typed) == 0
    assert "mean_age" in capsys.readouterr().out
    assert run([*typed, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)
