"""Writers that are killed at random instants lose no charge, overspend nothing and leave a ledger that goes on."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass

import pytest
from tests.ledger.audit import Audit, audited
from tests.ledger.writers import STEP, Task, people_in

import ggdp


@dataclass(frozen=True)
class Place:
    """Where ledgers are made, and how often a writer is killed there.

    A charge over a connection takes longer than one to a file, which `pace` is a multiple of.
    """

    new_url: Callable[[], str]
    pace: float


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    if request.param == "postgresql":
        return Place(request.getfixturevalue("server").schema, pace=4.0)
    return Place(lambda: str(tmp_path / f"{secrets.token_hex(6)}.ledger"), pace=2.0)


def killed(keeper, place, directory, seed, *, work, kills, entries, writers=8, slower=1.0):
    """Use up one ledger after another with writers that are killed and replaced, until there were so many kills."""
    done, audits = 0, []
    while done < kills:
        url, files = place.new_url(), directory / f"round {len(audits)}"
        people_in(files)
        ggdp.Ledger.create(url, ggdp.PureDP(STEP * (entries + 0.5)))
        found = keeper.ended(Task(url, str(files), work, writers, slower * place.pace, seed + len(audits)))
        audits.append(audited(url, files))
        # Writers end when nothing fits: all was spent, and nothing above it.
        assert audits[-1].entries == entries
        assert (found.refused, found.failed) == (writers, 0)
        again = ggdp.Ledger(url)
        assert not again.would_allow(ggdp.PureDP(STEP, "add-remove"))
        assert again.charge(ggdp.PureDP(STEP / 2, "add-remove")).number == entries + 1
        again.verify()
        done += found.kills
    total = Audit(*(sum(counts) for counts in zip(*(audit.counts for audit in audits), strict=True)))
    assert total.published > 0
    return f"{done} kills among {writers} writers, {len(audits)} ledgers, {total}; none uncharged, none overspent"


# At these paces a ledger is used up in a few kills.
@pytest.mark.parametrize(("work", "entries", "slower"), [("publish", 16, 2.0), ("release", 10, 1.0)])
def test_writers_that_are_killed_overspend_nothing_and_publish_nothing_uncharged(
    keeper, place, tmp_path, seed, record_property, work, entries, slower
):
    counts = killed(keeper, place, tmp_path, seed, work=work, kills=2, entries=entries, writers=4, slower=slower)
    record_property("counts", counts)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("work", "kills", "entries"), [("publish", 5, 30), ("release", 5, 12), ("publish", 300, 200), ("release", 300, 200)]
)
def test_many_kills_overspend_nothing_and_publish_nothing_uncharged(
    keeper, place, tmp_path, seed, record_property, work, kills, entries
):
    record_property("counts", killed(keeper, place, tmp_path, seed, work=work, kills=kills, entries=entries))
