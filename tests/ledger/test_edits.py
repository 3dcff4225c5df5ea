"""Random edits change something each time, and are of every kind."""

import random

import pytest
from tests.ledger.books import laplace
from tests.ledger.edits import ForbiddenError, base_of, random_bytes, random_edit

import ggdp


@pytest.fixture
def ledger(url):
    made = ggdp.Ledger.create(url, ggdp.PureDP(1.0))
    for _ in range(3):
        made.record_publication(made.charge(laplace(8.0), analyst="ana"), {"a.csv": "ab" * 32})
    return made


def test_rows_are_replaced_and_put_back(url, ledger):
    base, head = base_of(url), ledger.head
    before = base.tables()
    edited = before | {"ggdp_records": before["ggdp_records"][1:]}
    base.replace(edited)
    assert base.tables() == edited
    base.replace(before)
    assert ledger.verify() == head


def test_rows_that_a_constraint_forbids_are_refused_and_nothing_is_replaced(url, ledger):
    del ledger
    base = base_of(url)
    before = base.tables()
    with pytest.raises(ForbiddenError):
        base.replace(before | {"ggdp_records": before["ggdp_records"] * 2})
    assert base.tables() == before


def test_every_column_is_edited_and_every_edit_changes_something(tmp_path, seed):
    made = ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.PureDP(1.0), analysts={"ana": ggdp.PureDP(1.0)})
    for _ in range(4):
        made.record_publication(made.charge(laplace(8.0), analyst="ana"), {"a.csv": "ab" * 32})
    tables, chance, columns = base_of(made.name).tables(), random.Random(seed), set()
    for _ in range(2000):
        _, edited = random_edit(chance, tables)
        assert edited != tables
        columns |= {
            (name, column)
            for name, rows in tables.items()
            for old, new in zip(rows, edited[name], strict=False)
            for column in old
            if old[column] != new[column]
        }
    assert columns == {(name, column) for name, rows in tables.items() for column in rows[0] if column != "id"}


def test_every_edit_of_bytes_changes_some_and_every_page_is_edited(seed):
    chance = random.Random(seed)
    content = chance.randbytes(8 * 4096)
    pages = set()
    for _ in range(1000):
        _, edited = random_bytes(chance, content)
        assert edited != content
        pages |= {page for page in range(8) if edited[page * 4096 :][:4096] != content[page * 4096 :][:4096]}
    assert pages == set(range(8))
