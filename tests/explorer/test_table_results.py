"""What the views of tables and budgets show is what the library computes, and can go to another process and back."""

import csv
import io
import pickle
from pathlib import Path

import pytest

import ggdp
from ggdp.errors import GgdpError
from ggdp.explorer.releasing import Asked
from ggdp.explorer.simulated_table import Simulation, simulated_table
from ggdp.explorer.table_results import budget_results, check_results, dots_results, of_bundled, table_results
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


@pytest.fixture
def ledger(tmp_path: Path) -> ggdp.Ledger:
    return ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.ApproxDP(2.0, 1e-6))


def budget(ledger: ggdp.Ledger, epsilon: float, delta: float | None = None, analyst: str | None = None):
    return budget_results(str(ledger.path), epsilon, delta, 1, analyst, progress=quiet)


def test_a_new_ledger_has_a_burn_down_and_no_composition(ledger: ggdp.Ledger) -> None:
    found = budget(ledger, 0.5)
    assert found.headlines == (("2", "of epsilon = 2 remains"), ("0", "was spent"))
    assert found.answer == "It would leave epsilon = 1.5, delta = 1e-06. 4 such releases fit, one after another."
    assert len(found.pictures) == 1
    assert not found.entries
    assert not ledger.entries()


def test_what_was_released_is_listed_and_composed(ledger: ggdp.Ledger) -> None:
    for _ in range(3):
        ledger.charge(ggdp.PureDP(0.4, "add-remove"))
    found = budget(ledger, 0.7, 1e-7)
    assert [row[0] for row in found.entries] == ["3", "2", "1"]
    assert len(rows_of(found.csv)) == 3
    assert dict(found.ledger)["head"] == ledger.head.hash
    assert "1 such release fits" in found.answer
    burn_down, composition = found.pictures
    assert "2, 1.6, 1.2, 0.8" in burn_down.description
    assert "all 3 releases together" in composition.description
    assert pickle.loads(pickle.dumps(found)) == found


def test_what_does_not_fit_is_refused_in_words(ledger: ggdp.Ledger) -> None:
    found = budget(ledger, 2.5)
    assert found.refused
    assert found.answer.startswith("It does not fit: the release does not fit in the budget")


def test_caps_of_analysts_are_those_of_the_ledger(tmp_path: Path) -> None:
    caps = {"ana": ggdp.PureDP(0.5)}
    ledger = ggdp.Ledger.create(tmp_path / "caps.ledger", ggdp.PureDP(2.0), analysts=caps)
    assert budget(ledger, 0.2, analyst="ana").headlines[0] == ("0.5", "of epsilon = 0.5 remains")
    with pytest.raises(PageError, match="no analyst was named; Analyst must be one of 'ana'"):
        budget(ledger, 0.2)


def test_other_kinds_of_accounting_are_shown_too(tmp_path: Path) -> None:
    renyi = ggdp.Ledger.create(tmp_path / "renyi.ledger", ggdp.ApproxDP(2.0, 1e-6), accounting="renyi")
    assert "such releases fit" in budget(renyi, 0.1).answer
    reserved = ggdp.Ledger.create(tmp_path / "reserved.ledger", ggdp.ApproxDP(2.0, 1e-6), accounting="reserved")
    weekly = ggdp.calibrate(ggdp.PureDP(0.1), ggdp.Sensitivity.histogram(), order=1, support="integer")
    reserved.reserve([(ggdp.Mechanism(weekly), 3)])
    found = budget(reserved, 0.1)
    assert found.headlines[0] == ("3 uses of 1 reserved law", "remain")
    assert "3 such releases fit" in found.answer
    assert budget(reserved, 0.2).refused
