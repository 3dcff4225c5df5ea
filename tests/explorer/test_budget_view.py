"""What the view of a budget shows is what the ledger says, and can go to another process and back."""

import pickle
from pathlib import Path

import pytest
from tests.explorer.reading import rows_of, said_of, texts_of

import ggdp
from ggdp.explorer.view import Results
from ggdp.explorer.views.budget_view import BudgetSettings, budget_results
from ggdp.explorer.wording import ExplorerError


def quiet(done: int, expected: int) -> None:
    """Take progress."""


@pytest.fixture
def ledger(tmp_path: Path) -> ggdp.Ledger:
    return ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.ApproxDP(2.0, 1e-6))


def budget(ledger: ggdp.Ledger, epsilon: float, delta: float | None = None, analyst: str | None = None) -> Results:
    goal = {"notion": "pure"} if delta is None else {"notion": "approximate", "delta": delta}
    settings = BudgetSettings(epsilon=epsilon, analyst=analyst or "", **goal)
    return budget_results(str(ledger.path), settings, progress=quiet)


def test_a_new_ledger_has_a_burn_down_and_no_composition(ledger: ggdp.Ledger) -> None:
    found = budget(ledger, 0.5)
    answer = "It would leave epsilon = 1.5, delta = 1e-06. 4 such releases fit, one after another."
    assert texts_of(found)[:5] == ["2", "of epsilon = 2 remains", "0", "was spent", answer]
    assert list(found.files) == ["ledger.csv", "burn-down.svg"]
    assert texts_of(found)[-1] == "Nothing was released yet."
    assert not ledger.entries()


def test_the_people_are_called_what_the_ledger_calls_them(tmp_path: Path) -> None:
    ledger = ggdp.Ledger.create(tmp_path / "workers.ledger", ggdp.PureDP(1.0), unit="workers")
    assert said_of(budget(ledger, 0.5), "protects") == "workers, add-remove neighbours"


@pytest.mark.exhaustive
def test_what_was_released_is_listed_and_composed(ledger: ggdp.Ledger) -> None:
    for _ in range(3):
        ledger.charge(ggdp.PureDP(0.4, "add-remove"))
    found = budget(ledger, 0.7, 1e-7)
    texts = texts_of(found)
    entries = texts[texts.index("published") + 1 :]
    assert [text for text in entries if len(text) == 1] == ["3", "2", "1"]
    assert len(rows_of(found.files["ledger.csv"])) == 3
    assert said_of(found, "head") == ledger.head.hash
    assert "1 such release fits" in texts[4]
    assert list(found.files) == ["ledger.csv", "burn-down.svg", "composition.svg"]
    assert any("2, 1.6, 1.2, 0.8" in text for text in texts)
    assert any("all 3 releases together" in text for text in texts)
    assert texts_of(pickle.loads(pickle.dumps(found))) == texts


def test_what_does_not_fit_is_refused_in_words(ledger: ggdp.Ledger) -> None:
    found = budget(ledger, 2.5)
    assert '<p class="problem">It does not fit: the release does not fit in the budget' in str(found.html["results"])


def test_caps_of_analysts_are_those_of_the_ledger(tmp_path: Path) -> None:
    caps = {"ana": ggdp.PureDP(0.5)}
    ledger = ggdp.Ledger.create(tmp_path / "caps.ledger", ggdp.PureDP(2.0), analysts=caps)
    assert texts_of(budget(ledger, 0.2, analyst="ana"))[:2] == ["0.5", "of epsilon = 0.5 remains"]
    with pytest.raises(ExplorerError, match="no analyst was named; Analyst must be one of 'ana'"):
        budget(ledger, 0.2)


def test_other_kinds_of_accounting_are_shown_too(tmp_path: Path) -> None:
    renyi = ggdp.Ledger.create(tmp_path / "renyi.ledger", ggdp.ApproxDP(2.0, 1e-6), accounting="renyi")
    assert "such releases fit" in texts_of(budget(renyi, 0.1))[4]
    reserved = ggdp.Ledger.create(tmp_path / "reserved.ledger", ggdp.ApproxDP(2.0, 1e-6), accounting="reserved")
    weekly = ggdp.calibrate(ggdp.PureDP(0.1), ggdp.Sensitivity.histogram(), order=1, support="integer")
    reserved.reserve([(ggdp.Mechanism(weekly), 3)])
    texts = texts_of(budget(reserved, 0.1))
    assert texts[:2] == ["3 uses of 1 reserved law", "remain"]
    assert "3 such releases fit" in texts[4]
    assert texts_of(budget(reserved, 0.2))[4].startswith("It does not fit")
