"""What a release would leave is what it leaves, and as many fit as are said to fit."""

import pytest

import ggdp
from ggdp.errors import ArgumentError, BudgetExceededError, LedgerError

GOAL = ggdp.Mechanism(
    ggdp.calibrate(ggdp.ApproxDP(0.3, 1e-8), ggdp.Sensitivity.histogram(), order=2, support="integer")
)


def made(tmp_path, accounting="sum", **options):
    return ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.ApproxDP(2.0, 1e-6), accounting=accounting, **options)


@pytest.mark.parametrize("accounting", ["sum", "renyi"])
def test_as_many_fit_as_are_said_to_fit_and_leave_what_is_said(tmp_path, accounting):
    ledger = made(tmp_path, accounting)
    ledger.charge(ggdp.PureDP(0.1, "add-remove"))
    head = ledger.head
    found = ledger.what_if(GOAL)
    assert ledger.head == head
    assert found.refusal is not None
    assert 0 < found.fitting < 100
    ledger.charge(GOAL)
    assert ledger.remaining() == found.remaining
    for _ in range(found.fitting - 1):
        ledger.charge(GOAL)
    assert tuple(ledger.burn_down()[2:]) == found.left
    with pytest.raises(BudgetExceededError) as refused:
        ledger.charge(GOAL)
    assert str(refused.value) == found.refusal


def test_what_does_not_fit_leaves_nothing_and_says_why(tmp_path):
    found = made(tmp_path).what_if(ggdp.PureDP(3.0, "add-remove"))
    assert (found.fitting, found.left, found.remaining) == (0, (), None)
    assert "does not fit in the budget" in found.refusal


def test_no_more_are_counted_than_were_asked_about(tmp_path):
    found = made(tmp_path).what_if(ggdp.PureDP(0.01, "add-remove"), most=7)
    assert (found.fitting, found.refusal) == (7, None)


def test_the_cap_of_an_analyst_counts(tmp_path):
    ledger = made(tmp_path, analysts={"ana": ggdp.PureDP(0.5)})
    found = ledger.what_if(ggdp.PureDP(0.2, "add-remove"), "ana")
    assert found.fitting == 2
    assert "cap of the analyst 'ana'" in found.refusal
    assert found.remaining.epsilon < 0.31
    with pytest.raises(LedgerError, match="no analyst was named"):
        ledger.what_if(GOAL)


def test_without_caps_an_analyst_shares_the_budget(tmp_path):
    ledger = made(tmp_path)
    ledger.charge(ggdp.PureDP(0.3, "add-remove"), "ana")
    assert ledger.what_if(GOAL, "ana") == ledger.what_if(GOAL)
    assert ledger.remaining("ana") == ledger.remaining()
    with pytest.raises(ArgumentError, match=r"analyst = 'ana': has no cap.*`entries\(\)`"):
        ledger.spent("ana")
    with pytest.raises(ArgumentError, match="analyst"):
        ledger.remaining("")
