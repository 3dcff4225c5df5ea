"""No side door on a real Spark cluster either: neighbours that release the same values are told apart nowhere."""

import json
from itertools import product

import pytest
from tests.cases import some
from tests.sources.spark import cluster as spark_cluster
from tests.sources.spark.test_counting import frame_of
from tests.sources.spark.test_executor_release import told
from tests.tables.test_side_door import (
    CHANGES,
    FLAGS,
    ROWS,
    STRANGERS,
    UNITS,
    WHOLE,
    WRITERS,
    compared,
    given_to_python,
    neighbours,
    table_of,
)

import ggdp
from ggdp.noise import Binomial
from ggdp.tables import noisy_counts


@pytest.fixture(scope="module")
def spark():
    return spark_cluster.cluster()


# A query takes seconds on a cluster.
FRAMES = {("open", "a new cell", "added", "person")}
FILES = {("declared", "csv", "quotes and newlines", "added", "person")}
FEW = ("a new cell", "empty fields")


@pytest.mark.parametrize(
    ("regime", "stranger", "change", "unit"),
    some(product(FLAGS, FEW, CHANGES, UNITS), fast=lambda *case: case in FRAMES),
)
def test_python_is_given_the_same_of_neighbouring_spark_frames(
    spark, monkeypatch, capfd, regime, stranger, change, unit
):
    tables = neighbours(stranger, change)
    one, other = given_to_python(monkeypatch, capfd, lambda table: frame_of(spark, table), tables, regime, unit)
    assert one[-2:] == ("", "")
    assert one == other


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    ("regime", "suffix", "stranger", "change", "unit"),
    some(
        product(FLAGS, WRITERS, ["quotes and newlines", "a long text"], CHANGES, ["person"]),
        fast=lambda *case: case in FILES,
    ),
)
def test_files_that_spark_reads_tell_nothing_but_their_values(
    tmp_path, monkeypatch, capfd, regime, suffix, stranger, change, unit
):
    tables = neighbours(stranger, change)
    one, other = compared(
        tmp_path, monkeypatch, capfd, tables, regime, suffix=suffix, unit=unit, extra=["--engine", "spark"]
    )
    assert one == other


# Noise of 0 shows a cell of 90 rows and leaves one of a single row below the threshold.
COMMON = [row for row in ROWS for _ in range(90)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("stranger", [name for name in STRANGERS if name != "a cell that is there"])
def test_executors_write_the_same_of_neighbours_that_differ_below_the_threshold(
    spark, tmp_path, monkeypatch, capfd, stranger, change
):
    monkeypatch.setattr(noisy_counts, "MOST_ON_DRIVER", 1)
    # No empty cell shows; cells that are not empty are drawn elsewhere.
    monkeypatch.setattr(Binomial, "sample", lambda *_, **__: [0])
    outcomes = []
    rare = {"sex": "f", "age": "17", "town": "c", "person": "p8"}
    for number, one in enumerate(([rare] if change == "replaced" else [], [STRANGERS[stranger]])):
        folder = tmp_path / str(number)
        folder.mkdir()
        data = frame_of(spark, table_of([*COMMON, *one]))
        monkeypatch.chdir(folder)
        capfd.readouterr()
        release = ggdp.release_table(
            data,
            by=["sex", "age", "town"],
            goal=ggdp.PureDP(1.0),
            domain=WHOLE,
            false_cells=1,
            out="out.parquet",
            rng=spark_cluster.Same(),
        )
        said = capfd.readouterr()
        manifest = json.loads((folder / "out.manifest.json").read_text())
        (table,) = manifest["table"]["tables"]
        # Names of files are Spark's, and new in every run; so are digests, since encodings are listed in any order.
        parts = [told(folder / part["url"]) for part in table.pop("parts")]
        del table["sha256"]
        said_of_it = repr(release).replace(str(folder), "")
        outcomes.append((parts, manifest, said_of_it, said.out, said.err, len(list(folder.iterdir()))))
    assert sum(part[2].num_rows for part in outcomes[0][0]) == 3
    assert outcomes[0] == outcomes[1]
