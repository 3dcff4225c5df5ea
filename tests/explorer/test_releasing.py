"""One confirmation is one release and one charge, whatever else happens meanwhile."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from attrs import evolve
from tests.explorer.awaiting import awaited
from tests.explorer.reading import said_of, texts_of
from tests.sources.damage import invalidating, written

import ggdp
from ggdp.errors import GgdpError
from ggdp.explorer import releasing
from ggdp.explorer.releasing import Asked, Confirmations, Offer, make_offer, publish
from ggdp.explorer.typed_table import TypedTable
from ggdp.explorer.wording import ExplorerError, message_of
from ggdp.explorer.workers import Worker

PROVED, REFUTED = "The certificate was proved again here:", "The certificate does NOT hold:"
TABLE = TypedTable(by="ward", levels="ward=births,eyes", epsilon=0.4)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.csv"
    path.write_text("ward\n" + "births\n" * 300 + "eyes\n" * 120)
    return path


@pytest.fixture
def ledger(tmp_path: Path) -> str:
    ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.PureDP(1.0))
    return str(tmp_path / "people.ledger")


def asked(people: Path, ledger: str | None = None, table: TypedTable = TABLE) -> Asked:
    return Asked(table=table, path=str(people), name="my people.csv", ledger=ledger)


def test_an_offer_says_what_is_spent_and_left_and_charges_nothing(people: Path, ledger: str) -> None:
    offer = make_offer(asked(people, ledger))
    assert offer.cost == "epsilon = 0.4"
    assert "The ledger has epsilon = 1 now. Afterwards: epsilon = 0.6." in str(offer.html)
    assert offer.refusal is None
    assert not ggdp.Ledger(ledger).entries()
    assert "There is no ledger" in str(make_offer(asked(people)).html)


def test_a_column_named_row_is_not_charged_with_each_row(people: Path, ledger: str) -> None:
    table = evolve(TABLE, unit="row", max_cells=1)
    publish(make_offer(asked(people, ledger)))
    with pytest.raises(GgdpError, match="protects 'column row' where earlier releases protect 'row'"):
        make_offer(asked(people, ledger, table))


def test_an_offer_reads_no_data(tmp_path: Path) -> None:
    assert make_offer(asked(tmp_path / "is not there.csv")).cost == "epsilon = 0.4"


def test_a_release_is_charged_once_and_its_files_are_recorded(people: Path, ledger: str) -> None:
    found = publish(make_offer(asked(people, ledger)))
    (entry,) = ggdp.Ledger(ledger).entries()
    names = ["my people-private.csv", "my people-private.manifest.json", "my people-private.svg"]
    # A study and an archive of all go along, which are not published.
    assert list(found.files) == [*names, "study.toml", "my people-private.zip"]
    assert list(entry.files) == names
    manifest = json.loads(found.files[names[1]])
    assert manifest["guarantee"]["epsilon"] == 0.4
    assert manifest["ledger"]["entry"] == 1
    texts = texts_of(found)
    header = found.files[names[0]].decode().splitlines()[0].split(",")
    assert [text for text in texts if text in header] == header
    guarantee = texts.index("0.4-DP under add-remove neighbours")
    assert texts[guarantee + 1] == ". Charged as entry 1; epsilon = 0.6 remains."
    assert texts[guarantee + 2].startswith("No unit is declared")
    assert texts[guarantee + 3] == PROVED
    assert [text for text in texts if text in ("births", "eyes")] == ["births", "eyes"]


def test_an_analyst_of_a_ledger_without_caps_is_recorded(people: Path, ledger: str) -> None:
    offer = make_offer(evolve(asked(people, ledger), analyst="Jane"))
    assert "The ledger has epsilon = 1 now. Afterwards" in str(offer.html)
    assert offer.refusal is None
    assert "Charged as entry 1;" in texts_of(publish(offer))[2]
    assert [entry.analyst for entry in ggdp.Ledger(ledger).entries()] == ["Jane"]


def test_an_analyst_without_a_cap_is_refused_where_others_have_one(people: Path, tmp_path: Path) -> None:
    caps = {"Jane": ggdp.PureDP(0.5)}
    ggdp.Ledger.create(tmp_path / "caps.ledger", ggdp.PureDP(1.0), analysts=caps)
    with pytest.raises(ExplorerError, match="Jane"):
        make_offer(evolve(asked(people, str(tmp_path / "caps.ledger")), analyst="John"))


def test_a_forged_certificate_is_not_called_verified(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ggdp.tables import table_release

    real = table_release.table_manifest

    def forged(*arguments: object, **named: object) -> dict[str, object]:
        manifest = real(*arguments, **named)
        manifest["mechanism"]["certificate"]["proved"] = 0.1
        return manifest

    monkeypatch.setattr(table_release, "table_manifest", forged)
    texts = texts_of(publish(make_offer(asked(people))))
    assert REFUTED in texts
    assert PROVED not in texts


def test_a_guarantee_that_is_not_that_of_the_certificate_is_not_called_verified(
    people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ggdp.tables import table_release

    real = table_release.table_manifest

    def forged(*arguments: object, **named: object) -> dict[str, object]:
        manifest = real(*arguments, **named)
        manifest["guarantee"]["epsilon"] = 0.1
        return manifest

    monkeypatch.setattr(table_release, "table_manifest", forged)
    assert "guarantee.epsilon is 0.1, but" in said_of(publish(make_offer(asked(people))), REFUTED)


def test_a_certificate_says_what_of_the_guarantee_it_is_not_about(tmp_path: Path) -> None:
    incomes = tmp_path / "incomes.csv"
    incomes.write_text("income\n" + "10\n" * 50)
    table = TypedTable(statistics="mean income\nquantile income=0.5", ranges="income=0:100")
    found = publish(make_offer(asked(incomes, table=table)))
    assert "the rest of the guarantee is spent on choosing the quantiles" in said_of(found, PROVED)


def test_releases_until_the_budget_is_spent_are_refused_then(people: Path, ledger: str) -> None:
    for _ in range(2):
        publish(make_offer(asked(people, ledger)))
    offer = make_offer(asked(people, ledger))
    assert "Afterwards" not in str(offer.html)
    assert "does not fit in the budget" in str(offer.refusal)
    with pytest.raises(ExplorerError, match="does not fit in the budget"):
        publish(offer)
    assert len(ggdp.Ledger(ledger).entries()) == 2


def test_an_offer_is_taken_once(people: Path, ledger: str) -> None:
    confirmations = Confirmations()
    offer = confirmations.register(make_offer(asked(people, ledger)))
    with confirmations.accept(offer):
        publish(offer)
    with pytest.raises(ExplorerError, match="already made"), confirmations.accept(offer):
        pytest.fail("a double click has released twice")
    assert len(ggdp.Ledger(ledger).entries()) == 1


def test_of_two_tabs_with_the_same_dialog_one_releases(people: Path) -> None:
    confirmations = Confirmations()
    first, second = (confirmations.register(make_offer(asked(people))) for _ in range(2))
    with (
        confirmations.accept(first),
        pytest.raises(ExplorerError, match="another release is being made"),
        confirmations.accept(second),
    ):
        pytest.fail("two tabs have released at once")
    with pytest.raises(ExplorerError, match="since this was asked"), confirmations.accept(second):
        pytest.fail("two tabs have released one after the other")
    third = confirmations.register(make_offer(asked(people)))
    assert third.released == 1
    with confirmations.accept(third):
        pass
    assert confirmations.register(third).released == 2


def test_a_release_that_failed_lets_the_next_one_begin(people: Path) -> None:
    confirmations = Confirmations()
    offer = confirmations.register(make_offer(asked(people)))
    with pytest.raises(ZeroDivisionError), confirmations.accept(offer):
        raise ZeroDivisionError
    with confirmations.accept(confirmations.register(offer)):
        pass


def test_a_charge_of_somebody_else_in_between_is_told_and_nothing_is_charged(people: Path, ledger: str) -> None:
    offer = make_offer(asked(people, ledger))
    ggdp.Ledger(ledger).charge(ggdp.PureDP(0.1, "add-remove"))
    with pytest.raises(ExplorerError, match="the ledger has changed"):
        publish(offer)
    assert len(ggdp.Ledger(ledger).entries()) == 1


def test_a_ledger_that_is_put_back_between_the_confirmation_and_the_charge_is_not_charged(
    people: Path, ledger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    older = Path(ledger).read_bytes()
    ggdp.Ledger(ledger).charge(ggdp.PureDP(0.1, "add-remove"))
    offer = make_offer(asked(people, ledger))
    checked = releasing.open_unchanged_ledger

    def then_put_back(offer: Offer) -> object:
        found = checked(offer)
        Path(ledger).write_bytes(older)
        return found

    monkeypatch.setattr(releasing, "open_unchanged_ledger", then_put_back)
    with pytest.raises(ExplorerError, match="replaced by an older or another copy: it no longer contains record 1"):
        publish(offer)
    assert not ggdp.Ledger(ledger).entries()


def test_errors_name_the_file_as_its_user_does_and_quote_no_data(people: Path, tmp_path: Path) -> None:
    wrong = TypedTable(by="country", levels="country=a,b")
    with pytest.raises(ExplorerError, match=r"there is no such column in my people\.csv") as refused:
        publish(make_offer(asked(people, table=wrong)))
    assert str(tmp_path) not in str(refused.value)
    broken = tmp_path / "broken.parquet"
    broken.write_bytes(b"PAR1 the secret of Jane Doe")
    with pytest.raises(ExplorerError) as refused:
        publish(make_offer(asked(broken)))
    assert "Jane" not in str(refused.value)


def test_an_error_without_a_text_of_ours_is_not_shown(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(*_: object, **__: object) -> None:
        raise RuntimeError("the secret of Jane Doe")

    monkeypatch.setattr("ggdp.tables.table_plan.release_counts", failing)
    with pytest.raises(ExplorerError, match="might reveal data") as refused:
        publish(make_offer(asked(people)))
    assert "Jane" not in str(refused.value)


def test_what_is_left_of_a_charge_that_failed_is_said(
    people: Path, ledger: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*arguments: Any) -> None:
        arguments[4].commit()
        raise RuntimeError("the secret of Jane Doe")

    monkeypatch.setattr("ggdp.tables.table_plan.release_counts", failing)
    with pytest.raises(ExplorerError) as refused:
        publish(make_offer(asked(people, ledger)))
    assert refused.value.__notes__ == ["the charge of entry 1 stays: there is no refund"]


def test_offers_results_and_errors_go_to_another_process_and_back(people: Path, ledger: str) -> None:
    offer = make_offer(asked(people, ledger))
    assert pickle.loads(pickle.dumps(offer)) == offer
    found = publish(offer)
    assert texts_of(pickle.loads(pickle.dumps(found))) == texts_of(found)
    with pytest.raises(GgdpError) as refused:
        make_offer(asked(people, table=TypedTable()))
    again = pickle.loads(pickle.dumps(refused.value))
    assert str(again) == str(refused.value)


def test_a_damaged_file_fails_alone_in_the_process_of_the_explorer(tmp_path: Path, people: Path, ledger: str) -> None:
    """The charge stays, and the page says so; the next release in the same process is made."""
    rows = pa.table({"ward": ["births", "eyes"] * 40})
    bad, good = tmp_path / "bad.parquet", tmp_path / "good.parquet"
    bad.write_bytes(invalidating(written(rows), 0))
    good.write_bytes(written(rows))
    table = evolve(TABLE, epsilon=0.2)
    worker = Worker(reports=True)
    try:
        process = awaited(worker.run(_process))
        for entry in (1, 3):
            offer = make_offer(asked(bad, ledger, table))
            with pytest.raises(ExplorerError, match=r"'my people.csv' could not be read .* may be damaged") as failed:
                awaited(worker.run(publish, offer))
            assert message_of(failed.value).endswith(f"The charge of entry {entry} stays: there is no refund")
            path = good if entry == 1 else people
            published = awaited(worker.run(publish, make_offer(asked(path, ledger, table))))
            assert f"Charged as entry {entry + 1};" in texts_of(published)[2]
        assert awaited(worker.run(_process)) == process
    finally:
        worker.close()


def _process(*, progress: Any) -> int:
    del progress
    return os.getpid()
