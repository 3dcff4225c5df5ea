"""Means by group by Tumult Analytics on a local Spark; a worker in an environment of its own.

A query takes Spark many seconds, whatever its size. All repeats are one query: the rows are laid out once a repeat,
with the number of the repeat as a second key. A row is in one cell then as before, and cells have noise of their own,
so every repeat has the law of a query by itself.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from functools import cache
from importlib.metadata import version
from typing import Any

from means_data import KEY, REQUESTS, VALUE
from worker import serve

_REPEAT = "repeat"


@cache
def spark() -> Any:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    settings = {"spark.sql.shuffle.partitions": "2", "spark.ui.enabled": "false", "spark.driver.memory": "3g"}
    # Else Spark makes this directory in the working one.
    settings["spark.sql.warehouse.dir"] = tempfile.mkdtemp(prefix="ggdp-warehouse-")
    builder = SparkSession.builder.master("local[2]")
    for setting, value in settings.items():
        builder = builder.config(setting, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("OFF")
    return made


def tumult(*, name: str, path: str, epsilon: float, repeats: int) -> list[list[float]]:
    """Return the means of all groups, a list a repeat."""
    from tmlt.analytics import AddOneRow, KeySet, PureDPBudget, QueryBuilder, Session

    request = REQUESTS[name]
    whole = request.step == 1.0
    kind, number = ("bigint", int) if whole else ("double", float)
    rows = spark().read.parquet(path).selectExpr(KEY, f"cast({VALUE} AS {kind}) AS {VALUE}")
    rows = rows.crossJoin(spark().range(repeats).withColumnRenamed("id", _REPEAT))
    budget = PureDPBudget(epsilon)
    session = Session.from_dataframe(budget, "rows", rows, protected_change=AddOneRow())
    keys = KeySet.from_dict({KEY: list(request.groups), _REPEAT: list(range(repeats))})
    asked = QueryBuilder("rows").groupby(keys).average(VALUE, number(request.low), number(request.high), name="mean")
    found = {(row[_REPEAT], row[KEY]): row["mean"] for row in session.evaluate(asked, budget).collect()}
    return [[found[i, group] for group in request.groups] for i in range(repeats)]


def lacking() -> str:
    """Say what is not installed that is needed, or nothing."""
    return "" if shutil.which("java") or os.environ.get("JAVA_HOME") else "there is no Java"


def versions() -> dict[str, str]:
    return {"tmlt.analytics": version("tmlt.analytics"), "its pyspark": version("pyspark")}


if __name__ == "__main__":
    serve({task.__name__: task for task in (tumult, lacking, versions)})
