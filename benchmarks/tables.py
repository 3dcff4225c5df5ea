"""Private tables of ggdp: a worker that times them beside the plain counts of the same engine, in the same process.

The plain counts are what anybody would write, their result an Arrow table, or a frame of the engine. DuckDB's are asked
for over a connection that is kept, which is to their advantage: a release opens one of its own.
"""

from __future__ import annotations

import os
import shutil
import statistics
import time
from functools import cache, partial
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb

import ggdp
import tables_data as data
from ggdp.sources.duckdb_engine import NO_STATISTICS
from ggdp.sources.query import CountQuery, TableSource, open_source
from ratios import extra, ratio, timed_in_turn
from timing import calls_time
from worker import serve

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ggdp.sources.query import Counted
    from ratios import Times

PURE = ggdp.PureDP(1.0)
APPROXIMATE = ggdp.ApproxDP(1.0, 1e-6)
MAX_CELLS = 3
FALSE_CELLS = 1.0
# Jobs whose memory is measured.
MEASURED = ("plain", "pure", "distinct", "unit")
_STATUS = Path("/proc/self/status")
_REFERENCES = Path("/proc/self/clear_refs")


@cache
def connection() -> duckdb.DuckDBPyConnection:
    made = duckdb.connect()
    made.execute("SET enable_progress_bar = false")
    return made


@cache
def domain(table: str, cells: int = 0) -> ggdp.Domain:
    return ggdp.Domain(data.domain(sizes(table, cells)))


def sizes(table: str, cells: int = 0) -> Mapping[str, int]:
    return {"adult": data.ADULT, "cubic": data.cubic(cells)}.get(table, data.COUNTED)


def written(*, path: str, table: str, rows: int, cells: int = 0) -> int:
    """Write a table and return how many bytes it takes."""
    data.write(connection(), Path(path), table, rows, cells)
    return Path(path).stat().st_size


def plain(path: str, by: list[str], counted: str = "count(*)") -> object:
    return connection().sql(f"SELECT {', '.join(by)}, {counted} FROM '{path}' GROUP BY ALL").to_arrow_table()


def released(source: object, table: str, cells: int = 0, **request: Any) -> object:
    """Release a table of a source, from the request to an Arrow table with intervals."""
    public = domain(table, cells)
    asked = {"goal": PURE, "domain": public, **request}
    return ggdp.release_table(source, by=list(public.names), **asked).to_arrow()


def call(job: str, path: str, table: str, cells: int = 0) -> Callable[[], object]:
    """Return what is timed, by its name."""
    by = list(sizes(table, cells))
    return {
        "plain": partial(plain, path, by),
        "distinct": partial(plain, path, by, f"count(DISTINCT {data.PERSON})"),
        "pure": partial(released, path, table, cells),
        "approximate": partial(released, path, table, cells, goal=APPROXIMATE),
        "open": partial(released, path, table, cells, goal=APPROXIMATE, domain=None),
        "sparse": partial(released, path, table, cells, false_cells=FALSE_CELLS),
        "unit": partial(released, path, table, cells, unit=data.PERSON, max_cells=MAX_CELLS),
        "counting": partial(counting, path, table, cells),
    }[job]


def counting(path: str, table: str, cells: int = 0) -> object:
    """Count the cells that are not empty, as a release does it, and do nothing else."""
    public = domain(table, cells)
    with open_source(path, columns=public.names) as opened:
        return opened.count(CountQuery(marginals=(public,)))


def once(*, job: str, path: str, table: str, cells: int = 0) -> float:
    return calls_time(call(job, path, table, cells), 1)


def beside(*, jobs: list[str], base: str, path: str, table: str, rounds: int, cells: int = 0) -> dict[str, Any]:
    """Time jobs in turn, and compare each with the base."""
    return compared(timed_in_turn({job: call(job, path, table, cells) for job in jobs}, rounds), base)


def compared(times: Mapping[str, Times], base: str) -> dict[str, Any]:
    """Return the median time of each job, and within rounds its ratio to the base."""
    beneath = times[base]
    return {
        job: {
            "clock": statistics.median(each.clock),
            "processor": statistics.median(each.processor),
            "ratio": ratio(each.clock, beneath.clock),
            "processor ratio": ratio(each.processor, beneath.processor),
        }
        for job, each in times.items()
    }


def after_counting(*, path: str, table: str, cells: int, rounds: int) -> dict[str, dict[str, float]]:
    """Return what a release takes in all, and what comes before and after counting, timed within the same calls."""
    clocks = (time.perf_counter, time.process_time)
    within: list[tuple[float, ...]] = []
    count = TableSource.count

    def timed(self: TableSource, query: CountQuery) -> list[Counted]:
        start = [clock() for clock in clocks]
        found = count(self, query)
        within.append(tuple(clock() - begun for clock, begun in zip(clocks, start, strict=True)))
        return found

    TableSource.count = timed  # type: ignore[method-assign]
    try:
        whole = timed_in_turn({"pure": call("pure", path, table, cells)}, rounds)["pure"]
    finally:
        TableSource.count = count  # type: ignore[method-assign]
    # The first call was not timed.
    counted = list(zip(*within[1:], strict=True))
    return {
        "whole": {"clock": statistics.median(whole.clock), "processor": statistics.median(whole.processor)},
        "after": {"clock": extra(whole.clock, counted[0]), "processor": extra(whole.processor, counted[1])},
    }


def cells_of(*, path: str, table: str, cells: int = 0) -> int:
    """Return how many cells of a table are not empty."""
    by = ", ".join(sizes(table, cells))
    return _number(f"SELECT count(*) FROM (SELECT {by} FROM '{path}' GROUP BY ALL)")


def written_release(*, path: str, table: str, cells: int, folder: str) -> dict[str, float]:
    """Time the writing of a release that is there already, with its manifest."""
    public = domain(table, cells)
    release: Any = ggdp.release_table(path, by=list(public.names), goal=PURE, domain=public)
    return {
        ending: calls_time(partial(release.write, Path(folder) / f"release.{ending}", overwrite=True), 3)
        for ending in ("csv", "parquet")
    }


def peak(*, job: str, path: str, warm: str, table: str) -> dict[str, float] | None:
    """Return the most memory that a process holds during a job, and by how much it rises, in bytes.

    The process has done all of the jobs on a small table before, whichever it is asked for, so that it has imported the
    same; a page is counted when it is touched.
    """
    if not _REFERENCES.exists():
        return None
    for each in MEASURED:
        call(each, warm, table)()
    _REFERENCES.write_text("5", encoding="ascii")
    before = _resident("VmRSS")
    result = call(job, path, table)()
    after = _resident("VmHWM")
    del result
    return {"peak": after, "rise": after - before}


def _resident(name: str) -> int:
    line = next(line for line in _STATUS.read_text(encoding="ascii").splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def frame(*, engine: str, path: str, rounds: int) -> dict[str, Any]:
    """Time a release of a frame, counted by its own engine, beside the engine's plain count."""
    lacking = _lacking(engine)
    if lacking:
        return {"left out": lacking}
    by = list(data.COUNTED)
    source, count = {"polars": _polars, "pyarrow": _pyarrow, "pandas": _pandas, "spark": _spark}[engine](path, by)
    return compared(timed_in_turn({"plain": count, "release": partial(released, source, "counted")}, rounds), "plain")


def reading(*, path: str, folder: str, rounds: int) -> dict[str, dict[str, Any]]:
    """Time what it costs that no row is read by others: text cut into records, no statistics, relations handed over.

    Each release stands beside DuckDB's plain count of the same source.
    """
    by = list(data.COUNTED)
    names = ", ".join(by)
    files = {"CSV": f"{folder}/plain.csv", "CSV, all fields quoted": f"{folder}/quoted.csv"}
    for name, file in files.items():
        quoted = ", FORCE_QUOTE *" if "quoted" in name else ""
        connection().execute(f"COPY (FROM '{path}') TO '{file}' (HEADER{quoted})")
    files["JSON lines"] = f"{folder}/lines.jsonl"
    connection().execute(f"COPY (FROM '{path}') TO '{files['JSON lines']}'")
    found = {}
    for name, file in files.items():
        reader = f"read_json('{file}', format = 'newline_delimited')" if "JSON" in name else f"read_csv('{file}')"
        query = f"SELECT {names}, count(*) FROM {reader} GROUP BY ALL"
        jobs = {
            "plain": lambda query=query: connection().sql(query).to_arrow_table(),
            "release": partial(released, file, "counted"),
        }
        found[name] = compared(timed_in_turn(jobs, rounds), "plain")
        Path(file).unlink()
    jobs = {
        "plain": partial(plain, path, by),
        "release": lambda: released(connection().sql(f"FROM '{path}'"), "counted"),
    }
    found["a relation of DuckDB"] = compared(timed_in_turn(jobs, rounds), "plain")
    without = duckdb.connect(config={"disabled_optimizers": ",".join(NO_STATISTICS)})
    query = f"SELECT {names}, count(*) FROM '{path}' GROUP BY ALL"
    jobs = {
        "plain": partial(plain, path, by),
        "release": lambda: without.sql(query).to_arrow_table(),
    }
    found["Parquet, plain count without statistics"] = compared(timed_in_turn(jobs, rounds), "plain")
    return found


def _lacking(engine: str) -> str:
    """Return why an engine cannot run here; nothing if it can. All of them are installed."""
    if engine == "spark" and shutil.which("java") is None and "JAVA_HOME" not in os.environ:
        return "there is no Java here"
    return ""


def _polars(path: str, by: list[str]) -> tuple[Any, Callable[[], object]]:
    import polars as pl

    source = pl.scan_parquet(path)
    return source, lambda: source.group_by(by).agg(pl.len()).collect()


def _pyarrow(path: str, by: list[str]) -> tuple[Any, Callable[[], object]]:
    from pyarrow import parquet

    source = parquet.read_table(path, columns=by)
    return source, lambda: source.group_by(by).aggregate([([], "count_all")])


def _pandas(path: str, by: list[str]) -> tuple[Any, Callable[[], object]]:
    import pandas as pd

    source = pd.read_parquet(path, columns=by)
    return source, lambda: source.groupby(by, sort=False).size()


def _spark(path: str, by: list[str]) -> tuple[Any, Callable[[], object]]:
    from ggdp.sources.spark import session

    source = session().read.parquet(path)
    return source, lambda: source.groupBy(*by).count().toArrow()


def threads() -> int:
    """Return how many threads DuckDB takes, here and in a release."""
    return _number("SELECT current_setting('threads')")


def _number(query: str) -> int:
    return int(connection().sql(query).fetchall()[0][0])


def versions() -> dict[str, str]:
    names = ("ggdp", "duckdb", "pyarrow", "narwhals", "numpy", "polars", "pandas", "pyspark")
    return {name: version(name) for name in names}


if __name__ == "__main__":
    tasks = (written, once, beside, after_counting, cells_of, written_release, peak, frame, reading, threads, versions)
    serve({task.__name__: task for task in tasks})
