"""Writers that are killed at random instants lose no charge, overspend nothing and leave a ledger that goes on."""

import random

import pytest
from tests.ledger.audit import Audit, audited
from tests.ledger.writers import PEOPLE, STEP, Keeper, Task

import ggdp

WRITERS = 8


@pytest.fixture(scope="module")
def keeper():
    with Keeper() as running:
        yield running


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request, tmp_path):
    """Return a call that names a new place for a ledger."""
    if request.param == "postgresql":
        return request.getfixturevalue("server").database
    names = (str(tmp_path / f"{number}.ledger") for number in range(1000))
    return lambda: next(names)


def killed(keeper, place, directory, *, work, kills, entries, pace):
    """Use up one ledger after another with writers that are killed and replaced, until there were so many kills."""
    seed = random.SystemRandom().randrange(10**9)
    print(f"seed {seed}")
    done, audits = 0, []
    while done < kills:
        url, files = place(), directory / f"round {len(audits)}"
        (files / PEOPLE.parent).mkdir(parents=True)
        (files / PEOPLE).write_text("smokes\n" + "no\nyes\nno\n" * 20)
        ggdp.Ledger.create(url, ggdp.PureDP(STEP * (entries + 0.5)))
        found = keeper.ended(Task(url, str(files), work, WRITERS, pace, seed + len(audits)))
        audits.append(audited(url, files))
        # Writers end when nothing fits: all was spent, and nothing above it.
        assert audits[-1].entries == entries
        assert (found.refused, found.failed) == (WRITERS, 0)
        again = ggdp.Ledger(url)
        assert not again.would_allow(ggdp.PureDP(STEP, "add-remove"))
        assert again.charge(ggdp.PureDP(STEP / 2, "add-remove")).number == entries + 1
        again.verify()
        done += found.kills
    total = Audit(*(sum(counts) for counts in zip(*(audit.counts for audit in audits), strict=True)))
    print(f"{done} kills among {WRITERS} writers, {len(audits)} ledgers: {total}; none uncharged, none overspent")
    assert total.published > 0


@pytest.mark.parametrize(("work", "entries"), [("publish", 40), ("release", 20)])
def test_writers_that_are_killed_overspend_nothing_and_publish_nothing_uncharged(
    keeper, place, tmp_path, work, entries
):
    killed(keeper, place, tmp_path, work=work, kills=10, entries=entries, pace=2.0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("work", ["publish", "release"])
def test_300_kills_overspend_nothing_and_publish_nothing_uncharged(keeper, place, tmp_path, work):
    killed(keeper, place, tmp_path, work=work, kills=300, entries=200, pace=2.0)
