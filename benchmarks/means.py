"""Means, sums and variances of ggdp: a worker that releases them as often as asked, and times them beside DuckDB."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import duckdb
import pyarrow.parquet as pq

import ggdp
import means_cells
import tables_data
from means_data import KEY, REQUESTS, VALUE
from ratios import timed_in_turn
from tables import compared, connection
from timing import calls_time
from worker import serve

LEVEL_COLUMNS = {
    "count": ("noisy_count", "lower", "upper"),
    **{name: (f"{name}_{VALUE}", f"{name}_{VALUE}_lower", f"{name}_{VALUE}_upper") for name in means_cells.STATISTICS},
}


def goal(epsilon: float, delta: float) -> Any:
    return ggdp.ApproxDP(epsilon, delta) if delta else ggdp.PureDP(epsilon)


@cache
def rows(path: str) -> Any:
    return pq.read_table(path)


def domain(groups: list[str], low: float, high: float, step: float) -> ggdp.Domain:
    return ggdp.Domain({KEY: groups, VALUE: {"range": [low, high], "step": step}})


def means(*, name: str, path: str, epsilon: float, delta: float, repeats: int) -> dict[str, Any]:
    """Return the means of all groups and their intervals, a list a repeat."""
    request = REQUESTS[name]
    public = domain(list(request.groups), request.low, request.high, request.step)
    asked = {"by": [KEY], "goal": goal(epsilon, delta), "domain": public, "statistics": [ggdp.Mean(VALUE)]}
    found: dict[str, list[Any]] = {"values": [], "lower": [], "upper": []}
    for _ in range(repeats):
        released = ggdp.release_table(rows(path), **asked).to_arrow()
        for what, column in zip(found, LEVEL_COLUMNS["mean"], strict=True):
            found[what].append(released[column].to_pylist())
    return found


def covered(*, path: str, epsilon: float, delta: float, repeats: int) -> dict[str, dict[str, list[int]]]:
    """Return, by statistic and size of the cell, how many intervals contain the true value, and of how many."""
    true = means_cells.truth()
    public = domain(list(true), means_cells.LOW, means_cells.HIGH, means_cells.STEP)
    statistics = [ggdp.Mean(VALUE), ggdp.Sum(VALUE), ggdp.Variance(VALUE)]
    asked = {"by": [KEY], "goal": goal(epsilon, delta), "domain": public, "statistics": statistics}
    found: dict[str, dict[str, list[int]]] = {}
    for _ in range(repeats):
        released = ggdp.release_table(rows(path), **asked).to_arrow()
        for statistic, (_, lower, upper) in LEVEL_COLUMNS.items():
            columns = (released[name].to_pylist() for name in (KEY, lower, upper))
            for key, low, high in zip(*columns, strict=True):
                value = true[key][statistic]
                if value is not None:
                    tally = found.setdefault(statistic, {}).setdefault(str(true[key]["count"]), [0, 0])
                    tally[0] += low <= value <= high
                    tally[1] += 1
    return found


def cells_written(*, path: str) -> None:
    """Write the table of cells of few people."""
    pq.write_table(means_cells.table(), path)


def written(*, path: str, rows: int) -> int:
    """Write the table of which all is timed, and return how many bytes it takes."""
    tables_data.write(connection(), Path(path), "values", rows)
    return Path(path).stat().st_size


def plain(path: str) -> object:
    by = ", ".join(tables_data.COUNTED)
    value = tables_data.VALUE
    query = f"SELECT {by}, count(*), avg({value}), var_pop({value}) FROM '{path}' GROUP BY ALL"
    return connection().sql(query).to_arrow_table()


@cache
def cells() -> ggdp.Domain:
    value = {"range": [0, tables_data.LARGEST_VALUE], "step": 1}
    return ggdp.Domain({**tables_data.domain(tables_data.COUNTED), tables_data.VALUE: value})


def released(path: str) -> object:
    """Release count, mean and variance by cell, from a file to an Arrow table with intervals."""
    statistics = [ggdp.Mean(tables_data.VALUE), ggdp.Variance(tables_data.VALUE)]
    by = list(tables_data.COUNTED)
    release = ggdp.release_table(path, by=by, goal=ggdp.PureDP(1.0), domain=cells(), statistics=statistics)
    return release.to_arrow()


def beside(*, path: str, rounds: int) -> dict[str, Any]:
    """Time the release and the plain query in turn, and compare them."""
    calls = {"plain": lambda: plain(path), "release": lambda: released(path)}
    return compared(timed_in_turn(calls, rounds), "plain")


def once(*, path: str) -> float:
    return calls_time(lambda: released(path), 1)


def versions() -> dict[str, str]:
    return {"ggdp": ggdp.__version__, "duckdb": duckdb.__version__, "pyarrow": version("pyarrow")}


if __name__ == "__main__":
    serve({task.__name__: task for task in (means, covered, cells_written, written, beside, once, versions)})
