"""The audit of a ledger and of published files fails where it must."""

import pytest
from tests.ledger.audit import Audit, audited
from tests.ledger.books import laplace
from tests.ledger.edits import base_of
from tests.ledger.writers import charge_and_publish

import ggdp


@pytest.fixture
def files(tmp_path):
    files = tmp_path / "files"
    files.mkdir()
    return files


@pytest.fixture
def ledger(tmp_path, files):
    ledger = ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.PureDP(1.0))
    charge_and_publish(ledger, files, "first")
    charge_and_publish(ledger, files, "second")
    return ledger


def test_the_audit_counts_charges_files_and_those_that_were_recorded(ledger, files):
    ledger.charge(laplace(16.0), analyst="third")
    (files / ".third.manifest.json.0a1b").write_text("not finished")
    (files / "third.csv").touch()
    assert audited(ledger.name, files) == Audit(entries=3, published=2, recorded=2)
    (files / "third.csv").write_text("smokes,count\n")
    assert audited(ledger.name, files) == Audit(entries=3, published=3, recorded=2)


def test_the_audit_finds_a_file_that_was_not_charged(ledger, files):
    (files / "fourth.csv").write_text("smokes,count\n")
    with pytest.raises(AssertionError, match=r"fourth\.csv is published and was not charged"):
        audited(ledger.name, files)


def test_the_audit_finds_a_manifest_of_another_entry(ledger, files):
    first, second = (files / f"{word}.manifest.json" for word in ("first", "second"))
    second.write_bytes(first.read_bytes())
    with pytest.raises(AssertionError, match="names another entry"):
        audited(ledger.name, files)


def test_the_audit_finds_a_file_that_is_not_what_was_recorded(ledger, files):
    file = files / "first.manifest.json"
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(AssertionError, match="is not what was recorded"):
        audited(ledger.name, files)


def test_the_audit_finds_a_record_of_files_that_are_not_there(ledger, files):
    (files / "first.manifest.json").unlink()
    with pytest.raises(AssertionError, match="recorded that were not written"):
        audited(ledger.name, files)


def test_the_audit_finds_a_release_that_was_charged_twice(ledger, files):
    ledger.charge(laplace(16.0), analyst="first")
    with pytest.raises(AssertionError, match="charged twice"):
        audited(ledger.name, files)


def test_the_audit_finds_an_entry_that_is_lost(ledger, files):
    tables = base_of(ledger.name).tables()
    del tables["ggdp_records"][0]
    base_of(ledger.name).replace(tables)
    with pytest.raises(ggdp.errors.TamperingError):
        audited(ledger.name, files)


def test_the_audit_finds_what_was_overspent(ledger, files, monkeypatch):
    accounts = type(ledger._budget)
    monkeypatch.setattr(accounts, "charge", accounts.add)
    ledger.charge(laplace(1.0))
    # Verifying finds it too, so that it must look away here.
    monkeypatch.setattr("ggdp.ledger.ledger.require_chain", lambda *_: None)
    with pytest.raises(AssertionError, match="9/8 was spent of epsilon = 1"):
        audited(ledger.name, files)
