"""The server of the tests is a real one, and a ledger on it behaves like one in a file."""

import os
import select
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.ledger.books import laplace
from tests.ledger.postgresql import Server, database_of, programs

import ggdp
from ggdp.errors import ArgumentError, BudgetExceededError, LedgerError, TamperingError


def test_the_server_of_the_tests_syncs_what_it_commits(server):
    assert server.execute("SHOW fsync") == [("on",)]
    assert server.execute("SHOW synchronous_commit") == [("on",)]
    assert server.execute("SHOW full_page_writes") == [("on",)]


def test_a_postgresql_server_that_cannot_be_installed_is_named(monkeypatch):
    monkeypatch.setattr("tests.ledger.postgresql.PACKAGE", "no_such_package")
    assert programs() is None
    with pytest.raises(FileNotFoundError, match="pip install no-such-package"):
        Server()


@pytest.mark.skipif(sys.platform != "linux", reason="there is no such signal")
def test_a_postgresql_server_ends_with_the_process_that_started_it():
    code = "from tests.ledger.postgresql import Server; s = Server(); s.start(); print(s._process.pid, s.directory)"
    command = [sys.executable, "-c", f"import os; {code}; input(); os._exit(0)"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as starter:
        pid, directory = starter.stdout.readline().split()
        server = os.pidfd_open(int(pid))
        starter.communicate("\n")
    ended, _, _ = select.select([server], [], [], 60)
    os.close(server)
    shutil.rmtree(directory)
    assert ended


@pytest.mark.parametrize("level", ["serializable", "repeatable read"])
def test_writers_wait_for_each_other_whatever_isolation_a_server_has_by_default(server, database, level):
    ledger = ggdp.Ledger.create(database, ggdp.PureDP(1.0))
    server.execute(f"ALTER DATABASE {database_of(database)} SET default_transaction_isolation = '{level}'")
    with ThreadPoolExecutor(4) as pool:
        numbers = sorted(pool.map(lambda _: ledger.charge(laplace(64.0)).number, range(12)))
    assert numbers == list(range(1, 13))
    ledger.verify()


def test_of_several_who_make_a_ledger_in_one_place_one_makes_it(url):
    def made(_):
        try:
            return ggdp.Ledger.create(url, ggdp.PureDP(1.0)).identity
        except LedgerError as refused:
            return str(refused)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(made, range(4)))
    identity = ggdp.Ledger(url).identity
    assert found.count(identity) == 1
    assert all("use that ledger, or name another" in said for said in found if said != identity)


@pytest.mark.parametrize("word", ["a\0b", "\ud800", "two\nlines", " "])
def test_a_name_that_a_database_cannot_hold_is_refused_by_every_store(url, word):
    for wrong in ({"unit": word}, {"analysts": {word: ggdp.PureDP(0.5)}}):
        with pytest.raises(ArgumentError, match=f"{next(iter(wrong))} = .*must be text"):
            ggdp.Ledger.create(url, ggdp.PureDP(1.0), **wrong)
    ledger = ggdp.Ledger.create(url, ggdp.PureDP(1.0))
    with pytest.raises(ArgumentError, match=r"analyst = .*must be text"):
        ledger.charge(laplace(8.0), analyst=word)
    assert ledger.charge(laplace(8.0), analyst="\u0414\u0430\u0440\u044c\u044f \u4e2d").number == 1
    ledger.verify()


def test_a_postgresql_ledger_is_named_as_it_was_typed_without_its_passwords(database):
    ggdp.Ledger.create(database, ggdp.PureDP(1.0))
    plain, _, options = database.partition("?")
    name = ggdp.Ledger(f"{plain.replace('@', ':secret1@')}?password=secret2&{options}").name
    assert name.startswith(f"{plain.replace('@', ':***@')}?host=")
    assert "secret" not in name


def test_a_postgresql_database_without_a_ledger_and_one_that_is_not_there_are_named(server, postgresql):
    with pytest.raises(LedgerError, match="has no ledger; make one with `ggdp ledger init`"):
        ggdp.Ledger(postgresql)
    with pytest.raises(LedgerError, match="check that the server runs, and that it has this database"):
        ggdp.Ledger(server.url("nowhere"))


def test_a_postgresql_user_who_may_only_read_is_told_so(server, database):
    ledger = ggdp.Ledger.create(database, ggdp.PureDP(1.0))
    reader = f"reader_{database_of(database)}"
    server.execute(f"CREATE ROLE {reader} LOGIN")
    server.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {reader}", url=database)
    as_reader = ggdp.Ledger(database.replace("ggdp@", f"{reader}@"))
    assert as_reader.verify() == ledger.head
    with pytest.raises(LedgerError, match="the user has no permission"):
        as_reader.charge(laplace(8.0))
    assert ledger.entries() == ()


def test_what_does_not_fit_is_refused_on_postgresql_and_changes_nothing(postgresql):
    ledger = ggdp.Ledger.create(postgresql, ggdp.PureDP(1.0))
    ledger.charge(laplace(2.0))
    before = ledger.head
    with pytest.raises(BudgetExceededError, match=r"the largest epsilon that fits at this delta is 0\.5$"):
        ledger.charge(laplace(1.0))
    assert ledger.verify() == before


def test_a_postgresql_server_that_does_not_sync_is_not_charged(server):
    del server
    careless = Server(fsync="off")
    try:
        careless.start()
        ledger = ggdp.Ledger.create(careless.schema(), ggdp.PureDP(1.0))
        with pytest.raises(LedgerError, match=r"its server has fsync off.*turn it on"):
            ledger.charge(laplace(8.0))
        assert ledger.entries() == ()
    finally:
        careless.stop()


SETTINGS = [
    "default_transaction_isolation = 'read uncommitted'",
    "default_transaction_isolation = 'read committed'",
    "default_transaction_isolation = 'repeatable read'",
    "default_transaction_isolation = 'serializable'",
    "default_transaction_deferrable = on",
    "synchronous_commit = off",
    "lock_timeout = '1ms'",
    "statement_timeout = '2s'",
    "plan_cache_mode = force_generic_plan",
    "session_replication_role = replica",
    "client_encoding = 'LATIN1'",
]


@pytest.mark.parametrize("of", ["database", pytest.param("role", marks=pytest.mark.exhaustive)])
@pytest.mark.parametrize("setting", SETTINGS)
def test_writers_at_the_limit_of_a_budget_on_postgresql_never_pass_it(server, database, setting, of):
    name = database_of(database)
    ggdp.Ledger.create(database, ggdp.PureDP(1.0))
    if of == "role":
        server.execute(f"CREATE ROLE {name} SUPERUSER LOGIN")
    server.execute(f"ALTER {of.upper()} {name} SET {setting}")
    url = database.replace("ggdp@", f"{name}@") if of == "role" else database

    def charged(_):
        try:
            return ggdp.Ledger(url).charge(laplace(4.0)).number
        except BudgetExceededError:
            return 0

    with ThreadPoolExecutor(6) as pool:
        numbers = sorted(pool.map(charged, range(9)))
    assert numbers == [0, 0, 0, 0, 0, 1, 2, 3, 4]
    assert ggdp.Ledger(url).verify().number == 4


def test_a_postgresql_user_whose_transactions_are_read_only_is_told_so(server, database):
    ledger = ggdp.Ledger.create(database, ggdp.PureDP(1.0))
    server.execute(f"ALTER DATABASE {database_of(database)} SET default_transaction_read_only = on")
    with pytest.raises(LedgerError, match="default_transaction_read_only is on for this user"):
        ledger.charge(laplace(8.0))
    assert ledger.entries() == ()


def test_a_postgresql_statement_timeout_is_named_and_does_not_shorten_the_wait_of_a_writer(server, database):
    import psycopg

    ledger = ggdp.Ledger.create(database, ggdp.PureDP(1.0))
    server.execute(f"ALTER DATABASE {database_of(database)} SET statement_timeout = '500ms'")
    with ledger._store.writing() as rows:
        assert rows.connection.exec_driver_sql("SHOW statement_timeout").scalar() == "0"
    with psycopg.connect(database) as other:
        other.execute("LOCK TABLE ggdp_ledger_version")
        with pytest.raises(LedgerError, match="perhaps by its statement_timeout; raise it"):
            ledger.charge(laplace(8.0))
    assert ledger.entries() == ()


def test_a_transaction_on_postgresql_leaves_no_prepared_statement_behind_a_pooler(postgresql):
    ledger = ggdp.Ledger.create(postgresql, ggdp.PureDP(1.0))
    ledger.charge(laplace(8.0))
    with ledger._store.writing() as rows:
        assert {rows.find(number=1).number for _ in range(20)} == {1}
        assert rows.connection.exec_driver_sql("SELECT count(*) FROM pg_prepared_statements").scalar() == 0


@pytest.mark.exhaustive
def test_a_postgresql_standby_is_read_and_not_charged_and_one_that_lost_a_charge_is_noticed(server):
    """Failover to a standby that has not received the last charge puts the ledger back."""
    del server
    primary, standby = Server(), None
    try:
        primary.start()
        name = database_of(primary.database())
        primary_alone = primary.url(name)
        ledger = ggdp.Ledger.create(primary_alone, ggdp.PureDP(1.0))
        ledger.charge(laplace(8.0))
        standby = Server(primary)
        standby.start()
        replica = ggdp.Ledger(standby.url(name))
        assert replica.verify() == ledger.head
        for write in (
            lambda: replica.charge(laplace(8.0)),
            lambda: replica.record_publication(1, {"a.csv": "ab" * 32}),
        ):
            with pytest.raises(LedgerError, match="its server is a standby"):
                write()
        standby.crash()
        # The address of a cluster names both servers; the first one that answers is used.
        cluster = ggdp.Ledger(primary.url(name, directory=f"{primary.directory},{standby.directory}"))
        assert cluster.charge(laplace(8.0)).number == 2
        primary.crash()
        standby.start()
        for use in (lambda: cluster.remaining(), lambda: cluster.verify()):
            with pytest.raises(TamperingError, match="older or another copy: it no longer contains record 2"):
                use()
        with pytest.raises(LedgerError, match="its server is a standby"):
            cluster.charge(laplace(8.0))
        assert standby.execute("SELECT pg_promote()", url=standby.url(name)) == [(True,)]
        with pytest.raises(TamperingError, match="older or another copy: it no longer contains record 2"):
            cluster.charge(laplace(8.0))
        assert len(ggdp.Ledger(standby.url(name)).entries()) == 1
    finally:
        primary.stop()
        if standby is not None:
            standby.stop()
