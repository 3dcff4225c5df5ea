"""A manifest of every kind that ggdp writes, each as JSON has it, for tests that change them."""

import json
import math
import tempfile
from datetime import date
from functools import cache
from pathlib import Path

import pyarrow as pa

import ggdp
from ggdp.releases.adjustments import clip, drop, fit_total, normalise, project, round_values

PURE, APPROX, PROBABILISTIC = ggdp.PureDP(0.5), ggdp.ApproxDP(0.5, 1e-5), ggdp.ProbabilisticDP(0.5, 1e-3)
ONE, CELLS, BOX = ggdp.Sensitivity.histogram(), ggdp.Sensitivity.cells(4, 1), ggdp.Sensitivity.box([1, 2])
REPLACED = ggdp.Sensitivity.histogram(neighbours="replace-one")
JOINT = ggdp.Sensitivity.box([1, 1, 1], norm=(2, 1.2))
JOINT_L1 = ggdp.Sensitivity.box([2, 2, 2], norm=(1, 3))
GROUPS = ggdp.Sensitivity.groups([2, 2, 5], complete=[True, True, False])
LONG = ggdp.Sensitivity.box([1 / 3, math.pi, 1.0, 2.0, 0.1, 0.7, 123456.789, 1e-3, 1 / 3])


def noise(goal, sensitivity, order, support="integer", values=None, after=None, ledger=None, **more):
    """Return the manifest of additive noise, after post-processing if there is any."""
    mechanism = ggdp.Mechanism(ggdp.calibrate(goal, sensitivity, order=order, support=support, **more))
    if values is None:
        values = [3] * max(len(sensitivity.sizes) if sensitivity.kind != "cells" else 4, sensitivity.moving)
    release = mechanism.release(values, ledger=ledger)
    return (release if after is None else after(release)).manifest


def vector(goal, sensitivity, values, after=None, grid=None):
    """Return the manifest of noise on a whole vector, after post-processing if there is any."""
    release = ggdp.MinkowskiMechanism(goal, sensitivity, grid).release(values)
    return (release if after is None else after(release)).manifest


def charged(make):
    """Return what `make` returns for a ledger of its own."""
    with tempfile.TemporaryDirectory() as folder:
        return make(ggdp.Ledger.create(str(Path(folder) / "ledger"), ggdp.PureDP(10.0)))


MECHANISMS = {
    "laplace": lambda: noise(PURE, ONE, 1),
    "laplace, cells": lambda: noise(PURE, CELLS, 1),
    "laplace, approximate": lambda: noise(APPROX, CELLS, 1),
    "laplace, box on a grid": lambda: noise(PURE, BOX, 1, "real"),
    "laplace, long box on a grid": lambda: noise(PURE, LONG, 1, "real"),
    "laplace, paper": lambda: noise(PURE, ggdp.Sensitivity.disjoint(0.3), 1, "real", [1.0], method="paper"),
    "laplace, from bounds": lambda: noise(PURE, ggdp.Sensitivity.from_bounds([(0, 1 / 3), (-1, 1)]), 1, "real"),
    "laplace, a million": lambda: noise(PURE, ggdp.Sensitivity.disjoint(1_234_567), 1),
    "gaussian": lambda: noise(APPROX, ONE, 2),
    "gaussian, large moves": lambda: noise(APPROX, ggdp.Sensitivity.disjoint(100), 2),
    "gaussian, cells": lambda: noise(APPROX, CELLS, 2),
    "gaussian, a third on a grid": lambda: noise(APPROX, ggdp.Sensitivity.disjoint(1 / 3), 2, "real", [1.0]),
    "gaussian, box on a grid": lambda: noise(APPROX, BOX, 2, "real"),
    "gaussian, joint norm on a grid": lambda: noise(APPROX, JOINT, 2, "real"),
    "gaussian, classic": lambda: noise(APPROX, ggdp.Sensitivity.disjoint(1), 2, "real", [1.0], method="paper"),
    "order 3, box": lambda: noise(APPROX, BOX, 3),
    "order 3, joint norm on a grid": lambda: noise(APPROX, JOINT, 3, "real"),
    "order 1.5, joint l_1 norm": lambda: noise(APPROX, JOINT_L1, 1.5),
    "order 3, l_1 norm": lambda: noise(APPROX, ggdp.Sensitivity.norm(1, 2, dimension=5), 3, values=[3] * 5),
    "order 2, l_2 norm": lambda: noise(APPROX, ggdp.Sensitivity.norm(2, 3, dimension=5), 2, values=[3] * 5),
    "order 2, l_2 norm on a grid": lambda: noise(
        APPROX, ggdp.Sensitivity.norm(2, 1 / 3, dimension=5), 2, "real", [3] * 5
    ),
    "probabilistic": lambda: noise(PROBABILISTIC, ONE, 3),
    "probabilistic, clipped": lambda: noise(PROBABILISTIC, ONE, 3, after=lambda release: clip(release, 0, 9)),
    "probabilistic, paper": lambda: noise(
        PROBABILISTIC, ggdp.Sensitivity.disjoint(1), 3, "real", [1.0], method="paper"
    ),
    "probabilistic, cells dropped publicly": lambda: noise(
        PROBABILISTIC, ONE, 2, after=lambda release: drop(release, [1], chosen="publicly")
    ),
    "truncated": lambda: noise(PURE, ONE, 2, bounds=[(0, 20)], bounding="truncated"),
    "truncated, on a grid": lambda: noise(
        PURE, ggdp.Sensitivity.box([1.5, 1 / 3]), 1, "real", bounds=[(0, 20), (-1, 1)], bounding="truncated"
    ),
    "boundary-inflated, cells dropped": lambda: noise(
        PURE,
        ggdp.Sensitivity.box([1.5, 1 / 3, 2.0]),
        2,
        "real",
        bounds=[(0, 20), (-1, 1), (0, 30)],
        bounding="boundary-inflated",
        after=lambda release: drop(release, [0]),
    ),
    "normalised": lambda: noise(PURE, REPLACED, 1, values=[900] * 4, after=lambda one: normalise(one, total=3600)),
    "projected and rounded": lambda: noise(
        PURE, REPLACED, 1, after=lambda release: round_values(project(release, total=12))
    ),
    "fitted": lambda: noise(PURE, REPLACED, 1, after=lambda release: fit_total(release, 12, nonnegative=True)),
    "charged": lambda: charged(lambda ledger: noise(PURE, ONE, 1, ledger=ledger)),
    "laplace, groups": lambda: noise(PURE, GROUPS, 1, values=[3] * 9),
    "gaussian, groups on a grid": lambda: noise(APPROX, GROUPS, 2, "real", values=[3] * 9),
    "minkowski": lambda: vector(PURE, GROUPS, [3] * 9),
    "minkowski, approximate, a million": lambda: vector(
        APPROX, ggdp.Sensitivity.groups([3, 2], max_cells=2, d=1_234_567), [3] * 5
    ),
    "minkowski, replaced, cells dropped": lambda: vector(
        PURE,
        ggdp.Sensitivity.groups([3, 1, 2], complete=[True, True, False], neighbours="replace-one"),
        [3] * 6,
        after=lambda release: clip(drop(release, [0]), 0, 9),
    ),
    "minkowski, box": lambda: vector(PURE, ggdp.Sensitivity.box([2, 2, 2], norm=(1, 4)), [3] * 3),
    "minkowski, box on a grid": lambda: vector(PURE, LONG, [3.0] * 9),
    "minkowski, l_3 norm on a grid": lambda: vector(PURE, ggdp.Sensitivity.norm(3, 1 / 3, dimension=4), [3.0] * 4),
    "minkowski, from bounds": lambda: vector(
        PURE, ggdp.Sensitivity.from_bounds([(0, 1 / 3), (-1, 1)]), [0.1, 0.2], grid=ggdp.Grid(step=2.0**-12)
    ),
}

SELECTIONS = {
    "selection": lambda: (
        ggdp.ExponentialMechanism(PURE, sensitivity=1, candidates=["a", "b", "c"], excluded=[True, False, False])
        .release([1, 2, 3])
        .manifest
    ),
    "selection, monotonic": lambda: (
        ggdp.ExponentialMechanism(PURE, sensitivity=1, candidates=3, monotonic=True).release([1, 2, 3]).manifest
    ),
}

PEOPLE = pa.table(
    {
        "sex": ["f", "m", "f", "f"],
        "age": [20, 40, 70, 71],
        "ward": ["eyes", "births", "eyes", "heart"],
        "day": [date(2024, 1, 2), date(2024, 2, 3), date(2024, 1, 2), date(2024, 3, 4)],
        "id": [1, 2, 3, 3],
        "income": [10.0, 20.0, 30.0, 40.0],
        "rent": [1.0, 2.0, 3.0, 4.0],
        **{f"q{k}": ["f", "m", "f", None] for k in range(20)},
    }
)
DOMAIN = {
    "sex": ["f", "m"],
    "age": {"edges": [0, 18, 65, math.inf], "missing": "none"},
    "income": {"range": [0, 100]},
    "rent": {"range": [0, 10], "step": 0.5},
}


def table(by, goal, domain=DOMAIN, **more):
    """Return the manifest of tables."""
    return ggdp.release_table(PEOPLE, by=by, goal=goal, domain=domain, **more).manifest


def written(by, goal, domain=DOMAIN, **more):
    """Return the manifest of tables as it is in its file."""
    with tempfile.TemporaryDirectory() as folder:
        ggdp.release_table(PEOPLE, by=by, goal=goal, domain=domain, out=f"{folder}/people.csv", **more)
        return json.loads(Path(f"{folder}/people.manifest.json").read_bytes())


COMPLETE = {"levels": ["f", "m"], "complete": True}
# A table of many cells, which has noise of its own beside small ones.
WEEKS = {"edges": {"from": date(2024, 1, 1), "to": date(2024, 12, 30), "every": "week"}}
DAYS = {**DOMAIN, "sex": COMPLETE, "ward": {"levels": ["eyes", "births"], "complete": True}, "day": WEEKS}
UNITS = {"unit": "id", "max_cells": 2}
TABLES = {
    "plain": lambda: table("sex", PURE),
    "written": lambda: written("sex", PURE),
    "several tables": lambda: written([["sex"], ["age"], ["sex", "age"]], APPROX, **UNITS, unit_name="patients"),
    "noise of a norm": lambda: table(
        [["sex"], ["age"]], APPROX, {**DOMAIN, "sex": COMPLETE}, **UNITS, nonnegative=True
    ),
    "noise of two norms": lambda: written([["sex"], ["day"]], PURE, DAYS, neighbours="replace-one"),
    "noise of a norm, and laplace": lambda: table([["sex"], ["ward"], ["day"]], PURE, DAYS),
    "a common total": lambda: written([["sex"], ["ward"]], ggdp.ApproxDP(0.5, 0.05), DAYS),
    "a common total, and laplace": lambda: table(
        [[f"q{k}"] for k in range(20)] + [["age"]],
        ggdp.ApproxDP(0.5, 0.05),
        {**DOMAIN, **{f"q{k}": COMPLETE for k in range(20)}},
        nonnegative=True,
    ),
    "order 3": lambda: table(["sex", "age"], APPROX, order=3, neighbours="replace-one"),
    "probabilistic": lambda: table("sex", PROBABILISTIC, order=2),
    "probabilistic, not negative": lambda: table("sex", PROBABILISTIC, order=2, nonnegative=True),
    "rows of units": lambda: table("age", APPROX, **UNITS, count="rows", max_rows_per_cell=3),
    "sparse": lambda: table(["sex", "age"], PURE, false_cells=0.5, nonnegative=True),
    "open": lambda: table("ward", APPROX),
    "open, laplace, units": lambda: table("ward", APPROX, **UNITS, order=1, neighbours="replace-one"),
    "mixed": lambda: table([["sex"], ["ward"]], APPROX, **UNITS),
    "total": lambda: table("sex", PURE, neighbours="replace-one", total=4, nonnegative=True),
    "units cut": lambda: table([["age"], ["sex", "age"]], PURE, unit="id", max_cells=1, count_cut=0.1),
    "open, units cut": lambda: table("ward", APPROX, **UNITS, count_cut=0.5),
    "mean": lambda: table("sex", PURE, statistics=[ggdp.Mean("income")]),
    "statistics, weights": lambda: table(
        ["sex"],
        APPROX,
        **UNITS,
        statistics=[ggdp.Mean("income"), ggdp.Sum("rent"), ggdp.Variance("rent")],
        weights={"rent": 2},
        per_unit="max",
    ),
    "quantiles": lambda: table(
        None, APPROX, statistics=[ggdp.Sum("income"), ggdp.Quantile("rent", [0.25, 0.5])], neighbours="replace-one"
    ),
    "quantiles alone": lambda: table("sex", PURE, statistics=[ggdp.Quantile("income", 0.5)], nonnegative=True),
    "statistics of each table": lambda: table(
        [["sex"], ["age"], ["sex", "age"]],
        APPROX,
        **UNITS,
        statistics=[[ggdp.Mean("income"), ggdp.Quantile("rent", 0.5)], [], [ggdp.Sum("income")]],
        weights={"income": 2},
    ),
    "statistics of keys": lambda: table(
        "ward", APPROX, statistics=[ggdp.Mean("income"), ggdp.Quantile("rent", 0.5)], order=1
    ),
    "statistics of keys, units, order 2": lambda: table(
        "ward", APPROX, **UNITS, statistics=[ggdp.Variance("income")], order=2, neighbours="replace-one"
    ),
    "statistics of keys and cells": lambda: table([["sex"], ["ward"]], APPROX, statistics=[[], [ggdp.Sum("income")]]),
    "statistics, sparse": lambda: table(
        ["sex", "age"], PURE, false_cells=0.5, statistics=[ggdp.Mean("income")], nonnegative=True
    ),
    "dates": lambda: table(
        [["day"], ["sex"]],
        PURE,
        ggdp.Domain(
            {"day": [date(2024, 1, 2), date(2024, 2, 3)], "sex": ["f", "m"]},
            impossible=[{"day": date(2024, 1, 2), "sex": "m"}],
        ),
    ),
    "impossible cells": lambda: table(
        ["day", "sex"],
        ggdp.PureDP(20.0),
        ggdp.Domain(
            {"day": {"edges": {"from": date(2024, 1, 1), "to": date(2024, 4, 1), "every": "month"}}, "sex": ["f", "m"]},
            impossible=[{"day": "2024-02", "sex": "f"}],
        ),
    ),
    "range": lambda: ggdp.private_range(PEOPLE, "income", PURE).manifest,
    "charged": lambda: charged(lambda ledger: table("sex", PURE, ledger=ledger)),
}


@cache
def _text(kind, name):
    return json.dumps({"mechanism": MECHANISMS, "selection": SELECTIONS, "table": TABLES}[kind][name]())


def manifest_of_kind(kind, name):
    """Return a manifest of a kind, newly read each time."""
    return json.loads(_text(kind, name))
