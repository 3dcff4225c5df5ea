"""What the views of tables show is what the library computes, and can go to another process and back."""

import csv
import io
import pickle
from pathlib import Path

import pytest

import ggdp
from ggdp.errors import GgdpError
from ggdp.explorer.releasing import Asked
from ggdp.explorer.simulated_table import Simulation, simulated_table
from ggdp.explorer.table_results import check_results, dots_results, of_bundled, table_results
from ggdp.explorer.typed_table import PageError, TypedTable

WARDS = TypedTable(by="ward", levels="ward=births,eyes,surgery", epsilon=0.2)


def quiet(done: int, expected: int) -> None:
    """Take progress."""


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


def test_a_simulated_table_is_shown_with_both_figures_and_as_a_file() -> None:
    simulation = Simulation(units=40)
    found = table_results(WARDS, "simulated", simulation, "count")
    shown = simulated_table(WARDS.plan(), simulation)
    assert [float(row["simulated_count"]) for row in rows_of(found.csv)] == shown.original["count"].tolist()
    assert [int(row["noisy_count"]) for row in rows_of(found.csv)] == shown.table.noisy_count.tolist()
    share = round(100 * shown.including_zero)
    assert found.zero == (
        f"{round(3 * shown.including_zero)} of 3",
        f"counts ({share} %) have an interval that includes 0",
    )
    dots = dots_results(WARDS, "simulated", simulation, 20, progress=quiet)
    assert found.picture.description.startswith("The count of 3 cells, simulated and noisy")
    assert dots.description.count("noisy count") == 3
    assert found.said[0].startswith("Simulated, no data are read: 40 rows, cells as likely as 1, 1/2, 1/3")
    assert ("guarantee", "0.2-DP under add-remove neighbours") in found.plan
    assert pickle.loads(pickle.dumps(found)) == found


def test_statistics_are_shown_without_dots_of_counts() -> None:
    table = TypedTable(by="ward", levels="ward=births,eyes", statistics="mean income", ranges="income=0:100")
    found = table_results(table, "simulated", Simulation(), "mean_income", progress=quiet)
    assert dots_results(table, "simulated", Simulation(), 20) is None
    assert found.picture.title == "Mean income, simulated and noisy"
    assert found.columns == ("count", "mean_income")
    assert any("beta(2, 5)" in sentence for sentence in found.said)


def test_a_column_that_is_not_there_any_more_is_shown_as_the_count() -> None:
    found = table_results(WARDS, "simulated", Simulation(), "mean_income")
    assert found.picture.title == "Count, simulated and noisy"


def test_bundled_tables_are_called_public_and_original() -> None:
    table = of_bundled(WARDS, "czech")
    assert table.by == "smoking, mental_work"
    found = table_results(table, "czech", Simulation(), "count")
    assert sum(float(row["original_count"]) for row in rows_of(found.csv)) == 1841
    assert found.said[0].startswith("Public data: Edwards and Havranek")
    assert of_bundled(TypedTable(by="locc, nonsense"), "mildew").levels == "locc=1,2"


def test_wrong_settings_are_refused_in_the_words_of_the_page() -> None:
    with pytest.raises(PageError, match="Count by"):
        table_results(TypedTable(), "simulated", Simulation(), "count")
    many = TypedTable(by="a,b", levels="a=1..200\nb=1..200")
    with pytest.raises(PageError, match=r"Count by.*at most 20,000 are simulated"):
        table_results(many, "simulated", Simulation(), "count")


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
    assert [row[:2] for row in found.rows] == [(str(c["max_cells"]), str(c["plus_minus"])) for c in choices]
    assert found.recommended == units.tables[0]["recommended"]
    assert found.notice.startswith("NOT PRIVATE")
    assert "not private" in found.picture.title
    assert found.said[0].startswith("90 different values of patient in 180 rows")
    assert found.said[1] == "Half of them are in at most 2 cells, 95 of 100 in at most 3, all in at most 3."


def test_a_check_of_a_wrong_file_names_it_as_its_user_does(visits: Path) -> None:
    table = TypedTable(by="ward", levels="ward=a,b", unit="person")
    with pytest.raises(GgdpError, match=r"there is no such column in my visits\.csv") as refused:
        check_results(Asked(table=table, path=str(visits), name="my visits.csv"), progress=quiet)
    assert str(visits) not in str(refused.value)
