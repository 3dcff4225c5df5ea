"""Spark counts the zoo as every other engine does, units and all."""

import pytest
from tests.tables.engines import spark_cluster
from tests.tables.engines.test_counting import DECLARED, PEOPLE
from tests.tables.engines.zoo import KEY, ZOO, counted, expected, expected_keys, keyed

from ggdp.tables.domain import Domain
from ggdp.tables.engines import CountQuery


@pytest.fixture(scope="module")
def spark():
    return spark_cluster.cluster()


def frame_of(spark, table):
    from ggdp.tables.engines.spark import quiet

    with quiet():
        return spark.createDataFrame(table)


# Spark has no integers without a sign.
BEASTS = [beast for beast in ZOO if beast.label not in ("unsigned", "narrow")]


@pytest.mark.parametrize("beast", BEASTS, ids=lambda beast: beast.label)
def test_spark_frames_are_counted_as_the_semantics_say(spark, beast):
    # All domains of a table in one query: as many marginals.
    query = CountQuery(marginals=beast.domains)
    assert counted(frame_of(spark, beast.table), query) == expected(beast.table, query)


@pytest.mark.parametrize("unit", ["person", "name", "day"])
@pytest.mark.parametrize("max_cells", [1, 2])
def test_units_keep_the_same_cells_on_spark(spark, max_cells, unit):
    query = CountQuery(marginals=(DECLARED, DECLARED.project(["word"])), unit=unit, max_cells=max_cells, key=KEY)
    assert counted(frame_of(spark, PEOPLE), query) == expected(PEOPLE, query)


def test_open_keys_are_the_same_on_spark(spark):
    query = CountQuery(marginals=(Domain([*DECLARED.project(["n"])]).merge(_open("word")),), unit="name", key=KEY)
    assert keyed(frame_of(spark, PEOPLE), query) == expected_keys(PEOPLE, query)


def _open(name):
    from ggdp.tables.column import Column

    return Domain([Column(name=name)])
