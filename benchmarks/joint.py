"""Many tables, or means of many columns, of the same people: a worker of ggdp, and of three other libraries.

Each library runs this script in an environment of its own, and is imported when it is asked. The others get long form
(`joint_data`), in which a unit adds at most 1 to each of so many cells, and have independent noise for that: the same
as epsilon that is split evenly between tables, or between a count and centered sums. OpenDP has it by its measurements
of a vector, PipelineDP by one aggregation with public partitions, Tumult Analytics by one query of a key set. With a
delta it is Gaussian noise, for the root of the number of cells; Tumult is asked for the same rho of zCDP as OpenDP.
"""

from __future__ import annotations

import math
import os
import resource
import subprocess
import sys
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from random import Random
from typing import Any

from joint_data import CASES, CELL, NUMBER, UNIT
from timing import calls_time
from worker import serve

EPSILON = 1.0
_REPEAT = "repeat"
# Twenty tables of 2 to 40 cells.
_TWENTY = """
import ggdp
columns = {f"question {k}": {"levels": list(range(2 * k + 2)), "complete": k % 2 == 0} for k in range(20)}
ggdp.plan_table([[name] for name in columns], goal=1.0, domain=columns, unit="row")
"""


def planned(name: str, levels: dict[str, list[str]], *, independent: bool) -> Any:
    """Return ggdp's plan of a case; where noise is to be independent in every cell, of the best order for that."""
    import ggdp

    case = CASES[name]
    goal: Any = ggdp.ApproxDP(EPSILON, case.delta) if case.delta else ggdp.PureDP(EPSILON)
    stated = {"complete": True} if case.complete else {}
    if case.ranges is None:
        by: Any = [[column] for column in levels]
        domain: dict[str, Any] = {column: {"levels": found, **stated} for column, found in levels.items()}
        statistics = []
    else:
        by, statistics = case.by, [ggdp.Mean(column) for column in case.ranges]
        domain = {column: {"range": ends, "step": 1, **stated} for column, ends in case.ranges.items()}
        domain |= dict(levels)
    asked = {"by": by, "goal": goal, "domain": ggdp.Domain(domain), "unit": "row", "statistics": statistics}
    if independent:
        asked["order"] = ggdp.plan(goal, ggdp.Sensitivity.cells(len(by), 1)).best.order if case.delta else 1
    return ggdp.plan_table(**asked)


def ours(*, name: str, data: dict[str, Any], repeats: int, independent: bool = False) -> dict[str, Any]:
    """Return the values of all cells with their intervals, a list a repeat, and how often all tables had one total."""
    import pyarrow.parquet as pq

    case, plan, rows = CASES[name], planned(name, data["levels"], independent=independent), pq.read_table(data["wide"])
    found: dict[str, Any] = {"values": [], "lower": [], "upper": [], "agree": 0}
    for _ in range(repeats):
        tables = plan.run(rows).tables
        found["agree"] += len({int(table.count.sum()) for table in tables}) == 1
        shown = [table.to_arrow() for table in tables]
        for what in ("values", "lower", "upper"):
            if case.ranges is None:
                columns = [each["count" if what == "values" else what] for each in shown]
            else:
                ends = "" if what == "values" else f"_{what}"
                columns = [shown[0][f"mean_{column}{ends}"] for column in case.ranges]
            found[what].append([value for column in columns for value in column.to_pylist()])
    orders = sorted({f"{part.mechanism.record.name} of order {part.mechanism.law.order:g}" for part in plan.parts})
    return {**found, "noise": " and ".join(orders).replace("Minkowski of order 1", "Minkowski")}


def sums(path: str) -> Any:
    """Return the sums of all cells of long form, in the order of their names."""
    import polars as pl

    found = pl.read_parquet(path).group_by(CELL).agg(pl.col(NUMBER).sum()).sort(CELL)
    return found[NUMBER]


@cache
def measurement(name: str, size: int) -> tuple[Any, float]:
    """Return OpenDP's measurement of a vector of counts or sums at the goal of a case, and its scale."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    case = CASES[name]
    kind: Any = int if case.ranges is None else float
    atoms = dp.atom_domain(T=kind) if kind is int else dp.atom_domain(T=kind, nan=False)
    domain, moves = dp.vector_domain(atoms, size=size), case.numbers_of_a_unit
    if not case.delta:

        def laplace(scale: float) -> Any:
            return dp.m.make_laplace(domain, dp.l1_distance(T=kind), scale)

        scale = dp.binary_search_param(laplace, d_in=kind(moves), d_out=EPSILON)
        return laplace(scale), scale

    def gaussian(scale: float) -> Any:
        zcdp = dp.m.make_gaussian(domain, dp.l2_distance(T=float), scale)
        return dp.c.make_fix_delta(dp.c.make_zCDP_to_approxDP(zcdp), case.delta)

    goal = (EPSILON, case.delta)
    scale = dp.binary_search_param(gaussian, d_in=math.sqrt(moves), d_out=goal, bounds=(0.1, 1e4), T=float)
    return gaussian(scale), scale


def opendp(*, name: str, data: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Return noisy sums of all cells, in the order of their names."""
    counted = sums(data["long"])
    exact = counted.cast(int).to_list() if CASES[name].ranges is None else counted.to_list()
    noisy, _ = measurement(name, len(exact))
    return {"cells": data["cells"], "sums": [noisy(exact) for _ in range(repeats)]}


def rho(*, name: str, size: int) -> float:
    """Return the rho of zCDP that OpenDP reaches the goal with."""
    return CASES[name].numbers_of_a_unit / (2.0 * measurement(name, size)[1] ** 2)


def pipelinedp(*, name: str, data: dict[str, Any], repeats: int) -> dict[str, Any]:
    """Return noisy sums of all cells, as `opendp` does."""
    import pipeline_dp
    import pyarrow.parquet as pq

    from means_peers import RepeatedNoise

    case, rows = CASES[name], pq.read_table(data["long"])
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=EPSILON, total_delta=case.delta)
    engine = pipeline_dp.DPEngine(accountant, RepeatedNoise(repeats))
    params = pipeline_dp.AggregateParams(
        metrics=[pipeline_dp.Metrics.SUM],
        noise_kind=pipeline_dp.NoiseKind.GAUSSIAN if case.delta else pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=case.numbers_of_a_unit,
        max_contributions_per_partition=1,
        min_value=-1.0,
        max_value=1.0,
        contribution_bounds_already_enforced=True,
    )
    extractors = pipeline_dp.DataExtractors(
        partition_extractor=lambda pair: pair[0], value_extractor=lambda pair: pair[1]
    )
    pairs = list(zip(rows[CELL].to_pylist(), rows[NUMBER].to_pylist(), strict=True))
    result = engine.aggregate(pairs, params, extractors, public_partitions=data["cells"])
    accountant.compute_budgets()
    found = {key: [float(one.sum) for one in drawn] for key, drawn in result}
    return {"cells": data["cells"], "sums": [[found[key][i] for key in data["cells"]] for i in range(repeats)]}


def tumult(*, name: str, data: dict[str, Any], repeats: int, rho: float = 0.0) -> dict[str, Any]:
    """Return noisy sums of all cells, as `opendp` does; all repeats are one query, as in the benchmark of means."""
    from tmlt.analytics import (
        AddMaxRows,
        AddRowsWithID,
        KeySet,
        MaxGroupsPerID,
        MaxRowsPerGroupPerID,
        PureDPBudget,
        QueryBuilder,
        RhoZCDPBudget,
        Session,
    )

    from means_tumult import spark

    case = CASES[name]
    rows = spark().read.parquet(data["long"]).crossJoin(spark().range(repeats).withColumnRenamed("id", _REPEAT))
    query: Any = QueryBuilder("rows")
    if case.delta:
        # Only with identifiers it counts the cells of a unit by the root of their number.
        rows = rows.selectExpr(f"concat({UNIT}, ' ', {_REPEAT}) AS {UNIT}", CELL, _REPEAT, NUMBER)
        query = query.enforce(MaxGroupsPerID(CELL, case.numbers_of_a_unit)).enforce(MaxRowsPerGroupPerID(CELL, 1))
        budget: Any = RhoZCDPBudget(rho)
        change: Any = AddRowsWithID(UNIT)
    else:
        rows, change, budget = rows.drop(UNIT), AddMaxRows(case.numbers_of_a_unit), PureDPBudget(EPSILON)
    session = Session.from_dataframe(budget, "rows", rows, protected_change=change)
    grouped = query.groupby(KeySet.from_dict({CELL: data["cells"], _REPEAT: list(range(repeats))}))
    asked = grouped.count("sum") if case.ranges is None else grouped.sum(NUMBER, -1.0, 1.0, name="sum")
    found = {(row[_REPEAT], row[CELL]): row["sum"] for row in session.evaluate(asked, budget).collect()}
    return {"cells": data["cells"], "sums": [[found[i, key] for key in data["cells"]] for i in range(repeats)]}


def lacking() -> str:
    from means_tumult import lacking as found

    return found()


_LIBRARIES = {"ours": ours, "opendp": opendp, "pipelinedp": pipelinedp, "tumult": tumult}


def once(*, library: str, calls: int, **given: Any) -> float:
    """Return the median time of a release in seconds, of so many."""
    return calls_time(lambda: _LIBRARIES[library](repeats=1, **given), calls)


def draws(*, rounds: int) -> dict[str, float]:
    """Return times of draws: five columns of 10^5 cells, and ten tables of 100 cells, again and for the first time."""
    import numpy as np

    import ggdp

    columns = {f"column {k}": {"range": (0, 100)} for k in range(5)}
    means = [ggdp.Mean(name) for name in columns]
    plan = ggdp.plan_table("by", 1.0, {"by": ["a", "b"], **columns}, unit="row", statistics=means)
    noise = plan.mechanism.noise.vectors
    tables = ggdp.MinkowskiMechanism(EPSILON, ggdp.Sensitivity.groups([100] * 10, complete=[True] * 10))
    zeros = np.zeros(1000, dtype=np.int64)
    first = calls_time(lambda: tables.release(zeros), 1)
    return {
        "columns": calls_time(lambda: noise.sample(10**5), rounds),
        "numbers": float(sum(noise.cells)),
        "first": first,
        "tables": calls_time(lambda: tables.release(zeros), rounds),
    }


def twenty(*, rounds: int) -> float:
    """Return the CPU time of a fresh process that plans twenty tables, the least of some, with no kept certificate."""
    times = []
    for _ in range(rounds):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-c", _TWENTY], check=True, env={**os.environ, "GGDP_CACHE": "off"})
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def _request(draw: Random) -> dict[str, Any]:
    """Return a random request of several tables, or of means of several columns by a column."""
    import ggdp

    domain: dict[str, Any] = {}
    largest = draw.choice((2, 5, 20, 200))
    for k in range(draw.randint(2, 12)):
        stated = {"complete": True} if draw.random() < 0.5 else {}
        domain[f"column {k}"] = {"levels": list(range(draw.randint(1, largest))), **stated}
    epsilon = draw.choice((0.1, 0.5, 1.0, 3.0))
    pure, delta = draw.random() < 0.5, draw.choice((1e-9, 1e-6))
    found = {"goal": ggdp.PureDP(epsilon) if pure else ggdp.ApproxDP(epsilon, delta)}
    if draw.random() < 0.3:
        columns = {name: {"range": (0, 100), **domain[name]} for name in domain}
        for each in columns.values():
            del each["levels"]
        domain = {"by": list(range(draw.randint(1, 30))), **columns}
        found |= {"by": "by", "statistics": [draw.choice((ggdp.Mean, ggdp.Sum, ggdp.Variance))(one) for one in columns]}
    else:
        found["by"] = [[name] for name in domain]
        if draw.random() < 0.3:
            found["neighbours"] = "replace-one"
    if draw.random() < 0.3:
        found |= {"unit": "person", "max_cells": draw.randint(1, 3)}
    else:
        found["unit"] = "row"
    return {**found, "domain": domain}


def random_requests(*, count: int, seed: int) -> dict[str, Any]:
    """Return the largest ratio of a planned deviation to that of independent noise, and how many took other noise.

    The deviation is the largest of a cell, or of half the difference of the outer sums of a column.
    """
    import ggdp
    from ggdp.tables.statistics.statistics_plan import statistics_mechanism
    from ggdp.tables.table_noise import table_mechanism

    draw, ratios = Random(seed), []
    for _ in range(count):
        plan = ggdp.plan_table(**_request(draw))
        goal, split = plan.request.goal, plan.statistics
        if split is None:
            largest = max(part.mechanism.std for part in plan.parts)
            ratios.append(largest / table_mechanism(goal, plan.request.sensitivity, None).std)
        elif plan.compared:
            independent = statistics_mechanism(goal, split.sensitivity, None).std * math.sqrt(0.5)
            ratios.append(plan.compared[0][1] / independent)
        else:
            ratios.append(plan.mechanism.std / statistics_mechanism(goal, split.sensitivity, None).std)
    return {"worst": max(ratios), "other": sum(ratio < 1.0 for ratio in ratios), "count": count}


def versions() -> dict[str, str]:
    names = ("ggdp", "opendp", "pipeline-dp", "tmlt.analytics")
    found = {}
    for name in names:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


if __name__ == "__main__":
    tasks = (*_LIBRARIES.values(), rho, lacking, once, draws, twenty, random_requests, versions)
    serve({task.__name__: task for task in tasks})
