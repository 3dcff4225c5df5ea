"""On a real Spark cluster too neighbours differ, before any noise, by no more than is declared."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.sources.spark import cluster as spark_cluster
from tests.sources.spark.test_counting import frame_of
from tests.tables.test_sensitivity import (
    NULLS,
    PHASES,
    REGIMES,
    TOO_FAR,
    assert_neighbours_are_close,
    assert_nulls_go_nowhere,
    pairs_of_rows,
    pairs_of_units,
    some_pairs,
)


@pytest.fixture(scope="module")
def spark():
    return spark_cluster.cluster()


# A query takes seconds on a cluster, whether for one pair or many.
AT_ONCE = 30
MANY = settings(deadline=None, max_examples=4, phases=PHASES)


@pytest.mark.parametrize(
    ("regime", "max_cells"), [("declared", 2), pytest.param("open", 1, marks=pytest.mark.exhaustive)]
)
def test_a_unit_moves_no_more_cells_than_are_declared_on_spark(spark, regime, max_cells):
    pairs = some_pairs(max_cells, AT_ONCE)
    assert_neighbours_are_close(lambda table: frame_of(spark, table), pairs, regime, max_cells=max_cells)


@pytest.mark.exhaustive
@pytest.mark.parametrize("regime", REGIMES)
@MANY
@given(pairs=pairs_of_units(AT_ONCE), max_cells=st.integers(1, 3))
def test_many_units_move_no_more_cells_than_are_declared_on_spark(spark, regime, pairs, max_cells):
    assert_neighbours_are_close(lambda table: frame_of(spark, table), pairs, regime, max_cells=max_cells)


@pytest.mark.exhaustive
@pytest.mark.parametrize("regime", REGIMES)
@MANY
@given(pairs=pairs_of_rows(AT_ONCE))
def test_many_rows_move_one_cell_each_on_spark(spark, regime, pairs):
    assert_neighbours_are_close(lambda table: frame_of(spark, table), pairs, regime, max_cells=None)


@pytest.mark.exhaustive
def test_a_pair_that_moves_too_far_is_found_on_spark(spark):
    pair, max_cells = TOO_FAR["a unit of three cells for another"]
    with pytest.raises(AssertionError, match=r"Pair\(others"):
        assert_neighbours_are_close(
            lambda table: frame_of(spark, table), [pair], "declared", max_cells=max_cells, kept=10
        )


@pytest.mark.exhaustive
def test_nulls_go_nowhere_on_spark_where_other_is_declared_and_missing_is_not(spark):
    assert_nulls_go_nowhere(frame_of(spark, NULLS.set_column(1, "category", NULLS["text"])))
