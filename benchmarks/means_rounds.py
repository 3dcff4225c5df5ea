"""What the benchmark of means measures: errors beside four other libraries, coverage of intervals, and time.

All libraries get the same rows, groups, bounds and budget. Estimates of all of them are treated alike: clamped to the
public range, and where there is none (null, or 0/0) the middle of the range is taken, as anybody could do afterwards.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from means_data import REQUESTS
from sampling_rounds import in_turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from means_data import Request
    from worker import Worker

# A budget, and the name that the page gives it.
GOALS = {
    "epsilon 1": (1.0, 0.0),
    "epsilon 0.1": (0.1, 0.0),
    "epsilon 1, delta 1e-6": (1.0, 1e-6),
}


# A query of Tumult's takes minutes; only on the smaller tables.
TUMULT, MOST_TUMULT_ROWS = "Tumult Analytics", 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Sizes:
    """How often everything is repeated, and how large the table is of which all is timed."""

    repeats: int = 200
    tumult_repeats: int = 5
    coverage_repeats: int = 500
    rows: int = 10**7
    rounds: int = 9
    few: int = 3


QUICK = Sizes(repeats=20, tumult_repeats=2, coverage_repeats=20, rows=10**6, rounds=3, few=1)


@dataclass(frozen=True, slots=True)
class Workers:
    """The libraries; Tumult's is none where something is missing that it needs."""

    ours: Worker
    opendp: Worker
    peers: Worker
    tumult: Worker | None


def usable(estimate: float | None, request: Request) -> float:
    """Return an estimate within the public range; its middle if there is no estimate."""
    if estimate is None or math.isnan(estimate):
        return request.middle
    return min(max(estimate, request.low), request.high)


def squared_errors(estimates: Sequence[Sequence[float | None]], means: Sequence[float], request: Request) -> Any:
    """Return squared errors in units of the width of the range, a list a repeat with one number a group."""
    return [
        [
            ((usable(estimate, request) - mean) / request.width) ** 2
            for estimate, mean in zip(repeat, means, strict=True)
        ]
        for repeat in estimates
    ]


def summary(errors: Sequence[Sequence[float]]) -> dict[str, Any]:
    """Return the mean squared error over groups and repeats with its standard error, and that of each group."""
    repeats = [statistics.fmean(repeat) for repeat in errors]
    error = statistics.stdev(repeats) / math.sqrt(len(repeats))
    groups = [statistics.fmean(group) for group in zip(*errors, strict=True)]
    return {"repeats": len(repeats), "mean": statistics.fmean(repeats), "error": error, "groups": groups}


def over(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, float]:
    """Return the ratio of our error to theirs with its standard error, and the median ratio of the groups."""
    middle = ours["mean"] / theirs["mean"]
    relative = math.hypot(ours["error"] / ours["mean"], theirs["error"] / theirs["mean"])
    groups = [mine / other for mine, other in zip(ours["groups"], theirs["groups"], strict=True)]
    return {"ratio": middle, "error": middle * relative, "typical": statistics.median(groups)}


def inside(found: Mapping[str, Any], means: Sequence[float]) -> list[int]:
    """Return how many intervals contain the true mean, and how many there are."""
    tally = [0, 0]
    for lower, upper in zip(found["lower"], found["upper"], strict=True):
        tally[0] += sum(low <= mean <= high for low, mean, high in zip(lower, means, upper, strict=True))
        tally[1] += len(means)
    return tally


def askable(workers: Workers, epsilon: float, delta: float, sizes: Sizes) -> dict[str, Callable[..., Any]]:
    """Return the other libraries that answer such a goal, each to be asked for a table and a budget."""
    if delta:
        gaussian = partial(workers.peers.ask, "pipelinedp", delta=delta, repeats=sizes.repeats)
        return {"PipelineDP, Gaussian noise": gaussian}
    others = {
        "OpenDP": partial(workers.opendp.ask, "opendp", repeats=sizes.repeats),
        "PipelineDP": partial(workers.peers.ask, "pipelinedp", delta=0.0, repeats=sizes.repeats),
        "diffprivlib, rows public": partial(workers.peers.ask, "diffprivlib", repeats=sizes.repeats),
    }
    # Its noise grows with one over epsilon as that of the others does, and each query takes most of a minute.
    if workers.tumult is not None and epsilon == 1.0:
        others[TUMULT] = partial(workers.tumult.ask, "tumult", repeats=sizes.tumult_repeats)
    return others


def errors_of(workers: Workers, folder: Path, tables: Mapping[str, Any], sizes: Sizes) -> dict[str, Any]:
    """Return errors and ratios by goal and table, and how many intervals of ours hold."""
    found: dict[str, Any] = {}
    for goal, (epsilon, delta) in GOALS.items():
        for name, request in REQUESTS.items():
            print(f"means: {goal}, {name} ...", file=sys.stderr, flush=True)
            given: dict[str, Any] = {"name": name, "path": str(folder / f"{name}.parquet"), "epsilon": epsilon}
            true = tables[name]["means"]
            released = workers.ours.ask("means", delta=delta, repeats=sizes.repeats, **given)
            ours = summary(squared_errors(released["values"], true, request))
            others = {
                library: summary(squared_errors(ask(**given), true, request))
                for library, ask in askable(workers, epsilon, delta, sizes).items()
                if library != TUMULT or tables[name]["rows"] <= MOST_TUMULT_ROWS
            }
            found.setdefault(goal, {})[name] = {
                "ours": ours,
                "others": {library: {**each, **over(ours, each)} for library, each in others.items()},
                "covered": inside(released, true),
            }
    return found


def coverage_of(ours: Worker, folder: Path, sizes: Sizes) -> dict[str, Any]:
    """Return how many intervals hold on the cells of few people, by goal, statistic and size."""
    path = str(folder / "cells.parquet")
    ours.ask("cells_written", path=path)
    return {
        goal: ours.ask("covered", path=path, epsilon=epsilon, delta=delta, repeats=sizes.coverage_repeats)
        for goal, (epsilon, delta) in GOALS.items()
    }


def speed_of(workers: Workers, folder: Path, sizes: Sizes) -> dict[str, Any]:
    """Return times of ggdp's release beside the plain query, and beside OpenDP's release of count and mean."""
    path = str(folder / "values.parquet")
    size = workers.ours.ask("written", path=path, rows=sizes.rows)
    times = workers.ours.ask("beside", path=path, rounds=sizes.rounds)
    both = {"ggdp": workers.ours, "OpenDP": workers.opendp}
    asked = {name: partial(worker.ask, "once", path=path) for name, worker in both.items()}
    answers = in_turn(sizes.few, asked)
    middles = {name: statistics.median(each) for name, each in answers.items()}
    within = [theirs / mine for theirs, mine in zip(answers["OpenDP"], answers["ggdp"], strict=True)]
    return {"bytes": size, "beside": times, "opendp": {"clock": middles, "ratio": statistics.median(within)}}


def document(workers: Workers, folder: Path, data: Mapping[str, Any], sizes: Sizes) -> dict[str, Any]:
    """Return everything that is measured."""
    before = os.getloadavg()[0]
    asked = [workers.ours, workers.opendp, workers.peers, *([workers.tumult] if workers.tumult else [])]
    versions = {name: number for worker in asked for name, number in worker.ask("versions").items()}
    found: dict[str, Any] = {
        "versions": {**versions, **data["versions"]},
        "tables": data["tables"],
        "sizes": {"rows": sizes.rows, "coverage": sizes.coverage_repeats},
    }
    found["errors"] = errors_of(workers, folder, data["tables"], sizes)
    print("means: coverage ...", file=sys.stderr, flush=True)
    found["coverage"] = coverage_of(workers.ours, folder, sizes)
    print("means: time ...", file=sys.stderr, flush=True)
    found["speed"] = speed_of(workers, folder, sizes)
    return {**found, "load": (before, os.getloadavg()[0])}
