"""Spark keeps the rows, and computes the derived columns, that every other engine does; times with zones among them."""

import pytest
from tests.cases import some
from tests.sources import test_derived, test_filters
from tests.sources.spark import cluster as spark_cluster
from tests.sources.zoo import FILES


@pytest.fixture(scope="module")
def frames():
    spark = spark_cluster.cluster()
    from ggdp.sources.spark import quiet

    tables = {"plain": test_filters.ROWS, "zoned": test_filters.ZONED, "derived": test_derived.ROWS}
    with quiet():
        return {name: spark.createDataFrame(table) for name, table in tables.items()}


CONDITIONS = {where: ("plain", right) for where, right in test_filters.KEPT.items()}
CONDITIONS |= {where: ("zoned", right) for where, right in test_filters.KEPT_ZONED.items()}
# A query takes seconds on a cluster.
FAST = ("w like 'B%x'", "s >= date '2024-01-01'", "month(s) = 1 and weekday(s) = 1", "t >= date '2024-01-01'")


@pytest.mark.parametrize("where", some(CONDITIONS, fast=lambda where: where in FAST))
def test_spark_keeps_the_same_rows(frames, where):
    table, right = CONDITIONS[where]
    assert test_filters.kept(frames[table], where) == right


FEW = ("f / 49 * 49", "year(s) * 100 + month(s)", "upper(trim(w))", "n > 1 and f > 0")


@pytest.mark.parametrize("expression", some(test_derived.VALUES, fast=lambda said: said in FEW))
def test_spark_computes_the_same_values(frames, expression):
    made = test_derived.derived(("z", {"expression": expression}))
    assert test_derived.values(frames["derived"], made) == test_derived.VALUES[expression]


@pytest.mark.usefixtures("frames")
@pytest.mark.parametrize("kind", some(FILES, fast=lambda kind: kind == "csv"))
def test_files_are_filtered_by_spark_at_the_instant_of_their_times(tmp_path, kind):
    path = FILES[kind](test_filters.ZONED.select(["id", "s"]), tmp_path)
    where = "month(s) = 1 and s >= timestamp '2024-01-01 00:00'"
    assert test_filters.kept(path, where, engine="spark") == "123"


def test_spark_looks_values_up(frames, tmp_path):
    made = test_derived.looked_up(tmp_path)
    assert test_derived.values(frames["derived"], made, "area") == test_derived.AREAS
