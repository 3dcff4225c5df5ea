"""Durable charges of a ledger in an SQLite file, beside a bare fsync on the same disk; prints JSON."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import ggdp

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENTRIES = (10, 100, 1_000, 10_000)
ROUNDS = 200
BUDGETS = {"sum": ggdp.PureDP(1e9), "renyi": ggdp.ApproxDP(1e3, 1e-6)}
COUNTS = ggdp.Mechanism(ggdp.calibrate(ggdp.PureDP(0.01), ggdp.Sensitivity.histogram(), order=1, support="integer"))


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


@contextmanager
def synced_file(folder: Path) -> Iterator[Callable[[], None]]:
    """Yield a call that writes a page and syncs it."""
    descriptor = os.open(folder / "page", os.O_CREAT | os.O_WRONLY)

    def write() -> None:
        os.pwrite(descriptor, os.urandom(4096), 0)
        os.fsync(descriptor)

    try:
        yield write
    finally:
        os.close(descriptor)


def filled(folder: Path, accounting: str, entries: int) -> ggdp.Ledger:
    ledger = ggdp.Ledger.create(folder / f"{accounting}-{entries}.ledger", BUDGETS[accounting], accounting=accounting)
    for _ in range(entries):
        ledger.charge(COUNTS)
    print(f"{accounting}, {entries} entries", file=sys.stderr, flush=True)
    return ledger


def measured(folder: Path) -> dict[str, object]:
    """Return medians; the ledgers and the bare sync take turns, so that all see the same disk."""
    ledgers = {f"sum, {entries:,} entries": filled(folder, "sum", entries) for entries in ENTRIES}
    ledgers["renyi, 10 entries"] = filled(folder, "renyi", 10)
    times: dict[str, list[float]] = {name: [] for name in (*ledgers, "fsync")}
    with synced_file(folder) as sync:
        for _ in range(ROUNDS):
            times["fsync"].append(seconds(sync))
            for name, ledger in ledgers.items():
                times[name].append(seconds(lambda ledger=ledger: ledger.charge(COUNTS)))
    largest = ledgers[f"sum, {ENTRIES[-1]:,} entries"]
    return {
        "charge": {name: statistics.median(times[name]) for name in ledgers},
        "fsync": statistics.median(times["fsync"]),
        "verify": seconds(largest.verify),
        "bytes": Path(largest.name).stat().st_size / (ENTRIES[-1] + ROUNDS),
    }


if __name__ == "__main__":
    # In the working directory: a directory for temporary files may be in memory.
    with TemporaryDirectory(dir=".") as name:
        print(json.dumps(measured(Path(name))))
