"""Thousands of random edits of a ledger, all found; and what only a head finds that was kept elsewhere."""

import random
import sqlite3
from collections import Counter
from dataclasses import replace

import pytest
from tests.ledger.books import laplace
from tests.ledger.edits import ForbiddenError, base_of, random_bytes, random_edit

import ggdp
from ggdp.errors import LedgerError, TamperingError
from ggdp.ledger import Record
from ggdp.ledger.chain import LedgerTerms

DIGEST = "ab" * 32


def fill(url, accounting="sum"):
    """Make a ledger with charges of two analysts, and files of most of them."""
    caps = {"ana": ggdp.ApproxDP(2.0, 5e-7), "ben": ggdp.PureDP(1.0)}
    ledger = ggdp.Ledger.create(url, ggdp.ApproxDP(3.0, 1e-6), analysts=caps, accounting=accounting)
    for number in range(8):
        entry = ledger.charge(laplace(8.0, statement="Noisy counts."), analyst="ben" if number % 3 else "ana")
        if number % 4:
            ledger.record_publication(entry, {f"{number}.csv": DIGEST})
    ledger.verify()
    return ledger


def outcome(url, head=None):
    """Return what verifying a ledger finds: nothing, tampering, or that it is no ledger any more."""
    try:
        ggdp.Ledger(url).verify(head)
    except TamperingError:
        return "tampering"
    except LedgerError:
        return "not opened"
    return "nothing"


def counts_of_found(url, seed, number):
    chance, base, found = random.Random(seed), base_of(url), Counter()
    before = base.tables()
    while found.total() < number:
        said, edited = random_edit(chance, before)
        try:
            base.replace(edited)
        except ForbiddenError:
            continue
        seen = outcome(url)
        assert seen != "nothing", said
        found[seen] += 1
    base.replace(before)
    assert outcome(url) == "nothing"
    return f"{number} random edits, all found: {dict(found)}"


@pytest.mark.parametrize("number", [100, pytest.param(3000, marks=pytest.mark.exhaustive)])
def test_every_random_edit_of_rows_is_found(tmp_path, seed, record_property, number):
    path = tmp_path / "people.ledger"
    fill(path)
    record_property("counts", counts_of_found(path, seed, number))


@pytest.mark.parametrize("number", [25, pytest.param(1000, marks=pytest.mark.exhaustive)])
def test_every_random_edit_of_rows_on_postgresql_is_found(postgresql, seed, record_property, number):
    fill(postgresql)
    record_property("counts", counts_of_found(postgresql, seed, number))


@pytest.mark.parametrize("number", [60, pytest.param(3000, marks=pytest.mark.exhaustive)])
def test_every_random_edit_of_bytes_is_found_or_changes_nothing_that_the_ledger_says(
    tmp_path, seed, record_property, number
):
    path = tmp_path / "people.ledger"
    fill(path)
    (tmp_path / "people.ledger-journal").unlink()
    chance, content, rows = random.Random(seed), path.read_bytes(), base_of(path).tables()
    found, idle = Counter(), 0
    while found.total() < number:
        said, edited = random_bytes(chance, content)
        path.write_bytes(edited)
        seen = outcome(path)
        if seen == "nothing":
            # Free space of a page, and fields of the header that nobody reads.
            assert base_of(path).tables() == rows, said
            idle += 1
            continue
        found[seen] += 1
    path.write_bytes(content)
    assert outcome(path) == "nothing"
    record_property("counts", f"{number} random edits of bytes that count, all found: {dict(found)}; {idle} others")


def forged(base, edit):
    """Write the records anew with right hashes after `edit` has changed the list of them, as only a forger does."""
    tables = base.tables()
    ledger = tables["ggdp_ledger"][0]
    made = {name: value for name, value in ledger.items() if name not in ("id", "head_number", "head_hash")}
    genesis = previous = LedgerTerms(**made).genesis
    records = []
    for number, row in enumerate(edit([Record(**row) for row in tables["ggdp_records"]]), 1):
        moved = replace(row, number=number, previous=previous)
        records.append(replace(moved, hash=moved.own_hash(genesis)))
        previous = records[-1].hash
    tables["ggdp_records"] = [{name: getattr(record, name) for name in tables["ggdp_records"][0]} for record in records]
    ledger |= {"head_number": len(records), "head_hash": previous}
    base.replace(tables)


@pytest.mark.parametrize(
    "edit",
    [
        lambda records: records[:-1],
        lambda records: records[:1],
        lambda _: [],
        lambda records: [*records[:-1], replace(records[-1], time="2001-01-01T00:00:00.000000+00:00")],
        lambda records: [replace(records[0], time="2001-01-01T00:00:00.000000+00:00"), *records[1:]],
    ],
    ids=["last one cut off", "all but one cut off", "emptied", "last one rewritten", "first one rewritten"],
)
def test_a_chain_that_was_written_anew_is_found_by_a_head_that_was_kept(tmp_path, edit):
    path = tmp_path / "people.ledger"
    kept = fill(path).head
    assert outcome(path, kept) == "nothing"
    forged(base_of(path), edit)
    assert outcome(path) == "nothing"
    assert outcome(path, kept) == "tampering"


@pytest.mark.parametrize("read", ["records", "entries", "export", "burn_down", "spent", "remaining"])
def test_nothing_is_read_of_a_ledger_whose_last_record_was_changed(tmp_path, read):
    path = tmp_path / "people.ledger"
    ledger = fill(path)
    getattr(ledger, read)()
    base = base_of(path)
    tables = base.tables()
    last = max(tables["ggdp_records"], key=lambda row: row["number"])
    last["time"] = "2001-01-01T00:00:00.000000+00:00"
    base.replace(tables)
    with pytest.raises(TamperingError, match="the last one"):
        getattr(ggdp.Ledger(path), read)()


def test_a_charge_that_was_made_smaller_needs_new_totals_too(tmp_path):
    path = tmp_path / "people.ledger"
    fill(path)

    def cheaper(records):
        content = records[0].content.replace('"epsilon":"0.125"', '"epsilon":"0.0125"')
        return [replace(records[0], content=content), *records[1:]]

    forged(base_of(path), cheaper)
    with pytest.raises(TamperingError, match="record 1 does not follow"):
        ggdp.Ledger(path).verify()


def test_an_older_copy_is_found_by_a_head_that_was_kept(url):
    ledger = fill(url)
    base = base_of(url)
    older = base.tables()
    ledger.charge(laplace(8.0), analyst="ana")
    kept = ledger.head
    base.replace(older)
    assert outcome(url) == "nothing"
    assert outcome(url, kept) == "tampering"


SWALLOWS = {
    "sqlite": [
        "CREATE TRIGGER quiet BEFORE INSERT ON ggdp_records BEGIN SELECT RAISE(IGNORE); END",
        "CREATE TRIGGER still BEFORE UPDATE ON ggdp_ledger BEGIN SELECT RAISE(IGNORE); END",
    ],
    "triggers of postgresql": [
        "CREATE FUNCTION swallow() RETURNS trigger AS 'BEGIN RETURN NULL; END' LANGUAGE plpgsql",
        "CREATE TRIGGER quiet BEFORE INSERT ON ggdp_records FOR EACH ROW EXECUTE FUNCTION swallow()",
        "CREATE TRIGGER still BEFORE UPDATE ON ggdp_ledger FOR EACH ROW EXECUTE FUNCTION swallow()",
    ],
    "rules of postgresql": [
        "CREATE RULE quiet AS ON INSERT TO ggdp_records DO INSTEAD NOTHING",
        "CREATE RULE still AS ON UPDATE TO ggdp_ledger DO INSTEAD NOTHING",
    ],
}


@pytest.mark.parametrize("swallower", SWALLOWS)
def test_a_database_that_swallows_what_is_written_charges_nothing_and_does_not_verify(tmp_path, request, swallower):
    if swallower == "sqlite":
        url = tmp_path / "people.ledger"
        ledger = fill(url)
        with sqlite3.connect(url) as connection:
            for statement in SWALLOWS[swallower]:
                connection.execute(statement)
        connection.close()
    else:
        server, url = request.getfixturevalue("server"), request.getfixturevalue("postgresql")
        ledger = fill(url)
        for statement in SWALLOWS[swallower]:
            server.execute(statement, url=url)
    entries = ledger.entries()
    with pytest.raises(TamperingError, match="nothing was charged; look for triggers and rules"):
        ledger.charge(laplace(8.0), analyst="ana")
    assert ledger.entries() == entries
    assert outcome(url) == "tampering"


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("ALTER TABLE ggdp_records SET UNLOGGED", "'ggdp_records' is not logged: a crash of the server would empty it"),
        ("ALTER TABLE ggdp_ledger ENABLE ROW LEVEL SECURITY", "'ggdp_ledger' has row-level security"),
        (
            "ALTER TABLE ggdp_ledger RENAME TO mine; CREATE VIEW ggdp_ledger AS SELECT * FROM mine",
            "'ggdp_ledger' is no plain table",
        ),
    ],
    ids=["unlogged", "row-level security", "view"],
)
def test_a_table_of_postgresql_that_is_none_of_a_ledger_is_found(server, postgresql, statement, said):
    fill(postgresql)
    for part in statement.split(";"):
        server.execute(part, url=postgresql)
    with pytest.raises(TamperingError, match=said):
        ggdp.Ledger(postgresql).verify()
