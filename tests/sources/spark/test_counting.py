"""Spark counts the zoo as every other engine does, units and all."""

import pytest
from tests.cases import some
from tests.sources.counting import assert_units_counted, counted, expected
from tests.sources.spark import cluster as spark_cluster
from tests.sources.test_counting import DECLARED, PEOPLE
from tests.sources.zoo import KEY, ZOO

from ggdp.domain.table_domain import Domain
from ggdp.sources.query import CountQuery


@pytest.fixture(scope="module")
def spark():
    return spark_cluster.cluster()


def frame_of(spark, table):
    from ggdp.sources.spark import quiet

    with quiet():
        return spark.createDataFrame(table)


# Spark has no integers without a sign.
BEASTS = [beast for beast in ZOO if beast.label not in ("unsigned", "narrow")]
# A query takes seconds on a cluster.
FAST = ("words", "no row")


@pytest.mark.parametrize("label", some((beast.label for beast in BEASTS), fast=lambda label: label in FAST))
def test_spark_frames_are_counted_as_the_semantics_say(spark, label):
    (beast,) = (beast for beast in BEASTS if beast.label == label)
    # All domains of a table in one query: as many marginals.
    query = CountQuery(marginals=beast.domains)
    assert counted(frame_of(spark, beast.table), query) == expected(beast.table, query)


@pytest.mark.parametrize(
    ("unit", "max_cells"),
    [
        ("name", 1),
        pytest.param("person", 2, marks=pytest.mark.exhaustive),
        pytest.param("person", 1, marks=pytest.mark.exhaustive),
        pytest.param("day", 2, marks=pytest.mark.exhaustive),
    ],
)
def test_units_keep_so_many_of_their_cells_on_spark(spark, unit, max_cells):
    query = CountQuery(marginals=(DECLARED, DECLARED.project(["word"])), unit=unit, max_cells=max_cells, key=KEY)
    assert_units_counted(frame_of(spark, PEOPLE), PEOPLE, query)


@pytest.mark.exhaustive
def test_open_keys_are_the_same_on_spark(spark):
    query = CountQuery(marginals=(Domain([*DECLARED.project(["n"])]).merge(_open("word")),), unit="name", key=KEY)
    assert_units_counted(frame_of(spark, PEOPLE), PEOPLE, query)


def _open(name):
    from ggdp.domain.column import Column

    return Domain([Column(name=name)])
