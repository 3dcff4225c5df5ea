"""Releases from seeded sources, over all regimes and engines: the published files and manifests, byte by byte."""

import datetime
import hashlib
import math
import warnings
from pathlib import Path

import duckdb
import ibis
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet
from tests.golden.transcripts import lines

import ggdp

APART = True
# A session of Spark takes long to start.
EXHAUSTIVE = ("Spark",)
WARM = ("pyarrow; mean of units", "CSV; units", "DuckDB; units", "ibis; units", "pandas; units", "range; rows")

PURE, APPROX, PROBABILISTIC = ggdp.PureDP(1.0), ggdp.ApproxDP(1.0, 1e-5), ggdp.ProbabilisticDP(1.0, 1e-3)
Query = ggdp.Sensitivity
# 240 visits of 90 people, from the digits of a linear congruence.
_DRAWN = [(1103515245 * place + 12345) % 2**31 >> 8 for place in range(1, 241)]
PEOPLE = pa.table(
    {
        "person": [f"p{number % 90:02}" for number in _DRAWN],
        "sex": ["fm"[number // 7 % 2] for number in _DRAWN],
        "age": [None if number % 23 == 0 else number // 11 % 95 for number in _DRAWN],
        "ward": [["eyes", "births", "heart", "=cmd()", "Zürich"][number // 5 % 7 % 5] for number in _DRAWN],
        "day": [datetime.date(2024, 1, 1) + datetime.timedelta(number // 13 % 366) for number in _DRAWN],
        "income": [number // 17 % 4000 / 8.0 for number in _DRAWN],
        "rent": [None if number % 29 == 0 else number // 19 % 25 - 2.5 for number in _DRAWN],
    }
)
DOMAIN = {
    "sex": ["f", "m"],
    "age": {"edges": [0, 18, 65, math.inf], "labels": ["young", "adult", "old"], "missing": "none"},
    "ward": {"levels": ["eyes", "births", "heart", "skin"], "other": "else"},
    "day": {"edges": {"from": datetime.date(2024, 1, 1), "to": datetime.date(2025, 1, 1), "every": "quarter"}},
    "income": {"range": [0, 400]},
    "rent": {"range": [0, 20], "step": 0.5},
}
OPEN = {name: DOMAIN[name] for name in ("sex", "income", "rent")}
UNITS = {"unit": "person", "max_cells": 2}
WHOLE = {"levels": ["f", "m"], "complete": True}
MEAN = {"statistics": [ggdp.Mean("income")]}
ALL = {
    "statistics": [ggdp.Mean("income"), ggdp.Sum("rent"), ggdp.Variance("rent"), ggdp.Quantile("income", [0.25, 0.5])]
}

REGIMES = {
    "declared": (["sex"], PURE, {}),
    "declared, two columns": (["sex", "age"], PURE, {}),
    "declared, order 2": (["sex", "ward"], APPROX, {"order": 2}),
    "declared, order 3, replaced": (["sex", "age"], APPROX, {"order": 3, "neighbours": "replace-one"}),
    "declared, probabilistic": (["age"], PROBABILISTIC, {"order": 2}),
    "probabilistic, not negative": (["age", "ward"], PROBABILISTIC, {"order": 2, "nonnegative": True}),
    "not negative": (["sex", "ward", "age"], ggdp.PureDP(0.2), {"nonnegative": True}),
    "total": (["sex"], PURE, {"neighbours": "replace-one", "total": 240, "nonnegative": True}),
    "total, large noise": (["ward"], ggdp.PureDP(0.05), {"neighbours": "replace-one", "total": 240}),
    "periods": (["day"], PURE, {}),
    "several tables": ([["sex"], ["age"], ["sex", "age"]], APPROX, {"unit_name": "visits"}),
    "tables together": ([["sex"], ["age"]], ggdp.ApproxDP(0.5, 1e-6), {**UNITS, "nonnegative": True}),
    "tables together, complete": (
        [["sex"], ["ward"], ["day"]],
        PURE,
        {"domain": {**DOMAIN, "sex": WHOLE, "ward": {"levels": DOMAIN["ward"]["levels"], "complete": True}}},
    ),
    "tables with a common total": (
        [["sex"], ["ward"]],
        ggdp.ApproxDP(0.5, 0.05),
        {"domain": {"sex": WHOLE, "ward": {"levels": ["births", "eyes"], "complete": True}}},
    ),
    "tables together, replaced": ([["sex"], ["sex", "age"]], PURE, {"neighbours": "replace-one", "total": 240}),
    "units": (["ward"], PURE, UNITS),
    "units named, several tables": ([["sex"], ["ward", "age"]], APPROX, {**UNITS, "unit_name": "patients"}),
    "rows of units": (["age"], APPROX, {**UNITS, "count": "rows", "max_rows_per_cell": 3}),
    "units cut": ([["age"], ["sex", "age"]], PURE, {"unit": "person", "max_cells": 1, "count_cut": 0.1}),
    "sparse": (["sex", "age", "ward"], PURE, {"false_cells": 0.5}),
    "sparse, units, order 2": (["ward", "age"], APPROX, {**UNITS, "false_cells": 2, "order": 2, "nonnegative": True}),
    "open": (["ward"], APPROX, {"domain": OPEN}),
    "open, units, order 1": (["ward", "sex"], APPROX, {**UNITS, "domain": OPEN, "order": 1}),
    "open, replaced": (["ward"], APPROX, {"domain": OPEN, "neighbours": "replace-one"}),
    "open and declared": ([["sex"], ["ward"]], APPROX, {**UNITS, "domain": OPEN}),
    "open, units cut": (["ward"], APPROX, {**UNITS, "domain": OPEN, "count_cut": 0.5}),
    "mean": (["sex"], PURE, MEAN),
    "mean of units": (["sex"], APPROX, {**UNITS, **MEAN}),
    "mean of units, replaced": (["sex"], PURE, {**UNITS, **MEAN, "neighbours": "replace-one"}),
    "all statistics": (["sex"], ggdp.PureDP(8.0), ALL),
    "all statistics of units, weights": (
        ["sex"],
        ggdp.ApproxDP(8.0, 1e-5),
        {**UNITS, **ALL, "weights": {"rent": 2}, "per_unit": "max"},
    ),
    "statistics of all rows": (None, APPROX, {"statistics": [ggdp.Sum("income"), ggdp.Quantile("rent", 0.5)]}),
    "quantiles": (["sex"], PURE, {"statistics": [ggdp.Quantile("income", [0.1, 0.5, 0.9])], "nonnegative": True}),
    "statistics of several tables": ([["sex"], ["age"]], ggdp.PureDP(4.0), {**UNITS, **MEAN}),
    "statistics of each table": (
        [["sex"], ["age"], ["ward"]],
        ggdp.PureDP(4.0),
        {**UNITS, "statistics": [ALL["statistics"], [], MEAN["statistics"]]},
    ),
    "statistics of keys": ([["ward"], ["sex"]], ggdp.ApproxDP(4.0, 1e-5), {**UNITS, **ALL, "domain": OPEN, "order": 1}),
    "statistics, sparse": (["sex", "age", "ward"], ggdp.PureDP(4.0), {**MEAN, "false_cells": 0.5}),
    "impossible cells": (
        ["sex", "ward"],
        PURE,
        {"domain": ggdp.Domain(DOMAIN, impossible=[{"sex": "m", "ward": "births"}])},
    ),
    "percentages": (["sex", "ward"], PURE, {"percent_of": "sex", "nonnegative": True}),
    "order 1.5": (["sex", "age"], APPROX, {**UNITS, "order": 1.5}),
}


def _csv():
    pa.csv.write_csv(PEOPLE, "source.csv")
    return "source.csv"


def _parquet():
    pa.parquet.write_table(PEOPLE, "source.parquet")
    return "source.parquet"


def _several():
    pa.parquet.write_table(PEOPLE.slice(0, 100), "source-1.parquet")
    pa.parquet.write_table(PEOPLE.slice(100), "source-2.parquet")
    return "source-*.parquet"


def _json_lines():
    frame = pl.from_arrow(PEOPLE)
    frame.write_ndjson("source.jsonl")
    return "source.jsonl"


def _pandas():
    return PEOPLE.to_pandas()


def _relation():
    pa.parquet.write_table(PEOPLE, "source.parquet")
    return duckdb.connect().sql("select * from 'source.parquet'")


def _spark():
    from pyspark.sql import SparkSession

    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    with warnings.catch_warnings():
        # Of the versions of pandas that Spark knows.
        warnings.simplefilter("ignore", FutureWarning)
        return session.createDataFrame(PEOPLE.to_pandas())


ENGINES = {
    "CSV": _csv,
    "Parquet": _parquet,
    "several Parquet files": _several,
    "JSON lines": _json_lines,
    "pandas": _pandas,
    "polars": lambda: pl.from_arrow(PEOPLE),
    "polars, lazy": lambda: pl.from_arrow(PEOPLE).lazy(),
    "pyarrow": lambda: PEOPLE,
    "DuckDB": _relation,
    "ibis": lambda: ibis.memtable(PEOPLE),
}
# What every engine must count: units of which some cells are kept, open keys, and statistics.
ON_EVERY_ENGINE = (
    "units",
    "open, units, order 1",
    "all statistics of units, weights",
    "declared, two columns",
    "periods",
)


def files():
    """Return the files of a release: texts as they are, Parquet by its rows and its hash."""
    found = {}
    for file in sorted(Path().glob("out*")):
        if file.suffix == ".parquet":
            table = pa.parquet.read_table(file)
            rows = [repr(row) for row in table.to_pylist()]
            found[file.name] = [hashlib.sha256(file.read_bytes()).hexdigest(), *str(table.schema).split("\n"), *rows]
        else:
            found[file.name] = lines(file.read_bytes().decode("utf-8"))
    return found


def _release(regime, engine, out="out.csv"):
    def case():
        by, goal, more = REGIMES[regime]
        how = {"domain": DOMAIN, **more}
        data = ENGINES[engine]() if engine in ENGINES else _spark()
        release = ggdp.release_table(data, by=by, goal=goal, **how, out=out, rng=ggdp.SeededSource(seed=12))
        return {"text": repr(release).split("\n"), "guarantee": str(release.guarantee), **files()}

    return case


def _plan(regime):
    def case():
        by, goal, more = REGIMES[regime]
        plan = ggdp.plan_table(by=by, goal=goal, **{"domain": DOMAIN, **more})
        return {"text": repr(plan).split("\n"), "record": plan.to_dict()}

    return case


def _range(**how):
    def case():
        found = ggdp.private_range(
            PEOPLE, "income", ggdp.PureDP(4.0), out="out.json", rng=ggdp.SeededSource(seed=5), **how
        )
        return {"text": repr(found).split("\n"), "statement": found.statement, **files()}

    return case


def _check(by, domain=DOMAIN, **how):
    def case():
        return ggdp.check_table(PEOPLE, by, domain, **how).to_dict()

    return case


# Additive noise by `Mechanism`.
NOISE = {
    "Laplace": (PURE, Query.histogram(), {"order": 1, "support": "integer"}, [3, 0, 120]),
    "Laplace on a grid": (PURE, Query.disjoint(0.3), {"order": 1}, [17.25]),
    "Laplace, box": (PURE, Query.box([1, 2]), {"order": 1}, [3.3, 40]),
    "Gaussian": (APPROX, Query.histogram(max_cells=3), {"order": 2, "support": "integer"}, [3, 0, 120]),
    "Gaussian on a grid": (APPROX, Query.norm(2, 1 / 3, dimension=5), {"order": 2}, [3, 4, 5, 6, 7]),
    "classic Gaussian": (ggdp.ApproxDP(0.5, 1e-5), Query.disjoint(1), {"order": 2, "method": "paper"}, [1.0]),
    "order 3": (APPROX, Query.box([1, 2]), {"order": 3, "support": "integer"}, [3, 9]),
    "order 1.5 on a grid": (APPROX, Query.disjoint(0.3), {"order": 1.5}, [17.25]),
    "order 50": (APPROX, Query.disjoint(1), {"order": 50, "support": "integer"}, [17]),
    "l_1 norm": (APPROX, Query.norm(1, 2, dimension=3), {"order": 3, "support": "integer"}, [3, 9, 27]),
    "joint norm": (APPROX, Query.box([1, 1, 1], norm=(2, 1.2)), {"order": 3}, [3, 9, 27]),
    "probabilistic": (PROBABILISTIC, Query.histogram(), {"order": 3, "support": "integer"}, [3, 9]),
    "from bounds": (PURE, Query.from_bounds([(0, 10), (-1, 1)]), {"order": 1}, [12, 0.5]),
    "truncated": (
        PURE,
        Query.disjoint(1),
        {"order": 2, "support": "integer", "bounds": [(0, 20)], "bounding": "truncated"},
        [3],
    ),
    "truncated on a grid": (
        PURE,
        Query.box([1.5, 1 / 3]),
        {"order": 1, "bounds": [(0, 20), (-1, 1)], "bounding": "truncated"},
        [3, 0.1],
    ),
    "boundary-inflated": (
        PURE,
        Query.box([1.5, 1 / 3]),
        {"order": 2, "bounds": [(0, 20), (-1, 1)], "bounding": "boundary-inflated"},
        [3, 0.1],
    ),
    "replaced": (PURE, Query.histogram("replace-one"), {"order": 1, "support": "integer"}, [30, 0, 12, 41]),
}


def shown(release):
    """Return what a release of numbers says of itself."""
    said = {
        "text": repr(release).split("\n"),
        "values": [value.item().hex() if value.dtype.kind == "f" else value.item() for value in release.values],
        "manifest": release.manifest,
    }
    if release.guarantee is not None:
        said["guarantee"] = str(release.guarantee)
    for level in (0.5, 0.95):
        interval = release.interval(level)
        said[f"interval {level}"] = [np.asarray(end, float).tolist() for end in (interval.lower, interval.upper)]
    return said


def mechanism(name):
    """Return a mechanism of those above."""
    goal, query, how, _ = NOISE[name]
    return ggdp.Mechanism(ggdp.calibrate(goal, query, **how))


def _noise(name):
    def case():
        adds = mechanism(name)
        release = adds.release(NOISE[name][3], rng=ggdp.SeededSource(seed=3))
        return {"mechanism": repr(adds).split("\n"), "scale": adds.scale.hex(), "step": adds.step, **shown(release)}

    return case


def _adjusted(how):
    def case():
        # The package of what is published; these are not names of ggdp itself.
        from ggdp import releases

        return shown(how(releases, mechanism("replaced").release([30, 0, 12, 41], rng=ggdp.SeededSource(seed=4))))

    return case


ADJUSTED = {
    "clip": lambda to, release: to.clip(release, 0, 40),
    "drop": lambda to, release: to.drop(release, [1]),
    "normalise": lambda to, release: to.normalise(release, total=83),
    "project and round": lambda to, release: to.round_values(to.project(release, total=83)),
    "fit total": lambda to, release: to.fit_total(release, 83, nonnegative=True),
}


def _selection(sensitivity=1, **how):
    def case():
        chooses = ggdp.ExponentialMechanism(PURE, sensitivity=sensitivity, **how)
        chosen = [chooses.release([1, 5, 3, 4.5], rng=ggdp.SeededSource(seed=seed)) for seed in range(8)]
        return {
            "mechanism": repr(chooses).split("\n"),
            "chosen": [repr(one.values) for one in chosen],
            "manifest": chosen[0].manifest,
        }

    return case


def _sampled(order, scale):
    return lambda: ggdp.IntegerNoise(order=order, scale=scale).sample(40, rng=ggdp.SeededSource(seed=1)).tolist()


ROWS = {"count": "rows", "max_rows_per_cell": 2}
FAR = {**DOMAIN, "far": {"range": [0, 2**21], "step": 1}, "mean_income": ["x"]}
REFUSED = {
    "no goal": {"goal": None},
    "goal is a number": {"goal": 1.0},
    "by nothing": {"by": None},
    "by an empty list": {"by": []},
    "by a number": {"by": 3},
    "by a column twice": {"by": ["sex", "sex"]},
    "by a table twice": {"by": [["sex", "age"], ["age", "sex"]]},
    "by what is not declared": {"by": ["ward"], "domain": OPEN},
    "by a misspelt column": {"by": ["sxe"]},
    "by a column that is not there": {"by": ["eyes"], "domain": {"eyes": ["blue"]}},
    "by a range": {"by": ["income"]},
    "by the unit": {**UNITS, "by": ["person"], "goal": APPROX},
    "by a published name": {"by": ["count"], "domain": {"count": ["x"]}},
    "domain is a number": {"domain": 3},
    "domain is not there": {"domain": "none.toml"},
    "unit without cells": {"unit": "person"},
    "cells without unit": {"max_cells": 2},
    "no cells": {**UNITS, "max_cells": 0},
    "half a cell": {**UNITS, "max_cells": 1.5},
    "unit not there": {"unit": "who", "max_cells": 1},
    "unit not a name": {"unit": 3, "max_cells": 1},
    "rows without unit": ROWS,
    "rows without limit": {**UNITS, "count": "rows"},
    "limit without rows": {**UNITS, "max_rows_per_cell": 2},
    "count what": {"count": "people"},
    "cut without unit": {"count_cut": 0.1},
    "cut all": {**UNITS, "max_cells": 1, "by": ["ward"], "count_cut": 1.0},
    "cut not needed": {**UNITS, "count_cut": 0.1},
    "unit name is a number": {**UNITS, "unit_name": 3},
    "neighbours unknown": {"neighbours": "siblings"},
    "total without replacing": {"total": 3},
    "total negative": {"total": -3, "neighbours": "replace-one"},
    "total of several": {"by": [["sex"], ["age"]], "total": 3, "neighbours": "replace-one"},
    "false cells, too many": {"false_cells": 2},
    "false cells, negative": {"false_cells": -1},
    "false cells of an open table": {"by": ["ward"], "domain": OPEN, "goal": APPROX, "false_cells": 1},
    "order 0.5": {"order": 0.5},
    "order 2, pure": {"order": 2},
    "order best": {"order": "best"},
    "engine unknown": {"engine": "abacus"},
    "encoding unknown": {"encoding": "klingon"},
    "delimiter long": {"delimiter": "ab"},
    "escape long": {"escape": "ab"},
    "escape without quotes": {"escape": "x", "quoted": False},
    "text options of a frame": {"encoding": "latin-1"},
    "out unknown": {"out": "out.xlsx"},
    "out nowhere": {"out": "none/out.csv"},
    "plot unknown": {"plot": "out.jpg"},
    "temporary directory nowhere": {"temp_dir": "none"},
    "ledger nowhere": {"ledger": "none.ledger"},
    "analyst without ledger": {"analyst": "ana"},
    "sign without out": {"sign": "key"},
    "sign with nothing": {"sign": "key", "out": "out.csv"},
    "rng is a number": {"rng": 3},
    "statistic without range": {"statistics": [ggdp.Mean("ward")]},
    "statistic unknown": {"statistics": [ggdp.Mean("incmoe")]},
    "statistic of the unit": {"unit": "income", "max_cells": 1, **MEAN},
    "statistic is a text": {"statistics": "income"},
    "statistic twice": {"statistics": [ggdp.Mean("income"), ggdp.Mean("income")]},
    "statistics, probabilistic": {**MEAN, "goal": PROBABILISTIC},
    "statistics of rows": {**MEAN, **UNITS, **ROWS},
    "statistics and total": {**MEAN, "total": 5, "neighbours": "replace-one"},
    "statistics and cut": {**MEAN, **UNITS, "max_cells": 1, "by": ["ward"], "count_cut": 0.1},
    "statistics, rule without unit": {**MEAN, "per_unit": "sum"},
    "statistics, rule unknown": {**MEAN, **UNITS, "per_unit": "median"},
    "rule alone": {"per_unit": "sum"},
    "weights alone": {"weights": {"income": 1.0}},
    "weight of another": {**MEAN, "weights": {"sex": 2.0}},
    "weight of 0": {**MEAN, "weights": {"income": 0.0}},
    "steps too many": {"statistics": [ggdp.Variance("far")], "domain": FAR},
    "names that collide": {**MEAN, "by": ["mean_income"], "domain": FAR},
    "quantiles apart": {"statistics": [ggdp.Quantile("income", 0.5), ggdp.Quantile("income", 0.1)]},
    "data is a number": {"data": 3},
    "data nowhere": {"data": "none.csv"},
    "data of another kind": {"data": "people.xyz"},
    "data is a folder": {"data": "."},
}
DECLARED = {
    "levels twice": {"a": ["x", "x"]},
    "levels none": {"a": []},
    "levels mixed": {"a": ["x", 1]},
    "levels of floats": {"a": [0.5]},
    "levels and edges": {"a": {"levels": ["x"], "edges": [0, 1]}},
    "nothing declared": {"a": {}},
    "key unknown": {"a": {"level": ["x"]}},
    "edges decrease": {"a": {"edges": [1, 0]}},
    "edges one": {"a": {"edges": [1]}},
    "edges mixed": {"a": {"edges": [0, "x"]}},
    "edges unknown period": {"a": {"edges": {"from": "2024-01-01", "to": "2024-02-01", "every": "fortnight"}}},
    "edges periods that do not fit": {"a": {"edges": {"from": "2024-01-02", "to": "2024-03-01", "every": "month"}}},
    "labels too few": {"a": {"edges": [0, 1, 2], "labels": ["x"]}},
    "other is a level": {"a": {"levels": ["x"], "other": "x"}},
    "missing is other": {"a": {"levels": ["x"], "other": "y", "missing": "y"}},
    "range turned round": {"a": {"range": [1, 0]}},
    "range infinite": {"a": {"range": [0, math.inf]}},
    "step 0": {"a": {"range": [0, 1], "step": 0}},
    "step does not fit": {"a": {"range": [0, 1], "step": 0.3}},
    "days": {"a": [datetime.date(2024, 1, 1), datetime.date(2024, 1, 2)]},
    "integers": {"a": {"levels": [1, 2, 3], "other": "more", "missing": "none"}},
    "truth values": {"a": [True, False]},
    "weeks": {"a": {"edges": {"from": datetime.date(2024, 1, 1), "to": datetime.date(2024, 1, 29), "every": "week"}}},
    "edges of times": {"a": {"edges": [datetime.datetime(2024, 1, 1, 12), datetime.datetime(2024, 1, 2)]}},  # noqa: DTZ001
    "range in steps": {"a": {"range": [-1, 1], "step": 0.25}},
}


def _refused(given):
    def case():
        how = {"data": PEOPLE, "by": ["sex"], "goal": PURE, "domain": DOMAIN, **given}
        seeded = {} if "ledger" in how else {"rng": ggdp.SeededSource(seed=1)}
        return repr(ggdp.release_table(**{**seeded, **how})).split("\n")

    return case


def _declared(columns):
    def case():
        domain = ggdp.Domain(columns)
        return {"text": repr(domain).split("\n"), "record": domain.to_dict(), "size": domain.size}

    return case


def _cases():
    for regime in REGIMES:
        yield f"pyarrow; {regime}", _release(regime, "pyarrow")
    for engine in ENGINES:
        for regime in ON_EVERY_ENGINE:
            if engine != "pyarrow":
                yield f"{engine}; {regime}", _release(regime, engine)
    for regime in ("declared, two columns", "several tables", "open", "mean"):
        yield f"written as Parquet; {regime}", _release(regime, "pyarrow", "out.parquet")
    for regime in ("units", "mean"):
        yield f"Spark; {regime}", _release(regime, "Spark")
    for regime in REGIMES:
        yield f"plan; {regime}", _plan(regime)
    yield "range; rows", _range()
    yield "range; units", _range(unit="person", max_cells=1, share=0.1)
    yield "check; by ward", _check(["ward"])
    yield "check; several tables", _check([["sex"], ["age", "day"]], unit="person")
    yield "check; open", _check(["ward"], OPEN, epsilon=0.3)
    yield "check; statistics", _check(["sex"], unit="person", statistics=[ggdp.Mean("rent")], per_unit="max")
    for name, given in REFUSED.items():
        yield f"refused; {name}", _refused(given)
    for name, columns in DECLARED.items():
        yield f"domain; {name}", _declared(columns)
    for name in NOISE:
        yield f"noise; {name}", _noise(name)
    for name, how in ADJUSTED.items():
        yield f"adjusted; {name}", _adjusted(how)
    yield "selection; four", _selection(candidates=["a", "b", "c", "d"])
    yield "selection; monotonic", _selection(candidates=4, monotonic=True, sensitivity=0.5)
    yield "selection; excluded", _selection(candidates=4, excluded=[True, False, False, False])
    for order, scale in ((1, 1.0), (1.5, 30.0), (2, 4.5), (3, 12.5), (50, 3.0), (2, 1e9)):
        yield f"sampled; order {order}, scale {scale:g}", _sampled(order, scale)


CASES = dict(_cases())
