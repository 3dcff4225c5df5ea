"""The server of the tests is a real one, and a ledger on it behaves like one in a file."""

import os
import subprocess
import sys

import pytest
from tests.ledger.books import laplace
from tests.ledger.postgresql import Server, programs

import ggdp
from ggdp.errors import BudgetExceededError, LedgerError


@pytest.fixture
def ledger(postgresql):
    return ggdp.Ledger.create(postgresql, ggdp.PureDP(1.0))


def test_the_server_of_the_tests_syncs_what_it_commits(server):
    assert server.execute("SHOW fsync") == [("on",)]
    assert server.execute("SHOW synchronous_commit") == [("on",)]
    assert server.execute("SHOW full_page_writes") == [("on",)]


def test_a_postgresql_server_that_cannot_be_installed_is_named(monkeypatch):
    monkeypatch.setattr("tests.ledger.postgresql.PACKAGE", "no_such_package")
    assert programs() is None
    with pytest.raises(FileNotFoundError, match="pip install no-such-package"):
        Server()


def test_a_postgresql_server_ends_with_the_process_that_started_it():
    code = "from tests.ledger.postgresql import Server; s = Server(); s.start(); print(s._process.pid, s.directory)"
    done = subprocess.run(
        [sys.executable, "-c", f"{code}; import os; os._exit(0)"], capture_output=True, text=True, check=True
    )
    pid, directory = done.stdout.split()
    # Gone, or about to go: the signal was sent when its parent ended.
    while os.path.exists(f"/proc/{pid}"):
        pass
    subprocess.run(["rm", "-r", directory], check=True)
