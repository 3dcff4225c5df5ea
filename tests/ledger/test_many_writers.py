"""Many writers at once: no entry is lost, none is double, and the last one that fits is the last."""

import pytest
from tests.ledger.audit import audited
from tests.ledger.writers import STEP, Ended, Task, people_in

import ggdp


def counts_of_all_written(keeper, url, directory, *, writers, entries):
    ggdp.Ledger.create(url, ggdp.PureDP(STEP * entries))
    people_in(directory)
    assert keeper.ended(Task(url, str(directory), "publish", writers)) == Ended(kills=0, refused=writers, failed=0)
    found = audited(url, directory)
    assert found.counts == (entries, entries, entries)
    return f"{writers} writers at once, {found}; none lost, none double"


@pytest.mark.parametrize("entries", [32, pytest.param(480, marks=pytest.mark.exhaustive)])
def test_16_writers_at_once_on_sqlite_lose_no_entry_and_double_none(keeper, tmp_path, record_property, entries):
    record_property(
        "counts",
        counts_of_all_written(keeper, str(tmp_path / "people.ledger"), tmp_path / "files", writers=16, entries=entries),
    )


@pytest.mark.parametrize(
    ("writers", "entries"),
    [(16, 24), *(pytest.param(64, entries, marks=pytest.mark.exhaustive) for entries in (80, 960))],
)
def test_16_or_64_writers_at_once_on_postgresql_lose_no_entry_and_double_none(
    keeper, postgresql, tmp_path, record_property, writers, entries
):
    record_property(
        "counts", counts_of_all_written(keeper, postgresql, tmp_path / "files", writers=writers, entries=entries)
    )
