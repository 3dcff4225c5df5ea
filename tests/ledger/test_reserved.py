"""Reserved laws: fixed before the first release, proved together, and used up one by one."""

import pytest
from tests.ledger.books import calibrated, laplace, pure

import ggdp
from ggdp.errors import ArgumentError, BudgetExceededError, LedgerError
from ggdp.ledger.charging import ChargeRequest
from ggdp.ledger.ledger import overview

BUDGET = ggdp.ApproxDP(1.0, 1e-6)
WEEKLY = ggdp.Mechanism(calibrated(ggdp.PureDP(0.025), order=1))
YEARLY = ggdp.Mechanism(calibrated(ggdp.ApproxDP(0.25, 1e-8), order=2))


@pytest.fixture
def ledger(tmp_path):
    return ggdp.Ledger.create(tmp_path / "year.ledger", BUDGET, accounting="reserved")


def test_laws_are_used_up_one_by_one(ledger):
    assert ledger.reserve([(WEEKLY, 2), YEARLY]) <= 1e-6
    for expected in (1, 2):
        assert ledger.charge(WEEKLY).number == expected
    with pytest.raises(BudgetExceededError, match="used up: it was reserved 2 times; 1 use of other"):
        ledger.charge(WEEKLY)
    assert ledger.charge(YEARLY).number == 3
    assert sum(ledger.remaining().laws.values()) == 0
    assert ledger.spent().epsilon == 1
    ledger.verify()


def test_more_is_reserved_than_sums_would_allow(ledger):
    ledger.reserve([(WEEKLY, 52)])
    assert 52 * 0.025 > 1
    assert sum(ledger.remaining().laws.values()) == 52


def test_what_is_reserved_in_parts_must_keep_the_budget_together(ledger):
    ledger.reserve([(WEEKLY, 40)])
    with pytest.raises(BudgetExceededError, match="have together, at epsilon = 1, a delta of up to"):
        ledger.reserve([(WEEKLY, 200)])
    assert sum(ledger.remaining().laws.values()) == 40
    ledger.reserve([(WEEKLY, 12)])
    assert sum(ledger.remaining().laws.values()) == 52
    assert ledger.verify().number == 2


def test_a_law_that_is_not_reserved_is_refused(ledger):
    ledger.reserve([WEEKLY])
    with pytest.raises(BudgetExceededError, match="its law is not reserved; 1 use of reserved laws remains"):
        ledger.charge(YEARLY)
    assert not ledger.would_allow(YEARLY)
    assert ledger.would_allow(WEEKLY)


def test_a_refusal_says_in_words_which_noise_is_left_and_which_was_asked_for(ledger):
    ledger.reserve([(laplace(40.0), 2), pure(0.125)])
    ledger.charge(pure(0.125))
    for attempt in (ledger.charge, ledger.require_fit):
        with pytest.raises(BudgetExceededError) as refused:
            attempt(laplace(8.0))
        assert str(refused.value).endswith(
            "2 uses of reserved laws remain: 2 of integer noise of order 1 and scale 40 for 1 cell that moves by 1; "
            "the release has integer noise of order 1 and scale 8 for 1 cell that moves by 1"
        )


def test_an_overview_says_in_words_which_noise_is_reserved(ledger):
    ledger.reserve([(laplace(40.0), 2), pure(0.125)])
    ledger.reserve([laplace(40.0)])
    ledger.charge(laplace(40.0))
    noise, response = overview(ledger)["reserved"]
    assert noise == {
        "law": laplace(40.0).law,
        "noise": "integer noise of order 1 and scale 40 for 1 cell that moves by 1",
        "reserved": 3,
        "left": 2,
    }
    assert (response["noise"], response["left"]) == ("any mechanism with epsilon = 0.125 and delta = 0", 1)


def test_nothing_is_reserved_after_the_first_release(ledger):
    ledger.reserve([(WEEKLY, 2)])
    ledger.charge(WEEKLY)
    with pytest.raises(LedgerError, match="before the first release"):
        ledger.reserve([WEEKLY])


def test_a_release_known_by_its_guarantee_is_a_law_too(ledger):
    ledger.reserve([(pure(0.5), 1), (laplace(8.0), 2)])
    ledger.charge(pure(0.5))
    ledger.charge(laplace(8.0))
    with pytest.raises(BudgetExceededError):
        ledger.charge(pure(0.5))


def test_only_a_ledger_with_reserved_accounting_reserves(tmp_path):
    ledger = ggdp.Ledger.create(tmp_path / "x.ledger", BUDGET)
    with pytest.raises(LedgerError, match="sum accounting"):
        ledger.reserve([WEEKLY])


@pytest.mark.parametrize(("laws", "argument"), [([], "laws"), ([(WEEKLY, 0)], "count"), ([3], "request")])
def test_wrong_laws_are_refused(ledger, laws, argument):
    with pytest.raises(ArgumentError) as refused:
        ledger.reserve(laws)
    assert refused.value.argument == argument


def test_laws_of_other_neighbours_are_not_reserved(ledger):
    with pytest.raises(LedgerError, match="neighbours"):
        ledger.reserve([ggdp.PureDP(0.1, "replace-one")])


def test_caps_of_analysts_are_sums(tmp_path):
    caps = {"ana": ggdp.PureDP(0.05)}
    ledger = ggdp.Ledger.create(tmp_path / "x.ledger", BUDGET, accounting="reserved", analysts=caps)
    ledger.reserve([(WEEKLY, 10)])
    ledger.charge(WEEKLY, analyst="ana")
    ledger.charge(WEEKLY, analyst="ana")
    with pytest.raises(BudgetExceededError, match="cap of the analyst 'ana'"):
        ledger.charge(WEEKLY, analyst="ana")
    assert sum(ledger.remaining().laws.values()) == 8


def test_a_pure_budget_reserves_up_to_its_epsilon(tmp_path):
    ledger = ggdp.Ledger.create(tmp_path / "x.ledger", ggdp.PureDP(1.0), accounting="reserved")
    ledger.reserve([(laplace(4.0), 4)])
    with pytest.raises(BudgetExceededError):
        ledger.reserve([laplace(4.0)])


def test_each_kind_says_what_it_would_have_cost(ledger):
    ledger.reserve([(WEEKLY, 52)])
    for _ in range(8):
        ledger.charge(WEEKLY)
    found = overview(ledger)
    assert found["costs"]["sum"] == {"epsilon": 0.2, "delta": 0.0}
    assert found["costs"]["composed"]["epsilon"] <= 0.2
    assert found["costs"]["renyi"]["epsilon"] > 0.0
    assert (found["entries"], found["records"]) == (8, 9)


def test_a_plot_shows_how_many_uses_are_left(ledger):
    from ggdp.plots.budget_figures import plot_burn_down

    ledger.reserve([(WEEKLY, 3)])
    ledger.charge(WEEKLY)
    assert ledger.burn_down() == [3.0, 2.0]
    assert plot_burn_down(ledger).axes[0].get_ylabel() == "uses left"


def test_what_a_plan_says_of_its_guarantee_does_not_reserve_more_than_its_losses(ledger):
    request = ChargeRequest(guarantee=ggdp.PureDP(0.5, "add-remove"), losses=laplace_losses(20.0))
    with pytest.raises(BudgetExceededError, match="have together"):
        ledger.reserve([request])
    assert ledger.records() == ()


def laplace_losses(epsilon):
    return ggdp.Mechanism(calibrated(ggdp.PureDP(epsilon), order=1)).losses


def test_a_request_that_contradicts_its_losses_is_charged_the_larger_of_both(tmp_path):
    sums = ggdp.Ledger.create(tmp_path / "sum.ledger", ggdp.PureDP(30.0))
    sums.charge(ChargeRequest(guarantee=ggdp.PureDP(1.0, "add-remove"), losses=laplace_losses(0.001)))
    assert float(sums.spent().epsilon) == 1.0
    sums.charge(ChargeRequest(guarantee=ggdp.PureDP(0.5, "add-remove"), losses=laplace_losses(20.0)))
    assert float(sums.spent().epsilon) >= 20.99


@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (0.5, 1e-8), (0.3, 1e-7)])
def test_a_release_with_exactly_the_numbers_of_the_budget_fits(tmp_path, epsilon, delta):
    sums = ggdp.Ledger.create(tmp_path / "exact.ledger", ggdp.ApproxDP(epsilon, delta))
    sums.charge(ggdp.Mechanism(calibrated(ggdp.ApproxDP(epsilon, delta), order=2)))
    assert not sums.would_allow(ggdp.PureDP(1e-9, "add-remove"))


def test_ten_tenths_fit_for_every_mechanism(tmp_path):
    tenths = ggdp.Ledger.create(tmp_path / "tenths.ledger", ggdp.PureDP(1.0))
    for _ in range(10):
        tenths.charge(ggdp.ExponentialMechanism(ggdp.PureDP(0.1), sensitivity=1, candidates=["a", "b"]))
    assert not tenths.would_allow(ggdp.PureDP(1e-9, "add-remove"))
    tenths.verify()


@pytest.mark.parametrize("count", [10**9 + 1, 2**63 - 1, 2**63, 10**30])
def test_more_uses_than_a_composition_has_are_refused_before_anything_is_computed(tmp_path, count):
    ledger = ggdp.Ledger.create(tmp_path / "year.ledger", ggdp.ApproxDP(1.0, 1e-6), accounting="reserved")
    with pytest.raises(ggdp.GgdpError, match=r"count = [0-9]+: must be at most 1,000,000,000"):
        ledger.reserve([(ggdp.PureDP(0.1, "add-remove"), count)])
    assert ledger.head.number == 0
