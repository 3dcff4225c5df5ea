"""Where a ledger is stored: what fails says so, releases nothing and leaves nothing half-charged."""

import os
import resource
import shutil
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from tests.ledger.books import balance, edit, laplace, query

import ggdp
from ggdp.errors import BudgetExceededError, LedgerError, TamperingError
from ggdp.ledger import store
from ggdp.ledger.store import METADATA, SCHEMA, VERSIONS

WRITER = """
import sys, ggdp
from ggdp.errors import BudgetExceededError
ledger, made = ggdp.Ledger(sys.argv[1]), 0
try:
    while True:
        ledger.charge(ggdp.PureDP(0.0625, "add-remove"))
        made += 1
except BudgetExceededError:
    print(made)
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "people.ledger"


@pytest.fixture
def ledger(path):
    return ggdp.Ledger.create(path, ggdp.PureDP(4.0))


def unchanged(path, call, match):
    """Check that a call fails with a clear error, and that the ledger is as it was."""
    before = ggdp.Ledger(path).head
    with pytest.raises(LedgerError, match=match):
        call()
    assert ggdp.Ledger(path).verify() == before


def test_several_processes_never_overspend_and_lose_no_entry(path):
    ledger = ggdp.Ledger.create(path, ggdp.PureDP(4.0))
    command = [sys.executable, "-c", WRITER, str(path)]
    writers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]
    made = [int(writer.communicate()[0]) for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 4
    assert sum(made) == len(ledger.entries()) == 64
    assert ledger.remaining() == balance("0", "0")
    assert ledger.verify().number == 64


def test_threads_share_a_ledger(path):
    from concurrent.futures import ThreadPoolExecutor

    ledger = ggdp.Ledger.create(path, ggdp.PureDP(1.0))

    def charged(_):
        try:
            return ledger.charge(laplace(8.0)).number
        except BudgetExceededError:
            return None

    with ThreadPoolExecutor(4) as pool:
        numbers = list(pool.map(charged, range(12)))
    assert sorted(filter(None, numbers)) == list(range(1, 9))
    ledger.verify()


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(LedgerError, match=r"none\.ledger: there is no such file"):
        ggdp.Ledger(tmp_path / "none.ledger")
    assert list(tmp_path.iterdir()) == []


def test_a_directory_is_no_ledger(tmp_path):
    with pytest.raises(LedgerError, match="not a file"):
        ggdp.Ledger(tmp_path)


@pytest.mark.parametrize("content", [b"", b"sex,smokes\nf,no\n" * 100, b"SQLite format 3\0" + b"x" * 4096])
def test_another_file_is_no_ledger_and_stays_as_it_is(path, content):
    path.write_bytes(content)
    with pytest.raises(LedgerError, match="ledger"):
        ggdp.Ledger(path)
    with pytest.raises(LedgerError, match="already exists"):
        ggdp.Ledger.create(path, ggdp.PureDP(1.0))
    assert path.read_bytes() == content


def test_another_database_is_no_ledger(path):
    edit(path, "CREATE TABLE people (name TEXT)")
    with pytest.raises(LedgerError, match="is not a ledger of ggdp"):
        ggdp.Ledger(path)


def test_a_database_of_another_program_and_its_log_stay_as_they_are(path):
    with closing(sqlite3.connect(path)) as theirs:
        theirs.execute("PRAGMA journal_mode = WAL")
        theirs.execute("CREATE TABLE people (name TEXT)")
        theirs.execute("INSERT INTO people VALUES ('in the log only')")
        theirs.commit()
        kept = {file.name: file.read_bytes() for file in path.parent.iterdir()}
        copies = path.parent / "copies"
        copies.mkdir()
        for name, content in kept.items():
            (copies / name).write_bytes(content)
    # The copy is what a program that was killed leaves behind: nobody holds a lock on it.
    for attempt in (ggdp.Ledger, ggdp.Ledger.upgrade):
        with pytest.raises(LedgerError, match="is not a ledger of ggdp"):
            attempt(copies / path.name)
    assert sorted(kept) == [path.name, f"{path.name}-shm", f"{path.name}-wal"]
    assert {file.name: file.read_bytes() for file in copies.iterdir()} == kept


def test_opening_a_ledger_gives_up_no_lock_that_another_thread_holds(path, ledger):
    attempt = (
        "import sqlite3, sys\n"
        "connection = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)\n"
        "try:\n    connection.execute('BEGIN IMMEDIATE')\nexcept sqlite3.OperationalError:\n    print('locked')\n"
    )
    with ledger._store.writing():
        ggdp.Ledger(path)
        done = subprocess.run([sys.executable, "-c", attempt, str(path)], capture_output=True, text=True, check=True)
    assert done.stdout == "locked\n"


def test_a_directory_that_is_not_there_is_named(tmp_path):
    with pytest.raises(LedgerError, match="cannot be written"):
        ggdp.Ledger.create(tmp_path / "none" / "people.ledger", ggdp.PureDP(1.0))


def test_a_locked_ledger_is_waited_for_and_then_named(path, ledger, monkeypatch):
    del ledger
    monkeypatch.setattr(store, "PATIENCE", 0.05)
    impatient = ggdp.Ledger(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(LedgerError, match="is locked by another process"):
            impatient.charge(laplace(4.0))
        assert impatient.entries() == ()
        other.execute("ROLLBACK")
    assert impatient.charge(laplace(4.0)).number == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes read-only files")
def test_a_read_only_file_is_named(path, ledger):
    path.chmod(0o444)
    unchanged(path, lambda: ledger.charge(laplace(4.0)), "read-only")


def test_a_file_that_sqlite_takes_for_read_only_is_named(path, ledger, monkeypatch):
    address = f"file:{path}?mode=ro"
    monkeypatch.setattr(
        ledger._store, "_engine", sa.create_engine("sqlite://", creator=lambda: sqlite3.connect(address, uri=True))
    )
    unchanged(path, lambda: ledger.charge(laplace(4.0)), "read-only")


def test_a_file_that_may_not_grow_is_named_and_nothing_is_charged(path, ledger):
    ledger.charge(laplace(4.0))

    def charge_with_a_limit():
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size, hard))
        try:
            ledger.charge(laplace(4.0, statement="x" * 100_000))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    unchanged(path, charge_with_a_limit, "disk")


def test_an_interrupted_charge_is_not_charged(ledger, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(store.Rows, "append", interrupt)
    before = ledger.head
    with pytest.raises(KeyboardInterrupt):
        ledger.charge(laplace(4.0))
    assert ledger.verify() == before


def test_a_copy_of_the_one_file_is_the_whole_ledger(path, ledger, tmp_path):
    for _ in range(5):
        ledger.charge(laplace(4.0))
        copy = tmp_path / "copy.ledger"
        shutil.copy(path, copy)
        assert ggdp.Ledger(copy).verify() == ledger.head


def test_charges_are_synced_before_they_return(ledger):
    with ledger._store.writing() as rows:
        level = rows.connection.exec_driver_sql("PRAGMA synchronous").scalar()
        mode = rows.connection.exec_driver_sql("PRAGMA journal_mode").scalar()
    assert (level, mode) == (3, "persist")


def test_one_writer_at_a_time_holds_the_lock(path, ledger, monkeypatch):
    monkeypatch.setattr(store, "PATIENCE", 0.05)
    impatient = ggdp.Ledger(path)
    with ledger._store.writing(), pytest.raises(LedgerError, match="is locked"), impatient._store.writing():
        pass


def test_the_migrations_make_the_tables_that_are_used(path, ledger):
    del ledger
    engine = sa.create_engine(f"sqlite:///{path}")
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSIONS})
        assert compare_metadata(context, METADATA) == []
        assert context.get_current_revision() == SCHEMA
    engine.dispose()
    assert store.known_versions()[-1] == SCHEMA


def test_a_newer_schema_is_refused(path, ledger):
    del ledger
    edit(path, f"UPDATE {VERSIONS} SET version_num = '9999'")
    for use in (ggdp.Ledger, ggdp.Ledger.upgrade):
        with pytest.raises(LedgerError, match="schema '9999', which this ggdp does not know"):
            use(path)


def test_a_schema_without_a_version_is_refused(path, ledger):
    del ledger
    edit(path, f"DELETE FROM {VERSIONS}")
    with pytest.raises(TamperingError, match="0 versions"):
        ggdp.Ledger(path)


NEXT = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "0002", "0001"


def upgrade():
    op.add_column("ggdp_ledger", sa.Column("remark", sa.Text))
"""


def test_a_ledger_of_schema_1_is_migrated_when_that_is_asked_for(path, ledger, tmp_path, monkeypatch):
    ledger.charge(laplace(4.0))
    head = ledger.head
    scripts = tmp_path / "migrations"
    shutil.copytree(store.SCRIPTS, scripts)
    (scripts / "versions" / "v0002_next.py").write_text(NEXT)
    monkeypatch.setattr(store, "SCHEMA", "0002")
    monkeypatch.setattr(store, "SCRIPTS", scripts)
    with pytest.raises(LedgerError, match=r"older schema '0001'; migrate it with `ggdp ledger upgrade`"):
        ggdp.Ledger(path)
    migrated = ggdp.Ledger.upgrade(path)
    assert query(path, f"SELECT version_num FROM {VERSIONS}") == [("0002",)]
    assert query(path, "SELECT remark FROM ggdp_ledger") == [(None,)]
    assert migrated.verify() == head
    assert migrated.charge(laplace(4.0)).number == 2
    assert ggdp.Ledger.upgrade(path).verify().number == 2


def test_a_ledger_that_the_first_schema_made_still_opens(tmp_path):
    path = tmp_path / "first.ledger"
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript((Path(__file__).parent / "schema_0001.sql").read_text("utf-8"))
    ledger = ggdp.Ledger(path)
    assert ledger.verify().number == 3
    assert [entry.files for entry in ledger.entries()] == [{"a.csv": "ab" * 32}, None]
    assert ledger.remaining() == balance("2.5", "0.000001")
    assert ledger.charge(laplace(4.0)).number == 3
