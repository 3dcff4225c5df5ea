"""Tables on a real Spark cluster: the same counts as on every other engine, and large ones drawn by the executors."""

import hashlib
import json
import os
import subprocess
import sys
from unittest import mock

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from tests.cases import some
from tests.manifest_schema import VALIDATOR
from tests.sources.spark import cluster as spark_cluster
from tests.sources.spark.cluster import Reporting, Same
from tests.tables.test_plan_and_release import BARRED, CUT, DOMAIN, PEOPLE, REQUESTS, in_one_cell
from tests.test_signatures import KEY, RAW

import ggdp
from ggdp.errors import ArgumentError
from ggdp.reports.published import read_release
from ggdp.sources.spark import SparkFrame
from ggdp.tables import noisy_counts

# Small tables show keys only at a delta that no publisher should take.
pytestmark = pytest.mark.filterwarnings("ignore::ggdp.errors.PrivacyWarning")

PURE = ggdp.PureDP(1.0)


@pytest.fixture(scope="module")
def spark():
    return spark_cluster.cluster()


def frame_of(table, spark):
    from ggdp.sources.spark import quiet

    with quiet():
        return spark.createDataFrame(table)


@pytest.fixture(scope="module")
def people(spark):
    return frame_of(PEOPLE, spark)


# A query takes seconds on a cluster.
FAST = {"sparse units", "open"}


@pytest.mark.parametrize("name", some(REQUESTS, fast=lambda name: name in FAST))
def test_with_the_same_bits_spark_gives_the_release_of_every_engine(name, people, spark):
    request = {"domain": DOMAIN} | REQUESTS[name]
    # Which of several cells a person keeps is each engine's own choice, the same with the same bits.
    table = PEOPLE
    if "unit" in request:
        table = in_one_cell(PEOPLE)
        people = frame_of(table, spark)
    here = ggdp.release_table(people if name in CUT else table, **request, rng=ggdp.SeededSource(seed=5))
    there = ggdp.release_table(people, **request, rng=ggdp.SeededSource(seed=5))
    for one, other in zip(here.tables, there.tables, strict=True):
        assert one.to_arrow().to_pylist() == other.to_arrow().to_pylist()
        assert one.to_arrow().schema == other.to_arrow().schema


@pytest.mark.exhaustive
@pytest.mark.usefixtures("spark")
def test_files_are_read_by_spark_when_it_is_asked_for(tmp_path):
    pyarrow.csv.write_csv(PEOPLE, tmp_path / "people.csv")
    pq.write_table(PEOPLE, tmp_path / "people.parquet")
    request = {"by": ["sex", "age"], "goal": PURE, "domain": DOMAIN}
    expected = ggdp.release_table(PEOPLE, **request, rng=ggdp.SeededSource(seed=3)).to_arrow()
    for name in ("people.csv", "people.parquet"):
        found = ggdp.release_table(tmp_path / name, **request, engine="spark", rng=ggdp.SeededSource(seed=3))
        assert found.to_arrow().equals(expected), name


@pytest.fixture
def small_driver(monkeypatch):
    """A driver that has no room for a table of 13 cells."""
    monkeypatch.setattr(noisy_counts, "MOST_ON_DRIVER", 12)


LARGE = {"by": ["sex", "age", "town"], "goal": PURE, "domain": DOMAIN}


@pytest.mark.usefixtures("small_driver")
def test_a_large_table_is_drawn_once_by_the_executors_and_stays_where_it_is_written(people, tmp_path):
    reports = tmp_path / "reports"
    reports.mkdir()
    out = tmp_path / "people.parquet"
    release = ggdp.release_table(people, **LARGE, out=out, rng=Reporting(reports))
    drawn = {file.name: file.read_text() for file in reports.iterdir()}
    assert drawn
    assert release.guarantee is None
    first, second = release.to_arrow(), release.to_arrow()
    release.to_pandas(), release.to_polars(), repr(release)
    assert first.equals(second)
    assert {file.name: file.read_text() for file in reports.iterdir()} == drawn
    assert first.num_rows == DOMAIN.project(LARGE["by"]).size
    assert first["count"].to_pylist() == pq.read_table(out)["count"].to_pylist()


@pytest.mark.usefixtures("small_driver")
@pytest.mark.parametrize(
    "extra",
    [
        {"nonnegative": True, "domain": BARRED, "unit": "person", "max_cells": 1, "count_cut": 0.2},
        pytest.param({"false_cells": 2, "domain": BARRED}, marks=pytest.mark.exhaustive),
        pytest.param({}, marks=pytest.mark.exhaustive),
        pytest.param(
            {"unit": "person", "max_cells": 1, "count": "rows", "max_rows_per_cell": 2}, marks=pytest.mark.exhaustive
        ),
    ],
)
def test_a_large_release_carries_its_guarantee_and_a_manifest_with_the_digests_of_its_parts(people, tmp_path, extra):
    out = tmp_path / "people.parquet"
    release = ggdp.release_table(people, **(LARGE | extra), out=out, sign=KEY)
    assert release.guarantee.implies(PURE.under("add-remove"))
    manifest = json.loads((tmp_path / "people.manifest.json").read_text())
    assert manifest == release.manifest
    VALIDATOR.validate(manifest)
    (table,) = manifest["table"]["tables"]
    for part in table["parts"]:
        assert hashlib.sha256((tmp_path / part["url"]).read_bytes()).hexdigest() == part["sha256"]
    assert manifest["values"]["shape"] == [release.to_arrow().num_rows]
    loaded = release.load()
    assert loaded.guarantee == release.guarantee
    # What Spark wrote and what is made again from the noisy counts agree in all columns.
    written = pq.read_table(out).replace_schema_metadata(None)
    assert loaded.to_arrow().to_pylist() == written.to_pylist()
    if "domain" in extra:
        assert ("m", "[18, 65)") not in zip(written["sex"].to_pylist(), written["age"].to_pylist(), strict=True)
    if "count_cut" in extra:
        assert min(written["lower"].to_pylist()) >= 0
        assert set(written["covers"].to_pylist()) == {"all units; counts: at most 1 cell each"}
    names = ["people.manifest.json", "people.manifest.json.sig", "people.parquet"]
    assert sorted(path.name for path in tmp_path.iterdir()) == names
    published = read_release(tmp_path / "people.manifest.json", frozenset({RAW}))
    assert published.signature.signer
    assert [table.state for table in published.tables] == ["same"]
    (out / "part-more.parquet").write_bytes(b"")
    assert [table.state for table in read_release(tmp_path / "people.manifest.json").tables] == ["changed"]


@pytest.mark.exhaustive
@pytest.mark.usefixtures("small_driver")
def test_false_cells_of_a_large_sparse_table_are_empty_distinct_and_as_many_as_their_law_has(people, tmp_path):
    request = LARGE | {"goal": ggdp.PureDP(0.2), "false_cells": 20.0}
    release = ggdp.release_table(people, **request, out=tmp_path / "people.parquet", rng=ggdp.SeededSource(seed=9))
    table = release.to_arrow()
    keys = list(zip(*(table[name].to_pylist() for name in LARGE["by"]), strict=True))
    order = {key: place for place, key in enumerate(map(DOMAIN.project(LARGE["by"]).labels, range(24)))}
    assert sorted(keys, key=order.__getitem__) == keys
    assert len(set(keys)) == len(keys) > 5
    assert min(table["count"].to_pylist()) >= release.plan.threshold.value


@pytest.mark.usefixtures("small_driver")
def test_a_part_that_was_changed_is_not_loaded(people, tmp_path):
    release = ggdp.release_table(people, **LARGE, out=tmp_path / "people.parquet")
    part = next((tmp_path / "people.parquet").iterdir())
    part.write_bytes(part.read_bytes() + b" ")
    with pytest.raises(ArgumentError, match="is not the file that was released"):
        release.load()


@pytest.mark.usefixtures("small_driver")
def test_a_large_table_is_written_as_parquet_or_not_at_all(people, tmp_path):
    with pytest.raises(ArgumentError, match=r"must end in \.parquet"):
        ggdp.release_table(people, **LARGE, out=tmp_path / "people.csv")
    assert list(tmp_path.iterdir()) == []


def test_an_error_of_spark_is_not_repeated(spark, capfd):
    from pyspark.sql import functions

    from ggdp.errors import SourceError

    secret = spark.createDataFrame(pa.table({"town": ["Ada's own secret"]}))
    broken = secret.select(functions.expr("cast(raise_error(town) as string)").alias("town"))
    with pytest.raises(SourceError) as raised:
        ggdp.release_table(broken, by="town", goal=PURE, domain=DOMAIN)
    assert "secret" not in str(raised.value)
    assert raised.value.__cause__ is raised.value.__context__ is None
    said = capfd.readouterr()
    assert "secret" not in said.out + said.err


@pytest.mark.usefixtures("small_driver")
def test_what_executors_cannot_write_is_refused_before_the_charge(people, spark, tmp_path):
    ledger = ggdp.Ledger.create(tmp_path / "people.ledger", ggdp.PureDP(10.0))
    out, setting = tmp_path / "people.parquet", "spark.sql.sources.commitProtocolClass"
    spark.conf.set(setting, "org.apache.spark.internal.io.HadoopMapReduceCommitProtocol")
    try:
        with pytest.raises(ArgumentError, match="two draws") as committed:
            ggdp.release_table(people, **LARGE, out=out, ledger=ledger)
    finally:
        spark.conf.unset(setting)
    twins = spark.createDataFrame([("a", "b")], "town string, Town string")
    levels = {"town": list("abcd"), "Town": list("abcd")}
    with pytest.raises(ArgumentError, match="ignoring case") as named:
        ggdp.release_table(twins, ["town", "Town"], PURE, levels, out=out, ledger=ledger)
    assert not ledger.entries()
    assert not hasattr(committed.value, "__notes__")
    assert not hasattr(named.value, "__notes__")


@pytest.mark.parametrize("sensitive", ["true", "false"])
def test_columns_of_one_name_but_for_their_case_are_told_apart(spark, sensitive):
    twins = spark.createDataFrame([("a", "b", 1), ("a", "a", 2), ("b", "b", 2)], "name string, Name string, NAME int")
    levels = {"name": ["a", "b"], "Name": ["a", "b"]}
    spark.conf.set("spark.sql.caseSensitive", sensitive)
    try:
        found = ggdp.release_table(twins, ["name", "Name"], PURE, levels, rng=Same())
        units = ggdp.release_table(twins, "Name", PURE, {"Name": ["a", "b"]}, unit="NAME", max_cells=2, rng=Same())
    finally:
        spark.conf.unset("spark.sql.caseSensitive")
    assert found.to_numpy().tolist() == [1, 1, 0, 1]
    assert units.to_numpy().tolist() == [1, 2]


def test_executors_of_a_session_of_spark_connect_write_no_table(spark):
    opened = SparkFrame("people", spark.range(1), ["id"])
    assert opened.has_executors
    opened._use(mock.create_autospec(object))
    assert not opened.has_executors


CONNECTED = """
import sys, pyarrow as pa
from pyspark.sql import SparkSession
import ggdp
from ggdp.tables import noisy_counts

noisy_counts.MOST_ON_DRIVER = 12
out, home = sys.argv[1:]
spark = SparkSession.builder.remote("local[1]").getOrCreate()
table = pa.table({"sex": ["f", "m", "f", "x", None] * 20, "age": list(range(100)), "who": [n % 7 for n in range(100)]})
frame = spark.createDataFrame(table)
assert "connect" in type(frame).__module__
asked = {"by": ["sex", "age"], "goal": ggdp.PureDP(1.0), "domain": {"sex": ["f", "m"], "age": list(range(100))}}
for more in ({}, {"unit": "who", "max_cells": 300}, {"goal": ggdp.ApproxDP(1.0, 1e-6), "false_cells": 1}):
    released = [
        ggdp.release_table(data, **{**asked, **more}, rng=ggdp.SeededSource(seed=5)).to_arrow()
        for data in (frame, table)
    ]
    assert released[0].equals(released[1]), more
ledger = ggdp.Ledger.create(f"{home}/people.ledger", ggdp.PureDP(1.0))
release = ggdp.release_table(frame, **asked, out=out, ledger=ledger)
assert isinstance(release, ggdp.TableRelease) and release.guarantee is not None
assert [sorted(entry.files) for entry in ledger.entries()] == [["people.manifest.json", "people.parquet"]]
"""


@pytest.mark.exhaustive
def test_a_frame_of_spark_connect_gives_the_release_of_every_engine(tmp_path):
    pytest.importorskip("grpc", reason="needs `pyspark[connect]`")
    command = [sys.executable, "-c", CONNECTED, str(tmp_path / "people.parquet"), str(tmp_path)]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": sys.executable}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
