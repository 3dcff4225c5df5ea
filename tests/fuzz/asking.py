"""Small questions to small tables, for tests that say what the answer is."""

from __future__ import annotations

import csv

from tests.fuzz.neighbours import outcome
from tests.fuzz.tables import Case, Table

FULL = {"other": "(other)", "missing": "(missing)"}


def asked(domain, unit=None, **options):
    return Case(Table((), ()), frozenset(), (domain,), unit, **options)


def cells(data, domain, unit=None, **options):
    """The counts of a marginal; an error if it is not counted."""
    found = outcome(data, asked(domain, unit), **options)
    assert found.error is None, found.error
    return found.cells[0]


def assert_right_or_refused(data, domain, wanted, unit=None, **options):
    """Refused by the schema alone, by a message that says so, or counted rightly."""
    found = outcome(data, asked(domain, unit), **options)
    if found.error is None:
        assert found.cells[0] == wanted, f"counted {found.cells[0]}, should be {wanted}"
    else:
        assert found.error.startswith("ArgumentError"), found.error


def by_csv(rows, path, **options):
    with path.open("w", newline="", encoding="utf-8") as lines:
        csv.writer(lines, **{"lineterminator": "\n", **options}).writerows(rows)
