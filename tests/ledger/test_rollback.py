"""A ledger that is open notices that it was put back to an older copy, by the head that it has seen."""

import os
import random
import shutil
import sqlite3
import struct
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import numpy as np
import pytest
from tests.ledger.books import laplace, pure
from tests.ledger.edits import base_of

import ggdp
from ggdp.errors import LedgerError, TamperingError
from ggdp.ledger.chain import LedgerTerms
from ggdp.ledger.store import Rows

DIGEST = "ab" * 32
REPLACED = "has been replaced by an older or another copy: it no longer contains record"
HISTOGRAM = ggdp.Mechanism(ggdp.calibrate(ggdp.PureDP(0.125), ggdp.Sensitivity.histogram(), order=1, support="integer"))


def copied_over(path, older):
    shutil.copy(older, path)


def renamed_over(path, older):
    spare = older.with_suffix(".spare")
    shutil.copy(older, spare)
    os.replace(spare, path)


def linked_elsewhere(path, older):
    path.unlink()
    path.symlink_to(older)


def rows_put_back(path, older):
    base_of(path).replace(base_of(older).tables())


def restored_by_sqlite(path, older):
    with closing(sqlite3.connect(older)) as source, closing(sqlite3.connect(path)) as target:
        source.backup(target)


def journal_of_older_pages(path, older):
    """Put a journal next to the file that rolls it back page by page, as after a crash in the middle of a charge."""
    content, (size,) = older.read_bytes(), struct.unpack(">H", older.read_bytes()[16:18])
    pages = [content[start : start + size] for start in range(0, len(content), size)]
    header = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", len(pages), 7, len(pages), 512, size)
    records = [
        struct.pack(">I", number) + page + struct.pack(">I", (7 + sum(page[size - 200 : 0 : -200])) % 2**32)
        for number, page in enumerate(pages, 1)
    ]
    journal = path.with_name(f"{path.name}-journal")
    journal.write_bytes(header.ljust(512, b"\0") + b"".join(records))


WAYS = [copied_over, renamed_over, linked_elsewhere, rows_put_back, restored_by_sqlite, journal_of_older_pages]
USES = {
    "charge": lambda ledger: ledger.charge(laplace(8.0)),
    "publication": lambda ledger: ledger.record_publication(1, {"a.csv": DIGEST}),
    "fit": lambda ledger: ledger.would_allow(laplace(8.0)),
    "remaining": lambda ledger: ledger.remaining(),
    "head": lambda ledger: ledger.head,
    "entries": lambda ledger: ledger.entries(),
    "export": lambda ledger: ledger.export(),
    "verify": lambda ledger: ledger.verify(),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "people.ledger"


@pytest.fixture
def ledger(path):
    made = ggdp.Ledger.create(path, ggdp.PureDP(4.0))
    made.charge(laplace(8.0))
    return made


def later(path, ledger):
    """Keep a copy of a ledger, charge it once more, and return the copy and another one of the newest state."""
    older, newest = path.with_suffix(".older"), path.with_suffix(".newest")
    shutil.copy(path, older)
    ledger.charge(laplace(8.0))
    shutil.copy(path, newest)
    return older, newest


@pytest.mark.parametrize("way", WAYS)
def test_an_open_ledger_is_not_charged_after_an_older_copy_has_taken_its_place(path, ledger, way):
    older, newest = later(path, ledger)
    way(path, older)
    before = ggdp.Ledger(path).verify()
    assert before.number == 1
    lost = base_of(newest).tables()["ggdp_records"][1]["hash"]
    with pytest.raises(TamperingError, match=f"{REPLACED} 2 with the hash {lost}"):
        ledger.charge(laplace(8.0))
    assert ggdp.Ledger(path).verify() == before
    renamed_over(path, newest)
    assert ledger.charge(laplace(8.0)).number == 3


@pytest.mark.parametrize("use", USES)
def test_every_use_of_an_open_ledger_notices_an_older_copy(path, ledger, use):
    older, _ = later(path, ledger)
    renamed_over(path, older)
    with pytest.raises(TamperingError, match=REPLACED):
        USES[use](ledger)
    assert ggdp.Ledger(path).verify().number == 1


def test_laws_are_not_reserved_in_an_older_copy(path):
    ledger = ggdp.Ledger.create(path, ggdp.ApproxDP(4.0, 1e-6), accounting="reserved")
    older = path.with_suffix(".older")
    shutil.copy(path, older)
    ledger.reserve([laplace(8.0)])
    renamed_over(path, older)
    with pytest.raises(TamperingError, match=REPLACED):
        ledger.reserve([laplace(8.0)])
    assert ggdp.Ledger(path).head.number == 0


def test_a_head_that_was_only_read_is_looked_for_too(path, ledger):
    reader = ggdp.Ledger(path)
    older, _ = later(path, ledger)
    assert len(reader.entries()) == 2
    assert reader.remaining() == ledger.remaining()
    renamed_over(path, older)
    with pytest.raises(TamperingError, match=f"{REPLACED} 2"):
        reader.charge(laplace(8.0))


def test_an_older_copy_that_others_have_charged_further_is_noticed(path, ledger):
    older, _ = later(path, ledger)
    renamed_over(path, older)
    other = ggdp.Ledger(path)
    for _ in range(3):
        other.charge(laplace(8.0))
    with pytest.raises(TamperingError, match=f"{REPLACED} 2"):
        ledger.charge(laplace(8.0))
    assert other.verify().number == 4


def test_an_older_copy_on_postgresql_is_noticed(server, postgresql):
    ledger = ggdp.Ledger.create(postgresql, ggdp.PureDP(4.0))
    ledger.charge(laplace(8.0))
    base = base_of(postgresql)
    dump = base.tables()
    ledger.charge(laplace(8.0))
    newest = base.tables()
    server.execute("TRUNCATE ggdp_records, ggdp_ledger", url=postgresql)
    base.replace(dump)
    for use in USES.values():
        with pytest.raises(TamperingError, match=f"{REPLACED} 2"):
            use(ledger)
    assert ggdp.Ledger(postgresql).verify().number == 1
    base.replace(newest)
    assert ledger.charge(laplace(8.0)).number == 3


def test_a_head_that_was_set_back_is_noticed_though_its_record_is_still_there(url):
    ledger = ggdp.Ledger.create(url, ggdp.PureDP(4.0))
    for _ in range(3):
        ledger.charge(laplace(8.0))
    base = base_of(url)
    tables = base.tables()
    tables["ggdp_ledger"][0] |= {"head_number": 1, "head_hash": tables["ggdp_records"][0]["hash"]}
    base.replace(tables)
    with pytest.raises(TamperingError, match=f"{REPLACED} 3"):
        ledger.charge(laplace(8.0))
    assert base.tables() == tables


def test_a_budget_that_was_raised_with_a_right_hash_is_noticed_before_the_first_charge(url):
    ledger = ggdp.Ledger.create(url, ggdp.PureDP(1.0))
    base = base_of(url)
    tables = base.tables()
    row = tables["ggdp_ledger"][0] | {"epsilon": "100"}
    terms = {name: value for name, value in row.items() if name not in ("id", "head_number", "head_hash")}
    tables["ggdp_ledger"] = [row | {"head_hash": LedgerTerms(**terms).genesis}]
    base.replace(tables)
    ggdp.Ledger(url).verify()
    with pytest.raises(TamperingError, match=f"{REPLACED} 0"):
        ledger.charge(laplace(8.0))


def test_a_release_whose_ledger_is_put_back_after_it_was_found_to_fit_reads_nothing(path, ledger, monkeypatch):
    older, _ = later(path, ledger)
    fits = ggdp.Ledger.require_fit

    def then_put_back(self, *request):
        fits(self, *request)
        renamed_over(path, older)

    monkeypatch.setattr(ggdp.Ledger, "require_fit", then_put_back)

    class Unread:
        shape, dtype = (3,), np.dtype(np.int64)

        def __array__(self, *_, **__):
            raise AssertionError

    with pytest.raises(TamperingError, match=f"{REPLACED} 2"):
        HISTOGRAM.release(Unread(), ledger=ledger)
    assert ggdp.Ledger(path).verify().number == 1


def test_files_are_not_recorded_for_the_entry_that_somebody_else_has_by_that_number(path, ledger):
    older = path.with_suffix(".older")
    shutil.copy(path, older)
    entry = ledger.charge(laplace(8.0))
    renamed_over(path, older)
    other = ggdp.Ledger(path)
    assert other.charge(laplace(4.0)).number == entry.number
    with pytest.raises(TamperingError, match=f"{REPLACED} 2"):
        ledger.record_publication(entry, {"a.csv": DIGEST})
    assert all(found.files is None for found in other.entries())


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_file_that_is_replaced_in_the_middle_of_a_charge_is_named(path, ledger, monkeypatch, moment):
    older, _ = later(path, ledger)
    written = Rows.append

    def replaced(rows, record):
        if moment == "before":
            renamed_over(path, older)
        written(rows, record)
        if moment == "after":
            renamed_over(path, older)

    monkeypatch.setattr(Rows, "append", replaced)
    with pytest.raises(LedgerError, match="replaced while it was"):
        ledger.charge(laplace(8.0))
    assert ggdp.Ledger(path).verify().number == 1


def test_threads_that_charge_and_read_one_object_notice_nothing(url):
    ledger = ggdp.Ledger.create(url, ggdp.PureDP(4.0))
    other = ggdp.Ledger(url)

    def use(number):
        one = ledger if number % 3 else other
        one.charge(pure(0.0625))
        return len(one.entries()) >= 1 and one.remaining() is not None

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(32)))
    assert ledger.verify() == other.verify() == ledger.head
    assert ledger.head.number == 32


def test_a_charge_of_another_thread_during_a_reading_on_postgresql_is_no_older_copy(postgresql, monkeypatch):
    ledger = ggdp.Ledger.create(postgresql, ggdp.PureDP(4.0))
    ledger.charge(laplace(8.0))
    reading = ledger._store.reading

    @contextmanager
    def charged_meanwhile():
        with reading() as rows:
            rows.terms()
            ledger.charge(laplace(8.0))
            yield rows

    monkeypatch.setattr(ledger._store, "reading", charged_meanwhile)
    assert ledger.head.number == 1
    monkeypatch.undo()
    assert ledger.head.number == 2


@pytest.mark.parametrize("number", [30, pytest.param(400, marks=pytest.mark.exhaustive)])
def test_open_ledgers_refuse_exactly_when_the_chain_has_lost_what_they_saw(path, seed, record_property, number):
    """Random charges, reads, copies kept and put back, by several objects, next to a model of what each has seen."""
    chance = random.Random(seed)
    refused = passed = 0
    for trial in range(number):
        place = path.with_name(f"{trial}.ledger")
        opened = [ggdp.Ledger.create(place, ggdp.PureDP(1000.0))]
        opened += [ggdp.Ledger(place) for _ in range(2)]
        # The hashes of the chain as it is, and those of each copy; and the newest head of each object.
        chain, copies, seen = [opened[0].head], [], [opened[0].head] * 3
        for step in range(12):
            turn = chance.choice(["charge", "charge", "read", "keep", "put back"])
            if turn == "keep":
                copies.append((place.with_name(f"{trial}-{step}.copy"), list(chain)))
                shutil.copy(place, copies[-1][0])
            elif turn == "put back" and copies:
                copy, kept = chance.choice(copies)
                chance.choice(WAYS)(place, copy)
                # A link would let later charges change the copy.
                if place.is_symlink():
                    renamed_over(place, copy)
                # A journal is played by whoever reads first; until then, the file alone is not the ledger.
                assert ggdp.Ledger(place).head == kept[-1]
                chain = list(kept)
            elif turn in ("charge", "read"):
                one = chance.randrange(3)
                try:
                    if turn == "charge":
                        opened[one].charge(laplace(8.0))
                    found = opened[one].head
                except TamperingError:
                    assert seen[one] not in chain
                    refused += 1
                    continue
                assert seen[one] in chain
                if turn == "charge":
                    chain.append(found)
                assert found == chain[-1]
                seen[one] = found
                passed += 1
        assert ggdp.Ledger(place).verify() == chain[-1]
    assert refused
    assert passed
    record_property("counts", f"{number} ledgers: {refused} uses refused after a rollback, {passed} uses passed")
