"""Simulated tables have the shape, the law and the noise that the page says.

What the views of tables show is what the library computes, and can go to another process and back.
"""

import math
import pickle
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from attrs import evolve
from tests.explorer.reading import rows_of, said_of, texts_of

import ggdp
from ggdp.errors import ArgumentError, GgdpError
from ggdp.explorer.releasing import Asked
from ggdp.explorer.simulated_table import Simulation, show_bundled_table, simulate_table
from ggdp.explorer.typed_table import TypedTable
from ggdp.explorer.views.table_view import TableSettings, bundled_inputs, check_results, dots_results, table_results
from ggdp.explorer.wording import ExplorerError

WARDS = TypedTable(by="ward", levels="ward=births,eyes,surgery")


def test_counts_add_up_to_the_units_that_were_asked_for() -> None:
    shown = simulate_table(WARDS.plan(), Simulation(units=777))
    assert shown.original["count"].sum() == 777
    assert shown.names == ("births", "eyes", "surgery")
    assert shown.origin == "simulated"


def test_a_simulation_is_never_called_private() -> None:
    assert simulate_table(WARDS.plan(), Simulation()).release.guarantee is None


def test_the_same_settings_show_the_same_table_and_another_seed_another() -> None:
    one, again = (simulate_table(WARDS.plan(), Simulation(seed=4)) for _ in range(2))
    other = simulate_table(WARDS.plan(), Simulation(seed=5))
    assert one.table.noisy_count.tolist() == again.table.noisy_count.tolist()
    assert one.table.noisy_count.tolist() != other.table.noisy_count.tolist()


def test_the_first_level_of_a_complete_column_has_its_units() -> None:
    domain = {"ward": {"levels": ["births", "eyes"], "complete": True}}
    plan = ggdp.plan_table("ward", 1.0, domain, unit="row")
    shown = simulate_table(plan, Simulation(units=1000, spread="even")).original["count"]
    assert shown.sum() == 1000
    assert shown.min() > 400


def test_even_cells_are_alike_and_uneven_ones_follow_their_ranks() -> None:
    table = TypedTable(by="ward", levels="ward=1..10").plan()
    even = simulate_table(table, Simulation(units=100_000, spread="even")).original["count"]
    # The standard deviation of a count is below 100.
    assert np.abs(even - 10_000).max() < 700
    uneven = np.sort(simulate_table(table, Simulation(units=100_000)).original["count"])[::-1]
    shares = 1.0 / np.arange(1, 11)
    assert np.abs(uneven - 100_000 * shares / shares.sum()).max() < 1_200


def test_cells_count_different_units() -> None:
    table = TypedTable(by="ward", levels="ward=births,eyes", unit="person", max_cells=2)
    shown = simulate_table(table.plan(), Simulation(units=500, rows=30.0, spread="even"))
    # With 30 rows each, everybody is in both cells.
    assert shown.original["count"].tolist() == [500.0, 500.0]
    assert np.abs(shown.table.count - 500).max() < 60


@pytest.mark.parametrize("unit", [{}, {"unit": "person", "max_cells": 6}])
def test_statistics_before_noise_are_those_that_much_budget_would_publish(unit: dict[str, object]) -> None:
    lines = "mean income\nsum income\nvariance income\nquantile income=0.3,0.5"
    table = TypedTable(
        by="ward, age", levels="ward=births,eyes", bins="age=0,18,65,inf", statistics=lines, ranges="income=0:100",
        epsilon=50_000.0, **unit,
    )  # fmt: skip
    shown = simulate_table(table.plan(), Simulation(units=3_000, rows=3.0 if unit else 1.0))
    for name, original in shown.original.items():
        noisy, lower, upper = shown.estimates(name)
        # Published values are rounded to the step of the range, 1; sums add up as many roundings as there are units.
        allowed = 1.01 if "income" in name else 0.0
        if name == "sum_income":
            allowed = 0.5 * 3_000
        if name == "variance_income":
            allowed = 12.0
        assert np.abs(noisy - original).max() <= allowed, name
        assert lower.size == upper.size == 6


def test_a_column_that_is_binned_and_averaged_has_values_in_its_bins() -> None:
    table = TypedTable(by="age", bins="age=0,18,65,120", statistics="mean age", ranges="age=0:120", epsilon=1_000.0)
    shown = simulate_table(table.plan(), Simulation(units=9_000))
    low, middle, high = shown.original["mean_age"]
    assert 0 < low < 18 < middle < 65 < high < 120


def test_small_cells_of_an_open_column_are_omitted_and_told() -> None:
    shown = simulate_table(TypedTable(by="ward", delta=1e-6).plan(), Simulation(units=300))
    assert shown.omitted > 0
    assert len(shown.names) + shown.omitted <= 20
    assert all(name.startswith("level ") for name in shown.names)


def test_dates_are_counted_in_the_bins_that_they_were_drawn_for() -> None:
    table = TypedTable(by="seen", bins="seen=2024-01-01:2025-01-01:quarter", epsilon=1_000.0)
    shown = simulate_table(table.plan(), Simulation(units=400))
    assert shown.table.noisy_count.tolist() == shown.original["count"].tolist()


def test_the_share_of_intervals_that_include_zero_is_counted() -> None:
    shown = simulate_table(TypedTable(by="ward", levels="ward=1..40", epsilon=0.05).plan(), Simulation(units=200))
    table = shown.table
    within = Counter(bool(low <= 0 <= high) for low, high in zip(table.lower, table.upper, strict=True))
    assert shown.including_zero == within[True] / 40 > 0.5


def test_bundled_tables_are_shown_as_they_were_published() -> None:
    table = TypedTable(by="smoking,family_history", levels="smoking=no,yes\nfamily_history=neg,pos").plan()
    shown = show_bundled_table(table, "czech", 1)
    margin = ggdp.datasets.czech().margin("smoking", "family_history")
    assert dict(zip(shown.names, shown.original["count"], strict=True)) == {
        ", ".join(key): count for key, count in margin.items()
    }
    assert shown.origin == "original"
    with pytest.raises(ArgumentError, match="is not a column of this table"):
        show_bundled_table(WARDS.plan(), "czech", 1)


@pytest.mark.parametrize(
    ("simulation", "name"),
    [({"units": 0}, "units"), ({"units": 10**7}, "units"), ({"rows": 0.5}, "rows"), ({"seed": -1}, "seed")],
)
def test_impossible_simulations_are_refused(simulation: dict[str, float], name: str) -> None:
    with pytest.raises(ArgumentError, match=f"^{name} = "):
        Simulation(**simulation)


def test_more_cells_than_can_be_shown_are_refused() -> None:
    with pytest.raises(ArgumentError, match="at most 20,000 are simulated"):
        simulate_table(TypedTable(by="a,b", levels="a=1..200\nb=1..200").plan(), Simulation())


def test_a_table_without_cells_has_no_share() -> None:
    shown = simulate_table(TypedTable(by="ward", delta=1e-9, epsilon=0.1).plan(), Simulation(units=5))
    assert len(shown.names) == 0
    assert math.isnan(shown.including_zero)


@pytest.mark.parametrize(
    "table",
    [
        TypedTable(by="ward", levels="ward=a,b", other="ward=elsewhere", missing="ward=unknown"),
        TypedTable(by="ward", levels="ward=a,b", missing="ward=unknown"),
        TypedTable(by="ward", levels="ward=a,b", other="ward=b"),
        TypedTable(by="ward", levels="ward=a,b", other="ward=unknown", missing="ward=unknown"),
        TypedTable(by="rooms", levels="rooms=1..3", other="rooms=more", missing="rooms=unknown"),
        TypedTable(by="age", bins="age=0,18,inf", other="age=negative", labels="age=child,adult"),
        TypedTable(by="age", bins="age=-inf,18,65", other="age=old", missing="age=unknown"),
        TypedTable(by="day", bins="day=2024-01-01,2024-07-01,2025-01-01", other="day=another", missing="day=unknown"),
    ],
)
def test_other_and_missing_values_are_simulated_too(table):
    shown = simulate_table(evolve(table, epsilon=20.0).plan(), Simulation(units=1000, spread="even"))
    assert shown.original["count"].sum() == 1000
    assert (shown.original["count"] > 0).all()
    # At this epsilon the noise is a few rows: every cell was counted as it was simulated.
    assert np.abs(shown.table.count - shown.original["count"]).max() <= 5


def test_where_every_value_is_declared_there_are_no_others():
    table = TypedTable(by="age", bins="age=-inf,18,inf", other="age=another", epsilon=20.0)
    shown = simulate_table(table.plan(), Simulation(units=1000, spread="even"))
    assert shown.original["count"].sum() == 1000
    assert shown.original["count"].tolist()[shown.names.index("another")] == 0
    assert np.abs(shown.table.count - shown.original["count"]).max() <= 5


VISITS = TableSettings(by="ward", levels="ward=births,eyes,surgery", bins="", epsilon=0.2, units=40)


def quiet(done: int, expected: int) -> None:
    """Take progress."""


def test_a_simulated_table_is_shown_with_both_figures_and_as_a_file() -> None:
    found = table_results(VISITS)
    shown = simulate_table(VISITS.table.plan(), Simulation(units=40))
    rows = rows_of(found.files["ggdp-table.csv"])
    assert [float(row["simulated_count"]) for row in rows] == shown.original["count"].tolist()
    assert [int(row["count"]) for row in rows] == shown.table.noisy_count.tolist()
    share, texts = round(100 * shown.including_zero), texts_of(found)
    zero = f"{round(3 * shown.including_zero)} of 3"
    assert said_of(found, zero) == f"counts ({share} %) have an interval that includes 0"
    dots = dots_results(VISITS, progress=quiet)
    assert any(text.startswith("The count of 3 cells, simulated and noisy") for text in texts)
    assert texts_of(dots)[-1].count("noisy count") == 3
    assert texts[0].startswith("Simulated, no data are read: 40 rows, cells as likely as 1, 1/2, 1/3")
    assert said_of(found, "guarantee") == "0.2-DP under add-remove neighbours"
    assert texts_of(pickle.loads(pickle.dumps(found))) == texts


def test_statistics_are_shown_without_dots_of_counts() -> None:
    settings = evolve(VISITS, statistics="mean income", ranges="income=0:100", column="mean_income")
    found = table_results(settings, progress=quiet)
    assert dots_results(settings) is None
    assert "Mean income, simulated and noisy" in texts_of(found)
    assert found.for_inputs == ("count", "mean_income")
    assert "beta(2, 5)" in texts_of(found)[0]


def test_a_column_that_is_not_there_any_more_is_shown_as_the_count() -> None:
    found = table_results(evolve(VISITS, column="mean_income"))
    assert "Count, simulated and noisy" in texts_of(found)


def test_bundled_tables_are_called_public_and_original() -> None:
    settings = evolve(VISITS, data="czech")
    assert settings.table.by == "smoking, mental_work"
    found = table_results(settings)
    assert sum(float(row["original_count"]) for row in rows_of(found.files["ggdp-table.csv"])) == 1841
    assert texts_of(found)[0].startswith("Public data: Edwards and Havranek")
    assert bundled_inputs(TypedTable(by="locc, nonsense"), "mildew").levels == "locc=1,2"


def test_wrong_settings_are_refused_in_the_words_of_the_page() -> None:
    with pytest.raises(ExplorerError, match="Count by"):
        table_results(evolve(VISITS, by=""))
    with pytest.raises(ExplorerError, match=r"Count by.*at most 20,000 are simulated"):
        table_results(evolve(VISITS, by="a,b", levels="a=1..200\nb=1..200"))
    with pytest.raises(ExplorerError, match=r"units = 1000000.*must be at most 100,000 here"):
        table_results(evolve(VISITS, unit="person", units=1_000_000, rows=10.0))


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    path = tmp_path / "visits.csv"
    wards = ["births", "eyes", "surgery"]
    path.write_text("patient,ward\n" + "".join(f"{n},{ward}\n" for n in range(90) for ward in wards[: 1 + n % 3]))
    return path


def test_cells_per_unit_are_those_of_the_check(visits: Path) -> None:
    table = TypedTable(by="ward", levels="ward=births,eyes,surgery", unit="patient", epsilon=0.5)
    found = check_results(Asked(table=table, path=str(visits), name="my visits.csv"), progress=quiet)
    units = ggdp.check_table(visits, "ward", {"ward": ["births", "eyes", "surgery"]}, unit="patient", epsilon=0.5).units
    choices = units.tables[0]["choices"]
    content = found.files["not-private-cells-per-unit.csv"]
    numbers = [(row["cells per unit"], row["noise, plus-minus"]) for row in rows_of(content)]
    assert numbers == [(str(choice["max_cells"]), str(choice["plus_minus"])) for choice in choices]
    assert content.startswith(b"# NOT PRIVATE")
    texts = texts_of(found)
    assert texts[0] == str(units.tables[0]["recommended"])
    assert "Noise against what is cut off, not private" in texts
    assert "NOT PRIVATE: what each number of cells per unit costs" in texts
    assert any(text.startswith("90 different values of patient in 180 rows") for text in texts)
    assert "Half of them are in at most 2 cells, 95 of 100 in at most 3, all in at most 3." in texts


def test_a_check_of_a_wrong_file_names_it_as_its_user_does(visits: Path) -> None:
    table = TypedTable(by="ward", levels="ward=a,b", unit="person")
    with pytest.raises(GgdpError, match=r"there is no such column in my visits\.csv") as refused:
        check_results(Asked(table=table, path=str(visits), name="my visits.csv"), progress=quiet)
    assert str(visits) not in str(refused.value)
