"""What the view of a budget shows is what the ledger says, and can go to another process and back."""

import csv
import io
import pickle
from pathlib import Path

import pytest

import ggdp
from ggdp.explorer.budget_results import BudgetResults, budget_results
from ggdp.explorer.typed_table import PageError


def quiet(done: int, expected: int) -> None:
    """Take progress."""


def rows_of(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode())))


@pytest.fixture
def ledger(tmp_path: Path) -> ggdp.Ledger:
    return ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.ApproxDP(2.0, 1e-6))


def budget(
    ledger: ggdp.Ledger, epsilon: float, delta: float | None = None, analyst: str | None = None
) -> BudgetResults:
    return budget_results(str(ledger.path), epsilon, delta, 1, analyst, progress=quiet)


def test_a_new_ledger_has_a_burn_down_and_no_composition(ledger: ggdp.Ledger) -> None:
    found = budget(ledger, 0.5)
    assert found.headlines == (("2", "of epsilon = 2 remains"), ("0", "was spent"))
    assert found.answer == "It would leave epsilon = 1.5, delta = 1e-06. 4 such releases fit, one after another."
    assert len(found.pictures) == 1
    assert not found.entries
    assert not ledger.entries()


def test_the_people_are_called_what_the_ledger_calls_them(tmp_path: Path) -> None:
    ledger = ggdp.Ledger.create(tmp_path / "workers.ledger", ggdp.PureDP(1.0), unit="workers")
    assert dict(budget(ledger, 0.5).ledger)["protects"] == "workers, add-remove neighbours"


@pytest.mark.exhaustive
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
