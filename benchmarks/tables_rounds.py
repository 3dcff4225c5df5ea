"""What the benchmark of tables measures: private tables beside plain counts of the same rows, and beside OpenDP's.

ggdp's releases and the plain counts of the same engine are timed in turn in one process; OpenDP is asked in turn with
them, in a process of its own. All of them are kept to two cores.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ratios import ratio
from sampling_rounds import in_turn
from tables_data import BYTES_A_ROW

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from worker import Worker

CORES = 2
JOBS = ("plain", "pure", "approximate", "open")
UNIT_JOBS = ("distinct", "unit", "plain")
KEYS = ("public keys", "keys of the data")
ENGINES = ("polars", "pyarrow", "pandas", "spark")
_WIDTH = 24


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How large the tables are, and how often all are timed in turn."""

    rows: int = 10**7
    curve: tuple[int, ...] = (10**5, 10**6, 10**7, 10**8)
    cells: int = 10**6
    cell_rows: int = 10**6
    cell_curve: tuple[int, ...] = (10**4, 10**5, 10**6, 10**7)
    warm: int = 10**5
    text_rows: int = 2 * 10**6
    rounds: int = 15
    few: int = 5
    starts: int = 3


QUICK = Sizes(
    rows=10**6, curve=(10**4, 10**5, 10**6), cells=10**5, cell_rows=10**5, cell_curve=(10**3, 10**4, 10**5), warm=10**4,
    text_rows=10**5, rounds=3, few=2, starts=1,
)  # fmt: skip


class Progress:
    """A bar of the steps on standard error; where that is no terminal, a line a step."""

    def __init__(self, steps: int) -> None:
        self.steps, self.done = steps, 0

    def __call__(self, step: str) -> None:
        filled = _WIDTH * self.done // self.steps
        bar = f"tables: [{'#' * filled}{'.' * (_WIDTH - filled)}] {self.done}/{self.steps} {step} ..."
        terminal = sys.stderr.isatty()
        print(f"\r\x1b[K{bar}" if terminal else bar, end="" if terminal else "\n", file=sys.stderr, flush=True)
        self.done = min(self.done + 1, self.steps)

    def close(self) -> None:
        if sys.stderr.isatty():
            print(file=sys.stderr)


@contextmanager
def two_cores() -> Iterator[None]:
    """Keep this process, and those that it starts, to two cores, where the system allows to ask for that."""
    if not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(before)[:CORES])
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def has_room(folder: Path, rows: int) -> bool:
    """Return whether a table of so many rows can be written, and half of the disk's free space is left alone."""
    return 2 * rows * BYTES_A_ROW <= shutil.disk_usage(folder).free


def beside_opendp(ours: Worker, peers: Worker, path: str, rounds: int) -> dict[str, Any]:
    """Return times of ggdp's release of a file and of OpenDP's, and how many times as long the latter take."""
    own = partial(ours.ask, "once", job="pure", path=path, table="counted")
    asked: dict[str, Callable[[], float]] = {"ggdp": own}
    asked |= {known: partial(peers.ask, "once", known=known, path=path) for known in KEYS}
    asked["plain polars"] = partial(peers.ask, "once", known="", path=path)
    for call in asked.values():
        call()
    times = in_turn(rounds, asked)
    return {
        name: {"clock": statistics.median(each), "ratio": ratio(each, times["ggdp"])} for name, each in times.items()
    }


def memory(fresh: Callable[[], Worker], path: str, warm: str, rounds: int) -> dict[str, dict[str, float]] | None:
    """Return the most memory held during a plain count and during a release, each in processes of its own."""
    found: dict[str, list[dict[str, float]]] = {job: [] for job in ("plain", "pure", "distinct", "unit")}
    for _ in range(rounds):
        for job, each in found.items():
            with fresh() as worker:
                measured = worker.ask("peak", job=job, path=path, warm=warm, table="counted")
            if measured is None:
                return None
            each.append(measured)
    return {
        job: {what: statistics.median(one[what] for one in each) for what in ("peak", "rise")}
        for job, each in found.items()
    }


def first(fresh: Callable[[], Worker], path: str, rounds: int) -> dict[str, float]:
    """Return the time of the first release of a process: everything is imported, nothing is planned."""
    found = {}
    for job in JOBS:
        times = []
        for _ in range(rounds):
            with fresh() as worker:
                worker.ask("threads")
                times.append(worker.ask("once", job=job, path=path, table="counted"))
        found[job] = statistics.median(times)
    return found


def row_curve(ours: Worker, folder: Path, main: str, sizes: Sizes) -> list[dict[str, Any]]:
    """Return what counting and releasing cost by the number of rows; a file is taken away when it was read."""
    points = []
    for rows in sizes.curve:
        path = Path(main) if rows == sizes.rows else folder / f"rows-{rows}.parquet"
        if path != Path(main):
            if not has_room(folder, rows):
                points.append({"rows": rows, "left out": "there is not enough room on the disk"})
                continue
            ours.ask("written", path=str(path), table="counted", rows=rows)
        rounds = sizes.rounds if rows <= sizes.rows else sizes.few
        times = ours.ask("beside", jobs=["plain", "pure"], base="plain", path=str(path), table="counted", rounds=rounds)
        points.append({"rows": rows, **times})
        if path != Path(main):
            path.unlink()
    return points


def cell_curve(ours: Worker, folder: Path, sizes: Sizes) -> list[dict[str, Any]]:
    """Return what a release costs after counting, by the number of released cells; and what writing it costs."""
    points = []
    for cells in sizes.cell_curve:
        path = str(folder / f"cells-{cells}.parquet")
        given: dict[str, Any] = {"path": path, "table": "cubic", "cells": cells}
        ours.ask("written", rows=sizes.cell_rows, **given)
        times = ours.ask("after_counting", rounds=sizes.few, **given)
        writing = ours.ask("written_release", folder=str(folder), **given)
        points.append({"cells": round(cells ** (1 / 3)) ** 3, "asked": cells, **times, "writing": writing})
        Path(path).unlink()
    return points


def document(fresh: Callable[[], Worker], peers: Worker, folder: Path, sizes: Sizes) -> dict[str, Any]:
    """Return everything that is measured."""
    said = Progress(11 + len(ENGINES))
    before = os.getloadavg()[0]
    main, adult, warm = (str(folder / f"{name}.parquet") for name in ("main", "adult", "warm"))
    counts = {name: getattr(sizes, name) for name in ("rows", "cells", "cell_rows", "text_rows")}
    found: dict[str, Any] = {"sizes": counts}
    with fresh() as ours:
        found["versions"] = {**ours.ask("versions"), **peers.ask("versions")}
        found["threads"] = ours.ask("threads")
        said("writing the tables")
        found["bytes"] = ours.ask("written", path=main, table="persons", rows=sizes.rows)
        ours.ask("written", path=warm, table="persons", rows=sizes.warm)
        given: dict[str, Any] = {"base": "plain", "path": main, "table": "counted"}
        said("releases beside the plain count")
        found["main"] = ours.ask("beside", jobs=JOBS, rounds=sizes.rounds, **given)
        said("releases beside OpenDP's")
        found["opendp"] = beside_opendp(ours, peers, main, sizes.few)
        said("a column of persons")
        found["unit"] = ours.ask("beside", jobs=UNIT_JOBS, rounds=sizes.few, **given | {"base": "distinct"})
        said("the first call")
        found["first"] = first(fresh, main, sizes.starts)
        said("memory")
        found["memory"] = memory(fresh, main, warm, sizes.starts)
        said("text files and relations")
        small = str(folder / "small.parquet")
        ours.ask("written", path=small, table="persons", rows=sizes.text_rows)
        found["reading"] = ours.ask("reading", path=small, folder=str(folder), rounds=sizes.few)
        Path(small).unlink()
        said("more and more cells")
        found["cells"] = cell_curve(ours, folder, sizes)
        said("more and more rows")
        found["rows"] = row_curve(ours, folder, main, sizes)
    for engine in ENGINES:
        said(f"frames of {engine}")
        with fresh() as other:
            found.setdefault("engines", {})[engine] = other.ask("frame", engine=engine, path=main, rounds=sizes.few)
    Path(main).unlink()
    with fresh() as ours:
        said("writing the sparse table")
        ours.ask("written", path=adult, table="adult", rows=sizes.rows)
        said("the sparse table beside the plain count")
        given = {"path": adult, "table": "adult"}
        jobs = ("plain", "counting", "sparse")
        found["sparse"] = ours.ask("beside", jobs=jobs, base="plain", rounds=sizes.few, **given)
        found["sparse cells"] = ours.ask("cells_of", **given)
    said("done")
    said.close()
    return {**found, "load": (before, os.getloadavg()[0])}
