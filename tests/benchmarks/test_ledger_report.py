"""The page on ledgers says what was measured."""

import importlib
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def ledger_report(monkeypatch):
    """Return the module, which finds others beside it as it does when it is run."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("ledger_report")


FOUND = {
    "charge": {
        "sum, 10 entries": 0.004,
        "sum, 10,000 entries": 0.005,
        "renyi, 10 entries": 0.008,
        "PostgreSQL, sum, 10 entries": 0.01,
        "PostgreSQL, sum, 10,000 entries": 0.012,
    },
    "together": {"16 writers, SQLite": 205.4, "64 writers, PostgreSQL": 150.0},
    "fsync": 0.001,
    "first": {"order 3, scale 9,000": 0.254},
    "reserved": {"100": {"seconds": 0.0045, "bytes": 8270.0}},
    "verify": 1.5,
    "bytes": 2048.0,
}


def test_the_page_compares_charges_with_a_bare_sync(ledger_report):
    page = ledger_report.report(FOUND)
    assert "| sum, 10 entries | 4.00 | 250 | 4.0 |" in page
    assert "takes 1.25 times as long as one at 10 in a file, and 1.20 times on a server" in page
    assert "| 16 writers, SQLite | 205 |" in page
    assert "| order 3, scale 9,000 | 0.25 |" in page
    assert "| 100 | 4.50 | 8.3 |" in page
    assert "| a bare write and fsync | 1.00 | 1,000 | 1.0 |" in page
