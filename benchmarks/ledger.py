"""Durable charges of a ledger in an SQLite file and on a PostgreSQL server, beside a bare fsync; prints JSON."""

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
from environments import ROOT
from ggdp.errors import BudgetExceededError

sys.path.insert(0, str(ROOT))

from tests.ledger.postgresql import Server

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ENTRIES = (10, 100, 1_000, 10_000)
ROUNDS = 200
# Charges of all writers that charge at once.
TOGETHER = 1_000
BUDGETS = {"sum": ggdp.PureDP(1e9), "renyi": ggdp.ApproxDP(1e3, 1e-6)}
# Divergences of orders up to 300,000, of noise over millions of integers.
TINY = ggdp.ApproxDP(1e-3, 1e-6)
COUNTS = ggdp.Mechanism(ggdp.calibrate(ggdp.PureDP(0.01), ggdp.Sensitivity.histogram(), order=1, support="integer"))


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def first_charges(folder: Path) -> dict[str, float]:
    """Return the CPU seconds of the first charge of a law to a Renyi ledger with a tiny budget."""
    found = {}
    for order in (1.5, 2.0, 3.0):
        goal = ggdp.ApproxDP(TINY.epsilon / 10, TINY.delta / 10)
        noise = ggdp.calibrate(goal, ggdp.Sensitivity.histogram(), order=order, support="integer")
        mechanism = ggdp.Mechanism(noise)
        ledger = ggdp.Ledger.create(folder / f"tiny-{order}.ledger", TINY, accounting="renyi")
        begun = time.process_time()
        ledger.charge(mechanism)
        found[f"order {order:g}, scale {noise.scale:,.0f}"] = time.process_time() - begun
    return found


def reserved(folder: Path) -> dict[str, dict[str, float]]:
    """Return CPU seconds and bytes of a charge where so many laws are reserved; each record has the uses of all."""
    found = {}
    for number in (1, 10, 100, 1_000):
        laws = [ggdp.PureDP((1 + place / 4096) / 256, "add-remove") for place in range(number)]
        ledger = ggdp.Ledger.create(folder / f"reserved-{number}.ledger", ggdp.PureDP(20.0), accounting="reserved")
        ledger.reserve([(laws[0], ROUNDS), *laws[1:]])
        size, begun = Path(ledger.name).stat().st_size, time.process_time()
        for _ in range(ROUNDS):
            ledger.charge(laws[0])
        taken, grown = time.process_time() - begun, Path(ledger.name).stat().st_size - size
        found[f"{number:,}"] = {"seconds": taken / ROUNDS, "bytes": grown / ROUNDS}
    return found


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


@contextmanager
def running() -> Iterator[Server]:
    """Yield a PostgreSQL server that syncs what it commits."""
    server = Server()
    try:
        server.start()
        yield server
    finally:
        server.stop()


def filled(folder: Path, accounting: str, entries: int, url: str | None = None) -> ggdp.Ledger:
    place = url or folder / f"{accounting}-{entries}.ledger"
    ledger = ggdp.Ledger.create(place, BUDGETS[accounting], accounting=accounting)
    for _ in range(entries):
        ledger.charge(COUNTS)
    print(f"{accounting}, {entries} entries", file=sys.stderr, flush=True)
    return ledger


def together(url: str, writers: int) -> float:
    """Return how many charges a second so many processes make at once, until the budget is used up."""
    charge = ggdp.PureDP(0.0625, "add-remove")
    ggdp.Ledger.create(url, ggdp.PureDP(0.0625 * TOGETHER))
    begun = time.perf_counter()
    for _ in range(writers):
        if not os.fork():
            try:
                ledger = ggdp.Ledger(url)
                while True:
                    ledger.charge(charge)
            except BudgetExceededError:
                os._exit(0)
            finally:
                os._exit(1)
    failed = sum(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(writers))
    taken = time.perf_counter() - begun
    if failed or ggdp.Ledger(url).verify().number != TOGETHER:
        sys.exit(f"error: {failed} of {writers} writers failed")
    return TOGETHER / taken


def measured(folder: Path, server: Server) -> dict[str, object]:
    """Return medians; the ledgers and the bare sync take turns, so that all see the same disk."""
    ledgers = {f"sum, {entries:,} entries": filled(folder, "sum", entries) for entries in ENTRIES}
    ledgers["renyi, 10 entries"] = filled(folder, "renyi", 10)
    for entries in (ENTRIES[0], ENTRIES[-1]):
        name = f"PostgreSQL, sum, {entries:,} entries"
        ledgers[name] = filled(folder, "sum", entries, server.schema())
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
        "together": {
            "16 writers, SQLite": together(str(folder / "together.ledger"), 16),
            "64 writers, PostgreSQL": together(server.schema(), 64),
        },
        "first": first_charges(folder),
        "reserved": reserved(folder),
        "verify": seconds(largest.verify),
        "bytes": Path(largest.name).stat().st_size / (ENTRIES[-1] + ROUNDS),
    }


if __name__ == "__main__":
    # In the working directory: a directory for temporary files may be in memory.
    with TemporaryDirectory(dir=".") as name, running() as server:
        print(json.dumps(measured(Path(name), server)))
