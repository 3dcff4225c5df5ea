"""Whatever fails around a ledger: a clear error, no release, nothing half-charged, and a ledger that goes on."""

import json
import os
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from tests.ledger.books import laplace
from tests.ledger.outages import NOBODY, Cut, leave_free, ordinary_user, small_disk
from tests.ledger.postgresql import Server, database_of

import ggdp
from ggdp.errors import BudgetExceededError, GgdpError, LedgerError
from ggdp.ledger import store
from ggdp.ledger.ledger import overview

HISTOGRAM = ggdp.Mechanism(ggdp.calibrate(ggdp.PureDP(0.125), ggdp.Sensitivity.histogram(), order=1, support="integer"))


class Watched:
    """Values that tell whether somebody looked at them."""

    shape, dtype = (3,), np.dtype(np.int64)

    def __init__(self):
        self.read = False

    def __array__(self, *_, **__):
        self.read = True
        return np.array([1, 2, 3])


def assert_nothing_released(ledger, match):
    """Check that a release fails with a clear error, before its values are looked at."""
    values = Watched()
    with pytest.raises(LedgerError, match=match):
        HISTOGRAM.release(values, ledger=ledger)
    assert not values.read


def assert_goes_on(url, before):
    """Check that a ledger is as it was before, and charges the next release."""
    ledger = ggdp.Ledger(url)
    assert ledger.verify() == before
    entries = len(ledger.entries())
    assert ledger.charge(laplace(8.0)).number == entries + 1
    ledger.verify()


@pytest.fixture
def ledger(url):
    made = ggdp.Ledger.create(url, ggdp.PureDP(100.0))
    made.charge(laplace(8.0))
    return made


@pytest.fixture
def disk(tmp_path):
    try:
        with small_disk(tmp_path / "disk", 1 << 19) as mounted:
            yield mounted
    except PermissionError as refused:
        pytest.skip(f"{refused}; test_store.py has a limit of the size of files instead")


@pytest.fixture
def roomy():
    """Return a disk that a database fits on, in a directory that another user may enter."""
    with TemporaryDirectory(prefix="ggdp-") as name:
        Path(name).chmod(0o755)
        try:
            with small_disk(Path(name) / "disk", 16 << 20) as mounted:
                yield mounted
        except PermissionError as refused:
            pytest.skip(str(refused))


@pytest.fixture
def shared():
    """Return a directory that an ordinary user may use; those of pytest are for whoever runs it."""
    with TemporaryDirectory(prefix="ggdp-") as name:
        if os.geteuid() == 0:
            os.chown(name, NOBODY, NOBODY)
        yield Path(name)


def test_values_are_looked_at_after_a_charge(ledger):
    values = Watched()
    HISTOGRAM.release(values, ledger=ledger)
    assert values.read
    assert len(ledger.entries()) == 2


def charged_until_full(ledger, statement):
    """Charge until the disk is full, and return the head before the charge that failed."""
    while True:
        before = ledger.head
        try:
            ledger.charge(laplace(8.0, statement=statement))
        except LedgerError as failed:
            if "the disk is full; free some space" in str(failed):
                return before
            raise


@pytest.mark.parametrize("statement", ["", "x" * 20_000], ids=["small", "large"])
def test_a_full_disk_is_named_and_nothing_is_charged(disk, statement):
    url = disk / "people.ledger"
    ledger = ggdp.Ledger.create(url, ggdp.PureDP(1000.0))
    # However much is free, down to nothing: the journal does not fit, or the file cannot grow.
    for free in (9, 5, 3, 2, 1, 0):
        leave_free(disk, free)
        before = charged_until_full(ledger, statement)
        assert ggdp.Ledger(url).verify() == before
    (disk / "ballast").unlink()
    assert_goes_on(url, before)


def test_a_full_disk_of_a_postgresql_server_is_named_and_nothing_is_charged(server, roomy):
    del server
    # A server of its own: it may not survive the disk that it loses at the end.
    own = Server()
    try:
        own.start()
        os.chown(roomy, own.owner, -1)
        own.execute(f"CREATE TABLESPACE small LOCATION '{roomy}'")
        url = own.database("TABLESPACE small")
        ledger = ggdp.Ledger.create(url, ggdp.PureDP(100.0))
        ledger.charge(laplace(8.0))
        leave_free(roomy, 0)
        before = ledger.head
        with pytest.raises(LedgerError, match="the disk of the server is full"):
            # Text is compressed before it is stored; this one cannot be.
            ledger.charge(laplace(8.0, statement=os.urandom(200_000).hex()))
        assert ggdp.Ledger(url).verify() == before
        leave_free(roomy, 1000)
        assert_goes_on(url, before)
    finally:
        own.stop()


def test_a_table_that_does_not_fit_on_its_disk_is_charged_and_not_written(disk, tmp_path):
    people = tmp_path / "people.csv"
    people.write_text("smokes\n" + "no\nyes\n" * 10)
    ledger = ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.PureDP(1.0))
    leave_free(disk, 0)
    with pytest.raises(GgdpError, match=r"out = .*No space left") as failed:
        ggdp.release_table(
            people,
            by="smokes",
            goal=ggdp.PureDP(0.5),
            domain={"smokes": ["no", "yes"]},
            out=disk / "smoking.csv",
            ledger=ledger,
        )
    assert failed.value.__notes__ == ["the charge of entry 1 stays: there is no refund"]
    assert [file.name for file in disk.iterdir()] == ["ballast"]
    (entry,) = ledger.entries()
    assert entry.files is None


@pytest.mark.parametrize("protected", ["file", "directory", "both"])
def test_what_may_not_be_written_is_named_and_nothing_is_charged(shared, protected):
    url = shared / "people.ledger"
    with ordinary_user():
        # Without the journal, which a charge leaves behind and the next one needs no directory for.
        ledger = ggdp.Ledger.create(url, ggdp.PureDP(100.0))
        before = ledger.head
    if protected != "directory":
        url.chmod(0o444)
    if protected != "file":
        shared.chmod(0o555)
    try:
        with ordinary_user():
            assert_nothing_released(ledger, "read-only|cannot be opened")
            assert ggdp.Ledger(url).verify() == before
    finally:
        shared.chmod(0o755)
        url.chmod(0o644)
    with ordinary_user():
        assert_goes_on(url, before)


def test_a_locked_ledger_is_waited_for_and_then_named(url, ledger, monkeypatch):
    before = ledger.head
    with ledger._store.writing():
        # After the lock was taken: who has it may stand still for as long as others wait.
        monkeypatch.setattr(store, "PATIENCE", 0.1)
        impatient = ggdp.Ledger(url)
        assert_nothing_released(impatient, r"is locked by another process.*try again, or end that process")
    assert_goes_on(url, before)


def test_a_reader_that_does_not_finish_is_waited_for_and_then_named(tmp_path, monkeypatch):
    url = tmp_path / "people.ledger"
    before = ggdp.Ledger.create(url, ggdp.PureDP(100.0)).head
    monkeypatch.setattr(store, "PATIENCE", 0.1)
    # Its lock does not keep a writer from beginning, but from committing.
    with closing(sqlite3.connect(url, isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM ggdp_ledger").fetchall()
        assert_nothing_released(ggdp.Ledger(url), "is locked by another process")
        reader.execute("COMMIT")
    assert_goes_on(url, before)


def test_a_postgresql_writer_that_stands_still_gives_the_lock_back_and_charges_nothing(postgresql, monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    still, other = ggdp.Ledger.create(postgresql, ggdp.PureDP(100.0)), ggdp.Ledger(postgresql)
    append = store.Rows.append

    def append_after_another(rows, record):
        monkeypatch.setattr(store.Rows, "append", append)
        monkeypatch.setattr(store, "PATIENCE", 20)
        # It waits until the server has ended the transaction of the first one.
        assert other.charge(laplace(8.0)).number == 1
        append(rows, record)

    monkeypatch.setattr(store.Rows, "append", append_after_another)
    assert_nothing_released(still, "stood still for too long|connection was lost")
    assert len(other.entries()) == 1
    assert_goes_on(postgresql, other.head)


def test_a_charge_waits_for_another_that_is_not_finished(ledger):
    number = []
    with ledger._store.writing():
        waiting = threading.Thread(target=lambda: number.append(ledger.charge(laplace(8.0)).number))
        waiting.start()
        assert number == []
    waiting.join()
    assert number == [2]


def test_a_clock_that_jumps_back_charges_in_order_and_verifies(url, ledger, monkeypatch):
    times = ["2031-01-01T00:00:00.000000+00:00", "1999-12-31T23:59:59.999999+00:00", "1970-01-01T00:00:00.000000+00:00"]
    monkeypatch.setattr("ggdp.ledger.ledger.now", iter(times).__next__)
    for _ in times:
        HISTOGRAM.release([1, 2, 3], ledger=ledger)
    assert [entry.time for entry in ledger.entries()[1:]] == times
    assert [entry.number for entry in ledger.entries()] == [1, 2, 3, 4]
    assert ggdp.Ledger(url).verify().number == 4


@pytest.mark.parametrize(
    "years", [(2031, 1999, 1970, 9999), (1, 1, 1, 1), (2020, 2021, 2022, 2023)], ids=["wild", "stopped", "right"]
)
def test_nothing_that_a_ledger_says_or_allows_depends_on_the_clock(tmp_path, monkeypatch, years):
    """Charges by the clocks of four computers, next to the same charges by the clock of this one."""
    caps = {"ana": ggdp.PureDP(0.5), "ben": ggdp.PureDP(1.0)}
    made = {}
    for name in ("wrong", "right"):
        with monkeypatch.context() as clock:
            if name == "wrong":
                # The ledger is created by the clock of the first.
                times = [f"{year:04}-06-01T00:00:00.000000+00:00" for year in (years[0], *years)]
                clock.setattr("ggdp.ledger.ledger.now", iter(times).__next__)
            ledger = ggdp.Ledger.create(tmp_path / f"{name}.ledger", ggdp.PureDP(1.0), analysts=caps)
            ledger.charge(laplace(4.0), analyst="ana")
            ledger.record_publication(1, {"a.csv": "ab" * 32})
            ledger.charge(laplace(8.0), analyst="ben")
            ledger.charge(laplace(4.0), analyst="ana")
        said = overview(ledger)
        for own in ("ledger", "identity", "head"):
            del said[own]
        lines = [json.loads(line) for line in ledger.export().splitlines()]
        kept = [
            {key: line[key] for key in ("number", "kind", "entry", "analyst", "content", "totals")} for line in lines
        ]
        with pytest.raises(BudgetExceededError) as refused:
            ledger.charge(laplace(4.0), analyst="ana")
        fitting = ledger.what_if(laplace(8.0), "ben")
        made[name] = (said, kept, ledger.burn_down(), str(refused.value), fitting, ledger.verify().number)
    assert made["wrong"] == made["right"]


@pytest.mark.parametrize(("at", "charged"), [("connect", 0), ("before", 0), ("after", 1)])
def test_a_postgresql_connection_that_is_lost_releases_nothing_and_leaves_one_whole_state(
    server, database, at, charged
):
    ledger = ggdp.Ledger.create(database, ggdp.PureDP(100.0))
    with TemporaryDirectory(prefix="ggdp-") as name, Cut(Path(name), server.directory, at) as way:
        cut = ggdp.Ledger(database)
        cut._store = store.Store(server.url(database_of(database), directory=Path(name)))
        if at == "connect":
            assert_nothing_released(cut, "cannot be reached, or the connection was lost; check that the server runs")
        else:
            with pytest.raises(LedgerError, match=r"connection was lost.*not known whether.*ggdp ledger show"):
                cut.charge(laplace(8.0))
            assert way.commits == 1
    assert len(ledger.entries()) == charged
    assert_goes_on(database, ledger.head)


def test_a_postgresql_server_that_ends_in_the_middle_releases_nothing(server, postgresql, monkeypatch):
    ledger = ggdp.Ledger.create(postgresql, ggdp.PureDP(100.0))
    ledger.charge(laplace(8.0))
    before, append = ledger.head, store.Rows.append

    def append_and_crash(rows, record):
        append(rows, record)
        server.crash()

    monkeypatch.setattr(store.Rows, "append", append_and_crash)
    try:
        assert_nothing_released(ledger, "connection was lost")
        monkeypatch.setattr(store.Rows, "append", append)
        assert_nothing_released(ledger, "cannot be reached")
    finally:
        server.start()
    assert_goes_on(postgresql, before)


def test_a_postgresql_server_that_commits_late_by_default_commits_a_charge_at_once(database, server):
    server.execute(f"ALTER DATABASE {database_of(database)} SET synchronous_commit = off")
    ledger = ggdp.Ledger.create(database, ggdp.PureDP(1.0))
    with ledger._store.writing() as rows:
        assert rows.connection.exec_driver_sql("SHOW synchronous_commit").scalar() == "on"


def test_a_journal_of_a_killed_writer_is_rolled_back_before_the_ledger_is_read(tmp_path):
    url, journal = tmp_path / "people.ledger", tmp_path / "people.ledger-journal"
    ledger = ggdp.Ledger.create(url, ggdp.PureDP(100.0))
    ledger.charge(laplace(8.0))
    before, copy = ledger.head, tmp_path / "copy.ledger"
    with closing(sqlite3.connect(url, isolation_level=None)) as writer:
        # A cache of one page: it has written to the file before it commits, and dies now.
        writer.execute("PRAGMA cache_size = 1")
        writer.execute("PRAGMA journal_mode = PERSIST")
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE ggdp_ledger SET unit = ?", ("x" * 50_000,))
        writer.execute("UPDATE ggdp_records SET content = ?", ("x" * 50_000,))
        copy.write_bytes(url.read_bytes())
        (tmp_path / "copy.ledger-journal").write_bytes(journal.read_bytes())
        writer.execute("ROLLBACK")
    assert copy.read_bytes() != url.read_bytes()
    assert_goes_on(copy, before)
