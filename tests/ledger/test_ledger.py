"""A ledger charges what fits, refuses what does not, and says why."""

import json
import pickle
import subprocess
import sys
from datetime import UTC, datetime
from fractions import Fraction

import pytest
from tests.ledger.books import balance, edit, laplace, pure, query

import ggdp
from ggdp.errors import (
    ArgumentError,
    ArgumentTypeError,
    BudgetExceededError,
    LedgerError,
    MissingExtraError,
    TamperingError,
)
from ggdp.ledger import ChargeRequest
from ggdp.ledger.ledger import overview

RENYI = ggdp.ApproxDP(1.0, 1e-6)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "people.ledger"


@pytest.fixture
def ledger(path):
    return ggdp.Ledger.create(path, ggdp.ApproxDP(1.0, 1e-6))


def test_importing_ggdp_loads_neither_sqlalchemy_nor_alembic():
    code = "import ggdp, ggdp.ledger, ggdp.tables, sys; print(' '.join(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"sqlalchemy", "alembic", "psycopg"} & set(loaded)


def test_opening_a_ledger_and_charging_it_loads_no_alembic(path, ledger):
    code = (
        "import ggdp, sys; ggdp.Ledger(sys.argv[1]).charge(ggdp.PureDP(0.5, 'add-remove'));print(' '.join(sys.modules))"
    )
    command = [sys.executable, "-c", code, str(path)]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert not {"alembic", "psycopg"} & set(loaded)
    assert ledger.remaining().epsilon == Fraction("0.5")


def test_charges_are_numbered_and_add_up(ledger):
    numbers = [ledger.charge(laplace(4.0)).number for _ in range(4)]
    assert numbers == [1, 2, 3, 4]
    assert ledger.spent() == balance("1", "0")
    assert ledger.remaining() == balance("0", "0.000001")


def test_a_ledger_that_is_opened_again_is_the_same(path, ledger):
    ledger.charge(laplace(4.0))
    again = ggdp.Ledger(path)
    assert (again.identity, again.head, again.remaining()) == (ledger.identity, ledger.head, ledger.remaining())
    assert again.budget == balance("1", "0.000001")


def test_what_does_not_fit_is_refused_and_changes_nothing(path, ledger):
    ledger.charge(laplace(2.0))
    before, content = ledger.head, path.read_bytes()
    with pytest.raises(BudgetExceededError, match=r"largest epsilon that fits at this delta is 0\.5$") as refused:
        ledger.charge(pure(0.75))
    assert refused.value.requested == balance("0.75", "0")
    assert refused.value.remaining == balance("0.5", "0.000001")
    assert ledger.head == before
    assert path.read_bytes() == content


def test_an_error_of_the_budget_survives_pickling():
    error = BudgetExceededError("too much", requested=balance(1), remaining=balance(0))
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.requested, again.remaining) == ("too much", error.requested, error.remaining)


def test_would_allow_says_what_charge_does_and_charges_nothing(ledger):
    assert ledger.would_allow(pure(1.0))
    assert not ledger.would_allow(pure(1.25))
    assert ledger.would_allow(ggdp.ApproxDP(0.5, 1e-6, "add-remove"))
    assert not ledger.would_allow(ggdp.ApproxDP(0.5, 2e-6, "add-remove"))
    assert ledger.entries() == ()


def test_an_entry_holds_request_losses_guarantee_charge_and_statement(ledger):
    request = laplace(4.0, unit="person", request={"by": ["sex"]}, statement="These values are noisy.")
    ledger.charge(request, analyst="ana")
    (entry,) = ledger.entries()
    assert entry.request == request
    assert (entry.analyst, entry.charge, entry.files) == ("ana", {"epsilon": "0.25", "delta": "0"}, None)
    assert entry.guarantee == ggdp.PureDP(0.25, "add-remove")
    assert entry.losses == request.losses
    assert entry.reference.to_dict() == {"identity": ledger.identity, "entry": 1}
    assert abs((datetime.now(UTC) - datetime.fromisoformat(entry.time)).total_seconds()) < 3600


def test_published_files_are_recorded_once_and_charge_nothing(ledger):
    entry, digest = ledger.charge(laplace(4.0)), "ab" * 32
    spent = ledger.spent()
    ledger.record_publication(entry, {"table.csv": digest})
    assert ledger.entries()[0].files == {"table.csv": digest}
    assert ledger.spent() == spent
    assert ledger.charge(laplace(4.0)).number == 2
    with pytest.raises(ArgumentError, match="recorded already"):
        ledger.record_publication(1, {"table.csv": digest})
    with pytest.raises(ArgumentError, match="not the number of an entry"):
        ledger.record_publication(3, {"table.csv": digest})
    with pytest.raises(ArgumentError, match="SHA-256"):
        ledger.record_publication(2, {"table.csv": "short"})
    ledger.verify()


def test_an_entry_of_another_ledger_is_not_recorded_here(ledger, tmp_path):
    other = ggdp.Ledger.create(tmp_path / "other.ledger", ggdp.PureDP(1.0))
    ledger.charge(laplace(4.0))
    with pytest.raises(ArgumentError, match="not of this ledger"):
        ledger.record_publication(other.charge(laplace(4.0)), {})


def test_other_neighbours_are_refused(ledger):
    with pytest.raises(LedgerError, match="replace-one neighbours and the ledger for add-remove"):
        ledger.charge(ggdp.PureDP(0.1, "replace-one"))
    assert ledger.entries() == ()


def test_a_guarantee_without_neighbours_is_refused(ledger):
    with pytest.raises(ArgumentError, match="neighbours"):
        ledger.charge(ggdp.PureDP(0.1))


def test_another_unit_is_refused_and_one_that_is_not_named_is_the_ledgers(ledger):
    with pytest.raises(LedgerError, match="protects 'households' and the ledger 'person'"):
        ledger.charge(pure(0.1, unit="households"))
    assert ledger.charge(pure(0.1, unit=" Person ")).number == 1
    assert ledger.charge(pure(0.1)).number == 2


def test_a_ledger_that_has_charged_for_one_unit_refuses_another(path, ledger):
    ledger.charge(pure(0.1))
    ledger.charge(pure(0.1, protects="person_id"))
    before = ledger.head
    for attempt in (ledger.charge, ledger.would_allow, ggdp.Ledger(path).charge):
        with pytest.raises(LedgerError, match="protects 'row' where earlier releases protect 'person_id': their"):
            attempt(pure(0.1, protects="row"))
    assert ledger.head == before
    assert ledger.charge(pure(0.1, protects="person_id")).number == 3
    assert ledger.charge(pure(0.1)).number == 4
    ledger.verify()


def test_a_release_that_names_the_unit_of_the_ledger_may_take_another_column_for_it(ledger):
    ledger.charge(pure(0.1, protects="person_id"))
    ledger.charge(pure(0.1, protects="row", unit="Person"))
    with pytest.raises(LedgerError, match="where earlier releases protect 'person_id'"):
        ledger.charge(pure(0.1, protects="row"))
    ledger.verify()


@pytest.mark.parametrize("column", [True, False])
def test_row_in_earlier_records_is_a_column_only_if_their_request_says_so(ledger, column):
    """Version 0.1.0 wrote "row" of both; its records and their hashes stay."""
    ledger.charge(pure(0.1))
    ledger.charge(pure(0.1, protects="row", request={"unit": "row" if column else None}))
    same, other = ("column row", "row") if column else ("row", "column row")
    for attempt in (ledger.charge, ledger.what_if):
        with pytest.raises(LedgerError, match=f"protects '{other}' where earlier releases protect '{same}'"):
            attempt(pure(0.1, protects=other))
    ledger.charge(pure(0.1, protects=same))
    assert [entry.request.protects for entry in ledger.entries()] == [None, same, same]
    assert ledger.records()[-1].totals.endswith('"protects":"row"}')
    ledger.verify()


def test_what_a_request_protects_is_a_name():
    with pytest.raises(ArgumentTypeError, match="protects = 3"):
        pure(0.1, protects=3)


def test_what_is_no_request_is_refused_without_being_shown(ledger):
    with pytest.raises(ArgumentTypeError, match="request = 'list'"):
        ledger.charge([17, 18])


def test_caps_of_analysts_hold_under_the_common_budget(path):
    caps = {"ana": ggdp.PureDP(0.5), "ben": ggdp.PureDP(0.75)}
    ledger = ggdp.Ledger.create(path, ggdp.PureDP(1.0), analysts=caps)
    ledger.charge(laplace(2.0), analyst="ana")
    with pytest.raises(BudgetExceededError, match="cap of the analyst 'ana'") as refused:
        ledger.charge(laplace(8.0), analyst="ana")
    assert refused.value.remaining.epsilon == Fraction("0")
    ledger.charge(laplace(2.0), analyst="ben")
    assert ledger.remaining("ben").epsilon == Fraction("0.25")
    with pytest.raises(BudgetExceededError, match="fit in the budget"):
        ledger.charge(laplace(4.0), analyst="ben")
    ledger.verify()


@pytest.mark.parametrize(("analyst", "said"), [(None, "no analyst was named"), ("eve", "'eve' has none")])
def test_a_ledger_with_caps_knows_its_analysts(path, analyst, said):
    ledger = ggdp.Ledger.create(path, ggdp.PureDP(1.0), analysts={"ana": ggdp.PureDP(0.5)})
    with pytest.raises(LedgerError, match=f"{said}.*must be one of 'ana'"):
        ledger.charge(laplace(4.0), analyst=analyst)
    with pytest.raises(ArgumentError, match="analyst"):
        ledger.remaining("eve")


def test_creating_never_replaces_a_file(path, ledger):
    with pytest.raises(LedgerError, match="already exists"):
        ggdp.Ledger.create(path, ggdp.PureDP(5.0))
    assert ggdp.Ledger(path).identity == ledger.identity


@pytest.mark.parametrize(
    ("wrong", "argument"),
    [
        ({"accounting": "guess"}, "accounting"),
        ({"accounting": None}, "accounting"),
        ({"neighbours": "friends"}, "neighbours"),
        ({"unit": ""}, "unit"),
        ({"unit": 3}, "unit"),
        ({"analysts": ["ana"]}, "analysts"),
        ({"analysts": {"": ggdp.PureDP(1.0)}}, "analysts"),
        ({"analysts": {"ana": "1"}}, "analysts"),
        ({"analysts": {"ana": 0.0}}, "analysts"),
        ({"analysts": {"ana": 1.5}}, "analysts"),
        ({"analysts": {"ana": ggdp.PureDP(1.5)}}, "analysts"),
        ({"analysts": {"ana": ggdp.ApproxDP(1.0, 1e-6)}}, "analysts"),
        ({"budget": RENYI, "accounting": "renyi", "analysts": {"ana": ggdp.PureDP(1.0)}}, "analysts"),
        ({"budget": RENYI, "accounting": "renyi", "analysts": {"ana": ggdp.ApproxDP(0.01, 1e-6)}}, "analysts"),
        ({"budget": ggdp.ApproxDP(1e6, 1e-6), "accounting": "renyi"}, "accounting"),
        ({"budget": "1"}, "budget"),
        ({"budget": 0.0}, "budget"),
        ({"budget": ggdp.PureDP(1.0, "replace-one")}, "budget"),
    ],
)
def test_a_wrong_argument_is_named_and_no_file_is_made(path, wrong, argument):
    given = {"budget": ggdp.PureDP(1.0)} | wrong
    with pytest.raises(ArgumentError) as refused:
        ggdp.Ledger.create(path, given.pop("budget"), **given)
    assert refused.value.argument == argument
    assert not path.exists()


def test_a_cap_where_laws_are_reserved_is_a_sum_and_may_be_above_the_proved_total(path):
    cap = {"ana": ggdp.PureDP(1.3)}
    ledger = ggdp.Ledger.create(path, ggdp.ApproxDP(1.0, 1e-6), accounting="reserved", analysts=cap)
    assert ledger.remaining("ana").epsilon == Fraction("1.3")


def test_a_ledger_of_an_epsilon_too_large_for_renyi_orders_is_still_shown(path):
    ledger = ggdp.Ledger.create(path, ggdp.ApproxDP(1e6, 1e-6))
    assert overview(ledger)["costs"]["renyi"] is None


def test_stopping_by_the_composed_loss_is_refused_with_the_reason(path):
    with pytest.raises(ArgumentError, match=r"not sound.*2602\.06756"):
        ggdp.Ledger.create(path, ggdp.ApproxDP(1.0, 1e-6), accounting="composed")


@pytest.mark.parametrize("url", ["mysql://host/base", "", "a\0b", 3, b"x"])
def test_a_url_of_another_kind_is_refused(url):
    with pytest.raises(ArgumentError, match="url"):
        ggdp.Ledger(url)


def test_a_server_without_its_driver_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtraError, match=r"pip install 'ggdp\[postgres\]'"):
        ggdp.Ledger("postgresql://nobody@localhost/none")


def test_a_password_is_never_shown():
    with pytest.raises(LedgerError) as refused:
        ggdp.Ledger("postgresql://nobody:secret@127.0.0.1:1/none")
    assert "cannot be reached" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_clock_that_jumps_back_does_not_matter(ledger, monkeypatch):
    times = iter(["2031-01-01T00:00:00.000000+00:00", "1999-01-01T00:00:00.000000+00:00"])
    monkeypatch.setattr("ggdp.ledger.ledger.now", lambda: next(times))
    ledger.charge(laplace(4.0))
    ledger.charge(laplace(4.0))
    assert [entry.time[:4] for entry in ledger.entries()] == ["2031", "1999"]
    ledger.verify()


def test_a_ledger_that_was_exchanged_for_another_is_not_charged(path, ledger, tmp_path):
    ggdp.Ledger.create(tmp_path / "new.ledger", ggdp.PureDP(9.0))
    (tmp_path / "new.ledger").replace(path)
    with pytest.raises(LedgerError, match="another ledger now"):
        ledger.charge(laplace(4.0))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE ggdp_records SET totals = replace(totals, '0.5', '0.1')",
        "UPDATE ggdp_ledger SET epsilon = '9'",
        "UPDATE ggdp_ledger SET unit = 'row'",
        "DELETE FROM ggdp_records",
    ],
)
def test_a_charge_does_not_build_on_a_last_record_or_a_budget_that_was_changed(path, ledger, change):
    ledger.charge(laplace(2.0))
    edit(path, change)
    before = query(path, "SELECT count(*) FROM ggdp_records")
    for opened in (ledger, ggdp.Ledger(path)):
        with pytest.raises(TamperingError, match="was changed"):
            opened.charge(laplace(4.0))
    assert query(path, "SELECT count(*) FROM ggdp_records") == before


@pytest.mark.parametrize("kind", ["jsonl", "csv"])
def test_an_export_has_every_record(ledger, kind):
    ledger.record_publication(ledger.charge(laplace(4.0)), {"a.csv": "0" * 64})
    lines = ledger.export(kind).splitlines()
    if kind == "jsonl":
        records = [json.loads(line) for line in lines]
        assert [record["kind"] for record in records] == ["charge", "publication"]
        assert records[0]["content"]["charge"] == {"delta": "0", "epsilon": "0.25"}
    else:
        assert lines[0] == "number,kind,entry,time,analyst,content,totals,previous,hash"
        assert len(lines) == 3


def test_a_request_must_be_ready_for_json():
    for wrong in ({"a": object()}, {"a": float("nan")}, [1]):
        with pytest.raises(ArgumentError, match="request"):
            ChargeRequest(guarantee=ggdp.PureDP(1.0, "add-remove"), request=wrong)


def test_losses_must_be_records_of_losses():
    with pytest.raises(ArgumentError, match="losses"):
        ChargeRequest(guarantee=ggdp.PureDP(1.0, "add-remove"), losses=[1.0])


def test_releases_of_the_same_losses_have_the_same_law():
    (first,), (second,) = laplace(4.0).losses, laplace(8.0).losses
    both = [
        ChargeRequest(guarantee=ggdp.PureDP(0.375, "add-remove"), losses=pair)
        for pair in ((first, second), (second, first))
    ]
    assert both[0].law == both[1].law
    assert len({laplace(4.0).law, laplace(8.0).law, both[0].law, pure(0.25).law}) == 4
