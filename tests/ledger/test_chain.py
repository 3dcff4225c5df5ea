"""Every change of a ledger is found: edits of any column, and records removed, added, exchanged or cut off."""

import shutil

import pytest
from tests.ledger.books import edit, laplace, pure, query

import ggdp
from ggdp.errors import ArgumentError, TamperingError

DIGEST = "ab" * 32
LEDGER_COLUMNS = [
    "identity",
    "format",
    "created",
    "epsilon",
    "delta",
    "neighbours",
    "unit",
    "accounting",
    "parameters",
    "analysts",
    "head_number",
    "head_hash",
]
RECORD_COLUMNS = ["number", "kind", "entry", "time", "analyst", "content", "totals", "previous", "hash"]


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    path = tmp_path_factory.mktemp("ledger") / "people.ledger"
    ledger = ggdp.Ledger.create(path, ggdp.ApproxDP(3.0, 1e-6), analysts={"ana": ggdp.PureDP(2.0)})
    for _ in range(4):
        ledger.record_publication(ledger.charge(laplace(4.0), analyst="ana"), {"a.csv": DIGEST})
    return path


@pytest.fixture
def path(original, tmp_path):
    return shutil.copy(original, tmp_path / "people.ledger")


def test_a_ledger_as_it_was_written_verifies(path):
    assert ggdp.Ledger(path).verify().number == 8


@pytest.mark.parametrize("column", LEDGER_COLUMNS)
def test_an_edit_of_what_the_ledger_is_is_found(path, column):
    opened = ggdp.Ledger(path)
    (old,) = query(path, f"SELECT {column} FROM ggdp_ledger")[0]
    new = old + 1 if isinstance(old, int) else ("7" if column in ("epsilon", "delta") else old + " ")
    assert edit(path, f"UPDATE ggdp_ledger SET {column} = ?", new) == 1
    with pytest.raises(ggdp.errors.LedgerError):
        opened.verify()


def test_a_ledger_without_its_own_row_is_found(path):
    edit(path, "DELETE FROM ggdp_ledger")
    with pytest.raises(TamperingError, match="there 0 times and not once"):
        ggdp.Ledger(path)


@pytest.mark.parametrize("caps", ["NaN", "[]", "null", '{"ana": 1}', '{"ana":{"delta":"0","epsilon":"1/0"}}'])
def test_caps_that_are_none_are_found(path, caps):
    edit(path, "UPDATE ggdp_ledger SET analysts = ?", caps)
    with pytest.raises(TamperingError, match="what the ledger says of itself"):
        ggdp.Ledger(path)


def test_a_text_that_is_none_is_found(path):
    edit(path, "UPDATE ggdp_records SET content = CAST(x'ff' AS TEXT) WHERE number = 3")
    with pytest.raises(ggdp.errors.LedgerError, match=r"is damaged|cannot be used"):
        ggdp.Ledger(path).verify()


@pytest.mark.parametrize("column", RECORD_COLUMNS)
@pytest.mark.parametrize("number", [1, 2, 5, 8])
def test_an_edit_of_any_column_of_any_record_is_found(path, column, number):
    (old,) = query(path, f"SELECT {column} FROM ggdp_records WHERE number = {number}")[0]
    new = old + 100 if isinstance(old, int) else old + " "
    assert edit(path, f"UPDATE ggdp_records SET {column} = ? WHERE number = ?", new, number) == 1
    with pytest.raises(TamperingError):
        ggdp.Ledger(path).verify()


@pytest.mark.parametrize("column", ["entry", "analyst"])
def test_a_column_set_to_null_is_found(path, column):
    edit(path, f"UPDATE ggdp_records SET {column} = NULL WHERE number = 3")
    with pytest.raises(TamperingError, match="record 3"):
        ggdp.Ledger(path).verify()


@pytest.mark.parametrize("number", range(1, 9))
def test_a_record_that_was_removed_is_found(path, number):
    edit(path, "DELETE FROM ggdp_records WHERE number = ?", number)
    with pytest.raises(TamperingError):
        ggdp.Ledger(path).verify()


def test_records_cut_off_at_the_end_are_found(path):
    edit(path, "DELETE FROM ggdp_records WHERE number > 4")
    with pytest.raises(TamperingError, match="ends with record 4, and its head is record 8"):
        ggdp.Ledger(path).verify()


def test_records_that_were_exchanged_are_found(path):
    for old, new in ((3, 100), (5, 3), (100, 5)):
        edit(path, "UPDATE ggdp_records SET number = ? WHERE number = ?", new, old)
    with pytest.raises(TamperingError, match="record 3"):
        ggdp.Ledger(path).verify()


def test_a_record_that_was_added_is_found(path):
    edit(
        path,
        "INSERT INTO ggdp_records SELECT 9, kind, 99, time, analyst, content, totals, hash, hash "
        "FROM ggdp_records WHERE number = 8",
    )
    with pytest.raises(TamperingError, match="record 9"):
        ggdp.Ledger(path).verify()


def test_records_of_another_ledger_do_not_fit(path, tmp_path):
    other = ggdp.Ledger.create(tmp_path / "other.ledger", ggdp.ApproxDP(3.0, 1e-6))
    other.charge(laplace(4.0))
    (row,) = query(other.name, "SELECT * FROM ggdp_records")
    edit(path, "DELETE FROM ggdp_records")
    edit(path, f"INSERT INTO ggdp_records VALUES ({','.join('?' * len(row))})", *row)
    edit(path, "UPDATE ggdp_ledger SET head_number = 1, head_hash = ?", other.head.hash)
    with pytest.raises(TamperingError, match="record 1 was changed, or does not belong"):
        ggdp.Ledger(path).verify()


def test_an_older_copy_is_found_by_a_head_that_was_kept(path, tmp_path):
    ledger, copy = ggdp.Ledger(path), tmp_path / "copy.ledger"
    early = ledger.head
    shutil.copy(path, copy)
    ledger.charge(laplace(4.0), analyst="ana")
    kept = ledger.head
    assert ledger.verify(kept) == kept
    assert ledger.verify(early.hash.upper()) == kept
    older = ggdp.Ledger(copy)
    older.verify()
    with pytest.raises(TamperingError, match="older copy, or written anew"):
        older.verify(kept)


@pytest.mark.parametrize("head", ["", "abc", "z" * 64, 5])
def test_a_head_that_is_no_hash_is_refused(path, head):
    with pytest.raises(ArgumentError, match="head"):
        ggdp.Ledger(path).verify(head)


def test_a_head_may_be_kept_as_it_is_printed(path):
    ledger = ggdp.Ledger(path)
    for kept in (ledger.head, str(ledger.head), f"{ledger.head}\n", ledger.head.hash.upper()):
        assert ledger.verify(kept) == ledger.head
    with pytest.raises(TamperingError, match="older copy"):
        ledger.verify(f"{'0' * 64} (record {ledger.head.number})")


def test_a_trigger_in_the_file_is_found(path):
    edit(path, "CREATE TRIGGER quiet AFTER INSERT ON ggdp_records BEGIN UPDATE ggdp_ledger SET unit = 'x'; END")
    with pytest.raises(TamperingError, match="trigger"):
        ggdp.Ledger(path).verify()


def test_a_chain_with_right_hashes_and_wrong_totals_is_found(path, monkeypatch):
    ledger = ggdp.Ledger(path)
    monkeypatch.setattr(type(ledger._budget), "add", lambda _, state, *__: state)
    with pytest.raises(TamperingError, match="does not follow"):
        ledger.verify()


def test_a_chain_with_right_hashes_above_the_budget_is_found(path, monkeypatch):
    ledger = ggdp.Ledger(path)
    monkeypatch.setattr(type(ledger._budget), "keeps", lambda *_: False)
    with pytest.raises(TamperingError, match="record 1 passes the budget"):
        ledger.verify()


def test_a_chain_with_right_hashes_that_mixes_units_is_found(tmp_path, monkeypatch):
    ledger = ggdp.Ledger.create(tmp_path / "mixed.ledger", ggdp.PureDP(1.0))
    ledger.charge(pure(0.25, protects="id"))
    with monkeypatch.context() as patched:
        patched.setattr(type(ledger._budget), "protect", lambda _, state, *__: state)
        ledger.charge(pure(0.25, protects="row"))
    with pytest.raises(TamperingError, match="record 2 does not follow"):
        ledger.verify()
