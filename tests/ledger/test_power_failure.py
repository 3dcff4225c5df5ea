"""After a power failure at any instant a ledger opens, verifies, and has every charge that was reported."""

import pytest
from tests.ledger import power

import ggdp

pytestmark = [
    pytest.mark.exhaustive,
    pytest.mark.skipif(not power.can_trace(), reason="needs strace, and the right to trace processes"),
]

CHARGES = 3
CODE = """
import os, sys, ggdp
from ggdp.ledger import store
if len(sys.argv) > 2:
    store.sa.event.listen(store.sa.engine.Engine, "begin", lambda one: one.exec_driver_sql(sys.argv[2]))
ledger = ggdp.Ledger(sys.argv[1])
for _ in range(%d):
    ledger.charge(ggdp.PureDP(0.125, "add-remove"))
    os.write(1, b"charged")
"""


def run(tmp_path, *pragma):
    folder = tmp_path / "ledger"
    folder.mkdir()
    path = folder / "people.ledger"
    ggdp.Ledger.create(path, ggdp.PureDP(1.0))
    before = {"people.ledger": path.read_bytes()}
    events = power.traced(CODE % CHARGES, str(path), *pragma, folder=folder)
    assert sum(event.kind == "reported" for event in events) == CHARGES
    assert len(ggdp.Ledger(path).entries()) == CHARGES
    return before, events


def restored(folder, files):
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return ggdp.Ledger(folder / "people.ledger")


def test_no_power_failure_loses_a_charge_that_was_reported(tmp_path):
    before, events = run(tmp_path)
    counts = set()
    for number, (reported, files) in enumerate(power.failures(before, events)):
        ledger = restored(tmp_path / f"failure-{number}", files)
        found = len(ledger.entries())
        assert ledger.verify().number == found
        assert reported <= found <= reported + 1
        counts.add((reported, found))
        assert ledger.charge(ggdp.PureDP(0.125, "add-remove")).number == found + 1
    # Failures before and after each commit were among them.
    assert counts == {(n, m) for n in range(CHARGES + 1) for m in (n, n + 1) if m <= CHARGES}


def test_the_simulation_notices_charges_that_are_not_synced(tmp_path):
    before, events = run(tmp_path, "PRAGMA synchronous = OFF")
    lost = 0
    for number, (reported, files) in enumerate(power.failures(before, events[:40])):
        try:
            lost += len(restored(tmp_path / f"failure-{number}", files).entries()) < reported
        except ggdp.errors.LedgerError:
            lost += 1
        if lost:
            return
    pytest.fail("no charge was lost although none was synced")
