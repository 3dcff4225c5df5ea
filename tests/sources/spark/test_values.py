"""Values of columns are the same steps on a real Spark cluster as on every other engine."""

import pytest
from tests.sources.measured import assert_measured
from tests.sources.spark import cluster as spark_cluster
from tests.sources.test_values import BY, TABLE, by_level, cell_of, complete, query_of
from tests.sources.zoo import FILES


@pytest.fixture(scope="module")
def spark():
    return spark_cluster.cluster()


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("columns", "rule", "ranges"),
    [
        # What is compiled grows with what is measured.
        (("double", "text"), None, 1),
        pytest.param(("double", "text"), None, 2, marks=pytest.mark.exhaustive),
        pytest.param(("int", "cents"), "mean", 2, marks=pytest.mark.exhaustive),
        # Spark has no integers without a sign.
        pytest.param(("float", "short", "tiny", "huge", "flag"), None, 2, marks=pytest.mark.exhaustive),
        pytest.param(("double", "text", "huge"), "sum", 2, marks=pytest.mark.exhaustive),
    ],
)
def test_spark_has_the_same_steps(tmp_path, columns, rule, ranges):
    table = TABLE.select(["k", "u", *columns])
    path = FILES["parquet"](table, tmp_path)
    query = query_of(list(columns), rule=rule, max_cells=1 if rule is None else 2, ranges=ranges)
    assert_measured(path, table.to_pylist(), query, cell_of, engine="spark")


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("rule", [None, pytest.param("sum", marks=pytest.mark.exhaustive)])
def test_spark_has_the_steps_of_the_ranges_of_cells(tmp_path, rule):
    table = TABLE.select(["k", "u", "double", "text"])
    path = FILES["parquet"](table, tmp_path)
    query = by_level(query_of(["double", "text"], rule=rule, max_cells=2 if rule else 1, ranges=1), by=BY)
    assert_measured(path, table.to_pylist(), query, cell_of, engine="spark")


@pytest.mark.exhaustive
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("rule", [None, "mean", "sum"])
def test_rows_without_a_number_have_the_middle_of_the_range_on_spark(tmp_path, rule):
    table = TABLE.select(["k", "u", "double", "text"])
    path = FILES["parquet"](table, tmp_path)
    query = complete(query_of(["double", "text"], rule=rule, max_cells=2 if rule else 1, ranges=1))
    assert_measured(path, table.to_pylist(), query, cell_of, engine="spark")
    assert_measured(path, table.to_pylist(), by_level(query, by=BY), cell_of, engine="spark")
